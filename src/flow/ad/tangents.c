/* The analysis of tangents: an abstract interpretation of the program over CtTangent, which finds the variables that
 * have tangents before any code is written.
 *
 * What is known of a function's parameters decides what is known in its body. So a function is analysed once for each
 * tuple of parameter tangents: a *variant*. A call of a variant that is under analysis uses what is known of its
 * results so far, and everything is repeated until a fixed point. Facts about carried variables, results and fields
 * only go up in the lattice (UNKNOWN < EITHER < ZERO, FULL < LAZY), so this terminates. */
#include "flow/ad/tangent.h"

enum {
    MOST_VARIANTS = 8, /* a function with more is analysed without knowledge of its parameters */
    MOST_ANEW = 6,     /* depth of loops that begin anew in each walk of the loop around */
};

typedef struct Known {
    CT_VEC(CtVariant *) variants;
} Known;

typedef struct Walk {
    CtTangents *t;
    CtVariant *v;
    uint32_t depth; /* of loops */
} Walk;

/* ---- what is known ---- */

static CtTangent join(const CtFlowType *type, CtTangent a, CtTangent b) {
    if (a == b || b == TANGENT_UNKNOWN) return a;
    if (a == TANGENT_UNKNOWN || a == TANGENT_EITHER) return b;
    if (b == TANGENT_EITHER) return a;
    return ct_flow_is_object(type) ? TANGENT_LAZY : TANGENT_FULL;
}

static void raise(CtTangents *t, const CtFlowType *type, CtTangent *at, CtTangent more) {
    CtTangent joined = join(type, *at, more);
    t->changed |= joined != *at;
    *at = joined;
}

bool ct_flow_tangents_active(CtTangents *t, const CtFlowType *type) {
    if (ct_map_has(&t->active, ct_key(type))) return ct_map_get(&t->active, ct_key(type)) != NULL;
    const CtFlowType *adjoint = ct_flow_tangent_type(t->flow, type);
    ct_map_set(t->arena, &t->active, ct_key(type), (void *)adjoint);
    return adjoint != NULL;
}

/* The facts about all fields of a node type, by constructor. */
static CtTangent **fields_of(CtTangents *t, const CtFlowData *data) {
    CtTangent **fields = ct_map_get(&t->fields, ct_key(data));
    if (fields != NULL) return fields;
    fields = CT_NEW_ARRAY(t->arena, CtTangent *, data->count + 1);
    for (uint32_t i = 0; i < data->count; i++)
        fields[i] = CT_NEW_ARRAY(t->arena, CtTangent, data->cons[i].fields.count + 1);
    ct_map_set(t->arena, &t->fields, ct_key(data), fields);
    return fields;
}

/* The tangent of a field of a node whose own tangent is `node`. */
static CtTangent field_tangent(CtTangents *t, CtTangent node, const CtFlowData *data, uint32_t tag, uint32_t field) {
    const CtFlowType *type = data->cons[tag].fields.items[field];
    if (node == TANGENT_UNKNOWN) return node;
    if (!ct_flow_tangent_counts(node) || !ct_flow_tangents_active(t, type)) return TANGENT_ZERO;
    CtTangent kept = fields_of(t, data)[tag][field];
    return node == TANGENT_FULL ? kept : join(type, kept, TANGENT_ZERO);
}

/* The tangent of a point is full in all its parts. */
static void fill(CtTangents *t, const CtFlowType *type, CtMap *seen) {
    if (type->kind == FLOW_ARRAY) fill(t, type->element, seen);
    if (type->kind != FLOW_NODE || ct_map_has(seen, ct_key(type))) return;
    ct_map_set(t->arena, seen, ct_key(type), NULL);
    const CtFlowData *data = type->data;
    for (uint32_t i = 0; i < data->count; i++)
        for (uint32_t j = 0; j < data->cons[i].fields.count; j++) {
            const CtFlowType *field = data->cons[i].fields.items[j];
            if (ct_flow_tangents_active(t, field)) raise(t, field, &fields_of(t, data)[i][j], TANGENT_FULL);
            fill(t, field, seen);
        }
}

CtTangent ct_flow_tangents_of(const CtVariant *v, const CtFlowArg *arg) {
    return arg->var == NULL ? TANGENT_ZERO : v->vars[arg->var->id];
}

static CtTangent of(const Walk *w, const CtFlowArg *arg) {
    CtTangent known = ct_flow_tangents_of(w->v, arg);
    return known == TANGENT_UNKNOWN && w->t->settling ? TANGENT_ZERO : known;
}

static void set(const Walk *w, const CtFlowVar *var, CtTangent known) {
    if (var != NULL) w->v->vars[var->id] = known;
}

/* ---- variants ---- */

static bool same(const CtTangent *a, const CtTangent *b, uint32_t count) {
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

static void look(CtTangents *t, CtVariant *v);

static CtVariant *find(CtTangents *t, CtFlowFunction *f, const CtTangent *params) {
    Known *known = ct_map_get(&t->known, ct_key(f));
    uint32_t count = f->params.count;
    if (known == NULL) {
        known = CT_NEW(t->arena, Known);
        ct_map_set(t->arena, &t->known, ct_key(f), known);
    }
    for (uint32_t i = 0; i < known->variants.count; i++)
        if (same(known->variants.items[i]->params, params, count)) return known->variants.items[i];
    CtVariant *v = CT_NEW(t->arena, CtVariant);
    v->origin = f;
    v->params = CT_NEW_ARRAY(t->arena, CtTangent, count + 1);
    v->results = CT_NEW_ARRAY(t->arena, CtTangent, f->results.count + 1);
    v->vars = CT_NEW_ARRAY(t->arena, CtTangent, f->vars + 1);
    memcpy(v->params, params, count * sizeof *params);
    ct_push(t->arena, &known->variants, v);
    ct_push(t->arena, &t->variants, v);
    t->changed = true;
    look(t, v);
    return v;
}

/* For a callee EITHER is ZERO. If a function has too many variants already, its parameters are taken to be unknown. */
CtVariant *ct_flow_tangents_variant(CtTangents *t, CtFlowFunction *f, const CtTangent *params) {
    CtTangent *asked = CT_NEW_ARRAY(t->arena, CtTangent, f->params.count + 1);
    for (uint32_t i = 0; i < f->params.count; i++)
        asked[i] = ct_flow_tangent_counts(params[i]) ? params[i] : TANGENT_ZERO;
    Known *known = ct_map_get(&t->known, ct_key(f));
    bool found = known == NULL || known->variants.count < MOST_VARIANTS;
    for (uint32_t i = 0; !found && i < known->variants.count; i++)
        found = same(known->variants.items[i]->params, asked, f->params.count);
    for (uint32_t i = 0; !found && i < f->params.count; i++) {
        const CtFlowType *type = f->params.items[i]->type;
        if (ct_flow_tangents_active(t, type) && CT_FIRED("tangents.too_many_variants"))
            asked[i] = ct_flow_is_object(type) ? TANGENT_LAZY : TANGENT_FULL;
    }
    return find(t, f, asked);
}

/* The variant that a call uses; NULL while some argument is UNKNOWN. */
static CtVariant *callee(const Walk *w, CtFlowFunction *f, const CtFlowArgs *args) {
    CtTangent *params = CT_NEW_ARRAY(w->t->arena, CtTangent, args->count + 1);
    for (uint32_t i = 0; i < args->count; i++) {
        params[i] = of(w, &args->items[i]);
        if (params[i] == TANGENT_UNKNOWN) return NULL;
    }
    return ct_flow_tangents_variant(w->t, f, params);
}

/* ---- steps ---- */

static bool is_real(const CtFlowType *type) { return type->kind == FLOW_F64 || type->kind == FLOW_F32; }

/* The tangent of a scalar computed from others. */
static CtTangent of_any(const Walk *w, const CtFlowArgs *args) {
    CtTangent known = TANGENT_ZERO;
    for (uint32_t i = 0; i < args->count; i++) {
        CtTangent arg = of(w, &args->items[i]);
        if (ct_flow_tangent_counts(arg)) return TANGENT_FULL;
        if (arg == TANGENT_UNKNOWN) known = arg;
    }
    return known;
}

static CtTangent of_prim(const Walk *w, const CtFlowStep *step) {
    if (!is_real(step->results.items[0]->type) || ct_prim_info(step->as.prim)->is_zero) return TANGENT_ZERO;
    return of_any(w, &step->args);
}

static CtTangent of_make(const Walk *w, const CtFlowStep *step) {
    const CtFlowTypes *types = &step->as.con.data->cons[step->as.con.tag].fields;
    bool some = false;
    for (uint32_t i = 0; i < types->count && !some; i++) some = ct_flow_tangents_active(w->t, types->items[i]);
    const CtFlowType *made = step->results.items[0]->type;
    if (!some)
        return ct_flow_tangents_active(w->t, made) && CT_FIRED("tangents.either") ? TANGENT_EITHER : TANGENT_ZERO;
    CtTangent known = of_any(w, &step->args);
    if (known == TANGENT_FULL && ct_flow_has_no_adjoint(made)) w->t->flow->refused = CT_FLOW_TOO_MANY_ORDERS;
    CtTangent *fields = fields_of(w->t, step->as.con.data)[step->as.con.tag];
    for (uint32_t i = 0; known == TANGENT_FULL && i < types->count; i++)
        if (ct_flow_tangents_active(w->t, types->items[i]))
            raise(w->t, types->items[i], &fields[i], of(w, &step->args.items[i]));
    return known;
}

static CtTangent of_read(const Walk *w, const CtFlowStep *step) {
    CtTangent array = of(w, &step->args.items[0]);
    const CtFlowType *type = step->results.items[0]->type;
    if (!ct_flow_tangent_counts(array)) return array == TANGENT_UNKNOWN ? array : TANGENT_ZERO;
    bool element = step->args.count > step->args.items[0].type->rank;
    if (!ct_flow_is_object(type)) return TANGENT_FULL;
    return element ? TANGENT_LAZY : array;
}

static CtTangent of_bulk(const Walk *w, const CtFlowStep *step) {
    const CtFlowArgs *args = &step->args;
    CtTangent last = args->count > 0 ? of(w, &args->items[args->count - 1]) : TANGENT_ZERO;
    if (last == TANGENT_EITHER) last = TANGENT_ZERO;
    switch (step->as.bulk) {
    case ARRAY_GATHER:
    case ARRAY_TRANSPOSE:
    case ARRAY_RESHAPE:
    case ARRAY_REVERSE:
    case ARRAY_SLICE:
    case ARRAY_CONCAT: return last;
    case ARRAY_APPEND:
    case ARRAY_REPLICATE:
    case ARRAY_SUM:
    case ARRAY_PRODUCT:
    case ARRAY_MAXIMUM:
    case ARRAY_MINIMUM: return of_any(w, args);
    case ARRAY_SHAPE:
    case ARRAY_IOTA:
    case ARRAY_ARGMAX:
    case ARRAY_ARGMIN:
    case ARRAY_INDEX:
    case ARRAY_LENGTH:
    case ARRAY_BUILD:
    case ARRAY_MAP:
    case ARRAY_ZIP_WITH:
    case ARRAY_FOLDL:
    case ARRAY_SCANL:
    case ARRAY_REDUCE:
    case ARRAY_SCAN:
    case ARRAY_MAP_ACCUM:
    case ARRAY_STRIDED:
    case ARRAY_GATHER_OR:
    case ARRAY_SCATTER_ADD:
    case ARRAY_ADD_AT:
    case ARRAY_SUM_ROWS:
    case ARRAY_SELECT:
    case ARRAY_UPDATE:
    case ARRAY_SNOC:
    case CT_ARRAY_OP_COUNT: break; /* these give Ints, or do not occur in Flow: whole_arrays.c */
    }
    return TANGENT_ZERO;
}

static void walk_block(const Walk *w, const CtFlowBlock *block, const CtFlowStep *owner);

static void walk_switch(const Walk *w, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count; i++) set(w, step->results.items[i], TANGENT_UNKNOWN);
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        walk_block(w, block, step);
        for (uint32_t j = 0; block->exit == EXIT_YIELD && j < step->results.count; j++) {
            const CtFlowVar *var = step->results.items[j];
            if (var != NULL) set(w, var, join(var->type, w->v->vars[var->id], of(w, &block->values.items[j])));
        }
    }
}

/* Whether a block updates elements of an array. */
static bool changes(const CtFlowBlock *block, const CtFlowVar *var) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_UPDATE && step->args.items[0].var == var) return true;
        for (uint32_t j = 0; step->kind == FLOW_LOOP && j < step->as.loop.carried; j++)
            if (step->args.items[1 + j].var == var &&
                changes(step->as.loop.block, step->as.loop.block->params.items[1 + j]))
                return true;
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            if (changes(step->as.cases.branches[j].block, var)) return true;
    }
    return false;
}

bool ct_flow_tangents_are_full(const CtFlowStep *loop, uint32_t i) {
    const CtFlowBlock *block = loop->as.loop.block;
    const CtFlowVar *param = block->params.items[1 + i];
    if (param->type->kind != FLOW_ARRAY) return false;
    if (loop->as.loop.initial && loop->results.items[loop->as.loop.carried + i]->type->rank > 1)
        return CT_FIRED("tangents.full_rows");
    return !ct_flow_is_object(param->type->element) && changes(block, param) && CT_FIRED("tangents.full_array");
}

static CtTangent carried(const CtFlowStep *step, uint32_t i, CtTangent known) {
    return ct_flow_tangent_counts(known) && ct_flow_tangents_are_full(step, i) ? TANGENT_FULL : known;
}

/* Where each loop of a nest began anew in every walk of the one around, they would be walked 2^depth times. So what an
 * earlier walk found stays: of numbers, where that changes nothing, and far inside of what may become LAZY for it. */
static void begin_carried(const Walk *w, const CtFlowStep *step, uint32_t i) {
    const CtFlowVar *param = step->as.loop.block->params.items[1 + i];
    if (ct_flow_is_object(param->type) && w->depth <= MOST_ANEW) set(w, param, TANGENT_UNKNOWN);
}

static bool raise_carried(const Walk *w, const CtFlowStep *step, uint32_t i, CtTangent more) {
    const CtFlowVar *param = step->as.loop.block->params.items[1 + i];
    CtTangent *at = &w->v->vars[param->id], before = *at;
    *at = carried(step, i, join(param->type, before, more));
    return *at != before;
}

static CtTangent of_items(CtTangent item) {
    return ct_flow_tangent_counts(item) ? TANGENT_FULL : item == TANGENT_UNKNOWN ? item : TANGENT_ZERO;
}

static void walk_loop(const Walk *w, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    uint32_t count = step->as.loop.carried;
    CtFlowVar **params = block->params.items + 1;
    Walk inner = {w->t, w->v, w->depth + 1};
    for (uint32_t i = 0; i < count; i++) {
        begin_carried(&inner, step, i);
        raise_carried(w, step, i, of(w, &step->args.items[1 + i]));
    }
    set(w, block->params.items[0], TANGENT_ZERO);
    for (bool grown = true; grown && CT_FIRED("tangents.loop");) {
        grown = false;
        walk_block(&inner, block, step);
        for (uint32_t i = 0; block->exit == EXIT_YIELD && i < count; i++)
            grown |= raise_carried(w, step, i, of(w, &block->values.items[i]));
    }
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtTangent known = i < count ? w->v->vars[params[i]->id] : TANGENT_UNKNOWN;
        if (i >= count && step->as.loop.initial)
            known = of_items(w->v->vars[params[i - count]->id]);
        else if (i >= count && block->exit == EXIT_YIELD)
            known = of_items(of(w, &block->values.items[i]));
        set(w, step->results.items[i], known);
    }
}

static void walk_step(const Walk *w, const CtFlowStep *step) {
    CtTangent known = TANGENT_ZERO;
    switch (step->kind) {
    case FLOW_SWITCH: walk_switch(w, step); return;
    case FLOW_LOOP: walk_loop(w, step); return;
    case FLOW_CALL: {
        const CtVariant *v = callee(w, step->as.function, &step->args);
        for (uint32_t i = 0; i < step->results.count; i++)
            set(w, step->results.items[i], v == NULL ? TANGENT_UNKNOWN : v->results[i]);
        return;
    }
    case FLOW_OPEN: {
        CtTangent node = of(w, &step->args.items[0]);
        for (uint32_t i = 0; i < step->results.count; i++)
            set(w, step->results.items[i], field_tangent(w->t, node, step->as.con.data, step->as.con.tag, i));
        return;
    }
    case FLOW_PRIM: known = of_prim(w, step); break;
    case FLOW_MAKE: known = of_make(w, step); break;
    case FLOW_READ: known = of_read(w, step); break;
    case FLOW_UPDATE:
    case FLOW_SNOC:
    case FLOW_ITEMS:
        known = of_any(w, &step->args);
        if (step->args.count == 0 && ct_flow_tangents_active(w->t, step->results.items[0]->type))
            known = TANGENT_EITHER;
        break;
    case FLOW_BULK: known = of_bulk(w, step); break;
    case FLOW_PRODUCT: known = of_items(of_any(w, &step->args)); break;
    case FLOW_CONSTANT:
    case FLOW_STRING:
    case FLOW_FAIL:
    case FLOW_CHECK:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE:
    case FLOW_CHECK_SLICE:
    case FLOW_DIM:
    case FLOW_LITERALS:
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP:
    case FLOW_STOP:
    case FLOW_RETAIN:
    case FLOW_LINK:
    case FLOW_RELEASE: break;
    }
    for (uint32_t i = 0; i < step->results.count; i++) set(w, step->results.items[i], known);
}

/* ---- blocks and functions ---- */

/* A function and those that it tail-calls have the same results, so facts about them are shared. */
static void walk_tail(const Walk *w, const CtFlowBlock *block) {
    CtVariant *v = callee(w, block->tail, &block->values);
    for (uint32_t i = 0; v != NULL && i < w->v->origin->results.count; i++) {
        const CtFlowType *type = w->v->origin->results.items[i];
        raise(w->t, type, &w->v->results[i], v->results[i]);
        raise(w->t, type, &v->results[i], w->v->results[i]);
    }
}

static void walk_block(const Walk *w, const CtFlowBlock *block, const CtFlowStep *owner) {
    (void)owner;
    for (uint32_t i = 0; i < block->steps.count; i++) walk_step(w, block->steps.items[i]);
    if (block->exit == EXIT_TAIL) walk_tail(w, block);
    for (uint32_t i = 0; block->exit == EXIT_RETURN && i < block->values.count; i++)
        raise(w->t, block->values.items[i].type, &w->v->results[i], of(w, &block->values.items[i]));
}

/* The tangent that a rule gives is full in all its parts. */
static void look_at_rule(CtTangents *t, CtVariant *v) {
    const CtVariant *own = ct_flow_rule_own_variant(t, v);
    bool varies = ct_flow_rule_point_varies(v);
    for (uint32_t i = 0; i < v->origin->results.count; i++) {
        const CtFlowType *type = v->origin->results.items[i];
        CtMap seen = {0};
        if (own != NULL) raise(t, type, &v->results[i], own->results[i]);
        if (varies && ct_flow_tangents_active(t, type)) {
            fill(t, type, &seen);
            raise(t, type, &v->results[i], TANGENT_FULL);
        } else if (own == NULL) {
            raise(t, type, &v->results[i], TANGENT_ZERO);
        }
    }
}

static void look(CtTangents *t, CtVariant *v) {
    Walk w = {t, v, 0};
    for (uint32_t i = 0; i < v->origin->params.count; i++) set(&w, v->origin->params.items[i], v->params[i]);
    if (v->origin->rule != NULL)
        look_at_rule(t, v);
    else
        walk_block(&w, v->origin->body, NULL);
}

static void look_until_settled(CtTangents *t) {
    do {
        t->changed = false;
        for (uint32_t i = 0; i < t->variants.count; i++) look(t, t->variants.items[i]);
    } while (t->changed);
}

CtTangents *ct_flow_tangents(CtFlow *flow, CtFlowFunction *f, uint32_t captured) {
    CtTangents *t = CT_NEW(flow->arena, CtTangents);
    t->flow = flow;
    t->arena = flow->arena;
    CtTangent *params = CT_NEW_ARRAY(t->arena, CtTangent, f->params.count + 1);
    for (uint32_t i = 0; i < f->params.count; i++) {
        const CtFlowType *type = f->params.items[i]->type;
        bool point = i >= captured && ct_flow_tangents_active(t, type);
        CtMap seen = {0};
        params[i] = point ? TANGENT_FULL : TANGENT_ZERO;
        if (point) fill(t, type, &seen);
    }
    t->root = ct_flow_tangents_variant(t, f, params);
    look_until_settled(t);
    t->settling = true; /* what is still UNKNOWN is unreachable */
    look_until_settled(t);
    return t;
}
