/* Lines for the REPL: edited by libedit on a terminal, with history and completion; read as they stand elsewhere. */
#include "cli/repl.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HISTORY_LENGTH = 2000, MOST_SHOWN = 200, PATH_LENGTH = 4096 };

struct Line {
    Repl *repl;
    EditLine *edit; /* the state of libedit; NULL: standard input is not a terminal */
    History *history;
    char history_file[PATH_LENGTH]; /* empty: the history is not saved */
    bool more, interrupted;
    char *text;
    size_t capacity;
};

/* ---- history ---- */

static bool make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return true;
}

/* The history is $XDG_STATE_HOME/cotan/history, or ~/.local/state/cotan/history when that variable is not set. */
static void find_history(Line *line) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = 0;
    if (state != NULL && state[0] == '/')
        length = snprintf(line->history_file, PATH_LENGTH, "%s/cotan/history", state);
    else if (home != NULL && home[0] == '/')
        length = snprintf(line->history_file, PATH_LENGTH, "%s/.local/state/cotan/history", home);
    if (length >= PATH_LENGTH - 40 || !make_folders(line->history_file)) line->history_file[0] = '\0';
}

/* Writes the history to a temporary file and renames it, so that the history file is never incomplete. Only its owner
 * may read it. */
static void save_history(Line *line) {
    HistEvent event;
    char beside[PATH_LENGTH];
    if (line->history_file[0] == '\0') return;
    snprintf(beside, sizeof beside, "%.*s.%ld", PATH_LENGTH - 40, line->history_file, (long)getpid());
    mode_t mask = umask(077);
    bool saved = history(line->history, &event, H_SAVE, beside) >= 0;
    umask(mask);
    if (!saved || rename(beside, line->history_file) != 0) remove(beside);
}

static void remember(Line *line, const char *text) {
    HistEvent event;
    if (text[strspn(text, " \t")] == '\0') return;
    history(line->history, &event, H_ENTER, text);
    save_history(line);
}

static void open_history(Line *line) {
    HistEvent event;
    line->history = history_init();
    if (line->history == NULL) return;
    history(line->history, &event, H_SETSIZE, HISTORY_LENGTH);
    history(line->history, &event, H_SETUNIQUE, 1);
    find_history(line);
    if (line->history_file[0] != '\0') history(line->history, &event, H_LOAD, line->history_file);
    el_set(line->edit, EL_HIST, history, line->history);
}

/* ---- keys ---- */

static Line *line_of(EditLine *edit) {
    void *data = NULL;
    el_get(edit, EL_CLIENTDATA, &data);
    return data;
}

static char *prompt(EditLine *edit) {
    static char first[] = "cotan> ", next[] = " … > ";
    return line_of(edit)->more ? next : first;
}

/* While a line is edited, Ctrl-C and Ctrl-Z are key bindings rather than signals, which avoids races with the signal
 * handlers. */
static unsigned char on_interrupt(EditLine *edit, int key) {
    (void)key;
    line_of(edit)->interrupted = true;
    return CC_EOF;
}

static unsigned char on_suspend(EditLine *edit, int key) {
    (void)key;
    el_set(edit, EL_PREP_TERM, 0);
    raise(SIGTSTP);
    el_set(edit, EL_PREP_TERM, 1);
    return CC_REDISPLAY;
}

static size_t common_prefix(char **list, size_t count) {
    size_t length = strlen(list[0]);
    for (size_t i = 1; i < count; i++) {
        size_t same = 0;
        while (same < length && list[i][same] == list[0][same]) same++;
        length = same;
    }
    while (length > 0 && ((unsigned char)list[0][length] & 0xC0) == 0x80) length--; /* do not cut a UTF-8 character */
    return length;
}

static void show_candidates(char **list, size_t count) {
    size_t width = 1, shown = count < MOST_SHOWN ? count : MOST_SHOWN;
    for (size_t i = 0; i < shown; i++)
        if (strlen(list[i]) > width) width = strlen(list[i]);
    size_t columns = 80 / (width + 2) > 0 ? 80 / (width + 2) : 1, rows = (shown + columns - 1) / columns;
    printf("\n");
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = row; i < shown; i += rows) {
            bool last = i + rows >= shown;
            printf("%-*s%s", last ? 0 : (int)width + 2, list[i], last ? "\n" : "");
        }
    }
    if (shown < count) printf("… and %zu more\n", count - shown);
    fflush(stdout);
}

static unsigned char complete(Line *line, char **list, size_t count, size_t typed) {
    size_t common = common_prefix(list, count);
    if (common > typed) {
        char *rest = strndup(list[0] + typed, common - typed);
        bool inserted = rest != NULL && el_insertstr(line->edit, rest) == 0;
        free(rest);
        return inserted ? CC_REFRESH : CC_ERROR;
    }
    if (count == 1) return CC_NORM;
    show_candidates(list, count);
    return CC_REDISPLAY;
}

static unsigned char on_tab(EditLine *edit, int key) {
    (void)key;
    Line *line = line_of(edit);
    const LineInfo *info = el_line(edit);
    size_t length = (size_t)(info->cursor - info->buffer), start, count;
    char *text = strndup(info->buffer, length);
    if (text == NULL) return CC_ERROR;
    if (text[strspn(text, " \t")] == '\0') { /* Tab indents */
        free(text);
        return el_insertstr(edit, "  ") == 0 ? CC_REFRESH : CC_ERROR;
    }
    char **list = cli_repl_complete(line->repl, text, &start, &count);
    free(text);
    if (list == NULL) return CC_ERROR;
    unsigned char done = complete(line, list, count, length - start);
    for (size_t i = 0; i < count; i++) free(list[i]);
    free(list);
    return done;
}

/* ---- opening and closing ---- */

static void set_keys(Line *line) {
    EditLine *edit = line->edit;
    /* el_wset instead of el_set, which copies the texts of EL_ADDFN and never frees the copies */
    el_wset(edit, EL_ADDFN, L"cotan-complete", L"complete a name", on_tab);
    el_wset(edit, EL_ADDFN, L"cotan-interrupt", L"drop the line", on_interrupt);
    el_wset(edit, EL_ADDFN, L"cotan-suspend", L"leave for the shell", on_suspend);
    el_set(edit, EL_BIND, "^Z", "cotan-suspend", NULL);
    el_set(edit, EL_BIND, "^I", "cotan-complete", NULL);
    el_set(edit, EL_BIND, "^C", "cotan-interrupt", NULL);
    el_set(edit, EL_BIND, "-a", "^C", "cotan-interrupt", NULL); /* vi's command mode */
    el_set(edit, EL_BIND, "^D", "em-delete-or-list", NULL);
    el_set(edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(edit, EL_SETTY, "-d", "-isig", NULL);
}

Line *cli_line_open(Repl *repl) {
    Line *line = calloc(1, sizeof *line);
    if (line == NULL || !repl->terminal) {
        if (line != NULL) line->repl = repl;
        return line;
    }
    line->repl = repl;
    if (setlocale(LC_CTYPE, "") == NULL || MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
    line->edit = el_init("cotan", stdin, stdout, stderr);
    if (line->edit == NULL) {
        free(line);
        return NULL;
    }
    el_set(line->edit, EL_CLIENTDATA, line);
    el_set(line->edit, EL_SIGNAL, 1);
    el_set(line->edit, EL_EDITOR, "emacs");
    el_set(line->edit, EL_PROMPT, prompt);
    open_history(line);
    el_source(line->edit, NULL); /* ~/.editrc */
    set_keys(line);
    return line;
}

void cli_line_close(Line *line) {
    if (line == NULL) return;
    if (line->history != NULL) history_end(line->history);
    if (line->edit != NULL) el_end(line->edit);
    free(line->text);
    free(line);
}

/* ---- reading ---- */

static LineEnd read_terminal(Line *line, const char **text) {
    int count;
    line->interrupted = false;
    el_set(line->edit, EL_PREP_TERM, 1); /* before the prompt appears, so that Ctrl-C is already a key */
    const char *typed = el_gets(line->edit, &count);
    if (line->interrupted) {
        printf("^C\n");
        return LINE_INTERRUPTED;
    }
    if (typed == NULL || count <= 0) {
        printf("\n");
        return LINE_END;
    }
    size_t length = strlen(typed);
    free(line->text);
    line->text = strndup(typed, length > 0 && typed[length - 1] == '\n' ? length - 1 : length);
    if (line->text == NULL) return LINE_END;
    if (line->history != NULL) remember(line, line->text);
    *text = line->text;
    return LINE_READ;
}

LineEnd cli_line_read(Line *line, bool more, const char **text) {
    line->more = more;
    if (line->edit != NULL) return read_terminal(line, text);
    ssize_t length = getline(&line->text, &line->capacity, stdin);
    if (length < 0) return LINE_END;
    if (length > 0 && line->text[length - 1] == '\n') line->text[--length] = '\0';
    for (ssize_t i = 0; i < length; i++) /* a NUL byte becomes invalid UTF-8, which is refused */
        if (line->text[i] == '\0') line->text[i] = '\xff';
    *text = line->text;
    return LINE_READ;
}
