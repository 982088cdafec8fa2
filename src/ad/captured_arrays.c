/* Captured arrays of which elements are read.
 *
 * To convert a captured array costs its size, each time that a function value is converted: to the dual numbers of a
 * derivative for which it is constant, or from these to primals. If a function does nothing with the array but reading
 * elements, these are converted instead. An element that is a row is not, in a loop: it may be read for one number. */
#include "ad/internal.h"

typedef struct Reads {
    CtAd *ad;
    CtTransform *t; /* to dual numbers; NULL: to primals */
    CtMethod method;
    const CtVar *var;
    bool only;    /* nothing else is done */
    bool in_loop; /* in the function of an array operation */
} Reads;

static bool is_variable(const CtCore *core, const CtVar *var) { return core->kind == CORE_VAR && core->as.var == var; }

static bool is_index(const CtCore *core) { return core->kind == CORE_ARRAY && core->as.call.of.array == ARRAY_INDEX; }

/* xs ! i ! j …, or xs itself */
static bool is_part(const CtCore *core, const CtVar *var) {
    while (is_index(core)) core = core->as.call.args[0];
    return is_variable(core, var);
}

static bool is_read(const CtCore *core, const CtVar *var) {
    if (core->kind != CORE_ARRAY || !is_part(core->as.call.args[0], var)) return false;
    return is_index(core) || core->as.call.of.array == ARRAY_LENGTH;
}

static bool is_small(const CtType *type) {
    if (type->kind != TYPE_TUPLE) return ct_ad_is_real(type) || ct_is_discrete((CtType *)type);
    for (uint32_t i = 0; i < type->count; i++)
        if (!is_small(type->parts[i])) return false;
    return true;
}

static CtCore *find_reads(void *data, CtCore *core);

/* The indices of xs ! i ! j … */
static void find_in_indices(Reads *r, CtCore *core) {
    for (; is_index(core); core = core->as.call.args[0]) {
        CtCore *index = core->as.call.args[1];
        if (r->t != NULL && !ct_ad_lift_pure(r->t, index)) r->only = false;
        find_reads(r, index);
    }
}

static bool captures(CtAd *ad, CtLam *lam, const CtVar *var) {
    if (!lam->captures_known) ct_core_captures(ad->p, lam);
    for (uint32_t i = 0; i < lam->capture_count; i++)
        if (lam->captures[i] == var) return true;
    return false;
}

/* The function of an array operation that is written there: its transformed λ needs no link to its origin. */
static CtCore *find_in_loop(Reads *r, CtCore *core) {
    int function = ct_core_array_info(core->as.call.of.array)->function;
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        CtCore *arg = core->as.call.args[i];
        bool before = r->in_loop, inside = (int)i == function && arg->kind == CORE_LAM && arg->as.lam->origin == NULL;
        r->in_loop = before || inside;
        find_reads(r, inside ? arg->as.lam->body : arg);
        r->in_loop = before;
    }
    return core;
}

/* What a transformed λ captures stays as its origin has it. So the variable may not be used by a λ that has an origin,
 * or will have one. */
static CtCore *find_reads(void *data, CtCore *core) {
    Reads *r = data;
    if (!r->only) return core;
    if (is_read(core, r->var)) {
        bool whole = is_index(core) && !is_small(core->type) && (r->t != NULL || r->in_loop);
        if (whole) r->only = false;
        find_in_indices(r, is_index(core) ? core : core->as.call.args[0]);
        return core;
    }
    if (core->kind == CORE_ARRAY) return find_in_loop(r, core);
    bool fixed = core->kind == CORE_LAM && (r->t != NULL || core->as.lam->origin != NULL);
    if (is_variable(core, r->var) || (fixed && captures(r->ad, core->as.lam, r->var))) r->only = false;
    return r->only ? ct_core_map(r->ad->p, core, find_reads, r) : core;
}

static bool has_reals(const CtVar *var) { return var->type->kind == TYPE_ARRAY && !ct_is_discrete(var->type); }

bool ct_ad_is_only_read(CtAd *ad, const CtLam *lam, const CtVar *var) {
    Reads r = {.ad = ad, .var = var, .only = has_reals(var) && lam->origin == NULL};
    for (uint32_t i = 0; i < lam->group_count; i++) {
        if (lam->group[i]->origin != NULL) return false;
        find_reads(&r, lam->group[i]->node->as.lam->body);
    }
    if (lam->group_count == 0) find_reads(&r, lam->body);
    return r.only;
}

/* ---- to primals ---- */

/* primal_M (c' ! i) for c ! i, in a term in which c' stands for c */ static CtCore *read_primals(void *data,
                                                                                                  CtCore *core);

/* c' ! i ! j … for c ! i ! j … */
static CtCore *dual_part(Reads *r, CtCore *core) {
    if (!is_index(core)) return core;
    CtCore *args[2] = {dual_part(r, core->as.call.args[0]), read_primals(r, core->as.call.args[1])};
    return ct_core_array(r->ad->p, core->range, ARRAY_INDEX, args, 2);
}

static CtCore *read_primals(void *data, CtCore *core) {
    Reads *r = data;
    if (!is_read(core, r->var)) return ct_core_map(r->ad->p, core, read_primals, r);
    if (is_index(core)) return ct_ad_poly_primal(r->ad, r->method, core->range, core->type, dual_part(r, core));
    CtCore *part = dual_part(r, core->as.call.args[0]);
    return ct_core_array(r->ad->p, core->range, ARRAY_LENGTH, &part, 1);
}

CtCore *ct_ad_read_primals(CtAd *ad, CtMethod method, const CtVar *var, CtCore *term) {
    Reads r = {.ad = ad, .method = method, .var = var};
    return read_primals(&r, term);
}

/* ---- to dual numbers ---- */

bool ct_ad_stays_constant(CtTransform *t, const CtLam *lam, const CtVar *var) {
    if (t->rules->lambda != NULL || t->rules->closed != NULL || lam->group != NULL) return false;
    Reads r = {.ad = t->ad, .t = t, .var = var, .only = has_reals(var)};
    find_reads(&r, lam->body);
    return r.only;
}

bool ct_ad_is_constant_read(CtTransform *t, const CtCore *core) {
    bool reads = core->as.call.of.array == ARRAY_INDEX || core->as.call.of.array == ARRAY_LENGTH;
    if (t->constants.count == 0 || !reads) return false;
    core = core->as.call.args[0];
    while (is_index(core)) core = core->as.call.args[0];
    return core->kind == CORE_VAR && ct_map_has(&t->constants, ct_key(core->as.var));
}

static CtCore *constant_part(CtTransform *t, CtCore *core) {
    if (!is_index(core)) return ct_ad_direct(t, core);
    CtCore *args[2] = {constant_part(t, core->as.call.args[0]), ct_ad_direct(t, core->as.call.args[1])};
    return ct_core_array(t->p, core->range, ARRAY_INDEX, args, 2);
}

CtCore *ct_ad_constant_read(CtTransform *t, CtCore *core) {
    if (is_index(core)) return ct_ad_poly_embed(t->ad, t->method, core->range, core->type, constant_part(t, core));
    CtCore *part = constant_part(t, core->as.call.args[0]);
    return ct_core_array(t->p, core->range, ARRAY_LENGTH, &part, 1);
}
