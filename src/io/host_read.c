/* Values of the host to values in a heap, checked against a type. Hosts' values are nested COTAN_DEEPEST levels at
 * most, so the walk may recurse. A value that cannot be finished is released before the error is given. */
#include <math.h>
#include <stdlib.h>

#include "io/host_value.h"
#include "io/internal.h"

typedef struct Reader {
    CtHeap *heap;
    const char *what;
    bool no_memory;
    char message[700]; /* of the first error */
} Reader;

/* ---- errors ---- */

static bool wrong(Reader *r, const CtPath *path, const char *format, ...)
    __attribute__((format(printf, 3, 4), noinline));
static bool wrong(Reader *r, const CtPath *path, const char *format, ...) {
    va_list list;
    va_start(list, format);
    ct_io_path_message(r->message, sizeof r->message, r->what, path, format, list);
    va_end(list);
    return false;
}

static bool no_memory(Reader *r) {
    r->no_memory = true;
    return false;
}

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

static const char *found(const cotan_value *given, char *out, size_t size) {
    static const char *const names[] = {
        [COTAN_KIND_TUPLE] = "a tuple", [COTAN_KIND_LIST] = "a list", [COTAN_KIND_ARRAY] = "an array",
        [COTAN_KIND_MAP] = "a map",     [COTAN_KIND_SET] = "a set",
    };
    switch (given->kind) {
    case COTAN_KIND_DOUBLE: snprintf(out, size, "the number %.17g", given->number.real); break;
    case COTAN_KIND_INT: snprintf(out, size, "the integer %lld", (long long)given->number.integer); break;
    case COTAN_KIND_BOOL: snprintf(out, size, given->number.integer != 0 ? "True" : "False"); break;
    case COTAN_KIND_CHAR: snprintf(out, size, "the character U+%04llX", (long long)given->number.integer); break;
    case COTAN_KIND_INTEGER: snprintf(out, size, "the integer %.40s", given->text); break;
    case COTAN_KIND_STRING: snprintf(out, size, "the string \"%.40s\"", given->text); break;
    case COTAN_KIND_DATA:
        snprintf(out, size, "%.60s of %zu field%s", given->text, given->count, plural(given->count));
        break;
    case COTAN_KIND_TUPLE:
    case COTAN_KIND_LIST:
    case COTAN_KIND_ARRAY:
    case COTAN_KIND_MAP:
    case COTAN_KIND_SET: {
        size_t count = given->kind == COTAN_KIND_MAP ? given->count / 2
                       : given->rank > 0             ? given->size[0]
                                                     : given->count;
        snprintf(out, size, "%s of %zu element%s", names[given->kind], count, plural(count));
        if (given->rank > 1) snprintf(out, size, "an array of %u dimensions", given->rank);
        break;
    }
    case COTAN_KIND_FLOAT:
    case COTAN_KIND_FUNCTION: snprintf(out, size, "nothing"); break;
    }
    return out;
}

static bool expected(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given) {
    char name[160], what[100];
    return wrong(r, path, "expected %s, found %s", ct_io_type_name(type, name, sizeof name),
                 found(given, what, sizeof what));
}

/* ---- scalars ---- */

/* A number as one of a Double or Float. */
static bool read_as(Reader *r, const CtPath *path, const CtType *type, bool is_real, CtWord number, CtWord *value) {
    bool is_float = type->kind == TYPE_FLOAT;
    if (is_real)
        value->real = is_float ? (double)(float)number.real : number.real;
    else
        value->real = is_float ? (double)(float)number.integer : (double)number.integer;
    if (!isinf(value->real) || (is_real && isinf(number.real))) return true;
    return wrong(r, path, "the number %.17g is too large for a Float", number.real);
}

static bool read_real(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, CtWord *value) {
    bool is_real = given->kind == COTAN_KIND_DOUBLE;
    if (!is_real && given->kind != COTAN_KIND_INT) return expected(r, path, type, given);
    CtWord number = {.integer = given->number.integer};
    if (is_real) number.real = given->number.real;
    return read_as(r, path, type, is_real, number, value);
}

static bool read_integer(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, cotan_kind kind,
                         CtWord *value) {
    if (given->kind != kind) return expected(r, path, type, given);
    value->integer = given->number.integer;
    if (kind != COTAN_KIND_CHAR || (value->integer >= 0 && value->integer < 0x110000)) return true;
    return expected(r, path, type, given);
}

/* An Integer, of an integer of the host. */
static bool read_digits(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, CtWord *value) {
    char few[32];
    const char *text = given->text;
    snprintf(few, sizeof few, "%lld", (long long)given->number.integer);
    if (given->kind == COTAN_KIND_INT) text = few;
    if (given->kind != COTAN_KIND_INT && given->kind != COTAN_KIND_INTEGER) return expected(r, path, type, given);
    const char *digits = text + (text[0] == '-');
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || digits[count] != '\0') return wrong(r, path, "`%.40s` are no decimal digits", text);
    if (count > CT_IO_MOST_DIGITS)
        return wrong(r, path, "an Integer may have %d digits, this one has %zu", CT_IO_MOST_DIGITS, count);
    return ct_value_integer_new(r->heap, type, text, value) || no_memory(r);
}

/* ---- structures ---- */

static bool read_value(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, CtWord *value);

/* Reads fields into a new object, which has `layout` (NULL: there was no memory for it). */
static bool read_fields(Reader *r, const CtPath *path, const CtLayout *layout, uint32_t tag, CtType *const *types,
                        CtSym const *names, const cotan_value *given, CtWord *value) {
    CtWord few[16];
    size_t count = given->count;
    CtWord *words = count > 16 ? calloc(count, sizeof *words) : few;
    if (layout == NULL || words == NULL) return no_memory(r);
    size_t made = 0;
    for (; made < count; made++) {
        CtPath here = {path, names != NULL ? names[made]->text : NULL, made};
        if (!read_value(r, &here, types[made], given->parts[made], &words[made])) break;
    }
    CtFields *fields = made == count ? ct_value_fields_new(r->heap, layout, tag) : NULL;
    if (fields != NULL) {
        memcpy(fields->words, words, count * sizeof *words);
        value->object = &fields->head;
    } else {
        if (made == count) no_memory(r);
        while (made > 0) {
            made--;
            ct_value_release(r->heap, types[made], words[made]);
        }
    }
    if (words != few) free(words);
    return fields != NULL;
}

static bool read_tuple(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, CtWord *value) {
    if (given->kind != COTAN_KIND_TUPLE || given->count != type->count) return expected(r, path, type, given);
    value->integer = 0;
    if (type->count == 0) return true;
    return read_fields(r, path, ct_value_layout_tuple(r->heap, type), 0, type->parts, NULL, given, value);
}

static bool read_list(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, CtWord *value) {
    if (given->kind != COTAN_KIND_LIST) return expected(r, path, type, given);
    CtListEnd end;
    if (!ct_value_list_begin(&end, r->heap, &type->data->cons[0])) return no_memory(r);
    for (size_t i = 0; i < given->count; i++) {
        CtPath here = {path, NULL, i};
        CtWord element;
        bool read = read_value(r, &here, type->data->args[0], given->parts[i], &element);
        if (!read || !ct_value_list_add(&end, element)) {
            ct_value_release_object(r->heap, end.list.object);
            return read ? no_memory(r) : false;
        }
    }
    *value = end.list;
    return true;
}

/* ---- arrays ---- */

/* The element type of an array of numbers, `rank` levels down; NULL if there are not as many. */
static const CtType *under(const CtType *type, unsigned rank) {
    for (; rank > 0; rank--) {
        if (type->kind != TYPE_ARRAY) return NULL;
        type = type->parts[0];
    }
    return type;
}

/* Whether numbers of this element type are values of this type: reals of integers and truth values too. */
static bool takes(const CtType *type, cotan_element element) {
    bool integer = element == COTAN_INT || element == COTAN_BOOL;
    if (type == NULL) return false;
    switch (type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT: return element == COTAN_DOUBLE || element == COTAN_FLOAT || integer;
    case TYPE_INT: return element == COTAN_INT;
    case TYPE_CHAR: return element == COTAN_CHAR;
    case TYPE_DATA: return type->data->is_enum && element == (ct_io_json_is_bool(type) ? COTAN_BOOL : COTAN_TAG);
    case TYPE_TUPLE:
    case TYPE_ARRAY:
    case TYPE_FUN: return false;
    }
    return false;
}

static bool read_number(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, size_t at,
                        CtWord *value) {
    *value = ((const CtWord *)given->numbers)[at];
    if (type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT) {
        bool is_real = given->element == COTAN_DOUBLE || given->element == COTAN_FLOAT;
        return read_as(r, path, type, is_real, *value, value);
    }
    int64_t limit = type->kind == TYPE_CHAR ? 0x110000 : type->kind == TYPE_DATA ? type->data->con_count : INT64_MAX;
    if (type->kind == TYPE_INT || (value->integer >= 0 && value->integer < limit)) return true;
    char name[160];
    return wrong(r, path, "expected %s, found the number %lld", ct_io_type_name(type, name, sizeof name),
                 (long long)value->integer);
}

static bool read_numbers(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, unsigned level,
                         size_t *at, CtWord *value) {
    size_t length = given->size[level];
    const CtLayout *layout = ct_value_layout_array(r->heap, type);
    CtArray *array = layout != NULL ? ct_value_array_new(r->heap, layout, 0, (int64_t)length) : NULL;
    if (array == NULL) return no_memory(r);
    for (size_t i = 0; i < length; i++) {
        CtPath here = {path, NULL, i};
        bool done = level + 1 < given->rank
                        ? read_numbers(r, &here, type->parts[0], given, level + 1, at, &array->items[i])
                        : read_number(r, &here, type->parts[0], given, (*at)++, &array->items[i]);
        if (!done) {
            ct_value_release_object(r->heap, &array->head);
            return false;
        }
        array->length++;
    }
    value->object = &array->head;
    return true;
}

/* Whether two elements of an array have the same shape. Each is known to be regular. */
static bool same_shape(const CtType *type, CtWord a, CtWord b) {
    for (; type->kind == TYPE_ARRAY; type = type->parts[0]) {
        const CtArray *x = (const CtArray *)a.object, *y = (const CtArray *)b.object;
        if (x->length != y->length) return false;
        if (x->length == 0) return true;
        a = x->items[0];
        b = y->items[0];
    }
    return true;
}

static bool read_array(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, CtWord *value) {
    if (given->kind != COTAN_KIND_ARRAY) return expected(r, path, type, given);
    size_t at = 0;
    if (given->rank > 0)
        return takes(under(type, given->rank), given->element) ? read_numbers(r, path, type, given, 0, &at, value)
                                                               : expected(r, path, type, given);
    const CtType *element = type->parts[0];
    const CtLayout *layout = ct_value_layout_array(r->heap, type);
    CtArray *array = layout != NULL ? ct_value_array_new(r->heap, layout, 0, (int64_t)given->count) : NULL;
    if (array == NULL) return no_memory(r);
    for (size_t i = 0; i < given->count; i++) {
        CtPath here = {path, NULL, i};
        bool done = read_value(r, &here, element, given->parts[i], &array->items[i]);
        if (done) array->length++;
        if (done && !same_shape(element, array->items[0], array->items[i]))
            done = wrong(r, &here, "an array of arrays has elements of one shape: this one differs from element 0");
        if (!done) {
            ct_value_release_object(r->heap, &array->head);
            return false;
        }
    }
    value->object = &array->head;
    return true;
}

/* ---- maps ---- */

/* Entries of a map, or elements of a set, whose items are (). */
static bool read_map(Reader *r, const CtPath *path, const CtType *map, const cotan_value *given, bool set,
                     CtWord *value) {
    CtType *const *types = map->data->cons[1].fields;
    size_t step = set ? 1 : 2, count = given->count / step, made = 0;
    char name[160];
    if (ct_value_has_own_order(types[2]))
        return wrong(r, path, "keys of the type %s have an order of the program's own: make the map in the program",
                     ct_io_type_name(types[2], name, sizeof name));
    CtEntry *entries = calloc(count + 1, sizeof *entries);
    if (entries == NULL) return no_memory(r);
    for (; made < count; made++) {
        CtEntry *entry = &entries[made];
        cotan_value *const *parts = &given->parts[made * step];
        CtPath here = {path, NULL, made};
        *entry = (CtEntry){.type = types[2], .index = made};
        if (!read_value(r, &here, types[2], parts[0], &entry->key)) break;
        if (set || read_value(r, &here, types[3], parts[1], &entry->item)) continue;
        ct_value_release(r->heap, types[2], entry->key);
        break;
    }
    const CtEntry *twice = made == count ? ct_io_map_sort(entries, count) : NULL;
    if (twice != NULL) {
        CtPath here = {path, NULL, twice->index};
        char what[100];
        wrong(r, &here, "%s is there twice", found(given->parts[twice->index * step], what, sizeof what));
    }
    bool sound = made == count && twice == NULL;
    if (!sound) ct_io_map_release(r->heap, map, entries, made, made);
    bool done = sound && (ct_io_map_tree(r->heap, map, entries, count, value) || no_memory(r));
    free(entries);
    return done;
}

/* ---- data ---- */

/* The tag of a construction; the number of constructors if it names none. */
static uint32_t tag_of(const CtType *type, const cotan_value *value) {
    uint32_t tag = 0;
    while (tag < type->data->con_count &&
           (value->text == NULL || strcmp(type->data->cons[tag].name->text, value->text) != 0))
        tag++;
    return tag;
}

static bool read_con(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, CtWord *value) {
    const CtData *data = type->data;
    uint32_t tag = tag_of(type, given);
    char name[160];
    if (given->kind != COTAN_KIND_DATA) return expected(r, path, type, given);
    if (tag == data->con_count)
        return wrong(r, path, "`%.60s` is no constructor of %s", given->text, ct_io_type_name(type, name, sizeof name));
    const CtCon *con = &data->cons[tag];
    if (con->count != given->count)
        return wrong(r, path, "%s takes %u argument%s, found %zu", con->name->text, con->count, plural(con->count),
                     given->count);
    if (data->is_enum) {
        value->integer = tag;
        return true;
    }
    if (con->count > 0) {
        bool named = con->field_names != NULL;
        CtPath here = {path, con->name->text, 0};
        return read_fields(r, named && data->con_count == 1 ? path : &here, ct_value_layout_con(r->heap, con), tag,
                           con->fields, con->field_names, given, value);
    }
    value->object = ct_value_nullary(r->heap, con);
    return value->object != NULL || no_memory(r);
}

static bool read_set(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, CtWord *value) {
    CtWord map;
    if (!read_map(r, path, type->data->cons[0].fields[0], given, true, &map)) return false;
    return ct_io_set_of(r->heap, type, map, value) || no_memory(r);
}

static bool read_data(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, CtWord *value) {
    const CtType *key, *item;
    if (ct_core_type_is_integer(type)) return read_digits(r, path, type, given, value);
    if (ct_io_json_is_bool(type)) return read_integer(r, path, type, given, COTAN_KIND_BOOL, value);
    if (ct_io_json_is_string(type) && given->kind == COTAN_KIND_STRING) {
        value->object = ct_value_string_new(r->heap, type, given->text, given->text_length);
        return value->object != NULL || no_memory(r);
    }
    if (ct_io_json_is_list(type)) return read_list(r, path, type, given, value);
    bool map = ct_io_is_map(type, &key, &item), set = !map && ct_io_is_set(type, &key);
    if ((map && given->kind != COTAN_KIND_MAP) || (set && given->kind != COTAN_KIND_SET))
        return expected(r, path, type, given);
    if (map) return read_map(r, path, type, given, false, value);
    if (set) return read_set(r, path, type, given, value);
    if (!read_con(r, path, type, given, value)) return false;
    const char *unmade = ct_value_unmade(type, *value);
    if (unmade == NULL) return true;
    ct_value_release(r->heap, type, *value);
    return wrong(r, path, "%s", unmade);
}

static bool read_value(Reader *r, const CtPath *path, const CtType *type, const cotan_value *given, CtWord *value) {
    switch (type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT: return read_real(r, path, type, given, value);
    case TYPE_INT: return read_integer(r, path, type, given, COTAN_KIND_INT, value);
    case TYPE_CHAR: return read_integer(r, path, type, given, COTAN_KIND_CHAR, value);
    case TYPE_TUPLE: return read_tuple(r, path, type, given, value);
    case TYPE_ARRAY: return read_array(r, path, type, given, value);
    case TYPE_FUN: return wrong(r, path, "a function cannot be given as a value");
    case TYPE_DATA: return read_data(r, path, type, given, value);
    }
    return false;
}

bool ct_io_host_read(CtContext *context, CtHeap *heap, const char *what, const cotan_value *given, const CtType *type,
                     CtWord *value) {
    Reader reader = {.heap = heap, .what = what};
    if (read_value(&reader, NULL, type, given, value)) return true;
    if (reader.no_memory)
        ct_error(context, CT_E0801, CT_NO_RANGE, "%s: the value does not fit into the memory limit", what);
    else
        ct_error(context, CT_E0601, CT_NO_RANGE, "%s", reader.message);
    return false;
}
