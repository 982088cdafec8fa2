/* BULK 2025, Appendix A: the Jacobian is the gradient program for every one-hot cotangent in one build1, which the
 * bulk-operation transform turns into whole-array operations. The part of the program that all rows share, everything
 * but the reverse pass, stays as it is. */
#include "ad/bulk/diff/diff.h"
#include "ad/bulk/rewrite/rewrite.h"

typedef struct Rows {
    CtBulkBuilder *r;
    int64_t count;
    CtBulkVar *i;
    CtBulk *order; /* for each row, the index of the cotangent's element that is 1; NULL: the row's own index */
    CtMap row;     /* CtBulkVar * that depends on the cotangent -> its row: index all [i] */
} Rows;

/* build1 count (λi. t), with the variables of t replaced by their rows. */
static CtBulk *all_rows(Rows *rows, CtBulk *t) {
    CtBulkVar *i = ct_bulk_new_var(rows->r, "i", ELEMENT_INT, (CtShape){0, NULL});
    CtMap here = {0};
    ct_map_set(rows->r->arena, &here, ct_key(rows->i), ct_bulk_var(rows->r, i));
    CtBulk *row = ct_bulk_substitute(rows->r, ct_bulk_substitute(rows->r, t, &rows->row), &here);
    return ct_bulk_rewrite(rows->r, ct_bulk_build(rows->r, rows->count, i, row));
}

static void add_rows(Rows *rows, CtBulkVar *var, CtBulkVar *all, CtSourceRange range) {
    CtBulk *i = ct_bulk_var(rows->r, rows->i);
    CtBulk *row = ct_bulk_index(rows->r, ct_bulk_var(rows->r, all), &i, 1, NULL, range);
    ct_map_set(rows->r->arena, &rows->row, ct_key(var), row);
}

/* build1 count (λi. reshape sh (oneHot [count] [order ! i] 1)) */
static CtBulk *one_hots(Rows *rows, CtShape shape) {
    CtBulkBuilder *r = rows->r;
    CtBulk *one = ct_bulk_real(r, 1.0, (CtShape){0, NULL}), *i = ct_bulk_var(r, rows->i);
    if (shape.rank == 0) return all_rows(rows, one);
    if (rows->order) i = ct_bulk_index(r, rows->order, &i, 1, NULL, CT_NO_RANGE);
    CtBulk *hot = ct_bulk_one_hot(r, ct_bulk_shape_of(r->arena, &rows->count, 1), &i, 1, one);
    return all_rows(rows, ct_bulk_reshape(r, shape, hot));
}

void ct_bulk_jacobian(CtBulkBuilder *r, CtBulkGradient *g, uint32_t count, CtBulkVar *cotangent, CtBulk *order) {
    Rows rows = {.r = r, .count = ct_bulk_shape_count(cotangent->shape), .order = order};
    rows.i = ct_bulk_new_var(r, "i", ELEMENT_INT, (CtShape){0, NULL});
    CtMap late = ct_bulk_late(r, g, cotangent);
    CtBulkGradient out = {.value = g->value};
    CtBulkVar *hot =
        ct_bulk_new_var(r, cotangent->name, ELEMENT_REAL, ct_bulk_shape_cons(r->arena, rows.count, cotangent->shape));
    ct_push(r->arena, &out.vars, hot);
    ct_push(r->arena, &out.terms, one_hots(&rows, cotangent->shape));
    add_rows(&rows, cotangent, hot, CT_NO_RANGE);
    for (uint32_t k = 0; k < g->vars.count; k++) {
        CtBulkVar *var = g->vars.items[k], *all = var;
        CtBulk *t = g->terms.items[k];
        if (ct_map_has(&late, ct_key(var))) {
            t = all_rows(&rows, t);
            all = ct_bulk_new_var(r, var->name, var->element, t->shape);
            add_rows(&rows, var, all, t->range);
        }
        ct_push(r->arena, &out.vars, all);
        ct_push(r->arena, &out.terms, t);
    }
    for (uint32_t k = 0; k < count; k++)
        if (g->gradient[k]) g->gradient[k] = all_rows(&rows, g->gradient[k]);
    g->vars.count = g->terms.count = 0;
    for (uint32_t k = 0; k < out.vars.count; k++) {
        ct_push(r->arena, &g->vars, out.vars.items[k]);
        ct_push(r->arena, &g->terms, out.terms.items[k]);
    }
}
