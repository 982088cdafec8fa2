/* Private to the folder that writes C: loops that are vectorised (rt/simd.h). vectorise.c finds them, vector_steps.c
 * writes them. */
#ifndef CT_EMIT_LANES_H
#define CT_EMIT_LANES_H

#include "emit/internal.h"

/* What a variable is vectorised. */
typedef enum LaneKind {
    LANE_SAME,      /* the same in all: as everywhere */
    LANE_VALUE,     /* a number in each: ct_lanes or ct_lane_ints */
    LANE_ITERATION, /* the index of the loop: of the first lane, in C */
    LANE_ROW,       /* base[⟨indices⟩], which is not made */
    LANE_ARRAY,     /* an array in each, of one length: ct_lanes * */
    LANE_MATRIX,    /* an array of such arrays in each, which loops make, row after row */
    LANE_ROWS,      /* an array of such arrays, which is not made: it is yielded as rows of the loop's result */
    LANE_ACC,       /* an array to whose elements is added: one for all lanes */
    LANE_OLD,       /* an element of it, that is only looked at to be added to */
    LANE_MORE,      /* the same with what is added, `term` */
} LaneKind;

typedef struct Lane {
    LaneKind kind;
    CtFlowArg base;          /* ROW */
    CtFlowArgs indices;      /* ROW; only the first may differ, and then it is the iteration */
    bool is_packed;          /* an array from outside: its rows at the iterations are packed */
    const char *packed;      /* the variable of C */
    const char *data;        /* ACC, in its root: the pointer to its elements */
    const char *length;      /* ARRAY, in its root, and MATRIX: of how many elements in all, as C has it */
    const char *count, *row; /* MATRIX: how many rows, of how many elements */
    const char *place;       /* ARRAY, in its root: where it lies as a row of a matrix; NULL: in room of its own */
    const CtFlowVar *root;   /* ARRAY, ACC: the first name of what is changed in place */
    const CtFlowStep *read;  /* OLD, MORE; of ROWS, the step that has the rows */
    CtFlowArg term;          /* MORE */
    bool is_taken;           /* ARRAY, in its root, and MATRIX: its memory has not been given back yet */
    bool is_row;             /* ARRAY, in its root: it is yielded as a row of a matrix */
    bool is_wide;            /* ACC, in its root: each lane adds to elements of its own first */
    bool may_be_narrow;      /* the same; but not where they are so many that the cache does not hold them */
    const char *terms;       /* ACC, of an update in a strip: where its terms go */
} Lane;

typedef struct LaneSum { /* what is carried: to it is added */
    CtFlowArgs terms;
} LaneSum;

/* Whether a step adds to an element of an accumulator. */
bool ct_emit_vector_adds(const Emit *e, const CtFlowStep *step);
bool ct_emit_vector_any_differs(const Emit *e, const CtFlowArgs *indices);

/* Whether a loop is vectorised: then e->lanes says what each variable is, and sums what is added to each value that is
 * carried. */
bool ct_emit_vector_fit(Emit *e, const CtFlowStep *step, LaneSum *sums);
/* Whether it is a loop, or one over such loops, whose elements, side by side, the compiler makes vectors of, or lanes
 * of their own: elementwise.c. */
bool ct_emit_vector_is_elementwise(const Emit *e, const CtFlowStep *loop);
LaneKind ct_emit_vector_kind(const Emit *e, const CtFlowArg *arg);
/* A primitive of vectors, with A and B for its operands; NULL: it has no such form. */
const char *ct_emit_vector_value(CtPrim prim);
void ct_emit_vector_position(const Emit *e, const CtFlowStep *step, CtFlowArg *array, CtFlowArgs *indices);
/* The loop of a block that makes an array which is yielded as a row; NULL: there is none. */
const CtFlowStep *ct_emit_vector_row_maker(const Emit *e, const CtFlowBlock *block, const CtFlowArg *value);
bool ct_emit_vector_skipped(const Emit *e, const CtFlowStep *step);

typedef struct LaneResults {  /* of a loop, as C has them */
    const char *const *names; /* of what is carried, then of the arrays */
    const char *const *data;  /* where the elements of each array go */
    const char *const *far;   /* whether they are written past the cache; NULL: they are not */
    bool is_over;             /* an array may lie where the loop reads another one */
} LaneResults;

/* The iterations of a loop of `count` iterations that are taken eight at a time: from `index` as it is, up to `to`
 * where there are eights. */
void ct_emit_vector_iterations(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *count, const char *to,
                               const char *index, const LaneResults *results);
/* A step vectorised; false where it is the same in all of them, and is to be written as everywhere. */
bool ct_emit_vector_step(Emit *e, CtFlowStep *step);
/* The index of an element, row-major. */
const char *ct_emit_vector_place(Emit *e, const CtFlowArg *array, const CtFlowArgs *indices);
/* What a iteration of an inner loop does; `names`: of what it carries. */
void ct_emit_vector_iteration(Emit *e, const CtFlowStep *loop, const char *const *names);
/* strip_accumulators.c: marks the accumulators to whose elements an inner loop adds one after the other. */
void ct_emit_vector_mark_narrow(const Emit *e, const CtFlowStep *loop);
/* Writes the iterations of such a loop that are taken eight at a time where accumulators are large; gives the iteration
 * from which on they are taken one by one. */
const char *ct_emit_vector_strips(Emit *e, const CtFlowStep *loop, const char *count, const char *const *names);
/* serial_lanes.c: an inner loop that adds to a row of each lane's own, lane after lane; false where it is none. */
bool ct_emit_vector_apart(Emit *e, CtFlowStep *step);

#endif
