/* Compiles pattern matches to one-level cases. A pattern matrix has a row for each clause and a column for each
 * variable that is matched. The leftmost pattern of the first row that examines its value selects the column to open
 * next; a block of rows from the top that examine this column too is opened together (all rows, if the type of the
 * column has only one constructor). The remaining rows are tried when the block fails: they become a join point, a λ
 * without parameters, so that no code is duplicated. Rows are tried from the top, and each row is elaborated exactly
 * once.
 */
#include <math.h>

#include "elab/internal.h"

typedef struct Matrix {
    CtVar **columns;
    uint32_t column_count;
    Row *rows;
    uint32_t row_count;
    CtType *result;
} Matrix;

CtCore *ct_elab_fail(CtElab *el, Fail *fail, CtType *type) {
    fail->uses++;
    CtProgram *p = el->program;
    if (fail->join == NULL) return ct_core_fail(p, fail->range, type, CT_E0502, fail->text, NULL);
    fail->call = ct_core_app(p, fail->range, ct_core_var(p, fail->range, fail->join), NULL, 0);
    return fail->call;
}

static CtCore *match(CtElab *el, Matrix m, Fail *fail);

static Fail join_point(CtElab *el, CtType *result, CtSourceRange range) {
    return (Fail){.join = ct_core_var_new(el->program, "next", ct_core_type_fun(el->program, NULL, 0, result)),
                  .range = range};
}

/* Binds the join point around its calls: let next = λ(). rest in core. A single call is replaced by the rest itself,
 * which may be no more than the call of what is tried after it. */
static CtCore *with_join(CtElab *el, const Fail *join, CtCore *rest, Fail *after, CtCore *core) {
    if (join->uses == 1) {
        *join->call = *rest;
        if (after->call == rest) after->call = join->call;
        if (rest->kind == CORE_LAM) rest->as.lam->node = join->call;
        return core;
    }
    CtCore *lam = ct_core_lam(el->program, rest->range, NULL, NULL, 0, rest);
    return ct_core_let(el->program, core->range, join->join, lam, core);
}

/* ---- right-hand sides ---- */

/* Whether the guard is a condition that always holds: `otherwise` or `True`. */
static bool holds(CtElab *el, const CtStmt *guard) {
    if (guard->kind != STMT_EXPR) return false;
    const CtExpr *expr = guard->expr;
    if (expr->kind == EXPR_CON) return expr->con->tag == 1 && strcmp(expr->con->name->text, "True") == 0;
    return ct_elab_is_named(el, expr, "otherwise");
}

static bool always(CtElab *el, const CtGuarded *guarded) {
    for (uint32_t i = 0; i < guarded->guard_count; i++)
        if (!holds(el, &guarded->guards[i])) return false;
    return true;
}

static bool rhs_total(CtElab *el, const CtRhs *rhs) {
    for (uint32_t i = 0; i < rhs->guarded_count; i++)
        if (always(el, &rhs->guarded[i])) return true;
    return false;
}

typedef struct Guards {
    const CtGuarded *guarded;
    uint32_t next;
    Fail *fail;
    CtType *result;
} Guards;

static CtCore *guards(CtElab *el, void *data) {
    Guards state = *(Guards *)data;
    if (state.next == state.guarded->guard_count) return ct_elab_expr(el, state.guarded->body);
    const CtStmt *guard = &state.guarded->guards[state.next++];
    switch (guard->kind) {
    case STMT_EXPR: {
        if (holds(el, guard)) return guards(el, &state);
        CtCore *condition = ct_elab_expr(el, guard->expr);
        CtCore *yes = guards(el, &state);
        CtCore *no = ct_elab_fail(el, state.fail, state.result);
        return ct_core_if(el->program, guard->range, condition, yes, no);
    }
    case STMT_BIND:
        return ct_elab_match_one(el, guard->pat, ct_elab_expr(el, guard->expr), guards, &state, state.fail,
                                 state.result);
    case STMT_LET: return ct_elab_decls(el, &guard->decls, guards, &state);
    }
    return NULL;
}

typedef struct Sides {
    const CtRhs *rhs;
    Fail *fail;
    CtType *result;
} Sides;

/* The guarded right-hand sides, elaborated from the last to the first: each one continues with the next when its guards
 * fail. */
static CtCore *sides(CtElab *el, void *data) {
    Sides *state = data;
    CtCore *rest = NULL;
    for (uint32_t i = state->rhs->guarded_count; i-- > 0;) {
        const CtGuarded *guarded = &state->rhs->guarded[i];
        Guards inner = {guarded, 0, state->fail, state->result};
        if (rest == NULL || always(el, guarded)) {
            rest = guards(el, &inner);
            continue;
        }
        if (guarded->guard_count == 1 && guarded->guards[0].kind == STMT_EXPR) {
            CtCore *condition = ct_elab_expr(el, guarded->guards[0].expr);
            CtCore *body = ct_elab_expr(el, guarded->body);
            rest = ct_core_if(el->program, guarded->range, condition, body, rest);
            continue;
        }
        Fail join = join_point(el, state->result, guarded->range);
        inner.fail = &join;
        CtCore *core = guards(el, &inner);
        rest = join.uses == 0 ? core : with_join(el, &join, rest, state->fail, core);
    }
    return rest;
}

CtCore *ct_elab_rhs(CtElab *el, const CtRhs *rhs, Fail *fail, CtType *result) {
    Sides state = {rhs, fail, result};
    return ct_elab_decls(el, &rhs->where, sides, &state);
}

static bool row_can_fall(CtElab *el, const Row *row) { return row->rhs != NULL && !rhs_total(el, row->rhs); }

static CtCore *row_end(CtElab *el, const Row *row, Fail *fail, CtType *result) {
    CtCore *core = row->core;
    if (row->rhs != NULL)
        core = ct_elab_rhs(el, row->rhs, fail, result);
    else if (row->body != NULL)
        core = ct_elab_expr(el, row->body);
    else if (row->within != NULL)
        core = row->within(el, row->data);
    return ct_elab_wrap(el, &row->binds, core);
}

/* ---- opening a column ---- */

/* The matrix of the given rows with column `c` replaced by one column for each subpattern position that some row uses,
 * in its place, so that a lower row tests its patterns from left to right, too; vars[j] becomes the variable of
 * position j. */
static Matrix open_rows(CtElab *el, const Matrix *m, uint32_t c, const Row *rows, uint32_t row_count, uint32_t parts,
                        CtType *const *types, CtVar **vars) {
    CtArena *arena = el->arena;
    Row *wide = CT_NEW_ARRAY(arena, Row, row_count);
    for (uint32_t i = 0; i < row_count; i++) {
        wide[i].pats = CT_NEW_ARRAY(arena, CtPat *, parts);
        for (uint32_t j = 0; j < parts && rows[i].pats[c] != NULL; j++) wide[i].pats[j] = rows[i].pats[c]->parts[j];
    }
    uint32_t used = 0;
    for (uint32_t j = 0; j < parts; j++)
        if (ct_elab_column_used(el, wide, row_count, j)) {
            vars[j] = ct_elab_column(el, wide, row_count, j, types[j]);
            used++;
        }
    Matrix out = {.rows = wide, .row_count = row_count, .result = m->result};
    out.column_count = used + m->column_count - 1;
    out.columns = CT_NEW_ARRAY(arena, CtVar *, out.column_count);
    uint32_t at = c;
    memcpy(out.columns, m->columns, c * sizeof *out.columns);
    for (uint32_t j = 0; j < parts; j++)
        if (vars[j] != NULL) out.columns[at++] = vars[j];
    memcpy(out.columns + at, m->columns + c + 1, (m->column_count - c - 1) * sizeof *out.columns);
    for (uint32_t i = 0; i < row_count; i++) {
        CtPat **pats = CT_NEW_ARRAY(arena, CtPat *, out.column_count);
        memcpy(pats, rows[i].pats, c * sizeof *pats);
        at = c;
        for (uint32_t j = 0; j < parts; j++)
            if (vars[j] != NULL) pats[at++] = wide[i].pats[j];
        memcpy(pats + at, rows[i].pats + c + 1, (m->column_count - c - 1) * sizeof *pats);
        wide[i] = rows[i];
        wide[i].pats = pats;
    }
    return out;
}

static CtType **core_types(CtElab *el, Ground *const *types, uint32_t count) {
    CtType **out = CT_NEW_ARRAY(el->arena, CtType *, count);
    for (uint32_t i = 0; i < count; i++) out[i] = ct_elab_core(el, types[i]);
    return out;
}

/* Makes variables for the fields as they are stored, and binds those of the types given by their conversions. */
static CtCore *convert_fields(CtElab *el, CtSourceRange range, const View *view, CtVar **vars, CtCore *body) {
    for (uint32_t i = view->count; i-- > 0;) {
        CtType *stored = ct_elab_core(el, view->stored[i]);
        if (vars[i] == NULL || vars[i]->type == stored) continue;
        CtVar *field = ct_core_var_like(el->program, vars[i], stored);
        CtCore *value = ct_core_var(el->program, range, field);
        value = ct_elab_convert(el, range, value, view->stored[i], view->given[i]);
        body = ct_core_let(el->program, range, vars[i], value, body);
        vars[i] = field;
    }
    return body;
}

/* A tuple at a universal type is one of its constructors. */
static CtCore *open_layer(CtElab *el, const Matrix *m, uint32_t c, uint32_t block, Fail *fail) {
    const CtPat *pat = m->rows[0].pats[c];
    Applied applied = ct_elab_applied(el, pat->type);
    View view = ct_elab_tuple_view(el, applied.type, &applied);
    CtVar **vars = CT_NEW_ARRAY(el->arena, CtVar *, view.count);
    CtType **types = core_types(el, view.stored, view.count);
    Matrix inner = open_rows(el, m, c, m->rows, block, view.count, types, vars);
    CtCase only = {.con = view.con, .vars = vars, .body = match(el, inner, fail)};
    CtCore *scrutinee = ct_core_var(el->program, pat->range, m->columns[c]);
    scrutinee = ct_elab_relayer(el, pat->range, scrutinee, &applied);
    CtCore *otherwise = ct_elab_impossible(el, pat->range, m->result);
    return ct_core_case(el->program, pat->range, m->result, scrutinee, &only, 1, otherwise);
}

static CtCore *open_tuple(CtElab *el, const Matrix *m, uint32_t c, uint32_t block, Fail *fail) {
    CtSourceRange range = m->rows[0].pats[c]->range;
    uint32_t count = m->rows[0].pats[c]->part_count;
    CtVar *column = m->columns[c], **vars = CT_NEW_ARRAY(el->arena, CtVar *, count);
    if (column->type->kind == TYPE_DATA) return open_layer(el, m, c, block, fail);
    if (column->type->kind != TYPE_TUPLE) return ct_elab_error_term(el, range, m->result);
    Matrix inner = open_rows(el, m, c, m->rows, block, count, column->type->parts, vars);
    CtCore *body = match(el, inner, fail);
    return ct_core_unpack(el->program, range, vars, count, ct_core_var(el->program, range, column), body);
}

typedef CT_VEC(Row) Rows;

typedef CT_VEC(CtCase) Cases;

/* The environment in which the own variables of a constructor in the patterns of column c are these types. */
static const TyEnv *with_own(CtElab *el, const CtDataCon *con, const Rows *rows, uint32_t c, Ground **types) {
    const TyEnv *env = el->env;
    for (uint32_t i = 0; i < rows->count && con->exist_count > 0; i++) {
        TyEnv *frame = CT_NEW(el->arena, TyEnv);
        CtTy **own = rows->items[i].pats[c]->exists;
        *frame = (TyEnv){.generics = own, .types = types, .count = own == NULL ? 0 : con->exist_count, .outer = env};
        env = frame;
    }
    return env;
}

/* The alternative for a constructor with variables of its own, at these types for them. */
static void add_variant(CtElab *el, const Matrix *m, uint32_t c, const Rows *rows, Ground *type, const Variant *variant,
                        Cases *cases, Fail *fail) {
    const TyEnv *before = el->env;
    CtCon *made = variant->made;
    if (!ct_elab_promises_hold(el, type, variant->con, variant->types)) return;
    el->env = with_own(el, variant->con, rows, c, variant->types);
    CtVar **vars = CT_NEW_ARRAY(el->arena, CtVar *, made->count);
    Matrix inner = open_rows(el, m, c, rows->items, rows->count, made->count, made->fields, vars);
    CtCore *body = match(el, inner, fail);
    el->env = before;
    ct_push(el->arena, cases, ((CtCase){.con = made, .vars = vars, .body = body}));
}

static void add_variants(CtElab *el, const Matrix *m, uint32_t c, const Rows *rows, Ground *type, Cases *cases,
                         Fail *fail) {
    const CtDataCon *con = rows->items[0].pats[c]->con;
    CtType *core = ct_elab_core(el, type);
    Ground **own = ct_elab_determined(el, type, con);
    if (own == NULL) return; /* no value of this type has the constructor */
    if (!ct_elab_has_variants(el, type, con)) {
        Variant only = {con, own, &core->data->cons[con->tag]};
        add_variant(el, m, c, rows, type, &only, cases, fail);
        return;
    }
    for (uint32_t i = 0;; i++) {
        const Variant *variant = ct_elab_variant_at(el, type, con, i);
        if (variant == NULL || el->gave_up) return;
        add_variant(el, m, c, rows, type, variant, cases, fail);
    }
}

static CtCore *open_data(CtElab *el, const Matrix *m, uint32_t c, uint32_t block, Fail *fail) {
    CtVar *column = m->columns[c];
    const CtPat *first = m->rows[0].pats[c];
    CtSourceRange range = first->range;
    if (column->type->kind != TYPE_DATA) return ct_elab_error_term(el, range, m->result);
    const CtTyCon *tycon = first->con->tycon;
    Applied applied = ct_elab_applied(el, first->type);
    Cases cases = {0};
    Rows *rows = CT_NEW_ARRAY(el->arena, Rows, tycon->con_count); /* the rows of each constructor, by tag */
    CT_VEC(uint32_t) tags = {0}; /* the constructors that occur, in the order of their first rows */
    for (uint32_t i = 0; i < block; i++) {
        const CtPat *pat = m->rows[i].pats[c]; /* NULL only if the data type has a single constructor */
        uint32_t tag = pat == NULL ? 0 : pat->con->tag;
        if (rows[tag].count == 0) ct_push(el->arena, &tags, tag);
        ct_push(el->arena, &rows[tag], m->rows[i]);
    }
    for (uint32_t i = 0; i < tags.count; i++) {
        uint32_t tag = tags.items[i];
        if (tycon->cons[tag]->generics != NULL) {
            add_variants(el, m, c, &rows[tag], applied.type, &cases, fail);
            continue;
        }
        if (!ct_elab_promises_hold(el, applied.type, tycon->cons[tag], NULL)) continue;
        View view = ct_elab_view(el, &applied, tycon->cons[tag]);
        CtVar **vars = CT_NEW_ARRAY(el->arena, CtVar *, view.count);
        CtType **types = view.given != NULL ? core_types(el, view.given, view.count) : view.con->fields;
        Matrix inner = open_rows(el, m, c, rows[tag].items, rows[tag].count, view.count, types, vars);
        CtCore *body = match(el, inner, fail);
        if (view.given != NULL) body = convert_fields(el, range, &view, vars, body);
        ct_push(el->arena, &cases, ((CtCase){.con = view.con, .vars = vars, .body = body}));
    }
    CtCore *otherwise = NULL;
    if (tags.count < tycon->con_count)
        otherwise = ct_elab_fail(el, fail, m->result);
    else if (column->type->data->is_universal || cases.count < column->type->data->con_count)
        otherwise = ct_elab_impossible(el, range, m->result);
    if (cases.count == 0) return otherwise;
    CtCore *scrutinee = ct_elab_relayer(el, range, ct_core_var(el->program, range, column), &applied);
    return ct_core_case(el->program, range, m->result, scrutinee, cases.items, cases.count, otherwise);
}

/* ---- literals ---- */

static bool built_in(const CtType *type) {
    return type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT || type->kind == TYPE_INT || type->kind == TYPE_CHAR;
}

/* The value of a literal at the type of its column; equal ones have the same key. */
static uint64_t literal_key(CtElab *el, const CtType *type, const CtLit *lit) {
    if (lit->kind == LIT_CHAR) return (uint64_t)lit->integer;
    CtTypeKind kind = type->kind;
    CtNumbers numbers = kind == TYPE_DOUBLE ? NUMBERS_DOUBLE : kind == TYPE_FLOAT ? NUMBERS_FLOAT : NUMBERS_EXACT;
    return ct_syntax_number_key(el->context, lit, numbers);
}

/* Whether literals of a type whose == the program defines are the same: 2 and 2.0, or 0 and -0, may differ there. */
static bool same_literal(CtElab *el, const CtType *type, const CtLit *a, const CtLit *b) {
    return a->kind == b->kind && signbit(a->fraction) == signbit(b->fraction) &&
           literal_key(el, type, a) == literal_key(el, type, b);
}

/* The value of a literal pattern. That of -2 is `negate (fromInteger 2)` (Haskell 98 §3.17.2), which a type may define
 * to be something else than `fromInteger (-2)`. */
static CtCore *literal_value(CtElab *el, const CtPat *pat, Ground *type, bool is_built_in) {
    CtLit lit = pat->lit;
    bool number = lit.kind == LIT_INT || lit.kind == LIT_FRACTION;
    if (is_built_in || !number || !signbit(lit.fraction))
        return ct_elab_literal(el, pat->range, &lit, false, type, NULL);
    CtEntity *negate = ct_elab_library_entity(el, "negate");
    if (negate == NULL) return ct_elab_error_term(el, pat->range, el->program->bool_type);
    lit.integer = (int64_t)(0 - (uint64_t)lit.integer);
    lit.fraction = -lit.fraction;
    CtCore *positive = ct_elab_literal(el, pat->range, &lit, false, type, NULL);
    Callee callee = ct_elab_callee_at(el, negate, &type, 1, pat->range);
    return ct_elab_call(el, pat->range, &callee, &positive, 1);
}

static CtCore *literal_test(CtElab *el, const CtPat *pat, CtVar *column) {
    CtProgram *p = el->program;
    Ground *type = ct_elab_ground(el, pat->type);
    CtCore *args[] = {ct_core_var(p, pat->range, column), literal_value(el, pat, type, built_in(column->type))};
    CtTypeKind kind = column->type->kind;
    const char *equal = kind == TYPE_CHAR ? "charEq" : kind == TYPE_INT ? "intEq" : "eq";
    CtPrim prim;
    if (built_in(column->type) && ct_prim_find(equal, &prim)) return ct_core_prim(p, pat->range, prim, args, 2);
    CtEntity *entity = pat->entity != NULL ? pat->entity : ct_elab_library_entity(el, "==");
    if (entity == NULL) return ct_elab_error_term(el, pat->range, p->bool_type);
    Callee callee = ct_elab_callee_at(el, entity, &type, 1, pat->range);
    return ct_elab_call(el, pat->range, &callee, args, 2);
}

/* The rows of a block that have the same literal in the opened column. */
typedef struct SameRows {
    Rows rows;
    struct SameRows *next; /* the next group, in the order of the groups' first rows */
} SameRows;

/* Groups the rows of a block by their literals in column `c`. */
static SameRows *same_rows(CtElab *el, const Matrix *m, uint32_t c, uint32_t block) {
    SameRows *first = NULL, **last = &first;
    CtMap by_key = {0};
    for (uint32_t i = 0; i < block; i++) {
        uint64_t key = literal_key(el, m->columns[c]->type, &m->rows[i].pats[c]->lit);
        SameRows *same = ct_map_get(&by_key, key);
        if (same == NULL) {
            same = CT_NEW(el->arena, SameRows);
            ct_map_set(el->arena, &by_key, key, same);
            *last = same;
            last = &same->next;
        }
        ct_push(el->arena, &same->rows, m->rows[i]);
    }
    return first;
}

/* if x == 1 then … else if x == 2 then … else fail. Rows with equal literals share a test. For a type whose == is
 * defined by the program, a block contains only adjacent rows with equal literals (see block_size). */
static CtCore *open_literals(CtElab *el, const Matrix *m, uint32_t c, uint32_t block, Fail *fail) {
    CtVar *column = m->columns[c];
    CT_VEC(Matrix) groups = {0};
    CT_VEC(const CtPat *) literals = {0};
    SameRows *first = same_rows(el, m, c, block);
    for (const SameRows *same = first; same != NULL; same = same->next) {
        ct_push(el->arena, &groups, open_rows(el, m, c, same->rows.items, same->rows.count, 0, NULL, NULL));
        ct_push(el->arena, &literals, same->rows.items[0].pats[c]);
    }
    CtCore *core = ct_elab_fail(el, fail, m->result);
    for (uint32_t i = groups.count; i-- > 0;) {
        CtCore *test = literal_test(el, literals.items[i], column);
        CtCore *yes = match(el, groups.items[i], fail);
        core = ct_core_if(el->program, literals.items[i]->range, test, yes, core);
    }
    return core;
}

/* ---- patterns that are functions ---- */

/* The function whose result a pattern matches, of programs and not inside of the library; NULL: there is none. */
static CtEntity *view_of(CtElab *el, const CtPat *pat) {
    if (pat == NULL || pat->kind != PAT_CON || pat->viewed || ct_elab_is_library(el, pat->range)) return NULL;
    return ct_types_view(el->types, pat->con);
}

/* The number of rows, from the top, that match the result of this function at column c. */
static uint32_t view_block(CtElab *el, const Matrix *m, uint32_t c, const CtEntity *view) {
    uint32_t block = 1;
    while (block < m->row_count && view_of(el, m->rows[block].pats[c]) == view) block++;
    return block;
}

static CtCore *match_rows(CtElab *el, Matrix m, Fail *fail);

/* let view = f column in the match of these rows against it */
static CtCore *open_view(CtElab *el, const Matrix *m, uint32_t c, uint32_t block, CtEntity *view, Fail *fail) {
    CtSourceRange range = m->rows[0].pats[c]->range;
    Ground *type = ct_elab_ground(el, m->rows[0].pats[c]->type), *element = ct_elab_ground_arg(type, 0);
    Callee callee = ct_elab_callee_at(el, view, &element, 1, range);
    CtCore *column = ct_core_var(el->program, range, m->columns[c]);
    CtCore *value = ct_elab_call(el, range, &callee, &column, 1);
    Matrix inner = *m;
    inner.row_count = block;
    inner.rows = CT_NEW_ARRAY(el->arena, Row, block);
    inner.columns = CT_NEW_ARRAY(el->arena, CtVar *, m->column_count);
    memcpy(inner.columns, m->columns, m->column_count * sizeof *inner.columns);
    inner.columns[c] = ct_core_var_new(el->program, "view", value->type);
    for (uint32_t i = 0; i < block; i++) {
        inner.rows[i] = m->rows[i];
        inner.rows[i].pats = CT_NEW_ARRAY(el->arena, CtPat *, m->column_count);
        memcpy(inner.rows[i].pats, m->rows[i].pats, m->column_count * sizeof *m->rows[i].pats);
        CtPat *viewed = inner.rows[i].pats[c] = CT_NEW(el->arena, CtPat);
        *viewed = *m->rows[i].pats[c];
        viewed->viewed = true;
    }
    CtCore *body = match_rows(el, inner, fail);
    return ct_core_let(el->program, range, inner.columns[c], value, body);
}

/* let view = e column in the match of the first row against it */
static CtCore *open_view_pattern(CtElab *el, const Matrix *m, uint32_t c, Fail *fail) {
    const CtPat *pat = m->rows[0].pats[c];
    CtCore *arg = ct_core_var(el->program, pat->range, m->columns[c]);
    CtCore *value = ct_core_app(el->program, pat->range, ct_elab_expr(el, pat->view), &arg, 1);
    Matrix inner = *m;
    inner.row_count = 1;
    inner.rows = CT_NEW(el->arena, Row);
    *inner.rows = m->rows[0];
    inner.rows->pats = CT_NEW_ARRAY(el->arena, CtPat *, m->column_count);
    memcpy(inner.rows->pats, m->rows[0].pats, m->column_count * sizeof *inner.rows->pats);
    inner.rows->pats[c] = pat->parts[0];
    inner.columns = CT_NEW_ARRAY(el->arena, CtVar *, m->column_count);
    memcpy(inner.columns, m->columns, m->column_count * sizeof *inner.columns);
    inner.columns[c] = ct_core_var_new(el->program, "view", value->type);
    CtCore *body = match(el, inner, fail);
    return ct_core_let(el->program, pat->range, inner.columns[c], value, body);
}

/* ---- the matrix ---- */

/* Whether the test of a pattern may call a function of the program, which can fail: a view, or a literal that the
 * program compares. */
static bool may_call(CtElab *el, const CtPat *pat) {
    if (pat == NULL) return false;
    if (pat->kind == PAT_VIEW || view_of(el, pat) != NULL) return true;
    if (pat->kind == PAT_LIT) {
        const CtType *type = ct_elab_core(el, ct_elab_ground(el, pat->type));
        return !built_in(type) && !ct_core_type_is_integer(type);
    }
    for (uint32_t i = 0; i < pat->part_count; i++)
        if (may_call(el, pat->parts[i])) return true;
    return false;
}

/* Whether a row has to go through a test to the left of column c first: no other test may take its place. In a lazy
 * program each test may fail, as it evaluates what it tests. */
static bool waits(CtElab *el, const Row *row, uint32_t c) {
    for (uint32_t j = 0; j < c; j++)
        if (row->pats[j] != NULL && (el->is_lazy || may_call(el, row->pats[j]))) return true;
    return false;
}

/* Whether a pattern is the only one of its type, so that its column is opened without a test. */
static bool is_only(const CtPat *pat, const CtType *type) {
    if (pat->kind != PAT_CON) return pat->kind == PAT_TUPLE;
    return type->kind == TYPE_DATA && type->data->con_count == 1 && !pat->con->tycon->is_open;
}

/* The number of rows, from the top, that are opened together at column c: not one that applies a function there. */
static uint32_t block_size(CtElab *el, const Matrix *m, uint32_t c) {
    const CtPat *first = m->rows[0].pats[c];
    if (first->kind == PAT_VIEW) return 1;
    const CtType *type = m->columns[c]->type;
    bool only = is_only(first, type);
    bool together = first->kind == PAT_CON || built_in(type) || ct_core_type_is_integer(type);
    uint32_t block = 1;
    for (; block < m->row_count; block++) {
        const CtPat *pat = m->rows[block].pats[c];
        if (pat != NULL && pat->kind == PAT_VIEW) break;
        if (only) continue;
        if (pat == NULL || waits(el, &m->rows[block], c)) break;
        if (!together && !same_literal(el, type, &first->lit, &pat->lit)) break;
    }
    return block;
}

static CtCore *open_column(CtElab *el, const Matrix *m, uint32_t c, uint32_t block, Fail *fail) {
    const CtPat *first = m->rows[0].pats[c];
    if (first->kind == PAT_TUPLE) return open_tuple(el, m, c, block, fail);
    if (first->kind == PAT_VIEW) return open_view_pattern(el, m, c, fail);
    if (first->kind == PAT_CON) return open_data(el, m, c, block, fail);
    return open_literals(el, m, c, block, fail);
}

/* Compiles a matrix whose patterns have all been normalised. */
static CtCore *match_rows(CtElab *el, Matrix m, Fail *fail) {
    if (m.row_count == 0) return ct_elab_fail(el, fail, m.result);
    if (ct_elab_too_deep(el, m.rows[0].range)) return ct_elab_error_term(el, m.rows[0].range, m.result);
    uint32_t c = 0;
    while (c < m.column_count && m.rows[0].pats[c] == NULL) c++;
    bool done = c == m.column_count;
    CtEntity *view = done ? NULL : view_of(el, m.rows[0].pats[c]);
    uint32_t block = done ? 1 : view != NULL ? view_block(el, &m, c, view) : block_size(el, &m, c);
    bool rest_matters = block < m.row_count && (!done || row_can_fall(el, &m.rows[0]));
    Fail join = {0}, *inner = fail;
    if (rest_matters) {
        join = join_point(el, m.result, m.rows[block].range);
        inner = &join;
    }
    CtCore *core = done           ? row_end(el, &m.rows[0], inner, m.result)
                   : view != NULL ? open_view(el, &m, c, block, view, inner)
                                  : open_column(el, &m, c, block, inner);
    if (rest_matters && join.uses > 0) {
        Matrix rest = m;
        rest.rows += block;
        rest.row_count -= block;
        core = with_join(el, &join, match_rows(el, rest, fail), fail, core);
    }
    el->depth--;
    return core;
}

static CtCore *match(CtElab *el, Matrix m, Fail *fail) {
    for (uint32_t i = 0; i < m.row_count; i++)
        for (uint32_t j = 0; j < m.column_count; j++) ct_elab_row_normalise(el, &m.rows[i], j, m.columns[j]);
    return match_rows(el, m, fail);
}

CtCore *ct_elab_match(CtElab *el, CtVar **columns, uint32_t count, Row *rows, uint32_t row_count, Fail *fail,
                      CtType *result) {
    return match(el, (Matrix){columns, count, rows, row_count, result}, fail);
}

/* ---- where matches come from ---- */

/* The variable that holds the scrutinee; a new one is named after the patterns. */
static CtVar *scrutinee(CtElab *el, CtCore *value, Row *rows, uint32_t row_count, Lets *lets) {
    if (value->kind == CORE_VAR) return value->as.var;
    CtVar *var = ct_elab_column(el, rows, row_count, 0, value->type);
    ct_push(el->arena, lets, (Pending){var, value, value->range});
    return var;
}

CtCore *ct_elab_match_one(CtElab *el, CtPat *pat, CtCore *value, Within *within, void *data, Fail *fail,
                          CtType *result) {
    Lets lets = {0};
    Row row = {.pats = CT_NEW(el->arena, CtPat *), .within = within, .data = data, .range = pat->range};
    row.pats[0] = pat;
    CtVar *column = scrutinee(el, value, &row, 1, &lets);
    CtCore *core = ct_elab_match(el, &column, 1, &row, 1, fail, result);
    return ct_elab_wrap(el, &lets, core);
}

CtCore *ct_elab_case(CtElab *el, CtExpr *expr) {
    Lets lets = {0};
    CtCore *value = ct_elab_expr(el, expr->parts[0]);
    CtType *result = ct_elab_core_of(el, expr->type);
    Row *rows = CT_NEW_ARRAY(el->arena, Row, expr->alt_count);
    for (uint32_t i = 0; i < expr->alt_count; i++) {
        rows[i] = (Row){.pats = CT_NEW(el->arena, CtPat *), .rhs = &expr->alts[i].rhs, .range = expr->alts[i].range};
        rows[i].pats[0] = expr->alts[i].pat;
    }
    CtVar *column = scrutinee(el, value, rows, expr->alt_count, &lets);
    Fail fail = {.text = "no alternative of this `case` matches", .range = expr->range};
    CtCore *core = ct_elab_match(el, &column, 1, rows, expr->alt_count, &fail, result);
    return ct_elab_wrap(el, &lets, core);
}

CtCore *ct_elab_clauses(CtElab *el, const CtBinding *binding, CtVar **params, CtType *result) {
    Row *rows = CT_NEW_ARRAY(el->arena, Row, binding->clause_count);
    uint32_t count = binding->clauses[0].pat_count;
    for (uint32_t i = 0; i < binding->clause_count; i++) {
        const CtClause *clause = &binding->clauses[i];
        rows[i] = (Row){.pats = CT_NEW_ARRAY(el->arena, CtPat *, count), .rhs = &clause->rhs, .range = clause->range};
        for (uint32_t j = 0; j < count; j++) rows[i].pats[j] = clause->pats[j];
    }
    bool guarded = true; /* all patterns are irrefutable, so that only guards can fail */
    for (uint32_t i = 0; i < binding->clause_count; i++)
        for (uint32_t j = 0; j < count; j++)
            guarded = guarded &&
                      (binding->clauses[i].pats[j]->kind == PAT_VAR || binding->clauses[i].pats[j]->kind == PAT_WILD);
    const char *name = binding->name.text->text;
    const char *text = guarded ? ct_format(el->arena, "no guard of `%s` holds", name)
                               : ct_format(el->arena, "no clause of `%s` matches its arguments", name);
    Fail fail = {.text = text, .range = binding->range};
    return ct_elab_match(el, params, count, rows, binding->clause_count, &fail, result);
}
