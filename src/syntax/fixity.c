/* Fixity resolution: rewrites operator chains into applications, sections and negations (Haskell 98 §4.4.2, §10.6).
 *
 * `order_chain` brings a chain into postfix order, without recursion, and the tree is built from that order; so a chain
 * of any length takes linear time and constant C stack. The tree that results is as deep as the chain is long.
 * Fixities are scoped: a local definition of an operator hides the fixity that the name had outside.
 */
#include "syntax/internal.h"

typedef struct Undo {
    CtSym name;
    CtFixity *before;
} Undo;

/* A buffer that is reused for every chain. */
typedef struct Scratch {
    void *data;
    size_t size;
} Scratch;

typedef struct Resolver {
    CtContext *context;
    CtFixities *fixities;
    CT_VEC(Undo) undo; /* fixities that declarations of open scopes replaced, to be restored by leave_scope */
    Scratch items, order, stack;
} Resolver;

static void *scratch(const Resolver *r, Scratch *scratch, size_t count, size_t size) {
    if (scratch->size < count * size) {
        scratch->size = 2 * count * size;
        scratch->data = ct_alloc(r->context->arena, scratch->size);
    }
    return scratch->data;
}

static const CtFixity default_fixity = {FIXITY_LEFT, 9}, colon_fixity = {FIXITY_RIGHT, 5},
                      minus_fixity = {FIXITY_LEFT, 6};

/* Operators of other languages have the fixity of their Cotan counterparts while they are not defined, so that the
 * error about an expression that uses them concerns the operator's name and not its precedence. */
static const CtFixity *foreign(CtSym name) {
    static const CtFixity comparison = {FIXITY_NONE, 4}, conjunction = {FIXITY_RIGHT, 3}, product = {FIXITY_LEFT, 7};
    static const struct {
        const char *name;
        const CtFixity *fixity;
    } rows[] = {{"!=", &comparison}, {"===", &comparison}, {"=<", &comparison}, {"~=", &comparison},
                {"&", &conjunction}, {"%", &product},      {"//", &product}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name->text, rows[i].name) == 0) return rows[i].fixity;
    return &default_fixity;
}

const CtFixity *ct_syntax_fixity(const CtFixities *fixities, CtName name) {
    for (; fixities != NULL; fixities = fixities->outer) {
        const CtMap *table = name.module ? ct_map_get(&fixities->qualified, ct_key(name.module)) : &fixities->table;
        const CtFixity *fixity = table != NULL ? ct_map_get(table, ct_key(name.text)) : NULL;
        if (fixity != NULL) return fixity;
        if (fixities->outer == NULL && name.module) /* the prelude's names, under any qualifier */
            fixity = ct_map_get(&fixities->table, ct_key(name.text));
        if (fixity != NULL) return fixity;
    }
    return strcmp(name.text->text, ":") == 0 ? &colon_fixity : foreign(name.text);
}

static void set_fixity(Resolver *r, CtSym name, const CtFixity *fixity) {
    Undo undo = {name, ct_map_get(&r->fixities->table, ct_key(name))};
    ct_push(r->context->arena, &r->undo, undo);
    ct_map_set(r->context->arena, &r->fixities->table, ct_key(name), (void *)(uintptr_t)fixity);
}

static void leave_scope(Resolver *r, uint32_t mark) {
    while (r->undo.count > mark) {
        const Undo *undo = &r->undo.items[--r->undo.count];
        ct_map_set(r->context->arena, &r->fixities->table, ct_key(undo->name), undo->before);
    }
}

/* A new definition of a name hides the fixity of the outer one: in its scope the name has the default fixity. */
static void hide(Resolver *r, CtSym name) { set_fixity(r, name, &default_fixity); }

/* ---- the order of a chain ---- */

typedef struct Item {
    enum { ITEM_OPERAND, ITEM_OPERATOR, ITEM_MINUS } kind;
    CtFixity fixity;
    CtSym name;
    CtSourceRange range;
} Item;

typedef struct Order {
    uint32_t *items; /* indices of the chain's items in postfix order: each operator after its operands */
    uint32_t count;
} Order;

static const char *fixity_text(CtFixityKind kind) {
    return kind == FIXITY_LEFT ? "infixl" : kind == FIXITY_RIGHT ? "infixr" : "infix";
}

static const char *describe(const Resolver *r, const Item *item) {
    const char *fixity = fixity_text(item->fixity.kind);
    if (item->kind == ITEM_MINUS) return "a minus sign (infixl 6)";
    return ct_format(r->context->arena, "`%s` (%s %d)", item->name->text, fixity, item->fixity.precedence);
}

static void report_mix(const Resolver *r, const Item *first, const Item *second) {
    CtDiag *diag = ct_error(r->context, CT_E0209, second->range, "%s and %s cannot stand side by side",
                            describe(r, first), describe(r, second));
    ct_note(r->context, diag, first->range, "the operator before it");
    if (second->kind == ITEM_MINUS)
        ct_help(r->context, diag, "a negative number behind an operator stands in parentheses: (-1)");
    else if (first->fixity.precedence == 4 && second->fixity.precedence == 4)
        ct_help(r->context, diag, "compare twice: x %s y && y %s z", first->name->text, second->name->text);
    else
        ct_help(r->context, diag, "say with parentheses which of them comes first");
}

typedef enum Precedence { FIRST_BINDS, SECOND_BINDS, NEITHER_BINDS } Precedence;

static Precedence compare(const Item *first, const Item *second) {
    CtFixity a = first->fixity, b = second->fixity;
    if (second->kind == ITEM_MINUS) return a.precedence < b.precedence ? SECOND_BINDS : NEITHER_BINDS;
    if (a.precedence != b.precedence) return a.precedence > b.precedence ? FIRST_BINDS : SECOND_BINDS;
    if (a.kind == FIXITY_LEFT && b.kind == FIXITY_LEFT) return FIRST_BINDS;
    if (a.kind == FIXITY_RIGHT && b.kind == FIXITY_RIGHT) return SECOND_BINDS;
    return NEITHER_BINDS;
}

/* The postfix order of a chain, by operator precedence parsing with `waiting` as the operator stack. Reports the first
 * pair of operators that may not be mixed. */
static Order order_chain(Resolver *r, const Item *items, uint32_t count) {
    Order order = {.items = scratch(r, &r->order, 2 * (size_t)count, sizeof(uint32_t))};
    uint32_t *waiting = order.items + count, waiting_count = 0;
    bool reported = false;
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].kind == ITEM_OPERAND) {
            order.items[order.count++] = i;
            continue;
        }
        while (waiting_count > 0) {
            const Item *before = &items[waiting[waiting_count - 1]];
            Precedence first = compare(before, &items[i]);
            if (first == NEITHER_BINDS && !reported) {
                report_mix(r, before, &items[i]);
                reported = true;
            }
            if (first == SECOND_BINDS || items[i].kind == ITEM_MINUS) break; /* a minus has no left operand */
            order.items[order.count++] = waiting[--waiting_count];
        }
        waiting[waiting_count++] = i;
    }
    while (waiting_count > 0) order.items[order.count++] = waiting[--waiting_count];
    return order;
}

/* ---- building ---- */

static CtExpr *make(const Resolver *r, CtExprKind kind, CtSourceRange range, uint32_t count) {
    CtExpr *expr = CT_NEW(r->context->arena, CtExpr);
    expr->kind = kind;
    expr->range = range;
    expr->part_count = count;
    expr->parts = CT_NEW_ARRAY(r->context->arena, CtExpr *, count);
    return expr;
}

static CtExpr *build_expr(Resolver *r, const CtExpr *chain, Order order) {
    CtExpr **stack = scratch(r, &r->stack, order.count, sizeof(CtExpr *));
    uint32_t top = 0;
    for (uint32_t i = 0; i < order.count; i++) {
        const CtChainItem *item = &chain->chain[order.items[i]];
        CtExpr *built = item->expr;
        if (item->kind == CHAIN_MINUS) {
            CtExpr *operand = stack[--top];
            built = make(r, EXPR_NEG, ct_range_join(item->range, operand->range), 1);
            built->parts[0] = operand;
        } else if (item->kind == CHAIN_OPERATOR) {
            CtExpr *right = stack[--top], *left = stack[--top];
            built = make(r, EXPR_APP, ct_range_join(left->range, right->range), 3);
            built->parts[0] = item->expr;
            built->parts[1] = left;
            built->parts[2] = right;
        }
        stack[top++] = built;
    }
    return stack[0];
}

/* Rewrites a chain in place; returns the item of the operator at the root of the tree. */
static Item resolve_chain(Resolver *r, CtExpr *chain) {
    Item *items = scratch(r, &r->items, chain->chain_count, sizeof(Item));
    for (uint32_t i = 0; i < chain->chain_count; i++) {
        const CtChainItem *from = &chain->chain[i];
        items[i] = (Item){.range = from->range};
        if (from->kind == CHAIN_OPERAND) continue;
        items[i].kind = from->kind == CHAIN_MINUS ? ITEM_MINUS : ITEM_OPERATOR;
        items[i].name = from->kind == CHAIN_MINUS ? NULL : from->expr->name.text;
        items[i].fixity = from->kind == CHAIN_MINUS ? minus_fixity : *ct_syntax_fixity(r->fixities, from->expr->name);
    }
    Order order = order_chain(r, items, chain->chain_count);
    CtExpr whole = *build_expr(r, chain, order);
    whole.range = chain->range;
    whole.parenthesised = chain->parenthesised;
    *chain = whole;
    return items[order.items[order.count - 1]];
}

static void resolve_pat_chain(Resolver *r, CtPat *chain) {
    uint32_t count = 2 * chain->part_count - 1, top = 0;
    Item *items = scratch(r, &r->items, count, sizeof(Item));
    for (uint32_t i = 0; i < count; i++) {
        items[i] = (Item){.range = i % 2 == 0 ? chain->parts[i / 2]->range : chain->fields[i / 2].range};
        if (i % 2 == 0) continue;
        items[i].kind = ITEM_OPERATOR;
        items[i].name = chain->fields[i / 2].text;
        items[i].fixity = *ct_syntax_fixity(r->fixities, chain->fields[i / 2]);
    }
    Order order = order_chain(r, items, count);
    CtPat **stack = scratch(r, &r->stack, order.count, sizeof(CtPat *));
    for (uint32_t i = 0; i < order.count; i++) {
        uint32_t index = order.items[i];
        if (index % 2 == 0) {
            stack[top++] = chain->parts[index / 2];
            continue;
        }
        CtPat *right = stack[--top], *left = stack[--top], *con = CT_NEW(r->context->arena, CtPat);
        con->kind = PAT_CON;
        con->range = ct_range_join(left->range, right->range);
        con->name = chain->fields[index / 2];
        con->part_count = 2;
        con->parts = CT_NEW_ARRAY(r->context->arena, CtPat *, 2);
        con->parts[0] = left;
        con->parts[1] = right;
        stack[top++] = con;
    }
    CtPat whole = *stack[0];
    whole.range = chain->range;
    *chain = whole;
}

/* ---- walking the tree ---- */

static void resolve_expr(Resolver *r, CtExpr *expr);
static void resolve_decls(Resolver *r, CtDecls *decls);

/* Hides the fixities of all names that a pattern binds. It runs before resolve_pat, while chains are still flat, so
 * that its recursion stays shallow. */
static void hide_bound(Resolver *r, const CtPat *pat) {
    if (pat->kind == PAT_VAR || pat->kind == PAT_AS) hide(r, pat->name.text);
    for (uint32_t i = 0; i < pat->part_count; i++) hide_bound(r, pat->parts[i]);
}

static void resolve_pat(Resolver *r, CtPat *pat) {
    for (uint32_t i = 0; i < pat->part_count; i++) resolve_pat(r, pat->parts[i]);
    if (pat->kind == PAT_VIEW) resolve_expr(r, pat->view);
    if (pat->kind == PAT_CHAIN) resolve_pat_chain(r, pat);
}

static void bind_pat(Resolver *r, CtPat *pat) {
    hide_bound(r, pat);
    resolve_pat(r, pat);
}

/* Resolves statements in order; names that one binds are in scope in the later ones. The scope stays open for the
 * expression that follows the statements: the caller leaves it. */
static void resolve_stmts(Resolver *r, CtStmt *stmts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        CtStmt *stmt = &stmts[i];
        if (stmt->expr != NULL) resolve_expr(r, stmt->expr);
        if (stmt->pat != NULL) bind_pat(r, stmt->pat);
        if (stmt->kind == STMT_LET) resolve_decls(r, &stmt->decls);
    }
}

static void resolve_rhs(Resolver *r, CtRhs *rhs) {
    uint32_t mark = r->undo.count;
    resolve_decls(r, &rhs->where);
    for (uint32_t i = 0; i < rhs->guarded_count; i++) {
        uint32_t guard_mark = r->undo.count;
        resolve_stmts(r, rhs->guarded[i].guards, rhs->guarded[i].guard_count);
        resolve_expr(r, rhs->guarded[i].body);
        leave_scope(r, guard_mark);
    }
    leave_scope(r, mark);
}

/* (e op) is legal when e binds tighter than op, (op e) likewise: Haskell 98 §3.5. */
static void resolve_section(Resolver *r, CtExpr *section, uint32_t operand, CtFixityKind side) {
    CtExpr *e = section->parts[operand], *op = section->parts[1 - operand];
    if (e->kind != EXPR_CHAIN || e->parenthesised) {
        resolve_expr(r, e);
        return;
    }
    for (uint32_t i = 0; i < e->chain_count; i++)
        if (e->chain[i].kind == CHAIN_OPERAND) resolve_expr(r, e->chain[i].expr);
    Item last = resolve_chain(r, e);
    CtFixity fixity = *ct_syntax_fixity(r->fixities, op->name);
    bool tighter = last.fixity.precedence > fixity.precedence;
    bool same = last.fixity.precedence == fixity.precedence && last.fixity.kind == side && fixity.kind == side;
    if (tighter || same) return;
    Item outer = {.kind = ITEM_OPERATOR, .fixity = fixity, .name = op->name.text};
    CtDiag *diag = ct_error(r->context, CT_E0211, section->range, "%s in this section does not bind tighter than %s",
                            describe(r, &last), describe(r, &outer));
    ct_note(r->context, diag, last.range, "the operator inside the section");
    ct_help(r->context, diag, "put the section's operand in parentheses");
}

static void resolve_parts(Resolver *r, CtExpr *expr) {
    for (uint32_t i = 0; i < expr->part_count; i++)
        if (expr->parts[i] != NULL) resolve_expr(r, expr->parts[i]);
}

static void resolve_alts(Resolver *r, CtExpr *expr) {
    for (uint32_t i = 0; i < expr->alt_count; i++) {
        uint32_t mark = r->undo.count;
        bind_pat(r, expr->alts[i].pat);
        resolve_rhs(r, &expr->alts[i].rhs);
        leave_scope(r, mark);
    }
}

static void resolve_expr(Resolver *r, CtExpr *expr) {
    uint32_t mark = r->undo.count;
    switch (expr->kind) {
    case EXPR_VAR:
    case EXPR_CON:
    case EXPR_LIT:
    case EXPR_TUPLE_CON: break;
    case EXPR_APP:
    case EXPR_NEG:
    case EXPR_IF:
    case EXPR_TUPLE:
    case EXPR_LIST:
    case EXPR_ARRAY:
    case EXPR_RANGE:
    case EXPR_ANNOT:
    case EXPR_RECORD:
    case EXPR_POLY:
    case EXPR_UPDATE: resolve_parts(r, expr); break;
    case EXPR_CHAIN:
        for (uint32_t i = 0; i < expr->chain_count; i++)
            if (expr->chain[i].kind == CHAIN_OPERAND) resolve_expr(r, expr->chain[i].expr);
        resolve_chain(r, expr);
        break;
    case EXPR_LAM:
        for (uint32_t i = 0; i < expr->pat_count; i++) bind_pat(r, expr->pats[i]);
        resolve_parts(r, expr);
        break;
    case EXPR_LET:
        resolve_decls(r, &expr->decls);
        resolve_parts(r, expr);
        break;
    case EXPR_CASE:
        resolve_parts(r, expr);
        resolve_alts(r, expr);
        break;
    case EXPR_LEFT_SECTION: resolve_section(r, expr, 0, FIXITY_LEFT); break;
    case EXPR_RIGHT_SECTION: resolve_section(r, expr, 1, FIXITY_RIGHT); break;
    case EXPR_COMPREHENSION:
    case EXPR_DO:
        resolve_stmts(r, expr->stmts, expr->stmt_count);
        resolve_parts(r, expr);
        break;
    }
    leave_scope(r, mark);
}

/* ---- declarations ---- */

/* defined: the names that the block defines; NULL: at a prompt, where a definition may follow. */
static void declare(Resolver *r, const CtDecl *decl, CtMap *seen, const CtMap *defined) {
    for (uint32_t i = 0; i < decl->name_count; i++) {
        CtName name = decl->names[i];
        if (defined != NULL && !ct_map_has(defined, ct_key(name.text)))
            ct_error(r->context, CT_E0310, name.range, "`%s` has a fixity, but no definition beside it",
                     name.text->text);
        const CtName *earlier = ct_map_get(seen, ct_key(name.text));
        if (earlier != NULL) {
            CtDiag *diag =
                ct_error(r->context, CT_E0204, name.range, "`%s` has two fixity declarations", name.text->text);
            ct_note(r->context, diag, earlier->range, "the other one");
            continue;
        }
        CtFixity *fixity = CT_NEW(r->context->arena, CtFixity);
        *fixity = (CtFixity){decl->fixity, decl->precedence};
        ct_map_set(r->context->arena, seen, ct_key(name.text), &decl->names[i]);
        set_fixity(r, name.text, fixity);
    }
}

typedef struct Defined {
    CtArena *arena;
    CT_VEC(CtSym) names;
} Defined;

static void add_names(Defined *defined, const CtName *names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) ct_push(defined->arena, &defined->names, names[i].text);
}

static void add_bound(Defined *defined, const CtPat *pat) {
    if (pat->kind == PAT_VAR || pat->kind == PAT_AS) add_names(defined, &pat->name, 1);
    for (uint32_t i = 0; i < pat->part_count; i++) add_bound(defined, pat->parts[i]);
}

static void add_cons(Defined *defined, const CtDecl *data) {
    for (uint32_t i = 0; i < data->con_count; i++) {
        add_names(defined, &data->cons[i].name, 1);
        if (data->cons[i].field_names != NULL) add_names(defined, data->cons[i].field_names, data->cons[i].field_count);
    }
}

uint32_t ct_syntax_defined_names(CtArena *arena, const CtDecls *decls, CtSym **out) {
    Defined defined = {.arena = arena};
    for (uint32_t i = 0; i < decls->count; i++) {
        const CtDecl *decl = &decls->items[i];
        if (decl->kind == DECL_BINDING && decl->binding->pat != NULL) add_bound(&defined, decl->binding->pat);
        if (decl->kind == DECL_BINDING && decl->binding->pat == NULL) add_names(&defined, &decl->binding->name, 1);
        if (decl->kind == DECL_PRIMITIVE) add_names(&defined, decl->names, decl->name_count);
        if (decl->kind == DECL_DATA) add_cons(&defined, decl);
        for (uint32_t j = 0; decl->kind == DECL_CLASS && j < decl->body.count; j++)
            if (decl->body.items[j].kind == DECL_SIGNATURE)
                add_names(&defined, decl->body.items[j].names, decl->body.items[j].name_count);
    }
    *out = defined.names.items;
    return defined.names.count;
}

static CtMap hide_defined(Resolver *r, const CtDecls *decls) {
    CtSym *names;
    CtMap defined = {0};
    uint32_t count = ct_syntax_defined_names(r->context->arena, decls, &names);
    for (uint32_t i = 0; i < count; i++) {
        hide(r, names[i]);
        ct_map_set(r->context->arena, &defined, ct_key(names[i]), r);
    }
    return defined;
}

static void declare_all(Resolver *r, const CtDecls *decls, const CtMap *defined) {
    CtMap seen = {0};
    for (uint32_t i = 0; i < decls->count; i++) {
        const CtDecl *decl = &decls->items[i];
        if (decl->kind == DECL_FIXITY) declare(r, decl, &seen, defined);
        for (uint32_t j = 0; decl->kind == DECL_CLASS && j < decl->body.count; j++)
            if (decl->body.items[j].kind == DECL_FIXITY) declare(r, &decl->body.items[j], &seen, defined);
    }
}

/* Enters the scope of a block: hides the outer fixities of the names that it defines, then adds the fixities that it
 * declares. */
static void enter_decls(Resolver *r, const CtDecls *decls) {
    CtMap defined = hide_defined(r, decls);
    declare_all(r, decls, &defined);
}

static void resolve_binding(Resolver *r, CtBinding *binding) {
    if (binding->pat != NULL) resolve_pat(r, binding->pat);
    for (uint32_t i = 0; i < binding->clause_count; i++) {
        uint32_t mark = r->undo.count;
        CtClause *clause = &binding->clauses[i];
        for (uint32_t j = 0; j < clause->pat_count; j++) bind_pat(r, clause->pats[j]);
        resolve_rhs(r, &clause->rhs);
        leave_scope(r, mark);
    }
}

static void resolve_bindings(Resolver *r, CtDecls *decls) {
    for (uint32_t i = 0; i < decls->count; i++) {
        CtDecl *decl = &decls->items[i];
        if (decl->kind == DECL_BINDING) resolve_binding(r, decl->binding);
        if (decl->kind == DECL_CLASS || decl->kind == DECL_INSTANCE) resolve_bindings(r, &decl->body);
    }
}

static void resolve_decls(Resolver *r, CtDecls *decls) {
    enter_decls(r, decls);
    resolve_bindings(r, decls);
}

static Resolver resolver(CtContext *context, CtFixities *fixities) {
    return (Resolver){.context = context, .fixities = fixities};
}

void ct_syntax_resolve_fixities(CtContext *context, CtFixities *fixities, CtModule *module) {
    Resolver r = resolver(context, fixities);
    if (module->continues) /* a fixity stands before the definition or after it, and a new definition keeps it */
        declare_all(&r, &module->decls, NULL);
    else
        enter_decls(&r, &module->decls);
    resolve_bindings(&r, &module->decls); /* the module's scope is not left: later modules see its fixities */
}

void ct_syntax_resolve_expression_fixities(CtContext *context, CtFixities *fixities, CtExpr *expr) {
    Resolver r = resolver(context, fixities);
    resolve_expr(&r, expr);
}
