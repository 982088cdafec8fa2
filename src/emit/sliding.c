/* Lists that slide together. A loop that takes a list apart and makes another one in its cells, but leaves some out, as
 * `filter` does, would leave the cells of the new list ever farther apart in memory, so that each of them is a cache
 * miss. Instead the cells are queued that are left out: the next cell of the new list is the earliest of the queue, and
 * the one that is opened takes its place at the end. So the new list lies where the old one began, and is as dense.
 *
 * What is queued is not there for others until the loop ends. So each iteration has to go on with a part of what it has
 * opened: then no more is queued than the list was long. A loop over a stack, which grows again, would queue more. */
#include "emit/internal.h"

typedef enum Role { MADE = 1, LEFT_OUT = 2 } Role;

typedef struct Slides {
    Emit *e;
    CT_VEC(const CtFlowStep *) opens;
    CT_VEC(const CtFlowBlock *) ends; /* where the function calls itself */
    unsigned *roles;                  /* by number of a cell: what is done with it */
} Slides;

static void note(Slides *s, const CtFlowStep *step) {
    const CtFlowVar *cell = step->as.con.cell;
    if (cell == NULL) return;
    if (step->kind == FLOW_OPEN && !s->e->uses[step->args.items[0].var->id].lent) ct_push(s->e->arena, &s->opens, step);
    if (step->kind == FLOW_MAKE) s->roles[cell->id] |= MADE;
    if (step->kind == FLOW_RELEASE) s->roles[cell->id] |= LEFT_OUT;
}

/* Only branches, since a part of a loop may become a function of its own. */
static void look_at(Slides *s, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_OPEN || step->kind == FLOW_MAKE || step->kind == FLOW_RELEASE) note(s, step);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            look_at(s, step->as.cases.branches[j].block);
    }
    if (block->exit == EXIT_TAIL && block->tail == s->e->function) ct_push(s->e->arena, &s->ends, block);
}

static bool is_part(const CtFlowStep *open, const CtFlowVar *var) {
    if (var == open->args.items[0].var) return true;
    for (uint32_t i = 0; i < open->results.count; i++)
        if (var != NULL && open->results.items[i] == var) return true;
    return false;
}

/* Whether the opened node is a parameter whose next value is a part of it. */
static bool goes_on_inside(const Slides *s, const CtFlowStep *open) {
    const CtFlowVars *params = &s->e->function->params;
    uint32_t index = 0;
    while (index < params->count && params->items[index] != open->args.items[0].var) index++;
    if (index == params->count) return false;
    for (uint32_t i = 0; i < s->ends.count; i++)
        if (!is_part(open, s->ends.items[i]->values.items[index].var)) return false;
    return true;
}

void ct_emit_find_sliding(Emit *e) {
    Slides s = {.e = e, .roles = CT_NEW_ARRAY(e->arena, unsigned, e->function->vars + 1)};
    look_at(&s, e->function->body);
    for (uint32_t i = 0; i < s.opens.count; i++) {
        const CtFlowVar *cell = s.opens.items[i]->as.con.cell;
        if (s.roles[cell->id] != (MADE | LEFT_OUT) || !goes_on_inside(&s, s.opens.items[i])) continue;
        CT_FIRED("sliding.list");
        const char *queue = ct_format(e->arena, "left_out_%u", e->queues.count + 1);
        e->uses[cell->id].queue = queue;
        ct_push(e->arena, &e->queues, queue);
        ct_emit_line(e, "ct_cells %s = {NULL, NULL};", queue);
    }
}

void ct_emit_free_left_out(Emit *e) {
    if (e->queues.count > 0) ct_emit_flush(e, true);
    for (uint32_t i = 0; i < e->queues.count; i++) ct_emit_line(e, "ct_cells_free(rt, &%s);", e->queues.items[i]);
}
