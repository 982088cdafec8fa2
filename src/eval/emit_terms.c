/* The span of independent terms: of the calls and loops among the values of a chain of lets and the operands in them
 * and at its end. A term begins when those that it depends on have ended, not when the one in front of it has.
 * Generates nothing unless spans are measured.
 *
 * A term depends on another one that it uses, directly or by what bounded terms have made of it. Terms without calls
 * and loops are bounded by the text, and count as steps in sequence. A term also depends on one that reads an array
 * which it may update in place, since the sequence allows that: when both use a variable that contains arrays of a type
 * of which it updates any, as far as the text tells. */
#include "eval/compile.h"
#include "eval/fused.h"

enum {
    TEXT = 4000, /* a term with more nodes is not examined, and ends a group */
    MOST = 64    /* the number of terms in a group */
};

/* Terms of which at least two are independent. */
typedef struct Group {
    Span
        span; /* begin: with the steps between terms; best: the latest end, in terms alone; mark: end of the last one */
    uint32_t count;
    uint32_t ends[MOST]; /* slots: when each has ended, in terms alone */
    bool begun;
} Group;

struct Term {
    Group *group;
    uint32_t index;
    uint64_t after; /* the terms of the group that it depends on directly, as bits */
};

typedef struct Item {
    CtCore *core;
    CT_VEC(CtVar *) uses;
    uint64_t after;
    bool is_bounded, is_long;
} Item;

/* The terms of a group that something depends on, as bits. */
typedef struct Made {
    uint64_t group, by;
} Made;

typedef struct Plan {
    Compile *c;
    CT_VEC(Item *) members;
    CtMap made; /* CtVar * -> Made */
    uint64_t group;
} Plan;

/* ---- what a term does ---- */

typedef struct Visit {
    CtCore *core;
    bool runs; /* it is evaluated with the term, not by a later call */
} Visit;

static bool is_loop(const CtCore *e) {
    if (e->kind != CORE_ARRAY) return false;
    CtArrayOp op = e->as.call.of.array;
    return op != ARRAY_INDEX && op != ARRAY_LENGTH && op != ARRAY_UPDATE && op != ARRAY_SNOC;
}

/* Collects the variables that occur in a term, and finds out whether its steps are bounded. */
static void examine(Compile *c, Item *item) {
    CT_VEC(Visit) todo = {0};
    CtCoreList children = {0};
    uint32_t nodes = 0;
    item->is_bounded = true;
    ct_push(c->arena, &todo, (Visit){item->core, true});
    while (todo.count > 0) {
        Visit at = todo.items[--todo.count];
        if (++nodes > TEXT) {
            item->is_long = true;
            return;
        }
        if (is_var(at.core)) ct_push(c->arena, &item->uses, at.core->as.var);
        if (at.runs && (at.core->kind == CORE_APP || is_loop(at.core))) item->is_bounded = false;
        bool applies = at.core->kind == CORE_APP || at.core->kind == CORE_ARRAY;
        children.count = 0;
        ct_core_children(c->arena, at.core, &children);
        for (uint32_t i = 0; i < children.count; i++) {
            bool is_function = children.items[i]->kind == CORE_LAM && !applies;
            ct_push(c->arena, &todo, (Visit){children.items[i], at.runs && !is_function});
        }
    }
}

/* ---- arrays that are updated ---- */

typedef struct Updates {
    Compile *c;
    CtCoreList todo;
    CT_VEC(CtType *) types;
    CtMap seen, functions; /* CtLam * that are looked at; CtVar * -> CtLam * of recursive groups */
    uint32_t nodes;
    bool any; /* a function is called that the text does not tell */
} Updates;

static void add_group(Updates *u, CtVar *const *vars, CtLam *const *lams, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) ct_map_set(u->c->arena, &u->functions, ct_key(vars[i]), lams[i]);
}

static void look_at(Updates *u, CtLam *lam) {
    if (lam == NULL) {
        u->any = true;
        return;
    }
    if (ct_map_has(&u->seen, ct_key(lam))) return;
    ct_map_set(u->c->arena, &u->seen, ct_key(lam), lam);
    if (lam->group != NULL) add_group(u, lam->group_vars, lam->group, lam->group_count);
    ct_push(u->c->arena, &u->todo, lam->body);
}

static void call(Updates *u, const CtCore *fun) {
    if (fun->kind == CORE_LAM)
        look_at(u, fun->as.lam);
    else if (is_global_function(fun))
        look_at(u, fun->as.global->body->as.lam);
    else if (is_var(fun))
        look_at(u, ct_map_get(&u->functions, ct_key(fun->as.var)));
    else
        u->any = true;
}

static void look(Updates *u, CtCore *e) {
    if (e->kind == CORE_LAM) return;
    if (e->kind == CORE_APP) call(u, e->as.call.of.fun);
    if (e->kind == CORE_ARRAY) {
        CtArrayOp op = e->as.call.of.array;
        int function = ct_eval_array_function_index(op);
        if (function >= 0) call(u, e->as.call.args[function]);
        if (op == ARRAY_UPDATE || op == ARRAY_SNOC || op == ARRAY_ADD_AT) ct_push(u->c->arena, &u->types, e->type);
    }
    if (e->kind == CORE_LETREC)
        for (uint32_t i = 0; i < e->as.letrec.count; i++)
            add_group(u, &e->as.letrec.binds[i].var, &e->as.letrec.binds[i].lam->as.lam, 1);
    ct_core_children(u->c->arena, e, &u->todo);
}

/* Which types of arrays a term and the functions that it calls update. */
static Updates updates_of(Compile *c, CtCore *e) {
    Updates u = {.c = c};
    CtLam *lam = c->code->lam;
    if (lam != NULL && lam->group != NULL) add_group(&u, lam->group_vars, lam->group, lam->group_count);
    for (uint32_t i = 0; i < c->locals.count; i++) {
        const Local *local = c->locals.items[i];
        if (local->kind == LOCAL_GROUP) add_group(&u, &local->var, &local->code->lam, 1);
    }
    ct_push(c->arena, &u.todo, e);
    while (u.todo.count > 0 && !u.any) {
        if (++u.nodes > 16 * TEXT) u.any = true;
        look(&u, u.todo.items[--u.todo.count]);
    }
    return u;
}

static bool contains_any(Compile *c, CtType *type, const Updates *u, CtMap *seen) {
    if (!ct_value_type_is_pointer(type) || ct_map_has(seen, ct_key(type))) return false;
    ct_map_set(c->arena, seen, ct_key(type), type);
    if (type->kind == TYPE_FUN) return false; /* what it has captured is copied by updates anyway */
    if (type->kind == TYPE_DATA) {
        for (uint32_t k = 0; k < type->data->con_count; k++)
            for (uint32_t i = 0; i < type->data->cons[k].count; i++)
                if (contains_any(c, type->data->cons[k].fields[i], u, seen)) return true;
        return false;
    }
    bool found = type->kind == TYPE_ARRAY && u->any;
    for (uint32_t i = 0; type->kind == TYPE_ARRAY && i < u->types.count; i++)
        found = found || u->types.items[i] == type;
    for (uint32_t i = 0; !found && i < type->count; i++) found = contains_any(c, type->parts[i], u, seen);
    return found;
}

/* Whether b, the later one, may update in place what a reads. (When a is evaluated, b still holds a reference.) */
static bool conflicts(Compile *c, const Item *a, const Item *b) {
    Updates of_b;
    bool known = false;
    for (uint32_t i = 0; i < a->uses.count; i++) {
        CtVar *var = a->uses.items[i];
        if (!ct_value_type_is_pointer(var->type) || var->type->kind == TYPE_FUN) continue;
        bool shared = false;
        for (uint32_t k = 0; k < b->uses.count; k++) shared = shared || b->uses.items[k] == var;
        if (!shared) continue;
        if (!known) {
            of_b = updates_of(c, b->core);
            known = true;
        }
        CtMap seen = {0};
        if (contains_any(c, var->type, &of_b, &seen)) return true;
    }
    return false;
}

/* ---- groups ---- */

/* Whether two of them are independent. */
static bool any_independent(const Plan *plan) {
    uint64_t all[MOST];
    for (uint32_t i = 0; i < plan->members.count; i++) {
        all[i] = plan->members.items[i]->after;
        for (uint32_t k = 0; k < i; k++)
            if (all[i] >> k & 1) all[i] |= all[k];
        if (all[i] != ((uint64_t)1 << i) - 1) return true;
    }
    return false;
}

static void close_group(Plan *plan) {
    Compile *c = plan->c;
    if (any_independent(plan)) {
        Group *group = CT_NEW(c->arena, Group);
        group->count = plan->members.count;
        for (uint32_t i = 0; i < group->count; i++) {
            Term *term = CT_NEW(c->arena, Term);
            *term = (Term){group, i, plan->members.items[i]->after};
            ct_map_set(c->arena, &c->terms, ct_key(plan->members.items[i]->core), term);
        }
    }
    plan->members.count = 0;
    plan->group++;
}

static Made made_of(const Plan *plan, const CtVar *var) {
    const Made *made = ct_map_get(&plan->made, ct_key(var));
    return made == NULL ? (Made){0, 0} : *made;
}

/* Both together. What has been made before the group is there when it begins. */
static Made both(const Plan *plan, Made a, Made b) {
    Made out = {plan->group, 0};
    if (a.group == plan->group) out.by |= a.by;
    if (b.group == plan->group) out.by |= b.by;
    return out;
}

static Made made_of_uses(const Plan *plan, const Item *item) {
    Made made = {plan->group, 0};
    for (uint32_t i = 0; i < item->uses.count; i++) made = both(plan, made, made_of(plan, item->uses.items[i]));
    return made;
}

/* A term that is evaluated when what it uses has been made. */
static Made add_member(Plan *plan, Item *item, Made made) {
    Compile *c = plan->c;
    if (plan->members.count == MOST) close_group(plan);
    item->after = both(plan, made, (Made){0, 0}).by;
    for (uint32_t i = 0; i < plan->members.count; i++)
        if (!(item->after >> i & 1) && conflicts(c, plan->members.items[i], item)) item->after |= (uint64_t)1 << i;
    ct_push(c->arena, &plan->members, item);
    return (Made){plan->group, (uint64_t)1 << (plan->members.count - 1)};
}

/* A term as a whole. */
static Made add_whole(Plan *plan, CtCore *core) {
    Item *item = CT_NEW(plan->c->arena, Item);
    *item = (Item){.core = core};
    examine(plan->c, item);
    if (item->is_long) {
        close_group(plan);
        return (Made){0, 0};
    }
    Made made = made_of_uses(plan, item);
    return item->is_bounded ? made : add_member(plan, item, made);
}

static Made add(Plan *plan, CtCore *e);

static Made add_all(Plan *plan, CtCore *const *cores, uint32_t count) {
    Made made = {0, 0};
    for (uint32_t i = 0; i < count; i++)
        if (!is_var(cores[i])) made = both(plan, made, add(plan, cores[i]));
    for (uint32_t i = 0; i < count; i++)
        if (is_var(cores[i])) made = both(plan, made, made_of(plan, cores[i]->as.var));
    return made;
}

/* The function and the arguments of a call. */
static Made add_arguments(Plan *plan, CtCore *e) {
    CtCore *fun = e->as.call.of.fun;
    Made made = add_all(plan, is_global_function(fun) ? NULL : &fun, is_global_function(fun) ? 0 : 1);
    return both(plan, made, add_all(plan, e->as.call.args, e->as.call.count));
}

/* Of a node whose operands are looked at by themselves, only those that are variables are used by the node itself. */
static void keep_direct_uses(Plan *plan, Item *item) {
    const CtCore *e = item->core;
    item->uses.count = 0;
    if (e->kind == CORE_APP && is_var(e->as.call.of.fun))
        ct_push(plan->c->arena, &item->uses, e->as.call.of.fun->as.var);
    for (uint32_t i = 0; i < e->as.call.count; i++)
        if (is_var(e->as.call.args[i])) ct_push(plan->c->arena, &item->uses, e->as.call.args[i]->as.var);
}

/* An update, which is not a term, but ends the group when a term reads the array. */
static Made add_update(Plan *plan, CtCore *e) {
    Item item = {.core = e};
    Made made = add_all(plan, e->as.call.args, e->as.call.count);
    keep_direct_uses(plan, &item);
    for (uint32_t i = 0; i < plan->members.count; i++) {
        if (!conflicts(plan->c, plan->members.items[i], &item)) continue;
        close_group(plan);
        break;
    }
    return both(plan, made, (Made){0, 0});
}

/* A call begins when its arguments are there. */
static Made add_call(Plan *plan, CtCore *e) {
    Item *item = CT_NEW(plan->c->arena, Item);
    *item = (Item){.core = e};
    examine(plan->c, item);
    Made made = add_arguments(plan, e);
    keep_direct_uses(plan, item);
    if (!item->is_long) return add_member(plan, item, made);
    close_group(plan);
    return (Made){0, 0};
}

static bool has_bounded_branches(Compile *c, const CtCore *e, Item *all) {
    *all = (Item){0};
    for (uint32_t i = 0; i <= e->as.cases.count; i++) {
        CtCore *body = i < e->as.cases.count ? e->as.cases.cases[i].body : e->as.cases.otherwise;
        if (body == NULL) continue;
        all->core = body;
        examine(c, all);
        if (all->is_long || !all->is_bounded) return false;
    }
    return true;
}

/* The terms in an expression, in the order of their evaluation. Nodes around them are marked as planned. */
static Made add(Plan *plan, CtCore *e) {
    Compile *c = plan->c;
    const CtCore *tail;
    Item branches;
    if (is_var(e)) return made_of(plan, e->as.var);
    if (is_literal(e)) return (Made){0, 0};
    bool is_case = e->kind == CORE_CASE && !is_var(e->as.cases.scrutinee);
    bool is_node = e->kind == CORE_PRIM || e->kind == CORE_TUPLE || e->kind == CORE_ARRAY_LIT ||
                   (e->kind == CORE_ARRAY && !is_loop(e)) ||
                   (e->kind == CORE_CON && ct_eval_compile_spine(e, &tail) < SPINE_MIN);
    bool is_call = e->kind == CORE_APP;
    if (outlined_code(c, e) != NULL || !(is_node || is_case || is_call || e->kind == CORE_PROJ))
        return add_whole(plan, e);
    if (is_case && !has_bounded_branches(c, e, &branches)) return add_whole(plan, e);
    ct_map_set(c->arena, &c->planned, ct_key(e), e);
    if (is_call) return add_call(plan, e);
    if (e->kind == CORE_PROJ) return add(plan, e->as.proj.tuple);
    if (is_case) {
        Made scrutinee = add(plan, e->as.cases.scrutinee);
        return both(plan, scrutinee, made_of_uses(plan, &branches));
    }
    if (e->kind == CORE_ARRAY && (e->as.call.of.array == ARRAY_UPDATE || e->as.call.of.array == ARRAY_SNOC))
        return add_update(plan, e);
    return add_all(plan, e->as.call.args, e->as.call.count);
}

static void bind(Plan *plan, CtVar *const *vars, uint32_t count, Made made) {
    if (made.group != plan->group || made.by == 0) return;
    Made *kept = CT_NEW(plan->c->arena, Made);
    *kept = made;
    for (uint32_t i = 0; i < count; i++)
        if (vars[i] != NULL) ct_map_set(plan->c->arena, &plan->made, ct_key(vars[i]), kept);
}

/* The functions of a group use what any of them captures. */
static void add_letrec(Plan *plan, const CtCore *e) {
    Item item = {0};
    for (uint32_t i = 0; i < e->as.letrec.count; i++) {
        item.core = e->as.letrec.binds[i].lam;
        examine(plan->c, &item);
    }
    if (item.is_long) close_group(plan);
    for (uint32_t i = 0; i < e->as.letrec.count; i++)
        bind(plan, &e->as.letrec.binds[i].var, 1, made_of_uses(plan, &item));
}

/* The operands of an operation on arrays that is evaluated as it stands, not as part of a term. */
static void add_loop(Plan *plan, CtCore *e) {
    const Fused *fused = ct_eval_compile_fused(plan->c, e);
    CtCore *const *operands = fused != NULL ? fused->operands : e->as.call.args;
    uint32_t count = fused != NULL ? fused->operand_count : e->as.call.count;
    for (uint32_t i = 0; i < count; i++)
        if (!is_var(operands[i]) && operands[i]->kind != CORE_LAM) add(plan, operands[i]);
}

static void add_end(Plan *plan, CtCore *e) {
    if (is_loop(e)) {
        add_loop(plan, e);
    } else if (e->kind == CORE_APP) {
        add_arguments(plan, e);
    } else if (e->kind == CORE_CASE && outlined_code(plan->c, e->as.cases.scrutinee) == NULL) {
        add(plan, e->as.cases.scrutinee);
    } else if (e->kind != CORE_LAM && e->kind != CORE_DUAL && e->kind != CORE_DERIV) {
        add(plan, e);
    }
}

void ct_eval_terms_plan(Compile *c, CtCore *e) {
    if (!home_of(c->m)->measures || ct_map_has(&c->planned, ct_key(e))) return;
    Plan plan = {.c = c, .group = 1};
    for (;;) {
        if (e->kind == CORE_LET || e->kind == CORE_UNPACK) {
            bind(&plan, e->as.let.vars, e->as.let.count, add(&plan, e->as.let.rhs));
            e = e->as.let.body;
        } else if (e->kind == CORE_LETREC) {
            add_letrec(&plan, e);
            e = e->as.letrec.body;
        } else {
            break;
        }
    }
    add_end(&plan, e);
    close_group(&plan);
}

/* ---- code ---- */

static void begin(Compile *c, const Term *term) {
    Group *group = term->group;
    if (!group->begun) {
        group->begun = true;
        ct_eval_span_begin(c, &group->span, CT_NO_RANGE);
    } else {
        ct_eval_begin(c, OP_TERM, CT_NO_RANGE);
        ct_eval_add_word(c, group->span.begin);
        ct_eval_add_word(c, group->span.mark);
    }
    group->ends[term->index] = ct_eval_slot_new(c);
}

static void end(Compile *c, const Term *term) {
    Group *group = term->group;
    ct_eval_begin(c, OP_TERM_END, CT_NO_RANGE);
    ct_eval_add_word(c, group->ends[term->index]);
    ct_eval_add_word(c, group->span.best);
    ct_eval_add_word(c, group->span.mark);
    ct_eval_add_word(c, (uint32_t)__builtin_popcountll(term->after));
    for (uint32_t i = 0; i < term->index; i++)
        if (term->after >> i & 1) ct_eval_add_word(c, group->ends[i]);
    if (term->index + 1 < group->count) return;
    ct_eval_begin(c, OP_MEET, CT_NO_RANGE);
    ct_eval_add_word(c, group->span.begin);
    ct_eval_add_word(c, group->span.best);
    ct_eval_add_word(c, group->count);
    for (uint32_t i = 0; i < group->count; i++) ct_eval_slot_free(c, group->ends[i]);
    ct_eval_span_free(c, &group->span);
}

static const Term *term_of(const Compile *c, const CtCore *e) {
    return c->terms.count == 0 ? NULL : ct_map_get(&c->terms, ct_key(e));
}

void ct_eval_term_begin(Compile *c, const CtCore *call) {
    const Term *term = term_of(c, call);
    if (term != NULL) begin(c, term);
}

uint32_t ct_eval_emit_term(Compile *c, CtCore *e, uint32_t want) {
    const Term *term = term_of(c, e);
    bool is_call = e->kind == CORE_APP && outlined_code(c, e) == NULL; /* it begins behind its arguments */
    if (term != NULL && !is_call) begin(c, term);
    uint32_t slot = ct_eval_emit_expr(c, e, want, false);
    if (term != NULL) end(c, term);
    return slot;
}
