/* Loops that a program writes as a function that calls itself last, over a counter:
 *
 *   go i s = if i == n then s else go (i + 1) (f i s)
 *
 * Of the call, integers that are known and go up or down by the same each time are counters. In a trace of the body a
 * counter is its first value and so many times the number of the step; a comparison of such numbers is known, and also
 * at which step it will turn out otherwise. So many steps are one loop (bulk_trace_loop.c); then the function goes on,
 * with counters that are known.
 */
#include "ad/bulk_trace_internal.h"

/* ---- counters ---- */

enum { LARGEST = 1 << 30 }; /* of first value and slope, so that nothing wraps */

static CtStand *counter(Tracer *tr, int64_t base, int64_t slope, CtCounting *of) {
    if (slope == 0) return ct_stand_known(tr->room, base);
    CtStand *made = ct_stand_new(tr->room, STAND_COUNTER);
    made->as.counter.base = base;
    made->as.counter.slope = slope;
    made->as.counter.of = of;
    return made;
}

CtBulk *ct_trace_counter_term(Tracer *tr, const CtStand *s) {
    CtBulkRoom *r = tr->room;
    CtShape scalar = ct_trace_scalar();
    int64_t base = s->as.counter.base, slope = s->as.counter.slope;
    CtBulk *t = ct_bulk_var(r, s->as.counter.of->index);
    if (slope != 1 && slope != -1) t = ct_bulk_op2(r, PRIM_INT_MUL, ct_bulk_int(r, slope, scalar), t);
    if (slope == -1)
        t = ct_bulk_op2(r, PRIM_INT_SUB, ct_bulk_int(r, base, scalar), t);
    else if (base != 0)
        t = ct_bulk_op2(r, PRIM_INT_ADD, t, ct_bulk_int(r, base, scalar));
    return ct_trace_name(tr, "i", t);
}

typedef struct Line {
    int64_t base, slope;
} Line;

static Line line_of(const CtStand *s) {
    if (s->kind == STAND_KNOWN) return (Line){s->as.known, 0};
    return (Line){s->as.counter.base, s->as.counter.slope};
}

static bool is_small(Line a) {
    return a.base <= LARGEST && a.base >= -LARGEST && a.slope <= LARGEST && a.slope >= -LARGEST;
}

/* The first step, behind step 0, at which the sign is not what it is at step 0; at which it is 0, or no longer. */
static int64_t turn_of_sign(Line d) {
    if (d.base < 0) return d.slope > 0 ? (-d.base + d.slope - 1) / d.slope : INT64_MAX;
    return d.slope < 0 ? d.base / -d.slope + 1 : INT64_MAX;
}

static int64_t turn_of_zero(Line d) {
    if (d.slope == 0) return INT64_MAX;
    if (d.base == 0) return 1;
    return d.base % d.slope == 0 && -(d.base / d.slope) > 0 ? -(d.base / d.slope) : INT64_MAX;
}

CtStand *ct_trace_counter_prim(Tracer *tr, CtPrim prim, const CtStand *a, const CtStand *b) {
    CtCounting *of = a->kind == STAND_COUNTER ? a->as.counter.of : b != NULL ? b->as.counter.of : NULL;
    bool both = b != NULL && a->kind == STAND_COUNTER && b->kind == STAND_COUNTER;
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
    return ct_trace_known_bool(tr, holds);
}

/* ---- the arguments of the call ---- */

/* Which arguments are counters, by what the function calls itself with at first. */
static bool find_counters(Tracer *tr, CtTail *tail, CtStand *const *args) {
    CtStand **next = ct_trace_tail_step(tr, tail, args);
    bool some = false;
    if (next == NULL || ct_trace_refused(tr)) return false;
    for (uint32_t p = 0; p < tail->count; p++) {
        bool known = args[p]->kind == STAND_KNOWN && next[p]->kind == STAND_KNOWN;
        tail->slopes[p] = known ? next[p]->as.known - args[p]->as.known : 0;
        tail->bases[p] = known ? args[p]->as.known : 0;
        if (tail->slopes[p] != 0 && !is_small((Line){tail->bases[p], tail->slopes[p]})) return false;
        some |= tail->slopes[p] != 0;
    }
    return some;
}

/* The arguments that are no counters. */
static CtStand *state_of(Tracer *tr, const CtTail *tail, CtStand *const *args) {
    CtStand **parts = CT_NEW_ARRAY(tr->arena, CtStand *, tail->count + 1);
    uint32_t count = 0;
    for (uint32_t p = 0; p < tail->count; p++)
        if (tail->slopes[p] == 0) parts[count++] = args[p];
    return ct_stand_parts(tr->room, STAND_TUPLE, parts, count, NULL);
}

/* All arguments, from the counters at a step and the state. */
static CtStand **all_args(Tracer *tr, const CtTail *tail, const CtStand *state, int64_t step, CtCounting *of) {
    CtStand **args = CT_NEW_ARRAY(tr->arena, CtStand *, tail->count + 1);
    for (uint32_t p = 0, k = 0; p < tail->count; p++) {
        if (tail->slopes[p] == 0)
            args[p] = state->as.of.parts[k++];
        else if (of != NULL)
            args[p] = counter(tr, tail->bases[p], tail->slopes[p], of);
        else
            args[p] = ct_stand_known(tr->room, tail->bases[p] + tail->slopes[p] * step);
    }
    return args;
}

CtStand *ct_trace_tail_body(Tracer *tr, CtTail *tail, CtStand *state, CtBulkVar *index) {
    tail->counting = (CtCounting){index, INT64_MAX};
    CtStand **next = ct_trace_tail_step(tr, tail, all_args(tr, tail, state, 0, &tail->counting));
    if (next == NULL || ct_trace_refused(tr)) return NULL;
    for (uint32_t p = 0; p < tail->count; p++) {
        const CtStand *s = next[p];
        if (tail->slopes[p] == 0) {
            next[p] = ct_trace_without_counters(tr, next[p]);
            continue;
        }
        bool goes_on = s->kind == STAND_COUNTER && s->as.counter.slope == tail->slopes[p] &&
                       s->as.counter.base == tail->bases[p] + tail->slopes[p];
        if (goes_on) continue;
        tail->other = p + 1;
        return NULL;
    }
    return state_of(tr, tail, next);
}

CtStand *ct_trace_tail(Tracer *tr, CtStand *f, CtStand *const *args, uint32_t count, CtSpan span) {
    const CtLam *lam = f->as.closure.lam;
    CtTail tail = {.f = f, .count = count, .span = span};
    if (ct_trace_refused(tr) || !ct_trace_calls_itself(tr, f) || ct_map_has(&tr->unrolled, ct_key(lam))) return NULL;
    tail.slopes = CT_NEW_ARRAY(tr->arena, int64_t, count + 1);
    tail.bases = CT_NEW_ARRAY(tr->arena, int64_t, count + 1);
    tail.fails = CT_NEW_ARRAY(tr->arena, CtStand *, 1);
    CtTraceMark before = ct_trace_mark(tr);
    bool counts = find_counters(tr, &tail, args);
    ct_trace_go_back(tr, &before);
    if (!counts) return NULL;
    CtStand *last = NULL;
    for (bool again = true; again;) {
        tail.steps = tail.other = 0;
        last = ct_trace_tail_loop(tr, &tail, state_of(tr, &tail, args));
        again = last == NULL && tail.other != 0;
        if (again) tail.slopes[tail.other - 1] = 0; /* a number that changes in another way is part of the state */
        if (last == NULL) ct_trace_go_back(tr, &before);
    }
    bool few = tail.steps > 0 && tail.steps <= CT_FEW_TURNS;
    if (last == NULL && !few) ct_map_set(tr->arena, &tr->unrolled, ct_key(lam), tr);
    if (last == NULL) return NULL;
    return ct_trace_apply(tr, f, all_args(tr, &tail, last, tail.steps, NULL), count, span);
}
