/* Shared by the files that make functions on lists of recursion along lists. list_recursion.c describes how. */
#ifndef CT_CORE_LIST_RECURSION_H
#define CT_CORE_LIST_RECURSION_H

#include "core/lists.h"

enum { MOST_LISTS = 6, MOST_PARAMS = 32, MOST_OPENED = 4, MOST_COLLECTED = 16, DEEPEST = 2500 };

typedef enum CtLeafForm {
    LEAF_NONE,
    LEAF_CALL,  /* f ⟨…⟩ */
    LEAF_CELL,  /* e : f ⟨…⟩ */
    LEAF_TUPLE, /* let (ys, s) = f ⟨…⟩ in (e : ys, s) */
    LEAF_PRIM,  /* e + f ⟨…⟩, or another primitive that cannot fail */
} CtLeafForm;

/* A list that the function goes along. In each iteration it opens `count` cells and goes on behind `step` of them; or,
 * with `size`, it takes so many elements as a list. */
typedef struct CtAlong {
    uint32_t param, count, step;
    bool drops; /* calls go on behind `size` elements */
    CtVar *heads[MOST_OPENED], *tails[MOST_OPENED];
    CtCore *size; /* an atom that is the same in each iteration */
    CtVar *part;  /* of that size, as a list */
    CtVar *array; /* of all elements; NULL: not needed */
} CtAlong;

typedef struct CtRecursion {
    CtLists lists;
    CtProgram *p;
    const CtLam *lam;
    CtVar *var;       /* the function: this or */
    CtGlobal *global; /* this */
    CtAlong along[MOST_LISTS];
    uint32_t along_count;
    CtCore *end;              /* what is given where a list ends */
    CtCore *leaf;             /* what the elements of all give */
    bool states[MOST_PARAMS]; /* parameters that calls change */
    bool grown[MOST_PARAMS];  /* those that calls only put an element in front of */
    bool seen[MOST_PARAMS];   /* those that the leaf looks at */
    uint32_t state_count, grown_count, calls;
    CtLeafForm form;
    uint32_t parts; /* of a tuple, that get elements in front: bits */
    CtPrim prim;
    CtVar *rounds; /* the number of iterations, where the end looks at what is left; NULL: it does not */
    bool refused;
} CtRecursion;

/* Finds the lists, the leaf, the end and the states; false: the function has another form. */
bool ct_core_recursion_form(CtRecursion *r);
bool ct_core_recursion_is_call(const CtRecursion *r, const CtCore *core);
/* Whether the function occurs in a term. */
bool ct_core_recursion_has_call(CtRecursion *r, CtCore *core);
bool ct_core_recursion_is_empty(const CtCore *core);
/* Whether a type is one of lists that may have arrays. */
bool ct_core_recursion_is_values(const CtType *type);

/* The elements of the lists from the given one on: one, or a pair of one and the others; the list of these; and a term
 * in which the variables of the elements are bound. */
CtType *ct_core_recursion_element_type(CtRecursion *r, uint32_t from);
CtCore *ct_core_recursion_along(CtRecursion *r, uint32_t index); /* of one list */
CtCore *ct_core_recursion_elements(CtRecursion *r, uint32_t from);
CtCore *ct_core_recursion_with_elements(CtRecursion *r, uint32_t from, CtVar *element, CtCore *body);
/* A term with what elements, list and end need around it. */
CtCore *ct_core_recursion_with_arrays(CtRecursion *r, CtCore *body);

#endif
