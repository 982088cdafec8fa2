/* Array operations with a function argument become loops. The body of a λ is inlined into the loop. */
#include "flow/lower/internal.h"

typedef struct Loop {
    CtCore *e;
    CtArrayOp op;
    CtCore *fun;
    CtFlowArg closure;      /* if the function is not known */
    CtFlowArgs first, more; /* arrays that the loop walks over */
    CtFlowArgs start;       /* initial values of the carried variables */
    CtFlowArg count;
} Loop;

static bool carries(CtArrayOp op) {
    return op == ARRAY_FOLDL || op == ARRAY_REDUCE || op == ARRAY_SCANL || op == ARRAY_SCAN || op == ARRAY_MAP_ACCUM;
}

/* The element type of the array that the loop makes; NULL if it makes none. */
static CtType *made(const Loop *loop) {
    if (loop->op == ARRAY_FOLDL || loop->op == ARRAY_REDUCE) return NULL;
    CtType *array = loop->op == ARRAY_MAP_ACCUM ? loop->e->type->parts[1] : loop->e->type;
    return array->parts[0];
}

static void lower_arguments(Lower *l, Loop *loop) {
    CtCore **args = loop->e->as.call.args;
    int function = ct_core_array_info(loop->op)->function;
    CtFlowArgs values[3] = {{0}, {0}, {0}};
    loop->fun = args[function];
    for (uint32_t i = 0; i < loop->e->as.call.count; i++) {
        if ((int)i != function)
            values[i] = ct_flow_lower(l, args[i]);
        else if (ct_flow_lower_callable(l, args[i]) == NULL)
            loop->closure = ct_flow_lower_one(l, args[i]);
    }
    CtSourceRange range = loop->e->range;
    if (loop->op == ARRAY_BUILD) {
        loop->count = values[0].items[0];
        CtFlowStep *check = ct_flow_step(&l->b, FLOW_CHECK_SIZE, range);
        check->as.bulk = ARRAY_BUILD;
        ct_flow_arg(&l->b, check, loop->count);
        return;
    }
    loop->first = values[carries(loop->op) ? 2 : 1];
    if (carries(loop->op)) loop->start = values[1];
    if (loop->op == ARRAY_ZIP_WITH) {
        loop->more = values[2];
        CtFlowStep *check = ct_flow_step(&l->b, FLOW_CHECK_ZIP, range);
        ct_flow_arg(&l->b, check, loop->first.items[0]);
        ct_flow_arg(&l->b, check, loop->more.items[0]);
    }
    loop->count = ct_flow_dim(&l->b, range, loop->first.items[0], 0);
}

static CtFlowArgs call_function(Lower *l, Loop *loop, const CtFlowArgs *args) {
    if (loop->closure.type != NULL) return ct_flow_lower_apply(l, loop->e->range, loop->closure, args, false);
    if (loop->fun->kind != CORE_LAM)
        return ct_flow_lower_call_known(l, loop->e->range, ct_flow_lower_callable(l, loop->fun), args, false);
    const CtLam *lam = loop->fun->as.lam;
    uint32_t at = 0;
    for (uint32_t i = 0; i < lam->count; i++) {
        uint32_t width = ct_flow_types(l->b.flow, lam->params[i]->type)->count;
        ct_flow_lower_bind(l, lam->params[i], ct_flow_slice(args, at, width));
        at += width;
    }
    return ct_flow_lower(l, lam->body);
}

static void lower_body(Lower *l, Loop *loop, CtFlowStep *step) {
    CtSourceRange range = loop->e->range;
    CtFlowVar *index = ct_flow_var(&l->b, "i", ct_flow_scalar(l->b.flow, FLOW_I64));
    ct_push(l->b.arena, &l->b.block->params, index);
    CtFlowArg i = flow_of(index);
    CtFlowArgs args = {0}, yields = {0};
    for (uint32_t j = 0; j < loop->start.count; j++) {
        CtFlowVar *var = ct_flow_var(&l->b, NULL, loop->start.items[j].type);
        ct_push(l->b.arena, &l->b.block->params, var);
        ct_push(l->b.arena, &args, flow_of(var));
    }
    if (loop->op == ARRAY_BUILD) {
        ct_push(l->b.arena, &args, i);
    } else {
        CtFlowArgs first = ct_flow_lower_read(l, range, &loop->first, &i, 1), more = {0};
        if (loop->op == ARRAY_ZIP_WITH) more = ct_flow_lower_read(l, range, &loop->more, &i, 1);
        ct_flow_args_add(&l->b, &args, &first);
        ct_flow_args_add(&l->b, &args, &more);
    }
    CtFlowArgs result = call_function(l, loop, &args);
    if (loop->op == ARRAY_MAP_ACCUM)
        result = ct_flow_lower_parts(l, range, ct_core_type_fun_result(loop->fun->type), result);
    ct_flow_args_add(&l->b, &yields, &result);
    if (loop->op == ARRAY_SCANL || loop->op == ARRAY_SCAN) ct_flow_args_add(&l->b, &yields, &result);
    ct_flow_leave(&l->b, EXIT_YIELD, range, &yields, NULL);
    step->as.loop.carried = loop->start.count;
}

CtFlowArgs ct_flow_lower_loop(Lower *l, CtCore *e) {
    Loop loop = {.e = e, .op = e->as.call.of.array};
    lower_arguments(l, &loop);
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_LOOP, e->range);
    step->as.loop.associative = loop.op == ARRAY_REDUCE || loop.op == ARRAY_SCAN;
    step->as.loop.initial = loop.op == ARRAY_SCANL;
    ct_flow_arg(&l->b, step, loop.count);
    ct_flow_args_add(&l->b, &step->args, &loop.start);
    CtFlowBlock *outer = l->b.block;
    l->b.block = step->as.loop.block = ct_flow_block(&l->b);
    lower_body(l, &loop, step);
    l->b.block = outer;
    CtFlowArgs results = {0};
    for (uint32_t i = 0; i < loop.start.count; i++)
        ct_push(l->b.arena, &results, ct_flow_result(&l->b, step, NULL, loop.start.items[i].type));
    uint32_t arrays_from = results.count;
    CtType *element = made(&loop);
    if (element == NULL) return results;
    const CtFlowTypes *types = ct_flow_array_types(l->b.flow, element);
    for (uint32_t i = 0; i < types->count; i++)
        ct_push(l->b.arena, &results, ct_flow_result(&l->b, step, NULL, types->items[i]));
    if (loop.op == ARRAY_MAP_ACCUM) return ct_flow_lower_whole(l, e->range, e->type, results);
    return ct_flow_slice(&results, arrays_from, results.count - arrays_from);
}
