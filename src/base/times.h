/* The running times of passes, for `--time-passes`. */
#ifndef CT_BASE_TIMES_H
#define CT_BASE_TIMES_H

#include "base/arena.h"

/* The total over all runs of one pass. */
typedef struct CtTime {
    const char *pass;
    uint32_t runs;
    double seconds;
    uint64_t size; /* of the program after the last run: functions, steps or bytes */
} CtTime;

typedef struct CtTimes { /* in the order of the first runs */
    CT_VEC(CtTime) items;
} CtTimes;

/* The clock, in seconds from some point in the past. */
double ct_times_now(void);
/* Adds a run that started at `begun` (of ct_times_now) and ends now. */
void ct_times_add(CtTimes *times, CtArena *arena, const char *pass, double begun, uint64_t size);
/* Writes a line for each pass, and their sum. */
void ct_times_print(CtText *out, const CtTimes *times);

#endif
