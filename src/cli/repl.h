/* Shared by the files of the REPL: its state, and reading of lines. */
#ifndef CT_CLI_REPL_H
#define CT_CLI_REPL_H

#include "cli/cli.h"

typedef struct Line Line;

typedef struct Repl {
    Options options; /* how errors are shown, folders of modules, limits */
    char *file;      /* NULL: none */
    cotan_context *context;
    cotan_program *program;
    const char *method; /* NULL: the best */
    bool terminal;      /* lines are typed, with prompts and editing */
    bool time, types;   /* settings */
    bool failed, done;
    double seconds;     /* that the last call took */
    char **definitions; /* that were typed, for :reload */
    size_t definition_count;
    Line *line;
} Repl;

/* ---- repl.c ---- */

/* Reads a program (NULL: none) in place of the present one. EXIT_DONE, or a status and the reason said; the program is
 * empty then. */
int cli_repl_load(Repl *repl, const char *file);
/* The same file again, and behind it the definitions that were typed. False when the file is not sound. */
bool cli_repl_reload(Repl *repl);
/* Calls, with times and counts printed if they are wanted. False when there was an error, which has been said. */
bool cli_repl_call(Repl *repl, const cotan_call *call, cotan_result *result);
void cli_repl_print_cost(const Repl *repl, const cotan_result *result);
/* Reports an error. */
void cli_repl_error(Repl *repl, const cotan_error *error);

/* ---- repl_commands.c ---- */

typedef struct ReplCommand {
    const char *name, *argument, *what;
    void (*run)(Repl *repl, char *argument);
} ReplCommand;
extern const ReplCommand cli_repl_commands[];
extern const size_t cli_repl_command_count;

/* Runs a line that begins with a colon. */
void cli_repl_command(Repl *repl, const char *text);
bool cli_repl_is_method(const char *name);
/* The settings of :set. NULL past the last. */
const char *cli_repl_setting_at(size_t index);

/* ---- repl_scan.c ---- */

typedef enum Scan {
    SCAN_WHOLE,
    SCAN_MORE,    /* it ends where something must follow */
    SCAN_BRACKET, /* a bracket or comment is open */
    SCAN_BLOCK,   /* it ends with the opening of a block, which goes on until an empty line */
} Scan;
Scan cli_repl_scan(const char *text);
/* Whether nothing is there but blanks and comments. */
bool cli_repl_is_blank(const char *text);
/* The length of the name that a text is the signature of (f :: …), 0 when it is none, or more. */
size_t cli_repl_signature(const char *text);
/* The next operand, and *text behind it: a word, a number, or what brackets hold. False at the end. */
bool cli_repl_operand(const char **text, const char **start, size_t *length);

/* ---- repl_line.c, repl_complete.c ---- */

typedef enum LineEnd { LINE_READ, LINE_INTERRUPTED, LINE_END } LineEnd;

/* The terminal's or standard input's lines. NULL without memory. */
Line *cli_line_open(Repl *repl);
void cli_line_close(Line *line);
/* One line without its newline, which belongs to `line` until the next. `more`: it goes on with an input. */
LineEnd cli_line_read(Line *line, bool more, const char **text);
/* For completion: the candidates for the end of `text`, and in *start where what they replace begins. NULL when there
 * are none. The caller frees the array and its strings. */
char **cli_repl_complete(Repl *repl, const char *text, size_t *start, size_t *count);

#endif
