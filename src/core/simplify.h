/* What the simplifier's files share. simplify.c tells how it works. */
#ifndef CT_CORE_SIMPLIFY_H
#define CT_CORE_SIMPLIFY_H

#include "core/internal.h"

typedef struct CtVarNotes {
    uint32_t run; /* of the simplifier that wrote them; older ones count as absent */
    /* found before simplifying */
    uint32_t uses, calls, opens; /* occurrences; as the function of an APP, of an array operation or a derivative; taken
                                    apart by CASE, PROJ or UNPACK */
    uint32_t inner_uses;         /* of a LETREC's variable: occurrences in the group's own λs */
    uint32_t depth;              /* λs around the binder */
    bool crosses;                /* occurs under a λ that the binder is not under */
    bool pinned;                 /* occurs in a λ that has an origin: must stay as it is */
    /* found on the way */
    CtCore *becomes; /* what replaces it: a simplified atom, or when `pending`, its only use's term, still to be
                        simplified */
    bool pending, consumed;
    uint32_t weight; /* of a pending term with what is pending inside */
    CtCore *known;   /* it is bound to this λ, or construction of atoms */
} CtVarNotes;

typedef struct CtSimplifier {
    CtProgram *p;
    uint32_t run, changes;
    uint32_t depth;             /* λs around the current term */
    uint32_t pinning;           /* λs with an origin around it, while counting */
    uint32_t fuel;              /* nodes that may still be copied into place */
    CtMap globals;              /* CtGlobal * -> CtGlobalNotes * */
    CT_VEC(CtVarNotes *) trail; /* whose `known` holds to the end of the current chain of bindings only */
    uint32_t asking;            /* nested questions whether a global may be inlined */
} CtSimplifier;

/* ---- occur.c ---- */

CtVarNotes *ct_core_notes(CtSimplifier *s, CtVar *var);
/* Counts the occurrences of variables in a term, afresh for those that it binds. */
void ct_core_count_uses(CtSimplifier *s, CtCore *core);
/* The nodes of a term, or `limit` when there are that many or more. */
uint32_t ct_core_size(CtSimplifier *s, CtCore *core, uint32_t limit);
/* Whether recursion over the term stays within `limit` levels; with `loop`, when it goes along chains of bindings and
 * constructions in a loop. */
bool ct_core_within_depth(CtArena *arena, CtCore *core, uint32_t limit, bool loop);
/* Whether a let-bound term may be evaluated later, or in a branch, or not at all: it is total and keeps no more memory
 * alive. `weight` receives its nodes, those of pending variables included. */
bool ct_core_is_movable(CtSimplifier *s, const CtCore *core, uint32_t *weight);
/* `body` with `term` for `var`, when evaluating it begins with `var`; NULL when not. */
CtCore *ct_core_put_first(CtSimplifier *s, CtCore *body, const CtVar *var, CtCore *term);

/* ---- head.c ---- */

enum { MAX_KNOWN_ARRAY = 4 }; /* elements of a literal array whose changes are followed */

/* Does at a term's head what can be done before its children are simplified: these are still as they were. */
CtCore *ct_core_head(CtSimplifier *s, CtCore *core);
/* The same for a LET or UNPACK, whose binding may be one of a construction in sight; NULL when there is nothing to do.
 */
CtCore *ct_core_head_let(CtSimplifier *s, CtCore **let);
/* The construction of atoms that a variable is bound to, or a construction itself; NULL for other terms. */
CtCore *ct_core_known_construction(CtSimplifier *s, CtCore *core);
/* A copy of a λ in sight for a call; NULL when it is too large. */
CtCore *ct_core_copied_lam(CtSimplifier *s, CtCore *lam, CtSourceRange call);
bool ct_core_is_of_atoms(const CtCore *construction);
/* Names for the arguments of a construction that are no atoms, around what `rest` makes of the named one; NULL when
 * there are none. */
CtCore *ct_core_name_args(CtSimplifier *s, CtCore *construction, CtVar *like,
                          CtCore *(*rest)(void *data, CtCore *named), void *data);
/* The branch of a CASE for a constructor in sight. */
CtCore *ct_core_select_branch(CtSimplifier *s, const CtCore *core, const CtCore *con);
/* A new node that is like another. */
CtCore *ct_core_like(CtSimplifier *s, const CtCore *like);

/* ---- inline.c ---- */

/* The λ of a global whose calls are replaced by its body, given these arguments; NULL when they are not. */
CtCore *ct_core_inlinable(CtSimplifier *s, CtGlobal *global, CtCore *const *args, uint32_t count);
/* A constant global that stands for an atom: that atom, else NULL. */
CtCore *ct_core_global_atom(CtGlobal *global);
/* Globals in an order in which callees come first, but for cycles. */
void ct_core_callees_first(CtProgram *p, CtGlobal **order);

/* ---- specialise.c ---- */

/* Copies of functions for the functions that they are called with; true when there are any. */
bool ct_core_specialise(CtProgram *p);

/* ---- fold.c ---- */

/* A primitive on simplified arguments: its value when they are literals, a smaller term where an identity holds in
 * every bit, or NULL. */
CtCore *ct_core_fold(CtProgram *p, CtCore *prim);

#endif
