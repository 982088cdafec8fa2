/* Lists without end, such as [1 ..] and iterate f x. Lists are evaluated whole; where a function that needs only the
 * beginning is applied to one in the same expression, as in `takeWhile (< 9) (map f [1 ..])`, the names of both are
 * replaced by those of functions of lib/streams.cot, which make the elements as they are taken. */
#include "types/internal.h"

typedef struct Row {
    const char *name;
    uint32_t arity;
    uint32_t streams; /* a bit for each argument that has to be without end, from the first */
    const char *instead;
    const char *module; /* that has both functions; NULL: the prelude */
} Row;

/* What has no end when those arguments have none. */
static const Row producers[] = {
    {"iterate", 2, 0, "stream'iterate", NULL}, {"repeat", 1, 0, "stream'repeat", NULL},
    {"cycle", 1, 0, "stream'cycle", NULL},     {"map", 2, 2, "stream'map", NULL},
    {"fmap", 2, 2, "stream'map", NULL},        {"filter", 2, 2, "stream'filter", NULL},
    {"scanl", 3, 4, "stream'scanl", NULL},     {"tail", 1, 1, "stream'tail", NULL},
    {"drop", 2, 2, "stream'drop", NULL},       {"dropWhile", 2, 2, "stream'dropWhile", NULL},
    {"zipWith", 3, 6, "stream'zipWith", NULL}, {"zip", 2, 3, "stream'zip", NULL},
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
    {"zip3", 3, 1, "stream'zip3First", NULL},
    {"zip3", 3, 2, "stream'zip3Second", NULL},
    {"zip3", 3, 4, "stream'zip3Third", NULL},
    {"zip3", 3, 6, "stream'zip3NotFirst", NULL},
    {"zip3", 3, 5, "stream'zip3NotSecond", NULL},
    {"zip3", 3, 3, "stream'zip3NotThird", NULL},
    {"zipWith3", 4, 2, "stream'zipWith3First", NULL},
    {"zipWith3", 4, 4, "stream'zipWith3Second", NULL},
    {"zipWith3", 4, 8, "stream'zipWith3Third", NULL},
    {"zipWith3", 4, 12, "stream'zipWith3NotFirst", NULL},
    {"zipWith3", 4, 10, "stream'zipWith3NotSecond", NULL},
    {"zipWith3", 4, 6, "stream'zipWith3NotThird", NULL},
    {"find", 2, 2, "stream'find", NULL},
    {"listArray", 2, 2, "stream'listArray", "Data.Array"},
};

/* What a module of the library exports, or the prelude defines; NULL if the program does not import the module. */
static const CtScope *exports(CtTypes *types, const char *module) {
    if (!module) return &types->library;
    return ct_map_get(&types->interfaces, ct_key(ct_intern_text(&types->context->symbols, module)));
}

/* Whether the expression is the function of this name in a module of the library, or in the prelude. */
static bool is_library(CtTypes *types, const CtExpr *expr, const char *name, const char *module) {
    if (expr->kind != EXPR_VAR || strcmp(expr->name.text->text, name) != 0) return false;
    if (!expr->name.module && ct_map_get(&types->locals, ct_key(expr->name.text))) return false;
    const CtScope *scope = expr->name.module ? ct_map_get(&types->qualified, ct_key(expr->name.module)) : types->own;
    const CtEntity *meant = scope ? ct_types_scope_get(scope, SPACE_VALUE, expr->name.text) : NULL;
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

static bool is_endless(CtTypes *types, const CtExpr *expr);

static bool fits(CtTypes *types, const CtExpr *expr, const Row *row) {
    if (expr->part_count < 2 || expr->part_count - 1 > row->arity ||
        !is_library(types, expr->parts[0], row->name, row->module))
        return false;
    if (row->streams >> (expr->part_count - 1)) return false; /* it is not applied to all of them */
    for (uint32_t i = 0; i + 1 < expr->part_count; i++)
        if (is_endless(types, expr->parts[i + 1]) != (row->streams >> i & 1)) return false;
    return true;
}

static const Row *producer(CtTypes *types, const CtExpr *expr) {
    for (size_t i = 0; i < sizeof producers / sizeof *producers; i++)
        if (expr->part_count == producers[i].arity + 1 && fits(types, expr, &producers[i])) return &producers[i];
    return NULL;
}

static bool is_endless(CtTypes *types, const CtExpr *expr) {
    if (expr->kind == EXPR_RANGE) return expr->parts[2] == NULL;
    if (expr->kind != EXPR_APP) return false;
    CtExpr flat = ct_types_without_dollar(types, expr);
    return producer(types, &flat) != NULL;
}

/* Replaces the functions of an endless expression. */
static void to_stream(CtTypes *types, CtExpr *expr) {
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
    *expr = ct_types_without_dollar(types, expr);
    const Row *row = producer(types, expr);
    for (uint32_t i = 0; i < row->arity; i++)
        if (row->streams >> i & 1) to_stream(types, expr->parts[i + 1]);
    rename_function(types, expr->parts[0], row->instead, row->module);
}

void ct_types_bound_streams(CtTypes *types, CtExpr *expr) {
    if (types->is_library) return;
    CtExpr flat = ct_types_without_dollar(types, expr);
    for (size_t i = 0; i < sizeof consumers / sizeof *consumers; i++) {
        if (!fits(types, &flat, &consumers[i])) continue;
        *expr = flat;
        for (uint32_t j = 0; j + 1 < expr->part_count; j++)
            if (consumers[i].streams >> j & 1) to_stream(types, expr->parts[j + 1]);
        rename_function(types, expr->parts[0], consumers[i].instead, consumers[i].module);
        return;
    }
}
