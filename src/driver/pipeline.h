/* The pipeline of the compiler: the table of passes below, which pipeline.c runs in this order.
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

/* Properties of the program, which passes require, establish and destroy. */
typedef enum CtKnown {
    KNOWN_SYNTAX = 1,    /* the modules are parsed */
    KNOWN_OPERATORS = 2, /* operator chains are applications */
    KNOWN_TYPES = 4,     /* names are resolved, and every use has its types */
    KNOWN_CORE = 8,      /* the entry point, and every definition that it reaches, are in Core */
    KNOWN_SIMPLE = 16,   /* the simplifier has nothing left to do */
    KNOWN_CLOSED = 32,   /* no derivative operators are left: the program can run */
    KNOWN_PRUNED = 64,   /* nothing is unreachable from the entry point */
    KNOWN_LOWERED = 128, /* the program is lowered to Flow */
    KNOWN_FLOW = 256,    /* derivatives taken, optimised, reference counts inserted: ready for emission */
    KNOWN_C = 512,       /* the C program is emitted */
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

/* A text that continues the program. A later input is in the scope of the earlier ones; a name that it defines
 * again is shadowed. */
typedef struct CtInput {
    /* If `name` is not NULL, the text is an expression whose value is bound to it. Otherwise the text consists of
     * declarations. */
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
    bool lazy;     /* evaluate by need: src/core/lazy.c */
} CtBuildOptions;

/* Options of native code generation. */
typedef struct CtNativeOptions {
    bool exact;      /* results must equal the evaluator's, to the last bit */
    bool background; /* do not wait for the C compiler: build->native has to be asked for its state */
    bool alone;      /* the emitted C is self-contained, for other programs; otherwise this process loads it */
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
    CtMap method_libraries; /* names of the modules that transformations needed, which have been read */
    CtGlobal *entry;        /* of type (S) → result, or a constant */
    bool wants_lazy;        /* evaluated strictly, some term of it has no end: another build may be lazy */
    uint32_t loops; /* the number of loops that can get checkpoints (ct_ad_checkpoint_loops), or have got them */
    bool performs;  /* for COTAN_RUN: the result is an action, IO a, which the entry point performs */
    uint32_t arity; /* number of parameters of the requested function in the source */
    const char **parameters; /* their names, NULL for one without; NULL for an expression */
    const char **chosen;     /* the names in CtEntry.wrt, and their number; 0: there are none */
    uint32_t chosen_count;
    CtListInput given; /* what Flow has in place of the entry point, if it takes arrays in place of lists */
    CtGlobal *show[2]; /* (τ) → String, for the value and for the derivative; NULL: it is printed as data */
    /* lower… */
    CtNativeOptions native_options;
    CtFlow *flow;
    CtText c;
    CtNative *native;       /* freed by the owner of the build */
    const char *not_native; /* why there is no native code */
    const char *wrong;      /* the pass on Flow after which a check failed, and the violated invariant; NULL: none */
    CtText dumped;
    CtTimes times;
} CtBuild;

/* An entry point: a function, and whether to run it or which derivative of it to take. */
typedef struct CtEntry {
    cotan_mode mode;
    const char *function;
    const char *expression; /* an expression in place of `function`, or NULL */
    const char *point;      /* the point of the derivative, as an expression; NULL: it is an input */
    const char *wrt;        /* COTAN_GRAD: names of parameters, with commas between them; NULL: all parameters */
    CtTrap trap;            /* what ends a run on the evaluator */
    CtMethod method;        /* the method that differentiates the entry point */
    CtMethod reverse;       /* the method of reverse-mode derivatives inside the program */
    bool applied;       /* for COTAN_RUN of an expression: the expression is applied to arguments that are an input */
    bool checkpoints;   /* loops get checkpoints for reverse sweeps, as far as the method can use them */
    bool prefer_double; /* ambiguous numeric types default to Double instead of Int */
    bool any_rows;      /* by method `native`, too, lists of numbers in a list may have several lengths */
    bool one_rule;      /* only the custom derivative at `rule` is used (CT_NO_RANGE: none) */
    CtSourceRange rule;
} CtEntry;

/* Makes a build of a source and runs the passes up to `infer`. The build borrows the text, and the texts of imported
 * modules. Returns NULL only when memory runs out; build->context.error_count tells whether the program has errors.
 * After the return, running out of memory jumps to `handler`. */
CtBuild *ct_driver_build_new(const char *name, const char *text, size_t length, CtBuildOptions options,
                             jmp_buf *handler);
void ct_driver_build_free(CtBuild *build);

/* Runs the passes from `elaborate` to `reduce` for an entry point, at most once for each build. Returns false with
 * errors in the context. Afterwards build->entry can be evaluated. */
bool ct_driver_build_entry(CtBuild *build, const CtEntry *entry);
/* Behind `ct_driver_build_entry`: derivatives by `bulk` become programs for points of this shape (NULL: the shape that
 * all points of the type have). */
void ct_driver_build_for_shape(CtBuild *build, const CtEntry *entry, const CtForm *point);
/* Runs the passes from `lower` on until the property `known` holds. False with a reason in build->not_native. */
bool ct_driver_build_native(CtBuild *build, CtNativeOptions options, CtKnown known);
/* Lowers the Core of a build to a new Flow program. If it is refused, the reason is in ->refused. */
CtFlow *ct_driver_flow(CtBuild *build);
/* The same, and runs the first `passes` passes on it. If lowering or a pass
 * refuses the program, the reason is in ->refused. */
CtFlow *ct_driver_lower(CtBuild *build, bool exact, uint32_t passes);
/* Runs only `elaborate` and `simplify`. The functions of the program are not inlined, and derivative operators are not
 * expanded. */
bool ct_driver_build_as_written(CtBuild *build, const CtEntry *entry);
/* Elaborates, simplifies and prints the function `name`, or every monomorphic function of the program if it is NULL. */
bool ct_driver_build_core(CtBuild *build, const char *name, CtText *out);

/* Prints a line "name :: type" for one definition, or for each definition of the program if the name is NULL. */
bool ct_driver_build_types(CtBuild *build, const char *name, CtText *out);

/* Appends the names of a top-level function's parameters, one a line, as its first clause has them; empty where a
 * parameter has no name of its own. */
bool ct_driver_build_parameters(CtBuild *build, const char *name, CtText *out);

/* The lines `-- …` right above a line of a source, without the marks; `-- |` of Haddock counts as one. NULL: there are
 * none. */
const char *ct_driver_comment_above(CtBuild *build, const CtSource *source, uint32_t line);
/* Appends what a name in scope, perhaps qualified, means: type, comment above the definition; `all`: its place, too.
 * False when it means nothing. */
bool ct_driver_build_describe(CtBuild *build, const char *name, bool all, CtText *out);

/* A top-level function or constant of the program, for those who call it. */
typedef struct CtDefinition {
    const char *name, *type, *comment; /* comment NULL: there is none */
    uint32_t line, count;
    CtType **types;     /* of the parameters; NULL if the types are ambiguous */
    const char **names; /* of the parameters; NULL: a pattern */
    CtType *result;
} CtDefinition;
typedef CT_VEC(CtDefinition) CtDefinitions;
/* Describes the definitions of the program, in the order of the source, without operators. It uses the build up. */
void ct_driver_build_definitions(CtBuild *build, CtDefinitions *out);

/* Prints these lines for the definitions of the last input, which consists of declarations. */
void ct_driver_build_types_of_last(CtBuild *build, CtText *out);

/* Builds the expression of an entry point, to be inferred and elaborated. Returns NULL with errors in the context. */
CtExpr *ct_driver_entry_expression(CtBuild *build, const CtEntry *entry);

/* Sets build->show to the specialised show functions for `type`, the inferred type of an entry point. */
void ct_driver_entry_show(CtBuild *build, const CtEntry *entry, CtTy *type);

/* ---- inputs.c ---- */

/* Reads the build's inputs, after `parse`. False with errors in the context. */
bool ct_driver_inputs_read(CtBuild *build);

/* Drops all warnings but those of the newest input, the others having been reported. Without inputs, drops none. */
void ct_driver_inputs_keep_newest_warnings(CtBuild *build);

typedef enum CtInputKind { INPUT_EXPRESSION, INPUT_DECLARATIONS, INPUT_WRONG } CtInputKind;
/* Whether a text is an expression or declarations; when it is neither, *wrong has the errors. */
CtInputKind ct_driver_input_kind(CtArena *arena, const char *text, size_t length, CtContext **wrong);

/* Parses an expression in the scope at the end of the program, and resolves its operators. NULL with errors in the
 * context. */
/* Reads and infers another module of the library, although the program does not import it. */
bool ct_driver_build_module(CtBuild *build, const char *module);
CtExpr *ct_driver_build_expression(CtBuild *build, const char *text);
/* Prints the most general type of an expression. */
bool ct_driver_build_type_of(CtBuild *build, const char *text, CtText *out);

#endif
