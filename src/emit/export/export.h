/* The output of `cotan compile`: a program as C with plain types, for callers in C, and its header.
 *
 * Names come from the source. Types in C:
 *
 *   Double, Float, Int, Bool, Char    double, float, int64_t, bool, uint32_t
 *   String                            char *, UTF-8
 *   Array a, [a]                      a pointer and sizes, row-major; separate parameters in an argument, else a struct
 *   tuples, data of one constructor   structs
 *   constructors without fields       an enumeration
 *   other data                        pointers to structs with a tag and a union of the constructors' fields */
#ifndef CT_EMIT_OUTER_H
#define CT_EMIT_OUTER_H

#include "emit/emit.h"

typedef enum CtExportMode { EXPORT_VALUE, EXPORT_GRAD, EXPORT_VJP, EXPORT_JVP, EXPORT_MODE_COUNT } CtExportMode;

typedef struct CtExport CtExport;

/* The name in C of a function of the program, behind a prefix. */
const char *ct_emit_export_name(CtArena *arena, const char *prefix, const char *function);
/* Whether an exported function cannot have this name: C or its library has it, or emitted C uses it. */
bool ct_emit_export_is_taken(const char *name);

/* `function` is its name in the program; `prefix` is what the names of all functions and types in C begin with;
 * `params` are the names of its `arity` parameters (NULL: unnamed); `stem` is the name of the files without folder and
 * extension; `modes` is a set of bits 1 << CtExportMode of all modes that will be added, EXPORT_VALUE among them;
 * `exact` as for ct_emit_program. */
CtExport *ct_emit_export_new(CtArena *arena, const char *stem, const char *prefix, const char *function,
                             const char *const *params, uint32_t arity, uint32_t modes, bool exact);

/* Adds one mode of the function, EXPORT_VALUE first: a program with retains and releases, from `input` (NULL: none) to
 * `result`. Returns NULL, or the reason why a type has no counterpart in C. */
const char *ct_emit_export_add(CtExport *export, CtExportMode mode, CtFlow *flow, const CtType *input,
                               const CtType *result);

/* Writes both files. */
void ct_emit_export_write(CtExport *export, CtText *source, CtText *header);

#endif
