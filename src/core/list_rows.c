/* Lists of lists as arrays of rows, for recursive functions that are given them, such as an expansion by minors. Rows
 * of an array must have one length. So a list of lists has an array of rows only where the lengths of its elements are
 * the same for all of them, whatever the numbers in them: the length of each element's term is followed to lengths of
 * rows of another such array, and to what the loop over the elements does not change. */
#include "core/lists.h"

#include "base/rules.h"

enum {
    MOST_ON_WAY = 200, /* nodes of a leaf and of what is bound on the way to it */
    MOST_IN_PATTERN = 32,
    MOST_OPENED = 200, /* nodes of a function whose body takes the place of a call */
};

/* ---- the list of a row ---- */

static CtCore *prim2(CtLists *s, CtPrim prim, CtCore *a, CtCore *b) {
    return ct_core_prim2(s->p, s->range, prim, a, b);
}

/* toList xs = let go y i = if i < 0 then y else go (xs ! i : y) (i − 1) in go [] (length xs − 1) */
static CtCore *list_of(CtLists *s, CtVar *xs, CtType *list) {
    CtProgram *p = s->p;
    CtType *types[] = {list, p->int_type};
    CtVar *go = ct_core_list_var(s, "go", ct_core_type_fun(p, types, 2, list));
    CtVar *params[] = {ct_core_list_var(s, "y", list), ct_core_list_var(s, "i", p->int_type)};
    CtCon *cons = NULL;
    for (uint32_t i = 0; i < list->data->con_count; i++)
        if (list->data->cons[i].count == 2) cons = &list->data->cons[i];
    CtCore *item = ct_core_list_array(s, ARRAY_INDEX, ct_core_list_use(s, xs), ct_core_list_use(s, params[1]), NULL);
    CtCore *fields[] = {item, ct_core_list_use(s, params[0])};
    CtCore *again[] = {ct_core_con(p, s->range, cons, fields, 2),
                       prim2(s, PRIM_INT_SUB, ct_core_list_use(s, params[1]), ct_core_int(p, s->range, 1))};
    CtCore *call = ct_core_app(p, s->range, ct_core_list_use(s, go), again, 2);
    CtCore *below = prim2(s, PRIM_INT_LT, ct_core_list_use(s, params[1]), ct_core_int(p, s->range, 0));
    CtCore *body = ct_core_if(p, s->range, below, ct_core_list_use(s, params[0]), call);
    CtCore *length = ct_core_list_array(s, ARRAY_LENGTH, ct_core_list_use(s, xs), NULL, NULL);
    CtCore *start[] = {ct_core_list_empty(s, list), prim2(s, PRIM_INT_SUB, length, ct_core_int(p, s->range, 1))};
    CtBind bind = {go, ct_core_lam(p, s->range, "go", params, 2, body)};
    return ct_core_letrec(p, s->range, &bind, 1, ct_core_app(p, s->range, ct_core_list_use(s, go), start, 2));
}

/* The library's function from an array to a list of this type; one like it, where the program has none. */
static CtGlobal *to_list(CtLists *s, CtType *list) {
    CtProgram *p = s->p;
    CtType *array = ct_core_type_array(p, ct_core_list_element(list));
    CtType *type = ct_core_type_fun(p, &array, 1, list);
    for (uint32_t i = 0; i < p->globals.count; i++) {
        CtCore head = {.kind = CORE_GLOBAL, .as.global = p->globals.items[i]}, app = {.kind = CORE_APP};
        app.as.call.of.fun = &head;
        if (p->globals.items[i]->type == type && ct_core_list_call(&app) == LIST_OF_ARRAY) return p->globals.items[i];
    }
    CtGlobal *global = ct_core_global_new(p, "toList@Array,row", type, s->range);
    CtVar *xs = ct_core_list_var(s, "xs", array);
    global->is_library = true;
    global->body = ct_core_lam(p, s->range, "toList", &xs, 1, list_of(s, xs, list));
    return global;
}

CtCore *ct_core_list_of_row(CtLists *s, CtType *list, CtCore *row) {
    return ct_core_app(s->p, s->range, ct_core_global(s->p, s->range, to_list(s, list)), &row, 1);
}

/* ---- lengths that are the same for all elements ---- */

typedef struct Shapes {
    CtLists *s;
    CtArena *arena;
    CtMap values, shapes; /* variables whose value, or whose shape, may differ between elements */
} Shapes;

static bool shape_varies(Shapes *s, CtCore *core);

static bool value_varies(Shapes *s, CtCore *core);

/* The elements of a list that has become an array; NULL: of another term. */
static const CtListSource *known_source(const Shapes *s, const CtCore *core) {
    return core->kind == CORE_VAR ? ct_map_get(&s->s->sources, ct_key(core->as.var)) : NULL;
}

/* Whether the length of such a list, or with `elements` also these, may differ. */
static bool source_varies(Shapes *s, const CtListSource *source, bool elements) {
    if (source->from != NULL && elements && value_varies(s, source->from)) return true;
    if (source->step != NULL && elements && value_varies(s, source->step)) return true;
    if (source->count != NULL && value_varies(s, source->count)) return true;
    if (source->array == NULL) return source->maker != NULL && elements;
    return ct_map_has(elements ? &s->values : &s->shapes, ct_key(source->array)) && (elements || source->count == NULL);
}

static bool value_varies(Shapes *s, CtCore *core) {
    const CtListSource *list = known_source(s, core);
    if (list != NULL) return source_varies(s, list, true);
    list = ct_core_list_call(core) == LIST_LENGTH ? known_source(s, core->as.call.args[0]) : NULL;
    if (list != NULL) return source_varies(s, list, false);
    if (core->kind == CORE_VAR) return ct_map_has(&s->values, ct_key(core->as.var));
    if (core->kind == CORE_ARRAY && core->as.call.of.array == ARRAY_LENGTH)
        return shape_varies(s, core->as.call.args[0]);
    CtCoreList children = {0};
    ct_core_children(s->arena, core, &children);
    for (uint32_t i = 0; i < children.count; i++)
        if (value_varies(s, children.items[i])) return true;
    return false;
}

static void bind(Shapes *s, CtVar *var, bool value, bool shape) {
    if (value) ct_map_set(s->arena, &s->values, ct_key(var), var);
    if (shape) ct_map_set(s->arena, &s->shapes, ct_key(var), var);
}

static bool has_rows(const CtCore *array) {
    return array->type->kind == TYPE_ARRAY && array->type->parts[0]->kind == TYPE_ARRAY;
}

/* Of the elements that a function gives, which are rows. */
static bool element_varies(Shapes *s, const CtCore *array, const CtCore *fun) {
    if (!has_rows(array)) return false;
    if (fun->kind != CORE_LAM) return true;
    const CtLam *lam = fun->as.lam;
    for (uint32_t i = 0; i < lam->count; i++) bind(s, lam->params[i], true, true);
    return shape_varies(s, lam->body);
}

static bool operation_varies(Shapes *s, CtCore *core) {
    CtCore **args = core->as.call.args;
    switch ((int)core->as.call.of.array) {
    case ARRAY_INDEX:
    case ARRAY_REVERSE: return shape_varies(s, args[0]);
    case ARRAY_BUILD: return value_varies(s, args[0]) || element_varies(s, core, args[1]);
    case ARRAY_MAP: return shape_varies(s, args[1]) || element_varies(s, core, args[0]);
    case ARRAY_SLICE: return value_varies(s, args[1]) || (has_rows(core) && shape_varies(s, args[2]));
    case ARRAY_APPEND: return shape_varies(s, args[0]) || shape_varies(s, args[1]);
    case ARRAY_IOTA: return value_varies(s, args[0]);
    case ARRAY_REPLICATE: return value_varies(s, args[0]) || (has_rows(core) && shape_varies(s, args[1]));
    default: return true;
    }
}

/* Of a choice that is the same for all elements, or whose branches fail, but for one. */
static bool choice_varies(Shapes *s, CtCore *core) {
    uint32_t count = core->as.cases.count, arrays = 0;
    bool varies = false;
    for (uint32_t i = 0; i <= count; i++) {
        CtCore *one = i < count ? core->as.cases.cases[i].body : core->as.cases.otherwise;
        if (one == NULL) continue;
        if (i < count && core->as.cases.cases[i].con->count > 0) return true;
        arrays += one->kind != CORE_FAIL;
        varies = shape_varies(s, one) || varies;
    }
    return varies || (arrays > 1 && value_varies(s, core->as.cases.scrutinee));
}

/* Whether the lengths of an array may differ between elements. */
static bool shape_varies(Shapes *s, CtCore *core) {
    for (; core->kind == CORE_LET; core = core->as.let.body) {
        CtCore *rhs = core->as.let.rhs;
        bool array = rhs->type->kind == TYPE_ARRAY;
        bind(s, core->as.let.vars[0], array || value_varies(s, rhs), !array || shape_varies(s, rhs));
    }
    switch ((int)core->kind) {
    case CORE_VAR: return ct_map_has(&s->shapes, ct_key(core->as.var));
    case CORE_CASE: return choice_varies(s, core);
    case CORE_FAIL: return false; /* there is no array */
    case CORE_ARRAY: return operation_varies(s, core);
    default: return true;
    }
}

static bool is_regular(CtLists *s, const CtLam *lam) {
    Shapes shapes = {.s = s, .arena = s->p->context->arena};
    for (uint32_t i = 0; i < lam->count; i++)
        bind(&shapes, lam->params[i], true, lam->params[i]->type->kind != TYPE_ARRAY);
    return !shape_varies(&shapes, lam->body);
}

/* ---- arrays of rows ---- */

bool ct_core_list_is_number(const CtType *type) {
    return type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT || type->kind == TYPE_INT;
}

bool ct_core_list_may_have_rows(const CtType *list) {
    if (!ct_core_list_is_list(list)) return false;
    const CtType *row = ct_core_list_element(list);
    return ct_core_list_is_list(row) && ct_core_list_is_number(ct_core_list_element(row));
}

/* Whether a term calls a global. */
static bool calls(CtLists *s, CtCore *core, const CtGlobal *global) {
    CtCoreList work = {0};
    ct_push(s->p->context->arena, &work, core);
    while (work.count > 0) {
        CtCore *one = work.items[--work.count];
        if (one->kind == CORE_GLOBAL && one->as.global == global) return true;
        ct_core_children(s->p->context->arena, one, &work);
    }
    return false;
}

/* A call of a small function of the program that makes a list: its body. */
static CtCore *opened_call(CtLists *s, CtCore *list) {
    const CtGlobal *global =
        list->kind == CORE_APP && list->as.call.of.fun->kind == CORE_GLOBAL ? list->as.call.of.fun->as.global : NULL;
    if (global == NULL || global->is_library || global->is_kept || global->origin != NULL) return list;
    if (global->body == NULL || global->body->kind != CORE_LAM || global->body->as.lam->origin != NULL) return list;
    CtSimplifier count = {.p = s->p};
    if (ct_core_size(&count, global->body, MOST_OPENED) >= MOST_OPENED || calls(s, global->body, global)) return list;
    CT_FIRED("lists.opened_call");
    return ct_core_list_apply(s, global->body, list->as.call.args);
}

/* The same behind what is bound in front of the call. */
static CtCore *opened_row(CtLists *s, CtCore *list) {
    if (list->kind != CORE_LET) return opened_call(s, list);
    CtCore *body = opened_row(s, list->as.let.body);
    return ct_core_let(s->p, list->range, list->as.let.vars[0], list->as.let.rhs, body);
}

/* The array of the lists that a function makes for each element, as one of rows. */
static CtCore *rows_of(CtLists *s, CtCore *array) {
    if (array->kind == CORE_LET) {
        CtCore *body = rows_of(s, array->as.let.body);
        return body != NULL ? ct_core_let(s->p, array->range, array->as.let.vars[0], array->as.let.rhs, body) : NULL;
    }
    if (array->kind != CORE_ARRAY) return NULL;
    CtArrayOp op = array->as.call.of.array;
    CtCore **args = array->as.call.args, *fun = op == ARRAY_MAP ? args[0] : op == ARRAY_BUILD ? args[1] : NULL;
    if (fun == NULL || fun->kind != CORE_LAM) return NULL;
    const CtLam *lam = fun->as.lam;
    CtCore *row = ct_core_list_to_array(s, opened_row(s, lam->body));
    if (row == NULL) return NULL;
    fun = ct_core_lam(s->p, fun->range, lam->name, lam->params, lam->count, row);
    if (!is_regular(s, fun->as.lam)) return NULL;
    CtCore *all[] = {op == ARRAY_MAP ? fun : args[0], op == ARRAY_MAP ? args[1] : fun};
    return ct_core_array(s->p, array->range, op, all, 2);
}

CtCore *ct_core_list_rows(CtLists *s, CtCore *list) {
    if (!ct_core_list_may_have_rows(list->type)) return NULL;
    list = opened_call(s, list);
    CtListFunction function = ct_core_list_call(list);
    if (function != LIST_NONE && function != LIST_MAP) return NULL;
    CtCore *array = ct_core_list_to_array(s, list);
    return array != NULL ? rows_of(s, array) : NULL;
}

/* ---- the two forms of a list that is taken apart ---- */

/* The two branches of a case of a list; false where one takes both, or the case is of something else. */
static bool branches_of(const CtCore *core, CtCore **none, CtCore **some, CtVar ***vars) {
    if (core->kind != CORE_CASE || !ct_core_list_is_list(core->as.cases.scrutinee->type)) return false;
    *none = *some = core->as.cases.otherwise;
    *vars = NULL;
    for (uint32_t i = 0; i < core->as.cases.count; i++) {
        const CtCase *one = &core->as.cases.cases[i];
        if (one->con->count == 0)
            *none = one->body;
        else
            *some = one->body, *vars = one->vars;
    }
    return *none != NULL && *some != NULL && *none != *some;
}

static bool same_failure(const CtCore *a, const CtCore *b) {
    if (a->kind != CORE_FAIL || b->kind != CORE_FAIL || a->as.fail.message != NULL || b->as.fail.message != NULL)
        return false;
    return a->as.fail.code == b->as.fail.code && memcmp(&a->range, &b->range, sizeof a->range) == 0 &&
           strcmp(a->as.fail.text, b->as.fail.text) == 0;
}

/* A pattern such as [x, y, z], all else being the same failure: one test of the length, in place of one for each
 * element. NULL for other terms. */
static CtCore *list_of_length(CtLists *s, CtCore *core, const CtListSource *source) {
    CtVar *heads[MOST_IN_PATTERN];
    CtCore *none, *some, *failure = NULL;
    const CtVar *tails[MOST_IN_PATTERN];
    uint32_t length = 0;
    for (CtCore *next = core;; next = some) {
        CtVar **vars;
        if (!branches_of(next, &none, &some, &vars)) return NULL;
        if (length > 0) {
            const CtCore *list = next->as.cases.scrutinee;
            if (list->kind != CORE_VAR || list->as.var != tails[length - 1]) return NULL;
            if (same_failure(failure, some)) break;
        }
        if (vars == NULL || vars[1] == NULL || length == MOST_IN_PATTERN) return NULL;
        if (failure == NULL) failure = none;
        if (!same_failure(failure, none)) return NULL;
        heads[length] = vars[0];
        tails[length++] = vars[1];
    }
    for (uint32_t i = 0; i < length; i++)
        if (ct_core_list_occurs(s, none, tails[i])) return NULL;
    if (length < 2) return NULL;
    CT_FIRED("lists.length");
    CtBindings elements = {0};
    for (uint32_t i = 0; i < length; i++)
        if (heads[i] != NULL)
            ct_push(s->p->context->arena, &elements,
                    ((CtBinding){heads[i], ct_core_list_at(s, source, ct_core_int(s->p, s->range, i))}));
    CtCore *test = prim2(s, PRIM_INT_EQ, ct_core_list_count(s, source), ct_core_int(s->p, s->range, length));
    return ct_core_if(s->p, core->range, test, ct_core_list_wrap(s, &elements, none), failure);
}

CtCore *ct_core_list_case(CtLists *s, CtCore *core, CtVar **tail) {
    CtProgram *p = s->p;
    const CtCore *list = core->as.cases.scrutinee;
    const CtListSource *source = list->kind == CORE_VAR ? ct_map_get(&s->sources, ct_key(list->as.var)) : NULL;
    if (source == NULL || !ct_core_list_is_list(list->type)) return NULL;
    CtCore *none, *some;
    CtVar **vars;
    if (!branches_of(core, &none, &some, &vars)) return NULL;
    s->range = core->range;
    *tail = NULL;
    CtCore *known = list_of_length(s, core, source);
    if (known != NULL) return known;
    CT_FIRED("lists.case");
    CtBindings first = {0}, behind = {0};
    CtCore *count = ct_core_list_bind_atom(s, &first, "count", ct_core_list_count(s, source));
    *tail = vars != NULL ? vars[1] : NULL;
    if (*tail != NULL) {
        CtListSource *rest = CT_NEW(p->context->arena, CtListSource);
        *rest = *source;
        CtCore *fewer = prim2(s, PRIM_INT_SUB, ct_core_list_again(s, count), ct_core_int(p, s->range, 1));
        ct_core_list_part(s, rest, &behind, ct_core_int(p, s->range, 1), fewer);
        ct_map_set(p->context->arena, &s->sources, ct_key(*tail), rest);
    }
    if (vars != NULL && vars[0] != NULL) {
        CtVar *head = vars[0];
        ct_push(p->context->arena, &behind,
                ((CtBinding){head, ct_core_list_at(s, source, ct_core_int(p, s->range, 0))}));
    }
    CtCore *empty = prim2(s, PRIM_INT_EQ, ct_core_list_again(s, count), ct_core_int(p, s->range, 0));
    return ct_core_list_wrap(s, &first, ct_core_if(p, core->range, empty, none, ct_core_list_wrap(s, &behind, some)));
}

/* ---- alternatives that go on alike ---- */

enum { MOST_LEAVES = 4 };

/* Patterns such as [[x]] and [[a, b], [c, d]], once they are tests of lengths, are a tree of tests with one leaf for
 * each of them; at all others, what comes next is called. */
typedef struct Tree {
    CtLists *s;
    const CtVar *next;
    CtCore *leaves[MOST_LEAVES], *ways[MOST_LEAVES]; /* as they are, and with the bindings on the way to them */
    uint32_t nexts, count;
} Tree;

static bool is_next(const Tree *t, const CtCore *core) {
    return core->kind == CORE_APP && core->as.call.of.fun->kind == CORE_VAR && core->as.call.of.fun->as.var == t->next;
}

static bool is_test(const Tree *t, const CtCore *core) {
    return core->kind == CORE_CASE && core->as.cases.count == 2 && core->as.cases.scrutinee->type == t->s->p->bool_type;
}

/* Finds the leaves of a tree, and how often what comes next is called. */
static void find_leaves(Tree *t, CtCore *core) {
    while (core->kind == CORE_LET) core = core->as.let.body;
    if (is_test(t, core)) {
        for (uint32_t i = 0; i < 2; i++) find_leaves(t, core->as.cases.cases[i].body);
    } else if (is_next(t, core)) {
        t->nexts++;
    } else {
        if (t->count < MOST_LEAVES) t->leaves[t->count] = core;
        t->count++;
    }
}

/* The way to a leaf in a tree, NULL where it is elsewhere. */
static CtCore *way_to(const Tree *t, const CtCore *leaf, CtCore *core) {
    if (core->kind == CORE_LET) {
        CtCore *body = way_to(t, leaf, core->as.let.body);
        if (body == NULL) return NULL;
        return ct_core_let(t->s->p, core->range, core->as.let.vars[0], core->as.let.rhs, body);
    }
    if (is_test(t, core)) {
        CtCore *first = way_to(t, leaf, core->as.cases.cases[0].body);
        return first != NULL ? first : way_to(t, leaf, core->as.cases.cases[1].body);
    }
    return core == leaf ? core : NULL;
}

/* The tree with true at a leaf, and false elsewhere. */
static CtCore *tests_of(const Tree *t, const CtCore *leaf, CtCore *core) {
    CtProgram *p = t->s->p;
    if (core->kind == CORE_LET) {
        CtCore *body = tests_of(t, leaf, core->as.let.body);
        return ct_core_let(p, core->range, core->as.let.vars[0], core->as.let.rhs, body);
    }
    if (!is_test(t, core)) return ct_core_bool(p, core->range, core == leaf);
    CtCase *cases = CT_NEW_ARRAY(p->context->arena, CtCase, 2);
    for (uint32_t i = 0; i < 2; i++) {
        cases[i] = core->as.cases.cases[i];
        cases[i].body = tests_of(t, leaf, cases[i].body);
    }
    return ct_core_case(p, core->range, p->bool_type, core->as.cases.scrutinee, cases, 2, NULL);
}

CtCore *ct_core_list_next(CtLists *s, CtCore *let) {
    const CtCore *next = let->as.let.rhs;
    if (next->kind != CORE_LAM || next->as.lam->count != 0 || next->as.lam->origin != NULL) return NULL;
    Tree t = {.s = s, .next = let->as.let.vars[0]};
    find_leaves(&t, let->as.let.body);
    if (t.count == 0 || t.count > MOST_LEAVES || t.nexts < 2) return NULL;
    for (uint32_t i = 0; i < t.count; i++) {
        CtSimplifier count = {.p = s->p};
        t.ways[i] = way_to(&t, t.leaves[i], let->as.let.body);
        if (ct_core_size(&count, t.ways[i], MOST_ON_WAY) >= MOST_ON_WAY) return NULL;
        if (ct_core_list_occurs(s, t.leaves[i], t.next)) return NULL;
    }
    CT_FIRED("lists.next");
    CtCore *choice = next->as.lam->body;
    for (uint32_t i = t.count; i-- > 0;) {
        CtCore *test = ct_core_copy(s->p, tests_of(&t, t.leaves[i], let->as.let.body), NULL);
        choice = ct_core_if(s->p, let->range, test, ct_core_copy(s->p, t.ways[i], NULL), choice);
    }
    return choice;
}
