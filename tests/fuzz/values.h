/* A program of identity functions at many types, to read values with and write them. */
#ifndef COTAN_TESTS_FUZZ_VALUES_H
#define COTAN_TESTS_FUZZ_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cotan.h"

/* The value of any bytes, read at one of the types (by `which`) and written in a form. False when they are no such
 * value: then an error has been given. */
bool fuzz_value(unsigned which, const char *bytes, size_t length, cotan_form form, cotan_result *out);

#endif
