/* Rows of one shape in arrays that functions hand on: the second part of flat_rows.c, for a whole program.
 *
 * A list of lists that a function is given, or of which a derivative is taken, is an array of references to its rows:
 * in `vjp f points`, the steps that make `points` are elsewhere than those that read it. Here variables, parameters and
 * results that may hold the same array are one class. A class becomes a class of matrices if every loop that makes one
 * of its arrays certainly makes rows of one shape, and all other steps only hand arrays on, or read rows and lengths.
 *
 * That a loop's rows have one shape may follow from the rows that it reads, which are of arrays that have been made
 * before. So it is assumed of all classes first; those whose loops then do not show it are taken out, until no more go.
 *
 * A matrix holds its rows, not references. So that this costs no more than the program says, each row must be made by
 * the loop that makes the array, or the array is a copy of a whole matrix (which goes: copies.c); and rows that are
 * read from it must not be stored or given away. */
#include "flow/opt/passes.h"

typedef struct Class {
    struct Class *same;    /* the representative is found along these; NULL: this one */
    struct Class *element; /* of an array of arrays of rows: those in it */
    const CtFlowType *type;
    bool refused;
} Class;

typedef struct Classes {
    CtFlow *flow;
    CtArena *arena;
    Class ***vars, ***results; /* by the number of a function, and of the variable or the result; NULL: numbers */
    Class **rows;              /* by the number of a variable of the present function: it is a row of such an array */
    uint32_t *uses;            /* of its variables */
    CtFlowFunction *function;
    bool some, changed;
} Classes;

/* ---- classes ---- */

static bool is_by_reference(const CtFlowType *type) {
    return type->kind == FLOW_ARRAY && type->rank == 1 && type->element->kind == FLOW_ARRAY;
}

static Class *class_new(Classes *c, const CtFlowType *type) {
    if (!is_by_reference(type)) return NULL;
    Class *class = CT_NEW(c->arena, Class);
    *class = (Class){.type = type, .element = class_new(c, type->element)};
    const CtFlowType *row = type->element;
    if (class->element == NULL && ct_flow_is_object(row->element)) return NULL;
    c->some = true;
    return class;
}

static Class *representative(Class *class) {
    while (class != NULL && class->same != NULL) class = class->same;
    return class;
}

static void unify(Class *a, Class *b) {
    a = representative(a);
    b = representative(b);
    if (a == NULL || b == NULL || a == b) return;
    a->refused |= b->refused;
    b->same = a;
    unify(a->element, b->element);
}

static void refuse(Class *class) {
    for (class = representative(class); class != NULL; class = representative(class->element)) class->refused = true;
}

/* What an array of the class becomes, if none is refused that is not yet. */
static const CtFlowType *type_of(Classes *c, Class *class) {
    class = representative(class);
    const CtFlowType *row = class->type->element;
    if (class->element != NULL) return ct_flow_array(c->flow, 1, type_of(c, class->element));
    return class->refused ? class->type : ct_flow_array(c->flow, 1 + row->rank, row->element);
}

static Class *of_var(Classes *c, const CtFlowVar *var) {
    return var != NULL ? c->vars[c->function->id][var->id] : NULL;
}

static Class *of_arg(Classes *c, const CtFlowArg *arg) { return of_var(c, arg->var); }

/* ---- what goes where ---- */

static Class *of_param(Classes *c, const CtFlowFunction *function, uint32_t index) {
    return c->vars[function->id][function->params.items[index]->id];
}

static void hand_args(Classes *c, const CtFlowFunction *to, const CtFlowArg *args) {
    for (uint32_t i = 0; i < to->params.count; i++) unify(of_arg(c, &args[i]), of_param(c, to, i));
}

static void take_results(Classes *c, const CtFlowFunction *from, CtFlowVar *const *results) {
    for (uint32_t i = 0; i < from->results.count; i++) unify(of_var(c, results[i]), c->results[from->id][i]);
}

static void unify_derivative(Classes *c, const CtFlowStep *step) {
    const CtFlowFunction *function = step->as.derived->function;
    uint32_t captured = step->as.derived->captured, point = function->params.count - captured;
    const CtFlowArg *args = step->args.items;
    CtFlowVar *const *results = step->results.items;
    if (step->kind == FLOW_PULL) {
        for (uint32_t i = 0; i < function->results.count; i++)
            unify(of_arg(c, &args[1 + i]), c->results[function->id][i]);
        for (uint32_t i = 0; i < point; i++) unify(of_var(c, results[i]), of_param(c, function, captured + i));
        return;
    }
    hand_args(c, function, args);
    take_results(c, function, results);
    if (step->kind != FLOW_JVP) return;
    for (uint32_t i = 0; i < point; i++)
        unify(of_arg(c, &args[function->params.count + i]), of_param(c, function, captured + i));
    take_results(c, function, results + function->results.count);
}

static void unify_loop(Classes *c, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    for (uint32_t i = 0; i < step->results.count; i++) {
        Class *result = representative(of_var(c, step->results.items[i]));
        if (step->as.loop.initial) refuse(result);
        if (i < step->as.loop.carried) {
            unify(of_var(c, block->params.items[1 + i]), result);
            unify(of_var(c, block->params.items[1 + i]), of_arg(c, &step->args.items[1 + i]));
        }
        if (block->exit != EXIT_YIELD || i >= block->values.count) continue;
        Class *value = of_arg(c, &block->values.items[i]);
        bool carried = i < step->as.loop.carried;
        if (carried) unify(of_var(c, block->params.items[1 + i]), value);
        if (!carried && result != NULL) unify(result->element, value);
        if (!carried && result == NULL) refuse(value);
    }
}

static void unify_switch(Classes *c, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        for (uint32_t j = 0; block->exit == EXIT_YIELD && j < step->results.count; j++)
            unify(of_var(c, step->results.items[j]), of_arg(c, &block->values.items[j]));
    }
}

/* Whether a step only looks at the length of its argument. */
static bool asks_length(const CtFlowStep *step, uint32_t index) {
    return step->kind == FLOW_DIM || (step->kind == FLOW_CHECK && index == 1) ||
           (step->kind == FLOW_CHECK_SLICE && index == 2);
}

static void unify_read(Classes *c, const CtFlowStep *step) {
    Class *array = representative(of_arg(c, &step->args.items[0]));
    Class *result = of_var(c, step->results.items[0]);
    if (array == NULL || step->args.count != 2) {
        refuse(array);
        refuse(result);
    } else if (array->element != NULL) {
        unify(array->element, result);
    } else {
        c->rows[step->results.items[0]->id] = array;
    }
}

static void unify_others(Classes *c, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->args.count; i++)
        if (!asks_length(step, i)) refuse(of_arg(c, &step->args.items[i]));
    for (uint32_t i = 0; i < step->results.count; i++) refuse(of_var(c, step->results.items[i]));
}

static void unify_step(void *data, CtFlowStep *step) {
    Classes *c = data;
    switch ((int)step->kind) {
    case FLOW_CALL:
        hand_args(c, step->as.function, step->args.items);
        take_results(c, step->as.function, step->results.items);
        break;
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP: unify_derivative(c, step); break;
    case FLOW_STOP: unify(of_arg(c, &step->args.items[0]), of_var(c, step->results.items[0])); break;
    case FLOW_LOOP: unify_loop(c, step); break;
    case FLOW_SWITCH: unify_switch(c, step); break;
    case FLOW_READ: unify_read(c, step); break;
    case FLOW_CONSTANT:
        for (uint32_t i = 0; i < step->results.count; i++) refuse(c->results[step->as.constant->function->id][i]);
        unify_others(c, step);
        break;
    default: unify_others(c, step);
    }
}

/* How the blocks of a function leave it. */
static void unify_exit(Classes *c, const CtFlowBlock *block) {
    const CtFlowFunction *function = c->function;
    if (block->exit == EXIT_RETURN)
        for (uint32_t i = 0; i < function->results.count; i++)
            unify(of_arg(c, &block->values.items[i]), c->results[function->id][i]);
    if (block->exit == EXIT_TAIL) {
        hand_args(c, block->tail, block->values.items);
        for (uint32_t i = 0; i < function->results.count; i++)
            unify(c->results[block->tail->id][i], c->results[function->id][i]);
    }
    for (uint32_t i = 0; i < block->steps.count; i++)
        for (uint32_t j = 0; j < ct_flow_inner_count(block->steps.items[i]); j++)
            unify_exit(c, ct_flow_inner(block->steps.items[i], j));
}

/* ---- rows that are stored ---- */

/* Whether a row is only looked at. A function that is given one may look at less of it than a copy would take. */
static bool only_looks(const CtFlowStep *step, uint32_t index) {
    switch ((int)step->kind) {
    case FLOW_READ: return index == 0;
    case FLOW_DIM:
    case FLOW_CHECK:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE:
    case FLOW_CHECK_SLICE: return true;
    case FLOW_BULK: return !ct_flow_is_object(step->results.items[0]->type);
    default: return false;
    }
}

static void refuse_row(Classes *c, const CtFlowArg *arg) {
    if (arg->var != NULL) refuse(c->rows[arg->var->id]);
}

/* In a block, which is inside of `step` or, if that is NULL, a function's. Arrays that a loop makes and nobody uses go
 * later. */
static void refuse_stored(Classes *c, const CtFlowStep *step, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *inner = block->steps.items[i];
        for (uint32_t j = 0; j < inner->args.count; j++)
            if (!only_looks(inner, j)) refuse_row(c, &inner->args.items[j]);
        for (uint32_t j = 0; j < ct_flow_inner_count(inner); j++) refuse_stored(c, inner, ct_flow_inner(inner, j));
    }
    for (uint32_t i = 0; i < block->values.count; i++) {
        bool array = step != NULL && step->kind == FLOW_LOOP && i >= step->as.loop.carried;
        const CtFlowVar *result = array ? step->results.items[i] : NULL;
        if (!array || (result != NULL && c->uses[result->id] > 0)) refuse_row(c, &block->values.items[i]);
    }
}

/* ---- loops that make such arrays ---- */

static const CtFlowStep *maker_of(const CtFlowBlock *block, const CtFlowVar *var) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        for (uint32_t j = 0; j < block->steps.items[i]->results.count; j++)
            if (block->steps.items[i]->results.items[j] == var) return block->steps.items[i];
    return NULL;
}

/* Whether a loop copies a matrix, row by row, all of it. */
static bool copies_whole(Classes *c, const CtFlowStep *loop, const CtFlowStep *read) {
    const CtFlowArg *matrix = &read->args.items[0], *count = &loop->args.items[0];
    const CtFlowBlock *block = loop->as.loop.block;
    if (read->args.count != 2 || read->args.items[1].var != block->params.items[0]) return false;
    if (matrix->type->rank < 2 || maker_of(block, matrix->var) != NULL) return false;
    CtFlowFacts facts = {0};
    ct_flow_facts_begin(&facts, c->flow, c->function);
    return ct_flow_same_length(&facts, ct_flow_length(&facts, matrix, 0, false), ct_flow_length_of(&facts, *count));
}

static bool makes_rows(Classes *c, const CtFlowStep *loop, uint32_t result) {
    const CtFlowBlock *block = loop->as.loop.block;
    if (block->exit != EXIT_YIELD || !ct_flow_has_regular_rows(loop, result)) return false;
    const CtFlowStep *row = maker_of(block, block->values.items[result].var);
    if (row == NULL) return false;
    return row->kind != FLOW_READ || copies_whole(c, loop, row);
}

static void check_loop(void *data, CtFlowStep *step) {
    Classes *c = data;
    if (step->kind != FLOW_LOOP) return;
    for (uint32_t i = step->as.loop.carried; i < step->results.count; i++) {
        Class *class = representative(of_var(c, step->results.items[i]));
        if (class == NULL || class->element != NULL || class->refused || makes_rows(c, step, i)) continue;
        refuse(class);
        c->changed = true;
    }
}

/* ---- the types ---- */

static void set_var(Classes *c, CtFlowVar *var) {
    if (of_var(c, var) != NULL) var->type = type_of(c, of_var(c, var));
}

static void set_args(Classes *c, CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (of_arg(c, &args->items[i]) != NULL) args->items[i].type = type_of(c, of_arg(c, &args->items[i]));
}

static void set_block(Classes *c, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->params.count; i++) set_var(c, block->params.items[i]);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        set_args(c, &step->args);
        for (uint32_t j = 0; j < step->results.count; j++) set_var(c, step->results.items[j]);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) set_block(c, ct_flow_inner(step, j));
    }
    set_args(c, &block->values);
}

static void set_function(Classes *c) {
    CtFlowFunction *function = c->function;
    for (uint32_t i = 0; i < function->params.count; i++) set_var(c, function->params.items[i]);
    for (uint32_t i = 0; i < function->results.count; i++)
        if (c->results[function->id][i] != NULL) function->results.items[i] = type_of(c, c->results[function->id][i]);
    set_block(c, function->body);
}

/* ---- all of a program ---- */

static void add_var(Classes *c, const CtFlowVar *var) {
    if (var != NULL) c->vars[c->function->id][var->id] = class_new(c, var->type);
}

static void add_block(Classes *c, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->params.count; i++) add_var(c, block->params.items[i]);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < step->results.count; j++) add_var(c, step->results.items[j]);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) add_block(c, ct_flow_inner(step, j));
    }
}

static void add_function(Classes *c) {
    const CtFlowFunction *function = c->function;
    c->vars[function->id] = CT_NEW_ARRAY(c->arena, Class *, function->vars + 1);
    c->results[function->id] = CT_NEW_ARRAY(c->arena, Class *, function->results.count + 1);
    for (uint32_t i = 0; i < function->params.count; i++) add_var(c, function->params.items[i]);
    for (uint32_t i = 0; i < function->results.count; i++)
        c->results[function->id][i] = class_new(c, function->results.items[i]);
    add_block(c, function->body);
}

/* Of a function that the program still has. */
static void refuse_function(Classes *c, const CtFlowFunction *function) {
    bool is_there = function->id < c->flow->functions.count && c->flow->functions.items[function->id] == function;
    if (!is_there) return;
    for (uint32_t i = 0; i < function->params.count; i++) refuse(of_param(c, function, i));
    for (uint32_t i = 0; i < function->results.count; i++) refuse(c->results[function->id][i]);
}

/* Functions that are called from elsewhere: the entry, what applies function values, and those of custom rules. */
static void refuse_outside(Classes *c) {
    refuse_function(c, c->flow->entry);
    for (uint32_t i = 0; i < c->flow->data.count; i++)
        if (c->flow->data.items[i]->apply != NULL) refuse_function(c, c->flow->data.items[i]->apply);
    for (uint32_t i = 0; i < c->flow->functions.count; i++) {
        CtFlowFunction *rules[CT_FLOW_RULE_FUNCTIONS];
        const CtFlowFunction *function = c->flow->functions.items[i];
        uint32_t count = ct_flow_rule_functions(function, rules);
        if (function->rule != NULL) refuse_function(c, function);
        while (count-- > 0) refuse_function(c, rules[count]);
    }
}

static void unify_function(Classes *c) {
    c->rows = CT_NEW_ARRAY(c->arena, Class *, c->function->vars + 1);
    ct_flow_each_step(c->function->body, unify_step, c);
    unify_exit(c, c->function->body);
    c->uses = ct_flow_count_uses(c->flow, c->function);
    refuse_stored(c, NULL, c->function->body);
}

static void check_function(Classes *c) { ct_flow_each_step(c->function->body, check_loop, c); }

static void each_function(Classes *c, void (*visit)(Classes *c)) {
    for (uint32_t i = 0; i < c->flow->functions.count; i++) {
        c->function = c->flow->functions.items[i];
        visit(c);
    }
}

static bool any_left(Classes *c) {
    for (uint32_t i = 0; i < c->flow->functions.count; i++)
        for (uint32_t j = 0; j <= c->flow->functions.items[i]->vars; j++)
            for (Class *class = representative(c->vars[i][j]); class != NULL; class = representative(class->element))
                if (class->element == NULL && !class->refused) return true;
    return false;
}

bool ct_flow_flatten_classes(CtFlow *flow) {
    uint32_t count = flow->functions.count;
    Classes c = {.flow = flow, .arena = flow->arena};
    c.vars = CT_NEW_ARRAY(flow->arena, Class **, count + 1);
    c.results = CT_NEW_ARRAY(flow->arena, Class **, count + 1);
    each_function(&c, add_function);
    if (!c.some) return false;
    refuse_outside(&c);
    each_function(&c, unify_function);
    do {
        c.changed = false;
        each_function(&c, set_function);
        each_function(&c, check_function);
    } while (c.changed);
    return any_left(&c) && CT_FIRED("flat_rows.class");
}
