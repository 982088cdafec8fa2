/* Lists that are made by `filter` and by comprehensions, and the functions that consume lists.
 *
 * Such a list is not made. What its consumer does with an element is carried through the functions that make the list,
 * up to a source that has an array: a chain of stages. All stages work on one element before the next, where the
 * program runs one after the other; so at most one of them may fail. */
#include "core/list_stages.h"

#include "base/rules.h"

static CtCore *go_on(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element) {
    return stage->next->step(s, stage->next, state, element);
}

static bool is_total_function(const CtCore *fun) {
    if (fun->kind == CORE_GLOBAL && fun->as.global->body != NULL) fun = fun->as.global->body;
    return fun->kind == CORE_LAM && ct_core_is_total(fun->as.lam->body);
}

/* ---- the last stage ---- */

static CtCore *step_foldl(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element) {
    CtCore *args[] = {state, element};
    return ct_core_list_apply(s, stage->fun, args);
}

static CtCore *step_foldr(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element) {
    CtCore *args[] = {element, state};
    return ct_core_list_apply(s, stage->fun, args);
}

/* The element is evaluated in any case: what makes it may fail. */
static CtCore *step_test(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element, bool all) {
    CtVar *x = ct_core_list_var(s, "x", element->type);
    CtCore *tested = ct_core_list_use(s, x), *test = ct_core_list_apply(s, stage->fun, &tested);
    CtCore *decided = ct_core_bool(s->p, s->range, !all);
    CtCore *next =
        all ? ct_core_if(s->p, s->range, state, test, decided) : ct_core_if(s->p, s->range, state, decided, test);
    return ct_core_let(s->p, s->range, x, element, next);
}

static CtCore *step_all(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element) {
    return step_test(s, stage, state, element, true);
}

static CtCore *step_any(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element) {
    return step_test(s, stage, state, element, false);
}

static CtCore *step_count(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element) {
    (void)stage;
    CtVar *x = ct_core_list_var(s, "x", element->type);
    CtCore *more = ct_core_prim2(s->p, s->range, PRIM_INT_ADD, state, ct_core_int(s->p, s->range, 1));
    return ct_core_let(s->p, s->range, x, element, more);
}

static CtCore *step_snoc(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element) {
    (void)stage;
    return ct_core_list_array(s, ARRAY_SNOC, state, element, NULL);
}

/* The element itself. The state is what stands for an element that is left out. */
static CtCore *step_itself(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element) {
    (void)s;
    (void)stage;
    (void)state;
    return element;
}

/* ---- map and filter ---- */

static CtCore *step_map(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element) {
    CtCore *made = ct_core_list_apply(s, stage->fun, &element);
    if (stage->next->step == ct_core_list_step_concat) return go_on(s, stage, state, made);
    CtVar *y = ct_core_list_var(s, "y", made->type);
    CtCore *rest = go_on(s, stage, state, ct_core_list_use(s, y));
    return rest != NULL ? ct_core_let(s->p, s->range, y, made, rest) : NULL;
}

static CtCore *step_filter(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element) {
    CtVar *x = ct_core_list_var(s, "x", element->type);
    CtCore *tested = ct_core_list_use(s, x), *test = ct_core_list_apply(s, stage->fun, &tested);
    CtCore *kept = go_on(s, stage, state, ct_core_list_use(s, x));
    if (kept == NULL) return NULL;
    return ct_core_let(s->p, s->range, x, element,
                       ct_core_if(s->p, s->range, test, kept, ct_core_list_again(s, state)));
}

/* ---- comprehensions ---- */

/* The branch of a loop for the empty list (0 fields), or for the others (2). */
static const CtCase *branch(const CtLam *loop, uint32_t fields) {
    const CtCore *body = loop->body;
    return &body->as.cases.cases[body->as.cases.cases[0].con->count == fields ? 0 : 1];
}

bool ct_core_list_is_loop(const CtCore *letrec) {
    if (letrec->kind != CORE_LETREC || letrec->as.letrec.count != 1) return false;
    const CtLam *lam = letrec->as.letrec.binds[0].lam->as.lam;
    const CtCore *body = lam->body;
    if (lam->origin != NULL || lam->count != 1 || body->kind != CORE_CASE) return false;
    return ct_core_list_is_list(body->type) && ct_core_list_is_list(lam->params[0]->type) &&
           body->as.cases.count == 2 && body->as.cases.otherwise == NULL &&
           body->as.cases.scrutinee->kind == CORE_VAR && body->as.cases.scrutinee->as.var == lam->params[0];
}

static bool is_empty_list(const CtCore *core) { return core->kind == CORE_CON && core->as.call.count == 0; }

static bool is_call_of(const CtCore *core, const CtVar *loop, const CtVar *rest) {
    return core->kind == CORE_APP && core->as.call.of.fun->kind == CORE_VAR && core->as.call.of.fun->as.var == loop &&
           core->as.call.args[0]->kind == CORE_VAR && core->as.call.args[0]->as.var == rest;
}

static CtListCount count_elements(const CtCore *body, const CtVar *self, const CtVar *rest) {
    while (body->kind == CORE_LET || body->kind == CORE_UNPACK) body = body->as.let.body;
    if (is_call_of(body, self, rest)) return (CtListCount){0, 0};
    if (body->kind == CORE_CON && body->as.call.count == 2 && is_call_of(body->as.call.args[1], self, rest))
        return (CtListCount){1, 1};
    if (body->kind != CORE_CASE) return (CtListCount){0, 2};
    CtListCount all = {2, 0};
    for (uint32_t i = 0; i <= body->as.cases.count; i++) {
        const CtCore *one = i < body->as.cases.count ? body->as.cases.cases[i].body : body->as.cases.otherwise;
        if (one == NULL) continue;
        CtListCount count = count_elements(one, self, rest);
        if (count.least < all.least) all.least = count.least;
        if (count.most > all.most) all.most = count.most;
    }
    return all;
}

/* Whether evaluating the body of a loop may fail, calls of the loop left out. */
static bool may_fail(const CtCore *body, const CtVar *self, const CtVar *rest) {
    for (; body->kind == CORE_LET || body->kind == CORE_UNPACK; body = body->as.let.body)
        if (!ct_core_is_total(body->as.let.rhs)) return true;
    if (is_call_of(body, self, rest)) return false;
    if (body->kind == CORE_CON && body->as.call.count == 2)
        return !ct_core_is_total(body->as.call.args[0]) || may_fail(body->as.call.args[1], self, rest);
    if (body->kind != CORE_CASE || !ct_core_is_total(body->as.cases.scrutinee)) return true;
    for (uint32_t i = 0; i < body->as.cases.count; i++)
        if (may_fail(body->as.cases.cases[i].body, self, rest)) return true;
    return body->as.cases.otherwise != NULL && may_fail(body->as.cases.otherwise, self, rest);
}

static CtCore *produce(CtLists *s, const CtListStage *stage, CtCore *body, CtCore *state);

static CtCore *produce_cons(CtLists *s, const CtListStage *stage, CtCore *cons, CtCore *state) {
    CtCore *one = go_on(s, stage, state, cons->as.call.args[0]), *tail = cons->as.call.args[1];
    if (one == NULL || is_call_of(tail, stage->self, stage->rest)) return one;
    CtVar *so_far = ct_core_list_var(s, "state", one->type);
    CtCore *others = produce(s, stage, tail, ct_core_list_use(s, so_far));
    return others != NULL ? ct_core_let(s->p, s->range, so_far, one, others) : NULL;
}

/* let x = an element of the source in body, until there is none left or the state is decided:
 *
 *     letrec test i state = if i < count then if state then test (i + 1) body else False else state
 *     in test 0 start
 */
static CtCore *test_elements(CtLists *s, const CtListSource *source, CtVar *state, CtVar *x, CtCore *body,
                             CtCore *start, bool all) {
    CtProgram *p = s->p;
    CtVar *i = ct_core_list_var(s, "i", p->int_type), *params[] = {i, state};
    CtType *types[] = {p->int_type, state->type};
    CtVar *test = ct_core_list_var(s, "test", ct_core_type_fun(p, types, 2, state->type));
    CtBindings around = {0};
    CtCore *count = ct_core_list_bind_atom(s, &around, "count", ct_core_list_count(s, source));
    CtCore *is_there = ct_core_prim2(p, s->range, PRIM_INT_LT, ct_core_list_use(s, i), count);
    body = ct_core_let(p, s->range, x, ct_core_list_at(s, source, ct_core_list_use(s, i)), body);
    CtCore *next = ct_core_prim2(p, s->range, PRIM_INT_ADD, ct_core_list_use(s, i), ct_core_int(p, s->range, 1));
    CtCore *given[] = {next, body}, *first[] = {ct_core_int(p, s->range, 0), start};
    CtCore *more = ct_core_app(p, s->range, ct_core_list_use(s, test), given, 2);
    CtCore *decided = ct_core_bool(p, s->range, !all), *so_far = ct_core_list_use(s, state);
    CtCore *undecided =
        all ? ct_core_if(p, s->range, so_far, more, decided) : ct_core_if(p, s->range, so_far, decided, more);
    CtCore *choice = ct_core_if(p, s->range, is_there, undecided, ct_core_list_use(s, state));
    CtCore *fun = ct_core_lam(p, s->range, "test", params, 2, choice);
    CtCore *begun = ct_core_app(p, s->range, ct_core_list_use(s, test), first, 2);
    CT_FIRED("lists.decided");
    return ct_core_list_wrap(s, &around, ct_core_letrec(p, s->range, &(CtBind){test, fun}, 1, begun));
}

static const CtListStage *last_of(const CtListStage *stage) {
    while (stage->next != NULL) stage = stage->next;
    return stage;
}

/* foldl (λstate x. body) start source, for this stage and those behind it */
static CtCore *fold(CtLists *s, const CtListStage *stage, const CtListSource *source, CtVar *state, CtVar *x,
                    CtCore *body, CtCore *start) {
    const CtListStage *last = last_of(stage);
    if (last->ends) return test_elements(s, source, state, x, body, start, last->step == step_all);
    body = ct_core_list_taking_row(s, source, &x, body);
    CtListSource indices = *source;
    if (source->maker != NULL) { /* over its indices */
        CtVar *i = ct_core_list_var(s, "i", s->p->int_type);
        indices.maker = NULL;
        CtCore *index = ct_core_list_use(s, i);
        body = ct_core_list_with_element(s, x, ct_core_list_apply(s, source->maker->node, &index), body);
        x = i;
    }
    CtVar *params[] = {state, x};
    CtCore *fun = ct_core_lam(s->p, s->range, NULL, params, 2, body);
    return ct_core_list_array(s, ARRAY_FOLDL, fun, start, ct_core_list_source_array(s, &indices));
}

/* Whether what is made for an element needs the loop, its list or what is left of that: they are not there. */
static bool needs_loop(CtLists *s, const CtListStage *stage, CtCore *body) {
    return ct_core_list_occurs(s, body, stage->self) || ct_core_list_occurs(s, body, stage->loop->params[0]) ||
           (stage->rest != NULL && ct_core_list_occurs(s, body, stage->rest));
}

/* A loop in a loop, for the second of two generators. It ends with the rest of the outer loop. */
static CtCore *produce_inner(CtLists *s, const CtListStage *stage, CtCore *letrec, CtCore *start) {
    const CtLam *loop = letrec->as.letrec.binds[0].lam->as.lam;
    const CtCase *nil = branch(loop, 0), *cons = branch(loop, 2);
    CtVar *self = letrec->as.letrec.binds[0].var;
    CtBindings around = {0};
    CtCore *called = letrec->as.letrec.body;
    for (; called->kind == CORE_LET; called = called->as.let.body) {
        if (ct_core_list_occurs(s, called->as.let.rhs, self)) return NULL; /* it is taken out of the letrec */
        ct_push(s->p->context->arena, &around, ((CtBinding){called->as.let.vars[0], called->as.let.rhs}));
    }
    bool own =
        called->kind == CORE_APP && called->as.call.of.fun->kind == CORE_VAR && called->as.call.of.fun->as.var == self;
    CtListSource source;
    if (!own || !is_call_of(nil->body, stage->self, stage->rest) ||
        ct_core_list_occurs(s, called->as.call.args[0], self) ||
        !ct_core_list_source(s, called->as.call.args[0], &around, &source))
        return NULL;
    CT_FIRED("lists.generator");
    CtListStage inner = *stage;
    inner.loop = loop;
    inner.self = self;
    inner.rest = cons->vars[1];
    CtVar *state = ct_core_list_var(s, "state", stage->state), *x = cons->vars[0];
    if (x == NULL) x = ct_core_list_var(s, "x", ct_core_list_source_type(s, &source));
    CtCore *body = produce(s, &inner, cons->body, ct_core_list_use(s, state));
    if (body == NULL || needs_loop(s, &inner, body)) return NULL;
    return ct_core_list_wrap(s, &around, fold(s, stage, &source, state, x, body, start));
}

static CtCore *produce_case(CtLists *s, const CtListStage *stage, CtCore *body, CtCore *state) {
    uint32_t count = body->as.cases.count;
    CtCase *cases = CT_NEW_ARRAY(s->p->context->arena, CtCase, count);
    for (uint32_t i = 0; i < count; i++) {
        cases[i] = body->as.cases.cases[i];
        cases[i].body = produce(s, stage, cases[i].body, ct_core_list_again(s, state));
        if (cases[i].body == NULL) return NULL;
    }
    CtCore *otherwise = body->as.cases.otherwise;
    if (otherwise != NULL) {
        otherwise = produce(s, stage, otherwise, ct_core_list_again(s, state));
        if (otherwise == NULL) return NULL;
    }
    return ct_core_case(s->p, body->range, stage->state, body->as.cases.scrutinee, cases, count, otherwise);
}

/* The body of a loop, in which each element goes to the next stage instead of in front of the rest. The body is used
 * up. */
static CtCore *produce(CtLists *s, const CtListStage *stage, CtCore *body, CtCore *state) {
    CtProgram *p = s->p;
    if (is_call_of(body, stage->self, stage->rest)) return state;
    if (body->kind == CORE_CON && body->as.call.count == 2) return produce_cons(s, stage, body, state);
    if (ct_core_list_is_loop(body)) return produce_inner(s, stage, body, state);
    if (body->kind == CORE_CASE) return produce_case(s, stage, body, state);
    if (body->kind != CORE_LET && body->kind != CORE_UNPACK) return NULL;
    CtCore *rest = produce(s, stage, body->as.let.body, state);
    if (rest == NULL) return NULL;
    if (body->kind == CORE_LET) return ct_core_let(p, body->range, body->as.let.vars[0], body->as.let.rhs, rest);
    return ct_core_unpack(p, body->range, body->as.let.vars, body->as.let.count, body->as.let.rhs, rest);
}

static CtCore *step_comprehension(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element) {
    const CtLam *loop = ct_core_list_copy(s, stage->loop->node)->as.lam;
    const CtCase *cons = branch(loop, 2);
    CtListStage own = *stage;
    own.loop = loop;
    own.rest = cons->vars[1];
    CtVar *x = cons->vars[0];
    CtCore *body = produce(s, &own, cons->body, state);
    if (body == NULL || needs_loop(s, &own, body)) return NULL;
    if (x == NULL) x = ct_core_list_var(s, "x", element->type);
    return ct_core_let(s->p, s->range, x, element, body);
}

/* ---- chains of stages ---- */

/* The loop that a list is made by, its variable and the list that it goes through; NULL if there is none. */
static const CtLam *loop_of(CtLists *s, CtCore *list, CtVar **self, CtCore **over) {
    const CtLam *loop = NULL;
    CtCore *app = list;
    if (ct_core_list_is_loop(list)) {
        loop = list->as.letrec.binds[0].lam->as.lam;
        app = list->as.letrec.body;
    }
    if (app->kind != CORE_APP || app->as.call.of.fun->kind != CORE_VAR) return NULL;
    *self = app->as.call.of.fun->as.var;
    *over = app->as.call.args[0];
    if (loop == NULL)
        loop = ct_map_get(&s->loops, ct_key(*self));
    else if (*self != list->as.letrec.binds[0].var || ct_core_list_occurs(s, *over, *self))
        return NULL; /* the list is taken out of where the loop is known */
    return loop != NULL && is_empty_list(branch(loop, 0)->body) ? loop : NULL;
}

/* The list that a stage takes its elements from; NULL if the list is not made by one. */
static CtCore *find_stage(CtLists *s, CtCore *list, CtListStage *stage) {
    CtVar *self = NULL;
    CtCore *over = NULL;
    const CtLam *loop = loop_of(s, list, &self, &over);
    if (loop != NULL) {
        const CtCase *cons = branch(loop, 2);
        *stage = (CtListStage){.step = step_comprehension, .loop = loop, .self = self};
        stage->partial = may_fail(cons->body, self, cons->vars[1]);
        stage->count = count_elements(cons->body, self, cons->vars[1]);
        return over;
    }
    CtListFunction function = ct_core_list_call(list);
    if ((function != LIST_MAP && function != LIST_FILTER) || !ct_core_list_is_known(list->as.call.args[0])) return NULL;
    *stage = (CtListStage){.step = function == LIST_MAP ? step_map : step_filter, .fun = list->as.call.args[0]};
    stage->partial = !is_total_function(stage->fun);
    stage->count = (CtListCount){function == LIST_MAP, 1};
    return list->as.call.args[1];
}

static CtCore *find_concat(CtCore *list, CtListStage *stage) {
    *stage = (CtListStage){.step = ct_core_list_step_concat, .count = {0, 2}};
    return list->as.call.args[2];
}

static bool is_made_by_loop(CtLists *s, CtCore *list) {
    CtVar *self;
    CtCore *over;
    for (; ct_core_list_call(list) == LIST_MAP; list = list->as.call.args[1]) continue;
    return ct_core_list_call(list) == LIST_FILTER || loop_of(s, list, &self, &over) != NULL;
}

/* A map whose elements are only made until a test is decided, or which are lists that are not made. */
static bool is_short_map(const CtListStage *last, const CtListStage *next, const CtCore *list) {
    if (ct_core_list_call(list) != LIST_MAP) return false;
    return next->step == ct_core_list_step_concat || (last->is_test && is_total_function(list->as.call.args[0]));
}

static bool may_any_fail(const CtListStage *stage) {
    while (stage != NULL && !stage->partial) stage = stage->next;
    return stage != NULL;
}

/* A list without an array, whose parts are taken one after the other. */
static bool find_parts(CtLists *s, CtCore *list, CtListChain *chain) {
    bool parts = ct_core_list_has_parts(s, list);
    if (!parts && chain->first->step != ct_core_list_step_concat) return false;
    if (parts && chain->partial && !ct_core_is_total(list)) return false;
    chain->parts = list;
    return true;
}

/* How many elements two stages make of one, where 2 stands for more. */
static uint32_t of_both(uint32_t a, uint32_t b) { return a * b > 2 ? 2 : a * b; }

/* Two stages that may fail do not go into one loop: what comes before the second is made. */
bool ct_core_list_chain(CtLists *s, CtCore *list, const CtListStage *last, CtListChain *chain) {
    *chain = (CtListChain){.first = last, .partial = may_any_fail(last), .count = {1, 1}};
    if (!ct_core_list_may_try(s)) return false;
    for (;;) {
        list = ct_core_list_open(s, list, &chain->around);
        bool concat = ct_core_list_is_concat(list);
        if (!concat && !is_made_by_loop(s, list) && !is_short_map(last, chain->first, list)) break;
        CtListStage *stage = CT_NEW(s->p->context->arena, CtListStage);
        CtCore *from = concat ? find_concat(list, stage) : find_stage(s, list, stage);
        if (from == NULL) return false;
        if (chain->partial && stage->partial) break;
        stage->next = chain->first;
        stage->state = last->state;
        chain->first = stage;
        chain->partial = chain->partial || stage->partial;
        chain->count.least = of_both(chain->count.least, stage->count.least);
        chain->count.most = of_both(chain->count.most, stage->count.most);
        list = from;
    }
    uint32_t opened = s->opened.count, bindings = chain->around.count;
    if (ct_core_list_source(s, list, &chain->around, &chain->source)) return true;
    s->opened.count = opened;
    chain->around.count = bindings;
    return find_parts(s, list, chain);
}

CtCore *ct_core_list_run_chain(CtLists *s, const CtListChain *chain, CtCore *start) {
    if (chain->parts != NULL && ct_core_list_has_parts(s, chain->parts))
        return ct_core_list_parts(s, chain->first, chain->parts, start);
    if (chain->parts != NULL) return ct_core_list_over_cells(s, chain->first, chain->parts, start);
    CtVar *state = ct_core_list_var(s, "state", chain->first->state);
    CtVar *x = ct_core_list_var(s, "x", ct_core_list_source_type(s, &chain->source));
    CtCore *body = chain->first->step(s, chain->first, ct_core_list_use(s, state), ct_core_list_use(s, x));
    return body != NULL ? fold(s, chain->first, &chain->source, state, x, body, start) : NULL;
}

/* The array of the elements, with `none` for those that are left out. */
static CtCore *run_elements(CtLists *s, const CtListChain *chain, CtCore *none) {
    CtVar *x = ct_core_list_var(s, "x", ct_core_list_source_type(s, &chain->source));
    CtCore *body = chain->first->step(s, chain->first, none, ct_core_list_use(s, x));
    return body != NULL ? ct_core_list_map_source(s, &chain->source, x, body) : NULL;
}

/* The array grows by each element, unless one is left out at an index. */
static CtCore *collected_array(CtLists *s, CtCore *list) {
    CtType *element = ct_core_list_element(list->type);
    CtListChain chain;
    CtListStage snoc = {.step = step_snoc, .state = ct_core_type_array(s->p, element)};
    if (element->kind == TYPE_ARRAY || !ct_core_list_chain(s, list, &snoc, &chain)) return NULL;
    CtCore *but_one = chain.count.most == 1 ? ct_core_list_but_one(s, &chain) : NULL;
    if (but_one != NULL) return ct_core_list_wrap(s, &chain.around, but_one);
    CtCore *array = ct_core_list_run_chain(s, &chain, ct_core_array_lit(s->p, s->range, element, NULL, 0));
    return array != NULL && CT_FIRED("lists.collected") ? ct_core_list_wrap(s, &chain.around, array) : NULL;
}

CtCore *ct_core_list_loop_array(CtLists *s, CtCore *list) {
    if (!is_made_by_loop(s, list)) return NULL;
    CtType *element = ct_core_list_element(list->type);
    CtListChain chain;
    CtListStage itself = {.step = step_itself, .state = element};
    if (!ct_core_list_chain(s, list, &itself, &chain)) return NULL;
    if (chain.parts != NULL || chain.count.least != 1 || chain.count.most != 1) return collected_array(s, list);
    CT_FIRED("lists.comprehension");
    CtCore *array = run_elements(s, &chain, NULL);
    return array != NULL ? ct_core_list_wrap(s, &chain.around, array) : NULL;
}

/* ---- consumers ---- */

static bool is_number(const CtType *type) {
    return type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT || type->kind == TYPE_INT;
}

static bool is_literal(const CtCore *core, double value) {
    if (core->kind != CORE_LIT) return false;
    return core->type->kind == TYPE_INT ? core->as.lit.integer == (int64_t)value
                                        : core->as.lit.real == value && !(value == 0 && 1 / core->as.lit.real < 0);
}

/* Whether a fold adds all numbers to 0, or multiplies 1 by them. */
static bool is_sum(const CtCore *fun, const CtCore *start, CtPrim real, CtPrim integer, double neutral) {
    if (fun->kind != CORE_LAM || !is_number(start->type) || !is_literal(start, neutral)) return false;
    const CtLam *lam = fun->as.lam;
    const CtCore *body = lam->body;
    if (body->kind != CORE_PRIM || body->as.call.of.prim != (start->type->kind == TYPE_INT ? integer : real))
        return false;
    CtCore **args = body->as.call.args;
    return args[0]->kind == CORE_VAR && args[0]->as.var == lam->params[0] && args[1]->kind == CORE_VAR &&
           args[1]->as.var == lam->params[1];
}

/* What changes no sum or product: −0.0, not 0.0, since 0.0 − 0.0 is 0.0. */
static CtCore *neutral_element(CtLists *s, CtType *type, bool is_product) {
    if (type->kind == TYPE_INT) return ct_core_int(s->p, s->range, is_product);
    return ct_core_real(s->p, s->range, type, is_product ? 1.0 : -0.0);
}

static CtCore *consume_sum(CtLists *s, CtCore *list, CtType *type, bool is_product) {
    CtListStage itself = {.step = step_itself, .state = type};
    CtListChain chain;
    if (!ct_core_list_chain(s, list, &itself, &chain) || chain.parts != NULL || chain.count.most > 1) return NULL;
    CtCore *array = chain.first == &itself ? ct_core_list_source_array(s, &chain.source)
                                           : run_elements(s, &chain, neutral_element(s, type, is_product));
    if (array == NULL) return NULL;
    CT_FIRED("lists.sum");
    return ct_core_list_wrap(s, &chain.around,
                             ct_core_list_array(s, is_product ? ARRAY_PRODUCT : ARRAY_SUM, array, NULL, NULL));
}

/* Whether the elements are numbers of one range, so that those behind the one that decides a test cost nothing, and
 * none of the stages in front of the test may fail. */
static bool is_source_free(const CtListChain *chain) {
    const CtListStage *stage = chain->first;
    while (stage->next != NULL && !stage->partial) stage = stage->next;
    return stage->next == NULL && chain->parts == NULL && chain->source.array == NULL && chain->source.maker == NULL;
}

static CtCore *consume_by(CtLists *s, CtCore *list, CtListStage last, CtCore *start) {
    CtBindings around = {0};
    if (last.fun != NULL) last.fun = ct_core_list_fun(s, last.fun, &around);
    start = ct_core_list_bind_atom(s, &around, "start", start);
    CtListChain chain;
    if (last.fun != NULL && !ct_core_list_is_known(last.fun)) return NULL;
    last.partial = last.fun != NULL && !is_total_function(last.fun);
    if (!ct_core_list_chain(s, list, &last, &chain)) return NULL;
    last.ends = last.is_test && is_source_free(&chain);
    CtCore *made = ct_core_list_run_chain(s, &chain, start);
    if (made == NULL) return NULL;
    CT_FIRED("lists.fold");
    return ct_core_list_wrap(s, &around, ct_core_list_wrap(s, &chain.around, made));
}

/* The elements of an array from the last on, each read where it is: no array is reversed, nor is its adjoint. */
static CtListSource from_the_end(CtLists *s, CtBindings *around, CtCore *array) {
    CtProgram *p = s->p;
    CtVar *whole = ct_core_list_bind(s, around, "array", array), *index = ct_core_list_var(s, "i", p->int_type);
    CtCore *length[] = {ct_core_list_use(s, whole)};
    CtCore *count = ct_core_list_bind_atom(s, around, "n", ct_core_array(p, s->range, ARRAY_LENGTH, length, 1));
    CtCore *last = ct_core_prim2(p, s->range, PRIM_INT_SUB, count, ct_core_int(p, s->range, 1));
    last = ct_core_list_bind_atom(s, around, "last", last);
    CtCore *at = ct_core_prim2(p, s->range, PRIM_INT_SUB, last, ct_core_list_use(s, index));
    CtCore *item = ct_core_list_array(s, ARRAY_INDEX, ct_core_list_use(s, whole), at, NULL);
    const CtLam *maker = ct_core_lam(p, s->range, NULL, &index, 1, item)->as.lam;
    return (CtListSource){.maker = maker, .from = ct_core_int(p, s->range, 0), .count = count, .range = s->range};
}

static CtCore *consume_right(CtLists *s, CtCore *const *args) {
    CtBindings around = {0};
    CtCore *fun = ct_core_list_fun(s, args[0], &around);
    CtCore *start = ct_core_list_bind_atom(s, &around, "start", args[1]);
    CtCore *array = ct_core_list_is_known(fun) ? ct_core_list_to_array(s, args[2]) : NULL;
    if (array == NULL) return NULL;
    CT_FIRED("lists.foldr");
    CtListStage last = {.step = step_foldr, .fun = fun, .state = start->type};
    CtListChain chain = {.first = &last};
    chain.source = from_the_end(s, &around, array);
    return ct_core_list_wrap(s, &around, ct_core_list_run_chain(s, &chain, start));
}

static CtCore *consume_length(CtLists *s, CtCore *list) {
    CtListStage count = {.step = step_count, .state = s->p->int_type};
    if (is_made_by_loop(s, list)) return consume_by(s, list, count, ct_core_int(s->p, s->range, 0));
    const CtListSource *known = list->kind == CORE_VAR ? ct_map_get(&s->sources, ct_key(list->as.var)) : NULL;
    if (known != NULL && CT_FIRED("lists.known_length")) return ct_core_list_count(s, known);
    CtCore *array = ct_core_list_to_array(s, list);
    if (array == NULL) return NULL;
    CT_FIRED("lists.length");
    return ct_core_list_array(s, ARRAY_LENGTH, array, NULL, NULL);
}

/* Of numbers; an empty list is given to the function itself, which fails. */
static CtCore *consume_extreme(CtLists *s, CtCore *app, CtArrayOp op) {
    CtProgram *p = s->p;
    CtCore *list = app->as.call.args[0];
    if (!is_number(app->type)) return NULL;
    CtBindings around = {0};
    CtCore *array = ct_core_list_to_array(s, list);
    if (array == NULL) return NULL;
    CT_FIRED("lists.extreme");
    CtVar *xs = ct_core_list_bind(s, &around, "array", array);
    CtCore *length = ct_core_list_array(s, ARRAY_LENGTH, ct_core_list_use(s, xs), NULL, NULL);
    CtCore *none = ct_core_prim2(p, s->range, PRIM_INT_EQ, length, ct_core_int(p, s->range, 0));
    CtCore *empty = ct_core_list_empty(s, list->type);
    CtCore *failing = ct_core_app(p, s->range, ct_core_global(p, s->range, app->as.call.of.fun->as.global), &empty, 1);
    CtCore *most = ct_core_list_array(s, op, ct_core_list_use(s, xs), NULL, NULL);
    return ct_core_list_wrap(s, &around, ct_core_if(p, s->range, none, failing, most));
}

/* `head` and `null` of a list that loops make of one without an array. */
static CtCore *consume_first(CtLists *s, CtCore *app) {
    CtCore *from = app->as.call.args[0];
    CtVar *self;
    while (from->kind == CORE_LET) from = from->as.let.body;
    if (!is_made_by_loop(s, from)) return NULL;
    while (from->kind != CORE_VAR) {
        CtCore *over = NULL;
        CtListFunction function = ct_core_list_call(from);
        if (from->kind == CORE_LET)
            over = from->as.let.body;
        else if (function == LIST_MAP || function == LIST_FILTER)
            over = from->as.call.args[1];
        else if (loop_of(s, from, &self, &over) == NULL)
            break;
        from = over;
    }
    if (from->kind == CORE_VAR && ct_map_get(&s->sources, ct_key(from->as.var)) != NULL) return NULL;
    return ct_core_list_tested(s, app);
}

/* One element: a list, if the source has rows, or with `as_array` the row itself. */
static CtCore *element_at(CtLists *s, const CtListSource *source, CtCore *index, bool as_array) {
    CtListSource of = *source;
    if (as_array) of.row = NULL;
    return ct_core_list_at(s, &of, index);
}

/* The first or the last element; an empty list is given to the function itself, which fails. */
static CtCore *end_of_list(CtLists *s, CtCore *app, bool first, bool as_array) {
    CtProgram *p = s->p;
    CtBindings around = {0};
    CtListSource source;
    if (!ct_core_list_source(s, app->as.call.args[0], &around, &source) || (as_array && source.row == NULL))
        return NULL;
    CT_FIRED("lists.end");
    CtCore *one = ct_core_int(p, s->range, 1),
           *count = ct_core_list_bind_atom(s, &around, "count", ct_core_list_count(s, &source));
    CtCore *none = ct_core_prim2(p, s->range, PRIM_INT_LT, ct_core_list_again(s, count), one);
    CtCore *empty = ct_core_list_empty(s, app->as.call.args[0]->type);
    CtCore *failing = ct_core_app(p, app->range, app->as.call.of.fun, &empty, 1);
    if (as_array) failing = ct_core_list_from_list(p, failing);
    CtCore *index = first ? ct_core_int(p, s->range, 0)
                          : ct_core_prim2(p, s->range, PRIM_INT_SUB, count, ct_core_list_again(s, one));
    CtCore *element = element_at(s, &source, index, as_array);
    return ct_core_list_wrap(s, &around, ct_core_if(p, s->range, none, failing, element));
}

static CtCore *consume_end(CtLists *s, CtCore *app, bool first) {
    CtCore *tested = first ? consume_first(s, app) : NULL;
    return tested != NULL ? tested : end_of_list(s, app, first, false);
}

/* list !! n. With an index outside of the list it fails as the function itself does. */
static CtCore *element_of_list(CtLists *s, CtCore *app, bool as_array) {
    CtProgram *p = s->p;
    CtBindings around = {0};
    CtListSource source;
    CtGlobal *message = p->library != NULL ? p->library(p->library_data, NULL, "outsideOfList") : NULL;
    if (message == NULL || !ct_core_list_source(s, app->as.call.args[0], &around, &source)) return NULL;
    if (as_array && source.row == NULL) return NULL;
    CT_FIRED("lists.at");
    CtCore *n = ct_core_list_bind_atom(s, &around, "n", app->as.call.args[1]);
    CtCore *count = ct_core_list_bind_atom(s, &around, "count", ct_core_list_count(s, &source));
    CtCore *below = ct_core_prim2(p, s->range, PRIM_INT_LT, ct_core_list_again(s, n), ct_core_int(p, s->range, 0));
    CtCore *within = ct_core_prim2(p, s->range, PRIM_INT_LT, ct_core_list_again(s, n), ct_core_list_again(s, count));
    CtCore *inside = ct_core_if(p, s->range, below, ct_core_bool(p, s->range, false), within);
    CtCore *given[] = {ct_core_list_again(s, n), count};
    CtCore *text = ct_core_app(p, app->range, ct_core_global(p, app->range, message), given, 2);
    CtCore *element = element_at(s, &source, n, as_array);
    CtCore *fails = ct_core_fail(p, app->range, element->type, CT_E0503, NULL, text);
    return ct_core_list_wrap(s, &around, ct_core_if(p, s->range, inside, element, fails));
}

CtCore *ct_core_list_row_at(CtLists *s, CtCore *app) {
    CtListFunction function = ct_core_list_call(app);
    if (!ct_core_list_may_have_rows(app->as.call.args[0]->type)) return NULL;
    CtCore *row =
        function == LIST_AT ? element_of_list(s, app, true) : end_of_list(s, app, function == LIST_HEAD, true);
    return row != NULL && CT_FIRED("lists.row") ? row : NULL;
}

static CtCore *consume_null(CtLists *s, CtCore *app) {
    CtBindings around = {0};
    CtListSource source;
    CtCore *tested = consume_first(s, app);
    if (tested != NULL) return tested;
    if (!ct_core_list_source(s, app->as.call.args[0], &around, &source)) return NULL;
    CtCore *none =
        ct_core_prim2(s->p, s->range, PRIM_INT_LT, ct_core_list_count(s, &source), ct_core_int(s->p, s->range, 1));
    return ct_core_list_wrap(s, &around, none);
}

static CtCore *consume_left(CtLists *s, CtCore *const *args) {
    CtCore *fun = args[0], *start = args[1], *list = args[2], *sum = NULL;
    if (is_sum(fun, start, PRIM_ADD, PRIM_INT_ADD, 0)) sum = consume_sum(s, list, start->type, false);
    if (is_sum(fun, start, PRIM_MUL, PRIM_INT_MUL, 1)) sum = consume_sum(s, list, start->type, true);
    if (sum != NULL) return sum;
    return consume_by(s, list, (CtListStage){.step = step_foldl, .fun = fun, .state = start->type}, start);
}

/* `all` and `any`. */
static CtCore *consume_test(CtLists *s, CtCore *app, bool all) {
    CtCore *const *args = app->as.call.args;
    CtListStage last = {.step = all ? step_all : step_any, .fun = args[0], .state = app->type, .is_test = true};
    CtCore *made = consume_by(s, args[1], last, ct_core_bool(s->p, s->range, all));
    if (made != NULL) return made;
    s->opened.count = 0;
    return ct_core_list_tested(s, app);
}

/* What a function gives for each element as an array; NULL if it may fail. */
static CtCore *total_row(CtLists *s, CtCore *body) {
    if (body->kind == CORE_LET) {
        if (!ct_core_is_total(body->as.let.rhs)) return NULL;
        CtCore *row = total_row(s, body->as.let.body);
        return row != NULL ? ct_core_let(s->p, body->range, body->as.let.vars[0], body->as.let.rhs, row) : NULL;
    }
    if (ct_core_list_call(body) == LIST_TO_ARRAY) body = ct_core_list_to_array(s, body->as.call.args[0]);
    const CtCore *of = body;
    bool maps = of != NULL && of->kind == CORE_ARRAY && of->as.call.of.array == ARRAY_MAP;
    if (maps && of->type->parts[0]->kind != TYPE_ARRAY && is_total_function(of->as.call.args[0]))
        of = of->as.call.args[1];
    return of != NULL && ct_core_is_total(of) ? body : NULL;
}

/* The array of the arrays that a function gives, of which all are made before one of them is found to have another
 * length than the first: map fst (build n (λi. (row, ()))), since an array of tuples keeps them by reference. */
static CtCore *array_behind_rows(CtLists *s, const CtCore *array, uint32_t place, CtCore *row) {
    CtProgram *p = s->p;
    CtCore *args[] = {array->as.call.args[0], array->as.call.args[1]};
    const CtLam *lam = array->as.call.args[place]->as.lam;
    CtCore *pair = ct_core_pair(p, row->range, row, ct_core_unit(p, row->range));
    args[place] = ct_core_lam(p, array->as.call.args[place]->range, lam->name, lam->params, lam->count, pair);
    CtCore *rows = ct_core_array(p, s->range, array->as.call.of.array, args, 2);
    CtVar *each = ct_core_list_var(s, "row", pair->type);
    CtCore *first = ct_core_lam(p, s->range, NULL, &each, 1, ct_core_proj(p, s->range, ct_core_list_use(s, each), 0));
    CtCore *mapped[] = {first, rows};
    return ct_core_array(p, s->range, ARRAY_MAP, mapped, 2);
}

/* fromList of a list of arrays: an array that is made of another one. An array of arrays fails where an element has
 * another length than the first; so it is only made at once where nothing else fails before. */
static CtCore *array_of_arrays(CtLists *s, CtCore *list) {
    s->takes_arrays = true;
    CtCore *array = ct_core_list_to_array(s, list), *inner = array;
    s->takes_arrays = false;
    while (inner != NULL && inner->kind == CORE_LET) inner = inner->as.let.body;
    if (inner == NULL || inner->kind != CORE_ARRAY) return NULL;
    CtArrayOp op = inner->as.call.of.array;
    CtCore **fun = op == ARRAY_MAP ? &inner->as.call.args[0] : op == ARRAY_BUILD ? &inner->as.call.args[1] : NULL;
    if (fun == NULL || (*fun)->kind != CORE_LAM || (*fun)->as.lam->origin != NULL) return NULL;
    const CtLam *lam = (*fun)->as.lam;
    CtCore *row = total_row(s, lam->body);
    if (row == NULL) {
        CT_FIRED("lists.rows_of_array");
        *inner = *array_behind_rows(s, inner, op == ARRAY_MAP ? 0 : 1, lam->body);
        return array;
    }
    *fun = ct_core_lam(s->p, (*fun)->range, lam->name, lam->params, lam->count, row);
    inner->range = s->range;
    CT_FIRED("lists.array_of_arrays");
    return array;
}

static CtCore *consume_to_array(CtLists *s, CtCore *list) {
    if (ct_core_list_element(list->type)->kind == TYPE_ARRAY) return array_of_arrays(s, list);
    CtCore *array = ct_core_list_to_array(s, list);
    if (array != NULL || !ct_core_list_has_parts(s, list)) return array;
    s->opened.count = 0;
    return collected_array(s, list);
}

CtCore *ct_core_list_consumed(CtLists *s, CtCore *app) {
    CtCore *const *args = app->kind == CORE_APP ? app->as.call.args : NULL;
    CtListFunction function = ct_core_list_call(app);
    s->range = app->range;
    if (function == LIST_NONE) return NULL;
    const CtCore *list = args[function == LIST_AT ? 0 : app->as.call.count - 1];
    if (function != LIST_TO_ARRAY && is_empty_list(list)) return NULL;
    switch (function) {
    case LIST_FOLDL: return consume_left(s, args);
    case LIST_FOLDR: return consume_right(s, args);
    case LIST_ALL: return consume_test(s, app, true);
    case LIST_ANY: return consume_test(s, app, false);
    case LIST_LENGTH: return consume_length(s, args[0]);
    case LIST_MAXIMUM: return consume_extreme(s, app, ARRAY_MAXIMUM);
    case LIST_MINIMUM: return consume_extreme(s, app, ARRAY_MINIMUM);
    case LIST_HEAD: return consume_end(s, app, true);
    case LIST_LAST: return consume_end(s, app, false);
    case LIST_NULL: return consume_null(s, app);
    case LIST_TO_ARRAY: return consume_to_array(s, args[0]);
    case LIST_AT: return element_of_list(s, app, false);
    case LIST_NONE:
    case LIST_RANGE:
    case LIST_STEPS:
    case LIST_OF_ARRAY:
    case LIST_REPLICATE:
    case LIST_MAP:
    case LIST_ZIP_WITH:
    case LIST_REVERSE:
    case LIST_APPEND:
    case LIST_FILTER:
    case LIST_TAKE:
    case LIST_DROP:
    case LIST_TAIL:
    case LIST_INIT:
    case LIST_STREAM_TAKE:
    case LIST_ITERATE:
    case LIST_CYCLE:
    case LIST_ZIP_FIRST:
    case LIST_ZIP_SECOND:
    case LIST_SCANL:
    case LIST_INTERCALATE: break;
    }
    return NULL;
}
