/* Rendering of diagnostics, as text for people and as JSON for programs. */
#include "base/diag.h"

static const struct {
    const char *name, *title, *explanation;
} table[] = {
#define CT_ERROR(code, title, explanation) {#code, title, explanation},
#include "base/errors.def"
#undef CT_ERROR
};

const char *ct_error_name(CtErrorCode code) { return table[code].name; }
const char *ct_error_title(CtErrorCode code) { return table[code].title; }
const char *ct_error_explanation(CtErrorCode code) { return table[code].explanation; }

/* ---- for people ----
 *
 *  error[E0302]: unknown name `sume`
 *    --> model.cot:3:9
 *     |
 *   3 |     m + sume xs
 *     |         ^^^^
 *     = help: did you mean `sum`? */

enum { LONGEST_EXCERPT = 160 };

typedef struct Paint {
    const char *strong, *error, *warning, *rule, *plain;
} Paint;

static const Paint colours = {"\033[1m", "\033[1;31m", "\033[1;33m", "\033[1;34m", "\033[0m"};
static const Paint no_colours = {"", "", "", "", ""};

static uint32_t character_count(const char *text, uint32_t from, uint32_t to) {
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* Copies a line of source. Control characters must not reach the terminal; a tab becomes one column, so that the marks
 * line up. */
static void add_plain(CtText *out, const char *text, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++) {
        unsigned char c = (unsigned char)text[i];
        ct_text_putc(out, c < 0x20 || c == 0x7f ? ' ' : (char)c);
    }
}

static void add_excerpt(CtContext *context, CtSourceRange range, const Paint *paint, const char *mark_colour, int width,
                        CtText *out) {
    const CtSource *source = &context->sources.items[range.source];
    uint32_t line, column;
    ct_source_position(context, range.source, range.start, &line, &column);
    uint32_t start = source->lines[line - 1], end = start;
    while (end < source->length && source->text[end] != '\n') end++;
    uint32_t mark_end = range.end > end ? end : range.end;
    if (mark_end < range.start) mark_end = range.start;
    uint32_t from = start, to = end;
    if (to - from > LONGEST_EXCERPT) { /* of a very long line only the part around the range is shown */
        from = range.start - start > LONGEST_EXCERPT / 2 ? range.start - LONGEST_EXCERPT / 2 : start;
        if (to - from > LONGEST_EXCERPT) to = from + LONGEST_EXCERPT;
        while (from > start && ((unsigned char)source->text[from] & 0xC0) == 0x80) from--;
        while (to < end && ((unsigned char)source->text[to] & 0xC0) == 0x80) to++;
        if (mark_end > to) mark_end = to;
    }
    ct_text_printf(out, "%s%*s |%s\n", paint->rule, width, "", paint->plain);
    ct_text_printf(out, "%s%*u |%s ", paint->rule, width, line, paint->plain);
    add_plain(out, source->text, from, to);
    ct_text_printf(out, "\n%s%*s |%s ", paint->rule, width, "", paint->plain);
    for (uint32_t i = character_count(source->text, from, range.start); i > 0; i--) ct_text_putc(out, ' ');
    ct_text_puts(out, mark_colour);
    uint32_t marks = character_count(source->text, range.start, mark_end);
    for (uint32_t i = marks == 0 ? 1 : marks; i > 0; i--) ct_text_putc(out, '^');
    ct_text_printf(out, "%s\n", paint->plain);
}

static int digits(uint32_t number) {
    int count = 1;
    while (number >= 10) {
        number /= 10;
        count++;
    }
    return count;
}

static void add_place(CtContext *context, CtSourceRange range, const Paint *paint, const char *mark_colour,
                      CtText *out) {
    if (range.source == 0) return;
    uint32_t line, column;
    ct_source_position(context, range.source, range.start, &line, &column);
    int width = digits(line) + 1;
    ct_text_printf(out, "%s%*s-->%s %s:%u:%u\n", paint->rule, width, "", paint->plain,
                   context->sources.items[range.source].name, line, column);
    add_excerpt(context, range, paint, mark_colour, width, out);
}

void ct_diag_render(CtContext *context, const CtDiag *diag, bool colour, CtText *out) {
    const Paint *paint = colour ? &colours : &no_colours;
    const char *head = diag->is_warning ? paint->warning : paint->error;
    ct_text_printf(out, "%s%s[%s]%s%s: ", head, diag->is_warning ? "warning" : "error", ct_error_name(diag->code),
                   paint->plain, paint->strong);
    ct_text_puts(out, diag->message);
    ct_text_printf(out, "%s\n", paint->plain);
    add_place(context, diag->range, paint, head, out);
    for (const CtNote *note = diag->notes; note != NULL; note = note->next) {
        ct_text_printf(out, "  %s=%s note: ", paint->rule, paint->plain);
        ct_text_puts(out, note->message);
        ct_text_putc(out, '\n');
        add_place(context, note->range, paint, paint->rule, out);
    }
    if (diag->help != NULL) {
        ct_text_printf(out, "  %s=%s help: ", paint->rule, paint->plain);
        ct_text_puts(out, diag->help);
        ct_text_putc(out, '\n');
    }
}

/* ---- for a program ---- */

static void add_json_string(CtText *out, const char *text) {
    ct_text_putc(out, '"');
    for (const char *c = text; *c != '\0'; c++) {
        switch (*c) {
        case '"': ct_text_puts(out, "\\\""); break;
        case '\\': ct_text_puts(out, "\\\\"); break;
        case '\n': ct_text_puts(out, "\\n"); break;
        case '\t': ct_text_puts(out, "\\t"); break;
        default:
            if ((unsigned char)*c < 0x20)
                ct_text_printf(out, "\\u%04x", (unsigned char)*c);
            else
                ct_text_putc(out, *c);
        }
    }
    ct_text_putc(out, '"');
}

void ct_diag_render_json(CtContext *context, const CtDiag *diag, CtText *out) {
    ct_text_printf(out, "{\"code\":\"%s\",", ct_error_name(diag->code));
    if (diag->is_warning) ct_text_puts(out, "\"warning\":true,");
    ct_text_puts(out, "\"file\":");
    if (diag->range.source == 0) {
        ct_text_puts(out, "null,\"line\":null,\"column\":null");
    } else {
        uint32_t line, column;
        ct_source_position(context, diag->range.source, diag->range.start, &line, &column);
        add_json_string(out, context->sources.items[diag->range.source].name);
        ct_text_printf(out, ",\"line\":%u,\"column\":%u", line, column);
    }
    ct_text_puts(out, ",\"message\":");
    add_json_string(out, diag->message);
    if (diag->help != NULL) {
        ct_text_puts(out, ",\"help\":");
        add_json_string(out, diag->help);
    }
    ct_text_putc(out, '}');
}
