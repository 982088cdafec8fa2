/* Shared by the files that decide which lists are kept as arrays. list_places.c describes how this works. */
#ifndef CT_CORE_LIST_PLACES_H
#define CT_CORE_LIST_PLACES_H

#include "core/cycles.h"
#include "core/lists.h"

typedef enum CtListForm { FORM_LIST, FORM_ARRAY, FORM_ROW } CtListForm;

/* The type of a variable, a term, a parameter or a field, in which each list is a class of its own until it is unified
 * with others. Places that hold the same values have one representative. */
typedef struct CtPlace {
    struct CtPlace *same;   /* the representative is found along these; NULL: this one */
    CtType *type;           /* as the program has it */
    struct CtPlace **parts; /* of a tuple, an array, a function; the element of a list. NULL for types without lists */
    uint32_t count;
    struct CtPlace *of; /* of a list that a comprehension makes: the one that it goes through */
    bool is_list;
    bool stays;      /* a list whose cells the program sees */
    bool is_opened;  /* by the program's own patterns */
    bool is_held;    /* a parameter, a result or a field */
    bool is_row;     /* the element of a list or an array */
    bool is_indexed; /* the program reads elements by their index */
    bool is_probed;  /* at indices that are no literals */
    bool is_left;    /* loops may leave it before its end */
} CtPlace;

/* A copy of a global, in which the terms are changed. */
typedef struct CtPlacedGlobal {
    CtGlobal *original, *copy; /* the same, for a function of the program: its body and type are changed in the end */
    CtCore *body;
    CtPlace *type;
    bool is_recursive, is_root;
} CtPlacedGlobal;

typedef struct CtPlacedTerm {
    CtCore *core;
    CtPlace *place;
} CtPlacedTerm;

typedef struct CtPlacedSlot {
    CtCore **slot;
    CtPlace *place;
} CtPlacedSlot;

typedef struct CtPlacedPart {
    CtPlace *whole, *part;
    bool is_shorter;
} CtPlacedPart;

typedef struct CtPlaces {
    CtLists lists;
    CtCycles cycles;
    CtMap vars;                      /* CtVar * -> CtPlace * */
    CtMap fields;                    /* CtType *const * of a constructor's field -> CtPlace * */
    CtMap globals;                   /* CtGlobal * -> CtPlacedGlobal * */
    CtMap has_lists;                 /* CtType * -> whether lists are in its values */
    CtMap loops;                     /* CtVar * of the loop of a comprehension, where it may be called -> CtPlace * */
    CtMap early;                     /* CtVar * of a loop that may end before its list does -> EarlyLoop * */
    CtMap left;                      /* CtGlobal * that stays as it is */
    CtMap kept;                      /* CtType * whose fields are kept */
    CtMap lists_of;                  /* type of an element -> type of its lists */
    CT_VEC(CtPlacedGlobal *) copies; /* in the order of creation: the roots first */
    uint32_t root_count;
    bool opens_rows;               /* lists of lists may be taken apart */
    uint32_t recursions;           /* local ones, around the present term */
    CT_VEC(CtPlacedTerm) terms;    /* that have a place */
    CT_VEC(CtPlacedTerm) cells;    /* lists whatever their place becomes */
    CT_VEC(CtPlacedTerm) cases;    /* that open lists of these places */
    CT_VEC(CtPlacedTerm) made;     /* lists that functions on lists give */
    CT_VEC(CtPlacedSlot) read;     /* lists that functions on lists are given */
    CT_VEC(CtPlacedPart) shared;   /* lists that share cells */
    CT_VEC(CtPlacedPart) appended; /* lists that are put in front of others, and the results */
    CT_VEC(CtData *) datas;        /* whose fields have places */
    const CtPlacedGlobal *within;  /* whose terms are looked at */
    bool refused;
} CtPlaces;

CtPlace *ct_core_place_find(CtPlace *place);
CtPlace *ct_core_place_of_field(CtPlaces *w, const CtCon *con, uint32_t index);
/* What a list of this place becomes. */
CtListForm ct_core_place_form(const CtPlace *place);
/* The lists that stay because of what is done with their cells. */
void ct_core_places_keep_cells(CtPlaces *w);
/* Gives each term the type that its place has now. */
void ct_core_places_rewrite(CtPlaces *w);

#endif
