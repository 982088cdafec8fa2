/* Holds Cotan to random programs: value, gradient, tangent and cotangent by every method, and the transpose identity,
 * against central differences in long double.
 *
 *   random_programs [--seed S] [--count N] [--size K] [--methods a,b] [--costs] [--native] [--bound A,B,C] [--save DIR]
 *                   [--verbose]
 *
 * Programs that are not defined at their point, or whose differences do not settle to 1e-11, or that decide a branch
 * otherwise near the point, are discarded and counted. Methods whose gradients may take exponential time run up to a
 * limit of steps; what goes beyond is counted, and so is what bulk does not take. A failure is made smaller, printed,
 * and (--save) written as a golden test. --costs tells for each method the largest number of steps of a gradient for
 * each step of the program and each number of the point and of the result, and that divided by the logarithm of its
 * trace. --bound: no gradient takes more than A + B · the program's steps + C · the numbers of its point. --native runs
 * every call as native code, too, which must print the same. The last line is the count that test runners read.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cotan.h"
#include "random.h"

typedef struct Reference {
    long double f, g, df[MAX_LEAVES], dg[MAX_LEAVES];
} Reference;

static const long double tolerance = 1e-10L;

static bool close_to(long double a, long double b) {
    if (isnan(a) || isnan(b)) return false;
    long double size = fmaxl(1, fmaxl(fabsl(a), fabsl(b)));
    return fabsl(a - b) <= tolerance * size;
}

/* ---- the reference ---- */

/* The symmetric difference of sixth order with step s along leaf i; false when a branch goes another way nearby. */
static bool difference(const Program *p, uint64_t branches, int i, long double s, long double *df, long double *dg) {
    static const long double weights[3] = {45.0L / 60, -9.0L / 60, 1.0L / 60};
    long double leaves[MAX_LEAVES];
    memcpy(leaves, p->point.leaves, sizeof leaves);
    *df = *dg = 0;
    for (int k = 1; k <= 3; k++) {
        leaves[i] = p->point.leaves[i] + k * s;
        Outcome above = interpret(p, leaves);
        leaves[i] = p->point.leaves[i] - k * s;
        Outcome below = interpret(p, leaves);
        if (!above.defined || !below.defined || above.branches != branches || below.branches != branches) return false;
        *df += weights[k - 1] * (above.first - below.first) / s;
        *dg += weights[k - 1] * (above.second - below.second) / s;
    }
    return true;
}

static bool settled(long double a, long double b) { return fabsl(a - b) <= 1e-11L * fmaxl(1, fabsl(a)); }

static bool reference(const Program *p, Reference *out) {
    Outcome here = interpret(p, p->point.leaves);
    if (!here.defined) return false;
    out->f = here.first;
    out->g = here.second;
    for (int i = 0; i < p->point.leaf_count; i++) {
        long double coarse_f, coarse_g;
        const long double fine = 0.001L, coarse = 0.0017L;
        if (!difference(p, here.branches, i, coarse, &coarse_f, &coarse_g)) return false;
        if (!difference(p, here.branches, i, fine, &out->df[i], &out->dg[i])) return false;
        if (!settled(out->df[i], coarse_f) || !settled(out->dg[i], coarse_g)) return false;
        if (fabsl(out->df[i]) > 1e6L || fabsl(out->dg[i]) > 1e6L) return false;
    }
    return true;
}

/* ---- Cotan's answers ---- */

/* The numbers of a JSON text, left to right; names and other strings are passed over. */
static int numbers(const char *json, long double *out, int max) {
    int count = 0;
    for (const char *c = json; *c != '\0';) {
        if (*c == '"') {
            bool special =
                strncmp(c, "\"nan\"", 5) == 0 || strncmp(c, "\"inf\"", 5) == 0 || strncmp(c, "\"-inf\"", 6) == 0;
            if (special && count < max) out[count++] = NAN;
            for (c++; *c != '\0' && *c != '"'; c++) {
            }
            if (*c == '"') c++;
        } else if (*c == '-' || (*c >= '0' && *c <= '9')) {
            char *end;
            long double value = strtold(c, &end);
            if (count < max) out[count++] = value;
            c = end;
        } else {
            c++;
        }
    }
    return count;
}

static char *text_of_point(const Point *point, const long double *leaves) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL) abort();
    print_point(file, point, leaves);
    fclose(file);
    return text;
}

typedef struct Verdict {
    char what[4000]; /* empty: all agreed */
} Verdict;

/* A method, and what its gradients cost. */
typedef struct Method {
    const char *name;
    bool unbounded;          /* may take exponential time */
    long beyond;             /* programs on which it went over the limit of steps */
    double costliest;        /* steps for each step of the program and each number of point and result */
    const double *bound;     /* A, B, C; NULL */
    double by_log;           /* the same, and for each doubling of the operations */
    bool native;             /* runs as native code, too */
    long natives, evaluated; /* how often that ran, and did not */
} Method;

static const uint64_t step_limit = 30000000;

static bool is_native(const char *name) { return strcmp(name, "native") == 0; }

static bool is_unbounded(const char *name) {
    static const char *const names[] = {"dual-naive", "delta-tree", "chad-naive", "chad-sparse"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static void disagree(Verdict *verdict, const char *what, int i, long double cotan, long double expected) {
    if (verdict->what[0] == '\0')
        snprintf(verdict->what, sizeof verdict->what, "%s, leaf %d: Cotan %.17Lg, differences %.17Lg", what, i, cotan,
                 expected);
}

/* The same call as native code prints the same. */
static void ask_native(cotan_program *program, const cotan_call *call, Method *method, Verdict *verdict,
                       const cotan_result *expected) {
    cotan_call asked = *call;
    cotan_result result;
    char *value = strdup(expected->value), *derivative = strdup(expected->derivative);
    asked.native = true;
    asked.count = false;
    cotan_error *error = cotan_call_json(program, &asked, &result);
    if (result.not_native != NULL)
        method->evaluated++;
    else if (error != NULL)
        snprintf(verdict->what, sizeof verdict->what, "%s (%s, native) failed: %s", call->function, method->name,
                 cotan_error_text(error, false, false));
    else if (strcmp(value, result.value) != 0 || strcmp(derivative, result.derivative) != 0)
        snprintf(verdict->what, sizeof verdict->what, "%s (%s): the evaluator %.900s, %.900s, native %.900s, %.900s",
                 call->function, method->name, value, derivative, result.value, result.derivative);
    else
        method->natives++;
    free(value);
    free(derivative);
}

/* Runs one call and reads the numbers of value and derivative. False when there are none. */
static bool ask(cotan_program *program, const cotan_call *call, Method *method, Verdict *verdict, long double *value,
                long double *derivative) {
    cotan_result result;
    cotan_error *error = cotan_call_json(program, call, &result);
    if (error != NULL) {
        if (method->unbounded && strcmp(cotan_error_code(error, 0), "E0802") == 0)
            method->beyond++;
        else
            snprintf(verdict->what, sizeof verdict->what, "%s (%s) failed: %s", call->function, method->name,
                     cotan_error_text(error, false, false));
        return false;
    }
    if (is_native(method->name)) *(result.by_tape == NULL ? &method->natives : &method->evaluated) += 1;
    numbers(result.value, value, 4);
    int count = numbers(result.derivative, derivative, MAX_LEAVES);
    if (method->native) ask_native(program, call, method, verdict, &result);
    if (call->count) {
        double cost = (double)result.steps / (double)(result.primal_steps + (uint64_t)count + 1);
        method->costliest = fmax(method->costliest, cost);
        method->by_log = fmax(method->by_log, cost / log2((double)result.trace + 2));
        const double *b = method->bound;
        if (b != NULL && (double)result.steps > b[0] + b[1] * (double)result.primal_steps + b[2] * count) {
            snprintf(verdict->what, sizeof verdict->what, "%s takes %llu steps; the program %llu, for %d numbers",
                     method->name, (unsigned long long)result.steps, (unsigned long long)result.primal_steps, count);
            return false;
        }
    }
    return true;
}

/* evidence: DELTA Theorem 6: gradients of random programs by every method against differences in extended precision */
/* evidence: DELTA Theorem 9: the gradient by delta, on random programs */
/* evidence: DELTA §4.1: values of random programs by every method */
/* evidence: DELTA Fig. 2: gradients of random programs against differences */
static void check_gradient(cotan_program *program, const Program *p, const char *at, Method *method, bool costs,
                           const Reference *reference, Verdict *verdict) {
    long double value[4] = {NAN}, gradient[MAX_LEAVES] = {NAN};
    cotan_call call = {.mode = COTAN_GRAD, .function = "f", .at = at, .method = method->name, .count = costs};
    if (!ask(program, &call, method, verdict, value, gradient)) return;
    if (!close_to(value[0], reference->f)) disagree(verdict, method->name, -1, value[0], reference->f);
    for (int i = 0; i < p->point.leaf_count; i++)
        if (!close_to(gradient[i], reference->df[i])) disagree(verdict, method->name, i, gradient[i], reference->df[i]);
}

/* evidence: DELTA Lemma 1: tangents and cotangents of random programs */
/* evidence: DELTA Proposition 2: tangents of random programs by forward, against differences */
/* evidence: DELTA Fig. 1, polytypic operations: structured points, results and cotangents */
/* h x = (f x, [g x, f x · g x]): the tangent along dx and the cotangent of dy, each against the differences, and so
 * ⟨J·dx, dy⟩ = ⟨dx, Jᵀ·dy⟩. */
static void check_product(cotan_program *program, const Program *p, const char *at, Method *method, const Reference *r,
                          Verdict *verdict) {
    long double value[4] = {NAN, NAN, NAN}, tangent[MAX_LEAVES] = {NAN, NAN, NAN}, cotangent[MAX_LEAVES] = {NAN};
    long double dx[MAX_LEAVES];
    static const long double dy[3] = {0.5L, -1.25L, 0.75L};
    for (int i = 0; i < p->point.leaf_count; i++) dx[i] = (i % 3 - 1) * 0.5L + 0.25L;
    char *with = text_of_point(&p->point, dx);
    cotan_call jvp = {.mode = COTAN_JVP, .function = "h", .at = at, .with = with, .method = method->name};
    cotan_call vjp = {
        .mode = COTAN_VJP, .function = "h", .at = at, .with = "[0.5,[-1.25,0.75]]", .method = method->name};
    if (ask(program, &jvp, method, verdict, value, tangent) && ask(program, &vjp, method, verdict, value, cotangent)) {
        long double df = 0, dg = 0;
        for (int i = 0; i < p->point.leaf_count; i++) {
            df += r->df[i] * dx[i];
            dg += r->dg[i] * dx[i];
        }
        long double expected[3] = {df, dg, df * r->g + r->f * dg};
        for (int i = 0; i < 3; i++)
            if (!close_to(tangent[i], expected[i])) disagree(verdict, "jvp of h", i, tangent[i], expected[i]);
        for (int i = 0; i < p->point.leaf_count; i++) {
            long double sum = dy[0] * r->df[i] + dy[1] * r->dg[i] + dy[2] * (r->df[i] * r->g + r->f * r->dg[i]);
            if (!close_to(cotangent[i], sum)) disagree(verdict, "vjp of h", i, cotangent[i], sum);
        }
    }
    free(with);
}

static Verdict judge(const Program *p, const Reference *r, Method *methods, int method_count, bool costs) {
    Verdict verdict = {{0}};
    char *source = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&source, &size);
    if (file == NULL) abort();
    print_program(file, p);
    fclose(file);
    char *at = text_of_point(&p->point, p->point.leaves);
    cotan_limits limits = {
        .memory = (size_t)2 << 30,
        .steps = methods[0].native || is_native(methods[0].name) ? 0 : step_limit}; /* only the evaluator counts */
    cotan_context *context = cotan_open(&limits);
    if (context == NULL) abort();
    cotan_check_passes(context, true);
    cotan_exact_math(context, true);
    cotan_program *program = NULL;
    cotan_error *error = cotan_load(context, "random.cot", source, size, &program);
    if (error != NULL) {
        snprintf(verdict.what, sizeof verdict.what, "not accepted: %s", cotan_error_text(error, false, false));
    } else {
        for (int i = 0; i < method_count && verdict.what[0] == '\0'; i++) {
            long left_out = methods[i].beyond;
            check_gradient(program, p, at, &methods[i], costs, r, &verdict);
            if (verdict.what[0] == '\0' && methods[i].beyond == left_out)
                check_product(program, p, at, &methods[i], r, &verdict);
        }
    }
    cotan_close(context);
    free(source);
    free(at);
    return verdict;
}

/* ---- shrinking: simpler programs that still fail, greedily ---- */

static Program shrink(Program program, Method *methods, int method_count, Verdict *verdict) {
    bool progress = true;
    for (int rounds = 0; progress && rounds < 200; rounds++) {
        progress = false;
        int size = program_size(&program);
        for (int step = 0; step < size && !progress; step++) {
            for (int way = 0; way <= MAX_KIDS && !progress; way++) {
                Program simpler;
                Reference r;
                if (!simplify_program(&program, step, way, &simpler) || !reference(&simpler, &r)) continue;
                Verdict again = judge(&simpler, &r, methods, method_count, false);
                if (again.what[0] == '\0') continue;
                program = simpler;
                *verdict = again;
                progress = true;
            }
        }
    }
    return program;
}

static void save(const char *folder, uint64_t seed, const Program *p) {
    char path[1000];
    snprintf(path, sizeof path, "%s/random_%llu.cot", folder, (unsigned long long)seed);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        return;
    }
    char *at = text_of_point(&p->point, p->point.leaves);
    fprintf(file, "-- Found by random programs; the derivatives must agree with finite differences.\n");
    fprintf(file, "-- $ cotan check FILE h --at '%s' | tail -n 1\n", at);
    print_program(file, p);
    fclose(file);
    free(at);
}

/* ---- the command ---- */

typedef struct Options {
    uint64_t seed;
    long count;
    int size;
    Method methods[32];
    int method_count;
    const char *folder;
    bool native, verbose, costs;
    double bound[3];
} Options;

static void add_method(Options *o, const char *name) {
    if (o->method_count < 32) o->methods[o->method_count++] = (Method){.name = name, .unbounded = is_unbounded(name)};
}

static bool read_options(int argc, char **argv, Options *o) {
    *o = (Options){.seed = 1, .count = 500, .size = 60};
    for (size_t i = 0; cotan_method_at(i) != NULL; i++) add_method(o, cotan_method_at(i)->name);
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--seed") == 0 && more)
            o->seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--count") == 0 && more)
            o->count = strtol(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--size") == 0 && more)
            o->size = atoi(argv[++i]);
        else if (strcmp(argv[i], "--save") == 0 && more)
            o->folder = argv[++i];
        else if (strcmp(argv[i], "--verbose") == 0)
            o->verbose = true;
        else if (strcmp(argv[i], "--costs") == 0)
            o->costs = true;
        else if (strcmp(argv[i], "--native") == 0)
            o->native = true;
        else if (strcmp(argv[i], "--bound") == 0 && more) {
            char *next = argv[++i];
            for (int k = 0; k < 3; k++) o->bound[k] = strtod(next + (k > 0 && *next == ','), &next);
            o->costs = true;
        } else if (strcmp(argv[i], "--methods") == 0 && more) {
            o->method_count = 0;
            for (char *name = strtok(argv[++i], ","); name != NULL; name = strtok(NULL, ",")) add_method(o, name);
        } else {
            fprintf(stderr, "unknown option %s\n", argv[i]);
            return false;
        }
    }
    for (int i = 0; i < o->method_count; i++) o->methods[i].native = o->native;
    return true;
}

int main(int argc, char **argv) {
    Options o;
    if (!read_options(argc, argv, &o)) return 2;
    for (int i = 0; o.bound[1] > 0 && i < o.method_count; i++) o.methods[i].bound = o.bound;
    long passed = 0, failed = 0, discarded = 0;
    for (uint64_t seed = o.seed; passed + failed < o.count; seed++) {
        Random random = {seed * 0x2545f4914f6cdd1dULL};
        Program program;
        Reference r;
        generate_reset();
        generate_program(&random, 4 + random_below(&random, o.size), &program);
        if (!reference(&program, &r)) {
            discarded++;
            continue;
        }
        if (o.verbose) {
            printf("-- seed %llu\n", (unsigned long long)seed);
            print_program(stdout, &program);
            fflush(stdout);
        }
        Verdict verdict = judge(&program, &r, o.methods, o.method_count, o.costs);
        if (verdict.what[0] == '\0') {
            passed++;
            continue;
        }
        failed++;
        program = shrink(program, o.methods, o.method_count, &verdict);
        char *at = text_of_point(&program.point, program.point.leaves);
        printf("seed %llu, smallest form found, at %s:\n%s\n", (unsigned long long)seed, at, verdict.what);
        print_program(stdout, &program);
        free(at);
        if (o.folder != NULL) save(o.folder, seed, &program);
        if (failed == 10) {
            printf("stopping after 10 failures\n");
            break;
        }
    }
    printf("random programs: %ld discarded as undefined, ill-conditioned or near a branch\n", discarded);
    for (int i = 0; i < o.method_count; i++) {
        const Method *method = &o.methods[i];
        if (method->beyond > 0)
            printf("%s: more than %llu steps on %ld\n", method->name, (unsigned long long)step_limit, method->beyond);
        if (o.native)
            printf("%s: %ld calls the same as native code, %ld on the evaluator\n", method->name, method->natives,
                   method->evaluated);
        if (is_native(method->name))
            printf("native: %ld calls by Flow, %ld by tape\n", method->natives, method->evaluated);
        if (o.costs)
            printf("cost of %s: %.2f, by the logarithm %.2f\n", method->name, method->costliest, method->by_log);
    }
    printf("%ld passed, %ld failed\n", passed, failed);
    return failed > 0 ? 1 : 0;
}
