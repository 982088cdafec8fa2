/* Simplification at the head of a term, before its children: β-reduction, known λs and constructions, floating of
 * bindings out of terms that are evaluated first, case of case. */
#include "core/simplify.h"

enum {
    MAX_COPY = 200,       /* nodes of a function that is copied into a call */
    SMALL_BRANCH = 3,     /* nodes of a branch that case of case may duplicate */
    SMALL_PENDING = 30,   /* the same with the pending terms in it */
    MAX_ALTERNATIVES = 8, /* alternatives of cases considered for case of case */
};

CtCore *ct_core_like(CtSimplifier *s, const CtCore *like) {
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

/* The same binding, around another body. */
static CtCore *rebind(CtSimplifier *s, const CtCore *binding, CtCore *body) {
    CtCore *copy = ct_core_like(s, binding);
    copy->type = body->type;
    if (binding->kind == CORE_LETREC)
        copy->as.letrec.body = body;
    else
        copy->as.let.body = body;
    s->changes++;
    return copy;
}

/* ---- variables ---- */

/* The term of a pending variable. A second use can only be a copy of the first, in another branch. */
static CtCore *take_pending(CtSimplifier *s, CtVarNotes *notes) {
    if (!notes->consumed) {
        notes->consumed = true;
        return notes->becomes;
    }
    CtCore *copy = ct_core_copy(s->p, notes->becomes, NULL);
    ct_core_count_uses(s, copy);
    return copy;
}

/* The construction that a term is known to be, or NULL. */
CtCore *ct_core_known_construction(CtSimplifier *s, CtCore *core) {
    if (core->kind == CORE_CON || core->kind == CORE_TUPLE) return core;
    if (core->kind != CORE_VAR) return NULL;
    CtCore *known = ct_core_notes(s, core->as.var)->known;
    return known != NULL && known->kind != CORE_LAM ? known : NULL;
}

/* let vars = args in body. An argument whose variable is NULL is evaluated only if it may fail. */
static CtCore *bind_all(CtSimplifier *s, CtSourceRange range, CtVar *const *vars, CtCore *const *args, uint32_t count,
                        CtCore *body) {
    for (uint32_t i = count; i > 0; i--) {
        CtVar *var = vars[i - 1];
        CtCore *arg = args[i - 1];
        if (var == NULL && ct_core_is_total(arg)) continue;
        if (var == NULL) {
            var = ct_core_var_new(s->p, "unused", arg->type);
            ct_core_notes(s, var)->depth = s->depth;
        }
        body = ct_core_let(s->p, range, var, arg, body);
    }
    s->changes++;
    return body;
}

/* Binds the arguments of a construction that are no atoms: `let t = a in C t b`, so that it can be taken apart wherever
 * it is known. NULL when all are atoms. */
CtCore *ct_core_name_args(CtSimplifier *s, CtCore *construction, CtVar *like, CtCore *(*rest)(void *, CtCore *),
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
        CtVar *var = ct_core_var_new(s->p, like != NULL ? like->name->text : "t", arg->type);
        CtVarNotes *notes = ct_core_notes(s, var);
        *notes = (CtVarNotes){.run = s->run, .uses = 2, .opens = 1, .depth = s->depth};
        vars[used] = var;
        args[used++] = arg;
        named[i] = ct_core_var(s->p, arg->range, var);
    }
    if (used == 0) return NULL;
    CtCore *copy = ct_core_like(s, construction);
    copy->as.call.args = named;
    return bind_all(s, construction->range, vars, args, used, rest(data, copy));
}

/* ---- heads: what can be done before the children are simplified ---- */

static CtCore *beta(CtSimplifier *s, const CtCore *app, const CtLam *lam) {
    ct_core_count_opened(s, lam);
    return bind_all(s, app->range, lam->params, app->as.call.args, lam->count, lam->body);
}

CtCore *ct_core_copied_lam(CtSimplifier *s, CtCore *lam, CtSourceRange call) {
    uint32_t size = ct_core_size(s, lam, MAX_COPY);
    if (size >= MAX_COPY || size > s->fuel) return NULL;
    s->fuel -= size;
    CtCore *copy = ct_core_copy_inlined(s->p, lam, call);
    ct_core_count_uses(s, copy);
    return copy;
}

/* A function that takes values with such functions in them may get itself, and its copies too, without end. The library
 * does not recur so: a trace's functions take traces. */
static bool may_get_itself(CtSimplifier *s, const CtLam *lam) {
    for (uint32_t i = 0; i < lam->count; i++) {
        CtType *type = lam->params[i]->type;
        if (type->kind == TYPE_DATA && type->data->is_library) continue;
        if (ct_core_type_takes_itself(s->p->context->arena, type)) return true;
    }
    return false;
}

/* The λ that a called function is known to be; it is removed from its place if that is its only use. */
static CtCore *called_lam(CtSimplifier *s, const CtCore *app, CtCore *fun) {
    if (fun->kind == CORE_LAM) return fun;
    if (fun->kind == CORE_GLOBAL) {
        CtCore *lam = ct_core_inlinable(s, fun->as.global, app->as.call.args, app->as.call.count);
        return lam != NULL && !may_get_itself(s, lam->as.lam) ? ct_core_copied_lam(s, lam, app->range) : NULL;
    }
    if (fun->kind != CORE_VAR) return NULL;
    CtCore *known = ct_core_notes(s, fun->as.var)->known;
    if (known == NULL || known->kind != CORE_LAM || may_get_itself(s, known->as.lam)) return NULL;
    return ct_core_copied_lam(s, known, app->range);
}

/* NULL when the application stays; *app is then the application with a simplified function. */
static CtCore *head_app(CtSimplifier *s, CtCore **app) {
    CtCore *fun = ct_core_head(s, (*app)->as.call.of.fun);
    if (fun != (*app)->as.call.of.fun) {
        *app = ct_core_like(s, *app);
        (*app)->as.call.of.fun = fun;
    }
    if (is_binding(fun)) {
        CtCore *inner = ct_core_like(s, *app);
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
    CtCore *tuple = ct_core_head(s, (*proj)->as.proj.tuple);
    uint32_t index = (*proj)->as.proj.index;
    if (tuple != (*proj)->as.proj.tuple) {
        *proj = ct_core_like(s, *proj);
        (*proj)->as.proj.tuple = tuple;
    }
    if (is_binding(tuple)) {
        CtCore *inner = ct_core_like(s, *proj);
        inner->as.proj.tuple = body_of(tuple);
        return rebind(s, tuple, inner);
    }
    CtCore *known = ct_core_known_construction(s, tuple);
    if (known == NULL) return NULL;
    s->changes++;
    ProjOf of = {s, *proj};
    CtCore *named = ct_core_name_args(s, known, NULL, proj_of, &of);
    return named != NULL ? named : known->as.call.args[index];
}

/* ---- elements of literal arrays ---- */

static CtCore *itself(void *data, CtCore *literal) {
    (void)data;
    return literal;
}

static CtCore *element_of(void *data, CtCore *literal) { return literal->as.call.args[*(const int64_t *)data]; }

bool ct_core_is_of_atoms(const CtCore *construction) {
    for (uint32_t i = 0; i < construction->as.call.count; i++)
        if (!ct_core_is_atom(construction->as.call.args[i])) return false;
    return true;
}

/* Whether an array literal certainly does not fail: an array of arrays has rows of one length. */
static bool has_even_rows(const CtCore *literal) {
    if (literal->type->parts[0]->kind != TYPE_ARRAY) return true;
    for (uint32_t i = 0; i < literal->as.call.count; i++) {
        const CtCore *row = literal->as.call.args[i];
        if (row->kind != CORE_ARRAY_LIT || row->type->parts[0]->kind == TYPE_ARRAY) return false;
        if (row->as.call.count != literal->as.call.args[0]->as.call.count) return false;
    }
    return true;
}

/* [|a, b|] ! 1 and update [|a, b|] 1 c, for a known literal. */
static CtCore *head_array(CtSimplifier *s, CtCore **core) {
    CtArrayOp op = (*core)->as.call.of.array;
    CtCore *const *args = (*core)->as.call.args;
    if ((op != ARRAY_INDEX && op != ARRAY_UPDATE) || args[1]->kind != CORE_LIT) return NULL;
    CtCore *array = ct_core_head(s, args[0]);
    if (array != args[0]) {
        *core = ct_core_like(s, *core);
        (*core)->as.call.args = CT_NEW_ARRAY(s->p->context->arena, CtCore *, 3);
        memcpy((*core)->as.call.args, args, (*core)->as.call.count * sizeof *args);
        (*core)->as.call.args[0] = array;
        args = (*core)->as.call.args;
    }
    CtCore *known = array->kind == CORE_VAR ? ct_core_notes(s, array->as.var)->known : array;
    if (known == NULL || known->kind != CORE_ARRAY_LIT || known->as.call.count > MAX_KNOWN_ARRAY) return NULL;
    bool stays = array->kind == CORE_VAR && op == ARRAY_INDEX;
    if (!stays && !has_even_rows(known)) return NULL;
    int64_t index = args[1]->as.lit.integer;
    if (index < 0 || index >= known->as.call.count || (op == ARRAY_UPDATE && !ct_core_is_of_atoms(known))) return NULL;
    s->changes++;
    CtCore *(*rest)(void *, CtCore *) = element_of;
    if (op == ARRAY_UPDATE) {
        CtCore **items = CT_NEW_ARRAY(s->p->context->arena, CtCore *, MAX_KNOWN_ARRAY);
        memcpy(items, known->as.call.args, known->as.call.count * sizeof *items);
        items[index] = args[2];
        known = ct_core_like(s, known);
        known->as.call.args = items;
        rest = itself;
    }
    CtCore *named = ct_core_name_args(s, known, NULL, rest, &index);
    return named != NULL ? named : rest(&index, known);
}

/* ---- case ---- */

/* The branch for a construction, with its fields bound. */
CtCore *ct_core_select_branch(CtSimplifier *s, const CtCore *core, const CtCore *con) {
    for (uint32_t i = 0; i < core->as.cases.count; i++) {
        const CtCase *c = &core->as.cases.cases[i];
        if (c->con != con->as.call.of.con) continue;
        return bind_all(s, con->range, c->vars, con->as.call.args, con->as.call.count, c->body);
    }
    CtVar **none = CT_NEW_ARRAY(s->p->context->arena, CtVar *, con->as.call.count);
    return bind_all(s, con->range, none, con->as.call.args, con->as.call.count, core->as.cases.otherwise);
}

/* The index of the alternative for a construction; cases.count means the default. */
static uint32_t alternative(const CtCore *core, const CtCore *con) {
    uint32_t i = 0;
    while (i < core->as.cases.count && core->as.cases.cases[i].con != con->as.call.of.con) i++;
    return i;
}

static CtCore *branch_at(const CtCore *core, uint32_t index) {
    return index < core->as.cases.count ? core->as.cases.cases[index].body : core->as.cases.otherwise;
}

/* Whether a branch may be duplicated. Its pending terms are copied with it: of functions that call each other in such
 * branches, there would be twice as many copies of each as of the one before. */
static bool is_small_branch(CtSimplifier *s, CtCore *branch) {
    CtArena *arena = s->p->context->arena;
    CtCoreList work = {0};
    if (ct_core_size(s, branch, SMALL_BRANCH + 1) > SMALL_BRANCH) return false;
    ct_push(arena, &work, branch);
    for (uint32_t size = 0; work.count > 0; size++) {
        CtCore *core = work.items[--work.count];
        const CtVarNotes *notes = core->kind == CORE_VAR ? ct_core_notes(s, core->as.var) : NULL;
        if (size == SMALL_PENDING) return false;
        if (notes != NULL && notes->pending)
            ct_push(arena, &work, notes->becomes);
        else
            ct_core_children(arena, core, &work);
    }
    return true;
}

/* Whether moving the outer case into the branches of the inner one only duplicates small terms. */
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
        if (wanted[j] > 1 && !is_small_branch(s, branch_at(outer, j))) return false;
    return true;
}

/* A case with a single alternative of another case: it reuses the nodes the first time, and copies them later. */
static CtCore *one_alternative(CtSimplifier *s, const CtCore *outer, uint32_t index, bool *used) {
    CtCore *one = ct_core_like(s, outer);
    bool is_case = index < outer->as.cases.count;
    one->as.cases.scrutinee = ct_core_unit(s->p, outer->range);
    one->as.cases.cases = is_case ? &outer->as.cases.cases[index] : NULL;
    one->as.cases.count = is_case;
    if (is_case) one->as.cases.otherwise = NULL;
    if (used[index]) {
        one = ct_core_copy(s->p, one, NULL);
        ct_core_count_uses(s, one);
    }
    used[index] = true;
    return one;
}

/* Applies the outer case to one branch of the inner. */
static CtCore *push_case(CtSimplifier *s, const CtCore *outer, CtCore *branch, bool *used) {
    if (branch->kind == CORE_FAIL)
        return ct_core_fail(s->p, branch->range, outer->type, branch->as.fail.code, branch->as.fail.text,
                            branch->as.fail.message);
    if (branch->kind == CORE_CON)
        return ct_core_select_branch(s, one_alternative(s, outer, alternative(outer, branch), used), branch);
    uint32_t count = outer->as.cases.count;
    CtCore *pushed = ct_core_like(s, outer);
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
    CtCore *copy = ct_core_like(s, inner);
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
    CtCore *scrutinee = ct_core_head(s, (*core)->as.cases.scrutinee);
    if (scrutinee != (*core)->as.cases.scrutinee) {
        *core = ct_core_like(s, *core);
        (*core)->as.cases.scrutinee = scrutinee;
    }
    if (is_binding(scrutinee)) {
        CtCore *inner = ct_core_like(s, *core);
        inner->as.cases.scrutinee = body_of(scrutinee);
        return rebind(s, scrutinee, inner);
    }
    CtCore *known = ct_core_known_construction(s, scrutinee);
    if (known != NULL) return ct_core_select_branch(s, *core, known);
    if (scrutinee->kind == CORE_CASE && case_of_case_is_cheap(s, *core, scrutinee))
        return case_of_case(s, *core, scrutinee);
    return NULL;
}

/* ---- let ---- */

/* Simplifies the head of the right-hand side and floats its bindings out; NULL when the let itself is next. */
CtCore *ct_core_head_let(CtSimplifier *s, CtCore **let) {
    CtCore *rhs = ct_core_head(s, (*let)->as.let.rhs);
    if (rhs != (*let)->as.let.rhs) {
        *let = ct_core_like(s, *let);
        (*let)->as.let.rhs = rhs;
    }
    if (is_binding(rhs)) {
        CtCore *inner = ct_core_like(s, *let);
        inner->as.let.rhs = body_of(rhs);
        return rebind(s, rhs, inner);
    }
    if (rhs->kind == CORE_FAIL) {
        s->changes++;
        return ct_core_fail(s->p, rhs->range, (*let)->type, rhs->as.fail.code, rhs->as.fail.text, rhs->as.fail.message);
    }
    if ((*let)->kind == CORE_LET) return NULL;
    CtCore *known = ct_core_known_construction(s, rhs);
    if (known == NULL) return NULL;
    return bind_all(s, (*let)->range, (*let)->as.let.vars, known->as.call.args, (*let)->as.let.count,
                    (*let)->as.let.body);
}

CtCore *ct_core_head(CtSimplifier *s, CtCore *core) {
    for (;;) {
        CtCore *next = NULL;
        switch (core->kind) {
        case CORE_VAR: {
            CtVarNotes *notes = ct_core_notes(s, core->as.var);
            if (notes->becomes == NULL) return core;
            if (!notes->pending) return notes->becomes;
            core = take_pending(s, notes);
            continue;
        }
        case CORE_GLOBAL: {
            CtCore *atom = ct_core_global_atom(core->as.global);
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
