/* Carried numbers that are what the iteration before has computed: recurrences of first order. The lanes of one are
 * those of what is computed, moved by one, with the last lane of the vector before in front:
 *
 *     ct_lanes before_wide = ct_all(before);
 *     for (…) {
 *         ct_lanes item = …;
 *         … ct_lanes_behind(before_wide, item) …
 *         before_wide = item;
 *     }
 *     before = before_wide[CT_LANES - 1];
 *
 * It may be used only where the item has been computed. */
#include "flow/analysis/analysis.h"
#include "emit/vector/internal.h"

bool ct_emit_vector_delays(Emit *e, const CtFlowStep *step, uint32_t carried, LaneSum *sum) {
    const CtFlowBlock *block = step->as.loop.block;
    CtFlowVar *param = block->params.items[1 + carried], *value = block->values.items[carried].var;
    const CtFlowStep *binder = ct_flow_binder(block, value);
    /* What a loop gives has the name of what it carries. */
    if (param->type->kind != FLOW_F64 || binder == NULL || binder->kind == FLOW_LOOP) return false;
    CtFlowMarks marks = {.arena = e->arena};
    ct_flow_mark(&marks, param, true);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *each = block->steps.items[i];
        if (ct_flow_uses_marked(&marks, each, NULL)) return false;
        if (each == binder) break;
    }
    e->lanes[param->id].kind = LANE_VALUE;
    sum->terms.count = 0;
    sum->delayed = value;
    return CT_FIRED("delays.carried");
}

static const char *wide(Emit *e, const char *name) { return ct_format(e->arena, "%s_wide", name); }

void ct_emit_vector_delays_begin(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *const *names) {
    for (uint32_t i = 0; i < step->as.loop.carried; i++) {
        CtFlowVar *value = sums[i].delayed;
        if (value == NULL) continue;
        e->uses[value->id].count += 2; /* so that it has a variable in C */
        ct_emit_line(e, "ct_lanes %s = ct_all(%s);", wide(e, names[i]), names[i]);
        ct_emit_alias(e, step->as.loop.block->params.items[1 + i],
                      ct_format(e->arena, "ct_lanes_behind(%s, %s)", wide(e, names[i]), ct_emit_name(e, value)));
    }
}

void ct_emit_vector_delays_next(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *const *names) {
    for (uint32_t i = 0; i < step->as.loop.carried; i++)
        if (sums[i].delayed != NULL) ct_emit_line(e, "%s = %s;", wide(e, names[i]), ct_emit_name(e, sums[i].delayed));
}

void ct_emit_vector_delays_end(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *const *names) {
    for (uint32_t i = 0; i < step->as.loop.carried; i++)
        if (sums[i].delayed != NULL) ct_emit_line(e, "%s = %s[CT_LANES - 1];", names[i], wide(e, names[i]));
}
