/* What verbs share: messages, inputs, loading, and calls with their output. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* ---- messages ---- */

const char *cli_real(char text[CLI_REAL], const char *format, double value) {
    if (isfinite(value))
        snprintf(text, CLI_REAL, format, value);
    else
        strcpy(text, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    return text;
}

/* The length of the character of UTF-8 that begins here; 0 where none does. */
static size_t character(const unsigned char *c, size_t left) {
    size_t length = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
    if (length > left) return 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xC0) != 0x80) return 0;
    bool out_of_order = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F) ||
                        (c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] > 0x8F);
    return length > 1 && out_of_order ? 0 : length;
}

void cli_print_json_string(FILE *out, const char *text, size_t length) {
    fputc('"', out);
    for (size_t i = 0, n; i < length; i += n == 0 ? 1 : n) {
        unsigned char c = (unsigned char)text[i];
        n = character((const unsigned char *)text + i, length - i);
        if (n == 0)
            fputs("\\ufffd", out); /* a message may end within a character */
        else if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", (unsigned)c);
        else
            fwrite(text + i, 1, n, out);
    }
    fputc('"', out);
}

static int say(const Options *options, const char *code, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));
static int say(const Options *options, const char *code, const char *format, va_list list) {
    char message[2000];
    vsnprintf(message, sizeof message, format, list);
    if (options->json) {
        fprintf(stderr, "{\"code\":\"%s\",\"file\":null,\"line\":null,\"column\":null,\"message\":", code);
        cli_print_json_string(stderr, message, strlen(message));
        fputs("}\n", stderr);
    } else {
        const char *strong = options->colour ? "\033[1;31m" : "", *plain = options->colour ? "\033[0m" : "";
        fprintf(stderr, "%serror[%s]%s: %s\n", strong, code, plain, message);
    }
    return EXIT_USAGE;
}

int cli_complain(const Options *options, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int status = say(options, "E0701", format, list);
    va_end(list);
    return status;
}

int cli_refuse(const Options *options, const char *code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int status = say(options, code, format, list);
    va_end(list);
    return status;
}

int cli_report(const Options *options, const cotan_error *error) {
    fputs(cotan_error_text(error, options->colour, options->json), stderr);
    return cotan_error_status(error);
}

/* ---- inputs ---- */

char *cli_read_file(const Options *options, const char *path, size_t *length) {
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    if (file == NULL) {
        cli_refuse(options, "E0703", "%s cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    char *text = NULL;
    size_t size = 0, capacity = 0;
    bool sound = true;
    for (;;) {
        if (capacity - size < 65536) {
            capacity = capacity * 2 + 131072;
            char *larger = realloc(text, capacity + 1);
            if (larger == NULL) {
                errno = ENOMEM;
                sound = false;
                break;
            }
            text = larger;
        }
        size_t got = fread(text + size, 1, capacity - size, file);
        size += got;
        if (got == 0) break;
    }
    if (ferror(file)) sound = false;
    if (!sound) cli_refuse(options, "E0703", "%s cannot be read: %s", path, strerror(errno));
    if (!standard) fclose(file);
    if (!sound) {
        free(text);
        return NULL;
    }
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) memmove(text, text + 3, size -= 3); /* a byte order mark */
    text[size] = '\0';
    *length = size;
    return text;
}

bool cli_reads_twice(const Options *options, const char *first, const char *second) {
    const char *names[] = {options->words[0], first, second};
    int count = 0;
    for (int i = 0; i < 3; i++) count += names[i] != NULL && strcmp(names[i], "-") == 0;
    if (count < 2) return false;
    cli_complain(options, "standard input can be read once: only one of the program and its inputs can be `-`");
    return true;
}

/* Ctrl-C ends a run with an error (E0804); a second one ends the command. */
static cotan_context *volatile interruptible;

static void on_interrupt(int number) {
    signal(number, SIG_DFL);
    cotan_interrupt(interruptible);
}

cotan_error *cli_add_folders(const Options *options, const char *file, cotan_context *context) {
    char folder[4096] = "";
    const char *slash = strrchr(file, '/');
    if (slash != NULL && (size_t)(slash - file) < sizeof folder - 1)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - file + 1), file);
    cotan_error *error = cotan_add_folder(context, folder);
    for (int i = 0; i < options->folder_count && error == NULL; i++)
        error = cotan_add_folder(context, options->folders[i]);
    const char *path = getenv("COTAN_PATH");
    while (path != NULL && *path != '\0' && error == NULL) {
        size_t length = strcspn(path, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)length, path);
        if (length > 0) error = cotan_add_folder(context, folder);
        path += length + (path[length] == ':');
    }
    return error;
}

int cli_load(const Options *options, cotan_context **context, cotan_program **program) {
    size_t length;
    char *text = cli_read_file(options, options->words[0], &length);
    if (text == NULL) return EXIT_USAGE;
    *context = cotan_open(&options->limits);
    int status = EXIT_DONE;
    if (*context == NULL) {
        status = cli_refuse(options, "E0801", "there is not enough memory to begin");
    } else {
        interruptible = *context;
        const char *checks = getenv("COTAN_CHECK_PASSES");
        if (checks != NULL) cotan_check_passes(*context, atoi(checks) > 1 ? atoi(checks) : 1);
        cotan_exact_math(*context, options->exact_math);
        signal(SIGINT, on_interrupt);
        const char *name = strcmp(options->words[0], "-") == 0 ? "<stdin>" : options->words[0];
        cotan_error *error = cli_add_folders(options, options->words[0], *context);
        if (error == NULL) error = cotan_load(*context, name, text, length, program);
        if (error != NULL)
            status = cli_report(options, error);
        else if (!options->no_warnings)
            fputs(cotan_error_text(cotan_warnings(*program), options->colour, options->json), stderr);
    }
    free(text);
    if (status != EXIT_DONE) cli_close_context(*context);
    return status;
}

void cli_close_context(cotan_context *context) {
    signal(SIGINT, SIG_DFL);
    cotan_close(context);
}

/* ---- calls ---- */

static void print_counts_json(const cotan_result *r, FILE *out) {
    fprintf(out, ",\"steps\":%llu,\"primal_steps\":%llu", (unsigned long long)r->steps,
            (unsigned long long)r->primal_steps);
    if (r->has_trace) fprintf(out, ",\"trace\":%llu", (unsigned long long)r->trace);
    fprintf(out, ",\"peak_memory\":%llu", (unsigned long long)r->peak_memory);
    fprintf(out, ",\"work\":%llu,\"span\":%llu,\"primal_span\":%llu", (unsigned long long)r->steps,
            (unsigned long long)r->span, (unsigned long long)r->primal_span);
}

static void print_counts(const cotan_result *r) {
    printf("steps = %llu\nprimal steps = %llu\n", (unsigned long long)r->steps, (unsigned long long)r->primal_steps);
    if (r->has_trace) printf("trace = %llu\n", (unsigned long long)r->trace);
    printf("peak memory = %llu bytes\n", (unsigned long long)r->peak_memory);
    printf("span = %llu\nprimal span = %llu\n", (unsigned long long)r->span, (unsigned long long)r->primal_span);
}

static void print_output_json(const CliWorld *world, FILE *out) {
    fflush(world->written);
    fputs(",\"output\":", out);
    cli_print_json_string(out, world->output, world->output_length);
}

/* Of a program that has ended itself. The system keeps eight bits of a status: a failure must not become a success. */
static int end(const CliWorld *world) {
    int status = world->status != 0 && (world->status & 255) == 0 ? 255 : world->status;
    if (world->written == NULL) return status;
    printf("{\"value\":null");
    print_output_json(world, stdout);
    printf(",\"status\":%d}\n", world->status);
    return status;
}

/* Of a call that fails: what it has written is there, as it is without --json. */
static int fail(const Options *options, const CliWorld *world, const cotan_error *error) {
    if (world->written != NULL) fflush(world->written);
    if (world->written != NULL && world->output_length > 0) {
        printf("{\"value\":null");
        print_output_json(world, stdout);
        puts("}");
    }
    return cli_report(options, error);
}

static int print_json(const Options *options, const CliWorld *world, const cotan_result *r, const char *name,
                      FILE *out) {
    if (r->value == NULL || (name != NULL && r->derivative == NULL))
        return cli_refuse(options, "E0603", "the result holds functions, which have no JSON form");
    fprintf(out, "{\"value\":%s", r->value);
    if (name != NULL) fprintf(out, ",\"%s\":%s", name, r->derivative);
    if (r->performed && world->written != NULL) print_output_json(world, out);
    if (options->count) print_counts_json(r, out);
    fputs("}\n", out);
    return EXIT_DONE;
}

static int print_result(const Options *options, const CliWorld *world, const cotan_result *r, const char *name) {
    if (options->json) return print_json(options, world, r, name, stdout);
    if (r->performed) { /* what an action gives is not printed, as in Haskell */
    } else if (name == NULL) {
        fwrite(r->value_text, 1, r->value_text_length, stdout); /* may contain NUL */
        putchar('\n');
    } else {
        printf("value = %s\n%s = %s\n", r->value_text, name, r->derivative_text);
    }
    if (options->count) print_counts(r);
    return EXIT_DONE;
}

/* ---- results in files ---- */

bool cli_ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Selects the file format by the suffix of --out. Returns false after reporting an unknown suffix. */
static bool form_of(const Options *options, cotan_form *form) {
    *form = COTAN_NO_FILE;
    if (options->out == NULL || cli_ends_with(options->out, ".json")) return true;
    *form = cli_ends_with(options->out, ".npy") ? COTAN_NPY : COTAN_NPZ;
    if (*form == COTAN_NPY || cli_ends_with(options->out, ".npz")) return true;
    cli_complain(options, "--out takes a file whose name ends in .json, .npz or .npy, not `%s`", options->out);
    return false;
}

static int write_result(const Options *options, const CliWorld *world, const cotan_result *r, const char *name) {
    if (r->file != NULL) return cli_write_bytes(options, options->out, r->file, r->file_length);
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    int status = file != NULL ? print_json(options, world, r, name, file) : EXIT_DONE;
    if (file == NULL || fclose(file) != 0) status = cli_refuse(options, "E0801", "there is no memory");
    if (status == EXIT_DONE) status = cli_write_bytes(options, options->out, text, length);
    free(text);
    return status;
}

/* A note on standard error. */
static void tell(const Options *options, const char *what, const char *why) {
    if (!options->json) {
        fprintf(stderr, "note: %s: %s\n", what, why);
        return;
    }
    fputs("{\"code\":\"E0000\",\"file\":null,\"line\":null,\"column\":null,\"message\":", stderr);
    char message[300];
    snprintf(message, sizeof message, "%s: %s", what, why);
    cli_print_json_string(stderr, message, strlen(message));
    fputs("}\n", stderr);
}

static bool asks_native(const Options *options) {
    return options->at_once || (options->method != NULL && strcmp(options->method, "native") == 0);
}

void cli_tell_engine(const Options *options, const char *not_native) {
    if (asks_native(options) && not_native != NULL) tell(options, "the evaluator runs this", not_native);
}

/* Notes how the call was run: why the evaluator ran it, or the method `tape` differentiated it instead of `native`, if
 * native code was required; and whether loops were run with checkpoints. */
static void tell_how(const Options *options, const cotan_result *r) {
    cli_tell_engine(options, r->not_native);
    if (asks_native(options) && r->not_native == NULL && r->by_tape != NULL)
        tell(options, "by the method `tape`", r->by_tape);
    if (r->checkpoints)
        tell(options, "loops ran with checkpoints", "the run did not fit into the memory limit without");
}

static int finish(const Options *options, CliWorld *world, cotan_program *program, cotan_call *call, const char *name) {
    cotan_result result;
    call->no_json = call->form != COTAN_NO_FILE || (options->out == NULL && !options->json);
    call->no_text = options->json || options->out != NULL;
    const cotan_profile_node *nodes;
    size_t count;
    cli_progress_begin(options, world->context);
    cotan_error *error = options->profile ? cotan_profile(program, call, &result, &nodes, &count)
                                          : cotan_call_json(program, call, &result);
    cli_progress_end();
    cli_world_undraw(world);
    fflush(stdout);
    tell_how(options, &result);
    if (world->has_ended) return end(world);
    if (error != NULL) return fail(options, world, error);
    int status = options->out == NULL ? print_result(options, world, &result, name)
                                      : write_result(options, world, &result, name);
    if (status == EXIT_DONE && options->out != NULL && options->count && !options->json) print_counts(&result);
    if (status == EXIT_DONE && options->profile) status = cli_show_profile(options, nodes, count);
    return status;
}

static int dump(const Options *options, cotan_program *program, const cotan_call *call) {
    const char *text;
    cotan_error *error = cotan_dump(program, call, options->dump, &text);
    if (error != NULL) return cli_report(options, error);
    fputs(text, stdout);
    return EXIT_DONE;
}

static int time_passes(const Options *options, cotan_program *program, const cotan_call *call) {
    const char *text;
    cotan_error *error = cotan_times(program, call, &text);
    if (error != NULL) return cli_report(options, error);
    fputs(text, stdout);
    return EXIT_DONE;
}

/* The number of evaluator steps before tier-up to native code: they take about as long as compiling the C. */
enum { NATIVE_AFTER = 100000000 };

/* Writes the C emitted for the call to the file, or into the folder, that --keep-c names. */
static int keep_c(const Options *options, cotan_program *program, const cotan_call *call) {
    const char *text, *file = strchr(call->function, '/') == NULL ? call->function : "program"; /* an operator */
    cotan_error *error = cotan_dump(program, call, "c", &text);
    if (error != NULL) return cli_report(options, error);
    if (!cli_is_folder(options->keep_c)) return cli_write_file(options, options->keep_c, text);
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s.c", options->keep_c, file) >= sizeof path)
        return cli_refuse(options, "E0704", "the name of the file is too long");
    return cli_write_file(options, path, text);
}

int cli_run_call(const Options *options, cotan_mode mode, const char *function, const char *name) {
    cotan_context *context;
    cotan_program *program;
    CliWorld world;
    cotan_call call = {.mode = mode,
                       .function = function,
                       .method = options->method,
                       .wrt = options->wrt,
                       .trap = options->trap_nan,
                       .native = options->native,
                       .count = options->count};
    if (!options->at_once || options->profile) call.native_after = NATIVE_AFTER;
    if (options->count_rules) setenv("COTAN_COUNT_RULES", "/dev/stderr", 1); /* written when the process ends */
    bool failed = false;
    const char *first = mode == COTAN_RUN ? options->args : options->at;
    const char *second = mode == COTAN_VJP ? options->cotangent : options->tangent;
    if (options->profile && (options->count || (options->engine_asked && options->at_once)))
        return cli_complain(options, "--profile is of the evaluator, and counts steps itself: leave out %s",
                            options->count ? "--count" : "--engine native");
    if (cli_reads_twice(options, first, second) || !form_of(options, &call.form)) return EXIT_USAGE;
    char *at = cli_read_input(options, first, &call.at_length, &failed);
    char *with = failed ? NULL : cli_read_input(options, second, &call.with_length, &failed);
    call.at = at;
    call.with = with;
    int status = failed ? EXIT_USAGE : cli_load(options, &context, &program);
    if (status == EXIT_DONE) {
        cli_world_open(&world, options, context);
        if (options->keep_c != NULL) status = keep_c(options, program, &call);
        if (status == EXIT_DONE)
            status = options->dump != NULL  ? dump(options, program, &call)
                     : options->time_passes ? time_passes(options, program, &call)
                                            : finish(options, &world, program, &call, name);
        cli_close_context(context);
        cli_world_close(&world);
    }
    free(at);
    free(with);
    return status;
}
