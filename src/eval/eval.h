/* The evaluator: the reference meaning of Core.
 *
 * It compiles each λ on first use into a compact code, runs it on a stack of its own (depth is bounded by memory, tail
 * calls take no stack), moves values at their last use, and updates in place what nobody else holds. It counts steps by
 * the cost model of docs/cost-model.md.
 */
#ifndef CT_EVAL_EVAL_H
#define CT_EVAL_EVAL_H

#include "ad/ad.h"
#include "base/pool.h"
#include "value/value.h"

typedef struct CtEval CtEval;

typedef struct CtEvalLimits { /* 0: none */
    uint64_t steps;
    size_t memory;  /* bytes of heap and stack together */
    uint64_t depth; /* calls that have not returned */
} CtEvalLimits;

typedef struct CtEvalStats {
    uint64_t steps;
    uint64_t span; /* the steps on the longest path, where they are measured (docs/cost-model.md) */
    size_t peak_memory;
    uint64_t max_depth;
} CtEvalStats;

/* An evaluator of a program whose derivatives are expanded. Owns a heap. NULL when there is no memory. */
CtEval *ct_eval_new(CtProgram *program, CtAd *ad, CtEvalLimits limits);
void ct_eval_free(CtEval *eval);
CtHeap *ct_eval_heap(CtEval *eval);

/* Calls function `global` with `args` (taken, also on failure), or gives a constant's value when it is no function
 * (count 0). False on a run-time error, which then stands in the context with its position; everything the run had
 * allocated is released, and the evaluator can be used again. The result is owned by the caller. */
bool ct_eval_call(CtEval *eval, CtGlobal *global, const CtWord *args, uint32_t count, CtWord *result);
/* Calls a function value (borrowed) of type `type`. */
bool ct_eval_apply(CtEval *eval, CtType *type, CtWord function, const CtWord *args, uint32_t count, CtWord *result);

/* Loops whose elements are independent may use the threads of a pool (borrowed), with the same results, steps and
 * errors; one run uses a pool at a time. To be said before the first call; false without memory. */
bool ct_eval_share(CtEval *eval, CtPool *pool);
/* Before the pool is freed: from now on in one thread. */
void ct_eval_alone(CtEval *eval);
/* Spans are wanted: to be said before the first call, too. */
void ct_eval_measure(CtEval *eval);

/* Somebody who looks on: `wants` is asked once of every function, when it is compiled; calls of those that it wants are
 * told to `called` before they begin, with the object that holds what the function captures (NULL: nothing) and its
 * arguments, all borrowed. Neither may run the evaluator. Costs the other functions nothing, and no steps. */
typedef struct CtWatch {
    bool (*wants)(void *data, const CtGlobal *global, const CtLam *lam); /* global: NULL for a λ inside */
    void (*called)(void *data, const CtGlobal *global, const CtLam *lam, CtObject *env, const CtWord *args);
    void *data;
} CtWatch;
/* To be set before the first call; copied. */
void ct_eval_watch(CtEval *eval, CtWatch watch);
/* The λ of a function value. */
const CtLam *ct_eval_lam(CtWord function);

/* Of the last call; steps go on counting until reset. */
CtEvalStats ct_eval_stats(const CtEval *eval);
void ct_eval_reset_stats(CtEval *eval);
/* Another limit on steps (0: none), for runs after the next reset. */
void ct_eval_limit_steps(CtEval *eval, uint64_t steps);
/* Once a run has done more than so many steps it is asked, once, whether it is to end there (with E0802). It stands
 * still meanwhile; the answer must not come from the same evaluator or its program. */
typedef struct CtQuestion {
    uint64_t after;
    bool (*ask)(void *data); /* NULL: nothing is asked */
    void *data;
} CtQuestion;
/* Of the next run. */
void ct_eval_ask(CtEval *eval, CtQuestion question);
/* Another thread or a signal handler may ask a run to stop: it ends with an error (E0804). Asked between two runs, it
 * is the next one that ends. */
void ct_eval_interrupt(CtEval *eval);

#endif
