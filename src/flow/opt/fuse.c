/* Loop fusion. Two loops over the same length become one. In vertical fusion the second reads what the first makes,
 * while it is in a register; the array need not be made if nothing else reads it. In horizontal fusion both read the
 * same arrays.
 *
 * The iterations of the two loops are interleaved. Of the steps between them, those that use the first loop's results
 * move behind the fused loop, the others before it; that is, the first loop moves over these, and the second loop over
 * those. This is allowed only if at most one of the loops can fail and the steps that it moves over cannot, so that the
 * first failure in program order stays the first. The second loop may read the first one's arrays only at its own
 * index. Reductions of whole arrays that a loop makes are turned into loops for this; those that cannot be fused stay
 * reductions. */
#include "flow/opt/neighbours.h"

enum {
    LARGEST = 400, /* in steps: a loop of more steps takes in no others */
    FAR = 200,     /* maximal number of steps between two loops */
};

typedef struct Fuse {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowEffects effects;
    CtFlowFacts facts;
    CtFlowValues now;
    bool maps_only;                 /* before derivatives are taken: loops with carried values are left alone */
    bool sweeps_only, fused_sweeps; /* only loops of two sweeps are fused; some have been */
    /* Only loops that read the neighbours of what another makes are fused, inside of a loop: threads share others. */
    bool neighbours_only;
    CT_VEC(CtFlowStep *) carrying; /* what these have become */
    CtFlowMarks marks, objects;
    uint32_t depth, loops; /* nesting depths of the current block */
    uint32_t equals;       /* the number of equalities of lengths known before the block */
    uint32_t renamed;      /* `now.changes` when the steps of the block that is visited next were renamed */
} Fuse;

typedef CT_VEC(CtFlowStep *) Steps;

static void rename_step(Fuse *f, CtFlowStep *step) {
    ct_flow_rename(&f->now, &step->args);
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) ct_flow_rename_block(&f->now, ct_flow_inner(step, i));
}

/* ---- who uses what ---- */

/* Whether a step uses results of another step. */
static bool uses_results(Fuse *f, const CtFlowStep *step, const CtFlowStep *of) {
    ct_flow_mark_results(&f->marks, of, true);
    bool uses = ct_flow_uses_marked(&f->marks, step, NULL);
    ct_flow_mark_results(&f->marks, of, false);
    return uses;
}

/* Whether the second loop reads the arrays of the first only at its own index, and does not use its carried results. */
static bool reads_at_index(Fuse *f, const CtFlowStep *first, const CtFlowStep *second) {
    ct_flow_mark_results(&f->marks, first, true);
    bool elsewhere = ct_flow_uses_marked(&f->marks, second, second->as.loop.block->params.items[0]);
    for (uint32_t i = first->as.loop.carried; i < first->results.count; i++)
        ct_flow_mark(&f->marks, first->results.items[i], false);
    elsewhere |= ct_flow_uses_marked(&f->marks, second, NULL);
    ct_flow_mark_results(&f->marks, first, false);
    return !elsewhere;
}

/* Position of a variable among the indices of a read, from 1 on; 0: it is not among them. */
static uint32_t index_that_is(const CtFlowStep *read, const CtFlowVar *var) {
    for (uint32_t i = 1; read->kind == FLOW_READ && i < read->args.count; i++)
        if (read->args.items[i].var == var) return i;
    return 0;
}

/* Whether a block, or a block inside it, reads the same array as `read` with an index at the same dimension. */
static bool reads_at(const CtFlowBlock *block, const CtFlowStep *read, uint32_t dimension, const CtFlowVar *index) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_READ && step->args.items[0].var == read->args.items[0].var &&
            index_that_is(step, index) == dimension)
            return true;
        if (step->kind == FLOW_LOOP && reads_at(step->as.loop.block, read, dimension, index)) return true;
    }
    return false;
}

/* Whether both loops read one array at their index; `block` is in the first loop. */
static bool share_reads(const CtFlowStep *first, const CtFlowBlock *block, const CtFlowStep *second) {
    const CtFlowBlock *a = first->as.loop.block, *b = second->as.loop.block;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        uint32_t dimension = index_that_is(step, a->params.items[0]);
        if (dimension > 0 && reads_at(b, step, dimension, b->params.items[0])) return true;
        if (step->kind == FLOW_LOOP && share_reads(first, step->as.loop.block, second)) return true;
    }
    return false;
}

/* ---- which loops ---- */

static bool is_loop(const CtFlowStep *step) {
    return step->kind == FLOW_LOOP && !step->as.loop.initial && step->as.loop.block->exit == EXIT_YIELD;
}

static bool have_same_length(const Fuse *f, const CtFlowStep *a, const CtFlowStep *b) {
    return ct_flow_same_length(&f->facts, ct_flow_length_of(&f->facts, a->args.items[0]),
                               ct_flow_length_of(&f->facts, b->args.items[0]));
}

/* The steps between two loops to be fused. */
typedef struct Between {
    Steps before, behind; /* those that end up before and behind the fused loop */
    bool fails;           /* one of those behind can fail */
} Between;

/* ---- checks of lengths ---- */

/* Replaces the argument of which a length is asked by the number or the other array that determines this length. */
static bool find_length(const Fuse *f, CtFlowArg *arg, uint32_t *dimension) {
    const CtFlowArg zero = {.type = f->facts.integer};
    bool some = true;
    if (arg->type->kind != FLOW_ARRAY || arg->var == NULL) return false;
    for (uint32_t i = 0; i < *dimension && some; i++)
        some = ct_flow_is_index(&f->facts, &zero, ct_flow_length(&f->facts, arg, i, i > 0));
    CtFlowLength length = ct_flow_length(&f->facts, arg, *dimension, some && *dimension > 0);
    if (length.array == arg->var) return false;
    CT_FIRED("fuse.check_looks_elsewhere");
    *arg = length.known.type != NULL ? length.known : flow_of((CtFlowVar *)length.array);
    *dimension = length.known.type != NULL ? 0 : length.dimension;
    return true;
}

static void look_elsewhere(Fuse *f, CtFlowStep *check) {
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i < check->args.count; i++) {
        CtFlowArg arg = check->args.items[i];
        uint32_t dimension = check->kind == FLOW_CHECK ? check->as.index : 0;
        bool found = (check->kind == FLOW_CHECK_ZIP || i == 1) && find_length(f, &arg, &dimension);
        if (check->kind == FLOW_CHECK) check->as.index = dimension;
        ct_push(f->arena, &args, found && check->kind == FLOW_CHECK_ZIP && dimension > 0 ? check->args.items[i] : arg);
    }
    check->args = args;
}

/* Lets checks ask the origin of a length instead of an array that a loop makes, so that they need not follow the
 * loop. */
static void free_checks(Fuse *f, CtFlowStep *step) {
    if (step->kind == FLOW_CHECK || step->kind == FLOW_CHECK_ZIP) look_elsewhere(f, step);
    if (step->kind != FLOW_SWITCH || step->args.items[0].var == NULL || ct_flow_is_object(step->args.items[0].type))
        return;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBranch *branch = &step->as.cases.branches[i];
        uint32_t equals = f->facts.equals.count;
        if (branch->tag <= 1) ct_flow_assume(&f->facts, &step->args.items[0], branch->tag == 1);
        for (uint32_t j = 0; j < branch->block->steps.count; j++) free_checks(f, branch->block->steps.items[j]);
        f->facts.equals.count = equals;
    }
}

/* Whether a step that follows all the steps of a block may be moved to steps[count], and from there behind `before`.
 * What it reads must be valid even without the checks that it moves over. If `like` is not NULL, the step must be a
 * loop with as many iterations. */
static bool stays_inside(Fuse *f, const Steps *steps, uint32_t count, const Steps *before, const CtFlowStep *like,
                         const CtFlowStep *step) {
    uint32_t told = f->facts.equals.count, own = told - f->equals;
    CtFlowEqual *all = CT_NEW_ARRAY(f->arena, CtFlowEqual, own + 1);
    if (own > 0) memcpy(all, f->facts.equals.items + f->equals, own * sizeof *all);
    f->facts.equals.count = f->equals;
    for (uint32_t i = 0; i < count; i++) ct_flow_learn(&f->facts, steps->items[i]);
    for (uint32_t i = 0; i < before->count; i++) ct_flow_learn(&f->facts, before->items[i]);
    bool inside = (like == NULL || have_same_length(f, like, step)) && ct_flow_stays_inside(&f->facts, step);
    f->facts.equals.count = f->equals;
    for (uint32_t i = 0; i < own; i++) ct_flow_tell(&f->facts, all[i]);
    return inside;
}

/* Partitions the steps behind steps[first]. Those that use its results, directly or through others, follow the fused
 * loop; the rest precede it. Marks the results of the former and the objects that they use. False if the steps cannot
 * be reordered so: no failure may move over another one, no access over its check, and no in-place update may become a
 * copy. */
static bool part(Fuse *f, const Steps *steps, uint32_t first, bool second_fails, Between *between) {
    bool may = true, fails = !ct_flow_is_total(&f->effects, steps->items[first]);
    ct_flow_mark_results(&f->marks, steps->items[first], true);
    ct_flow_mark_objects(&f->objects, steps->items[first], true);
    for (uint32_t i = first + 1; i < steps->count && may; i++) {
        CtFlowStep *step = steps->items[i];
        bool passes = ct_flow_is_total(&f->effects, step);
        if (!passes && ct_flow_uses_marked(&f->marks, step, NULL)) free_checks(f, step);
        if (ct_flow_uses_marked(&f->marks, step, NULL)) {
            ct_flow_mark_results(&f->marks, step, true);
            ct_flow_mark_objects(&f->objects, step, true);
            ct_push(f->arena, &between->behind, step);
            fails = fails || !passes;
            between->fails |= !passes;
            may = passes || !second_fails;
        } else {
            may = (passes || !fails) && !ct_flow_takes_marked(&f->objects, step) &&
                  (!fails || stays_inside(f, steps, first, &between->before, NULL, step));
            ct_push(f->arena, &between->before, step);
        }
    }
    return may;
}

/* Whether the loop steps[first] and the loop `second`, which follows all the steps, may be fused as far as the steps
 * between them allow it. */
static bool may_meet(Fuse *f, const Steps *steps, uint32_t first, const CtFlowStep *second, Between *between) {
    const CtFlowStep *loop = steps->items[first];
    bool second_fails = !ct_flow_is_total(&f->effects, second);
    if (second_fails && !ct_flow_is_total(&f->effects, loop)) return false;
    bool may = part(f, steps, first, second_fails, between);
    ct_flow_mark_results(&f->marks, loop, false); /* those that it may read at its own index: is_wanted */
    may = may && !ct_flow_uses_marked(&f->marks, second, NULL) && !ct_flow_takes_marked(&f->objects, second);
    ct_flow_mark_objects(&f->objects, loop, false);
    for (uint32_t i = 0; i < between->behind.count; i++) {
        ct_flow_mark_results(&f->marks, between->behind.items[i], false);
        ct_flow_mark_objects(&f->objects, between->behind.items[i], false);
    }
    return may && (!between->fails || stays_inside(f, steps, first, &between->before, loop, second));
}

static bool has_loop(const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (block->steps.items[i]->kind == FLOW_LOOP || block->steps.items[i]->kind == FLOW_CALL) return true;
    return false;
}

static bool takes_brackets(CtPrim prim) {
    return prim == PRIM_ADD || prim == PRIM_MIN || prim == PRIM_MAX || prim == PRIM_INT_ADD || prim == PRIM_INT_MUL ||
           prim == PRIM_INT_MIN || prim == PRIM_INT_MAX || prim == PRIM_INT_AND || prim == PRIM_INT_OR;
}

/* Whether all carried variables of a loop are numbers folded by associative operations, and are used for nothing
 * else. */
static bool folds_simply(Fuse *f, const CtFlowStep *loop) {
    const CtFlowBlock *block = loop->as.loop.block;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        CtFlowVar *carried = block->params.items[1 + i];
        const CtFlowStep *maker = ct_flow_maker(&f->facts, &block->values.items[i], FLOW_PRIM);
        if (maker == NULL || !takes_brackets(maker->as.prim)) return false;
        bool uses = maker->args.items[0].var == carried || maker->args.items[1].var == carried;
        ct_flow_mark(&f->marks, carried, true);
        for (uint32_t j = 0; j < block->steps.count; j++)
            uses &= block->steps.items[j] == maker || !ct_flow_uses_marked(&f->marks, block->steps.items[j], NULL);
        ct_flow_mark(&f->marks, carried, false);
        if (!uses) return false;
    }
    return true;
}

static bool is_given(const CtFlowStep *call, const CtFlowType *type) {
    for (uint32_t i = 0; i < call->args.count; i++)
        if (call->args.items[i].type == type) return true;
    return false;
}

/* Whether a block passes a carried object to a call; such a loop runs on one thread. */
static bool hands_over(const CtFlowStep *loop, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; step->kind == FLOW_CALL && j < loop->as.loop.carried; j++)
            if (ct_flow_is_object(loop->args.items[1 + j].type) && is_given(step, loop->args.items[1 + j].type))
                return true;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (hands_over(loop, ct_flow_inner(step, j))) return true;
    }
    return false;
}

/* Whether fusion would lose threads: one loop is a nest whose iterations threads could share, and the other is not,
 * being a light fold, or one that passes a carried object to a call. */
static bool stay_apart(Fuse *f, const CtFlowStep *first, const CtFlowStep *second) {
    const CtFlowBlock *a = first->as.loop.block, *b = second->as.loop.block;
    if (f->loops > 0 || !has_loop(a)) return false;
    if (hands_over(second, b)) return !hands_over(first, a) && folds_simply(f, first) && CT_FIRED("fuse.hands_over");
    return first->as.loop.carried == 0 && !has_loop(b) && !folds_simply(f, second);
}

/* Whether a loop runs forward sweeps, whose residuals the other loop reads. */
static bool are_sweeps(const CtFlowStep *first, const CtFlowStep *second) {
    const CtFlowBlock *a = first->as.loop.block, *b = second->as.loop.block;
    for (uint32_t i = first->as.loop.carried; i < first->results.count; i++) {
        const CtFlowStep *call = ct_flow_binder(a, a->values.items[i].var);
        bool forward = call != NULL && call->kind == FLOW_CALL && call->as.function->sweeps != NULL;
        if (!forward || call->results.items[call->results.count - 1] != a->values.items[i].var) continue;
        for (uint32_t j = 0; j < b->steps.count; j++) {
            const CtFlowStep *read = b->steps.items[j];
            if (read->kind == FLOW_READ && read->args.items[0].var == first->results.items[i]) return true;
        }
    }
    return false;
}

/* Whether the second loop reads, at the element before its own, what the first makes. */
static bool are_neighbours(Fuse *f, const CtFlowStep *first, const CtFlowStep *second, CtFlowNeighbours *meeting) {
    bool carrying = false;
    if (f->loops == 0 || !is_loop(first) || !uses_results(f, second, first)) return false;
    for (uint32_t i = 0; i < f->carrying.count; i++) carrying |= f->carrying.items[i] == first;
    return ct_flow_neighbours_meet(f->flow, f->function, &f->facts, carrying, first, second, meeting);
}

static bool is_wanted(Fuse *f, const CtFlowStep *first, const CtFlowStep *second) {
    if (!is_loop(first) || !have_same_length(f, first, second)) return false;
    if (f->sweeps_only) return are_sweeps(first, second) && reads_at_index(f, first, second);
    if (f->maps_only && first->as.loop.carried + second->as.loop.carried > 0) return false;
    if (ct_flow_size(first->as.loop.block) + ct_flow_size(second->as.loop.block) > LARGEST) return false;
    bool vertical = uses_results(f, second, first);
    if (vertical && stay_apart(f, first, second) && CT_FIRED("fuse.stays_apart")) return false;
    return vertical ? reads_at_index(f, first, second)
                    : !f->maps_only && share_reads(first, first->as.loop.block, second);
}

/* ---- one loop of two ---- */

/* Replaces reads in the second loop of elements that the first loop makes. */
static void use_elements(Fuse *f, const CtFlowStep *first, CtFlowBlock *block) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        const CtFlowFact *fact = step->kind == FLOW_READ ? ct_flow_fact(&f->facts, &step->args.items[0]) : NULL;
        if (fact != NULL && fact->maker == first) {
            CtFlowArg item = first->as.loop.block->values.items[fact->index];
            CtFlowArgs args = {0};
            if (step->args.count == 2 && CT_FIRED("fuse.element")) {
                ct_flow_stands(&f->now, step->results.items[0], item);
                continue;
            }
            CT_FIRED("fuse.element_of_row");
            ct_push(f->arena, &args, item);
            for (uint32_t j = 2; j < step->args.count; j++) ct_push(f->arena, &args, step->args.items[j]);
            step->args = args;
        }
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) use_elements(f, first, ct_flow_inner(step, j));
        block->steps.items[kept++] = step;
    }
    block->steps.count = kept;
}

static void add_args(Fuse *f, CtFlowArgs *to, const CtFlowArgs *from, uint32_t start, uint32_t end) {
    for (uint32_t i = start; i < end; i++) ct_push(f->arena, to, from->items[i]);
}

static void add_vars(Fuse *f, CtFlowVars *to, const CtFlowVars *from, uint32_t start, uint32_t end) {
    for (uint32_t i = start; i < end; i++) ct_push(f->arena, to, from->items[i]);
}

static CtFlowStep *join(Fuse *f, const CtFlowStep *first, const CtFlowStep *second) {
    CtFlowBlock *a = first->as.loop.block, *b = second->as.loop.block, *block = CT_NEW(f->arena, CtFlowBlock);
    uint32_t carried_a = first->as.loop.carried, carried_b = second->as.loop.carried;
    CtFlowStep *loop = CT_NEW(f->arena, CtFlowStep);
    *loop = *second;
    loop->as.loop.counted |= first->as.loop.counted;
    if (!ct_flow_is_total(&f->effects, first)) loop->range = first->range;
    use_elements(f, first, b);
    ct_flow_stands(&f->now, a->params.items[0], flow_of(b->params.items[0]));
    ct_push(f->arena, &block->params, b->params.items[0]);
    add_vars(f, &block->params, &a->params, 1, a->params.count);
    add_vars(f, &block->params, &b->params, 1, b->params.count);
    for (uint32_t i = 0; i < a->steps.count; i++) ct_push(f->arena, &block->steps, a->steps.items[i]);
    for (uint32_t i = 0; i < b->steps.count; i++) ct_push(f->arena, &block->steps, b->steps.items[i]);
    block->exit = EXIT_YIELD;
    block->range = b->range;
    add_args(f, &block->values, &a->values, 0, carried_a);
    add_args(f, &block->values, &b->values, 0, carried_b);
    add_args(f, &block->values, &a->values, carried_a, a->values.count);
    add_args(f, &block->values, &b->values, carried_b, b->values.count);
    loop->results = (CtFlowVars){0};
    add_vars(f, &loop->results, &first->results, 0, carried_a);
    add_vars(f, &loop->results, &second->results, 0, carried_b);
    add_vars(f, &loop->results, &first->results, carried_a, first->results.count);
    add_vars(f, &loop->results, &second->results, carried_b, second->results.count);
    loop->args = (CtFlowArgs){0};
    add_args(f, &loop->args, &second->args, 0, 1);
    add_args(f, &loop->args, &first->args, 1, first->args.count);
    add_args(f, &loop->args, &second->args, 1, second->args.count);
    loop->as.loop.block = block;
    loop->as.loop.carried = carried_a + carried_b;
    loop->as.loop.associative = (carried_a == 0 || first->as.loop.associative) &&
                                (carried_b == 0 || second->as.loop.associative) && carried_a + carried_b > 0;
    ct_flow_rename_block(&f->now, block);
    ct_flow_facts_step(&f->facts, loop, f->depth);
    return loop;
}

static void visit(Fuse *f, CtFlowBlock *block);
static void visit_inside(Fuse *f, CtFlowStep *step);

/* Fuses a loop with an earlier step if possible. The result is among the steps, and *loop becomes NULL; or it is *loop,
 * to be put behind the steps. *at is its position. */
static bool fuse_with(Fuse *f, Steps *steps, CtFlowStep **loop, uint32_t *at) {
    uint32_t from = steps->count > FAR ? steps->count - FAR : 0;
    for (uint32_t i = steps->count; i-- > from;) {
        CtFlowStep *first = steps->items[i];
        Between between = {0};
        CtFlowNeighbours meeting = {NULL, *loop};
        if (f->neighbours_only && !are_neighbours(f, first, *loop, &meeting)) continue;
        if (!is_wanted(f, first, meeting.second) || !may_meet(f, steps, i, meeting.second, &between)) continue;
        *loop = meeting.second;
        if (meeting.first != NULL) {
            first = steps->items[i] = meeting.first;
            ct_flow_facts_step(&f->facts, first, f->depth);
        }
        if (f->neighbours_only)
            CT_FIRED("neighbours.fused");
        else if (f->sweeps_only && CT_FIRED("fuse.sweeps"))
            f->fused_sweeps = true;
        else if (uses_results(f, *loop, first))
            CT_FIRED("fuse.vertical");
        else
            CT_FIRED("fuse.horizontal");
        if (between.before.count > 0) CT_FIRED("fuse.over_steps");
        if (between.fails) CT_FIRED("fuse.over_failing_steps");
        *loop = join(f, first, *loop);
        if (f->neighbours_only) ct_push(f->arena, &f->carrying, *loop);
        *at = i + between.before.count;
        for (uint32_t j = 0; j < between.before.count; j++) steps->items[i + j] = between.before.items[j];
        for (uint32_t j = 0; j < between.behind.count; j++) steps->items[*at + 1 + j] = between.behind.items[j];
        steps->items[*at] = *loop;
        if (between.behind.count > 0 && CT_FIRED("fuse.steps_behind")) {
            visit_inside(f, *loop);
            *loop = NULL;
        } else {
            steps->count--;
        }
        return true;
    }
    return false;
}

/* ---- reductions of whole arrays ---- */

static CtFlowStep *new_step(Fuse *f, CtFlowStepKind kind, CtSourceRange range) {
    CtFlowStep *step = CT_NEW(f->arena, CtFlowStep);
    step->kind = kind;
    step->range = range;
    return step;
}

static CtFlowArg new_result(Fuse *f, CtFlowStep *step, const char *name, const CtFlowType *type) {
    CtFlowVar *var = ct_flow_fresh(f->flow, f->function, name, type);
    ct_push(f->arena, &step->results, var);
    return flow_of(var);
}

/* A reduction as a fold with the given number of iterations. */
static CtFlowStep *as_fold(Fuse *f, const CtFlowStep *step, CtFlowArg count) {
    CtPrim prim = PRIM_ADD;
    CtFlowArg first = {0};
    ct_flow_reduction(step, &prim, &first);
    CtFlowStep *fold = new_step(f, FLOW_LOOP, step->range), *read = new_step(f, FLOW_READ, step->range),
               *add = new_step(f, FLOW_PRIM, step->range);
    CtFlowBlock *block = fold->as.loop.block = CT_NEW(f->arena, CtFlowBlock);
    CtFlowVar *index = ct_flow_fresh(f->flow, f->function, "i", f->facts.integer),
              *acc = ct_flow_fresh(f->flow, f->function, "acc", first.type);
    fold->as.loop.carried = 1;
    ct_push(f->arena, &fold->args, count);
    ct_push(f->arena, &fold->args, first);
    fold->results = step->results;
    ct_push(f->arena, &block->params, index);
    ct_push(f->arena, &block->params, acc);
    ct_push(f->arena, &read->args, step->args.items[0]);
    ct_push(f->arena, &read->args, flow_of(index));
    ct_push(f->arena, &add->args, flow_of(acc));
    ct_push(f->arena, &add->args, new_result(f, read, NULL, first.type));
    add->as.prim = prim;
    ct_push(f->arena, &block->values, new_result(f, add, "acc", first.type));
    ct_push(f->arena, &block->steps, read);
    ct_push(f->arena, &block->steps, add);
    block->exit = EXIT_YIELD;
    block->range = step->range;
    return fold;
}

static void insert(Fuse *f, Steps *steps, uint32_t at, CtFlowStep *step) {
    ct_push(f->arena, steps, step);
    for (uint32_t i = steps->count - 1; i > at; i--) steps->items[i] = steps->items[i - 1];
    steps->items[at] = step;
}

/* A check that fails like the maximum or minimum of an empty array. It stands directly before the loop, or, if that has
 * moved in front of steps that may fail, behind these. */
static void insert_guard(Fuse *f, Steps *steps, uint32_t at, const CtFlowStep *step, CtFlowArg count) {
    CtFlowStep *test = new_step(f, FLOW_PRIM, step->range), *choice = new_step(f, FLOW_SWITCH, step->range),
               *fail = new_step(f, FLOW_FAIL, step->range);
    CtFlowBlock *none = CT_NEW(f->arena, CtFlowBlock), *some = CT_NEW(f->arena, CtFlowBlock);
    for (uint32_t i = at + 1; i < steps->count; i++)
        if (!ct_flow_is_total(&f->effects, steps->items[i]) && CT_FIRED("fuse.guard_behind")) at = steps->count;
    test->as.prim = PRIM_INT_EQ;
    ct_push(f->arena, &test->args, count);
    ct_push(f->arena, &test->args, (CtFlowArg){.type = f->facts.integer});
    ct_push(f->arena, &choice->args, new_result(f, test, NULL, f->facts.integer));
    fail->as.fail.code = CT_E0505;
    fail->as.fail.text =
        ct_format(f->arena, "%s of an array without elements", ct_core_array_info(step->as.bulk)->name);
    ct_push(f->arena, &none->steps, fail);
    none->exit = EXIT_NEVER;
    some->exit = EXIT_YIELD;
    choice->as.cases.branches = CT_NEW_ARRAY(f->arena, CtFlowBranch, 2);
    choice->as.cases.branches[0] = (CtFlowBranch){1, none};
    choice->as.cases.branches[1] = (CtFlowBranch){0, some};
    choice->as.cases.count = 2;
    insert(f, steps, at, test);
    insert(f, steps, at + 1, choice);
}

/* The number of iterations of the fold that a reduction becomes. Its array is made by a loop or is a row, and need not
 * be materialised then. */
static bool iterations_of(Fuse *f, Steps *steps, const CtFlowStep *step, CtFlowArg *count) {
    const CtFlowFact *fact = ct_flow_fact(&f->facts, &step->args.items[0]);
    const CtFlowStep *made = fact->maker;
    if (made == NULL) return false;
    if (made->kind == FLOW_READ && made->args.items[0].type->rank >= made->args.count) {
        CtFlowStep *dim = new_step(f, FLOW_DIM, step->range);
        CT_FIRED("fuse.reduction_of_row");
        ct_push(f->arena, &dim->args, step->args.items[0]);
        *count = new_result(f, dim, "n", f->facts.integer);
        ct_flow_facts_step(&f->facts, dim, f->depth);
        ct_push(f->arena, steps, dim);
        return true;
    }
    if (!is_loop(made) || fact->index < made->as.loop.carried) return false;
    *count = made->args.items[0];
    return true;
}

/* The carried variable of the loop that makes the array which already is this reduction; NULL: there is none. */
static CtFlowVar *carried_already(Fuse *f, const CtFlowStep *step, CtPrim prim, const CtFlowArg *first) {
    const CtFlowFact *fact = ct_flow_fact(&f->facts, &step->args.items[0]);
    const CtFlowStep *loop = fact->maker;
    if (loop->kind != FLOW_LOOP) return NULL;
    const CtFlowBlock *block = loop->as.loop.block;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        const CtFlowStep *made = ct_flow_maker(&f->facts, &block->values.items[i], FLOW_PRIM);
        if (made != NULL && made->as.prim == prim && ct_flow_same(&loop->args.items[1 + i], first) &&
            made->args.items[0].var == block->params.items[1 + i] &&
            ct_flow_same(&made->args.items[1], &block->values.items[fact->index]))
            return loop->results.items[i];
    }
    return NULL;
}

/* Turns a reduction into a loop, fused with the one that makes its array if there is one; false if it stays a
 * reduction. */
static bool fuse_reduction(Fuse *f, Steps *steps, const CtFlowStep *step, CtFlowStep **loop) {
    CtFlowArg count;
    CtPrim prim;
    CtFlowArg first;
    if (!ct_flow_reduction(step, &prim, &first) || !iterations_of(f, steps, step, &count)) return false;
    bool is_row = ct_flow_fact(&f->facts, &step->args.items[0])->maker->kind == FLOW_READ;
    uint32_t at = steps->count;
    CtFlowVar *known = carried_already(f, step, prim, &first);
    if (known != NULL && CT_FIRED("fuse.reduced_already")) {
        ct_flow_stands(&f->now, step->results.items[0], flow_of(known));
        *loop = NULL;
        if (ct_flow_step_fails(step)) insert_guard(f, steps, at, step, count);
        return true;
    }
    *loop = as_fold(f, step, count);
    ct_flow_facts_step(&f->facts, *loop, f->depth);
    if (!is_row && !fuse_with(f, steps, loop, &at)) return false;
    CT_FIRED("fuse.reduction");
    while (*loop != NULL && fuse_with(f, steps, loop, &at)) continue;
    if (*loop == NULL) count = steps->items[at]->args.items[0];
    if (ct_flow_step_fails(step) && CT_FIRED("fuse.extreme")) insert_guard(f, steps, at, step, count);
    return true;
}

/* ---- the walk ---- */

static void visit_inside(Fuse *f, CtFlowStep *step) {
    f->depth++;
    f->loops += step->kind == FLOW_LOOP;
    uint32_t equals = f->facts.equals.count, renamed = f->renamed;
    bool asks =
        step->kind == FLOW_SWITCH && step->args.items[0].var != NULL && step->args.items[0].type->kind == FLOW_I64;
    if (step->kind == FLOW_LOOP) ct_flow_assume_iteration(&f->facts, step);
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        uint32_t tag = asks ? step->as.cases.branches[i].tag : FLOW_OTHERS;
        if (tag <= 1) ct_flow_assume(&f->facts, &step->args.items[0], tag == 1);
        f->renamed = renamed;
        visit(f, ct_flow_inner(step, i));
        if (asks) f->facts.equals.count = equals;
    }
    f->facts.equals.count = equals;
    f->loops -= step->kind == FLOW_LOOP;
    f->depth--;
}

/* Fuses a step: returns it, or the loop that replaces it; NULL if that was fused into a step before it. */
static CtFlowStep *fuse_step(Fuse *f, Steps *steps, CtFlowStep *step) {
    CtFlowStep *loop = step;
    uint32_t at;
    if (step->kind == FLOW_BULK)
        return !f->maps_only && !f->sweeps_only && !f->neighbours_only && fuse_reduction(f, steps, step, &loop) ? loop
                                                                                                                : step;
    while (loop != NULL && is_loop(loop) && fuse_with(f, steps, &loop, &at)) continue;
    return loop;
}

static void visit(Fuse *f, CtFlowBlock *block) {
    Steps steps = {0};
    uint32_t equals = f->facts.equals.count, around = f->equals, renamed = f->renamed;
    f->equals = equals;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (f->now.changes != renamed) rename_step(f, step);
        f->renamed = f->now.changes;
        ct_flow_learn(&f->facts, step);
        step = fuse_step(f, &steps, step);
        if (step == NULL) continue;
        visit_inside(f, step);
        ct_push(f->arena, &steps, step);
    }
    block->steps.items = steps.items;
    block->steps.count = steps.count;
    block->steps.capacity = steps.capacity;
    ct_flow_rename(&f->now, &block->values);
    f->facts.equals.count = equals;
    f->equals = around;
}

static bool fuse(CtFlow *flow, Fuse f) {
    f.flow = flow;
    f.arena = flow->arena;
    f.effects = ct_flow_effects(flow);
    f.marks = f.objects = (CtFlowMarks){.arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        f.function = flow->functions.items[i];
        ct_flow_values_clear(&f.now, flow->arena);
        ct_flow_facts_begin(&f.facts, flow, f.function);
        f.renamed = f.now.changes;
        visit(&f, f.function->body);
    }
    return f.fused_sweeps;
}

void ct_flow_fuse_maps(CtFlow *flow) {
    ct_flow_shorter_maps(flow);
    fuse(flow, (Fuse){.maps_only = true});
}

bool ct_flow_fuse_sweeps(CtFlow *flow) { return fuse(flow, (Fuse){.sweeps_only = true}); }

void ct_flow_neighbours(CtFlow *flow) { fuse(flow, (Fuse){.neighbours_only = true}); }

void ct_flow_fuse(CtFlow *flow) {
    ct_flow_shorter_maps(flow);
    fuse(flow, (Fuse){0});
    ct_flow_read_elements(flow);
}
