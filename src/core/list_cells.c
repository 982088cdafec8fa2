/* Loops over lists that are made for them alone, of lists that are there: ranges, what `zipWith` and `map` make, and
 * the beginnings of lists without end. The loop goes through what these are made of, side by side, and they are not
 * made.
 *
 *     letrec go acc xs = case xs of              letrec go acc ys i left = case ys of
 *         [] → acc                                   [] → acc
 *         x : rest → go (f acc x) rest       →       y : rest → if left < 1 then acc
 *       in go z (zipWith g ys [a .. b])                           else go (f acc (g y i)) rest (i + 1) (left − 1)
 *
 * Such loops are those of comprehensions and of list_tests.c, and what `foldl`, `all` and `any` do. This runs when
 * no list can become an array any more. The program makes all elements before the loop begins: so what makes them has
 * to be total, or what the loop does with each of them. */
#include "core/lists.h"

#include "base/rules.h"

enum { MOST_LEAVES = 6, MOST_AT_END = 8, MAX_DEPTH = 2500 };

typedef enum Form { FORM_CELLS, FORM_RANGE, FORM_WITHOUT_END, FORM_MAP, FORM_ZIP, FORM_PAIR } Form;

/* A list, by what it is made of. */
typedef struct Made {
    Form form;
    CtType *element;
    CtCore *fun;        /* MAP, ZIP; WITHOUT_END: from one element to the next */
    struct Made *of[2]; /* MAP, ZIP, PAIR */
    uint32_t states; /* what the loop carries for CELLS: the list; RANGE: an Int, how many; WITHOUT_END: an element */
    CtCore *first[2];
    CtVar *now[2], *head, *tail;
    CtType *list; /* CELLS */
} Made;

typedef struct Along {
    CtLists lists;
    CtBindings around;
    Made *leaves[MOST_LEAVES];
    uint32_t count;
    bool saves, partial; /* a list is not made; something may fail that makes elements */
    bool changed;
    CtMap ranges; /* CtVar * of a list -> the range that it is bound to, of atoms */
    /* the loop */
    CtVar *self, *fresh, *rest;
    uint32_t index; /* of the list among its parameters */
} Along;

static CtCore *use(Along *a, CtVar *var) { return ct_core_list_use(&a->lists, var); }
static CtCore *int_of(Along *a, int64_t value) { return ct_core_int(a->lists.p, a->lists.range, value); }
static CtCore *prim(Along *a, CtPrim which, CtCore *x, CtCore *y) {
    return ct_core_prim2(a->lists.p, a->lists.range, which, x, y);
}

static bool is_total_function(const CtCore *fun) {
    if (fun->kind == CORE_GLOBAL && fun->as.global->body != NULL) fun = fun->as.global->body;
    return fun->kind == CORE_LAM && fun->as.lam->origin == NULL && ct_core_is_total(fun->as.lam->body);
}

/* ---- what a list is made of ---- */

static Made *new_made(Along *a, Form form, CtType *element) {
    Made *made = CT_NEW(a->lists.p->context->arena, Made);
    *made = (Made){.form = form, .element = element};
    if (form > FORM_WITHOUT_END) return made;
    if (a->count == MOST_LEAVES) return NULL;
    a->leaves[a->count++] = made;
    return made;
}

/* Binds a variable in front. A range that is bound may be gone through without being made. */
static void bind(Along *a, CtBindings *around, CtVar *var, CtCore *rhs) {
    CtLists *s = &a->lists;
    CtArena *arena = s->p->context->arena;
    if (ct_core_list_call(rhs) == LIST_RANGE) {
        CtCore *args[2];
        s->range = rhs->range;
        args[0] = ct_core_list_bind_atom(s, around, "from", rhs->as.call.args[0]);
        args[1] = ct_core_list_bind_atom(s, around, "to", rhs->as.call.args[1]);
        rhs = ct_core_app(s->p, rhs->range, rhs->as.call.of.fun, args, 2);
        ct_map_set(arena, &a->ranges, ct_key(var), rhs);
    }
    ct_push(arena, around, ((CtBinding){var, rhs}));
}

static CtCore *open_lets(Along *a, CtCore *term, CtBindings *around) {
    for (; term->kind == CORE_LET; term = term->as.let.body) bind(a, around, term->as.let.vars[0], term->as.let.rhs);
    return term;
}

/* The bindings around a term, but for ranges that nothing needs any more. */
static CtCore *wrap(Along *a, const CtBindings *around, CtCore *body) {
    CtLists *s = &a->lists;
    for (uint32_t i = around->count; i-- > 0;) {
        const CtBinding *one = &around->items[i];
        if (ct_map_has(&a->ranges, ct_key(one->var)) && !ct_core_list_occurs(s, body, one->var)) continue;
        body = ct_core_let(s->p, s->range, one->var, one->rhs, body);
    }
    return body;
}

static Made *look_at(Along *a, CtCore *list);

/* to − from, where it is not negative, and not the largest Int: nobody goes through more numbers than that. */
static CtCore *span_of(Along *a, CtCore *from, CtCore *to) {
    CtLists *s = &a->lists;
    bool known = from->kind == CORE_LIT && from->as.lit.integer >= 0, zero = known && from->as.lit.integer == 0;
    CtCore *span = ct_core_list_again(s, to), *most = int_of(a, INT64_MAX - 1);
    if (!zero) span = prim(a, PRIM_INT_SUB, span, ct_core_list_again(s, from));
    if (known && !zero) return span;
    span = ct_core_list_bind_atom(s, &a->around, "span", span);
    CtCore *less = prim(a, PRIM_INT_MIN, ct_core_list_again(s, span), most);
    if (known) return less;
    CtCore *wraps = prim(a, PRIM_INT_LT, ct_core_list_again(s, span), int_of(a, 0));
    return ct_core_if(s->p, s->range, wraps, int_of(a, INT64_MAX - 1), less);
}

static Made *look_at_range(Along *a, const CtCore *list) {
    CtLists *s = &a->lists;
    Made *made = new_made(a, FORM_RANGE, s->p->int_type);
    if (made == NULL) return NULL;
    CtCore *from = ct_core_list_bind_atom(s, &a->around, "from", list->as.call.args[0]);
    CtCore *to = ct_core_list_bind_atom(s, &a->around, "to", list->as.call.args[1]);
    CtCore *none = prim(a, PRIM_INT_LT, ct_core_list_again(s, to), ct_core_list_again(s, from));
    CtCore *count = prim(a, PRIM_INT_ADD, span_of(a, from, to), int_of(a, 1));
    count = ct_core_if(s->p, s->range, none, int_of(a, 0), count);
    made->states = 2;
    made->first[0] = ct_core_list_again(s, from);
    made->first[1] = ct_core_list_bind_atom(s, &a->around, "count", count);
    a->saves = true;
    return made;
}

static Made *look_at_cells(Along *a, CtCore *list) {
    CtLists *s = &a->lists;
    Made *made = new_made(a, FORM_CELLS, ct_core_list_element(list->type));
    if (made == NULL) return NULL;
    made->list = list->type;
    made->states = 1;
    made->first[0] = ct_core_list_bind_atom(s, &a->around, "list", list);
    return made;
}

/* A list whose elements may be made late, or not at all: where making one may fail, the list stays as it is. */
static Made *look_at_total(Along *a, CtCore *list) {
    uint32_t leaves = a->count, bindings = a->around.count;
    bool saves = a->saves;
    Made *made = look_at(a, list);
    if (!a->partial) return made;
    a->count = leaves;
    a->around.count = bindings;
    a->saves = saves;
    a->partial = false;
    return look_at_cells(a, list);
}

/* The program makes all elements of the lists, those behind the end of the shorter list too, before it applies the
 * function. */
static Made *look_at_zip(Along *a, const CtCore *list) {
    CtCore **args = list->as.call.args;
    if (!ct_core_list_is_known(args[0])) return NULL;
    Made *first = look_at_total(a, args[1]), *second = first != NULL ? look_at_total(a, args[2]) : NULL;
    Made *made = second != NULL ? new_made(a, FORM_ZIP, ct_core_list_element(list->type)) : NULL;
    if (made == NULL) return NULL;
    made->fun = args[0];
    made->of[0] = first;
    made->of[1] = second;
    a->partial = !is_total_function(made->fun);
    a->saves = true;
    return made;
}

/* iterate f x, where f is total: the program makes an element more than it takes. */
static Made *look_at_stream(Along *a, const CtCore *stream) {
    if (ct_core_list_call(stream) != LIST_ITERATE || !is_total_function(stream->as.call.args[0])) return NULL;
    if (a->partial && !ct_core_is_atom(stream->as.call.args[1])) return NULL;
    Made *made = new_made(a, FORM_WITHOUT_END, stream->as.call.args[1]->type);
    if (made == NULL) return NULL;
    made->fun = stream->as.call.args[0];
    made->states = 1;
    made->first[0] = ct_core_list_bind_atom(&a->lists, &a->around, "first", stream->as.call.args[1]);
    return made;
}

static Made *look_at_pairs(Along *a, const CtCore *list, bool stream_first) {
    CtCore **args = list->as.call.args;
    Made *first = stream_first ? look_at_stream(a, args[0]) : look_at(a, args[0]);
    if (first == NULL) return NULL;
    Made *second = stream_first ? look_at(a, args[1]) : look_at_stream(a, args[1]);
    Made *made = second != NULL ? new_made(a, FORM_PAIR, ct_core_list_element(list->type)) : NULL;
    if (made == NULL) return NULL;
    made->of[0] = first;
    made->of[1] = second;
    a->saves = true;
    return made;
}

/* Of two functions, one inside of the other, only one may fail: the program applies the inner one to all elements
 * before the other. */
static Made *look_at_map(Along *a, const CtCore *list) {
    CtCore **args = list->as.call.args;
    if (!ct_core_list_is_known(args[0])) return NULL;
    bool is_total = is_total_function(args[0]);
    Made *of = is_total ? look_at(a, args[1]) : look_at_total(a, args[1]);
    Made *made = of != NULL ? new_made(a, FORM_MAP, ct_core_list_element(list->type)) : NULL;
    if (made == NULL) return NULL;
    made->fun = args[0];
    made->of[0] = of;
    a->partial |= !is_total;
    a->saves = true;
    return made;
}

/* NULL: too many. What may fail while an element is made comes behind the terms of the lists: so only what is made last
 * may, when all terms have been evaluated. */
static Made *look_at(Along *a, CtCore *list) {
    CtLists *s = &a->lists;
    if (a->partial) return NULL;
    list = open_lets(a, list, &a->around);
    if (list->kind == CORE_VAR && ct_map_has(&a->ranges, ct_key(list->as.var)))
        list = ct_core_copy(s->p, ct_map_get(&a->ranges, ct_key(list->as.var)), NULL);
    CtListFunction function = ct_core_list_call(list);
    if (function == LIST_RANGE) return look_at_range(a, list);
    if (function == LIST_ZIP_WITH) return look_at_zip(a, list);
    if (function == LIST_ZIP_FIRST) return look_at_pairs(a, list, true);
    if (function == LIST_ZIP_SECOND) return look_at_pairs(a, list, false);
    if (function == LIST_MAP) return look_at_map(a, list);
    return look_at_cells(a, list);
}

/* ---- the loop ---- */

static void new_states(Along *a) {
    CtLists *s = &a->lists;
    for (uint32_t i = 0; i < a->count; i++) {
        Made *leaf = a->leaves[i];
        if (leaf->form == FORM_CELLS) {
            leaf->now[0] = ct_core_list_var(s, "xs", leaf->list);
            leaf->head = ct_core_list_var(s, "x", leaf->element);
            leaf->tail = ct_core_list_var(s, "rest", leaf->list);
        } else {
            leaf->now[0] = ct_core_list_var(s, "i", leaf->element);
            leaf->now[1] = ct_core_list_var(s, "left", s->p->int_type);
        }
    }
}

static CtCore *element_of(Along *a, const Made *made) {
    CtLists *s = &a->lists;
    CtCore *parts[2] = {NULL, NULL};
    if (made->form == FORM_CELLS) return use(a, made->head);
    if (made->form <= FORM_WITHOUT_END) return use(a, made->now[0]);
    for (uint32_t i = 0; i < 2 && made->of[i] != NULL; i++) parts[i] = element_of(a, made->of[i]);
    return made->form == FORM_PAIR ? ct_core_pair(s->p, s->range, parts[0], parts[1])
                                   : ct_core_list_apply(s, made->fun, parts);
}

/* The arguments of a call, with these in place of the list. */
static CtCore *call(Along *a, const CtCore *app, bool first) {
    CtLists *s = &a->lists;
    CtCoreList args = {0};
    CtArena *arena = s->p->context->arena;
    for (uint32_t i = 0; i < app->as.call.count; i++) {
        if (i != a->index) ct_push(arena, &args, app->as.call.args[i]);
        for (uint32_t j = 0; i == a->index && j < a->count; j++) {
            const Made *leaf = a->leaves[j];
            for (uint32_t k = 0; k < leaf->states; k++) {
                CtCore *next = NULL;
                if (first) {
                    next = leaf->first[k];
                } else if (leaf->form == FORM_CELLS) {
                    next = use(a, leaf->tail);
                } else if (leaf->form == FORM_WITHOUT_END) {
                    CtCore *now = use(a, leaf->now[0]);
                    next = ct_core_list_apply(s, leaf->fun, &now);
                } else {
                    next = prim(a, k == 0 ? PRIM_INT_ADD : PRIM_INT_SUB, use(a, leaf->now[k]), int_of(a, 1));
                }
                ct_push(arena, &args, next);
            }
        }
    }
    return ct_core_app(s->p, app->range, use(a, a->fresh), args.items, args.count);
}

static bool is_self(const Along *a, const CtCore *core) {
    return core->kind == CORE_APP && core->as.call.of.fun->kind == CORE_VAR && core->as.call.of.fun->as.var == a->self;
}

/* Whether the loop goes on with the rest of its list, and does nothing else with it. */
static bool goes_on(Along *a, CtCore *core) {
    CtArena *arena = a->lists.p->context->arena;
    if (core->kind == CORE_VAR) return core->as.var != a->self && (a->rest == NULL || core->as.var != a->rest);
    if (core->kind == CORE_LAM && core->as.lam->origin != NULL) return false;
    CtCoreList inner = {0};
    if (is_self(a, core)) {
        const CtCore *rest = core->as.call.args[a->index];
        if (a->rest == NULL || rest->kind != CORE_VAR || rest->as.var != a->rest) return false;
        for (uint32_t i = 0; i < core->as.call.count; i++)
            if (i != a->index) ct_push(arena, &inner, core->as.call.args[i]);
    } else {
        ct_core_children(arena, core, &inner);
    }
    for (uint32_t i = 0; i < inner.count; i++)
        if (!goes_on(a, inner.items[i])) return false;
    return true;
}

static CtCore *go_on(void *data, CtCore *core) {
    Along *a = data;
    if (is_self(a, core)) core = call(a, core, false);
    return ct_core_map(a->lists.p, core, go_on, a);
}

/* The body for an element, behind the tests whether there is one. */
static CtCore *tests(Along *a, CtCore *body, CtCore *end) {
    CtLists *s = &a->lists;
    CtProgram *p = s->p;
    for (uint32_t i = a->count; i-- > 0;) {
        Made *leaf = a->leaves[i];
        if (leaf->form == FORM_WITHOUT_END) continue;
        CtCore *none = ct_core_copy(p, end, NULL);
        if (leaf->form == FORM_RANGE) {
            body = ct_core_if(p, s->range, prim(a, PRIM_INT_LT, use(a, leaf->now[1]), int_of(a, 1)), none, body);
            continue;
        }
        CtCase cases[2] = {0};
        for (uint32_t j = 0; j < leaf->list->data->con_count && j < 2; j++) {
            CtCon *con = &leaf->list->data->cons[j];
            cases[j].con = con;
            cases[j].vars = CT_NEW_ARRAY(p->context->arena, CtVar *, con->count + 1);
            cases[j].body = con->count == 0 ? none : body;
            if (con->count == 2) {
                cases[j].vars[0] = leaf->head;
                cases[j].vars[1] = leaf->tail;
            }
        }
        body = ct_core_case(p, s->range, body->type, use(a, leaf->now[0]), cases, 2, NULL);
    }
    return body;
}

static bool is_case_of(const CtCore *body, const CtVar *list) {
    return body->kind == CORE_CASE && body->as.cases.count == 2 && body->as.cases.otherwise == NULL &&
           body->as.cases.scrutinee->kind == CORE_VAR && body->as.cases.scrutinee->as.var == list;
}

/* letrec self ⟨…, xs, …⟩ = case xs of … in begun, where begun calls it with the list: the loop along what the list is
 * made of; NULL for others. `total`: it goes through all elements, and what it does with one is
 * total. */
static CtCore *along(Along *a, CtCore *letrec, bool total) {
    CtLists *s = &a->lists;
    CtProgram *p = s->p;
    if (letrec->kind != CORE_LETREC || letrec->as.letrec.count != 1) return NULL;
    CtCore *begun = letrec->as.letrec.body;
    const CtLam *lam = letrec->as.letrec.binds[0].lam->as.lam;
    a->self = letrec->as.letrec.binds[0].var;
    a->around.count = a->count = 0;
    a->saves = a->partial = false;
    s->range = letrec->range;
    begun = open_lets(a, begun, &a->around);
    if (!is_self(a, begun) || lam->origin != NULL) return NULL;
    for (a->index = 0; a->index < lam->count && !is_case_of(lam->body, lam->params[a->index]);) a->index++;
    if (a->index == lam->count || !ct_core_list_is_list(lam->params[a->index]->type)) return NULL;
    const CtCase *nil = &lam->body->as.cases.cases[0], *cons = &lam->body->as.cases.cases[1];
    if (nil->con->count != 0) {
        const CtCase *other = nil;
        nil = cons;
        cons = other;
    }
    CtSimplifier size = {.p = p};
    a->rest = cons->vars[1];
    if (ct_core_size(&size, nil->body, MOST_AT_END) >= MOST_AT_END) return NULL;
    CtVar *list = lam->params[a->index];
    if (ct_core_list_occurs(s, nil->body, list) || ct_core_list_occurs(s, cons->body, list)) return NULL;
    if (!goes_on(a, nil->body) || !goes_on(a, cons->body)) return NULL;
    CtCore **args = CT_NEW_ARRAY(p->context->arena, CtCore *, begun->as.call.count);
    Made *made = NULL;
    for (uint32_t i = 0; i < begun->as.call.count; i++) {
        args[i] = begun->as.call.args[i];
        if (i == a->index)
            made = look_at(a, args[i]);
        else
            args[i] = ct_core_list_bind_atom(s, &a->around, "given", args[i]);
    }
    bool ends = false;
    for (uint32_t i = 0; i < a->count; i++) ends |= a->leaves[i]->form != FORM_WITHOUT_END;
    if (made == NULL || !a->saves || !ends || (a->partial && !total)) return NULL;
    for (uint32_t i = 0; i < a->around.count; i++) /* the loop is not in scope there */
        if (ct_core_list_occurs(s, a->around.items[i].rhs, a->self)) return NULL;
    new_states(a);
    CT_VEC(CtVar *) params = {0};
    for (uint32_t i = 0; i < lam->count; i++) {
        if (i != a->index) ct_push(p->context->arena, &params, lam->params[i]);
        for (uint32_t j = 0; i == a->index && j < a->count; j++)
            for (uint32_t k = 0; k < a->leaves[j]->states; k++)
                ct_push(p->context->arena, &params, a->leaves[j]->now[k]);
    }
    CtType **types = CT_NEW_ARRAY(p->context->arena, CtType *, params.count + 1);
    for (uint32_t i = 0; i < params.count; i++) types[i] = params.items[i]->type;
    a->fresh = ct_core_list_var(s, a->self->name->text, ct_core_type_fun(p, types, params.count, lam->body->type));
    CtCore *body = go_on(a, cons->body), *element = element_of(a, made);
    CtVar *x = cons->vars[0] != NULL ? cons->vars[0] : ct_core_list_var(s, "x", made->element);
    body = tests(a, ct_core_let(p, s->range, x, element, body), nil->body);
    CtCore *fun = ct_core_lam(p, letrec->as.letrec.binds[0].lam->range, lam->name, params.items, params.count, body);
    CtCore app = *begun;
    app.as.call.args = args;
    CtCore *loop = ct_core_letrec(p, letrec->range, &(CtBind){a->fresh, fun}, 1, call(a, &app, true));
    CT_FIRED("lists.along");
    return wrap(a, &a->around, loop);
}

/* ---- what foldl, all and any do, as loops ---- */

static CtCon *cons_of(const CtType *list) { return &list->data->cons[list->data->cons[0].count == 2 ? 0 : 1]; }

static CtCore *branch_if(Along *a, CtCore *test, CtCore *yes, CtCore *no) {
    return ct_core_if(a->lists.p, a->lists.range, test, yes, no);
}

/* The loop of a function on lists that takes `fun`, the list last; `start`: what it begins with, or NULL. zipWith: the
 * loop that makes this list again. */
static CtCore *loop_of(Along *a, CtListFunction function, CtCore *fun, CtCore *start, CtCore *list, CtType *type) {
    CtLists *s = &a->lists;
    CtProgram *p = s->p;
    CtVar *state = start != NULL ? ct_core_list_var(s, "state", start->type) : NULL;
    CtVar *xs = ct_core_list_var(s, "xs", list->type), *rest = ct_core_list_var(s, "rest", list->type);
    CtVar *x = ct_core_list_var(s, "x", ct_core_list_element(list->type));
    CtVar *params[2] = {xs, xs};
    CtType *types[2] = {list->type, list->type};
    uint32_t count = start != NULL ? 2 : 1;
    if (start != NULL) {
        params[0] = state;
        types[0] = start->type;
    }
    CtVar *self = ct_core_list_var(s, "go", ct_core_type_fun(p, types, count, type));
    CtCore *given[2] = {use(a, state != NULL ? state : x), use(a, x)};
    CtCore *applied = fun != NULL ? ct_core_list_apply(s, fun, given) : use(a, x), *end = NULL, *body = NULL;
    CtCore *next[2] = {state != NULL ? applied : use(a, rest), use(a, rest)};
    CtCore *again = ct_core_app(p, s->range, use(a, self), next, count);
    if (function == LIST_FOLDL) {
        end = use(a, state);
        body = again;
    } else if (fun == NULL) {
        CtCore *fields[] = {applied, again};
        end = ct_core_list_empty(s, list->type);
        body = ct_core_con(p, s->range, cons_of(list->type), fields, 2);
    } else {
        bool all = function == LIST_ALL;
        end = ct_core_bool(p, s->range, all);
        body = all ? branch_if(a, applied, again, ct_core_bool(p, s->range, false))
                   : branch_if(a, applied, ct_core_bool(p, s->range, true), again);
    }
    CtCase cases[2] = {0};
    for (uint32_t j = 0; j < 2; j++) {
        CtCon *con = &list->type->data->cons[j];
        cases[j] = (CtCase){.con = con, .vars = CT_NEW_ARRAY(p->context->arena, CtVar *, 3)};
        cases[j].body = con->count == 0 ? end : body;
        if (con->count == 2) {
            cases[j].vars[0] = x;
            cases[j].vars[1] = rest;
        }
    }
    CtCore *choice = ct_core_case(p, s->range, type, use(a, xs), cases, 2, NULL);
    CtCore *lam = ct_core_lam(p, s->range, "go", params, count, choice);
    CtCore *begin[2] = {start != NULL ? start : list, list};
    return ct_core_letrec(p, s->range, &(CtBind){self, lam}, 1, ct_core_app(p, s->range, use(a, self), begin, count));
}

static bool is_made(const CtCore *list) {
    while (list->kind == CORE_LET) list = list->as.let.body;
    switch ((int)ct_core_list_call(list)) {
    case LIST_RANGE:
    case LIST_ZIP_WITH:
    case LIST_ZIP_FIRST:
    case LIST_ZIP_SECOND:
    case LIST_MAP: return true;
    default: return false;
    }
}

/* Whether zipWith goes through a range, which may be much longer than the other list. */
static bool zips_range(const Along *a, const CtCore *list) {
    if (list->kind == CORE_VAR) return ct_map_has(&a->ranges, ct_key(list->as.var));
    if (ct_core_list_call(list) == LIST_RANGE) return true;
    return ct_core_list_call(list) == LIST_ZIP_WITH &&
           (zips_range(a, list->as.call.args[1]) || zips_range(a, list->as.call.args[2]));
}

static CtCore *visit(void *data, CtCore *core);

/* let xs = [from .. to] in body. */
static CtCore *visit_range(Along *a, CtCore *let) {
    CtBindings around = {0};
    bind(a, &around, let->as.let.vars[0], let->as.let.rhs);
    CtCore *body = visit(a, let->as.let.body);
    a->lists.range = let->range;
    return wrap(a, &around, body);
}

static CtCore *visit(void *data, CtCore *core) {
    Along *a = data;
    CtCore *made = NULL;
    if (core->kind == CORE_LET) core = ct_core_list_put_into_call(&a->lists, core);
    if (core->kind == CORE_LET && is_made(core->as.let.rhs)) core = ct_core_list_put_into_loop(&a->lists, core);
    if (core->kind == CORE_LET && ct_core_list_call(core->as.let.rhs) == LIST_RANGE) return visit_range(a, core);
    if (core->kind == CORE_LAM && core->as.lam->origin != NULL) return core;
    if (core->kind == CORE_LETREC) core = ct_core_list_put_around_call(&a->lists, core);
    if (core->kind == CORE_LETREC) made = along(a, core, false);
    CtListFunction function = ct_core_list_call(core);
    if (function == LIST_FOLDL || function == LIST_ALL || function == LIST_ANY) {
        CtCore **args = core->as.call.args;
        CtCore *start = function == LIST_FOLDL ? args[1] : NULL, *list = args[function == LIST_FOLDL ? 2 : 1];
        a->lists.range = core->range;
        if (ct_core_list_is_known(args[0]) && is_made(list) && a->lists.copied < MOST_COPIED_NODES)
            made = along(a, loop_of(a, function, args[0], start, list, core->type),
                         function == LIST_FOLDL && is_total_function(args[0]));
    }
    if (function == LIST_ZIP_WITH && zips_range(a, core) && a->lists.copied < MOST_COPIED_NODES) {
        a->lists.range = core->range;
        made = along(a, loop_of(a, function, NULL, NULL, core, core->type), true);
    }
    if (made != NULL) {
        a->changed = true;
        core = made;
    }
    return ct_core_map(a->lists.p, core, visit, a);
}

void ct_core_list_cells(CtProgram *p, CtGlobal *global) {
    if (!ct_core_within_depth(p->context->arena, global->body, MAX_DEPTH)) return;
    Along a = {.lists = {.p = p}};
    CtCore *body = visit(&a, global->body);
    if (a.changed) global->body = body;
}
