/* Lengths that loops keep. An array that a loop carries has the length that it had in front of the loop, where each
 * iteration makes one as long. Whether it does may depend on tests of lengths, as in y + h * slope y, which repeats an
 * operand of one element:
 *
 *     fold n, y0 do i, y                            k = dim 0 of y0
 *       k = dim 0 of y                              fold n, y0 do i, y
 *       d = map k …                           →       d = map k …
 *       t = dim 0 of d                                t = dim 0 of d
 *       same = intEq k, t                             same = intEq k, t
 *       y' = switch same {1: map k …, 0: …}           y' = switch same {1: map k …, 0: …}
 *       yield y'                                      yield y'
 *
 * That all carried arrays keep their lengths is assumed, the lengths in the block follow, and with them which branches
 * are taken; an array for which it turns out not to be so is left out, and the others are looked at again. What remains
 * is true by induction over the iterations. Simplification then knows the branches.
 *
 * A length may be that of another array and a few elements more or less: [|1|] ++ init y has as many elements as y. */
#include "flow/opt/passes.h"

typedef struct Length { /* so many elements, and `more` of them */
    CtFlowLength base;
    int64_t more;
} Length;

typedef struct Lengths {
    CtFlow *flow;
    CtFlowFacts facts;
    Length *items; /* of arrays and Ints in the block that is looked at, by variable number */
    uint32_t *set; /* the number of the look at which an item was set */
    uint32_t look;
} Lengths;

static void set(Lengths *p, const CtFlowVar *var, Length length) {
    if (var == NULL) return;
    p->items[var->id] = length;
    p->set[var->id] = p->look;
}

static Length own_length(const CtFlowVar *array) { return (Length){.base = {.array = array}}; }

static bool is_literal(const Length *length) {
    return length->base.known.type != NULL && length->base.known.var == NULL;
}

static bool is_same(const Length *a, const Length *b) {
    return ct_flow_is_length(&a->base, &b->base) && a->more == b->more;
}

/* Of an array, or of an Int as a number of elements. */
static Length length_of(const Lengths *p, const CtFlowArg *arg) {
    if (arg->var != NULL && p->set[arg->var->id] == p->look) return p->items[arg->var->id];
    bool array = arg->type->kind == FLOW_ARRAY;
    CtFlowLength length = array ? ct_flow_length(&p->facts, arg, 0, false) : ct_flow_length_of(&p->facts, *arg);
    if (array && length.known.type != NULL) length = ct_flow_length_of(&p->facts, length.known);
    const CtFlowVar *root = length.known.type != NULL ? length.known.var : length.dimension == 0 ? length.array : NULL;
    return root != NULL && p->set[root->id] == p->look ? p->items[root->id] : (Length){.base = length};
}

/* The sum of two lengths, one of which is a literal, or their difference; `own`: what else the result is known by. Ints
 * wrap, but the elements of arrays do not come near to that, and neither do the literals. */
static Length sum_of(Length a, Length b, bool minus, Length own) {
    enum { FEW = 1 << 20 };
    if (!minus && is_literal(&a)) return is_literal(&b) ? own : sum_of(b, a, false, own);
    if (!is_literal(&b) || b.base.known.lit.integer < -FEW || b.base.known.lit.integer > FEW) return own;
    int64_t by = minus ? -b.base.known.lit.integer : b.base.known.lit.integer;
    if (is_literal(&a) || a.more + by < -FEW || a.more + by > FEW) return own;
    a.more += by;
    CT_FIRED("carried_lengths.sum");
    return a;
}

/* The least of two lengths, as of arrays that are zipped, if both are of one array; `own`: what else it is known by. */
static Length least_of(Length a, Length b, Length own) {
    bool of_array = a.base.known.type == NULL;
    if (!ct_flow_is_length(&a.base, &b.base) || (a.more != b.more && !of_array)) return own;
    CT_FIRED("carried_lengths.least");
    return a.more < b.more ? a : b;
}

static bool is_outside(const Lengths *p, const Length *length, uint32_t depth) {
    CtFlowArg root = length->base.known;
    if (root.type == NULL) root.var = (CtFlowVar *)length->base.array; // NOLINT
    return root.var == NULL || ct_flow_fact(&p->facts, &root)->depth <= depth;
}

/* ---- the lengths in a block ---- */

static void look_at(Lengths *p, const CtFlowBlock *block, uint32_t depth);

/* The branch that is taken, as the lengths say; NULL if they do not. */
static const CtFlowBlock *taken(const Lengths *p, const CtFlowStep *step) {
    const CtFlowStep *test = ct_flow_maker(&p->facts, &step->args.items[0], FLOW_PRIM);
    if (!ct_flow_is_prim(test, PRIM_INT_EQ)) return NULL;
    Length a = length_of(p, &test->args.items[0]), b = length_of(p, &test->args.items[1]);
    bool same = is_same(&a, &b), literals = is_literal(&a) && is_literal(&b);
    for (uint32_t i = 0; (same || literals) && i < step->as.cases.count; i++)
        if (step->as.cases.branches[i].tag == (same ? 1 : 0)) return step->as.cases.branches[i].block;
    return NULL;
}

/* What a branch yields: where it is taken if another length is 1, so many elements as that in place of 1. */
static Length yielded(const Lengths *p, const CtFlowStep *step, uint32_t branch, const CtFlowArg *value) {
    Length length = length_of(p, value);
    const CtFlowStep *test = ct_flow_maker(&p->facts, &step->args.items[0], FLOW_PRIM);
    if (!is_literal(&length) || !ct_flow_is_prim(test, PRIM_INT_EQ) || step->as.cases.branches[branch].tag != 1)
        return length;
    for (uint32_t i = 0; i < 2; i++) {
        Length one = length_of(p, &test->args.items[i]), other = length_of(p, &test->args.items[1 - i]);
        if (is_same(&length, &one) && !is_literal(&other) && CT_FIRED("carried_lengths.tested")) return other;
    }
    return length;
}

static void look_at_switch(Lengths *p, const CtFlowStep *step, uint32_t depth) {
    const CtFlowBlock *one = taken(p, step);
    for (uint32_t i = 0; i < step->as.cases.count; i++)
        if (one == NULL || step->as.cases.branches[i].block == one)
            look_at(p, step->as.cases.branches[i].block, depth + 1);
    for (uint32_t i = 0; i < step->results.count; i++) {
        Length all = {0};
        bool found = false, same = true;
        for (uint32_t j = 0; j < step->as.cases.count; j++) {
            const CtFlowBlock *block = step->as.cases.branches[j].block;
            if ((one != NULL && block != one) || block->exit != EXIT_YIELD) continue;
            Length length = yielded(p, step, j, &block->values.items[i]);
            same = same && is_outside(p, &length, depth) && (!found || is_same(&length, &all));
            all = length;
            found = true;
        }
        CtFlowVar *result = step->results.items[i];
        if (result->type->kind == FLOW_ARRAY) set(p, result, found && same ? all : own_length(result));
    }
}

/* Finds the carried arrays of a loop that keep their lengths, and what these are; `kept`: those that may. */
static void look_at_carried(Lengths *p, const CtFlowStep *loop, bool *kept, uint32_t depth) {
    const CtFlowBlock *block = loop->as.loop.block;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
            const CtFlowVar *param = block->params.items[1 + i];
            if (param->type->kind == FLOW_ARRAY)
                set(p, param, kept[i] ? length_of(p, &loop->args.items[1 + i]) : own_length(param));
        }
        look_at(p, block, depth + 1);
        for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
            if (!kept[i]) continue;
            Length first = length_of(p, &loop->args.items[1 + i]), next = length_of(p, &block->values.items[i]);
            if (!is_same(&first, &next)) kept[i] = false, again = true;
        }
    }
}

static bool *may_keep(const Lengths *p, const CtFlowStep *loop) {
    const CtFlowBlock *block = loop->as.loop.block;
    bool *kept = CT_NEW_ARRAY(p->flow->arena, bool, loop->as.loop.carried + 1);
    bool one_after_another = block->exit == EXIT_YIELD && !loop->as.loop.associative;
    for (uint32_t i = 0; one_after_another && i < loop->as.loop.carried; i++)
        kept[i] = loop->args.items[1 + i].type->kind == FLOW_ARRAY;
    return kept;
}

static void look_at_loop(Lengths *p, const CtFlowStep *loop, uint32_t depth) {
    bool *kept = may_keep(p, loop);
    look_at_carried(p, loop, kept, depth);
    for (uint32_t i = 0; i < loop->results.count; i++) {
        CtFlowVar *result = loop->results.items[i];
        if (result->type->kind != FLOW_ARRAY) continue;
        bool made = i >= loop->as.loop.carried;
        if (loop->as.loop.initial)
            set(p, result, own_length(result));
        else if (made || kept[i])
            set(p, result, length_of(p, &loop->args.items[made ? 0 : 1 + i]));
        else
            set(p, result, own_length(result));
    }
}

/* The numbers of elements of slices, replicated and reversed arrays are found where they are asked for (length_of). */
static void look_at_step(Lengths *p, const CtFlowStep *step, uint32_t depth) {
    const CtFlowArg *args = step->args.items;
    CtFlowVar *result = step->results.count > 0 ? step->results.items[0] : NULL;
    if (step->kind == FLOW_SWITCH) look_at_switch(p, step, depth);
    if (step->kind == FLOW_LOOP) look_at_loop(p, step, depth);
    if (step->kind == FLOW_DIM && step->as.index == 0) set(p, result, length_of(p, &args[0]));
    if (step->kind == FLOW_UPDATE) set(p, result, length_of(p, &args[0]));
    if (ct_flow_is_bulk(step, ARRAY_APPEND))
        set(p, result, sum_of(length_of(p, &args[0]), length_of(p, &args[1]), false, own_length(result)));
    bool minus = ct_flow_is_prim(step, PRIM_INT_SUB);
    if (result != NULL && (minus || ct_flow_is_prim(step, PRIM_INT_ADD)))
        set(p, result,
            sum_of(length_of(p, &args[0]), length_of(p, &args[1]), minus,
                   (Length){.base = {.known = flow_of(result)}}));
    if (result != NULL && ct_flow_is_prim(step, PRIM_INT_MIN))
        set(p, result,
            least_of(length_of(p, &args[0]), length_of(p, &args[1]), (Length){.base = {.known = flow_of(result)}}));
}

static void look_at(Lengths *p, const CtFlowBlock *block, uint32_t depth) {
    for (uint32_t i = 0; i < block->steps.count; i++) look_at_step(p, block->steps.items[i], depth);
}

/* ---- the walk ---- */

typedef struct Asked {
    const CtFlowVar *array;
    CtFlowArg start;
    bool some;
} Asked;

static void ask_start(void *data, CtFlowStep *step) {
    Asked *asked = data;
    if (step->kind != FLOW_DIM || step->as.index > 0) return;
    if (step->args.items[0].var != asked->array) return;
    step->args.items[0] = asked->start;
    asked->some = true;
}

typedef struct Chosen {
    Lengths *p;
    CtFlowBlock *block; /* of the loop */
    uint32_t depth;     /* that the loop is in */
} Chosen;

/* The least of two lengths, of which one is known in front of the loop: that one, if it is the least. */
static void take_least(const Chosen *c, const CtFlowStep *step) {
    const CtFlowVar *result = step->results.items[0];
    if (result == NULL || c->p->set[result->id] != c->p->look) return;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowArg *arg = &step->args.items[i];
        Length length = length_of(c->p, arg);
        bool outside = arg->var != NULL && ct_flow_fact(&c->p->facts, arg)->depth <= c->depth;
        if (!outside || !is_same(&length, &c->p->items[result->id])) continue;
        CT_FIRED("carried_lengths.shortest");
        ct_flow_substitute(c->block, result, *arg);
        return;
    }
}

/* An array that a switch makes, of a length that is known in front of the loop. */
static void ask_outside(void *data, CtFlowStep *step) {
    const Chosen *c = data;
    if (ct_flow_is_prim(step, PRIM_INT_MIN)) take_least(c, step);
    if (step->kind != FLOW_DIM || step->as.index > 0 || step->args.items[0].var == NULL) return;
    const CtFlowVar *array = step->args.items[0].var;
    if (c->p->set[array->id] != c->p->look || ct_flow_maker(&c->p->facts, &step->args.items[0], FLOW_SWITCH) == NULL)
        return;
    Length length = c->p->items[array->id];
    if (length.more != 0 || !is_outside(c->p, &length, c->depth)) return;
    CT_FIRED("carried_lengths.chosen");
    if (length.base.known.type != NULL) {
        ct_flow_substitute(c->block, step->results.items[0], length.base.known);
    } else {
        step->args.items[0] = flow_of((CtFlowVar *)length.base.array); // NOLINT
        step->as.index = length.base.dimension;
    }
}

/* Asks for the lengths of carried arrays in front of the loop. */
static void rewrite(Lengths *p, CtFlowStep *loop) {
    CtFlowBlock *block = loop->as.loop.block;
    bool *kept = may_keep(p, loop);
    uint32_t depth = ct_flow_fact(&p->facts, &(CtFlowArg){.var = block->params.items[0]})->depth - 1;
    p->look++;
    look_at_carried(p, loop, kept, depth);
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        if (!kept[i]) continue;
        CtFlowArg param = flow_of(block->params.items[1 + i]), start = loop->args.items[1 + i];
        CtFlowLength first = ct_flow_length(&p->facts, &start, 0, false);
        CtFlowLength known = ct_flow_length(&p->facts, &param, 0, false);
        Asked asked = {param.var, start, false};
        if (!ct_flow_is_length(&first, &known)) ct_flow_each_step(block, ask_start, &asked);
        if (asked.some) CT_FIRED("carried_lengths.kept");
    }
    ct_flow_each_step(block, ask_outside, &(Chosen){p, block, depth});
}

static void visit(void *data, CtFlowStep *step) {
    if (step->kind == FLOW_LOOP && step->as.loop.carried > 0) rewrite(data, step);
}

void ct_flow_carried_lengths(CtFlow *flow) {
    Lengths p = {.flow = flow};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        ct_flow_facts_begin(&p.facts, flow, function);
        p.items = CT_NEW_ARRAY(flow->arena, Length, function->vars + 1);
        p.set = CT_NEW_ARRAY(flow->arena, uint32_t, function->vars + 1);
        p.look = 0;
        ct_flow_each_step(function->body, visit, &p);
    }
}
