/* The simplifier: β, inlining, known constructions taken apart, dead code, constants.
 *
 * A round counts every variable's occurrences, then rebuilds each term once, top down. At the head of each term `head`
 * does what needs no simplified children: it opens calls of λs and of small globals into lets, floats bindings out of
 * positions that are evaluated first (let x = (let y = a in b) in e), and takes apart constructions in sight. A
 * let-bound term with one use is not simplified where it is bound but where it is used ("pending"), so nothing is
 * simplified twice. Old terms are never changed: other rooms may hold them, as the origins of λs.
 *
 * Kept: meaning, the order of failures and which comes first, the number of times that work is done, and how long
 * values live: an array that is updated in place must not be held by a projection that moved behind the update. So only
 * total terms without such projections move, or terms that would have been evaluated next anyway.
 *
 * Left alone: λs that have an origin, and the variables that occur in them (CtLam says why).
 */
#include "core/simplify.h"

enum {
    ROUNDS = 4,
    MAX_DEPTH = 2500,       /* of terms that are simplified at all; deeper ones stay as they are */
    MAX_WEIGHT = 16,        /* nodes of a scalar expression that is made by moving let-bound parts into place */
    MAX_PENDING_LAMS = 100, /* λs moved into each other in one chain of lets */
    MAX_COPY = 200,         /* nodes of any function that is copied into a call */
    SMALL_LAM = 10,         /* nodes of a local function that is copied into its calls */
    SMALL_BRANCH = 3,       /* nodes of a branch that case of case may copy */
    MAX_ALTERNATIVES = 8,   /* of the cases that it looks at */
    MAX_KNOWN_ARRAY = 4     /* elements of a literal array whose changes are followed */
};

static CtCore *simp(CtSimplifier *s, CtCore *core);
static CtCore *head(CtSimplifier *s, CtCore *core);

static CtCore *node(CtSimplifier *s, const CtCore *like) {
    CtCore *copy = CT_NEW(s->p->context->arena, CtCore);
    *copy = *like;
    return copy;
}

/* ---- bindings out of first positions ---- */

static bool is_binding(const CtCore *core) {
    return core->kind == CORE_LET || core->kind == CORE_UNPACK || core->kind == CORE_LETREC;
}

static CtCore *body_of(const CtCore *binding) {
    return binding->kind == CORE_LETREC ? binding->as.letrec.body : binding->as.let.body;
}

/* The same binding around another body. */
static CtCore *rebind(CtSimplifier *s, const CtCore *binding, CtCore *body) {
    CtCore *copy = node(s, binding);
    copy->type = body->type;
    if (binding->kind == CORE_LETREC)
        copy->as.letrec.body = body;
    else
        copy->as.let.body = body;
    s->changes++;
    return copy;
}

/* ---- variables ---- */

/* The term that a pending variable stands for. A second use can only be a copy of the first, in another branch. */
static CtCore *take_pending(CtSimplifier *s, CtVarNotes *notes) {
    if (!notes->consumed) {
        notes->consumed = true;
        return notes->becomes;
    }
    CtCore *copy = ct_core_copy(s->p, notes->becomes, NULL);
    ct_count_uses(s, copy);
    return copy;
}

/* The construction that a term is known to be, or NULL. */
static CtCore *known_construction(CtSimplifier *s, CtCore *core) {
    if (core->kind == CORE_CON || core->kind == CORE_TUPLE) return core;
    if (core->kind != CORE_VAR) return NULL;
    CtCore *known = ct_notes(s, core->as.var)->known;
    return known != NULL && known->kind != CORE_LAM ? known : NULL;
}

/* let vars = args in body, one by one; an argument whose variable is NULL is evaluated only if it could fail. */
static CtCore *bind_all(CtSimplifier *s, CtSpan span, CtVar *const *vars, CtCore *const *args, uint32_t count,
                        CtCore *body) {
    for (uint32_t i = count; i > 0; i--) {
        CtVar *var = vars[i - 1];
        CtCore *arg = args[i - 1];
        if (var == NULL && ct_core_is_total(arg)) continue;
        if (var == NULL) {
            var = ct_var_new(s->p, "unused", arg->type);
            ct_notes(s, var)->depth = s->depth;
        }
        body = ct_core_let(s->p, span, var, arg, body);
    }
    s->changes++;
    return body;
}

/* Names for the arguments of a construction that are not atoms: `let t = a in C t b`, so that it can be taken apart
 * wherever it is known. NULL when there are none. */
static CtCore *name_args(CtSimplifier *s, CtCore *construction, CtVar *like, CtCore *(*rest)(void *, CtCore *),
                         void *data) {
    CtArena *arena = s->p->context->arena;
    uint32_t count = construction->as.call.count;
    CtVar **vars = CT_NEW_ARRAY(arena, CtVar *, count);
    CtCore **args = CT_NEW_ARRAY(arena, CtCore *, count), **named = CT_NEW_ARRAY(arena, CtCore *, count);
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        CtCore *arg = construction->as.call.args[i];
        named[i] = arg;
        if (ct_core_is_atom(arg)) continue;
        CtVar *var = ct_var_new(s->p, like != NULL ? like->name->text : "t", arg->type);
        CtVarNotes *notes = ct_notes(s, var);
        *notes = (CtVarNotes){.run = s->run, .uses = 2, .opens = 1, .depth = s->depth};
        vars[used] = var;
        args[used++] = arg;
        named[i] = ct_core_var(s->p, arg->span, var);
    }
    if (used == 0) return NULL;
    CtCore *copy = node(s, construction);
    copy->as.call.args = named;
    return bind_all(s, construction->span, vars, args, used, rest(data, copy));
}

/* ---- heads: what can be done before the children are simplified ---- */

static CtCore *beta(CtSimplifier *s, const CtCore *app, const CtLam *lam) {
    return bind_all(s, app->span, lam->params, app->as.call.args, lam->count, lam->body);
}

static CtCore *copied_lam(CtSimplifier *s, CtCore *lam, CtSpan call) {
    uint32_t size = ct_core_size(s, lam, MAX_COPY);
    if (size >= MAX_COPY || size > s->fuel) return NULL;
    s->fuel -= size;
    CtCore *copy = ct_core_copy_inlined(s->p, lam, call);
    ct_count_uses(s, copy);
    return copy;
}

/* The λ that a function to be called is known to be; it may be taken. */
static CtCore *called_lam(CtSimplifier *s, const CtCore *app, CtCore *fun) {
    if (fun->kind == CORE_LAM) return fun;
    if (fun->kind == CORE_GLOBAL) {
        CtCore *lam = ct_inlinable(s, fun->as.global, app->as.call.args, app->as.call.count);
        return lam != NULL ? copied_lam(s, lam, app->span) : NULL;
    }
    if (fun->kind != CORE_VAR) return NULL;
    CtCore *known = ct_notes(s, fun->as.var)->known;
    if (known == NULL || known->kind != CORE_LAM) return NULL;
    return copied_lam(s, known, app->span);
}

/* NULL when the application stays; then *app is it with its function's head done. */
static CtCore *head_app(CtSimplifier *s, CtCore **app) {
    CtCore *fun = head(s, (*app)->as.call.of.fun);
    if (fun != (*app)->as.call.of.fun) {
        *app = node(s, *app);
        (*app)->as.call.of.fun = fun;
    }
    if (is_binding(fun)) {
        CtCore *inner = node(s, *app);
        inner->as.call.of.fun = body_of(fun);
        return rebind(s, fun, inner);
    }
    CtCore *lam = called_lam(s, *app, fun);
    return lam != NULL ? beta(s, *app, lam->as.lam) : NULL;
}

typedef struct ProjOf {
    CtSimplifier *s;
    CtCore *proj;
} ProjOf;

static CtCore *proj_of(void *data, CtCore *tuple) {
    ProjOf *of = data;
    return tuple->as.call.args[of->proj->as.proj.index];
}

static CtCore *head_proj(CtSimplifier *s, CtCore **proj) {
    CtCore *tuple = head(s, (*proj)->as.proj.tuple);
    uint32_t index = (*proj)->as.proj.index;
    if (tuple != (*proj)->as.proj.tuple) {
        *proj = node(s, *proj);
        (*proj)->as.proj.tuple = tuple;
    }
    if (is_binding(tuple)) {
        CtCore *inner = node(s, *proj);
        inner->as.proj.tuple = body_of(tuple);
        return rebind(s, tuple, inner);
    }
    CtCore *known = known_construction(s, tuple);
    if (known == NULL) return NULL;
    s->changes++;
    ProjOf of = {s, *proj};
    CtCore *named = name_args(s, known, NULL, proj_of, &of);
    return named != NULL ? named : known->as.call.args[index];
}

/* ---- elements of literal arrays ---- */

static CtCore *itself(void *data, CtCore *literal) {
    (void)data;
    return literal;
}

static CtCore *element_of(void *data, CtCore *literal) { return literal->as.call.args[*(const int64_t *)data]; }

static bool is_of_atoms(const CtCore *construction) {
    for (uint32_t i = 0; i < construction->as.call.count; i++)
        if (!ct_core_is_atom(construction->as.call.args[i])) return false;
    return true;
}

/* [|a, b|] ! 1 and update [|a, b|] 1 c, where the literal is in sight. */
static CtCore *head_array(CtSimplifier *s, CtCore **core) {
    CtArrayOp op = (*core)->as.call.of.array;
    CtCore *const *args = (*core)->as.call.args;
    if ((op != ARRAY_INDEX && op != ARRAY_UPDATE) || args[1]->kind != CORE_LIT) return NULL;
    CtCore *array = head(s, args[0]);
    if (array != args[0]) {
        *core = node(s, *core);
        (*core)->as.call.args = CT_NEW_ARRAY(s->p->context->arena, CtCore *, 3);
        memcpy((*core)->as.call.args, args, (*core)->as.call.count * sizeof *args);
        (*core)->as.call.args[0] = array;
        args = (*core)->as.call.args;
    }
    CtCore *known = array->kind == CORE_VAR ? ct_notes(s, array->as.var)->known : array;
    if (known == NULL || known->kind != CORE_ARRAY_LIT || known->as.call.count > MAX_KNOWN_ARRAY) return NULL;
    int64_t index = args[1]->as.lit.integer;
    if (index < 0 || index >= known->as.call.count || (op == ARRAY_UPDATE && !is_of_atoms(known))) return NULL;
    s->changes++;
    CtCore *(*rest)(void *, CtCore *) = element_of;
    if (op == ARRAY_UPDATE) {
        CtCore **items = CT_NEW_ARRAY(s->p->context->arena, CtCore *, MAX_KNOWN_ARRAY);
        memcpy(items, known->as.call.args, known->as.call.count * sizeof *items);
        items[index] = args[2];
        known = node(s, known);
        known->as.call.args = items;
        rest = itself;
    }
    CtCore *named = name_args(s, known, NULL, rest, &index);
    return named != NULL ? named : rest(&index, known);
}

/* ---- case ---- */

/* The branch for a construction, its fields bound. */
static CtCore *select_branch(CtSimplifier *s, const CtCore *core, const CtCore *con) {
    for (uint32_t i = 0; i < core->as.cases.count; i++) {
        const CtCase *c = &core->as.cases.cases[i];
        if (c->con != con->as.call.of.con) continue;
        return bind_all(s, con->span, c->vars, con->as.call.args, con->as.call.count, c->body);
    }
    CtVar **none = CT_NEW_ARRAY(s->p->context->arena, CtVar *, con->as.call.count);
    return bind_all(s, con->span, none, con->as.call.args, con->as.call.count, core->as.cases.otherwise);
}

/* Which alternative a construction takes: cases.count stands for the default. */
static uint32_t alternative(const CtCore *core, const CtCore *con) {
    uint32_t i = 0;
    while (i < core->as.cases.count && core->as.cases.cases[i].con != con->as.call.of.con) i++;
    return i;
}

static CtCore *branch_at(const CtCore *core, uint32_t index) {
    return index < core->as.cases.count ? core->as.cases.cases[index].body : core->as.cases.otherwise;
}

/* Whether pushing the outer case into the branches of the inner one copies nothing but what is small. */
static bool case_of_case_is_cheap(CtSimplifier *s, const CtCore *outer, const CtCore *inner) {
    uint32_t outer_count = outer->as.cases.count + (outer->as.cases.otherwise != NULL);
    uint32_t inner_count = inner->as.cases.count + (inner->as.cases.otherwise != NULL);
    uint32_t wanted[MAX_ALTERNATIVES + 1] = {0}, known = 0;
    if (outer_count > MAX_ALTERNATIVES || inner_count > MAX_ALTERNATIVES) return false;
    for (uint32_t i = 0; i < inner_count; i++) {
        const CtCore *branch = branch_at(inner, i);
        if (branch->kind == CORE_FAIL) continue;
        if (branch->kind == CORE_CON) {
            wanted[alternative(outer, branch)]++;
            known++;
        } else {
            for (uint32_t j = 0; j < outer_count; j++) wanted[j]++;
        }
    }
    if (known == 0) return false;
    for (uint32_t j = 0; j < outer_count; j++)
        if (wanted[j] > 1 && ct_core_size(s, branch_at(outer, j), SMALL_BRANCH + 1) > SMALL_BRANCH) return false;
    return true;
}

/* One alternative of a case, as a case of it alone: its own nodes the first time, then copies. */
static CtCore *one_alternative(CtSimplifier *s, const CtCore *outer, uint32_t index, bool *used) {
    CtCore *one = node(s, outer);
    bool is_case = index < outer->as.cases.count;
    one->as.cases.scrutinee = ct_core_unit(s->p, outer->span);
    one->as.cases.cases = is_case ? &outer->as.cases.cases[index] : NULL;
    one->as.cases.count = is_case;
    if (is_case) one->as.cases.otherwise = NULL;
    if (used[index]) {
        one = ct_core_copy(s->p, one, NULL);
        ct_count_uses(s, one);
    }
    used[index] = true;
    return one;
}

/* The outer case on one branch of the inner. */
static CtCore *push_case(CtSimplifier *s, const CtCore *outer, CtCore *branch, bool *used) {
    if (branch->kind == CORE_FAIL)
        return ct_core_fail(s->p, branch->span, outer->type, branch->as.fail.code, branch->as.fail.text,
                            branch->as.fail.message);
    if (branch->kind == CORE_CON)
        return select_branch(s, one_alternative(s, outer, alternative(outer, branch), used), branch);
    uint32_t count = outer->as.cases.count;
    CtCore *pushed = node(s, outer);
    pushed->as.cases.scrutinee = branch;
    pushed->as.cases.cases = CT_NEW_ARRAY(s->p->context->arena, CtCase, count);
    for (uint32_t i = 0; i < count; i++)
        pushed->as.cases.cases[i] = one_alternative(s, outer, i, used)->as.cases.cases[0];
    if (outer->as.cases.otherwise != NULL)
        pushed->as.cases.otherwise = one_alternative(s, outer, count, used)->as.cases.otherwise;
    return pushed;
}

static CtCore *case_of_case(CtSimplifier *s, CtCore *outer, CtCore *inner) {
    uint32_t count = inner->as.cases.count;
    CtCore *copy = node(s, inner);
    CtCase *cases = CT_NEW_ARRAY(s->p->context->arena, CtCase, count);
    bool used[MAX_ALTERNATIVES + 1] = {false};
    for (uint32_t i = 0; i < count; i++) {
        cases[i] = inner->as.cases.cases[i];
        cases[i].body = push_case(s, outer, cases[i].body, used);
    }
    copy->as.cases.cases = cases;
    if (copy->as.cases.otherwise != NULL)
        copy->as.cases.otherwise = push_case(s, outer, copy->as.cases.otherwise, used);
    copy->type = outer->type;
    s->changes++;
    return copy;
}

static CtCore *head_case(CtSimplifier *s, CtCore **core) {
    CtCore *scrutinee = head(s, (*core)->as.cases.scrutinee);
    if (scrutinee != (*core)->as.cases.scrutinee) {
        *core = node(s, *core);
        (*core)->as.cases.scrutinee = scrutinee;
    }
    if (is_binding(scrutinee)) {
        CtCore *inner = node(s, *core);
        inner->as.cases.scrutinee = body_of(scrutinee);
        return rebind(s, scrutinee, inner);
    }
    CtCore *known = known_construction(s, scrutinee);
    if (known != NULL) return select_branch(s, *core, known);
    if (scrutinee->kind == CORE_CASE && case_of_case_is_cheap(s, *core, scrutinee))
        return case_of_case(s, *core, scrutinee);
    return NULL;
}

/* ---- let ---- */

/* The right-hand side's head, its bindings floated out; NULL when the let itself is to be looked at. */
static CtCore *head_let(CtSimplifier *s, CtCore **let) {
    CtCore *rhs = head(s, (*let)->as.let.rhs);
    if (rhs != (*let)->as.let.rhs) {
        *let = node(s, *let);
        (*let)->as.let.rhs = rhs;
    }
    if (is_binding(rhs)) {
        CtCore *inner = node(s, *let);
        inner->as.let.rhs = body_of(rhs);
        return rebind(s, rhs, inner);
    }
    if (rhs->kind == CORE_FAIL) {
        s->changes++;
        return ct_core_fail(s->p, rhs->span, (*let)->type, rhs->as.fail.code, rhs->as.fail.text, rhs->as.fail.message);
    }
    if ((*let)->kind == CORE_LET) return NULL;
    CtCore *known = known_construction(s, rhs);
    if (known == NULL) return NULL;
    return bind_all(s, (*let)->span, (*let)->as.let.vars, known->as.call.args, (*let)->as.let.count,
                    (*let)->as.let.body);
}

static CtCore *head(CtSimplifier *s, CtCore *core) {
    for (;;) {
        CtCore *next = NULL;
        switch (core->kind) {
        case CORE_VAR: {
            CtVarNotes *notes = ct_notes(s, core->as.var);
            if (notes->becomes == NULL) return core;
            if (!notes->pending) return notes->becomes;
            core = take_pending(s, notes);
            continue;
        }
        case CORE_GLOBAL: {
            CtCore *atom = ct_global_atom(core->as.global);
            if (atom == NULL) return core;
            core = atom;
            continue;
        }
        case CORE_APP: next = head_app(s, &core); break;
        case CORE_PROJ: next = head_proj(s, &core); break;
        case CORE_CASE: next = head_case(s, &core); break;
        case CORE_ARRAY: next = head_array(s, &core); break;
        case CORE_LET:
        case CORE_UNPACK:
        case CORE_LETREC:
        case CORE_LIT:
        case CORE_STRING:
        case CORE_LAM:
        case CORE_TUPLE:
        case CORE_CON:
        case CORE_PRIM:
        case CORE_ARRAY_LIT:
        case CORE_DERIV:
        case CORE_DUAL:
        case CORE_FAIL: return core;
        }
        if (next == NULL) return core;
        core = next;
    }
}

/* ---- rebuilding ---- */

/* What `simp` writes into: the place for the term's tail, and the λs that this chain has made pending. */
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
    if (lam->origin != NULL || body->kind != CORE_APP || body->as.call.count != lam->count || lam->count == 0)
        return core;
    CtCore *fun = body->as.call.of.fun;
    if ((fun->kind != CORE_VAR && fun->kind != CORE_GLOBAL) || !ct_core_is_atom(fun) || fun->type != core->type)
        return core;
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

/* An array operation on a small local function has it in place: engines make a loop of that. */
static void put_lam_in_sight(CtSimplifier *s, CtCore *array) {
    int index = ct_array_info(array->as.call.of.array)->function;
    if (index < 0 || array->as.call.args[index]->kind != CORE_VAR) return;
    CtCore *known = ct_notes(s, array->as.call.args[index]->as.var)->known;
    if (known == NULL || known->kind != CORE_LAM) return;
    CtCore *copy = copied_lam(s, known, CT_NO_SPAN);
    if (copy == NULL) return;
    array->as.call.args[index] = copy;
    s->changes++;
}

static CtCore *simp_call(CtSimplifier *s, CtCore *core) {
    CtCore *copy = node(s, core);
    if (core->kind == CORE_APP) copy->as.call.of.fun = simp(s, core->as.call.of.fun);
    copy->as.call.args = simp_args(s, core, core->as.call.count);
    if (core->kind == CORE_ARRAY) put_lam_in_sight(s, copy);
    if (core->kind != CORE_PRIM) return copy;
    CtCore *folded = ct_fold(s->p, copy);
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

/* Inside a branch, a variable that was taken apart, and is again further in, is known. */
static CtCore *simp_branch(CtSimplifier *s, const CtCore *scrutinee, const CtCase *c) {
    CtArena *arena = s->p->context->arena;
    bool all = scrutinee->kind == CORE_VAR && ct_notes(s, scrutinee->as.var)->opens > 1;
    for (uint32_t i = 0; i < c->con->count; i++) all = all && c->vars[i] != NULL;
    if (!all) return simp(s, c->body);
    CtCore **fields = CT_NEW_ARRAY(arena, CtCore *, c->con->count);
    for (uint32_t i = 0; i < c->con->count; i++) {
        fields[i] = ct_core_var(s->p, scrutinee->span, c->vars[i]);
        ct_notes(s, c->vars[i])->uses++;
    }
    CtVarNotes *notes = ct_notes(s, scrutinee->as.var);
    CtCore *before = notes->known;
    notes->known = ct_core_con(s->p, scrutinee->span, c->con, fields, c->con->count);
    CtCore *body = simp(s, c->body);
    notes->known = before;
    return body;
}

/* NULL when the case stays, written to *place; otherwise the branch that is taken. */
static CtCore *simp_case(CtSimplifier *s, CtCore *core, CtCore **place) {
    uint32_t count = core->as.cases.count;
    CtCore *scrutinee = simp(s, core->as.cases.scrutinee);
    CtCore *known = known_construction(s, scrutinee);
    if (known != NULL) {
        ct_count_uses(s, scrutinee); /* the fields will be looked at again */
        return select_branch(s, core, known);
    }
    CtCore *copy = node(s, core);
    CtCase *cases = CT_NEW_ARRAY(s->p->context->arena, CtCase, count);
    for (uint32_t i = 0; i < count; i++) {
        cases[i] = core->as.cases.cases[i];
        cases[i].body = simp_branch(s, scrutinee, &cases[i]);
        if (cases[i].con->count == 0) continue;
        cases[i].vars = CT_NEW_ARRAY(s->p->context->arena, CtVar *, cases[i].con->count);
        for (uint32_t j = 0; j < cases[i].con->count; j++) {
            CtVar *var = core->as.cases.cases[i].vars[j];
            cases[i].vars[j] = var != NULL && ct_notes(s, var)->uses == 0 ? NULL : var;
        }
    }
    copy->as.cases.scrutinee = scrutinee;
    copy->as.cases.cases = cases;
    if (core->as.cases.otherwise != NULL) copy->as.cases.otherwise = simp(s, core->as.cases.otherwise);
    bool identity = is_identity_case(copy);
    s->changes += identity;
    *place = identity ? scrutinee : copy;
    return NULL;
}

/* Whether the let's variable is to be replaced by its right-hand side where it is used. */
static bool is_moved(CtSimplifier *s, const CtCore *let, CtVarNotes *notes, Chain *chain) {
    const CtCore *rhs = let->as.let.rhs;
    if (notes->uses != 1 || notes->pinned) return false;
    if (rhs->kind == CORE_LAM) {
        if (notes->crosses && notes->calls == 0) return false;
        notes->weight = 1;
        return ++chain->pending_lams <= MAX_PENDING_LAMS;
    }
    return !notes->crosses && ct_is_movable(s, rhs, &notes->weight) && notes->weight <= MAX_WEIGHT;
}

/* let x = a in … x …, where x is used once and is the next thing to be evaluated: the body with a in its place. */
static CtCore *next_in_place(CtSimplifier *s, const CtCore *let) {
    CtVar *var = let->as.let.vars[0];
    CtCore *rhs = let->as.let.rhs, *body = let->as.let.body;
    const CtVarNotes *notes = ct_notes(s, var);
    if (notes->uses != 1 || notes->pinned || notes->crosses) return NULL;
    const CtCore *first = body->kind == CORE_CASE     ? body->as.cases.scrutinee
                          : body->kind == CORE_UNPACK ? body->as.let.rhs
                                                      : body;
    bool direct = first->kind == CORE_VAR;
    if (!direct && ct_core_size(s, rhs, MAX_WEIGHT) >= MAX_WEIGHT) return NULL;
    CtCore *result = ct_put_first(s, body, var, rhs);
    if (result != NULL) s->changes++;
    return result;
}

typedef struct LetOf {
    CtSimplifier *s;
    CtCore *let;
} LetOf;

static CtCore *let_of(void *data, CtCore *construction) {
    LetOf *of = data;
    CtCore *let = node(of->s, of->let);
    let->as.let.rhs = construction;
    return let;
}

/* What is known of a variable that is bound to a simplified term. */
static CtCore *knowledge(CtSimplifier *s, CtCore *rhs) {
    if (rhs->kind == CORE_LAM) {
        bool small = rhs->as.lam->origin == NULL && ct_core_size(s, rhs->as.lam->body, SMALL_LAM + 1) <= SMALL_LAM;
        return small ? rhs : NULL;
    }
    bool is_array = rhs->kind == CORE_ARRAY_LIT && rhs->as.call.count <= MAX_KNOWN_ARRAY;
    bool is_known = rhs->kind == CORE_CON || rhs->kind == CORE_TUPLE || is_array;
    return is_known && is_of_atoms(rhs) ? rhs : NULL;
}

/* Returns what is to be simplified next, at chain->place. */
static CtCore *simp_let(CtSimplifier *s, CtCore *let, Chain *chain) {
    CtCore *opened = head_let(s, &let);
    if (opened != NULL) return opened;
    CtCore *rhs = let->as.let.rhs;
    CtVarNotes *notes = ct_notes(s, let->as.let.vars[0]);
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
        CtCore *named = name_args(s, rhs, let->as.let.vars[0], let_of, &of);
        if (named != NULL) return named;
    }
    CtCore *simple = simp(s, rhs);
    if (ct_core_is_atom(simple) && !notes->pinned) {
        notes->becomes = simple;
        s->changes++;
        return let->as.let.body;
    }
    notes->known = knowledge(s, simple);
    CtCore *copy = node(s, let);
    copy->as.let.rhs = simple;
    emit(chain, copy);
    return let->as.let.body;
}

static CtCore *simp_unpack(CtSimplifier *s, CtCore *unpack, Chain *chain) {
    CtCore *opened = head_let(s, &unpack);
    if (opened != NULL) return opened;
    uint32_t count = unpack->as.let.count;
    CtVar **vars = CT_NEW_ARRAY(s->p->context->arena, CtVar *, count);
    bool any = false, all = true;
    for (uint32_t i = 0; i < count; i++) {
        CtVar *var = unpack->as.let.vars[i];
        vars[i] = var != NULL && ct_notes(s, var)->uses == 0 ? NULL : var;
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
        for (uint32_t i = 0; i < count; i++) parts[i] = ct_core_var(s->p, unpack->span, vars[i]);
        CtVarNotes *notes = ct_notes(s, rhs->as.var);
        if (notes->known == NULL) {
            notes->known = ct_core_tuple(s->p, unpack->span, parts, count);
            ct_push(s->p->context->arena, &s->trail, notes);
        }
    }
    CtCore *copy = node(s, unpack);
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
        const CtVarNotes *notes = ct_notes(s, old[i].var);
        used = used || notes->uses > notes->inner_uses;
        inner += notes->inner_uses;
        has_origin = has_origin || old[i].lam->as.lam->origin != NULL;
    }
    if (!used) {
        s->changes++;
        return core->as.letrec.body;
    }
    if (has_origin) {
        emit(chain, node(s, core));
        return core->as.letrec.body;
    }
    if (count == 1 && inner == 0) {
        s->changes++;
        CtCore *lam = ct_core_relam(s->p, old[0].lam, old[0].lam->as.lam->body);
        return ct_core_let(s->p, core->span, old[0].var, lam, core->as.letrec.body);
    }
    CtBind *binds = CT_NEW_ARRAY(s->p->context->arena, CtBind, count);
    for (uint32_t i = 0; i < count; i++) {
        binds[i].var = old[i].var;
        binds[i].lam = simp_lam(s, old[i].lam);
    }
    emit(chain, ct_core_letrec(s->p, core->span, binds, count, core->as.letrec.body));
    return core->as.letrec.body;
}

/* A construction goes on with its last argument, for lists are long. */
static CtCore *simp_con(CtSimplifier *s, CtCore *core, Chain *chain) {
    uint32_t count = core->as.call.count;
    CtCore *copy = node(s, core);
    *chain->place = copy;
    if (count == 0) return NULL;
    copy->as.call.args = simp_args(s, core, count - 1);
    chain->place = &copy->as.call.args[count - 1];
    return core->as.call.args[count - 1];
}

/* Simplifies one term to *chain->place, or its beginning; returns what is left, to be simplified to the new place. */
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
    case CORE_PROJ: result = ct_core_proj(s->p, core->span, simp(s, core->as.proj.tuple), core->as.proj.index); break;
    case CORE_APP:
    case CORE_TUPLE:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL: result = simp_call(s, core); break;
    case CORE_FAIL:
        if (core->as.fail.message == NULL) break;
        result = node(s, core);
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
    while (core != NULL) core = simp_step(s, head(s, core), &chain);
    while (s->trail.count > trail) s->trail.items[--s->trail.count]->known = NULL;
    return result;
}

/* ---- rounds ---- */

static CtSimplifier new_round(CtProgram *p) { return (CtSimplifier){.p = p, .run = ++p->simplifier_runs}; }

/* One round over one term; false when it is too deep. */
static bool simplify_once(CtSimplifier *s, CtCore **core) {
    if (!ct_core_within_depth(s->p->context->arena, *core, MAX_DEPTH, true)) return false;
    s->fuel = 2000 + 4 * ct_core_size(s, *core, 1000000);
    s->depth = 0;
    ct_count_uses(s, *core);
    *core = (*core)->kind == CORE_LAM ? simp_lam(s, *core) : simp(s, *core); /* a function stays a λ */
    return true;
}

static void simplify_all(CtProgram *p) {
    uint32_t count = p->globals.count;
    CtGlobal **order = CT_NEW_ARRAY(p->context->arena, CtGlobal *, count);
    bool *settled = CT_NEW_ARRAY(p->context->arena, bool, count);
    ct_callees_first(p, order);
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

void ct_core_simplify(CtProgram *p) {
    simplify_all(p);
    if (ct_core_specialise(p)) simplify_all(p);
}

CtCore *ct_core_simplify_term(CtProgram *p, CtCore *core) {
    for (uint32_t round = 0; round < ROUNDS; round++) {
        CtSimplifier s = new_round(p);
        if (!simplify_once(&s, &core) || s.changes == 0) break;
    }
    return core;
}
