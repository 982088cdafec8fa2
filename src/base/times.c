/* The times of passes, for `--time-passes`. */
#include "base/times.h"

#include <time.h>

double ct_times_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void ct_times_add(CtTimes *times, CtArena *arena, const char *pass, double begun, uint64_t size) {
    double seconds = ct_times_now() - begun;
    uint32_t i = 0;
    while (i < times->items.count && strcmp(times->items.items[i].pass, pass) != 0) i++;
    if (i == times->items.count) ct_push(arena, &times->items, (CtTime){.pass = pass});
    CtTime *time = &times->items.items[i];
    time->runs++;
    time->seconds += seconds;
    time->size = size;
}

void ct_times_print(CtText *out, const CtTimes *times) {
    double sum = 0;
    ct_text_printf(out, "%-22s %5s %12s %10s\n", "pass", "runs", "milliseconds", "size after");
    for (uint32_t i = 0; i < times->items.count; i++) {
        const CtTime *time = &times->items.items[i];
        sum += time->seconds;
        ct_text_printf(out, "%-22s %5u %12.3f %10llu\n", time->pass, time->runs, time->seconds * 1e3,
                       (unsigned long long)time->size);
    }
    ct_text_printf(out, "%-22s %5s %12.3f\n", "all", "", sum * 1e3);
}
