/* Recording of a derivative while it is computed.
 *
 * While a method is recorded, each D[op] ends in a call of a function that returns its last argument,
 *     seen op ⟨D[x], ∂op/∂x⟩ D[op ⟨x⟩]
 * which a watcher of the evaluator observes (ct_eval_watch). The dual number that it returns is one object wherever it
 * is passed, so the watcher recognises which operation made it. Likewise for the cells of the environment to which
 * `chad` adds: seen x d env. */
#include "ad/internal.h"

typedef struct CtRecorder {
    CtRules rules;           /* the method's own, except for `operation` */
    const CtRules *original; /* NULL: nothing is recorded */
    CT_VEC(CtOperationNote) notes;
    CT_VEC(CtCellNote) cells;
    bool is_of_cells;
    CtMap functions; /* CtSym, the types of the arguments -> CtGlobal * */
} CtRecorder;

CtType *ct_ad_state_type(CtAd *ad, CtMethod method) { return ct_ad_state(ad, method); }

/* seen : (Int, σ, …, D[ℝ]) → D[ℝ], which gives back its last argument */
static CtGlobal *seen(CtAd *ad, CtCore *const *args, uint32_t count) {
    CtText types = ct_text(ad->arena);
    for (uint32_t i = 0; i < count; i++) ct_text_printf(&types, "%u ", args[i]->type->id);
    CtSym key = ct_intern_text(&ad->p->context->symbols, types.data);
    CtGlobal *global = ct_map_get(&ad->recorder->functions, ct_key(key));
    if (global) return global;
    CtSourceRange range = args[count - 1]->range;
    CtVar **params = CT_NEW_ARRAY(ad->arena, CtVar *, count);
    for (uint32_t i = 0; i < count; i++) params[i] = ct_core_var_new(ad->p, "d", args[i]->type);
    CtCore *body = ct_core_var(ad->p, range, params[count - 1]);
    CtCore *lam = ct_core_lam(ad->p, range, "seen", params, count, body);
    global = ct_ad_new_global(ad, "seen", lam->type, range);
    global->body = lam;
    global->is_kept = true;
    ct_map_set(ad->arena, &ad->recorder->functions, ct_key(key), global);
    return global;
}

static CtCore *partial(CtAd *ad, CtSeq *seq, const CtOperation *op, uint32_t index, CtCore *const *x, CtCore *y) {
    CtCore *p = NULL;
    if (ct_ad_is_conversion(op->prim))
        p = ct_core_double(ad->p, op->range, 1.0);
    else if (ct_ad_is_real(op->types[index]))
        p = ct_ad_derivative(ad, op, index, x, y, NULL);
    return ct_ad_seq_name(seq, "p", p ? ct_ad_to_double(ad, op->range, p) : ct_core_double(ad->p, op->range, 0.0));
}

/* Makes a term that may be used twice. A pair stays visible, because the method tests whether it is a constant's. */
static CtCore *twice(CtAd *ad, CtSeq *seq, CtCore *d) {
    if (ct_ad_movable(d)) return d;
    if (d->kind != CORE_TUPLE) return ct_ad_seq_name(seq, "d", d);
    CtCore **parts = CT_NEW_ARRAY(ad->arena, CtCore *, d->as.call.count);
    for (uint32_t i = 0; i < d->as.call.count; i++) {
        CtCore *part = d->as.call.args[i];
        parts[i] = part->kind == CORE_GLOBAL ? part : ct_ad_seq_name(seq, "d", part);
    }
    return ct_core_tuple(ad->p, d->range, parts, d->as.call.count);
}

static CtCore *operation(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtRecorder *r = ad->recorder;
    /* Of a custom derivative: there is no primitive to be shown. */
    if (op->value) return r->original->operation(ad, seq, op);
    CtOperation named = *op;
    CtCore *x[2] = {NULL, NULL}, *args[6];
    uint32_t count = 0;
    for (uint32_t i = 0; i < op->count; i++) named.args[i] = twice(ad, seq, op->args[i]);
    CtCore *result = ct_ad_seq_name(seq, "r", r->original->operation(ad, seq, &named));
    CtCore *y = ct_ad_seq_name(seq, "y", r->original->primal(ad, op->range, result));
    for (uint32_t i = 0; i < op->count; i++) {
        x[i] = named.args[i];
        if (ct_ad_is_real(op->types[i])) x[i] = ct_ad_seq_name(seq, "x", r->original->primal(ad, op->range, x[i]));
    }
    args[count++] = ct_core_int(ad->p, op->range, r->notes.count);
    for (uint32_t i = 0; i < op->count; i++) {
        args[count++] = named.args[i];
        args[count++] = partial(ad, seq, op, i, x, y);
    }
    args[count++] = result;
    CtOperationNote note = {.prim = op->prim, .range = op->range, .count = op->count};
    for (uint32_t i = 0; i < op->count; i++) note.real[i] = ct_ad_is_real(op->types[i]);
    note.is_float = op->type->kind == TYPE_FLOAT;
    ct_push(ad->arena, &r->notes, note);
    return ct_ad_seq_name(seq, "d", ct_ad_call(ad, op->range, seen(ad, args, count), args, count));
}

/* A term fused to one node: seen op D[e]. */
static CtCore *fuse(CtTransform *t, CtSeq *seq, CtCore *core) {
    CtRecorder *r = t->ad->recorder;
    CtCore *args[2] = {NULL, r->original->fuse(t, seq, core)};
    if (!args[1]) return NULL;
    args[0] = ct_core_int(t->p, core->range, r->notes.count);
    args[1] = ct_ad_seq_name(seq, "r", args[1]);
    bool call = core->kind == CORE_APP && core->as.call.of.fun->kind == CORE_GLOBAL;
    CtOperationNote note = {.range = core->range,
                            .fused = call ? core->as.call.of.fun->as.global->name->text : "fused"};
    ct_push(t->ad->arena, &r->notes, note);
    return ct_ad_seq_name(seq, "d", ct_ad_call(t->ad, core->range, seen(t->ad, args, 2), args, 2));
}

void ct_ad_record(CtAd *ad, CtMethod method) {
    ad->recorder = CT_NEW(ad->arena, CtRecorder);
    ad->recorder->original = ad->rules[method];
    ad->recorder->rules = *ad->rules[method];
    ad->recorder->rules.operation = operation;
    if (ad->recorder->original->fuse) ad->recorder->rules.fuse = fuse;
    ad->rules[method] = &ad->recorder->rules;
}

void ct_ad_record_cells(CtAd *ad) {
    ad->recorder = CT_NEW(ad->arena, CtRecorder);
    ad->recorder->is_of_cells = true;
}

bool ct_ad_records_cells(const CtAd *ad) { return ad->recorder && ad->recorder->is_of_cells; }

CtCore *ct_ad_cell_seen(CtAd *ad, CtCellNote note, CtCore *cell, CtCore *d, CtCore *environment) {
    CtCore *args[4] = {ct_core_int(ad->p, d->range, ad->recorder->cells.count), cell, d, environment};
    ct_push(ad->arena, &ad->recorder->cells, note);
    return ct_ad_call(ad, d->range, seen(ad, args, 4), args, 4);
}

const CtCellNote *ct_ad_cell_note(const CtAd *ad, int64_t number) {
    const CtRecorder *r = ad->recorder;
    return number >= 0 && number < r->cells.count ? &r->cells.items[number] : NULL;
}

const CtOperationNote *ct_ad_operation_note(const CtAd *ad, int64_t number) {
    const CtRecorder *r = ad->recorder;
    return number >= 0 && number < r->notes.count ? &r->notes.items[number] : NULL;
}

bool ct_ad_is_seen(const CtAd *ad, const CtGlobal *global) {
    const CtRecorder *r = ad->recorder;
    if (!r || !global || !global->is_kept) return false;
    for (uint32_t i = 0; i < r->functions.count; i++)
        if (r->functions.entries[i].value == global) return true;
    return false;
}
