/* Whether `show` of a type, or comparison, runs a user-written instance of Show. For all other types, the text can be
 * printed from the value's data alone. */
#include "types/internal.h"

static bool is_written(CtTypes *types, const CtInstance *instance) {
    if (!instance || instance->derived) return false;
    bool of_prelude = types->context->sources.items[instance->range.source].is_library &&
                      ct_types_lookup_library_tycon(types, instance->tycon->name) == instance->tycon;
    return !of_prelude;
}

bool ct_types_is_ordered_by_instance(CtTypes *types, const CtTyCon *tycon) {
    CtClass *ord = ct_types_library(types, SPACE_CLASS, ct_intern_text(&types->context->symbols, "Ord"));
    return ord && is_written(types, ct_types_instance_find(ord, tycon));
}

bool ct_types_is_shown_by_instance(CtTypes *types, CtTy *type) {
    CtClass *show = ct_types_library(types, SPACE_CLASS, ct_intern_text(&types->context->symbols, "Show"));
    CT_VEC(CtTy *) pending = {0};
    CtMap seen = {0}; /* CtTyCon * */
    bool written = false;
    if (!show) return false;
    ct_push(types->arena, &pending, type);
    while (pending.count > 0) {
        CtTy *part = ct_types_ty_resolve(pending.items[--pending.count]);
        switch (part->kind) {
        case TY_META: return false;
        case TY_GENERIC: continue; /* a data type's parameter; its argument is visited where the type is applied */
        case TY_APP:
            ct_push(types->arena, &pending, part->fun);
            ct_push(types->arena, &pending, part->arg);
            continue;
        case TY_CON: break;
        }
        const CtTyCon *con = part->con;
        if (ct_map_has(&seen, ct_key(con))) continue;
        ct_map_set(types->arena, &seen, ct_key(con), (void *)(uintptr_t)1);
        written |= is_written(types, ct_types_instance_find(show, con));
        for (uint32_t i = 0; i < con->con_count; i++)
            for (uint32_t j = 0; j < con->cons[i]->arity; j++) ct_push(types->arena, &pending, con->cons[i]->fields[j]);
    }
    return written && ct_types_solve(types, show, type, CT_NO_RANGE, true);
}
