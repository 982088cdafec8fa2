/* Loops whose iterations several threads take, in parts. A part is some iterations one after the other; where it begins
 * and ends depends on the lengths that the loop is about, and on nothing else. What is added up is added up within a
 * part, then part by part in their order. So results have the same bits for any number of threads, one among them.
 *
 * Each member of the crew has a run of its own: memory, counts of references, constants. What a part sees from outside
 * it is lent: it counts references to a view of its own. What the members have made is the run's when the loop has
 * ended. Whatever goes wrong in a part, the loop is forgotten and done again by the run itself, which meets what is
 * wrong where it belongs. */
#ifndef CT_RT_THREADS_H
#define CT_RT_THREADS_H

#include "rt/array.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

enum {
    CT_ITERATIONS = 1 << 30, /* at most: a loop of more is one that ends with a failure, if at all */
    CT_PARTS = 64,
    CT_PARTS_ADDING = 16,    /* where each has something to add up in */
    CT_PART_STACK = 1 << 20, /* bytes of a thread's stack */
};

/* Steps of a part, at least; how often it must be worth what it takes to add it up. Tests say less. */
#ifndef CT_PART_WORK
#define CT_PART_WORK (1 << 15)
#endif
#ifndef CT_PART_COST
#define CT_PART_COST 20
#endif

/* How the iterations of a loop are parted; the head of what its parts are given. */
typedef struct ct_loop {
    int64_t iterations, each;
    int parts;
    bool once; /* its parts cannot be done again */
    int rows;  /* how many arrays of rows it makes: pointers behind this */
} ct_loop;

/* Iterations from … to − 1; behind all parts, in their order, what is to be done with each. */
typedef void ct_share_part(ct_run *rt, void *frame, int64_t from, int64_t to, int part);
typedef void ct_share_end(ct_run *rt, void *frame, int part);

/* A loop of endless iterations is one that ends with a failure, and is not parted. By the work of a iteration; `grain`:
 * iterations that stay together. Adding up a part takes `extra`. */
static CT_NEAR ct_loop ct_share_parts(int64_t iterations, int64_t grain, double work, double extra) {
    ct_loop loop = {iterations, iterations, 1, false, 0};
    work *= (double)iterations;
    double parts = work / CT_PART_WORK, most = extra > 0 ? CT_PARTS_ADDING : CT_PARTS;
    if (extra > 0 && parts > work / (CT_PART_COST * extra)) parts = work / (CT_PART_COST * extra);
    if (!(parts >= 2) || iterations <= grain || iterations > (int64_t)1 << 40) return loop;
    if (parts > most) parts = most;
    loop.each = ((iterations - 1) / (int64_t)parts + grain) / grain * grain;
    loop.parts = (int)((iterations + loop.each - 1) / loop.each);
    return loop;
}

/* ---- what is lent ---- */

/* An array of numbers from outside: its elements, with references of the part's own. */
static CT_CALLED ct_array *ct_view(ct_run *rt, const ct_array *x) {
    if (x == NULL) return NULL; /* it is never looked at */
    uint32_t rank = ct_rank(x);
    ct_array *view = ct_take(rt, CT_ARRAY_WORDS + (size_t)rank);
    view->head = (ct_object){.refs = 1, .words = x->head.words, .pointers = x->head.pointers};
    view->data = x->data;
    view->capacity = 0;
    view->owner = (ct_array *)&rt->lender;
    rt->lender.refs++;
    for (uint32_t i = 0; i < rank; i++) view->dims[i] = x->dims[i];
    return view;
}
static inline void ct_view_end(ct_run *rt, ct_array *view) {
    if (view != NULL) ct_drop(rt, view);
}
/* The same behind the part, where what the part has left may hold the view: then it holds the array. */
static inline void ct_view_keep(ct_run *rt, ct_array *view, ct_array *x) {
    if (view == NULL) return;
    if (view->head.refs > 1) {
        view->owner->head.refs--;
        view->owner = x;
        x->head.refs++;
    }
    ct_drop(rt, view);
}
static inline bool ct_is_view(const ct_run *rt, const ct_array *x) { return x->owner == (const ct_array *)&rt->lender; }

/* Puts a copy in the place of an object; gives what the copy points to, which is the same still. */
static ct_word *ct_copy_object(ct_run *rt, ct_word *at, int64_t *pointers) {
    const ct_object *from = at->p;
    bool is_array = (from->words & CT_IS_ARRAY) != 0;
    int64_t words = is_array ? ct_words((const ct_array *)from) : from->words;
    ct_enter(rt);
    rt->may_copy -= CT_NODE_WORDS + words;
    if (rt->may_copy < 0) ct_fail_memory(rt);
    if (is_array) {
        const ct_array *x = (const ct_array *)from;
        ct_array *copy = ct_array_like(rt, x, x->dims[0]);
        if (words > 0) memcpy(copy->data, x->data, (size_t)words * sizeof(ct_word));
        at->p = &copy->head;
        *pointers = words;
        return copy->data;
    }
    ct_node *copy = ct_node_new(rt, from->tag, from->words, from->pointers);
    memcpy(copy->at, ((const ct_node *)from)->at, (size_t)words * sizeof(ct_word));
    at->p = &copy->head;
    *pointers = from->pointers;
    return copy->at;
}

/* An object from outside that a part makes its own: a copy, with views of the arrays of numbers in it. What is held in
 * several places is copied as often; where that comes to more than the run has, the loop is not shared after all. A run
 * that does its parts itself has the object already. */
static CT_CALLED ct_object *ct_lend_object(ct_run *rt, ct_object *object) {
    ct_word whole = {.p = object}, *at = &whole;
    if (!rt->is_member) {
        ct_hold(object);
        return object;
    }
    for (;;) { /* along what is pointed to last, so that lists take no stack */
        int64_t pointers = 0;
        ct_word *inside = NULL;
        if (ct_is_bare(at->p))
            at->p = &rt->nullary[at->p->tag];
        else if (at->p->words & CT_IS_ARRAY && !at->p->pointers)
            at->p = &ct_view(rt, (ct_array *)at->p)->head;
        else
            inside = ct_copy_object(rt, at, &pointers);
        if (pointers == 0) return whole.p;
        for (int64_t i = 0; i + 1 < pointers; i++) inside[i].p = ct_lend_object(rt, inside[i].p);
        at = &inside[pointers - 1];
    }
}

/* Takes an array of numbers that stays behind the part; gives one that is not lent. */
static inline ct_array *ct_stay(ct_run *rt, ct_array *x) {
    bool is_lent = ct_is_view(rt, x) || (x->owner != NULL && ct_is_view(rt, x->owner));
    return is_lent ? ct_own(rt, x, 0) : x;
}

/* ---- adding up ---- */

/* Room for what a part adds to an array of numbers. */
static CT_CALLED ct_array *ct_part_array(ct_run *rt, const ct_array *whole) {
    int64_t words = ct_words(whole);
    ct_array *x = ct_array_make(rt, ct_rank(whole), false, words);
    for (uint32_t i = 0; i < ct_rank(whole); i++) x->dims[i] = whole->dims[i];
    for (int64_t i = 0; i < words; i++) x->data[i].f = -0.0;
    return x;
}
/* The end of that: takes `part`. */
static CT_NEAR void ct_part_add(ct_run *rt, ct_array *whole, ct_array *part) {
    int64_t words = ct_words(whole);
    ct_word *restrict to = whole->data;
    const ct_word *restrict from = part->data;
    for (int64_t i = 0; i < words; i++) to[i].f += from[i].f;
    ct_drop(rt, part);
}

/* ---- sharing out ---- */

typedef struct ct_sharing {
    ct_run *rt;
    ct_share_part *part;
    void *frame;
    int next, failed;
} ct_sharing;

static inline void ct_do_part(ct_run *rt, ct_share_part *part, void *frame, int number) {
    const ct_loop *loop = frame;
    int64_t from = number * loop->each, to = from + loop->each;
    part(rt, frame, from, to < loop->iterations ? to : loop->iterations, number);
}

static CT_COLD void ct_take_parts(void *data, uint32_t who) {
    ct_sharing *sharing = data;
    ct_run *member = &sharing->rt->crew->members[who];
    if (who > 0 && CT_FRAME() != NULL) member->stack_end = CT_FRAME() - CT_PART_STACK;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* whoever interrupts the run from now on interrupts the member too */
    if (setjmp(member->out) != 0) {
        __atomic_store_n(&sharing->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    while (!__atomic_load_n(&sharing->failed, __ATOMIC_RELAXED) && !sharing->rt->interrupt) {
        int number = __atomic_fetch_add(&sharing->next, 1, __ATOMIC_RELAXED);
        if (number >= ((const ct_loop *)sharing->frame)->parts) return;
        ct_do_part(member, sharing->part, sharing->frame, number);
    }
}

/* What a member has made is the run's. */
static CT_COLD void ct_adopt(ct_run *rt, ct_run *member) {
    ct_large *last = member->large;
    ct_free_spares(member);
    if (last != NULL) {
        while (last->next != NULL) last = last->next;
        last->next = rt->large;
        if (rt->large != NULL) rt->large->link = &last->next;
        rt->large = member->large;
        rt->large->link = &rt->large;
    }
    for (last = member->chunks; last != NULL && last->next != NULL;) last = last->next;
    if (last != NULL) {
        last->next = rt->chunks;
        rt->chunks = member->chunks;
    }
    rt->bytes += member->bytes;
    member->bytes = 0;
    member->large = member->chunks = NULL;
}

/* What members make the run frees: where one has nothing left, it gets that back. */
static CT_COLD void ct_lend_cells(ct_run *rt, ct_run *member) {
    for (size_t i = 0; i < sizeof rt->free / sizeof *rt->free; i++) {
        if (member->free[i] != NULL) continue;
        member->free[i] = rt->free[i];
        rt->free[i] = NULL;
    }
}

static CT_COLD void ct_lend_out(ct_run *rt) {
    size_t rest = rt->limit > rt->bytes + rt->spare_bytes ? rt->limit - rt->bytes - rt->spare_bytes : 0;
    for (int i = 0; i < rt->crew->count; i++) {
        ct_run *member = &rt->crew->members[i];
        member->limit = rt->limit == 0 ? 0 : rest / (size_t)rt->crew->count + 1;
        member->may_copy = (int64_t)(rt->bytes / sizeof(ct_word));
        member->stack_end = rt->stack_end;
        member->interrupt = 0;
        member->constants = member->all_constants + (rt->constants - rt->all_constants);
        ct_lend_cells(rt, member);
    }
}

/* False: nothing has happened. */
static CT_COLD bool ct_share_out(ct_run *rt, ct_share_part *part, void *frame) {
    ct_crew *crew = rt->crew;
    ct_loop *loop = frame;
    ct_sharing sharing = {rt, part, frame, 0, 0};
    ct_lend_out(rt);
    if (crew->call != NULL) {
        crew->call(crew->pool, ct_take_parts, &sharing);
    } else {
#if defined(_OPENMP)
#pragma omp parallel num_threads(crew->count)
        ct_take_parts(&sharing, (uint32_t)omp_get_thread_num());
#endif
    }
    bool done = !sharing.failed && !rt->interrupt;
    for (int i = 0; i < crew->count; i++) {
        if (done)
            ct_adopt(rt, &crew->members[i]);
        else
            ct_member_clear(&crew->members[i]);
    }
    if (done) return true;
    if (rt->interrupt || loop->once) ct_pause(rt);
    for (int i = 0; i < loop->rows; i++) ((ct_array **)(loop + 1))[i] = NULL;
    rt->alone = true;
    return false;
}

/* Whether there is somebody to share with. */
static CT_COLD bool ct_has_crew(ct_run *rt) {
#if defined(_OPENMP)
    if (rt->crew == NULL && !rt->alone && !omp_in_parallel() && omp_get_max_threads() > 1)
        ct_crew_new(rt, omp_get_max_threads());
    if (rt->crew != NULL && rt->crew->call == NULL && omp_in_parallel()) return false;
#endif
    return rt->crew != NULL && !rt->alone;
}

/* Runs a loop, whose frame begins with a ct_loop; `end` may be NULL. */
static CT_CALLED void ct_share(ct_run *rt, ct_share_part *part, ct_share_end *end, void *frame) {
    const ct_loop *loop = frame;
    bool shared = loop->parts > 1 && ct_has_crew(rt) && ct_share_out(rt, part, frame);
    for (int i = 0; i < loop->parts; i++) {
        if (!shared) {
            ct_iteration(rt);
            ct_do_part(rt, part, frame, i);
        }
        if (end != NULL) end(rt, frame, i);
    }
}

#endif
