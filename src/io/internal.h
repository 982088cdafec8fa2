/* Shared by reading and writing. */
#ifndef CT_IO_INTERNAL_H
#define CT_IO_INTERNAL_H

#include <stdio.h>

#include "io/io.h"

enum { CT_IO_MOST_DIGITS = 100000 }; /* of an Integer that is read, which takes the square of their number */

/* Whether a type is [a], [Char] or Bool: data types of Core with their own JSON syntax. */
bool ct_io_json_is_list(const CtType *type);
bool ct_io_json_is_string(const CtType *type);
bool ct_io_json_is_bool(const CtType *type);

/* The length of the name of a constructor's field in JSON of other programs, where several types or a keyword can have
 * one name: without the primes at its end, unless another of its fields would have that name, too. */
size_t ct_io_foreign_name(CtSym const *fields, uint32_t count, uint32_t index);

/* Prints a type in Cotan's syntax into `out`, and returns it. It uses no arena memory, because values are held. */
const char *ct_io_type_name(const CtType *type, char *out, size_t size);

/* The path from the root of an input to the value being read, its last step first. It becomes text, such as
 * `.mu[3][1]`, only in an error message. */
typedef struct CtPath {
    const struct CtPath *outer;
    const char *field; /* NULL if the step is an index */
    size_t index;
} CtPath;

/* Writes the message of an error in the input `what`: `what: at PATH: TEXT`. */
void ct_io_path_message(char *message, size_t size, const char *what, const CtPath *path, const char *format,
                        va_list list) __attribute__((format(printf, 5, 0)));

/* ---- maps.c ---- */

/* The entries of a map, or of a set, in order: key, item, key, item …; the item of an element of a set is (). */
const CtWord *ct_io_map_entries(CtArena *arena, const CtType *type, CtWord value, size_t *count);

typedef struct CtEntry { /* of a map that is read */
    const CtType *type;  /* of the key */
    CtWord key, item;
    const void *given; /* what it is read from; borrowed */
    const char *name;  /* the key's, where it is a member of an object */
    size_t index;      /* its place in the input */
} CtEntry;

/* Sorts entries by key. An entry whose key is there before it, or NULL. */
const CtEntry *ct_io_map_sort(CtEntry *entries, size_t count);
void ct_io_map_release(CtHeap *heap, const CtType *map, const CtEntry *entries, size_t keys, size_t items);
/* The tree of sorted entries, which it takes; the set of a map, which it takes. False: the heap is full. */
bool ct_io_map_tree(CtHeap *heap, const CtType *map, const CtEntry *entries, size_t count, CtWord *tree);
bool ct_io_set_of(CtHeap *heap, const CtType *set, CtWord map, CtWord *value);

/* ---- npy.c ---- */

#define CT_NPY_MAGIC "\x93NUMPY"
enum { CT_NPY_RANK = 32 }; /* axes, as in NumPy */

typedef enum CtNpyKind { NPY_FLOAT, NPY_INT, NPY_UNSIGNED, NPY_BOOL } CtNpyKind;

/* A parsed .npy file; borrows its bytes. */
typedef struct CtNpy {
    const char *what; /* for messages: where it comes from */
    char descr[24];   /* "<f8" */
    CtNpyKind kind;
    uint32_t size; /* bytes per element */
    bool fortran;  /* the first axis varies fastest */
    uint32_t rank;
    uint64_t shape[CT_NPY_RANK];
    const unsigned char *data; /* the elements; the file is known to hold as many as `shape` says */
} CtNpy;

/* False with an error (E0610, E0611) when the bytes are not a .npy file. */
bool ct_io_npy_parse(CtContext *context, const char *what, const void *data, size_t length, CtNpy *npy);
/* A value of a type of numbers, or lists and arrays of them. As ct_io_json_value; `next_leaf` is how many leaves of
 * `replace` have been used. */
bool ct_io_npy_value(CtContext *context, CtHeap *heap, const CtNpy *npy, const CtType *type, const CtLeaves *replace,
                     uint32_t *next_leaf, CtWord *value);

/* ---- npz.c ---- */

typedef struct CtNpz CtNpz; /* an archive, read whole; not in an arena */

/* Reads an archive of at most `budget` bytes. NULL with an error. Free it with ct_io_npz_free. */
CtNpz *ct_io_npz_read(CtContext *context, const char *what, const void *bytes, size_t length, size_t budget);
void ct_io_npz_free(CtNpz *npz);
/* As ct_io_input_members. */
bool ct_io_npz_members(CtContext *context, const CtNpz *npz, CtText *out);
/* As ct_io_input_name. */
void ct_io_npz_name(CtNpz *npz, const char *const *parameters);
bool ct_io_npz_value(CtContext *context, CtHeap *heap, const CtNpz *npz, const CtType *type, const CtLeaves *replace,
                     CtWord *value);

#endif
