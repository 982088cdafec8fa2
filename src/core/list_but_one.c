/* A list of all elements but the one at an index, as a minor of a matrix is made of: [x | (i, x) <- zip [0 ..] xs,
 * i /= k], or [f i | i <- [0 .. n − 1], i /= k]. Its length is known before it is made:
 *
 *     foldl (λs x. if i == k then s else snoc s y) [||] xs   →   build (n − (p < n)) (λj. i = j < p ? j : j + 1; y)
 *                                                                where p = k < 0 ? n : k
 *
 * So rows that are made in this way have one length where the rows that they are made of have one. What is computed of
 * an element in front of the comparison is not computed of the one that is left out: it must not be able to fail. The
 * program's own recursion that leaves out one element has such an array, too. */
#include "core/list_stages.h"

#include "base/rules.h"

typedef struct ButOne {
    CtLists *s;
    CtListChain *chain;
    const CtLam *pair;  /* of the array that the source is: what makes an element of an index; NULL: it is a range */
    CtCore *count;      /* the number of elements of that array */
    CtBinding *source;  /* that array's */
    uint32_t number;    /* which component of that is the index, or it and `start` */
    CtCore *start;      /* an atom, or NULL: 0 */
    const CtCon *small; /* of the Integer that the component is, or NULL: it is an Int */
    CtVar *state;
    CtMap elements, numbers, locals; /* variables: an element, the number that says where it is, or bound on the way */
    CtCore *skipped;                 /* the number of the element that is left out */
} ButOne;

static CtArena *arena_of(const ButOne *b) { return b->s->p->context->arena; }

static void mark(const ButOne *b, CtMap *marks, CtVar *var) {
    if (var != NULL) ct_map_set(arena_of(b), marks, ct_key(var), var);
}

static bool is_marked(const CtMap *marks, const CtCore *core) {
    return core->kind == CORE_VAR && ct_map_has(marks, ct_key(core->as.var));
}

/* ---- where elements come from ---- */

/* λi. (start + i, …), the function of the array that `zip [start ..] xs` is. */
static bool counts(ButOne *b, const CtLam *lam) {
    if (lam->body->kind != CORE_TUPLE) return false;
    for (uint32_t i = 0; i < lam->body->as.call.count; i++) {
        const CtCore *part = lam->body->as.call.args[i];
        b->start = NULL;
        b->small = part->kind == CORE_CON && part->as.call.count == 1 ? part->as.call.of.con : NULL;
        if (b->small != NULL) part = part->as.call.args[0];
        if (part->kind == CORE_PRIM && part->as.call.of.prim == PRIM_INT_ADD) {
            b->start = part->as.call.args[0];
            part = part->as.call.args[1];
        }
        b->number = i;
        bool outside = b->start == NULL || b->start->kind == CORE_LIT ||
                       (b->start->kind == CORE_VAR && b->start->as.var != lam->params[0]);
        if (outside && part->kind == CORE_VAR && part->as.var == lam->params[0]) return true;
    }
    return false;
}

/* The binding of the source's array among those around; what is bound in it is so in front of it then. NULL: the array
 * is bound elsewhere. */
static CtBinding *binding_of(ButOne *b) {
    CtBindings *around = &b->chain->around, all = {0};
    uint32_t at = UINT32_MAX;
    for (uint32_t i = 0; i < around->count; i++) {
        CtBinding one = around->items[i];
        bool is_source = one.var == b->chain->source.array;
        for (; is_source && one.rhs->kind == CORE_LET; one.rhs = one.rhs->as.let.body)
            ct_push(arena_of(b), &all, ((CtBinding){one.rhs->as.let.vars[0], one.rhs->as.let.rhs}));
        if (is_source) at = all.count;
        ct_push(arena_of(b), &all, one);
    }
    *around = all;
    return at != UINT32_MAX ? &around->items[at] : NULL;
}

/* Whether a term may be evaluated twice. */
static bool is_length(const CtCore *core) {
    bool length = core->kind == CORE_ARRAY && core->as.call.of.array == ARRAY_LENGTH;
    return ct_core_is_atom(core) || (length && ct_core_is_atom(core->as.call.args[0]));
}

/* Whether the components of a pair are total, or read an array where it has elements. */
static bool is_pair_total(const CtLam *pair, const CtCore *count) {
    for (uint32_t i = 0; i < pair->body->as.call.count; i++) {
        const CtCore *part = pair->body->as.call.args[i];
        if (ct_core_is_total(part)) continue;
        if (part->kind != CORE_ARRAY || part->as.call.of.array != ARRAY_INDEX || count->kind != CORE_ARRAY)
            return false;
        const CtCore *array = part->as.call.args[0], *index = part->as.call.args[1], *of = count->as.call.args[0];
        if (array->kind != CORE_VAR || of->kind != CORE_VAR || array->as.var != of->as.var) return false;
        if (index->kind != CORE_VAR || index->as.var != pair->params[0]) return false;
    }
    return true;
}

static bool has_numbers(ButOne *b) {
    const CtListSource *source = &b->chain->source;
    b->start = source->from;
    if (source->row != NULL) return false;
    if (source->maker != NULL) {
        b->pair = source->maker;
        b->count = source->count;
        bool whole = source->from == NULL || (source->from->kind == CORE_LIT && source->from->as.lit.integer == 0);
        return whole && counts(b, b->pair);
    }
    if (source->array == NULL)
        return source->step == NULL || (source->step->kind == CORE_LIT && source->step->as.lit.integer == 1);
    CtBinding *binding = source->count == NULL ? binding_of(b) : NULL;
    const CtCore *array = binding != NULL ? binding->rhs : NULL;
    if (array == NULL || array->kind != CORE_ARRAY || array->as.call.of.array != ARRAY_BUILD) return false;
    if (array->as.call.args[1]->kind != CORE_LAM || !is_length(array->as.call.args[0])) return false;
    b->pair = array->as.call.args[1]->as.lam;
    b->count = array->as.call.args[0];
    if (b->pair->origin != NULL || !counts(b, b->pair) || !is_pair_total(b->pair, b->count)) return false;
    b->source = binding;
    return true;
}

static bool is_number(const ButOne *b, const CtCore *core) {
    if (core->kind == CORE_PROJ && b->pair != NULL)
        return core->as.proj.index == b->number && is_marked(&b->elements, core->as.proj.tuple);
    return is_marked(&b->numbers, core) || (b->pair == NULL && is_marked(&b->elements, core));
}

/* ---- the comparison ---- */

static const CtCore *branch(const CtCore *core, bool truth) {
    for (uint32_t i = 0; i < core->as.cases.count; i++)
        if ((core->as.cases.cases[i].con == &core->as.cases.scrutinee->type->data->cons[truth]))
            return core->as.cases.cases[i].body;
    return core->as.cases.otherwise;
}

static bool is_choice(const ButOne *b, const CtCore *core) {
    return core->kind == CORE_CASE && core->as.cases.scrutinee->type == b->s->p->bool_type;
}

static bool is_truth(const ButOne *b, const CtCore *core, bool truth) {
    return core != NULL && core->kind == CORE_CON && core->as.call.of.con == &b->s->p->bool_type->data->cons[truth];
}

/* Goes past what is bound in front of the comparison; NULL where that may fail. */
static const CtCore *past(ButOne *b, const CtCore *let) {
    const CtCore *rhs = let->as.let.rhs;
    if (!ct_core_is_total(rhs)) return NULL;
    bool element = is_marked(&b->elements, rhs), number = is_number(b, rhs);
    uint32_t count = let->kind == CORE_UNPACK ? let->as.let.count : 1;
    for (uint32_t i = 0; i < count; i++) mark(b, &b->locals, let->as.let.vars[i]);
    if (let->kind == CORE_UNPACK && element && b->pair != NULL) mark(b, &b->numbers, let->as.let.vars[b->number]);
    if (let->kind == CORE_LET && element) mark(b, &b->elements, let->as.let.vars[0]);
    if (let->kind == CORE_LET && number) mark(b, &b->numbers, let->as.let.vars[0]);
    return let->as.let.body;
}

/* Whether a term compares two Ints, or two Integers. */
static bool is_equality(const ButOne *b, const CtCore *core) {
    if (b->small == NULL) return core->kind == CORE_PRIM && core->as.call.of.prim == PRIM_INT_EQ;
    if (core->kind != CORE_APP || core->as.call.count != 2 || core->as.call.of.fun->kind != CORE_GLOBAL) return false;
    const CtGlobal *global = core->as.call.of.fun->as.global;
    return global->is_library && strcmp(ct_core_prelude_name(global->name->text), "==@Integer") == 0;
}

/* Whether a test says if this is the element to leave out; `*left_out` is what it then is. */
static bool compares(ButOne *b, const CtCore *test, bool *left_out) {
    *left_out = true;
    while (test != NULL && test->kind != CORE_PRIM && test->kind != CORE_APP) {
        if (test->kind == CORE_LET || test->kind == CORE_UNPACK) {
            test = past(b, test);
            continue;
        }
        bool negates = is_choice(b, test) && is_truth(b, branch(test, true), false) &&
                       is_truth(b, branch(test, false), true); /* if test then False else True */
        if (!negates) return false;
        test = test->as.cases.scrutinee;
        *left_out = !*left_out;
    }
    if (test == NULL || !is_equality(b, test)) return false;
    for (uint32_t i = 0; i < 2; i++) {
        CtCore *number = test->as.call.args[i], *other = test->as.call.args[1 - i];
        bool outside = other->kind == CORE_LIT || (other->kind == CORE_VAR && !is_marked(&b->locals, other));
        if (!outside || !is_number(b, number)) continue;
        b->skipped = other;
        return true;
    }
    return false;
}

/* The element that a term puts behind the state, with what is bound for it; NULL: it does something else. */
static CtCore *put_behind(const ButOne *b, CtCore *core) {
    CtProgram *p = b->s->p;
    if (core->kind == CORE_LET || core->kind == CORE_UNPACK) {
        CtCore *body = put_behind(b, core->as.let.body);
        if (body == NULL) return NULL;
        if (core->kind == CORE_LET) return ct_core_let(p, core->range, core->as.let.vars[0], core->as.let.rhs, body);
        return ct_core_unpack(p, core->range, core->as.let.vars, core->as.let.count, core->as.let.rhs, body);
    }
    bool snoc = core->kind == CORE_ARRAY && core->as.call.of.array == ARRAY_SNOC &&
                core->as.call.args[0]->kind == CORE_VAR && core->as.call.args[0]->as.var == b->state;
    return snoc ? core->as.call.args[1] : NULL;
}

/* What is put behind the state for an element that is kept. */
static CtCore *kept(ButOne *b, CtCore *core) {
    CtProgram *p = b->s->p;
    if (core->kind == CORE_LET || core->kind == CORE_UNPACK) {
        CtCore *body = past(b, core) != NULL ? kept(b, core->as.let.body) : NULL;
        if (body == NULL) return NULL;
        if (core->kind == CORE_LET) return ct_core_let(p, core->range, core->as.let.vars[0], core->as.let.rhs, body);
        return ct_core_unpack(p, core->range, core->as.let.vars, core->as.let.count, core->as.let.rhs, body);
    }
    bool left_out;
    if (!is_choice(b, core) || !compares(b, core->as.cases.scrutinee, &left_out)) return NULL;
    const CtCore *none = branch(core, left_out);
    bool same = none->kind == CORE_VAR && none->as.var == b->state;
    return same ? put_behind(b, (CtCore *)branch(core, !left_out)) : NULL;
}

/* ---- the array ---- */

static CtCore *choose_if_less(CtLists *s, CtCore *x, CtCore *y, CtCore *yes, CtCore *no) {
    return ct_core_if(s->p, s->range, ct_core_prim2(s->p, s->range, PRIM_INT_LT, x, y), yes, no);
}

/* The array of an element for each i < n but `index`, an atom. */
static CtCore *all_but(CtLists *s, CtBindings *around, CtCore *n, CtCore *index, CtVar *i, CtCore *element,
                       CtSourceRange range) {
    CtProgram *p = s->p;
    CtCore *zero = ct_core_int(p, s->range, 0), *one = ct_core_int(p, s->range, 1);
    n = ct_core_list_bind_atom(s, around, "n", n);
    CtCore *place = choose_if_less(s, index, zero, ct_core_list_again(s, n), ct_core_list_again(s, index));
    place = ct_core_list_bind_atom(s, around, "place", place);
    CtCore *left_out =
        choose_if_less(s, ct_core_list_again(s, place), ct_core_list_again(s, n), one, ct_core_int(p, s->range, 0));
    CtCore *count = ct_core_prim2(p, s->range, PRIM_INT_SUB, ct_core_list_again(s, n), left_out);
    CtVar *j = ct_core_list_var(s, "j", p->int_type);
    CtCore *next = ct_core_prim2(p, s->range, PRIM_INT_ADD, ct_core_list_use(s, j), ct_core_int(p, s->range, 1));
    CtCore *at = choose_if_less(s, ct_core_list_use(s, j), ct_core_list_again(s, place), ct_core_list_use(s, j), next);
    element = ct_core_let(p, s->range, i, at, element);
    CtCore *args[] = {count, ct_core_lam(p, s->range, NULL, &j, 1, element)};
    return ct_core_array(p, range, ARRAY_BUILD, args, 2);
}

static CtCore *behind_start(const ButOne *b, CtCore *number) {
    bool zero = b->start == NULL || (b->start->kind == CORE_LIT && b->start->as.lit.integer == 0);
    if (zero) return number;
    return ct_core_prim2(b->s->p, b->s->range, PRIM_INT_SUB, number, ct_core_list_again(b->s, b->start));
}

/* The index of the element that is left out; of an Integer that is no Int: −1. */
static CtCore *skipped_index(const ButOne *b) {
    CtProgram *p = b->s->p;
    if (b->small == NULL) return behind_start(b, b->skipped);
    CtVar *n = ct_core_list_var(b->s, "n", p->int_type);
    CtCase small = {(CtCon *)b->small, &n, behind_start(b, ct_core_list_use(b->s, n))};
    return ct_core_case(p, b->s->range, p->int_type, b->skipped, &small, 1, ct_core_int(p, b->s->range, -1));
}

/* Nothing reads the source's array. */
static void leave_out_source(ButOne *b) {
    CtBindings *around = &b->chain->around;
    uint32_t at = (uint32_t)(b->source - around->items);
    for (uint32_t i = at; i + 1 < around->count; i++) around->items[i] = around->items[i + 1];
    around->count--;
}

CtCore *ct_core_list_but_one(CtLists *s, CtListChain *chain) {
    CtProgram *p = s->p;
    ButOne b = {.s = s, .chain = chain};
    if (chain->parts != NULL || !has_numbers(&b)) return NULL;
    b.state = ct_core_list_var(s, "state", chain->first->state);
    CtVar *x = ct_core_list_var(s, "x", ct_core_list_source_type(s, &chain->source));
    mark(&b, &b.elements, x);
    mark(&b, &b.locals, x);
    CtCore *body = chain->first->step(s, chain->first, ct_core_list_use(s, b.state), ct_core_list_use(s, x));
    CtCore *element = body != NULL ? kept(&b, body) : NULL;
    if (element == NULL || ct_core_list_occurs(s, element, b.state)) return NULL;
    CT_FIRED("lists.but_one");
    if (b.source != NULL) leave_out_source(&b);
    CtCore *n = b.count != NULL ? ct_core_list_copy(s, b.count) : ct_core_list_count(s, &chain->source);
    CtCore *index = ct_core_list_bind_atom(s, &chain->around, "index", skipped_index(&b));
    CtVar *i = ct_core_list_var(s, "i", p->int_type);
    CtCore *number = ct_core_list_use(s, i);
    CtCore *taken =
        b.pair != NULL ? ct_core_list_apply(s, b.pair->node, &number) : ct_core_list_at(s, &chain->source, number);
    element = ct_core_list_with_element(s, x, taken, element);
    CtSourceRange range = chain->source.array != NULL ? s->range : chain->source.range;
    return all_but(s, &chain->around, n, index, i, element, range);
}

/* ---- recursion that leaves out one element ---- */

enum { MOST_NEXT = 4 };

/* remove 0 (_ : xs) = xs;  remove i (x : xs) = x : remove (i − 1) xs;  remove _ [] = [], for a number below, at or
 * above 0, and a list with a cell or none. */
typedef struct Removal {
    const CtGlobal *global;
    const CtLam *lam;
    uint32_t number, list; /* its parameters */
    int sign;
    bool empty;
    const CtVar *first, *rest;    /* of the cell */
    const CtVar *next[MOST_NEXT]; /* what is called where a clause does not match */
    const CtCore *clauses[MOST_NEXT];
    uint32_t count;
} Removal;

static bool is_param(const Removal *r, const CtCore *core, uint32_t param) {
    return core->kind == CORE_VAR && core->as.var == r->lam->params[param];
}

static bool is_number_literal(const CtCore *core, int64_t value) {
    return core->kind == CORE_LIT && core->type->kind == TYPE_INT && core->as.lit.integer == value;
}

/* What a comparison of the number with 0 or 1 is: 0 or 1; −1: it is another test. */
static int decided(const Removal *r, const CtCore *test) {
    if (test->kind != CORE_PRIM || test->as.call.count != 2) return -1;
    const CtCore *a = test->as.call.args[0], *b = test->as.call.args[1];
    CtPrim prim = test->as.call.of.prim;
    if (is_param(r, a, r->number) && is_number_literal(b, 0))
        return prim == PRIM_INT_EQ   ? r->sign == 0
               : prim == PRIM_INT_LT ? r->sign < 0
               : prim == PRIM_INT_LE ? r->sign <= 0
                                     : -1;
    if (is_param(r, a, r->number) && is_number_literal(b, 1)) return prim == PRIM_INT_LT ? r->sign <= 0 : -1;
    if (is_number_literal(a, 0) && is_param(r, b, r->number))
        return prim == PRIM_INT_EQ   ? r->sign == 0
               : prim == PRIM_INT_LT ? r->sign > 0
               : prim == PRIM_INT_LE ? r->sign >= 0
                                     : -1;
    return -1;
}

static const CtCore *branch_of_list(Removal *r, const CtCore *core) {
    for (uint32_t i = 0; i < core->as.cases.count; i++) {
        const CtCase *one = &core->as.cases.cases[i];
        if ((one->con->count == 0) != r->empty) continue;
        if (!r->empty) r->first = one->vars[0], r->rest = one->vars[1];
        return one->body;
    }
    return core->as.cases.otherwise;
}

static const CtCore *clause_of(const Removal *r, const CtCore *core) {
    if (core->kind != CORE_APP || core->as.call.count > 0 || core->as.call.of.fun->kind != CORE_VAR) return NULL;
    for (uint32_t i = 0; i < r->count; i++)
        if (core->as.call.of.fun->as.var == r->next[i]) return r->clauses[i];
    return NULL;
}

/* What the function gives for such a number and list; NULL: that depends on something else. */
static const CtCore *result_of(Removal *r) {
    r->count = 0;
    r->first = r->rest = NULL;
    for (const CtCore *core = r->lam->body; core != NULL;) {
        const CtCore *clause = clause_of(r, core);
        if (clause != NULL) {
            core = clause;
        } else if (core->kind == CORE_LET && core->as.let.rhs->kind == CORE_LAM && r->count < MOST_NEXT) {
            if (core->as.let.rhs->as.lam->count > 0) return NULL;
            r->clauses[r->count] = core->as.let.rhs->as.lam->body;
            r->next[r->count++] = core->as.let.vars[0];
            core = core->as.let.body;
        } else if (core->kind == CORE_CASE && is_param(r, core->as.cases.scrutinee, r->list)) {
            core = branch_of_list(r, core);
        } else if (core->kind == CORE_CASE) {
            int truth = decided(r, core->as.cases.scrutinee);
            if (truth < 0) return NULL;
            core = branch(core, truth != 0);
        } else {
            return core;
        }
    }
    return NULL;
}

static bool is_rest(const Removal *r, const CtCore *core) {
    return core->kind == CORE_VAR && r->rest != NULL && core->as.var == r->rest;
}

/* x : remove (i − 1) xs */
static bool goes_on(const Removal *r, const CtCore *core) {
    if (core->kind != CORE_CON || core->as.call.count != 2) return false;
    const CtCore *first = core->as.call.args[0], *call = core->as.call.args[1];
    if (first->kind != CORE_VAR || r->first == NULL || first->as.var != r->first || call->kind != CORE_APP)
        return false;
    const CtCore *fun = call->as.call.of.fun;
    if (fun->kind != CORE_GLOBAL || fun->as.global != r->global || !is_rest(r, call->as.call.args[r->list]))
        return false;
    const CtCore *less = call->as.call.args[r->number];
    if (less->kind != CORE_PRIM || less->as.call.count != 2 || !is_param(r, less->as.call.args[0], r->number))
        return false;
    bool subtracts = less->as.call.of.prim == PRIM_INT_SUB && is_number_literal(less->as.call.args[1], 1);
    bool adds = less->as.call.of.prim == PRIM_INT_ADD && is_number_literal(less->as.call.args[1], -1);
    return subtracts || adds;
}

static bool is_removal(Removal *r) {
    for (r->sign = -1; r->sign <= 1; r->sign++) {
        for (int cell = 0; cell < 2; cell++) {
            r->empty = cell == 0;
            const CtCore *result = result_of(r);
            if (result == NULL) return false;
            bool whole =
                is_param(r, result, r->list) || (r->empty && result->kind == CORE_CON && result->as.call.count == 0);
            bool fits = r->empty       ? whole
                        : r->sign == 0 ? is_rest(r, result)
                                       : goes_on(r, result) || (r->sign < 0 && whole);
            if (!fits) return false;
        }
    }
    return true;
}

CtCore *ct_core_list_removal(CtLists *s, CtCore *list) {
    if (list->kind != CORE_APP || list->as.call.count != 2 || list->as.call.of.fun->kind != CORE_GLOBAL) return NULL;
    const CtGlobal *global = list->as.call.of.fun->as.global;
    if (global->is_library || global->is_kept || global->body == NULL || global->body->kind != CORE_LAM) return NULL;
    Removal r = {.global = global, .lam = global->body->as.lam};
    if (r.lam->origin != NULL || r.lam->count != 2) return NULL;
    r.number = r.lam->params[0]->type->kind == TYPE_INT ? 0 : 1;
    r.list = 1 - r.number;
    bool types = r.lam->params[r.number]->type->kind == TYPE_INT && r.lam->params[r.list]->type == list->type;
    if (!types || !is_removal(&r)) return NULL;
    CtBindings around = {0};
    CtListSource source;
    CtCore *index = list->as.call.args[r.number];
    if (!ct_core_is_atom(index) || !ct_core_list_source(s, list->as.call.args[r.list], &around, &source)) return NULL;
    if (source.row != NULL) return NULL;
    CT_FIRED("lists.removal");
    CtVar *i = ct_core_list_var(s, "i", s->p->int_type);
    CtCore *element = ct_core_list_at(s, &source, ct_core_list_use(s, i));
    CtCore *array = all_but(s, &around, ct_core_list_count(s, &source), index, i, element, list->range);
    return ct_core_list_wrap(s, &around, array);
}
