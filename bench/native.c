/* Times what Cotan has compiled against derivatives by hand: bench/native.py.
 *
 *   native THREADS NAME SIZE OTHER PRIMAL.so DERIVATIVE.so [FOLDER]
 *
 * One line of JSON: seconds of the primal, the derivative, and the derivatives by hand, each the least of several
 * samples that take turns; seconds that the machine allows at best; and by how much they differ, from each other and
 * from central differences. The libraries are those of Cotan's cache, called as src/run/load.c does, without what goes
 * from JSON to arrays and back. In FOLDER go the point and the derivative of Cotan's, for others that are to be set
 * beside it.
 *
 * With more than one thread, instead of the derivatives by hand, the primal and the derivative once more with their
 * loops shared out; then seconds are not of the processor, but of the clock. */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#include "base/pool.h"
#include "hand/limits.h"
#include "rt/array.h"
#include "run/outside.h"

static const Subject *const subjects[] = {&scalar_subject, &dot_subject,       &matvec_subject,  &rotations_subject,
                                          &sines_subject,  &logsumexp_subject, &mixture_subject, &bundle_subject,
                                          &lstm_subject,   &minors_subject,    &kmeans_subject,  &perceptron_subject};

static void die(const char *what, const char *why) {
    fprintf(stderr, "native: %s: %s\n", what, why);
    exit(1);
}

/* ---- points ---- */

static double random_part(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

double *hand_item(Subject *s, bool active, int rank, const int64_t *dims, double lo, double hi) {
    Item *item = &s->items[s->count++];
    *item = (Item){.rank = rank, .active = active};
    for (int i = 0; i < rank; i++) item->dims[i] = dims[i];
    int64_t size = item_size(item);
    item->data = malloc((size_t)size * sizeof(double));
    uint64_t state = (uint64_t)s->count * 0x9E3779B97F4A7C15u;
    for (int64_t i = 0; i < size; i++) item->data[i] = lo + (hi - lo) * random_part(&state);
    return item->data;
}

/* ---- what Cotan has compiled ---- */

typedef struct Compiled {
    void (*entry)(ct_run *rt, const ct_word *in, ct_word *out);
    ct_run run;
    ct_word in[12], out[32];
    int results;
} Compiled;

static ct_word as_word(ct_run *rt, const Item *item) {
    if (item->rank == 0) return (ct_word){.f = item->data[0]};
    int64_t size = item_size(item);
    ct_array *x = ct_array_make(rt, (uint32_t)item->rank, false, size);
    for (int i = 0; i < item->rank; i++) x->dims[i] = item->dims[i];
    for (int64_t i = 0; i < size; i++) {
        if (item->is_integer)
            x->data[i].i = (int64_t)item->data[i];
        else
            x->data[i].f = item->data[i];
    }
    return (ct_word){.p = &x->head};
}

static void load(Compiled *c, const char *path, const Subject *s, int results) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) die(path, dlerror());
    void *entry = dlsym(library, "cotan_entry");
    const int64_t *words = dlsym(library, "cotan_constant_words");
    if (!ct_run_outside_link(dlsym(library, "cotan_outside"))) die(path, "made for another Cotan");
    memcpy(&c->entry, &entry, sizeof entry);
    ct_run_clear(&c->run);
    c->run.constant_words = *words;
    c->run.constants = c->run.all_constants = calloc((size_t)*words + 1, sizeof(ct_word));
    c->results = results;
    if (setjmp(c->run.out) != 0) die(path, c->run.message);
    for (int i = 0; i < s->count; i++) c->in[i] = as_word(&c->run, &s->items[i]);
}

static void call(Compiled *c, const Subject *s) {
    for (int i = 0; i < s->count; i++)
        if (s->items[i].rank > 0) c->in[i].p->refs++; /* the entry takes its arguments */
    c->entry(&c->run, c->in, c->out);
}

static void drop(Compiled *c, const char *ranks) {
    for (int i = 0; i < c->results; i++)
        if (ranks[i] > '0') ct_drop(&c->run, c->out[i].p);
}

static void flatten(const Compiled *c, const char *ranks, double *to) {
    for (int i = 0; i < c->results; i++) {
        if (ranks[i] == '0') {
            *to++ = c->out[i].f;
            continue;
        }
        const ct_array *x = (const ct_array *)c->out[i].p;
        for (int64_t j = 0; j < ct_words(x); j++) *to++ = x->data[j].f;
    }
}

static void call_pool(void *pool, void (*work)(void *data, uint32_t who), void *data) { ct_pool_run(pool, work, data); }

static void share(Compiled *c, CtPool *pool) {
    ct_crew_new(&c->run, (int)ct_pool_size(pool));
    if (c->run.crew == NULL) die("threads", "no memory");
    c->run.crew->call = call_pool;
    c->run.crew->pool = pool;
}

/* ---- those that take turns ---- */

typedef struct Bench {
    Subject s;
    Compiled primal, derivative;
    char primal_ranks[16];
    double *results;
    bool shares; /* there are several threads */
} Bench;

enum { PRIMAL, DERIVATIVE, SCALAR, LANES, SHARED_PRIMAL, SHARED_DERIVATIVE, KINDS };
static const char *const names[KINDS] = {"primal", "derivative",    "scalar",
                                         "lanes",  "shared_primal", "shared_derivative"};

static bool takes_part(const Bench *b, int kind) {
    if (kind == PRIMAL || kind == DERIVATIVE) return true;
    return kind >= SHARED_PRIMAL ? b->shares : !b->shares && (kind != LANES || b->s.lanes != NULL);
}

static void once(Bench *b, int kind) {
    b->primal.run.alone = b->derivative.run.alone = kind < SHARED_PRIMAL;
    if (kind == PRIMAL || kind == SHARED_PRIMAL) {
        call(&b->primal, &b->s);
        drop(&b->primal, b->primal_ranks);
    } else if (kind == DERIVATIVE || kind == SHARED_DERIVATIVE) {
        call(&b->derivative, &b->s);
        drop(&b->derivative, b->s.ranks);
    } else {
        (kind == SCALAR ? b->s.scalar : b->s.lanes)(&b->s, b->results);
    }
}

static double now(const Bench *b) {
    struct timespec t;
    clock_gettime(b->shares ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Behind a run that is not timed: the others have had the cache, and a sample of one run would be slower than one of
 * two. */
static double sample(Bench *b, int kind, int64_t runs) {
    once(b, kind);
    double start = now(b);
    for (int64_t i = 0; i < runs; i++) once(b, kind);
    return (now(b) - start) / (double)runs;
}

/* As many runs a sample as take four milliseconds; the least of seven rounds, of forty by the clock, which counts what
 * others do too; or of as many as take two seconds. */
static void measure(Bench *b, double *seconds) {
    int64_t runs[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        if (!takes_part(b, kind)) continue;
        double first = sample(b, kind, 1);
        seconds[kind] = first;
        runs[kind] = first > 4e-3 ? 1 : (int64_t)(4e-3 / (first + 1e-9)) + 1;
    }
    double start = now(b);
    for (int round = 0; round < (b->shares ? 40 : 7) && now(b) - start < 2; round++)
        for (int kind = 0; kind < KINDS; kind++) {
            if (!takes_part(b, kind)) continue;
            double taken = sample(b, kind, runs[kind]);
            if (taken < seconds[kind]) seconds[kind] = taken;
        }
}

/* ---- agreement ---- */

/* The greatest difference, over the greatest number; of the first, which may be the value, over that itself. */
static double differ(const Bench *b, const double *results, const double *expected) {
    double worst = 0, most = 0;
    for (size_t i = 1; i < b->s.results; i++) most = fabs(expected[i]) > most ? fabs(expected[i]) : most;
    for (size_t i = 0; i < b->s.results; i++) {
        double by = fabs(results[i] - expected[i]) / (1e-300 + (i == 0 ? fabs(expected[0]) : most));
        if (!(by <= worst)) worst = by;
    }
    return worst;
}

/* Σ values[i]·(i % 7 + 1) of the primal at the point moved by h along the direction. */
static double moved(Bench *b, double *const *direction, double h) {
    double sum = 0;
    for (int i = 0; i < b->s.count; i++)
        for (int64_t j = 0; b->s.items[i].active && j < item_size(&b->s.items[i]); j++)
            ((ct_array *)b->primal.in[i].p)->data[j].f = b->s.items[i].data[j] + h * direction[i][j];
    call(&b->primal, &b->s);
    if (b->primal_ranks[0] == '0') {
        sum = b->primal.out[0].f;
    } else {
        const ct_array *x = (const ct_array *)b->primal.out[0].p;
        for (int64_t j = 0; j < ct_words(x); j++) sum += (double)(j % 7 + 1) * x->data[j].f;
    }
    drop(&b->primal, b->primal_ranks);
    return sum;
}

static double differences(Bench *b, const double *results) {
    double *direction[8] = {NULL}, h = 1e-5, along = 0;
    uint64_t state = 42;
    const double *gradient = results + 1;
    for (int i = 0; i < b->s.count; i++) {
        int64_t size = item_size(&b->s.items[i]);
        direction[i] = calloc((size_t)size, sizeof(double));
        for (int64_t j = 0; b->s.items[i].active && j < size; j++) {
            direction[i][j] = random_part(&state) + 0.5;
            if (b->s.along == NULL) along += *gradient++ * direction[i][j];
        }
    }
    if (b->s.along != NULL) along = b->s.along(&b->s, results, direction);
    /* of the fourth order */
    double near = moved(b, direction, h) - moved(b, direction, -h);
    double far = moved(b, direction, 2 * h) - moved(b, direction, -2 * h), by = (8 * near - far) / (12 * h);
    moved(b, direction, 0);
    for (int i = 0; i < b->s.count; i++) free(direction[i]);
    return fabs(by - along) / (fabs(by) + fabs(along) + 1e-300);
}

/* ---- for others ---- */

static FILE *file_in(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL) die(path, "cannot be written");
    return file;
}

static void put_numbers(const char *folder, const char *name, const double *numbers, size_t count) {
    FILE *file = file_in(folder, name);
    fwrite(numbers, sizeof *numbers, count, file);
    fclose(file);
}

/* `dims`, a list of shapes in JSON; `point0`, `point1` …, and `results`, doubles as they lie in memory. */
static void put_point(const Bench *b, const char *folder, const double *results) {
    FILE *dims = file_in(folder, "dims");
    for (int i = 0; i < b->s.count; i++) {
        const Item *item = &b->s.items[i];
        char name[32];
        snprintf(name, sizeof name, "point%d", i);
        put_numbers(folder, name, item->data, (size_t)item_size(item));
        for (int j = 0; j < item->rank; j++)
            fprintf(dims, "%s%lld", j > 0 ? ", " : i > 0 ? "], [" : "[[", (long long)item->dims[j]);
    }
    fputs("]]\n", dims);
    fclose(dims);
    put_numbers(folder, "results", results, b->s.results);
}

/* What several threads make of the derivative, against what one has made: whether there is another bit. */
static bool share_differs(Bench *b, uint32_t threads, const double *results) {
    CtPool *pool = ct_pool_new(threads);
    if (pool == NULL) die("threads", "no memory");
    share(&b->primal, pool);
    share(&b->derivative, pool);
    b->shares = true;
    call(&b->derivative, &b->s);
    flatten(&b->derivative, b->s.ranks, b->results);
    drop(&b->derivative, b->s.ranks);
    return memcmp(b->results, results, b->s.results * sizeof(double)) != 0;
}

int main(int argc, char **argv) {
    if (argc != 7 && argc != 8) die("arguments", "THREADS NAME SIZE OTHER PRIMAL.so DERIVATIVE.so [FOLDER]");
    uint32_t threads = (uint32_t)atoll(*++argv);
    Bench *b = calloc(1, sizeof *b);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (strcmp(subjects[i]->name, argv[1]) == 0) b->s = *subjects[i];
    if (b->s.name == NULL) die(argv[1], "no such subject");
    b->s.make(&b->s, atoll(argv[2]), atoll(argv[3]));
    double *by_cotan = malloc(b->s.results * sizeof(double)), seconds[KINDS];
    b->results = malloc(b->s.results * sizeof(double));
    strcpy(b->primal_ranks, b->s.ranks[0] == '3' ? "2" : b->s.ranks[0] == '1' ? "1" : "0");
    load(&b->primal, argv[4], &b->s, 1);
    load(&b->derivative, argv[5], &b->s, (int)strlen(b->s.ranks));
    if (setjmp(b->primal.run.out) != 0) die("primal", b->primal.run.message);
    if (setjmp(b->derivative.run.out) != 0) die("derivative", b->derivative.run.message);
    call(&b->derivative, &b->s);
    flatten(&b->derivative, b->s.ranks, by_cotan);
    drop(&b->derivative, b->s.ranks);
    if (argc == 8) put_point(b, argv[6], by_cotan);
    b->s.scalar(&b->s, b->results);
    printf("{\"scalar_differs\": %.3g", differ(b, by_cotan, b->results));
    if (b->s.lanes != NULL) {
        b->s.lanes(&b->s, b->results);
        printf(", \"lanes_differ\": %.3g", differ(b, by_cotan, b->results));
    }
    printf(", \"differences\": %.3g", differences(b, by_cotan));
    if (threads > 1) printf(", \"threads_differ\": %d", share_differs(b, threads, by_cotan));
    measure(b, seconds);
    if (threads == 1) printf(", \"limit\": %.9g", limit_of(&b->s));
    for (int kind = 0; kind < KINDS; kind++)
        if (takes_part(b, kind)) printf(", \"%s\": %.9g", names[kind], seconds[kind]);
    puts("}");
    return 0;
}
