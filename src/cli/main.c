/* The command `cotan`: finds the verb, parses its options, runs it, and checks that standard output was written. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbs.h"

enum {
    MANY_WORDS = 1 << 20,
    RUNS = TAKES_FILE | TAKES_METHOD | TAKES_RUN | TAKES_ENGINE | TAKES_LIMITS | TAKES_JSON,
    DERIVES = RUNS | TAKES_AT,
};

const Verb cli_verbs[] = {
    {"run", "run FILE [FUNCTION] [--args JSON] [-- WORD…]", "evaluate FUNCTION (default main) and print its value", 1,
     2, RUNS | TAKES_ARGS | TAKES_TRAP, cli_verb_run},
    {"grad", "grad FILE FUNCTION --at JSON", "value and gradient of a function that returns a Double", 2, 2,
     DERIVES | TAKES_WRT | TAKES_TRAP, cli_verb_grad},
    {"vjp", "vjp FILE FUNCTION --at JSON --cotangent JSON", "value and vector-Jacobian product", 2, 2,
     DERIVES | TAKES_COTANGENT | TAKES_TRAP, cli_verb_vjp},
    {"jvp", "jvp FILE FUNCTION --at JSON --tangent JSON", "value and Jacobian-vector product", 2, 2,
     DERIVES | TAKES_TANGENT | TAKES_TRAP, cli_verb_jvp},
    {"jacobian", "jacobian FILE FUNCTION --at JSON", "value and Jacobian, a row for each number in the result", 2, 2,
     DERIVES | TAKES_TRAP, cli_verb_jacobian},
    {"check", "check FILE [FUNCTION --at JSON]", "check types; of a function, also check the derivatives numerically",
     1, 2, TAKES_FILE | TAKES_AT | TAKES_REGION | TAKES_METHOD | TAKES_ENGINE | TAKES_LIMITS | TAKES_JSON,
     cli_verb_check},
    {"compare", "compare FILE FUNCTION --at JSON", "compare the methods on one derivative: results, steps, memory", 2,
     2, TAKES_FILE | TAKES_AT | TAKES_COTANGENT | TAKES_METHODS | TAKES_LIMITS | TAKES_JSON, cli_verb_compare},
    {"compile", "compile FILE FUNCTION [--grad] -o STEM",
     "write a function and its derivatives as C: STEM.c and STEM.h", 2, 2,
     TAKES_FILE | TAKES_AT | TAKES_METHOD | TAKES_STEM | TAKES_JSON | TAKES_MEMORY, cli_verb_compile},
    {"fit", "fit FILE LOSS --start JSON [--data @FILE]",
     "find the parameters, the first argument of LOSS, that make it least", 2, 2,
     TAKES_FILE | TAKES_FIT | TAKES_LIMITS | TAKES_JSON, cli_verb_fit},
    {"type", "type FILE [NAME]", "print the types of a program's definitions", 1, 2, TAKES_FILE | TAKES_JSON,
     cli_verb_type},
    {"core", "core FILE [NAME]", "print a program in Core, the first intermediate language", 1, 2,
     TAKES_FILE | TAKES_JSON, cli_verb_core},
    {"stub", "stub FILE", "print the types of a program for Python's type checkers, a .pyi file", 1, 1, TAKES_FILE,
     cli_verb_stub},
    {"fmt", "fmt FILE…", "format programs in place: indentation and spaces", 1, MANY_WORDS, TAKES_CHECK, cli_verb_fmt},
    {"repl", "repl [FILE]", "read and evaluate definitions and expressions, line by line", 0, 1,
     TAKES_FILE | TAKES_METHOD | TAKES_LIMITS, cli_verb_repl},
    {"cache", "cache [clear]", "show the place and the size of the cache of native code; clear empties it", 0, 1,
     TAKES_JSON, cli_verb_cache},
    {"gradbench", "gradbench [--programs FOLDER]",
     "answer the messages of GradBench, one a line, on standard input and output", 0, 0,
     TAKES_PROGRAMS | TAKES_LIMITS | TAKES_MATH, cli_verb_gradbench},
    {"methods", "methods", "list the methods of differentiation", 0, 0, TAKES_JSON, cli_verb_methods},
    {"explain", "explain FILE FUNCTION | CODE", "show each stage of a method on a function; or explain an error code",
     1, 2,
     TAKES_FILE | TAKES_AT | TAKES_TANGENT | TAKES_COTANGENT | TAKES_METHOD | TAKES_LIMITS | TAKES_HTML | TAKES_JSON,
     cli_verb_explain},
    {"help", "help [VERB]", "print this help, or the help of a verb", 0, 1, 0, cli_verb_help},
    {"version", "version", "print the version", 0, 0, 0, cli_verb_version},
};
const size_t cli_verb_count = sizeof cli_verbs / sizeof *cli_verbs;

static int dispatch(int argc, char **argv) {
    bool colour = isatty(STDERR_FILENO) && getenv("NO_COLOR") == NULL;
    if (argc < 2) {
        cli_print_help();
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0) name = "version";
    const Verb *verb = cli_find_verb(name, colour);
    Options options;
    if (verb == NULL || !cli_read_options(argc - 2, argv + 2, verb, &options)) return EXIT_USAGE;
    if (options.help) {
        cli_print_verb_help(verb);
        return EXIT_DONE;
    }
    return verb->run(&options);
}

/* Whether standard output is a pipe that nobody reads any more, as in `cotan run FILE | head`. */
static bool is_broken_pipe(void) {
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    int status = dispatch(argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && !is_broken_pipe()) {
        Options plain = {.json = false};
        int failed = cli_refuse(&plain, "E0704", "the output could not be written: %s", strerror(errno));
        if (status == EXIT_DONE) status = failed;
    }
    return status;
}
