/* Constructors by their types, as in GADTSyntax and GADTs of GHC: data T a where { C, D :: t1 -> t2 -> T a; … }. A
 * variable in the place of a parameter of T is this parameter; another type there is what the parameter has to be; the
 * variables that are left are the constructor's own. */
#include "syntax/internal.h"

/* What the variables of a constructor's type are called in its declaration. */
typedef struct Names {
    const CtDecl *decl;
    CtTypeExpr **args; /* of the result; a parameter is what a variable is that stands at its place first */
} Names;

/* The parameter of the data type for a variable of the constructor's type. NULL: it is the constructor's own. */
static const CtName *param_of(const Names *names, CtSym name) {
    for (uint32_t i = 0; i < names->decl->param_count; i++)
        if (names->args[i]->kind == TYPE_EXPR_VAR && names->args[i]->name.text == name) return &names->decl->params[i];
    return NULL;
}

static void refuse(CtParser *p, const CtTypeExpr *result, const CtDecl *decl) {
    CtDiag *diag = ct_error(p->context, CT_E0214, result->range, "a constructor of `%s` has to give `%s`",
                            decl->name.text->text, decl->name.text->text);
    ct_help(p->context, diag, "the type of a constructor ends in the data type with all its arguments");
    ct_syntax_leave_declaration(p);
}

/* The arguments of the data type in the result of a constructor. */
static CtTypeExpr **result_args(CtParser *p, const CtDecl *decl, const CtTypeExpr *result) {
    CtTypeExpr **args = CT_NEW_ARRAY(p->context->arena, CtTypeExpr *, decl->param_count);
    const CtTypeExpr *at = result;
    uint32_t left = decl->param_count;
    for (; at->kind == TYPE_EXPR_APP && left > 0; at = at->parts[0]) args[--left] = at->parts[1];
    if (at->kind != TYPE_EXPR_CON || at->name.text != decl->name.text || left > 0) refuse(p, result, decl);
    return args;
}

/* Renames the variables in a type: to the parameters of the data type, or from their names to such as no program has.
 */
static CtTypeExpr *renamed(CtParser *p, const Names *names, const CtTypeExpr *type) {
    CtTypeExpr *out = CT_NEW(p->context->arena, CtTypeExpr);
    *out = *type;
    if (type->kind == TYPE_EXPR_VAR) {
        const CtName *param = param_of(names, type->name.text);
        bool taken = false;
        for (uint32_t i = 0; i < names->decl->param_count; i++)
            taken = taken || names->decl->params[i].text == type->name.text;
        if (param != NULL)
            out->name.text = param->text;
        else if (taken)
            out->name.text =
                ct_intern_text(&p->context->symbols, ct_format(p->context->arena, "%s 1", type->name.text->text));
    }
    if (type->part_count > 0) out->parts = CT_NEW_ARRAY(p->context->arena, CtTypeExpr *, type->part_count);
    for (uint32_t i = 0; i < type->part_count; i++) out->parts[i] = renamed(p, names, type->parts[i]);
    if (type->kind != TYPE_EXPR_FORALL) return out;
    out->qual = CT_NEW(p->context->arena, CtQualType);
    *out->qual = *type->qual;
    out->qual->type = out->parts[0];
    return out;
}

/* For each parameter the type that the result of the constructor has there, where that is no variable of its own. */
static CtTypeExpr **equalities(CtParser *p, const Names *names) {
    uint32_t count = names->decl->param_count;
    CtTypeExpr **equal = NULL;
    for (uint32_t i = 0; i < count; i++) {
        bool own = names->args[i]->kind == TYPE_EXPR_VAR &&
                   param_of(names, names->args[i]->name.text) == &names->decl->params[i];
        if (own) continue;
        if (equal == NULL) equal = CT_NEW_ARRAY(p->context->arena, CtTypeExpr *, count);
        equal[i] = renamed(p, names, names->args[i]);
    }
    return equal;
}

static void rename_context(CtParser *p, const Names *names, CtQualType *type) {
    for (uint32_t i = 0; i < type->constraint_count; i++)
        for (uint32_t j = 0; j < type->constraints[i].type_count; j++)
            type->constraints[i].types[j] = renamed(p, names, type->constraints[i].types[j]);
}

/* {[!] type ->} type, of a constructor that a context may stand in front of. Returns what it gives. */
static CtTypeExpr *plain_type(CtParser *p, CtConDecl *con, CtQualType *whole) {
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtTypeExpr *));
    CtTypeExpr *type;
    for (;;) {
        bool strict = ct_syntax_accept_strict(p, con, list.count);
        type = strict ? ct_syntax_parse_atype(p) : ct_syntax_parse_btype(p);
        if (p->kind == TOKEN_DARROW && list.count == 0 && !strict && whole->constraint_count == 0) {
            ct_syntax_context_of(p, type, &whole->constraints, &whole->constraint_count);
            ct_syntax_advance(p);
            if (p->kind == TOKEN_LBRACE) break;
            continue;
        }
        if (!ct_syntax_accept(p, TOKEN_RARROW)) break;
        CT_LIST_ADD(p, &list, CtTypeExpr *, type);
    }
    con->field_count = list.count;
    con->fields = ct_syntax_list_end(p, &list);
    return type;
}

/* [forall tyvar … .] [context =>] (type -> … | { var , … :: type , … } ->) T type … */
static CtTypeExpr *constructor_type(CtParser *p, CtConDecl *con, CtQualType *whole) {
    ct_syntax_accept_forall(p, &whole->forall, &whole->forall_count);
    CtTypeExpr *result = p->kind == TOKEN_LBRACE ? NULL : plain_type(p, con, whole);
    if (p->kind != TOKEN_LBRACE || con->field_count > 0) return result;
    ct_syntax_parse_record_fields(p, con);
    ct_syntax_expect(p, TOKEN_RARROW, "`->` and the data type");
    return ct_syntax_parse_btype(p);
}

/* con , … , con :: the type of each */
static void constructors(CtParser *p, const CtDecl *decl, CtList *cons) {
    uint32_t first = cons->count;
    do {
        bool in_parens = p->kind == TOKEN_LPAREN && ct_syntax_token_after(p, 1)->kind == TOKEN_CONSYM;
        if (in_parens) ct_syntax_advance(p);
        if (p->kind != TOKEN_CONID && !in_parens) ct_syntax_fail(p, "a constructor, which begins with a capital");
        CtName name = ct_syntax_token_name(p, ct_syntax_token(p));
        ct_syntax_advance(p);
        if (in_parens) ct_syntax_expect(p, TOKEN_RPAREN, "`)`");
        CT_LIST_ADD(p, cons, CtConDecl, {.name = name, .range = name.range, .by_type = true});
    } while (ct_syntax_accept(p, TOKEN_COMMA));
    ct_syntax_expect(p, TOKEN_DCOLON, "`::` and the type of the constructor");
    CtQualType whole = {0};
    CtConDecl own = {0};
    const CtTypeExpr *result = constructor_type(p, &own, &whole);
    Names names = {decl, result_args(p, decl, result)};
    for (uint32_t i = 0; i < own.field_count; i++) own.fields[i] = renamed(p, &names, own.fields[i]);
    rename_context(p, &names, &whole);
    CtConDecl *all = (CtConDecl *)(void *)(p->stack + cons->mark);
    for (uint32_t i = first; i < cons->count; i++) {
        all[i].fields = own.fields;
        all[i].field_names = own.field_names;
        all[i].field_count = own.field_count;
        all[i].strict = own.strict;
        all[i].context = whole.constraints;
        all[i].context_count = whole.constraint_count;
        all[i].equal = equalities(p, &names);
    }
}

void ct_syntax_parse_gadt(CtParser *p, CtDecl *decl) {
    CtList cons;
    ct_syntax_advance(p);
    ct_syntax_list_begin(p, &cons, sizeof(CtConDecl));
    CtBlock block = ct_syntax_block_open(p);
    while (ct_syntax_block_next(p, &block)) {
        if (ct_syntax_accept(p, TOKEN_DERIVING))
            ct_syntax_parse_deriving(p, decl);
        else
            constructors(p, decl, &cons);
    }
    decl->con_count = cons.count;
    decl->cons = ct_syntax_list_end(p, &cons);
}
