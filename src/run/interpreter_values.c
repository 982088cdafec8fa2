/* Values for the interpreter of Flow, by way of the words of a native run that ends at once. */
#include "run/interpreter_values.h"

#include "run/internal.h"

static bool import(ct_run *rt, CtInterpreter *i, CtFlow *flow, const CtType *type, CtWord value, CtFlowCell *cells) {
    ct_word words[CT_FLOW_WIDE];
    const CtFlowTypes *types = ct_flow_types(flow, type);
    if (setjmp(rt->out) != 0) return false;
    ct_run_to_native(rt, flow, type, value, words);
    return ct_flow_interpret_import(i, types->items, types->count, words, cells);
}

bool ct_run_import(CtInterpreter *i, CtFlow *flow, const CtType *type, CtWord value, CtFlowCell *cells) {
    ct_run *rt = calloc(1, sizeof *rt);
    if (rt == NULL) return false;
    ct_begin(rt);
    bool done = import(rt, i, flow, type, value, cells);
    ct_free_all(rt);
    free(rt);
    return done;
}
