/* The command line: words, options and their help. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"

/* ---- the table of options ---- */

typedef enum OptionKind {
    TEXT,
    NAMES,
    FLAG,
    SIZE,
    COUNT,
    NATURAL,
    THREADS,
    COLOUR,
    ENGINE,
    MATH,
    PROFILE,
    FOLDER
} OptionKind;

typedef struct OptionRow {
    const char *name, *value, *what;
    int group; /* 0: every verb takes it */
    OptionKind kind;
    size_t offset;
} OptionRow;

#define AT(field) offsetof(Options, field)
static const OptionRow rows[] = {
    {"--args", "JSON", "the arguments, a JSON array; @FILE reads them from a file, - from standard input", TAKES_ARGS,
     TEXT, AT(args)},
    {"--at", "JSON", "the point; @FILE reads it from a file, - from standard input", TAKES_AT, TEXT, AT(at)},
    {"--to", "JSON", "check at random points between --at and this one, each number by itself; shows the worst",
     TAKES_REGION, TEXT, AT(to)},
    {"--points", "N", "at how many points; 100 by default", TAKES_REGION, COUNT, AT(points)},
    {"--wrt", "NAMES",
     "the gradient with respect to these parameters of FUNCTION only, separated by commas; may be repeated", TAKES_WRT,
     NAMES, AT(wrt)},
    {"--tangent", "JSON", "the tangent, in the shape of the point", TAKES_TANGENT, TEXT, AT(tangent)},
    {"--cotangent", "JSON", "the cotangent, in the shape of the result", TAKES_COTANGENT, TEXT, AT(cotangent)},
    {"--method", "NAME", "the method of differentiation; `cotan methods` lists them", TAKES_METHOD, TEXT, AT(method)},
    {"--methods", "NAMES", "the methods to compare, separated by commas; by default all but native", TAKES_METHODS,
     TEXT, AT(methods)},
    {"--start", "JSON", "the parameters to start from; @FILE reads them from a file, - from standard input", TAKES_FIT,
     TEXT, AT(start)},
    {"--data", "JSON",
     "the other argument of LOSS, or the array of several; @FILE reads .json, .npy, .npz, or .csv by column names",
     TAKES_FIT, TEXT, AT(data)},
    {"--method", "NAME", "lbfgs (default), slsqp, newton, adam, sgd or nelder-mead", TAKES_FIT, TEXT, AT(descent)},
    {"--lower", "EXPR", "lower bounds, an expression of the parameters' type", TAKES_FIT, TEXT, AT(lower)},
    {"--upper", "EXPR", "upper bounds", TAKES_FIT, TEXT, AT(upper)},
    {"--constraint", "NAMES", "functions of the parameters whose numbers must be at most 0 (slsqp)", TAKES_FIT, TEXT,
     AT(constraints)},
    {"--equality", "NAMES", "functions of the parameters whose numbers must be 0 (slsqp)", TAKES_FIT, TEXT,
     AT(equalities)},
    {"--steps", "N", "at most so many steps; 1000 by default", TAKES_FIT, COUNT, AT(steps)},
    {"--time", "SECONDS", "stop after so many seconds", TAKES_FIT, TEXT, AT(time)},
    {"--tolerance", "T", "stop where no number of the gradient exceeds T · max(1, |value|); 1e-8 by default", TAKES_FIT,
     TEXT, AT(tolerance)},
    {"--rate", "R", "the step size of sgd and adam; 0.01 by default", TAKES_FIT, TEXT, AT(rate)},
    {"--batch", "N", "sgd and adam: take N random rows of the data in each step", TAKES_FIT, COUNT, AT(batch)},
    {"--seed", "N", "what random numbers begin from; 0 by default", TAKES_FIT | TAKES_REGION, NATURAL, AT(seed)},
    {"--restarts", "N", "begin again N times, from random points, and keep the best", TAKES_FIT, NATURAL, AT(restarts)},
    {"--errors", NULL, "also print standard errors, if LOSS is a negative log-likelihood", TAKES_FIT, FLAG, AT(errors)},
    {"--log", "FILE", "write a line for each step, as CSV", TAKES_FIT, TEXT, AT(log)},
    {"--plot", "FILE", "draw the descent as SVG; needs gnuplot", TAKES_FIT, TEXT, AT(plot)},
    {"--plot-model", "NAME", "and data and model: NAME takes what the loss does, and gives (x, observed, predicted)",
     TAKES_FIT, TEXT, AT(plot_model)},
    {"--checkpoint", "FILE", "keep the best point in this file, and go on from it if it exists", TAKES_FIT, TEXT,
     AT(checkpoint)},
    {"--out", "FILE", "write the result to a .json, .npz or .npy file", TAKES_RUN, TEXT, AT(out)},
    {"--out", "FILE", "write the parameters to a .json or .npz file", TAKES_FIT, TEXT, AT(out)},
    {"-o", "STEM", "the name of the files to write, without .c and .h", TAKES_STEM, TEXT, AT(stem)},
    {"--prefix", "NAME", "what the names of all functions and types in the C begin with", TAKES_STEM, TEXT, AT(prefix)},
    {"--grad", NULL, "also write FUNCTION_grad: value and gradient", TAKES_STEM, FLAG, AT(grad)},
    {"--vjp", NULL, "also write FUNCTION_vjp: value and vector-Jacobian product", TAKES_STEM, FLAG, AT(vjp)},
    {"--jvp", NULL, "also write FUNCTION_jvp: value and Jacobian-vector product", TAKES_STEM, FLAG, AT(jvp)},
    {"--html", "FILE", "write a page for a browser, with the graph of the run", TAKES_HTML, TEXT, AT(html)},
    {"--sensitivity", NULL, "estimate the rounding error of the function at the point, operation by operation",
     TAKES_HTML, FLAG, AT(sensitivity)},
    {"--count", NULL, "also print the number of evaluation steps", TAKES_RUN, FLAG, AT(count)},
    {"--profile", "[FILE.svg]", "also print where steps and time went, by function and line; or draw it: a flame graph",
     TAKES_RUN, PROFILE, 0},
    {"--dump", "PASS", "print the program after a compiler pass, and stop", TAKES_RUN, TEXT, AT(dump)},
    {"--time-passes", NULL, "compile to native code, print the time that each pass takes, and stop", TAKES_RUN, FLAG,
     AT(time_passes)},
    {"--count-rules", NULL, "also print how often each rewrite rule of the compiler was applied", TAKES_RUN, FLAG,
     AT(count_rules)},
    {"--engine", "NAME",
     "eval: the evaluator; native: compiled C; auto, the default: the evaluator, and native code for long runs",
     TAKES_ENGINE | TAKES_FIT, ENGINE, 0},
    {"--keep-c", "FILE", "write the generated C to this file, or into this folder", TAKES_RUN, TEXT, AT(keep_c)},
    {"--math", "NAME", "for native code: fast, with vector functions, or exact, the same bits as the evaluator",
     TAKES_ENGINE | TAKES_STEM | TAKES_FIT | TAKES_MATH, MATH, 0},
    {"--trap-nan", NULL,
     "run on the evaluator, and stop with an error at the first operation that makes a NaN out of other numbers",
     TAKES_TRAP, FLAG, AT(trap_nan)},
    {"--programs", "FOLDER", "the folder of the programs, one for each eval", TAKES_PROGRAMS, TEXT, AT(programs)},
    {"--max-memory", "SIZE", "stop with an error above this many bytes; the suffixes K, M and G are allowed",
     TAKES_LIMITS | TAKES_MEMORY, SIZE, AT(limits.memory)},
    {"--max-steps", "N", "stop with an error after N evaluation steps", TAKES_LIMITS, COUNT, AT(limits.steps)},
    {"--max-depth", "N", "stop with an error at N unfinished calls", TAKES_LIMITS, COUNT, AT(limits.depth)},
    {"--threads", "N",
     "run long loops over arrays on N threads, or auto: one per processor; the default is COTAN_THREADS, or 1",
     TAKES_LIMITS, THREADS, 0},
    {"--path", "FOLDER", "also search this folder for imported modules; may be repeated", TAKES_FILE, FOLDER, 0},
    {"--no-warnings", NULL, "do not print warnings", TAKES_FILE, FLAG, AT(no_warnings)},
    {"--check", NULL, "write nothing; report which files would change", TAKES_CHECK, FLAG, AT(only_check)},
    {"--json", NULL, "print the result and the errors as JSON objects", TAKES_JSON, FLAG, AT(json)},
    {"--color", "WHEN", "print errors in colour: auto, always or never", 0, COLOUR, 0},
    {"--help", NULL, "print this help", 0, FLAG, AT(help)},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* ---- help ---- */

void cli_print_verb_help(const Verb *verb) {
    printf("usage: cotan %s\n\n%s.\n\n", verb->usage, verb->what);
    for (int i = 0; i < ROW_COUNT; i++) {
        if (rows[i].group != 0 && !(rows[i].group & verb->takes)) continue;
        char left[40];
        snprintf(left, sizeof left, "%s%s%s", rows[i].name, rows[i].value != NULL ? " " : "",
                 rows[i].value != NULL ? rows[i].value : "");
        printf("  %-18s  %s\n", left, rows[i].what);
    }
}

void cli_print_help(void) {
    printf("Cotan %s: programs that can be differentiated.\n\nusage: cotan VERB …\n\n", cotan_version());
    for (size_t i = 0; i < cli_verb_count; i++) {
        int beyond_ascii = 0; /* bytes that continue a character of UTF-8 */
        for (const char *c = cli_verbs[i].usage; *c != '\0'; c++) beyond_ascii += ((unsigned char)*c & 0xC0) == 0x80;
        printf("  %-*s  %s\n", 46 + beyond_ascii, cli_verbs[i].usage, cli_verbs[i].what);
    }
    printf("\n`cotan VERB --help` lists a verb's options.\n"
           "\nexit status: 0 done, 1 the program has an error, 2 the command line or an input is wrong,\n"
           "             3 a check failed, 4 an internal fault\n");
}

/* ---- spelling: the edit distance of two names ---- */

static size_t changes(const char *a, const char *b) {
    size_t row[32];
    size_t m = strlen(a), n = strlen(b);
    if (n > 30) return SIZE_MAX;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[n];
}

const Verb *cli_find_verb(const char *name, bool colour) {
    const Verb *nearest = NULL;
    size_t least = 3;
    for (size_t i = 0; i < cli_verb_count; i++) {
        if (strcmp(cli_verbs[i].name, name) == 0) return &cli_verbs[i];
        size_t distance = changes(name, cli_verbs[i].name);
        if (distance >= least) continue;
        least = distance;
        nearest = &cli_verbs[i];
    }
    Options options = {.colour = colour};
    const char *dot = strrchr(name, '.');
    if (dot != NULL && strcmp(dot, ".cot") == 0)
        cli_complain(&options, "there is no verb `%s`; to run a program, write `cotan run %s`", name, name);
    else if (nearest != NULL)
        cli_complain(&options, "there is no verb `%s`; did you mean `%s`?", name, nearest->name);
    else
        cli_complain(&options, "there is no verb `%s`; `cotan --help` lists them", name);
    return NULL;
}

/* ---- reading ---- */

/* Reads the digits at the beginning of a text, up to *end. */
static bool read_digits(const char *text, uint64_t *out, char **end) {
    errno = 0;
    *out = strtoull(text, end, 10);
    return text[0] >= '0' && text[0] <= '9' && errno == 0; /* strtoull takes spaces and signs, too */
}

bool cli_read_number(const char *text, bool size, uint64_t *out) {
    char *end;
    uint64_t value;
    if (!read_digits(text, &value, &end)) return false;
    int shift = 0;
    if (size && *end != '\0') {
        switch (*end++) {
        case 'k':
        case 'K': shift = 10; break;
        case 'm':
        case 'M': shift = 20; break;
        case 'g':
        case 'G': shift = 30; break;
        default: return false;
        }
        if (*end == 'i') end++;
        if (*end == 'B' || *end == 'b') end++;
    }
    if (*end != '\0' || value > UINT64_MAX >> shift || value == 0) return false;
    *out = value << shift;
    return true;
}

bool cli_read_threads(const char *text, unsigned *out) {
    uint64_t number;
    if (strcmp(text, "auto") == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        number = processors < 1 ? 1 : processors > MOST_THREADS ? MOST_THREADS : (uint64_t)processors;
    } else if (!cli_read_number(text, false, &number) || number > MOST_THREADS) {
        return false;
    }
    *out = (unsigned)number;
    return true;
}

static bool set_colour(const char *when, Options *o) {
    bool always = strcmp(when, "always") == 0, automatic = strcmp(when, "auto") == 0;
    bool allowed = automatic && getenv("NO_COLOR") == NULL;
    o->colour = always || (allowed && isatty(STDERR_FILENO));
    o->colour_out = always || (allowed && isatty(STDOUT_FILENO));
    return always || automatic || strcmp(when, "never") == 0;
}

static bool set_engine(const char *name, Options *o) {
    o->at_once = strcmp(name, "native") == 0;
    o->native = o->at_once || strcmp(name, "auto") == 0;
    return o->native || strcmp(name, "eval") == 0;
}

static bool set_math(const char *name, Options *o) {
    o->exact_math = strcmp(name, "exact") == 0;
    return o->exact_math || strcmp(name, "fast") == 0;
}

/* The defaults of --engine and --math, from the environment, for verbs that run programs. */
static bool set_defaults(Options *o) {
    const char *engine = getenv("COTAN_ENGINE"), *math = getenv("COTAN_MATH");
    o->native = true;
    if (!(o->verb->takes & (TAKES_LIMITS | TAKES_MEMORY))) return true;
    if (engine != NULL && *engine != '\0' && !set_engine(engine, o)) {
        cli_complain(o, "COTAN_ENGINE takes auto, eval or native, not `%s`", engine);
        return false;
    }
    if (math != NULL && *math != '\0' && !set_math(math, o)) {
        cli_complain(o, "COTAN_MATH takes fast or exact, not `%s`", math);
        return false;
    }
    return true;
}

static bool set_threads(Options *o, const char *from, const char *value) {
    if (cli_read_threads(value, &o->limits.threads)) return true;
    cli_complain(o, "%s takes a number from 1 to 256, or `auto`, not `%s`", from, value);
    return false;
}

/* Adds names to those that an option was given before. There is one such option and one command line, so that the text
 * lives until the command ends. */
static bool add_names(const Options *o, const char **names, const char *value) {
    static char *all;
    if (*names == NULL) {
        *names = value;
        return true;
    }
    size_t size = strlen(*names) + strlen(value) + 2;
    char *both = malloc(size);
    if (both == NULL) {
        cli_refuse(o, "E0801", "there is no memory");
        return false;
    }
    snprintf(both, size, "%s,%s", *names, value);
    free(all);
    *names = all = both;
    return true;
}

static bool apply(Options *o, const OptionRow *row, const char *value) {
    char *field = (char *)o + row->offset;
    uint64_t number;
    switch (row->kind) {
    case FLAG: *(bool *)field = true; return true;
    case TEXT: *(const char **)field = value; return true;
    case NAMES: return add_names(o, (const char **)field, value);
    case SIZE:
        if (!cli_read_number(value, true, &number) || number > SIZE_MAX) {
            cli_complain(o, "%s takes a size, such as 512M, not `%s`", row->name, value);
            return false;
        }
        *(size_t *)field = (size_t)number;
        return true;
    case COUNT:
        if (!cli_read_number(value, false, &number)) {
            cli_complain(o, "%s takes a positive number, not `%s`", row->name, value);
            return false;
        }
        *(uint64_t *)field = number;
        return true;
    case NATURAL: {
        char *end;
        if (read_digits(value, (uint64_t *)field, &end) && *end == '\0') return true;
        cli_complain(o, "%s takes a natural number, not `%s`", row->name, value);
        return false;
    }
    case THREADS: return set_threads(o, row->name, value);
    case FOLDER:
        if (o->folder_count == sizeof o->folders / sizeof *o->folders) {
            cli_complain(o, "--path is given too often; COTAN_PATH takes any number of folders");
            return false;
        }
        o->folders[o->folder_count++] = value;
        return true;
    case COLOUR:
        if (set_colour(value, o)) return true;
        cli_complain(o, "--color takes auto, always or never, not `%s`", value);
        return false;
    case PROFILE:
        o->profile = true;
        if (value != NULL) o->profile_file = value;
        return true;
    case ENGINE:
        o->engine_asked = true;
        if (set_engine(value, o)) return true;
        cli_complain(o, "--engine takes auto, eval or native, not `%s`", value);
        return false;
    case MATH:
        if (set_math(value, o)) return true;
        cli_complain(o, "--math takes fast or exact, not `%s`", value);
        return false;
    }
    return false;
}

static const OptionRow *find_row(const char *word, const Verb *verb, const char **value) {
    for (int i = 0; i < ROW_COUNT; i++) {
        size_t length = strlen(rows[i].name);
        if (strncmp(word, rows[i].name, length) != 0 || (word[length] != '\0' && word[length] != '=')) continue;
        if (rows[i].group != 0 && !(rows[i].group & verb->takes)) continue;
        *value = word[length] == '=' ? word + length + 1 : NULL;
        return &rows[i];
    }
    return NULL;
}

/* The option of this verb that is spelt most like `word`, or NULL. */
static const char *near_option(const char *word, const Verb *verb) {
    char name[24];
    size_t length = strcspn(word, "="), least = 3;
    const char *nearest = NULL;
    if (length >= sizeof name) return NULL;
    memcpy(name, word, length);
    name[length] = '\0';
    for (int i = 0; i < ROW_COUNT; i++) {
        if (rows[i].group != 0 && !(rows[i].group & verb->takes)) continue;
        size_t distance = changes(name, rows[i].name);
        if (distance >= least) continue;
        least = distance;
        nearest = rows[i].name;
    }
    return nearest;
}

static void refuse_option(const Options *o, const char *word) {
    const Verb *verb = o->verb;
    const char *nearest = near_option(word, verb);
    bool at = strncmp(word, "--at", 4) == 0 && (word[4] == '\0' || word[4] == '=');
    if (at && verb->takes & TAKES_ARGS)
        cli_complain(o,
                     "`cotan %s` has no option --at, which gives the point of a derivative; arguments are given as an "
                     "array: --args '[3]'",
                     verb->name);
    else if (nearest != NULL)
        cli_complain(o, "`cotan %s` has no option %s; did you mean %s?", verb->name, word, nearest);
    else
        cli_complain(o, "`cotan %s` has no option %s; `cotan %s --help` lists them", verb->name, word, verb->name);
}

static void refuse_word(const Options *o, const char *word) {
    const Verb *verb = o->verb;
    bool after_function = verb->most_words == 2 && o->word_count == 2;
    if (after_function && verb->takes & TAKES_ARGS)
        cli_complain(o, "`%s` is one word too many; arguments are given as an array: --args '[%s]'", word, word);
    else if (after_function && verb->takes & TAKES_AT)
        cli_complain(o, "`%s` is one word too many; the point is given by --at: --at '%s'", word, word);
    else
        cli_complain(o, "`%s` is one word too many: usage: cotan %s", word, verb->usage);
}

/* Reports the first missing positional argument by its name in the usage line: FILE, FUNCTION, CODE. */
static void refuse_missing(const Options *o) {
    const char *word = o->verb->usage;
    for (int i = 0; i <= o->word_count && *word != '\0'; i++) {
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
    cli_complain(o, "%.*s is missing: usage: cotan %s", (int)strcspn(word, " "), word, o->verb->usage);
}

static bool is_svg(const char *word) {
    size_t length = strlen(word);
    return length > 4 && word[0] != '-' && strcmp(word + length - 4, ".svg") == 0;
}

bool cli_read_options(int argc, char **argv, const Verb *verb, Options *o) {
    *o = (Options){.verb = verb};
    set_colour("auto", o);
    /* --json first, since it decides how errors in the other options are printed. */
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0 && verb->takes & TAKES_JSON) o->json = true;
    if (!set_defaults(o)) return false;
    bool only_words = false;
    o->words = (const char **)argv; /* positional arguments move to the front of argv, over options already read */
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i], *value = NULL;
        if (only_words || word[0] != '-' || word[1] == '\0') {
            if (o->word_count == verb->most_words) {
                refuse_word(o, word);
                return false;
            }
            o->words[o->word_count++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0 && verb->takes & TAKES_ARGS && o->word_count > 0) {
            o->own = (const char **)argv + i + 1;
            o->own_count = argc - i - 1;
            break;
        }
        if (strcmp(word, "--") == 0) {
            only_words = true;
            continue;
        }
        const OptionRow *row = find_row(strcmp(word, "-h") == 0 ? "--help" : word, verb, &value);
        if (row == NULL) {
            refuse_option(o, word);
            return false;
        }
        if (row->value == NULL && value != NULL) {
            cli_complain(o, "%s takes no value", row->name);
            return false;
        }
        bool optional = row->value != NULL && row->value[0] == '[';
        if (optional && value == NULL && i + 1 < argc && is_svg(argv[i + 1])) value = argv[++i];
        if (row->value != NULL && value == NULL && !optional) {
            if (i + 1 == argc) {
                cli_complain(o, "%s needs a value: %s", row->name, row->value);
                return false;
            }
            value = argv[++i];
        }
        if (!apply(o, row, value)) return false;
    }
    if (!o->help && o->word_count < verb->least_words) {
        refuse_missing(o);
        return false;
    }
    const char *threads = getenv("COTAN_THREADS");
    bool asks = verb->takes & TAKES_LIMITS && o->limits.threads == 0 && threads != NULL && *threads != '\0';
    return !asks || set_threads(o, "COTAN_THREADS", threads);
}
