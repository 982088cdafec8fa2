/* Lists that are put together of parts: `xs ++ ys`, `concat`, `concatMap`, literals. What consumes such a list takes
 * the elements of one part after the other, so that the list is not made:
 *
 *     foldl f z (xs ++ ys)               let s = foldl f z xs in foldl f s ys
 *     foldl f z (concat (map g xs))      foldl (λs x. foldl f s (g x)) z xs
 *
 * A part without an array, such as what `show` gives, is made, and a loop goes over its cells. The program makes all
 * parts before the consumer takes the first element, so one of the two has to be total. */
#include "base/rules.h"
#include "core/list_stages.h"

#include <string.h>

enum { MOST_LITERAL = 3, MAX_DEPTH = 60 };

/* foldr (++) [] list */
bool ct_core_list_is_concat(const CtCore *core) {
    if (ct_core_list_call(core) != LIST_FOLDR) return false;
    const CtCore *start = core->as.call.args[1];
    return start->kind == CORE_CON && start->as.call.count == 0 && ct_core_is_append(core->as.call.args[0]);
}

/* intercalate between [a, b, …] */
static bool is_between(const CtCore *core) {
    if (ct_core_list_call(core) != LIST_INTERCALATE) return false;
    const CtCore *between = core->as.call.args[0], *lists = core->as.call.args[1];
    while (lists->kind == CORE_CON && lists->as.call.count == 2) lists = lists->as.call.args[1];
    return lists->kind == CORE_CON && (between->kind == CORE_STRING || ct_core_is_atom(between));
}

bool ct_core_list_has_parts(CtLists *s, const CtCore *list) {
    for (uint32_t depth = 0; depth < MAX_DEPTH; depth++) {
        if (list->kind == CORE_LET)
            list = list->as.let.body;
        else if (ct_core_list_is_concat(list) || is_between(list))
            return true;
        else if (ct_core_list_call(list) != LIST_APPEND)
            return false;
        else if (ct_core_list_has_parts(s, list->as.call.args[0]))
            return true;
        else
            list = list->as.call.args[1];
    }
    return false;
}

typedef struct Parts {
    CtLists *s;
    const CtListStage *next;
    uint32_t depth;
} Parts;

static CtCore *parts(Parts *p, CtCore *list, CtCore *state);

/* letrec go state xs = case xs of { [] → state; x : rest → go (… state x) rest } in go state list */
static CtCore *over_cells(Parts *parts, CtCore *list, CtCore *state) {
    CtLists *s = parts->s;
    CtProgram *p = s->p;
    CtVar *so_far = ct_core_list_var(s, "state", state->type), *xs = ct_core_list_var(s, "xs", list->type);
    CtVar *x = ct_core_list_var(s, "x", ct_core_list_element(list->type));
    CtVar *rest = ct_core_list_var(s, "rest", list->type), *params[] = {so_far, xs};
    CtType *types[] = {state->type, list->type};
    CtVar *go = ct_core_list_var(s, "go", ct_core_type_fun(p, types, 2, state->type));
    CtCore *taken = parts->next->step(s, parts->next, ct_core_list_use(s, so_far), ct_core_list_use(s, x));
    if (taken == NULL) return NULL;
    CtCore *given[] = {taken, ct_core_list_use(s, rest)}, *first[] = {state, list};
    CtCase cases[2] = {0};
    for (uint32_t i = 0; i < 2; i++) {
        CtCon *con = &list->type->data->cons[i];
        cases[i] = (CtCase){.con = con, .vars = CT_NEW_ARRAY(p->context->arena, CtVar *, 3)};
        cases[i].body =
            con->count == 0 ? ct_core_list_use(s, so_far) : ct_core_app(p, s->range, ct_core_list_use(s, go), given, 2);
        if (con->count == 2) {
            cases[i].vars[0] = x;
            cases[i].vars[1] = rest;
        }
    }
    CtCore *body = ct_core_case(p, s->range, state->type, ct_core_list_use(s, xs), cases, 2, NULL);
    CtCore *lam = ct_core_lam(p, s->range, "go", params, 2, body);
    CtCore *begun = ct_core_app(p, s->range, ct_core_list_use(s, go), first, 2);
    return ct_core_letrec(p, s->range, &(CtBind){go, lam}, 1, begun);
}

/* The state behind one part, for the next. */
static CtCore *then(Parts *p, CtCore *first, CtCore *rest) {
    if (first == NULL) return NULL;
    CtVar *so_far = ct_core_list_var(p->s, "state", first->type);
    CtCore *last = parts(p, rest, ct_core_list_use(p->s, so_far));
    return last != NULL ? ct_core_let(p->s->p, p->s->range, so_far, first, last) : NULL;
}

static CtCore *of_string(Parts *p, CtCore *list, CtCore *state) {
    CtLists *s = p->s;
    const char *text = list->as.string.data;
    size_t length = list->as.string.length;
    bool plain = length <= MOST_LITERAL;
    for (size_t i = 0; i < length && plain; i++) plain = (unsigned char)text[i] < 0x80;
    if (!plain) return over_cells(p, list, state);
    for (size_t i = 0; i < length; i++) {
        CtVar *so_far = ct_core_list_var(s, "state", state->type);
        CtCore *c = ct_core_char(s->p, s->range, (unsigned char)text[i]);
        CtCore *taken = p->next->step(s, p->next, ct_core_list_use(s, so_far), c);
        if (taken == NULL) return NULL;
        state = ct_core_let(s->p, s->range, so_far, state, taken);
    }
    return state;
}

static CtCore *of_branches(Parts *p, CtCore *list, CtCore *state) {
    CtLists *s = p->s;
    uint32_t count = list->as.cases.count;
    CtCase *cases = CT_NEW_ARRAY(s->p->context->arena, CtCase, count);
    CtCore *otherwise = list->as.cases.otherwise;
    CtVar *so_far = ct_core_list_var(s, "state", state->type);
    for (uint32_t i = 0; i < count; i++) {
        cases[i] = list->as.cases.cases[i];
        cases[i].body = parts(p, cases[i].body, ct_core_list_use(s, so_far));
        if (cases[i].body == NULL) return NULL;
    }
    if (otherwise != NULL && (otherwise = parts(p, otherwise, ct_core_list_use(s, so_far))) == NULL) return NULL;
    CtCore *made = ct_core_case(s->p, list->range, state->type, list->as.cases.scrutinee, cases, count, otherwise);
    return ct_core_let(s->p, s->range, so_far, state, made);
}

/* The elements of a part that a loop makes; NULL for other parts. */
static CtCore *of_loop(Parts *p, CtCore *list, CtCore *state) {
    CtLists *s = p->s;
    CtListFunction function = ct_core_list_call(list);
    bool made = function == LIST_RANGE || function == LIST_STEPS || function == LIST_REPLICATE ||
                function == LIST_MAP || function == LIST_FILTER || ct_core_list_is_concat(list) ||
                ct_core_list_is_loop(list);
    if (!made) return NULL;
    CtListChain chain;
    uint32_t opened = s->opened.count;
    CtVar *so_far = ct_core_list_var(s, "state", state->type);
    CtCore *loop = NULL;
    if (ct_core_list_chain(s, list, p->next, &chain))
        loop = ct_core_list_run_chain(s, &chain, ct_core_list_use(s, so_far));
    if (loop == NULL) {
        s->opened.count = opened;
        return NULL;
    }
    return ct_core_let(s->p, s->range, so_far, state, ct_core_list_wrap(s, &chain.around, loop));
}

static CtCore *of_between(Parts *p, CtCore *list, CtCore *state) {
    CtLists *s = p->s;
    CtCore *between = list->as.call.args[0], *lists = list->as.call.args[1];
    for (bool first = true; lists->as.call.count == 2; lists = lists->as.call.args[1], first = false) {
        CtCore *parted[] = {first ? NULL : ct_core_list_copy(s, between), lists->as.call.args[0]};
        for (int i = first; i < 2; i++) {
            CtVar *so_far = ct_core_list_var(s, "state", state->type);
            CtCore *taken = parts(p, parted[i], ct_core_list_use(s, so_far));
            if (taken == NULL) return NULL;
            state = ct_core_let(s->p, s->range, so_far, state, taken);
        }
    }
    return state;
}

/* Whether applying a function to each element, before those behind it are evaluated, fails no earlier. */
static bool keeps_order(const CtCore *fun, const CtCore *items) {
    if (fun->kind == CORE_GLOBAL && fun->as.global->body != NULL) fun = fun->as.global->body;
    if (fun->kind == CORE_LAM && ct_core_is_total(fun->as.lam->body)) return true;
    for (; items->kind == CORE_CON && items->as.call.count == 2; items = items->as.call.args[1])
        if (!ct_core_is_total(items->as.call.args[0])) return false;
    return ct_core_is_total(items);
}

/* concat [a, b, …], or concat (map f [a, b, …]): the parts themselves; NULL for others. */
static CtCore *of_literal(Parts *p, CtCore *list, CtCore *state) {
    CtLists *s = p->s;
    CtCore *of = list->as.call.args[2], *fun = NULL;
    if (ct_core_list_call(of) == LIST_MAP && ct_core_list_is_known(of->as.call.args[0])) {
        fun = of->as.call.args[0];
        of = of->as.call.args[1];
    }
    if (of->kind != CORE_CON || (fun != NULL && !keeps_order(fun, of))) return NULL;
    for (; of->kind == CORE_CON && of->as.call.count == 2; of = of->as.call.args[1]) {
        CtCore *item = of->as.call.args[0];
        if (fun != NULL) item = ct_core_list_apply(s, fun, &item);
        CtVar *so_far = ct_core_list_var(s, "state", state->type);
        CtCore *taken = parts(p, item, ct_core_list_use(s, so_far));
        if (taken == NULL) return NULL;
        state = ct_core_let(s->p, s->range, so_far, state, taken);
    }
    if (of->kind == CORE_CON) return state;
    CtCore *args[] = {list->as.call.args[0], list->as.call.args[1], of};
    if (fun != NULL) {
        CtCore *given[] = {ct_core_list_copy(s, fun), of};
        args[2] = ct_core_app(s->p, of->range, list->as.call.args[2]->as.call.of.fun, given, 2);
    }
    return parts(p, ct_core_app(s->p, list->range, list->as.call.of.fun, args, 3), state);
}

static CtCore *part(Parts *p, CtCore *list, CtCore *state) {
    CtLists *s = p->s;
    if (list->kind == CORE_LET) list = ct_core_list_put_into_call(s, list);
    if (list->kind == CORE_LET) {
        CtCore *body = parts(p, list->as.let.body, state);
        return body != NULL ? ct_core_let(s->p, list->range, list->as.let.vars[0], list->as.let.rhs, body) : NULL;
    }
    if (list->kind == CORE_CON && list->as.call.count == 0) return state;
    if (list->kind == CORE_CON) {
        CtCore *one = p->next->step(s, p->next, state, list->as.call.args[0]);
        return then(p, one, list->as.call.args[1]);
    }
    if (list->kind == CORE_STRING) return of_string(p, list, state);
    if (list->kind == CORE_CASE) return of_branches(p, list, state);
    if (ct_core_list_call(list) == LIST_APPEND)
        return then(p, parts(p, list->as.call.args[0], state), list->as.call.args[1]);
    if (is_between(list)) return of_between(p, list, state);
    CtCore *loop = ct_core_list_is_concat(list) ? of_literal(p, list, state) : NULL;
    if (loop == NULL) loop = of_loop(p, list, state);
    return loop != NULL ? loop : over_cells(p, list, state);
}

static CtCore *parts(Parts *p, CtCore *list, CtCore *state) {
    if (++p->depth > MAX_DEPTH || p->s->copied >= MOST_COPIED_NODES) return NULL;
    CtCore *last = part(p, list, state);
    p->depth--;
    return last;
}

CtCore *ct_core_list_parts(CtLists *s, const CtListStage *next, CtCore *list, CtCore *state) {
    Parts p = {.s = s, .next = next};
    CtCore *last = parts(&p, list, state);
    return last != NULL && CT_FIRED("lists.parts_of_list") ? last : NULL;
}

CtCore *ct_core_list_over_cells(CtLists *s, const CtListStage *next, CtCore *list, CtCore *state) {
    Parts p = {.s = s, .next = next};
    return over_cells(&p, list, state);
}

CtCore *ct_core_list_step_concat(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element) {
    return ct_core_list_parts(s, stage->next, element, state);
}
