/* Source texts, source ranges in them, and diagnostics about them. */
#ifndef CT_BASE_DIAG_H
#define CT_BASE_DIAG_H

#include "base/arena.h"

/* A range of bytes [start, end) of one source. source 0 is "no place": diagnostics print without an excerpt. */
typedef struct CtSourceRange {
    uint32_t source, start, end;
} CtSourceRange;

#define CT_NO_RANGE ((CtSourceRange){0, 0, 0})

typedef struct CtSource {
    const char *name; /* as the user wrote it */
    const char *text; /* NUL-terminated */
    size_t length;
    bool is_library; /* part of Cotan itself: may declare primitives */
    uint32_t *lines; /* offset of each line's first byte, made on first use */
    uint32_t line_count;
} CtSource;

typedef enum CtErrorCode {
#define CT_ERROR(code, title, explanation) CT_##code,
#include "base/errors.def"
#undef CT_ERROR
    CT_ERROR_COUNT
} CtErrorCode;

typedef struct CtNote {
    CtSourceRange range; /* may be CT_NO_RANGE */
    const char *message;
    struct CtNote *next;
} CtNote;

typedef struct CtDiag {
    CtErrorCode code;
    bool is_warning;
    CtSourceRange range;
    const char *message;
    const char *help; /* the likely mend, or NULL */
    bool covers_line; /* what else is wrong on its line comes of it */
    CtNote *notes;    /* in the order in which they were added */
    struct CtDiag *next;
} CtDiag;

/* What every pass is handed. One a compilation; no global state anywhere. */
typedef struct CtContext {
    CtArena *arena;
    CtSymbols symbols;
    CT_VEC(CtSource) sources; /* [0] is the nowhere source */
    CtDiag *diags, **last_diag;
    uint32_t error_count;                 /* a pass has failed exactly when this has grown */
    uint32_t max_errors;                  /* further errors are counted, not kept */
    uint32_t warning_count, max_warnings; /* of warnings the same */
} CtContext;

/* Prepares `context` around `arena` (which it does not own). */
void ct_context_init(CtContext *context, CtArena *arena);

/* Adds a source; text is borrowed and must live as long as the context. Returns its number. */
uint32_t ct_source_add(CtContext *context, const char *name, const char *text, size_t length, bool is_library);
uint32_t ct_source_line(CtContext *context, uint32_t source, uint32_t offset);
/* Line and column (both from 1; the column counts characters, not bytes) of a byte offset. */
void ct_source_position(CtContext *context, uint32_t source, uint32_t offset, uint32_t *line, uint32_t *column);

/* Adds an error. The result is never NULL; use it to add notes. */
CtDiag *ct_error(CtContext *context, CtErrorCode code, CtSourceRange range, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
CtDiag *ct_warning(CtContext *context, CtErrorCode code, CtSourceRange range, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "help: …", the likely mend. */
void ct_help(CtContext *context, CtDiag *diag, const char *format, ...) __attribute__((format(printf, 3, 4)));
void ct_note(CtContext *context, CtDiag *diag, CtSourceRange range, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Puts the list in the order of the sources; what an error covers is left out. */
void ct_diags_in_order(CtContext *context);

/* "E0301" and what the table says of it. */
const char *ct_error_name(CtErrorCode code);
const char *ct_error_title(CtErrorCode code);
const char *ct_error_explanation(CtErrorCode code);

/* Writes a diagnostic for a person: header, place, the line with the range marked, notes, help. */
void ct_diag_render(CtContext *context, const CtDiag *diag, bool colour, CtText *out);
/* Writes it as contract JSON, one object without a newline. */
void ct_diag_render_json(CtContext *context, const CtDiag *diag, CtText *out);

/* The name in `candidates` nearest to `name` by edit distance (at most a third of its length), or NULL. */
CtSym ct_nearest(CtSym name, const CtSym *candidates, uint32_t count);

static inline CtSourceRange ct_range_join(CtSourceRange a, CtSourceRange b) {
    if (a.source == 0) return b;
    if (b.source == 0) return a;
    return (CtSourceRange){a.source, a.start < b.start ? a.start : b.start, a.end > b.end ? a.end : b.end};
}

#endif
