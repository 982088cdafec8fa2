/* Fused array operations: a tree of `map`, `zipWith`, `select`, `replicate` and views (`strided`), perhaps under a
 * `sumRows` or `sum`, that runs as one nest of loops in C. What stands between the operations is never made.
 *
 * The nest runs over points (i₀, …, iₖ). A leaf, an array or a number that the tree is about, is read at offset + Σ
 * stride·i; the result is written, or added to, at Σ stride·i of its own. Along the innermost dimension whole blocks of
 * points go through one step after the other, each a kernel (kernels.c) of one primitive.
 *
 * All is as if each operation ran by itself: the same bits, since what is added to one number comes in the same order;
 * the same errors in the same order; the same steps.
 */
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

/* Where an array is read or written, by the point. */
typedef struct FusedView {
    int64_t offset;
    int64_t strides[FUSED_DIMS];
} FusedView;

typedef struct FusedLeaf {
    bool is_array;
    bool is_literal; /* else an operand of the instruction */
    CtWord literal;
    FusedView view;
} FusedLeaf;

/* A value: a leaf's number, or that of a step behind FUSED_LEAVES. */
typedef uint32_t FusedValue;

typedef struct FusedStep {
    bool selects; /* args[0] ? args[1] : args[2]; else the primitive */
    CtPrim prim;
    uint32_t arg_count;
    FusedValue args[3];
} FusedStep;

/* A number that is known when a program is compiled, or the length of a leaf. */
enum { LENGTH_KNOWN = -1 };
typedef struct FusedLength {
    int32_t leaf;
    int64_t known;
} FusedLength;

/* What an operation demands of lengths, in the order in which they would run. */
typedef enum FusedCheckKind {
    CHECK_ZIP,    /* lengths[0], lengths[1] are the same */
    CHECK_SELECT, /* all three */
    CHECK_VIEW,   /* low and high are inside lengths[0] */
    CHECK_ROWS,   /* lengths[0] is rows of `low` */
    CHECK_PLACES, /* lengths[0] is a row for each of lengths[1], an array's, whose numbers lead into `low` elements */
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
    int32_t open;              /* the dimension whose size is known when it runs; −1: none, its size here is 1 */
    FusedLength length;        /* of what is made or summed: the number of points */
    int64_t sums;              /* ROWS, PLACES: how many */
    FusedValue places;         /* PLACES: the leaf that says where the points' rows are added; points are in order */
    FusedView out;
    FusedLeaf leaves[FUSED_LEAVES];
    CtCore *operands[FUSED_LEAVES]; /* the terms of those that are no literals, in order */
    FusedStep steps[FUSED_STEPS];
    FusedValue value;   /* of a point */
    bool adds_products; /* ROWS, TOTAL: the last step is a product, and gives the value */
    FusedCheck checks[FUSED_CHECKS];
    bool may_fail;       /* one of the steps: then nothing else can … */
    CtSourceRange range; /* … and that is its place */
    uint32_t cost;       /* steps whatever the lengths … */
    int64_t known_cost;
    uint32_t leaf_costs[FUSED_LEAVES]; /* … and for each element of a leaf */
    const CtLayout *layout;            /* of the result; NULL for a TOTAL */
};

/* fused.c: the result for the leaves' values (borrowed; those of literals are not read). An ARRAY may be made in a leaf
 * that `own` says to end here: `*taken` is its number, else −1. On failure m->pc has moved from the instruction's first
 * word to the one that stands for what failed. */
bool ct_eval_fused_run(Machine *m, const Fused *f, const CtWord *leaves, const bool *own, CtWord *result,
                       int32_t *taken);

/* ---- fuse_views.c ---- */

enum { FUSE_VIEWS = 24 };

/* The points of a tree under construction, and views of arrays along them. */
typedef struct FuseSpace {
    uint32_t rank, view_count;
    int64_t sizes[FUSED_DIMS];
    FusedView views[FUSE_VIEWS];
} FuseSpace;

/* A new view to start from; one like another, to go further from. False when there is no room. */
bool ct_eval_fuse_view(FuseSpace *space, const FusedView *like, uint32_t *view);
/* The view, of what `strided [offset, n₀, s₀, …]` gives, becomes one of the array that that takes from. False, and the
 * space is spoilt, when that is no view. */
bool ct_eval_fuse_compose(FuseSpace *space, uint32_t view, const int64_t *numbers, uint32_t count);
/* Joins dimensions where that can be, and orders them so that most is done along the innermost. */
void ct_eval_fuse_arrange(Fused *f);

#endif
