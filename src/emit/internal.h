/* Private to src/emit. */
#ifndef CT_EMIT_INTERNAL_H
#define CT_EMIT_INTERNAL_H

#include "emit/emit.h"
#include "flow/analysis/analysis.h"

typedef struct RowPlace {              /* the final place of a row that is built directly inside its array of rows */
    const char *array, *count, *index; /* the array of rows, its number of rows, and the index of this row */
    const char *length;                /* length of the row */
    const CtFlowArg *chosen;           /* the same, of a row that the branches of a switch make; else NULL */
    bool is_given;                     /* the array of rows is a result of the program: streaming.c */
} RowPlace;

/* What a variable is of a row that is put together from parts: joined_rows.c. */
typedef enum JoinRole { JOIN_NOT, JOIN_PART, JOIN_HELD, JOIN_WHOLE, JOIN_FILLS } JoinRole;

typedef struct Use { /* what is known of a variable, and how it is written in C */
    uint32_t count;
    const CtFlowBlock *block; /* the block of the last use */
    bool is_held;             /* it may be kept, or changed: a step does more than look at its lengths and elements */
    bool is_test;             /* the result of a comparison */
    const char *text;         /* its text in C; NULL: not bound yet */
    bool is_atom;             /* the text needs no parentheses */
    bool is_pending;          /* the text has not been written yet; it will be inlined into its one use */
    bool reads;               /* the text reads memory, and must be written before that memory changes */
    const char *data;         /* of an array used in a loop: the C variable that points to its elements; or NULL */
    const char *own;          /* of an array that a loop updates in place: the pointer to its elements; or NULL */
    const char *lengths;      /* of such an array: NAME, when its lengths are in the variables NAME_n1, …; or NULL */
    /* An object that a part of a loop borrows from outside, and does not count references to. Elements and fields
     * that are read from it are borrowed too, or are views. */
    bool lent;
    bool is_bare; /* a node without fields, of which each run has one shared instance: `text` asks the run for it */
    bool copied;  /* a node from outside of which the part of a loop has made its own copy */
    RowPlace *place;
    const char *queue; /* of a cell: the C variable that queues those that are left out: sliding.c; or NULL */
    /* JOIN_PART: its step waits; JOIN_HELD: only its release does; JOIN_WHOLE: the row itself; JOIN_FILLS: a row of
     * equal numbers that is never made, `text` is its length and its element. */
    JoinRole join;
    const CtFlowStep *literal; /* LITERALS or STRING that makes it, in the block of a function: tables.c */
} Use;

typedef struct Emit {
    CtFlow *flow;
    CtArena *arena;
    CtText *out;
    const char *prefix; /* of all external names in the file */
    int depth;
    CtFlowFunction *function;
    Use *uses;                /* by variable number */
    CT_VEC(Use *) spare_uses; /* as many of them each, to be used again: functions.c */
    uint32_t offset;          /* added to variable numbers in names, because the functions of a group share a scope */
    CT_VEC(CtFlowVar *) pending;
    CT_VEC(const char *) queues; /* of the function: sliding.c */
    const CtFlowBlock *block;
    uint32_t line; /* the last source line that was written */
    const char **function_names;
    uint32_t *offsets;                   /* of each function */
    CT_VEC(const CtFlowTypes *) results; /* structs that return several results */
    uint32_t temporaries;
    bool reading; /* the text written last reads memory */
    /* vector.h */
    struct Lane *lanes; /* the vectorised loop that is being written: what each variable is in it; NULL: none */
    CT_VEC(struct Lane *) spare_lanes; /* to be used again */
    CtMap left;                        /* branches, CtFlowBlock *, where a vectorised loop is left for the scalar one */
    CT_VEC(const CtFlowStep *) skipped;
    const char *leave; /* the label behind the loop */
    bool leaves;       /* there is a jump to that label */
    bool masks_rest;   /* a last vector, of which some lanes have no iteration, takes the place of scalar iterations: */
    const char *rest;  /* the number of its iterations, while it is being written; NULL */
    /* Inside a branch whose condition differs between lanes: the mask of active lanes; NULL: all are active. */
    const char *taken;
    const bool *telling;                 /* by functions' numbers: ct_flow_telling */
    CT_VEC(const CtFlowBlock *) look_in; /* branches in which the function looks, not on entry: pauses.c */
    const CtFlowBlock *decided;          /* the branch that is known to be taken, where the rest is written */
    const CtFlowBlock *far;              /* the branch that the start of a function leaves to the rest: pauses.c */
    bool *calls_itself;
    bool *looks;              /* by functions' numbers: it looks on entry whether the run is to end: pauses.c */
    bool one_by_one;          /* the scalar remainder, or a loop around, is being written */
    bool exact;               /* floating-point sums keep their order */
    bool debug;               /* indices are compared with lengths: rt/debug.h */
    bool streams;             /* the loop that is being written uses non-temporal stores */
    const CtFlowStep *pieced; /* the loop that is being written in parts: pieces.c; NULL: none */
    CtFlowTests tests;        /* tests whose outcome is known in the part, and it */
    bool holds[CT_MOST_TESTS];
    bool *live; /* by variable number: it is used in this copy of the part; NULL: the loop is not written in copies */
    /* shared_loops.h */
    const CtFlowStep *part; /* the loop a part of which is being written; NULL: none */
    double *work;           /* of functions' bodies: loop_work.c */
    bool in_loop;           /* the function's code being written is inside a loop */
    uint32_t shares;
    CtText parts; /* functions of C for the parts of this function's loops */
} Emit;

/* expressions.c */
const char *ct_emit_type(const CtFlowType *type);
char ct_emit_letter(const CtFlowType *type); /* of the word's union member: f, i, p */
const char *ct_emit_name(Emit *e, const CtFlowVar *var);
/* A valid C identifier made from a name. */
const char *ct_emit_plain(CtArena *arena, const char *name);
/* An argument in C. As an operand it is put in parentheses where needed. */
const char *ct_emit_arg(Emit *e, const CtFlowArg *arg);
const char *ct_emit_operand(Emit *e, const CtFlowArg *arg);
/* The same, as a pointer to ct_object. */
const char *ct_emit_object(Emit *e, const CtFlowArg *arg);
void ct_emit_prim(Emit *e, const CtFlowStep *step);
/* Fills in a template with operands A and B. */
typedef const char *CtEmitOperand(Emit *e, const CtFlowArg *arg, bool apart);
const char *ct_emit_substitute(Emit *e, const char *text, const CtFlowArgs *args, CtEmitOperand *operand);
const char *ct_emit_string_literal(CtArena *arena, const char *text);
/* Binds a scalar to an expression. The expression is inlined when the variable is used once and nearby; otherwise a C
 * variable is declared. */
void ct_emit_bind(Emit *e, CtFlowVar *var, const char *text, bool is_atom, bool reads);
/* Binds a scalar to a C variable in any case; the text may be the name of an existing one. */
void ct_emit_declare(Emit *e, CtFlowVar *var, const char *text);
void ct_emit_alias(Emit *e, const CtFlowVar *var, const char *name);
/* Writes all pending expressions, or only those that read memory. */
void ct_emit_flush(Emit *e, bool only_reads);
/* The site of a failing step; and the site that is passed to a callee that takes its call site. */
const char *ct_emit_site(Emit *e, CtSourceRange range);
const char *ct_emit_place(Emit *e, CtSourceRange range);

/* steps.c */
void ct_emit_line(Emit *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ct_emit_block(Emit *e, const CtFlowBlock *block, const CtFlowStep *owner);
void ct_emit_step(Emit *e, CtFlowStep *step);
/* Parallel assignment: variables = texts. */
void ct_emit_assign(Emit *e, const char *const *names, const char *const *texts, const CtFlowType *const *types,
                    uint32_t count);

/* loop_parts.c: binds an object that is read from a borrowed one. */
void ct_emit_lent(Emit *e, CtFlowVar *var, const char *text);

/* array_steps.c, loops.c */
/* A pointer to the elements of an array. */
const char *ct_emit_data(Emit *e, const CtFlowArg *array);
/* The element type of that pointer when it is a C variable. It is not the word union, through which gcc's alias
 * analysis cannot separate loads from stores, so that it would not vectorise. */
const char *ct_emit_pointer_type(const CtFlowType *array);
/* The element at a position, as an expression that can be read or assigned. */
const char *ct_emit_item(Emit *e, const CtFlowArg *array, const char *position);
/* The text of an index, or of an index below a length where `count` elements are read: as it is, or in the debug form
 * of the runtime compared with the length. */
const char *ct_emit_index(Emit *e, const char *index, const char *array);
const char *ct_emit_below(Emit *e, const char *index, const char *count, const char *length);
/* Declares C variables NAME_n1, … for the lengths of an array from the second dimension on; `text` is the array. */
void ct_emit_lengths(Emit *e, const CtFlowVar *array, const char *text, const char *name);
void ct_emit_loop(Emit *e, CtFlowStep *step);
void ct_emit_array_step(Emit *e, CtFlowStep *step);

/* Whether a loop checks for an interrupt, in each iteration or each eighth. */
bool ct_emit_asks(const Emit *e, const CtFlowStep *loop);

/* folds.c: the step that computes a carried value; of one that an inner loop carries on, the step in that loop. */
const CtFlowStep *ct_emit_last_fold(const CtFlowBlock *block, const CtFlowVar *value);
/* Whether a value is the carried variable after folding, ((carried ∘ a) ∘ b) …, if need be in inner loops that go on
 * with it, and no intermediate result is used otherwise. */
bool ct_emit_is_folded(const Emit *e, const CtFlowBlock *block, const CtFlowVar *param, const CtFlowVar *value,
                       CtPrim prim, bool commutes);

/* owned_arrays.c: whether a loop uses a carried array only to read elements and to update it in place. `chain` receives
 * the variables that hold the array on its way through the block. */
bool ct_emit_own_chain(Emit *e, const CtFlowStep *loop, uint32_t index, CtFlowVars *chain);
/* Before the first iteration, makes such arrays unshared. `names`: of the carried variables. */
void ct_emit_own_carried(Emit *e, const CtFlowStep *loop, const char *const *names);
/* Writes an update of such an array; false for other arrays. */
bool ct_emit_update_own(Emit *e, const CtFlowStep *step, const char *index);

/* independent.c: whether the iterations of a loop are independent, or those of the copy of it that is being written. */
bool ct_emit_keeps_apart(const Emit *e, const CtFlowStep *loop);

/* pieces.c: a loop that reads two arrays as one (ct_flow_is_pieced) is written in parts, each a range of iterations.
 * ct_emit_part_begin begins what is done for each part of the range from `from` to `to`, ct_emit_part_end ends it. In
 * between, ct_emit_pieced_read writes such a read; false for other steps. */
typedef struct PiecedPart {
    const CtFlowStep *loop;
    const char *begin, *end; /* the range of a part, C variables */
} PiecedPart;
PiecedPart ct_emit_part_begin(Emit *e, const CtFlowStep *loop, const char *from, const char *to);
void ct_emit_part_end(Emit *e, const PiecedPart *part);
bool ct_emit_pieced_read(Emit *e, const CtFlowStep *step);
/* Writes the iterations of a part once for each way in which the tests that part the loop may turn out. There,
 * ct_emit_part_test binds such a test, and ct_emit_part_choice tells which branch of a switch all iterations take. */
void ct_emit_part_copies(Emit *e, const PiecedPart *part, void (*write)(Emit *, void *), void *data);
bool ct_emit_part_test(Emit *e, const CtFlowStep *step);
/* Whether a step is not needed in the copy, because of the branches that are not taken. */
bool ct_emit_part_leaves_out(const Emit *e, const CtFlowStep *step);
bool ct_emit_part_choice(const Emit *e, const CtFlowStep *step, uint32_t *which);

/* reuse_dying.c: an array of numbers, by index among them, that dies with the loop and that the loop reads only at its
 * own index, so that the loop's result may be written over it. NULL: there is none. */
CtFlowVar *ct_emit_ending(const Emit *e, const CtFlowStep *loop, uint32_t index);

/* joined_rows.c: whether a row of numbers that an iteration yields, and that is not used otherwise, is put together
 * from rows of arrays from outside, numbers, and other arrays. Then ct_emit_joined, asked for each step of the
 * iteration, does what is to be done for steps that belong to the row, and returns true for these. The row's place is
 * given to the variable first. */
bool ct_emit_join_begin(Emit *e, const CtFlowBlock *block, const CtFlowVar *row);
bool ct_emit_joined(Emit *e, CtFlowStep *step);

/* tables.c: literals of a function's block that are rows of a table wait for the step that lists them. */
void ct_emit_tables_begin(Emit *e, const CtFlowBlock *block);
bool ct_emit_table(Emit *e, const CtFlowStep *step);

/* sliding.c: declares the queues of cells that a function leaves out, in front of its loop; frees what is in them where
 * the function ends. */
void ct_emit_find_sliding(Emit *e);
void ct_emit_free_left_out(Emit *e);

/* streaming.c: whether an array is a result of the program and is not used otherwise. */
bool ct_emit_is_given(const Emit *e, const CtFlowVar *array);
/* Whether a loop's result, or the array that the result is a row of, is such an array with a length known only at run
 * time, so that it may be written with non-temporal stores. ct_emit_streams: whether the loop has any such result. */
bool ct_emit_is_streamed(const Emit *e, const CtFlowStep *loop, const CtFlowVar *array);
bool ct_emit_streams(const Emit *e, const CtFlowStep *loop);
/* The number of arrays that a loop walks over, including its results; with `is_row`, those it walks over along a
 * row. */
uint32_t ct_emit_walked(const CtFlowStep *loop, bool is_row);

/* pauses.c */
void ct_emit_find_pauses(Emit *e);
/* In which branches of the function it looks, rather than on entry: e->look_in. */
void ct_emit_find_looks(Emit *e);
const CtFlowBlock *ct_emit_far_branch(const Emit *e);
bool ct_emit_is_decided(Emit *e, const CtFlowStep *step);
bool ct_emit_looks_in(const Emit *e, const CtFlowBlock *block);
/* Whether each iteration of the tail recursion that is being written calls a function that looks. */
bool ct_emit_turns_look(const Emit *e);

/* functions.c */
/* Keeps what is known of all variables, to go back to it until it is forgotten. */
Use *ct_emit_keep_uses(Emit *e);
void ct_emit_go_back(Emit *e, const Use *kept);
void ct_emit_forget_uses(Emit *e, Use *kept);
void ct_emit_go_far(Emit *e);
const char *ct_emit_result_type(Emit *e, const CtFlowTypes *results);
/* The name of a parameter inside the function's body; and the label where the body of a function in a tail-call group
 * begins. */
const char *ct_emit_param(Emit *e, const CtFlowFunction *function, uint32_t index);
const char *ct_emit_label(Emit *e, const CtFlowFunction *function);
void ct_emit_function_names(Emit *e);
void ct_emit_prototypes(Emit *e);
/* Writes a function; with the first function of a group, all of the group. */
void ct_emit_function(Emit *e, CtFlowFunction *function);
/* Whether an identifier occurs in a text. */
bool ct_emit_mentions(const char *text, const char *name);

#endif
