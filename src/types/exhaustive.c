/* Exhaustiveness and redundancy of pattern matches: which values no clause matches, and which clauses no value reaches
 * (after Maranget, *Warnings for pattern matching*, 2007).
 *
 * The pattern matrix of a match is explored in the order of evaluation. The first pattern of the first row that is not
 * a variable or wildcard selects the column, and the matrix is specialised by each head (constructor, tuple or literal)
 * that a value of this column may have. A leaf without rows is a witness: the heads chosen on the way to it describe a
 * value that is not matched. A row that is first at no leaf is never reached. A row whose guards may all fail is
 * reached as the first row, and the rows after it are then explored too. The algorithm is exact, but exponential in the
 * worst case: beyond MOST_STEPS or MOST_DEPTH it gives up, without a warning about this match.
 */
#include "types/internal.h"

enum { MOST_STEPS = 1000000, MOST_DEPTH = 1000, MOST_WITNESSES = 3 };

/* A cell of the pattern matrix: a pattern, or the rest of a list or string pattern after its first `skip` elements. If
 * pat is NULL, the cell matches every value. */
typedef struct Cell {
    const CtPat *pat;
    uint32_t skip; /* PAT_LIST: number of elements; string literal: number of bytes */
} Cell;

/* The outermost constructor, tuple or literal of a pattern. HEAD_ANY: the pattern matches everything. */
typedef enum HeadKind { HEAD_ANY, HEAD_CON, HEAD_TUPLE, HEAD_NUMBER, HEAD_CHAR } HeadKind;
typedef struct Head {
    HeadKind kind;
    const CtDataCon *con; /* CON */
    uint64_t bits;        /* NUMBER, CHAR */
    uint32_t arity;
} Head;

/* A partly known value, built on the path to a leaf; witnesses are printed from it. HEAD_ANY: nothing is known. */
typedef struct Shape {
    Head head;
    const char *text; /* the literal; with HEAD_ANY: a literal that occurs in none of the patterns */
    struct Shape **args;
} Shape;

typedef struct Row {
    Cell *cells;
    uint32_t index; /* of this row in CtMatch.rows */
} Row;

typedef struct Explorer {
    CtTypes *types;
    const CtMatch *match;
    bool *reached;
    Shape **roots;
    uint32_t steps, depth;
    bool gave_up;
    CT_VEC(const char *) witnesses;
    uint32_t missing; /* number of leaves without rows, including those beyond MOST_WITNESSES */
} Explorer;

/* ---- patterns ---- */

static Cell plain(const CtPat *pat) { return (Cell){pat, 0}; }

static Cell strip(Cell cell) {
    while (cell.pat && (cell.pat->kind == PAT_AS || cell.pat->kind == PAT_ANNOT)) cell = plain(cell.pat->parts[0]);
    if (cell.pat && (cell.pat->kind == PAT_VAR || cell.pat->kind == PAT_WILD)) cell.pat = NULL;
    return cell;
}

static uint32_t character(const CtLit *lit, uint32_t at, uint32_t *length) {
    const unsigned char *s = (const unsigned char *)lit->text + at;
    uint32_t more = s[0] >= 0xF0 ? 3 : s[0] >= 0xE0 ? 2 : s[0] >= 0xC0 ? 1 : 0, point = s[0];
    if (more) point &= 0x3Fu >> more;
    for (uint32_t i = 1; i <= more; i++) point = point << 6 | (s[i] & 0x3Fu);
    *length = more + 1;
    return point;
}

static Head list_head(const Explorer *e, bool empty) {
    const CtDataCon *con = e->types->list->cons[empty ? 0 : 1];
    return (Head){.kind = HEAD_CON, .con = con, .arity = con->arity};
}

/* Numbers are compared at the type of the pattern: of a Float there are fewer than of literals. */
static uint64_t number_key(const Explorer *e, const CtPat *pat) {
    const CtTy *type = pat->type == NULL ? NULL : ct_types_ty_resolve(pat->type);
    const CtTyCon *con = type != NULL && type->kind == TY_CON ? type->con : NULL;
    CtNumbers numbers = con == NULL                ? NUMBERS_EXACT
                        : con == e->types->double_ ? NUMBERS_DOUBLE
                        : con == e->types->float_  ? NUMBERS_FLOAT
                                                   : NUMBERS_EXACT;
    return ct_syntax_number_key(e->types->context, &pat->lit, numbers);
}

static Head literal_head(const Explorer *e, Cell cell) {
    const CtLit *lit = &cell.pat->lit;
    switch (lit->kind) {
    case LIT_STRING: return list_head(e, cell.skip >= lit->text_length);
    case LIT_CHAR: return (Head){.kind = HEAD_CHAR, .bits = (uint64_t)lit->integer};
    case LIT_INT:
    case LIT_FRACTION: return (Head){.kind = HEAD_NUMBER, .bits = number_key(e, cell.pat)};
    }
    return (Head){0};
}

static Head head_of(const Explorer *e, Cell cell) {
    if (!cell.pat) return (Head){0};
    switch (cell.pat->kind) {
    case PAT_CON:
    case PAT_RECORD:
        if (!cell.pat->con) return (Head){0};
        return (Head){.kind = HEAD_CON, .con = cell.pat->con, .arity = cell.pat->con->arity};
    case PAT_LIT: return literal_head(e, cell);
    case PAT_TUPLE: return (Head){.kind = HEAD_TUPLE, .arity = cell.pat->part_count};
    case PAT_LIST: return list_head(e, cell.skip >= cell.pat->part_count);
    case PAT_WILD:
    case PAT_VAR:
    case PAT_AS:
    case PAT_ANNOT:
    case PAT_VIEW:
    case PAT_CHAIN: break;
    }
    return (Head){0};
}

static bool same_head(const Head *a, const Head *b) {
    return a->kind == b->kind && a->con == b->con && a->bits == b->bits && a->arity == b->arity;
}

/* Writes the `arity` subpatterns of a cell to `out`; a subpattern that the cell does not constrain matches everything.
 */
static void parts_of(Explorer *e, Cell cell, Cell *out, uint32_t arity) {
    const CtPat *pat = cell.pat;
    for (uint32_t i = 0; i < arity; i++) out[i] = (Cell){0};
    if (!pat || arity == 0) return;
    if (pat->kind == PAT_LIT) { /* a string: its next character, and the rest */
        uint32_t length;
        CtPat *first = CT_NEW(e->types->arena, CtPat);
        first->kind = PAT_LIT;
        first->lit = (CtLit){.kind = LIT_CHAR, .integer = character(&pat->lit, cell.skip, &length)};
        out[0] = plain(first);
        out[1] = (Cell){pat, cell.skip + length};
    } else if (pat->kind == PAT_LIST) {
        out[0] = plain(pat->parts[cell.skip]);
        out[1] = (Cell){pat, cell.skip + 1};
    } else if (pat->kind == PAT_RECORD) {
        for (uint32_t i = 0; i < pat->part_count; i++)
            for (uint32_t j = 0; j < arity; j++)
                if (pat->con->field_names && pat->con->field_names[j] == pat->fields[i].text)
                    out[j] = plain(pat->parts[i]);
    } else {
        for (uint32_t i = 0; i < arity && i < pat->part_count; i++) out[i] = plain(pat->parts[i]);
    }
    for (uint32_t i = 0; i < arity; i++) out[i] = strip(out[i]);
}

/* ---- witnesses ---- */

static void print_shape(CtText *out, const Shape *shape, bool atomic);

/* Prints a list as [a, b]; false, and prints nothing, if its tail is unknown. */
static bool print_list(CtText *out, const Shape *shape) {
    const Shape *end = shape;
    while (end->head.kind == HEAD_CON && end->head.arity == 2) end = end->args[1];
    if (end->head.kind != HEAD_CON) return false;
    for (const char *before = "["; shape != end; before = ", ", shape = shape->args[1]) {
        ct_text_puts(out, before);
        print_shape(out, shape->args[0], false);
    }
    ct_text_putc(out, ']');
    return true;
}

static void print_con(CtText *out, const Shape *shape, bool atomic) {
    const CtDataCon *con = shape->head.con;
    if (!strcmp(con->name->text, ":") && print_list(out, shape)) return;
    bool infix = con->arity == 2 && ct_syntax_is_operator_name(con->name);
    bool brackets = atomic && con->arity > 0;
    if (brackets) ct_text_putc(out, '(');
    if (infix) {
        print_shape(out, shape->args[0], true);
        ct_text_printf(out, " %s ", con->name->text);
        bool list = !strcmp(con->name->text, ":");
        print_shape(out, shape->args[1], !(list && shape->args[1]->head.con == con));
    } else {
        ct_text_puts(out, con->name->text);
        for (uint32_t i = 0; i < con->arity; i++) {
            ct_text_putc(out, ' ');
            print_shape(out, shape->args[i], true);
        }
    }
    if (brackets) ct_text_putc(out, ')');
}

static void print_shape(CtText *out, const Shape *shape, bool atomic) {
    switch (shape->head.kind) {
    case HEAD_ANY:
    case HEAD_NUMBER:
    case HEAD_CHAR: ct_text_puts(out, shape->text ? shape->text : "_"); return;
    case HEAD_CON: print_con(out, shape, atomic); return;
    case HEAD_TUPLE:
        ct_text_putc(out, '(');
        for (uint32_t i = 0; i < shape->head.arity; i++) {
            if (i > 0) ct_text_puts(out, ", ");
            print_shape(out, shape->args[i], false);
        }
        ct_text_putc(out, ')');
        return;
    }
}

static void add_witness(Explorer *e) {
    e->missing++;
    if (e->witnesses.count == MOST_WITNESSES) return;
    CtText text = ct_text(e->types->arena);
    const CtMatch *match = e->match;
    if (match->name) ct_text_printf(&text, ct_syntax_is_operator_name(match->name) ? "(%s)" : "%s", match->name->text);
    for (uint32_t i = 0; i < match->column_count; i++) {
        if (i > 0 || match->name) ct_text_putc(&text, ' ');
        print_shape(&text, e->roots[i], match->name || match->column_count > 1);
    }
    ct_push(e->types->arena, &e->witnesses, text.data);
}

/* A literal of the given kind that is not among those seen in the column, as text for a witness. */
static const char *other_literal(Explorer *e, HeadKind kind, const CtMap *seen) {
    if (kind == HEAD_CHAR) {
        for (uint64_t c = 'a'; c <= 'z'; c++)
            if (!ct_map_has(seen, c)) return ct_format(e->types->arena, "'%c'", (char)c);
        return "_";
    }
    uint64_t n = 0;
    while (ct_map_has(seen, n)) n++;
    return ct_format(e->types->arena, "%llu", (unsigned long long)n);
}

/* ---- exploring ---- */

typedef struct Matrix {
    Row *rows;
    uint32_t row_count;
    Shape **columns;
    uint32_t column_count;
} Matrix;

static void explore(Explorer *e, Matrix m);

static bool spend(Explorer *e, uint32_t steps) {
    if (steps > MOST_STEPS - e->steps || e->depth >= MOST_DEPTH) e->gave_up = true;
    if (!e->gave_up) e->steps += steps;
    return !e->gave_up;
}

/* The matrix specialised by a head in column `c`: the rows that may match it, with column `c` replaced by columns for
 * the head's parts, which come first. If `head` is NULL, the default matrix: the rows that match everything in column
 * `c`. */
static Matrix specialise(Explorer *e, const Matrix *m, uint32_t c, const Head *head, Shape *shape) {
    CtArena *arena = e->types->arena;
    uint32_t arity = head ? head->arity : 0, columns = arity + m->column_count - 1;
    Matrix out = {.column_count = columns};
    out.columns = CT_NEW_ARRAY(arena, Shape *, columns);
    out.rows = CT_NEW_ARRAY(arena, Row, m->row_count);
    for (uint32_t i = 0; i < arity; i++) out.columns[i] = shape->args[i];
    for (uint32_t i = 0, j = arity; i < m->column_count; i++)
        if (i != c) out.columns[j++] = m->columns[i];
    for (uint32_t r = 0; r < m->row_count; r++) {
        const Row *row = &m->rows[r];
        Head own = head_of(e, row->cells[c]);
        if (own.kind != HEAD_ANY && (!head || !same_head(&own, head))) continue;
        Row *copy = &out.rows[out.row_count++];
        copy->index = row->index;
        copy->cells = CT_NEW_ARRAY(arena, Cell, columns);
        parts_of(e, row->cells[c], copy->cells, arity);
        for (uint32_t i = 0, j = arity; i < m->column_count; i++)
            if (i != c) copy->cells[j++] = row->cells[i];
    }
    return out;
}

static void explore_head(Explorer *e, const Matrix *m, uint32_t c, const Head *head, const char *text) {
    Shape *shape = m->columns[c];
    if (!spend(e, m->row_count * m->column_count + 1)) return;
    shape->head = *head;
    shape->text = text;
    shape->args = CT_NEW_ARRAY(e->types->arena, Shape *, head->arity);
    for (uint32_t i = 0; i < head->arity; i++) shape->args[i] = CT_NEW(e->types->arena, Shape);
    explore(e, specialise(e, m, c, head, shape));
    *shape = (Shape){0};
}

/* A column may have many literals, so one pass groups the rows by literal, instead of one pass for each literal. */
static void explore_literals(Explorer *e, const Matrix *m, uint32_t c, HeadKind kind) {
    CtArena *arena = e->types->arena;
    typedef CT_VEC(uint32_t) Indices;
    CtMap groups = {0};
    Indices wild = {0};
    for (uint32_t r = 0; r < m->row_count; r++) {
        Head head = head_of(e, m->rows[r].cells[c]);
        if (head.kind == HEAD_ANY) {
            ct_push(arena, &wild, r);
            continue;
        }
        Indices *group = ct_map_get(&groups, head.bits);
        if (!group) {
            group = CT_NEW(arena, Indices);
            ct_map_set(arena, &groups, head.bits, group);
        }
        ct_push(arena, group, r);
    }
    for (uint32_t g = 0; g < groups.count && !e->gave_up; g++) {
        const Indices *group = groups.entries[g].value;
        Matrix few = {.column_count = m->column_count, .columns = m->columns};
        few.rows = CT_NEW_ARRAY(arena, Row, group->count + wild.count);
        for (uint32_t i = 0, j = 0; i < group->count || j < wild.count;) { /* merges both in row order */
            bool own = j == wild.count || (i < group->count && group->items[i] < wild.items[j]);
            few.rows[few.row_count++] = m->rows[own ? group->items[i++] : wild.items[j++]];
        }
        Cell first = m->rows[group->items[0]].cells[c];
        Head head = head_of(e, first);
        CtText text = ct_text(arena);
        ct_syntax_print_pat(&text, first.pat);
        explore_head(e, &few, c, &head, text.data);
    }
    if (e->gave_up) return;
    m->columns[c]->text = other_literal(e, kind, &groups);
    explore(e, specialise(e, m, c, NULL, NULL));
    *m->columns[c] = (Shape){0};
}

/* Whether values show themselves as this constructor here. A type with views has others inside of the library; and of
 * two views that say the same, as x :<| rest and rest :|> x, only those count that some row matches. */
static bool is_shown(const Explorer *e, const Matrix *m, uint32_t c, const CtTyCon *tycon, uint32_t tag) {
    bool views = false;
    for (uint32_t i = 0; i < tycon->con_count; i++) views |= ct_types_view(e->types, tycon->cons[i]) != NULL;
    if (!views) return true;
    for (uint32_t i = 0; i < m->row_count; i++)
        if (head_of(e, m->rows[i].cells[c]).con == tycon->cons[tag]) return true;
    bool some = false;
    for (uint32_t i = 0; i < m->row_count; i++) {
        Head head = head_of(e, m->rows[i].cells[c]);
        some |= head.con != NULL && head.arity > 0;
    }
    return ct_types_view(e->types, tycon->cons[tag]) != NULL && (tycon->cons[tag]->arity == 0 || !some);
}

/* ---- constructors that say what the parameters of their type are ---- */

/* Assumes that the parameters of a type are what the constructor says, whose variables are `exists` in a pattern; false
 * if one certainly is another type. */
static bool assume_equal(Explorer *e, const CtDataCon *con, CtTy *const *exists, CtTy *type) {
    uint32_t arity = con->tycon->arity;
    CtTy **inst = CT_NEW_ARRAY(e->types->arena, CtTy *, arity + con->exist_count);
    for (uint32_t i = arity; i-- > 0; type = ct_types_ty_resolve(type->fun)) {
        if (type->kind != TY_APP) return true;
        inst[i] = type->arg;
    }
    for (uint32_t i = 0; i < con->exist_count; i++) inst[arity + i] = exists[i];
    bool may = true;
    for (uint32_t i = 0; i < arity && may; i++) {
        if (!con->equal[i]) continue;
        CtTy *own = ct_types_ty_replace(e->types, con->equal[i], con->generics, inst, arity + con->exist_count);
        may = ct_types_assume(e->types, own, inst[i]);
    }
    return may;
}

/* Whether a value in the column, whose type its patterns tell, may be of the constructor. Until the branch ends, what
 * the constructor says of the type holds for other columns. */
static bool may_be(Explorer *e, const Matrix *m, uint32_t c, const CtDataCon *con) {
    CtTy *type = NULL;
    bool may = true, matched = false;
    for (uint32_t i = 0; i < m->row_count && con->equal && may; i++) {
        const CtPat *pat = m->rows[i].cells[c].pat;
        if (!pat || !pat->type) continue;
        type = ct_types_ty_resolve(pat->type);
        if (pat->con != con || (con->exist_count > 0 && !pat->exists)) continue;
        may = assume_equal(e, con, pat->exists, type);
        matched = true;
    }
    if (matched || !type) return may;
    CtTy **exists = CT_NEW_ARRAY(e->types->arena, CtTy *, con->exist_count);
    for (uint32_t i = 0; i < con->exist_count; i++) {
        exists[i] = ct_types_ty_generic(e->types, con->exists[i]->name, con->exists[i]->arity);
        exists[i]->is_skolem = true;
    }
    return assume_equal(e, con, exists, type);
}

static void explore_constructors(Explorer *e, const Matrix *m, uint32_t c, const CtTyCon *tycon) {
    for (uint32_t tag = 0; tag < tycon->con_count && !e->gave_up; tag++) {
        if (!is_shown(e, m, c, tycon, tag)) continue;
        Head head = {.kind = HEAD_CON, .con = tycon->cons[tag], .arity = tycon->cons[tag]->arity};
        CtBranch branch = ct_types_branch_enter(e->types);
        if (may_be(e, m, c, head.con)) explore_head(e, m, c, &head, NULL);
        ct_types_branch_leave(e->types, branch);
    }
}

static void explore(Explorer *e, Matrix m) {
    if (!spend(e, 1)) return;
    if (m.row_count == 0) {
        add_witness(e);
        return;
    }
    uint32_t c = 0;
    Head head = {0};
    for (; c < m.column_count; c++) {
        head = head_of(e, m.rows[0].cells[c]);
        if (head.kind != HEAD_ANY) break;
    }
    e->depth++;
    if (c == m.column_count) { /* the first row matches everything, unless its guards fail */
        e->reached[m.rows[0].index] = true;
        m.rows++;
        m.row_count--;
        if (e->match->rows[m.rows[-1].index].may_fail) explore(e, m);
    } else if (head.kind == HEAD_CON) {
        explore_constructors(e, &m, c, head.con->tycon);
    } else if (head.kind == HEAD_TUPLE) {
        explore_head(e, &m, c, &head, NULL);
    } else {
        explore_literals(e, &m, c, head.kind);
    }
    e->depth--;
}

/* ---- guards ---- */

static bool always_holds(CtTypes *types, const CtStmt *guard) {
    if (guard->kind == STMT_LET) return true;
    if (guard->kind == STMT_BIND) return guard->pat->kind == PAT_VAR || guard->pat->kind == PAT_WILD;
    const CtExpr *expr = guard->expr;
    CtSymbols *symbols = &types->context->symbols;
    if (expr->kind == EXPR_CON) return expr->con == ct_types_library(types, SPACE_CON, ct_intern_text(symbols, "True"));
    return expr->kind == EXPR_VAR && expr->entity &&
           expr->entity == ct_types_library(types, SPACE_VALUE, ct_intern_text(symbols, "otherwise"));
}

/* Whether a pattern matches what a function gives of the value: it may fail for any. */
static bool has_view(const CtPat *pat) {
    bool found = pat->kind == PAT_VIEW;
    for (uint32_t i = 0; i < pat->part_count && !found; i++) found = has_view(pat->parts[i]);
    return found;
}

static bool may_fall_through(CtTypes *types, const CtRhs *rhs) {
    for (uint32_t i = 0; i < rhs->guarded_count; i++) {
        bool always = true;
        for (uint32_t j = 0; j < rhs->guarded[i].guard_count; j++)
            always = always && always_holds(types, &rhs->guarded[i].guards[j]);
        if (always) return false;
    }
    return true;
}

/* ---- warnings ---- */

static void say_missing(Explorer *e) {
    CtText text = ct_text(e->types->arena);
    for (uint32_t i = 0; i < e->witnesses.count; i++)
        ct_text_printf(&text, "%s`%s`",
                       i == 0                                               ? ""
                       : i + 1 == e->witnesses.count && e->missing == i + 1 ? " and "
                                                                            : ", ",
                       e->witnesses.items[i]);
    if (e->missing > e->witnesses.count) ct_text_puts(&text, " and others");
    CtDiag *diag = ct_warning(e->types->context, CT_E0325, e->match->range, "%s %s not matched", text.data,
                              e->missing == 1 ? "is" : "are");
    bool guarded = false;
    for (uint32_t i = 0; i < e->match->row_count; i++) guarded |= e->match->rows[i].may_fail;
    ct_help(e->types->context, diag, "%s",
            guarded ? "where all guards may be false, end them with `otherwise`" : e->match->help);
}

/* Whether pattern `a` matches every value that pattern `b` matches. */
static bool covers(Explorer *e, Cell a, Cell b, uint32_t depth) {
    a = strip(a);
    b = strip(b);
    Head head = head_of(e, a), other = head_of(e, b);
    if (head.kind == HEAD_ANY) return true;
    if (depth > 100 || !same_head(&head, &other)) return false;
    Cell *x = CT_NEW_ARRAY(e->types->arena, Cell, head.arity), *y = CT_NEW_ARRAY(e->types->arena, Cell, head.arity);
    parts_of(e, a, x, head.arity);
    parts_of(e, b, y, head.arity);
    for (uint32_t i = 0; i < head.arity; i++)
        if (!covers(e, x[i], y[i], depth + 1)) return false;
    return true;
}

static void say_unreached(Explorer *e, uint32_t index) {
    const CtMatch *match = e->match;
    const CtMatchRow *row = &match->rows[index];
    CtDiag *diag = ct_warning(e->types->context, CT_E0326, row->range, "this %s is never reached", match->row_name);
    for (uint32_t i = 0; i < index; i++) {
        bool covered = !match->rows[i].may_fail;
        for (uint32_t j = 0; j < match->column_count && covered; j++)
            covered = covers(e, plain(match->rows[i].pats[j]), plain(row->pats[j]), 0);
        if (!covered) continue;
        ct_note(e->types->context, diag, match->rows[i].range, "this one matches all that it would");
        return;
    }
    ct_note(e->types->context, diag, CT_NO_RANGE, "those before it match all that it would");
}

/* Whether a row has such a pattern: nothing is said of these matches. */
static bool has_views(const CtMatch *match) {
    for (uint32_t i = 0; i < match->row_count; i++)
        for (uint32_t j = 0; j < match->column_count; j++)
            if (has_view(match->rows[i].pats[j])) return true;
    return false;
}

static void examine(CtTypes *types, CtMatch *match) {
    if (has_views(match)) return;
    CtArena *arena = types->arena;
    Explorer e = {.types = types, .match = match};
    Matrix m = {.row_count = match->row_count, .column_count = match->column_count};
    e.reached = CT_NEW_ARRAY(arena, bool, match->row_count);
    e.roots = CT_NEW_ARRAY(arena, Shape *, match->column_count);
    m.rows = CT_NEW_ARRAY(arena, Row, match->row_count);
    for (uint32_t i = 0; i < match->column_count; i++) e.roots[i] = CT_NEW(arena, Shape);
    m.columns = e.roots;
    for (uint32_t i = 0; i < match->row_count; i++) {
        CtMatchRow *row = &match->rows[i];
        if (row->rhs) row->may_fail = may_fall_through(types, row->rhs);
        m.rows[i] = (Row){CT_NEW_ARRAY(arena, Cell, match->column_count), i};
        for (uint32_t j = 0; j < match->column_count; j++) m.rows[i].cells[j] = strip(plain(row->pats[j]));
    }
    explore(&e, m);
    if (e.gave_up) return;
    if (e.missing > 0) say_missing(&e);
    for (uint32_t i = 0; i < match->row_count; i++)
        if (!e.reached[i]) say_unreached(&e, i);
}

/* ---- collecting, while a module is inferred ---- */

static CtMatch *new_match(CtTypes *types, uint32_t rows, uint32_t columns, CtSourceRange range) {
    CtMatch *match = CT_NEW(types->arena, CtMatch);
    match->rows = CT_NEW_ARRAY(types->arena, CtMatchRow, rows);
    match->row_count = rows;
    match->column_count = columns;
    match->range = range;
    ct_push(types->arena, &types->matches, match);
    return match;
}

/* Whether all patterns are variables or wildcards, so that a match with this single row needs no check. */
static bool is_trivial(CtPat *const *pats, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (strip(plain(pats[i])).pat) return false;
    return true;
}

void ct_types_note_clauses(CtTypes *types, const CtBinding *binding) {
    uint32_t columns = binding->clauses[0].pat_count;
    if (types->is_library || binding->made || columns == 0) return;
    if (binding->clause_count == 1 && is_trivial(binding->clauses[0].pats, columns)) {
        if (!binding->clauses[0].rhs.guarded[0].guard_count) return;
    }
    for (uint32_t i = 0; i < binding->clause_count; i++)
        if (binding->clauses[i].pat_count != columns) return;
    CtMatch *match = new_match(types, binding->clause_count, columns, binding->name.range);
    match->name = binding->name.text;
    match->row_name = "clause";
    match->help = "without a clause for it the program stops with an error there";
    for (uint32_t i = 0; i < binding->clause_count; i++) {
        const CtClause *clause = &binding->clauses[i];
        CtSourceRange range = ct_range_join(clause->range, clause->pats[columns - 1]->range);
        range.end =
            clause->pats[columns - 1]->range.end > range.start ? clause->pats[columns - 1]->range.end : range.end;
        match->rows[i] = (CtMatchRow){.pats = clause->pats, .rhs = &clause->rhs, .range = range};
    }
}

void ct_types_note_case(CtTypes *types, const CtExpr *expr) {
    if (types->is_library) return;
    CtSourceRange keyword = expr->range;
    if (keyword.end > keyword.start + 4) keyword.end = keyword.start + 4;
    CtMatch *match = new_match(types, expr->alt_count, 1, keyword);
    match->row_name = "alternative";
    match->help = "without an alternative for it the program stops with an error there";
    for (uint32_t i = 0; i < expr->alt_count; i++) {
        const CtAlt *alt = &expr->alts[i];
        match->rows[i] = (CtMatchRow){.pats = &expr->alts[i].pat, .rhs = &alt->rhs, .range = alt->pat->range};
    }
}

void ct_types_note_patterns(CtTypes *types, CtPat **pats, uint32_t count) {
    if (types->is_library || count == 0 || is_trivial(pats, count)) return;
    CtMatch *match = new_match(types, 1, count, ct_range_join(pats[0]->range, pats[count - 1]->range));
    match->row_name = "pattern";
    match->help = "use `case` or clauses, which can say what holds otherwise";
    match->rows[0] = (CtMatchRow){.pats = pats, .range = match->range};
}

void ct_types_check_matches(CtTypes *types) {
    for (uint32_t i = 0; i < types->matches.count; i++) examine(types, types->matches.items[i]);
    types->matches.count = 0;
}
