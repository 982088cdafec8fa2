/* addAt: an array to whose elements others are added, each to the one of its number.
 *
 * The additions to one element are in order. Where they are many, their numbers are added up in blocks first, and so on
 * (`pile`), so that the longest path is a logarithm; for that, numbers for the same element are put side by side. */
#include <stdlib.h>

#include "eval/arrays.h"
#include "rt/scalar.h"

enum { MANY = 128, BLOCK = 32 };

static CtWord plus(CtTypeKind kind, CtWord a, CtWord b) {
    CtWord sum;
    if (kind == TYPE_INT)
        sum.integer = (int64_t)((uint64_t)a.integer + (uint64_t)b.integer);
    else
        sum.real = kind == TYPE_FLOAT ? ct_to_float(a.real + b.real) : a.real + b.real;
    return sum;
}

/* The numbers that are added to the same element are a group. Groups are numbered as they are met. */
typedef struct Groups {
    int64_t *place;  /* of the group in a slot of the hash table; −1: the slot is free */
    int64_t *number; /* of the group in a slot */
    int64_t *of;     /* the group of each number; −1: it is added nowhere */
    int64_t *start;  /* where the numbers of each group begin in `sorted`; while counting, how many they are */
    int64_t count, largest;
    uint64_t mask;
} Groups;

static void groups_free(Groups *g) {
    free(g->place);
    free(g->number);
    free(g->of);
    free(g->start);
}

static bool groups_new(Groups *g, int64_t numbers) {
    uint64_t slots = 2;
    while (slots < 2 * (uint64_t)numbers) slots *= 2;
    *g = (Groups){.mask = slots - 1};
    g->place = malloc(slots * sizeof *g->place);
    g->number = malloc(slots * sizeof *g->number);
    g->of = malloc((size_t)numbers * sizeof *g->of);
    g->start = calloc((size_t)numbers + 1, sizeof *g->start);
    if (g->place == NULL || g->number == NULL || g->of == NULL || g->start == NULL) return false;
    for (uint64_t i = 0; i < slots; i++) g->place[i] = -1;
    return true;
}

static int64_t group_of(Groups *g, int64_t place) {
    uint64_t slot = ((uint64_t)place * 0x9E3779B97F4A7C15u >> 20) & g->mask;
    while (g->place[slot] >= 0 && g->place[slot] != place) slot = (slot + 1) & g->mask;
    if (g->place[slot] < 0) {
        g->place[slot] = place;
        g->number[slot] = g->count++;
    }
    return g->number[slot];
}

static void count_groups(Groups *g, const CtArray *places) {
    for (int64_t i = 0; i < places->length; i++) {
        int64_t place = places->items[i].integer, group = place < 0 ? -1 : group_of(g, place);
        g->of[i] = group;
        if (group >= 0 && ++g->start[group] > g->largest) g->largest = g->start[group];
    }
}

/* The sum of numbers in blocks of 32, whose sums are added in the same way; they are overwritten. *chain grows to the
 * number of additions that depend on each other. Returns how many sums are left. */
static int64_t pile(CtTypeKind kind, CtWord *xs, int64_t count, uint64_t *chain) {
    *chain = 0;
    while (count >= MANY) {
        int64_t made = 0;
        for (int64_t from = 0; from < count; from += BLOCK) {
            CtWord sum = xs[from];
            for (int64_t i = from + 1; i < count && i < from + BLOCK; i++) sum = plus(kind, sum, xs[i]);
            xs[made++] = sum;
        }
        count = made;
        *chain += BLOCK;
    }
    *chain += (uint64_t)count;
    return count;
}

/* Adds group by group. False: there is no memory for that. */
static bool add_groups(Groups *g, CtTypeKind kind, CtArray *ys, const CtArray *places, const CtArray *xs,
                       uint64_t *chain) {
    CtWord *sorted = malloc((size_t)xs->length * sizeof *sorted);
    if (sorted == NULL) return false;
    int64_t at = 0;
    for (int64_t group = 0; group <= g->count; group++) {
        int64_t count = g->start[group];
        g->start[group] = at;
        at += count;
    }
    *chain = 0;
    int64_t *target = g->number; /* the table has been read */
    for (int64_t i = 0; i < xs->length; i++) {
        int64_t group = g->of[i];
        if (group < 0) continue;
        target[group] = places->items[i].integer;
        sorted[g->start[group]++] = xs->items[i];
    }
    for (int64_t group = 0, from = 0; group < g->count; from = g->start[group++]) {
        CtWord *y = &ys->items[target[group]];
        uint64_t path;
        int64_t left = pile(kind, sorted + from, g->start[group] - from, &path);
        for (int64_t i = 0; i < left; i++) *y = plus(kind, *y, sorted[from + i]);
        if (path > *chain) *chain = path;
    }
    free(sorted);
    return true;
}

static void add_in_order(CtTypeKind kind, CtArray *ys, const CtArray *places, const CtArray *xs) {
    for (int64_t i = 0; i < xs->length; i++) {
        int64_t place = places->items[i].integer;
        if (place >= 0) ys->items[place] = plus(kind, ys->items[place], xs->items[i]);
    }
}

static bool add(CtTypeKind kind, CtArray *ys, const CtArray *places, const CtArray *xs, uint64_t *chain) {
    *chain = (uint64_t)xs->length;
    if (xs->length < MANY) {
        add_in_order(kind, ys, places, xs);
        return true;
    }
    Groups g = {0};
    bool counts = groups_new(&g, xs->length);
    if (counts) {
        count_groups(&g, places);
        *chain = (uint64_t)g.largest;
        if (g.largest < MANY)
            add_in_order(kind, ys, places, xs);
        else
            counts = add_groups(&g, kind, ys, places, xs, chain);
    }
    groups_free(&g);
    return counts;
}

bool ct_eval_array_add_at(Machine *m, ArrayCall *call) {
    CtArray *ys = array_of(call->args[0]);
    const CtArray *places = array_of(call->args[1]), *xs = array_of(call->args[2]);
    if (places->length != xs->length)
        return ct_eval_raise(m, CT_E0504, "addAt takes a number for each element; these are %lld for %lld",
                             (long long)places->length, (long long)xs->length);
    for (int64_t i = 0; i < places->length; i++)
        if (places->items[i].integer >= ys->length)
            return ct_eval_array_index_fails(m, places->items[i].integer, ys->length);
    uint64_t copied = 0, chain = 0;
    CtArray *out = ct_eval_array_own(m, ys, ys->length, &copied);
    if (out == NULL) return false;
    if (!add(call->type->parts[0]->kind, out, places, xs, &chain)) {
        if (out != ys) ct_value_release_object(m->heap, &out->head);
        return ct_eval_raise_memory(m);
    }
    if (out != ys) ct_value_release_object(m->heap, &ys->head);
    return give_sums(call, out, (int64_t)copied + xs->length, chain);
}
