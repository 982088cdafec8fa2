/* NumPy's .npz: a zip archive whose members are .npy files. The members of a record are named like
 * its fields, those of a tuple `arr_0`, `arr_1`, … as numpy.savez names positional arguments. Parts of a nested tuple
 * or record have dotted names: `mu.0`, `layer.weights`.
 *
 * An archive is read whole, into memory of its own, before any value is made: libzip's objects are never held while the
 * arena or a heap is asked for memory.
 */
#include <stdlib.h>
#include <zip.h>

#include "io/internal.h"

typedef struct Member {
    char *name; /* without the suffix .npy */
    unsigned char *bytes;
    size_t length;
    bool used;
} Member;

struct CtNpz {
    const char *what;
    const char *const *parameters; /* names for the parts of the whole, a tuple of arguments; or NULL */
    Member *members;
    size_t count;
};

void ct_io_npz_free(CtNpz *npz) {
    if (!npz) return;
    for (size_t i = 0; i < npz->count; i++) {
        free(npz->members[i].name);
        free(npz->members[i].bytes);
    }
    free(npz->members);
    free(npz);
}

/* ---- reading the archive ---- */

typedef enum Outcome { DONE, NO_MEMORY, TOO_LARGE, BROKEN } Outcome;

static Outcome read_bytes(zip_t *zip, zip_uint64_t index, uint64_t size, Member *member) {
    member->bytes = malloc(size > 0 ? size : 1);
    if (!member->bytes) return NO_MEMORY;
    zip_file_t *file = zip_fopen_index(zip, index, 0);
    if (!file) return BROKEN;
    uint64_t got = 0;
    while (got < size) {
        zip_int64_t more = zip_fread(file, member->bytes + got, size - got);
        if (more <= 0) break;
        got += (uint64_t)more;
    }
    char beyond;
    bool exact = got == size && zip_fread(file, &beyond, 1) == 0; /* libzip checks the checksum at the end */
    zip_fclose(file);
    member->length = size;
    return exact ? DONE : BROKEN;
}

static Outcome read_member(zip_t *zip, zip_uint64_t index, size_t *budget, Member *member) {
    zip_stat_t stat;
    if (zip_stat_index(zip, index, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE) || !(stat.valid & ZIP_STAT_NAME))
        return BROKEN;
    if (stat.size > *budget) return TOO_LARGE;
    *budget -= (size_t)stat.size;
    size_t length = strlen(stat.name);
    if (length > 4 && strcmp(stat.name + length - 4, ".npy") == 0) length -= 4;
    member->name = strndup(stat.name, length);
    return member->name ? read_bytes(zip, index, stat.size, member) : NO_MEMORY;
}

static Outcome read_members(CtNpz *npz, zip_t *zip, size_t budget) {
    zip_int64_t count = zip_get_num_entries(zip, 0);
    if (count < 0) return BROKEN;
    npz->members = calloc((size_t)count + 1, sizeof *npz->members);
    if (!npz->members) return NO_MEMORY;
    for (zip_int64_t i = 0; i < count; i++) {
        npz->count++;
        Outcome outcome = read_member(zip, (zip_uint64_t)i, &budget, &npz->members[i]);
        if (outcome != DONE) return outcome;
    }
    return DONE;
}

static Outcome read_archive(CtNpz *npz, const void *bytes, size_t length, size_t budget) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(bytes, length, 0, &error);
    zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    int code = zip_error_code_zip(&error);
    zip_error_fini(&error);
    if (!zip) {
        zip_source_free(source);
        return code == ZIP_ER_MEMORY ? NO_MEMORY : BROKEN;
    }
    Outcome outcome = read_members(npz, zip, budget);
    zip_discard(zip);
    return outcome;
}

CtNpz *ct_io_npz_read(CtContext *context, const char *what, const void *bytes, size_t length, size_t budget) {
    CtNpz *npz = calloc(1, sizeof *npz);
    Outcome outcome = npz ? read_archive(npz, bytes, length, budget) : NO_MEMORY;
    if (outcome == DONE) {
        npz->what = what;
        return npz;
    }
    ct_io_npz_free(npz);
    switch (outcome) {
    case NO_MEMORY: ct_error(context, CT_E0801, CT_NO_RANGE, "%s: there is no memory to read the archive", what); break;
    case TOO_LARGE:
        ct_error(context, CT_E0801, CT_NO_RANGE, "%s: the archive unpacks to more than the memory limit", what);
        break;
    case BROKEN:
    case DONE: ct_error(context, CT_E0610, CT_NO_RANGE, "%s: this is not a whole .npz archive", what); break;
    }
    return NULL;
}

/* ---- names of parts ---- */

typedef struct Name {
    char text[200];
    size_t length;
} Name;

/* The member name of a part: PREFIX.field or PREFIX.index; with an empty prefix, the field's name or `arr_INDEX`. */
static Name part_name(const Name *prefix, const char *field, uint32_t index) {
    Name name;
    int n = prefix->length == 0 && field ? snprintf(name.text, sizeof name.text, "%s", field)
            : prefix->length == 0        ? snprintf(name.text, sizeof name.text, "arr_%u", index)
            : field                      ? snprintf(name.text, sizeof name.text, "%s.%s", prefix->text, field)
                                         : snprintf(name.text, sizeof name.text, "%s.%u", prefix->text, index);
    name.length = n < 0 ? 0 : (size_t)n < sizeof name.text ? (size_t)n : sizeof name.text - 1;
    return name;
}

/* The component types of a tuple, or of a record with one constructor; NULL for other types, which are one member. */
static CtType *const *parts_of(const CtType *type, uint32_t *count, CtSym const **names) {
    *names = NULL;
    if (type->kind == TYPE_TUPLE) {
        *count = type->count;
        return type->parts;
    }
    if (type->kind != TYPE_DATA || type->data->con_count != 1 || !type->data->cons[0].field_names) return NULL;
    *count = type->data->cons[0].count;
    *names = type->data->cons[0].field_names;
    return type->data->cons[0].fields;
}

enum { DEEPEST = 32 };

/* ---- values of an archive ---- */

void ct_io_npz_name(CtNpz *npz, const char *const *parameters) { npz->parameters = parameters; }

typedef struct Reader {
    CtContext *context;
    CtHeap *heap;
    const CtNpz *npz;
    const CtLeaves *replace;
    uint32_t next_leaf;
} Reader;

static Member *find(const CtNpz *npz, const char *name) {
    for (size_t i = 0; i < npz->count; i++)
        if (strcmp(npz->members[i].name, name) == 0) return &npz->members[i];
    return NULL;
}

static bool read_part(Reader *r, const CtType *type, const Name *name, int depth, CtWord *value);

/* Lists the archive's members, at most 20, for an error message. */
static const char *member_names(const Reader *r) {
    CtText text = ct_text(r->context->arena);
    ct_text_puts(&text, r->npz->count == 0 ? "it is empty" : "it holds");
    for (size_t i = 0; i < r->npz->count && i < 20; i++)
        ct_text_printf(&text, "%s `%.60s`", i > 0 ? "," : "", r->npz->members[i].name);
    if (r->npz->count > 20) ct_text_puts(&text, ", …");
    return text.data;
}

static bool read_array(Reader *r, const CtType *type, const Name *name, CtWord *value) {
    bool only = name->length == 0 && r->npz->count == 1;
    Member *member = only ? &r->npz->members[0] : find(r->npz, name->length == 0 ? "arr_0" : name->text);
    char wanted[200];
    if (!ct_io_npy_has(type)) {
        ct_error(r->context, CT_E0612, CT_NO_RANGE, "%s: %s has no form in .npy files; give it as JSON", r->npz->what,
                 ct_io_type_name(type, wanted, sizeof wanted));
        return false;
    }
    if (!member) {
        CtDiag *diag =
            ct_error(r->context, CT_E0601, CT_NO_RANGE, "%s: the archive has no member `%s` for %s", r->npz->what,
                     name->length == 0 ? "arr_0" : name->text, ct_io_type_name(type, wanted, sizeof wanted));
        ct_help(r->context, diag, "%s", member_names(r));
        return false;
    }
    member->used = true;
    CtNpy npy;
    const char *what = ct_format(r->context->arena, "%s: `%.60s`", r->npz->what, member->name);
    return ct_io_npy_parse(r->context, what, member->bytes, member->length, &npy) &&
           ct_io_npy_value(r->context, r->heap, &npy, type, r->replace, &r->next_leaf, value);
}

bool ct_io_npz_members(CtContext *context, const CtNpz *npz, CtText *out) {
    for (size_t i = 0; i < npz->count; i++) {
        CtNpy npy;
        const Member *member = &npz->members[i];
        if (!ct_io_npy_parse(context, member->name, member->bytes, member->length, &npy)) return false;
        ct_text_printf(out, "%s :: ", member->name);
        for (uint32_t axis = 0; axis < npy.rank; axis++) ct_text_puts(out, axis + 1 < npy.rank ? "Array (" : "Array ");
        ct_text_puts(out, npy.kind == NPY_FLOAT ? "Double" : npy.kind == NPY_BOOL ? "Bool" : "Int");
        for (uint32_t axis = 1; axis < npy.rank; axis++) ct_text_putc(out, ')');
        ct_text_putc(out, '\n');
    }
    return true;
}

/* Whether the archive has a member of this name, or parts of it. */
static bool has_part(const CtNpz *npz, const Name *name) {
    for (size_t i = 0; i < npz->count; i++) {
        const char *member = npz->members[i].name;
        if (strncmp(member, name->text, name->length) == 0 &&
            (member[name->length] == '\0' || member[name->length] == '.'))
            return true;
    }
    return false;
}

/* The name of a part in this archive: arguments may have the names of their parameters. */
static Name name_here(const Reader *r, const Name *prefix, const char *field, uint32_t index) {
    Name name = part_name(prefix, field, index);
    const char *parameter = prefix->length == 0 && !field && r->npz->parameters ? r->npz->parameters[index] : NULL;
    return parameter && !has_part(r->npz, &name) ? part_name(prefix, parameter, index) : name;
}

static bool read_parts(Reader *r, CtType *const *types, uint32_t count, CtSym const *names, const Name *prefix,
                       int depth, CtWord *words) {
    for (uint32_t i = 0; i < count; i++) {
        Name name = name_here(r, prefix, names ? names[i]->text : NULL, i);
        if (read_part(r, types[i], &name, depth + 1, &words[i])) continue;
        while (i > 0) {
            i--;
            ct_value_release(r->heap, types[i], words[i]);
        }
        return false;
    }
    return true;
}

static bool read_part(Reader *r, const CtType *type, const Name *name, int depth, CtWord *value) {
    uint32_t count = 0;
    CtSym const *names;
    CtType *const *types = depth < DEEPEST ? parts_of(type, &count, &names) : NULL;
    if (!types) return read_array(r, type, name, value);
    if (count == 0) {
        value->integer = 0;
        return true;
    }
    CtWord *words = CT_NEW_ARRAY(r->context->arena, CtWord, count);
    if (!read_parts(r, types, count, names, name, depth, words)) return false;
    const CtLayout *layout = type->kind == TYPE_TUPLE ? ct_value_layout_tuple(r->heap, type)
                                                      : ct_value_layout_con(r->heap, &type->data->cons[0]);
    CtFields *fields = layout ? ct_value_fields_new(r->heap, layout, 0) : NULL;
    if (!fields) {
        for (uint32_t i = 0; i < count; i++) ct_value_release(r->heap, types[i], words[i]);
        ct_error(r->context, CT_E0801, CT_NO_RANGE, "%s: the value does not fit into the memory limit", r->npz->what);
        return false;
    }
    memcpy(fields->words, words, count * sizeof *words);
    value->object = &fields->head;
    return true;
}

bool ct_io_npz_value(CtContext *context, CtHeap *heap, const CtNpz *npz, const CtType *type, const CtLeaves *replace,
                     CtWord *value) {
    Reader r = {.context = context, .heap = heap, .npz = npz, .replace = replace};
    Name top = {.length = 0};
    for (size_t i = 0; i < npz->count; i++) npz->members[i].used = false;
    if (!read_part(&r, type, &top, 0, value)) return false;
    for (size_t i = 0; i < npz->count; i++) {
        if (npz->members[i].used) continue;
        char wanted[200];
        ct_value_release(heap, type, *value);
        ct_error(context, CT_E0601, CT_NO_RANGE, "%s: the member `%.60s` is no part of %s", npz->what,
                 npz->members[i].name, ct_io_type_name(type, wanted, sizeof wanted));
        return false;
    }
    return true;
}

/* ---- writing ---- */

struct CtNpzWriter {
    zip_t *zip;
    zip_source_t *source; /* holds the archive's bytes; outlives `zip` */
    CtContext *context;
    CtArena *arena;
    const char *what;
};

void ct_io_npz_writer_free(CtNpzWriter *writer) {
    if (!writer) return;
    if (writer->zip) zip_discard(writer->zip);
    zip_source_free(writer->source);
    free(writer);
}

CtNpzWriter *ct_io_npz_writer_new(CtContext *context, CtArena *arena, const char *what) {
    CtNpzWriter *writer = calloc(1, sizeof *writer);
    zip_error_t error;
    zip_error_init(&error);
    if (writer) {
        writer->context = context;
        writer->arena = arena;
        writer->what = what;
        writer->source = zip_source_buffer_create(NULL, 0, 0, &error);
        if (writer->source) writer->zip = zip_open_from_source(writer->source, ZIP_TRUNCATE, &error);
        if (writer->zip) zip_source_keep(writer->source);
    }
    zip_error_fini(&error);
    if (writer && writer->zip) return writer;
    ct_io_npz_writer_free(writer);
    ct_error(context, CT_E0801, CT_NO_RANGE, "there is no memory to write %s", what);
    return NULL;
}

static bool add_array(CtNpzWriter *w, const Name *name, const CtType *type, CtWord value) {
    char shown[200];
    const char *text = name->length == 0 ? "arr_0" : name->text;
    CtText bytes = ct_text(w->arena);
    if (!ct_io_npy_has(type)) {
        ct_error(w->context, CT_E0612, CT_NO_RANGE, "%s: `%s` is %s, which has no form in .npy files; write JSON",
                 w->what, text, ct_io_type_name(type, shown, sizeof shown));
        return false;
    }
    if (!ct_io_npy_write(&bytes, type, value)) {
        ct_error(w->context, CT_E0612, CT_NO_RANGE, "%s: the lists in `%s` are not all of one length", w->what, text);
        return false;
    }
    const char *file = ct_format(w->arena, "%s.npy", text);
    zip_source_t *source = zip_source_buffer(w->zip, bytes.data, bytes.length, 0);
    zip_int64_t index = source ? zip_file_add(w->zip, file, source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
        zip_source_free(source);
        ct_error(w->context, CT_E0612, CT_NO_RANGE, "%s: the member `%s` cannot be written: %s", w->what, text,
                 zip_strerror(w->zip));
        return false;
    }
    zip_set_file_compression(w->zip, (zip_uint64_t)index, ZIP_CM_STORE, 0); /* uncompressed, as numpy.savez does */
    zip_file_set_dostime(w->zip, (zip_uint64_t)index, 0, 33, 0); /* a fixed date: equal values give equal bytes */
    return true;
}

static bool add_part(CtNpzWriter *w, const Name *name, const CtType *type, CtWord value, int depth) {
    uint32_t count = 0;
    CtSym const *names;
    CtType *const *types = depth < DEEPEST ? parts_of(type, &count, &names) : NULL;
    if (!types) return add_array(w, name, type, value);
    for (uint32_t i = 0; i < count; i++) {
        Name inner = part_name(name, names ? names[i]->text : NULL, i);
        if (!add_part(w, &inner, types[i], ((const CtFields *)value.object)->words[i], depth + 1)) return false;
    }
    return true;
}

bool ct_io_npz_add(CtNpzWriter *writer, const char *name, const CtType *type, CtWord value) {
    Name top = {.length = 0};
    if (name) top.length = (size_t)snprintf(top.text, sizeof top.text, "%s", name);
    return add_part(writer, &top, type, value, 0);
}

bool ct_io_npz_finish(CtNpzWriter *writer, CtText *out) {
    zip_stat_t stat;
    bool done = zip_close(writer->zip) == 0;
    if (done) writer->zip = NULL;
    done = done && zip_source_stat(writer->source, &stat) == 0 && zip_source_open(writer->source) == 0;
    if (done) {
        char bytes[65536];
        zip_int64_t got;
        while ((got = zip_source_read(writer->source, bytes, sizeof bytes)) > 0) ct_text_add(out, bytes, (size_t)got);
        done = got == 0;
        zip_source_close(writer->source);
    }
    if (!done) ct_error(writer->context, CT_E0801, CT_NO_RANGE, "there is no memory to write %s", writer->what);
    return done;
}
