/* Loops written as tail-recursive functions with a counter:
 *
 *   go i s = if i == n then s else go (i + 1) (f i s)
 *
 * Arguments that are known integers and change by the same amount in each call are counters. While the body is traced,
 * a counter is its initial value plus a multiple of the step's number. A comparison of such numbers is known, and so is
 * the step at which its outcome changes. The steps up to there are one loop (trace_folds.c); then tracing goes on with
 * known counters. */
#include "ad/bulk/trace/internal.h"

/* ---- counters ---- */

enum { LARGEST = 1 << 30 }; /* bound of initial values and slopes, so that nothing wraps */

static CtAbstract *counter(Tracer *tr, int64_t base, int64_t slope, CtCounting *of) {
    if (slope == 0) return ct_bulk_abstract_known(tr->builder, base);
    CtAbstract *made = ct_bulk_abstract_new(tr->builder, ABSTRACT_COUNTER);
    made->as.counter.base = base;
    made->as.counter.slope = slope;
    made->as.counter.of = of;
    return made;
}

CtBulk *ct_bulk_trace_counter_term(Tracer *tr, const CtAbstract *s) {
    CtBulkBuilder *r = tr->builder;
    CtShape scalar = ct_bulk_trace_scalar();
    int64_t base = s->as.counter.base, slope = s->as.counter.slope;
    CtBulk *t = ct_bulk_var(r, s->as.counter.of->index);
    if (slope != 1 && slope != -1) t = ct_bulk_op2(r, PRIM_INT_MUL, ct_bulk_int(r, slope, scalar), t);
    if (slope == -1)
        t = ct_bulk_op2(r, PRIM_INT_SUB, ct_bulk_int(r, base, scalar), t);
    else if (base != 0)
        t = ct_bulk_op2(r, PRIM_INT_ADD, t, ct_bulk_int(r, base, scalar));
    return ct_bulk_trace_name(tr, "i", t);
}

typedef struct Line {
    int64_t base, slope;
} Line;

static Line line_of(const CtAbstract *s) {
    if (s->kind == ABSTRACT_KNOWN) return (Line){s->as.known, 0};
    return (Line){s->as.counter.base, s->as.counter.slope};
}

static bool is_small(Line a) {
    return a.base <= LARGEST && a.base >= -LARGEST && a.slope <= LARGEST && a.slope >= -LARGEST;
}

/* The first step after step 0 at which the sign differs from that at step 0; at which it is 0, or no longer 0. */
static int64_t turn_of_sign(Line d) {
    if (d.base < 0) return d.slope > 0 ? (-d.base + d.slope - 1) / d.slope : INT64_MAX;
    return d.slope < 0 ? d.base / -d.slope + 1 : INT64_MAX;
}

static int64_t turn_of_zero(Line d) {
    if (d.slope == 0) return INT64_MAX;
    if (d.base == 0) return 1;
    return d.base % d.slope == 0 && -(d.base / d.slope) > 0 ? -(d.base / d.slope) : INT64_MAX;
}

CtAbstract *ct_bulk_trace_counter_prim(Tracer *tr, CtPrim prim, const CtAbstract *a, const CtAbstract *b) {
    CtCounting *of = a->kind == ABSTRACT_COUNTER ? a->as.counter.of : b != NULL ? b->as.counter.of : NULL;
    bool both = b != NULL && a->kind == ABSTRACT_COUNTER && b->kind == ABSTRACT_COUNTER;
    Line x = line_of(a), y = b != NULL ? line_of(b) : (Line){0, 0}, d = {x.base - y.base, x.slope - y.slope};
    if (!is_small(x) || !is_small(y) || (both && a->as.counter.of != b->as.counter.of)) return NULL;
    int64_t turn;
    bool holds;
    switch ((int)prim) {
    case PRIM_INT_ADD: return counter(tr, x.base + y.base, x.slope + y.slope, of);
    case PRIM_INT_SUB: return counter(tr, d.base, d.slope, of);
    case PRIM_INT_NEGATE: return counter(tr, -x.base, -x.slope, of);
    case PRIM_INT_MUL:
        if (x.slope != 0 && y.slope != 0) return NULL;
        return counter(tr, x.base * y.base, x.slope != 0 ? x.slope * y.base : x.base * y.slope, of);
    case PRIM_INT_LE: d.base--; /* a ≤ b is a − 1 < b */ /* fall through */
    case PRIM_INT_LT:
        turn = turn_of_sign(d);
        holds = d.base < 0;
        break;
    case PRIM_INT_EQ:
        turn = turn_of_zero(d);
        holds = d.base == 0;
        break;
    default: return NULL;
    }
    if (turn < of->turn) of->turn = turn;
    return ct_bulk_trace_known_bool(tr, holds);
}

/* ---- the call in a tail position ---- */

/* Whether the body has a tail call of f. */
static bool has_own_call(const CtAbstract *f, const CtCore *core) {
    switch (core->kind) {
    case CORE_LET:
    case CORE_UNPACK: return has_own_call(f, core->as.let.body);
    case CORE_LETREC: return has_own_call(f, core->as.letrec.body);
    case CORE_CASE: {
        for (uint32_t i = 0; i < core->as.cases.count; i++)
            if (has_own_call(f, core->as.cases.cases[i].body)) return true;
        return core->as.cases.otherwise != NULL && has_own_call(f, core->as.cases.otherwise);
    }
    case CORE_APP: {
        const CtCore *fun = core->as.call.of.fun;
        if (fun->kind == CORE_GLOBAL) return fun->as.global->body == f->as.closure.lam->node;
        if (fun->kind != CORE_VAR) return false;
        for (const Env *env = f->as.closure.env; env != NULL; env = env->outer)
            if (env->var == fun->as.var)
                return env->value != NULL && env->value->kind == ABSTRACT_CLOSURE &&
                       env->value->as.closure.lam == f->as.closure.lam;
        return false;
    }
    default: return false;
    }
}

static CtAbstract **tail_step(Tracer *tr, const CtTail *tail, const Env *env, CtCore *core);

static CtAbstract **tail_choice(Tracer *tr, const CtTail *tail, const Env *env, CtCore *core) {
    CtBranches b = ct_bulk_trace_branches(tr, env, core);
    if (b.taken != NULL) return tail_step(tr, tail, b.env, b.taken);
    if (b.test == NULL) return NULL;
    CtBulk *live = tr->live;
    tr->live = ct_bulk_trace_both(tr, live, b.test);
    CtAbstract **left = tail_step(tr, tail, env, b.yes);
    tr->live = ct_bulk_trace_both(tr, live, ct_bulk_trace_not(tr, b.test));
    CtAbstract **right = left == NULL || ct_bulk_trace_refused(tr) ? NULL : tail_step(tr, tail, env, b.no);
    tr->live = live;
    if (right == NULL || ct_bulk_trace_refused(tr)) return NULL;
    if (left == tail->fails || right == tail->fails) return left == tail->fails ? right : left;
    for (uint32_t p = 0; p < tail->count; p++) {
        bool same = left[p]->kind == ABSTRACT_COUNTER && right[p]->kind == ABSTRACT_COUNTER &&
                    left[p]->as.counter.base == right[p]->as.counter.base &&
                    left[p]->as.counter.slope == right[p]->as.counter.slope;
        if (!same) left[p] = ct_bulk_trace_merge(tr, b.test, left[p], right[p], core->range);
    }
    return left;
}

static CtAbstract **tail_step(Tracer *tr, const CtTail *tail, const Env *env, CtCore *core) {
    core = ct_bulk_trace_bindings(tr, &env, core);
    if (core == NULL) return NULL;
    if (core->kind == CORE_CASE) return tail_choice(tr, tail, env, core);
    if (core->kind == CORE_FAIL && ct_bulk_trace_eval(tr, env, core)->kind == ABSTRACT_FAILURE) return tail->fails;
    if (core->kind != CORE_APP) return NULL;
    const CtAbstract *f = ct_bulk_trace_eval(tr, env, core->as.call.of.fun);
    bool is_own = f->kind == ABSTRACT_CLOSURE && f->as.closure.lam == tail->f->as.closure.lam &&
                  f->as.closure.env == tail->f->as.closure.env;
    if (!is_own) return NULL;
    CtAbstract **args = CT_NEW_ARRAY(tr->arena, CtAbstract *, tail->count + 1);
    for (uint32_t p = 0; p < tail->count; p++) {
        args[p] = ct_bulk_trace_eval(tr, env, core->as.call.args[p]);
        if (args[p]->kind == ABSTRACT_FAILURE) return NULL;
    }
    return ct_bulk_trace_refused(tr) ? NULL : args;
}

/* The arguments of the tail call; NULL if it is not made for all values of unknown numbers. */
static CtAbstract **own_call(Tracer *tr, const CtTail *tail, CtAbstract *const *args) {
    const CtLam *lam = tail->f->as.closure.lam;
    const Env *env = tail->f->as.closure.env;
    for (uint32_t i = 0; i < tail->count; i++) env = ct_bulk_trace_bind(tr, env, lam->params[i], args[i]);
    tr->depth++;
    CtAbstract **next = tail_step(tr, tail, env, lam->body);
    tr->depth--;
    return next != tail->fails ? next : NULL;
}

/* ---- the arguments of the call ---- */

static bool grows(const CtAbstract *before, const CtAbstract *after) {
    int64_t size = ct_bulk_trace_length_at(before, 0);
    return size >= 0 && ct_bulk_trace_length_at(after, 0) > size;
}

/* Finds the counters, from the arguments of the first tail call. The length of an array that grows is one, too. */
static bool find_counters(Tracer *tr, CtTail *tail, CtAbstract *const *args) {
    CtAbstract **next = own_call(tr, tail, args);
    bool some = false;
    if (next == NULL || ct_bulk_trace_refused(tr)) return false;
    for (uint32_t p = 0; p < tail->count; p++) {
        bool known = args[p]->kind == ABSTRACT_KNOWN && next[p]->kind == ABSTRACT_KNOWN;
        tail->slopes[p] = known ? next[p]->as.known - args[p]->as.known : 0;
        tail->bases[p] = known ? args[p]->as.known : 0;
        if (tail->slopes[p] != 0 && !is_small((Line){tail->bases[p], tail->slopes[p]})) return false;
        some |= tail->slopes[p] != 0 || grows(args[p], next[p]);
    }
    return some;
}

/* The arguments that are no counters. */
static CtAbstract *state_of(Tracer *tr, const CtTail *tail, CtAbstract *const *args) {
    CtAbstract **parts = CT_NEW_ARRAY(tr->arena, CtAbstract *, tail->count + 1);
    uint32_t count = 0;
    for (uint32_t p = 0; p < tail->count; p++)
        if (tail->slopes[p] == 0) parts[count++] = args[p];
    return ct_bulk_abstract_parts(tr->builder, ABSTRACT_TUPLE, parts, count, NULL);
}

/* All arguments, from the counters at a step and the state. */
static CtAbstract **all_args(Tracer *tr, const CtTail *tail, const CtAbstract *state, int64_t step, CtCounting *of) {
    CtAbstract **args = CT_NEW_ARRAY(tr->arena, CtAbstract *, tail->count + 1);
    for (uint32_t p = 0, k = 0; p < tail->count; p++) {
        if (tail->slopes[p] == 0)
            args[p] = state->as.of.parts[k++];
        else if (of != NULL)
            args[p] = counter(tr, tail->bases[p], tail->slopes[p], of);
        else
            args[p] = ct_bulk_abstract_known(tr->builder, tail->bases[p] + tail->slopes[p] * step);
    }
    return args;
}

CtAbstract *ct_bulk_trace_tail_body(Tracer *tr, CtTail *tail, CtAbstract *state, CtBulkVar *index) {
    tail->counting = (CtCounting){index, INT64_MAX};
    CtAbstract **next = own_call(tr, tail, all_args(tr, tail, state, 0, &tail->counting));
    if (next == NULL || ct_bulk_trace_refused(tr)) return NULL;
    for (uint32_t p = 0; p < tail->count; p++) {
        const CtAbstract *s = next[p];
        if (tail->slopes[p] == 0) {
            next[p] = ct_bulk_trace_without_counters(tr, next[p]);
            continue;
        }
        bool goes_on = s->kind == ABSTRACT_COUNTER && s->as.counter.slope == tail->slopes[p] &&
                       s->as.counter.base == tail->bases[p] + tail->slopes[p];
        if (goes_on) continue;
        tail->other = p + 1;
        return NULL;
    }
    return state_of(tr, tail, next);
}

CtAbstract *ct_bulk_trace_tail(Tracer *tr, CtAbstract *f, CtAbstract *const *args, uint32_t count,
                               CtSourceRange range) {
    const CtLam *lam = f->as.closure.lam;
    CtTail tail = {.f = f, .count = count, .range = range};
    if (ct_bulk_trace_refused(tr) || !has_own_call(f, lam->body) || ct_map_has(&tr->unrolled, ct_key(lam))) return NULL;
    tail.slopes = CT_NEW_ARRAY(tr->arena, int64_t, count + 1);
    tail.bases = CT_NEW_ARRAY(tr->arena, int64_t, count + 1);
    tail.fails = CT_NEW_ARRAY(tr->arena, CtAbstract *, 1);
    CtTraceMark before = ct_bulk_trace_mark(tr);
    bool counts = find_counters(tr, &tail, args);
    ct_bulk_trace_go_back(tr, &before);
    if (!counts) return NULL;
    CtAbstract *last = NULL;
    for (bool again = true; again;) {
        tail.steps = tail.other = 0;
        last = ct_bulk_trace_tail_loop(tr, &tail, state_of(tr, &tail, args));
        again = last == NULL && tail.other != 0;
        if (again) tail.slopes[tail.other - 1] = 0; /* an argument that changes differently is part of the state */
        if (last == NULL) ct_bulk_trace_go_back(tr, &before);
    }
    bool few = tail.steps > 0 && tail.steps <= CT_FEW_ITERATIONS;
    if (last == NULL && !few) ct_map_set(tr->arena, &tr->unrolled, ct_key(lam), tr);
    if (last == NULL) return NULL;
    return ct_bulk_trace_apply(tr, f, all_args(tr, &tail, last, tail.steps, NULL), count, range);
}
