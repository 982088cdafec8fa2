/* `all` and `any` of a list that comprehensions, map and filter make of a list without an array: the test goes into the
 * loop, which ends at the first element that decides.
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
    CtCore *fun;
    bool all;
    CtMap loops; /* CtVar * of a loop -> CtVar * of the loop that tests */
} Test;

static CtCore *test(Test *t, CtCore *list);

static CtCore *decided(const Test *t, bool result) { return ct_core_bool(t->s->p, t->s->range, result); }

static CtCore *test_call(Test *t, CtCore *call) {
    CtCore *fun = call->as.call.of.fun;
    CtVar *loop = fun->kind == CORE_VAR ? ct_map_get(&t->loops, ct_key(fun->as.var)) : NULL;
    if (loop == NULL || !ct_core_is_total(call->as.call.args[0])) return NULL;
    return ct_core_app(t->s->p, t->s->range, ct_core_list_use(t->s, loop), call->as.call.args, call->as.call.count);
}

static CtCore *test_cons(Test *t, CtCore *cons) {
    CtProgram *p = t->s->p;
    CtCore *element = cons->as.call.args[0], *rest = test(t, cons->as.call.args[1]);
    if (rest == NULL || !ct_core_is_total(element)) return NULL;
    CtVar *x = ct_core_list_var(t->s, "x", element->type);
    CtCore *tested = ct_core_list_use(t->s, x), *holds = ct_core_list_apply(t->s, t->fun, &tested);
    CtCore *choice = t->all ? ct_core_if(p, t->s->range, holds, rest, decided(t, false))
                            : ct_core_if(p, t->s->range, holds, decided(t, true), rest);
    return ct_core_let(p, t->s->range, x, element, choice);
}

static CtCore *test_case(Test *t, CtCore *list) {
    uint32_t count = list->as.cases.count;
    CtCase *cases = CT_NEW_ARRAY(t->s->p->context->arena, CtCase, count);
    CtCore *otherwise = list->as.cases.otherwise;
    if (!ct_core_is_total(list->as.cases.scrutinee)) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        cases[i] = list->as.cases.cases[i];
        cases[i].body = test(t, cases[i].body);
        if (cases[i].body == NULL) return NULL;
    }
    if (otherwise != NULL && (otherwise = test(t, otherwise)) == NULL) return NULL;
    return ct_core_case(t->s->p, list->range, t->s->p->bool_type, list->as.cases.scrutinee, cases, count, otherwise);
}

/* The loop that tests, in front of `begun`, its first call or what calls it. */
static CtCore *test_loop(Test *t, CtVar *self, const CtLam *lam, CtCore *(*begin)(Test *t, CtCore *call),
                         CtCore *call) {
    CtProgram *p = t->s->p;
    CtVar *loop = ct_core_list_var(t->s, "test", ct_core_type_fun(p, &lam->params[0]->type, 1, p->bool_type));
    ct_map_set(p->context->arena, &t->loops, ct_key(self), loop);
    CtCore *body = test(t, lam->body), *begun = begin(t, call);
    if (body == NULL || begun == NULL) return NULL;
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
    if (list->kind == CORE_CON && list->as.call.count == 0) return decided(t, t->all);
    if (list->kind == CORE_CON && list->as.call.count == 2) return test_cons(t, list);
    if (list->kind == CORE_APP) return test_call(t, list);
    if (list->kind == CORE_CASE) return test_case(t, list);
    if (ct_core_list_is_loop(list)) {
        const CtBind *loop = &list->as.letrec.binds[0];
        return test_loop(t, loop->var, loop->lam->as.lam, test, list->as.letrec.body);
    }
    if ((list->kind != CORE_LET && list->kind != CORE_UNPACK) || !ct_core_is_total(list->as.let.rhs)) return NULL;
    CtCore *rest = test(t, list->as.let.body);
    if (rest == NULL) return NULL;
    if (list->kind == CORE_LET) return ct_core_let(p, list->range, list->as.let.vars[0], list->as.let.rhs, rest);
    return ct_core_unpack(p, list->range, list->as.let.vars, list->as.let.count, list->as.let.rhs, rest);
}

CtCore *ct_core_list_tested(CtLists *s, CtCore *fun, CtCore *list, bool all) {
    Test t = {.s = s, .fun = fun, .all = all};
    const CtLam *lam = NULL;
    CtVar *self = NULL;
    if (!ct_core_list_is_known(fun)) return NULL;
    if (ct_core_list_is_loop(list)) {
        list = ct_core_list_copy(s, list);
        self = list->as.letrec.binds[0].var;
        lam = list->as.letrec.binds[0].lam->as.lam;
        list = list->as.letrec.body;
    } else if (list->kind == CORE_APP && list->as.call.of.fun->kind == CORE_VAR) {
        self = list->as.call.of.fun->as.var;
        lam = ct_map_get(&s->loops, ct_key(self));
        if (lam != NULL) lam = ct_core_list_copy(s, lam->node)->as.lam;
        list = ct_core_list_copy(s, list);
    }
    CtCore *made = lam != NULL ? test_loop(&t, self, lam, test_first, list) : NULL;
    return made != NULL && CT_FIRED("lists.tested") ? made : NULL;
}
