/* The data of a fit: JSON, .npy and .npz as everywhere; and CSV, whose columns are found by name. */
#include <csv.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit.h"

/* ---- CSV ---- */

/* A column of the file that some buffer takes. */
typedef struct Column {
    const cotan_slot *slot;
    char *name;
    void *data; /* 8 bytes a row */
    bool found;
} Column;

typedef struct Table {
    const Options *options;
    const char *file;
    Column *columns;
    size_t column_count;
    Column **of_field;                    /* for each field of a row, its column; NULL: of no use */
    size_t field_count, field, row, room; /* the header is row 1 */
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

static void refuse(Table *t, const Column *column, const char *text) {
    t->wrong = true;
    *t->status = cli_refuse(t->options, "E0602", "%s, row %zu, column `%s`: expected %s, found `%.40s`", t->file,
                            t->row, column->name, kind_of(column->slot->element), text);
}

static bool is_true(const char *text) {
    return strcmp(text, "1") == 0 || strcmp(text, "True") == 0 || strcmp(text, "true") == 0;
}

static bool is_false(const char *text) {
    return strcmp(text, "0") == 0 || strcmp(text, "False") == 0 || strcmp(text, "false") == 0;
}

/* Parses a field into row t->row - 2 of its column. */
static bool take(const Table *t, const Column *column, const char *text) {
    size_t at = t->row - 2;
    char *end;
    errno = 0;
    switch (column->slot->element) {
    case COTAN_DOUBLE:
    case COTAN_FLOAT: {
        double number = strtod(text, &end);
        if (end == text || *end != '\0') return false;
        ((double *)column->data)[at] = column->slot->element == COTAN_FLOAT ? (double)(float)number : number;
        return true;
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

static void header_field(Table *t, const char *name) {
    Column **grown = realloc(t->of_field, (t->field + 1) * sizeof *grown);
    if (grown == NULL) {
        t->wrong = true;
        *t->status = cli_refuse(t->options, "E0801", "there is not enough memory");
        return;
    }
    t->of_field = grown;
    grown[t->field] = NULL;
    for (size_t i = 0; i < t->column_count; i++) {
        if (strcmp(t->columns[i].name, name) != 0) continue;
        if (t->columns[i].found) {
            t->wrong = true;
            *t->status = cli_refuse(t->options, "E0602", "%s has two columns `%s`", t->file, name);
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
    if (t->row == 1)
        header_field(t, field);
    else if (t->field < t->field_count && t->of_field[t->field] != NULL && !take(t, t->of_field[t->field], field))
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
    if (!t->wrong && t->row - 1 >= t->room && !grow(t)) {
        t->wrong = true;
        *t->status = cli_refuse(t->options, "E0801", "there is not enough memory");
    }
    t->row++;
}

/* The name of the column for a buffer: the field's, or the parameter's. */
static const char *column_name(const Model *m, const cotan_slot *slot) {
    const char *dot = strrchr(slot->path, '.');
    if (dot != NULL) return dot + 1;
    const char *index = strchr(slot->path, '[');
    size_t k = index != NULL && m->arity > 2 ? (size_t)strtoul(index + 1, NULL, 10) : 0;
    return k + 1 < m->arity ? m->names[k + 1] : "";
}

static bool find_columns(const Model *m, Table *t) {
    const cotan_signature *signature = cotan_function_signature(m->data);
    t->columns = calloc(m->data_slots + 1, sizeof *t->columns);
    for (size_t i = 0; t->columns != NULL && i < m->data_slots; i++) {
        const cotan_slot *slot = &signature->in[i];
        const char *name = column_name(m, slot);
        if (slot->rank != 1 || name[0] == '\0') {
            *t->status = cli_complain(t->options, "a CSV file has columns, and %s of the data is %s", slot->path,
                                      slot->rank != 1 ? "not an array of numbers" : "an argument without a name");
            return false;
        }
        t->columns[i] = (Column){.slot = slot, .name = strdup(name)};
        t->column_count++;
    }
    if (t->columns != NULL && (m->data_slots == 0 || t->columns[m->data_slots - 1].name != NULL) && grow(t))
        return true;
    *t->status = cli_refuse(t->options, "E0801", "there is not enough memory");
    return false;
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
    for (size_t i = 0; i < t->column_count && !t->wrong; i++) {
        if (t->columns[i].found) continue;
        t->wrong = true;
        *t->status = cli_refuse(t->options, "E0602", "%s has no column `%s`", t->file, t->columns[i].name);
    }
    return !t->wrong;
}

static bool read_csv(Model *m, const char *file, const char *text, size_t length, int *status) {
    Table t = {.options = m->options, .file = file, .status = status};
    bool done = find_columns(m, &t) && parse(&t, text, length);
    for (size_t i = 0; i < t.column_count; i++) {
        if (done) m->all[i] = (cotan_buffer){.data = t.columns[i].data, .size = {t.row - 2}};
        if (!done) free(t.columns[i].data);
        free(t.columns[i].name);
    }
    free(t.columns);
    free(t.of_field);
    return done;
}

/* ---- other forms ---- */

static bool copy_of(const cotan_slot *slot, const cotan_buffer *from, cotan_buffer *to) {
    size_t count = 1;
    for (unsigned d = 0; d < slot->rank; d++) count *= from->size[d];
    *to = *from;
    to->data = malloc(count * 8 + 1);
    if (to->data != NULL) memcpy(to->data, from->data, count * 8);
    return to->data != NULL;
}

static bool read_other(Model *m, const char *text, size_t length, int *status) {
    const cotan_signature *signature = cotan_function_signature(m->data);
    cotan_buffer *read = calloc(m->data_slots + 1, sizeof *read);
    cotan_error *error = read != NULL ? cotan_function_read(m->data, "--data", text, length, NULL, 0, read) : NULL;
    bool done = read != NULL && error == NULL;
    if (error != NULL) *status = cli_report(m->options, error);
    for (size_t i = 0; i < m->data_slots && done; i++) done = copy_of(&signature->in[i], &read[i], &m->all[i]);
    if (!done && error == NULL) *status = cli_refuse(m->options, "E0801", "there is not enough memory");
    free(read);
    return done;
}

/* The rows of the data: the length that all its arrays have. */
static size_t count_rows(const Model *m) {
    const cotan_slot *slots = cotan_function_signature(m->data)->in;
    size_t rows = 0;
    for (size_t i = 0; i < m->data_slots; i++)
        if (slots[i].rank > 0 && (rows == 0 || m->all[i].size[0] > rows)) rows = m->all[i].size[0];
    return rows;
}

static bool is_csv(const char *file) {
    size_t length = strlen(file);
    return file[0] == '@' && length > 5 && strcmp(file + length - 4, ".csv") == 0;
}

bool cli_fit_data_read(Model *m, int *status) {
    const char *from = m->options->data;
    if (m->data == NULL) return true;
    if (from == NULL) {
        *status = cli_complain(
            m->options, "`%s` takes data besides the parameters: give them as --data '[…]' or --data @FILE", m->loss);
        return false;
    }
    size_t length;
    bool failed = false;
    char *text = cli_read_input(m->options, from, &length, &failed);
    if (failed) return *status = EXIT_USAGE, false;
    bool done = text != NULL &&
                (is_csv(from) ? read_csv(m, from + 1, text, length, status) : read_other(m, text, length, status));
    free(text);
    if (done) {
        m->rows = count_rows(m);
        cli_fit_model_choose(m, NULL, 0);
    }
    return done;
}
