/* Nodes that a loop carries, each of the same constructor after each iteration if it was before the first, are carried
 * by their fields:
 *
 *     y = fold n, s do i, x:                 y = switch s
 *       x' = switch x                        C:    f = open C s
 *            C: f = open C x                       z = fold n, f do i, f:  f' …;  yield f'
 *               ⟨f' of f⟩               →          yield make C z
 *               yield make C f'              else: the loop as it was
 *            else: …
 *       yield x'
 *
 * With several nodes, the first branch is that where all are of their constructors. The adjoint of an array with
 * several names is such a node: once it has an array inside, a loop that adds to elements adds to this array
 * (flow/ad/bags.c). Here the loop in the first branch gets `x = make C f` in front of its body and `open C x'` behind
 * it; simplify resolves both, and the switch. */
#include "flow/copy.h"
#include "flow/opt/passes.h"

enum { MOST_STEPS = 200 }; /* of a loop, since it is written twice */

/* How a variable is known to be of the constructor. */
typedef enum Known {
    UNKNOWN,
    MADE,   /* it is made so: it may be used in any way */
    CARRIED /* or it may be the node that the loop carries, which must not be used as a whole */
} Known;

typedef struct Fields {
    CtFlow *flow;
    CtFlowFunction *function;
    const CtFlowData *data;
    uint32_t tag;
    CtMap known; /* numbers of variables -> Known */
    bool opened; /* the node that the loop carries is looked at */
} Fields;

static Known known(const Fields *w, const CtFlowArg *arg) {
    return arg->var == NULL ? UNKNOWN : (Known)(uintptr_t)ct_map_get(&w->known, arg->var->id);
}

static void know(Fields *w, const CtFlowVar *var, Known how) {
    if (how != UNKNOWN) ct_map_set(w->flow->arena, &w->known, var->id, (void *)(uintptr_t)how);
}

static bool stays_in(Fields *w, const CtFlowBlock *block);

/* A loop that carries the node in turn. */
static bool stays_in_loop(Fields *w, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    for (uint32_t i = 1; i <= step->as.loop.carried; i++)
        if (known(w, &step->args.items[i]) == CARRIED) know(w, block->params.items[i], CARRIED);
    if (step->as.loop.initial || block->exit != EXIT_YIELD || !stays_in(w, block)) return false;
    for (uint32_t i = 0; i < block->values.count; i++) {
        bool carried = i < step->as.loop.carried && known(w, &step->args.items[1 + i]) == CARRIED;
        Known value = known(w, &block->values.items[i]);
        if (carried ? value == UNKNOWN : value == CARRIED) return false;
        if (carried) know(w, step->results.items[i], CARRIED);
    }
    return true;
}

/* What is known of a result of a branch on another value. False if one branch gives the node, and another something
 * of which nothing is known. */
static bool meets(Fields *w, const CtFlowStep *step, uint32_t result) {
    bool all = true;
    Known most = UNKNOWN;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit == EXIT_NEVER) continue;
        Known value = known(w, &block->values.items[result]);
        all = all && value != UNKNOWN;
        if (value > most) most = value;
    }
    if (all) know(w, step->results.items[result], most);
    return all || most != CARRIED;
}

static bool stays_in_branches(Fields *w, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if ((block->exit != EXIT_NEVER && block->exit != EXIT_YIELD) || !stays_in(w, block)) return false;
    }
    for (uint32_t j = 0; j < step->results.count; j++)
        if (!meets(w, step, j)) return false;
    return true;
}

/* The branch for the constructor alone is looked at. */
static bool stays_in_branch(Fields *w, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.cases.branches[ct_flow_branch_for(step, w->tag)].block;
    if (block->exit != EXIT_YIELD || !stays_in(w, block)) return false;
    for (uint32_t j = 0; j < step->results.count; j++)
        know(w, step->results.items[j], known(w, &block->values.items[j]));
    return true;
}

/* Whether the node is only taken apart in a block, and handed on; notes what else is of its constructor. */
static bool stays_in(Fields *w, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        Known first = step->args.count > 0 ? known(w, &step->args.items[0]) : UNKNOWN;
        bool fits = true;
        if (step->kind == FLOW_SWITCH) {
            fits = first != UNKNOWN ? stays_in_branch(w, step) : stays_in_branches(w, step);
            w->opened |= first == CARRIED;
        } else if (step->kind == FLOW_LOOP) {
            fits = stays_in_loop(w, step);
        } else if (step->kind == FLOW_OPEN) {
            w->opened |= first == CARRIED;
        } else {
            for (uint32_t j = 0; j < step->args.count; j++) fits &= known(w, &step->args.items[j]) != CARRIED;
        }
        if (!fits) return false;
        if (step->kind == FLOW_MAKE && step->as.con.data == w->data && step->as.con.tag == w->tag)
            know(w, step->results.items[0], MADE);
    }
    return true;
}

/* Whether the node that a loop carries here stays of this constructor, and is looked at. */
static bool stays(Fields *w, const CtFlowStep *loop, uint32_t carried) {
    const CtFlowBlock *block = loop->as.loop.block;
    memset(&w->known, 0, sizeof w->known);
    w->opened = false;
    know(w, block->params.items[1 + carried], CARRIED);
    if (!stays_in(w, block)) return false;
    for (uint32_t i = 0; i < block->values.count; i++) {
        Known value = known(w, &block->values.items[i]);
        if (i == carried ? value == UNKNOWN : value == CARRIED) return false;
    }
    return w->opened;
}

/* ---- the rewriting ---- */

enum { AS_IT_IS = UINT32_MAX }; /* what a loop carries here is no such node */

static const CtFlowTypes *fields_of(const CtFlowArg *node, uint32_t tag) { return &node->type->data->cons[tag].fields; }

static void copy_block(CtFlowBuilder *l, CtFlowCopy *copy, const CtFlowBlock *from) {
    for (uint32_t i = 0; i < from->steps.count; i++)
        ct_push(l->arena, &l->block->steps, ct_flow_copy_step(copy, from->steps.items[i]));
}

/* The loop that carries the fields of nodes with these constructors; what the loop gives. */
static CtFlowArgs write_loop(Fields *w, CtFlowBuilder *l, const CtFlowStep *from, const uint32_t *tags) {
    const CtFlowBlock *block = from->as.loop.block;
    CtFlowCopy copy = {.flow = w->flow, .into = w->function};
    CtFlowArgs *fields = CT_NEW_ARRAY(l->arena, CtFlowArgs, from->as.loop.carried + 1);
    for (uint32_t i = 0; i < from->as.loop.carried; i++)
        if (tags[i] != AS_IT_IS)
            fields[i] = ct_flow_node_open(l, from->range, from->args.items[1 + i], tags[i], "field");
    CtFlowStep *loop = ct_flow_step(l, FLOW_LOOP, from->range);
    CtFlowBuilder inner = {w->flow, l->arena, w->function, ct_flow_block(l)};
    loop->as.loop = from->as.loop;
    loop->as.loop.block = inner.block;
    ct_push(l->arena, &loop->args, from->args.items[0]);
    ct_push(l->arena, &inner.block->params, ct_flow_copy_var(&copy, block->params.items[0]));
    for (uint32_t i = 0; i < from->as.loop.carried; i++) {
        CtFlowVar *param = block->params.items[1 + i];
        CtFlowArg node = from->args.items[1 + i];
        if (tags[i] == AS_IT_IS) {
            ct_push(l->arena, &loop->args, node);
            ct_push(l->arena, &inner.block->params, ct_flow_copy_var(&copy, param));
            continue;
        }
        const CtFlowTypes *types = fields_of(&node, tags[i]);
        ct_flow_args_add(l, &loop->args, &fields[i]);
        CtFlowArgs inside = ct_flow_params(&inner, &inner.block->params, "field", types);
        ct_flow_copy_stands(&copy, param, ct_flow_node_make(&inner, from->range, node.type, tags[i], &inside));
        loop->as.loop.carried += types->count - 1;
    }
    copy_block(&inner, &copy, block);
    CtFlowArgs values = ct_flow_copy_args(&copy, &block->values), next = {0}, results = {0};
    for (uint32_t i = 0; i < values.count; i++) {
        const CtFlowVar *result = from->results.items[i];
        if (i >= from->as.loop.carried || tags[i] == AS_IT_IS) {
            ct_push(l->arena, &next, values.items[i]);
            ct_push(l->arena, &results, ct_flow_result(l, loop, result->name, result->type));
            continue;
        }
        const CtFlowArg *node = &from->args.items[1 + i];
        const CtFlowTypes *types = fields_of(node, tags[i]);
        CtFlowArgs opened = ct_flow_node_open(&inner, from->range, values.items[i], tags[i], "field"), made = {0};
        ct_flow_args_add(l, &next, &opened);
        for (uint32_t j = 0; j < types->count; j++)
            ct_push(l->arena, &made, ct_flow_result(l, loop, "field", types->items[j]));
        ct_push(l->arena, &results, ct_flow_node_make(l, from->range, node->type, tags[i], &made));
    }
    ct_flow_leave(&inner, EXIT_YIELD, block->range, &next, NULL);
    return results;
}

/* 1 if all these nodes are of their constructors, else 0. */
static CtFlowArg all_are(CtFlowBuilder *l, const CtFlowStep *loop, const uint32_t *tags) {
    CtFlowArg all = ct_flow_none();
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        if (tags[i] == AS_IT_IS) continue;
        CtFlowChoosing choice = ct_flow_switch_begin(l, loop->range, loop->args.items[1 + i]);
        for (int64_t is = 1; is >= 0; is--) {
            CtFlowArgs value = {0};
            ct_flow_case_begin(l, &choice, is == 1 ? tags[i] : FLOW_OTHERS);
            ct_push(l->arena, &value, ct_flow_int(l, is));
            ct_flow_case_end(l, &choice, &value);
        }
        CtFlowArg one = ct_flow_switch_end(l, &choice).items[0];
        all = ct_flow_is_none(all) ? one : ct_flow_prim_int(l, loop->range, PRIM_INT_AND, all, one);
    }
    return all;
}

/* Writes the switch in the place of the loop. */
static void rewrite(Fields *w, CtFlowBlock *to, const CtFlowStep *loop, const uint32_t *tags) {
    CT_FIRED("carried_fields.loop");
    CtFlowBuilder l = {w->flow, w->flow->arena, w->function, to};
    CtFlowExit exit = to->exit;
    to->exit = EXIT_OPEN;
    CtFlowChoosing choice = ct_flow_switch_begin(&l, loop->range, all_are(&l, loop, tags));
    ct_flow_case_begin(&l, &choice, 1);
    CtFlowArgs results = write_loop(w, &l, loop, tags), same = {0};
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

/* A constructor that the node which a loop carries here keeps; AS_IT_IS if there is none. */
static uint32_t kept(Fields *w, const CtFlowStep *loop, uint32_t carried) {
    const CtFlowArg *start = &loop->args.items[1 + carried];
    if (start->type->kind != FLOW_NODE || start->var == NULL) return AS_IT_IS;
    w->data = start->type->data;
    for (w->tag = 0; w->tag < w->data->count; w->tag++)
        if (w->data->cons[w->tag].fields.count > 0 && stays(w, loop, carried)) return w->tag;
    return AS_IT_IS;
}

/* Finds nodes that a loop carries, and constructors that they keep. */
static bool rewrite_any(Fields *w, CtFlowBlock *to, const CtFlowStep *step) {
    if (step->kind != FLOW_LOOP || step->as.loop.initial || step->as.loop.block->exit != EXIT_YIELD) return false;
    if (ct_flow_size(step->as.loop.block) > MOST_STEPS) return false;
    uint32_t *tags = CT_NEW_ARRAY(w->flow->arena, uint32_t, step->as.loop.carried + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < step->as.loop.carried; i++) {
        tags[i] = kept(w, step, i);
        count += tags[i] != AS_IT_IS;
    }
    if (count > 1) CT_FIRED("carried_fields.several");
    if (count > 0) rewrite(w, to, step, tags);
    return count > 0;
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
