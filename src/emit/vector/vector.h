/* Vectorised loops (rt/simd.h): vectorise.c finds them, vector_steps.c writes them. A vectorised loop has steps that
 * are written as everywhere, and any loop may be vectorised: so the writer of C and this folder call each other. What
 * the writer calls is declared here and nowhere else. */
#ifndef CT_EMIT_VECTOR_H
#define CT_EMIT_VECTOR_H

#include "emit/internal.h"

/* What a variable is in a vectorised loop. */
typedef enum LaneKind {
    LANE_SAME,      /* uniform: the same in all lanes, an ordinary C variable */
    LANE_VALUE,     /* a number in each lane: ct_lanes or ct_lane_ints */
    LANE_ITERATION, /* the loop's index; in C the index of the first lane */
    LANE_ROW,       /* base[⟨indices⟩], not materialised */
    LANE_ARRAY,     /* an array in each lane, all of one length: ct_lanes * */
    LANE_MATRIX,    /* an array of such arrays in each lane, made row by row by an inner loop */
    LANE_ROWS,      /* an array of such arrays, not materialised: it is yielded as rows of the loop's result */
    LANE_ACC,       /* an array to whose elements the loop adds: one for all lanes */
    LANE_OLD,       /* an element of an ACC that is read only to be added to */
    LANE_MORE,      /* an OLD with the added value, `term` */
} LaneKind;

/* The elements of a row that an iteration reads: row_reads.c. */
typedef struct RowReads {
    bool is_whole;            /* all of them, or it is not known how many */
    bool is_flat;             /* a row of numbers, not of rows */
    uint32_t apart;           /* number of reads outside of inner loops */
    int64_t columns;          /* which are in so many first columns */
    CT_VEC(CtFlowArgs) loops; /* for each inner loop that reads some: its number of iterations, and of those around */
} RowReads;

typedef struct Lane {
    LaneKind kind;
    CtFlowArg base;          /* ROW, and ARRAY that an array of arrays holds by reference */
    CtFlowArgs indices;      /* ROW; only the first may vary, and it is the loop's index then */
    bool is_packed;          /* an array from outside whose rows of the current iterations have been packed */
    const RowReads *reads;   /* is_packed, and ARRAY held by reference */
    const char *packed;      /* the C variable of the packed rows */
    const char *data;        /* ACC, in its root: pointer to its elements */
    const char *length;      /* ARRAY, in its root, and MATRIX: total number of elements, in C */
    const char *count, *row; /* MATRIX: number of rows; length of a row */
    const char *place;       /* ARRAY, in its root: its place inside a matrix; NULL: it has memory of its own */
    const CtFlowVar *root;   /* ARRAY, ACC: the first variable of an array that is updated in place */
    const CtFlowStep *read;  /* OLD, MORE: the reading step; ROWS: the step that makes the rows */
    CtFlowArg term;          /* MORE */
    const struct Lane *sum;  /* MORE, to which the term is added; NULL: it is added to the OLD */
    int slope;               /* VALUE, an Int: what each lane has more than the one before, 1 or −1; 0: not known */
    bool is_taken;           /* ARRAY, in its root, and MATRIX: its memory has not been freed yet */
    bool is_wide;            /* ACC, in its root: each lane adds to its own copy of the elements first */
    uint32_t added;          /* of these, to how many an iteration adds outside of inner loops */
    bool adds_in_loop;       /* it adds to some in inner loops */
    bool may_be_narrow;      /* as is_wide, unless the copies would not fit into the cache */
    const char *terms;       /* ACC that a strip adds to: the array of terms */
} Lane;

typedef struct LaneSum { /* a carried variable: a sum, or what the iteration before has computed */
    CtFlowArgs terms;
    const CtFlowArg *running; /* a sum that inner loops go on with: what it is in the next iteration */
    CtFlowVar *delayed;       /* not a sum: what it is in the next iteration (delays.c) */
} LaneSum;

/* Decides whether a loop is vectorised. Then e->lanes says what each variable is, and `sums` which value is added to
 * each carried variable, or which it becomes. */
bool ct_emit_vector_fit(Emit *e, const CtFlowStep *step, LaneSum *sums);
/* Once the loop has been written, its lanes' memory is used again. */
void ct_emit_vector_forget_lanes(Emit *e, Lane *lanes);
typedef struct LaneResults {  /* the results of a loop, as C expressions */
    const char *const *names; /* of carried variables, then of arrays */
    const char *const *data;  /* pointers to the elements of each array */
    const char *const *far;   /* whether each array is written with non-temporal stores; NULL: none is */
    bool is_over;             /* an array may be written over one that the loop reads */
} LaneResults;

/* Whether a vectorised loop takes long rows one by one, and vectorises the sums along each instead of packing them. */
bool ct_emit_vector_has_two_ways(const Emit *e, const CtFlowStep *loop);
/* Writes the vectorised iterations of a loop of `count` iterations, CT_LANES at a time: from `index` up to `to`, a
 * multiple of CT_LANES iterations later; or all of them: true. */
bool ct_emit_vector_iterations(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *count, const char *to,
                               const char *index, const LaneResults *results);
/* Writes a step in a vectorised loop. False when the step is uniform, and is to be written like any other. */
bool ct_emit_vector_step(Emit *e, CtFlowStep *step);
/* The type of a variable's declaration; and an argument as a value for such a variable. In a vectorised loop these are
 * vectors. */
const char *ct_emit_vector_type(const Emit *e, const CtFlowVar *var);
const char *ct_emit_vector_as(Emit *e, const CtFlowVar *to, const CtFlowArg *arg);
/* The rest of the loop runs as scalar iterations; what it has taken is given back. */
void ct_emit_vector_leave(Emit *e);

#endif
