/* The simplifier of array terms: simplify_term.c traverses and binds; the rules are in algebra.c and, for data
 * movement, in data_movement.c.
 *
 * Every subterm is bound to a variable, equal ones to the same (value numbering). So a rule can look through variables
 * at no cost, and what it takes from a term found there is an atom, which is computed already. In the end unused
 * bindings are dropped, and those used once are substituted. */
#ifndef CT_AD_BULK_SIMPLIFY_H
#define CT_AD_BULK_SIMPLIFY_H

#include "ad/bulk/rewrite/rules.h"

/* A term whose subterms are atoms, except inside index functions, which contain trees. */
typedef struct CtBulkBinding {
    CtBulkVar *var;
    CtBulk *term;
    uint64_t hash;
    struct CtBulkBinding *same_hash; /* next in the hash bucket */
    bool out_of_scope;
    uint32_t uses, user;  /* number of uses; if there is one, its position in the block */
    bool fails;           /* whether evaluating its term, with what was substituted into it, can fail */
    bool used_inside;     /* whether an index function uses it, in which nothing is substituted */
    bool late, used_late; /* whether it depends on the cotangent; whether a term that uses it does */
} CtBulkBinding;

typedef struct CtBulkBlock {
    CT_VEC(CtBulkBinding *) bindings;
} CtBulkBlock;

typedef struct CtSimplifier {
    CtBulkBuilder *r;
    CtBulkBlock *block;
    CtMap env;             /* variable of the given term -> an atom */
    CtMap known;           /* CtBulkVar * -> CtBulkBinding * */
    CtMap hashes;          /* -> CtBulkBinding * */
    CtBulkRewriter ranges; /* range analysis */
} CtSimplifier;

/* ---- simplify_term.c ---- */
CtBulk *ct_bulk_simplify_walk(CtSimplifier *s, CtBulk *t); /* any term; returns an atom */
CtBulk *ct_bulk_simplify_emit(CtSimplifier *s, CtBulk *t); /* a term of atoms; returns an atom */
CtBulk *ct_bulk_simplify_known(const CtSimplifier *s,
                               CtBulk *t); /* the term that an atom is bound to; the atom itself if that is not known */
/* The index function with its terms simplified; its variables range below `sizes`. */
CtIndexing ct_bulk_simplify_indexing(CtSimplifier *s, CtIndexing f, const int64_t *sizes);

/* ---- algebra.c: an atom that means the same, or NULL ---- */
CtBulk *ct_bulk_simplify_rule(CtSimplifier *s, CtBulk *t);
bool ct_bulk_is_splat(const CtBulk *t); /* a constant whose elements are all the same */
CtBulk *ct_bulk_splat_as(CtBulkBuilder *r, const CtBulk *t, CtShape shape); /* the same constant in another shape */
bool ct_bulk_is_splat_real(const CtBulk *t, double value);                  /* every element has these bits */
bool ct_bulk_is_known_int(const CtBulk *t, int64_t *value);
bool ct_bulk_is_known_bool(const CtBulk *t, bool *value);
CtBulk *ct_bulk_zero(CtBulkBuilder *r, CtElement element, CtShape shape); /* −0.0, 0, False */

/* ---- updates.c: an atom that means the same, or NULL ---- */
CtBulk *ct_bulk_simplify_sides_sum(CtSimplifier *s, CtBulk *a, CtBulk *b); /* of a + b */
CtBulk *ct_bulk_simplify_sides(CtSimplifier *s, CtBulk *t);                /* of a COND */
CtBulk *ct_bulk_simplify_sum_of_update(CtSimplifier *s, const CtBulk *t);  /* of a sum along the outermost dimension */
/* The i of the test [0, …, n − 1] == replicate n i, of rank 0; NULL if it is no such test. */
CtBulk *ct_bulk_simplify_marked(CtSimplifier *s, CtBulk *test);

/* ---- data_movement.c ---- */
CtBulk *ct_bulk_simplify_move(CtSimplifier *s, CtBulk *t);
/* Whether evaluating the term itself, apart from its subterms, can fail. */
bool ct_bulk_may_fail(CtSimplifier *s, const CtBulk *t);

#endif
