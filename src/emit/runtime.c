/* Selects the parts of the runtime (src/rt) that a program needs. The files are parsed by their layout: a function
 * begins with `static` at the start of a line, preceded by its comment, and ends where its braces do. */
#include <ctype.h>

#include "emit/runtime.h"

typedef struct Item {
    const char *text;
    size_t length;
    const char *function; /* start of the function, behind its comment; NULL: not a function */
    CtSym name;
    bool is_heading; /* a comment of its own, which is a heading for what follows */
    bool is_outside; /* Cotan provides this function */
    bool is_needed;
    uint32_t file;
} Item;

typedef struct Carried {
    CtArena *arena;
    CtSymbols names;
    CT_VEC(Item) items;
    CtMap functions; /* by name: the functions in the files */
    uint32_t always; /* number of files that are written in any case */
    uint32_t needed; /* number of functions that are needed */
    bool outside;
} Carried;

/* ---- reading ---- */

static const char *line_end(const char *at) {
    const char *end = strchr(at, '\n');
    return end != NULL ? end + 1 : at + strlen(at);
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool begins(const char *at, const char *with) { return strncmp(at, with, strlen(with)) == 0; }

static const char *comment_end(const char *at) {
    const char *end = strstr(at, "*/");
    return end != NULL ? line_end(end) : at + strlen(at);
}

static const char *function_end(const char *at) {
    int depth = 0;
    bool opened = false;
    for (; *at != '\0' && (depth > 0 || !opened); at++) {
        depth += (*at == '{') - (*at == '}');
        opened |= *at == '{';
    }
    return line_end(at);
}

/* The name of a function: the first identifier of ours before a parenthesis. */
static CtSym name_of(Carried *c, const char *at) {
    for (;; at++) {
        const char *open = strchr(at, '('), *start = open;
        while (is_word(start[-1])) start--;
        if (begins(start, "ct_")) return ct_intern(&c->names, start, (size_t)(open - start));
        at = open;
    }
}

static bool is_function(const char *at) {
    const char *end = line_end(at);
    return begins(at, "static ") && memchr(at, '(', (size_t)(end - at)) != NULL;
}

static const char *read_item(Carried *c, const char *at, uint32_t file) {
    Item item = {.text = at, .file = file, .is_needed = true};
    const char *behind = begins(at, "/*") ? comment_end(at) : at;
    if (is_function(behind)) {
        item.function = behind;
        item.name = name_of(c, behind);
        item.is_outside = c->outside && (begins(behind, "static CT_COLD ") || begins(behind, "static CT_CALLED "));
        item.is_needed = false;
        ct_map_set(c->arena, &c->functions, ct_key(item.name), NULL);
        behind = function_end(behind);
    } else if (behind != at) {
        item.is_heading = *behind == '\n';
    } else {
        behind = line_end(at);
    }
    item.length = (size_t)(behind - at);
    if (!begins(at, "#include \"rt/")) ct_push(c->arena, &c->items, item);
    return behind;
}

/* ---- what is needed ---- */

static void need(Carried *c, CtSym name);

static void need_mentioned(Carried *c, const char *at, const char *end) {
    while (at < end) {
        const char *start = at;
        while (at < end && is_word(*at)) at++;
        if (begins(start, "ct_")) need(c, ct_intern(&c->names, start, (size_t)(at - start)));
        if (at < end) at++;
    }
}

static void need(Carried *c, CtSym name) {
    if (!ct_map_has(&c->functions, ct_key(name))) return;
    for (uint32_t i = 0; i < c->items.count; i++) {
        Item *item = &c->items.items[i];
        if (item->name != name || item->is_needed) continue;
        item->is_needed = true;
        c->needed++;
        if (!item->is_outside) need_mentioned(c, item->function, item->text + item->length);
    }
}

static bool is_file_needed(const Carried *c, uint32_t file) {
    if (file < c->always) return true;
    for (uint32_t i = 0; i < c->items.count; i++)
        if (c->items.items[i].file == file && c->items.items[i].function != NULL && c->items.items[i].is_needed)
            return true;
    return false;
}

/* Macros that are written may need functions too. */
static void need_all(Carried *c, const char *program) {
    need_mentioned(c, program, program + strlen(program));
    for (uint32_t before = UINT32_MAX; before != c->needed;) {
        before = c->needed;
        for (uint32_t i = 0; i < c->items.count; i++) {
            const Item *item = &c->items.items[i];
            if (item->function == NULL && !begins(item->text, "/*") && is_file_needed(c, item->file))
                need_mentioned(c, item->text, item->text + item->length);
        }
    }
}

/* ---- writing ---- */

/* static CT_COLD TYPE NAME(PARAMETERS) { … }   ▶   static TYPE (*NAME)(PARAMETERS); */
static void put_pointer(CtText *out, const Item *item) {
    const char *type = strchr(item->function + strlen("static "), ' ') + 1;
    const char *name = strstr(type, item->name->text), *parameters = name + item->name->length;
    const char *body = strchr(parameters, '{');
    ct_text_printf(out, "static %.*s(*%s)%.*s;\n", (int)(name - type), type, item->name->text,
                   (int)(body - 1 - parameters), parameters);
}

static void put_item(CtText *out, const Item *item) {
    bool blank = item->text[0] == '\n';
    if (blank && out->length > 1 && out->data[out->length - 1] == '\n' && out->data[out->length - 2] == '\n') return;
    if (!item->is_outside)
        ct_text_add(out, item->text, item->length);
    else
        put_pointer(out, item);
}

static void put_file(const Carried *c, CtText *out, uint32_t file) {
    const Item *heading = NULL; /* of the items that have not been written so far */
    for (uint32_t i = 0; i < c->items.count; i++) {
        const Item *item = &c->items.items[i];
        if (item->file != file || !item->is_needed) continue;
        if (item->is_heading || begins(item->text, "#endif")) heading = NULL;
        if (item->is_heading) heading = item;
        if (item->is_heading || (heading != NULL && item->text[0] == '\n')) continue;
        if (heading != NULL) ct_text_printf(out, "%.*s\n", (int)heading->length, heading->text);
        heading = NULL;
        put_item(out, item);
    }
    ct_text_putc(out, '\n');
}

static void put_table(const Carried *c, CtText *out) {
    ct_text_puts(out, "extern const ct_outside cotan_outside[];\nconst ct_outside cotan_outside[] = {\n");
    for (uint32_t i = 0; i < c->items.count; i++)
        if (c->items.items[i].is_outside && c->items.items[i].is_needed)
            ct_text_printf(out, "    {\"%s\", &%s},\n", c->items.items[i].name->text, c->items.items[i].name->text);
    ct_text_puts(out, "    {NULL, NULL},\n};\n\n");
}

void ct_emit_carried(CtText *out, CtArena *arena, const char *const *files, uint32_t always, const char *program,
                     bool outside) {
    Carried c = {.arena = arena, .names = {.arena = arena}, .always = always, .outside = outside};
    uint32_t count = 0;
    for (; files[count] != NULL; count++)
        for (const char *at = files[count]; *at != '\0';) at = read_item(&c, at, count);
    need_all(&c, program);
    for (uint32_t i = 0; i < count; i++)
        if (is_file_needed(&c, i)) put_file(&c, out, i);
    if (outside) put_table(&c, out);
}
