/* Printing of Flow as text. */
#include "flow/build.h"

static void print_type(CtText *out, const CtFlowType *type) {
    static const char *const scalars[] = {"f64", "f32", "i64"};
    if (type->kind == FLOW_NODE) {
        ct_text_printf(out, "node %s", type->data->name);
    } else if (type->kind == FLOW_ARRAY) {
        ct_text_printf(out, "[%u] ", type->rank);
        print_type(out, type->element);
    } else {
        ct_text_puts(out, scalars[type->kind]);
    }
}

static void print_var(CtText *out, const CtFlowVar *var) {
    if (var == NULL)
        ct_text_puts(out, "_");
    else
        ct_text_printf(out, "%s%u", var->name != NULL ? var->name : "t", var->id);
}

static void print_arg(CtText *out, const CtFlowArg *arg) {
    if (arg->var != NULL)
        print_var(out, arg->var);
    else if (arg->type->kind == FLOW_I64)
        ct_text_printf(out, "%lld", (long long)arg->lit.integer);
    else
        ct_text_double(out, arg->lit.real);
}

static void print_args(CtText *out, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) {
        ct_text_puts(out, i > 0 ? ", " : " ");
        print_arg(out, &args->items[i]);
    }
}

static void print_bound(CtText *out, const CtFlowVars *vars, uint64_t borrowed) {
    for (uint32_t i = 0; i < vars->count; i++) {
        if (i > 0) ct_text_puts(out, ", ");
        print_var(out, vars->items[i]);
        if (vars->items[i] == NULL) continue;
        ct_text_puts(out, " : ");
        print_type(out, vars->items[i]->type);
        if (i < 64 && borrowed >> i & 1) ct_text_puts(out, ", borrowed");
    }
}

static void print_block(CtText *out, const CtFlowBlock *block, int depth);

static void indent(CtText *out, int depth) {
    for (int i = 0; i < depth; i++) ct_text_puts(out, "  ");
}

static void print_of(CtText *out, const CtFlowStep *step) {
    switch (step->kind) {
    case FLOW_PRIM: ct_text_puts(out, ct_prim_info(step->as.prim)->name); return;
    case FLOW_CALL: ct_text_printf(out, "call %s.%u", step->as.function->name, step->as.function->id); return;
    case FLOW_CONSTANT: ct_text_printf(out, "constant %s", step->as.constant->name); return;
    case FLOW_MAKE:
        ct_text_printf(out, "%s %s", step->as.con.cell != NULL ? "make again" : "make",
                       step->as.con.data->cons[step->as.con.tag].name);
        return;
    case FLOW_OPEN:
        ct_text_printf(out, "open%s %s",
                       step->as.con.cell != NULL ? " and keep"
                       : step->as.con.takes      ? " and take"
                       : step->as.con.borrows    ? " and borrow"
                                                 : "",
                       step->as.con.data->cons[step->as.con.tag].name);
        return;
    case FLOW_LOOP: {
        bool arrays = step->results.count > step->as.loop.carried;
        ct_text_puts(out, step->as.loop.carried == 0  ? "map"
                          : arrays                    ? "scan"
                          : step->as.loop.associative ? "reduce"
                                                      : "fold");
        return;
    }
    case FLOW_FAIL: ct_text_printf(out, "fail %s", ct_error_name(step->as.fail.code)); return;
    case FLOW_CHECK:
    case FLOW_DIM:
    case FLOW_CHECK_SHAPE: ct_text_printf(out, "%s %u of", ct_flow_step_info(step->kind)->name, step->as.index); return;
    case FLOW_BULK: ct_text_puts(out, ct_core_array_info(step->as.bulk)->name); return;
    case FLOW_PRODUCT:
        ct_text_puts(out, step->as.product.cotangent > 0 ? "product, scaled:" : ct_flow_step_info(step->kind)->name);
        return;
    case FLOW_VJP:
    case FLOW_JVP:
    case FLOW_PULL: {
        const CtFlowFunction *f = step->as.derived->function;
        ct_text_printf(out, "%s %s.%u", ct_flow_step_info(step->kind)->name, f->name, f->id);
        return;
    }
    case FLOW_STRING: ct_text_printf(out, "string of %u", step->as.string.count); return;
    case FLOW_SWITCH:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SLICE:
    case FLOW_READ:
    case FLOW_UPDATE:
    case FLOW_SNOC:
    case FLOW_ITEMS:
    case FLOW_LITERALS:
    case FLOW_STOP:
    case FLOW_RETAIN:
    case FLOW_LINK:
    case FLOW_RELEASE: ct_text_puts(out, ct_flow_step_info(step->kind)->name); return;
    }
}

/* The factors of a product as matrices: a transposed one is marked as such. */
static void print_factors(CtText *out, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->args.count; i++) {
        ct_text_puts(out, i > 0 ? ", " : " ");
        print_arg(out, &step->args.items[i]);
        if (i >= 2 && step->as.product.transposed[i - 2]) ct_text_puts(out, "ᵀ");
    }
}

static void print_step(CtText *out, const CtFlowStep *step, int depth) {
    indent(out, depth);
    print_bound(out, &step->results, 0);
    if (step->results.count > 0) ct_text_puts(out, " = ");
    print_of(out, step);
    if (step->kind == FLOW_PRODUCT)
        print_factors(out, step);
    else
        print_args(out, &step->args);
    if (step->kind == FLOW_LOOP) {
        ct_text_puts(out, " do ");
        print_bound(out, &step->as.loop.block->params, 0);
        ct_text_puts(out, "\n");
        print_block(out, step->as.loop.block, depth + 1);
        return;
    }
    ct_text_puts(out, "\n");
    for (uint32_t i = 0; step->kind == FLOW_SWITCH && i < step->as.cases.count; i++) {
        const CtFlowBranch *branch = &step->as.cases.branches[i];
        indent(out, depth);
        if (branch->tag == FLOW_OTHERS)
            ct_text_puts(out, "else\n");
        else
            ct_text_printf(out, "case %u\n", branch->tag);
        print_block(out, branch->block, depth + 1);
    }
}

static void print_block(CtText *out, const CtFlowBlock *block, int depth) {
    for (uint32_t i = 0; i < block->steps.count; i++) print_step(out, block->steps.items[i], depth);
    if (block->exit == EXIT_NEVER || block->exit == EXIT_OPEN) return;
    indent(out, depth);
    if (block->exit == EXIT_TAIL)
        ct_text_printf(out, "tail %s.%u", block->tail->name, block->tail->id);
    else
        ct_text_puts(out, block->exit == EXIT_YIELD ? "yield" : "return");
    print_args(out, &block->values);
    ct_text_puts(out, "\n");
}

void ct_flow_print(CtText *out, const CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        const CtFlowFunction *f = flow->functions.items[i];
        ct_text_printf(out, "%s.%u (", f->name, f->id);
        print_bound(out, &f->params, f->borrows);
        ct_text_puts(out, ") →");
        for (uint32_t j = 0; j < f->results.count; j++) {
            ct_text_puts(out, j > 0 ? ", " : " ");
            print_type(out, f->results.items[j]);
        }
        ct_text_printf(out, "%s%s%s%s%s\n", f->takes_call_site ? ", takes a place" : "",
                       f->recurses ? ", recurses" : "", f->rule != NULL ? ", has a rule" : "",
                       f->is_checkpoint ? ", is run again" : "", f->stays ? ", stays" : "");
        print_block(out, f->body, 1);
        ct_text_puts(out, "\n");
    }
}
