/* The whole path of a program, on one screen: the table of passes below, run in this order by pipeline.c.
 *
 * A build is one entry point (a function, what is asked of it, a method) taken through all passes, in an arena of its
 * own.
 */
#ifndef CT_PIPELINE_H
#define CT_PIPELINE_H

#include "cotan.h"
#include "elab/elab.h"
#include "emit/emit.h"
#include "eval/eval.h"
#include "driver/modules.h"
#include "run/run.h"

/* What is known of a program, as passes go by. */
typedef enum CtKnown {
    KNOWN_SYNTAX = 1,    /* the modules as trees */
    KNOWN_OPERATORS = 2, /* operator chains are applications */
    KNOWN_TYPES = 4,     /* every name is resolved, every use has its types */
    KNOWN_CORE = 8,      /* the entry point and all that it needs, as Core */
    KNOWN_SIMPLE = 16,   /* nothing is left that the simplifier would do */
    KNOWN_CLOSED = 32,   /* no derivative operators are left: it can be run */
    KNOWN_PRUNED = 64,   /* nothing is there that the entry point does not reach */
    KNOWN_LOWERED = 128, /* the program in Flow, as lowering leaves it */
    KNOWN_FLOW = 256,    /* derivatives taken, optimised, references counted: ready to be written */
    KNOWN_C = 512,       /* the program as C */
    KNOWN_NATIVE = 1024, /* that, compiled and loaded */
} CtKnown;

/* CT_PASS(name, needs, makes, breaks, what it does): all else that is known before a pass it keeps. A pass on Core is
 * followed by lint when the build asks for it. */
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

/* Text that goes on where the program ends; later ones see earlier ones, and hide what they name again. */
typedef struct CtInput {
    const char *text, *name; /* name: of the value of the text, an expression; NULL: the text is declarations */
    size_t length;
    struct CtInput *next;
} CtInput;

typedef struct CtBuildOptions {
    bool lint;        /* check Core after every pass on it */
    const char *dump; /* keep the text of the program after this pass, or NULL */
    CtFinder finder;  /* of modules that are imported */
    const CtInput *inputs;
    size_t memory; /* limit on the arena, 0 for none */
    bool times;    /* how long each pass takes is kept */
} CtBuildOptions;

/* How native code is made. */
typedef struct CtNativeOptions {
    bool exact;      /* results are the evaluator's, to the last bit */
    bool alone;      /* the C carries all that it needs, for other programs; else it is for this process */
    uint32_t passes; /* of flow/opt/passes.def that are run, from the first on */
} CtNativeOptions;

typedef struct CtBuild {
    CtArena *arena;
    CtContext context;
    CtBuildOptions options;
    uint32_t known; /* CtKnown bits */
    /* parse, operators, infer */
    CtModules modules;
    CtModule *module;    /* the program's own */
    uint32_t last_input; /* the source of the newest input; 0: there is none */
    CtTypes *types;
    /* elaborate… */
    CtProgram *program;
    CtElab *elab;
    CtAd *ad;
    const char *method_library; /* module of the method in reverse; NULL: none, or it has been read */
    CtGlobal *entry;            /* of type (S) → result, or a constant */
    uint32_t arity;             /* of what it was made from, as that was written */
    CtGlobal *show[2];          /* of the value and of the derivative: (τ) → String; NULL: they are shown as data */
    /* lower… */
    CtNativeOptions native_options;
    CtFlow *flow;
    CtText c;
    CtNative *native;       /* freed by whoever frees the build */
    const char *not_native; /* why there is none */
    const char *wrong;      /* a pass over Flow is at fault */
    CtText dumped;
    CtTimes times;
} CtBuild;

/* What is asked of a function. */
typedef struct CtEntry {
    cotan_mode mode;
    const char *function;
    const char *expression; /* instead of the function; NULL */
    const char *point;      /* where the derivative is taken, an expression; NULL: it is an input */
    CtMethod method;        /* of what is asked */
    CtMethod reverse;       /* of the reverse derivatives inside the program */
    bool applied;           /* RUN of an expression: to arguments that are an input */
    bool prefer_double;     /* types left open become Double rather than Int */
    bool one_rule;          /* of the rules for derivatives only that at `rule` is honoured (CT_NO_RANGE: none) */
    CtSourceRange rule;
} CtEntry;

/* A new build of a source, through `infer`. The text is borrowed, and those of the modules that it imports. NULL only
 * without memory; whether it is sound is said by build->context.error_count. `handler` is where running out of memory
 * goes. */
CtBuild *ct_driver_build_new(const char *name, const char *text, size_t length, CtBuildOptions options,
                             jmp_buf *handler);
void ct_driver_build_free(CtBuild *build);

/* Takes an entry point through the remaining passes; once a build. False with errors in the context. Afterwards
 * build->entry is ready to be evaluated. */
bool ct_driver_build_entry(CtBuild *build, const CtEntry *entry);
/* And through the passes behind these, up to what `known` (a KNOWN_…) says. False with a reason in build->not_native.
 */
bool ct_driver_build_native(CtBuild *build, CtNativeOptions options, CtKnown known);
/* The program of a build in Flow, after so many passes, another one each time. Its ->refused says why there is none. */
CtFlow *ct_driver_lower(CtBuild *build, bool exact, uint32_t passes);
/* The same through `simplify` only, with the functions of the program left as they were written: none goes into the
 * place of its calls. Derivatives are not expanded yet. */
bool ct_driver_build_as_written(CtBuild *build, const CtEntry *entry);
/* Elaborates and simplifies functions for printing: one, or every monomorphic function of the module (name NULL). */
bool ct_driver_build_core(CtBuild *build, const char *name, CtText *out);

/* "name :: type" lines: of one name, or of all that the module defines (name NULL). */
bool ct_driver_build_types(CtBuild *build, const char *name, CtText *out);

/* The same of the last input, which is declarations. */
void ct_driver_build_types_of_last(CtBuild *build, CtText *out);

/* The expression of an entry point, for `elaborate`; NULL with errors in the context. */
CtExpr *ct_driver_entry_expression(CtBuild *build, const CtEntry *entry);

/* Elaborates build->show, of the types in the inferred expression of an entry point. */
void ct_driver_entry_show(CtBuild *build, const CtEntry *entry, CtTy *type);

/* ---- inputs.c ---- */

/* The build's inputs, for `parse`. False with errors in the context. */
bool ct_driver_inputs_read(CtBuild *build);

/* Drops the warnings of all but the newest input, of which there is one: the others were told when they were new. */
void ct_driver_inputs_keep_newest_warnings(CtBuild *build);

typedef enum CtInputKind { INPUT_EXPRESSION, INPUT_DECLARATIONS, INPUT_WRONG } CtInputKind;
/* What a text is; when it is neither, *wrong says why. */
CtInputKind ct_driver_input_kind(CtArena *arena, const char *text, size_t length, CtContext **wrong);

/* An expression in the scope of the program's end, its operators resolved. NULL with errors in the context. */
CtExpr *ct_driver_build_expression(CtBuild *build, const char *text);
/* Its most general type. */
bool ct_driver_build_type_of(CtBuild *build, const char *text, CtText *out);

#endif
