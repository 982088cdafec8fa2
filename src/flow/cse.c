/* What has been done is not done again: a step that is the same as one before it, where that one has certainly run,
 * gives the same. That holds for failures too: a check that has been passed is passed. Lengths are compared by what
 * they are lengths of. */
#include "flow/passes.h"

enum { BUCKETS = 256 };

typedef struct Done {
    uint64_t hash;
    CtFlowStep *step;
    uint32_t next; /* of the bucket: 1 + its number */
} Done;

typedef struct Cse {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFacts facts;
    CtFlowValues now;
    CT_VEC(Done) done; /* what has run, innermost last */
    uint32_t buckets[BUCKETS];
} Cse;

/* ---- which steps are the same ---- */

/* The same number, many times: as good as a copy, and changed in place where it is its own. */
static bool makes_copies(const CtFlowStep *step) {
    return step->as.bulk == ARRAY_REPLICATE && !ct_flow_is_object(step->args.items[1].type);
}

/* A step whose results depend on its arguments alone, and are worth keeping. */
static bool is_kept(const CtFlowStep *step) {
    switch (step->kind) {
    case FLOW_PRIM:
    case FLOW_CALL:
    case FLOW_CONSTANT:
    case FLOW_MAKE:
    case FLOW_OPEN:
    case FLOW_CHECK:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE:
    case FLOW_DIM:
    case FLOW_READ:
    case FLOW_UPDATE:
    case FLOW_ITEMS:
    case FLOW_LITERALS:
    case FLOW_PRODUCT:
    case FLOW_STOP: return true;
    case FLOW_BULK: return !makes_copies(step);
    case FLOW_STRING:
    case FLOW_SWITCH:
    case FLOW_LOOP:
    case FLOW_FAIL:
    case FLOW_SNOC:
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP:
    case FLOW_RETAIN:
    case FLOW_RELEASE: return false;
    }
    return false;
}

/* What a step is of, beside its arguments. */
static uint64_t of(const CtFlowStep *step) {
    switch ((int)step->kind) {
    case FLOW_PRIM: return (uint64_t)step->as.prim;
    case FLOW_CALL: return ct_key(step->as.function);
    case FLOW_CONSTANT: return ct_key(step->as.constant);
    case FLOW_MAKE:
    case FLOW_OPEN: return (uint64_t)step->as.con.data->id << 32 | step->as.con.tag;
    case FLOW_CHECK: return step->as.index;
    case FLOW_BULK: return (uint64_t)step->as.bulk;
    case FLOW_PRODUCT: {
        const CtFlowFactors *product = &step->as.product;
        return (uint64_t)product->cotangent << 2 | (uint64_t)product->turned[0] << 1 | product->turned[1];
    }
    default: return 0;
    }
}

static uint64_t mix(uint64_t hash, uint64_t more) { return (hash ^ more) * 0x9E3779B97F4A7C15u; }

static uint64_t hash_of(const Cse *c, const CtFlowStep *step) {
    uint64_t hash = mix((uint64_t)step->kind, of(step));
    if (step->kind == FLOW_DIM)
        return mix(hash, ct_flow_length_key(&c->facts,
                                            ct_flow_length(&c->facts, &step->args.items[0], step->as.index, false)));
    for (uint32_t i = 0; i < step->args.count; i++) {
        const CtFlowArg *arg = &step->args.items[i];
        hash = mix(hash, arg->var != NULL ? arg->var->id : (uint64_t)arg->lit.integer + 1);
    }
    return hash;
}

/* Arrays of the same literals, or of none, may be of different types. */
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
    if (of(a) != of(b) || a->args.count != b->args.count) return false;
    for (uint32_t i = 0; i < a->args.count; i++)
        if (!ct_flow_same(&a->args.items[i], &b->args.items[i])) return false;
    return true;
}

/* ---- the walk ---- */

/* The results of a step stand for those of one that has run; an opened node gets the fields that were not wanted. */
static void merge(Cse *c, CtFlowStep *first, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *var = step->results.items[i];
        if (var == NULL) continue;
        if (first->results.items[i] == NULL)
            first->results.items[i] = var;
        else
            ct_flow_stands(&c->now, var, flow_of(first->results.items[i]));
    }
}

static bool is_done(Cse *c, CtFlowStep *step) {
    uint64_t hash = hash_of(c, step);
    uint32_t *bucket = &c->buckets[hash >> 32 & (BUCKETS - 1)];
    for (uint32_t i = *bucket; i > 0; i = c->done.items[i - 1].next) {
        Done *done = &c->done.items[i - 1];
        if (done->hash != hash || !is_same(c, done->step, step)) continue;
        merge(c, done->step, step);
        return true;
    }
    ct_push(c->arena, &c->done, (Done){hash, step, *bucket});
    *bucket = c->done.count;
    return false;
}

/* Back to what had run when there were `count`. */
static void forget(Cse *c, uint32_t count) {
    while (c->done.count > count) {
        const Done *done = &c->done.items[--c->done.count];
        c->buckets[done->hash >> 32 & (BUCKETS - 1)] = done->next;
    }
}

static void visit(Cse *c, CtFlowBlock *block) {
    uint32_t done = c->done.count, equals = c->facts.equals.count, kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        ct_flow_rename(&c->now, &step->args);
        if (is_kept(step) && is_done(c, step)) continue;
        ct_flow_learn(&c->facts, step);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(c, ct_flow_inner(step, j));
        block->steps.items[kept++] = step;
    }
    block->steps.count = kept;
    ct_flow_rename(&c->now, &block->values);
    forget(c, done);
    c->facts.equals.count = equals;
}

void ct_flow_cse(CtFlow *flow) {
    Cse c = {.flow = flow, .arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        ct_flow_values_clear(&c.now, flow->arena);
        ct_flow_facts_begin(&c.facts, flow, flow->functions.items[i]);
        visit(&c, flow->functions.items[i]->body);
    }
}
