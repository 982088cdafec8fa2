/* Recursion of a program's own along lists becomes a call of a function on lists, of which list_places.c and
 * lists_to_arrays.c make loops over arrays. A function goes along lists if it opens them one after the other, ends
 * where one of them ends, and is called with what is left of each:
 *
 *     f h (x : xs) (y : ys) = e : f h xs ys; f _ _ _ = []      zipWith (λx y. e) xs ys
 *     f s (x : xs) = f e xs; f s [] = end                      let s = foldl (λs x. e) s xs in end
 *     f (x : xs) = e (f xs); f [] = end                        foldr (λx r. e r) end xs
 *     f s (x : xs) = e : f s' xs; f _ [] = []                  toList (snd (mapAccumL (λs x. (s', e)) s (fromList xs)))
 *
 * Parameters that are neither passed on nor such lists are the states. The order of evaluation is the program's: only
 * what foldr does before the recursive call is done after it, and has to be total. */
#include "core/lists.h"

#include "base/rules.h"

enum { MOST_LISTS = 6, MOST_PARAMS = 32, DEEPEST = 2500 };

typedef struct Recursion {
    CtLists lists;
    CtProgram *p;
    const CtLam *lam;
    CtVar *var;                                     /* the function: this or */
    CtGlobal *global;                               /* this */
    CtVar *heads[MOST_PARAMS], *tails[MOST_PARAMS]; /* of parameters that are opened */
    uint32_t opened, order[MOST_LISTS];             /* the parameters that are opened, in this order */
    CtCore *end, *leaf;                             /* what a list that ends gives; what the elements of all give */
    bool states[MOST_PARAMS];                       /* parameters that calls change */
    uint32_t state_count, calls;
    bool refused;
} Recursion;

static CtArena *arena_of(Recursion *r) { return r->p->context->arena; }
static CtCore *use(Recursion *r, CtVar *var) { return ct_core_var(r->p, r->lists.range, var); }

/* ---- the form of the function ---- */

static int param_of(const Recursion *r, const CtCore *core) {
    for (uint32_t i = 0; core->kind == CORE_VAR && i < r->lam->count; i++)
        if (r->lam->params[i] == core->as.var) return (int)i;
    return -1;
}

static bool is_list_of_values(const CtType *type) {
    if (!ct_core_list_is_list(type)) return false;
    CtTypeKind kind = ct_core_list_element(type)->kind;
    return kind != TYPE_CHAR && kind != TYPE_ARRAY && kind != TYPE_FUN;
}

static bool is_empty(const CtCore *core) { return core->kind == CORE_CON && core->as.call.count == 0; }

/* Whether the ends of two lists are the same. */
static bool same_end(const CtCore *a, const CtCore *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == CORE_VAR) return a->as.var == b->as.var;
    if (a->kind == CORE_LIT)
        return a->type->kind == TYPE_INT ? a->as.lit.integer == b->as.lit.integer
                                         : memcmp(&a->as.lit.real, &b->as.lit.real, sizeof a->as.lit.real) == 0;
    return is_empty(a) && is_empty(b) && a->as.call.of.con == b->as.call.of.con;
}

/* case xs of { x : rest → …; [] → end }, along all lists that are opened. */
static bool find_form(Recursion *r) {
    CtCore *body = r->lam->body;
    while (body->kind == CORE_CASE && r->opened < MOST_LISTS) {
        int index = param_of(r, body->as.cases.scrutinee);
        if (index < 0 || r->tails[index] != NULL || !is_list_of_values(r->lam->params[index]->type)) break;
        const CtCase *some = NULL;
        CtCore *end = body->as.cases.otherwise;
        for (uint32_t i = 0; i < body->as.cases.count; i++) {
            if (body->as.cases.cases[i].con->count == 2)
                some = &body->as.cases.cases[i];
            else
                end = body->as.cases.cases[i].body;
        }
        if (some == NULL || end == NULL || some->vars[1] == NULL) break;
        if (r->end != NULL && !same_end(r->end, end)) return false;
        r->end = end;
        r->heads[index] = some->vars[0] != NULL
                              ? some->vars[0]
                              : ct_core_var_new(r->p, "x", ct_core_list_element(r->lam->params[index]->type));
        r->tails[index] = some->vars[1];
        r->order[r->opened++] = (uint32_t)index;
        body = some->body;
    }
    r->leaf = body;
    return r->opened > 0;
}

static bool is_self(const Recursion *r, const CtCore *core) {
    if (core->kind == CORE_VAR) return r->var != NULL && core->as.var == r->var;
    return core->kind == CORE_GLOBAL && r->global != NULL && core->as.global == r->global;
}

static bool is_call(const Recursion *r, const CtCore *core) {
    return core->kind == CORE_APP && is_self(r, core->as.call.of.fun);
}

/* Looks at all calls, and whether the function, the lists and what is left of them have other uses. */
static void look(Recursion *r, CtCore *body) {
    CtCoreList work = {0};
    ct_push(arena_of(r), &work, body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        if (is_self(r, core)) r->refused = true;
        for (uint32_t i = 0; core->kind == CORE_VAR && i < r->lam->count; i++)
            if (core->as.var == r->tails[i] || (r->tails[i] != NULL && core->as.var == r->lam->params[i]))
                r->refused = true;
        if (!is_call(r, core)) {
            ct_core_children(arena_of(r), core, &work);
            continue;
        }
        r->calls++;
        for (uint32_t i = 0; i < r->lam->count; i++) {
            CtCore *arg = core->as.call.args[i];
            if (r->tails[i] != NULL) {
                if (arg->kind != CORE_VAR || arg->as.var != r->tails[i]) r->refused = true;
                continue;
            }
            ct_push(arena_of(r), &work, arg);
            if (param_of(r, arg) == (int)i || r->states[i]) continue;
            r->states[i] = true;
            r->state_count++;
        }
    }
}

/* ---- states and elements ---- */

static CtCore *tuple_of(Recursion *r, CtCore **parts, uint32_t count) {
    return count == 1 ? parts[0] : ct_core_tuple(r->p, r->lists.range, parts, count);
}

/* The states that a call goes on with; of NULL, the parameters themselves. */
static CtCore *states_of(Recursion *r, const CtCore *call) {
    CtCore *parts[MOST_PARAMS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->lam->count; i++)
        if (r->states[i]) parts[count++] = call != NULL ? call->as.call.args[i] : use(r, r->lam->params[i]);
    return tuple_of(r, parts, count);
}

/* let ⟨vars⟩ = value in body, for one variable or several */
static CtCore *opening(Recursion *r, CtVar **vars, uint32_t count, CtCore *value, CtCore *body) {
    if (count == 1) return ct_core_let(r->p, r->lists.range, vars[0], value, body);
    return ct_core_unpack(r->p, r->lists.range, vars, count, value, body);
}

/* let ⟨states⟩ = value in body */
static CtCore *with_states(Recursion *r, CtCore *value, CtCore *body) {
    CtVar *vars[MOST_PARAMS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->lam->count; i++)
        if (r->states[i]) vars[count++] = r->lam->params[i];
    return opening(r, vars, count, value, body);
}

/* The elements of the lists from the given one on: one, or a pair of one and the others. */
static CtType *element_type(Recursion *r, uint32_t from) {
    CtType *first = r->heads[r->order[from]]->type;
    return from + 1 == r->opened ? first : ct_core_type_pair(r->p, first, element_type(r, from + 1));
}

static CtCore *with_elements(Recursion *r, uint32_t from, CtVar *element, CtCore *body) {
    CtVar *head = r->heads[r->order[from]];
    if (from + 1 == r->opened) return ct_core_let(r->p, r->lists.range, head, use(r, element), body);
    CtVar *others = ct_core_var_new(r->p, "others", element_type(r, from + 1)), *vars[] = {head, others};
    body = with_elements(r, from + 1, others, body);
    return ct_core_unpack(r->p, r->lists.range, vars, 2, use(r, element), body);
}

/* The list of these elements. */
static CtCore *zipped(Recursion *r, uint32_t from) {
    CtCore *list = use(r, r->lam->params[r->order[from]]);
    if (from + 1 == r->opened) return list;
    CtVar *vars[] = {ct_core_var_new(r->p, "x", r->heads[r->order[from]]->type),
                     ct_core_var_new(r->p, "y", element_type(r, from + 1))};
    CtCore *pair = ct_core_pair(r->p, r->lists.range, use(r, vars[0]), use(r, vars[1]));
    CtCore *fun = ct_core_lam(r->p, r->lists.range, NULL, vars, 2, pair);
    CtType *pairs = ct_core_list_type_like(r->p, list->type, pair->type);
    return ct_core_list_zipped(r->p, fun, list, zipped(r, from + 1), pairs);
}

/* ---- the leaves ---- */

typedef CtCore *(*Leaf)(Recursion *, CtCore *);

/* The tree of bindings and branches with another term in place of each leaf; NULL where a leaf has another form. */
static CtCore *change_leaves(Recursion *r, CtCore *core, Leaf leaf) {
    if (core->kind == CORE_LET || core->kind == CORE_UNPACK) {
        CtCore *body = change_leaves(r, core->as.let.body, leaf);
        if (body == NULL) return NULL;
        if (core->kind == CORE_LET) return ct_core_let(r->p, core->range, core->as.let.vars[0], core->as.let.rhs, body);
        return ct_core_unpack(r->p, core->range, core->as.let.vars, core->as.let.count, core->as.let.rhs, body);
    }
    if (core->kind != CORE_CASE) return leaf(r, core);
    uint32_t count = core->as.cases.count;
    CtCase *cases = CT_NEW_ARRAY(arena_of(r), CtCase, count + 1);
    CtCore *otherwise = core->as.cases.otherwise, *any = NULL;
    for (uint32_t i = 0; i < count; i++) {
        cases[i] = core->as.cases.cases[i];
        any = cases[i].body = change_leaves(r, cases[i].body, leaf);
        if (any == NULL) return NULL;
    }
    if (otherwise != NULL && (any = otherwise = change_leaves(r, otherwise, leaf)) == NULL) return NULL;
    if (any == NULL) return NULL;
    return ct_core_case(r->p, core->range, any->type, core->as.cases.scrutinee, cases, count, otherwise);
}

static CtCore *leaf_states(Recursion *r, CtCore *core) { return is_call(r, core) ? states_of(r, core) : NULL; }

static bool is_cell(const Recursion *r, const CtCore *core) {
    return core->kind == CORE_CON && core->as.call.count == 2 && ct_core_list_is_list(core->type) &&
           is_call(r, core->as.call.args[1]);
}

static CtCore *leaf_element(Recursion *r, CtCore *core) { return is_cell(r, core) ? core->as.call.args[0] : NULL; }

/* let y = element in (states, y) */
static CtCore *leaf_both(Recursion *r, CtCore *core) {
    if (!is_cell(r, core)) return NULL;
    CtVar *y = ct_core_var_new(r->p, "y", core->as.call.args[0]->type);
    CtCore *both = ct_core_pair(r->p, core->range, states_of(r, core->as.call.args[1]), use(r, y));
    return ct_core_let(r->p, core->range, y, core->as.call.args[0], both);
}

/* ---- the forms ---- */

static CtCore *as_map(Recursion *r) {
    CtType *list = r->lam->body->type;
    CtCore *body = change_leaves(r, r->leaf, leaf_element);
    if (body == NULL) return NULL;
    CT_FIRED("lists.recursion_map");
    CtVar *heads[] = {r->heads[r->order[0]], NULL};
    if (r->opened == 1) {
        CtCore *fun = ct_core_lam(r->p, r->lists.range, NULL, heads, 1, body);
        return ct_core_list_mapped(r->p, fun, use(r, r->lam->params[r->order[0]]), list);
    }
    CtVar *others = ct_core_var_new(r->p, "others", element_type(r, 1));
    heads[1] = others;
    CtCore *fun = ct_core_lam(r->p, r->lists.range, NULL, heads, 2, with_elements(r, 1, others, body));
    return ct_core_list_zipped(r->p, fun, use(r, r->lam->params[r->order[0]]), zipped(r, 1), list);
}

/* The function of mapAccumL, or foldl, for states and an element. */
static CtCore *step(Recursion *r, CtCore *body) {
    CtCore *states = states_of(r, NULL);
    CtVar *vars[] = {ct_core_var_new(r->p, "states", states->type), ct_core_var_new(r->p, "x", element_type(r, 0))};
    body = with_states(r, use(r, vars[0]), with_elements(r, 0, vars[1], body));
    return ct_core_copy(r->p, ct_core_lam(r->p, r->lists.range, NULL, vars, 2, body), NULL);
}

static CtCore *accumulated(Recursion *r, CtCore *body) {
    CtCore *fun = step(r, body), *states = states_of(r, NULL);
    CtCore *args[] = {fun, states, ct_core_list_from_list(r->p, zipped(r, 0))};
    CtCore *made = ct_core_array(r->p, r->lists.range, ARRAY_MAP_ACCUM, args, 3);
    return ct_core_proj(r->p, r->lists.range, made, 1);
}

static CtCore *as_scan(Recursion *r) {
    CtType *list = r->lam->body->type;
    CtCore *body = change_leaves(r, r->leaf, leaf_both);
    if (body == NULL) return NULL;
    CT_FIRED("lists.recursion_scan");
    return ct_core_list_of_array(r->p, accumulated(r, body), list);
}

static CtCore *as_left_fold(Recursion *r) {
    CtCore *body = change_leaves(r, r->leaf, leaf_states);
    if (body == NULL) return NULL;
    CT_FIRED("lists.recursion_left");
    CtCore *fun = step(r, body), *states = states_of(r, NULL);
    CtCore *last = ct_core_list_folded(r->p, fun, states, zipped(r, 0), true);
    return ct_core_copy(r->p, with_states(r, last, r->end), NULL);
}

/* The only call, if it is evaluated in any case, with a variable in its place. */
static CtCore **find_call(Recursion *r, CtCore **at) {
    CtCore *core = *at;
    if (is_call(r, core)) return at;
    CtCore **found = NULL;
    switch (core->kind) {
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PRIM:
        for (uint32_t i = 0; i < core->as.call.count && found == NULL; i++)
            found = find_call(r, &core->as.call.args[i]);
        return found;
    case CORE_LET:
    case CORE_UNPACK:
        found = find_call(r, &core->as.let.rhs);
        return found != NULL ? found : find_call(r, &core->as.let.body);
    case CORE_PROJ: return find_call(r, &core->as.proj.tuple);
    case CORE_CASE: return find_call(r, &core->as.cases.scrutinee);
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING:
    case CORE_LAM:
    case CORE_APP:
    case CORE_LETREC:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL:
    case CORE_FAIL: return NULL;
    }
    return NULL;
}

/* The states in front of each element, with the element. NULL: they may fail. */
static CtCore *with_states_before(Recursion *r, const CtCore *call) {
    CtSourceRange range = r->lists.range;
    CtCore *next = states_of(r, call), *states = states_of(r, NULL);
    if (!ct_core_is_total(next)) return NULL;
    CtVar *vars[] = {ct_core_var_new(r->p, "states", states->type), ct_core_var_new(r->p, "x", element_type(r, 0))};
    CtCore *kept = ct_core_pair(r->p, range, use(r, vars[0]), use(r, vars[1]));
    next = with_states(r, use(r, vars[0]), with_elements(r, 0, vars[1], next));
    CtCore *both = ct_core_pair(r->p, range, next, kept);
    CtCore *fun = ct_core_copy(r->p, ct_core_lam(r->p, range, NULL, vars, 2, both), NULL);
    CtCore *args[] = {fun, states, ct_core_list_from_list(r->p, zipped(r, 0))};
    return ct_core_proj(r->p, range, ct_core_array(r->p, range, ARRAY_MAP_ACCUM, args, 3), 1);
}

static CtCore *as_right_fold(Recursion *r) {
    CtSourceRange range = r->lists.range;
    if (r->calls != 1 || ct_core_list_is_list(r->lam->body->type)) return NULL;
    CtCore *leaf = ct_core_copy(r->p, r->leaf, NULL), **at = find_call(r, &leaf);
    if (at == NULL) return NULL;
    CtCore *call = *at;
    CtVar *rest = ct_core_var_new(r->p, "rest", leaf->type);
    *at = use(r, rest);
    if (!ct_core_is_total(leaf)) return NULL;
    if (r->state_count == 0) {
        CT_FIRED("lists.recursion_right");
        CtVar *vars[] = {ct_core_var_new(r->p, "x", element_type(r, 0)), rest};
        CtCore *fun = ct_core_lam(r->p, range, NULL, vars, 2, with_elements(r, 0, vars[0], leaf));
        return ct_core_list_folded(r->p, ct_core_copy(r->p, fun, NULL), r->end, zipped(r, 0), false);
    }
    CtCore *all = with_states_before(r, call);
    if (all == NULL || (r->end->kind != CORE_LIT && !is_empty(r->end))) return NULL;
    CT_FIRED("lists.recursion_right_states");
    CtVar *both = ct_core_var_new(r->p, "both", all->type->parts[0]);
    CtVar *parts[] = {ct_core_var_new(r->p, "states", both->type->parts[0]),
                      ct_core_var_new(r->p, "x", both->type->parts[1])};
    leaf = with_states(r, use(r, parts[0]), with_elements(r, 0, parts[1], leaf));
    leaf = ct_core_unpack(r->p, range, parts, 2, use(r, both), leaf);
    CtVar *vars[] = {rest, both};
    CtCore *fun = ct_core_copy(r->p, ct_core_lam(r->p, range, NULL, vars, 2, leaf), NULL);
    CtCore *args[] = {fun, r->end, ct_core_array(r->p, range, ARRAY_REVERSE, &all, 1)};
    return ct_core_array(r->p, range, ARRAY_FOLDL, args, 3);
}

/* ---- a program ---- */

/* The body of a function as calls of functions on lists; NULL: it has another form. */
static CtCore *rewritten(Recursion *r) {
    const CtLam *lam = r->lam;
    if (lam->origin != NULL || lam->count > MOST_PARAMS || ct_core_is_deeper(lam->body, DEEPEST)) return NULL;
    r->lists.range = lam->body->range;
    if (!find_form(r)) return NULL;
    look(r, r->end);
    if (r->calls > 0 || r->refused) return NULL;
    look(r, r->leaf);
    if (r->calls == 0 || r->refused) return NULL;
    bool list = ct_core_list_is_list(lam->body->type);
    if (list && is_empty(r->end) && is_list_of_values(lam->body->type)) {
        CtCore *made = r->state_count == 0 ? as_map(r) : as_scan(r);
        if (made != NULL) return made;
    }
    CtCore *left = r->state_count > 0 ? as_left_fold(r) : NULL;
    return left != NULL ? left : as_right_fold(r);
}

typedef struct Walk {
    CtProgram *p;
    bool changed;
} Walk;

/* letrec f = λ… in body */
static CtCore *visit(void *data, CtCore *core) {
    Walk *w = data;
    if (core->kind == CORE_LAM && core->as.lam->origin != NULL) return core;
    core = ct_core_map(w->p, core, visit, data);
    if (core->kind != CORE_LETREC || core->as.letrec.count != 1 || ct_core_list_is_loop(core)) return core;
    const CtBind *bind = &core->as.letrec.binds[0];
    Recursion r = {.lists = {.p = w->p}, .p = w->p, .lam = bind->lam->as.lam, .var = bind->var};
    CtCore *body = rewritten(&r);
    if (body == NULL) return core;
    w->changed = true;
    CtCore *lam = ct_core_lam(w->p, bind->lam->range, r.lam->name, r.lam->params, r.lam->count, body);
    return ct_core_let(w->p, core->range, bind->var, lam, core->as.letrec.body);
}

bool ct_core_list_recursion(CtProgram *p) {
    Walk w = {.p = p};
    uint32_t count = p->globals.count;
    for (uint32_t i = 0; i < count; i++) {
        CtGlobal *global = p->globals.items[i];
        if (global->is_library || global->body == NULL || global->origin != NULL) continue;
        if (ct_core_is_deeper(global->body, DEEPEST)) continue;
        global->body = visit(&w, global->body);
        if (global->body->kind != CORE_LAM) continue;
        const CtLam *lam = global->body->as.lam;
        Recursion r = {.lists = {.p = p}, .p = p, .lam = lam, .global = global};
        CtCore *body = rewritten(&r);
        if (body == NULL) continue;
        w.changed = true;
        global->body = ct_core_lam(p, global->body->range, lam->name, lam->params, lam->count, body);
    }
    return w.changed;
}
