/* Syntax as one would write it, on one line: for messages and tests. Blocks are in braces, and operator applications in
 * parentheses where they are operands, since the tree does not say how tightly they bind. What it prints reads back. */
#include "syntax/syntax.h"

#include <math.h>

/* The forms that may stand at a place without parentheses: any, operands of an operator, or atoms only. */
typedef enum Level { ANYTHING, OPERAND, ATOM } Level;

enum { DEEPEST = 500 }; /* deeper parts are printed as `…`: the tree of a chain is as deep as the chain is long */

static void print_expr(CtText *out, const CtExpr *expr, Level level, int depth);
static void print_decls(CtText *out, const CtDecls *decls, int depth);

/* ---- names and literals ---- */

static void print_bare_name(CtText *out, CtName name) {
    if (name.module != NULL) {
        ct_text_add(out, name.module->text, name.module->length);
        ct_text_putc(out, '.');
    }
    ct_text_add(out, name.text->text, name.text->length);
}

static void print_name(CtText *out, CtName name) {
    bool op = ct_syntax_is_operator_name(name.text);
    if (op) ct_text_putc(out, '(');
    print_bare_name(out, name);
    if (op) ct_text_putc(out, ')');
}

static void print_infix_name(CtText *out, CtName name) {
    bool op = ct_syntax_is_operator_name(name.text);
    if (!op) ct_text_putc(out, '`');
    print_bare_name(out, name);
    if (!op) ct_text_putc(out, '`');
}

static void print_names(CtText *out, const CtName *names, uint32_t count, const char *separator) {
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) ct_text_puts(out, separator);
        print_name(out, names[i]);
    }
}

/* One byte of a literal; `quote` is escaped. */
static void print_byte(CtText *out, unsigned char c, char quote, unsigned char next) {
    if (c == '\n') {
        ct_text_puts(out, "\\n");
    } else if (c == '\t') {
        ct_text_puts(out, "\\t");
    } else if (c < 0x20 || c == 0x7F) {
        ct_text_printf(out, "\\%u", c);
        if (next >= '0' && next <= '9') ct_text_puts(out, "\\&");
    } else {
        if (c == (unsigned char)quote || c == '\\') ct_text_putc(out, '\\');
        ct_text_putc(out, (char)c);
    }
}

static void print_char(CtText *out, uint32_t c) {
    ct_text_putc(out, '\'');
    if (c < 0x80)
        print_byte(out, (unsigned char)c, '\'', 0);
    else
        ct_text_printf(out, "\\x%X", c);
    ct_text_putc(out, '\'');
}

static void print_fraction(CtText *out, double value) {
    size_t start = out->length;
    ct_text_double(out, value);
    if (strpbrk(out->data + start, ".en") == NULL) ct_text_puts(out, ".0");
}

static void print_lit(CtText *out, const CtLit *lit) {
    switch (lit->kind) {
    case LIT_INT:
        if (lit->digits != NULL)
            ct_text_printf(out, "%s%s", signbit(lit->fraction) ? "-" : "", lit->digits);
        else
            ct_text_printf(out, "%lld", (long long)lit->integer);
        break;
    case LIT_FRACTION: print_fraction(out, lit->fraction); break;
    case LIT_CHAR: print_char(out, (uint32_t)lit->integer); break;
    case LIT_STRING:
        ct_text_putc(out, '"');
        for (size_t i = 0; i < lit->text_length; i++)
            print_byte(out, (unsigned char)lit->text[i], '"',
                       i + 1 < lit->text_length ? (unsigned char)lit->text[i + 1] : 0);
        ct_text_putc(out, '"');
        break;
    }
}

/* ---- types ---- */

static void print_qual_type(CtText *out, const CtQualType *type, int depth);

static void print_type(CtText *out, const CtTypeExpr *type, Level level, int depth) {
    if (depth > DEEPEST) {
        ct_text_puts(out, "…");
        return;
    }
    bool parens = (level == ATOM && type->kind == TYPE_EXPR_APP) || (level >= OPERAND && type->kind == TYPE_EXPR_FUN) ||
                  type->kind == TYPE_EXPR_FORALL;
    if (parens) ct_text_putc(out, '(');
    switch (type->kind) {
    case TYPE_EXPR_VAR: print_bare_name(out, type->name); break;
    case TYPE_EXPR_CON:
        if (type->name.text->text[0] == '-')
            ct_text_puts(out, "(->)");
        else
            print_bare_name(out, type->name);
        break;
    case TYPE_EXPR_APP:
        print_type(out, type->parts[0], OPERAND, depth + 1);
        ct_text_putc(out, ' ');
        print_type(out, type->parts[1], ATOM, depth + 1);
        break;
    case TYPE_EXPR_FUN:
        for (; type->kind == TYPE_EXPR_FUN; type = type->parts[1]) { /* long arrows without recursion */
            print_type(out, type->parts[0], OPERAND, depth + 1);
            ct_text_puts(out, " -> ");
        }
        print_type(out, type, OPERAND, depth + 1);
        break;
    case TYPE_EXPR_LIST:
    case TYPE_EXPR_TUPLE:
        ct_text_putc(out, type->kind == TYPE_EXPR_LIST ? '[' : '(');
        for (uint32_t i = 0; i < type->part_count; i++) {
            if (i > 0) ct_text_puts(out, ", ");
            print_type(out, type->parts[i], ANYTHING, depth + 1);
        }
        ct_text_putc(out, type->kind == TYPE_EXPR_LIST ? ']' : ')');
        break;
    case TYPE_EXPR_FORALL: print_qual_type(out, type->qual, depth + 1); break;
    }
    if (parens) ct_text_putc(out, ')');
}

static void print_types(CtText *out, CtTypeExpr *const *types, uint32_t count, int depth) {
    for (uint32_t i = 0; i < count; i++) {
        ct_text_putc(out, ' ');
        print_type(out, types[i], ATOM, depth + 1);
    }
}

static void print_constraints(CtText *out, const CtConstraint *constraints, uint32_t count, int depth) {
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) ct_text_puts(out, ", ");
        print_bare_name(out, constraints[i].class_name);
        print_types(out, constraints[i].types, constraints[i].type_count, depth);
    }
}

static void print_context(CtText *out, const CtConstraint *constraints, uint32_t count, int depth) {
    if (count == 0) return;
    if (count > 1) ct_text_putc(out, '(');
    print_constraints(out, constraints, count, depth);
    if (count > 1) ct_text_putc(out, ')');
    ct_text_puts(out, " => ");
}

static void print_qual_type(CtText *out, const CtQualType *type, int depth) {
    for (uint32_t i = 0; i < type->forall_count; i++) {
        ct_text_puts(out, i == 0 ? "forall " : " ");
        print_bare_name(out, type->forall[i]);
    }
    if (type->forall_count > 0) ct_text_puts(out, ". ");
    print_context(out, type->constraints, type->constraint_count, depth);
    print_type(out, type->type, ANYTHING, depth + 1);
}

/* ---- patterns ---- */

static void print_pat(CtText *out, const CtPat *pat, Level level, int depth);

static void print_pats(CtText *out, CtPat *const *pats, uint32_t count, const char *separator, Level level, int depth) {
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) ct_text_puts(out, separator);
        print_pat(out, pats[i], level, depth + 1);
    }
}

static bool is_infix_pat(const CtPat *pat) {
    return pat->kind == PAT_CON && pat->part_count == 2 && ct_syntax_is_operator_name(pat->name.text);
}

static bool is_atomic_pat(const CtPat *pat, Level level) {
    switch (pat->kind) {
    case PAT_CHAIN: return false;
    case PAT_CON: return pat->part_count == 0 || (level == OPERAND && !is_infix_pat(pat));
    case PAT_LIT: {
        bool number = pat->lit.kind == LIT_INT || pat->lit.kind == LIT_FRACTION;
        return !number || level == OPERAND || pat->lit.fraction >= 0;
    }
    case PAT_WILD:
    case PAT_VAR:
    case PAT_AS:
    case PAT_TUPLE:
    case PAT_LIST:
    case PAT_ANNOT:
    case PAT_VIEW:
    case PAT_RECORD: return true;
    }
    return true;
}

static void print_record_pat(CtText *out, const CtPat *pat, int depth) {
    print_name(out, pat->name);
    ct_text_puts(out, " {");
    for (uint32_t i = 0; i < pat->part_count; i++) {
        if (i > 0) ct_text_puts(out, ", ");
        print_name(out, pat->fields[i]);
        ct_text_puts(out, " = ");
        print_pat(out, pat->parts[i], ANYTHING, depth + 1);
    }
    if (pat->rest) ct_text_puts(out, pat->part_count > 0 ? ", .." : "..");
    ct_text_putc(out, '}');
}

static void print_con_pat(CtText *out, const CtPat *pat, int depth) {
    if (is_infix_pat(pat)) {
        print_pat(out, pat->parts[0], OPERAND, depth + 1);
        ct_text_putc(out, ' ');
        print_infix_name(out, pat->name);
        ct_text_putc(out, ' ');
        print_pat(out, pat->parts[1], OPERAND, depth + 1);
        return;
    }
    print_name(out, pat->name);
    if (pat->part_count > 0) ct_text_putc(out, ' ');
    print_pats(out, pat->parts, pat->part_count, " ", ATOM, depth);
}

static void print_pat(CtText *out, const CtPat *pat, Level level, int depth) {
    if (depth > DEEPEST) {
        ct_text_puts(out, "…");
        return;
    }
    bool parens = level != ANYTHING && !is_atomic_pat(pat, level);
    if (parens) ct_text_putc(out, '(');
    switch (pat->kind) {
    case PAT_WILD: ct_text_putc(out, '_'); break;
    case PAT_VAR: print_name(out, pat->name); break;
    case PAT_AS:
        print_name(out, pat->name);
        ct_text_putc(out, '@');
        print_pat(out, pat->parts[0], ATOM, depth + 1);
        break;
    case PAT_CON: print_con_pat(out, pat, depth); break;
    case PAT_LIT: print_lit(out, &pat->lit); break;
    case PAT_TUPLE:
    case PAT_LIST:
        ct_text_putc(out, pat->kind == PAT_LIST ? '[' : '(');
        print_pats(out, pat->parts, pat->part_count, ", ", ANYTHING, depth);
        ct_text_putc(out, pat->kind == PAT_LIST ? ']' : ')');
        break;
    case PAT_ANNOT:
        ct_text_putc(out, '(');
        print_pat(out, pat->parts[0], ANYTHING, depth + 1);
        ct_text_puts(out, " :: ");
        print_type(out, pat->annot, ANYTHING, depth + 1);
        ct_text_putc(out, ')');
        break;
    case PAT_RECORD: print_record_pat(out, pat, depth); break;
    case PAT_VIEW:
        ct_text_putc(out, '(');
        print_expr(out, pat->view, ANYTHING, depth + 1);
        ct_text_puts(out, " -> ");
        print_pat(out, pat->parts[0], ANYTHING, depth + 1);
        ct_text_putc(out, ')');
        break;
    case PAT_CHAIN:
        for (uint32_t i = 0; i < pat->part_count; i++) {
            print_pat(out, pat->parts[i], OPERAND, depth + 1);
            if (i + 1 == pat->part_count) break;
            ct_text_putc(out, ' ');
            print_infix_name(out, pat->fields[i]);
            ct_text_putc(out, ' ');
        }
        break;
    }
    if (parens) ct_text_putc(out, ')');
}

/* ---- expressions ---- */

static void print_stmt(CtText *out, const CtStmt *stmt, int depth) {
    if (stmt->kind == STMT_BIND) {
        print_pat(out, stmt->pat, ANYTHING, depth + 1);
        ct_text_puts(out, " <- ");
    }
    if (stmt->kind == STMT_LET) {
        ct_text_puts(out, "let ");
        print_decls(out, &stmt->decls, depth);
    } else {
        print_expr(out, stmt->expr, ANYTHING, depth + 1);
    }
}

static void print_stmts(CtText *out, const CtStmt *stmts, uint32_t count, const char *separator, int depth) {
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) ct_text_puts(out, separator);
        print_stmt(out, &stmts[i], depth);
    }
}

static void print_rhs(CtText *out, const CtRhs *rhs, const char *arrow, int depth) {
    for (uint32_t i = 0; i < rhs->guarded_count; i++) {
        const CtGuarded *guarded = &rhs->guarded[i];
        if (guarded->guard_count > 0) ct_text_puts(out, " | ");
        print_stmts(out, guarded->guards, guarded->guard_count, ", ", depth);
        ct_text_printf(out, " %s ", arrow);
        print_expr(out, guarded->body, ANYTHING, depth + 1);
    }
    if (rhs->where.count == 0) return;
    ct_text_puts(out, " where ");
    print_decls(out, &rhs->where, depth);
}

static void print_parts(CtText *out, CtExpr *const *parts, uint32_t count, const char *separator, Level level,
                        int depth) {
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) ct_text_puts(out, separator);
        print_expr(out, parts[i], level, depth + 1);
    }
}

static bool is_infix(const CtExpr *expr) {
    const CtExpr *op = expr->kind == EXPR_APP && expr->part_count == 3 ? expr->parts[0] : NULL;
    return op != NULL && (op->kind == EXPR_VAR || op->kind == EXPR_CON) && ct_syntax_is_operator_name(op->name.text);
}

static Level level_of(const CtExpr *expr) {
    if (expr->at != NULL) return OPERAND;
    switch (expr->kind) {
    case EXPR_VAR:
    case EXPR_CON:
    case EXPR_LIT:
    case EXPR_TUPLE:
    case EXPR_TUPLE_CON:
    case EXPR_POLY:
    case EXPR_LIST:
    case EXPR_ARRAY:
    case EXPR_RANGE:
    case EXPR_LEFT_SECTION:
    case EXPR_RIGHT_SECTION:
    case EXPR_RECORD:
    case EXPR_UPDATE:
    case EXPR_COMPREHENSION: return ATOM;
    case EXPR_APP: return is_infix(expr) ? ANYTHING : OPERAND;
    case EXPR_CHAIN:
    case EXPR_NEG:
    case EXPR_LAM:
    case EXPR_LET:
    case EXPR_IF:
    case EXPR_CASE:
    case EXPR_ANNOT:
    case EXPR_DO: return ANYTHING;
    }
    return ANYTHING;
}

static void print_chain(CtText *out, const CtExpr *expr, int depth) {
    for (uint32_t i = 0; i < expr->chain_count; i++) {
        const CtChainItem *item = &expr->chain[i];
        if (i > 0 && expr->chain[i - 1].kind != CHAIN_MINUS) ct_text_putc(out, ' ');
        if (item->kind == CHAIN_MINUS) ct_text_putc(out, '-');
        if (item->kind == CHAIN_OPERATOR) print_infix_name(out, item->expr->name);
        if (item->kind == CHAIN_OPERAND) print_expr(out, item->expr, OPERAND, depth + 1);
    }
}

static void print_app(CtText *out, const CtExpr *expr, int depth) {
    if (!is_infix(expr)) {
        print_parts(out, expr->parts, expr->part_count, " ", ATOM, depth);
        return;
    }
    print_expr(out, expr->parts[1], OPERAND, depth + 1);
    ct_text_putc(out, ' ');
    print_infix_name(out, expr->parts[0]->name);
    ct_text_putc(out, ' ');
    print_expr(out, expr->parts[2], OPERAND, depth + 1);
}

static void print_fields(CtText *out, const CtExpr *expr, int depth) {
    print_expr(out, expr->parts[0], ATOM, depth + 1);
    ct_text_puts(out, " {");
    for (uint32_t i = 1; i < expr->part_count; i++) {
        if (i > 1) ct_text_puts(out, ", ");
        print_name(out, expr->fields[i - 1]);
        ct_text_puts(out, " = ");
        print_expr(out, expr->parts[i], ANYTHING, depth + 1);
    }
    ct_text_putc(out, '}');
}

static void print_range(CtText *out, const CtExpr *expr, int depth) {
    ct_text_putc(out, '[');
    print_expr(out, expr->parts[0], ANYTHING, depth + 1);
    if (expr->parts[1] != NULL) {
        ct_text_puts(out, ", ");
        print_expr(out, expr->parts[1], ANYTHING, depth + 1);
    }
    ct_text_puts(out, " ..");
    if (expr->parts[2] != NULL) {
        ct_text_putc(out, ' ');
        print_expr(out, expr->parts[2], ANYTHING, depth + 1);
    }
    ct_text_putc(out, ']');
}

static void print_section(CtText *out, const CtExpr *expr, int depth) {
    bool left = expr->kind == EXPR_LEFT_SECTION;
    ct_text_putc(out, '(');
    if (left) print_expr(out, expr->parts[0], OPERAND, depth + 1);
    if (left) ct_text_putc(out, ' ');
    print_infix_name(out, expr->parts[left ? 1 : 0]->name);
    if (!left) ct_text_putc(out, ' ');
    if (!left) print_expr(out, expr->parts[1], OPERAND, depth + 1);
    ct_text_putc(out, ')');
}

static void print_case(CtText *out, const CtExpr *expr, int depth) {
    ct_text_puts(out, "case ");
    print_expr(out, expr->parts[0], ANYTHING, depth + 1);
    ct_text_puts(out, " of {");
    for (uint32_t i = 0; i < expr->alt_count; i++) {
        if (i > 0) ct_text_puts(out, "; ");
        print_pat(out, expr->alts[i].pat, ANYTHING, depth + 1);
        print_rhs(out, &expr->alts[i].rhs, "->", depth);
    }
    ct_text_putc(out, '}');
}

static void print_type_arguments(CtText *out, const CtTypeArgs *at, int depth) {
    for (uint32_t i = 0; at != NULL && i < at->count; i++) {
        ct_text_puts(out, " @");
        if (at->types[i].type == NULL)
            ct_text_putc(out, '_');
        else
            print_type(out, at->types[i].type, ATOM, depth + 1);
    }
}

static void print_form(CtText *out, const CtExpr *expr, int depth) {
    switch (expr->kind) {
    case EXPR_VAR:
    case EXPR_CON:
        print_name(out, expr->name);
        print_type_arguments(out, expr->at, depth);
        break;
    case EXPR_LIT: print_lit(out, &expr->lit); break;
    case EXPR_APP: print_app(out, expr, depth); break;
    case EXPR_CHAIN: print_chain(out, expr, depth); break;
    case EXPR_POLY: print_expr(out, expr->parts[0], ATOM, depth); break;
    case EXPR_NEG:
        ct_text_putc(out, '-');
        print_expr(out, expr->parts[0], OPERAND, depth + 1);
        break;
    case EXPR_LAM:
        ct_text_putc(out, '\\');
        print_pats(out, expr->pats, expr->pat_count, " ", ATOM, depth);
        ct_text_puts(out, " -> ");
        print_expr(out, expr->parts[0], ANYTHING, depth + 1);
        break;
    case EXPR_LET:
        ct_text_puts(out, "let ");
        print_decls(out, &expr->decls, depth);
        ct_text_puts(out, " in ");
        print_expr(out, expr->parts[0], ANYTHING, depth + 1);
        break;
    case EXPR_IF:
        ct_text_puts(out, "if ");
        print_expr(out, expr->parts[0], ANYTHING, depth + 1);
        ct_text_puts(out, " then ");
        print_expr(out, expr->parts[1], ANYTHING, depth + 1);
        ct_text_puts(out, " else ");
        print_expr(out, expr->parts[2], ANYTHING, depth + 1);
        break;
    case EXPR_CASE: print_case(out, expr, depth); break;
    case EXPR_TUPLE:
        ct_text_putc(out, '(');
        print_parts(out, expr->parts, expr->part_count, ", ", ANYTHING, depth);
        ct_text_putc(out, ')');
        break;
    case EXPR_TUPLE_CON:
        ct_text_putc(out, '(');
        for (uint32_t i = 1; i < expr->tuple_size; i++) ct_text_putc(out, ',');
        ct_text_putc(out, ')');
        break;
    case EXPR_LIST:
        ct_text_putc(out, '[');
        print_parts(out, expr->parts, expr->part_count, ", ", ANYTHING, depth);
        ct_text_putc(out, ']');
        break;
    case EXPR_ARRAY:
        ct_text_puts(out, "[|");
        print_parts(out, expr->parts, expr->part_count, ", ", ANYTHING, depth);
        ct_text_puts(out, "|]");
        break;
    case EXPR_RANGE: print_range(out, expr, depth); break;
    case EXPR_LEFT_SECTION:
    case EXPR_RIGHT_SECTION: print_section(out, expr, depth); break;
    case EXPR_ANNOT:
        print_expr(out, expr->parts[0], OPERAND, depth + 1);
        ct_text_puts(out, " :: ");
        print_qual_type(out, expr->annot, depth);
        break;
    case EXPR_RECORD:
    case EXPR_UPDATE: print_fields(out, expr, depth); break;
    case EXPR_COMPREHENSION:
        ct_text_putc(out, '[');
        print_expr(out, expr->parts[0], ANYTHING, depth + 1);
        ct_text_puts(out, " | ");
        print_stmts(out, expr->stmts, expr->stmt_count, ", ", depth);
        ct_text_putc(out, ']');
        break;
    case EXPR_DO:
        ct_text_puts(out, "do {");
        print_stmts(out, expr->stmts, expr->stmt_count, "; ", depth);
        ct_text_putc(out, '}');
        break;
    }
}

static void print_expr(CtText *out, const CtExpr *expr, Level level, int depth) {
    if (depth > DEEPEST) {
        ct_text_puts(out, "…");
        return;
    }
    bool parens = level_of(expr) < level;
    if (parens) ct_text_putc(out, '(');
    print_form(out, expr, depth);
    if (parens) ct_text_putc(out, ')');
}

/* ---- declarations ---- */

static void print_binding(CtText *out, const CtBinding *binding, int depth) {
    for (uint32_t i = 0; i < binding->clause_count; i++) {
        const CtClause *clause = &binding->clauses[i];
        if (i > 0) ct_text_puts(out, "; ");
        if (binding->pat != NULL)
            print_pat(out, binding->pat, ANYTHING, depth + 1);
        else
            print_name(out, binding->name);
        if (clause->pat_count > 0) ct_text_putc(out, ' ');
        print_pats(out, clause->pats, clause->pat_count, " ", ATOM, depth);
        print_rhs(out, &clause->rhs, "=", depth);
    }
}

static void print_con(CtText *out, const CtConDecl *con) {
    for (uint32_t i = 0; i < con->exist_count; i++) {
        ct_text_puts(out, i == 0 ? "forall " : " ");
        print_name(out, con->exists[i]);
    }
    if (con->exist_count > 0) ct_text_puts(out, ". ");
    print_context(out, con->context, con->context_count, 0);
    print_name(out, con->name);
    if (con->field_names != NULL) ct_text_puts(out, " {");
    for (uint32_t i = 0; i < con->field_count; i++) {
        if (con->field_names == NULL) {
            ct_text_putc(out, ' ');
            print_type(out, con->fields[i], ATOM, 0);
            continue;
        }
        if (i > 0) ct_text_puts(out, ", ");
        print_name(out, con->field_names[i]);
        ct_text_puts(out, " :: ");
        print_type(out, con->fields[i], ANYTHING, 0);
    }
    if (con->field_names != NULL) ct_text_putc(out, '}');
}

static void print_head(CtText *out, const CtDecl *decl) {
    print_bare_name(out, decl->name);
    for (uint32_t i = 0; i < decl->param_count; i++) {
        ct_text_putc(out, ' ');
        print_bare_name(out, decl->params[i]);
    }
}

static void print_data(CtText *out, const CtDecl *decl) {
    ct_text_puts(out, decl->is_newtype ? "newtype " : "data ");
    print_head(out, decl);
    for (uint32_t i = 0; i < decl->con_count; i++) {
        ct_text_puts(out, i == 0 ? " = " : " | ");
        print_con(out, &decl->cons[i]);
    }
    if (decl->deriving_count == 0) return;
    ct_text_puts(out, " deriving (");
    print_constraints(out, decl->deriving, decl->deriving_count, 0);
    ct_text_putc(out, ')');
}

static void print_item(CtText *out, const CtItem *item) {
    if (item->is_module) ct_text_puts(out, "module ");
    if (item->is_pattern) ct_text_puts(out, "pattern ");
    print_name(out, item->name);
    if (item->all) ct_text_puts(out, "(..)");
    if (!item->bracketed || item->all) return;
    ct_text_putc(out, '(');
    print_names(out, item->parts, item->part_count, ", ");
    ct_text_putc(out, ')');
}

static void print_import(CtText *out, const CtDecl *decl) {
    ct_text_puts(out, decl->qualified ? "import qualified " : "import ");
    print_bare_name(out, decl->name);
    if (decl->alias != NULL) ct_text_printf(out, " as %s", decl->alias->text);
    if (decl->hiding) ct_text_puts(out, " hiding");
    if (!decl->has_list) return;
    ct_text_puts(out, " (");
    for (uint32_t i = 0; i < decl->item_count; i++) {
        if (i > 0) ct_text_puts(out, ", ");
        print_item(out, &decl->items[i]);
    }
    ct_text_putc(out, ')');
}

static void print_fixity(CtText *out, const CtDecl *decl) {
    static const char *const words[] = {[FIXITY_LEFT] = "infixl", [FIXITY_RIGHT] = "infixr", [FIXITY_NONE] = "infix"};
    ct_text_printf(out, "%s %d ", words[decl->fixity], decl->precedence);
    for (uint32_t i = 0; i < decl->name_count; i++) {
        if (i > 0) ct_text_puts(out, ", ");
        print_infix_name(out, decl->names[i]);
    }
}

static void print_body(CtText *out, const CtDecl *decl, int depth) {
    if (decl->body.count == 0) return;
    ct_text_puts(out, " where ");
    print_decls(out, &decl->body, depth);
}

static void print_decl(CtText *out, const CtDecl *decl, int depth) {
    switch (decl->kind) {
    case DECL_BINDING: print_binding(out, decl->binding, depth); break;
    case DECL_PRIMITIVE: ct_text_printf(out, "primitive \"%s\" ", decl->primitive); __attribute__((fallthrough));
    case DECL_SIGNATURE:
        print_names(out, decl->names, decl->name_count, ", ");
        ct_text_puts(out, " :: ");
        print_qual_type(out, &decl->type, depth);
        break;
    case DECL_FIXITY: print_fixity(out, decl); break;
    case DECL_DATA: print_data(out, decl); break;
    case DECL_SYNONYM:
        ct_text_puts(out, "type ");
        print_head(out, decl);
        ct_text_puts(out, " = ");
        print_type(out, decl->type.type, ANYTHING, depth + 1);
        break;
    case DECL_CLASS:
        ct_text_puts(out, "class ");
        print_context(out, decl->supers, decl->super_count, depth);
        print_head(out, decl);
        if (decl->param_count > 1) ct_text_printf(out, " | %s ->", decl->params[decl->determines].text->text);
        for (uint32_t i = 0; i < decl->param_count && decl->param_count > 1; i++)
            if (i != decl->determines) ct_text_printf(out, " %s", decl->params[i].text->text);
        print_body(out, decl, depth);
        break;
    case DECL_INSTANCE:
        ct_text_puts(out, "instance ");
        print_context(out, decl->type.constraints, decl->type.constraint_count, depth);
        print_bare_name(out, decl->name);
        print_types(out, decl->head, decl->head_count, depth);
        print_body(out, decl, depth);
        break;
    case DECL_DERIVING:
        ct_text_puts(out, "deriving instance ");
        print_context(out, decl->type.constraints, decl->type.constraint_count, depth);
        print_bare_name(out, decl->name);
        print_types(out, decl->head, decl->head_count, depth);
        break;
    case DECL_DEFAULT:
        ct_text_puts(out, decl->type.type->kind == TYPE_EXPR_TUPLE ? "default " : "default (");
        print_type(out, decl->type.type, ANYTHING, depth + 1);
        if (decl->type.type->kind != TYPE_EXPR_TUPLE) ct_text_putc(out, ')');
        break;
    case DECL_IMPORT: print_import(out, decl); break;
    }
}

static void print_decls(CtText *out, const CtDecls *decls, int depth) {
    ct_text_putc(out, '{');
    for (uint32_t i = 0; i < decls->count; i++) {
        if (i > 0) ct_text_puts(out, "; ");
        print_decl(out, &decls->items[i], depth + 1);
    }
    ct_text_putc(out, '}');
}

void ct_syntax_print_pat(CtText *out, const CtPat *pat) { print_pat(out, pat, ANYTHING, 0); }
void ct_syntax_print_expr(CtText *out, const CtExpr *expr) { print_expr(out, expr, ANYTHING, 0); }
void ct_syntax_print_decl(CtText *out, const CtDecl *decl) { print_decl(out, decl, 0); }
