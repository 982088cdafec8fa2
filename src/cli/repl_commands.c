/* The commands of the REPL: lines that begin with a colon. A command may be abbreviated; an
 * ambiguous abbreviation means the first command in the table that it begins. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/repl.h"

void cli_repl_complain(Repl *repl, const char *message) {
    fflush(stdout);
    cli_refuse(&repl->options, "E0710", "%s", message);
    repl->failed = true;
}

/* ---- expressions ---- */

static void type(Repl *repl, char *text) {
    const char *out;
    cotan_error *error = cotan_type_of(repl->program, text, &out);
    if (error != NULL)
        cli_repl_error(repl, error);
    else
        printf("%s :: %s\n", text, out);
}

static void print(Repl *repl, char *text) {
    cotan_call call = {.mode = COTAN_RUN, .expression = text, .method = repl->method, .no_json = true};
    cotan_result result;
    if (!cli_repl_call(repl, &call, &result)) return;
    size_t length = result.value_text_length;
    fwrite(result.value_text, 1, length, stdout);
    if (length == 0 || result.value_text[length - 1] != '\n') putchar('\n');
    cli_repl_print_cost(repl, &result);
}

/* Splits `F ARGUMENT…` into the function, which is returned, and the point. Several arguments become a tuple. Returns
 * NULL when there is no argument. The caller frees both. */
static char *split(const char *text, char **point) {
    const char *start, *argument, *rest = text;
    size_t length, argument_length;
    if (!cli_repl_operand(&rest, &start, &length)) return NULL;
    char *function = strndup(start, length);
    char *out = *point = malloc(2 * strlen(text) + 3);
    size_t count = 0;
    if (function == NULL || out == NULL) goto failed;
    *out++ = '(';
    for (; cli_repl_operand(&rest, &argument, &argument_length); count++) {
        if (count > 0) *out++ = ',';
        if (count > 0) *out++ = ' ';
        memcpy(out, argument, argument_length);
        out += argument_length;
    }
    *out++ = ')';
    *out = '\0';
    if (count == 1) { /* a single argument gets no parentheses */
        out[-1] = '\0';
        memmove(*point, *point + 1, strlen(*point + 1) + 1);
    }
    if (count > 0) return function;
failed:
    free(function);
    free(*point);
    return NULL;
}

static void derive(Repl *repl, char *text, cotan_mode mode, const char *name) {
    char *point, *function = split(text, &point);
    if (function == NULL) {
        cli_repl_complain(repl, "a derivative is of a function at a point, such as :grad f 3 or :grad f (1, 2)");
        return;
    }
    cotan_call call = {.mode = mode, .expression = function, .point = point, .method = repl->method, .no_json = true};
    cotan_result result;
    if (cli_repl_call(repl, &call, &result)) {
        fputs("value = ", stdout);
        cli_repl_put_value(repl, result.value_text, result.value_text_length);
        printf("%s = ", name);
        cli_repl_put_value(repl, result.derivative_text, result.derivative_text_length);
        cli_repl_print_cost(repl, &result);
    }
    free(function);
    free(point);
}

static void grad(Repl *repl, char *text) { derive(repl, text, COTAN_GRAD, "gradient"); }
static void jacobian(Repl *repl, char *text) { derive(repl, text, COTAN_JACOBIAN, "jacobian"); }

/* ---- the program ---- */

static void load_file(Repl *repl, char *file) {
    if (cli_repl_load(repl, *file != '\0' ? file : NULL) == EXIT_DONE && repl->terminal && repl->file != NULL)
        printf("%s is loaded\n", repl->file);
}

static void reload(Repl *repl, char *nothing) {
    (void)nothing;
    bool loaded = cli_repl_reload(repl);
    if (loaded && repl->terminal && repl->file != NULL) printf("%s is loaded\n", repl->file);
}

static void core(Repl *repl, char *name) {
    const char *out;
    cotan_error *error = cotan_core(repl->program, name, &out);
    if (error != NULL)
        cli_repl_error(repl, error);
    else
        fputs(out, stdout);
}

static void describe(Repl *repl, const char *name, bool all) {
    const char *out;
    cotan_error *error = cotan_describe(repl->program, name, all, &out);
    if (error != NULL)
        cli_repl_error(repl, error);
    else
        fputs(out, stdout);
}

static void doc(Repl *repl, char *name) { describe(repl, name, false); }
static void info(Repl *repl, char *name) { describe(repl, name, true); }

/* Lists the definitions of the program with their types; or, given a prefix, all names in scope that begin with it. */
static void names(Repl *repl, char *prefix) {
    const char *out;
    cotan_error *error =
        *prefix != '\0' ? cotan_names(repl->program, prefix, &out) : cotan_types(repl->program, NULL, &out);
    if (error != NULL)
        cli_repl_error(repl, error);
    else
        fputs(out, stdout);
}

/* ---- settings ---- */

bool cli_repl_is_method(const char *name) {
    for (size_t i = 0; cotan_method_at(i) != NULL; i++)
        if (strcmp(cotan_method_at(i)->name, name) == 0) return true;
    return false;
}

static void method(Repl *repl, char *name) {
    for (size_t i = 0; cotan_method_at(i) != NULL && *name != '\0'; i++) {
        if (strcmp(cotan_method_at(i)->name, name) != 0) continue;
        repl->method = cotan_method_at(i)->name;
        return;
    }
    if (strcmp(name, "best") == 0)
        repl->method = NULL;
    else if (*name == '\0')
        printf("method %s\n", repl->method != NULL ? repl->method : "best");
    else
        cli_repl_complain(repl, "there is no such method; `cotan methods` lists them, and `best` lets Cotan choose");
}

static void set_flag(Repl *repl, bool *flag, const char *value) {
    if (strcmp(value, "on") == 0)
        *flag = true;
    else if (strcmp(value, "off") == 0)
        *flag = false;
    else
        cli_repl_complain(repl, "this setting is `on` or `off`");
}

static void time_(Repl *repl, char *value) {
    if (*value != '\0') {
        set_flag(repl, &repl->time, value);
        return;
    }
    repl->time = !repl->time;
    printf("time %s\n", repl->time ? "on" : "off");
}

/* Of the setting, or of one expression. */
static void time_of(Repl *repl, char *text) {
    bool before = repl->time, is_setting = *text == '\0' || strcmp(text, "on") == 0 || strcmp(text, "off") == 0;
    if (is_setting) {
        time_(repl, text);
        return;
    }
    repl->time = true;
    cli_repl_evaluate(repl, text);
    repl->time = before;
}

typedef enum Setting {
    SET_MEMORY,
    SET_STEPS,
    SET_DEPTH,
    SET_THREADS,
    SET_METHOD,
    SET_TIME,
    SET_TYPES,
    SET_CUT,
    SETTING_COUNT
} Setting;
static const char *const settings[SETTING_COUNT + 1] = {"max-memory", "max-steps", "max-depth", "threads", "method",
                                                        "time",       "types",     "cut",       NULL};
const char *cli_repl_setting_at(size_t index) { return settings[index]; }

static void print_limit(const char *name, uint64_t limit) {
    if (limit == 0)
        printf("%s default\n", name);
    else
        printf("%s %llu\n", name, (unsigned long long)limit);
}

static void print_settings(Repl *repl) {
    print_limit("max-memory", repl->options.limits.memory);
    print_limit("max-steps", repl->options.limits.steps);
    print_limit("max-depth", repl->options.limits.depth);
    print_limit("threads", repl->options.limits.threads);
    printf("method %s\ntime %s\ntypes %s\ncut %s\n", repl->method != NULL ? repl->method : "best",
           repl->time ? "on" : "off", repl->types ? "on" : "off", repl->whole ? "off" : "on");
}

static void set_limit(Repl *repl, Setting setting, const char *value) {
    uint64_t limit = 0;
    if (strcmp(value, "default") != 0 && !cli_read_number(value, setting == SET_MEMORY, &limit)) {
        cli_repl_complain(repl, "a limit is a positive number (a size may end in K, M or G), or `default`");
        return;
    }
    cotan_limits *limits = &repl->options.limits;
    if (setting == SET_MEMORY) limits->memory = (size_t)limit;
    if (setting == SET_STEPS) limits->steps = limit;
    if (setting == SET_DEPTH) limits->depth = limit;
    cotan_set_limits(repl->context, limits);
}

static void set_threads(Repl *repl, const char *value) {
    unsigned threads = 0;
    if (strcmp(value, "default") != 0 && !cli_read_threads(value, &threads)) {
        cli_repl_complain(repl, "threads are a number from 1 to 256, `auto` or `default`");
        return;
    }
    repl->options.limits.threads = threads;
    cotan_set_limits(repl->context, &repl->options.limits);
}

static void set_cut(Repl *repl, const char *value) {
    bool cut = !repl->whole;
    set_flag(repl, &cut, value);
    repl->whole = !cut;
}

static void set(Repl *repl, char *text) {
    if (*text == '\0') {
        print_settings(repl);
        return;
    }
    size_t length = strcspn(text, " \t");
    char *value = text + length + strspn(text + length, " \t");
    if (*value != '\0') text[length] = '\0';
    int i = 0;
    while (settings[i] != NULL && strcmp(settings[i], text) != 0) i++;
    switch ((Setting)i) {
    case SET_MEMORY:
    case SET_STEPS:
    case SET_DEPTH: set_limit(repl, (Setting)i, value); return;
    case SET_THREADS: set_threads(repl, value); return;
    case SET_METHOD: method(repl, value); return;
    case SET_TIME: set_flag(repl, &repl->time, value); return;
    case SET_TYPES: set_flag(repl, &repl->types, value); return;
    case SET_CUT: set_cut(repl, value); return;
    case SETTING_COUNT: cli_repl_complain(repl, "there is no such setting; :set alone lists them"); return;
    }
}

/* ---- the rest ---- */

/* The JSON text of the value of an expression, to be freed; NULL after reporting an error. */
static char *json_of(Repl *repl, const char *expression) {
    cotan_call call = {.mode = COTAN_RUN, .expression = expression, .method = repl->method, .no_text = true};
    cotan_result result;
    return cli_repl_call(repl, &call, &result) ? strdup(result.value) : NULL;
}

/* The stages of the method on a function of the program, and its run at a point, an expression; NULL: no run. */
static void explain_function(Repl *repl, const char *function, const char *point) {
    const char *out;
    char *at = point != NULL ? json_of(repl, point) : NULL;
    if (point != NULL && at == NULL) return;
    cotan_call call = {
        .mode = COTAN_GRAD, .function = function, .at = at, .method = repl->method != NULL ? repl->method : "chad"};
    cotan_error *error =
        cotan_stages(repl->program, &call, repl->options.colour_out ? COTAN_COLOURED : COTAN_PLAIN, &out);
    if (error != NULL)
        cli_repl_error(repl, error);
    else
        fputs(out, stdout);
    free(at);
}

/* E0301; F; F POINT */
static void explain(Repl *repl, char *text) {
    if (text[0] == 'E' && strspn(text + 1, "0123456789") == strlen(text + 1)) {
        if (!cli_print_explanation(text)) cli_repl_complain(repl, "there is no such error code; codes look like E0301");
        return;
    }
    char *point, *function = split(text, &point);
    explain_function(repl, function != NULL ? function : text, function != NULL ? point : NULL);
    if (function == NULL) return;
    free(function);
    free(point);
}

static void quit(Repl *repl, char *nothing) {
    (void)nothing;
    repl->done = true;
}

static void help(Repl *repl, char *nothing);

const ReplCommand cli_repl_commands[] = {
    {"type", "EXPR", "print the type of an expression", type},
    {"load", "[FILE]", "read a program, which replaces the present one", load_file},
    {"reload", NULL, "read it again, then the definitions that were typed here", reload},
    {"grad", "F POINT", "value and gradient of a function at a point", grad},
    {"jacobian", "F POINT", "value and Jacobian", jacobian},
    {"print", "EXPR", "print a value; of a String, its characters", print},
    {"core", "NAME", "print a function in Core", core},
    {"names", "[PREFIX]", "list the definitions of the program, or all names in scope with a prefix", names},
    {"browse", "[PREFIX]", "the same as :names", names},
    {"method", "[NAME]", "show or choose the method of differentiation", method},
    {"time", "[EXPR|on|off]", "evaluate, and print seconds, steps and memory; or do so after each value", time_of},
    {"set", "[NAME VALUE]", "show or change settings", set},
    {"bench", "EXPR", "how long it takes, on the evaluator and as native code", cli_repl_bench},
    {"data", "NAME = @FILE", "the contents of a .npy, .npz or JSON file under a name", cli_repl_data},
    {"plot", "EXPR", "draw a list or an array of numbers, or of pairs; :plot FILE.svg EXPR writes SVG", cli_repl_plot},
    {"doc", "NAME", "type and comment of a definition, or of a name of the library", doc},
    {"info", "NAME", "the same, and where it is defined", info},
    {"explain", "CODE|F [POINT]", "explain an error code, or how a function is differentiated", explain},
    {"help", NULL, "list the commands", help},
    {"quit", NULL, "leave, as Ctrl-D does", quit},
};
const size_t cli_repl_command_count = sizeof cli_repl_commands / sizeof *cli_repl_commands;

static void help(Repl *repl, char *nothing) {
    (void)repl, (void)nothing;
    printf("EXPR                  evaluate; the value gets the name `it`\n"
           "f x = …               define; also data, class, instance, import, …\n");
    for (size_t i = 0; i < cli_repl_command_count; i++) {
        const ReplCommand *command = &cli_repl_commands[i];
        char left[40];
        snprintf(left, sizeof left, ":%s %s", command->name, command->argument != NULL ? command->argument : "");
        printf("%-20s  %s\n", left, command->what);
    }
    printf(":{ … :}               several lines as one input\n"
           "\nCommands may be abbreviated: :t, :l, :r, :g, :q. An input continues on the next line while a bracket is\n"
           "open and after `=` and the like; after `where`, `of`, `do` and `let` it ends with an empty line.\n");
}

static const ReplCommand *find(const char *name, size_t length) {
    for (size_t i = 0; i < cli_repl_command_count && length > 0; i++)
        if (strncmp(cli_repl_commands[i].name, name, length) == 0) return &cli_repl_commands[i];
    return NULL;
}

static void run(Repl *repl, const ReplCommand *command, char *argument) {
    size_t length = strlen(argument);
    while (length > 0 && strchr(" \t\r\n", argument[length - 1]) != NULL) argument[--length] = '\0';
    char message[120];
    bool needs = command->argument != NULL && command->argument[0] != '[';
    if (needs && length == 0)
        snprintf(message, sizeof message, "something is missing: :%s %s", command->name, command->argument);
    else if (command->argument == NULL && length > 0)
        snprintf(message, sizeof message, ":%s takes nothing", command->name);
    else {
        command->run(repl, argument);
        return;
    }
    cli_repl_complain(repl, message);
}

void cli_repl_command(Repl *repl, const char *text) {
    size_t length = strcspn(text + 1, " \t\r\n");
    const ReplCommand *command = find(text[1] == '?' && length == 1 ? "help" : text + 1, length);
    if (command == NULL) {
        cli_repl_complain(repl, "there is no such command; :help lists them");
        return;
    }
    const char *argument = text + 1 + length;
    char *copy = strdup(argument + strspn(argument, " \t"));
    if (copy == NULL) return;
    run(repl, command, copy);
    free(copy);
}
