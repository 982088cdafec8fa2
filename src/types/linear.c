/* Warnings about custom derivative rules that are certainly not linear. In `withVjp f rule` the pullback must be linear
 * in the cotangent; in `withJvp f rule` the tangent of the result must be linear in the tangent of the point; of
 * `withRules` both. From a
 * rule that is not, the differentiation methods compute different results (docs/methods.md), so the warning points at
 * the first nonlinear expression.
 *
 * An abstract interpretation gives each expression of the rule a Degree in the cotangent (or tangent). It reports only
 * what is certain, such as a product of two linear expressions, a nonlinear function of one, or a nonzero literal added
 * to one. Other expressions (calls of unknown functions, conditions that depend on the cotangent) are UNKNOWN, and not
 * reported. */
#include "types/internal.h"

enum { DEEPEST = 100 };

/* How an expression depends on the cotangent (withVjp) or on the tangent (withJvp). FIXED: not at all; BENT: certainly
 * not linearly. */
typedef enum Degree { FIXED, LINEAR, BENT, UNKNOWN } Degree;

typedef struct Linear {
    CtTypes *types;
    CtMap degrees;      /* CtEntity * of a pattern variable -> its Degree + 1 */
    const CtExpr *bent; /* the first nonlinear expression, or NULL */
    uint32_t depth;
} Linear;

static Degree degree(Linear *l, const CtExpr *e);

static Degree bends(Linear *l, const CtExpr *e) {
    if (l->bent == NULL) l->bent = e;
    return BENT;
}

static void bind(Linear *l, const CtPat *pat, Degree d) {
    if (pat->kind == PAT_VAR || pat->kind == PAT_AS)
        ct_map_set(l->types->arena, &l->degrees, ct_key(pat->entity), (void *)(uintptr_t)(d + 1));
    for (uint32_t i = 0; i < pat->part_count; i++) bind(l, pat->parts[i], d);
}

/* ---- bodies ---- */

/* The body of a right-hand side without guards; NULL if there are guards. */
static const CtExpr *plain_body(const CtRhs *rhs) {
    return rhs->guarded_count == 1 && rhs->guarded[0].guard_count == 0 ? rhs->guarded[0].body : NULL;
}

/* The clause of a binding that has one clause only, of `pats` patterns; NULL for other bindings. */
static const CtClause *only_clause(const CtBinding *binding, uint32_t pats) {
    if (binding == NULL || binding->clause_count != 1 || binding->clauses[0].pat_count != pats) return NULL;
    return &binding->clauses[0];
}

static const CtExpr *without_let(const CtExpr *e) {
    while (e->kind == EXPR_LET || e->kind == EXPR_ANNOT) e = e->parts[0];
    return e;
}

/* ---- names ---- */

/* The name of a variable that the library defines; NULL for other expressions, and for the program's own names. */
static const char *library_name(const Linear *l, const CtExpr *e) {
    if (e->kind != EXPR_VAR || e->entity == NULL || e->entity->kind == ENTITY_LOCAL) return NULL;
    const CtSource *source = &l->types->context->sources.items[e->entity->range.source];
    return source->is_library ? e->entity->name->text : NULL;
}

static bool one_of(const char *name, const char *const *names) {
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

/* What a variable of a pattern is bound to, where tuples are matched with tuples; NULL if that is a part of another
 * value. */
static const CtExpr *component(const CtPat *pat, const CtExpr *value, const CtEntity *entity) {
    value = without_let(value);
    if (pat->kind == PAT_VAR && pat->entity == entity) return value;
    if (pat->kind != PAT_TUPLE || value->kind != EXPR_TUPLE || pat->part_count != value->part_count) return NULL;
    const CtExpr *found = NULL;
    for (uint32_t i = 0; i < pat->part_count && found == NULL; i++)
        found = component(pat->parts[i], value->parts[i], entity);
    return found;
}

/* Whether the part of a value is linear is not known where the whole is not. */
static Degree of_part(Degree whole) { return whole == BENT ? UNKNOWN : whole; }

static Degree of_variable(Linear *l, const CtExpr *e) {
    const CtEntity *entity = e->entity;
    uintptr_t known = entity != NULL ? (uintptr_t)ct_map_get(&l->degrees, ct_key(entity)) : 0;
    if (known != 0) return (Degree)(known - 1);
    if (entity == NULL) return UNKNOWN;
    if (entity->kind != ENTITY_LOCAL) return FIXED;
    if (entity->pattern_binding != NULL) {
        const CtClause *clause = only_clause(entity->pattern_binding, 0);
        const CtExpr *body = clause != NULL ? plain_body(&clause->rhs) : NULL;
        const CtExpr *part = body != NULL ? component(entity->pattern_binding->pat, body, entity) : NULL;
        return part != NULL ? degree(l, part) : body != NULL ? of_part(degree(l, body)) : UNKNOWN;
    }
    if (entity->binding == NULL) return FIXED; /* a parameter of a function that encloses the rule */
    const CtClause *clause = only_clause(entity->binding, 0);
    const CtExpr *body = clause != NULL ? plain_body(&clause->rhs) : NULL;
    return body != NULL ? degree(l, body) : UNKNOWN;
}

/* ---- operations ---- */

static bool is_zero(const CtExpr *e) {
    return e->kind == EXPR_LIT && e->lit.kind <= LIT_FRACTION && e->lit.fraction == 0;
}

static Degree worst(Degree a, Degree b) {
    if (a == BENT || b == BENT) return BENT;
    return a == UNKNOWN || b == UNKNOWN ? UNKNOWN : a == LINEAR || b == LINEAR ? LINEAR : FIXED;
}

/* The degree of an expression where a linear one is required: as a result, or as a summand or component beside a linear
 * expression. A nonzero literal is nonlinear there, and the literal zero linear; any other FIXED expression becomes
 * UNKNOWN, because its value may be zero. So it is for each component of a tuple. */
static Degree as_linear(Linear *l, const CtExpr *e, Degree d) {
    const CtExpr *result = without_let(e);
    if (d == UNKNOWN && result->kind == EXPR_TUPLE) {
        Degree all = LINEAR;
        for (uint32_t i = 0; i < result->part_count; i++)
            all = worst(all, as_linear(l, result->parts[i], degree(l, result->parts[i])));
        return all;
    }
    if (d != FIXED) return d;
    if (e->kind == EXPR_LIT && !is_zero(e)) return bends(l, e);
    return is_zero(e) ? LINEAR : UNKNOWN;
}

static Degree sum(Linear *l, const CtExpr *a, const CtExpr *b, Degree x, Degree y) {
    if (x == FIXED && y == FIXED) return FIXED;
    return worst(a != NULL ? as_linear(l, a, x) : x, b != NULL ? as_linear(l, b, y) : y);
}

static Degree product(Linear *l, const CtExpr *e, Degree x, Degree y) {
    if (x == FIXED || y == FIXED) return x == FIXED ? y : x;
    if (x == UNKNOWN || y == UNKNOWN) return UNKNOWN;
    return bends(l, e);
}

static Degree power(Linear *l, const CtExpr *e, const CtExpr *exponent, Degree x, Degree y) {
    if (x == FIXED && y == FIXED) return FIXED;
    bool literal = exponent != NULL && exponent->kind == EXPR_LIT && exponent->lit.kind <= LIT_FRACTION;
    return x == LINEAR && literal && exponent->lit.fraction != 1 ? bends(l, e) : UNKNOWN;
}

/* The degree of `a op b` for operands of degrees x and y; `a` or `b` is NULL for an operand that is an argument of a
 * function or section. */
static Degree binary(Linear *l, const CtExpr *e, const char *op, const CtExpr *a, const CtExpr *b, Degree x, Degree y) {
    static const char *const sums[] = {"+", "-", "subtract", NULL}, *const powers[] = {"^", "^^", "**", NULL};
    static const char *const extremes[] = {"max", "min", NULL};
    if (one_of(op, sums)) return sum(l, a, b, x, y);
    if (strcmp(op, "*") == 0) return product(l, e, x, y);
    if (strcmp(op, "clamp") == 0 && x == FIXED && y == LINEAR) return bends(l, e);
    if (strcmp(op, "/") == 0) return y == FIXED ? x : x == UNKNOWN || y == UNKNOWN ? UNKNOWN : bends(l, e);
    if (one_of(op, powers)) return power(l, e, b, x, y);
    if (x == FIXED && y == FIXED) return FIXED;
    bool bounds = one_of(op, extremes) && (x == FIXED || y == FIXED) && x != UNKNOWN && y != UNKNOWN;
    return bounds ? bends(l, e) : UNKNOWN;
}

static Degree unary(Linear *l, const CtExpr *e, const char *op, Degree x) {
    static const char *const linear[] = {"negate", "sum", "fst", "snd", "realToFrac", "reverse", NULL};
    static const char *const bent[] = {"recip", "abs",   "signum", "exp",   "log",  "sqrt", "sin",   "cos",
                                       "tan",   "asin",  "acos",   "atan",  "sinh", "cosh", "tanh",  "asinh",
                                       "acosh", "atanh", "expm1",  "log1p", "cbrt", "log2", "log10", NULL};
    if (x == FIXED || one_of(op, linear)) return x;
    return x == LINEAR && one_of(op, bent) ? bends(l, e) : UNKNOWN;
}

/* The degree of the function `f` applied to arguments of the given degrees, such as the elements for `map f`. */
static Degree applied(Linear *l, const CtExpr *f, const Degree *args, uint32_t count) {
    if (f->kind == EXPR_LAM && f->pat_count == count) {
        for (uint32_t i = 0; i < count; i++) bind(l, f->pats[i], args[i]);
        return as_linear(l, f->parts[0], degree(l, f->parts[0]));
    }
    if (f->kind == EXPR_LEFT_SECTION && count == 1) {
        const char *op = library_name(l, f->parts[1]);
        return op != NULL ? binary(l, f, op, f->parts[0], NULL, degree(l, f->parts[0]), args[0]) : UNKNOWN;
    }
    if (f->kind == EXPR_RIGHT_SECTION && count == 1) {
        const char *op = library_name(l, f->parts[0]);
        return op != NULL ? binary(l, f, op, NULL, f->parts[1], args[0], degree(l, f->parts[1])) : UNKNOWN;
    }
    if (f->kind == EXPR_APP && f->part_count == 2 && count == 1) { /* map g, clamp ends */
        const char *map = library_name(l, f->parts[0]);
        if (map != NULL && strcmp(map, "clamp") == 0)
            return binary(l, f, map, f->parts[1], NULL, degree(l, f->parts[1]), args[0]);
        bool maps = map != NULL && (strcmp(map, "map") == 0 || strcmp(map, "fmap") == 0);
        return maps ? applied(l, f->parts[1], args, 1) : UNKNOWN;
    }
    const char *name = library_name(l, f);
    if (name == NULL || count > 2) return UNKNOWN;
    return count == 1 ? unary(l, f, name, args[0]) : binary(l, f, name, NULL, NULL, args[0], args[1]);
}

static Degree of_all(Linear *l, CtExpr *const *parts, uint32_t count, bool side_by_side) {
    Degree all = FIXED;
    bool varies = false;
    for (uint32_t i = 0; i < count; i++) {
        Degree d = degree(l, parts[i]);
        varies |= d != FIXED;
        all = worst(all, d);
    }
    if (!varies || !side_by_side) return all;
    for (uint32_t i = 0; i < count; i++) all = worst(all, as_linear(l, parts[i], degree(l, parts[i])));
    return all;
}

/* A tuple is taken apart, or is a result, of which as_linear says more: nothing is certain of one of different kinds.
 */
static Degree tuple(Linear *l, const CtExpr *e) {
    Degree all = FIXED;
    bool fixed = false; /* a component beside others that vary */
    for (uint32_t i = 0; i < e->part_count; i++) {
        Degree d = degree(l, e->parts[i]);
        fixed |= d == FIXED && !is_zero(e->parts[i]);
        all = worst(all, d);
    }
    return all == LINEAR && fixed ? UNKNOWN : of_part(all);
}

static Degree application(Linear *l, const CtExpr *e) {
    const CtExpr *f = e->parts[0];
    uint32_t count = e->part_count - 1;
    const char *name = library_name(l, f);
    if (name != NULL && (strcmp(name, "map") == 0 || strcmp(name, "fmap") == 0) && count == 2) {
        Degree d = degree(l, e->parts[2]);
        if (d == LINEAR) return applied(l, e->parts[1], &d, 1);
    } else if (name != NULL && strcmp(name, "zipWith") == 0 && count == 3) {
        Degree d[2] = {degree(l, e->parts[2]), degree(l, e->parts[3])};
        if (worst(d[0], d[1]) == LINEAR) return applied(l, e->parts[1], d, 2);
    } else if (name != NULL && count == 2) {
        Degree x = degree(l, e->parts[1]), y = degree(l, e->parts[2]);
        return binary(l, e, name, e->parts[1], e->parts[2], x, y);
    } else if (name != NULL && count == 1) {
        return unary(l, e, name, degree(l, e->parts[1]));
    }
    if (f->kind == EXPR_CON) return of_all(l, e->parts + 1, count, true);
    bool closed = f->kind == EXPR_VAR && f->entity != NULL && (f->entity->kind != ENTITY_LOCAL || !f->entity->binding);
    if (!closed || degree(l, f) != FIXED) return UNKNOWN;
    return of_all(l, e->parts + 1, count, false) == FIXED ? FIXED : UNKNOWN;
}

/* Gives the variables of a pattern their degrees: those of the components, where a tuple is matched with a tuple. */
static void bind_value(Linear *l, const CtPat *pat, const CtExpr *value, Degree d) {
    value = without_let(value);
    bool parts = pat->kind == PAT_TUPLE && value->kind == EXPR_TUPLE && pat->part_count == value->part_count;
    if (!parts) bind(l, pat, of_part(d));
    for (uint32_t i = 0; parts && i < pat->part_count; i++)
        bind_value(l, pat->parts[i], value->parts[i], degree(l, value->parts[i]));
}

static Degree choice(Linear *l, const CtExpr *e) {
    Degree of = degree(l, e->parts[0]), all = FIXED;
    bool apart = e->alt_count == 1 && (of == LINEAR || without_let(e->parts[0])->kind == EXPR_TUPLE);
    if (of != FIXED && !apart) return UNKNOWN;
    Degree *degrees = CT_NEW_ARRAY(l->types->arena, Degree, e->alt_count);
    for (uint32_t i = 0; i < e->alt_count; i++) {
        const CtExpr *body = plain_body(&e->alts[i].rhs);
        bind_value(l, e->alts[i].pat, e->parts[0], of);
        if (body == NULL) return UNKNOWN;
        all = worst(all, degrees[i] = degree(l, body));
    }
    for (uint32_t i = 0; all != FIXED && i < e->alt_count; i++)
        all = worst(all, as_linear(l, plain_body(&e->alts[i].rhs), degrees[i]));
    return all;
}

static Degree work_out(Linear *l, const CtExpr *e) {
    switch (e->kind) {
    case EXPR_VAR: return of_variable(l, e);
    case EXPR_CON:
    case EXPR_LIT: return FIXED;
    case EXPR_APP: return application(l, e);
    case EXPR_NEG:
    case EXPR_ANNOT:
    case EXPR_LET: return degree(l, e->parts[0]);
    case EXPR_IF: {
        if (degree(l, e->parts[0]) != FIXED) return UNKNOWN;
        Degree yes = degree(l, e->parts[1]), no = degree(l, e->parts[2]);
        if (yes == FIXED && no == FIXED) return FIXED;
        return worst(as_linear(l, e->parts[1], yes), as_linear(l, e->parts[2], no));
    }
    case EXPR_CASE: return choice(l, e);
    case EXPR_TUPLE: return tuple(l, e);
    case EXPR_LIST:
    case EXPR_ARRAY: return of_all(l, e->parts, e->part_count, true);
    case EXPR_LAM:
    case EXPR_CHAIN:
    case EXPR_TUPLE_CON:
    case EXPR_RANGE:
    case EXPR_LEFT_SECTION:
    case EXPR_RIGHT_SECTION:
    case EXPR_RECORD:
    case EXPR_UPDATE:
    case EXPR_COMPREHENSION:
    case EXPR_POLY:
    case EXPR_DO: break;
    }
    return UNKNOWN;
}

static Degree degree(Linear *l, const CtExpr *e) {
    if (l->depth == DEEPEST) return UNKNOWN;
    l->depth++;
    Degree d = work_out(l, e);
    l->depth--;
    return d;
}

/* ---- rules ---- */

/* The patterns and the body of a λ, or of a named function with one clause, of `count` parameters; false for other
 * expressions. */
static bool function_of(const CtExpr *e, uint32_t count, CtPat **const **pats, const CtExpr **body) {
    e = without_let(e);
    if (e->kind == EXPR_LAM && e->pat_count == count) {
        *pats = (CtPat * *const *)&e->pats;
        *body = e->parts[0];
        return true;
    }
    if (e->kind != EXPR_VAR || e->entity == NULL) return false;
    const CtClause *clause = only_clause(e->entity->binding, count);
    *body = clause != NULL ? plain_body(&clause->rhs) : NULL;
    if (*body != NULL) *pats = (CtPat * *const *)&clause->pats;
    return *body != NULL;
}

/* The second component of the pair that is a rule's result, or NULL if the result is not written as a pair. */
static const CtExpr *second(const CtExpr *body) {
    body = without_let(body);
    return body->kind == EXPR_TUPLE && body->part_count == 2 ? body->parts[1] : NULL;
}

static void examine_rule(CtTypes *types, const CtExpr *call, const CtExpr *rule, bool by_pullback) {
    Linear l = {.types = types};
    CtPat **const *pats;
    const CtExpr *body;
    Degree one = LINEAR, d = UNKNOWN;
    if (!function_of(rule, by_pullback ? 1 : 2, &pats, &body) || (body = second(body)) == NULL) return;
    if (!by_pullback) {
        bind(&l, (*pats)[1], LINEAR);
        d = as_linear(&l, body, degree(&l, body));
    } else if (function_of(body, 1, &pats, &body)) {
        bind(&l, (*pats)[0], LINEAR);
        d = as_linear(&l, body, degree(&l, body));
    } else {
        d = applied(&l, body, &one, 1);
    }
    if (d != BENT || l.bent == NULL) return;
    CtDiag *diag = ct_warning(types->context, CT_E0327, l.bent->range, "the %s that this rule gives is not linear here",
                              by_pullback ? "cotangent" : "tangent");
    ct_note(types->context, diag, call->parts[0]->range, "the rule for a derivative is given here");
    ct_help(
        types->context, diag,
        "multiply what arrives by what does not depend on it, and add; of another rule methods make different things");
}

static void examine(CtTypes *types, const CtExpr *call) {
    bool by_tangent = strcmp(call->parts[0]->entity->primitive, "deriv.withJvp") == 0;
    bool both = strcmp(call->parts[0]->entity->primitive, "deriv.withRules") == 0;
    examine_rule(types, call, call->parts[2], !by_tangent);
    if (both && call->part_count > 3) examine_rule(types, call, call->parts[3], false);
}

void ct_types_note_rule(CtTypes *types, const CtExpr *call) {
    const CtExpr *f = call->parts[0];
    if (types->is_library || call->part_count < 3 || f->kind != EXPR_VAR || f->entity == NULL) return;
    const char *primitive = f->entity->kind == ENTITY_PRIMITIVE ? f->entity->primitive : NULL;
    if (primitive == NULL || (strcmp(primitive, "deriv.withVjp") != 0 && strcmp(primitive, "deriv.withJvp") != 0 &&
                              strcmp(primitive, "deriv.withRules") != 0))
        return;
    ct_push(types->arena, &types->rules, (CtExpr *)call);
}

void ct_types_check_rules(CtTypes *types) {
    for (uint32_t i = 0; i < types->rules.count; i++) examine(types, types->rules.items[i]);
}
