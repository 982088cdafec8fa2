/* Views of arrays along the points of a fused tree: a view of a view is a view if the one steps within the dimensions
 * of the other; and the order of the loops. */
#include "eval/fused.h"

bool ct_eval_fuse_view(FuseSpace *space, const FusedView *like, uint32_t *view) {
    if (space->view_count == FUSE_VIEWS) return false;
    *view = space->view_count;
    space->views[space->view_count++] = *like;
    return true;
}

/* ---- composition ---- */

/* Splits dimension d of size n into two, of n / inner and inner. */
static bool split(FuseSpace *space, uint32_t d, int64_t inner) {
    if (space->rank == FUSED_DIMS) return false;
    for (uint32_t i = space->rank++; i > d; i--) space->sizes[i] = space->sizes[i - 1];
    space->sizes[d] /= inner;
    space->sizes[d + 1] = inner;
    for (uint32_t v = 0; v < space->view_count; v++) {
        int64_t *strides = space->views[v].strides;
        for (uint32_t i = space->rank - 1; i > d; i--) strides[i] = strides[i - 1];
        strides[d] = strides[d + 1] * inner;
    }
    return true;
}

/* The dimensions of the result of `strided`: sizes, numbers of elements inside each, and strides in the array below. */
typedef struct Inner {
    uint32_t rank;
    const int64_t *dims;         /* size, stride, size, stride … */
    int64_t weights[FUSED_DIMS]; /* number of elements that one index step moves by */
} Inner;

static int64_t size_of(const Inner *inner, uint32_t k) { return inner->dims[2 * k]; }

/* The dimension along which a step goes: the outermost one with no larger weight. */
static uint32_t dimension_of(const Inner *inner, int64_t step) {
    uint32_t k = 0;
    while (k + 1 < inner->rank && (inner->weights[k] > step || size_of(inner, k) == 1)) k++;
    return k;
}

/* Splits dimensions until each goes along one inner dimension. */
static bool split_all(FuseSpace *space, uint32_t view, const Inner *inner) {
    const int64_t *strides = space->views[view].strides;
    for (uint32_t d = 0; d < space->rank;) {
        int64_t step = strides[d], size = space->sizes[d];
        if (step < 0 || (inner->rank == 0 && step != 0 && size > 1)) return false;
        if (step == 0 || size == 1) {
            d++;
            continue;
        }
        uint32_t k = dimension_of(inner, step);
        int64_t by = step / inner->weights[k], there = size_of(inner, k);
        if (step % inner->weights[k] != 0) return false;
        if (by * (size - 1) < there) {
            d++;
            continue;
        }
        if (k == 0 || by >= there || there % by != 0 || size % (there / by) != 0) return false;
        if (!split(space, d, there / by)) return false;
    }
    return true;
}

/* An index of an inner dimension is a sum of contributions of the offset and the view's dimensions: it must stay in
 * range. */
static bool stays_inside(const FuseSpace *space, const FusedView *view, const Inner *inner, const int64_t *start) {
    int64_t reached[FUSED_DIMS];
    for (uint32_t k = 0; k < inner->rank; k++) reached[k] = start[k];
    for (uint32_t d = 0; d < space->rank; d++) {
        if (view->strides[d] == 0 || space->sizes[d] == 1) continue;
        uint32_t k = dimension_of(inner, view->strides[d]);
        reached[k] += view->strides[d] / inner->weights[k] * (space->sizes[d] - 1);
    }
    for (uint32_t k = 0; k < inner->rank; k++)
        if (reached[k] >= size_of(inner, k)) return false;
    return true;
}

bool ct_eval_fuse_compose(FuseSpace *space, uint32_t index, const int64_t *numbers, uint32_t count) {
    FusedView *view = &space->views[index];
    Inner inner = {.rank = count / 2, .dims = numbers + 1};
    if (inner.rank > FUSED_DIMS) return false;
    int64_t weight = 1, position = view->offset, start[FUSED_DIMS];
    for (uint32_t k = inner.rank; k-- > 0; weight *= size_of(&inner, k)) inner.weights[k] = weight;
    view->offset = numbers[0];
    for (uint32_t k = 0; k < inner.rank; k++) {
        start[k] = position / inner.weights[k];
        position %= inner.weights[k];
        view->offset += start[k] * numbers[2 * k + 2];
    }
    if (!split_all(space, index, &inner) || !stays_inside(space, view, &inner, start)) return false;
    for (uint32_t d = 0; d < space->rank; d++) {
        if (view->strides[d] == 0 || space->sizes[d] == 1) continue;
        uint32_t k = dimension_of(&inner, view->strides[d]);
        view->strides[d] = view->strides[d] / inner.weights[k] * numbers[2 * k + 2];
    }
    return true;
}

/* ---- the order of the loops ---- */

static bool is_summed(const Fused *f, uint32_t d) { return f->root != FUSED_ARRAY && f->out.strides[d] == 0; }

static FusedView *view_at(Fused *f, uint32_t i) { return i == 0 ? &f->out : &f->leaves[i - 1].view; }

/* Everything of dimension `from` to dimension `to`. */
static void copy_dim(Fused *f, uint32_t to, const Fused *source, uint32_t from) {
    f->sizes[to] = source->sizes[from];
    f->out.strides[to] = source->out.strides[from];
    for (uint32_t i = 0; i < f->leaf_count; i++) f->leaves[i].view.strides[to] = source->leaves[i].view.strides[from];
    if (source->open == (int32_t)from) f->open = (int32_t)to;
}

/* Whether dimension d and the one inside it are contiguous, for all arrays read and written. */
static bool joins(Fused *f, uint32_t d) {
    if (f->open == (int32_t)d + 1) return false;
    for (uint32_t i = 0; i <= f->leaf_count; i++) {
        const int64_t *strides = view_at(f, i)->strides;
        if (strides[d] != strides[d + 1] * f->sizes[d + 1]) return false;
    }
    return true;
}

/* Removes dimensions of size 1 and joins contiguous ones. At least one dimension remains. */
static void join_dims(Fused *f) {
    const Fused before = *f;
    uint32_t rank = 0;
    for (uint32_t d = 0; d < before.rank; d++) {
        if (before.sizes[d] == 1 && before.open != (int32_t)d) continue;
        copy_dim(f, rank++, &before, d);
    }
    if (rank == 0) copy_dim(f, rank++, &before, 0);
    f->rank = rank;
    for (uint32_t d = f->rank - 1; d-- > 0;) {
        if (!joins(f, d)) continue;
        const Fused apart = *f;
        copy_dim(f, d, &apart, d + 1);
        f->sizes[d] = apart.open == (int32_t)d ? 1 : apart.sizes[d] * apart.sizes[d + 1];
        for (uint32_t i = d + 2; i < f->rank; i++) copy_dim(f, i - 1, &apart, i);
        f->rank--;
    }
}

/* The approximate cost of a point when dimension d is the innermost: contiguous or constant reads are cheap, and so are
 * long dimensions. */
static double price(Fused *f, uint32_t d) {
    double size = f->open == (int32_t)d ? 1000 : (double)f->sizes[d], sum = 20 / size;
    for (uint32_t i = 1; i <= f->leaf_count; i++) {
        int64_t stride = view_at(f, i)->strides[d];
        sum += stride == 0 ? 0 : stride == 1 ? 0.3 : 1.0;
    }
    bool in_order = f->out.strides[d] == 1;
    return sum + (is_summed(f, d) ? 1.2 : in_order ? 0.4 : 1.0);
}

/* Sums must keep their order. So of the dimensions that are summed over only the last may move, and their order
 * stays. */
void ct_eval_fuse_arrange(Fused *f) {
    join_dims(f);
    if (f->root == FUSED_PLACES) return;
    uint32_t inner = f->rank - 1, last_summed = 0;
    for (uint32_t d = 0; d < f->rank; d++)
        if (is_summed(f, d)) last_summed = d;
    for (uint32_t d = 0; d < f->rank; d++) {
        if (is_summed(f, d) && d != last_summed) continue;
        if (price(f, d) < price(f, inner)) inner = d;
    }
    const Fused before = *f;
    f->open = -1;
    uint32_t to = 0;
    for (int summed = 0; summed < 2; summed++)
        for (uint32_t d = 0; d < f->rank; d++)
            if (d != inner && is_summed(&before, d) == (summed == 1)) copy_dim(f, to++, &before, d);
    copy_dim(f, to, &before, inner);
    join_dims(f);
}
