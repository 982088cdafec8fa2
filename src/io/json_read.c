/* JSON to values, checked against a type. Jansson parses; then the document and the type are walked together.
 *
 * Nesting is bounded by Jansson (2048 levels), so the walk may recurse; lists and arrays are walked in loops. A value
 * that cannot be finished is released before the error is given, and nothing is allocated in the arena while a part of
 * a value is held here but for that error: running out of arena memory would lose the part.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "io/json.h"

/* The type of a value as the program has it, where that is known: it tells what the values of universal types are. The
 * form's parameters stand for the types in `params`, of the data type around. */
typedef struct Meant {
    const CtTypeForm *form; /* NULL: not known */
    const struct Params *params;
} Meant;

typedef struct Params {
    const Meant *types;
    uint32_t count;
} Params;

typedef struct Reader {
    CtContext *context;
    CtHeap *heap;
    const CtJson *json;
    const CtLeaves *replace;
    uint32_t next_leaf;
    /* the first error; reported when the partial value has been released */
    bool failed, no_memory;
    char message[700];
} Reader;

/* ---- errors ---- */

static bool wrong(Reader *r, const CtPath *path, const char *format, ...)
    __attribute__((format(printf, 3, 4), noinline));
static bool wrong(Reader *r, const CtPath *path, const char *format, ...) {
    if (r->failed) return false;
    r->failed = true;
    va_list list;
    va_start(list, format);
    ct_io_path_message(r->message, sizeof r->message, r->json->what, path, format, list);
    va_end(list);
    return false;
}

static bool no_memory(Reader *r) {
    r->failed = r->no_memory = true;
    return false;
}

/* The text of a number that is kept as text; NULL for other values. */
static const char *number_text(const Reader *r, const json_t *json) {
    const char *text = r->json->quoted ? json_string_value(json) : NULL;
    return text && text[0] == r->json->quoted ? ct_io_json_kept_number(text) : NULL;
}

/* The digits of an integer of any size; NULL for other values. */
static const char *large_integer(const Reader *r, const json_t *json) {
    const char *text = number_text(r, json);
    return text && strpbrk(text, ".eE") == NULL ? text : NULL;
}

__attribute__((noinline)) static bool expected(Reader *r, const CtPath *path, const CtType *type, const char *form,
                                               const json_t *json) {
    char name[160], what[100];
    return wrong(r, path, "expected %s as %s, found %s", ct_io_type_name(type, name, sizeof name), form,
                 ct_io_json_found(json, what, sizeof what));
}

/* ---- types as the program has them ---- */

/* The type that a parameter stands for. */
static Meant resolve(Meant meant) {
    while (meant.form && !meant.form->head) {
        if (!meant.params || meant.form->count > 0 || meant.form->index >= meant.params->count) return (Meant){0};
        meant = meant.params->types[meant.form->index];
    }
    return meant;
}

static Meant argument(Meant meant, uint32_t index) {
    meant = resolve(meant);
    if (!meant.form || index >= meant.form->count) return (Meant){0};
    return (Meant){meant.form->args[index], meant.params};
}

/* ---- scalars ---- */

static bool read_real(Reader *r, const CtPath *path, const CtType *type, const json_t *json, CtWord *value) {
    double real = 0;
    bool is_float = type->kind == TYPE_FLOAT, finite = true;
    if (json_is_real(json)) {
        real = json_real_value(json);
    } else if (json_is_integer(json)) {
        json_int_t integer = json_integer_value(json);
        real = is_float ? (double)(float)integer : (double)integer;
    } else if (json_is_string(json)) {
        const char *text = json_string_value(json), *number = number_text(r, json);
        finite = number != NULL;
        if (number && !ct_io_json_number(number, strlen(number), is_float, &real)) return no_memory(r);
        if (strcmp(text, "inf") == 0)
            real = HUGE_VAL;
        else if (strcmp(text, "-inf") == 0)
            real = -HUGE_VAL;
        else if (strcmp(text, "nan") == 0)
            real = (double)NAN;
        else if (!number)
            return expected(r, path, type, "a number, \"inf\", \"-inf\" or \"nan\"", json);
    } else {
        return expected(r, path, type, "a number", json);
    }
    if (is_float) real = (double)(float)real;
    if (finite && isinf(real))
        return wrong(r, path, "this number is too large for a %s", is_float ? "Float" : "Double");
    if (r->replace) {
        if (r->next_leaf >= r->replace->reals.count) return wrong(r, path, "there are more numbers here than leaves");
        real = r->replace->reals.items[r->next_leaf++];
    }
    value->real = is_float ? (double)(float)real : real;
    return true;
}

static bool read_int(Reader *r, const CtPath *path, const CtType *type, const json_t *json, CtWord *value) {
    if (json_is_integer(json)) {
        value->integer = json_integer_value(json);
        return true;
    }
    errno = 0;
    const char *digits = large_integer(r, json);
    if (digits) value->integer = strtoll(digits, NULL, 10); /* it may have been quoted although it fits */
    if (digits && errno == 0) return true;
    return expected(r, path, type, "an integer of 64 bits", json);
}

static bool read_integer(Reader *r, const CtPath *path, const CtType *type, const json_t *json, CtWord *value) {
    char text[32];
    const char *digits = large_integer(r, json);
    if (!digits && !json_is_integer(json)) return expected(r, path, type, "an integer", json);
    if (digits && strlen(digits) > CT_IO_MOST_DIGITS)
        return wrong(r, path, "an Integer may have %d digits, this one has %zu", CT_IO_MOST_DIGITS, strlen(digits));
    if (!digits) snprintf(text, sizeof text, "%lld", (long long)json_integer_value(json));
    return ct_value_integer_new(r->heap, type, digits ? digits : text, value) || no_memory(r);
}

static bool read_char(Reader *r, const CtPath *path, const CtType *type, const json_t *json, CtWord *value) {
    if (!json_is_string(json)) return expected(r, path, type, "a string of one character", json);
    const unsigned char *s = (const unsigned char *)json_string_value(json);
    size_t length = json_string_length(json);
    if (length == 0) return expected(r, path, type, "a string of one character", json);
    size_t more = s[0] >= 0xF0 ? 3 : s[0] >= 0xE0 ? 2 : s[0] >= 0xC0 ? 1 : 0; /* Jansson has checked the encoding */
    if (length != more + 1) return expected(r, path, type, "a string of one character", json);
    uint32_t point = more == 0 ? s[0] : s[0] & (0x3Fu >> more);
    for (size_t i = 1; i <= more; i++) point = point << 6 | (s[i] & 0x3Fu);
    value->integer = (int64_t)point;
    return true;
}

/* ---- structures ---- */

static bool read_value(Reader *r, const CtPath *path, const CtType *type, Meant meant, const json_t *json,
                       CtWord *value);

/* Reads the fields of a tuple or constructor into `words`, in order; on failure releases those read so far. */
static bool read_parts(Reader *r, CtType *const *types, CtTypeForm *const *forms, const Params *params, uint32_t count,
                       const CtPath *paths, json_t *const *parts, CtWord *words) {
    for (uint32_t i = 0; i < count; i++) {
        Meant meant = {forms ? forms[i] : NULL, params};
        if (read_value(r, &paths[i], types[i], meant, parts[i], &words[i])) continue;
        while (i > 0) {
            i--;
            ct_value_release(r->heap, types[i], words[i]);
        }
        return false;
    }
    return true;
}

/* The member of an object that a constructor's field is read from; NULL when there is none. */
static json_t *member_of(const Reader *r, const json_t *json, CtSym const *fields, uint32_t count, uint32_t index) {
    char name[200];
    CtSym field = fields[index];
    size_t length = r->json->foreign ? ct_io_foreign_name(fields, count, index) : field->length;
    if (!r->json->foreign || length >= sizeof name) return json_object_get(json, field->text);
    memcpy(name, field->text, length);
    name[length] = '\0';
    json_t *member = json_object_get(json, name);
    name[0] = (char)toupper((unsigned char)name[0]);
    return member ? member : json_object_get(json, name);
}

enum { MANY_PARTS = 8 };

/* Reads a tuple or constructor from a JSON object with the keys `names`, or from a JSON array if `names` is NULL. */
static bool read_fields(Reader *r, const CtPath *path, const CtLayout *layout, uint32_t tag, CtType *const *types,
                        CtTypeForm *const *forms, const Params *params, uint32_t count, CtSym const *names,
                        const json_t *json, CtWord *value) {
    CtWord few_words[MANY_PARTS], *words = few_words;
    CtPath few_paths[MANY_PARTS], *paths = few_paths;
    json_t *few_parts[MANY_PARTS], **parts = few_parts;
    void *many = NULL;
    if (count > MANY_PARTS) {
        many = calloc(count, sizeof *words + sizeof *paths + sizeof(json_t *));
        if (!many) return no_memory(r);
        words = many;
        paths = (CtPath *)(words + count);
        parts = (json_t **)(paths + count);
    }
    for (uint32_t i = 0; i < count; i++) {
        paths[i] = (CtPath){.outer = path, .field = names ? names[i]->text : NULL, .index = i};
        parts[i] = names ? member_of(r, json, names, count, i) : json_array_get(json, i);
    }
    bool done = read_parts(r, types, forms, params, count, paths, parts, words);
    CtFields *fields = done && layout ? ct_value_fields_new(r->heap, layout, tag) : NULL;
    if (fields) {
        memcpy(fields->words, words, count * sizeof *words);
        value->object = &fields->head;
    } else if (done) {
        for (uint32_t i = 0; i < count; i++) ct_value_release(r->heap, types[i], words[i]);
        no_memory(r);
    }
    free(many);
    return fields != NULL;
}

static bool read_tuple(Reader *r, const CtPath *path, const CtType *type, Meant meant, const json_t *json,
                       CtWord *value) {
    meant = resolve(meant);
    CtTypeForm *const *forms = meant.form && meant.form->count == type->count ? meant.form->args : NULL;
    char form[64];
    if (type->count == 0)
        snprintf(form, sizeof form, "[]");
    else
        snprintf(form, sizeof form, "an array of %u elements", type->count);
    if (!json_is_array(json) || json_array_size(json) != type->count) return expected(r, path, type, form, json);
    if (type->count == 0) {
        value->integer = 0;
        return true;
    }
    return read_fields(r, path, ct_value_layout_tuple(r->heap, type), 0, type->parts, forms, meant.params, type->count,
                       NULL, json, value);
}

static bool read_list(Reader *r, const CtPath *path, const CtType *type, const CtCon *nil, Meant meant,
                      const json_t *json, CtWord *value) {
    if (!json_is_array(json)) return expected(r, path, type, "an array", json);
    CtListEnd end;
    if (!ct_value_list_begin(&end, r->heap, nil)) return no_memory(r);
    for (size_t i = 0; i < json_array_size(json); i++) {
        CtPath here = {.outer = path, .index = i};
        CtWord element;
        bool read = read_value(r, &here, end.cons->fields[0], argument(meant, 0), json_array_get(json, i), &element);
        if (!read || !ct_value_list_add(&end, element)) {
            ct_value_release_object(r->heap, end.list.object);
            return read ? no_memory(r) : false;
        }
    }
    *value = end.list;
    return true;
}

/* Whether two arrays have the same shape; sets the two lengths last compared. Comparing first elements on each axis is
 * enough, because each of the arrays is known to be regular. */
static bool same_shape(const CtType *type, CtWord a, CtWord b, int64_t *length, int64_t *other) {
    while (type->kind == TYPE_ARRAY) {
        const CtArray *x = (const CtArray *)a.object, *y = (const CtArray *)b.object;
        *length = x->length;
        *other = y->length;
        if (x->length != y->length) return false;
        if (x->length == 0) return true;
        a = x->items[0];
        b = y->items[0];
        type = type->parts[0];
    }
    return true;
}

static bool read_array(Reader *r, const CtPath *path, const CtType *type, Meant meant, const json_t *json,
                       CtWord *value) {
    if (!json_is_array(json)) return expected(r, path, type, "an array", json);
    const CtType *element = type->parts[0];
    const CtLayout *layout = ct_value_layout_array(r->heap, type);
    size_t count = json_array_size(json);
    CtArray *array = layout ? ct_value_array_new(r->heap, layout, 0, (int64_t)count) : NULL;
    if (!array) return no_memory(r);
    for (size_t i = 0; i < count; i++) {
        CtPath here = {.outer = path, .index = i};
        CtWord item;
        if (!read_value(r, &here, element, argument(meant, 0), json_array_get(json, i), &item)) {
            ct_value_release_object(r->heap, &array->head);
            return false;
        }
        array->items[array->length++] = item;
        int64_t first, this;
        if (i > 0 && !same_shape(element, array->items[0], item, &first, &this)) {
            wrong(r, &here, "an array of arrays has elements of one shape: a length is %lld here and %lld in element 0",
                  (long long)this, (long long)first);
            ct_value_release_object(r->heap, &array->head);
            return false;
        }
    }
    value->object = &array->head;
    return true;
}

/* ---- maps ---- */

/* Where the entries of a map, or the elements of a set, stand in a document, and what they are. */
typedef struct Entries {
    const CtPath *path;
    const CtType *key, *item; /* item NULL: of a set */
    Meant meant_key, meant_item;
} Entries;

/* Finds the entries: the members of an object, whose names are keys, or the elements of an array. */
static void find_entries(const Entries *all, const json_t *json, CtEntry *entries) {
    size_t count = 0;
    const char *name;
    json_t *member;
    for (; count < json_array_size(json); count++)
        entries[count] = (CtEntry){.type = all->key, .given = json_array_get(json, count), .index = count};
    if (json_is_object(json)) json_object_foreach((json_t *)json, name, member) {
            entries[count] = (CtEntry){.type = all->key, .given = member, .name = name, .index = count};
            count++;
        }
}

/* The path of an entry, and for a pair that of one of its parts. */
static CtPath path_of(const Entries *all, const CtEntry *entry) {
    return (CtPath){.outer = all->path, .field = entry->name, .index = entry->index};
}

static bool read_key(Reader *r, const Entries *all, CtEntry *entry) {
    const CtPath here = path_of(all, entry), first = {.outer = &here, .index = 0};
    const json_t *given = entry->given;
    if (entry->name != NULL) {
        entry->key.object = ct_value_string_new(r->heap, all->key, entry->name, strlen(entry->name));
        return entry->key.object != NULL || no_memory(r);
    }
    if (all->item == NULL) return read_value(r, &here, all->key, all->meant_key, given, &entry->key);
    char what[100];
    if (!json_is_array(given) || json_array_size(given) != 2)
        return wrong(r, &here, "expected a key and what it stands for, an array of 2 elements, found %s",
                     ct_io_json_found(given, what, sizeof what));
    return read_value(r, &first, all->key, all->meant_key, json_array_get(given, 0), &entry->key);
}

static bool read_item(Reader *r, const Entries *all, CtEntry *entry) {
    const CtPath here = path_of(all, entry), second = {.outer = &here, .index = 1};
    if (all->item == NULL) return true;
    bool pair = entry->name == NULL;
    const json_t *given = pair ? json_array_get(entry->given, 1) : entry->given;
    return read_value(r, pair ? &second : &here, all->item, all->meant_item, given, &entry->item);
}

/* Keys are read first, since numbers that replace others come in the order of the keys; then they are read once more.
 */
static bool read_entries(Reader *r, const Entries *all, CtEntry *entries, size_t count, size_t *keys, size_t *items) {
    const CtLeaves *replace = r->replace;
    r->replace = NULL;
    while (*keys < count && read_key(r, all, &entries[*keys])) ++*keys;
    r->replace = replace;
    if (*keys < count) return false;
    const CtEntry *twice = ct_io_map_sort(entries, count);
    if (twice != NULL) {
        CtPath here = path_of(all, twice);
        return wrong(r, &here, all->item != NULL ? "this key is there twice" : "this element is there twice");
    }
    for (; *items < count; ++*items) {
        CtEntry again = entries[*items];
        if (replace != NULL) {
            if (!read_key(r, all, &again)) return false;
            ct_value_release(r->heap, all->key, entries[*items].key);
            entries[*items].key = again.key;
        }
        if (!read_item(r, all, &entries[*items])) return false;
    }
    return true;
}

/* The tree of a map, or of the elements of a set. */
static bool read_tree(Reader *r, const Entries *all, const CtType *type, const CtType *tree, const json_t *json,
                      CtWord *value) {
    bool object = all->item != NULL && ct_io_json_is_string(all->key);
    char name[160];
    if (!json_is_array(json) && !(object && json_is_object(json)))
        return expected(r, all->path, type,
                        object              ? "an object, or an array of pairs"
                        : all->item != NULL ? "an array of pairs"
                                            : "an array",
                        json);
    if (ct_value_has_own_order(all->key))
        return wrong(r, all->path,
                     "keys of the type %s have an order of the program's own: make the map in the program",
                     ct_io_type_name(all->key, name, sizeof name));
    size_t count = json_is_array(json) ? json_array_size(json) : json_object_size(json), keys = 0, items = 0;
    CtEntry *entries = calloc(count + 1, sizeof *entries);
    if (!entries) return no_memory(r);
    find_entries(all, json, entries);
    bool sound = read_entries(r, all, entries, count, &keys, &items);
    if (!sound) ct_io_map_release(r->heap, tree, entries, keys, items);
    bool done = sound && (ct_io_map_tree(r->heap, tree, entries, count, value) || no_memory(r));
    free(entries);
    return done;
}

static bool read_map(Reader *r, const CtPath *path, const CtType *type, Meant meant, const json_t *json,
                     CtWord *value) {
    Entries all = {.path = path, .meant_key = argument(meant, 0), .meant_item = argument(meant, 1)};
    return ct_io_is_map(type, &all.key, &all.item) && read_tree(r, &all, type, type, json, value);
}

static bool read_set(Reader *r, const CtPath *path, const CtType *type, Meant meant, const json_t *json,
                     CtWord *value) {
    Entries all = {.path = path, .meant_key = argument(meant, 0)};
    CtWord tree;
    return ct_io_is_set(type, &all.key) && read_tree(r, &all, type, type->data->cons[0].fields[0], json, &tree) &&
           (ct_io_set_of(r->heap, type, tree, value) || no_memory(r));
}

/* ---- data ---- */

static const CtCon *find_con(const CtCon *cons, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(cons[i].name->text, name) == 0) return &cons[i];
    return NULL;
}

/* `Leaf, Twig or Node` for messages. */
static const char *con_names(const CtCon *cons, uint32_t count, char *out, size_t size) {
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < count && n < size; i++) {
        const char *between = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        int more = snprintf(out + n, size - n, "%s%s", between, cons[i].name->text);
        n += more > 0 ? (size_t)more : 0;
    }
    return out;
}

static bool read_record(Reader *r, const CtPath *path, const CtType *type, const CtCon *con, const Params *params,
                        const json_t *json, CtWord *value) {
    if (!json_is_object(json)) return expected(r, path, type, "an object with a member for each field", json);
    const char *key, *extra = NULL, *missing = NULL;
    for (uint32_t i = con->count; i > 0; i--)
        if (!member_of(r, json, con->field_names, con->count, i - 1)) missing = con->field_names[i - 1]->text;
    json_t *member;
    if (!r->json->foreign) json_object_foreach((json_t *)json, key, member) {
            bool known = false;
            for (uint32_t i = 0; i < con->count; i++) known |= strcmp(con->field_names[i]->text, key) == 0;
            if (!known && !extra) extra = key;
        }
    if (missing && extra)
        return wrong(r, path, "the field `%s` is missing, and `%.80s` is not a field of %s", missing, extra,
                     con->name->text);
    if (missing) return wrong(r, path, "the field `%s` of %s is missing", missing, con->name->text);
    if (extra) return wrong(r, path, "`%.80s` is not a field of %s", extra, con->name->text);
    const CtLayout *layout = ct_value_layout_con(r->heap, con);
    return read_fields(r, path, layout, con->tag, con->fields, con->forms, params, con->count, con->field_names, json,
                       value);
}

static bool read_con(Reader *r, const CtPath *path, const CtType *type, const CtCon *con, const Params *params,
                     const json_t *args, CtWord *value) {
    const CtData *data = type->data;
    size_t given = args && json_is_array(args) ? json_array_size(args) : 0;
    if (con->field_names && con->count > 0) {
        if (args) return read_record(r, path, type, con, params, args, value);
        return wrong(r, path, "%s has fields: write {\"%s\": {…}}", con->name->text, con->name->text);
    }
    if (args && !json_is_array(args)) return expected(r, path, type, "the constructor's arguments as an array", args);
    if (given != con->count)
        return wrong(r, path, "%s takes %u argument%s, found %zu", con->name->text, con->count,
                     con->count == 1 ? "" : "s", given);
    if (data->is_enum) {
        value->integer = con->tag;
        return true;
    }
    if (con->count == 0) {
        value->object = ct_value_nullary(r->heap, con);
        return value->object || no_memory(r);
    }
    const CtLayout *layout = ct_value_layout_con(r->heap, con);
    return read_fields(r, path, layout, con->tag, con->fields, con->forms, params, con->count, NULL, args, value);
}

/* Reads one of these constructors, all that a type or a layer has. */
static bool read_one_of(Reader *r, const CtPath *path, const CtType *type, const CtCon *cons, uint32_t count,
                        Meant meant, const json_t *json, CtWord *value) {
    enum { MOST = 8 };
    Meant types[MOST];
    Params params = {.types = types, .count = meant.form && meant.form->count <= MOST ? meant.form->count : 0};
    for (uint32_t i = 0; i < params.count; i++) types[i] = argument(meant, i);
    if (count == 1 && cons->field_names) return read_record(r, path, type, cons, &params, json, value);
    const char *name = NULL;
    const json_t *args = NULL;
    if (json_is_string(json)) {
        name = json_string_value(json);
    } else if (json_is_object(json) && json_object_size(json) == 1) {
        void *member = json_object_iter((json_t *)json);
        name = json_object_iter_key(member);
        args = json_object_iter_value(member);
    }
    const CtCon *con = name ? find_con(cons, count, name) : NULL;
    if (!con) {
        char names[160];
        return expected(r, path, type, con_names(cons, count, names, sizeof names), json);
    }
    CtPath here = {.outer = path, .field = con->name->text};
    return read_con(r, args ? &here : path, type, con, &params, args, value);
}

static bool read_data(Reader *r, const CtPath *path, const CtType *type, Meant meant, const json_t *json,
                      CtWord *value) {
    const CtData *data = type->data;
    if (ct_core_type_is_integer(type)) return read_integer(r, path, type, json, value);
    if (ct_io_json_is_bool(type)) {
        if (!json_is_boolean(json)) return expected(r, path, type, "true or false", json);
        value->integer = json_is_true(json);
        return true;
    }
    if (ct_io_json_is_string(type)) {
        if (!json_is_string(json) || number_text(r, json)) return expected(r, path, type, "a string", json);
        value->object = ct_value_string_new(r->heap, type, json_string_value(json), json_string_length(json));
        return value->object || no_memory(r);
    }
    if (ct_io_json_is_list(type)) return read_list(r, path, type, data->cons, meant, json, value);
    const CtType *key, *item;
    bool tree = r->replace && r->replace->trees; /* shows_trees of json_write.c */
    if (!tree && ct_io_is_map(type, &key, &item)) return read_map(r, path, type, meant, json, value);
    if (!tree && ct_io_is_set(type, &key)) return read_set(r, path, type, meant, json, value);
    if (!read_one_of(r, path, type, data->cons, data->con_count, resolve(meant), json, value)) return false;
    const char *unmade = ct_value_unmade(type, *value);
    if (unmade == NULL) return true;
    ct_value_release(r->heap, type, *value);
    return wrong(r, path, "%s", unmade);
}

/* The base of a universal type, in its constructor. */
static bool read_base(Reader *r, const CtPath *path, const CtCon *con, Meant meant, const json_t *json, CtWord *value) {
    CtWord inside;
    if (!read_value(r, path, con->fields[0], meant, json, &inside)) return false;
    const CtLayout *layout = ct_value_layout_con(r->heap, con);
    CtFields *fields = layout ? ct_value_fields_new(r->heap, layout, con->tag) : NULL;
    if (!fields) {
        ct_value_release(r->heap, con->fields[0], inside);
        return no_memory(r);
    }
    fields->words[0] = inside;
    value->object = &fields->head;
    return true;
}

/* A value of a universal type: the type that is meant tells whether it is one of a layer, or of the base. */
static bool read_universal(Reader *r, const CtPath *path, const CtType *type, Meant meant, const json_t *json,
                           CtWord *value) {
    const CtData *data = type->data;
    meant = resolve(meant);
    if (!meant.form)
        return wrong(r, path, "the type of this value cannot be told: a program can make it, but not read it");
    uint32_t first = 1, count = 0;
    while (first < data->con_count && data->cons[first].layer != meant.form->head) first++;
    while (first + count < data->con_count && data->cons[first + count].layer == meant.form->head) count++;
    const CtCon *cons = &data->cons[first];
    if (count == 0 || meant.form->base_of == type) return read_base(r, path, &data->cons[0], meant, json, value);
    if (ct_value_is_list_layer(cons)) return read_list(r, path, type, cons, meant, json, value);
    if (!ct_value_is_tuple_layer(cons)) return read_one_of(r, path, type, cons, count, meant, json, value);
    char form[64];
    snprintf(form, sizeof form, "an array of %u elements", cons->count);
    if (!json_is_array(json) || json_array_size(json) != cons->count) return expected(r, path, type, form, json);
    return read_fields(r, path, ct_value_layout_con(r->heap, cons), cons->tag, cons->fields, meant.form->args,
                       meant.params, cons->count, NULL, json, value);
}

static bool read_value(Reader *r, const CtPath *path, const CtType *type, Meant meant, const json_t *json,
                       CtWord *value) {
    switch (type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT: return read_real(r, path, type, json, value);
    case TYPE_INT: return read_int(r, path, type, json, value);
    case TYPE_CHAR: return read_char(r, path, type, json, value);
    case TYPE_TUPLE: return read_tuple(r, path, type, meant, json, value);
    case TYPE_ARRAY: return read_array(r, path, type, meant, json, value);
    case TYPE_FUN: return wrong(r, path, "a function cannot be given as JSON");
    case TYPE_DATA:
        if (type->data->is_universal) return read_universal(r, path, type, meant, json, value);
        return read_data(r, path, type, meant, json, value);
    }
    return false;
}

bool ct_io_json_value(CtContext *context, CtHeap *heap, const CtJson *json, const CtType *type, const CtLeaves *replace,
                      CtWord *value) {
    Reader reader = {.context = context, .heap = heap, .json = json, .replace = replace};
    const CtPath element = {.index = 0};
    const Meant meant = {.form = type->form};
    if (read_value(&reader, json->is_element ? &element : NULL, type, meant, json->value, value)) return true;
    if (reader.no_memory)
        ct_error(context, CT_E0801, CT_NO_RANGE, "%s: the value does not fit into the memory limit", json->what);
    else
        ct_error(context, CT_E0601, CT_NO_RANGE, "%s", reader.message);
    return false;
}
