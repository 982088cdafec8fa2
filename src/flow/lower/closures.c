/* Closure conversion. A known function is called directly, with its captured variables as additional arguments. A
 * function that is used as a value becomes a closure, a node of its function type. */
#include "flow/lower/internal.h"

/* ---- known functions ---- */

static void add_capture(Lower *l, Callable *c, CtMap *seen, CtVar *var) {
    if (ct_map_has(seen, var->id)) return;
    ct_map_set(l->b.arena, seen, var->id, var);
    CtVar **more = CT_NEW_ARRAY(l->b.arena, CtVar *, c->capture_count + 1);
    if (c->capture_count > 0) memcpy(more, c->captures, c->capture_count * sizeof *more);
    more[c->capture_count++] = var;
    c->captures = more;
}

/* The variables that a λ captures; for known functions among them, what those capture. */
static void find_captures(Lower *l, Callable *c, const CtLam *lam) {
    CtMap seen = {0};
    for (uint32_t i = 0; i < lam->capture_count; i++) {
        CtVar *var = lam->captures[i];
        Callable *known = ct_flow_lower_binding(l, var)->known;
        if (known == NULL) {
            add_capture(l, c, &seen, var);
            continue;
        }
        ct_map_set(l->b.arena, &c->inherits, var->id, known);
        for (uint32_t j = 0; j < known->capture_count; j++) add_capture(l, c, &seen, known->captures[j]);
    }
}

static CtFlowTypes capture_types(Lower *l, const Callable *c) {
    CtFlowTypes types = {0};
    for (uint32_t i = 0; i < c->capture_count; i++)
        ct_flow_types_add(l->b.flow, &types, ct_flow_types(l->b.flow, c->captures[i]->type));
    return types;
}

static Callable *new_callable(Lower *l, CtLam *lam, const char *name) {
    Callable *c = CT_NEW(l->b.arena, Callable);
    c->lam = lam;
    c->function = ct_flow_function(l->b.flow, name, lam->node != NULL ? lam->node->range : CT_NO_RANGE);
    c->function->results = *ct_flow_types(l->b.flow, lam->body->type);
    ct_push(l->b.arena, &l->pending, (Pending){.function = c->function, .callable = c});
    return c;
}

static Callable *callable_of_lam(Lower *l, CtLam *lam) {
    Callable *c = ct_map_get(&l->lams, ct_key(lam));
    if (c != NULL) return c;
    ct_core_captures(l->p, lam);
    c = new_callable(l, lam, lam->name != NULL ? lam->name : "lambda");
    ct_map_set(l->b.arena, &l->lams, ct_key(lam), c);
    find_captures(l, c, lam);
    return c;
}

static Callable *callable_of_global(Lower *l, CtGlobal *global) {
    Callable *c = ct_map_get(&l->globals, ct_key(global));
    if (c != NULL) return c;
    c = new_callable(l, global->body->as.lam, global->name->text);
    c->function->range = global->range;
    ct_map_set(l->b.arena, &l->globals, ct_key(global), c);
    return c;
}

Callable *ct_flow_lower_callable(Lower *l, CtCore *e) {
    if (e->kind == CORE_LAM) return callable_of_lam(l, e->as.lam);
    if (e->kind == CORE_VAR) return ct_flow_lower_binding(l, e->as.var)->known;
    bool function = e->kind == CORE_GLOBAL && e->as.global->body != NULL && e->as.global->body->kind == CORE_LAM;
    return function ? callable_of_global(l, e->as.global) : NULL;
}

void ct_flow_lower_let_function(Lower *l, CtVar *var, Callable *known) {
    Binding *binding = CT_NEW(l->b.arena, Binding);
    binding->known = known;
    ct_map_set(l->b.arena, l->env, var->id, binding);
}

/* The functions of a recursive group capture the same variables, and each other. */
void ct_flow_lower_group(Lower *l, CtCore *letrec) {
    uint32_t count = letrec->as.letrec.count;
    Callable **all = CT_NEW_ARRAY(l->b.arena, Callable *, count);
    for (uint32_t i = 0; i < count; i++) {
        CtLam *lam = letrec->as.letrec.binds[i].lam->as.lam;
        ct_core_captures(l->p, lam);
        all[i] = new_callable(l, lam, letrec->as.letrec.binds[i].var->name->text);
        ct_map_set(l->b.arena, &l->lams, ct_key(lam), all[i]);
    }
    for (uint32_t i = 0; i < count; i++) find_captures(l, all[i], letrec->as.letrec.binds[i].lam->as.lam);
    for (uint32_t i = 0; i < count; i++) {
        CtVar *var = letrec->as.letrec.binds[i].var;
        for (uint32_t j = 0; j < count; j++) ct_map_set(l->b.arena, &all[j]->inherits, var->id, all[i]);
        ct_flow_lower_let_function(l, var, all[i]);
    }
}

/* ---- calls ---- */

CtFlowArgs ct_flow_lower_call(Lower *l, CtSourceRange range, CtFlowFunction *function, const CtFlowArgs *args,
                              bool tail) {
    CtFlowArgs results = {0};
    if (tail) {
        ct_flow_leave(&l->b, EXIT_TAIL, range, args, function);
        return results;
    }
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_CALL, range);
    step->as.function = function;
    step->args = *args;
    for (uint32_t i = 0; i < function->results.count; i++)
        ct_push(l->b.arena, &results, ct_flow_result(&l->b, step, NULL, function->results.items[i]));
    return results;
}

CtFlowArgs ct_flow_lower_captured(Lower *l, const Callable *c) {
    CtFlowArgs values = {0};
    for (uint32_t i = 0; i < c->capture_count; i++)
        ct_flow_args_add(&l->b, &values, &ct_flow_lower_binding(l, c->captures[i])->values);
    return values;
}

CtFlowArgs ct_flow_lower_call_known(Lower *l, CtSourceRange range, Callable *known, const CtFlowArgs *args, bool tail) {
    CtFlowArgs all = ct_flow_lower_captured(l, known);
    ct_flow_args_add(&l->b, &all, args);
    return ct_flow_lower_call(l, range, known->function, &all, tail);
}

CtFlowArgs ct_flow_lower_apply(Lower *l, CtSourceRange range, CtFlowArg closure, const CtFlowArgs *args, bool tail) {
    CtFlowArgs all = {0};
    const Pullback *pullback = closure.var != NULL ? ct_map_get(&l->pullbacks, ct_key(closure.var)) : NULL;
    CtFlowFunction *function =
        pullback != NULL ? pullback->derived->pullback : ct_flow_lower_apply_of(l, closure.type->data);
    ct_push(l->b.arena, &all, pullback != NULL ? pullback->residual : closure);
    ct_flow_args_add(&l->b, &all, args);
    return ct_flow_lower_call(l, range, function, &all, tail);
}

CtFlowArgs ct_flow_lower_app(Lower *l, CtCore *e, bool tail) {
    CtCore *fun = e->as.call.of.fun;
    Callable *known = ct_flow_lower_callable(l, fun);
    CtFlowArgs closure = {0}, args = {0};
    if (known == NULL) closure = ct_flow_lower(l, fun);
    for (uint32_t i = 0; i < e->as.call.count; i++) {
        CtFlowArgs values = ct_flow_lower(l, e->as.call.args[i]);
        ct_flow_args_add(&l->b, &args, &values);
    }
    if (known != NULL) return ct_flow_lower_call_known(l, e->range, known, &args, tail);
    /* On the evaluator, too, such a tail call leaves no place: that of `m >>= k` says nothing of what k does. */
    return ct_flow_lower_apply(l, tail ? CT_NO_RANGE : e->range, closure.items[0], &args, tail);
}

/* ---- functions as values ---- */

/* The constructor of a known function among the closures of its type. */
static uint32_t member_tag(Lower *l, CtFlowData *data, Callable *c) {
    uintptr_t known = (uintptr_t)ct_map_get(&c->tags, ct_key(data));
    if (known != 0) return (uint32_t)known - 1;
    CtFlowTypes fields = capture_types(l, c);
    uint32_t tag = ct_flow_con_add(l->b.flow, data, c->function->name, &fields);
    ct_push(l->b.arena, &l->members, (Member){data, c, tag});
    ct_map_set(l->b.arena, &c->tags, ct_key(data), (void *)(uintptr_t)(tag + 1)); // NOLINT
    return tag;
}

CtFlowArgs ct_flow_lower_closure(Lower *l, CtCore *e) {
    Callable *c = ct_flow_lower_callable(l, e);
    const CtFlowType *node = ct_flow_node(l->b.flow, e->type);
    uint32_t tag = member_tag(l, node->data, c);
    CtFlowArgs fields = ct_flow_lower_captured(l, c), results = {0};
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_MAKE, e->range);
    step->as.con.data = node->data;
    step->as.con.tag = tag;
    step->args = fields;
    ct_push(l->b.arena, &results, ct_flow_result(&l->b, step, c->function->name, node));
    return results;
}

/* ---- constants ---- */

static CtFlowConstant *constant_of(Lower *l, CtGlobal *global) {
    CtFlowConstant *constant = ct_map_get(&l->constants, ct_key(global));
    if (constant != NULL) return constant;
    if (global->body == NULL) ct_flow_lower_refuse(l, "a constant without a value");
    constant = CT_NEW(l->b.arena, CtFlowConstant);
    ct_map_set(l->b.arena, &l->constants, ct_key(global), constant);
    constant->name = global->name->text;
    constant->id = l->b.flow->constants.count;
    constant->function = ct_flow_function(l->b.flow, global->name->text, global->range);
    constant->function->results = *ct_flow_types(l->b.flow, global->type);
    constant->word = l->b.flow->constant_words;
    l->b.flow->constant_words += 1 + constant->function->results.count;
    ct_push(l->b.arena, &l->b.flow->constants, constant);
    ct_push(l->b.arena, &l->pending, (Pending){.function = constant->function, .body = global->body});
    return constant;
}

CtFlowArgs ct_flow_lower_constant(Lower *l, CtCore *e) {
    CtFlowConstant *constant = constant_of(l, e->as.global);
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_CONSTANT, e->range);
    CtFlowArgs results = {0};
    step->as.constant = constant;
    for (uint32_t i = 0; i < constant->function->results.count; i++)
        ct_push(l->b.arena, &results,
                ct_flow_result(&l->b, step, constant->name, constant->function->results.items[i]));
    return results;
}

/* ---- bodies ---- */

/* Arrays made from one array of tuples have the same length. */
static void mark_alike(Lower *l, const CtType *type, const CtFlowArgs *args) {
    CtType *const *parts;
    uint32_t count;
    if (ct_flow_parts(l->b.flow, type, &parts, &count)) {
        for (uint32_t i = 0; i < count; i++) {
            CtFlowArgs of_part =
                ct_flow_slice(args, ct_flow_offset(l->b.flow, parts, i), ct_flow_types(l->b.flow, parts[i])->count);
            mark_alike(l, parts[i], &of_part);
        }
    } else if (type->kind == TYPE_ARRAY) {
        for (uint32_t i = 1; i < args->count; i++) args->items[i].var->like = args->items[0].var;
    }
}

static CtFlowArgs params_of(Lower *l, const char *name, const CtType *type) {
    CtFlowArgs args = ct_flow_params(&l->b, &l->b.function->params, name, ct_flow_types(l->b.flow, type));
    mark_alike(l, type, &args);
    return args;
}

static void lower_callable_body(Lower *l, const Callable *c) {
    for (uint32_t i = 0; i < c->capture_count; i++) {
        CtVar *var = c->captures[i];
        ct_flow_lower_bind(l, var, params_of(l, var->name->text, var->type));
    }
    for (uint32_t i = 0; i < c->inherits.count; i++) {
        Binding *binding = CT_NEW(l->b.arena, Binding);
        binding->known = c->inherits.entries[i].value;
        ct_map_set(l->b.arena, l->env, c->inherits.entries[i].key, binding);
    }
    for (uint32_t i = 0; i < c->lam->count; i++) {
        CtVar *var = c->lam->params[i];
        ct_flow_lower_bind(l, var, params_of(l, var->name->text, var->type));
    }
    ct_flow_lower_tail(l, c->lam->body);
}

static void lower_entry_body(Lower *l, CtGlobal *entry) {
    CtType *type = entry->type;
    CtCore *term = ct_core_global(l->p, entry->range, entry);
    if (type->kind != TYPE_FUN) {
        ct_flow_lower_tail(l, term);
        return;
    }
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i + 1 < type->count; i++) {
        CtFlowArgs more = params_of(l, "input", type->parts[i]);
        ct_flow_args_add(&l->b, &args, &more);
    }
    Callable *known = ct_flow_lower_callable(l, term);
    if (known != NULL)
        ct_flow_lower_call_known(l, entry->range, known, &args, true);
    else
        ct_flow_lower_apply(l, entry->range, ct_flow_lower(l, term).items[0], &args, true);
}

/* The body of a constant has no tail calls, because its value is stored when it returns. */
static void lower_constant_body(Lower *l, CtCore *body) {
    CtFlowArgs values = ct_flow_lower(l, body);
    ct_flow_leave(&l->b, EXIT_RETURN, body->range, &values, NULL);
}

static void lower_function(Lower *l, const Pending *pending) {
    CtMap env = {0};
    l->b.function = pending->function;
    l->b.block = l->b.function->body = ct_flow_block(&l->b);
    l->env = &env;
    l->depth = 0;
    if (pending->callable != NULL) {
        lower_callable_body(l, pending->callable);
    } else if (pending->entry != NULL) {
        CtType *type = pending->entry->type;
        l->b.function->results =
            *ct_flow_types(l->b.flow, type->kind == TYPE_FUN ? ct_core_type_fun_result(type) : type);
        lower_entry_body(l, pending->entry);
    } else {
        lower_constant_body(l, pending->body);
    }
}

void ct_flow_lower_pending(Lower *l) {
    uint32_t done = 0;
    do {
        while (done < l->pending.count) {
            Pending pending = l->pending.items[done++];
            lower_function(l, &pending);
        }
    } while (ct_flow_lower_duals(l) || done < l->pending.count);
    ct_flow_lower_applies(l);
}
