/* Code for array operations with a function argument: loops in the current frame. The body of a λ is compiled into the
 * loop; other functions are called. No function is called from C. */
#include "eval/compile.h"

enum { MAX_LOOP_ARGS = 3 };

typedef struct LoopCode {
    CtCore *e;
    CtArrayOp op;
    uint32_t count;
    int function;
    CtCore *fun;
    CtLam *lam; /* compiled in line, or NULL */
    Operand ops[MAX_LOOP_ARGS];
    CT_VEC(Local *) drops; /* variables from outside whose last use is in the loop */
    uint32_t out, counter, x, y, acc;
    Span span;
    Branch branch;
    uint32_t start; /* of the instruction before the body, whose last words are the jump and the steps */
    uint32_t body;
} LoopCode;

/* Which parts each operation has. */
static bool has_acc(CtArrayOp op) {
    return op == ARRAY_FOLDL || op == ARRAY_REDUCE || op == ARRAY_SCANL || op == ARRAY_SCAN || op == ARRAY_MAP_ACCUM;
}
static bool has_out(CtArrayOp op) { return op != ARRAY_FOLDL && op != ARRAY_REDUCE; }

static CtType *fun_param(const LoopCode *l, uint32_t index) { return l->fun->type->parts[index]; }
static CtType *fun_result(const LoopCode *l) { return l->fun->type->parts[l->fun->type->count - 1]; }

/* The array that the loop makes. */
static CtType *out_type(const LoopCode *l) { return l->op == ARRAY_MAP_ACCUM ? l->e->type->parts[1] : l->e->type; }

static void read_operands(Compile *c, LoopCode *l) {
    CtCore **args = l->e->as.call.args;
    for (uint32_t i = 0; i < l->count; i++) {
        bool is_code = (int)i == l->function && (l->lam != NULL || is_global_function(l->fun));
        bool take = has_acc(l->op) && i == 1;
        if (!is_var(args[i]) && !is_code) ct_eval_operand_value(c, args[i], take, false, &l->ops[i]);
    }
    for (uint32_t i = 0; i < l->count; i++)
        if (is_var(args[i]))
            ct_eval_operand_var(c, args[i]->as.var, args[i]->range, has_acc(l->op) && i == 1, &l->ops[i]);
    uint32_t drops = ct_eval_next_entry(c);
    for (uint32_t i = 0; i < drops; i++) {
        Local *local = c->locals.items[ct_eval_next_entry(c)];
        if (local->kind == LOCAL_CAPTURE) ct_eval_load_capture(c, local);
        ct_push(c->arena, &l->drops, local);
    }
}

/* The accumulator gets a slot of its own, to which the loop's result returns. */
static void settle_acc(Compile *c, LoopCode *l) {
    Operand *acc = &l->ops[1];
    l->acc = acc->slot;
    bool own_slot = acc->free_slot && (acc->local == NULL || acc->local->kind == LOCAL_SLOT);
    if (own_slot) return;
    uint32_t dest = ct_eval_result_slot(c, NO_SLOT, acc, 1);
    l->acc = dest;
    if (dest == acc->slot) return;
    uint32_t start = ct_eval_begin(c, OP_MOVE, CT_NO_RANGE);
    ct_eval_add_word(c, dest);
    ct_eval_add_word(c, acc->slot);
    ct_eval_finish(c, start, dest, dest, acc->is_pointer, acc, 1);
}

/* ---- the instructions before and behind the body ---- */

static void add_array(Compile *c, const Operand *array, bool own) {
    ct_eval_add_word(c, array->slot);
    ct_eval_add_word(c, array->drop_after && own);
}

/* Whether elements are moved out of the array, as in a fold over an array that it owns. Where elements are independent
 * they are retained instead, so that they can be computed in any order, and again after a failure. A map may still
 * build its result in the memory of an array of numbers. */
static bool takes_elements(const Compile *c, const LoopCode *l) {
    if (has_acc(l->op)) return true;
    return !ct_value_type_is_pointer(l->e->as.call.args[1]->type->parts[0]) && home_of(c->m)->team == NULL;
}

static void add_layout(Compile *c, const LoopCode *l) {
    const CtLayout *layout = ct_value_layout_array(c->m->heap, out_type(l));
    if (layout == NULL) c->heap_full = true;
    add_pointer(c, layout);
}

/* Writes the operands that both instructions share and that come first. */
static void add_state(Compile *c, const LoopCode *l) {
    if (l->op == ARRAY_BUILD) {
        ct_eval_add_word(c, l->ops[0].slot);
        ct_eval_add_word(c, l->out);
    } else if (has_acc(l->op)) {
        add_array(c, &l->ops[2], true);
    } else {
        add_array(c, &l->ops[1], takes_elements(c, l));
        if (l->op == ARRAY_ZIP_WITH) add_array(c, &l->ops[2], false);
        ct_eval_add_word(c, l->out);
    }
    ct_eval_add_word(c, l->counter);
    ct_eval_add_word(c, l->x);
    if (l->op == ARRAY_ZIP_WITH) ct_eval_add_word(c, l->y);
    if (has_acc(l->op) && has_out(l->op)) {
        ct_eval_add_word(c, l->acc);
        ct_eval_add_word(c, l->out);
    }
}

static Op loop_op(CtArrayOp op, bool next) {
    if (op == ARRAY_BUILD) return next ? OP_BUILD_NEXT : OP_BUILD_BEGIN;
    if (op == ARRAY_MAP) return next ? OP_MAP_NEXT : OP_MAP_BEGIN;
    if (op == ARRAY_ZIP_WITH) return next ? OP_ZIP_NEXT : OP_ZIP_BEGIN;
    if (op == ARRAY_MAP_ACCUM) return next ? OP_ACCUM_NEXT : OP_ACCUM_BEGIN;
    if (op == ARRAY_SCANL || op == ARRAY_SCAN) return next ? OP_SCAN_NEXT : OP_SCAN_BEGIN;
    return next ? OP_FOLD_NEXT : OP_FOLD_BEGIN;
}

static void own_elements(Compile *c, const LoopCode *l) {
    uint32_t first = has_acc(l->op) ? 1 : 0;
    if (ct_value_type_is_pointer(fun_param(l, first))) ct_eval_own(c, l->x);
    if (l->op == ARRAY_ZIP_WITH && ct_value_type_is_pointer(fun_param(l, 1))) ct_eval_own(c, l->y);
}

static void loop_begin(Compile *c, LoopCode *l) {
    l->counter = ct_eval_slot_new(c);
    if (has_out(l->op)) l->out = ct_eval_slot_new(c);
    l->x = ct_eval_slot_new(c);
    if (l->op == ARRAY_ZIP_WITH) l->y = ct_eval_slot_new(c);
    l->start = ct_eval_begin(c, loop_op(l->op, false), l->e->range);
    add_state(c, l);
    if (has_acc(l->op) && has_out(l->op)) ct_eval_add_word(c, l->op == ARRAY_SCANL);
    if (has_out(l->op)) add_layout(c, l);
    if (!has_acc(l->op)) ct_eval_add_word(c, 0);
    ct_eval_add_word(c, 0);
    ct_eval_add_word(c, 1); /* the element itself is a step */
    if (has_out(l->op)) ct_eval_own(c, l->out);
    ct_eval_branch_begin(c, &l->branch);
    c->cost_at = c->words.count - 1;
    l->body = c->words.count;
    own_elements(c, l);
}

/* Whether the steps of an element are not bounded by its text. */
static bool calls(Compile *c, CtCore *core) {
    if (core->kind == CORE_APP) return true;
    CtCoreList children = {0};
    ct_core_children(c->arena, core, &children);
    for (uint32_t i = 0; i < children.count; i++)
        if (calls(c, children.items[i])) return true;
    return false;
}

static void loop_iteration(Compile *c, const LoopCode *l, uint32_t result, uint32_t cost) {
    uint32_t start = ct_eval_begin(c, OP_ITERATION, l->e->range);
    bool build = l->op == ARRAY_BUILD, zip = l->op == ARRAY_ZIP_WITH;
    bool flat =
        ct_eval_array_rank(out_type(l)->parts[0]) == 0; /* rows are compared with the first, which must be there */
    if (flat && (l->lam == NULL || calls(c, l->lam->body))) c->words.items[l->body - 3] = start - l->start;
    ct_eval_add_word(c, build ? ITERATION_BUILD : zip ? ITERATION_ZIP : ITERATION_MAP);
    ct_eval_add_word(c, l->ops[build ? 0 : 1].slot);
    ct_eval_add_word(c, zip ? l->ops[2].slot : 0);
    ct_eval_add_word(c, l->out);
    ct_eval_add_word(c, l->counter);
    ct_eval_add_word(c, l->x);
    ct_eval_add_word(c, l->y);
    ct_eval_add_word(c, result);
    ct_eval_add_word(c, ct_eval_array_rank(out_type(l)->parts[0]));
    ct_eval_add_word(c, l->span.begin);
    ct_eval_add_word(c, l->span.best);
    ct_eval_add_word(c, l->span.mark);
    ct_eval_add_word(c, start - l->body);
    ct_eval_add_word(c, cost);
}

static void loop_next(Compile *c, LoopCode *l, uint32_t result) {
    uint32_t cost = c->words.items[l->body - 1];
    if (l->span.measured && !has_acc(l->op)) loop_iteration(c, l, result, cost);
    uint32_t start = ct_eval_begin(c, loop_op(l->op, true), l->e->range);
    add_state(c, l);
    bool takes = has_out(l->op) && l->op != ARRAY_SCANL && l->op != ARRAY_SCAN;
    if (takes) {
        ct_eval_add_word(c, result);
        if (ct_value_type_is_pointer(fun_result(l))) ct_eval_event(c, start + 1, EVENT_DISOWN, result);
        ct_eval_slot_free(c, result);
    }
    if (has_out(l->op)) ct_eval_add_word(c, ct_eval_array_rank(out_type(l)->parts[0]));
    ct_eval_add_word(c, l->body - start);
    ct_eval_add_word(c, cost);
    if (l->op == ARRAY_MAP_ACCUM && ct_value_type_is_pointer(fun_param(l, 0))) ct_eval_own(c, l->acc);
    ct_eval_patch(c, l->body - 2, l->start);
    ct_eval_branch_end(c, &l->branch);
    /* Behind the end of the branch: a capture that the body loaded after its accumulator had ended may stand in the
     * accumulator's slot, and the end of the branch frees the slots of such captures. */
    if (has_acc(l->op)) ct_eval_slot_mark(c, l->acc);
}

/* ---- the body ---- */

static uint32_t loop_body(Compile *c, LoopCode *l) {
    bool into_acc = has_acc(l->op) && l->op != ARRAY_MAP_ACCUM;
    uint32_t want = into_acc ? l->acc : NO_SLOT;
    uint32_t slots[2] = {l->x, l->y};
    if (has_acc(l->op)) {
        slots[0] = l->acc;
        slots[1] = l->x;
    }
    uint32_t count = l->fun->type->count - 1, result;
    if (l->lam != NULL) {
        for (uint32_t i = 0; i < count; i++) ct_eval_bind_slot(c, l->lam->params[i], slots[i], ct_eval_next_entry(c));
        result = ct_eval_emit_expr(c, l->lam->body, want, false);
    } else {
        Operand args[2], fun = l->ops[l->function];
        for (uint32_t i = 0; i < count; i++)
            args[i] = ct_eval_operand_slot(slots[i], ct_value_type_is_pointer(fun_param(l, i)), true);
        CtCode *code = NULL;
        if (is_global_function(l->fun)) {
            code = ct_eval_code_of_global(c->m, l->fun->as.global);
        } else {
            ct_eval_begin(c, OP_RETAIN, CT_NO_RANGE);
            ct_eval_add_word(c, fun.slot);
            ct_eval_own(c, fun.slot);
            fun = (Operand){.slot = fun.slot, .is_pointer = true, .taken = true};
        }
        ct_eval_count_steps(c, 1);
        result = ct_eval_emit_call(c, l->e->range, code, code == NULL ? &fun : NULL, args, count, want,
                                   ct_value_type_is_pointer(fun_result(l)));
    }
    return result;
}

/* ---- the end ---- */

static uint32_t loop_result(Compile *c, LoopCode *l, uint32_t want) {
    uint32_t slot = has_out(l->op) ? l->out : l->acc;
    bool is_pointer = ct_value_type_is_pointer(l->e->type);
    if (l->op == ARRAY_MAP_ACCUM) {
        Operand ops[2] = {ct_eval_operand_slot(l->acc, ct_value_type_is_pointer(fun_param(l, 0)), true),
                          ct_eval_operand_slot(l->out, true, true)};
        const CtLayout *layout = ct_value_layout_tuple(c->m->heap, l->e->type);
        if (layout == NULL) c->heap_full = true;
        uint32_t dest = ct_eval_result_slot(c, want, ops, 2);
        uint32_t start = ct_eval_begin(c, OP_FIELDS2, l->e->range);
        ct_eval_add_word(c, dest);
        add_pointer(c, layout);
        ct_eval_add_word(c, 0);
        ct_eval_add_word(c, l->acc);
        ct_eval_add_word(c, l->out);
        return ct_eval_finish(c, start, dest, want, true, ops, 2);
    }
    if (has_out(l->op) && has_acc(l->op)) {
        if (ct_value_type_is_pointer(fun_param(l, 0))) ct_eval_drop_slot(c, l->acc);
        ct_eval_slot_free(c, l->acc);
    }
    if (want == NO_SLOT || want == slot) return slot;
    Operand op = ct_eval_operand_slot(slot, is_pointer, true);
    uint32_t dest = ct_eval_result_slot(c, want, &op, 1);
    uint32_t start = ct_eval_begin(c, OP_MOVE, CT_NO_RANGE);
    ct_eval_add_word(c, dest);
    ct_eval_add_word(c, slot);
    return ct_eval_finish(c, start, dest, want, is_pointer, &op, 1);
}

/* ---- the whole ---- */

uint32_t ct_eval_emit_loop(Compile *c, CtCore *e, uint32_t want) {
    LoopCode l = {.e = e, .op = e->as.call.of.array, .count = e->as.call.count};
    l.function = ct_eval_array_function_index(l.op);
    l.fun = e->as.call.args[l.function];
    l.lam = is_inline_function(l.fun) ? l.fun->as.lam : NULL;
    read_operands(c, &l);
    ct_eval_count_steps(c, 1);
    if (has_acc(l.op)) settle_acc(c, &l);
    if (!has_acc(l.op)) ct_eval_span_begin(c, &l.span, e->range);
    loop_begin(c, &l);
    uint32_t result = loop_body(c, &l);
    loop_next(c, &l, result);
    if (!has_acc(l.op)) ct_eval_span_end(c, &l.span, l.out);
    ct_eval_slot_free(c, l.counter); /* the slots of the elements were those of the parameters, which have ended */
    for (uint32_t i = 0; i < l.count; i++)
        if (!(has_acc(l.op) && i == 1)) ct_eval_drop_some(c, &l.ops[i]);
    for (uint32_t i = 0; i < l.drops.count; i++) ct_eval_drop_local(c, l.drops.items[i]);
    return loop_result(c, &l, want);
}
