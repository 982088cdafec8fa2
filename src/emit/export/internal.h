/* Private to src/emit/export. */
#ifndef CT_EMIT_OUTER_INTERNAL_H
#define CT_EMIT_OUTER_INTERNAL_H

#include "emit/internal.h"
#include "emit/export/export.h"

/* ---- reserved_names.c ---- */

typedef struct ExportNames { /* the names taken in one scope */
    CtArena *arena;
    CtSymbols symbols;
    CtMap taken;
} ExportNames;

/* An unused identifier similar to `name` that is no keyword of C or C++. The result is taken from then on. */
const char *ct_emit_export_unique(ExportNames *names, const char *name);
/* The same, such that NAME_ENDING is unused for each ending; all of these are taken from then on. */
const char *ct_emit_export_unique_with(ExportNames *names, const char *name, const char *const *endings,
                                       uint32_t count);
/* Whether a name begins like the names that are generated in the same file. */
bool ct_emit_export_is_own(const char *name);

/* ---- c_types.c: what types are in C ---- */

typedef enum ExportKind {
    EXPORT_SCALAR,
    EXPORT_ENUM,
    EXPORT_TEXT,  /* a list of Char */
    EXPORT_ARRAY, /* elements may be arrays, as long as these end in numbers */
    EXPORT_LIST,
    EXPORT_STRUCT,  /* tuple, or data of one constructor */
    EXPORT_VARIANT, /* pointer to a struct with a tag */
} ExportKind;

typedef struct ExportCon {
    const char *name;
    uint32_t count;
    struct ExportType **types; /* of the fields */
    const char **names;
} ExportCon;

typedef struct ExportType {
    ExportKind kind;
    const CtType *type;
    const char *name; /* such as "Point"; also part of the conversion functions' names: in_Point */
    const char *cell; /* C declaration type of a variable: "double ", "line_Point ", "line_Tree *" */
    uint32_t rank;    /* ARRAY */
    struct ExportType *element;
    ExportCon *cons; /* STRUCT: one; VARIANT, ENUM */
    uint32_t con_count;
    bool goes_in, comes_out;
    enum { EXPORT_NEW, EXPORT_UNDER_WAY, EXPORT_WRITTEN } state;
} ExportType;

/* All types of a function's interface; the same for every mode, because the order is the same. */
typedef struct ExportTypes {
    CtArena *arena;
    const CtProgram *core;
    const char *prefix; /* prefix of type names: the function's name */
    ExportNames names;
    CtMap known;                  /* CtType * -> ExportType * */
    CT_VEC(ExportType *) ordered; /* in the order of their C definitions */
    const char *refused;
} ExportTypes;

/* The C type for a Core type; NULL when ->refused is set. */
ExportType *ct_emit_export_type(ExportTypes *types, const CtType *type);
/* Records that values of the type are passed in, out, or both. */
void ct_emit_export_goes(ExportType *type, bool in, bool out);
/* Appends a type, after all types that it contains, to the order of definitions. */
void ct_emit_export_order(ExportTypes *types, ExportType *type);
void ct_emit_export_put_types(ExportTypes *types, CtText *out);
/* The field names of an array's sizes: "size"; "rows" and "columns"; "size1", … */
const char *ct_emit_export_size_name(CtArena *arena, uint32_t rank, uint32_t index);
/* Whether arrays of this type are passed without copying: of doubles or 64-bit integers. */
bool ct_emit_export_is_lent(const ExportType *array);
/* Whether a value contains pointers to memory that the caller's state owns. */
bool ct_emit_export_points(const ExportType *type);
bool ct_emit_export_has_real(const ExportType *type);

/* ---- what the files are made of: export.c writes the functions, files.c the rest ---- */

struct CtExport {
    CtArena *arena;
    const char *stem, *function; /* function: its name in C */
    const char *const *params;
    uint32_t arity, modes, constants; /* constants: number of their words so far */
    CtText types, prototypes;         /* of the header */
    CtText conversions, programs, functions;
    bool exact, tells; /* tells: messages (Debug.Trace) */
};

/* ---- marshal.c: in_X and out_X ---- */

void ct_emit_export_put_conversions(ExportTypes *types, CtFlow *flow, CtText *out);
/* Writes statements, indented by `depth`, that convert the C value of an expression to the words from `to`[`at`] on. */
void ct_emit_export_put_in(CtText *out, CtFlow *flow, int depth, const ExportType *type, const char *value,
                           const char *to, uint32_t at);
/* Writes statements that convert the words from `from`[`at`] on to a C value, and assign it to an expression. */
void ct_emit_export_put_out(CtText *out, CtFlow *flow, int depth, const ExportType *type, const char *from, uint32_t at,
                            const char *place);
/* Writes statements that make a node of the words in `words` and assign it to `to`; and the converse, which reads its
 * fields into a new variable `words`. */
void ct_emit_export_put_node(CtText *out, int depth, const CtFlowCon *con, uint32_t tag, const char *words,
                             const char *to);
void ct_emit_export_put_fields(CtText *out, int depth, const CtFlowCon *con, const char *node, const char *words);

#endif
