/* Maps of which less is needed. zipWith on lists ends with the shorter one, so in zipWith f (map g xs) ys the map may
 * make elements that nothing reads. Where one loop alone reads what a map makes, at its own index, and is as long as
 * the least of the map's length and others, the map becomes as long as this loop, and stands in front of it. So the two
 * are fused. The map cannot fail. */
#include "flow/opt/passes.h"

enum { MOST_MINIMA = 8, FAR = 200 };

typedef struct Shorter {
    CtFlow *flow;
    CtFlowEffects effects;
    CtFlowMarks objects;
    const CtFlowStep **makers; /* by variable number: the step that gives a minimum */
    const uint32_t *uses;      /* by variable number */
} Shorter;

static void note(void *data, CtFlowStep *step) {
    Shorter *s = data;
    if (step->kind == FLOW_PRIM && step->as.prim == PRIM_INT_MIN) s->makers[step->results.items[0]->id] = step;
}

/* Whether a number is the least of another one and others. */
static bool is_least(const Shorter *s, const CtFlowArg *least, const CtFlowVar *of, uint32_t depth) {
    if (least->var == NULL || depth == MOST_MINIMA) return false;
    if (least->var == of) return true;
    const CtFlowStep *min = s->makers[least->var->id];
    return min != NULL &&
           (is_least(s, &min->args.items[0], of, depth + 1) || is_least(s, &min->args.items[1], of, depth + 1));
}

static bool is_map(const Shorter *s, const CtFlowStep *step) {
    return step->kind == FLOW_LOOP && !step->as.loop.initial && step->as.loop.carried == 0 &&
           step->as.loop.block->exit == EXIT_YIELD && step->args.items[0].type->kind == FLOW_I64 &&
           ct_flow_is_total(&s->effects, step);
}

/* How often a loop reads an array at its own index, in any case. */
static uint32_t reads_of(const CtFlowStep *loop, const CtFlowVar *array) {
    const CtFlowBlock *block = loop->as.loop.block;
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *read = block->steps.items[i];
        if (read->kind == FLOW_READ && read->args.items[0].var == array)
            count += read->args.items[1].var == block->params.items[0];
    }
    return count;
}

/* Whether a loop reads all arrays of a map that are used at all, and nothing else uses them. */
static bool is_only_reader(const Shorter *s, const CtFlowStep *map, const CtFlowStep *loop) {
    uint32_t all = 0;
    for (uint32_t i = 0; i < map->results.count; i++) {
        const CtFlowVar *array = map->results.items[i];
        if (array == NULL) continue;
        if (reads_of(loop, array) != s->uses[array->id]) return false;
        all += s->uses[array->id];
    }
    return all > 0;
}

static void shorten(Shorter *s, CtFlowBlock *block, uint32_t at) {
    CtFlowStep *map = block->steps.items[at];
    for (uint32_t i = at + 1; i < block->steps.count && i < at + FAR; i++) {
        CtFlowStep *loop = block->steps.items[i];
        if (loop->kind != FLOW_LOOP || !is_only_reader(s, map, loop)) continue;
        const CtFlowArg *length = &loop->args.items[0];
        if (length->type->kind != FLOW_I64 || length->var == map->args.items[0].var) return;
        if (!is_least(s, length, map->args.items[0].var, 0) || !ct_flow_may_run_later(&s->objects, block, at, i))
            return;
        CT_FIRED("fuse.shorter_map");
        map->args.items[0] = *length;
        for (uint32_t j = at; j + 1 < i; j++) block->steps.items[j] = block->steps.items[j + 1];
        block->steps.items[i - 1] = map;
        return;
    }
}

static void visit(Shorter *s, CtFlowBlock *block) {
    for (uint32_t i = block->steps.count; i-- > 0;) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(s, ct_flow_inner(step, j));
        if (is_map(s, step)) shorten(s, block, i);
    }
}

void ct_flow_shorter_maps(CtFlow *flow) {
    Shorter s = {.flow = flow, .effects = ct_flow_effects(flow)};
    s.objects = (CtFlowMarks){.arena = flow->arena, .changed = ct_flow_changed_parameters(flow)};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        s.uses = ct_flow_count_uses(flow, function);
        s.makers = CT_NEW_ARRAY(flow->arena, const CtFlowStep *, function->vars);
        for (uint32_t j = 0; j < function->vars; j++) s.makers[j] = NULL;
        ct_flow_each_step(function->body, note, &s);
        visit(&s, function->body);
    }
}
