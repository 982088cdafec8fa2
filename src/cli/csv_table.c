/* Tables in CSV: the first row has the names of the columns, every row as many fields. */
#include <csv.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/csv_table.h"

typedef struct Table {
    const Options *options;
    const char *file;
    CsvColumn *columns;
    size_t column_count;
    CsvColumn **of_field;                 /* for each field of a row, its column; NULL: of no use */
    size_t field_count, field, row, room; /* the header is row 1 */
    bool guesses;                         /* the columns come from the file, and are only looked at */
    bool wrong;
    int *status;
} Table;

static const char *kind_of(cotan_element element) {
    switch (element) {
    case COTAN_INT: return "an integer";
    case COTAN_BOOL: return "True or False";
    case COTAN_CHAR: return "a character";
    case COTAN_TAG: return "the number of a constructor";
    case COTAN_DOUBLE:
    case COTAN_FLOAT: break;
    }
    return "a number";
}

static void refuse(Table *t, const CsvColumn *column, const char *text) {
    t->wrong = true;
    *t->status = cli_refuse(t->options, "E0602", "%s, row %zu, column `%s`: expected %s, found `%.40s`", t->file,
                            t->row, column->name, kind_of(column->element), text);
}

static bool is_true(const char *text) {
    return strcmp(text, "1") == 0 || strcmp(text, "True") == 0 || strcmp(text, "true") == 0;
}

static bool is_false(const char *text) {
    return strcmp(text, "0") == 0 || strcmp(text, "False") == 0 || strcmp(text, "false") == 0;
}

/* Whether strtod has read all of a text as a number in decimal, or an infinity that is written as such. */
static bool is_number(const char *text, const char *end, double number) {
    return end != text && *end == '\0' && strpbrk(text, "xX") == NULL &&
           (!isinf(number) || strpbrk(text, "iI") != NULL);
}

/* Parses a field into row t->row - 2 of its column. */
static bool take(const Table *t, const CsvColumn *column, const char *text) {
    size_t at = t->row - 2;
    char *end;
    errno = 0;
    if (column->is_text) return (((char **)column->data)[at] = strdup(text)) != NULL;
    switch (column->element) {
    case COTAN_DOUBLE:
    case COTAN_FLOAT: {
        double number = column->element == COTAN_FLOAT ? (double)strtof(text, &end) : strtod(text, &end);
        ((double *)column->data)[at] = number;
        return is_number(text, end, number);
    }
    case COTAN_BOOL: ((int64_t *)column->data)[at] = is_true(text); return is_true(text) || is_false(text);
    case COTAN_CHAR:
        ((int64_t *)column->data)[at] = (unsigned char)text[0];
        return (unsigned char)text[0] < 0x80 && strlen(text) == 1;
    case COTAN_INT:
    case COTAN_TAG: break;
    }
    long long number = strtoll(text, &end, 10);
    ((int64_t *)column->data)[at] = number;
    return end != text && *end == '\0' && errno == 0;
}

static void no_memory(Table *t) {
    t->wrong = true;
    *t->status = cli_refuse(t->options, "E0801", "there is not enough memory");
}

static void two_columns(Table *t, const char *name) {
    t->wrong = true;
    *t->status = cli_refuse(t->options, "E0602", "%s has two columns `%s`", t->file, name);
}

/* Adds a column for a field of the first row, of Bools until a field below says otherwise. */
static void add_column(Table *t, const char *name) {
    for (size_t i = 0; i < t->column_count && !t->wrong; i++)
        if (strcmp(t->columns[i].name, name) == 0) two_columns(t, name);
    if (t->wrong) return;
    CsvColumn *grown = realloc(t->columns, (t->column_count + 1) * sizeof *grown);
    if (grown != NULL) t->columns = grown;
    if (grown != NULL) grown[t->column_count] = (CsvColumn){.element = COTAN_BOOL, .name = strdup(name)};
    if (grown == NULL || grown[t->column_count].name == NULL) {
        no_memory(t);
        return;
    }
    t->column_count++;
    t->field_count = t->column_count;
}

static bool is_bool(const char *text) {
    return (is_true(text) || is_false(text)) && strcmp(text, "1") != 0 && strcmp(text, "0") != 0;
}

/* The least general of Bool, Int, Double and text that has all fields so far. */
static void guess(const Table *t, CsvColumn *column, const char *text) {
    char *end;
    bool first = t->row == 2;
    if (column->is_text || (column->element == COTAN_BOOL && is_bool(text))) return;
    errno = 0;
    (void)strtoll(text, &end, 10);
    bool is_int = end != text && *end == '\0' && errno == 0;
    double number = strtod(text, &end);
    bool is_real = is_number(text, end, number);
    if (column->element == COTAN_BOOL && first) column->element = COTAN_INT;
    if (column->element == COTAN_INT && !is_int) column->element = COTAN_DOUBLE;
    column->is_text = !is_real || column->element == COTAN_BOOL;
}

static void header_field(Table *t, const char *name) {
    CsvColumn **grown = realloc(t->of_field, (t->field + 1) * sizeof *grown);
    if (grown == NULL) {
        no_memory(t);
        return;
    }
    t->of_field = grown;
    grown[t->field] = NULL;
    for (size_t i = 0; i < t->column_count; i++) {
        if (strcmp(t->columns[i].name, name) != 0) continue;
        if (t->columns[i].found) {
            two_columns(t, name);
        }
        t->columns[i].found = true;
        grown[t->field] = &t->columns[i];
    }
    t->field_count = t->field + 1;
}

static bool grow(Table *t) {
    size_t room = t->room > 0 ? 2 * t->room : 256;
    for (size_t i = 0; i < t->column_count; i++) {
        void *data = realloc(t->columns[i].data, room * 8);
        if (data == NULL) return false;
        t->columns[i].data = data;
    }
    t->room = room;
    return true;
}

static void on_field(void *text, size_t length, void *data) {
    Table *t = data;
    if (t->wrong) return;
    const char *field = text != NULL ? text : ""; /* NUL-terminated, as libcsv is asked to */
    if (strlen(field) != length) field = "\\0";
    if (t->row == 1 && t->guesses)
        add_column(t, field);
    else if (t->row == 1)
        header_field(t, field);
    else if (t->guesses && t->field < t->field_count)
        guess(t, &t->columns[t->field], field);
    else if (!t->guesses && t->field < t->field_count && t->of_field[t->field] != NULL &&
             !take(t, t->of_field[t->field], field))
        refuse(t, t->of_field[t->field], field);
    t->field++;
}

static void on_row(int end, void *data) {
    (void)end;
    Table *t = data;
    if (t->wrong) return;
    if (t->row > 1 && t->field != t->field_count) {
        t->wrong = true;
        *t->status = cli_refuse(t->options, "E0602", "%s, row %zu has %zu fields, and the first row has %zu", t->file,
                                t->row, t->field, t->field_count);
    }
    t->field = 0;
    if (!t->wrong && !t->guesses && t->row - 1 >= t->room && !grow(t)) no_memory(t);
    t->row++;
}

static bool parse(Table *t, const char *text, size_t length) {
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0) return false;
    t->row = 1;
    bool read =
        csv_parse(&parser, text, length, on_field, on_row, t) == length && csv_fini(&parser, on_field, on_row, t) == 0;
    if (!read && !t->wrong) {
        *t->status =
            cli_refuse(t->options, "E0602", "%s, row %zu: %s", t->file, t->row, csv_strerror(csv_error(&parser)));
        t->wrong = true;
    }
    csv_free(&parser);
    for (size_t i = 0; i < t->column_count && !t->wrong && !t->guesses; i++) {
        if (t->columns[i].found) continue;
        t->wrong = true;
        *t->status = cli_refuse(t->options, "E0602", "%s has no column `%s`", t->file, t->columns[i].name);
    }
    return !t->wrong;
}

bool cli_csv_read(const Options *options, const char *file, const char *text, size_t length, CsvColumn *columns,
                  size_t count, size_t *rows, int *status) {
    Table t = {.options = options, .file = file, .columns = columns, .column_count = count, .status = status};
    bool done = grow(&t);
    if (!done) no_memory(&t);
    done = done && parse(&t, text, length);
    *rows = done ? t.row - 2 : 0;
    for (size_t i = 0; i < count; i++) columns[i].rows = t.row >= 2 ? t.row - 2 : 0;
    free(t.of_field);
    return done;
}

bool cli_csv_columns(const Options *options, const char *file, const char *text, size_t length, CsvColumn **columns,
                     size_t *count, int *status) {
    Table t = {.options = options, .file = file, .status = status, .guesses = true};
    bool done = parse(&t, text, length);
    *columns = t.columns;
    *count = t.column_count;
    return done;
}

void cli_csv_free(CsvColumn *columns, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; columns[i].is_text && columns[i].data != NULL && k < columns[i].rows; k++)
            free(((char **)columns[i].data)[k]);
        free(columns[i].data);
        free(columns[i].name);
    }
    free(columns);
}

bool cli_is_csv(const char *file) {
    size_t length = strlen(file);
    return length > 4 && strcmp(file + length - 4, ".csv") == 0;
}
