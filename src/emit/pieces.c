/* Loops whose iterations fall into parts (flow/analysis/pieces.c). Iterations are parted where a read goes from one
 * array to another; a pointer that is set before each part makes it a read of contiguous elements:
 *
 *     int64_t begin = 0;
 *     while (begin < n) {
 *         int64_t end = n;
 *         const double *x_at;
 *         int64_t x_by = 0;
 *         if (begin < cut) {
 *             end = ct_int_min(end, cut);
 *             x_at = a_at;
 *         } else {
 *             x_at = b_at;
 *             x_by = -cut;
 *         }
 *         for (int64_t i = begin; i < end; i++) … x_at[i + x_by] …
 *         begin = end;
 *     }
 *
 * And they are parted where a branch begins or ends. The inner loop is written once for each branch:
 *
 *     if (begin == 0)
 *         for (int64_t i = begin; i < end; i++) … the first iteration …
 *     else
 *         for (int64_t i = begin; i < end; i++) … any other …
 *
 * The inner loop has an index of its own: gcc ignores the pragma that it is independent otherwise. */
#include "flow/analysis/analysis.h"
#include "emit/internal.h"

/* Where a part reads one of the two arrays. */
static void point(Emit *e, const CtFlowPiece *piece, uint32_t which, const char *name) {
    const CtFlowShift *shift = &piece->shifts[which];
    ct_emit_line(e, "    %s_at = %s;", name, ct_emit_data(e, &piece->arrays[which]));
    if (shift->by.type != NULL)
        ct_emit_line(e, "    %s_by = %s%s;", name, shift->back ? "-" : "", ct_emit_operand(e, &shift->by));
}

/* In the debug form of the runtime, the first and the last index of a part are compared with the array's length. */
static void check(Emit *e, const CtFlowPiece *piece, uint32_t which, const char *name, const PiecedPart *part) {
    const char *array = ct_emit_arg(e, &piece->arrays[which]);
    ct_emit_line(e, "    (void)CT_IN(%s + %s_by, %s);", part->begin, name, array);
    ct_emit_line(e, "    (void)CT_IN(%s - 1 + %s_by, %s);", part->end, name, array);
}

static void begin_read(Emit *e, const CtFlowStep *step, const CtFlowPiece *piece, const PiecedPart *part) {
    const char *name = ct_emit_name(e, step->results.items[0]), *cut = ct_emit_operand(e, &piece->cut);
    ct_emit_line(e, "const %s *%s_at;", ct_emit_pointer_type(piece->arrays[0].type), name);
    ct_emit_line(e, "int64_t %s_by = 0;", name);
    ct_emit_line(e, "if (%s < %s) {", part->begin, cut);
    ct_emit_line(e, "    %s = ct_int_min(%s, %s);", part->end, part->end, cut);
    point(e, piece, 0, name);
    ct_emit_line(e, "} else {");
    point(e, piece, 1, name);
    ct_emit_line(e, "}");
}

/* Once the end of the part is known. */
static void check_read(Emit *e, const CtFlowStep *step, const CtFlowPiece *piece, const PiecedPart *part) {
    const char *name = ct_emit_name(e, step->results.items[0]);
    ct_emit_line(e, "if (%s < %s) {", part->begin, ct_emit_operand(e, &piece->cut));
    check(e, piece, 0, name, part);
    ct_emit_line(e, "} else {");
    check(e, piece, 1, name, part);
    ct_emit_line(e, "}");
}

static void each_read(Emit *e, const PiecedPart *part,
                      void (*write)(Emit *, const CtFlowStep *, const CtFlowPiece *, const PiecedPart *)) {
    const CtFlowBlock *body = part->loop->as.loop.block;
    CtFlowPiece piece;
    for (uint32_t i = 0; i < body->steps.count; i++)
        if (ct_flow_piece(body, body->steps.items[i], &piece)) write(e, body->steps.items[i], &piece, part);
}

/* Where branches begin and end. */
static void begin_branch(Emit *e, const CtFlowParting *parting, const PiecedPart *part) {
    const char *with = ct_emit_operand(e, &parting->with);
    if (parting->before)
        ct_emit_line(e, "if (%s < %s) %s = ct_int_min(%s, %s);", part->begin, with, part->end, part->end, with);
    if (parting->behind)
        ct_emit_line(e, "if (%s <= %s) %s = ct_int_min(%s - 1, %s) + 1;", part->begin, with, part->end, part->end,
                     with);
}

PiecedPart ct_emit_part_begin(Emit *e, const CtFlowStep *loop, const char *from, const char *to) {
    uint32_t number = ++e->temporaries;
    PiecedPart part = {loop, ct_format(e->arena, "begin%u", number), ct_format(e->arena, "end%u", number)};
    ct_emit_line(e, "int64_t %s = %s;", part.begin, from);
    ct_emit_line(e, "while (%s < %s) {", part.begin, to);
    e->depth++;
    ct_emit_line(e, "int64_t %s = %s;", part.end, to);
    CtFlowTests tests = ct_flow_parting_tests(loop->as.loop.block);
    for (uint32_t i = 0; i < tests.count && CT_FIRED("pieces.branch"); i++) begin_branch(e, &tests.tests[i], &part);
    each_read(e, &part, begin_read);
    if (e->debug) each_read(e, &part, check_read);
    e->pieced = CT_FIRED("pieces.loop") ? loop : NULL;
    return part;
}

void ct_emit_part_end(Emit *e, const PiecedPart *part) {
    e->pieced = NULL;
    ct_emit_line(e, "%s = %s;", part->begin, part->end);
    e->depth--;
    ct_emit_line(e, "}");
}

bool ct_emit_pieced_read(Emit *e, const CtFlowStep *step) {
    CtFlowPiece piece;
    if (e->pieced == NULL || e->block != e->pieced->as.loop.block) return false;
    if (!ct_flow_piece(e->block, step, &piece)) return false;
    CtFlowVar *result = step->results.items[0];
    const char *name = ct_emit_name(e, result), *index = ct_emit_name(e, e->pieced->as.loop.block->params.items[0]);
    ct_emit_bind(e, result, ct_format(e->arena, "%s_at[%s + %s_by]", name, index, name), true, true);
    return true;
}

static uint32_t number_of_test(const Emit *e, const CtFlowVar *test) {
    uint32_t i = 0;
    while (i < e->tests.count && e->tests.tests[i].test->results.items[0] != test) i++;
    return i;
}

/* Whether a step gives numbers that nothing uses, since all that did is in a branch that is not taken. */
static bool is_left_out(const CtFlowStep *step, const bool *live) {
    if (step->kind != FLOW_PRIM && step->kind != FLOW_READ && step->kind != FLOW_DIM) return false;
    return !live[step->results.items[0]->id];
}

static const char *test_text(Emit *e, const CtFlowParting *test, const CtFlowBlock *body, const char *begin) {
    const char *sign = test->test->as.prim == PRIM_INT_EQ ? "==" : test->test->as.prim == PRIM_INT_LT ? "<" : "<=";
    const char *with = ct_emit_operand(e, &test->with);
    bool first = test->test->args.items[0].var == body->params.items[0];
    return ct_format(e->arena, "%s %s %s", first ? begin : with, sign, first ? with : begin);
}

/* Marks what a block uses, in the branches that this copy takes. */
static void note_live(const Emit *e, const CtFlowBlock *block, bool *live) {
    for (uint32_t i = 0; i < block->values.count; i++)
        if (block->values.items[i].var != NULL) live[block->values.items[i].var->id] = true;
    for (uint32_t i = block->steps.count; i-- > 0;) {
        const CtFlowStep *step = block->steps.items[i];
        if (is_left_out(step, live)) continue;
        uint32_t taken = 0;
        bool known = step->kind == FLOW_SWITCH && ct_emit_part_choice(e, step, &taken); /* it tests nothing */
        for (uint32_t j = 0; j < step->args.count && !known; j++)
            if (step->args.items[j].var != NULL) live[step->args.items[j].var->id] = true;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (!known || j == taken) note_live(e, ct_flow_inner(step, j), live);
    }
}

static void write_copies(Emit *e, const PiecedPart *part, uint32_t from, void (*write)(Emit *, void *), void *data) {
    if (from == e->tests.count) {
        e->live = from > 0 ? CT_NEW_ARRAY(e->arena, bool, e->function->vars + 1) : NULL;
        if (e->live != NULL) note_live(e, part->loop->as.loop.block, e->live);
        write(e, data);
        e->live = NULL;
        return;
    }
    Use *before = ct_emit_keep_uses(e);
    CtFlowParting *test = &e->tests.tests[from];
    ct_emit_line(e, "if (%s) {", test_text(e, test, part->loop->as.loop.block, part->begin));
    for (uint32_t i = 0; i < 2; i++) {
        e->holds[from] = i == 0;
        e->depth++;
        write_copies(e, part, from + 1, write, data);
        e->depth--;
        ct_emit_line(e, i == 0 ? "} else {" : "}");
        if (i == 0) ct_emit_go_back(e, before);
    }
    ct_emit_forget_uses(e, before);
}

void ct_emit_part_copies(Emit *e, const PiecedPart *part, void (*write)(Emit *, void *), void *data) {
    e->tests = ct_flow_parting_tests(part->loop->as.loop.block);
    write_copies(e, part, 0, write, data);
    e->tests.count = 0;
}

bool ct_emit_part_leaves_out(const Emit *e, const CtFlowStep *step) {
    return e->live != NULL && is_left_out(step, e->live);
}

bool ct_emit_part_test(Emit *e, const CtFlowStep *step) {
    if (e->tests.count == 0) return false;
    uint32_t number = number_of_test(e, step->results.items[0]);
    if (number == e->tests.count) return false;
    ct_emit_bind(e, step->results.items[0], e->holds[number] ? "1" : "0", true, false);
    return true;
}

bool ct_emit_part_choice(const Emit *e, const CtFlowStep *step, uint32_t *which) {
    const CtFlowVar *on = step->args.items[0].var;
    uint32_t number = on == NULL ? e->tests.count : number_of_test(e, on);
    if (number == e->tests.count) return false;
    *which = (step->as.cases.branches[0].tag == 1) == e->holds[number] ? 0 : 1;
    return true;
}
