/* Array steps in C: elements, whole-array operations, checks. */
#include "emit/internal.h"

static const char *pointers(const CtFlowType *array) { return ct_flow_is_object(array->element) ? "true" : "false"; }

/* ---- elements ---- */

const char *ct_emit_index(Emit *e, const char *index, const char *array) {
    return e->debug ? ct_format(e->arena, "CT_IN(%s, %s)", index, array) : index;
}

const char *ct_emit_below(Emit *e, const char *index, const char *count, const char *length) {
    return e->debug ? ct_format(e->arena, "CT_FROM(%s, %s, %s)", index, count, length) : index;
}

const char *ct_emit_data(Emit *e, const CtFlowArg *array) {
    const Use *use = array->var != NULL ? &e->uses[array->var->id] : NULL;
    const char *data = use == NULL ? NULL : use->own != NULL ? use->own : use->data;
    return data != NULL ? data : ct_format(e->arena, "%s->data", ct_emit_arg(e, array));
}

const char *ct_emit_pointer_type(const CtFlowType *array) {
    char letter = ct_emit_letter(array->element);
    return letter == 'f' ? "double" : letter == 'i' ? "int64_t" : "ct_word";
}

const char *ct_emit_item(Emit *e, const CtFlowArg *array, const char *index) {
    const Use *use = array->var != NULL ? &e->uses[array->var->id] : NULL;
    bool is_number = use != NULL && (use->own != NULL || use->data != NULL) && !ct_flow_is_object(array->type->element);
    if (array->var != NULL) index = ct_emit_index(e, index, ct_emit_arg(e, array));
    return ct_format(e->arena, is_number ? "%s[%s]" : "%s[%s].%c", ct_emit_data(e, array), index,
                     ct_emit_letter(array->type->element));
}

void ct_emit_lengths(Emit *e, const CtFlowVar *array, const char *text, const char *name) {
    for (uint32_t i = 1; i < array->type->rank; i++)
        ct_emit_line(e, "const int64_t %s_n%u = ct_length(%s, %u);", name, i, text, i);
    e->uses[array->id].lengths = name;
}

/* The position of an element: i, or for several indices (i * n + j) * m + k. */
static const char *position(Emit *e, const CtFlowStep *step, uint32_t indices, const char *array) {
    const CtFlowVar *var = step->args.items[0].var;
    const char *at = ct_emit_operand(e, &step->args.items[1]), *known = var != NULL ? e->uses[var->id].lengths : NULL;
    for (uint32_t i = 2; i <= indices; i++) {
        const char *length = known != NULL ? ct_format(e->arena, "%s_n%u", known, i - 1)
                                           : ct_format(e->arena, "%s->dims[%u]", array, i - 1);
        at = ct_format(e->arena, i == 2 ? "%s * %s + %s" : "(%s) * %s + %s", at, length,
                       ct_emit_operand(e, &step->args.items[i]));
    }
    return at;
}

static void emit_read(Emit *e, const CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    const CtFlowType *array = step->args.items[0].type;
    uint32_t indices = step->args.count - 1;
    if (e->uses[result->id].count == 0) return;
    const char *name = ct_emit_arg(e, &step->args.items[0]);
    if (indices < array->rank) {
        ct_emit_declare(e, result,
                        ct_format(e->arena, "ct_row(rt, %s, %s)", name, ct_emit_arg(e, &step->args.items[1])));
        for (uint32_t i = 2; i <= indices; i++) {
            const char *row = ct_emit_name(e, result), *outer = ct_format(e->arena, "row%u", ++e->temporaries);
            ct_emit_line(e, "ct_array *%s = %s;", outer, row);
            ct_emit_line(e, "%s = ct_row(rt, %s, %s);", row, outer, ct_emit_arg(e, &step->args.items[i]));
            ct_emit_line(e, "ct_drop(rt, %s);", outer);
        }
        const char *row = ct_emit_name(e, result);
        if (step->as.copied) ct_emit_line(e, "%s = ct_copy(rt, %s, 0);", row, row);
        return;
    }
    const char *item = ct_emit_item(e, &step->args.items[0], position(e, step, indices, name));
    if (!ct_flow_is_object(result->type)) {
        ct_emit_bind(e, result, item, true, true);
        return;
    }
    const char *value = ct_format(e->arena, "(%s)%s", ct_emit_type(result->type), item);
    if (e->uses[result->id].copied) {
        ct_emit_declare(e, result, ct_format(e->arena, "(%s)ct_lend_object(rt, %s)", ct_emit_type(result->type), item));
        return;
    }
    if (e->uses[step->args.items[0].var->id].lent) {
        ct_emit_lent(e, result, value);
        return;
    }
    ct_emit_declare(e, result, value);
    ct_emit_line(e, "ct_hold(%s);", ct_emit_name(e, result));
}

/* Assigns to a word of an array. */
static void write_word(Emit *e, const char *array, const char *index, const CtFlowArg *arg) {
    ct_emit_line(e, "%s->data[%s].%c = %s;", array, ct_emit_index(e, index, array), ct_emit_letter(arg->type),
                 ct_flow_is_object(arg->type) ? ct_emit_object(e, arg) : ct_emit_arg(e, arg));
}

static void emit_update(Emit *e, CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    const char *array = ct_emit_arg(e, &step->args.items[0]);
    ct_emit_flush(e, true);
    uint32_t indices = step->args.count - 2;
    if (result->type->rank > indices) {
        ct_emit_declare(e, result,
                        ct_format(e->arena, "ct_update_row(rt, %s, %s, %s, %s)", ct_emit_site(e, step->range), array,
                                  ct_emit_arg(e, &step->args.items[1]), ct_emit_arg(e, &step->args.items[2])));
        return;
    }
    if (ct_emit_update_own(e, step, position(e, step, indices, array))) return;
    ct_emit_declare(e, result, ct_format(e->arena, "ct_own(rt, %s, 0)", array));
    const char *name = ct_emit_name(e, result), *index = position(e, step, indices, name);
    if (ct_flow_is_object(result->type->element))
        ct_emit_line(e, "ct_drop(rt, %s->data[%s].p);", name, ct_emit_index(e, index, name));
    write_word(e, name, index, &step->args.items[1 + indices]);
}

static void emit_snoc(Emit *e, CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    const char *array = ct_emit_arg(e, &step->args.items[0]);
    ct_emit_flush(e, true);
    if (result->type->rank > 1) {
        ct_emit_declare(e, result,
                        ct_format(e->arena, "ct_snoc_row(rt, %s, %s, %s)", ct_emit_site(e, step->range), array,
                                  ct_emit_arg(e, &step->args.items[1])));
        return;
    }
    ct_emit_declare(e, result, ct_format(e->arena, "ct_snoc(rt, %s)", array));
    const char *name = ct_emit_name(e, result);
    write_word(e, name, ct_format(e->arena, "%s->dims[0] - 1", name), &step->args.items[1]);
}

static void emit_items(Emit *e, CtFlowStep *step) {
    CtFlowVar *result = step->results.items[0];
    const CtFlowType *type = result->type;
    uint32_t count = step->args.count;
    if (ct_emit_table(e, step)) return;
    if (type->rank > 1) {
        ct_emit_flush(e, true); /* each row is released where it has been copied */
        ct_emit_declare(e, result,
                        count == 0 ? ct_format(e->arena, "ct_no_rows(rt, NULL, %u, %s)", type->rank, pointers(type))
                                   : "NULL");
        for (uint32_t i = 0; i < count; i++)
            ct_emit_line(e, "ct_put_row(rt, 0, &%s, %u, %u, %s);", ct_emit_name(e, result), count, i,
                         ct_emit_arg(e, &step->args.items[i]));
        return;
    }
    ct_emit_declare(e, result, ct_format(e->arena, "ct_vector(rt, %s, %u)", pointers(type), count));
    for (uint32_t i = 0; i < count; i++)
        write_word(e, ct_emit_name(e, result), ct_format(e->arena, "%u", i), &step->args.items[i]);
}

static void emit_literals(Emit *e, CtFlowStep *step) {
    CtText items = ct_text(e->arena);
    uint32_t number = ++e->temporaries;
    for (uint32_t i = 0; i < step->args.count; i++)
        ct_text_printf(&items, "%s{.%c = %s}",
                       i == 0       ? ""
                       : i % 8 == 0 ? ",\n        "
                                    : ", ",
                       ct_emit_letter(step->args.items[i].type), ct_emit_arg(e, &step->args.items[i]));
    ct_emit_line(e, "static const ct_word s%u[] = {%s};", number, items.data);
    ct_emit_declare(e, step->results.items[0],
                    ct_format(e->arena, "ct_array_of(rt, s%u, %u)", number, step->args.count));
}

/* ---- whole arrays ---- */

static const char *suffix(const CtFlowType *array) {
    return array->element->kind == FLOW_I64 ? "_i64" : array->element->kind == FLOW_F32 ? "_f32" : "";
}

static const char *extreme(Emit *e, const CtFlowStep *step, const char *array) {
    bool largest = step->as.bulk == ARRAY_MAXIMUM || step->as.bulk == ARRAY_ARGMAX;
    bool index = step->as.bulk == ARRAY_ARGMAX || step->as.bulk == ARRAY_ARGMIN;
    const CtFlowType *type = step->args.items[0].type;
    const char *at = ct_format(e->arena, "ct_extreme%s(rt, %s, \"%s\", %s, %s)",
                               type->element->kind == FLOW_I64 ? "_i64" : "", ct_emit_site(e, step->range),
                               ct_core_array_info(step->as.bulk)->name, array, largest ? "true" : "false");
    return index ? at : ct_format(e->arena, "%s->data[%s].%c", array, at, ct_emit_letter(type->element));
}

/* Whether a step makes the row of a matrix of equal numbers, and nothing else uses it: the next steps make the matrix
 * and release the row. Such are the zeros with which the adjoint of a matrix begins. Only the matrix is allocated. */
static bool is_filling_row(const Emit *e, const CtFlowStep *step) {
    const CtFlowBlock *block = e->block;
    const CtFlowVar *row = step->results.items[0];
    if (!ct_flow_is_bulk(step, ARRAY_REPLICATE) || row->type->rank != 1 || e->uses[row->id].count != 2) return false;
    if (ct_flow_is_object(row->type->element) || e->lanes != NULL) return false;
    uint32_t at = 0;
    while (at < block->steps.count && block->steps.items[at] != step) at++;
    if (at + 2 >= block->steps.count) return false;
    const CtFlowStep *next = block->steps.items[at + 1], *last = block->steps.items[at + 2];
    return ct_flow_is_bulk(next, ARRAY_REPLICATE) && next->args.items[1].var == row &&
           next->results.items[0]->type->rank == 2 && last->kind == FLOW_RELEASE && last->args.items[0].var == row &&
           CT_FIRED("array_steps.filled_matrix");
}

/* The length and the element of such a row, for the step that makes the matrix. */
static void hand_row(Emit *e, const CtFlowStep *step) {
    const CtFlowArg *item = &step->args.items[1];
    CtFlowVar *row = step->results.items[0];
    const char *length = ct_emit_arg(e, &step->args.items[0]), *text = ct_emit_arg(e, item);
    ct_emit_alias(e, row, ct_format(e->arena, "%s, (ct_word){.%c = %s}", length, ct_emit_letter(item->type), text));
    e->uses[row->id].join = JOIN_FILLS;
}

static const char *bulk_text(Emit *e, const CtFlowStep *step) {
    const char *a[3] = {NULL, NULL, NULL}, *site = ct_emit_site(e, step->range);
    for (uint32_t i = 0; i < step->args.count; i++) a[i] = ct_emit_arg(e, &step->args.items[i]);
    CtArena *arena = e->arena;
    const CtFlowType *first = step->args.items[0].type;
    switch (step->as.bulk) {
    case ARRAY_SHAPE: return ct_format(arena, "ct_shape(rt, %s, %s)", a[0], a[1]);
    case ARRAY_SUM: return ct_format(arena, "ct_sum%s(%s)", suffix(first), a[0]);
    case ARRAY_PRODUCT: return ct_format(arena, "ct_product%s(%s)", suffix(first), a[0]);
    case ARRAY_MAXIMUM:
    case ARRAY_MINIMUM:
    case ARRAY_ARGMAX:
    case ARRAY_ARGMIN: return extreme(e, step, a[0]);
    case ARRAY_REPLICATE: {
        const CtFlowType *type = step->results.items[0]->type;
        if (type->rank == 2 && e->uses[step->args.items[1].var->id].join == JOIN_FILLS)
            return ct_format(arena, "ct_replicate_matrix(rt, %s, %s)", a[0], a[1]);
        if (type->rank > 1) return ct_format(arena, "ct_replicate_row(rt, %s, %s)", a[0], a[1]);
        bool object = ct_flow_is_object(type->element);
        return ct_format(arena,
                         object ? "ct_replicate(rt, %s, %s, (ct_word){.%c = &%s->head})"
                                : "ct_replicate(rt, %s, %s, (ct_word){.%c = %s})",
                         pointers(type), a[0], ct_emit_letter(type->element), a[1]);
    }
    case ARRAY_IOTA: return ct_format(arena, "ct_iota(rt, %s)", a[0]);
    case ARRAY_GATHER: return ct_format(arena, "ct_gather(rt, %s, %s, %s)", site, a[1], a[0]);
    case ARRAY_TRANSPOSE: return ct_format(arena, "ct_transpose(rt, %s)", a[0]);
    case ARRAY_RESHAPE: return ct_format(arena, "ct_reshape(rt, %s, %s, %s, %s)", site, a[0], a[1], a[2]);
    case ARRAY_REVERSE: return ct_format(arena, "ct_reverse(rt, %s)", a[0]);
    case ARRAY_APPEND: return ct_format(arena, "ct_append(rt, %s, %s, %s)", site, a[0], a[1]);
    case ARRAY_SLICE:
        if (ct_flow_is_front(step)) return ct_format(arena, "ct_front(rt, %s, %s)", a[1], a[2]);
        return ct_format(arena, "ct_slice(rt, %s, %s, %s)", a[0], a[1], a[2]);
    case ARRAY_CONCAT: return ct_format(arena, "ct_concat(rt, %s)", a[0]);
    case ARRAY_INDEX:
    case ARRAY_LENGTH:
    case ARRAY_BUILD:
    case ARRAY_MAP:
    case ARRAY_ZIP_WITH:
    case ARRAY_FOLDL:
    case ARRAY_SCANL:
    case ARRAY_REDUCE:
    case ARRAY_SCAN:
    case ARRAY_MAP_ACCUM:
    case ARRAY_STRIDED:
    case ARRAY_GATHER_OR:
    case ARRAY_SCATTER_ADD:
    case ARRAY_ADD_AT:
    case ARRAY_SUM_ROWS:
    case ARRAY_SELECT:
    case ARRAY_UPDATE:
    case ARRAY_SNOC:
    case CT_ARRAY_OP_COUNT: break; /* these do not occur in Flow: lower/whole_arrays.c */
    }
    return "0";
}

static void emit_bulk(Emit *e, const CtFlowStep *step) {
    if (is_filling_row(e, step)) {
        hand_row(e, step);
        return;
    }
    const char *text = bulk_text(e, step);
    if (ct_flow_is_front(step)) ct_emit_flush(e, true);
    CtFlowVar *result = step->results.items[0];
    if (e->uses[result->id].count > 0)
        ct_emit_declare(e, result, text);
    else if (ct_flow_step_fails(step))
        ct_emit_line(e, "(void)%s;", text);
}

static void emit_product(Emit *e, const CtFlowStep *step) {
    const CtFlowArgs *args = &step->args;
    const CtFlowFactors *factors = &step->as.product;
    ct_emit_declare(e, step->results.items[0],
                    ct_format(e->arena, "ct_matrix_product(rt, %s, %s, %s, %s, %d, %s, %d, %u)",
                              ct_emit_site(e, step->range), ct_emit_arg(e, &args->items[0]),
                              ct_emit_arg(e, &args->items[1]), ct_emit_arg(e, &args->items[2]), factors->transposed[0],
                              ct_emit_arg(e, &args->items[3]), factors->transposed[1], factors->cotangent));
}

/* The length of an array's dimension; or the argument itself if it is a length. */
static const char *length_text(Emit *e, const CtFlowArg *arg, uint32_t dimension) {
    const char *text = ct_emit_arg(e, arg);
    return arg->type->kind == FLOW_I64 ? text : ct_format(e->arena, "%s->dims[%u]", text, dimension);
}

void ct_emit_array_step(Emit *e, CtFlowStep *step) {
    const CtFlowArgs *args = &step->args;
    const char *site = ct_emit_site(e, step->range);
    if (step->kind == FLOW_CHECK) {
        const char *index = ct_emit_arg(e, &args->items[0]);
        const char *length = length_text(e, &args->items[1], step->as.index);
        ct_emit_line(e, "ct_check_index(rt, %s, %s, %s);", site, index, length);
    } else if (step->kind == FLOW_CHECK_SIZE) {
        ct_emit_line(e, "ct_check_size(rt, %s, \"%s\", %s);", site, ct_core_array_info(step->as.bulk)->name,
                     ct_emit_arg(e, &args->items[0]));
    } else if (step->kind == FLOW_CHECK_ZIP) {
        const char *a = length_text(e, &args->items[0], 0), *b = length_text(e, &args->items[1], 0);
        ct_emit_line(e, "ct_check_zip(rt, %s, %s, %s);", site, a, b);
    } else if (step->kind == FLOW_CHECK_SHAPE) {
        const char *a = ct_emit_arg(e, &args->items[0]), *b = ct_emit_arg(e, &args->items[1]);
        ct_emit_line(e, "ct_check_shape(rt, %s, %s->dims, %s, %u);", site, a, b, step->as.index);
    } else if (step->kind == FLOW_CHECK_SLICE) {
        const char *start = ct_emit_arg(e, &args->items[0]), *count = ct_emit_arg(e, &args->items[1]);
        ct_emit_line(e, "ct_check_slice(rt, %s, %s, %s, %s);", site, start, count, length_text(e, &args->items[2], 0));
    } else if (step->kind == FLOW_DIM) {
        const char *array = ct_emit_arg(e, &args->items[0]);
        ct_emit_bind(e, step->results.items[0], ct_format(e->arena, "%s->dims[%u]", array, step->as.index), true, true);
    } else if (step->kind == FLOW_READ) {
        emit_read(e, step);
    } else if (step->kind == FLOW_UPDATE) {
        emit_update(e, step);
    } else if (step->kind == FLOW_SNOC) {
        emit_snoc(e, step);
    } else if (step->kind == FLOW_ITEMS) {
        emit_items(e, step);
    } else if (step->kind == FLOW_LITERALS) {
        emit_literals(e, step);
    } else if (step->kind == FLOW_PRODUCT) {
        emit_product(e, step);
    } else {
        emit_bulk(e, step);
    }
}
