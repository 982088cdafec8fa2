/* The evaluator, which is the reference for the meaning of Core.
 *
 * It compiles each λ on first use to a compact code, and runs it on a stack of its own: recursion depth is bounded by
 * memory, and tail calls take no stack. Values are moved at their last use and updated in place if unshared. Steps are
 * counted by the cost model of docs/cost-model.md. */
#ifndef CT_EVAL_EVAL_H
#define CT_EVAL_EVAL_H

#include "ad/ad.h"
#include "base/pool.h"
#include "value/value.h"

typedef struct CtEval CtEval;

typedef struct CtEvalLimits { /* 0: no limit */
    uint64_t steps;
    size_t memory;  /* bytes of heap and stack together */
    uint64_t depth; /* calls that have not returned */
} CtEvalLimits;

typedef struct CtEvalStats {
    uint64_t steps;
    uint64_t span; /* the steps on the longest chain of dependencies, if measured (docs/cost-model.md) */
    size_t peak_memory;
    uint64_t max_depth;
} CtEvalStats;

/* A new evaluator for a program whose derivatives are expanded. It owns a heap. NULL when memory runs out. */
CtEval *ct_eval_new(CtProgram *program, CtAd *ad, CtEvalLimits limits);
void ct_eval_free(CtEval *eval);
CtHeap *ct_eval_heap(CtEval *eval);

/* Calls the function `global` with `args` (taken, also on failure); for a constant (count 0) it returns the value.
 * False on a run-time error, which is added to the context with its source range; everything the run had allocated is
 * released, and the evaluator can be used again. The caller owns the result. */
bool ct_eval_call(CtEval *eval, CtGlobal *global, const CtWord *args, uint32_t count, CtWord *result);
/* Calls a function value (borrowed) of type `type`. */
bool ct_eval_apply(CtEval *eval, CtType *type, CtWord function, const CtWord *args, uint32_t count, CtWord *result);

/* The shape of a value, for ct_bulk_derive_at, in the arena of the program; and as text, valid until the next call.
 * False when memory runs out. */
bool ct_eval_shape(CtEval *eval, const CtType *type, CtWord value, CtForm **form, const char **key);

/* Lets loops with independent elements use the threads of a pool (borrowed); results, steps and errors stay the same.
 * Only one run at a time may use a pool. To be called before the first run; false when memory runs out. */
bool ct_eval_share(CtEval *eval, CtPool *pool);
/* To be called before the pool is freed: from now on one thread is used. */
void ct_eval_alone(CtEval *eval);
/* Turns on the measuring of spans; to be called before the first run. */
void ct_eval_measure(CtEval *eval);

/* An observer of calls. `wants` is asked once for every function, when it is compiled. For functions that it wants,
 * `called` is called before each call begins, with the object that holds the captured values (NULL: none) and the
 * arguments, all borrowed. Neither may use the evaluator. Other functions are not slowed down, and no steps are
 * counted. */
typedef struct CtWatch {
    bool (*wants)(void *data, const CtGlobal *global, const CtLam *lam); /* global is NULL for a λ inside a function */
    void (*called)(void *data, const CtGlobal *global, const CtLam *lam, CtObject *env, const CtWord *args);
    void *data;
} CtWatch;
/* Sets the observer (copied); to be called before the first run. */
void ct_eval_watch(CtEval *eval, CtWatch watch);

/* What ends a run: the first operation on numbers, none of which is such a number, that makes a NaN; with
 * CT_TRAP_INFINITE, or an infinity. The error is E0515, and says if the run is that of a derivative. To be called
 * before the first run. */
typedef enum CtTrap { CT_TRAP_NONE, CT_TRAP_NAN, CT_TRAP_INFINITE } CtTrap;
void ct_eval_trap(CtEval *eval, CtTrap trap, bool in_derivative);
/* The λ of a function value. */
const CtLam *ct_eval_lam(CtWord function);

/* Where a run spends its steps and its time: a tree of calls. A node is a function, or a λ in one, at a place of it. */
typedef struct CtProfileNode {
    uint32_t parent, child, next; /* child: the first one; next: of the same parent; 0: none, and node 0 is the root */
    const CtGlobal *global;       /* NULL for a λ inside a function */
    const CtLam *lam;             /* NULL for a constant */
    CtSourceRange place;
    uint64_t steps, nanoseconds; /* without those of the nodes below */
} CtProfileNode;
typedef struct CtProfile CtProfile;
/* NULL when memory runs out. */
CtProfile *ct_eval_profile_new(void);
void ct_eval_profile_free(CtProfile *profile);
/* They belong to the profile. */
const CtProfileNode *ct_eval_profile_nodes(const CtProfile *profile, uint32_t *count);
/* Collects a profile (borrowed) of what runs from now on, on one thread, until this is called with NULL. */
void ct_eval_profile(CtEval *eval, CtProfile *profile);

/* Statistics of the last call; steps accumulate until reset. */
CtEvalStats ct_eval_stats(const CtEval *eval);
void ct_eval_reset_stats(CtEval *eval);
/* Sets another limit on steps (0: none) for runs after the next reset. */
void ct_eval_limit_steps(CtEval *eval, uint64_t steps);
/* When a run has done more than `after` steps, `ask` is called; if it returns true the run ends with E0802. It is
 * called again after *pause more steps, unless it leaves that at 0. The run waits meanwhile; `ask` must not use the
 * same evaluator or its program. */
typedef struct CtQuestion {
    uint64_t after;
    bool (*ask)(void *data, uint64_t *pause); /* NULL: nothing is asked */
    void *data;
} CtQuestion;
/* For the next run. */
void ct_eval_ask(CtEval *eval, CtQuestion question);
/* What runs may ask of the world (borrowed; rt/run.h); NULL: nothing. */
struct ct_effects;
void ct_eval_effects(CtEval *eval, struct ct_effects *effects);
/* Keeps about the number of steps done in `clock` (borrowed), which other threads may read. */
void ct_eval_clock(CtEval *eval, _Atomic uint64_t *clock);
/* Asks a run to stop, from another thread or a signal handler: it ends with E0804. Between two runs, this stops the
 * next one. */
void ct_eval_interrupt(CtEval *eval);
/* Forgets an interrupt that came too late for the run before. */
void ct_eval_clear_interrupt(CtEval *eval);

#endif
