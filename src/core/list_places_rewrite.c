/* Gives the terms of a program the types that their places have: list_places.c. Nothing is changed before it is known
 * which lists become arrays. */
#include "core/list_places.h"

static CtArena *arena_of(CtPlaces *w) { return w->lists.p->context->arena; }

/* The type [element]. */
static CtType *list_of(CtPlaces *w, CtPlace *place, CtType *element) {
    if (element == ct_core_list_element(place->type)) return place->type;
    CtType *list = ct_map_get(&w->lists_of, ct_key(element));
    if (list != NULL) return list;
    list = ct_core_list_type_like(w->lists.p, place->type, element);
    ct_map_set(arena_of(w), &w->lists_of, ct_key(element), list);
    return list;
}

static CtType *type_of(CtPlaces *w, CtPlace *place, CtType *type);

static CtType *element_of(CtPlaces *w, CtPlace *list) {
    return type_of(w, list->parts[0], ct_core_list_element(list->type));
}

static CtType *list_type(CtPlaces *w, CtPlace *place) {
    place = ct_core_place_find(place);
    return list_of(w, place, element_of(w, place));
}

static CtType *type_of(CtPlaces *w, CtPlace *place, CtType *type) {
    CtProgram *p = w->lists.p;
    if (place == NULL) return type;
    place = ct_core_place_find(place);
    if (place->is_list) {
        CtListForm form = ct_core_place_form(place);
        if (form == FORM_LIST) return list_type(w, place);
        CtType *array = ct_core_type_array(p, element_of(w, place));
        return form == FORM_ARRAY ? array : ct_core_type_pair(p, array, p->unit_type);
    }
    CtType **parts = CT_NEW_ARRAY(arena_of(w), CtType *, place->count);
    for (uint32_t i = 0; i < place->count; i++) parts[i] = type_of(w, place->parts[i], type->parts[i]);
    if (type->kind == TYPE_TUPLE) return ct_core_type_tuple(p, parts, place->count);
    if (type->kind == TYPE_ARRAY) return ct_core_type_array(p, parts[0]);
    return ct_core_type_fun(p, parts, place->count - 1, parts[place->count - 1]);
}

/* ---- terms ---- */

static void change_var(CtPlaces *w, CtVar *var) {
    CtPlace *place = var != NULL ? ct_map_get(&w->vars, ct_key(var)) : NULL;
    if (place != NULL && (void *)place != (void *)w) var->type = type_of(w, place, place->type);
}

static void change_vars(CtPlaces *w, CtVar **vars, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) change_var(w, vars[i]);
}

/* The variables that the terms of a global bind. */
static void change_binders(CtPlaces *w, CtCore *body) {
    CtCoreList work = {0};
    ct_push(arena_of(w), &work, body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        if (core->kind == CORE_LAM) change_vars(w, core->as.lam->params, core->as.lam->count);
        if (core->kind == CORE_LET || core->kind == CORE_UNPACK) change_vars(w, core->as.let.vars, core->as.let.count);
        for (uint32_t i = 0; core->kind == CORE_LETREC && i < core->as.letrec.count; i++)
            change_var(w, core->as.letrec.binds[i].var);
        for (uint32_t i = 0; core->kind == CORE_CASE && i < core->as.cases.count; i++)
            change_vars(w, core->as.cases.cases[i].vars, core->as.cases.cases[i].con->count);
        ct_core_children(arena_of(w), core, &work);
    }
}

static void change_case(CtPlaces *w, const CtPlacedTerm *term) {
    CtType *list = list_type(w, term->place);
    for (uint32_t i = 0; i < term->core->as.cases.count; i++) {
        CtCase *one = &term->core->as.cases.cases[i];
        one->con = &list->data->cons[one->con->tag];
    }
}

static void change_made(CtPlaces *w, const CtPlacedTerm *term) {
    CtProgram *p = w->lists.p;
    CtListForm form = ct_core_place_form(ct_core_place_find(term->place));
    term->core->type = list_type(w, term->place);
    if (form == FORM_LIST) return;
    CtCore *list = CT_NEW(arena_of(w), CtCore);
    *list = *term->core;
    CtCore *array = ct_core_list_from_list(p, list);
    *term->core = form == FORM_ROW ? *ct_core_pair(p, list->range, array, ct_core_unit(p, list->range)) : *array;
}

static void change_read(CtPlaces *w, const CtPlacedSlot *read) {
    CtProgram *p = w->lists.p;
    CtListForm form = ct_core_place_form(ct_core_place_find(read->place));
    if (form == FORM_LIST) return;
    CtCore *array = *read->slot;
    if (form == FORM_ROW) array = ct_core_proj(p, array->range, array, 0);
    *read->slot = ct_core_list_of_array(p, array, list_type(w, read->place));
}

/* Whether a global that has not been changed has become wrong: it calls a function of the program, or has values of
 * data whose fields have other types now. */
static bool is_outdated(CtPlaces *w, CtGlobal *global) {
    if (!global->is_library || global->body == NULL) return true;
    CtCoreList work = {0};
    ct_push(arena_of(w), &work, global->body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        if (core->kind == CORE_GLOBAL && !core->as.global->is_library) return true;
        for (uint32_t i = 0; core->type->kind == TYPE_DATA && i < w->datas.count; i++)
            if (core->type->data == w->datas.items[i]) return true;
        ct_core_children(arena_of(w), core, &work);
    }
    return false;
}

static void mark_needed(CtPlaces *w, CtMap *needed, CtGlobal *global) {
    if (ct_map_get(needed, ct_key(global)) != NULL) return;
    ct_map_set(arena_of(w), needed, ct_key(global), global);
    CtCoreList work = {0};
    if (global->body != NULL) ct_push(arena_of(w), &work, global->body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        if (core->kind == CORE_GLOBAL) mark_needed(w, needed, core->as.global);
        ct_core_children(arena_of(w), core, &work);
    }
}

/* Globals that no root needs are not changed. Those that are wrong now are dropped. */
static void drop_outdated(CtPlaces *w) {
    CtProgram *p = w->lists.p;
    CtMap needed = {0};
    for (uint32_t i = 0; i < w->root_count; i++) mark_needed(w, &needed, w->copies.items[i]->copy);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->globals.count; i++) {
        CtGlobal *global = p->globals.items[i];
        if (ct_map_get(&needed, ct_key(global)) != NULL || !is_outdated(w, global)) p->globals.items[count++] = global;
    }
    p->globals.count = count;
}

void ct_core_places_rewrite(CtPlaces *w) {
    CtProgram *p = w->lists.p;
    for (uint32_t i = 0; i < w->copies.count; i++) change_binders(w, w->copies.items[i]->body);
    for (uint32_t i = 0; i < w->terms.count; i++) {
        CtPlace *place = w->terms.items[i].place;
        w->terms.items[i].core->type = type_of(w, place, ct_core_place_find(place)->type);
    }
    for (uint32_t i = 0; i < w->cells.count; i++) {
        CtCore *core = w->cells.items[i].core;
        core->type = list_type(w, w->cells.items[i].place);
        if (core->kind == CORE_CON) core->as.call.of.con = &core->type->data->cons[core->as.call.of.con->tag];
    }
    for (uint32_t i = 0; i < w->cases.count; i++) change_case(w, &w->cases.items[i]);
    for (uint32_t i = 0; i < w->datas.count; i++) {
        CtData *data = w->datas.items[i];
        for (uint32_t j = 0; j < data->con_count; j++)
            for (uint32_t k = 0; k < data->cons[j].count; k++)
                data->cons[j].fields[k] =
                    type_of(w, ct_core_place_of_field(w, &data->cons[j], k), data->cons[j].fields[k]);
    }
    for (uint32_t i = 0; i < w->made.count; i++) change_made(w, &w->made.items[i]);
    for (uint32_t i = 0; i < w->read.count; i++) change_read(w, &w->read.items[i]);
    for (uint32_t i = 0; i < w->copies.count; i++) {
        CtPlacedGlobal *global = w->copies.items[i];
        global->copy->body = global->body;
        global->copy->type = type_of(w, global->type, global->original->type);
        if (global->copy != global->original) ct_push(arena_of(w), &p->globals, global->copy);
    }
    drop_outdated(w);
}
