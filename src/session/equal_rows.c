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

/* The types of the parts of a tuple, or of the fields of data; NULL for other types. */
static CtType *const *parts_of(const CtType *type, uint32_t tag, uint32_t *count) {
    bool data = type->kind == TYPE_DATA && !ct_core_list_is_list(type);
    if (type->kind != TYPE_TUPLE && !data) return NULL;
    *count = data ? type->data->cons[tag].count : type->count;
    return data ? type->data->cons[tag].fields : type->parts;
}

static bool search(CtArena *arena, CtMap *met, const CtType *type) {
    uint32_t tags = type->kind == TYPE_DATA ? type->data->con_count : 1, count = 0;
    if (ct_core_list_may_have_rows(type)) return true;
    if (ct_map_has(met, ct_key(type))) return false;
    ct_map_set(arena, met, ct_key(type), met);
    for (uint32_t tag = 0; tag < tags; tag++) {
        CtType *const *parts = parts_of(type, tag, &count);
        for (uint32_t i = 0; parts != NULL && i < count; i++)
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
    uint32_t count = 0;
    CtType *const *parts = parts_of(type, type->kind == TYPE_DATA ? value.object->tag : 0, &count);
    const CtWord *fields = ((const CtFields *)value.object)->words;
    for (uint32_t i = 0; i < count; i++)
        if (!ct_session_has_equal_rows(session, parts[i], fields[i])) return false;
    return true;
}
