/* The machine: executes instructions until the base frame has its result.
 *
 * Registers are fp (the running frame), pc and fuel (steps left); all other state is in the Machine. Code that may move
 * the stack, or read it, is enclosed in SAVE and LOAD. The instructions are in the files ops_*.h, in the order of
 * ops.def. */
#include "eval/fused.h"
#include "eval/machine.h"
#include "eval/trap.h"

const uint32_t ct_eval_machine_halt[] = {1 + FRAME_HEADER, 0, OP_HALT};

static inline uint64_t word64(const uint32_t *at) { return (uint64_t)at[0] | (uint64_t)at[1] << 32; }
static inline void *pointer64(const uint32_t *at) { return (void *)(uintptr_t)word64(at); }
static inline double real64(const uint32_t *at) { return (CtWord){.integer = (int64_t)word64(at)}.real; }

/* An acquire load: the code's words may be read when this is set. */
static inline uint32_t reserve_of(const CtCode *code) { return __atomic_load_n(&code->reserve, __ATOMIC_ACQUIRE); }

#define INSTRUCTION(name) op_##name:
#define SLOT(i)           fp[pc[i]]
#define OBJECT(i)         fp[pc[i]].object
#define ARRAY(i)          ((CtArray *)fp[pc[i]].object)
#define NEXT(n)                                                                                                        \
    do {                                                                                                               \
        pc += (n);                                                                                                     \
        goto *labels[*pc];                                                                                             \
    } while (0)
#define SAVE()      (m->fp = fp, m->pc = pc, m->fuel = fuel)
#define LOAD()      (fp = m->fp, fuel = m->fuel)
#define UNLIKELY(x) __builtin_expect(x, 0)
/* Fails with the error that was raised, or with lack of memory. */
#define CHECK(ok)                                                                                                      \
    do {                                                                                                               \
        if (UNLIKELY(!(ok))) goto fail;                                                                                \
    } while (0)
#define CHECK_MEMORY(p)                                                                                                \
    do {                                                                                                               \
        if (UNLIKELY((p) == NULL)) goto out_of_memory;                                                                 \
    } while (0)

/* This file relies on compiler extensions: labels as values, ranges of designators. */
#pragma GCC diagnostic ignored "-Wpedantic"

/* Enters `callee`, whose frame is at m->fp; NULL: continues at m->pc. */
static bool run(Machine *m, CtCode *callee) {
    static const void *const labels[OP_COUNT] = {
#define OP(name, operands) [OP_##name] = &&op_##name,
#include "eval/ops.def"
#undef OP
#define CT_PRIM(id, ...)                                                                                               \
    [OP_PRIM_FIRST + PRIM_##id * PRIM_FORMS +                                                                          \
        PRIM_SLOTS] = &&prim_##id##_slots,                                                                             \
        [OP_PRIM_FIRST + PRIM_##id * PRIM_FORMS + PRIM_SLOT_CONST] = &&prim_##id##_slot_const,                         \
        [OP_PRIM_FIRST + PRIM_##id * PRIM_FORMS + PRIM_CONST_SLOT] = &&prim_##id##_const_slot,                         \
        [OP_PRIM_FIRST + PRIM_##id * PRIM_FORMS + PRIM_JUMP_SLOTS] = &&prim_##id##_jump_slots,                         \
        [OP_PRIM_FIRST + PRIM_##id * PRIM_FORMS + PRIM_JUMP_CONST] = &&prim_##id##_jump_const,
#include "prim/primitives.def"
#undef CT_PRIM
    };
    /* Of the instruction behind an ITERATION. */
    static const uint8_t words_of_next[] = {[ITERATION_BUILD] = 9, [ITERATION_MAP] = 10, [ITERATION_ZIP] = 13};
    CtHeap *const heap = m->heap;
    CtWord *fp = m->fp;
    int64_t fuel = m->fuel;
    const uint32_t *pc = m->pc;
    if (UNLIKELY(callee == NULL)) goto resume;

    /* The frame of `callee` stands at fp, its arguments in place. */
enter:
    if (UNLIKELY((size_t)(m->stack_end - fp) < reserve_of(callee))) {
        pc = NULL;
        SAVE();
        CHECK(ct_eval_code_prepare(m, callee) && ct_eval_stack_reserve(m, callee->reserve));
        LOAD();
    }
    if (UNLIKELY(++m->depth > m->max_depth)) {
        if (UNLIKELY(m->depth > m->depth_limit)) {
            pc = NULL;
            goto too_deep;
        }
        m->max_depth = m->depth;
    }
    goto charge;

    /* The frame at fp has become one of `callee`: a tail call does not add to the depth. */
tail:
    if (UNLIKELY((size_t)(m->stack_end - fp) < reserve_of(callee))) {
        pc = NULL;
        SAVE();
        CHECK(ct_eval_code_prepare(m, callee) && ct_eval_stack_reserve(m, callee->reserve));
        LOAD();
    }
charge:
    fuel -= callee->cost;
    if (UNLIKELY(fuel < 0)) {
        pc = NULL;
        SAVE();
        CHECK(ct_eval_refuel(m));
        LOAD();
    }
    pc = callee->words;
    goto *labels[*pc];

#include "eval/ops_data.h"
#include "eval/ops_call.h"
#include "eval/ops_array.h"
#include "eval/ops_loop.h"
#include "eval/ops_prim.h"

resume: /* a jump to a label at the top would cost the register allocation of every instruction: measured, a fifth of
           the time */
    NEXT(0);
too_deep:
    ct_eval_raise(m, CT_E0803, "more than %llu calls are waiting for each other", (unsigned long long)m->depth_limit);
    goto fail;
out_of_memory:
    ct_eval_raise_memory(m);
fail:
    SAVE();
    if (!ct_eval_catch(m)) return false;
    LOAD();
    pc = m->pc;
    goto resume;
}

bool ct_eval_machine_resume(Machine *m) { return run(m, NULL); }

bool ct_eval_machine_call(Machine *m, CtCode *code, CtClosure *env, const CtWord *args, uint32_t count,
                          CtWord *result) {
    ct_eval_team_begin(m);
    m->depth = 0;
    m->fp = m->stack + FRAME_HEADER + ct_eval_machine_halt[0];
    m->pc = NULL;
    bool has_room = ct_eval_stack_reserve(m, (size_t)count + FRAME_HEADER);
    if (!has_room) {
        for (uint32_t i = 0; i < count; i++) ct_value_release(m->heap, code->lam->params[i]->type, args[i]);
        if (env != NULL) ct_value_release_object(m->heap, &env->head);
        m->fp = NULL;
        return false;
    }
    m->fp[FRAME_CODE].integer = (int64_t)(uintptr_t)code;
    m->fp[FRAME_ENV].object = (CtObject *)env;
    m->fp[FRAME_RETURN].integer = (int64_t)(uintptr_t)&ct_eval_machine_halt[2];
    m->fp[FRAME_SITE].integer = 0;
    for (uint32_t i = 0; i < count; i++) m->fp[i] = args[i];
    if (!run(m, code)) return false;
    *result = m->fp[0];
    ct_eval_stack_trim(m);
    return true;
}
