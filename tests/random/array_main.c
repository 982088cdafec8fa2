/* Random programs over arrays: each method against the evaluator, against tape, and against differences.
 *
 *     random_arrays [--seed S] [--count N] [--size K] [--methods a,b] [--save DIR] [--long] [--verbose]
 *
 * Of h at a point, with a tangent dx and a cotangent dy: the value is the evaluator's, bit for bit; cotangent, tangent,
 * and the tangent of the cotangent (forward over the method) are those of tape, to 1e-9; ⟨J·dx, dy⟩ = ⟨dx, Jᵀ·dy⟩, and
 * that is the slope of ⟨h, dy⟩ along dx where differences settle. What fails by the evaluator fails by every method,
 * with the same code at the same place. A failure is made
 * smaller, printed, and (--save) written as a golden test. --long: arrays that often have eight elements and more,
 * which native code takes vectorised. The last line is the count that test runners read.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array_programs.h"
#include "cotan.h"

enum { MOST_METHODS = 16, TEXT = 4000 };

/* A program at a point. */
typedef struct Question {
    ArrayProgram program;
    double x[MOST_REALS], dx[MOST_REALS], dy[MOST_REALS];
    char *at, *args, *tangent, *cotangent, *all; /* JSON; args [x], all [(x, dx, dy)] */
} Question;

typedef struct Answer {
    bool failed;
    char code[8];
    int line, column;
    char *value, *derivative; /* JSON; the error's text when it failed */
} Answer;

typedef struct Counts {
    long passed, failed, failing, wild, sloped;
} Counts;

typedef struct Options {
    uint64_t seed;
    long count;
    int size;
    const char *methods[MOST_METHODS + 1], *folder;
    bool verbose, is_long;
} Options;

/* ---- questions ---- */

static char *json(const Shaped *type, const double *base, double scale, const double *along) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) abort();
    array_value(out, type, base, scale, along);
    fclose(out);
    return text;
}

static char *text_of(const char *format, const char *a, const char *b, const char *c) {
    size_t size = strlen(format) + strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = malloc(size);
    if (text == NULL) abort();
    snprintf(text, size, format, a, b, c);
    return text;
}

/* Numbers that often are equal, or 0, at the point. */
static Question *question_new(ArrayProgram program, uint64_t seed) {
    Question *q = calloc(1, sizeof *q);
    if (q == NULL) abort();
    Random random = {seed};
    q->program = program;
    for (int i = 0; i < MOST_REALS; i++) {
        q->x[i] = random_below(&random, 4) ? random_real(&random, -2, 2) : random_below(&random, 3) - 1;
        q->dx[i] = random_real(&random, -1, 1);
        q->dy[i] = random_real(&random, -1, 1);
    }
    q->at = json(program.from, q->x, 0, q->x);
    q->tangent = json(program.from, q->dx, 0, q->dx);
    q->cotangent = json(program.to, q->dy, 0, q->dy);
    q->args = text_of("[%s]%s%s", q->at, "", "");
    q->all = text_of("[[%s,%s,%s]]", q->at, q->tangent, q->cotangent);
    return q;
}

static void question_free(Question *q) {
    free(q->at);
    free(q->tangent);
    free(q->cotangent);
    free(q->args);
    free(q->all);
    free(q);
}

/* ---- answers ---- */

static Answer *ask(cotan_program *program, cotan_call call) {
    Answer *answer = calloc(1, sizeof *answer);
    if (answer == NULL) abort();
    cotan_result result;
    cotan_error *error = cotan_call_json(program, &call, &result);
    if (error == NULL) {
        answer->value = strdup(result.value);
        answer->derivative = strdup(result.derivative ? result.derivative : result.value);
        return answer;
    }
    answer->failed = true;
    snprintf(answer->code, sizeof answer->code, "%s", cotan_error_code(error, 0));
    answer->line = cotan_error_line(error, 0);
    answer->column = cotan_error_column(error, 0);
    answer->value = strdup(cotan_error_text(error, false, false));
    answer->derivative = strdup(answer->value);
    return answer;
}

static void forget(Answer *answer) {
    if (answer == NULL) return;
    free(answer->value);
    free(answer->derivative);
    free(answer);
}

static Answer *value_of(cotan_program *program, const char *args) {
    return ask(program, (cotan_call){.mode = COTAN_RUN, .function = "h", .at = args, .no_text = true});
}

typedef enum Derivative { COTANGENT, TANGENT, SECOND, DERIVATIVES } Derivative;
static const char *const derivative_names[] = {"cotangent", "tangent", "tangent of the cotangent"};

static Answer *derivative_of(cotan_program *program, const Question *q, Derivative which, const char *method) {
    cotan_call call = {.mode = COTAN_VJP, .function = "h", .at = q->at, .with = q->cotangent, .method = method};
    if (which == TANGENT) {
        call.mode = COTAN_JVP;
        call.with = q->tangent;
    } else if (which == SECOND) {
        call = (cotan_call){.mode = COTAN_RUN, .function = "second", .at = q->all, .method = method};
    }
    return ask(program, call);
}

static bool is_wild(const Answer *a) {
    if (a->failed) return false;
    for (const char *c = a->derivative; *c != '\0'; c += strspn(c, "[]{},:")) {
        char *end;
        double x = strtod(c, &end);
        if (strncmp(c, "\"nan\"", 5) == 0 || strncmp(c + (c[1] == '-'), "\"inf\"", 5) == 0 || fabs(x) > 1e8)
            return true;
        c += strcspn(c, "[]{},:");
    }
    return false;
}

/* ---- what has to hold ---- */

static void complain(char *verdict, const char *what, const char *method, const char *found, const char *expected) {
    if (verdict[0] == '\0') snprintf(verdict, TEXT, "%s by %s:\n%s\nexpected:\n%s", what, method, found, expected);
}

/* Numbers to 1e-9, or to 1e-12 of the largest; all else the same. */
static bool texts_agree(const char *a, const char *b, double largest) {
    while (*a != '\0' && *b != '\0') {
        size_t gap = strspn(a, "[]{},:");
        if (gap != strspn(b, "[]{},:") || strncmp(a, b, gap) != 0) return false;
        a += gap, b += gap;
        size_t length = strcspn(a, "[]{},:"), other = strcspn(b, "[]{},:");
        char *end;
        double x = strtod(a, &end), y = strtod(b, NULL);
        bool is_number = end != a;
        if (is_number ? !(fabs(x - y) <= fmax(1e-9 * fmax(1, fmax(fabs(x), fabs(y))), 1e-12 * largest))
                      : length != other || strncmp(a, b, length) != 0)
            return false;
        a += length, b += other;
    }
    return *a == *b;
}

static double largest_of(const char *text) {
    double largest = 0;
    for (const char *c = text + strcspn(text, "-0123456789"); *c != '\0'; c += strcspn(c, "-0123456789")) {
        char *end;
        largest = fmax(largest, fabs(strtod(c, &end)));
        c = end > c ? end : c + 1;
    }
    return largest;
}

static bool fail_alike(const Answer *a, const Answer *b) {
    return a->failed && b->failed && strcmp(a->code, b->code) == 0 && a->line == b->line && a->column == b->column;
}

static void hold(char *verdict, const char *what, const char *method, const Answer *found, const Answer *expected) {
    bool same;
    if (found->failed || expected->failed)
        same = fail_alike(found, expected);
    else
        same = texts_agree(found->derivative, expected->derivative, largest_of(expected->derivative));
    if (!same) complain(verdict, what, method, found->derivative, expected->derivative);
}

static void hold_value(char *verdict, const char *method, const Answer *found, const Answer *value) {
    if (!found->failed && !value->failed && strcmp(found->value, value->value) != 0)
        complain(verdict, "value", method, found->value, value->value);
}

static double dot(const double *a, const double *b, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

static bool near(double a, double b, double tolerance) {
    return fabs(a - b) <= tolerance * fmax(1, fmax(fabs(a), fabs(b)));
}

/* ⟨y, other⟩ for a y that is written as JSON. */
static double dot_with(const Shaped *type, const char *text, const double *other) {
    static double reals[MOST_REALS];
    return dot(reals, other, array_reals(type, &text, reals));
}

/* ⟨h(x + s dx), dy⟩ */
static double along(cotan_program *program, const Question *q, double s) {
    char *point = json(q->program.from, q->x, s, q->dx), *args = text_of("[%s]%s%s", point, "", "");
    Answer *answer = value_of(program, args);
    double found = answer->failed ? (double)NAN : dot_with(q->program.to, answer->value, q->dy);
    forget(answer);
    free(args);
    free(point);
    return found;
}

/* False when differences do not settle. */
static bool slope(cotan_program *program, const Question *q, double *out) {
    double here = along(program, q, 0), slopes[2];
    for (int i = 0; i < 2; i++) {
        double s = i == 0 ? 1e-4 : 3e-4, above = along(program, q, s), below = along(program, q, -s);
        if (!near((above - here) / s, (here - below) / s, 1e-3)) return false;
        slopes[i] = (above - below) / (2 * s);
    }
    *out = slopes[0];
    return near(slopes[0], slopes[1], 1e-5);
}

static void hold_products(char *verdict, cotan_program *program, const Question *q, Answer *const answers[],
                          Counts *counts) {
    double forward = dot_with(q->program.to, answers[TANGENT]->derivative, q->dy), difference;
    double reverse = dot_with(q->program.from, answers[COTANGENT]->derivative, q->dx);
    char texts[2][40];
    snprintf(texts[0], sizeof texts[0], "%.17g", forward);
    snprintf(texts[1], sizeof texts[1], "%.17g", reverse);
    if (!near(forward, reverse, 1e-8)) complain(verdict, "product ⟨J·dx, dy⟩", "forward", texts[0], texts[1]);
    if (!slope(program, q, &difference)) return;
    counts->sloped++;
    snprintf(texts[1], sizeof texts[1], "%.17g", difference);
    if (!near(forward, difference, 1e-3)) complain(verdict, "slope", "forward", texts[0], texts[1]);
}

/* ---- one program ---- */

static void hold_method(char *verdict, cotan_program *program, const Question *q, const char *method,
                        const Answer *value, Answer *const expected[]) {
    for (int i = 0; i < DERIVATIVES && verdict[0] == '\0'; i++) {
        Answer *found = derivative_of(program, q, (Derivative)i, method);
        hold(verdict, derivative_names[i], method, found, expected[i]);
        if (i != SECOND) hold_value(verdict, method, found, value);
        forget(found);
    }
}

/* The verdict stays empty when all is well. */
static void judge(const Question *q, const char *const *methods, char *verdict, Counts *counts) {
    cotan_limits limits = {.memory = (size_t)2 << 30, .steps = 100000000};
    cotan_context *context = cotan_open(&limits);
    cotan_program *program = NULL;
    if (context == NULL) abort();
    cotan_check_passes(context, true);
    cotan_error *error = cotan_load(context, "random.cot", q->program.text, strlen(q->program.text), &program);
    if (error != NULL) {
        complain(verdict, "loading", "the checker", cotan_error_text(error, false, false), "nothing wrong");
        cotan_close(context);
        return;
    }
    Answer *value = value_of(program, q->args), *expected[DERIVATIVES];
    bool is_out = is_wild(value);
    for (int i = 0; i < DERIVATIVES; i++) {
        expected[i] = derivative_of(program, q, (Derivative)i, i == TANGENT ? "forward" : "tape");
        is_out = is_out || is_wild(expected[i]);
    }
    counts->failing += value->failed;
    counts->wild += is_out;
    for (int i = 0; i < DERIVATIVES && (value->failed || i != SECOND); i++) {
        if (value->failed) hold(verdict, derivative_names[i], i == TANGENT ? "forward" : "tape", expected[i], value);
        hold_value(verdict, i == TANGENT ? "forward" : "tape", expected[i], value);
    }
    if (!is_out && !value->failed && verdict[0] == '\0') hold_products(verdict, program, q, expected, counts);
    for (int i = 0; methods[i] != NULL && !is_out; i++) hold_method(verdict, program, q, methods[i], value, expected);
    forget(value);
    for (int i = 0; i < DERIVATIVES; i++) forget(expected[i]);
    cotan_close(context);
}

/* ---- making choices fewer and smaller ---- */

typedef struct Found {
    Choices choices;
    uint64_t seed;
    char verdict[TEXT];
} Found;

static bool still_fails(const Options *o, Found *found) {
    Counts counts = {0};
    char verdict[TEXT] = "";
    int count = found->choices.count;
    Question *q = question_new(array_program(&found->choices, o->size, o->is_long), found->seed);
    found->choices.count = count; /* without those that were missing */
    judge(q, o->methods, verdict, &counts);
    question_free(q);
    if (verdict[0] != '\0') memcpy(found->verdict, verdict, sizeof verdict);
    return verdict[0] != '\0';
}

static void shrink(const Options *o, Found *found) {
    Choices *best = &found->choices;
    uint32_t *kept = malloc(((size_t)best->count + 1) * sizeof *kept);
    int budget = 1500;
    if (kept == NULL) abort();
    for (int length = best->count; length > 0; length /= 2) {
        for (int start = 0; start < best->count && budget > 0; start += length) {
            for (int way = 0; way < 2 && budget > 0; way++, budget--) { /* leave out, or make 0 */
                int end = start + length < best->count ? start + length : best->count, count = best->count;
                memcpy(kept, best->items, (size_t)count * sizeof *kept);
                if (way == 0) {
                    memmove(best->items + start, best->items + end, (size_t)(count - end) * sizeof *kept);
                    best->count -= end - start;
                } else {
                    memset(best->items + start, 0, (size_t)(end - start) * sizeof *kept);
                }
                if (memcmp(kept, best->items, (size_t)count * sizeof *kept) != 0 && still_fails(o, found)) {
                    way = way == 0 ? -1 : way; /* what follows has come to this place */
                    continue;
                }
                memcpy(best->items, kept, (size_t)count * sizeof *kept);
                best->count = count;
            }
        }
    }
    free(kept);
}

static void print_question(FILE *out, const Question *q, const char *methods) {
    fprintf(out, "-- $ cotan run FILE h --args '%s' --json\n", q->args);
    fprintf(out, "-- $ cotan vjp FILE h --at '%s' --cotangent '%s' --json %s\n", q->at, q->cotangent, methods);
    fprintf(out, "-- $ cotan jvp FILE h --at '%s' --tangent '%s' --json %s\n", q->at, q->tangent, methods);
    fprintf(out, "-- $ cotan run FILE second --args '%s' --json %s\n%s", q->all, methods, q->program.text);
}

static void save(const char *folder, uint64_t seed, const Question *q) {
    char path[1000];
    snprintf(path, sizeof path, "%s/arrays_%llu.cot", folder, (unsigned long long)seed);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        return;
    }
    fprintf(file, "-- Found by random programs over arrays.\n");
    print_question(file, q, "--method bulk");
    fclose(file);
}

/* ---- the command ---- */

static bool read_options(int argc, char **argv, Options *o) {
    *o = (Options){.seed = 1, .count = 200, .size = 40, .methods = {"bulk"}};
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--seed") == 0 && more) {
            o->seed = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--count") == 0 && more) {
            o->count = strtol(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--size") == 0 && more) {
            o->size = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--save") == 0 && more) {
            o->folder = argv[++i];
        } else if (strcmp(argv[i], "--long") == 0) {
            o->is_long = true;
        } else if (strcmp(argv[i], "--verbose") == 0) {
            o->verbose = true;
        } else if (strcmp(argv[i], "--methods") == 0 && more) {
            int count = 0;
            for (char *name = strtok(argv[++i], ","); name != NULL && count < MOST_METHODS; name = strtok(NULL, ","))
                o->methods[count++] = name;
            o->methods[count] = NULL;
        } else {
            fprintf(stderr, "unknown option %s\n", argv[i]);
            return false;
        }
    }
    return true;
}

/* One program; false when it fails. */
static bool try_one(const Options *o, uint64_t seed, Counts *counts) {
    Random random = {seed * 0x2545f4914f6cdd1dULL};
    Found found = {.choices = {.random = &random}, .seed = seed};
    Question *q = question_new(array_program(&found.choices, o->size, o->is_long), seed);
    if (o->verbose) {
        printf("-- seed %llu\n", (unsigned long long)seed);
        print_question(stdout, q, "");
        fflush(stdout);
    }
    judge(q, o->methods, found.verdict, counts);
    question_free(q);
    bool fine = found.verdict[0] == '\0';
    if (!fine) {
        found.choices.random = NULL;
        shrink(o, &found);
        q = question_new(array_program(&found.choices, o->size, o->is_long), seed);
        printf("seed %llu, smallest form found:\n%s\n", (unsigned long long)seed, found.verdict);
        print_question(stdout, q, "--method bulk");
        fflush(stdout);
        if (o->folder != NULL) save(o->folder, seed, q);
        question_free(q);
    }
    free(found.choices.items);
    return fine;
}

int main(int argc, char **argv) {
    Options o;
    if (!read_options(argc, argv, &o)) return 2;
    Counts counts = {0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t seed = o.seed; seed < o.seed + (uint64_t)o.count && counts.failed < 10; seed++)
        *(try_one(&o, seed, &counts) ? &counts.passed : &counts.failed) += 1;
    printf("random programs over arrays: %ld fail, as they should; %ld have derivatives that are not finite, or large; "
           "%ld were held against differences\n",
           counts.failing, counts.wild, counts.sloped);
    printf("%ld passed, %ld failed\n", counts.passed, counts.failed);
    return counts.failed > 0 ? 1 : 0;
}
