/* The vectorised loop over the iterations, CT_LANES at a time: sums, rows that are packed into lanes, and results. */
#include "emit/vector/internal.h"

static Lane *lane_of(const Emit *e, const CtFlowArg *arg) { return &e->lanes[arg->var->id]; }

/* ---- sums and accumulators ---- */

/* carried + term: each lane has a partial sum until the loop has ended; in exact mode terms are added in the order of
 * iterations. */
static void add_terms(Emit *e, const LaneSum *sum, const char *name) {
    CtText terms = ct_text(e->arena);
    if (sum->running != NULL) ct_emit_line(e, "%s_wide = %s;", name, ct_emit_vector_lane_arg(e, sum->running, true));
    for (uint32_t i = 0; !e->exact && i < sum->terms.count; i++) {
        const char *term = ct_emit_vector_lane_arg(e, &sum->terms.items[i], true);
        if (e->rest != NULL) term = ct_format(e->arena, "ct_lanes_of_rest(%s, %s)", term, e->rest);
        ct_emit_line(e, "%s_wide += %s;", name, term);
    }
    if (!e->exact || sum->terms.count == 0) return;
    if (sum->terms.count == 1 && ct_emit_vector_kind(e, &sum->terms.items[0]) == LANE_VALUE) {
        CT_FIRED("lane_loop.exact_sum");
        ct_emit_line(e, "%s = ct_lanes_add_to(%s, %s);", name, name, ct_emit_arg(e, &sum->terms.items[0]));
        return;
    }
    CT_FIRED("lane_loop.exact_sum_of_terms");
    ct_emit_vector_settle(e, &sum->terms);
    for (uint32_t i = 0; i < sum->terms.count; i++) {
        const CtFlowArg *term = &sum->terms.items[i];
        ct_text_printf(&terms, ct_emit_vector_kind(e, term) == LANE_SAME ? " + %s" : " + %s[lane]",
                       ct_emit_arg(e, term));
    }
    ct_emit_line(e, "for (int lane = 0; lane < CT_LANES; lane++) %s = %s%s;", name, name, terms.data);
}

/* Whether to make copies of all elements pays. An inner loop may add to many of them. */
static const char *wide_fits(Emit *e, const Lane *lane, const char *name, const char *iterations) {
    uint32_t added = lane->adds_in_loop ? 64 : 2 * lane->added;
    return ct_format(e->arena, "ct_wide_fits(ct_words(%s), %s, %u)", name, iterations, added);
}

/* Makes the copies of an accumulator's elements in each lane. */
static void begin_wide(Emit *e, Lane *lane, const char *name, const char *iterations) {
    lane->packed = ct_format(e->arena, "%s_wide", name);
    lane->length = ct_format(e->arena, "%s_words", name);
    if (lane->may_be_narrow)
        ct_emit_line(e, "const int64_t %s = ct_words(%s);", lane->length, name);
    else
        ct_emit_line(e, "const int64_t %s = %s ? ct_words(%s) : 0;", lane->length, wide_fits(e, lane, name, iterations),
                     name);
    ct_emit_line(e, "ct_word *%s_memory;", name);
    if (lane->may_be_narrow) {
        ct_emit_line(e, "ct_lanes *%s = ct_lanes_wide(rt, %s, %s, &%s_memory);", lane->packed, lane->length, iterations,
                     name);
        return;
    }
    ct_emit_line(e, "ct_lanes *%s = ct_lanes_take(rt, %s, &%s_memory);", lane->packed, lane->length, name);
    ct_emit_line(e, "ct_lanes_fill(%s, %s, ct_all(-0.0));", lane->packed, lane->length);
}

static void begin_sums(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *const *names,
                       const char *iterations) {
    for (uint32_t i = 0; i < step->as.loop.carried; i++) {
        Lane *lane = &e->lanes[step->as.loop.block->params.items[1 + i]->id];
        if (sums[i].delayed != NULL) continue;
        if (lane->kind != LANE_ACC) {
            if (!e->exact) ct_emit_line(e, "ct_lanes %s_wide = ct_all(-0.0);", names[i]);
            if (sums[i].running != NULL)
                ct_emit_alias(e, step->as.loop.block->params.items[1 + i], ct_format(e->arena, "%s_wide", names[i]));
            continue;
        }
        const CtFlowVar *start = step->args.items[1 + i].var;
        lane->data = start != NULL ? e->uses[start->id].own : NULL;
        if (lane->data == NULL) ct_emit_line(e, "%s = ct_own(rt, %s, 0);", names[i], names[i]);
        if (lane->data == NULL) lane->data = ct_format(e->arena, "%s->data", names[i]);
        ct_emit_lengths(e, step->as.loop.block->params.items[1 + i], names[i], ct_format(e->arena, "%s_acc", names[i]));
        if (lane->is_wide) begin_wide(e, lane, names[i], iterations);
    }
}

static void end_sums(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *const *names) {
    for (uint32_t i = 0; i < step->as.loop.carried; i++) {
        const Lane *lane = &e->lanes[step->as.loop.block->params.items[1 + i]->id];
        if (sums[i].delayed != NULL) continue;
        if (lane->kind != LANE_ACC) {
            if (!e->exact) ct_emit_line(e, "%s = %s + ct_lanes_total(%s_wide);", names[i], names[i], names[i]);
        } else if (lane->may_be_narrow) {
            ct_emit_line(e, "ct_lanes_narrow(rt, %s, %s, %s_memory, %s);", lane->data, lane->packed, names[i],
                         lane->length);
        } else if (lane->is_wide) {
            ct_emit_line(e, "ct_lanes_collect(%s, %s, %s);", lane->data, lane->packed, lane->length);
            ct_emit_line(e, "ct_lanes_give(rt, %s_memory, %s);", names[i], lane->length);
        }
    }
}

/* ---- results ---- */

/* Stores the rows of CT_LANES elements that are arrays of rows. */
static void put_rows(Emit *e, const CtFlowStep *loop, const char *name, const char *count, const char *index,
                     const CtFlowArgs *rows) {
    const char *length = e->lanes[lane_of(e, &rows->items[0])->root->id].length,
               *to = ct_format(e->arena, "to%u", ++e->temporaries);
    ct_emit_line(e, "ct_word *%s = ct_rows_place(rt, %s, &%s, %s, %s, %u, %s);", to, ct_emit_site(e, loop->range), name,
                 count, index, rows->count, length);
    for (uint32_t i = 0; i < rows->count; i++)
        ct_emit_line(e, "ct_lanes_put_rows(%s + %u * %s, %u * %s, %s, %s);", to, i, length, rows->count, length,
                     ct_emit_arg(e, &rows->items[i]), length);
    for (uint32_t i = 0; i < rows->count; i++)
        ct_emit_vector_give_back(e, &e->lanes[lane_of(e, &rows->items[i])->root->id]);
}

/* Stores one number of each iteration, contiguously. */
static void put_numbers(Emit *e, const CtFlowArg *value, const char *to, const char *far) {
    const char *numbers = ct_emit_vector_lane_arg(e, value, true);
    const char *ints = value->type->kind == FLOW_I64 ? "_ints" : "";
    if (e->rest != NULL)
        ct_emit_line(e, "ct_lanes_store_rest%s(%s, %s, %s);", ints, to, numbers, e->rest);
    else if (far != NULL && CT_FIRED("lane_loop.streamed"))
        ct_emit_line(e, "ct_lanes_stream(%s, %s, %s);", to, numbers, far);
    else
        ct_emit_line(e, "ct_lanes_store%s(%s, %s);", ints, to, numbers);
}

/* Whether a result has rows, whose memory is freed when they have been stored. */
static bool gives_rows(const CtFlowStep *loop) {
    for (uint32_t i = loop->as.loop.carried; i < loop->results.count; i++) {
        const CtFlowType *type = loop->results.items[i]->type;
        if (type->rank > 1 || ct_flow_is_object(type->element)) return true;
    }
    return false;
}

/* Leaves the vectorised loop if rows differ in length from earlier ones; the scalar iterations report that. */
static void leave_if_odd(Emit *e, const CtFlowStep *loop, const char *count, const LaneResults *results) {
    for (uint32_t i = loop->as.loop.carried; ct_flow_step_fails(loop) && i < loop->results.count; i++) {
        if (loop->results.items[i]->type->rank == 1) continue;
        const Lane *lane = lane_of(e, &loop->as.loop.block->values.items[i]);
        const CtFlowArgs *rows = lane->kind == LANE_ROWS ? &lane->read->args : NULL;
        if (rows != NULL) lane = lane_of(e, &rows->items[0]);
        const char *length = e->lanes[lane->root->id].length;
        CT_FIRED("lane_loop.rows_fit");
        ct_emit_vector_leave_if(e, ct_format(e->arena, "!ct_rows_fit(rt, %s, &%s, %s, %u, %s)",
                                             ct_emit_site(e, loop->range), results->names[i], count,
                                             rows != NULL ? rows->count : 0, length));
    }
}

/* The index from which on the elements of all lanes are put. */
static const char *made_at(Emit *e, const CtFlowStep *loop, uint32_t i, const LaneResults *results, const char *index) {
    const RowPlace *place = e->uses[loop->results.items[i]->id].place;
    return place != NULL ? ct_emit_below(e, index, e->rest != NULL ? e->rest : "CT_LANES", place->length)
                         : ct_emit_vector_lanes_of(e, index, results->names[i]);
}

static void put_results(Emit *e, const CtFlowStep *step, const char *count, const char *index,
                        const LaneResults *results) {
    const CtFlowBlock *block = step->as.loop.block;
    leave_if_odd(e, step, count, results);
    if (results->is_over || gives_rows(step)) ct_emit_flush(e, true);
    for (uint32_t i = step->as.loop.carried; i < step->results.count; i++) {
        const CtFlowArg *value = &block->values.items[i];
        const CtFlowType *type = step->results.items[i]->type;
        if (type->rank == 1 && !ct_flow_is_object(type->element)) {
            uint32_t array = i - step->as.loop.carried;
            const char *at = made_at(e, step, i, results, index);
            put_numbers(e, value, ct_format(e->arena, "%s + %s", results->data[array], at), results->far[array]);
            continue;
        }
        if (lane_of(e, value)->kind == LANE_ROWS && CT_FIRED("lane_loop.put_rows_of_rows")) {
            put_rows(e, step, results->names[i], count, index, &lane_of(e, value)->read->args);
            continue;
        }
        Lane *lane = &e->lanes[lane_of(e, value)->root->id];
        if (type->rank == 1 && CT_FIRED("lane_loop.put_references"))
            ct_emit_line(e, "ct_lanes_put_arrays(rt, %s + %s, %s, %s);", results->data[i - step->as.loop.carried],
                         made_at(e, step, i, results, index), ct_emit_arg(e, value), lane->length);
        else if (CT_FIRED("lane_loop.put_rows"))
            ct_emit_line(e, "ct_lanes_put_rows(ct_row_place(rt, %s, &%s, %s, %s, %s), %s, %s, %s);",
                         ct_emit_site(e, step->range), results->names[i], count,
                         ct_emit_below(e, index, "CT_LANES", count), lane->length, lane->length, ct_emit_arg(e, value),
                         lane->length);
        ct_emit_vector_give_back(e, lane);
    }
}

/* ---- the loop ---- */

/* An array whose rows are packed; NULL: there is none. */
static const char *packed_array(const Emit *e) {
    for (uint32_t i = 0; i < e->function->vars; i++)
        if (e->lanes[i].is_packed) return e->uses[i].text;
    return NULL;
}

bool ct_emit_vector_has_two_ways(const Emit *e, const CtFlowStep *loop) {
    for (uint32_t i = 0; i < loop->as.loop.carried; i++)
        if (e->lanes[loop->as.loop.block->params.items[1 + i]->id].kind == LANE_ACC) return false;
    return !e->exact && packed_array(e) != NULL && ct_emit_vector_sums_rows(e, loop);
}

/* Memory for the rows of a vector of iterations; none if there are too few iterations for one. */
static void begin_packs(Emit *e, const char *to, const char *index) {
    for (uint32_t i = 0; i < e->function->vars; i++) {
        Lane *lane = &e->lanes[i];
        if (!lane->is_packed) continue;
        uint32_t number = ++e->temporaries;
        lane->length = ct_format(e->arena, "words%u", number);
        lane->packed = ct_format(e->arena, "rows%u", number);
        const char *words = ct_format(e->arena, "ct_row_words(%s)", e->uses[i].text);
        if (ct_emit_vector_reads_columns(lane->reads) && CT_FIRED("lane_loop.first_columns"))
            words = ct_format(e->arena, "ct_int_min(%s, %lld)", words, (long long)lane->reads->columns);
        ct_emit_line(e, "const int64_t %s = %s;", lane->length, words);
        ct_emit_line(e, "ct_word *memory%u = NULL;", number);
        ct_emit_line(e, "ct_lanes *%s = NULL;", lane->packed);
        ct_emit_line(e, "if (%s + CT_LANES <= %s) %s = ct_lanes_take(rt, %s, &memory%u);", index, to, lane->packed,
                     lane->length, number);
    }
}

/* Where the vectors end: each begins with copies of its rows, of which there may be fewer than
 * iterations: in the others nothing is read, or something fails. */
static const char *within_packed(Emit *e, const char *to) {
    for (uint32_t i = 0; i < e->function->vars; i++) {
        if (!e->lanes[i].is_packed) continue;
        const char *within = ct_format(e->arena, "across%u", ++e->temporaries);
        ct_emit_line(e, "const int64_t %s = ct_int_min(%s, %s->dims[0]);", within, to, e->uses[i].text);
        to = within;
    }
    return to;
}

/* The end of the vectors; the first iteration, if much less is read of rows than would be put into lanes. */
static const char *enough_of_rows(Emit *e, const char *to, const char *index) {
    for (uint32_t i = 0; i < e->function->vars; i++) {
        const Lane *lane = &e->lanes[i];
        if (!lane->is_packed || ct_emit_vector_reads_columns(lane->reads)) continue;
        const char *reads = ct_emit_vector_reads_of(e, lane->reads), *rows = e->uses[i].text;
        if (reads == NULL) continue;
        CT_FIRED("lane_loop.enough_of_rows");
        const char *enough = ct_format(e->arena, "across%u", ++e->temporaries);
        ct_emit_line(e, "const int64_t %s = ct_rows_end(ct_row_words(%s), %s, %s, %s);", enough, rows, reads, to,
                     index);
        to = enough;
    }
    return to;
}

/* The end of the vectors; the first iteration, if there are too few iterations for the copies of an accumulator's
 * elements. */
static const char *enough_for_wide(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *const *names,
                                   const char *iterations, const char *to, const char *index) {
    for (uint32_t i = 0; i < step->as.loop.carried; i++) {
        const Lane *lane = &e->lanes[step->as.loop.block->params.items[1 + i]->id];
        if (sums[i].delayed != NULL || lane->kind != LANE_ACC || !lane->is_wide || lane->may_be_narrow) continue;
        const char *enough = ct_format(e->arena, "across%u", ++e->temporaries);
        CT_FIRED("lane_loop.enough_for_wide");
        ct_emit_line(e, "const int64_t %s = %s ? %s : %s;", enough, wide_fits(e, lane, names[i], iterations), to,
                     index);
        to = enough;
    }
    return to;
}

static void each_pack(Emit *e, const char *index) {
    for (uint32_t i = 0; i < e->function->vars; i++) {
        const Lane *lane = &e->lanes[i];
        if (!lane->is_packed) continue;
        const char *array = e->uses[i].text, *rows = ct_format(e->arena, "%s->dims[0]", array), *row = lane->length;
        if (ct_emit_vector_reads_columns(lane->reads)) row = ct_format(e->arena, "ct_row_words(%s)", array);
        if (index != NULL)
            ct_emit_line(e, "ct_lanes_rows(%s, %s->data + %s * %s, %s, %s);", lane->packed, array,
                         ct_emit_below(e, index, "CT_LANES", rows), row, row, lane->length);
        else
            ct_emit_line(e, "if (%s != NULL) ct_lanes_give(rt, memory%s, %s);", lane->packed,
                         lane->packed + strlen("rows"), lane->length);
    }
}

/* What each vector of iterations does. */
static void write_body(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *count, const char *index,
                       const LaneResults *results) {
    const CtFlowBlock *block = step->as.loop.block, *around = e->block;
    ct_emit_block(e, block, NULL);
    e->block = block;
    put_results(e, step, count, index, results);
    for (uint32_t i = 0; i < step->as.loop.carried; i++) add_terms(e, &sums[i], results->names[i]);
    ct_emit_vector_delays_next(e, step, sums, results->names);
    e->block = around;
    e->pending.count = 0;
}

/* The last iterations, fewer than there are lanes, as one more vector. */
static void write_rest(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *count, const char *to,
                       const char *index, const LaneResults *results) {
    CT_FIRED("lane_loop.rest");
    e->rest = ct_format(e->arena, "rest%u", ++e->temporaries);
    ct_emit_line(e, "if (%s < %s) {", index, to);
    e->depth++;
    ct_emit_line(e, "const int64_t %s = %s - %s;", e->rest, to, index);
    write_body(e, step, sums, count, index, results);
    e->depth--;
    ct_emit_line(e, "}");
    e->rest = NULL;
}

bool ct_emit_vector_iterations(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *count, const char *to,
                               const char *index, const LaneResults *results) {
    const char *const *names = results->names;
    e->leaves = false;
    e->leave = ct_format(e->arena, "one_by_one%u", ++e->temporaries);
    if (ct_emit_vector_has_two_ways(e, step) && CT_FIRED("lane_loop.two_ways")) {
        const char *short_rows = ct_format(e->arena, "across%u", ++e->temporaries);
        ct_emit_line(e, "const int64_t %s = ct_row_words(%s) < CT_LONG_ROW ? %s : 0;", short_rows, packed_array(e), to);
        to = short_rows;
    }
    const char *iterations = ct_format(e->arena, "%s - %s", to, index);
    to = within_packed(e, to);
    to = enough_of_rows(e, to, index);
    to = enough_for_wide(e, step, sums, names, iterations, to, index);
    begin_packs(e, to, index);
    begin_sums(e, step, sums, names, iterations);
    ct_emit_vector_delays_begin(e, step, sums, names);
    Use *before = ct_emit_keep_uses(e);
    ct_emit_line(e, "for (; %s + CT_LANES <= %s; %s += CT_LANES) {", index, to, index);
    e->depth++;
    if (ct_emit_asks(e, step)) ct_emit_line(e, "ct_iteration(rt);");
    each_pack(e, index);
    write_body(e, step, sums, count, index, results);
    e->depth--;
    ct_emit_line(e, "}");
    bool ends = e->masks_rest && !e->leaves;
    if (ends) {
        ct_emit_go_back(e, before);
        write_rest(e, step, sums, count, to, index, results);
    }
    ct_emit_forget_uses(e, before);
    if (e->leaves) ct_emit_line(e, "%s:;", e->leave);
    each_pack(e, NULL);
    end_sums(e, step, sums, names);
    ct_emit_vector_delays_end(e, step, sums, names);
    return ends;
}
