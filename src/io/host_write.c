/* Values in a heap to values of the host. A stack of what is still to be done replaces recursion, so that values of any
 * depth can be written. */
#include "io/host_value.h"
#include "io/internal.h"

typedef struct Task {
    const CtType *type;
    CtWord value;
    cotan_value *to;
} Task;

typedef struct Writer {
    CtArena *arena;
    CT_VEC(Task) tasks;
} Writer;

/* Gives a node parts, which are written later. */
static void add_parts(Writer *w, cotan_value *to, size_t count) {
    to->count = count;
    to->parts = CT_NEW_ARRAY(w->arena, cotan_value *, count);
    cotan_value *nodes = CT_NEW_ARRAY(w->arena, cotan_value, count);
    for (size_t i = 0; i < count; i++) to->parts[i] = &nodes[i];
}

static void later(Writer *w, const CtType *type, CtWord value, cotan_value *to) {
    ct_push(w->arena, &w->tasks, (Task){type, value, to});
}

static void set_text(Writer *w, cotan_value *to, const char *text, size_t length) {
    to->text = ct_copy_text(w->arena, text, length);
    to->text_length = length;
}

/* ---- arrays ---- */

static bool is_number(const CtType *type, cotan_element *element) {
    switch (type->kind) {
    case TYPE_DOUBLE: *element = COTAN_DOUBLE; return true;
    case TYPE_FLOAT: *element = COTAN_FLOAT; return true;
    case TYPE_INT: *element = COTAN_INT; return true;
    case TYPE_CHAR: *element = COTAN_CHAR; return true;
    case TYPE_DATA: *element = ct_io_json_is_bool(type) ? COTAN_BOOL : COTAN_TAG; return type->data->is_enum;
    case TYPE_TUPLE:
    case TYPE_ARRAY:
    case TYPE_FUN: return false;
    }
    return false;
}

static void copy_rows(const CtArray *array, unsigned rank, CtWord **to) {
    if (rank == 1) {
        if (array->length > 0) memcpy(*to, array->items, (size_t)array->length * sizeof **to);
        *to += array->length;
        return;
    }
    for (int64_t i = 0; i < array->length; i++) copy_rows((const CtArray *)array->items[i].object, rank - 1, to);
}

/* An array of numbers, of a few dimensions: in one piece. */
static bool write_numbers(Writer *w, const CtType *type, const CtArray *array, cotan_value *to) {
    unsigned rank = 0;
    const CtType *element = type;
    for (; element->kind == TYPE_ARRAY; element = element->parts[0]) rank++;
    if (rank > COTAN_MOST_DIMENSIONS || !is_number(element, &to->element)) return false;
    const CtArray *level = array;
    for (unsigned i = 0; i < rank; i++) {
        to->size[i] = level != NULL ? (size_t)level->length : 0;
        level = i + 1 < rank && to->size[i] > 0 ? (const CtArray *)level->items[0].object : NULL;
    }
    to->rank = rank;
    CtWord *numbers = CT_NEW_ARRAY(w->arena, CtWord, ct_io_host_numbers(to) + 1), *end = numbers;
    copy_rows(array, rank, &end);
    to->numbers = numbers;
    return true;
}

static void write_array(Writer *w, const CtType *type, CtWord value, cotan_value *to) {
    const CtArray *array = (const CtArray *)value.object;
    to->kind = COTAN_KIND_ARRAY;
    if (write_numbers(w, type, array, to)) return;
    add_parts(w, to, (size_t)array->length);
    for (int64_t i = array->length; i > 0; i--) later(w, type->parts[0], array->items[i - 1], to->parts[i - 1]);
}

/* ---- data ---- */

static void write_list(Writer *w, const CtType *type, CtWord value, cotan_value *to) {
    size_t count = 0;
    for (const CtObject *cell = value.object; cell->tag != 0; cell = ((const CtFields *)cell)->words[1].object) count++;
    to->kind = COTAN_KIND_LIST;
    add_parts(w, to, count);
    const CtObject *cell = value.object;
    for (size_t i = 0; i < count; i++) {
        const CtFields *fields = (const CtFields *)cell;
        later(w, type->data->args[0], fields->words[0], to->parts[i]);
        cell = fields->words[1].object;
    }
}

static void write_map(Writer *w, const CtType *type, CtWord value, bool set, cotan_value *to) {
    CtType *const *types = (set ? type->data->cons[0].fields[0] : type)->data->cons[1].fields;
    size_t count;
    const CtWord *entries = ct_io_map_entries(w->arena, type, value, &count);
    to->kind = set ? COTAN_KIND_SET : COTAN_KIND_MAP;
    add_parts(w, to, set ? count : 2 * count);
    for (size_t i = 0; i < count; i++) {
        later(w, types[2], entries[2 * i], to->parts[set ? i : 2 * i]);
        if (!set) later(w, types[3], entries[2 * i + 1], to->parts[2 * i + 1]);
    }
}

static void write_con(Writer *w, const CtType *type, CtWord value, cotan_value *to) {
    const CtData *data = type->data;
    const CtCon *con = &data->cons[data->is_enum ? (uint32_t)value.integer : value.object->tag];
    to->kind = COTAN_KIND_DATA;
    set_text(w, to, con->name->text, con->name->length);
    if (con->count == 0) return;
    add_parts(w, to, con->count);
    for (uint32_t i = con->count; i > 0; i--)
        later(w, con->fields[i - 1], ((const CtFields *)value.object)->words[i - 1], to->parts[i - 1]);
}

static void write_data(Writer *w, const CtType *type, CtWord value, cotan_value *to) {
    const CtType *key, *item;
    if (ct_core_type_is_integer(type)) {
        CtText digits = ct_text(w->arena);
        ct_value_integer_print(&digits, value);
        to->kind = COTAN_KIND_INTEGER;
        to->text = digits.data;
        to->text_length = digits.length;
    } else if (ct_io_json_is_bool(type)) {
        to->kind = COTAN_KIND_BOOL;
        to->number.integer = value.integer;
    } else if (ct_io_json_is_string(type)) {
        CtText text = ct_text(w->arena);
        ct_value_string_text(&text, value, SIZE_MAX);
        to->kind = COTAN_KIND_STRING;
        to->text = text.data != NULL ? text.data : (char *)"";
        to->text_length = text.length;
    } else if (ct_io_json_is_list(type)) {
        write_list(w, type, value, to);
    } else if (ct_io_is_map(type, &key, &item)) {
        write_map(w, type, value, false, to);
    } else if (ct_io_is_set(type, &key)) {
        write_map(w, type, value, true, to);
    } else {
        write_con(w, type, value, to);
    }
}

static bool write_one(Writer *w, Task task) {
    cotan_value *to = task.to;
    switch (task.type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT:
        to->kind = COTAN_KIND_DOUBLE;
        to->number.real = task.value.real;
        return true;
    case TYPE_INT:
    case TYPE_CHAR:
        to->kind = task.type->kind == TYPE_INT ? COTAN_KIND_INT : COTAN_KIND_CHAR;
        to->number.integer = task.value.integer;
        return true;
    case TYPE_TUPLE:
        to->kind = COTAN_KIND_TUPLE;
        add_parts(w, to, task.type->count);
        for (uint32_t i = task.type->count; i > 0; i--)
            later(w, task.type->parts[i - 1], ((const CtFields *)task.value.object)->words[i - 1], to->parts[i - 1]);
        return true;
    case TYPE_ARRAY: write_array(w, task.type, task.value, to); return true;
    case TYPE_DATA: write_data(w, task.type, task.value, to); return true;
    case TYPE_FUN: return false;
    }
    return false;
}

const cotan_value *ct_io_host_write(CtArena *arena, const CtType *type, CtWord value) {
    Writer writer = {.arena = arena}, *w = &writer;
    cotan_value *root = CT_NEW(arena, cotan_value);
    later(w, type, value, root);
    while (w->tasks.count > 0)
        if (!write_one(w, w->tasks.items[--w->tasks.count])) return NULL;
    return root;
}
