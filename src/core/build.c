/* Constructors of Core. Each computes the type of its node, and trusts its arguments (lint checks them). */
#include "core/internal.h"

static CtCore *node(CtProgram *p, CtCoreKind kind, CtType *type, CtSourceRange range) {
    CtCore *core = CT_NEW(p->context->arena, CtCore);
    core->kind = kind;
    core->type = type;
    core->range = range;
    return core;
}

static CtCore *call(CtProgram *p, CtCoreKind kind, CtType *type, CtSourceRange range, CtCore *const *args,
                    uint32_t count) {
    CtCore *core = node(p, kind, type, range);
    core->as.call.count = count;
    if (count > 0) {
        core->as.call.args = CT_NEW_ARRAY(p->context->arena, CtCore *, count);
        memcpy(core->as.call.args, args, count * sizeof *args);
    }
    return core;
}

/* The types of some terms, in the arena. */
static CtType **types_of(CtProgram *p, CtCore *const *args, uint32_t count) {
    CtType **types = CT_NEW_ARRAY(p->context->arena, CtType *, count);
    for (uint32_t i = 0; i < count; i++) types[i] = args[i]->type;
    return types;
}

/* ---- leaves ---- */

CtCore *ct_core_var(CtProgram *p, CtSourceRange range, CtVar *var) {
    CtCore *core = node(p, CORE_VAR, var->type, range);
    core->as.var = var;
    return core;
}

CtCore *ct_core_global(CtProgram *p, CtSourceRange range, CtGlobal *global) {
    CtCore *core = node(p, CORE_GLOBAL, global->type, range);
    core->as.global = global;
    return core;
}

CtCore *ct_core_real(CtProgram *p, CtSourceRange range, CtType *type, double value) {
    CtCore *core = node(p, CORE_LIT, type, range);
    core->as.lit.real = type->kind == TYPE_FLOAT ? (double)(float)value : value;
    return core;
}

CtCore *ct_core_double(CtProgram *p, CtSourceRange range, double value) {
    return ct_core_real(p, range, p->double_type, value);
}

CtCore *ct_core_int(CtProgram *p, CtSourceRange range, int64_t value) {
    CtCore *core = node(p, CORE_LIT, p->int_type, range);
    core->as.lit.integer = value;
    return core;
}

CtCore *ct_core_char(CtProgram *p, CtSourceRange range, int64_t value) {
    CtCore *core = node(p, CORE_LIT, p->char_type, range);
    core->as.lit.integer = value;
    return core;
}

CtCore *ct_core_bool(CtProgram *p, CtSourceRange range, bool value) {
    return ct_core_con(p, range, &p->bool_type->data->cons[value], NULL, 0);
}

CtCore *ct_core_string(CtProgram *p, CtSourceRange range, const char *data, size_t length) {
    CtCore *core = node(p, CORE_STRING, p->string_type, range);
    core->as.string.data = ct_copy_text(p->context->arena, data, length);
    core->as.string.length = length;
    return core;
}

/* ---- functions ---- */

CtCore *ct_core_lam(CtProgram *p, CtSourceRange range, const char *name, CtVar *const *params, uint32_t count,
                    CtCore *body) {
    CtArena *arena = p->context->arena;
    CtLam *lam = CT_NEW(arena, CtLam);
    CtType **types = CT_NEW_ARRAY(arena, CtType *, count);
    lam->params = CT_NEW_ARRAY(arena, CtVar *, count);
    for (uint32_t i = 0; i < count; i++) {
        lam->params[i] = params[i];
        types[i] = params[i]->type;
    }
    lam->count = count;
    lam->body = body;
    lam->name = name;
    CtType *type = ct_core_type_fun(p, types, count, body->type);
    lam->node = node(p, CORE_LAM, type, range);
    lam->node->as.lam = lam;
    return lam->node;
}

CtCore *ct_core_app(CtProgram *p, CtSourceRange range, CtCore *fun, CtCore *const *args, uint32_t count) {
    CtCore *core = call(p, CORE_APP, ct_core_type_fun_result(fun->type), range, args, count);
    core->as.call.of.fun = fun;
    return core;
}

CtCore *ct_core_let(CtProgram *p, CtSourceRange range, CtVar *var, CtCore *rhs, CtCore *body) {
    CtCore *core = node(p, CORE_LET, body->type, range);
    core->as.let.vars = CT_NEW(p->context->arena, CtVar *);
    core->as.let.vars[0] = var;
    core->as.let.count = 1;
    core->as.let.rhs = rhs;
    core->as.let.body = body;
    return core;
}

CtCore *ct_core_letrec(CtProgram *p, CtSourceRange range, const CtBind *binds, uint32_t count, CtCore *body) {
    CtArena *arena = p->context->arena;
    CtCore *core = node(p, CORE_LETREC, body->type, range);
    core->as.letrec.binds = CT_NEW_ARRAY(arena, CtBind, count);
    core->as.letrec.count = count;
    core->as.letrec.body = body;
    CtLam **group = CT_NEW_ARRAY(arena, CtLam *, count);
    CtVar **vars = CT_NEW_ARRAY(arena, CtVar *, count);
    for (uint32_t i = 0; i < count; i++) {
        core->as.letrec.binds[i] = binds[i];
        group[i] = binds[i].lam->as.lam;
        vars[i] = binds[i].var;
    }
    for (uint32_t i = 0; i < count; i++) {
        group[i]->group = group;
        group[i]->group_vars = vars;
        group[i]->group_count = count;
    }
    return core;
}

/* ---- tuples ---- */

CtCore *ct_core_tuple(CtProgram *p, CtSourceRange range, CtCore *const *parts, uint32_t count) {
    CtType **types = types_of(p, parts, count);
    return call(p, CORE_TUPLE, ct_core_type_tuple(p, types, count), range, parts, count);
}

CtCore *ct_core_pair(CtProgram *p, CtSourceRange range, CtCore *first, CtCore *second) {
    CtCore *parts[] = {first, second};
    return ct_core_tuple(p, range, parts, 2);
}

CtCore *ct_core_unit(CtProgram *p, CtSourceRange range) { return ct_core_tuple(p, range, NULL, 0); }

/* A projection from a TUPLE gives the component, provided that the other components cannot fail. */
CtCore *ct_core_proj(CtProgram *p, CtSourceRange range, CtCore *tuple, uint32_t index) {
    if (tuple->kind == CORE_TUPLE) {
        bool total = true;
        for (uint32_t i = 0; i < tuple->as.call.count && total; i++)
            total = i == index || ct_core_is_total(tuple->as.call.args[i]);
        if (total) return tuple->as.call.args[index];
    }
    CtCore *core = node(p, CORE_PROJ, tuple->type->parts[index], range);
    core->as.proj.tuple = tuple;
    core->as.proj.index = index;
    return core;
}

CtCore *ct_core_unpack(CtProgram *p, CtSourceRange range, CtVar *const *vars, uint32_t count, CtCore *rhs,
                       CtCore *body) {
    CtCore *core = node(p, CORE_UNPACK, body->type, range);
    core->as.let.vars = CT_NEW_ARRAY(p->context->arena, CtVar *, count);
    for (uint32_t i = 0; i < count; i++) core->as.let.vars[i] = vars[i];
    core->as.let.count = count;
    core->as.let.rhs = rhs;
    core->as.let.body = body;
    return core;
}

/* ---- data ---- */

CtCore *ct_core_con(CtProgram *p, CtSourceRange range, CtCon *con, CtCore *const *args, uint32_t count) {
    CtCore *core = call(p, CORE_CON, con->data->type, range, args, count);
    core->as.call.of.con = con;
    return core;
}

CtCore *ct_core_case(CtProgram *p, CtSourceRange range, CtType *type, CtCore *scrutinee, const CtCase *cases,
                     uint32_t count, CtCore *otherwise) {
    CtArena *arena = p->context->arena;
    CtCore *core = node(p, CORE_CASE, type, range);
    core->as.cases.scrutinee = scrutinee;
    core->as.cases.cases = CT_NEW_ARRAY(arena, CtCase, count);
    core->as.cases.count = count;
    core->as.cases.otherwise = otherwise;
    for (uint32_t i = 0; i < count; i++) {
        CtCase *copy = &core->as.cases.cases[i];
        *copy = cases[i];
        if (copy->con->count == 0) continue;
        copy->vars = CT_NEW_ARRAY(arena, CtVar *, copy->con->count);
        memcpy(copy->vars, cases[i].vars, copy->con->count * sizeof *copy->vars);
    }
    return core;
}

CtCore *ct_core_if(CtProgram *p, CtSourceRange range, CtCore *condition, CtCore *yes, CtCore *no) {
    CtCon *cons = p->bool_type->data->cons; /* False, True */
    CtCase cases[] = {{&cons[0], NULL, no}, {&cons[1], NULL, yes}};
    return ct_core_case(p, range, yes->type, condition, cases, 2, NULL);
}

/* ---- operations ---- */

CtType *ct_core_prim_letter(CtProgram *p, char letter, CtType *real) {
    switch (letter) {
    case 'R': return real;
    case 'D': return p->double_type;
    case 'F': return p->float_type;
    case 'I': return p->int_type;
    case 'C': return p->char_type;
    case 'B': return p->bool_type;
    case 'S': return p->string_type;
    }
    return NULL;
}

CtCore *ct_core_prim(CtProgram *p, CtSourceRange range, CtPrim prim, CtCore *const *args, uint32_t count) {
    const CtPrimInfo *info = ct_prim_info(prim);
    CtType *real = p->double_type;
    for (uint32_t i = 0; i < info->arity && i < count; i++)
        if (info->args[i] == 'R') real = args[i]->type;
    CtCore *core = call(p, CORE_PRIM, ct_core_prim_letter(p, info->result, real), range, args, count);
    core->as.call.of.prim = prim;
    return core;
}

CtCore *ct_core_prim1(CtProgram *p, CtSourceRange range, CtPrim prim, CtCore *a) {
    return ct_core_prim(p, range, prim, &a, 1);
}

CtCore *ct_core_prim2(CtProgram *p, CtSourceRange range, CtPrim prim, CtCore *a, CtCore *b) {
    CtCore *args[] = {a, b};
    return ct_core_prim(p, range, prim, args, 2);
}

/* Arguments that do not fit are a bug of a pass, which lint reports; the type is then that of the last argument. */
CtCore *ct_core_array(CtProgram *p, CtSourceRange range, CtArrayOp op, CtCore *const *args, uint32_t count) {
    CtType **types = types_of(p, args, count);
    uint32_t wrong;
    CtType *type = ct_core_array_type(p, op, types, count, &wrong);
    if (type == NULL) type = count > 0 ? types[count - 1] : p->unit_type;
    CtCore *core = call(p, CORE_ARRAY, type, range, args, count);
    core->as.call.of.array = op;
    return core;
}

CtCore *ct_core_array_lit(CtProgram *p, CtSourceRange range, CtType *element, CtCore *const *items, uint32_t count) {
    return call(p, CORE_ARRAY_LIT, ct_core_type_array(p, element), range, items, count);
}

static const CtDerivInfo derivs[] = {
#define CT_DERIV_OP(op, primitive, name, arity, ...) {primitive, name, arity},
#include "core/core.def"
#undef CT_DERIV_OP
};

const CtDerivInfo *ct_core_deriv_info(CtDerivOp op) { return &derivs[op]; }

bool ct_core_deriv_find(const char *primitive, CtDerivOp *op) {
    for (uint32_t i = 0; i < sizeof derivs / sizeof *derivs; i++) {
        if (strcmp(derivs[i].primitive, primitive) != 0) continue;
        *op = (CtDerivOp)i;
        return true;
    }
    return false;
}

CtCore *ct_core_deriv(CtProgram *p, CtSourceRange range, CtDerivOp op, CtCore *const *args, uint32_t count) {
    CtType *type = NULL;
    switch (op) {
    case DERIV_JVP: {
        CtType *result = ct_core_type_fun_result(args[0]->type);
        type = ct_core_type_pair(p, result, result);
        break;
    }
    case DERIV_VJP: {
        CtType *result = ct_core_type_fun_result(args[0]->type);
        CtType *pullback = ct_core_type_fun(p, &result, 1, args[1]->type);
        type = ct_core_type_pair(p, result, pullback);
        break;
    }
    case DERIV_JACOBIAN: type = ct_core_type_array(p, args[1]->type); break;
    case DERIV_TAYLOR: type = ct_core_type_array(p, ct_core_type_fun_result(args[0]->type)); break;
    case DERIV_BASIS: type = ct_core_type_array(p, args[0]->type); break;
    case DERIV_REALS: type = ct_core_type_array(p, p->double_type); break;
    case DERIV_FILL:
    case DERIV_STOP: type = args[0]->type; break;
    case DERIV_CHECKPOINT:
    case DERIV_ATTEMPT:
    case DERIV_DELAY: /* these three by ct_core_lazy */
    case DERIV_FORCE:
    case DERIV_KNOT:
    case DERIV_WITH_VJP:
    case DERIV_WITH_JVP:
    case DERIV_WITH_RULES: type = ct_core_type_fun_result(args[0]->type); break;
    }
    CtCore *core = call(p, CORE_DERIV, type, range, args, count);
    core->as.call.of.deriv = op;
    return core;
}

CtCore *ct_core_lazy(CtProgram *p, CtSourceRange range, CtDerivOp op, CtType *type, CtCore *arg) {
    CtCore *core = call(p, CORE_DERIV, type, range, &arg, 1);
    core->as.call.of.deriv = op;
    return core;
}

CtCore *ct_core_deriv_one_rule(CtProgram *p, CtCore *core, bool by_tangent) {
    if (core->as.call.of.deriv != DERIV_WITH_RULES) return core;
    CtCore **args = core->as.call.args, *three[3] = {args[0], args[by_tangent ? 2 : 1], args[3]};
    return ct_core_deriv(p, core->range, by_tangent ? DERIV_WITH_JVP : DERIV_WITH_VJP, three, 3);
}

CtCore *ct_core_dual(CtProgram *p, CtSourceRange range, CtType *type, CtMethod method, const CtMethod *path,
                     uint32_t path_count, CtCore *const *args, uint32_t count) {
    CtArena *arena = p->context->arena;
    CtDualPath *dual = CT_NEW(arena, CtDualPath);
    dual->method = method;
    dual->range = range;
    dual->count = path_count;
    dual->path = CT_NEW_ARRAY(arena, CtMethod, path_count);
    if (path_count > 0) memcpy(dual->path, path, path_count * sizeof *path);
    CtCore *core = call(p, CORE_DUAL, type, range, args, count);
    core->as.call.of.dual = dual;
    return core;
}

CtCore *ct_core_fail(CtProgram *p, CtSourceRange range, CtType *type, CtErrorCode code, const char *text,
                     CtCore *message) {
    CtCore *core = node(p, CORE_FAIL, type, range);
    core->as.fail.code = code;
    core->as.fail.text = text;
    core->as.fail.message = message;
    return core;
}
