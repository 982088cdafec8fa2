/* cotan repl: reads definitions, expressions and commands, and answers them. It goes on after errors; Ctrl-C ends an
 * evaluation, never the session. Input that is not a terminal is read without prompts, and an error in it shows in the
 * exit status. */
#include "cli/repl.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/verbs.h"

static const char input_name[] = "<input>";

/* ---- interrupts ---- */

static cotan_context *volatile running;  /* the context whose evaluation Ctrl-C interrupts; NULL at the prompt */
static volatile sig_atomic_t interrupts; /* number of interrupts since the current input began to run */
static volatile sig_atomic_t prompting;  /* lines come from a terminal: an interrupt does not end the session */

/* The first interrupt stops the evaluator. The third one ends the process, because code that does not poll for
 * interrupts runs for too long. */
static void on_interrupt(int number) {
    if (++interrupts >= 3 || (running == NULL && !prompting)) {
        signal(number, SIG_DFL);
        raise(number);
    }
    cotan_context *context = running;
    if (context != NULL) cotan_interrupt(context);
}

static void watch_interrupts(void) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

/* ---- errors and results ---- */

void cli_repl_error(Repl *repl, const cotan_error *error) {
    fflush(stdout);
    repl->failed = true;
    if (repl->terminal && cotan_error_count(error) == 1 && strcmp(cotan_error_code(error, 0), "E0804") == 0)
        fputs("interrupted\n", stderr);
    else
        cli_report(&repl->options, error);
}

static void warn(Repl *repl) {
    const cotan_error *warnings = cotan_warnings(repl->program);
    fflush(stdout);
    if (warnings != NULL && !repl->options.no_warnings)
        fputs(cotan_error_text(warnings, repl->options.colour, false), stderr);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool cli_repl_call(Repl *repl, const cotan_call *call, cotan_result *result) {
    double start = seconds();
    running = repl->context;
    cotan_error *error = cotan_call_json(repl->program, call, result);
    running = NULL;
    repl->seconds = seconds() - start;
    cli_world_undraw(&repl->world);
    if (error != NULL) cli_repl_error(repl, error);
    return error == NULL;
}

bool cli_repl_apply(Repl *repl, cotan_function *function, const cotan_value *at, const cotan_value **value) {
    double start = seconds();
    running = repl->context;
    cotan_error *error = cotan_apply_values(function, at, NULL, value, NULL);
    running = NULL;
    repl->seconds = seconds() - start;
    cli_world_undraw(&repl->world);
    if (error != NULL) cli_repl_error(repl, error);
    return error == NULL;
}

void cli_repl_print_cost(const Repl *repl, const cotan_result *result) {
    if (!repl->time) return;
    double memory = (double)result->peak_memory;
    const char *unit = "bytes";
    if (memory >= 1e6) {
        memory /= 1e6;
        unit = "MB";
    } else if (memory >= 1e3) {
        memory /= 1e3;
        unit = "kB";
    }
    printf("%.3f s, %llu steps, %.*f %s\n", repl->seconds, (unsigned long long)result->steps,
           unit[0] == 'b' || memory >= 100 ? 0 : 1, memory, unit);
}

/* ---- loading ---- */

/* Replaces the context by a new one, and sets the folders in which it looks for modules. */
static bool begin(Repl *repl) {
    cotan_context *context = cotan_open(&repl->options.limits);
    if (context == NULL) {
        cli_refuse(&repl->options, "E0801", "there is not enough memory to begin");
        return false;
    }
    cotan_close(repl->context);
    cli_world_close(&repl->world);
    cli_world_open(&repl->world, &repl->options, context);
    repl->context = context;
    repl->program = NULL;
    cotan_error *error = cli_add_folders(&repl->options, repl->file != NULL ? repl->file : "", context);
    if (error != NULL) cli_repl_error(repl, error);
    return error == NULL;
}

static bool load_text(Repl *repl, const char *name, const char *text, size_t length) {
    cotan_error *error = cotan_load(repl->context, name, text, length, &repl->program);
    if (error != NULL)
        cli_repl_error(repl, error);
    else
        warn(repl);
    return error == NULL;
}

static void forget_definitions(Repl *repl) {
    for (size_t i = 0; i < repl->definition_count; i++) free(repl->definitions[i]);
    free(repl->definitions);
    repl->definitions = NULL;
    repl->definition_count = 0;
}

static void keep_definition(Repl *repl, const char *text) {
    char **larger = realloc(repl->definitions, (repl->definition_count + 1) * sizeof *larger);
    char *copy = strdup(text);
    if (larger != NULL) repl->definitions = larger;
    if (larger != NULL && copy != NULL)
        repl->definitions[repl->definition_count++] = copy;
    else
        free(copy); /* without memory, the definition stays in scope, but :reload does not repeat it */
}

/* Loads the program of repl->file. Loads the empty program if there is no file, or if the file cannot be read or has
 * errors. */
static int load_program(Repl *repl) {
    if (!begin(repl)) return EXIT_USAGE;
    int status = EXIT_DONE;
    if (repl->file != NULL) {
        size_t length;
        char *text = cli_read_file(&repl->options, repl->file, &length);
        if (text == NULL)
            status = EXIT_USAGE;
        else if (!load_text(repl, repl->file, text, length))
            status = EXIT_PROGRAM;
        free(text);
    }
    if (status == EXIT_DONE && repl->program != NULL) return status;
    repl->failed |= status != EXIT_DONE;
    return load_text(repl, input_name, "", 0) ? status : EXIT_USAGE;
}

int cli_repl_load(Repl *repl, const char *file) {
    char *copy = file != NULL ? strdup(file) : NULL;
    free(repl->file);
    repl->file = copy;
    forget_definitions(repl);
    return load_program(repl);
}

bool cli_repl_reload(Repl *repl) {
    if (load_program(repl) != EXIT_DONE) return false;
    char **old = repl->definitions;
    size_t count = repl->definition_count;
    repl->definitions = NULL;
    repl->definition_count = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_expression;
        const char *types;
        cotan_error *error = cotan_define(repl->program, old[i], &is_expression, &types);
        if (error == NULL) {
            keep_definition(repl, old[i]);
        } else {
            cli_repl_error(repl, error);
            fprintf(stderr, "the definition is dropped: it does not fit the program any more\n");
        }
        free(old[i]);
    }
    free(old);
    return true;
}

/* ---- what is typed ---- */

void cli_repl_evaluate(Repl *repl, const char *text) {
    cotan_call call = {
        .mode = COTAN_RUN, .expression = text, .method = repl->method, .bind = "it", .no_json = true, .quotes = true};
    cotan_result result;
    if (!cli_repl_call(repl, &call, &result)) return;
    if (!result.performed || strcmp(result.value_text, "()") != 0)
        cli_repl_put_value(repl, result.value_text, result.value_text_length);
    if (result.is_unbound) fputs("`it` is as before: the value of this action is not kept\n", stderr);
    cli_repl_print_cost(repl, &result);
}

bool cli_repl_define(Repl *repl, const char *text) {
    bool is_expression;
    const char *types;
    cotan_error *error = cotan_define(repl->program, text, &is_expression, &types);
    if (error != NULL)
        cli_repl_error(repl, error);
    else
        keep_definition(repl, text);
    return error == NULL;
}

/* Processes an input: records a definition, or evaluates an expression and prints its value. */
static void enter(Repl *repl, const char *text) {
    bool is_expression;
    const char *types;
    cotan_error *error = cotan_define(repl->program, text, &is_expression, &types);
    if (error != NULL) {
        cli_repl_error(repl, error);
    } else if (is_expression) {
        cli_repl_evaluate(repl, text);
    } else {
        keep_definition(repl, text);
        warn(repl);
        if (repl->types) fputs(types, stdout);
    }
}

static bool is_line(const char *line, const char *word) {
    line += strspn(line, " \t\r");
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && line[length + strspn(line + length, " \t\r")] == '\0';
}

/* Whether the text is this word, which the program does not define. */
static bool is_plain_word(Repl *repl, const char *text, const char *word) {
    const char *types;
    return is_line(text, word) && cotan_type_of(repl->program, word, &types) != NULL;
}

/* `exit`, `quit` and `help`, as other prompts understand them. */
static bool answer_word(Repl *repl, const char *text) {
    bool leaves = is_plain_word(repl, text, "exit") || is_plain_word(repl, text, "quit");
    if (!leaves && !is_plain_word(repl, text, "help")) return false;
    printf("(commands begin with a colon: %s)\n", leaves ? ":quit" : ":help");
    cli_repl_command(repl, leaves ? ":quit" : ":help");
    return true;
}

static void answer(Repl *repl, const char *text) {
    const char *start = text + strspn(text, " \t\r\n");
    interrupts = 0;
    if (*start == ':')
        cli_repl_command(repl, start);
    else if (!answer_word(repl, text) && !cli_repl_is_blank(text))
        enter(repl, text);
    if (fflush(stdout) != 0) repl->done = true; /* nobody reads on */
}

/* ---- inputs of several lines ---- */

typedef struct Input {
    char *text;
    size_t length, capacity;
    bool block;      /* the input has a layout block: an empty line ends it */
    bool braced;     /* the input began with `:{`: a line `:}` ends it */
    size_t awaiting; /* length of the name at the start of a signature whose definition must follow; 0: none */
} Input;

static bool add_line(Input *input, const char *line) {
    size_t length = strlen(line);
    if (input->length + length + 2 > input->capacity) {
        size_t capacity = 2 * (input->length + length + 2);
        char *larger = realloc(input->text, capacity);
        if (larger == NULL) return false;
        input->text = larger;
        input->capacity = capacity;
    }
    if (input->length > 0) input->text[input->length++] = '\n';
    memcpy(input->text + input->length, line, length + 1);
    input->length += length;
    return true;
}

/* If the text is a type signature whose definition must follow, the length of its name; otherwise 0. A signature of a
 * library name is a complete input: an annotated expression. */
static size_t awaited(Repl *repl, const char *text) {
    size_t length = cli_repl_signature(text);
    if (length == 0) return 0;
    char *name = strndup(text, length);
    const char *types;
    cotan_error *error = name != NULL ? cotan_types(repl->program, name, &types) : NULL;
    bool own = false, known = name != NULL && error == NULL;
    if (known && cotan_types(repl->program, NULL, &types) == NULL)
        for (const char *line = types; line != NULL && !own; line = strchr(line, '\n')) {
            line += *line == '\n';
            own = strncmp(line, name, length) == 0 && strncmp(line + length, " :: ", 4) == 0;
        }
    free(name);
    return known && !own ? 0 : length;
}

/* Whether the input continues on the next line. `line` is its last line. */
static bool wants_more(Repl *repl, Input *input, const char *line) {
    if (input->braced) return true;
    bool empty = cli_repl_is_blank(line);
    switch (cli_repl_scan(input->text)) {
    case SCAN_BRACKET: return true;
    case SCAN_BLOCK: input->block = true; return !empty;
    case SCAN_MORE: return !empty;
    case SCAN_WHOLE: break;
    }
    if (input->block) return !empty;
    input->awaiting = empty ? 0 : awaited(repl, input->text);
    return input->awaiting > 0;
}

/* Whether a line is the definition that the signature in `input` waits for. */
static bool continues(const Input *input, const char *line) {
    return input->awaiting == 0 || strncmp(line, input->text, input->awaiting) == 0;
}

static void finish(Repl *repl, Input *input) {
    if (input->length > 0) answer(repl, input->text);
    free(input->text);
    *input = (Input){0};
}

/* Adds a line to the input, and processes the input when it is complete. Returns false when memory runs out. */
static bool take(Repl *repl, Input *input, const char *line) {
    if (input->length > 0 && !continues(input, line)) {
        bool empty = cli_repl_is_blank(line);
        finish(repl, input);
        if (empty) return true;
    }
    if (input->braced && is_line(line, ":}")) {
        finish(repl, input);
        return true;
    }
    if (input->length == 0 && !input->braced) {
        input->braced = is_line(line, ":{");
        if (input->braced) return true;
        if (line[strspn(line, " \t")] == ':' || cli_repl_is_blank(line)) {
            answer(repl, line);
            return true;
        }
    }
    if (!add_line(input, line)) return false;
    input->awaiting = 0;
    if (!wants_more(repl, input, line)) finish(repl, input);
    return true;
}

/* ---- the session ---- */

static void drop(Input *input) {
    free(input->text);
    *input = (Input){0};
}

static void converse(Repl *repl) {
    Input input = {0};
    const char *text;
    for (;;) {
        LineEnd end = cli_line_read(repl->line, input.length > 0 || input.braced, &text);
        if (end == LINE_INTERRUPTED) {
            drop(&input);
            continue;
        }
        if (end == LINE_END || !take(repl, &input, text) || repl->done) break;
        if (!repl->terminal && interrupts > 0) break;
    }
    if (!repl->done) finish(repl, &input);
    drop(&input);
}

static int session(Repl *repl, int loaded) {
    if (repl->context == NULL || repl->program == NULL || (loaded != EXIT_DONE && !repl->terminal)) return loaded;
    repl->line = cli_line_open(repl);
    if (repl->line == NULL) return cli_refuse(&repl->options, "E0801", "there is not enough memory to begin");
    if (repl->terminal) printf("Cotan %s. :help lists the commands; Ctrl-D leaves.\n", cotan_version());
    converse(repl);
    cli_line_close(repl->line);
    return repl->failed && !repl->terminal ? EXIT_PROGRAM : EXIT_DONE;
}

int cli_verb_repl(const Options *options) {
    Repl repl = {.options = *options, .method = options->method, .terminal = isatty(STDIN_FILENO)};
    if (options->method != NULL && !cli_repl_is_method(options->method))
        return cli_refuse(options, "E0705", "there is no method `%s`; `cotan methods` lists them", options->method);
    if (options->word_count > 0 && strcmp(options->words[0], "-") == 0)
        return cli_complain(options,
                            "what is typed comes from standard input, so that the program cannot: name its file");
    prompting = repl.terminal;
    watch_interrupts();
    int status = session(&repl, cli_repl_load(&repl, options->word_count > 0 ? options->words[0] : NULL));
    forget_definitions(&repl);
    free(repl.file);
    cotan_close(repl.context);
    cli_world_close(&repl.world);
    signal(SIGINT, SIG_DFL);
    return status;
}
