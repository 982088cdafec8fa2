/* The modules of a program: those of the prelude, the program itself, and everything that these import, ordered so that
 * each follows its imports. */
#ifndef CT_MODULES_H
#define CT_MODULES_H

#include "types/types.h"

/* The constructors and fields of a type, or the methods of a class. */
typedef struct CtParts {
    CtSym *names;
    uint32_t count;
} CtParts;

typedef struct CtUnit {
    CtModule *module;
    CtFixities fixities;    /* of the names in scope */
    CtMap exports;          /* the names that the module exports: CtSym -> CtFixity */
    CtMap parts;            /* of the types and classes in scope: CtSym -> CtParts */
    bool is_library;        /* part of Cotan's library: what is made of it alone is exempt from limits */
    bool is_prelude;        /* part of the prelude, whose names are in scope in all later modules */
    bool reading;           /* its imports are being read */
    CtSourceRange imported; /* source range of the first import */
} CtUnit;

/* The result of looking for the file of a module. */
typedef struct CtFound {
    const char *path, *text; /* live as long as the build */
    size_t length;
    const char *tried; /* if there is no file: the help text that says where it was looked up; in the arena */
} CtFound;

typedef enum CtFinding { FINDING_DONE, FINDING_NONE, FINDING_NO_MEMORY } CtFinding;

/* Finds modules that are not part of the library. */
typedef struct CtFinder {
    CtFinding (*find)(void *data, CtArena *arena, const char *module, CtFound *found);
    void *data;
} CtFinder;

typedef struct CtModules {
    CtContext *context;
    CtFinder finder;
    CT_VEC(CtUnit *) units;   /* all modules, each after its imports */
    CtUnit *program;          /* the program itself; continuations follow it */
    CtMap by_name;            /* CtSym -> CtUnit; NULL for a module that was not found */
    CT_VEC(CtUnit *) reading; /* modules whose imports are being read, the program first */
    uint32_t entry_source;    /* source number of lib/entry.cot */
    CtFixities prelude;       /* the fixities of the prelude, in scope in every module */
    const CtUnit *last;       /* the last part of the program whose operators are resolved */
    uint32_t resolved;        /* number of units whose operators are resolved */
} CtModules;

/* Reads the prelude, the program (a source added before) and its imports. False with errors in the context. */
bool ct_driver_modules_read(CtModules *modules, uint32_t source);
/* Reads another module, with its imports, even if the program does not import it. False with errors in the context. */
bool ct_driver_modules_read_another(CtModules *modules, const char *name);
/* Resolves the operators of the units added since the last call. */
bool ct_driver_modules_operators(CtModules *modules);
/* Adds a module that continues the program, with its imports. False with errors in the context. */
bool ct_driver_modules_continue(CtModules *modules, CtModule *module);
/* The first module of the library whose export list has the name, and in `found` the name as it stands there, which
 * differs in its letters' case where `exactly` is false; NULL if there is none. */
const char *ct_driver_modules_exporter(CtArena *arena, const char *name, bool exactly, const char **found);
/* The fixities in force at the end of the program. */
CtFixities *ct_driver_modules_fixities(const CtModules *modules);

#endif
