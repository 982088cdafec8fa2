/* Values of the interpreter: objects in its heap. Each has two reference counts: the interpreter's own, so that memory
 * of dead objects is reused, and one by the retains and releases of the program, which checks these. */
#include "flow/check/interpret.h"

/* ---- memory ---- */

void *ct_flow_interpret_memory(CtInterpreter *i, size_t bytes) {
    if (bytes > i->options.limits.bytes - i->bytes) ct_flow_interpret_stop(i, "it takes too much memory");
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    if (memory == NULL) ct_flow_interpret_stop(i, "it takes too much memory");
    i->bytes += bytes;
    return memory;
}

void ct_flow_interpret_give(CtInterpreter *i, void *memory, size_t bytes) {
    free(memory);
    i->bytes -= bytes;
}

static size_t size_of(const CtFlowObject *object) { return sizeof *object + object->rank * sizeof(int64_t); }

static CtFlowObject *object_new(CtInterpreter *i, uint32_t rank, int64_t capacity) {
    if (capacity < 0 || (uint64_t)capacity > i->options.limits.bytes / sizeof(CtFlowCell))
        ct_flow_interpret_stop(i, "it takes too much memory");
    CtFlowObject *object = ct_flow_interpret_memory(i, sizeof *object + rank * sizeof(int64_t));
    object->rank = rank;
    object->claims = 1;
    object->next = i->objects;
    object->link = &i->objects;
    if (object->next != NULL) object->next->link = &object->next;
    i->objects = object;
    object->cells = ct_flow_interpret_memory(i, (size_t)capacity * sizeof(CtFlowCell));
    object->capacity = capacity;
    return object;
}

/* Removes an object from the heap's list. */
static void unlink_object(CtFlowObject *object) {
    *object->link = object->next;
    if (object->next != NULL) object->next->link = object->link;
}

static void object_free(CtInterpreter *i, CtFlowObject *object) {
    ct_flow_interpret_give(i, object->cells, (size_t)object->capacity * sizeof(CtFlowCell));
    ct_flow_interpret_give(i, object, size_of(object));
}

static bool holds_object(const CtFlowObject *object, int64_t index) {
    if (object->cells[index].object == NULL) return false;
    return object->fields != NULL ? ct_flow_is_object(object->fields->items[index]) : object->holds_objects;
}

/* ---- holders ---- */

void ct_flow_interpret_hold(CtFlowObject *object) {
    if (object != NULL) object->refs++;
}

/* Moves an object to the list of those to be freed. */
static void free_later(CtFlowObject **todo, CtFlowObject *object) {
    if (object == NULL || --object->refs > 0) return;
    unlink_object(object);
    object->next = *todo;
    *todo = object;
}

void ct_flow_interpret_drop(CtInterpreter *i, CtFlowObject *object) {
    CtFlowObject *todo = NULL;
    free_later(&todo, object);
    while (todo != NULL) {
        CtFlowObject *one = todo;
        todo = one->next;
        for (int64_t k = 0; k < one->count; k++)
            if (holds_object(one, k)) free_later(&todo, one->cells[k].object);
        object_free(i, one);
    }
}

static bool is_bare(const CtFlowObject *object) {
    return object->fields != NULL && object->fields->count == 0 && object->tag < CT_NULLARIES;
}

/* Releasing the last reference of an object releases its fields; an explicit list is used, since data may be deep. */
void ct_flow_interpret_release(CtInterpreter *i, CtFlowObject *object) {
    CtFlowObject **todo = NULL;
    size_t count = 0, capacity = 0;
    if (object == NULL || !i->options.counts || is_bare(object)) return;
    if (object->claims <= 0) ct_flow_interpret_wrong(i, "something is released that has been released already");
    if (--object->claims > 0) return;
    for (;;) {
        for (int64_t k = 0; k < object->count; k++) {
            if (!holds_object(object, k)) continue;
            CtFlowObject *held = object->cells[k].object;
            if (is_bare(held) || --held->claims > 0) continue;
            if (count == capacity) {
                CtFlowObject **more = realloc(todo, (2 * capacity + 16) * sizeof *todo);
                if (more == NULL) {
                    free(todo);
                    ct_flow_interpret_stop(i, "it takes too much memory");
                }
                todo = more;
                capacity = 2 * capacity + 16;
            }
            todo[count++] = held;
        }
        if (count == 0) break;
        object = todo[--count];
    }
    free(todo);
}

/* ---- making ---- */

CtFlowObject *ct_flow_interpret_node(CtInterpreter *i, const CtFlowTypes *fields, uint32_t tag,
                                     const CtFlowCell *cells) {
    CtFlowObject *node = object_new(i, 0, fields->count);
    node->fields = fields;
    node->tag = tag;
    for (uint32_t k = 0; k < fields->count; k++) ct_flow_interpret_put(i, node, cells[k]);
    return node;
}

CtFlowObject *ct_flow_interpret_array(CtInterpreter *i, const CtFlowType *type, const int64_t *dims) {
    int64_t cells = 1;
    bool none = false;
    for (uint32_t k = 0; k < type->rank; k++) {
        if (dims[k] < 0) ct_flow_interpret_wrong(i, "an array of a negative length is made");
        none |= dims[k] == 0;
        if (none || __builtin_mul_overflow(cells, dims[k], &cells)) cells = none ? 0 : INT64_MAX;
    }
    CtFlowObject *array = object_new(i, type->rank, cells);
    array->holds_objects = ct_flow_is_object(type->element);
    none = false;
    for (uint32_t k = 0; k < type->rank; k++) {
        array->dims[k] = none ? 0 : dims[k];
        none |= dims[k] == 0;
    }
    return array;
}

/* Grows an object, such as a list of characters, whose size is not known in advance. */
static void grow(CtInterpreter *i, CtFlowObject *object) {
    int64_t capacity = object->capacity + object->capacity / 2 + 8;
    CtFlowCell *cells = ct_flow_interpret_memory(i, (size_t)capacity * sizeof *cells);
    if (object->count > 0) memcpy(cells, object->cells, (size_t)object->count * sizeof *cells);
    ct_flow_interpret_give(i, object->cells, (size_t)object->capacity * sizeof *cells);
    object->cells = cells;
    object->capacity = capacity;
}

void ct_flow_interpret_put(CtInterpreter *i, CtFlowObject *object, CtFlowCell value) {
    if (object->count == object->capacity) grow(i, object);
    object->cells[object->count++] = value;
    if (holds_object(object, object->count - 1)) ct_flow_interpret_hold(value.object);
}

void ct_flow_interpret_copy(CtInterpreter *i, CtFlowObject *object, const CtFlowObject *from, int64_t start,
                            int64_t count) {
    if (start < 0 || count < 0 || start + count > from->count)
        ct_flow_interpret_wrong(i, "elements are copied from outside of an array");
    ct_flow_interpret_spend(i, (uint64_t)count / 4);
    for (int64_t k = start; k < start + count; k++) {
        if (holds_object(from, k)) from->cells[k].object->claims++;
        ct_flow_interpret_put(i, object, from->cells[k]);
    }
}

/* Constructor 0 of the list type is the end; constructor 1 holds a character and the rest. */
CtFlowCell ct_flow_interpret_string(CtInterpreter *i, const CtFlowType *type, const uint32_t *points, size_t count) {
    const CtFlowCon *cons = type->data->cons;
    CtFlowCell list = {.object = ct_flow_interpret_node(i, &cons[0].fields, 0, NULL)};
    while (count-- > 0) {
        const CtFlowCell cell[2] = {{.integer = (int64_t)points[count]}, list};
        list.object = ct_flow_interpret_node(i, &cons[1].fields, 1, cell);
    }
    return list;
}

/* ---- from native words ---- */

typedef struct Import {
    CtInterpreter *i;
    struct Waiting { /* an object of the native run whose copy belongs into a cell of an unfinished object */
        const CtFlowType *type;
        const ct_object *from;
        CtFlowObject *to;
        int64_t index;
    } * waiting;
    size_t count, capacity;
} Import;

static CtFlowCell scalar_of(const CtFlowType *type, ct_word word) {
    if (type->kind == FLOW_I64) return (CtFlowCell){.integer = word.i};
    if (ct_flow_is_object(type)) return (CtFlowCell){.object = NULL};
    return (CtFlowCell){.real = (long double)word.f};
}

static bool wait_for(Import *m, const CtFlowType *type, const ct_object *from, CtFlowObject *to, int64_t index) {
    if (m->count == m->capacity) {
        size_t capacity = 2 * m->capacity + 64;
        struct Waiting *more = realloc(m->waiting, capacity * sizeof *more);
        if (more == NULL) return false;
        m->waiting = more;
        m->capacity = capacity;
    }
    m->waiting[m->count++] = (struct Waiting){type, from, to, index};
    return true;
}

static CtFlowObject *import_array(Import *m, const CtFlowType *type, const ct_array *from, bool *fits) {
    CtFlowObject *array = ct_flow_interpret_array(m->i, type, from->dims);
    int64_t count = array->capacity;
    for (int64_t k = 0; k < count; k++) {
        ct_flow_interpret_put(m->i, array, scalar_of(type->element, from->data[k]));
        if (array->holds_objects) *fits &= wait_for(m, type->element, from->data[k].p, array, k);
    }
    return array;
}

static CtFlowObject *import_node(Import *m, const CtFlowType *type, const ct_object *from, bool *fits) {
    const CtFlowCon *con = &type->data->cons[from->tag];
    CtFlowObject *node = object_new(m->i, 0, con->fields.count);
    node->fields = &con->fields;
    node->tag = from->tag;
    for (uint32_t k = 0; k < con->fields.count; k++) {
        ct_word word = ((const ct_node *)from)->at[con->slots[k]];
        ct_flow_interpret_put(m->i, node, scalar_of(con->fields.items[k], word));
        if (ct_flow_is_object(con->fields.items[k])) *fits &= wait_for(m, con->fields.items[k], word.p, node, k);
    }
    return node;
}

static bool import_all(Import *m, const CtFlowType *const *types, uint32_t count, const ct_word *words,
                       CtFlowCell *cells) {
    bool fits = true;
    for (uint32_t k = 0; k < count; k++) {
        cells[k] = scalar_of(types[k], words[k]);
        if (ct_flow_is_object(types[k])) fits &= wait_for(m, types[k], words[k].p, NULL, k);
    }
    while (m->count > 0 && fits) {
        struct Waiting one = m->waiting[--m->count];
        CtFlowObject *copy = one.type->kind == FLOW_ARRAY ? import_array(m, one.type, (const ct_array *)one.from, &fits)
                                                          : import_node(m, one.type, one.from, &fits);
        ct_flow_interpret_hold(copy);
        if (one.to != NULL)
            one.to->cells[one.index].object = copy;
        else
            cells[one.index].object = copy;
    }
    return fits;
}

bool ct_flow_interpret_import(CtInterpreter *i, const CtFlowType *const *types, uint32_t count, const ct_word *words,
                              CtFlowCell *cells) {
    Import m = {.i = i};
    bool done = setjmp(i->failing.out) == 0 && import_all(&m, types, count, words, cells);
    free(m.waiting);
    return done;
}
