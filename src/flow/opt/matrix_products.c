/* Recognises matrix products. Sums of products inside two loops become a FLOW_PRODUCT, which runs as a whole
 * (rt/product.h). Of
 *
 *     map n do i                                     x = product n, m, a, b
 *       map m do j                                   map n do i
 *         t = sum (map l do k: a[i, k] * b[k, j])      map m do j
 *         …                                              t = read x, i, j
 *
 * where neither matrix depends on the loops. Each sum keeps its order. The loops remain for what else they do; if that
 * is nothing, they only copy x (copies.c). The product stands before the outer loop, and before checks in it that the
 * lengths fit: where they do not, the program fails at a check, and x is not read. */
#include "flow/opt/passes.h"

typedef CT_VEC(CtFlowStep *) Steps;

typedef struct Around { /* an enclosing loop or branch; the list is innermost first */
    const struct Around *outer;
    const CtFlowStep *loop;   /* NULL: a branch, which may not be taken */
    const CtFlowBlock *block; /* the block that contains the loop */
    Steps *before;            /* steps to be put in front of the loop */
    uint32_t depth;           /* nesting depth of its block */
} Around;

typedef struct Products {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowFacts facts;
    const CtFlowType *matrix;
} Products;

typedef struct Factor { /* an element of a matrix in a row or column that a loop runs along */
    CtFlowArg matrix, index;
    const Around *loop;
    bool inner_first; /* the index of the sum is the first index */
} Factor;

static const CtFlowStep *maker(const Products *p, const CtFlowArg *arg, CtFlowStepKind kind) {
    return ct_flow_maker(&p->facts, arg, kind);
}

static bool is_outside(const Products *p, const CtFlowArg *arg, uint32_t depth) {
    return ct_flow_fact(&p->facts, arg)->depth <= depth;
}

/* ---- what is summed up ---- */

/* The loop whose array of products of two elements is summed; NULL if the sum is of anything else. */
static const CtFlowStep *products_of(const Products *p, const CtFlowStep *sum, const CtFlowStep **product) {
    const CtFlowStep *loop = maker(p, &sum->args.items[0], FLOW_LOOP);
    if (loop == NULL || loop->results.count != 1) return NULL;
    const CtFlowBlock *block = loop->as.loop.block;
    if (block->exit != EXIT_YIELD || block->steps.count != 3) return NULL;
    *product = maker(p, &block->values.items[0], FLOW_PRIM);
    bool multiplies = *product == block->steps.items[2] && (*product)->as.prim == PRIM_MUL;
    return multiplies && (*product)->results.items[0]->type->kind == FLOW_F64 ? loop : NULL;
}

static const Around *loop_of(const Products *p, const Around *around, const CtFlowArg *index) {
    const CtFlowFact *fact = ct_flow_fact(&p->facts, index);
    if (fact->index != 0) return NULL; /* not an iteration, but what the loop carries */
    for (; around != NULL && around->loop != NULL; around = around->outer)
        if (around->loop == fact->loop) return around;
    return NULL;
}

/* Analyses an element of a matrix in a sum over the loop `inner`; false if it is none. */
static bool find_factor(const Products *p, const Around *around, const CtFlowStep *inner, const CtFlowArg *element,
                        Factor *factor) {
    const CtFlowStep *read = maker(p, element, FLOW_READ);
    const CtFlowVar *k = inner->as.loop.block->params.items[0];
    if (read == NULL || read->args.count != 3) return false;
    if (read->args.items[0].type != p->matrix) return false;
    factor->matrix = read->args.items[0];
    factor->inner_first = read->args.items[1].var == k;
    factor->index = read->args.items[factor->inner_first ? 2 : 1];
    factor->loop = loop_of(p, around, &factor->index);
    uint32_t dimension = factor->inner_first ? 0 : 1;
    return read->args.items[1 + dimension].var == k && factor->loop != NULL &&
           ct_flow_is_long(&p->facts, &factor->matrix, dimension, &inner->args.items[0]) &&
           ct_flow_is_long(&p->facts, &factor->matrix, 1 - dimension, &factor->loop->loop->args.items[0]);
}

/* The transpose of a matrix is replaced by the matrix, marked as transposed. */
static void look_through_transpose(const Products *p, CtFlowArg *matrix, bool *transposed) {
    const CtFlowStep *step = maker(p, matrix, FLOW_BULK);
    if (step == NULL || step->as.bulk != ARRAY_TRANSPOSE) return;
    CT_FIRED("matrix_products.transpose");
    *matrix = step->args.items[0];
    *transposed = !*transposed;
}

/* Replaces the sum by a read of the product. */
static void use_product(Products *p, CtFlowStep *sum, const Factor *left, const Factor *right) {
    CtFlowStep *product = CT_NEW(p->arena, CtFlowStep);
    CT_FIRED("matrix_products.product");
    CtFlowVar *x = ct_flow_fresh(p->flow, p->function, sum->results.items[0]->name, p->matrix);
    product->kind = FLOW_PRODUCT;
    product->range = sum->range;
    product->as.product = (CtFlowFactors){.transposed = {left->inner_first, !right->inner_first}};
    ct_push(p->arena, &product->args, left->loop->loop->args.items[0]);
    ct_push(p->arena, &product->args, right->loop->loop->args.items[0]);
    ct_push(p->arena, &product->args, left->matrix);
    ct_push(p->arena, &product->args, right->matrix);
    for (uint32_t i = 0; i < 2; i++)
        look_through_transpose(p, &product->args.items[2 + i], &product->as.product.transposed[i]);
    ct_push(p->arena, &product->results, x);
    ct_push(p->arena, left->loop->before, product);
    ct_flow_facts_step(&p->facts, product, left->loop->depth);
    sum->kind = FLOW_READ;
    sum->args = (CtFlowArgs){0};
    ct_push(p->arena, &sum->args, flow_of(x));
    ct_push(p->arena, &sum->args, left->index);
    ct_push(p->arena, &sum->args, right->index);
}

static bool reduces(const CtFlowStep *step) {
    if (step->kind != FLOW_BULK) return step->kind == FLOW_DIM;
    CtArrayOp op = step->as.bulk;
    return op == ARRAY_SUM || op == ARRAY_PRODUCT || op == ARRAY_MAXIMUM || op == ARRAY_MINIMUM || op == ARRAY_ARGMAX ||
           op == ARRAY_ARGMIN;
}

/* Whether the array that the inner loop makes is used as an array. If it is only reduced, the product could need far
 * more memory than the program: for all pairs of points, say. */
static bool is_row_kept(const Products *p, const Around *at) {
    CtFlowMarks marks = {.arena = p->arena};
    for (uint32_t i = at->loop->as.loop.carried; i < at->loop->results.count; i++) {
        ct_flow_mark(&marks, at->loop->results.items[i], true);
        for (uint32_t j = 0; j < at->block->values.count; j++)
            if (at->block->values.items[j].var == at->loop->results.items[i]) return true;
    }
    for (uint32_t i = 0; i < at->block->steps.count; i++)
        if (!reduces(at->block->steps.items[i]) && ct_flow_uses_marked(&marks, at->block->steps.items[i], NULL))
            return true;
    return false;
}

static void try_sum(Products *p, const Around *around, CtFlowStep *sum) {
    const CtFlowStep *product = NULL, *inner = products_of(p, sum, &product);
    Factor left, right;
    if (inner == NULL || !find_factor(p, around, inner, &product->args.items[0], &left) ||
        !find_factor(p, around, inner, &product->args.items[1], &right) || left.loop == right.loop)
        return;
    if (left.loop->depth > right.loop->depth) {
        Factor other = left;
        CT_FIRED("matrix_products.swapped");
        left = right;
        right = other;
    }
    uint32_t depth = left.loop->depth;
    if (is_row_kept(p, right.loop) && is_outside(p, &left.matrix, depth) && is_outside(p, &right.matrix, depth) &&
        is_outside(p, &right.loop->loop->args.items[0], depth) && is_outside(p, &inner->args.items[0], depth))
        use_product(p, sum, &left, &right);
}

/* ---- the walk ---- */

static void visit(Products *p, CtFlowBlock *block, const Around *around, uint32_t depth);

static void visit_switch(Products *p, CtFlowStep *step, const Around *around, uint32_t depth) {
    const Around unsure = {.outer = around};
    uint32_t going = 0;
    for (uint32_t i = 0; i < step->as.cases.count; i++) going += step->as.cases.branches[i].block->exit == EXIT_YIELD;
    for (uint32_t i = 0; i < step->as.cases.count; i++)
        visit(p, step->as.cases.branches[i].block, going == 1 ? around : &unsure, depth + 1);
}

static void visit(Products *p, CtFlowBlock *block, const Around *around, uint32_t depth) {
    Steps out = {0};
    uint32_t equals = p->facts.equals.count;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        Steps before = {0};
        ct_flow_learn(&p->facts, step);
        if (step->kind == FLOW_SWITCH) visit_switch(p, step, around, depth);
        if (ct_flow_is_bulk(step, ARRAY_SUM)) try_sum(p, around, step);
        if (step->kind == FLOW_LOOP) {
            const Around in = {around, step, block, &before, depth};
            visit(p, step->as.loop.block, &in, depth + 1);
            for (uint32_t j = 0; j < before.count; j++) ct_push(p->arena, &out, before.items[j]);
        }
        ct_push(p->arena, &out, step);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
    p->facts.equals.count = equals;
}

void ct_flow_matrix_products(CtFlow *flow) {
    Products p = {.flow = flow, .arena = flow->arena};
    p.matrix = ct_flow_array(flow, 2, ct_flow_scalar(flow, FLOW_F64));
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        p.function = flow->functions.items[i];
        ct_flow_facts_begin(&p.facts, flow, p.function);
        visit(&p, p.function->body, NULL, 0);
    }
}
