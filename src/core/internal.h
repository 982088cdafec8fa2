/* What the files of this folder share. */
#ifndef CT_CORE_INTERNAL_H
#define CT_CORE_INTERNAL_H

#include "core/build.h"

/* The type of an array operation's result, by the table. NULL when the arguments do not fit: `wrong` is then the first
 * that does not, or the arity when there are more or fewer. */
CtType *ct_core_array_type(CtProgram *p, CtArrayOp op, CtType *const *args, uint32_t count, uint32_t *wrong);

/* The type of a primitive's result, and whether `type` fits a letter of its signature; `real` is the type of its R
 * arguments. */
CtType *ct_core_prim_letter(CtProgram *p, char letter, CtType *real);

/* Variables, literals and functions by name: duplicating one duplicates no work, and evaluating it cannot fail. */
bool ct_core_is_atom(const CtCore *core);
/* Whether evaluating it can be left out: it ends, cannot fail, and does nothing but make a value. */
bool ct_core_is_total(const CtCore *core);

/* A new λ node with the parameters, name and origin of an old one, in no group. */
CtCore *ct_core_relam(CtProgram *p, const CtCore *node, CtCore *body);

/* A copy for the place of a call. Where the call is the user's, what comes from the library is placed there, so that a
 * failure inside names a line of the user's. */
CtCore *ct_core_copy_inlined(CtProgram *p, CtCore *core, CtSourceRange call);

#endif
