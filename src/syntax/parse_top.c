/* Declarations of the top level: imports, data, synonyms, classes, instances, primitives (Haskell 98 §4.2, 4.3, 5). */
#include "syntax/internal.h"

/* ---- imports and exports ---- */

/* var | con, in the parentheses behind a type or class */
static CtName part(CtParser *p) {
    bool is_con = p->kind == TOKEN_CONID;
    bool con_operator = p->kind == TOKEN_LPAREN && ct_syntax_token_after(p, 1)->kind == TOKEN_CONSYM;
    if (!is_con && !con_operator) return ct_syntax_parse_variable(p);
    if (con_operator) ct_syntax_advance(p);
    CtName name = ct_syntax_token_name(p, ct_syntax_token(p));
    ct_syntax_advance(p);
    if (con_operator) ct_syntax_expect(p, TOKEN_RPAREN, "`)`");
    return name;
}

/* ( .. | part , … ) */
static void parts(CtParser *p, CtItem *item) {
    uint32_t outer = ct_syntax_bracket_open(p);
    item->bracketed = true;
    item->all = ct_syntax_accept(p, TOKEN_DOTDOT);
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtName));
    while (!item->all && p->kind != TOKEN_RPAREN) {
        CT_LIST_ADD(p, &list, CtName, part(p));
        if (!ct_syntax_accept(p, TOKEN_COMMA)) break;
    }
    item->part_count = list.count;
    item->parts = ct_syntax_list_end(p, &list);
    ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
}

static bool accept_word(CtParser *p, CtSym word) {
    if (p->kind != TOKEN_VARID || ct_syntax_token(p)->is_qualified || ct_syntax_token(p)->name != word) return false;
    ct_syntax_advance(p);
    return true;
}

/* item -> var | con [parts] | pattern con | module modid */
static CtItem item(CtParser *p) {
    CtItem item = {.is_module = false};
    uint32_t start = ct_syntax_token(p)->start;
    bool is_qualified = p->kind == TOKEN_VARID && ct_syntax_token(p)->is_qualified;
    bool names_con =
        ct_syntax_token_after(p, 1)->kind == TOKEN_CONID || ct_syntax_token_after(p, 1)->kind == TOKEN_LPAREN;
    if (names_con && accept_word(p, ct_intern_text(&p->context->symbols, "pattern"))) {
        item.is_pattern = true;
        item.name = part(p);
    } else if (ct_syntax_accept(p, TOKEN_MODULE)) {
        item.is_module = true;
        item.name = ct_syntax_parse_module_name(p);
    } else if (p->kind == TOKEN_CONID || is_qualified) {
        bool has_parts = p->kind == TOKEN_CONID;
        item.name = ct_syntax_token_name(p, ct_syntax_token(p));
        ct_syntax_advance(p);
        if (has_parts && p->kind == TOKEN_LPAREN) parts(p, &item);
    } else {
        item.name = ct_syntax_parse_variable(p);
    }
    item.range = ct_syntax_range_from(p, start);
    return item;
}

/* ( item , … , item [,] ) */
CtItem *ct_syntax_parse_items(CtParser *p, uint32_t *count) {
    CtList list;
    uint32_t outer = ct_syntax_bracket_open(p);
    ct_syntax_list_begin(p, &list, sizeof(CtItem));
    while (p->kind != TOKEN_RPAREN) {
        CtItem next = item(p); /* the list may move while it is read */
        CT_LIST_ADD(p, &list, CtItem, next);
        if (!ct_syntax_accept(p, TOKEN_COMMA)) break;
    }
    ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
    *count = list.count;
    return ct_syntax_list_end(p, &list);
}

/* import [qualified] [package] modid [qualified] [as modid] [[hiding] ( items )] */
static CtDecl import(CtParser *p) {
    CtDecl decl = {.kind = DECL_IMPORT};
    ct_syntax_advance(p);
    decl.qualified = accept_word(p, p->word_qualified);
    ct_syntax_accept(p, TOKEN_STRING); /* the name of a package says nothing here */
    decl.name = ct_syntax_parse_module_name(p);
    decl.qualified |= accept_word(p, p->word_qualified);
    if (accept_word(p, p->word_as)) decl.alias = ct_syntax_parse_module_name(p).text;
    decl.hiding = accept_word(p, p->word_hiding);
    if (p->kind == TOKEN_LPAREN) {
        decl.has_list = true;
        decl.items = ct_syntax_parse_items(p, &decl.item_count);
    } else if (decl.hiding) {
        ct_syntax_fail(p, "the names to hide, in parentheses");
    }
    return decl;
}

/* ---- data ---- */

/* simpletype -> tycon tyvar … tyvar */
/* The parameters that the kind of a data type adds, as in data T :: * -> Type where …: one for each arrow. */
static void params_of_kind(CtParser *p, CtDecl *decl) {
    uint32_t more = 0, nested = 0;
    for (; p->kind != TOKEN_WHERE && p->kind != TOKEN_EQUALS && p->kind != TOKEN_END; ct_syntax_advance(p)) {
        if (p->kind == TOKEN_LPAREN) nested++;
        if (p->kind == TOKEN_RPAREN) nested--;
        if (p->kind == TOKEN_RARROW && nested == 0) more++;
    }
    CtName *params = CT_NEW_ARRAY(p->context->arena, CtName, decl->param_count + more);
    for (uint32_t i = 0; i < decl->param_count + more; i++) {
        const char *name = ct_format(p->context->arena, "t%u", i);
        params[i] = i < decl->param_count
                        ? decl->params[i]
                        : (CtName){NULL, ct_intern_text(&p->context->symbols, name), decl->name.range};
    }
    decl->params = params;
    decl->param_count += more;
}

static void simple_type(CtParser *p, CtDecl *decl) {
    CtTypeExpr *head = ct_syntax_parse_qual_type(p).type; /* a context has no meaning here and is dropped */
    uint32_t count = 0;
    const CtTypeExpr *t = head;
    for (; t->kind == TYPE_EXPR_APP; t = t->parts[0]) count++;
    bool sound = t->kind == TYPE_EXPR_CON && t->name.module == NULL && t->name.text->text[0] != '[' &&
                 t->name.text->text[0] != '(' && t->name.text->text[0] != '-';
    decl->name = t->name;
    decl->param_count = count;
    decl->params = CT_NEW_ARRAY(p->context->arena, CtName, count);
    for (t = head; t->kind == TYPE_EXPR_APP; t = t->parts[0]) {
        sound = sound && t->parts[1]->kind == TYPE_EXPR_VAR;
        decl->params[--count] = t->parts[1]->name;
    }
    if (sound && ct_syntax_accept(p, TOKEN_DCOLON)) params_of_kind(p, decl);
    if (sound) return;
    CtDiag *diag = ct_error(p->context, CT_E0214, head->range, "expected the new type's name and its variables");
    bool family = t->kind == TYPE_EXPR_VAR && strcmp(t->name.text->text, "family") == 0;
    ct_help(p->context, diag,
            family ? "there are no families of types: a class of several parameters with `| a -> b` says the same"
                   : "for example: `data Tree a = …`; names of types begin with a capital");
    ct_syntax_leave_declaration(p);
}

static bool at_field(const CtParser *p) { return p->kind == TOKEN_BANG || ct_syntax_at_atype(p); }

bool ct_syntax_accept_strict(CtParser *p, CtConDecl *con, uint32_t field) {
    bool strict = ct_syntax_accept(p, TOKEN_BANG);
    if (strict && field < 64) con->strict |= (uint64_t)1 << field;
    return strict;
}

/* field -> [!] atype */
static CtTypeExpr *field(CtParser *p, CtConDecl *con, uint32_t index) {
    ct_syntax_accept_strict(p, con, index);
    return ct_syntax_parse_atype(p);
}

void ct_syntax_parse_record_fields(CtParser *p, CtConDecl *con) {
    struct Field {
        CtName name;
        CtTypeExpr *type;
    };
    CtList list;
    uint32_t outer = ct_syntax_bracket_open(p);
    ct_syntax_list_begin(p, &list, sizeof(struct Field));
    while (p->kind != TOKEN_RBRACE) {
        uint32_t first = list.count;
        do CT_LIST_ADD(p, &list, struct Field, {.name = ct_syntax_parse_variable(p)});
        while (ct_syntax_accept(p, TOKEN_COMMA));
        ct_syntax_expect(p, TOKEN_DCOLON, "`::` and the type of the field");
        bool strict = ct_syntax_accept_strict(p, con, first);
        for (uint32_t i = first; strict && i < list.count && i < 64; i++) con->strict |= (uint64_t)1 << i;
        CtTypeExpr *type = ct_syntax_parse_type(p);
        struct Field *fields = (struct Field *)(void *)(p->stack + list.mark);
        for (uint32_t i = first; i < list.count; i++) fields[i].type = type;
        if (!ct_syntax_accept(p, TOKEN_COMMA)) break;
    }
    ct_syntax_bracket_close(p, TOKEN_RBRACE, outer);
    uint32_t count = list.count;
    const struct Field *fields = ct_syntax_list_end(p, &list);
    con->field_count = count;
    con->fields = CT_NEW_ARRAY(p->context->arena, CtTypeExpr *, count);
    con->field_names = CT_NEW_ARRAY(p->context->arena, CtName, count);
    for (uint32_t i = 0; i < count; i++) {
        con->fields[i] = fields[i].type;
        con->field_names[i] = fields[i].name;
    }
}

static void plain_fields(CtParser *p, CtConDecl *con) {
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtTypeExpr *));
    while (at_field(p)) CT_LIST_ADD(p, &list, CtTypeExpr *, field(p, con, list.count));
    con->field_count = list.count;
    con->fields = ct_syntax_list_end(p, &list);
}

/* (btype | ! atype) conop (btype | ! atype), from the operator on */
static void infix_constructor(CtParser *p, CtConDecl *con, CtTypeExpr *left) {
    bool is_con;
    if (!ct_syntax_is_constructor_operator(p))
        ct_syntax_fail_help(p, "a constructor", "names of constructors begin with a capital, operators with `:`");
    con->name = ct_syntax_parse_operator(p, &is_con);
    bool strict = ct_syntax_accept_strict(p, con, 1);
    CtTypeExpr *right = strict ? ct_syntax_parse_atype(p) : ct_syntax_parse_btype(p);
    con->infix = true;
    con->field_count = 2;
    con->fields = CT_NEW_ARRAY(p->context->arena, CtTypeExpr *, 2);
    con->fields[0] = left;
    con->fields[1] = right;
}

/* Converts a constructor C with its fields into the type C t …, which it turns out to be when an infix constructor
 * follows. */
static CtTypeExpr *as_type(CtParser *p, const CtConDecl *con) {
    CtTypeExpr *type = CT_NEW(p->context->arena, CtTypeExpr);
    *type = (CtTypeExpr){.kind = TYPE_EXPR_CON, .range = con->name.range, .name = con->name};
    for (uint32_t i = 0; i < con->field_count; i++) {
        CtTypeExpr *app = CT_NEW(p->context->arena, CtTypeExpr);
        *app = (CtTypeExpr){
            .kind = TYPE_EXPR_APP, .range = ct_range_join(type->range, con->fields[i]->range), .part_count = 2};
        app->parts = CT_NEW_ARRAY(p->context->arena, CtTypeExpr *, 2);
        app->parts[0] = type;
        app->parts[1] = con->fields[i];
        type = app;
    }
    return type;
}

static CtConDecl constructor(CtParser *p);

/* What was read so far turns out to be the context of the constructor: context => constr */
static CtConDecl with_context(CtParser *p, CtConDecl con, CtTypeExpr *context) {
    ct_syntax_advance(p);
    CtConDecl rest = constructor(p);
    rest.exists = con.exists;
    rest.exist_count = con.exist_count;
    ct_syntax_context_of(p, context, &rest.context, &rest.context_count);
    return rest;
}

/* constr -> [forall tyvar … .] [context =>] (con field … | con { fields } | type conop type) */
static CtConDecl constructor(CtParser *p) {
    CtConDecl con = {0};
    uint32_t start = ct_syntax_token(p)->start;
    ct_syntax_accept_forall(p, &con.exists, &con.exist_count);
    bool in_parens = p->kind == TOKEN_LPAREN && ct_syntax_token_after(p, 1)->kind == TOKEN_CONSYM;
    if (p->kind == TOKEN_CONID || in_parens) {
        if (in_parens) ct_syntax_advance(p);
        con.name = ct_syntax_token_name(p, ct_syntax_token(p));
        ct_syntax_advance(p);
        if (in_parens) ct_syntax_expect(p, TOKEN_RPAREN, "`)`");
        if (p->kind == TOKEN_LBRACE)
            ct_syntax_parse_record_fields(p, &con);
        else
            plain_fields(p, &con);
        if (p->kind == TOKEN_DARROW && con.field_names == NULL) return with_context(p, con, as_type(p, &con));
        if (con.field_names == NULL && ct_syntax_is_constructor_operator(p))
            infix_constructor(p, &con, as_type(p, &con));
    } else {
        bool strict = ct_syntax_accept_strict(p, &con, 0);
        if (!ct_syntax_at_atype(p)) ct_syntax_fail(p, "a constructor, which begins with a capital");
        CtTypeExpr *left = strict ? ct_syntax_parse_atype(p) : ct_syntax_parse_btype(p);
        if (p->kind == TOKEN_DARROW) return with_context(p, con, left);
        infix_constructor(p, &con, left);
    }
    con.range = ct_syntax_range_from(p, start);
    return con;
}

/* [stock | anyclass | newtype]; whether it is the last */
static bool accept_strategy(CtParser *p) {
    if (ct_syntax_accept(p, TOKEN_NEWTYPE)) return true;
    if (p->kind == TOKEN_VARID) ct_syntax_advance(p);
    return false;
}

/* class type …, all but the last of the class's types */
static CtConstraint derived_class(CtParser *p) {
    CtConstraint class_;
    CtTypeExpr *type = ct_syntax_parse_btype(p);
    if (type->kind == TYPE_EXPR_CON) return (CtConstraint){.range = type->range, .class_name = type->name};
    if (ct_syntax_class_applied(p, type, &class_)) return class_;
    ct_error(p->context, CT_E0201, type->range, "expected the name of a class");
    ct_syntax_leave_declaration(p);
}

/* deriving [stock | newtype | anyclass] (class | ( class , … )), where a class may have arguments, MonadState Int */
void ct_syntax_parse_deriving(CtParser *p, CtDecl *decl) {
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtConstraint));
    for (uint32_t i = 0; i < decl->deriving_count; i++) CT_LIST_ADD(p, &list, CtConstraint, decl->deriving[i]);
    bool as_newtype = accept_strategy(p);
    bool several = p->kind == TOKEN_LPAREN;
    uint32_t outer = several ? ct_syntax_bracket_open(p) : 0;
    while (!several || p->kind != TOKEN_RPAREN) {
        if (p->kind != TOKEN_CONID) ct_syntax_fail(p, "the name of a class");
        CtConstraint class_ = {.range = ct_syntax_range_here(p)};
        if (several)
            class_ = derived_class(p);
        else {
            class_.class_name = ct_syntax_token_name(p, ct_syntax_token(p));
            ct_syntax_advance(p);
        }
        class_.as_newtype = as_newtype;
        CT_LIST_ADD(p, &list, CtConstraint, class_);
        if (!several || !ct_syntax_accept(p, TOKEN_COMMA)) break;
    }
    if (several) ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
    decl->deriving_count = list.count;
    decl->deriving = ct_syntax_list_end(p, &list);
}

/* (data | newtype) [context =>] simpletype [= constr | … | constr] [deriving] */
static CtDecl data(CtParser *p) {
    CtDecl decl = {.kind = DECL_DATA, .is_newtype = p->kind == TOKEN_NEWTYPE};
    ct_syntax_advance(p);
    simple_type(p, &decl);
    CtList list;
    bool gadt = p->kind == TOKEN_WHERE;
    if (gadt) ct_syntax_parse_gadt(p, &decl);
    ct_syntax_list_begin(p, &list, sizeof(CtConDecl));
    if (ct_syntax_accept(p, TOKEN_EQUALS)) {
        do CT_LIST_ADD(p, &list, CtConDecl, constructor(p));
        while (ct_syntax_accept(p, TOKEN_BAR));
    }
    if (!gadt) decl.con_count = list.count;
    CtConDecl *cons = ct_syntax_list_end(p, &list);
    if (!gadt) decl.cons = cons;
    while (ct_syntax_accept(p, TOKEN_DERIVING)) ct_syntax_parse_deriving(p, &decl);
    if (decl.is_newtype && (decl.con_count != 1 || decl.cons[0].field_count != 1))
        ct_error(p->context, CT_E0201, decl.name.range, "a newtype has one constructor with one field");
    return decl;
}

/* type simpletype = type */
static CtDecl synonym(CtParser *p) {
    CtDecl decl = {.kind = DECL_SYNONYM};
    ct_syntax_advance(p);
    simple_type(p, &decl);
    ct_syntax_expect(p, TOKEN_EQUALS, "`=` and the type that the name stands for");
    decl.type.type = ct_syntax_parse_type(p);
    return decl;
}

/* ---- classes and instances ---- */

/* where { decl ; … ; decl }; after an error in one declaration, parsing resumes at the next one */
static void body(CtParser *p, CtDecls *decls) {
    if (!ct_syntax_accept(p, TOKEN_WHERE)) return;
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtDecl));
    CtBlock block = ct_syntax_block_open(p);
    while (ct_syntax_block_next(p, &block)) ct_syntax_parse_guarded(p, ct_syntax_parse_decl, &list);
    decls->count = list.count;
    decls->items = ct_syntax_list_end(p, &list);
}

/* [context =>] class tyvar …, or [context =>] class type …. Sets the declaration's class, and the types as its head. */
static void head(CtParser *p, CtDecl *decl, CtQualType *type) {
    *type = ct_syntax_parse_qual_type(p);
    CtTypeExpr *whole = type->type;
    CtConstraint applied;
    if (ct_syntax_class_applied(p, whole, &applied)) {
        decl->name = applied.class_name;
        decl->head = applied.types;
        decl->head_count = applied.type_count;
        return;
    }
    CtDiag *diag = ct_error(p->context, CT_E0214, whole->range, "expected a class and its type");
    ct_help(p->context, diag,
            decl->kind == DECL_CLASS ? "for example: `class Shape a where`"
                                     : "for example: `instance Eq a => Eq (Tree a) where`");
    ct_syntax_leave_declaration(p);
}

/* The parameters at the place of the tokens, as a set of bits. */
static uint32_t parameters_here(CtParser *p, const CtDecl *decl) {
    uint32_t found = 0;
    for (; p->kind == TOKEN_VARID; ct_syntax_advance(p))
        for (uint32_t i = 0; i < decl->param_count; i++)
            if (ct_syntax_token_name(p, ct_syntax_token(p)).text == decl->params[i].text) found |= 1u << i;
    return found;
}

/* | tyvar … -> tyvar … , …: functional dependencies. One parameter has to determine the others. */
static void dependencies(CtParser *p, CtDecl *decl) {
    uint32_t by[32] = {0}, all = (uint32_t)((1ull << decl->param_count) - 1), i = 0;
    bool more = ct_syntax_accept(p, TOKEN_BAR);
    while (more) {
        uint32_t from = parameters_here(p, decl);
        ct_syntax_expect(p, TOKEN_RARROW, "`->` and the variables that those in front of it determine");
        uint32_t to = parameters_here(p, decl);
        for (uint32_t j = 0; j < decl->param_count; j++)
            if (from == 1u << j) by[j] |= to;
        more = ct_syntax_accept(p, TOKEN_COMMA);
    }
    while (i < decl->param_count && (by[i] | 1u << i) != all) i++;
    decl->determines = i;
    if (i < decl->param_count) return;
    CtDiag *diag = ct_error(p->context, CT_E0214, decl->name.range,
                            "one parameter of a class has to determine the others, which `%s` does not say",
                            decl->name.text->text);
    ct_help(p->context, diag, "for example: `class Monad m => MonadState s m | m -> s where`");
    ct_syntax_leave_declaration(p);
}

/* class [context =>] class tyvar … [dependencies] [where decls] */
static CtDecl class_decl(CtParser *p) {
    enum { MOST_PARAMETERS = 31 };
    CtDecl decl = {.kind = DECL_CLASS};
    CtQualType type;
    ct_syntax_advance(p);
    head(p, &decl, &type);
    decl.supers = type.constraints;
    decl.super_count = type.constraint_count;
    decl.params = CT_NEW_ARRAY(p->context->arena, CtName, decl.head_count);
    for (uint32_t i = 0; i < decl.head_count; i++) {
        if (decl.head[i]->kind != TYPE_EXPR_VAR || i == MOST_PARAMETERS) {
            ct_error(p->context, CT_E0214, decl.head[i]->range, "the parameter of a class is a type variable");
            ct_syntax_leave_declaration(p);
        }
        decl.params[decl.param_count++] = decl.head[i]->name;
    }
    if (decl.param_count > 1) dependencies(p, &decl);
    body(p, &decl.body);
    return decl;
}

/* instance [context =>] class type … [where decls] */
static CtDecl instance_decl(CtParser *p) {
    CtDecl decl = {.kind = DECL_INSTANCE};
    ct_syntax_advance(p);
    head(p, &decl, &decl.type);
    body(p, &decl.body);
    return decl;
}

/* deriving [stock | newtype | anyclass] instance [context =>] class type … type. The context is inferred. */
static CtDecl deriving_decl(CtParser *p) {
    CtDecl decl = {.kind = DECL_DERIVING};
    ct_syntax_advance(p);
    accept_strategy(p);
    ct_syntax_expect(p, TOKEN_INSTANCE, "`instance`");
    head(p, &decl, &decl.type);
    return decl;
}

/* primitive string var :: type */
static CtDecl primitive(CtParser *p) {
    CtDecl decl = {.kind = DECL_PRIMITIVE, .name_count = 1};
    ct_syntax_advance(p);
    if (p->kind != TOKEN_STRING) ct_syntax_fail(p, "the operation's name as a string");
    decl.primitive = ct_syntax_token(p)->string->text;
    ct_syntax_advance(p);
    decl.names = CT_NEW(p->context->arena, CtName);
    decl.names[0] = ct_syntax_parse_variable(p);
    ct_syntax_expect(p, TOKEN_DCOLON, "`::` and the type");
    decl.type = ct_syntax_parse_qual_type(p);
    return decl;
}

static bool imports_over(const CtParser *p, const CtList *list) {
    if (list->count == 0) return false;
    return ((const CtDecl *)(const void *)(p->stack + list->mark))[list->count - 1].kind != DECL_IMPORT;
}

/* Whether `default (type, …)` stands here. `default` is no keyword: it may also be a function's name. */
static bool at_default(const CtParser *p) {
    if (p->kind != TOKEN_VARID || ct_syntax_token(p)->is_qualified ||
        strcmp(ct_syntax_token(p)->name->text, "default") != 0)
        return false;
    uint32_t i = 2;
    if (ct_syntax_token_after(p, 1)->kind != TOKEN_LPAREN) return false;
    while (ct_syntax_token_after(p, i)->kind == TOKEN_CONID || ct_syntax_token_after(p, i)->kind == TOKEN_COMMA) i++;
    if (ct_syntax_token_after(p, i)->kind != TOKEN_RPAREN) return false;
    CtTokenKind behind = ct_syntax_token_after(p, i + 1)->kind;
    return behind != TOKEN_EQUALS && behind != TOKEN_BAR;
}

/* default (type, …) */
static CtDecl default_decl(CtParser *p) {
    CtDecl decl = {.kind = DECL_DEFAULT};
    ct_syntax_advance(p);
    decl.type.type = ct_syntax_parse_atype(p);
    return decl;
}

/* topdecl -> import | data | synonym | class | instance | deriving | default | primitive | decl */
void ct_syntax_parse_top_decl(CtParser *p, CtList *list) {
    uint32_t start = ct_syntax_token(p)->start;
    CtDecl decl;
    switch (p->kind) {
    case TOKEN_IMPORT:
        if (imports_over(p, list))
            ct_error(p->context, CT_E0201, ct_syntax_range_here(p), "imports stand before other declarations");
        decl = import(p);
        break;
    case TOKEN_DATA:
    case TOKEN_NEWTYPE: decl = data(p); break;
    case TOKEN_TYPE: decl = synonym(p); break;
    case TOKEN_CLASS: decl = class_decl(p); break;
    case TOKEN_INSTANCE: decl = instance_decl(p); break;
    case TOKEN_DERIVING: decl = deriving_decl(p); break;
    case TOKEN_PRIMITIVE: decl = primitive(p); break;
    default:
        if (!at_default(p)) {
            ct_syntax_parse_decl(p, list);
            return;
        }
        decl = default_decl(p);
    }
    decl.range = ct_syntax_range_from(p, start);
    CT_LIST_ADD(p, list, CtDecl, decl);
}
