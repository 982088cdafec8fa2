/* A pool of threads that wait for work. A child of the process (fork) has threads of its own in it. */
#ifndef CT_BASE_POOL_H
#define CT_BASE_POOL_H

#include <stdint.h>

typedef struct CtPool CtPool;

enum { CT_POOL_MOST = 256 };

/* A pool of `size` threads, including the caller's. The others are started when work first arrives. NULL when memory
 * runs out. */
CtPool *ct_pool_new(uint32_t size);
/* Ends the threads and frees the pool. */
void ct_pool_free(CtPool *pool);
uint32_t ct_pool_size(const CtPool *pool);

/* Calls work(data, 0) on the calling thread, and work(data, who) at most once for each other `who` below the pool's
 * size, on the threads of the pool that become available in time. Returns when all of these calls have returned. The
 * threads use the caller's locale and block all signals. */
typedef void CtPoolWork(void *data, uint32_t who);
void ct_pool_run(CtPool *pool, CtPoolWork *work, void *data);

#endif
