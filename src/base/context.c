/* The context: sources, positions in them, and the list of diagnostics. Rendering is in diag.c. */
#include "base/diag.h"

enum { DEFAULT_MAX_ERRORS = 20, DEFAULT_MAX_WARNINGS = 100 };

void ct_context_init(CtContext *context, CtArena *arena) {
    *context = (CtContext){.arena = arena,
                           .symbols = {.arena = arena},
                           .max_errors = DEFAULT_MAX_ERRORS,
                           .max_warnings = DEFAULT_MAX_WARNINGS};
    context->last_diag = &context->diags;
    ct_source_add(context, "", "", 0, false);
}

static bool starts(const char *line, size_t length, const char *with) {
    return length >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* The program in a literate source (Haskell 98 §9.4): the lines that begin with >, and those between \begin{code} and
 * \end{code}. Spaces stand for all else, so that the places of what is left stay. */
static const char *without_comments(CtArena *arena, const char *text, size_t length) {
    char *out = ct_copy_text(arena, text, length);
    bool in_code = false;
    for (size_t line = 0, end; line < length; line = end + 1) {
        for (end = line; end < length && text[end] != '\n'; end++) continue;
        bool begins = starts(text + line, end - line, "\\begin{code}");
        if (starts(text + line, end - line, "\\end{code}")) in_code = false;
        bool bird = !in_code && end > line && text[line] == '>';
        if (bird) out[line] = ' ';
        for (size_t i = line; i < end && !in_code && !bird; i++) out[i] = ' ';
        if (begins) in_code = true;
    }
    return out;
}

uint32_t ct_source_add(CtContext *context, const char *name, const char *text, size_t length, bool is_library) {
    size_t name_length = strlen(name);
    bool literate = name_length > 4 && strcmp(name + name_length - 4, ".lhs") == 0;
    if (literate) text = without_comments(context->arena, text, length);
    CtSource source = {.name = name, .text = text, .length = length, .is_library = is_library};
    ct_push(context->arena, &context->sources, source);
    return context->sources.count - 1;
}

static void find_lines(CtContext *context, CtSource *source) {
    uint32_t count = 1;
    for (size_t i = 0; i < source->length; i++) count += source->text[i] == '\n';
    source->lines = CT_NEW_ARRAY(context->arena, uint32_t, count);
    source->line_count = 0;
    source->lines[source->line_count++] = 0;
    for (size_t i = 0; i < source->length; i++)
        if (source->text[i] == '\n') source->lines[source->line_count++] = (uint32_t)(i + 1);
}

uint32_t ct_source_line(CtContext *context, uint32_t source_number, uint32_t offset) {
    CtSource *source = &context->sources.items[source_number];
    if (source->lines == NULL) find_lines(context, source);
    uint32_t low = 0, high = source->line_count; /* finds the last line that starts at or before offset */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

void ct_source_position(CtContext *context, uint32_t source_number, uint32_t offset, uint32_t *line, uint32_t *column) {
    const CtSource *source = &context->sources.items[source_number];
    *line = ct_source_line(context, source_number, offset);
    *column = 1;
    for (uint32_t i = source->lines[*line - 1]; i < offset && i < source->length; i++)
        *column += ((unsigned char)source->text[i] & 0xC0) != 0x80; /* UTF-8 continuation bytes do not count */
}

enum { LONGEST_MESSAGE = 4000 };

CtArena *ct_diag_arena(CtContext *context) { return context->passing != NULL ? context->passing : context->arena; }

/* A message is cut off after a fixed length, since it may quote a name or type of a megabyte. */
static const char *message_text(CtContext *context, const char *format, va_list list) {
    char *text = ct_format_list(ct_diag_arena(context), format, list);
    size_t length = strlen(text);
    if (length <= LONGEST_MESSAGE) return text;
    length = LONGEST_MESSAGE;
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
    memcpy(text + length, "…", sizeof "…"); /* fits: the text was cut because it was longer */
    return text;
}

static CtDiag *add(CtContext *context, CtErrorCode code, bool is_warning, CtSourceRange range, const char *format,
                   va_list list) {
    CtDiag *diag = CT_NEW(ct_diag_arena(context), CtDiag);
    diag->code = code;
    diag->is_warning = is_warning;
    diag->range = range;
    diag->message = message_text(context, format, list);
    uint32_t *count = is_warning ? &context->warning_count : &context->error_count;
    uint32_t most = is_warning ? context->max_warnings : context->max_errors;
    if (++*count > most) return diag; /* counted, not stored */
    *context->last_diag = diag;
    context->last_diag = &diag->next;
    return diag;
}

CtDiag *ct_error(CtContext *context, CtErrorCode code, CtSourceRange range, const char *format, ...) {
    va_list list;
    va_start(list, format);
    CtDiag *diag = add(context, code, false, range, format, list);
    va_end(list);
    return diag;
}

CtDiag *ct_warning(CtContext *context, CtErrorCode code, CtSourceRange range, const char *format, ...) {
    va_list list;
    va_start(list, format);
    CtDiag *diag = add(context, code, true, range, format, list);
    va_end(list);
    return diag;
}

void ct_help(CtContext *context, CtDiag *diag, const char *format, ...) {
    va_list list;
    va_start(list, format);
    diag->help = message_text(context, format, list);
    va_end(list);
}

void ct_note(CtContext *context, CtDiag *diag, CtSourceRange range, const char *format, ...) {
    CtNote **last = &diag->notes;
    while (*last != NULL) last = &(*last)->next;
    *last = CT_NEW(ct_diag_arena(context), CtNote);
    va_list list;
    va_start(list, format);
    (*last)->range = range;
    (*last)->message = message_text(context, format, list);
    va_end(list);
}

/* ---- order ---- */

static bool is_before(const CtDiag *a, const CtDiag *b) {
    if (a->range.source != b->range.source) return a->range.source < b->range.source;
    return a->range.start < b->range.start;
}

/* A stable merge sort. */
static CtDiag *sorted(CtDiag *list, uint32_t count) {
    if (count < 2) {
        if (list != NULL) list->next = NULL;
        return list;
    }
    CtDiag *right = list;
    for (uint32_t i = 0; i < count / 2; i++) right = right->next;
    CtDiag *b = sorted(right, count - count / 2), *a = sorted(list, count / 2), *whole = NULL, **last = &whole;
    while (a != NULL || b != NULL) {
        CtDiag **from = a == NULL || (b != NULL && is_before(b, a)) ? &b : &a;
        *last = *from;
        last = &(*last)->next;
        *from = *last;
    }
    return whole;
}

static bool on_one_line(const CtContext *context, CtSourceRange a, CtSourceRange b) {
    if (a.source != b.source) return false;
    const CtSource *source = &context->sources.items[a.source];
    uint32_t from = a.start < b.start ? a.start : b.start, to = a.start < b.start ? b.start : a.start;
    for (uint32_t at = from; at < to && at < source->length; at++)
        if (source->text[at] == '\n') return false;
    return true;
}

static bool is_covered(const CtContext *context, const CtDiag *diag) {
    for (const CtDiag *one = context->diags; one != NULL && !diag->covers_line; one = one->next)
        if (one->covers_line && on_one_line(context, one->range, diag->range)) return true;
    return false;
}

void ct_diags_in_order(CtContext *context) {
    bool any = false;
    for (const CtDiag *diag = context->diags; diag != NULL; diag = diag->next) any = any || diag->covers_line;
    CtDiag **last = &context->diags;
    while (any && *last != NULL) {
        if (is_covered(context, *last))
            *last = (*last)->next;
        else
            last = &(*last)->next;
    }
    uint32_t count = 0;
    for (const CtDiag *diag = context->diags; diag != NULL; diag = diag->next) count++;
    context->diags = sorted(context->diags, count);
    context->last_diag = &context->diags;
    while (*context->last_diag != NULL) context->last_diag = &(*context->last_diag)->next;
}

/* ---- spelling ---- */

/* Optimal string alignment distance, cut off above `limit`; names longer than the buffer are never near. */
static uint32_t distance(CtSym a, CtSym b, uint32_t limit) {
    enum { LONGEST = 64 };
    uint32_t rows[3][LONGEST + 1];
    if (a->length > LONGEST || b->length > LONGEST) return limit + 1;
    uint32_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (uint32_t j = 0; j <= b->length; j++) last[j] = j;
    for (uint32_t i = 1; i <= a->length; i++) {
        row[0] = i;
        for (uint32_t j = 1; j <= b->length; j++) {
            uint32_t best = last[j - 1] + (a->text[i - 1] != b->text[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a->text[i - 1] == b->text[j - 2] && a->text[i - 2] == b->text[j - 1];
            if (swapped && before[j - 2] + 1 < best) best = before[j - 2] + 1;
            row[j] = best;
        }
        uint32_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b->length];
}

CtSym ct_nearest(CtSym name, const CtSym *candidates, uint32_t count) {
    CtSym best = NULL;
    uint32_t limit = name->length < 5 ? 1 : name->length < 8 ? 2 : 3;
    for (uint32_t i = 0; i < count; i++) {
        if (candidates[i] == name || candidates[i]->length > name->length + limit) continue;
        if (candidates[i]->length < 2 && name->length < 2) continue; /* single letters are all alike */
        uint32_t d = distance(name, candidates[i], limit);
        if (d > limit) continue;
        if (best == NULL || d < limit) best = candidates[i];
        if (d == 0) break;
        limit = d;
    }
    return best;
}
