/* The data of a fit: JSON, .npy and .npz as everywhere; and CSV, whose columns are found by name. */
#include <stdlib.h>
#include <string.h>

#include "cli/csv_table.h"
#include "cli/fit.h"

/* ---- CSV ---- */

/* The name of the column for a buffer: the field's, or the parameter's. */
static const char *column_name(const Model *m, const cotan_slot *slot) {
    const char *dot = strrchr(slot->path, '.');
    if (dot != NULL) return dot + 1;
    const char *index = strchr(slot->path, '[');
    size_t k = index != NULL && m->arity > 2 ? (size_t)strtoul(index + 1, NULL, 10) : 0;
    return k + 1 < m->arity ? m->names[k + 1] : "";
}

/* The buffer before the `count`th that takes the same column; NULL: there is none. */
static const char *taken_by(const Model *m, const CsvColumn *columns, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(columns[i].name, name) == 0) return cotan_function_signature(m->data)->in[i].path;
    return NULL;
}

/* The columns that the buffers take. */
static bool find_columns(const Model *m, CsvColumn *columns, size_t *count, int *status) {
    const cotan_signature *signature = cotan_function_signature(m->data);
    for (size_t i = 0; i < m->data_slots; i++) {
        const cotan_slot *slot = &signature->in[i];
        const char *name = column_name(m, slot), *other = taken_by(m, columns, *count, name);
        if (slot->rank != 1 || name[0] == '\0') {
            *status = cli_complain(m->options, "a CSV file has columns, and %s of the data is %s", slot->path,
                                   slot->rank != 1 ? "not an array of numbers" : "an argument without a name");
            return false;
        }
        if (other != NULL) {
            *status = cli_complain(m->options, "%s and %s of the data would both take the column `%s` of a CSV file",
                                   other, slot->path, name);
            return false;
        }
        columns[i] = (CsvColumn){.element = slot->element, .name = strdup(name)};
        *count = i + 1;
        if (columns[i].name == NULL) {
            *status = cli_refuse(m->options, "E0801", "there is not enough memory");
            return false;
        }
    }
    return true;
}

static bool read_csv(Model *m, const char *file, const char *text, size_t length, int *status) {
    size_t count = 0, rows;
    CsvColumn *columns = calloc(m->data_slots + 1, sizeof *columns);
    if (columns == NULL) return *status = cli_refuse(m->options, "E0801", "there is not enough memory"), false;
    bool done = find_columns(m, columns, &count, status) &&
                cli_csv_read(m->options, file, text, length, columns, count, &rows, status);
    if (done && rows == 0) { /* every point would be a minimum */
        *status = cli_refuse(m->options, "E0602", "%s has no rows below the names of its columns", file);
        done = false;
    }
    for (size_t i = 0; i < count && done; i++) {
        m->all[i] = (cotan_buffer){.data = columns[i].data, .size = {rows}};
        columns[i].data = NULL; /* it is the model's now */
    }
    cli_csv_free(columns, count);
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

/* The rows of the data: the length of the longest of its arrays. */
static size_t count_rows(const Model *m) {
    const cotan_slot *slots = cotan_function_signature(m->data)->in;
    size_t rows = 0;
    for (size_t i = 0; i < m->data_slots; i++)
        if (slots[i].rank > 0 && (rows == 0 || m->all[i].size[0] > rows)) rows = m->all[i].size[0];
    return rows;
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
    bool done = text != NULL && (from[0] == '@' && cli_is_csv(from + 1) ? read_csv(m, from + 1, text, length, status)
                                                                        : read_other(m, text, length, status));
    free(text);
    if (done) {
        m->rows = count_rows(m);
        cli_fit_model_choose(m, NULL, 0);
    }
    return done;
}
