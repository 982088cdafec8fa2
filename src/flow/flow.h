/* Flow, the second intermediate language: first-order, monomorphic, in A-normal form (docs/flow.md). Its steps are
 * listed in flow.def.
 *
 * A Flow program lives in the arena of the Core program that it was made from, and points to types of that program. */
#ifndef CT_FLOW_FLOW_H
#define CT_FLOW_FLOW_H

#include "ad/ad.h"
#include "base/rules.h"
#include "base/times.h"

/* ---- types ---- */

typedef enum CtFlowKind { FLOW_F64, FLOW_F32, FLOW_I64, FLOW_NODE, FLOW_ARRAY } CtFlowKind;

typedef struct CtFlowType {
    CtFlowKind kind;
    uint32_t rank; /* ARRAY */
    /* ARRAY: never a tuple, because an array of tuples is one array for each part. An element that is an array or node
     * is a reference. */
    const struct CtFlowType *element;
    struct CtFlowData *data; /* NODE */
} CtFlowType;                /* hash-consed: equal types are the same pointer */

static inline bool ct_flow_is_object(const CtFlowType *type) { return type->kind >= FLOW_NODE; }

typedef struct CtFlowTypes { /* a sequence of types, for one Core type */
    const CtFlowType **items;
    uint32_t count;
} CtFlowTypes;

typedef struct CtFlowCon {
    const char *name;
    CtFlowTypes fields;
    /* Index of each field in the node: first those of the type itself (a list's tail is at 0), then other objects. */
    uint32_t *slots;
    uint32_t pointers;
} CtFlowCon;

/* The contents of a node: a data type of Core, a tuple of more than CT_FLOW_WIDE variables, or the closures of a
 * function type. */
typedef struct CtFlowData {
    const char *name;
    CtType *type; /* NULL for nodes that differentiation makes (residuals and their adjoints) */
    CtFlowCon *cons;
    uint32_t count, capacity;
    uint32_t id;
    struct CtFlowFunction *apply; /* of a function type: dispatches on the closure, (node, arguments) → results */
    /* Of a residual (from VJP): 1; of its adjoint: one more for each order; otherwise 0. */
    uint32_t order;
    bool is_open; /* a residual, or its adjoint, whose constructor derive.c has not made yet */
} CtFlowData;

/* ---- programs ---- */

typedef struct CtFlowVar {
    const char *name; /* from the source, or descriptive; not unique */
    uint32_t id;      /* unique in its function */
    const CtFlowType *type;
    struct CtFlowVar
        *like; /* of a parameter: another parameter of the same length; both come from one array of tuples */
} CtFlowVar;

typedef struct CtFlowArg { /* a variable or a literal */
    CtFlowVar *var;
    const CtFlowType *type;
    union {
        double real;
        int64_t integer;
    } lit;
} CtFlowArg;

typedef CT_VEC(CtFlowArg) CtFlowArgs;
typedef CT_VEC(CtFlowVar *) CtFlowVars;

typedef enum CtFlowStepKind {
#define FLOW_STEP(kind, ...) FLOW_##kind,
#include "flow/flow.def"
#undef FLOW_STEP
} CtFlowStepKind;

/* The columns of flow.def, where their meaning is described. */
typedef enum CtFlowFails { FAILS_NEVER, FAILS_CHECK, FAILS_ENDS, FAILS_OWN } CtFlowFails;
typedef enum CtFlowTakes { TAKES_NONE, TAKES_ALL, TAKES_REST, TAKES_ENDS, TAKES_NODE, TAKES_OWN } CtFlowTakes;
typedef enum CtFlowMakes { MAKES_NOTHING, MAKES_MEMORY, MAKES_OBJECT, MAKES_ARRAYS } CtFlowMakes;
typedef enum CtFlowLooks { LOOKS_NOTHING, LOOKS_HEAD, LOOKS_ELEMENT, LOOKS_ALL, LOOKS_CHANGES } CtFlowLooks;
typedef enum CtFlowAgain { AGAIN_KEPT, AGAIN_NUMBERS, AGAIN_DROPPED } CtFlowAgain;
typedef enum CtFlowMoves { MOVES_STAYS, MOVES_ASKED, MOVES_FREE, MOVES_OWN } CtFlowMoves;
typedef enum CtFlowRepeats {
    REPEATS_NEVER,
    REPEATS_LOOP,
    REPEATS_BLOCKS,
    REPEATS_CHEAP,
    REPEATS_CONSTANT,
} CtFlowRepeats;

typedef struct CtFlowStepInfo {
    const char *name;
    CtFlowFails fails;
    CtFlowTakes takes;
    CtFlowMakes makes;
    CtFlowLooks looks;
    CtFlowAgain again;
    CtFlowMoves moves;
    CtFlowRepeats repeats;
    uint32_t work;
} CtFlowStepInfo;

const CtFlowStepInfo *ct_flow_step_info(CtFlowStepKind kind);

/* A function whose derivative is taken by VJP, PULL or JVP. */
typedef struct CtFlowDerived {
    struct CtFlowFunction *function; /* (captured, point) → results */
    uint32_t captured;               /* number of parameters before the point */
    /* Type of the residual that VJP gives to PULL: a node; derive.c makes its constructor. */
    const CtFlowType *residual;
    const struct CtFlowForward *forward; /* called by JVP; NULL until it is made */
    struct CtFlowFunction *pullback;     /* (residual, cotangents of the results) → cotangents of the point */
} CtFlowDerived;

/* A custom derivative (withVjp, withJvp) of a function. The function's parameters are the captured variables of f, then
 * those of the two functions of the rule, then the point. Differentiation calls the functions of the rule, on primals,
 * instead of differentiating f. */
typedef struct CtFlowRule {
    /* Number of captured variables of f, and of the rule's functions: `pair` of withVjp's, `tangent` of withJvp's. */
    uint32_t own, pair, tangent;
    struct CtFlowFunction *f; /* (own, point) → ⟨y⟩ */
    /* Only for a function from one real to one: (pair, point) → y, ∂y/∂x; else NULL, and by_pair and pull are set. */
    struct CtFlowFunction *by_slope;
    struct CtFlowFunction *by_pair;    /* (pair, point) → ⟨y⟩, pullback */
    struct CtFlowFunction *pull;       /* (pullback, ⟨dy⟩) → ⟨dx⟩ */
    struct CtFlowFunction *by_tangent; /* (tangent, point, ⟨dx⟩) → ⟨y⟩, ⟨dy⟩ */
} CtFlowRule;

typedef enum CtFlowExit { EXIT_OPEN, EXIT_YIELD, EXIT_RETURN, EXIT_TAIL, EXIT_NEVER } CtFlowExit;

typedef struct CtFlowBlock {
    CtFlowVars params; /* of a loop's body: the index, then the carried variables */
    CT_VEC(struct CtFlowStep *) steps;
    CtFlowExit exit; /* OPEN while the block is being built; NEVER: control does not leave its last step */
    CtFlowArgs values;
    struct CtFlowFunction *tail;
    CtSourceRange range; /* of the exit */
} CtFlowBlock;

enum { FLOW_OTHERS = UINT32_MAX };
typedef struct CtFlowBranch {
    uint32_t tag; /* FLOW_OTHERS: the default branch */
    CtFlowBlock *block;
} CtFlowBranch;

/* How the two matrices of FLOW_PRODUCT are to be read. */
typedef struct CtFlowFactors {
    bool transposed[2]; /* the operand is the transpose: its element [i, j] is stored at [j, i] */
    uint8_t cotangent;  /* 1 or 2: this operand is a tangent or cotangent, and the product is `scale`'s; 0: neither */
} CtFlowFactors;

typedef struct CtFlowStep {
    CtFlowStepKind kind;
    CtSourceRange range;
    CtFlowVars results;
    CtFlowArgs args;
    union {
        CtPrim prim;
        struct CtFlowFunction *function; /* CALL */
        struct CtFlowConstant *constant;
        struct { /* STRING: code points */
            uint32_t *points;
            uint32_t count;
        } string;
        struct { /* MAKE, OPEN, RELEASE of a memory cell; a result of OPEN may be NULL */
            CtFlowData *data;
            uint32_t tag;
            bool takes;
            bool borrows;    /* OPEN: its results are parts of what the function borrows, and are not counted */
            CtFlowVar *cell; /* memory that OPEN hands to MAKE (memory_reuse.c), or NULL */
            bool again;      /* of MAKE: the node in the reused memory had the same constructor */
        } con;
        struct { /* SWITCH, on the tag of a node or on a scalar */
            CtFlowBranch *branches;
            uint32_t count;
        } cases;
        struct {
            CtFlowBlock *block; /* yields `carried` values, then an element of each array */
            uint32_t carried;
            bool associative;
            /* The carried values are the first elements of the arrays; the block yields no elements besides (scanl). */
            bool initial;
            bool counted; /* made from a recursion: it may run for long, so it can be interrupted */
        } loop;
        struct {
            CtErrorCode code;
            const char *text; /* NULL: the message is an argument */
        } fail;
        bool follows;   /* SNOC, of tangents: its row has another shape only where that of the primal has, and fails */
        uint32_t index; /* CHECK, DIM: the dimension; CHECK_SHAPE: the index of the compared element */
        bool copied;    /* READ of a row, which is used when its array may be changed in place: copied_rows.c */
        CtArrayOp bulk;
        CtFlowFactors product;
        CtFlowDerived *derived; /* VJP, PULL, JVP */
    } as;
} CtFlowStep;

/* The blocks inside a step: the body of a loop, the branches of a switch. Other steps have none. */
static inline uint32_t ct_flow_inner_count(const CtFlowStep *step) {
    return step->kind == FLOW_LOOP ? 1 : step->kind == FLOW_SWITCH ? step->as.cases.count : 0;
}
static inline CtFlowBlock *ct_flow_inner(const CtFlowStep *step, uint32_t index) {
    return step->kind == FLOW_LOOP ? step->as.loop.block : step->as.cases.branches[index].block;
}

/* Whether an argument is this literal. */
static inline bool ct_flow_is_int(const CtFlowArg *arg, int64_t value) {
    return arg->var == NULL && arg->lit.integer == value;
}

/* Whether an argument is an Int that is known. */
static inline bool ct_flow_is_int_literal(const CtFlowArg *arg) {
    return arg->var == NULL && arg->type->kind == FLOW_I64;
}

/* Whether a step is this primitive, or this operation on whole arrays; a step that is NULL is none. */
static inline bool ct_flow_is_prim(const CtFlowStep *step, CtPrim prim) {
    return step != NULL && step->kind == FLOW_PRIM && step->as.prim == prim;
}
static inline bool ct_flow_is_bulk(const CtFlowStep *step, CtArrayOp bulk) {
    return step != NULL && step->kind == FLOW_BULK && step->as.bulk == bulk;
}

/* Whether a step makes an array by listing its items: its arguments. */
static inline bool ct_flow_is_items(const CtFlowStep *step) {
    return step != NULL && (step->kind == FLOW_ITEMS || step->kind == FLOW_LITERALS);
}

/* Whether a step is a derivative, which derive.c replaces. */
static inline bool ct_flow_is_derivative(const CtFlowStep *step) {
    return step->kind == FLOW_VJP || step->kind == FLOW_PULL || step->kind == FLOW_JVP;
}

/* The two sweeps of a function whose derivative has been taken in reverse mode (ad/reverse.c), for one choice of active
 * parameters. */
typedef struct CtFlowSweeps {
    struct CtFlowFunction *forward;  /* parameters → ⟨y⟩, residual */
    struct CtFlowFunction *backward; /* residual, ⟨dy⟩, accumulators → accumulators */
    /* Of tail recursion: (parameters, trail) → ⟨y⟩, residual, and (trail, accumulators of an iteration, ⟨those of the
     * entry that are not shared⟩) → accumulators; otherwise NULL. */
    struct CtFlowFunction *iterations, *unwind;
    bool *shared;                /* of the accumulators: all iterations add to the one of the entry */
    uint32_t cotangents;         /* how many ⟨dy⟩ there are */
    bool tried;                  /* to make: */
    struct CtFlowFunction *both; /* parameters, ⟨dy⟩, accumulators → ⟨y⟩, accumulators (opt/one_sweep.c), or NULL */
} CtFlowSweeps;

typedef struct CtFlowFunction {
    const char *name;
    uint32_t id;
    CtFlowVars params;
    CtFlowTypes results;
    CtFlowBlock *body;
    uint32_t vars; /* number of variables, for the next id */
    CtSourceRange range;
    /* It has an extra parameter, the call site that failures inside the library are attributed to (call_sites.c). */
    bool takes_call_site;
    bool is_cold_path; /* it makes the message of a failure: cold_paths.c */
    bool recurses;     /* a call of it may be active while it is called again */
    /* Its recursion certainly ends, since it follows the structure of a finite argument (residuals, adjoints). */
    bool ends;
    bool reached;     /* reachable from the entry */
    bool has_door;    /* also called otherwise than by tail calls inside its group */
    uint32_t group;   /* functions that tail-call each other share a number and become one function of C; 0: none */
    CtFlowRule *rule; /* the function's custom derivative, or NULL; NULL for all once derivatives have been taken */
    /* Its body is a call, which the reverse sweep runs again (ad/checkpoint.c). False once derivatives have been taken.
     */
    bool is_checkpoint;
    bool stays;       /* it is not inlined: what it computes again would be recognised as what its caller computes */
    uint64_t borrows; /* bit i: its caller keeps what parameter i is given (borrowed_parameters.c) */
    CtFlowSweeps *sweeps;  /* it is the forward sweep of these, or NULL */
    uint32_t accumulators; /* it runs both sweeps: so many parameters, the last ones, are accumulators */
} CtFlowFunction;

/* Whether its calls stay calls: passes do not put its body in their place. */
static inline bool ct_flow_is_separate(const CtFlowFunction *function) {
    return function->rule != NULL || function->is_checkpoint || function->stays;
}

/* A top-level value, evaluated on first use. */
typedef struct CtFlowConstant {
    const char *name;
    uint32_t id, word; /* word: the offset of its values among the words of all constants */
    CtFlowFunction *function;
} CtFlowConstant;

typedef struct CtFlow {
    CtProgram *core;
    CtArena *arena;
    CT_VEC(CtFlowFunction *) functions;
    CT_VEC(CtFlowConstant *) constants;
    CT_VEC(CtFlowData *) data;
    CT_VEC(CtFlowType *) types;
    CtMap shapes;             /* CtType * -> its CtFlowTypes */
    uint32_t shaping, filled; /* nesting depth of type lowering; number of data types whose constructors are complete */
    CT_VEC(CtSourceRange) sites;
    CtMap site_numbers;
    CtFlowFunction *entry;
    /* Of the entry, where it takes and gives arrays in place of lists; NULL: those of its type. */
    const CtType *input, *output;
    bool exact;                      /* results must equal the evaluator's bit for bit */
    struct CtFlowAdjoints *adjoints; /* what differentiation has made: adjoint.c */
    uint32_t constant_words;
    /* Function id and parameter index -> whether an update may change the parameter in place (forward_sweep.c). */
    CtMap consumed;
    uint32_t consumed_known; /* number of functions that `consumed` covers */
    const char *refused;     /* why the program cannot be lowered, or NULL */
    const char *wrong;       /* the pass that lint or a check found at fault, and why: an internal error */
    bool takes_derivatives;  /* the program had derivative steps */
    bool is_closed;          /* no derivative is left to be taken */
    bool is_counted;         /* it contains retains and releases: reference_counts.c */
    bool tells_messages;     /* Debug.Trace: messages.c */
} CtFlow;

/* The type of the value that the entry is given as one of this type; and that of what it gives. */
static inline const CtType *ct_flow_input(const CtFlow *flow, const CtType *type) {
    return flow->input != NULL ? flow->input : type;
}
static inline const CtType *ct_flow_output(const CtFlow *flow, const CtType *type) {
    return flow->output != NULL ? flow->output : type;
}

/* Lowers `entry`, and all that it uses, to Flow. Derivatives in the Core program must have been expanded. Where
 * something cannot be lowered, ->refused says why, and there is no program. */
CtFlow *ct_flow_make(CtProgram *program, CtAd *ad, CtGlobal *entry);

/* A tuple or record that would need more variables than this is a node instead. */
enum { CT_FLOW_WIDE = 16 };

/* The types of the variables that hold a value of a Core type. */
const CtFlowTypes *ct_flow_types(CtFlow *flow, const CtType *type);
/* The parts of a tuple or one-constructor data type that is held in variables of its own; false for all other types. */
bool ct_flow_parts(CtFlow *flow, const CtType *type, CtType *const **parts, uint32_t *count);
/* The types of the arrays that hold an `Array element`: one array for each variable of an element. */
const CtFlowTypes *ct_flow_array_types(CtFlow *flow, const CtType *element);
/* The node type of a data type, function type or wide tuple; NULL for other types. */
const CtFlowType *ct_flow_node(CtFlow *flow, const CtType *type);
/* Whether values of the type are first-order, so that they can be passed in and out of a program. */
bool ct_flow_is_plain(const CtType *type);

/* One run of a pass, a row of opt/passes.def. */
typedef struct CtFlowPass {
    const char *name, *what, *why; /* what the pass does; why it stands at its place in the order */
    double tolerance; /* in fast mode, how far results may differ from those before the pass; 0: not at all */
    bool prepares;    /* runs before derivatives are taken */
} CtFlowPass;
uint32_t ct_flow_pass_count(void);
CtFlowPass ct_flow_pass(uint32_t index);
/* The number of runs up to and including run `run` (from 1; 0: the last) of the named pass. 0 when there is no such
 * run. */
uint32_t ct_flow_pass_find(const char *name, size_t length, uint32_t run);
/* Performs the first `count` runs. Derivatives are taken even if their run is not among them, so that the result can be
 * interpreted. Sets ->refused when there is no program. With `lint` the program is checked after each run, and ->wrong
 * names the pass at fault. Running times are added to `times`, unless it is NULL. */
void ct_flow_pass_all(CtFlow *flow, uint32_t count, bool lint, CtTimes *times);
/* The number of steps in all functions. */
uint32_t ct_flow_program_size(const CtFlow *flow);
/* Replaces VJP, PULL and JVP by calls of derivative functions, innermost derivatives first, and STOP by its argument.
 * Sets ->refused where a function cannot be differentiated on Flow. */
void ct_flow_derive(CtFlow *flow);
/* The number of a source range among the sites; 0 for ranges in the library: sites.c. */
uint32_t ct_flow_site(CtFlow *flow, CtSourceRange range);
bool ct_flow_is_user(const CtFlow *flow, CtSourceRange range);
bool ct_flow_step_fails(const CtFlowStep *step);
/* Whether a step binds nothing and only fails or goes on. */
bool ct_flow_is_check(const CtFlowStep *step);
/* Whether the step itself, without its blocks, allocates memory. */
bool ct_flow_allocates(const CtFlowStep *step);
/* The step of a block, not of one inside it, that binds a variable; NULL: it is bound elsewhere, or the variable is
 * NULL. */
CtFlowStep *ct_flow_binder(const CtFlowBlock *block, const CtFlowVar *var);
/* Which of a step's results a variable is. */
uint32_t ct_flow_result_index(const CtFlowStep *step, const CtFlowVar *var);
/* Whether a variable is a parameter of a block, or bound in it, or so in a block inside it. */
bool ct_flow_binds(const CtFlowBlock *block, const CtFlowVar *var);
/* The branch of a switch on what has this tag; the last branch is for all tags that have none. */
uint32_t ct_flow_branch_for(const CtFlowStep *choice, int64_t tag);
/* Whether a block that yields consists only of primitives and reads of numbers that cannot fail. */
bool ct_flow_is_straight(const CtFlowBlock *block);
/* Whether a step takes its argument, so that it may be changed in place when nobody else holds it: step_info.c. */
bool ct_flow_takes(const CtFlowStep *step, uint32_t index);
/* Whether a step is a slice that begins at element 0 and takes its array, so that the array can be shortened in
 * place. */
bool ct_flow_is_front(const CtFlowStep *step);

/* Prints the program in the syntax of docs/flow.md. */
void ct_flow_print(CtText *out, const CtFlow *flow);
/* Checks that a program is well formed: NULL, or a description of the first fault. */
const char *ct_flow_lint(const CtFlow *flow);

#endif
