/* The functions of the runtime that Cotan provides to programs: made from src/rt by scripts/outside.py. */
#ifndef CT_RUN_OUTSIDE_H
#define CT_RUN_OUTSIDE_H

#include "rt/run.h"

typedef struct CtOutside {
    const char *name;
    void (*function)(void);
} CtOutside;

extern const CtOutside ct_outside_functions[]; /* up to NULL */

/* Links a program, whose table this is, to these functions; false if one does not exist. */
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
