/* Checkpoints for loops that were written without any: what a derivative does whose trace does not fit into the memory
 * (session/calls.c runs the call again).
 *
 * foldl f s xs becomes binomial checkpointing (Griewank, Walther 2000; lib/ad/revolve.cot, which says how the steps are
 * split): with (e, r, b) = plan n,
 *
 *   go k l e r b t = if l ≤ 1 then f t (xs ! k)
 *                    else let (i, b₁, b₂) = split l e r b
 *                         in go (k + i) (l - i) (e - 1) r b₂ (checkpointed (λu. go k i e (r - 1) b₁ u) t)
 *   in go 0 n e r b s
 *
 * scanl and mapAccumL, whose results have the size of the loop anyway, become loops over pieces of m = √n steps:
 *
 *   (s', rows) = mapAccumL (λu j. checkpointed (λv. mapAccumL f v (slice (j m) m xs)) u) s (iota (n / m))
 *
 * and the loop as it stands over the rest. Values, cotangents and the order in which these are added stay the same. A
 * loop of few steps stays as it is, and so does one whose state has no reals, or functions. */
#include "ad/internal.h"

/* Loops of fewer steps are stored whole, as are those of functions nested deeper than MAX_DEPTH. */
enum { FEW_STEPS = 64, MAX_DEPTH = 2500 };

typedef struct Loops {
    CtAd *ad;
    CtProgram *p;
    bool change; /* else they are counted */
    uint32_t count;
} Loops;

/* A loop f s xs, its parts bound to names. */
typedef struct Loop {
    CtAd *ad;
    CtProgram *p;
    CtSourceRange range;
    CtArrayOp op;
    CtCore *f, *s, *xs, *n;
    CtCore *element; /* of xs = build n element, if that is cheap; NULL: it is read from xs */
} Loop;

static CtCore *library_call(const Loop *l, const char *name, CtCore *const *args, uint32_t count) {
    CtGlobal *global = ct_ad_library_in(l->ad, "AD.Revolve", name);
    return ct_ad_call(l->ad, l->range, global, args, count);
}

static CtCore *int_op(const Loop *l, CtPrim prim, CtCore *a, CtCore *b) {
    return ct_core_prim2(l->p, l->range, prim, a, b);
}

static CtCore *number(const Loop *l, int64_t value) { return ct_core_int(l->p, l->range, value); }

static CtCore *loop_over(const Loop *l, CtCore *s, CtCore *xs) {
    CtCore *args[3] = {l->f, s, xs};
    return ct_core_array(l->p, l->range, l->op, args, 3);
}

static CtCore *slice(const Loop *l, CtCore *start, CtCore *count, CtCore *xs) {
    CtCore *args[3] = {start, count, xs};
    return ct_core_array(l->p, l->range, ARRAY_SLICE, args, 3);
}

/* checkpointed (λv. body) u */
static CtCore *checkpointed(const Loop *l, CtVar *v, CtCore *body, CtCore *u) {
    CtCore *args[2] = {ct_core_lam(l->p, l->range, "again", &v, 1, body), u};
    return ct_core_deriv(l->p, l->range, DERIV_CHECKPOINT, args, 2);
}

/* ---- foldl ---- */

/* The parameters of go, and what it calls itself with. */
enum { STEP, STEPS, STATES, REPETITIONS, REACH, STATE, PARAMETERS };

static CtCore *call_go(const Loop *l, CtVar *go, CtCore *const args[PARAMETERS]) {
    return ct_core_app(l->p, l->range, ct_core_var(l->p, l->range, go), args, PARAMETERS);
}

static CtCore *several_steps(const Loop *l, CtVar *go, CtCore *const x[PARAMETERS]) {
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtCore *parts = ct_ad_seq_name(&seq, "parts", library_call(l, "split", &x[STEPS], 4));
    CtCore *part[3];
    static const char *const names[3] = {"first", "before", "behind"};
    for (uint32_t i = 0; i < 3; i++) part[i] = ct_ad_seq_name(&seq, names[i], ct_core_proj(l->p, l->range, parts, i));
    CtVar *u = ct_core_var_new(l->p, "u", l->s->type);
    CtCore *before[PARAMETERS] = {x[STEP],   part[0],
                                  x[STATES], int_op(l, PRIM_INT_SUB, x[REPETITIONS], number(l, 1)),
                                  part[1],   ct_core_var(l->p, l->range, u)};
    CtCore *reached = checkpointed(l, u, call_go(l, go, before), x[STATE]);
    CtCore *behind[PARAMETERS] = {int_op(l, PRIM_INT_ADD, x[STEP], part[0]),
                                  int_op(l, PRIM_INT_SUB, x[STEPS], part[0]),
                                  int_op(l, PRIM_INT_SUB, x[STATES], number(l, 1)),
                                  x[REPETITIONS],
                                  part[2],
                                  reached};
    return ct_ad_seq_close(&seq, call_go(l, go, behind));
}

static CtCore *element(const Loop *l, CtCore *k) {
    if (l->element != NULL) return ct_core_app(l->p, l->range, l->element, &k, 1);
    if (l->xs->kind == CORE_ARRAY) return k; /* iota n */
    CtCore *at[2] = {l->xs, k};
    return ct_core_array(l->p, l->range, ARRAY_INDEX, at, 2);
}

static CtCore *one_step(const Loop *l, CtCore *const x[PARAMETERS]) {
    CtCore *args[2] = {x[STATE], element(l, x[STEP])};
    return ct_core_app(l->p, l->range, l->f, args, 2);
}

static CtCore *fold(const Loop *l) {
    CtProgram *p = l->p;
    static const char *const names[PARAMETERS] = {"k", "l", "e", "r", "b", "t"};
    CtVar *params[PARAMETERS];
    CtType *types[PARAMETERS];
    CtCore *x[PARAMETERS];
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        types[i] = i == STATE ? l->s->type : p->int_type;
        params[i] = ct_core_var_new(p, names[i], types[i]);
        x[i] = ct_core_var(p, l->range, params[i]);
    }
    CtVar *go = ct_core_var_new(p, "go", ct_core_type_fun(p, types, PARAMETERS, l->s->type));
    CtCore *is_one = int_op(l, PRIM_INT_LE, x[STEPS], number(l, 1));
    CtCore *body = ct_core_if(p, l->range, is_one, one_step(l, x), several_steps(l, go, x));
    CtBind bind = {.var = go, .lam = ct_core_lam(p, l->range, "go", params, PARAMETERS, body)};
    CtSeq seq = ct_ad_seq(p, NULL);
    CtCore *plan = ct_ad_seq_name(&seq, "plan", library_call(l, "plan", &l->n, 1));
    CtCore *args[PARAMETERS] = {number(l, 0),
                                l->n,
                                ct_core_proj(p, l->range, plan, 0),
                                ct_core_proj(p, l->range, plan, 1),
                                ct_core_proj(p, l->range, plan, 2),
                                l->s};
    return ct_ad_seq_close(&seq, ct_core_letrec(p, l->range, &bind, 1, call_go(l, go, args)));
}

/* ---- scanl and mapAccumL ---- */

/* λu j. the state behind the j-th piece, and its m results */
static CtCore *piece(const Loop *l, CtCore *m) {
    CtProgram *p = l->p;
    CtVar *params[2] = {ct_core_var_new(p, "u", l->s->type), ct_core_var_new(p, "j", p->int_type)};
    CtVar *v = ct_core_var_new(p, "v", l->s->type);
    CtCore *start = int_op(l, PRIM_INT_MUL, ct_core_var(p, l->range, params[1]), m);
    CtCore *part = loop_over(l, ct_core_var(p, l->range, v), slice(l, start, m, l->xs));
    CtSeq seq = ct_ad_seq(p, NULL);
    CtCore *done = ct_ad_seq_name(&seq, "piece", checkpointed(l, v, part, ct_core_var(p, l->range, params[0])));
    if (l->op == ARRAY_SCANL) {
        CtCore *last[2] = {done, m};
        done = ct_core_pair(p, l->range, ct_core_array(p, l->range, ARRAY_INDEX, last, 2),
                            slice(l, number(l, 0), m, done));
    }
    return ct_core_lam(p, l->range, NULL, params, 2, ct_ad_seq_close(&seq, done));
}

static CtCore *pieces(const Loop *l) {
    CtProgram *p = l->p;
    CtSourceRange range = l->range;
    CtSeq seq = ct_ad_seq(p, NULL);
    CtCore *m = ct_ad_seq_name(&seq, "m", library_call(l, "root", &l->n, 1));
    CtCore *count = int_op(l, PRIM_INT_QUOT, l->n, m);
    CtCore *args[3] = {piece(l, m), l->s, ct_core_array(p, range, ARRAY_IOTA, &count, 1)};
    CtCore *all = ct_ad_seq_name(&seq, "pieces", ct_core_array(p, range, ARRAY_MAP_ACCUM, args, 3));
    CtCore *rows = ct_core_proj(p, range, all, 1);
    CtCore *left = ct_ad_seq_name(&seq, "left", int_op(l, PRIM_INT_REM, l->n, m));
    CtCore *tail = slice(l, int_op(l, PRIM_INT_SUB, l->n, left), left, l->xs);
    CtCore *rest = ct_ad_seq_name(&seq, "rest", loop_over(l, ct_core_proj(p, range, all, 0), tail));
    CtCore *both[2] = {ct_core_array(p, range, ARRAY_CONCAT, &rows, 1),
                       l->op == ARRAY_SCANL ? rest : ct_core_proj(p, range, rest, 1)};
    CtCore *results = ct_core_array(p, range, ARRAY_APPEND, both, 2);
    if (l->op == ARRAY_MAP_ACCUM) results = ct_core_pair(p, range, ct_core_proj(p, range, rest, 0), results);
    return ct_ad_seq_close(&seq, results);
}

/* ---- all loops ---- */

static bool is_loop(const CtCore *core) {
    if (core->kind != CORE_ARRAY) return false;
    CtArrayOp op = core->as.call.of.array;
    if (op != ARRAY_FOLDL && op != ARRAY_SCANL && op != ARRAY_MAP_ACCUM) return false;
    CtType *state = core->as.call.args[1]->type;
    return ct_core_type_has_real(state) && !ct_core_type_has_fun(state) && !ct_core_type_has_fun(core->type);
}

/* Whether an element is computed as easily as read. */
static bool is_cheap(const CtCore *element) {
    if (element->kind != CORE_PRIM || ct_core_type_has_real(element->type) ||
        !ct_core_prim_is_total(element->as.call.of.prim))
        return ct_ad_movable(element);
    for (uint32_t i = 0; i < element->as.call.count; i++)
        if (!ct_ad_atom(element->as.call.args[i])) return false;
    return true;
}

/* Names the elements, and their number (of iota and build: as it is asked for, they refuse a negative one). Numbers
 * that a loop counts through are not stored: they have the size of the loop. */
static void name_elements(Loop *l, CtSeq *seq, CtCore *xs) {
    CtCore **args = xs->as.call.args;
    bool counts = xs->kind == CORE_ARRAY && l->op == ARRAY_FOLDL;
    if (counts && xs->as.call.of.array == ARRAY_IOTA) {
        l->n = ct_ad_seq_name(seq, "n", args[0]);
        l->xs = ct_core_array(l->p, l->range, ARRAY_IOTA, &l->n, 1);
    } else if (counts && xs->as.call.of.array == ARRAY_BUILD && args[1]->kind == CORE_LAM &&
               is_cheap(args[1]->as.lam->body)) {
        l->n = ct_ad_seq_name(seq, "n", args[0]);
        l->element = ct_ad_seq_name(seq, "x", args[1]);
        CtCore *both[2] = {l->n, l->element};
        l->xs = ct_core_array(l->p, l->range, ARRAY_BUILD, both, 2);
    } else {
        l->xs = ct_ad_seq_name(seq, "xs", xs);
        l->n = ct_ad_seq_name(seq, "n", ct_core_array(l->p, l->range, ARRAY_LENGTH, &l->xs, 1));
    }
}

static CtCore *with_checkpoints(const Loops *loops, CtCore *core) {
    CtSeq seq = ct_ad_seq(loops->p, NULL);
    Loop l = {.ad = loops->ad, .p = loops->p, .range = core->range, .op = core->as.call.of.array};
    l.f = ct_ad_seq_name(&seq, "f", core->as.call.args[0]);
    l.s = ct_ad_seq_name(&seq, "s", core->as.call.args[1]);
    name_elements(&l, &seq, core->as.call.args[2]);
    CtCore *few = int_op(&l, PRIM_INT_LT, l.n, number(&l, FEW_STEPS));
    CtCore *many = l.op == ARRAY_FOLDL ? fold(&l) : pieces(&l);
    return ct_ad_seq_close(&seq, ct_core_if(l.p, l.range, few, loop_over(&l, l.s, l.xs), many));
}

static CtCore *visit(void *data, CtCore *core) {
    Loops *loops = data;
    core = ct_core_map(loops->p, core, visit, loops);
    if (!is_loop(core)) return core;
    loops->count++;
    return loops->change ? with_checkpoints(loops, core) : core;
}

uint32_t ct_ad_checkpoint_loops(CtAd *ad, bool change) {
    if (!ct_ad_runs_again(ad)) return 0;
    Loops loops = {.ad = ad, .p = ad->p, .change = change};
    uint32_t globals = ad->p->globals.count; /* those of the library that are added have none */
    for (uint32_t i = 0; i < globals; i++) {
        CtGlobal *global = ad->p->globals.items[i];
        if (global->body == NULL || !ct_core_within_depth(ad->arena, global->body, MAX_DEPTH)) continue;
        global->body = visit(&loops, global->body);
    }
    return loops.count;
}
