/* Steps and times of derivatives by every method, in one process: ladders FILE METHOD,… NAME:N[,N…] …
 *
 * FILE is a Cotan program (ladders.cot, fused.cot); METHOD,… are names of methods, or all. For each NAME it defines
 * NAME_primal and NAME_gradient, which run a function or its derivative k times at size n, over points that are
 * constants, and NAME_results, everything that the derivative gives there. Each line that is written is a JSON object:
 * one method at one size. The program is compiled and run once before anything is timed; then the methods, the function
 * alone and, where there is one, the derivative written by hand take turns, round by round.
 *
 * All results are held against those written by hand, or else the first method's: they must agree to 1e-10, relatively.
 *
 * A method is left out of a size, and of all that follow, where its results need more than FIRST_RATIO times the steps
 * of the function alone, or GROWTH times the ratio at the size before, or where one gradient is expected to take more
 * than MOST_STEPS. */
#include <cotan.h>

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "derivatives.h"

enum { MAX_METHODS = 32, MAX_ROUNDS = 7 };
static const double FIRST_RATIO = 1000, GROWTH = 10, MOST_STEPS = 4e8;
static const double SAMPLE = 0.008; /* seconds that one sample takes at the least */
static const double BUDGET = 2.0;   /* seconds of rounds at one size, when there is more than one */
static const double TOLERANCE = 1e-10;
static const size_t MEMORY = (size_t)6 << 30;

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fputs("ladders: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(1);
}

/* Processor time: what else the machine does is not counted. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) fail("no memory");
    return memory;
}

/* ---- one function at one size ---- */

/* What takes its turn: a method, the function alone (method NULL), or the derivative written by hand. */
typedef struct Contender {
    const char *method;
    const Derivative *by_hand;
    double needs;   /* more steps than it may take: it is left out */
    uint64_t steps; /* of one run */
    long runs;      /* in a sample */
    double times[MAX_ROUNDS];
} Contender;

typedef struct Bench {
    const char *name;
    size_t n, elements, elements_before; /* before: at the smaller size, 0 at the first */
    cotan_context *context;
    cotan_program *program;
    /* of the derivative written by hand */
    double *point, *results;
    Contender all[MAX_METHODS + 2]; /* the function alone, then the methods, then the one by hand */
    size_t count;
} Bench;

static const char *text_of(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) fail("%s cannot be read", path);
    long size = ftell(file);
    rewind(file);
    char *text = allocate((size_t)size + 1, 1);
    *length = fread(text, 1, (size_t)size, file);
    fclose(file);
    return text;
}

static bool takes_part(const Contender *c) { return c->needs == 0; }

/* Calls NAME_what with the arguments. NULL, or the code of an error that leaves the method out. */
static const char *call(Bench *b, const char *what, const char *method, const char *args, cotan_form form,
                        cotan_result *out) {
    char function[100];
    snprintf(function, sizeof function, "%s_%s", b->name, what);
    cotan_call c = {.mode = COTAN_RUN, .function = function, .at = args, .method = method, .form = form};
    c.no_json = c.no_text = true;
    cotan_error *error = cotan_call_json(b->program, &c, out);
    if (!error) return NULL;
    const char *code = cotan_error_code(error, 0);
    bool leaves_out = strcmp(code, "E0801") == 0 || strcmp(code, "E0802") == 0;
    if (!leaves_out) fail("%s by %s:\n%s", function, method ? method : "itself", cotan_error_text(error, false, false));
    return code;
}

/* k runs; their steps. */
static uint64_t run(Bench *b, const Contender *c, long k) {
    if (c->by_hand) {
        for (long i = 0; i < k; i++) c->by_hand->derive(b->n, b->point, b->results);
        return 0;
    }
    char args[60];
    cotan_result result;
    snprintf(args, sizeof args, "[%zu, %ld]", b->n, k);
    const char *code = call(b, c->method ? "gradient" : "primal", c->method, args, COTAN_NO_FILE, &result);
    if (code) fail("%s by %s at %zu: %s", b->name, c->method ? c->method : "itself", b->n, code);
    return result.steps;
}

/* ---- agreement ---- */

/* The numbers in the bytes of a .npy file; they begin behind its header, whose length stands at 8. */
static double *numbers_in(const cotan_result *result, size_t *count) {
    const unsigned char *bytes = result->file;
    size_t header = 10 + (size_t)bytes[8] + ((size_t)bytes[9] << 8);
    *count = (result->file_length - header) / sizeof(double);
    double *numbers = allocate(*count, sizeof *numbers);
    memcpy(numbers, bytes + header, *count * sizeof *numbers);
    return numbers;
}

static void compare(const Bench *b, const char *method, const double *found, size_t count, const double *expected,
                    size_t expected_count) {
    if (count != expected_count)
        fail("%s at %zu: %s gives %zu numbers, not %zu", b->name, b->n, method, count, expected_count);
    for (size_t i = 0; i < count; i++) {
        double larger = fmax(fabs(found[i]), fabs(expected[i]));
        if (!(fabs(found[i] - expected[i]) <= TOLERANCE * larger))
            fail("%s at %zu: number %zu of the results is %.17g by %s, but should be %.17g", b->name, b->n, i, found[i],
                 method, expected[i]);
    }
}

/* The steps that a method may take where the function alone takes `alone`. */
static double allowed(const Bench *b, const Contender *c, uint64_t alone, uint64_t alone_before) {
    if (b->elements_before == 0) return FIRST_RATIO * (double)alone;
    double expected = (double)c->steps / (double)b->elements_before * (double)b->elements;
    if (expected > MOST_STEPS) return 0;
    return GROWTH * (double)c->steps / (double)alone_before * (double)alone;
}

/* The results by a method; NULL when it is left out. */
static double *results_by(Bench *b, Contender *c, uint64_t constants, uint64_t alone, size_t *count) {
    double most = allowed(b, c, alone, b->all[0].steps);
    if (most == 0) c->needs = MOST_STEPS;
    if (!takes_part(c)) return NULL;
    cotan_limits limits = {.memory = MEMORY, .steps = constants + (uint64_t)most};
    cotan_set_limits(b->context, &limits);
    char args[30];
    cotan_result result;
    snprintf(args, sizeof args, "[%zu]", b->n);
    const char *code = call(b, "results", c->method, args, COTAN_NPY, &result);
    limits.steps = 0;
    cotan_set_limits(b->context, &limits);
    if (!code) return numbers_in(&result, count);
    c->needs = most;
    return NULL;
}

/* All results are compared; methods that need too many steps are marked. */
static void check(Bench *b) {
    const Derivative *by_hand = b->all[b->count - 1].by_hand;
    double *expected = NULL;
    size_t expected_count = 0;
    if (by_hand) {
        by_hand->derive(b->n, b->point, b->results);
        expected_count = by_hand->results_size(b->n);
        expected = allocate(expected_count, sizeof *expected);
        memcpy(expected, b->results, expected_count * sizeof *expected);
    }
    uint64_t constants = run(b, &b->all[0], 0), alone = run(b, &b->all[0], 1);
    for (size_t i = 1; i < b->count; i++) {
        size_t count;
        double *numbers = b->all[i].by_hand ? NULL : results_by(b, &b->all[i], constants, alone, &count);
        if (!numbers) continue;
        if (expected) {
            compare(b, b->all[i].method, numbers, count, expected, expected_count);
            free(numbers);
        } else {
            expected = numbers;
            expected_count = count;
        }
    }
    free(expected);
}

/* ---- measuring ---- */

static double sample(Bench *b, const Contender *c) {
    double start = now();
    run(b, c, c->runs);
    return (now() - start) / (double)c->runs;
}

/* Makes the constants, counts the steps of one run, takes its time, and finds how many runs make a sample. */
static void prepare(Bench *b, Contender *c) {
    run(b, c, 0);
    uint64_t loop = run(b, c, 0);
    double start = now();
    c->steps = run(b, c, 1) - loop;
    double seconds = c->times[0] = now() - start;
    if (seconds < BUDGET / MAX_ROUNDS) { /* without what the method itself makes once */
        start = now();
        c->steps = run(b, c, 1) - loop;
        seconds = c->times[0] = now() - start;
    }
    for (c->runs = 1; seconds < SAMPLE; seconds = c->times[0] * (double)c->runs) {
        c->runs *= seconds < SAMPLE / 10 ? 10 : 2;
        c->times[0] = sample(b, c);
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, size_t count) {
    double sorted[MAX_ROUNDS];
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, by_size);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* The median of the rounds' ratios. */
static double ratio(const Contender *c, const Contender *to, size_t rounds) {
    double ratios[MAX_ROUNDS];
    for (size_t i = 0; i < rounds; i++) ratios[i] = c->times[i] / to->times[i];
    return median(ratios, rounds);
}

/* The rounds; the first one has been taken when all is prepared. */
static size_t take_turns(Bench *b) {
    double round = 0;
    for (size_t i = 0; i < b->count; i++)
        if (takes_part(&b->all[i])) round += b->all[i].times[0] * (double)b->all[i].runs;
    size_t rounds = 1;
    for (; rounds < MAX_ROUNDS && (double)rounds * round < BUDGET; rounds++)
        for (size_t i = 0; i < b->count; i++)
            if (takes_part(&b->all[i])) b->all[i].times[rounds] = sample(b, &b->all[i]);
    return rounds;
}

static void report(const Bench *b, size_t rounds) {
    const Contender *alone = &b->all[0], *last = &b->all[b->count - 1];
    for (size_t i = 0; i < b->count; i++) {
        const Contender *c = &b->all[i];
        printf("{\"function\": \"%s\", \"n\": %zu, \"elements\": %zu, \"method\": ", b->name, b->n, b->elements);
        if (c->method)
            printf("\"%s\"", c->method);
        else
            printf(c->by_hand ? "\"C\"" : "null");
        if (c->needs > 0) {
            printf(", \"needs\": %.6g", c->needs);
        } else {
            printf(", \"rounds\": %zu, \"seconds\": %.9g, \"over_primal\": %.6g", rounds, median(c->times, rounds),
                   ratio(c, alone, rounds));
            if (last->by_hand) printf(", \"over_c\": %.6g", ratio(c, last, rounds));
            if (takes_part(&b->all[1])) printf(", \"over_first\": %.6g", ratio(c, &b->all[1], rounds));
            if (!c->by_hand)
                printf(", \"steps\": %llu, \"primal_steps\": %llu", (unsigned long long)c->steps,
                       (unsigned long long)alone->steps);
        }
        printf("}\n");
    }
    fflush(stdout);
}

/* The methods that a list NAME,NAME… names, in its order; or all. */
static void add_methods(Bench *b, const char *list) {
    bool all = strcmp(list, "all") == 0;
    for (size_t i = 0; all && cotan_method_at(i) && b->count <= MAX_METHODS; i++)
        b->all[b->count++].method = cotan_method_at(i)->name;
    char *names = allocate(strlen(list) + 1, 1); /* for as long as we run */
    strcpy(names, list);
    for (char *name = strtok(names, ","); !all && name && b->count <= MAX_METHODS; name = strtok(NULL, ","))
        b->all[b->count++].method = name;
}

static void measure(Bench *b, const char *path, const char *folder) {
    size_t length;
    const char *text = text_of(path, &length);
    cotan_limits limits = {.memory = MEMORY};
    b->context = cotan_open(&limits);
    if (!b->context) fail("no memory");
    cotan_error *error = cotan_add_folder(b->context, folder);
    if (!error) error = cotan_load(b->context, path, text, length, &b->program);
    if (error) fail("%s", cotan_error_text(error, false, false));
    const Derivative *by_hand = b->all[b->count - 1].by_hand;
    b->elements = by_hand ? by_hand->elements(b->n) : 1;
    if (by_hand) {
        b->point = allocate(by_hand->point_size(b->n), sizeof *b->point);
        b->results = allocate(by_hand->results_size(b->n), sizeof *b->results);
        by_hand->make_point(b->n, b->point);
    }
    check(b);
    for (size_t i = 0; i < b->count; i++)
        if (takes_part(&b->all[i])) prepare(b, &b->all[i]);
    report(b, take_turns(b));
    cotan_close(b->context);
    free(b->point);
    free(b->results);
    free((char *)text);
}

/* what: NAME:N,N… */
static void measure_sizes(const char *path, const char *folder, const char *methods, const char *what) {
    char name[60];
    const char *colon = strchr(what, ':');
    if (!colon || (size_t)(colon - what) >= sizeof name) fail("%s is not NAME:N,N…", what);
    snprintf(name, sizeof name, "%.*s", (int)(colon - what), what);
    Bench b = {.name = name, .count = 1};
    add_methods(&b, methods);
    if (derivative_find(name)) b.all[b.count++].by_hand = derivative_find(name);
    for (const char *at = colon; *at != '\0'; at = at + 1 + strcspn(at + 1, ",")) {
        b.n = strtoul(at + 1, NULL, 10);
        measure(&b, path, folder);
        b.elements_before = b.elements;
    }
}

int main(int argc, char **argv) {
    if (argc < 4) fail("usage: ladders FILE METHOD,… NAME:N,N… …");
    char folder[4096];
    const char *slash = strrchr(argv[1], '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - argv[1]) : 0, argv[1]);
    for (int i = 3; i < argc; i++) measure_sizes(argv[1], folder, argv[2], argv[i]);
    return 0;
}
