/* The modules of a program: the prelude's, the program's own, and all that these import, in an order in which each
 * stands behind what it imports. */
#ifndef CT_MODULES_H
#define CT_MODULES_H

#include "types/types.h"

typedef struct CtUnit {
    CtModule *module;
    CtFixities fixities;    /* in force in it: its own, and those of what it imports */
    bool is_prelude;        /* in scope of every module that comes later */
    bool reading;           /* its imports are being read */
    CtSourceRange imported; /* where, first */
} CtUnit;

/* A module's file. */
typedef struct CtFound {
    const char *path, *text; /* live as long as the build */
    size_t length;
    const char *tried; /* when there is none: where it was looked for; in the arena */
} CtFound;

typedef enum CtFinding { FINDING_DONE, FINDING_NONE, FINDING_NO_MEMORY } CtFinding;

/* How modules that are not part of the library are found. */
typedef struct CtFinder {
    CtFinding (*find)(void *data, CtArena *arena, const char *module, CtFound *found);
    void *data;
} CtFinder;

typedef struct CtModules {
    CtContext *context;
    CtFinder finder;
    CT_VEC(CtUnit *) units;   /* in order */
    CtUnit *program;          /* its own; what continues it stands behind it */
    CtMap by_name;            /* CtSym -> CtUnit; NULL for a module that is not found */
    CT_VEC(CtUnit *) reading; /* whose imports are being read, the program first */
    uint32_t entry_source;    /* of lib/entry.cot */
    CtFixities prelude;       /* in force everywhere */
    const CtUnit *last;       /* the last part of the program whose operators are resolved */
    uint32_t resolved;        /* how many units have their operators resolved */
} CtModules;

/* Reads the prelude, the program (a source that was added already) and what it imports. False with errors in the
 * context. */
bool ct_driver_modules_read(CtModules *modules, uint32_t source);
/* Reads another module, which the program need not import, with what it imports. False with errors in the context. */
bool ct_driver_modules_read_another(CtModules *modules, const char *name);
/* Resolves the operators of the units that were added since it was last called. */
bool ct_driver_modules_operators(CtModules *modules);
/* Adds a module that continues the program, with what it imports. False with errors in the context. */
bool ct_driver_modules_continue(CtModules *modules, CtModule *module);
/* The fixities in force where the program ends. */
CtFixities *ct_driver_modules_fixities(const CtModules *modules);

#endif
