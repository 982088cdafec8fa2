/* Functions in C. A function that tail-calls itself becomes a loop. Functions that tail-call each other become one
 * function of C, with a label for each, and an entry function for each that is called from outside. */
#include "emit/shared_loops.h"

/* ---- names ---- */

void ct_emit_function_names(Emit *e) {
    uint32_t count = e->flow->functions.count;
    CtSymbols symbols = {.arena = e->arena};
    CtMap taken = {0};
    e->function_names = CT_NEW_ARRAY(e->arena, const char *, count + 1);
    e->offsets = CT_NEW_ARRAY(e->arena, uint32_t, count + 1);
    CtMap widths = {0}; /* by group: number of variables */
    for (uint32_t i = 0; i < count; i++) {
        CtFlowFunction *function = e->flow->functions.items[i];
        const char *name = ct_format(e->arena, "%sf_%s", e->prefix, ct_emit_plain(e->arena, function->name));
        for (uint32_t n = 2; ct_map_has(&taken, ct_key(ct_intern_text(&symbols, name))); n++)
            name = ct_format(e->arena, "%sf_%s_%u", e->prefix, ct_emit_plain(e->arena, function->name), n);
        ct_map_set(e->arena, &taken, ct_key(ct_intern_text(&symbols, name)), NULL);
        e->function_names[i] = name;
        if (function->group == 0) continue;
        uintptr_t width = (uintptr_t)ct_map_get(&widths, function->group);
        e->offsets[i] = (uint32_t)width;
        ct_map_set(e->arena, &widths, function->group, (void *)(width + function->vars)); // NOLINT
    }
}

const char *ct_emit_param(Emit *e, const CtFlowFunction *function, uint32_t index) {
    uint32_t offset = e->offset;
    e->offset = e->offsets[function->id];
    const char *name = ct_emit_name(e, function->params.items[index]);
    e->offset = offset;
    return name;
}

const char *ct_emit_label(Emit *e, const CtFlowFunction *function) {
    return ct_format(e->arena, "in_%s", e->function_names[function->id]);
}

static bool same_types(const CtFlowTypes *a, const CtFlowTypes *b) {
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (strcmp(ct_emit_type(a->items[i]), ct_emit_type(b->items[i])) != 0) return false;
    return true;
}

const char *ct_emit_result_type(Emit *e, const CtFlowTypes *results) {
    if (results->count == 1) return ct_emit_type(results->items[0]);
    uint32_t number = 0;
    while (number < e->results.count && !same_types(e->results.items[number], results)) number++;
    if (number == e->results.count) ct_push(e->arena, &e->results, results);
    return ct_format(e->arena, "%sresults_%u", e->prefix, number + 1);
}

/* ---- uses ---- */

/* Arguments of a step, or of the end of the block (NULL). */
static void use_args(Emit *e, const CtFlowBlock *block, const CtFlowStep *step, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) {
        if (args->items[i].var == NULL) continue;
        Use *use = &e->uses[args->items[i].var->id];
        use->count++;
        use->block = block;
        use->is_held |= step == NULL || !ct_emit_share_looks(step, i);
    }
}

static void count_uses(Emit *e, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool decided = step->kind == FLOW_SWITCH && step->as.cases.count == 1; /* the value is not tested */
        if (!decided || ct_flow_is_object(step->args.items[0].type)) use_args(e, block, step, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) count_uses(e, ct_flow_inner(step, j));
    }
    use_args(e, block, NULL, &block->values);
}

/* A loop is written in several ways that all begin with the same knowledge. It takes memory for all variables of the
 * function, which the next loops use again. */
Use *ct_emit_keep_uses(Emit *e) {
    Use *kept = e->spare_uses.count > 0 && CT_FIRED("functions.memory_again")
                    ? e->spare_uses.items[--e->spare_uses.count]
                    : CT_NEW_ARRAY(e->arena, Use, e->function->vars + 1);
    memcpy(kept, e->uses, (e->function->vars + 1) * sizeof *kept);
    return kept;
}

void ct_emit_go_back(Emit *e, const Use *kept) { memcpy(e->uses, kept, (e->function->vars + 1) * sizeof *kept); }

void ct_emit_forget_uses(Emit *e, Use *kept) { ct_push(e->arena, &e->spare_uses, kept); }

static void begin_function(Emit *e, CtFlowFunction *function) {
    e->function = function;
    e->uses = CT_NEW_ARRAY(e->arena, Use, function->vars + 1);
    e->offset = e->offsets[function->id];
    e->pending.count = 0;
    e->spare_uses.count = e->spare_lanes.count = 0; /* of another function's size */
    e->queues.count = 0;
    e->line = 0;
    e->in_loop = false;
    for (uint32_t i = 0; i < function->params.count; i++) {
        CtFlowVar *param = function->params.items[i];
        ct_emit_alias(e, param, ct_emit_name(e, param));
    }
    count_uses(e, function->body);
    ct_emit_find_looks(e);
}

static bool ends_in_itself(const CtFlowFunction *function, const CtFlowBlock *block) {
    if (block->exit == EXIT_TAIL && block->tail == function) return true;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (ends_in_itself(function, ct_flow_inner(step, j))) return true;
    }
    return false;
}

/* ---- declarations ---- */

static void put_params(Emit *e, const CtFlowFunction *function, bool names) {
    for (uint32_t i = 0; i < function->params.count; i++)
        ct_text_printf(e->out, ", %s%s", ct_emit_type(function->params.items[i]->type),
                       names ? ct_emit_param(e, function, i) : "");
}

static void put_head(Emit *e, const CtFlowFunction *function, const char *mark, const char *more, const char *end) {
    const char *type = ct_emit_result_type(e, &function->results);
    bool star = type[strlen(type) - 1] == '*' || type[strlen(type) - 1] == ' ';
    ct_text_printf(e->out, "static %s%s%s%s%s%s(ct_run *rt%s", function->is_cold_path ? "CT_COLD " : "", mark, type,
                   star ? "" : " ", e->function_names[function->id], more,
                   function->takes_call_site ? ", int place" : "");
    put_params(e, function, true);
    ct_text_printf(e->out, ")%s\n", end);
}

void ct_emit_prototypes(Emit *e) {
    for (uint32_t i = 0; i < e->flow->functions.count; i++)
        if (e->flow->functions.items[i]->group == 0 || e->flow->functions.items[i]->has_door)
            put_head(e, e->flow->functions.items[i], "", "", ";");
    for (uint32_t i = 0; i < e->flow->constants.count; i++)
        ct_text_printf(e->out, "static const ct_word *%sconstant_%u(ct_run *rt, int place);\n", e->prefix, i);
}

/* ---- bodies ---- */

static void tell_function(Emit *e, const CtFlowFunction *function) {
    if (!ct_flow_is_user(e->flow, function->range)) return;
    uint32_t line = ct_source_line(e->flow->core->context, function->range.source, function->range.start);
    ct_emit_line(e, "/* line %u */", line);
}

/* Writes the body to a separate text, which shows the parameters and variables that it uses. */
static const char *body_text(Emit *e, CtFlowFunction *function, bool loops) {
    CtText body = ct_text(e->arena), *out = e->out;
    ct_text_puts(&body, "");
    begin_function(e, function);
    e->out = &body;
    if (loops) ct_emit_find_sliding(e);
    if (loops) ct_emit_line(e, "for (;;) {");
    e->depth += loops;
    bool entered = loops && e->looks[function->id] && e->look_in.count == 0;
    if (entered)
        ct_emit_line(e, "ct_enter(rt);");
    else if (function->group != 0 || (loops && !ct_emit_turns_look(e)))
        ct_emit_line(e, "ct_iteration(rt);");
    ct_emit_block(e, function->body, NULL);
    e->depth -= loops;
    if (loops) ct_emit_line(e, "}");
    e->out = out;
    return body.data;
}

static void put_unused(Emit *e, const CtFlowFunction *function, const char *body) {
    if (!ct_emit_mentions(body, "rt")) ct_emit_line(e, "(void)rt;");
    if (function->takes_call_site && !ct_emit_mentions(body, "place")) ct_emit_line(e, "(void)place;");
    for (uint32_t i = 0; i < function->params.count; i++) {
        const char *name = ct_emit_param(e, function, i);
        if (!ct_emit_mentions(body, name)) ct_emit_line(e, "(void)%s;", name);
    }
}

/* Writes the parts of the function's loops. */
static void put_parts(Emit *e) {
    if (e->parts.length > 0) ct_text_puts(e->out, e->parts.data);
    e->parts = ct_text(e->arena);
}

/* The start of a function, which is put where it is called, and which calls the function itself for the rest. */
static void emit_near(Emit *e, CtFlowFunction *function, const CtFlowBlock *far) {
    CtText *out = e->out, body = ct_text(e->arena);
    begin_function(e, function);
    e->look_in.count = 0;
    e->out = &body;
    e->depth = 1;
    e->far = far;
    ct_emit_block(e, function->body, NULL);
    e->far = NULL;
    e->out = out;
    e->depth = 0;
    put_head(e, function, "", "_far", ";");
    put_head(e, function, "inline CT_INSIDE ", "", " {");
    e->depth = 1;
    ct_text_puts(e->out, body.data);
    ct_text_puts(e->out, "}\n\n");
    e->depth = 0;
}

/* Goes on in the function itself. */
void ct_emit_go_far(Emit *e) {
    const CtFlowFunction *function = e->function;
    CtText call = ct_text(e->arena);
    ct_text_printf(&call, "%s_far(rt%s", e->function_names[function->id], function->takes_call_site ? ", place" : "");
    for (uint32_t i = 0; i < function->params.count; i++) ct_text_printf(&call, ", %s", ct_emit_param(e, function, i));
    ct_emit_line(e, "return %s);", call.data);
}

static void emit_alone(Emit *e, CtFlowFunction *function) {
    e->temporaries = 0;
    e->depth = 1;
    bool loops = ends_in_itself(function, function->body);
    const char *body = body_text(e, function, loops);
    const CtFlowBlock *far = ct_emit_far_branch(e);
    if (far != NULL && !loops) { /* the tests have been made */
        e->decided = far;
        e->temporaries = 0;
        body = body_text(e, function, false);
        e->decided = NULL;
    }
    bool in_branches = e->look_in.count > 0;
    e->depth = 0;
    put_parts(e);
    tell_function(e, function);
    if (far != NULL && CT_FIRED("pauses.near")) emit_near(e, function, far);
    put_head(e, function, "", far != NULL ? "_far" : "", " {");
    e->depth = 1;
    if (e->looks[function->id] && !in_branches && !loops) ct_emit_line(e, "ct_enter(rt);");
    put_unused(e, function, body);
    ct_text_puts(e->out, body);
    ct_text_puts(e->out, "}\n\n");
}

typedef CT_VEC(CtFlowFunction *) Group;

static void put_group_head(Emit *e, const Group *group) {
    const CtFlowFunction *first = group->items[0];
    const char *type = ct_emit_result_type(e, &first->results);
    bool star = type[strlen(type) - 1] == '*' || type[strlen(type) - 1] == ' ';
    ct_text_printf(e->out, "static %s%s%sgroup_%u(ct_run *rt, int at%s", type, star ? "" : " ", e->prefix, first->group,
                   first->takes_call_site ? ", int place" : "");
    for (uint32_t i = 0; i < group->count; i++) put_params(e, group->items[i], true);
    ct_text_puts(e->out, ") {\n");
}

/* Writes the function that enters a group at one of its functions. */
static void emit_door(Emit *e, const Group *group, uint32_t which) {
    const CtFlowFunction *function = group->items[which];
    put_head(e, function, "", "", " {");
    ct_text_printf(e->out, "    return %sgroup_%u(rt, %u%s", e->prefix, function->group, which,
                   function->takes_call_site ? ", place" : "");
    for (uint32_t i = 0; i < group->count; i++) {
        const CtFlowFunction *member = group->items[i];
        for (uint32_t j = 0; j < member->params.count; j++)
            ct_text_printf(e->out, ", %s",
                           i == which                                         ? ct_emit_param(e, member, j)
                           : ct_flow_is_object(member->params.items[j]->type) ? "NULL"
                                                                              : "0");
    }
    ct_text_puts(e->out, ");\n}\n\n");
}

static void emit_group(Emit *e, const Group *group) {
    bool recurses = false;
    const char **bodies = CT_NEW_ARRAY(e->arena, const char *, group->count);
    e->temporaries = 0;
    e->depth = 1;
    for (uint32_t i = 0; i < group->count; i++) bodies[i] = body_text(e, group->items[i], false);
    put_parts(e);
    put_group_head(e, group);
    for (uint32_t i = 0; i < group->count; i++) recurses |= group->items[i]->recurses;
    if (recurses) ct_emit_line(e, "ct_enter(rt);");
    ct_emit_line(e, "switch (at) {");
    for (uint32_t i = 1; i < group->count; i++)
        ct_emit_line(e, "case %u: goto %s;", i, ct_emit_label(e, group->items[i]));
    ct_emit_line(e, "default: goto %s;", ct_emit_label(e, group->items[0]));
    ct_emit_line(e, "}");
    for (uint32_t i = 0; i < group->count; i++) {
        e->depth = 0;
        ct_emit_line(e, "%s: {", ct_emit_label(e, group->items[i]));
        e->depth = 1;
        put_unused(e, group->items[i], bodies[i]);
        ct_text_puts(e->out, bodies[i]);
        ct_text_puts(e->out, "}\n");
    }
    ct_text_puts(e->out, "}\n\n");
    for (uint32_t i = 0; i < group->count; i++)
        if (group->items[i]->has_door) emit_door(e, group, i);
}

void ct_emit_function(Emit *e, CtFlowFunction *function) {
    if (function->group == 0) {
        emit_alone(e, function);
        return;
    }
    Group group = {0};
    for (uint32_t i = 0; i < e->flow->functions.count; i++)
        if (e->flow->functions.items[i]->group == function->group)
            ct_push(e->arena, &group, e->flow->functions.items[i]);
    if (group.items[0] == function) emit_group(e, &group);
}
