/* Ground types: inferred types without type variables, hash-consed, so that equal types are equal pointers. A ground
 * type caches its Core type, which is made when it is first needed. Each data type at given type arguments becomes one
 * Core data type.
 */
#include "elab/internal.h"

static Ground *ground_new(CtElab *el) {
    Ground *ground = CT_NEW(el->arena, Ground);
    ground->id = ++el->ground_count;
    return ground;
}

Ground *ct_elab_ground_con(CtElab *el, CtTyCon *con) {
    Ground *ground = ct_map_get(&el->ground_cons, ct_key(con));
    if (ground != NULL) return ground;
    ground = ground_new(el);
    ground->con = con;
    ct_map_set(el->arena, &el->ground_cons, ct_key(con), ground);
    return ground;
}

static uint64_t app_key(const Ground *fun, const Ground *arg) { return (uint64_t)fun->id << 32 | arg->id; }

void ct_elab_ground_alias(CtElab *el, const Ground *app, Ground *type) {
    ct_map_set(el->arena, &el->ground_apps, app_key(app->fun, app->arg), type);
}

Ground *ct_elab_ground_app(CtElab *el, Ground *fun, Ground *arg) {
    arg = ct_elab_nested_arg(el, fun, arg);
    uint64_t key = app_key(fun, arg);
    Ground *ground = ct_map_get(&el->ground_apps, key);
    if (ground != NULL) return ground;
    ground = ground_new(el);
    ground->fun = fun;
    ground->arg = arg;
    ground->depth = fun->depth > arg->depth + 1 ? fun->depth : arg->depth + 1;
    Ground *whole = ct_elab_as_layer(el, ground);
    if (whole != NULL) ground = whole;
    ct_map_set(el->arena, &el->ground_apps, key, ground);
    return ground;
}

static Ground *unit(CtElab *el) { return ct_elab_ground_con(el, ct_types_con_tuple(el->types, 0)); }

/* The default for a type variable that nothing determines: (), or the list constructor for one of higher kind. */
static Ground *unconstrained(CtElab *el, const CtTy *type) {
    return type->arity == 0 ? unit(el) : ct_elab_ground_con(el, ct_types_con_list(el->types));
}

/* Inferred types are DAGs that are walked as trees, which may take exponential time: `left` limits the number of parts
 * that are still visited. */
static Ground *ground_in(CtElab *el, const TyEnv *env, CtTy *type, uint32_t *left) {
    if (*left == 0) return unit(el);
    --*left;
    type = ct_types_ty_resolve(type);
    switch (type->kind) {
    case TY_META: return unconstrained(el, type);
    case TY_GENERIC:
        for (; env != NULL; env = env->outer)
            for (uint32_t i = 0; i < env->count; i++)
                if (env->generics[i] == type) return env->types[i];
        return unconstrained(el, type);
    case TY_CON: return ct_elab_ground_con(el, type->con);
    case TY_APP: break;
    }
    Ground *fun = ground_in(el, env, type->fun, left);
    Ground *arg = ground_in(el, env, type->arg, left);
    return ct_elab_ground_app(el, fun, arg);
}

Ground *ct_elab_ground_in(CtElab *el, const TyEnv *env, CtTy *type) {
    uint32_t left = ELAB_MAX_TYPE_PARTS;
    Ground *ground = ground_in(el, env, type, &left);
    if (left == 0 && !el->gave_up) {
        CtSourceRange range = ct_elab_blame(el, CT_NO_RANGE);
        ct_error(el->context, CT_E0323, range, "this uses something of a type with more than %d parts",
                 ELAB_MAX_TYPE_PARTS);
        el->gave_up = true;
    }
    return ground;
}

Ground *ct_elab_ground(CtElab *el, CtTy *type) { return ct_elab_ground_in(el, el->env, type); }

CtTyCon *ct_elab_ground_head(Ground *type, uint32_t *count) {
    uint32_t args = 0;
    for (; type->con == NULL; type = type->fun) args++;
    if (count != NULL) *count = args;
    return type->con;
}

Ground *ct_elab_ground_arg(Ground *type, uint32_t index) {
    uint32_t count;
    ct_elab_ground_head(type, &count);
    for (; index + 1 < count; count--) type = type->fun;
    return type->arg;
}

bool ct_elab_ground_fun(CtElab *el, Ground *type, Ground **arg, Ground **result) {
    if (type->con != NULL || type->fun->con != NULL) return false;
    if (type->fun->fun->con != ct_types_con_fun(el->types)) return false;
    if (arg != NULL) *arg = type->fun->arg;
    if (result != NULL) *result = type->arg;
    return true;
}

/* ---- printing ---- */

enum { PRINT_LIMIT = 60 };

static void print_at(CtText *out, Ground *type, int level, size_t limit);

static void print_args(CtText *out, Ground *type, const char *open, const char *between, const char *close,
                       size_t limit) {
    uint32_t count;
    ct_elab_ground_head(type, &count);
    ct_text_puts(out, open);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) ct_text_puts(out, between);
        print_at(out, ct_elab_ground_arg(type, i), 0, limit);
    }
    ct_text_puts(out, close);
}

/* level 0: anywhere; 1: left of an arrow; 2: an argument. */
static void print_at(CtText *out, Ground *type, int level, size_t limit) {
    if (out->length > limit) {
        ct_text_puts(out, "…");
        return;
    }
    uint32_t count;
    CtTyCon *head = ct_elab_ground_head(type, &count);
    const char *name = head->name->text;
    if (count == 0) {
        ct_text_puts(out, name);
    } else if (strcmp(name, "->") == 0 && count == 2) {
        if (level > 0) ct_text_putc(out, '(');
        print_at(out, ct_elab_ground_arg(type, 0), 1, limit);
        ct_text_puts(out, " -> ");
        print_at(out, ct_elab_ground_arg(type, 1), 0, limit);
        if (level > 0) ct_text_putc(out, ')');
    } else if (strcmp(name, "[]") == 0) {
        print_args(out, type, "[", ", ", "]", limit);
    } else if (name[0] == '(' && count == head->arity) {
        print_args(out, type, "(", ", ", ")", limit);
    } else {
        if (level > 1) ct_text_putc(out, '(');
        ct_text_puts(out, name);
        for (uint32_t i = 0; i < count; i++) {
            ct_text_putc(out, ' ');
            print_at(out, ct_elab_ground_arg(type, i), 2, limit);
        }
        if (level > 1) ct_text_putc(out, ')');
    }
}

void ct_elab_ground_print(CtText *out, Ground *type) { print_at(out, type, 0, out->length + PRINT_LIMIT); }

/* ---- Core types ---- */

Ground *ct_elab_field(CtElab *el, const CtTyCon *tycon, Ground **args, uint32_t count, const CtDataCon *con,
                      uint32_t index) {
    TyEnv env = {.generics = tycon->params, .types = args, .count = count, .outer = NULL};
    return ct_elab_ground_in(el, &env, con->fields[index]);
}

static Ground *field(CtElab *el, Ground *type, const CtDataCon *con, uint32_t index) {
    uint32_t count;
    CtTyCon *head = ct_elab_ground_head(type, &count);
    Ground **args = CT_NEW_ARRAY(el->arena, Ground *, count);
    for (uint32_t i = 0; i < count; i++) args[i] = ct_elab_ground_arg(type, i);
    return ct_elab_field(el, head, args, count, con, index);
}

static void too_many_instances(CtElab *el, Ground *type) {
    if (el->gave_up) return;
    el->gave_up = true;
    CtText text = ct_text(el->arena);
    ct_elab_ground_print(&text, type);
    CtTyCon *head = ct_elab_ground_head(type, NULL);
    CtDiag *diag = ct_error(el->context, CT_E0402, head->range,
                            "the data type `%s` contains itself at ever larger types", head->name->text);
    ct_note(el->context, diag, CT_NO_RANGE, "reached `%s`", text.data);
}

/* Counts one more instance of a data type; false when there are too many, which is reported once. */
static bool count_instance(CtElab *el, Ground *type) {
    CtTyCon *head = ct_elab_ground_head(type, NULL);
    uintptr_t made = (uintptr_t)ct_map_get(&el->data_counts, ct_key(head)) + 1;
    if (type->depth > ELAB_MAX_TYPE_DEPTH && made < ELAB_MAX_COPIES) made = ELAB_MAX_COPIES;
    ct_map_set(el->arena, &el->data_counts, ct_key(head), (void *)made); /* NOLINT: a number in a pointer's place */
    if (made == ELAB_MAX_COPIES) too_many_instances(el, type);
    return made < ELAB_MAX_COPIES;
}

/* The Core data type of a ground type. It is stored in type->core before its fields are visited, because the data type
 * may be recursive. */
static CtType *data_type(CtElab *el, Ground *type) {
    uint32_t count;
    CtTyCon *head = ct_elab_ground_head(type, &count);
    bool sound = count_instance(el, type);
    CtType **args = CT_NEW_ARRAY(el->arena, CtType *, count);
    uint32_t arg_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (sound && head->params[i]->arity == 0) args[arg_count++] = ct_elab_core(el, ct_elab_ground_arg(type, i));
    if (type->core != NULL) return type->core;
    type->core = ct_core_type_data(el->program, head->name, args, arg_count, head->is_newtype);
    type->core->data->is_library = ct_elab_is_library(el, head->range);
    /* Ratios, too, are not ordered by numerator and denominator. */
    bool is_ratio = type->core->data->is_library && strcmp(head->name->text, "Ratio") == 0;
    type->core->data->own_order = is_ratio || ct_types_is_ordered_by_instance(el->types, head);
    CtCon *cons = CT_NEW_ARRAY(el->arena, CtCon, head->con_count);
    for (uint32_t i = 0; i < head->con_count; i++) {
        const CtDataCon *con = head->cons[i];
        Ground **own = con->generics == NULL ? NULL : ct_elab_determined(el, type, con);
        cons[i].name = con->name;
        cons[i].precedence = con->precedence;
        if (con->generics != NULL && (own == NULL || ct_elab_has_variants(el, type, con))) continue; /* no such value */
        cons[i].count = con->arity;
        cons[i].field_names = con->field_names;
        cons[i].strict = con->strict;
        cons[i].forms = ct_elab_forms(el, head, con);
        cons[i].infix = con->infix;
        cons[i].precedence = con->precedence;
        cons[i].fields = CT_NEW_ARRAY(el->arena, CtType *, con->arity);
        for (uint32_t j = 0; j < con->arity; j++)
            cons[i].fields[j] = !sound        ? el->program->unit_type
                                : own != NULL ? ct_elab_core(el, ct_elab_variant_field(el, type, con, own, j))
                                              : ct_elab_core(el, field(el, type, con, j));
    }
    ct_core_data_set_cons(el->program, type->core->data, cons, head->con_count);
    if (head->is_open || strcmp(head->name->text, "Store'value") == 0) ct_core_data_open(el->program, type->core->data);
    return type->core;
}

static CtType *make_core(CtElab *el, Ground *type) {
    CtProgram *p = el->program;
    uint32_t count;
    CtTyCon *head = ct_elab_ground_head(type, &count);
    if (head == ct_types_con_double(el->types)) return p->double_type;
    if (head == ct_types_con_float(el->types)) return p->float_type;
    if (head == ct_types_con_int(el->types)) return p->int_type;
    if (head == ct_types_con_char(el->types)) return p->char_type;
    if (head == ct_types_con_array(el->types) && count == 1) return ct_core_type_array(p, ct_elab_core(el, type->arg));
    if (head->poly != NULL) return ct_elab_poly_type(el, type);
    Ground *arg, *result;
    if (ct_elab_ground_fun(el, type, &arg, &result)) {
        CtType *param = ct_elab_core(el, arg);
        return ct_core_type_fun(p, &param, 1, ct_elab_core(el, result));
    }
    if (count != 1 && head == ct_types_con_tuple(el->types, count)) {
        CtType **parts = CT_NEW_ARRAY(el->arena, CtType *, count);
        for (uint32_t i = 0; i < count; i++) parts[i] = ct_elab_core(el, ct_elab_ground_arg(type, i));
        return ct_core_type_tuple(p, parts, count);
    }
    Universal *universal = ct_elab_universal(el, type);
    return universal != NULL ? ct_elab_universal_core(el, type, universal) : data_type(el, type);
}

CtType *ct_elab_core(CtElab *el, Ground *type) {
    if (type->core == NULL) {
        CtType *made = make_core(el, type);
        type->core = made;
    }
    return type->core;
}

CtType *ct_elab_core_of(CtElab *el, CtTy *type) { return ct_elab_core(el, ct_elab_ground(el, type)); }

CtType *ct_elab_core_nary(CtElab *el, Ground *type, uint32_t arity) {
    if (arity == 0) return ct_elab_core(el, type);
    CtType **params = CT_NEW_ARRAY(el->arena, CtType *, arity);
    for (uint32_t i = 0; i < arity; i++) {
        Ground *arg = NULL;
        ct_elab_ground_fun(el, type, &arg, &type);
        params[i] = ct_elab_core(el, arg);
    }
    return ct_core_type_fun(el->program, params, arity, ct_elab_core(el, type));
}

CtCon *ct_elab_con(CtElab *el, Ground *type, const CtDataCon *con) {
    CtType *core = ct_elab_core(el, type);
    const Universal *universal = ct_elab_universal(el, type);
    if (universal == NULL) return &core->data->cons[con->tag];
    const Layer *layer = ct_elab_layer(universal, con->tycon, NULL, 0);
    return layer == NULL ? &core->data->cons[0] : &core->data->cons[layer->first + con->tag];
}
