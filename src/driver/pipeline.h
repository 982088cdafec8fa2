/* The whole path of a program on one screen: the table of passes below, which pipeline.c runs in this order.
 *
 * A build is one entry point (a function, what is wanted of it, and a method) taken through all passes, in its own
 * arena. */
#ifndef CT_PIPELINE_H
#define CT_PIPELINE_H

#include "cotan.h"
#include "elab/elab.h"
#include "emit/emit.h"
#include "eval/eval.h"
#include "driver/modules.h"
#include "run/run.h"

/* Properties of the program, which passes establish and need. */
typedef enum CtKnown {
    KNOWN_SYNTAX = 1,    /* the modules are parsed */
    KNOWN_OPERATORS = 2, /* operator chains are applications */
    KNOWN_TYPES = 4,     /* names are resolved, and every use has its types */
    KNOWN_CORE = 8,      /* the entry point, and all that it needs, in Core */
    KNOWN_SIMPLE = 16,   /* the simplifier has nothing left to do */
    KNOWN_CLOSED = 32,   /* no derivative operators are left: the program can run */
    KNOWN_PRUNED = 64,   /* nothing is unreachable from the entry point */
    KNOWN_LOWERED = 128, /* the program in Flow, as lowering makes it */
    KNOWN_FLOW = 256,    /* derivatives taken, optimised, reference counts inserted: ready for emission */
    KNOWN_C = 512,       /* the program as C */
    KNOWN_NATIVE = 1024, /* the C program is compiled and loaded */
} CtKnown;

/* CT_PASS(name, needs, makes, breaks, what it does). A pass preserves all properties that it does not break. With
 * options.lint, lint runs after every pass on Core. */
#define CT_PASSES(CT_PASS)                                                                                             \
    CT_PASS(parse, 0, KNOWN_SYNTAX, 0, "text to syntax: tokens, the layout rule, the grammar")                         \
    CT_PASS(operators, KNOWN_SYNTAX, KNOWN_OPERATORS, 0, "operator chains become applications, by their fixities")     \
    CT_PASS(infer, KNOWN_OPERATORS, KNOWN_TYPES, 0, "names are resolved, types inferred, classes checked")             \
    CT_PASS(elaborate, KNOWN_TYPES, KNOWN_CORE, 0, "patterns are compiled, classes resolved, functions specialised")   \
    CT_PASS(simplify, KNOWN_CORE, KNOWN_SIMPLE, 0, "inlining, reduction of known constructions, dead code")            \
    CT_PASS(differentiate, KNOWN_CORE, KNOWN_CLOSED, KNOWN_SIMPLE | KNOWN_PRUNED,                                      \
            "derivative operators become the wrappers of their methods, functions their transformed selves")           \
    CT_PASS(prune, KNOWN_CORE, KNOWN_PRUNED, 0, "what the entry point does not reach is dropped")                      \
    CT_PASS(reduce, KNOWN_CLOSED | KNOWN_PRUNED, KNOWN_SIMPLE, 0,                                                      \
            "the simplifier again, on what differentiation made")                                                      \
    /* here the evaluator takes over; or native code: */                                                               \
    CT_PASS(lower, KNOWN_CLOSED | KNOWN_PRUNED, KNOWN_LOWERED, 0,                                                      \
            "Core to Flow: loops, flat arrays, closures as data")                                                      \
    CT_PASS(flow, KNOWN_LOWERED, KNOWN_FLOW, 0, "the passes of flow/opt/passes.def, derivatives on Flow among them")   \
    CT_PASS(c, KNOWN_FLOW, KNOWN_C, 0, "Flow to C")                                                                    \
    CT_PASS(native, KNOWN_C, KNOWN_NATIVE, 0, "the system's C compiler, or its work from the cache; loading")

typedef struct CtPass {
    const char *name;
    uint32_t needs, makes, breaks; /* CtKnown bits */
    const char *what;
} CtPass;
extern const CtPass ct_driver_passes[];
extern const uint32_t ct_driver_pass_count;

/* A text that continues the program. Later ones see earlier ones, and shadow the names that they define again. */
typedef struct CtInput {
    /* Name: for the value of the text, an expression; NULL: the text consists of declarations. */
    const char *text, *name;
    size_t length;
    struct CtInput *next;
} CtInput;

typedef struct CtBuildOptions {
    bool lint;        /* run lint after every pass on Core */
    const char *dump; /* dump the program after this pass, or NULL */
    CtFinder finder;  /* finds imported modules */
    const CtInput *inputs;
    size_t memory; /* limit on the arena, 0 for none */
    bool times;    /* record the running time of each pass */
} CtBuildOptions;

/* How native code is made. */
typedef struct CtNativeOptions {
    bool exact;      /* results must equal the evaluator's, to the last bit */
    bool alone;      /* the C is self-contained, for other programs; otherwise it is for this process */
    uint32_t passes; /* number of passes of flow/opt/passes.def to be run */
} CtNativeOptions;

typedef struct CtBuild {
    CtArena *arena;
    CtContext context;
    CtBuildOptions options;
    uint32_t known; /* CtKnown bits */
    /* parse, operators, infer */
    CtModules modules;
    CtModule *module;    /* the program's own module */
    uint32_t last_input; /* source of the newest input; 0: there is none */
    CtTypes *types;
    /* elaborate… */
    CtProgram *program;
    CtElab *elab;
    CtAd *ad;
    const char *method_library; /* module of the reverse-mode method; NULL: none, or it has been read */
    CtGlobal *entry;            /* of type (S) → result, or a constant */
    uint32_t arity;             /* number of parameters in the source */
    CtGlobal *show[2];          /* of value and derivative: (τ) → String; NULL: they are shown as data */
    /* lower… */
    CtNativeOptions native_options;
    CtFlow *flow;
    CtText c;
    CtNative *native;       /* freed by the owner of the build */
    const char *not_native; /* why there is no native code */
    const char *wrong;      /* the pass over Flow that is at fault, and why */
    CtText dumped;
    CtTimes times;
} CtBuild;

/* An entry point: what is wanted of a function. */
typedef struct CtEntry {
    cotan_mode mode;
    const char *function;
    const char *expression; /* used instead of the function; or NULL */
    const char *point;      /* the point of the derivative, as an expression; NULL: it is an input */
    CtMethod method;        /* of the entry point */
    CtMethod reverse;       /* of reverse derivatives inside the program */
    bool applied;           /* RUN of an expression: applied to arguments that are an input */
    bool prefer_double;     /* ambiguous numeric types default to Double instead of Int */
    bool one_rule;          /* only the custom derivative at `rule` is used (CT_NO_RANGE: none) */
    CtSourceRange rule;
} CtEntry;

/* A new build of a source, up to `infer`. The text, and those of imported modules, are borrowed. NULL only when memory
 * runs out; build->context.error_count says whether there are errors. Later lack of memory jumps to `handler`. */
CtBuild *ct_driver_build_new(const char *name, const char *text, size_t length, CtBuildOptions options,
                             jmp_buf *handler);
void ct_driver_build_free(CtBuild *build);

/* Takes an entry point through the remaining passes on Core; once for each build. False with errors in the context.
 * Afterwards build->entry can be evaluated. */
bool ct_driver_build_entry(CtBuild *build, const CtEntry *entry);
/* Takes it through the passes behind Core, up to `known` (a KNOWN_…). False with a reason in build->not_native. */
bool ct_driver_build_native(CtBuild *build, CtNativeOptions options, CtKnown known);
/* The program of a build in Flow, after so many passes; a new program in each call. Its ->refused says why there is
 * none. */
CtFlow *ct_driver_lower(CtBuild *build, bool exact, uint32_t passes);
/* Goes up to `simplify` only, without inlining functions of the program, and without expanding derivatives. */
bool ct_driver_build_as_written(CtBuild *build, const CtEntry *entry);
/* Elaborates and simplifies functions for printing: one, or every monomorphic function of the module (name NULL). */
bool ct_driver_build_core(CtBuild *build, const char *name, CtText *out);

/* "name :: type" lines: of one name, or of all that the module defines (name NULL). */
bool ct_driver_build_types(CtBuild *build, const char *name, CtText *out);

/* The same for the last input, which consists of declarations. */
void ct_driver_build_types_of_last(CtBuild *build, CtText *out);

/* The expression of an entry point, to be elaborated; NULL with errors in the context. */
CtExpr *ct_driver_entry_expression(CtBuild *build, const CtEntry *entry);

/* Elaborates build->show for the types in the inferred expression of an entry point. */
void ct_driver_entry_show(CtBuild *build, const CtEntry *entry, CtTy *type);

/* ---- inputs.c ---- */

/* Reads the build's inputs, after `parse`. False with errors in the context. */
bool ct_driver_inputs_read(CtBuild *build);

/* Drops the warnings of all inputs but the newest, since they have been reported. There is at least one input. */
void ct_driver_inputs_keep_newest_warnings(CtBuild *build);

typedef enum CtInputKind { INPUT_EXPRESSION, INPUT_DECLARATIONS, INPUT_WRONG } CtInputKind;
/* Whether a text is an expression or declarations; when it is neither, *wrong has the errors. */
CtInputKind ct_driver_input_kind(CtArena *arena, const char *text, size_t length, CtContext **wrong);

/* Parses an expression in the scope at the end of the program, and resolves its operators. NULL with errors in the
 * context. */
CtExpr *ct_driver_build_expression(CtBuild *build, const char *text);
/* Prints the most general type of an expression. */
bool ct_driver_build_type_of(CtBuild *build, const char *text, CtText *out);

#endif
