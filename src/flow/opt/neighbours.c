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
 * What is read of an array that no loop in reach makes is carried too, if the loop reads the array at its index as well
 * or the array is as long as the loop: then no part of the loop is a case of its own. */
#include "flow/opt/neighbours.h"

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
    CtFlowArgs next;    /* what is carried to the next iteration */
    CtFlowVars last;    /* results: what the last iteration carries */
} Carrying;

/* The element at the loop's index, read in front of all else. */
static bool read_first(Carrying *c, const CtFlowArg *array) {
    CtArena *arena = c->flow->arena;
    uint32_t at = read_here(c->body, array->var);
    if (at < c->body->steps.count) {
        CtFlowStep *read = c->body->steps.items[at];
        if (!c->moved[at]) ct_push(arena, &c->block->steps, read);
        c->moved[at] = true;
        ct_push(arena, &c->next, flow_of(read->results.items[0]));
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
    ct_push(arena, &c->next, flow_of(item));
    return true;
}

/* Carries what a step reads, in the step's own variable; false where that is not the element before. */
static bool carry(Carrying *c, uint32_t at, const CtFlowPiece *piece) {
    CtArena *arena = c->flow->arena;
    CtFlowArg first;
    CtFlowVar *before = c->body->steps.items[at]->results.items[0];
    if (!is_neighbour(c->facts, piece, &first) || !read_first(c, &piece->arrays[1])) return false;
    c->moved[at] = true;
    ct_push(arena, &c->block->params, before);
    ct_push(arena, &c->loop->args, first);
    ct_push(arena, &c->last, ct_flow_fresh(c->flow, c->function, NULL, before->type));
    return true;
}

static bool carry_all(Carrying *c) {
    CtFlowPiece piece;
    for (uint32_t i = 0; i < c->body->steps.count; i++)
        if (ct_flow_piece(c->body, c->body->steps.items[i], &piece) && !carry(c, i, &piece)) return false;
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
    Carrying c = {
        flow, function, facts, body, carrying, block, .moved = CT_NEW_ARRAY(arena, bool, body->steps.count + 1)};
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
        if (!c.moved[i]) ct_push(arena, &block->steps, body->steps.items[i]);
    put_results(&c, loop);
    return carrying;
}

/* Whether lanes can write a loop once what its switches read is carried; with exact mathematics they add to no array.
 */
static bool is_fit(const CtFlow *flow, const CtFlowStep *loop) {
    return loop->kind == FLOW_LOOP && ct_flow_is_elementwise(loop) && (loop->as.loop.carried == 0 || !flow->exact) &&
           ct_flow_parting_tests(loop->as.loop.block).count == 0;
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
