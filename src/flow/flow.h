/* Flow: how a program runs. First-order, monomorphic, A-normal: docs/flow.md. The steps are in flow.def.
 *
 * A program of Flow lives in the arena of the Core that it was made from, and keeps pointers to its types. */
#ifndef CT_FLOW_FLOW_H
#define CT_FLOW_FLOW_H

#include "ad/ad.h"
#include "base/times.h"

/* ---- types ---- */

typedef enum CtFlowKind { FLOW_F64, FLOW_F32, FLOW_I64, FLOW_NODE, FLOW_ARRAY } CtFlowKind;

typedef struct CtFlowType {
    CtFlowKind kind;
    uint32_t rank;                    /* ARRAY */
    const struct CtFlowType *element; /* ARRAY: never one of a tuple; an array is held by reference */
    struct CtFlowData *data;          /* NODE */
} CtFlowType;                         /* equal types are the same pointer */

static inline bool ct_flow_is_object(const CtFlowType *type) { return type->kind >= FLOW_NODE; }

typedef struct CtFlowTypes { /* a sequence: what a Core type becomes */
    const CtFlowType **items;
    uint32_t count;
} CtFlowTypes;

typedef struct CtFlowCon {
    const char *name;
    CtFlowTypes fields;
    uint32_t *slots; /* of each field in the node: objects come first */
    uint32_t pointers;
} CtFlowCon;

/* What a node holds: a data type of Core, a tuple that is too wide, or the closures of a function type. */
typedef struct CtFlowData {
    const char *name;
    CtType *type; /* NULL: of what differentiation keeps */
    CtFlowCon *cons;
    uint32_t count, capacity;
    uint32_t id;
    struct CtFlowFunction *apply; /* of a function type: (node, arguments) → results */
    uint32_t order;               /* of what VJP keeps: 1; of its adjoints: one more each time; of all else: 0 */
    bool is_open; /* what VJP keeps, or an adjoint of that, whose constructor derive.c does not know yet */
} CtFlowData;

/* ---- programs ---- */

typedef struct CtFlowVar {
    const char *name; /* of the source, or what it is; not unique */
    uint32_t id;      /* unique in its function */
    const CtFlowType *type;
    struct CtFlowVar
        *like; /* of a parameter: another one of the same length, being an array of parts of the same tuples */
} CtFlowVar;

typedef struct CtFlowArg { /* a variable, or a literal */
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

/* The columns of flow.def, which says what each means. */
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

/* A function whose derivative is taken. */
typedef struct CtFlowDerived {
    struct CtFlowFunction *function; /* (captured, point) → results */
    uint32_t captured;               /* how many parameters stand before the point */
    const CtFlowType *residual; /* what VJP gives to PULL: a node, its constructor known once derive.c has been there */
    const struct CtFlowForward *forward; /* what JVP calls; NULL until it is made */
    struct CtFlowFunction *pullback;     /* (residual, cotangents of the results) → cotangents of the point */
} CtFlowDerived;

/* What the program says of a function's derivative. The function takes what f captured, what each of the two forms of
 * the rule captured, then the point. Derivatives call the rule with primals in the place of what they would make of f.
 */
typedef struct CtFlowRule {
    uint32_t own, pair, tangent;       /* how many parameters each captured */
    struct CtFlowFunction *f;          /* (own, point) → ⟨y⟩ */
    struct CtFlowFunction *by_slope;   /* from one real to one: (pair, point) → y, ∂y/∂x; else NULL, and: */
    struct CtFlowFunction *by_pair;    /* (pair, point) → ⟨y⟩, pullback */
    struct CtFlowFunction *pull;       /* (pullback, ⟨dy⟩) → ⟨dx⟩ */
    struct CtFlowFunction *by_tangent; /* (tangent, point, ⟨dx⟩) → ⟨y⟩, ⟨dy⟩ */
} CtFlowRule;

typedef enum CtFlowExit { EXIT_OPEN, EXIT_YIELD, EXIT_RETURN, EXIT_TAIL, EXIT_NEVER } CtFlowExit;

typedef struct CtFlowBlock {
    CtFlowVars params; /* of a loop: the index, then what is carried */
    CT_VEC(struct CtFlowStep *) steps;
    CtFlowExit exit; /* OPEN while it is made; NEVER: its last step does not go on */
    CtFlowArgs values;
    struct CtFlowFunction *tail;
    CtSourceRange range; /* of the exit */
} CtFlowBlock;

enum { FLOW_OTHERS = UINT32_MAX };
typedef struct CtFlowBranch {
    uint32_t tag; /* FLOW_OTHERS: all others */
    CtFlowBlock *block;
} CtFlowBranch;

/* The matrices of a product. */
typedef struct CtFlowFactors {
    bool transposed[2]; /* an element [i, j] of it is [j, i] of the array */
    uint8_t
        cotangent; /* which of them, from 1, is a tangent or cotangent: multiplied by it as `scale` does; 0: neither */
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
        struct { /* MAKE, OPEN, RELEASE of a cell; a result of OPEN may be NULL */
            CtFlowData *data;
            uint32_t tag;
            bool takes;
            CtFlowVar *cell; /* the memory that OPEN leaves to MAKE: memory_reuse.c; NULL: none */
            bool again;      /* of MAKE: what it was before was of the same constructor */
        } con;
        struct { /* SWITCH; on the tag of a node, or on a scalar */
            CtFlowBranch *branches;
            uint32_t count;
        } cases;
        struct {
            CtFlowBlock *block; /* yields `carried` values, then one for each array */
            uint32_t carried;
            bool associative;
            bool initial;  /* the carried values are the arrays' first elements; then the block yields no others (scanl)
                            */
            bool borrowed; /* reads in the block see arrays from outside */
            bool counted;  /* it was a recursion: it may take long, and can be interrupted */
        } loop;
        struct {
            CtErrorCode code;
            const char *text; /* NULL: the string is an argument */
        } fail;
        uint32_t index; /* CHECK, DIM; CHECK_SHAPE: which element; */
        CtArrayOp bulk;
        CtFlowFactors product;
        CtFlowDerived *derived; /* VJP, PULL, JVP */
    } as;
} CtFlowStep;

/* The blocks within a step: the body of a loop, the branches of a switch; other steps have none. */
static inline uint32_t ct_flow_inner_count(const CtFlowStep *step) {
    return step->kind == FLOW_LOOP ? 1 : step->kind == FLOW_SWITCH ? step->as.cases.count : 0;
}
static inline CtFlowBlock *ct_flow_inner(const CtFlowStep *step, uint32_t index) {
    return step->kind == FLOW_LOOP ? step->as.loop.block : step->as.cases.branches[index].block;
}

/* Whether a step is gone once derivatives are taken, being one. */
static inline bool ct_flow_is_derivative(const CtFlowStep *step) {
    return step->kind == FLOW_VJP || step->kind == FLOW_PULL || step->kind == FLOW_JVP;
}

typedef struct CtFlowFunction {
    const char *name;
    uint32_t id;
    CtFlowVars params;
    CtFlowTypes results;
    CtFlowBlock *body;
    uint32_t vars; /* how many, for numbering */
    CtSourceRange range;
    bool takes_call_site; /* its failures in the library are told at a place that it is given: call_sites.c */
    bool is_cold_path;    /* makes the text of a failure: cold_paths.c */
    bool recurses;        /* it may be waiting for itself */
    bool ends;            /* it calls itself for parts of what it is given, and no more: residuals, adjoints */
    bool reached;         /* from the entry */
    bool has_door;        /* called otherwise than by an end of a function of its group */
    uint32_t group;       /* functions that end in each other have the same; 0: alone */
    CtFlowRule *rule;     /* NULL: none; and for all once derivatives have been taken */
} CtFlowFunction;

/* A constant of the program. */
typedef struct CtFlowConstant {
    const char *name;
    uint32_t id, word; /* word: where its values lie among all constants' */
    CtFlowFunction *function;
} CtFlowConstant;

typedef struct CtFlow {
    CtProgram *core;
    CtArena *arena;
    CT_VEC(CtFlowFunction *) functions;
    CT_VEC(CtFlowConstant *) constants;
    CT_VEC(CtFlowData *) data;
    CT_VEC(CtFlowType *) types;
    CtMap shapes;             /* CtType * -> what it becomes */
    uint32_t shaping, filled; /* types that are being looked at; data whose constructors are known */
    CT_VEC(CtSourceRange) sites;
    CtMap site_numbers;
    CtFlowFunction *entry;
    bool exact;                      /* results are to be the evaluator's, bit for bit */
    struct CtFlowAdjoints *adjoints; /* what differentiation has made: adjoint.c */
    uint32_t constant_words;
    CtMap consumed; /* a function's id and a parameter's index: an update may change it in place (forward_sweep.c) */
    uint32_t consumed_known; /* functions that have been looked at for that */
    const char *refused;     /* why there is no program */
    const char *wrong;       /* which pass is at fault, and how: an error of Cotan's own */
    bool takes_derivatives;  /* before they were taken */
} CtFlow;

/* Lowers a program whose derivatives are expanded: `entry` and all that it needs. When ->refused is set, something is
 * not lowered, and there is no program. */
CtFlow *ct_flow_make(CtProgram *program, CtAd *ad, CtGlobal *entry);

/* A tuple or record of more variables is a node: no type becomes more of them. */
enum { CT_FLOW_WIDE = 12 };

/* What a Core type becomes: how many variables of which types. */
const CtFlowTypes *ct_flow_types(CtFlow *flow, const CtType *type);
/* The parts of a type whose parts are variables of their own: a tuple, data of one constructor; false for others. */
bool ct_flow_parts(CtFlow *flow, const CtType *type, CtType *const **parts, uint32_t *count);
/* What the elements of an array of a type become: of each part, the type of an array of them. */
const CtFlowTypes *ct_flow_array_types(CtFlow *flow, const CtType *element);
/* The node type of a data type, function type or wide tuple; NULL where it is none. */
const CtFlowType *ct_flow_node(CtFlow *flow, const CtType *type);
/* Whether values of the type can be handed in and out: they hold no functions. */
bool ct_flow_is_plain(const CtType *type);

/* One run of a pass over a program: opt/passes.def. */
typedef struct CtFlowPass {
    const char *name, *what, *why; /* what the pass does, why it stands where it does */
    double tolerance; /* where mathematics may be fast, how far its results may be from those before; 0: not a bit */
    bool prepares;    /* it comes before derivatives are taken */
    bool counted;     /* it leaves retains and releases */
} CtFlowPass;
uint32_t ct_flow_pass_count(void);
CtFlowPass ct_flow_pass(uint32_t index);
/* How many passes have run behind the run of that number, from 1, of the pass of that name; 0: the last one. 0 where
 * there is none. */
uint32_t ct_flow_pass_find(const char *name, size_t length, uint32_t run);
/* Runs the first `count` of them, and takes derivatives in any case: what it leaves can be interpreted. ->refused tells
 * why there is no program. With `lint` the program is looked at after each: ->wrong names one that is at fault. `times`
 * are added to; NULL: they are not taken. */
void ct_flow_pass_all(CtFlow *flow, uint32_t count, bool lint, CtTimes *times);
/* How many steps its functions have. */
uint32_t ct_flow_program_size(const CtFlow *flow);
/* Replaces VJP, PULL and JVP by calls of what differentiation makes of their functions, inner derivatives first, and
 * STOP by its argument. ->refused is set where a function is not differentiated here. */
void ct_flow_derive(CtFlow *flow);
/* The number of a source range among the sites; 0 for a place in the library: sites.c. */
uint32_t ct_flow_site(CtFlow *flow, CtSourceRange range);
bool ct_flow_is_user(const CtFlow *flow, CtSourceRange range);
bool ct_flow_step_fails(const CtFlowStep *step);
/* Whether a step gives nothing, and fails or not. */
bool ct_flow_is_check(const CtFlowStep *step);
/* Whether a step itself, not its blocks, takes memory. */
bool ct_flow_allocates(const CtFlowStep *step);
/* Whether a block that yields is primitives and reads of numbers, none of which fails. */
bool ct_flow_is_straight(const CtFlowBlock *block);
/* Whether a step takes its argument, so that it may be changed in place when nobody else holds it: step_info.c. */
bool ct_flow_takes(const CtFlowStep *step, uint32_t index);
/* Whether it is a slice from the first element on, which takes its array: what is behind is cut off in place. */
bool ct_flow_is_front(const CtFlowStep *step);

/* As docs/flow.md writes it. */
void ct_flow_print(CtText *out, const CtFlow *flow);
/* NULL when sound; otherwise what is wrong. */
const char *ct_flow_lint(const CtFlow *flow);

#endif
