/* Terms of the array language of BULK: constructors with the typing of Fig. 8, copying and substitution. */
#include "ad/bulk/ir/bulk.h"

/* ---- shapes ---- */

int64_t ct_bulk_shape_count(CtShape shape) {
    int64_t count = 1;
    for (uint32_t i = 0; i < shape.rank; i++) count *= shape.sizes[i];
    return count;
}

bool ct_bulk_shape_equal(CtShape a, CtShape b) {
    if (a.rank != b.rank) return false;
    for (uint32_t i = 0; i < a.rank; i++)
        if (a.sizes[i] != b.sizes[i]) return false;
    return true;
}

CtShape ct_bulk_shape_of(CtArena *arena, const int64_t *sizes, uint32_t rank) {
    int64_t *copy = CT_NEW_ARRAY(arena, int64_t, rank);
    for (uint32_t i = 0; i < rank; i++) copy[i] = sizes[i];
    return (CtShape){rank, copy};
}

CtShape ct_bulk_shape_cons(CtArena *arena, int64_t size, CtShape shape) {
    int64_t *sizes = CT_NEW_ARRAY(arena, int64_t, shape.rank + 1);
    sizes[0] = size;
    for (uint32_t i = 0; i < shape.rank; i++) sizes[i + 1] = shape.sizes[i];
    return (CtShape){shape.rank + 1, sizes};
}

CtShape ct_bulk_shape_tail(CtShape shape, uint32_t count) { return (CtShape){shape.rank - count, shape.sizes + count}; }

/* ---- constructors ---- */

static CtBulk *new_term(CtBulkBuilder *r, CtBulkKind kind, CtElement element, CtShape shape) {
    CtBulk *t = CT_NEW(r->arena, CtBulk);
    t->kind = kind;
    t->element = element;
    t->shape = shape;
    return t;
}

CtBulkVar *ct_bulk_new_var(CtBulkBuilder *r, const char *name, CtElement element, CtShape shape) {
    CtBulkVar *var = CT_NEW(r->arena, CtBulkVar);
    *var = (CtBulkVar){.name = name, .id = r->vars++, .element = element, .shape = shape};
    return var;
}

CtBulk *ct_bulk_var(CtBulkBuilder *r, CtBulkVar *var) {
    CtBulk *t = new_term(r, BULK_VAR, var->element, var->shape);
    t->as.var = var;
    return t;
}

CtBulk *ct_bulk_real(CtBulkBuilder *r, double value, CtShape shape) {
    CtBulk *t = new_term(r, BULK_CONST, ELEMENT_REAL, shape);
    t->as.constant.real = value;
    return t;
}

CtBulk *ct_bulk_int(CtBulkBuilder *r, int64_t value, CtShape shape) {
    CtBulk *t = new_term(r, BULK_CONST, ELEMENT_INT, shape);
    t->as.constant.integer = value;
    return t;
}

CtBulk *ct_bulk_bool(CtBulkBuilder *r, bool value, CtShape shape) {
    CtBulk *t = new_term(r, BULK_CONST, ELEMENT_BOOL, shape);
    t->as.constant.integer = value;
    return t;
}

CtBulk *ct_bulk_reals(CtBulkBuilder *r, const double *items, CtShape shape) {
    size_t count = (size_t)ct_bulk_shape_count(shape);
    double *copy = CT_NEW_ARRAY(r->arena, double, count);
    for (size_t i = 0; i < count; i++) copy[i] = items[i];
    CtBulk *t = new_term(r, BULK_CONST, ELEMENT_REAL, shape);
    t->as.constant.reals = copy;
    return t;
}

CtBulk *ct_bulk_integers(CtBulkBuilder *r, const int64_t *items, CtShape shape, CtElement element) {
    size_t count = (size_t)ct_bulk_shape_count(shape);
    int64_t *copy = CT_NEW_ARRAY(r->arena, int64_t, count);
    for (size_t i = 0; i < count; i++) copy[i] = items[i];
    CtBulk *t = new_term(r, BULK_CONST, element, shape);
    t->as.constant.integers = copy;
    return t;
}

CtBulk *ct_bulk_let(CtBulkBuilder *r, CtBulkVar *var, CtBulk *rhs, CtBulk *body) {
    CtBulk *t = new_term(r, BULK_LET, body->element, body->shape);
    t->as.let.var = var;
    t->as.let.rhs = rhs;
    t->as.let.body = body;
    return t;
}

CtBulk *ct_bulk_cond(CtBulkBuilder *r, CtBulk *test, CtBulk *yes, CtBulk *no) {
    CtBulk *t = new_term(r, BULK_COND, yes->element, yes->shape);
    t->as.cond.test = test;
    t->as.cond.yes = yes;
    t->as.cond.no = no;
    return t;
}

static CtElement element_of_letter(char letter) {
    return letter == 'B' ? ELEMENT_BOOL : letter == 'I' ? ELEMENT_INT : ELEMENT_REAL;
}

CtBulk *ct_bulk_op1(CtBulkBuilder *r, CtPrim prim, CtBulk *t) {
    CtBulk *op = new_term(r, BULK_OP, element_of_letter(ct_prim_info(prim)->result), t->shape);
    op->as.op.prim = prim;
    op->as.op.args[0] = t;
    op->as.op.count = 1;
    return op;
}

CtBulk *ct_bulk_op2(CtBulkBuilder *r, CtPrim prim, CtBulk *t, CtBulk *u) {
    CtBulk *op = ct_bulk_op1(r, prim, t);
    op->as.op.args[1] = u;
    op->as.op.count = 2;
    return op;
}

CtBulk *ct_bulk_logic(CtBulkBuilder *r, CtLogic logic, CtBulk *t, CtBulk *u) {
    CtBulk *term = new_term(r, BULK_LOGIC, ELEMENT_BOOL, t->shape);
    term->as.logic.logic = logic;
    term->as.logic.args[0] = t;
    term->as.logic.args[1] = u;
    return term;
}

static CtBulk *new_move(CtBulkBuilder *r, CtBulkKind kind, CtShape shape, CtBulk *t, CtIndexing f,
                        CtSourceRange range) {
    CtBulk **ix = CT_NEW_ARRAY(r->arena, CtBulk *, f.count);
    CtBulkVar **vars = CT_NEW_ARRAY(r->arena, CtBulkVar *, f.var_count);
    for (uint32_t i = 0; i < f.count; i++) ix[i] = f.ix[i];
    for (uint32_t i = 0; i < f.var_count; i++) vars[i] = f.vars[i];
    CtBulk *move = new_term(r, kind, t->element, shape);
    move->range = range;
    move->as.move.t = t;
    move->as.move.f = (CtIndexing){vars, f.var_count, ix, f.count, f.live};
    return move;
}

CtBulk *ct_bulk_index(CtBulkBuilder *r, CtBulk *t, CtBulk *const *ix, uint32_t count, CtBulk *live,
                      CtSourceRange range) {
    CtIndexing f = {.ix = ix, .count = count, .live = live};
    return new_move(r, BULK_INDEX, ct_bulk_shape_tail(t->shape, count), t, f, range);
}

CtBulk *ct_bulk_reduce(CtBulkBuilder *r, CtReduction reduction, CtBulk *t, CtSourceRange range) {
    bool is_index = reduction == REDUCE_ARGMAX || reduction == REDUCE_ARGMIN;
    if (reduction == REDUCE_PLAIN_SUM && t->element != ELEMENT_REAL) reduction = REDUCE_SUM;
    CtBulk *reduce = new_term(r, BULK_REDUCE, is_index ? ELEMENT_INT : t->element, ct_bulk_shape_tail(t->shape, 1));
    reduce->range = range;
    reduce->as.reduce.reduction = reduction;
    reduce->as.reduce.t = t;
    return reduce;
}

CtBulk *ct_bulk_gather(CtBulkBuilder *r, CtShape shape, CtBulk *t, CtIndexing f, CtSourceRange range) {
    return new_move(r, BULK_GATHER, shape, t, f, range);
}

CtBulk *ct_bulk_scatter(CtBulkBuilder *r, CtShape shape, CtBulk *t, CtIndexing f, CtSourceRange range) {
    return new_move(r, BULK_SCATTER, shape, t, f, range);
}

CtBulk *ct_bulk_literal(CtBulkBuilder *r, CtBulk *const *items, uint32_t count) {
    CtBulk **copy = CT_NEW_ARRAY(r->arena, CtBulk *, count);
    for (uint32_t i = 0; i < count; i++) copy[i] = items[i];
    CtBulk *t = new_term(r, BULK_LITERAL, items[0]->element, ct_bulk_shape_cons(r->arena, count, items[0]->shape));
    t->as.literal.items = copy;
    t->as.literal.count = count;
    return t;
}

CtBulk *ct_bulk_replicate(CtBulkBuilder *r, int64_t k, CtBulk *t) {
    CtBulk *term = new_term(r, BULK_REPLICATE, t->element, ct_bulk_shape_cons(r->arena, k, t->shape));
    term->as.t = t;
    return term;
}

CtBulk *ct_bulk_transpose(CtBulkBuilder *r, const uint32_t *permutation, uint32_t count, CtBulk *t) {
    uint32_t *copy = CT_NEW_ARRAY(r->arena, uint32_t, count);
    int64_t *sizes = CT_NEW_ARRAY(r->arena, int64_t, t->shape.rank);
    for (uint32_t i = 0; i < t->shape.rank; i++) sizes[i] = t->shape.sizes[i < count ? permutation[i] : i];
    for (uint32_t i = 0; i < count; i++) copy[i] = permutation[i];
    CtBulk *term = new_term(r, BULK_TRANSPOSE, t->element, (CtShape){t->shape.rank, sizes});
    term->as.transpose.permutation = copy;
    term->as.transpose.count = count;
    term->as.transpose.t = t;
    return term;
}

CtBulk *ct_bulk_reshape(CtBulkBuilder *r, CtShape shape, CtBulk *t) {
    CtBulk *term = new_term(r, BULK_RESHAPE, t->element, shape);
    term->as.t = t;
    return term;
}

CtBulk *ct_bulk_build(CtBulkBuilder *r, int64_t k, CtBulkVar *i, CtBulk *body) {
    CtBulk *t = new_term(r, BULK_BUILD, body->element, ct_bulk_shape_cons(r->arena, k, body->shape));
    t->as.build.var = i;
    t->as.build.body = body;
    return t;
}

CtBulk *ct_bulk_one_hot(CtBulkBuilder *r, CtShape shape, CtBulk *const *ix, uint32_t count, CtBulk *t) {
    return new_move(r, BULK_ONE_HOT, shape, t, (CtIndexing){.ix = ix, .count = count}, CT_NO_RANGE);
}

CtBulk *ct_bulk_stop(CtBulkBuilder *r, CtBulk *t) {
    CtBulk *term = new_term(r, BULK_STOP, t->element, t->shape);
    term->as.t = t;
    return term;
}

CtBulk *ct_bulk_share(CtBulkBuilder *r, uint32_t id, CtBulk *t) {
    CtBulk *term = new_term(r, BULK_SHARE, t->element, t->shape);
    term->as.share.id = id;
    term->as.share.t = t;
    return term;
}

CtBulk *ct_bulk_check(CtBulkBuilder *r, CtBulk *test, CtErrorCode code, const char *text, CtSourceRange range,
                      CtBulk *t) {
    CtBulk *check = new_term(r, BULK_CHECK, t->element, t->shape);
    check->range = range;
    check->as.check.test = test;
    check->as.check.t = t;
    check->as.check.code = code;
    check->as.check.text = text;
    check->as.check.at = r->vars;
    return check;
}

CtBulk *ct_bulk_loop(CtBulkBuilder *r, CtBulkLoop *loop, CtBulk *const *args, uint32_t result) {
    CtBulk *of = loop->results[result];
    bool is_state = result < loop->count.states;
    CtShape shape = is_state ? of->shape : ct_bulk_shape_cons(r->arena, loop->steps, of->shape);
    CtBulk *t = new_term(r, BULK_LOOP, of->element, shape);
    CtBulk **copy = CT_NEW_ARRAY(r->arena, CtBulk *, ct_bulk_loop_params(loop));
    for (uint32_t i = 0; i < ct_bulk_loop_params(loop); i++) copy[i] = args[i];
    t->as.loop.loop = loop;
    t->as.loop.args = copy;
    t->as.loop.result = result;
    return t;
}

/* ---- traversal ---- */

typedef struct Parts {
    CtBulkVisit *visit;
    void *data;
    bool changed;
} Parts;

static void visit_part(Parts *p, CtBulk **part) {
    if (*part == NULL) return;
    CtBulk *now = p->visit(p->data, *part);
    p->changed |= now != *part;
    *part = now;
}

static CtBulk *const *visit_parts(CtArena *arena, Parts *p, CtBulk *const *parts, uint32_t count) {
    CtBulk **copy = CT_NEW_ARRAY(arena, CtBulk *, count);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = parts[i];
        visit_part(p, &copy[i]);
    }
    return copy;
}

CtBulk *ct_bulk_map(CtBulkBuilder *r, CtBulk *t, CtBulkVisit *visit, void *data) {
    Parts p = {visit, data, false};
    CtBulk new = *t;
    switch (t->kind) {
    case BULK_CONST:
    case BULK_VAR: return t;
    case BULK_LET:
        visit_part(&p, &new.as.let.rhs);
        visit_part(&p, &new.as.let.body);
        break;
    case BULK_COND:
        visit_part(&p, &new.as.cond.test);
        visit_part(&p, &new.as.cond.yes);
        visit_part(&p, &new.as.cond.no);
        break;
    case BULK_OP:
        for (uint32_t i = 0; i < t->as.op.count; i++) visit_part(&p, &new.as.op.args[i]);
        break;
    case BULK_LOGIC:
        visit_part(&p, &new.as.logic.args[0]);
        visit_part(&p, &new.as.logic.args[1]);
        break;
    case BULK_REDUCE: visit_part(&p, &new.as.reduce.t); break;
    case BULK_INDEX:
    case BULK_GATHER:
    case BULK_SCATTER:
    case BULK_ONE_HOT:
        visit_part(&p, &new.as.move.t);
        new.as.move.f.ix = visit_parts(r->arena, &p, t->as.move.f.ix, t->as.move.f.count);
        visit_part(&p, &new.as.move.f.live);
        break;
    case BULK_LITERAL:
        new.as.literal.items = visit_parts(r->arena, &p, t->as.literal.items, t->as.literal.count);
        break;
    case BULK_REPLICATE:
    case BULK_STOP:
    case BULK_RESHAPE: visit_part(&p, &new.as.t); break;
    case BULK_TRANSPOSE: visit_part(&p, &new.as.transpose.t); break;
    case BULK_BUILD: visit_part(&p, &new.as.build.body); break;
    case BULK_SHARE: visit_part(&p, &new.as.share.t); break;
    case BULK_CHECK:
        visit_part(&p, &new.as.check.test);
        visit_part(&p, &new.as.check.t);
        break;
    case BULK_LOOP:
        new.as.loop.args = visit_parts(r->arena, &p, t->as.loop.args, ct_bulk_loop_params(t->as.loop.loop));
        break;
    }
    if (!p.changed) return t;
    CtBulk *term = CT_NEW(r->arena, CtBulk);
    *term = new;
    return term;
}

bool ct_bulk_is_iota(const CtBulk *t, int64_t count) {
    if (t->element != ELEMENT_INT || t->as.constant.integers == NULL) return false;
    for (int64_t i = 0; i < count; i++)
        if (t->as.constant.integers[i] != i) return false;
    return true;
}

/* ---- substitution ---- */

typedef struct Substitution {
    CtBulkBuilder *r;
    const CtMap *replace; /* the substitution */
    /* CtBulkVar * -> CtBulk *: new names of enclosing binders, which take precedence; NULL behind their scope. */
    CtMap fresh;
} Substitution;

static CtBulk *substitute(void *data, CtBulk *t);

/* Renames a binder. Returns the outer meaning of its name, to be restored. */
static CtBulkVar *rename_binder(Substitution *s, CtBulkVar *var, CtBulk **before) {
    CtBulkVar *fresh = ct_bulk_new_var(s->r, var->name, var->element, var->shape);
    *before = ct_map_get(&s->fresh, ct_key(var));
    ct_map_set(s->r->arena, &s->fresh, ct_key(var), ct_bulk_var(s->r, fresh));
    return fresh;
}

static void put_back(Substitution *s, CtBulkVar *var, CtBulk *before) {
    ct_map_set(s->r->arena, &s->fresh, ct_key(var), before);
}

static CtBulk *substitute_move(Substitution *s, CtBulk *t) {
    CtArena *arena = s->r->arena;
    const CtIndexing *f = &t->as.move.f;
    CtBulk *source = substitute(s, t->as.move.t);
    CtBulkVar **vars = CT_NEW_ARRAY(arena, CtBulkVar *, f->var_count);
    CtBulk **before = CT_NEW_ARRAY(arena, CtBulk *, f->var_count);
    CtBulk **ix = CT_NEW_ARRAY(arena, CtBulk *, f->count);
    for (uint32_t i = 0; i < f->var_count; i++) vars[i] = rename_binder(s, f->vars[i], &before[i]);
    for (uint32_t i = 0; i < f->count; i++) ix[i] = substitute(s, f->ix[i]);
    CtBulk *live = f->live == NULL ? NULL : substitute(s, f->live);
    for (uint32_t i = f->var_count; i-- > 0;) put_back(s, f->vars[i], before[i]);
    return new_move(s->r, t->kind, t->shape, source, (CtIndexing){vars, f->var_count, ix, f->count, live}, t->range);
}

static CtBulk *substitute(void *data, CtBulk *t) {
    Substitution *s = data;
    CtBulk *before;
    switch (t->kind) {
    case BULK_VAR: {
        CtBulk *by = ct_map_get(&s->fresh, ct_key(t->as.var));
        if (by == NULL) by = ct_map_get(s->replace, ct_key(t->as.var));
        return by != NULL ? by : t;
    }
    case BULK_LET: {
        CtBulk *rhs = substitute(s, t->as.let.rhs);
        CtBulkVar *var = rename_binder(s, t->as.let.var, &before);
        CtBulk *body = substitute(s, t->as.let.body);
        put_back(s, t->as.let.var, before);
        return ct_bulk_let(s->r, var, rhs, body);
    }
    case BULK_BUILD: {
        CtBulkVar *var = rename_binder(s, t->as.build.var, &before);
        CtBulk *body = substitute(s, t->as.build.body);
        put_back(s, t->as.build.var, before);
        return ct_bulk_build(s->r, t->shape.sizes[0], var, body);
    }
    case BULK_INDEX:
    case BULK_GATHER:
    case BULK_SCATTER:
    case BULK_ONE_HOT: return substitute_move(s, t);
    default: return ct_bulk_map(s->r, t, substitute, s);
    }
}

CtBulk *ct_bulk_substitute(CtBulkBuilder *r, CtBulk *t, const CtMap *replace) {
    Substitution s = {.r = r, .replace = replace};
    return substitute(&s, t);
}

/* ---- occurrences ---- */

static bool any_mentions(CtBulk *const *terms, uint32_t count, const CtBulkVar *var) {
    for (uint32_t i = 0; i < count; i++)
        if (ct_bulk_mentions(terms[i], var)) return true;
    return false;
}

static bool indexing_mentions(const CtIndexing *f, const CtBulkVar *var) {
    for (uint32_t i = 0; i < f->var_count; i++)
        if (f->vars[i] == var) return false;
    return any_mentions(f->ix, f->count, var) || (f->live != NULL && ct_bulk_mentions(f->live, var));
}

bool ct_bulk_mentions(CtBulk *t, const CtBulkVar *var) {
    switch (t->kind) {
    case BULK_CONST: return false;
    case BULK_VAR: return t->as.var == var;
    case BULK_LET:
        return ct_bulk_mentions(t->as.let.rhs, var) || (t->as.let.var != var && ct_bulk_mentions(t->as.let.body, var));
    case BULK_COND: {
        CtBulk *parts[] = {t->as.cond.test, t->as.cond.yes, t->as.cond.no};
        return any_mentions(parts, 3, var);
    }
    case BULK_OP: return any_mentions(t->as.op.args, t->as.op.count, var);
    case BULK_LOGIC: return any_mentions(t->as.logic.args, t->as.logic.logic == LOGIC_NOT ? 1 : 2, var);
    case BULK_REDUCE: return ct_bulk_mentions(t->as.reduce.t, var);
    case BULK_INDEX:
    case BULK_GATHER:
    case BULK_SCATTER:
    case BULK_ONE_HOT: return ct_bulk_mentions(t->as.move.t, var) || indexing_mentions(&t->as.move.f, var);
    case BULK_LITERAL: return any_mentions(t->as.literal.items, t->as.literal.count, var);
    case BULK_REPLICATE:
    case BULK_STOP:
    case BULK_RESHAPE: return ct_bulk_mentions(t->as.t, var);
    case BULK_TRANSPOSE: return ct_bulk_mentions(t->as.transpose.t, var);
    case BULK_BUILD: return t->as.build.var != var && ct_bulk_mentions(t->as.build.body, var);
    case BULK_SHARE: return ct_bulk_mentions(t->as.share.t, var);
    case BULK_CHECK: return ct_bulk_mentions(t->as.check.test, var) || ct_bulk_mentions(t->as.check.t, var);
    case BULK_LOOP: return any_mentions(t->as.loop.args, ct_bulk_loop_params(t->as.loop.loop), var);
    }
    return false;
}
