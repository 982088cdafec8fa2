#include "limits.h"
#include "lanes.h"

#include <sys/mman.h>
#include <time.h>

enum { CHAINS = 16, SHORT = 1024, ROUNDS = 20 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile double kept; /* so that no loop is left out */

/* A multiplication and an addition in each lane of independent chains; the compiler may fuse the two. */
static double operations(void) {
    const int64_t turns = 100000;
    Lanes x[CHAINS], by = all(0.999999), more = all(1e-6), sum = {0};
    for (int c = 0; c < CHAINS; c++) x[c] = all(c);
    for (int64_t i = 0; i < turns; i++)
        for (int c = 0; c < CHAINS; c++) x[c] = x[c] * by + more;
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    kept = total(sum);
    return (double)(turns * CHAINS * LANES * 2);
}

#define CALLS(name, function)                                                                                          \
    static double name(void) {                                                                                         \
        static double x[SHORT], y[SHORT];                                                                              \
        for (int i = 0; i < SHORT; i++) x[i] = 0.001 * i;                                                              \
        for (int again = 0; again < 100; again++)                                                                      \
            for (int i = 0; i < SHORT; i += LANES) store(y + i, function(load(x + i)));                                    \
        kept = y[1];                                                                                                   \
        return 100.0 * SHORT;                                                                                          \
    }
CALLS(exponentials, lanes_exp)
CALLS(sines, lanes_sin)

/* So many of what a loop does in a second. */
static double rate(double (*loop)(void)) {
    double best = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double start = now(), count = loop(), taken = now() - start;
        if (count / taken > best) best = count / taken;
    }
    return best;
}

#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#define PUT_PAST(to, x) __builtin_ia32_movntpd512((double *)(to), x)
#elif defined(__GNUC__) && !defined(__clang__) && defined(__AVX2__)
#define PUT_PAST(to, x) __builtin_ia32_movntpd256((double *)(to), x)
#elif defined(__GNUC__) && !defined(__clang__) && defined(__SSE2__)
#define PUT_PAST(to, x) __builtin_ia32_movntpd((double *)(to), x)
#elif defined(__clang__)
#define PUT_PAST(to, x) __builtin_nontemporal_store(x, (Lanes *)(to))
#else
#define PUT_PAST(to, x) store(to, x)
#endif

static void put(double *to, Lanes x, bool past) {
    if (past)
        PUT_PAST((Lanes *)to, x);
    else
        store(to, x);
}

/* Reads and writes numbers in turn, each from STREAMS places on, as a loop over several arrays does. */
enum { STREAMS = 4 };
static void move(const double *from, size_t reads, double *to, size_t writes, bool past) {
    size_t read = reads / STREAMS / LANES * LANES, write = writes / STREAMS / LANES * LANES, both = read < write ? read : write, i = 0;
    Lanes sums[STREAMS] = {{0}, {0}, {0}, {0}};
    for (; i < both; i += LANES)
        for (size_t j = 0; j < STREAMS; j++) {
            sums[j] += load(from + j * read + i);
            put(to + j * write + i, sums[j], past);
        }
    for (size_t k = i; k < read; k += LANES)
        for (size_t j = 0; j < STREAMS; j++) sums[j] += load(from + j * read + k);
    for (size_t k = i; k < write; k += LANES)
        for (size_t j = 0; j < STREAMS; j++) put(to + j * write + k, sums[j], past);
    kept = total(sums[0] + sums[1] + sums[2] + sums[3]);
}

/* Memory for numbers and some more, in pages as large as there are. */
static double *numbers(size_t count) {
    const size_t page = (size_t)1 << 21;
    size_t bytes = (count * sizeof(double) + page) / page * page;
    double *x = aligned_alloc(page, bytes);
    if (x == NULL) abort();
    madvise(x, bytes, MADV_HUGEPAGE);
    return memset(x, 0, bytes);
}

/* The least time of reading so many numbers, and writing so many, through the cache or past it. */
static double traffic(size_t point, size_t results) {
    double best = INFINITY, *from = numbers(point), *to = numbers(results);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        double start = now();
        size_t turns = 1 + 100000 / (results + 1);
        for (size_t t = 0; t < turns; t++) move(from, point, to, results, i % 2 == 1);
        double taken = (now() - start) / (double)turns;
        if (taken < best) best = taken;
    }
    free(from);
    free(to);
    return best;
}

double limit_of(const Subject *s) {
    Work work = s->work(s);
    size_t point = 0;
    for (int i = 0; i < s->count; i++) point += (size_t)item_size(&s->items[i]);
    double arithmetic = work.operations / rate(operations), memory = traffic(point, s->results);
    if (work.exponentials > 0) arithmetic += work.exponentials / rate(exponentials);
    if (work.sines > 0) arithmetic += work.sines / rate(sines);
    return arithmetic > memory ? arithmetic : memory;
}
