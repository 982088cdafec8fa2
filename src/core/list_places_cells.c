/* Lists of list_places.c that stay lists, since operations on their cells take constant time: where a loop or a
 * recursion makes them shorter or longer, and where the program opens them. */
#include "core/list_places.h"

#include "base/rules.h"

enum { MOST_SHARED = 200 };

/* Whether lists of one place become lists of another by sharing cells, perhaps several times. */
static bool leads_to(CtPlaces *w, CtPlace *from, CtPlace *to, CtMap *met) {
    from = ct_core_place_find(from);
    if (from == ct_core_place_find(to)) return true;
    if (ct_map_get(met, ct_key(from)) != NULL) return false;
    ct_map_set(w->lists.p->context->arena, met, ct_key(from), from);
    for (uint32_t i = 0; i < w->shared.count; i++)
        if (ct_core_place_find(w->shared.items[i].whole) == from && leads_to(w, w->shared.items[i].part, to, met))
            return true;
    return false;
}

/* A list stays that a loop may leave before its end: as an array it would be made a list of all elements. Not where the
 * program gets at elements by indices that it computes, which takes time for all elements before, too. */
static void keep_left(CtPlaces *w) {
    for (uint32_t i = 0; i < w->terms.count; i++) {
        CtPlace *list = ct_core_place_find(w->terms.items[i].place);
        list->stays = list->stays || (list->is_left && !list->is_probed);
    }
}

/* Lists that share cells stay where a loop or a recursion goes on with the shorter or longer list; and parts that are
 * given to functions, unless recursion has become loops: then few of these are given one part after the other. */
static void keep_shared(CtPlaces *w) {
    for (uint32_t i = 0; i < w->shared.count; i++) {
        const CtPlacedPart *pair = &w->shared.items[i];
        CtMap met = {0};
        bool held = !w->opens_rows && pair->is_shorter && ct_core_place_find(pair->part)->is_held;
        if (w->shared.count > MOST_SHARED || held || leads_to(w, pair->part, pair->whole, &met)) {
            ct_core_place_find(pair->whole)->stays = true;
            ct_core_place_find(pair->part)->stays = true;
        }
    }
}

/* Whether the program puts elements in front of a list of this place, which is a rest of another, and what it gets
 * stays. */
static bool is_put_into_kept(CtPlaces *w, CtPlace *rest) {
    for (uint32_t i = 0; i < w->shared.count; i++) {
        const CtPlacedPart *pair = &w->shared.items[i];
        if (pair->is_shorter || ct_core_place_find(pair->whole) != rest) continue;
        if (ct_core_place_find(pair->part)->stays) return true;
    }
    return false;
}

/* A list whose rest becomes part of a list that stays: as an array, it would be made a list for that each time. */
static void keep_whole(CtPlaces *w) {
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < w->shared.count && w->shared.count <= MOST_SHARED; i++) {
            const CtPlacedPart *pair = &w->shared.items[i];
            CtPlace *whole = ct_core_place_find(pair->whole);
            if (!pair->is_shorter || whole->stays) continue;
            if (!is_put_into_kept(w, ct_core_place_find(pair->part))) continue;
            whole->stays = more = CT_FIRED("lists.kept_whole");
        }
    }
}

/* Whether the program sees the cells of a list of rows. */
static bool is_seen(const CtPlace *list) {
    return list->is_opened && list->stays && ct_core_list_may_have_rows(list->type);
}

/* Lists in lists whose cells the program sees, and parts of such: list_rows.c knows more of them. */
static void keep_rows(CtPlaces *w) {
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < w->shared.count && w->shared.count <= MOST_SHARED; i++) {
            const CtPlace *whole = ct_core_place_find(w->shared.items[i].whole);
            CtPlace *part = ct_core_place_find(w->shared.items[i].part);
            if (!w->shared.items[i].is_shorter || !is_seen(whole) || is_seen(part)) continue;
            part->stays = part->is_opened = more = CT_FIRED("lists.kept_part");
        }
        for (uint32_t i = 0; i < w->terms.count; i++) {
            CtPlace *list = ct_core_place_find(w->terms.items[i].place), *row = list->is_list ? list->parts[0] : NULL;
            if (row == NULL || !list->is_opened || !list->stays || !ct_core_place_find(row)->is_list) continue;
            row = ct_core_place_find(row);
            more = more || !row->stays || !row->is_opened;
            row->stays = row->is_opened = true;
        }
    }
}

/* Lists of lists of numbers that a recursive function is given, whose rows stay: as for those whose cells the program
 * sees, list_rows.c may make arrays of rows of them, but of no array of lists. An array of these would only be read
 * faster by an index. */
static void keep_lists_of_rows(CtPlaces *w) {
    for (uint32_t i = 0; i < w->copies.count; i++) {
        const CtPlacedGlobal *global = w->copies.items[i];
        const CtPlace *fun = global->type != NULL ? ct_core_place_find(global->type) : NULL;
        if (!global->is_recursive || fun == NULL) continue; /* a value is not defined by itself */
        for (uint32_t j = 0; j + 1 < fun->count; j++) {
            CtPlace *list = fun->parts[j] != NULL ? ct_core_place_find(fun->parts[j]) : NULL;
            if (list == NULL || !list->is_list || list->is_indexed || !ct_core_list_may_have_rows(list->type)) continue;
            CtPlace *row = list->parts[0];
            if (row != NULL && ct_core_place_find(row)->stays && !list->stays)
                list->stays = CT_FIRED("lists.kept_rows");
        }
    }
}

/* What is put in front of a list whose cells are seen. */
static void keep_appended(CtPlaces *w) {
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < w->appended.count; i++) {
            CtPlace *front = ct_core_place_find(w->appended.items[i].whole);
            if (front->stays || !ct_core_place_find(w->appended.items[i].part)->stays) continue;
            front->stays = more = true;
        }
    }
}

void ct_core_places_keep_cells(CtPlaces *w) {
    keep_left(w);
    keep_shared(w);
    keep_whole(w);
    keep_rows(w);
    keep_lists_of_rows(w);
    keep_appended(w);
}
