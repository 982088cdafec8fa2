/* Code for functions: closures, groups, calls, constants, transformed functions. */
#include "eval/compile.h"

static void add_operands(Compile *c, const Operand *ops, uint32_t count) {
    ct_eval_add_word(c, count);
    for (uint32_t i = 0; i < count; i++) ct_eval_add_word(c, ops[i].slot);
}

/* ---- closures ---- */

static uint32_t emit_captures(Compile *c, CtCode *code, uint32_t want, CtSourceRange range) {
    CtLam *lam = code->lam;
    uint32_t count = lam->capture_count;
    Operand *ops = CT_NEW_ARRAY(c->arena, Operand, count + 1);
    for (uint32_t i = 0; i < count; i++) ct_eval_operand_var(c, lam->captures[i], range, true, &ops[i]);
    if (ct_eval_code_layout(c->m, code) == NULL) c->heap_full = true;
    uint32_t dest = ct_eval_result_slot(c, want, ops, count);
    uint32_t start = ct_eval_begin(c, OP_CLOSURE, range);
    ct_eval_add_word(c, dest);
    add_pointer(c, code);
    add_operands(c, ops, count);
    return ct_eval_finish(c, start, dest, want, true, ops, count);
}

static uint32_t emit_static_closure(Compile *c, CtCode *code, uint32_t want, CtSourceRange range) {
    CtClosure *closure = ct_eval_code_closure(c->m, code);
    if (closure == NULL) c->heap_full = true;
    uint32_t dest = want == NO_SLOT ? ct_eval_slot_new(c) : want;
    ct_eval_begin(c, OP_CONST, range);
    ct_eval_add_word(c, dest);
    add_pointer(c, closure);
    ct_eval_own(c, dest);
    return dest;
}

uint32_t ct_eval_emit_closure(Compile *c, CtCore *e, uint32_t want) {
    CtCode *code = ct_eval_code_of_lam(c->m, e->as.lam);
    ct_eval_count_steps(c, 1);
    if (code->lam->capture_count == 0) return emit_static_closure(c, code, want, e->range);
    return emit_captures(c, code, want, e->range);
}

void ct_eval_emit_group_env(Compile *c, CtCore *letrec) {
    Local *first = ct_eval_compile_local(c, letrec->as.letrec.binds[0].var);
    ct_eval_count_steps(c, 1);
    if (first->env == NULL) return;
    first->env->slot = emit_captures(c, first->env->code, NO_SLOT, letrec->range);
    if (!ct_eval_next_entry(c)) ct_eval_drop_local(c, first->env);
}

/* The environment of a group as an operand, moved at its last use. */
static Operand env_operand(Compile *c, Local *env, bool take) {
    bool last = ct_eval_next_last(c, env);
    Operand op = {.slot = env->slot, .is_pointer = true, .local = env, .taken = take};
    op.free_slot = last && take;
    op.drop_after = last && !take;
    if (take && !last) {
        ct_eval_begin(c, OP_RETAIN, CT_NO_RANGE);
        ct_eval_add_word(c, env->slot);
        ct_eval_own(c, env->slot);
    }
    return op;
}

uint32_t ct_eval_emit_group_value(Compile *c, Local *local, CtSourceRange range, uint32_t want) {
    CtCode *code = local->code;
    if (code->lam->capture_count == 0) return emit_static_closure(c, code, want, range);
    if (ct_eval_code_layout(c->m, code) == NULL) c->heap_full = true;
    if (local->kind == LOCAL_SIBLING) {
        uint32_t dest = want == NO_SLOT ? ct_eval_slot_new(c) : want;
        ct_eval_begin(c, OP_CLOSURE_SIBLING, range);
        ct_eval_add_word(c, dest);
        add_pointer(c, code);
        ct_eval_own(c, dest);
        return dest;
    }
    bool is_env = local->env->code == code;
    Operand env = env_operand(c, local->env, is_env);
    if (is_env && env.free_slot && (want == NO_SLOT || want == env.slot)) return env.slot;
    uint32_t dest = ct_eval_result_slot(c, want, &env, 1);
    uint32_t start = ct_eval_begin(c, is_env ? OP_MOVE : OP_CLOSURE_ENV, range);
    ct_eval_add_word(c, dest);
    if (!is_env) add_pointer(c, code);
    ct_eval_add_word(c, env.slot);
    return ct_eval_finish(c, start, dest, want, true, &env, 1);
}

/* ---- calls ---- */

static void add_frame(Compile *c, uint32_t top, uint32_t dest) {
    ct_eval_add_word(c, top + FRAME_HEADER);
    ct_eval_add_word(c, dest);
}

static void note_out(Compile *c, uint32_t count) {
    if (count > c->most_out) c->most_out = count;
}

typedef struct Callee {
    CtCode *code;    /* known, or NULL */
    bool is_sibling; /* in this frame's environment */
    bool has_fun;    /* ops[0] is a closure, or the environment of a known code */
} Callee;

/* The place of a tail call of a known function from the user's source, since it leaves no frame that tells it.
 * Otherwise NULL. */
static const CtSourceRange *call_site(const Compile *c, CtSourceRange range) {
    const CtContext *context = c->m->program->context;
    if (range.source == 0 || context->sources.items[range.source].is_library) return NULL;
    CtSourceRange *site = CT_NEW(c->arena, CtSourceRange);
    *site = range;
    return site;
}

/* ops[0] is the closure or environment, if there is one; the arguments follow. */
static uint32_t emit_call_of(Compile *c, CtSourceRange range, Callee callee, Operand *ops, uint32_t count,
                             uint32_t want, bool is_pointer, bool tail) {
    const Operand *args = callee.has_fun ? ops + 1 : ops;
    uint32_t all = callee.has_fun ? count + 1 : count;
    Op op = callee.code == NULL ? (tail ? OP_TAIL_CLOSURE : OP_CALL_CLOSURE)
            : callee.has_fun    ? (tail ? OP_TAIL_ENV : OP_CALL_ENV)
            : callee.is_sibling ? (tail ? OP_TAIL_SIBLING : OP_CALL_SIBLING)
                                : (tail ? OP_TAIL : OP_CALL);
    uint32_t top = ct_eval_slot_top(c);
    note_out(c, count);
    uint32_t dest = tail ? NO_SLOT : ct_eval_result_slot(c, want, ops, all);
    uint32_t start = ct_eval_begin(c, op, range);
    if (callee.code != NULL) add_pointer(c, callee.code);
    if (callee.has_fun) ct_eval_add_word(c, ops[0].slot);
    if (tail && callee.code != NULL) add_pointer(c, call_site(c, range));
    add_operands(c, args, count);
    if (!tail) {
        add_frame(c, top, dest);
        return ct_eval_finish(c, start, dest, want, is_pointer, ops, all);
    }
    for (uint32_t i = 0; i < all; i++)
        if (ops[i].taken) ct_eval_event(c, start + 1, EVENT_DISOWN, ops[i].slot);
    return NO_SLOT;
}

uint32_t ct_eval_emit_call(Compile *c, CtSourceRange range, CtCode *code, const Operand *fun, const Operand *args,
                           uint32_t count, uint32_t want, bool is_pointer) {
    Operand *ops = CT_NEW_ARRAY(c->arena, Operand, count + 1);
    uint32_t used = 0;
    if (fun != NULL) ops[used++] = *fun;
    for (uint32_t i = 0; i < count; i++) ops[used++] = args[i];
    return emit_call_of(c, range, (Callee){code, false, fun != NULL}, ops, count, want, is_pointer, false);
}

/* The callee of an application of a variable, and its operand. */
static Callee callee_var(Compile *c, CtCore *fun, Operand *out) {
    Local *local = ct_eval_compile_local(c, fun->as.var);
    if (local->kind == LOCAL_GROUP) {
        if (local->env == NULL) return (Callee){local->code, false, false};
        *out = env_operand(c, local->env, true);
        return (Callee){local->code, false, true};
    }
    if (local->kind == LOCAL_SIBLING) return (Callee){local->code, local->code->lam->capture_count > 0, false};
    ct_eval_operand_var(c, fun->as.var, fun->range, true, out);
    return (Callee){NULL, false, true};
}

uint32_t ct_eval_emit_app(Compile *c, CtCore *e, uint32_t want, bool tail) {
    CtCore *fun = e->as.call.of.fun, **args = e->as.call.args;
    uint32_t count = e->as.call.count;
    Operand *all = CT_NEW_ARRAY(c->arena, Operand, count + 1), *ops = all + 1;
    Callee callee = {NULL, false, true};
    if (is_global_function(fun)) {
        callee = (Callee){ct_eval_code_of_global(c->m, fun->as.global), false, false};
    } else if (!is_var(fun)) {
        ct_eval_operand_value(c, fun, true, false, &all[0]);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!is_var(args[i])) ct_eval_operand_value(c, args[i], true, false, &ops[i]);
    if (is_var(fun)) callee = callee_var(c, fun, &all[0]);
    for (uint32_t i = 0; i < count; i++)
        if (is_var(args[i])) ct_eval_operand_var(c, args[i]->as.var, args[i]->range, true, &ops[i]);
    ct_eval_count_steps(c, 1);
    ct_eval_term_begin(c, e);
    return emit_call_of(c, e->range, callee, callee.has_fun ? all : ops, count, want, ct_value_type_is_pointer(e->type),
                        tail);
}

uint32_t ct_eval_emit_attempt(Compile *c, CtCore *e, uint32_t want) {
    Operand ops[3], both[2];
    ct_eval_operands(c, e->as.call.args, 3, true, false, ops);
    ct_eval_count_steps(c, 1);
    uint32_t result = ct_eval_emit_call(c, e->range, NULL, &ops[0], &ops[1], 1, NO_SLOT, true);
    both[0] = ct_eval_operand_slot(result, true, true);
    both[1] = ops[2];
    uint32_t dest = ct_eval_result_slot(c, want, both, 2);
    uint32_t start = ct_eval_begin(c, OP_ATTEMPTED, e->range);
    ct_eval_add_word(c, dest);
    for (uint32_t i = 0; i < 2; i++) ct_eval_add_word(c, both[i].slot);
    return ct_eval_finish(c, start, dest, want, true, both, 2);
}

/* ---- lazy programs ---- */

uint32_t ct_eval_emit_delay(Compile *c, CtCore *e, uint32_t want) {
    Operand function;
    const CtLayout *layout = ct_value_layout_con(c->m->heap, &e->type->data->cons[CELL_DELAYED]);
    if (layout == NULL) c->heap_full = true;
    ct_eval_operands(c, e->as.call.args, 1, true, false, &function);
    ct_eval_count_steps(c, 1);
    uint32_t dest = ct_eval_result_slot(c, want, &function, 1);
    uint32_t start = ct_eval_begin(c, OP_FIELDS, e->range);
    ct_eval_add_word(c, dest);
    add_pointer(c, layout);
    ct_eval_add_word(c, CELL_DELAYED);
    add_operands(c, &function, 1);
    return ct_eval_finish(c, start, dest, want, true, &function, 1);
}

/* The cell is owned until its value is there. */
uint32_t ct_eval_emit_force(Compile *c, CtCore *e, uint32_t want) {
    Operand cell;
    const CtLayout *layout = ct_value_layout_con(c->m->heap, &e->as.call.args[0]->type->data->cons[CELL_KNOWN]);
    if (layout == NULL) c->heap_full = true;
    ct_eval_operands(c, e->as.call.args, 1, true, false, &cell);
    ct_eval_count_steps(c, 1);
    uint32_t dest = want != NO_SLOT && want != cell.slot ? want : ct_eval_slot_new(c);
    uint32_t top = ct_eval_slot_top(c);
    ct_eval_result_slot(c, dest, &cell, 1);
    note_out(c, 0);
    ct_eval_begin(c, OP_FORCE, e->range);
    ct_eval_add_word(c, cell.slot);
    add_frame(c, top, dest);
    uint32_t start = ct_eval_begin(c, OP_FORCED, e->range);
    ct_eval_add_word(c, dest);
    ct_eval_add_word(c, cell.slot);
    add_pointer(c, layout);
    return ct_eval_finish(c, start, dest, want, ct_value_type_is_pointer(e->type), &cell, 1);
}

/* The cells are there before what makes their functions is called. */
uint32_t ct_eval_emit_knot(Compile *c, CtCore *e, uint32_t want) {
    Operand maker;
    CtType *tuple = e->type;
    const CtLayout *layout = ct_value_layout_tuple(c->m->heap, tuple);
    const CtLayout *cell = ct_value_layout_con(c->m->heap, &tuple->parts[0]->data->cons[CELL_DELAYED]);
    if (layout == NULL || cell == NULL) c->heap_full = true;
    ct_eval_operands(c, e->as.call.args, 1, true, false, &maker);
    ct_eval_count_steps(c, 1);
    uint32_t cells = ct_eval_slot_new(c);
    ct_eval_begin(c, OP_HOLES, e->range);
    ct_eval_add_word(c, cells);
    add_pointer(c, layout);
    add_pointer(c, cell);
    ct_eval_add_word(c, tuple->count);
    ct_eval_own(c, cells);
    ct_eval_begin(c, OP_RETAIN, CT_NO_RANGE);
    ct_eval_add_word(c, cells);
    ct_eval_own(c, cells);
    Operand given = {.slot = cells, .is_pointer = true, .taken = true};
    uint32_t made = ct_eval_emit_call(c, e->range, NULL, &maker, &given, 1, NO_SLOT, true);
    Operand both[2] = {given, {.slot = made, .is_pointer = true, .taken = true}};
    uint32_t start = ct_eval_begin(c, OP_TIED, e->range);
    ct_eval_add_word(c, cells);
    ct_eval_add_word(c, made);
    ct_eval_slot_free(c, made);
    return ct_eval_finish(c, start, cells, want, true, both, 2);
}

/* A term that is nested too deeply: a call of its code, with the variables that it uses as environment. It counts no
 * steps of its own. */
uint32_t ct_eval_emit_outlined(Compile *c, CtCode *code, CtCore *e, uint32_t want, bool tail) {
    bool has_env = code->lam->capture_count > 0;
    Operand env = {.slot = 0};
    if (has_env) env = ct_eval_operand_slot(emit_captures(c, code, NO_SLOT, e->range), true, true);
    return emit_call_of(c, e->range, (Callee){code, false, has_env}, &env, 0, want, ct_value_type_is_pointer(e->type),
                        tail);
}

/* ---- constants and duals ---- */

uint32_t ct_eval_emit_constant(Compile *c, CtCore *e, uint32_t want) {
    CtCode *code = ct_eval_code_of_global(c->m, e->as.global);
    uint32_t top = ct_eval_slot_top(c);
    uint32_t dest = want == NO_SLOT ? ct_eval_slot_new(c) : want;
    uint32_t start = ct_eval_begin(c, OP_CONSTANT, e->range);
    add_pointer(c, code);
    add_frame(c, top, dest);
    return ct_eval_finish(c, start, dest, want, ct_value_type_is_pointer(e->type), NULL, 0);
}

uint32_t ct_eval_emit_dual(Compile *c, CtCore *e, uint32_t want) {
    uint32_t count = e->as.call.count;
    Operand *ops = CT_NEW_ARRAY(c->arena, Operand, count);
    ct_eval_operands(c, e->as.call.args, count, true, false, ops);
    ct_eval_count_steps(c, 1);
    uint32_t top = ct_eval_slot_top(c);
    uint32_t dest = ct_eval_result_slot(c, want, ops, count);
    uint32_t start = ct_eval_begin(c, OP_DUAL, e->range);
    add_pointer(c, e->as.call.of.dual);
    ct_eval_add_word(c, ops[0].slot);
    add_operands(c, ops + 1, count - 1);
    add_frame(c, top, dest);
    return ct_eval_finish(c, start, dest, want, true, ops, count);
}
