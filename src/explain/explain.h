/* Explanation of how a method differentiates a function, stage by stage: `cotan explain FILE FUNCTION`.
 *
 * static_stages.c writes the stages that need no point; watched_run.c observes a run at a point; shared_values.c prints
 * values with their sharing. The result is a CtExplained, which text.c and html.c present; the latter includes the
 * drawing of graph.c. Everything lives in the arena of the program's results. */
#ifndef CT_EXPLAIN_H
#define CT_EXPLAIN_H

#include "session/session.h"

/* A piece of text with a heading, which may be NULL. */
typedef struct CtBlock {
    const char *title, *text;
} CtBlock;

typedef struct CtStage {
    const char *title, *note; /* note: a sentence, or NULL */
    CT_VEC(CtBlock) blocks;
} CtStage;

enum { CT_NO_NODE = -1 };

/* A dual number of the run that depends on the point: an input, or the result of an operation on such numbers. */
typedef struct CtNode {
    const char *label; /* "x[0]"; "mul" */
    uint32_t line;     /* source line of the operation; 0: none */
    const CtFields *pair;
    double primal;
    const char *second; /* B */
    uint32_t count;     /* number of the operation's arguments; 0 for an input */
    int64_t *args;      /* their nodes; CT_NO_NODE for a constant */
    double *values;     /* the arguments' primals */
    double *partials;
} CtNode;

/* A cotangent that arrives in the reverse pass. */
typedef struct CtArrival {
    int64_t node;      /* CT_NO_NODE: not at a dual number of the run */
    const char *at;    /* in that case: a description of where */
    double g, adjoint; /* adjoint: the node's, including g */
} CtArrival;

typedef struct CtRun {
    bool reverse;
    bool watched;             /* operations on dual numbers were observed, and `nodes` and `arrivals` are filled in */
    const char *point, *with; /* in JSON; with: tangent or cotangent */
    const char *value, *derivative;
    const char *left;           /* what the forward pass leaves, as text; NULL: nothing */
    const char *term;           /* the term that the reverse pass evaluates, for methods with such a term; or NULL */
    CtStage *accumulated;       /* what the reverse pass accumulates in an environment; or NULL */
    uint64_t forward, backward; /* steps of the passes, including those of observation */
    CT_VEC(CtNode) nodes;
    CT_VEC(CtArrival) arrivals;
    uint64_t more_nodes, more_arrivals; /* numbers of those that were not recorded */
} CtRun;

typedef struct CtExplained {
    CtArena *arena;
    const char *file, *function;
    const char *name; /* of the method */
    const CtMethodInfo *method;
    CT_VEC(CtStage) stages;
    CtRun *run;        /* NULL: no point was given */
    const char *graph; /* of a Delta term over arrays, for Graphviz; or NULL */
} CtExplained;

/* The state of an explanation. */
typedef struct CtExplain {
    cotan_program *program;
    cotan_context *context;
    const cotan_call *call;
    CtMethod method;
    CtArena *arena;
    CtSession *session;
    CtProgram *p;
    CtAd *ad;
    CtGlobal *function; /* (S) → T */
    CtGlobal *written;  /* the function of the source, which differs if it takes several arguments */
    CtExplained *out;
} CtExplain;

/* Makes a session for the function, in whose build nothing has been differentiated. False on an error. */
bool ct_explain_begin(CtExplain *e);
void ct_explain_end(CtExplain *e);
/* False when the build has errors, which are reported. */
bool ct_explain_sound(CtExplain *e);
/* The wrapper of the method around the function: (S) → (T, (T) → S) in reverse mode, (S, S) → (T, T) in forward
 * mode. */
CtGlobal *ct_explain_wrapper(CtExplain *e);
/* Optimises the program as for a run, so that small functions are inlined. D[f] stays, since it may be differentiated
 * again. The build is used up. */
void ct_explain_simplify(CtExplain *e, CtGlobal *wrapper);

/* native_stages.c: adds the stages of the method `native`. False on an error. */
bool ct_explain_native(CtExplain *e);

/* The first hundred lines or so of a text, and the number of lines left out. */
const char *ct_explain_cut(CtArena *arena, const char *text);

/* watched_run.c: fills in e->out->run, and adds the stages that are made at run time. */
bool ct_explain_run(CtExplain *e);
/* The work of a run that adds to an environment, without observation, in a session of its own. */
bool ct_explain_work(CtExplain *e);

/* Runs a global, or the function value `of` of type `type`. False on an error. */
bool ct_explain_call(CtExplain *e, CtGlobal *global, const CtType *type, CtWord of, const CtWord *args, uint32_t count,
                     CtWord *result);
/* Reads call->with or, if that is NULL, a value of ones in the shape of `like`, a JSON text. */
bool ct_explain_read_with(CtExplain *e, const CtType *type, const char *like, uint32_t reals, CtWord *out);

/* ---- chad_cells.c ---- */

/* The additions of `chad`'s reverse pass to the cells of its environment: CHAD 2024 §4.3. */
typedef struct CtCells CtCells;
/* To be called before the wrapper is made; and after its pullback has run, to add what was observed to the run. */
CtCells *ct_explain_cells_watch(CtExplain *e);
void ct_explain_cells_show(CtCells *cells, CtRun *run);
/* Adds the steps of both passes without observation. */
void ct_explain_cells_show_work(CtExplain *e, const CtRun *plain);

/* ---- shared_values.c ---- */

typedef struct CtTypedValue {
    const CtType *type;
    CtWord value;
} CtTypedValue;

/* Prints values with their sharing: an object that occurs more than once gets a name and is printed once. */
typedef struct CtValueWriter {
    CtArena *arena;
    CtProgram *p;
    const char *library; /* module whose names are printed unqualified, or NULL */
    CtMap names;         /* object -> const char *: names given by others */
    const char *whole;   /* objects with this name are printed in full; or NULL */
    CtMap *codes;        /* CtLam * -> CtCode *: texts of functions, shared by all writers */
    CtMap own;           /* object -> CtNamed *: names given here */
    CT_VEC(struct CtNamed *) named;
    uint32_t met;                 /* number of objects visited, which is bounded */
    CT_VEC(struct CtNamed *) all; /* those in `own`, and, from `met` on, others to be used again */
    CT_VEC(CtTypedValue) work;
} CtValueWriter;

/* Forgets the value, so that another one can be visited: in the same memory, for there may be thousands. */
void ct_explain_value_again(CtValueWriter *w);

/* Visits a value that will be printed; to be called before anything is printed. */
void ct_explain_value_look(CtValueWriter *w, const CtType *type, CtWord value);
/* Prints the value itself, even if it has a name. */
void ct_explain_value_write(CtValueWriter *w, CtText *out, const CtType *type, CtWord value);
/* Prints a term of nested `Let name term body`, one Let per line (DELTA Fig. 12). */
void ct_explain_value_write_lets(CtValueWriter *w, CtText *out, const CtType *type, CtWord value);
/* Prints `where` and the named values that were used so far, one per line. */
void ct_explain_value_write_named(CtValueWriter *w, CtText *out);

/* ---- presenting ---- */

/* The width of a text in columns; and the text padded with blanks, at least two. */
size_t ct_explain_columns(const char *text);
void ct_explain_pad(CtText *out, const char *text, size_t columns);
void ct_explain_text(CtText *out, const CtExplained *explained, bool colour);
void ct_explain_html(CtText *out, const CtExplained *explained);
/* A text with the module's qualifier removed from names; `module` may be NULL. */
const char *ct_explain_unqualified(CtArena *arena, const char *text, const char *module);
/* A number rounded for display. */
const char *ct_explain_number(CtArena *arena, double value);

/* A description of how a node was made, such as "mul #1 2.5". */
const char *ct_explain_made(CtArena *arena, const CtNode *node);

/* graph.c: the graph of dual numbers as SVG, drawn by Graphviz, or, where that cannot be run, HTML that says why there
 * is none. */
const char *ct_explain_graph(CtArena *arena, const CtExplained *explained);

/* The entry point: the explanation that `call` asks for, as text or as a page. False on an error. */
bool ct_explain_explain(cotan_program *program, CtArena *arena, const cotan_call *call, CtMethod method,
                        cotan_page form, const char **out);

/* ---- check_derivatives.c ---- */

/* Fills in the result, with rows in `arena`. False on an error; that derivatives disagree is not an error. */
bool ct_explain_check(cotan_program *program, CtArena *arena, const cotan_call *call, CtMethod jvp, CtMethod vjp,
                      cotan_check_result *out);
/* |a − b| divided by the largest of |a|, |b| and `floor`; 0 for two NaNs. */
double ct_explain_relative_difference(double a, double b, double floor);
/* `count` fixed numbers, a different sequence for each `which`, to which no structure of a program is orthogonal by
 * chance. */
CtLeaves ct_explain_weights(CtArena *arena, uint32_t count, int which);
/* Whether a matrix whose rows take this many steps is compared in full; otherwise only its products with some vectors
 * are. */
bool ct_explain_is_compared_in_full(size_t rows, size_t columns, uint64_t steps);

/* ---- sensitivity.c ---- */

/* Fills in the result, with rows in `arena`. False on an error. */
bool ct_explain_sensitivity(cotan_program *program, CtArena *arena, const cotan_call *call,
                            cotan_sensitivity_result *out);

/* ---- compare_methods.c ---- */

/* Fills in the result for `count` methods, with rows in `arena`. False on an error; that methods disagree is not an
 * error. */
bool ct_explain_compare(cotan_program *program, CtArena *arena, const cotan_call *call, const CtMethod *methods,
                        size_t count, cotan_compare_result *out);

#endif
