/* Tables in CSV, whose columns have names. */
#ifndef CT_CLI_CSV_TABLE_H
#define CT_CLI_CSV_TABLE_H

#include "cli/cli.h"

typedef struct CsvColumn {
    char *name; /* from malloc, as is `data` */
    cotan_element element;
    bool is_text; /* it holds texts, as char *, and no elements */
    bool found;   /* the file has it */
    void *data;   /* 8 bytes a row, as in cotan_buffer */
    size_t rows;
} CsvColumn;

/* Fills the columns, which have names and elements, from the text of a file; others in the file are left out. False
 * after reporting an error with row and column. Free the columns in either case. */
bool cli_csv_read(const Options *options, const char *file, const char *text, size_t length, CsvColumn *columns,
                  size_t count, size_t *rows, int *status);
/* The columns that a file has, without data: of Bools, Ints, Doubles, or else texts. False after reporting an error. */
bool cli_csv_columns(const Options *options, const char *file, const char *text, size_t length, CsvColumn **columns,
                     size_t *count, int *status);
void cli_csv_free(CsvColumn *columns, size_t count);
bool cli_is_csv(const char *file);

#endif
