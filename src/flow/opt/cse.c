/* Common subexpression elimination. A step equal to one that dominates it is dropped, and its results are replaced.
 * This includes checks: a check that has passed passes again. What a branch of a switch has checked also holds in the
 * same branch of a later switch on the same value, and what it has computed of its results there is known. Lengths are
 * compared by the arrays that they are lengths of. Of two carried variables that are always equal, one is dropped. */
#include "flow/opt/passes.h"

enum { BUCKETS = 256 };

typedef struct Done {
    uint64_t hash;
    CtFlowStep *step;
    uint32_t next; /* next in the hash bucket: 1 + its index */
} Done;

typedef struct Cse {
    CtFlow *flow;
    CtArena *arena;
    const bool *telling;
    CtFlowFacts facts;
    CtFlowValues now;
    CT_VEC(Done) done; /* steps that dominate the current one, innermost last */
    uint32_t buckets[BUCKETS];
} Cse;

/* ---- which steps are the same ---- */

/* Whether a step fills an array with one number. To run it again costs no more than a copy, and then each array can be
 * updated in place. */
static bool makes_copies(const CtFlowStep *step) {
    return step->as.bulk == ARRAY_REPLICATE && !ct_flow_is_object(step->args.items[1].type);
}

static bool makes_no_objects(const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL && ct_flow_is_object(step->results.items[i]->type)) return false;
    return true;
}

/* Whether a step is redundant behind an equal one. */
static bool is_kept(const Cse *c, const CtFlowStep *step) {
    if (ct_flow_tells(c->telling, step)) return false;
    switch (ct_flow_step_info(step->kind)->again) {
    case AGAIN_DROPPED: return step->kind != FLOW_BULK || !makes_copies(step);
    case AGAIN_NUMBERS: return makes_no_objects(step);
    case AGAIN_KEPT: return false;
    }
    return false;
}

static uint64_t mix(uint64_t hash, uint64_t more) { return (hash ^ more) * 0x9E3779B97F4A7C15u; }

/* Of the steps of a block, and of the numbers that they use. */
static uint64_t hash_of_block(uint64_t hash, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        hash = mix(mix(hash, (uint64_t)step->kind), ct_flow_operation(step));
        for (uint32_t j = 0; j < step->args.count; j++)
            if (step->args.items[j].var == NULL) hash = mix(hash, (uint64_t)step->args.items[j].lit.integer + 1);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) hash = hash_of_block(hash, ct_flow_inner(step, j));
    }
    return hash;
}

static uint64_t hash_of(const Cse *c, const CtFlowStep *step) {
    uint64_t hash = mix((uint64_t)step->kind, ct_flow_operation(step));
    if (step->kind == FLOW_DIM)
        return mix(hash, ct_flow_length_key(&c->facts,
                                            ct_flow_length(&c->facts, &step->args.items[0], step->as.index, false)));
    for (uint32_t i = 0; i < step->args.count; i++) {
        const CtFlowArg *arg = &step->args.items[i];
        hash = mix(hash, arg->var != NULL ? arg->var->id : (uint64_t)arg->lit.integer + 1);
    }
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) hash = hash_of_block(hash, ct_flow_inner(step, i));
    return hash;
}

/* Equal results need equal types: array literals that are equal, or empty, may have different ones. */
static bool same_results(const CtFlowStep *a, const CtFlowStep *b) {
    if (a->results.count != b->results.count) return false;
    for (uint32_t i = 0; i < a->results.count; i++)
        if (a->results.items[i] != NULL && b->results.items[i] != NULL &&
            a->results.items[i]->type != b->results.items[i]->type)
            return false;
    return true;
}

static bool is_same(const Cse *c, const CtFlowStep *a, const CtFlowStep *b) {
    if (a->kind != b->kind || !same_results(a, b)) return false;
    if (a->kind == FLOW_DIM)
        return ct_flow_same_length(&c->facts, ct_flow_length(&c->facts, &a->args.items[0], a->as.index, false),
                                   ct_flow_length(&c->facts, &b->args.items[0], b->as.index, false));
    if (a->kind == FLOW_SWITCH || a->kind == FLOW_LOOP) return ct_flow_same_steps(c->arena, a, b);
    if (ct_flow_operation(a) != ct_flow_operation(b) || a->args.count != b->args.count) return false;
    for (uint32_t i = 0; i < a->args.count; i++)
        if (!ct_flow_same(&a->args.items[i], &b->args.items[i])) return false;
    return true;
}

/* ---- what has been done ---- */

/* Replaces the results of a step by those of an equal one. If that is an OPEN, it also gets results for fields that it
 * did not need so far. */
static void merge(Cse *c, CtFlowStep *first, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *var = step->results.items[i];
        if (var == NULL) continue;
        if (first->results.items[i] == NULL && CT_FIRED("cse.further_field"))
            first->results.items[i] = var;
        else
            ct_flow_stands(&c->now, var, flow_of(first->results.items[i]));
    }
}

static void add_done(Cse *c, CtFlowStep *step, uint64_t hash) {
    uint32_t *bucket = &c->buckets[hash >> 32 & (BUCKETS - 1)];
    ct_push(c->arena, &c->done, (Done){hash, step, *bucket});
    *bucket = c->done.count;
}

static bool is_done(Cse *c, CtFlowStep *step) {
    uint64_t hash = hash_of(c, step);
    for (uint32_t i = c->buckets[hash >> 32 & (BUCKETS - 1)]; i > 0; i = c->done.items[i - 1].next) {
        Done *done = &c->done.items[i - 1];
        if (done->hash != hash || !is_same(c, done->step, step)) continue;
        if (step->kind == FLOW_SWITCH) CT_FIRED("cse.switch");
        if (step->kind == FLOW_LOOP) CT_FIRED("cse.loop");
        if (ct_flow_is_check(step)) CT_FIRED("cse.check");
        CT_FIRED("cse.step");
        merge(c, done->step, step);
        return true;
    }
    add_done(c, step, hash);
    return false;
}

/* Leaves a scope: forgets all but the first `count` steps. */
static void forget(Cse *c, uint32_t count) {
    while (c->done.count > count) {
        const Done *done = &c->done.items[--c->done.count];
        c->buckets[done->hash >> 32 & (BUCKETS - 1)] = done->next;
    }
}

/* ---- the walk ---- */

static void visit(Cse *c, CtFlowBlock *block);

/* What a value of a branch is behind the switch: one of its results, or itself if it comes from outside of the branch.
 * False: nothing there is known to be this value. */
static bool is_behind(const CtFlowStep *before, const CtFlowBlock *block, CtFlowArg *value) {
    if (value->var == NULL) return true;
    for (uint32_t i = 0; i < block->values.count; i++)
        if (block->values.items[i].var == value->var) {
            *value = flow_of(before->results.items[i]);
            return true;
        }
    return ct_flow_binder(block, value->var) == NULL;
}

/* Recalls the numbers that an earlier switch gives, where its branch has computed these of others that are at hand. */
static void recall_results(Cse *c, const CtFlowStep *before, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->values.count; i++) {
        const CtFlowStep *step = ct_flow_binder(block, block->values.items[i].var);
        if (step == NULL || step->kind != FLOW_PRIM || !is_kept(c, step)) continue;
        CtFlowStep *known = CT_NEW(c->arena, CtFlowStep);
        *known = (CtFlowStep){.kind = FLOW_PRIM, .range = step->range, .as.prim = step->as.prim};
        bool at_hand = true;
        for (uint32_t j = 0; j < step->args.count && at_hand; j++) {
            CtFlowArg arg = step->args.items[j];
            at_hand = is_behind(before, block, &arg);
            ct_push(c->arena, &known->args, arg);
        }
        ct_push(c->arena, &known->results, before->results.items[i]);
        if (at_hand && CT_FIRED("cse.computed_in_branch")) add_done(c, known, hash_of(c, known));
    }
}

/* Enters the branch for a tag: recalls the checks made in the same branch of earlier switches on the same value. */
static void recall(Cse *c, const CtFlowStep *choice, uint32_t tag) {
    for (uint32_t i = 0, count = c->done.count; i < count; i++) {
        const CtFlowStep *before = c->done.items[i].step;
        if (before->kind != FLOW_SWITCH || !ct_flow_same(&before->args.items[0], &choice->args.items[0])) continue;
        for (uint32_t j = 0; j < before->as.cases.count; j++) {
            const CtFlowBlock *block = before->as.cases.branches[j].block;
            if (before->as.cases.branches[j].tag != tag || tag == FLOW_OTHERS || block->exit != EXIT_YIELD) continue;
            for (uint32_t k = 0; k < block->steps.count; k++)
                if (block->steps.items[k]->results.count == 0 && is_kept(c, block->steps.items[k]) &&
                    CT_FIRED("cse.asked_in_branch"))
                    add_done(c, block->steps.items[k], hash_of(c, block->steps.items[k]));
        }
    }
}

static void visit_branches(Cse *c, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        uint32_t done = c->done.count;
        recall(c, step, step->as.cases.branches[i].tag);
        visit(c, step->as.cases.branches[i].block);
        forget(c, done);
    }
}

/* Enters the branch for a tag, once the switch is known to be like no earlier one: recalls what the same branch of
 * earlier switches has computed. */
static void recall_computed(Cse *c, const CtFlowStep *choice, uint32_t tag) {
    for (uint32_t i = 0, count = c->done.count; i < count && tag != FLOW_OTHERS; i++) {
        const CtFlowStep *before = c->done.items[i].step;
        if (before->kind != FLOW_SWITCH || before == choice) continue;
        if (!ct_flow_same(&before->args.items[0], &choice->args.items[0])) continue;
        for (uint32_t j = 0; j < before->as.cases.count; j++) {
            const CtFlowBranch *branch = &before->as.cases.branches[j];
            if (branch->tag == tag && branch->block->exit == EXIT_YIELD) recall_results(c, before, branch->block);
        }
    }
}

static void reuse_computed(Cse *c, CtFlowStep *choice) {
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        CtFlowBlock *block = choice->as.cases.branches[i].block;
        uint32_t done = c->done.count, kept = 0;
        recall_computed(c, choice, choice->as.cases.branches[i].tag);
        bool known = c->done.count > done;
        for (uint32_t j = 0; known && j < block->steps.count; j++) {
            CtFlowStep *step = block->steps.items[j];
            ct_flow_rename(&c->now, &step->args);
            if (step->kind == FLOW_PRIM && is_kept(c, step) && is_done(c, step)) continue;
            block->steps.items[kept++] = step;
        }
        if (known) block->steps.count = kept;
        if (known) ct_flow_rename_block(&c->now, block);
        forget(c, done);
    }
}

/* Whether two carried variables that start equal stay equal in each iteration. */
static bool stay_same(const Cse *c, const CtFlowStep *loop, uint32_t a, uint32_t b) {
    const CtFlowBlock *block = loop->as.loop.block;
    const CtFlowStep *mine = ct_flow_maker(&c->facts, &block->values.items[a], FLOW_PRIM),
                     *other = ct_flow_maker(&c->facts, &block->values.items[b], FLOW_PRIM);
    if (mine == NULL || other == NULL || mine->as.prim != other->as.prim) return false;
    if (!ct_flow_same(&loop->args.items[1 + a], &loop->args.items[1 + b])) return false;
    for (uint32_t i = 0; i < mine->args.count; i++) {
        bool carried = mine->args.items[i].var == block->params.items[1 + a] &&
                       other->args.items[i].var == block->params.items[1 + b];
        if (!carried && !ct_flow_same(&mine->args.items[i], &other->args.items[i])) return false;
    }
    return true;
}

static bool merge_carried(Cse *c, const CtFlowStep *loop) {
    bool merged = false;
    const CtFlowBlock *block = loop->as.loop.block;
    if (block->exit != EXIT_YIELD || loop->as.loop.initial) return false;
    for (uint32_t i = 1; i < loop->as.loop.carried; i++)
        for (uint32_t j = 0; j < i; j++) {
            if (ct_flow_is_object(block->params.items[1 + i]->type) || !stay_same(c, loop, j, i)) continue;
            if (ct_flow_same(&block->values.items[i], &block->values.items[j])) continue; /* already merged */
            CT_FIRED("cse.carried");
            ct_flow_stands(&c->now, block->params.items[1 + i], flow_of(block->params.items[1 + j]));
            ct_flow_stands(&c->now, loop->results.items[i], flow_of(loop->results.items[j]));
            merged = true;
            break;
        }
    return merged;
}

static void visit(Cse *c, CtFlowBlock *block) {
    uint32_t done = c->done.count, equals = c->facts.equals.count, kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        ct_flow_rename(&c->now, &step->args);
        if (step->kind == FLOW_SWITCH) visit_branches(c, step);
        if (step->kind == FLOW_LOOP) visit(c, step->as.loop.block);
        while (step->kind == FLOW_LOOP && merge_carried(c, step)) visit(c, step->as.loop.block);
        if (is_kept(c, step) && is_done(c, step)) continue;
        if (step->kind == FLOW_SWITCH) reuse_computed(c, step);
        ct_flow_learn(&c->facts, step);
        block->steps.items[kept++] = step;
    }
    block->steps.count = kept;
    ct_flow_rename(&c->now, &block->values);
    forget(c, done);
    c->facts.equals.count = equals;
}

void ct_flow_cse(CtFlow *flow) {
    Cse c = {.flow = flow, .arena = flow->arena, .telling = ct_flow_telling(flow)};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        ct_flow_values_clear(&c.now, flow->arena);
        ct_flow_facts_begin(&c.facts, flow, flow->functions.items[i]);
        visit(&c, flow->functions.items[i]->body);
    }
}
