/* Constructors by their types, as in GADTSyntax of GHC: data T a where { C, D :: t1 -> t2 -> T a; … }. Each gives T of
 * different variables, so that the declaration says what `data T a = C t1 t2 | …` does. */
#include "syntax/internal.h"

/* The parameter of the data type for a variable of the constructor's type, by its place in the result. NULL: it is not
 * there. */
static const CtName *param_of(const CtDecl *decl, const CtTypeExpr *result, CtSym name) {
    for (uint32_t i = decl->param_count; i > 0 && result->kind == TYPE_EXPR_APP; i--, result = result->parts[0])
        if (result->parts[1]->name.text == name) return &decl->params[i - 1];
    return NULL;
}

static void refuse(CtParser *p, const CtTypeExpr *result, const CtDecl *decl) {
    CtDiag *diag =
        ct_error(p->context, CT_E0214, result->range, "a constructor of `%s` gives `%s` of different variables",
                 decl->name.text->text, decl->name.text->text);
    ct_help(p->context, diag, "data types whose constructors give different types are not supported");
    ct_syntax_leave_declaration(p);
}

static void check_result(CtParser *p, const CtDecl *decl, const CtTypeExpr *result) {
    const CtTypeExpr *at = result;
    uint32_t count = 0;
    for (; at->kind == TYPE_EXPR_APP; at = at->parts[0], count++) {
        const CtTypeExpr *arg = at->parts[1];
        if (arg->kind != TYPE_EXPR_VAR) refuse(p, result, decl);
        for (const CtTypeExpr *other = at->parts[0]; other->kind == TYPE_EXPR_APP; other = other->parts[0])
            if (other->parts[1]->kind == TYPE_EXPR_VAR && other->parts[1]->name.text == arg->name.text)
                refuse(p, result, decl);
    }
    if (at->kind != TYPE_EXPR_CON || at->name.text != decl->name.text || count != decl->param_count)
        refuse(p, result, decl);
}

/* Renames the variables of a field to the parameters of the data type. */
static void rename_variables(const CtDecl *decl, const CtTypeExpr *result, CtTypeExpr *type) {
    const CtName *param = type->kind == TYPE_EXPR_VAR ? param_of(decl, result, type->name.text) : NULL;
    if (param != NULL) type->name.text = param->text;
    for (uint32_t i = 0; i < type->part_count; i++) rename_variables(decl, result, type->parts[i]);
}

/* con , … , con :: [forall tyvar … .] type -> … -> T tyvar … */
static void constructors(CtParser *p, const CtDecl *decl, CtList *cons) {
    uint32_t first = cons->count;
    do {
        if (p->kind != TOKEN_CONID) ct_syntax_fail(p, "a constructor, which begins with a capital");
        CtName name = ct_syntax_token_name(p, ct_syntax_token(p));
        ct_syntax_advance(p);
        CT_LIST_ADD(p, cons, CtConDecl, {.name = name, .range = name.range});
    } while (ct_syntax_accept(p, TOKEN_COMMA));
    ct_syntax_expect(p, TOKEN_DCOLON, "`::` and the type of the constructor");
    const CtTypeExpr *result = ct_syntax_parse_qual_type(p).type;
    uint32_t count = 0;
    for (const CtTypeExpr *type = result; type->kind == TYPE_EXPR_FUN; type = type->parts[1]) count++;
    CtTypeExpr **fields = CT_NEW_ARRAY(p->context->arena, CtTypeExpr *, count);
    for (uint32_t i = 0; i < count; i++, result = result->parts[1]) fields[i] = result->parts[0];
    check_result(p, decl, result);
    for (uint32_t i = 0; i < count; i++) rename_variables(decl, result, fields[i]);
    CtConDecl *all = (CtConDecl *)(void *)(p->stack + cons->mark);
    for (uint32_t i = first; i < cons->count; i++) {
        all[i].fields = fields;
        all[i].field_count = count;
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
