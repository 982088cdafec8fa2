/* chad: pairs of primal and transposed derivative, in a local accumulation monad. CHAD 2024 Figs. 2 and 7, §§4 to 9.
 *
 *   D_Γ[t] = ⟨x, x'⟩   x : D[τ]₁, the primal;   x' : D[τ]₂ → EVM D[Γ]₂ 1, its transposed derivative
 *
 * Cotangents are propagated from a term to its subterms, and finally to variables, where they are added to the
 * environment: a mutable array with a cell for each variable in scope. Zeros cost nothing, structures are sparse, and
 * an addition costs what the two structures have in common; so the reverse pass costs a constant times the steps of the
 * program (§6). D[τ]₁ is τ except for functions. Accumulation is the only effect, so the backpropagators of a tuple's
 * components, or of an array's elements, are independent of each other. */
#include "ad/chad/chad.h"

enum {
    MOST_APART = 16,       /* bindings of which is asked whether they use each other */
    USES_LOOKED_FOR = 1000 /* nodes of a term that are asked */
};

CtBack *ct_chad_back(CtChad *c, CtCore *core, void (*emit)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d)) {
    CtBack *back = CT_NEW(c->ad->arena, CtBack);
    *back = (CtBack){.emit = emit, .core = core, .depth = c->depth};
    return back;
}

void ct_chad_back_call(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    if (!back || !d) return;
    d = ct_ad_seq_name(seq, "d", d);
    back->emit(c, seq, back, d);
}

static CtCore **copied(CtChad *c, CtCore *const *cores, uint32_t count) {
    CtCore **copy = CT_NEW_ARRAY(c->ad->arena, CtCore *, count);
    memcpy(copy, cores, count * sizeof *cores);
    return copy;
}

/* Whether a term contains a call. */
static bool calls(CtChad *c, CtCore *term) {
    CtCoreList todo = {0};
    ct_push(c->ad->arena, &todo, term);
    for (uint32_t nodes = 0; todo.count > 0; nodes++) {
        CtCore *core = todo.items[--todo.count];
        if (core->kind == CORE_APP || nodes == USES_LOOKED_FOR) return true;
        ct_core_children(c->ad->arena, core, &todo);
    }
    return false;
}

/* Whether several of these terms contain calls, so that choices in one must not wait for another (§8). */
static bool several_call(CtChad *c, CtCore *const *cores, uint32_t count) {
    uint32_t calling = 0;
    for (uint32_t i = 0; i < count && calling < 2; i++) calling += calls(c, cores[i]);
    return calling > 1;
}

CtCore **ct_chad_values(CtChad *c, CtSeq *seq, CtCore *const *cores, uint32_t count, CtBack ***parts) {
    CtCore **xs = CT_NEW_ARRAY(c->ad->arena, CtCore *, count);
    CtBack **backs = CT_NEW_ARRAY(c->ad->arena, CtBack *, count);
    bool any = false, beside = c->beside;
    c->beside = beside || several_call(c, cores, count);
    for (uint32_t i = 0; i < count; i++) {
        CtPaired made = ct_chad_chad(c, seq, cores[i]);
        xs[i] = ct_ad_movable(made.x) ? made.x : ct_ad_seq_name(seq, "x", made.x);
        backs[i] = made.back;
        any = any || made.back;
    }
    *parts = any ? backs : NULL;
    c->beside = beside;
    return xs;
}

static CtPaired constant(CtCore *x) { return (CtPaired){x, NULL}; }

/* ---- types ---- */

CtType *ct_chad_cot(CtAd *ad) {
    CtGlobal *zero = ct_ad_library(ad, "zero");
    return zero ? zero->type : ad->p->unit_type;
}

CtType *ct_chad_cotangent(CtAd *ad, CtType *type) { return ct_ad_is_real(type) ? ad->p->double_type : ct_chad_cot(ad); }

CtCore *ct_chad_make(CtAd *ad, CtSourceRange range, const char *con, CtCore *const *args, uint32_t count) {
    return ct_ad_library_con(ad, range, ct_chad_cot(ad), con, args, count);
}

CtCore *ct_chad_zero(CtAd *ad, CtSourceRange range) { return ct_chad_make(ad, range, "Zero", NULL, 0); }

/* 0 of D[τ]₂, as a Cot. */
static CtCore *zero_of(CtChad *c, CtSourceRange range, CtType *type) {
    if (!c->rung.dense || ct_is_discrete(type)) return ct_chad_zero(c->ad, range);
    if (ct_ad_is_real(type)) return ct_chad_box(c, range, type, ct_core_double(c->p, range, -0.0));
    if (type->kind != TYPE_TUPLE) return ct_chad_zero(c->ad, range);
    CtCore **zeros = CT_NEW_ARRAY(c->ad->arena, CtCore *, type->count);
    for (uint32_t i = 0; i < type->count; i++) zeros[i] = zero_of(c, range, type->parts[i]);
    CtCore *all = ct_core_array_lit(c->p, range, ct_chad_cot(c->ad), zeros, type->count);
    return ct_chad_make(c->ad, range, "Dense", &all, 1);
}

CtCore *ct_chad_box(CtChad *c, CtSourceRange range, CtType *type, CtCore *d) {
    return ct_ad_is_real(type) ? ct_chad_make(c->ad, range, "Real", &d, 1) : d;
}

CtCore *ct_chad_unbox(CtChad *c, CtSourceRange range, CtType *type, CtCore *cot) {
    return ct_ad_is_real(type) ? ct_ad_library_call(c->ad, range, "real", &cot, 1) : cot;
}

CtCore *ct_chad_at(CtChad *c, CtSourceRange range, CtCore *index, CtCore *cot) {
    CtCore *args[2] = {index, cot};
    return ct_ad_library_call(c->ad, range, "at", args, 2);
}

CtCore *ct_chad_elements(CtChad *c, CtSourceRange range, CtType *element, CtCore *n, CtCore *d) {
    CtCore *args[2] = {n, d};
    return ct_ad_library_call(c->ad, range, ct_ad_is_real(element) ? "reals" : "collect", args, 2);
}

CtCore *ct_chad_dense(CtChad *c, CtSourceRange range, CtType *element, CtCore *elements) {
    return ct_chad_make(c->ad, range, ct_ad_is_real(element) ? "Reals" : "Dense", &elements, 1);
}

/* ---- variables and what is bound ---- */

/* D[x] = ⟨x, λd. one_x d⟩ */
static void variable_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    if (c->straight) {
        ct_chad_straight_add(c, seq, back, NULL, d);
        return;
    }
    ct_chad_add(c, seq, back->core->range, back->places[0], d);
}

static CtPaired variable(CtChad *c, CtCore *core) {
    CtPaired made = constant(ct_core_var(c->p, core->range, ct_ad_var(c->t, core->as.var)));
    CtPlace place = ct_chad_where(c, core->as.var);
    if (place.kind == PLACE_NONE || place.kind == PLACE_CLOSED) return made;
    made.back = ct_chad_back(c, core, variable_back);
    made.back->places = CT_NEW(c->ad->arena, CtPlace);
    made.back->places[0] = place;
    return made;
}

/* Brings a variable into scope; `varies` says whether it is bound to an active value. */
static CtPlace bind(CtChad *c, CtVar *var, bool varies) {
    CtPlace place = {PLACE_NONE, 0};
    if (!var) return place;
    if (varies && !ct_is_discrete(var->type)) place = ct_chad_cell(c);
    ct_chad_place(c, var, place);
    return place;
}

/* The cotangent of a variable at the end of its scope, unboxed. */
static CtCore *scoped(CtChad *c, CtSeq *seq, CtSourceRange range, const CtVar *var, CtPlace place) {
    CtCore *cot = ct_chad_pop(c, seq, range, place.number);
    return cot ? ct_ad_seq_name(seq, "d", ct_chad_unbox(c, range, var->type, cot)) : NULL;
}

static CtCore *product(CtChad *c, CtSeq *seq, CtSourceRange range, CtType *const *types, CtVar *const *vars,
                       const CtPlace *places, uint32_t count);

/* The cotangent of what a binding binds, at the end of the scope:
 * D[let x = t in s] = let ⟨x, x'⟩ = D[t] in let ⟨y, y'⟩ = D[s] in ⟨y, λd. do { dx ← scope (y' d); x' dx }⟩ */
static CtCore *bound(CtChad *c, CtSeq *seq, const CtBack *binding) {
    const CtCore *core = binding->core;
    CtSourceRange range = core->range;
    if (core->kind == CORE_LET) return scoped(c, seq, range, core->as.let.vars[0], binding->places[0]);
    CtCore *d = core->kind == CORE_LETREC ? ct_chad_pop(c, seq, range, binding->places[0].number)
                                          : product(c, seq, range, core->as.let.rhs->type->parts, core->as.let.vars,
                                                    binding->places, core->as.let.count);
    return d ? ct_ad_seq_name(seq, "d", d) : NULL;
}

static CtBack *let(CtChad *c, CtSeq *seq, CtCore *core) {
    CtPaired rhs = ct_chad_chad(c, seq, core->as.let.rhs);
    bool is_let = core->kind == CORE_LET, varies = false;
    uint32_t count = is_let ? 1 : core->as.let.count;
    CtVar **vars = CT_NEW_ARRAY(c->ad->arena, CtVar *, count);
    CtPlace *places = CT_NEW_ARRAY(c->ad->arena, CtPlace, count);
    CtBack *back = ct_chad_back(c, core, NULL);
    for (uint32_t i = 0; i < count; i++) {
        vars[i] = ct_ad_bind(c->t, core->as.let.vars[i]);
        places[i] = bind(c, core->as.let.vars[i], rhs.back != NULL);
        varies = varies || places[i].kind != PLACE_NONE;
    }
    ct_ad_seq_unpack(seq, core->range, vars, is_let ? 0 : count, rhs.x);
    if (!varies) return NULL;
    back->places = places;
    back->parts = CT_NEW(c->ad->arena, CtBack *);
    back->parts[0] = rhs.back;
    return back;
}

/* Whether any of the variables that a binding binds occurs in a term. */
static bool uses(CtChad *c, CtCore *term, const CtCore *binding) {
    CtCoreList todo = {0};
    ct_push(c->ad->arena, &todo, term);
    for (uint32_t nodes = 0; todo.count > 0; nodes++) {
        CtCore *core = todo.items[--todo.count];
        if (nodes == USES_LOOKED_FOR) return true;
        for (uint32_t i = 0; core->kind == CORE_VAR && i < binding->as.let.count; i++)
            if (binding->as.let.vars[i] == core->as.var) return true;
        ct_core_children(c->ad->arena, core, &todo);
    }
    return false;
}

/* The first of the bindings from `end` − 1 backwards none of which uses another one of them. */
static uint32_t first_apart(CtChad *c, CtBack *const *parts, uint32_t end) {
    uint32_t first = end - 1;
    if (parts[first]->core->kind == CORE_LETREC) return first;
    for (; first > 0 && end - first < MOST_APART; first--) {
        if (parts[first - 1]->core->kind == CORE_LETREC) return first;
        for (uint32_t i = first; i < end; i++)
            if (uses(c, parts[i]->core->as.let.rhs, parts[first - 1]->core)) return first;
    }
    return first;
}

/* The body first, then the bindings in reverse order. Where none uses another one, the cotangents of all are taken from
 * their cells first, so that the backpropagators do not depend on each other (§8). */
static void bindings_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    uint32_t end = back->count - 1;
    ct_chad_back_call(c, seq, back->parts[end], d);
    while (end > 0) {
        uint32_t first = first_apart(c, back->parts, end);
        CtCore *ds[MOST_APART];
        for (uint32_t i = end; i-- > first;) ds[i - first] = bound(c, seq, back->parts[i]);
        for (uint32_t i = end; i-- > first;) ct_chad_back_call(c, seq, back->parts[i]->parts[0], ds[i - first]);
        end = first;
    }
}

/* The same for the values and the body of a chain of bindings. */
static bool several_bindings_call(CtChad *c, CtCore *core) {
    uint32_t calling = 0;
    for (; calling < 2 && core->kind != CORE_LETREC; core = core->as.let.body) {
        if (core->kind != CORE_LET && core->kind != CORE_UNPACK) return calling + calls(c, core) > 1;
        calling += calls(c, core->as.let.rhs);
    }
    return true;
}

/* Iterates over a chain of bindings, which may be long. */
static CtPaired bindings(CtChad *c, CtSeq *seq, CtCore *core) {
    CtBack *back = ct_chad_back(c, core, bindings_back);
    CT_VEC(CtBack *) parts = {0};
    bool beside = c->beside;
    c->beside = beside || several_bindings_call(c, core);
    for (;;) {
        CtBack *part;
        if (core->kind == CORE_LET || core->kind == CORE_UNPACK) {
            part = let(c, seq, core);
            core = core->as.let.body;
        } else if (core->kind == CORE_LETREC) {
            part = ct_chad_letrec(c, seq, core);
            core = core->as.letrec.body;
        } else
            break;
        if (part) ct_push(c->ad->arena, &parts, part);
    }
    c->beside = beside;
    CtPaired body = ct_chad_chad(c, seq, core);
    if (!ct_ad_movable(body.x)) body.x = ct_ad_seq_name(seq, "y", body.x);
    c->depth = back->depth;
    if (!body.back) return body;
    ct_push(c->ad->arena, &parts, body.back);
    back->parts = parts.items;
    back->count = parts.count;
    body.back = back;
    return body;
}

/* ---- products ---- */

/* Combines the cotangents of the components: all of them in a tuple, or a bag of those that may be nonzero. */
static CtCore *product(CtChad *c, CtSeq *seq, CtSourceRange range, CtType *const *types, CtVar *const *vars,
                       const CtPlace *places, uint32_t count) {
    CtCore **cots = CT_NEW_ARRAY(c->ad->arena, CtCore *, count);
    uint32_t found = 0;
    for (uint32_t i = count; i-- > 0;) { /* the last cell first, in the reverse order of creation */
        cots[i] = vars[i] && places[i].kind != PLACE_NONE ? ct_chad_pop(c, seq, range, places[i].number) : NULL;
        if (!cots[i] && c->rung.dense) cots[i] = zero_of(c, range, types[i]);
        if (cots[i]) found++;
    }
    bool dense = found * 2 > count;
    for (uint32_t i = 0; dense && i < count; i++)
        if (!cots[i]) cots[i] = ct_chad_zero(c->ad, range);
    if (dense) {
        CtCore *array = ct_core_array_lit(c->p, range, ct_chad_cot(c->ad), cots, count);
        return ct_chad_make(c->ad, range, "Dense", &array, 1);
    }
    CtCore *bag = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!cots[i]) continue;
        CtCore *item = ct_chad_at(c, range, ct_core_int(c->p, range, i), cots[i]);
        CtCore *args[2] = {bag, item};
        bag = bag ? ct_ad_library_call(c->ad, range, "plus", args, 2) : item;
    }
    return bag;
}

/* D[⟨t, s⟩] = ⟨⟨x, y⟩, λd. do { x' (lfst d); y' (lsnd d) }⟩; the two do not depend on each other. */
static void components_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    CtCore *n = ct_core_int(c->p, range, back->count);
    CtCore *ds = ct_ad_seq_name(seq, "ds", ct_chad_elements(c, range, ct_chad_cot(c->ad), n, d));
    CtCore **parts = CT_NEW_ARRAY(c->ad->arena, CtCore *, back->count);
    for (uint32_t i = 0; i < back->count; i++) {
        CtCore *args[2] = {ds, ct_core_int(c->p, range, i)};
        CtType *type = back->core->as.call.args[i]->type;
        if (!back->parts[i]) continue;
        CtCore *part = ct_core_array(c->p, range, ARRAY_INDEX, args, 2);
        parts[i] = ct_ad_seq_name(seq, "d", ct_chad_unbox(c, range, type, part));
    }
    for (uint32_t i = 0; i < back->count; i++) ct_chad_back_call(c, seq, back->parts[i], parts[i]);
}

static void con_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtCore *args[2] = {ct_core_int(c->p, back->core->range, back->core->as.call.of.con->tag), d};
    components_back(c, seq, back,
                    ct_ad_seq_name(seq, "d", ct_ad_library_call(c->ad, back->core->range, "cast", args, 2)));
}

static void maybe_components_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    ct_chad_unless_zero(c, seq, back, d, back->core->kind == CORE_CON ? con_back : components_back);
}

static CtPaired components(CtChad *c, CtSeq *seq, CtCore *core) {
    CtBack **parts;
    CtCore **xs = ct_chad_values(c, seq, core->as.call.args, core->as.call.count, &parts);
    CtPaired made = constant(ct_ad_rebuild(c->t, core, xs));
    if (!parts) return made;
    made.back = ct_chad_back(c, core, maybe_components_back);
    made.back->parts = parts;
    made.back->count = core->as.call.count;
    return made;
}

/* D[fst t] = ⟨fst x, λd. x' ⟨d, 0⟩⟩ */
static void projection_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    if (c->rung.dense) {
        CtType *type = back->core->as.proj.tuple->type;
        CtCore **all = CT_NEW_ARRAY(c->ad->arena, CtCore *, type->count);
        for (uint32_t i = 0; i < type->count; i++)
            all[i] = i == back->core->as.proj.index ? ct_chad_box(c, range, type->parts[i], d)
                                                    : zero_of(c, range, type->parts[i]);
        CtCore *items = ct_core_array_lit(c->p, range, ct_chad_cot(c->ad), all, type->count);
        ct_chad_back_call(c, seq, back->parts[0], ct_chad_make(c->ad, range, "Dense", &items, 1));
        return;
    }
    CtCore *index = ct_core_int(c->p, range, back->core->as.proj.index);
    CtCore *cot = ct_chad_box(c, range, back->core->type, d);
    ct_chad_back_call(c, seq, back->parts[0], ct_chad_at(c, range, index, cot));
}

static CtPaired projection(CtChad *c, CtSeq *seq, CtCore *core) {
    CtBack **parts;
    CtCore **xs = ct_chad_values(c, seq, &core->as.proj.tuple, 1, &parts);
    CtPaired made = constant(ct_core_proj(c->p, core->range, xs[0], core->as.proj.index));
    if (!parts || ct_is_discrete(core->type)) return made;
    made.back = ct_chad_back(c, core, projection_back);
    made.back->parts = parts;
    return made;
}

/* ---- sums ---- */

/* A branch in the reverse pass: after y' d, the cotangents of the fields go to the scrutinee. */
static void branch_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    ct_chad_back_call(c, seq, back->parts[0], d);
    const CtCase *branch = back->count > 0 ? &back->core->as.cases.cases[back->count - 1] : NULL;
    if (!branch || back->places[0].kind == PLACE_NONE) return;
    CtCore *fields = product(c, seq, range, branch->con->fields, branch->vars, back->places + 1, branch->con->count);
    if (!fields) return;
    CtCore *args[2] = {ct_core_int(c->p, range, branch->con->tag), fields};
    CtCore *whole = ct_ad_seq_name(seq, "d", ct_ad_library_call(c->ad, range, "inject", args, 2));
    ct_chad_add(c, seq, range, back->places[0], whole);
}

/* A branch under construction: ⟨x, x'⟩ and its bindings. `number` counts from 1; 0 is the default. */
typedef struct Branch {
    CtSeq seq;
    CtPaired made;
    CtVar **vars;
} Branch;

static Branch branch(CtChad *c, CtCore *core, uint32_t number, CtPlace scrutinee) {
    Branch out = {.seq = ct_ad_seq(c->p, NULL)};
    CtBack *back = ct_chad_back(c, core, branch_back);
    const CtCase *source = number > 0 ? &core->as.cases.cases[number - 1] : NULL;
    uint32_t count = source ? source->con->count : 0;
    out.vars = CT_NEW_ARRAY(c->ad->arena, CtVar *, count);
    back->places = CT_NEW_ARRAY(c->ad->arena, CtPlace, count + 1);
    back->places[0] = scrutinee;
    for (uint32_t i = 0; i < count; i++) {
        out.vars[i] = ct_ad_bind(c->t, source->vars[i]);
        back->places[i + 1] = bind(c, source->vars[i], scrutinee.kind != PLACE_NONE);
    }
    bool beside = c->beside;
    c->beside = false; /* the branch has an environment of its own if it needs one */
    out.made = ct_chad_chad(c, &out.seq, source ? source->body : core->as.cases.otherwise);
    c->beside = beside;
    c->depth = back->depth;
    back->parts = CT_NEW(c->ad->arena, CtBack *);
    back->parts[0] = out.made.back;
    back->count = number;
    if (out.made.back) out.made.back = back;
    return out;
}

static CtCore *branch_body(CtChad *c, CtCore *core, Branch *b, bool varies) {
    if (!varies) return ct_ad_seq_close(&b->seq, b->made.x);
    CtCore *x = ct_ad_movable(b->made.x) ? b->made.x : ct_ad_seq_name(&b->seq, "y", b->made.x);
    CtCore *back = ct_chad_backpropagator(c, core->type, core->range, false, b->made.back);
    CtCore *pair = ct_core_pair(c->p, core->range, x, back);
    return ct_ad_seq_close(&b->seq, pair);
}

static void run_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    ct_chad_run(c, seq, back->core->range, back->values[0], d, back->depth);
}

/* What the branches have added to cells of their own environment is added to those of the frame. */
static void run_apart(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    CtCore *own = ct_chad_run_apart(c, seq, range, back->values[0], d);
    for (uint32_t i = 0; i < back->count; i++) {
        CtCore *args[2] = {own, ct_core_int(c->p, range, back->places[i].number)};
        ct_chad_add(c, seq, range, back->places[i], ct_core_array(c->p, range, ARRAY_INDEX, args, 2));
    }
}

static void choice_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    if (back->apart)
        run_apart(c, seq, back, d);
    else
        ct_chad_unless_zero(c, seq, back, d, run_back);
}

/* The cells in scope to which a term may add. */
static void find_places(CtChad *c, CtBack *back) {
    CtCoreList todo = {0};
    CtMap found = {0};
    CT_VEC(CtPlace) places = {0};
    ct_push(c->ad->arena, &todo, back->core);
    while (todo.count > 0) {
        CtCore *core = todo.items[--todo.count];
        ct_core_children(c->ad->arena, core, &todo);
        CtPlace place = core->kind == CORE_VAR ? ct_chad_where(c, core->as.var) : (CtPlace){PLACE_NONE, 0};
        if (place.kind == PLACE_CAPTURED) place = (CtPlace){PLACE_CELL, 0, place.var};
        if (place.kind != PLACE_CELL || place.number >= back->depth || ct_map_has(&found, place.number)) continue;
        ct_map_set(c->ad->arena, &found, place.number, core);
        ct_push(c->ad->arena, &places, place);
    }
    back->places = places.items;
    back->count = places.count;
}

/* D[case z of ⟨C ⟨x⟩ → s⟩] = case z of ⟨C ⟨x⟩ → let ⟨y, y'⟩ = D[s] in ⟨y, λd. do { dx ← scope (y' d); one_z (in_C dx)
 * }⟩⟩. A scrutinee that is not a variable is bound to a name, so that its backpropagator occurs once, behind the case,
 * and not in each branch. */
static CtPaired choice(CtChad *c, CtSeq *seq, CtCore *core) {
    CtCore *scrutinee = core->as.cases.scrutinee;
    bool is_var = scrutinee->kind == CORE_VAR;
    CtPlace place = is_var ? ct_chad_where(c, scrutinee->as.var) : (CtPlace){PLACE_NONE, 0};
    CtCore *z = ct_chad_chad(c, seq, scrutinee).x;
    uint32_t count = core->as.cases.count;
    Branch *made = CT_NEW_ARRAY(c->ad->arena, Branch, count + 1);
    bool varies = false;
    for (uint32_t i = 0; i <= count; i++) {
        if (i == count && !core->as.cases.otherwise) break;
        made[i] = branch(c, core, i == count ? 0 : i + 1, place);
        varies = varies || made[i].made.back;
    }
    varies = varies && !ct_is_discrete(core->type);
    CtType *type = ct_ad_type(c->ad, c->t->method, core->type);
    if (varies) type = ct_core_type_pair(c->p, type, ct_chad_backpropagator_type(c->ad, c->t->method, core->type));
    CtCase *cases = CT_NEW_ARRAY(c->ad->arena, CtCase, count);
    for (uint32_t i = 0; i < count; i++) {
        CtCore *body = branch_body(c, core, &made[i], varies);
        cases[i] = (CtCase){ct_ad_con(c->t, core->as.cases.cases[i].con), made[i].vars, body};
    }
    CtCore *otherwise = core->as.cases.otherwise ? branch_body(c, core, &made[count], varies) : NULL;
    CtCore *chosen = ct_core_case(c->p, core->range, type, z, cases, count, otherwise);
    if (!varies) return constant(chosen);
    CtBack *back = ct_chad_back(c, core, choice_back);
    CtCore *parts[2];
    ct_ad_seq_open(seq, "y", "y'", chosen, parts);
    back->values = copied(c, &parts[1], 1);
    back->apart = c->beside && ct_chad_calls_apart(c) && calls(c, core);
    if (back->apart) find_places(c, back);
    return (CtPaired){parts[0], back};
}

/* let z = t in case z of … */
static CtPaired named_choice(CtChad *c, CtSeq *seq, CtCore *core) {
    CtCore *scrutinee = core->as.cases.scrutinee;
    if (scrutinee->kind == CORE_VAR || ct_is_discrete(scrutinee->type)) return choice(c, seq, core);
    CtVar *z = ct_core_var_new(c->p, "z", scrutinee->type);
    CtCore *use = ct_core_var(c->p, scrutinee->range, z);
    CtCore *inner = ct_core_case(c->p, core->range, core->type, use, core->as.cases.cases, core->as.cases.count,
                                 core->as.cases.otherwise);
    return bindings(c, seq, ct_core_let(c->p, core->range, z, scrutinee, inner));
}

/* ---- primitives ---- */

/* ∂op/∂xᵢ · d as a Double. The partial derivative of a Float is multiplied so that a structural zero d stays one. */
static CtCore *partial(CtChad *c, const CtOperation *op, CtCore *const *values, uint32_t i, CtCore *d) {
    CtCore *y = values[op->count];
    if (ct_ad_is_conversion(op->prim)) return d;
    if (op->type->kind == TYPE_DOUBLE) return ct_ad_derivative(c->ad, op, i, values, y, d);
    CtCore *p = ct_ad_led(c->ad, op, i, values, y, ct_core_double(c->p, op->range, -0.0), &d);
    return ct_core_prim2(c->p, op->range, PRIM_SCALE, ct_ad_to_double(c->ad, op->range, p), d);
}

static CtOperation operation_of(const CtCore *core) {
    CtOperation op = {
        .range = core->range, .prim = core->as.call.of.prim, .type = core->type, .count = core->as.call.count};
    for (uint32_t i = 0; i < op.count; i++) op.types[i] = core->as.call.args[i]->type;
    return op;
}

/* λd. let ⟨d₁, …⟩ = Dopᵗ(x₁, …; d) in do { x₁' d₁; … } */
static void primitive_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtOperation op = operation_of(back->core);
    CtCore *ds[2] = {NULL, NULL};
    for (uint32_t i = 0; i < op.count; i++)
        if (back->parts[i]) ds[i] = ct_ad_seq_name(seq, "d", partial(c, &op, back->values, i, d));
    for (uint32_t i = 0; i < op.count; i++) ct_chad_back_call(c, seq, back->parts[i], ds[i]);
}

/* D[op(t₁, …)] = let ⟨x₁, x₁'⟩ = D[t₁] in … ⟨op(x₁, …), …⟩ */
static CtPaired primitive(CtChad *c, CtSeq *seq, CtCore *core) {
    CtBack **parts;
    uint32_t count = core->as.call.count;
    CtCore **xs = ct_chad_values(c, seq, core->as.call.args, count, &parts);
    CtCore *y = ct_core_prim(c->p, core->range, core->as.call.of.prim, xs, count);
    if (!parts || !ct_ad_is_operation(core)) return constant(y);
    CtBack *back = ct_chad_back(c, core, primitive_back);
    back->values = CT_NEW_ARRAY(c->ad->arena, CtCore *, count + 1);
    for (uint32_t i = 0; i < count; i++) back->values[i] = ct_ad_seq_name(seq, "x", xs[i]);
    back->values[count] = ct_ad_seq_name(seq, "y", y);
    CtOperation op = operation_of(core);
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        bool leads =
            ct_ad_is_conversion(op.prim) || ct_ad_derivative(c->ad, &op, i, back->values, back->values[count], NULL);
        if (!leads) parts[i] = NULL;
        any = any || parts[i];
    }
    back->parts = parts;
    return (CtPaired){back->values[count], any ? back : NULL};
}

/* ---- the rest ---- */

static CtPaired stop(CtChad *c, CtSeq *seq, CtCore *core) {
    CtCore *x = ct_chad_chad(c, seq, core->as.call.args[0]).x;
    return constant(ct_core_deriv(c->p, core->range, DERIV_STOP, &x, 1));
}

static CtPaired failure(CtChad *c, CtSeq *seq, CtCore *core) {
    CtCore *message = core->as.fail.message ? ct_chad_chad(c, seq, core->as.fail.message).x : NULL;
    return constant(ct_ad_rebuild(c->t, core, &message));
}

CtPaired ct_chad_chad(CtChad *c, CtSeq *seq, CtCore *core) {
    switch (core->kind) {
    case CORE_VAR: return variable(c, core);
    case CORE_LET:
    case CORE_UNPACK:
    case CORE_LETREC: return bindings(c, seq, core);
    case CORE_TUPLE:
    case CORE_CON: return components(c, seq, core);
    case CORE_PROJ: return projection(c, seq, core);
    case CORE_CASE: return named_choice(c, seq, core);
    case CORE_LIT:
    case CORE_STRING: return constant(core);
    case CORE_GLOBAL: return constant(ct_ad_global_ref(c->t, core));
    case CORE_PRIM: return primitive(c, seq, core);
    case CORE_LAM: return ct_chad_lambda_value(c, core);
    case CORE_APP: return ct_chad_application(c, seq, core);
    case CORE_ARRAY:
    case CORE_ARRAY_LIT: return ct_chad_array(c, seq, core);
    case CORE_DUAL: return ct_chad_dual(c, seq, core);
    case CORE_DERIV:
        if (core->as.call.of.deriv == DERIV_CHECKPOINT) return ct_chad_checkpoint(c, seq, core);
        return ct_core_deriv_has_rule(core->as.call.of.deriv) ? ct_chad_custom(c, seq, core) : stop(c, seq, core);
    case CORE_FAIL: return failure(c, seq, core);
    }
    return constant(core);
}

/* ---- the method ---- */

static CtType *same_type(CtAd *ad, CtType *type) {
    (void)ad;
    return type;
}

static CtCore *same(CtAd *ad, CtSourceRange range, CtCore *x) {
    (void)ad, (void)range;
    return x;
}

CtChadRung ct_chad_rung(CtMethod method) {
    return (CtChadRung){
        .local = method == METHOD_CHAD, .dense = method == METHOD_CHAD_NAIVE, .twice = method == METHOD_CHAD_NAIVE};
}

/* chad-naive runs the backpropagator of a call twice, and would do so with all that it runs again. */
#define CHAD_RULES(again)                                                                                              \
    {                                                                                                                  \
        .real = same_type, .constant = same, .primal = same, .function = ct_chad_function_type,                        \
        .lambda = ct_chad_lambda, .closed = ct_chad_closed, .jvp = ct_chad_jvp, .vjp = ct_chad_vjp,                    \
        .runs_again = again                                                                                            \
    }
const CtRules ct_chad_naive_rules = CHAD_RULES(false), ct_chad_sparse_rules = CHAD_RULES(true),
              ct_chad_rules = CHAD_RULES(true);
