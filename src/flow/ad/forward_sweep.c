/* The forward sweep: a copy of the function with the same variable numbers, and the facts about it that the reverse
 * sweep needs: where each variable is bound, whether it is active, the lengths of arrays, and which arrays may be
 * updated in place. */
#include "flow/ad/reverse.h"

/* ---- variables ---- */

static void bind(Reverse *r, CtFlowVar *var, CtFlowBlock *owner, CtFlowStep *step) {
    ct_map_set(r->arena, &r->owner, var->id, owner);
    if (step != NULL) ct_map_set(r->arena, &r->defs, var->id, step);
}

CtFlowVar *ct_flow_reverse_forward_var(Reverse *r, const char *name, const CtFlowType *type, CtFlowBlock *owner,
                                       CtFlowStep *step) {
    CtFlowVar *var = ct_flow_var(&r->f, name, type);
    bind(r, var, owner, step);
    return var;
}

bool ct_flow_reverse_is_active(const Reverse *r, CtFlowArg arg) {
    return arg.var != NULL && arg.var->id < r->active.count && r->active.items[arg.var->id] != ACTIVE_NOT;
}

bool ct_flow_reverse_is_shared(const Reverse *r, const CtFlowVar *var) {
    return var->type->kind == FLOW_ARRAY && var->id < r->active.count && r->active.items[var->id] == ACTIVE_SHARED;
}

/* ---- making the copy regular ---- */

/* Turns a scan whose first element is the initial value into one without it, and puts the initial value in front. */
static void put_initial_in_front(Reverse *r, CtFlowBlock *block, CtFlowStep *loop) {
    uint32_t carried = loop->as.loop.carried;
    CT_FIRED("forward_sweep.initial_in_front");
    r->f.block = block;
    loop->as.loop.initial = false;
    for (uint32_t i = 0; i < carried; i++) {
        CtFlowVar *whole = loop->results.items[carried + i];
        loop->results.items[carried + i] = ct_flow_var(&r->f, "rest", whole->type);
        CtFlowStep *items = ct_flow_step(&r->f, FLOW_ITEMS, loop->range);
        ct_flow_arg(&r->f, items, loop->args.items[1 + i]);
        CtFlowArg first = ct_flow_result(&r->f, items, "first", whole->type);
        CtFlowStep *append = ct_flow_step(&r->f, FLOW_BULK, loop->range);
        append->as.bulk = ARRAY_APPEND;
        ct_flow_arg(&r->f, append, first);
        ct_flow_arg(&r->f, append, flow_of(loop->results.items[carried + i]));
        ct_push(r->arena, &append->results, whole);
    }
}

typedef struct Opened { /* nodes that are open in the current scope */
    struct Opened *outer;
    CtFlowStep *step;
} Opened;

static void rename_args(CtFlowArgs *args, const CtMap *same) {
    for (uint32_t i = 0; i < args->count; i++) {
        CtFlowVar *var = args->items[i].var == NULL ? NULL : ct_map_get(same, args->items[i].var->id);
        if (var != NULL) args->items[i].var = var;
    }
}

/* Gives variables to all fields of an OPEN that may be active, so that their adjoints have accumulators. */
static void name_fields(Reverse *r, CtFlowStep *open) {
    const CtFlowTypes *fields = &open->as.con.data->cons[open->as.con.tag].fields;
    for (uint32_t i = 0; i < fields->count; i++)
        if (open->results.items[i] == NULL && ct_flow_is_active(r->flow, fields->items[i]))
            CT_FIRED("forward_sweep.named_field"),
                open->results.items[i] = ct_flow_var(&r->f, "field", fields->items[i]);
}

/* A node that is open already is not opened again, so that each field has one accumulator. */
static bool is_open(Reverse *r, const Opened *opened, CtFlowStep *open, CtMap *same) {
    for (; opened != NULL; opened = opened->outer) {
        CtFlowStep *first = opened->step;
        if (first->args.items[0].var != open->args.items[0].var || first->as.con.tag != open->as.con.tag) continue;
        for (uint32_t i = 0; i < open->results.count; i++) {
            CtFlowVar *var = open->results.items[i];
            if (var == NULL) continue;
            if (first->results.items[i] == NULL)
                first->results.items[i] = var;
            else
                ct_map_set(r->arena, same, var->id, first->results.items[i]);
        }
        return true;
    }
    return false;
}

static void regulate(Reverse *r, CtFlowBlock *block, Opened *opened, CtMap *same) {
    CtFlowBlock old = *block;
    CtFlowExit exit = block->exit;
    memset(&block->steps, 0, sizeof block->steps);
    block->exit = EXIT_OPEN;
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        rename_args(&step->args, same);
        if (step->kind == FLOW_OPEN) {
            if (is_open(r, opened, step, same) && CT_FIRED("forward_sweep.open_already")) continue;
            name_fields(r, step);
            Opened *more = CT_NEW(r->arena, Opened);
            *more = (Opened){opened, step};
            opened = more;
        }
        ct_push(r->arena, &block->steps, step);
        if (step->kind == FLOW_LOOP) {
            regulate(r, step->as.loop.block, opened, same);
            if (step->as.loop.initial) put_initial_in_front(r, block, step);
        }
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            regulate(r, step->as.cases.branches[j].block, opened, same);
    }
    block->exit = exit;
    rename_args(&block->values, same);
}

/* ---- what is known of variables ---- */

static uint64_t length_key(const CtFlowVar *array, uint32_t dimension) { return (uint64_t)array->id * 32 + dimension; }

static void know_length(Reverse *r, CtFlowVar *array, uint32_t dimension, CtFlowArg length) {
    CtFlowArg *known = CT_NEW(r->arena, CtFlowArg);
    *known = length;
    ct_map_set(r->arena, &r->lengths, length_key(array, dimension), known);
}

typedef struct Length { /* what a length is traced to: a number, a variable, or a dimension of an array */
    CtFlowArg value;
    CtFlowVar *array;
    uint32_t dimension;
} Length;

/* Two lengths are equal inside a block and all blocks in it. */
typedef struct Equal {
    Length length;
    const CtFlowBlock *within;
    const struct Equal *next;
} Equal;

/* Records an equal length of an array, or of a number that is a length. */
static void know_equal(Reverse *r, const CtFlowVar *var, CtFlowArg like, const CtFlowBlock *within) {
    Equal *equal = CT_NEW(r->arena, Equal);
    Length length = {.value = like};
    if (like.type->kind == FLOW_ARRAY) length = (Length){.array = like.var};
    *equal = (Equal){length, within, ct_map_get(&r->equals, var->id)};
    ct_map_set(r->arena, &r->equals, var->id, equal);
}

static void know_zip(Reverse *r, const CtFlowStep *check, const CtFlowBlock *within) {
    CtFlowArg a = check->args.items[0], b = check->args.items[1];
    if (b.var != NULL && a.var != b.var) know_equal(r, b.var, a, within);
    if (b.var == NULL && a.var != NULL) know_equal(r, a.var, b, within);
}

static void index_block(Reverse *r, CtFlowBlock *block, CtFlowBlock *outer) {
    ct_map_set(r->arena, &r->outer, ct_key(block), outer);
    for (uint32_t i = 0; i < block->params.count; i++) bind(r, block->params.items[i], block, NULL);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < step->results.count; j++)
            if (step->results.items[j] != NULL) bind(r, step->results.items[j], block, step);
        CtFlowVar *array = step->kind == FLOW_DIM ? step->args.items[0].var : NULL;
        if (array != NULL && ct_map_get(&r->owner, array->id) == block)
            know_length(r, array, step->as.index, flow_of(step->results.items[0]));
        if (step->kind == FLOW_CHECK_ZIP) know_zip(r, step, block);
        if (step->kind == FLOW_LOOP) {
            ct_map_set(r->arena, &r->loops, ct_key(step->as.loop.block), step);
            index_block(r, step->as.loop.block, block);
        }
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            index_block(r, step->as.cases.branches[j].block, block);
    }
}

/* ---- what may be changed in place ---- */

typedef struct Consume {
    CtFlow *flow;
    CtMap *vars; /* by number: variables of one function that an update may change */
} Consume;

static uint64_t param_key(const CtFlowFunction *function, uint32_t index) {
    return (uint64_t)function->id << 32 | index;
}

/* Marks a variable as changed in place; whether that is new. */
static bool consume(Consume *c, CtFlowArg arg) {
    if (arg.var == NULL || arg.type->kind != FLOW_ARRAY || ct_map_has(c->vars, arg.var->id)) return false;
    ct_map_set(c->flow->arena, c->vars, arg.var->id, arg.var);
    return true;
}

static bool is_consumed(const Consume *c, const CtFlowVar *var) { return var != NULL && ct_map_has(c->vars, var->id); }

/* Marks the arguments of a function that may change the parameters, or passes them to a function that does. */
static bool consume_args(Consume *c, const CtFlowFunction *function, const CtFlowArgs *args) {
    bool changed = false;
    for (uint32_t i = 0; i < args->count; i++)
        if (ct_map_has(&c->flow->consumed, param_key(function, i))) changed |= consume(c, args->items[i]);
    return changed;
}

static bool consume_block(Consume *c, const CtFlowBlock *block) {
    bool changed = false;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (ct_flow_step_info(step->kind)->looks == LOOKS_CHANGES) changed |= consume(c, step->args.items[0]);
        if (step->kind == FLOW_CALL) changed |= consume_args(c, step->as.function, &step->args);
        if (step->kind == FLOW_LOOP) {
            const CtFlowBlock *inner = step->as.loop.block;
            changed |= consume_block(c, inner);
            for (uint32_t j = 0; j < step->as.loop.carried; j++) {
                bool used = is_consumed(c, inner->params.items[1 + j]) || is_consumed(c, step->results.items[j]);
                if (!used) continue;
                changed |= consume(c, step->args.items[1 + j]);
                if (inner->exit == EXIT_YIELD) changed |= consume(c, inner->values.items[j]);
            }
        }
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++) {
            const CtFlowBlock *branch = step->as.cases.branches[j].block;
            changed |= consume_block(c, branch);
            for (uint32_t k = 0; branch->exit == EXIT_YIELD && k < branch->values.count; k++)
                if (is_consumed(c, step->results.items[k])) changed |= consume(c, branch->values.items[k]);
        }
    }
    return changed | (block->exit == EXIT_TAIL && consume_args(c, block->tail, &block->values));
}

static bool consume_params(CtFlow *flow, const CtFlowFunction *function) {
    CtMap vars = {0};
    Consume c = {flow, &vars};
    while (consume_block(&c, function->body)) {
    }
    bool changed = false;
    for (uint32_t i = 0; i < function->params.count; i++) {
        if (!is_consumed(&c, function->params.items[i]) || ct_map_has(&flow->consumed, param_key(function, i)))
            continue;
        ct_map_set(flow->arena, &flow->consumed, param_key(function, i), flow);
        changed = true;
    }
    return changed;
}

/* Looks at the functions that there are now; what others do is found out when they are differentiated. */
static void find_consumed(CtFlow *flow) {
    bool changed = flow->functions.count > flow->consumed_known;
    flow->consumed_known = flow->functions.count;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < flow->functions.count; i++)
            if (flow->functions.items[i]->body != NULL) changed |= consume_params(flow, flow->functions.items[i]);
    }
}

/* ---- lengths ---- */

/* Inserts the steps of r->f.block behind the binding of `var`. */
static void insert(Reverse *r, const CtFlowVar *var) {
    CtFlowBlock *block = ct_map_get(&r->owner, var->id), old = *block;
    const CtFlowStep *def = ct_map_get(&r->defs, var->id);
    const CtFlowBlock *more = r->f.block;
    memset(&block->steps, 0, sizeof block->steps);
    for (uint32_t i = 0; i <= old.steps.count; i++) {
        bool here = def == NULL ? i == 0 : i > 0 && old.steps.items[i - 1] == def;
        for (uint32_t j = 0; here && j < more->steps.count; j++) {
            CtFlowStep *step = more->steps.items[j];
            for (uint32_t k = 0; k < step->results.count; k++) bind(r, step->results.items[k], block, step);
            ct_push(r->arena, &block->steps, step);
        }
        if (i < old.steps.count) ct_push(r->arena, &block->steps, old.steps.items[i]);
    }
}

static CtFlowArg insert_dim(Reverse *r, CtFlowVar *array, uint32_t dimension) {
    r->f.block = ct_flow_block(&r->f);
    CtFlowArg length = ct_flow_dim(&r->f, CT_NO_RANGE, flow_of(array), dimension);
    insert(r, array);
    return length;
}

CtFlowArg ct_flow_reverse_place_of_extreme(Reverse *r, CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    CtFlowArg *known = ct_map_get(&r->lengths, length_key(result, 0));
    if (known != NULL) return *known;
    CtFlowArg array = step->args.items[0];
    r->f.block = ct_flow_block(&r->f);
    CtFlowArg place = ct_flow_place_of(&r->f, step->range, array, flow_of(result));
    insert(r, result);
    know_length(r, result, 0, place);
    return place;
}

/* Whether an array is made by a loop, and the number of its elements. */
static bool is_made(const Reverse *r, const CtFlowVar *array, CtFlowArg *length) {
    const CtFlowStep *def = array == NULL ? NULL : ct_map_get(&r->defs, array->id);
    if (def == NULL || def->kind != FLOW_LOOP) return false;
    *length = def->args.items[0];
    for (uint32_t i = def->as.loop.carried; i < def->results.count; i++)
        if (def->results.items[i] == array) return true;
    return false;
}

static bool is_of_iteration(const Reverse *r, const CtFlowStep *loop, CtFlowArg value) {
    return value.var != NULL && ct_map_get(&r->owner, value.var->id) == loop->as.loop.block;
}

/* The length of the rows that a loop makes, if it is a value from outside the loop. It is meaningless if there are no
 * iterations: that is enough to compare lengths (number_from). */
static bool length_of_rows(const Reverse *r, const CtFlowStep *loop, const CtFlowVar *row, uint32_t dimension,
                           CtFlowArg *length) {
    return loop->as.loop.block->exit == EXIT_YIELD && dimension == 0 && is_made(r, row, length) &&
           !is_of_iteration(r, loop, *length) && CT_FIRED("forward_sweep.length_of_rows");
}

bool ct_flow_reverse_has_regular_rows(Reverse *r, const CtFlowStep *loop, const CtFlowVar *row) {
    CtFlowArg length;
    return row->type->kind == FLOW_ARRAY && row->type->rank == 1 && !ct_flow_is_object(row->type->element) &&
           is_made(r, row, &length) && !is_of_iteration(r, loop, ct_flow_reverse_simplest(r, length));
}

/* Traces a length to its origin, with what is known in the block `within`. */
static Length origin_of(Reverse *r, Length length, const CtFlowBlock *within);

static bool is_same(Length a, Length b) {
    if (a.array != NULL || b.array != NULL) return a.array == b.array && a.dimension == b.dimension;
    return a.value.var == b.value.var && (a.value.var != NULL || a.value.lit.integer == b.value.lit.integer);
}

static bool is_length_of(const Reverse *r, CtFlowArg value, const CtFlowVar *array, uint32_t dimension) {
    const CtFlowStep *def = value.var == NULL ? NULL : ct_map_get(&r->defs, value.var->id);
    return def != NULL && def->kind == FLOW_DIM && def->args.items[0].var == array && def->as.index == dimension;
}

/* Whether a carried array has the same length in all iterations; that is its initial length, `like`. */
static bool keeps_length(Reverse *r, const CtFlowStep *loop, CtFlowVar *param, uint32_t dimension, CtFlowVar **like) {
    static const bool yes = true, no = false;
    const CtFlowBlock *block = loop->as.loop.block;
    uint32_t index = 1;
    while (index < block->params.count && block->params.items[index] != param) index++;
    *like = index < loop->args.count ? loop->args.items[index].var : NULL;
    if (*like == NULL || block->exit != EXIT_YIELD || block->values.items[index - 1].var == NULL) return false;
    uint64_t key = length_key(param, dimension);
    if (ct_map_has(&r->keeps, key)) return ct_map_get(&r->keeps, key) == &yes;
    ct_map_set(r->arena, &r->keeps, key, NULL);
    Length next = origin_of(r, (Length){{0}, block->values.items[index - 1].var, dimension}, block);
    CtFlowArg made;
    bool keeps = is_same(next, origin_of(r, (Length){{0}, param, dimension}, block)) ||
                 (dimension == 0 && is_made(r, block->values.items[index - 1].var, &made) &&
                  is_length_of(r, made, param, dimension)) ||
                 is_same(next, origin_of(r, (Length){{0}, *like, dimension}, block));
    if (keeps) CT_FIRED("forward_sweep.carried_keeps_length");
    ct_map_set(r->arena, &r->keeps, key, (void *)(keeps ? &yes : &no)); // NOLINT
    return keeps;
}

/* The same for an array that a loop carries or makes. */
static bool length_from_loop(Reverse *r, const CtFlowStep *loop, const CtFlowVar *array, uint32_t dimension,
                             CtFlowVar **like, CtFlowArg *length) {
    const CtFlowBlock *block = loop->as.loop.block;
    *length = loop->args.items[0];
    for (uint32_t i = 0; i < loop->results.count; i++) {
        if (loop->results.items[i] != array) continue;
        if (i < loop->as.loop.carried) return keeps_length(r, loop, block->params.items[1 + i], dimension, like);
        return dimension == 0 || length_of_rows(r, loop, block->values.items[i].var, dimension - 1, length);
    }
    return false;
}

/* Whether what a length was traced to is bound in a block or one around it. */
static bool is_in_sight(const Reverse *r, Length length, const CtFlowBlock *block) {
    const CtFlowVar *var = length.array != NULL ? length.array : length.value.var;
    const CtFlowBlock *owner = var == NULL ? block : ct_map_get(&r->owner, var->id);
    while (block != NULL && block != owner) block = ct_map_get(&r->outer, ct_key(block));
    return block != NULL;
}

/* The length that an array has in all branches of the switch that gives it, by what they make it of; NULL: there is
 * none, or it is being looked for. */
static const Length *length_from_switch(Reverse *r, const CtFlowStep *choice, const CtFlowVar *array,
                                        uint32_t dimension) {
    const CtFlowBlock *here = ct_map_get(&r->owner, array->id);
    uint64_t key = length_key(array, dimension);
    if (ct_map_has(&r->chosen, key)) return ct_map_get(&r->chosen, key);
    ct_map_set(r->arena, &r->chosen, key, NULL);
    uint32_t index = ct_flow_result_index(choice, array);
    Length *all = NULL;
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        const CtFlowBlock *block = choice->as.cases.branches[i].block;
        if (block->exit == EXIT_NEVER) continue;
        if (block->exit != EXIT_YIELD || block->values.items[index].var == NULL) return NULL;
        Length one = origin_of(r, (Length){{0}, block->values.items[index].var, dimension}, NULL); /* by no checks */
        if (!is_in_sight(r, one, here) || (all != NULL && !is_same(*all, one))) return NULL;
        all = CT_NEW(r->arena, Length);
        *all = one;
    }
    if (all != NULL) CT_FIRED("forward_sweep.length_of_switch");
    ct_map_set(r->arena, &r->chosen, key, all);
    return all;
}

/* Whether an update leaves a dimension as long as it was: the only row of a matrix may be replaced by a longer one. */
static bool keeps_row_length(Reverse *r, const CtFlowStep *update, uint32_t dimension) {
    static const bool yes = true, no = false;
    uint32_t indices = update->args.count - 2;
    CtFlowVar *array = update->args.items[0].var, *row = update->args.items[1 + indices].var;
    if (dimension < indices) return true;
    uint64_t key = length_key(update->results.items[0], dimension);
    if (ct_map_has(&r->keeps, key)) return ct_map_get(&r->keeps, key) == &yes;
    ct_map_set(r->arena, &r->keeps, key, NULL);
    bool keeps = is_same(origin_of(r, (Length){{0}, row, dimension - indices}, NULL),
                         origin_of(r, (Length){{0}, array, dimension}, NULL));
    ct_map_set(r->arena, &r->keeps, key, (void *)(keeps ? &yes : &no)); // NOLINT
    return keeps;
}

/* Finds the array and dimension with the same length, or the length itself; false if nothing is known. */
static bool length_from(Reverse *r, CtFlowVar *array, uint32_t dimension, CtFlowVar **like, uint32_t *other,
                        CtFlowArg *length) {
    const CtFlowStep *def = ct_map_get(&r->defs, array->id);
    *other = dimension;
    if (ct_map_has(&r->rows, array->id)) {
        CT_FIRED("forward_sweep.length_of_row");
        *like = ct_map_get(&r->rows, array->id);
        *other = dimension + 1;
        return true;
    }
    if (def == NULL) {
        const CtFlowStep *loop = ct_map_get(&r->loops, ct_key(ct_map_get(&r->owner, array->id)));
        return loop != NULL && keeps_length(r, loop, array, dimension, like);
    }
    const CtFlowArg *args = def->args.items;
    if (def->kind == FLOW_LOOP) return length_from_loop(r, def, array, dimension, like, length);
    if (def->kind == FLOW_SWITCH) {
        const Length *chosen = length_from_switch(r, def, array, dimension);
        if (chosen == NULL) return false;
        *like = chosen->array;
        *length = chosen->value;
        *other = chosen->dimension;
        return true;
    }
    if (def->kind == FLOW_UPDATE) {
        if (!keeps_row_length(r, def, dimension)) return false;
        CT_FIRED("forward_sweep.length_of_update");
        *like = args[0].var;
        return true;
    }
    if (def->kind == FLOW_READ) {
        *like = args[0].var;
        *other = dimension + def->args.count - 1;
        return def->results.items[0]->type->rank + def->args.count - 1 == args[0].type->rank;
    }
    if (ct_flow_is_items(def)) {
        *length = ct_flow_int((CtFlowBuilder *)&r->f, def->args.count); // NOLINT
        return dimension == 0;
    }
    if (def->kind == FLOW_PRODUCT && CT_FIRED("forward_sweep.length_of_product")) {
        *length = args[dimension];
        return true;
    }
    if (def->kind != FLOW_BULK) return false;
    if (def->as.bulk == ARRAY_REVERSE) *like = args[0].var;
    if (dimension > 0 || (def->as.bulk != ARRAY_REPLICATE && def->as.bulk != ARRAY_SLICE)) return *like != NULL;
    *length = args[def->as.bulk == ARRAY_SLICE];
    return true;
}

enum { LONG_ROW = 4096 };

/* Whether a length that was found for the rows of a matrix does no harm where there are none: that of an array or a
 * small number. Any other may be negative, or ask for more memory than there is. */
static bool is_harmless(const Reverse *r, const CtFlowVar *array, CtFlowArg length) {
    const CtFlowStep *def = ct_map_get(&r->defs, array->id);
    bool counted = def != NULL && (def->kind == FLOW_LOOP || def->kind == FLOW_PRODUCT);
    if (counted && def->args.items[0].var == NULL && def->args.items[0].lit.integer > 0) return true;
    if (length.var == NULL) return length.lit.integer >= 0 && length.lit.integer <= LONG_ROW;
    def = ct_map_get(&r->defs, length.var->id);
    return def != NULL && def->kind == FLOW_DIM;
}

/* The same as length_from, for a length that is used as a number. */
static bool number_from(Reverse *r, CtFlowVar *array, uint32_t dimension, CtFlowVar **like, uint32_t *other,
                        CtFlowArg *length) {
    return length_from(r, array, dimension, like, other, length) &&
           (*like != NULL || dimension == 0 || is_harmless(r, array, *length));
}

CtFlowArg ct_flow_reverse_length(Reverse *r, CtFlowVar *array, uint32_t dimension) {
    const CtFlowArg *known = ct_map_get(&r->lengths, length_key(array, dimension));
    if (known != NULL) return *known;
    CtFlowVar *like = NULL;
    CtFlowArg length = {0};
    uint32_t other;
    if (!number_from(r, array, dimension, &like, &other, &length) && CT_FIRED("forward_sweep.inserted_length"))
        length = insert_dim(r, array, dimension);
    else if (like != NULL)
        length = ct_flow_reverse_length(r, like, other);
    know_length(r, array, dimension, length);
    return length;
}

CtFlowArg ct_flow_reverse_simplest(Reverse *r, CtFlowArg value) {
    for (;;) {
        const CtFlowStep *def = value.var == NULL ? NULL : ct_map_get(&r->defs, value.var->id);
        if (def == NULL || def->kind != FLOW_DIM) return value;
        CtFlowVar *like = NULL;
        CtFlowArg length = {0};
        uint32_t other;
        if (!number_from(r, def->args.items[0].var, def->as.index, &like, &other, &length)) return value;
        value = like != NULL ? ct_flow_reverse_length(r, like, other) : length;
    }
}

/* The length that an array or number equals by a check in this block or an enclosing one; NULL: none. Checks in
 * branches or other loops may not have run. */
static const Length *equal_to(const Reverse *r, const CtFlowVar *var, const CtFlowBlock *within) {
    for (; within != NULL; within = ct_map_get(&r->outer, ct_key(within)))
        for (const Equal *equal = ct_map_get(&r->equals, var->id); equal != NULL; equal = equal->next)
            if (equal->within == within) return &equal->length;
    return NULL;
}

static const CtFlowVar *var_of(const Length *length) {
    return length->array != NULL ? length->array : length->value.var;
}

/* Traces a length one step back; false when nothing more is known. */
static bool go_back(Reverse *r, Length *length, const CtFlowBlock *within) {
    const CtFlowVar *var = var_of(length);
    const Length *equal = var != NULL && length->dimension == 0 ? equal_to(r, var, within) : NULL;
    CtFlowVar *like = NULL;
    uint32_t other = 0;
    CtFlowArg value = {0};
    if (equal != NULL && CT_FIRED("forward_sweep.equal_by_check")) {
        *length = *equal;
        return true;
    }
    if (length->array == NULL) {
        const CtFlowStep *def = var == NULL ? NULL : ct_map_get(&r->defs, var->id);
        if (def == NULL || def->kind != FLOW_DIM) return false;
        *length = (Length){.array = def->args.items[0].var, .dimension = def->as.index};
        return true;
    }
    if (!length_from(r, length->array, length->dimension, &like, &other, &value)) return false;
    *length = like != NULL ? (Length){.array = like, .dimension = other} : (Length){.value = value};
    return true;
}

/* Checks may relate lengths in a cycle: `xs` is as long as `ys`, and `ys` is made from `xs`. The variable with the
 * lowest number represents all of the cycle. */
static Length origin_of(Reverse *r, Length length, const CtFlowBlock *within) {
    Length mark = length;
    uint32_t steps = 0, limit = 1;
    while (go_back(r, &length, within)) {
        if (is_same(length, mark) && CT_FIRED("forward_sweep.checks_in_a_circle")) break;
        if (++steps < limit) continue;
        mark = length;
        steps = 0;
        limit *= 2;
    }
    Length last = length;
    while (go_back(r, &last, within) && !is_same(last, mark))
        if (var_of(&last)->id < var_of(&length)->id) length = last;
    return length;
}

bool ct_flow_reverse_same_length(Reverse *r, const CtFlowStep *loop, CtFlowVar *array) {
    const CtFlowBlock *within = ct_map_get(&r->owner, loop->results.items[0]->id);
    return is_same(origin_of(r, (Length){.value = loop->args.items[0]}, within),
                   origin_of(r, (Length){.array = array}, within));
}

/* ---- the copy ---- */

/* Arrays that hold the parts of the same tuples have one length. */
static void know_equals(Reverse *r, const CtFlowFunction *function, const CtFlowFunction *forward) {
    for (uint32_t i = 0; i < function->params.count; i++) {
        const CtFlowVar *like = function->params.items[i]->like;
        for (uint32_t j = 0; like != NULL && j < i; j++)
            if (function->params.items[j] == like)
                know_equal(r, forward->params.items[i], flow_of(forward->params.items[j]), forward->body);
    }
}

static void end_by_calls(Reverse *r, CtFlowBlock *block, const CtReverseTails *tails) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) end_by_calls(r, ct_flow_inner(step, j), tails);
    }
    if (block->exit != EXIT_TAIL) return;
    for (uint32_t i = 0; i < tails->count; i++)
        if (tails->items[i] == block->tail) return;
    r->f.block = block;
    CT_FIRED("forward_sweep.ends_by_call");
    block->exit = EXIT_OPEN;
    block->values = ct_flow_call(&r->f, block->range, block->tail, &block->values);
    block->exit = EXIT_RETURN;
}

void ct_flow_reverse_copy(Reverse *r, CtFlowFunction *function, CtFlowFunction *forward, const Active *active,
                          const CtReverseTails *tails) {
    CtFlowCopy copy = {.flow = r->flow, .into = forward, .keeps_numbers = true};
    r->f = (CtFlowBuilder){.flow = r->flow, .arena = r->arena, .function = forward};
    forward->vars = function->vars;
    for (uint32_t i = 0; i < function->params.count; i++)
        ct_push(r->arena, &forward->params, ct_flow_copy_var(&copy, function->params.items[i]));
    forward->body = ct_flow_copy_block(&copy, function->body);
    know_equals(r, function, forward);
    CtMap same = {0};
    end_by_calls(r, forward->body, tails);
    ct_flow_reverse_join_exits(r, forward);
    regulate(r, forward->body, NULL, &same);
    for (uint32_t i = 0; i < forward->params.count; i++) bind(r, forward->params.items[i], forward->body, NULL);
    index_block(r, forward->body, NULL);
    Active *on = CT_NEW_ARRAY(r->arena, Active, forward->vars + 1);
    ct_flow_reverse_activity(r->flow, forward, active, on);
    for (uint32_t i = 0; i < forward->vars; i++) ct_push(r->arena, &r->active, on[i]);
    Consume consume_here = {r->flow, &r->consumed};
    find_consumed(r->flow);
    while (consume_block(&consume_here, forward->body)) {
    }
}
