/* Maps of which a few elements are read, each at a literal index, beside the map: each of these elements is computed
 * where it is first read, and no array is made.
 *
 *     t = map n do i: ⟨e of i⟩; yield e
 *     a = read t, 0                         →     a = ⟨e of 0⟩
 *     b = read t, 1                               b = ⟨e of 1⟩
 *
 * The number of elements need not be known: what is read is there, so no more is computed than before. The map cannot
 * fail, and no step in front of a read changes in place what the map reads. So a fold that adds rows to a small vector
 * makes no rows, once fusion has put what makes a row into the fold's block, and the fold carries elements
 * (carried_items.c). Fusion does this when it has finished. */
#include "flow/copy.h"
#include "flow/opt/passes.h"
#include "flow/rename.h"

enum { MOST_ELEMENTS = 16, LARGEST = 256 /* bound of the steps that a map becomes */ };

typedef struct Reads {
    CtFlow *flow;
    CtFlowFunction *function;
    CtFlowEffects effects;
    CtFlowValues now;
    CtFlowMarks objects;
    const uint32_t *uses;      /* by variable number */
    const CtFlowStep **makers; /* by variable number: the map whose elements are computed where they are read */
    CtFlowArgs *elements;      /* of such a map's results, by variable number, as many as have been computed: */
    uint32_t *have;            /* a bit each */
    uint32_t vars;
    bool rows; /* elements of rows are read, which are looked for again */
} Reads;

/* The literal index at which a step reads an array, of a matrix that of the row; −1 for other steps. */
static int64_t literal_index(const CtFlowStep *step) {
    if (step->kind != FLOW_READ || step->args.items[1].var != NULL) return -1;
    int64_t index = step->args.items[1].lit.integer;
    return index < MOST_ELEMENTS ? index : -1;
}

/* Whether everything that uses the array is a read in this block behind the map; the indices are added to `bits`. The
 * last such read is step `last`, unless that is behind it. */
static bool only_read(const Reads *r, const CtFlowBlock *block, uint32_t from, const CtFlowVar *array, uint32_t *bits,
                      uint32_t *last) {
    uint32_t reads = 0;
    for (uint32_t i = from; i < block->steps.count && reads < r->uses[array->id]; i++) {
        int64_t index = literal_index(block->steps.items[i]);
        if (index < 0 || block->steps.items[i]->args.items[0].var != array) continue;
        *bits |= 1u << index;
        *last = i > *last ? i : *last;
        reads++;
    }
    return reads == r->uses[array->id];
}

static uint32_t count_bits(uint32_t bits) {
    uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1) count++;
    return count;
}

static bool is_wanted(Reads *r, const CtFlowBlock *block, uint32_t at) {
    const CtFlowStep *map = block->steps.items[at];
    if (map->kind != FLOW_LOOP || map->as.loop.carried > 0 || map->as.loop.initial || map->as.loop.counted)
        return false;
    if (map->as.loop.block->exit != EXIT_YIELD || !ct_flow_is_total(&r->effects, map)) return false;
    uint32_t bits = 0, last = at;
    for (uint32_t i = 0; i < map->results.count; i++) {
        const CtFlowVar *array = map->results.items[i];
        if (array == NULL) continue;
        if (!only_read(r, block, at + 1, array, &bits, &last)) return false;
    }
    return bits != 0 && ct_flow_size(map->as.loop.block) * count_bits(bits) <= LARGEST &&
           ct_flow_may_run_later(&r->objects, block, at, last);
}

/* Computes element `index` of all arrays of a map. */
static void compute(Reads *r, CtFlowBlock *to, const CtFlowStep *map, uint32_t index) {
    const CtFlowBlock *block = map->as.loop.block;
    CtFlowCopy copy = {.flow = r->flow, .into = r->function, .place = CT_NO_RANGE};
    CtFlowArg literal = {.type = block->params.items[0]->type, .lit.integer = index};
    ct_flow_copy_stands(&copy, block->params.items[0], literal);
    for (uint32_t i = 0; i < block->steps.count; i++)
        ct_push(r->flow->arena, &to->steps, ct_flow_copy_step(&copy, block->steps.items[i]));
    CtFlowArgs values = ct_flow_copy_args(&copy, &block->values);
    for (uint32_t i = 0; i < map->results.count; i++) {
        const CtFlowVar *array = map->results.items[i];
        if (array == NULL) continue;
        CtFlowArgs *elements = &r->elements[array->id];
        while (elements->count < MOST_ELEMENTS) ct_push(r->flow->arena, elements, (CtFlowArg){0});
        elements->items[index] = values.items[i];
        r->have[array->id] |= 1u << index;
    }
}

/* Reads an element of a row, which may be a map, too. */
static void read_in_row(Reads *r, CtFlowBlock *to, CtFlowStep *step, CtFlowArg row) {
    CtFlowArgs args = {0};
    ct_push(r->flow->arena, &args, row);
    for (uint32_t i = 2; i < step->args.count; i++) ct_push(r->flow->arena, &args, step->args.items[i]);
    step->args = args;
    ct_push(r->flow->arena, &to->steps, step);
    r->rows = true;
}

static bool read_computed(Reads *r, CtFlowBlock *to, CtFlowStep *step) {
    int64_t index = literal_index(step);
    const CtFlowVar *array = index < 0 ? NULL : step->args.items[0].var;
    const CtFlowStep *map = array == NULL || array->id >= r->vars ? NULL : r->makers[array->id];
    if (map == NULL) return false;
    if ((r->have[array->id] >> index & 1) == 0) compute(r, to, map, (uint32_t)index);
    CtFlowArg element = r->elements[array->id].items[index];
    if (step->args.count > 2)
        read_in_row(r, to, step, element);
    else
        ct_flow_stands(&r->now, step->results.items[0], element);
    return true;
}

/* Inner blocks first, so that what is computed several times is final. */
static void visit(Reads *r, CtFlowBlock *block) {
    CtFlowBlock old = *block;
    memset(&block->steps, 0, sizeof block->steps);
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        ct_flow_rename(&r->now, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(r, ct_flow_inner(step, j));
        if (read_computed(r, block, step)) continue;
        if (is_wanted(r, &old, i)) {
            CT_FIRED("fuse.read_elements");
            for (uint32_t j = 0; j < step->results.count; j++)
                if (step->results.items[j] != NULL) r->makers[step->results.items[j]->id] = step;
        } else {
            ct_push(r->flow->arena, &block->steps, step);
        }
    }
    ct_flow_rename(&r->now, &block->values);
}

static void look(Reads *r) {
    CtArena *arena = r->flow->arena;
    r->rows = false;
    r->vars = r->function->vars;
    r->uses = ct_flow_count_uses(r->flow, r->function);
    r->makers = CT_NEW_ARRAY(arena, const CtFlowStep *, r->vars + 1);
    r->elements = CT_NEW_ARRAY(arena, CtFlowArgs, r->vars + 1);
    r->have = CT_NEW_ARRAY(arena, uint32_t, r->vars + 1);
    ct_flow_values_clear(&r->now, arena);
    visit(r, r->function->body);
}

void ct_flow_read_elements(CtFlow *flow) {
    Reads r = {.flow = flow, .effects = ct_flow_effects(flow)};
    r.objects = (CtFlowMarks){.arena = flow->arena, .changed = ct_flow_changed_parameters(flow)};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        r.function = flow->functions.items[i];
        do look(&r);
        while (r.rows && CT_FIRED("fuse.read_rows"));
    }
}
