/* The functions that programs need not carry, since Cotan has them: made of src/rt by scripts/outside.py. */
#ifndef CT_RUN_OUTSIDE_H
#define CT_RUN_OUTSIDE_H

typedef struct CtOutside {
    const char *name;
    void (*function)(void);
} CtOutside;

extern const CtOutside ct_outside_functions[]; /* up to NULL */

#endif
