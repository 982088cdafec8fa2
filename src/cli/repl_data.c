/* :data: the contents of a file under a name. Without a type, an archive becomes a record of its members; of other
 * files the first type of a list that fits is taken. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/repl.h"

/* In this order: what is an Int can be read as a Double, too. */
static const char *const guesses[] = {"Int",
                                      "Double",
                                      "Bool",
                                      "String",
                                      "Array Int",
                                      "Array Double",
                                      "Array Bool",
                                      "Array (Array Int)",
                                      "Array (Array Double)",
                                      "Array (Array Bool)",
                                      "Array (Array (Array Int))",
                                      "Array (Array (Array Double))",
                                      "[String]",
                                      NULL};

/* Reads the bytes as a value of the type, whose text is then in `result`. */
static cotan_error *read_as(Repl *repl, const char *type, const char *bytes, size_t length, cotan_result *result) {
    char *text = malloc(strlen(type) + 32);
    if (text == NULL) return NULL;
    sprintf(text, "\\v -> (v :: %s)", type);
    cotan_call call = {
        .mode = COTAN_RUN, .expression = text, .at = bytes, .at_length = length, .no_json = true, .quotes = true};
    cotan_error *error = cotan_call_json(repl->program, &call, result);
    free(text);
    return error;
}

/* JSON is the array of the arguments: of the one that there is. */
static char *as_argument(char *bytes, size_t *length) {
    bool binary = *length >= 6 && (memcmp(bytes, "PK", 2) == 0 || memcmp(bytes, "\x93NUMPY", 6) == 0);
    if (binary) return bytes;
    char *text = malloc(*length + 3);
    if (text != NULL) {
        text[0] = '[';
        memcpy(text + 1, bytes, *length);
        memcpy(text + 1 + *length, "]", 2);
        *length += 2;
    }
    free(bytes);
    return text;
}

/* The value as a definition. What is no number is written as the quotient that gives it. */
static char *definition(const char *name, const char *type, const cotan_result *result) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) return NULL;
    fprintf(out, "%s :: %s\n%s = ", name, type, name);
    bool in_string = false;
    for (const char *c = result->value_text; *c != '\0'; c++) {
        if (*c == '"') in_string = !in_string;
        if (in_string && *c == '\\' && c[1] != '\0') putc(*c++, out);
        bool nan = !in_string && strncmp(c, "NaN", 3) == 0, inf = !in_string && strncmp(c, "Infinity", 8) == 0;
        if (nan || inf)
            fputs(nan ? "(0 / 0)" : "(1 / 0)", out);
        else
            putc(*c, out);
        c += nan ? 2 : inf ? 7 : 0;
    }
    putc('\n', out);
    return fclose(out) == 0 ? text : NULL;
}

static void define(Repl *repl, const char *name, const char *type, const cotan_result *result) {
    char *text = definition(name, type, result);
    if (text != NULL && cli_repl_define(repl, text)) printf("%s :: %s\n", name, type);
    free(text);
}

/* Whether all members have names that a field can have. What stands in an archive does not become other text. */
static bool are_fields(const char *members) {
    for (const char *line = members; *line != '\0';) {
        size_t end = strcspn(line, " \n"), name = 0;
        while (isalnum((unsigned char)line[name]) || line[name] == '_' || line[name] == '\'') name++;
        if (name != end || strncmp(line + end, " :: ", 4) != 0 || !(islower((unsigned char)*line) || *line == '_'))
            return false;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return *members != '\0';
}

/* The type of a record of an archive's members: its name is that of the value with a capital. Returns the declaration.
 */
static char *record(const char *name, const char *members, char *type, size_t size) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) return NULL;
    snprintf(type, size, "%c%s", name[0] >= 'a' && name[0] <= 'z' ? name[0] - 'a' + 'A' : name[0], name + 1);
    fprintf(out, "data %s = %s {", type, type);
    for (const char *line = members; *line != '\0';) {
        size_t end = strcspn(line, "\n");
        fprintf(out, "%s %.*s", line > members ? "," : "", (int)end, line);
        line += end + (line[end] == '\n');
    }
    fputs(" } deriving (Eq, Show)\n", out);
    return fclose(out) == 0 ? text : NULL;
}

/* An archive becomes a record of its members. False: it is none, or has members that are no names of fields. */
static bool read_record(Repl *repl, const char *name, const char *bytes, size_t length) {
    const char *members;
    char type[200];
    cotan_result result;
    if (length < 2 || memcmp(bytes, "PK", 2) != 0) return false;
    cotan_error *error = cotan_members(repl->program, name, bytes, length, &members);
    char *declaration = error == NULL && are_fields(members) ? record(name, members, type, sizeof type) : NULL;
    bool declared = declaration != NULL && cli_repl_define(repl, declaration);
    if (error != NULL) cli_repl_error(repl, error);
    if (declared) {
        fputs(declaration, stdout);
        error = read_as(repl, type, bytes, length, &result);
        if (error == NULL)
            define(repl, name, type, &result);
        else
            cli_repl_error(repl, error);
    }
    bool known = declaration != NULL || error != NULL;
    free(declaration);
    return known;
}

static void read_data(Repl *repl, const char *name, const char *type, const char *bytes, size_t length) {
    cotan_result result;
    cotan_error *error = NULL;
    if (type != NULL) {
        error = read_as(repl, type, bytes, length, &result);
        if (error == NULL) define(repl, name, type, &result);
    } else if (!read_record(repl, name, bytes, length)) {
        for (int i = 0; guesses[i] != NULL; i++) {
            error = read_as(repl, guesses[i], bytes, length, &result);
            if (error != NULL) continue;
            define(repl, name, guesses[i], &result);
            return;
        }
        cli_repl_complain(repl, "the data are no number, text or array of them: write their type, "
                                "as in :data x :: (Array Double, Int) = @FILE");
        return;
    }
    if (error != NULL) cli_repl_error(repl, error);
}

/* NAME = @FILE, NAME :: TYPE = @FILE */
void cli_repl_data(Repl *repl, char *text) {
    char *from = strstr(text, "= @"), *type = strstr(text, "::");
    size_t length = strcspn(text, " \t:=");
    if (from == NULL || length == 0 || (type != NULL && type > from)) {
        cli_repl_complain(repl,
                          "data are read from a file, such as :data x = @FILE or :data x :: Array Double = @FILE");
        return;
    }
    char *end = from;
    while (end > text && strchr(" \t", end[-1]) != NULL) *--end = '\0';
    *from = '\0';
    if (type != NULL) type += 2 + strspn(type + 2, " \t");
    size_t size;
    char *bytes = cli_read_file(&repl->options, from + 3, &size);
    repl->failed |= bytes == NULL;
    if (bytes != NULL) bytes = as_argument(bytes, &size);
    text[length] = '\0';
    if (bytes != NULL) read_data(repl, text, type, bytes, size);
    free(bytes);
}
