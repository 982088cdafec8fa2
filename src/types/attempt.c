/* Inference in two attempts. The first is that of Haskell. Where it finds errors, a second one lets operands of
 * arithmetic, and local functions without a signature that are made of them, wait for the types that their uses give
 * (operands.c). If that finds errors too, those of the first attempt are told. So no program that Haskell's rules take
 * means anything else, and messages are by these rules.
 *
 * Between the attempts, what the first has written into the syntax tree is undone: the expressions that it put into
 * others, the types of variables, and what an error has added to the context of a signature. All else that inference
 * writes there, it writes again. Type variables of outer groups keep what the first attempt has found of them. */
#include "types/internal.h"

struct CtSaved {
    CtExpr *expr, was;
    CtEntity *entity;
    CtScheme scheme;
    CtPred **end;
};

void ct_types_save_expr(CtTypes *types, CtExpr *expr) {
    if (types->attempt == 1) ct_push(types->arena, &types->saved, ((struct CtSaved){.expr = expr, .was = *expr}));
}

void ct_types_save_scheme(CtTypes *types, CtEntity *entity) {
    if (types->attempt != 1) return;
    ct_push(types->arena, &types->saved, ((struct CtSaved){.entity = entity, .scheme = entity->scheme}));
}

void ct_types_save_preds(CtTypes *types, CtTy *variable) {
    if (types->attempt != 1) return;
    CtPred **end = &variable->preds;
    while (*end) end = &(*end)->next;
    ct_push(types->arena, &types->saved, ((struct CtSaved){.end = end}));
}

static void undo(CtTypes *types) {
    while (types->saved.count > 0) {
        const struct CtSaved *saved = &types->saved.items[--types->saved.count];
        if (saved->expr)
            *saved->expr = saved->was;
        else if (saved->entity)
            saved->entity->scheme = saved->scheme;
        else
            *saved->end = NULL;
    }
}

/* What an attempt adds to. */
typedef struct Lengths {
    uint32_t matches, rules, large, inner_uses, method_uses, points, deferred;
} Lengths;

static Lengths lengths(const CtTypes *types) {
    return (Lengths){types->matches.count,     types->rules.count,  types->large.count,   types->inner_uses.count,
                     types->method_uses.count, types->points.count, types->deferred.count};
}

static void shorten(CtTypes *types, Lengths to) {
    types->matches.count = to.matches;
    types->rules.count = to.rules;
    types->large.count = to.large;
    types->inner_uses.count = to.inner_uses;
    types->method_uses.count = to.method_uses;
    types->points.count = to.points;
    types->deferred.count = to.deferred;
}

/* What has been told: the list's end and, of an attempt, its first message and the names that it found unknown. */
typedef struct Told {
    CtDiag *first, **end;
    CtUnknown *unknown;
    uint32_t unknown_count;
    uint32_t errors, warnings;
    bool large;
    CtSym misnamed;
} Told;

static Told told(const CtTypes *types) {
    const CtContext *context = types->context;
    return (Told){.end = context->last_diag,
                  .errors = context->error_count,
                  .warnings = context->warning_count,
                  .large = types->told_large,
                  .misnamed = types->misnamed};
}

/* The same of the attempt that began `before`. */
static Told told_since(CtTypes *types, const Told *before, uint32_t unknown) {
    Told after = told(types);
    after.first = *before->end;
    after.unknown_count = types->unknown.count - unknown;
    after.unknown = CT_NEW_ARRAY(types->arena, CtUnknown, after.unknown_count);
    for (uint32_t i = 0; i < after.unknown_count; i++) after.unknown[i] = types->unknown.items[unknown + i];
    return after;
}

/* Goes on with the list of messages behind `from` as it was at `told`. */
static void tell(CtTypes *types, CtDiag **from, const Told *told, uint32_t unknown) {
    CtContext *context = types->context;
    *from = told->first;
    context->last_diag = told->end;
    context->error_count = told->errors;
    context->warning_count = told->warnings;
    types->told_large = told->large;
    types->misnamed = told->misnamed;
    types->unknown.count = unknown;
    for (uint32_t i = 0; i < told->unknown_count; i++) ct_push(types->arena, &types->unknown, told->unknown[i]);
}

/* Whether a type has in it what stands for an error. */
static bool has_error(CtTy *type, uint32_t *left) {
    for (;;) {
        type = ct_types_ty_resolve(type);
        if (!ct_types_ty_take(left, type)) return true;
        if (type->kind != TY_APP) return type->kind == TY_CON && type->is_error;
        if (has_error(type->fun, left)) return true;
        type = type->arg;
    }
}

/* Whether an error has become the type of a variable of an outer group: it would stay so in the second attempt. */
static bool outer_failed(const CtTypes *types, CtTy *const *outer, uint32_t count) {
    uint32_t left = ct_types_ty_limit(types);
    for (uint32_t i = 0; i < count; i++)
        if (outer[i]->link && has_error(outer[i], &left)) return true;
    return false;
}

void ct_types_attempt(CtTypes *types, CtInference *infer, void *data) {
    if (types->is_library || types->attempt > 0) {
        infer(types, data);
        return;
    }
    const Told before = told(types);
    const Lengths before_lists = lengths(types);
    uint32_t unknown = types->unknown.count;
    uint32_t outer_count = types->metas.count;
    CtTy **outer = CT_NEW_ARRAY(types->arena, CtTy *, outer_count);
    for (uint32_t i = 0; i < outer_count; i++) outer[i] = types->metas.items[i];
    types->attempt = 1;
    infer(types, data);
    if (types->context->error_count > before.errors && !outer_failed(types, outer, outer_count)) {
        const Told after = told_since(types, &before, unknown);
        undo(types);
        shorten(types, before_lists);
        tell(types, before.end, &before, unknown);
        types->attempt = 2;
        infer(types, data);
        if (types->context->error_count > before.errors) tell(types, before.end, &after, unknown);
    }
    types->attempt = 0;
    types->saved.count = types->sums.count = 0;
}
