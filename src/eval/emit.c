/* The third pass of the compiler: writes the instructions of one λ, form by form. */
#include "eval/compile.h"

static uint32_t place(Compile *c, uint32_t want) { return want == NO_SLOT ? slot_new(c) : want; }

static void emit_return(Compile *c, uint32_t slot, bool is_pointer, CtSpan span) {
    bool has_env = c->code->lam->capture_count > 0;
    uint32_t start = begin(c, has_env ? OP_RETURN_ENV : OP_RETURN, span);
    add_word(c, slot);
    if (is_pointer) event(c, start + 1, EVENT_DISOWN, slot);
    slot_free(c, slot);
}

static uint32_t emit_object(Compile *c, CtObject *object, bool is_new, uint32_t want, CtSpan span) {
    if (object == NULL) {
        c->heap_full = true;
    } else if (is_new) {
        hold(c, object);
    }
    uint32_t dest = place(c, want);
    begin(c, OP_CONST, span);
    add_word(c, dest);
    add_pointer(c, object);
    own(c, dest);
    return dest;
}

static uint32_t emit_number(Compile *c, int64_t number, uint32_t want, CtSpan span) {
    uint32_t dest = place(c, want);
    begin(c, OP_LIT, span);
    add_word(c, dest);
    add_word64(c, (uint64_t)number);
    return dest;
}

static uint32_t move_to(Compile *c, uint32_t dest, uint32_t from, bool is_pointer) {
    uint32_t start = begin(c, OP_MOVE, CT_NO_SPAN);
    add_word(c, dest);
    add_word(c, from);
    if (is_pointer) {
        event(c, start + 1, EVENT_DISOWN, from);
        own(c, dest);
    }
    return dest;
}

/* An owned copy of a variable: the variable's own slot at its last use. */
static uint32_t emit_var(Compile *c, CtCore *e, uint32_t want) {
    Operand op;
    operand_var(c, e->as.var, e->span, true, &op);
    bool own_slot = op.free_slot && (op.local == NULL || op.local->kind == LOCAL_SLOT);
    if (own_slot && (want == NO_SLOT || want == op.slot)) return op.slot;
    uint32_t dest = result_slot(c, want, &op, 1);
    if (dest != op.slot) move_to(c, dest, op.slot, op.is_pointer);
    return dest;
}

static uint32_t emit_global(Compile *c, CtCore *e, uint32_t want) {
    if (!is_global_function(e)) return emit_constant(c, e, want);
    CtClosure *closure = ct_code_closure(c->m, ct_code_of_global(c->m, e->as.global));
    return emit_object(c, closure == NULL ? NULL : &closure->head, false, want, e->span);
}

static uint32_t emit_fields(Compile *c, CtCore *e, const CtLayout *layout, uint32_t tag, uint32_t want) {
    uint32_t count = e->as.call.count;
    Operand *ops = CT_NEW_ARRAY(c->arena, Operand, count);
    operands(c, e->as.call.args, count, true, false, ops);
    count_steps(c, 1);
    uint32_t dest = result_slot(c, want, ops, count);
    uint32_t start = begin(c, count == 2 ? OP_FIELDS2 : OP_FIELDS, e->span);
    add_word(c, dest);
    add_pointer(c, layout);
    add_word(c, tag);
    if (count != 2) add_word(c, count);
    for (uint32_t i = 0; i < count; i++) add_word(c, ops[i].slot);
    return finish(c, start, dest, want, true, ops, count);
}

static uint32_t emit_con(Compile *c, CtCore *e, uint32_t want) {
    const CtCon *con = e->as.call.of.con;
    const CtCore *tail;
    if (con->data->is_enum) return emit_number(c, con->tag, want, e->span);
    if (con->count == 0) return emit_object(c, ct_nullary(c->m->heap, con), true, want, e->span);
    if (ct_compile_spine(e, &tail) >= SPINE_MIN) return emit_spine(c, e, want);
    const CtLayout *layout = ct_layout_con(c->m->heap, con);
    if (layout == NULL) c->heap_full = true;
    return emit_fields(c, e, layout, con->tag, want);
}

static uint32_t emit_tuple(Compile *c, CtCore *e, uint32_t want) {
    if (e->as.call.count == 0) return emit_number(c, 0, want, e->span);
    const CtLayout *layout = ct_layout_tuple(c->m->heap, e->type);
    if (layout == NULL) c->heap_full = true;
    return emit_fields(c, e, layout, 0, want);
}

static uint32_t emit_fail_text(Compile *c, CtCore *e, CtErrorCode code, const char *text, uint32_t want) {
    count_steps(c, 1);
    begin(c, OP_FAIL_TEXT, e->span);
    add_word(c, code);
    add_pointer(c, text);
    uint32_t dest = place(c, want);
    if (ct_type_is_pointer(e->type)) own(c, dest);
    return dest;
}

/* What follows is never reached, but is written like any other code. */
static uint32_t emit_fail(Compile *c, CtCore *e, uint32_t want) {
    if (e->as.fail.text != NULL) return emit_fail_text(c, e, e->as.fail.code, e->as.fail.text, want);
    Operand message;
    operand(c, e->as.fail.message, false, &message);
    count_steps(c, 1);
    uint32_t dest = result_slot(c, want, &message, 1);
    uint32_t start = begin(c, OP_FAIL_MESSAGE, e->span);
    add_word(c, e->as.fail.code);
    add_word(c, message.slot);
    return finish(c, start, dest, want, ct_type_is_pointer(e->type), &message, 1);
}

static uint32_t emit_deriv(Compile *c, CtCore *e, uint32_t want, bool tail) {
    if (has_rule(e)) return emit_expr(c, ct_map_get(&c->ruled, ct_key(e)), want, tail);
    if (e->as.call.of.deriv == DERIV_STOP) {
        count_steps(c, 1);
        return emit_expr(c, e->as.call.args[0], want, false);
    }
    Operand ops[4];
    operands(c, e->as.call.args, e->as.call.count, false, false, ops);
    for (uint32_t i = 0; i < e->as.call.count; i++)
        if (ops[i].drop_after) drop_slot(c, ops[i].slot);
    return emit_fail_text(c, e, CT_E0901, "a derivative operator was left in the program", want);
}

static uint32_t emit_node(Compile *c, CtCore *e, uint32_t want, bool tail) {
    switch (e->kind) {
    case CORE_VAR: return emit_var(c, e, want);
    case CORE_GLOBAL: return emit_global(c, e, want);
    case CORE_LIT: {
        uint32_t dest = place(c, want);
        load_literal(c, dest, e);
        return dest;
    }
    case CORE_STRING:
        return emit_object(c, ct_string_new(c->m->heap, e->type, e->as.string.data, e->as.string.length), true, want,
                           e->span);
    case CORE_LAM: return emit_closure(c, e, want);
    case CORE_APP: return emit_app(c, e, want, tail);
    case CORE_TUPLE: return emit_tuple(c, e, want);
    case CORE_CON: return emit_con(c, e, want);
    case CORE_PROJ: return emit_proj(c, e, want);
    case CORE_CASE: return emit_case(c, e, want, tail);
    case CORE_PRIM: return emit_prim(c, e, want);
    case CORE_ARRAY: {
        const struct Fused *fused = ct_compile_fused(c, e);
        if (fused != NULL) return emit_fused(c, e, fused, want);
        return ct_array_function_index(e->as.call.of.array) >= 0 ? emit_loop(c, e, want) : emit_array(c, e, want);
    }
    case CORE_ARRAY_LIT: return emit_array_literal(c, e, want);
    case CORE_DERIV: return emit_deriv(c, e, want, tail);
    case CORE_DUAL: return emit_dual(c, e, want);
    case CORE_FAIL: return emit_fail(c, e, want);
    case CORE_LET:
    case CORE_LETREC:
    case CORE_UNPACK: break; /* emit_expr's */
    }
    return NO_SLOT;
}

static void emit_let(Compile *c, CtCore *e) {
    uint32_t slot = emit_expr(c, e->as.let.rhs, NO_SLOT, false);
    count_steps(c, 1);
    bool used = next_entry(c);
    bind_slot(c, e->as.let.vars[0], slot, used);
}

static void emit_unpack(Compile *c, CtCore *e) {
    CtType *type = e->as.let.rhs->type;
    Operand object;
    operand(c, e->as.let.rhs, false, &object);
    count_steps(c, 1);
    bool *used = CT_NEW_ARRAY(c->arena, bool, e->as.let.count + 1);
    for (uint32_t i = 0; i < e->as.let.count; i++) used[i] = e->as.let.vars[i] != NULL && next_entry(c);
    emit_open(c, e->span, &object, e->as.let.vars, type->parts, e->as.let.count, used);
}

/* The value of e in a slot; in tail position the frame has ended and there is none. */
uint32_t emit_expr(Compile *c, CtCore *e, uint32_t want, bool tail) {
    CtCode *outlined = outlined_code(c, e);
    if (outlined != NULL) return emit_outlined(c, outlined, e, want, tail);
    for (;;) {
        if (e->kind == CORE_LET) {
            emit_let(c, e);
            e = e->as.let.body;
        } else if (e->kind == CORE_UNPACK) {
            emit_unpack(c, e);
            e = e->as.let.body;
        } else if (e->kind == CORE_LETREC) {
            emit_group_env(c, e);
            e = e->as.letrec.body;
        } else {
            break;
        }
    }
    uint32_t slot = emit_node(c, e, want, tail);
    if (!tail || e->kind == CORE_APP || e->kind == CORE_CASE || has_rule(e)) return slot;
    emit_return(c, slot, ct_type_is_pointer(e->type), e->span);
    return NO_SLOT;
}

static void emit_params(Compile *c) {
    CtLam *lam = c->code->lam;
    for (uint32_t i = 0; i < lam->count; i++) {
        slot_mark(c, i);
        if (ct_type_is_pointer(lam->params[i]->type)) own(c, i);
    }
    for (uint32_t i = 0; i < lam->count; i++) {
        bool used = next_entry(c);
        bind_slot(c, lam->params[i], i, used);
    }
}

bool ct_code_compile(Machine *m, CtCode *code) {
    CtArena *arena = m->program->context->arena;
    Compile c = {.m = m, .arena = arena, .code = code, .cost_at = NO_SLOT};
    code->cost = 0;
    ct_compile_scope(&c);
    ct_compile_ownership(&c);
    c.read = c.ledger.count;
    if (code->lam != NULL) {
        if (m->watch.wants != NULL && m->watch.wants(m->watch.data, code->global, code->lam))
            begin(&c, OP_WATCH, code->lam->node->span);
        emit_params(&c);
        emit_expr(&c, code->lam->body, NO_SLOT, true);
    } else {
        Span span;
        span_begin(&c, &span, code->global->span);
        uint32_t slot = emit_expr(&c, code->global->body, NO_SLOT, false);
        begin(&c, OP_RETURN_CONSTANT, code->global->span);
        add_word(&c, slot);
        add_word(&c, span.measured ? span.begin : NO_SLOT);
    }
    if (c.heap_full) {
        for (uint32_t i = 0; i < c.held.count; i++) ct_release(m->heap, c.held.items[i]);
        return ct_raise_memory(m);
    }
    for (uint32_t i = 0; i < c.held.count; i++) ct_set_refs(c.held.items[i], REFS_FOREVER);
    code->word_count = c.words.count;
    code->event_count = c.events.count;
    code->place_count = c.places.count;
    code->events = c.events.items;
    code->places = c.places.items;
    code->words = c.words.items;
    /* Other threads that see this see all the rest. */
    __atomic_store_n(&code->reserve, c.slot_count + c.most_out + 2 * FRAME_HEADER, __ATOMIC_RELEASE);
    return true;
}
