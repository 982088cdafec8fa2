/* Support for monads: `do`, and `return`.
 *
 * The statements of `do` become applications of >>= (Haskell 98 §3.14), before their names are resolved. There is one
 * difference: a statement whose value is not used is bound by >>= too, not by >>. Arguments are evaluated before a
 * call, so with >> the rest of `do { tick; loop }` would be evaluated first; as the body of a λ it is evaluated when it
 * is called. */
#include "types/internal.h"

typedef struct Do {
    CtTypes *types;
    CtSourceRange keyword;
} Do;

static CtExpr *node(Do *d, CtExprKind kind, CtSourceRange range, uint32_t count) {
    CtExpr *expr = CT_NEW(d->types->arena, CtExpr);
    expr->kind = kind;
    expr->range = range;
    expr->part_count = count;
    if (count) expr->parts = CT_NEW_ARRAY(d->types->arena, CtExpr *, count);
    return expr;
}

static CtPat *pattern(Do *d, CtPatKind kind, CtSourceRange range) {
    CtPat *pat = CT_NEW(d->types->arena, CtPat);
    pat->kind = kind;
    pat->range = range;
    return pat;
}

static CtName name(Do *d, const char *text, CtSourceRange range) {
    return (CtName){NULL, ct_intern_text(&d->types->context->symbols, text), range};
}

/* A use of a hidden library function, which messages call `do`. */
static CtExpr *hidden(Do *d, CtHidden function) {
    CtExpr *expr = node(d, EXPR_VAR, d->keyword, 0);
    expr->name = name(d, "do", d->keyword);
    expr->entity = ct_types_hidden(d->types, function, d->keyword);
    return expr;
}

static bool may_fail(Do *d, const CtPat *pat) {
    switch (pat->kind) {
    case PAT_LIT:
    case PAT_VIEW:
    case PAT_LIST: return true;
    case PAT_CON:
    case PAT_RECORD: {
        const CtDataCon *con = ct_types_find(d->types, SPACE_CON, pat->name);
        if (con && con->tycon->con_count != 1) return true;
        break;
    }
    case PAT_WILD:
    case PAT_VAR:
    case PAT_AS:
    case PAT_TUPLE:
    case PAT_ANNOT:
    case PAT_CHAIN: break;
    }
    for (uint32_t i = 0; i < pat->part_count; i++)
        if (may_fail(d, pat->parts[i])) return true;
    return false;
}

static CtExpr *lambda(Do *d, CtPat *pat, CtExpr *body) {
    CtExpr *expr = node(d, EXPR_LAM, body->range, 1);
    expr->pats = CT_NEW(d->types->arena, CtPat *);
    expr->pats[0] = pat;
    expr->pat_count = 1;
    expr->parts[0] = body;
    return expr;
}

static CtAlt alternative(Do *d, CtPat *pat, CtExpr *body) {
    CtAlt alt = {.pat = pat, .range = body->range};
    alt.rhs.guarded = CT_NEW(d->types->arena, CtGuarded);
    *alt.rhs.guarded = (CtGuarded){.body = body, .range = body->range};
    alt.rhs.guarded_count = 1;
    return alt;
}

/* The expression `fail "…"`, with the pattern's position in the message. */
static CtExpr *failure(Do *d, const CtPat *pat) {
    CtContext *context = d->types->context;
    uint32_t line, column;
    ct_source_position(context, pat->range.source, pat->range.start, &line, &column);
    const char *file = context->sources.items[pat->range.source].name;
    CtExpr *text = node(d, EXPR_LIT, pat->range, 0), *call = node(d, EXPR_APP, pat->range, 2);
    text->lit.kind = LIT_STRING;
    text->lit.text = ct_format(d->types->arena, "%s:%u:%u: a pattern of `do` does not match", file, line, column);
    text->lit.text_length = strlen(text->lit.text);
    call->parts[0] = hidden(d, HIDDEN_FAIL);
    call->parts[1] = text;
    return call;
}

/* The function \x -> case x of { pat -> rest; _ -> fail … } or, for a pattern that cannot fail, \pat -> rest. The name
 * of x contains a blank, so it shadows no name of the program. */
static CtExpr *continuation(Do *d, CtPat *pat, CtExpr *rest) {
    if (!may_fail(d, pat)) return lambda(d, pat, rest);
    CtName bound = name(d, "bound value", pat->range);
    CtPat *variable = pattern(d, PAT_VAR, pat->range);
    variable->name = bound;
    CtExpr *match = node(d, EXPR_CASE, rest->range, 1);
    match->parts[0] = node(d, EXPR_VAR, pat->range, 0);
    match->parts[0]->name = bound;
    match->alts = CT_NEW_ARRAY(d->types->arena, CtAlt, 2);
    match->alt_count = 2;
    match->alts[0] = alternative(d, pat, rest);
    match->alts[1] = alternative(d, pattern(d, PAT_WILD, pat->range), failure(d, pat));
    return lambda(d, variable, match);
}

static CtExpr *before(Do *d, CtStmt *stmt, CtExpr *rest) {
    if (stmt->kind == STMT_LET) {
        CtExpr *let = node(d, EXPR_LET, ct_range_join(stmt->range, rest->range), 1);
        let->decls = stmt->decls;
        let->parts[0] = rest;
        return let;
    }
    CtPat *pat = stmt->kind == STMT_BIND ? stmt->pat : pattern(d, PAT_WILD, stmt->range);
    CtExpr *bind = node(d, EXPR_APP, ct_range_join(stmt->range, rest->range), 3);
    bind->parts[0] = hidden(d, HIDDEN_BIND);
    bind->parts[1] = stmt->expr;
    bind->parts[2] = continuation(d, pat, rest);
    return bind;
}

void ct_types_expand_do(CtTypes *types, CtExpr *expr) {
    Do d = {.types = types, .keyword = expr->range};
    d.keyword.end = d.keyword.start + 2;
    if (expr->stmt_count == 0 || expr->stmts[expr->stmt_count - 1].kind != STMT_EXPR)
        return; /* the parser has said so */
    CtExpr *rest = expr->stmts[expr->stmt_count - 1].expr;
    for (uint32_t i = expr->stmt_count - 1; i > 0; i--) rest = before(&d, &expr->stmts[i - 1], rest);
    bool parenthesised = expr->parenthesised;
    *expr = *rest;
    expr->parenthesised = parenthesised;
}

/* ---- methods that instances need not give ---- */

static CtBinding *constant(CtTypes *types, CtSym bound, CtEntity *value, CtSourceRange range) {
    CtBinding *binding = CT_NEW(types->arena, CtBinding);
    CtExpr *body = CT_NEW(types->arena, CtExpr);
    body->kind = EXPR_VAR;
    body->range = range;
    body->name = (CtName){NULL, value->name, range};
    body->entity = value;
    binding->name = (CtName){NULL, bound, range};
    binding->range = range;
    binding->clauses = CT_NEW(types->arena, CtClause);
    binding->clause_count = 1;
    binding->clauses->range = range;
    binding->clauses->rhs.guarded = CT_NEW(types->arena, CtGuarded);
    *binding->clauses->rhs.guarded = (CtGuarded){.body = body, .range = range};
    binding->clauses->rhs.guarded_count = 1;
    return binding;
}

static bool gives(const CtInstance *instance, CtSym method) {
    for (uint32_t j = 0; j < instance->class_->method_count; j++)
        if (instance->class_->methods[j]->name == method) return instance->methods[j] != NULL;
    return false;
}

/* Defaults that depend on what else an instance gives. */
static const struct Completion {
    const char *class_, *method, *value;
    const char *given; /* a method that must be given; NULL: there must be an instance of Applicative */
    const char * not ; /* one that must not be */
} completions[] = {
    {"Monad", "return", "pure", NULL, "return"},
    {"Foldable", "foldr", "foldr'byFoldMap", "foldMap", "toList"},
    {"Enum", "stream'enumFrom", "stream'numbered", "fromEnum", "enumFrom"},
    {"Enum", "stream'enumFromThen", "stream'numberedThen", "fromEnum", "enumFromThen"},
};

static void complete(CtTypes *types, CtInstance *instance, const struct Completion *c) {
    CtSymbols *symbols = &types->context->symbols;
    CtSym method = ct_intern_text(symbols, c->method);
    const CtClass *applicative = ct_types_library(types, SPACE_CLASS, ct_intern_text(symbols, "Applicative"));
    CtEntity *value = ct_types_library(types, SPACE_VALUE, ct_intern_text(symbols, c->value));
    if (!value || gives(instance, method) || gives(instance, ct_intern_text(symbols, c->not ))) return;
    if (c->given ? !gives(instance, ct_intern_text(symbols, c->given))
                 : !applicative || !ct_types_instance_find(applicative, instance->tycon))
        return;
    for (uint32_t j = 0; j < instance->class_->method_count; j++)
        if (instance->class_->methods[j]->name == method)
            instance->methods[j] = constant(types, method, value, instance->range);
}

/* ---- instances that programs of Haskell 98 do not write ---- */

static const struct Made {
    const char *class_, *methods[2], *values[2];
} made[] = {{"Functor", {"fmap", NULL}, {"liftM", NULL}}, {"Applicative", {"pure", "<*>"}, {"return", "ap"}}};

/* An instance like that of Monad, with its context. */
static void make_instance(CtTypes *types, const CtInstance *monad, const struct Made *m) {
    CtSymbols *symbols = &types->context->symbols;
    CtClass *class_ = ct_types_library(types, SPACE_CLASS, ct_intern_text(symbols, m->class_));
    if (!class_ || ct_types_instance_find(class_, monad->tycon)) return;
    CtTy **generics = CT_NEW_ARRAY(types->arena, CtTy *, monad->generic_count + 1);
    for (uint32_t i = 0; i < monad->generic_count; i++)
        generics[i] = ct_types_ty_generic(types, monad->generics[i]->name, monad->generics[i]->arity);
    for (uint32_t i = 0; i < monad->generic_count; i++)
        for (const CtPred *pred = monad->generics[i]->preds; pred; pred = pred->next)
            ct_types_pred_add_with(types, generics[i], pred->class_,
                                   ct_types_replace_others(types, pred->class_, pred->others, monad->generics, generics,
                                                           monad->generic_count),
                                   pred->range);
    CtInstance *instance =
        ct_types_instance_new(types, class_, monad->tycon, generics, monad->generic_count, monad->range);
    if (!instance) return;
    for (uint32_t k = 0; k < 2 && m->methods[k]; k++) {
        CtEntity *value = ct_types_library(types, SPACE_VALUE, ct_intern_text(symbols, m->values[k]));
        CtSym method = ct_intern_text(symbols, m->methods[k]);
        for (uint32_t j = 0; value && j < class_->method_count; j++)
            if (class_->methods[j]->name == method) instance->methods[j] = constant(types, method, value, monad->range);
    }
}

static void make_superclasses(CtTypes *types) {
    CtSym name = ct_intern_text(&types->context->symbols, "Monad");
    uint32_t count = types->new_instances.count;
    for (uint32_t i = 0; i < count; i++) {
        const CtInstance *instance = types->new_instances.items[i];
        if (instance->class_ != ct_types_library(types, SPACE_CLASS, name)) continue;
        for (uint32_t k = 0; k < sizeof made / sizeof *made; k++) make_instance(types, instance, &made[k]);
    }
}

void ct_types_complete_instances(CtTypes *types) {
    for (uint32_t i = 0; i < types->new_instances.count; i++) {
        CtInstance *instance = types->new_instances.items[i];
        for (uint32_t k = 0; k < sizeof completions / sizeof *completions; k++) {
            CtSym name = ct_intern_text(&types->context->symbols, completions[k].class_);
            if (instance->class_ == ct_types_library(types, SPACE_CLASS, name))
                complete(types, instance, &completions[k]);
        }
    }
    make_superclasses(types);
}
