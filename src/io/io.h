/* Values in files: JSON ◀▶ values, by Core type. The forms are in docs/command.md. */
#ifndef CT_IO_IO_H
#define CT_IO_IO_H

#include "value/value.h"

/* The real leaves of a value, left to right: collected from one, or put in the place of those that a text holds. */
typedef struct CtLeaves {
    CtArena *arena;
    CT_VEC(double) reals;
    uint32_t next; /* when replacing: how many have been used */
} CtLeaves;

/* A JSON document being read: parsed once, then taken apart. */
typedef struct CtJson CtJson;

/* Parses. NULL with an error in the context (E0602), which names `what` ("--at"). Free it with ct_json_free; it belongs
 * to Jansson's memory, not to an arena. */
CtJson *ct_json_parse(CtContext *context, const char *what, const char *text, size_t length);
void ct_json_free(CtJson *json);
/* Takes the document as the array of `count` arguments of a function: one argument is read from its element. False with
 * an error when it is no such array. */
bool ct_json_arguments(CtContext *context, CtJson *json, const char *function, uint32_t count);

/* The value of a type in a document; its owner is the caller. False with an error in the context whose message names
 * the path of the place, what was expected and what was found; then nothing is left in the heap. With `replace`, the
 * reals of the value are those leaves instead, one after the other. */
bool ct_json_value(CtContext *context, CtHeap *heap, const CtJson *json, const CtType *type, const CtLeaves *replace,
                   CtWord *value);

/* Writes a value (borrowed). False when it holds a function, which has no JSON form. Depth is bounded by memory alone.
 * With `collect`, its reals are added there, too. */
bool ct_json_write(CtText *out, const CtType *type, CtWord value, CtLeaves *collect);
/* A string with its quotes. */
void ct_json_write_string(CtText *out, const char *text, size_t length);

#endif
