/* The command: options, inputs and outputs that its verbs share. It uses the public API and nothing else. */
#ifndef CT_CLI_CLI_H
#define CT_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cotan.h"

/* Exit statuses (docs/command.md). */
enum { EXIT_DONE = 0, EXIT_PROGRAM = 1, EXIT_USAGE = 2, EXIT_DISAGREES = 3, EXIT_FAULT = 4 };

typedef struct Verb Verb;

typedef struct Options {
    const Verb *verb;
    const char **words; /* what stands without a dash: file, function, … */
    int word_count;
    const char *args, *at, *tangent, *cotangent, *method, *methods, *dump, *out, *html, *stem, *keep_c;
    const char *folders[16]; /* --path, in the order given */
    int folder_count;
    bool native, at_once, exact_math, json, count, time_passes, count_rules, help, no_warnings, only_check;
    bool grad, vjp, jvp;     /* of compile */
    bool colour, colour_out; /* on standard error, on standard output */
    cotan_limits limits;
} Options;

/* Option groups that a verb takes, as bits. */
enum {
    TAKES_ARGS = 1,
    TAKES_AT = 2,
    TAKES_TANGENT = 4,
    TAKES_COTANGENT = 8,
    TAKES_METHOD = 16,
    TAKES_RUN = 32, /* --count --engine --dump --time-passes --count-rules --out --keep-c */
    TAKES_JSON = 64,
    TAKES_CHECK = 512, /* --check */
    TAKES_HTML = 1024, /* --html */
    TAKES_FILE = 128,  /* a program: --path, --no-warnings */
    TAKES_LIMITS = 256,
    TAKES_METHODS = 2048,
    TAKES_STEM = 4096, /* -o --grad --vjp --jvp */
};

struct Verb {
    const char *name, *usage, *what;
    int least_words, most_words;
    int takes;
    int (*run)(const Options *options);
};

extern const Verb cli_verbs[];
extern const size_t cli_verb_count;

/* ---- options.c ---- */

enum { MOST_THREADS = 256 /* that limits take */ };
enum { CLI_REAL = 40 /* bytes of a real as text */ };

/* Reads the words after the verb; false after an error was reported. */
bool cli_read_options(int argc, char **argv, const Verb *verb, Options *options);
/* A positive number; a size may end in K, M or G. False when it is none. */
bool cli_read_number(const char *text, bool size, uint64_t *out);
/* From 1 to MOST_THREADS, or `auto`: as many as there are processors. */
bool cli_read_threads(const char *text, unsigned *out);
/* Prints the verb's usage and options. */
void cli_print_verb_help(const Verb *verb);
void cli_print_help(void);
/* The verb, or NULL after an error was reported. */
const Verb *cli_find_verb(const char *name, bool colour);

/* ---- shared.c ---- */

/* Reports an error in the command line; returns EXIT_USAGE. */
int cli_complain(const Options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports another error, with its error code. */
int cli_refuse(const Options *options, const char *code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A string of JSON, with its quotes, of `length` bytes. */
/* A real by printf's format for it; where it is not finite, as the language shows it. */
const char *cli_real(char text[CLI_REAL], const char *format, double value);
void cli_print_json_string(FILE *out, const char *text, size_t length);
/* Whether more than one of these is "-", which is then reported. */
bool cli_reads_twice(const Options *options, const char *first, const char *second);
/* Prints an error object; returns the exit status. */
int cli_report(const Options *options, const cotan_error *error);

/* Prints what an error code means; false when there is none such. */
bool cli_print_explanation(const char *code);

/* A whole file, "-" being standard input; NULL after saying why not. The caller frees it. */
char *cli_read_file(const Options *options, const char *path, size_t *length);
/* An option's input: itself, or the contents of `@file` or `-`. NULL when value is NULL or unreadable (*failed). The
 * caller frees it. */
char *cli_read_input(const Options *options, const char *value, size_t *length, bool *failed);

/* files.c: a temporary file beside the one that it will be; its name, which the caller frees, or NULL after saying why
 * not. */
char *cli_write_beside(const Options *options, const char *path, const char *text);
/* Renames the temporary file. An existing file keeps its permissions; a new one gets the default ones. */
bool cli_put_in_place(const char *name, const char *path);
/* Does both; returns the exit status. */
int cli_write_file(const Options *options, const char *path, const char *text);
bool cli_is_folder(const char *path);

/* Sets the folders in which a context looks for modules: the program's, then those of --path and COTAN_PATH. */
cotan_error *cli_add_folders(const Options *options, const char *file, cotan_context *context);
/* Opens a context, which Ctrl-C interrupts, and loads words[0]. EXIT_DONE, or the status to end with; the context is
 * closed then. Otherwise the caller closes it by close_context. */
int cli_load(const Options *options, cotan_context **context, cotan_program **program);

void cli_close_context(cotan_context *context);

/* Runs a call whose function is words[1] or `function`, and prints its results: with --json as one object, in which the
 * derivative is called `name`. */
int cli_run_call(const Options *options, cotan_mode mode, const char *function, const char *name);

#endif
