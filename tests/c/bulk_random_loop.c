#include "bulk_random_loop.h"

static CtElement random_element(const BulkLoopMaker *m) {
    static const CtElement elements[] = {ELEMENT_REAL, ELEMENT_REAL, ELEMENT_REAL, ELEMENT_INT, ELEMENT_BOOL};
    return elements[m->draw(m->g, 5)];
}

/* A shape of at most a few elements, were no size 0, since an array of several is made of it. */
static CtShape random_shape(const BulkLoopMaker *m) {
    CtShape shape = m->shape(m->g);
    for (;; shape = ct_bulk_shape_tail(shape, 1)) {
        int64_t volume = 1;
        for (uint32_t i = 0; i < shape.rank; i++) volume *= shape.sizes[i] > 0 ? shape.sizes[i] : 1;
        if (volume <= 12 && shape.rank <= 2) return shape;
    }
}

static void add_param(const BulkLoopMaker *m, CtBulkLoop *loop, uint32_t p, CtElement element, CtShape shape,
                      CtBulk **args) {
    bool is_element = p >= loop->count.states && p < loop->count.states + loop->count.elements;
    loop->params[p] = ct_bulk_new_var(m->r, "p", element, shape);
    args[p] = m->term(m->g, element, is_element ? ct_bulk_shape_cons(m->r->arena, loop->steps, shape) : shape);
}

/* Bindings and results; the states keep their types. */
static void add_body(const BulkLoopMaker *m, CtBulkLoop *loop, CtElement element, CtShape shape) {
    uint32_t bindings = m->draw(m->g, 3);
    m->enter(m->g, loop);
    for (uint32_t b = 0; b < bindings; b++) {
        CtElement of = random_element(m);
        CtBulk *t = m->term(m->g, of, random_shape(m));
        CtBulkVar *var = ct_bulk_new_var(m->r, "b", t->element, t->shape);
        ct_push(m->r->arena, &loop->vars, var);
        ct_push(m->r->arena, &loop->terms, t);
        m->bind(m->g, var);
    }
    for (uint32_t k = 0; k < loop->count.states; k++)
        loop->results[k] = m->term(m->g, loop->params[k]->element, loop->params[k]->shape);
    for (uint32_t k = loop->count.states; k < ct_bulk_loop_results(loop); k++) {
        loop->results[k] = m->term(m->g, element, shape);
        element = random_element(m);
        shape = random_shape(m);
    }
    m->leave(m->g);
}

CtBulk *bulk_random_loop(const BulkLoopMaker *m, CtElement element, CtShape shape) {
    bool as_output = shape.rank > 0 && shape.sizes[0] <= 4 && m->draw(m->g, 2);
    int64_t steps = as_output ? shape.sizes[0] : m->draw(m->g, 5);
    CtBulkLoopParams count = {m->draw(m->g, 3) + !as_output, m->draw(m->g, 3), m->draw(m->g, 3) + (m->path != NULL)};
    CtBulkLoop *loop = ct_bulk_new_loop(m->r, steps, count, m->draw(m->g, 2) + as_output);
    uint32_t params = ct_bulk_loop_params(loop);
    CtBulk *args[16], *result;
    loop->from_back = m->draw(m->g, 2);
    for (uint32_t p = 0; p < params; p++) {
        bool is_result = p == 0 && !as_output, is_path = p + 1 == params && m->path != NULL;
        CtElement of = is_result ? element : is_path ? ELEMENT_BOOL : random_element(m);
        add_param(m, loop, p, of, is_result ? shape : is_path ? (CtShape){0, NULL} : random_shape(m), args);
        if (is_path) args[p] = m->path;
    }
    add_body(m, loop, as_output ? element : ELEMENT_REAL,
             as_output ? ct_bulk_shape_tail(shape, 1) : (CtShape){0, NULL});
    result = ct_bulk_loop(m->r, loop, args, as_output ? count.states : 0);
    if (m->draw(m->g, 2)) return result;
    /* Another result of it beside this one. */
    CtBulk *other = ct_bulk_loop(m->r, loop, args, m->draw(m->g, ct_bulk_loop_results(loop)));
    CtBulkVar *x = ct_bulk_new_var(m->r, "x", element, shape);
    CtBulkVar *y = ct_bulk_new_var(m->r, "y", other->element, other->shape);
    m->bind(m->g, x);
    m->bind(m->g, y);
    CtBulk *body = m->term(m->g, element, shape);
    m->unbind(m->g);
    m->unbind(m->g);
    return ct_bulk_let(m->r, x, result, ct_bulk_let(m->r, y, other, body));
}
