/* Code for array operations without function arguments, for array literals and for long lists. */
#include "eval/compile.h"

/* Operands of which some are taken. */
static void mixed_operands(Compile *c, CtCore *const *args, uint32_t count, const bool *take, Operand *ops) {
    for (uint32_t i = 0; i < count; i++)
        if (!is_var(args[i])) ct_eval_operand_value(c, args[i], take[i], false, &ops[i]);
    for (uint32_t i = 0; i < count; i++)
        if (is_var(args[i])) ct_eval_operand_var(c, args[i]->as.var, args[i]->range, take[i], &ops[i]);
}

/* The nesting depth of array elements that must be compared for shape; 0: none. */
static uint32_t element_rank(const CtType *array) { return ct_eval_array_rank(array->parts[0]); }

static uint32_t emit_generic(Compile *c, CtCore *e, uint32_t dest, const Operand *ops) {
    CtCore **args = e->as.call.args;
    CtType *operand_type = NULL;
    for (uint32_t i = e->as.call.count; i-- > 0;)
        if (args[i]->type->kind == TYPE_ARRAY) operand_type = args[i]->type;
    uint32_t start = ct_eval_begin(c, OP_ARRAY, e->range);
    ct_eval_add_word(c, dest);
    ct_eval_add_word(c, e->as.call.of.array);
    add_pointer(c, e->type);
    add_pointer(c, operand_type);
    for (uint32_t i = 0; i < 3; i++) ct_eval_add_word(c, ops[i].slot);
    return start;
}

uint32_t ct_eval_emit_array(Compile *c, CtCore *e, uint32_t want) {
    CtArrayOp op = e->as.call.of.array;
    uint32_t count = e->as.call.count;
    Operand ops[3] = {{.slot = 0}, {.slot = 0}, {.slot = 0}};
    bool update = op == ARRAY_UPDATE, snoc = op == ARRAY_SNOC;
    bool take[3] = {update || snoc || op == ARRAY_ADD_AT, snoc, update};
    bool is_pointer = ct_value_type_is_pointer(e->type);
    mixed_operands(c, e->as.call.args, count, take, ops);
    ct_eval_count_steps(c, 1);
    uint32_t dest = ct_eval_result_slot(c, want, ops, count);
    uint32_t start;
    if (op == ARRAY_INDEX || op == ARRAY_LENGTH || update || snoc) {
        Op code = op == ARRAY_LENGTH ? OP_LENGTH
                  : update           ? OP_UPDATE
                  : snoc             ? OP_SNOC
                                     : (is_pointer ? OP_INDEX_OBJECT : OP_INDEX);
        start = ct_eval_begin(c, code, e->range);
        ct_eval_add_word(c, dest);
        for (uint32_t i = 0; i < count; i++) ct_eval_add_word(c, ops[i].slot);
        if (update || snoc) ct_eval_add_word(c, element_rank(e->type));
    } else {
        start = emit_generic(c, e, dest, ops);
    }
    bool is_generic = c->words.items[start] == OP_ARRAY;
    uint32_t made = ct_eval_finish(c, start, dest, want, is_pointer, ops, count);
    if (is_generic && home_of(c->m)->trap != CT_TRAP_NONE) ct_eval_begin(c, OP_TRAPPED, e->range);
    return made;
}

static uint32_t emit_new_array(Compile *c, CtSourceRange range, const CtLayout *layout, uint32_t capacity) {
    if (layout == NULL) c->heap_full = true;
    uint32_t array = ct_eval_slot_new(c);
    ct_eval_begin(c, OP_NEW_ARRAY, range);
    ct_eval_add_word(c, array);
    add_pointer(c, layout);
    ct_eval_add_word(c, capacity);
    ct_eval_own(c, array);
    return array;
}

static void emit_push(Compile *c, CtCore *item, uint32_t array, uint32_t rank) {
    if (is_literal(item)) {
        ct_eval_begin(c, OP_PUSH_CONST, item->range);
        ct_eval_add_word(c, array);
        ct_eval_add_word64(c, (uint64_t)ct_eval_literal_word(item).integer);
        return;
    }
    Operand op;
    ct_eval_operand(c, item, true, &op);
    uint32_t free = ct_eval_result_slot(c, NO_SLOT, &op, 1);
    ct_eval_slot_free(c, free);
    uint32_t start = ct_eval_begin(c, OP_PUSH, item->range);
    ct_eval_add_word(c, array);
    ct_eval_add_word(c, op.slot);
    ct_eval_add_word(c, rank);
    ct_eval_finish(c, start, NO_SLOT, NO_SLOT, false, &op, 1);
}

static uint32_t moved(Compile *c, uint32_t slot, uint32_t want) {
    Operand op = ct_eval_operand_slot(slot, true, true);
    if (want == NO_SLOT || want == slot) return slot;
    uint32_t dest = ct_eval_result_slot(c, want, &op, 1);
    uint32_t start = ct_eval_begin(c, OP_MOVE, CT_NO_RANGE);
    ct_eval_add_word(c, dest);
    ct_eval_add_word(c, slot);
    return ct_eval_finish(c, start, dest, want, true, &op, 1);
}

uint32_t ct_eval_emit_array_literal(Compile *c, CtCore *e, uint32_t want) {
    uint32_t count = e->as.call.count;
    uint32_t array = emit_new_array(c, e->range, ct_value_layout_array(c->m->heap, e->type), count);
    for (uint32_t i = 0; i < count; i++) emit_push(c, e->as.call.args[i], array, element_rank(e->type));
    ct_eval_count_steps(c, count + 1);
    return moved(c, array, want);
}

/* The heads go to an array, the tail to a slot; then all cells are made at once, from the last. */
uint32_t ct_eval_emit_spine(Compile *c, CtCore *e, uint32_t want) {
    const CtCore *end;
    uint32_t count = ct_eval_compile_spine(e, &end);
    const CtCon *con = e->as.call.of.con;
    CtSourceRange range = e->range;
    CtType *heads_type = ct_core_type_array(c->m->program, con->fields[0]);
    uint32_t heads = emit_new_array(c, range, ct_value_layout_array(c->m->heap, heads_type), count);
    for (uint32_t i = 0; i < count; i++) {
        emit_push(c, e->as.call.args[0], heads, 0);
        e = e->as.call.args[1];
    }
    ct_eval_count_steps(c, count);
    Operand ops[2] = {ct_eval_operand_slot(heads, true, true)};
    ct_eval_operand(c, e, true, &ops[1]);
    const CtLayout *layout = ct_value_layout_con(c->m->heap, con);
    if (layout == NULL) c->heap_full = true;
    uint32_t dest = ct_eval_result_slot(c, want, ops, 2);
    uint32_t start = ct_eval_begin(c, OP_SPINE, range);
    ct_eval_add_word(c, dest);
    add_pointer(c, layout);
    ct_eval_add_word(c, con->tag);
    ct_eval_add_word(c, ops[0].slot);
    ct_eval_add_word(c, ops[1].slot);
    return ct_eval_finish(c, start, dest, want, true, ops, 2);
}
