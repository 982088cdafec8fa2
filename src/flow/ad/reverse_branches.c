/* The reverse of a switch: a switch on the same value, or on the number of the branch that was taken. Values of a
 * branch that its reverse needs, and that are not recomputed, become additional results of the forward switch: a few
 * scalars directly, padded in the other branches, or a node with a constructor for each branch. */
#include "flow/ad/reverse.h"

enum { MOST_SLOTS = 8 };

typedef struct Branching {
    CtFlowStep *step;
    Scope **scopes; /* NULL: control does not come out of the branch */
    Scope *outer;
    Imports imports;
    bool numbered; /* the reverse switch is on the number of the branch */
} Branching;

static void reverse_branch(Reverse *r, Branching *b, uint32_t index, const CtFlowArgs *cotangents) {
    CtFlowBlock *block = b->step->as.cases.branches[index].block;
    if (block->exit != EXIT_YIELD) return;
    Scope *scope = b->scopes[index] = ct_flow_reverse_scope(r, SCOPE_BRANCH, block, ct_flow_block(&r->b));
    scope->step = b->step;
    scope->imports = &b->imports;
    ct_flow_reverse_enter(r, scope);
    for (uint32_t i = 0; i < block->values.count; i++)
        ct_flow_reverse_give(r, block->range, block->values.items[i], cotangents->items[i], false);
    ct_flow_reverse_steps(r, block, block->steps.count);
    ct_flow_reverse_enter(r, b->outer);
}

/* ---- handing values over ---- */

static bool all_scalars(const Branching *b) {
    for (uint32_t i = 0; i < b->step->as.cases.count; i++) {
        if (b->scopes[i] == NULL) continue;
        const CtFlowVars *stored = &b->scopes[i]->stored;
        if (stored->count > MOST_SLOTS) return false;
        for (uint32_t j = 0; j < stored->count; j++)
            if (ct_flow_is_object(stored->items[j]->type)) return false;
    }
    return true;
}

static CtFlowVar *add_result(Reverse *r, CtFlowStep *step, const CtFlowType *type) {
    CtFlowBlock *owner = ct_map_get(&r->owner, step->results.items[0]->id);
    CtFlowVar *var = ct_flow_reverse_forward_var(r, "kept", type, owner, step);
    ct_push(r->arena, &step->results, var);
    return var;
}

/* The n-th stored value of a type in a branch. */
static CtFlowVar *nth_of(const Scope *scope, const CtFlowType *type, uint32_t n) {
    for (uint32_t i = 0; scope != NULL && i < scope->stored.count; i++)
        if (scope->stored.items[i]->type == type && n-- == 0) return scope->stored.items[i];
    return NULL;
}

static void add_slot(Reverse *r, Branching *b, const CtFlowType *type, uint32_t n) {
    CtFlowVar *slot = add_result(r, b->step, type);
    for (uint32_t i = 0; i < b->step->as.cases.count; i++) {
        Scope *scope = b->scopes[i];
        if (scope == NULL) continue;
        CtFlowVar *var = nth_of(scope, type, n);
        CtFlowBlock *forward = b->step->as.cases.branches[i].block;
        ct_push(r->arena, &forward->values, var != NULL ? flow_of(var) : (CtFlowArg){.type = type});
        if (var != NULL)
            ct_flow_substitute(scope->backward, ct_map_get(&scope->known, var->id),
                               ct_flow_reverse_need(r, flow_of(slot)));
    }
}

static void hand_over_scalars(Reverse *r, Branching *b) {
    CtFlowKind kinds[] = {FLOW_F64, FLOW_F32, FLOW_I64};
    for (uint32_t k = 0; k < 3; k++) {
        const CtFlowType *type = ct_flow_scalar(r->flow, kinds[k]);
        for (uint32_t n = 0;; n++) {
            bool any = false;
            for (uint32_t i = 0; i < b->step->as.cases.count; i++) any |= nth_of(b->scopes[i], type, n) != NULL;
            if (!any) break;
            add_slot(r, b, type, n);
        }
    }
}

static void hand_over_nodes(Reverse *r, Branching *b) {
    const CtFlowType *node = ct_flow_node_new(r->flow, "branches", NULL);
    CT_FIRED("reverse_branches.nodes");
    CtFlowVar *result = add_result(r, b->step, node);
    for (uint32_t i = 0; i < b->step->as.cases.count; i++) {
        Scope *scope = b->scopes[i];
        CtFlowTypes types = {0};
        if (scope != NULL)
            types =
                (CtFlowTypes){CT_NEW_ARRAY(r->arena, const CtFlowType *, scope->stored.count + 1), scope->stored.count};
        for (uint32_t j = 0; j < types.count; j++) types.items[j] = scope->stored.items[j]->type;
        ct_flow_con_add(r->flow, node->data, "branch", &types);
        if (scope == NULL) continue;
        CtFlowArgs fields = {0};
        for (uint32_t j = 0; j < types.count; j++) ct_push(r->arena, &fields, flow_of(scope->stored.items[j]));
        CtFlowBlock *forward = b->step->as.cases.branches[i].block;
        r->f.block = forward;
        forward->exit = EXIT_OPEN;
        ct_push(r->arena, &forward->values, ct_flow_node_make(&r->f, forward->range, node, i, &fields));
        forward->exit = EXIT_YIELD;
        if (types.count == 0) continue;
        CtFlowBlock *front = r->b.block = ct_flow_block(&r->b);
        CtFlowStep *open = ct_flow_step(&r->b, FLOW_OPEN, b->step->range);
        open->as.con.data = node->data;
        open->as.con.tag = i;
        ct_flow_arg(&r->b, open, ct_flow_reverse_need(r, flow_of(result)));
        for (uint32_t j = 0; j < types.count; j++)
            ct_push(r->arena, &open->results, ct_map_get(&scope->known, scope->stored.items[j]->id));
        for (uint32_t j = 0; j < scope->backward->steps.count; j++)
            ct_push(r->arena, &front->steps, scope->backward->steps.items[j]);
        scope->backward->steps.items = front->steps.items;
        scope->backward->steps.count = front->steps.count;
        scope->backward->steps.capacity = front->steps.capacity;
    }
}

/* ---- the whole ---- */

/* A node with arrays in it that were stored for its constructor alone would be one more holder of them, and their
 * updates would have to copy them. The number of the branch, a further result of the forward switch, is stored. */
static CtFlowArg number_of_branch(Reverse *r, Branching *b) {
    CtFlowBlock *owner = ct_map_get(&r->owner, b->step->results.items[0]->id);
    /* Without its step, so that the switch is not repeated for it. */
    CtFlowVar *number = ct_flow_reverse_forward_var(r, "branch", ct_flow_scalar(r->flow, FLOW_I64), owner, NULL);
    ct_push(r->arena, &b->step->results, number);
    for (uint32_t i = 0; i < b->step->as.cases.count; i++)
        if (b->scopes[i] != NULL)
            ct_push(r->arena, &b->step->as.cases.branches[i].block->values, ct_flow_int(&r->f, i));
    b->numbered = true;
    return ct_flow_reverse_need(r, flow_of(number));
}

static CtFlowArg chooser(Reverse *r, Branching *b) {
    CtFlowArg on = b->step->args.items[0];
    bool numbers = on.var != NULL && on.type->kind == FLOW_NODE && ct_flow_holds_arrays(r->flow, on.type) &&
                   ct_flow_reverse_would_store(r, on.var) && CT_FIRED("reverse_branches.number");
    return numbers ? number_of_branch(r, b) : ct_flow_reverse_need(r, on);
}

static void write_switch(Reverse *r, Branching *b, CtFlowArg on) {
    const CtFlowStep *step = b->step;
    CtFlowStep *made = ct_flow_step(&r->b, FLOW_SWITCH, step->range);
    ct_flow_arg(&r->b, made, on);
    made->as.cases.branches = CT_NEW_ARRAY(r->arena, CtFlowBranch, step->as.cases.count);
    for (uint32_t i = 0; i < step->as.cases.count; i++)
        if (b->scopes[i] != NULL)
            made->as.cases.branches[made->as.cases.count++] =
                (CtFlowBranch){b->numbered ? i : step->as.cases.branches[i].tag, b->scopes[i]->backward};
    if (b->numbered) made->as.cases.branches[made->as.cases.count - 1].tag = FLOW_OTHERS;
    for (uint32_t i = 0; i < b->imports.count; i++) {
        const Import *item = &b->imports.items[i];
        CtFlowVar *var = item->var;
        const CtFlowType *type =
            ct_flow_reverse_handed_type(r->flow, var->type, item->is_bag ? ACTIVE_SHARED : ACTIVE_OWN);
        ct_flow_reverse_imported(r, b->outer, item, ct_flow_result(&r->b, made, var->name, type));
    }
}

void ct_flow_reverse_switch(Reverse *r, CtFlowStep *step) {
    CtFlowArgs cotangents = {0};
    bool any = false;
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowArg g = ct_flow_reverse_take_any(r, flow_of(step->results.items[i]), NULL);
        any |= !ct_flow_is_none(g);
        ct_push(r->arena, &cotangents, g);
    }
    if (!any) return;
    uint32_t count = step->as.cases.count;
    Branching b = {.step = step, .scopes = CT_NEW_ARRAY(r->arena, Scope *, count), .outer = r->scope};
    for (uint32_t i = 0; i < count; i++) reverse_branch(r, &b, i, &cotangents);
    for (uint32_t j = 0; j < b.imports.count; j++) {
        Import *item = &b.imports.items[j];
        const Acc *outside = ct_flow_reverse_acc(r, b.outer, item->var, false);
        item->full = outside->full;
    }
    for (uint32_t i = 0; i < count; i++) {
        CtFlowArgs values = {0};
        if (b.scopes[i] == NULL) continue;
        for (uint32_t j = 0; j < b.imports.count; j++)
            ct_push(r->arena, &values, ct_flow_reverse_export(r, b.scopes[i], &b.imports.items[j]));
        r->b.block = b.scopes[i]->backward;
        ct_flow_leave(&r->b, EXIT_YIELD, step->range, &values, NULL);
        ct_flow_reverse_settle(r, b.scopes[i]);
    }
    ct_flow_reverse_enter(r, b.outer);
    CtFlowArg on = chooser(r, &b);
    for (uint32_t i = 0; i < count; i++) {
        if (b.scopes[i] == NULL) continue;
        r->b.block = ct_flow_block(&r->b);
        ct_flow_reverse_repeat(r, b.scopes[i]);
    }
    if (all_scalars(&b) && CT_FIRED("reverse_branches.scalars"))
        hand_over_scalars(r, &b);
    else
        hand_over_nodes(r, &b);
    ct_flow_reverse_enter(r, b.outer);
    write_switch(r, &b, on);
}
