/* Vectors and matrices of a few numbers are passed by their elements. Where every call gives a parameter an array of
 * the same small lengths, as a simulation in two dimensions does that calls itself with the next position and velocity,
 * the parameter becomes a number for each element:
 *
 *     tail go x' v'                         tail go (read x', 0) (read x', 1) (read v', 0) (read v', 1)
 *     go (x, v): …                    →     go (x0, x1, v0, v1): x = items x0, x1;  v = items v0, v1; …
 *
 * So tests of these lengths are decided, and `unroll_vectors` makes numbers of the arithmetic on them. The lengths are
 * found together: the function's own calls give vectors of the length that its other calls give, if they do so for
 * parameters of that length.
 *
 * A parameter stays an array where the function would have to make one of its elements: for another call, a node, an
 * update, or a read at an index that is no literal, nor becomes one where a short loop is unrolled. */
#include "flow/build.h"
#include "flow/opt/passes.h"

enum {
    MOST_ELEMENTS = 4,    /* of a vector, as in the pass unroll_vectors */
    MOST_NUMBERS = 9,     /* of a matrix */
    MOST_PARAMETERS = 40, /* of a function */
    DEEPEST = 24,         /* bound of the search through definitions */
    PATIENCE = 1000       /* definitions that are looked at for one length; a chain of switches has many ways */
};

typedef enum Given { GIVEN_NOTHING, GIVEN_LENGTH, GIVEN_OTHERS } Given;

typedef struct Length {
    Given given;
    int64_t number;
} Length;

/* The lengths of a vector, or of a matrix; of others, GIVEN_OTHERS. */
typedef struct Shape {
    Length lengths[2];
} Shape;

typedef struct Vectors {
    CtFlow *flow;
    Shape **params, **results; /* by number of a function, and position */
    CtFlowFacts *facts;        /* of each function */
    CtFlowFunction *function;
    uint32_t patience; /* definitions that may still be looked at */
    bool changed;
} Vectors;

static const Length others = {.given = GIVEN_OTHERS};

static Length number(int64_t n) { return (Length){GIVEN_LENGTH, n}; }

static const CtFlowFacts *facts_of(const Vectors *v) { return &v->facts[v->function->id]; }

/* What is known of a parameter of the function that is looked at; NULL for other variables. */
static Shape *param_of(const Vectors *v, const CtFlowVar *var) {
    const CtFlowVars *params = &v->function->params;
    for (uint32_t i = 0; var != NULL && i < params->count; i++)
        if (params->items[i] == var) return &v->params[v->function->id][i];
    return NULL;
}

/* ---- lengths as numbers, of parameters as they are known so far ---- */

static Length int_of(Vectors *v, const CtFlowArg *arg, int depth);
static Length length_of(Vectors *v, const CtFlowArg *array, uint32_t dimension, int depth);

static Length join(Length a, Length b) {
    if (a.given == GIVEN_NOTHING) return b;
    if (b.given == GIVEN_NOTHING) return a;
    return a.given == GIVEN_LENGTH && b.given == GIVEN_LENGTH && a.number == b.number ? a : others;
}

/* A length, or where there is no array, an Int. */
static Length value_of(Vectors *v, const CtFlowArg *arg, uint32_t dimension, int depth) {
    return arg->type->kind == FLOW_ARRAY ? length_of(v, arg, dimension, depth) : int_of(v, arg, depth);
}

/* Of a switch's result: that of the branch which is taken, or of all. */
static Length chosen(Vectors *v, const CtFlowFact *fact, uint32_t dimension, int depth) {
    const CtFlowStep *choice = fact->maker;
    const CtFlowArg *on = &choice->args.items[0];
    Length test = on->type->kind == FLOW_I64 ? int_of(v, on, depth) : others, all = {GIVEN_NOTHING, 0};
    if (test.given == GIVEN_NOTHING) return all;
    uint32_t taken = test.given == GIVEN_LENGTH ? ct_flow_branch_for(choice, test.number) : UINT32_MAX;
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        const CtFlowBlock *block = choice->as.cases.branches[i].block;
        if ((taken != UINT32_MAX && i != taken) || block->exit != EXIT_YIELD) continue;
        all = join(all, value_of(v, &block->values.items[fact->index], dimension, depth));
    }
    return all;
}

static Length prim_of(Vectors *v, const CtFlowStep *step, int depth) {
    CtFlowArg literals[2], value;
    if (step->args.count != 2 || ct_flow_step_fails(step)) return others;
    for (uint32_t i = 0; i < 2; i++) {
        if (step->args.items[i].type->kind != FLOW_I64) return others;
        Length one = int_of(v, &step->args.items[i], depth);
        if (one.given != GIVEN_LENGTH) return one;
        literals[i] = (CtFlowArg){.type = step->args.items[i].type, .lit.integer = one.number};
    }
    CtFlowStep known = *step;
    known.args = (CtFlowArgs){.items = literals, .count = 2};
    return ct_flow_fold(&known, &value) && value.type->kind == FLOW_I64 ? number(value.lit.integer) : others;
}

static Length int_of(Vectors *v, const CtFlowArg *arg, int depth) {
    const CtFlowFact *fact = ct_flow_fact(facts_of(v), arg);
    if (arg->var == NULL) return number(arg->lit.integer);
    if (depth == 0 || v->patience == 0 || fact->maker == NULL) return others;
    v->patience--;
    switch ((int)fact->maker->kind) {
    case FLOW_DIM: return length_of(v, &fact->maker->args.items[0], fact->maker->as.index, depth - 1);
    case FLOW_PRIM: return prim_of(v, fact->maker, depth - 1);
    case FLOW_SWITCH: return chosen(v, fact, 0, depth - 1);
    default: return others;
    }
}

static Length bulk_length(Vectors *v, const CtFlowStep *step, int depth) {
    const CtFlowArg *args = step->args.items;
    switch ((int)step->as.bulk) {
    case ARRAY_REPLICATE:
    case ARRAY_IOTA: return int_of(v, &args[0], depth);
    case ARRAY_SLICE: return int_of(v, &args[1], depth);
    case ARRAY_REVERSE: return length_of(v, &args[0], 0, depth);
    case ARRAY_APPEND: {
        Length a = length_of(v, &args[0], 0, depth), b = length_of(v, &args[1], 0, depth);
        if (a.given != GIVEN_LENGTH || b.given != GIVEN_LENGTH) return a.given == GIVEN_OTHERS ? a : b;
        return number(a.number + b.number);
    }
    default: return others;
    }
}

/* The length of the rows that one step makes. */
static Length row_length(Vectors *v, const CtFlowFact *fact, int depth) {
    const CtFlowStep *step = fact->maker;
    if (step->kind == FLOW_ITEMS && step->args.count > 0) return length_of(v, &step->args.items[0], 0, depth);
    bool made = step->kind == FLOW_LOOP && fact->index >= step->as.loop.carried && !step->as.loop.initial;
    return made && step->as.loop.block->exit == EXIT_YIELD
               ? length_of(v, &step->as.loop.block->values.items[fact->index], 0, depth)
               : others;
}

/* A gradient has the lengths of its point. */
static Length pulled(Vectors *v, const CtFlowFact *fact, uint32_t dimension, int depth) {
    const CtFlowStep *vjp = ct_flow_maker(facts_of(v), &fact->maker->args.items[0], FLOW_VJP);
    if (vjp == NULL || vjp->as.derived != fact->maker->as.derived) return others;
    return length_of(v, &vjp->args.items[vjp->as.derived->captured + fact->index], dimension, depth);
}

static Length length_of(Vectors *v, const CtFlowArg *array, uint32_t dimension, int depth) {
    const CtFlowFact *fact = ct_flow_fact(facts_of(v), array);
    const CtFlowStep *step = fact->maker;
    const Shape *param = param_of(v, array->var);
    if (dimension >= array->type->rank || dimension > 1) return others;
    if (param != NULL) return param->lengths[dimension];
    if (depth-- == 0 || v->patience == 0 || step == NULL) return others;
    v->patience--;
    if (step->kind == FLOW_UPDATE) return length_of(v, &step->args.items[0], dimension, depth);
    if (step->kind == FLOW_SWITCH) return chosen(v, fact, dimension, depth);
    if (step->kind == FLOW_PULL) return pulled(v, fact, dimension, depth);
    if (step->kind == FLOW_CALL) return v->results[step->as.function->id][fact->index].lengths[dimension];
    if (step->kind == FLOW_READ) return length_of(v, &step->args.items[0], dimension + step->args.count - 1, depth);
    if (dimension > 0) return row_length(v, fact, depth);
    if (ct_flow_is_items(step)) return number(step->args.count);
    if (step->kind == FLOW_BULK) return bulk_length(v, step, depth);
    bool made = step->kind == FLOW_LOOP && fact->index >= step->as.loop.carried && !step->as.loop.initial;
    return made ? int_of(v, &step->args.items[0], depth) : others;
}

/* The number of elements of an array, or of each of its rows. */
static Length length(Vectors *v, const CtFlowArg *array, uint32_t dimension) {
    v->patience = PATIENCE;
    return length_of(v, array, dimension, DEEPEST);
}

/* ---- what calls give ---- */

/* Whether an array of these lengths, as far as they are known, is small. */
static bool is_small(const Shape *shape, uint32_t rank) {
    int64_t numbers = 1;
    for (uint32_t i = 0; i < rank; i++) {
        if (shape->lengths[i].given == GIVEN_OTHERS) return false;
        if (shape->lengths[i].given == GIVEN_NOTHING) continue;
        if (shape->lengths[i].number < 1 || shape->lengths[i].number > MOST_ELEMENTS) return false;
        numbers *= shape->lengths[i].number;
    }
    return numbers <= MOST_NUMBERS;
}

static void stay(Vectors *v, Shape *param) {
    if (param->lengths[0].given == GIVEN_OTHERS) return;
    param->lengths[0] = param->lengths[1] = others;
    v->changed = true;
}

static void give(Vectors *v, const CtFlowFunction *callee, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) {
        Shape *param = &v->params[callee->id][i];
        if (param->lengths[0].given == GIVEN_OTHERS) continue;
        uint32_t rank = args->items[i].type->rank;
        for (uint32_t j = 0; j < rank; j++) {
            Length all = join(param->lengths[j], length(v, &args->items[i], j));
            v->changed |= all.given != param->lengths[j].given || all.number != param->lengths[j].number;
            param->lengths[j] = all;
        }
        if (!is_small(param, rank)) stay(v, param);
    }
}

/* What a function gives; by a tail call, what that gives. */
static void look_at_results(Vectors *v, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < v->function->results.count; i++)
        for (uint32_t j = 0; j < 2; j++) {
            Length *all = &v->results[v->function->id][i].lengths[j];
            Length one = block->exit == EXIT_TAIL                          ? v->results[block->tail->id][i].lengths[j]
                         : block->values.items[i].type->kind == FLOW_ARRAY ? length(v, &block->values.items[i], j)
                                                                           : others;
            one = join(*all, one);
            v->changed |= one.given != all->given || one.number != all->number;
            *all = one;
        }
}

static void look_at(Vectors *v, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_CALL) give(v, step->as.function, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) look_at(v, ct_flow_inner(step, j));
    }
    if (block->exit == EXIT_TAIL) give(v, block->tail, &block->values);
    if (block->exit == EXIT_TAIL || block->exit == EXIT_RETURN) look_at_results(v, block);
}

static void look_at_all(Vectors *v) {
    for (v->changed = true; v->changed;) {
        v->changed = false;
        for (uint32_t i = 0; i < v->flow->functions.count; i++) {
            v->function = v->flow->functions.items[i];
            look_at(v, v->function->body);
        }
    }
}

/* ---- which parameters stay ---- */

static void keep(Vectors *v, const CtFlowArg *arg) {
    Shape *param = param_of(v, arg->var);
    if (param != NULL) stay(v, param);
}

static bool changes(const Shape *shape) { return shape->lengths[0].given == GIVEN_LENGTH; }

/* The arguments of a call must be vectors of which the callee takes the elements. */
static void keep_given(Vectors *v, const CtFlowFunction *callee, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (!changes(&v->params[callee->id][i])) keep(v, &args->items[i]);
}

/* Whether an index is a literal, or is one where a short loop is unrolled. */
static bool is_known_index(Vectors *v, const CtFlowArg *index) {
    const CtFlowFact *fact = ct_flow_fact(facts_of(v), index);
    if (index->var == NULL) return true;
    if (fact->loop == NULL || fact->index != 0) return false;
    v->patience = PATIENCE;
    Length count = int_of(v, &fact->loop->args.items[0], DEEPEST);
    return count.given == GIVEN_LENGTH && count.number <= MOST_ELEMENTS;
}

/* Whether a step only asks for elements, or is written out for these later. */
static bool takes_elements(Vectors *v, const CtFlowStep *step) {
    bool sums = ct_flow_is_bulk(step, ARRAY_SUM) || ct_flow_is_bulk(step, ARRAY_PRODUCT) ||
                ct_flow_is_bulk(step, ARRAY_MAXIMUM) || ct_flow_is_bulk(step, ARRAY_MINIMUM);
    for (uint32_t i = 1; step->kind == FLOW_READ && i < step->args.count; i++)
        if (!is_known_index(v, &step->args.items[i])) return false;
    return step->kind == FLOW_READ || step->kind == FLOW_DIM || ct_flow_is_check(step) || sums ||
           ct_flow_is_derivative(step) || step->kind == FLOW_SWITCH;
}

static void keep_whole(Vectors *v, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_CALL)
            keep_given(v, step->as.function, &step->args);
        else
            for (uint32_t j = 0; !takes_elements(v, step) && j < step->args.count; j++) keep(v, &step->args.items[j]);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) keep_whole(v, ct_flow_inner(step, j));
    }
    if (block->exit == EXIT_TAIL) keep_given(v, block->tail, &block->values);
}

static void keep_all(Vectors *v) {
    for (v->changed = true; v->changed;) {
        v->changed = false;
        for (uint32_t i = 0; i < v->flow->functions.count; i++) {
            v->function = v->flow->functions.items[i];
            keep_whole(v, v->function->body);
        }
    }
}

/* ---- elements instead ---- */

/* How many rows there are; of a vector, 1. */
static int64_t rows_of(const Shape *shape, const CtFlowType *type) {
    return type->rank == 2 ? shape->lengths[0].number : 1;
}

static int64_t columns_of(const Shape *shape, const CtFlowType *type) { return shape->lengths[type->rank - 1].number; }

static void read_elements(CtFlowBuilder *b, CtSourceRange range, CtFlowArg array, const Shape *shape, CtFlowArgs *to) {
    for (int64_t i = 0; i < rows_of(shape, array.type); i++)
        for (int64_t j = 0; j < columns_of(shape, array.type); j++) {
            CtFlowArg indices[] = {ct_flow_int(b, i), ct_flow_int(b, j)};
            CtFlowArg *from = array.type->rank == 2 ? indices : indices + 1;
            ct_push(b->arena, to, ct_flow_read(b, range, array, from, array.type->rank));
        }
}

/* The arguments of a call, with elements in place of small arrays, which are read in front of it. */
static CtFlowArgs give_elements(Vectors *v, CtFlowBuilder *b, CtSourceRange range, const CtFlowFunction *callee,
                                const CtFlowArgs *args) {
    CtFlowArgs fresh = {0};
    for (uint32_t i = 0; i < args->count; i++) {
        const Shape *shape = &v->params[callee->id][i];
        if (changes(shape))
            read_elements(b, range, args->items[i], shape, &fresh);
        else
            ct_push(b->arena, &fresh, args->items[i]);
    }
    return fresh;
}

static void change_calls(Vectors *v, CtFlowBlock *block) {
    CtFlowBlock before = ct_flow_reopen(block);
    CtFlowBuilder b = {.flow = v->flow, .arena = v->flow->arena, .function = v->function, .block = block};
    for (uint32_t i = 0; i < before.steps.count; i++) {
        CtFlowStep *step = before.steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) change_calls(v, ct_flow_inner(step, j));
        if (step->kind == FLOW_CALL) step->args = give_elements(v, &b, step->range, step->as.function, &step->args);
        ct_push(b.arena, &block->steps, step);
    }
    if (before.exit == EXIT_TAIL) before.values = give_elements(v, &b, before.range, before.tail, &before.values);
    block->exit = before.exit;
    block->values = before.values;
    block->tail = before.tail;
}

/* A parameter that is now its elements. */
typedef struct Elements {
    CtFlowBuilder *b;
    const CtFlowVar *param;
    const Shape *shape;
    CtFlowArgs elements;
} Elements;

static CtFlowArg items_of(const Elements *e, const CtFlowType *type, const CtFlowArgs *args) {
    CtFlowStep *items = ct_flow_step(e->b, FLOW_ITEMS, e->b->function->range);
    ct_flow_args_add(e->b, &items->args, args);
    return ct_flow_result(e->b, items, e->param->name, type);
}

/* The array of the elements. */
static CtFlowArg array_of(const Elements *e) {
    const CtFlowType *type = e->param->type;
    if (type->rank == 1) return items_of(e, type, &e->elements);
    const CtFlowType *row = ct_flow_array(e->b->flow, 1, type->element);
    uint32_t columns = (uint32_t)columns_of(e->shape, type);
    CtFlowArgs rows = {0};
    for (uint32_t i = 0; i < e->elements.count; i += columns) {
        CtFlowArgs one = ct_flow_slice(&e->elements, i, columns);
        ct_push(e->b->arena, &rows, items_of(e, row, &one));
    }
    return items_of(e, type, &rows);
}

/* Where a branch yields or returns the array, it makes one of its own, so that no other has to. */
static void make_at_exits(const Elements *e, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            make_at_exits(e, step->as.cases.branches[j].block);
    }
    for (uint32_t i = 0; i < block->values.count; i++) {
        if (block->values.items[i].var != e->param) continue;
        CtFlowExit exit = block->exit;
        block->exit = EXIT_OPEN;
        e->b->block = block;
        block->values.items[i] = array_of(e);
        block->exit = exit;
    }
}

/* Gives a function numbers in place of small arrays, which it makes of them at its start and where it gives one away.
 */
static void change_params(Vectors *v) {
    CtFlowFunction *function = v->function;
    CtFlowBuilder b = {.flow = v->flow, .arena = v->flow->arena, .function = function};
    CtFlowBlock *front = ct_flow_block(&b);
    CtFlowVars params = {0};
    for (uint32_t i = 0; i < function->params.count; i++) {
        CtFlowVar *param = function->params.items[i];
        Elements e = {.b = &b, .param = param, .shape = &v->params[function->id][i]};
        if (!changes(e.shape)) {
            ct_push(b.arena, &params, param);
            continue;
        }
        CT_FIRED("vector_parameters.elements");
        for (int64_t k = rows_of(e.shape, param->type) * columns_of(e.shape, param->type); k > 0; k--) {
            CtFlowVar *element = ct_flow_var(&b, param->name, param->type->element);
            ct_push(b.arena, &params, element);
            ct_push(b.arena, &e.elements, flow_of(element));
        }
        make_at_exits(&e, function->body);
        b.block = front;
        ct_flow_substitute(function->body, param, array_of(&e));
    }
    for (uint32_t i = 0; i < function->body->steps.count; i++)
        ct_push(b.arena, &front->steps, function->body->steps.items[i]);
    function->body->steps = front->steps;
    function->params = params;
}

/* ---- the pass ---- */

static bool may_change(const CtFlowVar *param) {
    return param->type->kind == FLOW_ARRAY && param->type->rank <= 2 && !ct_flow_is_object(param->type->element) &&
           param->like == NULL;
}

/* Facts about the lengths of parameters refer to them by name (CtFlowVar.like). */
static bool is_named(const CtFlowFunction *function, const CtFlowVar *param) {
    for (uint32_t i = 0; i < function->params.count; i++)
        if (function->params.items[i]->like == param) return true;
    return false;
}

static void begin(Vectors *v, CtFlowFunction *function, bool stays) {
    const CtFlowVars *params = &function->params;
    ct_flow_facts_begin(&v->facts[function->id], v->flow, function);
    v->params[function->id] = CT_NEW_ARRAY(v->flow->arena, Shape, params->count + 1);
    v->results[function->id] = CT_NEW_ARRAY(v->flow->arena, Shape, function->results.count + 1);
    stays = stays || function == v->flow->entry || params->count > MOST_PARAMETERS;
    for (uint32_t j = 0; j < params->count; j++) {
        bool may = !stays && may_change(params->items[j]) && !is_named(function, params->items[j]);
        if (!may) v->params[function->id][j] = (Shape){{others, others}};
    }
}

void ct_flow_vector_parameters(CtFlow *flow) {
    uint32_t count = flow->functions.count;
    const bool *fixed = ct_flow_fixed_functions(flow);
    Vectors v = {.flow = flow,
                 .params = CT_NEW_ARRAY(flow->arena, Shape *, count + 1),
                 .results = CT_NEW_ARRAY(flow->arena, Shape *, count + 1),
                 .facts = CT_NEW_ARRAY(flow->arena, CtFlowFacts, count + 1)};
    for (uint32_t i = 0; i < count; i++)
        begin(&v, flow->functions.items[i], fixed[i] || ct_flow_is_separate(flow->functions.items[i]));
    look_at_all(&v);
    keep_all(&v);
    for (uint32_t i = 0; i < count; i++) {
        v.function = flow->functions.items[i];
        change_calls(&v, v.function->body);
    }
    for (uint32_t i = 0; i < count; i++) {
        v.function = flow->functions.items[i];
        change_params(&v);
    }
}
