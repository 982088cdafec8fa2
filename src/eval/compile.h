/* Private to the evaluator's compiler, which makes three passes over the Core of one λ:
 *
 *   scope.c      visits every binder and gives it a Local
 *   ownership.c  walks backwards; records for each use of a variable whether it is the last one on its path, and for
 *   each branch which variables it does not use
 *   emit*.c      walk forwards, read these records, assign slots and write the instructions
 *
 * The second pass writes its records, the ledger, from the end to the front; the third reads them from the front to the
 * end. So the two must visit the same things in exactly opposite order. The order is: children that are not variables,
 * from left to right; then the children that are variables, from left to right; then what the node binds; then its
 * bodies. */
#ifndef CT_EVAL_COMPILE_H
#define CT_EVAL_COMPILE_H

#include "eval/internal.h"

/* A term nested deeper than OUTLINE_DEPTH becomes a code of its own, called with the variables that it uses. So deep
 * nesting cannot exhaust the C stack. */
enum { NO_SLOT = UINT32_MAX, OUTLINE_DEPTH = 1000 };

typedef enum LocalKind {
    LOCAL_SLOT,    /* a parameter, a let, a field: owned */
    LOCAL_CAPTURE, /* borrowed from the environment */
    LOCAL_ENV,     /* the environment of a LETREC group of this frame; has no variable */
    LOCAL_GROUP,   /* a function of such a group */
    LOCAL_SIBLING, /* a function of the group that the code itself belongs to */
} LocalKind;

typedef struct Local {
    LocalKind kind;
    uint32_t index; /* in Compile.locals */
    CtVar *var;
    bool is_pointer;
    uint32_t level; /* number of enclosing loops at its binding */
    uint32_t capture;
    struct Local *env; /* GROUP: NULL when the group captures nothing */
    CtCode *code;      /* of GROUP and SIBLING; of ENV: the code whose closure it is */
    bool is_live;      /* ownership.c */
    uint32_t stamp;
    uint32_t slot; /* for emission: NO_SLOT if it is a capture that has not been loaded */
} Local;

typedef CT_VEC(uint32_t) Words;

/* A loop being compiled: the locals from outside whose last use is inside. */
typedef struct Loop {
    Words drops;
} Loop;

typedef struct Term Term;

typedef struct Undo { /* for undoing: a capture that was loaded or unloaded, and its slot before */
    Local *local;
    uint32_t slot;
} Undo;

typedef struct Compile {
    Machine *m;
    CtArena *arena;
    CtCode *code;
    CtMap by_var; /* variable's id -> Local */
    CT_VEC(Local *) locals;
    CtMap outlined; /* term -> CtCode */
    CtMap applied;  /* withVjp f rule x, withJvp f rule x, checkpointed f x -> f x, which is all that is run */
    CtMap fused;    /* term -> Fused */
    CtMap terms;    /* term -> Term, of terms that are independent of others (emit_terms.c) */
    CtMap planned;  /* terms whose operands have been looked at for that */
    uint32_t level; /* number of loops around the current term */
    Words ledger;
    /* ownership */
    Words trail; /* locals that became live, in order */
    CT_VEC(Loop) loops;
    uint32_t stamp;
    CT_VEC(CtCore *) chain;
    /* emit */
    uint32_t read; /* number of ledger entries still to be read */
    Words words;
    CT_VEC(Event) events;
    CT_VEC(Place) places;
    CT_VEC(CtObject *) held;
    CT_VEC(Undo) undo;
    uint64_t *used; /* bitmap of slots */
    uint32_t used_words;
    uint32_t slot_count, most_out;
    /* Index of the word that counts the steps of the current straight-line code; NO_SLOT: code->cost. */
    uint32_t cost_at;
    bool heap_full;
} Compile;

/* scope.c */
void ct_eval_compile_scope(Compile *c);
Local *ct_eval_compile_local(Compile *c, const CtVar *var);

/* The code of a term that is nested too deeply, or NULL. */
static inline bool only_applies(const CtCore *e) {
    return e->kind == CORE_DERIV && ct_core_deriv_applies(e->as.call.of.deriv);
}

static inline CtCode *outlined_code(const Compile *c, const CtCore *e) {
    return c->outlined.count == 0 ? NULL : ct_map_get(&c->outlined, ct_key(e));
}

/* ownership.c: fills the ledger. */
void ct_eval_compile_ownership(Compile *c);

/* Which forms both passes treat specially. */
static inline bool is_var(const CtCore *e) { return e->kind == CORE_VAR; }
static inline bool is_literal(const CtCore *e) { return e->kind == CORE_LIT; }
/* A global function, which is called without a closure. */
static inline bool is_global_function(const CtCore *e) {
    return e->kind == CORE_GLOBAL && e->as.global->body->kind == CORE_LAM;
}
/* A λ as function argument of an array operation is compiled into the loop. */
static inline bool is_inline_function(const CtCore *e) { return e->kind == CORE_LAM; }
/* A long right-nested construction, such as a list literal, is built from an array of heads and the tail. */
enum { SPINE_MIN = 6 };
uint32_t ct_eval_compile_spine(const CtCore *e, const CtCore **tail);
/* The index of an array operation's function argument, or −1; and the number of its parameters. */
int ct_eval_array_function_index(CtArrayOp op);

/* The alternatives of a case, in the order in which both passes visit them. Of two of an enumeration the higher comes
 * first (True before False), since comparisons jump where they do not hold. */
typedef struct Alternative {
    CtCore *body;
    CtCon *con; /* NULL: the default */
    CtVar *const *vars;
    uint32_t count;
    Words live;      /* ownership.c: variables from before the branch that it uses */
    uint32_t header; /* emit_case.c: position of its drops in the ledger */
    bool takes;
} Alternative;
Alternative *ct_eval_compile_alternatives(Compile *c, const CtCore *e, uint32_t *count);

/* fuse.c: if e is the root of a fused tree of array operations, the tree and its operands; else NULL. */
const struct Fused *ct_eval_compile_fused(Compile *c, CtCore *e);

/* ---- emit.c: what the emitters share ---- */

typedef struct Operand {
    uint32_t slot;
    bool is_constant; /* only if the caller allows constant scalars */
    CtWord constant;
    bool is_pointer;
    bool taken;      /* the instruction takes it: it is owned */
    bool free_slot;  /* its slot is free afterwards */
    bool drop_after; /* borrowed, and this is its last use */
    Local *local;    /* of a variable, or NULL */
} Operand;

uint32_t ct_eval_emit_expr(Compile *c, CtCore *e, uint32_t want, bool tail);

/* emit_core.c */
void ct_eval_add_word(Compile *c, uint32_t word);
void ct_eval_add_word64(Compile *c, uint64_t word);
static inline void add_pointer(Compile *c, const void *pointer) { ct_eval_add_word64(c, (uint64_t)(uintptr_t)pointer); }
uint32_t ct_eval_begin(Compile *c, Op op, CtSourceRange range);
void ct_eval_event(Compile *c, uint32_t at, EventKind kind, uint32_t slot);
void ct_eval_own(Compile *c, uint32_t slot);
void ct_eval_count_steps(Compile *c, uint32_t steps);
uint32_t ct_eval_slot_new(Compile *c);
void ct_eval_slot_mark(Compile *c, uint32_t slot);
void ct_eval_slot_free(Compile *c, uint32_t slot);
uint32_t ct_eval_slot_top(const Compile *c);
uint32_t ct_eval_next_entry(Compile *c);
/* Reads the record of the next use, which must be of `local`: whether it is the last. */
bool ct_eval_next_last(Compile *c, const Local *local);
/* Loads a capture into a slot. */
void ct_eval_load_capture(Compile *c, Local *local);
void ct_eval_drop_slot(Compile *c, uint32_t slot);
/* Drops an operand whose slot may be NULL by now, because a result was made in its memory. */
void ct_eval_drop_some(Compile *c, const Operand *op);
/* Drops a local that is not used any more. */
void ct_eval_drop_local(Compile *c, Local *local);
/* Binds a variable to an owned value; an unused value is dropped at once. */
void ct_eval_bind_slot(Compile *c, const CtVar *var, uint32_t slot, bool used);
void ct_eval_load_literal(Compile *c, uint32_t slot, CtCore *lit);
CtWord ct_eval_literal_word(const CtCore *lit);
void ct_eval_hold(Compile *c, CtObject *object);

/* Evaluates the operands of an instruction. `take`: they must be owned. `constants`: literals may stay constants. */
void ct_eval_operands(Compile *c, CtCore *const *args, uint32_t count, bool take, bool constants, Operand *out);
/* The two halves of ct_eval_operands: children that are not variables, then the variables. */
void ct_eval_operand_value(Compile *c, CtCore *e, bool take, bool constants, Operand *out);
void ct_eval_operand_var(Compile *c, const CtVar *var, CtSourceRange range, bool take, Operand *out);
/* Evaluates a single child. */
void ct_eval_operand(Compile *c, CtCore *e, bool take, Operand *out);
/* An owned value in a slot as an operand. */
Operand ct_eval_operand_slot(uint32_t slot, bool is_pointer, bool take);
/* The slot of the result: `want`, unless a borrowed operand in it must still be dropped. Slots of operands that end
 * here become free. */
uint32_t ct_eval_result_slot(Compile *c, uint32_t want, const Operand *ops, uint32_t count);
/* Ends the instruction that began at `start`: taken operands are gone, the result is owned, operands borrowed for the
 * last time are dropped, and the result moves to `want`. Returns the slot of the result; dest NO_SLOT: there is
 * none. */
uint32_t ct_eval_finish(Compile *c, uint32_t start, uint32_t dest, uint32_t want, bool is_pointer, const Operand *ops,
                        uint32_t count);

/* A branch: the state before it, from which every alternative starts. */
typedef struct Branch {
    uint64_t *used;
    uint32_t used_words;
    uint32_t undo;
    Words joins; /* jumps to the end, to be patched */
    uint32_t cost_at;
} Branch;
void ct_eval_branch_begin(Compile *c, Branch *b);
void ct_eval_branch_next(Compile *c, Branch *b);
void ct_eval_branch_end(Compile *c, Branch *b);
void ct_eval_patch(Compile *c, uint32_t word, uint32_t start);

/* emit_call.c */
uint32_t ct_eval_emit_app(Compile *c, CtCore *e, uint32_t want, bool tail);
/* A call with arguments in slots: of a known code (fun NULL), or of a closure, which is taken. */
uint32_t ct_eval_emit_call(Compile *c, CtSourceRange range, CtCode *code, const Operand *fun, const Operand *args,
                           uint32_t count, uint32_t want, bool is_pointer);
/* attempt f x instead, whose type is one of objects. */
uint32_t ct_eval_emit_attempt(Compile *c, CtCore *e, uint32_t want);
uint32_t ct_eval_emit_delay(Compile *c, CtCore *e, uint32_t want);
uint32_t ct_eval_emit_force(Compile *c, CtCore *e, uint32_t want);
uint32_t ct_eval_emit_knot(Compile *c, CtCore *e, uint32_t want);
uint32_t ct_eval_emit_outlined(Compile *c, CtCode *code, CtCore *e, uint32_t want, bool tail);
uint32_t ct_eval_emit_closure(Compile *c, CtCore *e, uint32_t want);
/* A function of a group as a value. */
uint32_t ct_eval_emit_group_value(Compile *c, Local *local, CtSourceRange range, uint32_t want);
void ct_eval_emit_group_env(Compile *c, CtCore *letrec);
uint32_t ct_eval_emit_constant(Compile *c, CtCore *e, uint32_t want);
uint32_t ct_eval_emit_dual(Compile *c, CtCore *e, uint32_t want);

/* emit_span.c: generates nothing unless the evaluator shares loops among threads or measures spans. */
typedef struct Span {
    bool measured;
    uint32_t begin, best, mark; /* slots */
} Span;
void ct_eval_span_begin(Compile *c, Span *s, CtSourceRange range);
/* To be called when the loop has made the array in slot `out`. */
void ct_eval_span_end(Compile *c, Span *s, uint32_t out);
void ct_eval_span_free(Compile *c, const Span *s);

/* emit_terms.c: determines which calls and loops in the values of a chain of lets, and at its end, are independent. */
void ct_eval_terms_plan(Compile *c, CtCore *e);
/* ct_eval_emit_expr for such a value or operand, with the instructions that measure its span. */
uint32_t ct_eval_emit_term(Compile *c, CtCore *e, uint32_t want);
/* To be called when the arguments of a call have been evaluated. */
void ct_eval_term_begin(Compile *c, const CtCore *call);

/* emit_case.c */
uint32_t ct_eval_emit_case(Compile *c, CtCore *e, uint32_t want, bool tail);
/* Loads the used fields of an object; takes the object if this is its last use. */
void ct_eval_emit_open(Compile *c, CtSourceRange range, const Operand *object, CtVar *const *vars, CtType *const *types,
                       uint32_t count, const bool *used);
uint32_t ct_eval_emit_proj(Compile *c, CtCore *e, uint32_t want);
/* A primitive of scalars. Of a comparison, ct_eval_emit_compare only evaluates the operands and emits an instruction
 * that jumps where it does not hold; it returns the position of the jump word. */
uint32_t ct_eval_emit_prim(Compile *c, CtCore *e, uint32_t want);

/* emit_array.c, emit_loop.c, emit_fused.c */
uint32_t ct_eval_emit_array(Compile *c, CtCore *e, uint32_t want);
uint32_t ct_eval_emit_array_literal(Compile *c, CtCore *e, uint32_t want);
uint32_t ct_eval_emit_spine(Compile *c, CtCore *e, uint32_t want);
uint32_t ct_eval_emit_loop(Compile *c, CtCore *e, uint32_t want);
uint32_t ct_eval_emit_fused(Compile *c, CtCore *e, const struct Fused *fused, uint32_t want);

#endif
