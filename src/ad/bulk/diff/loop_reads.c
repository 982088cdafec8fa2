/* Reads of arrays by loops inside of a body. The reverse of such a loop gets the arrays that it reads, whole. Where
 * these depend on the state of the loop around it, they would be kept whole before each of its steps (kept_values.c).
 * So the reads are done by another loop, which has no state, and the reverse gets their values, an element for each
 * step. */
#include "ad/bulk/diff/delta.h"

typedef struct Split {
    CtBulkBuilder *r;
    const CtBulkLoop *loop;
    CtMap known;              /* its variables that do not depend on cotangents */
    CtBulkVar *array;         /* the parameter that is read */
    bool is_whole;            /* it is used otherwise */
    int64_t size;             /* of what all steps read */
    CT_VEC(CtBulk *) at;      /* the reads, and … */
    CT_VEC(CtBulkVar *) kept; /* … the variables that replace them */
} Split;

static CtBulk *find_reads(void *data, CtBulk *t) {
    Split *s = data;
    if (s->is_whole || t->kind == BULK_CONST) return t;
    if (t->kind == BULK_VAR) {
        s->is_whole = t->as.var == s->array;
        return t;
    }
    bool reads = (t->kind == BULK_INDEX || t->kind == BULK_GATHER) && t->as.move.t->kind == BULK_VAR &&
                 t->as.move.t->as.var == s->array;
    if (!reads) return ct_bulk_map(s->r, t, find_reads, s);
    for (uint32_t k = 0; k < s->at.count; k++)
        if (ct_bulk_same(s->at.items[k], t)) return t;
    s->is_whole = !ct_bulk_has_only(s->r, t, &s->known);
    s->size += ct_bulk_shape_count(t->shape) * s->loop->steps;
    ct_push(s->r->arena, &s->at, t);
    ct_push(s->r->arena, &s->kept, ct_bulk_new_var(s->r, s->array->name, t->element, t->shape));
    return t;
}

static CtBulk *replace_reads(void *data, CtBulk *t) {
    Split *s = data;
    for (uint32_t k = 0; k < s->at.count; k++)
        if (ct_bulk_same(s->at.items[k], t)) return ct_bulk_var(s->r, s->kept.items[k]);
    return ct_bulk_map(s->r, t, replace_reads, s);
}

/* The loop that reads: the same elements and fixed values, and the bindings that the reads need. */
static CtBulkLoop *reading_loop(Split *s, CtBulk *const *args, CtBulk ***out_args) {
    const CtBulkLoop *loop = s->loop;
    CtArena *arena = s->r->arena;
    uint32_t states = loop->count.states, elements = states + loop->count.elements, count = 0;
    CtBulkLoopParams made_count = {0, 0, 0};
    for (uint32_t p = states; p < ct_bulk_loop_params(loop); p++)
        if (ct_map_has(&s->known, ct_key(loop->params[p])))
            *(p < elements ? &made_count.elements : &made_count.fixed) += 1;
    CtBulkLoop *made = ct_bulk_new_loop(s->r, loop->steps, made_count, s->at.count);
    CtBulk **made_args = CT_NEW_ARRAY(arena, CtBulk *, ct_bulk_loop_params(made) + 1);
    for (uint32_t p = states; p < ct_bulk_loop_params(loop); p++) {
        if (!ct_map_has(&s->known, ct_key(loop->params[p]))) continue;
        made->params[count] = loop->params[p];
        made_args[count++] = args[p];
    }
    for (uint32_t k = 0; k < loop->vars.count; k++) {
        if (!ct_map_has(&s->known, ct_key(loop->vars.items[k]))) continue;
        ct_push(arena, &made->vars, loop->vars.items[k]);
        ct_push(arena, &made->terms, loop->terms.items[k]);
    }
    for (uint32_t k = 0; k < s->at.count; k++) made->results[k] = s->at.items[k];
    made->index = loop->index;
    made->total = true;
    made->normal = made;
    *out_args = made_args;
    return made;
}

/* The loop with elements in place of the array, which is parameter q. */
static CtBulkLoop *without_array(Split *s, uint32_t q) {
    const CtBulkLoop *loop = s->loop;
    CtArena *arena = s->r->arena;
    uint32_t states = loop->count.states, elements = states + loop->count.elements, count = 0;
    CtBulkLoopParams made_count = {states, loop->count.elements + s->at.count, loop->count.fixed - 1};
    CtBulkLoop *made = ct_bulk_new_loop(s->r, loop->steps, made_count, loop->outputs);
    for (uint32_t p = 0; p < elements; p++) made->params[count++] = loop->params[p];
    for (uint32_t k = 0; k < s->at.count; k++) made->params[count++] = s->kept.items[k];
    for (uint32_t p = elements; p < ct_bulk_loop_params(loop); p++)
        if (p != q) made->params[count++] = loop->params[p];
    for (uint32_t k = 0; k < loop->vars.count; k++) {
        ct_push(arena, &made->vars, loop->vars.items[k]);
        ct_push(arena, &made->terms, replace_reads(s, loop->terms.items[k]));
    }
    for (uint32_t k = 0; k < ct_bulk_loop_results(loop); k++) made->results[k] = replace_reads(s, loop->results[k]);
    made->index = loop->index;
    made->from_back = loop->from_back;
    made->total = loop->total;
    made->normal = made;
    return made;
}

/* ---- in the body around it ---- */

/* A loop with its arguments, and the one that replaces it. */
typedef struct Replaced {
    const CtBulk *from;
    CtBulk *to;
} Replaced;

typedef struct Body {
    CtBulkBuilder *r;
    CtMap primal, depends; /* variables without cotangents; those of them that depend on states that are arrays */
    CtBulkGradient made;
    CT_VEC(Replaced) replaced;
} Body;

static void add_binding(Body *b, CtBulkVar *var, CtBulk *t) {
    ct_push(b->r->arena, &b->made.vars, var);
    ct_push(b->r->arena, &b->made.terms, t);
}

static void know(Body *b, Split *s, CtBulk *const *args) {
    const CtBulkLoop *loop = s->loop;
    CtArena *arena = b->r->arena;
    ct_map_set(arena, &s->known, ct_key(loop->index), loop->index);
    for (uint32_t p = loop->count.states; p < ct_bulk_loop_params(loop); p++)
        if (ct_bulk_has_only(b->r, args[p], &b->primal)) ct_map_set(arena, &s->known, ct_key(loop->params[p]), b);
    for (uint32_t k = 0; k < loop->vars.count; k++)
        if (ct_bulk_has_only(b->r, loop->terms.items[k], &s->known))
            ct_map_set(arena, &s->known, ct_key(loop->vars.items[k]), b);
}

/* Takes one array that is read off a loop with cotangents; NULL: there is none. */
static CtBulk *split(Body *b, const CtBulk *t) {
    const CtBulkLoop *loop = t->as.loop.loop;
    CtBulkBuilder *r = b->r;
    uint32_t elements = loop->count.states + loop->count.elements;
    for (uint32_t q = elements; q < ct_bulk_loop_params(loop); q++) {
        CtBulk *arg = t->as.loop.args[q];
        if (arg->kind != BULK_VAR || arg->shape.rank == 0 || !ct_map_has(&b->depends, ct_key(arg->as.var))) continue;
        Split s = {.r = r, .loop = loop, .array = loop->params[q]};
        know(b, &s, t->as.loop.args);
        for (uint32_t k = 0; k < loop->terms.count; k++) find_reads(&s, loop->terms.items[k]);
        for (uint32_t k = 0; k < ct_bulk_loop_results(loop); k++) find_reads(&s, loop->results[k]);
        if (s.is_whole || s.at.count == 0 || s.size > ct_bulk_shape_count(arg->shape)) continue;
        CtBulk **from, **args = CT_NEW_ARRAY(r->arena, CtBulk *, ct_bulk_loop_params(loop) + s.at.count);
        CtBulkLoop *reader = reading_loop(&s, t->as.loop.args, &from);
        uint32_t count = 0;
        for (uint32_t p = 0; p < elements; p++) args[count++] = t->as.loop.args[p];
        for (uint32_t k = 0; k < s.at.count; k++) {
            CtBulk *all = ct_bulk_loop(r, reader, from, k);
            CtBulkVar *var = ct_bulk_new_var(r, s.array->name, all->element, all->shape);
            add_binding(b, var, all);
            ct_map_set(r->arena, &b->primal, ct_key(var), var);
            args[count++] = ct_bulk_var(r, var);
        }
        for (uint32_t p = elements; p < ct_bulk_loop_params(loop); p++)
            if (p != q) args[count++] = t->as.loop.args[p];
        return ct_bulk_loop(r, without_array(&s, q), args, t->as.loop.result);
    }
    return NULL;
}

/* The same result of the loop without reads of arrays that change. */
static CtBulk *without_reads(Body *b, CtBulk *t) {
    for (uint32_t k = 0; k < b->replaced.count; k++) {
        CtBulk *to = b->replaced.items[k].to;
        if (ct_bulk_same_loop(b->replaced.items[k].from, t))
            return ct_bulk_loop(b->r, to->as.loop.loop, to->as.loop.args, t->as.loop.result);
    }
    CtBulk *made = t;
    if (t->as.loop.loop->rule == NULL && t->as.loop.loop->total)
        for (CtBulk *next = split(b, made); next != NULL; next = split(b, next)) made = next;
    if (made != t) ct_push(b->r->arena, &b->replaced, ((Replaced){t, made}));
    return made;
}

void ct_bulk_split_reads(CtBulkBuilder *r, const CtBulkLoop *around, CtBulkGradient *body) {
    Body b = {.r = r};
    ct_map_set(r->arena, &b.primal, ct_key(around->index), around->index);
    for (uint32_t p = 0; p < ct_bulk_loop_params(around); p++) {
        CtBulkVar *param = around->params[p];
        ct_map_set(r->arena, &b.primal, ct_key(param), param);
        if (p < around->count.states && param->shape.rank > 0) ct_map_set(r->arena, &b.depends, ct_key(param), param);
    }
    for (uint32_t k = 0; k < body->vars.count; k++) {
        CtBulkVar *var = body->vars.items[k];
        CtBulk *t = body->terms.items[k];
        bool is_primal = ct_bulk_has_only(r, t, &b.primal);
        if (is_primal) ct_map_set(r->arena, &b.primal, ct_key(var), var);
        if (is_primal && ct_bulk_has_some(r, t, &b.depends)) ct_map_set(r->arena, &b.depends, ct_key(var), var);
        add_binding(&b, var, !is_primal && t->kind == BULK_LOOP ? without_reads(&b, t) : t);
    }
    body->vars.count = body->terms.count = 0;
    for (uint32_t k = 0; k < b.made.vars.count; k++) {
        ct_push(r->arena, &body->vars, b.made.vars.items[k]);
        ct_push(r->arena, &body->terms, b.made.terms.items[k]);
    }
}
