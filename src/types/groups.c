/* Dependency analysis: the binding groups are the strongly connected components of a declaration group, in dependency
 * order (Tarjan's algorithm, without recursion). At top level a use of a binding with a signature is not an edge, as in
 * Haskell, so that each such binding can be specialised alone. Local groups keep these edges, because elaboration makes
 * one `letrec` of a component. */
#include <stdlib.h>

#include "types/internal.h"

typedef struct Visit {
    CtBindInfo *info;
    uint32_t edge;
} Visit;

typedef struct Search {
    CtTypes *types;
    bool skip_signatures;
    uint32_t next, component;
    CT_VEC(CtBindInfo *) open; /* Tarjan's stack */
    CT_VEC(Visit) visits;      /* the stack of the depth-first search */
    CT_VEC(CtBindingGroup) groups;
} Search;

static void begin(Search *search, CtBindInfo *info) {
    info->index = info->low = ++search->next;
    info->on_stack = true;
    ct_push(search->types->arena, &search->open, info);
    Visit visit = {info, 0};
    ct_push(search->types->arena, &search->visits, visit);
}

static int by_source(const void *a, const void *b) {
    uint32_t x = (*(CtBinding *const *)a)->range.start, y = (*(CtBinding *const *)b)->range.start;
    return x < y ? -1 : x > y;
}

static void finish_component(Search *search, CtBindInfo *root) {
    uint32_t first = search->open.count;
    while (search->open.items[first - 1] != root) first--;
    first--;
    uint32_t count = search->open.count - first;
    search->component++;
    CtBindingGroup group = {.bindings = CT_NEW_ARRAY(search->types->arena, CtBinding *, count), .count = count};
    for (uint32_t i = 0; i < count; i++) {
        CtBindInfo *info = search->open.items[first + i];
        info->on_stack = false;
        if (!search->skip_signatures) {
            info->component = search->component;
            info->circular = count > 1 || info->self_use;
        }
        group.bindings[i] = info->binding;
    }
    group.recursive = count > 1 || root->self_use;
    if (count > 1) qsort(group.bindings, count, sizeof *group.bindings, by_source);
    search->open.count = first;
    ct_push(search->types->arena, &search->groups, group);
}

static void visit_from(Search *search, CtBindInfo *start) {
    begin(search, start);
    while (search->visits.count) {
        Visit *visit = &search->visits.items[search->visits.count - 1];
        CtBindInfo *info = visit->info;
        if (visit->edge < info->uses.count) {
            CtBindInfo *used = info->uses.items[visit->edge++];
            if (search->skip_signatures && used->signature) continue;
            if (!used->index)
                begin(search, used);
            else if (used->on_stack && used->index < info->low)
                info->low = used->index;
            continue;
        }
        search->visits.count--;
        if (info->low == info->index) finish_component(search, info);
        if (!search->visits.count) continue;
        CtBindInfo *parent = search->visits.items[search->visits.count - 1].info;
        if (info->low < parent->low) parent->low = info->low;
    }
}

static void components(Search *search, CtBindInfo **infos, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) infos[i]->index = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!infos[i]->index) visit_from(search, infos[i]);
}

void ct_types_find_groups(CtTypes *types, CtDecls *decls, CtBindInfo **infos, uint32_t count, bool top) {
    Search whole = {.types = types};
    components(&whole, infos, count);
    Search fine = {.types = types, .skip_signatures = true};
    if (top) components(&fine, infos, count);
    decls->groups = top ? fine.groups.items : whole.groups.items;
    decls->group_count = top ? fine.groups.count : whole.groups.count;
    CtMap place = {0};
    for (uint32_t i = 0; i < count; i++) ct_map_set(types->arena, &place, ct_key(infos[i]->binding), infos[i]);
    for (uint32_t i = 0; i < decls->group_count; i++)
        for (uint32_t j = 0; j < decls->groups[i].count; j++) {
            CtBindInfo *info = ct_map_get(&place, ct_key(decls->groups[i].bindings[j]));
            info->group = &decls->groups[i];
            info->group->circular |= info->circular;
            for (uint32_t k = 0; k < info->var_count; k++) info->vars[k]->group = info->group;
        }
}
