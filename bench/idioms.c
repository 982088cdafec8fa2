/* idioms FILE IDIOMATIC WRITTEN_OUT SHAPES: times two functions of a program, and their gradients, as native code, on
 * the same arguments. SHAPES has a word for each buffer of the arguments: `-` for a number, `=N` for the Int N, `AxB`
 * for an array of numbers in [0.5, 1.5), `AxB:N` for one of Ints in 0 … N − 1. Prints a line of JSON: times in seconds,
 * and the largest relative differences of values and gradients. The functions take turns, so that a slow moment of the
 * machine affects both. */
#include <cotan.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FUNCTIONS = 4, MOST_BUFFERS = 64, ROUNDS = 11 };
static const double SAMPLE = 0.008; /* seconds */

typedef struct Subject {
    cotan_function *function;
    cotan_buffer out[MOST_BUFFERS];
    double times[ROUNDS];
} Subject;

static void stop(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void check(cotan_error *error) {
    if (error != NULL) stop(cotan_error_text(error, false, false));
}

static char *read_text(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) stop(path);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*length + 1);
    if (text == NULL || fread(text, 1, *length, file) != *length) stop(path);
    fclose(file);
    return text;
}

static double random_real(void) {
    static unsigned long long state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

/* An argument of the shape that the word describes. */
static void fill(cotan_buffer *buffer, const char *word) {
    size_t count = 1, rank = 0;
    char *end = (char *)word;
    while (*word != '-' && *word != '=' && (rank == 0 || *end == 'x')) {
        buffer->size[rank] = strtoull(rank == 0 ? end : end + 1, &end, 10);
        count *= buffer->size[rank++];
    }
    unsigned long long below = *end == ':' ? strtoull(end + 1, NULL, 10) : 0;
    double *data = malloc((count + 1) * sizeof *data);
    if (data == NULL) stop("no memory");
    long long given = *word == '=' ? atoll(word + 1) : 0;
    for (size_t i = 0; i < count; i++) {
        long long whole = (long long)(random_real() * (double)below);
        data[i] = 0.5 + random_real();
        if (below != 0) memcpy(&data[i], &whole, sizeof whole);
        if (*word == '=') memcpy(&data[i], &given, sizeof given);
    }
    buffer->data = data;
}

static void apply(Subject *subject, const cotan_buffer *in) {
    size_t count = cotan_function_signature(subject->function)->out_count;
    memset(subject->out, 0, count * sizeof *subject->out);
    check(cotan_apply(subject->function, in, subject->out));
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double time_of(Subject *subject, const cotan_buffer *in) {
    size_t runs = 0;
    double start = now(), passed;
    do {
        apply(subject, in);
        runs++;
        passed = now() - start;
    } while (passed < SAMPLE);
    return passed / (double)runs;
}

static int ascending(const void *a, const void *b) {
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, ascending);
    return values[ROUNDS / 2];
}

/* The largest difference of results, relative to the larger number of the two or to 10⁻³. */
static double difference(const Subject *a, const Subject *b) {
    const cotan_signature *signature = cotan_function_signature(a->function);
    if (cotan_function_signature(b->function)->out_count != signature->out_count) return INFINITY;
    double most = 0;
    for (size_t i = 0; i < signature->out_count; i++) {
        size_t count = 1;
        for (unsigned d = 0; d < signature->out[i].rank; d++) {
            if (a->out[i].size[d] != b->out[i].size[d]) return INFINITY;
            count *= a->out[i].size[d];
        }
        if (signature->out[i].element != COTAN_DOUBLE) continue;
        const double *x = a->out[i].data, *y = b->out[i].data;
        for (size_t j = 0; j < count; j++) {
            double apart = fabs(x[j] - y[j]) / fmax(1e-3, fmax(fabs(x[j]), fabs(y[j])));
            if (!(apart <= most)) most = apart;
        }
    }
    return most;
}

static void make(cotan_program *program, const char *name, cotan_mode mode, Subject *subject) {
    cotan_call call = {.mode = mode, .function = name, .native = true};
    check(cotan_function_make(program, &call, &subject->function));
    const char *why = cotan_function_signature(subject->function)->not_native;
    if (why != NULL) stop(why);
}

int main(int count, char **words) {
    if (count < 5) stop("idioms FILE IDIOMATIC WRITTEN_OUT SHAPE…");
    size_t length;
    char *text = read_text(words[1], &length);
    cotan_context *context = cotan_open(NULL);
    cotan_program *program;
    check(cotan_load(context, words[1], text, length, &program));
    static Subject subjects[FUNCTIONS];
    for (int i = 0; i < FUNCTIONS; i++) make(program, words[2 + i % 2], i < 2 ? COTAN_RUN : COTAN_GRAD, &subjects[i]);
    cotan_buffer in[MOST_BUFFERS] = {0};
    if (cotan_function_signature(subjects[0].function)->in_count != (size_t)(count - 4))
        stop("as many shapes as buffers");
    for (int i = 4; i < count; i++) fill(&in[i - 4], words[i]);
    for (int i = 0; i < FUNCTIONS; i++) apply(&subjects[i], in);
    double values = difference(&subjects[0], &subjects[1]), gradients = difference(&subjects[2], &subjects[3]);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < FUNCTIONS; i++) subjects[i].times[round] = time_of(&subjects[i], in);
    printf("{\"idiomatic\": %g, \"written\": %g, \"idiomatic_gradient\": %g, \"written_gradient\": %g, "
           "\"values_differ\": %g, \"gradients_differ\": %g}\n",
           median(subjects[0].times), median(subjects[1].times), median(subjects[2].times), median(subjects[3].times),
           values, gradients);
    cotan_close(context);
    free(text);
    return 0;
}
