/* Loops: their construction, batching over rows, and removal of unused results.
 *
 * The paper has no general fold; its implementation has one whose function is closed. Here the function may use any
 * variables, which become parameters of the loop. So a `build1` of a loop is a loop over rows: a map of folds is a fold
 * of maps. */
#include "ad/bulk/ir/ranges.h"

CtBulkLoop *ct_bulk_new_loop(CtBulkBuilder *r, int64_t steps, CtBulkLoopParams count, uint32_t outputs) {
    CtBulkLoop *loop = CT_NEW(r->arena, CtBulkLoop);
    *loop = (CtBulkLoop){.steps = steps, .count = count, .outputs = outputs};
    loop->index = ct_bulk_new_var(r, "i", ELEMENT_INT, (CtShape){0, NULL});
    loop->params = CT_NEW_ARRAY(r->arena, CtBulkVar *, ct_bulk_loop_params(loop) + 1);
    loop->results = CT_NEW_ARRAY(r->arena, CtBulk *, ct_bulk_loop_results(loop) + 1);
    return loop;
}

/* ---- what depends on what ---- */

typedef struct Search {
    CtBulkBuilder *r;
    CtMap *vars;
    bool found;
} Search;

static CtBulk *search(void *data, CtBulk *t) {
    Search *s = data;
    if (s->found) return t;
    if (t->kind != BULK_VAR) return ct_bulk_map(s->r, t, search, s);
    s->found = ct_map_has(s->vars, ct_key(t->as.var));
    return t;
}

static bool mentions_any(CtBulkBuilder *r, CtBulk *t, CtMap *vars) {
    Search s = {r, vars, false};
    search(&s, t);
    return s.found;
}

static void add(CtBulkBuilder *r, CtMap *set, CtBulkVar *var) { ct_map_set(r->arena, set, ct_key(var), var); }

CtMap ct_bulk_loop_varying(CtBulkBuilder *r, const CtBulkLoop *loop, const bool *params, bool reals) {
    CtMap varying = {0};
    for (uint32_t p = 0; p < ct_bulk_loop_params(loop); p++)
        if (params[p]) add(r, &varying, loop->params[p]);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t b = 0; b < loop->vars.count; b++) {
            CtBulkVar *var = loop->vars.items[b];
            if (ct_map_has(&varying, ct_key(var)) || (reals && var->element != ELEMENT_REAL)) continue;
            if (mentions_any(r, loop->terms.items[b], &varying)) add(r, &varying, var);
        }
        for (uint32_t s = 0; s < loop->count.states; s++) {
            CtBulkVar *state = loop->params[s];
            if (ct_map_has(&varying, ct_key(state)) || (reals && state->element != ELEMENT_REAL)) continue;
            if (!mentions_any(r, loop->results[s], &varying)) continue;
            add(r, &varying, state);
            more = true;
        }
    }
    return varying;
}

bool ct_bulk_loop_result_varies(CtBulkBuilder *r, const CtBulkLoop *loop, uint32_t result, CtMap *varying) {
    if (result < loop->count.states) return ct_map_has(varying, ct_key(loop->params[result]));
    return mentions_any(r, loop->results[result], varying);
}

/* ---- build1 k (λi. loop) ---- */

/* A loop over rows, identified by the set of parameters that are rows. */
typedef struct CtLoopRows {
    int64_t k;
    bool *given; /* parameters whose arguments vary between rows */
    bool *param; /* these, and the states that vary with them */
    bool *result;
    CtBulkLoop *loop;
    struct CtLoopRows *next;
} CtLoopRows;

/* Makes a variable of rows for a variable, and replaces the latter by the row at `at`. */
static CtBulkVar *row_var(CtBulkBuilder *r, CtLoopRows *rows, CtBulkVar *var, CtBulkVar *at, CtMap *replace) {
    CtBulkVar *all = ct_bulk_new_var(r, var->name, var->element, ct_bulk_shape_cons(r->arena, rows->k, var->shape));
    CtBulk *index = ct_bulk_var(r, at);
    CtBulk *row = ct_bulk_index(r, ct_bulk_var(r, all), &index, 1, NULL, CT_NO_RANGE);
    ct_map_set(r->arena, replace, ct_key(var), row);
    return all;
}

static void make_rows(CtBulkBuilder *r, CtBulkLoop *loop, CtLoopRows *rows) {
    CtMap varying = ct_bulk_loop_varying(r, loop, rows->given, false), replace = {0};
    CtBulkVar *at = ct_bulk_new_var(r, "j", ELEMENT_INT, (CtShape){0, NULL});
    CtBulkLoop *made = ct_bulk_new_loop(r, loop->steps, loop->count, loop->outputs);
    made->from_back = loop->from_back;
    made->total = loop->total;
    ct_map_set(r->arena, &replace, ct_key(loop->index), ct_bulk_var(r, made->index));
    for (uint32_t p = 0; p < ct_bulk_loop_params(loop); p++) {
        rows->param[p] = ct_map_has(&varying, ct_key(loop->params[p]));
        made->params[p] = rows->param[p] ? row_var(r, rows, loop->params[p], at, &replace) : loop->params[p];
    }
    for (uint32_t b = 0; b < loop->vars.count; b++) {
        CtBulkVar *var = loop->vars.items[b];
        CtBulk *term = ct_bulk_substitute(r, loop->terms.items[b], &replace);
        bool varies = ct_map_has(&varying, ct_key(var));
        ct_push(r->arena, &made->vars, varies ? row_var(r, rows, var, at, &replace) : var);
        ct_push(r->arena, &made->terms, varies ? ct_bulk_build(r, rows->k, at, term) : term);
    }
    for (uint32_t k = 0; k < ct_bulk_loop_results(loop); k++) {
        CtBulk *term = ct_bulk_substitute(r, loop->results[k], &replace);
        rows->result[k] = ct_bulk_loop_result_varies(r, loop, k, &varying);
        made->results[k] = rows->result[k] ? ct_bulk_build(r, rows->k, at, term) : term;
    }
    rows->loop = made;
}

static CtLoopRows *rows_of(CtBulkBuilder *r, CtBulkLoop *loop, int64_t k, bool *given) {
    uint32_t count = ct_bulk_loop_params(loop);
    for (CtLoopRows *known = loop->rows; known != NULL; known = known->next) {
        bool same = known->k == k;
        for (uint32_t p = 0; p < count; p++) same = same && known->given[p] == given[p];
        if (same) return known;
    }
    CtLoopRows *rows = CT_NEW(r->arena, CtLoopRows);
    *rows = (CtLoopRows){.k = k, .given = given, .next = loop->rows};
    rows->param = CT_NEW_ARRAY(r->arena, bool, count + 1);
    rows->result = CT_NEW_ARRAY(r->arena, bool, ct_bulk_loop_results(loop) + 1);
    make_rows(r, loop, rows);
    loop->rows = rows;
    return rows;
}

/* The rule of a call, batched over many calls. Parameters that the call and the rule share vary together; so do those
 * of the rule alone. */
static const CtBulkRule *rule_rows(CtBulkBuilder *r, const CtBulkLoop *loop, int64_t k, const bool *given) {
    const CtBulkRule *rule = loop->rule;
    uint32_t states = loop->count.states, count = ct_bulk_loop_params(rule->loop), own = rule->loop->count.states;
    bool *of_rule = CT_NEW_ARRAY(r->arena, bool, count + 1);
    for (uint32_t p = 0; p < count; p++)
        of_rule[p] = p < own || p >= own + loop->count.fixed || given[states + p - own];
    CtBulkRule *made = CT_NEW(r->arena, CtBulkRule);
    *made = *rule;
    made->loop = rows_of(r, rule->loop, k, of_rule)->loop;
    made->calls++;
    return made;
}

static CtBulk *exchanged(CtBulkBuilder *r, CtBulk *t) { return ct_bulk_transpose(r, (const uint32_t[]){1, 0}, 2, t); }

CtBulk *ct_bulk_build_loop(CtBulkBuilder *r, int64_t k, CtBulkVar *i, CtBulk *t) {
    CtBulkLoop *loop = t->as.loop.loop;
    uint32_t count = ct_bulk_loop_params(loop), states = loop->count.states, result = t->as.loop.result;
    bool *given = CT_NEW_ARRAY(r->arena, bool, count + 1);
    for (uint32_t p = 0; p < count; p++)
        given[p] = ct_bulk_mentions(t->as.loop.args[p], i) || (loop->rule && p < states + loop->rule->reals);
    CtLoopRows *rows = rows_of(r, loop, k, given);
    if (loop->rule && !rows->loop->rule) rows->loop->rule = rule_rows(r, loop, k, given);
    CtBulk **args = CT_NEW_ARRAY(r->arena, CtBulk *, count);
    for (uint32_t p = 0; p < count; p++) {
        bool is_element = p >= states && p < states + loop->count.elements;
        args[p] = rows->param[p] ? ct_bulk_build(r, k, i, t->as.loop.args[p]) : t->as.loop.args[p];
        if (rows->param[p] && is_element) args[p] = exchanged(r, args[p]);
    }
    CtBulk *made = ct_bulk_loop(r, rows->loop, args, result);
    if (!rows->result[result]) return ct_bulk_replicate(r, k, made);
    return result < states ? made : exchanged(r, made);
}

/* ---- a loop of one step ---- */

CtBulk *ct_bulk_one_step(CtBulkBuilder *r, const CtBulk *t) {
    const CtBulkLoop *loop = t->as.loop.loop;
    uint32_t states = loop->count.states, elements = states + loop->count.elements, count = ct_bulk_loop_params(loop);
    CtBulk *made = loop->results[t->as.loop.result], *first = ct_bulk_int(r, 0, (CtShape){0, NULL});
    if (t->as.loop.result >= states) made = ct_bulk_literal(r, &made, 1);
    for (uint32_t k = ct_bulk_loop_results(loop); !loop->total && k-- > 0;) { /* the others may fail */
        CtBulk *other = loop->results[k];
        if (k != t->as.loop.result)
            made = ct_bulk_let(r, ct_bulk_new_var(r, "y", other->element, other->shape), other, made);
    }
    for (uint32_t b = loop->vars.count; b-- > 0;)
        made = ct_bulk_let(r, loop->vars.items[b], loop->terms.items[b], made);
    CtMap replace = {0};
    CtBulkVar **params = CT_NEW_ARRAY(r->arena, CtBulkVar *, count + 1);
    ct_map_set(r->arena, &replace, ct_key(loop->index), first);
    for (uint32_t p = 0; p < count; p++) {
        const CtBulkVar *param = loop->params[p];
        params[p] = ct_bulk_new_var(r, param->name, param->element, param->shape);
        ct_map_set(r->arena, &replace, ct_key(param), ct_bulk_var(r, params[p]));
    }
    made = ct_bulk_substitute(r, made, &replace);
    for (uint32_t p = count; p-- > 0;) {
        CtBulk *arg = t->as.loop.args[p];
        if (p >= states && p < elements) arg = ct_bulk_index(r, arg, &first, 1, NULL, t->range);
        made = ct_bulk_let(r, params[p], arg, made);
    }
    return made;
}

/* ---- leaving out ---- */

/* The reduction of a loop to its used results. */
typedef struct Trim {
    CtBulkLoop *loop, *to; /* to: NULL until it is made */
    bool *used;
    bool *through;        /* states that never change, so their final value is the initial one */
    uint32_t *param_from; /* for each new parameter, the index of the old one */
    uint32_t *result_to;  /* for each old result, the index of the new one */
    bool changed;
} Trim;

typedef struct Trimmer {
    CtBulkBuilder *r;
    CtMap trims; /* CtBulkLoop * -> Trim * */
    CtMap seen;  /* CtBulk * -> itself: visited; later its replacement */
    bool changed;
} Trimmer;

static CtBulk *count_results(void *data, CtBulk *t) {
    Trimmer *m = data;
    CtArena *arena = m->r->arena;
    if (t->kind == BULK_VAR || t->kind == BULK_CONST || ct_map_has(&m->seen, ct_key(t))) return t;
    ct_map_set(arena, &m->seen, ct_key(t), t);
    if (t->kind == BULK_LOOP) {
        CtBulkLoop *loop = t->as.loop.loop;
        Trim *trim = ct_map_get(&m->trims, ct_key(loop));
        if (trim == NULL) {
            trim = CT_NEW(arena, Trim);
            *trim = (Trim){.loop = loop, .used = CT_NEW_ARRAY(arena, bool, ct_bulk_loop_results(loop))};
            ct_map_set(arena, &m->trims, ct_key(loop), trim);
        }
        trim->used[t->as.loop.result] = true;
    }
    return ct_bulk_map(m->r, t, count_results, m);
}

typedef struct Needs {
    CtBulkBuilder *r;
    CtMap vars;
} Needs;

static CtBulk *need(void *data, CtBulk *t) {
    Needs *n = data;
    if (t->kind != BULK_VAR) return ct_bulk_map(n->r, t, need, n);
    add(n->r, &n->vars, t->as.var);
    return t;
}

/* The variables that the used results need, and what may fail. */
static Needs needs_of(Trimmer *m, const Trim *trim) {
    CtBulkLoop *loop = trim->loop;
    Needs needs = {.r = m->r};
    CtBulkRewriter facts = {.r = m->r};
    bool *kept = CT_NEW_ARRAY(m->r->arena, bool, loop->vars.count + 1);
    bool *state = CT_NEW_ARRAY(m->r->arena, bool, loop->count.states + 1);
    ct_bulk_note_loop(&facts, loop);
    for (uint32_t k = 0; k < ct_bulk_loop_results(loop); k++)
        trim->used[k] |= !loop->total && !ct_bulk_is_safe(&facts, loop->results[k]);
    for (uint32_t k = 0; k < ct_bulk_loop_results(loop); k++)
        if (trim->used[k] && !(k < loop->count.states && trim->through[k])) need(&needs, loop->results[k]);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t b = loop->vars.count; b-- > 0;) {
            bool fails = !loop->total && !ct_bulk_is_safe(&facts, loop->terms.items[b]);
            if (kept[b] || (!fails && !ct_map_has(&needs.vars, ct_key(loop->vars.items[b])))) continue;
            kept[b] = true;
            add(m->r, &needs.vars, loop->vars.items[b]);
            need(&needs, loop->terms.items[b]);
        }
        for (uint32_t s = 0; s < loop->count.states; s++) {
            bool is_used = trim->used[s] || ct_map_has(&needs.vars, ct_key(loop->params[s]));
            if (state[s] || trim->through[s] || !is_used) continue;
            state[s] = more = true;
            add(m->r, &needs.vars, loop->params[s]);
            need(&needs, loop->results[s]);
        }
    }
    return needs;
}

static void trim_params(const Trim *trim, Needs *needs, CtBulkLoopParams *count, uint32_t *from) {
    const CtBulkLoop *loop = trim->loop;
    uint32_t states = loop->count.states, elements = states + loop->count.elements, all = ct_bulk_loop_params(loop),
             n = 0;
    *count = (CtBulkLoopParams){0, 0, 0};
    for (uint32_t p = 0; p < all; p++) {
        if (!ct_map_has(&needs->vars, ct_key(loop->params[p])) || (p < states && trim->through[p])) continue;
        from[n++] = p;
        *(p < states ? &count->states : p < elements ? &count->elements : &count->fixed) += 1;
    }
    for (uint32_t p = 0; p < states; p++) { /* a state that never changes is a value that all steps get */
        if (!trim->through[p] || !ct_map_has(&needs->vars, ct_key(loop->params[p]))) continue;
        from[n++] = p;
        count->fixed++;
    }
}

/* A check must not be dropped because only unchanging states are used as results. */
static bool keeps_errors(Trimmer *m, const Trim *trim) {
    CtBulkRewriter facts = {.r = m->r};
    if (ct_bulk_loop_is_safe(&facts, trim->loop)) return true;
    for (uint32_t k = 0; k < ct_bulk_loop_results(trim->loop); k++)
        if (trim->used[k] && !(k < trim->loop->count.states && trim->through[k])) return true;
    return false;
}

static void make_trim(Trimmer *m, Trim *trim) {
    CtArena *arena = m->r->arena;
    CtBulkLoop *loop = trim->loop;
    uint32_t states = loop->count.states, outputs = 0;
    trim->through = CT_NEW_ARRAY(arena, bool, states + 1);
    trim->param_from = CT_NEW_ARRAY(arena, uint32_t, ct_bulk_loop_params(loop) + 1);
    trim->result_to = CT_NEW_ARRAY(arena, uint32_t, ct_bulk_loop_results(loop) + 1);
    if (loop->rule != NULL) return; /* which must keep the same results and parameters */
    for (uint32_t s = 0; s < states; s++) {
        trim->through[s] = loop->results[s]->kind == BULK_VAR && loop->results[s]->as.var == loop->params[s];
        trim->changed |= trim->through[s];
    }
    if (!keeps_errors(m, trim)) {
        for (uint32_t s = 0; s < states; s++) trim->through[s] = false;
        trim->changed = false;
    }
    Needs needs = needs_of(m, trim);
    CtBulkLoopParams count;
    trim_params(trim, &needs, &count, trim->param_from);
    for (uint32_t k = states; k < ct_bulk_loop_results(loop); k++) outputs += trim->used[k];
    trim->changed |= count.states != states || count.elements != loop->count.elements || outputs != loop->outputs ||
                     count.fixed != loop->count.fixed;
    if (!trim->changed) return;
    CtBulkLoop *to = ct_bulk_new_loop(m->r, loop->steps, count, outputs);
    to->index = loop->index;
    to->from_back = loop->from_back;
    to->total = loop->total;
    for (uint32_t p = 0; p < ct_bulk_loop_params(to); p++) to->params[p] = loop->params[trim->param_from[p]];
    for (uint32_t p = 0; p < count.states; p++) {
        to->results[p] = loop->results[trim->param_from[p]];
        trim->result_to[trim->param_from[p]] = p;
    }
    for (uint32_t k = states, n = count.states; k < ct_bulk_loop_results(loop); k++) {
        if (!trim->used[k]) continue;
        to->results[n] = loop->results[k];
        trim->result_to[k] = n++;
    }
    for (uint32_t b = 0; b < loop->vars.count; b++) {
        if (!ct_map_has(&needs.vars, ct_key(loop->vars.items[b]))) continue;
        ct_push(arena, &to->vars, loop->vars.items[b]);
        ct_push(arena, &to->terms, loop->terms.items[b]);
    }
    trim->to = to;
}

static CtBulk *trimmed(void *data, CtBulk *t) {
    Trimmer *m = data;
    if (t->kind == BULK_VAR || t->kind == BULK_CONST) return t;
    CtBulk *known = ct_map_get(&m->seen, ct_key(t));
    if (known != NULL) return known;
    CtBulk *made = ct_bulk_map(m->r, t, trimmed, m);
    if (t->kind == BULK_LOOP) {
        CtBulkLoop *loop = t->as.loop.loop;
        Trim *trim = ct_map_get(&m->trims, ct_key(loop));
        if (trim->result_to == NULL) make_trim(m, trim);
        uint32_t result = t->as.loop.result;
        m->changed |= trim->changed;
        if (result < loop->count.states && trim->through[result]) {
            made = made->as.loop.args[result];
        } else if (trim->changed) {
            CtBulk **args = CT_NEW_ARRAY(m->r->arena, CtBulk *, ct_bulk_loop_params(trim->to));
            for (uint32_t p = 0; p < ct_bulk_loop_params(trim->to); p++)
                args[p] = made->as.loop.args[trim->param_from[p]];
            made = ct_bulk_loop(m->r, trim->to, args, trim->result_to[result]);
        }
    }
    ct_map_set(m->r->arena, &m->seen, ct_key(t), made);
    return made;
}

bool ct_bulk_trim_loops(CtBulkBuilder *r, CtBulk **terms, uint32_t term_count, CtBulk **roots, uint32_t root_count) {
    Trimmer m = {.r = r};
    for (uint32_t i = 0; i < term_count; i++) count_results(&m, terms[i]);
    for (uint32_t i = 0; i < root_count; i++)
        if (roots[i] != NULL) count_results(&m, roots[i]);
    if (m.trims.count == 0) return false;
    m.seen = (CtMap){0};
    for (uint32_t i = 0; i < term_count; i++) terms[i] = trimmed(&m, terms[i]);
    for (uint32_t i = 0; i < root_count; i++)
        if (roots[i] != NULL) roots[i] = trimmed(&m, roots[i]);
    return m.changed;
}
