/* Private to differentiation on Flow: operations on adjoint values (adjoint.c). */
#ifndef CT_FLOW_ADJOINT_H
#define CT_FLOW_ADJOINT_H

#include "flow/ad/derive.h"
#include "flow/build.h"

/* Writes the body of a helper function on adjoints, for its parameters. */
typedef void CtFlowFill(CtFlowBuilder *l, const CtFlowArgs *params);

typedef struct CtFlowWaiting { /* a function whose body is written when the constructors of a type are known */
    CtFlowFunction *function;
    const CtFlowType *key;
    CtFlowFill *fill;
} CtFlowWaiting;

/* The two types that go with a type. They differ in the arrays that nodes and arrays hold: a cotangent has a bag for
 * each, since the same array may be held many times and each time be used in a few places (bags.c). */
typedef enum CtFlowDual { DUAL_COTANGENT, DUAL_TANGENT } CtFlowDual;

enum { MOST_RANK = 16 /* of arrays that are differentiated */ };

/* What differentiation has made for a program so far. */
typedef struct CtFlowAdjoints {
    CtMap types[2];             /* CtFlowType * -> its cotangents' or tangents' type, by CtFlowDual */
    CtMap adds;                 /* adjoint type -> the function (a, b) → a + b */
    CtMap embeds;               /* adjoint or tangent type -> the function that embeds what the user gives */
    CtMap projects;             /* adjoint or tangent type -> the function that projects to the user's type */
    CtMap raw_projects;         /* the same, to values whose structural zeros remain −0.0 */
    CtMap bags, arrays_of_bags; /* type of an array of adjoints -> its bag, and the converse */
    /* By the number of indices, of which there may be none, or one for each dimension: */
    CtMap bag_sums[MOST_RANK + 1]; /* type of a bag -> (bag, ⟨indices⟩, value) → bag */
    CtMap collects[MOST_RANK + 1]; /* type of a bag -> (array, ⟨indices⟩, bag) → array */
    CtMap nothings[MOST_RANK + 1]; /* adjoint type -> (adjoint, ⟨indices⟩) → whether it is nothing, by their number */
    CtMap shape_checks;            /* type -> the function that checks that two values have the same shape */
    CtMap made;                    /* CtFlowFunction * -> which of its results it makes: activity.c */
    CT_VEC(struct Variant *) variants; /* of functions, for reverse.c; the first `written` of them have bodies */
    uint32_t written;
    CT_VEC(CtFlowWaiting) waiting;
} CtFlowAdjoints;

CtFlowAdjoints *ct_flow_adjoints(CtFlow *flow);
/* A function on adjoints, made when it is first needed; `fill` writes its body. */
CtFlowFunction *ct_flow_helper(CtFlow *flow, CtMap *known, const CtFlowType *key, const char *name,
                               const CtFlowTypes *params, const CtFlowType *result, CtFlowFill *fill);

/* bags.c: the adjoint of an array that may be known by other names, as the things that were added to it. */
/* The type of bags that stand for arrays of adjoints of this type. */
const CtFlowType *ct_flow_bag_type(CtFlow *flow, const CtFlowType *array);
bool ct_flow_is_bag(CtFlow *flow, const CtFlowType *type);
/* A bag of all elements of an array. Unless the array is `full`, it may be the empty array that stands for zero. */
CtFlowArg ct_flow_bag_of(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, bool full);
/* The array that a bag stands for: an array of these lengths, or the empty array for zero. Takes the bag. */
CtFlowArg ct_flow_bag_array(CtFlowBuilder *l, CtSourceRange range, CtFlowArg bag, const CtFlowArg *dims);
/* array += bag; the array has all its elements. */
CtFlowArg ct_flow_bag_collect(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, CtFlowArg bag);
/* The sum of two bags. */
CtFlowArg ct_flow_bag_add(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b);
/* Removes the element at the indices from a Dense bag, and gives it; any other bag stays as it is, and gives zero. */
CtFlowArg ct_flow_bag_take(CtFlowBuilder *l, CtSourceRange range, CtFlowArg *bag, const CtFlowArg *indices,
                           uint32_t count);
/* bag[⟨indices⟩] += value. With fewer indices than dimensions the value is a bag of a row. */
CtFlowArg ct_flow_bag_add_at(CtFlowBuilder *l, CtSourceRange range, CtFlowArg bag, const CtFlowArg *indices,
                             uint32_t count, CtFlowArg value);
/* The bag, as an array of these lengths inside if it is to receive at least an element for each few of the array's. */
CtFlowArg ct_flow_bag_for(CtFlowBuilder *l, CtSourceRange range, CtFlowArg bag, CtFlowArg times, const CtFlowArg *dims);

/* Whether an array of adjoints is the empty array that stands for zero; an Int. */
CtFlowArg ct_flow_is_empty(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array);
/* An array of zeros of the given lengths, with elements of an adjoint type. */
CtFlowArg ct_flow_zeros(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *adjoint, const CtFlowArg *dims);
/* `array`, or zeros of these lengths where it is the empty array that stands for zero. */
CtFlowArg ct_flow_filled(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *dims);
/* array[⟨indices⟩] += value. The value is an element, or a row that may be the empty array; `array` has all its
 * elements. */
CtFlowArg ct_flow_add_at(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *indices,
                         uint32_t count, CtFlowArg value);
/* Whether all reals of a cotangent are structural zeros; an Int. */
CtFlowArg ct_flow_is_nothing(CtFlowBuilder *l, CtSourceRange range, CtFlowArg adjoint);
/* Whether a type has no adjoint because derivatives of function values that hold derivatives nest too deeply. Whoever
 * asks for its adjoint sets ->refused. */
bool ct_flow_has_no_adjoint(const CtFlowType *type);
#define CT_FLOW_TOO_MANY_ORDERS "derivatives of function values that hold derivatives nest too deeply"
/* Sets ->refused where the program has arrays of more than MOST_RANK dimensions, which no derivative indexes. */
void ct_flow_refuse_high_ranks(CtFlow *flow);
/* Whether values of a type contain reals, and so have adjoints. */
bool ct_flow_is_active(CtFlow *flow, const CtFlowType *type);
/* The same, or whether function values may come to contain them; makes no type of adjoints. */
bool ct_flow_has_reals(CtFlow *flow, const CtFlowType *type);
/* The fields of the adjoint of a node of constructor `tag`: zeros when it is Zero. */
CtFlowArgs ct_flow_adjoint_fields(CtFlowBuilder *l, CtSourceRange range, CtFlowArg adjoint, uint32_t tag);

/* The transposed or forward derivative of a primitive step by one of its arguments, applied to g (partials.c): g is the
 * result's cotangent, and the value is added to the argument's; or g is the argument's tangent, and the value is added
 * to the result's. `type` is the type of the value. No variable when the derivative is zero. The callback gives the
 * primal value of an argument or of the result where the derivative uses it. */
typedef CtFlowArg CtFlowPrimal(void *data, CtFlowArg of);
CtFlowArg ct_flow_partial(CtFlowBuilder *l, const CtFlowStep *step, uint32_t index, CtFlowArg g, const CtFlowType *type,
                          CtFlowPrimal *primal, void *data);

#endif
