/* Elaboration: from typed syntax to Core. It desugars, compiles pattern matches, resolves classes, and specialises:
 * every polymorphic binding becomes one Core global (or local binding) for each set of types at which it is used. */
#ifndef CT_ELAB_ELAB_H
#define CT_ELAB_ELAB_H

#include "core/build.h"
#include "types/types.h"

typedef struct CtElab CtElab;

/* The state of elaboration for one program. */
CtElab *ct_elab_new(CtTypes *types, CtProgram *program);

/* The program is to be evaluated lazily: before anything is elaborated. And whether it would have to be, since a value
 * is made of itself; that has been reported. `value`: a program that is no action, and has no end if a list has none.
 */
void ct_elab_set_lazy(CtElab *elab);
bool ct_elab_wants_lazy(const CtElab *elab, bool value);

/* The Core global for a top-level name at the types `inst` (NULL when it is monomorphic), with everything that it
 * needs. NULL with errors in the context. */
CtGlobal *ct_elab_global(CtElab *elab, CtEntity *entity, CtTy **inst);
/* A monomorphic function or constant of the library (ct_types_lookup_library). NULL with errors in the context. */
CtGlobal *ct_elab_library(CtElab *elab, const char *name);
/* The Core type of an inferred type; type variables that nothing determines are (). */
CtType *ct_elab_core_of(CtElab *elab, CtTy *type);
/* Makes a closed inferred expression a new constant global `name`. */
CtGlobal *ct_elab_expression(CtElab *elab, const char *name, CtExpr *expr);

/* Gives the Core types of an entry point, a value or function of this type, their forms: values of them are read. */
void ct_elab_note_forms(CtElab *elab, CtTy *type);

#endif
