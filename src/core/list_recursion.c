/* Recursion of a program's own along lists becomes a call of a function on lists, of which list_places.c and
 * lists_to_arrays.c make loops over arrays. A function goes along lists if it opens them one after the other, ends
 * where one of them ends, and is called with what is left of each:
 *
 *     f h (x : xs) (y : ys) = e : f h xs ys; f _ _ _ = []      zipWith (λx y. e) xs ys
 *     f s (x : xs) = f e xs; f s [] = end                      let s = foldl (λs x. e) s xs in end
 *     f (x : xs) = e (f xs); f [] = end                        foldr (λx r. e r) end xs
 *     f s (x : xs) = e : f s' xs; f _ [] = []                  toList (snd (mapAccumL (λs x. (s', e)) s (fromList xs)))
 *
 * Where e may fail, f s (x : xs) = e + f s' xs collects e, too, and adds behind the last. Also collected are elements
 * that a parameter gets in front, `f (x : xs) done = f xs (e : done)`, and those in front of a list in a tuple that the
 * call gives, `let (ys, s) = f xs in (e : ys, s)`. What an iteration opens of a list is an element of its own: of (x :
 * y : xs) two elements, where the call goes on with xs or with y : xs, and of f xs = e (take n xs) (f (drop n xs)) a
 * part (list_recursion_form.c).
 *
 * Parameters that are neither passed on nor such lists are the states. The order of evaluation is the program's: only
 * what is done behind the recursive call is done before it, and has to be total. */
#include "core/list_recursion.h"

#include "base/rules.h"

static CtArena *arena_of(CtRecursion *r) { return r->p->context->arena; }
static CtCore *use(CtRecursion *r, CtVar *var) { return ct_core_var(r->p, r->lists.range, var); }
static bool is_call(const CtRecursion *r, const CtCore *core) { return ct_core_recursion_is_call(r, core); }
static bool is_empty(const CtCore *core) { return ct_core_recursion_is_empty(core); }

/* ---- states ---- */

static CtCore *tuple_of(CtRecursion *r, CtCore **parts, uint32_t count) {
    return count == 1 ? parts[0] : ct_core_tuple(r->p, r->lists.range, parts, count);
}

/* The states that a call goes on with; of NULL, the parameters themselves. */
static CtCore *states_of(CtRecursion *r, const CtCore *call) {
    CtCore *parts[MOST_PARAMS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->lam->count; i++)
        if (r->states[i]) parts[count++] = call != NULL ? call->as.call.args[i] : use(r, r->lam->params[i]);
    return tuple_of(r, parts, count);
}

/* let ⟨vars⟩ = value in body, for one variable or several */
static CtCore *opening(CtRecursion *r, CtVar **vars, uint32_t count, CtCore *value, CtCore *body) {
    if (count == 1) return ct_core_let(r->p, r->lists.range, vars[0], value, body);
    return ct_core_unpack(r->p, r->lists.range, vars, count, value, body);
}

/* let ⟨states⟩ = value in body */
static CtCore *with_states(CtRecursion *r, CtCore *value, CtCore *body) {
    CtVar *vars[MOST_PARAMS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->lam->count; i++)
        if (r->states[i]) vars[count++] = r->lam->params[i];
    return opening(r, vars, count, value, body);
}

/* ---- the leaves ---- */

typedef CtCore *(*Leaf)(CtRecursion *, CtCore *);

/* The tree of bindings and branches with another term in place of each leaf; NULL where a leaf has another form. */
static CtCore *change_leaves(CtRecursion *r, CtCore *core, Leaf leaf) {
    if ((core->kind == CORE_LET || core->kind == CORE_UNPACK) && !is_call(r, core->as.let.rhs)) {
        CtCore *body = change_leaves(r, core->as.let.body, leaf);
        if (body == NULL) return NULL;
        if (core->kind == CORE_LET) return ct_core_let(r->p, core->range, core->as.let.vars[0], core->as.let.rhs, body);
        return ct_core_unpack(r->p, core->range, core->as.let.vars, core->as.let.count, core->as.let.rhs, body);
    }
    if (core->kind == CORE_LETREC) {
        CtCore *body = change_leaves(r, core->as.letrec.body, leaf);
        if (body == NULL) return NULL;
        return ct_core_letrec(r->p, core->range, core->as.letrec.binds, core->as.letrec.count, body);
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

static bool is_cell(const CtCore *core) {
    return core->kind == CORE_CON && core->as.call.count == 2 && ct_core_list_is_list(core->type);
}

/* let ⟨parts⟩ = f ⟨…⟩ in (…, e : part, …, part): which parts get elements in front, as bits; 0: another term. */
static uint32_t grown_parts(CtRecursion *r, const CtCore *core, CtCore **elements) {
    if (core->kind != CORE_UNPACK || !is_call(r, core->as.let.rhs)) return 0;
    const CtCore *tuple = core->as.let.body;
    uint32_t parts = 0, count = 0;
    if (tuple->kind != CORE_TUPLE || tuple->as.call.count != core->as.let.count) return 0;
    if (tuple->as.call.count > MOST_COLLECTED) return 0;
    for (uint32_t i = 0; i < tuple->as.call.count; i++) {
        CtCore *part = tuple->as.call.args[i];
        const CtCore *rest = is_cell(part) ? part->as.call.args[1] : part;
        if (rest->kind != CORE_VAR || rest->as.var != core->as.let.vars[i]) return 0;
        if (!is_cell(part)) continue;
        if (!ct_core_recursion_is_values(part->type)) return 0; /* arrays of ever other lengths */
        CtCore *element = elements[count++] = part->as.call.args[0];
        if (!ct_core_is_total(element)) return 0;
        for (uint32_t j = 0; j < core->as.let.count; j++)
            if (core->as.let.vars[j] != NULL && ct_core_list_occurs(&r->lists, element, core->as.let.vars[j])) return 0;
        parts |= UINT32_C(1) << i;
    }
    return parts;
}

/* e + f ⟨…⟩, where e is evaluated before the call and + cannot fail. */
static bool is_operand(CtRecursion *r, CtCore *core) {
    if (core->kind != CORE_PRIM || core->as.call.count != 2 || !is_call(r, core->as.call.args[1])) return false;
    CtCore *first = core->as.call.args[0], *second = core->as.call.args[1];
    CtCore *parts[] = {use(r, ct_core_var_new(r->p, "e", first->type)),
                       use(r, ct_core_var_new(r->p, "r", second->type))};
    return ct_core_is_total(ct_core_prim(r->p, core->range, core->as.call.of.prim, parts, 2));
}

static uint32_t bit_count(uint32_t bits) {
    uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1) count++;
    return count;
}

/* Whether a state and an element that is put in front of an accumulator may both fail: the elements come first in the
 * loop, whatever the order of the arguments. */
static bool changes_order(const CtRecursion *r, const CtCore *call) {
    bool states = false, grown = false;
    for (uint32_t i = 0; i < r->lam->count; i++) {
        const CtCore *arg = call->as.call.args[i];
        states |= r->states[i] && !ct_core_is_total(arg);
        grown |= r->grown[i] && !ct_core_is_total(arg->as.call.args[0]);
    }
    return states && grown;
}

/* What a leaf gives: the states that it goes on with, and the elements that are collected. */
static CtCore *leaf_both(CtRecursion *r, CtCore *core) {
    CtCore *elements[MOST_COLLECTED + MOST_PARAMS], *parts[MOST_COLLECTED + MOST_PARAMS], *call = core;
    CtVar *vars[MOST_COLLECTED + MOST_PARAMS];
    uint32_t grown = grown_parts(r, core, elements), count = bit_count(grown);
    CtLeafForm form = grown != 0 ? LEAF_TUPLE : LEAF_CALL;
    if (grown != 0) call = core->as.let.rhs;
    if (is_cell(core) && is_call(r, core->as.call.args[1])) {
        form = LEAF_CELL;
        elements[count++] = core->as.call.args[0];
        call = core->as.call.args[1];
    }
    if (is_operand(r, core)) {
        if (r->form == LEAF_PRIM && r->prim != core->as.call.of.prim) return NULL;
        form = LEAF_PRIM;
        r->prim = core->as.call.of.prim;
        elements[count++] = core->as.call.args[0];
        call = core->as.call.args[1];
    }
    if (!is_call(r, call)) return NULL;
    if (r->form != LEAF_NONE && (r->form != form || r->parts != grown)) return NULL;
    r->form = form;
    r->parts = grown;
    for (uint32_t i = 0; i < r->lam->count; i++)
        if (r->grown[i]) elements[count++] = call->as.call.args[i]->as.call.args[0];
    for (uint32_t i = 0; i < count; i++) {
        vars[i] = ct_core_var_new(r->p, "y", elements[i]->type);
        parts[i] = use(r, vars[i]);
    }
    if (count == 0 && r->state_count == 0) return NULL;
    if (changes_order(r, call)) return NULL;
    CtCore *both = r->state_count > 0 ? states_of(r, call) : NULL;
    if (count > 0) {
        CtCore *all = tuple_of(r, parts, count);
        both = both != NULL ? ct_core_pair(r->p, core->range, both, all) : all;
    }
    for (uint32_t i = count; i-- > 0;) both = ct_core_let(r->p, core->range, vars[i], elements[i], both);
    return both;
}

/* ---- the end ---- */

static CtCore *appended(CtRecursion *r, CtCore *front, CtCore *back, CtType *list) {
    CtCore *parts[] = {front, ct_core_list_from_list(r->p, back)};
    return ct_core_list_of_array(r->p, ct_core_array(r->p, r->lists.range, ARRAY_APPEND, parts, 2), list);
}

/* What was collected in front of a list. */
static CtCore *in_front(CtRecursion *r, CtCore *array, CtCore *list) {
    if (is_empty(list)) return ct_core_list_of_array(r->p, array, list->type);
    return appended(r, array, list, list->type);
}

/* The array of one of the elements that are collected together. */
static CtCore *collected_part(CtRecursion *r, CtVar *array, uint32_t index, uint32_t count) {
    if (count == 1) return use(r, array);
    CtVar *x = ct_core_var_new(r->p, "x", array->type->parts[0]);
    CtCore *part = ct_core_proj(r->p, r->lists.range, use(r, x), index);
    CtCore *args[] = {ct_core_lam(r->p, r->lists.range, NULL, &x, 1, part), use(r, array)};
    return ct_core_array(r->p, r->lists.range, ARRAY_MAP, args, 2);
}

/* The end with the elements that were collected in front of the lists in it. */
static CtCore *end_with(CtRecursion *r, CtCore *core, CtVar *array, uint32_t count) {
    if (core->kind == CORE_FAIL || r->form == LEAF_CALL) return core;
    if (core->kind == CORE_LET || core->kind == CORE_UNPACK) {
        CtCore *body = end_with(r, core->as.let.body, array, count);
        if (body == NULL) return NULL;
        if (core->kind == CORE_LET) return ct_core_let(r->p, core->range, core->as.let.vars[0], core->as.let.rhs, body);
        return ct_core_unpack(r->p, core->range, core->as.let.vars, core->as.let.count, core->as.let.rhs, body);
    }
    if (core->kind == CORE_CASE) {
        CtCase *cases = CT_NEW_ARRAY(arena_of(r), CtCase, core->as.cases.count + 1);
        CtCore *otherwise = core->as.cases.otherwise;
        for (uint32_t i = 0; i < core->as.cases.count; i++) {
            cases[i] = core->as.cases.cases[i];
            cases[i].body = end_with(r, cases[i].body, array, count);
            if (cases[i].body == NULL) return NULL;
        }
        if (otherwise != NULL && (otherwise = end_with(r, otherwise, array, count)) == NULL) return NULL;
        return ct_core_case(r->p, core->range, core->type, core->as.cases.scrutinee, cases, core->as.cases.count,
                            otherwise);
    }
    if (r->form == LEAF_CELL) return in_front(r, collected_part(r, array, 0, count), core);
    if (core->kind != CORE_TUPLE) return NULL;
    CtCore *parts[MOST_COLLECTED];
    uint32_t next = 0;
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        bool grows = (r->parts >> i & 1) != 0;
        parts[i] = core->as.call.args[i];
        if (grows) parts[i] = in_front(r, collected_part(r, array, next++, count), parts[i]);
    }
    return ct_core_tuple(r->p, core->range, parts, core->as.call.count);
}

/* The end, combined with the elements from the last to the first. */
static CtCore *end_of_operands(CtRecursion *r, CtCore *end, CtVar *array, uint32_t count) {
    CtCore *elements = collected_part(r, array, 0, count);
    CtVar *vars[] = {ct_core_var_new(r->p, "rest", end->type), ct_core_var_new(r->p, "x", elements->type->parts[0])};
    CtCore *operands[] = {use(r, vars[1]), use(r, vars[0])};
    CtCore *body = ct_core_prim(r->p, r->lists.range, r->prim, operands, 2);
    CtCore *args[] = {ct_core_lam(r->p, r->lists.range, NULL, vars, 2, body), end,
                      ct_core_array(r->p, r->lists.range, ARRAY_REVERSE, &elements, 1)};
    return ct_core_array(r->p, r->lists.range, ARRAY_FOLDL, args, 3);
}

/* A parameter that calls put elements in front of: these from the last to the first, and what it was at first. */
static CtCore *with_grown(CtRecursion *r, CtVar *array, uint32_t from, uint32_t count, CtCore *body) {
    for (uint32_t i = 0; i < r->lam->count; i++) {
        if (!r->grown[i]) continue;
        CtVar *param = r->lam->params[i];
        CtCore *part = collected_part(r, array, from++, count);
        part = ct_core_array(r->p, r->lists.range, ARRAY_REVERSE, &part, 1);
        body = ct_core_let(r->p, r->lists.range, param, appended(r, part, use(r, param), param->type), body);
    }
    return body;
}

/* ---- the forms ---- */

static CtCore *as_map(CtRecursion *r, CtCore *body) {
    CT_FIRED("lists.recursion_map");
    CtType *list = r->lam->body->type;
    CtVar *x = ct_core_var_new(r->p, "x", ct_core_recursion_element_type(r, 0));
    body = ct_core_recursion_with_elements(r, 0, x, body);
    if (r->along_count == 1) {
        CtCore *fun = ct_core_copy(r->p, ct_core_lam(r->p, r->lists.range, NULL, &x, 1, body), NULL);
        return ct_core_list_mapped(r->p, fun, ct_core_recursion_elements(r, 0), list);
    }
    CtVar *vars[] = {ct_core_var_new(r->p, "x", x->type->parts[0]), ct_core_var_new(r->p, "others", x->type->parts[1])};
    CtCore *pair = ct_core_pair(r->p, r->lists.range, use(r, vars[0]), use(r, vars[1]));
    body = ct_core_let(r->p, r->lists.range, x, pair, body);
    CtCore *fun = ct_core_copy(r->p, ct_core_lam(r->p, r->lists.range, NULL, vars, 2, body), NULL);
    CtCore *first = ct_core_recursion_along(r, 0), *others = ct_core_recursion_elements(r, 1);
    return ct_core_list_zipped(r->p, fun, first, others, list);
}

/* The function of mapAccumL, or foldl, for states and an element; of map, where there are no states. */
static CtCore *step(CtRecursion *r, CtCore *body) {
    CtVar *vars[2];
    uint32_t count = 0;
    if (r->state_count > 0) vars[count++] = ct_core_var_new(r->p, "states", states_of(r, NULL)->type);
    vars[count++] = ct_core_var_new(r->p, "x", ct_core_recursion_element_type(r, 0));
    body = ct_core_recursion_with_elements(r, 0, vars[count - 1], body);
    if (r->state_count > 0) body = with_states(r, use(r, vars[0]), body);
    return ct_core_copy(r->p, ct_core_lam(r->p, r->lists.range, NULL, vars, count, body), NULL);
}

static CtCore *as_left_fold(CtRecursion *r, CtCore *body) {
    CT_FIRED("lists.recursion_left");
    CtCore *fun = step(r, body), *states = states_of(r, NULL);
    CtCore *last = ct_core_list_folded(r->p, fun, states, ct_core_recursion_elements(r, 0), true);
    return with_states(r, last, r->end);
}

/* let ⟨states⟩ array = mapAccumL … in end */
static CtCore *as_scan(CtRecursion *r, CtCore *body) {
    CtSourceRange range = r->lists.range;
    CtType *elements = r->state_count > 0 ? body->type->parts[1] : body->type;
    bool one = r->form == LEAF_CELL || r->form == LEAF_PRIM;
    uint32_t count = r->grown_count + (one ? 1 : bit_count(r->parts));
    CtVar *array = ct_core_var_new(r->p, "collected", ct_core_type_array(r->p, elements));
    CtCore *end = r->form == LEAF_PRIM ? end_of_operands(r, r->end, array, count) : end_with(r, r->end, array, count);
    if (end == NULL) return NULL;
    CT_FIRED("lists.recursion_scan");
    if (r->grown_count > 0) CT_FIRED("lists.recursion_grown");
    if (r->form == LEAF_TUPLE) CT_FIRED("lists.recursion_tuple");
    if (r->form == LEAF_PRIM) CT_FIRED("lists.recursion_operand");
    end = with_grown(r, array, count - r->grown_count, count, end);
    CtCore *fun = step(r, body), *all = ct_core_list_from_list(r->p, ct_core_recursion_elements(r, 0));
    if (r->state_count == 0) {
        CtCore *args[] = {fun, all};
        return ct_core_let(r->p, range, array, ct_core_array(r->p, range, ARRAY_MAP, args, 2), end);
    }
    CtCore *args[] = {fun, states_of(r, NULL), all}, *made = ct_core_array(r->p, range, ARRAY_MAP_ACCUM, args, 3);
    bool ends_with_states = false;
    for (uint32_t i = 0; i < r->lam->count; i++)
        ends_with_states |= r->states[i] && ct_core_list_occurs(&r->lists, end, r->lam->params[i]);
    if (!ends_with_states) return ct_core_let(r->p, range, array, ct_core_proj(r->p, range, made, 1), end);
    CtVar *last = ct_core_var_new(r->p, "states", made->type->parts[0]), *vars[] = {last, array};
    return ct_core_unpack(r->p, range, vars, 2, made, with_states(r, use(r, last), end));
}

typedef CT_VEC(const CtCore *) Bindings;

/* The only call, if it is evaluated in any case. `around`: the bindings in whose scope it is, innermost first. */
static CtCore **find_call(CtRecursion *r, CtCore **at, Bindings *around) {
    CtCore *core = *at;
    if (is_call(r, core)) return at;
    CtCore **found = NULL;
    switch (core->kind) {
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PRIM:
        for (uint32_t i = 0; i < core->as.call.count && found == NULL; i++)
            found = find_call(r, &core->as.call.args[i], around);
        return found;
    case CORE_LET:
    case CORE_UNPACK:
        found = find_call(r, &core->as.let.rhs, around);
        if (found != NULL) return found;
        found = find_call(r, &core->as.let.body, around);
        if (found != NULL) ct_push(r->p->context->arena, around, core);
        return found;
    case CORE_PROJ: return find_call(r, &core->as.proj.tuple, around);
    case CORE_CASE: return find_call(r, &core->as.cases.scrutinee, around);
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
static CtCore *with_states_before(CtRecursion *r, const CtCore *call, const Bindings *around) {
    CtSourceRange range = r->lists.range;
    CtCore *next = states_of(r, call), *states = states_of(r, NULL);
    for (uint32_t i = 0; i < around->count; i++) {
        const CtCore *b = around->items[i];
        next = b->kind == CORE_LET ? ct_core_let(r->p, range, b->as.let.vars[0], b->as.let.rhs, next)
                                   : ct_core_unpack(r->p, range, b->as.let.vars, b->as.let.count, b->as.let.rhs, next);
    }
    if (!ct_core_is_total(next)) return NULL;
    CtVar *vars[] = {ct_core_var_new(r->p, "states", states->type),
                     ct_core_var_new(r->p, "x", ct_core_recursion_element_type(r, 0))};
    CtCore *kept = ct_core_pair(r->p, range, use(r, vars[0]), use(r, vars[1]));
    next = with_states(r, use(r, vars[0]), ct_core_recursion_with_elements(r, 0, vars[1], next));
    CtCore *both = ct_core_pair(r->p, range, next, kept);
    CtCore *fun = ct_core_copy(r->p, ct_core_lam(r->p, range, NULL, vars, 2, both), NULL);
    CtCore *args[] = {fun, states, ct_core_list_from_list(r->p, ct_core_recursion_elements(r, 0))};
    return ct_core_proj(r->p, range, ct_core_array(r->p, range, ARRAY_MAP_ACCUM, args, 3), 1);
}

static CtCore *as_right_fold(CtRecursion *r) {
    CtSourceRange range = r->lists.range;
    if (r->calls != 1 || r->grown_count > 0 || ct_core_list_is_list(r->lam->body->type)) return NULL;
    Bindings around = {0};
    CtCore *leaf = ct_core_copy(r->p, r->leaf, NULL), **at = find_call(r, &leaf, &around);
    if (at == NULL) return NULL;
    CtCore *call = *at;
    CtVar *rest = ct_core_var_new(r->p, "rest", leaf->type);
    *at = use(r, rest);
    if (!ct_core_is_total(leaf)) return NULL;
    if (r->state_count == 0) {
        CT_FIRED("lists.recursion_right");
        CtVar *vars[] = {ct_core_var_new(r->p, "x", ct_core_recursion_element_type(r, 0)), rest};
        CtCore *fun = ct_core_lam(r->p, range, NULL, vars, 2, ct_core_recursion_with_elements(r, 0, vars[0], leaf));
        CtCore *all = ct_core_recursion_elements(r, 0);
        return ct_core_list_folded(r->p, ct_core_copy(r->p, fun, NULL), r->end, all, false);
    }
    CtCore *all = with_states_before(r, call, &around);
    if (all == NULL || (r->end->kind != CORE_LIT && !is_empty(r->end))) return NULL;
    CT_FIRED("lists.recursion_right_states");
    CtVar *both = ct_core_var_new(r->p, "both", all->type->parts[0]);
    CtVar *parts[] = {ct_core_var_new(r->p, "states", both->type->parts[0]),
                      ct_core_var_new(r->p, "x", both->type->parts[1])};
    leaf = with_states(r, use(r, parts[0]), ct_core_recursion_with_elements(r, 0, parts[1], leaf));
    leaf = ct_core_unpack(r->p, range, parts, 2, use(r, both), leaf);
    CtVar *vars[] = {rest, both};
    CtCore *fun = ct_core_copy(r->p, ct_core_lam(r->p, range, NULL, vars, 2, leaf), NULL);
    CtCore *args[] = {fun, r->end, ct_core_array(r->p, range, ARRAY_REVERSE, &all, 1)};
    return ct_core_array(r->p, range, ARRAY_FOLDL, args, 3);
}

/* ---- a program ---- */

/* The body of a function as calls of functions on lists; NULL: it has another form. */
static CtCore *rewritten(CtRecursion *r) {
    const CtLam *lam = r->lam;
    if (lam->origin != NULL || lam->count > MOST_PARAMS || ct_core_is_deeper(lam->body, DEEPEST)) return NULL;
    r->lists.range = lam->body->range;
    if (!ct_core_recursion_form(r)) return NULL;
    CtCore *body = change_leaves(r, r->leaf, leaf_both), *made = NULL;
    if (body != NULL && ct_core_recursion_has_call(r, body)) body = NULL; /* not only where a branch ends */
    if (body != NULL && r->form == LEAF_PRIM && (made = as_right_fold(r)) != NULL) body = NULL; /* without an array */
    if (body != NULL && r->form == LEAF_CELL && !ct_core_recursion_is_values(lam->body->type)) body = NULL;
    bool maps = body != NULL && r->form == LEAF_CELL && r->state_count + r->grown_count == 0 && is_empty(r->end);
    if (maps)
        made = as_map(r, body);
    else if (body != NULL && r->form == LEAF_CALL && r->grown_count == 0)
        made = as_left_fold(r, body);
    else if (body != NULL)
        made = as_scan(r, body);
    if (made == NULL && r->form != LEAF_PRIM) made = as_right_fold(r);
    return made != NULL ? ct_core_copy(r->p, ct_core_recursion_with_arrays(r, made), NULL) : NULL;
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
    CtRecursion r = {.lists = {.p = w->p}, .p = w->p, .lam = bind->lam->as.lam, .var = bind->var};
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
        if (!ct_core_within_depth(p->context->arena, global->body, DEEPEST)) continue;
        global->body = visit(&w, global->body);
        if (global->body->kind != CORE_LAM) continue;
        const CtLam *lam = global->body->as.lam;
        CtRecursion r = {.lists = {.p = p}, .p = p, .lam = lam, .global = global};
        CtCore *body = rewritten(&r);
        if (body == NULL) continue;
        w.changed = true;
        global->body = ct_core_lam(p, global->body->range, lam->name, lam->params, lam->count, body);
    }
    return w.changed;
}
