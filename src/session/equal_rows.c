/* Native code for lists of lists that are matrices (core/list_boundary.c) takes only these: whether an input is one. */
#include "session/session.h"

static bool have_one_length(const CtType *list, CtWord value) {
    const CtType *row = ct_core_list_element(list);
    const CtWord *cell = ct_value_list_cell(list, value);
    int64_t length = cell != NULL ? ct_value_list_length(row, cell[0]) : 0;
    for (; cell != NULL; cell = ct_value_list_cell(list, cell[1]))
        if (ct_value_list_length(row, cell[0]) != length) return false;
    return true;
}

/* Whether a value of this type has parts in which to look. */
static bool has_parts(const CtType *type) {
    return type->kind == TYPE_TUPLE || (type->kind == TYPE_DATA && !ct_core_list_is_list(type));
}

static bool search(CtArena *arena, CtMap *met, const CtType *type) {
    uint32_t tags = type->kind == TYPE_DATA ? type->data->con_count : 1, count = 0;
    if (ct_core_list_may_have_rows(type)) return true;
    if (ct_map_has(met, ct_key(type))) return false;
    ct_map_set(arena, met, ct_key(type), met);
    for (uint32_t tag = 0; has_parts(type) && tag < tags; tag++) {
        CtType *const *parts = ct_value_parts(type, tag, &count);
        for (uint32_t i = 0; i < count; i++)
            if (search(arena, met, parts[i])) return true;
    }
    return false;
}

/* Whether there may be lists of lists of numbers in values of a type; found once for each type. */
static bool leads_to_rows(CtSession *session, const CtType *type) {
    CtArena *arena = session->build->arena;
    const void *known = ct_map_get(&session->types_with_rows, ct_key(type));
    if (known != NULL) return known == session;
    CtMap met = {0};
    bool leads = search(arena, &met, type);
    ct_map_set(arena, &session->types_with_rows, ct_key(type), leads ? (void *)session : (void *)session->build);
    return leads;
}

bool ct_session_has_equal_rows(CtSession *session, const CtType *type, CtWord value) {
    if (!leads_to_rows(session, type)) return true;
    if (ct_core_list_may_have_rows(type)) return have_one_length(type, value);
    uint32_t count;
    CtType *const *parts = ct_value_parts(type, type->kind == TYPE_DATA ? value.object->tag : 0, &count);
    const CtWord *fields = ((const CtFields *)value.object)->words;
    for (uint32_t i = 0; i < count; i++)
        if (!ct_session_has_equal_rows(session, parts[i], fields[i])) return false;
    return true;
}
