/* Private to the evaluator.
 *
 * A λ becomes a CtCode on its first call: instructions made of 32-bit words, over the slots of a frame. Invariants:
 *
 * Slots. A frame is three words (code, environment, return address) and its slots. Arguments come in slots 0, 1, ….
 * Slots are not cleared. Which slots own an object at an instruction follows from the code's event log, so that an
 * error can release exactly what is owned (unwind.c), at no cost otherwise.
 *
 * Ownership. An object in a slot is owned: it must be moved or dropped. The last use of a variable moves it, other uses
 * retain. A branch drops at its start what it does not use. Captured variables are borrowed from the environment, which
 * the frame owns; they are copied to a slot on first use.
 *
 * Failure. An instruction that fails has not touched its operands. */
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

/* Each primitive has five instructions: for operands in slots, with the second or the first one constant, and the two
 * that jump where a comparison does not hold. */
typedef enum PrimForm { PRIM_SLOTS, PRIM_SLOT_CONST, PRIM_CONST_SLOT, PRIM_JUMP_SLOTS, PRIM_JUMP_CONST } PrimForm;
enum { PRIM_FORMS = 5, OP_COUNT = OP_PRIM_FIRST + PRIM_FORMS * CT_PRIM_COUNT };

enum { STACK_WORDS = 8192 /* of a new stack */ };
/* FRAME_SITE: the last tail call from the user's source that has replaced this frame, as a CtSourceRange *, or 0. */
enum { FRAME_SITE = -4, FRAME_CODE = -3, FRAME_ENV = -2, FRAME_RETURN = -1, FRAME_HEADER = 4 };

/* The tags of cells (core/lazy.c): those of their two constructors, and of one whose value is being evaluated. */
enum { CELL_KNOWN, CELL_DELAYED, CELL_RUNNING };

/* ---- code ---- */

typedef enum EventKind {
    EVENT_OWN,    /* the slot owns an object, or one reference more */
    EVENT_DISOWN, /* the slot owns one reference less */
    EVENT_SAVE,   /* start of a branch; alternatives follow */
    EVENT_AGAIN,  /* the next alternative, with the state at the start of the branch */
    EVENT_JOIN,   /* end of the branch; all alternatives have the same state there */
} EventKind;

/* What happens from word `at` on. An instruction takes its operands at its second word; its result exists behind its
 * last. */
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
    CtCode *code; /* the closed λ that makes the transformed function */
    struct DualMemo *next;
} DualMemo;

/* A derivative that `bulk` has made for arguments of certain shapes. */
typedef struct BulkMemo {
    const CtDualPath *path;
    const char *key;
    CtCode *code;
    struct BulkMemo *next;
} BulkMemo;

struct CtCode {
    const uint32_t *words; /* NULL until compiled */
    uint32_t reserve;      /* number of stack words that a frame may use; UINT32_MAX until compiled */
    uint32_t cost;         /* steps counted in every call */
    uint32_t word_count, event_count, place_count;
    const Event *events;
    const Place *places;
    CtLam *lam;             /* NULL for a constant */
    CtGlobal *global;       /* or NULL */
    const CtLayout *layout; /* of its closures */
    CtClosure *closure;     /* for a code without captures: its only closure */
    ConstantState state;
    CtWord value;       /* CONSTANT_KNOWN */
    CtCode *known_next; /* list of the constants evaluated in a region */
    DualMemo *duals;
    BulkMemo *bulks;
    CtCode *next; /* list of all codes of an evaluator */
};

static inline void set_state(CtCode *code, ConstantState state) {
    __atomic_store_n(&code->state, state, __ATOMIC_RELEASE);
}

/* ---- the machine ---- */

typedef struct CtEval Machine;
typedef struct Team Team;
typedef struct Region Region;

/* The text of a shape under construction; its memory is reused. */
typedef struct FormKey {
    char *data;
    size_t length, capacity;
    uint32_t depth;       /* nesting depth of the current value */
    uint32_t transformed; /* number of methods that have transformed the functions among the values */
} FormKey;

struct CtEval {
    CtProgram *program;
    CtAd *ad;
    CtHeap *heap;
    CtEvalLimits limits;
    CtWatch watch; /* wants NULL: no observer */
    CtQuestion question;
    CtTrap trap; /* of the evaluator that workers work for */
    bool trap_in_derivative;
    bool trapped;               /* the operation on arrays that has run last raised E0515 */
    CtProfile *profile;         /* NULL: none is collected */
    struct ct_effects *effects; /* NULL: there are none */
    CtWord *stack, *stack_end;
    CtMap codes; /* CtLam * or CtGlobal * -> CtCode */
    CtCode *all_codes;
    CtWord *fp; /* of the running or failing frame; a local variable while running */
    const uint32_t *pc;
    int64_t fuel;       /* steps left in this slice */
    uint64_t slice_end; /* number of steps done when fuel reaches 0 */
    uint64_t depth, max_depth, depth_limit;
    FormKey form_key;
    atomic_bool interrupt;
    _Atomic uint64_t *clock; /* about the number of steps done, for other threads; NULL: nobody asks */
    bool arena_failed;
    bool measures;  /* measures spans: code is compiled with the instructions for that */
    uint64_t slack; /* steps that are not on the longest path: span = steps − slack + aside */
    uint64_t aside; /* spans of constants, which belong to no part */
    Team *team;     /* NULL: it begins no regions */
    /* of a worker; NULL and 0 otherwise */
    Machine *home;
    Region *region;
    uint32_t who, level;            /* its thread; how many regions it is inside of */
    uint64_t fork_from;             /* the number of its steps from which it may begin a region */
    size_t part_at;                 /* stack position of its base frame */
    const uint32_t *part_iteration; /* the ITERATION instruction of the shared loop */
    int64_t part_end;               /* the first element behind its part */
    uint32_t part_body, part_out;   /* start of the body, and slot of the array that the loop makes */
    uint32_t constants;             /* constants being evaluated; it holds their lock while this is not 0 */
    /* what an ATTEMPTED has caught last, `CODE TEXT`, from malloc; whether it has yet to find out; and how often what
     * catching would undo has happened (lib/io.cot) */
    char *caught;
    bool was_caught;
    uint64_t changes;
    /* the error that is being raised; E0000: it stands in the context already */
    CtErrorCode error;
    const char *error_text;
    char error_buffer[400];
};

/* Steps done so far, and those of them on the longest path. */
static inline uint64_t steps_done(const Machine *m, int64_t fuel) { return m->slice_end - (uint64_t)fuel; }
static inline uint64_t span_done(const Machine *m, int64_t fuel) { return steps_done(m, fuel) - m->slack; }

/* The span of distributing `count` elements by halving. */
static inline uint64_t ct_eval_span_of_sharing(uint64_t count) {
    return count < 2 ? 0 : 64 - (uint64_t)__builtin_clzll(count - 1);
}

/* The evaluator that a worker works for, whose codes it runs. */
static inline Machine *home_of(Machine *m) { return m->home != NULL ? m->home : m; }
/* Whether loops are compiled with the instructions for threads and spans. */
static inline bool takes_iterations(const Machine *m) {
    const Machine *home = m->home != NULL ? m->home : m;
    return !home->program->is_lazy && (home->team != NULL || home->measures);
}

/* region.c. Called behind the body of element i of a loop, at the instruction ITERATION (pc: its operands) of the frame
 * at m->fp. Computes all following elements on several threads if that pays; false: nothing has happened. */
bool ct_eval_region_loop(Machine *m, int64_t i);
/* The same in front of a build's first element, for a build of few elements whose bodies call functions: all elements
 * are computed. The cost of the first has not been charged. */
bool ct_eval_region_fork(Machine *m);
/* Makes, and frees, the data for several threads; false when memory runs out. */
bool ct_eval_team_new(Machine *m, CtPool *pool);
void ct_eval_team_free(Machine *m);
/* To be called before the pool is freed. */
void ct_eval_team_end(Machine *m);
/* Locks the compiler and the context, which one thread at a time may use. */
void ct_eval_team_lock(Machine *m);
void ct_eval_team_unlock(Machine *m);
/* For a worker that needs a constant: waits while another thread evaluates it. Afterwards it is known, being evaluated
 * by this worker, or to be evaluated by it; `leave` is called when that has ended or failed. */
void ct_eval_constant_enter(Machine *m, CtCode *constant);
void ct_eval_constant_leave(Machine *m, CtCode *constant, bool known);
/* To be called when a run begins, or when a failed region has been dealt with. */
void ct_eval_team_begin(Machine *m);
/* ct_eval_refuel for a worker. */
bool ct_eval_region_refuel(Machine *m);

/* src/eval/profile.c: takes a sample of the stack after so many steps; returns how many steps may pass until the next.
 */
uint64_t ct_eval_profile_sample(Machine *m, uint64_t done);

/* code.c: the code of a λ or a global, not compiled yet; NULL when memory runs out. */
CtCode *ct_eval_code_of_lam(Machine *m, CtLam *lam);
CtCode *ct_eval_code_of_global(Machine *m, CtGlobal *global);
/* The closure of a code without captures (borrowed). */
CtClosure *ct_eval_code_closure(Machine *m, CtCode *code);
const CtLayout *ct_eval_code_layout(Machine *m, CtCode *code);
/* Compiles a code; running out of memory is caught. False with an error raised. */
bool ct_eval_code_prepare(Machine *m, CtCode *code);
/* The code that makes the transformed version of closures of `code`; NULL with an error raised. */
CtCode *ct_eval_code_dual(Machine *m, CtCode *code, const CtDualPath *path);
/* The code for the derivative by `bulk` of a closure at a point, for their shapes. */
CtCode *ct_eval_code_bulk(Machine *m, CtClosure *closure, const CtDualPath *path, CtWord point);
void ct_eval_codes_free(Machine *m);

/* form.c: begins an empty key, m->form_key, for values of a program transformed by this many methods. False when memory
 * runs out. */
bool ct_eval_form_start(Machine *m, uint32_t transformed);
/* Appends the shape of a value to m->form_key; with `build` it is also built in the arena. NULL when memory runs
 * out. */
CtForm *ct_eval_form(Machine *m, const CtType *type, CtWord value, bool build);

/* emit.c: compiles a code; running out of memory jumps to the arena's handler. False with an error raised. */
bool ct_eval_code_compile(Machine *m, CtCode *code);

/* machine.c: continues at m->pc in the frame at m->fp until the base frame, or the worker's part, has ended. */
bool ct_eval_machine_resume(Machine *m);
/* Calls a code with `count` arguments (taken) and an environment (taken) or none. On failure the frames remain, and
 * m->fp and m->pc are where it failed. */
bool ct_eval_machine_call(Machine *m, CtCode *code, CtClosure *env, const CtWord *args, uint32_t count, CtWord *result);

/* stack.c: makes sure of `words` words from m->fp on; and gets more steps. False with an error raised. */
bool ct_eval_stack_reserve(Machine *m, size_t words);
bool ct_eval_refuel(Machine *m);
/* The number of steps from `done` to the next limit or question. */
uint64_t ct_eval_steps_left(const Machine *m, uint64_t done);
/* After a run: frees part of a stack that has become very large. */
void ct_eval_stack_trim(Machine *m);

static inline CtCode *frame_code(const CtWord *fp) { return (CtCode *)(uintptr_t)fp[FRAME_CODE].integer; }
static inline const uint32_t *frame_return(const CtWord *fp) {
    return (const uint32_t *)(uintptr_t)fp[FRAME_RETURN].integer;
}
/* The code of the base frame: returning to it ends the run. */
extern const uint32_t ct_eval_machine_halt[];

/* unwind.c */
CtSourceRange ct_eval_code_place(const CtCode *code, uint32_t at);
/* Releases every frame; for a worker's base frame, what the body owned. */
void ct_eval_unwind(Machine *m);
/* After an error: leaves the frames above the innermost call in front of an ATTEMPTED, at which the machine is to go
 * on. False: nothing has happened, since there is none, or nothing may catch this error. */
bool ct_eval_catch(Machine *m);
/* Calls `each` with every slot that owns an object right before the loop whose body begins at word `body`. */
bool ct_eval_owned_before(const CtCode *code, uint32_t body, void (*each)(void *data, uint32_t slot), void *data);

/* Raises an error: records it and returns false. */
bool ct_eval_raise(Machine *m, CtErrorCode code, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool ct_eval_raise_memory(Machine *m);
/* FAIL with a message, the text of a [Char]. */
bool ct_eval_raise_string(Machine *m, CtErrorCode code, CtWord message);

typedef enum IterationKind { ITERATION_BUILD, ITERATION_MAP, ITERATION_ZIP } IterationKind;

/* ---- array operations: borrow their arguments, return an owned result; false with an error raised ---- */

typedef struct ArrayCall {
    CtWord args[3];
    CtWord result;
    CtType *type;     /* of the result */
    CtType *operand;  /* of the array argument */
    uint64_t touched; /* number of elements, for the count of steps */
    uint64_t slack;   /* how many of these steps are not on the longest path */
} ArrayCall;

typedef bool ArrayFunction(Machine *m, ArrayCall *call);
/* The C function for an array operation that has no function argument and no instruction of its own. */
ArrayFunction *ct_eval_array_function(CtArrayOp op);
ArrayFunction ct_eval_array_shape, ct_eval_array_sum, ct_eval_array_product, ct_eval_array_maximum,
    ct_eval_array_minimum, ct_eval_array_argmax, ct_eval_array_argmin, ct_eval_array_replicate, ct_eval_array_iota,
    ct_eval_array_gather, ct_eval_array_transpose, ct_eval_array_reshape, ct_eval_array_reverse, ct_eval_array_append,
    ct_eval_array_slice, ct_eval_array_concat, ct_eval_array_strided, ct_eval_array_gather_or,
    ct_eval_array_scatter_add, ct_eval_array_add_at, ct_eval_array_sum_rows, ct_eval_array_select;

/* Raises E0507 when two elements of an array, which are arrays of `rank` dimensions, differ in shape. */
bool ct_eval_array_regular(Machine *m, uint32_t rank, const CtArray *first, const CtArray *other, int64_t index);
/* Nesting depth of arrays in a type: 0 for Double, 1 for Array Double. */
uint32_t ct_eval_array_rank(const CtType *type);
bool ct_eval_array_index_fails(Machine *m, int64_t index, int64_t length);
/* Checks lengths for zipWith, select and sumRows; raises E0504 when they differ. */
bool ct_eval_array_zips(Machine *m, int64_t a, int64_t b);
bool ct_eval_array_selects(Machine *m, int64_t test, int64_t yes, int64_t no);
bool ct_eval_array_is_rows(Machine *m, int64_t count, int64_t size);
/* Checks that scatterAdd can add `from` elements, one row for each of `rows`, to an array of `count`; raises E0504 or
 * E0501. */
bool ct_eval_array_places(Machine *m, int64_t from, const CtArray *rows, int64_t count);
/* How many rows scatterAdd adds to the same place at most: these additions depend on each other. All of them if spans
 * are not measured, or memory for counting is lacking. */
uint64_t ct_eval_array_chain(Machine *m, const CtArray *rows);
/* Takes the array itself if nobody else holds it, or else makes a copy with the given capacity, and adds its length to
 * `touched`; NULL with an error raised. What is not taken is still to be released. */
CtArray *ct_eval_array_own(Machine *m, CtArray *xs, int64_t capacity, uint64_t *touched);
/* xs with element i replaced; and with an element appended. Both take xs and the element if they succeed. */
CtArray *ct_eval_array_update(Machine *m, CtArray *xs, int64_t index, CtWord item, uint32_t rank, uint64_t *touched);
CtArray *ct_eval_array_snoc(Machine *m, CtArray *xs, CtWord item, uint32_t rank, uint64_t *touched);

/* kernels.c: applies a scalar primitive to `count` points. An operand is an array, or one word for all points; for a
 * unary primitive `b` points to any readable word. `out` may be an operand. Returns E0000, or the error of the first
 * point that fails. */
typedef CtErrorCode Kernel(CtWord *out, const CtWord *a, bool a_steps, const CtWord *b, bool b_steps, int64_t count);
extern Kernel *const ct_eval_kernels[CT_PRIM_COUNT];

/* strings.c: the primitives that make strings. */
CtObject *ct_eval_string_prim(Machine *m, CtPrim prim, CtWord a, CtWord b);

#endif
