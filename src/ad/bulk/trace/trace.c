/* The tracer: from Core to the array language of BULK 2025, by running a function on abstract values for its arguments.
 *
 * What is known at trace time (shapes, integers, constructors, functions) is computed; everything else becomes a term.
 * So ordinary programs are brought into the language by inlining, specialisation to shapes and unrolling. A branch on
 * an unknown number is traced both ways, and a strict `cond` selects; the conditions on the way to a term say under
 * which condition its indices are needed, and a failure is one.
 *
 * Results of operations are bound to names, in the body of the innermost build1 on whose index they depend. */
#include "ad/bulk/trace/internal.h"

enum { MAX_DEPTH = 1000, MAX_TERMS = 3000, MAX_CALLS = 200000 };

/* ---- variables and functions ---- */

/* Gives a term the first name that the program uses for it, except for the names of a point's parts that the command
 * makes up (driver/entry.c). */
static void name_after(Tracer *tr, const CtVar *var, const CtAbstract *value) {
    if (value->kind == ABSTRACT_ROWS) name_after(tr, var, value->as.rows.element);
    if (value->kind != ABSTRACT_TERM || value->as.term->kind != BULK_VAR) return;
    CtBulkVar *named = value->as.term->as.var;
    if (ct_map_has(&tr->named, named->id) || strncmp(var->name->text, "argument'", 9) == 0) return;
    ct_map_set(tr->arena, &tr->named, named->id, named);
    named->name = var->name->text;
}

const Env *ct_bulk_trace_bind(Tracer *tr, const Env *env, const CtVar *var, CtAbstract *value) {
    if (var == NULL) return env;
    if (value != NULL) name_after(tr, var, value);
    Env *made = CT_NEW(tr->arena, Env);
    *made = (Env){var, value, env};
    return made;
}

static CtAbstract *closure(CtBulkBuilder *r, CtLam *lam, const Env *env) {
    CtAbstract *made = ct_bulk_abstract_new(r, ABSTRACT_CLOSURE);
    made->as.closure.lam = lam;
    made->as.closure.env = env;
    return made;
}

/* The functions of a recursive group. */
static const Env *group(CtBulkBuilder *r, const Env *env, CtVar *const *vars, CtLam *const *lams, uint32_t count) {
    Env *frames = CT_NEW_ARRAY(r->arena, Env, count);
    for (uint32_t i = 0; i < count; i++) frames[i] = (Env){vars[i], NULL, i == 0 ? env : &frames[i - 1]};
    const Env *inner = count > 0 ? &frames[count - 1] : env;
    for (uint32_t i = 0; i < count; i++) frames[i].value = closure(r, lams[i], inner);
    return inner;
}

CtAbstract *ct_bulk_abstract_closure(CtBulkBuilder *r, CtLam *lam, const CtVar *const *vars, CtAbstract *const *values,
                                     uint32_t count) {
    Tracer tr = {.arena = r->arena};
    const Env *env = NULL;
    for (uint32_t i = 0; i < count; i++) env = ct_bulk_trace_bind(&tr, env, vars[i], values[i]);
    return closure(r, lam, group(r, env, lam->group_vars, lam->group, lam->group_count));
}

static bool is_user(const Tracer *tr, CtSourceRange range) {
    return range.source != 0 && !tr->p->context->sources.items[range.source].is_library;
}

CtSourceRange ct_bulk_trace_place(const Tracer *tr, CtSourceRange range) {
    return is_user(tr, range) ? range : tr->place;
}

CtAbstract *ct_bulk_trace_refuse(Tracer *tr, CtSourceRange range, const char *what) {
    if (tr->refusal->what == NULL) *tr->refusal = (CtBulkRefusal){ct_bulk_trace_place(tr, range), what};
    return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
}

bool ct_bulk_trace_refused(const Tracer *tr) { return tr->refusal->what != NULL; }

/* ---- names ---- */

static bool is_atom(const CtBulk *t) { return t->kind == BULK_VAR || t->kind == BULK_CONST; }

typedef struct Depth {
    Tracer *tr;
    CtMap bound; /* in the term itself */
    uint32_t level;
} Depth;

static void find_bound(Depth *d, CtBulkVar *var) { ct_map_set(d->tr->arena, &d->bound, ct_key(var), var); }

static CtBulk *find_level(void *data, CtBulk *t) {
    Depth *d = data;
    if (t->kind == BULK_LET) find_bound(d, t->as.let.var);
    if (t->kind == BULK_BUILD) find_bound(d, t->as.build.var);
    if (t->kind != BULK_VAR) return ct_bulk_map(d->tr->builder, t, find_level, d);
    if (ct_map_has(&d->bound, ct_key(t->as.var))) return t;
    uintptr_t level = (uintptr_t)ct_map_get(&d->tr->levels, t->as.var->id);
    if (level > d->level + 1) d->level = (uint32_t)level - 1;
    return t;
}

Scope *ct_bulk_trace_scope(Tracer *tr, CtBulk *t) {
    Depth depth = {.tr = tr};
    find_level(&depth, t);
    Scope *scope = tr->scope;
    while (scope->level > depth.level) scope = scope->outer;
    return scope;
}

CtBulk *ct_bulk_trace_bound(const Tracer *tr, const CtBulk *t) {
    for (const Scope *s = tr->scope; t->kind == BULK_VAR && s != NULL; s = s->outer)
        for (uint32_t i = s->bindings.vars.count; i-- > 0;)
            if (s->bindings.vars.items[i] == t->as.var) return s->bindings.terms.items[i];
    return NULL;
}

void ct_bulk_trace_set_level(Tracer *tr, const CtBulkVar *var, uint32_t level) {
    ct_map_set(tr->arena, &tr->levels, var->id, (void *)(uintptr_t)(level + 1));
}

CtBulk *ct_bulk_trace_name(Tracer *tr, const char *text, CtBulk *t) {
    if (is_atom(t)) return t;
    Scope *scope = ct_bulk_trace_scope(tr, t);
    CtBulkVar *var = ct_bulk_new_var(tr->builder, text, t->element, t->shape);
    ct_bulk_trace_set_level(tr, var, scope->level);
    ct_push(tr->arena, &scope->bindings.vars, var);
    ct_push(tr->arena, &scope->bindings.terms, t);
    ct_bulk_note(&tr->ranges, t);
    if (t->element == ELEMENT_INT) ct_bulk_note_var(&tr->ranges, var, ct_bulk_range(&tr->ranges, t));
    tr->terms++;
    return ct_bulk_var(tr->builder, var);
}

CtAbstract *ct_bulk_trace_named(Tracer *tr, CtBulk *t) {
    return ct_bulk_abstract_term(tr->builder, ct_bulk_trace_name(tr, "t", t));
}

typedef struct Needed {
    CtBulkBuilder *builder;
    CtMap ids;
} Needed;

static CtBulk *need(void *data, CtBulk *t) {
    Needed *n = data;
    if (t->kind != BULK_VAR) return ct_bulk_map(n->builder, t, need, n);
    ct_map_set(n->builder->arena, &n->ids, t->as.var->id, t);
    return t;
}

CtBulk *ct_bulk_trace_closed(CtBulkBuilder *r, const CtBulkTrace *trace, CtBulk *t, bool checked) {
    for (uint32_t i = checked ? trace->checks.count : 0; i-- > 0;) {
        const CtBulk *check = trace->checks.items[i];
        t = ct_bulk_check(r, check->as.check.test, check->as.check.code, check->as.check.text, check->range, t);
    }
    Needed needed = {.builder = r};
    need(&needed, t);
    CtBulk *body = t;
    for (uint32_t i = trace->vars.count; i-- > 0;) {
        CtBulkVar *var = trace->vars.items[i];
        if (!ct_map_has(&needed.ids, var->id)) continue;
        need(&needed, trace->terms.items[i]);
        body = ct_bulk_let(r, var, trace->terms.items[i], body);
    }
    return body;
}

/* ---- conditions and failures ---- */

CtBulk *ct_bulk_trace_both(Tracer *tr, CtBulk *a, CtBulk *b) {
    return a == NULL ? b : ct_bulk_trace_name(tr, "b", ct_bulk_logic(tr->builder, LOGIC_AND, a, b));
}

CtBulk *ct_bulk_trace_not(Tracer *tr, CtBulk *a) {
    return ct_bulk_trace_name(tr, "b", ct_bulk_logic(tr->builder, LOGIC_NOT, a, NULL));
}

void ct_bulk_trace_check(Tracer *tr, CtBulk *test, CtErrorCode code, const char *text, CtSourceRange range) {
    CtBulk *nothing = ct_bulk_real(tr->builder, 0.0, ct_bulk_trace_scalar());
    CtBulk *check = ct_bulk_check(tr->builder, test, code, text, ct_bulk_trace_place(tr, range), nothing);
    ct_bulk_trace_push_check(tr, ct_bulk_trace_both(tr, tr->live, test), check);
}

void ct_bulk_trace_push_check(Tracer *tr, CtBulk *test, const CtBulk *check) {
    CtBulk *made =
        ct_bulk_check(tr->builder, test, check->as.check.code, check->as.check.text, check->range, check->as.check.t);
    ct_push(tr->arena, &ct_bulk_trace_scope(tr, test)->bindings.checks, made);
}

/* False, in the shape of t. */
static CtBulk *never(Tracer *tr, CtBulk *t) {
    CtBulkBuilder *r = tr->builder;
    if (t->element == ELEMENT_BOOL) return ct_bulk_trace_both(tr, t, ct_bulk_trace_not(tr, t));
    CtPrim less = t->element == ELEMENT_REAL ? PRIM_LT : PRIM_INT_LT;
    return ct_bulk_trace_name(tr, "b", ct_bulk_op2(r, less, t, t));
}

static CtBulk *need_leaf(Tracer *tr, void *data, CtBulk *t) {
    (void)tr;
    return need(data, t);
}

void ct_bulk_trace_keep_failures(Tracer *tr, Scope *scope, CtAbstract *result) {
    CtBulkTrace *b = &scope->bindings;
    if (ct_bulk_trace_refused(tr)) return;
    Needed needed = {.builder = tr->builder};
    ct_bulk_trace_leaves(tr, result, need_leaf, &needed);
    for (uint32_t i = 0; i < b->checks.count; i++) need(&needed, b->checks.items[i]);
    for (uint32_t i = b->vars.count; i-- > 0;) {
        CtBulkVar *var = b->vars.items[i];
        bool dead = !ct_map_has(&needed.ids, var->id);
        if (dead && ct_map_has(&tr->vain, var->id)) continue;
        if (dead && ct_bulk_is_safe(&tr->ranges, b->terms.items[i])) continue;
        need(&needed, b->terms.items[i]);
        if (!dead) continue;
        CtBulk *nothing = ct_bulk_real(tr->builder, 0.0, ct_bulk_trace_scalar());
        CtBulk *test = never(tr, ct_bulk_var(tr->builder, var));
        ct_push(tr->arena, &b->checks, ct_bulk_check(tr->builder, test, CT_E0501, "", CT_NO_RANGE, nothing));
    }
}

/* A failure whose message is computed is reported by the program itself: see ct_bulk_lower_failure. */
static CtAbstract *failure(Tracer *tr, CtCore *core) {
    const CtCore *message = core->as.fail.message;
    const char *text = core->as.fail.text ? core->as.fail.text : ct_error_title(core->as.fail.code);
    if (message != NULL && message->kind == CORE_STRING)
        text = ct_format(tr->arena, "%.*s", (int)message->as.string.length, message->as.string.data);
    ct_bulk_trace_check(tr, ct_bulk_bool(tr->builder, true, ct_bulk_trace_scalar()), core->as.fail.code, text,
                        core->range);
    return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
}

/* ---- terms of Core ---- */

/* A string as the list of its characters. */
static CtAbstract *characters(Tracer *tr, const CtCore *string) {
    size_t length = string->as.string.length, bytes;
    CtAbstract **points = CT_NEW_ARRAY(tr->arena, CtAbstract *, length + 1);
    uint32_t count = 0;
    for (size_t at = 0; at < length; at += bytes)
        points[count++] =
            ct_bulk_abstract_known(tr->builder, ct_text_point(string->as.string.data, length, at, &bytes));
    CtCon *nil = &tr->p->string_type->data->cons[0], *cons = &tr->p->string_type->data->cons[1];
    CtAbstract *list = ct_bulk_abstract_parts(tr->builder, ABSTRACT_DATA, NULL, 0, nil);
    while (count-- > 0)
        list = ct_bulk_abstract_parts(tr->builder, ABSTRACT_DATA, (CtAbstract *[]){points[count], list}, 2, cons);
    return list;
}

CtBranches ct_bulk_trace_branches(Tracer *tr, const Env *env, CtCore *core) {
    CtAbstract *s = ct_bulk_trace_eval(tr, env, core->as.cases.scrutinee);
    if (s->kind == ABSTRACT_STRING) s = characters(tr, s->as.string);
    CtBranches found = {.scrutinee = s, .env = env, .no = core->as.cases.otherwise, .yes = core->as.cases.otherwise};
    if (s->kind == ABSTRACT_DATA) found.taken = core->as.cases.otherwise;
    for (uint32_t i = 0; i < core->as.cases.count; i++) {
        const CtCase *alt = &core->as.cases.cases[i];
        *(alt->con->tag == 1 ? &found.yes : &found.no) = alt->body;
        if (s->kind != ABSTRACT_DATA || alt->con != s->as.of.con) continue;
        for (uint32_t k = 0; k < alt->con->count; k++)
            found.env = ct_bulk_trace_bind(tr, found.env, alt->vars[k], s->as.of.parts[k]);
        found.taken = alt->body;
    }
    if (s->kind == ABSTRACT_TERM && s->as.term->element == ELEMENT_BOOL) found.test = s->as.term;
    return found;
}

static CtAbstract *choice(Tracer *tr, const Env *env, CtCore *core) {
    CtBranches b = ct_bulk_trace_branches(tr, env, core);
    if (b.taken != NULL) return ct_bulk_trace_eval(tr, b.env, b.taken);
    if (b.scrutinee->kind == ABSTRACT_FAILURE) return b.scrutinee;
    if (b.test == NULL)
        return ct_bulk_trace_refuse(tr, core->range, "a choice by a constructor that depends on numbers");
    CtBulk *live = tr->live;
    tr->live = ct_bulk_trace_both(tr, live, b.test);
    CtAbstract *left = ct_bulk_trace_eval(tr, env, b.yes);
    tr->live = ct_bulk_trace_both(tr, live, ct_bulk_trace_not(tr, b.test));
    CtAbstract *right = ct_bulk_trace_refused(tr) ? left : ct_bulk_trace_eval(tr, env, b.no);
    tr->live = live;
    return ct_bulk_trace_refused(tr) ? left : ct_bulk_trace_merge(tr, b.test, left, right, core->range);
}

static bool is_division(CtPrim prim) {
    return prim == PRIM_INT_DIV || prim == PRIM_INT_MOD || prim == PRIM_INT_QUOT || prim == PRIM_INT_REM;
}

static bool is_rounding(CtPrim prim) {
    return prim == PRIM_FLOOR_INT || prim == PRIM_CEILING_INT || prim == PRIM_ROUND_INT || prim == PRIM_TRUNCATE_INT;
}

/* A primitive on known values; the simplifier computes those on integers. */
static CtAbstract *known_prim(Tracer *tr, CtCore *core, CtAbstract *const *args) {
    CtCore *lits[2] = {NULL, NULL};
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        CtType *type = core->as.call.args[i]->type;
        lits[i] = type->kind == TYPE_CHAR ? ct_core_char(tr->p, core->range, args[i]->as.known)
                                          : ct_core_int(tr->p, core->range, args[i]->as.known);
    }
    CtCore *made = ct_core_prim(tr->p, core->range, core->as.call.of.prim, lits, core->as.call.count);
    made = ct_core_simplify_term(tr->p, made);
    if (made->kind == CORE_CON) return ct_bulk_trace_known_bool(tr, made->as.call.of.con->tag == 1);
    if (made->kind != CORE_LIT) return NULL;
    if (made->type->kind == TYPE_DOUBLE)
        return ct_bulk_abstract_term(tr->builder, ct_bulk_real(tr->builder, made->as.lit.real, ct_bulk_trace_scalar()));
    return ct_bulk_abstract_known(tr->builder, made->as.lit.integer);
}

/* A real that becomes an Int has to fit. */
static void check_fits(Tracer *tr, CtBulk *x, CtSourceRange range) {
    CtBulkBuilder *r = tr->builder;
    CtBulk *least = ct_bulk_real(r, -0x1p63, ct_bulk_trace_scalar()),
           *end = ct_bulk_real(r, 0x1p63, ct_bulk_trace_scalar());
    CtBulk *above = ct_bulk_trace_name(tr, "b", ct_bulk_op2(r, PRIM_LE, least, x));
    CtBulk *below = ct_bulk_trace_name(tr, "b", ct_bulk_op2(r, PRIM_LT, x, end));
    ct_bulk_trace_check(tr, ct_bulk_trace_not(tr, ct_bulk_trace_both(tr, above, below)), CT_E0510,
                        ct_error_title(CT_E0510), range);
}

static CtAbstract *primitive(Tracer *tr, const Env *env, CtCore *core) {
    CtPrim prim = core->as.call.of.prim;
    CtAbstract *args[2] = {NULL, NULL};
    CtBulk *terms[2] = {NULL, NULL};
    bool known = true, counted = true, constant = core->type->kind == TYPE_DOUBLE;
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        args[i] = ct_bulk_trace_eval(tr, env, core->as.call.args[i]);
        if (ct_bulk_trace_refused(tr)) return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
        if (args[i]->kind == ABSTRACT_FAILURE) return args[i];
        known = known && args[i]->kind == ABSTRACT_KNOWN;
        counted = counted && (args[i]->kind == ABSTRACT_KNOWN || args[i]->kind == ABSTRACT_COUNTER);
        terms[i] = ct_bulk_trace_term(tr, args[i]);
        if (terms[i] == NULL) return ct_bulk_trace_refuse(tr, core->range, "this operation");
        constant = constant && terms[i]->kind == BULK_CONST && terms[i]->element == ELEMENT_REAL;
    }
    CtAbstract *value = known     ? known_prim(tr, core, args)
                        : counted ? ct_bulk_trace_counter_prim(tr, prim, args[0], args[1])
                                  : NULL;
    if (value != NULL) return value;
    if (constant) {
        double b = terms[1] ? terms[1]->as.constant.real : 0.0;
        return ct_bulk_abstract_term(
            tr->builder,
            ct_bulk_real(tr->builder, ct_prim_value(prim, terms[0]->as.constant.real, b), ct_bulk_trace_scalar()));
    }
    if (core->type->kind == TYPE_FLOAT) return ct_bulk_trace_refuse(tr, core->range, "single precision, a Float");
    if (core->type->kind == TYPE_DATA && core->type != tr->p->bool_type)
        return ct_bulk_trace_refuse(tr, core->range, "text that is made of numbers");
    if (core->type->kind == TYPE_CHAR)
        return ct_bulk_trace_refuse(tr, core->range, "a character that depends on numbers");
    if (is_rounding(prim)) check_fits(tr, terms[0], core->range);
    if (is_division(prim)) {
        CtBulk *zero = ct_bulk_int(tr->builder, 0, ct_bulk_trace_scalar());
        CtBulk *bad = ct_bulk_trace_name(tr, "b", ct_bulk_op2(tr->builder, PRIM_INT_EQ, terms[1], zero));
        ct_bulk_trace_check(tr, bad, CT_E0506, ct_error_title(CT_E0506), core->range);
        terms[1] = ct_bulk_trace_name(
            tr, "n", ct_bulk_cond(tr->builder, bad, ct_bulk_int(tr->builder, 1, ct_bulk_trace_scalar()), terms[1]));
    }
    return ct_bulk_trace_named(tr, core->as.call.count == 1 ? ct_bulk_op1(tr->builder, prim, terms[0])
                                                            : ct_bulk_op2(tr->builder, prim, terms[0], terms[1]));
}

/* The refusal of a recursion that does not end. In a branch on unknown numbers, such a number may be what ends it. */
static CtAbstract *no_end(Tracer *tr, CtSourceRange range) {
    bool deep = tr->depth >= MAX_DEPTH;
    if (tr->calls >= MAX_CALLS) return ct_bulk_trace_refuse(tr, range, "a recursion of more than 200000 calls");
    const char *known = deep ? "a recursion that is deeper than 1000 calls"
                             : "a function that is more than 3000 operations when its recursion is unrolled";
    const char *unknown = deep ? "a recursion that depends on numbers, or is deeper than 1000 calls"
                               : "a recursion that depends on numbers, or is more than 3000 operations when unrolled";
    return ct_bulk_trace_refuse(tr, range, tr->live ? unknown : known);
}

static CtAbstract *apply_either(Tracer *tr, CtAbstract *f, CtAbstract *const *args, uint32_t count,
                                CtSourceRange range) {
    CtBulk *live = tr->live, *test = f->as.choice.test;
    tr->live = ct_bulk_trace_both(tr, live, test);
    CtAbstract *yes = ct_bulk_trace_apply(tr, f->as.choice.yes, args, count, range);
    tr->live = ct_bulk_trace_both(tr, live, ct_bulk_trace_not(tr, test));
    CtAbstract *no = ct_bulk_trace_refused(tr) ? yes : ct_bulk_trace_apply(tr, f->as.choice.no, args, count, range);
    tr->live = live;
    return ct_bulk_trace_refused(tr) ? yes : ct_bulk_trace_merge(tr, test, yes, no, range);
}

CtAbstract *ct_bulk_trace_apply(Tracer *tr, CtAbstract *f, CtAbstract *const *args, uint32_t count,
                                CtSourceRange range) {
    if (f->kind == ABSTRACT_CHOICE) return apply_either(tr, f, args, count, range);
    if (f->kind == ABSTRACT_PULLBACK) return ct_bulk_trace_pull_back(tr, f->as.pullback, args[0]);
    if (f->kind != ABSTRACT_CLOSURE)
        return f->kind == ABSTRACT_FAILURE ? f : ct_bulk_trace_refuse(tr, range, "a function that depends on numbers");
    if (tr->depth >= MAX_DEPTH || tr->terms >= MAX_TERMS || ++tr->calls >= MAX_CALLS) return no_end(tr, range);
    CtAbstract *looped = ct_bulk_trace_tail(tr, f, args, count, range);
    if (looped != NULL) return looped;
    const CtLam *lam = f->as.closure.lam;
    const Env *env = f->as.closure.env;
    CtSourceRange place = tr->place;
    tr->place = ct_bulk_trace_place(tr, range);
    for (uint32_t i = 0; i < count; i++) env = ct_bulk_trace_bind(tr, env, lam->params[i], args[i]);
    tr->depth++;
    CtAbstract *result = ct_bulk_trace_eval(tr, env, lam->body);
    tr->depth--;
    tr->place = place;
    return result;
}

static uint32_t check_count(const Tracer *tr) {
    uint32_t count = 0;
    for (const Scope *s = tr->scope; s != NULL; s = s->outer) count += s->bindings.checks.count;
    return count;
}

static CtAbstract *global(Tracer *tr, CtCore *core) {
    CtGlobal *g = core->as.global;
    if (g->body == NULL) return ct_bulk_trace_refuse(tr, core->range, "this function");
    if (g->body->kind == CORE_LAM) return closure(tr->builder, g->body->as.lam, NULL);
    CtAbstract *known = ct_map_get(&tr->globals, ct_key(g));
    if (known != NULL) return known;
    uint32_t checks = check_count(tr);
    known = ct_bulk_trace_eval(tr, NULL, g->body);
    /* It may only fail where it is needed, and an abandoned trace removes its checks. */
    if (tr->live == NULL && check_count(tr) == checks) ct_map_set(tr->arena, &tr->globals, ct_key(g), known);
    return known;
}

static const Env *letrec(Tracer *tr, const Env *env, CtCore *core) {
    uint32_t count = core->as.letrec.count;
    CtVar **vars = CT_NEW_ARRAY(tr->arena, CtVar *, count);
    CtLam **lams = CT_NEW_ARRAY(tr->arena, CtLam *, count);
    for (uint32_t i = 0; i < count; i++) {
        vars[i] = core->as.letrec.binds[i].var;
        lams[i] = core->as.letrec.binds[i].lam->as.lam;
    }
    return group(tr->builder, env, vars, lams, count);
}

static CtAbstract **eval_all(Tracer *tr, const Env *env, CtCore *const *cores, uint32_t count) {
    CtAbstract **values = CT_NEW_ARRAY(tr->arena, CtAbstract *, count + 1);
    for (uint32_t i = 0; i < count; i++) values[i] = ct_bulk_trace_eval(tr, env, cores[i]);
    return values;
}

static CtAbstract *lookup(Tracer *tr, const Env *env, CtCore *core) {
    for (; env != NULL; env = env->outer)
        if (env->var == core->as.var) return env->value;
    return ct_bulk_trace_refuse(tr, core->range, "a variable that is not in sight");
}

/* stopGradient: the only derivative operator that is left (core.h). */
CtCore *ct_bulk_trace_bindings(Tracer *tr, const Env **env, CtCore *core) {
    for (;;) {
        if (ct_bulk_trace_refused(tr)) return NULL;
        if (core->kind == CORE_LET) {
            *env = ct_bulk_trace_bind(tr, *env, core->as.let.vars[0], ct_bulk_trace_eval(tr, *env, core->as.let.rhs));
            core = core->as.let.body;
        } else if (core->kind == CORE_UNPACK) {
            CtAbstract *tuple = ct_bulk_trace_eval(tr, *env, core->as.let.rhs);
            for (uint32_t i = 0; i < core->as.let.count; i++)
                *env = ct_bulk_trace_bind(tr, *env, core->as.let.vars[i],
                                          tuple->kind == ABSTRACT_TUPLE ? tuple->as.of.parts[i] : tuple);
            core = core->as.let.body;
        } else if (core->kind == CORE_LETREC) {
            *env = letrec(tr, *env, core);
            core = core->as.letrec.body;
        } else {
            return core;
        }
    }
}

static CtBulk *stopped(Tracer *tr, void *data, CtBulk *t) {
    (void)data;
    return t->element == ELEMENT_REAL ? ct_bulk_trace_name(tr, "t", ct_bulk_stop(tr->builder, t)) : t;
}

static CtAbstract *array_literal(Tracer *tr, const CtCore *core, CtAbstract *const *items) {
    uint32_t other = ct_bulk_trace_irregular_item(items, core->as.call.count);
    if (other > 0) return ct_bulk_trace_irregular(tr, core->as.call.args[other]->range);
    return ct_bulk_trace_array_from(tr, items, core->as.call.count);
}

CtAbstract *ct_bulk_trace_eval(Tracer *tr, const Env *env, CtCore *core) {
    core = ct_bulk_trace_bindings(tr, &env, core);
    if (core == NULL) return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
    CtAbstract **parts;
    switch (core->kind) {
    case CORE_VAR: return lookup(tr, env, core);
    case CORE_GLOBAL: return global(tr, core);
    case CORE_LIT:
        if (core->type->kind == TYPE_DOUBLE)
            return ct_bulk_abstract_term(tr->builder,
                                         ct_bulk_real(tr->builder, core->as.lit.real, ct_bulk_trace_scalar()));
        if (core->type->kind == TYPE_FLOAT) return ct_bulk_trace_refuse(tr, core->range, "single precision, a Float");
        return ct_bulk_abstract_known(tr->builder, core->as.lit.integer);
    case CORE_STRING: {
        CtAbstract *made = ct_bulk_abstract_new(tr->builder, ABSTRACT_STRING);
        made->as.string = core;
        return made;
    }
    case CORE_LAM: return closure(tr->builder, core->as.lam, env);
    case CORE_APP: {
        CtAbstract *f = ct_bulk_trace_eval(tr, env, core->as.call.of.fun);
        parts = eval_all(tr, env, core->as.call.args, core->as.call.count);
        return ct_bulk_trace_apply(tr, f, parts, core->as.call.count, core->range);
    }
    case CORE_TUPLE:
        parts = eval_all(tr, env, core->as.call.args, core->as.call.count);
        return ct_bulk_abstract_parts(tr->builder, ABSTRACT_TUPLE, parts, core->as.call.count, NULL);
    case CORE_CON:
        parts = eval_all(tr, env, core->as.call.args, core->as.call.count);
        return ct_bulk_abstract_parts(tr->builder, ABSTRACT_DATA, parts, core->as.call.count, core->as.call.of.con);
    case CORE_PROJ: {
        CtAbstract *tuple = ct_bulk_trace_eval(tr, env, core->as.proj.tuple);
        return tuple->kind == ABSTRACT_TUPLE ? tuple->as.of.parts[core->as.proj.index] : tuple;
    }
    case CORE_CASE: return choice(tr, env, core);
    case CORE_PRIM: return primitive(tr, env, core);
    case CORE_ARRAY: return ct_bulk_trace_array(tr, env, core);
    case CORE_ARRAY_LIT:
        parts = eval_all(tr, env, core->as.call.args, core->as.call.count);
        return array_literal(tr, core, parts);
    case CORE_FAIL: return failure(tr, core);
    case CORE_DERIV:
        if (ct_core_deriv_has_rule(core->as.call.of.deriv)) {
            core = ct_core_deriv_one_rule(tr->p, core, false);
            parts = eval_all(tr, env, core->as.call.args, core->as.call.count);
            return ct_bulk_trace_rule(tr, core, parts);
        }
        return ct_bulk_trace_leaves(tr, ct_bulk_trace_eval(tr, env, core->as.call.args[0]), stopped, NULL);
    case CORE_DUAL:
        parts = eval_all(tr, env, core->as.call.args, core->as.call.count);
        return ct_bulk_trace_derivative(tr, core, parts);
    case CORE_LET:
    case CORE_UNPACK:
    case CORE_LETREC: break;
    }
    return ct_bulk_trace_refuse(tr, core->range, "this");
}

bool ct_bulk_trace(CtBulkBuilder *r, CtAbstract *f, CtAbstract *const *args, uint32_t count, CtBulkTrace *out,
                   CtBulkRefusal *refusal) {
    Scope top = {.level = 0};
    *refusal = (CtBulkRefusal){CT_NO_RANGE, NULL};
    Tracer tr = {.builder = r, .p = r->p, .arena = r->arena, .ranges = {.r = r}, .scope = &top, .refusal = refusal};
    CtAbstract *result = ct_bulk_trace_apply(&tr, f, args, count, CT_NO_RANGE);
    ct_bulk_trace_keep_failures(&tr, &top, result);
    *out = top.bindings;
    out->result = result;
    return refusal->what == NULL;
}
