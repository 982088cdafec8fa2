/* Views, where they are used. A replicate, transpose or gather by plain positions only says where elements of another
 * array stand: what is made of it can read that one in its place, and then it is never made, however large it would be.
 * So a gradient's binding to a view goes; each of its uses says the view again. */
#include "ad/bulk/lower/lower.h"
#include "ad/bulk/rewrite/rules.h"

typedef struct Views {
    CtBulkRewriter w; /* for what it knows of indices */
    CtMap kept;       /* CtBulkVar * that are used in functions or by loops: there they must be computed once */
    bool keeps;
    CtMap views; /* CtBulkVar * -> CtBulk * */
} Views;

static CtBulk *find_kept(void *data, CtBulk *t) {
    Views *v = data;
    bool keeps = v->keeps;
    if (t->kind == BULK_VAR) {
        if (keeps) ct_map_set(v->w.r->arena, &v->kept, ct_key(t->as.var), t);
        return t;
    }
    bool moves = t->kind == BULK_INDEX || t->kind == BULK_GATHER || t->kind == BULK_SCATTER || t->kind == BULK_ONE_HOT;
    if (moves) find_kept(v, t->as.move.t);
    v->keeps = keeps || moves || t->kind == BULK_BUILD || t->kind == BULK_LOOP;
    for (uint32_t k = 0; moves && k < t->as.move.f.count; k++) find_kept(v, t->as.move.f.ix[k]);
    if (moves && t->as.move.f.live != NULL) find_kept(v, t->as.move.f.live);
    if (!moves) ct_bulk_map(v->w.r, t, find_kept, v);
    v->keeps = keeps;
    return t;
}

static void find_all_kept(Views *v, const CtBulkGradient *g, uint32_t count) {
    for (uint32_t i = 0; i < g->terms.count; i++) find_kept(v, g->terms.items[i]);
    find_kept(v, g->value);
    for (uint32_t k = 0; k < count; k++)
        if (g->gradient[k] != NULL) find_kept(v, g->gradient[k]);
}

static bool is_view(Views *v, CtBulk *t) {
    if (t->shape.rank == 0 || t->kind == BULK_REPLICATE || t->kind == BULK_TRANSPOSE) return t->shape.rank > 0;
    if (t->kind == BULK_RESHAPE) return t->as.t->shape.rank > 0;
    if (t->kind != BULK_GATHER || t->as.move.f.live != NULL) return false;
    for (uint32_t k = 0; k < t->as.move.f.count; k++)
        if (!ct_bulk_is_position(t->as.move.f.ix[k])) return false;
    return ct_bulk_never_misses(&v->w, &t->as.move.f, t->as.move.t->shape);
}

enum { VIEW_DEPTH = 8 }; /* more of them, one of the other, are not repeated */

/* What a view is of, after all; t itself when it is none. */
static CtBulk *base_of(Views *v, CtBulk *t) {
    CtBulk *base = t;
    uint32_t depth = 0;
    for (; is_view(v, base) && depth <= VIEW_DEPTH; depth++)
        base = base->kind == BULK_TRANSPOSE ? base->as.transpose.t
               : base->kind == BULK_GATHER  ? base->as.move.t
                                            : base->as.t;
    return depth <= VIEW_DEPTH ? base : t;
}

static CtBulk *repeat(void *data, CtBulk *t) {
    Views *v = data;
    if (t->kind != BULK_VAR) return ct_bulk_map(v->w.r, t, repeat, v);
    CtBulk *view = ct_map_get(&v->views, ct_key(t->as.var));
    return view != NULL ? view : t;
}

void ct_bulk_lower_repeat_views(CtBulkBuilder *r, CtBulkGradient *g, uint32_t count) {
    Views v = {.w.r = r};
    find_all_kept(&v, g, count);
    const CtBulkGradient bound = *g;
    memset(&g->vars, 0, sizeof g->vars);
    memset(&g->terms, 0, sizeof g->terms);
    for (uint32_t i = 0; i < bound.vars.count; i++) {
        CtBulkVar *var = bound.vars.items[i];
        CtBulk *t = repeat(&v, bound.terms.items[i]);
        ct_bulk_note(&v.w, t);
        CtBulk *base = ct_map_has(&v.kept, ct_key(var)) ? t : base_of(&v, t);
        bool view = base != t;
        if (view && base->kind != BULK_VAR) { /* which is computed once */
            var = ct_bulk_new_var(r, var->name, base->element, base->shape);
            t = ct_bulk_exchange(r, t, base, ct_bulk_var(r, var));
        }
        if (view) ct_map_set(r->arena, &v.views, ct_key(bound.vars.items[i]), t);
        if (view && base->kind == BULK_VAR) continue;
        ct_push(r->arena, &g->vars, var);
        ct_push(r->arena, &g->terms, view ? base : t);
    }
    g->value = repeat(&v, g->value);
    for (uint32_t k = 0; k < count; k++)
        if (g->gradient[k] != NULL) g->gradient[k] = repeat(&v, g->gradient[k]);
}
