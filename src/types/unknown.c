/* Unknown names. Each name is reported once, with the lines of its other uses, and with a suggestion from the source: a
 * definition that is not in scope here, or a keyword or comment of another language. */
#include "types/internal.h"

/* ---- one message for each name ---- */

static uint32_t line_of(CtTypes *types, CtSourceRange range) {
    return ct_source_line(types->context, range.source, range.start);
}

/* Inserts a line into the sorted list without duplicates. Uses are met nearly in source order, so the search from the
 * end is short. */
static void add_line(CtTypes *types, CtUnknown *unknown, uint32_t line) {
    uint32_t i = unknown->lines.count;
    for (; i > 0 && unknown->lines.items[i - 1] >= line; i--)
        if (unknown->lines.items[i - 1] == line) return;
    ct_push(types->arena, &unknown->lines, line);
    for (uint32_t j = unknown->lines.count - 1; j > i; j--) unknown->lines.items[j] = unknown->lines.items[j - 1];
    unknown->lines.items[i] = line;
}

/* Writes the note that lists the other uses: "also in lines 4, 7 and 9". */
static void list_lines(CtTypes *types, CtUnknown *unknown) {
    enum { MOST = 8, MOST_LISTED = 200 };
    CtText text = ct_text(types->arena);
    uint32_t first = line_of(types, unknown->diag->range), count = 0, shown = 0;
    for (uint32_t i = 0; i < unknown->lines.count; i++) count += unknown->lines.items[i] != first;
    if (count == 0 || count > MOST_LISTED) return;
    ct_text_puts(&text, count == 1 ? "also in line" : "also in lines");
    for (uint32_t i = 0; i < unknown->lines.count && shown < MOST; i++) {
        if (unknown->lines.items[i] == first) continue;
        const char *between = shown == 0 ? " " : shown + 1 == count ? " and " : ", ";
        ct_text_printf(&text, "%s%u", between, unknown->lines.items[i]);
        shown++;
    }
    if (count == MOST_LISTED)
        ct_text_puts(&text, " and many more");
    else if (shown < count)
        ct_text_printf(&text, " and %u more", count - shown);
    if (!unknown->places) {
        ct_note(types->context, unknown->diag, CT_NO_RANGE, "%s", text.data);
        CtNote *last = unknown->diag->notes;
        while (last->next) last = last->next;
        unknown->places = last;
    }
    unknown->places->message = text.data;
}

bool ct_types_unknown_again(CtTypes *types, CtSpace space, CtName name) {
    if (name.module) return false;
    for (uint32_t i = 0; i < types->unknown.count; i++) {
        CtUnknown *unknown = &types->unknown.items[i];
        if (unknown->space != space || unknown->name != name.text || unknown->diag->range.source != name.range.source)
            continue;
        CtSourceRange *first = &unknown->diag->range;
        const uint32_t count = unknown->lines.count;
        if (count == 0) add_line(types, unknown, line_of(types, *first));
        add_line(types, unknown, line_of(types, name.range));
        bool before = name.range.start < first->start;
        if (before) *first = name.range;
        if (before || unknown->lines.count > count) list_lines(types, unknown);
        return true;
    }
    return false;
}

/* ---- definitions that are not in scope ---- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '\'' ||
           (c & 0x80);
}

/* The position after blanks and the keywords `where` and `let`. */
static uint32_t item_start(const char *text, uint32_t at) {
    for (;;) {
        while (text[at] == ' ' || text[at] == '\t') at++;
        uint32_t length = strncmp(text + at, "where", 5) == 0 ? 5 : strncmp(text + at, "let", 3) == 0 ? 3 : 0;
        if (length == 0 || is_word(text[at + length])) return at;
        at += length;
    }
}

/* Whether the rest of the line contains an `=` that is not part of an operator. */
static bool defines(const char *text, uint32_t at) {
    for (; text[at] != '\n' && text[at] != '\0'; at++) {
        bool alone = text[at] == '=' && !strchr("=<>/!:&|+-*.", text[at - 1]) && !strchr("=<>", text[at + 1]);
        if (alone) return true;
    }
    return false;
}

/* Finds a local definition of the name anywhere in the file, by its text: a line that defines it after indentation,
 * `where` or `let`. */
static bool find_local(CtTypes *types, CtName name, CtSourceRange *found) {
    const CtSource *source = &types->context->sources.items[name.range.source];
    uint32_t length = name.text->length;
    for (uint32_t line = 0; line < source->length;) {
        uint32_t at = item_start(source->text, line), end = line;
        if (at > line && strncmp(source->text + at, name.text->text, length) == 0 &&
            !is_word(source->text[at + length]) && at != name.range.start && defines(source->text, at + length)) {
            *found = (CtSourceRange){name.range.source, at, at + length};
            return true;
        }
        while (end < source->length && source->text[end] != '\n') end++;
        line = end + 1;
    }
    return false;
}

/* ---- words of other languages ---- */

/* The function `fun` that the line `fun f x = …` defines by mistake, if the unknown name is its first parameter `f`;
 * NULL otherwise. */
static const CtEntity *false_keyword(CtTypes *types, CtSym name) {
    static const char *const words[] = {"def",    "fun",    "function", "func",   "fn",    "var",  "val",
                                        "const",  "static", "public",   "double", "float", "int",  "auto",
                                        "define", "local",  "method",   "proc",   "sub",   "begin"};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++) {
        const CtEntity *entity =
            ct_map_get(&types->own->names[SPACE_VALUE], ct_key(ct_intern_text(&types->context->symbols, words[i])));
        if (!entity || !entity->binding) continue;
        for (uint32_t j = 0; j < entity->binding->clause_count; j++) {
            const CtClause *clause = &entity->binding->clauses[j];
            if (clause->pat_count && clause->pats[0]->kind == PAT_VAR && clause->pats[0]->name.text == name)
                return entity;
        }
    }
    return NULL;
}

static bool is_comment(CtSym name) {
    return strcmp(name->text, "//") == 0 || name->text[0] == '#' || strncmp(name->text, "/*", 2) == 0;
}

static void suggest_value(CtTypes *types, CtName name, CtDiag *diag) {
    CtContext *context = types->context;
    CtSourceRange local;
    const CtEntity *keyword = false_keyword(types, name.text);
    if (is_comment(name.text)) {
        diag->covers_line = true;
        ct_help(context, diag, "a comment begins with `--`, or stands between `{-` and `-}`%s",
                name.text->text[1] == '/' ? "; whole numbers are divided by `div`" : "");
    } else if (strcmp(name.text->text, "?") == 0 || strcmp(name.text->text, "lambda") == 0) {
        diag->covers_line = true;
    } else if (keyword) {
        ct_note(context, diag, keyword->range, "this line defines a function `%s`, which is no keyword here",
                keyword->name->text);
        ct_help(context, diag, "a definition begins with its name: `%s %s…`", name.text->text,
                keyword->binding->clauses[0].pat_count > 1 ? "x = " : "= ");
    } else if (find_local(types, name, &local)) {
        ct_note(context, diag, local, "this `%s` is known only in the definition that it stands in", name.text->text);
        diag->help = NULL;
    }
}

static void suggest_small(CtTypes *types, CtName name, CtDiag *diag) {
    if (diag->help || name.text->text[0] < 'A' || name.text->text[0] > 'Z' || ct_types_lookup_tycon(types, name.text))
        return;
    char *small = ct_copy_text(types->arena, name.text->text, name.text->length);
    small[0] = (char)(small[0] - 'A' + 'a');
    ct_help(types->context, diag, "names of functions and variables begin with a small letter: `%s`", small);
}

void ct_types_unknown_new(CtTypes *types, CtSpace space, CtName name, CtDiag *diag) {
    if (name.module) return;
    CtUnknown unknown = {.space = space, .name = name.text, .diag = diag};
    if (space == SPACE_VALUE) suggest_value(types, name, diag);
    if (space == SPACE_CON) suggest_small(types, name, diag);
    ct_push(types->arena, &types->unknown, unknown);
}
