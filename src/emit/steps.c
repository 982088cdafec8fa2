/* Steps and blocks of Flow as C statements. */
#include "emit/vector/vector.h"
#include "rt/run.h"

#include <ctype.h>
#include <stdlib.h>

enum { DEEPEST = 40 }; /* of indentation; else a chain of thousands of choices is spaces, most of all */

void ct_emit_line(Emit *e, const char *format, ...) {
    va_list list;
    va_start(list, format);
    for (int i = 0; i < e->depth && i < DEEPEST; i++) ct_text_puts(e->out, "    ");
    ct_text_puts(e->out, ct_format_list(e->arena, format, list));
    ct_text_putc(e->out, '\n');
    va_end(list);
}

/* Writes a comment when the source line changes. */
static void tell_line(Emit *e, CtSourceRange range) {
    if (!ct_flow_is_user(e->flow, range)) return;
    uint32_t line = ct_source_line(e->flow->core->context, range.source, range.start);
    if (line == e->line) return;
    e->line = line;
    ct_emit_line(e, "/* line %u */", line);
}

/* ---- calls ---- */

/* The arguments of a call of a Flow function, with the hidden ones first. */
static const char *call(Emit *e, const CtFlowFunction *callee, const CtFlowArgs *args, const char *place) {
    CtText out = ct_text(e->arena);
    ct_text_printf(&out, "%s(rt", e->function_names[callee->id]);
    if (callee->takes_call_site) ct_text_printf(&out, ", %s", place);
    for (uint32_t i = 0; i < args->count; i++) ct_text_printf(&out, ", %s", ct_emit_arg(e, &args->items[i]));
    ct_text_putc(&out, ')');
    return out.data;
}

static bool used(const Emit *e, const CtFlowVar *var) { return var != NULL && e->uses[var->id].count > 0; }

static void emit_call(Emit *e, const CtFlowStep *step) {
    const char *text = call(e, step->as.function, &step->args, ct_emit_place(e, step->range));
    ct_emit_flush(e, true);
    bool any = false;
    for (uint32_t i = 0; i < step->results.count; i++) any |= used(e, step->results.items[i]);
    if (!any) {
        ct_emit_line(e, "%s;", text);
    } else if (step->results.count == 1) {
        ct_emit_declare(e, step->results.items[0], text);
    } else {
        uint32_t number = ++e->temporaries;
        ct_emit_line(e, "%s r%u = %s;", ct_emit_result_type(e, &step->as.function->results), number, text);
        for (uint32_t i = 0; i < step->results.count; i++)
            if (used(e, step->results.items[i]))
                ct_emit_declare(e, step->results.items[i], ct_format(e->arena, "r%u.v%u", number, i));
    }
}

/* A word of memory as a value of a type. */
static const char *word_as(Emit *e, const CtFlowType *type, const char *word) {
    char letter = ct_emit_letter(type);
    if (letter != 'p') return ct_format(e->arena, "%s.%c", word, letter);
    return ct_format(e->arena, "(%s)%s.p", ct_emit_type(type), word);
}

static void emit_constant(Emit *e, const CtFlowStep *step) {
    const CtFlowConstant *constant = step->as.constant;
    uint32_t number = ++e->temporaries;
    ct_emit_flush(e, true);
    ct_emit_line(e, "const ct_word *k%u = %sconstant_%u(rt, %s);", number, e->prefix, constant->id,
                 ct_emit_site(e, step->range));
    bool any = false;
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *var = step->results.items[i];
        if (!used(e, var)) continue;
        any = true;
        ct_emit_declare(e, var, word_as(e, var->type, ct_format(e->arena, "k%u[%u]", number, i)));
        if (ct_flow_is_object(var->type)) ct_emit_line(e, "ct_hold(%s);", ct_emit_name(e, var));
    }
    if (!any) ct_emit_line(e, "(void)k%u;", number);
}

/* ---- nodes ---- */

/* Shared nodes have no name: each part of a loop asks for that of its own run. */
static void emit_bare(Emit *e, CtFlowVar *var, uint32_t tag) {
    const char *text = ct_format(e->arena, "ct_bare(rt, %u)", tag);
    e->uses[var->id].is_bare = tag < CT_NULLARIES;
    if (e->uses[var->id].is_bare)
        ct_emit_alias(e, var, text);
    else
        ct_emit_declare(e, var, text);
}

static void emit_string(Emit *e, const CtFlowStep *step) {
    CtFlowVar *var = step->results.items[0];
    uint32_t number = ++e->temporaries;
    CtText points = ct_text(e->arena);
    for (uint32_t i = 0; i < step->as.string.count; i++)
        ct_text_printf(&points, "%s%u", i == 0 ? "" : i % 24 == 0 ? ",\n        " : ", ", step->as.string.points[i]);
    ct_emit_line(e, "static const uint32_t s%u[] = {%s};", number, points.data);
    ct_emit_declare(e, var, ct_format(e->arena, "ct_string(rt, s%u, %u)", number, step->as.string.count));
}

static void emit_make(Emit *e, const CtFlowStep *step) {
    const CtFlowCon *con = &step->as.con.data->cons[step->as.con.tag];
    CtFlowVar *var = step->results.items[0];
    if (con->fields.count == 0) {
        emit_bare(e, var, step->as.con.tag);
        return;
    }
    const CtFlowVar *cell = step->as.con.cell;
    const char *how = step->as.con.again ? "again" : "in", *where = "new(rt";
    const char *queue = cell != NULL ? e->uses[cell->id].queue : NULL;
    if (queue != NULL)
        where = ct_format(e->arena, "next(rt, &%s, %s", queue, ct_emit_name(e, cell));
    else if (cell != NULL)
        where = ct_format(e->arena, "%s(rt, %s", how, ct_emit_name(e, cell));
    ct_emit_declare(
        e, var,
        ct_format(e->arena, "ct_node_%s, %u, %u, %u)", where, step->as.con.tag, con->fields.count, con->pointers));
    const char *name = ct_emit_name(e, var);
    for (uint32_t i = 0; i < con->fields.count; i++) {
        const CtFlowArg *arg = &step->args.items[i];
        bool object = ct_flow_is_object(arg->type);
        ct_emit_line(e, "%s->at[%u].%c = %s;", name, con->slots[i], ct_emit_letter(arg->type),
                     object ? ct_emit_object(e, arg) : ct_emit_arg(e, arg));
    }
}

/* Reads the fields of a borrowed node, which stays as it is. */
static void open_lent(Emit *e, const CtFlowStep *step) {
    const CtFlowCon *con = &step->as.con.data->cons[step->as.con.tag];
    const char *node = ct_emit_arg(e, &step->args.items[0]);
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *var = step->results.items[i];
        if (!used(e, var)) continue;
        const char *field = word_as(e, var->type, ct_format(e->arena, "%s->at[%u]", node, con->slots[i]));
        if (ct_flow_is_object(var->type) && !step->as.con.borrows)
            ct_emit_lent(e, var, field);
        else
            ct_emit_declare(e, var, field);
        if (ct_flow_is_object(var->type) && step->as.con.borrows) e->uses[var->id].lent = true;
    }
    if (step->as.con.cell != NULL) ct_emit_declare(e, step->as.con.cell, "NULL");
}

static void emit_open(Emit *e, const CtFlowStep *step) {
    const CtFlowCon *con = &step->as.con.data->cons[step->as.con.tag];
    if (e->uses[step->args.items[0].var->id].lent) {
        open_lent(e, step);
        return;
    }
    const char *node = ct_emit_arg(e, &step->args.items[0]);
    bool moves = step->as.con.takes && con->fields.count > 0;
    if (e->debug) ct_emit_line(e, "CT_OPENED(%s, %u, %u);", node, step->as.con.tag, con->fields.count);
    ct_emit_flush(e, true);
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *var = step->results.items[i];
        if (!used(e, var)) {
            moves &= !ct_flow_is_object(con->fields.items[i]);
            continue;
        }
        ct_emit_declare(e, var, word_as(e, var->type, ct_format(e->arena, "%s->at[%u]", node, con->slots[i])));
    }
    if (step->as.con.cell != NULL) {
        ct_emit_declare(e, step->as.con.cell, ct_format(e->arena, "ct_node_cell(%s)", node));
        return;
    }
    if (moves) {
        ct_emit_line(e, con->pointers > 0 ? "ct_node_leave(rt, %s);" : "ct_drop(rt, %s);", node);
        return;
    }
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *var = step->results.items[i];
        bool counted = used(e, var) && ct_flow_is_object(var->type) && !step->as.con.borrows;
        if (counted) ct_emit_line(e, "ct_hold(%s);", ct_emit_name(e, var));
    }
    if (step->as.con.takes) ct_emit_line(e, "ct_drop(rt, %s);", node);
}

/* The list's own tail is the first word of a cell, as of the node that holds a list that is being made. */
static void emit_link(Emit *e, const CtFlowStep *step) {
    const char *last = ct_emit_arg(e, &step->args.items[0]), *next = ct_emit_arg(e, &step->args.items[1]);
    ct_emit_flush(e, true);
    if (step->results.count == 0)
        ct_emit_line(e, "ct_end(%s, %s);", last, next);
    else
        ct_emit_declare(e, step->results.items[0], ct_format(e->arena, "ct_link(%s, %s)", last, next));
}

static void emit_release(Emit *e, const CtFlowStep *step) {
    const char *object = ct_emit_arg(e, &step->args.items[0]);
    const CtFlowVar *cell = step->as.con.cell;
    if (cell != NULL && e->uses[cell->id].queue != NULL)
        ct_emit_line(e, "ct_cell_later(&%s, %s);", e->uses[cell->id].queue, object);
    else
        ct_emit_line(e, cell != NULL ? "ct_cell_free(rt, %s);" : "ct_drop(rt, %s);", object);
}

/* ---- branches ---- */

static void emit_branch(Emit *e, const CtFlowStep *step, uint32_t index) {
    uint32_t line = e->line;
    e->depth++;
    ct_emit_block(e, step->as.cases.branches[index].block, step);
    e->depth--;
    e->line = line;
}

/* For a switch of two branches: the condition, and which branch it selects first. */
static const char *condition_of(Emit *e, const CtFlowStep *step, uint32_t *first) {
    const CtFlowArg *on = &step->args.items[0];
    const CtFlowBranch *branches = step->as.cases.branches;
    *first = branches[0].tag == UINT32_MAX ? 1 : 0;
    if (on->var != NULL && e->uses[on->var->id].is_test && branches[*first].tag <= 1) {
        if (branches[*first].tag == 0) *first = 1 - *first; /* the branch for true comes first */
        return ct_emit_arg(e, on);
    }
    if (on->type->kind == FLOW_NODE)
        return ct_format(e->arena, "%s->head.tag == %u", ct_emit_operand(e, on), branches[*first].tag);
    return ct_format(e->arena, "%s == %u", ct_emit_operand(e, on), branches[*first].tag);
}

static bool does_nothing(const CtFlowBranch *branch) {
    const CtFlowBlock *block = branch->block;
    return block->exit == EXIT_YIELD && block->steps.count == 0 && block->values.count == 0;
}

/* Whether the branches give a result, and do not write it to its place among rows. */
static bool is_assigned(const Emit *e, const CtFlowVar *result) {
    return used(e, result) && e->uses[result->id].place == NULL;
}

static void emit_switch(Emit *e, const CtFlowStep *step) {
    uint32_t count = step->as.cases.count, first = 0;
    const CtFlowArg *on = &step->args.items[0];
    const char *condition = NULL;
    if (e->decided != NULL && ct_emit_is_decided(e, step)) return;
    if (count == 2) condition = condition_of(e, step, &first);
    const char *scrutinee = count != 0 && count != 2 ? ct_emit_operand(e, on) : NULL;
    ct_emit_flush(e, false);
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *var = step->results.items[i];
        if (!is_assigned(e, var)) continue;
        ct_emit_line(e, "%s%s;", ct_emit_vector_type(e, var), ct_emit_name(e, var));
        ct_emit_alias(e, var, ct_emit_name(e, var));
    }
    if (ct_emit_part_choice(e, step, &first)) {
        ct_emit_line(e, "{");
        emit_branch(e, step, first);
        ct_emit_line(e, "}");
    } else if (count == 0) {
        ct_emit_line(e, "ct_fail(rt, 0, 901, \"a function without members\");");
    } else if (count == 2) {
        ct_emit_line(e, "if (%s) {", condition);
        emit_branch(e, step, first);
        if (!does_nothing(&step->as.cases.branches[1 - first])) {
            ct_emit_line(e, "} else {");
            emit_branch(e, step, 1 - first);
        }
        ct_emit_line(e, "}");
    } else {
        ct_emit_line(e, on->type->kind == FLOW_NODE ? "switch (%s->head.tag) {" : "switch (%s) {", scrutinee);
        for (uint32_t i = 0; i < count; i++) {
            const CtFlowBranch *branch = &step->as.cases.branches[i];
            if (i + 1 == count)
                ct_emit_line(e, "default: {");
            else
                ct_emit_line(e, "case %u: {", branch->tag);
            emit_branch(e, step, i);
            if (branch->block->exit == EXIT_YIELD) ct_emit_line(e, "    break;");
            ct_emit_line(e, "}");
        }
        ct_emit_line(e, "}");
    }
}

/* ---- ends of blocks ---- */

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool ct_emit_mentions(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name))
        if ((at == text || !is_letter(at[-1])) && !is_letter(at[length])) return true;
    return false;
}

void ct_emit_assign(Emit *e, const char *const *names, const char *const *texts, const CtFlowType *const *types,
                    uint32_t count) {
    const char **values = CT_NEW_ARRAY(e->arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = texts[i];
        bool needed = false; /* a name that an earlier assignment changes */
        for (uint32_t j = 0; j < i; j++)
            needed |= strcmp(names[j], texts[j]) != 0 && ct_emit_mentions(texts[i], names[j]);
        if (!needed || strcmp(names[i], texts[i]) == 0) continue;
        uint32_t number = ++e->temporaries;
        ct_emit_line(e, "%snext%u = %s;", ct_emit_type(types[i]), number, texts[i]);
        values[i] = ct_format(e->arena, "next%u", number);
    }
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], texts[i]) != 0) ct_emit_line(e, "%s = %s;", names[i], values[i]);
}

static void emit_return(Emit *e, const CtFlowBlock *block) {
    uint32_t count = block->values.count;
    ct_emit_free_left_out(e);
    if (count == 1) {
        ct_emit_line(e, "return %s;", ct_emit_arg(e, &block->values.items[0]));
        return;
    }
    CtText out = ct_text(e->arena);
    for (uint32_t i = 0; i < count; i++)
        ct_text_printf(&out, "%s%s", i > 0 ? ", " : "", ct_emit_arg(e, &block->values.items[i]));
    ct_emit_line(e, "return (%s){%s};", ct_emit_result_type(e, &e->function->results), out.data);
}

static void emit_tail(Emit *e, const CtFlowBlock *block) {
    CtFlowFunction *callee = block->tail;
    bool within = callee == e->function || (callee->group != 0 && callee->group == e->function->group);
    if (!within) {
        ct_emit_free_left_out(e);
        ct_emit_line(e, "return %s;", call(e, callee, &block->values, ct_emit_place(e, block->range)));
        return;
    }
    uint32_t count = callee->params.count;
    const char **names = CT_NEW_ARRAY(e->arena, const char *, count + 1),
               **texts = CT_NEW_ARRAY(e->arena, const char *, count + 1);
    const CtFlowType **types = CT_NEW_ARRAY(e->arena, const CtFlowType *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = ct_emit_param(e, callee, i);
        texts[i] = ct_emit_arg(e, &block->values.items[i]);
        types[i] = callee->params.items[i]->type;
    }
    ct_emit_assign(e, names, texts, types, count);
    if (callee->takes_call_site && ct_flow_is_user(e->flow, block->range))
        ct_emit_line(e, "place = %s;", ct_emit_place(e, block->range));
    if (callee->group == 0)
        ct_emit_line(e, "continue;");
    else
        ct_emit_line(e, "goto %s;", ct_emit_label(e, callee));
}

static void emit_yield(Emit *e, const CtFlowBlock *block, const CtFlowStep *owner) {
    for (uint32_t i = 0; i < block->values.count; i++) {
        const CtFlowVar *result = owner->results.items[i];
        if (is_assigned(e, result))
            ct_emit_line(e, "%s = %s;", ct_emit_name(e, result), ct_emit_vector_as(e, result, &block->values.items[i]));
    }
}

void ct_emit_block(Emit *e, const CtFlowBlock *block, const CtFlowStep *owner) {
    const CtFlowBlock *outer = e->block;
    if (e->lanes != NULL && ct_map_get(&e->left, ct_key(block)) != NULL) {
        ct_emit_vector_leave(e);
        return;
    }
    if (e->lanes != NULL && block->exit == EXIT_NEVER) { /* it fails, in the scalar iterations */
        ct_emit_line(e, "goto %s;", e->leave);
        e->leaves = true;
        return;
    }
    e->block = block;
    if (block == e->far) {
        ct_emit_go_far(e);
        e->block = outer;
        return;
    }
    if (block == e->function->body) ct_emit_tables_begin(e, block);
    if (ct_emit_looks_in(e, block)) ct_emit_line(e, "ct_enter(rt);");
    for (uint32_t i = 0; i < block->steps.count; i++) {
        ct_emit_step(e, block->steps.items[i]);
        if (block->steps.items[i]->kind == FLOW_FAIL) break; /* what stands behind it never runs */
    }
    if (block->exit == EXIT_TAIL || block->exit == EXIT_RETURN) tell_line(e, block->range);
    if (block->exit == EXIT_RETURN) emit_return(e, block);
    if (block->exit == EXIT_TAIL) emit_tail(e, block);
    if (block->exit == EXIT_YIELD && owner != NULL) emit_yield(e, block, owner);
    if (owner != NULL) e->pending.count = 0;
    e->block = outer;
}

void ct_emit_step(Emit *e, CtFlowStep *step) {
    tell_line(e, step->range);
    if (ct_emit_joined(e, step) || ct_emit_part_leaves_out(e, step)) return;
    if (e->lanes != NULL && ct_emit_vector_step(e, step)) return;
    switch (step->kind) {
    case FLOW_PRIM:
        if (e->decided != NULL) return; /* a part of a test that has been made, where the function was called */
        if (!ct_emit_part_test(e, step)) ct_emit_prim(e, step);
        return;
    case FLOW_CALL: emit_call(e, step); return;
    case FLOW_CONSTANT: emit_constant(e, step); return;
    case FLOW_STRING: emit_string(e, step); return;
    case FLOW_MAKE: emit_make(e, step); return;
    case FLOW_OPEN: emit_open(e, step); return;
    case FLOW_SWITCH:
        if (!ct_emit_pieced_read(e, step)) emit_switch(e, step);
        return;
    case FLOW_LOOP: ct_emit_loop(e, step); return;
    case FLOW_FAIL: {
        int code = (int)strtol(ct_error_name(step->as.fail.code) + 1, NULL, 10);
        const char *site = ct_emit_site(e, step->range);
        if (step->as.fail.text != NULL)
            ct_emit_line(e, "ct_fail(rt, %s, %d, \"%%s\", %s);", site, code,
                         ct_emit_string_literal(e->arena, step->as.fail.text));
        else
            ct_emit_line(e, "ct_fail_text(rt, %s, %d, %s);", site, code, ct_emit_arg(e, &step->args.items[0]));
        return;
    }
    case FLOW_LINK: emit_link(e, step); return;
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP:
    case FLOW_STOP: return; /* derive.c has replaced these */
    case FLOW_RETAIN:
        if (!e->uses[step->args.items[0].var->id].lent)
            ct_emit_line(e, "ct_hold(%s);", ct_emit_arg(e, &step->args.items[0]));
        return;
    case FLOW_RELEASE:
        if (e->uses[step->args.items[0].var->id].lent) return;
        ct_emit_flush(e, true);
        emit_release(e, step);
        return;
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
    case FLOW_PRODUCT: ct_emit_array_step(e, step); return;
    }
}
