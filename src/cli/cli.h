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
    const char **words; /* the positional arguments after the verb: file, function, … */
    int word_count;
    /* of `cotan fit` */
    const char *start, *data, *descent, *lower, *upper, *constraints, *equalities, *tolerance, *rate, *time, *log;
    const char *checkpoint, *plot, *plot_model;
    uint64_t steps, batch, seed, restarts, points;
    bool errors;
    const char **own; /* the words behind `--`: the program's own arguments (getArgs) */
    int own_count;
    const char *args, *at, *tangent, *cotangent, *method, *methods, *dump, *out, *html, *stem, *keep_c, *programs, *wrt,
        *to, *prefix;
    const char *folders[16]; /* --path, in the order given */
    int folder_count;
    bool native, at_once, engine_asked, exact_math, json, count, time_passes, count_rules, help, no_warnings,
        only_check, sensitivity, trap_nan;
    bool profile;             /* a profile is asked for: as a table, or */
    const char *profile_file; /* as a flame graph in this file */
    bool grad, vjp, jvp;      /* derivatives that `cotan compile` emits besides the function */
    bool colour, colour_out;  /* whether standard error, and standard output, are coloured */
    cotan_limits limits;
} Options;

/* Option groups that a verb takes, as bits. */
enum {
    TAKES_ARGS = 1,
    TAKES_AT = 2,
    TAKES_TANGENT = 4,
    TAKES_COTANGENT = 8,
    TAKES_METHOD = 16,
    TAKES_RUN = 32, /* --count --profile --dump --time-passes --count-rules --out --keep-c */
    TAKES_JSON = 64,
    TAKES_CHECK = 512, /* --check */
    TAKES_HTML = 1024, /* --html --sensitivity */
    TAKES_FILE = 128,  /* a program: --path, --no-warnings */
    TAKES_LIMITS = 256,
    TAKES_MEMORY = 1048576, /* --max-memory, which TAKES_LIMITS includes */
    TAKES_METHODS = 2048,
    TAKES_STEM = 4096,      /* -o --prefix --grad --vjp --jvp */
    TAKES_FIT = 8192,       /* --start --data and all others of `cotan fit` */
    TAKES_PROGRAMS = 16384, /* --programs */
    TAKES_TRAP = 131072,    /* --trap-nan */
    TAKES_WRT = 65536,      /* --wrt */
    TAKES_REGION = 262144,  /* --to --points --seed */
    TAKES_MATH = 32768,     /* --math, which TAKES_ENGINE, TAKES_STEM and TAKES_FIT include */
    TAKES_ENGINE = 524288,  /* --engine, which TAKES_FIT includes, --math */
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

enum { MOST_THREADS = 256 /* the largest number of threads that cotan_limits accepts */ };
enum { CLI_REAL = 40 /* size of a buffer for the text of a real number */ };

/* Parses the arguments after the verb into *options. Returns false after reporting an error. */
bool cli_read_options(int argc, char **argv, const Verb *verb, Options *options);
/* Parses a positive integer; with `size`, a suffix K, M or G multiplies it. Returns false for any other text. */
bool cli_read_number(const char *text, bool size, uint64_t *out);
/* Parses a number of threads from 1 to MOST_THREADS; `auto` means the number of processors, at most MOST_THREADS. */
bool cli_read_threads(const char *text, unsigned *out);
/* Prints the verb's usage and options. */
void cli_print_verb_help(const Verb *verb);
void cli_print_help(void);
/* Returns the verb of this name, or NULL after reporting that there is none. */
const Verb *cli_find_verb(const char *name, bool colour);

/* ---- shared.c ---- */

/* Reports an error in the command line (E0701); returns EXIT_USAGE. */
int cli_complain(const Options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports an error with the given error code; returns EXIT_USAGE. */
int cli_refuse(const Options *options, const char *code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Writes a finite number into `text` by a printf format, others as NaN, Infinity or -Infinity. Returns `text`. */
const char *cli_real(char text[CLI_REAL], const char *format, double value);
bool cli_ends_with(const char *text, const char *end);
/* Prints `length` bytes of `text` as a JSON string, with its quotes. */
void cli_print_json_string(FILE *out, const char *text, size_t length);
/* Returns true, and reports an error, if two or more of the program file and the two inputs are "-". */
bool cli_reads_twice(const Options *options, const char *first, const char *second);
/* Prints an error of the API on standard error; returns the exit status that the error asks for. */
int cli_report(const Options *options, const cotan_error *error);
/* Notes why the evaluator runs what native code was required for; not_native may be NULL. */
void cli_tell_engine(const Options *options, const char *not_native);

/* Prints the explanation of an error code. Returns false for an unknown code. */
bool cli_print_explanation(const char *code);

/* Reads a whole file; "-" is standard input. Returns NULL after reporting an error. The caller frees the text. */
char *cli_read_file(const Options *options, const char *path, size_t *length);
/* Returns the input that an option names: `value` itself, where `@F` outside of strings stands for what the file F
 * holds, JSON or a .npy file's array as JSON; the contents of F, in any form, for `@F` alone; or standard input for
 * `-`. Returns NULL for a NULL value, and, after reporting an error and setting *failed, for an unreadable input. The
 * caller frees the text. */
char *cli_read_input(const Options *options, const char *value, size_t *length, bool *failed);

/* Reads the bytes call.at as one value of a type, an array of the one argument where they are JSON; the result is that
 * value, as the call asks for it. */
cotan_error *cli_read_as(cotan_program *program, const char *type, cotan_call call, cotan_result *result);
/* The same as the first type that fits, of numbers, truth values, texts, and arrays and lists of them. NULL: none
 * does. */
const char *cli_guess_type(cotan_program *program, cotan_call call, cotan_result *result);

/* ---- random.c ---- */

/* A random number from 0 up to 1, and the generator's next state. */
double cli_random(uint64_t *state);

/* ---- files.c ---- */

/* Writes the text to a temporary file beside `path`, or beside the file to which that leads through symbolic links.
 * Returns the name of the temporary file, which the caller frees, or NULL after reporting an error. */
char *cli_write_beside(const Options *options, const char *path, const char *text);
/* Renames the temporary file `name` to `path`, or to the file to which that leads. The new file has the permissions of
 * the file that it replaces, else the default permissions. Returns false, with errno set, when renaming fails. */
bool cli_put_in_place(const char *name, const char *path);
/* Writes the text to a temporary file and renames that to `path`. Reports errors; returns the exit status. */
int cli_write_file(const Options *options, const char *path, const char *text);
int cli_write_bytes(const Options *options, const char *path, const void *bytes, size_t length);
bool cli_is_folder(const char *path);

/* Sets the folders in which a context looks for modules: the folder of `file`, then those of --path and COTAN_PATH. */
cotan_error *cli_add_folders(const Options *options, const char *file, cotan_context *context);
/* Opens a context, which Ctrl-C interrupts, and loads the program words[0] into it. After EXIT_DONE the caller closes
 * the context by cli_close_context. Any other status is the exit status of the command: the error has been reported,
 * and no context is left open. */
int cli_load(const Options *options, cotan_context **context, cotan_program **program);

void cli_close_context(cotan_context *context);

/* ---- src/cli/profile.c ---- */

/* Prints a profile on standard error, or writes it to options->profile_file. Returns the exit status. */
int cli_show_profile(const Options *options, const cotan_profile_node *nodes, size_t count);

/* ---- progress.c: a line on the terminal while a call takes long ---- */

/* From two seconds on, shows the time, the steps and the memory of the calls in the context, on a line of standard
 * error that is removed at the end. Nothing where that is no terminal, or with --json. */
void cli_progress_begin(const Options *options, const cotan_context *context);
void cli_progress_end(void);
/* While a call runs: others may write between the two. */
void cli_progress_hide(void);
void cli_progress_show(void);
/* Between the two: the line does not come back in this call. */
void cli_progress_stop(void);

/* ---- src/cli/world.c: input and output of actions ---- */

typedef struct CliWorld {
    const Options *options;
    const cotan_context *context;
    char *text; /* of the last answer */
    size_t length, capacity;
    FILE *written; /* collects what is written, in `output`; NULL: it goes to standard output */
    char *output;
    size_t output_length;
    bool has_ended; /* the program has ended itself, with `status` */
    int status;
    bool draws; /* how far the program is, on the last line of a terminal; `drawn` is there now, −1: nothing */
    int drawn;
} CliWorld;

/* Performs the requests of actions that run in the context, and prints the messages of Debug.Trace on standard error,
 * until the context is closed; then cli_world_close is called. */
void cli_world_open(CliWorld *w, const Options *options, cotan_context *context);
/* Takes away the line that says how far the program is. */
void cli_world_undraw(CliWorld *w);
void cli_world_close(CliWorld *w);

/* Calls `function` in the given mode with the options of the command line and prints the value and the derivative: with
 * --json as one object, in which the derivative has the key `name`. A NULL name means that there is no derivative.
 * Returns the exit status. */
int cli_run_call(const Options *options, cotan_mode mode, const char *function, const char *name);

#endif
