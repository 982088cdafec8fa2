/* What verbs share: messages, inputs, loading, and calls with their output. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* ---- messages ---- */

void print_json_string(FILE *out, const char *text, size_t length) {
    fputc('"', out);
    for (const char *c = text; c < text + length; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            fputc(*c, out);
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
        print_json_string(stderr, message, strlen(message));
        fputs("}\n", stderr);
    } else {
        const char *strong = options->colour ? "\033[1;31m" : "", *plain = options->colour ? "\033[0m" : "";
        fprintf(stderr, "%serror[%s]%s: %s\n", strong, code, plain, message);
    }
    return EXIT_USAGE;
}

int complain(const Options *options, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int status = say(options, "E0701", format, list);
    va_end(list);
    return status;
}

int refuse(const Options *options, const char *code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int status = say(options, code, format, list);
    va_end(list);
    return status;
}

int report(const Options *options, const cotan_error *error) {
    fputs(cotan_error_text(error, options->colour, options->json), stderr);
    return cotan_error_status(error);
}

/* ---- inputs ---- */

char *read_file(const Options *options, const char *path, size_t *length) {
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    if (file == NULL) {
        refuse(options, "E0703", "%s cannot be read: %s", path, strerror(errno));
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
    if (!sound) refuse(options, "E0703", "%s cannot be read: %s", path, strerror(errno));
    if (!standard) fclose(file);
    if (!sound) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    *length = size;
    return text;
}

char *read_input(const Options *options, const char *value, bool *failed) {
    if (value == NULL) return NULL;
    char *text;
    size_t length;
    if (strcmp(value, "-") == 0) {
        text = read_file(options, "-", &length);
    } else if (value[0] == '@') {
        text = read_file(options, value + 1, &length);
    } else {
        text = strdup(value);
        length = strlen(value);
    }
    if (text != NULL && strlen(text) != length) {
        refuse(options, "E0602", "%s is no JSON: it holds a NUL byte", value);
        free(text);
        text = NULL;
    }
    if (text == NULL) *failed = true;
    return text;
}

bool reads_twice(const Options *options, const char *first, const char *second) {
    const char *names[] = {options->words[0], first, second};
    int count = 0;
    for (int i = 0; i < 3; i++) count += names[i] != NULL && strcmp(names[i], "-") == 0;
    if (count < 2) return false;
    complain(options, "standard input can be read once: only one of the program and its inputs can be `-`");
    return true;
}

/* Ctrl-C ends a run with an error (E0804); a second one ends the command. */
static cotan_context *volatile interruptible;

static void on_interrupt(int number) {
    signal(number, SIG_DFL);
    cotan_interrupt(interruptible);
}

/* Modules are looked for beside the program, then where --path and COTAN_PATH say. */
static cotan_error *add_folders(const Options *options, cotan_context *context) {
    char folder[4096] = "";
    const char *file = options->words[0], *slash = strrchr(file, '/');
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

int load(const Options *options, cotan_context **context, cotan_program **program) {
    size_t length;
    char *text = read_file(options, options->words[0], &length);
    if (text == NULL) return EXIT_USAGE;
    *context = cotan_open(&options->limits);
    int status = EXIT_DONE;
    if (*context == NULL) {
        status = refuse(options, "E0801", "there is not enough memory to begin");
    } else {
        interruptible = *context;
        signal(SIGINT, on_interrupt);
        const char *name = strcmp(options->words[0], "-") == 0 ? "<stdin>" : options->words[0];
        cotan_error *error = add_folders(options, *context);
        if (error == NULL) error = cotan_load(*context, name, text, length, program);
        if (error != NULL) status = report(options, error);
    }
    free(text);
    if (status != EXIT_DONE) close_context(*context);
    return status;
}

void close_context(cotan_context *context) {
    signal(SIGINT, SIG_DFL);
    cotan_close(context);
}

/* ---- calls ---- */

static void print_counts_json(const cotan_result *r) {
    printf(",\"steps\":%llu,\"primal_steps\":%llu", (unsigned long long)r->steps, (unsigned long long)r->primal_steps);
    if (r->has_trace) printf(",\"trace\":%llu", (unsigned long long)r->trace);
    printf(",\"peak_memory\":%llu", (unsigned long long)r->peak_memory);
}

static void print_counts(const cotan_result *r) {
    printf("steps = %llu\nprimal steps = %llu\n", (unsigned long long)r->steps, (unsigned long long)r->primal_steps);
    if (r->has_trace) printf("trace = %llu\n", (unsigned long long)r->trace);
    printf("peak memory = %llu bytes\n", (unsigned long long)r->peak_memory);
}

static int print_result(const Options *options, const cotan_result *r, const char *name) {
    if (options->json) {
        if (r->value == NULL || (name != NULL && r->derivative == NULL))
            return refuse(options, "E0603", "the result holds functions, which have no JSON form");
        printf("{\"value\":%s", r->value);
        if (name != NULL) printf(",\"%s\":%s", name, r->derivative);
        if (options->count) print_counts_json(r);
        printf("}\n");
        return EXIT_DONE;
    }
    if (name == NULL)
        printf("%s\n", r->value_text);
    else
        printf("value = %s\n%s = %s\n", r->value_text, name, r->derivative_text);
    if (options->count) print_counts(r);
    return EXIT_DONE;
}

int run_call(const Options *options, cotan_mode mode, const char *function, const char *name) {
    cotan_context *context;
    cotan_program *program;
    bool failed = false;
    const char *first = mode == COTAN_RUN ? options->args : options->at;
    const char *second = mode == COTAN_VJP ? options->cotangent : options->tangent;
    if (reads_twice(options, first, second)) return EXIT_USAGE;
    char *at = read_input(options, first, &failed);
    char *with = failed ? NULL : read_input(options, second, &failed);
    int status = failed ? EXIT_USAGE : load(options, &context, &program);
    if (status == EXIT_DONE) {
        cotan_call call = {.mode = mode,
                           .function = function,
                           .at = at,
                           .with = with,
                           .method = options->method,
                           .count = options->count,
                           .no_json = !options->json,
                           .no_text = options->json};
        cotan_error *error;
        if (options->dump != NULL) {
            const char *text;
            error = cotan_dump(program, &call, options->dump, &text);
            if (error == NULL) fputs(text, stdout);
        } else {
            cotan_result result;
            error = cotan_call_json(program, &call, &result);
            if (error == NULL) status = print_result(options, &result, name);
        }
        if (error != NULL) status = report(options, error);
        close_context(context);
    }
    free(at);
    free(with);
    return status;
}
