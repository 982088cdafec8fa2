/* Conversions between the representations of a type: where one of the two types has a universal type (universal.c) in
 * the place of a type that the other one spells out. A conversion walks a value as far as its type has such places: a
 * constant number of steps for what is no list or tree itself; a list, an array or a tree of regular type is converted
 * element by element. A nested data type is never walked, because it is represented in the same way on both sides. */
#include "elab/internal.h"

enum { MOST_NEWTYPES = 50 }; /* of newtypes that stand for newtypes */

static CtCore *variable(CtElab *el, CtSourceRange range, CtVar *var) { return ct_core_var(el->program, range, var); }

/* λx. to-result (f (to-param x)) */
static CtCore *function(CtElab *el, CtSourceRange range, CtCore *value, Ground *from, Ground *to) {
    Ground *from_arg, *from_result, *to_arg, *to_result;
    if (!ct_elab_ground_fun(el, from, &from_arg, &from_result) || !ct_elab_ground_fun(el, to, &to_arg, &to_result))
        return ct_elab_error_term(el, range, ct_elab_core(el, to));
    Lets lets = {0};
    CtCore *fun = ct_elab_atom(el, range, "f", value, &lets);
    CtVar *param = ct_core_var_new(el->program, "x", ct_elab_core(el, to_arg));
    CtCore *arg = ct_elab_convert(el, range, variable(el, range, param), to_arg, from_arg);
    CtCore *call = ct_elab_apply_one(el, range, fun, arg);
    CtCore *body = ct_elab_convert(el, range, call, from_result, to_result);
    return ct_elab_wrap(el, &lets, ct_core_lam(el->program, range, el->name, &param, 1, body));
}

CtCore *ct_elab_convert(CtElab *el, CtSourceRange range, CtCore *value, Ground *from, Ground *to) {
    if (from == to || ct_elab_core(el, from) == ct_elab_core(el, to)) return value;
    if (ct_elab_ground_fun(el, from, NULL, NULL)) return function(el, range, value, from, to);
    const Spec *spec = ct_elab_spec_convert(el, SPEC_CONVERT, from, to);
    return ct_core_app(el->program, range, ct_core_global(el->program, range, spec->global), &value, 1);
}

/* ---- the code of a conversion ---- */

typedef struct Sides {
    CtElab *el;
    CtCore *value;
    Ground *from, *to;
} Sides;

static CtCore *impossible(const Sides *s) { return ct_elab_impossible(s->el, CT_NO_RANGE, ct_elab_core(s->el, s->to)); }

static void no_conversion(const Sides *s) {
    if (s->el->gave_up) return;
    s->el->gave_up = true;
    CtText from = ct_text(s->el->arena), to = ct_text(s->el->arena);
    ct_elab_ground_print(&from, s->from);
    ct_elab_ground_print(&to, s->to);
    ct_error(s->el->context, CT_E0316, ct_elab_blame(s->el, CT_NO_RANGE),
             "a value of the type `%s` cannot be represented as `%s` here", from.data, to.data);
}

/* A branch that takes the constructor `from` apart and puts the constructor `to` together. */
static CtCase branch(const Sides *s, const View *from, const View *to) {
    CtProgram *p = s->el->program;
    CtVar **vars = CT_NEW_ARRAY(s->el->arena, CtVar *, from->count);
    CtCore **args = CT_NEW_ARRAY(s->el->arena, CtCore *, from->count);
    for (uint32_t i = 0; i < from->count; i++) {
        vars[i] = ct_core_var_new(p, "x", ct_elab_core(s->el, from->stored[i]));
        args[i] =
            ct_elab_convert(s->el, CT_NO_RANGE, variable(s->el, CT_NO_RANGE, vars[i]), from->stored[i], to->stored[i]);
    }
    CtCore *body = to->con != NULL ? ct_core_con(p, CT_NO_RANGE, to->con, args, to->count)
                                   : ct_core_tuple(p, CT_NO_RANGE, args, to->count);
    return (CtCase){from->con, vars, body};
}

/* For a tuple that is none of a universal type, `con` is NULL. */
static View view_of(CtElab *el, const Applied *applied, uint32_t index) {
    if (!ct_elab_is_tuple(el, applied->tycon)) {
        View view = ct_elab_view(el, applied, applied->tycon->cons[index]);
        ct_elab_view_fields(el, applied, applied->tycon->cons[index], &view);
        return view;
    }
    if (ct_elab_universal(el, applied->type) != NULL) return ct_elab_tuple_view(el, applied->type, applied);
    return (View){NULL, applied->kept, applied->given, applied->count};
}

/* The type that a newtype stands for; NULL: the type is no newtype. */
static Ground *inside_of(CtElab *el, Ground *type) {
    Applied applied = ct_elab_applied_ground(el, type);
    if (applied.tycon->decl == NULL || !applied.tycon->decl->is_newtype || ct_elab_universal(el, type) != NULL)
        return NULL;
    return view_of(el, &applied, 0).stored[0];
}

/* Whether a newtype stands, perhaps through others, for a type with the head of `goal`. */
static bool stands_for(CtElab *el, Ground *type, Ground *goal) {
    const CtTyCon *head = ct_elab_ground_head(goal, NULL);
    for (int steps = 0; steps < MOST_NEWTYPES && (type = inside_of(el, type)) != NULL; steps++)
        if (ct_elab_ground_head(type, NULL) == head) return true;
    return false;
}

/* From a newtype to what it stands for, or back, as derived instances need it; NULL where that is not the case. */
static CtCore *through_newtype(const Sides *s) {
    CtElab *el = s->el;
    if (stands_for(el, s->from, s->to)) {
        Ground *inside = inside_of(el, s->from);
        CtCase open = {.con = &ct_elab_core(el, s->from)->data->cons[0], .vars = CT_NEW(el->arena, CtVar *)};
        open.vars[0] = ct_core_var_new(el->program, "x", ct_elab_core(el, inside));
        open.body = ct_elab_convert(el, CT_NO_RANGE, variable(el, CT_NO_RANGE, open.vars[0]), inside, s->to);
        return ct_core_case(el->program, CT_NO_RANGE, open.body->type, s->value, &open, 1, NULL);
    }
    if (!stands_for(el, s->to, s->from)) return NULL;
    CtCore *value = ct_elab_convert(el, CT_NO_RANGE, s->value, s->from, inside_of(el, s->to));
    return ct_core_con(el->program, CT_NO_RANGE, &ct_elab_core(el, s->to)->data->cons[0], &value, 1);
}

/* Takes apart the value, of the type constructor of both sides. */
static CtCore *rebuild(const Sides *s, const Applied *from, const Applied *to) {
    CtElab *el = s->el;
    CtProgram *p = el->program;
    CtCore *renamed = from->tycon != to->tycon ? through_newtype(s) : NULL;
    if (renamed != NULL) return renamed;
    if (from->tycon != to->tycon || from->tycon == ct_types_con_fun(el->types)) {
        no_conversion(s);
        return impossible(s);
    }
    if (from->tycon == ct_types_con_array(el->types)) {
        CtVar *item = ct_core_var_new(p, "x", ct_elab_core(el, from->given[0]));
        CtCore *body = ct_elab_convert(el, CT_NO_RANGE, variable(el, CT_NO_RANGE, item), from->given[0], to->given[0]);
        CtCore *args[] = {ct_core_lam(p, CT_NO_RANGE, "convert", &item, 1, body), s->value};
        return ct_core_array(p, CT_NO_RANGE, ARRAY_MAP, args, 2);
    }
    uint32_t count = ct_elab_con_count(el, from->tycon);
    CtCase *cases = CT_NEW_ARRAY(el->arena, CtCase, count);
    for (uint32_t i = 0; i < count; i++) {
        View left = view_of(el, from, i), right = view_of(el, to, i);
        cases[i] = branch(s, &left, &right);
        if (left.con == NULL) return ct_core_unpack(p, CT_NO_RANGE, cases[i].vars, left.count, s->value, cases[i].body);
    }
    bool all = cases[0].con->data->con_count == count;
    return ct_core_case(p, CT_NO_RANGE, ct_elab_core(el, s->to), s->value, cases, count, all ? NULL : impossible(s));
}

/* The base of a universal type, at the further arguments that `type` has. */
static Ground *base_of(CtElab *el, const Universal *universal, Ground *type) {
    uint32_t more;
    ct_elab_ground_head(type, &more);
    Ground *base = universal->base;
    for (uint32_t i = 0; i < more; i++) base = ct_elab_ground_app(el, base, ct_elab_ground_arg(type, i));
    return base;
}

/* The type as a layer of the universal type that `level` applies; false when it is a base. */
static bool as_layer(CtElab *el, Ground *type, Ground *level, Applied *out) {
    uint32_t more;
    ct_elab_ground_head(level, &more);
    *out = ct_elab_applied_ground(el, type);
    if (out->count <= more) return false;
    Ground *inner = type, **kept = CT_NEW_ARRAY(el->arena, Ground *, out->count);
    for (uint32_t i = 0; i < more; i++) inner = inner->fun;
    for (uint32_t i = 0; i < more; i++) kept[out->count - more + i] = ct_elab_ground_arg(level, i);
    if (ct_elab_grown(el, inner, kept) != ct_elab_universal(el, level)) return false;
    out->kept = kept;
    out->type = level;
    return true;
}

static CtCore *to_universal(const Sides *s, const Universal *universal) {
    CtElab *el = s->el;
    Applied from = ct_elab_applied_ground(el, s->from), to;
    if (as_layer(el, s->from, s->to, &to)) return rebuild(s, &from, &to);
    CtCore *base = ct_elab_convert(el, CT_NO_RANGE, s->value, s->from, base_of(el, universal, s->to));
    return ct_core_con(el->program, CT_NO_RANGE, &ct_elab_core(el, s->to)->data->cons[0], &base, 1);
}

static CtCore *from_universal(const Sides *s, const Universal *universal) {
    CtElab *el = s->el;
    Applied from, to = ct_elab_applied_ground(el, s->to);
    if (as_layer(el, s->to, s->from, &from)) {
        Sides inner = *s;
        inner.value = ct_elab_relayer(el, CT_NO_RANGE, s->value, &from);
        return rebuild(&inner, &from, &to);
    }
    Ground *base = base_of(el, universal, s->from);
    CtCase inside = {.con = &ct_elab_core(el, s->from)->data->cons[0], .vars = CT_NEW(el->arena, CtVar *)};
    inside.vars[0] = ct_core_var_new(el->program, "x", ct_elab_core(el, base));
    inside.body = ct_elab_convert(el, CT_NO_RANGE, variable(el, CT_NO_RANGE, inside.vars[0]), base, s->to);
    bool all = inside.con->data->con_count == 1;
    return ct_core_case(el->program, CT_NO_RANGE, inside.body->type, s->value, &inside, 1, all ? NULL : impossible(s));
}

/* A layer at the further arguments that `type` has. */
static Applied layer_at(CtElab *el, const Layer *layer, Ground *type) {
    uint32_t more;
    ct_elab_ground_head(type, &more);
    Applied applied = {.tycon = layer->tycon, .count = layer->count + more, .type = type};
    applied.given = applied.kept = CT_NEW_ARRAY(el->arena, Ground *, applied.count);
    for (uint32_t i = 0; i < layer->count; i++) applied.kept[i] = layer->args[i];
    for (uint32_t i = 0; i < more; i++) applied.kept[layer->count + i] = ct_elab_ground_arg(type, i);
    return applied;
}

/* From one universal type to another: layer by layer, down to the base. */
static CtCore *between(const Sides *s, const Universal *from, const Universal *to) {
    CtElab *el = s->el;
    CT_VEC(CtCase) cases = {0};
    Ground *base = base_of(el, from, s->from), *goal = base_of(el, to, s->to);
    View left = {&ct_elab_core(el, s->from)->data->cons[0], &base, &base, 1};
    View right = {&ct_elab_core(el, s->to)->data->cons[0], &goal, &goal, 1};
    ct_push(el->arena, &cases, branch(s, &left, &right));
    for (uint32_t i = 0; i < from->layers.count; i++) {
        const Layer *layer = &from->layers.items[i];
        Ground **args = CT_NEW_ARRAY(el->arena, Ground *, layer->count);
        for (uint32_t j = 0; j < layer->count; j++) args[j] = layer->args[j] == from->type ? to->type : layer->args[j];
        if (ct_elab_layer(to, layer->tycon, args, layer->count) == NULL) continue;
        const Layer other = {.tycon = layer->tycon, .args = args, .count = layer->count};
        Applied a = layer_at(el, layer, s->from), b = layer_at(el, &other, s->to);
        for (uint32_t j = 0; j < ct_elab_con_count(el, layer->tycon); j++) {
            left = view_of(el, &a, j);
            right = view_of(el, &b, j);
            ct_push(el->arena, &cases, branch(s, &left, &right));
        }
    }
    bool all = cases.items[0].con->data->con_count == cases.count;
    return ct_core_case(el->program, CT_NO_RANGE, ct_elab_core(el, s->to), s->value, cases.items, cases.count,
                        all ? NULL : impossible(s));
}

CtCore *ct_elab_convert_body(CtElab *el, Spec *spec) {
    CtVar *param = ct_core_var_new(el->program, "x", ct_elab_core(el, spec->types[0]));
    Sides s = {el, variable(el, CT_NO_RANGE, param), spec->types[0], spec->types[1]};
    const Universal *from = ct_elab_universal(el, s.from), *to = ct_elab_universal(el, s.to);
    CtCore *body;
    if (from != NULL && to != NULL) {
        body = between(&s, from, to);
    } else if (to != NULL) {
        body = to_universal(&s, to);
    } else if (from != NULL) {
        body = from_universal(&s, from);
    } else {
        Applied left = ct_elab_applied_ground(el, s.from), right = ct_elab_applied_ground(el, s.to);
        body = rebuild(&s, &left, &right);
    }
    return ct_core_lam(el->program, CT_NO_RANGE, "convert", &param, 1, body);
}

/* ---- layers of the same type constructor ---- */

/* Whether several layers may have the same type constructor: by two steps, or by arguments that a step leaves open. */
static bool may_overlap(CtElab *el, const CtTyCon *tycon) {
    uint32_t count, fitting = 0;
    const CtGrowth *steps = ct_types_growths(el->types, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (steps[i].head != NULL && steps[i].head != tycon) continue;
        fitting++;
        for (uint32_t j = 0; j < steps[i].count; j++)
            if (!steps[i].holes[j] && steps[i].args[j] == NULL) return true;
    }
    return fitting > 1;
}

CtCore *ct_elab_relayer(CtElab *el, CtSourceRange range, CtCore *value, const Applied *applied) {
    const Universal *universal = ct_elab_universal(el, applied->type);
    if (universal == NULL || !may_overlap(el, applied->tycon)) return value;
    const Layer *layer = ct_elab_layer(universal, applied->tycon, applied->kept, applied->count);
    if (layer == NULL) return value;
    const Spec *spec = ct_elab_spec_convert(el, SPEC_RELAYER, applied->type, layer->raw);
    return ct_core_app(el->program, range, ct_core_global(el->program, range, spec->global), &value, 1);
}

/* Whether two types can stand for the same type of the program. */
static bool agree(CtElab *el, Ground *a, Ground *b) {
    if (a == b) return true;
    const Universal *of_a = ct_elab_universal(el, a), *of_b = ct_elab_universal(el, b);
    Applied layer;
    if (of_a != NULL && of_b != NULL) return agree(el, base_of(el, of_a, a), base_of(el, of_b, b));
    if (of_a != NULL) return as_layer(el, b, a, &layer) || agree(el, base_of(el, of_a, a), b);
    if (of_b != NULL) return agree(el, b, a);
    Applied left = ct_elab_applied_ground(el, a), right = ct_elab_applied_ground(el, b);
    bool same = left.tycon == right.tycon && left.count == right.count;
    for (uint32_t i = 0; i < left.count && same; i++) same = agree(el, left.kept[i], right.kept[i]);
    return same;
}

CtCore *ct_elab_relayer_body(CtElab *el, Spec *spec) {
    Ground *type = spec->types[0];
    const Universal *universal = ct_elab_universal(el, type);
    CtVar *param = ct_core_var_new(el->program, "x", ct_elab_core(el, type));
    Sides s = {el, variable(el, CT_NO_RANGE, param), type, type};
    CT_VEC(CtCase) cases = {0};
    const Layer *goal = NULL;
    for (uint32_t i = 0; i < universal->layers.count; i++)
        if (universal->layers.items[i].raw == spec->types[1]) goal = &universal->layers.items[i];
    Applied to = layer_at(el, goal, type);
    for (uint32_t i = 0; i < universal->layers.count; i++) {
        const Layer *layer = &universal->layers.items[i];
        if (layer == goal || layer->tycon != goal->tycon) continue;
        Applied from = layer_at(el, layer, type);
        bool same = true;
        for (uint32_t j = 0; j < from.count && same; j++) same = agree(el, from.kept[j], to.kept[j]);
        for (uint32_t j = 0; same && j < ct_elab_con_count(el, layer->tycon); j++) {
            View left = view_of(el, &from, j), right = view_of(el, &to, j);
            ct_push(el->arena, &cases, branch(&s, &left, &right));
        }
    }
    CtCore *body = s.value;
    if (cases.count > 0)
        body = ct_core_case(el->program, CT_NO_RANGE, param->type, s.value, cases.items, cases.count,
                            variable(el, CT_NO_RANGE, param));
    return ct_core_lam(el->program, CT_NO_RANGE, "convert", &param, 1, body);
}
