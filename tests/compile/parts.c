/* cotan compile parts.cot cost --grad -o cost
 * cotan compile parts.cot rows -o rows
 *
 * cotan grad parts.cot cost --json --at '[0.1,0.2,0.3]'
 * cotan run parts.cot rows --json --args '[60]'
 * cotan run parts.cot rows --json --args '[90]'
 */
#include <stdio.h>
#include <string.h>
#if defined(_OPENMP)
#include <omp.h>
#endif

#include "cost.h"
#include "rows.h"

static int threads_of(int i) {
    static const int threads[] = {1, 2, 3, 8};
#if defined(_OPENMP)
    omp_set_num_threads(threads[i]);
#endif
    return threads[i];
}

/* The same bits for any number of threads. */
static int put_gradient(void) {
    const double w[3] = {0.1, 0.2, 0.3};
    double first[4] = {0};
    cost_run run = {0};
    for (int i = 0; i < 4; i++) {
        double found[4];
        const int threads = threads_of(i);
        if (cost_grad(&run, w, 3, &found[0], &found[1]).code != 0) return 1;
        if (i == 0) memcpy(first, found, sizeof first);
        if (memcmp(first, found, sizeof first) != 0) {
            fprintf(stderr, "%d threads give other bits\n", threads);
            return 1;
        }
        if (i == 2) cost_close(&run);
    }
    cost_close(&run);
    printf("{\"value\":%.17g,\"gradient\":[%.17g,%.17g,%.17g]}\n", first[0], first[1], first[2], first[3]);
    return 0;
}

static void put_rows(rows_run *run, int64_t n) {
    rows_array2_double xs;
    rows_error e = rows(run, n, &xs);
    if (e.code != 0) {
        printf("{\"code\":\"E%04d\",\"line\":%d,\"column\":%d,\"message\":\"%s\"}\n", e.code, e.line, e.column,
               e.message);
        return;
    }
    printf("{\"value\":[");
    for (size_t i = 0; i < xs.rows; i++) {
        printf("%s[", i > 0 ? "," : "");
        for (size_t j = 0; j < xs.columns; j++) printf("%s%.17g", j > 0 ? "," : "", xs.data[i * xs.columns + j]);
        printf("]");
    }
    printf("]}\n");
}

int main(void) {
    rows_run run = {0};
    threads_of(2);
    if (put_gradient() != 0) return 1;
    put_rows(&run, 60);
    put_rows(&run, 90);
    rows_close(&run);
    return 0;
}
