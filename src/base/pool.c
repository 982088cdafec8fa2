/* A thread pool: one lock, one condition variable for workers that wait for work, one for the caller that waits for its
 * end. */
#include "base/pool.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Member {
    CtPool *pool;
    uint32_t who;
    pthread_t thread;
} Member;

struct CtPool {
    uint32_t size, started; /* `started` does not count the caller's thread */
    bool tried, ending;
    pid_t owner; /* the process that has the threads: a child has none of its parent's */
    pthread_mutex_t lock;
    pthread_cond_t begun, left;
    /* the current work; NULL: there is none */
    CtPoolWork *work;
    void *data;
    locale_t locale;
    uint64_t number; /* number of the current work, so that no thread takes it twice */
    uint32_t busy;
    Member members[];
};

/* Lock and conditions, used by nobody. */
static bool prepare(CtPool *pool) {
    if (pthread_mutex_init(&pool->lock, NULL) != 0) return false;
    if (pthread_cond_init(&pool->begun, NULL) != 0) {
        pthread_mutex_destroy(&pool->lock);
        return false;
    }
    if (pthread_cond_init(&pool->left, NULL) == 0) return true;
    pthread_cond_destroy(&pool->begun);
    pthread_mutex_destroy(&pool->lock);
    return false;
}

CtPool *ct_pool_new(uint32_t size) {
    if (size < 1) size = 1;
    if (size > CT_POOL_MOST) size = CT_POOL_MOST;
    CtPool *pool = calloc(1, sizeof *pool + (size - 1) * sizeof(Member));
    if (pool == NULL) return NULL;
    pool->size = size;
    pool->owner = getpid();
    if (prepare(pool)) return pool;
    free(pool);
    return NULL;
}

uint32_t ct_pool_size(const CtPool *pool) { return pool->size; }

static void *member_main(void *data) {
    Member *self = data;
    CtPool *pool = self->pool;
    uint64_t done = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->ending && (pool->work == NULL || pool->number == done))
            pthread_cond_wait(&pool->begun, &pool->lock);
        if (pool->ending) break;
        CtPoolWork *work = pool->work;
        void *of = pool->data;
        done = pool->number;
        pool->busy++;
        uselocale(pool->locale);
        pthread_mutex_unlock(&pool->lock);
        work(of, self->who);
        pthread_mutex_lock(&pool->lock);
        uselocale(LC_GLOBAL_LOCALE); /* the caller may free its own locale from now on */
        if (--pool->busy == 0) pthread_cond_signal(&pool->left);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Starts the threads; fewer when the system refuses more. */
static void start(CtPool *pool) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (pool->tried = true; pool->started + 1 < pool->size; pool->started++) {
        Member *member = &pool->members[pool->started];
        *member = (Member){.pool = pool, .who = pool->started + 1};
        if (pthread_create(&member->thread, NULL, member_main, member) != 0) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* In a child of the process that started the threads: it starts its own. False if that cannot be. */
static bool is_ours(CtPool *pool) {
    if (pool->owner == getpid()) return true;
    if (!prepare(pool)) return false;
    pool->owner = getpid();
    pool->started = pool->busy = 0;
    pool->tried = false;
    pool->work = NULL;
    return true;
}

void ct_pool_run(CtPool *pool, CtPoolWork *work, void *data) {
    if (!is_ours(pool)) {
        work(data, 0);
        return;
    }
    if (!pool->tried) start(pool);
    locale_t locale = uselocale((locale_t)0);
    pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->data = data;
    pool->locale = locale;
    pool->number++;
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->lock);
    work(data, 0);
    pthread_mutex_lock(&pool->lock);
    pool->work = NULL;
    while (pool->busy > 0) pthread_cond_wait(&pool->left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void ct_pool_free(CtPool *pool) {
    if (pool == NULL) return;
    if (pool->owner != getpid()) { /* there are no threads here that could be ended */
        free(pool);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->started; i++) pthread_join(pool->members[i].thread, NULL);
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->begun);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
