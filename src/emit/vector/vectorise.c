/* Decides which loops are vectorised: as many iterations at a time as the processor has lanes (rt/simd.h), provided
 * that everything the body does with varying values has a vector form.
 *
 * Most are loops that contain loops, because the C compiler vectorises straight-line bodies itself. Uniform values
 * stay scalars: numbers, arrays from outside, trip counts of inner loops. Varying values are numbers, rows at
 * the iteration's own index (which are packed), and arrays of numbers made in the body. Carried variables may be
 * sums, or what the iteration before has computed. If an iteration in a vector fails, the loop goes on as a scalar loop
 * from the first iteration of that vector, so that the first failure in program order is reported. */
#include "flow/analysis/analysis.h"
#include "emit/vector/internal.h"

enum { MOST_NESTED = 6 }; /* loops inside of a vectorised one, each in the one before it */

typedef struct Scan {
    Emit *e;
    const CtFlowBlock *body;
    /* Inside a branch on a varying value, which is computed for lanes that do not take it too. */
    bool in_branch;
    bool has_loop, has_arrays; /* a vectorised inner loop; arrays in lanes */
    bool computes;             /* reals of what varies */
    bool calls;                /* functions of libmvec */
    bool along, across; /* it reads elements beside each other in memory; elements of rows, each lane of another one */
    uint32_t inner;     /* loops inside of the vectorised one, around the present step */
    bool adds,
        /* Adds: it adds to an accumulator. leaves: it may leave for the scalar loop, which is not possible behind
         * such an addition. */
        leaves;
} Scan;

/* The VECTOR column of primitives.def. */
static const char *const forms[] = {
#define CT_PRIM(id, name, signature, value, vector, ...) #vector,
#include "prim/primitives.def"
#undef CT_PRIM
};

const char *ct_emit_vector_value(CtPrim prim) { return strcmp(forms[prim], "NONE") == 0 ? NULL : forms[prim]; }

/* ---- what differs ---- */

static Lane *lane(const Scan *s, const CtFlowVar *var) { return &s->e->lanes[var->id]; }

LaneKind ct_emit_vector_kind(const Emit *e, const CtFlowArg *arg) {
    return e->lanes == NULL || arg->var == NULL ? LANE_SAME : e->lanes[arg->var->id].kind;
}

static bool same(const Scan *s, const CtFlowArg *arg) { return ct_emit_vector_kind(s->e, arg) == LANE_SAME; }

static bool all_same(const Scan *s, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (!same(s, &args->items[i])) return false;
    return true;
}

/* Whether a value is a number that varies between lanes, or the loop's index. */
static bool is_number(const Scan *s, const CtFlowArg *arg) {
    LaneKind kind = ct_emit_vector_kind(s->e, arg);
    return kind == LANE_VALUE || kind == LANE_ITERATION || (kind == LANE_SAME && !ct_flow_is_object(arg->type));
}

static bool is_outside(const Scan *s, const CtFlowArg *arg) {
    return arg->var != NULL && s->e->uses[arg->var->id].text != NULL && same(s, arg);
}

const CtFlowStep *ct_emit_vector_row_maker(const Emit *e, const CtFlowBlock *block, const CtFlowArg *value) {
    if (ct_emit_vector_kind(e, value) != LANE_ARRAY) return NULL;
    const CtFlowVar *row = e->lanes[value->var->id].root;
    const CtFlowStep *step = ct_flow_binder(block, row);
    if (step == NULL || step->kind != FLOW_LOOP) return NULL;
    for (uint32_t j = 0; j < step->as.loop.carried; j++)
        if (step->results.items[j] == row) return NULL;
    return step;
}

static bool is_plain(const CtFlowType *type) { return type->kind == FLOW_F64 || type->kind == FLOW_I64; }

/* Whether a type is an array of numbers, which can be held in lanes. */
static bool is_vector(const CtFlowType *type) {
    return type->kind == FLOW_ARRAY && type->rank == 1 && type->element->kind == FLOW_F64;
}

/* Whether an inner loop may make such an array in each lane: Ints are only read there. */
static bool is_lane_array(const CtFlowType *type) {
    return is_vector(type) || (type->kind == FLOW_ARRAY && type->rank == 1 && type->element->kind == FLOW_I64);
}

/* ---- steps ---- */

static bool fits(Scan *s, const CtFlowBlock *block);

/* The first variable of an array that is updated in place. */
static const CtFlowVar *root_of(const Scan *s, const CtFlowArg *arg) {
    return arg->var != NULL ? lane(s, arg->var)->root : NULL;
}

static bool leave(Scan *s) {
    s->leaves = true;
    return !s->adds;
}

/* acc[⟨i⟩] + term, or more terms */
static bool fits_more(Scan *s, const CtFlowStep *step, uint32_t old) {
    const CtFlowArg *term = &step->args.items[1 - old];
    if (step->as.prim != PRIM_ADD || !is_number(s, term)) return false;
    if (s->e->uses[step->args.items[old].var->id].count != 1) return false;
    const Lane *to = lane(s, step->args.items[old].var);
    *lane(s, step->results.items[0]) =
        (Lane){.kind = LANE_MORE, .read = to->read, .term = *term, .sum = to->kind == LANE_MORE ? to : NULL};
    return CT_FIRED("vectorise.more");
}

/* By how much a sum or difference grows from lane to lane. */
static int slope_of(const Scan *s, const CtFlowStep *step) {
    int slopes[2];
    bool back = step->as.prim == PRIM_INT_SUB;
    if (!back && step->as.prim != PRIM_INT_ADD) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowArg *arg = &step->args.items[i];
        slopes[i] = same(s, arg) ? 0 : ct_emit_vector_kind(s->e, arg) == LANE_ITERATION ? 1 : lane(s, arg->var)->slope;
        if (slopes[i] == 0 && !same(s, arg)) return 0;
    }
    int slope = back ? slopes[0] - slopes[1] : slopes[0] + slopes[1];
    return slope == 1 || slope == -1 ? slope : 0;
}

/* Whether the call of a vector function takes about as long as one of the calls in the lanes that it stands for. */
static bool has_vector_function(CtPrim prim) {
    const CtPrimInfo *info = ct_prim_info(prim);
    return info->work >= 10 && !info->is_exact && prim != PRIM_LGAMMA && prim != PRIM_DIGAMMA && prim != PRIM_POLYGAMMA;
}

/* Whether an argument is an element of an accumulator, or what has been added to it. */
static bool is_sum(const Scan *s, const CtFlowArg *arg) {
    LaneKind kind = ct_emit_vector_kind(s->e, arg);
    return kind == LANE_OLD || kind == LANE_MORE;
}

static bool fits_prim(Scan *s, const CtFlowStep *step) {
    if (ct_flow_is_message(step)) return false;
    for (uint32_t i = 0; i < step->args.count; i++)
        if (is_sum(s, &step->args.items[i])) return fits_more(s, step, i);
    if (all_same(s, &step->args)) return !s->in_branch || !ct_flow_step_fails(step);
    CtFlowVar *result = step->results.items[0];
    for (uint32_t i = 0; i < step->args.count; i++)
        if (!is_number(s, &step->args.items[i]) || !is_plain(step->args.items[i].type)) return false;
    if (ct_emit_vector_value(step->as.prim) == NULL || ct_flow_step_fails(step) || !is_plain(result->type))
        return false;
    lane(s, result)->kind = LANE_VALUE;
    lane(s, result)->slope = slope_of(s, step);
    s->computes |= result->type->kind != FLOW_I64;
    s->calls |= has_vector_function(step->as.prim);
    return true;
}

/* The array and all indices of a read, if necessary through a row of the array. */
void ct_emit_vector_position(const Emit *e, const CtFlowStep *step, CtFlowArg *array, CtFlowArgs *indices) {
    *array = step->args.items[0];
    if (ct_emit_vector_kind(e, array) == LANE_ROW) {
        const Lane *row = &e->lanes[array->var->id];
        for (uint32_t i = 0; i < row->indices.count; i++) ct_push(e->arena, indices, row->indices.items[i]);
        *array = row->base;
    }
    for (uint32_t i = 1; i < step->args.count; i++) ct_push(e->arena, indices, step->args.items[i]);
}

static bool fits_read(Scan *s, const CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    CtFlowArg array;
    CtFlowArgs indices = {0};
    if (s->in_branch) return false;
    if (ct_emit_vector_kind(s->e, &step->args.items[0]) == LANE_ARRAY) {
        lane(s, result)->kind = LANE_VALUE;
        return is_number(s, &step->args.items[1]);
    }
    if (ct_emit_vector_kind(s->e, &step->args.items[0]) == LANE_MATRIX) {
        lane(s, result)->kind = LANE_VALUE;
        return step->args.count == 3 && same(s, &step->args.items[1]) && same(s, &step->args.items[2]);
    }
    if (ct_emit_vector_kind(s->e, &step->args.items[0]) == LANE_ACC) {
        for (uint32_t i = 1; i < step->args.count; i++)
            if (!is_number(s, &step->args.items[i])) return false;
        *lane(s, result) = (Lane){.kind = LANE_OLD, .read = step};
        return step->args.count == step->args.items[0].type->rank + 1;
    }
    if (ct_emit_vector_kind(s->e, &step->args.items[1]) == LANE_ITERATION && step->args.count == 2 &&
        is_outside(s, &step->args.items[0]) &&
        is_vector(step->args.items[0].type->element)) { /* an array of arrays by reference */
        *lane(s, result) = (Lane){.kind = LANE_ARRAY, .root = result, .base = step->args.items[0]};
        return CT_FIRED("vectorise.references") && leave(s);
    }
    ct_emit_vector_position(s->e, step, &array, &indices);
    if (!same(s, &array) || ct_flow_is_object(array.type->element)) return false;
    uint32_t differ = 0;
    for (uint32_t i = 0; i < indices.count; i++) {
        if (!is_number(s, &indices.items[i])) return false;
        differ += !same(s, &indices.items[i]);
    }
    if (ct_flow_is_object(result->type)) {
        if (differ == 0 && indices.count == step->args.count - 1) return true;
        bool iteration = differ <= 1 && (differ == 0 || ct_emit_vector_kind(s->e, &indices.items[0]) == LANE_ITERATION);
        if (!is_outside(s, &array)) return false;
        if (differ == 1 && !iteration && indices.count == 1 && is_vector(result->type)) {
            *lane(s, result) = (Lane){.kind = LANE_ARRAY, .root = result};
            s->has_arrays = CT_FIRED("vectorise.gathered_row");
            return true;
        }
        if (iteration) CT_FIRED("vectorise.row");
        *lane(s, result) = (Lane){.kind = LANE_ROW, .base = array, .indices = indices};
        return iteration;
    }
    if (differ == 0) return true;
    if (!is_plain(result->type)) return false;
    bool apart = same(s, &indices.items[indices.count - 1]);
    s->across |= apart;
    s->along |= !apart;
    bool row = differ == 1 && ct_emit_vector_kind(s->e, &indices.items[0]) == LANE_ITERATION && is_outside(s, &array);
    if (row && indices.count > 1) { /* a row of Ints that an inner loop reads is better read along that loop */
        if (result->type->kind == FLOW_F64)
            lane(s, array.var)->is_packed = CT_FIRED("vectorise.packed_row");
        else if (s->inner > 0 || !CT_FIRED("vectorise.row_of_ints"))
            return false;
    }
    lane(s, result)->kind = LANE_VALUE;
    return true;
}

/* A replicated number is made in each lane, since it will be updated there. */
static bool fits_replicate(Scan *s, const CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    if (!is_vector(result->type) || !same(s, &step->args.items[0]) || !is_number(s, &step->args.items[1])) return false;
    *lane(s, result) = (Lane){.kind = LANE_ARRAY, .root = result};
    s->has_arrays = CT_FIRED("vectorise.replicate");
    return true;
}

/* Two arrays behind each other: rows at the iteration's own index, arrays in lanes, uniform arrays. */
static bool fits_append(Scan *s, const CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    if (!is_vector(result->type)) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowArg *arg = &step->args.items[i];
        LaneKind kind = ct_emit_vector_kind(s->e, arg);
        bool row = kind == LANE_ROW && lane(s, arg->var)->indices.count == 1;
        if (!row && kind != LANE_ARRAY && kind != LANE_SAME) return false;
        if (row) lane(s, lane(s, arg->var)->base.var)->is_packed = true;
    }
    *lane(s, result) = (Lane){.kind = LANE_ARRAY, .root = result};
    s->has_arrays = CT_FIRED("vectorise.append");
    return true;
}

static bool fits_bulk(Scan *s, const CtFlowStep *step) {
    if (s->in_branch) return false;
    if (step->as.bulk == ARRAY_REPLICATE && fits_replicate(s, step)) return true;
    if (all_same(s, &step->args)) return true;
    if (step->as.bulk == ARRAY_APPEND) return fits_append(s, step);
    const CtFlowArg *array = &step->args.items[0];
    CtArrayOp op = step->as.bulk;
    bool packed = ct_emit_vector_kind(s->e, array) == LANE_ROW && lane(s, array->var)->indices.count == 1;
    if (!is_vector(array->type) || (!packed && ct_emit_vector_kind(s->e, array) != LANE_ARRAY)) return false;
    if (packed) lane(s, lane(s, array->var)->base.var)->is_packed = CT_FIRED("vectorise.reduction_of_row");
    lane(s, step->results.items[0])->kind = LANE_VALUE;
    return op == ARRAY_SUM || op == ARRAY_PRODUCT || op == ARRAY_MAXIMUM || op == ARRAY_MINIMUM || op == ARRAY_ARGMAX ||
           op == ARRAY_ARGMIN;
}

/* Every element is held in lanes, even if it is uniform. */
static bool fits_items(Scan *s, const CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    if (s->in_branch) return false;
    if (all_same(s, &step->args)) return true;
    bool rows = result->type->rank == 2 && result->type->element->kind == FLOW_F64;
    for (uint32_t i = 0; i < step->args.count; i++)
        if (rows ? ct_emit_vector_kind(s->e, &step->args.items[i]) != LANE_ARRAY : !is_number(s, &step->args.items[i]))
            return false;
    if (!rows && !is_vector(result->type)) return false;
    *lane(s, result) = rows ? (Lane){.kind = LANE_ROWS, .read = step} : (Lane){.kind = LANE_ARRAY, .root = result};
    s->has_arrays = CT_FIRED("vectorise.items");
    if (rows) CT_FIRED("vectorise.items_of_rows");
    return true;
}

bool ct_emit_vector_any_differs(const Emit *e, const CtFlowArgs *indices) {
    for (uint32_t i = 0; i < indices->count; i++)
        if (ct_emit_vector_kind(e, &indices->items[i]) != LANE_SAME) return true;
    return false;
}

/* Whether the element that was read is the one that is written. */
static bool is_same_place(const CtFlowStep *read, const CtFlowStep *update) {
    for (uint32_t i = 0; i < read->args.count; i++) {
        const CtFlowArg *a = &read->args.items[i], *b = &update->args.items[i];
        if (a->var != b->var || (a->var == NULL && a->lit.integer != b->lit.integer)) return false;
    }
    return read->args.count + 1 == update->args.count;
}

bool ct_emit_vector_adds(const Emit *e, const CtFlowStep *step) {
    return step->kind == FLOW_UPDATE && ct_emit_vector_kind(e, &step->args.items[0]) == LANE_ACC;
}

/* An update of an array in lanes, or of an accumulator by an added term. */
static bool fits_update(Scan *s, const CtFlowStep *step) {
    const CtFlowArg *array = &step->args.items[0], *value = &step->args.items[step->args.count - 1];
    CtFlowVar *result = step->results.items[0];
    if (s->in_branch) return false;
    if (all_same(s, &step->args)) return true;
    LaneKind kind = ct_emit_vector_kind(s->e, array);
    *lane(s, result) = (Lane){.kind = kind, .root = root_of(s, array)};
    if (kind == LANE_SAME && is_vector(array->type)) { /* from here on there is one in each lane */
        kind = LANE_ARRAY;
        CT_FIRED("vectorise.array_of_each_lane");
        *lane(s, result) = (Lane){.kind = kind, .root = result};
    }
    if (kind == LANE_ARRAY) return is_vector(array->type) && is_number(s, value) && is_number(s, &step->args.items[1]);
    if (kind != LANE_ACC || ct_emit_vector_kind(s->e, value) != LANE_MORE || s->e->uses[value->var->id].count != 1)
        return false;
    s->adds = s->has_loop = true;
    bool differs = false;
    for (uint32_t i = 1; i + 1 < step->args.count; i++) differs |= !same(s, &step->args.items[i]);
    Lane *root = &s->e->lanes[lane(s, result)->root->id];
    if (!differs) root->is_wide = CT_FIRED("vectorise.wide_accumulator");
    root->adds_in_loop |= !differs && s->inner > 0;
    root->added += !differs && s->inner == 0;
    return is_same_place(lane(s, value->var)->read, step);
}

/* Gives the results of a block the kinds of its values; true if a kind has changed. */
static bool give_kinds(Scan *s, const CtFlowBlock *block, uint32_t from, uint32_t to, const CtFlowVars *results,
                       uint32_t offset) {
    bool changed = false;
    for (uint32_t i = from; i < to; i++) {
        if (same(s, &block->values.items[i]) || results->items[i + offset] == NULL) continue;
        if (ct_flow_is_object(block->values.items[i].type)) continue;
        Lane *result = lane(s, results->items[i + offset]);
        changed |= result->kind == LANE_SAME;
        result->kind = LANE_VALUE;
    }
    return changed;
}

/* Kinds of the initial values of a loop. A uniform array that the loop updates gets a copy in each lane. */
static bool begins(Scan *s, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    for (uint32_t i = 0; i < step->as.loop.carried; i++) {
        const CtFlowArg *start = &step->args.items[1 + i];
        CtFlowVar *param = block->params.items[1 + i];
        LaneKind kind = ct_emit_vector_kind(s->e, start);
        if (kind == LANE_ARRAY && !is_vector(param->type)) return false;
        if (kind == LANE_ACC || kind == LANE_ARRAY)
            *lane(s, param) = (Lane){.kind = kind, .root = root_of(s, start)};
        else if (is_vector(param->type) && kind == LANE_SAME && CT_FIRED("vectorise.array_carried"))
            *lane(s, param) = (Lane){.kind = LANE_ARRAY, .root = param};
        else if (ct_flow_is_object(param->type) || !is_number(s, start))
            return false;
        else if (kind != LANE_SAME)
            lane(s, param)->kind = LANE_VALUE;
    }
    return true;
}

/* Whether a loop is uniform. */
static bool stays_same(Scan *s, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    bool around = s->has_loop;
    s->has_loop = false;
    bool stays = all_same(s, &step->args) && fits(s, block) && all_same(s, &block->values) && !s->has_loop;
    s->has_loop |= around;
    return stays;
}

/* Whether a value consists of rows that an inner loop makes, of a length that is known outside all loops. */
static bool makes_rows(Scan *s, const CtFlowBlock *block, const CtFlowArg *value, CtFlowVar *matrix) {
    const CtFlowStep *maker = ct_emit_vector_row_maker(s->e, block, value);
    if (maker == NULL || matrix->type->rank != 2 || matrix->type->element->kind != FLOW_F64) return false;
    const CtFlowArg *count = &maker->args.items[0];
    if (count->var != NULL && !is_outside(s, count)) return false;
    *lane(s, matrix) = (Lane){.kind = LANE_MATRIX, .root = matrix};
    return CT_FIRED("vectorise.matrix");
}

static bool ends(Scan *s, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    uint32_t carried = step->as.loop.carried;
    for (uint32_t i = 0; i < carried; i++) {
        CtFlowVar *param = block->params.items[1 + i], *result = step->results.items[i];
        const Lane *of_param = lane(s, param);
        if (of_param->kind == LANE_SAME) continue;
        if (ct_flow_is_object(param->type)) {
            if (root_of(s, &block->values.items[i]) != of_param->root) return false;
            *lane(s, result) = (Lane){.kind = of_param->kind, .root = of_param->root};
        } else {
            if (!is_number(s, &block->values.items[i]) || !is_plain(param->type)) return false;
            lane(s, result)->kind = LANE_VALUE;
        }
    }
    for (uint32_t i = carried; i < step->results.count; i++) {
        CtFlowVar *result = step->results.items[i];
        if (makes_rows(s, block, &block->values.items[i], result)) continue;
        if (!is_lane_array(result->type) || !is_number(s, &block->values.items[i])) return false;
        if (!is_vector(result->type)) CT_FIRED("vectorise.array_of_ints");
        *lane(s, result) = (Lane){.kind = LANE_ARRAY, .root = result};
    }
    return true;
}

static bool fits_inner_loop(Scan *s, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    bool left = s->leaves;
    if (s->in_branch || step->as.loop.initial || block->exit != EXIT_YIELD || !same(s, &step->args.items[0]))
        return false;
    if (stays_same(s, step)) return true;
    if (!begins(s, step)) return false;
    s->leaves = false;
    do
        if (!fits(s, block)) return false;
    while (give_kinds(s, block, 0, step->as.loop.carried, &block->params, 1));
    if (s->adds && s->leaves) return false;
    s->leaves |= left;
    s->has_loop = true;
    ct_emit_vector_mark_narrow(s->e, step);
    return ends(s, step);
}

/* A loop is walked several times, and those in it each time: deep nests are vectorised further inside. */
static bool fits_loop(Scan *s, const CtFlowStep *step) {
    s->inner++;
    bool fits_here = s->inner <= MOST_NESTED && fits_inner_loop(s, step);
    s->inner--;
    return fits_here;
}

/* Number of branches whose end is reachable. */
static uint32_t go_on(const CtFlowStep *step) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < step->as.cases.count; i++) count += step->as.cases.branches[i].block->exit != EXIT_NEVER;
    return count;
}

/* A branch, and what it gives. */
static bool fits_branch(Scan *s, const CtFlowStep *step, const CtFlowBlock *block, bool differs) {
    if (block->exit != EXIT_YIELD || !fits(s, block)) return false;
    for (uint32_t j = 0; j < step->results.count; j++) {
        const CtFlowArg *value = &block->values.items[j];
        CtFlowVar *result = step->results.items[j];
        if (same(s, value) && !differs) continue;
        if (!is_number(s, value) || !is_plain(value->type)) return false;
        if (result != NULL) lane(s, result)->kind = LANE_VALUE;
    }
    return true;
}

static bool has_loops(const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        if (block->steps.items[i]->kind == FLOW_LOOP) return true;
        for (uint32_t j = 0; j < ct_flow_inner_count(block->steps.items[i]); j++)
            if (has_loops(ct_flow_inner(block->steps.items[i], j))) return true;
    }
    return false;
}

/* What each variable is in a loop, of which nothing is known yet. */
static Lane *new_lanes(Emit *e) {
    if (e->spare_lanes.count == 0 || !CT_FIRED("vectorise.memory_again"))
        return CT_NEW_ARRAY(e->arena, Lane, e->function->vars + 1);
    Lane *lanes = e->spare_lanes.items[--e->spare_lanes.count];
    memset(lanes, 0, (e->function->vars + 1) * sizeof *lanes);
    return lanes;
}

void ct_emit_vector_forget_lanes(Emit *e, Lane *lanes) { ct_push(e->arena, &e->spare_lanes, lanes); }

/* The same, of a branch that all lanes take or none, beside another one. If it does not fit, the vectorised loop is
 * left where it is taken, as for arrays that are not equally long. */
static bool fits_or_is_left(Scan *s, const CtFlowStep *step, const CtFlowBlock *block, uint32_t *fitting) {
    Emit *e = s->e;
    Scan before = *s;
    Lane *lanes = new_lanes(e);
    memcpy(lanes, e->lanes, e->function->vars * sizeof *lanes);
    bool fits_here = fits_branch(s, step, block, false);
    ct_map_set(e->arena, &e->left, ct_key(block), fits_here ? NULL : e);
    *fitting += fits_here;
    if (!fits_here) {
        *s = before;
        memcpy(e->lanes, lanes, e->function->vars * sizeof *lanes);
    }
    ct_emit_vector_forget_lanes(e, lanes);
    if (fits_here) return true;
    return leave(s) && CT_FIRED("vectorise.left_branch");
}

static bool fits_switch(Scan *s, const CtFlowStep *step) {
    bool differs = !same(s, &step->args.items[0]), around = s->in_branch;
    uint32_t fitting = 0;
    if (differs && !is_number(s, &step->args.items[0])) return false;
    s->in_branch |= differs && go_on(step) > 1 && CT_FIRED("vectorise.choice");
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit == EXIT_NEVER) { /* the vectorised loop is left there */
            if ((around && !differs) || !leave(s)) return false;
            CT_FIRED("vectorise.failing_branch");
            continue;
        }
        if (!differs && !around && go_on(step) > 1 && block->exit == EXIT_YIELD && has_loops(block)) {
            if (!fits_or_is_left(s, step, block, &fitting)) return false;
            continue;
        }
        ct_map_set(s->e->arena, &s->e->left, ct_key(block), NULL);
        if (!fits_branch(s, step, block, differs)) return false;
        fitting++;
    }
    s->in_branch = around;
    return fitting > 0;
}

/* Whether an argument has, or is, a uniform length. */
static bool has_length(const Scan *s, const CtFlowArg *arg) {
    LaneKind kind = ct_emit_vector_kind(s->e, arg);
    return kind == LANE_SAME || kind == LANE_ROW || kind == LANE_ARRAY || kind == LANE_MATRIX || kind == LANE_ACC;
}

static bool fits_check(Scan *s, const CtFlowStep *step) {
    const CtFlowArgs *args = &step->args;
    if (s->in_branch) return false;
    if (step->kind == FLOW_CHECK && !same(s, &args->items[0]) && !leave(s)) return false;
    if (step->kind == FLOW_CHECK) {
        const CtFlowArg *of = &args->items[1];
        bool first_of_array = step->as.index == 0 && has_length(s, of);
        return is_number(s, &args->items[0]) && (first_of_array || same(s, of));
    }
    if (step->kind == FLOW_CHECK_ZIP) return has_length(s, &args->items[0]) && has_length(s, &args->items[1]);
    return all_same(s, args);
}

/* All branches on a varying value are executed in turn, so an object must not be released in several of them. */
static bool fits_release(const Scan *s, const CtFlowStep *step) {
    LaneKind kind = ct_emit_vector_kind(s->e, &step->args.items[0]);
    if (kind == LANE_ROW) return true; /* it was not materialised */
    return !s->in_branch && (kind == LANE_SAME || kind == LANE_ARRAY || kind == LANE_MATRIX);
}

static bool fits_step(Scan *s, const CtFlowStep *step) {
    switch (step->kind) {
    case FLOW_PRIM: return fits_prim(s, step);
    case FLOW_READ: return fits_read(s, step);
    case FLOW_BULK: return fits_bulk(s, step);
    case FLOW_ITEMS: return fits_items(s, step);
    case FLOW_UPDATE: return fits_update(s, step);
    case FLOW_LOOP: return fits_loop(s, step);
    case FLOW_SWITCH: return fits_switch(s, step);
    case FLOW_CHECK:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE:
    case FLOW_CHECK_SLICE: return fits_check(s, step);
    case FLOW_DIM: return has_length(s, &step->args.items[0]);
    case FLOW_RELEASE: return fits_release(s, step);
    case FLOW_RETAIN:
    case FLOW_LITERALS: return !s->in_branch && all_same(s, &step->args);
    case FLOW_CALL:
    case FLOW_CONSTANT:
    case FLOW_STRING:
    case FLOW_MAKE:
    case FLOW_OPEN:
    case FLOW_FAIL:
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP:
    case FLOW_STOP:
    case FLOW_SNOC:
    case FLOW_LINK:
    case FLOW_PRODUCT: return false;
    }
    return false;
}

static bool fits(Scan *s, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (!fits_step(s, block->steps.items[i])) return false;
    return true;
}

/* ---- what is carried ---- */

static const CtFlowStep *addition(const CtFlowBlock *block, const CtFlowVar *var) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_PRIM && step->results.items[0] == var)
            return step->as.prim == PRIM_ADD && var->type->kind == FLOW_F64 ? step : NULL;
    }
    return NULL;
}

/* carried' = carried + a + b + …: finds the terms, from left to right; the partial sums must not be used otherwise. */
static bool find_terms(Emit *e, const CtFlowBlock *block, const CtFlowVar *param, const CtFlowArg *value,
                       LaneSum *sum) {
    if (value->var == NULL || e->uses[value->var->id].count != 1) return false;
    if (value->var == param) return true;
    const CtFlowStep *step = addition(block, value->var);
    if (step == NULL) return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (!find_terms(e, block, param, &step->args.items[i], sum)) continue;
        ct_push(e->arena, &sum->terms, step->args.items[1 - i]);
        ct_push(e->arena, &e->skipped, step);
        return CT_FIRED("vectorise.sum");
    }
    return false;
}

/* Finds a sum that inner loops go on with: each lane has a sum of its own, which the body computes as it is written. */
static bool find_running(Emit *e, const CtFlowBlock *block, CtFlowVar *param, const CtFlowArg *value, LaneSum *sum) {
    if (e->exact || param->type->kind != FLOW_F64 || !ct_emit_is_folded(e, block, param, value->var, PRIM_ADD, true))
        return false;
    e->lanes[param->id].kind = LANE_VALUE;
    sum->terms.count = 0;
    sum->running = value;
    return CT_FIRED("vectorise.running_sum");
}

bool ct_emit_vector_skipped(const Emit *e, const CtFlowStep *step) {
    for (uint32_t i = 0; i < e->skipped.count; i++)
        if (e->skipped.items[i] == step) return true;
    return false;
}

static bool find_sums(Emit *e, const CtFlowStep *step, LaneSum *sums) {
    const CtFlowBlock *block = step->as.loop.block;
    for (uint32_t i = 0; i < step->as.loop.carried; i++) {
        CtFlowVar *param = block->params.items[1 + i];
        if (param->type->kind == FLOW_ARRAY && param->type->element->kind == FLOW_F64 && !e->exact) {
            e->lanes[param->id] = (Lane){.kind = LANE_ACC, .root = param};
            CT_FIRED("vectorise.accumulator");
            continue;
        }
        const CtFlowArg *value = &block->values.items[i];
        bool is_sum = find_terms(e, block, param, value, &sums[i]) && sums[i].terms.count > 0;
        if (!is_sum && !find_running(e, block, param, value, &sums[i]) && !ct_emit_vector_delays(e, step, i, &sums[i]))
            return false;
    }
    return true;
}

/* ---- the loop ---- */

static bool fits_results(Scan *s, const CtFlowStep *step) {
    const CtFlowBlock *block = s->body;
    for (uint32_t i = step->as.loop.carried; i < step->results.count; i++) {
        const CtFlowType *type = step->results.items[i]->type;
        const CtFlowArg *value = &block->values.items[i];
        bool number = type->rank == 1 && is_plain(type->element) && is_number(s, value);
        bool reference = type->rank == 1 && ct_flow_is_object(type->element);
        bool row =
            (type->rank == 2 || reference) && ct_emit_vector_kind(s->e, value) == LANE_ARRAY && is_vector(value->type);
        bool rows = type->rank == 3 && ct_emit_vector_kind(s->e, value) == LANE_ROWS;
        if (!number && !row && !rows) return false;
        /* It leaves where rows differ in length. */
        if (s->adds && type->rank > 1 && ct_flow_step_fails(step)) return false;
    }
    return true;
}

/* Sums: the C compiler keeps their order, so it vectorises neither them nor what is computed beside them. */
static bool has_sums(const Emit *e, const CtFlowStep *step) {
    return step->as.loop.carried > 0 && (!e->exact || step->results.count > step->as.loop.carried);
}

static bool can_mask(const Scan *s, const CtFlowStep *step);

static bool can_mask_block(const Scan *s, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (!can_mask(s, block->steps.items[i])) return false;
    return true;
}

/* Whether a step may run in a lane that has no iteration. */
static bool can_mask(const Scan *s, const CtFlowStep *step) {
    if (step->kind == FLOW_PRIM || step->kind == FLOW_DIM || ct_emit_vector_adds(s->e, step)) return true;
    if (step->kind == FLOW_SWITCH) {
        for (uint32_t i = 0; i < step->as.cases.count; i++)
            if (!can_mask_block(s, step->as.cases.branches[i].block)) return false;
        return true;
    }
    if (step->kind != FLOW_READ || ct_flow_is_object(step->results.items[0]->type)) return false;
    const CtFlowArg *array = &step->args.items[0];
    return lane(s, step->results.items[0])->kind == LANE_OLD || (same(s, array) && !lane(s, array->var)->is_packed);
}

/* Whether each lane has a copy of an accumulator's elements: with few iterations all of these are scalar instead. */
static bool is_wide_only(const Emit *e, const CtFlowVar *param) {
    const Lane *lane = &e->lanes[param->id];
    return lane->kind == LANE_ACC && lane->is_wide && !lane->may_be_narrow;
}

/* Whether lanes that have no iteration may compute what the last one that has one does, to no effect: the body only
 * reads, computes numbers, and adds to accumulators. So the remainder is a vector, too, which is worth its code if the
 * body calls functions. */
static bool can_mask_rest(const Scan *s, const CtFlowStep *loop, const LaneSum *sums) {
    if (s->e->exact || !s->calls || !can_mask_block(s, s->body)) return false;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++)
        if (sums[i].delayed != NULL || is_wide_only(s->e, s->body->params.items[1 + i])) return false;
    for (uint32_t i = loop->as.loop.carried; i < loop->results.count; i++)
        if (loop->results.items[i]->type->rank != 1) return false;
    return true;
}

/* Finds how much of each row is read. Rows of which a few elements are read are not packed. */
static void weigh_rows(Scan *s) {
    for (uint32_t i = 0; i < s->e->function->vars; i++) {
        Lane *rows = &s->e->lanes[i];
        bool is_put = rows->kind == LANE_ARRAY && rows->root->id == i && rows->base.var != NULL;
        if (!rows->is_packed && !is_put) continue;
        rows->reads = ct_emit_vector_row_reads(s->e, s->body, i);
        if (rows->is_packed && ct_emit_vector_reads_few(rows->reads))
            rows->is_packed = !CT_FIRED("vectorise.few_of_row");
    }
}

bool ct_emit_vector_fit(Emit *e, const CtFlowStep *step, LaneSum *sums) {
    const CtFlowBlock *block = step->as.loop.block;
    if (e->lanes != NULL || e->one_by_one || step->as.loop.initial || block->exit != EXIT_YIELD) return false;
    if (ct_emit_vector_is_elementwise(e, step) && CT_FIRED("vectorise.elementwise")) return false;
    if (ct_flow_is_pieced(step)) return false; /* it is written in parts: pieces.c */
    Scan scan = {.e = e, .body = block};
    e->skipped.count = 0;
    e->lanes = new_lanes(e);
    lane(&scan, block->params.items[0])->kind = LANE_ITERATION;
    bool fit = find_sums(e, step, sums) && fits(&scan, block);
    if (fit) weigh_rows(&scan);
    e->masks_rest = fit && can_mask_rest(&scan, step, sums);
    fit = fit && (scan.has_loop || scan.has_arrays || has_sums(e, step) || ct_emit_streams(e, step) || e->masks_rest) &&
          fits_results(&scan, step);
    for (uint32_t i = 0; fit && i < step->as.loop.carried; i++) {
        CtFlowVar *param = block->params.items[1 + i];
        if (ct_flow_is_object(param->type)) fit = root_of(&scan, &block->values.items[i]) == param;
        for (uint32_t j = 0; j < sums[i].terms.count; j++) fit &= is_number(&scan, &sums[i].terms.items[j]);
        if (sums[i].delayed != NULL) fit &= lane(&scan, sums[i].delayed)->kind == LANE_VALUE;
    }
    /* Rows that are only copied are better copied along themselves. */
    if (fit && scan.across && !scan.along && !scan.computes && step->as.loop.carried == 0)
        fit = !CT_FIRED("vectorise.copies_rows");
    if (fit) return CT_FIRED("vectorise.loop");
    ct_emit_vector_forget_lanes(e, e->lanes);
    e->lanes = NULL;
    return false;
}
