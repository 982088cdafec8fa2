/* Neighbours: loops that read what a loop before them makes at the element before their own, `[|x|] ++ init v`, as the
 * stages of a Runge-Kutta step do. The element is carried from one iteration to the next, so that the second loop reads
 * the array at its index alone, and the two become one loop (fuse.c): a recurrence of first order, which lanes write as
 * a shift of the vector before (emit/vector/delays.c). The array between them is not made.
 *
 *     s = loop i < n: … f i                    s = loop i < n, before = x:
 *     t = loop i < n: … (if i < 1 then x           a = f i
 *                        else s ! (i - 1))         t = … before
 *                                                  next: before = a
 *
 * The first iteration may compute something else, too: t = … (if i == 0 then x else g (s ! (i - 1))). Then the switch
 * stays, and lanes compute both of its branches.
 *
 * What is read of an array that no loop in reach makes is carried too, if the loop reads the array at its index as well
 * or the array is as long as the loop: then no part of the loop is a case of its own. */
#include "flow/opt/neighbours.h"

#include "flow/copy.h"

/* The first element of an array that its maker is given. */
static bool first_of(const CtFlowFacts *facts, const CtFlowArg *array, CtFlowArg *first) {
    const CtFlowStep *maker = ct_flow_fact(facts, array)->maker;
    if (maker == NULL) return false;
    bool all_same = ct_flow_is_bulk(maker, ARRAY_REPLICATE);
    bool listed = ct_flow_is_items(maker) && maker->args.count > 0;
    if (!all_same && !listed) return false;
    *first = maker->args.items[all_same ? 1 : 0];
    return true;
}

static bool is_one_before(const CtFlowShift *shift) {
    return shift->by.type != NULL && ct_flow_is_int(&shift->by, shift->back ? 1 : -1);
}

/* Whether the first iteration reads a known number, and each other one the element before its own. */
static bool is_neighbour(const CtFlowFacts *facts, const CtFlowPiece *piece, CtFlowArg *first) {
    if (piece->arrays[0].type->element->kind != FLOW_F64 || !ct_flow_is_int(&piece->cut, 1)) return false;
    return piece->shifts[0].by.type == NULL && is_one_before(&piece->shifts[1]) &&
           first_of(facts, &piece->arrays[0], first);
}

/* The position of the step that reads a vector at the loop's index; the number of steps if there is none. */
static uint32_t read_here(const CtFlowBlock *body, const CtFlowVar *array) {
    uint32_t i = 0;
    while (i < body->steps.count) {
        const CtFlowStep *step = body->steps.items[i];
        if (step->kind == FLOW_READ && step->args.count == 2 && step->args.items[0].var == array &&
            step->args.items[1].var == body->params.items[0])
            break;
        i++;
    }
    return i;
}

typedef struct Carrying {
    CtFlow *flow;
    CtFlowFunction *function;
    const CtFlowFacts *facts;
    const CtFlowBlock *body;
    CtFlowStep *loop;
    CtFlowBlock *block; /* of the new loop: its steps are those that read, then the others */
    bool *moved;        /* steps of the body that the new block has already */
    CtFlowStep **steps; /* the steps of the body, or what stands for them */
    CtFlowArgs next;    /* what is carried to the next iteration */
    CtFlowVars last;    /* results: what the last iteration carries */
} Carrying;

/* The element of an array at the loop's index, read in front of all else; false where it may not be there. */
static bool read_first(Carrying *c, const CtFlowArg *array, CtFlowArg *element) {
    CtArena *arena = c->flow->arena;
    uint32_t at = read_here(c->body, array->var), known = read_here(c->block, array->var);
    if (known < c->block->steps.count) {
        *element = flow_of(c->block->steps.items[known]->results.items[0]);
        return true;
    }
    if (at < c->body->steps.count) {
        CtFlowStep *read = c->body->steps.items[at];
        ct_push(arena, &c->block->steps, read);
        c->moved[at] = true;
        *element = flow_of(read->results.items[0]);
        return true;
    }
    if (!ct_flow_same_length(c->facts, ct_flow_length(c->facts, array, 0, false),
                             ct_flow_length_of(c->facts, c->loop->args.items[0])))
        return false;
    CT_FIRED("neighbours.read");
    CtFlowStep *read = CT_NEW(arena, CtFlowStep);
    *read = (CtFlowStep){.kind = FLOW_READ, .range = c->loop->range};
    ct_push(arena, &read->args, *array);
    ct_push(arena, &read->args, flow_of(c->body->params.items[0]));
    CtFlowVar *item = ct_flow_fresh(c->flow, c->function, NULL, array->type->element);
    ct_push(arena, &read->results, item);
    ct_push(arena, &c->block->steps, read);
    *element = flow_of(item);
    return true;
}

/* Carries an array's element to the next iteration, in a variable, which is `first` in the first one. */
static bool carry_as(Carrying *c, const CtFlowArg *array, CtFlowVar *before, CtFlowArg first) {
    CtArena *arena = c->flow->arena;
    CtFlowArg element;
    if (!read_first(c, array, &element)) return false;
    ct_push(arena, &c->next, element);
    ct_push(arena, &c->block->params, before);
    ct_push(arena, &c->loop->args, first);
    ct_push(arena, &c->last, ct_flow_fresh(c->flow, c->function, NULL, before->type));
    return true;
}

/* Carries what a step reads, in the step's own variable; false where that is not the element before. */
static bool carry(Carrying *c, uint32_t at, const CtFlowPiece *piece) {
    CtFlowArg first;
    CtFlowVar *before = c->body->steps.items[at]->results.items[0];
    if (!is_neighbour(c->facts, piece, &first)) return false;
    c->moved[at] = true;
    return carry_as(c, &piece->arrays[1], before, first);
}

/* Whether an index is the loop's; in the branch for the first iteration that is 0. */
static bool is_here(const Carrying *c, const CtFlowArg *index, bool in_first) {
    return index->var == c->body->params.items[0] || (in_first && ct_flow_is_int(index, 0));
}

static bool is_before(const Carrying *c, const CtFlowBlock *branch, const CtFlowArg *index) {
    CtFlowShift shift;
    bool found =
        ct_flow_shifted_index(c->body, branch, index, &shift) || ct_flow_shifted_index(c->body, c->body, index, &shift);
    return found && is_one_before(&shift);
}

/* A branch without its reads, for lanes, which compute both branches: elements at the loop's index are read in front of
 * the switch, and those before are carried; the first iteration carries 0, which nothing sees. NULL where it does
 * something else. */
static CtFlowBlock *without_reads(Carrying *c, const CtFlowBlock *branch, bool in_first) {
    CtFlowBlock *fresh = CT_NEW(c->flow->arena, CtFlowBlock);
    CtFlowCopy copy = {.flow = c->flow, .into = c->function};
    *fresh = (CtFlowBlock){.exit = branch->exit, .range = branch->range};
    for (uint32_t i = 0; i < branch->steps.count; i++) {
        const CtFlowStep *step = branch->steps.items[i];
        const CtFlowArg *args = step->args.items;
        if (step->kind == FLOW_PRIM) {
            ct_push(c->flow->arena, &fresh->steps, ct_flow_copy_step(&copy, step));
            continue;
        }
        if (step->kind != FLOW_READ || step->args.count != 2 || ct_flow_binds(c->body, args[0].var)) return NULL;
        CtFlowVar *read = step->results.items[0];
        CtFlowArg element;
        if (is_here(c, &args[1], in_first)) {
            if (!read_first(c, &args[0], &element)) return NULL;
            ct_flow_copy_stands(&copy, read, element);
        } else if (in_first || read->type->kind != FLOW_F64 || !is_before(c, branch, &args[1]) ||
                   !carry_as(c, &args[0], read, (CtFlowArg){.type = read->type})) {
            return NULL;
        }
    }
    fresh->values = ct_flow_copy_args(&copy, &branch->values);
    return fresh;
}

/* The branch that a switch takes in the first iteration alone; its number of branches if there is none. */
static uint32_t branch_for_first(const CtFlowBlock *body, const CtFlowStep *step) {
    CtFlowParting parting;
    if (!ct_flow_parting(body, step, &parting)) return step->as.cases.count;
    CtPrim prim = parting.test->as.prim;
    bool left = parting.test->args.items[0].var == body->params.items[0]; /* of the comparison is the index */
    bool strict = prim == PRIM_INT_LT;
    if (!ct_flow_is_int(&parting.with, prim != PRIM_INT_EQ && strict == left)) return step->as.cases.count;
    return ct_flow_branch_for(step, left || prim == PRIM_INT_EQ);
}

/* The number with which an operation gives its other argument, to the bit; `left`: as its first argument. */
static bool neutral(CtPrim prim, bool left, double *number) {
    switch ((int)prim) {
    case PRIM_MUL: *number = 1; return true;
    case PRIM_ADD: *number = -0.0; return true;
    case PRIM_DIV: *number = 1; return !left;
    case PRIM_SUB: *number = 0; return !left;
    default: return false;
    }
}

/* The operation that stands for a switch: if i == 0 then x else x · before, where 1 stands before the first. NULL for
 * other ones. */
static CtFlowStep *without_switch(Carrying *c, CtFlowStep *choice, uint32_t first) {
    const CtFlowBlock *one = choice->as.cases.branches[first].block,
                      *others = choice->as.cases.branches[1 - first].block;
    if (choice->results.count != 1 || others->values.items[0].var == NULL) return NULL;
    CtFlowStep *step = ct_flow_binder(others, others->values.items[0].var);
    const CtFlowVar *before = c->block->params.items[c->block->params.count - 1];
    if (step == NULL || step->kind != FLOW_PRIM || step->args.count != 2) return NULL;
    for (uint32_t i = 0; i < 2; i++) {
        double number;
        if (step->args.items[i].var != before || !ct_flow_same(&step->args.items[1 - i], &one->values.items[0]))
            continue;
        if (!neutral(step->as.prim, i == 0, &number)) continue;
        c->loop->args.items[c->loop->args.count - 1].lit.real = number;
        step->results = choice->results;
        return step;
    }
    return NULL;
}

/* Whether a switch gives the element before, and in the first iteration what stays the same in the loop: that is then
 * what the loop carries first, in the switch's own variable. */
static bool carry_instead(Carrying *c, const CtFlowStep *choice, uint32_t first) {
    const CtFlowBlock *one = choice->as.cases.branches[first].block,
                      *others = choice->as.cases.branches[1 - first].block;
    CtFlowVar **before = &c->block->params.items[c->block->params.count - 1];
    if (choice->results.count != 1 || others->values.items[0].var != *before) return false;
    const CtFlowArg *start = &one->values.items[0];
    if (one->steps.count > 0) return false;
    if (start->var != NULL && (ct_flow_binds(c->body, start->var) || ct_flow_binds(c->block, start->var))) return false;
    *before = choice->results.items[0];
    c->loop->args.items[c->loop->args.count - 1] = *start;
    return CT_FIRED("neighbours.start");
}

/* A switch between the first iteration and the others, which then reads nothing; false for other ones. */
static bool carry_in_switch(Carrying *c, uint32_t at) {
    CtArena *arena = c->flow->arena;
    const CtFlowStep *step = c->body->steps.items[at];
    uint32_t first = branch_for_first(c->body, step);
    if (first == step->as.cases.count) return false;
    uint32_t carried = c->block->params.count;
    CtFlowStep *choice = CT_NEW(arena, CtFlowStep);
    *choice = *step;
    choice->as.cases.branches = CT_NEW_ARRAY(arena, CtFlowBranch, step->as.cases.count);
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBranch *branch = &step->as.cases.branches[i];
        choice->as.cases.branches[i] = (CtFlowBranch){branch->tag, without_reads(c, branch->block, i == first)};
        if (choice->as.cases.branches[i].block == NULL) return false;
    }
    bool one = c->block->params.count == carried + 1;
    c->moved[at] = one && carry_instead(c, choice, first);
    if (c->moved[at]) return true;
    CtFlowStep *only = one ? without_switch(c, choice, first) : NULL;
    c->steps[at] = only != NULL ? only : choice;
    return only != NULL ? CT_FIRED("neighbours.neutral") : CT_FIRED("neighbours.first");
}

static bool carry_all(Carrying *c) {
    CtFlowPiece piece;
    for (uint32_t i = 0; i < c->body->steps.count; i++) {
        const CtFlowStep *step = c->body->steps.items[i];
        bool pieced = ct_flow_piece(c->body, step, &piece);
        if (pieced && !carry(c, i, &piece)) return false;
        if (!pieced && step->kind == FLOW_SWITCH && !carry_in_switch(c, i)) return false;
    }
    return c->next.count > 0;
}

/* What is carried stands behind what was carried before, in front of the arrays. */
static void put_results(Carrying *c, const CtFlowStep *loop) {
    CtArena *arena = c->flow->arena;
    uint32_t carried = loop->as.loop.carried;
    for (uint32_t i = 0; i < loop->results.count; i++) {
        for (uint32_t j = 0; i == carried && j < c->next.count; j++) {
            ct_push(arena, &c->loop->results, c->last.items[j]);
            ct_push(arena, &c->block->values, c->next.items[j]);
        }
        ct_push(arena, &c->loop->results, loop->results.items[i]);
        ct_push(arena, &c->block->values, c->body->values.items[i]);
    }
    for (uint32_t j = 0; loop->results.count == carried && j < c->next.count; j++) {
        ct_push(arena, &c->loop->results, c->last.items[j]);
        ct_push(arena, &c->block->values, c->next.items[j]);
    }
    c->loop->as.loop.carried = carried + c->next.count;
    c->loop->as.loop.associative = false;
}

/* A loop that carries what it reads at the element before its own; NULL where it reads otherwise in parts. */
static CtFlowStep *carry_neighbours(CtFlow *flow, CtFlowFunction *function, const CtFlowFacts *facts,
                                    const CtFlowStep *loop) {
    CtArena *arena = flow->arena;
    const CtFlowBlock *body = loop->as.loop.block;
    CtFlowStep *carrying = CT_NEW(arena, CtFlowStep);
    CtFlowBlock *block = CT_NEW(arena, CtFlowBlock);
    Carrying c = {flow,
                  function,
                  facts,
                  body,
                  carrying,
                  block,
                  .moved = CT_NEW_ARRAY(arena, bool, body->steps.count + 1),
                  .steps = CT_NEW_ARRAY(arena, CtFlowStep *, body->steps.count + 1)};
    for (uint32_t i = 0; i < body->steps.count; i++) c.steps[i] = body->steps.items[i];
    *carrying = *loop;
    carrying->results = (CtFlowVars){0};
    carrying->args = (CtFlowArgs){0};
    carrying->as.loop.block = block;
    block->exit = body->exit;
    block->range = body->range;
    for (uint32_t i = 0; i < loop->args.count; i++) ct_push(arena, &carrying->args, loop->args.items[i]);
    for (uint32_t i = 0; i < body->params.count; i++) ct_push(arena, &block->params, body->params.items[i]);
    if (!carry_all(&c)) return NULL;
    for (uint32_t i = 0; i < body->steps.count; i++)
        if (!c.moved[i]) ct_push(arena, &block->steps, c.steps[i]);
    put_results(&c, loop);
    return carrying;
}

/* Whether lanes can write a loop once what its switches read is carried; with exact mathematics they add to no array.
 */
static bool is_fit(const CtFlow *flow, const CtFlowStep *loop) {
    return loop->kind == FLOW_LOOP && ct_flow_is_elementwise(loop) && (loop->as.loop.carried == 0 || !flow->exact);
}

/* Whether a loop carries to its next iteration what it reads of an array that another loop makes. */
static bool carries_item_of(const CtFlowStep *carrying, const CtFlowStep *of) {
    const CtFlowBlock *block = carrying->as.loop.block;
    for (uint32_t i = 0; i < carrying->as.loop.carried; i++) {
        const CtFlowStep *read = ct_flow_binder(block, block->values.items[i].var);
        for (uint32_t j = of->as.loop.carried; read != NULL && read->kind == FLOW_READ && j < of->results.count; j++)
            if (read->args.items[0].var == of->results.items[j]) return true;
    }
    return false;
}

bool ct_flow_neighbours_meet(CtFlow *flow, CtFlowFunction *function, const CtFlowFacts *facts, bool is_carrying,
                             const CtFlowStep *first, const CtFlowStep *second, CtFlowNeighbours *meeting) {
    *meeting = (CtFlowNeighbours){NULL, NULL};
    if (!is_fit(flow, second) || !ct_flow_is_pieced(second) || (!is_carrying && !is_fit(flow, first))) return false;
    meeting->second = carry_neighbours(flow, function, facts, second);
    if (meeting->second == NULL || !carries_item_of(meeting->second, first)) return false;
    if (is_carrying || !ct_flow_is_pieced(first)) return true;
    meeting->first = carry_neighbours(flow, function, facts, first);
    return meeting->first != NULL;
}
