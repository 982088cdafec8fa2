/* The form of a recursion along lists: which it opens, how far each iteration goes, what stands at the end. */
#include "core/list_recursion.h"

#include "base/rules.h"

static CtArena *arena_of(CtRecursion *r) { return r->p->context->arena; }
static CtCore *use(CtRecursion *r, CtVar *var) { return ct_core_var(r->p, r->lists.range, var); }
static CtCore *number(CtRecursion *r, int64_t value) { return ct_core_int(r->p, r->lists.range, value); }

static CtCore *prim2(CtRecursion *r, CtPrim prim, CtCore *a, CtCore *b) {
    return ct_core_prim2(r->p, r->lists.range, prim, a, b);
}

static bool is_var(const CtCore *core, const CtVar *var) { return core->kind == CORE_VAR && core->as.var == var; }

static int param_of(const CtRecursion *r, const CtCore *core) {
    for (uint32_t i = 0; core->kind == CORE_VAR && i < r->lam->count; i++)
        if (r->lam->params[i] == core->as.var) return (int)i;
    return -1;
}

bool ct_core_recursion_is_values(const CtType *type) {
    if (!ct_core_list_is_list(type)) return false;
    CtTypeKind kind = ct_core_list_element(type)->kind;
    return kind != TYPE_CHAR && kind != TYPE_ARRAY && kind != TYPE_FUN;
}

bool ct_core_recursion_is_empty(const CtCore *core) { return core->kind == CORE_CON && core->as.call.count == 0; }

static bool is_self(const CtRecursion *r, const CtCore *core) {
    if (core->kind == CORE_VAR) return r->var != NULL && core->as.var == r->var;
    return core->kind == CORE_GLOBAL && r->global != NULL && core->as.global == r->global;
}

bool ct_core_recursion_is_call(const CtRecursion *r, const CtCore *core) {
    return core->kind == CORE_APP && is_self(r, core->as.call.of.fun);
}

bool ct_core_recursion_has_call(CtRecursion *r, CtCore *core) {
    CtCoreList work = {0};
    ct_push(arena_of(r), &work, core);
    while (work.count > 0) {
        CtCore *one = work.items[--work.count];
        if (is_self(r, one)) return true;
        ct_core_children(arena_of(r), one, &work);
    }
    return false;
}

/* Whether a variable is bound within the function. */
static bool is_bound(CtRecursion *r, const CtVar *var) {
    CtCoreList work = {0};
    ct_push(arena_of(r), &work, r->lam->body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        bool let = core->kind == CORE_LET || core->kind == CORE_UNPACK;
        for (uint32_t i = 0; let && i < core->as.let.count; i++)
            if (core->as.let.vars[i] == var) return true;
        for (uint32_t i = 0; core->kind == CORE_LAM && i < core->as.lam->count; i++)
            if (core->as.lam->params[i] == var) return true;
        for (uint32_t i = 0; core->kind == CORE_CASE && i < core->as.cases.count; i++)
            for (uint32_t j = 0; j < core->as.cases.cases[i].con->count; j++)
                if (core->as.cases.cases[i].vars[j] == var) return true;
        ct_core_children(arena_of(r), core, &work);
    }
    return false;
}

/* ---- cells that are opened ---- */

/* case list of { [] → none; x : rest → some }; `vars` is NULL where some has none. */
typedef struct Opening {
    CtCore *none, *some;
    CtVar **vars;
} Opening;

static bool opening_of(const CtCore *core, Opening *o) {
    if (core->kind != CORE_CASE || !ct_core_recursion_is_values(core->as.cases.scrutinee->type)) return false;
    *o = (Opening){core->as.cases.otherwise, core->as.cases.otherwise, NULL};
    for (uint32_t i = 0; i < core->as.cases.count; i++) {
        const CtCase *one = &core->as.cases.cases[i];
        if (one->con->count == 0)
            o->none = one->body;
        else
            o->some = one->body, o->vars = one->vars;
    }
    return o->none != NULL && o->some != NULL && o->none != o->some;
}

/* The list of which a variable is the whole, or what is left behind *depth cells. */
static CtAlong *along_of(CtRecursion *r, const CtCore *core, uint32_t *depth) {
    for (uint32_t i = 0; core->kind == CORE_VAR && i < r->along_count; i++) {
        CtAlong *along = &r->along[i];
        *depth = 0;
        if (core->as.var == r->lam->params[along->param]) return along;
        for (*depth = 1; *depth <= along->count; ++*depth)
            if (core->as.var == along->tails[*depth - 1]) return along;
    }
    return NULL;
}

static CtVar *named(CtRecursion *r, CtVar *var, const char *name, CtType *type) {
    return var != NULL ? var : ct_core_var_new(r->p, name, type);
}

/* Notes one more cell of a list; false: the case is part of the leaf. */
static bool open_cell(CtRecursion *r, const CtCore *core, const Opening *o) {
    CtCore *scrutinee = core->as.cases.scrutinee;
    if (ct_core_recursion_has_call(r, o->none)) return false;
    uint32_t depth = 0;
    CtAlong *along = along_of(r, scrutinee, &depth);
    if (along != NULL && (depth != along->count || depth == MOST_OPENED)) return false;
    if (along == NULL) {
        int param = param_of(r, scrutinee);
        if (param < 0 || r->along_count == MOST_LISTS) return false;
        along = &r->along[r->along_count++];
        *along = (CtAlong){.param = (uint32_t)param};
    }
    CtType *list = scrutinee->type;
    along->heads[along->count] = named(r, o->vars != NULL ? o->vars[0] : NULL, "x", ct_core_list_element(list));
    along->tails[along->count++] = named(r, o->vars != NULL ? o->vars[1] : NULL, "rest", list);
    return true;
}

/* Cases along all lists that are opened, with what is bound between them. */
static void open_lists(CtRecursion *r) {
    CtCore *core = r->leaf = r->lam->body;
    for (;;) {
        Opening o;
        bool binds = core->kind == CORE_LET || core->kind == CORE_UNPACK;
        if (binds && ct_core_is_total(core->as.let.rhs) && core->as.let.rhs->kind != CORE_LAM)
            core = core->as.let.body;
        else if (opening_of(core, &o) && open_cell(r, core, &o))
            core = r->leaf = o.some;
        else
            return;
    }
}

/* ---- calls ---- */

/* How many cells further a call goes; 0: it does not. */
static uint32_t step_of(const CtAlong *along, const CtCore *arg) {
    for (uint32_t i = 0; i < along->count; i++)
        if (is_var(arg, along->tails[i])) return i + 1;
    for (uint32_t i = 1; i < along->count; i++) {
        const CtCore *rest = arg;
        uint32_t next = i;
        while (next < along->count && rest->kind == CORE_CON && rest->as.call.count == 2 &&
               is_var(rest->as.call.args[0], along->heads[next])) {
            rest = rest->as.call.args[1];
            next++;
        }
        if (next > i && is_var(rest, along->tails[next - 1])) return i;
    }
    return 0;
}

/* take size list, or drop size list, for a list that is opened to see whether it has an end; NULL: another term. */
static CtAlong *part_of(CtRecursion *r, const CtCore *core, CtListFunction function) {
    if (core->kind != CORE_APP || ct_core_list_call(core) != function) return NULL;
    uint32_t depth;
    CtCore *size = core->as.call.args[0];
    CtAlong *along = along_of(r, core->as.call.args[1], &depth);
    if (along == NULL || depth != 0 || along->count != 1) return NULL;
    if (size->kind != CORE_LIT && size->kind != CORE_VAR) return NULL;
    if (along->size == NULL) {
        if (size->kind == CORE_VAR && param_of(r, size) < 0 && is_bound(r, size->as.var)) return NULL;
        along->size = size;
        along->part = ct_core_var_new(r->p, "part", r->lam->params[along->param]->type);
    }
    bool same = size->kind == along->size->kind &&
                (size->kind == CORE_VAR ? size->as.var == along->size->as.var
                                        : size->as.lit.integer == along->size->as.lit.integer);
    return same ? along : NULL;
}

static CtAlong *along_at(CtRecursion *r, uint32_t param) {
    for (uint32_t i = 0; i < r->along_count; i++)
        if (r->along[i].param == param) return &r->along[i];
    return NULL;
}

static void look_at_call(CtRecursion *r, CtCore *core, CtCoreList *work) {
    r->calls++;
    for (uint32_t i = 0; i < r->lam->count; i++) {
        CtCore *arg = core->as.call.args[i];
        CtAlong *along = along_at(r, i);
        if (along != NULL) {
            bool drops = part_of(r, arg, LIST_DROP) == along;
            uint32_t step = drops ? 1 : step_of(along, arg);
            bool other = along->step != 0 && (along->step != step || along->drops != drops);
            if (step == 0 || other) r->refused = true;
            along->step = step;
            along->drops = drops;
            continue;
        }
        bool grows = ct_core_recursion_is_values(arg->type) && arg->kind == CORE_CON && arg->as.call.count == 2 &&
                     param_of(r, arg->as.call.args[1]) == (int)i;
        ct_push(arena_of(r), work, grows ? arg->as.call.args[0] : arg);
        if (param_of(r, arg) == (int)i && !r->grown[i]) continue;
        if (!r->states[i]) {
            r->states[i] = true;
            r->state_count++;
            r->grown[i] = grows && r->calls == 1;
        }
        r->grown[i] = r->grown[i] && grows;
    }
}

/* Looks at all calls, and whether the function, the lists and what is left of them have other uses. */
static void look(CtRecursion *r, CtCore *body) {
    CtCoreList work = {0};
    uint32_t depth;
    ct_push(arena_of(r), &work, body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        int param = param_of(r, core);
        if (param >= 0) r->seen[param] = true;
        if (is_self(r, core) || along_of(r, core, &depth) != NULL) r->refused = true;
        if (ct_core_recursion_is_call(r, core))
            look_at_call(r, core, &work);
        else if (part_of(r, core, LIST_TAKE) == NULL)
            ct_core_children(arena_of(r), core, &work);
    }
}

/* The leaf with variables for the parts that it takes. */
static CtCore *name_parts(void *data, CtCore *core) {
    CtRecursion *r = data;
    const CtAlong *along = part_of(r, core, LIST_TAKE);
    return along != NULL ? use(r, along->part) : ct_core_map(r->p, core, name_parts, data);
}

/* ---- the end ---- */

static CtVar *array_of(CtRecursion *r, CtAlong *along) {
    if (along->array == NULL) {
        CtType *list = r->lam->params[along->param]->type;
        along->array = ct_core_var_new(r->p, "elements", ct_core_type_array(r->p, ct_core_list_element(list)));
    }
    return along->array;
}

static CtCore *length_of(CtRecursion *r, CtAlong *along) {
    CtCore *array = use(r, array_of(r, along));
    return ct_core_array(r->p, r->lists.range, ARRAY_LENGTH, &array, 1);
}

/* ---- parts of a size below 1 ---- */

static CtCore *memory_ends(CtRecursion *r, CtType *type) {
    return ct_core_fail(r->p, r->leaf->range, type, CT_E0801, "the run needs more memory than it may use", NULL);
}

/* What is evaluated for an argument of a call, if that may fail; NULL: it cannot. */
static CtCore *failing_arg(CtRecursion *r, const CtCore *call, uint32_t index) {
    CtCore *arg = call->as.call.args[index];
    if (along_at(r, index) != NULL) return NULL;
    if (r->grown[index]) arg = arg->as.call.args[0];
    return ct_core_is_total(arg) ? NULL : arg;
}

/* The leaf with calls that never come back: their arguments are evaluated, then memory ends. */
static CtCore *end_calls(void *data, CtCore *core) {
    CtRecursion *r = data;
    if (!ct_core_recursion_is_call(r, core)) return ct_core_map(r->p, core, end_calls, data);
    CtCore *end = memory_ends(r, core->type);
    for (uint32_t i = r->lam->count; i-- > 0;) {
        CtCore *arg = failing_arg(r, core, i);
        if (arg != NULL) end = ct_core_let(r->p, core->range, ct_core_var_new(r->p, "arg", arg->type), arg, end);
    }
    return end;
}

/* The leaf with variables for the calls whose arguments cannot fail. */
static CtCore *name_calls(void *data, CtCore *core) {
    CtRecursion *r = data;
    if (!ct_core_recursion_is_call(r, core)) return ct_core_map(r->p, core, name_calls, data);
    for (uint32_t i = 0; i < r->lam->count; i++)
        if (failing_arg(r, core, i) != NULL) return core;
    return use(r, ct_core_var_new(r->p, "r", core->type));
}

static bool only_calls_fail(CtRecursion *r) { return ct_core_is_total(name_calls(r, r->leaf)); }

static bool is_positive(const CtCore *size) { return size->kind == CORE_LIT && size->as.lit.integer >= 1; }

/* A recursion along parts of a size below 1 fails once its calls fill the memory, at the same place, if nothing fails
 * before that. Without states all iterations do the same, so the first, for a part without elements, tells. */
static CtCore *endless(CtRecursion *r, const CtAlong *along) {
    CtSourceRange range = r->lists.range;
    CtCore *end = memory_ends(r, r->p->int_type);
    if (only_calls_fail(r)) return end;
    CT_FIRED("lists.recursion_without_end");
    CtType *list = along->part->type;
    CtCore *none = ct_core_array_lit(r->p, range, ct_core_list_element(list), NULL, 0);
    CtCore *first =
        ct_core_let(r->p, range, along->part, ct_core_list_of_array(r->p, none, list), end_calls(r, r->leaf));
    first = ct_core_copy(r->p, first, NULL);
    return ct_core_let(r->p, range, ct_core_var_new(r->p, "first", first->type), first, end);
}

/* Whether a failure in an iteration would come in front of the end of memory, but only by the states of a later one. */
static bool fails_later(CtRecursion *r) {
    for (uint32_t i = 0; i < r->along_count; i++)
        if (r->along[i].size != NULL && !is_positive(r->along[i].size))
            return r->state_count > 0 && !only_calls_fail(r);
    return false;
}

/* ---- the length of the recursion ---- */

/* How many iterations a list is long enough for. */
static CtCore *rounds_of(CtRecursion *r, CtAlong *along) {
    CtSourceRange range = r->lists.range;
    if (along->size != NULL) {
        CtCore *none = prim2(r, PRIM_INT_LT, length_of(r, along), number(r, 1));
        CtCore *below = prim2(r, PRIM_INT_LT, ct_core_copy(r->p, along->size, NULL), number(r, 1));
        CtCore *last = prim2(r, PRIM_INT_SUB, length_of(r, along), number(r, 1));
        last = prim2(r, PRIM_INT_DIV, last, ct_core_copy(r->p, along->size, NULL));
        CtCore *some = prim2(r, PRIM_INT_ADD, last, number(r, 1));
        if (!is_positive(along->size)) some = ct_core_if(r->p, range, below, endless(r, along), some);
        return ct_core_if(r->p, range, none, number(r, 0), some);
    }
    if (along->count == 1) return length_of(r, along);
    CtCore *more = prim2(r, PRIM_INT_SUB, length_of(r, along), number(r, (int64_t)along->count - along->step));
    more = prim2(r, PRIM_INT_MAX, more, number(r, 0));
    return along->step == 1 ? more : prim2(r, PRIM_INT_DIV, more, number(r, along->step));
}

/* The index of the first element that no iteration goes behind. */
static CtCore *begin_of(CtRecursion *r, CtAlong *along) {
    CtCore *size = along->size != NULL ? ct_core_copy(r->p, along->size, NULL) : number(r, along->step);
    CtCore *rounds = use(r, r->rounds);
    return size->kind == CORE_LIT && size->as.lit.integer == 1 ? rounds : prim2(r, PRIM_INT_MUL, rounds, size);
}

static CtCore *bind_head(CtRecursion *r, CtAlong *along, uint32_t depth, CtVar *head, CtCore *body) {
    if (head == NULL || !ct_core_list_occurs(&r->lists, body, head)) return body;
    CtCore *at = begin_of(r, along);
    if (depth > 0) at = prim2(r, PRIM_INT_ADD, at, number(r, depth));
    CtCore *args[] = {use(r, array_of(r, along)), at};
    CtCore *item = ct_core_array(r->p, r->lists.range, ARRAY_INDEX, args, 2);
    return ct_core_let(r->p, r->lists.range, head, item, body);
}

/* What the function gives once the iterations are done, by what is left of the lists; NULL for the leaf. */
static CtCore *end_of(CtRecursion *r, CtCore *core) {
    if (core == r->leaf) return NULL;
    if (core->kind == CORE_LET || core->kind == CORE_UNPACK) {
        CtCore *body = end_of(r, core->as.let.body);
        if (body == NULL || body == core->as.let.body) return body == NULL ? NULL : core;
        if (core->kind == CORE_LET) return ct_core_let(r->p, core->range, core->as.let.vars[0], core->as.let.rhs, body);
        return ct_core_unpack(r->p, core->range, core->as.let.vars, core->as.let.count, core->as.let.rhs, body);
    }
    Opening o;
    uint32_t depth;
    CtAlong *along = opening_of(core, &o) ? along_of(r, core->as.cases.scrutinee, &depth) : NULL;
    if (along == NULL) return core;
    CtCore *none = end_of(r, o.none), *some = end_of(r, o.some);
    if (some == NULL) return none;
    if (along->size != NULL || depth >= MOST_OPENED) r->refused = true;
    some = bind_head(r, along, depth, o.vars != NULL ? o.vars[0] : NULL, some);
    CtCore *left = prim2(r, PRIM_INT_SUB, length_of(r, along), begin_of(r, along));
    CtCore *ends = prim2(r, PRIM_INT_LT, left, number(r, (int64_t)depth + 1));
    return ct_core_if(r->p, core->range, ends, none, some);
}

/* Whether the function gives a value only where all of its lists have ended (bits of those that have). If one list may
 * be much longer than another, what is left of it must not be looked at as an array: making that takes as long as the
 * list. */
static bool ends_together(CtRecursion *r, CtCore *core, uint32_t ended) {
    Opening o;
    uint32_t depth;
    if (core == r->leaf || core->kind == CORE_FAIL) return true;
    if (core->kind == CORE_LET || core->kind == CORE_UNPACK) return ends_together(r, core->as.let.body, ended);
    const CtAlong *along = opening_of(core, &o) ? along_of(r, core->as.cases.scrutinee, &depth) : NULL;
    if (along == NULL) return ended + 1 == UINT32_C(1) << r->along_count;
    return ends_together(r, o.none, ended | UINT32_C(1) << (along - r->along)) && ends_together(r, o.some, ended);
}

/* Whether the ends of two lists are the same. */
static bool same_end(const CtCore *a, const CtCore *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == CORE_VAR) return a->as.var == b->as.var;
    if (a->kind == CORE_LIT)
        return a->type->kind == TYPE_INT ? a->as.lit.integer == b->as.lit.integer
                                         : memcmp(&a->as.lit.real, &b->as.lit.real, sizeof a->as.lit.real) == 0;
    return ct_core_recursion_is_empty(a) && ct_core_recursion_is_empty(b) && a->as.call.of.con == b->as.call.of.con;
}

/* The end, if it is the same whatever is left. */
static CtCore *only_end(CtRecursion *r) {
    CtCore *only = NULL, *core = r->lam->body;
    uint32_t ends = 0;
    bool binds = false;
    Opening o;
    while (core != r->leaf) {
        if (core->kind == CORE_CASE && opening_of(core, &o)) {
            if (only != NULL && !same_end(only, o.none)) return NULL;
            only = o.none;
            core = o.some;
            ends++;
        } else {
            core = core->as.let.body;
            binds = true;
        }
    }
    bool atom = only->kind == CORE_LIT || ct_core_recursion_is_empty(only) || param_of(r, only) >= 0;
    return (ends == 1 && !binds) || atom ? only : NULL;
}

/* The leaf, from the beginning of the function on: with what is bound between the cells that it opens. */
static CtCore *leaf_of(CtRecursion *r, CtCore *core) {
    if (core == r->leaf) return name_parts(r, core);
    Opening o;
    if (core->kind == CORE_CASE && opening_of(core, &o)) return leaf_of(r, o.some);
    look(r, core->as.let.rhs);
    CtCore *body = leaf_of(r, core->as.let.body);
    if (core->kind == CORE_LET) return ct_core_let(r->p, core->range, core->as.let.vars[0], core->as.let.rhs, body);
    return ct_core_unpack(r->p, core->range, core->as.let.vars, core->as.let.count, core->as.let.rhs, body);
}

/* Whether what is known of the lists fits together. */
static bool fits(CtRecursion *r) {
    for (uint32_t i = 0; i < r->along_count; i++) {
        const CtAlong *along = &r->along[i];
        int size = along->size != NULL ? param_of(r, along->size) : -1;
        /* with a size below 1 the recursion goes on until another list ends */
        if (r->along_count > 1 && along->size != NULL && !is_positive(along->size)) return false;
        if (along->drops != (along->size != NULL) || (size >= 0 && r->states[size])) return false;
        if (along->drops && ct_core_list_occurs(&r->lists, r->leaf, along->heads[0])) return false;
    }
    return !r->refused;
}

bool ct_core_recursion_form(CtRecursion *r) {
    open_lists(r);
    if (r->along_count == 0) return false;
    look(r, r->leaf);
    uint32_t calls = r->calls;
    if (calls == 0 || !fits(r)) return false;
    r->end = only_end(r);
    CtCore *leaf = leaf_of(r, r->lam->body);
    for (uint32_t i = 0; i < r->lam->count; i++) {
        r->grown[i] = r->grown[i] && !r->seen[i];
        if (!r->grown[i]) continue;
        r->grown_count++;
        r->state_count--;
        r->states[i] = false;
    }
    if (r->end == NULL && r->along_count > 1 && !ends_together(r, r->lam->body, 0)) return false;
    if (r->end == NULL) {
        r->rounds = ct_core_var_new(r->p, "rounds", r->p->int_type);
        r->end = end_of(r, r->lam->body);
    }
    r->leaf = leaf;
    look(r, r->end);
    return r->calls == calls && !r->refused && !fails_later(r);
}

/* ---- elements ---- */

static CtType *heads_type(CtRecursion *r, const CtAlong *along, uint32_t from) {
    if (along->size != NULL) return along->part->type;
    CtType *type = along->heads[from]->type;
    return from + 1 == along->count ? type : ct_core_type_pair(r->p, type, heads_type(r, along, from + 1));
}

static CtType *along_type(CtRecursion *r, uint32_t index) { return heads_type(r, &r->along[index], 0); }

CtType *ct_core_recursion_element_type(CtRecursion *r, uint32_t from) {
    CtType *first = along_type(r, from);
    if (from + 1 == r->along_count) return first;
    return ct_core_type_pair(r->p, first, ct_core_recursion_element_type(r, from + 1));
}

static CtCore *opened_pair(CtRecursion *r, CtCore *pair, CtVar *first, CtVar *second, CtCore *body) {
    CtVar *vars[] = {first, second};
    return ct_core_unpack(r->p, r->lists.range, vars, 2, pair, body);
}

/* The body with the variables of one list's element, from the given one on, which is in `element`. */
static CtCore *with_heads(CtRecursion *r, const CtAlong *along, uint32_t from, CtVar *element, CtCore *body) {
    CtVar *head = along->size != NULL ? along->part : along->heads[from];
    if (along->size != NULL || from + 1 == along->count)
        return ct_core_let(r->p, r->lists.range, head, use(r, element), body);
    CtVar *others = ct_core_var_new(r->p, "others", heads_type(r, along, from + 1));
    return opened_pair(r, use(r, element), head, others, with_heads(r, along, from + 1, others, body));
}

CtCore *ct_core_recursion_with_elements(CtRecursion *r, uint32_t from, CtVar *element, CtCore *body) {
    if (from + 1 == r->along_count) return with_heads(r, &r->along[from], 0, element, body);
    CtVar *first = ct_core_var_new(r->p, "x", along_type(r, from));
    CtVar *others = ct_core_var_new(r->p, "others", ct_core_recursion_element_type(r, from + 1));
    body = ct_core_recursion_with_elements(r, from + 1, others, body);
    body = with_heads(r, &r->along[from], 0, first, body);
    return opened_pair(r, use(r, element), first, others, body);
}

/* What iteration i opens of a list, from the given cell on. */
static CtCore *opened_at(CtRecursion *r, CtAlong *along, uint32_t from, CtVar *i) {
    CtSourceRange range = r->lists.range;
    if (along->size != NULL) {
        CtVar *begin = ct_core_var_new(r->p, "begin", r->p->int_type);
        CtCore *left = prim2(r, PRIM_INT_SUB, length_of(r, along), use(r, begin));
        CtCore *count = prim2(r, PRIM_INT_MIN, ct_core_copy(r->p, along->size, NULL), left);
        CtCore *args[] = {use(r, begin), count, use(r, array_of(r, along))};
        CtCore *slice = ct_core_array(r->p, range, ARRAY_SLICE, args, 3);
        CtCore *list = ct_core_list_of_array(r->p, slice, along->part->type);
        CtCore *at = prim2(r, PRIM_INT_MUL, use(r, i), ct_core_copy(r->p, along->size, NULL));
        return ct_core_let(r->p, range, begin, at, list);
    }
    CtCore *at = along->step == 1 ? use(r, i) : prim2(r, PRIM_INT_MUL, use(r, i), number(r, along->step));
    if (from > 0) at = prim2(r, PRIM_INT_ADD, at, number(r, from));
    CtCore *args[] = {use(r, array_of(r, along)), at}, *item = ct_core_array(r->p, range, ARRAY_INDEX, args, 2);
    if (from + 1 == along->count) return item;
    return ct_core_pair(r->p, range, item, opened_at(r, along, from + 1, i));
}

/* The list of what the iterations open of one list. */
CtCore *ct_core_recursion_along(CtRecursion *r, uint32_t index) {
    CtAlong *along = &r->along[index];
    CtVar *list = r->lam->params[along->param];
    if (along->count == 1 && along->size == NULL) return use(r, list);
    CT_FIRED("lists.recursion_parts");
    CtVar *i = ct_core_var_new(r->p, "i", r->p->int_type);
    CtCore *fun = ct_core_lam(r->p, r->lists.range, NULL, &i, 1, opened_at(r, along, 0, i));
    CtCore *args[] = {rounds_of(r, along), fun};
    CtCore *array = ct_core_array(r->p, r->lists.range, ARRAY_BUILD, args, 2);
    return ct_core_list_of_array(r->p, array, ct_core_list_type_like(r->p, list->type, along_type(r, index)));
}

CtCore *ct_core_recursion_elements(CtRecursion *r, uint32_t from) {
    CtCore *list = ct_core_recursion_along(r, from);
    if (from + 1 == r->along_count) return list;
    CtVar *vars[] = {ct_core_var_new(r->p, "x", along_type(r, from)),
                     ct_core_var_new(r->p, "y", ct_core_recursion_element_type(r, from + 1))};
    CtCore *pair = ct_core_pair(r->p, r->lists.range, use(r, vars[0]), use(r, vars[1]));
    CtCore *fun = ct_core_lam(r->p, r->lists.range, NULL, vars, 2, pair);
    CtType *pairs = ct_core_list_type_like(r->p, list->type, pair->type);
    return ct_core_list_zipped(r->p, fun, list, ct_core_recursion_elements(r, from + 1), pairs);
}

CtCore *ct_core_recursion_with_arrays(CtRecursion *r, CtCore *body) {
    CtSourceRange range = r->lists.range;
    if (r->rounds != NULL) {
        CtCore *rounds = rounds_of(r, &r->along[0]);
        for (uint32_t i = 1; i < r->along_count; i++)
            rounds = prim2(r, PRIM_INT_MIN, rounds, rounds_of(r, &r->along[i]));
        body = ct_core_let(r->p, range, r->rounds, rounds, body);
    }
    for (uint32_t i = 0; i < r->along_count; i++) {
        CtAlong *along = &r->along[i];
        if (along->array == NULL) continue;
        CtCore *array = ct_core_list_from_list(r->p, use(r, r->lam->params[along->param]));
        body = ct_core_let(r->p, range, along->array, array, body);
    }
    return body;
}
