/* Private to the folder that writes C. */
#ifndef CT_EMIT_INTERNAL_H
#define CT_EMIT_INTERNAL_H

#include "emit/emit.h"

typedef struct RowPlace {              /* of a row that is made where it belongs */
    const char *array, *count, *index; /* the array of rows, how many there will be, which one it is */
    const char *length;                /* of the row */
    bool is_given;                     /* the array of rows is: streaming.c */
} RowPlace;

typedef struct Use { /* of a variable */
    uint32_t count;
    const CtFlowBlock *block; /* of the last one */
    bool is_test;             /* the result of a comparison */
    const char *text;         /* how it is written now; NULL: not bound yet */
    bool is_atom;             /* the text needs no parentheses */
    bool is_pending;          /* an expression that stands nowhere yet */
    bool reads;               /* it looks at memory, and must stand before that changes */
    const char *data;         /* of an array: the variable of C that points to its elements, in a loop; or NULL */
    const char *own;          /* of an array that is changed in place in a loop: the pointer to its elements; or NULL */
    const char *lengths;      /* of such an array: NAME, where its lengths are NAME_n1, …; or NULL */
    bool lent; /* an object from outside of a part of a loop, which the part does not count: elements and fields of it
                  are lent too, or views */
    uint32_t bare; /* of a constructor without fields, which each run has of its own: its number + 1 */
    bool copied;   /* a node from outside of a part that the part makes its own */
    RowPlace *place;
} Use;

typedef struct Emit {
    CtFlow *flow;
    CtArena *arena;
    CtText *out;
    const char *prefix; /* of what has a name in the file */
    int depth;
    CtFlowFunction *function;
    Use *uses;       /* by the variables' numbers */
    uint32_t offset; /* added to them in names: functions of a group share a scope */
    CT_VEC(CtFlowVar *) pending;
    const CtFlowBlock *block;
    uint32_t line; /* the last that was told */
    const char **function_names;
    uint32_t *offsets;                   /* of each function */
    CT_VEC(const CtFlowTypes *) results; /* the structs of several results */
    uint32_t temporaries;
    bool reading; /* what was written last looks at memory */
    /* vector.h */
    struct Lane *lanes; /* of the loop vectorised that is being written, what each variable is; NULL: none */
    CT_VEC(const CtFlowStep *) skipped;
    const char *leave; /* the label behind it */
    bool leaves;       /* it is gone to */
    const char *taken; /* in a branch on what differs: the mask of the lanes that take it; NULL: all do */
    bool one_by_one;   /* the iterations that are left, or a loop around: no lanes */
    bool exact;        /* sums keep their order */
    bool streams;      /* the loop that is being written writes past the cache */
    /* shared_loops.h */
    const CtFlowStep *part; /* the loop of which a part is being written; NULL: none */
    bool in_loop;           /* of a function, in any loop */
    uint32_t shares;
    CtText parts; /* the functions that are parts of this one's loops */
} Emit;

/* expressions.c */
const char *ct_emit_type(const CtFlowType *type);
char ct_emit_letter(const CtFlowType *type); /* of the word: f, i, p */
const char *ct_emit_name(Emit *e, const CtFlowVar *var);
/* A plain identifier made of a name. */
const char *ct_emit_plain(CtArena *arena, const char *name);
/* An argument as C; as an operand, in parentheses where it needs them. */
const char *ct_emit_arg(Emit *e, const CtFlowArg *arg);
const char *ct_emit_operand(Emit *e, const CtFlowArg *arg);
/* The same as an object of a struct of C. */
const char *ct_emit_object(Emit *e, const CtFlowArg *arg);
void ct_emit_prim(Emit *e, const CtFlowStep *step);
/* A template, with its operands A and B put in. */
typedef const char *CtEmitOperand(Emit *e, const CtFlowArg *arg, bool apart);
const char *ct_emit_substitute(Emit *e, const char *text, const CtFlowArgs *args, CtEmitOperand *operand);
/* The type of a variable where it is declared; an argument as the value of one: vectorised they may be others. */
const char *ct_emit_var_type(const Emit *e, const CtFlowVar *var);
const char *ct_emit_as(Emit *e, const CtFlowVar *to, const CtFlowArg *arg);
const char *ct_emit_string_literal(CtArena *arena, const char *text);
/* Binds a scalar to an expression: written where it is used, if that is once and near; or as a variable. */
void ct_emit_bind(Emit *e, CtFlowVar *var, const char *text, bool is_atom, bool reads);
/* The same as a variable in any case, or as an alias of one. */
void ct_emit_declare(Emit *e, CtFlowVar *var, const char *text);
void ct_emit_alias(Emit *e, const CtFlowVar *var, const char *name);
/* Writes what is pending; only what reads memory. */
void ct_emit_flush(Emit *e, bool only_reads);
/* Where a failure of a step is told; the place that a callee is given. */
const char *ct_emit_site(Emit *e, CtSourceRange range);
const char *ct_emit_place(Emit *e, CtSourceRange range, bool tail);

/* steps.c */
void ct_emit_line(Emit *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ct_emit_block(Emit *e, const CtFlowBlock *block, const CtFlowStep *owner);
void ct_emit_step(Emit *e, CtFlowStep *step);
/* The arguments of a call of a function of Flow, with what goes before them. */
const char *ct_emit_call(Emit *e, const CtFlowFunction *callee, const CtFlowArgs *args, const char *place);
/* variables = texts, all at once. */
void ct_emit_assign(Emit *e, const char *const *names, const char *const *texts, const CtFlowType *const *types,
                    uint32_t count);

/* loop_parts.c: binds an object that is found in one that is lent. */
void ct_emit_lent(Emit *e, CtFlowVar *var, const char *text);

/* arrays.c, loops.c */
/* The elements of an array, as a pointer. */
const char *ct_emit_data(Emit *e, const CtFlowArg *array);
/* What that points to, where it is a variable of C. Through a pointer to words, which are unions, gcc cannot tell that
 * what it reads is what it writes back, and makes no vectors. */
const char *ct_emit_pointer_type(const CtFlowType *array);
/* The element at a position, as a value or to be written to. */
const char *ct_emit_item(Emit *e, const CtFlowArg *array, const char *position);
/* Variables of C for the lengths of an array from the second on, NAME_n1, …; `text` is the array. */
void ct_emit_lengths(Emit *e, const CtFlowVar *array, const char *text, const char *name);
void ct_emit_loop(Emit *e, CtFlowStep *step);
void ct_emit_array_step(Emit *e, CtFlowStep *step);

/* Whether a loop looks at each iteration, or eight, whether the run is to stop. */
bool ct_emit_asks(const Emit *e, const CtFlowStep *loop);

/* owned_arrays.c: whether a loop only reads elements of the array that it carries there and changes them in place; the
 * names that the array has on its way. */
bool ct_emit_own_chain(Emit *e, const CtFlowStep *loop, uint32_t index, CtFlowVars *chain);
/* Makes arrays that a loop only changes in place its own, before its first iteration. `names`: of what is carried. */
void ct_emit_own_carried(Emit *e, const CtFlowStep *loop, const char *const *names);
/* Writes to such an array; false when it is none. */
bool ct_emit_update_own(Emit *e, const CtFlowStep *step, const char *index);

/* independent.c: whether the iterations of a loop may be taken side by side. */
bool ct_emit_keeps_apart(CtArena *arena, const CtFlowStep *loop);

/* reuse_dying.c: an array, the one of this number, that ends with a loop which reads it at its own index: what the loop
 * makes may take its place. NULL: there is none. */
CtFlowVar *ct_emit_ending(const Emit *e, const CtFlowStep *loop, uint32_t index);

/* streaming.c: whether an array is one that the program gives and does nothing else with. */
bool ct_emit_is_given(const Emit *e, const CtFlowVar *array);
/* Whether what a loop makes is, or is a row of, such an array, of as many numbers as only the run can tell: it may be
 * written past the cache. Whether a loop makes any. */
bool ct_emit_is_streamed(const Emit *e, const CtFlowStep *loop, const CtFlowVar *array);
bool ct_emit_streams(const Emit *e, const CtFlowStep *loop);
/* How many arrays a loop walks over, those that it makes among them; with `is_row`, along a row: how many of rows. */
uint32_t ct_emit_walked(const CtFlowStep *loop, bool is_row);

/* functions.c */
const char *ct_emit_result_type(Emit *e, const CtFlowTypes *results);
/* A parameter of a function, as its body names it; where a function that ends in others of its group begins. */
const char *ct_emit_param(Emit *e, const CtFlowFunction *function, uint32_t index);
const char *ct_emit_label(Emit *e, const CtFlowFunction *function);
void ct_emit_function_names(Emit *e);
void ct_emit_prototypes(Emit *e);
/* A function; of a group, all of them with the first. */
void ct_emit_function(Emit *e, CtFlowFunction *function);
/* Whether a name stands in a text. */
bool ct_emit_mentions(const char *text, const char *name);

#endif
