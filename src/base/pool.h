/* Threads that wait for work. */
#ifndef CT_BASE_POOL_H
#define CT_BASE_POOL_H

#include <stdint.h>

typedef struct CtPool CtPool;

enum { CT_POOL_MOST = 256 };

/* A pool of `size` threads, the caller's included; the others are started when there is work for the first time. NULL
 * without memory. */
CtPool *ct_pool_new(uint32_t size);
/* Ends the threads. */
void ct_pool_free(CtPool *pool);
uint32_t ct_pool_size(const CtPool *pool);

/* Calls work(data, who) once with who = 0 on the calling thread, and at most once with each other number below the
 * pool's size on a thread of its own: on those that can come before the caller's call has returned. Returns when all of
 * them have. The threads compute in the caller's locale, and take no signals. */
typedef void CtPoolWork(void *data, uint32_t who);
void ct_pool_run(CtPool *pool, CtPoolWork *work, void *data);

#endif
