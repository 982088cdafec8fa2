/* An element of an array that a loop carries, where the loop looks at no other of its elements and does with the array
 * nothing else, is carried itself, taken apart:
 *
 *     y = fold n, s do i, s':                fits = p is an index of s, and s[p] is a C
 *       check 0 of p, s'                     y = switch fits
 *       t = read s', p                       1: t = read s, p;  e = update s, p, []
 *       x = switch t: open C t, or fail  →      x = open C t
 *       ⟨x' of x⟩                               z = fold n, x do i, x':
 *       u = make C x'                             ⟨x'' of x'⟩;  yield x''
 *       yield update s', p, u                   yield update e, p, (make C z)
 *                                            else: the loop as it was
 *
 * References and arrays of ST are such elements (Data.STRef, Data.Array.MArray): each use takes them out of the array
 * of all references, and puts them back. Inner loops and branches take part. Here every value of the array becomes a
 * node `make C ⟨fields⟩` that stands in for its element p, so that reads give this node; simplify resolves what opens
 * it. */
#include "flow/copy.h"
#include "flow/opt/passes.h"

enum { MOST_STEPS = 300 }; /* of a loop, since it stays in the other branch */

typedef struct Carry {
    CtFlow *flow;
    CtFlowFunction *function;
    CtFlowArg index;
    const CtFlowType *node; /* type of the elements */
    uint32_t tag, empty;    /* constructors: of the element in front of each iteration; without fields */
    CtMap arrays;           /* number of a variable that is the array -> NULL, before its node is known */
    CtMap nodes;            /* number of such a variable -> CtFlowArg *: its element, in the copy */
    CtMap makers;           /* number of a node in the copy -> the step that makes it */
    CtFlowCopy copy;
    bool refused;
} Carry;

static bool is_array(const Carry *w, const CtFlowArg *arg) {
    return arg->var != NULL && ct_map_has(&w->arrays, arg->var->id);
}

static void mark(Carry *w, const CtFlowVar *var) { ct_map_set(w->flow->arena, &w->arrays, var->id, NULL); }

/* ---- which variables are the array ---- */

static void mark_in_block(Carry *w, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_UPDATE && is_array(w, &step->args.items[0])) mark(w, step->results.items[0]);
        for (uint32_t j = 0; step->kind == FLOW_LOOP && j < step->as.loop.carried; j++) {
            if (!is_array(w, &step->args.items[1 + j])) continue;
            mark(w, step->as.loop.block->params.items[1 + j]);
            mark(w, step->results.items[j]);
        }
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) {
            const CtFlowBlock *inner = ct_flow_inner(step, j);
            mark_in_block(w, inner);
            for (uint32_t k = 0; step->kind == FLOW_SWITCH && k < inner->values.count; k++)
                if (inner->exit == EXIT_YIELD && is_array(w, &inner->values.items[k])) mark(w, step->results.items[k]);
        }
    }
}

/* ---- the copy of the loop ---- */

static CtFlowArg copy_arg(const Carry *w, CtFlowArg arg) {
    CtFlowArgs one = {.items = &arg, .count = 1, .capacity = 1};
    return ct_flow_copy_args(&w->copy, &one).items[0];
}

static void set_node(Carry *w, const CtFlowVar *array, CtFlowArg node) {
    CtFlowArg *kept = CT_NEW(w->flow->arena, CtFlowArg);
    *kept = node;
    ct_map_set(w->flow->arena, &w->nodes, array->id, kept);
}

static const CtFlowTypes *fields_of(const Carry *w) { return &w->node->data->cons[w->tag].fields; }

/* Makes the node that stands for an array. */
static void make_node(Carry *w, CtFlowBuilder *l, const CtFlowVar *array, const CtFlowArgs *fields) {
    CtFlowArg node = ct_flow_node_make(l, CT_NO_RANGE, w->node, w->tag, fields);
    ct_map_set(w->flow->arena, &w->makers, node.var->id, l->block->steps.items[l->block->steps.count - 1]);
    set_node(w, array, node);
}

/* The fields of the node that stands for an array; it must be known what made it. */
static void push_fields(Carry *w, CtFlowArgs *to, const CtFlowArg *array) {
    const CtFlowArg *node = ct_map_get(&w->nodes, array->var->id);
    const CtFlowStep *make = node != NULL && node->var != NULL ? ct_map_get(&w->makers, node->var->id) : NULL;
    if (make == NULL || make->as.con.tag != w->tag) {
        w->refused = true;
        return;
    }
    for (uint32_t i = 0; i < make->args.count; i++) ct_push(w->flow->arena, to, make->args.items[i]);
}

/* Values in the copy; `arrays`: where they may be the array, which its fields stand for. */
static CtFlowArgs copy_values(Carry *w, const CtFlowArgs *args, uint32_t from, uint32_t to) {
    CtFlowArgs all = {0};
    for (uint32_t i = 0; i < args->count; i++) {
        bool array = is_array(w, &args->items[i]);
        if (array && (i < from || i >= to)) w->refused = true;
        if (array)
            push_fields(w, &all, &args->items[i]);
        else
            ct_push(w->flow->arena, &all, copy_arg(w, args->items[i]));
    }
    return all;
}

static CtFlowArgs fresh_fields(Carry *w, CtFlowBuilder *l, CtFlowVars *to) {
    return ct_flow_params(l, to, "element", fields_of(w));
}

static void copy_steps(Carry *w, CtFlowBuilder *l, const CtFlowBlock *from);

/* A value that is the array in one place must be so in all: of a result, or of a carried variable. */
static void same_in_all(Carry *w, const CtFlowVar *var, const CtFlowArg *value) {
    if (is_array(w, &(CtFlowArg){.var = (CtFlowVar *)var}) != is_array(w, value)) w->refused = true;
}

/* The results of a loop or switch, and behind it the nodes for those that are the array. */
static void copy_results(Carry *w, CtFlowBuilder *l, const CtFlowStep *from, CtFlowStep *to) {
    for (uint32_t i = 0; i < from->results.count; i++) {
        CtFlowVar *result = from->results.items[i];
        if (is_array(w, &(CtFlowArg){.var = result})) {
            CtFlowArgs fields = fresh_fields(w, l, &to->results);
            make_node(w, l, result, &fields);
        } else {
            ct_push(l->arena, &to->results, ct_flow_copy_var(&w->copy, result));
        }
    }
}

static void copy_loop(Carry *w, CtFlowBuilder *l, const CtFlowStep *from) {
    const CtFlowBlock *block = from->as.loop.block;
    uint32_t carried = from->as.loop.carried;
    CtFlowStep *loop = ct_flow_step(l, FLOW_LOOP, from->range);
    CtFlowBuilder inner = {w->flow, l->arena, w->function, ct_flow_block(l)};
    if (from->as.loop.initial) w->refused = true;
    loop->as.loop = from->as.loop;
    loop->as.loop.block = inner.block;
    loop->args = copy_values(w, &from->args, 1, from->args.count);
    loop->as.loop.carried = loop->args.count - 1;
    ct_push(l->arena, &inner.block->params, ct_flow_copy_var(&w->copy, block->params.items[0]));
    for (uint32_t i = 0; i < carried; i++) {
        CtFlowVar *param = block->params.items[1 + i];
        same_in_all(w, param, &block->values.items[i]);
        if (is_array(w, &(CtFlowArg){.var = param})) {
            CtFlowArgs fields = fresh_fields(w, &inner, &inner.block->params);
            make_node(w, &inner, param, &fields);
        } else {
            ct_push(l->arena, &inner.block->params, ct_flow_copy_var(&w->copy, param));
        }
    }
    copy_steps(w, &inner, block);
    CtFlowArgs values = copy_values(w, &block->values, 0, carried);
    ct_flow_leave(&inner, EXIT_YIELD, block->range, &values, NULL);
    copy_results(w, l, from, loop);
}

static void copy_switch(Carry *w, CtFlowBuilder *l, const CtFlowStep *from) {
    CtFlowStep *choice = ct_flow_step(l, FLOW_SWITCH, from->range);
    choice->args = copy_values(w, &from->args, 0, 0);
    choice->as.cases.count = from->as.cases.count;
    choice->as.cases.branches = CT_NEW_ARRAY(l->arena, CtFlowBranch, from->as.cases.count + 1);
    for (uint32_t i = 0; i < from->as.cases.count; i++) {
        const CtFlowBlock *block = from->as.cases.branches[i].block;
        CtFlowBuilder inner = {w->flow, l->arena, w->function, ct_flow_block(l)};
        choice->as.cases.branches[i] = (CtFlowBranch){from->as.cases.branches[i].tag, inner.block};
        copy_steps(w, &inner, block);
        CtFlowArgs values = {0};
        for (uint32_t j = 0; block->exit == EXIT_YIELD && j < block->values.count; j++)
            same_in_all(w, from->results.items[j], &block->values.items[j]);
        if (block->exit == EXIT_YIELD) values = copy_values(w, &block->values, 0, block->values.count);
        ct_flow_leave(&inner, block->exit, block->range, &values, NULL);
    }
    copy_results(w, l, from, choice);
}

static bool is_at_index(const Carry *w, const CtFlowStep *step, uint32_t at) {
    return step->args.count > at && ct_flow_same(&step->args.items[at], &w->index);
}

static void copy_step(Carry *w, CtFlowBuilder *l, const CtFlowStep *step) {
    const CtFlowArg *array = step->kind == FLOW_CHECK ? &step->args.items[1] : &step->args.items[0];
    bool is_access = step->kind == FLOW_CHECK || step->kind == FLOW_READ || step->kind == FLOW_UPDATE;
    if (step->kind == FLOW_LOOP) {
        copy_loop(w, l, step);
    } else if (step->kind == FLOW_SWITCH) {
        copy_switch(w, l, step);
    } else if (!is_access || !is_array(w, array)) {
        for (uint32_t i = 0; i < step->args.count; i++)
            if (is_array(w, &step->args.items[i])) w->refused = true;
        CtFlowStep *copy = ct_flow_copy_step(&w->copy, step);
        if (step->kind == FLOW_MAKE) ct_map_set(l->arena, &w->makers, copy->results.items[0]->id, copy);
        ct_push(l->arena, &l->block->steps, copy);
    } else if (!is_at_index(w, step, step->kind == FLOW_CHECK ? 0 : 1)) {
        w->refused = true;
    } else if (step->kind == FLOW_READ) {
        ct_flow_copy_stands(&w->copy, step->results.items[0], *(CtFlowArg *)ct_map_get(&w->nodes, array->var->id));
    } else if (step->kind == FLOW_UPDATE) {
        set_node(w, step->results.items[0], copy_arg(w, step->args.items[2]));
    }
}

static void copy_steps(Carry *w, CtFlowBuilder *l, const CtFlowBlock *from) {
    for (uint32_t i = 0; i < from->steps.count && !w->refused; i++) copy_step(w, l, from->steps.items[i]);
}

/* ---- the element ---- */

typedef struct Search {
    Carry *w;
    const CtFlowBlock *block;
    bool index, tag;
} Search;

/* The first index at which the array is read, and the first constructor that could be put there. */
static void search(void *data, CtFlowStep *step) {
    Search *s = data;
    if (step->kind == FLOW_READ && !s->index && step->args.count == 2 && is_array(s->w, &step->args.items[0]) &&
        (step->args.items[1].var == NULL || !ct_flow_binds(s->block, step->args.items[1].var))) {
        s->w->index = step->args.items[1];
        s->index = true;
    }
    if (step->kind == FLOW_MAKE && !s->tag && step->args.count > 0 && step->as.con.data == s->w->node->data) {
        s->w->tag = step->as.con.tag;
        s->tag = true;
    }
}

static bool find_element(Carry *w, const CtFlowStep *loop) {
    const CtFlowData *data = w->node->data;
    Search s = {.w = w, .block = loop->as.loop.block};
    for (w->empty = 0; w->empty < data->count && data->cons[w->empty].fields.count > 0;) w->empty++;
    if (w->empty == data->count) return false;
    mark_in_block(w, loop->as.loop.block);
    ct_flow_each_step(loop->as.loop.block, search, &s);
    return s.index && s.tag;
}

/* ---- the rewriting ---- */

/* Whether the index is inside of the array, and the element a C. */
static CtFlowArg write_test(const Carry *w, CtFlowBuilder *l, CtSourceRange range, CtFlowArg array) {
    CtFlowArg no = ct_flow_int(l, 0), yes = ct_flow_int(l, 1);
    CtFlowArgs neither = {.items = &no, .count = 1}, both = {.items = &yes, .count = 1}, it = {0};
    CtFlowArg above = ct_flow_prim_int(l, range, PRIM_INT_LE, no, w->index),
              below = ct_flow_prim_int(l, range, PRIM_INT_LT, w->index, ct_flow_dim(l, range, array, 0));
    CtFlowChoosing inside = ct_flow_switch_begin(l, range, ct_flow_prim_int(l, range, PRIM_INT_AND, above, below));
    ct_flow_case_begin(l, &inside, 0);
    ct_flow_case_end(l, &inside, &neither);
    ct_flow_case_begin(l, &inside, FLOW_OTHERS);
    CtFlowChoosing choice = ct_flow_switch_begin(l, range, ct_flow_read(l, range, array, &w->index, 1));
    ct_flow_case_begin(l, &choice, w->tag);
    ct_flow_case_end(l, &choice, &both);
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    ct_flow_case_end(l, &choice, &neither);
    it = ct_flow_switch_end(l, &choice);
    ct_flow_case_end(l, &inside, &it);
    return ct_flow_switch_end(l, &inside).items[0];
}

/* The loop that carries the element; while it runs, the array has another in its place. False: there is none. */
static bool write_loop(Carry *w, CtFlowBuilder *l, const CtFlowStep *loop, uint32_t carried) {
    CtFlowArg array = loop->args.items[1 + carried];
    CtFlowArg node = ct_flow_read(l, loop->range, array, &w->index, 1);
    CtFlowArg empty = ct_flow_node_make(l, loop->range, w->node, w->empty, NULL);
    CtFlowArg rest = ct_flow_update(l, loop->range, array, &w->index, 1, empty);
    CtFlowArgs fields = ct_flow_node_open(l, loop->range, node, w->tag, "element"), values = {0};
    make_node(w, l, array.var, &fields);
    copy_loop(w, l, loop);
    if (w->refused) return false;
    for (uint32_t i = 0; i < loop->results.count; i++) {
        CtFlowVar *result = loop->results.items[i];
        const CtFlowArg *last = ct_map_get(&w->nodes, result->id);
        ct_push(l->arena, &values,
                last == NULL ? flow_of(ct_flow_copy_var(&w->copy, result))
                             : ct_flow_update(l, loop->range, rest, &w->index, 1, *last));
    }
    ct_flow_leave(l, EXIT_YIELD, loop->range, &values, NULL);
    return true;
}

static CtFlowBlock *copy_as_it_is(CtFlow *flow, CtFlowFunction *function, const CtFlowStep *loop) {
    CtFlowBuilder l = {flow, flow->arena, function, CT_NEW(flow->arena, CtFlowBlock)};
    CtFlowCopy copy = {.flow = flow, .into = function};
    CtFlowStep *step = ct_flow_copy_step(&copy, loop);
    CtFlowArgs values = {0};
    ct_push(l.arena, &l.block->steps, step);
    for (uint32_t i = 0; i < step->results.count; i++) ct_push(l.arena, &values, flow_of(step->results.items[i]));
    ct_flow_leave(&l, EXIT_YIELD, loop->range, &values, NULL);
    return l.block;
}

/* Rewrites a loop for one of the arrays that it carries; false: it stays. */
static bool rewrite(CtFlow *flow, CtFlowFunction *function, CtFlowBlock *to, CtFlowStep *loop, uint32_t carried) {
    const CtFlowArg *array = &loop->args.items[1 + carried];
    const CtFlowType *type = array->type;
    if (type->kind != FLOW_ARRAY || type->rank != 1 || type->element->kind != FLOW_NODE || array->var == NULL)
        return false;
    for (uint32_t i = 0; i < loop->args.count; i++)
        if (i != 1 + carried && loop->args.items[i].var == array->var) return false;
    Carry w = {.flow = flow, .function = function, .node = type->element, .copy = {.flow = flow, .into = function}};
    mark(&w, array->var);
    mark(&w, loop->as.loop.block->params.items[1 + carried]);
    mark(&w, loop->results.items[carried]);
    CtFlowBuilder l = {flow, flow->arena, function, CT_NEW(flow->arena, CtFlowBlock)};
    if (!find_element(&w, loop)) return false;
    CtFlowBlock *fast = l.block;
    if (!write_loop(&w, &l, loop, carried)) return false;
    CT_FIRED("carried_elements.loop");
    CtFlowExit exit = to->exit;
    to->exit = EXIT_OPEN;
    l.block = to;
    CtFlowArg fits = write_test(&w, &l, loop->range, *array);
    to->exit = exit;
    CtFlowStep *choice = CT_NEW(flow->arena, CtFlowStep);
    choice->kind = FLOW_SWITCH;
    choice->range = loop->range;
    ct_push(flow->arena, &choice->args, fits);
    choice->as.cases.branches = CT_NEW_ARRAY(flow->arena, CtFlowBranch, 2);
    choice->as.cases.count = 2;
    choice->as.cases.branches[0] = (CtFlowBranch){1, fast};
    choice->as.cases.branches[1] = (CtFlowBranch){FLOW_OTHERS, copy_as_it_is(flow, function, loop)};
    choice->results = loop->results;
    ct_push(flow->arena, &to->steps, choice);
    return true;
}

static bool rewrite_any(CtFlow *flow, CtFlowFunction *function, CtFlowBlock *to, CtFlowStep *step) {
    if (step->kind != FLOW_LOOP || ct_flow_size(step->as.loop.block) > MOST_STEPS) return false;
    for (uint32_t i = 0; i < step->as.loop.carried; i++)
        if (rewrite(flow, function, to, step, i)) return true;
    return false;
}

static void visit(CtFlow *flow, CtFlowFunction *function, CtFlowBlock *block) {
    CtFlowBlock old = *block;
    memset(&block->steps, 0, sizeof block->steps);
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        if (rewrite_any(flow, function, block, step)) continue;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(flow, function, ct_flow_inner(step, j));
        ct_push(flow->arena, &block->steps, step);
    }
}

void ct_flow_carried_elements(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++)
        visit(flow, flow->functions.items[i], flow->functions.items[i]->body);
}
