/* Lint for terms of BULK: typing (Fig. 8) and scoping. */
#include "ad/bulk/ir/bulk.h"

typedef struct Lint {
    CtBulkBuilder *r;
    const char *wrong; /* the first fault */
    CT_VEC(CtBulkVar *) scope;
} Lint;

static void check_term(Lint *l, CtBulk *t);

static void expect(Lint *l, bool holds, const CtBulk *t, const char *what) {
    static const char *const names[] = {"const",  "variable", "let",     "cond",    "op",        "logic", "index",
                                        "reduce", "gather",   "scatter", "literal", "replicate", "tr",    "reshape",
                                        "build1", "oneHot",   "stop",    "share",   "check",     "loop"};
    if (!holds && l->wrong == NULL) l->wrong = ct_format(l->r->arena, "%s: %s", names[t->kind], what);
}

static bool is_scalar(const CtBulk *t, CtElement element) { return t->shape.rank == 0 && t->element == element; }

static bool same_type(const CtBulk *t, const CtBulk *u) {
    return t->element == u->element && ct_bulk_shape_equal(t->shape, u->shape);
}

/* Whether `shape` consists of `outer` sizes followed by `inner` without its `count` outermost sizes. */
static bool is_tail(CtShape shape, uint32_t outer, CtShape inner, uint32_t count) {
    if (shape.rank < outer || inner.rank < count) return false;
    return ct_bulk_shape_equal(ct_bulk_shape_tail(shape, outer), ct_bulk_shape_tail(inner, count));
}

static bool is_prefix(CtShape outer, CtShape shape) {
    return outer.rank <= shape.rank && ct_bulk_shape_equal(outer, (CtShape){outer.rank, shape.sizes});
}

static bool is_permutation(const uint32_t *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        bool found = false;
        for (uint32_t j = 0; j < count; j++) found |= items[j] == i;
        if (!found) return false;
    }
    return true;
}

static void check_op(Lint *l, CtBulk *t) {
    const CtPrimInfo *info = ct_prim_info(t->as.op.prim);
    expect(l, info->arity == t->as.op.count, t, "arity");
    for (uint32_t i = 0; i < t->as.op.count; i++) {
        CtBulk *arg = t->as.op.args[i];
        CtElement wanted = info->args[i] == 'B' ? ELEMENT_BOOL : info->args[i] == 'I' ? ELEMENT_INT : ELEMENT_REAL;
        check_term(l, arg);
        expect(l, arg->element == wanted, t, "an argument of another element type");
        expect(l, ct_bulk_shape_equal(arg->shape, t->shape), t, "shapes differ");
    }
}

static void check_logic(Lint *l, CtBulk *t) {
    for (uint32_t i = 0; i < (t->as.logic.logic == LOGIC_NOT ? 1 : 2); i++) {
        CtBulk *arg = t->as.logic.args[i];
        check_term(l, arg);
        expect(l, arg->element == ELEMENT_BOOL && ct_bulk_shape_equal(arg->shape, t->shape), t, "an argument");
    }
}

static void check_move(Lint *l, CtBulk *t) {
    const CtIndexing *f = &t->as.move.f;
    CtBulk *source = t->as.move.t;
    check_term(l, source);
    expect(l, t->element == source->element, t, "element type");
    if (t->kind == BULK_SCATTER || t->kind == BULK_ONE_HOT) {
        expect(l, is_tail(source->shape, f->var_count, t->shape, f->count), t, "shape");
        expect(l, t->element != ELEMENT_BOOL, t, "not numeric");
    } else {
        expect(l, is_tail(t->shape, f->var_count, source->shape, f->count), t, "shape");
    }
    expect(l, f->var_count == 0 || t->kind == BULK_GATHER || t->kind == BULK_SCATTER, t, "variables");
    uint32_t before = l->scope.count;
    for (uint32_t i = 0; i < f->var_count; i++) {
        expect(l, f->vars[i]->element == ELEMENT_INT && f->vars[i]->shape.rank == 0, t, "an index variable");
        ct_push(l->r->arena, &l->scope, f->vars[i]);
    }
    for (uint32_t i = 0; i < f->count; i++) {
        check_term(l, f->ix[i]);
        expect(l, is_scalar(f->ix[i], ELEMENT_INT), t, "an index");
    }
    if (f->live != NULL) {
        check_term(l, f->live);
        expect(l, is_scalar(f->live, ELEMENT_BOOL), t, "where it is live");
    }
    l->scope.count = before;
}

/* The body is closed: no variable from outside is in scope. */
static void check_body(Lint *l, const CtBulkLoop *loop, CtBulk *t) {
    Lint inner = {.r = l->r};
    ct_push(l->r->arena, &inner.scope, loop->index);
    for (uint32_t i = 0; i < ct_bulk_loop_params(loop); i++) ct_push(l->r->arena, &inner.scope, loop->params[i]);
    for (uint32_t i = 0; i < loop->vars.count; i++) {
        const CtBulkVar *var = loop->vars.items[i];
        CtBulk *term = loop->terms.items[i];
        check_term(&inner, term);
        expect(&inner, var->element == term->element && ct_bulk_shape_equal(var->shape, term->shape), t,
               "a binding's type");
        ct_push(l->r->arena, &inner.scope, loop->vars.items[i]);
    }
    for (uint32_t i = 0; i < ct_bulk_loop_results(loop); i++) {
        const CtBulkVar *state = i < loop->count.states ? loop->params[i] : NULL;
        CtBulk *result = loop->results[i];
        check_term(&inner, result);
        if (state == NULL) continue;
        expect(&inner, state->element == result->element && ct_bulk_shape_equal(state->shape, result->shape), t,
               "the type of a state");
    }
    if (l->wrong == NULL) l->wrong = inner.wrong;
}

static void check_loop(Lint *l, CtBulk *t) {
    const CtBulkLoop *loop = t->as.loop.loop;
    uint32_t states = loop->count.states, elements = loop->count.elements, count = ct_bulk_loop_params(loop);
    for (uint32_t i = 0; i < count; i++) {
        CtBulk *arg = t->as.loop.args[i];
        bool is_element = i >= states && i < states + elements;
        check_term(l, arg);
        expect(l, arg->element == loop->params[i]->element, t, "an argument of another element type");
        expect(l, is_tail(arg->shape, is_element ? 1 : 0, loop->params[i]->shape, 0), t, "shape of an argument");
        if (is_element && l->wrong == NULL) expect(l, arg->shape.sizes[0] == loop->steps, t, "length of an argument");
    }
    check_body(l, loop, t);
    expect(l, t->as.loop.result < ct_bulk_loop_results(loop), t, "no such result");
    if (l->wrong != NULL) return;
    bool is_state = t->as.loop.result < states;
    expect(l, is_tail(t->shape, is_state ? 0 : 1, loop->results[t->as.loop.result]->shape, 0), t, "shape");
}

static void check_term(Lint *l, CtBulk *t) {
    if (l->wrong != NULL) return;
    for (uint32_t i = 0; i < t->shape.rank; i++) expect(l, t->shape.sizes[i] >= 0, t, "a negative size");
    switch (t->kind) {
    case BULK_CONST: break;
    case BULK_VAR: {
        bool found = false;
        for (uint32_t i = 0; i < l->scope.count; i++) found |= l->scope.items[i] == t->as.var;
        expect(l, found, t, "not in scope");
        expect(l, t->element == t->as.var->element && ct_bulk_shape_equal(t->shape, t->as.var->shape), t, "its type");
        break;
    }
    case BULK_LET:
        check_term(l, t->as.let.rhs);
        expect(l, t->as.let.var->element == t->as.let.rhs->element, t, "element type");
        expect(l, ct_bulk_shape_equal(t->as.let.var->shape, t->as.let.rhs->shape), t, "shape");
        ct_push(l->r->arena, &l->scope, t->as.let.var);
        check_term(l, t->as.let.body);
        l->scope.count--;
        expect(l, same_type(t, t->as.let.body), t, "type of the body");
        break;
    case BULK_COND:
        check_term(l, t->as.cond.test);
        check_term(l, t->as.cond.yes);
        check_term(l, t->as.cond.no);
        expect(l, t->as.cond.test->element == ELEMENT_BOOL && is_prefix(t->as.cond.test->shape, t->shape), t,
               "the test");
        expect(l, same_type(t, t->as.cond.yes) && same_type(t, t->as.cond.no), t, "types differ");
        break;
    case BULK_OP: check_op(l, t); break;
    case BULK_LOGIC: check_logic(l, t); break;
    case BULK_REDUCE:
        check_term(l, t->as.reduce.t);
        expect(l, is_tail(t->shape, 0, t->as.reduce.t->shape, 1), t, "shape");
        expect(l, t->as.reduce.t->element != ELEMENT_BOOL, t, "not numeric");
        break;
    case BULK_INDEX:
    case BULK_GATHER:
    case BULK_SCATTER:
    case BULK_ONE_HOT: check_move(l, t); break;
    case BULK_LITERAL:
        for (uint32_t i = 0; i < t->as.literal.count; i++) {
            check_term(l, t->as.literal.items[i]);
            expect(l, same_type(t->as.literal.items[0], t->as.literal.items[i]), t, "types differ");
        }
        expect(l, t->shape.rank > 0 && t->shape.sizes[0] == t->as.literal.count, t, "count");
        expect(l, is_tail(t->shape, 1, t->as.literal.items[0]->shape, 0), t, "shape");
        break;
    case BULK_REPLICATE:
        check_term(l, t->as.t);
        expect(l, is_tail(t->shape, 1, t->as.t->shape, 0) && t->element == t->as.t->element, t, "type");
        break;
    case BULK_RESHAPE:
        check_term(l, t->as.t);
        expect(l, ct_bulk_shape_count(t->shape) == ct_bulk_shape_count(t->as.t->shape), t, "shape");
        expect(l, t->element == t->as.t->element, t, "element type");
        break;
    case BULK_TRANSPOSE: {
        CtBulk *source = t->as.transpose.t;
        check_term(l, source);
        expect(l, t->shape.rank == source->shape.rank && t->element == source->element, t, "type");
        expect(l, t->as.transpose.count <= t->shape.rank, t, "rank");
        expect(l, is_permutation(t->as.transpose.permutation, t->as.transpose.count), t, "not a permutation");
        for (uint32_t i = 0; l->wrong == NULL && i < t->shape.rank; i++) {
            uint32_t from = i < t->as.transpose.count ? t->as.transpose.permutation[i] : i;
            expect(l, t->shape.sizes[i] == source->shape.sizes[from], t, "shape");
        }
        break;
    }
    case BULK_BUILD:
        expect(l, t->as.build.var->element == ELEMENT_INT && t->as.build.var->shape.rank == 0, t, "its variable");
        ct_push(l->r->arena, &l->scope, t->as.build.var);
        check_term(l, t->as.build.body);
        l->scope.count--;
        expect(l, is_tail(t->shape, 1, t->as.build.body->shape, 0), t, "shape");
        expect(l, t->element == t->as.build.body->element, t, "element type");
        break;
    case BULK_STOP:
        check_term(l, t->as.t);
        expect(l, same_type(t, t->as.t), t, "type");
        break;
    case BULK_SHARE:
        check_term(l, t->as.share.t);
        expect(l, same_type(t, t->as.share.t), t, "type");
        break;
    case BULK_CHECK:
        check_term(l, t->as.check.test);
        check_term(l, t->as.check.t);
        expect(l, t->as.check.test->element == ELEMENT_BOOL, t, "the test");
        expect(l, same_type(t, t->as.check.t), t, "type");
        break;
    case BULK_LOOP: check_loop(l, t); break;
    }
}

const char *ct_bulk_lint(CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *vars, uint32_t count) {
    Lint l = {.r = r};
    for (uint32_t i = 0; i < count; i++) ct_push(r->arena, &l.scope, vars[i]);
    check_term(&l, t);
    return l.wrong;
}
