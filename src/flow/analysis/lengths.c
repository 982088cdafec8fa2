/* Length analysis: the definitions of variables, and what is known of the lengths of arrays. */
#include "flow/analysis/analysis.h"

/* ---- what binds a variable ---- */

static void set_fact(CtFlowFacts *facts, const CtFlowVar *var, CtFlowFact fact) {
    if (var->id >= facts->count) {
        uint32_t count = var->id + var->id / 4 + 16;
        CtFlowFact *items = CT_NEW_ARRAY(facts->arena, CtFlowFact, count);
        if (facts->count > 0) memcpy(items, facts->items, facts->count * sizeof *items);
        facts->items = items;
        facts->count = count;
    }
    facts->items[var->id] = fact;
}

void ct_flow_facts_begin(CtFlowFacts *facts, CtFlow *flow, const CtFlowFunction *function) {
    facts->arena = flow->arena;
    facts->function = function;
    facts->is_closed = flow->is_closed;
    facts->integer = ct_flow_scalar(flow, FLOW_I64);
    facts->equals.count = 0;
    if (facts->count > 0) memset(facts->items, 0, facts->count * sizeof *facts->items);
    /* Makes space for all. */
    if (function->vars > 0) set_fact(facts, &(CtFlowVar){.id = function->vars - 1}, (CtFlowFact){0});
    ct_flow_facts_add(facts, function->body, 0);
}

const CtFlowFact *ct_flow_fact(const CtFlowFacts *facts, const CtFlowArg *arg) {
    static const CtFlowFact none;
    return arg->var != NULL && arg->var->id < facts->count ? &facts->items[arg->var->id] : &none;
}

const CtFlowStep *ct_flow_maker(const CtFlowFacts *facts, const CtFlowArg *arg, CtFlowStepKind kind) {
    const CtFlowStep *maker = ct_flow_fact(facts, arg)->maker;
    return maker != NULL && maker->kind == kind ? maker : NULL;
}

void ct_flow_facts_step(CtFlowFacts *facts, CtFlowStep *step, uint32_t depth) {
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL)
            set_fact(facts, step->results.items[i], (CtFlowFact){.maker = step, .index = i, .depth = depth});
    if (step->kind == FLOW_LOOP) {
        const CtFlowVars *params = &step->as.loop.block->params;
        for (uint32_t i = 0; i < params->count; i++)
            set_fact(facts, params->items[i], (CtFlowFact){.loop = step, .index = i, .depth = depth + 1});
        ct_flow_facts_add(facts, step->as.loop.block, depth + 1);
    }
    for (uint32_t i = 0; step->kind == FLOW_SWITCH && i < step->as.cases.count; i++)
        ct_flow_facts_add(facts, step->as.cases.branches[i].block, depth + 1);
}

void ct_flow_facts_add(CtFlowFacts *facts, const CtFlowBlock *block, uint32_t depth) {
    for (uint32_t i = 0; i < block->steps.count; i++) ct_flow_facts_step(facts, block->steps.items[i], depth);
}

/* ---- lengths ---- */

enum { DEEPEST = 40 };             /* bound of the search through definitions */
#define LARGEST (INT64_C(1) << 32) /* of literals that are added */

static CtFlowLength length(const CtFlowFacts *facts, const CtFlowArg *array, uint32_t dimension, bool some, int depth);
static CtFlowLength length_of(const CtFlowFacts *facts, CtFlowArg count, int depth);

static CtFlowLength own_length(const CtFlowArg *array, uint32_t dimension) {
    return (CtFlowLength){.array = array->var, .dimension = dimension};
}

/* min k n, with a literal k, is k where n is known to be as large. */
static const CtFlowArg *smaller(const CtFlowFacts *facts, const CtFlowStep *step, int depth) {
    if (!ct_flow_is_prim(step, PRIM_INT_MIN)) return NULL;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowArg *limit = &step->args.items[i], *of = &step->args.items[1 - i];
        if (limit->var != NULL || limit->lit.integer <= 0 || of->var == NULL || depth <= 0) continue;
        if (ct_flow_least(facts, length_of(facts, *of, depth - 1)) >= limit->lit.integer) return limit;
    }
    return NULL;
}

static CtFlowLength length_of(const CtFlowFacts *facts, CtFlowArg count, int depth) {
    const CtFlowStep *maker = ct_flow_fact(facts, &count)->maker;
    if (maker != NULL && maker->kind == FLOW_DIM)
        return length(facts, &maker->args.items[0], maker->as.index, false, depth);
    const CtFlowArg *known = maker != NULL ? smaller(facts, maker, depth) : NULL;
    return (CtFlowLength){.known = known != NULL && CT_FIRED("lengths.smaller") ? *known : count};
}

CtFlowLength ct_flow_length_of(const CtFlowFacts *facts, CtFlowArg count) { return length_of(facts, count, DEEPEST); }

/* The number of elements of a rank-1 array that a loop makes; NULL for other arrays. */
static const CtFlowArg *made_count(const CtFlowFact *fact, const CtFlowArg *array) {
    const CtFlowStep *step = fact->maker;
    bool made = step != NULL && step->kind == FLOW_LOOP && fact->index >= step->as.loop.carried;
    return made && !step->as.loop.initial && array->type->rank == 1 ? &step->args.items[0] : NULL;
}

/* The initial value of a carried array, `var`; of a vector, also its length. */
typedef struct Initial {
    const CtFlowVar *var;
    CtFlowLength length;
} Initial;

/* Whether a step makes a vector as long as the initial one. */
static bool fills_length(const CtFlowFacts *facts, const CtFlowStep *step, const Initial *first, int depth) {
    if (!ct_flow_is_bulk(step, ARRAY_REPLICATE) || first->length.dimension > 0) return false;
    if (step->results.items[0]->type->rank != 1 || ct_flow_is_object(step->args.items[1].type)) return false;
    CtFlowLength count = length_of(facts, step->args.items[0], depth);
    if (count.known.type == NULL) return count.array == first->length.array && count.dimension == 0;
    return ct_flow_same(&first->length.known, &count.known);
}

/* Whether an array has the lengths of the initial value of a carried variable: it is that with updated elements, or is
 * made with the same lengths. */
static bool keeps_lengths(const CtFlowFacts *facts, const CtFlowArg *array, Initial first, int depth) {
    if (array->var == first.var) return true;
    const CtFlowFact *fact = ct_flow_fact(facts, array);
    const CtFlowStep *step = fact->maker;
    if (depth == 0 || step == NULL) return false;
    const CtFlowArg *count = made_count(fact, array);
    const CtFlowStep *dim = count != NULL ? ct_flow_maker(facts, count, FLOW_DIM) : NULL;
    if (count != NULL) return dim != NULL && keeps_lengths(facts, &dim->args.items[0], first, depth - 1);
    if (fills_length(facts, step, &first, depth)) return CT_FIRED("lengths.filled");
    if (step->kind == FLOW_UPDATE)
        return step->args.count - 2 == array->type->rank &&
               keeps_lengths(facts, &step->args.items[0], first, depth - 1);
    if (step->kind == FLOW_LOOP && fact->index < step->as.loop.carried) {
        const CtFlowBlock *block = step->as.loop.block;
        const Initial inner = {block->params.items[1 + fact->index], first.length};
        return block->exit == EXIT_YIELD && keeps_lengths(facts, &block->values.items[fact->index], inner, depth / 2) &&
               keeps_lengths(facts, &step->args.items[1 + fact->index], first, depth - 1);
    }
    for (uint32_t i = 0; step->kind == FLOW_SWITCH && i < step->as.cases.count; i++) {
        const CtFlowBlock *branch = step->as.cases.branches[i].block;
        if (branch->exit == EXIT_YIELD && !keeps_lengths(facts, &branch->values.items[fact->index], first, depth / 2))
            return false;
    }
    return step->kind == FLOW_SWITCH;
}

bool ct_flow_is_length(const CtFlowLength *a, const CtFlowLength *b) {
    if (a->known.type != NULL || b->known.type != NULL)
        return a->known.type == b->known.type && ct_flow_same(&a->known, &b->known);
    return a->array == b->array && a->dimension == b->dimension;
}

/* The length of a carried array, in any iteration or behind the loop. */
static CtFlowLength carried_length(const CtFlowFacts *facts, const CtFlowStep *loop, uint32_t index,
                                   const CtFlowArg *array, uint32_t dimension, int depth) {
    const CtFlowBlock *block = loop->as.loop.block;
    const CtFlowArg *start = &loop->args.items[1 + index], *next = &block->values.items[index];
    if (block->exit != EXIT_YIELD) return own_length(array, dimension);
    CtFlowLength first = length(facts, start, dimension, false, depth);
    const CtFlowArg *count = made_count(ct_flow_fact(facts, next), next);
    if (count != NULL && ct_flow_maker(facts, count, FLOW_DIM) == NULL) /* the initial array's length too */
        if (first.known.type != NULL && ct_flow_same(&first.known, count)) return first;
    if (keeps_lengths(facts, next, (Initial){block->params.items[1 + index], first}, depth / 2)) return first;
    CtFlowLength then = length(facts, next, dimension, false, depth / 4);
    return ct_flow_is_length(&then, &first) ? first : own_length(array, dimension);
}

/* The length of an array that a loop makes. Its inner lengths are those of its rows, if these are the same in all
 * iterations. */
static CtFlowLength made_length(const CtFlowFacts *facts, const CtFlowFact *fact, const CtFlowArg *array,
                                uint32_t dimension, bool some, int depth) {
    const CtFlowStep *loop = fact->maker;
    if (loop->as.loop.initial) return own_length(array, dimension);
    if (dimension == 0) return length_of(facts, loop->args.items[0], depth);
    if (!some || loop->as.loop.block->exit != EXIT_YIELD) return own_length(array, dimension);
    CtFlowLength row = length(facts, &loop->as.loop.block->values.items[fact->index], dimension - 1, some, depth);
    CtFlowArg root = row.known.type != NULL ? row.known : (CtFlowArg){.var = (CtFlowVar *)row.array};
    bool outside = ct_flow_fact(facts, &root)->depth <= fact->depth;
    return outside ? row : own_length(array, dimension);
}

static CtFlowLength bulk_length(const CtFlowFacts *facts, const CtFlowStep *step, const CtFlowArg *array,
                                uint32_t dimension, bool some, int depth) {
    const CtFlowArg *args = step->args.items;
    uint32_t last = step->args.count - 1;
    switch ((int)step->as.bulk) {
    case ARRAY_REVERSE: return length(facts, &args[0], dimension, some, depth);
    case ARRAY_IOTA: return length_of(facts, args[0], depth);
    case ARRAY_REPLICATE:
        if (dimension == 0) return length_of(facts, args[0], depth);
        return some ? length(facts, &args[1], dimension - 1, some, depth) : own_length(array, dimension);
    case ARRAY_TRANSPOSE:
        if (!some) return own_length(array, dimension);
        /* there may be no columns because there are no rows: what is outside of the columns may be empty */
        if (dimension == 0) return length(facts, &args[0], 1, false, depth);
        return length(facts, &args[0], dimension == 1 ? 0 : dimension, true, depth);
    case ARRAY_GATHER:
        if (dimension == 0) return length(facts, &args[0], 0, some, depth);
        return some ? length(facts, &args[1], dimension, some, depth) : own_length(array, dimension);
    case ARRAY_SLICE:
        if (dimension == 0) return length_of(facts, args[1], depth);
        return some ? length(facts, &args[last], dimension, some, depth) : own_length(array, dimension);
    case ARRAY_RESHAPE:
        if (dimension == 0) return length_of(facts, args[0], depth);
        if (dimension == 1 && some) return length_of(facts, args[1], depth);
        return own_length(array, dimension);
    default: return own_length(array, dimension);
    }
}

static CtFlowLength parameter_length(const CtFlowFacts *facts, const CtFlowArg *array, uint32_t dimension) {
    const CtFlowVar *like = dimension == 0 ? array->var->like : NULL;
    for (uint32_t i = 0; like != NULL && i < facts->function->params.count; i++)
        if (facts->function->params.items[i] == like) return (CtFlowLength){.array = like};
    return own_length(array, dimension);
}

/* Whether one step makes all elements of an array, or reads or rearranges them. Elements that are arrays by reference
 * then have lengths in common; otherwise each may have been put there separately. */
static bool makes_elements(const CtFlowFact *fact) {
    if (fact->maker == NULL) return false;
    if (fact->maker->kind == FLOW_LOOP) return fact->index >= fact->maker->as.loop.carried;
    return fact->maker->kind == FLOW_BULK || fact->maker->kind == FLOW_READ;
}

/* The length of what is read from an array: of a row, or of an array by reference. All rows have one length. Arrays by
 * reference may differ in length, so that a dimension beyond the rank of the whole names no single length. */
static CtFlowLength read_length(const CtFlowFacts *facts, const CtFlowStep *step, const CtFlowArg *array,
                                uint32_t dimension, bool some, int depth) {
    some |= dimension == 0; /* it has been read, so the whole has elements */
    CtFlowLength found = length(facts, &step->args.items[0], dimension + step->args.count - 1, some, depth);
    bool differs = found.known.type == NULL && found.dimension >= found.array->type->rank;
    return differs ? own_length(array, dimension) : found;
}

/* Whether a variable is bound, as far as is known, in a block at this depth that is in sight, or around it. */
static bool is_bound_at(const CtFlowFacts *facts, const CtFlowVar *var, uint32_t depth) {
    const CtFlowFact *fact = ct_flow_fact(facts, &(CtFlowArg){.var = (CtFlowVar *)var}); // NOLINT
    for (uint32_t i = 0; i < facts->function->params.count; i++)
        if (facts->function->params.items[i] == var) return true;
    return (fact->maker != NULL || fact->loop != NULL) && fact->depth <= depth;
}

/* The number that a test finds to be 0 in a branch; NULL: there is none. */
static const CtFlowArg *zero_in(const CtFlowFacts *facts, const CtFlowStep *choice, const CtFlowBranch *branch) {
    const CtFlowStep *test = ct_flow_maker(facts, &choice->args.items[0], FLOW_PRIM);
    if (!ct_flow_is_prim(test, PRIM_INT_EQ) || branch->tag != 1) return NULL;
    const CtFlowArg *with = &test->args.items[1];
    return with->var == NULL && with->lit.integer == 0 ? &test->args.items[0] : NULL;
}

/* The number of elements of a switch's result, if it is the same in all branches, and known outside of them. With
 * `zeros`, no elements in the branch for n == 0 are n elements. */
static CtFlowLength length_in_branches(const CtFlowFacts *facts, const CtFlowFact *fact, const CtFlowArg *array,
                                       bool zeros, int depth) {
    CtFlowLength all = own_length(array, 0);
    bool found = false;
    for (uint32_t i = 0; i < fact->maker->as.cases.count; i++) {
        const CtFlowBranch *branch = &fact->maker->as.cases.branches[i];
        if (branch->block->exit != EXIT_YIELD) continue;
        CtFlowLength one = length(facts, &branch->block->values.items[fact->index], 0, false, depth / 2);
        const CtFlowArg *zero = zeros ? zero_in(facts, fact->maker, branch) : NULL;
        if (zero != NULL && one.known.type != NULL && one.known.var == NULL && one.known.lit.integer == 0)
            one = length_of(facts, *zero, depth / 2);
        const CtFlowVar *var = one.known.type != NULL ? one.known.var : one.array;
        if (var != NULL && !is_bound_at(facts, var, fact->depth)) return own_length(array, 0);
        if (found && !ct_flow_is_length(&one, &all)) return own_length(array, 0);
        all = one;
        found = true;
    }
    return all;
}

static CtFlowLength chosen_length(const CtFlowFacts *facts, const CtFlowFact *fact, const CtFlowArg *array, int depth) {
    for (int zeros = 0; zeros < 2; zeros++) {
        CtFlowLength all = length_in_branches(facts, fact, array, zeros == 1, depth);
        if (all.known.type == NULL && all.array == array->var) continue;
        if (zeros == 0)
            CT_FIRED("lengths.chosen");
        else
            CT_FIRED("lengths.chosen_for_zero");
        return all;
    }
    return own_length(array, 0);
}

static CtFlowLength length(const CtFlowFacts *facts, const CtFlowArg *array, uint32_t dimension, bool some, int depth) {
    const CtFlowFact *fact = ct_flow_fact(facts, array);
    const CtFlowStep *step = fact->maker;
    if (depth-- == 0 || (dimension >= array->type->rank && !makes_elements(fact))) return own_length(array, dimension);
    if (fact->loop != NULL) /* the index is no array */
        return carried_length(facts, fact->loop, fact->index - 1, array, dimension, depth);
    if (step == NULL) return parameter_length(facts, array, dimension);
    const CtFlowArg *args = step->args.items;
    if (step->kind == FLOW_LOOP && fact->index < step->as.loop.carried)
        return carried_length(facts, step, fact->index, array, dimension, depth);
    if (step->kind == FLOW_LOOP) return made_length(facts, fact, array, dimension, some, depth);
    if (step->kind == FLOW_UPDATE && (dimension == 0 || step->args.count - 2 == array->type->rank))
        return length(facts, &args[0], dimension, some, depth);
    if (step->kind == FLOW_READ) return read_length(facts, step, array, dimension, some, depth);
    if (step->kind == FLOW_SWITCH && dimension == 0) return chosen_length(facts, fact, array, depth);
    bool items = ct_flow_is_items(step);
    if (items && dimension == 0)
        return (CtFlowLength){.known = {.type = facts->integer, .lit.integer = step->args.count}};
    if (items && step->args.count > 0) return length(facts, &args[0], dimension - 1, some, depth);
    if (step->kind == FLOW_PRODUCT && (dimension == 0 || some)) return length_of(facts, args[dimension], depth);
    if (step->kind == FLOW_BULK) return bulk_length(facts, step, array, dimension, some, depth);
    CtFlowArg known = ct_flow_constant_length(facts, fact, dimension);
    if (known.type != NULL && CT_FIRED("lengths.constant")) return (CtFlowLength){.known = known};
    /* Before derivatives are taken, a test of the number would move in front of the checks that decide it: which mode a
     * Jacobian takes. */
    if (dimension == 0 && facts->is_closed) known = ct_flow_result_length(facts, fact);
    if (known.type != NULL && CT_FIRED("lengths.result")) return (CtFlowLength){.known = known};
    return own_length(array, dimension);
}

CtFlowLength ct_flow_length(const CtFlowFacts *facts, const CtFlowArg *array, uint32_t dimension, bool some) {
    return length(facts, array, dimension, some, DEEPEST);
}

/* ---- what checks tell of lengths ---- */

/* The number of the last equality among the first `count` of what has been told. */
static uint32_t last_equality(const CtFlowFacts *facts, uint32_t count) {
    return count > 0 ? facts->equals.items[count - 1].last : 0;
}

void ct_flow_tell(CtFlowFacts *facts, CtFlowEqual told) {
    bool is_equality = told.low.type == NULL && told.least == 0 && !told.differs;
    told.last = is_equality ? facts->equals.count + 1 : last_equality(facts, facts->equals.count);
    ct_push(facts->arena, &facts->equals, told);
}

/* The representative of the lengths that are known to be equal to this one. */
static CtFlowLength first_of(const CtFlowFacts *facts, CtFlowLength a) {
    for (uint32_t i = last_equality(facts, facts->equals.count); i > 0; i = last_equality(facts, i - 1))
        if (ct_flow_is_length(&facts->equals.items[i - 1].also, &a)) a = facts->equals.items[i - 1].is;
    return a;
}

uint64_t ct_flow_length_key(const CtFlowFacts *facts, CtFlowLength a) {
    a = first_of(facts, a);
    if (a.known.type == NULL) return (uint64_t)a.array->id << 8 | a.dimension;
    return a.known.var != NULL ? ~(uint64_t)a.known.var->id : (uint64_t)a.known.lit.integer << 16;
}

bool ct_flow_same_length(const CtFlowFacts *facts, CtFlowLength a, CtFlowLength b) {
    a = first_of(facts, a);
    b = first_of(facts, b);
    return ct_flow_is_length(&a, &b);
}

static bool is_literal(const CtFlowLength *length) { return length->known.type != NULL && length->known.var == NULL; }

void ct_flow_are_equal(CtFlowFacts *facts, CtFlowLength a, CtFlowLength b) {
    a = first_of(facts, a);
    b = first_of(facts, b);
    if (ct_flow_is_length(&a, &b)) return;
    ct_flow_tell(facts, is_literal(&b) ? (CtFlowEqual){.is = b, .also = a} : (CtFlowEqual){.is = a, .also = b});
}

bool ct_flow_known_length(const CtFlowFacts *facts, CtFlowLength length, CtFlowArg *literal) {
    length = first_of(facts, length);
    *literal = length.known;
    return is_literal(&length);
}

CtFlowLength ct_flow_checked_length(const CtFlowFacts *facts, const CtFlowArg *arg, uint32_t dimension, bool some) {
    return arg->type->kind == FLOW_I64 ? ct_flow_length_of(facts, *arg) : ct_flow_length(facts, arg, dimension, some);
}

/* An array that has an index has all smaller indices. */
static void has_index(CtFlowFacts *facts, const CtFlowArg *index, CtFlowLength length) {
    const CtFlowArg zero = {.type = facts->integer};
    length = first_of(facts, length);
    if (index->var != NULL) {
        ct_flow_tell(facts, (CtFlowEqual){.low = *index, .high = length, .by = -1});
        ct_flow_tell(facts, (CtFlowEqual){.low = zero, .high = ct_flow_length_of(facts, *index)});
    }
    if (index->var == NULL && ct_flow_least(facts, length) <= index->lit.integer)
        ct_flow_tell(facts, (CtFlowEqual){.is = length, .also = length, .least = index->lit.integer + 1});
}

/* An array that has a slice is at least as long as start and count together. */
static void has_slice(CtFlowFacts *facts, const CtFlowArg *start, const CtFlowArg *count, CtFlowLength length) {
    const CtFlowArg zero = {.type = facts->integer};
    const CtFlowArg *parts[2] = {start, count};
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowArg *part = parts[i], *other = parts[1 - i];
        bool known = other->var == NULL && other->lit.integer >= 0 && other->lit.integer < LARGEST;
        if (part->var == NULL) continue;
        ct_flow_tell(facts, (CtFlowEqual){.low = *part, .high = length, .by = known ? -other->lit.integer : 0});
        ct_flow_tell(facts, (CtFlowEqual){.low = zero, .high = ct_flow_length_of(facts, *part)});
    }
    CtFlowArg last = {.type = facts->integer};
    for (uint32_t i = 0; i < 2; i++) {
        if (parts[i]->var != NULL || parts[i]->lit.integer < 0 || parts[i]->lit.integer >= LARGEST) continue;
        last.lit.integer += parts[i]->lit.integer;
    }
    if (last.lit.integer-- > 0) has_index(facts, &last, length);
}

/* Whether a test has told that a length, or number, is not this one. */
static bool is_other_than(const CtFlowFacts *facts, CtFlowLength length, int64_t number) {
    for (uint32_t i = 0; i < facts->equals.count; i++) {
        const CtFlowEqual *told = &facts->equals.items[i];
        if (told->differs && told->by == number && ct_flow_same_length(facts, told->is, length)) return true;
    }
    return false;
}

int64_t ct_flow_least(const CtFlowFacts *facts, CtFlowLength length) {
    int64_t least = 0;
    length = first_of(facts, length);
    for (uint32_t i = 0; i < facts->equals.count; i++) {
        if (facts->equals.items[i].least <= least) continue;
        CtFlowLength known = first_of(facts, facts->equals.items[i].is);
        if (ct_flow_is_length(&known, &length)) least = facts->equals.items[i].least;
    }
    bool bounded = length.known.type == NULL || least > 0; /* other numbers may be negative */
    while (bounded && is_other_than(facts, length, least) && CT_FIRED("lengths.differs")) least++;
    return least;
}

void ct_flow_learn(CtFlowFacts *facts, const CtFlowStep *check) {
    if (check->kind == FLOW_CHECK)
        has_index(facts, &check->args.items[0],
                  ct_flow_checked_length(facts, &check->args.items[1], check->as.index, true));
    if (check->kind == FLOW_CHECK_SLICE)
        has_slice(facts, &check->args.items[0], &check->args.items[1],
                  ct_flow_checked_length(facts, &check->args.items[2], 0, false));
    if (check->kind != FLOW_CHECK_ZIP && check->kind != FLOW_CHECK_SHAPE) return;
    const CtFlowArg *a = &check->args.items[0], *b = &check->args.items[1];
    uint32_t dimensions = check->kind == FLOW_CHECK_ZIP ? 1 : a->type->rank;
    for (uint32_t i = 0; i < dimensions; i++)
        ct_flow_are_equal(facts, ct_flow_checked_length(facts, a, i, false),
                          ct_flow_checked_length(facts, b, i, false));
}

bool ct_flow_is_long(const CtFlowFacts *facts, const CtFlowArg *array, uint32_t dimension, const CtFlowArg *count) {
    CtFlowLength length = ct_flow_length_of(facts, *count);
    return ct_flow_same_length(facts, ct_flow_length(facts, array, dimension, false), length) ||
           ct_flow_same_length(facts, ct_flow_length(facts, array, dimension, true), length);
}
