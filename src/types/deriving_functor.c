/* `deriving (Functor, Foldable, Traversable)`, of the last parameter a of a data type. With [τ] for what happens to a
 * field:
 *
 *   fmap f (C x y)     = C ([τ] x) ([τ] y)                     [a] x = f x   [g τ] x = fmap (\y -> [τ] y) x   [r -> τ]
 * x = \y -> [τ] (x y) foldr f z (C x y)  = [τ] x ([τ] y z)                       [a] x r = f x r   [g τ] x r = foldr
 * (\y s -> [τ] y s) r x traverse f (C x y) = pure C <*> [τ] x <*> [τ] y            [a] x = f x   [g τ] x = traverse (\y
 * -> [τ] y) x
 *
 * and where a does not occur in τ, [τ] x is x, [τ] x r is r, or pure x. */
#include "types/internal.h"

typedef enum Kind { FUNCTOR, FOLDABLE, TRAVERSABLE, KINDS } Kind;
static const char *const classes[KINDS] = {"Functor", "Foldable", "Traversable"};
static const char *const methods[KINDS] = {"fmap", "foldr", "traverse"};

typedef struct Derive {
    CtTypes *types;
    CtInstance *instance;
    CtTy *last; /* the parameter */
    Kind kind;
    uint32_t names;
    bool failed;
} Derive;

static bool kind_of(const char *name, Kind *kind) {
    for (*kind = FUNCTOR; *kind < KINDS; (*kind)++)
        if (!strcmp(classes[*kind], name)) return true;
    return false;
}

/* ---- heads and contexts ---- */

static bool mentions(CtTy *type, const CtTy *generic) {
    type = ct_types_ty_resolve(type);
    if (type->kind == TY_APP) return mentions(type->fun, generic) || mentions(type->arg, generic);
    return type == generic;
}

/* What is applied to a type with a in it, as f and Compose f g are in `f (Compose f g a)`, has to be of the class, too.
 */
static void solve_heads(CtTypes *types, const CtInstance *instance, CtTy *type, CtTy *const *args) {
    const CtTyCon *con = instance->tycon;
    type = ct_types_ty_resolve(type);
    if (type->kind != TY_APP || !mentions(type, con->params[con->arity - 1])) return;
    solve_heads(types, instance, type->fun, args);
    solve_heads(types, instance, type->arg, args);
    if (!mentions(type->arg, con->params[con->arity - 1])) return;
    CtTy *head = ct_types_ty_replace(types, type->fun, con->params, args, con->arity);
    ct_types_solve(types, instance->class_, head, instance->range, true);
}

void ct_types_solve_functor(CtTypes *types, const CtInstance *instance, CtTy *const *args) {
    const CtTyCon *con = instance->tycon;
    for (uint32_t i = 0; i < con->con_count; i++)
        for (uint32_t j = 0; j < con->cons[i]->arity; j++) solve_heads(types, instance, con->cons[i]->fields[j], args);
}

bool ct_types_derives_functor(const char *class_name) {
    Kind kind;
    return kind_of(class_name, &kind);
}

CtInstance *ct_types_derive_functor_head(CtTypes *types, CtTyCon *con, CtClass *class_, CtSourceRange range) {
    if (con->arity == 0 || con->params[con->arity - 1]->arity > 0) {
        ct_error(types->context, CT_E0315, range, "%s cannot be derived for `%s`: %s", class_->name->text,
                 con->name->text, con->arity == 0 ? "it has no parameter" : "its last parameter is no type");
        return NULL;
    }
    uint32_t count = con->arity - 1;
    CtTy **generics = CT_NEW_ARRAY(types->arena, CtTy *, count);
    for (uint32_t i = 0; i < count; i++)
        generics[i] = ct_types_ty_generic(types, con->params[i]->name, con->params[i]->arity);
    CtInstance *instance = ct_types_instance_new(types, class_, con, generics, count, range);
    if (!instance) return NULL;
    instance->decl = con->decl;
    instance->derived = true;
    return instance;
}

/* ---- syntax ---- */

static CtName name_of(Derive *d, const char *text) {
    return (CtName){NULL, ct_intern_text(&d->types->context->symbols, text), d->instance->range};
}

static CtExpr *expr(Derive *d, CtExprKind kind, uint32_t part_count) {
    CtExpr *e = CT_NEW(d->types->arena, CtExpr);
    e->kind = kind;
    e->range = d->instance->range;
    e->part_count = part_count;
    e->parts = CT_NEW_ARRAY(d->types->arena, CtExpr *, part_count);
    return e;
}

static CtExpr *local(Derive *d, CtName name) {
    CtExpr *e = expr(d, EXPR_VAR, 0);
    e->name = name;
    return e;
}

static CtExpr *global(Derive *d, const char *name) {
    CtExpr *e = local(d, name_of(d, name));
    e->entity = ct_types_library(d->types, SPACE_VALUE, e->name.text);
    return e;
}

static CtExpr *call(Derive *d, CtExpr *fun, CtExpr *a, CtExpr *b, CtExpr *c) {
    CtExpr *e = expr(d, EXPR_APP, 4);
    e->parts[0] = fun;
    e->parts[1] = a;
    e->parts[2] = b;
    e->parts[3] = c;
    e->part_count = c ? 4 : b ? 3 : 2;
    return e;
}

static CtPat *pat(Derive *d, CtPatKind kind, uint32_t part_count) {
    CtPat *p = CT_NEW(d->types->arena, CtPat);
    p->kind = kind;
    p->range = d->instance->range;
    p->part_count = part_count;
    p->parts = CT_NEW_ARRAY(d->types->arena, CtPat *, part_count);
    return p;
}

static CtPat *variable(Derive *d, CtName name) {
    CtPat *p = pat(d, PAT_VAR, 0);
    p->name = name;
    return p;
}

static CtName fresh(Derive *d) { return name_of(d, ct_format(d->types->arena, "x%u", d->names++)); }

static CtExpr *lambda(Derive *d, CtPat *first, CtPat *second, CtExpr *body) {
    CtExpr *e = expr(d, EXPR_LAM, 1);
    e->pats = CT_NEW_ARRAY(d->types->arena, CtPat *, 2);
    e->pats[e->pat_count++] = first;
    if (second) e->pats[e->pat_count++] = second;
    e->parts[0] = body;
    return e;
}

static void set_rhs(Derive *d, CtRhs *rhs, CtExpr *body) {
    rhs->guarded = CT_NEW(d->types->arena, CtGuarded);
    *rhs->guarded = (CtGuarded){.body = body, .range = d->instance->range};
    rhs->guarded_count = 1;
}

/* case value of (x, y, …) -> body, with the variables of the pattern */
static CtExpr *open_tuple(Derive *d, CtExpr *value, const CtName *names, uint32_t count, CtExpr *body) {
    CtPat *tuple = pat(d, PAT_TUPLE, count);
    for (uint32_t i = 0; i < count; i++) tuple->parts[i] = variable(d, names[i]);
    CtExpr *e = expr(d, EXPR_CASE, 1);
    e->parts[0] = value;
    e->alts = CT_NEW_ARRAY(d->types->arena, CtAlt, 1);
    e->alt_count = 1;
    e->alts->pat = tuple;
    e->alts->range = d->instance->range;
    set_rhs(d, &e->alts->rhs, body);
    return e;
}

/* ---- fields ---- */

static CtExpr *refuse(Derive *d, CtTy *type, CtExpr *x) {
    if (!d->failed)
        ct_error(d->types->context, CT_E0315, d->instance->range,
                 "%s cannot be derived for `%s`: it has a field of type `%s`", classes[d->kind],
                 d->instance->tycon->name->text, ct_types_ty_text(d->types, type));
    d->failed = true;
    return x;
}

/* [τ] x, or [τ] x rest for a fold. */
static CtExpr *field(Derive *d, CtTy *type, CtExpr *x, CtExpr *rest);

static CtExpr *rebuilt(Derive *d, CtExpr *con, CtExpr **values, uint32_t count, CtExpr *rest) {
    if (d->kind == FOLDABLE) return rest;
    CtExpr *all = d->kind == TRAVERSABLE ? call(d, global(d, "pure"), con, NULL, NULL) : con;
    if (d->kind == TRAVERSABLE) {
        for (uint32_t i = 0; i < count; i++) all = call(d, global(d, "<*>"), all, values[i], NULL);
        return all;
    }
    CtExpr *whole = expr(d, EXPR_APP, count + 1);
    whole->parts[0] = con;
    for (uint32_t i = 0; i < count; i++) whole->parts[i + 1] = values[i];
    return count > 0 ? whole : con;
}

static CtExpr *tuple_field(Derive *d, CtTy **parts, uint32_t count, CtExpr *x, CtExpr *rest) {
    CtName *names = CT_NEW_ARRAY(d->types->arena, CtName, count);
    CtExpr **values = CT_NEW_ARRAY(d->types->arena, CtExpr *, count);
    for (uint32_t i = 0; i < count; i++) names[i] = fresh(d);
    for (uint32_t i = count; i > 0; i--) {
        values[i - 1] = field(d, parts[i - 1], local(d, names[i - 1]), rest);
        if (d->kind == FOLDABLE) rest = values[i - 1];
    }
    CtExpr *con = expr(d, EXPR_TUPLE_CON, 0);
    con->tuple_size = count;
    return open_tuple(d, x, names, count, rebuilt(d, con, values, count, rest));
}

static CtExpr *field(Derive *d, CtTy *type, CtExpr *x, CtExpr *rest) {
    type = ct_types_ty_resolve(type);
    if (!mentions(type, d->last))
        return d->kind == FOLDABLE ? rest : d->kind == FUNCTOR ? x : call(d, global(d, "pure"), x, NULL, NULL);
    CtExpr *f = local(d, name_of(d, "f"));
    if (type == d->last) return call(d, f, x, rest, NULL);
    CtTy *argument, *result, *parts[16];
    CtTyCon *head;
    uint32_t count = 0;
    if (ct_types_ty_is_fun(d->types, type, &argument, &result)) {
        if (d->kind != FUNCTOR || mentions(argument, d->last)) return refuse(d, type, x);
        CtName y = fresh(d);
        return lambda(d, variable(d, y), NULL, field(d, result, call(d, x, local(d, y), NULL, NULL), NULL));
    }
    bool tuple = ct_types_ty_head(type, &head, parts, 16, &count) && count > 1 && count <= 16 &&
                 head == ct_types_con_tuple(d->types, count);
    if (tuple) return tuple_field(d, parts, count, x, rest);
    if (type->kind != TY_APP || mentions(type->fun, d->last)) return refuse(d, type, x);
    CtName y = fresh(d), s = fresh(d);
    CtExpr *inner = field(d, type->arg, local(d, y), d->kind == FOLDABLE ? local(d, s) : NULL);
    CtExpr *function = lambda(d, variable(d, y), d->kind == FOLDABLE ? variable(d, s) : NULL, inner);
    return d->kind == FOLDABLE ? call(d, global(d, methods[d->kind]), function, rest, x)
                               : call(d, global(d, methods[d->kind]), function, x, NULL);
}

/* ---- the instance ---- */

static void write_clause(Derive *d, CtClause *clause, CtDataCon *con) {
    CtPat *whole = pat(d, PAT_CON, con->arity);
    whole->name = (CtName){NULL, con->name, d->instance->range};
    whole->con = con;
    CtExpr **values = CT_NEW_ARRAY(d->types->arena, CtExpr *, con->arity + 1);
    CtExpr *rest = d->kind == FOLDABLE ? local(d, name_of(d, "z")) : NULL;
    for (uint32_t i = con->arity; i > 0; i--) {
        CtName x = fresh(d);
        whole->parts[i - 1] = variable(d, x);
        values[i - 1] = field(d, con->fields[i - 1], local(d, x), rest);
        if (d->kind == FOLDABLE) rest = values[i - 1];
    }
    CtExpr *made = expr(d, EXPR_CON, 0);
    made->name = whole->name;
    made->con = con;
    clause->pats = CT_NEW_ARRAY(d->types->arena, CtPat *, 3);
    clause->pats[clause->pat_count++] = variable(d, name_of(d, "f"));
    if (d->kind == FOLDABLE) clause->pats[clause->pat_count++] = variable(d, name_of(d, "z"));
    clause->pats[clause->pat_count++] = whole;
    clause->range = d->instance->range;
    set_rhs(d, &clause->rhs, rebuilt(d, made, values, con->arity, rest));
}

bool ct_types_derive_functor(CtTypes *types, CtInstance *instance) {
    Derive derive = {.types = types, .instance = instance}, *d = &derive;
    CtTyCon *con = instance->tycon;
    if (!kind_of(instance->class_->name->text, &d->kind)) return false;
    d->last = con->params[con->arity - 1];
    CtBinding *binding = CT_NEW(types->arena, CtBinding);
    binding->made = true;
    binding->name = name_of(d, methods[d->kind]);
    binding->range = instance->range;
    binding->clauses = CT_NEW_ARRAY(types->arena, CtClause, con->con_count + 1);
    for (uint32_t i = 0; i < con->con_count; i++)
        write_clause(d, &binding->clauses[binding->clause_count++], con->cons[i]);
    for (uint32_t i = 0; !d->failed && i < instance->class_->method_count; i++)
        if (instance->class_->methods[i]->name == binding->name.text) instance->methods[i] = binding;
    return true;
}
