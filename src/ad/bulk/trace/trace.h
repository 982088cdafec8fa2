/* Stand-ins for values, and the terms that a function makes of them: see trace.c. */
#ifndef CT_AD_BULK_TRACE_H
#define CT_AD_BULK_TRACE_H

#include "ad/bulk/ir/bulk.h"

typedef enum CtStandKind {
    STAND_TERM,    /* a number, a Bool, or a regular array of them, of which a term is known */
    STAND_KNOWN,   /* an Int or a Char that is known */
    STAND_COUNTER, /* an Int of which it is known how it goes up or down in a loop */
    STAND_TUPLE,   /* parts */
    STAND_DATA,    /* constructor and fields */
    STAND_ROWS,    /* an array of tuples or data, as one of arrays: the terms inside have its size as their outermost */
    STAND_LIST,    /* an array of which each element is known by itself */
    STAND_CLOSURE, /* a function */
    STAND_CHOICE,  /* one of two functions, by what is not known */
    STAND_PULLBACK, /* what a derivative inside the function gives: nested.c */
    STAND_STRING,   /* a literal */
    STAND_FAILURE,  /* what never comes: the program fails there */
} CtStandKind;

typedef struct CtStand CtStand;
struct CtStand {
    CtStandKind kind;
    union {
        CtBulk *term;
        int64_t known;
        struct {
            int64_t base, slope; /* base + slope · step; the slope is not 0 */
            struct CtCounting *of;
        } counter;
        struct {
            CtStand **parts;
            uint32_t count;
            CtCon *con; /* DATA */
        } of;           /* TUPLE, DATA, LIST */
        struct {
            int64_t size;
            CtStand *element;
        } rows;
        struct {
            CtLam *lam;
            const struct CtStandEnv *env;
        } closure;
        struct {
            CtBulk *test; /* a Bool of rank 0 */
            CtStand *yes, *no;
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
    CtSpan span;
    const char *what; /* NULL: nothing was refused */
} CtBulkRefusal;

/* A result of tracing: the structure, whose terms are atoms, and the bindings and checks that they need. */
typedef struct CtBulkTrace {
    CtStand *result;
    CT_VEC(CtBulkVar *) vars;
    CT_VEC(CtBulk *) terms;
    CT_VEC(CtBulk *) checks; /* CHECKs of nothing: of the real number 0 */
} CtBulkTrace;

/* Runs the function that `f` stands for on `args`. False when it is refused. */
bool ct_bulk_trace(CtBulkRoom *r, CtStand *f, CtStand *const *args, uint32_t count, CtBulkTrace *out,
                   CtBulkRefusal *refusal);
/* A term of a trace with the bindings that it needs around it, and the checks when `checked`. */
CtBulk *ct_bulk_trace_bulk_closed(CtBulkRoom *r, const CtBulkTrace *trace, CtBulk *t, bool checked);

CtStand *ct_bulk_abstract_term(CtBulkRoom *r, CtBulk *term);
CtStand *ct_bulk_abstract_known(CtBulkRoom *r, int64_t value);
CtStand *ct_bulk_abstract_parts(CtBulkRoom *r, CtStandKind kind, CtStand *const *parts, uint32_t count, CtCon *con);
CtStand *ct_bulk_abstract_rows(CtBulkRoom *r, int64_t size, CtStand *element);
CtStand *ct_bulk_abstract_closure(CtBulkRoom *r, CtLam *lam, const CtVar *const *vars, CtStand *const *values, uint32_t count);

/* ---- structure.c ---- */

void ct_bulk_abstract_leaves(CtArena *arena, const CtStand *s, CtLeaves *out);
uint32_t ct_bulk_trace_leaves_real_count(const CtLeaves *leaves);
/* All reals behind each other, in one array; the one leaf itself when there is one. */
CtBulk *ct_bulk_trace_leaves_together(CtBulkRoom *r, const CtLeaves *leaves, CtSpan span);

struct CtSeq;
/* For each term of a structure (variables) a binding of the flat value that it has in x; `vars`: CtBulkVar * -> CtVar
 * *. */
void ct_bulk_trace_bulk_take_apart(CtBulkRoom *r, CtSpan span, struct CtSeq *seq, const CtStand *s, CtCore *x, CtMap *vars);
/* A structure of this type from flat values for its terms, in order; where one is NULL, and for what is known, as it is
 * in `old` (may be NULL). */
CtCore *ct_bulk_trace_bulk_put_together(CtBulkRoom *r, CtSpan span, const CtStand *s, CtType *type, CtCore *old,
                             CtCore *const *flat);
/* An array of `count` such structures, whose flat values have that as their outermost dimension; `old` is each. */
CtCore *ct_bulk_trace_bulk_put_rows(CtBulkRoom *r, CtSpan span, const CtStand *s, CtType *type, CtCore *old, CtCore *const *flat,
                         int64_t count);

#endif
