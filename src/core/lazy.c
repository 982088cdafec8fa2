/* Lazy evaluation. A program becomes one that evaluates by need and means the same in strict Core: whatever Haskell
 * evaluates later (arguments, fields, elements, values of `let`) is kept in a cell,
 *
 *   data Cell τ = Known τ | Delayed (() → τ)
 *
 * DELAY makes one, FORCE gives what is in it, and the machine puts a value in the place of the function that made it.
 * A type τ becomes τ', in which fields, components, elements and parameters are cells:
 *
 *   σ → τ  becomes  Cell σ' → τ'
 *
 * A term e of type τ is translated as a value, of type τ', where its value is needed, and as a cell everywhere else.
 * What is a value already (a literal, a λ, a construction) is not delayed, nor is an argument that the function surely
 * needs (lazy_demand.c): it is evaluated in front of the call, as a parameter without a cell. Newtypes have no cells
 * inside, and neither has the state of actions: actions run in their order.
 *
 * Values that are made of themselves are tied by KNOT: of the cells of the whole group, it makes what is in them. */
#include "core/lazy.h"

#include "core/build.h"

typedef CtLazyVar Var;
typedef CtLazyFun Fun;

static void refuse(CtLazy *l, CtSourceRange range, const char *why) {
    if (l->refused != NULL) return;
    l->refused = why;
    l->refused_at = range;
}

/* ---- types ---- */

/* The state of actions, and what references refer to, in it: no cells hold them. */
static bool is_stored(const CtType *type) {
    return type->kind == TYPE_DATA && strcmp(type->data->name->text, "Store'value") == 0;
}

static bool is_store(const CtType *type) { return type->kind == TYPE_ARRAY && is_stored(type->parts[0]); }

static bool is_world(const CtType *type) {
    return type->kind == TYPE_TUPLE && type->count == 3 && is_store(type->parts[2]);
}

bool ct_core_lazy_has_no_cell(const CtType *type) { return is_stored(type) || is_store(type) || is_world(type); }

/* Known, then Delayed. */
static CtType *cell_of_value(CtLazy *l, CtType *type) {
    CtType *known = ct_map_get(&l->cells, ct_key(type));
    if (known != NULL) return known;
    CtProgram *p = l->p;
    CtSym name = ct_intern_text(&p->context->symbols, "Cell");
    CtType *made = ct_core_type_data(p, name, &type, 1, false);
    ct_map_set(l->arena, &l->cells, ct_key(type), made);
    CtType *function = ct_core_type_fun(p, NULL, 0, type);
    CtCon cons[2] = {{.name = ct_intern_text(&p->context->symbols, "Known"), .count = 1, .fields = &type},
                     {.name = ct_intern_text(&p->context->symbols, "Delayed"), .count = 1, .fields = &function}};
    ct_core_data_set_cons(p, made->data, cons, 2);
    return made;
}

/* Of what is stored or passed. */
CtType *ct_core_lazy_cell_type(CtLazy *l, CtType *type) {
    CtType *inside = ct_core_lazy_value_type(l, type);
    return ct_core_lazy_has_no_cell(type) ? inside : cell_of_value(l, inside);
}

bool ct_core_lazy_field_is_strict(const CtCon *con, uint32_t index) {
    if (is_stored(con->data->type)) return con->fields[index]->kind == TYPE_ARRAY; /* it is updated in place */
    if (index < 64 && (con->strict >> index & 1) != 0) return true;
    return con->data->is_newtype || ct_core_type_is_integer(con->data->type) ||
           ct_core_lazy_has_no_cell(con->fields[index]);
}

static CtType *field_type(CtLazy *l, const CtCon *con, uint32_t index) {
    bool strict = ct_core_lazy_field_is_strict(con, index);
    return strict ? ct_core_lazy_value_type(l, con->fields[index]) : ct_core_lazy_cell_type(l, con->fields[index]);
}

static CtType *component_type(CtLazy *l, CtType *tuple, uint32_t index) {
    return is_world(tuple) ? ct_core_lazy_value_type(l, tuple->parts[index])
                           : ct_core_lazy_cell_type(l, tuple->parts[index]);
}

static CtType *data_type(CtLazy *l, CtType *type) {
    CtData *data = type->data;
    if (data->is_enum) return type;
    CtProgram *p = l->p;
    CtType *made = ct_core_type_data(p, data->name, data->args, data->arg_count, data->is_newtype);
    made->data->is_library = data->is_library;
    ct_map_set(l->arena, &l->types, ct_key(type), made); /* it may contain itself */
    CtCon *cons = CT_NEW_ARRAY(l->arena, CtCon, data->con_count);
    for (uint32_t i = 0; i < data->con_count; i++) {
        cons[i] = data->cons[i];
        cons[i].forms = NULL;
        cons[i].fields = CT_NEW_ARRAY(l->arena, CtType *, cons[i].count);
        for (uint32_t j = 0; j < cons[i].count; j++) cons[i].fields[j] = field_type(l, &data->cons[i], j);
    }
    ct_core_data_set_cons(p, made->data, cons, data->con_count);
    return made;
}

static CtType *make_type(CtLazy *l, CtType *type) {
    CtProgram *p = l->p;
    CtType **parts = CT_NEW_ARRAY(l->arena, CtType *, type->count + 1);
    switch (type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT:
    case TYPE_INT:
    case TYPE_CHAR: return type;
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < type->count; i++) parts[i] = component_type(l, type, i);
        return ct_core_type_tuple(p, parts, type->count);
    case TYPE_ARRAY: return ct_core_type_array(p, ct_core_lazy_cell_type(l, type->parts[0]));
    case TYPE_FUN:
        for (uint32_t i = 0; i + 1 < type->count; i++) parts[i] = ct_core_lazy_cell_type(l, type->parts[i]);
        return ct_core_type_fun(p, parts, type->count - 1, ct_core_lazy_value_type(l, type->parts[type->count - 1]));
    case TYPE_DATA: return data_type(l, type);
    }
    return type;
}

CtType *ct_core_lazy_value_type(CtLazy *l, CtType *type) {
    CtType *known = ct_map_get(&l->types, ct_key(type));
    if (known != NULL) return known;
    CtType *made = make_type(l, type);
    ct_map_set(l->arena, &l->types, ct_key(type), made);
    return made;
}

static CtCon *con_of(CtLazy *l, const CtCon *con) {
    return &ct_core_lazy_value_type(l, con->data->type)->data->cons[con->tag];
}

/* ---- cells ---- */

CtCore *ct_core_lazy_known(CtLazy *l, CtSourceRange range, CtCore *of) {
    return ct_core_con(l->p, range, &cell_of_value(l, of->type)->data->cons[0], &of, 1);
}

CtCore *ct_core_lazy_delayed(CtLazy *l, CtSourceRange range, CtCore *body) {
    CtCore *function = ct_core_lam(l->p, range, l->name, NULL, 0, body);
    return ct_core_lazy(l->p, range, DERIV_DELAY, cell_of_value(l, body->type), function);
}

CtCore *ct_core_lazy_force(CtLazy *l, CtCore *of) {
    return ct_core_lazy(l->p, of->range, DERIV_FORCE, of->type->data->cons[0].fields[0], of);
}

/* ---- variables ---- */

/* A new variable in place of one; `in_cell`: it holds a cell. */
CtVar *ct_core_lazy_bind(CtLazy *l, CtVar *old, bool in_cell) {
    if (old == NULL) return NULL;
    in_cell = in_cell && !ct_core_lazy_has_no_cell(old->type);
    Var *var = CT_NEW(l->arena, Var);
    CtType *type = in_cell ? ct_core_lazy_cell_type(l, old->type) : ct_core_lazy_value_type(l, old->type);
    *var = (Var){.var = ct_core_var_like(l->p, old, type), .in_cell = in_cell};
    ct_map_set(l->arena, &l->vars, ct_key(old), var);
    return var->var;
}

static CtCore *use(CtLazy *l, CtSourceRange range, CtVar *var) { return ct_core_var(l->p, range, var); }

/* ---- functions that are called by name ---- */

static CtVar **bind_params(CtLazy *l, const CtLam *lam, const Fun *fun) {
    CtVar **params = CT_NEW_ARRAY(l->arena, CtVar *, lam->count);
    for (uint32_t i = 0; i < lam->count; i++)
        params[i] = ct_core_lazy_bind(l, lam->params[i], fun == NULL || !fun->strict[i]);
    return params;
}

static CtCore *lambda(CtLazy *l, CtCore *core, const Fun *fun) {
    const CtLam *lam = core->as.lam;
    const char *before = l->name;
    if (lam->name != NULL) l->name = lam->name;
    CtVar **params = bind_params(l, lam, fun);
    CtCore *made = ct_core_lam(l->p, core->range, lam->name, params, lam->count, ct_core_lazy_value(l, lam->body));
    l->name = before;
    return made;
}

static CtType *fun_type(CtLazy *l, CtType *type, const Fun *fun) {
    uint32_t count = type->count - 1;
    CtType **parts = CT_NEW_ARRAY(l->arena, CtType *, count);
    for (uint32_t i = 0; i < count; i++)
        parts[i] =
            fun->strict[i] ? ct_core_lazy_value_type(l, type->parts[i]) : ct_core_lazy_cell_type(l, type->parts[i]);
    return ct_core_type_fun(l->p, parts, count, ct_core_lazy_value_type(l, type->parts[count]));
}

static CtCore *call_of(CtLazy *l, CtCore *e, const Fun *fun, CtCore *callee) {
    uint32_t count = e->as.call.count;
    CtCore **args = CT_NEW_ARRAY(l->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++)
        args[i] = fun->strict[i] ? ct_core_lazy_value(l, e->as.call.args[i]) : ct_core_lazy_cell(l, e->as.call.args[i]);
    return ct_core_app(l->p, e->range, callee, args, count);
}

/* A function called by name, as a value: all its parameters are cells. */
static CtCore *as_value(CtLazy *l, CtSourceRange range, CtType *type, const Fun *fun, CtCore *callee) {
    uint32_t count = type->count - 1;
    bool plain = true;
    for (uint32_t i = 0; i < count; i++) plain = plain && (!fun->strict[i] || ct_core_lazy_has_no_cell(type->parts[i]));
    if (plain) return callee;
    CtVar **params = CT_NEW_ARRAY(l->arena, CtVar *, count);
    CtCore **args = CT_NEW_ARRAY(l->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) {
        params[i] = ct_core_var_new(l->p, "x", ct_core_lazy_cell_type(l, type->parts[i]));
        args[i] = use(l, range, params[i]);
        if (fun->strict[i] && !ct_core_lazy_has_no_cell(type->parts[i])) args[i] = ct_core_lazy_force(l, args[i]);
    }
    return ct_core_lam(l->p, range, NULL, params, count, ct_core_app(l->p, range, callee, args, count));
}

static CtGlobal *global_of(CtLazy *l, CtGlobal *old) {
    CtGlobal *made = ct_map_get(&l->globals, ct_key(old));
    if (made != NULL) return made;
    const Fun *fun = ct_map_get(&l->funs, ct_key(old));
    CtType *type = fun != NULL ? fun_type(l, old->type, fun) : ct_core_lazy_value_type(l, old->type);
    made = ct_core_global_new(l->p, old->name->text, type, old->range);
    made->name = old->name;
    made->is_library = old->is_library;
    made->is_kept = old->is_kept;
    ct_map_set(l->arena, &l->globals, ct_key(old), made);
    ct_push(l->arena, &l->todo, old);
    return made;
}

static CtCore *global_use(CtLazy *l, CtCore *e) {
    CtGlobal *old = e->as.global;
    CtCore *made = ct_core_global(l->p, e->range, global_of(l, old));
    const Fun *fun = ct_map_get(&l->funs, ct_key(old));
    return fun != NULL ? as_value(l, e->range, old->type, fun, made) : made;
}

static CtCore *var_use(CtLazy *l, CtCore *e) {
    const Var *var = ct_map_get(&l->vars, ct_key(e->as.var));
    CtCore *made = use(l, e->range, var->var);
    if (var->in_cell) return ct_core_lazy_force(l, made);
    return var->fun != NULL ? as_value(l, e->range, e->type, var->fun, made) : made;
}

static CtCore *apply(CtLazy *l, CtCore *e) {
    CtCore *fun = e->as.call.of.fun;
    uint32_t count = e->as.call.count;
    if (fun->kind == CORE_GLOBAL) {
        const Fun *known_fun = ct_map_get(&l->funs, ct_key(fun->as.global));
        if (known_fun != NULL)
            return call_of(l, e, known_fun, ct_core_global(l->p, fun->range, global_of(l, fun->as.global)));
    }
    if (fun->kind == CORE_VAR) {
        const Var *var = ct_map_get(&l->vars, ct_key(fun->as.var));
        if (var->fun != NULL) return call_of(l, e, var->fun, use(l, fun->range, var->var));
        if (count == 0 && var->in_cell) return ct_core_lazy_force(l, use(l, fun->range, var->var));
    }
    CtCore **args = CT_NEW_ARRAY(l->arena, CtCore *, count), *callee = ct_core_lazy_value(l, fun);
    for (uint32_t i = 0; i < count; i++) args[i] = ct_core_lazy_cell(l, e->as.call.args[i]);
    return ct_core_app(l->p, e->range, callee, args, count);
}

/* ---- conversions, at what is called from outside and at texts ---- */

/* A part of a construction: out of its cell, and into one. */
static CtCore *convert_part(CtLazy *l, CtSourceRange range, CtType *type, CtVar *var, bool strict, bool to_strict) {
    CtCore *part = use(l, range, var);
    bool in_cell = !strict && !ct_core_lazy_has_no_cell(type);
    if (to_strict && in_cell) part = ct_core_lazy_force(l, part);
    part = ct_core_lazy_convert(l, range, type, part, to_strict);
    return !to_strict && in_cell ? ct_core_lazy_known(l, range, part) : part;
}

static CtCore *convert_data(CtLazy *l, CtSourceRange range, CtType *type, CtCore *of, bool to_strict) {
    const CtType *lazy = ct_core_lazy_value_type(l, type);
    const CtData *from = to_strict ? lazy->data : type->data, *to = to_strict ? type->data : lazy->data;
    CtCase *cases = CT_NEW_ARRAY(l->arena, CtCase, from->con_count);
    for (uint32_t i = 0; i < from->con_count; i++) {
        CtCon *con = &from->cons[i];
        CtVar **vars = CT_NEW_ARRAY(l->arena, CtVar *, con->count);
        CtCore **args = CT_NEW_ARRAY(l->arena, CtCore *, con->count);
        for (uint32_t j = 0; j < con->count; j++) {
            vars[j] = ct_core_var_new(l->p, "x", con->fields[j]);
            args[j] = convert_part(l, range, type->data->cons[i].fields[j], vars[j],
                                   ct_core_lazy_field_is_strict(&type->data->cons[i], j), to_strict);
        }
        cases[i] = (CtCase){con, vars, ct_core_con(l->p, range, &to->cons[i], args, con->count)};
    }
    return ct_core_case(l->p, range, to->type, of, cases, from->con_count, NULL);
}

static CtCore *convert_tuple(CtLazy *l, CtSourceRange range, CtType *type, CtCore *of, bool to_strict) {
    uint32_t count = type->count;
    CtVar **vars = CT_NEW_ARRAY(l->arena, CtVar *, count);
    CtCore **parts = CT_NEW_ARRAY(l->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) {
        vars[i] = ct_core_var_new(l->p, "x", of->type->parts[i]);
        parts[i] = convert_part(l, range, type->parts[i], vars[i], is_world(type), to_strict);
    }
    return ct_core_unpack(l->p, range, vars, count, of, ct_core_tuple(l->p, range, parts, count));
}

static CtCore *convert_array(CtLazy *l, CtSourceRange range, CtType *type, CtCore *of, bool to_strict) {
    CtVar *x = ct_core_var_new(l->p, "x", of->type->parts[0]);
    CtCore *body = convert_part(l, range, type->parts[0], x, false, to_strict);
    CtCore *args[2] = {ct_core_lam(l->p, range, NULL, &x, 1, body), of};
    return ct_core_array(l->p, range, ARRAY_MAP, args, 2);
}

/* The function that converts values of a data type, which may be recursive. */
static CtGlobal *converter(CtLazy *l, CtSourceRange range, CtType *type, bool to_strict) {
    CtMap *made = to_strict ? &l->to_strict : &l->to_lazy;
    CtGlobal *global = ct_map_get(made, ct_key(type));
    if (global != NULL) return global;
    CtType *lazy = ct_core_lazy_value_type(l, type), *from = to_strict ? lazy : type, *to = to_strict ? type : lazy;
    global = ct_core_global_new(l->p, to_strict ? "evaluated" : "delayed", ct_core_type_fun(l->p, &from, 1, to), range);
    global->is_library = true;
    ct_map_set(l->arena, made, ct_key(type), global);
    CtVar *x = ct_core_var_new(l->p, "x", from);
    CtCore *body = convert_data(l, range, type, use(l, range, x), to_strict);
    global->body = ct_core_lam(l->p, range, NULL, &x, 1, body);
    return global;
}

CtCore *ct_core_lazy_convert(CtLazy *l, CtSourceRange range, CtType *type, CtCore *of, bool to_strict) {
    if (ct_core_lazy_value_type(l, type) == type) return of;
    if (type->kind == TYPE_FUN) {
        refuse(l, range, "functions go in or out");
        return of;
    }
    if (type->kind == TYPE_TUPLE) return convert_tuple(l, range, type, of, to_strict);
    if (type->kind == TYPE_ARRAY) return convert_array(l, range, type, of, to_strict);
    CtCore *global = ct_core_global(l->p, range, converter(l, range, type, to_strict));
    return ct_core_app(l->p, range, global, &of, 1);
}

/* ---- terms ---- */

/* Whether the value of a term is there as soon as it is written. */
static bool is_made(const CtLazy *l, const CtCore *e) {
    switch (e->kind) {
    case CORE_LIT:
    case CORE_LAM:
    case CORE_ARRAY_LIT: return true;
    case CORE_STRING: return e->as.string.length == 0;
    case CORE_GLOBAL: return ct_map_has(&l->funs, ct_key(e->as.global));
    case CORE_VAR: {
        const Var *var = ct_map_get(&l->vars, ct_key(e->as.var));
        return !var->in_cell;
    }
    case CORE_TUPLE:
        for (uint32_t i = 0; is_world(e->type) && i < e->as.call.count; i++)
            if (!is_made(l, e->as.call.args[i])) return false;
        return true;
    case CORE_CON:
        for (uint32_t i = 0; i < e->as.call.count; i++)
            if (ct_core_lazy_field_is_strict(e->as.call.of.con, i) && !is_made(l, e->as.call.args[i])) return false;
        return true;
    case CORE_APP:
    case CORE_LET:
    case CORE_LETREC:
    case CORE_PROJ:
    case CORE_UNPACK:
    case CORE_CASE:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_DERIV:
    case CORE_DUAL:
    case CORE_FAIL: return false;
    }
    return false;
}

/* What a reference refers to: a cell that is there, also in a state that changes afterwards. */
static bool is_looked_up(const CtCore *e) {
    if (e->kind == CORE_ARRAY && e->as.call.of.array == ARRAY_INDEX) return is_looked_up(e->as.call.args[0]);
    return e->kind == CORE_CASE && is_stored(e->as.cases.scrutinee->type) && e->as.cases.count == 1 &&
           e->as.cases.cases[0].body->kind == CORE_VAR;
}

static CtCore *looked_up(CtLazy *l, CtCore *e) {
    if (e->kind == CORE_ARRAY) {
        CtCore *array = ct_core_lazy_value(l, e->as.call.args[0]);
        CtCore *args[2] = {array, ct_core_lazy_value(l, e->as.call.args[1])};
        return ct_core_array(l->p, e->range, ARRAY_INDEX, args, 2);
    }
    const CtCase *old = &e->as.cases.cases[0];
    CtCore *stored = ct_core_lazy_value(l, e->as.cases.scrutinee), *other = e->as.cases.otherwise;
    CtVar *var = ct_core_lazy_bind(l, old->vars[0], !ct_core_lazy_field_is_strict(old->con, 0));
    CtCase one = {con_of(l, old->con), &var, ct_core_lazy_cell(l, old->body)};
    CtType *type = one.body->type;
    if (other != NULL) other = ct_core_fail(l->p, e->range, type, other->as.fail.code, other->as.fail.text, NULL);
    return ct_core_case(l->p, e->range, type, stored, &one, 1, other);
}

CtCore *ct_core_lazy_cell(CtLazy *l, CtCore *e) {
    if (ct_core_lazy_has_no_cell(e->type)) return ct_core_lazy_value(l, e);
    if (is_looked_up(e)) return looked_up(l, e);
    bool unused = e->kind == CORE_APP && e->as.call.count == 0 && e->as.call.of.fun->kind == CORE_VAR;
    if (e->kind == CORE_VAR || unused) { /* a variable, or the use of one of a knot */
        const CtVar *old = unused ? e->as.call.of.fun->as.var : e->as.var;
        const Var *var = ct_map_get(&l->vars, ct_key(old));
        if (var->in_cell) return use(l, e->range, var->var);
    }
    return is_made(l, e) ? ct_core_lazy_known(l, e->range, ct_core_lazy_value(l, e))
                         : ct_core_lazy_delayed(l, e->range, ct_core_lazy_value(l, e));
}

static bool is_join(const CtCore *let) {
    return let->as.let.rhs->kind == CORE_LAM && let->as.let.rhs->as.lam->count == 0;
}

static CtCore *let_value(CtLazy *l, CtCore *e) {
    CtVar *old = e->as.let.vars[0];
    CtCore *rhs = e->as.let.rhs;
    if (is_join(e)) {
        CtCore *body = ct_core_lazy_value(l, rhs->as.lam->body);
        CtCore *join = ct_core_lam(l->p, rhs->range, rhs->as.lam->name, NULL, 0, body);
        CtVar *var = ct_core_lazy_bind(l, old, false);
        return ct_core_let(l->p, e->range, var, join, ct_core_lazy_value(l, e->as.let.body));
    }
    bool now = old->is_strict || ct_core_lazy_has_no_cell(old->type) || is_made(l, rhs) ||
               ct_core_lazy_demands(l, e->as.let.body, old);
    CtCore *made = now ? ct_core_lazy_value(l, rhs) : ct_core_lazy_cell(l, rhs);
    CtVar *var = ct_core_lazy_bind(l, old, !now);
    return ct_core_let(l->p, e->range, var, made, ct_core_lazy_value(l, e->as.let.body));
}

/* A group with values in it: all of it is in cells. */
static CtCore *knot(CtLazy *l, CtCore *e) {
    uint32_t count = e->as.letrec.count, all = count < 2 ? 2 : count; /* there are no tuples of one component */
    CtProgram *p = l->p;
    CtBind *binds = e->as.letrec.binds;
    CtType **cells = CT_NEW_ARRAY(l->arena, CtType *, all);
    CtVar **inside = CT_NEW_ARRAY(l->arena, CtVar *, all), **outside = CT_NEW_ARRAY(l->arena, CtVar *, all);
    CtCore **makers = CT_NEW_ARRAY(l->arena, CtCore *, all);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < all; i++) {
            CtType *type = i < count ? binds[i].var->type : p->int_type;
            if (i < count && binds[i].lam->as.lam->count == 0) type = type->parts[0];
            cells[i] = cell_of_value(l, ct_core_lazy_value_type(l, type));
            CtVar *var = ct_core_var_new(p, i < count ? binds[i].var->name->text : "none", cells[i]);
            (round == 0 ? inside : outside)[i] = var;
            if (i == count) continue;
            Var *kept = CT_NEW(l->arena, Var);
            *kept = (Var){.var = var, .in_cell = true};
            ct_map_set(l->arena, &l->vars, ct_key(binds[i].var), kept);
        }
        for (uint32_t i = 0; i < all && round == 0; i++) {
            CtCore *lam = i < count ? binds[i].lam : NULL;
            CtCore *made = i == count                ? ct_core_int(p, e->range, 0)
                           : lam->as.lam->count == 0 ? ct_core_lazy_value(l, lam->as.lam->body)
                                                     : lambda(l, lam, NULL);
            makers[i] = ct_core_lam(p, e->range, i < count ? binds[i].var->name->text : NULL, NULL, 0, made);
        }
    }
    CtVar *whole = ct_core_var_new(p, "knot", ct_core_type_tuple(p, cells, all));
    CtCore *made =
        ct_core_unpack(p, e->range, inside, all, use(l, e->range, whole), ct_core_tuple(p, e->range, makers, all));
    CtCore *maker = ct_core_lam(p, e->range, NULL, &whole, 1, made);
    CtCore *tied = ct_core_lazy(p, e->range, DERIV_KNOT, whole->type, maker);
    return ct_core_unpack(p, e->range, outside, all, tied, ct_core_lazy_value(l, e->as.letrec.body));
}

static CtCore *letrec_value(CtLazy *l, CtCore *e) {
    uint32_t count = e->as.letrec.count;
    for (uint32_t i = 0; i < count; i++)
        if (e->as.letrec.binds[i].lam->as.lam->count == 0) return knot(l, e);
    CtBind *binds = CT_NEW_ARRAY(l->arena, CtBind, count);
    for (uint32_t i = 0; i < count; i++) {
        CtVar *old = e->as.letrec.binds[i].var;
        Var *var = CT_NEW(l->arena, Var);
        const Fun *fun = ct_map_get(&l->funs, ct_key(old));
        *var = (Var){.fun = fun, .var = ct_core_var_like(l->p, old, fun_type(l, old->type, fun))};
        ct_map_set(l->arena, &l->vars, ct_key(old), var);
        binds[i].var = var->var;
    }
    for (uint32_t i = 0; i < count; i++) {
        const Var *var = ct_map_get(&l->vars, ct_key(e->as.letrec.binds[i].var));
        binds[i].lam = lambda(l, e->as.letrec.binds[i].lam, var->fun);
    }
    return ct_core_letrec(l->p, e->range, binds, count, ct_core_lazy_value(l, e->as.letrec.body));
}

static CtCore *case_value(CtLazy *l, CtCore *e) {
    CtCase *cases = CT_NEW_ARRAY(l->arena, CtCase, e->as.cases.count);
    CtCore *scrutinee = ct_core_lazy_value(l, e->as.cases.scrutinee);
    for (uint32_t i = 0; i < e->as.cases.count; i++) {
        const CtCase *old = &e->as.cases.cases[i];
        CtVar **vars = CT_NEW_ARRAY(l->arena, CtVar *, old->con->count);
        for (uint32_t j = 0; j < old->con->count; j++)
            vars[j] = ct_core_lazy_bind(l, old->vars[j], !ct_core_lazy_field_is_strict(old->con, j));
        cases[i] = (CtCase){con_of(l, old->con), vars, ct_core_lazy_value(l, old->body)};
    }
    CtCore *otherwise = e->as.cases.otherwise != NULL ? ct_core_lazy_value(l, e->as.cases.otherwise) : NULL;
    return ct_core_case(l->p, e->range, ct_core_lazy_value_type(l, e->type), scrutinee, cases, e->as.cases.count,
                        otherwise);
}

static CtCore *unpack_value(CtLazy *l, CtCore *e) {
    CtCore *rhs = ct_core_lazy_value(l, e->as.let.rhs);
    bool in_cells = !is_world(e->as.let.rhs->type);
    CtVar **vars = CT_NEW_ARRAY(l->arena, CtVar *, e->as.let.count);
    for (uint32_t i = 0; i < e->as.let.count; i++) vars[i] = ct_core_lazy_bind(l, e->as.let.vars[i], in_cells);
    return ct_core_unpack(l->p, e->range, vars, e->as.let.count, rhs, ct_core_lazy_value(l, e->as.let.body));
}

/* The arguments, each as a cell or as a value. */
static CtCore **parts_of(CtLazy *l, const CtCore *e, const CtCon *con) {
    CtCore **parts = CT_NEW_ARRAY(l->arena, CtCore *, e->as.call.count);
    for (uint32_t i = 0; i < e->as.call.count; i++) {
        bool strict = con != NULL ? ct_core_lazy_field_is_strict(con, i) : e->kind == CORE_TUPLE && is_world(e->type);
        parts[i] = strict ? ct_core_lazy_value(l, e->as.call.args[i]) : ct_core_lazy_cell(l, e->as.call.args[i]);
    }
    return parts;
}

CtCore **ct_core_lazy_strict_args(CtLazy *l, CtCore *e) {
    CtCore **args = CT_NEW_ARRAY(l->arena, CtCore *, e->as.call.count);
    for (uint32_t i = 0; i < e->as.call.count; i++) {
        CtCore *old = e->as.call.args[i];
        args[i] = ct_core_lazy_convert(l, old->range, old->type, ct_core_lazy_value(l, old), true);
    }
    return args;
}

static CtCore *primitive(CtLazy *l, CtCore *e) {
    CtCore **args = ct_core_lazy_strict_args(l, e);
    CtCore *made = ct_core_prim(l->p, e->range, e->as.call.of.prim, args, e->as.call.count);
    return ct_core_lazy_convert(l, e->range, e->type, made, false);
}

static CtCore *operator(CtLazy *l, CtCore *e) {
    if (e->as.call.of.deriv == DERIV_ATTEMPT) {
        CtCore *function = ct_core_lazy_value(l, e->as.call.args[0]),
               *argument = ct_core_lazy_cell(l, e->as.call.args[1]);
        CtCore *args[3] = {function, argument, ct_core_lazy_value(l, e->as.call.args[2])};
        return ct_core_deriv(l->p, e->range, DERIV_ATTEMPT, args, 3);
    }
    refuse(l, e->range, "derivatives");
    return ct_core_fail(l->p, e->range, ct_core_lazy_value_type(l, e->type), CT_E0901, "not translated", NULL);
}

CtCore *ct_core_lazy_value(CtLazy *l, CtCore *e) {
    CtProgram *p = l->p;
    switch (e->kind) {
    case CORE_VAR: return var_use(l, e);
    case CORE_GLOBAL: return global_use(l, e);
    case CORE_LIT: return e;
    case CORE_STRING: return ct_core_lazy_convert(l, e->range, e->type, e, false);
    case CORE_LAM: return lambda(l, e, NULL);
    case CORE_APP: return apply(l, e);
    case CORE_LET: return let_value(l, e);
    case CORE_LETREC: return letrec_value(l, e);
    case CORE_UNPACK: return unpack_value(l, e);
    case CORE_CASE: return case_value(l, e);
    case CORE_TUPLE: return ct_core_tuple(p, e->range, parts_of(l, e, NULL), e->as.call.count);
    case CORE_CON: {
        CtCon *con = e->as.call.of.con;
        return ct_core_con(p, e->range, con_of(l, con), parts_of(l, e, con), e->as.call.count);
    }
    case CORE_PROJ: {
        CtCore *part = ct_core_proj(p, e->range, ct_core_lazy_value(l, e->as.proj.tuple), e->as.proj.index);
        bool strict = is_world(e->as.proj.tuple->type) || ct_core_lazy_has_no_cell(e->type);
        return strict ? part : ct_core_lazy_force(l, part);
    }
    case CORE_PRIM: return primitive(l, e);
    case CORE_ARRAY: return ct_core_lazy_array(l, e);
    case CORE_ARRAY_LIT: {
        CtType *element = ct_core_lazy_cell_type(l, e->type->parts[0]);
        return ct_core_array_lit(p, e->range, element, parts_of(l, e, NULL), e->as.call.count);
    }
    case CORE_DERIV: return operator(l, e);
    case CORE_DUAL: refuse(l, e->range, "derivatives"); return e;
    case CORE_FAIL: {
        CtCore *message = e->as.fail.message;
        if (message != NULL)
            message = ct_core_lazy_convert(l, e->range, message->type, ct_core_lazy_value(l, message), true);
        return ct_core_fail(p, e->range, ct_core_lazy_value_type(l, e->type), e->as.fail.code, e->as.fail.text,
                            message);
    }
    }
    return e;
}

/* ---- programs ---- */

/* What is called from outside keeps its type. */
static CtCore *root_body(CtLazy *l, const CtGlobal *root) {
    CtSourceRange range = root->range;
    if (root->body->kind != CORE_LAM)
        return ct_core_lazy_convert(l, range, root->type, ct_core_lazy_value(l, root->body), true);
    const CtLam *lam = root->body->as.lam;
    CtVar **params = CT_NEW_ARRAY(l->arena, CtVar *, lam->count), **lazy = CT_NEW_ARRAY(l->arena, CtVar *, lam->count);
    for (uint32_t i = 0; i < lam->count; i++) {
        params[i] = ct_core_var_like(l->p, lam->params[i], lam->params[i]->type);
        lazy[i] = ct_core_lazy_bind(l, lam->params[i], false);
    }
    CtCore *body = ct_core_lazy_convert(l, range, lam->body->type, ct_core_lazy_value(l, lam->body), true);
    for (uint32_t i = lam->count; i-- > 0;) {
        CtCore *given = ct_core_lazy_convert(l, range, params[i]->type, use(l, range, params[i]), false);
        body = ct_core_let(l->p, range, lazy[i], given, body);
    }
    return ct_core_lam(l->p, range, lam->name, params, lam->count, body);
}

const char *ct_core_lazify(CtProgram *p, CtGlobal *const *roots, uint32_t count, CtSourceRange *place) {
    CtLazy l = {.p = p, .arena = p->context->arena};
    ct_core_lazy_find_demands(&l);
    CtCore **bodies = CT_NEW_ARRAY(l.arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) bodies[i] = root_body(&l, roots[i]);
    while (l.todo.count > 0 && l.refused == NULL) {
        const CtGlobal *old = l.todo.items[--l.todo.count];
        CtGlobal *made = ct_map_get(&l.globals, ct_key(old));
        const Fun *fun = ct_map_get(&l.funs, ct_key(old));
        l.name = old->name->text;
        made->body = fun != NULL ? lambda(&l, old->body, fun) : ct_core_lazy_value(&l, old->body);
    }
    *place = l.refused_at;
    if (l.refused != NULL) return l.refused;
    for (uint32_t i = 0; i < count; i++) roots[i]->body = bodies[i];
    p->is_lazy = true;
    ct_core_reachable(p, roots, count);
    return NULL;
}
