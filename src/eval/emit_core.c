/* Shared by the emitters: words, slots, operands, branches. */
#include <assert.h>

#include "eval/compile.h"

/* ---- words ---- */

void ct_eval_add_word(Compile *c, uint32_t word) { ct_push(c->arena, &c->words, word); }

void ct_eval_add_word64(Compile *c, uint64_t word) {
    ct_eval_add_word(c, (uint32_t)word);
    ct_eval_add_word(c, (uint32_t)(word >> 32));
}

uint32_t ct_eval_begin(Compile *c, Op op, CtSourceRange range) {
    uint32_t start = c->words.count;
    const Place *last = c->places.count > 0 ? &c->places.items[c->places.count - 1] : NULL;
    bool same = last != NULL && last->range.source == range.source && last->range.start == range.start &&
                last->range.end == range.end;
    if (!same) ct_push(c->arena, &c->places, (Place){start, range});
    ct_eval_add_word(c, op);
    return start;
}

void ct_eval_event(Compile *c, uint32_t at, EventKind kind, uint32_t slot) {
    ct_push(c->arena, &c->events, (Event){at, (uint32_t)kind & 7, slot & 0x1FFFFFFF});
}

void ct_eval_own(Compile *c, uint32_t slot) { ct_eval_event(c, c->words.count, EVENT_OWN, slot); }

void ct_eval_count_steps(Compile *c, uint32_t steps) {
    if (c->cost_at == NO_SLOT) {
        c->code->cost += steps;
    } else {
        c->words.items[c->cost_at] += steps;
    }
}

void ct_eval_patch(Compile *c, uint32_t word, uint32_t start) { c->words.items[word] = c->words.count - start; }

void ct_eval_hold(Compile *c, CtObject *object) { ct_push(c->arena, &c->held, object); }

/* ---- slots ---- */

static void more_slots(Compile *c) {
    uint32_t words = c->used_words == 0 ? 2 : c->used_words * 2;
    uint64_t *used = CT_NEW_ARRAY(c->arena, uint64_t, words);
    if (c->used_words > 0) memcpy(used, c->used, c->used_words * sizeof(uint64_t));
    c->used = used;
    c->used_words = words;
}

void ct_eval_slot_mark(Compile *c, uint32_t slot) {
    while (slot / 64 >= c->used_words) more_slots(c);
    c->used[slot / 64] |= (uint64_t)1 << (slot % 64);
    if (slot >= c->slot_count) c->slot_count = slot + 1;
}

uint32_t ct_eval_slot_new(Compile *c) {
    for (uint32_t i = 0;; i++) {
        if (i == c->used_words) more_slots(c);
        if (~c->used[i] == 0) continue;
        uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(~c->used[i]);
        ct_eval_slot_mark(c, slot);
        return slot;
    }
}

void ct_eval_slot_free(Compile *c, uint32_t slot) {
    assert(c->used[slot / 64] >> (slot % 64) & 1); /* else two of them stood in it */
    c->used[slot / 64] &= ~((uint64_t)1 << (slot % 64));
}

uint32_t ct_eval_slot_top(const Compile *c) {
    for (uint32_t i = c->used_words; i-- > 0;)
        if (c->used[i] != 0) return i * 64 + 64 - (uint32_t)__builtin_clzll(c->used[i]);
    return 0;
}

/* ---- the ledger ---- */

uint32_t ct_eval_next_entry(Compile *c) {
    assert(c->read > 0);
    return c->ledger.items[--c->read];
}

bool ct_eval_next_last(Compile *c, const Local *local) {
    uint32_t entry = ct_eval_next_entry(c);
    assert(entry >> 1 == local->index);
    (void)local;
    return entry & 1;
}

/* ---- locals ---- */

static void set_capture(Compile *c, Local *local, uint32_t slot) {
    ct_push(c->arena, &c->undo, (Undo){local, local->slot});
    local->slot = slot;
}

void ct_eval_load_capture(Compile *c, Local *local) {
    if (local->slot != NO_SLOT) return;
    set_capture(c, local, ct_eval_slot_new(c));
    ct_eval_begin(c, OP_CAPTURE, CT_NO_RANGE);
    ct_eval_add_word(c, local->slot);
    ct_eval_add_word(c, local->capture);
}

static void unload_capture(Compile *c, Local *local) {
    if (local->slot == NO_SLOT) return;
    ct_eval_slot_free(c, local->slot);
    set_capture(c, local, NO_SLOT);
}

void ct_eval_drop_slot(Compile *c, uint32_t slot) {
    uint32_t start = ct_eval_begin(c, OP_DROP, CT_NO_RANGE);
    ct_eval_add_word(c, slot);
    ct_eval_event(c, start + 1, EVENT_DISOWN, slot);
}

void ct_eval_drop_local(Compile *c, Local *local) {
    if (local->kind == LOCAL_CAPTURE) {
        unload_capture(c, local);
        return;
    }
    if (local->is_pointer) ct_eval_drop_slot(c, local->slot);
    ct_eval_slot_free(c, local->slot);
}

void ct_eval_bind_slot(Compile *c, const CtVar *var, uint32_t slot, bool used) {
    Local *local = ct_eval_compile_local(c, var);
    local->slot = slot;
    if (!used) ct_eval_drop_local(c, local);
}

CtWord ct_eval_literal_word(const CtCore *lit) {
    bool is_real = lit->type->kind == TYPE_DOUBLE || lit->type->kind == TYPE_FLOAT;
    return is_real ? (CtWord){.real = lit->as.lit.real} : (CtWord){.integer = lit->as.lit.integer};
}

void ct_eval_load_literal(Compile *c, uint32_t slot, CtCore *lit) {
    ct_eval_begin(c, OP_LIT, lit->range);
    ct_eval_add_word(c, slot);
    ct_eval_add_word64(c, (uint64_t)ct_eval_literal_word(lit).integer);
}

/* ---- operands ---- */

Operand ct_eval_operand_slot(uint32_t slot, bool is_pointer, bool take) {
    return (Operand){.slot = slot,
                     .is_pointer = is_pointer,
                     .taken = take && is_pointer,
                     .free_slot = take || !is_pointer,
                     .drop_after = !take && is_pointer};
}

void ct_eval_operand_value(Compile *c, CtCore *e, bool take, bool constants, Operand *out) {
    if (is_literal(e) && constants) {
        *out = (Operand){.slot = NO_SLOT, .is_constant = true, .constant = ct_eval_literal_word(e)};
    } else {
        *out = ct_eval_operand_slot(ct_eval_emit_term(c, e, NO_SLOT), ct_value_type_is_pointer(e->type), take);
    }
}

static void retain(Compile *c, uint32_t slot) {
    ct_eval_begin(c, OP_RETAIN, CT_NO_RANGE);
    ct_eval_add_word(c, slot);
    ct_eval_own(c, slot);
}

void ct_eval_operand_var(Compile *c, const CtVar *var, CtSourceRange range, bool take, Operand *out) {
    Local *local = ct_eval_compile_local(c, var);
    if (local->kind == LOCAL_GROUP || local->kind == LOCAL_SIBLING) {
        *out = ct_eval_operand_slot(ct_eval_emit_group_value(c, local, range, NO_SLOT), true, take);
        return;
    }
    bool last = ct_eval_next_last(c, local);
    bool borrowed = local->kind == LOCAL_CAPTURE;
    if (borrowed) ct_eval_load_capture(c, local);
    *out = (Operand){.slot = local->slot, .is_pointer = local->is_pointer, .local = local};
    out->taken = take && local->is_pointer;
    if (out->taken && (borrowed || !last)) retain(c, local->slot);
    out->drop_after = last && !take && local->is_pointer && !borrowed;
    out->free_slot = last && !out->drop_after;
}

void ct_eval_operand(Compile *c, CtCore *e, bool take, Operand *out) {
    if (is_var(e)) {
        ct_eval_operand_var(c, e->as.var, e->range, take, out);
    } else {
        ct_eval_operand_value(c, e, take, false, out);
    }
}

void ct_eval_operands(Compile *c, CtCore *const *args, uint32_t count, bool take, bool constants, Operand *out) {
    for (uint32_t i = 0; i < count; i++)
        if (!is_var(args[i])) ct_eval_operand_value(c, args[i], take, constants, &out[i]);
    for (uint32_t i = 0; i < count; i++)
        if (is_var(args[i])) ct_eval_operand_var(c, args[i]->as.var, args[i]->range, take, &out[i]);
}

uint32_t ct_eval_result_slot(Compile *c, uint32_t want, const Operand *ops, uint32_t count) {
    bool clash = false;
    for (uint32_t i = 0; i < count; i++) {
        const Operand *op = &ops[i];
        if (op->drop_after && op->slot == want) clash = true;
        if (!op->free_slot || op->is_constant) continue;
        if (op->local != NULL && op->local->kind == LOCAL_CAPTURE) {
            unload_capture(c, op->local);
        } else {
            ct_eval_slot_free(c, op->slot);
        }
    }
    return want == NO_SLOT || clash ? ct_eval_slot_new(c) : want;
}

uint32_t ct_eval_finish(Compile *c, uint32_t start, uint32_t dest, uint32_t want, bool is_pointer, const Operand *ops,
                        uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (ops[i].taken) ct_eval_event(c, start + 1, EVENT_DISOWN, ops[i].slot);
    if (is_pointer && dest != NO_SLOT) ct_eval_own(c, dest);
    for (uint32_t i = 0; i < count; i++) {
        if (!ops[i].drop_after) continue;
        ct_eval_drop_slot(c, ops[i].slot);
        ct_eval_slot_free(c, ops[i].slot);
    }
    if (want == NO_SLOT || dest == want || dest == NO_SLOT) return dest;
    uint32_t move = ct_eval_begin(c, OP_MOVE, CT_NO_RANGE);
    ct_eval_add_word(c, want);
    ct_eval_add_word(c, dest);
    if (is_pointer) {
        ct_eval_event(c, move + 1, EVENT_DISOWN, dest);
        ct_eval_own(c, want);
    }
    ct_eval_slot_free(c, dest);
    return want;
}

void ct_eval_drop_some(Compile *c, const Operand *op) {
    if (op->drop_after) {
        uint32_t start = ct_eval_begin(c, OP_DROP_SOME, CT_NO_RANGE);
        ct_eval_add_word(c, op->slot);
        ct_eval_event(c, start + 1, EVENT_DISOWN, op->slot);
        ct_eval_slot_free(c, op->slot);
    } else if (op->free_slot) {
        uint32_t free = ct_eval_result_slot(c, NO_SLOT, op, 1);
        ct_eval_slot_free(c, free);
    }
}

/* ---- branches ---- */

void ct_eval_branch_begin(Compile *c, Branch *b) {
    *b = (Branch){.undo = c->undo.count, .cost_at = c->cost_at};
    b->used = CT_NEW_ARRAY(c->arena, uint64_t, c->used_words);
    b->used_words = c->used_words;
    if (c->used_words > 0) memcpy(b->used, c->used, c->used_words * sizeof(uint64_t));
    ct_eval_event(c, c->words.count, EVENT_SAVE, 0);
}

void ct_eval_branch_next(Compile *c, Branch *b) {
    while (c->undo.count > b->undo) {
        Undo undo = c->undo.items[--c->undo.count];
        undo.local->slot = undo.slot;
    }
    memset(c->used, 0, c->used_words * sizeof(uint64_t));
    memcpy(c->used, b->used, b->used_words * sizeof(uint64_t));
    ct_eval_event(c, c->words.count, EVENT_AGAIN, 0);
}

/* Forgets captures that only the last alternative has loaded. */
static void settle(Compile *c, const Branch *b) {
    uint32_t stamp = ++c->stamp;
    for (uint32_t i = b->undo; i < c->undo.count; i++) {
        Local *local = c->undo.items[i].local;
        if (local->stamp == stamp) continue;
        local->stamp = stamp;
        if (c->undo.items[i].slot != NO_SLOT || local->slot == NO_SLOT) continue;
        ct_eval_slot_free(c, local->slot);
        local->slot = NO_SLOT;
    }
}

void ct_eval_branch_end(Compile *c, Branch *b) {
    settle(c, b);
    for (uint32_t i = 0; i < b->joins.count; i++) ct_eval_patch(c, b->joins.items[i] + 1, b->joins.items[i]);
    ct_eval_event(c, c->words.count, EVENT_JOIN, 0);
    c->cost_at = b->cost_at;
}
