/* List literals and comprehensions. */
#include "elab/internal.h"

typedef struct ListOf {
    CtType *type;
    CtCon *nil, *cons;
} ListOf;

static ListOf list_of(CtElab *el, Ground *type) {
    CtDataCon **cons = ct_types_con_list(el->types)->cons;
    return (ListOf){ct_elab_core(el, type), ct_elab_con(el, type, cons[0]), ct_elab_con(el, type, cons[1])};
}

static CtCore *nil(CtElab *el, CtSourceRange range, const ListOf *list) {
    return ct_core_con(el->program, range, list->nil, NULL, 0);
}

static CtCore *cons(CtElab *el, CtSourceRange range, const ListOf *list, CtCore *head, CtCore *tail) {
    CtCore *args[] = {head, tail};
    return ct_core_con(el->program, range, list->cons, args, 2);
}

/* A case on a list with both constructors; at a universal type there are others. */
static CtCore *case_of(CtElab *el, CtSourceRange range, const ListOf *list, CtVar *var, CtCase *cases, CtType *result) {
    CtCore *otherwise = list->type->data->is_universal ? ct_elab_impossible(el, range, result) : NULL;
    return ct_core_case(el->program, range, result, ct_core_var(el->program, range, var), cases, 2, otherwise);
}

/* ---- literals ---- */

/* Elements of a chunk. A long literal is split into chunks, which bounds the nesting of its term. */
enum { CHUNK = 200 };

static CtCore *chunk(CtElab *el, CtExpr *expr, const ListOf *list, uint32_t from, uint32_t to) {
    CtCore *core = nil(el, expr->range, list);
    for (uint32_t i = to; i-- > from;) core = cons(el, expr->range, list, ct_elab_expr(el, expr->parts[i]), core);
    return core;
}

/* A long literal becomes append(chunk, append(chunk, …)); its elements are still evaluated from left to right. */
CtCore *ct_elab_list(CtElab *el, CtExpr *expr) {
    Ground *type = ct_elab_ground(el, expr->type);
    ListOf list = list_of(el, type);
    uint32_t from = expr->part_count <= CHUNK ? 0 : (expr->part_count - 1) / CHUNK * CHUNK;
    CtCore *core = chunk(el, expr, &list, from, expr->part_count);
    if (from == 0) return core;
    CtCore *append = ct_core_global(el->program, expr->range, ct_elab_spec_append(el, type)->global);
    for (; from > 0; from -= CHUNK) {
        CtCore *args[] = {chunk(el, expr, &list, from - CHUNK, from), core};
        core = ct_core_app(el->program, expr->range, append, args, 2);
    }
    return core;
}

/* append xs ys = case xs of [] → ys; x : rest → x : append rest ys */
CtCore *ct_elab_append_body(CtElab *el, Spec *spec) {
    CtProgram *p = el->program;
    ListOf list = list_of(el, spec->types[0]);
    CtVar *params[] = {ct_core_var_new(p, "xs", list.type), ct_core_var_new(p, "ys", list.type)};
    CtVar *parts[] = {ct_core_var_new(p, "x", list.cons->fields[0]), ct_core_var_new(p, "rest", list.type)};
    CtCore *args[] = {ct_core_var(p, CT_NO_RANGE, parts[1]), ct_core_var(p, CT_NO_RANGE, params[1])};
    CtCore *tail = ct_core_app(p, CT_NO_RANGE, ct_core_global(p, CT_NO_RANGE, spec->global), args, 2);
    CtCore *cell = cons(el, CT_NO_RANGE, &list, ct_core_var(p, CT_NO_RANGE, parts[0]), tail);
    CtCase cases[] = {{list.nil, NULL, ct_core_var(p, CT_NO_RANGE, params[1])}, {list.cons, parts, cell}};
    CtCore *body = case_of(el, CT_NO_RANGE, &list, params[0], cases, list.type);
    return ct_core_lam(p, CT_NO_RANGE, "append", params, 2, body);
}

/* ---- comprehensions ---- */

/* The state of Wadler's translation TQ[[e | Q] ++ L]: L is the empty list, or a call of the enclosing loop on the rest
 * of its list. */
typedef struct Comprehension {
    const CtExpr *expr;
    uint32_t next; /* index of the first statement of Q */
    const ListOf *list;
    CtVar *loop, *rest; /* L = loop rest; NULL: [] */
} Comprehension;

static CtCore *tail_of(CtElab *el, const Comprehension *state) {
    if (state->loop == NULL) return nil(el, state->expr->range, state->list);
    CtCore *rest = ct_core_var(el->program, state->expr->range, state->rest);
    return ct_core_app(el->program, state->expr->range, ct_core_var(el->program, state->expr->range, state->loop),
                       &rest, 1);
}

static CtCore *comprehend(CtElab *el, void *data);

/* letrec loop = λxs. case xs of [] → L; p : rest → TQ[[e | Q] ++ loop rest]; _ : rest → loop rest in loop source */
static CtCore *generate(CtElab *el, const Comprehension *state, const CtStmt *stmt) {
    CtProgram *p = el->program;
    CtCore *source = ct_elab_expr(el, stmt->expr);
    ListOf from = list_of(el, ct_elab_ground(el, stmt->expr->type));
    CtVar *loop = ct_core_var_new(p, "loop", ct_core_type_fun(p, &from.type, 1, state->list->type));
    CtVar *param = ct_core_var_new(p, "xs", from.type);
    CtVar *parts[] = {ct_core_var_new(p, "x", from.cons->fields[0]), ct_core_var_new(p, "rest", from.type)};
    Comprehension inner = *state;
    inner.loop = loop;
    inner.rest = parts[1];
    CtCore *skip = tail_of(el, &inner);
    CtVar *join = ct_core_var_new(p, "next", ct_core_type_fun(p, NULL, 0, state->list->type));
    Fail fail = {.join = join, .range = stmt->range};
    CtCore *element = ct_core_var(p, stmt->range, parts[0]);
    CtCore *body = ct_elab_match_one(el, stmt->pat, element, comprehend, &inner, &fail, state->list->type);
    if (fail.uses > 0) body = ct_core_let(p, stmt->range, join, ct_core_lam(p, stmt->range, NULL, NULL, 0, skip), body);
    CtCase cases[] = {{from.nil, NULL, tail_of(el, state)}, {from.cons, parts, body}};
    body = case_of(el, stmt->range, &from, param, cases, state->list->type);
    CtBind bind = {loop, ct_core_lam(p, stmt->range, "comprehension", &param, 1, body)};
    CtCore *call = ct_core_app(p, stmt->range, ct_core_var(p, stmt->range, loop), &source, 1);
    return ct_core_letrec(p, stmt->range, &bind, 1, call);
}

static CtCore *comprehend(CtElab *el, void *data) {
    Comprehension state = *(Comprehension *)data;
    if (state.next == state.expr->stmt_count) {
        CtCore *head = ct_elab_expr(el, state.expr->parts[0]);
        return cons(el, state.expr->range, state.list, head, tail_of(el, &state));
    }
    const CtStmt *stmt = &state.expr->stmts[state.next++];
    switch (stmt->kind) {
    case STMT_EXPR: {
        CtCore *test = ct_elab_expr(el, stmt->expr);
        CtCore *yes = comprehend(el, &state);
        return ct_core_if(el->program, stmt->range, test, yes, tail_of(el, &state));
    }
    case STMT_BIND: return generate(el, &state, stmt);
    case STMT_LET: return ct_elab_decls(el, &stmt->decls, comprehend, &state);
    }
    return NULL;
}

CtCore *ct_elab_comprehension(CtElab *el, CtExpr *expr) {
    ListOf list = list_of(el, ct_elab_ground(el, expr->type));
    Comprehension state = {.expr = expr, .list = &list};
    return comprehend(el, &state);
}
