/* Conversion between values and files (JSON, .npy, .npz), by Core type. The formats are described in
 * docs/command.md. */
#ifndef CT_IO_IO_H
#define CT_IO_IO_H

#include "value/value.h"

/* The reals of a value, from left to right: collected while the value is written, or used in place of the reals in an
 * input while it is read. */
typedef struct CtLeaves {
    CtArena *arena;
    CT_VEC(double) reals;
    uint32_t next; /* for replacing: number of reals used so far */
    bool apart;    /* for collecting: the text has 1 in place of each real, so that it shows everything else */
    bool single;   /* for collecting: some of the reals are Floats; which: */
    CT_VEC(bool) floats;
    bool trees; /* for replacing: the input is a text of collected reals, where maps are the trees that they are */
} CtLeaves;

/* Whether a type is Map or Set of Data.Map.Tree; sets the types of keys and items, or of the elements. */
bool ct_io_is_map(const CtType *type, const CtType **key, const CtType **item);
bool ct_io_is_set(const CtType *type, const CtType **element);

/* A JSON document being read: parsed once, then taken apart. */
typedef struct CtJson CtJson;

/* Parses. NULL with an error in the context (E0602), which names `what` ("--at"). Free it with ct_io_json_free; it
 * belongs to Jansson's memory, not to an arena. */
CtJson *ct_io_json_parse(CtContext *context, const char *what, const char *text, size_t length);
void ct_io_json_free(CtJson *json);
/* Takes the document as the array of `count` arguments of a function: one argument is read from its element. False with
 * an error when it is no such array. */
bool ct_io_json_arguments(CtContext *context, CtJson *json, const char *function, uint32_t count);

/* The value of a type in a document; its owner is the caller. False with an error in the context whose message names
 * the path of the place, what was expected and what was found; then nothing is left in the heap. With `replace`, the
 * reals of the value are those leaves instead, one after the other. */
bool ct_io_json_value(CtContext *context, CtHeap *heap, const CtJson *json, const CtType *type, const CtLeaves *replace,
                      CtWord *value);
/* From now on the document is read as one of another program: objects may have members that are no fields, a field x'
 * is the member "x", and where there is none "X". */
void ct_io_json_foreign(CtJson *json);

/* ---- inputs in any form ---- */

/* A JSON text, or the bytes of a .npy or .npz file, distinguished by their first bytes; borrowed. Not in an arena. */
typedef struct CtInput CtInput;

/* False with an error in the context, which names `what`. An archive may unpack to at most `budget` bytes. The input
 * stands in `place` from the beginning, for the caller to free, also after a failure or when memory runs out. */
bool ct_io_input_parse(CtContext *context, const char *what, const char *bytes, size_t length, size_t budget,
                       CtInput **place);
void ct_io_input_free(CtInput *input);
/* As ct_io_json_arguments; in an archive, several arguments are a tuple's members. */
bool ct_io_input_arguments(CtContext *context, CtInput *input, const char *function, uint32_t count);
/* The input is a tuple of several arguments: in an archive, they may have the names of their parameters (borrowed; NULL
 * for one without) in place of arr_0, arr_1, … */
void ct_io_input_name(CtInput *input, const char *const *parameters);
/* Appends a line "name :: type" for each member of an archive, of the types of Cotan that their arrays have. False with
 * an error; nothing for other forms than archives. */
bool ct_io_input_members(CtContext *context, const CtInput *input, CtText *out);
/* As ct_io_json_foreign; nothing for other forms than JSON. */
void ct_io_input_foreign(CtInput *input);
/* As ct_io_json_value. */
bool ct_io_input_value(CtContext *context, CtHeap *heap, const CtInput *input, const CtType *type,
                       const CtLeaves *replace, CtWord *value);

/* ---- writing ---- */

/* Whether values of a type can be a .npy file: numbers, Bools, and lists and arrays of these. */
bool ct_io_npy_has(const CtType *type);
/* Appends a .npy file of a value (borrowed) of such a type. False when lists in it differ in length. */
bool ct_io_npy_write(CtText *out, const CtType *type, CtWord value);

/* A .npz archive being written. It is not in an arena: the caller makes sure that it is freed when memory runs out. */
typedef struct CtNpzWriter CtNpzWriter;
/* NULL with an error; `what` names the archive in messages. What is added is kept in the arena until the end. */
CtNpzWriter *ct_io_npz_writer_new(CtContext *context, CtArena *arena, const char *what);
void ct_io_npz_writer_free(CtNpzWriter *writer);
/* Adds a value: its parts as members NAME.part; with name NULL as `part`, or as `arr_0`… what has no names. False with
 * an error. */
bool ct_io_npz_add(CtNpzWriter *writer, const char *name, const CtType *type, CtWord value);
/* Appends the archive's bytes. */
bool ct_io_npz_finish(CtNpzWriter *writer, CtText *out);

/* Writes a value (borrowed). False when it holds a function, which has no JSON form. Depth is bounded by memory alone.
 * With `collect`, its reals are added there, too. */
bool ct_io_json_write(CtText *out, const CtType *type, CtWord value, CtLeaves *collect);
/* The same with the names that ct_io_json_foreign reads: a field x' is written as the member "x", and a real with
 * point or exponent. */
bool ct_io_json_write_foreign(CtText *out, const CtType *type, CtWord value);
/* A string with its quotes. */
void ct_io_json_write_string(CtText *out, const char *text, size_t length);

#endif
