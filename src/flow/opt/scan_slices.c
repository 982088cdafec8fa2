/* All but the first or the last element of what `scanl` gives, `tail (scanl f z xs)` or `init (scanl f z xs)`: a scan
 * that makes these elements alone, and so fuses with other loops of its length, n.
 *
 *     _, ys = scan n, z do i, y           _, zs = scan n, z do i, y
 *       y' = …; yield y', y'                y' = …; yield y', y
 *     m = intSub (dim 0 of ys), 1    →
 *     check-slice 0, m, ys
 *     zs = slice 0, m, ys
 *
 * The array has n + 1 elements, of which the first is z. It goes if it is only looked at for its length, in such slices
 * and at indices below n. */
#include "flow/opt/passes.h"

enum { FRONT, REST, PARTS };

typedef struct Part { /* of the array that one of the carried values has */
    CtFlowVar *made[PARTS];
} Part;

typedef struct Scans {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowFacts facts;
    CtFlowValues now;
    const CtFlowStep *loop; /* the present one */
    Part *parts;            /* by carried value */
    bool stays;             /* it has another use */
    uint32_t taken;         /* slices and elements that are looked at */
} Scans;

/* Which of the loop's arrays an argument is; −1: none. */
static int array_of(const Scans *s, const CtFlowArg *arg) {
    const CtFlowFact *fact = ct_flow_fact(&s->facts, arg);
    if (fact->maker != s->loop || fact->index < s->loop->as.loop.carried) return -1;
    return (int)(fact->index - s->loop->as.loop.carried);
}

static bool is_length(const Scans *s, const CtFlowArg *arg) {
    const CtFlowStep *dim = ct_flow_maker(&s->facts, arg, FLOW_DIM);
    return dim != NULL && array_of(s, &dim->args.items[0]) >= 0;
}

/* Whether an Int is one less than the array's length, n. */
static bool is_count(const Scans *s, const CtFlowArg *arg) {
    const CtFlowStep *step = ct_flow_maker(&s->facts, arg, FLOW_PRIM);
    if (ct_flow_same(arg, &s->loop->args.items[0])) return true;
    return step != NULL && step->as.prim == PRIM_INT_SUB && ct_flow_is_int(&step->args.items[1], 1) &&
           is_length(s, &step->args.items[0]);
}

/* Whether a step is, or checks, a slice of n elements of one of the arrays. */
static bool is_part(const Scans *s, const CtFlowStep *step) {
    if (!ct_flow_is_bulk(step, ARRAY_SLICE) && step->kind != FLOW_CHECK_SLICE) return false;
    const CtFlowArg *args = step->args.items;
    return array_of(s, &args[2]) >= 0 && (ct_flow_is_int(&args[0], 0) || ct_flow_is_int(&args[0], 1)) &&
           is_count(s, &args[1]);
}

/* Whether a step reads, or checks, an element before the last. */
static bool is_element(const Scans *s, const CtFlowStep *step) {
    bool check = step->kind == FLOW_CHECK;
    if (!check && (step->kind != FLOW_READ || step->args.count != 2)) return false;
    const CtFlowArg *array = &step->args.items[check ? 1 : 0], *index = &step->args.items[check ? 0 : 1];
    return array_of(s, array) >= 0 &&
           ct_flow_is_index(&s->facts, index, ct_flow_length_of(&s->facts, s->loop->args.items[0]));
}

static void find_uses(Scans *s, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count && !s->stays; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool known = step->kind == FLOW_DIM || is_part(s, step) || is_element(s, step);
        for (uint32_t j = 0; j < step->args.count; j++)
            if (array_of(s, &step->args.items[j]) >= 0 && !known) s->stays = true;
        if (ct_flow_is_bulk(step, ARRAY_SLICE) && is_part(s, step)) s->taken++;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) find_uses(s, ct_flow_inner(step, j));
    }
    for (uint32_t i = 0; i < block->values.count; i++)
        if (array_of(s, &block->values.items[i]) >= 0) s->stays = true;
}

static CtFlowArg part(Scans *s, int array, uint32_t which, const CtFlowType *type) {
    CtFlowVar **made = &s->parts[array].made[which];
    if (*made == NULL) *made = ct_flow_fresh(s->flow, s->function, which == FRONT ? "front" : "rest", type);
    return flow_of(*made);
}

static CtFlowArg integer(const Scans *s, int64_t value) {
    return (CtFlowArg){.type = s->facts.integer, .lit.integer = value};
}

/* Whether a step goes: what it gives is known, or it cannot fail. */
static bool goes(Scans *s, CtFlowStep *step) {
    CtFlowArg *args = step->args.items;
    if (ct_flow_is_bulk(step, ARRAY_SLICE) && is_part(s, step)) {
        uint32_t which = ct_flow_is_int(&args[0], 0) ? FRONT : REST;
        ct_flow_stands(&s->now, step->results.items[0], part(s, array_of(s, &args[2]), which, args[2].type));
        return true;
    }
    if (step->kind == FLOW_CHECK_SLICE || step->kind == FLOW_CHECK) return is_part(s, step) || is_element(s, step);
    if (step->kind == FLOW_READ && is_element(s, step))
        ct_flow_stands(&s->now, args[0].var, part(s, array_of(s, &args[0]), FRONT, args[0].type));
    if (step->kind != FLOW_PRIM || step->args.count != 2 || !is_length(s, &args[0])) return false;
    if (step->as.prim == PRIM_INT_SUB && ct_flow_is_int(&args[1], 1))
        ct_flow_stands(&s->now, step->results.items[0], s->loop->args.items[0]);
    else if (step->as.prim == PRIM_INT_EQ && ct_flow_is_int(&args[1], 0))
        ct_flow_stands(&s->now, step->results.items[0], integer(s, 0));
    else
        return false;
    return true;
}

/* The length is n + 1. */
static void write_length(Scans *s, CtFlowStep *step) {
    CtFlowArgs args = {0};
    ct_push(s->arena, &args, s->loop->args.items[0]);
    ct_push(s->arena, &args, integer(s, 1));
    step->kind = FLOW_PRIM;
    step->as.prim = PRIM_INT_ADD;
    step->args = args;
}

static void drop_uses(Scans *s, CtFlowBlock *block, CtFlowVars *lengths) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (goes(s, step)) continue;
        if (step->kind == FLOW_DIM && array_of(s, &step->args.items[0]) >= 0)
            ct_push(s->arena, lengths, step->results.items[0]);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) drop_uses(s, ct_flow_inner(step, j), lengths);
        block->steps.items[kept++] = step;
    }
    block->steps.count = kept;
}

/* The loop makes the parts in place of the arrays. */
static void write_parts(Scans *s, CtFlowStep *loop) {
    CtFlowBlock *block = loop->as.loop.block;
    CtFlowVars results = {0};
    CtFlowArgs values = {0};
    uint32_t carried = loop->as.loop.carried;
    for (uint32_t i = 0; i < carried; i++) {
        ct_push(s->arena, &results, loop->results.items[i]);
        ct_push(s->arena, &values, block->values.items[i]);
    }
    for (uint32_t i = 0; i < carried; i++) {
        for (uint32_t j = 0; j < PARTS; j++) {
            if (s->parts[i].made[j] == NULL) continue;
            ct_push(s->arena, &results, s->parts[i].made[j]);
            ct_push(s->arena, &values, j == FRONT ? flow_of(block->params.items[1 + i]) : block->values.items[i]);
        }
    }
    loop->as.loop.initial = false;
    loop->results = results;
    block->values = values;
}

static void rewrite(Scans *s, CtFlowStep *loop) {
    uint32_t carried = loop->as.loop.carried;
    CtFlowVars lengths = {0};
    for (uint32_t i = 0; i < carried; i++)
        if (loop->args.items[1 + i].type->kind >= FLOW_NODE) return;
    s->loop = loop;
    s->stays = false;
    s->taken = 0;
    find_uses(s, s->function->body);
    if (s->stays || s->taken == 0) return;
    CT_FIRED("scan_slices.scan");
    s->parts = CT_NEW_ARRAY(s->arena, Part, carried);
    memset(s->parts, 0, carried * sizeof *s->parts);
    drop_uses(s, s->function->body, &lengths);
    for (uint32_t i = 0; i < lengths.count; i++) {
        CtFlowArg length = flow_of(lengths.items[i]);
        write_length(s, (CtFlowStep *)ct_flow_maker(&s->facts, &length, FLOW_DIM));
    }
    write_parts(s, loop);
    ct_flow_rename_block(&s->now, s->function->body);
    ct_flow_facts_begin(&s->facts, s->flow, s->function);
}

static void visit(Scans *s, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_LOOP && step->as.loop.initial && step->as.loop.block->exit == EXIT_YIELD)
            rewrite(s, step);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(s, ct_flow_inner(step, j));
    }
}

void ct_flow_scan_slices(CtFlow *flow) {
    Scans s = {.flow = flow, .arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        s.function = flow->functions.items[i];
        ct_flow_values_clear(&s.now, flow->arena);
        ct_flow_facts_begin(&s.facts, flow, s.function);
        visit(&s, s.function->body);
    }
}
