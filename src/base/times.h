/* How long passes take, for `--time-passes`. */
#ifndef CT_BASE_TIMES_H
#define CT_BASE_TIMES_H

#include "base/arena.h"

/* All runs of a pass together. */
typedef struct CtTime {
    const char *pass;
    uint32_t runs;
    double seconds;
    uint64_t size; /* of the program behind the last of them: functions, steps or bytes */
} CtTime;

typedef struct CtTimes { /* in the order of their first runs */
    CT_VEC(CtTime) items;
} CtTimes;

/* The clock, in seconds from some point in the past. */
double ct_times_now(void);
/* One run more, which began at a time of that clock and ends now. */
void ct_times_add(CtTimes *times, CtArena *arena, const char *pass, double begun, uint64_t size);
/* A line for each pass, with their sum below. */
void ct_times_print(CtText *out, const CtTimes *times);

#endif
