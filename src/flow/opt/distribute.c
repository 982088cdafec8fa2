/* Loop distribution. An inner loop, or a branch, of which one part is the same in each iteration of the loop around it
 * becomes two: the part that is the same, which hoist.c then moves in front of the outer loop, and the rest. So a loop
 * over the directions of a derivative computes the function once: what the tangents need of it is kept in arrays.
 *
 *     map n do i                               x, kept = map m do j { …; e = exp a; yield x, e }
 *       x, dx = map m do j { … }      becomes  map n do i
 *                                                dx = map m do j { e = read kept, j; … }
 *
 * What varies is found first, as a fixed point: the outer loop's index and carried values, and what is computed from
 * these. Of what does not vary, the rest needs values: reads and a few operations are done again; numbers that cost
 * more are kept, and rows of those where an inner loop of an inner loop makes them; if any other value is needed, it
 * counts as varying. An array to which a loop appends is read as it is in the end. What may fail has to be the same in
 * each iteration, so that it fails before the rest or not at all. */
#include "flow/opt/passes.h"

enum {
    AGAIN = 4,                 /* work of a value that is computed again rather than kept */
    TRANSPOSED = 2,            /* of a matrix that is transposed again: no more than that its tangent is */
    MEMORY = 2,                /* work of keeping a number */
    LEAST = 24,                /* work that has to be saved */
    ITERATIONS = 8,            /* of an inner loop, as a guess */
    MOST_ITERATIONS = 1 << 16, /* of a loop whose values are kept, if it is none over an array */
    MOST_KEPT = 512,           /* numbers kept, counted as often as the guess says */
    DEEPEST = 8,               /* blocks inside one another that are looked into */
};

typedef enum Need { NEED_NOTHING, NEED_AGAIN, NEED_KEPT } Need;

enum { SAME = 1, VARYING = 2 };

typedef CT_VEC(CtFlowStep *) Steps;

typedef struct Distribute {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowEffects effects;
    const bool *telling;
    CtFlowFacts facts;
    CtFlowValues now; /* what stands in the part that varies for what does not */
    uint32_t depth;   /* nesting depth of the outer loop's block */
    bool *varies;     /* by variable number */
    uint8_t *needs;   /* a Need */
    uint32_t vars;    /* length of these two: variables with greater numbers are results of splitting, and kept */
    Steps whole;      /* loops and branches that stay as they are */
    bool changed;     /* the fixed point is not reached */
    const CtFlowStep *around[DEEPEST]; /* loops and branches around the step that is looked at, inside the outer loop */
    uint32_t inside;                   /* how many these are */
    int64_t saved, kept;               /* work in the part that does not vary, and work of keeping */
} Distribute;

static bool is_compound(const CtFlowStep *step) { return ct_flow_inner_count(step) > 0; }

static bool is_plain(const CtFlowType *type) { return type->kind == FLOW_F64 || type->kind == FLOW_I64; }

/* ---- what varies ---- */

static bool varies(const Distribute *d, const CtFlowArg *arg) {
    return arg->var != NULL && (arg->var->id >= d->vars || d->varies[arg->var->id]);
}

static void vary(Distribute *d, const CtFlowVar *var) {
    if (var == NULL || d->varies[var->id]) return;
    d->varies[var->id] = true;
    d->changed = true;
}

static bool any_varies(const Distribute *d, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (varies(d, &args->items[i])) return true;
    return false;
}

static bool any_result_varies(const Distribute *d, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL && d->varies[step->results.items[i]->id]) return true;
    return false;
}

/* Whether a step, or what is inside of it, uses what varies. */
static bool uses_varying(const Distribute *d, const CtFlowStep *step) {
    if (any_varies(d, &step->args)) return true;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        const CtFlowBlock *block = ct_flow_inner(step, i);
        for (uint32_t j = 0; j < block->steps.count; j++)
            if (uses_varying(d, block->steps.items[j])) return true;
        if (any_varies(d, &block->values)) return true;
    }
    return false;
}

/* Whether a step may move in front of the outer loop with the part that is the same in each iteration. An update moves
 * with what makes its array; a call stays, since neither its work nor its failures are known here. */
static bool may_move(const Distribute *d, const CtFlowStep *step) {
    bool moves =
        ct_flow_step_info(step->kind)->moves != MOVES_STAYS || step->kind == FLOW_UPDATE || step->kind == FLOW_SNOC;
    return moves && step->kind != FLOW_CALL && !ct_flow_tells(d->telling, step);
}

/* Whether a loop or branch is the same in each iteration or not, as a whole. */
static bool is_whole(const Distribute *d, const CtFlowStep *step) {
    if (varies(d, &step->args.items[0]) || !may_move(d, step)) return true;
    if (step->kind == FLOW_LOOP && step->as.loop.initial) return true;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++)
        if (ct_flow_inner(step, i)->exit != EXIT_YIELD) return true;
    for (uint32_t i = 0; i < d->whole.count; i++)
        if (d->whole.items[i] == step) return true;
    return false;
}

/* Which parts a step has: SAME, VARYING or both. A branch that does nothing is the same. */
static int parts_of(const Distribute *d, const CtFlowStep *step) {
    if (!is_compound(step) || is_whole(d, step))
        return uses_varying(d, step) || any_result_varies(d, step) || !may_move(d, step) ? VARYING : SAME;
    int parts = 0;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        const CtFlowBlock *block = ct_flow_inner(step, i);
        for (uint32_t j = 0; j < block->steps.count; j++) parts |= parts_of(d, block->steps.items[j]);
    }
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL) parts |= d->varies[step->results.items[i]->id] ? VARYING : SAME;
    return parts == 0 ? SAME : parts;
}

static void mark_block(Distribute *d, const CtFlowBlock *block);

static void mark_loop(Distribute *d, const CtFlowStep *loop) {
    const CtFlowBlock *block = loop->as.loop.block;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        CtFlowVar *param = block->params.items[1 + i], *result = loop->results.items[i];
        bool here = varies(d, &loop->args.items[1 + i]) || varies(d, &block->values.items[i]) || d->varies[param->id] ||
                    (result != NULL && d->varies[result->id]);
        if (!here) continue;
        vary(d, param);
        vary(d, result);
    }
    mark_block(d, block);
    for (uint32_t i = 0; i < loop->results.count; i++)
        if (varies(d, &block->values.items[i])) vary(d, loop->results.items[i]);
}

static void mark_switch(Distribute *d, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        mark_block(d, block);
        for (uint32_t j = 0; j < step->results.count; j++)
            if (varies(d, &block->values.items[j])) vary(d, step->results.items[j]);
    }
}

static void mark_block(Distribute *d, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (!is_compound(step) || is_whole(d, step)) {
            bool here = uses_varying(d, step) || any_result_varies(d, step) || !may_move(d, step);
            for (uint32_t j = 0; here && j < step->results.count; j++) vary(d, step->results.items[j]);
        } else if (step->kind == FLOW_LOOP) {
            mark_loop(d, step);
        } else {
            mark_switch(d, step);
        }
    }
}

/* ---- what the rest needs ---- */

static uint32_t depth_of(const Distribute *d, const CtFlowArg *arg) {
    return arg->var == NULL ? 0 : ct_flow_fact(&d->facts, arg)->depth;
}

/* Whether an argument is bound in front of the loop or branch that is to be split. */
static bool is_in_front(const Distribute *d, const CtFlowArg *arg) { return depth_of(d, arg) <= d->depth; }

static uint32_t work_of(const CtFlowStep *step) {
    if (step->kind == FLOW_PRIM) return ct_prim_info(step->as.prim)->work;
    return ct_flow_step_info(step->kind)->work;
}

/* Whether an array that a loop carries only grows from its end: it is the same in the next iteration, or has another
 * element behind. */
static bool grows(const Distribute *d, const CtFlowArg *next, const CtFlowVar *array) {
    if (next->var == array) return true;
    const CtFlowFact *fact = ct_flow_fact(&d->facts, next);
    if (fact->maker == NULL) return false;
    if (fact->maker->kind == FLOW_SNOC) return grows(d, &fact->maker->args.items[0], array);
    if (fact->maker->kind != FLOW_SWITCH) return false;
    for (uint32_t i = 0; i < fact->maker->as.cases.count; i++) {
        const CtFlowBlock *block = fact->maker->as.cases.branches[i].block;
        if (block->exit == EXIT_YIELD && !grows(d, &block->values.items[fact->index], array)) return false;
    }
    return true;
}

/* Whether an array is carried, and only grows, by a loop that stands in the outer loop's block. Its elements are then
 * those that the loop's result has at the same index. */
static bool is_grown(const Distribute *d, const CtFlowArg *array) {
    const CtFlowFact *fact = ct_flow_fact(&d->facts, array);
    if (fact->loop == NULL || fact->index == 0 || fact->depth != d->depth + 1) return false;
    const CtFlowBlock *block = fact->loop->as.loop.block;
    return array->type->kind == FLOW_ARRAY && block->exit == EXIT_YIELD &&
           grows(d, &block->values.items[fact->index - 1], array->var);
}

/* 1 for a read of such an array, which stands in front by then as the loop's result; else 0. */
static uint32_t reads_grown(const Distribute *d, const CtFlowStep *step) {
    return step->kind == FLOW_READ && is_grown(d, &step->args.items[0]);
}

/* The work of computing a value again from what is in front, up to about `most`. */
static int again(const Distribute *d, const CtFlowArg *arg, int most) {
    const CtFlowFact *fact = ct_flow_fact(&d->facts, arg);
    const CtFlowStep *step = fact->maker;
    if (is_in_front(d, arg)) return 0;
    if (fact->loop != NULL) return fact->index == 0 ? 0 : most + 1;
    bool transposes = ct_flow_is_bulk(step, ARRAY_TRANSPOSE);
    if (step->kind != FLOW_PRIM && step->kind != FLOW_READ && step->kind != FLOW_DIM && !transposes) return most + 1;
    if (ct_flow_step_fails(step) || !may_move(d, step)) return most + 1;
    int work = step->kind == FLOW_PRIM ? (int)work_of(step) : transposes ? TRANSPOSED : 0;
    for (uint32_t i = reads_grown(d, step); i < step->args.count && work <= most; i++)
        work += again(d, &step->args.items[i], most - work);
    return work;
}

/* Whether a loop makes no more iterations than there are elements of some array, so that what it keeps needs no more
 * memory than there is. */
static bool is_bounded(const Distribute *d, const CtFlowStep *loop) {
    const CtFlowArg *count = &loop->args.items[0];
    return (count->var == NULL && count->lit.integer <= MOST_ITERATIONS) ||
           loop->results.count > loop->as.loop.carried || ct_flow_maker(&d->facts, count, FLOW_DIM) != NULL;
}

/* The number of elements of an array that a loop makes out of numbers. */
static const CtFlowArg *made_count(const Distribute *d, const CtFlowArg *array) {
    const CtFlowFact *fact = ct_flow_fact(&d->facts, array);
    bool made = fact->maker != NULL && fact->maker->kind == FLOW_LOOP && fact->index >= fact->maker->as.loop.carried;
    return made && array->type->rank == 1 && is_plain(array->type->element) ? &fact->maker->args.items[0] : NULL;
}

/* Whether a value can be kept over all iterations of the loops around it: rows have to be of one length, and no array
 * may be made in only some iterations. */
static bool can_keep(Distribute *d, const CtFlowArg *arg) {
    const CtFlowArg *row = arg->type->kind == FLOW_ARRAY ? made_count(d, arg) : NULL;
    uint32_t rank = row != NULL;
    int64_t work = MEMORY;
    bool some = false; /* it is in a branch */
    if (row == NULL && !is_plain(arg->type)) return false;
    for (uint32_t k = depth_of(d, arg) - d->depth; k-- > 0;) {
        const CtFlowStep *step = d->around[k];
        if (step->kind == FLOW_SWITCH) {
            some = true;
            continue;
        }
        bool regular = rank == 0 || (!some && depth_of(d, row) <= d->depth + k);
        if (!is_bounded(d, step) || !regular || rank == 2) return false;
        row = &step->args.items[0];
        rank++;
        some = false;
        work *= ITERATIONS;
    }
    d->kept += work;
    return true;
}

static void need(Distribute *d, const CtFlowArg *arg) {
    if (arg->var == NULL || varies(d, arg) || is_in_front(d, arg) || d->needs[arg->var->id] != NEED_NOTHING) return;
    if (depth_of(d, arg) > d->depth + d->inside) return; /* bound by a step that stays whole */
    if (again(d, arg, AGAIN) <= AGAIN) {
        const CtFlowStep *step = ct_flow_fact(&d->facts, arg)->maker;
        d->needs[arg->var->id] = NEED_AGAIN;
        if (step == NULL) return;
        for (uint32_t i = reads_grown(d, step); i < step->args.count; i++) need(d, &step->args.items[i]);
    } else if (can_keep(d, arg)) {
        d->needs[arg->var->id] = NEED_KEPT;
    } else {
        vary(d, arg->var);
    }
}

static void need_of_whole(Distribute *d, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->args.count; i++) need(d, &step->args.items[i]);
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        const CtFlowBlock *block = ct_flow_inner(step, i);
        for (uint32_t j = 0; j < block->steps.count; j++) need_of_whole(d, block->steps.items[j]);
        for (uint32_t j = 0; j < block->values.count; j++) need(d, &block->values.items[j]);
    }
}

/* Whether a value that a block yields is one of the part that varies. */
static bool yields_varying(const Distribute *d, const CtFlowStep *step, uint32_t result) {
    if (step->kind == FLOW_LOOP && result < step->as.loop.carried)
        return d->varies[step->as.loop.block->params.items[1 + result]->id];
    return step->results.items[result] != NULL && d->varies[step->results.items[result]->id];
}

/* The needs of the part that varies, of a loop or branch with both; false if it cannot be split. */
static bool find_needs(Distribute *d, const CtFlowStep *step) {
    if (d->inside == DEEPEST || ct_flow_step_fails(step)) return false;
    for (uint32_t i = 0; i < step->args.count; i++)
        if (i == 0 || yields_varying(d, step, i - 1)) need(d, &step->args.items[i]);
    d->around[d->inside++] = step;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        const CtFlowBlock *block = ct_flow_inner(step, i);
        for (uint32_t j = 0; j < block->steps.count; j++) {
            const CtFlowStep *inner = block->steps.items[j];
            int parts = parts_of(d, inner);
            if (parts == VARYING && !ct_flow_is_total(&d->effects, inner)) return false;
            if (parts == VARYING) need_of_whole(d, inner);
            if (parts == (SAME | VARYING) && !find_needs(d, inner)) return false;
        }
        for (uint32_t j = 0; j < block->values.count; j++)
            if (yields_varying(d, step, j)) need(d, &block->values.items[j]);
    }
    d->inside--;
    return true;
}

/* The work of the part that does not vary, but for what is done again. */
static int64_t work_saved(const Distribute *d, const CtFlowStep *step, int64_t times) {
    if (parts_of(d, step) == VARYING) return 0;
    bool repeats = step->results.count == 1 && step->results.items[0] != NULL &&
                   d->needs[step->results.items[0]->id] == NEED_AGAIN;
    int64_t work = is_compound(step) || repeats || ct_flow_is_check(step) ? 0 : times * work_of(step);
    if (step->kind == FLOW_LOOP) times *= ITERATIONS;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        const CtFlowBlock *block = ct_flow_inner(step, i);
        for (uint32_t j = 0; j < block->steps.count; j++) work += work_saved(d, block->steps.items[j], times);
    }
    return work;
}

static bool is_yielded(const CtFlowBlock *block, const CtFlowVar *var) {
    for (uint32_t i = 0; i < block->values.count; i++)
        if (block->values.items[i].var == var) return true;
    return false;
}

/* Whether something that a loop or branch in the outer loop's block gives does not vary. If it stayed whole, that would
 * vary, and what is computed from it. (Of what is the same in each iteration the outer loop would yield a copy.) */
static bool gives_same(const Distribute *d, const CtFlowBlock *outer, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count; i++) {
        const CtFlowVar *result = step->results.items[i];
        if (result != NULL && !yields_varying(d, step, i) && !is_yielded(outer, result)) return true;
    }
    return false;
}

/* Whether a loop or branch is to be split. If not, it stays whole, and what it gives varies. */
static bool pays(Distribute *d, const CtFlowBlock *outer, CtFlowStep *step) {
    d->inside = 0;
    d->kept = 0;
    bool can = find_needs(d, step);
    if (d->changed) return false;
    int64_t least = gives_same(d, outer, step) ? 0 : LEAST;
    if (can && work_saved(d, step, 1) >= d->kept + least && d->kept <= MOST_KEPT) return true;
    ct_push(d->arena, &d->whole, step);
    d->changed = true;
    return false;
}

/* ---- splitting ---- */

static CtFlowStep *part_of(Distribute *d, const CtFlowStep *step) {
    CtFlowStep *part = CT_NEW(d->arena, CtFlowStep);
    *part = *step;
    part->args = (CtFlowArgs){0};
    part->results = (CtFlowVars){0};
    ct_push(d->arena, &part->args, step->args.items[0]);
    return part;
}

static CtFlowBlock *part_of_block(Distribute *d, const CtFlowBlock *block) {
    CtFlowBlock *part = CT_NEW(d->arena, CtFlowBlock);
    part->exit = block->exit;
    part->range = block->range;
    return part;
}

static void split(Distribute *d, CtFlowStep *step, CtFlowStep **same, CtFlowStep **rest);

static void split_block(Distribute *d, const CtFlowBlock *block, CtFlowBlock *same, CtFlowBlock *rest) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i], *one, *other;
        switch (parts_of(d, step)) {
        case SAME: ct_push(d->arena, &same->steps, step); break;
        case VARYING: ct_push(d->arena, &rest->steps, step); break;
        default:
            split(d, step, &one, &other);
            ct_push(d->arena, &same->steps, one);
            ct_push(d->arena, &rest->steps, other);
        }
    }
}

/* What the rest needs of the variables that a block binds: those that are kept, and in front of `rest` the steps that
 * are done again. */
static void give_needs(Distribute *d, const CtFlowBlock *same, CtFlowBlock *rest, CtFlowVars *kept) {
    Steps front = {0};
    for (uint32_t i = 0; i < same->params.count; i++)
        if (d->needs[same->params.items[i]->id] == NEED_KEPT) ct_push(d->arena, kept, same->params.items[i]);
    for (uint32_t i = 0; i < same->steps.count; i++) {
        const CtFlowStep *step = same->steps.items[i];
        for (uint32_t j = 0; j < step->results.count; j++) {
            CtFlowVar *result = step->results.items[j];
            if (result == NULL) continue;
            Need how = result->id < d->vars ? d->needs[result->id] : NEED_KEPT;
            if (how == NEED_KEPT) ct_push(d->arena, kept, result);
            if (how != NEED_AGAIN) continue;
            CtFlowStep *copy = CT_NEW(d->arena, CtFlowStep);
            *copy = *step;
            CtFlowVar *var = ct_flow_fresh(d->flow, d->function, result->name, result->type);
            copy->results = (CtFlowVars){0};
            ct_push(d->arena, &copy->results, var);
            ct_flow_stands(&d->now, result, flow_of(var));
            ct_push(d->arena, &front, copy);
        }
    }
    for (uint32_t i = 0; i < rest->steps.count; i++) ct_push(d->arena, &front, rest->steps.items[i]);
    rest->steps.items = front.items;
    rest->steps.count = front.count;
    rest->steps.capacity = front.capacity;
}

/* The type of an array of such values. */
static const CtFlowType *array_of(Distribute *d, const CtFlowType *type) {
    bool row = type->kind == FLOW_ARRAY;
    return ct_flow_array(d->flow, row ? type->rank + 1 : 1, row ? type->element : type);
}

/* Reads of a row become reads of the array of rows, so that the row need not be made. */
static void read_through(Distribute *d, const CtFlowBlock *block, const CtFlowVar *row, const CtFlowArg *array,
                         const CtFlowArg *at) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            read_through(d, ct_flow_inner(step, j), row, array, at);
        if (step->kind != FLOW_READ || step->args.items[0].var != row) continue;
        CtFlowArgs args = {0};
        CT_FIRED("distribute.read_of_kept_row");
        ct_push(d->arena, &args, *array);
        ct_push(d->arena, &args, *at);
        for (uint32_t j = 1; j < step->args.count; j++) ct_push(d->arena, &args, step->args.items[j]);
        step->args = args;
    }
}

static void split_loop(Distribute *d, const CtFlowStep *loop, CtFlowStep *same, CtFlowStep *rest) {
    const CtFlowBlock *block = loop->as.loop.block;
    CtFlowBlock *blocks[2] = {part_of_block(d, block), part_of_block(d, block)};
    CtFlowVar *index = ct_flow_fresh(d->flow, d->function, block->params.items[0]->name, block->params.items[0]->type);
    CtFlowBuilder build = {
        .flow = d->flow, .arena = d->arena, .function = d->function, .block = CT_NEW(d->arena, CtFlowBlock)};
    CtFlowVars kept = {0};
    same->as.loop.block = blocks[0];
    rest->as.loop.block = blocks[1];
    same->as.loop.carried = rest->as.loop.carried = 0;
    ct_push(d->arena, &blocks[0]->params, block->params.items[0]);
    ct_push(d->arena, &blocks[1]->params, index);
    ct_flow_stands(&d->now, block->params.items[0], flow_of(index));
    for (uint32_t i = 0; i < loop->results.count; i++) {
        bool carried = i < loop->as.loop.carried;
        CtFlowStep *part = yields_varying(d, loop, i) ? rest : same;
        CtFlowBlock *own = part->as.loop.block;
        CtFlowVar *result = loop->results.items[i], *param = carried ? block->params.items[1 + i] : NULL;
        if (carried && part == same && is_grown(d, &(CtFlowArg){.type = param->type, .var = param})) {
            if (result == NULL) result = ct_flow_fresh(d->flow, d->function, param->name, param->type);
            ct_flow_stands(&d->now, param, flow_of(result));
        }
        ct_push(d->arena, &part->results, result);
        ct_push(d->arena, &own->values, block->values.items[i]);
        if (!carried) continue;
        part->as.loop.carried++;
        ct_push(d->arena, &part->args, loop->args.items[1 + i]);
        ct_push(d->arena, &own->params, block->params.items[1 + i]);
    }
    same->as.loop.associative = loop->as.loop.associative && same->as.loop.carried == loop->as.loop.carried;
    rest->as.loop.associative = loop->as.loop.associative && rest->as.loop.carried == loop->as.loop.carried;
    split_block(d, block, blocks[0], blocks[1]);
    give_needs(d, blocks[0], blocks[1], &kept);
    for (uint32_t i = 0; i < kept.count; i++) {
        CtFlowVar *array = ct_flow_fresh(d->flow, d->function, "kept", array_of(d, kept.items[i]->type));
        const CtFlowArg at = flow_of(index);
        CT_FIRED("distribute.kept");
        ct_push(d->arena, &same->results, array);
        ct_push(d->arena, &blocks[0]->values, flow_of(kept.items[i]));
        const CtFlowArg whole = flow_of(array);
        read_through(d, blocks[1], kept.items[i], &whole, &at);
        ct_flow_stands(&d->now, kept.items[i], ct_flow_read(&build, loop->range, flow_of(array), &at, 1));
    }
    for (uint32_t i = 0; i < blocks[1]->steps.count; i++)
        ct_push(d->arena, &build.block->steps, blocks[1]->steps.items[i]);
    blocks[1]->steps = build.block->steps;
    ct_flow_rename_block(&d->now, blocks[1]);
}

/* Makes a value of one branch a result of the switch: 0 or an empty array from the others. */
static void keep_of_branch(Distribute *d, CtFlowStep *same, uint32_t branch, CtFlowVar *value) {
    CtFlowVar *result = ct_flow_fresh(d->flow, d->function, "kept", value->type);
    CT_FIRED("distribute.kept_of_branch");
    ct_push(d->arena, &same->results, result);
    for (uint32_t i = 0; i < same->as.cases.count; i++) {
        CtFlowBuilder build = {d->flow, d->arena, d->function, same->as.cases.branches[i].block};
        CtFlowArg none = {.type = value->type};
        if (i != branch && ct_flow_is_object(value->type)) {
            CtFlowStep *empty = CT_NEW(d->arena, CtFlowStep);
            *empty = (CtFlowStep){.kind = FLOW_ITEMS, .range = same->range};
            none = ct_flow_result(&build, empty, NULL, value->type);
            ct_push(d->arena, &build.block->steps, empty);
        }
        ct_push(d->arena, &build.block->values, i == branch ? flow_of(value) : none);
    }
    ct_flow_stands(&d->now, value, flow_of(result));
}

static void split_switch(Distribute *d, const CtFlowStep *step, CtFlowStep *same, CtFlowStep *rest) {
    uint32_t count = step->as.cases.count;
    CtFlowVars *kept = CT_NEW_ARRAY(d->arena, CtFlowVars, count);
    same->as.cases.branches = CT_NEW_ARRAY(d->arena, CtFlowBranch, count);
    rest->as.cases.branches = CT_NEW_ARRAY(d->arena, CtFlowBranch, count);
    for (uint32_t j = 0; j < step->results.count; j++)
        ct_push(d->arena, yields_varying(d, step, j) ? &rest->results : &same->results, step->results.items[j]);
    for (uint32_t i = 0; i < count; i++) {
        const CtFlowBranch *branch = &step->as.cases.branches[i];
        CtFlowBlock *blocks[2] = {part_of_block(d, branch->block), part_of_block(d, branch->block)};
        same->as.cases.branches[i] = (CtFlowBranch){branch->tag, blocks[0]};
        rest->as.cases.branches[i] = (CtFlowBranch){branch->tag, blocks[1]};
        for (uint32_t j = 0; j < step->results.count; j++)
            ct_push(d->arena, &blocks[yields_varying(d, step, j)]->values, branch->block->values.items[j]);
        split_block(d, branch->block, blocks[0], blocks[1]);
        give_needs(d, blocks[0], blocks[1], &kept[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < kept[i].count; j++) keep_of_branch(d, same, i, kept[i].items[j]);
    for (uint32_t i = 0; i < count; i++) ct_flow_rename_block(&d->now, rest->as.cases.branches[i].block);
}

/* The part of a loop or branch that does not vary, and the rest. */
static void split(Distribute *d, CtFlowStep *step, CtFlowStep **same, CtFlowStep **rest) {
    *same = part_of(d, step);
    *rest = part_of(d, step);
    if (step->kind == FLOW_LOOP)
        split_loop(d, step, *same, *rest);
    else
        split_switch(d, step, *same, *rest);
}

/* An empty array, or one of equal elements, that both parts begin with: each needs its own. */
static void begin_apart(Distribute *d, Steps *out, CtFlowStep *same) {
    for (uint32_t i = 1; same->kind == FLOW_LOOP && i < same->args.count; i++) {
        const CtFlowStep *made = ct_flow_fact(&d->facts, &same->args.items[i])->maker;
        if (made == NULL) continue;
        bool cheap = ct_flow_is_items(made) || ct_flow_is_bulk(made, ARRAY_REPLICATE);
        if (!cheap || depth_of(d, &same->args.items[i]) != d->depth) continue;
        CtFlowStep *copy = CT_NEW(d->arena, CtFlowStep);
        *copy = *made;
        CtFlowVar *var = ct_flow_fresh(d->flow, d->function, NULL, same->args.items[i].type);
        copy->results = (CtFlowVars){0};
        ct_push(d->arena, &copy->results, var);
        same->args.items[i] = flow_of(var);
        ct_push(d->arena, out, copy);
    }
}

/* ---- the walk ---- */

/* Finds what is to be split in a loop; false if nothing is. */
static bool find(Distribute *d, const CtFlowStep *loop) {
    const CtFlowBlock *block = loop->as.loop.block;
    bool found;
    d->vars = d->function->vars;
    d->varies = CT_NEW_ARRAY(d->arena, bool, d->vars);
    d->needs = CT_NEW_ARRAY(d->arena, uint8_t, d->vars);
    d->whole.count = 0;
    for (uint32_t i = 0; i < block->params.count; i++) d->varies[block->params.items[i]->id] = true;
    do {
        d->changed = found = false;
        memset(d->needs, NEED_NOTHING, d->vars);
        mark_block(d, block);
        bool comes = true; /* hoist.c moves what the loop certainly comes to */
        for (uint32_t i = 0; i < block->steps.count && !d->changed; i++) {
            CtFlowStep *step = block->steps.items[i];
            int parts = parts_of(d, step);
            if (parts == (SAME | VARYING) && !comes) {
                ct_push(d->arena, &d->whole, step);
                d->changed = true;
            }
            if (parts == (SAME | VARYING) && comes) found |= pays(d, block, step);
            comes = comes && (parts != VARYING || ct_flow_is_total(&d->effects, step));
        }
    } while (d->changed);
    return found;
}

static bool has_compounds(const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (is_compound(block->steps.items[i])) return true;
    return false;
}

static void distribute(Distribute *d, CtFlowStep *loop) {
    CtFlowBlock *block = loop->as.loop.block;
    Steps out = {0};
    if (!find(d, loop)) return;
    ct_flow_values_clear(&d->now, d->arena);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i], *same, *rest;
        if (parts_of(d, step) != (SAME | VARYING)) {
            ct_push(d->arena, &out, step);
            continue;
        }
        CT_FIRED("distribute.split");
        split(d, step, &same, &rest);
        begin_apart(d, &out, same);
        ct_push(d->arena, &out, same);
        ct_push(d->arena, &out, rest);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
    ct_flow_facts_begin(&d->facts, d->flow, d->function);
}

/* Whether a loop certainly has one iteration or none, such as the reverse of a loop that selects. */
static bool is_once(const Distribute *d, const CtFlowStep *loop) {
    const CtFlowStep *least = ct_flow_maker(&d->facts, &loop->args.items[0], FLOW_PRIM);
    if (least == NULL || least->as.prim != PRIM_INT_MIN) return false;
    const CtFlowArg *most = &least->args.items[1];
    return most->var == NULL && most->lit.integer <= 1 && CT_FIRED("distribute.once");
}

static void visit(Distribute *d, const CtFlowBlock *block, uint32_t depth) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        d->depth = depth + 1;
        if (step->kind == FLOW_LOOP && step->as.loop.block->exit == EXIT_YIELD && has_compounds(step->as.loop.block) &&
            !is_once(d, step))
            distribute(d, step);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(d, ct_flow_inner(step, j), depth + 1);
    }
}

void ct_flow_distribute(CtFlow *flow) {
    Distribute d = {.flow = flow, .arena = flow->arena, .effects = ct_flow_effects(flow)};
    d.telling = ct_flow_telling(flow);
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        d.function = flow->functions.items[i];
        ct_flow_facts_begin(&d.facts, flow, d.function);
        visit(&d, d.function->body, 0);
    }
}
