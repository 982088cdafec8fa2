/* Small arrays of known elements. One that changes at a known index is a small array again, and so are two of them, one
 * behind the other, and a small matrix that is transposed. One behind branches: an array that every branch of a switch
 * makes of as many elements is made behind the switch, of elements that the branches yield. So a vector of three
 * numbers, such as a point that is rotated in one way or another, costs what three numbers cost. Updates of known
 * elements by branches are made behind the switch, too. The simplifier does all this as it goes by. */
#include "flow/opt/passes.h"

enum {
    MOST_ITEMS = 16,
    MOST_JOINED = 64, /* elements of two arrays that are made where they are joined */
};

void ct_flow_update_of_items(const CtFlowFacts *facts, CtFlowStep *step) {
    const CtFlowStep *items = ct_flow_fact(facts, &step->args.items[0])->maker;
    if (items == NULL || step->args.count != 3 || step->args.items[1].var != NULL) return;
    bool same = ct_flow_is_bulk(items, ARRAY_REPLICATE) && items->args.items[0].var == NULL;
    bool each = ct_flow_is_items(items);
    int64_t index = step->args.items[1].lit.integer;
    int64_t count = same ? items->args.items[0].lit.integer : each ? (int64_t)items->args.count : 0;
    if (step->results.items[0]->type->rank != 1 || index < 0 || index >= count || count > MOST_ITEMS) return;
    CT_FIRED("simplify.update_of_items");
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i < count; i++)
        ct_push(facts->arena, &args, i == index ? step->args.items[2] : items->args.items[same ? 1 : i]);
    step->kind = FLOW_ITEMS;
    step->args = args;
}

/* ---- one behind the other ---- */

/* The step that makes an array of these elements, or of none; NULL if they are not known. */
static const CtFlowStep *items_of(const CtFlowFacts *facts, const CtFlowArg *array) {
    const CtFlowStep *made = ct_flow_fact(facts, array)->maker;
    return ct_flow_is_items(made) ? made : NULL;
}

bool ct_flow_join_items(const CtFlowFacts *facts, CtFlowStep *step, uint32_t depth) {
    bool snoc = step->kind == FLOW_SNOC, concat = ct_flow_is_bulk(step, ARRAY_CONCAT), literals = !snoc;
    if (!snoc && !concat && !ct_flow_is_bulk(step, ARRAY_APPEND)) return false;
    const CtFlowStep *rows = concat ? items_of(facts, &step->args.items[0]) : step;
    if (rows == NULL || rows->args.count == 0 || step->results.items[0]->type->rank != 1) return false;
    CtFlowArgs args = {0};
    uint32_t outside = 0;
    for (uint32_t i = 0; i < (snoc ? 1 : rows->args.count); i++) {
        const CtFlowArg *part = &rows->args.items[i];
        const CtFlowStep *items = items_of(facts, part);
        if (items == NULL || part->type != step->results.items[0]->type) return false;
        bool literal = items->kind == FLOW_LITERALS || items->args.count == 0;
        literals &= literal;
        if (!literal && ct_flow_fact(facts, part)->depth != depth) outside += items->args.count;
        if (items->args.count > MOST_JOINED - args.count) return false;
        for (uint32_t k = 0; k < items->args.count; k++) ct_push(facts->arena, &args, items->args.items[k]);
    }
    if (snoc) ct_push(facts->arena, &args, step->args.items[1]);
    /* Elements from outside of a loop are its free variables, each with an adjoint of its own in the loop's derivative,
     * so that only few come from there. */
    if (outside > MOST_ITEMS) return false;
    CT_FIRED("simplify.join_items");
    step->kind = literals && args.count > 0 ? FLOW_LITERALS : FLOW_ITEMS;
    step->args = args;
    return true;
}

/* ---- transposed ---- */

/* How many known elements each row has, of a small matrix whose elements are all known; else 0. */
static uint32_t known_columns(const CtFlowFacts *facts, const CtFlowStep *rows) {
    uint32_t columns = 0;
    for (uint32_t i = 0; rows != NULL && i < rows->args.count; i++) {
        const CtFlowStep *row = items_of(facts, &rows->args.items[i]);
        if (row == NULL || (i > 0 && row->args.count != columns)) return 0;
        columns = row->args.count;
    }
    return columns;
}

/* The step that makes an array of elements. */
static void make_items(CtFlowStep *step, CtFlowArgs args) {
    bool literals = args.count > 0;
    for (uint32_t i = 0; i < args.count; i++) literals &= args.items[i].var == NULL;
    step->kind = literals ? FLOW_LITERALS : FLOW_ITEMS;
    step->args = args;
}

void ct_flow_transpose_items(CtFlowBuilder *b, CtFlowFacts *facts, CtFlowStep *step, uint32_t depth) {
    if (!ct_flow_is_bulk(step, ARRAY_TRANSPOSE) || step->results.items[0]->type->rank != 2) return;
    const CtFlowStep *rows = items_of(facts, &step->args.items[0]);
    uint32_t columns = known_columns(facts, rows);
    bool outside = columns > 0 && ct_flow_fact(facts, &step->args.items[0])->depth != depth;
    if (columns == 0 || columns > MOST_ITEMS || rows->args.count * columns > (outside ? MOST_ITEMS : MOST_JOINED))
        return;
    CT_FIRED("simplify.transpose_items");
    CtFlowArgs args = {0};
    for (uint32_t j = 0; j < columns; j++) {
        CtFlowArgs column = {0};
        for (uint32_t i = 0; i < rows->args.count; i++)
            ct_push(b->arena, &column, items_of(facts, &rows->args.items[i])->args.items[j]);
        CtFlowStep *row = CT_NEW(b->arena, CtFlowStep);
        row->range = step->range;
        make_items(row, column);
        ct_push(b->arena, &row->results, ct_flow_var(b, NULL, rows->args.items[0].type));
        ct_flow_facts_step(facts, row, depth);
        ct_push(b->arena, &b->block->steps, row);
        ct_push(b->arena, &args, flow_of(row->results.items[0]));
    }
    make_items(step, args);
}

/* ---- behind branches ---- */

/* The number of elements, by name, that every branch yields as this result; 0 if there is another number of them. */
static uint32_t count_items(const CtFlowFacts *facts, const CtFlowStep *step, uint32_t result) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit == EXIT_NEVER) continue;
        const CtFlowStep *items =
            block->exit == EXIT_YIELD ? ct_flow_fact(facts, &block->values.items[result])->maker : NULL;
        if (!ct_flow_is_items(items)) return 0;
        bool other = items->args.count == 0 || (count > 0 && items->args.count != count);
        if (items->args.count > MOST_ITEMS || other) return 0;
        count = items->args.count;
    }
    return count;
}

void ct_flow_own_values(CtFlowBuilder *b, CtFlowStep *step) {
    for (uint32_t k = 0; k < step->as.cases.count; k++) {
        CtFlowArgs *values = &step->as.cases.branches[k].block->values, own = {0};
        for (uint32_t i = 0; i < values->count; i++) ct_push(b->arena, &own, values->items[i]);
        *values = own;
    }
}

/* Yields element j instead of the array, or beside it; gives the variable behind the switch. */
static CtFlowVar *yield_element(CtFlowBuilder *b, const CtFlowFacts *facts, CtFlowStep *step, uint32_t result,
                                uint32_t j) {
    const CtFlowType *type = NULL;
    for (uint32_t k = 0; k < step->as.cases.count; k++) {
        CtFlowBlock *block = step->as.cases.branches[k].block;
        if (block->exit == EXIT_NEVER) continue;
        CtFlowArg item = ct_flow_fact(facts, &block->values.items[result])->maker->args.items[j];
        type = item.type;
        if (j > 0)
            ct_push(b->arena, &block->values, item);
        else
            block->values.items[result] = item;
    }
    CtFlowVar *element = ct_flow_var(b, NULL, type);
    if (j > 0)
        ct_push(b->arena, &step->results, element);
    else
        step->results.items[result] = element;
    return element;
}

void ct_flow_items_behind(CtFlowBuilder *b, CtFlowFacts *facts, CtFlowStep *step, uint32_t depth) {
    CT_VEC(CtFlowStep *) made = {0};
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *array = step->results.items[i];
        uint32_t count = array->type->kind == FLOW_ARRAY ? count_items(facts, step, i) : 0;
        if (count == 0) continue;
        CT_FIRED("simplify.items_behind");
        ct_flow_own_values(b, step);
        CtFlowStep *items = CT_NEW(b->arena, CtFlowStep);
        items->kind = FLOW_ITEMS;
        items->range = step->range;
        ct_push(b->arena, &items->results, array);
        for (uint32_t j = 0; j < count; j++) ct_push(b->arena, &items->args, (CtFlowArg){0});
        /* The first takes the place of the array, so it comes last. */
        for (uint32_t j = count; j-- > 0;) items->args.items[j] = flow_of(yield_element(b, facts, step, i, j));
        ct_flow_facts_step(facts, step, depth);
        ct_flow_facts_step(facts, items, depth);
        ct_push(b->arena, &made, items);
    }
    /* A row, which is looked at after its array, is made before it. */
    for (uint32_t i = made.count; i-- > 0;) ct_push(b->arena, &b->block->steps, made.items[i]);
}

/* ---- updates behind branches ---- */

typedef struct Updates { /* of an array from outside of a branch, at literal indices */
    CtFlowArg array;
    int64_t places[MOST_ITEMS];
    uint32_t count;
    bool rests; /* a branch that goes on updates nothing */
} Updates;

static bool has_place(const Updates *u, int64_t place) {
    for (uint32_t i = 0; i < u->count; i++)
        if (u->places[i] == place) return true;
    return false;
}

static bool add_place(Updates *u, int64_t place) {
    if (has_place(u, place)) return true;
    if (u->count == MOST_ITEMS) return false;
    u->places[u->count++] = place;
    return true;
}

/* What a branch makes of an array from outside, by updates at literal indices alone. `depth` is that of the switch. */
static bool find_updates(const CtFlowFacts *facts, const CtFlowArg *value, uint32_t depth, Updates *u) {
    u->count = 0;
    for (u->array = *value; ct_flow_fact(facts, &u->array)->depth > depth;) {
        const CtFlowStep *update = ct_flow_maker(facts, &u->array, FLOW_UPDATE);
        if (update == NULL || update->args.count != 3 || update->args.items[1].var != NULL) return false;
        if (!add_place(u, update->args.items[1].lit.integer)) return false;
        u->array = update->args.items[0];
    }
    return true;
}

/* The updates by any branch of the array that is a result of a switch, if each makes it of one array; else none. At
 * each of the places there certainly is an element: every branch that goes on updates it, or it is known to be inside.
 */
static Updates updates_of(const CtFlowFacts *facts, const CtFlowStep *step, uint32_t result, uint32_t depth) {
    Updates all = {0}, none = {0}, one;
    uint32_t first = UINT32_MAX;
    for (uint32_t k = 0; k < step->as.cases.count; k++) {
        const CtFlowBlock *block = step->as.cases.branches[k].block;
        if (block->exit == EXIT_NEVER) continue;
        if (block->exit != EXIT_YIELD || !find_updates(facts, &block->values.items[result], depth, &one)) return none;
        if (first != UINT32_MAX && one.array.var != all.array.var) return none;
        all.array = one.array;
        all.rests |= one.count == 0;
        for (uint32_t i = 0; i < one.count; i++)
            if (!add_place(&all, one.places[i])) return none;
        first = k < first ? k : first;
    }
    const CtFlowLength length = all.count > 0 ? ct_flow_length(facts, &all.array, 0, false) : (CtFlowLength){0};
    for (uint32_t k = first; all.count > 0 && k < step->as.cases.count; k++) {
        const CtFlowBlock *block = step->as.cases.branches[k].block;
        if (block->exit == EXIT_NEVER) continue;
        find_updates(facts, &block->values.items[result], depth, &one);
        for (uint32_t i = 0; i < all.count; i++) {
            const CtFlowArg index = {.type = facts->integer, .lit.integer = all.places[i]};
            if (!has_place(&one, all.places[i]) && !ct_flow_is_index(facts, &index, length)) return none;
        }
    }
    return all;
}

/* The element at this place of the array that a branch yields. */
static CtFlowArg element_in(CtFlowBuilder *b, CtFlowFacts *facts, CtFlowBlock *block, CtFlowArg array, int64_t place,
                            uint32_t depth, CtSourceRange range) {
    while (ct_flow_fact(facts, &array)->depth > depth) {
        const CtFlowStep *update = ct_flow_fact(facts, &array)->maker;
        if (update->args.items[1].lit.integer == place) return update->args.items[2];
        array = update->args.items[0];
    }
    CtFlowStep *read = CT_NEW(b->arena, CtFlowStep);
    read->kind = FLOW_READ;
    read->range = range;
    ct_push(b->arena, &read->args, array);
    ct_push(b->arena, &read->args, ((CtFlowArg){.type = facts->integer, .lit.integer = place}));
    ct_push(b->arena, &read->results, ct_flow_var(b, NULL, array.type->element));
    ct_push(b->arena, &block->steps, read);
    ct_flow_facts_step(facts, read, depth + 1);
    return flow_of(read->results.items[0]);
}

/* Yields the element at a place instead of the array, if it is the first, or beside it; gives the variable behind. */
static CtFlowVar *yield_place(CtFlowBuilder *b, CtFlowFacts *facts, CtFlowStep *step, uint32_t result,
                              const CtFlowArg *arrays, int64_t place, bool first, uint32_t depth) {
    const CtFlowType *type = NULL;
    for (uint32_t k = 0; k < step->as.cases.count; k++) {
        CtFlowBlock *block = step->as.cases.branches[k].block;
        if (block->exit == EXIT_NEVER) continue;
        CtFlowArg element = element_in(b, facts, block, arrays[k], place, depth, step->range);
        type = element.type;
        if (first)
            block->values.items[result] = element;
        else
            ct_push(b->arena, &block->values, element);
    }
    CtFlowVar *element = ct_flow_var(b, NULL, type);
    if (first)
        step->results.items[result] = element;
    else
        ct_push(b->arena, &step->results, element);
    return element;
}

/* Where a branch updates nothing, it does so now: not of an array that would be copied for that. */
void ct_flow_updates_behind(CtFlowBuilder *b, CtFlowFacts *facts, const CtFlowWay *way, CtFlowStep *step) {
    uint32_t depth = way->depth;
    for (uint32_t i = 0, results = step->results.count; i < results; i++) {
        CtFlowVar *array = step->results.items[i];
        if (array->type->kind != FLOW_ARRAY || array->type->rank != 1 || ct_flow_is_object(array->type->element))
            continue;
        const Updates u = updates_of(facts, step, i, depth);
        if (u.count == 0 || (u.rests && !ct_flow_is_own(facts, way, &u.array))) continue;
        CT_FIRED("simplify.updates_behind");
        ct_flow_own_values(b, step);
        CtFlowArg *arrays = CT_NEW_ARRAY(b->arena, CtFlowArg, step->as.cases.count);
        for (uint32_t k = 0; k < step->as.cases.count; k++)
            if (step->as.cases.branches[k].block->exit != EXIT_NEVER)
                arrays[k] = step->as.cases.branches[k].block->values.items[i];
        CtFlowArg now = u.array;
        for (uint32_t j = 0; j < u.count; j++) {
            CtFlowStep *update = CT_NEW(b->arena, CtFlowStep);
            update->kind = FLOW_UPDATE;
            update->range = step->range;
            ct_push(b->arena, &update->args, now);
            ct_push(b->arena, &update->args, ((CtFlowArg){.type = facts->integer, .lit.integer = u.places[j]}));
            ct_push(b->arena, &update->args,
                    flow_of(yield_place(b, facts, step, i, arrays, u.places[j], j == 0, depth)));
            CtFlowVar *next = j + 1 < u.count ? ct_flow_var(b, array->name, array->type) : array;
            ct_push(b->arena, &update->results, next);
            ct_push(b->arena, &b->block->steps, update);
            now = flow_of(next);
        }
        ct_flow_facts_step(facts, step, depth);
        for (uint32_t j = u.count; j-- > 0;)
            ct_flow_facts_step(facts, b->block->steps.items[b->block->steps.count - 1 - j], depth);
    }
}
