/* Loops in C. Elements of arrays, both of arrays from outside and of those that the loop makes, are accessed through
 * pointers that are set before the loop, so that the C compiler sees that they do not change or alias. Rows that an
 * inner loop makes are written directly to their final place. */
#include "flow/analysis/analysis.h"
#include "emit/vector/vector.h"
#include "emit/shared_loops.h"

static const char *pointers(const CtFlowType *array) { return ct_flow_is_object(array->element) ? "true" : "false"; }

typedef struct LoopText {
    CtFlowStep *step;
    const CtFlowBlock *block;
    uint32_t carried, arrays;
    const char **names; /* of carried variables, then of arrays */
    const char **data;  /* of each array, if known before the first iteration; or NULL */
    const char **far;   /* of each array that may use non-temporal stores: the C expression that decides; or NULL */
    CtFlowVar **over;   /* of each array: a dying array in whose memory it may be built; or NULL */
    bool is_over;       /* there is such an array */
    const char *count, *index;
    const char *from, *to; /* the range of iterations: all of them, or a part */
} LoopText;

static CtFlowVar *array_of(const LoopText *t, uint32_t i) { return t->step->results.items[t->carried + i]; }

/* ---- what is carried ---- */

/* Carried variables become C variables, which also hold the results. */
static void begin_carried(Emit *e, LoopText *t) {
    for (uint32_t i = 0; i < t->carried; i++) {
        CtFlowVar *param = t->block->params.items[1 + i];
        if (param->name == NULL) param->name = "acc";
        ct_emit_declare(e, param, ct_emit_arg(e, &t->step->args.items[1 + i]));
        t->names[i] = ct_emit_name(e, param);
        ct_emit_alias(e, t->step->results.items[i], t->names[i]);
        if (e->uses[t->step->results.items[i]->id].count == 0 && e->uses[param->id].count == 0)
            ct_emit_line(e, "(void)%s;", t->names[i]);
    }
}

/* ---- arrays that the loop makes ---- */

static void put_first(Emit *e, const LoopText *t, uint32_t i) {
    CT_FIRED("loops.initial");
    const CtFlowType *type = array_of(t, i)->type;
    const char *name = t->names[t->carried + i], *value = t->names[i];
    if (ct_flow_is_object(t->block->params.items[1 + i]->type)) ct_emit_line(e, "ct_hold(%s);", value);
    if (type->rank > 1)
        ct_emit_line(e, "ct_put_row(rt, 0, &%s, %s + 1, 0, %s);", name, t->count, value);
    else if (ct_flow_is_object(type->element))
        ct_emit_line(e, "%s->data[0].p = &%s->head;", name, value);
    else
        ct_emit_line(e, "%s->data[0].%c = %s;", name, ct_emit_letter(type->element), value);
}

/* Finds dying arrays whose memory the loop's arrays can reuse. */
static void find_ending(Emit *e, LoopText *t) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->arrays; i++) {
        const CtFlowType *type = array_of(t, i)->type;
        if (type->rank > 1 || type->element->kind != FLOW_F64 || e->uses[array_of(t, i)->id].place != NULL) continue;
        t->over[i] = ct_emit_ending(e, t->step, count++);
        t->is_over |= t->over[i] != NULL;
    }
}

static const char *new_vector(Emit *e, const LoopText *t, uint32_t i) {
    const char *site = ct_emit_site(e, t->step->range);
    if (t->over[i] != NULL)
        return ct_format(e->arena, "ct_vector_over(rt, %s, %s, %s)", site, e->uses[t->over[i]->id].text, t->count);
    return ct_format(e->arena, "ct_vector_at(rt, %s, %s, %s%s)", site, pointers(array_of(t, i)->type), t->count,
                     t->step->as.loop.initial ? " + 1" : "");
}

static void begin_arrays(Emit *e, LoopText *t) {
    bool initial = t->step->as.loop.initial;
    for (uint32_t i = 0; i < t->arrays; i++) {
        CtFlowVar *var = array_of(t, i);
        if (var->name == NULL) var->name = "xs";
        t->names[t->carried + i] = ct_emit_name(e, var);
        if (e->uses[var->id].place != NULL) continue;
        ct_emit_declare(e, var, var->type->rank > 1 ? "NULL" : new_vector(e, t, i));
        if (initial) put_first(e, t, i);
    }
}

/* The inner loop that makes a row; NULL: something else does. */
static const CtFlowStep *maker_of_row(const CtFlowBlock *block, const CtFlowVar *row) {
    const CtFlowStep *step = ct_flow_binder(block, row);
    if (step == NULL || step->kind != FLOW_LOOP || step->as.loop.initial) return NULL;
    for (uint32_t k = step->as.loop.carried; k < step->results.count; k++)
        if (step->results.items[k] == row) return step;
    return NULL;
}

/* The branches' values that one result of a switch is. */
static uint32_t index_of(const CtFlowStep *step, const CtFlowVar *row) {
    uint32_t i = 0;
    while (step->results.items[i] != row) i++;
    return i;
}

/* Whether loops of one number of iterations, which is known in the block of the outer loop, make a row in all branches
 * of switches. */
static bool is_made_in_branches(const Emit *e, const CtFlowBlock *body, const CtFlowBlock *block, const CtFlowVar *row,
                                const CtFlowArg **count) {
    const CtFlowStep *step = row != NULL && e->uses[row->id].count == 1 ? ct_flow_binder(block, row) : NULL;
    if (step == NULL) return false;
    if (step->kind != FLOW_SWITCH) {
        const CtFlowStep *loop = maker_of_row(block, row);
        if (loop == NULL || (*count != NULL && !ct_flow_same(*count, &loop->args.items[0]))) return false;
        *count = &loop->args.items[0];
        return (*count)->var == NULL || e->uses[(*count)->var->id].text != NULL ||
               ct_flow_binder(body, (*count)->var) != NULL;
    }
    uint32_t which = index_of(step, row);
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *branch = step->as.cases.branches[i].block;
        if (branch->exit != EXIT_YIELD) return false;
        if (!is_made_in_branches(e, body, branch, branch->values.items[which].var, count)) return false;
    }
    return step->as.cases.count > 0;
}

/* Gives a row that is made in branches its place, in each of them. */
static void place_row(Emit *e, const CtFlowBlock *block, const CtFlowVar *row, const RowPlace *place) {
    const CtFlowStep *step = ct_flow_binder(block, row);
    e->uses[row->id].place = CT_NEW(e->arena, RowPlace);
    *e->uses[row->id].place = *place;
    for (uint32_t i = 0; step->kind == FLOW_SWITCH && i < step->as.cases.count; i++) {
        const CtFlowBlock *branch = step->as.cases.branches[i].block;
        place_row(e, branch, branch->values.items[index_of(step, row)].var, place);
    }
}

/* What becomes the rows of array i, if nothing else uses it: the result of an inner loop, or of one in each branch of a
 * switch, whose number of iterations is `*chosen`; or a row that is put together. */
static CtFlowVar *maker_of_rows(Emit *e, const LoopText *t, uint32_t i, const CtFlowArg **chosen) {
    const CtFlowType *type = array_of(t, i)->type;
    bool numbers = type->rank == 2 && !ct_flow_is_object(type->element);
    if (!numbers || t->step->as.loop.initial || t->block->exit != EXIT_YIELD) return NULL;
    CtFlowVar *row = t->block->values.items[t->carried + i].var;
    if (e->uses[row->id].count != 1) return NULL;
    if (maker_of_row(t->block, row) != NULL && CT_FIRED("loops.rows_in_place")) return row;
    if (is_made_in_branches(e, t->block, t->block, row, chosen) && CT_FIRED("loops.chosen_rows_in_place")) return row;
    *chosen = NULL;
    return ct_emit_join_begin(e, t->block, row) ? row : NULL;
}

/* An object that outlives the loop, or a part of it. */
static const char *stays(Emit *e, const CtFlowArg *arg) {
    return e->part != NULL && ct_emit_share_is_of_numbers(arg->type)
               ? ct_format(e->arena, "&ct_stay(rt, %s)->head", ct_emit_arg(e, arg))
               : ct_emit_object(e, arg);
}

/* The index of an element that the loop makes, in a vector of its own or in a row of what the loop around makes. */
static const char *made_at(Emit *e, const LoopText *t, uint32_t i, const char *index) {
    const RowPlace *place = e->uses[array_of(t, i)->id].place;
    return place != NULL ? ct_emit_below(e, index, "1", place->length)
                         : ct_emit_index(e, index, t->names[t->carried + i]);
}

static void put_item(Emit *e, const LoopText *t, uint32_t i) {
    const CtFlowType *type = array_of(t, i)->type;
    const CtFlowArg *arg = &t->block->values.items[t->carried + i];
    const char *name = t->names[t->carried + i], *next = t->step->as.loop.initial ? " + 1" : "";
    RowPlace *place = arg->var != NULL ? e->uses[arg->var->id].place : NULL;
    if (place != NULL)
        ct_emit_line(e, "ct_row_made(rt, %s, &%s, %s, %s);", ct_emit_site(e, t->step->range), name, t->index,
                     place->chosen != NULL ? ct_emit_operand(e, place->chosen) : place->length);
    else if (type->rank > 1)
        ct_emit_line(e, "ct_put_row(rt, %s, &%s, %s%s, %s%s, %s);", ct_emit_site(e, t->step->range), name, t->count,
                     next, t->index, next, ct_emit_arg(e, arg));
    else
        ct_emit_line(e, ct_flow_is_object(type->element) ? "%s[%s].p = %s;" : "%s[%s] = %s;", t->data[i],
                     made_at(e, t, i, ct_format(e->arena, "%s%s", t->index, next)),
                     ct_flow_is_object(type->element) ? stays(e, arg) : ct_emit_arg(e, arg));
}

/* ---- pointers to elements ---- */

typedef CT_VEC(CtFlowVar *) Vars;

static void add_array(Emit *e, const LoopText *t, const CtFlowArg *array, Vars *found) {
    CtFlowVar *var = array->var;
    if (var == NULL || e->uses[var->id].text == NULL || e->uses[var->id].data != NULL) return;
    for (uint32_t i = 0; i < t->block->params.count; i++)
        if (t->block->params.items[i] == var) return;
    for (uint32_t i = 0; i < found->count; i++)
        if (found->items[i] == var) return;
    ct_push(e->arena, found, var);
}

/* Finds arrays from outside whose elements are read in a block. */
static void find_arrays(Emit *e, const LoopText *t, const CtFlowBlock *block, Vars *found) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_READ && step->args.count == step->args.items[0].type->rank + 1)
            add_array(e, t, &step->args.items[0], found);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) find_arrays(e, t, ct_flow_inner(step, j), found);
    }
}

static void point_into(Emit *e, const Vars *found) {
    for (uint32_t i = 0; i < found->count; i++) {
        Use *use = &e->uses[found->items[i]->id];
        const CtFlowVar *array = found->items[i];
        const char *name = ct_format(e->arena, "%s_at", ct_emit_name(e, array)),
                   *type = ct_emit_pointer_type(array->type);
        ct_emit_line(e, "const %s *%s = (const %s *)ct_data(%s);", type, name, type, use->text);
        ct_emit_lengths(e, array, use->text, name);
        use->data = name;
    }
}

/* Sets the pointers to the loop's arrays: a new vector, or a row inside the array of the enclosing loop. */
static void point_out(Emit *e, LoopText *t) {
    for (uint32_t i = 0; i < t->arrays; i++) {
        CtFlowVar *var = array_of(t, i);
        RowPlace *place = e->uses[var->id].place;
        if (place == NULL && var->type->rank > 1) continue;
        if (place == NULL && t->block->exit != EXIT_YIELD) continue; /* no iteration yields */
        const char *type = ct_emit_pointer_type(var->type);
        t->data[i] = ct_format(e->arena, "%s_at", t->names[t->carried + i]);
        if (place == NULL)
            ct_emit_line(e, "%s *%s%s = (%s *)%s->data;", type, t->over[i] == NULL ? "restrict " : "", t->data[i], type,
                         t->names[t->carried + i]);
        else
            ct_emit_line(e, "%s *restrict %s = (%s *)ct_row_place(rt, %s, &%s, %s, %s, %s);", type, t->data[i], type,
                         ct_emit_site(e, t->step->range), place->array, place->count, place->index, place->length);
    }
}

/* Decides at run time which arrays of a vectorised loop use non-temporal stores. */
static void ask_if_far(Emit *e, LoopText *t) {
    for (uint32_t i = 0; i < t->arrays; i++) {
        const CtFlowVar *var = array_of(t, i);
        const RowPlace *place = e->uses[var->id].place;
        if (!ct_emit_is_streamed(e, t->step, var)) continue;
        const char *words = place == NULL ? t->count : ct_format(e->arena, "%s * %s", place->count, place->length),
                   *apart = t->over[i] == NULL
                                ? ""
                                : ct_format(e->arena, "%s != %s && ", t->data[i], e->uses[t->over[i]->id].data);
        t->far[i] = ct_format(e->arena, "%s_far", t->names[t->carried + i]);
        e->streams = true;
        ct_emit_line(e, "const bool %s = %sct_is_far(%s, %u * %s);", t->far[i], apart, t->data[i],
                     ct_emit_walked(t->step, place != NULL), words);
    }
}

/* ---- the loop ---- */

/* Whether iterations yield objects that are kept; a row is released where it has been copied. */
static bool gives_objects(const LoopText *t) {
    for (uint32_t i = 0; i < t->arrays; i++) {
        const CtFlowType *type = array_of(t, i)->type;
        if (type->rank > 1 || ct_flow_is_object(type->element)) return true;
    }
    return false;
}

static void end_iteration(Emit *e, const LoopText *t) {
    if (t->block->exit != EXIT_YIELD) return;
    if (t->is_over || gives_objects(t)) ct_emit_flush(e, true);
    for (uint32_t i = 0; i < t->arrays; i++) put_item(e, t, i);
    const char **texts = CT_NEW_ARRAY(e->arena, const char *, t->carried + 1);
    const CtFlowType **types = CT_NEW_ARRAY(e->arena, const CtFlowType *, t->carried + 1);
    for (uint32_t i = 0; i < t->carried; i++) {
        texts[i] = ct_emit_arg(e, &t->block->values.items[i]);
        types[i] = t->block->params.items[1 + i]->type;
    }
    ct_emit_assign(e, t->names, texts, types, t->carried);
}

/* A loop made from recursion, or a shared loop, checks for interrupts if an iteration takes more than a few
 * operations. */
bool ct_emit_asks(const Emit *e, const CtFlowStep *loop) {
    const CtFlowBlock *block = loop->as.loop.block;
    for (uint32_t i = 0; (loop->as.loop.counted || loop == e->part) && i < block->steps.count; i++) {
        CtFlowStepKind kind = block->steps.items[i]->kind;
        if (kind == FLOW_LOOP || kind == FLOW_CALL || kind == FLOW_BULK) return true;
    }
    return false;
}

static void emit_iterations(Emit *e, LoopText *t, bool from_there) {
    for (uint32_t i = 0; i < t->arrays; i++) {
        const CtFlowArg *chosen = NULL;
        CtFlowVar *row = maker_of_rows(e, t, i, &chosen);
        if (row == NULL) continue;
        RowPlace place = {.array = t->names[t->carried + i],
                          .count = t->count,
                          .index = t->index,
                          .chosen = chosen,
                          .is_given = ct_emit_is_given(e, array_of(t, i))};
        place_row(e, t->block, row, &place);
    }
    if (ct_emit_keeps_apart(e, t->step)) ct_emit_line(e, "CT_SIDE_BY_SIDE");
    if (from_there)
        ct_emit_line(e, "for (; %s < %s; %s++) {", t->index, t->to, t->index);
    else
        ct_emit_line(e, "for (int64_t %s = %s; %s < %s; %s++) {", t->index, t->from, t->index, t->to, t->index);
    e->depth++;
    const CtFlowBlock *around = e->block;
    bool in_loop = e->in_loop;
    e->in_loop = true;
    if (ct_emit_asks(e, t->step) && CT_FIRED("loops.interruptible")) ct_emit_line(e, "ct_iteration(rt);");
    ct_emit_block(e, t->block, NULL);
    e->block = t->block;
    end_iteration(e, t);
    e->block = around;
    e->in_loop = in_loop;
    e->pending.count = 0;
    e->depth--;
    ct_emit_line(e, "}");
}

static void emit_part(Emit *e, void *text) { emit_iterations(e, text, false); }

/* The iterations in parts, each of which reads one of two arrays, and takes one of two branches. */
static void emit_parts(Emit *e, LoopText *t) {
    const char *from = t->from, *to = t->to;
    PiecedPart part = ct_emit_part_begin(e, t->step, from, to);
    t->from = part.begin;
    t->to = part.end;
    ct_emit_part_copies(e, &part, emit_part, t);
    ct_emit_part_end(e, &part);
    t->from = from;
    t->to = to;
}

/* Vectorised loop, then scalar iterations: those that are left, or from one on that leaves the loop. */
static void emit_lanes(Emit *e, LoopText *t, const LaneSum *sums) {
    Use *before = ct_emit_keep_uses(e);
    bool two_ways = ct_emit_vector_has_two_ways(e, t->step);
    ask_if_far(e, t);
    ct_emit_line(e, "int64_t %s = %s;", t->index, t->from);
    bool all = ct_emit_vector_iterations(e, t->step, sums, t->count, t->to, t->index,
                                         &(LaneResults){t->names, t->data, t->far, t->is_over});
    ct_emit_go_back(e, before);
    ct_emit_forget_uses(e, before);
    e->lanes = NULL;
    e->skipped.count = 0;
    if (all) return;
    e->one_by_one = !two_ways;
    ct_emit_line(e, "{");
    e->depth++;
    ct_emit_own_carried(e, t->step, t->names);
    emit_iterations(e, t, true);
    e->depth--;
    ct_emit_line(e, "}");
    e->one_by_one = false;
}

/* Stores the number of iterations in a variable unless it is a literal, since the array that it comes from may be freed
 * in the loop. */
static void keep_count(Emit *e, LoopText *t) {
    const CtFlowArg *count = &t->step->args.items[0];
    t->count = ct_emit_operand(e, count);
    ct_emit_flush(e, false);
    if (strpbrk(t->count, "([>") != NULL) {
        const char *name = ct_format(e->arena, "n%u", ++e->temporaries);
        ct_emit_line(e, "const int64_t %s = %s;", name, t->count);
        t->count = name;
    }
    for (uint32_t i = 0; i < t->arrays; i++)
        if (e->uses[array_of(t, i)->id].place != NULL) e->uses[array_of(t, i)->id].place->length = t->count;
}

/* Writes the iterations, with the pointers that they need. */
static void emit_inside(Emit *e, LoopText *t, Lane *lanes, const LaneSum *sums, const Vars *outside) {
    bool braces = outside->count > 0 || lanes != NULL;
    for (uint32_t i = 0; i < t->carried; i++) braces |= t->step->results.items[i]->type->kind == FLOW_ARRAY;
    for (uint32_t i = 0; i < t->arrays; i++) braces |= array_of(t, i)->type->rank == 1;
    if (braces) ct_emit_line(e, "{");
    e->depth += braces;
    point_into(e, outside);
    point_out(e, t);
    if (lanes != NULL) {
        e->lanes = lanes;
        emit_lanes(e, t, sums);
    } else {
        ct_emit_own_carried(e, t->step, t->names);
        if (ct_flow_is_pieced(t->step))
            emit_parts(e, t);
        else
            emit_iterations(e, t, false);
    }
    e->depth -= braces;
    if (braces) ct_emit_line(e, "}");
    for (uint32_t i = 0; i < outside->count; i++)
        e->uses[outside->items[i]->id].data = e->uses[outside->items[i]->id].lengths = NULL;
}

void ct_emit_loop(Emit *e, CtFlowStep *step) {
    LoopText t = {.step = step, .block = step->as.loop.block, .carried = step->as.loop.carried, .from = "0"};
    t.arrays = step->results.count - t.carried;
    t.names = CT_NEW_ARRAY(e->arena, const char *, step->results.count + 1);
    t.data = CT_NEW_ARRAY(e->arena, const char *, t.arrays + 1);
    t.far = CT_NEW_ARRAY(e->arena, const char *, t.arrays + 1);
    t.over = CT_NEW_ARRAY(e->arena, CtFlowVar *, t.arrays + 1);
    keep_count(e, &t);
    t.to = t.count;
    Share share;
    LaneSum *sums = CT_NEW_ARRAY(e->arena, LaneSum, t.carried + 1);
    bool shared = ct_emit_share_fits(e, step, &share);
    Lane *lanes = ct_emit_vector_fit(e, step, sums) ? e->lanes : NULL;
    if (lanes != NULL) e->lanes = NULL; /* until the vectorised iterations are written */
    if (lanes != NULL) find_ending(e, &t);
    share.once |= t.is_over;
    begin_carried(e, &t);
    begin_arrays(e, &t);
    if (shared) {
        ct_emit_share_begin(e, &share, t.count, t.names);
        t.from = "from";
        t.to = "to";
    }
    Vars outside = {0};
    find_arrays(e, &t, t.block, &outside);
    CtFlowVar *index = t.block->params.items[0];
    t.index = ct_emit_name(e, index);
    ct_emit_alias(e, index, t.index);
    emit_inside(e, &t, lanes, sums, &outside);
    if (shared) ct_emit_share_end(e, &share, t.names, lanes);
    if (lanes != NULL) ct_emit_vector_forget_lanes(e, lanes);
    for (uint32_t i = 0; i < t.arrays; i++) {
        const CtFlowType *type = array_of(&t, i)->type;
        const char *name = t.names[t.carried + i];
        if (type->rank > 1) ct_emit_line(e, "%s = ct_no_rows(rt, %s, %u, %s);", name, name, type->rank, pointers(type));
    }
    if (!e->streams || e->part != NULL || e->in_loop) return;
    ct_emit_line(e, "ct_streams_end();");
    e->streams = false;
}
