/* The stages of the method `native`, which works on Flow: the function lowered, its derivative, the optimised program,
 * and the C. They are those of the vector-Jacobian product, as the other methods' are. */
#include "explain/explain.h"

static void add(CtExplain *e, const char *title, const char *note, CtText *text) {
    CtStage added = {.title = title, .note = note};
    if (text->length > 1 && text->data[text->length - 2] == '\n') text->data[text->length - 1] = '\0';
    CtBlock block = {NULL, ct_explain_cut(e->arena, text->data != NULL ? text->data : "")};
    ct_push(e->arena, &added.blocks, block);
    ct_push(e->arena, &e->out->stages, added);
}

static void add_flow(CtExplain *e, const char *title, const char *note, const CtFlow *flow) {
    CtText text = ct_text(e->arena);
    ct_flow_print(&text, flow);
    add(e, title, note, &text);
}

static uint32_t up_to_derive(void) { return ct_flow_pass_find("derive", strlen("derive"), 1); }

static void add_c(CtExplain *e, CtFlow *flow) {
    CtText text = ct_text(e->arena);
    ct_emit_part(&text, flow, "", flow->exact);
    add(e, "the C", "The system's compiler compiles it, with the functions of src/rt that it calls.", &text);
}

static const char *show(CtExplain *e, CtBuild *build) {
    const CtType *type = build->entry->type;
    if (!ct_flow_is_plain(type->parts[0]) || !ct_flow_is_plain(ct_core_type_fun_result((CtType *)type)))
        return "functions go in or out";
    bool exact = e->context->exact_math;
    CtFlow *flow = ct_driver_flow(build);
    if (flow->refused != NULL) return flow->refused;
    add_flow(e, "lowered to Flow", "First-order, in A-normal form: loops over flat arrays, closures as data.", flow);
    flow = ct_driver_lower(build, exact, up_to_derive());
    if (flow->refused == NULL)
        add_flow(e, "the derivative",
                 "Behind the passes up to `derive`: functions for the forward and the reverse pass.", flow);
    if (flow->refused == NULL) flow = ct_driver_lower(build, exact, UINT32_MAX);
    if (flow->refused != NULL) return flow->refused;
    add_flow(e, "optimised", "Behind all passes: fused, hoisted, with retains and releases.", flow);
    add_c(e, flow);
    return NULL;
}

bool ct_explain_native(CtExplain *e) {
    CtEntry entry = {.mode = COTAN_VJP,
                     .function = e->call->function,
                     .method = METHOD_NATIVE,
                     .reverse = METHOD_NATIVE,
                     .prefer_double = true};
    CtBuild *build = ct_session_program_build(e->program, NULL);
    if (build == NULL) return false;
    e->context->making = build;
    bool done = ct_driver_build_entry(build, &entry) || ct_session_report(e->context, &build->context);
    const char *why = done ? show(e, build) : NULL;
    if (why != NULL)
        done = ct_session_report_one(e->context, CT_E0408, NULL, "`%s` has no native code: %s", e->call->function, why);
    e->context->making = NULL;
    ct_driver_build_free(build);
    return done;
}
