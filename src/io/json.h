/* A JSON document that is being read. */
#ifndef CT_IO_JSON_H
#define CT_IO_JSON_H

#include <jansson.h>

#include "io/internal.h"

struct CtJson {
    json_t *root, *value; /* the document, and the part of it that is converted */
    const char *what;
    bool is_element; /* `value` is element 0 of the document */
    bool foreign;    /* of another program: ct_io_json_foreign */
    /* Some number is none of Jansson's, so those that may be such were made strings (parse_quoted), which begin with
     * this control character, as no other string of the document; or 0. */
    char quoted;
};

enum { LONG_INTEGER = 18 };

/* The text of a number that is kept as a string behind a control character; NULL for other strings. */
const char *ct_io_json_kept_number(const char *text);

/* Describes a value for an error message, in `out`, which is returned. */
const char *ct_io_json_found(const json_t *json, char *out, size_t size);

/* The number that a text of JSON stands for, rounded once; false without memory. */
bool ct_io_json_number(const char *text, size_t length, bool is_float, double *number);

#endif
