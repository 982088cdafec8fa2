/* Values to JSON. It uses a stack of frames instead of recursion, so that a value of any depth can be written. */
#include <math.h>
#include <stdlib.h>

#include "io/internal.h"

bool ct_io_json_is_list(const CtType *type) {
    return type->kind == TYPE_DATA && type->data->arg_count == 1 && strcmp(type->data->name->text, "[]") == 0;
}

bool ct_io_json_is_string(const CtType *type) {
    return ct_io_json_is_list(type) && type->data->args[0]->kind == TYPE_CHAR;
}

bool ct_io_json_is_bool(const CtType *type) {
    if (type->kind != TYPE_DATA || strcmp(type->data->name->text, "Bool") != 0) return false;
    const CtData *data = type->data;
    return data->is_enum && data->con_count == 2 && strcmp(data->cons[0].name->text, "False") == 0;
}

/* Whether a constructor is the only one of its type, or of its layer of a universal type. */
static bool is_only(const CtCon *con) {
    const CtData *data = con->data;
    if (!data->is_universal) return data->con_count == 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < data->con_count; i++) count += data->cons[i].layer == con->layer;
    return count == 1;
}

static size_t without_primes(CtSym field) {
    size_t length = field->length;
    while (length > 1 && field->text[length - 1] == '\'') length--;
    return length;
}

size_t ct_io_foreign_name(CtSym const *fields, uint32_t count, uint32_t index) {
    size_t length = without_primes(fields[index]);
    for (uint32_t i = 0; i < count && length < fields[index]->length; i++)
        if (i != index && without_primes(fields[i]) == length &&
            memcmp(fields[i]->text, fields[index]->text, length) == 0)
            return fields[index]->length;
    return length;
}

/* ---- scalars ---- */

/* A Float prints the fewest digits that read back to the same Float, through a Double, too. */
static void write_float(CtText *out, double value) {
    char digits[40];
    for (int precision = 6; precision <= 9; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if ((double)(float)strtod(digits, NULL) == value && (double)strtof(digits, NULL) == value) {
            ct_text_puts(out, digits);
            return;
        }
    }
    ct_text_double(out, value);
}

static void write_real(CtText *out, const CtType *type, double value) {
    if (value == 0 && signbit(value))
        ct_text_puts(out, "-0.0"); /* "-0" would read back as an integer */
    else if (type->kind == TYPE_FLOAT && isfinite(value))
        write_float(out, value);
    else
        ct_text_double(out, value);
}

void ct_io_json_write_string(CtText *out, const char *text, size_t length) {
    ct_text_putc(out, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') {
            ct_text_putc(out, '\\');
            ct_text_putc(out, (char)c);
        } else if (c == '\n') {
            ct_text_puts(out, "\\n");
        } else if (c == '\t') {
            ct_text_puts(out, "\\t");
        } else if (c < 0x20 || c == 0x7f) {
            ct_text_printf(out, "\\u%04x", c);
        } else if (c == 0xED && i + 2 < length && (unsigned char)text[i + 1] >= 0xA0) {
            ct_text_puts(out, "\\ufffd"); /* half of a pair of UTF-16, which is none of UTF-8's characters */
            i += 2;
        } else {
            ct_text_putc(out, (char)c);
        }
    }
    ct_text_putc(out, '"');
}

static void write_string(CtText *out, CtWord string) {
    CtText plain = ct_text(out->arena);
    ct_value_string_text(&plain, string, SIZE_MAX);
    ct_io_json_write_string(out, plain.data ? plain.data : "", plain.length);
}

static void write_char(CtText *out, int64_t point) {
    char bytes[4];
    size_t n = 0;
    uint32_t c = point < 0 || point > 0x10FFFF ? 0xFFFD : (uint32_t)point;
    if (c < 0x80) {
        bytes[n++] = (char)c;
    } else if (c < 0x800) {
        bytes[n++] = (char)(0xC0 | c >> 6);
        bytes[n++] = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        bytes[n++] = (char)(0xE0 | c >> 12);
        bytes[n++] = (char)(0x80 | (c >> 6 & 0x3F));
        bytes[n++] = (char)(0x80 | (c & 0x3F));
    } else {
        bytes[n++] = (char)(0xF0 | c >> 18);
        bytes[n++] = (char)(0x80 | (c >> 12 & 0x3F));
        bytes[n++] = (char)(0x80 | (c >> 6 & 0x3F));
        bytes[n++] = (char)(0x80 | (c & 0x3F));
    }
    ct_io_json_write_string(out, bytes, n);
}

/* A real is never written as an integer: other programs may tell them apart. */
static void write_foreign_real(CtText *out, const CtType *type, double value) {
    size_t before = out->length;
    write_real(out, type, value);
    for (size_t i = before; i < out->length; i++)
        if (out->data[i] != '-' && (out->data[i] < '0' || out->data[i] > '9')) return;
    ct_text_puts(out, ".0");
}

/* ---- structures ---- */

/* The part of one structure that is not written yet: its children from index `next` on, then `close`. */
typedef struct Frame {
    enum { FRAME_PARTS, FRAME_LIST, FRAME_ARRAY, FRAME_MAP, FRAME_SET } kind;
    const CtType *type;   /* LIST, ARRAY, SET: the type of the elements */
    CtType *const *types; /* PARTS; MAP: of key and item */
    CtSym const *names;   /* PARTS: keys, or NULL */
    const CtWord *words;  /* PARTS, ARRAY; MAP, SET: key, item, key, item … */
    const CtObject *cell; /* LIST */
    uint32_t nil;         /* LIST: the tag of its end */
    uint64_t next, count;
    const char *close;
} Frame;

typedef struct Writer {
    CtText *out;
    CtLeaves *collect;
    bool foreign;
    CT_VEC(Frame) frames;
} Writer;

static void push(Writer *w, Frame frame) { ct_push(w->out->arena, &w->frames, frame); }

static void open_con(Writer *w, const CtCon *con, const CtFields *fields) {
    Frame frame = {.kind = FRAME_PARTS, .types = con->fields, .names = con->field_names, .words = fields->words};
    frame.count = con->count;
    if (con->field_names && is_only(con)) {
        ct_text_putc(w->out, '{');
        frame.close = "}";
    } else {
        ct_text_putc(w->out, '{');
        ct_io_json_write_string(w->out, con->name->text, con->name->length);
        ct_text_puts(w->out, con->field_names ? ":{" : ":[");
        frame.close = con->field_names ? "}}" : "]}";
    }
    push(w, frame);
}

static bool write_start(Writer *w, const CtType *type, CtWord value);

/* Values of a universal type are written like those that they stand for. */
static bool write_universal(Writer *w, const CtData *data, CtWord value) {
    const CtFields *fields = (const CtFields *)value.object;
    const CtCon *con = &data->cons[fields->head.tag];
    if (con->layer == NULL) {
        CtType *base = con->fields[0];
        while (base->kind == TYPE_DATA && base->data->is_universal && fields->words[0].object->tag == 0) {
            fields = (const CtFields *)fields->words[0].object;
            base = base->data->cons[0].fields[0];
        }
        return write_start(w, base, fields->words[0]);
    }
    if (ct_value_is_tuple_layer(con)) {
        ct_text_putc(w->out, '[');
        push(w,
             (Frame){
                 .kind = FRAME_PARTS, .types = con->fields, .words = fields->words, .count = con->count, .close = "]"});
    } else if (ct_value_is_list_layer(con)) {
        const CtCon *nil = con->count == 0 ? con : con - 1;
        ct_text_putc(w->out, '[');
        push(w, (Frame){
                    .kind = FRAME_LIST, .type = nil[1].fields[0], .cell = value.object, .nil = nil->tag, .close = "]"});
    } else if (con->count == 0) {
        ct_io_json_write_string(w->out, con->name->text, con->name->length);
    } else {
        open_con(w, con, fields);
    }
    return true;
}

/* A map from strings is an object, others are arrays of pairs; a set is an array. In the order of the keys. */
static void open_map(Writer *w, const CtType *type, CtWord value) {
    bool set = type->data->con_count == 1;
    const CtType *tree = set ? type->data->cons[0].fields[0] : type;
    CtType *const *types = tree->data->cons[1].fields + 2;
    bool object = !set && ct_io_json_is_string(types[0]);
    Frame frame = {.kind = set ? FRAME_SET : FRAME_MAP, .type = types[0], .types = types, .close = object ? "}" : "]"};
    size_t count;
    frame.words = ct_io_map_entries(w->out->arena, type, value, &count);
    frame.count = count;
    ct_text_putc(w->out, object ? '{' : '[');
    push(w, frame);
}

/* A text that is read again with other reals keeps the trees that maps are, whose shapes derivatives have, too. */
static bool shows_trees(const Writer *w) { return w->collect != NULL && !w->collect->apart; }

static void write_data(Writer *w, const CtType *type, CtWord value) {
    const CtData *data = type->data;
    const CtType *key, *item;
    if (ct_core_type_is_integer(type)) {
        ct_value_integer_print(w->out, value);
    } else if (ct_io_json_is_bool(type)) {
        ct_text_puts(w->out, value.integer ? "true" : "false");
    } else if (ct_io_json_is_string(type)) {
        write_string(w->out, value);
    } else if (ct_io_json_is_list(type)) {
        ct_text_putc(w->out, '[');
        push(w, (Frame){.kind = FRAME_LIST, .type = data->args[0], .cell = value.object, .close = "]"});
    } else if (!shows_trees(w) && (ct_io_is_map(type, &key, &item) || ct_io_is_set(type, &key))) {
        open_map(w, type, value);
    } else {
        const CtCon *con = &data->cons[data->is_enum ? (uint32_t)value.integer : value.object->tag];
        if (con->count == 0)
            ct_io_json_write_string(w->out, con->name->text, con->name->length);
        else
            open_con(w, con, (const CtFields *)value.object);
    }
}

/* Writes a scalar, or the beginning of a structure, and then pushes a frame for the rest. */
static bool write_start(Writer *w, const CtType *type, CtWord value) {
    switch (type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT:
        if (w->collect && w->collect->apart)
            ct_text_putc(w->out, '1');
        else if (w->foreign)
            write_foreign_real(w->out, type, value.real);
        else
            write_real(w->out, type, value.real);
        if (w->collect) {
            ct_push(w->collect->arena, &w->collect->reals, value.real);
            ct_push(w->collect->arena, &w->collect->floats, type->kind == TYPE_FLOAT);
            w->collect->single |= type->kind == TYPE_FLOAT;
        }
        return true;
    case TYPE_INT: ct_text_printf(w->out, "%lld", (long long)value.integer); return true;
    case TYPE_CHAR: write_char(w->out, value.integer); return true;
    case TYPE_TUPLE:
        ct_text_putc(w->out, '[');
        if (type->count == 0) {
            ct_text_putc(w->out, ']');
            return true;
        }
        push(w, (Frame){.kind = FRAME_PARTS,
                        .types = type->parts,
                        .words = ((const CtFields *)value.object)->words,
                        .count = type->count,
                        .close = "]"});
        return true;
    case TYPE_ARRAY: {
        const CtArray *array = (const CtArray *)value.object;
        ct_text_putc(w->out, '[');
        push(w, (Frame){.kind = FRAME_ARRAY,
                        .type = type->parts[0],
                        .words = array->items,
                        .count = (uint64_t)array->length,
                        .close = "]"});
        return true;
    }
    case TYPE_FUN: return false;
    case TYPE_DATA:
        if (type->data->is_universal) return write_universal(w, type->data, value);
        write_data(w, type, value);
        return true;
    }
    return false;
}

/* The next child of a frame; false when there is none left. */
static bool next_child(Frame *frame, const CtType **type, CtWord *value) {
    switch (frame->kind) {
    case FRAME_LIST: {
        const CtFields *cell = (const CtFields *)frame->cell;
        if (frame->cell->tag == frame->nil) return false;
        *type = frame->type;
        *value = cell->words[0];
        frame->cell = cell->words[1].object;
        return true;
    }
    case FRAME_ARRAY:
        if (frame->next == frame->count) return false;
        *type = frame->type;
        *value = frame->words[frame->next];
        return true;
    case FRAME_MAP:
    case FRAME_SET:
        if (frame->next == frame->count) return false;
        *type = frame->kind == FRAME_MAP ? frame->types[1] : frame->type;
        *value = frame->words[2 * frame->next + (frame->kind == FRAME_MAP)];
        return true;
    case FRAME_PARTS:
        if (frame->next == frame->count) return false;
        *type = frame->types[frame->next];
        *value = frame->words[frame->next];
        return true;
    }
    return false;
}

static bool write(Writer *w, const CtType *type, CtWord value) {
    CtText *out = w->out;
    if (!write_start(w, type, value)) return false;
    while (w->frames.count > 0) {
        Frame *frame = &w->frames.items[w->frames.count - 1];
        uint64_t index = frame->next;
        if (!next_child(frame, &type, &value)) {
            ct_text_puts(out, frame->close);
            w->frames.count--;
            continue;
        }
        frame->next++;
        if (index > 0) ct_text_putc(out, ',');
        if (frame->kind == FRAME_MAP && !ct_io_json_is_string(frame->types[0])) {
            const Frame pair = {.kind = FRAME_PARTS,
                                .types = frame->types,
                                .words = frame->words + 2 * index,
                                .count = 2,
                                .close = "]"};
            ct_text_putc(out, '[');
            push(w, pair);
            continue;
        }
        if (frame->kind == FRAME_MAP) {
            write_string(out, frame->words[2 * index]);
            ct_text_putc(out, ':');
        }
        if (frame->names) {
            CtSym name = frame->names[index];
            ct_io_json_write_string(
                out, name->text,
                w->foreign ? ct_io_foreign_name(frame->names, (uint32_t)frame->count, (uint32_t)index) : name->length);
            ct_text_putc(out, ':');
        }
        if (!write_start(w, type, value)) return false;
    }
    return true;
}

bool ct_io_json_write(CtText *out, const CtType *type, CtWord value, CtLeaves *collect) {
    Writer writer = {.out = out, .collect = collect};
    return write(&writer, type, value);
}

bool ct_io_json_write_foreign(CtText *out, const CtType *type, CtWord value) {
    Writer writer = {.out = out, .foreign = true};
    return write(&writer, type, value);
}
