/* Nodes behind branches. If a switch gives a node that each branch makes, and the node is opened in a branch of a later
 * switch on the same value, it is known which branch has made it:
 *
 *     k = switch t                          k, f = switch t
 *       case 0: f = …; yield make A f         case 0: f = …; yield (make A f), f
 *       case 1: … yield make B …              case 1: … yield (make B …), 0
 *     switch t                       →      switch t
 *       case 0: f' = open A k                 case 0: ⟨f for f'⟩
 *
 * A field that is a number is yielded beside the node; a small array or a node that the branch makes is made again of
 * its parts where it is used, and so is an array of equal numbers, if that is not in a loop. So the forward sweep of a
 * branch and its reverse sweep in the same function need no residual in memory. The node itself is then unused, as a
 * rule. The simplifier does this as it goes by. */
#include "flow/opt/passes.h"

enum {
    MOST_RESULTS = 48, /* of a switch */
    DEEPEST = 6,       /* of nodes in nodes */
};

typedef struct Opening {
    CtFlowBuilder *b; /* where the fields are wanted */
    CtFlowFacts *facts;
    uint32_t depth; /* of the builder's block */
    CtFlowStep *choice;
    CtFlowBlock *taken; /* the branch of the choice that is known to have been taken */
    uint32_t outer;     /* depth of the block that the choice is in */
    uint32_t results;   /* how many it would have */
} Opening;

static bool is_number(const CtFlowType *type) {
    return type->kind == FLOW_F64 || type->kind == FLOW_F32 || type->kind == FLOW_I64;
}

static bool is_outside(const Opening *o, const CtFlowArg *value) {
    return value->var == NULL || ct_flow_fact(o->facts, value)->depth <= o->outer;
}

/* The step of the branch that makes a node or a small array; NULL for other values. */
static CtFlowStep *made_by(const Opening *o, const CtFlowArg *value) {
    CtFlowStep *maker = ct_flow_fact(o->facts, value)->maker;
    if (maker == NULL || maker->results.count != 1) return NULL;
    bool fills = ct_flow_is_bulk(maker, ARRAY_REPLICATE) && !ct_flow_is_object(maker->args.items[1].type) &&
                 o->depth == o->outer + 1;
    return maker->kind == FLOW_MAKE || maker->kind == FLOW_ITEMS || fills ? maker : NULL;
}

/* Whether a value of the branch can be had behind the choice. */
static bool can_come(Opening *o, const CtFlowArg *value, int depth) {
    if (is_outside(o, value)) return true;
    if (is_number(value->type)) return ++o->results <= MOST_RESULTS;
    const CtFlowStep *maker = made_by(o, value);
    if (maker == NULL || depth == 0) return false;
    for (uint32_t i = 0; i < maker->args.count; i++)
        if (!can_come(o, &maker->args.items[i], depth - 1)) return false;
    return true;
}

/* Yields a number of the branch; 0 in the others. */
static CtFlowArg yield(Opening *o, CtFlowArg value) {
    CtFlowStep *choice = o->choice;
    for (uint32_t i = 0; i < o->taken->values.count; i++)
        if (o->taken->values.items[i].var == value.var) return flow_of(choice->results.items[i]);
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        CtFlowBlock *block = choice->as.cases.branches[i].block;
        CtFlowArg zero = {.type = value.type};
        if (block->exit == EXIT_NEVER) continue;
        ct_push(o->b->arena, &block->values, block == o->taken ? value : zero);
    }
    CtFlowVar *result = ct_flow_var(o->b, value.var->name, value.type);
    ct_push(o->b->arena, &choice->results, result);
    ct_flow_facts_step(o->facts, choice, o->outer);
    return flow_of(result);
}

static CtFlowArg come(Opening *o, CtFlowArg value) {
    if (is_outside(o, &value)) return value;
    if (is_number(value.type)) return yield(o, value);
    const CtFlowStep *maker = made_by(o, &value);
    CtFlowStep *again = CT_NEW(o->b->arena, CtFlowStep);
    *again = *maker;
    again->args = (CtFlowArgs){0};
    again->results = (CtFlowVars){0};
    for (uint32_t i = 0; i < maker->args.count; i++) ct_push(o->b->arena, &again->args, come(o, maker->args.items[i]));
    CtFlowArg made = ct_flow_result(o->b, again, value.var->name, value.type);
    ct_push(o->b->arena, &o->b->block->steps, again);
    ct_flow_facts_step(o->facts, again, o->depth);
    return made;
}

const CtFlowArgs *ct_flow_fields_behind(CtFlowBuilder *b, CtFlowFacts *facts, const CtFlowStep *open,
                                        CtFlowStep *choice, uint32_t branch, uint32_t depth) {
    const CtFlowArg *node = &open->args.items[0];
    const CtFlowFact *fact = ct_flow_fact(facts, node);
    Opening o = {.b = b, .facts = facts, .depth = depth, .choice = choice, .outer = fact->depth};
    o.taken = choice->as.cases.branches[branch].block;
    if (o.taken->exit != EXIT_YIELD) return NULL;
    const CtFlowStep *make = ct_flow_maker(facts, &o.taken->values.items[fact->index], FLOW_MAKE);
    if (make == NULL || make->as.con.tag != open->as.con.tag) return NULL;
    o.results = choice->results.count;
    for (uint32_t i = 0; i < make->args.count; i++)
        if (!can_come(&o, &make->args.items[i], DEEPEST)) return NULL;
    ct_flow_own_values(b, choice);
    CtFlowArgs *fields = CT_NEW(b->arena, CtFlowArgs);
    for (uint32_t i = 0; i < make->args.count; i++) ct_push(b->arena, fields, come(&o, make->args.items[i]));
    CT_FIRED("simplify.field_behind");
    return fields;
}
