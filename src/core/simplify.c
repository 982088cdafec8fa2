/* The simplifier of Core: β-reduction, inlining, case of known constructor, dead-code elimination, constant folding.
 *
 * A round counts every variable's occurrences, then rebuilds each term once, top down. At the head of each term head.c
 * does what needs no simplified children: it turns calls of λs and of small globals into lets, floats bindings out of
 * terms that are evaluated first (let x = (let y = a in b) in e), and takes known constructions apart. A let-bound term
 * with one use is simplified at its use instead of its binding ("pending"), so that nothing is simplified twice. Old
 * terms are never changed, since others may hold them as the origins of λs.
 *
 * Preserved are the meaning, the order of failures, the amount of work, and the lifetimes of values: an array that is
 * updated in place must not be held by a projection that moved behind the update. So only total terms without such
 * projections move, or terms that would have been evaluated next anyway.
 *
 * λs that have an origin, and the variables that occur in them, are not changed (see CtLam). */
#include "core/simplify.h"

#include "base/rules.h"

enum {
    ROUNDS = 4,
    MAX_DEPTH = 2500,       /* deeper terms are not simplified */
    MAX_WEIGHT = 16,        /* nodes of a scalar expression made by substituting let-bound terms */
    MAX_PENDING_LAMS = 100, /* λs substituted into each other in one chain of lets */
    SMALL_LAM = 10,         /* nodes of a local function that is copied into its calls */
};

static CtCore *simp(CtSimplifier *s, CtCore *core);

/* ---- rebuilding ---- */

/* The output position of `simp`: the place for the term's tail, and the λs that this chain has made pending. */
typedef struct Chain {
    CtCore **place;
    uint32_t pending_lams;
} Chain;

static void emit(Chain *chain, CtCore *binding) {
    *chain->place = binding;
    chain->place = binding->kind == CORE_LETREC ? &binding->as.letrec.body : &binding->as.let.body;
}

static CtCore *simp_lam(CtSimplifier *s, CtCore *core) {
    if (core->as.lam->origin != NULL) return core;
    s->depth++;
    CtCore *body = simp(s, core->as.lam->body);
    s->depth--;
    return ct_core_relam(s->p, core, body);
}

/* λx. f x is f, when f is a variable or a function's name. */
static CtCore *eta(CtSimplifier *s, CtCore *core) {
    const CtLam *lam = core->as.lam;
    const CtCore *body = lam->body;
    if (lam->origin != NULL || body->kind != CORE_APP || lam->count == 0) return core;
    CtCore *fun = body->as.call.of.fun;
    if (!ct_core_is_atom(fun) || fun->type != core->type) return core;
    for (uint32_t i = 0; i < lam->count; i++) {
        const CtCore *arg = body->as.call.args[i];
        if (arg->kind != CORE_VAR || arg->as.var != lam->params[i]) return core;
        if (fun->kind == CORE_VAR && fun->as.var == lam->params[i]) return core;
    }
    s->changes++;
    return fun;
}

static CtCore **simp_args(CtSimplifier *s, const CtCore *core, uint32_t count) {
    CtCore **args = CT_NEW_ARRAY(s->p->context->arena, CtCore *, core->as.call.count);
    for (uint32_t i = 0; i < count; i++) args[i] = simp(s, core->as.call.args[i]);
    return args;
}

/* A small local function is copied into the array operation that applies it, because engines make a loop of a λ
 * there. */
static void put_lam_in_sight(CtSimplifier *s, CtCore *array) {
    int index = ct_core_array_info(array->as.call.of.array)->function;
    if (index < 0 || array->as.call.args[index]->kind != CORE_VAR) return;
    CtCore *known = ct_core_notes(s, array->as.call.args[index]->as.var)->known;
    if (known == NULL || known->kind != CORE_LAM) return;
    CtCore *copy = ct_core_copied_lam(s, known, CT_NO_RANGE);
    if (copy == NULL) return;
    array->as.call.args[index] = copy;
    s->changes++;
}

/* f ⟨…, fail, …⟩ for a function f, which is no constant that is evaluated first: the failure, where nothing in front of
 * it may fail. NULL: another call. */
static CtCore *failing_argument(CtSimplifier *s, const CtCore *app) {
    if (app->kind != CORE_APP || app->as.call.of.fun->kind != CORE_GLOBAL || s->p->keeps_calls) return NULL;
    const CtCore *body = app->as.call.of.fun->as.global->body;
    if (body == NULL || body->kind != CORE_LAM) return NULL;
    for (uint32_t i = 0; i < app->as.call.count; i++) {
        const CtCore *arg = app->as.call.args[i];
        if (arg->kind == CORE_FAIL) {
            s->changes += CT_FIRED("simplify.failing_argument");
            return ct_core_fail(s->p, arg->range, app->type, arg->as.fail.code, arg->as.fail.text,
                                arg->as.fail.message);
        }
        if (!ct_core_is_total(arg)) return NULL;
    }
    return NULL;
}

static CtCore *simp_call(CtSimplifier *s, CtCore *core) {
    CtCore *copy = ct_core_like(s, core);
    if (core->kind == CORE_APP) copy->as.call.of.fun = simp(s, core->as.call.of.fun);
    copy->as.call.args = simp_args(s, core, core->as.call.count);
    CtCore *fails = failing_argument(s, copy);
    if (fails != NULL) return fails;
    if (core->kind == CORE_ARRAY) put_lam_in_sight(s, copy);
    if (core->kind != CORE_PRIM && core->kind != CORE_APP) return copy;
    CtCore *folded = core->kind == CORE_PRIM ? ct_core_fold(s->p, copy) : ct_core_join(s->p, copy);
    if (folded != NULL) s->changes++;
    return folded != NULL ? folded : copy;
}

/* case b of { False → False; True → True } is b. */
static bool is_identity_case(const CtCore *core) {
    if (core->as.cases.otherwise != NULL || core->type != core->as.cases.scrutinee->type) return false;
    for (uint32_t i = 0; i < core->as.cases.count; i++) {
        const CtCase *c = &core->as.cases.cases[i];
        if (c->con->count > 0 || c->body->kind != CORE_CON || c->body->as.call.of.con != c->con) return false;
    }
    return core->as.cases.count > 0;
}

/* A branch: inside, the constructor of a variable that is the scrutinee is known. */
static CtCore *simp_branch(CtSimplifier *s, const CtCore *scrutinee, const CtCase *c) {
    CtArena *arena = s->p->context->arena;
    bool all = scrutinee->kind == CORE_VAR && ct_core_notes(s, scrutinee->as.var)->opens > 1;
    for (uint32_t i = 0; i < c->con->count; i++) all = all && c->vars[i] != NULL;
    if (!all) return simp(s, c->body);
    CtCore **fields = CT_NEW_ARRAY(arena, CtCore *, c->con->count);
    for (uint32_t i = 0; i < c->con->count; i++) {
        fields[i] = ct_core_var(s->p, scrutinee->range, c->vars[i]);
        ct_core_notes(s, c->vars[i])->uses++;
    }
    CtVarNotes *notes = ct_core_notes(s, scrutinee->as.var);
    CtCore *before = notes->known;
    notes->known = ct_core_con(s->p, scrutinee->range, c->con, fields, c->con->count);
    CtCore *body = simp(s, c->body);
    notes->known = before;
    return body;
}

/* The only constructor that the branches leave to the default, if it has no fields. */
static CtCon *remaining(const CtCore *core) {
    const CtData *data = core->as.cases.scrutinee->type->data;
    CtCon *con = NULL;
    if (core->as.cases.count + 1 != data->con_count) return NULL;
    for (uint32_t i = 0; i < data->con_count; i++) {
        bool named = false;
        for (uint32_t j = 0; j < core->as.cases.count; j++) named = named || core->as.cases.cases[j].con->tag == i;
        if (!named) con = &data->cons[i];
    }
    return con != NULL && con->count == 0 ? con : NULL;
}

/* The default: if it stands for one constructor, that is known inside. */
static CtCore *simp_default(CtSimplifier *s, const CtCore *scrutinee, const CtCore *core) {
    CtCon *con = remaining(core);
    if (con == NULL) return simp(s, core->as.cases.otherwise);
    return simp_branch(s, scrutinee, &(CtCase){.con = con, .body = core->as.cases.otherwise});
}

/* NULL when the case stays, written to *place; otherwise the selected branch. */
static CtCore *simp_case(CtSimplifier *s, CtCore *core, CtCore **place) {
    uint32_t count = core->as.cases.count;
    CtCore *scrutinee = simp(s, core->as.cases.scrutinee);
    CtCore *known = ct_core_known_construction(s, scrutinee);
    if (known != NULL) {
        ct_core_count_uses(s, scrutinee); /* the fields will be visited again */
        return ct_core_select_branch(s, core, known);
    }
    CtCore *copy = ct_core_like(s, core);
    CtCase *cases = CT_NEW_ARRAY(s->p->context->arena, CtCase, count);
    for (uint32_t i = 0; i < count; i++) {
        cases[i] = core->as.cases.cases[i];
        cases[i].body = simp_branch(s, scrutinee, &cases[i]);
        if (cases[i].con->count == 0) continue;
        cases[i].vars = CT_NEW_ARRAY(s->p->context->arena, CtVar *, cases[i].con->count);
        for (uint32_t j = 0; j < cases[i].con->count; j++) {
            CtVar *var = core->as.cases.cases[i].vars[j];
            cases[i].vars[j] = var != NULL && ct_core_notes(s, var)->uses == 0 ? NULL : var;
        }
    }
    copy->as.cases.scrutinee = scrutinee;
    copy->as.cases.cases = cases;
    if (core->as.cases.otherwise != NULL) copy->as.cases.otherwise = simp_default(s, scrutinee, core);
    bool identity = is_identity_case(copy);
    s->changes += identity;
    *place = identity ? scrutinee : copy;
    return NULL;
}

/* Whether the let's right-hand side is to be substituted at the variable's use. */
static bool is_moved(CtSimplifier *s, const CtCore *let, CtVarNotes *notes, Chain *chain) {
    const CtCore *rhs = let->as.let.rhs;
    if (notes->uses != 1 || notes->pinned) return false;
    if (rhs->kind == CORE_LAM) {
        if (notes->crosses && notes->calls == 0) return false;
        notes->weight = 1;
        return ++chain->pending_lams <= MAX_PENDING_LAMS;
    }
    return !notes->crosses && ct_core_is_movable(s, rhs, &notes->weight) && notes->weight <= MAX_WEIGHT;
}

/* let x = a in … x …, where x is used once and is evaluated next: the body with a substituted. */
static CtCore *next_in_place(CtSimplifier *s, const CtCore *let) {
    CtVar *var = let->as.let.vars[0];
    CtCore *rhs = let->as.let.rhs, *body = let->as.let.body;
    const CtVarNotes *notes = ct_core_notes(s, var);
    if (notes->uses != 1 || notes->pinned || notes->crosses) return NULL;
    const CtCore *first = body->kind == CORE_CASE     ? body->as.cases.scrutinee
                          : body->kind == CORE_UNPACK ? body->as.let.rhs
                                                      : body;
    bool direct = first->kind == CORE_VAR;
    if (!direct && ct_core_size(s, rhs, MAX_WEIGHT) >= MAX_WEIGHT) return NULL;
    CtCore *result = ct_core_put_first(s, body, var, rhs);
    if (result != NULL) s->changes++;
    return result;
}

typedef struct LetOf {
    CtSimplifier *s;
    CtCore *let;
} LetOf;

static CtCore *let_of(void *data, CtCore *construction) {
    LetOf *of = data;
    CtCore *let = ct_core_like(of->s, of->let);
    let->as.let.rhs = construction;
    return let;
}

/* What is known of a variable bound to a simplified term. */
static CtCore *knowledge(CtSimplifier *s, CtCore *rhs) {
    if (rhs->kind == CORE_LAM) {
        bool small = rhs->as.lam->origin == NULL && ct_core_size(s, rhs->as.lam->body, SMALL_LAM + 1) <= SMALL_LAM;
        return small ? rhs : NULL;
    }
    bool is_array = rhs->kind == CORE_ARRAY_LIT && rhs->as.call.count <= MAX_KNOWN_ARRAY;
    bool is_known = rhs->kind == CORE_CON || rhs->kind == CORE_TUPLE || is_array;
    return is_known && ct_core_is_of_atoms(rhs) ? rhs : NULL;
}

/* Returns the term to be simplified next, at chain->place. */
static CtCore *simp_let(CtSimplifier *s, CtCore *let, Chain *chain) {
    CtCore *opened = ct_core_head_let(s, &let);
    if (opened != NULL) return opened;
    CtCore *rhs = let->as.let.rhs;
    CtVarNotes *notes = ct_core_notes(s, let->as.let.vars[0]);
    if (notes->uses == 0 && ct_core_is_total(rhs)) {
        s->changes++;
        return let->as.let.body;
    }
    if (is_moved(s, let, notes, chain)) {
        notes->becomes = rhs;
        notes->pending = true;
        s->changes++;
        return let->as.let.body;
    }
    CtCore *placed = next_in_place(s, let);
    if (placed != NULL) return placed;
    if (notes->opens > 0 && (rhs->kind == CORE_CON || rhs->kind == CORE_TUPLE)) {
        LetOf of = {s, let};
        CtCore *named = ct_core_name_args(s, rhs, let->as.let.vars[0], let_of, &of);
        if (named != NULL) return named;
    }
    CtCore *simple = simp(s, rhs);
    if (ct_core_is_atom(simple) && !notes->pinned) {
        notes->becomes = simple;
        s->changes++;
        return let->as.let.body;
    }
    notes->known = knowledge(s, simple);
    CtCore *copy = ct_core_like(s, let);
    copy->as.let.rhs = simple;
    emit(chain, copy);
    return let->as.let.body;
}

static CtCore *simp_unpack(CtSimplifier *s, CtCore *unpack, Chain *chain) {
    CtCore *opened = ct_core_head_let(s, &unpack);
    if (opened != NULL) return opened;
    uint32_t count = unpack->as.let.count;
    CtVar **vars = CT_NEW_ARRAY(s->p->context->arena, CtVar *, count);
    bool any = false, all = true;
    for (uint32_t i = 0; i < count; i++) {
        CtVar *var = unpack->as.let.vars[i];
        vars[i] = var != NULL && ct_core_notes(s, var)->uses == 0 ? NULL : var;
        any = any || vars[i] != NULL;
        all = all && vars[i] != NULL;
    }
    if (!any && ct_core_is_total(unpack->as.let.rhs)) {
        s->changes++;
        return unpack->as.let.body;
    }
    CtCore *rhs = simp(s, unpack->as.let.rhs);
    if (rhs->kind == CORE_VAR && all) {
        CtCore **parts = CT_NEW_ARRAY(s->p->context->arena, CtCore *, count);
        for (uint32_t i = 0; i < count; i++) parts[i] = ct_core_var(s->p, unpack->range, vars[i]);
        CtVarNotes *notes = ct_core_notes(s, rhs->as.var);
        if (notes->known == NULL) {
            notes->known = ct_core_tuple(s->p, unpack->range, parts, count);
            ct_push(s->p->context->arena, &s->trail, notes);
        }
    }
    CtCore *copy = ct_core_like(s, unpack);
    copy->as.let.vars = vars;
    copy->as.let.rhs = rhs;
    emit(chain, copy);
    return unpack->as.let.body;
}

static CtCore *simp_letrec(CtSimplifier *s, CtCore *core, Chain *chain) {
    uint32_t count = core->as.letrec.count, inner = 0;
    CtBind *old = core->as.letrec.binds;
    bool used = false, has_origin = false;
    for (uint32_t i = 0; i < count; i++) {
        const CtVarNotes *notes = ct_core_notes(s, old[i].var);
        used = used || notes->uses > notes->inner_uses;
        inner += notes->inner_uses;
        has_origin = has_origin || old[i].lam->as.lam->origin != NULL;
    }
    if (!used) {
        s->changes++;
        return core->as.letrec.body;
    }
    if (has_origin) {
        emit(chain, ct_core_like(s, core));
        return core->as.letrec.body;
    }
    if (count == 1 && inner == 0) {
        s->changes++;
        CtCore *lam = ct_core_relam(s->p, old[0].lam, old[0].lam->as.lam->body);
        return ct_core_let(s->p, core->range, old[0].var, lam, core->as.letrec.body);
    }
    CtBind *binds = CT_NEW_ARRAY(s->p->context->arena, CtBind, count);
    for (uint32_t i = 0; i < count; i++) {
        binds[i].var = old[i].var;
        binds[i].lam = simp_lam(s, old[i].lam);
    }
    emit(chain, ct_core_letrec(s->p, core->range, binds, count, core->as.letrec.body));
    return core->as.letrec.body;
}

/* Iterates over the last argument of a construction, since lists are long. */
static CtCore *simp_con(CtSimplifier *s, CtCore *core, Chain *chain) {
    uint32_t count = core->as.call.count;
    CtCore *copy = ct_core_like(s, core);
    *chain->place = copy;
    if (count == 0) return NULL;
    copy->as.call.args = simp_args(s, core, count - 1);
    chain->place = &copy->as.call.args[count - 1];
    return core->as.call.args[count - 1];
}

/* Simplifies a term, or its beginning, to *chain->place; returns the rest, which belongs to the new place. */
static CtCore *simp_step(CtSimplifier *s, CtCore *core, Chain *chain) {
    CtCore *result = core;
    switch (core->kind) {
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING: break;
    case CORE_LET: return simp_let(s, core, chain);
    case CORE_UNPACK: return simp_unpack(s, core, chain);
    case CORE_LETREC: return simp_letrec(s, core, chain);
    case CORE_CASE: return simp_case(s, core, chain->place);
    case CORE_CON: return simp_con(s, core, chain);
    case CORE_LAM: result = eta(s, simp_lam(s, core)); break;
    case CORE_PROJ: result = ct_core_proj(s->p, core->range, simp(s, core->as.proj.tuple), core->as.proj.index); break;
    case CORE_APP:
    case CORE_TUPLE:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL: result = simp_call(s, core); break;
    case CORE_FAIL:
        if (core->as.fail.message == NULL) break;
        result = ct_core_like(s, core);
        result->as.fail.message = simp(s, core->as.fail.message);
        break;
    }
    *chain->place = result;
    return NULL;
}

static CtCore *simp(CtSimplifier *s, CtCore *core) {
    CtCore *result = NULL;
    Chain chain = {&result, 0};
    uint32_t trail = s->trail.count;
    while (core != NULL) core = simp_step(s, ct_core_head(s, core), &chain);
    while (s->trail.count > trail) s->trail.items[--s->trail.count]->known = NULL;
    return result;
}

/* ---- rounds ---- */

static CtSimplifier new_round(CtProgram *p) { return (CtSimplifier){.p = p, .run = ++p->simplifier_runs}; }

/* The number of nodes of a term; 0: they are nested too deeply. A round does not enter λs that have an origin, so their
 * depth does not count, and of their nodes, which would be gone through again for each λ around them, only so many.
 * Chains of bindings and constructions, which are iterated over, count as one level. */
static uint32_t measure(CtSimplifier *s, CtCore *core) {
    enum { MOST = 1000000, MOST_INSIDE = 5000 };
    CtArena *arena = s->p->context->arena;
    CtCoreList work = {0};
    CT_VEC(uint32_t) levels = {0}; /* nesting levels of the terms in `work` */
    uint32_t size = 0, inside = 0;
    ct_push(arena, &work, core);
    ct_push(arena, &levels, 0);
    while (work.count > 0) {
        CtCore *next = work.items[--work.count];
        uint32_t level = levels.items[--levels.count];
        if (level > MAX_DEPTH) return 0;
        size += size < MOST;
        if (next->kind == CORE_LAM && next->as.lam->origin != NULL) {
            inside += ct_core_size(s, next->as.lam->body, MOST_INSIDE - inside);
            continue;
        }
        ct_core_children(arena, next, &work);
        bool chain =
            next->kind == CORE_LET || next->kind == CORE_UNPACK || next->kind == CORE_LETREC || next->kind == CORE_CON;
        for (uint32_t i = levels.count; i < work.count; i++)
            ct_push(arena, &levels, chain && i + 1 == work.count ? level : level + 1);
    }
    return size + inside;
}

/* One round over a term; false when it is too deep. */
static bool simplify_once(CtSimplifier *s, CtCore **core) {
    uint32_t size = measure(s, *core);
    if (size == 0) return false;
    s->fuel = 2000 + 4 * size;
    s->depth = 0;
    ct_core_count_uses(s, *core);
    *core = (*core)->kind == CORE_LAM ? simp_lam(s, *core) : simp(s, *core); /* a function stays a λ */
    return true;
}

void ct_core_simplify_rounds(CtProgram *p) {
    uint32_t count = p->globals.count;
    CtGlobal **order = CT_NEW_ARRAY(p->context->arena, CtGlobal *, count);
    bool *settled = CT_NEW_ARRAY(p->context->arena, bool, count);
    ct_core_callees_first(p, order);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        CtSimplifier s = new_round(p);
        uint32_t all = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (settled[i] || order[i]->body == NULL) continue;
            s.changes = 0;
            settled[i] = !simplify_once(&s, &order[i]->body) || s.changes == 0;
            all += s.changes;
        }
        if (all == 0) return;
    }
}

void ct_core_take_all_arguments(CtProgram *p) {
    ct_core_simplify_rounds(p);
    ct_core_full_calls(p);
}

void ct_core_simplify(CtProgram *p) {
    ct_core_simplify_rounds(p);
    if (ct_core_point_free(p)) ct_core_simplify_rounds(p);
    if (ct_core_specialise(p)) ct_core_simplify_rounds(p);
}

CtCore *ct_core_simplify_term(CtProgram *p, CtCore *core) {
    for (uint32_t round = 0; round < ROUNDS; round++) {
        CtSimplifier s = new_round(p);
        if (!simplify_once(&s, &core) || s.changes == 0) break;
    }
    return core;
}
