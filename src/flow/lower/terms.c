/* Lowering of Core to Flow: terms become steps in evaluation order. The parts of a tuple are variables of their own, so
 * taking a tuple apart needs no code. */
#include "flow/analysis/analysis.h"
#include "flow/lower/internal.h"

enum { DEEPEST = 2500 }; /* levels of nesting; the parser accepts fewer */

_Noreturn void ct_flow_lower_refuse(Lower *l, const char *why) {
    l->b.flow->refused = why;
    longjmp(l->refused, 1);
}

/* ---- variables ---- */

void ct_flow_lower_bind(Lower *l, const CtVar *var, CtFlowArgs values) {
    if (var == NULL) return;
    Binding *binding = CT_NEW(l->b.arena, Binding);
    binding->values = values;
    for (uint32_t i = 0; i < values.count; i++)
        if (values.items[i].var != NULL && values.items[i].var->name == NULL)
            values.items[i].var->name = var->name->text;
    ct_map_set(l->b.arena, l->env, var->id, binding);
}

Binding *ct_flow_lower_binding(Lower *l, const CtVar *var) {
    Binding *binding = ct_map_get(l->env, var->id);
    if (binding == NULL) ct_flow_lower_refuse(l, "a variable is out of sight");
    return binding;
}

/* Binds the variables of all parts of a value, in order. */
static void bind_parts(Lower *l, CtVar *const *vars, CtType *const *types, uint32_t count, const CtFlowArgs *values) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t width = ct_flow_types(l->b.flow, types[i])->count;
        ct_flow_lower_bind(l, vars[i], ct_flow_slice(values, at, width));
        at += width;
    }
}

/* ---- literals ---- */

static CtFlowArgs one(Lower *l, CtFlowArg arg) {
    CtFlowArgs args = {0};
    ct_push(l->b.arena, &args, arg);
    return args;
}

static CtFlowArgs lower_literal(Lower *l, const CtCore *e) {
    CtFlowArg arg = {.type = ct_flow_types(l->b.flow, e->type)->items[0]};
    if (arg.type->kind == FLOW_I64)
        arg.lit.integer = e->as.lit.integer;
    else
        arg.lit.real = e->as.lit.real;
    return one(l, arg);
}

static CtFlowArgs lower_string(Lower *l, const CtCore *e) {
    const CtFlowType *type = ct_flow_types(l->b.flow, e->type)->items[0];
    if (e->as.string.length == 0) return one(l, ct_flow_node_make(&l->b, e->range, type, ct_flow_list_end(type), NULL));
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_STRING, e->range);
    size_t length = e->as.string.length, bytes;
    step->as.string.points = CT_NEW_ARRAY(l->b.arena, uint32_t, length + 1);
    for (size_t at = 0; at < length; at += bytes)
        step->as.string.points[step->as.string.count++] = ct_text_point(e->as.string.data, length, at, &bytes);
    return one(l, ct_flow_result(&l->b, step, "text", type));
}

/* ---- data ---- */

static CtFlowArgs make(Lower *l, CtSourceRange range, const CtType *type, uint32_t tag, const CtFlowArgs *fields) {
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_MAKE, range);
    const CtFlowType *node = ct_flow_node(l->b.flow, type);
    step->as.con.data = node->data;
    step->as.con.tag = tag;
    step->args = *fields;
    return one(l, ct_flow_result(&l->b, step, NULL, node));
}

static CtFlowArgs lower_all(Lower *l, CtCore *const *args, uint32_t count) {
    CtFlowArgs all = {0};
    for (uint32_t i = 0; i < count; i++) {
        CtFlowArgs values = ct_flow_lower(l, args[i]);
        ct_flow_args_add(&l->b, &all, &values);
    }
    return all;
}

/* Nested constructions in the last field, such as a list. The arguments are evaluated in source order, then the inner
 * nodes are made first. */
static CtFlowArgs lower_spine(Lower *l, CtCore *e) {
    CT_VEC(CtFlowArgs) heads = {0};
    CtCore *outer = e;
    while (e->kind == CORE_CON && e->as.call.count > 0 && !e->type->data->is_enum) {
        ct_push(l->b.arena, &heads, lower_all(l, e->as.call.args, e->as.call.count - 1));
        e = e->as.call.args[e->as.call.count - 1];
    }
    CtFlowArgs values = ct_flow_lower(l, e);
    CT_VEC(CtCore *) cells = {0};
    for (CtCore *c = outer; c != e; c = c->as.call.args[c->as.call.count - 1]) ct_push(l->b.arena, &cells, c);
    for (uint32_t i = cells.count; i-- > 0;) {
        CtFlowArgs fields = heads.items[i];
        CtType *const *parts;
        uint32_t count;
        ct_flow_args_add(&l->b, &fields, &values);
        bool is_flat = ct_flow_parts(l->b.flow, cells.items[i]->type, &parts, &count);
        values = is_flat ? fields
                         : make(l, cells.items[i]->range, cells.items[i]->type, cells.items[i]->as.call.of.con->tag,
                                &fields);
    }
    return values;
}

static CtFlowArgs lower_con(Lower *l, CtCore *e) {
    if (e->type->data->is_enum) return one(l, ct_flow_int(&l->b, e->as.call.of.con->tag));
    if (e->as.call.count > 0) return lower_spine(l, e);
    CtFlowArgs none = {0};
    return make(l, e->range, e->type, e->as.call.of.con->tag, &none);
}

CtFlowArgs ct_flow_lower_whole(Lower *l, CtSourceRange range, const CtType *tuple, CtFlowArgs parts) {
    CtType *const *types;
    uint32_t count;
    return ct_flow_parts(l->b.flow, tuple, &types, &count) ? parts : make(l, range, tuple, 0, &parts);
}

CtFlowArgs ct_flow_lower_parts(Lower *l, CtSourceRange range, const CtType *tuple, CtFlowArgs whole) {
    CtType *const *types;
    uint32_t count;
    if (ct_flow_parts(l->b.flow, tuple, &types, &count)) return whole;
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_OPEN, range);
    step->as.con.data = whole.items[0].type->data;
    ct_flow_arg(&l->b, step, whole.items[0]);
    CtFlowArgs parts = {0};
    for (uint32_t i = 0; i < tuple->count; i++) {
        const CtFlowTypes *of = ct_flow_types(l->b.flow, tuple->parts[i]);
        for (uint32_t j = 0; j < of->count; j++)
            ct_push(l->b.arena, &parts, ct_flow_result(&l->b, step, NULL, of->items[j]));
    }
    return parts;
}

static CtFlowArgs lower_tuple(Lower *l, CtCore *e) {
    if (e->as.call.count == 0) return one(l, ct_flow_int(&l->b, 0));
    return ct_flow_lower_whole(l, e->range, e->type, lower_all(l, e->as.call.args, e->as.call.count));
}

/* Opens a node and binds its fields; unused variables may be missing. */
static void open_node(Lower *l, CtSourceRange range, CtFlowArg node, uint32_t tag, CtVar *const *vars,
                      CtType *const *types, uint32_t count) {
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_OPEN, range);
    step->as.con.data = node.type->data;
    step->as.con.tag = tag;
    ct_flow_arg(&l->b, step, node);
    for (uint32_t i = 0; i < count; i++) {
        const CtFlowTypes *parts = ct_flow_types(l->b.flow, types[i]);
        CtFlowArgs values = {0};
        for (uint32_t j = 0; j < parts->count; j++) {
            if (vars[i] == NULL)
                ct_push(l->b.arena, &step->results, NULL);
            else
                ct_push(l->b.arena, &values, ct_flow_result(&l->b, step, vars[i]->name->text, parts->items[j]));
        }
        ct_flow_lower_bind(l, vars[i], values);
    }
}

/* Binds the parts of a tuple or record. */
static void open_parts(Lower *l, CtSourceRange range, CtType *whole, CtFlowArgs values, CtVar *const *vars) {
    CtType *const *parts = whole->kind == TYPE_TUPLE ? whole->parts : whole->data->cons[0].fields;
    uint32_t count = whole->kind == TYPE_TUPLE ? whole->count : whole->data->cons[0].count;
    if (ct_flow_parts(l->b.flow, whole, &parts, &count))
        bind_parts(l, vars, parts, count, &values);
    else if (count > 0)
        open_node(l, range, values.items[0], 0, vars, parts, count);
}

static CtFlowArgs lower_proj(Lower *l, CtCore *e) {
    CtType *tuple = e->as.proj.tuple->type, *const * parts;
    CtFlowArgs values = ct_flow_lower(l, e->as.proj.tuple);
    uint32_t count, index = e->as.proj.index;
    if (ct_flow_parts(l->b.flow, tuple, &parts, &count))
        return ct_flow_slice(&values, ct_flow_offset(l->b.flow, parts, index),
                             ct_flow_types(l->b.flow, parts[index])->count);
    CtVar **vars = CT_NEW_ARRAY(l->b.arena, CtVar *, tuple->count);
    vars[index] = ct_core_var_new(l->p, "part", tuple->parts[index]);
    open_node(l, e->range, values.items[0], 0, vars, tuple->parts, tuple->count);
    return ct_flow_lower_binding(l, vars[index])->values;
}

/* ---- branches ---- */

CtFlowStep *ct_flow_lower_switch(Lower *l, CtSourceRange range, CtFlowArg on) {
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_SWITCH, range);
    ct_flow_arg(&l->b, step, on);
    return step;
}

static void add_branch(Lower *l, CtFlowStep *step, uint32_t tag, CtFlowBlock *block) {
    CtFlowBranch *branches = CT_NEW_ARRAY(l->b.arena, CtFlowBranch, step->as.cases.count + 1);
    if (step->as.cases.count > 0) memcpy(branches, step->as.cases.branches, step->as.cases.count * sizeof *branches);
    branches[step->as.cases.count++] = (CtFlowBranch){tag, block};
    step->as.cases.branches = branches;
}

static void lower_branch_body(Lower *l, CtCore *body, bool tail) {
    if (tail) {
        ct_flow_lower_tail(l, body);
        return;
    }
    CtFlowArgs values = ct_flow_lower(l, body);
    ct_flow_leave(&l->b, EXIT_YIELD, body->range, &values, NULL);
}

static void lower_branch(Lower *l, CtFlowStep *step, const CtCore *e, CtFlowArg on, const CtCase *branch, bool tail) {
    CtFlowBlock *outer = l->b.block, *inner = ct_flow_block(&l->b);
    l->b.block = inner;
    if (branch != NULL && on.type->kind == FLOW_NODE)
        open_node(l, e->range, on, branch->con->tag, branch->vars, branch->con->fields, branch->con->count);
    lower_branch_body(l, branch != NULL ? branch->body : e->as.cases.otherwise, tail);
    l->b.block = outer;
    add_branch(l, step, branch != NULL ? branch->con->tag : FLOW_OTHERS, inner);
}

static CtFlowArgs lower_case(Lower *l, CtCore *e, bool tail) {
    CtCore *scrutinee = e->as.cases.scrutinee;
    CtType *const *parts;
    uint32_t count;
    CtFlowArgs values = ct_flow_lower(l, scrutinee), results = {0};
    if (ct_flow_parts(l->b.flow, scrutinee->type, &parts, &count)) {
        CtCore *body = e->as.cases.count > 0 ? e->as.cases.cases[0].body : e->as.cases.otherwise;
        if (e->as.cases.count > 0) bind_parts(l, e->as.cases.cases[0].vars, parts, count, &values);
        if (!tail) return ct_flow_lower(l, body);
        ct_flow_lower_tail(l, body);
        return results;
    }
    CtFlowArg on = values.items[0];
    CtFlowStep *step = ct_flow_lower_switch(l, e->range, on);
    for (uint32_t i = 0; i < e->as.cases.count; i++) lower_branch(l, step, e, on, &e->as.cases.cases[i], tail);
    if (e->as.cases.otherwise != NULL) lower_branch(l, step, e, on, NULL, tail);
    bool goes_on = false;
    for (uint32_t i = 0; i < step->as.cases.count; i++) goes_on |= step->as.cases.branches[i].block->exit == EXIT_YIELD;
    const CtFlowTypes *types = ct_flow_types(l->b.flow, e->type);
    if (!goes_on) {
        ct_flow_leave(&l->b, EXIT_NEVER, e->range, NULL, NULL);
        return ct_flow_nothing(&l->b, types);
    }
    for (uint32_t i = 0; i < types->count; i++)
        ct_push(l->b.arena, &results, ct_flow_result(&l->b, step, NULL, types->items[i]));
    return results;
}

/* ---- primitives and failures ---- */

static CtFlowArgs lower_prim(Lower *l, CtCore *e) {
    if (e->as.call.of.prim == PRIM_TRACE) l->b.flow->tells_messages = true;
    CtFlowArgs args = lower_all(l, e->as.call.args, e->as.call.count);
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_PRIM, e->range);
    step->as.prim = e->as.call.of.prim;
    step->args = args;
    return one(l, ct_flow_result(&l->b, step, NULL, ct_flow_types(l->b.flow, e->type)->items[0]));
}

static CtFlowArgs lower_fail(Lower *l, CtCore *e) {
    CtFlowArgs message = {0};
    if (e->as.fail.text == NULL) message = ct_flow_lower(l, e->as.fail.message);
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_FAIL, e->range);
    step->as.fail.code = e->as.fail.code;
    step->as.fail.text = e->as.fail.text;
    step->args = message;
    ct_flow_leave(&l->b, EXIT_NEVER, e->range, NULL, NULL);
    return ct_flow_nothing(&l->b, ct_flow_types(l->b.flow, e->type));
}

/* ---- terms ---- */

static bool is_constant_function(const CtCore *e) {
    return e->kind == CORE_GLOBAL && e->as.global->body != NULL && e->as.global->body->kind == CORE_LAM;
}

/* Lowers the bindings around a body; returns the body. */
static CtCore *lower_bindings(Lower *l, CtCore *e) {
    for (;; e = e->kind == CORE_LETREC ? e->as.letrec.body : e->as.let.body) {
        if (e->kind == CORE_LETREC) {
            ct_flow_lower_group(l, e);
        } else if (e->kind == CORE_LET) {
            Callable *known = ct_flow_lower_callable(l, e->as.let.rhs);
            if (known != NULL)
                ct_flow_lower_let_function(l, e->as.let.vars[0], known);
            else
                ct_flow_lower_bind(l, e->as.let.vars[0], ct_flow_lower(l, e->as.let.rhs));
        } else if (e->kind == CORE_UNPACK) {
            CtFlowArgs values = ct_flow_lower(l, e->as.let.rhs);
            open_parts(l, e->range, e->as.let.rhs->type, values, e->as.let.vars);
        } else {
            return e;
        }
    }
}

static CtFlowArgs lower_term(Lower *l, CtCore *e) {
    e = lower_bindings(l, e);
    switch (e->kind) {
    case CORE_VAR: {
        Binding *binding = ct_flow_lower_binding(l, e->as.var);
        return binding->known != NULL ? ct_flow_lower_closure(l, e) : binding->values;
    }
    case CORE_GLOBAL: return is_constant_function(e) ? ct_flow_lower_closure(l, e) : ct_flow_lower_constant(l, e);
    case CORE_LAM: return ct_flow_lower_closure(l, e);
    case CORE_LIT: return lower_literal(l, e);
    case CORE_STRING: return lower_string(l, e);
    case CORE_APP: return ct_flow_lower_app(l, e, false);
    case CORE_TUPLE: return lower_tuple(l, e);
    case CORE_PROJ: return lower_proj(l, e);
    case CORE_CON: return lower_con(l, e);
    case CORE_CASE: return lower_case(l, e, false);
    case CORE_PRIM: return lower_prim(l, e);
    case CORE_ARRAY: return ct_flow_lower_array(l, e);
    case CORE_ARRAY_LIT: return ct_flow_lower_array_literal(l, e);
    case CORE_DERIV: return ct_flow_lower_deriv(l, e);
    case CORE_DUAL: return ct_flow_lower_dual(l, e);
    case CORE_FAIL: return lower_fail(l, e);
    case CORE_LET:
    case CORE_LETREC:
    case CORE_UNPACK: break; /* handled above */
    }
    ct_flow_lower_refuse(l, "a term of no known form");
}

CtFlowArgs ct_flow_lower(Lower *l, CtCore *e) {
    if (++l->depth > DEEPEST) ct_flow_lower_refuse(l, "an expression is nested too deeply");
    CtFlowArgs values = lower_term(l, e);
    l->depth--;
    return values;
}

CtFlowArg ct_flow_lower_one(Lower *l, CtCore *e) { return ct_flow_lower(l, e).items[0]; }

void ct_flow_lower_tail(Lower *l, CtCore *e) {
    if (++l->depth > DEEPEST) ct_flow_lower_refuse(l, "an expression is nested too deeply");
    e = lower_bindings(l, e);
    if (e->kind == CORE_CASE) {
        lower_case(l, e, true);
    } else if (e->kind == CORE_APP) {
        ct_flow_lower_app(l, e, true);
    } else {
        CtFlowArgs values = ct_flow_lower(l, e);
        ct_flow_leave(&l->b, EXIT_RETURN, e->range, &values, NULL);
    }
    l->depth--;
}

/* ---- programs ---- */

static void lower_entry(Lower *l, CtGlobal *entry) {
    CtFlow *flow = l->b.flow;
    flow->entry = ct_flow_function(flow, "entry", entry->range);
    ct_push(l->b.arena, &l->pending, (Pending){.function = flow->entry, .entry = entry});
    ct_flow_lower_pending(l);
}

CtFlow *ct_flow_make(CtProgram *program, CtAd *ad, CtGlobal *entry) {
    CtArena *arena = program->context->arena;
    CtFlow *flow = CT_NEW(arena, CtFlow);
    flow->core = program;
    flow->arena = arena;
    Lower *l = CT_NEW(arena, Lower);
    l->b.flow = flow;
    l->p = program;
    l->ad = ad;
    l->bytes = ct_arena_bytes(arena);
    l->b.arena = arena;
    ct_push(arena, &flow->sites, CT_NO_RANGE);
    if (setjmp(l->refused) == 0) lower_entry(l, entry);
    return flow;
}
