/* What the parts of the lowering share: lower_term.c says what becomes of each form, lower_indices.c of indices.
 *
 * A tensor of rank 0 is a Double, Int or Bool; one of a higher rank is a flat array, row-major, a Bool in it 1 or 0.
 */
#ifndef CT_AD_BULK_LOWER_INTERNAL_H
#define CT_AD_BULK_LOWER_INTERNAL_H

#include "ad/bulk/ir/ranges.h"
#include "ad/bulk/lower/lower.h"
#include "ad/internal.h"

typedef struct CtLower {
    CtBulkBuilder *r;
    CtProgram *p;
    CtMap *vars;             /* CtBulkVar * -> CtVar * */
    CtBulkRewriter facts;    /* what indices can be */
    CtSeq *outside;          /* before the loop that is being written; NULL outside of loops */
    CT_VEC(CtBulkVar *) own; /* variables that this loop and what is in it bind */
} CtLower;

/* t on what its variables are now. */
CtCore *ct_bulk_lower_lower(CtLower *l, CtBulk *t);
/* The same as an array, of one element when t is of rank 0; back again. */
CtCore *ct_bulk_lower_flat(CtLower *l, CtBulk *t);
CtCore *ct_bulk_lower_unflat(CtLower *l, const CtBulk *t, CtCore *array);

/* ---- pieces ---- */

/* Of a constant of Int or Bool of rank 0. */
static inline int64_t ct_bulk_lower_number(const CtBulk *t) {
    return t->as.constant.integers != NULL ? t->as.constant.integers[0] : t->as.constant.integer;
}

CtCore *ct_bulk_lower_int(CtLower *l, CtSourceRange range, int64_t value);
CtCore *ct_bulk_lower_op(CtLower *l, CtSourceRange range, CtPrim prim, CtCore *a,
                         CtCore *b); /* of two Ints, or of one when b is NULL */
CtCore *ct_bulk_lower_array(CtLower *l, CtSourceRange range, CtArrayOp op, CtCore *a, CtCore *b, CtCore *c);
CtCore *ct_bulk_lower_ints(CtLower *l, CtSourceRange range, const int64_t *items, uint32_t count);
/* The 0 of an element, as an array holds it. */
CtCore *ct_bulk_lower_zero(CtLower *l, CtSourceRange range, CtElement element);
CtCore *ct_bulk_lower_zeros(CtLower *l, CtSourceRange range, CtElement element, int64_t count);
/* Between a value of rank 0 and what an array holds. */
CtCore *ct_bulk_lower_item(CtLower *l, CtElement element, CtCore *value);
CtCore *ct_bulk_lower_value(CtLower *l, CtElement element, CtCore *item);
/* A failure; but first the program itself is run, which fails in its own way: of several errors with the first. */
CtCore *ct_bulk_lower_failure(CtLower *l, CtSourceRange range, CtCore *failure);
/* A term without free variables as a constant of the program, evaluated once. */
CtCore *ct_bulk_lower_constant(CtLower *l, CtCore *core);

/* A variable is bound to a term of Core while something is lowered; gives what it was bound to before. */
CtVar *ct_bulk_lower_bind(CtLower *l, CtBulkVar *var, CtVar *to);
void ct_bulk_lower_unbind(CtLower *l, CtBulkVar *var, CtVar *before);

/* The body of a loop: what it binds, and what is lifted out of it. */
typedef struct CtLowerLoop {
    CtSeq seq, *outer;
} CtLowerLoop;
void ct_bulk_lower_enter(CtLower *l, CtLowerLoop *loop);
/* `made`, the loop, behind what was lifted out of it. */
CtCore *ct_bulk_lower_leave(CtLower *l, CtLowerLoop *loop, CtCore *made);
/* A variable of a loop, of values from 0 to size − 1. */
void ct_bulk_lower_own(CtLower *l, CtBulkVar *var, int64_t size);

/* What is lowered between these stands before all loops; gives what `end` restores. */
CtLower ct_bulk_lower_begin_apart(CtLower *l);
void ct_bulk_lower_end_apart(CtLower *l, const CtLower *before);

/* ---- lower_loops.c ---- */

CtCore *ct_bulk_lower_loop(CtLower *l, CtBulk *t);
/* What a variable that is bound to t becomes, as a binding of `seq`; of a loop, all results are bound, and known until
 * r->loops is put back. */
CtVar *ct_bulk_lower_bound(CtLower *l, CtSeq *seq, CtBulkVar *var, CtBulk *t);

/* The scalar that all elements of an array are, as a term of rank 0; NULL when that is not plain. */
CtBulk *ct_bulk_lower_uniform(CtLower *l, CtBulk *t);
/* Whether a constant is [0, …, count − 1]. */
bool ct_bulk_lower_is_iota(const CtBulk *t, int64_t count);

/* ---- lower_updates.c ---- */

/* A COND, or an OP of two arguments, as an update of one element; NULL when it is none. */
CtCore *ct_bulk_lower_update(CtLower *l, CtBulk *t);
CtCore *ct_bulk_lower_add_one(CtLower *l, CtBulk *t);

/* ---- lower_indices.c ---- */

/* The number of the row that f leads to where its variables stand now; −1 where it is outside and not live. */
CtCore *ct_bulk_lower_position(CtLower *l, const CtIndexing *f, CtShape shape, CtSourceRange range);

CtCore *ct_bulk_lower_index(CtLower *l, CtBulk *t);
CtCore *ct_bulk_lower_gather(CtLower *l, CtBulk *t);
CtCore *ct_bulk_lower_scatter(CtLower *l, CtBulk *t);
CtCore *ct_bulk_lower_one_hot(CtLower *l, CtBulk *t);
CtCore *ct_bulk_lower_transpose(CtLower *l, CtBulk *t);

/* One dimension of a view: strides in elements. */
typedef struct CtDim {
    int64_t size, stride;
} CtDim;
/* The view of an array of `count` elements; as cheaply as it goes. `dims` are changed. */
CtCore *ct_bulk_lower_view(CtLower *l, CtSourceRange range, CtCore *array, int64_t count, int64_t offset, CtDim *dims,
                           uint32_t rank);

#endif
