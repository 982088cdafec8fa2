/* The third pass of the compiler: writes the instructions of a λ. */
#include "eval/compile.h"

static uint32_t place(Compile *c, uint32_t want) { return want == NO_SLOT ? ct_eval_slot_new(c) : want; }

static void emit_return(Compile *c, uint32_t slot, bool is_pointer, CtSourceRange range) {
    bool has_env = c->code->lam->capture_count > 0;
    uint32_t start = ct_eval_begin(c, has_env ? OP_RETURN_ENV : OP_RETURN, range);
    ct_eval_add_word(c, slot);
    if (is_pointer) ct_eval_event(c, start + 1, EVENT_DISOWN, slot);
    ct_eval_slot_free(c, slot);
}

static uint32_t emit_object(Compile *c, CtObject *object, bool is_new, uint32_t want, CtSourceRange range) {
    if (object == NULL) {
        c->heap_full = true;
    } else if (is_new) {
        ct_eval_hold(c, object);
    }
    uint32_t dest = place(c, want);
    ct_eval_begin(c, OP_CONST, range);
    ct_eval_add_word(c, dest);
    add_pointer(c, object);
    ct_eval_own(c, dest);
    return dest;
}

static uint32_t emit_number(Compile *c, int64_t number, uint32_t want, CtSourceRange range) {
    uint32_t dest = place(c, want);
    ct_eval_begin(c, OP_LIT, range);
    ct_eval_add_word(c, dest);
    ct_eval_add_word64(c, (uint64_t)number);
    return dest;
}

static uint32_t move_to(Compile *c, uint32_t dest, uint32_t from, bool is_pointer) {
    uint32_t start = ct_eval_begin(c, OP_MOVE, CT_NO_RANGE);
    ct_eval_add_word(c, dest);
    ct_eval_add_word(c, from);
    if (is_pointer) {
        ct_eval_event(c, start + 1, EVENT_DISOWN, from);
        ct_eval_own(c, dest);
    }
    return dest;
}

/* An owned copy of a variable; at its last use, the variable's own slot. */
static uint32_t emit_var(Compile *c, CtCore *e, uint32_t want) {
    Operand op;
    ct_eval_operand_var(c, e->as.var, e->range, true, &op);
    bool own_slot = op.free_slot && (op.local == NULL || op.local->kind == LOCAL_SLOT);
    if (own_slot && (want == NO_SLOT || want == op.slot)) return op.slot;
    uint32_t dest = ct_eval_result_slot(c, want, &op, 1);
    if (dest != op.slot) move_to(c, dest, op.slot, op.is_pointer);
    return dest;
}

static uint32_t emit_global(Compile *c, CtCore *e, uint32_t want) {
    if (!is_global_function(e)) return ct_eval_emit_constant(c, e, want);
    CtClosure *closure = ct_eval_code_closure(c->m, ct_eval_code_of_global(c->m, e->as.global));
    return emit_object(c, closure == NULL ? NULL : &closure->head, false, want, e->range);
}

static uint32_t emit_fields(Compile *c, CtCore *e, const CtLayout *layout, uint32_t tag, uint32_t want) {
    uint32_t count = e->as.call.count;
    Operand *ops = CT_NEW_ARRAY(c->arena, Operand, count);
    ct_eval_operands(c, e->as.call.args, count, true, false, ops);
    ct_eval_count_steps(c, 1);
    uint32_t dest = ct_eval_result_slot(c, want, ops, count);
    uint32_t start = ct_eval_begin(c, count == 2 ? OP_FIELDS2 : OP_FIELDS, e->range);
    ct_eval_add_word(c, dest);
    add_pointer(c, layout);
    ct_eval_add_word(c, tag);
    if (count != 2) ct_eval_add_word(c, count);
    for (uint32_t i = 0; i < count; i++) ct_eval_add_word(c, ops[i].slot);
    return ct_eval_finish(c, start, dest, want, true, ops, count);
}

static uint32_t emit_con(Compile *c, CtCore *e, uint32_t want) {
    const CtCon *con = e->as.call.of.con;
    const CtCore *tail;
    if (con->data->is_enum) return emit_number(c, con->tag, want, e->range);
    if (con->count == 0) return emit_object(c, ct_value_nullary(c->m->heap, con), true, want, e->range);
    if (ct_eval_compile_spine(e, &tail) >= SPINE_MIN) return ct_eval_emit_spine(c, e, want);
    const CtLayout *layout = ct_value_layout_con(c->m->heap, con);
    if (layout == NULL) c->heap_full = true;
    return emit_fields(c, e, layout, con->tag, want);
}

static uint32_t emit_tuple(Compile *c, CtCore *e, uint32_t want) {
    if (e->as.call.count == 0) return emit_number(c, 0, want, e->range);
    const CtLayout *layout = ct_value_layout_tuple(c->m->heap, e->type);
    if (layout == NULL) c->heap_full = true;
    return emit_fields(c, e, layout, 0, want);
}

static uint32_t emit_fail_text(Compile *c, CtCore *e, CtErrorCode code, const char *text, uint32_t want) {
    ct_eval_count_steps(c, 1);
    ct_eval_begin(c, OP_FAIL_TEXT, e->range);
    ct_eval_add_word(c, code);
    add_pointer(c, text);
    uint32_t dest = place(c, want);
    if (ct_value_type_is_pointer(e->type)) ct_eval_own(c, dest);
    return dest;
}

/* Code behind it is unreachable, but is generated like any other. */
static uint32_t emit_fail(Compile *c, CtCore *e, uint32_t want) {
    if (e->as.fail.text != NULL) return emit_fail_text(c, e, e->as.fail.code, e->as.fail.text, want);
    Operand message;
    ct_eval_operand(c, e->as.fail.message, false, &message);
    ct_eval_count_steps(c, 1);
    uint32_t dest = ct_eval_result_slot(c, want, &message, 1);
    uint32_t start = ct_eval_begin(c, OP_FAIL_MESSAGE, e->range);
    ct_eval_add_word(c, e->as.fail.code);
    ct_eval_add_word(c, message.slot);
    return ct_eval_finish(c, start, dest, want, ct_value_type_is_pointer(e->type), &message, 1);
}

static uint32_t emit_deriv(Compile *c, CtCore *e, uint32_t want, bool tail) {
    if (only_applies(e)) return ct_eval_emit_expr(c, ct_map_get(&c->applied, ct_key(e)), want, tail);
    if (e->as.call.of.deriv == DERIV_STOP) {
        ct_eval_count_steps(c, 1);
        return ct_eval_emit_expr(c, e->as.call.args[0], want, false);
    }
    if (e->as.call.of.deriv == DERIV_ATTEMPT) return ct_eval_emit_attempt(c, e, want);
    if (e->as.call.of.deriv == DERIV_DELAY) return ct_eval_emit_delay(c, e, want);
    if (e->as.call.of.deriv == DERIV_FORCE) return ct_eval_emit_force(c, e, want);
    if (e->as.call.of.deriv == DERIV_KNOT) return ct_eval_emit_knot(c, e, want);
    Operand ops[4];
    ct_eval_operands(c, e->as.call.args, e->as.call.count, false, false, ops);
    for (uint32_t i = 0; i < e->as.call.count; i++)
        if (ops[i].drop_after) ct_eval_drop_slot(c, ops[i].slot);
    return emit_fail_text(c, e, CT_E0901, "a derivative operator was left in the program", want);
}

static uint32_t emit_node(Compile *c, CtCore *e, uint32_t want, bool tail) {
    switch (e->kind) {
    case CORE_VAR: return emit_var(c, e, want);
    case CORE_GLOBAL: return emit_global(c, e, want);
    case CORE_LIT: {
        uint32_t dest = place(c, want);
        ct_eval_load_literal(c, dest, e);
        return dest;
    }
    case CORE_STRING:
        return emit_object(c, ct_value_string_new(c->m->heap, e->type, e->as.string.data, e->as.string.length), true,
                           want, e->range);
    case CORE_LAM: return ct_eval_emit_closure(c, e, want);
    case CORE_APP: return ct_eval_emit_app(c, e, want, tail);
    case CORE_TUPLE: return emit_tuple(c, e, want);
    case CORE_CON: return emit_con(c, e, want);
    case CORE_PROJ: return ct_eval_emit_proj(c, e, want);
    case CORE_CASE: return ct_eval_emit_case(c, e, want, tail);
    case CORE_PRIM: return ct_eval_emit_prim(c, e, want);
    case CORE_ARRAY: {
        const struct Fused *fused = ct_eval_compile_fused(c, e);
        if (fused != NULL) return ct_eval_emit_fused(c, e, fused, want);
        return ct_eval_array_function_index(e->as.call.of.array) >= 0 ? ct_eval_emit_loop(c, e, want)
                                                                      : ct_eval_emit_array(c, e, want);
    }
    case CORE_ARRAY_LIT: return ct_eval_emit_array_literal(c, e, want);
    case CORE_DERIV: return emit_deriv(c, e, want, tail);
    case CORE_DUAL: return ct_eval_emit_dual(c, e, want);
    case CORE_FAIL: return emit_fail(c, e, want);
    case CORE_LET:
    case CORE_LETREC:
    case CORE_UNPACK: break; /* handled by ct_eval_emit_expr */
    }
    return NO_SLOT;
}

static void emit_let(Compile *c, CtCore *e) {
    uint32_t slot = ct_eval_emit_term(c, e->as.let.rhs, NO_SLOT);
    ct_eval_count_steps(c, 1);
    bool used = ct_eval_next_entry(c);
    ct_eval_bind_slot(c, e->as.let.vars[0], slot, used);
}

static void emit_unpack(Compile *c, CtCore *e) {
    CtType *type = e->as.let.rhs->type;
    Operand object;
    ct_eval_operand(c, e->as.let.rhs, false, &object);
    ct_eval_count_steps(c, 1);
    bool *used = CT_NEW_ARRAY(c->arena, bool, e->as.let.count + 1);
    for (uint32_t i = 0; i < e->as.let.count; i++) used[i] = e->as.let.vars[i] != NULL && ct_eval_next_entry(c);
    ct_eval_emit_open(c, e->range, &object, e->as.let.vars, type->parts, e->as.let.count, used);
}

/* Evaluates e to a slot. In tail position the frame has ended, and there is no slot. */
uint32_t ct_eval_emit_expr(Compile *c, CtCore *e, uint32_t want, bool tail) {
    CtCode *outlined = outlined_code(c, e);
    if (outlined != NULL) return ct_eval_emit_outlined(c, outlined, e, want, tail);
    ct_eval_terms_plan(c, e);
    for (;;) {
        if (e->kind == CORE_LET) {
            emit_let(c, e);
            e = e->as.let.body;
        } else if (e->kind == CORE_UNPACK) {
            emit_unpack(c, e);
            e = e->as.let.body;
        } else if (e->kind == CORE_LETREC) {
            ct_eval_emit_group_env(c, e);
            e = e->as.letrec.body;
        } else {
            break;
        }
    }
    uint32_t slot = emit_node(c, e, want, tail);
    if (!tail || e->kind == CORE_APP || e->kind == CORE_CASE || only_applies(e)) return slot;
    emit_return(c, slot, ct_value_type_is_pointer(e->type), e->range);
    return NO_SLOT;
}

static void emit_params(Compile *c) {
    CtLam *lam = c->code->lam;
    for (uint32_t i = 0; i < lam->count; i++) {
        ct_eval_slot_mark(c, i);
        if (ct_value_type_is_pointer(lam->params[i]->type)) ct_eval_own(c, i);
    }
    for (uint32_t i = 0; i < lam->count; i++) {
        bool used = ct_eval_next_entry(c);
        ct_eval_bind_slot(c, lam->params[i], i, used);
    }
}

bool ct_eval_code_compile(Machine *m, CtCode *code) {
    CtArena *arena = m->program->context->arena;
    Compile c = {.m = m, .arena = arena, .code = code, .cost_at = NO_SLOT};
    code->cost = 0;
    ct_eval_compile_scope(&c);
    ct_eval_compile_ownership(&c);
    c.read = c.ledger.count;
    if (code->lam != NULL) {
        if (m->watch.wants != NULL && m->watch.wants(m->watch.data, code->global, code->lam))
            ct_eval_begin(&c, OP_WATCH, code->lam->node->range);
        emit_params(&c);
        ct_eval_emit_expr(&c, code->lam->body, NO_SLOT, true);
    } else {
        Span span;
        ct_eval_span_begin(&c, &span, code->global->range);
        uint32_t slot = ct_eval_emit_expr(&c, code->global->body, NO_SLOT, false);
        ct_eval_begin(&c, OP_RETURN_CONSTANT, code->global->range);
        ct_eval_add_word(&c, slot);
        ct_eval_add_word(&c, span.measured ? span.begin : NO_SLOT);
    }
    if (c.heap_full) {
        for (uint32_t i = 0; i < c.held.count; i++) ct_value_release_object(m->heap, c.held.items[i]);
        return ct_eval_raise_memory(m);
    }
    for (uint32_t i = 0; i < c.held.count; i++) ct_value_set_refs(c.held.items[i], REFS_FOREVER);
    code->word_count = c.words.count;
    code->event_count = c.events.count;
    code->place_count = c.places.count;
    code->events = c.events.items;
    code->places = c.places.items;
    code->words = c.words.items;
    /* Publishes the code: threads that see this see all the rest. */
    __atomic_store_n(&code->reserve, c.slot_count + c.most_out + 2 * FRAME_HEADER, __ATOMIC_RELEASE);
    return true;
}
