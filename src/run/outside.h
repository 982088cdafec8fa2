/* The functions that programs need not carry, since Cotan has them: made of src/rt by scripts/outside.py. */
#ifndef CT_RUN_OUTSIDE_H
#define CT_RUN_OUTSIDE_H

#include "rt/run.h"

typedef struct CtOutside {
    const char *name;
    void (*function)(void);
} CtOutside;

extern const CtOutside ct_outside_functions[]; /* up to NULL */

/* Tells a program, whose table it is, where what it does not carry is; false where there is no such function. */
static inline bool ct_run_outside_link(const ct_outside *table) {
    for (; table->name != NULL; table++) {
        const CtOutside *ours = ct_outside_functions;
        while (ours->name != NULL && strcmp(ours->name, table->name) != 0) ours++;
        if (ours->name == NULL) return false;
        memcpy(table->pointer, &ours->function, sizeof ours->function);
    }
    return true;
}

#endif
