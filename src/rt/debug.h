/* What native code carries where it is debugged (COTAN_DEBUG_RUNTIME): memory that nobody has written to yet, or that
 * has been given back, is poisoned, and what is looked at is compared with what there is.
 *
 * A fault ends the process: a failure would be forgotten with the part of a loop in which a thread meets it, since such
 * a loop is done again. Objects look as they do without it, so that Cotan, which is never compiled so, may free what a
 * program has made, and the other way round. */
#ifndef CT_RT_DEBUG_H
#define CT_RT_DEBUG_H

#include <stdio.h>
#include <stdlib.h>

#include "rt/scalar.h"

/* As a number a signalling NaN; as an Int far outside of every array; as a pointer nowhere. */
#define CT_FRESH_WORD UINT64_C(0x7FF4F4E5F4E5F4E5)
#define CT_FREED_WORD UINT64_C(0x7FF4DEADDEADDEAD)

static __attribute__((noinline, cold, noreturn)) void ct_debug_fault(const char *function, int line, const char *what,
                                                                     int64_t at, int64_t length) {
    fprintf(stderr, "error[E0901]: native code is at fault in %s, line %d of its C: %s", function, line, what);
    fprintf(stderr, length >= 0 ? ": %lld of %lld\n" : "\n", (long long)at, (long long)length);
    abort();
}

static inline uint64_t ct_debug_word(const void *memory, size_t at) {
    uint64_t word;
    memcpy(&word, (const char *)memory + at * sizeof word, sizeof word);
    return word;
}
static inline void *ct_debug_fill(void *memory, size_t words, uint64_t word) {
    for (size_t i = 0; i < words; i++) memcpy((char *)memory + i * sizeof word, &word, sizeof word);
    return memory;
}

/* A cell of a free list has its link in the first word. One that Cotan has freed is not poisoned, nor is what sizes
 * were rounded up by. */
static inline void ct_debug_reused(const void *memory, size_t words, const char *function, int line) {
    if (words > 32 || words < 2 || ct_debug_word(memory, 1) != CT_FREED_WORD) return;
    for (size_t i = 2; i < words; i++)
        if (ct_debug_word(memory, i) != CT_FREED_WORD)
            ct_debug_fault(function, line, "memory was written to after its release", (int64_t)i, (int64_t)words);
}
/* The second word of an object says how many words it has. */
static inline void ct_debug_alive(const void *object, const char *function, int line) {
    uint64_t word = ct_debug_word(object, 1);
    if (word == CT_FREED_WORD) ct_debug_fault(function, line, "an object is used after its release", 0, -1);
    if (word == CT_FRESH_WORD) ct_debug_fault(function, line, "an object is used that has not been made", 0, -1);
}
static inline int64_t ct_debug_at(int64_t from, int64_t count, int64_t length, const char *function, int line) {
    if (count < 0 || from < 0 || from > length - count)
        ct_debug_fault(function, line, "what is looked at is outside of what there is",
                       count < 2 ? from : from + count - 1, length < 0 ? 0 : length);
    return from;
}

#define CT_FRESH(memory, words)      ct_debug_fill(memory, words, CT_FRESH_WORD)
#define CT_FREED(memory, words)      ((void)ct_debug_fill(memory, words, CT_FREED_WORD))
#define CT_REUSED(memory, words)     ct_debug_reused(memory, words, __func__, __LINE__)
#define CT_ALIVE(object)             ct_debug_alive(object, __func__, __LINE__)
#define CT_SPAN(from, count, length) ((void)ct_debug_at(from, count, length, __func__, __LINE__))

/* An index as emitted C writes it: of an array, of so many elements, the first of `count`; and one for each lane. */
#define CT_BELOW(index, length)       ct_debug_at(index, 1, length, __func__, __LINE__)
#define CT_IN(index, array)           CT_BELOW(index, ct_words(array))
#define CT_FROM(index, count, length) ct_debug_at(index, count, length, __func__, __LINE__)
#define CT_EACH_BELOW(indices, length)                                                                                 \
    __extension__({                                                                                                    \
        ct_lane_ints ct_each = (indices);                                                                              \
        for (int ct_l = 0; ct_l < CT_LANES; ct_l++) CT_SPAN(ct_each[ct_l], 1, length);                                 \
        ct_each;                                                                                                       \
    })
/* A node as the constructor as which it is opened. */
#define CT_OPENED(node, number, fields)                                                                                \
    do {                                                                                                               \
        CT_ALIVE(node);                                                                                                \
        if ((node)->head.tag != (number) || (node)->head.words != (fields))                                            \
            ct_debug_fault(__func__, __LINE__, "a node is opened as another constructor", (node)->head.tag, number);   \
    } while (0)

#endif
