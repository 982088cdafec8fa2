/* cotan_profile: a call with the profile of its run, in the words of the public API. */
#include "session/session.h"

typedef struct ProfileCall {
    CtCall call;
    const cotan_profile_node **nodes;
    size_t *count;
} ProfileCall;

/* The name of a function as the program has it: without the types of a specialisation. */
static const char *name_of(CtArena *arena, const CtProfileNode *node) {
    const char *name = node->global != NULL                           ? node->global->name->text
                       : node->lam != NULL && node->lam->name != NULL ? node->lam->name
                                                                      : "λ";
    const char *end = strchr(name + 1, '@');
    size_t length = *name != '\0' && end != NULL ? (size_t)(end - name) : strlen(name);
    return ct_copy_text(arena, name, length);
}

static cotan_profile_node described(CtArena *arena, CtContext *context, const CtProfileNode *node) {
    cotan_profile_node one = {
        .parent = node->parent, .steps = node->steps, .seconds = 1e-9 * (double)node->nanoseconds};
    one.name = name_of(arena, node);
    if (node->place.source == 0) return one;
    const char *file = context->sources.items[node->place.source].name;
    one.file = ct_copy_text(arena, file, strlen(file));
    one.line = (int)ct_source_line(context, node->place.source, node->place.start);
    return one;
}

static bool run(cotan_context *context, void *data) {
    ProfileCall *p = data;
    if (!ct_session_check_call(context, p->call.call, CALLS_ANY)) return false;
    CtArena *results = ct_session_fresh_results(p->call.program);
    if (!results || !ct_session_run_call(context, &p->call)) return false;
    uint32_t count;
    const CtProfileNode *from = ct_eval_profile_nodes(p->call.profile, &count);
    cotan_profile_node *nodes = CT_NEW_ARRAY(results, cotan_profile_node, count);
    nodes[0].name = "";
    nodes[0].steps = from[0].steps;
    nodes[0].seconds = 1e-9 * (double)from[0].nanoseconds;
    for (uint32_t i = 1; i < count; i++) nodes[i] = described(results, &p->call.session->build->context, &from[i]);
    *p->nodes = nodes;
    *p->count = count;
    return true;
}

cotan_error *cotan_profile(cotan_program *program, const cotan_call *call, cotan_result *out,
                           const cotan_profile_node **nodes, size_t *count) {
    cotan_call eval = *call;
    eval.native = eval.count = false;
    if (ct_session_names_native(eval.method)) eval.method = NULL; /* it stands for the default, as with `count` */
    *out = (cotan_result){0};
    *nodes = NULL;
    *count = 0;
    ProfileCall p = {{.program = program, .call = &eval, .out = out, .profile = ct_eval_profile_new()}, nodes, count};
    if (p.call.profile == NULL) {
        ct_session_report_out_of_memory(program->context);
        return program->context->error;
    }
    ct_session_guarded(program->context, run, &p);
    ct_eval_profile_free(p.call.profile);
    if (call->expression) ct_session_program_forget_expressions(program);
    return program->context->error;
}
