/* Inner loops run for one lane after the other: x[p, j] += … for all j, where p differs between lanes. The elements of
 * one lane are contiguous, so the C compiler vectorises the inner loop; vectors over lanes would have to scatter every
 * element. */
#include "emit/vector/internal.h"

/* Whether an update adds, along the inner loop, to a row that depends on the lane. */
static bool adds_along(const Emit *e, const CtFlowStep *step, const CtFlowVar *index) {
    const CtFlowArgs *args = &step->args;
    const CtFlowArgs outer = {.items = args->items + 1, .count = args->count - 3};
    return args->count > 3 && args->items[args->count - 2].var == index && ct_emit_vector_any_differs(e, &outer) &&
           ct_emit_vector_kind(e, &args->items[0]) == LANE_ACC;
}

/* Whether an argument is an array that is the same in all lanes, or a number. */
static bool reaches(const Emit *e, const CtFlowArg *arg) {
    LaneKind kind = ct_emit_vector_kind(e, arg);
    return kind == LANE_SAME || kind == LANE_VALUE || kind == LANE_ITERATION || kind == LANE_ACC || kind == LANE_OLD ||
           kind == LANE_MORE;
}

static bool all_reach(const Emit *e, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (!reaches(e, &args->items[i])) return false;
    return true;
}

/* Whether a switch only chooses between numbers that primitives compute. */
static bool chooses(const Emit *e, const CtFlowStep *step) {
    for (uint32_t i = 0; step->kind == FLOW_SWITCH && i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit != EXIT_YIELD || !all_reach(e, &block->values)) return false;
        for (uint32_t j = 0; j < block->steps.count; j++)
            if (block->steps.items[j]->kind != FLOW_PRIM || !all_reach(e, &block->steps.items[j]->args)) return false;
    }
    return step->kind == FLOW_SWITCH && CT_FIRED("serial_lanes.switch");
}

static bool goes_apart(const Emit *e, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    bool adds = false;
    if (step->results.count > step->as.loop.carried) return false;
    for (uint32_t i = 0; i < step->as.loop.carried; i++)
        if (ct_emit_vector_kind(e, &step->args.items[1 + i]) != LANE_ACC) return false;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *inner = block->steps.items[i];
        if (!all_reach(e, &inner->args)) return false;
        bool simple = inner->kind == FLOW_PRIM || inner->kind == FLOW_READ || inner->kind == FLOW_UPDATE;
        if (!simple && !chooses(e, inner)) return false;
        if (inner->kind == FLOW_UPDATE && !adds_along(e, inner, block->params.items[0])) return false;
        adds |= inner->kind == FLOW_UPDATE;
    }
    return adds;
}

static void pick(Emit *e, CtMap *picked, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) {
        const CtFlowArg *arg = &args->items[i];
        LaneKind kind = ct_emit_vector_kind(e, arg);
        const char *text = arg->var != NULL ? e->uses[arg->var->id].text : NULL;
        if (text == NULL || (kind != LANE_VALUE && kind != LANE_ITERATION) || ct_map_has(picked, arg->var->id))
            continue;
        ct_map_set(e->arena, picked, arg->var->id, arg->var);
        ct_emit_alias(e, arg->var, ct_format(e->arena, kind == LANE_ITERATION ? "(%s + lane)" : "%s[lane]", text));
    }
}

/* Extracts the lane's value of each varying variable that the loop uses. */
static void pick_used(Emit *e, CtMap *picked, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        pick(e, picked, &step->args);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++) {
            pick_used(e, picked, step->as.cases.branches[j].block);
            pick(e, picked, &step->as.cases.branches[j].block->values);
        }
    }
}

/* Sets pointers to the accumulators, made unshared. */
static void point_into(Emit *e, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.loop.carried; i++) {
        const CtFlowVar *start = step->args.items[1 + i].var, *root = e->lanes[start->id].root;
        const char *own = ct_format(e->arena, "lane%u", ++e->temporaries);
        ct_emit_line(e, "double *restrict %s = (double *)%s;", own, e->lanes[root->id].data);
        e->uses[start->id].own = own;
        e->uses[start->id].lengths = e->uses[root->id].lengths;
    }
}

bool ct_emit_vector_apart(Emit *e, CtFlowStep *step) {
    if (!goes_apart(e, step)) return false;
    CT_FIRED("serial_lanes.loop");
    ct_emit_flush(e, false);
    Use *before = ct_emit_keep_uses(e);
    ct_emit_line(e, "for (int lane = 0; lane < CT_LANES; lane++) {");
    e->depth++;
    point_into(e, step);
    CtMap picked = {0};
    pick_used(e, &picked, step->as.loop.block);
    Lane *lanes = e->lanes;
    e->lanes = NULL;
    e->one_by_one = true;
    ct_emit_loop(e, step);
    for (uint32_t i = 0; i < step->as.loop.carried; i++) /* accessed through the pointers */
        ct_emit_line(e, "(void)%s;", e->uses[step->as.loop.block->params.items[1 + i]->id].text);
    e->one_by_one = false;
    e->lanes = lanes;
    e->depth--;
    ct_emit_line(e, "}");
    ct_emit_go_back(e, before);
    ct_emit_forget_uses(e, before);
    for (uint32_t i = 0; i < step->as.loop.carried; i++)
        ct_emit_alias(e, step->results.items[i], ct_emit_arg(e, &step->args.items[1 + i]));
    return true;
}
