/* The simplifier: constant folding, identities, branches on known values, fields of known nodes, elements of known
 * arrays, checks that cannot fail.
 *
 * It is one forward walk. A step with a known result is dropped and its results are replaced; a switch on a known value
 * is replaced by its branch. Inside a branch the value switched on is known. */
#include "flow/opt/passes.h"

enum { MOST_APPENDED = 8 }; /* arrays of one */

typedef struct Known { /* what is known inside a branch: a number, or the constructor of a node */
    const CtFlowVar *var;
    int64_t tag;
} Known;

typedef struct Simplify {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowFacts facts;
    CtFlowEffects effects;
    CtFlowValues now;
    CT_VEC(Known) tags;                /* known values, innermost last */
    CT_VEC(const CtFlowVar *) numbers; /* those that stand for a number in the rest of a block, innermost last */
    CtFlowTaken taken;
    const CtFlowWay *way;
    uint32_t depth;
} Simplify;

static void visit(Simplify *s, CtFlowBlock *block);

/* ---- facts on the way ---- */

static CtFlowArg integer(const Simplify *s, int64_t value) {
    return (CtFlowArg){.type = s->facts.integer, .lit.integer = value};
}

static const CtFlowStep *maker(const Simplify *s, const CtFlowArg *arg) { return ct_flow_fact(&s->facts, arg)->maker; }

static bool stand(Simplify *s, const CtFlowStep *step, CtFlowArg value) {
    CtFlowVar *result = step->results.items[0];
    if (value.var != NULL && value.var->name == NULL) value.var->name = result->name;
    ct_flow_stands(&s->now, result, value);
    return true;
}

/* Whether a value is 0 or 1: the result of a comparison, or a choice between such. */
static bool is_test(const Simplify *s, const CtFlowArg *arg, int depth) {
    const CtFlowFact *fact = ct_flow_fact(&s->facts, arg);
    const CtFlowStep *step = fact->maker;
    if (arg->var == NULL) return arg->lit.integer == 0 || arg->lit.integer == 1;
    if (step != NULL && step->kind == FLOW_PRIM) return ct_prim_info(step->as.prim)->result == 'B';
    if (step == NULL || step->kind != FLOW_SWITCH || depth == 0) return false;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit == EXIT_YIELD && !is_test(s, &block->values.items[fact->index], depth - 1)) return false;
    }
    return true;
}

/* ---- nodes ---- */

static bool open_known(Simplify *s, const CtFlowStep *step) {
    const CtFlowStep *make = ct_flow_maker(&s->facts, &step->args.items[0], FLOW_MAKE);
    if (make == NULL || make->as.con.tag != step->as.con.tag) return false;
    CT_FIRED("simplify.field");
    for (uint32_t i = 0; i < step->results.count; i++) {
        if (step->results.items[i] == NULL) continue;
        ct_flow_stands(&s->now, step->results.items[i], make->args.items[i]);
    }
    return true;
}

/* ---- arrays ---- */

static CtFlowArgs one(const Simplify *s, CtFlowArg arg) {
    CtFlowArgs args = {0};
    ct_push(s->arena, &args, arg);
    return args;
}

/* Replaces a read by the element `item`, which the first `used` indices select; a row is then read with the remaining
 * indices. */
static bool read_item(Simplify *s, CtFlowStep *step, CtFlowArg item, uint32_t used) {
    if (step->args.count == 1 + used) return CT_FIRED("simplify.element") && stand(s, step, item);
    CT_FIRED("simplify.row");
    CtFlowArgs args = one(s, item);
    for (uint32_t i = 1 + used; i < step->args.count; i++) ct_push(s->arena, &args, step->args.items[i]);
    step->args = args;
    return false;
}

/* Whether a read is of the element that an update has set. */
static bool reads_updated(const CtFlowStep *step, const CtFlowStep *update) {
    uint32_t indices = update->args.count - 2;
    if (step->args.count < 1 + indices) return false;
    for (uint32_t i = 1; i <= indices; i++)
        if (!ct_flow_same(&update->args.items[i], &step->args.items[i])) return false;
    return true;
}

/* Whether a read is of another element than an update has set. */
static bool reads_beside(const CtFlowStep *step, const CtFlowStep *update) {
    uint32_t indices = update->args.count - 2;
    for (uint32_t i = 1; i <= indices && i < step->args.count; i++) {
        const CtFlowArg *put = &update->args.items[i], *read = &step->args.items[i];
        if (put->var == NULL && read->var == NULL && put->lit.integer != read->lit.integer) return true;
    }
    return false;
}

static bool is_known_int(const CtFlowArg *arg) { return arg->var == NULL; }

/* A read of an element of a slice, or of appended arrays, becomes one of the array that it comes from, where literals
 * say which that is. So a small vector that is a part of another need not be made. Not of an array that has been taken
 * since, and may have been changed in place: the slice is a copy of what it was. */
static bool read_of_part(Simplify *s, CtFlowStep *step) {
    const CtFlowStep *whole = ct_flow_maker(&s->facts, &step->args.items[0], FLOW_BULK);
    const CtFlowArg *index = &step->args.items[1];
    if (whole == NULL || index->var != NULL || index->lit.integer < 0) return false;
    CtFlowArg from = {0};
    int64_t shift = 0;
    if (whole->as.bulk == ARRAY_SLICE && is_known_int(&whole->args.items[0])) {
        shift = whole->args.items[0].lit.integer;
        from = whole->args.items[2];
        if (shift < 0 || shift > INT32_MAX || index->lit.integer > INT32_MAX) return false;
    } else if (whole->as.bulk == ARRAY_APPEND) {
        CtFlowLength first = ct_flow_length(&s->facts, &whole->args.items[0], 0, false);
        if (first.known.type == NULL || first.known.var != NULL) return false;
        bool behind = index->lit.integer >= first.known.lit.integer;
        shift = behind ? -first.known.lit.integer : 0;
        from = whole->args.items[behind];
    }
    if (from.var == NULL || !ct_flow_is_left(&s->taken, whole, &from)) return false;
    CT_FIRED("simplify.read_of_part");
    CtFlowArgs args = one(s, from);
    ct_push(s->arena, &args, integer(s, index->lit.integer + shift));
    for (uint32_t i = 2; i < step->args.count; i++) ct_push(s->arena, &args, step->args.items[i]);
    step->args = args;
    return true;
}

static bool read_known(Simplify *s, CtFlowStep *step) {
    const CtFlowStep *whole = maker(s, &step->args.items[0]);
    const CtFlowArg *index = &step->args.items[1];
    while (whole != NULL && whole->kind == FLOW_UPDATE && reads_beside(step, whole) && CT_FIRED("simplify.beside"))
        whole = maker(s, &whole->args.items[0]);
    if (whole == NULL) return false;
    if (whole->kind == FLOW_CONSTANT) {
        const CtFlowFact *fact = ct_flow_fact(&s->facts, &step->args.items[0]);
        CtFlowArg literal = ct_flow_constant_element(&s->facts, fact, index, step->args.count - 1);
        return literal.type != NULL && CT_FIRED("simplify.constant_element") && stand(s, step, literal);
    }
    if (ct_flow_is_items(whole)) {
        bool inside = index->var == NULL && index->lit.integer >= 0 && index->lit.integer < whole->args.count;
        return inside && CT_FIRED("simplify.item") && read_item(s, step, whole->args.items[index->lit.integer], 1);
    }
    if (whole->kind == FLOW_UPDATE && reads_updated(step, whole) && CT_FIRED("simplify.updated"))
        return read_item(s, step, whole->args.items[whole->args.count - 1], whole->args.count - 2);
    if (whole->kind != FLOW_BULK) return false;
    if (whole->as.bulk == ARRAY_IOTA) return CT_FIRED("simplify.iota") && stand(s, step, *index);
    return whole->as.bulk == ARRAY_REPLICATE && CT_FIRED("simplify.replicate") &&
           read_item(s, step, whole->args.items[1], 1);
}

/* Reads and lengths of a row become reads and lengths of the array, so that the row need not be made. Not where the
 * array has been taken since. */
static void look_through_rows(Simplify *s, CtFlowStep *step) {
    uint32_t array = step->kind == FLOW_CHECK ? 1 : 0;
    const CtFlowStep *row = ct_flow_maker(&s->facts, &step->args.items[array], FLOW_READ);
    if (row == NULL || step->args.items[array].type->kind != FLOW_ARRAY) return;
    /* Elements are arrays by reference. */
    if (row->args.items[0].type->element != step->args.items[array].type->element) return;
    if (!ct_flow_is_left(&s->taken, row, &row->args.items[0])) return;
    CtFlowArgs args = {0};
    if (step->kind == FLOW_READ) {
        CT_FIRED("simplify.read_of_row");
        args = one(s, row->args.items[0]);
        for (uint32_t i = 1; i < row->args.count; i++) ct_push(s->arena, &args, row->args.items[i]);
        for (uint32_t i = 1; i < step->args.count; i++) ct_push(s->arena, &args, step->args.items[i]);
    } else {
        CT_FIRED("simplify.length_of_row");
        if (step->kind == FLOW_CHECK) args = one(s, step->args.items[0]);
        ct_push(s->arena, &args, row->args.items[0]);
        step->as.index += row->args.count - 1;
    }
    step->args = args;
}

/* An array with the element that it has there is the array. */
static bool update_known(Simplify *s, const CtFlowStep *step) {
    uint32_t last = step->args.count - 1;
    const CtFlowStep *read =
        step->kind == FLOW_UPDATE ? ct_flow_maker(&s->facts, &step->args.items[last], FLOW_READ) : NULL;
    if (read == NULL || read->args.count != last) return false;
    for (uint32_t i = 0; i < last; i++)
        if (!ct_flow_same(&read->args.items[i], &step->args.items[i])) return false;
    return CT_FIRED("simplify.update_of_own") && stand(s, step, step->args.items[0]);
}

static bool compare_known(Simplify *s, const CtFlowStep *step) {
    if (step->args.count != 2) return false;
    int known = ct_flow_compare(&s->facts, step->as.prim, &step->args.items[0], &step->args.items[1]);
    return known >= 0 && CT_FIRED("simplify.compare") && stand(s, step, integer(s, known));
}

/* The number of elements of an array, as given to the step that made it; NULL if there is no such number. */
static const CtFlowArg *made_count(const Simplify *s, const CtFlowArg *array) {
    const CtFlowFact *fact = ct_flow_fact(&s->facts, array);
    const CtFlowStep *step = fact->maker;
    if (step == NULL) return NULL;
    bool loop = step->kind == FLOW_LOOP && !step->as.loop.initial && fact->index >= step->as.loop.carried;
    bool counted = step->kind == FLOW_BULK && (step->as.bulk == ARRAY_REPLICATE || step->as.bulk == ARRAY_IOTA);
    if (ct_flow_is_bulk(step, ARRAY_SLICE))
        return ct_flow_is_natural(&s->facts, &step->args.items[1]) ? &step->args.items[1] : NULL;
    return loop || counted ? &step->args.items[0] : NULL;
}

/* What stands behind or in front of no elements. */
static bool appended_known(Simplify *s, const CtFlowStep *step) {
    if (!ct_flow_is_bulk(step, ARRAY_APPEND) || step->results.items[0]->type->rank != 1) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowStep *none = maker(s, &step->args.items[i]);
        if (none != NULL && none->kind == FLOW_ITEMS && none->args.count == 0)
            return CT_FIRED("simplify.append_none") && stand(s, step, step->args.items[1 - i]);
    }
    return false;
}

/* concat of a few arrays of numbers appends them, so that each may be written where it belongs; once derivatives, which
 * know both, have been taken. */
static void append_rows(Simplify *s, CtFlowBlock *to, CtFlowStep *step) {
    const CtFlowStep *rows = ct_flow_is_bulk(step, ARRAY_CONCAT) ? maker(s, &step->args.items[0]) : NULL;
    if (rows == NULL || rows->kind != FLOW_ITEMS || !s->flow->is_closed) return;
    if (rows->args.count < 2 || rows->args.count > MOST_APPENDED || rows->args.items[0].type->rank != 1) return;
    CT_FIRED("simplify.append_rows");
    CtFlowArgs parts = rows->args;
    CtFlowArg rest = parts.items[parts.count - 1];
    for (uint32_t i = parts.count - 1; i-- > 1;) {
        CtFlowStep *both = CT_NEW(s->arena, CtFlowStep);
        *both = (CtFlowStep){.kind = FLOW_BULK, .range = step->range, .as.bulk = ARRAY_APPEND};
        both->args = one(s, parts.items[i]);
        ct_push(s->arena, &both->args, rest);
        rest = flow_of(ct_flow_fresh(s->flow, s->function, NULL, rest.type));
        ct_push(s->arena, &both->results, rest.var);
        ct_flow_facts_step(&s->facts, both, s->depth);
        ct_push(s->arena, &to->steps, both);
    }
    step->as.bulk = ARRAY_APPEND;
    step->args = one(s, parts.items[0]);
    ct_push(s->arena, &step->args, rest);
}

/* The length of a row, where all rows have a known one. A row was read, so there is one, which is no longer known of
 * the array that the row's length is looked up in. */
static bool row_length_known(Simplify *s, const CtFlowStep *step) {
    if (step->as.index > 0 || ct_flow_maker(&s->facts, &step->args.items[0], FLOW_READ) == NULL) return false;
    CtFlowLength length = ct_flow_length(&s->facts, &step->args.items[0], 0, true);
    bool literal = length.known.type != NULL && length.known.var == NULL;
    return literal && CT_FIRED("simplify.length_of_known_row") && stand(s, step, length.known);
}

/* Whether an array certainly has a row, by the number of those that were made or sliced. Rows that a loop makes count
 * once derivatives have been taken: products of matrices are known by the checks of their lengths (matrix_products.c).
 */
static bool has_row(Simplify *s, const CtFlowArg *array) {
    const CtFlowFact *fact = ct_flow_fact(&s->facts, array);
    const CtFlowStep *step = fact->maker;
    bool made = s->flow->is_closed && step != NULL && step->kind == FLOW_LOOP && fact->index >= step->as.loop.carried;
    if (step == NULL || (!made && !ct_flow_is_bulk(step, ARRAY_SLICE))) return false;
    CtFlowArg none = integer(s, 0), count = step->args.items[made ? 0 : 1];
    return ct_flow_compare(&s->facts, PRIM_INT_LT, &none, &count) == 1 && CT_FIRED("simplify.has_row");
}

/* The length of two arrays one behind the other, where it is a number or that of another array: of [|1|] ++ init y. */
static bool appended_length(Simplify *s, CtFlowStep *dim, const CtFlowStep *part) {
    CtFlowStep sum = {.kind = FLOW_PRIM, .as.prim = PRIM_INT_ADD};
    CtFlowArg value;
    if (!ct_flow_is_bulk(part, ARRAY_APPEND) || dim->as.index != 0) return false;
    for (uint32_t i = 0; i < 2; i++) {
        CtFlowLength length = ct_flow_length(&s->facts, &part->args.items[i], 0, false);
        if (length.known.type == NULL) return false;
        ct_push(s->arena, &sum.args, length.known);
    }
    const CtFlowArg *lengths = sum.args.items;
    if (lengths[0].var == NULL && lengths[1].var == NULL)
        value = (CtFlowArg){.type = lengths[0].type, .lit.integer = lengths[0].lit.integer + lengths[1].lit.integer};
    else if (!ct_flow_sum_of_ints(&s->facts, &sum, &value))
        return false;
    return CT_FIRED("simplify.appended_length") && stand(s, dim, value);
}

static bool dim_known(Simplify *s, CtFlowStep *step) {
    const CtFlowArg *array = &step->args.items[0];
    bool some = step->as.index == 1 && has_row(s, array);
    const CtFlowStep *part = maker(s, array);
    if (some && part->kind == FLOW_BULK && CT_FIRED("simplify.length_of_slice")) {
        step->args = one(s, part->args.items[part->args.count - 1]);
        return dim_known(s, step);
    }
    CtFlowLength length = ct_flow_length(&s->facts, array, step->as.index, some);
    CtFlowArg literal;
    if (ct_flow_known_length(&s->facts, length, &literal) && literal.lit.integer > 0)
        return CT_FIRED("simplify.told_length") && stand(s, step, literal);
    if (length.known.type != NULL) return CT_FIRED("simplify.length") && stand(s, step, length.known);
    if (appended_length(s, step, part)) return true;
    const CtFlowArg *count = step->as.index == 0 ? made_count(s, array) : NULL;
    return count != NULL && CT_FIRED("simplify.made_length") && stand(s, step, *count);
}

/* The length of a row or a slice, by a step in front of the one that asks. */
static CtFlowArg length_of_part(Simplify *s, CtFlowBlock *to, const CtFlowStep *step, CtFlowArg part) {
    CtFlowStep *dim = CT_NEW(s->arena, CtFlowStep);
    dim->kind = FLOW_DIM;
    dim->range = step->range;
    dim->args = one(s, part);
    CtFlowArgs length = one(s, flow_of(ct_flow_fresh(s->flow, s->function, "n", s->facts.integer)));
    ct_push(s->arena, &dim->results, length.items[0].var);
    look_through_rows(s, dim);
    ct_flow_facts_step(&s->facts, dim, s->depth);
    if (dim_known(s, dim))
        ct_flow_rename(&s->now, &length);
    else
        ct_push(s->arena, &to->steps, dim);
    return length.items[0];
}

/* Whether an array is a row or a slice of another. */
static bool is_part(const Simplify *s, const CtFlowArg *array) {
    const CtFlowStep *made = array->type->kind == FLOW_ARRAY ? ct_flow_fact(&s->facts, array)->maker : NULL;
    return made != NULL && (made->kind == FLOW_READ || ct_flow_is_bulk(made, ARRAY_SLICE));
}

/* Checks the length of a row or a slice as a number, so that it need not be made. */
static void slice_length(Simplify *s, CtFlowBlock *to, CtFlowStep *step) {
    CtFlowArg *of = &step->args.items[2];
    if (!is_part(s, of)) return;
    CT_FIRED("simplify.slice_of_part");
    CtFlowArgs args = one(s, step->args.items[0]);
    ct_push(s->arena, &args, step->args.items[1]);
    ct_push(s->arena, &args, length_of_part(s, to, step, *of));
    step->args = args;
}

/* Compares lengths of rows, of slices and of arrays of known elements as numbers, so that these need not be made. */
static void zip_lengths(Simplify *s, CtFlowBlock *to, CtFlowStep *step) {
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i < 2; i++) {
        CtFlowArg arg = step->args.items[i];
        bool items = ct_flow_maker(&s->facts, &arg, FLOW_ITEMS) != NULL;
        if (is_part(s, &arg) || (arg.type->kind == FLOW_ARRAY && items)) {
            if (items)
                CT_FIRED("simplify.zip_of_items");
            else
                CT_FIRED("simplify.zip_of_rows");
            arg = length_of_part(s, to, step, arg);
        }
        ct_push(s->arena, &args, arg);
    }
    step->args = args;
}

/* ---- checks ---- */

/* Checks against the length of an array become checks against the number of its elements, so that the array need not be
 * made. */
static void check_count(Simplify *s, CtFlowStep *step) {
    CtFlowArg array = step->args.items[1];
    const CtFlowArg *count = step->as.index == 0 ? made_count(s, &array) : NULL;
    bool row = step->as.index == 1 && has_row(s, &array);
    CtFlowLength length = {0};
    if (row) length = ct_flow_length(&s->facts, &array, 1, true);
    if (length.known.type != NULL) count = &length.known;
    bool other = row && count == NULL && length.array != array.var;
    if (count == NULL && !other) return;
    CT_FIRED("simplify.check_of_count");
    CtFlowArgs args = one(s, step->args.items[0]);
    ct_push(s->arena, &args, other ? flow_of((CtFlowVar *)length.array) : *count); // NOLINT
    step->as.index = other ? length.dimension : 0;
    step->args = args;
}

static bool check_index(Simplify *s, CtFlowStep *step) {
    const CtFlowArg *index = &step->args.items[0], *of = &step->args.items[1];
    bool inside = ct_flow_is_index(&s->facts, index, ct_flow_checked_length(&s->facts, of, step->as.index, true));
    ct_flow_learn(&s->facts, step);
    check_count(s, step);
    return inside && CT_FIRED("simplify.check");
}

static bool check_size(const Simplify *s, const CtFlowStep *step) {
    return ct_flow_is_natural(&s->facts, &step->args.items[0]);
}

static bool check_slice(Simplify *s, const CtFlowStep *step) {
    const CtFlowArg *args = step->args.items;
    CtFlowLength length = ct_flow_checked_length(&s->facts, &args[2], 0, false);
    bool inside = ct_flow_is_slice(&s->facts, &args[0], &args[1], length);
    ct_flow_learn(&s->facts, step);
    return inside && CT_FIRED("simplify.check_of_slice");
}

/* The smaller or larger of two Ints of which it is known which one that is. */
static bool extreme_known(Simplify *s, const CtFlowStep *step) {
    bool smaller = step->as.prim == PRIM_INT_MIN;
    if (!smaller && step->as.prim != PRIM_INT_MAX) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowArg *less = &step->args.items[i], *more = &step->args.items[1 - i];
        if (ct_flow_compare(&s->facts, PRIM_INT_LE, less, more) == 1 && CT_FIRED("simplify.extreme"))
            return stand(s, step, smaller ? *less : *more);
    }
    return false;
}

/* a div b is 0, and a mod b is a, where 0 ≤ a < b. */
static bool division_known(Simplify *s, const CtFlowStep *step) {
    CtPrim prim = step->as.prim;
    bool divides = prim == PRIM_INT_DIV || prim == PRIM_INT_QUOT;
    if (!divides && prim != PRIM_INT_MOD && prim != PRIM_INT_REM) return false;
    const CtFlowArg *a = &step->args.items[0], *b = &step->args.items[1];
    if (!ct_flow_is_natural(&s->facts, a) || ct_flow_compare(&s->facts, PRIM_INT_LT, a, b) != 1) return false;
    return CT_FIRED("simplify.division") && stand(s, step, divides ? (CtFlowArg){.type = a->type} : *a);
}

/* x + 0 is x unless x is −0.0; the sum turns the structural zeros of cotangents into ordinary ones. */
static bool plain_known(Simplify *s, const CtFlowStep *step) {
    static const double zero = 0;
    if (step->as.prim != PRIM_ADD) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowArg *a = &step->args.items[i], *b = &step->args.items[1 - i];
        if (b->var == NULL && memcmp(&b->lit.real, &zero, sizeof zero) == 0 && ct_flow_is_no_minus_zero(&s->facts, a) &&
            CT_FIRED("simplify.add_zero"))
            return stand(s, step, *a);
    }
    return false;
}

/* Whether two arrays, or lengths, are equally long in a dimension; those that are appended, part by part. */
static bool same_length(Simplify *s, const CtFlowArg *a, const CtFlowArg *b, uint32_t dimension, uint32_t depth) {
    const CtFlowStep *one = maker(s, a), *other = maker(s, b);
    bool both = dimension == 0 && depth > 0 && one != NULL && other != NULL && ct_flow_is_bulk(one, ARRAY_APPEND) &&
                ct_flow_is_bulk(other, ARRAY_APPEND);
    for (uint32_t i = 0; both && i < 2; i++)
        both = same_length(s, &one->args.items[i], &other->args.items[i], 0, depth - 1);
    if (both) return CT_FIRED("simplify.appended_alike");
    return ct_flow_same_length(&s->facts, ct_flow_checked_length(&s->facts, a, dimension, false),
                               ct_flow_checked_length(&s->facts, b, dimension, false));
}

/* Whether the first `dimensions` lengths of two arrays are known to be equal. From here on they are. */
static bool check_lengths(Simplify *s, const CtFlowStep *step, uint32_t dimensions) {
    bool same = true;
    for (uint32_t i = 0; i < dimensions; i++)
        same &= same_length(s, &step->args.items[0], &step->args.items[1], i, MOST_APPENDED);
    ct_flow_learn(&s->facts, step);
    return same && CT_FIRED("simplify.check_lengths");
}

/* ---- branches ---- */

/* The branch of a switch that is known to have been taken, since one of a later switch on the same value has been;
 * −1 when it is not known. */
static int taken_before(const Simplify *s, const CtFlowStep *choice) {
    const CtFlowVar *on = choice->args.items[0].var;
    for (uint32_t i = s->tags.count; i-- > 0 && on != NULL;)
        if (s->tags.items[i].var == on) return (int)ct_flow_branch_for(choice, s->tags.items[i].tag);
    return -1;
}

/* The step that makes a node, perhaps in the branch that an earlier switch has taken. */
static const CtFlowStep *node_maker(const Simplify *s, const CtFlowArg *node) {
    const CtFlowFact *fact = ct_flow_fact(&s->facts, node);
    int branch = fact->maker != NULL && fact->maker->kind == FLOW_SWITCH ? taken_before(s, fact->maker) : -1;
    if (branch < 0) return fact->maker;
    const CtFlowBlock *block = fact->maker->as.cases.branches[branch].block;
    return block->exit == EXIT_YIELD ? maker(s, &block->values.items[fact->index]) : NULL;
}

/* The branch that is taken; −1 when it is not known. */
static int known_branch(const Simplify *s, const CtFlowStep *step) {
    const CtFlowArg *on = &step->args.items[0];
    const CtFlowStep *make = node_maker(s, on);
    int64_t tag = -1;
    /* In the reverse sweep: in the other branches the forward sweep has failed. */
    if (step->as.cases.count == 1 && CT_FIRED("simplify.only_branch")) return 0;
    if (on->var == NULL && CT_FIRED("simplify.branch_of_literal"))
        tag = on->lit.integer;
    else if (make != NULL && make->kind == FLOW_MAKE && CT_FIRED("simplify.branch_of_node"))
        tag = make->as.con.tag;
    for (uint32_t i = s->tags.count; i-- > 0 && tag < 0;)
        if (s->tags.items[i].var == on->var && CT_FIRED("simplify.branch_again")) tag = s->tags.items[i].tag;
    return tag < 0 || step->as.cases.count == 0 ? -1 : (int)ct_flow_branch_for(step, tag);
}

/* A switch on a node that an earlier switch has made, in each of its two branches of another constructor, becomes one
 * on the test of that switch. */
static void choose_by_test(Simplify *s, CtFlowStep *step) {
    const CtFlowFact *fact = ct_flow_fact(&s->facts, &step->args.items[0]);
    const CtFlowStep *made = fact->maker;
    uint32_t count = step->as.cases.count, which[2];
    if (made == NULL || made->kind != FLOW_SWITCH || made->as.cases.count != 2 || count < 2) return;
    if (made->args.items[0].var == NULL || made->args.items[0].type->kind != FLOW_I64) return;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowBlock *block = made->as.cases.branches[i].block;
        const CtFlowStep *make = block->exit == EXIT_YIELD ? maker(s, &block->values.items[fact->index]) : NULL;
        if (make == NULL || make->kind != FLOW_MAKE) return;
        which[i] = ct_flow_branch_for(step, make->as.con.tag);
    }
    if (which[0] == which[1]) return;
    CT_FIRED("simplify.test_of_node");
    CtFlowBranch *branches = CT_NEW_ARRAY(s->arena, CtFlowBranch, 2);
    for (uint32_t i = 0; i < 2; i++)
        branches[i] = (CtFlowBranch){made->as.cases.branches[i].tag, step->as.cases.branches[which[i]].block};
    step->as.cases.branches = branches;
    step->as.cases.count = 2;
    step->args = one(s, made->args.items[0]);
}

/* A switch on a truth value that gives it again. */
static bool truth_known(Simplify *s, const CtFlowStep *step) {
    const CtFlowStep *test = maker(s, &step->args.items[0]);
    if (step->as.cases.count != 2 || step->results.count != 1 || test == NULL || test->kind != FLOW_PRIM) return false;
    CtPrim prim = test->as.prim;
    if (prim != PRIM_INT_EQ && prim != PRIM_INT_LT && prim != PRIM_INT_LE && prim != PRIM_LT && prim != PRIM_EQ)
        return false;
    const CtFlowBranch *branches = step->as.cases.branches;
    uint32_t yes = branches[0].tag == 1 ? 0 : 1;
    if (branches[yes].tag != 1) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowBlock *block = branches[i].block;
        if (block->exit != EXIT_YIELD || block->steps.count > 0) return false;
        const CtFlowArg *value = &block->values.items[0];
        if (value->var != NULL || value->type->kind != FLOW_I64 || value->lit.integer != (i == yes)) return false;
    }
    return CT_FIRED("simplify.truth") && stand(s, step, step->args.items[0]);
}

/* Whether a block consists of loops that cannot fail and have `iterations` iterations: it does nothing if that is 0. */
static bool only_loops(const Simplify *s, const CtFlowBlock *block, const CtFlowLength *iterations) {
    bool inside = iterations == NULL;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool reads = step->kind == FLOW_READ && inside, fills = ct_flow_is_bulk(step, ARRAY_REPLICATE);
        if (step->kind != FLOW_LOOP && step->kind != FLOW_PRIM && step->kind != FLOW_DIM && !reads && !fills)
            return false;
        if (ct_flow_step_fails(step)) return false;
        if (step->kind != FLOW_LOOP) continue;
        bool runs =
            !inside && !ct_flow_same_length(&s->facts, ct_flow_length_of(&s->facts, step->args.items[0]), *iterations);
        if (runs || !only_loops(s, step->as.loop.block, NULL)) return false;
    }
    return block->exit == EXIT_YIELD;
}

/* Whether all values that a block yields are arrays of `iterations` elements. */
static bool yields_arrays_of(const Simplify *s, const CtFlowBlock *block, CtFlowLength iterations) {
    for (uint32_t i = 0; i < block->values.count; i++) {
        const CtFlowArg *value = &block->values.items[i];
        if (value->type->kind != FLOW_ARRAY ||
            !ct_flow_same_length(&s->facts, ct_flow_length(&s->facts, value, 0, false), iterations))
            return false;
    }
    return true;
}

/* A `switch n == 0` both of whose branches yield arrays of n elements: the general branch is right for n = 0 too. Its
 * index, or −1. */
static int needless_choice(const Simplify *s, const CtFlowStep *step) {
    const CtFlowStep *test = ct_flow_maker(&s->facts, &step->args.items[0], FLOW_PRIM);
    bool asks = test != NULL && test->as.prim == PRIM_INT_EQ && step->as.cases.count == 2;
    if (!asks || step->results.count == 0) return -1;
    const CtFlowArg *zero = &test->args.items[1];
    if (zero->var != NULL || zero->lit.integer != 0) return -1;
    uint32_t some = step->as.cases.branches[0].tag == 1 || step->as.cases.branches[1].tag == 0 ? 1 : 0;
    CtFlowLength iterations = ct_flow_length_of(&s->facts, test->args.items[0]);
    const CtFlowBlock *none = step->as.cases.branches[1 - some].block, *block = step->as.cases.branches[some].block;
    bool same = none->exit == EXIT_YIELD && only_loops(s, none, &iterations) && only_loops(s, block, &iterations) &&
                yields_arrays_of(s, none, iterations) && yields_arrays_of(s, block, iterations);
    return same && CT_FIRED("simplify.needless_choice") ? (int)some : -1;
}

/* The value of a scalar inside a branch of a switch on it. */
static bool branch_value(const Simplify *s, const CtFlowStep *step, uint32_t index, int64_t *value) {
    const CtFlowBranch *branches = step->as.cases.branches;
    if (branches[index].tag != FLOW_OTHERS) {
        *value = branches[index].tag;
        return true;
    }
    bool test = step->as.cases.count == 2 && is_test(s, &step->args.items[0], 4) && branches[1 - index].tag <= 1;
    if (test) *value = 1 - branches[1 - index].tag;
    return test;
}

/* The constructor of a node inside a branch of a switch on it; in a default branch, the only one that is left. */
static uint32_t branch_tag(const CtFlowStep *step, uint32_t index) {
    const CtFlowBranch *branches = step->as.cases.branches;
    if (branches[index].tag != FLOW_OTHERS) return branches[index].tag;
    uint32_t count = step->as.cases.count, sum = 0, constructors = step->args.items[0].type->data->count;
    if (count != constructors) return FLOW_OTHERS;
    for (uint32_t i = 0; i < count; i++)
        if (i != index) sum += branches[i].tag;
    return constructors * (constructors - 1) / 2 - sum;
}

/* From here to the end of the block, a variable is a number. */
static void stand_here(Simplify *s, const CtFlowVar *var, CtFlowArg value) {
    ct_flow_stands(&s->now, var, value);
    ct_push(s->arena, &s->numbers, var);
}

/* What is only known behind the first `count`, is not known any more. */
static void forget_numbers(Simplify *s, uint32_t count) {
    while (s->numbers.count > count) ct_flow_stands(&s->now, s->numbers.items[--s->numbers.count], (CtFlowArg){0});
}

/* A test has been passed: where it says that an Int is a literal, as a length often is, the Int stands for it. Not for
 * 0: that there is nothing, other code says in terms of the length, as the code for the rest does. */
static void assume_equal(Simplify *s, const CtFlowArg *test) {
    const CtFlowStep *step = ct_flow_maker(&s->facts, test, FLOW_PRIM);
    if (step == NULL) return;
    for (uint32_t i = 0; i < 2 && step->as.prim == PRIM_INT_AND; i++) assume_equal(s, &step->args.items[i]);
    for (uint32_t i = 0; i < 2 && step->as.prim == PRIM_INT_EQ; i++) {
        const CtFlowArg *var = &step->args.items[i], *other = &step->args.items[1 - i];
        bool wanted = var->var != NULL && other->var == NULL && other->lit.integer > 0;
        if (wanted && CT_FIRED("simplify.equals")) stand_here(s, var->var, *other);
    }
}

/* What is known where a switch on a scalar has gone to the branch for a value. */
static void assume_value(Simplify *s, const CtFlowArg *on, int64_t value) {
    ct_flow_assume(&s->facts, on, value == 1);
    if (on->var == NULL || on->type->kind != FLOW_I64) return;
    if (value == 1) assume_equal(s, on);
    stand_here(s, on->var, integer(s, value));
}

static void visit_branch(Simplify *s, const CtFlowStep *step, uint32_t index) {
    const CtFlowArg *on = &step->args.items[0];
    const CtFlowBranch *branch = &step->as.cases.branches[index];
    uint32_t tags = s->tags.count, equals = s->facts.equals.count, numbers = s->numbers.count;
    int64_t value = 0;
    bool scalar = on->var != NULL && on->type->kind == FLOW_I64 && branch_value(s, step, index, &value);
    uint32_t tag = on->type->kind == FLOW_NODE ? branch_tag(step, index) : FLOW_OTHERS;
    if (tag != FLOW_OTHERS) ct_push(s->arena, &s->tags, (Known){on->var, tag});
    if (scalar) ct_push(s->arena, &s->tags, (Known){on->var, value});
    if (scalar) assume_value(s, on, value);
    visit(s, branch->block);
    forget_numbers(s, numbers);
    s->tags.count = tags;
    s->facts.equals.count = equals;
}

/* The value from outside that all branches yield, if there is one. */
static bool common_yield(const Simplify *s, const CtFlowStep *step, uint32_t result, CtFlowArg *value) {
    bool found = false;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit != EXIT_YIELD) continue;
        const CtFlowArg *own = &block->values.items[result];
        if (found ? !ct_flow_same(own, value) : own->var != NULL && ct_flow_fact(&s->facts, own)->depth > s->depth)
            return false;
        *value = *own;
        found = true;
    }
    return found;
}

/* Whether each branch yields the scalar that it is for. */
static bool yields_itself(const Simplify *s, const CtFlowStep *step, uint32_t result) {
    const CtFlowArg *on = &step->args.items[0];
    if (on->type->kind != FLOW_I64) return false;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        int64_t value;
        if (block->exit != EXIT_YIELD) continue;
        const CtFlowArg *own = &block->values.items[result];
        if (ct_flow_same(own, on)) continue;
        if (own->var != NULL || !branch_value(s, step, i, &value) || own->lit.integer != value) return false;
    }
    return step->results.items[result]->type->kind == FLOW_I64;
}

static bool goes_on(const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.cases.count; i++)
        if (step->as.cases.branches[i].block->exit == EXIT_YIELD) return true;
    return false;
}

/* If only one branch of a switch comes to its end, what that branch knows holds behind the switch. */
static void assume_left(Simplify *s, const CtFlowStep *step) {
    const CtFlowArg *on = &step->args.items[0];
    uint32_t left = UINT32_MAX;
    int64_t value;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        if (step->as.cases.branches[i].block->exit != EXIT_YIELD) continue;
        if (left != UINT32_MAX) return;
        left = i;
    }
    if (left != UINT32_MAX && branch_value(s, step, left, &value) && CT_FIRED("simplify.left_by_one"))
        assume_value(s, on, value);
}

/* Removes the branches that are never taken: in the reverse sweep, those in which the forward sweep has failed. A
 * function that always fails has a backpropagator without steps, so that they show only when it has been inlined. */
static void drop_impossible(CtFlowStep *step) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        bool never = block->exit == EXIT_NEVER && block->steps.count == 0;
        if (never && CT_FIRED("simplify.impossible_branch")) continue;
        step->as.cases.branches[kept++] = step->as.cases.branches[i];
    }
    if (kept > 0) step->as.cases.count = kept;
}

static void simplify_switch(Simplify *s, CtFlowStep *step) {
    uint32_t noted = s->taken.log.count;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        uint32_t from = s->taken.log.count;
        visit_branch(s, step, i);
        ct_flow_taken_leave(&s->taken, from, step->as.cases.branches[i].block);
    }
    ct_flow_taken_join(&s->taken, noted);
    assume_left(s, step);
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowArg value;
        if (common_yield(s, step, i, &value) && CT_FIRED("simplify.common_yield"))
            ct_flow_stands(&s->now, step->results.items[i], value);
        else if (yields_itself(s, step, i) && CT_FIRED("simplify.yields_itself"))
            ct_flow_stands(&s->now, step->results.items[i], step->args.items[0]);
        else
            ct_flow_taken_value(&s->taken, step, i);
    }
}

/* The fields of a node that a switch has given. */
static bool open_behind(Simplify *s, CtFlowBlock *to, const CtFlowStep *open) {
    CtFlowStep *choice = ct_flow_fact(&s->facts, &open->args.items[0])->maker;
    int branch = choice != NULL && choice->kind == FLOW_SWITCH ? taken_before(s, choice) : -1;
    if (branch < 0) return false;
    CtFlowBuilder b = {.flow = s->flow, .arena = s->arena, .function = s->function, .block = to};
    const CtFlowArgs *fields = ct_flow_fields_behind(&b, &s->facts, open, choice, (uint32_t)branch, s->depth);
    for (uint32_t i = 0; fields != NULL && i < open->results.count; i++)
        if (open->results.items[i] != NULL) ct_flow_stands(&s->now, open->results.items[i], fields->items[i]);
    return fields != NULL;
}

/* ---- steps ---- */

static bool constant_known(Simplify *s, const CtFlowStep *step) {
    const CtFlowBlock *body = step->as.constant->function->body;
    bool known = body->steps.count == 0 && body->exit == EXIT_RETURN;
    for (uint32_t i = 0; known && i < body->values.count; i++) known = body->values.items[i].var == NULL;
    for (uint32_t i = 0; known && i < step->results.count; i++)
        ct_flow_stands(&s->now, step->results.items[i], body->values.items[i]);
    return known && CT_FIRED("simplify.constant");
}

/* Whether the results of a step are known, so that it is dropped. */
static bool is_known(Simplify *s, CtFlowStep *step) {
    CtFlowArg value;
    if (step->kind == FLOW_DIM && row_length_known(s, step)) return true;
    if (step->kind == FLOW_READ || step->kind == FLOW_DIM || step->kind == FLOW_CHECK) look_through_rows(s, step);
    while (step->kind == FLOW_READ && read_of_part(s, step)) look_through_rows(s, step);
    switch (step->kind) {
    case FLOW_PRIM:
        ct_flow_divide_by_bits(&s->facts, step);
        if (ct_flow_fold(step, &value) && CT_FIRED("simplify.fold")) return stand(s, step, value);
        if (ct_flow_sum_of_ints(&s->facts, step, &value)) return stand(s, step, value);
        return extreme_known(s, step) || division_known(s, step) || compare_known(s, step) || plain_known(s, step);
    case FLOW_OPEN: return open_known(s, step);
    case FLOW_READ: return read_known(s, step);
    case FLOW_DIM: return dim_known(s, step);
    case FLOW_CHECK: return check_index(s, step);
    case FLOW_CHECK_SIZE: return check_size(s, step);
    case FLOW_CHECK_ZIP: return check_lengths(s, step, 1);
    case FLOW_CHECK_SHAPE: return check_lengths(s, step, step->args.items[0].type->rank);
    case FLOW_CHECK_SLICE: return check_slice(s, step);
    case FLOW_CONSTANT: return constant_known(s, step);
    case FLOW_UPDATE: ct_flow_update_of_items(&s->facts, step); return update_known(s, step);
    case FLOW_SNOC: ct_flow_join_items(&s->facts, step, s->depth); return false;
    case FLOW_BULK: return !ct_flow_join_items(&s->facts, step, s->depth) && appended_known(s, step);
    case FLOW_CALL:
    case FLOW_STRING:
    case FLOW_MAKE:
    case FLOW_SWITCH:
    case FLOW_LOOP:
    case FLOW_FAIL:
    case FLOW_ITEMS:
    case FLOW_LITERALS:
    case FLOW_PRODUCT:
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP:
    case FLOW_STOP:
    case FLOW_RETAIN:
    case FLOW_LINK:
    case FLOW_RELEASE: return false;
    }
    return false;
}

/* Whether a carried variable counts the iterations. */
static bool counts_iterations(const Simplify *s, const CtFlowStep *step, uint32_t index) {
    const CtFlowBlock *block = step->as.loop.block;
    const CtFlowStep *next = ct_flow_maker(&s->facts, &block->values.items[index], FLOW_PRIM);
    if (next == NULL || next->as.prim != PRIM_INT_ADD) return false;
    return next->args.items[0].var == block->params.items[1 + index] && ct_flow_is_int(&next->args.items[1], 1) &&
           ct_flow_is_int(&step->args.items[1 + index], 0) && check_size(s, step);
}

/* Carried variables: one that never changes is its initial value; one that counts iterations is the index. */
static void simplify_loop(Simplify *s, CtFlowStep *step) {
    CtFlowBlock *block = step->as.loop.block;
    bool yields = block->exit == EXIT_YIELD && !step->as.loop.initial;
    for (uint32_t i = 0; yields && i < step->as.loop.carried; i++) {
        const CtFlowVar *param = block->params.items[1 + i];
        CtFlowArg first = step->args.items[1 + i], last = first;
        if (counts_iterations(s, step, i) && CT_FIRED("simplify.counts_iterations"))
            first = flow_of(block->params.items[0]), last = step->args.items[0];
        else if (block->values.items[i].var != param && !ct_flow_same(&block->values.items[i], &first))
            continue;
        CT_FIRED("simplify.carried_unchanged");
        ct_flow_stands(&s->now, param, first);
        ct_flow_stands(&s->now, step->results.items[i], last);
    }
    uint32_t equals = s->facts.equals.count;
    ct_flow_assume_iteration(&s->facts, step);
    ct_flow_taken_step(&s->taken, step);
    visit(s, block);
    s->facts.equals.count = equals;
}

/* ---- blocks ---- */

static void end_block(CtFlowBlock *block, CtFlowExit exit, const CtFlowBlock *as) {
    block->exit = exit;
    block->values = as != NULL ? as->values : (CtFlowArgs){0};
    block->tail = as != NULL ? as->tail : NULL;
    if (as != NULL) block->range = as->range;
}

static bool walk(Simplify *s, CtFlowBlock *to, CtFlowBlock *from, const CtFlowVars *results);

/* Appends a step to `to`, or what there is instead. False when control does not come to its end. */
static bool walk_step(Simplify *s, CtFlowBlock *to, CtFlowStep *step) {
    ct_flow_rename(&s->now, &step->args);
    if (step->kind == FLOW_SWITCH) drop_impossible(step);
    if (step->kind == FLOW_SWITCH) ct_flow_choose_natural(&s->facts, step);
    if (step->kind == FLOW_SWITCH) choose_by_test(s, step);
    if (step->kind == FLOW_SWITCH && truth_known(s, step)) return true;
    int branch = step->kind == FLOW_SWITCH ? known_branch(s, step) : -1;
    if (branch < 0 && step->kind == FLOW_SWITCH) branch = needless_choice(s, step);
    if (branch < 0 && step->kind == FLOW_SWITCH) branch = ct_flow_case_for_all(&s->facts, &s->effects, step, s->depth);
    if (branch >= 0) {
        CtFlowBlock *taken = step->as.cases.branches[branch].block;
        ct_flow_facts_add(&s->facts, taken, s->depth);
        return walk(s, to, taken, &step->results);
    }
    if (step->kind == FLOW_CHECK_ZIP) zip_lengths(s, to, step);
    if (step->kind == FLOW_CHECK_SLICE) slice_length(s, to, step);
    CtFlowBuilder front = {.flow = s->flow, .arena = s->arena, .function = s->function, .block = to};
    ct_flow_transpose_items(&front, &s->facts, step, s->depth);
    append_rows(s, to, step);
    if (is_known(s, step) || (step->kind == FLOW_OPEN && open_behind(s, to, step))) return true;
    if (step->kind == FLOW_LOOP) simplify_loop(s, step);
    if (step->kind == FLOW_SWITCH) simplify_switch(s, step);
    uint32_t before = to->steps.count;
    ct_push(s->arena, &to->steps, step);
    CtFlowBuilder behind = {.flow = s->flow, .arena = s->arena, .function = s->function, .block = to};
    if (step->kind == FLOW_SWITCH) ct_flow_items_behind(&behind, &s->facts, step, s->depth);
    if (step->kind == FLOW_SWITCH) ct_flow_updates_behind(&behind, &s->facts, s->way, step);
    for (uint32_t i = before; i < to->steps.count; i++) ct_flow_taken_step(&s->taken, to->steps.items[i]);
    if (step->kind == FLOW_FAIL || (step->kind == FLOW_SWITCH && !goes_on(step))) {
        end_block(to, EXIT_NEVER, NULL);
        return false;
    }
    return true;
}

/* Appends the steps of `from` to `to`; `results` are replaced by what `from` yields. False when control does not come
 * to the end of `to`. */
static bool walk(Simplify *s, CtFlowBlock *to, CtFlowBlock *from, const CtFlowVars *results) {
    CtFlowWay way = {.block = from, .now = &s->now, .depth = s->depth, .outer = s->way};
    bool goes_on = true;
    s->way = &way;
    for (uint32_t i = 0; i < from->steps.count && goes_on; i++) {
        way.next = i + 1;
        goes_on = walk_step(s, to, from->steps.items[i]);
    }
    s->way = way.outer;
    if (!goes_on) return false;
    ct_flow_rename(&s->now, &from->values);
    if (from->exit != EXIT_YIELD || results == NULL) {
        end_block(to, from->exit, from);
        return false;
    }
    for (uint32_t i = 0; i < results->count; i++) ct_flow_stands(&s->now, results->items[i], from->values.items[i]);
    return true;
}

static void visit(Simplify *s, CtFlowBlock *block) {
    CtFlowBlock *from = CT_NEW(s->arena, CtFlowBlock);
    uint32_t equals = s->facts.equals.count, numbers = s->numbers.count;
    *from = *block;
    memset(&block->steps, 0, sizeof block->steps);
    s->depth++;
    walk(s, block, from, NULL);
    s->depth--;
    forget_numbers(s, numbers);
    s->facts.equals.count = equals;
}

void ct_flow_simplify(CtFlow *flow) {
    Simplify s = {.flow = flow, .arena = flow->arena, .effects = ct_flow_effects(flow)};
    const uint64_t *changed = ct_flow_changed_parameters(flow);
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        s.function = flow->functions.items[i];
        ct_flow_values_clear(&s.now, flow->arena);
        ct_flow_facts_begin(&s.facts, flow, s.function);
        ct_flow_taken_begin(&s.taken, &s.facts, changed);
        s.depth = UINT32_MAX; /* so that the blocks of the body have depth 0 */
        visit(&s, s.function->body);
    }
}
