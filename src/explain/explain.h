/* How a method differentiates a function, shown stage by stage: `cotan explain FILE FUNCTION`.
 *
 * static_stages.c takes the program apart and writes the stages that need no point; watched_run.c runs it at a point,
 * looking on; shared_values.c writes values with their sharing. What they find is a CtExplained, which text.c and
 * html.c present, the latter with the drawing of graph.c. Everything lives in the arena of the
 * program's results.
 */
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

/* A dual number of the run that depends on the point: an input, or the result of an operation on such. */
typedef struct CtNode {
    const char *label; /* "x[0]"; "mul" */
    uint32_t line;     /* of the operation in the user's source; 0: none */
    const CtFields *pair;
    double primal;
    const char *second; /* B */
    uint32_t count;     /* of the operation's arguments; 0 for an input */
    int64_t *args;      /* nodes, or CT_NO_NODE for a constant */
    double *values;     /* the arguments' primals */
    double *partials;
} CtNode;

/* A cotangent that arrives in the reverse pass. */
typedef struct CtArrival {
    int64_t node;      /* CT_NO_NODE: at what is no dual number of the run itself */
    const char *at;    /* then: what it is */
    double g, adjoint; /* adjoint: of the node, with g */
} CtArrival;

typedef struct CtRun {
    bool reverse;
    bool watched;             /* its operations on dual numbers: `nodes` and `arrivals` say something */
    const char *point, *with; /* JSON; with: tangent or cotangent */
    const char *value, *derivative;
    const char *left;           /* by the forward pass, as text; NULL: nothing */
    const char *term;           /* what the reverse pass evaluates, where a method makes such a term; NULL */
    CtStage *accumulated;       /* in an environment, by the reverse pass; NULL */
    uint64_t forward, backward; /* the steps of the passes, those who look on included */
    CT_VEC(CtNode) nodes;
    CT_VEC(CtArrival) arrivals;
    uint64_t more_nodes, more_arrivals; /* that were not kept */
} CtRun;

typedef struct CtExplained {
    CtArena *arena;
    const char *file, *function;
    const char *name; /* of the method */
    const CtMethodInfo *method;
    CT_VEC(CtStage) stages;
    CtRun *run;        /* NULL: no point was given */
    const char *graph; /* of a Delta term on arrays, for Graphviz; NULL */
} CtExplained;

/* What is being explained, for the parts of it. */
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
    CtGlobal *written;  /* the user's own; the same unless it takes several arguments */
    CtExplained *out;
} CtExplain;

/* False when the build has errors, which are reported. */
bool ct_explain_sound(CtExplain *e);
/* The wrapper of the method around the function: (S) → (T, (T) → S) in reverse, (S, S) → (T, T) forward. */
CtGlobal *ct_explain_wrapper(CtExplain *e);
/* The program as it runs: what is small is put in the place of its calls. D[f] is left as it is, since it may be
 * differentiated again. The build is used up. */
void ct_explain_simplify(CtExplain *e, CtGlobal *wrapper);

/* A text as far as anybody reads it: some hundred lines, and how many are left out. */
const char *ct_explain_cut(CtArena *arena, const char *text);

/* watched_run.c: fills e->out->run, and adds the stages that are made when it runs. */
bool ct_explain_run(CtExplain *e);
/* What a run that adds to an environment takes when nobody looks on, in a session of its own. */
bool ct_explain_work(CtExplain *e);

/* ---- chad_cells.c ---- */

/* What the reverse pass of `chad` adds to the cells of its environment: CHAD 2024 §4.3. */
typedef struct CtCells CtCells;
/* To be said before the wrapper is made; and when its pullback has run: what was seen goes into the run. */
CtCells *ct_explain_cells_watch(CtExplain *e);
void ct_explain_cells_show(CtCells *cells, CtRun *run);
/* The steps of both passes when nobody looks on. */
void ct_explain_cells_show_work(CtExplain *e, const CtRun *plain);

/* ---- shared_values.c ---- */

/* Writes values with their sharing: what is met more than once is named and written once. */
typedef struct CtValueWriter {
    CtArena *arena;
    CtProgram *p;
    const char *library; /* the module whose names are written without it, or NULL */
    CtMap names;         /* object -> const char *: named by others */
    const char *whole;   /* objects of this name are written out all the same; NULL */
    CtMap *codes;        /* CtLam * -> CtCode *: how functions are written, for all writers */
    CtMap own;           /* object -> CtNamed *: named here */
    CT_VEC(struct CtNamed *) named;
    uint32_t met; /* objects, up to the most that are looked at */
} CtValueWriter;

/* Looks at a value that will be written, before any is. */
void ct_explain_value_look(CtValueWriter *w, const CtType *type, CtWord value);
/* The value itself, even when it has a name. */
void ct_explain_value_write(CtValueWriter *w, CtText *out, const CtType *type, CtWord value);
/* A term of nested `Let name term body`, a Let on each line (DELTA Fig. 12). */
void ct_explain_value_write_lets(CtValueWriter *w, CtText *out, const CtType *type, CtWord value);
/* `where` and the named values that were written so far, each on its line. */
void ct_explain_value_write_named(CtValueWriter *w, CtText *out);

/* ---- presenting ---- */

/* How many columns a text takes; the text and blanks to fill so many columns, two at least. */
size_t ct_explain_columns(const char *text);
void ct_explain_pad(CtText *out, const char *text, size_t columns);
void ct_explain_text(CtText *out, const CtExplained *explained, bool colour);
/* False when the drawing failed, with an error in the context. */
bool ct_explain_html(CtText *out, CtContext *context, const CtExplained *explained);
/* A text without the module's name before its names; module may be NULL. */
const char *ct_explain_unqualified(CtArena *arena, const char *text, const char *module);
/* A number as a person reads it. */
const char *ct_explain_number(CtArena *arena, double value);

/* "mul #1 2.5": how a node was made. */
const char *ct_explain_made(CtArena *arena, const CtNode *node);

/* graph.c: the dual-number graph as SVG, drawn by Graphviz. NULL with an error in the context. */
const char *ct_explain_graph(CtContext *context, CtArena *arena, const CtExplained *explained);

/* The whole: what is asked for by `call`, as text or as a page. False on an error. */
bool ct_explain_explain(cotan_program *program, CtArena *arena, const cotan_call *call, CtMethod method,
                        cotan_page form, const char **out);

/* ---- check_derivatives.c ---- */

/* Fills the result, its rows in `arena`. False on an error; that derivatives disagree is none. */
bool ct_explain_check(cotan_program *program, CtArena *arena, const cotan_call *call, CtMethod jvp, CtMethod vjp,
                      cotan_check_result *out);
/* |a − b|, relative to the largest of them and `floor`; 0 for two NaNs. */
double ct_explain_relative_difference(double a, double b, double floor);
/* `count` numbers that no structure of a program will be orthogonal to by chance, the same on every run; others for
 * each `which`. */
CtLeaves ct_explain_weights(CtArena *arena, uint32_t count, int which);
/* Whether a matrix is compared in full, of which a row takes so many steps; otherwise its products with some vectors
 * are. */
bool ct_explain_is_compared_in_full(size_t rows, size_t columns, uint64_t steps);

/* ---- compare_methods.c ---- */

/* Fills the result, its rows in `arena`, by `count` methods. False on an error; that methods disagree is none. */
bool ct_explain_compare(cotan_program *program, CtArena *arena, const cotan_call *call, const CtMethod *methods,
                        size_t count, cotan_compare_result *out);

#endif
