/* Printing of terms in BULK's notation.
 *
 * A term is printed on one line if it fits in WIDTH columns. Otherwise it is broken by its form: a `let` behind its
 * `in`, an operation before its operator, others before each of their parts. Variables keep their names, with a number
 * added where a name is taken. The condition of an index is printed behind it: λ[i]. [i - 1] when 0 < i. */
#include "ad/bulk/ir/bulk.h"

#include <math.h>

enum { WIDTH = 100, SHOWN = 6 }; /* how many items of a constant are written out in each dimension */

/* Precedence levels of a part. */
enum { LOOSE = 0, OR = 2, AND = 3, COMPARE = 4, PLUS = 6, TIMES = 7, APPLY = 10, ATOM = 11 };

typedef struct Named {
    const CtBulkVar *var;
    const char *name;
} Named;

typedef struct Printer {
    CtText *out, scratch;
    CT_VEC(Named) scope;
    uint32_t indent, column;
    bool flat, full; /* full: does not fit, nothing more is written */
    bool wide;       /* on one line of any length */
    bool shares_once;
    CT_VEC(uint32_t) shares; /* those written out so far */
} Printer;

static void put_term(Printer *pr, CtBulk *t, int level);
static void put_form(Printer *pr, CtBulk *t);
static void put_loop(Printer *pr, CtBulk *t);

/* ---- text ---- */

static void put(Printer *pr, const char *text) {
    if (pr->full) return;
    for (const char *c = text; *c != '\0'; c++) pr->column += ((unsigned char)*c & 0xC0) != 0x80;
    if (pr->flat && pr->column > WIDTH && !pr->wide)
        pr->full = true;
    else
        ct_text_puts(pr->out, text);
}

static void put_int(Printer *pr, int64_t value) { put(pr, ct_format(pr->out->arena, "%lld", (long long)value)); }

static void line(Printer *pr) {
    if (pr->flat) {
        put(pr, " ");
        return;
    }
    ct_text_putc(pr->out, '\n');
    pr->column = 0;
    for (uint32_t i = 0; i < pr->indent; i++) put(pr, " ");
}

/* Prints a piece with the printer as it is; or on the rest of this line if it fits, and returns whether it did. */
typedef void Piece(Printer *pr, const void *piece, int level);

static bool put_flat(Printer *pr, Piece *put_piece, const void *piece, int level) {
    CtText *out = pr->out;
    uint32_t column = pr->column, shares = pr->shares.count, scope = pr->scope.count;
    pr->scratch.length = 0;
    pr->out = &pr->scratch;
    pr->flat = true;
    put_piece(pr, piece, level);
    bool fits = !pr->full;
    pr->out = out;
    pr->flat = pr->full = false;
    if (fits) {
        ct_text_add(out, pr->scratch.data, pr->scratch.length);
    } else {
        pr->column = column;
        pr->shares.count = shares;
        pr->scope.count = scope;
    }
    return fits;
}

/* ---- names ---- */

static const char *find_name(const Printer *pr, const CtBulkVar *var) {
    for (uint32_t i = pr->scope.count; i-- > 0;)
        if (pr->scope.items[i].var == var) return pr->scope.items[i].name;
    return NULL;
}

static bool is_taken(const Printer *pr, const char *name) {
    for (uint32_t i = 0; i < pr->scope.count; i++)
        if (strcmp(pr->scope.items[i].name, name) == 0) return true;
    return false;
}

static void bind(Printer *pr, const CtBulkVar *var) {
    CtArena *arena = pr->out->arena;
    const char *name = var->name;
    for (uint32_t i = 1; is_taken(pr, name); i++) name = ct_format(arena, "%s%u", var->name, i);
    ct_push(arena, &pr->scope, (Named){var, name});
}

static void put_var(Printer *pr, const CtBulkVar *var) {
    if (find_name(pr, var) == NULL) bind(pr, var); /* a free variable keeps its name from here on */
    put(pr, find_name(pr, var));
}

/* Names free variables first, so that no binder takes their names. */
typedef struct FreeNames {
    Printer *pr;
    CtBulkBuilder builder; /* required by ct_bulk_map */
    CT_VEC(const CtBulkVar *) bound;
    CtMap shares; /* those visited */
} FreeNames;

static CtBulk *name_free(void *data, CtBulk *t) {
    FreeNames *f = data;
    CtArena *arena = f->builder.arena;
    uint32_t before = f->bound.count;
    switch (t->kind) {
    case BULK_SHARE:
        if (ct_map_has(&f->shares, t->as.share.id)) return t;
        ct_map_set(arena, &f->shares, t->as.share.id, t);
        break;
    case BULK_VAR: {
        bool known = find_name(f->pr, t->as.var) != NULL;
        for (uint32_t i = 0; i < f->bound.count; i++) known |= f->bound.items[i] == t->as.var;
        if (!known) bind(f->pr, t->as.var);
        return t;
    }
    case BULK_LET: ct_push(arena, &f->bound, t->as.let.var); break;
    case BULK_BUILD: ct_push(arena, &f->bound, t->as.build.var); break;
    case BULK_GATHER:
    case BULK_SCATTER:
        for (uint32_t i = 0; i < t->as.move.f.var_count; i++) ct_push(arena, &f->bound, t->as.move.f.vars[i]);
        break;
    default: break;
    }
    ct_bulk_map(&f->builder, t, name_free, f);
    f->bound.count = before;
    return t;
}

/* ---- constants ---- */

static void put_real(Printer *pr, double value) {
    CtText digits = ct_text(pr->out->arena);
    ct_text_double(&digits, value);
    bool is_word = value != value || isinf(value);
    if (!is_word && strspn(digits.data, "-0123456789") == digits.length) ct_text_puts(&digits, ".0");
    if (is_word && digits.data[0] == '"') { /* in JSON's notation */
        digits.data[digits.length - 1] = '\0';
        digits.data++;
    }
    put(pr, value != value ? "NaN" : digits.data);
}

static void put_scalar(Printer *pr, const CtBulk *t, int64_t at) {
    if (t->element == ELEMENT_REAL) {
        put_real(pr, t->as.constant.reals != NULL ? t->as.constant.reals[at] : t->as.constant.real);
        return;
    }
    int64_t value = t->as.constant.integers != NULL ? t->as.constant.integers[at] : t->as.constant.integer;
    if (t->element == ELEMENT_BOOL)
        put(pr, value ? "True" : "False");
    else
        put_int(pr, value);
}

/* Whether all elements are the same: replicate k (replicate n 0.0). */
static bool is_replicated(const CtBulk *t) {
    return t->kind == BULK_CONST && t->shape.rank > 0 && !t->as.constant.reals && !t->as.constant.integers &&
           ct_bulk_shape_count(t->shape) > 0;
}

static void put_replicated(Printer *pr, const CtBulk *t) {
    for (uint32_t i = 0; i < t->shape.rank; i++) {
        put(pr, i > 0 ? "(replicate " : "replicate ");
        put_int(pr, t->shape.sizes[i]);
        put(pr, " ");
    }
    CtBulk item = *t;
    item.shape.rank = 0;
    put_term(pr, &item, ATOM);
    for (uint32_t i = 1; i < t->shape.rank; i++) put(pr, ")");
}

static void put_items(Printer *pr, const CtBulk *t, uint32_t depth, int64_t start) {
    if (depth == t->shape.rank) {
        put_scalar(pr, t, start);
        return;
    }
    int64_t size = t->shape.sizes[depth], stride = ct_bulk_shape_count(ct_bulk_shape_tail(t->shape, depth + 1));
    put(pr, "[");
    for (int64_t i = 0; i < size && !pr->full; i++) {
        if (i > 0) put(pr, ", ");
        if (size > SHOWN && i == SHOWN / 2) {
            put(pr, "…, ");
            i = size - 1;
        }
        put_items(pr, t, depth + 1, start + i * stride);
    }
    put(pr, "]");
}

static bool is_negative(const CtBulk *t) {
    if (t->kind != BULK_CONST || t->shape.rank > 0) return false;
    if (t->element == ELEMENT_REAL)
        return signbit(t->as.constant.reals != NULL ? t->as.constant.reals[0] : t->as.constant.real) != 0;
    return (t->as.constant.integers != NULL ? t->as.constant.integers[0] : t->as.constant.integer) < 0;
}

/* ---- operators ---- */

typedef struct Infix {
    CtPrim prim;
    const char *symbol;
    int level;
} Infix;

static const Infix infixes[] = {
    {PRIM_ADD, "+", PLUS},          {PRIM_SUB, "-", PLUS},        {PRIM_MUL, "×", TIMES},
    {PRIM_DIV, "/", TIMES},         {PRIM_SCALE, "·", TIMES},     {PRIM_EQ, "==", COMPARE},
    {PRIM_LT, "<", COMPARE},        {PRIM_LE, "<=", COMPARE},     {PRIM_INT_ADD, "+", PLUS},
    {PRIM_INT_SUB, "-", PLUS},      {PRIM_INT_MUL, "×", TIMES},   {PRIM_INT_EQ, "==", COMPARE},
    {PRIM_INT_LT, "<", COMPARE},    {PRIM_INT_LE, "<=", COMPARE}, {PRIM_INT_DIV, "`div`", TIMES},
    {PRIM_INT_MOD, "`mod`", TIMES},
};

static const Infix *find_infix(const CtBulk *t) {
    static const Infix conjunction = {.symbol = "&&", .level = AND}, disjunction = {.symbol = "||", .level = OR};
    if (t->kind == BULK_LOGIC && t->as.logic.logic == LOGIC_AND) return &conjunction;
    if (t->kind == BULK_LOGIC && t->as.logic.logic == LOGIC_OR) return &disjunction;
    if (t->kind != BULK_OP) return NULL;
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++)
        if (infixes[i].prim == t->as.op.prim) return &infixes[i];
    return NULL;
}

static int level_of(const CtBulk *t) {
    const Infix *infix = find_infix(t);
    if (infix != NULL) return infix->level;
    if (t->kind == BULK_CONST) return is_replicated(t) ? APPLY : is_negative(t) ? PLUS : ATOM;
    if (t->kind == BULK_VAR || t->kind == BULK_LITERAL) return ATOM;
    return t->kind == BULK_LET ? LOOSE : APPLY;
}

static void put_infix(Printer *pr, CtBulk *t, const Infix *infix) {
    CtBulk *const *args = t->kind == BULK_OP ? t->as.op.args : t->as.logic.args;
    uint32_t indent = pr->indent;
    pr->indent = pr->column;
    put_term(pr, args[0], infix->level == COMPARE ? COMPARE + 1 : infix->level);
    line(pr);
    put(pr, infix->symbol);
    put(pr, " ");
    put_term(pr, args[1], infix->level + 1);
    pr->indent = indent;
}

/* ---- forms ---- */

static void put_sizes(Printer *pr, CtShape shape) {
    put(pr, "[");
    for (uint32_t i = 0; i < shape.rank; i++) {
        if (i > 0) put(pr, ", ");
        put_int(pr, shape.sizes[i]);
    }
    put(pr, "]");
}

static void put_list(Printer *pr, CtBulk *const *terms, uint32_t count) {
    uint32_t indent = pr->indent;
    put(pr, "[");
    pr->indent = pr->column;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) put(pr, ",");
        if (i > 0) line(pr);
        put_term(pr, terms[i], LOOSE);
    }
    put(pr, "]");
    pr->indent = indent;
}

/* The condition behind an index. */
static void put_live(Printer *pr, const CtIndexing *f) {
    if (f->live == NULL) return;
    line(pr);
    put(pr, "when ");
    put_term(pr, f->live, LOOSE);
}

/* [i, j], or ([i, j] when b) */
static void put_index(Printer *pr, const CtIndexing *f) {
    uint32_t indent = pr->indent;
    pr->indent = indent + 2;
    line(pr);
    if (f->live != NULL) put(pr, "(");
    pr->indent = pr->column;
    put_list(pr, f->ix, f->count);
    put_live(pr, f);
    if (f->live != NULL) put(pr, ")");
    pr->indent = indent;
}

/* (λ[i, j]. [ix]), or with a condition behind */
static void put_indexing(Printer *pr, const void *piece, int level) {
    const CtIndexing *f = piece;
    if (!pr->flat && put_flat(pr, put_indexing, f, level)) return;
    uint32_t before = pr->scope.count;
    put(pr, "(λ[");
    for (uint32_t i = 0; i < f->var_count; i++) {
        if (i > 0) put(pr, ", ");
        bind(pr, f->vars[i]);
        put_var(pr, f->vars[i]);
    }
    put(pr, "]. ");
    put_list(pr, f->ix, f->count);
    put_live(pr, f);
    put(pr, ")");
    pr->scope.count = before;
}

/* A part behind a name: on a line of its own where the whole did not fit. */
static void put_part(Printer *pr, CtBulk *t) {
    uint32_t indent = pr->indent;
    pr->indent = indent + 2;
    line(pr);
    put_term(pr, t, ATOM);
    pr->indent = indent;
}

/* ---- bindings ---- */

typedef struct Bindings {
    CT_VEC(CtBulkVar *) vars;
    CT_VEC(CtBulk *) terms;
} Bindings;

/* (a, b): the variables bound to results of one loop, from the k-th binding on. */
static void put_result_names(Printer *pr, const Bindings *bindings, uint32_t k, bool *done) {
    const CtBulk *t = bindings->terms.items[k];
    uint32_t count = ct_bulk_loop_results(t->as.loop.loop);
    const CtBulkVar **vars = CT_NEW_ARRAY(pr->out->arena, const CtBulkVar *, count);
    for (uint32_t j = k; j < bindings->vars.count; j++) {
        const CtBulk *other = bindings->terms.items[j];
        if (!ct_bulk_same_loop(t, other) || vars[other->as.loop.result] != NULL) continue;
        vars[other->as.loop.result] = bindings->vars.items[j];
        bind(pr, bindings->vars.items[j]);
        done[j] = true;
    }
    put(pr, "(");
    for (uint32_t j = 0; j < count; j++) {
        if (j > 0) put(pr, ", ");
        put(pr, vars[j] != NULL ? find_name(pr, vars[j]) : "_");
    }
    put(pr, ")");
}

static void put_bindings(Printer *pr, const Bindings *bindings) {
    uint32_t indent = pr->indent;
    bool *done = CT_NEW_ARRAY(pr->out->arena, bool, bindings->vars.count + 1);
    for (uint32_t k = 0; k < bindings->vars.count; k++) {
        CtBulk *t = bindings->terms.items[k];
        bool several = t->kind == BULK_LOOP && ct_bulk_loop_results(t->as.loop.loop) > 1;
        if (done[k]) continue;
        put(pr, "let ");
        /* The name is not in scope on the right; a different name there reads better. */
        if (several) {
            put_result_names(pr, bindings, k, done);
        } else {
            bind(pr, bindings->vars.items[k]);
            put_var(pr, bindings->vars.items[k]);
        }
        put(pr, " = ");
        pr->indent = indent + 2;
        if (several)
            put_loop(pr, t);
        else
            put_term(pr, t, LOOSE);
        pr->indent = indent;
        put(pr, " in");
        line(pr);
    }
}

static void put_let(Printer *pr, CtBulk *t) {
    uint32_t before = pr->scope.count;
    Bindings bindings = {{0}};
    for (; t->kind == BULK_LET; t = t->as.let.body) {
        ct_push(pr->out->arena, &bindings.vars, t->as.let.var);
        ct_push(pr->out->arena, &bindings.terms, t->as.let.rhs);
    }
    put_bindings(pr, &bindings);
    put_term(pr, t, LOOSE);
    pr->scope.count = before;
}

/* ---- loops ---- */

typedef struct Tuple {
    CtBulk *const *terms;
    uint32_t count;
} Tuple;

/* (a, b); a alone. */
static void put_items_of(Printer *pr, const void *piece, int level) {
    const Tuple *tuple = piece;
    (void)level;
    uint32_t indent = pr->indent;
    if (tuple->count != 1) put(pr, "(");
    pr->indent = pr->column;
    for (uint32_t k = 0; k < tuple->count; k++) {
        if (k > 0) put(pr, ",");
        if (k > 0) line(pr);
        put_term(pr, tuple->terms[k], LOOSE);
    }
    if (tuple->count != 1) put(pr, ")");
    pr->indent = indent;
}

static void put_tuple(Printer *pr, Tuple tuple) {
    if (pr->flat || !put_flat(pr, put_items_of, &tuple, LOOSE)) put_items_of(pr, &tuple, LOOSE);
}

static void put_params(Printer *pr, CtBulkVar *const *params, uint32_t count) {
    put(pr, "(");
    for (uint32_t k = 0; k < count; k++) {
        if (k > 0) put(pr, ", ");
        bind(pr, params[k]);
        put_var(pr, params[k]);
    }
    put(pr, ")");
}

static void put_body(Printer *pr, const CtBulkLoop *loop) {
    uint32_t states = loop->count.states;
    Bindings bindings = {{0}};
    for (uint32_t k = 0; k < loop->vars.count; k++) {
        ct_push(pr->out->arena, &bindings.vars, loop->vars.items[k]);
        ct_push(pr->out->arena, &bindings.terms, loop->terms.items[k]);
    }
    put_bindings(pr, &bindings);
    if (loop->outputs > 0) put(pr, "(");
    pr->indent += loop->outputs > 0;
    put_tuple(pr, (Tuple){loop->results, states});
    pr->indent -= loop->outputs > 0;
    if (loop->outputs == 0) return;
    put(pr, ", ");
    put_tuple(pr, (Tuple){loop->results + states, loop->outputs});
    put(pr, ")");
}

static void put_args(Printer *pr, CtBulk *const *args, uint32_t count) {
    bool is_atom = count == 1 && level_of(args[0]) == ATOM;
    line(pr);
    if (count == 1 && !is_atom) put(pr, "(");
    put_tuple(pr, (Tuple){args, count});
    if (count == 1 && !is_atom) put(pr, ")");
}

static bool uses_index(const CtBulkLoop *loop) {
    for (uint32_t k = 0; k < loop->terms.count; k++)
        if (ct_bulk_mentions(loop->terms.items[k], loop->index)) return true;
    for (uint32_t k = 0; k < ct_bulk_loop_results(loop); k++)
        if (ct_bulk_mentions(loop->results[k], loop->index)) return true;
    return false;
}

/* The name of a loop's operation. A call of a function with a rule shows no states. */
static void put_loop_head(Printer *pr, const CtBulkLoop *loop) {
    if (loop->rule != NULL) {
        put(pr, loop->rule->by_tangent ? "withJvp" : "withVjp");
        return;
    }
    put(pr,
        loop->outputs == 0 ? (loop->from_back ? "foldr " : "foldl ") : (loop->from_back ? "mapAccumR " : "mapAccumL "));
    put_int(pr, loop->steps);
}

/* mapAccumL n (λi (states) (elements). (states, outputs)) (starts) (arrays); foldl if there are no outputs; mapAccumR
 * or foldr from the back. i is the index of the step, shown if it is used. A value that all steps get is shown under
 * its outer name if it is a variable; other such values follow. */
static void put_loop_form(Printer *pr, const void *piece, int level) {
    const CtBulk *t = piece;
    const CtBulkLoop *loop = t->as.loop.loop;
    uint32_t before = pr->scope.count, states = loop->count.states, elements = loop->count.elements, others = 0;
    uint32_t fixed = states + elements, indent = pr->indent;
    CtBulkVar **params = CT_NEW_ARRAY(pr->out->arena, CtBulkVar *, loop->count.fixed + 1);
    CtBulk **args = CT_NEW_ARRAY(pr->out->arena, CtBulk *, loop->count.fixed + 1);
    put_loop_head(pr, loop);
    put(pr, " (λ");
    for (uint32_t p = fixed; p < fixed + loop->count.fixed; p++) {
        CtBulk *arg = t->as.loop.args[p];
        if (arg->kind != BULK_VAR) {
            params[others] = loop->params[p];
            args[others++] = arg;
        } else if (arg->as.var != loop->params[p]) {
            ct_push(pr->out->arena, &pr->scope, (Named){loop->params[p], find_name(pr, arg->as.var)});
        }
    }
    if (uses_index(loop)) {
        bind(pr, loop->index);
        put_var(pr, loop->index);
        put(pr, " ");
    }
    bool has_states = loop->rule == NULL, has_arrays = has_states && (elements > 0 || others > 0);
    if (has_states) put_params(pr, loop->params, states);
    if (has_arrays) put(pr, " ");
    if (has_arrays) put_params(pr, loop->params + states, elements);
    if (others > 0 && has_states) put(pr, " ");
    if (others > 0) put_params(pr, params, others);
    put(pr, ".");
    pr->indent = indent + 2;
    line(pr);
    put_body(pr, loop);
    put(pr, ")");
    pr->scope.count = before;
    if (has_states) put_args(pr, t->as.loop.args, states);
    if (has_arrays) put_args(pr, t->as.loop.args + states, elements);
    if (others > 0) put_args(pr, args, others);
    pr->indent = indent;
    (void)level;
}

static void put_loop(Printer *pr, CtBulk *t) {
    if (pr->flat || !put_flat(pr, put_loop_form, t, LOOSE)) put_loop_form(pr, t, LOOSE);
}

static void put_transpose(Printer *pr, CtBulk *t) {
    const uint32_t *permutation = t->as.transpose.permutation;
    put(pr, "tr");
    if (t->as.transpose.count != 2 || permutation[0] != 1) {
        put(pr, "_{");
        for (uint32_t i = 0; i < t->as.transpose.count; i++) {
            if (i > 0) put(pr, ",");
            put_int(pr, permutation[i]);
        }
        put(pr, "}");
    }
    put_part(pr, t->as.transpose.t);
}

static void put_move(Printer *pr, CtBulk *t) {
    const CtIndexing *f = &t->as.move.f;
    switch (t->kind) {
    case BULK_INDEX:
        put(pr, "index");
        put_part(pr, t->as.move.t);
        put_index(pr, f);
        break;
    case BULK_ONE_HOT:
        put(pr, "oneHot ");
        put_sizes(pr, t->shape);
        put_index(pr, f);
        put_part(pr, t->as.move.t);
        break;
    default:
        put(pr, t->kind == BULK_GATHER ? "gather " : "scatter ");
        put_sizes(pr, t->shape);
        put_part(pr, t->as.move.t);
        pr->indent += 2;
        line(pr);
        put_indexing(pr, f, LOOSE);
        pr->indent -= 2;
        break;
    }
}

/* Whether a SHARE has been written out before; marks it. */
static bool is_shown(Printer *pr, uint32_t id) {
    for (uint32_t i = 0; pr->shares_once && i < pr->shares.count; i++)
        if (pr->shares.items[i] == id) return true;
    if (pr->shares_once) ct_push(pr->out->arena, &pr->shares, id);
    return false;
}

static void put_form(Printer *pr, CtBulk *t) {
    static const char *const reductions[] = {"sumOuter",     "sumOuter",    "productOuter", "maximumOuter",
                                             "minimumOuter", "argmaxOuter", "argminOuter"};
    const Infix *infix = find_infix(t);
    if (infix != NULL) {
        put_infix(pr, t, infix);
        return;
    }
    switch (t->kind) {
    case BULK_CONST:
        if (is_replicated(t))
            put_replicated(pr, t);
        else
            put_items(pr, t, 0, 0);
        break;
    case BULK_VAR: put_var(pr, t->as.var); break;
    case BULK_LET: put_let(pr, t); break;
    case BULK_COND:
        put(pr, "cond");
        put_part(pr, t->as.cond.test);
        put_part(pr, t->as.cond.yes);
        put_part(pr, t->as.cond.no);
        break;
    case BULK_OP:
        put(pr, ct_prim_info(t->as.op.prim)->name);
        for (uint32_t i = 0; i < t->as.op.count; i++) put_part(pr, t->as.op.args[i]);
        break;
    case BULK_LOGIC: /* other operations are infix */
        put(pr, "not");
        put_part(pr, t->as.logic.args[0]);
        break;
    case BULK_REDUCE:
        put(pr, reductions[t->as.reduce.reduction]);
        put_part(pr, t->as.reduce.t);
        break;
    case BULK_INDEX:
    case BULK_GATHER:
    case BULK_SCATTER:
    case BULK_ONE_HOT: put_move(pr, t); break;
    case BULK_LITERAL: put_list(pr, t->as.literal.items, t->as.literal.count); break;
    case BULK_REPLICATE:
        put(pr, "replicate ");
        put_int(pr, t->shape.sizes[0]);
        put_part(pr, t->as.t);
        break;
    case BULK_STOP:
        put(pr, "stopGradient");
        put_part(pr, t->as.t);
        break;
    case BULK_RESHAPE:
        put(pr, "reshape ");
        put_sizes(pr, t->shape);
        put_part(pr, t->as.t);
        break;
    case BULK_TRANSPOSE: put_transpose(pr, t); break;
    case BULK_BUILD: {
        uint32_t before = pr->scope.count;
        put(pr, "build1 ");
        put_int(pr, t->shape.sizes[0]);
        put(pr, " (λ");
        bind(pr, t->as.build.var);
        put_var(pr, t->as.build.var);
        put(pr, ".");
        pr->indent += 2;
        line(pr);
        put_term(pr, t->as.build.body, LOOSE);
        pr->indent -= 2;
        put(pr, ")");
        pr->scope.count = before;
        break;
    }
    case BULK_SHARE:
        put(pr, "share ");
        put_int(pr, t->as.share.id);
        if (!is_shown(pr, t->as.share.id)) put_part(pr, t->as.share.t);
        break;
    case BULK_LOOP:
        if (ct_bulk_loop_results(t->as.loop.loop) > 1) {
            put(pr, "result ");
            put_int(pr, t->as.loop.result);
            put(pr, " (");
        }
        put_loop(pr, t);
        if (ct_bulk_loop_results(t->as.loop.loop) > 1) put(pr, ")");
        break;
    case BULK_CHECK:
        put(pr, "check");
        put_part(pr, t->as.check.test);
        put_part(pr, t->as.check.t);
        break;
    }
}

static void put_piece(Printer *pr, const void *piece, int level) { put_term(pr, (CtBulk *)(uintptr_t)piece, level); }

static void put_term(Printer *pr, CtBulk *t, int level) {
    if (pr->full) return;
    bool parenthesis = level_of(t) < level, breaks = !pr->flat && t->kind == BULK_LET;
    if (!pr->flat && !breaks && put_flat(pr, put_piece, t, level)) return;
    if (parenthesis) put(pr, "(");
    uint32_t indent = pr->indent;
    if (parenthesis) pr->indent = pr->column;
    put_form(pr, t);
    pr->indent = indent;
    if (parenthesis) put(pr, ")");
}

/* ---- the whole ---- */

static void print(CtText *out, CtBulk *t, bool shares_once) {
    Printer pr = {.out = out, .scratch = ct_text(out->arena), .shares_once = shares_once};
    FreeNames f = {.pr = &pr, .builder = {.arena = out->arena}};
    name_free(&f, t);
    put_term(&pr, t, LOOSE);
}

void ct_bulk_print(CtText *out, CtBulk *t) { print(out, t, false); }

void ct_bulk_print_sharing(CtText *out, CtBulk *t) { print(out, t, true); }

void ct_bulk_print_indexing(CtText *out, const CtIndexing *f) {
    CtText whole = ct_text(out->arena);
    Printer pr = {.out = &whole, .scratch = ct_text(out->arena), .flat = true, .wide = true};
    FreeNames free = {.pr = &pr, .builder = {.arena = out->arena}};
    for (uint32_t i = 0; i < f->var_count; i++) ct_push(out->arena, &free.bound, f->vars[i]);
    for (uint32_t i = 0; i < f->count; i++) name_free(&free, f->ix[i]);
    if (f->live) name_free(&free, f->live);
    if (f->var_count > 0)
        put_indexing(&pr, f, LOOSE);
    else
        put_index(&pr, f);
    ct_text_puts(out, f->var_count > 0 ? whole.data : whole.data + 1); /* without the leading blank */
}

void ct_bulk_print_bindings(CtText *out, CtBulkVar *const *vars, CtBulk *const *terms, uint32_t count,
                            CtBulk *const *results, uint32_t result_count) {
    Printer pr = {.out = out, .scratch = ct_text(out->arena)};
    FreeNames f = {.pr = &pr, .builder = {.arena = out->arena}};
    uint32_t several = 0;
    for (uint32_t i = 0; i < count; i++) ct_push(out->arena, &f.bound, vars[i]);
    for (uint32_t i = 0; i < count; i++) name_free(&f, terms[i]);
    for (uint32_t i = 0; i < result_count; i++) {
        if (results[i] == NULL) continue;
        name_free(&f, results[i]);
        several++;
    }
    Bindings bindings = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        ct_push(out->arena, &bindings.vars, vars[i]);
        ct_push(out->arena, &bindings.terms, terms[i]);
    }
    put_bindings(&pr, &bindings);
    const char *before = several == 1 ? "" : "( ";
    for (uint32_t i = 0; i < result_count; i++) {
        if (results[i] == NULL) continue;
        put(&pr, before);
        pr.indent = pr.column;
        put_term(&pr, results[i], LOOSE);
        pr.indent = 0;
        line(&pr);
        before = ", ";
    }
    if (several != 1) put(&pr, several == 0 ? "()\n" : ")\n");
}
