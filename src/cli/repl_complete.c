/* Completion in the REPL: commands, their arguments, files, modules, names in scope. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cli/repl.h"

typedef struct Candidates {
    char **items;
    size_t count;
} Candidates;

static void add(Candidates *c, const char *text, size_t length, const char *end) {
    char **larger = realloc(c->items, (c->count + 1) * sizeof *larger);
    if (larger != NULL) c->items = larger;
    char *item = larger != NULL ? malloc(length + strlen(end) + 1) : NULL;
    if (item == NULL) return;
    memcpy(item, text, length);
    strcpy(item + length, end);
    c->items[c->count++] = item;
}

static void add_if(Candidates *c, const char *prefix, const char *text) {
    if (strncmp(text, prefix, strlen(prefix)) == 0) add(c, text, strlen(text), "");
}

static void add_lines(Candidates *c, const char *lines) {
    while (*lines != '\0') {
        size_t length = strcspn(lines, "\n");
        add(c, lines, length, "");
        lines += length + (lines[length] == '\n');
    }
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* ---- kinds of candidates ---- */

static void commands(Candidates *c, const char *prefix) {
    char name[40];
    for (size_t i = 0; i < cli_repl_command_count; i++) {
        snprintf(name, sizeof name, ":%s", cli_repl_commands[i].name);
        add_if(c, prefix, name);
    }
}

static void methods(Candidates *c, const char *prefix) {
    for (size_t i = 0; cotan_method_at(i) != NULL; i++) add_if(c, prefix, cotan_method_at(i)->name);
    add_if(c, prefix, "best");
}

/* Adds the folders, and the files whose names end in .cot, that complete a path. */
static void files(Candidates *c, const char *prefix) {
    const char *slash = strrchr(prefix, '/');
    size_t length = slash != NULL ? (size_t)(slash + 1 - prefix) : 0;
    char *folder = length > 0 ? strndup(prefix, length) : strdup(".");
    DIR *dir = folder != NULL ? opendir(folder) : NULL;
    free(folder);
    if (dir == NULL) return;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const char *name = entry->d_name, *end = strrchr(name, '.');
        if (strncmp(name, prefix + length, strlen(prefix + length)) != 0) continue;
        if (name[0] == '.' && prefix[length] != '.') continue;
        size_t name_length = strlen(name);
        char *path = malloc(length + name_length + 1);
        if (path == NULL) continue;
        memcpy(path, prefix, length);
        memcpy(path + length, name, name_length + 1);
        if (cli_is_folder(path))
            add(c, path, length + name_length, "/");
        else if (end != NULL && strcmp(end, ".cot") == 0)
            add(c, path, length + name_length, "");
        free(path);
    }
    closedir(dir);
    if (c->count > 0) qsort(c->items, c->count, sizeof *c->items, by_text);
}

static void scope(Candidates *c, Repl *repl, const char *prefix, bool modules) {
    const char *lines;
    cotan_error *error =
        modules ? cotan_modules(repl->program, prefix, &lines) : cotan_names(repl->program, prefix, &lines);
    if (error == NULL) add_lines(c, lines);
}

/* ---- choice of the kind ---- */

/* The full name of the command, possibly abbreviated, that begins a line, and the length of the abbreviation. NULL if
 * the line begins with no command. */
static const char *command_of(const char *text, size_t *length) {
    if (*text != ':') return NULL;
    *length = strcspn(text + 1, " \t");
    for (size_t i = 0; i<cli_repl_command_count && * length> 0; i++)
        if (strncmp(cli_repl_commands[i].name, text + 1, *length) == 0) return cli_repl_commands[i].name;
    return NULL;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '\'' || c == '.' || (unsigned char)c >= 0x80;
}

static bool is_import(const char *text, size_t start) {
    static const char *const heads[] = {"import ", "import qualified "};
    for (int i = 0; i < 2; i++)
        if (strlen(heads[i]) == start && strncmp(text, heads[i], start) == 0) return true;
    return false;
}

char **cli_repl_complete(Repl *repl, const char *text, size_t *start, size_t *count) {
    Candidates c = {0};
    size_t length = strlen(text), blank = strspn(text, " \t"), name_length = 0;
    const char *command = command_of(text + blank, &name_length);
    size_t argument = blank + 1 + name_length;
    argument += argument < length ? strspn(text + argument, " \t") : 0;
    *start = length;
    while (*start > 0 && is_word(text[*start - 1])) --*start;
    if (text[blank] == ':' && strcspn(text + blank, " \t") == length - blank) {
        *start = blank;
        commands(&c, text + blank);
    } else if (command != NULL && strcmp(command, "load") == 0) {
        *start = argument;
        files(&c, text + argument);
    } else if (command != NULL && strcmp(command, "method") == 0) {
        methods(&c, text + *start);
    } else if (command != NULL && strcmp(command, "set") == 0 && *start == argument) {
        for (size_t i = 0; cli_repl_setting_at(i) != NULL; i++) add_if(&c, text + *start, cli_repl_setting_at(i));
    } else if (*start < length) {
        scope(&c, repl, text + *start, is_import(text, *start));
    }
    *count = c.count;
    return c.items;
}
