/* Inner loops that add to consecutive elements: acc[p, q + j] += … for all j, where p and q are the same in all lanes.
 * Each element has a copy in every lane (rt/simd.h), unless these would not fit into the cache. In that case a strip of
 * eight iterations of the inner loop computes its terms first; then the lanes of all eight terms are summed together,
 * which takes a few operations for each term instead of many. */
#include "emit/vector/internal.h"

enum { STRIP_STEPS = 16 }; /* of an iteration: its code is written once more, and unrolled for a strip */

/* Whether an argument is loop-invariant. */
static bool stays(const CtFlowBlock *block, const CtFlowArg *arg) {
    for (uint32_t i = 0; i < block->params.count; i++)
        if (arg->var != NULL && block->params.items[i] == arg->var) return false;
    return ct_flow_binder(block, arg->var) == NULL;
}

/* Whether an index is the loop's index, or a loop-invariant number plus it. */
static bool counts(const CtFlowBlock *block, const CtFlowArg *index) {
    const CtFlowStep *step = ct_flow_binder(block, index->var);
    if (step == NULL) return index->var == block->params.items[0];
    if (!ct_flow_is_prim(step, PRIM_INT_ADD)) return false;
    const CtFlowArg *a = &step->args.items[0], *b = &step->args.items[1];
    return (stays(block, a) && b->var == block->params.items[0]) ||
           (stays(block, b) && a->var == block->params.items[0]);
}

/* Whether an update adds to consecutive elements in consecutive iterations, to the same one in all lanes. */
static bool adds_along(const Emit *e, const CtFlowBlock *block, const CtFlowStep *step) {
    if (!ct_emit_vector_adds(e, step)) return false;
    CtFlowArgs indices = {.items = step->args.items + 1, .count = step->args.count - 2};
    for (uint32_t i = 0; i + 1 < indices.count; i++)
        if (!stays(block, &indices.items[i])) return false;
    return !ct_emit_vector_any_differs(e, &indices) && counts(block, &indices.items[indices.count - 1]);
}

static Lane *root_lane(const Emit *e, const CtFlowStep *update) {
    return &e->lanes[e->lanes[update->args.items[0].var->id].root->id];
}

typedef CT_VEC(const CtFlowStep *) Updates;

/* The updates of a loop that add to consecutive elements, provided that its body is short straight-line code. */
static Updates find_updates(const Emit *e, const CtFlowBlock *block) {
    Updates updates = {0};
    if (block->steps.count > STRIP_STEPS) return updates;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStepKind kind = block->steps.items[i]->kind;
        if (kind != FLOW_PRIM && kind != FLOW_READ && kind != FLOW_UPDATE && kind != FLOW_CHECK) return updates;
    }
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (adds_along(e, block, block->steps.items[i])) ct_push(e->arena, &updates, block->steps.items[i]);
    return updates;
}

void ct_emit_vector_mark_narrow(const Emit *e, const CtFlowStep *loop) {
    const Updates updates = find_updates(e, loop->as.loop.block);
    for (uint32_t i = 0; i < updates.count; i++) root_lane(e, updates.items[i])->may_be_narrow = true;
}

/* ---- as C ---- */

static Lane *lane_of(const Emit *e, const CtFlowStep *update) { return &e->lanes[update->results.items[0]->id]; }

/* A C expression: whether some accumulator has no copies of its elements in the lanes. */
static const char *any_is_narrow(const Emit *e, const Updates *updates) {
    const char *any = ct_format(e->arena, "%s == NULL", root_lane(e, updates->items[0])->packed);
    for (uint32_t i = 1; i < updates->count; i++) {
        const char *packed = root_lane(e, updates->items[i])->packed;
        if (!ct_emit_mentions(any, packed)) any = ct_format(e->arena, "%s || %s == NULL", any, packed);
    }
    return any;
}

/* Writes eight iterations, whose terms are stored in arrays. */
static void write_iterations(Emit *e, const CtFlowStep *loop, const Updates *updates, const char *strip,
                             const char *const *names) {
    for (uint32_t i = 0; i < updates->count; i++) {
        Lane *lane = lane_of(e, updates->items[i]);
        lane->terms = ct_format(e->arena, "terms%u", ++e->temporaries);
        ct_emit_line(e, "ct_half %s[CT_LANES];", lane->terms);
    }
    const char *index = ct_emit_name(e, loop->as.loop.block->params.items[0]);
    CtText body = ct_text(e->arena), *out = e->out;
    e->out = &body;
    ct_emit_vector_iteration(e, loop, names);
    e->out = out;
    ct_emit_line(e, "CT_UNROLLED");
    ct_emit_line(e, "for (int iteration = 0; iteration < CT_LANES; iteration++) {");
    if (ct_emit_mentions(body.data, index)) ct_emit_line(e, "    const int64_t %s = %s + iteration;", index, strip);
    ct_text_puts(e->out, body.data);
    ct_emit_line(e, "}");
}

/* Adds the sums of the terms to the accumulators, from the first iteration's element on. */
static void write_totals(Emit *e, const CtFlowBlock *block, const Updates *updates) {
    bool are_one = true;
    for (uint32_t i = 0; i < updates->count; i++)
        are_one &= root_lane(e, updates->items[i]) == root_lane(e, updates->items[0]);
    for (uint32_t i = 0; i < updates->count; i++) {
        const CtFlowStep *update = updates->items[i];
        const Lane *root = root_lane(e, update);
        const CtFlowArgs indices = {.items = update->args.items + 1, .count = update->args.count - 2};
        CtFlowStep *sum = ct_flow_binder(block, indices.items[indices.count - 1].var);
        if (sum != NULL && e->uses[sum->results.items[0]->id].text == NULL) ct_emit_step(e, sum);
        const char *words = ct_format(e->arena, "ct_words(%s)", ct_emit_arg(e, &update->args.items[0]));
        const char *place =
                       ct_emit_below(e, ct_emit_vector_place(e, &update->args.items[0], &indices), "CT_LANES", words),
                   *terms = lane_of(e, update)->terms;
        if (are_one && CT_FIRED("strip_accumulators.one_array"))
            ct_emit_line(e, "ct_lanes_add_totals(%s, %s, %s);", root->data, place, terms);
        else if (CT_FIRED("strip_accumulators.several_arrays"))
            ct_emit_line(e, "ct_lanes_add_either(%s, %s, %s, %s);", root->packed, root->data, place, terms);
        lane_of(e, update)->terms = NULL;
    }
    e->pending.count = 0;
}

const char *ct_emit_vector_strips(Emit *e, const CtFlowStep *loop, const char *count, const char *const *names) {
    const CtFlowBlock *block = loop->as.loop.block;
    const Updates updates = find_updates(e, block);
    if (updates.count == 0) return "0";
    CT_FIRED("strip_accumulators.loop");
    Use *before = ct_emit_keep_uses(e);
    const char *strip = ct_format(e->arena, "strip%u", ++e->temporaries);
    ct_emit_line(e, "int64_t %s = 0;", strip);
    ct_emit_line(e, "if (CT_UNLIKELY(%s)) {", any_is_narrow(e, &updates));
    e->depth++;
    ct_emit_line(e, "for (; %s + CT_LANES <= %s; %s += CT_LANES) {", strip, count, strip);
    e->depth++;
    write_iterations(e, loop, &updates, strip, names);
    ct_emit_go_back(e, before);
    ct_emit_alias(e, block->params.items[0], strip);
    write_totals(e, block, &updates);
    ct_emit_go_back(e, before);
    ct_emit_forget_uses(e, before);
    e->depth--;
    ct_emit_line(e, "}");
    e->depth--;
    ct_emit_line(e, "}");
    return strip;
}
