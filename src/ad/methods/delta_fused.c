/* delta-fused: expressions and calls fused to one node where that pays. DELTA 2022 Fig. 15 and §8.7.
 *
 * A function from reals to a real that consists of operations, lets, branches and calls of functions of this kind can
 * be treated as a primitive operation. Its partial derivatives are worked out when the transformed program is made,
 * because the Delta term of such a function, and its evaluation, are known then. At run time the function itself runs,
 * then a sweep of multiplications back through it, then one deltaLet for the whole, with a Scale for each input. The
 * paper leaves open when to fuse. Here a term is fused if every path through it would make enough nodes to pay for the
 * fused one (is_cheaper). All else is as in delta. */
#include "ad/internal.h"

enum { LARGEST = 400 }; /* bound of the operations in a fused term */

/* ---- which terms ---- */

/* The cost of a term. */
typedef struct Extent {
    bool fusable;
    uint32_t least; /* number of operations on the cheapest path; UINT32_MAX if every path fails */
    uint32_t size;  /* number of operations in the generated code */
    uint32_t tails; /* number of path ends in tail position; the sweep through the code before is duplicated for each */
} Extent;

typedef struct CtFused {
    Extent extent;
    bool asked;       /* under analysis: the function is recursive */
    CtGlobal *global; /* made on first need */
} CtFused;

static Extent extent_of(CtTransform *t, CtCore *core);

static uint32_t plus(uint32_t a, uint32_t b) { return a > UINT32_MAX - b ? UINT32_MAX : a + b; }

static uint32_t times(uint32_t a, uint32_t b) { return b > 0 && a > UINT32_MAX / b ? UINT32_MAX : a * b; }

/* a, followed by b in tail position. */
static Extent then(Extent a, Extent b) {
    Extent out = {a.fusable && b.fusable, plus(a.least, b.least), plus(times(a.size, b.tails), b.size), b.tails};
    out.fusable = out.fusable && out.size <= LARGEST;
    return out;
}

static bool is_discrete_part(CtTransform *t, CtCore *core) {
    return ct_is_discrete(core->type) && ct_ad_lift_pure(t, core);
}

/* A part of a term: a real, or a discrete term that is evaluated as it stands. */
static Extent part(CtTransform *t, CtCore *core) {
    if (core->type->kind == TYPE_DOUBLE) return extent_of(t, core);
    return (Extent){.fusable = is_discrete_part(t, core), .tails = 1};
}

static Extent parts(CtTransform *t, Extent sum, CtCore *const *cores, uint32_t count) {
    for (uint32_t i = 0; i < count && sum.fusable; i++) sum = then(part(t, cores[i]), sum);
    return sum;
}

static Extent branches(CtTransform *t, CtCore *core) {
    Extent out = {is_discrete_part(t, core->as.cases.scrutinee), UINT32_MAX, 0, 0};
    uint32_t count = core->as.cases.count;
    for (uint32_t i = 0; i < count + 1 && out.fusable; i++) {
        CtCore *body = i < count ? core->as.cases.cases[i].body : core->as.cases.otherwise;
        if (!body) continue;
        Extent branch = extent_of(t, body);
        out.fusable = branch.fusable;
        out.size = plus(out.size, branch.size);
        out.tails = plus(out.tails, branch.tails);
        if (branch.least < out.least) out.least = branch.least;
    }
    return out;
}

static CtFused *fused(CtTransform *t, CtGlobal *global) {
    CtFused *known = ct_map_get(&t->ad->fused, ct_key(global));
    if (known) return known;
    known = CT_NEW(t->ad->arena, CtFused);
    ct_map_set(t->ad->arena, &t->ad->fused, ct_key(global), known);
    const CtType *type = global->type;
    if (!global->body || global->body->kind != CORE_LAM || type->parts[type->count - 1]->kind != TYPE_DOUBLE)
        return known;
    for (uint32_t i = 0; i + 1 < type->count; i++)
        if (type->parts[i]->kind != TYPE_DOUBLE && !ct_is_discrete(type->parts[i])) return known;
    known->asked = true;
    ct_ad_expand_global(t->ad, global);
    known->extent = extent_of(t, global->body->as.lam->body);
    known->asked = false;
    return known;
}

static Extent call(CtTransform *t, CtCore *core) {
    if (core->as.call.of.fun->kind != CORE_GLOBAL || ct_ad_is_discrete_call(core)) return (Extent){0};
    const CtFused *function = fused(t, core->as.call.of.fun->as.global);
    if (function->asked || !function->extent.fusable) return (Extent){0};
    return parts(t, (Extent){true, function->extent.least, 1, 1}, core->as.call.args, core->as.call.count);
}

/* The body of a binding, which has been analysed before. */
static Extent bound(CtTransform *t, CtCore *core) {
    Extent rhs = {0};
    if (core->kind == CORE_LET)
        rhs = part(t, core->as.let.rhs);
    else if (core->kind == CORE_UNPACK)
        rhs.fusable = is_discrete_part(t, core->as.let.rhs);
    return rhs.fusable ? then(rhs, extent_of(t, core->as.let.body)) : rhs;
}

static Extent work_out(CtTransform *t, CtCore *core) {
    switch (core->kind) {
    case CORE_VAR:
    case CORE_LIT: return (Extent){.fusable = true, .tails = 1};
    case CORE_FAIL:
        return (Extent){!core->as.fail.message || ct_ad_lift_pure(t, core->as.fail.message), UINT32_MAX, 0, 1};
    case CORE_PRIM: {
        uint32_t operations = ct_ad_is_operation(core) ? 1 : 0;
        bool single = ct_ad_is_conversion(core->as.call.of.prim);
        return parts(t, (Extent){!single, operations, operations, 1}, core->as.call.args, core->as.call.count);
    }
    case CORE_CASE: return branches(t, core);
    case CORE_APP: return call(t, core);
    case CORE_LET:
    case CORE_UNPACK: return bound(t, core);
    case CORE_GLOBAL:
    case CORE_STRING:
    case CORE_LAM:
    case CORE_LETREC:
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PROJ:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL: break;
    }
    return (Extent){0};
}

static Extent extent_of(CtTransform *t, CtCore *core) {
    if (core->type->kind != TYPE_DOUBLE) return (Extent){0};
    CtArena *arena = t->ad->arena;
    CT_VEC(CtCore *) chain = {0}; /* bindings, outermost first, for iteration */
    for (;; core = core->as.let.body) {
        ct_push(arena, &chain, core);
        if (ct_map_has(&t->ad->extents, ct_key(core)) || (core->kind != CORE_LET && core->kind != CORE_UNPACK)) break;
    }
    Extent *known = NULL;
    while (chain.count > 0) {
        core = chain.items[--chain.count];
        known = ct_map_get(&t->ad->extents, ct_key(core));
        if (known) continue;
        Extent made = work_out(t, core);
        known = CT_NEW(arena, Extent);
        *known = made;
        ct_map_set(arena, &t->ad->extents, ct_key(core), known);
    }
    return *known;
}

/* A node of delta costs about as much as two inputs of a fused node; the fused node has a fixed cost besides. */
static bool is_cheaper(Extent extent, uint32_t inputs) {
    return extent.fusable && extent.least != UINT32_MAX && extent.least >= 2 && 2 * extent.least >= inputs;
}

/* ---- a term, and the sweep back through it ---- */

/* A real that varies, and where its cotangent is propagated to. The inputs come first. */
typedef struct Node {
    CtCore *y;
    uint32_t count;
    uint32_t *from;           /* nodes */
    CtCore **partials;        /* of a branch or call; NULL: of an operation … */
    const CtOperation *op;    /* … with these named arguments … */
    const uint32_t *argument; /* … of which these vary */
} Node;

typedef struct Fusion {
    CtTransform *t;
    CtSeq seq;
    CT_VEC(Node) nodes;
    CtMap of_var; /* CtVar * -> 1 + number of its node */
    uint32_t inputs;
    bool zeros; /* a partial derivative by an input may be a structural zero */
} Fusion;

/* A value, and 1 + its node's number; 0 if it does not vary. */
typedef struct Value {
    CtCore *y;
    uint32_t node;
} Value;

static Value value_of(Fusion *f, CtCore *core);
static CtCore *tail(Fusion *f, CtCore *core);

static Value new_node(Fusion *f, Node node) {
    ct_push(f->t->ad->arena, &f->nodes, node);
    return (Value){node.y, f->nodes.count};
}

/* x : ℝ is bound to (y, none), for discrete terms that use it. */
static void bind_real(Fusion *f, CtSourceRange range, CtVar *var, Value value) {
    CtCore *pair = f->t->rules->constant(f->t->ad, range, value.y);
    ct_ad_seq_let(&f->seq, range, ct_ad_bind(f->t, var), pair);
    if (value.node) ct_map_set(f->t->ad->arena, &f->of_var, ct_key(var), (void *)(uintptr_t)value.node);
}

static void bind(Fusion *f, CtCore *core) {
    CtCore *rhs = core->as.let.rhs;
    if (core->kind == CORE_LET && rhs->type->kind == TYPE_DOUBLE) {
        bind_real(f, core->range, core->as.let.vars[0], value_of(f, rhs));
        return;
    }
    CtCore *discrete = ct_ad_direct(f->t, rhs);
    CtVar **vars = CT_NEW_ARRAY(f->t->ad->arena, CtVar *, core->as.let.count + 1);
    uint32_t count = core->kind == CORE_LET ? 0 : core->as.let.count;
    for (uint32_t i = 0; i < (count ? count : 1); i++) vars[i] = ct_ad_bind(f->t, core->as.let.vars[i]);
    ct_ad_seq_unpack(&f->seq, core->range, vars, count, discrete);
}

/* op(⟨x⟩) = y */
static Value operation(Fusion *f, CtCore *core) {
    CtAd *ad = f->t->ad;
    CtOperation *op = CT_NEW(ad->arena, CtOperation);
    *op = (CtOperation){
        .range = core->range, .prim = core->as.call.of.prim, .type = core->type, .count = core->as.call.count};
    bool varies = ct_ad_is_operation(core);
    Value args[2] = {{0}};
    Node node = {.op = op, .from = CT_NEW_ARRAY(ad->arena, uint32_t, 2)};
    uint32_t *argument = CT_NEW_ARRAY(ad->arena, uint32_t, 2);
    for (uint32_t i = 0; i < op->count; i++) {
        CtCore *arg = core->as.call.args[i];
        if (ct_ad_is_real(arg->type))
            args[i] = value_of(f, arg);
        else
            args[i].y = ct_ad_seq_name(&f->seq, "n", ct_ad_direct(f->t, arg));
        op->types[i] = arg->type;
        op->args[i] = args[i].y;
    }
    node.y = ct_ad_seq_name(&f->seq, "y", ct_core_prim(ad->p, op->range, op->prim, op->args, op->count));
    for (uint32_t i = 0; i < op->count && varies; i++) {
        if (!args[i].node || !ct_ad_derivative(ad, op, i, op->args, node.y, node.y)) continue;
        node.from[node.count] = args[i].node - 1;
        argument[node.count++] = i;
    }
    node.argument = argument;
    f->zeros = f->zeros || ct_prim_info(op->prim)->chooses;
    return node.count > 0 ? new_node(f, node) : (Value){node.y, 0};
}

/* let (y, ⟨p⟩) = both_; without partial derivatives, both_ is y itself. */
static void open_result(Fusion *f, CtSourceRange range, CtVar *const *vars, uint32_t count, CtCore *both_) {
    ct_ad_seq_unpack(&f->seq, range, vars, count > 1 ? count : 0, both_);
}

/* let (y, ⟨p⟩) = both_, as a node with the partial derivatives p by the nodes `from`. */
static Value opened(Fusion *f, CtCore *both_, uint32_t *from, uint32_t count) {
    CtProgram *p = f->t->p;
    CtVar **vars = CT_NEW_ARRAY(f->t->ad->arena, CtVar *, count + 1);
    Node node = {.count = count, .from = from, .partials = CT_NEW_ARRAY(f->t->ad->arena, CtCore *, count)};
    for (uint32_t i = 0; i < count + 1; i++) vars[i] = ct_core_var_new(p, i == 0 ? "y" : "p", p->double_type);
    open_result(f, both_->range, vars, count + 1, both_);
    node.y = ct_core_var(p, both_->range, vars[0]);
    for (uint32_t i = 0; i < count; i++) node.partials[i] = ct_core_var(p, both_->range, vars[i + 1]);
    f->zeros = true;
    return count > 0 ? new_node(f, node) : (Value){node.y, 0};
}

/* The nodes of the variables that are free in a term, each once. */
static void free_nodes(const Fusion *f, CtCore *core, CtCoreList *seen, CtMap *inner) {
    CtArena *arena = f->t->ad->arena;
    CtCoreList work = {0};
    ct_push(arena, &work, core);
    while (work.count > 0) {
        core = work.items[--work.count];
        uintptr_t node = core->kind == CORE_VAR ? (uintptr_t)ct_map_get(&f->of_var, ct_key(core->as.var)) : 0;
        if (node && !ct_map_has(inner, (uint64_t)node)) {
            ct_push(arena, seen, core);
            ct_map_set(arena, inner, (uint64_t)node, (void *)(uintptr_t)seen->count);
        }
        ct_core_children(arena, core, &work);
    }
}

/* A branch inside a term: a tuple of its value and its partial derivatives by the nodes that it uses. */
static Value branch(Fusion *f, CtCore *core) {
    CtArena *arena = f->t->ad->arena;
    CtCoreList used = {0};
    CtMap numbers = {0}; /* 1 + node of f -> 1 + input of the branch */
    free_nodes(f, core, &used, &numbers);
    Fusion inner = {.t = f->t, .seq = ct_ad_seq(f->t->p, NULL), .inputs = used.count};
    uint32_t *from = CT_NEW_ARRAY(arena, uint32_t, used.count);
    for (uint32_t i = 0; i < used.count; i++) {
        uintptr_t node = (uintptr_t)ct_map_get(&f->of_var, ct_key(used.items[i]->as.var));
        from[i] = (uint32_t)node - 1;
        ct_push(arena, &inner.nodes, (Node){.y = f->nodes.items[from[i]].y});
    }
    for (uint32_t i = 0; i < f->of_var.count; i++) {
        uint64_t key = f->of_var.entries[i].key;
        uintptr_t node = (uintptr_t)f->of_var.entries[i].value;
        if (node && ct_map_has(&numbers, (uint64_t)node))
            ct_map_set(arena, &inner.of_var, key, ct_map_get(&numbers, (uint64_t)node));
    }
    return opened(f, tail(&inner, core), from, used.count);
}

static CtGlobal *fused_global(CtTransform *t, CtGlobal *global);

/* A call of a function that is fused itself. */
static Value fused_call(Fusion *f, CtCore *core) {
    CtAd *ad = f->t->ad;
    uint32_t count = core->as.call.count, varying = 0;
    CtCore **args = CT_NEW_ARRAY(ad->arena, CtCore *, count);
    uint32_t *from = CT_NEW_ARRAY(ad->arena, uint32_t, count);
    bool *varies = CT_NEW_ARRAY(ad->arena, bool, count);
    for (uint32_t i = 0; i < count; i++) {
        CtCore *arg = core->as.call.args[i];
        Value value = {0};
        if (arg->type->kind == TYPE_DOUBLE)
            value = value_of(f, arg);
        else
            value.y = ct_ad_seq_name(&f->seq, "n", ct_ad_direct(f->t, arg));
        args[i] = value.y;
        varies[i] = value.node != 0;
        if (varies[i]) from[varying++] = value.node - 1;
    }
    CtCore *both_ = ct_ad_call(ad, core->range, fused_global(f->t, core->as.call.of.fun->as.global), args, count);
    CtVar **vars = CT_NEW_ARRAY(ad->arena, CtVar *, count + 1);
    Node node = {.count = varying, .from = from, .partials = CT_NEW_ARRAY(ad->arena, CtCore *, count)};
    vars[0] = ct_core_var_new(ad->p, "y", ad->p->double_type);
    uint32_t at = 1, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (core->as.call.args[i]->type->kind != TYPE_DOUBLE) continue;
        if (varies[i]) {
            vars[at] = ct_core_var_new(ad->p, "p", ad->p->double_type);
            node.partials[kept++] = ct_core_var(ad->p, core->range, vars[at]);
        }
        at++;
    }
    node.y = ct_core_var(ad->p, core->range, vars[0]);
    open_result(f, core->range, vars, at, both_);
    f->zeros = true;
    return varying > 0 ? new_node(f, node) : (Value){node.y, 0};
}

static Value value_of(Fusion *f, CtCore *core) {
    for (; core->kind == CORE_LET || core->kind == CORE_UNPACK; core = core->as.let.body) bind(f, core);
    if (core->kind == CORE_PRIM) return operation(f, core);
    if (core->kind == CORE_CASE || core->kind == CORE_FAIL) return branch(f, core);
    if (core->kind == CORE_APP) return fused_call(f, core);
    Value value = {core, 0};
    if (core->kind != CORE_VAR) return value;
    value.node = (uint32_t)(uintptr_t)ct_map_get(&f->of_var, ct_key(core->as.var));
    value.y = value.node ? f->nodes.items[value.node - 1].y : ct_ad_seq_name(&f->seq, "x", ct_ad_primal(f->t, core));
    return value;
}

/* if p is a structural zero, as in a branch not taken, then zero else other. */
static CtCore *unless_zero(CtProgram *program, CtCore *p, CtCore *zero, CtCore *other) {
    CtCore *is_zero = ct_core_prim1(program, p->range, PRIM_IS_NEGATIVE_ZERO, p);
    return ct_core_if(program, p->range, is_zero, zero, other);
}

/* The contribution of a node with cotangent g, or 1, to its k-th argument. */
static CtCore *handed_on(Fusion *f, const Node *node, uint32_t k, CtCore *g, bool is_one) {
    CtProgram *program = f->t->p;
    if (!node->partials) return ct_ad_derivative(f->t->ad, node->op, node->argument[k], node->op->args, node->y, g);
    CtCore *p = node->partials[k];
    return is_one ? p : unless_zero(program, p, p, ct_core_prim2(program, g->range, PRIM_SCALE, p, g));
}

/* The sweep from the result back to the inputs: (y, ⟨∂y/∂x⟩). */
static CtCore *sweep(Fusion *f, CtSourceRange range, Value value) {
    CtProgram *p = f->t->p;
    CtCore **adjoints = CT_NEW_ARRAY(f->t->ad->arena, CtCore *, f->nodes.count);
    CtCore **out = CT_NEW_ARRAY(f->t->ad->arena, CtCore *, f->inputs + 1);
    out[0] = value.y;
    for (uint32_t n = value.node; n-- > f->inputs;) {
        const Node *node = &f->nodes.items[n];
        bool is_result = n + 1 == value.node;
        if (!is_result && !adjoints[n]) continue;
        CtCore *g = is_result ? ct_core_double(p, range, 1.0) : ct_ad_seq_name(&f->seq, "g", adjoints[n]);
        for (uint32_t k = 0; k < node->count; k++) {
            CtCore **sum = &adjoints[node->from[k]];
            CtCore *more = handed_on(f, node, k, g, is_result);
            *sum = *sum ? ct_core_prim2(p, range, PRIM_ADD, *sum, more) : more;
        }
    }
    for (uint32_t i = 0; i < f->inputs; i++) {
        bool is_result = i + 1 == value.node;
        out[i + 1] = is_result     ? ct_core_double(p, range, 1.0)
                     : adjoints[i] ? adjoints[i]
                                   : ct_core_double(p, range, -0.0);
        f->zeros = f->zeros || (!is_result && !adjoints[i]);
    }
    return ct_core_tuple(p, range, out, f->inputs + 1);
}

static CtType *tuple_type(const Fusion *f) {
    CtType **types = CT_NEW_ARRAY(f->t->ad->arena, CtType *, f->inputs + 1);
    for (uint32_t i = 0; i < f->inputs + 1; i++) types[i] = f->t->p->double_type;
    return f->inputs == 0 ? f->t->p->double_type : ct_core_type_tuple(f->t->p, types, f->inputs + 1);
}

static CtCore *choice(Fusion *f, CtCore *core) {
    CtTransform *t = f->t;
    uint32_t count = core->as.cases.count, before = f->nodes.count;
    CtCase *cases = CT_NEW_ARRAY(t->ad->arena, CtCase, count);
    CtSeq seq = f->seq;
    CtCore *scrutinee = ct_ad_direct(t, core->as.cases.scrutinee), *otherwise = NULL;
    for (uint32_t i = 0; i < count + 1; i++) {
        const CtCase *old = i < count ? &core->as.cases.cases[i] : NULL;
        CtCore *body = old ? old->body : core->as.cases.otherwise;
        if (!body) continue;
        if (old) {
            cases[i] = (CtCase){.con = old->con, .vars = CT_NEW_ARRAY(t->ad->arena, CtVar *, old->con->count)};
            for (uint32_t k = 0; k < old->con->count; k++) cases[i].vars[k] = ct_ad_bind(t, old->vars[k]);
        }
        f->seq = ct_ad_seq(t->p, NULL);
        CtCore *made = tail(f, body);
        f->nodes.count = before;
        if (old)
            cases[i].body = made;
        else
            otherwise = made;
    }
    f->seq = seq;
    f->zeros = true;
    return ct_core_case(t->p, core->range, tuple_type(f), scrutinee, cases, count, otherwise);
}

/* (y, ⟨∂y/∂x⟩) of a term in tail position. */
static CtCore *tail(Fusion *f, CtCore *core) {
    CtProgram *p = f->t->p;
    for (; core->kind == CORE_LET || core->kind == CORE_UNPACK; core = core->as.let.body) bind(f, core);
    CtCore *made;
    if (core->kind == CORE_CASE) {
        made = choice(f, core);
    } else if (core->kind == CORE_FAIL) {
        CtCore *message = core->as.fail.message ? ct_ad_direct(f->t, core->as.fail.message) : NULL;
        made = ct_core_fail(p, core->range, tuple_type(f), core->as.fail.code, core->as.fail.text, message);
    } else {
        Value value = value_of(f, core);
        made = sweep(f, core->range, value);
        if (f->inputs == 0) made = value.y;
    }
    return ct_ad_seq_close(&f->seq, made);
}

static void add_input(Fusion *f, CtVar *var, CtCore *y) {
    Value value = new_node(f, (Node){.y = y});
    ct_map_set(f->t->ad->arena, &f->of_var, ct_key(var), (void *)(uintptr_t)value.node);
    f->inputs++;
}

/* D'(f) : (⟨σ⟩) → (ℝ, ⟨ℝ⟩): the value of f and its partial derivatives by its real parameters. */
static CtGlobal *fused_global(CtTransform *outer, CtGlobal *global) {
    CtFused *function = fused(outer, global);
    if (function->global) return function->global;
    CtAd *ad = outer->ad;
    CtLam *lam = global->body->as.lam;
    CtTransform t = ct_ad_transform(ad, outer->method);
    Fusion f = {.t = &t, .seq = ct_ad_seq(ad->p, NULL)};
    CtVar **params = CT_NEW_ARRAY(ad->arena, CtVar *, lam->count);
    for (uint32_t i = 0; i < lam->count; i++) {
        if (lam->params[i]->type->kind != TYPE_DOUBLE) {
            params[i] = ct_ad_bind(&t, lam->params[i]);
            continue;
        }
        params[i] = ct_core_var_like(ad->p, lam->params[i], ad->p->double_type);
        CtCore *x = ct_core_var(ad->p, global->range, params[i]);
        add_input(&f, lam->params[i], x);
        bind_real(&f, global->range, lam->params[i], (Value){x, f.nodes.count});
    }
    CtCore *body = tail(&f, lam->body);
    CtCore *made = ct_core_lam(ad->p, global->body->range, lam->name, params, lam->count, body);
    const char *name = ct_format(ad->arena, "%s.fused", global->name->text);
    function->global = ct_ad_new_global(ad, name, made->type, global->range);
    function->global->body = ct_core_simplify_term(ad->p, made);
    return function->global;
}

/* ---- in place of a term ---- */

/* The variables of reals that are free in a term, each once. */
static void free_reals(CtArena *arena, CtTransform *t, CtCore *core, CtCoreList *out) {
    CtCoreList work = {0};
    CtMap seen = {0};
    ct_push(arena, &work, core);
    while (work.count > 0) {
        core = work.items[--work.count];
        bool is_free = core->kind == CORE_VAR && core->type->kind == TYPE_DOUBLE && ct_ad_var(t, core->as.var);
        if (is_free && !ct_map_has(&seen, ct_key(core->as.var))) {
            ct_map_set(arena, &seen, ct_key(core->as.var), core);
            ct_push(arena, out, core);
        }
        ct_core_children(arena, core, &work);
    }
}

static CtCore *fuse(CtTransform *t, CtSeq *seq, CtCore *core);

/* The maximal subterms of an operation term that are no operations: variables for them, in evaluation order. */
typedef struct Leaves {
    CtTransform *t;
    CT_VEC(CtVar *) vars;
    CtCoreList terms;
    bool sound;
} Leaves;

static CtCore *only_operations(Leaves *leaves, CtCore *core) {
    CtArena *arena = leaves->t->ad->arena;
    if (ct_ad_atom(core)) return core;
    if (core->type->kind == TYPE_DOUBLE && !(core->kind == CORE_PRIM && ct_ad_is_operation(core))) {
        CtVar *var = ct_core_var_new(leaves->t->p, "x", core->type);
        ct_push(arena, &leaves->vars, var);
        ct_push(arena, &leaves->terms, core);
        return ct_core_var(leaves->t->p, core->range, var);
    }
    CtCore *args[2] = {NULL, NULL};
    leaves->sound = leaves->sound && core->type->kind == TYPE_DOUBLE && !ct_ad_is_conversion(core->as.call.of.prim);
    if (!leaves->sound) return core;
    for (uint32_t i = 0; i < core->as.call.count; i++) args[i] = only_operations(leaves, core->as.call.args[i]);
    return ct_core_prim(leaves->t->p, core->range, core->as.call.of.prim, args, core->as.call.count);
}

/* D[op(⟨e⟩)] of nested operations; the terms inside them are transformed first. */
static CtCore *fuse_operations(CtTransform *t, CtSeq *seq, CtCore *core) {
    Leaves leaves = {.t = t, .sound = true};
    CtCore *term = only_operations(&leaves, core);
    if (!leaves.sound || leaves.terms.count == 0) return NULL;
    Extent extent = extent_of(t, term);
    CtCoreList reals = {0};
    free_reals(t->ad->arena, t, term, &reals);
    if (!is_cheaper(extent, leaves.terms.count + reals.count)) return NULL;
    for (uint32_t i = 0; i < leaves.terms.count; i++) {
        CtCore *value = ct_ad_lift_value(t, seq, leaves.terms.items[i]);
        ct_ad_seq_let(seq, core->range, ct_ad_bind(t, leaves.vars.items[i]), value);
    }
    return fuse(t, seq, term);
}

CtCore *ct_ad_fused_term(CtTransform *t, CtSeq *seq, CtCore *core) {
    Extent extent = extent_of(t, core);
    if (extent.fusable) return extent.size > 0 ? core : NULL;
    if (core->kind != CORE_PRIM || !ct_ad_is_operation(core)) return NULL;
    Leaves leaves = {.t = t, .sound = true};
    CtCore *term = only_operations(&leaves, core);
    if (!leaves.sound || !extent_of(t, term).fusable) return NULL;
    for (uint32_t i = 0; i < leaves.terms.count; i++)
        if (!ct_ad_lift_pure(t, leaves.terms.items[i])) return NULL;
    for (uint32_t i = 0; i < leaves.terms.count; i++)
        ct_ad_seq_let(seq, core->range, ct_ad_bind(t, leaves.vars.items[i]), ct_ad_direct(t, leaves.terms.items[i]));
    return term;
}

CtFusedTerm ct_ad_fuse(CtTransform *t, CtSeq *seq, CtCore *core) {
    CtAd *ad = t->ad;
    CtCoreList reals = {0};
    free_reals(ad->arena, t, core, &reals);
    CtFusedTerm out = {.count = reals.count, .b = CT_NEW_ARRAY(ad->arena, CtCore *, reals.count)};
    if (reals.count == 0) return out;
    Fusion f = {.t = t, .seq = ct_ad_seq(t->p, NULL)};
    for (uint32_t i = 0; i < reals.count; i++) {
        CtCore *d = ct_core_var(t->p, core->range, ct_ad_var(t, reals.items[i]->as.var)), *both[2];
        ct_ad_seq_open(seq, "x", "u", d, both);
        add_input(&f, reals.items[i]->as.var, both[0]);
        out.b[i] = both[1];
    }
    Fusion outer = {.t = t, .seq = *seq};
    uint32_t *from = CT_NEW_ARRAY(ad->arena, uint32_t, reals.count);
    Value value = opened(&outer, tail(&f, core), from, reals.count);
    *seq = outer.seq;
    out.y = value.y;
    out.partials = outer.nodes.items[value.node - 1].partials;
    out.zeros = f.zeros;
    return out;
}

/* D[e] = let (y, ⟨p⟩) = e with its partial derivatives; u ← deltaLet (Add (Scale p₁ u₁) ⋯) in (y, Var u) */
static CtCore *fuse(CtTransform *t, CtSeq *seq, CtCore *core) {
    Extent extent = extent_of(t, core);
    if (!extent.fusable && core->kind == CORE_PRIM && ct_ad_is_operation(core)) return fuse_operations(t, seq, core);
    CtAd *ad = t->ad;
    CtCoreList reals = {0};
    free_reals(ad->arena, t, core, &reals);
    if (reals.count == 0 || !is_cheaper(extent, reals.count)) return NULL;
    CtFusedTerm fused = ct_ad_fuse(t, seq, core);
    CtCore *term = NULL;
    for (uint32_t i = 0; i < fused.count; i++) {
        CtCore *args[2] = {fused.partials[i], fused.b[i]};
        CtCore *scaled = ct_ad_library_con(ad, core->range, fused.b[i]->type, "Scale", args, 2);
        CtCore *none = ct_ad_library_con(ad, core->range, fused.b[i]->type, "Zero", NULL, 0);
        if (fused.zeros) scaled = unless_zero(t->p, args[0], none, scaled);
        CtCore *two[2] = {term, scaled};
        term = term ? ct_ad_library_con(ad, core->range, scaled->type, "Add", two, 2) : scaled;
    }
    CtCore *name = ct_ad_delta_let(ad, seq, core->range, term);
    return ct_core_pair(t->p, core->range, fused.y, name);
}

const CtRules ct_ad_delta_fused_rules = {
    CT_REVERSE_RULES, .state = ct_ad_reverse_state, .operation = ct_ad_delta_operation,
    .fuse = fuse,     .trace = ct_ad_reverse_trace, .reverse = &ct_ad_delta_names};
