/* Recursion written out for the smallest sizes above its base case. A function that calls itself in a loop, as a
 * determinant by minors does, is mostly called for small sizes: short arrays, or small numbers.
 *
 *     det m = switch dim 0 of m == 1               det m = switch dim 0 of m == 2
 *       1: read m, 0, 0                      →       1: straight-line code, of reads of m
 *       0: fold … det (minor …)                      0: switch dim 0 of m == 1 { as it was }
 *
 * The body is evaluated for a known length of a parameter, or for a known Int: tests and loops are decided, calls of
 * the function itself are followed, and an array that a loop makes, or a slice, is computed element by element where it
 * is read. So no array is made if its elements are all that is asked for. Sizes follow one another from the base case
 * on, which is what needs no call. */
#include "flow/copy.h"
#include "flow/opt/passes.h"

enum {
    MOST_BEHIND = 3,      /* sizes behind the base case that code is written for, */
    MOST_SIZES = 4,       /* and all up to this one, */
    LARGEST_BASE = 2,     /* behind a base case of at most this size */
    MOST_STEPS = 4000,    /* bound of the steps that are evaluated for a size, */
    MOST_LEFT = 500,      /* and of those that are left */
    MOST_ITERATIONS = 16, /* of a loop that is written out */
};

/* A row or number that a loop makes in an iteration. */
typedef struct Element {
    const CtFlowStep *loop;
    int64_t iteration;
    CtFlowArgs values;
} Element;

typedef struct Walk {
    CtFlow *flow;
    CtFlowFunction *function;
    const CtFlowEffects *effects;
    const CtFlowVar *array; /* the parameter whose length is known, or NULL, */
    int64_t length;
    bool square; /* and so is the length of its rows */
    CtFlowBuilder b;
    CtMap makers; /* variable number -> the step in the builder's block that makes this array */
    CT_VEC(Element) elements;
    uint32_t left;
    bool follows; /* a call has been followed */
} Walk;

typedef struct Ending { /* of a block: what it yields or returns, or the arguments of its tail call */
    CtFlowExit exit;
    CtFlowArgs values;
    const CtFlowFunction *tail;
} Ending;

static bool walk(Walk *w, CtFlowCopy *copy, const CtFlowBlock *block, Ending *end);

static bool spend(Walk *w, uint32_t steps) {
    bool enough = w->left >= steps;
    w->left -= enough ? steps : w->left;
    return enough;
}

static void push(Walk *w, CtFlowStep *step) {
    ct_push(w->flow->arena, &w->b.block->steps, step);
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL && step->results.items[i]->type->kind == FLOW_ARRAY)
            ct_map_set(w->flow->arena, &w->makers, step->results.items[i]->id, step);
}

/* ---- arrays that the code has made ---- */

static const CtFlowStep *maker(const Walk *w, const CtFlowArg *array) {
    return array->var != NULL ? ct_map_get(&w->makers, array->var->id) : NULL;
}

/* Whether a loop makes its elements each for itself. */
static bool is_map(const Walk *w, const CtFlowStep *step) {
    return step->kind == FLOW_LOOP && step->as.loop.carried == 0 && !step->as.loop.initial &&
           step->as.loop.block->exit == EXIT_YIELD && ct_flow_is_total(w->effects, step);
}

/* What the loop's block yields in an iteration. */
static bool find_element(Walk *w, const CtFlowStep *loop, int64_t iteration, CtFlowArgs *values) {
    for (uint32_t i = 0; i < w->elements.count; i++)
        if (w->elements.items[i].loop == loop && w->elements.items[i].iteration == iteration) {
            *values = w->elements.items[i].values;
            return true;
        }
    CtFlowCopy copy = {.flow = w->flow, .into = w->function, .place = CT_NO_RANGE};
    Ending end;
    ct_flow_copy_stands(&copy, loop->as.loop.block->params.items[0], ct_flow_int(&w->b, iteration));
    if (!walk(w, &copy, loop->as.loop.block, &end) || end.exit != EXIT_YIELD) return false;
    ct_push(w->flow->arena, &w->elements, ((Element){loop, iteration, end.values}));
    *values = end.values;
    return true;
}

static CtFlowArg first_length(Walk *w, const CtFlowArg *array, const CtFlowStep *made);

/* The number of elements of two arrays together, if both are known. */
static CtFlowArg appended_length(Walk *w, const CtFlowStep *made) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < 2; i++) {
        CtFlowArg length = first_length(w, &made->args.items[i], maker(w, &made->args.items[i]));
        if (ct_flow_is_none(length) || !ct_flow_is_int_literal(&length)) return ct_flow_none();
        if (__builtin_add_overflow(sum, length.lit.integer, &sum)) return ct_flow_none();
    }
    return ct_flow_int(&w->b, sum);
}

/* The length of an array in its first dimension; type NULL: it is not known as a number. */
static CtFlowArg first_length(Walk *w, const CtFlowArg *array, const CtFlowStep *made) {
    if (array->var == w->array && w->array != NULL) return ct_flow_int(&w->b, w->length);
    if (made == NULL) return ct_flow_none();
    if (ct_flow_is_items(made)) return ct_flow_int(&w->b, made->args.count);
    if (ct_flow_is_bulk(made, ARRAY_SLICE)) return made->args.items[1];
    if (ct_flow_is_bulk(made, ARRAY_REVERSE))
        return first_length(w, &made->args.items[0], maker(w, &made->args.items[0]));
    if (ct_flow_is_bulk(made, ARRAY_APPEND)) return appended_length(w, made);
    bool loop = made->kind == FLOW_LOOP && !made->as.loop.initial;
    return loop && ct_flow_result_index(made, array->var) >= made->as.loop.carried ? made->args.items[0]
                                                                                   : ct_flow_none();
}

static bool find_length(Walk *w, const CtFlowArg *array, uint32_t dimension, CtFlowArg *length) {
    const CtFlowStep *made = maker(w, array);
    CtFlowArg count = first_length(w, array, made);
    CtFlowArgs rows;
    if (ct_flow_is_none(count)) return false;
    if (dimension == 0) {
        *length = count;
        return true;
    }
    if (made == NULL && w->square && dimension == 1) {
        *length = count;
        return true;
    }
    /* An array without rows may have rows of length 0. */
    if (made == NULL || !ct_flow_is_int_literal(&count) || count.lit.integer <= 0) return false;
    if (made->kind == FLOW_ITEMS) return find_length(w, &made->args.items[0], dimension - 1, length);
    if (ct_flow_is_bulk(made, ARRAY_SLICE)) return find_length(w, &made->args.items[2], dimension, length);
    if (ct_flow_is_bulk(made, ARRAY_REVERSE)) return find_length(w, &made->args.items[0], dimension, length);
    if (ct_flow_is_bulk(made, ARRAY_APPEND))
        return find_length(w, &made->args.items[0], dimension, length) ||
               find_length(w, &made->args.items[1], dimension, length);
    if (!is_map(w, made) || !find_element(w, made, 0, &rows)) return false;
    return find_length(w, &rows.items[ct_flow_result_index(made, array->var)], dimension - 1, length);
}

/* A read or a check that the code has already; NULL if there is none. */
static const CtFlowStep *find_same(const Walk *w, CtFlowStepKind kind, uint32_t dimension, const CtFlowArgs *args) {
    const CtFlowBlock *block = w->b.block;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool same = step->kind == kind && step->args.count == args->count &&
                    (kind != FLOW_CHECK || step->as.index == dimension);
        for (uint32_t j = 0; same && j < args->count; j++) same = ct_flow_same(&step->args.items[j], &args->items[j]);
        if (same) return step;
    }
    return NULL;
}

static CtFlowArg sum_of(Walk *w, CtSourceRange range, CtFlowArg a, CtFlowArg b) {
    int64_t sum;
    bool known = ct_flow_is_int_literal(&a) && ct_flow_is_int_literal(&b) &&
                 !__builtin_add_overflow(a.lit.integer, b.lit.integer, &sum);
    if (known) return ct_flow_int(&w->b, sum);
    return ct_flow_prim_int(&w->b, range, PRIM_INT_ADD, a, b);
}

/* The element of an array that the code has made, if it is known: a number or a row. */
static bool step_into(Walk *w, CtFlowArg *array, const CtFlowStep *made, const CtFlowArg *index) {
    CtFlowArgs values = {0};
    if (!ct_flow_is_int_literal(index)) return false;
    bool items = ct_flow_is_items(made) && index->lit.integer >= 0 && index->lit.integer < made->args.count;
    if (!items && (!is_map(w, made) || !find_element(w, made, index->lit.integer, &values))) return false;
    *array = items ? made->args.items[index->lit.integer] : values.items[ct_flow_result_index(made, array->var)];
    return true;
}

/* The part of an appended array that has the element at an index, and the element's index in that part. */
static bool step_into_part(Walk *w, CtFlowArg *array, const CtFlowStep *made, CtFlowArg *index) {
    CtFlowArg first = first_length(w, &made->args.items[0], maker(w, &made->args.items[0]));
    if (ct_flow_is_none(first) || !ct_flow_is_int_literal(&first) || !ct_flow_is_int_literal(index)) return false;
    bool behind = index->lit.integer >= first.lit.integer;
    *array = made->args.items[behind ? 1 : 0];
    if (behind) *index = ct_flow_int(&w->b, index->lit.integer - first.lit.integer);
    return CT_FIRED("small_sizes.appended");
}

/* A read, as far as the code has made what it reads; the rest of it is a read of another array. */
static bool walk_read(Walk *w, CtFlowCopy *copy, const CtFlowStep *step) {
    CtFlowArgs args = ct_flow_copy_args(copy, &step->args);
    CtFlowArg array = args.items[0], *indices = args.items + 1;
    uint32_t count = args.count - 1;
    for (const CtFlowStep *made = maker(w, &array); count > 0 && made != NULL; made = maker(w, &array)) {
        if (ct_flow_is_bulk(made, ARRAY_SLICE)) {
            array = made->args.items[2];
            indices[0] = sum_of(w, step->range, indices[0], made->args.items[0]);
        } else if (ct_flow_is_bulk(made, ARRAY_REVERSE)) {
            CtFlowArg length = first_length(w, &array, made);
            bool known = !ct_flow_is_none(length) && ct_flow_is_int_literal(&length);
            if (!known || !ct_flow_is_int_literal(&indices[0])) break;
            array = made->args.items[0];
            indices[0] = ct_flow_int(&w->b, length.lit.integer - 1 - indices[0].lit.integer);
            CT_FIRED("small_sizes.reversed");
        } else if (ct_flow_is_bulk(made, ARRAY_APPEND)) {
            if (!step_into_part(w, &array, made, &indices[0])) break;
        } else {
            if (!step_into(w, &array, made, &indices[0])) break;
            indices++;
            count--;
        }
        if (!spend(w, 1)) return false;
    }
    if (count > 0) {
        const CtFlowVar *result = step->results.items[0];
        indices[-1] = array;
        CtFlowArgs rest = ct_flow_slice(&args, args.count - 1 - count, count + 1);
        const CtFlowStep *same = find_same(w, FLOW_READ, 0, &rest);
        array =
            same != NULL ? flow_of(same->results.items[0]) : ct_flow_read(&w->b, step->range, array, indices, count);
        if (same == NULL) array.var->name = result->name;
    }
    ct_flow_copy_stands(copy, step->results.items[0], array);
    return spend(w, 1);
}

/* A check of an index; false where it fails. */
static bool walk_check(Walk *w, CtFlowCopy *copy, const CtFlowStep *step) {
    CtFlowStep *fresh = ct_flow_copy_step(copy, step);
    CtFlowArg *index = &fresh->args.items[0], *limit = &fresh->args.items[1];
    CtFlowArg length;
    if (limit->type->kind == FLOW_ARRAY && find_length(w, limit, fresh->as.index, &length)) {
        *limit = length;
        fresh->as.index = 0;
    }
    if (!ct_flow_is_int_literal(index) || !ct_flow_is_int_literal(limit)) {
        if (find_same(w, FLOW_CHECK, fresh->as.index, &fresh->args) == NULL) push(w, fresh);
        return spend(w, 1);
    }
    return index->lit.integer >= 0 && index->lit.integer < limit->lit.integer;
}

/* ---- the walk ---- */

static void see_call(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    Walk *w = data;
    (void)range, (void)tail;
    w->follows |= callee == w->function;
}

/* Whether there is a call of the function in a block. */
static bool calls_itself(Walk *w, CtFlowBlock *block) {
    bool before = w->follows;
    w->follows = false;
    ct_flow_each_call(block, see_call, w);
    bool calls = w->follows;
    w->follows = before;
    return calls;
}

/* Whether a call is followed: of the function itself, or of one that literals may decide. */
static bool is_followed(const Walk *w, const CtFlowFunction *callee, const CtFlowArgs *args) {
    bool literals = callee == w->function;
    for (uint32_t i = 0; i < args->count; i++) literals |= ct_flow_is_int_literal(&args->items[i]);
    return literals && !callee->is_cold_path && !ct_flow_is_separate(callee);
}

/* A call and the tail calls behind it, until one returns. */
static bool walk_call(Walk *w, CtFlowCopy *copy, const CtFlowStep *step) {
    CtFlowArgs args = ct_flow_copy_args(copy, &step->args);
    const CtFlowFunction *callee = step->as.function;
    for (;;) {
        CtFlowCopy inner = {.flow = w->flow, .into = w->function, .place = step->range};
        Ending end;
        w->follows |= callee == w->function;
        for (uint32_t i = 0; i < args.count; i++) ct_flow_copy_stands(&inner, callee->params.items[i], args.items[i]);
        if (!is_followed(w, callee, &args) || !spend(w, 1) || !walk(w, &inner, callee->body, &end)) return false;
        args = end.values;
        callee = end.tail;
        if (end.exit == EXIT_RETURN) break;
        if (end.exit != EXIT_TAIL) return false;
    }
    ct_flow_copy_results_stand(copy, step, &args);
    return true;
}

static CtFlowArg outside(void *data, CtFlowVar *var) {
    CtFlowArg arg = flow_of(var);
    return ct_flow_copy_args(data, &(CtFlowArgs){.items = &arg, .count = 1}).items[0];
}

/* Whether rows have one length, as numbers. */
static bool are_equal(Walk *w, const CtFlowArgs *rows) {
    CtFlowArg first, other;
    if (rows->count == 0 || rows->items[0].type->rank > 1) return false;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (!find_length(w, &rows->items[i], 0, &other) || !ct_flow_is_int_literal(&other)) return false;
        if (i == 0) first = other;
        if (other.lit.integer != first.lit.integer) return false;
    }
    return true;
}

/* A loop's iterations, one after the other. */
static bool walk_loop(Walk *w, CtFlowCopy *copy, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    uint32_t carried = step->as.loop.carried;
    CtFlowArgs args = ct_flow_copy_args(copy, &step->args), now = ct_flow_slice(&args, 1, carried);
    int64_t iterations = args.items[0].lit.integer;
    if (!ct_flow_is_int_literal(&args.items[0]) || iterations > MOST_ITERATIONS || step->as.loop.initial) return false;
    CtFlowArgs *items = CT_NEW_ARRAY(w->flow->arena, CtFlowArgs, step->results.count + 1);
    for (int64_t i = 0; i < iterations; i++) {
        CtFlowCopy inner = {.flow = w->flow, .into = w->function, .outer = outside, .data = copy, .place = copy->place};
        Ending end;
        ct_flow_copy_stands(&inner, block->params.items[0], ct_flow_int(&w->b, i));
        for (uint32_t j = 0; j < carried; j++) ct_flow_copy_stands(&inner, block->params.items[1 + j], now.items[j]);
        if (!walk(w, &inner, block, &end) || end.exit != EXIT_YIELD) return false;
        now = ct_flow_slice(&end.values, 0, carried);
        for (uint32_t j = carried; j < step->results.count; j++)
            ct_push(w->flow->arena, &items[j], end.values.items[j]);
    }
    for (uint32_t i = 0; i < step->results.count; i++) {
        const CtFlowVar *result = step->results.items[i];
        if (result == NULL || (i >= carried && result->type->rank > 1 && !are_equal(w, &items[i]))) return false;
    }
    for (uint32_t i = carried; i < step->results.count; i++) {
        CtFlowStep *array = CT_NEW(w->flow->arena, CtFlowStep);
        CtFlowVar *made = ct_flow_copy_var(copy, step->results.items[i]);
        *array = (CtFlowStep){.kind = FLOW_ITEMS, .range = step->range, .args = items[i]};
        ct_push(w->flow->arena, &array->results, made);
        push(w, array);
    }
    for (uint32_t i = 0; i < carried; i++) ct_flow_copy_stands(copy, step->results.items[i], now.items[i]);
    return spend(w, 1);
}

static bool walk_whole(Walk *w, CtFlowCopy *copy, const CtFlowStep *step) {
    uint32_t size = 1;
    CtFlowArg value;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) size += ct_flow_size(ct_flow_inner(step, i));
    if (!spend(w, size)) return false;
    CtFlowStep *fresh = ct_flow_copy_step(copy, step);
    if (step->kind == FLOW_PRIM && ct_flow_fold(fresh, &value))
        ct_flow_copy_stands(copy, step->results.items[0], value);
    else
        push(w, fresh);
    return true;
}

/* A step that is written out if that can be had; if not, it is copied as a whole, unless it calls the function. */
static bool walk_or_copy(Walk *w, CtFlowCopy *copy, const CtFlowStep *step) {
    uint32_t steps = w->b.block->steps.count, elements = w->elements.count;
    bool follows = w->follows;
    bool loop = step->kind == FLOW_LOOP,
         calls = loop ? calls_itself(w, step->as.loop.block) : step->as.function == w->function;
    if (loop ? walk_loop(w, copy, step) : walk_call(w, copy, step)) return true;
    if (calls) return false;
    w->b.block->steps.count = steps;
    w->elements.count = elements;
    w->follows = follows;
    return walk_whole(w, copy, step);
}

static bool walk_step(Walk *w, CtFlowCopy *copy, const CtFlowStep *step) {
    CtFlowArgs args = ct_flow_copy_args(copy, &step->args);
    CtFlowArg value;
    if (step->kind == FLOW_READ) return walk_read(w, copy, step);
    if (step->kind == FLOW_CHECK) return walk_check(w, copy, step);
    bool map = step->kind == FLOW_LOOP && is_map(w, step) && !calls_itself(w, step->as.loop.block);
    bool call = step->kind == FLOW_CALL && is_followed(w, step->as.function, &args);
    if ((step->kind == FLOW_LOOP && !map) || call) return walk_or_copy(w, copy, step);
    if (step->kind == FLOW_DIM && find_length(w, &args.items[0], step->as.index, &value)) {
        ct_flow_copy_stands(copy, step->results.items[0], value);
        return true;
    }
    return walk_whole(w, copy, step);
}

/* A switch: the branch that is taken, or all of it, if nothing in it leaves the function or calls it. */
static bool walk_switch(Walk *w, CtFlowCopy *copy, const CtFlowStep *step, Ending *end) {
    CtFlowArgs on = ct_flow_copy_args(copy, &step->args);
    if (ct_flow_is_int_literal(&on.items[0])) {
        uint32_t taken = ct_flow_branch_for(step, on.items[0].lit.integer);
        if (!walk(w, copy, step->as.cases.branches[taken].block, end)) return false;
        if (end->exit == EXIT_YIELD) ct_flow_copy_results_stand(copy, step, &end->values);
        return true;
    }
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit != EXIT_YIELD || ct_flow_leaves(block) || calls_itself(w, block)) return false;
    }
    end->exit = EXIT_YIELD;
    return walk_whole(w, copy, step);
}

static bool walk(Walk *w, CtFlowCopy *copy, const CtFlowBlock *block, Ending *end) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind != FLOW_SWITCH) {
            if (!walk_step(w, copy, step)) return false;
        } else {
            if (!walk_switch(w, copy, step, end)) return false;
            if (end->exit != EXIT_YIELD) return true;
        }
    }
    *end = (Ending){block->exit, ct_flow_copy_args(copy, &block->values), block->tail};
    return end->exit != EXIT_NEVER;
}

/* ---- the pass ---- */

static void mark(const CtFlowArgs *args, bool *used) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var != NULL) used[args->items[i].var->id] = true;
}

static void mark_block(const CtFlowBlock *block, bool *used) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        mark(&step->args, used);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) mark_block(ct_flow_inner(step, j), used);
    }
    mark(&block->values, used);
}

/* Removes what nothing asks for; the number of steps that are left. */
static uint32_t prune(const Walk *w, CtFlowBlock *block) {
    bool *used = CT_NEW_ARRAY(w->flow->arena, bool, w->function->vars);
    uint32_t kept = block->steps.count;
    mark(&block->values, used);
    for (uint32_t i = block->steps.count; i-- > 0;) {
        CtFlowStep *step = block->steps.items[i];
        bool stays = !ct_flow_is_total(w->effects, step);
        for (uint32_t j = 0; j < step->results.count; j++)
            stays |= step->results.items[j] != NULL && used[step->results.items[j]->id];
        if (!stays) continue;
        mark(&step->args, used);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) mark_block(ct_flow_inner(step, j), used);
        block->steps.items[--kept] = step;
    }
    block->steps.items += kept;
    block->steps.count -= kept;
    block->steps.capacity -= kept;
    return ct_flow_size(block);
}

/* A parameter: an Int, an array of some length, or a square matrix. */
typedef struct Sized {
    CtFlow *flow;
    CtFlowFunction *function;
    const CtFlowEffects *effects;
    CtFlowVar *var;
    bool square;
} Sized;

/* The body for the size of a parameter; NULL if it is not to be had, or large. `*follows`: it called the function. */
static CtFlowBlock *body_for(const Sized *p, int64_t size, bool *follows) {
    CtFlow *flow = p->flow;
    CtFlowBlock *block = CT_NEW(flow->arena, CtFlowBlock);
    Walk w = {.flow = flow, .function = p->function, .effects = p->effects, .length = size, .square = p->square};
    CtFlowCopy copy = {.flow = flow, .into = p->function, .place = CT_NO_RANGE};
    Ending end;
    w.left = MOST_STEPS;
    w.b = (CtFlowBuilder){flow, flow->arena, p->function, block};
    if (p->var->type->kind == FLOW_ARRAY)
        w.array = p->var;
    else
        ct_flow_copy_stands(&copy, p->var, ct_flow_int(&w.b, size));
    if (!walk(&w, &copy, p->function->body, &end) || end.exit != EXIT_RETURN) return NULL;
    *follows = w.follows;
    block->exit = EXIT_RETURN;
    block->range = p->function->range;
    block->values = end.values;
    return prune(&w, block) <= MOST_LEFT ? block : NULL;
}

/* Lets a body stand in front of the others, for a parameter of this size. */
static void put_in_front(const Sized *p, int64_t size, CtFlowBlock *body) {
    CtFlow *flow = p->flow;
    CtFlowFunction *function = p->function;
    CtFlowBlock *old = CT_NEW(flow->arena, CtFlowBlock);
    *old = *function->body;
    *function->body = (CtFlowBlock){.range = old->range};
    CtFlowBuilder b = {flow, flow->arena, function, function->body};
    CtFlowArg is = flow_of(p->var);
    if (is.type->kind == FLOW_ARRAY) is = ct_flow_dim(&b, function->range, is, 0);
    is = ct_flow_prim_int(&b, function->range, PRIM_INT_EQ, is, ct_flow_int(&b, size));
    if (p->square) {
        CtFlowArg columns = ct_flow_dim(&b, function->range, flow_of(p->var), 1);
        columns = ct_flow_prim_int(&b, function->range, PRIM_INT_EQ, columns, ct_flow_int(&b, size));
        is = ct_flow_prim_int(&b, function->range, PRIM_INT_AND, is, columns);
    }
    CtFlowStep *choice = ct_flow_step(&b, FLOW_SWITCH, function->range);
    ct_flow_arg(&b, choice, is);
    choice->as.cases.branches = CT_NEW_ARRAY(flow->arena, CtFlowBranch, 2);
    choice->as.cases.branches[0] = (CtFlowBranch){1, body};
    choice->as.cases.branches[1] = (CtFlowBranch){0, old};
    choice->as.cases.count = 2;
    function->body->exit = EXIT_NEVER;
}

/* Writes a function out for the sizes behind its base case. Larger sizes that need no call, as where small parts are
 * computed directly, are none of its base cases: the search has an end. */
static bool write_out(const Sized *p) {
    CtFlowBlock *bodies[MOST_SIZES];
    int64_t sizes[MOST_SIZES];
    uint32_t count = 0;
    int64_t largest = LARGEST_BASE;
    bool based = false, follows;
    for (int64_t size = 0; size <= largest && count < MOST_SIZES; size++) {
        CtFlowBlock *body = body_for(p, size, &follows);
        if (body == NULL && based) break;
        if (body != NULL && !follows && size <= LARGEST_BASE) {
            based = true;
            largest = size + MOST_BEHIND > MOST_SIZES ? size + MOST_BEHIND : MOST_SIZES;
        }
        if (body == NULL || !follows) continue;
        bodies[count] = body;
        sizes[count++] = size;
    }
    for (uint32_t i = 0; i < count; i++) put_in_front(p, sizes[i], bodies[i]);
    return count > 0;
}

/* Writes it out for the sizes of one of its parameters; false if there is none. */
static bool write_out_any(CtFlow *flow, CtFlowFunction *function, const CtFlowEffects *effects) {
    for (uint32_t i = 0; i < function->params.count; i++) {
        Sized p = {flow, function, effects, function->params.items[i], false};
        const CtFlowType *type = p.var->type;
        if (type->kind != FLOW_ARRAY && type->kind != FLOW_I64) continue;
        if (write_out(&p)) return CT_FIRED("small_sizes.function");
        p.square = type->kind == FLOW_ARRAY && type->rank == 2;
        if (p.square && write_out(&p)) return CT_FIRED("small_sizes.square");
    }
    return false;
}

typedef struct Seek {
    Walk *walk;
    bool found;
} Seek;

static void see_loop(void *data, CtFlowStep *step) {
    Seek *seek = data;
    seek->found |= step->kind == FLOW_LOOP && calls_itself(seek->walk, step->as.loop.block);
}

void ct_flow_small_sizes(CtFlow *flow) {
    CtFlowEffects effects = ct_flow_effects(flow);
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        Walk w = {.flow = flow, .function = function};
        Seek seek = {&w, false};
        ct_flow_each_step(function->body, see_loop, &seek);
        if (seek.found && !function->is_cold_path && !ct_flow_is_separate(function))
            write_out_any(flow, function, &effects);
    }
}
