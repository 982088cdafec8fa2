/* Steps of vectorised loops as C statements. Uniform steps are written as in other loops. */
#include "emit/vector/internal.h"

static Lane *lane_of(const Emit *e, const CtFlowArg *arg) { return &e->lanes[arg->var->id]; }

/* ---- operands ---- */

const char *ct_emit_vector_lane_arg(Emit *e, const CtFlowArg *arg, bool apart) {
    LaneKind kind = ct_emit_vector_kind(e, arg);
    if (kind == LANE_VALUE) return apart ? ct_emit_arg(e, arg) : ct_emit_operand(e, arg);
    if (kind == LANE_ITERATION && e->rest != NULL)
        return ct_format(e->arena, "ct_lanes_rest_iterations(%s, %s)", ct_emit_arg(e, arg), e->rest);
    if (kind == LANE_ITERATION) return ct_format(e->arena, "ct_lanes_iterations(%s)", ct_emit_arg(e, arg));
    return ct_format(e->arena, arg->type->kind == FLOW_I64 ? "ct_all_ints(%s)" : "ct_all(%s)", ct_emit_arg(e, arg));
}

const char *ct_emit_vector_as(Emit *e, const CtFlowVar *to, const CtFlowArg *arg) {
    bool differs = e->lanes != NULL && e->lanes[to->id].kind == LANE_VALUE;
    return differs ? ct_emit_vector_lane_arg(e, arg, true) : ct_emit_arg(e, arg);
}

const char *ct_emit_vector_type(const Emit *e, const CtFlowVar *var) {
    if (e->lanes == NULL || e->lanes[var->id].kind != LANE_VALUE) return ct_emit_type(var->type);
    return var->type->kind == FLOW_I64 ? "ct_lane_ints " : "ct_lanes ";
}

void ct_emit_vector_settle(Emit *e, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) {
        CtFlowVar *var = args->items[i].var;
        if (var == NULL || !e->uses[var->id].is_pending) continue;
        e->uses[var->id].is_pending = false;
        ct_emit_declare(e, var, e->uses[var->id].text);
    }
}

/* The length of an array's dimension, which is uniform. */
static const char *length_of(Emit *e, const CtFlowArg *array, uint32_t index) {
    const Lane *lane = array->var != NULL ? lane_of(e, array) : NULL;
    if (lane != NULL && lane->kind == LANE_ARRAY) return e->lanes[lane->root->id].length;
    if (lane != NULL && lane->kind == LANE_MATRIX) return index == 0 ? lane->count : lane->row;
    if (lane != NULL && lane->kind == LANE_ROW)
        return ct_format(e->arena, "%s->dims[%u]", ct_emit_arg(e, &lane->base), index + lane->indices.count);
    return ct_format(e->arena, "%s->dims[%u]", ct_emit_arg(e, array), index);
}

/* The length that a check uses: of an array, or given as a number. */
static const char *checked_length(Emit *e, const CtFlowArg *arg, uint32_t dimension) {
    return arg->type->kind == FLOW_ARRAY ? length_of(e, arg, dimension) : ct_emit_arg(e, arg);
}

/* The length of dimension `index`, by which the indices before it are multiplied. */
static const char *stride(Emit *e, const CtFlowArg *array, uint32_t index) {
    const Lane *lane = lane_of(e, array);
    const char *known = e->uses[(lane->kind == LANE_ACC ? lane->root : array->var)->id].lengths;
    return known != NULL ? ct_format(e->arena, "%s_n%u", known, index)
                         : ct_format(e->arena, "%s->dims[%u]", ct_emit_arg(e, array), index);
}

/* The row-major position of the indices from `from` on, possibly without the last. */
static const char *position(Emit *e, const CtFlowArg *array, const CtFlowArgs *indices, uint32_t from) {
    const char *at = ct_emit_operand(e, &indices->items[from]);
    for (uint32_t i = from + 1; i < indices->count; i++)
        at = ct_format(e->arena, i == from + 1 ? "%s * %s + %s" : "(%s) * %s + %s", at, stride(e, array, i),
                       ct_emit_operand(e, &indices->items[i]));
    return at;
}

const char *ct_emit_vector_place(Emit *e, const CtFlowArg *array, const CtFlowArgs *indices) {
    return position(e, array, indices, 0);
}

/* The position in each lane, for indices that differ. */
static const char *lane_position(Emit *e, const CtFlowArg *array, const CtFlowArgs *indices) {
    const char *at = ct_emit_vector_lane_arg(e, &indices->items[0], false);
    for (uint32_t i = 1; i < indices->count; i++)
        at = ct_format(e->arena, "(%s * %s + %s)", at, stride(e, array, i),
                       ct_emit_vector_lane_arg(e, &indices->items[i], false));
    return at;
}

/* Whether consecutive lanes access consecutive elements. */
static bool is_iteration_last(const Emit *e, const CtFlowArgs *indices) {
    CtFlowArgs others = {.items = indices->items, .count = indices->count - 1};
    return ct_emit_vector_kind(e, &indices->items[others.count]) == LANE_ITERATION &&
           !ct_emit_vector_any_differs(e, &others);
}

/* Whether consecutive lanes access elements beside each other, forward (1) or backward (−1), beside the iteration's
 * index. */
static int slope_of_last(const Emit *e, const CtFlowArgs *indices) {
    CtFlowArgs others = {.items = indices->items, .count = indices->count - 1};
    const CtFlowArg *last = &indices->items[others.count];
    bool varies = ct_emit_vector_kind(e, last) == LANE_VALUE && !ct_emit_vector_any_differs(e, &others);
    return varies ? e->lanes[last->var->id].slope : 0;
}

/* ---- steps ---- */

/* Indices as they are, or where native code is debugged, compared with what there is: one, one for each lane, and those
 * of CT_LANES elements side by side. */
static const char *below(Emit *e, const char *index, const char *length) {
    return ct_emit_below(e, index, "1", length);
}

static const char *each_below(Emit *e, const char *indices, const char *length) {
    return e->debug ? ct_format(e->arena, "CT_EACH_BELOW(%s, %s)", indices, length) : indices;
}

static const char *each_of_array(Emit *e, const char *indices, const char *array) {
    return each_below(e, indices, ct_format(e->arena, "ct_words(%s)", array));
}

const char *ct_emit_vector_lanes_of(Emit *e, const char *first, const char *array) {
    return ct_emit_below(e, first, e->rest != NULL ? e->rest : "CT_LANES", ct_format(e->arena, "ct_words(%s)", array));
}

void ct_emit_vector_leave_if(Emit *e, const char *condition) {
    ct_emit_line(e, "if (CT_UNLIKELY(%s)) goto %s;", condition, e->leave);
    e->leaves = true;
}

void ct_emit_vector_give_back(Emit *e, Lane *lane) {
    lane->is_taken = false;
    if (lane->packed != NULL) ct_emit_line(e, "ct_lanes_give(rt, %s, %s);", lane->packed, lane->length);
}

void ct_emit_vector_leave(Emit *e) {
    for (uint32_t i = 0; i < e->function->vars; i++)
        if (e->lanes[i].is_taken) ct_emit_line(e, "ct_lanes_give(rt, %s, %s);", e->lanes[i].packed, e->lanes[i].length);
    ct_emit_line(e, "goto %s;", e->leave);
    e->leaves = true;
}

/* As ct_emit_vector_leave_if, for conditions that are not failures, and that an enclosing loop may meet many times. */
static void leave_with_nothing(Emit *e, const char *condition) {
    bool any = false;
    for (uint32_t i = 0; i < e->function->vars; i++) any |= e->lanes[i].is_taken;
    if (!any && CT_FIRED("vector_steps.leave_with_nothing_taken")) {
        ct_emit_vector_leave_if(e, condition);
        return;
    }
    CT_FIRED("vector_steps.leave_and_give_back");
    ct_emit_line(e, "if (CT_UNLIKELY(%s)) {", condition);
    e->depth++;
    ct_emit_vector_leave(e);
    e->depth--;
    ct_emit_line(e, "}");
}

/* Allocates an array in each lane. */
static void begin_array(Emit *e, CtFlowVar *var, const char *count) {
    Lane *lane = &e->lanes[var->id];
    if (var->name == NULL) var->name = "xs";
    const char *name = ct_emit_name(e, var);
    lane->length = count;
    if (lane->place != NULL) {
        ct_emit_line(e, "ct_lanes *%s = %s;", name, lane->place);
        ct_emit_alias(e, var, name);
        return;
    }
    lane->packed = ct_format(e->arena, "%s_memory", name);
    lane->is_taken = true;
    ct_emit_line(e, "ct_word *%s;", lane->packed);
    ct_emit_line(e, "ct_lanes *%s = ct_lanes_take(rt, %s, &%s);", name, count, lane->packed);
    ct_emit_alias(e, var, name);
}

/* Allocates the matrix in each lane whose rows an inner loop makes. */
static void begin_matrix(Emit *e, const CtFlowStep *loop, uint32_t result, const char *count) {
    const CtFlowArg *value = &loop->as.loop.block->values.items[result];
    const CtFlowStep *maker = ct_emit_vector_row_maker(e, loop->as.loop.block, value);
    CtFlowVar *var = loop->results.items[result];
    Lane *lane = &e->lanes[var->id];
    if (var->name == NULL) var->name = "xs";
    const char *name = ct_emit_name(e, var);
    lane->count = count;
    lane->row = ct_format(e->arena, "%s_row", name);
    lane->length = ct_format(e->arena, "%s * %s", count, lane->row);
    lane->packed = ct_format(e->arena, "%s_memory", name);
    ct_emit_line(e, "const int64_t %s = %s;", lane->row, ct_emit_arg(e, &maker->args.items[0]));
    ct_emit_line(e, "ct_word *%s;", lane->packed);
    ct_emit_line(e, "ct_lanes *%s = ct_lanes_take_rows(rt, %s, %s, &%s);", name, count, lane->row, lane->packed);
    ct_emit_alias(e, var, name);
    e->lanes[lane_of(e, value)->root->id].place =
        ct_format(e->arena, "%s + %s * %s", name, ct_emit_name(e, loop->as.loop.block->params.items[0]), lane->row);
}

/* Copies an array that is the same in all lanes into each lane; takes it. */
static const char *spread(Emit *e, CtFlowVar *var, const CtFlowArg *array) {
    const char *same = ct_emit_arg(e, array), *n = ct_format(e->arena, "n%u", ++e->temporaries);
    ct_emit_line(e, "const int64_t %s = %s->dims[0];", n, same);
    begin_array(e, var, n);
    ct_emit_line(e, "ct_lanes_spread(%s, %s);", ct_emit_name(e, var), same);
    ct_emit_line(e, "ct_drop(rt, %s);", same);
    return ct_emit_name(e, var);
}

/* Gathers arrays held by reference into the lanes. */
static void read_references(Emit *e, const CtFlowStep *step) {
    const char *from = ct_format(
        e->arena, "%s + %s", ct_emit_data(e, &step->args.items[0]),
        ct_emit_vector_lanes_of(e, ct_emit_arg(e, &step->args.items[1]), ct_emit_arg(e, &step->args.items[0])));
    const char *n = ct_format(e->arena, "n%u", ++e->temporaries);
    ct_emit_line(e, "const int64_t %s = ct_lanes_length(%s);", n, from);
    const char *reads = ct_emit_vector_reads_of(e, e->lanes[step->results.items[0]->id].reads),
               *wrong = ct_format(e->arena, "%s < 0", n);
    if (reads != NULL && CT_FIRED("vector_steps.enough_of_references"))
        wrong = ct_format(e->arena, "%s || !ct_row_pays(%s, %s)", wrong, n, reads);
    leave_with_nothing(e, wrong);
    begin_array(e, step->results.items[0], n);
    ct_emit_line(e, "ct_lanes_arrays(%s, %s, %s);", ct_emit_name(e, step->results.items[0]), from, n);
}

/* Gathers rows of a matrix into the lanes. */
static void read_rows(Emit *e, const CtFlowStep *step) {
    const CtFlowArg *matrix = &step->args.items[0];
    const char *n = ct_format(e->arena, "n%u", ++e->temporaries);
    ct_emit_line(e, "const int64_t %s = %s->dims[1];", n, ct_emit_arg(e, matrix));
    begin_array(e, step->results.items[0], n);
    ct_emit_line(e, "ct_lanes_gather_rows(%s, %s, %s, %s);", ct_emit_name(e, step->results.items[0]),
                 ct_emit_data(e, matrix),
                 each_below(e, ct_emit_vector_lane_arg(e, &step->args.items[1], true),
                            ct_format(e->arena, "%s->dims[0]", ct_emit_arg(e, matrix))),
                 n);
}

static bool write_prim(Emit *e, const CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    if (e->lanes[result->id].kind == LANE_MORE) return true;
    if (e->lanes[result->id].kind != LANE_VALUE) return false;
    e->reading = false;
    const char *value = ct_emit_vector_value(step->as.prim);
    const char *text = ct_emit_substitute(e, value, &step->args, ct_emit_vector_lane_arg);
    ct_emit_bind(e, result, text, value[strlen(value) - 1] == ')', e->reading);
    return true;
}

/* Whether an element is in the iteration's own row of an array with packed rows, at the same place in each row. */
static bool is_in_own_row(const Emit *e, const CtFlowArgs *indices) {
    for (uint32_t i = 1; i < indices->count; i++)
        if (ct_emit_vector_kind(e, &indices->items[i]) != LANE_SAME) return false;
    return ct_emit_vector_kind(e, &indices->items[0]) == LANE_ITERATION;
}

static bool write_read(Emit *e, const CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    CtFlowArg array;
    CtFlowArgs indices = {0};
    if (e->lanes[result->id].kind == LANE_ROW || e->lanes[result->id].kind == LANE_OLD) {
        ct_emit_vector_settle(e, &step->args);
        return true;
    }
    if (e->lanes[result->id].kind == LANE_ARRAY) {
        if (step->args.items[0].type->rank > 1)
            read_rows(e, step);
        else
            read_references(e, step);
        return true;
    }
    if (ct_flow_is_object(result->type)) return false;
    if (e->uses[result->id].count == 0) return true;
    if (ct_emit_vector_kind(e, &step->args.items[0]) == LANE_ARRAY) {
        const char *name = ct_emit_arg(e, &step->args.items[0]);
        const char *length = length_of(e, &step->args.items[0], 0);
        const CtFlowArg *at = &step->args.items[1];
        const char *item = ct_emit_vector_kind(e, at) == LANE_SAME && CT_FIRED("vector_steps.read_same_place")
                               ? ct_format(e->arena, "%s[%s]", name, below(e, ct_emit_arg(e, at), length))
                               : ct_format(e->arena, "ct_lanes_pick(%s, %s)", name,
                                           each_below(e, ct_emit_vector_lane_arg(e, at, true), length));
        if (result->type->kind == FLOW_I64) item = ct_format(e->arena, "((ct_lane_ints)%s)", item);
        ct_emit_bind(e, result, item, true, true);
        return true;
    }
    if (ct_emit_vector_kind(e, &step->args.items[0]) == LANE_MATRIX) {
        CT_FIRED("vector_steps.read_matrix");
        const Lane *matrix = lane_of(e, &step->args.items[0]);
        const char *at = ct_format(e->arena, "%s * %s + %s", ct_emit_operand(e, &step->args.items[1]), matrix->row,
                                   ct_emit_operand(e, &step->args.items[2]));
        const char *item =
            ct_format(e->arena, "%s[%s]", ct_emit_arg(e, &step->args.items[0]), below(e, at, matrix->length));
        ct_emit_bind(e, result, item, true, true);
        return true;
    }
    ct_emit_vector_position(e, step, &array, &indices);
    const char *data = ct_emit_data(e, &array), *text, *ints = result->type->kind == FLOW_I64 ? "_ints" : "";
    if (e->lanes[result->id].kind == LANE_SAME)
        text = ct_emit_item(e, &array, ct_emit_vector_place(e, &array, &indices));
    else if (lane_of(e, &array)->is_packed && is_in_own_row(e, &indices) && CT_FIRED("vector_steps.read_packed"))
        text = ct_format(e->arena, "%s[%s]", lane_of(e, &array)->packed,
                         below(e, position(e, &array, &indices, 1), lane_of(e, &array)->length));
    else if (is_iteration_last(e, &indices) && e->rest != NULL && CT_FIRED("vector_steps.load_rest"))
        text = ct_format(e->arena, "ct_lanes_load_rest%s(%s + %s, %s)", ints, data,
                         ct_emit_vector_lanes_of(e, ct_emit_vector_place(e, &array, &indices), ct_emit_arg(e, &array)),
                         e->rest);
    else if (is_iteration_last(e, &indices) && CT_FIRED("vector_steps.load"))
        text = ct_format(e->arena, "ct_lanes_load%s(%s + %s)", ints, data,
                         ct_emit_vector_lanes_of(e, ct_emit_vector_place(e, &array, &indices), ct_emit_arg(e, &array)));
    else if (slope_of_last(e, &indices) == 1 && e->rest != NULL && CT_FIRED("vector_steps.load_rest_beside"))
        text = ct_format(e->arena, "ct_lanes_load_rest%s(%s + %s, %s)", ints, data,
                         ct_emit_vector_lanes_of(e, ct_format(e->arena, "(%s)[0]", lane_position(e, &array, &indices)),
                                                 ct_emit_arg(e, &array)),
                         e->rest);
    else if (slope_of_last(e, &indices) != 0 && e->rest == NULL && CT_FIRED("vector_steps.load_beside")) {
        bool back = slope_of_last(e, &indices) < 0;
        const char *place = lane_position(e, &array, &indices), *which = back ? "CT_LANES - 1" : "0";
        text = ct_format(
            e->arena, "ct_lanes_load%s%s(%s + %s)", back ? "_back" : "", ints, data,
            ct_emit_vector_lanes_of(e, ct_format(e->arena, "(%s)[%s]", place, which), ct_emit_arg(e, &array)));
    } else {
        CT_FIRED("vector_steps.gather");
        text = ct_format(e->arena, "ct_lanes_gather%s(%s, %s)", ints, data,
                         each_of_array(e, lane_position(e, &array, &indices), ct_emit_arg(e, &array)));
    }
    ct_emit_bind(e, result, text, true, true);
    return true;
}

static void write_replicate(Emit *e, const CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    const char *n = ct_format(e->arena, "n%u", ++e->temporaries);
    ct_emit_line(e, "const int64_t %s = %s;", n, ct_emit_arg(e, &step->args.items[0]));
    begin_array(e, result, n);
    ct_emit_line(e, "ct_lanes_fill(%s, %s, %s);", ct_emit_name(e, result), n,
                 ct_emit_vector_lane_arg(e, &step->args.items[1], true));
}

/* Copies one of the arrays that are appended to the place in the result. */
static void write_part(Emit *e, const CtFlowArg *part, const char *to, const char *length) {
    LaneKind kind = ct_emit_vector_kind(e, part);
    if (kind == LANE_SAME) {
        const Use *use = &e->uses[part->var->id];
        bool has_pointer = use->own != NULL || use->data != NULL; /* to numbers */
        ct_emit_line(e, "ct_lanes_repeat(%s, %s%s%s, %s);", to, has_pointer ? "" : "&", ct_emit_data(e, part),
                     has_pointer ? "" : "->f", length);
        return;
    }
    const char *from = kind == LANE_ROW ? lane_of(e, &lane_of(e, part)->base)->packed : ct_emit_arg(e, part);
    ct_emit_line(e, "ct_lanes_copy(%s, %s, %s);", to, from, length);
}

static void write_append(Emit *e, const CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    const CtFlowArg *first = &step->args.items[0], *second = &step->args.items[1];
    const char *n = ct_format(e->arena, "n%u", ++e->temporaries), *begins = length_of(e, first, 0);
    ct_emit_line(e, "const int64_t %s = %s + %s;", n, begins, length_of(e, second, 0));
    begin_array(e, result, n);
    const char *name = ct_emit_name(e, result);
    write_part(e, first, name, begins);
    write_part(e, second, ct_format(e->arena, "%s + %s", name, begins), length_of(e, second, 0));
}

static bool write_bulk(Emit *e, const CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    const CtFlowArg *array = &step->args.items[0];
    if (e->lanes[result->id].kind == LANE_ARRAY && step->as.bulk == ARRAY_APPEND) {
        write_append(e, step);
        return true;
    }
    if (e->lanes[result->id].kind == LANE_ARRAY) {
        write_replicate(e, step);
        return true;
    }
    if (e->lanes[result->id].kind != LANE_VALUE) return false;
    bool packed = ct_emit_vector_kind(e, array) == LANE_ROW;
    const char *name = packed ? lane_of(e, &lane_of(e, array)->base)->packed : ct_emit_arg(e, array);
    const char *length = length_of(e, array, 0), *what = ct_core_array_info(step->as.bulk)->name;
    bool largest = step->as.bulk == ARRAY_MAXIMUM || step->as.bulk == ARRAY_ARGMAX;
    bool at = step->as.bulk == ARRAY_ARGMAX || step->as.bulk == ARRAY_ARGMIN;
    bool adds = step->as.bulk == ARRAY_SUM || step->as.bulk == ARRAY_PRODUCT;
    const char *text = adds ? ct_format(e->arena, "ct_lanes_%s(%s, %s)", what, name, length)
                            : ct_format(e->arena, "ct_lanes_extreme%s(rt, %s, \"%s\", %s, %s, %s)", at ? "_at" : "",
                                        ct_emit_site(e, step->range), what, name, length, largest ? "true" : "false");
    if (e->uses[result->id].count > 0)
        ct_emit_declare(e, result, text);
    else if (!adds)
        ct_emit_line(e, "(void)%s;", text);
    return true;
}

enum { ITEMS_ON_STACK = 64 }; /* of which each is a vector */

static bool write_items(Emit *e, const CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    Lane *lane = &e->lanes[result->id];
    if (lane->kind == LANE_ROWS) return true;
    if (lane->kind != LANE_ARRAY) return false;
    if (step->args.count > ITEMS_ON_STACK && CT_FIRED("vector_steps.many_items")) {
        begin_array(e, result, ct_format(e->arena, "%u", step->args.count));
        for (uint32_t i = 0; i < step->args.count; i++)
            ct_emit_line(e, "%s[%u] = %s;", ct_emit_name(e, result), i,
                         ct_emit_vector_lane_arg(e, &step->args.items[i], true));
        return true;
    }
    CtText items = ct_text(e->arena);
    for (uint32_t i = 0; i < step->args.count; i++)
        ct_text_printf(&items, "%s%s", i > 0 ? ", " : "", ct_emit_vector_lane_arg(e, &step->args.items[i], true));
    if (result->name == NULL) result->name = "xs";
    ct_emit_line(e, "ct_lanes %s[] = {%s};", ct_emit_name(e, result), items.data);
    ct_emit_alias(e, result, ct_emit_name(e, result));
    lane->length = ct_format(e->arena, "%u", step->args.count);
    return true;
}

/* The terms that are added to an element, from left to right. */
static const char *terms_of(Emit *e, const Lane *more) {
    const char *term = ct_emit_vector_lane_arg(e, &more->term, more->sum == NULL);
    return more->sum == NULL ? term : ct_format(e->arena, "%s + %s", terms_of(e, more->sum), term);
}

/* acc[⟨i⟩] += term. If the indices are uniform, each lane adds to its own copy until the loop has ended. */
static void add_term(Emit *e, const CtFlowStep *step) {
    const CtFlowArg *acc = &step->args.items[0];
    const Lane *root = &e->lanes[lane_of(e, acc)->root->id], *added = &e->lanes[step->results.items[0]->id];
    const char *term = terms_of(e, lane_of(e, &step->args.items[step->args.count - 1]));
    const char *name = ct_emit_arg(e, acc);
    if (e->rest != NULL) term = ct_format(e->arena, "ct_lanes_of_rest(%s, %s)", term, e->rest);
    CtFlowArgs indices = {.items = step->args.items + 1, .count = step->args.count - 2};
    CtFlowArgs inner = {.items = indices.items + 1, .count = indices.count - 1};
    if (added->terms != NULL && CT_FIRED("vector_steps.strip_term")) {
        ct_emit_line(e, "ct_lanes_fold(&%s[iteration], %s);", added->terms, term);
    } else if (!ct_emit_vector_any_differs(e, &indices) && root->may_be_narrow &&
               CT_FIRED("vector_steps.add_wide_or_narrow")) {
        ct_emit_line(e, "ct_lanes_add(%s, %s, %s, %s);", root->packed, root->data,
                     ct_emit_index(e, ct_emit_vector_place(e, acc, &indices), name), term);
    } else if (!ct_emit_vector_any_differs(e, &indices) && CT_FIRED("vector_steps.add_wide")) {
        ct_emit_line(e, "%s[%s] += %s;", root->packed, ct_emit_index(e, ct_emit_vector_place(e, acc, &indices), name),
                     term);
    } else if (is_iteration_last(e, &indices) && CT_FIRED("vector_steps.add_row")) {
        const char *at = ct_emit_vector_lanes_of(e, ct_emit_vector_place(e, acc, &indices), name);
        if (e->rest != NULL && CT_FIRED("vector_steps.add_rest"))
            ct_emit_line(e, "ct_lanes_add_rest(%s + %s, %s, %s);", root->data, at, term, e->rest);
        else
            ct_emit_line(e, "ct_lanes_add_row(%s + %s, %s);", root->data, at, term);
    } else if (e->rest == NULL && ct_emit_vector_kind(e, &indices.items[0]) == LANE_ITERATION &&
               !ct_emit_vector_any_differs(e, &inner) && CT_FIRED("vector_steps.add_column")) {
        const char *rows = ct_format(e->arena, "(CT_LANES - 1) * ct_row_words(%s) + 1", name),
                   *at = ct_emit_below(e, ct_emit_vector_place(e, acc, &indices), rows,
                                       ct_format(e->arena, "ct_words(%s)", name));
        ct_emit_line(e, "ct_lanes_add_column(%s + %s, ct_row_words(%s), %s);", root->data, at, name, term);
    } else {
        CT_FIRED("vector_steps.add_scattered");
        ct_emit_line(e, "ct_lanes_add_at(%s, %s, %s);", root->data,
                     each_of_array(e, lane_position(e, acc, &indices), name), term);
    }
}

static bool write_update(Emit *e, const CtFlowStep *step) {
    const CtFlowArg *array = &step->args.items[0];
    LaneKind kind = ct_emit_vector_kind(e, array);
    if (e->lanes[step->results.items[0]->id].kind == LANE_SAME) return false;
    ct_emit_flush(e, true);
    const char *name = ct_emit_arg(e, array);
    if (kind == LANE_SAME) name = spread(e, step->results.items[0], array);
    const CtFlowArg *at = &step->args.items[1];
    if (kind == LANE_ACC) {
        add_term(e, step);
    } else {
        const char *value = ct_emit_vector_lane_arg(e, &step->args.items[2], true),
                   *length = e->lanes[e->lanes[step->results.items[0]->id].root->id].length;
        if (ct_emit_vector_kind(e, at) == LANE_SAME)
            ct_emit_line(e, "%s[%s] = %s;", name, below(e, ct_emit_arg(e, at), length), value);
        else if (CT_FIRED("vector_steps.put_scattered"))
            ct_emit_line(e, "ct_lanes_put(%s, %s, %s);", name,
                         each_below(e, ct_emit_vector_lane_arg(e, at, true), length), value);
    }
    ct_emit_alias(e, step->results.items[0], name);
    return true;
}

/* ---- checks ---- */

static bool write_check(Emit *e, const CtFlowStep *step) {
    const CtFlowArg *index = &step->args.items[0];
    const char *length = checked_length(e, &step->args.items[1], step->as.index);
    switch (ct_emit_vector_kind(e, index)) {
    case LANE_VALUE:
        CT_FIRED("vector_steps.check_each");
        ct_emit_vector_leave_if(e, ct_format(e->arena, "ct_lanes_leave(%s, %s)", ct_emit_arg(e, index), length));
        return true;
    case LANE_ITERATION:
        CT_FIRED("vector_steps.check_iteration");
        ct_emit_vector_leave_if(e, ct_format(e->arena, "%s + CT_LANES > %s", ct_emit_arg(e, index), length));
        return true;
    case LANE_SAME:
    case LANE_ROW:
    case LANE_ROWS:
    case LANE_ARRAY:
    case LANE_MATRIX:
    case LANE_ACC:
    case LANE_OLD:
    case LANE_MORE:
        ct_emit_line(e, "ct_check_index(rt, %s, %s, %s);", ct_emit_site(e, step->range), ct_emit_arg(e, index), length);
    }
    return true;
}

static bool write_release(Emit *e, const CtFlowStep *step) {
    const CtFlowArg *object = &step->args.items[0];
    LaneKind kind = ct_emit_vector_kind(e, object);
    if (kind != LANE_ROW && kind != LANE_ARRAY && kind != LANE_MATRIX) return false;
    ct_emit_flush(e, true);
    if (kind == LANE_ROW) return true;
    ct_emit_vector_give_back(e, &e->lanes[lane_of(e, object)->root->id]);
    return true;
}

/* ---- switches: all branches that go on, then what is chosen ---- */

/* The mask of lanes that take a branch. */
static const char *taken_by(Emit *e, const CtFlowStep *step, const char *on, uint32_t branch) {
    const CtFlowBranch *branches = step->as.cases.branches;
    const char *mask = e->taken != NULL ? ct_format(e->arena, "%s & ", e->taken) : "";
    if (branch + 1 < step->as.cases.count) return ct_format(e->arena, "%s(%s == %u)", mask, on, branches[branch].tag);
    for (uint32_t i = 0; i < branch; i++)
        mask = ct_format(e->arena, "%s(%s != %u)%s", mask, on, branches[i].tag, i + 1 < branch ? " & " : "");
    return mask;
}

/* Leaves the vectorised loop if some lane takes a failing branch. Other branches are collected in `yields`; returns
 * their number. */
static uint32_t leave_branches(Emit *e, const CtFlowStep *step, const char *on, uint32_t *yields) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        if (step->as.cases.branches[i].block->exit == EXIT_YIELD)
            yields[count++] = i;
        else
            ct_emit_vector_leave_if(e, ct_format(e->arena, "ct_any((ct_lane_ints)(%s))", taken_by(e, step, on, i)));
    }
    return count;
}

static void branch_values(Emit *e, const CtFlowStep *step, uint32_t branch, const char *taken, const char **values) {
    const CtFlowBlock *block = step->as.cases.branches[branch].block, *around = e->block;
    const char *taken_around = e->taken;
    e->taken = taken;
    ct_emit_block(e, block, NULL);
    e->block = block;
    for (uint32_t i = 0; i < step->results.count; i++)
        values[i] = ct_emit_vector_lane_arg(e, &block->values.items[i], true);
    ct_emit_flush(e, false);
    e->block = around;
    e->taken = taken_around;
}

static bool write_switch(Emit *e, const CtFlowStep *step) {
    if (ct_emit_vector_kind(e, &step->args.items[0]) == LANE_SAME) return false;
    uint32_t results = step->results.count, *yields = CT_NEW_ARRAY(e->arena, uint32_t, step->as.cases.count + 1);
    const char *on = ct_emit_vector_lane_arg(e, &step->args.items[0], false);
    ct_emit_flush(e, false);
    uint32_t count = leave_branches(e, step, on, yields);
    const char **values = CT_NEW_ARRAY(e->arena, const char *, count *results + 1);
    for (uint32_t i = 0; i < count; i++) {
        /* The only branch left is taken by all. */
        const char *taken = count > 1 ? taken_by(e, step, on, yields[i]) : e->taken;
        branch_values(e, step, yields[i], taken, values + i * results);
    }
    for (uint32_t j = 0; j < results; j++) {
        CtFlowVar *result = step->results.items[j];
        if (result == NULL || e->uses[result->id].count == 0) continue;
        const char *text = values[(count - 1) * results + j],
                   *choose = result->type->kind == FLOW_I64 ? "ct_choose_ints" : "ct_choose";
        for (uint32_t i = count - 1; i-- > 0;)
            text = ct_format(e->arena, "%s((ct_lane_ints)(%s == %u), %s, %s)", choose, on,
                             step->as.cases.branches[yields[i]].tag, values[i * results + j], text);
        ct_emit_declare(e, result, text);
    }
    return true;
}

/* ---- inner loops ---- */

static void assign_carried(Emit *e, const CtFlowStep *step, const char *const *names) {
    const CtFlowBlock *block = step->as.loop.block;
    uint32_t carried = step->as.loop.carried;
    const char **texts = CT_NEW_ARRAY(e->arena, const char *, carried + 1);
    for (uint32_t i = 0; i < carried; i++) {
        bool in_place = e->lanes[block->params.items[1 + i]->id].root != NULL;
        texts[i] = in_place ? names[i] : ct_emit_vector_as(e, block->params.items[1 + i], &block->values.items[i]);
    }
    for (uint32_t i = 0; carried > 1 && i < carried; i++) {
        if (strcmp(names[i], texts[i]) == 0) continue;
        const char *next = ct_format(e->arena, "next%u", ++e->temporaries);
        ct_emit_line(e, "const %s%s = %s;", ct_emit_vector_type(e, block->params.items[1 + i]), next, texts[i]);
        texts[i] = next;
    }
    for (uint32_t i = 0; i < carried; i++)
        if (strcmp(names[i], texts[i]) != 0) ct_emit_line(e, "%s = %s;", names[i], texts[i]);
}

static const char *begin_carried(Emit *e, CtFlowVar *param, const CtFlowArg *start) {
    if (param->name == NULL) param->name = "acc";
    const CtFlowVar *root = e->lanes[param->id].root;
    if (root == param) {
        spread(e, param, start);
    } else if (root != NULL) {
        ct_emit_alias(e, param, ct_emit_arg(e, start));
    } else {
        ct_emit_declare(e, param, ct_emit_vector_as(e, param, start));
    }
    return e->uses[param->id].text;
}

static bool differs(const Emit *e, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count; i++)
        if (e->lanes[step->results.items[i]->id].kind != LANE_SAME) return true;
    return false;
}

static bool is_matrix(const Emit *e, const CtFlowVar *var) { return e->lanes[var->id].kind == LANE_MATRIX; }

/* A value as it is stored in lanes: Ints by their bits. */
static const char *as_reals(Emit *e, const CtFlowArg *value) {
    const char *text = ct_emit_vector_lane_arg(e, value, true);
    return value->type->kind == FLOW_I64 ? ct_format(e->arena, "(ct_lanes)(%s)", text) : text;
}

void ct_emit_vector_iteration(Emit *e, const CtFlowStep *loop, const char *const *names) {
    const CtFlowBlock *block = loop->as.loop.block, *around = e->block;
    e->depth++;
    ct_emit_block(e, block, NULL);
    e->block = block;
    for (uint32_t i = loop->as.loop.carried; i < loop->results.count; i++)
        if (!is_matrix(e, loop->results.items[i]))
            ct_emit_line(e, "%s[%s] = %s;", ct_emit_name(e, loop->results.items[i]),
                         below(e, ct_emit_name(e, block->params.items[0]), e->lanes[loop->results.items[i]->id].length),
                         as_reals(e, &block->values.items[i]));
    assign_carried(e, loop, names);
    e->block = around;
    e->pending.count = 0;
    e->depth--;
}

static bool write_loop(Emit *e, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    if (!differs(e, step)) return false;
    uint32_t carried = step->as.loop.carried;
    const char *count = ct_emit_operand(e, &step->args.items[0]), *index = ct_emit_name(e, block->params.items[0]);
    ct_emit_flush(e, false);
    const char *n = ct_format(e->arena, "n%u", ++e->temporaries);
    ct_emit_line(e, "const int64_t %s = %s;", n, count);
    const char **names = CT_NEW_ARRAY(e->arena, const char *, carried + 1);
    for (uint32_t i = 0; i < carried; i++) {
        CtFlowVar *param = block->params.items[1 + i], *result = step->results.items[i];
        names[i] = begin_carried(e, param, &step->args.items[1 + i]);
        if (result != NULL) ct_emit_alias(e, result, names[i]);
    }
    for (uint32_t i = carried; i < step->results.count; i++)
        if (is_matrix(e, step->results.items[i]))
            begin_matrix(e, step, i, n);
        else
            begin_array(e, step->results.items[i], n);
    ct_emit_alias(e, block->params.items[0], index);
    const char *from = ct_emit_vector_strips(e, step, n, names);
    ct_emit_line(e, "for (int64_t %s = %s; %s < %s; %s++) {", index, from, index, n, index);
    ct_emit_vector_iteration(e, step, names);
    ct_emit_line(e, "}");
    return true;
}

bool ct_emit_vector_step(Emit *e, CtFlowStep *step) {
    if (ct_emit_vector_skipped(e, step)) return true;
    switch (step->kind) {
    case FLOW_PRIM: return write_prim(e, step);
    case FLOW_READ: return write_read(e, step);
    case FLOW_BULK: return write_bulk(e, step);
    case FLOW_ITEMS: return write_items(e, step);
    case FLOW_UPDATE: return write_update(e, step);
    case FLOW_LOOP: return ct_emit_vector_apart(e, step) || write_loop(e, step);
    case FLOW_SWITCH: return write_switch(e, step);
    case FLOW_CHECK: return write_check(e, step);
    case FLOW_RELEASE: return write_release(e, step);
    case FLOW_DIM:
        ct_emit_bind(e, step->results.items[0], length_of(e, &step->args.items[0], step->as.index), true, true);
        return true;
    case FLOW_CHECK_ZIP:
        ct_emit_line(e, "ct_check_zip(rt, %s, %s, %s);", ct_emit_site(e, step->range),
                     checked_length(e, &step->args.items[0], 0), checked_length(e, &step->args.items[1], 0));
        return true;
    case FLOW_CALL:
    case FLOW_CONSTANT:
    case FLOW_STRING:
    case FLOW_MAKE:
    case FLOW_OPEN:
    case FLOW_FAIL:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_SHAPE:
    case FLOW_CHECK_SLICE:
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP:
    case FLOW_STOP:
    case FLOW_SNOC:
    case FLOW_PRODUCT:
    case FLOW_LITERALS:
    case FLOW_LINK:
    case FLOW_RETAIN: return false;
    }
    return false;
}
