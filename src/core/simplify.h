/* Shared by the simplifier's files. simplify.c describes how it works. */
#ifndef CT_CORE_SIMPLIFY_H
#define CT_CORE_SIMPLIFY_H

#include "core/internal.h"

typedef struct CtVarNotes {
    uint32_t run; /* the run of the simplifier that wrote these notes; older ones count as absent */
    /* found by counting, before simplification */
    /* Numbers of occurrences: all; as the function of an APP, of an array operation or a derivative; as scrutinee of
     * CASE, PROJ or UNPACK. */
    uint32_t uses, calls, opens;
    uint32_t inner_uses; /* of a variable bound by LETREC: occurrences inside the group's own λs */
    uint32_t depth;      /* number of λs around the binder */
    bool crosses;        /* it occurs under a λ that is not around the binder */
    bool pinned;         /* it occurs in a λ that has an origin, and must stay */
    /* found during simplification */
    /* Its replacement: a simplified atom or, when `pending`, the term bound to it, which is simplified at its only
     * use. */
    CtCore *becomes;
    bool pending, consumed;
    uint32_t weight; /* nodes of a pending term, including pending terms inside */
    CtCore *known;   /* the λ, or the construction of atoms, that it is bound to */
} CtVarNotes;

typedef struct CtSimplifier {
    CtProgram *p;
    uint32_t run, changes;
    uint32_t depth;             /* number of λs around the current term */
    uint32_t pinning;           /* while counting: number of groups of λs with an origin around the current term */
    uint32_t fuel;              /* nodes that may still be inlined */
    CtMap globals;              /* CtGlobal * -> CtGlobalNotes * */
    CT_VEC(CtVarNotes *) trail; /* variables whose `known` is valid only in the current chain of bindings */
    uint32_t asking;            /* nesting depth of questions whether a global may be inlined */
} CtSimplifier;

/* ---- simplify.c ---- */

/* Simplifies all globals, but does not specialise any. */
void ct_core_simplify_rounds(CtProgram *p);

/* ---- occur.c ---- */

CtVarNotes *ct_core_notes(CtSimplifier *s, CtVar *var);
/* Counts the occurrences of variables in a term; those that it binds start from 0. */
void ct_core_count_uses(CtSimplifier *s, CtCore *core);
/* Counts in a λ that is replaced by its body, if it has an origin: in these, nothing is counted before. */
void ct_core_count_opened(CtSimplifier *s, const CtLam *lam);
/* The number of nodes of a term, or `limit` if it is larger. */
uint32_t ct_core_size(CtSimplifier *s, CtCore *core, uint32_t limit);
/* Whether a let-bound term may be evaluated later, in a branch, or not at all: it is total and keeps no additional
 * memory alive. `weight` receives its number of nodes, including those of pending variables. */
bool ct_core_is_movable(CtSimplifier *s, const CtCore *core, uint32_t *weight);
/* `body` with `term` substituted for `var`, if evaluating the body begins with `var`; otherwise NULL. */
CtCore *ct_core_put_first(CtSimplifier *s, CtCore *body, const CtVar *var, CtCore *term);

/* ---- head.c ---- */

enum { MAX_KNOWN_ARRAY = 4 }; /* a literal array of at most this many elements is tracked through updates */

/* Simplifies the head of a term as far as possible before its children are simplified. */
CtCore *ct_core_head(CtSimplifier *s, CtCore *core);
/* The same for a LET or UNPACK, whose right-hand side may be a known construction; NULL when there is nothing to do. */
CtCore *ct_core_head_let(CtSimplifier *s, CtCore **let);
/* The construction of atoms that a variable is bound to, or the term itself if it is a construction; NULL for other
 * terms. */
CtCore *ct_core_known_construction(CtSimplifier *s, CtCore *core);
/* A copy of a known λ to be inlined at a call; NULL when it is too large. */
CtCore *ct_core_copied_lam(CtSimplifier *s, CtCore *lam, CtSourceRange call);
bool ct_core_is_of_atoms(const CtCore *construction);
/* Binds the arguments of a construction that are no atoms, around the result of `rest` for the construction of atoms;
 * NULL when all are atoms. */
CtCore *ct_core_name_args(CtSimplifier *s, CtCore *construction, CtVar *like,
                          CtCore *(*rest)(void *data, CtCore *named), void *data);
/* The branch of a CASE on a known construction. */
CtCore *ct_core_select_branch(CtSimplifier *s, const CtCore *core, const CtCore *con);
/* A new node with the contents of another one. */
CtCore *ct_core_like(CtSimplifier *s, const CtCore *like);

/* ---- inline.c ---- */

/* The λ of a global that is inlined for these arguments; NULL when it is not. */
CtCore *ct_core_inlinable(CtSimplifier *s, CtGlobal *global, CtCore *const *args, uint32_t count);
/* If a global is a constant whose value is an atom, that atom; else NULL. */
CtCore *ct_core_global_atom(CtGlobal *global);
/* The globals with callees before callers, except for cycles. */
void ct_core_callees_first(CtProgram *p, CtGlobal **order);

/* ---- specialise.c ---- */

/* Specialises functions to the functions that they are called with; true when it has made any copies. */
bool ct_core_specialise(CtProgram *p);

/* ---- point_free.c ---- */

/* Makes functions of constants that are functions; true when there were any. */
bool ct_core_point_free(CtProgram *p);
/* Makes calls of functions that give functions, with all arguments, calls with all of them; true when there were any. */
bool ct_core_full_calls(CtProgram *p);

/* ---- fold.c ---- */

/* Constant folding and identities: the value of a primitive of literals, a smaller term where an identity holds bit for
 * bit, or NULL. The arguments are simplified. */
CtCore *ct_core_fold(CtProgram *p, CtCore *prim);
/* [a, b] ++ [c]: [a, b, c]; NULL for other applications. */
CtCore *ct_core_join(CtProgram *p, const CtCore *app);

#endif
