/* A node that a loop carries, and that is of the same constructor after each iteration if it was before the first, is
 * carried by its fields:
 *
 *     y = fold n, s do i, x:                 y = switch s
 *       x' = switch x                        C:    f = open C s
 *            C: f = open C x                       z = fold n, f do i, f:  f' …;  yield f'
 *               ⟨f' of f⟩               →          yield make C z
 *               yield make C f'              else: the loop as it was
 *            else: …
 *       yield x'
 *
 * The adjoint of an array with several names is such a node: once it has an array inside, a loop that adds to elements
 * adds to this array (flow/ad/bags.c). Here the loop in the first branch gets `x = make C f` in front of its body and
 * `open C x'` behind it; simplify resolves both, and the switch. */
#include "flow/copy.h"
#include "flow/opt/passes.h"

enum { MOST_STEPS = 200 }; /* of a loop, since it is written twice */

typedef struct Fields {
    CtFlow *flow;
    CtFlowFunction *function;
    const CtFlowData *data;
    uint32_t tag;
    CtMap known; /* numbers of variables that are made by this constructor -> NULL */
    bool opened; /* such a variable is looked at */
} Fields;

static bool is_known(const Fields *w, const CtFlowArg *arg) {
    return arg->var != NULL && ct_map_has(&w->known, arg->var->id);
}

static void know(Fields *w, const CtFlowVar *var) { ct_map_set(w->flow->arena, &w->known, var->id, NULL); }

static const CtFlowBlock *branch_of(const CtFlowStep *choice, uint32_t tag) {
    const CtFlowBranch *branches = choice->as.cases.branches;
    uint32_t i = 0;
    while (i + 1 < choice->as.cases.count && branches[i].tag != tag) i++;
    return branches[i].block;
}

static bool stays_in(Fields *w, const CtFlowBlock *block);

/* A loop that carries such a node in turn. */
static bool stays_in_loop(Fields *w, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    for (uint32_t i = 1; i <= step->as.loop.carried; i++)
        if (is_known(w, &step->args.items[i])) know(w, block->params.items[i]);
    if (is_known(w, &step->args.items[0]) || step->as.loop.initial || block->exit != EXIT_YIELD) return false;
    if (!stays_in(w, block)) return false;
    for (uint32_t i = 0; i < block->values.count; i++) {
        bool carried = i < step->as.loop.carried && is_known(w, &step->args.items[1 + i]);
        if (is_known(w, &block->values.items[i]) != carried) return false;
        if (carried) know(w, step->results.items[i]);
    }
    return true;
}

/* A branch on another value, all of whose branches give such a node, or none does. */
static bool stays_in_branches(Fields *w, const CtFlowStep *step) {
    const CtFlowBlock *first = NULL;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit == EXIT_NEVER && stays_in(w, block)) continue;
        if (block->exit != EXIT_YIELD || !stays_in(w, block)) return false;
        for (uint32_t j = 0; first != NULL && j < block->values.count; j++)
            if (is_known(w, &block->values.items[j]) != is_known(w, &first->values.items[j])) return false;
        first = block;
    }
    for (uint32_t j = 0; first != NULL && j < step->results.count; j++)
        if (is_known(w, &first->values.items[j]) && step->results.items[j] != NULL) know(w, step->results.items[j]);
    return first != NULL;
}

/* The branch for the constructor alone is looked at. */
static bool stays_in_branch(Fields *w, const CtFlowStep *step) {
    const CtFlowBlock *block = branch_of(step, w->tag);
    w->opened = true;
    if (block->exit != EXIT_YIELD || !stays_in(w, block)) return false;
    for (uint32_t j = 0; j < step->results.count; j++)
        if (is_known(w, &block->values.items[j]) && step->results.items[j] != NULL) know(w, step->results.items[j]);
    return true;
}

/* Whether nodes of the constructor are only taken apart in a block, and handed on; notes what else is of it. */
static bool stays_in(Fields *w, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool fits = true;
        if (step->kind == FLOW_SWITCH) {
            fits = is_known(w, &step->args.items[0]) ? stays_in_branch(w, step) : stays_in_branches(w, step);
        } else if (step->kind == FLOW_LOOP) {
            fits = stays_in_loop(w, step);
        } else if (step->kind == FLOW_OPEN && is_known(w, &step->args.items[0])) {
            w->opened = true;
        } else {
            for (uint32_t j = 0; j < step->args.count; j++) fits &= !is_known(w, &step->args.items[j]);
        }
        if (!fits) return false;
        if (step->kind == FLOW_MAKE && step->as.con.data == w->data && step->as.con.tag == w->tag)
            know(w, step->results.items[0]);
    }
    return true;
}

/* Whether the node that a loop carries here stays of this constructor, and is looked at. */
static bool stays(Fields *w, const CtFlowStep *loop, uint32_t carried) {
    const CtFlowBlock *block = loop->as.loop.block;
    memset(&w->known, 0, sizeof w->known);
    w->opened = false;
    know(w, block->params.items[1 + carried]);
    if (!stays_in(w, block)) return false;
    for (uint32_t i = 0; i < block->values.count; i++)
        if (is_known(w, &block->values.items[i]) != (i == carried)) return false;
    return w->opened;
}

/* ---- the rewriting ---- */

static void copy_block(CtFlowBuilder *l, CtFlowCopy *copy, const CtFlowBlock *from) {
    for (uint32_t i = 0; i < from->steps.count; i++)
        ct_push(l->arena, &l->block->steps, ct_flow_copy_step(copy, from->steps.items[i]));
}

/* The loop that carries the fields; what the loop gives. */
static CtFlowArgs write_loop(Fields *w, CtFlowBuilder *l, const CtFlowStep *from, uint32_t carried) {
    const CtFlowBlock *block = from->as.loop.block;
    const CtFlowType *node = from->args.items[1 + carried].type;
    const CtFlowTypes *types = &w->data->cons[w->tag].fields;
    CtFlowCopy copy = {.flow = w->flow, .into = w->function};
    CtFlowArgs fields = ct_flow_node_open(l, from->range, from->args.items[1 + carried], w->tag, "field"),
               results = {0};
    CtFlowStep *loop = ct_flow_step(l, FLOW_LOOP, from->range);
    CtFlowBuilder inner = {w->flow, l->arena, w->function, ct_flow_block(l)};
    loop->as.loop = from->as.loop;
    loop->as.loop.block = inner.block;
    loop->as.loop.carried += types->count - 1;
    ct_push(l->arena, &loop->args, from->args.items[0]);
    ct_push(l->arena, &inner.block->params, ct_flow_copy_var(&copy, block->params.items[0]));
    for (uint32_t i = 0; i < from->as.loop.carried; i++) {
        CtFlowVar *param = block->params.items[1 + i];
        if (i != carried) {
            ct_push(l->arena, &loop->args, from->args.items[1 + i]);
            ct_push(l->arena, &inner.block->params, ct_flow_copy_var(&copy, param));
            continue;
        }
        ct_flow_args_add(l, &loop->args, &fields);
        CtFlowArgs inside = ct_flow_params(&inner, &inner.block->params, "field", types);
        ct_flow_copy_stands(&copy, param, ct_flow_node_make(&inner, from->range, node, w->tag, &inside));
    }
    copy_block(&inner, &copy, block);
    CtFlowArgs values = ct_flow_copy_args(&copy, &block->values), next = {0};
    for (uint32_t i = 0; i < values.count; i++) {
        const CtFlowVar *result = from->results.items[i];
        if (i != carried) {
            ct_push(l->arena, &next, values.items[i]);
            ct_push(l->arena, &results, ct_flow_result(l, loop, result->name, result->type));
            continue;
        }
        CtFlowArgs opened = ct_flow_node_open(&inner, from->range, values.items[i], w->tag, "field"), made = {0};
        ct_flow_args_add(l, &next, &opened);
        for (uint32_t j = 0; j < types->count; j++)
            ct_push(l->arena, &made, ct_flow_result(l, loop, "field", types->items[j]));
        ct_push(l->arena, &results, ct_flow_node_make(l, from->range, node, w->tag, &made));
    }
    ct_flow_leave(&inner, EXIT_YIELD, block->range, &next, NULL);
    return results;
}

/* Writes the switch in the place of the loop. */
static void rewrite(Fields *w, CtFlowBlock *to, const CtFlowStep *loop, uint32_t carried) {
    CT_FIRED("carried_fields.loop");
    CtFlowBuilder l = {w->flow, w->flow->arena, w->function, to};
    CtFlowExit exit = to->exit;
    to->exit = EXIT_OPEN;
    CtFlowChoosing choice = ct_flow_switch_begin(&l, loop->range, loop->args.items[1 + carried]);
    ct_flow_case_begin(&l, &choice, w->tag);
    CtFlowArgs results = write_loop(w, &l, loop, carried), same = {0};
    ct_flow_case_end(&l, &choice, &results);
    ct_flow_case_begin(&l, &choice, FLOW_OTHERS);
    CtFlowCopy copy = {.flow = w->flow, .into = w->function};
    CtFlowStep *other = ct_flow_copy_step(&copy, loop);
    ct_push(l.arena, &l.block->steps, other);
    for (uint32_t i = 0; i < other->results.count; i++) ct_push(l.arena, &same, flow_of(other->results.items[i]));
    ct_flow_case_end(&l, &choice, &same);
    ct_flow_switch_end(&l, &choice);
    to->exit = exit;
    to->steps.items[to->steps.count - 1]->results = loop->results;
}

/* Finds a node that a loop carries, and a constructor that it keeps. */
static bool rewrite_any(Fields *w, CtFlowBlock *to, const CtFlowStep *step) {
    if (step->kind != FLOW_LOOP || step->as.loop.initial || step->as.loop.block->exit != EXIT_YIELD) return false;
    if (ct_flow_size(step->as.loop.block) > MOST_STEPS) return false;
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] == NULL) return false;
    for (uint32_t i = 0; i < step->as.loop.carried; i++) {
        const CtFlowArg *start = &step->args.items[1 + i];
        if (start->type->kind != FLOW_NODE || start->var == NULL) continue;
        w->data = start->type->data;
        for (w->tag = 0; w->tag < w->data->count; w->tag++) {
            if (w->data->cons[w->tag].fields.count == 0 || !stays(w, step, i)) continue;
            rewrite(w, to, step, i);
            return true;
        }
    }
    return false;
}

/* Inner loops first: where they keep a node of this constructor, the loop around may. */
static void visit(Fields *w, CtFlowBlock *block) {
    CtFlowBlock old = *block;
    memset(&block->steps, 0, sizeof block->steps);
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(w, ct_flow_inner(step, j));
        if (!rewrite_any(w, block, step)) ct_push(w->flow->arena, &block->steps, step);
    }
}

void ct_flow_carried_fields(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        Fields w = {.flow = flow, .function = flow->functions.items[i]};
        visit(&w, w.function->body);
    }
}
