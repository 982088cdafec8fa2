/* Derivatives by `bulk` at the point of the entry, whose shape is known before the program runs: they become calls of
 * gradient programs, so that the program can be compiled to C. A gradient program for one shape is guarded by a test of
 * the point, which fails with E0504. */
#include "ad/internal.h"

typedef struct Known {
    CtAd *ad;
    CtProgram *p;
    CtMap forms; /* CtVar * -> const CtForm * */
    CtMap
        copies; /* CtGlobal * -> CtGlobal *: functions as gradient programs call them, to fail where the program does */
} Known;

/* ---- shapes ---- */

static CtForm *form_new(CtAd *ad, uint32_t count) {
    CtForm *form = CT_NEW(ad->arena, CtForm);
    form->parts = count > 0 ? CT_NEW_ARRAY(ad->arena, CtForm *, count) : NULL;
    form->count = count;
    return form;
}

/* The shape of all values of a type; NULL: they differ in shape. */
static CtForm *form_of_type(CtAd *ad, const CtType *type) {
    if (type->kind == TYPE_DOUBLE) return form_new(ad, 0);
    bool is_record = type->kind == TYPE_DATA && type->data->con_count == 1 && !ct_core_type_has_fun((CtType *)type);
    if (type->kind != TYPE_TUPLE && !is_record) return NULL;
    const CtCon *con = is_record ? &type->data->cons[0] : NULL;
    uint32_t count = con ? con->count : type->count;
    CtForm *form = form_new(ad, count);
    for (uint32_t i = 0; i < count; i++) {
        const CtType *part = con ? con->fields[i] : type->parts[i];
        form->parts[i] = part == type ? NULL : form_of_type(ad, part);
        if (!form->parts[i]) return NULL;
    }
    return form;
}

static const CtForm *form_of(const Known *k, const CtCore *core) {
    if (core->kind == CORE_VAR) return ct_map_get(&k->forms, ct_key(core->as.var));
    if (core->kind != CORE_PROJ) return NULL;
    const CtForm *whole = form_of(k, core->as.proj.tuple);
    return whole && core->as.proj.index < whole->count ? whole->parts[core->as.proj.index] : NULL;
}

static void know(Known *k, const CtVar *var, const CtForm *form) {
    if (var && form) ct_map_set(k->ad->arena, &k->forms, ct_key(var), (void *)(uintptr_t)form);
}

static void bind(Known *k, const CtCore *core) {
    const CtForm *form = form_of(k, core->as.let.rhs);
    if (core->kind == CORE_LET) know(k, core->as.let.vars[0], form);
    if (core->kind == CORE_LET || !form) return;
    for (uint32_t i = 0; i < core->as.let.count && i < form->count; i++) know(k, core->as.let.vars[i], form->parts[i]);
}

/* ---- the test of the point ---- */

/* a && b; NULL stands for True. */
static CtCore *both(CtProgram *p, CtSourceRange range, CtCore *a, CtCore *b) {
    if (!a || !b) return a ? a : b;
    return ct_core_if(p, range, a, b, ct_core_bool(p, range, false));
}

static CtCore *array(CtProgram *p, CtSourceRange range, CtArrayOp op, CtCore *a, CtCore *b, CtCore *c) {
    CtCore *args[3] = {a, b, c};
    return ct_core_array(p, range, op, args, c ? 3 : b ? 2 : 1);
}

/* Whether x : A has the shape; `many`: inside of an array, where integers do not count. */
static CtCore *has_form(CtProgram *p, CtSourceRange range, CtType *type, const CtForm *form, CtVar *x, bool many);

static CtCore *have_form(CtProgram *p, CtSourceRange range, CtType *const *types, const CtForm *form,
                         CtVar *const *vars, uint32_t count, bool many) {
    CtCore *all = NULL;
    for (uint32_t i = count; i-- > 0;)
        all = both(p, range, has_form(p, range, types[i], form->parts[i], vars[i], many), all);
    return all;
}

static CtVar **fields(CtProgram *p, CtType *const *types, uint32_t count) {
    CtVar **vars = CT_NEW_ARRAY(p->context->arena, CtVar *, count + 1);
    for (uint32_t i = 0; i < count; i++) vars[i] = ct_core_var_new(p, "x", types[i]);
    return vars;
}

static CtCore *array_has_form(CtProgram *p, CtSourceRange range, CtType *type, const CtForm *form, CtVar *x) {
    CtCore *use = ct_core_var(p, range, x);
    CtCore *length = array(p, range, ARRAY_LENGTH, use, NULL, NULL);
    CtCore *same = ct_core_prim2(p, range, PRIM_INT_EQ, length, ct_core_int(p, range, form->known));
    if (form->known == 0 || !form->parts) return same;
    CtVar *params[2] = {ct_core_var_new(p, "same", p->bool_type), ct_core_var_new(p, "x", type->parts[0])};
    CtCore *element = has_form(p, range, type->parts[0], form->parts[0], params[1], true);
    if (!element) return same;
    CtCore *step = both(p, range, ct_core_var(p, range, params[0]), element);
    CtCore *f = ct_core_lam(p, range, NULL, params, 2, step), *yes = ct_core_bool(p, range, true);
    return both(p, range, same, array(p, range, ARRAY_FOLDL, f, yes, use));
}

static CtCore *has_form(CtProgram *p, CtSourceRange range, CtType *type, const CtForm *form, CtVar *x, bool many) {
    CtCore *use = ct_core_var(p, range, x);
    switch (type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT:
    case TYPE_FUN: return NULL;
    case TYPE_INT: return many ? NULL : ct_core_prim2(p, range, PRIM_INT_EQ, use, ct_core_int(p, range, form->known));
    case TYPE_CHAR:
        return many ? NULL : ct_core_prim2(p, range, PRIM_CHAR_EQ, use, ct_core_char(p, range, form->known));
    case TYPE_ARRAY: return array_has_form(p, range, type, form, x);
    case TYPE_TUPLE: {
        CtVar **vars = fields(p, type->parts, type->count);
        CtCore *same = have_form(p, range, type->parts, form, vars, type->count, many);
        return same ? ct_core_unpack(p, range, vars, type->count, use, same) : NULL;
    }
    case TYPE_DATA: {
        if (many && type == p->bool_type) return NULL;
        CtCon *con = &type->data->cons[form->known];
        CtCase *cases = CT_NEW(p->context->arena, CtCase);
        *cases = (CtCase){.con = con, .vars = fields(p, con->fields, con->count)};
        CtCore *same = have_form(p, range, con->fields, form, cases->vars, con->count, many);
        if (!same && type->data->con_count == 1) return NULL;
        cases->body = same ? same : ct_core_bool(p, range, true);
        CtCore *otherwise = type->data->con_count > 1 ? ct_core_bool(p, range, false) : NULL;
        return ct_core_case(p, range, p->bool_type, use, cases, 1, otherwise);
    }
    }
    return NULL;
}

/* λx dx. if x has the shape then derivative x dx else a failure */
static CtCore *guarded(CtProgram *p, CtLam *lam, const CtForm *form) {
    CtSourceRange range = lam->node->range;
    CtCore *same = has_form(p, range, lam->params[0]->type, form, lam->params[0], false);
    if (!same) return lam->node;
    CtCore *failure = ct_core_fail(p, range, lam->body->type, CT_E0504,
                                   "the point does not have the shape that the derivative was compiled for", NULL);
    return ct_core_lam(p, range, lam->name, lam->params, lam->count, ct_core_if(p, range, same, lam->body, failure));
}

/* ---- the derivatives ---- */

/* The other derivatives, by the methods that go by parts: those by `forward`, and in a gradient program those that it
 * only takes to fail where the program does. */
static CtCore *by_parts(Known *k, CtCore *core) {
    const CtDualPath *dual = core->as.call.of.dual;
    CtCore **args = core->as.call.args;
    if (!dual->whole || dual->count > 0) return core;
    CtMethod method = dual->op == DERIV_JVP ? METHOD_FORWARD : METHOD_BULK;
    CtSeq seq = ct_ad_seq(k->p, NULL);
    CtCore *f = ct_ad_movable(args[0]) ? args[0] : ct_ad_seq_name(&seq, "f", args[0]);
    CtWrap wrap = {.range = core->range, .s = f->type->parts[0], .t = f->type->parts[1]};
    wrap.x = ct_ad_seq_name(&seq, "x", args[1]);
    wrap.dx = dual->op == DERIV_JVP ? ct_ad_seq_name(&seq, "dx", args[2]) : NULL;
    wrap.f = ct_ad_dual_of(k->ad, method, NULL, f);
    return ct_ad_seq_close(&seq, ct_ad_derivative_of(k->ad, dual->op, method, &seq, &wrap));
}

typedef struct Search {
    CtProgram *p;
    CtMap seen;
    CT_VEC(CtGlobal *) work;
    bool found;
} Search;

static CtCore *search(void *data, CtCore *core) {
    Search *s = data;
    if (core->kind == CORE_DUAL && core->as.call.of.dual->whole) s->found = true;
    if (core->kind == CORE_GLOBAL && !ct_map_has(&s->seen, ct_key(core->as.global))) {
        ct_map_set(s->p->context->arena, &s->seen, ct_key(core->as.global), core);
        ct_push(s->p->context->arena, &s->work, core->as.global);
    }
    return s->found ? core : ct_core_map(s->p, core, search, s);
}

static bool leads_to_derivative(Known *k, CtCore *core) {
    Search s = {.p = k->p};
    search(&s, core);
    while (s.work.count > 0 && !s.found) {
        const CtGlobal *next = s.work.items[--s.work.count];
        if (next->body) search(&s, next->body);
    }
    return s.found;
}

static CtCore *visit_program(void *data, CtCore *core);

/* A function with its derivatives taken by parts. */
static CtCore *copied(Known *k, CtCore *core) {
    CtGlobal *global = core->as.global, *copy = ct_map_get(&k->copies, ct_key(global));
    if (!copy && (!ct_ad_is_function(global) || !leads_to_derivative(k, core))) return core;
    if (!copy) {
        CtMap none = {0};
        copy = ct_ad_new_global(k->ad, global->name->text, global->type, global->range);
        ct_map_set(k->ad->arena, &k->copies, ct_key(global), copy);
        copy->body = visit_program(k, ct_core_copy(k->p, global->body, &none));
    }
    return ct_core_global(k->p, core->range, copy);
}

static CtCore *visit_program(void *data, CtCore *core) {
    Known *k = data;
    if (core->kind == CORE_GLOBAL) return copied(k, core);
    CtCore *made = ct_core_map(k->p, core, visit_program, k);
    return made->kind == CORE_DUAL ? by_parts(k, made) : made;
}

static CtLam *closed_function(CtProgram *p, const CtCore *f) {
    const CtCore *body = f->kind == CORE_GLOBAL ? f->as.global->body : f;
    if (!body || body->kind != CORE_LAM) return NULL;
    CtLam *lam = body->as.lam;
    if (!lam->captures_known) ct_core_captures(p, lam);
    return lam->capture_count == 0 && !lam->origin ? lam : NULL;
}

static CtCore *derivative(Known *k, CtCore *core) {
    const CtDualPath *dual = core->as.call.of.dual;
    CtCore **args = core->as.call.args;
    if (dual->by_forward) return by_parts(k, core);
    CtLam *lam = dual->whole && dual->count == 0 ? closed_function(k->p, args[0]) : NULL;
    const CtForm *form = lam ? form_of(k, args[1]) : NULL;
    if (!form) return core;
    bool any_shape = false;
    CtMap none = {0};
    CtCore *shared = ct_bulk_derive(k->ad, lam, dual, &form, &any_shape)->node;
    CtLam *made = ct_core_copy(k->p, shared, &none)->as.lam; /* its terms share nodes, which bind variables */
    CtCore *body = any_shape ? made->node : visit_program(k, guarded(k->p, made, form));
    CtGlobal *global = ct_ad_new_global(k->ad, "derivative.bulk", body->type, core->range);
    global->body = body;
    return ct_core_app(k->p, core->range, ct_core_global(k->p, core->range, global), args + 1, core->as.call.count - 1);
}

static CtCore *visit(void *data, CtCore *core) {
    Known *k = data;
    if (core->kind == CORE_LET || core->kind == CORE_UNPACK) bind(k, core);
    CtCore *made = ct_core_map(k->p, core, visit, k);
    return made->kind == CORE_DUAL ? derivative(k, made) : made;
}

void ct_bulk_derive_at(CtAd *ad, CtGlobal *entry, bool has_with, const CtForm *point) {
    if (entry->body->kind != CORE_LAM || entry->body->as.lam->count != 1) return;
    Known k = {.ad = ad, .p = ad->p};
    CtVar *param = entry->body->as.lam->params[0];
    CtType *type = has_with ? param->type->parts[0] : param->type;
    if (!point) point = form_of_type(ad, type);
    if (!point) return;
    if (has_with) {
        CtForm *pair = form_new(ad, 2);
        pair->parts[0] = (CtForm *)(uintptr_t)point;
        point = pair;
    }
    know(&k, param, point);
    uint32_t globals = ad->p->globals.count;
    entry->body = visit(&k, entry->body);
    ct_ad_work(ad);
    for (; globals < ad->p->globals.count; globals++) {
        CtGlobal *global = ad->p->globals.items[globals];
        global->body = ct_ad_flat_definitions(ad->p, global->body);
    }
}
