/* Simplification of array terms: traversal, value numbering, elimination of dead bindings, and reassembly. */
#include "ad/bulk/rewrite/simplify.h"

static bool is_atom(const CtBulk *t) {
    return t->kind == BULK_VAR || (t->kind == BULK_CONST && !t->as.constant.reals && !t->as.constant.integers);
}

/* ---- equal terms share a variable ---- */

static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3u + (hash >> 29); }

static uint64_t hash_part(uint64_t hash, const CtBulk *t) {
    if (t->kind == BULK_VAR) return mix(hash, t->as.var->id + 1);
    if (t->kind != BULK_CONST) return mix(hash, t->kind);
    uint64_t bits;
    memcpy(&bits, &t->as.constant.real, sizeof bits);
    return mix(hash, bits ^ (uint64_t)t->as.constant.integer);
}

/* The hash of a term of atoms. An index function only contributes its kind, which equal terms have in common too. */
static uint64_t hash_term(const CtBulk *t) {
    uint64_t hash = mix(14695981039346656037u, (uint64_t)t->kind * 64 + (uint64_t)t->element);
    for (uint32_t k = 0; k < t->shape.rank; k++) hash = mix(hash, (uint64_t)t->shape.sizes[k]);
    switch (t->kind) {
    case BULK_CONST:
        for (int64_t i = 0; i < ct_bulk_shape_count(t->shape) && i < 16; i++) {
            uint64_t bits = 0;
            if (t->as.constant.reals) memcpy(&bits, &t->as.constant.reals[i], sizeof bits);
            hash = mix(hash, t->as.constant.integers ? (uint64_t)t->as.constant.integers[i] : bits);
        }
        return hash;
    case BULK_COND: return hash_part(hash_part(hash_part(hash, t->as.cond.test), t->as.cond.yes), t->as.cond.no);
    case BULK_OP:
        hash = mix(hash, (uint64_t)t->as.op.prim);
        for (uint32_t k = 0; k < t->as.op.count; k++) hash = hash_part(hash, t->as.op.args[k]);
        return hash;
    case BULK_LOGIC: return hash_part(mix(hash, (uint64_t)t->as.logic.logic), t->as.logic.args[0]);
    case BULK_REDUCE: return hash_part(mix(hash, (uint64_t)t->as.reduce.reduction), t->as.reduce.t);
    case BULK_INDEX:
    case BULK_ONE_HOT:
    case BULK_GATHER:
    case BULK_SCATTER:
        hash = hash_part(mix(hash, t->as.move.f.count), t->as.move.t);
        for (uint32_t k = 0; t->as.move.f.var_count == 0 && k < t->as.move.f.count; k++)
            hash = hash_part(hash, t->as.move.f.ix[k]);
        return hash;
    case BULK_LITERAL:
        for (uint32_t k = 0; k < t->as.literal.count; k++) hash = hash_part(hash, t->as.literal.items[k]);
        return hash;
    case BULK_REPLICATE:
    case BULK_STOP:
    case BULK_RESHAPE: return hash_part(hash, t->as.t);
    case BULK_TRANSPOSE: return hash_part(hash, t->as.transpose.t);
    case BULK_CHECK: return hash_part(hash_part(hash, t->as.check.test), t->as.check.t);
    case BULK_LOOP:
        hash = mix(hash, t->as.loop.result);
        for (uint32_t k = 0; k < ct_bulk_loop_params(t->as.loop.loop); k++) hash = hash_part(hash, t->as.loop.args[k]);
        return hash;
    case BULK_VAR:
    case BULK_LET:
    case BULK_BUILD:
    case BULK_SHARE: break;
    }
    return hash;
}

/* ---- binding ---- */

static const char made_name[] = "t"; /* the name of terms that the program does not name; compared by address */

CtBulk *ct_bulk_simplify_known(const CtSimplifier *s, CtBulk *t) {
    const CtBulkBinding *b = t->kind == BULK_VAR ? ct_map_get(&s->known, ct_key(t->as.var)) : NULL;
    return b ? b->term : t;
}

/* The variable bound to an equal term, or a new one. */
static CtBulk *number(CtSimplifier *s, CtBulk *t) {
    CtArena *arena = s->r->arena;
    uint64_t hash = hash_term(t);
    CtBulkBinding *first = ct_map_get(&s->hashes, hash);
    for (CtBulkBinding *b = first; b; b = b->same_hash)
        if (!b->out_of_scope && ct_bulk_same(b->term, t)) return ct_bulk_var(s->r, b->var);
    CtBulkBinding *made = CT_NEW(arena, CtBulkBinding);
    *made = (CtBulkBinding){.term = t, .hash = hash, .same_hash = first};
    made->var = ct_bulk_new_var(s->r, made_name, t->element, t->shape);
    ct_map_set(arena, &s->hashes, hash, made);
    ct_map_set(arena, &s->known, ct_key(made->var), made);
    ct_push(arena, &s->block->bindings, made);
    if (t->element == ELEMENT_INT) ct_bulk_note_var(&s->ranges, made->var, ct_bulk_range(&s->ranges, t));
    return ct_bulk_var(s->r, made->var);
}

CtBulk *ct_bulk_simplify_emit(CtSimplifier *s, CtBulk *t) {
    if (is_atom(t)) return t;
    if (ct_bulk_shape_count(t->shape) == 0 && !ct_bulk_may_fail(s, t)) return ct_bulk_zero(s->r, t->element, t->shape);
    CtBulk *simpler = ct_bulk_simplify_rule(s, t);
    return simpler ? simpler : number(s, t);
}

/* ---- putting back together ---- */

/* Bounds a term that is substituted for its variable: its text must stay readable, and its nesting shallow. */
enum { SIZE_LIMIT = 24 };

typedef struct Assembly {
    CtSimplifier *s;
    CtMap inlined; /* CtBulkVar * -> CtBulk * */
    uint32_t size; /* of the term being assembled */
    bool inside;   /* inside an index function, where each use counts as several */
    bool late;     /* for terms that depend on the cotangent */
    uint32_t user; /* position of the term whose uses are counted */
    const CtBulkVar *cotangent;
} Assembly;

static CtBulk *count_uses(void *data, CtBulk *t) {
    Assembly *a = data;
    if (t->kind == BULK_VAR) {
        CtBulkBinding *b = ct_map_get(&a->s->known, ct_key(t->as.var));
        if (!b) return t;
        b->uses += a->inside ? 2 : 1;
        b->user = a->user;
        b->used_inside |= a->inside;
        if (a->late) b->used_late = true;
        return t;
    }
    bool inside = a->inside;
    bool binds =
        t->kind == BULK_BUILD || ((t->kind == BULK_GATHER || t->kind == BULK_SCATTER) && t->as.move.f.var_count);
    if (binds && t->kind != BULK_BUILD) count_uses(a, t->as.move.t);
    if (binds) a->inside = true;
    if (binds && t->kind != BULK_BUILD) {
        for (uint32_t k = 0; k < t->as.move.f.count; k++) count_uses(a, t->as.move.f.ix[k]);
        if (t->as.move.f.live) count_uses(a, t->as.move.f.live);
    } else {
        ct_bulk_map(a->s->r, t, count_uses, a);
    }
    a->inside = inside;
    return t;
}

static CtBulk *measure(void *data, CtBulk *t) {
    Assembly *a = data;
    a->size++;
    return t->kind == BULK_VAR || t->kind == BULK_CONST ? t : ct_bulk_map(a->s->r, t, measure, a);
}

static CtBulk *put_back(void *data, CtBulk *t) {
    Assembly *a = data;
    CtBulk *inlined = t->kind == BULK_VAR ? ct_map_get(&a->inlined, ct_key(t->as.var)) : NULL;
    return inlined ? inlined : t;
}

/* The subterms of a binding are atoms, so they need no traversal. Nothing is substituted into index functions. */
static CtBulk *assemble(Assembly *a, CtBulk *t) {
    if (is_atom(t)) return put_back(a, t);
    if (t->kind == BULK_BUILD) return t;
    return ct_bulk_map(a->s->r, t, put_back, a);
}

/* Sets `late` when t depends on the cotangent. */
static CtBulk *find_late(void *data, CtBulk *t) {
    Assembly *a = data;
    if (t->kind != BULK_VAR) return ct_bulk_map(a->s->r, t, find_late, a);
    const CtBulkBinding *b = ct_map_get(&a->s->known, ct_key(t->as.var));
    if (t->as.var == a->cotangent || (b && b->late)) a->late = true;
    return t;
}

static bool is_late(Assembly *a, CtBulk *t) {
    a->late = false;
    if (a->cotangent) find_late(a, t);
    return a->late;
}

static void count_root(Assembly *a, CtBulk *t) {
    a->late = is_late(a, t);
    count_uses(a, t);
}

/* Whether the k-th binding, an unused result of a loop, is not needed for the loop's errors: another result stays, or
 * will be considered later, when all uses are known. */
static bool another_result_stays(const CtBulkBlock *block, uint32_t k) {
    const CtBulk *t = block->bindings.items[k]->term;
    for (uint32_t j = 0; j < block->bindings.count; j++) {
        const CtBulk *u = block->bindings.items[j]->term;
        if (j == k || (j > k && !block->bindings.items[j]->uses)) continue;
        if (ct_bulk_same_loop(t, u)) return true;
    }
    return false;
}

/* Counts uses from the last binding to the first: a binding that is used, or can fail, keeps what it mentions. */
static void count_all(Assembly *a, const CtBulkBlock *block) {
    for (uint32_t k = block->bindings.count; k-- > 0;) {
        CtBulkBinding *b = block->bindings.items[k];
        b->fails = ct_bulk_may_fail(a->s, b->term);
        if (!b->uses && b->term->kind == BULK_LOOP && another_result_stays(block, k)) b->fails = false;
        a->late = b->late;
        a->user = k;
        if (b->uses || b->fails) count_uses(a, b->term);
    }
}

/* Whether the k-th binding's term can be evaluated at its use: errors must keep their order, and a check precedes what
 * it guards. No order is known between several roots. A loop keeps a line of its own. */
static bool can_move(const CtBulkBlock *block, const uint32_t *failing, uint32_t k, bool one_root) {
    const CtBulkBinding *b = block->bindings.items[k];
    if (b->uses != 1 || (b->used_late && !b->late) || b->term->kind == BULK_LOOP) return false;
    if (!b->fails) return true;
    if (b->user == block->bindings.count) return one_root && failing[b->user] == failing[k + 1];
    CtBulkKind user = block->bindings.items[b->user]->term->kind;
    if (user == BULK_CHECK || user == BULK_LOOP) return false; /* whose argument may turn out not to be needed */
    return failing[b->user] == failing[k + 1];
}

static bool is_iota(const CtBulk *t) {
    return t->kind == BULK_CONST && t->shape.rank == 1 && ct_bulk_is_iota(t, t->shape.sizes[0]);
}

/* [0, …, n − 1], and [0, …, n − 1] == replicate n i: as the test of a conditional it says which element is updated, and
 * is not computed (lower_updates.c), provided that it is written there. So it is repeated at each use. */
static bool is_repeated(const CtBulk *t) {
    if (is_iota(t)) return true;
    if (t->kind == BULK_REPLICATE && t->element == ELEMENT_BOOL) return t->shape.rank == 2 && is_repeated(t->as.t);
    if (t->kind == BULK_REPLICATE) return t->shape.rank == 1 && t->element == ELEMENT_INT && is_atom(t->as.t);
    return t->kind == BULK_OP && t->as.op.prim == PRIM_INT_EQ && t->shape.rank == 1 &&
           (is_iota(t->as.op.args[0]) || is_iota(t->as.op.args[1]));
}

/* Assembles the remaining bindings. */
static void assemble_all(Assembly *a, const CtBulkBlock *block, CtBulkGradient *out, bool one_root) {
    CtArena *arena = a->s->r->arena;
    /* Number of failing bindings before each position. */
    uint32_t *failing = CT_NEW_ARRAY(arena, uint32_t, block->bindings.count + 1);
    for (uint32_t k = 0; k < block->bindings.count; k++) failing[k + 1] = failing[k] + block->bindings.items[k]->fails;
    for (uint32_t k = 0; k < block->bindings.count; k++) {
        CtBulkBinding *b = block->bindings.items[k];
        if (!b->uses && !b->fails) continue;
        CtBulk *term = assemble(a, b->term);
        a->size = 0;
        measure(a, term);
        bool repeated = !b->fails && !b->used_inside && is_repeated(term);
        if ((repeated || can_move(block, failing, k, one_root)) && a->size <= SIZE_LIMIT) {
            ct_map_set(arena, &a->inlined, ct_key(b->var), term);
            if (b->fails && b->user < block->bindings.count) block->bindings.items[b->user]->fails = true;
        } else {
            ct_push(arena, &out->vars, b->var);
            ct_push(arena, &out->terms, term);
        }
    }
}

/* ---- walking ---- */

/* Simplifies a term as a block of its own. */
static CtBulk *closed(CtSimplifier *s, CtBulk *t) {
    CtBulkBlock inner = {{0}}, *outer = s->block;
    s->block = &inner;
    CtBulk *root = ct_bulk_simplify_walk(s, t);
    s->block = outer;
    Assembly a = {.s = s};
    CtBulkGradient out = {.value = NULL};
    for (uint32_t k = 0; k < inner.bindings.count; k++) inner.bindings.items[k]->uses = 0;
    a.user = inner.bindings.count;
    count_uses(&a, root);
    count_all(&a, &inner);
    assemble_all(&a, &inner, &out, true);
    t = assemble(&a, root);
    for (uint32_t k = out.vars.count; k-- > 0;) t = ct_bulk_let(s->r, out.vars.items[k], out.terms.items[k], t);
    for (uint32_t k = 0; k < inner.bindings.count; k++) inner.bindings.items[k]->out_of_scope = true;
    return t;
}

CtIndexing ct_bulk_simplify_indexing(CtSimplifier *s, CtIndexing f, const int64_t *sizes) {
    CtArena *arena = s->r->arena;
    for (uint32_t k = 0; k < f.var_count; k++) ct_bulk_note_var(&s->ranges, f.vars[k], (CtRange){0, sizes[k] - 1});
    CtBulk **ix = CT_NEW_ARRAY(arena, CtBulk *, f.count);
    for (uint32_t k = 0; k < f.count; k++) ix[k] = f.var_count ? closed(s, f.ix[k]) : ct_bulk_simplify_walk(s, f.ix[k]);
    f.ix = ix;
    if (f.live) f.live = f.var_count ? closed(s, f.live) : ct_bulk_simplify_walk(s, f.live);
    return f;
}

static CtBulk *walk_part(void *data, CtBulk *t) { return ct_bulk_simplify_walk(data, t); }

static CtBulk *walk_move(CtSimplifier *s, CtBulk *t) {
    CtBulk *source = ct_bulk_simplify_walk(s, t->as.move.t);
    CtShape points = t->kind == BULK_GATHER ? t->shape : source->shape;
    CtIndexing f = ct_bulk_simplify_indexing(s, t->as.move.f, points.sizes);
    CtBulk *made = CT_NEW(s->r->arena, CtBulk);
    *made = *t;
    made->as.move.t = source;
    made->as.move.f = f;
    return made;
}

static CtBulk *walk_build(CtSimplifier *s, CtBulk *t) {
    ct_bulk_note_var(&s->ranges, t->as.build.var, (CtRange){0, t->shape.sizes[0] - 1});
    return ct_bulk_build(s->r, t->shape.sizes[0], t->as.build.var, closed(s, t->as.build.body));
}

static CtBulk *walk_loop(CtSimplifier *s, CtBulk *t) {
    if (t->as.loop.loop->steps == 1 && t->as.loop.loop->rule == NULL)
        return ct_bulk_simplify_walk(s, ct_bulk_one_step(s->r, t));
    CtBulkLoop *loop = ct_bulk_loop_simple(s->r, t->as.loop.loop);
    CtBulk **args = CT_NEW_ARRAY(s->r->arena, CtBulk *, ct_bulk_loop_params(loop));
    for (uint32_t k = 0; k < ct_bulk_loop_params(loop); k++) args[k] = ct_bulk_simplify_walk(s, t->as.loop.args[k]);
    return ct_bulk_simplify_emit(s, ct_bulk_loop(s->r, loop, args, t->as.loop.result));
}

/* For let x = t, renames the variable made for t to x. */
static void name_it(CtSimplifier *s, CtBulkVar *var, CtBulk *atom) {
    if (atom->kind == BULK_VAR && atom->as.var->name == made_name) atom->as.var->name = var->name;
    ct_map_set(s->r->arena, &s->env, ct_key(var), atom);
}

CtBulk *ct_bulk_simplify_walk(CtSimplifier *s, CtBulk *t) {
    while (t->kind == BULK_LET) {
        name_it(s, t->as.let.var, ct_bulk_simplify_walk(s, t->as.let.rhs));
        t = t->as.let.body;
    }
    switch (t->kind) {
    case BULK_CONST: return ct_bulk_simplify_emit(s, t);
    case BULK_VAR: {
        CtBulk *now = ct_map_get(&s->env, ct_key(t->as.var));
        return now ? now : t;
    }
    case BULK_INDEX:
    case BULK_GATHER:
    case BULK_SCATTER:
    case BULK_ONE_HOT: return ct_bulk_simplify_emit(s, walk_move(s, t));
    case BULK_BUILD: return ct_bulk_simplify_emit(s, walk_build(s, t));
    case BULK_LOOP: return walk_loop(s, t);
    case BULK_SHARE: return ct_bulk_simplify_walk(s, t->as.share.t);
    case BULK_LET:
    case BULK_COND:
    case BULK_OP:
    case BULK_LOGIC:
    case BULK_REDUCE:
    case BULK_LITERAL:
    case BULK_REPLICATE:
    case BULK_TRANSPOSE:
    case BULK_RESHAPE:
    case BULK_STOP:
    case BULK_CHECK: break;
    }
    return ct_bulk_simplify_emit(s, ct_bulk_map(s->r, t, walk_part, s));
}

/* One round: bindings and roots are simplified together. */
static void simplify_once(CtBulkBuilder *r, CtBulkLoop *around, CtBulkGradient *g, CtBulk **roots, uint32_t count,
                          const CtBulkVar *cotangent) {
    CtBulkBlock block = {{0}};
    CtSimplifier s = {.r = r, .block = &block, .ranges = {.r = r}};
    if (around) ct_bulk_note_var(&s.ranges, around->index, (CtRange){0, around->steps - 1});
    s.ranges.total = around && around->total;
    for (uint32_t k = 0; k < g->vars.count; k++)
        name_it(&s, g->vars.items[k], ct_bulk_simplify_walk(&s, g->terms.items[k]));
    for (uint32_t k = 0; k < count; k++)
        if (roots[k]) roots[k] = ct_bulk_simplify_walk(&s, roots[k]);
    Assembly a = {.s = &s, .cotangent = cotangent};
    for (uint32_t k = 0; k < block.bindings.count; k++) {
        CtBulkBinding *b = block.bindings.items[k];
        b->uses = 0;
        b->used_inside = false;
        b->late = is_late(&a, b->term);
    }
    a.user = block.bindings.count;
    for (uint32_t k = 0; k < count; k++)
        if (roots[k]) count_root(&a, roots[k]);
    count_all(&a, &block);
    g->vars.count = g->terms.count = 0;
    assemble_all(&a, &block, g, false);
    for (uint32_t k = 0; k < count; k++)
        if (roots[k]) roots[k] = assemble(&a, roots[k]);
}

/* A term that only an unused result needed becomes dead when that result is dropped; for nested loops this takes
 * another round. */
enum { TRIM_LIMIT = 8 };

static void simplify_all(CtBulkBuilder *r, CtBulkLoop *around, CtBulkGradient *g, CtBulk **roots, uint32_t count,
                         const CtBulkVar *cotangent) {
    simplify_once(r, around, g, roots, count, cotangent);
    for (uint32_t k = 0; k < TRIM_LIMIT && ct_bulk_trim_loops(r, g->terms.items, g->terms.count, roots, count); k++)
        simplify_once(r, around, g, roots, count, cotangent);
}

CtBulkLoop *ct_bulk_loop_simple(CtBulkBuilder *r, CtBulkLoop *loop) {
    if (loop->simple) return loop->simple;
    CtBulkLoop *made = ct_bulk_new_loop(r, loop->steps, loop->count, loop->outputs);
    CtBulkGradient g = {.value = NULL};
    for (uint32_t k = 0; k < loop->vars.count; k++) {
        ct_push(r->arena, &g.vars, loop->vars.items[k]);
        ct_push(r->arena, &g.terms, loop->terms.items[k]);
    }
    made->index = loop->index;
    made->from_back = loop->from_back;
    made->total = loop->total;
    made->rule = loop->rule;
    for (uint32_t k = 0; k < ct_bulk_loop_params(loop); k++) made->params[k] = loop->params[k];
    for (uint32_t k = 0; k < ct_bulk_loop_results(loop); k++) made->results[k] = loop->results[k];
    simplify_all(r, made, &g, made->results, ct_bulk_loop_results(made), NULL);
    for (uint32_t k = 0; k < g.vars.count; k++) {
        ct_push(r->arena, &made->vars, g.vars.items[k]);
        ct_push(r->arena, &made->terms, g.terms.items[k]);
    }
    if (loop->normal == loop) made->normal = made;
    loop->simple = made->simple = made;
    return made;
}

CtBulk *ct_bulk_simplify(CtBulkBuilder *r, CtBulk *t) {
    for (uint32_t k = 0; k < TRIM_LIMIT; k++) {
        CtBulkBlock block = {{0}};
        CtSimplifier s = {.r = r, .block = &block, .ranges = {.r = r}};
        t = closed(&s, t);
        if (!ct_bulk_trim_loops(r, NULL, 0, &t, 1)) break;
    }
    return t;
}

void ct_bulk_simplify_gradient(CtBulkBuilder *r, CtBulkGradient *g, uint32_t count, const CtBulkVar *cotangent) {
    CtBulk **roots = CT_NEW_ARRAY(r->arena, CtBulk *, count + 1);
    roots[0] = g->value;
    for (uint32_t k = 0; k < count; k++) roots[k + 1] = g->gradient[k];
    simplify_all(r, NULL, g, roots, count + 1, cotangent);
    g->value = roots[0];
    for (uint32_t k = 0; k < count; k++) g->gradient[k] = roots[k + 1];
}
