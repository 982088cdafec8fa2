/* Fused array operations: a tree of `map`, `zipWith`, `select`, `replicate` and views (`strided`), possibly under a
 * `sumRows` or `sum`, that runs as one nest of loops in C. The intermediate arrays are not materialised.
 *
 * The nest runs over points (i₀, …, iₖ). A leaf, which is an array or number, is read at offset + Σ stride·i; the
 * result is written, or added to, at its own Σ stride·i. Along the innermost dimension a block of points goes through
 * one step after the other; each step is a kernel (kernels.c) for one primitive.
 *
 * Everything is as if the operations ran one by one: the same bits, because sums keep their order; the same errors in
 * the same order; the same steps. */
#ifndef CT_EVAL_FUSED_H
#define CT_EVAL_FUSED_H

#include "eval/internal.h"

typedef struct Fused Fused;

enum { FUSED_LEAVES = 8, FUSED_STEPS = 16, FUSED_DIMS = 8, FUSED_CHECKS = 16 };

typedef enum FusedRoot {
    FUSED_ARRAY,  /* a new array of all points */
    FUSED_ROWS,   /* sumRows */
    FUSED_TOTAL,  /* sum */
    FUSED_PLACES, /* scatterAdd */
} FusedRoot;

/* How an array is accessed, by the coordinates of the point. */
typedef struct FusedView {
    int64_t offset;
    int64_t strides[FUSED_DIMS];
} FusedView;

typedef struct FusedLeaf {
    bool is_array;
    bool is_literal; /* true: a literal; false: an operand of the instruction */
    CtWord literal;
    FusedView view;
} FusedLeaf;

/* A value: the number of a leaf, or FUSED_LEAVES + the number of a step. */
typedef uint32_t FusedValue;

typedef struct FusedStep {
    bool selects; /* args[0] ? args[1] : args[2]; else the primitive */
    CtPrim prim;
    uint32_t arg_count;
    FusedValue args[3];
} FusedStep;

/* A length known at compile time, or the length of a leaf. */
enum { LENGTH_KNOWN = -1 };
typedef struct FusedLength {
    int32_t leaf;
    int64_t known;
} FusedLength;

/* The checks of lengths, in the order in which the operations would make them. */
typedef enum FusedCheckKind {
    CHECK_ZIP,    /* lengths[0] and lengths[1] are equal */
    CHECK_SELECT, /* all three are equal */
    CHECK_VIEW,   /* low and high are in range for lengths[0] */
    CHECK_ROWS,   /* lengths[0] is a multiple of the row length `low` */
    /* Lengths[0] is a row for each element of lengths[1], an array of indices into `low` elements. */
    CHECK_PLACES,
} FusedCheckKind;

typedef struct FusedCheck {
    FusedCheckKind kind;
    FusedLength lengths[3];
    int64_t low, high;
    CtSourceRange range;
} FusedCheck;

struct Fused {
    FusedRoot root;
    uint32_t rank, leaf_count, step_count, check_count, operand_count;
    int64_t sizes[FUSED_DIMS]; /* outermost first */
    int32_t open;              /* the dimension whose size is known at run time only (its size here is 1); −1: none */
    FusedLength length;        /* number of points: of the array that is made or summed */
    int64_t sums;              /* ROWS, PLACES: number of sums */
    FusedValue places;         /* PLACES: the leaf with the indices to which rows are added; points are in order */
    FusedView out;
    FusedLeaf leaves[FUSED_LEAVES];
    CtCore *operands[FUSED_LEAVES]; /* the terms of the leaves that are no literals, in order */
    FusedStep steps[FUSED_STEPS];
    FusedValue value;   /* the value at a point */
    bool adds_products; /* ROWS, TOTAL: the last step, which gives the value, is a product */
    FusedCheck checks[FUSED_CHECKS];
    bool may_fail;       /* some step may fail; then nothing else may … */
    CtSourceRange range; /* … and this is its source range */
    uint32_t cost;       /* steps that do not depend on lengths … */
    int64_t known_cost;
    uint32_t leaf_costs[FUSED_LEAVES]; /* … and steps for each element of a leaf */
    const CtLayout *layout;            /* of the result; NULL for TOTAL */
};

/* fused.c: the result for the values of the leaves (borrowed; those of literals are not read). An ARRAY may be built in
 * the memory of a leaf that `own` marks as dying: `*taken` is its number, else −1. On failure m->pc has moved from the
 * instruction's first word to the word of the check or step that failed. */
bool ct_eval_fused_run(Machine *m, const Fused *f, const CtWord *leaves, const bool *own, CtWord *result,
                       int32_t *taken);

/* ---- fuse_views.c ---- */

enum { FUSE_VIEWS = 24 };

/* The points of a tree under construction, and the views of arrays along them. */
typedef struct FuseSpace {
    uint32_t rank, view_count;
    int64_t sizes[FUSED_DIMS];
    FusedView views[FUSE_VIEWS];
} FuseSpace;

/* Adds a view, new or a copy of `like`. False when there are too many. */
bool ct_eval_fuse_view(FuseSpace *space, const FusedView *like, uint32_t *view);
/* Replaces a view of the result of `strided [offset, n₀, s₀, …]` by the view of the array below. False when that is no
 * view; the space is invalid then. */
bool ct_eval_fuse_compose(FuseSpace *space, uint32_t view, const int64_t *numbers, uint32_t count);
/* Joins dimensions where possible, and orders them so that most work is along the innermost. */
void ct_eval_fuse_arrange(Fused *f);

#endif
