/* The simplifier of array terms, of ad/ alone: simplify_term.c walks and binds, the rules stand in algebra.c and,
 * for what moves elements, in data_movement.c.
 *
 * Every part of a term that is met gets a variable, equal ones the same; so a rule sees through variables at no cost,
 * and what it takes from a term that it looked up is an atom, which is computed already. What nobody uses in the end is
 * dropped and what is used once is put back in its place.
 */
#ifndef CT_AD_BULK_SIMPLIFY_H
#define CT_AD_BULK_SIMPLIFY_H

#include "ad/bulk/rewrite/rules.h"

/* A term whose parts are atoms, but for functions of an index, which are trees. */
typedef struct CtBulkBinding {
    CtBulkVar *var;
    CtBulk *term;
    uint64_t hash;
    struct CtBulkBinding *same_hash; /* the next */
    bool out_of_scope;
    uint32_t uses, user;  /* how often it is used; of a use that is the only one, the place in the block */
    bool fails;           /* whether evaluating its term, with what was put back into that, can be an error */
    bool late, used_late; /* whether it depends on the cotangent, or something that uses it does */
} CtBulkBinding;

typedef struct CtBulkBlock {
    CT_VEC(CtBulkBinding *) bindings;
} CtBulkBlock;

typedef struct CtSimplifier {
    CtBulkBuilder *r;
    CtBulkBlock *block;
    CtMap env;             /* what a variable of the given term has become: an atom */
    CtMap known;           /* CtBulkVar * -> CtBulkBinding * */
    CtMap hashes;          /* -> CtBulkBinding * */
    CtBulkRewriter ranges; /* for what it knows of where indices lie */
} CtSimplifier;

/* ---- simplify_term.c ---- */
CtBulk *ct_bulk_simplify_walk(CtSimplifier *s, CtBulk *t); /* any term; gives an atom */
CtBulk *ct_bulk_simplify_emit(CtSimplifier *s, CtBulk *t); /* one whose parts are atoms; gives an atom */
CtBulk *ct_bulk_simplify_known(const CtSimplifier *s,
                               CtBulk *t); /* what an atom is bound to; itself when that is not known */
/* The function with its terms simplified; its variables stay below `sizes`. */
CtIndexing ct_bulk_simplify_indexing(CtSimplifier *s, CtIndexing f, const int64_t *sizes);

/* ---- algebra.c: an atom that means the same, or NULL ---- */
CtBulk *ct_bulk_simplify_rule(CtSimplifier *s, CtBulk *t);
bool ct_bulk_is_splat(const CtBulk *t); /* a constant whose elements are all the same */
CtBulk *ct_bulk_splat_as(CtBulkBuilder *r, const CtBulk *t, CtShape shape); /* the same constant in another shape */
bool ct_bulk_is_splat_real(const CtBulk *t, double value);                  /* every element has these bits */
bool ct_bulk_is_known_int(const CtBulk *t, int64_t *value);
bool ct_bulk_is_known_bool(const CtBulk *t, bool *value);
CtBulk *ct_bulk_zero(CtBulkBuilder *r, CtElement element, CtShape shape); /* −0.0, 0, False */

/* ---- data_movement.c ---- */
CtBulk *ct_bulk_simplify_move(CtSimplifier *s, CtBulk *t);
/* Whether evaluating the term itself, not its parts, can be an error. */
bool ct_bulk_may_fail(CtSimplifier *s, const CtBulk *t);

#endif
