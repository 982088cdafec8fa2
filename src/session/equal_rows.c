/* Native code for lists of lists that are matrices (core/list_boundary.c) takes only these: whether an input is one. */
#include "session/session.h"

/* The fields of a cell; NULL at the end of a list. */
static const CtWord *cell_of(const CtType *list, CtWord value) {
    const CtCon *con = &list->data->cons[value.object->tag];
    return con->count == 2 ? ((const CtFields *)value.object)->words : NULL;
}

static int64_t length_of(const CtType *list, CtWord value) {
    int64_t length = 0;
    for (const CtWord *cell = cell_of(list, value); cell != NULL; cell = cell_of(list, cell[1])) length++;
    return length;
}

static bool have_one_length(const CtType *list, CtWord value) {
    const CtType *row = ct_core_list_element(list);
    const CtWord *cell = cell_of(list, value);
    int64_t length = cell != NULL ? length_of(row, cell[0]) : 0;
    for (; cell != NULL; cell = cell_of(list, cell[1]))
        if (length_of(row, cell[0]) != length) return false;
    return true;
}

static bool search(CtArena *arena, CtMap *met, const CtType *type) {
    if (ct_core_list_may_have_rows(type)) return true;
    if (ct_map_has(met, ct_key(type))) return false;
    ct_map_set(arena, met, ct_key(type), met);
    for (uint32_t i = 0; i < type->count; i++)
        if (search(arena, met, type->parts[i])) return true;
    for (uint32_t i = 0; type->kind == TYPE_DATA && i < type->data->con_count; i++)
        for (uint32_t j = 0; j < type->data->cons[i].count; j++)
            if (search(arena, met, type->data->cons[i].fields[j])) return true;
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

static bool all_have(CtSession *session, const CtType *list, CtWord value) {
    for (const CtWord *cell = cell_of(list, value); cell != NULL; cell = cell_of(list, cell[1]))
        if (!ct_session_has_equal_rows(session, ct_core_list_element(list), cell[0])) return false;
    return true;
}

bool ct_session_has_equal_rows(CtSession *session, const CtType *type, CtWord value) {
    if (!leads_to_rows(session, type)) return true;
    if (ct_core_list_may_have_rows(type)) return have_one_length(type, value);
    if (ct_core_list_is_list(type)) return all_have(session, type, value);
    if (type->kind == TYPE_ARRAY) {
        const CtArray *array = (const CtArray *)value.object;
        for (int64_t i = 0; i < array->length; i++)
            if (!ct_session_has_equal_rows(session, type->parts[0], array->items[i])) return false;
        return true;
    }
    const CtCon *con = type->kind == TYPE_DATA ? &type->data->cons[value.object->tag] : NULL;
    const CtWord *fields = ((const CtFields *)value.object)->words;
    for (uint32_t i = 0; i < (con != NULL ? con->count : type->count); i++)
        if (!ct_session_has_equal_rows(session, con != NULL ? con->fields[i] : type->parts[i], fields[i])) return false;
    return true;
}
