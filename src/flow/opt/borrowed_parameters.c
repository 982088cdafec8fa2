/* Borrowed parameters. A function owns what it is given, and takes lists and trees apart as it goes through them. If
 * its caller needs the argument afterwards, nothing of it can be freed or made anew in the meantime, and all that
 * counting does is to go up and down at each node. Such a call is one of a copy of the function that borrows the
 * parameter: it neither counts the argument nor the parts that it opens of it, unless it keeps one
 * (reference_counts.c).
 *
 *     member x tree, and tree is used again        →      member{borrows tree} x tree
 *
 * A parameter is worth borrowing if the function opens it, or hands it on to one that does. Calls whose argument is
 * used for the last time stay calls of the original, which frees or reuses each node as it goes. */
#include "flow/opt/passes.h"

enum { MOST_VARIANTS = 200, MAX_SIZE = 300, MOST_PARAMS = 64 };

typedef struct Variant {
    CtFlowFunction *function;
    struct Variant *next;
} Variant;

typedef struct Borrows {
    CtFlow *flow;
    CtArena *arena;
    uint32_t originals; /* number of functions before any is copied */
    uint64_t *opened;   /* by number of an original: bit i: parameter i is opened */
    bool changed;
    Variant **variants; /* by number of an original */
    uint32_t made;
    CtFlowFunction **origins; /* by number of a variant, from `originals` on: what it is a copy of */
    CtFlowFunction *function;
    uint32_t words;
    uint64_t *borrowed; /* variables of the function that are borrowed, or parts of what is */
} Borrows;

/* ---- which parameters are opened ---- */

/* Nodes of the program's data types and function values. What the other passes make has rules of its own. */
static bool may_be_borrowed(const CtFlowArg *arg) {
    return arg->var != NULL && arg->type->kind == FLOW_NODE && arg->type->data->type != NULL;
}

static void note(Borrows *b, const CtFlowArg *arg) {
    const CtFlowVars *params = &b->function->params;
    uint32_t index = 0;
    if (!may_be_borrowed(arg)) return;
    while (index < params->count && params->items[index] != arg->var) index++;
    if (index >= params->count || index >= MOST_PARAMS || b->opened[b->function->id] >> index & 1) return;
    b->opened[b->function->id] |= (uint64_t)1 << index;
    b->changed = true;
}

static void note_handed_on(Borrows *b, const CtFlowFunction *callee, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count && i < MOST_PARAMS; i++)
        if (b->opened[callee->id] >> i & 1) note(b, &args->items[i]);
}

static void find_opened(Borrows *b, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_OPEN) note(b, &step->args.items[0]);
        if (step->kind == FLOW_CALL) note_handed_on(b, step->as.function, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) find_opened(b, ct_flow_inner(step, j));
    }
    if (block->exit == EXIT_TAIL) note_handed_on(b, block->tail, &block->values);
}

/* ---- copies that borrow ---- */

static CtFlowFunction *variant_of(Borrows *b, CtFlowFunction *callee, uint64_t borrows) {
    CtFlowFunction *origin = callee->id < b->originals ? callee : b->origins[callee->id - b->originals];
    borrows &= b->opened[origin->id];
    if (borrows == 0) return origin;
    for (const Variant *v = b->variants[origin->id]; v != NULL; v = v->next)
        if (v->function->borrows == borrows) return v->function;
    if (b->made >= MOST_VARIANTS || ct_flow_size(origin->body) > MAX_SIZE || origin == b->flow->entry) return origin;
    CtFlowFunction *fresh = ct_flow_function(b->flow, origin->name, origin->range);
    uint32_t id = fresh->id;
    CtFlowCopy copy = {.flow = b->flow, .into = fresh, .keeps_numbers = true};
    *fresh = *origin;
    fresh->id = id;
    fresh->borrows = borrows;
    fresh->params = (CtFlowVars){0};
    for (uint32_t i = 0; i < origin->params.count; i++)
        ct_push(b->arena, &fresh->params, ct_flow_copy_var(&copy, origin->params.items[i]));
    fresh->body = ct_flow_copy_block(&copy, origin->body);
    Variant *variant = CT_NEW(b->arena, Variant);
    *variant = (Variant){fresh, b->variants[origin->id]};
    b->variants[origin->id] = variant;
    b->origins[b->made++] = origin;
    CT_FIRED("borrowed_parameters.copy");
    return fresh;
}

/* ---- which calls lend ---- */

static void mark_parts(Borrows *b, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; step->kind == FLOW_OPEN && j < step->results.count; j++)
            if (ct_flow_set_has(b->borrowed, step->args.items[0].var) && step->results.items[j] != NULL)
                ct_flow_set_add(b->borrowed, step->results.items[j]);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) mark_parts(b, ct_flow_inner(step, j));
    }
}

static void add_args(uint64_t *live, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var != NULL) ct_flow_set_add(live, args->items[i].var);
}

static void add_used(uint64_t *live, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        add_args(live, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) add_used(live, ct_flow_inner(step, j));
    }
    add_args(live, &block->values);
}

/* The arguments that the caller holds until the call has returned. `live`: what it uses afterwards; NULL behind a tail
 * call. */
static uint64_t held(const Borrows *b, const CtFlowArgs *args, const uint64_t *live) {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < args->count && i < MOST_PARAMS; i++) {
        const CtFlowArg *arg = &args->items[i];
        if (may_be_borrowed(arg) &&
            (ct_flow_set_has(b->borrowed, arg->var) || (live != NULL && ct_flow_set_has(live, arg->var))))
            mask |= (uint64_t)1 << i;
    }
    return mask;
}

static uint64_t *copy_of(const Borrows *b, const uint64_t *set) {
    uint64_t *copy = CT_NEW_ARRAY(b->arena, uint64_t, b->words);
    if (set != NULL) memcpy(copy, set, b->words * sizeof *copy);
    return copy;
}

/* What an iteration binds is not what the next one uses. */
static void drop_bound(uint64_t *live, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->params.count; i++)
        if (block->params.items[i] != NULL) ct_flow_set_drop(live, block->params.items[i]);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < step->results.count; j++)
            if (step->results.items[j] != NULL) ct_flow_set_drop(live, step->results.items[j]);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) drop_bound(live, ct_flow_inner(step, j));
    }
}

/* From the last step to the first. `live` contains what is used behind the block, and becomes what is used from its
 * start on. */
static void lend_in(Borrows *b, CtFlowBlock *block, uint64_t *live) {
    if (block->exit == EXIT_NEVER) memset(live, 0, b->words * sizeof *live);
    if (block->exit == EXIT_TAIL) block->tail = variant_of(b, block->tail, held(b, &block->values, NULL));
    add_args(live, &block->values);
    for (uint32_t i = block->steps.count; i-- > 0;) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < step->results.count; j++)
            if (step->results.items[j] != NULL) ct_flow_set_drop(live, step->results.items[j]);
        if (step->kind == FLOW_CALL) step->as.function = variant_of(b, step->as.function, held(b, &step->args, live));
        if (step->kind == FLOW_LOOP) {
            add_used(live, step->as.loop.block);
            uint64_t *next = copy_of(b, live);
            drop_bound(next, step->as.loop.block);
            lend_in(b, step->as.loop.block, next);
        }
        if (step->kind == FLOW_SWITCH) {
            uint64_t *some = copy_of(b, NULL);
            for (uint32_t j = 0; j < step->as.cases.count; j++) {
                CtFlowBlock *branch = step->as.cases.branches[j].block;
                uint64_t *own = copy_of(b, branch->exit == EXIT_YIELD ? live : NULL);
                lend_in(b, branch, own);
                for (uint32_t k = 0; k < b->words; k++) some[k] |= own[k];
            }
            memcpy(live, some, b->words * sizeof *live);
        }
        add_args(live, &step->args);
    }
}

static void lend(Borrows *b, CtFlowFunction *function) {
    b->function = function;
    b->words = function->vars / 64 + 1;
    b->borrowed = copy_of(b, NULL);
    for (uint32_t i = 0; i < function->params.count && i < MOST_PARAMS; i++)
        if (function->borrows >> i & 1) ct_flow_set_add(b->borrowed, function->params.items[i]);
    mark_parts(b, function->body);
    lend_in(b, function->body, copy_of(b, NULL));
}

void ct_flow_borrowed_parameters(CtFlow *flow) {
    ct_flow_drop_unreached(flow);
    Borrows b = {.flow = flow, .arena = flow->arena, .originals = flow->functions.count, .changed = true};
    b.opened = CT_NEW_ARRAY(flow->arena, uint64_t, b.originals + 1);
    b.variants = CT_NEW_ARRAY(flow->arena, Variant *, b.originals + 1);
    b.origins = CT_NEW_ARRAY(flow->arena, CtFlowFunction *, MOST_VARIANTS);
    while (b.changed) {
        b.changed = false;
        for (uint32_t i = b.originals; i-- > 0;) {
            b.function = flow->functions.items[i];
            find_opened(&b, b.function->body);
        }
    }
    /* Copies come behind the originals, are made of these as they are then, and are looked at in turn. */
    for (uint32_t i = 0; i < flow->functions.count; i++) lend(&b, flow->functions.items[i]);
}
