/* Shifted reads. A slice, two appended arrays, or the cotangent of a slice, an array of zeros to which the slice's
 * cotangent has been added, is not made if elementwise loops alone read it: they read the arrays that its elements come
 * from. Where these are two, the read is a switch on the loop's index, which the emitter writes as two loops
 * (pieces.c). So the shift of an array, `[|1|] ++ init y`, costs no memory, nor does its adjoint. A
 * slice, also of a matrix, or a reversed array of which single elements alone are read is not made either. Of a part
 * whose least or greatest element a fold seeks, this is done before derivatives are taken (ad/reverse_selections.c). */
#include "flow/opt/passes.h"

#include <math.h>

typedef struct ShiftedReads {
    CtFlow *flow;
    CtArena *arena;
    CtFlowBuilder b;
    CtFlowFacts facts;
    CtFlowMarks marks;
    uint32_t *uses; /* how often each variable is used; the pass adds no array that a step of the program could read */
    bool extremes_only; /* before derivatives are taken: parts whose extreme is sought */
} ShiftedReads;

/* Elements of an array from some index on. */
typedef struct View {
    CtFlowArg base;
    CtFlowShift shift; /* what is added to the index */
    uint32_t from;     /* `base` must be kept from this step of the block on */
} View;

/* Where an array's elements are: below `cut`, and from there on, if there are two parts. */
typedef struct Places {
    View views[2];
    uint32_t count;
    CtFlowArg cut, length;
} Places;

static bool is_vector(const CtFlowVar *var) {
    return var != NULL && var->type->kind == FLOW_ARRAY && var->type->rank == 1 &&
           !ct_flow_is_object(var->type->element);
}

static bool is_array_of_numbers(const CtFlowVar *var) {
    return var != NULL && var->type->kind == FLOW_ARRAY && !ct_flow_is_object(var->type->element);
}

/* ---- uses ---- */

static bool reads_here(const CtFlowBlock *body, const CtFlowStep *step, const CtFlowVar *array) {
    return step->kind == FLOW_READ && step->args.items[0].var == array && step->args.count == 2 &&
           step->args.items[1].var == body->params.items[0];
}

static bool looks_at_length(const CtFlowStep *step) { return step->kind == FLOW_DIM || step->kind == FLOW_CHECK_ZIP; }

/* Whether some elementwise loops behind a step, and nothing else but lengths, use an array; *last is the position of
 * the last of them. */
static bool loops_read(const ShiftedReads *p, const CtFlowBlock *block, uint32_t at, const CtFlowVar *array,
                       uint32_t *last) {
    uint32_t found = 0;
    bool some = false;
    for (uint32_t i = at + 1; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; looks_at_length(step) && j < step->args.count; j++)
            found += step->args.items[j].var == array;
        if (step->kind != FLOW_LOOP) continue;
        const CtFlowBlock *body = step->as.loop.block;
        uint32_t reads = 0;
        for (uint32_t j = 0; j < body->steps.count; j++) reads += reads_here(body, body->steps.items[j], array);
        if (reads == 0) continue;
        if (!ct_flow_is_elementwise(step)) return false;
        found += reads;
        some = true;
        *last = i;
    }
    return some && found == p->uses[array->id];
}

/* Whether no step from one to another takes an array, which would copy it if it were read later. */
static bool is_kept(ShiftedReads *p, const CtFlowBlock *block, const View *view, uint32_t to) {
    bool kept = true;
    if (view->base.var == NULL) return false;
    ct_flow_mark(&p->marks, view->base.var, true);
    for (uint32_t i = view->from; kept && i <= to; i++) kept = !ct_flow_takes_marked(&p->marks, block->steps.items[i]);
    ct_flow_mark(&p->marks, view->base.var, false);
    return kept;
}

/* ---- where elements come from ---- */

/* A slice made at a step of the block. */
static View view_of(const CtFlowStep *slice, uint32_t at) {
    View view = {.base = slice->args.items[2], .from = at + 1};
    if (!ct_flow_is_int(&slice->args.items[0], 0)) view.shift.by = slice->args.items[0];
    return view;
}

/* A part of appended arrays; one that the block has sliced is read in the array that it was sliced from. */
static View part_of(const ShiftedReads *p, const CtFlowBlock *block, uint32_t at, CtFlowArg part) {
    const CtFlowStep *slice = ct_flow_maker(&p->facts, &part, FLOW_BULK);
    for (uint32_t i = 0; ct_flow_is_bulk(slice, ARRAY_SLICE) && i < at; i++)
        if (block->steps.items[i] == slice && CT_FIRED("shifted_reads.part")) return view_of(slice, i);
    return (View){.base = part, .from = at + 1};
}

static CtFlowArg length_of(ShiftedReads *p, CtSourceRange range, CtFlowArg array) {
    const CtFlowStep *maker = ct_flow_fact(&p->facts, &array)->maker;
    if (ct_flow_is_bulk(maker, ARRAY_SLICE)) return maker->args.items[1];
    if (ct_flow_is_items(maker)) return ct_flow_int(&p->b, maker->args.count);
    return ct_flow_dim(&p->b, range, array, 0);
}

/* The second part is read at the index less the first one's length. */
static void shift_second(ShiftedReads *p, CtSourceRange range, Places *places) {
    CtFlowShift *shift = &places->views[1].shift;
    if (shift->by.type == NULL)
        *shift = (CtFlowShift){.by = places->cut, .back = true};
    else
        shift->by = ct_flow_prim_int(&p->b, range, PRIM_INT_SUB, shift->by, places->cut);
}

/* append a b */
static void find_appended(ShiftedReads *p, const CtFlowBlock *block, uint32_t at, Places *places) {
    const CtFlowStep *step = block->steps.items[at];
    places->count = 2;
    for (uint32_t i = 0; i < 2; i++) places->views[i] = part_of(p, block, at, step->args.items[i]);
    places->cut = length_of(p, step->range, step->args.items[0]);
    CtFlowArg rest = length_of(p, step->range, step->args.items[1]);
    places->length = ct_flow_prim_int(&p->b, step->range, PRIM_INT_ADD, places->cut, rest);
    shift_second(p, step->range, places);
}

/* slice */
static void find_slice(const CtFlowBlock *block, uint32_t at, Places *places) {
    const CtFlowStep *slice = block->steps.items[at];
    *places = (Places){.views = {view_of(slice, at)}, .count = 1, .length = slice->args.items[1]};
}

static bool is_empty_array(const ShiftedReads *p, const CtFlowBlock *branch) {
    const CtFlowStep *items = ct_flow_maker(&p->facts, &branch->values.items[0], FLOW_ITEMS);
    return branch->steps.count == 0 && items != NULL && items->args.count == 0;
}

/* A slice, or no elements: what is read of it is read of the slice. */
static bool find_slice_or_nothing(ShiftedReads *p, const CtFlowBlock *block, uint32_t at, Places *places) {
    const CtFlowStep *step = block->steps.items[at];
    const CtFlowBranch *branches = step->as.cases.branches;
    if (step->as.cases.count != 2) return false;
    if (branches[0].block->exit != EXIT_YIELD || branches[1].block->exit != EXIT_YIELD) return false;
    uint32_t other = is_empty_array(p, branches[0].block) ? 1 : 0;
    const CtFlowBlock *some = branches[other].block;
    if (!is_empty_array(p, branches[1 - other].block) || some->steps.count != 1) return false;
    const CtFlowStep *slice = some->steps.items[0];
    if (!ct_flow_is_bulk(slice, ARRAY_SLICE) || slice->results.items[0] != some->values.items[0].var) return false;
    *places = (Places){.views = {view_of(slice, at)}, .count = 1};
    CtFlowChoosing choice = ct_flow_switch_begin(&p->b, step->range, step->args.items[0]);
    for (uint32_t i = 0; i < 2; i++) {
        CtFlowArgs length = {0};
        ct_flow_case_begin(&p->b, &choice, branches[i].tag);
        ct_push(p->arena, &length, i == other ? slice->args.items[1] : ct_flow_int(&p->b, 0));
        ct_flow_case_end(&p->b, &choice, &length);
    }
    places->length = ct_flow_switch_end(&p->b, &choice).items[0];
    return true;
}

/* The elements that a loop adds to zeros, one in each iteration at its index: acc[i] = acc[i] + x. The step that reads
 * x. */
static const CtFlowStep *find_added(const CtFlowStep *loop) {
    const CtFlowBlock *body = loop->as.loop.block;
    const CtFlowVar *acc = body->params.items[1], *index = body->params.items[0];
    const CtFlowStep *old = NULL, *read = NULL, *sum = NULL, *update = NULL;
    for (uint32_t i = 0; i < body->steps.count; i++) {
        const CtFlowStep *step = body->steps.items[i];
        if (step->kind == FLOW_READ && step->args.items[0].var == acc && old == NULL)
            old = step;
        else if (step->kind == FLOW_READ && step->args.items[0].var != acc && read == NULL)
            read = step;
        else if (ct_flow_is_prim(step, PRIM_ADD) && sum == NULL)
            sum = step;
        else if (step->kind == FLOW_UPDATE && update == NULL)
            update = step;
        else if (step->kind != FLOW_PRIM || (step->as.prim != PRIM_INT_ADD && step->as.prim != PRIM_INT_SUB))
            return NULL;
    }
    if (old == NULL || read == NULL || sum == NULL || update == NULL) return NULL;
    const CtFlowVar *x = read->results.items[0], *before = old->results.items[0];
    bool adds = (sum->args.items[0].var == before && sum->args.items[1].var == x) ||
                (sum->args.items[0].var == x && sum->args.items[1].var == before);
    bool puts = update->args.items[0].var == acc && update->args.items[1].var == index &&
                update->args.items[2].var == sum->results.items[0] && old->args.items[1].var == index;
    return adds && puts && body->values.items[0].var == update->results.items[0] ? read : NULL;
}

/* The zeros that an accumulator begins with: −0.0, to which any number can be added without a change of its bits. */
static const CtFlowStep *zeros(const ShiftedReads *p, const CtFlowArg *start) {
    const CtFlowStep *step = ct_flow_maker(&p->facts, start, FLOW_BULK);
    if (!ct_flow_is_bulk(step, ARRAY_REPLICATE) || start->type->element->kind != FLOW_F64) return NULL;
    const CtFlowArg *zero = &step->args.items[1];
    return zero->var == NULL && zero->lit.real == 0 && signbit(zero->lit.real) ? step : NULL;
}

/* An array of zeros, to whose first elements a loop adds others. */
static bool find_padded(ShiftedReads *p, const CtFlowBlock *block, uint32_t at, Places *places) {
    const CtFlowStep *loop = block->steps.items[at];
    const CtFlowBlock *body = loop->as.loop.block;
    if (loop->as.loop.carried != 1 || loop->results.count != 1 || !ct_flow_is_elementwise(loop)) return false;
    const CtFlowStep *start = zeros(p, &loop->args.items[1]), *read = start != NULL ? find_added(loop) : NULL;
    CtFlowShift shift;
    if (read == NULL || !is_vector(read->args.items[0].var)) return false;
    if (!ct_flow_shifted_index(body, body, &read->args.items[1], &shift)) return false;
    CtSourceRange range = loop->range;
    *places = (Places){.count = 2, .cut = loop->args.items[0], .length = start->args.items[0]};
    places->views[0] = (View){.base = read->args.items[0], .shift = shift, .from = at + 1};
    CtFlowArg rest = ct_flow_prim_int(&p->b, range, PRIM_INT_SUB, places->length, places->cut);
    CtFlowArg pad = ct_flow_bulk(&p->b, range, ARRAY_REPLICATE, loop->args.items[1].type,
                                 (CtFlowArg[]){rest, start->args.items[1]}, 2);
    places->views[1] = (View){.base = pad, .from = at + 1};
    shift_second(p, range, places);
    return true;
}

static bool find_places(ShiftedReads *p, const CtFlowBlock *block, uint32_t at, Places *places) {
    const CtFlowStep *step = block->steps.items[at];
    if (ct_flow_is_bulk(step, ARRAY_APPEND))
        return find_appended(p, block, at, places), CT_FIRED("shifted_reads.appended");
    if (ct_flow_is_bulk(step, ARRAY_SLICE)) return find_slice(block, at, places), CT_FIRED("shifted_reads.slice");
    if (step->kind == FLOW_SWITCH)
        return find_slice_or_nothing(p, block, at, places) && CT_FIRED("shifted_reads.slice_or_nothing");
    return step->kind == FLOW_LOOP && find_padded(p, block, at, places) && CT_FIRED("shifted_reads.padded");
}

/* ---- reading there ---- */

static CtFlowArg index_there(ShiftedReads *p, CtSourceRange range, const View *view, CtFlowArg index) {
    const CtFlowShift *shift = &view->shift;
    if (shift->by.type == NULL) return index;
    return ct_flow_prim_int(&p->b, range, shift->back ? PRIM_INT_SUB : PRIM_INT_ADD, index, shift->by);
}

static CtFlowArg read_view(ShiftedReads *p, CtSourceRange range, const View *view, CtFlowArg index) {
    index = index_there(p, range, view, index);
    return ct_flow_read(&p->b, range, view->base, &index, 1);
}

static CtFlowArgs read_branch(ShiftedReads *p, CtSourceRange range, const View *view, CtFlowArg index) {
    CtFlowArgs value = {0};
    ct_push(p->arena, &value, read_view(p, range, view, index));
    return value;
}

/* Writes what stands for a read, and binds its variable. */
static void put_read(ShiftedReads *p, const CtFlowStep *read, const Places *places) {
    CtFlowArg index = read->args.items[1];
    CtSourceRange range = read->range;
    if (places->count == 1) {
        read_view(p, range, &places->views[0], index);
    } else {
        CtFlowArg below = ct_flow_prim_int(&p->b, range, PRIM_INT_LT, index, places->cut);
        CtFlowChoosing choice = ct_flow_switch_begin(&p->b, range, below);
        for (uint32_t i = 0; i < 2; i++) {
            ct_flow_case_begin(&p->b, &choice, i == 0 ? 1 : FLOW_OTHERS);
            CtFlowArgs value = read_branch(p, range, &places->views[i], index);
            ct_flow_case_end(&p->b, &choice, &value);
        }
        ct_flow_switch_end(&p->b, &choice);
    }
    CtFlowBlock *block = p->b.block;
    block->steps.items[block->steps.count - 1]->results.items[0] = read->results.items[0];
}

static void read_there(ShiftedReads *p, CtFlowBlock *body, const CtFlowVar *array, const Places *places) {
    CtFlowBlock before = *body, *around = p->b.block;
    body->steps.items = NULL;
    body->steps.count = body->steps.capacity = 0;
    body->exit = EXIT_OPEN;
    p->b.block = body;
    for (uint32_t i = 0; i < before.steps.count; i++)
        if (reads_here(body, before.steps.items[i], array))
            put_read(p, before.steps.items[i], places);
        else
            ct_push(p->arena, &body->steps, before.steps.items[i]);
    body->exit = before.exit;
    p->b.block = around;
}

/* A length is known, so that the array is not asked for it. That of rows is asked of the array which has them. */
static void tell_length(ShiftedReads *p, CtFlowStep *step, const CtFlowVar *array, CtFlowArg length, CtFlowArg base) {
    CtFlowArgs args = {0};
    bool asks = false, of_rows = (step->kind == FLOW_DIM || step->kind == FLOW_CHECK) && step->as.index > 0;
    for (uint32_t i = 0; i < step->args.count; i++) {
        bool is_array = step->args.items[i].var == array;
        asks |= is_array;
        ct_push(p->arena, &args, !is_array ? step->args.items[i] : of_rows ? base : length);
    }
    if (!asks) return;
    if (of_rows) p->uses[base.var->id]++;
    if (step->kind == FLOW_DIM && !of_rows) { /* a copy of the length: length + 0 */
        step->kind = FLOW_PRIM;
        step->as.prim = PRIM_INT_ADD;
        ct_push(p->arena, &args, ct_flow_int(&p->b, 0));
    }
    step->args = args;
}

/* Whether a part of appended arrays is a slice that nothing else uses. */
static bool is_own_slice(const ShiftedReads *p, const CtFlowArg *part, const View *view) {
    return part->var != NULL && view->base.var != part->var && p->uses[part->var->id] == 1;
}

/* Appended slices that are needed as an array become the loop that copies their elements, so that the slices are not
 * made. Steps that it needs are written before it. */
static CtFlowStep *copied_parts(ShiftedReads *p, const CtFlowBlock *block, uint32_t at) {
    CtFlowStep *step = block->steps.items[at];
    if (!ct_flow_is_bulk(step, ARRAY_APPEND) || !is_vector(step->results.items[0])) return step;
    Places places = {0};
    uint32_t written = p->b.block->steps.count;
    find_appended(p, block, at, &places);
    bool own = is_own_slice(p, &step->args.items[0], &places.views[0]) ||
               is_own_slice(p, &step->args.items[1], &places.views[1]);
    for (uint32_t i = 0; own && i < places.count; i++) own = is_kept(p, block, &places.views[i], at);
    if (!own) {
        p->b.block->steps.count = written;
        return step;
    }
    CT_FIRED("shifted_reads.copied");
    CtFlowVar *array = step->results.items[0], *index = ct_flow_var(&p->b, "i", p->facts.integer);
    CtFlowStep *loop = CT_NEW(p->arena, CtFlowStep), *read = CT_NEW(p->arena, CtFlowStep);
    CtFlowBlock *body = CT_NEW(p->arena, CtFlowBlock);
    *read = (CtFlowStep){.kind = FLOW_READ, .range = step->range};
    ct_push(p->arena, &read->args, flow_of(array));
    ct_push(p->arena, &read->args, flow_of(index));
    ct_push(p->arena, &read->results, ct_flow_var(&p->b, NULL, array->type->element));
    ct_push(p->arena, &body->params, index);
    ct_push(p->arena, &body->steps, read);
    ct_push(p->arena, &body->values, flow_of(read->results.items[0]));
    body->exit = EXIT_YIELD;
    body->range = step->range;
    *loop = (CtFlowStep){.kind = FLOW_LOOP, .range = step->range, .results = step->results};
    ct_push(p->arena, &loop->args, places.length);
    loop->as.loop.block = body;
    read_there(p, body, array, &places);
    return loop;
}

/* Lets what uses an array read where its elements come from; false where it needs the array itself. Steps that it needs
 * are written before the array's. */
static bool read_elsewhere(ShiftedReads *p, CtFlowBlock *block, uint32_t at) {
    const CtFlowStep *step = block->steps.items[at];
    const CtFlowVar *array = step->results.count == 1 ? step->results.items[0] : NULL;
    Places places = {0};
    uint32_t last = at, written = p->b.block->steps.count;
    bool found = is_vector(array) && loops_read(p, block, at, array, &last) && find_places(p, block, at, &places);
    for (uint32_t i = 0; found && i < places.count; i++) found = is_kept(p, block, &places.views[i], last);
    if (!found) {
        p->b.block->steps.count = written;
        return false;
    }
    for (uint32_t i = at + 1; i < block->steps.count; i++) {
        CtFlowStep *user = block->steps.items[i];
        if (looks_at_length(user)) tell_length(p, user, array, places.length, places.views[0].base);
        if (user->kind == FLOW_LOOP && i <= last) read_there(p, user->as.loop.block, array, &places);
    }
    return true;
}

/* ---- elements that are read one by one ---- */

static bool reads_element(const CtFlowStep *step, const CtFlowVar *array) {
    return step->kind == FLOW_READ && step->args.items[0].var == array && step->args.items[1].var != array;
}

/* How often single elements of an array are read in a block, its length is looked at, or its index is checked. */
static uint32_t looks(const CtFlowBlock *block, const CtFlowVar *array, uint32_t from, uint32_t *last,
                      uint32_t *reads) {
    uint32_t found = 0;
    for (uint32_t i = from; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        uint32_t before = found, inside;
        found += reads_element(step, array);
        *reads += reads_element(step, array);
        for (uint32_t j = 0; looks_at_length(step) && j < step->args.count; j++)
            found += step->args.items[j].var == array;
        found += step->kind == FLOW_CHECK && step->args.items[1].var == array;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            found += looks(ct_flow_inner(step, j), array, 0, &inside, reads);
        if (found > before) *last = i;
    }
    return found;
}

/* Whether a loop is a fold that compares each element of an array with the extreme so far. */
static bool seeks_extreme(const CtFlowStep *loop, const CtFlowVar *array) {
    const CtFlowBlock *body = loop->as.loop.block;
    if (loop->results.count != 1 || loop->as.loop.carried != 1 || body->exit != EXIT_YIELD) return false;
    const CtFlowStep *best = ct_flow_binder(body, body->values.items[0].var);
    if (!ct_flow_is_prim(best, PRIM_MIN) && !ct_flow_is_prim(best, PRIM_MAX)) return false;
    uint32_t other = best->args.items[0].var == body->params.items[1] ? 1 : 0;
    if (best->args.items[1 - other].var != body->params.items[1]) return false;
    const CtFlowStep *read = ct_flow_binder(body, best->args.items[other].var);
    return read != NULL && reads_element(read, array);
}

/* Whether the loops that read an array seek its extreme, and nothing else in loops reads it; *some: there is one. */
static bool only_seek_extremes(const CtFlowBlock *block, const CtFlowVar *array, uint32_t from, bool in_loop,
                               bool *some) {
    for (uint32_t i = from; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (in_loop && reads_element(step, array)) return false;
        if (step->kind == FLOW_LOOP && seeks_extreme(step, array)) {
            *some = true;
            continue;
        }
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (!only_seek_extremes(ct_flow_inner(step, j), array, 0, in_loop || step->kind == FLOW_LOOP, some))
                return false;
    }
    return true;
}

/* Writes a block anew, with reads of the elements that the array is made of. `end` less the index is the index of a
 * reversed array. */
static void read_base(ShiftedReads *p, CtFlowBlock *block, uint32_t from, const CtFlowVar *array, const Places *places,
                      const CtFlowArg *end) {
    CtFlowBlock before = ct_flow_reopen(block), *around = p->b.block;
    for (uint32_t i = 0; i < before.steps.count; i++) {
        CtFlowStep *step = before.steps.items[i];
        p->b.block = block;
        if (i >= from && reads_element(step, array)) {
            const View *view = &places->views[0];
            CtFlowArg index = step->args.items[1];
            if (end != NULL) index = ct_flow_prim_int(&p->b, step->range, PRIM_INT_SUB, *end, index);
            CtFlowArgs args = {0};
            ct_push(p->arena, &args, view->base);
            ct_push(p->arena, &args, index_there(p, step->range, view, index));
            for (uint32_t j = 2; j < step->args.count; j++) ct_push(p->arena, &args, step->args.items[j]);
            step->args = args;
            ct_push(p->arena, &block->steps, step);
            continue;
        }
        if (i >= from && (looks_at_length(step) || step->kind == FLOW_CHECK))
            tell_length(p, step, array, places->length, places->views[0].base);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            read_base(p, ct_flow_inner(step, j), 0, array, places, end);
        ct_push(p->arena, &block->steps, step);
    }
    block->exit = before.exit;
    block->values = before.values;
    block->tail = before.tail;
    p->b.block = around;
}

/* Puts the steps of another block in the place of a step. */
static void put_instead(ShiftedReads *p, CtFlowBlock *block, uint32_t at, const CtFlowBlock *other) {
    CtFlowBlock before = *block;
    memset(&block->steps, 0, sizeof block->steps);
    for (uint32_t i = 0; i < before.steps.count; i++) {
        for (uint32_t j = 0; i == at && j < other->steps.count; j++)
            ct_push(p->arena, &block->steps, other->steps.items[j]);
        if (i != at) ct_push(p->arena, &block->steps, before.steps.items[i]);
    }
}

/* A slice or a reversed array, of which nothing but single elements is read, is not made: the fold of a reversed list,
 * such as `foldr` and `foldr1`. */
static void read_one_by_one(ShiftedReads *p, CtFlowBlock *block, uint32_t at) {
    const CtFlowStep *step = block->steps.items[at];
    bool reversed = ct_flow_is_bulk(step, ARRAY_REVERSE);
    if (!reversed && !ct_flow_is_bulk(step, ARRAY_SLICE)) return;
    const CtFlowVar *array = step->results.items[0];
    bool is_matrix = !reversed && !p->extremes_only && is_array_of_numbers(array);
    if (!is_vector(array) && !is_matrix) return;
    uint32_t last = at, reads = 0;
    if (looks(block, array, at + 1, &last, &reads) != p->uses[array->id] || reads == 0) return;
    bool some = false;
    if (p->extremes_only && (!only_seek_extremes(block, array, at + 1, false, &some) || !some)) return;
    Places places = {.count = 1};
    if (reversed)
        places.views[0] = (View){.base = step->args.items[0], .from = at + 1};
    else
        find_slice(block, at, &places);
    if (!is_kept(p, block, &places.views[0], last)) return;
    CtFlowArg end = ct_flow_none();
    CtFlowBlock *front = p->b.block = ct_flow_block(&p->b); /* what its length needs */
    if (reversed) {
        places.length = ct_flow_dim(&p->b, step->range, step->args.items[0], 0);
        end = ct_flow_prim_int(&p->b, step->range, PRIM_INT_SUB, places.length, ct_flow_int(&p->b, 1));
        CT_FIRED("shifted_reads.reversed");
    } else {
        CT_FIRED("shifted_reads.slice_of_elements");
    }
    put_instead(p, block, at, front);
    p->uses[places.views[0].base.var->id] += reads - !reversed; /* the length of the base is one use */
    read_base(p, block, at + front->steps.count, array, &places, reversed ? &end : NULL);
}

/* From the end, since a slice may be of a reversed array. */
static void visit_elements(ShiftedReads *p, CtFlowBlock *block) {
    for (uint32_t i = block->steps.count; i-- > 0;) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit_elements(p, ct_flow_inner(step, j));
        read_one_by_one(p, block, i);
    }
}

static void visit(ShiftedReads *p, CtFlowBlock *block) {
    CtFlowBlock *fresh = ct_flow_block(&p->b);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(p, ct_flow_inner(step, j));
        p->b.block = fresh;
        if (!read_elsewhere(p, block, i)) step = copied_parts(p, block, i);
        ct_push(p->arena, &fresh->steps, step);
    }
    block->steps.items = fresh->steps.items;
    block->steps.count = fresh->steps.count;
    block->steps.capacity = fresh->steps.capacity;
}

void ct_flow_shifted_reads(CtFlow *flow) {
    ShiftedReads p = {.flow = flow, .arena = flow->arena, .marks.arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        p.uses = ct_flow_count_uses(flow, function);
        p.b = (CtFlowBuilder){.flow = flow, .arena = p.arena, .function = function};
        ct_flow_facts_begin(&p.facts, flow, function);
        visit(&p, function->body);
        p.uses = ct_flow_count_uses(flow, function);
        visit_elements(&p, function->body);
    }
}

void ct_flow_extreme_reads(CtFlow *flow) {
    ShiftedReads p = {.flow = flow, .arena = flow->arena, .marks.arena = flow->arena, .extremes_only = true};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        p.b = (CtFlowBuilder){.flow = flow, .arena = p.arena, .function = function};
        ct_flow_facts_begin(&p.facts, flow, function);
        p.uses = ct_flow_count_uses(flow, function);
        visit_elements(&p, function->body);
    }
}
