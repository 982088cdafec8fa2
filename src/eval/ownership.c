/* The second pass of the compiler: backwards over the code, it determines which use of a variable is its last
 * (liveness).
 *
 * A local is live if something behind this point uses it. A use at which the local is not live is the last on its path.
 * Each alternative of a branch starts from what is live behind the branch; a local that another alternative uses, but
 * this one does not, is dropped when this one starts. A use in a loop's body of a local from outside is never the last;
 * such a local is dropped when the loop ends.
 *
 * The ledger receives, from its end to its front:
 *   a use           2 × local + last
 *   a bound name    1 if it is used
 *   a branch        for each alternative: the locals it drops, their number, and whether it takes the scrutinee
 *   a loop          the locals dropped behind it, and their number */
#include "eval/compile.h"
#include "eval/fused.h"

static void walk(Compile *c, CtCore *e);

static void put(Compile *c, uint32_t entry) { ct_push(c->arena, &c->ledger, entry); }

static void put_list(Compile *c, const Words *list) {
    for (uint32_t i = 0; i < list->count; i++) put(c, list->items[i]);
    put(c, list->count);
}

static void make_live(Compile *c, Local *local) {
    local->is_live = true;
    ct_push(c->arena, &c->trail, local->index);
}

/* Marks a use; true when it is the last. */
static bool touch(Compile *c, Local *local) {
    if (local->is_live) return false;
    if (local->level < c->level) {
        local->is_live = true;
        Words *drops = &c->loops.items[local->level].drops;
        ct_push(c->arena, drops, local->index);
        return false;
    }
    make_live(c, local);
    return true;
}

static void use(Compile *c, const CtVar *var) {
    Local *local = ct_eval_compile_local(c, var);
    if (local->kind == LOCAL_SIBLING) return;
    if (local->kind == LOCAL_GROUP) {
        if (local->env == NULL) return;
        local = local->env;
    }
    bool last = touch(c, local);
    put(c, local->index << 1 | last);
}

/* Binders: records whether each is used; in front of them nothing can use them. */
static void unbind(Compile *c, CtVar *const *vars, uint32_t count) {
    for (uint32_t i = count; i-- > 0;) {
        if (vars[i] == NULL) continue;
        Local *local = ct_eval_compile_local(c, vars[i]);
        put(c, local->is_live);
        local->is_live = false;
    }
}

/* Evaluation order is values, then variables; so here variables come first, from the right. */
static void walk_operands(Compile *c, CtCore *const *args, uint32_t count) {
    for (uint32_t i = count; i-- > 0;)
        if (is_var(args[i])) use(c, args[i]->as.var);
    for (uint32_t i = count; i-- > 0;)
        if (!is_var(args[i])) walk(c, args[i]);
}

static void walk_lam(Compile *c, CtLam *lam) {
    ct_eval_code_of_lam(c->m, lam);
    for (uint32_t i = lam->capture_count; i-- > 0;) use(c, lam->captures[i]);
}

static void walk_app(Compile *c, CtCore *e) {
    CtCore *fun = e->as.call.of.fun;
    for (uint32_t i = e->as.call.count; i-- > 0;)
        if (is_var(e->as.call.args[i])) use(c, e->as.call.args[i]->as.var);
    if (is_var(fun)) use(c, fun->as.var);
    for (uint32_t i = e->as.call.count; i-- > 0;)
        if (!is_var(e->as.call.args[i])) walk(c, e->as.call.args[i]);
    if (!is_var(fun) && !is_global_function(fun)) walk(c, fun);
}

/* ---- branches ---- */

/* Collects the locals that became live since `from` and still are, and makes them dead. */
static void take_live(Compile *c, uint32_t from, Words *out) {
    for (uint32_t i = from; i < c->trail.count; i++) {
        Local *local = c->locals.items[c->trail.items[i]];
        if (!local->is_live) continue;
        local->is_live = false;
        ct_push(c->arena, out, local->index);
    }
    c->trail.count = from;
}

/* Records what an alternative drops: what any alternative uses, except its own uses and the scrutinee. */
static void put_drops(Compile *c, const Words *any, const Words *own, const Local *scrutinee, bool takes) {
    uint32_t stamp = ++c->stamp, count = 0;
    for (uint32_t i = 0; i < own->count; i++) c->locals.items[own->items[i]]->stamp = stamp;
    for (uint32_t i = 0; i < any->count; i++) {
        Local *local = c->locals.items[any->items[i]];
        if (local->stamp == stamp || local == scrutinee) continue;
        put(c, local->index);
        count++;
    }
    put(c, count);
    put(c, takes);
}

static bool contains(const Words *list, uint32_t item) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] == item) return true;
    return false;
}

static void walk_alternatives(Compile *c, Alternative *alternatives, uint32_t count, Local *scrutinee) {
    bool held = scrutinee != NULL && (scrutinee->is_live || scrutinee->level < c->level);
    Words any = {0};
    uint32_t from = c->trail.count;
    for (uint32_t i = count; i-- > 0;) {
        Alternative *alternative = &alternatives[i];
        walk(c, alternative->body);
        unbind(c, alternative->vars, alternative->count);
        take_live(c, from, &alternative->live);
    }
    uint32_t stamp = ++c->stamp;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < alternatives[i].live.count; j++) {
            Local *local = c->locals.items[alternatives[i].live.items[j]];
            if (local->stamp == stamp) continue;
            local->stamp = stamp;
            ct_push(c->arena, &any, local->index);
        }
    }
    for (uint32_t i = count; i-- > 0;) {
        bool takes = scrutinee != NULL && !held && !contains(&alternatives[i].live, scrutinee->index);
        put_drops(c, &any, &alternatives[i].live, scrutinee, takes);
    }
    for (uint32_t i = 0; i < any.count; i++) make_live(c, c->locals.items[any.items[i]]);
    if (scrutinee != NULL) touch(c, scrutinee);
}

static void walk_case(Compile *c, CtCore *e) {
    uint32_t count;
    Alternative *alternatives = ct_eval_compile_alternatives(c, e, &count);
    CtCore *scrutinee = e->as.cases.scrutinee;
    walk_alternatives(c, alternatives, count, is_var(scrutinee) ? ct_eval_compile_local(c, scrutinee->as.var) : NULL);
    if (!is_var(scrutinee)) walk(c, scrutinee);
}

/* ---- array operations ---- */

static void walk_loop_body(Compile *c, CtCore *function) {
    Loop loop = {0};
    if (is_inline_function(function)) {
        CtLam *lam = function->as.lam;
        ct_push(c->arena, &c->loops, loop);
        c->level++;
        walk(c, lam->body);
        unbind(c, lam->params, lam->count);
        c->level--;
        loop = c->loops.items[--c->loops.count];
    }
    put_list(c, &loop.drops);
    for (uint32_t i = 0; i < loop.drops.count; i++) ct_push(c->arena, &c->trail, loop.drops.items[i]);
}

static void walk_array(Compile *c, CtCore *e) {
    const Fused *fused = ct_eval_compile_fused(c, e);
    if (fused != NULL) {
        walk_operands(c, fused->operands, fused->operand_count);
        return;
    }
    int index = ct_eval_array_function_index(e->as.call.of.array);
    CtCore **args = e->as.call.args;
    if (index < 0) {
        walk_operands(c, args, e->as.call.count);
        return;
    }
    walk_loop_body(c, args[index]);
    for (uint32_t i = e->as.call.count; i-- > 0;)
        if (is_var(args[i])) use(c, args[i]->as.var);
    for (uint32_t i = e->as.call.count; i-- > 0;) {
        if (is_var(args[i])) continue;
        if ((int)i == index && (is_inline_function(args[i]) || is_global_function(args[i]))) continue;
        walk(c, args[i]);
    }
}

static void walk_items(Compile *c, CtCore *const *items, uint32_t count) {
    for (uint32_t i = count; i-- > 0;) {
        if (is_var(items[i])) {
            use(c, items[i]->as.var);
        } else {
            walk(c, items[i]);
        }
    }
}

/* Heads and tail of a long list, one after the other. */
static void walk_spine(Compile *c, CtCore *e, uint32_t count) {
    CtCore **items = CT_NEW_ARRAY(c->arena, CtCore *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        items[i] = e->as.call.args[0];
        e = e->as.call.args[1];
    }
    items[count] = e;
    walk_items(c, items, count + 1);
}

/* ---- the walk ---- */

/* The last child of lets, from the inside out. */
static void walk_lets(Compile *c, CtCore *e) {
    uint32_t base = c->chain.count;
    while (e->kind == CORE_LET || e->kind == CORE_UNPACK || e->kind == CORE_LETREC) {
        ct_push(c->arena, &c->chain, e);
        e = e->kind == CORE_LETREC ? e->as.letrec.body : e->as.let.body;
    }
    if (is_var(e)) {
        use(c, e->as.var);
    } else {
        walk(c, e);
    }
    while (c->chain.count > base) {
        e = c->chain.items[--c->chain.count];
        if (e->kind == CORE_LETREC) {
            Local *local = ct_eval_compile_local(c, e->as.letrec.binds[0].var);
            if (local->env == NULL) continue;
            put(c, local->env->is_live);
            local->env->is_live = false;
            walk_lam(c, e->as.letrec.binds[0].lam->as.lam);
        } else {
            unbind(c, e->as.let.vars, e->as.let.count);
            walk_items(c, &e->as.let.rhs, 1);
        }
    }
}

static void walk_node(Compile *c, CtCore *e) {
    const CtCore *tail;
    switch (e->kind) {
    case CORE_VAR: use(c, e->as.var); return;
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING: return;
    case CORE_LAM: walk_lam(c, e->as.lam); return;
    case CORE_APP: walk_app(c, e); return;
    case CORE_LET:
    case CORE_UNPACK:
    case CORE_LETREC: walk_lets(c, e); return;
    case CORE_CON: {
        uint32_t spine = ct_eval_compile_spine(e, &tail);
        if (spine >= SPINE_MIN) {
            walk_spine(c, e, spine);
            return;
        }
        walk_operands(c, e->as.call.args, e->as.call.count);
        return;
    }
    case CORE_TUPLE:
    case CORE_PRIM:
    case CORE_DERIV:
        if (only_applies(e))
            walk_node(c, ct_map_get(&c->applied, ct_key(e)));
        else
            walk_operands(c, e->as.call.args, e->as.call.count);
        return;
    case CORE_DUAL: walk_operands(c, e->as.call.args, e->as.call.count); return;
    case CORE_PROJ: walk_items(c, &e->as.proj.tuple, 1); return;
    case CORE_CASE: walk_case(c, e); return;
    case CORE_ARRAY: walk_array(c, e); return;
    case CORE_ARRAY_LIT: walk_items(c, e->as.call.args, e->as.call.count); return;
    case CORE_FAIL:
        if (e->as.fail.text == NULL) walk_items(c, &e->as.fail.message, 1);
        return;
    }
}

static void walk(Compile *c, CtCore *e) {
    CtCode *outlined = outlined_code(c, e);
    if (outlined != NULL) {
        walk_lam(c, outlined->lam);
    } else {
        walk_node(c, e);
    }
}

void ct_eval_compile_ownership(Compile *c) {
    CtLam *lam = c->code->lam;
    walk(c, lam == NULL ? c->code->global->body : lam->body);
    if (lam != NULL) unbind(c, lam->params, lam->count);
}
