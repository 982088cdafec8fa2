/* Private to the evaluator.
 *
 * A λ becomes a CtCode on its first call: instructions of 32-bit words over the slots of a frame. The rules that
 * everything here keeps:
 *
 * Slots. A frame is three words (code, environment, where to return) and its slots. Arguments come in slots 0, 1, …. A
 * slot is not cleared: which slots own an object at an instruction is known from the code's log of events, so that an
 * error can release exactly what is owned (unwind.c) and nothing is paid for that while all goes well.
 *
 * Ownership. An object in a slot is owned: somebody moves it on or drops it. The last use of a variable moves it, other
 * uses retain. What a branch does not use is dropped when the branch starts. Captured variables are borrowed from the
 * environment, which the frame owns; they are copied to a slot on first use.
 *
 * Failing. An instruction that fails has not touched its operands yet.
 */
#ifndef CT_EVAL_INTERNAL_H
#define CT_EVAL_INTERNAL_H

#include <stdatomic.h>

#include "base/pool.h"
#include "eval/eval.h"
#include "value/heap.h"

/* ---- instructions ---- */

typedef enum Op {
#define OP(name, operands) OP_##name,
#include "eval/ops.def"
#undef OP
    OP_PRIM_FIRST
} Op;

/* Each primitive has five instructions: operands in slots, the second or first one a constant, and the two that jump
 * where a comparison does not hold. */
typedef enum PrimForm { PRIM_SLOTS, PRIM_SLOT_CONST, PRIM_CONST_SLOT, PRIM_JUMP_SLOTS, PRIM_JUMP_CONST } PrimForm;
enum { PRIM_FORMS = 5, OP_COUNT = OP_PRIM_FIRST + PRIM_FORMS * CT_PRIM_COUNT };

enum { STACK_WORDS = 8192 /* of a new stack */ };
enum { FRAME_CODE = -3, FRAME_ENV = -2, FRAME_RETURN = -1, FRAME_HEADER = 3 };

/* ---- code ---- */

typedef enum EventKind {
    EVENT_OWN,    /* the slot owns an object, or one reference more */
    EVENT_DISOWN, /* one less */
    EVENT_SAVE,   /* a branch: alternatives follow */
    EVENT_AGAIN,  /* the next alternative starts where the branch did */
    EVENT_JOIN,   /* the end of the branch; all alternatives end alike */
} EventKind;

/* What happens from word `at` on. An instruction takes its operands at its second word, and its result is there behind
 * its last. */
typedef struct Event {
    uint32_t at;
    uint32_t kind : 3, slot : 29;
} Event;

typedef struct Place {
    uint32_t at;
    CtSourceRange range;
} Place;

typedef enum ConstantState { CONSTANT_NEW, CONSTANT_RUNNING, CONSTANT_KNOWN } ConstantState;

typedef struct CtCode CtCode;

typedef struct DualMemo {
    const CtDualPath *path;
    CtCode *code; /* of the closed λ that makes it */
    struct DualMemo *next;
} DualMemo;

/* A derivative that `bulk` made for arguments of a form. */
typedef struct BulkMemo {
    const CtDualPath *path;
    const char *key;
    CtCode *code;
    struct BulkMemo *next;
} BulkMemo;

struct CtCode {
    const uint32_t *words; /* NULL until compiled */
    uint32_t reserve;      /* stack words that a frame may touch; UINT32_MAX until compiled */
    uint32_t cost;         /* steps of what every call evaluates */
    uint32_t word_count, event_count, place_count;
    const Event *events;
    const Place *places;
    CtLam *lam;             /* NULL for a constant */
    CtGlobal *global;       /* or NULL */
    const CtLayout *layout; /* of its closures */
    CtClosure *closure;     /* the one closure of a code that captures nothing */
    ConstantState state;
    CtWord value;       /* CONSTANT_KNOWN */
    CtCode *known_next; /* of the constants that became known in a region */
    DualMemo *duals;
    BulkMemo *bulks;
    CtCode *next; /* all codes of an evaluator */
};

static inline void set_state(CtCode *code, ConstantState state) {
    __atomic_store_n(&code->state, state, __ATOMIC_RELEASE);
}

/* ---- the machine ---- */

typedef struct CtEval Machine;
typedef struct Team Team;
typedef struct Region Region;

/* The text of a form under way; kept for its memory. */
typedef struct FormKey {
    char *data;
    size_t length, capacity;
    uint32_t depth;       /* of what is being walked */
    uint32_t transformed; /* by so many methods: functions among the values */
} FormKey;

struct CtEval {
    CtProgram *program;
    CtAd *ad;
    CtHeap *heap;
    CtEvalLimits limits;
    CtWatch watch; /* wants NULL: nobody looks on */
    CtQuestion question;
    CtWord *stack, *stack_end;
    CtMap codes; /* CtLam * or CtGlobal * -> CtCode */
    CtCode *all_codes;
    CtWord *fp; /* of the running or failing frame; registers elsewhere while running */
    const uint32_t *pc;
    int64_t fuel;       /* steps left of this slice */
    uint64_t slice_end; /* steps done when fuel is 0 */
    uint64_t depth, max_depth, depth_limit;
    FormKey form_key;
    atomic_bool interrupt;
    bool arena_failed;
    bool measures;  /* spans: codes are compiled with the instructions for it */
    uint64_t slack; /* steps that are not on the longest path: span = steps − slack + aside */
    uint64_t aside; /* the spans of constants, which are nobody's part */
    Team *team;     /* NULL: one thread */
    /* of a worker; NULL and 0 otherwise */
    Machine *home;
    Region *region;
    size_t part_at;                 /* where its base frame stands */
    int64_t best;                   /* the longest span of an element of its parts */
    const uint32_t *part_iteration; /* the ITERATION of the loop of which its parts are */
    int64_t part_end;               /* the first element that is not its own */
    uint32_t part_body, part_out;   /* where the body begins, and the slot of the array that it makes */
    uint32_t constants;             /* being evaluated; then it has their lock */
    /* the error that is being raised; E0000: it stands in the context already */
    CtErrorCode error;
    const char *error_text;
    char error_buffer[400];
};

/* Steps done, and those of them that are on the longest path so far. */
static inline uint64_t steps_done(const Machine *m, int64_t fuel) { return m->slice_end - (uint64_t)fuel; }
static inline uint64_t span_done(const Machine *m, int64_t fuel) { return steps_done(m, fuel) - m->slack; }

/* The span of sharing `count` elements out, two by two. */
static inline uint64_t ct_eval_span_of_sharing(uint64_t count) {
    return count < 2 ? 0 : 64 - (uint64_t)__builtin_clzll(count - 1);
}

/* The evaluator that a worker works for, whose codes it runs. */
static inline Machine *home_of(Machine *m) { return m->home != NULL ? m->home : m; }
/* Whether loops are compiled with the instructions that share them out and measure their spans. */
static inline bool takes_iterations(const Machine *m) {
    const Machine *home = m->home != NULL ? m->home : m;
    return home->team != NULL || home->measures;
}

/* region.c. Behind the body of element i of a loop, at instruction ITERATION (pc, its operands) of the frame at m->fp:
 * computes all elements that follow on several threads, when that is worth it. False: nothing has happened. */
bool ct_eval_region_loop(Machine *m, int64_t i);
/* Makes and frees what several threads need; false without memory. */
bool ct_eval_team_new(Machine *m, CtPool *pool);
void ct_eval_team_free(Machine *m);
/* The pool is about to be freed. */
void ct_eval_team_end(Machine *m);
/* What is under way in the compiler and in the context is one thread's at a time. */
void ct_eval_team_lock(Machine *m);
void ct_eval_team_unlock(Machine *m);
/* A worker needs a constant: waits while another evaluates one. It is known then, or running, or this worker's to
 * evaluate; then it leaves it when that is done, or has failed. */
void ct_eval_constant_enter(Machine *m, CtCode *constant);
void ct_eval_constant_leave(Machine *m, CtCode *constant, bool known);
/* A run begins, or what ended a region has been settled. */
void ct_eval_team_begin(Machine *m);
/* ct_eval_refuel of a worker. */
bool ct_eval_region_refuel(Machine *m);

/* code.c: the code of a λ or a global, not compiled yet; NULL when memory is short. */
CtCode *ct_eval_code_of_lam(Machine *m, CtLam *lam);
CtCode *ct_eval_code_of_global(Machine *m, CtGlobal *global);
/* The closure of a code that captures nothing (borrowed). */
CtClosure *ct_eval_code_closure(Machine *m, CtCode *code);
const CtLayout *ct_eval_code_layout(Machine *m, CtCode *code);
/* Compiles, guarded against a full arena; false with an error raised. */
bool ct_eval_code_prepare(Machine *m, CtCode *code);
/* The code that makes the dual of closures of `code`; NULL with an error raised. */
CtCode *ct_eval_code_dual(Machine *m, CtCode *code, const CtDualPath *path);
/* The code that makes the derivative of a closure at a point by `bulk`, for the forms that they have. */
CtCode *ct_eval_code_bulk(Machine *m, CtClosure *closure, const CtDualPath *path, CtWord point);
void ct_eval_codes_free(Machine *m);

/* form.c: an empty key, m->form_key, for values of a program that so many methods have transformed. False without
 * memory. */
bool ct_eval_form_start(Machine *m, uint32_t transformed);
/* Appends the form of a value of a type to m->form_key; in the arena when `build`. NULL without memory. */
CtForm *ct_eval_form(Machine *m, const CtType *type, CtWord value, bool build);

/* emit.c: compiles; a full arena jumps through its handler. False with an error raised. */
bool ct_eval_code_compile(Machine *m, CtCode *code);

/* machine.c: goes on at m->pc in the frame at m->fp, until its base frame or its part has ended. */
bool ct_eval_machine_resume(Machine *m);
/* Calls code with `count` arguments (taken) in an environment (taken) or none; on failure the frames stand
 * as they were, m->fp and m->pc where it failed. */
bool ct_eval_machine_call(Machine *m, CtCode *code, CtClosure *env, const CtWord *args, uint32_t count, CtWord *result);

/* stack.c: room for `words` from m->fp on; more steps. False with an error raised. */
bool ct_eval_stack_reserve(Machine *m, size_t words);
bool ct_eval_refuel(Machine *m);
/* How many, after so many, until a limit or a question. */
uint64_t ct_eval_steps_left(const Machine *m, uint64_t done);
/* After a run: a stack that has grown very large gives its memory back. */
void ct_eval_stack_trim(Machine *m);

static inline CtCode *frame_code(const CtWord *fp) { return (CtCode *)(uintptr_t)fp[FRAME_CODE].integer; }
static inline const uint32_t *frame_return(const CtWord *fp) {
    return (const uint32_t *)(uintptr_t)fp[FRAME_RETURN].integer;
}
/* The base frame's code: a call that returns here has ended the run. */
extern const uint32_t ct_eval_machine_halt[];

/* unwind.c */
CtSourceRange ct_eval_code_place(const CtCode *code, uint32_t at);
/* Releases every frame; of a worker's base frame what the body owned. */
void ct_eval_unwind(Machine *m);
/* Calls `each` with every slot that owns an object when the loop whose body begins at word `body` is about to begin. */
bool ct_eval_owned_before(const CtCode *code, uint32_t body, void (*each)(void *data, uint32_t slot), void *data);

/* Raises an error: remembers it and returns false. */
bool ct_eval_raise(Machine *m, CtErrorCode code, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool ct_eval_raise_memory(Machine *m);
/* FAIL with a message: text of a [Char]. */
bool ct_eval_raise_string(Machine *m, CtErrorCode code, CtWord message);

typedef enum IterationKind { ITERATION_BUILD, ITERATION_MAP, ITERATION_ZIP } IterationKind;

/* ---- array operations: borrow their arguments, return an owned result; false with an error raised ---- */

typedef struct ArrayCall {
    CtWord args[3];
    CtWord result;
    CtType *type;     /* of the result */
    CtType *operand;  /* of the array argument */
    uint64_t touched; /* elements, for the steps */
} ArrayCall;

typedef bool ArrayFunction(Machine *m, ArrayCall *call);
/* The function of an operation that has no function argument and no instruction of its own. */
ArrayFunction *ct_eval_array_function(CtArrayOp op);
ArrayFunction ct_eval_array_shape, ct_eval_array_sum, ct_eval_array_product, ct_eval_array_maximum,
    ct_eval_array_minimum, ct_eval_array_argmax, ct_eval_array_argmin, ct_eval_array_replicate, ct_eval_array_iota,
    ct_eval_array_gather, ct_eval_array_transpose, ct_eval_array_reshape, ct_eval_array_reverse, ct_eval_array_append,
    ct_eval_array_slice, ct_eval_array_concat, ct_eval_array_strided, ct_eval_array_gather_or,
    ct_eval_array_scatter_add, ct_eval_array_sum_rows, ct_eval_array_select;

/* Raises E0507 when two elements of an array, arrays of `rank` dimensions themselves, differ in shape. */
bool ct_eval_array_regular(Machine *m, uint32_t rank, const CtArray *first, const CtArray *other, int64_t index);
/* How many arrays deep a type is: 0 for Double, 1 for Array Double. */
uint32_t ct_eval_array_rank(const CtType *type);
bool ct_eval_array_index_fails(Machine *m, int64_t index, int64_t length);
/* Whether lengths are what zipWith, select, sumRows take; else E0504. */
bool ct_eval_array_zips(Machine *m, int64_t a, int64_t b);
bool ct_eval_array_selects(Machine *m, int64_t test, int64_t yes, int64_t no);
bool ct_eval_array_is_rows(Machine *m, int64_t count, int64_t size);
/* Whether scatterAdd takes `from` elements, a row for each of `rows`, to an array of `count`: else E0504 or E0501. */
bool ct_eval_array_places(Machine *m, int64_t from, const CtArray *rows, int64_t count);
/* xs with element i replaced, and with one more at the end; both take xs and the element when they succeed. */
CtArray *ct_eval_array_update(Machine *m, CtArray *xs, int64_t index, CtWord item, uint32_t rank, uint64_t *touched);
CtArray *ct_eval_array_snoc(Machine *m, CtArray *xs, CtWord item, uint32_t rank, uint64_t *touched);

/* kernels.c: a primitive of scalars on `count` points. An operand steps from point to point, or is one for all; of a
 * unary one `b` is anything readable. `out` may be an operand. E0000, or the error of the first point that fails. */
typedef CtErrorCode Kernel(CtWord *out, const CtWord *a, bool a_steps, const CtWord *b, bool b_steps, int64_t count);
extern Kernel *const ct_eval_kernels[CT_PRIM_COUNT];

/* strings.c: the primitives that make texts. */
CtObject *ct_eval_string_prim(Machine *m, CtPrim prim, CtWord a, CtWord b);

#endif
