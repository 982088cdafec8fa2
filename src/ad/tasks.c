/* Parallel loops under D, for a method whose state can be forked: map, zipWith and build stay parallel.
 *
 * Each task starts with a state of its own, made by the method's `task` from the next number of the state that is
 * forked. So the tasks give the same numbers to different things. `offsets` says how many numbers the tasks before each
 * one have given, and what a task returns is renumbered by that (`renumber`); `join` makes one state of all.
 *
 *   D[map f xs] = let first = inputs s
 *                     tasks = map (λx. D[f] (x, task first)) xs
 *                     offsets = offsets first (map snd tasks)
 *                 in (map renumber (map fst tasks), join (map snd tasks) offsets s)
 *
 * An element whose steps are bounded by its text, without calls and loops, is not worth a task. Such elements are in
 * groups of GROUP, which are tasks; FEW of them or fewer are no tasks at all. So the span of a group is a constant
 * times the span of an element. What is renumbered has been made by the task, or is an array from outside. Where a
 * result contains functions, whose captured values cannot be renumbered, or data that can be long, the loop carries its
 * state from element to element. */
#include "ad/internal.h"

enum { GROUP = 32, FEW = 64 };

/* ---- which loops ---- */

/* Whether all values of a type can be renumbered, in steps that the text bounds for each element of their arrays: no
 * data is part of itself. `known`: CtType * of data -> whether its parts can, or NULL while these are looked at. */
static bool can_renumber(CtArena *arena, CtType *type, CtMap *known) {
    if (ct_ad_is_real(type) || ct_is_discrete(type)) return true;
    if (type->kind == TYPE_ARRAY) return can_renumber(arena, type->parts[0], known);
    if (type->kind == TYPE_TUPLE) {
        for (uint32_t i = 0; i < type->count; i++)
            if (!can_renumber(arena, type->parts[i], known)) return false;
        return true;
    }
    if (type->kind != TYPE_DATA) return false;
    if (ct_map_has(known, ct_key(type))) return ct_map_get(known, ct_key(type)) != NULL;
    ct_map_set(arena, known, ct_key(type), NULL);
    for (uint32_t c = 0; c < type->data->con_count; c++)
        for (uint32_t i = 0; i < type->data->cons[c].count; i++)
            if (!can_renumber(arena, type->data->cons[c].fields[i], known)) return false;
    ct_map_set(arena, known, ct_key(type), type);
    return true;
}

/* Whether the steps of a term are bounded by its text. */
static bool is_bounded(CtArena *arena, CtCore *core) {
    if (core->kind == CORE_APP || core->kind == CORE_DERIV || core->kind == CORE_DUAL) return false;
    if (core->kind == CORE_ARRAY && core->as.call.of.array != ARRAY_INDEX && core->as.call.of.array != ARRAY_LENGTH)
        return false;
    CtCoreList children = {0};
    ct_core_children(arena, core, &children);
    for (uint32_t i = 0; i < children.count; i++)
        if (!is_bounded(arena, children.items[i])) return false;
    return true;
}

CtTasks ct_ad_tasks(CtTransform *t, CtCore *core) {
    const CtReverse *names = t->rules->reverse;
    if (names == NULL || names->task == NULL || t->ad->on_flow) return TASKS_NONE;
    if (t->ad->in_order || t->ad->recorder != NULL) return TASKS_NONE;
    CtMap known = {0};
    if (!can_renumber(t->ad->arena, core->type->parts[0], &known)) return TASKS_NONE;
    CtArrayOp op = core->as.call.of.array;
    const CtCore *f = core->as.call.args[op == ARRAY_BUILD ? 1 : 0],
                 *over = core->as.call.args[op == ARRAY_BUILD ? 0 : 1];
    if (f->kind != CORE_LAM || !is_bounded(t->ad->arena, f->as.lam->body)) return TASKS_ELEMENTS;
    bool is_short = over->kind == CORE_ARRAY_LIT ? over->as.call.count <= FEW
                                                 : over->kind == CORE_LIT && over->as.lit.integer <= FEW;
    return is_short ? TASKS_NONE : TASKS_GROUPS;
}

/* ---- renumbering ---- */

/* The first number of a fork, and what is added to those from there on. */
static CtType *shift_type(CtAd *ad, CtMethod method) {
    (void)method;
    return ct_core_type_pair(ad->p, ad->p->int_type, ad->p->int_type);
}

/* let (x, i) = d in (x, if i < first then i else i + offset) */
static CtCore *renumbered_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type,
                               CtCore *const *ins, CtCore *env) {
    (void)type;
    CtCore *d[2], *shift[3];
    ct_ad_seq_open(seq, "x", "i", ins[0], d);
    ct_ad_seq_open(seq, "first", "offset", env, shift);
    const char *function = ad->rules[method]->reverse->shift;
    if (function != NULL) {
        shift[2] = d[1];
        return ct_core_pair(ad->p, range, d[0], ct_ad_library_call(ad, range, function, shift, 3));
    }
    CtCore *is_before = ct_core_prim2(ad->p, range, PRIM_INT_LT, d[1], shift[0]);
    CtCore *moved = ct_core_prim2(ad->p, range, PRIM_INT_ADD, d[1], shift[1]);
    CtCore *number = ct_ad_seq_name(seq, "i", ct_core_if(ad->p, range, is_before, d[1], moved));
    return ct_core_pair(ad->p, range, d[0], number);
}

static const CtGeneric renumber = {.name = "renumber",
                                   .inputs = 1,
                                   .dual = {true},
                                   .makes = true,
                                   .makes_dual = true,
                                   .keeps = true,
                                   .env = shift_type,
                                   .leaf = renumbered_leaf};

/* ---- the parts of a fork ---- */

typedef struct Fork {
    CtTransform *t;
    CtProgram *p;
    CtSourceRange range;
    CtType *element; /* of the result, before D */
    CtCore *first;
    CtTasks kind;
} Fork;

static CtCore *array2(const Fork *f, CtArrayOp op, CtCore *a, CtCore *b) {
    CtCore *args[2] = {a, b};
    return ct_core_array(f->p, f->range, op, args, b != NULL ? 2 : 1);
}

static CtCore *loop(const Fork *f, CtArrayOp op, CtVar *x, CtCore *body, CtCore *over) {
    CtCore *lam = ct_core_lam(f->p, f->range, NULL, &x, 1, body);
    return op == ARRAY_BUILD ? array2(f, op, over, lam) : array2(f, op, lam, over);
}

static CtCore *library(const Fork *f, const char *name, CtCore *a, CtCore *b, CtCore *c) {
    CtCore *args[3] = {a, b, c};
    return ct_ad_library_call(f->t->ad, f->range, name, args, c != NULL ? 3 : b != NULL ? 2 : 1);
}

static CtCore *whole(const Fork *f, int64_t value) { return ct_core_int(f->p, f->range, value); }

/* A sequence that begins with the state of a task. */
static CtSeq task_begin(const Fork *f) {
    CtSeq seq = ct_ad_seq(f->p, ct_core_var_new(f->p, "s", f->t->state));
    ct_ad_seq_let(&seq, f->range, seq.state, library(f, f->t->rules->reverse->task, f->first, NULL, NULL));
    return seq;
}

/* map (λx. D[f] (x, task first)) xs: pairs of a result and a state */
static CtCore *elements(const Fork *f, const CtLoopElement *element, CtCore *xs) {
    CtVar *x;
    CtSeq inner = task_begin(f);
    CtCore *body = element->make(f->t, &inner, element, &x);
    return loop(f, ARRAY_MAP, x, ct_ad_seq_return(&inner, body), xs);
}

/* build k (λg. mapAccumL D[f] (task first) (slice (GROUP g) GROUP xs)): pairs of a state and results */
static CtCore *groups(const Fork *f, const CtLoopElement *element, CtCore *xs, CtCore *k) {
    CtCore *step = ct_ad_carried(f->t, f->range, element);
    CtVar *g = ct_core_var_new(f->p, "g", f->p->int_type);
    CtSeq task = task_begin(f);
    CtCore *low = ct_core_prim2(f->p, f->range, PRIM_INT_MUL, whole(f, GROUP), ct_core_var(f->p, f->range, g));
    CtCore *part[3] = {low, whole(f, GROUP), xs};
    CtCore *over[3] = {step, ct_ad_seq_state(&task, f->range), ct_core_array(f->p, f->range, ARRAY_SLICE, part, 3)};
    CtCore *body = ct_ad_seq_close(&task, ct_core_array(f->p, f->range, ARRAY_MAP_ACCUM, over, 3));
    return loop(f, ARRAY_BUILD, g, body, k);
}

/* Part `index` of each of the tasks' pairs. */
static CtCore *parts(const Fork *f, CtCore *tasks, uint32_t index) {
    CtVar *task = ct_core_var_new(f->p, "task", tasks->type->parts[0]);
    CtCore *part = ct_core_proj(f->p, f->range, ct_core_var(f->p, f->range, task), index);
    return loop(f, ARRAY_MAP, task, part, tasks);
}

/* renumber (first, offset) y */
static CtCore *renumbered(const Fork *f, CtCore *y, CtCore *offset) {
    CtCore *shift = ct_core_pair(f->p, f->range, f->first, offset);
    return ct_ad_generic(
        f->t->ad, &renumber,
        (CtGenericCall){.method = f->t->method, .range = f->range, .type = f->element, .ins = {y}, .env = shift});
}

/* build n (λi. renumber (first, offsets ! i) (results of task i)); of groups, renumber for each of the results */
static CtCore *results(const Fork *f, CtCore *tasks, CtCore *offsets) {
    CtProgram *p = f->p;
    CtSourceRange range = f->range;
    uint32_t index = f->kind == TASKS_GROUPS ? 1 : 0;
    if (ct_is_discrete(f->element)) return parts(f, tasks, index);
    CtVar *i = ct_core_var_new(p, "i", p->int_type);
    CtCore *at = ct_core_var(p, range, i);
    CtSeq seq = ct_ad_seq(p, NULL);
    CtCore *y = ct_core_proj(p, range, array2(f, ARRAY_INDEX, tasks, at), index);
    y = ct_ad_seq_name(&seq, "y", y);
    CtCore *offset = ct_ad_seq_name(&seq, "offset", array2(f, ARRAY_INDEX, offsets, at));
    CtCore *made;
    if (f->kind == TASKS_GROUPS) {
        CtVar *one = ct_core_var_new(p, "y", y->type->parts[0]);
        CtCore *use = ct_core_var(p, range, one);
        made = loop(f, ARRAY_MAP, one, renumbered(f, use, offset), y);
    } else
        made = renumbered(f, y, offset);
    return loop(f, ARRAY_BUILD, i, ct_ad_seq_close(&seq, made), array2(f, ARRAY_LENGTH, tasks, NULL));
}

/* Makes the tasks, joins their states, and returns their results. */
static CtCore *forked(Fork *f, CtSeq *seq, const CtLoopElement *element, CtCore *xs, CtCore *k) {
    const CtReverse *names = f->t->rules->reverse;
    CtCore *state = ct_ad_seq_state(seq, f->range);
    f->first = ct_ad_seq_name(seq, "first", library(f, names->inputs, state, NULL, NULL));
    bool by_groups = f->kind == TASKS_GROUPS;
    CtCore *tasks = ct_ad_seq_name(seq, "tasks", by_groups ? groups(f, element, xs, k) : elements(f, element, xs));
    CtCore *states = ct_ad_seq_name(seq, "states", parts(f, tasks, by_groups ? 0 : 1));
    CtCore *offsets = ct_ad_seq_name(seq, "offsets", library(f, names->offsets, f->first, states, NULL));
    CtCore *ys = results(f, tasks, offsets);
    ys = ct_ad_seq_name(seq, "ys", by_groups ? array2(f, ARRAY_CONCAT, ys, NULL) : ys);
    CtVar *joined = ct_core_var_new(f->p, "s", f->t->state);
    ct_ad_seq_let(seq, f->range, joined, library(f, names->join, states, offsets, state));
    seq->state = joined;
    return ys;
}

CtCore *ct_ad_fork(CtTransform *t, CtSeq *seq, CtCore *core, const CtLoopElement *element, CtCore *xs) {
    Fork f = {.t = t, .p = t->p, .range = core->range, .element = core->type->parts[0], .kind = TASKS_ELEMENTS};
    return forked(&f, seq, element, xs, NULL);
}

/* let k = if length xs <= FEW then 0 else length xs / GROUP
 *     (ys, s') = if k == 0 then ([||], s) else (the results of k groups, their state)
 *     rest = if k == 0 then xs else slice (GROUP k) (length xs − GROUP k) xs */
CtGroups ct_ad_fork_groups(CtTransform *t, CtSeq *seq, CtCore *core, const CtLoopElement *element, CtCore *xs) {
    CtProgram *p = t->p;
    Fork f = {.t = t, .p = p, .range = core->range, .element = core->type->parts[0], .kind = TASKS_GROUPS};
    CtCore *n = ct_ad_seq_name(seq, "n", array2(&f, ARRAY_LENGTH, xs, NULL));
    CtCore *is_short = ct_core_prim2(p, f.range, PRIM_INT_LE, n, whole(&f, FEW));
    CtCore *k = ct_core_prim2(p, f.range, PRIM_INT_QUOT, n, whole(&f, GROUP));
    k = ct_ad_seq_name(seq, "k", ct_core_if(p, f.range, is_short, whole(&f, 0), k));
    CtSeq none = ct_ad_seq(p, seq->state), some = ct_ad_seq(p, seq->state);
    CtCore *ys = forked(&f, &some, element, xs, k);
    ys = ct_ad_seq_return(&some, ys);
    CtCore *no_ys = ct_core_array_lit(p, f.range, ct_ad_type(t->ad, t->method, f.element), NULL, 0);
    no_ys = ct_ad_seq_return(&none, no_ys);
    CtGroups out = {.none = ct_core_prim2(p, f.range, PRIM_INT_EQ, k, whole(&f, 0))};
    out.ys = ct_ad_seq_run(seq, "ys", ct_core_if(p, f.range, out.none, no_ys, ys));
    CtCore *low = ct_core_prim2(p, f.range, PRIM_INT_MUL, k, whole(&f, GROUP));
    CtCore *rest[3] = {low, ct_core_prim2(p, f.range, PRIM_INT_SUB, n, low), xs};
    CtCore *behind = ct_core_array(p, f.range, ARRAY_SLICE, rest, 3);
    out.rest = ct_ad_seq_name(seq, "rest", ct_core_if(p, f.range, out.none, xs, behind));
    return out;
}
