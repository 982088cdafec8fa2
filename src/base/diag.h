/* Source texts, ranges in them, and diagnostics about them. */
#ifndef CT_BASE_DIAG_H
#define CT_BASE_DIAG_H

#include "base/arena.h"

/* A range of bytes [start, end) of one source. Source 0 means that there is no place: such diagnostics print no
 * excerpt. */
typedef struct CtSourceRange {
    uint32_t source, start, end;
} CtSourceRange;

#define CT_NO_RANGE ((CtSourceRange){0, 0, 0})

typedef struct CtSource {
    const char *name; /* as given by the user */
    const char *text; /* NUL-terminated */
    size_t length;
    bool is_library; /* part of Cotan's library, which may declare primitives */
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
    const char *help; /* a suggestion, or NULL */
    bool covers_line; /* other errors on the same line are consequences of this one, and are not shown */
    CtNote *notes;    /* in the order in which they were added */
    struct CtDiag *next;
} CtDiag;

/* What every pass is given. Each compilation has one; there is no global state. */
/* The most parts of tuples whose instances every program sees; lib/LargeTuples.cot has those of larger ones. */
enum { CT_PRELUDE_TUPLE = 7 };

typedef struct CtContext {
    CtArena *arena;
    CtSymbols symbols;
    CT_VEC(CtSource) sources; /* sources[0] stands for no source */
    CtArena *passing;         /* for the messages of a run, until they have been reported; NULL: they are in `arena` */
    CtDiag *diags, **last_diag;
    uint32_t error_count;                 /* a pass has failed exactly when it has increased this */
    uint32_t max_errors;                  /* further errors are counted, not stored */
    uint32_t warning_count, max_warnings; /* the same for warnings */
    bool large_tuples;                    /* a source has tuples of more than CT_PRELUDE_TUPLE parts */
} CtContext;

/* Prepares `context` around `arena` (which it does not own). */
void ct_context_init(CtContext *context, CtArena *arena);

/* Adds a source and returns its number. The text is borrowed and must outlive the context. */
uint32_t ct_source_add(CtContext *context, const char *name, const char *text, size_t length, bool is_library);
uint32_t ct_source_line(CtContext *context, uint32_t source, uint32_t offset);
/* Line and column of a byte offset. Both start at 1; the column counts characters, not bytes. */
void ct_source_position(CtContext *context, uint32_t source, uint32_t offset, uint32_t *line, uint32_t *column);

/* The arena for messages. */
CtArena *ct_diag_arena(CtContext *context);

/* Adds an error. The result is never NULL, and can be given notes. */
CtDiag *ct_error(CtContext *context, CtErrorCode code, CtSourceRange range, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
CtDiag *ct_warning(CtContext *context, CtErrorCode code, CtSourceRange range, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds a suggestion, shown as "help: …". */
void ct_help(CtContext *context, CtDiag *diag, const char *format, ...) __attribute__((format(printf, 3, 4)));
void ct_note(CtContext *context, CtDiag *diag, CtSourceRange range, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Sorts the diagnostics by position in the sources, and drops those that another one covers (covers_line). */
void ct_diags_in_order(CtContext *context);

/* The name of a code, such as "E0301"; its title and explanation from errors.def. */
const char *ct_error_name(CtErrorCode code);
const char *ct_error_title(CtErrorCode code);
const char *ct_error_explanation(CtErrorCode code);

/* Writes a diagnostic as text for people: header, position, the source line with the range marked, notes, help. */
void ct_diag_render(CtContext *context, const CtDiag *diag, bool colour, CtText *out);
/* Writes a diagnostic as one JSON object without a newline. */
void ct_diag_render_json(CtContext *context, const CtDiag *diag, CtText *out);

/* The name in `candidates` nearest to `name` by edit distance (at most a third of its length), or NULL. */
CtSym ct_nearest(CtSym name, const CtSym *candidates, uint32_t count);

static inline CtSourceRange ct_range_join(CtSourceRange a, CtSourceRange b) {
    if (a.source == 0) return b;
    if (b.source == 0) return a;
    return (CtSourceRange){a.source, a.start < b.start ? a.start : b.start, a.end > b.end ? a.end : b.end};
}

#endif
