/* Reads beside the loop's index, at an index that wraps around or stops at an end of the array:
 *
 *     map n do i                          map n do i
 *       a = intAdd i, 1                     last = intSub n, 1
 *       b = intMod a, n             →       before = intLt i, last
 *       t = read x, b                       t = switch before
 *                                             1: a = intAdd i, 1; yield read x, a
 *                                             0: b = intSub i, last; yield read x, b
 *
 * So in all iterations but few, such an element is beside the one at the loop's index: loops with such switches are
 * written in parts (pieces.c), their adjoints are shifted arrays, and nothing is divided. An index of which that is
 * known and that is used otherwise is chosen, too, instead of being divided. A loop around other loops only chooses the
 * index, since it may be vectorised, where branches do not read. */
#include "flow/opt/passes.h"

typedef struct Place { /* `fixed`, or the loop's index + or − `by` */
    CtFlowArg fixed, by;
    CtPrim prim;
} Place;

typedef struct Around {        /* a loop around what is looked at */
    const struct Around *next; /* the one around it */
    CtFlowVar *index;
    uint32_t depth;   /* of the block that the loop is in */
    bool is_straight; /* there is no loop, and no call, inside of it */
} Around;

typedef struct Wrapped { /* an index: of one place where the loop's index is less than some number, else of another */
    const CtFlowVar *of;
    const Around *around; /* the loop by whose index */
    CtFlowArg test;
    Place yes, no;
} Wrapped;

typedef struct WrappedReads {
    CtFlowBuilder b;
    CtFlowFacts facts;
    CT_VEC(Wrapped) known;
} WrappedReads;

/* ---- which indices ---- */

/* i + c, or i − c, for the loop's index i and a literal c that is positive, and so small that i + c does not wrap. */
static bool is_beside(const WrappedReads *w, const Around *around, const CtFlowArg *arg, bool *back, CtFlowArg *by) {
    const CtFlowStep *made = ct_flow_maker(&w->facts, arg, FLOW_PRIM);
    *back = ct_flow_is_prim(made, PRIM_INT_SUB);
    if (!*back && !ct_flow_is_prim(made, PRIM_INT_ADD)) return false;
    uint32_t which = made->args.items[0].var == around->index || *back ? 0 : 1;
    *by = made->args.items[1 - which];
    return made->args.items[which].var == around->index && by->var == NULL && by->lit.integer > 0 &&
           by->lit.integer <= INT32_MAX;
}

static bool is_less(const WrappedReads *w, CtPrim prim, const CtFlowArg *a, const CtFlowArg *b) {
    return ct_flow_compare(&w->facts, prim, a, b) == 1;
}

static CtFlowArg minus(WrappedReads *w, CtSourceRange range, CtFlowArg a, CtFlowArg b) {
    return ct_flow_prim_int(&w->b, range, PRIM_INT_SUB, a, b);
}

/* (i + c) mod n and (i − c) mod n, for i < n and c ≤ n: i + c is less than twice n, and i − c not less than −n. */
static bool is_modulo(WrappedReads *w, const Around *around, const CtFlowStep *step, CtFlowArg *below,
                      Wrapped *wrapped) {
    CtFlowArg index = flow_of(around->index), n = step->args.items[1], by;
    bool back;
    if (step->as.prim != PRIM_INT_MOD || !is_beside(w, around, &step->args.items[0], &back, &by)) return false;
    if (!is_less(w, PRIM_INT_LT, &index, &n) || !is_less(w, PRIM_INT_LE, &by, &n)) return false;
    CtFlowArg rest = minus(w, step->range, n, by);
    *below = back ? by : rest;
    wrapped->yes = (Place){.by = back ? rest : by, .prim = PRIM_INT_ADD};
    wrapped->no = (Place){.by = back ? by : rest, .prim = PRIM_INT_SUB};
    return true;
}

/* The larger of 0 and i − c, and the smaller of some m and i + c. */
static bool is_clamped(WrappedReads *w, const Around *around, const CtFlowStep *step, CtFlowArg *below,
                       Wrapped *wrapped) {
    bool largest = step->as.prim == PRIM_INT_MAX, back;
    if (!largest && step->as.prim != PRIM_INT_MIN) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowArg *end = &step->args.items[i];
        CtFlowArg by;
        if (!is_beside(w, around, &step->args.items[1 - i], &back, &by) || back != largest) continue;
        if (largest ? !ct_flow_is_int(end, 0) : !ct_flow_is_natural(&w->facts, end)) continue;
        *below = largest ? by : minus(w, step->range, *end, by);
        wrapped->yes = largest ? (Place){.fixed = *end} : (Place){.by = by, .prim = PRIM_INT_ADD};
        wrapped->no = largest ? (Place){.by = by, .prim = PRIM_INT_SUB} : (Place){.fixed = *end};
        return true;
    }
    return false;
}

/* ---- choices ---- */

static CtFlowArg index_at(WrappedReads *w, const Around *around, CtSourceRange range, const Place *place) {
    if (!ct_flow_is_none(place->fixed)) return place->fixed;
    return ct_flow_prim_int(&w->b, range, place->prim, flow_of(around->index), place->by);
}

/* A step's result is what it is at one place, or at the other. */
static void choose(WrappedReads *w, const Wrapped *wrapped, const CtFlowStep *step) {
    CtFlowChoosing choice = ct_flow_switch_begin(&w->b, step->range, wrapped->test);
    for (uint32_t i = 0; i < 2; i++) {
        CtFlowArgs values = {0};
        ct_flow_case_begin(&w->b, &choice, 1 - i);
        CtFlowArg value = index_at(w, wrapped->around, step->range, i == 0 ? &wrapped->yes : &wrapped->no);
        if (step->kind == FLOW_READ) {
            CtFlowArgs indices = ct_flow_slice(&step->args, 1, step->args.count - 1);
            indices.items = memcpy(CT_NEW_ARRAY(w->b.arena, CtFlowArg, indices.count), indices.items,
                                   indices.count * sizeof *indices.items);
            indices.items[indices.count - 1] = value;
            value = ct_flow_read(&w->b, step->range, step->args.items[0], indices.items, indices.count);
        }
        ct_push(w->b.arena, &values, value);
        ct_flow_case_end(&w->b, &choice, &values);
    }
    ct_push(w->b.arena, &choice.step->results, step->results.items[0]);
}

/* ---- reads ---- */

/* Whether a step is a read of an element of an array from outside of the loop. */
static bool is_read(const WrappedReads *w, const Around *around, const CtFlowStep *step) {
    const CtFlowArg *array = &step->args.items[0];
    return around->is_straight && step->kind == FLOW_READ && step->args.count == array->type->rank + 1 &&
           !ct_flow_is_object(array->type->element) && ct_flow_fact(&w->facts, array)->depth <= around->depth;
}

/* The place of the element that a step reads at such an index; NULL: it does nothing of the kind. */
static const Wrapped *place_of_read(const WrappedReads *w, const Around *around, const CtFlowStep *step) {
    if (!is_read(w, around, step)) return NULL;
    for (uint32_t i = 0; i < w->known.count; i++) {
        const Wrapped *wrapped = &w->known.items[i];
        if (wrapped->of == step->args.items[step->args.count - 1].var && wrapped->around == around) return wrapped;
    }
    return NULL;
}

/* Whether a block, from some step on, uses an index otherwise than as the last one of such reads. */
static bool is_used_otherwise(const WrappedReads *w, const Around *around, const CtFlowBlock *block, uint32_t from,
                              const CtFlowVar *index) {
    for (uint32_t i = from; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        uint32_t others = step->args.count - (is_read(w, around, step) ? 1 : 0);
        for (uint32_t j = 0; j < others; j++)
            if (step->args.items[j].var == index) return true;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (is_used_otherwise(w, around, ct_flow_inner(step, j), 0, index)) return true;
    }
    for (uint32_t i = 0; i < block->values.count; i++)
        if (block->values.items[i].var == index) return true;
    return false;
}

/* Notes an index that is in one of two places, by the index of the innermost loop, and writes its test. True: the step
 * itself has become a choice, or is not needed; then it may be by the index of any loop around. */
static bool note(WrappedReads *w, const Around *around, const CtFlowBlock *block, uint32_t at) {
    const CtFlowStep *step = block->steps.items[at];
    if (step->kind != FLOW_PRIM) return false;
    Wrapped wrapped = {.of = step->results.items[0]};
    CtFlowArg below;
    const Around *by = around;
    while (by != NULL && !is_modulo(w, by, step, &below, &wrapped)) by = by->next;
    bool divides = by != NULL;
    if (!divides && !(around->is_straight && is_clamped(w, around, step, &below, &wrapped))) return false;
    wrapped.around = divides ? by : around;
    wrapped.test = ct_flow_prim_int(&w->b, step->range, PRIM_INT_LT, flow_of(wrapped.around->index), below);
    ct_push(w->b.arena, &w->known, wrapped);
    bool is_kept = by != around || is_used_otherwise(w, around, block, at + 1, wrapped.of);
    if (divides && is_kept && CT_FIRED("wrapped_reads.index")) choose(w, &wrapped, step);
    return divides;
}

/* ---- the walk ---- */

static bool is_straight(const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_LOOP || step->kind == FLOW_CALL || ct_flow_is_derivative(step)) return false;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (!is_straight(ct_flow_inner(step, j))) return false;
    }
    return true;
}

static void visit(WrappedReads *w, CtFlowBlock *block, const Around *around, uint32_t depth);

static void visit_inner(WrappedReads *w, CtFlowStep *step, const Around *around, uint32_t depth) {
    uint32_t equals = w->facts.equals.count, known = w->known.count;
    Around own;
    if (step->kind == FLOW_LOOP) {
        ct_flow_assume_iteration(&w->facts, step);
        own = (Around){around, step->as.loop.block->params.items[0], depth, is_straight(step->as.loop.block)};
        around = &own;
    }
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        visit(w, ct_flow_inner(step, i), around, depth + 1);
        w->known.count = known;
    }
    w->facts.equals.count = equals;
}

static void visit(WrappedReads *w, CtFlowBlock *block, const Around *around, uint32_t depth) {
    CtFlowBlock old = ct_flow_reopen(block), *outer = w->b.block;
    w->b.block = block;
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        if (around != NULL && note(w, around, &old, i)) continue;
        const Wrapped *wrapped = around != NULL ? place_of_read(w, around, step) : NULL;
        if (wrapped != NULL && CT_FIRED("wrapped_reads.read")) {
            choose(w, wrapped, step);
            continue;
        }
        if (ct_flow_is_check(step)) ct_flow_learn(&w->facts, step);
        visit_inner(w, step, around, depth);
        ct_push(w->b.arena, &block->steps, step);
    }
    block->exit = old.exit;
    block->values = old.values;
    block->tail = old.tail;
    w->b.block = outer;
}

void ct_flow_wrapped_reads(CtFlow *flow) {
    WrappedReads w = {.b = {.flow = flow, .arena = flow->arena}};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        w.b.function = flow->functions.items[i];
        w.known.count = 0;
        ct_flow_facts_begin(&w.facts, flow, w.b.function);
        visit(&w, w.b.function->body, NULL, 0);
    }
}
