/* Shared by the files of the REPL: its state, and reading of lines. */
#ifndef CT_CLI_REPL_H
#define CT_CLI_REPL_H

#include "cli/cli.h"

typedef struct Line Line;

typedef struct Repl {
    Options options; /* how errors are shown, folders of modules, limits */
    char *file;      /* the file of the loaded program; NULL: none */
    cotan_context *context;
    CliWorld world;
    cotan_program *program;
    const char *method; /* the method of differentiation; NULL: Cotan chooses the best */
    bool terminal;      /* lines are typed, with prompts and editing */
    bool time, types;   /* settings: print the cost of each call, and the types of definitions */
    bool whole;         /* setting: long values are not cut */
    bool failed, done;  /* an error was reported; :quit was entered */
    double seconds;     /* running time of the last call */
    char **definitions; /* the texts of the definitions typed so far, which :reload defines again */
    size_t definition_count;
    Line *line;
} Repl;

/* ---- repl.c ---- */

/* Replaces the program by that of `file` (NULL: the empty program), and forgets the definitions typed so far. Returns
 * EXIT_DONE, or another exit status after reporting an error. A file that cannot be read or has errors leaves the empty
 * program. */
int cli_repl_load(Repl *repl, const char *file);
/* Loads the file again, then defines the typed definitions again. Returns false when the file cannot be loaded. */
bool cli_repl_reload(Repl *repl);
/* Runs a call, which Ctrl-C interrupts, and measures its time. Returns false after reporting an error. */
bool cli_repl_call(Repl *repl, const cotan_call *call, cotan_result *result);
/* Applies a function likewise; `at` is NULL for a constant, and `value`, which is the function's, may be. */
bool cli_repl_apply(Repl *repl, cotan_function *function, const cotan_value *at, const cotan_value **value);
/* Prints time, steps and memory of the last call if the setting `time` is on. */
void cli_repl_print_cost(const Repl *repl, const cotan_result *result);
/* Evaluates an expression, binds the value to `it` and prints it. */
void cli_repl_evaluate(Repl *repl, const char *text);
/* Adds a definition to the program, as what is typed. False after reporting an error. */
bool cli_repl_define(Repl *repl, const char *text);
/* Reports an error and sets repl->failed. */
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
/* The name of the setting of :set with this index; NULL behind the last setting. */
const char *cli_repl_setting_at(size_t index);

/* Reports what is wrong with a command. */
void cli_repl_complain(Repl *repl, const char *message);

/* ---- repl_bench.c, repl_data.c, repl_plot.c: commands ---- */

void cli_repl_bench(Repl *repl, char *text);
void cli_repl_data(Repl *repl, char *text);
void cli_repl_plot(Repl *repl, char *text);

/* ---- repl_cut.c ---- */

/* Prints the text of a value and a newline; of long lists, arrays and strings the beginning, and how much is left. */
void cli_repl_put_value(const Repl *repl, const char *text, size_t length);

/* ---- repl_scan.c ---- */

typedef enum Scan {
    SCAN_WHOLE,
    SCAN_MORE, /* the last token, such as `=` or an operator, expects another one; an empty line ends the input too */
    SCAN_BRACKET, /* a bracket or a comment is not closed */
    SCAN_BLOCK,   /* the last token opens a layout block, which continues until an empty line */
} Scan;
/* Decides from the tokens of an input whether it is complete. */
Scan cli_repl_scan(const char *text);
/* Whether a text consists of blanks and complete comments only. */
bool cli_repl_is_blank(const char *text);
/* If a text is a single type signature without a definition (f :: …), the length of its name; otherwise 0. */
size_t cli_repl_signature(const char *text);
/* Reads the next operand (a name, a literal or a bracketed expression) and moves *text behind it. Returns false at the
 * end of the text. */
bool cli_repl_operand(const char **text, const char **start, size_t *length);

/* ---- repl_line.c, repl_complete.c ---- */

typedef enum LineEnd { LINE_READ, LINE_INTERRUPTED, LINE_END } LineEnd;

/* Opens a reader of lines, from the terminal or from standard input. Returns NULL when memory runs out. */
Line *cli_line_open(Repl *repl);
void cli_line_close(Line *line);
/* Reads one line, without its newline; the text is valid until the next call. `more` selects the prompt for the later
 * lines of an input. */
LineEnd cli_line_read(Line *line, bool more, const char **text);
/* Returns the candidates that complete the end of `text`; each of them replaces the text from *start on. Returns NULL
 * when there is no candidate. The caller frees the array and its strings. */
char **cli_repl_complete(Repl *repl, const char *text, size_t *start, size_t *count);

#endif
