/* The first pass of the compiler: makes a Local for every variable that the λ's own code binds or captures. */
#include "eval/compile.h"

typedef struct Visit {
    CtCore *core;
    uint32_t level; /* number of enclosing loops */
    uint32_t depth; /* nesting depth */
} Visit;

typedef CT_VEC(Visit) Visits;

int ct_eval_array_function_index(CtArrayOp op) {
    static const int indices[] = {
#define CT_ARRAY_OP(op, name, arity, function, ...) function,
#include "core/core.def"
#undef CT_ARRAY_OP
    };
    return indices[op];
}

Local *ct_eval_compile_local(Compile *c, const CtVar *var) {
    Local *local = ct_map_get(&c->by_var, var->id);
    return local;
}

static Local *add_local(Compile *c, LocalKind kind, CtVar *var, uint32_t level) {
    Local *local = CT_NEW(c->arena, Local);
    *local = (Local){.kind = kind, .index = c->locals.count, .var = var, .level = level, .slot = NO_SLOT};
    local->is_pointer = var == NULL || ct_value_type_is_pointer(var->type);
    ct_push(c->arena, &c->locals, local);
    if (var != NULL) ct_map_set(c->arena, &c->by_var, var->id, local);
    return local;
}

static void add_vars(Compile *c, CtVar *const *vars, uint32_t count, uint32_t level) {
    for (uint32_t i = 0; i < count; i++)
        if (vars[i] != NULL) add_local(c, LOCAL_SLOT, vars[i], level);
}

/* The environment of a group that captures anything is a closure of its first function. */
static void add_group(Compile *c, const CtCore *letrec, uint32_t level) {
    CtLam *first = letrec->as.letrec.binds[0].lam->as.lam;
    CtCode *code = ct_eval_code_of_lam(c->m, first);
    Local *env = NULL;
    if (first->capture_count > 0) {
        env = add_local(c, LOCAL_ENV, NULL, level);
        env->code = code;
    }
    for (uint32_t i = 0; i < letrec->as.letrec.count; i++) {
        Local *local = add_local(c, LOCAL_GROUP, letrec->as.letrec.binds[i].var, level);
        local->env = env;
        local->code = ct_eval_code_of_lam(c->m, letrec->as.letrec.binds[i].lam->as.lam);
    }
}

static void visit_later(Compile *c, Visits *todo, CtCore *e, uint32_t level, uint32_t depth) {
    ct_push(c->arena, todo, (Visit){e, level, depth});
}

static void visit_args(Compile *c, Visits *todo, const CtCore *e, Visit at) {
    int function = e->kind == CORE_ARRAY ? ct_eval_array_function_index(e->as.call.of.array) : -1;
    for (uint32_t i = 0; i < e->as.call.count; i++) {
        CtCore *arg = e->as.call.args[i];
        if ((int)i == function && is_inline_function(arg)) {
            add_vars(c, arg->as.lam->params, arg->as.lam->count, at.level + 1);
            visit_later(c, todo, arg->as.lam->body, at.level + 1, at.depth + 1);
        } else {
            visit_later(c, todo, arg, at.level, at.depth + 1);
        }
    }
    if (e->kind == CORE_APP) visit_later(c, todo, e->as.call.of.fun, at.level, at.depth + 1);
}

/* A long list counts as one level of nesting. */
static void visit_con(Compile *c, Visits *todo, CtCore *e, Visit at) {
    const CtCore *tail;
    uint32_t count = ct_eval_compile_spine(e, &tail);
    if (count < SPINE_MIN) {
        visit_args(c, todo, e, at);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        visit_later(c, todo, e->as.call.args[0], at.level, at.depth + 1);
        e = e->as.call.args[1];
    }
    visit_later(c, todo, e, at.level, at.depth + 1);
}

static void visit_case(Compile *c, Visits *todo, const CtCore *e, Visit at) {
    visit_later(c, todo, e->as.cases.scrutinee, at.level, at.depth + 1);
    for (uint32_t i = 0; i < e->as.cases.count; i++) {
        const CtCase *branch = &e->as.cases.cases[i];
        add_vars(c, branch->vars, branch->con->count, at.level);
        visit_later(c, todo, branch->body, at.level, at.depth + 1);
    }
    if (e->as.cases.otherwise != NULL) visit_later(c, todo, e->as.cases.otherwise, at.level, at.depth + 1);
}

/* Makes the term a code without parameters that captures the variables it uses. */
static void outline(Compile *c, CtCore *e) {
    CtLam *lam = CT_NEW(c->arena, CtLam);
    lam->body = e;
    ct_map_set(c->arena, &c->outlined, ct_key(e), ct_eval_code_of_lam(c->m, lam));
}

/* let x = e in body, where f is λx. body. */
static CtCore *application(Compile *c, CtCore *e) {
    CtCore *f = e->as.call.args[0], *x = e->as.call.args[e->as.call.count - 1];
    CtCore *plain = f->kind == CORE_LAM ? ct_core_let(c->m->program, e->range, f->as.lam->params[0], x, f->as.lam->body)
                                        : ct_core_app(c->m->program, e->range, f, &x, 1);
    ct_map_set(c->arena, &c->applied, ct_key(e), plain);
    return plain;
}

static void visit(Compile *c, Visits *todo, Visit at) {
    CtCore *e = at.core;
    bool is_leaf =
        is_var(e) || is_literal(e) || e->kind == CORE_GLOBAL || e->kind == CORE_STRING || e->kind == CORE_LAM;
    if (at.depth >= OUTLINE_DEPTH && !is_leaf) {
        outline(c, e);
        return;
    }
    switch (e->kind) {
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING:
    case CORE_LAM: return; /* a λ has its own code */
    case CORE_CON: visit_con(c, todo, e, at); return;
    case CORE_APP:
    case CORE_TUPLE:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DUAL: visit_args(c, todo, e, at); return;
    case CORE_DERIV:
        if (only_applies(e))
            visit_later(c, todo, application(c, e), at.level, at.depth);
        else
            visit_args(c, todo, e, at);
        return;
    case CORE_LET:
    case CORE_UNPACK:
        add_vars(c, e->as.let.vars, e->as.let.count, at.level);
        visit_later(c, todo, e->as.let.rhs, at.level, at.depth + 1);
        visit_later(c, todo, e->as.let.body, at.level, at.depth);
        return;
    case CORE_LETREC:
        add_group(c, e, at.level);
        visit_later(c, todo, e->as.letrec.body, at.level, at.depth);
        return;
    case CORE_PROJ: visit_later(c, todo, e->as.proj.tuple, at.level, at.depth + 1); return;
    case CORE_CASE: visit_case(c, todo, e, at); return;
    case CORE_FAIL:
        if (e->as.fail.text == NULL) visit_later(c, todo, e->as.fail.message, at.level, at.depth + 1);
        return;
    }
}

void ct_eval_compile_scope(Compile *c) {
    CtLam *lam = c->code->lam;
    CtCore *body = lam == NULL ? c->code->global->body : lam->body;
    if (lam != NULL) {
        for (uint32_t i = 0; i < lam->count; i++) add_local(c, LOCAL_SLOT, lam->params[i], 0)->slot = i;
        for (uint32_t i = 0; i < lam->capture_count; i++) {
            Local *local = add_local(c, LOCAL_CAPTURE, lam->captures[i], 0);
            local->capture = i;
        }
        for (uint32_t i = 0; i < lam->group_count; i++) {
            Local *local = add_local(c, LOCAL_SIBLING, lam->group_vars[i], 0);
            local->code = ct_eval_code_of_lam(c->m, lam->group[i]);
        }
    }
    Visits todo = {0};
    visit_later(c, &todo, body, 0, 0);
    while (todo.count > 0) visit(c, &todo, todo.items[--todo.count]);
}

uint32_t ct_eval_compile_spine(const CtCore *e, const CtCore **tail) {
    uint32_t count = 0;
    const CtCon *con = e->kind == CORE_CON ? e->as.call.of.con : NULL;
    while (e->kind == CORE_CON && e->as.call.of.con == con && con->count == 2 && con->fields[1] == con->data->type) {
        e = e->as.call.args[1];
        count++;
    }
    *tail = e;
    return count;
}

Alternative *ct_eval_compile_alternatives(Compile *c, const CtCore *e, uint32_t *count) {
    uint32_t n = e->as.cases.count + (e->as.cases.otherwise != NULL);
    Alternative *all = CT_NEW_ARRAY(c->arena, Alternative, n);
    for (uint32_t i = 0; i < e->as.cases.count; i++) {
        const CtCase *branch = &e->as.cases.cases[i];
        all[i] =
            (Alternative){.body = branch->body, .con = branch->con, .vars = branch->vars, .count = branch->con->count};
    }
    if (e->as.cases.otherwise != NULL) all[n - 1] = (Alternative){.body = e->as.cases.otherwise};
    const CtData *data = e->as.cases.scrutinee->type->data;
    if (n == 2 && data->is_enum && data->con_count == 2 && all[0].con->tag == 0) {
        Alternative first = all[0];
        all[0] = all[1];
        all[1] = first;
    }
    *count = n;
    return all;
}
