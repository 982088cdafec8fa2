/* Flow lint. In a well-formed program every variable is bound once, before its uses and in scope of them; arguments,
 * results and yielded values have the types required at their places; every block has an exit. Control leaves a
 * function at the end of its body only; of the results, only fields of a node may be left out. */
#include "flow/build.h"

typedef struct Lint {
    const CtFlow *flow;
    const CtFlowFunction *function;
    bool *bound; /* by variable number */
    const char *wrong;
} Lint;

static void wrong(Lint *l, const char *what, const char *name) {
    if (l->wrong == NULL) l->wrong = ct_format(l->flow->arena, "%s: %s %s", l->function->name, what, name);
}

static void bind(Lint *l, const CtFlowVar *var) {
    if (var == NULL) return;
    if (var->id >= l->function->vars || l->bound[var->id])
        wrong(l, "bound twice:", var->name != NULL ? var->name : "t");
    if (var->id < l->function->vars) l->bound[var->id] = true;
}

static void unbind(Lint *l, const CtFlowVar *var) {
    if (var != NULL) l->bound[var->id] = false;
}

static void unbind_all(Lint *l, const CtFlowVars *vars) {
    for (uint32_t i = 0; i < vars->count; i++) unbind(l, vars->items[i]);
}

static void check_args(Lint *l, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) {
        const CtFlowVar *var = args->items[i].var;
        if (var != NULL && (var->id >= l->function->vars || !l->bound[var->id]))
            wrong(l, "not in scope:", var->name != NULL ? var->name : "t");
        if (var != NULL && var->type != args->items[i].type)
            wrong(l, "another type than its variable:", var->name != NULL ? var->name : "t");
        if (var == NULL && ct_flow_is_object(args->items[i].type)) wrong(l, "an object as a literal", "");
    }
}

static void check_types(Lint *l, const CtFlowArgs *args, const CtFlowTypes *types, const char *what) {
    if (args->count != types->count) {
        wrong(l, "another number of values:", what);
        return;
    }
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].type != types->items[i]) wrong(l, "values of other types:", what);
}

static void check_params(Lint *l, const CtFlowArgs *args, const CtFlowFunction *callee) {
    bool same = args->count == callee->params.count;
    for (uint32_t i = 0; same && i < args->count; i++) same = args->items[i].type == callee->params.items[i]->type;
    if (!same) wrong(l, "a call does not fit", callee->name);
}

static void check_yields(Lint *l, const CtFlowArgs *values, const CtFlowVars *results, uint32_t count) {
    if (values->count != results->count) {
        wrong(l, "a block yields another number of values", "");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (values->items[i].type != results->items[i]->type) wrong(l, "a block yields values of other types", "");
}

static void check_block(Lint *l, const CtFlowBlock *block, const CtFlowStep *owner, bool ends);

/* The tags of a switch differ, and the default branch is the last: a reader may take the first branch that fits. */
static void check_tags(Lint *l, const CtFlowStep *step) {
    const CtFlowBranch *branches = step->as.cases.branches;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        if (branches[i].tag == FLOW_OTHERS && i + 1 < step->as.cases.count)
            wrong(l, "the default branch is not the last of its switch", "");
        for (uint32_t j = 0; j < i; j++)
            if (branches[i].tag == branches[j].tag) wrong(l, "two branches of a switch have one tag", "");
    }
}

/* `ends`: control ends with the step, as in a switch at the end of a body. */
static void check_step(Lint *l, const CtFlowStep *step, bool ends) {
    check_args(l, &step->args);
    switch (step->kind) {
    case FLOW_CALL: check_params(l, &step->args, step->as.function); break;
    case FLOW_MAKE:
        check_types(l, &step->args, &step->as.con.data->cons[step->as.con.tag].fields, "a node");
        if (step->as.con.cell != NULL && !l->bound[step->as.con.cell->id]) wrong(l, "no such", "cell");
        break;
    case FLOW_OPEN:
        if (step->results.count != step->as.con.data->cons[step->as.con.tag].fields.count)
            wrong(l, "a node is opened as another", "");
        bind(l, step->as.con.cell);
        break;
    case FLOW_SWITCH:
        check_tags(l, step);
        for (uint32_t i = 0; i < step->as.cases.count; i++)
            check_block(l, step->as.cases.branches[i].block, step, ends);
        break;
    case FLOW_LOOP: check_block(l, step->as.loop.block, step, false); break;
    case FLOW_LINK:
        if (step->args.count != 2 || step->args.items[1].type->kind != FLOW_NODE || step->results.count > 1 ||
            (step->results.count == 1 && step->results.items[0]->type != step->args.items[0].type))
            wrong(l, "a list goes on behind what is no cell of it", "");
        break;
    case FLOW_PRIM:
    case FLOW_CONSTANT:
    case FLOW_STRING:
    case FLOW_FAIL:
    case FLOW_CHECK:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE:
    case FLOW_CHECK_SLICE:
    case FLOW_DIM:
    case FLOW_READ:
    case FLOW_UPDATE:
    case FLOW_SNOC:
    case FLOW_ITEMS:
    case FLOW_LITERALS:
    case FLOW_BULK:
    case FLOW_PRODUCT:
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP:
    case FLOW_STOP:
    case FLOW_RETAIN:
    case FLOW_RELEASE: break;
    }
    for (uint32_t i = 0; i < step->results.count; i++) {
        bind(l, step->results.items[i]);
        if (step->results.items[i] == NULL && step->kind != FLOW_OPEN) wrong(l, "a step without its result", "");
    }
}

static void check_exit(Lint *l, const CtFlowBlock *block, const CtFlowStep *owner, bool ends) {
    check_args(l, &block->values);
    switch (block->exit) {
    case EXIT_OPEN: wrong(l, "a block does not end", ""); return;
    case EXIT_YIELD:
        if (owner == NULL)
            wrong(l, "a body yields", "");
        else
            check_yields(l, &block->values, &owner->results,
                         owner->kind == FLOW_LOOP ? owner->as.loop.carried : owner->results.count);
        return;
    case EXIT_RETURN:
    case EXIT_TAIL:
        if (!ends) wrong(l, "a block leaves its function in the middle", "");
        if (block->exit == EXIT_TAIL)
            check_params(l, &block->values, block->tail);
        else
            check_types(l, &block->values, &l->function->results, "a result");
        return;
    case EXIT_NEVER: return;
    }
}

/* `ends`: control may leave the function at the end of the block. */
static void check_block(Lint *l, const CtFlowBlock *block, const CtFlowStep *owner, bool ends) {
    for (uint32_t i = 0; i < block->params.count; i++) bind(l, block->params.items[i]);
    for (uint32_t i = 0; i < block->steps.count && l->wrong == NULL; i++)
        check_step(l, block->steps.items[i], ends && i + 1 == block->steps.count && block->exit == EXIT_NEVER);
    if (l->wrong == NULL) check_exit(l, block, owner, ends);
    if (l->wrong != NULL) return;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        unbind_all(l, &step->results);
        if (step->kind == FLOW_OPEN) unbind(l, step->as.con.cell);
    }
    unbind_all(l, &block->params);
}

const char *ct_flow_lint(const CtFlow *flow) {
    Lint l = {.flow = flow};
    for (uint32_t i = 0; i < flow->functions.count && l.wrong == NULL; i++) {
        l.function = flow->functions.items[i];
        l.bound = CT_NEW_ARRAY(flow->arena, bool, l.function->vars + 1);
        for (uint32_t j = 0; j < l.function->params.count; j++) bind(&l, l.function->params.items[j]);
        check_block(&l, l.function->body, NULL, true);
    }
    return l.wrong;
}
