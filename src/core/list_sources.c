/* Lists that have arrays: ranges, the list of an array, copies of one element, and what functions make of these, one
 * operation on arrays for each function on lists. Of parts of lists no array is needed where their elements are read
 * one by one: where a part begins, and its count, are enough. */
#include "core/lists.h"

#include "base/rules.h"

#include <string.h>

/* ---- the functions ---- */

/* By the beginnings of the names of their specialisations, such as mapList@Int,Double. */
static const struct {
    const char *name;
    CtListFunction function;
} names[] = {
    {"toList@Array,", LIST_OF_ARRAY},
    {"replicateOnto@", LIST_REPLICATE},
    {"mapList@", LIST_MAP},
    {"zipWithList@", LIST_ZIP_WITH},
    {"reverseList@", LIST_REVERSE},
    {"++@[],", LIST_APPEND},
    {"append@[", LIST_APPEND}, /* of the parts of a long literal */
    {"filterList@", LIST_FILTER},
    {"takeList@", LIST_TAKE},
    {"drop@[],", LIST_DROP},
    {"tail@[],", LIST_TAIL},
    {"init@[],", LIST_INIT},
    {"scanl@[],", LIST_SCANL},
    {"foldlList@", LIST_FOLDL},
    {"foldrList@", LIST_FOLDR},
    {"allList@", LIST_ALL},
    {"anyList@", LIST_ANY},
    {"length@[],", LIST_LENGTH},
    {"maximum@[],", LIST_MAXIMUM},
    {"minimum@[],", LIST_MINIMUM},
    {"fromList@Array,", LIST_TO_ARRAY},
    {"indexList@", LIST_AT},
    {"stream'take@", LIST_STREAM_TAKE},
    {"stream'iterate@", LIST_ITERATE},
    {"stream'cycle@", LIST_CYCLE},
    {"stream'zipFirst@", LIST_ZIP_FIRST},
    {"stream'zipSecond@", LIST_ZIP_SECOND},
    {"head@[],", LIST_HEAD},
    {"last@[],", LIST_LAST},
    {"nullList@", LIST_NULL},
    {"intercalate@", LIST_INTERCALATE},
};

/* Whether a parameter or the result stands for several types, of which a list may be one. */
static bool has_universal(const CtType *function) {
    for (uint32_t i = 0; i < function->count; i++)
        if (function->parts[i]->kind == TYPE_DATA && function->parts[i]->data->is_universal) return true;
    return false;
}

CtListFunction ct_core_list_call(const CtCore *core) {
    if (core->kind != CORE_APP || core->as.call.of.fun->kind != CORE_GLOBAL) return LIST_NONE;
    const CtGlobal *global = core->as.call.of.fun->as.global;
    if (!global->is_library || global->origin != NULL || has_universal(global->type)) return LIST_NONE;
    const char *name = ct_core_prelude_name(global->name->text);
    if (strchr(name, '{') != NULL) return LIST_NONE; /* specialised to a function */
    if (strcmp(name, "intRange") == 0) return LIST_RANGE;
    if (strcmp(name, "intSteps") == 0) return LIST_STEPS;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i].name, strlen(names[i].name)) == 0) return names[i].function;
    return LIST_NONE;
}

/* ---- building terms ---- */

CtVar *ct_core_list_var(CtLists *s, const char *name, CtType *type) { return ct_core_var_new(s->p, name, type); }
CtCore *ct_core_list_use(CtLists *s, CtVar *var) { return ct_core_var(s->p, s->range, var); }

CtCore *ct_core_list_copy(CtLists *s, CtCore *core) {
    CtSimplifier count = {.p = s->p};
    s->copied += ct_core_size(&count, core, MOST_COPIED_NODES);
    return ct_core_copy(s->p, core, NULL);
}

CtCore *ct_core_list_again(CtLists *s, CtCore *atom) {
    if (atom == NULL) return NULL;
    return atom->kind == CORE_VAR ? ct_core_list_use(s, atom->as.var) : ct_core_copy(s->p, atom, NULL);
}

CtCore *ct_core_list_apply(CtLists *s, CtCore *fun, CtCore *const *args) {
    CtCore *own = ct_core_list_copy(s, fun);
    if (own->kind != CORE_LAM) return ct_core_app(s->p, s->range, own, args, own->type->count - 1);
    const CtLam *lam = own->as.lam;
    CtCore *body = lam->body;
    for (uint32_t i = lam->count; i-- > 0;) body = ct_core_let(s->p, s->range, lam->params[i], args[i], body);
    return body;
}

bool ct_core_list_is_known(const CtCore *fun) {
    return fun->kind == CORE_LAM ? fun->as.lam->origin == NULL : ct_core_is_atom(fun);
}

CtCore *ct_core_list_array(CtLists *s, CtArrayOp op, CtCore *a, CtCore *b, CtCore *c) {
    CtCore *args[] = {a, b, c};
    return ct_core_array(s->p, s->range, op, args, c != NULL ? 3 : b != NULL ? 2 : 1);
}

CtVar *ct_core_list_bind(CtLists *s, CtBindings *around, const char *name, CtCore *rhs) {
    CtVar *var = ct_core_list_var(s, name, rhs->type);
    ct_push(s->p->context->arena, around, ((CtBinding){var, rhs}));
    return var;
}

CtCore *ct_core_list_bind_atom(CtLists *s, CtBindings *around, const char *name, CtCore *term) {
    if (term->kind == CORE_LIT || term->kind == CORE_VAR) return ct_core_list_again(s, term);
    return ct_core_list_use(s, ct_core_list_bind(s, around, name, term));
}

CtCore *ct_core_list_fun(CtLists *s, CtCore *fun, CtBindings *around) {
    for (; fun->kind == CORE_LET; fun = fun->as.let.body)
        ct_push(s->p->context->arena, around, ((CtBinding){fun->as.let.vars[0], fun->as.let.rhs}));
    return fun;
}

CtCore *ct_core_list_wrap(CtLists *s, const CtBindings *around, CtCore *body) {
    for (uint32_t i = around->count; i-- > 0;)
        body = ct_core_let(s->p, s->range, around->items[i].var, around->items[i].rhs, body);
    return body;
}

bool ct_core_list_is_list(const CtType *type) {
    return type->kind == TYPE_DATA && type->data->method == NULL && strcmp(type->data->name->text, "[]") == 0;
}

CtType *ct_core_list_element(const CtType *list) { return list->data->args[0]; }
/* Whether any elements of this type can be those of an array: rows have to be of one length. */
static bool is_element(const CtType *type) { return type->kind != TYPE_ARRAY && type->kind != TYPE_FUN; }

/* ---- sources ---- */

static bool is_int(const CtCore *core, int64_t value) {
    return core->kind == CORE_LIT && core->type->kind == TYPE_INT && core->as.lit.integer == value;
}

/* Whether a bound is written near one of the ends of Int. */
static bool is_far(const CtCore *bound) {
    const int64_t half = INT64_MAX / 2;
    return bound->kind == CORE_LIT && (bound->as.lit.integer > half || bound->as.lit.integer < -half);
}

/* A count of at least one: where it has wrapped, the largest Int. */
static CtCore *no_less(CtLists *s, CtBindings *around, CtCore *count) {
    CtProgram *p = s->p;
    count = ct_core_list_bind_atom(s, around, "count", count);
    CtCore *wraps = ct_core_prim2(p, s->range, PRIM_INT_LT, ct_core_list_again(s, count), ct_core_int(p, s->range, 1));
    return ct_core_if(p, s->range, wraps, ct_core_int(p, s->range, INT64_MAX), count);
}

/* How many numbers a range has: to − from + 1, or none. In [0 .. n − 1] the ones cancel. */
static CtCore *range_count(CtLists *s, CtBindings *around, CtCore *from, CtCore *to) {
    CtProgram *p = s->p;
    CtCore *count, *none, *zero = ct_core_int(p, s->range, 0), *one = ct_core_int(p, s->range, 1);
    bool up_to = to->kind == CORE_PRIM && to->as.call.of.prim == PRIM_INT_SUB && is_int(to->as.call.args[1], 1);
    bool is_length =
        up_to && to->as.call.args[0]->kind == CORE_ARRAY && to->as.call.args[0]->as.call.of.array == ARRAY_LENGTH;
    if (is_int(from, 0) && is_length) return ct_core_list_bind_atom(s, around, "n", to->as.call.args[0]);
    if (is_int(from, 0) && up_to) {
        count = ct_core_list_bind_atom(s, around, "n", to->as.call.args[0]);
        none = ct_core_prim2(p, s->range, PRIM_INT_LT, ct_core_list_again(s, count), one);
    } else {
        to = ct_core_list_bind_atom(s, around, "to", to);
        none = ct_core_prim2(p, s->range, PRIM_INT_LT, ct_core_list_again(s, to), ct_core_list_again(s, from));
        count = ct_core_prim2(p, s->range, PRIM_INT_SUB, to, ct_core_list_again(s, from));
        count = ct_core_prim2(p, s->range, PRIM_INT_ADD, count, one);
        if (is_far(from) || is_far(to)) count = no_less(s, around, count);
    }
    count = ct_core_if(p, s->range, none, zero, count);
    return ct_core_list_use(s, ct_core_list_bind(s, around, "count", count));
}

CtCore *ct_core_list_count(CtLists *s, const CtListSource *source) {
    if (source->count != NULL) return ct_core_list_again(s, source->count);
    return ct_core_list_array(s, ARRAY_LENGTH, ct_core_list_use(s, source->array), NULL, NULL);
}

void ct_core_list_part(CtLists *s, CtListSource *source, CtBindings *around, CtCore *skipped, CtCore *count) {
    CtProgram *p = s->p;
    source->count = ct_core_list_bind_atom(s, around, "count", count);
    if (source->step != NULL)
        skipped = ct_core_prim2(p, s->range, PRIM_INT_MUL, skipped, ct_core_list_again(s, source->step));
    if (source->from != NULL)
        skipped = ct_core_prim2(p, s->range, PRIM_INT_ADD, ct_core_list_again(s, source->from), skipped);
    source->from = ct_core_list_bind_atom(s, around, "from", skipped);
}

/* min (max n 0) count */
static CtCore *limited(CtLists *s, CtBindings *around, CtCore *n, CtCore *count) {
    CtProgram *p = s->p;
    n = ct_core_prim2(p, s->range, PRIM_INT_MAX, n, ct_core_int(p, s->range, 0));
    return ct_core_list_bind_atom(s, around, "n", ct_core_prim2(p, s->range, PRIM_INT_MIN, n, count));
}

/* take n list, drop n list */
static bool source_of_take(CtLists *s, CtCore *list, CtBindings *around, CtListSource *out) {
    CtProgram *p = s->p;
    CtCore **args = list->as.call.args, *n = ct_core_list_bind_atom(s, around, "n", args[0]);
    if (!ct_core_list_source(s, args[1], around, out)) return false;
    CtCore *count = ct_core_list_bind_atom(s, around, "count", ct_core_list_count(s, out));
    n = limited(s, around, n, ct_core_list_again(s, count));
    if (ct_core_list_call(list) == LIST_TAKE) {
        ct_core_list_part(s, out, around, ct_core_int(p, s->range, 0), n);
    } else {
        count = ct_core_prim2(p, s->range, PRIM_INT_SUB, count, n);
        ct_core_list_part(s, out, around, ct_core_list_again(s, n), count);
    }
    return CT_FIRED("lists.part");
}

CtCore *ct_core_list_empty(CtLists *s, CtType *list) {
    CtCon *nil = NULL;
    for (uint32_t i = 0; i < list->data->con_count; i++)
        if (list->data->cons[i].count == 0) nil = &list->data->cons[i];
    return ct_core_con(s->p, s->range, nil, NULL, 0);
}

/* tail list, init list. An empty list is given to the function itself, which fails. */
static bool source_of_tail(CtLists *s, CtCore *list, CtBindings *around, CtListSource *out) {
    CtProgram *p = s->p;
    const CtCore *arg = list->as.call.args[0];
    if (arg->kind == CORE_CON && arg->as.call.count == 0) return false; /* that call */
    if (!ct_core_list_source(s, list->as.call.args[0], around, out)) return false;
    CtCore *zero = ct_core_int(p, s->range, 0), *one = ct_core_int(p, s->range, 1),
           *empty = ct_core_list_empty(s, list->type);
    CtCore *count = ct_core_list_bind_atom(s, around, "count", ct_core_list_count(s, out));
    CtCore *none = ct_core_prim2(p, s->range, PRIM_INT_EQ, ct_core_list_again(s, count), zero);
    CtCore *fun = ct_core_global(p, s->range, list->as.call.of.fun->as.global);
    CtCore *failing = ct_core_app(p, list->range, fun, &empty, 1);
    ct_core_list_bind(s, around, "unused", ct_core_if(p, s->range, none, failing, ct_core_list_empty(s, list->type)));
    bool first = ct_core_list_call(list) == LIST_INIT;
    ct_core_list_part(s, out, around, first ? ct_core_list_again(s, zero) : one,
                      ct_core_prim2(p, s->range, PRIM_INT_SUB, count, ct_core_list_again(s, one)));
    return CT_FIRED("lists.part");
}

static bool is_part(const CtCore *list) {
    CtListFunction function = ct_core_list_call(list);
    return ct_core_list_is_shared(list) || function == LIST_TAKE || function == LIST_INIT;
}

static CtCore *place_in(CtLists *s, const CtListSource *source, CtCore *i) {
    if (source->step != NULL) i = ct_core_prim2(s->p, s->range, PRIM_INT_MUL, i, ct_core_list_again(s, source->step));
    if (source->from == NULL || is_int(source->from, 0)) return i;
    return ct_core_prim2(s->p, s->range, PRIM_INT_ADD, ct_core_list_again(s, source->from), i);
}

/* Two parts of one array of rows, one behind the other: a row that either of them has. */
static bool source_of_rows(CtLists *s, CtCore *list, CtBindings *around, CtListSource *out) {
    CtProgram *p = s->p;
    CtCore *const *args = list->as.call.args;
    CtListSource a, b;
    uint32_t bindings = around->count;
    bool rows = ct_core_list_may_have_rows(list->type) && is_part(args[0]) && is_part(args[1]) &&
                ct_core_list_source(s, args[0], around, &a) && ct_core_list_source(s, args[1], around, &b) &&
                a.row != NULL && a.array == b.array;
    if (!rows) {
        around->count = bindings;
        return false;
    }
    CT_FIRED("lists.joined_rows");
    CtCore *first = ct_core_list_bind_atom(s, around, "first", ct_core_list_count(s, &a));
    CtVar *index = ct_core_list_var(s, "i", p->int_type);
    CtCore *behind = ct_core_prim2(p, s->range, PRIM_INT_SUB, ct_core_list_use(s, index), ct_core_list_again(s, first));
    CtCore *is_first =
        ct_core_prim2(p, s->range, PRIM_INT_LT, ct_core_list_use(s, index), ct_core_list_again(s, first));
    CtCore *place =
        ct_core_if(p, s->range, is_first, place_in(s, &a, ct_core_list_use(s, index)), place_in(s, &b, behind));
    CtCore *row = ct_core_list_array(s, ARRAY_INDEX, ct_core_list_use(s, a.array), place, NULL);
    CtCore *element = ct_core_list_of_row(s, a.row, row);
    CtCore *count = ct_core_prim2(p, s->range, PRIM_INT_ADD, ct_core_list_again(s, first), ct_core_list_count(s, &b));
    *out = (CtListSource){.range = list->range, .from = ct_core_int(p, s->range, 0)};
    out->maker = ct_core_lam(p, s->range, NULL, &index, 1, element)->as.lam;
    out->count = ct_core_list_bind_atom(s, around, "count", count);
    return true;
}

bool ct_core_list_source(CtLists *s, CtCore *list, CtBindings *around, CtListSource *out) {
    *out = (CtListSource){0};
    list = ct_core_list_open(s, list, around);
    if (ct_core_list_call(list) == LIST_RANGE) {
        CtCore **args = list->as.call.args;
        out->range = list->range;
        out->from = ct_core_list_bind_atom(s, around, "from", args[0]);
        out->count = range_count(s, around, out->from, args[1]);
        return true;
    }
    if (ct_core_list_call(list) == LIST_STEPS) {
        CtCore **args = list->as.call.args;
        out->range = list->range;
        out->count = ct_core_list_bind_atom(s, around, "count", args[0]);
        out->from = ct_core_list_bind_atom(s, around, "from", args[1]);
        out->step = ct_core_list_bind_atom(s, around, "step", args[2]);
        return CT_FIRED("lists.steps");
    }
    const CtListSource *known = list->kind == CORE_VAR ? ct_map_get(&s->sources, ct_key(list->as.var)) : NULL;
    if (known != NULL) {
        *out = *known;
        return true;
    }
    CtListFunction function = ct_core_list_call(list);
    if (function == LIST_TAKE || function == LIST_DROP) return source_of_take(s, list, around, out);
    if (function == LIST_TAIL || function == LIST_INIT) return source_of_tail(s, list, around, out);
    if (function == LIST_APPEND && source_of_rows(s, list, around, out)) return true;
    bool stream_first = function == LIST_ZIP_FIRST;
    if ((stream_first || function == LIST_ZIP_SECOND) && ct_core_list_stream_rows(s, list, stream_first, around, out))
        return true;
    CtCore *array = ct_core_list_to_array(s, list);
    if (array == NULL) return false;
    out->array = array->kind == CORE_VAR ? array->as.var : ct_core_list_bind(s, around, "array", array);
    return true;
}

CtType *ct_core_list_source_type(CtLists *s, const CtListSource *source) {
    if (source->row != NULL) return source->row;
    if (source->maker != NULL) return source->maker->body->type;
    return source->array != NULL ? source->array->type->parts[0] : s->p->int_type;
}

static bool is_whole(const CtListSource *source) { return source->array != NULL && source->count == NULL; }

CtCore *ct_core_list_at(CtLists *s, const CtListSource *source, CtCore *i) {
    i = place_in(s, source, i);
    if (source->maker != NULL) return ct_core_list_apply(s, source->maker->node, &i);
    if (source->array == NULL) return i;
    CtCore *item = ct_core_list_array(s, ARRAY_INDEX, ct_core_list_use(s, source->array), i, NULL);
    return source->row != NULL ? ct_core_list_of_row(s, source->row, item) : item;
}

/* The components of a tuple, by what unpacks a variable that is one of its aliases at the beginning of a term. */
static CtCore *with_parts(CtLists *s, CtVar *const *parts, CtMap *aliases, CtCore *core) {
    if (core->kind != CORE_LET && core->kind != CORE_UNPACK) return core;
    CtCore *rhs = core->as.let.rhs;
    bool is_tuple = rhs->kind == CORE_VAR && ct_map_has(aliases, ct_key(rhs->as.var));
    if (core->kind == CORE_LET && is_tuple)
        ct_map_set(s->p->context->arena, aliases, ct_key(core->as.let.vars[0]), core->as.let.vars[0]);
    CtCore *body = with_parts(s, parts, aliases, core->as.let.body);
    if (core->kind == CORE_LET && is_tuple && !ct_core_list_occurs(s, body, core->as.let.vars[0])) return body;
    if (core->kind == CORE_LET) return ct_core_let(s->p, core->range, core->as.let.vars[0], rhs, body);
    if (!is_tuple) return ct_core_unpack(s->p, core->range, core->as.let.vars, core->as.let.count, rhs, body);
    for (uint32_t i = core->as.let.count; i-- > 0;)
        if (core->as.let.vars[i] != NULL)
            body = ct_core_let(s->p, core->range, core->as.let.vars[i], ct_core_list_use(s, parts[i]), body);
    return body;
}

CtCore *ct_core_list_with_element(CtLists *s, CtVar *element, CtCore *value, CtCore *body) {
    if (value->kind == CORE_LET) {
        CtCore *inner = ct_core_list_with_element(s, element, value->as.let.body, body);
        return ct_core_let(s->p, value->range, value->as.let.vars[0], value->as.let.rhs, inner);
    }
    if (value->kind != CORE_TUPLE) return ct_core_let(s->p, s->range, element, value, body);
    CtVar *parts[2];
    CtCore *again[2];
    CtMap aliases = {0};
    if (value->as.call.count != 2) return ct_core_let(s->p, s->range, element, value, body);
    for (uint32_t i = 0; i < 2; i++) parts[i] = ct_core_list_var(s, "part", value->as.call.args[i]->type);
    ct_map_set(s->p->context->arena, &aliases, ct_key(element), element);
    body = with_parts(s, parts, &aliases, body);
    for (uint32_t i = 0; i < 2; i++) again[i] = ct_core_list_use(s, parts[i]);
    if (ct_core_list_occurs(s, body, element))
        body = ct_core_let(s->p, s->range, element, ct_core_tuple(s->p, s->range, again, 2), body);
    for (uint32_t i = 2; i-- > 0;) body = ct_core_let(s->p, s->range, parts[i], value->as.call.args[i], body);
    return body;
}

CtCore *ct_core_list_taking_row(CtLists *s, const CtListSource *source, CtVar **element, CtCore *body) {
    if (source->row == NULL) return body;
    CtVar *list = *element;
    *element = ct_core_list_var(s, "row", source->array->type->parts[0]);
    CtCore *row = ct_core_list_of_row(s, source->row, ct_core_list_use(s, *element));
    return ct_core_let(s->p, s->range, list, row, body);
}

CtCore *ct_core_list_map_source(CtLists *s, const CtListSource *source, CtVar *element, CtCore *body) {
    CtProgram *p = s->p;
    if (is_whole(source)) {
        body = ct_core_list_taking_row(s, source, &element, body);
        CtCore *fun = ct_core_lam(p, s->range, NULL, &element, 1, body);
        return ct_core_list_array(s, ARRAY_MAP, fun, ct_core_list_use(s, source->array), NULL);
    }
    CtVar *index = ct_core_list_var(s, "i", p->int_type);
    CtCore *value = ct_core_list_at(s, source, ct_core_list_use(s, index));
    body = source->maker != NULL ? ct_core_list_with_element(s, element, value, body)
                                 : ct_core_let(p, s->range, element, value, body);
    CtCore *fun = ct_core_lam(p, s->range, NULL, &index, 1, body);
    CtCore *args[] = {ct_core_list_again(s, source->count), fun};
    return ct_core_array(p, source->array != NULL ? s->range : source->range, ARRAY_BUILD, args, 2);
}

CtCore *ct_core_list_source_array(CtLists *s, const CtListSource *source) {
    if (is_whole(source)) return ct_core_list_use(s, source->array);
    CtCore *count = ct_core_list_again(s, source->count);
    if (source->array != NULL)
        return ct_core_list_array(s, ARRAY_SLICE, ct_core_list_again(s, source->from), count,
                                  ct_core_list_use(s, source->array));
    if (is_int(source->from, 0) && source->step == NULL && source->maker == NULL)
        return ct_core_array(s->p, source->range, ARRAY_IOTA, &count, 1);
    CtVar *x = ct_core_list_var(s, "x", ct_core_list_source_type(s, source));
    return ct_core_list_map_source(s, source, x, ct_core_list_use(s, x));
}

/* ---- functions of lists ---- */

/* Of lists, where the source has rows. */
static CtCore *array_of_known(CtLists *s, const CtListSource *source) {
    if (source->row == NULL) return ct_core_list_source_array(s, source);
    CtVar *x = ct_core_list_var(s, "x", source->row);
    return ct_core_list_map_source(s, source, x, ct_core_list_use(s, x));
}

/* Of a range, or a part of a list. */
static CtCore *array_of_source(CtLists *s, CtCore *list) {
    CtBindings around = {0};
    CtListSource source;
    if (!ct_core_list_source(s, list, &around, &source)) return NULL;
    return ct_core_list_wrap(s, &around, array_of_known(s, &source));
}

static CtCore *array_of_map(CtLists *s, CtCore *list) {
    CtCore **args = list->as.call.args;
    CtBindings around = {0};
    CtListSource source;
    CtCore *fun = ct_core_list_fun(s, args[0], &around);
    if (!ct_core_list_is_known(fun) || !ct_core_list_source(s, args[1], &around, &source)) return NULL;
    CtVar *x = ct_core_list_var(s, "x", ct_core_list_source_type(s, &source));
    CtCore *element = ct_core_list_use(s, x), *body = ct_core_list_apply(s, fun, &element);
    return ct_core_list_wrap(s, &around, ct_core_list_map_source(s, &source, x, body));
}

/* The shorter of the two lists ends both. */
static CtCore *array_of_zip(CtLists *s, CtCore *list) {
    CtProgram *p = s->p;
    CtCore **args = list->as.call.args;
    CtBindings around = {0};
    CtListSource a, b;
    CtCore *function = ct_core_list_fun(s, args[0], &around);
    if (!ct_core_list_is_known(function) || !ct_core_list_source(s, args[1], &around, &a) ||
        !ct_core_list_source(s, args[2], &around, &b))
        return NULL;
    CtVar *index = ct_core_list_var(s, "i", p->int_type);
    CtCore *elements[] = {ct_core_list_at(s, &a, ct_core_list_use(s, index)),
                          ct_core_list_at(s, &b, ct_core_list_use(s, index))};
    CtCore *body = ct_core_list_apply(s, function, elements), *count = ct_core_list_count(s, &a),
           *other = ct_core_list_count(s, &b);
    if (!is_whole(&a) || !is_whole(&b) || a.array != b.array)
        count = ct_core_prim2(p, s->range, PRIM_INT_MIN, count, other);
    CtCore *fun = ct_core_lam(p, s->range, NULL, &index, 1, body);
    return ct_core_list_wrap(s, &around, ct_core_list_array(s, ARRAY_BUILD, count, fun, NULL));
}

/* replicateOnto n x [] */
static CtCore *array_of_copies(CtLists *s, CtCore *list) {
    CtProgram *p = s->p;
    CtCore **args = list->as.call.args;
    if (args[2]->kind != CORE_CON || args[2]->as.call.count != 0) return NULL;
    CtBindings around = {0};
    CtCore *n = ct_core_list_bind_atom(s, &around, "n", args[0]);
    CtCore *x = ct_core_list_bind_atom(s, &around, "x", args[1]);
    n = ct_core_prim2(p, s->range, PRIM_INT_MAX, ct_core_int(p, s->range, 0), n);
    return ct_core_list_wrap(s, &around, ct_core_list_array(s, ARRAY_REPLICATE, n, x, NULL));
}

bool ct_core_list_is_shared(const CtCore *list) {
    CtListFunction function = ct_core_list_call(list);
    return function == LIST_DROP || function == LIST_TAIL;
}

/* Of two parts of lists, neither of which need be an array: an element of the first, or of the second. */
static CtCore *array_of_parts(CtLists *s, CtCore *const *args) {
    CtProgram *p = s->p;
    CtBindings around = {0};
    CtListSource a, b;
    if (!is_part(args[0]) || !is_part(args[1]) || !ct_core_list_source(s, args[0], &around, &a) ||
        !ct_core_list_source(s, args[1], &around, &b) || a.row != NULL)
        return NULL;
    CT_FIRED("lists.parts");
    CtVar *index = ct_core_list_var(s, "i", p->int_type);
    CtCore *behind = ct_core_prim2(p, s->range, PRIM_INT_SUB, ct_core_list_use(s, index), ct_core_list_count(s, &a));
    CtCore *first = ct_core_prim2(p, s->range, PRIM_INT_LT, ct_core_list_use(s, index), ct_core_list_count(s, &a));
    CtCore *item = ct_core_if(p, s->range, first, ct_core_list_at(s, &a, ct_core_list_use(s, index)),
                              ct_core_list_at(s, &b, behind));
    CtCore *count = ct_core_prim2(p, s->range, PRIM_INT_ADD, ct_core_list_count(s, &a), ct_core_list_count(s, &b));
    CtCore *fun = ct_core_lam(p, s->range, NULL, &index, 1, item);
    return ct_core_list_wrap(s, &around, ct_core_list_array(s, ARRAY_BUILD, count, fun, NULL));
}

static CtCore *array_of_append(CtLists *s, CtCore *list) {
    CtCore *parts = array_of_parts(s, list->as.call.args);
    if (parts != NULL) return parts;
    CtCore *first = ct_core_list_to_array(s, list->as.call.args[0]);
    CtCore *second = first != NULL ? ct_core_list_to_array(s, list->as.call.args[1]) : NULL;
    return second != NULL ? ct_core_list_array(s, ARRAY_APPEND, first, second, NULL) : NULL;
}

static CtCore *array_of_reverse(CtLists *s, CtCore *list) {
    CtCore *array = ct_core_list_to_array(s, list->as.call.args[0]);
    return array != NULL ? ct_core_list_array(s, ARRAY_REVERSE, array, NULL, NULL) : NULL;
}

static CtCore *array_of_scan(CtLists *s, CtCore *list) {
    CtCore **args = list->as.call.args;
    CtBindings around = {0};
    CtCore *function = ct_core_list_fun(s, args[0], &around);
    if (!ct_core_list_is_known(function)) return NULL;
    CtCore *start = ct_core_list_bind_atom(s, &around, "start", args[1]);
    CtCore *array = ct_core_list_to_array(s, args[2]);
    if (array == NULL) return NULL;
    CT_FIRED("lists.scan");
    CtVar *params[] = {ct_core_list_var(s, "state", start->type), ct_core_list_var(s, "x", array->type->parts[0])};
    CtCore *given[] = {ct_core_list_use(s, params[0]), ct_core_list_use(s, params[1])};
    CtCore *fun = ct_core_lam(s->p, s->range, NULL, params, 2, ct_core_list_apply(s, function, given));
    return ct_core_list_wrap(s, &around, ct_core_list_array(s, ARRAY_SCANL, fun, start, array));
}

/* take n (iterate f x), where f is total: it is also applied to the last element.
 *
 *     snd (mapAccumL (λstate i. (f state, state)) x (iota n)) */
static CtCore *array_of_iterated(CtLists *s, CtCore *list) {
    CtProgram *p = s->p;
    CtBindings around = {0};
    CtCore *n = ct_core_list_bind_atom(s, &around, "n", list->as.call.args[0]);
    CtCore *stream = list->as.call.args[1];
    if (ct_core_list_call(stream) != LIST_ITERATE) return NULL;
    CtCore *function = ct_core_list_fun(s, stream->as.call.args[0], &around);
    const CtCore *known = function;
    if (function->kind == CORE_GLOBAL && function->as.global->body != NULL) known = function->as.global->body;
    if (known->kind != CORE_LAM || known->as.lam->origin != NULL || !ct_core_is_total(known->as.lam->body)) return NULL;
    CT_FIRED("lists.iterated");
    CtCore *start = ct_core_list_bind_atom(s, &around, "start", stream->as.call.args[1]);
    CtVar *params[] = {ct_core_list_var(s, "state", start->type), ct_core_list_var(s, "i", p->int_type)};
    CtCore *state = ct_core_list_use(s, params[0]), *next = ct_core_list_apply(s, function, &state);
    CtCore *both = ct_core_pair(p, s->range, next, ct_core_list_use(s, params[0]));
    n = ct_core_prim2(p, s->range, PRIM_INT_MAX, ct_core_int(p, s->range, 0), n);
    CtCore *fun = ct_core_lam(p, s->range, NULL, params, 2, both),
           *all = ct_core_list_array(s, ARRAY_IOTA, n, NULL, NULL);
    CtCore *made = ct_core_list_array(s, ARRAY_MAP_ACCUM, fun, start, all);
    return ct_core_list_wrap(s, &around, ct_core_proj(p, s->range, made, 1));
}

static CtCore *array_of_call(CtLists *s, CtCore *list) {
    switch (ct_core_list_call(list)) {
    case LIST_RANGE:
    case LIST_STEPS:
    case LIST_TAKE:
    case LIST_DROP:
    case LIST_TAIL:
    case LIST_INIT: return array_of_source(s, list);
    case LIST_SCANL: return array_of_scan(s, list);
    case LIST_STREAM_TAKE: return array_of_iterated(s, list);
    case LIST_REPLICATE: return array_of_copies(s, list);
    case LIST_MAP: return array_of_map(s, list);
    case LIST_ZIP_WITH: return array_of_zip(s, list);
    case LIST_ZIP_FIRST: return ct_core_list_stream_pairs(s, list, true);
    case LIST_ZIP_SECOND: return ct_core_list_stream_pairs(s, list, false);
    case LIST_HEAD:
    case LIST_LAST:
    case LIST_AT: return ct_core_list_row_at(s, list);
    case LIST_APPEND: return array_of_append(s, list);
    case LIST_REVERSE: return array_of_reverse(s, list);
    case LIST_NONE: return ct_core_list_removal(s, list);
    case LIST_OF_ARRAY:
    case LIST_FILTER:
    case LIST_FOLDL:
    case LIST_FOLDR:
    case LIST_ALL:
    case LIST_ANY:
    case LIST_LENGTH:
    case LIST_MAXIMUM:
    case LIST_MINIMUM:
    case LIST_ITERATE:
    case LIST_CYCLE:
    case LIST_NULL:
    case LIST_TO_ARRAY:
    case LIST_INTERCALATE: break;
    }
    return NULL;
}

/* x : y : list, or [x, y] */
static CtCore *array_of_cons(CtLists *s, CtCore *list) {
    CtCoreList front = {0};
    CtType *element = ct_core_list_element(list->type);
    for (; list->kind == CORE_CON && list->as.call.count == 2; list = list->as.call.args[1])
        ct_push(s->p->context->arena, &front, list->as.call.args[0]);
    CtCore *array = ct_core_array_lit(s->p, s->range, element, front.items, front.count);
    if (list->kind == CORE_CON) return array;
    CtCore *rest = ct_core_list_to_array(s, list);
    return rest != NULL ? ct_core_list_array(s, ARRAY_APPEND, array, rest, NULL) : NULL;
}

bool ct_core_list_occurs(CtLists *s, CtCore *core, const CtVar *var) {
    CtArena *arena = s->p->context->arena;
    CtCoreList work = {0};
    ct_push(arena, &work, core);
    while (work.count > 0) {
        CtCore *one = work.items[--work.count];
        if (one->kind == CORE_VAR && one->as.var == var) return true;
        ct_core_children(arena, one, &work);
    }
    return false;
}

CtListSource *ct_core_list_bound_source(CtLists *s, CtVar *var, CtCore *list, CtBindings *around) {
    CtListSource *source = CT_NEW(s->p->context->arena, CtListSource);
    *source = (CtListSource){0};
    if (!ct_core_list_is_list(var->type)) return NULL;
    bool known = list->kind == CORE_VAR && ct_map_get(&s->sources, ct_key(list->as.var)) != NULL;
    if (known || is_part(list)) return ct_core_list_source(s, list, around, source) ? source : NULL;
    CtCore *array = ct_core_list_to_array(s, list);
    if (array != NULL) source->array = ct_core_list_bind(s, around, var->name->text, array);
    return array != NULL ? source : NULL;
}

/* A list's binding, or those of its elements in its place. */
static void open_let(CtLists *s, CtVar *var, CtCore *rhs, CtBindings *around) {
    CtArena *arena = s->p->context->arena;
    uint32_t bindings = around->count;
    CtListSource *source = ct_core_list_bound_source(s, var, rhs, around);
    ct_map_set(arena, &s->sources, ct_key(var), source); /* none, perhaps, where one was tried in vain before */
    if (source != NULL) {
        ct_push(arena, &s->opened, var);
    } else {
        around->count = bindings;
        ct_push(arena, around, ((CtBinding){var, rhs}));
    }
}

/* The fields of a record, each bound by itself. */
static void open_record(CtLists *s, const CtCore *record, CtBindings *around) {
    CtProgram *p = s->p;
    CtCase only = record->as.cases.cases[0];
    CtVar **vars = only.vars;
    CtCore *whole = ct_core_list_bind_atom(s, around, "record", record->as.cases.scrutinee);
    CT_FIRED("lists.record");
    for (uint32_t i = 0; i < only.con->count; i++) {
        if (vars[i] == NULL) continue;
        CtVar *field = ct_core_list_var(s, vars[i]->name->text, vars[i]->type);
        only.vars = CT_NEW_ARRAY(p->context->arena, CtVar *, only.con->count);
        only.vars[i] = field;
        only.body = ct_core_list_use(s, field);
        CtCore *rhs = ct_core_case(p, record->range, field->type, ct_core_list_again(s, whole), &only, 1, NULL);
        ct_push(p->context->arena, around, ((CtBinding){vars[i], rhs}));
    }
}

CtCore *ct_core_list_open(CtLists *s, CtCore *list, CtBindings *around) {
    for (;;) {
        if (list->kind == CORE_LET) {
            open_let(s, list->as.let.vars[0], list->as.let.rhs, around);
            list = list->as.let.body;
        } else if (list->kind == CORE_CASE && list->as.cases.count == 1 && list->as.cases.otherwise == NULL) {
            open_record(s, list, around);
            list = list->as.cases.cases[0].body;
        } else {
            return list;
        }
    }
}

/* case list of { … }, where the list that is taken apart has an array, and so do those in the branches. *has_array:
 * whether the first is so. */
static CtCore *array_of_list_case(CtLists *s, CtCore *core, bool *has_array) {
    CtProgram *p = s->p;
    CtBindings around = {0};
    CtCore *of = ct_core_list_open(s, core->as.cases.scrutinee, &around);
    CtVar *var = of->kind == CORE_VAR ? of->as.var : ct_core_list_var(s, "list", of->type), *tail = NULL;
    if (of->kind != CORE_VAR) {
        CtListSource *source = ct_core_list_bound_source(s, var, of, &around);
        if (source == NULL) return NULL;
        ct_map_set(p->context->arena, &s->sources, ct_key(var), source);
    }
    CtCore *opened = ct_core_case(p, core->range, core->type, ct_core_list_use(s, var), core->as.cases.cases,
                                  core->as.cases.count, core->as.cases.otherwise);
    CtCore *choice = ct_core_list_case(s, opened, &tail), *array = NULL;
    *has_array = choice != NULL;
    if (choice != NULL) array = ct_core_list_to_array(s, choice);
    if (array == NULL || (tail != NULL && ct_core_list_occurs(s, array, tail))) return NULL;
    if (of->kind != CORE_VAR && ct_core_list_occurs(s, array, var)) return NULL;
    return ct_core_list_wrap(s, &around, array);
}

/* One of several lists, all of which have arrays. */
static CtCore *array_of_choice(CtLists *s, CtCore *list) {
    CtProgram *p = s->p;
    bool has_array = false;
    if (ct_core_list_is_list(list->as.cases.scrutinee->type)) {
        CtCore *array = array_of_list_case(s, list, &has_array);
        if (has_array) return array;
    }
    CtType *type = ct_core_type_array(p, ct_core_list_element(list->type));
    CtCase *cases = CT_NEW_ARRAY(p->context->arena, CtCase, list->as.cases.count + 1);
    CtCore *otherwise = list->as.cases.otherwise;
    for (uint32_t i = 0; i < list->as.cases.count; i++) {
        cases[i] = list->as.cases.cases[i];
        cases[i].body = ct_core_list_to_array(s, cases[i].body);
        if (cases[i].body == NULL) return NULL;
    }
    if (otherwise != NULL && (otherwise = ct_core_list_to_array(s, otherwise)) == NULL) return NULL;
    CT_FIRED("lists.choice");
    return ct_core_case(p, list->range, type, list->as.cases.scrutinee, cases, list->as.cases.count, otherwise);
}

/* A list that is never made, since its pattern does not match. */
static CtCore *array_of_failure(CtLists *s, const CtCore *fail) {
    CtType *type = ct_core_type_array(s->p, ct_core_list_element(fail->type));
    CT_FIRED("lists.failure");
    return ct_core_fail(s->p, fail->range, type, fail->as.fail.code, fail->as.fail.text, fail->as.fail.message);
}

/* let (x, y) = pair in list */
static CtCore *array_of_unpacked(CtLists *s, CtCore *list) {
    CtCore *array = ct_core_list_to_array(s, list->as.let.body);
    if (array == NULL) return NULL;
    CT_FIRED("lists.unpacked");
    return ct_core_unpack(s->p, list->range, list->as.let.vars, list->as.let.count, list->as.let.rhs, array);
}

/* A constant that is a list gets a second one, which is the array and of which the list is made: so both are evaluated
 * once, where the first of them is used. */
static CtCore *array_of_constant(CtLists *s, CtCore *list) {
    CtProgram *p = s->p;
    CtArena *arena = p->context->arena;
    CtGlobal *constant = list->as.global;
    if (s->constants == NULL || constant->body == NULL || constant->is_kept) return NULL;
    if (!ct_map_has(s->constants, ct_key(constant))) {
        ct_map_set(arena, s->constants, ct_key(constant), NULL); /* while it is looked at: it may be made of itself */
        CtLists fresh = {.p = p, .constants = s->constants};
        CtCore *array = ct_core_list_to_array(&fresh, ct_core_copy(p, constant->body, NULL));
        if (array != NULL) {
            const char *name = ct_format(arena, "%s{array}", constant->name->text);
            CtGlobal *made = ct_core_global_new(p, name, array->type, constant->range);
            made->body = array;
            made->is_library = constant->is_library;
            constant->body = ct_core_list_of_array(p, ct_core_global(p, constant->range, made), constant->type);
            ct_map_set(arena, s->constants, ct_key(constant), made);
        }
    }
    CtGlobal *made = ct_map_get(s->constants, ct_key(constant));
    if (made == NULL) return NULL;
    CT_FIRED("lists.constant");
    return ct_core_global(p, list->range, made);
}

static CtCore *array_of_term(CtLists *s, CtCore *list) {
    bool takes_arrays = s->takes_arrays;
    s->takes_arrays = false;
    if (list->kind == CORE_VAR) {
        const CtListSource *source = ct_map_get(&s->sources, ct_key(list->as.var));
        return source != NULL ? array_of_known(s, source) : NULL;
    }
    if (ct_core_list_call(list) == LIST_OF_ARRAY) return list->as.call.args[0];
    const CtType *element = ct_core_list_element(list->type);
    if (!is_element(element) && !(takes_arrays && element->kind == TYPE_ARRAY)) return NULL;
    CtSourceRange range = s->range;
    s->range = list->range;
    CtCore *array = list->kind == CORE_CON      ? array_of_cons(s, list)
                    : list->kind == CORE_CASE   ? array_of_choice(s, list)
                    : list->kind == CORE_UNPACK ? array_of_unpacked(s, list)
                    : list->kind == CORE_FAIL   ? array_of_failure(s, list)
                    : list->kind == CORE_GLOBAL ? array_of_constant(s, list)
                                                : array_of_call(s, list);
    if (array == NULL) array = ct_core_list_loop_array(s, list);
    s->range = range;
    return array;
}

bool ct_core_list_may_try(CtLists *s) { return s->copied < MOST_COPIED_NODES && ++s->attempts <= MOST_ATTEMPTS; }

CtCore *ct_core_list_to_array(CtLists *s, CtCore *list) {
    if (!ct_core_list_may_try(s)) return NULL;
    CtBindings around = {0};
    CtCore *array = array_of_term(s, ct_core_list_open(s, list, &around));
    return array != NULL ? ct_core_list_wrap(s, &around, array) : NULL;
}
