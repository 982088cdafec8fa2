/* The primitives whose results are strings. */
#include <stdio.h>
#include <string.h>

#include "eval/internal.h"

/* Commands that the machine answers itself: that a reference of before an `attempt` has changed; how often that has
 * happened; and why the last attempt failed. */
enum { ATTEMPT_NOTE = -50, ATTEMPT_CHANGES = -51, ATTEMPT_FAILURE = -52 };

/* A character of a request, or a command, and its answer. NULL: it failed. */
static CtObject *effect(Machine *m, int64_t what) {
    const char *answer;
    size_t length;
    Machine *home = home_of(m);
    if (what == ATTEMPT_NOTE) home->changes++;
    if (what <= ATTEMPT_NOTE && what >= ATTEMPT_FAILURE) {
        char count[24];
        snprintf(count, sizeof count, "%llu", (unsigned long long)home->changes);
        const char *text = what == ATTEMPT_FAILURE ? home->caught : count;
        return ct_value_string_new(m->heap, m->program->string_type, text ? text : "", text ? strlen(text) : 0);
    }
    int failure = ct_value_effect(home_of(m)->effects, what, &answer, &length);
    if (failure == 0) return ct_value_string_new(m->heap, m->program->string_type, answer, length);
    CtErrorCode code = failure == 514 ? CT_E0514 : failure == 801 ? CT_E0801 : CT_E0513;
    ct_eval_raise(m, code, "%.*s", (int)length, answer);
    return NULL;
}

/* Messages are told in the order of one thread: in a region the loop is left to that (region.c). */
static CtObject *trace(Machine *m, int64_t what) {
    if (m->home != NULL) {
        m->error = CT_E0804; /* nobody reads it */
        return NULL;
    }
    return ct_value_trace(m->effects, what) ? ct_value_string_new(m->heap, m->program->string_type, "", 0) : NULL;
}

/* NULL when the heap is full, or with an error raised. The other primitives are in primitives.def. */
CtObject *ct_eval_string_prim(Machine *m, CtPrim prim, CtWord a, CtWord b) {
    char buffer[64];
    size_t length;
    (void)b;
    if (prim == PRIM_EFFECT) return effect(m, a.integer);
    if (prim == PRIM_TRACE) return trace(m, a.integer);
    const CtPrimInfo *info = ct_prim_info(prim);
    if (info->args[0] == 'D') {
        length = ct_value_show_double(buffer, a.real);
    } else if (info->args[0] == 'F') {
        length = ct_value_show_float(buffer, a.real);
    } else {
        length = (size_t)snprintf(buffer, sizeof buffer, "%lld", (long long)a.integer);
    }
    return ct_value_string_new(m->heap, m->program->string_type, buffer, length);
}
