/* A line of JSON that holds one message: its members are found in the text, not copied. */
#ifndef CT_CLI_MESSAGE_H
#define CT_CLI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

/* A value in a text of JSON; NULL where there is none. */
typedef struct Span {
    const char *text;
    size_t length;
} Span;

/* Finds the members of an object by their names. Of equal names the first counts. Where the text is no object, false;
 * members in front of the fault have been found. Values in arrays and objects within are only skipped, by their
 * brackets and strings. */
bool cli_members(Span object, const char *const *names, Span *members, size_t count);
/* The contents of a string that is a name: letters, digits, `_`, `-` and `'`. False for any other value. */
bool cli_name(Span value, char *name, size_t size);
/* Whether a string's contents are these. */
bool cli_is_string(Span value, const char *contents);
/* A number that is not negative. False for any other value. */
bool cli_number(Span value, double *number);

#endif
