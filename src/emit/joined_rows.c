/* Rows of numbers that an iteration puts together, `cameras ! i ++ points ! j ++ [|w|]`: they are written to their
 * place among the rows that the loop makes, part after part. No part becomes an array, nor do the rows joined so far.
 * What such a row is made of waits for the step that makes it whole. */
#include "emit/internal.h"

typedef struct Join {
    const Emit *e;
    const CtFlowBlock *block; /* an iteration */
} Join;

/* The step of an iteration that releases a variable, where it is used once besides; or NULL. */
static const CtFlowStep *release_of(const Join *j, const CtFlowVar *var) {
    for (uint32_t i = 0; j->e->uses[var->id].count == 2 && i < j->block->steps.count; i++) {
        const CtFlowStep *step = j->block->steps.items[i];
        if (step->kind == FLOW_RELEASE && step->args.items[0].var == var) return step;
    }
    return NULL;
}

/* Whether nothing in an iteration can change or release it. */
static bool is_outside(const Join *j, const CtFlowVar *var) {
    for (uint32_t i = 0; i < j->block->params.count; i++)
        if (j->block->params.items[i] == var) return false;
    return ct_flow_binder(j->block, var) == NULL;
}

/* Whether a step reads a row of an array from outside. */
static bool is_row(const Join *j, const CtFlowStep *step) {
    if (step->kind != FLOW_READ || step->args.count != step->args.items[0].type->rank) return false;
    return step->args.items[0].var != NULL && is_outside(j, step->args.items[0].var);
}

static bool is_joined(const Join *j, const CtFlowStep *step) {
    return ct_flow_is_bulk(step, ARRAY_APPEND) || step->kind == FLOW_ITEMS || is_row(j, step);
}

/* Whether what is appended is there when the whole row is written, or can be written then. */
static bool fits(const Join *j, const CtFlowVar *var) {
    if (is_outside(j, var)) return true;
    const CtFlowStep *step = ct_flow_binder(j->block, var);
    if (step == NULL || release_of(j, var) == NULL) return false;
    for (uint32_t i = 0; ct_flow_is_bulk(step, ARRAY_APPEND) && i < step->args.count; i++)
        if (!fits(j, step->args.items[i].var)) return false;
    return true;
}

static void mark(Emit *e, const Join *j, const CtFlowVar *var, JoinRole role) {
    const CtFlowStep *step = ct_flow_binder(j->block, var);
    if (step == NULL) return;
    e->uses[var->id].join = role == JOIN_WHOLE || is_joined(j, step) ? role : JOIN_HELD;
    for (uint32_t i = 0; ct_flow_is_bulk(step, ARRAY_APPEND) && i < step->args.count; i++)
        mark(e, j, step->args.items[i].var, JOIN_PART);
}

bool ct_emit_join_begin(Emit *e, const CtFlowBlock *block, const CtFlowVar *row) {
    Join j = {e, block};
    const CtFlowStep *step = ct_flow_binder(block, row);
    if (step == NULL || !is_joined(&j, step)) return false;
    for (uint32_t i = 0; ct_flow_is_bulk(step, ARRAY_APPEND) && i < step->args.count; i++)
        if (!fits(&j, step->args.items[i].var)) return false;
    mark(e, &j, row, JOIN_WHOLE);
    return CT_FIRED("joined_rows.join");
}

/* ---- writing ---- */

/* The array that a row belongs to, the row's index among all of its rows, and the row's length. */
static const char *array_of_row(Emit *e, const CtFlowStep *read, const char **index, const char **length) {
    const CtFlowArgs *args = &read->args;
    const char *array = ct_emit_arg(e, &args->items[0]);
    *index = ct_emit_operand(e, &args->items[1]);
    for (uint32_t i = 2; i < args->count; i++)
        *index =
            ct_format(e->arena, "(%s) * %s->dims[%u] + %s", *index, array, i - 1, ct_emit_operand(e, &args->items[i]));
    *length = ct_format(e->arena, "%s->dims[%u]", array, args->count - 1);
    return array;
}

static bool waits(const Emit *e, const CtFlowArg *arg) {
    JoinRole role = e->uses[arg->var->id].join;
    return role == JOIN_PART || role == JOIN_WHOLE;
}

static const char *length_of(Emit *e, const CtFlowArg *part) {
    const CtFlowStep *step = waits(e, part) ? ct_flow_binder(e->block, part->var) : NULL;
    const char *index, *length;
    if (step == NULL) return ct_format(e->arena, "%s->dims[0]", ct_emit_arg(e, part));
    if (step->kind == FLOW_ITEMS) return ct_format(e->arena, "%u", step->args.count);
    if (ct_flow_is_bulk(step, ARRAY_APPEND))
        return ct_format(e->arena, "%s + %s", length_of(e, &step->args.items[0]), length_of(e, &step->args.items[1]));
    array_of_row(e, step, &index, &length);
    return length;
}

static void put_part(Emit *e, const CtFlowArg *part, const char *to) {
    const CtFlowStep *step = waits(e, part) ? ct_flow_binder(e->block, part->var) : NULL;
    const char *array, *index, *length;
    if (step == NULL) {
        array = ct_emit_arg(e, part);
        ct_emit_line(e, "%s = ct_join(%s, 0, %s->dims[0], %s);", to, array, array, to);
        if (e->uses[part->var->id].join == JOIN_HELD && !e->uses[part->var->id].lent)
            ct_emit_line(e, "ct_drop(rt, %s);", array);
    } else if (step->kind == FLOW_ITEMS) {
        for (uint32_t i = 0; i < step->args.count; i++)
            ct_emit_line(e, "(%s++)->%c = %s;", to, ct_emit_letter(step->args.items[i].type),
                         ct_emit_arg(e, &step->args.items[i]));
    } else if (ct_flow_is_bulk(step, ARRAY_APPEND)) {
        put_part(e, &step->args.items[0], to);
        put_part(e, &step->args.items[1], to);
    } else {
        array = array_of_row(e, step, &index, &length);
        ct_emit_line(e, "%s = ct_join(%s, %s, %s, %s);", to, array, index, length, to);
    }
}

static void put_row(Emit *e, CtFlowStep *step) {
    CtFlowVar *row = step->results.items[0];
    RowPlace *place = e->uses[row->id].place;
    uint32_t number = ++e->temporaries;
    const char *to = ct_format(e->arena, "to%u", number);
    const CtFlowArg whole = {.var = row, .type = row->type};
    place->length = ct_format(e->arena, "n%u", number);
    ct_emit_line(e, "const int64_t %s = %s;", place->length, length_of(e, &whole));
    ct_emit_line(e, "ct_word *%s = ct_row_place(rt, %s, &%s, %s, %s, %s);", to, ct_emit_site(e, step->range),
                 place->array, place->count, place->index, place->length);
    put_part(e, &whole, to);
}

bool ct_emit_joined(Emit *e, CtFlowStep *step) {
    if (step->kind == FLOW_RELEASE) return e->uses[step->args.items[0].var->id].join != JOIN_NOT;
    if (step->results.count != 1 || step->results.items[0] == NULL) return false;
    JoinRole role = e->uses[step->results.items[0]->id].join;
    if (role == JOIN_WHOLE) put_row(e, step);
    return role == JOIN_WHOLE || role == JOIN_PART;
}
