/* Printing of Core in the notation of the papers.
 *
 * A term is printed on one line if it fits in WIDTH columns, and otherwise broken by its form. Whether it fits is
 * determined by printing it to a scratch text that stops when it becomes too long, so printing takes linear time.
 * Bindings, and cases with several alternatives, are always broken where a line may end.
 *
 * Variables keep their names; where a name is taken by a variable in scope or by a global, a number is added. */
#include "core/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 100, MAX_DEPTH = 4000 };

/* Precedence levels of operands. */
enum { LOOSE = 0, COMPARE = 4, CONS = 5, PLUS = 6, TIMES = 7, INDEX = 9, APPLY = 10, ATOM = 11 };

typedef struct Bound {
    CtVar *var;
    void *number; /* the number of its name before */
} Bound;

typedef struct Printer {
    CtProgram *p;
    CtText *out, scratch;
    CtMap names;   /* CtVar * -> CtSym */
    CtMap taken;   /* CtSym -> non-NULL while in use */
    CtMap numbers; /* CtSym -> the number from which a free one is searched */
    CT_VEC(Bound) scope;
    uint32_t indent, column, depth;
    bool flat;
    uint32_t width_left; /* flat: columns left */
    bool full;           /* flat: there were not enough */
} Printer;

/* ---- text ---- */

static void put_length(Printer *pr, const char *text, size_t length) {
    if (pr->full) return;
    uint32_t columns = 0;
    for (size_t i = 0; i < length; i++) columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    if (pr->flat && columns > pr->width_left) {
        pr->full = true;
        return;
    }
    pr->width_left -= pr->flat ? columns : 0;
    pr->column += columns;
    ct_text_add(pr->out, text, length);
}

static void put(Printer *pr, const char *text) { put_length(pr, text, strlen(text)); }

static void line(Printer *pr) {
    if (pr->flat) {
        put(pr, " ");
        return;
    }
    ct_text_putc(pr->out, '\n');
    for (uint32_t i = 0; i < pr->indent; i++) ct_text_putc(pr->out, ' ');
    pr->column = pr->indent;
}

static void put_char(Printer *pr, int64_t c, char quote) {
    char buffer[32];
    if (c == quote || c == '\\')
        snprintf(buffer, sizeof buffer, "\\%c", (char)c);
    else if (c == '\n')
        snprintf(buffer, sizeof buffer, "\\n");
    else if (c == '\t')
        snprintf(buffer, sizeof buffer, "\\t");
    else if (c < 32 || c >= 127)
        snprintf(buffer, sizeof buffer, "\\%lld", (long long)c);
    else
        snprintf(buffer, sizeof buffer, "%c", (char)c);
    put(pr, buffer);
}

static void put_string(Printer *pr, const char *data, size_t length) {
    put(pr, "\"");
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)data[i] >= 128)
            put_length(pr, &data[i], 1);
        else
            put_char(pr, data[i], '"');
    }
    put(pr, "\"");
}

/* The shortest decimal that reads back to the same number, always with a point or an exponent. */
static void put_real(Printer *pr, double value, bool is_float) {
    char digits[40];
    for (int precision = is_float ? 6 : 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        double back = strtod(digits, NULL);
        if (is_float ? (float)back == (float)value : back == value) break;
    }
    if (strspn(digits, "-0123456789") == strlen(digits)) strcat(digits, ".0");
    put(pr, value != value ? "NaN" : digits);
}

/* ---- names ---- */

/* The name itself, or the name with the smallest free number from `numbers` on. Names are allocated and freed like a
 * stack. */
static CtSym free_name(Printer *pr, CtSym name) {
    CtContext *context = pr->p->context;
    CtSym candidate = name;
    uint64_t i = (uintptr_t)ct_map_get(&pr->numbers, ct_key(name));
    if (i > 0)
        candidate = ct_intern_text(&context->symbols, ct_format(context->arena, "%s%u", name->text, (uint32_t)i));
    while (ct_map_get(&pr->taken, ct_key(candidate)) != NULL)
        candidate = ct_intern_text(&context->symbols, ct_format(context->arena, "%s%u", name->text, (uint32_t)++i));
    ct_map_set(context->arena, &pr->numbers, ct_key(name), (void *)(uintptr_t)(i + 1));
    return candidate;
}

static void bind(Printer *pr, CtVar *var) {
    CtArena *arena = pr->p->context->arena;
    if (var == NULL) return;
    void *number = ct_map_get(&pr->numbers, ct_key(var->name));
    CtSym name = free_name(pr, var->name);
    ct_map_set(arena, &pr->names, ct_key(var), (void *)name);
    ct_map_set(arena, &pr->taken, ct_key(name), var);
    ct_push(arena, &pr->scope, (Bound){var, number});
}

static void leave_scope(Printer *pr, uint32_t to) {
    while (pr->scope.count > to) {
        Bound bound = pr->scope.items[--pr->scope.count];
        CtArena *arena = pr->p->context->arena;
        ct_map_set(arena, &pr->taken, ct_key(ct_map_get(&pr->names, ct_key(bound.var))), NULL);
        ct_map_set(arena, &pr->numbers, ct_key(bound.var->name), bound.number);
    }
}

static void put_var(Printer *pr, const CtVar *var) {
    CtSym name = var == NULL ? NULL : ct_map_get(&pr->names, ct_key(var));
    put(pr, var == NULL ? "_" : name != NULL ? name->text : var->name->text);
}

static void bind_and_put(Printer *pr, CtVar *const *vars, uint32_t count, const char *between) {
    for (uint32_t i = 0; i < count; i++) {
        bind(pr, vars[i]);
        if (i > 0) put(pr, between);
        put_var(pr, vars[i]);
    }
}

/* ---- what operators look like ---- */

typedef struct Infix {
    const char *name, *symbol;
    uint8_t level;
} Infix;

/* All but the comparisons associate to the left. */
static const Infix infixes[] = {
    {"add", "+", PLUS},       {"sub", "-", PLUS},        {"mul", "×", TIMES},      {"div", "/", TIMES},
    {"scale", "·", TIMES},    {"eq", "==", COMPARE},     {"ne", "/=", COMPARE},    {"lt", "<", COMPARE},
    {"le", "<=", COMPARE},    {"gt", ">", COMPARE},      {"ge", ">=", COMPARE},    {"intAdd", "+", PLUS},
    {"intSub", "-", PLUS},    {"intMul", "×", TIMES},    {"intEq", "==", COMPARE}, {"intLt", "<", COMPARE},
    {"intLe", "<=", COMPARE}, {"charEq", "==", COMPARE}, {"charLt", "<", COMPARE}, {"charLe", "<=", COMPARE},
};

static const Infix *find_infix(const CtCore *core) {
    static const Infix cons = {":", ":", CONS}, index = {"index", "!", INDEX};
    if (core->kind == CORE_CON && core->as.call.count == 2 && strcmp(core->as.call.of.con->name->text, ":") == 0)
        return &cons;
    if (core->kind == CORE_ARRAY && core->as.call.of.array == ARRAY_INDEX) return &index;
    if (core->kind != CORE_PRIM) return NULL;
    const char *name = ct_prim_info(core->as.call.of.prim)->name;
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++)
        if (strcmp(infixes[i].name, name) == 0) return &infixes[i];
    return NULL;
}

static bool is_negate(const CtCore *core) {
    if (core->kind != CORE_PRIM || core->as.call.count != 1) return false;
    const char *name = ct_prim_info(core->as.call.of.prim)->name;
    return strcmp(name, "negate") == 0 || strcmp(name, "intNegate") == 0;
}

static bool is_negative(const CtCore *lit) {
    switch (lit->type->kind) {
    case TYPE_INT: return lit->as.lit.integer < 0;
    case TYPE_DOUBLE:
    case TYPE_FLOAT: return __builtin_signbit(lit->as.lit.real) != 0;
    case TYPE_CHAR:
    case TYPE_TUPLE:
    case TYPE_ARRAY:
    case TYPE_FUN:
    case TYPE_DATA: return false;
    }
    return false;
}

/* Whether a term is a complete list literal, which is printed in brackets. */
static bool is_whole_list(const CtCore *core) {
    if (core->kind != CORE_CON || strcmp(core->as.call.of.con->data->name->text, "[]") != 0) return false;
    while (core->kind == CORE_CON && core->as.call.count == 2) core = core->as.call.args[1];
    return core->kind == CORE_CON && core->as.call.count == 0;
}

static bool is_if(const CtCore *core) {
    if (core->as.cases.count != 2 || core->as.cases.otherwise != NULL) return false;
    return strcmp(core->as.cases.cases[0].con->data->name->text, "Bool") == 0;
}

/* The precedence level of a term. */
static int level_of(const CtCore *core) {
    const Infix *infix = find_infix(core);
    switch (core->kind) {
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_STRING:
    case CORE_TUPLE:
    case CORE_ARRAY_LIT: return ATOM;
    case CORE_LIT: return is_negative(core) ? PLUS : ATOM;
    case CORE_CON:
        if (core->as.call.count == 0 || is_whole_list(core)) return ATOM;
        return infix != NULL ? infix->level : APPLY;
    case CORE_PRIM:
    case CORE_ARRAY:
        if (infix != NULL) return infix->level;
        return is_negate(core) ? PLUS : APPLY;
    case CORE_APP:
    case CORE_PROJ:
    case CORE_DERIV:
    case CORE_DUAL:
    case CORE_FAIL: return APPLY;
    case CORE_LAM:
    case CORE_LET:
    case CORE_LETREC:
    case CORE_UNPACK:
    case CORE_CASE: return LOOSE;
    }
    return LOOSE;
}

/* ---- terms ---- */

static void put_term(Printer *pr, CtCore *core, int level);
static void put_block(Printer *pr, CtCore *core);

/* Whether the term fits on the rest of the line. */
static bool fits(Printer *pr, CtCore *core, int level) {
    if (pr->flat) return true;
    if (pr->column >= WIDTH) return false;
    CtText *out = pr->out;
    uint32_t column = pr->column, scope = pr->scope.count;
    pr->scratch.length = 0;
    pr->out = &pr->scratch;
    pr->flat = true;
    pr->width_left = WIDTH - column;
    put_term(pr, core, level);
    leave_scope(pr, scope);
    bool result = !pr->full;
    pr->full = false;
    pr->flat = false;
    pr->out = out;
    pr->column = column;
    return result;
}

static void put_flat(Printer *pr, CtCore *core, int level) {
    if (pr->flat) {
        put_term(pr, core, level);
        return;
    }
    pr->flat = true;
    pr->width_left = UINT32_MAX;
    put_term(pr, core, level);
    pr->flat = false;
}

/* Prints a term on this line if it fits, otherwise indented on lines of its own. */
static void put_below(Printer *pr, CtCore *core) {
    uint32_t indent = pr->indent;
    pr->indent += 2;
    if (pr->flat) {
        put(pr, " ");
        put_term(pr, core, LOOSE);
    } else {
        line(pr);
        put_block(pr, core);
    }
    pr->indent = indent;
}

static bool breaks_always(const CtCore *core) {
    if (core->kind == CORE_LET || core->kind == CORE_UNPACK || core->kind == CORE_LETREC) return true;
    return core->kind == CORE_CASE && !is_if(core) && core->as.cases.count + (core->as.cases.otherwise != NULL) > 1;
}

/* Prints a term that ends its line: the body of a term, or the right-hand side of a binding. */
static void put_block(Printer *pr, CtCore *core) {
    if (!pr->flat && !breaks_always(core) && fits(pr, core, LOOSE))
        put_flat(pr, core, LOOSE);
    else
        put_term(pr, core, LOOSE);
}

/* Prints what follows `=`, `→` or `λx.`: on the same line if it fits there completely. */
static void put_rest(Printer *pr, CtCore *core) {
    if (pr->flat || (!breaks_always(core) && fits(pr, core, LOOSE))) {
        put(pr, " ");
        put_flat(pr, core, LOOSE);
    } else if (core->kind == CORE_LAM || (core->kind == CORE_CASE && !is_if(core))) {
        put(pr, " ");
        put_term(pr, core, LOOSE);
    } else {
        put_below(pr, core);
    }
}

/* Prints an operand. If it does not fit, it is put in parentheses with its lines indented. */
static void put_operand(Printer *pr, CtCore *core, int level) {
    if (pr->flat || fits(pr, core, level)) {
        put_flat(pr, core, level);
        return;
    }
    uint32_t indent = pr->indent;
    pr->indent = pr->column + (level_of(core) < level);
    put_term(pr, core, level);
    pr->indent = indent;
}

static void put_items(Printer *pr, const char *open, CtCore *const *items, uint32_t count, const char *close) {
    put(pr, open);
    uint32_t indent = pr->indent, start = pr->column - (uint32_t)strlen(open);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && !pr->flat) {
            pr->indent = start;
            line(pr);
        }
        if (i > 0) put(pr, ", ");
        put_operand(pr, items[i], LOOSE);
    }
    put(pr, close);
    pr->indent = indent;
}

static void put_list(Printer *pr, CtCore *core) {
    CtCoreList items = {0};
    for (; core->as.call.count == 2; core = core->as.call.args[1])
        ct_push(pr->p->context->arena, &items, core->as.call.args[0]);
    put_items(pr, "[", items.items, items.count, "]");
}

/* Prints arguments. A λ as the last argument hangs: its parenthesis stays on the line, and its body is indented. */
static void put_args(Printer *pr, CtCore *const *args, uint32_t count) {
    uint32_t indent = pr->indent;
    bool broken = false;
    for (uint32_t i = 0; i < count; i++) {
        bool hangs = i + 1 == count && args[i]->kind == CORE_LAM && !broken && pr->column + 12 < WIDTH;
        if (pr->flat || hangs) {
            put(pr, " ");
            put_term(pr, args[i], ATOM);
        } else if (!broken && pr->column + 1 < WIDTH && fits(pr, args[i], ATOM)) {
            put(pr, " ");
            put_flat(pr, args[i], ATOM);
        } else {
            broken = true;
            pr->indent = indent + 2;
            line(pr);
            put_operand(pr, args[i], ATOM);
        }
    }
    pr->indent = indent;
}

static void put_infix(Printer *pr, CtCore *core, const Infix *infix) {
    bool right = infix->level == CONS;
    bool none = infix->level == COMPARE;
    uint32_t indent = pr->indent, column = pr->column;
    put_operand(pr, core->as.call.args[0], right || none ? infix->level + 1 : infix->level);
    pr->indent = column;
    uint32_t width_left = pr->column;
    pr->column += 3; /* for the operator and the spaces around it */
    bool same_line = pr->flat || (pr->column < WIDTH && fits(pr, core->as.call.args[1], infix->level + 1));
    pr->column = width_left;
    if (same_line)
        put(pr, " ");
    else
        line(pr);
    put(pr, infix->symbol);
    put(pr, " ");
    put_operand(pr, core->as.call.args[1], right ? infix->level : infix->level + 1);
    pr->indent = indent;
}

static void put_lit(Printer *pr, const CtCore *core) {
    char buffer[32];
    switch (core->type->kind) {
    case TYPE_INT:
        snprintf(buffer, sizeof buffer, "%lld", (long long)core->as.lit.integer);
        put(pr, buffer);
        break;
    case TYPE_CHAR:
        put(pr, "'");
        put_char(pr, core->as.lit.integer, '\'');
        put(pr, "'");
        break;
    case TYPE_DOUBLE:
    case TYPE_FLOAT: put_real(pr, core->as.lit.real, core->type->kind == TYPE_FLOAT); break;
    case TYPE_TUPLE:
    case TYPE_ARRAY:
    case TYPE_FUN:
    case TYPE_DATA: break;
    }
}

static void put_lam(Printer *pr, const CtLam *lam) {
    put(pr, "λ");
    bind_and_put(pr, lam->params, lam->count, " ");
    put(pr, ".");
    if (pr->flat || (!breaks_always(lam->body) && fits(pr, lam->body, LOOSE))) {
        put(pr, " ");
        put_flat(pr, lam->body, LOOSE);
    } else if (lam->body->kind == CORE_LAM) {
        put(pr, " ");
        put_term(pr, lam->body, LOOSE);
    } else {
        put_below(pr, lam->body);
    }
}

static void put_letrec_binds(Printer *pr, CtCore *core) {
    uint32_t indent = pr->indent;
    put(pr, "letrec ");
    for (uint32_t i = 0; i < core->as.letrec.count; i++) bind(pr, core->as.letrec.binds[i].var);
    for (uint32_t i = 0; i < core->as.letrec.count; i++) {
        const CtLam *lam = core->as.letrec.binds[i].lam->as.lam;
        uint32_t scope = pr->scope.count;
        if (i > 0) {
            pr->indent = indent + 7;
            line(pr);
        }
        put_var(pr, core->as.letrec.binds[i].var);
        put(pr, " ");
        bind_and_put(pr, lam->params, lam->count, " ");
        put(pr, lam->count > 0 ? " =" : "=");
        pr->indent = indent + 2;
        put_rest(pr, lam->body);
        leave_scope(pr, scope);
    }
    pr->indent = indent;
}

/* Prints let x = … in and the lines below it, as long as bindings follow. All scopes end with the whole term. */
static CtCore *put_bindings(Printer *pr, CtCore *core) {
    uint32_t count = 0;
    while (core->kind == CORE_LET || core->kind == CORE_UNPACK || core->kind == CORE_LETREC) {
        if (pr->flat && count++ > 0) pr->full = true; /* only one on a line */
        uint32_t indent = pr->indent;
        if (core->kind == CORE_LETREC) {
            put_letrec_binds(pr, core);
            core = core->as.letrec.body;
        } else {
            /* The names are not in scope on the right, but a different name there reads better. */
            put(pr, core->kind == CORE_LET ? "let " : "let (");
            bind_and_put(pr, core->as.let.vars, core->as.let.count, ", ");
            put(pr, core->kind == CORE_LET ? " =" : ") =");
            pr->indent = indent + 2;
            put_rest(pr, core->as.let.rhs);
            pr->indent = indent;
            core = core->as.let.body;
        }
        put(pr, " in");
        line(pr);
    }
    return core;
}

static void put_if(Printer *pr, CtCore *core) {
    const CtCase *cases = core->as.cases.cases;
    bool false_first = cases[0].con->tag == 0;
    uint32_t indent = pr->indent;
    put(pr, "if ");
    put_operand(pr, core->as.cases.scrutinee, LOOSE);
    pr->indent = indent + 2;
    line(pr);
    put(pr, "then");
    put_rest(pr, cases[false_first].body);
    CtCore *no = cases[!false_first].body;
    line(pr);
    put(pr, "else");
    if (!pr->flat && no->kind == CORE_CASE && is_if(no) && !fits(pr, no, LOOSE)) {
        put(pr, " ");
        pr->indent = indent;
        put_term(pr, no, LOOSE);
    } else {
        put_rest(pr, no);
    }
    pr->indent = indent;
}

static void put_branch(Printer *pr, const CtCase *c, CtCore *body) {
    uint32_t scope = pr->scope.count;
    if (c == NULL) {
        put(pr, "_");
    } else if (c->con->count == 2 && strcmp(c->con->name->text, ":") == 0) {
        bind_and_put(pr, c->vars, 2, " : ");
    } else {
        put(pr, c->con->name->text);
        if (c->con->count > 0) put(pr, " ");
        bind_and_put(pr, c->vars, c->con->count, " ");
    }
    put(pr, " →");
    put_rest(pr, body);
    leave_scope(pr, scope);
}

static void put_case(Printer *pr, CtCore *core) {
    uint32_t count = core->as.cases.count, all = count + (core->as.cases.otherwise != NULL);
    put(pr, "case ");
    put_operand(pr, core->as.cases.scrutinee, LOOSE);
    put(pr, " of");
    uint32_t indent = pr->indent;
    if (!pr->flat) pr->indent += 2;
    for (uint32_t i = 0; i < all; i++) {
        if (pr->flat)
            put(pr, i == 0 ? " { " : "; ");
        else
            line(pr);
        if (i < count)
            put_branch(pr, &core->as.cases.cases[i], core->as.cases.cases[i].body);
        else
            put_branch(pr, NULL, core->as.cases.otherwise);
    }
    if (pr->flat) put(pr, " }");
    pr->indent = indent;
}

const char *ct_core_method_name(CtMethod method) {
    static const char *const names[CT_METHOD_COUNT] = {
#define CT_METHOD(id, name) [METHOD_##id] = name,
        CT_METHODS(CT_METHOD)
#undef CT_METHOD
    };
    return method < CT_METHOD_COUNT ? names[method] : "?";
}

static void put_dual_head(Printer *pr, const CtDualPath *dual) {
    put(pr, "D[");
    for (uint32_t i = 0; i < dual->count; i++) {
        put(pr, ct_core_method_name(dual->path[i]));
        put(pr, "; ");
    }
    put(pr, ct_core_method_name(dual->method));
    put(pr, dual->primal ? "]⁻¹" : "]");
}

static void put_proj(Printer *pr, CtCore *core) {
    char buffer[32];
    uint32_t index = core->as.proj.index;
    bool pair = core->as.proj.tuple->type->count == 2;
    snprintf(buffer, sizeof buffer, "proj %u", index + 1);
    put(pr, !pair ? buffer : index == 0 ? "fst" : "snd");
    put_args(pr, &core->as.proj.tuple, 1);
}

static void put_fail(Printer *pr, const CtCore *core) {
    put(pr, "fail ");
    put(pr, ct_error_name(core->as.fail.code));
    if (core->as.fail.message != NULL) {
        put_args(pr, &core->as.fail.message, 1);
    } else {
        put(pr, " ");
        put_string(pr, core->as.fail.text, strlen(core->as.fail.text));
    }
}

static void put_call(Printer *pr, CtCore *core) {
    const Infix *infix = find_infix(core);
    if (infix != NULL) {
        put_infix(pr, core, infix);
        return;
    }
    if (is_negate(core)) {
        put(pr, "-");
        put_operand(pr, core->as.call.args[0], APPLY);
        return;
    }
    if (core->kind == CORE_APP)
        put_operand(pr, core->as.call.of.fun, core->as.call.of.fun->kind == CORE_APP ? ATOM : APPLY);
    else if (core->kind == CORE_CON)
        put(pr, core->as.call.of.con->name->text);
    else if (core->kind == CORE_PRIM)
        put(pr, ct_prim_info(core->as.call.of.prim)->name);
    else if (core->kind == CORE_ARRAY)
        put(pr, ct_core_array_info(core->as.call.of.array)->name);
    else if (core->kind == CORE_DERIV)
        put(pr, ct_core_deriv_info(core->as.call.of.deriv)->name);
    else
        put_dual_head(pr, core->as.call.of.dual);
    if (core->kind == CORE_APP && core->as.call.count == 0) put(pr, " ⟨⟩");
    put_args(pr, core->as.call.args, core->as.call.count);
}

static void put_form(Printer *pr, CtCore *core) {
    switch (core->kind) {
    case CORE_VAR: put_var(pr, core->as.var); break;
    case CORE_GLOBAL: put(pr, core->as.global->name->text); break;
    case CORE_LIT: put_lit(pr, core); break;
    case CORE_STRING: put_string(pr, core->as.string.data, core->as.string.length); break;
    case CORE_LAM: put_lam(pr, core->as.lam); break;
    case CORE_LET:
    case CORE_UNPACK:
    case CORE_LETREC: {
        CtCore *body = put_bindings(pr, core);
        put_block(pr, body);
        break;
    }
    case CORE_CASE:
        if (is_if(core))
            put_if(pr, core);
        else
            put_case(pr, core);
        break;
    case CORE_TUPLE: put_items(pr, "(", core->as.call.args, core->as.call.count, ")"); break;
    case CORE_ARRAY_LIT: put_items(pr, "[|", core->as.call.args, core->as.call.count, "|]"); break;
    case CORE_CON:
        if (is_whole_list(core))
            put_list(pr, core);
        else
            put_call(pr, core);
        break;
    case CORE_APP:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_DERIV:
    case CORE_DUAL: put_call(pr, core); break;
    case CORE_PROJ: put_proj(pr, core); break;
    case CORE_FAIL: put_fail(pr, core); break;
    }
}

static void put_term(Printer *pr, CtCore *core, int level) {
    if (pr->full) return;
    if (pr->depth >= MAX_DEPTH) {
        put(pr, "…");
        return;
    }
    pr->depth++;
    uint32_t scope = pr->scope.count, indent = pr->indent;
    bool parenthesis = level_of(core) < level;
    if (parenthesis) put(pr, "(");
    put_form(pr, core);
    if (parenthesis) put(pr, ")");
    pr->indent = indent;
    leave_scope(pr, scope);
    pr->depth--;
}

static Printer new_printer(CtText *out, CtProgram *p) {
    Printer printer = {.p = p, .out = out, .scratch = ct_text(p->context->arena)};
    for (uint32_t i = 0; i < p->globals.count; i++)
        ct_map_set(p->context->arena, &printer.taken, ct_key(p->globals.items[i]->name), p->globals.items[i]);
    return printer;
}

void ct_core_print(CtText *out, CtProgram *p, const CtCore *core) {
    Printer printer = new_printer(out, p);
    put_block(&printer, (CtCore *)core);
}

/* f : (Double, Double) → Double
 * f x y = x × y */
void ct_core_print_global(CtText *out, CtProgram *p, const CtGlobal *global) {
    Printer printer = new_printer(out, p);
    Printer *pr = &printer;
    ct_text_puts(out, global->name->text);
    ct_text_puts(out, " : ");
    ct_core_type_print(out, global->type);
    ct_text_puts(out, "\n");
    put(pr, global->name->text);
    CtCore *body = global->body;
    if (body != NULL && body->kind == CORE_LAM) {
        if (body->as.lam->count > 0) put(pr, " ");
        bind_and_put(pr, body->as.lam->params, body->as.lam->count, " ");
        body = body->as.lam->body;
    }
    put(pr, " =");
    if (body != NULL) put_rest(pr, body);
    ct_text_puts(out, "\n");
}
