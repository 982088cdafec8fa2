/* Codes: one for each λ or global, made when something first refers to it, and compiled on its first call. */
#include <stdio.h>

#include "eval/internal.h"

/* Codes belong to the evaluator, even if a worker needs them. */
static CtCode *code_new(Machine *m, const void *key) {
    m = home_of(m);
    CtCode *code = CT_NEW(m->program->context->arena, CtCode);
    code->reserve = UINT32_MAX;
    code->next = m->all_codes;
    m->all_codes = code;
    ct_map_set(m->program->context->arena, &m->codes, ct_key(key), code);
    return code;
}

CtCode *ct_eval_code_of_lam(Machine *m, CtLam *lam) {
    CtCode *code = ct_map_get(&home_of(m)->codes, ct_key(lam));
    if (code != NULL) return code;
    if (!lam->captures_known) ct_core_captures(m->program, lam);
    code = code_new(m, lam);
    code->lam = lam;
    return code;
}

CtCode *ct_eval_code_of_global(Machine *m, CtGlobal *global) {
    if (global->body->kind == CORE_LAM) {
        CtCode *code = ct_eval_code_of_lam(m, global->body->as.lam);
        code->global = global;
        return code;
    }
    CtCode *code = ct_map_get(&home_of(m)->codes, ct_key(global));
    if (code != NULL) return code;
    code = code_new(m, global);
    code->global = global;
    return code;
}

const CtLayout *ct_eval_code_layout(Machine *m, CtCode *code) {
    if (code->layout != NULL) return code->layout;
    uint32_t count = code->lam->capture_count;
    bool *pointers = CT_NEW_ARRAY(m->program->context->arena, bool, count + 1);
    for (uint32_t i = 0; i < count; i++) pointers[i] = ct_value_type_is_pointer(code->lam->captures[i]->type);
    code->layout = ct_value_layout_fields(m->heap, OBJECT_CLOSURE, pointers, count);
    return code->layout;
}

CtClosure *ct_eval_code_closure(Machine *m, CtCode *code) {
    if (code->closure != NULL) return code->closure;
    const CtLayout *layout = ct_eval_code_layout(m, code);
    if (layout == NULL) return NULL;
    code->closure = ct_value_closure_new(m->heap, layout, code);
    if (code->closure != NULL) ct_value_set_refs(&code->closure->head, REFS_FOREVER);
    return code->closure;
}

/* Running out of memory jumps back to here, where the run can be unwound first. */
static bool guarded(Machine *m, bool (*action)(Machine *, void *), void *data) {
    jmp_buf here;
    CtArena *arena = m->program->context->arena;
    jmp_buf *before = ct_arena_on_failure(arena, &here);
    bool ok;
    if (setjmp(here) == 0) {
        ok = action(m, data);
    } else {
        m->arena_failed = true;
        ok = ct_eval_raise_memory(m);
    }
    ct_arena_on_failure(arena, before);
    return ok;
}

static bool compile_action(Machine *m, void *code) { return ct_eval_code_compile(m, code); }

bool ct_eval_code_prepare(Machine *m, CtCode *code) {
    ct_eval_team_lock(m);
    bool done = code->words != NULL || guarded(m, compile_action, code);
    ct_eval_team_unlock(m);
    return done;
}

typedef struct DualRequest {
    CtCode *code;
    const CtDualPath *path;
    CtCode *result;
} DualRequest;

static bool dual_action(Machine *m, void *data) {
    DualRequest *request = data;
    uint32_t errors = m->program->context->error_count;
    CtLam *lam = ct_ad_dual(m->ad, request->code->lam, request->path);
    if (lam == NULL || m->program->context->error_count != errors) {
        m->error = CT_E0000; /* it has been reported */
        return false;
    }
    request->result = ct_eval_code_of_lam(m, lam);
    DualMemo *memo = CT_NEW(m->program->context->arena, DualMemo);
    *memo = (DualMemo){request->path, request->result, request->code->duals};
    request->code->duals = memo;
    return true;
}

static CtCode *code_dual(Machine *m, CtCode *code, const CtDualPath *path) {
    for (DualMemo *memo = code->duals; memo != NULL; memo = memo->next)
        if (memo->path == path) return memo->code;
    DualRequest request = {code, path, NULL};
    return guarded(m, dual_action, &request) ? request.result : NULL;
}

CtCode *ct_eval_code_dual(Machine *m, CtCode *code, const CtDualPath *path) {
    ct_eval_team_lock(m);
    CtCode *dual = code_dual(m, code, path);
    ct_eval_team_unlock(m);
    return dual;
}

typedef struct BulkRequest {
    CtClosure *closure;
    CtLam *written; /* the differentiated λ, whose types the shapes are for */
    const CtDualPath *path;
    CtWord point;
    CtCode *result;
} BulkRequest;

static bool forms(Machine *m, const BulkRequest *request, bool build, const CtForm **out) {
    CtLam *lam = request->written;
    if (!ct_eval_form_start(m, request->path->count)) return false;
    if (request->path->by_forward) return true;
    for (uint32_t i = 0; i < lam->capture_count + 1; i++) {
        bool is_point = i == lam->capture_count;
        const CtType *type = is_point ? lam->params[0]->type : lam->captures[i]->type;
        CtForm *form = ct_eval_form(m, type, is_point ? request->point : request->closure->captures[i], build);
        if (form == NULL) return false;
        if (build) out[i] = form;
    }
    return true;
}

static bool bulk_action(Machine *m, void *data) {
    BulkRequest *request = data;
    CtArena *arena = m->program->context->arena;
    CtCode *code = request->closure->code;
    uint32_t errors = m->program->context->error_count;
    const CtForm **out = CT_NEW_ARRAY(arena, const CtForm *, request->written->capture_count + 1);
    if (!forms(m, request, true, out)) return ct_eval_raise_memory(m);
    bool any_shape;
    CtLam *lam = ct_bulk_derive(m->ad, code->lam, request->path, out, &any_shape);
    if (m->program->context->error_count != errors) {
        m->error = CT_E0000; /* it has been reported */
        return false;
    }
    request->result = ct_eval_code_of_lam(m, lam);
    BulkMemo *memo = CT_NEW(arena, BulkMemo);
    const char *key = ct_format(arena, "%s", m->form_key.data);
    *memo = (BulkMemo){request->path, key, request->result, code->bulks};
    code->bulks = memo;
    return true;
}

static CtCode *code_bulk(Machine *m, CtClosure *closure, const CtDualPath *path, CtWord point) {
    CtCode *code = closure->code;
    BulkRequest request = {.closure = closure, .written = code->lam, .path = path, .point = point};
    for (uint32_t i = 0; i < path->count && request.written->origin; i++) request.written = request.written->origin;
    if (!forms(m, &request, false, NULL)) {
        ct_eval_raise_memory(m);
        return NULL;
    }
    for (BulkMemo *memo = code->bulks; memo != NULL; memo = memo->next)
        if (memo->path == path && strcmp(memo->key, m->form_key.data) == 0) return memo->code;
    return guarded(m, bulk_action, &request) ? request.result : NULL;
}

CtCode *ct_eval_code_bulk(Machine *m, CtClosure *closure, const CtDualPath *path, CtWord point) {
    ct_eval_team_lock(m);
    CtCode *derivative = code_bulk(m, closure, path, point);
    ct_eval_team_unlock(m);
    return derivative;
}

void ct_eval_codes_free(Machine *m) {
    for (CtCode *code = m->all_codes; code != NULL; code = code->next) {
        if (code->state == CONSTANT_KNOWN) ct_value_release(m->heap, code->global->type, code->value);
        code->state = CONSTANT_NEW;
    }
}
