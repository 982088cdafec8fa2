/* `all`, `any`, `head` and `null` of a list that comprehensions, map and filter make of a list without an array: the
 * test goes into the loop, which ends at the first element that decides.
 *
 *     all p (letrec loop xs = case xs of          letrec test xs = case xs of
 *         [] → []                                     [] → True
 *         x : rest → f x : loop rest           →      x : rest → if p (f x) then test rest else False
 *       in loop list)                               in test list
 *
 * The program evaluates all elements before it tests the first. So what makes them has to be total; the list that the
 * loop goes over is evaluated in front of it as before. */
#include "core/lists.h"

#include "base/rules.h"

typedef struct Test {
    CtLists *s;
    CtListFunction function; /* LIST_ALL, LIST_ANY, LIST_HEAD, LIST_NULL */
    CtCore *fun;             /* ALL, ANY */
    CtType *type;            /* of the result */
    CtCore *none;            /* the result for an empty list */
    CtVar *positive;         /* an element of a range from 1 or more; or NULL */
    CtVar *self, *rest;      /* the loop over that range, and what it has left of it */
    CtMap loops;             /* CtVar * of a loop -> CtVar * of the loop that tests */
} Test;

static CtCore *test(Test *t, CtCore *list);

static CtCore *truth(const Test *t, bool result) { return ct_core_bool(t->s->p, t->s->range, result); }

static bool is_rest(const Test *t, const CtCore *list) { return list->kind == CORE_VAR && list->as.var == t->rest; }

static CtCore *test_call(Test *t, CtCore *call) {
    CtCore *fun = call->as.call.of.fun;
    CtVar *loop = fun->kind == CORE_VAR ? ct_map_get(&t->loops, ct_key(fun->as.var)) : NULL;
    if (loop == NULL || !ct_core_is_total_for(call->as.call.args[0], t->positive)) return NULL;
    if (t->positive != NULL && fun->as.var == t->self && !is_rest(t, call->as.call.args[0])) return NULL;
    return ct_core_app(t->s->p, t->s->range, ct_core_list_use(t->s, loop), call->as.call.args, call->as.call.count);
}

static CtCore *test_cons(Test *t, CtCore *cons) {
    CtProgram *p = t->s->p;
    CtCore *element = cons->as.call.args[0], *rest = test(t, cons->as.call.args[1]);
    if (rest == NULL || !ct_core_is_total_for(element, t->positive)) return NULL;
    if (t->function == LIST_HEAD) return element;
    if (t->function == LIST_NULL) return truth(t, false);
    CtVar *x = ct_core_list_var(t->s, "x", element->type);
    CtCore *tested = ct_core_list_use(t->s, x), *holds = ct_core_list_apply(t->s, t->fun, &tested);
    CtCore *choice = t->function == LIST_ALL ? ct_core_if(p, t->s->range, holds, rest, truth(t, false))
                                             : ct_core_if(p, t->s->range, holds, truth(t, true), rest);
    return ct_core_let(p, t->s->range, x, element, choice);
}

static CtCore *test_case(Test *t, CtCore *list) {
    uint32_t count = list->as.cases.count;
    CtCase *cases = CT_NEW_ARRAY(t->s->p->context->arena, CtCase, count);
    CtCore *otherwise = list->as.cases.otherwise;
    if (!ct_core_is_total_for(list->as.cases.scrutinee, t->positive)) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        cases[i] = list->as.cases.cases[i];
        cases[i].body = test(t, cases[i].body);
        if (cases[i].body == NULL) return NULL;
    }
    if (otherwise != NULL && (otherwise = test(t, otherwise)) == NULL) return NULL;
    return ct_core_case(t->s->p, list->range, t->type, list->as.cases.scrutinee, cases, count, otherwise);
}

/* The loop that tests, in front of `begun`, its first call or what calls it. */
static CtCore *test_loop(Test *t, CtVar *self, const CtLam *lam, CtCore *(*begin)(Test *t, CtCore *call),
                         CtCore *call) {
    CtProgram *p = t->s->p;
    CtVar *loop = ct_core_list_var(t->s, "test", ct_core_type_fun(p, &lam->params[0]->type, 1, t->type));
    ct_map_set(p->context->arena, &t->loops, ct_key(self), loop);
    CtCore *body = test(t, lam->body), *begun = begin(t, call);
    if (body == NULL || begun == NULL) return NULL;
    /* Something else that calls it would need the loop itself. */
    if (ct_core_list_occurs(t->s, body, self) || ct_core_list_occurs(t->s, begun, self)) return NULL;
    CtCore *fun = ct_core_lam(p, t->s->range, "test", lam->params, 1, body);
    return ct_core_letrec(p, t->s->range, &(CtBind){loop, fun}, 1, begun);
}

/* The call that begins the first loop, whose list is evaluated once: it may fail. */
static CtCore *test_first(Test *t, CtCore *call) {
    if (call->kind == CORE_LET) {
        CtCore *rest = test_first(t, call->as.let.body);
        return rest != NULL ? ct_core_let(t->s->p, call->range, call->as.let.vars[0], call->as.let.rhs, rest) : NULL;
    }
    CtCore *fun = call->kind == CORE_APP ? call->as.call.of.fun : NULL;
    CtVar *loop = fun != NULL && fun->kind == CORE_VAR ? ct_map_get(&t->loops, ct_key(fun->as.var)) : NULL;
    if (loop == NULL) return NULL;
    return ct_core_app(t->s->p, t->s->range, ct_core_list_use(t->s, loop), call->as.call.args, call->as.call.count);
}

/* The test of a list in a loop's body; NULL: something that may fail, or another term. The term is used up. */
static CtCore *test(Test *t, CtCore *list) {
    CtProgram *p = t->s->p;
    if (list->kind == CORE_CON && list->as.call.count == 0) return ct_core_copy(p, t->none, NULL);
    if (list->kind == CORE_CON && list->as.call.count == 2) return test_cons(t, list);
    if (list->kind == CORE_APP) return test_call(t, list);
    if (list->kind == CORE_CASE) return test_case(t, list);
    if (ct_core_list_is_loop(list)) {
        const CtBind *loop = &list->as.letrec.binds[0];
        return test_loop(t, loop->var, loop->lam->as.lam, test, list->as.letrec.body);
    }
    if ((list->kind != CORE_LET && list->kind != CORE_UNPACK) || !ct_core_is_total_for(list->as.let.rhs, t->positive))
        return NULL;
    CtCore *rest = test(t, list->as.let.body);
    if (rest == NULL) return NULL;
    if (list->kind == CORE_LET) return ct_core_let(p, list->range, list->as.let.vars[0], list->as.let.rhs, rest);
    return ct_core_unpack(p, list->range, list->as.let.vars, list->as.let.count, list->as.let.rhs, rest);
}

/* filter fun list as the loop of a comprehension; the call itself if the function is not known. The term is used up. */
static CtCore *filtering_loop(CtLists *s, CtCore *call) {
    CtProgram *p = s->p;
    CtCore *fun = call->as.call.args[0], *list = call->as.call.args[1];
    if (!ct_core_list_is_known(fun)) return call;
    CtVar *xs = ct_core_list_var(s, "xs", list->type), *x = ct_core_list_var(s, "x", ct_core_list_element(list->type));
    CtVar *rest = ct_core_list_var(s, "rest", list->type);
    CtVar *loop = ct_core_list_var(s, "loop", ct_core_type_fun(p, &list->type, 1, list->type));
    CtCore *tested = ct_core_list_use(s, x), *test = ct_core_list_apply(s, fun, &tested);
    CtCore *again[2];
    for (int i = 0; i < 2; i++) {
        CtCore *left = ct_core_list_use(s, rest);
        again[i] = ct_core_app(p, s->range, ct_core_list_use(s, loop), &left, 1);
    }
    CtCase cases[2] = {0};
    for (uint32_t i = 0; i < 2; i++) {
        CtCon *con = &list->type->data->cons[i];
        cases[i] = (CtCase){.con = con, .vars = CT_NEW_ARRAY(p->context->arena, CtVar *, 3)};
        if (con->count == 0) {
            cases[i].body = ct_core_con(p, s->range, con, NULL, 0);
            continue;
        }
        CtCore *fields[] = {ct_core_list_use(s, x), again[0]};
        cases[i].vars[0] = x;
        cases[i].vars[1] = rest;
        cases[i].body = ct_core_if(p, s->range, test, ct_core_con(p, s->range, con, fields, 2), again[1]);
    }
    CtCore *body = ct_core_case(p, s->range, list->type, ct_core_list_use(s, xs), cases, 2, NULL);
    CtCore *lam = ct_core_lam(p, s->range, "loop", &xs, 1, body);
    CtCore *begun = ct_core_app(p, s->range, ct_core_list_use(s, loop), &list, 1);
    return ct_core_letrec(p, s->range, &(CtBind){loop, lam}, 1, begun);
}

/* Whether a list is the range from a literal that is at least 1. */
static bool is_positive(const CtBindings *around, const CtCore *list) {
    for (uint32_t i = around->count; i-- > 0;)
        if (list->kind == CORE_VAR && list->as.var == around->items[i].var) list = around->items[i].rhs;
    if (ct_core_list_call(list) != LIST_RANGE) return false;
    const CtCore *from = list->as.call.args[0];
    return from->kind == CORE_LIT && from->as.lit.integer >= 1;
}

CtCore *ct_core_list_tested(CtLists *s, CtCore *app) {
    CtCore *const *args = app->as.call.args, *list = args[app->as.call.count - 1];
    Test t = {.s = s, .function = ct_core_list_call(app), .type = app->type};
    const CtLam *lam = NULL;
    CtVar *self = NULL;
    CtBindings around = {0};
    if (t.function == LIST_ALL || t.function == LIST_ANY) t.fun = args[0];
    if ((t.fun != NULL && !ct_core_list_is_known(t.fun)) || s->copied >= MOST_COPIED_NODES) return NULL;
    CtCore *empty = ct_core_list_empty(s, list->type);
    t.none = t.function == LIST_HEAD ? ct_core_app(s->p, app->range, app->as.call.of.fun, &empty, 1)
                                     : truth(&t, t.function != LIST_ANY);
    list = ct_core_list_copy(s, list);
    for (; list->kind == CORE_LET; list = list->as.let.body)
        ct_push(s->p->context->arena, &around, ((CtBinding){list->as.let.vars[0], list->as.let.rhs}));
    if (ct_core_list_call(list) == LIST_FILTER) list = filtering_loop(s, list);
    if (ct_core_list_is_loop(list)) {
        self = list->as.letrec.binds[0].var;
        lam = list->as.letrec.binds[0].lam->as.lam;
        list = list->as.letrec.body;
    } else if (list->kind == CORE_APP && list->as.call.of.fun->kind == CORE_VAR) {
        self = list->as.call.of.fun->as.var;
        lam = ct_map_get(&s->loops, ct_key(self));
        if (lam != NULL) lam = ct_core_list_copy(s, lam->node)->as.lam;
    }
    if (lam != NULL && list->kind == CORE_APP && is_positive(&around, list->as.call.args[0])) {
        const CtCase *cases = lam->body->as.cases.cases;
        const CtCase *cons = &cases[cases[0].con->count == 2 ? 0 : 1];
        t.positive = cons->vars[0];
        t.self = self;
        t.rest = cons->vars[1];
    }
    CtCore *made = lam != NULL ? test_loop(&t, self, lam, test_first, list) : NULL;
    return made != NULL && CT_FIRED("lists.tested") ? ct_core_list_wrap(s, &around, made) : NULL;
}
