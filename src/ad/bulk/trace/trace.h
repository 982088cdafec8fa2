/* Abstract values, and the terms that a function computes on them: see trace.c. */
#ifndef CT_AD_BULK_TRACE_H
#define CT_AD_BULK_TRACE_H

#include "ad/bulk/ir/bulk.h"

typedef enum CtAbstractKind {
    ABSTRACT_TERM,    /* a number, Bool or regular array of them, computed by a term */
    ABSTRACT_KNOWN,   /* a known Int or Char */
    ABSTRACT_COUNTER, /* an Int that changes by a known amount in each step of a loop */
    ABSTRACT_TUPLE,   /* parts */
    ABSTRACT_DATA,    /* constructor and fields */
    /* An array of tuples or data, stored as a structure of arrays: terms have its size as outermost dimension. */
    ABSTRACT_ROWS,
    ABSTRACT_GROWING,  /* an array to which each step of a loop appends: growing.c */
    ABSTRACT_LIST,     /* an array each of whose elements is known separately */
    ABSTRACT_CLOSURE,  /* a function */
    ABSTRACT_CHOICE,   /* one of two functions, depending on an unknown value */
    ABSTRACT_PULLBACK, /* what a derivative inside the function gives: trace_derivatives.c */
    ABSTRACT_STRING,   /* a literal */
    ABSTRACT_FAILURE,  /* no value: the program fails */
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
            CtAbstract *all;            /* with room for the elements of all steps */
            int64_t base, slope, added; /* the length is base + slope · step + added */
            struct CtCounting *of;
        } growing;
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

/* The reason of a refusal, and its source range. */
typedef struct CtBulkRefusal {
    CtSourceRange range;
    const char *what; /* NULL: not refused */
} CtBulkRefusal;

/* The result of tracing: the structure, whose terms are atoms, and the bindings and checks that they need. */
typedef struct CtBulkTrace {
    CtAbstract *result;
    CT_VEC(CtBulkVar *) vars;
    CT_VEC(CtBulk *) terms;
    CT_VEC(CtBulk *) checks; /* CHECKs, each around the real number 0 */
} CtBulkTrace;

/* Traces the function `f` on `args`. False when it is refused. */
bool ct_bulk_trace(CtBulkBuilder *r, CtAbstract *f, CtAbstract *const *args, uint32_t count, CtBulkTrace *out,
                   CtBulkRefusal *refusal);
/* A term of a trace with the bindings that it needs, and with the checks if `checked`. */
CtBulk *ct_bulk_trace_closed(CtBulkBuilder *r, const CtBulkTrace *trace, CtBulk *t, bool checked);

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
/* All reals in one array; if there is a single leaf, that leaf. */
CtBulk *ct_bulk_trace_leaves_together(CtBulkBuilder *r, const CtLeaves *leaves, CtSourceRange range);
/* For each real of a structure, in the order of the program, its position in that array; NULL: the order is the
 * same. */
CtBulk *ct_bulk_leaves_order(CtBulkBuilder *r, const CtAbstract *s);

struct CtSeq;
/* For each term of a structure (a variable), adds a binding of its flat value, computed from x; with `reals`, not for
 * those in discrete parts, which may be other ones in a tangent or cotangent. `vars`: CtBulkVar * -> CtVar *. */
void ct_bulk_trace_take_apart(CtBulkBuilder *r, CtSourceRange range, struct CtSeq *seq, const CtAbstract *s, CtCore *x,
                              bool reals, CtMap *vars);
/* A structure of this type from flat values for its terms, in order. Where the value is NULL, and for known parts, it
 * is as in `old` (may be NULL). */
CtCore *ct_bulk_trace_put_together(CtBulkBuilder *r, CtSourceRange range, const CtAbstract *s, CtType *type,
                                   CtCore *old, CtCore *const *flat);
/* An array of `count` such structures, whose flat values have that as their outermost dimension. `old` is used for
 * each. */
CtCore *ct_bulk_trace_put_rows(CtBulkBuilder *r, CtSourceRange range, const CtAbstract *s, CtType *type, CtCore *old,
                               CtCore *const *flat, int64_t count);

#endif
