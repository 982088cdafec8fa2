/* Lists without end, such as [1 ..] and iterate f x. Lists are evaluated whole; where a function that needs only the
 * beginning is applied to one in the same expression, as in `takeWhile (< 9) (map f [1 ..])`, the names of both are
 * replaced by those of functions of lib/streams.cot, which make the elements as they are taken.
 *
 * A variable that is bound to such a list gets a second binding beside its own, of the elements as they are taken:
 *
 *   where xs = iterate f x      where xs = iterate f x;  xs.stream = stream'iterate f x
 *
 * and xs means the second where its beginning is taken. The list itself is evaluated, and fails, where it is used
 * otherwise. If a list is made of itself, its elements are made one after the other from those in front of them:
 *
 *   fibs = 0 : 1 : zipWith (+) fibs (tail fibs)
 *   fibs.stream = stream'knot (\fibs.stream -> stream'cons 0 (\_ -> … stream'zipWith (+) fibs.stream …)) */
#include "types/internal.h"

typedef struct Row {
    const char *name;
    uint32_t arity;
    uint32_t streams; /* a bit for each argument that has to be without end, from the first */
    const char *instead;
    const char *module; /* that has both functions; NULL: the prelude */
    bool waits;         /* the last argument is made when its elements are taken */
} Row;

/* What has no end when those arguments have none. */
static const Row producers[] = {
    {"iterate", 2, 0, "stream'iterate", NULL},
    {"iterate'", 2, 0, "stream'iterate", "Data.List"},
    {"enumFrom", 1, 0, "stream'enumFrom", NULL},
    {"zipWith3", 4, 14, "stream'zipWith3", NULL},
    {"repeat", 1, 0, "stream'repeat", NULL},
    {"cycle", 1, 0, "stream'cycle", NULL},
    {"map", 2, 2, "stream'map", NULL},
    {"fmap", 2, 2, "stream'map", NULL},
    {"filter", 2, 2, "stream'filter", NULL},
    {"scanl", 3, 4, "stream'scanl", NULL},
    {"tail", 1, 1, "stream'tail", NULL},
    {"drop", 2, 2, "stream'drop", NULL},
    {"dropWhile", 2, 2, "stream'dropWhile", NULL},
    {"zipWith", 3, 6, "stream'zipWith", NULL},
    {"zip", 2, 3, "stream'zip", NULL},
    {"<$>", 2, 2, "stream'map", NULL},
    {"scanl1", 2, 2, "stream'scanl1", NULL},
    {"++", 2, 2, "stream'append", NULL, true},
    {":", 2, 2, "stream'cons", NULL, true},
    {"concat", 1, 1, "stream'concat", NULL},
    {"concatMap", 2, 2, "stream'concatMap", NULL},
    {"mapMaybe", 2, 2, "stream'mapMaybe", NULL},
};

/* What takes only the beginning of those arguments. */
static const Row consumers[] = {
    {"take", 2, 2, "stream'take", NULL},
    {"takeWhile", 2, 2, "stream'takeWhile", NULL},
    {"head", 1, 1, "stream'head", NULL},
    {"!!", 2, 1, "stream'at", NULL},
    {"zipWith", 3, 2, "stream'zipWithFirst", NULL},
    {"zipWith", 3, 4, "stream'zipWithSecond", NULL},
    {"zip", 2, 1, "stream'zipFirst", NULL},
    {"zip", 2, 2, "stream'zipSecond", NULL},
    {"zipWith3", 4, 2, "stream'zipWith3First", NULL},
    {"zipWith3", 4, 4, "stream'zipWith3Second", NULL},
    {"zipWith3", 4, 8, "stream'zipWith3Third", NULL},
    {"zipWith3", 4, 12, "stream'zipWith3NotFirst", NULL},
    {"zipWith3", 4, 10, "stream'zipWith3NotSecond", NULL},
    {"zipWith3", 4, 6, "stream'zipWith3NotThird", NULL},
    {"find", 2, 2, "stream'find", NULL},
    {"findIndex", 2, 2, "stream'findIndex", NULL},
    {"elemIndex", 2, 2, "stream'elemIndex", NULL},
    {"lookup", 2, 2, "stream'lookup", NULL},
    {"elem", 2, 2, "stream'elem", NULL},
    {"any", 2, 2, "stream'any", NULL},
    {"all", 2, 2, "stream'all", NULL},
    {"isPrefixOf", 2, 2, "stream'isPrefixOf", NULL},
    {"listArray", 2, 2, "stream'listArray", "Data.Array"},
    {"zipWithM", 3, 2, "stream'zipWithMFirst", NULL},
    {"zipWithM", 3, 4, "stream'zipWithMSecond", NULL},
    {"zipWithM_", 3, 2, "stream'zipWithMFirst_", NULL},
    {"zipWithM_", 3, 4, "stream'zipWithMSecond_", NULL},
};

/* What a module of the library exports, or the prelude defines; NULL if the program does not import the module. */
static const CtScope *exports(CtTypes *types, const char *module) {
    if (!module) return &types->library;
    return ct_map_get(&types->interfaces, ct_key(ct_intern_text(&types->context->symbols, module)));
}

/* Whether the expression is the function of this name in a module of the library, or in the prelude. */
static bool is_library(CtTypes *types, const CtExpr *expr, const char *name, const char *module) {
    if (expr->kind == EXPR_CON) return strcmp(name, ":") == 0 && strcmp(expr->name.text->text, ":") == 0;
    if (expr->kind != EXPR_VAR || strcmp(expr->name.text->text, name) != 0) return false;
    const CtEntity *meant = expr->entity; /* of what is put in here */
    if (!meant) {
        if (!expr->name.module && ct_map_get(&types->locals, ct_key(expr->name.text))) return false;
        const CtScope *scope =
            expr->name.module ? ct_map_get(&types->qualified, ct_key(expr->name.module)) : types->own;
        meant = scope ? ct_types_scope_get(scope, SPACE_VALUE, expr->name.text) : NULL;
    }
    const CtScope *home = exports(types, module);
    return meant && home && meant == ct_types_scope_get(home, SPACE_VALUE, expr->name.text);
}

/* An application, where f a $ x is f a x. */
CtExpr ct_types_without_dollar(CtTypes *types, const CtExpr *expr) {
    CtExpr flat = *expr;
    if (expr->part_count != 3 || !is_library(types, expr->parts[0], "$", NULL)) return flat;
    CtExpr *fun = expr->parts[1];
    bool applied = fun->kind == EXPR_APP;
    uint32_t count = applied ? fun->part_count : 1;
    flat.parts = CT_NEW_ARRAY(types->arena, CtExpr *, count + 1);
    for (uint32_t i = 0; i < count; i++) flat.parts[i] = applied ? fun->parts[i] : fun;
    flat.parts[count] = expr->parts[2];
    flat.part_count = count + 1;
    return flat;
}

static void rename_function(CtTypes *types, CtExpr *fun, const char *name, const char *module) {
    CtExpr *named = CT_NEW(types->arena, CtExpr);
    *named = (CtExpr){.kind = EXPR_VAR, .range = fun->range};
    named->name = (CtName){.text = ct_intern_text(&types->context->symbols, name), .range = fun->range};
    named->entity = ct_types_scope_get(exports(types, module), SPACE_VALUE, named->name.text);
    *fun = *named;
}

static CtExpr application(CtTypes *types, CtExpr *fun, CtExpr **args, uint32_t count) {
    bool applied = fun->kind == EXPR_APP;
    uint32_t first = applied ? fun->part_count : 1;
    CtExpr app = {.kind = EXPR_APP, .range = fun->range, .part_count = first + count};
    app.parts = CT_NEW_ARRAY(types->arena, CtExpr *, app.part_count);
    for (uint32_t i = 0; i < first; i++) app.parts[i] = applied ? fun->parts[i] : fun;
    for (uint32_t i = 0; i < count; i++) app.parts[first + i] = args[i];
    return app;
}

static CtExpr *library_application(CtTypes *types, const char *name, CtExpr **args, uint32_t count,
                                   CtSourceRange range) {
    CtExpr *fun = CT_NEW(types->arena, CtExpr), *app = CT_NEW(types->arena, CtExpr);
    fun->range = range;
    rename_function(types, fun, name, NULL);
    *app = count > 0 ? application(types, fun, args, count) : *fun;
    app->range = range;
    return app;
}

/* Of more than three lists, the first two become one of pairs: whether these have an end is asked of the result, once.
 * zipWith4 f as bs cs ds is zipWith3 (uncurry f) (zip as bs) cs ds. */
static CtExpr narrowed(CtTypes *types, CtExpr flat) {
    const CtExpr *fun = flat.parts[0];
    if (fun->kind != EXPR_VAR || strncmp(fun->name.text->text, "zip", 3) != 0) return flat;
    for (uint32_t n = 3; n <= 7; n++) {
        bool with = flat.part_count == n + 2 && n > 3;
        const char *name = ct_format(types->arena, with ? "zipWith%u" : "zip%u", n);
        if (!with && flat.part_count != n + 1) continue;
        if (!is_library(types, fun, name, n > 3 ? "Data.List" : NULL)) continue;
        CtExpr **lists = flat.parts + flat.part_count - n;
        CtSourceRange range = flat.range;
        const char *tuple = ct_format(types->arena, "stream'tuple%u", n);
        CtExpr *made = with ? flat.parts[1] : library_application(types, tuple, NULL, 0, range), *pairs = lists[0];
        for (uint32_t i = 1; i + 2 < n; i++) {
            CtExpr *both[] = {pairs, lists[i]};
            pairs = library_application(types, "zip", both, 2, ct_range_join(pairs->range, lists[i]->range));
            made = library_application(types, "uncurry", &made, 1, made->range);
        }
        CtExpr *args[] = {made, pairs, lists[n - 2], lists[n - 1]};
        return *library_application(types, "zipWith3", args, 4, range);
    }
    return flat;
}

/* `named`: variables count that are bound to lists without end. */
static bool is_endless(CtTypes *types, const CtExpr *expr, bool named);

/* Whether an application is one of the function of this name that was put in here. */
static bool is_made(const CtExpr *app, const char *name) {
    const CtExpr *fun = app->kind == EXPR_APP ? app->parts[0] : app;
    return fun->kind == EXPR_VAR && fun->entity && strcmp(fun->name.text->text, name) == 0;
}

/* Whether one of the lists of a narrowed application, or of the pairs in it, has no end. */
static bool has_endless(CtTypes *types, CtExpr *const *lists, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (is_endless(types, lists[i], true) ||
            (is_made(lists[i], "zip") && has_endless(types, lists[i]->parts + 1, lists[i]->part_count - 1)))
            return true;
    return false;
}

/* The application of a function to all its arguments: f (g x) for (f . g) x, and for f . g $ x. */
static CtExpr flatten(CtTypes *types, const CtExpr *expr) {
    if (expr->kind == EXPR_LEFT_SECTION) { /* (s !!) */
        CtExpr section = application(types, expr->parts[1], expr->parts, 1);
        section.range = expr->range;
        return section;
    }
    CtExpr flat = ct_types_without_dollar(types, expr);
    for (;;) {
        CtExpr *fun = flat.parts[0];
        if (fun->kind == EXPR_APP) {
            flat = application(types, fun, flat.parts + 1, flat.part_count - 1);
        } else if (flat.part_count == 4 && is_library(types, fun, ".", NULL)) {
            CtExpr *inner = CT_NEW(types->arena, CtExpr);
            *inner = application(types, flat.parts[2], &flat.parts[3], 1);
            inner->range = ct_range_join(inner->range, flat.parts[3]->range);
            flat = application(types, flat.parts[1], &inner, 1);
        } else {
            flat.range = expr->range;
            return narrowed(types, flat);
        }
    }
}

static bool fits(CtTypes *types, const CtExpr *expr, const Row *row, bool named) {
    if (expr->part_count < 2 || expr->part_count - 1 > row->arity ||
        !is_library(types, expr->parts[0], row->name, row->module))
        return false;
    if (row->streams >> (expr->part_count - 1)) return false; /* it is not applied to all of them */
    for (uint32_t i = 0; i + 1 < expr->part_count; i++)
        if (is_endless(types, expr->parts[i + 1], named) != (row->streams >> i & 1)) return false;
    return true;
}

static const Row *producer(CtTypes *types, const CtExpr *expr, bool named) {
    for (size_t i = 0; i < sizeof producers / sizeof *producers; i++)
        if (expr->part_count == producers[i].arity + 1 && fits(types, expr, &producers[i], named)) return &producers[i];
    return NULL;
}

/* What a variable that is bound to a list without end is as far as it is taken; NULL for others. */
static CtEntity *named_stream(CtTypes *types, const CtExpr *expr) {
    if (expr->kind != EXPR_VAR || expr->entity) return NULL;
    CtSym name = expr->name.text;
    CtEntity *list = expr->name.module ? NULL : ct_map_get(&types->locals, ct_key(name));
    if (list && list == types->assumed_endless) return list;
    if (list) return list->stream;
    const CtScope *scope = expr->name.module ? ct_map_get(&types->qualified, ct_key(expr->name.module)) : types->own;
    list = scope ? ct_types_scope_get(scope, SPACE_VALUE, name) : NULL;
    if (list && list == types->assumed_endless) return list;
    if (!list || !list->stream) return NULL;
    return ct_types_scope_get(scope, SPACE_VALUE, list->stream->name) == list->stream ? list->stream : NULL;
}

/* What is put in front of a list by x : or xs ++, which are written in long chains; NULL for others. */
static const CtExpr *put_in_front(CtTypes *types, const CtExpr *flat) {
    const CtExpr *fun = flat->parts[0];
    bool puts = flat->part_count == 3 && (is_library(types, fun, ":", NULL) || is_library(types, fun, "++", NULL));
    return puts ? flat->parts[1] : NULL;
}

static bool is_endless(CtTypes *types, const CtExpr *expr, bool named) {
    for (;;) {
        if (expr->kind == EXPR_VAR) return named && named_stream(types, expr);
        if (expr->kind == EXPR_RANGE) return expr->parts[2] == NULL;
        if (expr->kind == EXPR_ANNOT)
            return expr->annot->type->kind == TYPE_EXPR_LIST && is_endless(types, expr->parts[0], named);
        if (expr->kind == EXPR_COMPREHENSION)
            return expr->stmts[0].kind == STMT_BIND && is_endless(types, expr->stmts[0].expr, named);
        if (expr->kind != EXPR_APP) return false;
        CtExpr flat = flatten(types, expr);
        const CtExpr *front = put_in_front(types, &flat);
        if (front == NULL) return producer(types, &flat, named) != NULL;
        if (is_endless(types, front, named)) return false;
        expr = flat.parts[2]; /* without a call: chains do not nest */
    }
}

/* \pat -> body */
static CtExpr *lambda_of(CtTypes *types, CtPat pat, CtExpr *body) {
    CtExpr *lambda = CT_NEW(types->arena, CtExpr);
    *lambda = (CtExpr){.kind = EXPR_LAM, .range = body->range, .part_count = 1, .pat_count = 1};
    lambda->parts = CT_NEW_ARRAY(types->arena, CtExpr *, 1);
    lambda->parts[0] = body;
    lambda->pats = CT_NEW_ARRAY(types->arena, CtPat *, 1);
    lambda->pats[0] = CT_NEW(types->arena, CtPat);
    *lambda->pats[0] = pat;
    lambda->pats[0]->range = body->range;
    return lambda;
}

static void to_stream(CtTypes *types, CtExpr *expr, bool named);

/* [e | p <- s, …] becomes concatMap (\x -> [e | p <- [x], …]) s. */
static void comprehension_to_stream(CtTypes *types, CtExpr *expr, bool named) {
    CtArena *arena = types->arena;
    CtName name = {.text = ct_intern_text(&types->context->symbols, "stream's element"), .range = expr->range};
    CtExpr *x = CT_NEW(arena, CtExpr), *single = CT_NEW(arena, CtExpr), *inner = CT_NEW(arena, CtExpr);
    *x = (CtExpr){.kind = EXPR_VAR, .range = expr->stmts[0].expr->range, .name = name};
    *single = (CtExpr){.kind = EXPR_LIST, .range = x->range, .part_count = 1};
    single->parts = CT_NEW_ARRAY(arena, CtExpr *, 1);
    single->parts[0] = x;
    *inner = *expr;
    inner->stmts = CT_NEW_ARRAY(arena, CtStmt, expr->stmt_count);
    for (uint32_t i = 0; i < expr->stmt_count; i++) inner->stmts[i] = expr->stmts[i];
    inner->stmts[0].expr = single;
    CtExpr *lambda = lambda_of(types, (CtPat){.kind = PAT_VAR, .name = name}, inner), *fun = CT_NEW(arena, CtExpr);
    fun->range = expr->range;
    rename_function(types, fun, "stream'concatMap", NULL);
    CtExpr *args[] = {lambda, expr->stmts[0].expr};
    to_stream(types, args[1], named);
    CtSourceRange range = expr->range;
    *expr = application(types, fun, args, 2);
    expr->range = range;
}

/* s :: [t] becomes s :: Stream'of t. */
static void annotation_to_stream(CtTypes *types, CtExpr *expr, bool named) {
    CtTypeExpr *type = CT_NEW(types->arena, CtTypeExpr), *con = CT_NEW(types->arena, CtTypeExpr);
    *con = (CtTypeExpr){.kind = TYPE_EXPR_CON, .range = expr->range};
    con->name = (CtName){.text = ct_intern_text(&types->context->symbols, "Stream'of"), .range = expr->range};
    *type = (CtTypeExpr){.kind = TYPE_EXPR_APP, .range = expr->range, .part_count = 2};
    type->parts = CT_NEW_ARRAY(types->arena, CtTypeExpr *, 2);
    type->parts[0] = con;
    type->parts[1] = expr->annot->type->parts[0];
    CtQualType *annot = CT_NEW(types->arena, CtQualType);
    *annot = *expr->annot;
    annot->type = type;
    expr->annot = annot;
    to_stream(types, expr->parts[0], named);
}

/* Replaces the functions of an endless expression. */
static void to_stream(CtTypes *types, CtExpr *expr, bool named) {
    if (expr->kind == EXPR_VAR) {
        CtEntity *stream = named_stream(types, expr);
        stream->is_taken = true;
        expr->name.text = stream->name;
        return;
    }
    if (expr->kind == EXPR_RANGE) {
        bool then = expr->parts[1] != NULL;
        CtExpr **parts = CT_NEW_ARRAY(types->arena, CtExpr *, 3);
        parts[0] = CT_NEW(types->arena, CtExpr);
        parts[0]->range = expr->range;
        parts[1] = expr->parts[0];
        parts[2] = expr->parts[1];
        rename_function(types, parts[0], then ? "stream'enumFromThen" : "stream'enumFrom", NULL);
        *expr = (CtExpr){.kind = EXPR_APP, .range = expr->range, .parts = parts, .part_count = then ? 3 : 2};
        return;
    }
    if (expr->kind == EXPR_ANNOT) {
        annotation_to_stream(types, expr, named);
        return;
    }
    if (expr->kind == EXPR_COMPREHENSION) {
        comprehension_to_stream(types, expr, named);
        return;
    }
    *expr = flatten(types, expr);
    const Row *row = producer(types, expr, named);
    for (uint32_t i = 0; i < row->arity; i++)
        if (row->streams >> i & 1) to_stream(types, expr->parts[i + 1], named);
    CtExpr **last = &expr->parts[expr->part_count - 1];
    if (row->waits) *last = lambda_of(types, (CtPat){.kind = PAT_WILD}, *last);
    rename_function(types, expr->parts[0], row->instead, row->module);
}

/* stream'at (stream'iterate f x) n is the last state of a loop. */
static void at_of_iterate(CtTypes *types, CtExpr *expr) {
    CtExpr *fun = expr->parts[0], *list = expr->parts[1];
    if (expr->part_count != 3 || strcmp(fun->name.text->text, "stream'at") != 0) return;
    if (list->kind != EXPR_APP || list->part_count != 3 || list->parts[0]->kind != EXPR_VAR) return;
    if (strcmp(list->parts[0]->name.text->text, "stream'iterate") != 0) return;
    CtExpr *args[] = {list->parts[1], list->parts[2], expr->parts[2]};
    CtSourceRange range = expr->range;
    rename_function(types, fun, "stream'iterated", NULL);
    *expr = application(types, fun, args, 3);
    expr->range = range;
}

static bool take_beginning(CtTypes *types, CtExpr *expr, CtExpr flat, bool named) {
    for (size_t i = 0; i < sizeof consumers / sizeof *consumers; i++) {
        if (!fits(types, &flat, &consumers[i], named)) continue;
        *expr = flat;
        for (uint32_t j = 0; j + 1 < expr->part_count; j++)
            if (consumers[i].streams >> j & 1) to_stream(types, expr->parts[j + 1], named);
        rename_function(types, expr->parts[0], consumers[i].instead, consumers[i].module);
        at_of_iterate(types, expr);
        return true;
    }
    return false;
}

/* A variable may also be bound to a list that ends, such as [False ..]; so what takes nothing if it does not is tried
 * as if it did: zip names [1 ..]. */
static bool bound(CtTypes *types, CtExpr *expr) {
    CtExpr flat = flatten(types, expr);
    if (take_beginning(types, expr, flat, true) || take_beginning(types, expr, flat, false)) return true;
    if (!is_made(&flat, "zipWith3") || !has_endless(types, flat.parts + 2, flat.part_count - 2)) return false;
    *expr = flat; /* the list without end is in a zip of two */
    return true;
}

/* takeWhile p . iterate f becomes \x -> takeWhile p (iterate f x). */
static void bound_composition(CtTypes *types, CtExpr *expr) {
    CtName name = {.text = ct_intern_text(&types->context->symbols, "stream's argument"), .range = expr->range};
    CtExpr *x = CT_NEW(types->arena, CtExpr), *body = CT_NEW(types->arena, CtExpr);
    *x = (CtExpr){.kind = EXPR_VAR, .range = expr->range, .name = name};
    *body = application(types, expr, &x, 1);
    body->range = expr->range;
    if (bound(types, body)) *expr = *lambda_of(types, (CtPat){.kind = PAT_VAR, .name = name}, body);
}

void ct_types_bound_streams(CtTypes *types, CtExpr *expr) {
    if (types->is_library || types->is_lazy || bound(types, expr) || expr->kind != EXPR_APP || expr->part_count != 3)
        return;
    if (is_library(types, expr->parts[0], ".", NULL)) bound_composition(types, expr);
}

/* ---- variables ---- */

/* Where e stands in x = e, without parameters, guards and `where`; behind the type that it is said to have. */
static CtExpr **plain_value(const CtBinding *binding) {
    if (binding->pat || binding->clause_count != 1 || binding->clauses->pat_count || binding->bang) return NULL;
    const CtRhs *rhs = &binding->clauses->rhs;
    if (rhs->guarded_count != 1 || rhs->guarded->guard_count || rhs->where.count) return NULL;
    CtExpr **value = &rhs->guarded->body;
    return (*value)->kind == EXPR_ANNOT ? &(*value)->parts[0] : value;
}

/* Whether the value of a variable is a list without end if the variable itself is: a list that is made of itself. */
static bool is_knot(CtTypes *types, const CtBinding *binding, const CtExpr *value) {
    types->assumed_endless = binding->entity;
    bool endless = value->kind == EXPR_APP && is_endless(types, value, true);
    types->assumed_endless = NULL;
    return endless;
}

CtBinding *ct_types_stream_of(CtTypes *types, const CtBinding *binding) {
    CtExpr **place = types->is_library || types->is_lazy ? NULL : plain_value(binding), *value = place ? *place : NULL;
    if (!value || binding->is_stream || binding->entity->stream) return NULL;
    bool plain = is_endless(types, value, true);
    if (!plain && !is_knot(types, binding, value)) return NULL;
    CtArena *arena = types->arena;
    CtBinding *stream = CT_NEW(arena, CtBinding);
    *stream = (CtBinding){.range = binding->range, .made = true, .is_stream = true, .clause_count = 1};
    const char *name = ct_format(arena, "%s.stream", binding->name.text->text);
    stream->name = (CtName){.text = ct_intern_text(&types->context->symbols, name), .range = binding->name.range};
    stream->clauses = CT_NEW(arena, CtClause);
    stream->clauses->range = binding->clauses->range;
    stream->clauses->rhs.guarded_count = 1;
    stream->clauses->rhs.guarded = CT_NEW(arena, CtGuarded);
    *stream->clauses->rhs.guarded = *binding->clauses->rhs.guarded;
    stream->clauses->rhs.guarded->body = ct_syntax_copy_expr(arena, value);
    stream->is_knot = !plain;
    const CtExpr *body = binding->clauses->rhs.guarded->body;
    if (body->kind == EXPR_ANNOT) stream->signature = body->annot;
    return stream;
}

void ct_types_begin_stream(CtTypes *types, CtBinding *stream) {
    CtExpr *body = stream->clauses->rhs.guarded->body, *fun = CT_NEW(types->arena, CtExpr);
    to_stream(types, body, true);
    if (!stream->is_knot) return;
    CtExpr *step = lambda_of(types, (CtPat){.kind = PAT_VAR, .name = stream->name}, body);
    fun->range = body->range;
    rename_function(types, fun, "stream'knot", NULL);
    stream->clauses->rhs.guarded->body = CT_NEW(types->arena, CtExpr);
    *stream->clauses->rhs.guarded->body = application(types, fun, &step, 1);
}

void ct_types_end_list(CtTypes *types, const CtBinding *list, const CtBinding *stream) {
    CtExpr *body = CT_NEW(types->arena, CtExpr), *all = CT_NEW(types->arena, CtExpr);
    CtExpr **value = plain_value(list);
    body->range = all->range = (*value)->range;
    all->kind = EXPR_VAR;
    all->name = stream->name;
    rename_function(types, body, "stream'whole", NULL);
    *value = CT_NEW(types->arena, CtExpr);
    **value = application(types, body, &all, 1);
}

CtTy *ct_types_stream_type(CtTypes *types, CtTy *list) {
    CtTy *element[1];
    CtTyCon *head;
    uint32_t count = 0;
    CtSym name = ct_intern_text(&types->context->symbols, "Stream'of");
    CtTyCon *con = ct_types_library(types, SPACE_TYPE, name);
    bool known = con && ct_types_ty_head(list, &head, element, 1, &count) && head == ct_types_con_list(types);
    return known ? ct_types_ty_con(types, con, element, 1) : NULL;
}
