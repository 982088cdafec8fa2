/* Core lint: types, scopes, unique binders, exact arity, and the rule of each form in core.def. It runs after every
 * pass in tests, so its messages are for the author of a pass; they give the global, the form, the source range and the
 * fault.
 *
 * It iterates over last children; terms nested deeper than MAX_DEPTH otherwise are not checked. */
#include "core/internal.h"

enum { MAX_DEPTH = 12000 };

typedef struct Lint {
    CtProgram *p;
    const CtGlobal *global;
    CtMap binders; /* CtVar * -> itself while in scope, NULL afterwards */
    CT_VEC(CtVar *) scope;
    const char *error;
    uint32_t depth;
} Lint;

static const char *const form_names[] = {
#define CT_CORE_FORM(kind, name, rule) name,
#include "core/core.def"
#undef CT_CORE_FORM
};

static const char *show(Lint *l, const CtType *type) {
    if (type == NULL) return "no type";
    CtText text = ct_text(l->p->context->arena);
    ct_core_type_print(&text, type);
    return text.data;
}

static void wrong(Lint *l, const CtCore *core, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void wrong(Lint *l, const CtCore *core, const char *format, ...) {
    if (l->error != NULL) return;
    CtContext *context = l->p->context;
    va_list list;
    va_start(list, format);
    const char *what = ct_format_list(context->arena, format, list);
    va_end(list);
    const char *form = core != NULL ? form_names[core->kind] : "global";
    if (core != NULL && core->range.source != 0 && core->range.source < context->sources.count) {
        uint32_t line, column;
        ct_source_position(context, core->range.source, core->range.start, &line, &column);
        l->error = ct_format(context->arena, "in %s, %s at %s:%u:%u: %s", l->global->name->text, form,
                             context->sources.items[core->range.source].name, line, column, what);
    } else {
        l->error = ct_format(context->arena, "in %s, %s: %s", l->global->name->text, form, what);
    }
}

static void expect(Lint *l, const CtCore *core, const char *what, const CtType *found, const CtType *wanted) {
    if (found != wanted) wrong(l, core, "%s has type %s, wanted %s", what, show(l, found), show(l, wanted));
}

static void expect_arg(Lint *l, const CtCore *core, uint32_t index, const CtType *wanted) {
    const CtType *found = core->as.call.args[index]->type;
    if (found == wanted) return;
    wrong(l, core, "argument %u has type %s, wanted %s", index + 1, show(l, found), show(l, wanted));
}

/* ---- scopes ---- */

static void bind(Lint *l, const CtCore *core, CtVar *var, const CtType *type) {
    if (var == NULL) return;
    if (ct_map_has(&l->binders, ct_key(var))) wrong(l, core, "variable %s is bound twice", var->name->text);
    if (var->type != type)
        wrong(l, core, "variable %s has type %s, wanted %s", var->name->text, show(l, var->type), show(l, type));
    ct_map_set(l->p->context->arena, &l->binders, ct_key(var), var);
    ct_push(l->p->context->arena, &l->scope, var);
}

static void leave_scope(Lint *l, uint32_t to) {
    while (l->scope.count > to)
        ct_map_set(l->p->context->arena, &l->binders, ct_key(l->scope.items[--l->scope.count]), NULL);
}

/* ---- one rule a form; each returns the last child, which is still to be checked, or NULL ---- */

static void check(Lint *l, CtCore *core);

/* Checks a child in a scope of its own. */
static void check_inside(Lint *l, CtCore *child) {
    uint32_t scope = l->scope.count;
    check(l, child);
    leave_scope(l, scope);
}

static void check_var(Lint *l, CtCore *core) {
    CtVar *var = core->as.var;
    if (ct_map_get(&l->binders, ct_key(var)) == NULL) wrong(l, core, "%s is not in scope", var->name->text);
    expect(l, core, "the variable", var->type, core->type);
}

static void check_lit(Lint *l, CtCore *core) {
    CtTypeKind kind = core->type->kind;
    if (kind != TYPE_DOUBLE && kind != TYPE_FLOAT && kind != TYPE_INT && kind != TYPE_CHAR)
        wrong(l, core, "a literal cannot have type %s", show(l, core->type));
    if (kind == TYPE_FLOAT && core->as.lit.real == core->as.lit.real &&
        (double)(float)core->as.lit.real != core->as.lit.real)
        wrong(l, core, "a Float literal that is not rounded");
}

/* The captured variables of a λ with an origin must be in scope, whether or not its body uses them. */
static void check_captures(Lint *l, CtCore *core, const CtLam *lam) {
    for (uint32_t i = 0; i < lam->capture_count; i++)
        if (ct_map_get(&l->binders, ct_key(lam->captures[i])) == NULL)
            wrong(l, core, "a transformed λ captures %s, which is not in scope", lam->captures[i]->name->text);
}

static CtCore *check_lam(Lint *l, CtCore *core, bool in_letrec) {
    if (core->as.lam->origin != NULL) check_captures(l, core, core->as.lam);
    CtLam *lam = core->as.lam;
    const CtType *type = core->type;
    if (lam->node != core) wrong(l, core, "the λ does not know its node");
    if (!in_letrec && lam->group_count != 0) wrong(l, core, "a λ with a group outside of its LETREC");
    if (type->kind != TYPE_FUN || type->count != lam->count + 1) {
        wrong(l, core, "%u parameters at type %s", lam->count, show(l, type));
        return NULL;
    }
    for (uint32_t i = 0; i < lam->count; i++) bind(l, core, lam->params[i], type->parts[i]);
    expect(l, core, "the body", lam->body->type, type->parts[lam->count]);
    return lam->body;
}

static void check_app(Lint *l, CtCore *core) {
    const CtType *fun = core->as.call.of.fun->type;
    if (fun->kind != TYPE_FUN) {
        wrong(l, core, "%s is no function's type", show(l, fun));
        return;
    }
    if (fun->count != core->as.call.count + 1) {
        wrong(l, core, "%u arguments to a function of type %s", core->as.call.count, show(l, fun));
        return;
    }
    for (uint32_t i = 0; i < core->as.call.count; i++) expect_arg(l, core, i, fun->parts[i]);
    expect(l, core, "the application", core->type, ct_core_type_fun_result((CtType *)fun));
}

static CtCore *check_let(Lint *l, CtCore *core) {
    check_inside(l, core->as.let.rhs);
    bind(l, core, core->as.let.vars[0], core->as.let.rhs->type);
    expect(l, core, "the let", core->type, core->as.let.body->type);
    return core->as.let.body;
}

static CtCore *check_letrec(Lint *l, CtCore *core) {
    uint32_t count = core->as.letrec.count;
    for (uint32_t i = 0; i < count; i++) {
        CtBind *b = &core->as.letrec.binds[i];
        if (b->lam->kind != CORE_LAM) {
            wrong(l, core, "%s is bound to a %s", b->var->name->text, form_names[b->lam->kind]);
            return NULL;
        }
        CtLam *lam = b->lam->as.lam;
        if (lam->group_count != count || lam->group[i] != lam || lam->group_vars[i] != b->var)
            wrong(l, core, "the λ of %s does not know its group", b->var->name->text);
        bind(l, core, b->var, b->lam->type);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t scope = l->scope.count;
        CtCore *body = check_lam(l, core->as.letrec.binds[i].lam, true);
        if (body != NULL) check(l, body);
        leave_scope(l, scope);
    }
    expect(l, core, "the letrec", core->type, core->as.letrec.body->type);
    return core->as.letrec.body;
}

static void check_tuple(Lint *l, CtCore *core) {
    if (core->type->kind != TYPE_TUPLE || core->type->count != core->as.call.count) {
        wrong(l, core, "%u components at type %s", core->as.call.count, show(l, core->type));
        return;
    }
    for (uint32_t i = 0; i < core->as.call.count; i++) expect_arg(l, core, i, core->type->parts[i]);
}

static void check_proj(Lint *l, CtCore *core) {
    const CtType *tuple = core->as.proj.tuple->type;
    if (tuple->kind != TYPE_TUPLE || core->as.proj.index >= tuple->count) {
        wrong(l, core, "no component %u in %s", core->as.proj.index + 1, show(l, tuple));
        return;
    }
    expect(l, core, "the projection", core->type, tuple->parts[core->as.proj.index]);
}

static CtCore *check_unpack(Lint *l, CtCore *core) {
    const CtType *tuple = core->as.let.rhs->type;
    check_inside(l, core->as.let.rhs);
    if (tuple->kind != TYPE_TUPLE || core->as.let.count != tuple->count) {
        wrong(l, core, "%u variables for a %s", core->as.let.count, show(l, tuple));
        return NULL;
    }
    for (uint32_t i = 0; i < core->as.let.count; i++) bind(l, core, core->as.let.vars[i], tuple->parts[i]);
    expect(l, core, "the unpacking", core->type, core->as.let.body->type);
    return core->as.let.body;
}

static void check_con(Lint *l, CtCore *core) {
    const CtCon *con = core->as.call.of.con;
    expect(l, core, con->name->text, core->type, con->data->type);
    if (core->as.call.count != con->count) {
        wrong(l, core, "%u arguments to %s, which has %u fields", core->as.call.count, con->name->text, con->count);
        return;
    }
    for (uint32_t i = 0; i < con->count; i++) expect_arg(l, core, i, con->fields[i]);
}

/* Whether the constructors listed belong to the data type, occur once each, and are complete if there is no default. */
static bool check_cons(Lint *l, CtCore *core, const CtData *data) {
    for (uint32_t i = 0; i < core->as.cases.count; i++) {
        const CtCon *con = core->as.cases.cases[i].con;
        if (con->data != data) wrong(l, core, "%s is no constructor of %s", con->name->text, show(l, data->type));
        for (uint32_t j = 0; j < i; j++)
            if (core->as.cases.cases[j].con == con) wrong(l, core, "%s is listed twice", con->name->text);
    }
    if (core->as.cases.otherwise == NULL && core->as.cases.count < data->con_count)
        wrong(l, core, "%u of %u constructors of %s, and no default", core->as.cases.count, data->con_count,
              show(l, data->type));
    return l->error == NULL;
}

static void check_case(Lint *l, CtCore *core) {
    const CtType *type = core->as.cases.scrutinee->type;
    check_inside(l, core->as.cases.scrutinee);
    if (type->kind != TYPE_DATA) {
        wrong(l, core, "the scrutinee has type %s, which has no constructors", show(l, type));
        return;
    }
    if (!check_cons(l, core, type->data)) return;
    for (uint32_t i = 0; i < core->as.cases.count && l->error == NULL; i++) {
        const CtCase *c = &core->as.cases.cases[i];
        uint32_t scope = l->scope.count;
        for (uint32_t j = 0; j < c->con->count; j++) bind(l, core, c->vars[j], c->con->fields[j]);
        expect(l, core, ct_format(l->p->context->arena, "the branch of %s", c->con->name->text), c->body->type,
               core->type);
        check(l, c->body);
        leave_scope(l, scope);
    }
    if (core->as.cases.otherwise == NULL) return;
    expect(l, core, "the default", core->as.cases.otherwise->type, core->type);
    check_inside(l, core->as.cases.otherwise);
}

static void check_prim(Lint *l, CtCore *core) {
    const CtPrimInfo *info = ct_prim_info(core->as.call.of.prim);
    if (core->as.call.count != info->arity) {
        wrong(l, core, "%u arguments to %s, which takes %u", core->as.call.count, info->name, info->arity);
        return;
    }
    CtType *real = NULL;
    for (uint32_t i = 0; i < info->arity; i++) {
        CtType *found = core->as.call.args[i]->type;
        if (info->args[i] == 'R' && real == NULL) real = found;
        if (info->args[i] == 'R' && found->kind != TYPE_DOUBLE && found->kind != TYPE_FLOAT)
            wrong(l, core, "argument %u of %s has type %s, wanted Double or Float", i + 1, info->name, show(l, found));
        CtType *wanted = ct_core_prim_letter(l->p, info->args[i], real);
        if (found != wanted)
            wrong(l, core, "argument %u of %s has type %s, wanted %s", i + 1, info->name, show(l, found),
                  show(l, wanted));
    }
    expect(l, core, info->name, core->type, ct_core_prim_letter(l->p, info->result, real != NULL ? real : core->type));
}

static void check_array(Lint *l, CtCore *core) {
    CtArena *arena = l->p->context->arena;
    const CtArrayInfo *info = ct_core_array_info(core->as.call.of.array);
    uint32_t count = core->as.call.count, bad;
    CtType **types = CT_NEW_ARRAY(arena, CtType *, count);
    for (uint32_t i = 0; i < count; i++) types[i] = core->as.call.args[i]->type;
    CtType *type = ct_core_array_type(l->p, core->as.call.of.array, types, count, &bad);
    if (type == NULL && count != info->arity)
        wrong(l, core, "%u arguments to %s : %s", count, info->name, info->type);
    else if (type == NULL)
        wrong(l, core, "argument %u has type %s, which does not fit %s : %s", bad + 1, show(l, types[bad]), info->name,
              info->type);
    else
        expect(l, core, info->name, core->type, type);
}

static void check_array_lit(Lint *l, CtCore *core) {
    if (core->type->kind != TYPE_ARRAY) {
        wrong(l, core, "an array literal of type %s", show(l, core->type));
        return;
    }
    for (uint32_t i = 0; i < core->as.call.count; i++) expect_arg(l, core, i, core->type->parts[0]);
}

/* f : (S) → T and its rule; returns the type of the application. */
static CtType *check_rule(Lint *l, CtCore *core, CtType *f) {
    if (f->kind != TYPE_FUN || f->count != 2) {
        wrong(l, core, "argument 1 has type %s, wanted a function of one parameter", show(l, f));
        return core->type;
    }
    CtType *s = f->parts[0], *t = f->parts[1], *both[2] = {s, s};
    CtType *by_tangent = ct_core_type_fun(l->p, both, 2, ct_core_type_pair(l->p, t, t));
    CtType *by_pair = ct_core_type_fun(l->p, &s, 1, ct_core_type_pair(l->p, t, ct_core_type_fun(l->p, &t, 1, s)));
    CtDerivOp op = core->as.call.of.deriv;
    expect_arg(l, core, 1, op == DERIV_WITH_JVP ? by_tangent : by_pair);
    if (op == DERIV_WITH_RULES) expect_arg(l, core, 2, by_tangent);
    expect_arg(l, core, core->as.call.count - 1, s);
    return t;
}

/* What is in a cell; NULL: it is none. */
static CtType *in_cell(const CtType *type) {
    bool cell = type->kind == TYPE_DATA && type->data->con_count == 2 && type->data->cons[0].count == 1;
    return cell ? type->data->cons[0].fields[0] : NULL;
}

/* The type of DELAY, FORCE and KNOT, of an argument of type `first`. */
static CtType *check_lazy(Lint *l, CtCore *core, CtType *first) {
    CtDerivOp op = core->as.call.of.deriv;
    if (op == DERIV_FORCE) {
        CtType *inside = in_cell(first);
        if (inside == NULL) wrong(l, core, "the argument has type %s, wanted a cell", show(l, first));
        return inside;
    }
    if (first->kind != TYPE_FUN || first->count != (op == DERIV_KNOT ? 2 : 1)) {
        wrong(l, core, "the argument has type %s, wanted a function", show(l, first));
        return NULL;
    }
    if (op == DERIV_KNOT) return first->parts[0];
    if (in_cell(core->type) != first->parts[0]) wrong(l, core, "the cell has type %s", show(l, core->type));
    return core->type;
}

static void check_deriv(Lint *l, CtCore *core) {
    CtDerivOp op = core->as.call.of.deriv;
    uint32_t arity = ct_core_deriv_info(op)->arity;
    if (core->as.call.count != arity) {
        wrong(l, core, "%u arguments, wanted %u", core->as.call.count, arity);
        return;
    }
    CtType *first = core->as.call.args[0]->type, *result = NULL;
    switch (op) {
    case DERIV_BASIS: result = ct_core_type_array(l->p, first); break;
    case DERIV_REALS: result = ct_core_type_array(l->p, l->p->double_type); break;
    case DERIV_FILL: expect_arg(l, core, 1, ct_core_type_array(l->p, l->p->double_type)); /* fall through */
    case DERIV_STOP: result = first; break;
    case DERIV_JVP:
    case DERIV_VJP:
    case DERIV_JACOBIAN:
    case DERIV_CHECKPOINT: {
        if (first->kind != TYPE_FUN || first->count != 2) {
            wrong(l, core, "argument 1 has type %s, wanted a function of one parameter", show(l, first));
            return;
        }
        for (uint32_t i = 1; i < arity; i++) expect_arg(l, core, i, first->parts[0]);
        if (op == DERIV_CHECKPOINT) {
            result = first->parts[1];
            break;
        }
        CtType *pullback = ct_core_type_fun(l->p, &first->parts[1], 1, first->parts[0]);
        result = op == DERIV_JACOBIAN
                     ? ct_core_type_array(l->p, first->parts[0])
                     : ct_core_type_pair(l->p, first->parts[1], op == DERIV_JVP ? first->parts[1] : pullback);
        break;
    }
    case DERIV_ATTEMPT:
        if (first->kind != TYPE_FUN || first->count != 2) {
            wrong(l, core, "argument 1 has type %s, wanted a function of one parameter", show(l, first));
            return;
        }
        expect_arg(l, core, 1, first->parts[0]);
        expect_arg(l, core, 2, first->parts[1]);
        result = first->parts[1];
        break;
    case DERIV_DELAY:
    case DERIV_FORCE:
    case DERIV_KNOT: result = check_lazy(l, core, first); break;
    case DERIV_TAYLOR:
        if (first->kind != TYPE_FUN || first->count != 2) {
            wrong(l, core, "argument 1 has type %s, wanted a function of one parameter", show(l, first));
            return;
        }
        expect_arg(l, core, 1, first->parts[0]);
        expect_arg(l, core, 2, l->p->int_type);
        result = ct_core_type_array(l->p, first->parts[1]);
        break;
    case DERIV_WITH_VJP:
    case DERIV_WITH_JVP:
    case DERIV_WITH_RULES: result = check_rule(l, core, first); break;
    }
    expect(l, core, "the derivative", core->type, result);
}

static void check_dual(Lint *l, CtCore *core) {
    if (core->as.call.count == 0 || core->as.call.args[0]->type->kind != TYPE_FUN)
        wrong(l, core, "the operand has type %s, wanted a function",
              show(l, core->as.call.count == 0 ? NULL : core->as.call.args[0]->type));
}

static CtCore *check_fail(Lint *l, CtCore *core) {
    CtCore *message = core->as.fail.message;
    if ((message != NULL) == (core->as.fail.text != NULL))
        wrong(l, core, "wanted a fixed text or a message, one of them");
    if (message != NULL) expect(l, core, "the message", message->type, l->p->string_type);
    return message;
}

/* Checks all children but the last, which is returned. */
static CtCore *check_args(Lint *l, CtCore *core) {
    if (core->kind == CORE_APP) check_inside(l, core->as.call.of.fun);
    uint32_t count = core->as.call.count;
    for (uint32_t i = 0; i + 1 < count && l->error == NULL; i++) check_inside(l, core->as.call.args[i]);
    return count > 0 ? core->as.call.args[count - 1] : NULL;
}

static CtCore *check_node(Lint *l, CtCore *core) {
    switch (core->kind) {
    case CORE_VAR: check_var(l, core); return NULL;
    case CORE_GLOBAL: expect(l, core, "the global", core->as.global->type, core->type); return NULL;
    case CORE_LIT: check_lit(l, core); return NULL;
    case CORE_STRING: expect(l, core, "the string", core->type, l->p->string_type); return NULL;
    case CORE_LAM: return check_lam(l, core, false);
    case CORE_LET: return check_let(l, core);
    case CORE_LETREC: return check_letrec(l, core);
    case CORE_UNPACK: return check_unpack(l, core);
    case CORE_PROJ: check_proj(l, core); return core->as.proj.tuple;
    case CORE_CASE: check_case(l, core); return NULL;
    case CORE_FAIL: return check_fail(l, core);
    case CORE_APP: check_app(l, core); return check_args(l, core);
    case CORE_TUPLE: check_tuple(l, core); return check_args(l, core);
    case CORE_CON: check_con(l, core); return check_args(l, core);
    case CORE_PRIM: check_prim(l, core); return check_args(l, core);
    case CORE_ARRAY: check_array(l, core); return check_args(l, core);
    case CORE_ARRAY_LIT: check_array_lit(l, core); return check_args(l, core);
    case CORE_DERIV: check_deriv(l, core); return check_args(l, core);
    case CORE_DUAL: check_dual(l, core); return check_args(l, core);
    }
    return NULL;
}

static void check(Lint *l, CtCore *core) {
    if (l->depth >= MAX_DEPTH) return;
    l->depth++;
    while (core != NULL && l->error == NULL) {
        if (core->type == NULL)
            wrong(l, core, "a node without a type");
        else
            core = check_node(l, core);
    }
    l->depth--;
}

static void check_global(Lint *l, const CtGlobal *global) {
    l->global = global;
    if (global->body == NULL) {
        wrong(l, NULL, "it has no body");
        return;
    }
    if (global->body->type != global->type)
        wrong(l, NULL, "the body has type %s, wanted %s", show(l, global->body->type), show(l, global->type));
    check_inside(l, global->body);
}

const char *ct_core_lint_global(CtProgram *p, const CtGlobal *global) {
    Lint lint = {.p = p};
    check_global(&lint, global);
    return lint.error;
}

const char *ct_core_lint(CtProgram *p) {
    Lint lint = {.p = p};
    for (uint32_t i = 0; i < p->globals.count && lint.error == NULL; i++) check_global(&lint, p->globals.items[i]);
    return lint.error;
}
