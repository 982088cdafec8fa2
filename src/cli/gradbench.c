/* `cotan gradbench`: a tool of GradBench, the benchmark suite of differentiable programming (docs/gradbench.md). It
 * reads one message a line from standard input, and answers each by a line on standard output.
 *
 * A module of the suite is a program, MODULE.cot; a function of it takes one argument, the input of the message. What
 * is timed is cotan_apply alone: the input is made buffers once, by cotan_function_read_foreign and the program's
 * function `input` if it has one; and the result is JSON once, by the program's function FUNCTIONOutput if it has one.
 * Where one of them takes or gives what has no buffers, such as lists, they exchange values, and what is timed is the
 * run in cotan_apply_values.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/verbs.h"

enum { NAME = 64 };

typedef struct Callee { /* a function of a module, compiled */
    char name[NAME];
    cotan_function *function;
    struct Callee *next;
} Callee;

typedef struct Module {
    char name[NAME];
    cotan_context *context;
    cotan_program *program;
    char *types; /* "name :: type" lines of what it defines */
    Callee *callees;
    struct Module *next;
} Module;

typedef struct Tool {
    const Options *options;
    char folder[PATH_MAX]; /* of the programs */
    Module *modules;
} Tool;

/* An answer that failed; no longer than an error of the library and its source lines. */
typedef struct Fault {
    char text[4000];
} Fault;

static bool fail(Fault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(Fault *fault, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(fault->text, sizeof fault->text, format, list);
    va_end(list);
    return false;
}

static bool failed(Fault *fault, const cotan_error *error) {
    if (error == NULL) return true;
    fail(fault, "%s", cotan_error_text(error, false, false));
    size_t length = strlen(fault->text);
    if (length > 0 && fault->text[length - 1] == '\n') fault->text[length - 1] = '\0';
    return false;
}

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- modules ---- */

static void module_free(Module *module) {
    while (module->callees != NULL) {
        Callee *callee = module->callees;
        module->callees = callee->next;
        free(callee); /* the context frees the function */
    }
    cotan_close(module->context);
    free(module->types);
    free(module);
}

static Module *module_of(const Tool *tool, const char *name) {
    Module *module = tool->modules;
    while (module != NULL && strcmp(module->name, name) != 0) module = module->next;
    return module;
}

static void forget(Tool *tool, const char *name) {
    for (Module **link = &tool->modules; *link != NULL; link = &(*link)->next) {
        if (strcmp((*link)->name, name) != 0) continue;
        Module *module = *link;
        *link = module->next;
        module_free(module);
        return;
    }
}

static bool load(const Tool *tool, Module *module, const char *path, Fault *fault) {
    size_t length;
    char *text = cli_read_file(tool->options, path, &length);
    if (text == NULL) return fail(fault, "%s cannot be read", path);
    module->context = cotan_open(&tool->options->limits);
    if (module->context == NULL) {
        free(text);
        return fail(fault, "there is not enough memory to begin");
    }
    cotan_exact_math(module->context, tool->options->exact_math);
    cotan_error *error = cli_add_folders(tool->options, path, module->context);
    if (error == NULL) error = cotan_load(module->context, path, text, length, &module->program);
    free(text);
    const char *types = NULL;
    if (error == NULL) error = cotan_types(module->program, NULL, &types);
    if (error != NULL) return failed(fault, error);
    module->types = strdup(types);
    return module->types != NULL || fail(fault, "there is not enough memory");
}

/* Whether the module itself defines a name. */
static bool defines(const Module *module, const char *name) {
    size_t length = strlen(name);
    for (const char *line = module->types; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && strncmp(line + length, " :: ", 4) == 0) return true;
    }
    return false;
}

/* The function of this name, compiled when it is first asked for. */
static Callee *callee_of(Module *module, const char *name, Fault *fault) {
    for (Callee *callee = module->callees; callee != NULL; callee = callee->next)
        if (strcmp(callee->name, name) == 0) return callee;
    Callee *callee = calloc(1, sizeof *callee);
    if (callee == NULL) {
        fail(fault, "there is not enough memory");
        return NULL;
    }
    snprintf(callee->name, sizeof callee->name, "%s", name);
    cotan_call call = {.mode = COTAN_RUN, .function = name, .native = true};
    bool made = failed(fault, cotan_function_make(module->program, &call, &callee->function));
    if (!made) {
        free(callee);
        return NULL;
    }
    callee->next = module->callees;
    module->callees = callee;
    return callee;
}

/* The function that converts inputs, or results of a function; NULL without a fault if the program has none. */
static Callee *converter_of(Module *module, const char *function, const char *suffix, Fault *fault) {
    char name[2 * NAME];
    snprintf(name, sizeof name, "%s%s", function, suffix);
    return strlen(name) < NAME && defines(module, name) ? callee_of(module, name, fault) : NULL;
}

/* ---- define ---- */

/* The functions that evals of the suite ask for: `define` compiles those that the program has, others are compiled when
 * they are asked for. */
static const char *const usual[] = {"square", "double", "primal", "gradient", "objective", "jacobian",
                                    "cost",   "dir",    "ff",     "fr",       "rf",        "rr"};

static bool build(Tool *tool, const char *name, Fault *fault) {
    char path[PATH_MAX + NAME + 8];
    snprintf(path, sizeof path, "%s/%s.cot", tool->folder, name);
    if (access(path, R_OK) != 0) return fail(fault, "there is no module `%s`: no file %s", name, path);
    Module *module = calloc(1, sizeof *module);
    if (module == NULL) return fail(fault, "there is not enough memory");
    snprintf(module->name, sizeof module->name, "%s", name);
    forget(tool, name);
    module->next = tool->modules;
    tool->modules = module;
    bool done = load(tool, module, path, fault);
    for (size_t i = 0; i < sizeof usual / sizeof *usual && done; i++)
        done = !defines(module, usual[i]) || callee_of(module, usual[i], fault) != NULL;
    if (!done) forget(tool, name);
    return done;
}

/* ---- evaluate ---- */

typedef struct Run {
    size_t min_runs;
    double min_seconds;
    int64_t *times; /* one a run */
    size_t count, capacity;
} Run;

static bool read_runs(Span input, Run *run, Fault *fault) {
    static const char *const names[] = {"min_runs", "min_seconds"};
    Span members[2];
    double runs = 1, seconds = 0;
    cli_members(input, names, members, 2); /* an input that is no object has none */
    if (members[0].text != NULL && !cli_number(members[0], &runs))
        return fail(fault, "`min_runs` is not a number of runs");
    if (members[1].text != NULL && !cli_number(members[1], &seconds))
        return fail(fault, "`min_seconds` is not a number of seconds");
    run->min_runs = runs < 1 ? 1 : runs > 1e15 ? (size_t)1e15 : (size_t)runs;
    run->min_seconds = seconds;
    return true;
}

static bool add_time(Run *run, int64_t time) {
    if (run->count == run->capacity) {
        size_t capacity = 2 * run->capacity + 16;
        int64_t *times = realloc(run->times, capacity * sizeof *times);
        if (times == NULL) return false;
        run->times = times;
        run->capacity = capacity;
    }
    run->times[run->count++] = time;
    return true;
}

/* What goes into a function, or comes out of it: buffers, or a value (borrowed). */
typedef struct Data {
    cotan_buffer *buffers;
    size_t count;
    const cotan_value *value;
} Data;

static bool apply(const Callee *callee, const Data *in, Data *out, Fault *fault) {
    if (out->buffers == NULL)
        return failed(fault, cotan_apply_values(callee->function, in->value, NULL, &out->value, NULL));
    memset(out->buffers, 0, out->count * sizeof *out->buffers);
    return failed(fault, cotan_apply(callee->function, in->buffers, out->buffers));
}

/* Calls a function until it has run often and long enough; of values, the conversion counts for how long. */
static bool run_often(const Callee *callee, const Data *in, Data *out, Run *run, Fault *fault) {
    bool values = out->buffers == NULL;
    double total = 0;
    while (run->count < run->min_runs || total < run->min_seconds) {
        int64_t begin = nanoseconds();
        if (!apply(callee, in, out, fault)) return false;
        int64_t time = nanoseconds() - begin;
        total += (double)time * 1e-9;
        if (values) time = (int64_t)(cotan_function_seconds(callee->function) * 1e9);
        if (!add_time(run, time)) return fail(fault, "there is not enough memory for the times");
    }
    return true;
}

/* Whether what one function gives is what another takes. */
static bool fits(const Callee *from, const Callee *to, Fault *fault) {
    const cotan_signature *a = cotan_function_signature(from->function), *b = cotan_function_signature(to->function);
    bool fit = a->out_count == b->in_count;
    for (size_t i = 0; fit && i < a->out_count; i++)
        fit = a->out[i].element == b->in[i].element && a->out[i].rank == b->in[i].rank;
    return fit || fail(fault, "`%s` does not take what `%s` gives: they are of the types %s and %s", to->name,
                       from->name, b->type, a->type);
}

/* The functions of one evaluation, and what they pass on. */
typedef struct Chain {
    Callee *input, *function, *output; /* input and output may be NULL */
    Data in, converted, out, last;
} Chain;

static bool has_buffers(const Callee *callee) {
    return callee == NULL || cotan_function_signature(callee->function)->no_buffers == NULL;
}

static bool make_buffers(Data *data, size_t count) {
    data->count = count;
    data->buffers = calloc(count + 1, sizeof(cotan_buffer));
    return data->buffers != NULL;
}

static bool chain_find(Module *module, const char *name, Chain *c, Fault *fault) {
    fault->text[0] = '\0';
    if (!defines(module, name)) return fail(fault, "module `%s` has no function `%s`", module->name, name);
    c->input = converter_of(module, "", "input", fault);
    c->function = fault->text[0] == '\0' ? callee_of(module, name, fault) : NULL;
    c->output = c->function != NULL ? converter_of(module, name, "Output", fault) : NULL;
    if (fault->text[0] != '\0') return false;
    if (!has_buffers(c->input) || !has_buffers(c->function) || !has_buffers(c->output)) return true;
    if (c->input != NULL && !fits(c->input, c->function, fault)) return false;
    if (c->output != NULL && !fits(c->function, c->output, fault)) return false;
    const cotan_signature *function = cotan_function_signature(c->function->function);
    bool enough = make_buffers(&c->converted, function->in_count) && make_buffers(&c->out, function->out_count);
    if (enough && c->input != NULL)
        enough = make_buffers(&c->in, cotan_function_signature(c->input->function)->in_count);
    if (enough && c->output != NULL)
        enough = make_buffers(&c->last, cotan_function_signature(c->output->function)->out_count);
    return enough || fail(fault, "there is not enough memory");
}

static void chain_free(Chain *c) {
    free(c->in.buffers);
    free(c->converted.buffers);
    free(c->out.buffers);
    free(c->last.buffers);
}

static bool read_data(const Callee *callee, Span input, Data *data, bool values, Fault *fault) {
    return failed(fault,
                  values ? cotan_function_read_foreign_value(callee->function, input.text, input.length, &data->value)
                         : cotan_function_read_foreign(callee->function, input.text, input.length, data->buffers));
}

static bool write_data(const Callee *callee, const Data *data, bool values, const char **output, Fault *fault) {
    return failed(fault, values ? cotan_function_write_foreign_value(callee->function, data->value, output)
                                : cotan_function_write_foreign(callee->function, data->buffers, output));
}

static bool chain_run(Chain *c, Span input, Run *run, const char **output, Fault *fault) {
    bool values = c->out.buffers == NULL;
    if (!read_data(c->input != NULL ? c->input : c->function, input, c->input != NULL ? &c->in : &c->converted, values,
                   fault))
        return false;
    if (c->input != NULL && !apply(c->input, &c->in, &c->converted, fault)) return false;
    if (!run_often(c->function, &c->converted, &c->out, run, fault)) return false;
    if (c->output == NULL) return write_data(c->function, &c->out, values, output, fault);
    return apply(c->output, &c->out, &c->last, fault) && write_data(c->output, &c->last, values, output, fault);
}

/* ---- answers ---- */

static void begin_answer(Span id) {
    printf("{\"id\":");
    if (id.text != NULL)
        fwrite(id.text, 1, id.length, stdout);
    else
        printf("null");
}

static void answer_fault(Span id, const Fault *fault) {
    begin_answer(id);
    printf(",\"success\":false,\"error\":");
    cli_print_json_string(stdout, fault->text, strlen(fault->text));
    printf("}\n");
}

static void answer_define(Tool *tool, Span id, Span module) {
    char name[NAME];
    Fault fault;
    int64_t begin = nanoseconds();
    bool done = cli_name(module, name, sizeof name) ? build(tool, name, &fault)
                                                    : fail(&fault, "`module` is not the name of a module");
    if (!done) {
        answer_fault(id, &fault);
        return;
    }
    begin_answer(id);
    printf(",\"success\":true,\"timings\":[{\"name\":\"build\",\"nanoseconds\":%lld}]}\n",
           (long long)(nanoseconds() - begin));
}

static bool evaluate(Tool *tool, const Span *members, Chain *chain, Run *run, const char **output, Fault *fault) {
    char module_name[NAME], function[NAME];
    if (!cli_name(members[0], module_name, sizeof module_name))
        return fail(fault, "`module` is not the name of a module");
    if (!cli_name(members[1], function, sizeof function))
        return fail(fault, "`function` is not the name of a function");
    if (members[2].text == NULL) return fail(fault, "`input` is missing");
    Module *module = module_of(tool, module_name);
    if (module == NULL && !build(tool, module_name, fault)) return false;
    if (module == NULL) module = module_of(tool, module_name);
    return read_runs(members[2], run, fault) && chain_find(module, function, chain, fault) &&
           chain_run(chain, members[2], run, output, fault);
}

/* members: module, function and input. */
static void answer_evaluate(Tool *tool, Span id, const Span *members) {
    Fault fault;
    Chain chain = {0};
    Run run = {0};
    const char *output;
    if (evaluate(tool, members, &chain, &run, &output, &fault)) {
        begin_answer(id);
        printf(",\"success\":true,\"output\":%s,\"timings\":[", output);
        for (size_t i = 0; i < run.count; i++)
            printf("%s{\"name\":\"evaluate\",\"nanoseconds\":%lld}", i > 0 ? "," : "", (long long)run.times[i]);
        printf("]}\n");
    } else {
        answer_fault(id, &fault);
    }
    chain_free(&chain);
    free(run.times);
}

static void answer(Tool *tool, Span line) {
    static const char *const names[] = {"id", "kind", "module", "function", "input"};
    Span members[5];
    Fault fault;
    bool object = cli_members(line, names, members, 5);
    Span id = members[0], kind = members[1];
    if (!object) {
        fail(&fault, "the line is not a JSON object");
        answer_fault(id, &fault);
    } else if (cli_is_string(kind, "start")) {
        begin_answer(id);
        printf(",\"tool\":\"cotan\"}\n");
    } else if (cli_is_string(kind, "define")) {
        answer_define(tool, id, members[2]);
    } else if (cli_is_string(kind, "evaluate")) {
        answer_evaluate(tool, id, members + 2);
    } else if (cli_is_string(kind, "analysis")) {
        begin_answer(id);
        printf("}\n");
    } else {
        fail(&fault, "`kind` is none of start, define, evaluate and analysis");
        answer_fault(id, &fault);
    }
}

/* ---- the programs ---- */

/* Where programs are: --programs; else beside the command, installed or in the tree that it was built in. */
static bool find_programs(const Options *options, char folder[PATH_MAX]) {
    if (options->programs != NULL) {
        snprintf(folder, PATH_MAX, "%s", options->programs);
        return cli_is_folder(folder);
    }
    static const char *const places[] = {"../share/cotan/gradbench", "../bench/gradbench"};
    char command[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", command, sizeof command - 1);
    if (length <= 0) return false;
    command[length] = '\0';
    char *slash = strrchr(command, '/');
    if (slash == NULL) return false;
    slash[1] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int written = snprintf(folder, PATH_MAX, "%s%s", command, places[i]);
        if (written > 0 && written < PATH_MAX && cli_is_folder(folder)) return true;
    }
    return false;
}

int cli_verb_gradbench(const Options *options) {
    Tool tool = {.options = options};
    if (!find_programs(options, tool.folder))
        return options->programs != NULL ? cli_complain(options, "%s is not a folder", options->programs)
                                         : cli_complain(options, "the programs are not found: give --programs FOLDER");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while (!ferror(stdout) && (length = getline(&line, &capacity, stdin)) >= 0) {
        answer(&tool, (Span){line, (size_t)length});
        fflush(stdout);
    }
    free(line);
    while (tool.modules != NULL) forget(&tool, tool.modules->name);
    return EXIT_DONE;
}
