/* The order of reads and changes in the body of a loop. A change of an array is done in place where nobody needs the
 * array as it was (lower_updates.c). So parts of it that are read behind the first change are read in front of it.
 *
 * A branch of a conditional that may fail is always evaluated (lower_term.c), and a change in it would be a copy. So
 * reads that may fail are taken out of branches. */
#include "ad/bulk/lower/internal.h"

typedef struct Order {
    CtBulkBuilder *r;
    CtBulkRewriter *facts;
    CtBulkBody *body;
    CtMap place; /* CtBulkVar * -> 1 + its position: of bindings; 0: a parameter */
    const CtBulkVar *array;
    uint32_t change; /* the position of its first change */
    uint32_t from;   /* the position behind the variables of a read */
    bool closed;     /* whether all of these are known */
} Order;

/* ---- changes ---- */

/* Whether the array is changed to give t. */
static bool changes(const Order *o, const CtBulk *t) {
    switch ((int)t->kind) {
    case BULK_VAR: return t->as.var == o->array;
    case BULK_COND:
        return changes(o, t->as.cond.no) || (t->as.cond.test->shape.rank == 0 && changes(o, t->as.cond.yes));
    case BULK_OP:
        return (t->as.op.prim == PRIM_ADD || t->as.op.prim == PRIM_INT_ADD) &&
               (changes(o, t->as.op.args[0]) || changes(o, t->as.op.args[1]));
    case BULK_LOOP:
        for (uint32_t s = 0; s < t->as.loop.loop->count.states; s++)
            if (changes(o, t->as.loop.args[s])) return true;
        return false;
    default: return false;
    }
}

static uint32_t first_change(const Order *o) {
    uint32_t k = 0;
    for (; k < o->body->count; k++)
        if (o->body->terms[k]->kind != BULK_VAR && changes(o, o->body->terms[k])) return k;
    return k;
}

/* ---- reads ---- */

static CtBulk *find_place(void *data, CtBulk *t) {
    Order *o = data;
    for (uint32_t k = 0; t->kind == BULK_GATHER && k < t->as.move.f.var_count; k++)
        ct_map_set(o->r->arena, &o->place, ct_key(t->as.move.f.vars[k]), NULL);
    if (t->kind != BULK_VAR) return ct_bulk_map(o->r, t, find_place, o);
    if (!ct_map_has(&o->place, ct_key(t->as.var))) o->closed = false;
    uint32_t place = (uint32_t)(uintptr_t)ct_map_get(&o->place, ct_key(t->as.var));
    if (place > o->from) o->from = place;
    return t;
}

typedef struct Find {
    Order *o;
    CtBulk *found;
} Find;

/* The first read of the array that can be done before its change. */
static CtBulk *find_read(void *data, CtBulk *t) {
    Find *f = data;
    Order *o = f->o;
    if (f->found != NULL || t->kind == BULK_VAR || t->kind == BULK_CONST) return t;
    bool reads = (t->kind == BULK_INDEX || t->kind == BULK_GATHER) && t->as.move.t->kind == BULK_VAR &&
                 t->as.move.t->as.var == o->array;
    if (!reads) return ct_bulk_map(o->r, t, find_read, f);
    o->from = 0;
    o->closed = true;
    find_place(o, t);
    if (o->closed && o->from <= o->change) f->found = t;
    return t;
}

static void insert(Order *o, CtBulk *read) {
    CtBulkBody *body = o->body;
    CtArena *arena = o->r->arena;
    CtBulkVar *var = ct_bulk_new_var(o->r, "x", read->element, read->shape);
    CtBulk *known = ct_bulk_var(o->r, var);
    CtBulkVar **vars = CT_NEW_ARRAY(arena, CtBulkVar *, body->bound + 1);
    CtBulk **terms = CT_NEW_ARRAY(arena, CtBulk *, body->count + 1);
    for (uint32_t k = 0; k < o->from; k++) terms[k] = body->terms[k];
    for (uint32_t k = 0; k < o->from; k++) vars[k] = body->vars[k];
    vars[o->from] = var;
    terms[o->from] = read;
    for (uint32_t k = o->from; k < body->bound; k++) vars[k + 1] = body->vars[k];
    for (uint32_t k = o->from; k < body->count; k++) terms[k + 1] = ct_bulk_exchange(o->r, body->terms[k], read, known);
    body->vars = vars;
    body->terms = terms;
    body->bound++;
    body->count++;
    for (uint32_t k = o->from; k < body->bound; k++)
        ct_map_set(arena, &o->place, ct_key(vars[k]), (void *)(uintptr_t)(k + 1));
}

/* Moves the reads behind the first change of the array in front of it. */
static void order_reads(Order *o) {
    for (o->change = first_change(o); o->change < o->body->count; o->change++) {
        Find f = {o, NULL};
        for (uint32_t k = o->change + 1; f.found == NULL && k < o->body->count; k++) find_read(&f, o->body->terms[k]);
        if (f.found == NULL) return;
        insert(o, f.found);
    }
}

/* ---- reads that may fail ---- */

/* The first read inside a branch that may fail, of rank 0 or not, whose variables are known before the term. */
static CtBulk *find_failing(void *data, CtBulk *t) {
    Find *f = data;
    Order *o = f->o;
    if (f->found != NULL || t->kind == BULK_VAR || t->kind == BULK_CONST || ct_bulk_is_safe(o->facts, t)) return t;
    ct_bulk_map(o->r, t, find_failing, f);
    if (f->found != NULL || (t->kind != BULK_INDEX && t->kind != BULK_GATHER)) return t;
    o->from = 0;
    o->closed = true;
    find_place(o, t);
    if (o->closed) f->found = t;
    return t;
}

static CtBulk *find_in_branches(void *data, CtBulk *t) {
    Find *f = data;
    if (f->found != NULL || t->kind == BULK_VAR || t->kind == BULK_CONST) return t;
    if (t->kind == BULK_COND && t->as.cond.test->shape.rank == 0 && t->shape.rank > 0) {
        find_failing(f, t->as.cond.yes);
        find_failing(f, t->as.cond.no);
    }
    return f->found != NULL ? t : ct_bulk_map(f->o->r, t, find_in_branches, f);
}

static void take_out_failing(Order *o) {
    for (uint32_t k = 0; k < o->body->count; k++) {
        for (bool more = true; more;) {
            Find f = {o, NULL};
            find_in_branches(&f, o->body->terms[k]);
            more = f.found != NULL;
            if (more) insert(o, f.found);
            if (more) k++; /* behind the new binding */
        }
    }
}

CtBulkBody ct_bulk_lower_reads_first(CtBulkBuilder *r, CtBulkRewriter *facts, const CtBulkLoop *loop) {
    uint32_t results = ct_bulk_loop_results(loop), params = ct_bulk_loop_params(loop);
    CtBulkBody body = {.bound = loop->vars.count, .count = loop->vars.count + results};
    body.vars = loop->vars.items;
    body.terms = CT_NEW_ARRAY(r->arena, CtBulk *, body.count + 1);
    for (uint32_t k = 0; k < body.bound; k++) body.terms[k] = loop->terms.items[k];
    for (uint32_t k = 0; k < results; k++) body.terms[body.bound + k] = loop->results[k];
    Order o = {.r = r, .facts = facts, .body = &body};
    ct_map_set(r->arena, &o.place, ct_key(loop->index), NULL);
    for (uint32_t p = 0; p < params; p++) ct_map_set(r->arena, &o.place, ct_key(loop->params[p]), NULL);
    for (uint32_t k = 0; k < body.bound; k++)
        ct_map_set(r->arena, &o.place, ct_key(body.vars[k]), (void *)(uintptr_t)(k + 1));
    take_out_failing(&o);
    for (uint32_t s = 0; s < loop->count.states; s++) {
        o.array = loop->params[s];
        if (o.array->shape.rank > 0) order_reads(&o);
    }
    for (uint32_t k = 0; k < loop->vars.count; k++) {
        o.array = loop->vars.items[k];
        if (o.array->shape.rank > 0) order_reads(&o);
    }
    return body;
}
