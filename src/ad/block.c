/* Sequences of bindings that wait for their body, by which transformations write `let`s in evaluation order. */
#include "ad/internal.h"

CtSeq ct_ad_seq(CtProgram *p, CtVar *state) {
    CtSeq seq = {.p = p, .state = state};
    return seq;
}

bool ct_ad_atom(const CtCore *core) { return core->kind == CORE_VAR || core->kind == CORE_LIT; }

bool ct_ad_movable(const CtCore *core) {
    switch (core->kind) {
    case CORE_VAR:
    case CORE_LIT:
    case CORE_STRING:
    case CORE_LAM: return true;
    case CORE_GLOBAL: return ct_ad_is_function(core->as.global);
    case CORE_TUPLE:
        for (uint32_t i = 0; i < core->as.call.count; i++)
            if (!ct_ad_atom(core->as.call.args[i])) return false;
        return true;
    case CORE_APP:
    case CORE_LET:
    case CORE_LETREC:
    case CORE_PROJ:
    case CORE_UNPACK:
    case CORE_CON:
    case CORE_CASE:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL:
    case CORE_FAIL: return false;
    }
    return false;
}

void ct_ad_seq_let(CtSeq *seq, CtSourceRange range, CtVar *var, CtCore *rhs) {
    ct_ad_seq_unpack(seq, range, &var, 0, rhs);
}

/* With count 0 it is a LET of vars[0]. */
void ct_ad_seq_unpack(CtSeq *seq, CtSourceRange range, CtVar *const *vars, uint32_t count, CtCore *rhs) {
    CtArena *arena = seq->p->context->arena;
    uint32_t stored = count == 0 ? 1 : count;
    CtPending pending = {.kind = count == 0 ? CORE_LET : CORE_UNPACK, .range = range, .count = count, .rhs = rhs};
    pending.vars = CT_NEW_ARRAY(arena, CtVar *, stored);
    memcpy(pending.vars, vars, stored * sizeof *vars);
    ct_push(arena, &seq->items, pending);
}

void ct_ad_seq_letrec(CtSeq *seq, CtSourceRange range, const CtBind *binds, uint32_t count) {
    CtArena *arena = seq->p->context->arena;
    CtPending pending = {.kind = CORE_LETREC, .range = range, .count = count};
    pending.binds = CT_NEW_ARRAY(arena, CtBind, count);
    memcpy(pending.binds, binds, count * sizeof *binds);
    ct_push(arena, &seq->items, pending);
}

/* A constant of the library is cheap and does not fail. */
static bool is_library_constant(const CtCore *core) {
    return core->kind == CORE_GLOBAL && core->as.global->is_library && !ct_ad_is_function(core->as.global);
}

CtCore *ct_ad_seq_name(CtSeq *seq, const char *name, CtCore *rhs) {
    if (ct_ad_atom(rhs) || is_library_constant(rhs)) return rhs;
    CtVar *var = ct_core_var_new(seq->p, name, rhs->type);
    ct_ad_seq_let(seq, rhs->range, var, rhs);
    return ct_core_var(seq->p, rhs->range, var);
}

void ct_ad_seq_open(CtSeq *seq, const char *first_name, const char *second_name, CtCore *pair, CtCore *parts[2]) {
    if (pair->kind == CORE_TUPLE) {
        parts[0] = ct_ad_seq_name(seq, first_name, pair->as.call.args[0]);
        parts[1] = ct_ad_seq_name(seq, second_name, pair->as.call.args[1]);
        return;
    }
    CtVar *vars[2];
    vars[0] = ct_core_var_new(seq->p, first_name, pair->type->parts[0]);
    vars[1] = ct_core_var_new(seq->p, second_name, pair->type->parts[1]);
    ct_ad_seq_unpack(seq, pair->range, vars, 2, pair);
    parts[0] = ct_core_var(seq->p, pair->range, vars[0]);
    parts[1] = ct_core_var(seq->p, pair->range, vars[1]);
}

CtCore *ct_ad_seq_run(CtSeq *seq, const char *name, CtCore *pair) {
    CtVar *vars[2];
    vars[0] = ct_core_var_new(seq->p, name, pair->type->parts[0]);
    vars[1] = ct_core_var_new(seq->p, "s", pair->type->parts[1]);
    ct_ad_seq_unpack(seq, pair->range, vars, 2, pair);
    seq->state = vars[1];
    return ct_core_var(seq->p, pair->range, vars[0]);
}

CtCore *ct_ad_seq_state(CtSeq *seq, CtSourceRange range) { return ct_core_var(seq->p, range, seq->state); }

static bool is_var(const CtCore *core, const CtVar *var) { return core->kind == CORE_VAR && core->as.var == var; }

static bool gives_back(const CtPending *last, const CtCore *body) {
    if (last->kind == CORE_LET) return is_var(body, last->vars[0]);
    if (last->kind != CORE_UNPACK || body->kind != CORE_TUPLE || body->as.call.count != last->count) return false;
    for (uint32_t i = 0; i < last->count; i++)
        if (!last->vars[i] || !is_var(body->as.call.args[i], last->vars[i])) return false;
    return true;
}

CtCore *ct_ad_seq_close(CtSeq *seq, CtCore *body) {
    uint32_t i = seq->items.count;
    if (i > 0 && gives_back(&seq->items.items[i - 1], body)) body = seq->items.items[--i].rhs;
    while (i-- > 0) {
        CtPending *b = &seq->items.items[i];
        if (b->kind == CORE_LET)
            body = ct_core_let(seq->p, b->range, b->vars[0], b->rhs, body);
        else if (b->kind == CORE_UNPACK)
            body = ct_core_unpack(seq->p, b->range, b->vars, b->count, b->rhs, body);
        else
            body = ct_core_letrec(seq->p, b->range, b->binds, b->count, body);
    }
    seq->items.count = 0;
    return body;
}

CtCore *ct_ad_seq_return(CtSeq *seq, CtCore *value) {
    if (!seq->state) return ct_ad_seq_close(seq, value);
    CtCore *state = ct_ad_seq_state(seq, value->range);
    CtCore *pair = ct_core_pair(seq->p, value->range, value, state);
    return ct_ad_seq_close(seq, pair);
}
