/* How what is done with the elements of a list is carried to where these come from: list_loops.c. */
#ifndef CT_CORE_LIST_STAGES_H
#define CT_CORE_LIST_STAGES_H

#include "core/lists.h"

/* How many elements a stage makes of one: 2 stands for more, and for an unknown number. */
typedef struct CtListCount {
    uint32_t least, most;
} CtListCount;

/* What is done with an element: by the consumer's function, or by a function between it and the source. The result is
 * the new state; NULL if the term has another form. */
typedef struct CtListStage {
    CtCore *(*step)(CtLists *s, const struct CtListStage *stage, CtCore *state, CtCore *element);
    const struct CtListStage *next;
    CtType *state;
    CtCore *fun;
    const CtLam *loop; /* of a comprehension */
    CtVar *self, *rest;
    bool partial; /* it may fail */
    bool is_test; /* that of `all` or `any`; a loop may end once it is decided, if nothing in front of it may fail */
    bool ends;    /* loops end then */
    CtListCount count;
} CtListStage;

typedef struct CtListChain {
    CtBindings around;
    CtListSource source;
    CtCore *parts;            /* in place of a source: a list that is made, or whose parts are */
    const CtListStage *first; /* of the stages between the source and the consumer, or the consumer */
    bool partial;             /* one of the stages may fail */
    CtListCount count;        /* of elements for each element of the source */
} CtListChain;

/* The stages between a list and what consumes it; false where the list remains. */
bool ct_core_list_chain(CtLists *s, CtCore *list, const CtListStage *last, CtListChain *chain);
/* The last state, of these stages and this first one. */
CtCore *ct_core_list_run_chain(CtLists *s, const CtListChain *chain, CtCore *start);

/* ---- list_but_one.c ---- */

/* The array of the elements that the last stage of a chain puts behind its state, where it leaves out one by its index;
 * NULL for other chains. */
CtCore *ct_core_list_but_one(CtLists *s, CtListChain *chain);

/* ---- list_parts.c ---- */

/* Whether a term is `concat list`; the list is its last argument. */
bool ct_core_list_is_concat(const CtCore *core);
/* Whether a list is put together of parts, some of which are made by loops. */
bool ct_core_list_has_parts(CtLists *s, const CtCore *list);
/* The state behind all elements of a list, each of which the given stage takes. The list, used up, need not have an
 * array. NULL: a part remains. */
CtCore *ct_core_list_parts(CtLists *s, const CtListStage *next, CtCore *list, CtCore *state);
/* The same where the list is made as it is. */
CtCore *ct_core_list_over_cells(CtLists *s, const CtListStage *next, CtCore *list, CtCore *state);
/* The stage of `concat`: its elements are lists. */
CtCore *ct_core_list_step_concat(CtLists *s, const CtListStage *stage, CtCore *state, CtCore *element);

#endif
