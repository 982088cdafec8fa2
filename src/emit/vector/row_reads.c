/* How many elements of a row an iteration reads. To put a row into lanes takes time in proportion to its length, which
 * pays if most elements are read, or if the row is short. */
#include "emit/vector/internal.h"

/* SHORT_ROW: so many columns are packed for one element; MOST_COLUMNS: which are read is not known. */
enum { SHORT_ROW = 16, MOST_COLUMNS = 1 << 20 };

typedef struct RowScan {
    const Emit *e;
    uint32_t rows;     /* the number of an array whose rows are packed, or of a row in lanes */
    CtFlowArgs counts; /* of the inner loops around */
    uint32_t from;     /* of these, from where on they are inside of the block that puts the row into lanes */
    bool is_known;     /* their numbers of iterations are known outside of the vectorised loop */
    bool in_loop;      /* the innermost of them has been counted */
    RowReads *reads;
} RowScan;

static bool is_row(const RowScan *s, const CtFlowArg *arg) {
    if (arg->var == NULL) return false;
    const Lane *lane = &s->e->lanes[arg->var->id];
    return (lane->kind == LANE_ROW && lane->base.var->id == s->rows) ||
           (lane->kind == LANE_ARRAY && lane->root->id == s->rows);
}

static bool any_is_row(const RowScan *s, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (is_row(s, &args->items[i])) return true;
    return false;
}

/* A read in inner loops stands for all reads in the innermost one. */
static void count_in_loop(RowScan *s) {
    if (!s->is_known) s->reads->is_whole = true;
    if (s->in_loop || s->reads->is_whole) return;
    CtFlowArgs counts = {0};
    for (uint32_t i = s->from; i < s->counts.count; i++) ct_push(s->e->arena, &counts, s->counts.items[i]);
    ct_push(s->e->arena, &s->reads->loops, counts);
    s->in_loop = true;
}

/* Whether a read is of a packed row, which is at the same place in each lane, or of a row in lanes. */
static bool reads_row(const RowScan *s, const CtFlowArg *array, const CtFlowArgs *indices) {
    const CtFlowArgs inner = {.items = indices->items + 1, .count = indices->count - 1};
    if (is_row(s, array)) return true;
    return array->var != NULL && array->var->id == s->rows && indices->count > 1 &&
           ct_emit_vector_kind(s->e, &indices->items[0]) == LANE_ITERATION && !ct_emit_vector_any_differs(s->e, &inner);
}

static void count_read(RowScan *s, const CtFlowStep *step) {
    CtFlowArg array;
    CtFlowArgs indices = {0};
    ct_emit_vector_position(s->e, step, &array, &indices);
    if (!reads_row(s, &array, &indices)) return;
    if (s->counts.count > s->from) {
        count_in_loop(s);
        return;
    }
    const CtFlowArg *last = &indices.items[indices.count - 1];
    s->reads->apart++;
    s->reads->is_flat = indices.count == 2;
    if (last->var != NULL || last->lit.integer < 0 || last->lit.integer >= MOST_COLUMNS)
        s->reads->columns = MOST_COLUMNS;
    else if (last->lit.integer >= s->reads->columns)
        s->reads->columns = last->lit.integer + 1;
}

static void count_block(RowScan *s, const CtFlowBlock *block);

static void count_inner_loop(RowScan *s, const CtFlowStep *step) {
    const CtFlowArg *count = &step->args.items[0];
    bool was_known = s->is_known, was_in_loop = s->in_loop;
    s->is_known &= count->var == NULL || s->e->uses[count->var->id].text != NULL;
    s->in_loop = false;
    ct_push(s->e->arena, &s->counts, *count);
    s->reads->is_whole |= any_is_row(s, &step->args);
    count_block(s, step->as.loop.block);
    s->counts.count--;
    s->is_known = was_known;
    s->in_loop = was_in_loop;
}

static void count_block(RowScan *s, const CtFlowBlock *block) {
    s->reads->is_whole |= any_is_row(s, &block->values);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_READ && step->results.items[0]->id == s->rows) { /* here it is put into lanes */
            s->from = s->counts.count;
            s->is_known = true;
        }
        if (step->kind == FLOW_READ && !ct_flow_is_object(step->results.items[0]->type))
            count_read(s, step);
        else if (step->kind == FLOW_LOOP)
            count_inner_loop(s, step);
        else if (step->kind == FLOW_BULK || step->kind == FLOW_ITEMS || step->kind == FLOW_UPDATE)
            s->reads->is_whole |= any_is_row(s, &step->args);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            count_block(s, step->as.cases.branches[j].block);
    }
}

RowReads *ct_emit_vector_row_reads(const Emit *e, const CtFlowBlock *block, uint32_t rows) {
    RowReads *reads = CT_NEW(e->arena, RowReads);
    RowScan scan = {.e = e, .rows = rows, .is_known = true, .reads = reads};
    count_block(&scan, block);
    return reads;
}

bool ct_emit_vector_reads_columns(const RowReads *reads) {
    return !reads->is_whole && reads->loops.count == 0 && reads->is_flat;
}

bool ct_emit_vector_reads_few(const RowReads *reads) {
    return !reads->is_whole && reads->loops.count == 0 &&
           (reads->columns == MOST_COLUMNS || (reads->is_flat && reads->columns > SHORT_ROW + 2 * reads->apart));
}

const char *ct_emit_vector_reads_of(Emit *e, const RowReads *reads) {
    if (reads->is_whole) return NULL;
    CtText text = ct_text(e->arena);
    ct_text_printf(&text, "%u", reads->apart);
    for (uint32_t i = 0; i < reads->loops.count; i++) {
        const CtFlowArgs *counts = &reads->loops.items[i];
        for (uint32_t j = 0; j < counts->count; j++)
            ct_text_printf(&text, "%s(double)%s", j == 0 ? " + " : " * ", ct_emit_operand(e, &counts->items[j]));
    }
    return text.data;
}
