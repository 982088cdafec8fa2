/* Loops that several threads run together, in parts. A part is a range of consecutive iterations; where parts begin
 * depends on the lengths of the loop's arrays alone. Sums are formed within a part, then added up in the order of the
 * parts. So results have the same bits for any number of threads, including one.
 *
 * Each thread of a crew has a run of its own, with memory, reference counts and constants. A part sees arrays from
 * outside through views, whose references it counts itself. After the loop, the memory that the threads have allocated
 * goes to the main run. If anything fails in a part, all results are dropped and the main run repeats the loop alone,
 * so that the failure occurs where it would without threads. */
#ifndef CT_RT_THREADS_H
#define CT_RT_THREADS_H

#include "rt/array.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

enum {
    CT_ITERATIONS = 1 << 30, /* a loop with more iterations is taken to end by a failure, and is not divided */
    CT_PARTS = 64,
    CT_PARTS_ADDING = 16,    /* of loops whose parts have accumulators of their own */
    CT_PART_STACK = 1 << 20, /* stack of a thread, in bytes */
};

/* The least work of a part, in steps, and how many times the work of adding up its accumulators it must be. Tests set
 * smaller values. */
#ifndef CT_PART_WORK
#define CT_PART_WORK (1 << 15)
#endif
#ifndef CT_PART_COST
#define CT_PART_COST 20
#endif

/* How a loop is divided; also the head of the structure that is passed to its parts. */
typedef struct ct_loop {
    int64_t iterations, each;
    int parts;
    bool once; /* parts change memory in place, and cannot be repeated */
    int rows;  /* number of result arrays of rows: pointers to them follow this structure */
} ct_loop;

/* A part: iterations from … to − 1. An end: called for each part in order, after all parts have run. */
typedef void ct_share_part(ct_run *rt, void *frame, int64_t from, int64_t to, int part);
typedef void ct_share_end(ct_run *rt, void *frame, int part);

/* Divides a loop by the work of an iteration. A loop with too many iterations, which ends by a failure, is not divided.
 * `grain`: iterations that must stay together. `extra`: the work of adding up the accumulators of a part. */
static CT_NEAR ct_loop ct_share_many(int64_t iterations, int64_t grain, double work, double extra) {
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

static inline ct_loop ct_share_parts(int64_t iterations, int64_t grain, double work, double extra) {
    if (work * (double)iterations >= 2.0 * CT_PART_WORK) return ct_share_many(iterations, grain, work, extra);
    return (ct_loop){iterations, iterations, 1, false, 0};
}

/* ---- what is lent ---- */

/* A view of an array of numbers from outside, with a reference count of its own. */
static CT_CALLED ct_array *ct_view(ct_run *rt, const ct_array *x) {
    if (x == NULL) return NULL; /* NULL: it is never read */
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
/* Ends a view behind its part. If a result of the part still holds the view, the view becomes one of the array
 * itself. */
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

/* Replaces an object by a copy. Returns the words of the copy, the first *pointers of which still point to the
 * original's objects. */
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

/* A part's own version of an object from outside: a deep copy, with views of the arrays of numbers in it. An object
 * with several references is copied once for each of them. If that takes more memory than the run has, the loop is run
 * by one thread after all. A run that is no thread of a crew retains the object instead. */
static CT_CALLED ct_object *ct_lend_object(ct_run *rt, ct_object *object) {
    ct_word whole = {.p = object}, *at = &whole;
    if (!rt->is_member) {
        ct_hold(object);
        return object;
    }
    for (;;) { /* iterates over the last pointer, so that lists take no stack */
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

/* Takes an array of numbers that is a result of the part; returns one that is no view of borrowed memory. */
static inline ct_array *ct_stay(ct_run *rt, ct_array *x) {
    bool is_lent = ct_is_view(rt, x) || (x->owner != NULL && ct_is_view(rt, x->owner));
    return is_lent ? ct_own(rt, x, 0) : x;
}

/* ---- adding up ---- */

/* A part's own accumulator for an array of numbers. */
static CT_CALLED ct_array *ct_part_array(ct_run *rt, const ct_array *whole) {
    int64_t words = ct_words(whole);
    ct_array *x = ct_array_make(rt, ct_rank(whole), false, words);
    for (uint32_t i = 0; i < ct_rank(whole); i++) x->dims[i] = whole->dims[i];
    for (int64_t i = 0; i < words; i++) x->data[i].f = -0.0;
    return x;
}
/* Adds a part's accumulator to the whole; takes `part`. */
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
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* an interrupt of the run from here on is also seen by this thread */
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

/* Moves the memory that a thread allocated to the main run. */
static CT_COLD void ct_adopt(ct_run *rt, ct_run *member) {
    ct_large *last = member->large;
    ct_free_spares(member, 0);
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

/* Objects that threads allocate are freed by the main run; so each empty free list of a thread gets the main run's. */
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

/* Runs the parts on the threads. False when that failed; then nothing has been changed. */
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

/* Whether there are other threads to share a loop with. */
static CT_COLD bool ct_has_crew(ct_run *rt) {
#if defined(_OPENMP)
    if (rt->crew == NULL && !rt->alone && !omp_in_parallel() && omp_get_max_threads() > 1)
        ct_crew_new(rt, omp_get_max_threads());
    if (rt->crew != NULL && rt->crew->call == NULL && omp_in_parallel()) return false;
#endif
    return rt->crew != NULL && !rt->alone;
}

static CT_CALLED void ct_share_several(ct_run *rt, ct_share_part *part, ct_share_end *end, void *frame) {
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

/* Runs a loop in parts. `frame` begins with a ct_loop; `end` may be NULL. */
static inline void ct_share(ct_run *rt, ct_share_part *part, ct_share_end *end, void *frame) {
    const ct_loop *loop = frame;
    if (CT_UNLIKELY(loop->parts > 1)) {
        ct_share_several(rt, part, end, frame);
        return;
    }
    ct_iteration(rt);
    part(rt, frame, 0, loop->iterations, 0);
    if (end != NULL) end(rt, frame, 0);
}

#endif
