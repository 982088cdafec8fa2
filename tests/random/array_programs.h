/* Random programs over numbers and regular arrays: rules with holes (array_rules.def), filled by choices.
 *
 * A program is all that a sequence of choices decides, so a program that fails a test is made smaller by making its
 * choices fewer and smaller, whatever they are about: a choice that is missing is 0, which is the simplest.
 */
#ifndef CT_TESTS_ARRAY_PROGRAMS_H
#define CT_TESTS_ARRAY_PROGRAMS_H

#include <stdint.h>
#include <stdio.h>

#include "random.h"

typedef struct Choices {
    uint32_t *items;
    int count, used, capacity;
    Random *random; /* more choices come from here; NULL: they are 0 */
} Choices;

typedef struct Shaped Shaped;

/* h :: from -> to */
typedef struct ArrayProgram {
    const Shaped *from, *to;
    char *text; /* of the module */
} ArrayProgram;

/* Of less than `size` rules, about. `is_long`: of arrays that often have eight elements and more. Types and text live
 * until the next call. */
ArrayProgram array_program(Choices *choices, int size, bool is_long);

/* A value of a type as JSON: its real numbers are base + scale · along, of arrays that are long enough for any program;
 * what is discrete is always the same. Gives how many real numbers it has. */
enum { MOST_REALS = 4096 };
int array_value(FILE *out, const Shaped *type, const double *base, double scale, const double *along);
/* The real numbers of a value that is written so; moves *text behind it. */
int array_reals(const Shaped *type, const char **text, double *out);

#endif
