/* Regions: loops whose elements several threads compute.
 *
 * Elements of build, map and zipWith are independent. When a loop turns out to be long, its frame is copied to the
 * stack of each worker, which is a machine with a heap of its own. The workers run the loop's body on one part of the
 * elements after the other, and store results directly in the loop's array.
 *
 * Nothing depends on the number of threads: the body sees the same values, with reference counts that it cannot
 * distinguish (shared or not), and counts the same steps. Any failure in a region (an error, a limit, an interrupt)
 * ends it. Its results and steps are dropped, and the loop continues on one thread, which meets the same error in its
 * proper place. This is sound because a region consumes nothing: such loops retain the elements of arrays.
 *
 * A build of few elements that call functions is begun as a region before its first element: no estimate would come in
 * time. When such a region turns out to have been short, the next may begin after as many steps as threads pay for.
 *
 * A thread that finds no more parts waits until its region has ended, and helps meanwhile: if a worker meets another
 * loop that is worth it, this becomes a region inside of the region, and the threads that wait take parts of it. Each
 * thread has a machine for each such level; they share its heap. A failure ends the outermost region.
 *
 * Compilation and transformation of functions, which any call may need, are done by one thread at a time; so is the
 * evaluation of constants, whose values are shared. A worker begins no region while it evaluates one, since helpers
 * could wait for its lock. */
#include <stdlib.h>

#include "eval/internal.h"
#include "eval/machine.h"

/* The number of remaining steps for which threads pay. Tests share every loop. */
#ifndef CT_WORTH
#define CT_WORTH 20000
#endif

enum {
    PARTS = 8,             /* for each thread */
    LEVELS = 6,            /* of regions inside of each other */
    WORKER_SLICE = 1 << 15 /* steps between two checks of the other workers */
};

struct Team {
    CtPool *pool; /* NULL: it is gone, but what the workers have made remains */
    uint32_t size;
    Machine **workers; /* one for each level and thread, made when it is needed; NULL before the first region */
    CtHeap **heaps;
    uint32_t regions;
    bool gave_up; /* in this run: the last region failed */
    pthread_mutex_t compiling, constants;
    /* of the regions inside of the outermost one */
    pthread_mutex_t helping;
    pthread_cond_t changed;
    Region *open;     /* may have parts that nobody has taken */
    uint32_t running; /* threads that are in their parts of the outermost region */
    uint32_t waiting; /* read without the lock, too */
};

struct Region {
    Machine *m;
    Region *outer;      /* NULL: it is the outermost */
    const uint32_t *pc; /* of the ITERATION */
    int64_t next, end, part;
    bool failed;
    int64_t steps_left;
    CtCode *known;  /* of the outermost: constants that have been evaluated */
    Region *behind; /* in the team's list */
    uint32_t helpers;
    /* what the workers have done; to be changed under the lock */
    uint64_t steps, aside, max_depth;
    int64_t best;
};

/* ---- teams ---- */

bool ct_eval_team_new(Machine *m, CtPool *pool) {
    Team *team = calloc(1, sizeof *team);
    if (team == NULL) return false;
    team->pool = pool;
    team->size = ct_pool_size(pool);
    if (pthread_mutex_init(&team->compiling, NULL) != 0) {
        free(team);
        return false;
    }
    if (pthread_mutex_init(&team->constants, NULL) != 0) goto no_constants;
    if (pthread_mutex_init(&team->helping, NULL) != 0) goto no_helping;
    if (pthread_cond_init(&team->changed, NULL) != 0) goto no_changed;
    m->team = team;
    return true;
no_changed:
    pthread_mutex_destroy(&team->helping);
no_helping:
    pthread_mutex_destroy(&team->constants);
no_constants:
    pthread_mutex_destroy(&team->compiling);
    free(team);
    return false;
}

static void worker_free(Machine *w) {
    if (w == NULL) return;
    if (w->level == 1) ct_value_heap_free(w->heap);
    free(w->stack);
    free(w->form_key.data);
    free(w);
}

static void workers_free(Team *team) {
    if (team->workers == NULL) return;
    for (uint32_t i = 0; i < team->size * LEVELS; i++) worker_free(team->workers[i]);
    free(team->workers);
    free(team->heaps);
    team->workers = NULL;
}

void ct_eval_team_free(Machine *m) {
    if (m->team == NULL) return;
    workers_free(m->team);
    pthread_mutex_destroy(&m->team->compiling);
    pthread_mutex_destroy(&m->team->constants);
    pthread_mutex_destroy(&m->team->helping);
    pthread_cond_destroy(&m->team->changed);
    free(m->team);
    m->team = NULL;
}

void ct_eval_team_end(Machine *m) {
    if (m->team != NULL) m->team->pool = NULL;
}

void ct_eval_team_begin(Machine *m) {
    if (m->team == NULL) return;
    m->team->gave_up = false;
    m->fork_from = 0;
}

/* A machine of a thread, for a level; m is the evaluator's own. */
static Machine *worker_new(Machine *m, uint32_t who, uint32_t level) {
    Machine *w = calloc(1, sizeof *w);
    if (w == NULL) return NULL;
    w->who = who;
    w->level = level;
    w->heap = level == 1 ? ct_value_heap_branch(m->heap) : m->team->workers[who]->heap;
    w->team = level < LEVELS ? m->team : NULL;
    w->stack = malloc(STACK_WORDS * sizeof(CtWord));
    if (w->heap == NULL || w->stack == NULL) {
        worker_free(w);
        return NULL;
    }
    w->home = m;
    w->program = m->program;
    w->ad = m->ad;
    w->limits = m->limits;
    w->depth_limit = m->depth_limit;
    w->stack_end = w->stack + STACK_WORDS;
    return w;
}

static bool has_workers(Machine *m) {
    Team *team = m->team;
    if (team->workers != NULL) return true;
    uint32_t size = team->size;
    team->workers = calloc((size_t)size * LEVELS, sizeof *team->workers);
    team->heaps = calloc(size, sizeof *team->heaps);
    bool sound = team->workers != NULL && team->heaps != NULL;
    for (uint32_t i = 0; sound && i < size; i++) {
        team->workers[i] = worker_new(m, i, 1);
        sound = team->workers[i] != NULL;
        if (sound) team->heaps[i] = team->workers[i]->heap;
    }
    if (sound) return true;
    if (team->workers == NULL) {
        free(team->heaps);
    } else {
        workers_free(team);
    }
    return false;
}

/* ---- what workers do one at a time ---- */

void ct_eval_team_lock(Machine *m) {
    if (m->home != NULL) pthread_mutex_lock(&m->home->team->compiling);
}
void ct_eval_team_unlock(Machine *m) {
    if (m->home != NULL) pthread_mutex_unlock(&m->home->team->compiling);
}

static void share_value(CtCode *constant) {
    if (ct_value_type_is_pointer(constant->global->type)) ct_value_share(constant->value.object);
}

/* The worker that evaluates a constant holds the lock until it is done; others that need it wait. So a constant that is
 * being evaluated here is this worker's own, or the one that the region is part of. */
void ct_eval_constant_enter(Machine *m, CtCode *constant) {
    if (__atomic_load_n(&constant->state, __ATOMIC_ACQUIRE) != CONSTANT_KNOWN) {
        if (m->constants == 0) pthread_mutex_lock(&m->home->team->constants);
        if (constant->state == CONSTANT_NEW) {
            m->constants++;
            return;
        }
        if (m->constants == 0) pthread_mutex_unlock(&m->home->team->constants);
    }
    if (constant->state == CONSTANT_KNOWN) share_value(constant);
}

void ct_eval_constant_leave(Machine *m, CtCode *constant, bool known) {
    if (known) {
        share_value(constant);
        Region *region = m->region;
        while (region->outer != NULL) region = region->outer;
        constant->known_next = region->known;
        region->known = constant;
    }
    set_state(constant, known ? CONSTANT_KNOWN : CONSTANT_NEW);
    if (--m->constants == 0) pthread_mutex_unlock(&m->home->team->constants);
}

bool ct_eval_region_refuel(Machine *m) {
    Region *region = m->region;
    bool stop = atomic_load_explicit(&m->home->interrupt, memory_order_relaxed);
    for (Region *r = region; r != NULL; r = r->outer) stop = stop || __atomic_load_n(&r->failed, __ATOMIC_RELAXED);
    int64_t slice = WORKER_SLICE;
    if (m->fuel < -slice) slice -= m->fuel;
    if (stop || __atomic_fetch_sub(&region->steps_left, slice, __ATOMIC_RELAXED) < slice) {
        m->error = CT_E0804; /* nobody reads it */
        return false;
    }
    /* What is done in a region inside of another one, its worker takes from that one. */
    if (m->home->clock != NULL && region->outer == NULL)
        atomic_fetch_add_explicit(m->home->clock, (uint64_t)slice, memory_order_relaxed);
    m->slice_end += (uint64_t)slice;
    m->fuel += slice;
    return true;
}

/* ---- the parts of a loop ---- */

static CtWord element(const CtWord *fp, const uint32_t *pc, uint32_t which, int64_t i) {
    if (pc[1] == ITERATION_BUILD) return (CtWord){.integer = i};
    return loop_element((CtArray *)fp[pc[which]].object, i, false);
}

/* Runs elements low … high−1. The frame is in its initial state. */
static bool run_part(Machine *w, const uint32_t *pc, int64_t low, int64_t high) {
    CtWord *fp = w->stack + w->part_at;
    w->part_end = high;
    w->fuel -= pc[14];
    if (w->fuel < 0 && !ct_eval_refuel(w)) return false;
    fp[pc[5]].integer = low;
    fp[pc[12]].integer = (int64_t)(span_done(w, w->fuel) - pc[14]);
    fp[pc[6]] = element(fp, pc, 2, low);
    if (pc[1] == ITERATION_ZIP) fp[pc[7]] = element(fp, pc, 3, low);
    w->fp = fp;
    w->pc = pc - pc[13];
    if (ct_eval_machine_resume(w)) return true;
    ct_eval_unwind(w);
    return false;
}

/* Copies the loop's frame to the worker's stack, with an array header of its own for the same items. */
static bool copy_frame(Machine *w, const Region *region, CtArray *out) {
    const CtWord *from = region->m->fp;
    const CtCode *code = frame_code(from);
    w->part_at = FRAME_HEADER + ct_eval_machine_halt[0];
    w->part_body = (uint32_t)(region->pc - region->pc[13] - code->words);
    w->part_out = region->pc[4];
    w->part_iteration = region->pc;
    w->fp = w->stack + w->part_at;
    if (!ct_eval_stack_reserve(w, code->reserve)) return false;
    memcpy(w->fp - FRAME_HEADER, from - FRAME_HEADER, (code->reserve + FRAME_HEADER) * sizeof(CtWord));
    w->fp[FRAME_RETURN].integer = (int64_t)(uintptr_t)&ct_eval_machine_halt[2];
    w->fp[region->pc[11]].integer = 0;
    *out = *(const CtArray *)from[region->pc[4]].object;
    w->fp[region->pc[4]].object = &out->head;
    return true;
}

static bool run_parts(Machine *w, Region *region) {
    CtArray out;
    if (!copy_frame(w, region, &out)) return false;
    for (;;) {
        int64_t low = __atomic_fetch_add(&region->next, region->part, __ATOMIC_RELAXED);
        if (low >= region->end || __atomic_load_n(&region->failed, __ATOMIC_RELAXED)) return true;
        int64_t high = region->end - low < region->part ? region->end : low + region->part;
        if (!run_part(w, region->pc, low, high)) return false;
    }
}

static void start_worker(Machine *w, Region *region) {
    const Machine *m = region->m;
    w->fuel = 0;
    w->slice_end = w->slack = w->aside = 0;
    w->fork_from = 0;
    w->depth = w->max_depth = m->depth;
    w->limits = m->limits;
    w->arena_failed = false;
    w->region = region;
}

/* Runs parts of a region as long as there are any, and adds what has been done to its counts. */
static void take_parts(Region *region, Machine *w) {
    Team *team = w->home->team;
    start_worker(w, region);
    bool sound = run_parts(w, region);
    if (!sound) __atomic_store_n(&region->failed, true, __ATOMIC_RELAXED);
    pthread_mutex_lock(&team->helping);
    region->steps += steps_done(w, w->fuel);
    region->aside += w->aside;
    if (w->max_depth > region->max_depth) region->max_depth = w->max_depth;
    if (sound && w->stack[w->part_at + region->pc[11]].integer > region->best)
        region->best = w->stack[w->part_at + region->pc[11]].integer;
    pthread_mutex_unlock(&team->helping);
    ct_eval_stack_trim(w);
}

/* The thread's machine for parts of a region that a machine begins; NULL when memory runs out. */
static Machine *worker_of(const Machine *m, uint32_t who) {
    Team *team = m->team;
    Machine **place = &team->workers[m->level * team->size + who];
    if (*place == NULL) *place = worker_new(team->workers[who]->home, who, m->level + 1);
    return *place;
}

static bool has_parts(const Region *region) {
    return __atomic_load_n(&region->next, __ATOMIC_RELAXED) < region->end &&
           !__atomic_load_n(&region->failed, __ATOMIC_RELAXED);
}

/* Waits for the other threads of the outermost region, and takes parts of the regions that they begin. */
static void help(Team *team, uint32_t who) {
    pthread_mutex_lock(&team->helping);
    if (--team->running == 0) pthread_cond_broadcast(&team->changed);
    while (team->running > 0) {
        Region *region = team->open;
        while (region != NULL && !has_parts(region)) region = region->behind;
        Machine *w = region == NULL ? NULL : worker_of(region->m, who);
        if (w == NULL) {
            __atomic_add_fetch(&team->waiting, 1, __ATOMIC_RELAXED);
            pthread_cond_wait(&team->changed, &team->helping);
            __atomic_sub_fetch(&team->waiting, 1, __ATOMIC_RELAXED);
            continue;
        }
        region->helpers++;
        pthread_mutex_unlock(&team->helping);
        take_parts(region, w);
        pthread_mutex_lock(&team->helping);
        if (--region->helpers == 0) pthread_cond_broadcast(&team->changed);
    }
    pthread_mutex_unlock(&team->helping);
}

static void work(void *data, uint32_t who) {
    Region *region = data;
    Team *team = region->m->team;
    pthread_mutex_lock(&team->helping);
    team->running++;
    pthread_mutex_unlock(&team->helping);
    take_parts(region, team->workers[who]);
    help(team, who);
}

/* A region inside of another one: the worker's thread takes parts of it, too, and so do those that wait. */
static void work_inside(Region *region) {
    Machine *m = region->m, *w = worker_of(m, m->who);
    Team *team = m->team;
    pthread_mutex_lock(&team->helping);
    region->behind = team->open;
    team->open = region;
    pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->helping);
    take_parts(region, w);
    pthread_mutex_lock(&team->helping);
    Region **place = &team->open;
    while (*place != region) place = &(*place)->behind;
    *place = region->behind;
    while (region->helpers > 0) pthread_cond_wait(&team->changed, &team->helping);
    pthread_mutex_unlock(&team->helping);
}

/* ---- regions ---- */

static void share_slot(void *data, uint32_t slot) {
    CtObject *object = ((CtWord *)data)[slot].object;
    if (object != NULL) ct_value_share(object);
}

/* Everything that the body can reach starts from what the frame owned before it, and from its environment. */
static bool share_roots(const Region *region) {
    CtWord *fp = region->m->fp;
    CtObject *env = fp[FRAME_ENV].object;
    const CtCode *code = frame_code(fp);
    if (env != NULL) {
        ct_value_share(env);
        for (uint32_t i = 0; i < env->layout->count; i++)
            if (ct_value_layout_pointer(env->layout, i)) ct_value_mark_part(env, captures_of(env)[i].object);
    }
    return ct_eval_owned_before(code, (uint32_t)(region->pc - region->pc[13] - code->words), share_slot, fp);
}

/* Adds what the workers did to m's counts. */
static void collect(Machine *m, const Region *region) {
    CtWord *best = &m->fp[region->pc[11]];
    m->fuel -= (int64_t)region->steps;
    m->aside += region->aside;
    if (region->max_depth > m->max_depth) m->max_depth = region->max_depth;
    if (region->best > best->integer) best->integer = region->best;
}

/* Undoes the region. */
static void forget(Machine *m, Region *region, CtArray *out, int64_t from) {
    for (int64_t i = from; out->head.layout->pointer_elements && i < region->end; i++)
        if (out->items[i].object != NULL) ct_value_release_object(m->heap, out->items[i].object);
    if (region->outer != NULL) {
        __atomic_store_n(&region->outer->failed, true, __ATOMIC_RELAXED);
        return;
    }
    for (CtCode *code = region->known; code != NULL; code = code->known_next) {
        ct_value_release(m->heap, code->global->type, code->value);
        set_state(code, CONSTANT_NEW);
    }
    m->team->gave_up = true;
}

static int64_t loop_end(const CtWord *fp, const uint32_t *pc) {
    return pc[1] == ITERATION_BUILD ? fp[pc[2]].integer : ((CtArray *)fp[pc[2]].object)->length;
}

static bool is_worth(const Machine *m, int64_t i, int64_t left) {
    const uint32_t *pc = m->pc;
    uint64_t so_far = span_done(m, m->fuel) - (uint64_t)m->fp[pc[10]].integer;
    return left > 1 && so_far / (uint64_t)(i + 1) * (uint64_t)left >= CT_WORTH;
}

/* Lends the heap's memory to the threads, and drops the messages of a region that fails. */
static void work_outermost(Region *region) {
    Machine *m = region->m;
    Team *team = m->team;
    CtContext *context = m->program->context;
    CtDiag **last_diag = context->last_diag;
    uint32_t errors = context->error_count;
    ct_value_heap_lend(m->heap, team->heaps, team->size, team->regions++);
    ct_pool_run(team->pool, work, region);
    ct_value_heap_take_back(m->heap, team->heaps, team->size);
    if (!region->failed) return;
    context->last_diag = last_diag;
    *last_diag = NULL;
    context->error_count = errors;
}

static int64_t steps_left(const Machine *m) {
    if (m->home != NULL) return __atomic_load_n(&m->region->steps_left, __ATOMIC_RELAXED) + m->fuel;
    uint64_t steps = ct_eval_steps_left(m, steps_done(m, m->fuel));
    return steps > INT64_MAX ? INT64_MAX : (int64_t)steps;
}

/* Computes the elements behind element i, whose result is the body's; −1: all of them. */
static bool run_region(Machine *m, int64_t i) {
    const uint32_t *pc = m->pc;
    int64_t end = loop_end(m->fp, pc), left = end - i - 1;
    CtArray *out = (CtArray *)m->fp[pc[4]].object;
    Region region = {.m = m, .outer = m->region, .pc = pc, .next = i + 1, .end = end};
    region.part = left / (m->team->size * PARTS) + 1;
    region.steps_left = steps_left(m);
    if (!share_roots(&region)) return false;
    if (i >= 0) out->items[i] = m->fp[pc[8]];
    for (int64_t at = i + 1; out->head.layout->pointer_elements && at < end; at++) out->items[at].object = NULL;
    if (region.outer != NULL)
        work_inside(&region);
    else
        work_outermost(&region);
    if (region.failed) {
        forget(m, &region, out, i + 1);
        return false;
    }
    collect(m, &region);
    out->length = end;
    return true;
}

/* Inside of a region: if a thread waits. The loop that the region runs parts of is no candidate. */
static bool may_begin(Machine *m) {
    if (m->home == NULL)
        return m->team->pool != NULL && !m->team->gave_up && m->watch.wants == NULL && m->profile == NULL &&
               has_workers(m);
    if (m->constants > 0 || __atomic_load_n(&m->team->waiting, __ATOMIC_RELAXED) == 0) return false;
    if (m->pc == m->part_iteration && (size_t)(m->fp - m->stack) == m->part_at) return false;
    return worker_of(m, m->who) != NULL;
}

bool ct_eval_region_loop(Machine *m, int64_t i) {
    return is_worth(m, i, loop_end(m->fp, m->pc) - i - 1) && may_begin(m) && run_region(m, i);
}

bool ct_eval_region_fork(Machine *m) {
    int64_t count = loop_end(m->fp, m->pc);
    uint64_t before = steps_done(m, m->fuel);
    if (count < 2 || count > (int64_t)m->team->size * PARTS || before < m->fork_from || !may_begin(m)) return false;
    if (!run_region(m, -1)) return false;
    uint64_t after = steps_done(m, m->fuel);
    m->fork_from = after - before < CT_WORTH ? after + CT_WORTH : after;
    return true;
}
