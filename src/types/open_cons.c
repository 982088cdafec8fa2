/* Constructors with type variables of their own: existential ones, data Shape = forall a. HasArea a => Shape a, and
 * those that say what the parameters of their data type are, as Number :: Int -> Expr Int. A construction may choose
 * the types for its variables; in a pattern they are rigid, and unknown outside of its scope. There also holds what the
 * constructor says of the parameters: a rigid variable that has to be a type stands for that type (`refined`) until the
 * scope ends. */
#include "types/internal.h"

/* The number of variables of a constructor's declaration: the parameters of its data type, then its own. */
static uint32_t generics_of(const CtDataCon *con, CtTy *const **generics) {
    *generics = con->generics ? con->generics : con->tycon->params;
    return con->tycon->arity + con->exist_count;
}

CtTy *ct_types_con_field(CtTypes *types, const CtDataCon *con, uint32_t index, CtTy *const *inst) {
    CtTy *const *generics;
    uint32_t count = generics_of(con, &generics);
    return ct_types_ty_replace(types, con->fields[index], generics, inst, count);
}

/* ---- declarations ---- */

/* Whether a variable of a constructor's declaration is one of those of its `forall`, or needs none. */
static bool is_declared(const CtConDecl *decl, const CtTy *variable) {
    for (uint32_t i = 0; i < decl->exist_count; i++)
        if (decl->exists[i].text == variable->name) return true;
    return decl->by_type;
}

void ct_types_own_variables(CtTypes *types, CtDataCon *con, const CtConDecl *decl, const CtTyVars *vars) {
    CtTyCon *tycon = con->tycon;
    for (uint32_t i = 0; i < vars->made.count; i++)
        if (!is_declared(decl, vars->made.items[i]))
            ct_error(types->context, CT_E0302, decl->range, "the type variable `%s` is not among those declared",
                     vars->made.items[i]->name->text);
    con->exist_count = vars->made.count;
    con->exists = vars->made.items;
    con->generics = CT_NEW_ARRAY(types->arena, CtTy *, tycon->arity + con->exist_count);
    memcpy(con->generics, tycon->params, tycon->arity * sizeof *con->generics);
    for (uint32_t i = 0; i < con->exist_count; i++) con->generics[tycon->arity + i] = con->exists[i];
    if (con->exist_count > 0 || con->equal) tycon->is_open = true;
}

void ct_types_declare_givens(CtTypes *types) {
    for (uint32_t i = 0; i < types->new_tycons.count; i++) {
        const CtTyCon *tycon = types->new_tycons.items[i];
        for (uint32_t j = 0; j < tycon->con_count; j++) {
            CtDataCon *con = tycon->cons[j];
            const CtConDecl *decl = &tycon->decl->cons[j];
            CtTyVars vars = {.open = false};
            CtTy *const *generics;
            uint32_t count = generics_of(con, &generics);
            for (uint32_t k = 0; k < count && decl->context_count > 0; k++)
                ct_map_set(types->arena, &vars.map, ct_key(generics[k]->name), generics[k]);
            con->givens = CT_NEW_ARRAY(types->arena, CtConGiven, decl->context_count);
            for (uint32_t k = 0; k < decl->context_count; k++)
                if (ct_types_convert_constraint(types, &vars, &decl->context[k], &con->givens[con->given_count]))
                    con->given_count++;
        }
    }
}

/* ---- construction ---- */

/* Makes each of the types that instantiate a constructor what the constructor says of it, and of its classes. */
static void require(CtTypes *types, const CtDataCon *con, CtTy **inst, CtSourceRange range) {
    CtTy *const *generics;
    uint32_t count = generics_of(con, &generics);
    for (uint32_t i = 0; con->equal && i < con->tycon->arity; i++)
        if (con->equal[i])
            ct_types_unify(types, inst[i], ct_types_ty_replace(types, con->equal[i], generics, inst, count));
    for (uint32_t i = 0; i < con->given_count; i++) {
        const CtConGiven *given = &con->givens[i];
        ct_types_solve_with(types, given->class_,
                            ct_types_replace_others(types, given->class_, given->others, generics, inst, count),
                            ct_types_ty_replace(types, given->type, generics, inst, count), range, false);
    }
}

CtTy **ct_types_con_inst(CtTypes *types, const CtDataCon *con, uint32_t *count, CtSourceRange range) {
    CtTy *const *generics;
    *count = generics_of(con, &generics);
    CtTy **inst = CT_NEW_ARRAY(types->arena, CtTy *, *count);
    for (uint32_t i = 0; i < *count; i++) inst[i] = ct_types_ty_meta(types, generics[i]->arity);
    require(types, con, inst, range);
    return inst;
}

/* ---- patterns ---- */

CtBranch ct_types_branch_enter(const CtTypes *types) {
    return (CtBranch){types->level, types->refined.count, types->promises.count, types->operands.count};
}

/* Notes which constraints a rigid variable has, before a constructor adds to them. */
static void promise(CtTypes *types, CtTy *variable) {
    CtPred *last = variable->preds;
    while (last && last->next) last = last->next;
    ct_push(types->arena, &types->promises, ((CtPromise){variable, last, ct_types_applied(types, variable)}));
}

static void take_back(CtTypes *types, CtPromise before) {
    if (before.last)
        before.last->next = NULL;
    else
        before.variable->preds = NULL;
    if (ct_types_applied(types, before.variable) != before.applied)
        ct_map_set(types->arena, &types->applied, ct_key(before.variable), before.applied);
}

void ct_types_branch_leave(CtTypes *types, CtBranch branch) {
    if (types->level != branch.level || types->refined.count > branch.refined)
        ct_types_operands_settle(types, branch.operands, true);
    types->level = branch.level;
    while (types->refined.count > branch.refined) types->refined.items[--types->refined.count]->refined = NULL;
    while (types->promises.count > branch.promises) take_back(types, types->promises.items[--types->promises.count]);
}

static void refine(CtTypes *types, CtTy *variable, CtTy *type) {
    variable->refined = type;
    ct_push(types->arena, &types->refined, variable);
}

CtTy *ct_types_mentions_own(CtTy *type) {
    type = ct_types_ty_resolve(type);
    if (type->kind == TY_GENERIC && type->is_skolem) return type;
    if (type->kind != TY_APP) return NULL;
    CtTy *found = ct_types_mentions_own(type->fun);
    return found ? found : ct_types_mentions_own(type->arg);
}

static bool occurs(const CtTy *variable, CtTy *type) {
    type = ct_types_ty_resolve(type);
    if (type->kind == TY_APP) return occurs(variable, type->fun) || occurs(variable, type->arg);
    return type == variable;
}

bool ct_types_assume(CtTypes *types, CtTy *own, CtTy *type) {
    own = ct_types_ty_resolve(own);
    type = ct_types_ty_resolve(type);
    if (own == type || own->is_error || type->is_error) return true;
    if (own->kind == TY_GENERIC && own->is_skolem && !occurs(own, type)) {
        refine(types, own, type);
    } else if (type->kind == TY_GENERIC && !occurs(type, own)) {
        refine(types, type, own);
    } else if (own->kind == TY_GENERIC && !occurs(own, type)) {
        refine(types, own, type);
    } else if (own->kind == TY_APP && type->kind == TY_APP) {
        bool fun = ct_types_assume(types, own->fun, type->fun);
        return ct_types_assume(types, own->arg, type->arg) && fun;
    } else if (own->kind == TY_META || type->kind == TY_META) {
        ct_types_unify(types, own, type);
    } else {
        return own->kind == TY_GENERIC || type->kind == TY_GENERIC;
    }
    return true;
}

/* What a constructor says of the classes of its variables holds in the branch. */
static void take_givens(CtTypes *types, const CtDataCon *con, CtTy **inst) {
    CtTy *const *generics;
    uint32_t count = generics_of(con, &generics);
    for (uint32_t i = 0; i < con->given_count; i++) {
        const CtConGiven *given = &con->givens[i];
        CtTy **others = ct_types_replace_others(types, given->class_, given->others, generics, inst, count);
        CtTy *type = ct_types_ty_resolve(ct_types_ty_replace(types, given->type, generics, inst, count)), *head = type;
        while (head->kind == TY_APP) head = ct_types_ty_resolve(head->fun);
        if (head->kind == TY_GENERIC) promise(types, head);
        if (type->kind == TY_GENERIC)
            ct_types_pred_add_with(types, type, given->class_, others, given->range);
        else if (head->kind == TY_GENERIC)
            ct_types_applied_add(types, head, given->class_, others, type, given->range);
    }
}

CtTy **ct_types_open_con(CtTypes *types, CtPat *pat, CtTy *expected, const CtWhy *why) {
    const CtDataCon *con = pat->con;
    CtTyCon *tycon = con->tycon;
    CtTy *const *generics;
    uint32_t count = generics_of(con, &generics);
    CtTy **inst = CT_NEW_ARRAY(types->arena, CtTy *, count);
    for (uint32_t i = 0; i < tycon->arity; i++) inst[i] = ct_types_ty_meta(types, tycon->params[i]->arity);
    ct_types_ty_expect(types, pat->range, expected, ct_types_ty_con(types, tycon, inst, tycon->arity), why);
    if (con->exist_count == 0 && !con->equal && con->given_count == 0) return inst;
    types->level++;
    pat->exists = inst + tycon->arity;
    for (uint32_t i = 0; i < con->exist_count; i++) {
        pat->exists[i] = ct_types_ty_generic(types, con->exists[i]->name, con->exists[i]->arity);
        pat->exists[i]->is_skolem = true;
    }
    for (uint32_t i = 0; con->equal && i < tycon->arity; i++)
        if (con->equal[i])
            ct_types_assume(types, ct_types_ty_replace(types, con->equal[i], generics, inst, count), inst[i]);
    take_givens(types, con, inst);
    return inst;
}
