/* Private to src/core. */
#ifndef CT_CORE_INTERNAL_H
#define CT_CORE_INTERNAL_H

#include "core/build.h"

/* The type of an array operation's result, by the table. NULL when the arguments do not fit; `wrong` is then the index
 * of the first that does not, or the arity when their number is wrong. */
CtType *ct_core_array_type(CtProgram *p, CtArrayOp op, CtType *const *args, uint32_t count, uint32_t *wrong);

/* The type for a letter of a primitive's signature; and whether `type` fits a letter. `real` is the type of its R
 * arguments. */
CtType *ct_core_prim_letter(CtProgram *p, char letter, CtType *real);

/* Whether a term is a variable, a literal or a function name: it can be duplicated without duplicating work, and cannot
 * fail. */
bool ct_core_is_atom(const CtCore *core);
/* Whether a term is total: it terminates, cannot fail, and only computes a value. So it can be left out. */
bool ct_core_is_total(const CtCore *core);
/* The same where an Int, or none (NULL), is known to be positive. */
bool ct_core_is_total_for(const CtCore *core, const CtVar *positive);
/* Whether a function is `++` of lists. */
bool ct_core_is_append(const CtCore *fun);

/* A new λ node with the parameters, name and origin of an old one, outside any group. */
CtCore *ct_core_relam(CtProgram *p, const CtCore *node, CtCore *body);

/* A copy to be inlined at a call. If the call is in the user's source, parts from the library get its source range, so
 * that a failure in them is attributed to the user's call. */
CtCore *ct_core_copy_inlined(CtProgram *p, CtCore *core, CtSourceRange call);

#endif
