/* Shared by the files that make arrays of lists. lists_to_arrays.c describes how this works. */
#ifndef CT_CORE_LISTS_H
#define CT_CORE_LISTS_H

#include "core/simplify.h"

/* Bounds for a function. What one attempt finds is not kept for the next, which may look at the same lists again. */
enum { MOST_COPIED_NODES = 4000, MOST_ATTEMPTS = 10000 };

typedef enum CtListFunction {
    LIST_NONE,
    LIST_RANGE, /* from here to LIST_SCANL: the result is a list that it makes, not a state or an element */
    LIST_STEPS,
    LIST_OF_ARRAY,
    LIST_REPLICATE,
    LIST_MAP,
    LIST_ZIP_WITH,
    LIST_REVERSE,
    LIST_APPEND,
    LIST_FILTER,
    LIST_TAKE,
    LIST_DROP,
    LIST_TAIL,
    LIST_INIT,
    LIST_STREAM_TAKE,
    LIST_ZIP_FIRST, /* zip, whose first list has no end */
    LIST_ZIP_SECOND,
    LIST_SCANL,
    LIST_FOLDL,
    LIST_FOLDR,
    LIST_ALL,
    LIST_ANY,
    LIST_LENGTH,
    LIST_MAXIMUM,
    LIST_MINIMUM,
    LIST_ITERATE, /* without an end */
    LIST_CYCLE,
    LIST_HEAD,
    LIST_LAST,
    LIST_AT,
    LIST_NULL,
    LIST_TO_ARRAY,
    LIST_INTERCALATE,
} CtListFunction;

/* The function on lists that a term calls; LIST_NONE for others. */
CtListFunction ct_core_list_call(const CtCore *core);

typedef struct CtLists {
    CtProgram *p;
    CtMap sources;          /* CtVar * of a list that is not made -> CtListSource * of its elements */
    CtMap loops;            /* CtVar * of the loop of a comprehension -> CtLam * */
    CtMap *constants;       /* CtGlobal * of a list -> CtGlobal * of its array, or NULL; NULL: none is made */
    CT_VEC(CtVar *) opened; /* variables of lists whose bindings are bindings of arrays now */
    uint32_t trials;        /* lists bound to variables that have been tried */
    uint32_t copied;        /* nodes */
    uint32_t attempts;      /* to find where the elements of a list come from */
    bool takes_arrays;      /* the next list that becomes an array may have arrays as elements */
    CtSourceRange range;    /* of the present call */
} CtLists;

/* Terms that are bound in front of a term, from the outermost. */
typedef struct CtBinding {
    CtVar *var;
    CtCore *rhs;
} CtBinding;
typedef CT_VEC(CtBinding) CtBindings;

/* The elements of an array, of a part of one, or of a range, for i < count: those of a variable, from index `from` on;
 * or from + i · step; or what a function, which cannot fail, gives for that. */
typedef struct CtListSource {
    CtVar *array;
    const CtLam *maker; /* that function, or NULL */
    CtCore *from, *count, *step; /* atoms; from and count are NULL for a whole array, step may be NULL: 1 */
    CtSourceRange range;         /* of a range's list: where its memory is taken */
    CtType *row;                 /* the elements of the list are lists of this type, those of the array rows; or NULL */
} CtListSource;

/* ---- list_sources.c ---- */

CtVar *ct_core_list_var(CtLists *s, const char *name, CtType *type);
CtCore *ct_core_list_use(CtLists *s, CtVar *var);
/* An atom that is used again. */
CtCore *ct_core_list_again(CtLists *s, CtCore *atom);
CtCore *ct_core_list_copy(CtLists *s, CtCore *core);
/* f ⟨args⟩, with a copy of the body of a known function. */
CtCore *ct_core_list_apply(CtLists *s, CtCore *fun, CtCore *const *args);
/* Whether a function can be applied wherever it is needed. */
bool ct_core_list_is_known(const CtCore *fun);
CtCore *ct_core_list_array(CtLists *s, CtArrayOp op, CtCore *a, CtCore *b, CtCore *c);
CtVar *ct_core_list_bind(CtLists *s, CtBindings *around, const char *name, CtCore *rhs);
CtCore *ct_core_list_bind_atom(CtLists *s, CtBindings *around, const char *name, CtCore *term);
/* What stands behind the bindings of a function that is given. */
CtCore *ct_core_list_fun(CtLists *s, CtCore *fun, CtBindings *around);
CtCore *ct_core_list_wrap(CtLists *s, const CtBindings *around, CtCore *body);
CtCore *ct_core_list_empty(CtLists *s, CtType *list);
/* Whether a list shares its cells with the one that it is a part of. An array of it costs more, and is only made for
 * what goes through all elements. */
bool ct_core_list_is_shared(const CtCore *list);
/* Whether a variable occurs in a term. */
bool ct_core_list_occurs(CtLists *s, CtCore *core, const CtVar *var);
/* What stands behind the bindings of a list's term. Lists among these become arrays, which is only right if no variable
 * in s->opened occurs in the end. */
CtCore *ct_core_list_open(CtLists *s, CtCore *list, CtBindings *around);
/* Whether an attempt is allowed, which is counted. */
bool ct_core_list_may_try(CtLists *s);
/* An array with the elements of a list; NULL if the list is not made in this term. The term is used up, unless the
 * result is dropped. */
CtCore *ct_core_list_to_array(CtLists *s, CtCore *list);
bool ct_core_list_source(CtLists *s, CtCore *list, CtBindings *around, CtListSource *out);
/* The elements of the list that is to be bound to a variable: a part, or an array of its own; NULL if it has none. */
CtListSource *ct_core_list_bound_source(CtLists *s, CtVar *var, CtCore *list, CtBindings *around);
CtType *ct_core_list_source_type(CtLists *s, const CtListSource *source);
/* The array of the body for each element; and of the elements themselves. */
CtCore *ct_core_list_map_source(CtLists *s, const CtListSource *source, CtVar *element, CtCore *body);
CtCore *ct_core_list_source_array(CtLists *s, const CtListSource *source);

/* The number of elements; the element at an index below it; and what is left behind `skipped` elements, `count` of
 * them. */
CtCore *ct_core_list_count(CtLists *s, const CtListSource *source);
CtCore *ct_core_list_at(CtLists *s, const CtListSource *source, CtCore *index);
void ct_core_list_part(CtLists *s, CtListSource *source, CtBindings *around, CtCore *skipped, CtCore *count);
/* let element = value in body; of a pair, its components where the body begins with taking it apart. */
CtCore *ct_core_list_with_element(CtLists *s, CtVar *element, CtCore *value, CtCore *body);
/* The body for an element of the source's array in place of one of the list: *element becomes the row. */
CtCore *ct_core_list_taking_row(CtLists *s, const CtListSource *source, CtVar **element, CtCore *body);

/* ---- list_streams.c ---- */

/* The array of zip stream list, or of zip list stream; NULL if the list has none, or an element of the stream may fail.
 */
CtCore *ct_core_list_stream_pairs(CtLists *s, CtCore *list, bool stream_first);
/* The elements of zip stream list, or of zip list stream, where the elements of the list are rows; false for others. */
bool ct_core_list_stream_rows(CtLists *s, CtCore *list, bool stream_first, CtBindings *around, CtListSource *out);
/* Whether it would have one, if the list has. */
bool ct_core_list_pairs_stream(const CtCore *app);

/* ---- list_but_one.c ---- */

/* The array of the list that a recursive function of the program gives, which leaves out one element; NULL for others. */
CtCore *ct_core_list_removal(CtLists *s, CtCore *list);

/* ---- list_rows.c ---- */

/* The list, of this type, with the elements of a row. */
CtCore *ct_core_list_of_row(CtLists *s, CtType *list, CtCore *row);
/* The array of rows of a list of lists that a function makes of another list; NULL where lengths may differ. */
CtCore *ct_core_list_rows(CtLists *s, CtCore *list);
/* case list of { [] → …; x : rest → … }, where the list has an array: a test of its length. *tail is the variable of
 * the rest, and must not occur once the branches have been visited. NULL for other terms. */
CtCore *ct_core_list_case(CtLists *s, CtCore *core, CtVar **tail);
/* let next = λ. … in a tree of tests, all of whose leaves but one call it: the choice between the two. NULL for other
 * terms. */
CtCore *ct_core_list_next(CtLists *s, CtCore *let);

/* ---- list_conversions.c ---- */

/* toList array: a list of the given type; with a function of each element; and fromList list. */
CtCore *ct_core_list_of_array(CtProgram *p, CtCore *array, CtType *list);
CtCore *ct_core_list_of_each(CtProgram *p, CtCore *fun, CtCore *array, CtType *list);
CtCore *ct_core_list_from_list(CtProgram *p, CtCore *list);
/* The array of the rows of a list of lists; one without rows if the lists have several lengths. */
CtCore *ct_core_list_rows_or_none(CtProgram *p, CtCore *list);
/* The same of lists that certainly have one length. */
CtCore *ct_core_list_equal_rows(CtProgram *p, CtCore *list);
/* The type [element], a new one; `list` is any type of lists. */
CtType *ct_core_list_type_like(CtProgram *p, const CtType *list, CtType *element);
/* map fun list and zipWith fun xs ys, of the given type; foldl, or foldr, fun start list. */
CtCore *ct_core_list_mapped(CtProgram *p, CtCore *fun, CtCore *list, CtType *type);
CtCore *ct_core_list_zipped(CtProgram *p, CtCore *fun, CtCore *xs, CtCore *ys, CtType *type);
CtCore *ct_core_list_folded(CtProgram *p, CtCore *fun, CtCore *start, CtCore *list, bool left);

/* ---- list_recursion.c ---- */

/* Recursion along lists becomes calls of functions on lists; false where there is none. */
bool ct_core_list_recursion(CtProgram *p);

/* ---- list_boundary.c ---- */

typedef struct Boundary CtListBoundary;

/* Whether lists are given to the entry point. */
bool ct_core_list_is_given(CtProgram *p, CtGlobal *root);
/* Whether it is given lists of lists, and gives no lists; or with `numbers`, lists of numbers or of lists, and gives no
 * lists of lists; or is given arrays, and neither is given nor gives lists: cells need not be kept. */
bool ct_core_list_is_reduced(CtProgram *p, CtGlobal *root, bool numbers);
/* Puts conversions between lists outside of the program and its own ones into the entry point; NULL where there are
 * none; with `arrays`, and a function of arrays. `useless`: list_places.c has made no arrays of them, and changed
 * nothing; whether the program takes derivatives. In the end those are left out that are of no use. */
CtListBoundary *ct_core_list_boundary(CtProgram *p, CtGlobal *root, bool arrays);
/* The function of arrays, if it is there. */
CtListInput ct_core_list_boundary_input(const CtListBoundary *boundary);
void ct_core_list_boundary_useless(CtListBoundary *boundary, bool derivatives);
void ct_core_list_boundary_clean(CtProgram *p, CtGlobal *root);

/* ---- list_places.c ---- */

/* Makes arrays of the lists in parameters, results and fields of what the roots call; false where there are none. With
 * `recursion`, recursion along lists has become calls of functions on lists: so the program may take lists of lists
 * apart. */
bool ct_core_list_places(CtProgram *p, CtGlobal *const *roots, uint32_t count, bool recursion);

/* ---- list_loops.c ---- */

/* Whether a term is the recursive loop of a comprehension, λxs. case xs of [] → end; x : rest → body. */
bool ct_core_list_is_loop(const CtCore *letrec);
/* The array of a list that is made by `filter` or a comprehension; NULL if there is none. */
CtCore *ct_core_list_loop_array(CtLists *s, CtCore *list);
/* The row that head, last or !! gives of a list of lists that has an array of rows; NULL for others. */
CtCore *ct_core_list_row_at(CtLists *s, CtCore *app);

/* ---- list_tests.c ---- */

/* all fun list, any fun list, head list, or null list, where a loop makes the list of a list that has no array; NULL
 * for other lists. */
CtCore *ct_core_list_tested(CtLists *s, CtCore *app);

/* ---- lists_to_arrays.c ---- */

/* let xs = list in body, where the first that the body does is to call a function on lists with xs, otherwise with
 * functions and atoms, and xs has no other use: the body with the list in the call; other terms as they are. */
CtCore *ct_core_list_put_into_call(CtLists *s, CtCore *let);
/* let xs = list in letrec f = … in body: the same for a call of f. */
CtCore *ct_core_list_put_into_loop(CtLists *s, CtCore *let);
/* letrec f = … in body, where the first that the body does is to call f, and it does not use f again: the body with the
 * letrec around the call; other terms as they are. */
CtCore *ct_core_list_put_around_call(CtLists *s, CtCore *letrec);

/* ---- list_cells.c ---- */

/* Makes loops over lists that are made for them go along what these are made of, in a function of the program. */
void ct_core_list_cells(CtProgram *p, CtGlobal *global);

/* ---- list_loops.c, again ---- */

/* What the consumer of a list gives; NULL for other terms, and if the list remains. */
CtCore *ct_core_list_consumed(CtLists *s, CtCore *app);

#endif
