/* Private to what writes programs for callers in C: outer*.c. */
#ifndef CT_EMIT_OUTER_INTERNAL_H
#define CT_EMIT_OUTER_INTERNAL_H

#include "emit/internal.h"
#include "emit/export/export.h"

/* ---- reserved_names.c ---- */

typedef struct ExportNames { /* of one scope */
    CtArena *arena;
    CtSymbols symbols;
    CtMap taken;
} ExportNames;

/* A plain identifier like `name` that is no word of C or C++ and not taken yet; takes it. */
const char *ct_emit_export_unique(ExportNames *names, const char *name);
/* Whether a name begins as those do that we make in the same file. */
bool ct_emit_export_is_own(const char *name);
/* Whether a function that everybody sees may not have this name. */
bool ct_emit_export_is_taken(const char *name);

/* ---- c_types.c: what types are in C ---- */

typedef enum ExportKind {
    EXPORT_SCALAR,
    EXPORT_ENUM,
    EXPORT_TEXT,  /* a list of Char */
    EXPORT_ARRAY, /* of arrays too, as long as these are the elements */
    EXPORT_LIST,
    EXPORT_STRUCT,  /* tuples, data of one constructor */
    EXPORT_VARIANT, /* a pointer to a struct with a tag */
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
    const char *name; /* "Point"; of the functions that convert: in_Point */
    const char *cell; /* what a variable that holds it is: "double ", "line_Point ", "line_Tree *" */
    uint32_t rank;    /* ARRAY */
    struct ExportType *element;
    ExportCon *cons; /* STRUCT: one; VARIANT, ENUM */
    uint32_t con_count;
    bool goes_in, comes_out;
    enum { EXPORT_NEW, EXPORT_UNDER_WAY, EXPORT_WRITTEN } state;
} ExportType;

typedef struct ExportTypes { /* all that a function speaks of; the same for each part, as the order is the same */
    CtArena *arena;
    const CtProgram *core;
    const char *prefix; /* of the names of types: the function's */
    ExportNames names;
    CtMap known;                  /* CtType * -> ExportType * */
    CT_VEC(ExportType *) ordered; /* in the order of their definitions in C */
    const char *refused;
} ExportTypes;

/* What a type is in C; NULL when ->refused is set. */
ExportType *ct_emit_export_type(ExportTypes *types, const CtType *type);
/* Which way values of it go. */
void ct_emit_export_goes(ExportType *type, bool in, bool out);
/* Orders the definitions of a type and all that it is made of. */
void ct_emit_export_order(ExportTypes *types, ExportType *type);
void ct_emit_export_put_types(ExportTypes *types, CtText *out);
/* The sizes of an array, as its struct names them: "size", or "rows" and "columns"; "size1", … */
const char *ct_emit_export_size_name(CtArena *arena, uint32_t rank, uint32_t index);
/* Doubles or 64-bit integers, which can be read where they lie. */
bool ct_emit_export_is_lent(const ExportType *array);
/* Whether a value of it is more than its cell: pointers to what the state owns. */
bool ct_emit_export_points(const ExportType *type);
bool ct_emit_export_has_real(const ExportType *type);

/* ---- marshal.c: in_X and out_X ---- */

void ct_emit_export_put_conversions(ExportTypes *types, CtFlow *flow, CtText *out);
/* Statements, indented by `depth`, that put the value of an expression to the words from `to`[`at`] on. */
void ct_emit_export_put_in(CtText *out, CtFlow *flow, int depth, const ExportType *type, const char *value,
                           const char *to, uint32_t at);
/* … and the words from `from`[`at`] on to where the expression says. */
void ct_emit_export_put_out(CtText *out, CtFlow *flow, int depth, const ExportType *type, const char *from, uint32_t at,
                            const char *place);
/* A node of the words in `words`, to `to`; and its fields, as the words of a new variable `words`. */
void ct_emit_export_put_node(CtText *out, int depth, const CtFlowCon *con, uint32_t tag, const char *words,
                             const char *to);
void ct_emit_export_put_fields(CtText *out, int depth, const CtFlowCon *con, const char *node, const char *words);

#endif
