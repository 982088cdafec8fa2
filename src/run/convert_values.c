/* Conversion of values between the evaluator's heap and a native run. Data of any depth are traversed with an explicit
 * work list. */
#include "run/internal.h"

#include <string.h>

/* ---- to native ---- */

typedef struct Incoming { /* a node to be made */
    const CtType *type, *as;
    CtWord value;
    ct_word *to;
} Incoming;

typedef struct In {
    ct_run *rt;
    CtFlow *flow;
    Incoming *todo; /* in the memory of the run, which is freed when that fails */
    size_t count, capacity;
} In;

static size_t words_of(size_t incoming) { return incoming * sizeof(Incoming) / sizeof(ct_word); }

static void resize(In *in, size_t capacity) {
    Incoming *more = capacity > 0 ? ct_take(in->rt, words_of(capacity)) : NULL;
    if (in->count > 0) memcpy(more, in->todo, in->count * sizeof *more);
    if (in->capacity > 0) ct_give(in->rt, in->todo, words_of(in->capacity));
    in->todo = more;
    in->capacity = capacity;
}

static void make_later(In *in, Incoming one) {
    if (in->count == in->capacity) resize(in, 2 * in->capacity + 64);
    in->todo[in->count++] = one;
}

static CtWord *fields_of(CtWord value) { return ((CtFields *)value.object)->words; }

static void put_array(In *in, const CtType *type, CtWord value, ct_word **to);
static void put_list(In *in, const CtType *type, const CtType *as, CtWord value, ct_word **to);

/* Writes the words of a value to its variables, as one of the type `as`: with arrays in place of some lists. */
static void put(In *in, const CtType *type, const CtType *as, CtWord value, ct_word **to) {
    CtType *const *parts;
    uint32_t count, at = 0;
    if (ct_flow_parts(in->flow, as, &parts, &count)) {
        CtType *const *given = ct_value_parts(type, 0, &count);
        for (uint32_t i = 0; i < count; i++) {
            put(in, given[i], parts[i], fields_of(value)[i], to + at);
            at += ct_flow_types(in->flow, parts[i])->count;
        }
    } else if (as->kind == TYPE_ARRAY && type->kind == TYPE_DATA) {
        put_list(in, type, as, value, to);
    } else if (type->kind == TYPE_ARRAY) {
        put_array(in, type, value, to);
    } else if (ct_flow_types(in->flow, as)->items[0]->kind == FLOW_NODE) {
        make_later(in, (Incoming){type, as, value, to[0]});
    } else if (type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT) {
        to[0]->f = value.real;
    } else {
        to[0]->i = value.integer;
    }
}

/* Pointers to this many words stay on the stack; those to more are in memory of the run, or from malloc. */
enum { FEW = 64 };

static void make_node(In *in, Incoming one) {
    uint32_t tag = one.type->kind == TYPE_DATA ? one.value.object->tag : 0;
    const CtFlowCon *con = &ct_flow_node(in->flow, one.as)->data->cons[tag];
    uint32_t width = con->fields.count, at = 0;
    if (width == 0) {
        one.to->p = &ct_bare(in->rt, tag)->head;
        return;
    }
    ct_node *node = ct_node_new(in->rt, tag, width, con->pointers);
    one.to->p = &node->head;
    ct_word *few[FEW], **to = width <= FEW ? few : ct_take(in->rt, width);
    for (uint32_t i = 0; i < width; i++) to[i] = &node->at[con->slots[i]];
    uint32_t count;
    CtType *const *parts = ct_value_parts(one.as, tag, &count), *const *given = ct_value_parts(one.type, tag, &count);
    for (uint32_t i = 0; i < count; i++) {
        put(in, given[i], parts[i], fields_of(one.value)[i], to + at);
        at += ct_flow_types(in->flow, parts[i])->count;
    }
    if (width > FEW) ct_give(in->rt, to, width);
}

typedef struct Rows { /* arrays for the parts of the elements, being filled */
    In *in;
    const CtType *element; /* not an array */
    ct_array **arrays;
    ct_word **to;
    uint32_t width;
    int64_t at;
} Rows;

static void put_rows(Rows *rows, const CtType *type, const CtArray *from) {
    for (int64_t i = 0; i < from->length; i++) {
        if (type->parts[0]->kind == TYPE_ARRAY) {
            put_rows(rows, type->parts[0], (const CtArray *)from->items[i].object);
            continue;
        }
        for (uint32_t j = 0; j < rows->width; j++) rows->to[j] = &rows->arrays[j]->data[rows->at];
        put(rows->in, rows->element, rows->element, from->items[i], rows->to);
        rows->at++;
    }
}

static void put_array(In *in, const CtType *type, CtWord value, ct_word **to) {
    const CtFlowTypes *types = ct_flow_types(in->flow, type);
    const CtArray *level = (const CtArray *)value.object;
    uint32_t rank = 0, width = types->count;
    int64_t dims[64], words = 1;
    const CtType *element = type;
    for (; element->kind == TYPE_ARRAY && rank < 64; element = element->parts[0]) {
        dims[rank] = level != NULL ? level->length : 0;
        words *= dims[rank];
        level =
            dims[rank] > 0 && element->parts[0]->kind == TYPE_ARRAY ? (const CtArray *)level->items[0].object : NULL;
        rank++;
    }
    Rows rows = {.in = in, .element = element, .width = width};
    ct_array *few[FEW];
    ct_word *few_to[FEW];
    rows.arrays = width <= FEW ? few : ct_take(in->rt, width);
    rows.to = width <= FEW ? few_to : ct_take(in->rt, width);
    for (uint32_t i = 0; i < width; i++) {
        ct_array *array = ct_array_make(in->rt, rank, ct_flow_is_object(types->items[i]->element), words);
        for (uint32_t j = 0; j < rank; j++) array->dims[j] = dims[j];
        rows.arrays[i] = array;
        to[i]->p = &array->head;
    }
    put_rows(&rows, type, (const CtArray *)value.object);
    if (width <= FEW) return;
    ct_give(in->rt, rows.arrays, width);
    ct_give(in->rt, rows.to, width);
}

/* The numbers of a list, or of the lists in one, from here on. What is behind them. */
static ct_word *put_numbers(const CtType *list, const CtType *as, CtWord value, ct_word *to) {
    const CtType *element = ct_core_list_element(list);
    for (const CtWord *cell = ct_value_list_cell(list, value); cell != NULL; cell = ct_value_list_cell(list, cell[1])) {
        if (as->parts[0]->kind == TYPE_ARRAY)
            to = put_numbers(element, as->parts[0], cell[0], to);
        else if (element->kind == TYPE_INT)
            (to++)->i = cell[0].integer;
        else
            (to++)->f = cell[0].real;
    }
    return to;
}

/* A list of numbers as an array; a list of lists of one length as a matrix. */
static void put_list(In *in, const CtType *type, const CtType *as, CtWord value, ct_word **to) {
    const CtWord *first = ct_value_list_cell(type, value);
    bool rows = as->parts[0]->kind == TYPE_ARRAY;
    const CtType *row = ct_core_list_element(type);
    int64_t dims[2] = {ct_value_list_length(type, value),
                       rows && first != NULL ? ct_value_list_length(row, first[0]) : 0};
    ct_array *array = ct_array_make(in->rt, rows ? 2 : 1, false, rows ? dims[0] * dims[1] : dims[0]);
    for (uint32_t i = 0; i < (rows ? 2u : 1u); i++) array->dims[i] = dims[i];
    to[0]->p = &array->head;
    put_numbers(type, as, value, array->data);
}

void ct_run_to_native(ct_run *rt, CtFlow *flow, const CtType *type, const CtType *as, CtWord value, ct_word *words) {
    In in = {.rt = rt, .flow = flow};
    uint32_t width = ct_flow_types(flow, as)->count;
    ct_word *few[FEW], **to = width <= FEW ? few : ct_take(rt, width);
    for (uint32_t i = 0; i < width; i++) to[i] = &words[i];
    put(&in, type, as, value, to);
    if (width > FEW) ct_give(rt, to, width);
    while (in.count > 0) make_node(&in, in.todo[--in.count]);
    resize(&in, 0);
}

/* ---- and back ---- */

typedef struct Outgoing {
    const CtType *type, *as;
    ct_object *value;
    CtWord *to;
} Outgoing;

typedef struct Out {
    CtHeap *heap;
    CtFlow *flow;
    Outgoing *todo;
    size_t count, capacity;
    bool full;
} Out;

static void copy_later(Out *out, const CtType *type, const CtType *as, ct_object *value, CtWord *to) {
    if (out->count == out->capacity) {
        size_t capacity = 2 * out->capacity + 64;
        Outgoing *more = realloc(out->todo, capacity * sizeof *more);
        if (more == NULL) {
            out->full = true;
            return;
        }
        out->todo = more;
        out->capacity = capacity;
    }
    out->todo[out->count++] = (Outgoing){type, as, value, to};
}

/* Pointers to more than FEW words; NULL when memory runs out. */
static void *take_many(Out *out, uint32_t width) {
    void *many = malloc(width * sizeof(void *));
    out->full |= many == NULL;
    return many;
}

/* What is still to be made is NULL, so that a value can be released when the heap is full. */
static CtFields *new_fields(Out *out, const CtType *type, uint32_t tag) {
    bool data = type->kind == TYPE_DATA;
    const CtLayout *layout =
        data ? ct_value_layout_con(out->heap, &type->data->cons[tag]) : ct_value_layout_tuple(out->heap, type);
    CtFields *fields = layout != NULL ? ct_value_fields_new(out->heap, layout, tag) : NULL;
    out->full |= fields == NULL;
    if (fields != NULL) memset(fields->words, 0, fields->head.layout->count * sizeof *fields->words);
    return fields;
}

static void get(Out *out, const CtType *type, const CtType *as, const ct_word **from, CtWord *to);
static void get_array(Out *out, const CtType *type, const ct_word **from, CtWord *to);

/* An array of numbers as a list. */
static void get_list(Out *out, const CtType *type, const ct_array *array, CtWord *to) {
    bool whole = ct_core_list_element(type)->kind == TYPE_INT;
    CtListEnd end;
    out->full |= !ct_value_list_begin(&end, out->heap, &type->data->cons[0]);
    for (int64_t i = 0; i < array->dims[0] && !out->full; i++) {
        CtWord number;
        if (whole)
            number.integer = array->data[i].i;
        else
            number.real = array->data[i].f;
        out->full |= !ct_value_list_add(&end, number);
    }
    *to = end.list;
}

/* The value of some variables, which have the type `as`: with arrays in place of some lists. */
static void get(Out *out, const CtType *type, const CtType *as, const ct_word **from, CtWord *to) {
    CtType *const *parts;
    uint32_t count, at = 0;
    if (out->full) return;
    if (ct_flow_parts(out->flow, as, &parts, &count)) {
        CtFields *fields = new_fields(out, type, 0);
        if (fields == NULL) return;
        CtType *const *given = ct_value_parts(type, 0, &count);
        to->object = &fields->head;
        for (uint32_t i = 0; i < count; i++) {
            get(out, given[i], parts[i], from + at, &fields->words[i]);
            at += ct_flow_types(out->flow, parts[i])->count;
        }
    } else if (as->kind == TYPE_ARRAY && type->kind == TYPE_DATA) {
        get_list(out, type, (const ct_array *)from[0]->p, to);
    } else if (type->kind == TYPE_ARRAY) {
        get_array(out, type, from, to);
    } else if (ct_flow_types(out->flow, as)->items[0]->kind == FLOW_NODE) {
        copy_later(out, type, as, from[0]->p, to);
    } else if (type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT) {
        to->real = from[0]->f;
    } else {
        to->integer = from[0]->i;
    }
}

static void copy_node(Out *out, Outgoing one) {
    const ct_node *node = (const ct_node *)one.value;
    uint32_t tag = one.value->tag, at = 0;
    const CtFlowCon *con = &ct_flow_node(out->flow, one.as)->data->cons[tag];
    uint32_t count;
    CtType *const *parts = ct_value_parts(one.as, tag, &count), *const *given = ct_value_parts(one.type, tag, &count);
    if (count == 0) {
        one.to->object = ct_value_nullary(out->heap, &one.type->data->cons[tag]);
        if (one.to->object == NULL) out->full = true;
        return;
    }
    CtFields *fields = new_fields(out, one.type, tag);
    if (fields == NULL) return;
    one.to->object = &fields->head;
    uint32_t width = con->fields.count;
    const ct_word *few[FEW], **from = width <= FEW ? few : take_many(out, width);
    for (uint32_t i = 0; i < width && from != NULL; i++) from[i] = &node->at[con->slots[i]];
    for (uint32_t i = 0; i < count && from != NULL; i++) {
        get(out, given[i], parts[i], from + at, &fields->words[i]);
        at += ct_flow_types(out->flow, parts[i])->count;
    }
    if (width > FEW) free(from);
}

typedef struct Reading {
    Out *out;
    const ct_array **arrays;
    const ct_word **from;
    uint32_t width;
    int64_t at;
} Reading;

static void get_rows(Reading *r, const CtType *type, uint32_t level, CtWord *to) {
    int64_t length = r->arrays[0]->dims[level];
    const CtLayout *layout = ct_value_layout_array(r->out->heap, type);
    CtArray *array = layout != NULL ? ct_value_array_new(r->out->heap, layout, 0, length) : NULL;
    if (array == NULL) {
        r->out->full = true;
        return;
    }
    to->object = &array->head;
    for (int64_t i = 0; i < length && !r->out->full; i++) {
        array->items[array->length++].object = NULL;
        if (type->parts[0]->kind == TYPE_ARRAY) {
            get_rows(r, type->parts[0], level + 1, &array->items[i]);
            continue;
        }
        for (uint32_t j = 0; j < r->width; j++) r->from[j] = &r->arrays[j]->data[r->at];
        r->at++;
        get(r->out, type->parts[0], type->parts[0], r->from, &array->items[i]);
    }
}

static void get_array(Out *out, const CtType *type, const ct_word **from, CtWord *to) {
    uint32_t width = ct_flow_types(out->flow, type)->count;
    const ct_array *few[FEW];
    const ct_word *few_from[FEW];
    Reading r = {.out = out, .width = width};
    r.arrays = width <= FEW ? few : take_many(out, width);
    r.from = width <= FEW ? few_from : take_many(out, width);
    for (uint32_t i = 0; i < width && !out->full; i++) r.arrays[i] = (const ct_array *)from[i]->p;
    if (!out->full) get_rows(&r, type, 0, to);
    if (width <= FEW) return;
    free(r.arrays);
    free(r.from);
}

bool ct_run_from_native(CtHeap *heap, CtFlow *flow, const CtType *type, const CtType *as, const ct_word *words,
                        CtWord *value) {
    Out out = {.heap = heap, .flow = flow};
    uint32_t width = ct_flow_types(flow, as)->count;
    const ct_word *few[FEW], **from = width <= FEW ? few : take_many(&out, width);
    for (uint32_t i = 0; i < width && from != NULL; i++) from[i] = &words[i];
    value->object = NULL;
    get(&out, type, as, from, value);
    if (width > FEW) free(from);
    while (out.count > 0 && !out.full) copy_node(&out, out.todo[--out.count]);
    free(out.todo);
    if (out.full && value->object != NULL) ct_value_release(heap, type, *value);
    return !out.full;
}
