/* Abstract values for values, and the terms that a function makes of them: see trace.c. */
#ifndef CT_AD_BULK_TRACE_H
#define CT_AD_BULK_TRACE_H

#include "ad/bulk/ir/bulk.h"

typedef enum CtAbstractKind {
    ABSTRACT_TERM,    /* a number, a Bool, or a regular array of them, of which a term is known */
    ABSTRACT_KNOWN,   /* an Int or a Char that is known */
    ABSTRACT_COUNTER, /* an Int of which it is known how it goes up or down in a loop */
    ABSTRACT_TUPLE,   /* parts */
    ABSTRACT_DATA,    /* constructor and fields */
    ABSTRACT_ROWS, /* an array of tuples or data, as one of arrays: the terms inside have its size as their outermost */
    ABSTRACT_LIST, /* an array of which each element is known by itself */
    ABSTRACT_CLOSURE,  /* a function */
    ABSTRACT_CHOICE,   /* one of two functions, by what is not known */
    ABSTRACT_PULLBACK, /* what a derivative inside the function gives: trace_derivatives.c */
    ABSTRACT_STRING,   /* a literal */
    ABSTRACT_FAILURE,  /* what never comes: the program fails there */
} CtAbstractKind;

typedef struct CtAbstract CtAbstract;
struct CtAbstract {
    CtAbstractKind kind;
    union {
        CtBulk *term;
        int64_t known;
        struct {
            int64_t base, slope; /* base + slope · step; the slope is not 0 */
            struct CtCounting *of;
        } counter;
        struct {
            CtAbstract **parts;
            uint32_t count;
            CtCon *con; /* DATA */
        } of;           /* TUPLE, DATA, LIST */
        struct {
            int64_t size;
            CtAbstract *element;
        } rows;
        struct {
            CtLam *lam;
            const struct CtAbstractEnv *env;
        } closure;
        struct {
            CtBulk *test; /* a Bool of rank 0 */
            CtAbstract *yes, *no;
        } choice;
        const struct CtPullback *pullback;
        CtCore *string;
    } as;
};

/* The terms of a structure, in order. */
typedef struct CtLeaves {
    CT_VEC(CtBulk *) terms;
} CtLeaves;

/* What a term cannot say, and where. */
typedef struct CtBulkRefusal {
    CtSourceRange range;
    const char *what; /* NULL: nothing was refused */
} CtBulkRefusal;

/* A result of tracing: the structure, whose terms are atoms, and the bindings and checks that they need. */
typedef struct CtBulkTrace {
    CtAbstract *result;
    CT_VEC(CtBulkVar *) vars;
    CT_VEC(CtBulk *) terms;
    CT_VEC(CtBulk *) checks; /* CHECKs of nothing: of the real number 0 */
} CtBulkTrace;

/* Runs the function that `f` stands for on `args`. False when it is refused. */
bool ct_bulk_trace(CtBulkBuilder *r, CtAbstract *f, CtAbstract *const *args, uint32_t count, CtBulkTrace *out,
                   CtBulkRefusal *refusal);
/* A term of a trace with the bindings that it needs around it, and the checks when `checked`. */
CtBulk *ct_bulk_trace_bulk_closed(CtBulkBuilder *r, const CtBulkTrace *trace, CtBulk *t, bool checked);

CtAbstract *ct_bulk_abstract_term(CtBulkBuilder *r, CtBulk *term);
CtAbstract *ct_bulk_abstract_known(CtBulkBuilder *r, int64_t value);
CtAbstract *ct_bulk_abstract_parts(CtBulkBuilder *r, CtAbstractKind kind, CtAbstract *const *parts, uint32_t count,
                                   CtCon *con);
CtAbstract *ct_bulk_abstract_rows(CtBulkBuilder *r, int64_t size, CtAbstract *element);
CtAbstract *ct_bulk_abstract_closure(CtBulkBuilder *r, CtLam *lam, const CtVar *const *vars, CtAbstract *const *values,
                                     uint32_t count);

/* ---- structure.c ---- */

void ct_bulk_abstract_leaves(CtArena *arena, const CtAbstract *s, CtLeaves *out);
uint32_t ct_bulk_trace_leaves_real_count(const CtLeaves *leaves);
/* All reals behind each other, in one array; the one leaf itself when there is one. */
CtBulk *ct_bulk_trace_leaves_together(CtBulkBuilder *r, const CtLeaves *leaves, CtSourceRange range);
/* Of each real of a structure, in the order of the program, its position there; NULL: they stand in that order. */
CtBulk *ct_bulk_leaves_order(CtBulkBuilder *r, const CtAbstract *s);

struct CtSeq;
/* For each term of a structure (variables) a binding of the flat value that it has in x; `vars`: CtBulkVar * -> CtVar
 * *. */
void ct_bulk_trace_bulk_take_apart(CtBulkBuilder *r, CtSourceRange range, struct CtSeq *seq, const CtAbstract *s,
                                   CtCore *x, CtMap *vars);
/* A structure of this type from flat values for its terms, in order; where one is NULL, and for what is known, as it is
 * in `old` (may be NULL). */
CtCore *ct_bulk_trace_bulk_put_together(CtBulkBuilder *r, CtSourceRange range, const CtAbstract *s, CtType *type,
                                        CtCore *old, CtCore *const *flat);
/* An array of `count` such structures, whose flat values have that as their outermost dimension; `old` is each. */
CtCore *ct_bulk_trace_bulk_put_rows(CtBulkBuilder *r, CtSourceRange range, const CtAbstract *s, CtType *type,
                                    CtCore *old, CtCore *const *flat, int64_t count);

#endif
