/* :data: the contents of a file under a name. Without a type, an archive becomes a record of its members, and a table
 * in CSV one of its columns; of other files the first type of a list that fits is taken. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/csv_table.h"
#include "cli/repl.h"

/* The value as text that can be read again. */
static cotan_call call_of(const char *bytes, size_t length) {
    return (cotan_call){.at = bytes, .at_length = length, .no_json = true, .quotes = true};
}

static cotan_error *read_as(Repl *repl, const char *type, const char *bytes, size_t length, cotan_result *result) {
    return cli_read_as(repl->program, type, call_of(bytes, length), result);
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

static bool is_in_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '\'' || (c & 0x80) != 0; }

/* The length of what a text begins with: a name or digits, a string or character with its quotes, or one character. */
static size_t token_length(const char *text) {
    size_t length = 1;
    if (*text == '"' || *text == '\'') {
        while (text[length] != '\0' && text[length] != *text)
            length += text[length] == '\\' && text[length + 1] != '\0' ? 2 : 1;
        return length + (text[length] != '\0');
    }
    while (is_in_name(*text) && is_in_name(text[length])) length++;
    return length;
}

/* The value as an expression. What is no number is written as the quotient that gives it. */
static char *expression(const cotan_result *result) {
    char *text = NULL;
    size_t length, size;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) return NULL;
    for (const char *c = result->value_text; *c != '\0'; c += size) {
        size = token_length(c);
        if (size == 3 && memcmp(c, "NaN", size) == 0)
            fputs("(0 / 0)", out);
        else if (size == 8 && memcmp(c, "Infinity", size) == 0)
            fputs("(1 / 0)", out);
        else
            fwrite(c, 1, size, out);
    }
    return fclose(out) == 0 ? text : NULL;
}

static void define_as(Repl *repl, const char *name, const char *type, const char *value) {
    size_t size = value != NULL ? 2 * strlen(name) + strlen(type) + strlen(value) + 16 : 0;
    char *text = size > 0 ? malloc(size) : NULL;
    if (text == NULL) return;
    snprintf(text, size, "%s :: %s\n%s = %s\n", name, type, name, value);
    if (cli_repl_define(repl, text)) printf("%s :: %s\n", name, type);
    free(text);
}

static void define(Repl *repl, const char *name, const char *type, const cotan_result *result) {
    char *value = expression(result);
    define_as(repl, name, type, value);
    free(value);
}

/* ---- of a type that the user names ---- */

/* Whether a type has only parts that are shown as they are written. */
static bool is_plain(const char *type) {
    static const char *const plain[] = {"Int", "Integer", "Double", "Float", "Bool", "Char", "String", "Array"};
    while (*(type += strcspn(type, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) != '\0') {
        size_t length = 0, known = 0;
        while (isalnum((unsigned char)type[length]) || type[length] == '_' || type[length] == '\'') length++;
        while (known < sizeof plain / sizeof *plain &&
               (strlen(plain[known]) != length || strncmp(plain[known], type, length) != 0))
            known++;
        if (known == sizeof plain / sizeof *plain) return false;
        type += length;
    }
    return true;
}

/* Whether an expression has the value that is this JSON. */
static bool has_value(Repl *repl, const char *value, const char *type, const char *json) {
    size_t size = value != NULL ? strlen(value) + strlen(type) + 16 : 0;
    char *text = size > 0 ? malloc(size) : NULL;
    cotan_result result;
    if (text == NULL) return false;
    snprintf(text, size, "(%s) :: %s", value, type);
    const cotan_call call = {.mode = COTAN_RUN, .expression = text, .no_text = true};
    bool same = cotan_call_json(repl->program, &call, &result) == NULL && strcmp(result.value, json) == 0;
    free(text);
    return same;
}

/* An instance of Show may write what is no expression, or one of another value: then constructors are written. */
static cotan_error *define_read(Repl *repl, const char *name, const char *type, const char *bytes, size_t length) {
    cotan_call call = call_of(bytes, length);
    cotan_result result;
    call.no_json = is_plain(type);
    cotan_error *error = cli_read_as(repl->program, type, call, &result);
    if (error != NULL) return error;
    char *value = expression(&result), *json = call.no_json ? NULL : strdup(result.value);
    bool same = json == NULL || has_value(repl, value, type, json);
    if (!same) {
        call.constructed = true;
        free(value);
        error = cli_read_as(repl->program, type, call, &result);
        value = error == NULL ? expression(&result) : NULL;
        same = error == NULL && has_value(repl, value, type, json);
    }
    if (same)
        define_as(repl, name, type, value);
    else if (error == NULL)
        cli_repl_complain(repl, "the value cannot be written as an expression");
    free(value);
    free(json);
    return error;
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

/* ---- CSV ---- */

static const char *const keywords[] = {"case",   "class",   "data",     "default", "deriving", "do",
                                       "else",   "foreign", "if",       "import",  "in",       "infix",
                                       "infixl", "infixr",  "instance", "let",     "module",   "newtype",
                                       "of",     "then",    "type",     "where",   NULL};

static bool is_keyword(const char *name) {
    for (int i = 0; keywords[i] != NULL; i++)
        if (strcmp(name, keywords[i]) == 0) return true;
    return false;
}

static bool is_taken(const CsvColumn *columns, size_t count, size_t own, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (i != own && strcmp(columns[i].name, name) == 0) return true;
    return false;
}

/* Makes the name of a column one that a field can have, and no other column has: of `Petal Length`, petal_Length; of
 * `type`, type_; of `2nd`, _2nd. False without memory. */
static bool make_field(CsvColumn *columns, size_t count, size_t own) {
    const char *given = columns[own].name;
    size_t length = strlen(given);
    char *name = malloc(length + count + 3), *to = name;
    if (name == NULL) return false;
    if (!isalpha((unsigned char)given[0])) *to++ = '_';
    memcpy(to, given, length + 1);
    for (char *c = to; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    *name = (char)tolower((unsigned char)*name);
    to += length;
    while (is_keyword(name) || is_taken(columns, count, own, name)) {
        memcpy(to, "_", 2);
        to++;
    }
    free(columns[own].name);
    columns[own].name = name;
    return true;
}

static const char *type_of(const CsvColumn *column) {
    if (column->is_text) return "[String]";
    return column->element == COTAN_BOOL ? "Array Bool" : column->element == COTAN_INT ? "Array Int" : "Array Double";
}

static void put_field(FILE *out, const CsvColumn *column, size_t row) {
    double real;
    if (column->is_text) {
        const char *text = ((char **)column->data)[row];
        cli_print_json_string(out, text, strlen(text));
    } else if (column->element == COTAN_INT) {
        fprintf(out, "%lld", (long long)((const int64_t *)column->data)[row]);
    } else if (column->element == COTAN_BOOL) {
        fputs(((const int64_t *)column->data)[row] != 0 ? "true" : "false", out);
    } else if (isfinite(real = ((const double *)column->data)[row])) {
        fprintf(out, "%.17g", real);
    } else {
        fputs(isnan(real) ? "\"nan\"" : real > 0 ? "\"inf\"" : "\"-inf\"", out);
    }
}

/* The columns as the fields of a record: in JSON, as the one argument; and, in `members`, with their types. */
static char *as_record(const CsvColumn *columns, size_t count, size_t rows, char **members) {
    char *json = NULL;
    size_t length, member_length;
    FILE *out = open_memstream(&json, &length), *types = open_memstream(members, &member_length);
    for (size_t i = 0; out != NULL && types != NULL && i < count; i++) {
        fprintf(types, "%s :: %s\n", columns[i].name, type_of(&columns[i]));
        fprintf(out, "%s\"%s\":[", i == 0 ? "[{" : ",", columns[i].name);
        for (size_t k = 0; k < rows; k++) {
            if (k > 0) putc(',', out);
            put_field(out, &columns[i], k);
        }
        putc(']', out);
    }
    if (types != NULL) fclose(types);
    if (out == NULL) return NULL;
    fputs("}]", out);
    fclose(out);
    return json;
}

/* Reads a table, whose columns become fields; `type` NULL: of a record that is declared. */
static void read_table(Repl *repl, const char *name, const char *type, const char *file, const char *bytes,
                       size_t length) {
    CsvColumn *columns = NULL;
    size_t count = 0, rows = 0;
    int status;
    char *members = NULL, *json = NULL, own[200];
    bool done = cli_csv_columns(&repl->options, file, bytes, length, &columns, &count, &status) &&
                cli_csv_read(&repl->options, file, bytes, length, columns, count, &rows, &status);
    for (size_t i = 0; i < count; i++) done = done && make_field(columns, count, i);
    if (done) json = as_record(columns, count, rows, &members);
    char *declaration = json != NULL && type == NULL ? record(name, members, own, sizeof own) : NULL;
    bool declared = declaration != NULL && cli_repl_define(repl, declaration);
    if (declared) fputs(declaration, stdout);
    if (json != NULL && (declared || type != NULL)) {
        cotan_error *error = define_read(repl, name, declared ? own : type, json, strlen(json));
        if (error != NULL) cli_repl_error(repl, error);
    }
    repl->failed |= json == NULL;
    free(declaration);
    free(json);
    free(members);
    cli_csv_free(columns, count);
}

static void read_data(Repl *repl, const char *name, const char *type, const char *bytes, size_t length) {
    cotan_result result;
    cotan_error *error = NULL;
    if (type != NULL) {
        error = define_read(repl, name, type, bytes, length);
    } else if (!read_record(repl, name, bytes, length)) {
        type = cli_guess_type(repl->program, call_of(bytes, length), &result);
        if (type != NULL)
            define(repl, name, type, &result);
        else
            cli_repl_complain(repl, "the data are no number, text or array of them: write their type, "
                                    "as in :data x :: (Array Double, Int) = @FILE");
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
    bool is_table = cli_is_csv(from + 3);
    if (bytes != NULL && !is_table) bytes = as_argument(bytes, &size);
    text[length] = '\0';
    if (bytes != NULL && is_table)
        read_table(repl, text, type, from + 3, bytes, size);
    else if (bytes != NULL)
        read_data(repl, text, type, bytes, size);
    free(bytes);
}
