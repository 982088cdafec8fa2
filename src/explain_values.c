/* Values with their sharing: an object that is met more than once, or lies deep, gets a name and is written where the names
 * are explained. */
#include <stdio.h>

#include "explain.h"

enum { MOST_MET = 20000, MOST_NAMED = 200, MOST_ITEMS = 24, DEEP = 12, CODE_COLUMNS = 72 };

typedef struct CtNamed {
    const CtType *type;
    CtWord value;
    uint32_t times;
    const char *name; /* given when it is first written; NULL before */
} CtNamed;

CtValueWriter ct_value_writer(CtArena *arena, CtProgram *p) { return (CtValueWriter){.arena = arena, .p = p}; }

static bool is_list(const CtType *type) { return strcmp(type->data->name->text, "[]") == 0; }

/* Constructors without fields and functions that capture nothing are one object everywhere: that says nothing. */
static bool is_worth_a_name(const CtType *type, CtWord value) {
    if (!ct_type_is_pointer(type)) return false;
    const CtObject *object = value.object;
    if (object->layout->kind == OBJECT_ARRAY) return ((const CtArray *)object)->length > 0;
    return object->layout->count > 0;
}

/* ---- looking ---- */

typedef struct Item {
    const CtType *type;
    CtWord value;
} Item;

typedef struct Items {
    CtArena *arena;
    CT_VEC(Item) items;
} Items;

static void add(Items *work, const CtType *type, CtWord value) {
    if (!ct_type_is_pointer(type)) return;
    Item item = {type, value};
    ct_push(work->arena, &work->items, item);
}

static void add_parts(Items *work, const CtType *type, CtWord value) {
    switch (type->kind) {
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < type->count; i++)
            add(work, type->parts[i], ((const CtFields *)value.object)->words[i]);
        break;
    case TYPE_DATA: {
        const CtFields *fields = (const CtFields *)value.object;
        const CtCon *con = &type->data->cons[fields->head.tag];
        for (uint32_t i = 0; i < con->count; i++) add(work, con->fields[i], fields->words[i]);
        break;
    }
    case TYPE_ARRAY: {
        const CtArray *array = (const CtArray *)value.object;
        for (int64_t i = 0; i < array->length && i < MOST_ITEMS; i++) add(work, type->parts[0], array->items[i]);
        break;
    }
    case TYPE_FUN: {
        const CtLam *lam = ct_eval_lam(value);
        const CtClosure *closure = (const CtClosure *)value.object;
        for (uint32_t i = 0; i < closure->head.layout->count; i++)
            add(work, lam->captures[i]->type, closure->captures[i]);
        break;
    }
    case TYPE_DOUBLE:
    case TYPE_FLOAT:
    case TYPE_INT:
    case TYPE_CHAR: break;
    }
}

void ct_value_look(CtValueWriter *w, const CtType *type, CtWord value) {
    Items work = {.arena = w->arena};
    if (ct_type_is_pointer(type) && ct_map_has(&w->names, ct_key(value.object)))
        add_parts(&work, type, value);
    else
        add(&work, type, value);
    while (work.items.count > 0 && w->met < MOST_MET) {
        Item item = work.items.items[--work.items.count];
        uint64_t key = ct_key(item.value.object);
        if (!is_worth_a_name(item.type, item.value) || ct_map_has(&w->names, key)) continue;
        CtNamed *named = ct_map_get(&w->own, key);
        if (named) {
            named->times++;
            continue;
        }
        named = CT_NEW(w->arena, CtNamed);
        *named = (CtNamed){.type = item.type, .value = item.value, .times = 1};
        ct_map_set(w->arena, &w->own, key, named);
        w->met++;
        add_parts(&work, item.type, item.value);
    }
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

/* The λ as Core, on one line, as far as it goes. */
static void put_code(Put *p, const CtLam *lam) {
    CtText code = ct_text(p->w->arena);
    ct_core_print(&code, p->w->p, lam->node);
    size_t columns = 0;
    bool blank = false;
    for (const char *c = code.data; *c != '\0'; c++) {
        if (*c == '\n' || *c == ' ') {
            blank = true;
            continue;
        }
        bool starts = ((unsigned char)*c & 0xC0) != 0x80;
        if (starts && columns >= CODE_COLUMNS) {
            ct_text_puts(p->out, " …");
            return;
        }
        if (blank) ct_text_putc(p->out, ' ');
        columns += starts + blank;
        blank = false;
        ct_text_putc(p->out, *c);
    }
}

static void put_function(Put *p, CtWord value, bool tight) {
    const CtLam *lam = ct_eval_lam(value);
    const CtClosure *closure = (const CtClosure *)value.object;
    if (tight) ct_text_puts(p->out, "(");
    put_code(p, lam);
    for (uint32_t i = 0; i < closure->head.layout->count; i++) {
        ct_text_printf(p->out, i == 0 ? " where %s = " : ", %s = ", lam->captures[i]->name->text);
        put(p, lam->captures[i]->type, closure->captures[i], false);
    }
    if (tight) ct_text_puts(p->out, ")");
}

static void put_whole(Put *p, const CtType *type, CtWord value, bool tight) {
    char number[40];
    p->depth++;
    switch (type->kind) {
    case TYPE_DOUBLE:
        ct_show_double(number, value.real);
        put_number(p, number, tight);
        break;
    case TYPE_FLOAT:
        ct_show_float(number, value.real);
        put_number(p, number, tight);
        break;
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
    if (is_worth_a_name(type, value)) {
        const char *name = ct_map_get(&p->w->names, ct_key(value.object));
        if (name) {
            ct_text_puts(p->out, name);
            return;
        }
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

void ct_value_write(CtValueWriter *w, CtText *out, const CtType *type, CtWord value) {
    Put p = {.w = w, .out = out};
    put_whole(&p, type, value, false);
}

void ct_value_write_named(CtValueWriter *w, CtText *out) {
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
