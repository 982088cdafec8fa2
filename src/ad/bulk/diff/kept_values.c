/* What the reverse of a loop keeps instead of states. Keeping an array before each step costs its size, even where a
 * step reads and changes only a row of it. So the reverse gets the values that it needs of an array (elements, rows,
 * results of loops inside), computed by the primal loop as further outputs: no step keeps more than it has computed.
 * Where these are larger than the array, the array is kept and they are computed again. */
#include "ad/bulk/diff/delta.h"
#include "ad/bulk/ir/ranges.h"

typedef struct Keeper {
    CtBulkBuilder *r;
    const CtDeltaLoop *l;
    CtBulkGradient *body;
    CtBulk **gradient;
    CtBulk *const *primals; /* the results of the primal, by the body's variables */
    CtMap primal;           /* the variables that do not depend on cotangents */
    CtMap renamed;          /* these in the primal loop: CtBulkVar * -> CtBulk * */
    bool is_copied;         /* whether the primal loop has the bindings of the body */
    CtBulkGradient given;   /* the bindings of the body before any changes */
} Keeper;

/* What is needed of one state. */
typedef struct Reads {
    Keeper *k;
    CtBulkVar *state;
    CtMap depends;            /* it, and the variables computed from it */
    CtMap bound;              /* CtBulkVar * -> CtBulk *: bindings of the body */
    CtMap again;              /* the variables that are computed again */
    bool is_whole;            /* all of it is needed */
    int64_t size;             /* the elements of … */
    CT_VEC(CtBulk *) at;      /* … each value that is needed, and … */
    CT_VEC(CtBulkVar *) kept; /* … the variable that replaces it */
} Reads;

/* ---- questions about variables ---- */

typedef struct Question {
    CtBulkBuilder *r;
    CtMap *vars;
    CtMap inner; /* the variables that the term itself binds */
    bool all, some;
} Question;

static void bind_inner(Question *q, const CtBulk *t) {
    CtArena *arena = q->r->arena;
    if (t->kind == BULK_LET) ct_map_set(arena, &q->inner, ct_key(t->as.let.var), q);
    if (t->kind == BULK_BUILD) ct_map_set(arena, &q->inner, ct_key(t->as.build.var), q);
    if (t->kind != BULK_GATHER && t->kind != BULK_SCATTER) return;
    for (uint32_t i = 0; i < t->as.move.f.var_count; i++) ct_map_set(arena, &q->inner, ct_key(t->as.move.f.vars[i]), q);
}

static CtBulk *ask(void *data, CtBulk *t) {
    Question *q = data;
    if (t->kind == BULK_CONST) return t;
    bind_inner(q, t);
    if (t->kind != BULK_VAR) return ct_bulk_map(q->r, t, ask, q);
    if (ct_map_has(&q->inner, ct_key(t->as.var))) return t;
    bool has = ct_map_has(q->vars, ct_key(t->as.var));
    q->all = q->all && has;
    q->some = q->some || has;
    return t;
}

bool ct_bulk_has_only(CtBulkBuilder *r, CtBulk *t, CtMap *vars) {
    Question q = {.r = r, .vars = vars, .all = true};
    ask(&q, t);
    return q.all;
}

bool ct_bulk_has_some(CtBulkBuilder *r, CtBulk *t, CtMap *vars) {
    Question q = {.r = r, .vars = vars};
    ask(&q, t);
    return q.some;
}

/* ---- finding what is needed ---- */

/* Values that are kept: parts and sums of what depends on the state, which are smaller, and results of loops. */
static bool is_worth(const CtBulk *t) {
    return t->kind == BULK_INDEX || t->kind == BULK_GATHER || t->kind == BULK_REDUCE || t->kind == BULK_LOOP;
}

static void note(Reads *reads, CtBulk *t) {
    CtBulkBuilder *r = reads->k->r;
    for (uint32_t k = 0; k < reads->at.count; k++)
        if (ct_bulk_same(reads->at.items[k], t)) return;
    const char *name = t->kind == BULK_VAR ? t->as.var->name : reads->state->name;
    reads->size += ct_bulk_shape_count(t->shape);
    ct_push(r->arena, &reads->at, t);
    ct_push(r->arena, &reads->kept, ct_bulk_new_var(r, name, t->element, t->shape));
}

static CtBulk *find(void *data, CtBulk *t) {
    Reads *reads = data;
    CtBulkBuilder *r = reads->k->r;
    if (reads->is_whole || t->kind == BULK_CONST || !ct_bulk_has_some(r, t, &reads->depends)) return t;
    if (t->kind != BULK_VAR && (!is_worth(t) || !ct_bulk_has_only(r, t, &reads->k->primal)))
        return ct_bulk_map(r, t, find, reads);
    if (t->kind == BULK_VAR && t->as.var == reads->state) {
        reads->is_whole = true;
        return t;
    }
    CtBulk *known = t->kind == BULK_VAR ? ct_map_get(&reads->bound, ct_key(t->as.var)) : t;
    if (is_worth(known)) {
        note(reads, t);
    } else if (!ct_map_has(&reads->again, ct_key(t->as.var))) {
        ct_map_set(r->arena, &reads->again, ct_key(t->as.var), t);
        find(reads, known);
    }
    return t;
}

static void find_all(Reads *reads) {
    Keeper *k = reads->k;
    CtArena *arena = k->r->arena;
    uint32_t params = ct_bulk_loop_params(k->l->source);
    ct_map_set(arena, &reads->depends, ct_key(reads->state), reads->state);
    for (uint32_t i = 0; i < k->body->vars.count; i++) {
        CtBulkVar *var = k->body->vars.items[i];
        ct_map_set(arena, &reads->bound, ct_key(var), k->body->terms.items[i]);
        if (ct_map_has(&k->primal, ct_key(var)) && ct_bulk_has_some(k->r, k->body->terms.items[i], &reads->depends))
            ct_map_set(arena, &reads->depends, ct_key(var), var);
    }
    for (uint32_t i = 0; i < k->body->vars.count; i++)
        if (!ct_map_has(&k->primal, ct_key(k->body->vars.items[i]))) find(reads, k->body->terms.items[i]);
    for (uint32_t p = 0; p < params; p++)
        if (k->gradient[p]) find(reads, k->gradient[p]);
}

/* ---- the outputs of the primal loop ---- */

/* Gives the primal loop the bindings of the body, renamed, so that what both compute is computed once. */
static void copy_primal(Keeper *k) {
    CtBulkBuilder *r = k->r;
    CtBulkLoop *primal = k->l->primal;
    if (k->is_copied) return;
    k->is_copied = true;
    primal->vars.count = primal->terms.count = 0;
    for (uint32_t i = 0; i < k->given.vars.count; i++) {
        CtBulkVar *var = k->given.vars.items[i];
        if (!ct_map_has(&k->primal, ct_key(var))) continue;
        CtBulkVar *fresh = ct_bulk_new_var(r, var->name, var->element, var->shape);
        ct_push(r->arena, &primal->vars, fresh);
        ct_push(r->arena, &primal->terms, ct_bulk_substitute(r, k->given.terms.items[i], &k->renamed));
        ct_map_set(r->arena, &k->renamed, ct_key(var), ct_bulk_var(r, fresh));
    }
    for (uint32_t i = 0; i < ct_bulk_loop_results(k->l->source); i++)
        primal->results[i] = ct_bulk_substitute(r, k->primals[i], &k->renamed);
}

/* Adds an output to the primal loop; its values at all steps. */
static CtBulk *add_output(Keeper *k, CtBulk *t) {
    CtBulkLoop *primal = k->l->primal;
    uint32_t count = ct_bulk_loop_results(primal);
    CtBulk **results = CT_NEW_ARRAY(k->r->arena, CtBulk *, count + 1);
    for (uint32_t i = 0; i < count; i++) results[i] = primal->results[i];
    results[count] = t;
    primal->results = results;
    primal->outputs++;
    return ct_bulk_loop(k->r, primal, k->l->args, count);
}

static CtBulk *replace(void *data, CtBulk *t) {
    Reads *reads = data;
    for (uint32_t i = 0; i < reads->at.count; i++)
        if (ct_bulk_same(reads->at.items[i], t)) return ct_bulk_var(reads->k->r, reads->kept.items[i]);
    return ct_bulk_map(reads->k->r, t, replace, reads);
}

static void replace_all(Reads *reads) {
    Keeper *k = reads->k;
    for (uint32_t i = 0; i < k->body->terms.count; i++)
        if (!ct_map_has(&k->primal, ct_key(k->body->vars.items[i])) ||
            ct_map_has(&reads->again, ct_key(k->body->vars.items[i])))
            k->body->terms.items[i] = replace(reads, k->body->terms.items[i]);
    for (uint32_t p = 0; p < ct_bulk_loop_params(k->l->source); p++)
        if (k->gradient[p]) k->gradient[p] = replace(reads, k->gradient[p]);
}

static void keep(Reads *reads, const CtLoopSink *sink, CtKeptValues *out) {
    Keeper *k = reads->k;
    CtArena *arena = k->r->arena;
    copy_primal(k);
    replace_all(reads);
    for (uint32_t i = 0; i < reads->at.count; i++) {
        CtBulkVar *var = reads->kept.items[i];
        CtBulk *inside = ct_bulk_substitute(k->r, reads->at.items[i], &k->renamed);
        if (inside->kind != BULK_VAR) {
            CtBulkVar *fresh = ct_bulk_new_var(k->r, var->name, var->element, var->shape);
            ct_push(arena, &k->l->primal->vars, fresh);
            ct_push(arena, &k->l->primal->terms, inside);
            inside = ct_bulk_var(k->r, fresh);
        }
        ct_map_set(arena, &k->renamed, ct_key(var), inside);
        ct_map_set(arena, &k->primal, ct_key(var), var);
        CtBulk *all = sink->share(sink->data, NULL, add_output(k, inside));
        ct_push(arena, out, ((CtKeptValue){var, all}));
    }
}

/* ---- what is left of the body ---- */

static CtBulk *mark(void *data, CtBulk *t) {
    Question *q = data;
    if (t->kind != BULK_VAR) return ct_bulk_map(q->r, t, mark, q);
    ct_map_set(q->r->arena, q->vars, ct_key(t->as.var), t->as.var);
    return t;
}

/* Drops the bindings that the gradient does not need. What could fail has been evaluated by the primal, except for the
 * code of rules. */
static void drop_unused(Keeper *k, bool total) {
    CtMap used = {0};
    Question q = {.r = k->r, .vars = &used};
    CtBulkRewriter facts = {.r = k->r, .total = total};
    CtBulkGradient *body = k->body;
    bool *stays = CT_NEW_ARRAY(k->r->arena, bool, body->vars.count + 1);
    for (uint32_t p = 0; p < ct_bulk_loop_params(k->l->source); p++)
        if (k->gradient[p]) mark(&q, k->gradient[p]);
    for (uint32_t i = body->vars.count; i-- > 0;) {
        stays[i] = ct_map_has(&used, ct_key(body->vars.items[i])) || !ct_bulk_is_safe(&facts, body->terms.items[i]);
        if (stays[i]) mark(&q, body->terms.items[i]);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < body->vars.count; i++) {
        if (!stays[i]) continue;
        body->vars.items[count] = body->vars.items[i];
        body->terms.items[count++] = body->terms.items[i];
    }
    body->vars.count = body->terms.count = count;
}

static void note_primal(Keeper *k) {
    const CtBulkLoop *source = k->l->source;
    CtArena *arena = k->r->arena;
    ct_map_set(arena, &k->primal, ct_key(source->index), source->index);
    for (uint32_t p = 0; p < ct_bulk_loop_params(source); p++)
        ct_map_set(arena, &k->primal, ct_key(source->params[p]), source->params[p]);
    for (uint32_t i = 0; i < k->body->vars.count; i++) {
        CtBulkVar *var = k->body->vars.items[i];
        if (ct_bulk_has_only(k->r, k->body->terms.items[i], &k->primal))
            ct_map_set(arena, &k->primal, ct_key(var), var);
        ct_push(arena, &k->given.vars, var);
        ct_push(arena, &k->given.terms, k->body->terms.items[i]);
    }
}

CtKeptValues ct_bulk_keep_values(CtBulkBuilder *r, const CtDeltaLoop *l, CtBulkGradient *body, CtBulk **gradient,
                                 CtBulk *const *primals, bool total, const CtLoopSink *sink) {
    CtKeptValues out = {0};
    Keeper k = {.r = r, .l = l, .body = body, .gradient = gradient, .primals = primals};
    bool is_used = l->primal->normal || l->primal->simple;
    if (!is_used) ct_bulk_split_reads(r, l->source, body);
    note_primal(&k);
    for (uint32_t s = 0; !is_used && s < l->source->count.states; s++) {
        Reads reads = {.k = &k, .state = l->source->params[s]};
        if (reads.state->shape.rank == 0) continue;
        find_all(&reads);
        if (!reads.is_whole && reads.at.count > 0 && reads.size <= ct_bulk_shape_count(reads.state->shape))
            keep(&reads, sink, &out);
    }
    drop_unused(&k, total);
    return out;
}
