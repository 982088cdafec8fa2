/* Printing of values with their sharing: an object that occurs more than once, or at great depth, gets a name, and is
 * printed in a list of names. */
#include <stdio.h>

#include "explain/explain.h"

enum {
    MOST_MET = 20000,
    MOST_NAMED = 200,
    MOST_ITEMS = 24,
    DEEP = 12,
    CODE_COLUMNS = 72,
    LONG_REAL = 9,
    MOST_LETS = 400
};

typedef struct CtNamed {
    const CtType *type;
    CtWord value;
    uint32_t times;
    const char *name; /* given at its first use; NULL before */
} CtNamed;

/* The text of a λ: its Core on one line, cut off, and the names of its captured variables in it. */
typedef struct CtLamText {
    const char *code;
    const char **names;
} CtLamText;

static bool is_list(const CtType *type) { return strcmp(type->data->name->text, "[]") == 0; }

/* Constructors without fields, and functions without captures, are one object everywhere, which is no sharing. A
 * constructor with a single number is as short as a name. */
static bool is_worth_a_name(const CtType *type, CtWord value) {
    if (!ct_value_type_is_pointer(type)) return false;
    const CtLayout *layout = value.object->layout;
    if (layout->kind == OBJECT_ARRAY) return ((const CtArray *)value.object)->length > 0;
    return layout->count > 1 || (layout->count == 1 && (layout->pointers[0] & 1));
}

/* ---- looking ---- */

static void add(CtValueWriter *w, const CtType *type, CtWord value) {
    if (!ct_value_type_is_pointer(type)) return;
    CtTypedValue item = {type, value};
    ct_push(w->arena, &w->work, item);
}

static void add_parts(CtValueWriter *w, const CtType *type, CtWord value) {
    switch (type->kind) {
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < type->count; i++) add(w, type->parts[i], ((const CtFields *)value.object)->words[i]);
        break;
    case TYPE_DATA: {
        const CtFields *fields = (const CtFields *)value.object;
        const CtCon *con = &type->data->cons[fields->head.tag];
        for (uint32_t i = 0; i < con->count; i++) add(w, con->fields[i], fields->words[i]);
        break;
    }
    case TYPE_ARRAY: {
        const CtArray *array = (const CtArray *)value.object;
        for (int64_t i = 0; i < array->length && i < MOST_ITEMS; i++) add(w, type->parts[0], array->items[i]);
        break;
    }
    case TYPE_FUN: {
        const CtLam *lam = ct_eval_lam(value);
        const CtClosure *closure = (const CtClosure *)value.object;
        for (uint32_t i = 0; i < closure->head.layout->count; i++) add(w, lam->captures[i]->type, closure->captures[i]);
        break;
    }
    case TYPE_DOUBLE:
    case TYPE_FLOAT:
    case TYPE_INT:
    case TYPE_CHAR: break;
    }
}

static CtNamed *next_named(CtValueWriter *w) {
    if (w->met == w->all.count) ct_push(w->arena, &w->all, CT_NEW(w->arena, CtNamed));
    return w->all.items[w->met++];
}

void ct_explain_value_look(CtValueWriter *w, const CtType *type, CtWord value) {
    if (ct_value_type_is_pointer(type) && ct_map_has(&w->names, ct_key(value.object)))
        add_parts(w, type, value);
    else
        add(w, type, value);
    while (w->work.count > 0 && w->met < MOST_MET) {
        CtTypedValue item = w->work.items[--w->work.count];
        uint64_t key = ct_key(item.value.object);
        if (!is_worth_a_name(item.type, item.value) || ct_map_has(&w->names, key)) continue;
        CtNamed *named = ct_map_get(&w->own, key);
        if (named) {
            named->times++;
            continue;
        }
        named = next_named(w);
        *named = (CtNamed){.type = item.type, .value = item.value, .times = 1};
        ct_map_set(w->arena, &w->own, key, named);
        add_parts(w, item.type, item.value);
    }
    w->work.count = 0;
}

void ct_explain_value_again(CtValueWriter *w) {
    if (w->own.count > 0) memset(w->own.slots, 0, w->own.slot_count * sizeof *w->own.slots);
    w->own.count = w->named.count = w->met = 0;
}

/* ---- writing ---- */

typedef struct Put {
    CtValueWriter *w;
    CtText *out;
    uint32_t depth;
} Put;

static void put(Put *p, const CtType *type, CtWord value, bool tight);
static void put_whole(Put *p, const CtType *type, CtWord value, bool tight);

static void put_number(Put *p, const char *text, bool tight) {
    bool parentheses = tight && text[0] == '-';
    ct_text_printf(p->out, parentheses ? "(%s)" : "%s", text);
}

/* As ct_value_show_double, but rounded if long. */
static void put_real(Put *p, double value, bool tight) {
    char number[40];
    if (ct_value_show_double(number, value) > LONG_REAL) snprintf(number, sizeof number, "%.6g", value);
    put_number(p, number, tight);
}

static void put_name(Put *p, CtNamed *named) {
    if (!named->name) {
        named->name = ct_format(p->w->arena, "v%u", p->w->named.count + 1);
        ct_push(p->w->arena, &p->w->named, named);
    }
    ct_text_puts(p->out, named->name);
}

static void put_more(Put *p, int64_t left) { ct_text_printf(p->out, ", … %lld more", (long long)left); }

static void put_list(Put *p, const CtType *type, CtWord value) {
    const CtType *element = type->data->cons[1].fields[0];
    if (element->kind == TYPE_CHAR) {
        ct_value_show(p->out, type, value);
        return;
    }
    ct_text_puts(p->out, "[");
    int64_t count = 0;
    for (const CtObject *cell = value.object; cell->tag != 0; cell = ((const CtFields *)cell)->words[1].object) {
        if (++count > MOST_ITEMS) continue;
        if (count > 1) ct_text_puts(p->out, ", ");
        put(p, element, ((const CtFields *)cell)->words[0], false);
    }
    if (count > MOST_ITEMS) put_more(p, count - MOST_ITEMS);
    ct_text_puts(p->out, "]");
}

static void put_con(Put *p, const CtCon *con, const CtFields *fields, bool tight) {
    bool parentheses = tight && con->count > 0;
    if (parentheses) ct_text_puts(p->out, "(");
    ct_text_puts(p->out, con->name->text);
    for (uint32_t i = 0; i < con->count; i++) {
        ct_text_puts(p->out, " ");
        put(p, con->fields[i], fields->words[i], true);
    }
    if (parentheses) ct_text_puts(p->out, ")");
}

static void put_data(Put *p, const CtType *type, CtWord value, bool tight) {
    if (type->data->is_enum)
        ct_text_puts(p->out, type->data->cons[value.integer].name->text);
    else if (is_list(type))
        put_list(p, type, value);
    else
        put_con(p, &type->data->cons[value.object->tag], (const CtFields *)value.object, tight);
}

static void put_array(Put *p, const CtType *type, CtWord value) {
    const CtArray *array = (const CtArray *)value.object;
    ct_text_puts(p->out, "[|");
    for (int64_t i = 0; i < array->length && i < MOST_ITEMS; i++) {
        if (i > 0) ct_text_puts(p->out, ", ");
        put(p, type->parts[0], array->items[i], false);
    }
    if (array->length > MOST_ITEMS) put_more(p, array->length - MOST_ITEMS);
    ct_text_puts(p->out, "|]");
}

/* The text on one line, cut at CODE_COLUMNS. */
static const char *on_one_line(CtArena *arena, const char *text) {
    CtText out = ct_text(arena);
    size_t columns = 0;
    bool blank = false;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\n' || *c == ' ') {
            blank = true;
            continue;
        }
        bool starts = ((unsigned char)*c & 0xC0) != 0x80;
        if (starts && columns >= CODE_COLUMNS) {
            ct_text_puts(&out, " …");
            break;
        }
        if (blank) ct_text_putc(&out, ' ');
        columns += starts + blank;
        blank = false;
        ct_text_putc(&out, *c);
    }
    return out.data;
}

/* The printer gives distinct names to all variables bound in a term: so the captured variables are bound by a λ around
 * the whole, whose head shows the names, and whose body is the text. */
static const CtLamText *lam_text(CtValueWriter *w, const CtLam *lam) {
    CtLamText *known = ct_map_get(w->codes, ct_key(lam));
    if (known) return known;
    known = CT_NEW(w->arena, CtLamText);
    known->names = CT_NEW_ARRAY(w->arena, const char *, lam->capture_count + 1);
    CtText text = ct_text(w->arena);
    CtCore *closed = lam->node;
    if (lam->capture_count > 0)
        closed = ct_core_lam(w->p, lam->node->range, NULL, lam->captures, lam->capture_count, lam->node);
    ct_core_print(&text, w->p, closed);
    const char *at = text.data;
    for (uint32_t i = 0; i < lam->capture_count; i++) {
        at += i == 0 ? strlen("λ") : 0;
        size_t length = strcspn(at, i + 1 < lam->capture_count ? " " : ".");
        known->names[i] = ct_copy_text(w->arena, at, length);
        at += length + 1;
    }
    known->code = on_one_line(w->arena, ct_explain_unqualified(w->arena, at + strspn(at, " \n"), w->library));
    ct_map_set(w->arena, w->codes, ct_key(lam), known);
    return known;
}

static void put_function(Put *p, CtWord value, bool tight) {
    const CtLam *lam = ct_eval_lam(value);
    const CtClosure *closure = (const CtClosure *)value.object;
    if (tight) ct_text_puts(p->out, "(");
    const CtLamText *text = lam_text(p->w, lam);
    ct_text_puts(p->out, text->code);
    for (uint32_t i = 0; i < closure->head.layout->count; i++) {
        ct_text_printf(p->out, i == 0 ? " where %s = " : ", %s = ", text->names[i]);
        put(p, lam->captures[i]->type, closure->captures[i], false);
    }
    if (tight) ct_text_puts(p->out, ")");
}

static void put_whole(Put *p, const CtType *type, CtWord value, bool tight) {
    char number[40];
    p->depth++;
    switch (type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT: put_real(p, value.real, tight); break;
    case TYPE_INT:
        snprintf(number, sizeof number, "%lld", (long long)value.integer);
        put_number(p, number, tight);
        break;
    case TYPE_CHAR: ct_value_show(p->out, type, value); break;
    case TYPE_TUPLE:
        ct_text_puts(p->out, "(");
        for (uint32_t i = 0; i < type->count; i++) {
            if (i > 0) ct_text_puts(p->out, ", ");
            put(p, type->parts[i], ((const CtFields *)value.object)->words[i], false);
        }
        ct_text_puts(p->out, ")");
        break;
    case TYPE_ARRAY: put_array(p, type, value); break;
    case TYPE_FUN: put_function(p, value, tight); break;
    case TYPE_DATA: put_data(p, type, value, tight); break;
    }
    p->depth--;
}

static void put(Put *p, const CtType *type, CtWord value, bool tight) {
    CtNamed *named = NULL;
    const char *name = ct_value_type_is_pointer(type) ? ct_map_get(&p->w->names, ct_key(value.object)) : NULL;
    if (name && !(p->w->whole && strcmp(name, p->w->whole) == 0)) {
        ct_text_puts(p->out, name);
        return;
    }
    if (is_worth_a_name(type, value)) {
        named = ct_map_get(&p->w->own, ct_key(value.object));
        if (!named && p->w->met >= MOST_MET) {
            ct_text_puts(p->out, "…");
            return;
        }
    }
    if (named && (named->times > 1 || p->depth >= DEEP))
        put_name(p, named);
    else if (p->depth >= 2 * DEEP)
        ct_text_puts(p->out, "…");
    else
        put_whole(p, type, value, tight);
}

void ct_explain_value_write(CtValueWriter *w, CtText *out, const CtType *type, CtWord value) {
    Put p = {.w = w, .out = out};
    put_whole(&p, type, value, false);
}

void ct_explain_value_write_named(CtValueWriter *w, CtText *out) {
    Put p = {.w = w, .out = out};
    for (uint32_t i = 0; i < w->named.count && i < MOST_NAMED; i++) {
        CtNamed *named = w->named.items[i];
        ct_text_printf(out, "  %s%s = ", i == 0 ? "where " : "      ", named->name);
        put_whole(&p, named->type, named->value, false);
        ct_text_puts(out, "\n");
    }
    if (w->named.count > MOST_NAMED)
        ct_text_printf(out, "        … %u more that are shared\n", w->named.count - MOST_NAMED);
}

static const CtCon *let_of(const CtType *type, CtWord value) {
    if (type->kind != TYPE_DATA || type->data->is_enum) return NULL;
    const CtCon *con = &type->data->cons[value.object->tag];
    bool is_let = strcmp(con->name->text, "Let") == 0 && con->count == 3 && con->fields[0]->kind == TYPE_INT;
    return is_let && con->fields[2] == type ? con : NULL;
}

void ct_explain_value_write_lets(CtValueWriter *w, CtText *out, const CtType *type, CtWord value) {
    Put p = {.w = w, .out = out};
    uint32_t left = 0;
    for (uint32_t i = 0; let_of(type, value); i++) {
        const CtCon *con = let_of(type, value);
        const CtFields *fields = (const CtFields *)value.object;
        value = fields->words[2];
        if (i >= MOST_LETS) {
            left++;
            continue;
        }
        ct_text_printf(out, "Let %lld = ", (long long)fields->words[0].integer);
        put_whole(&p, con->fields[1], fields->words[1], false);
        ct_text_puts(out, " in\n");
    }
    if (left > 0) ct_text_printf(out, "… %u more Lets in\n", left);
    put_whole(&p, type, value, false);
    ct_text_puts(out, "\n");
}
