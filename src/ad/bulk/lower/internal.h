/* Shared by the files of the lowering: lower_term.c lowers each kind of term, lower_indices.c index functions.
 *
 * A tensor of rank 0 becomes a Double, Int or Bool; one of higher rank a flat array, row-major, in which a Bool is 1 or
 * 0. */
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
    CtSeq *outside;          /* bindings before the current loop; NULL outside of loops */
    CT_VEC(CtBulkVar *) own; /* variables bound by the current loop and inside it */
} CtLower;

/* Lowers a term, with the current meaning of its variables. */
CtCore *ct_bulk_lower_term(CtLower *l, CtBulk *t);
/* The same as an array, with one element if t has rank 0; and the converse. */
CtCore *ct_bulk_lower_flat(CtLower *l, CtBulk *t);
CtCore *ct_bulk_lower_unflat(CtLower *l, const CtBulk *t, CtCore *array);

/* ---- pieces ---- */

/* Of a constant of Int or Bool of rank 0. */
static inline int64_t ct_bulk_lower_number(const CtBulk *t) {
    return t->as.constant.integers != NULL ? t->as.constant.integers[0] : t->as.constant.integer;
}

CtCore *ct_bulk_lower_int(CtLower *l, CtSourceRange range, int64_t value);
CtCore *ct_bulk_lower_op(CtLower *l, CtSourceRange range, CtPrim prim, CtCore *a,
                         CtCore *b); /* of two Ints, or of one if b is NULL */
CtCore *ct_bulk_lower_array(CtLower *l, CtSourceRange range, CtArrayOp op, CtCore *a, CtCore *b, CtCore *c);
CtCore *ct_bulk_lower_ints(CtLower *l, CtSourceRange range, const int64_t *items, uint32_t count);
/* The zero of an element type, in its representation in arrays. */
CtCore *ct_bulk_lower_zero(CtLower *l, CtSourceRange range, CtElement element);
CtCore *ct_bulk_lower_zeros(CtLower *l, CtSourceRange range, CtElement element, int64_t count);
/* Conversion between a value of rank 0 and its representation in arrays. */
CtCore *ct_bulk_lower_item(CtLower *l, CtElement element, CtCore *value);
CtCore *ct_bulk_lower_value(CtLower *l, CtElement element, CtCore *item);
/* A failure. The program itself is run before it, and fails in its own way, with the first of several errors. */
CtCore *ct_bulk_lower_failure(CtLower *l, CtSourceRange range, CtCore *failure);
/* A term without free variables becomes a constant of the program, which is evaluated once. */
CtCore *ct_bulk_lower_constant(CtLower *l, CtCore *core);

/* Binds a variable to a Core variable temporarily; returns its previous binding. */
CtVar *ct_bulk_lower_bind(CtLower *l, CtBulkVar *var, CtVar *to);
void ct_bulk_lower_unbind(CtLower *l, CtBulkVar *var, CtVar *before);

/* The body of a loop under construction: its variables, and what is hoisted out of it. */
typedef struct CtLowerLoop {
    CtSeq seq, *outer;
} CtLowerLoop;
void ct_bulk_lower_enter(CtLower *l, CtLowerLoop *loop);
/* The loop `made`, behind the bindings hoisted out of it. */
CtCore *ct_bulk_lower_leave(CtLower *l, CtLowerLoop *loop, CtCore *made);
/* Declares a variable of the loop, with values from 0 to size − 1. */
void ct_bulk_lower_own(CtLower *l, CtBulkVar *var, int64_t size);

/* Between begin and end, code is generated in front of all loops. Begin returns the state that `end` restores. */
CtLower ct_bulk_lower_begin_apart(CtLower *l);
void ct_bulk_lower_end_apart(CtLower *l, const CtLower *before);

/* ---- lower_loops.c ---- */

CtCore *ct_bulk_lower_loop(CtLower *l, CtBulk *t);
/* Binds a lowered term to a variable in `seq`. For a loop all results are bound, and remain known until r->loops is
 * reset. */
CtVar *ct_bulk_lower_bound(CtLower *l, CtSeq *seq, CtBulkVar *var, CtBulk *t);

/* The scalar term that all elements of an array equal; NULL if that is not evident. */
CtBulk *ct_bulk_lower_uniform(CtLower *l, CtBulk *t);

/* ---- lower_updates.c ---- */

/* A COND that is an update of one element or row; an OP of two arguments that adds to few elements. NULL for others. */
CtCore *ct_bulk_lower_update(CtLower *l, CtBulk *t);
CtCore *ct_bulk_lower_add_sparse(CtLower *l, CtBulk *t);

/* ---- reads_first.c ---- */

/* The body of a loop: bindings, then results. */
typedef struct CtBulkBody {
    CtBulkVar **vars;
    CtBulk **terms;
    uint32_t bound, count; /* number of bindings; number of terms */
} CtBulkBody;
/* The same body, with reads of arrays before their changes. */
CtBulkBody ct_bulk_lower_reads_first(CtBulkBuilder *r, CtBulkRewriter *facts, const CtBulkLoop *loop);

/* ---- lower_indices.c ---- */

/* The row number that f gives for the current values of its variables; −1 where it is out of range and not needed. */
CtCore *ct_bulk_lower_position(CtLower *l, const CtIndexing *f, CtShape shape, CtSourceRange range);
/* These numbers for all points, as an array. */
CtCore *ct_bulk_lower_positions(CtLower *l, const CtIndexing *f, CtShape shape, CtShape points, CtSourceRange range);

CtCore *ct_bulk_lower_index(CtLower *l, CtBulk *t);
CtCore *ct_bulk_lower_gather(CtLower *l, CtBulk *t);
CtCore *ct_bulk_lower_scatter(CtLower *l, CtBulk *t);
CtCore *ct_bulk_lower_one_hot(CtLower *l, CtBulk *t);
CtCore *ct_bulk_lower_transpose(CtLower *l, CtBulk *t);

/* A dimension of a view; the stride counts elements. */
typedef struct CtDim {
    int64_t size, stride;
} CtDim;
/* The view of an array of `count` elements, by the cheapest operations. `dims` are changed. */
CtCore *ct_bulk_lower_view(CtLower *l, CtSourceRange range, CtCore *array, int64_t count, int64_t offset, CtDim *dims,
                           uint32_t rank);

#endif
