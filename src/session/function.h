/* A cotan_function: an entry point with a session of its own, which is called with buffers (buffers.c) or with values
 * of the host's (apply_values.c). */
#ifndef CT_SESSION_FUNCTION_H
#define CT_SESSION_FUNCTION_H

#include "io/host_value.h"
#include "session/session.h"

struct cotan_function {
    cotan_program *program;
    CtInput *inputs;          /* copies of the program's, when it was made: */
    unsigned definitions;     /* after so many */
    CtSession *session;       /* owned by the program; NULL after lack of memory in it: it is made again */
    CtSession *last;          /* one that was replaced, in whose memory results of the last call lie; or NULL */
    CtEntry entry;            /* its texts are owned by the function */
    char *method;             /* that the caller has named; or NULL */
    bool native;              /* native code is wanted */
    bool direct;              /* native code takes and gives buffers as they are */
    bool is_native;           /* of the current call */
    double seconds;           /* that the last run took, without the conversion of what goes in and out */
    CtArena *arena, *results; /* results: of the last call, unless native code keeps them; messages */
    CtArena *before;          /* during a call: the results of the last one, which may be its inputs; or NULL */
    CtArena *read;            /* what cotan_function_read and its kin have read; NULL: nothing yet */
    CtArena *written;         /* the text of cotan_function_write_foreign and its kin; NULL: none yet */
    CtArena *described;       /* that of cotan_function_json; NULL: none yet */
    cotan_signature signature;
    const CtFlat *input, *result;    /* input NULL: the function has none; both NULL: there are no buffers */
    cotan_value *value, *derivative; /* results in buffers, as values; they and `out` are made when first needed */
    cotan_buffer *out;
    /* The buffers that the last call has set to the function's memory (data NULL: this one is the caller's); and those
     * of the current call. `gave`, `gives`: there are any. */
    cotan_buffer *given, *filled;
    bool gave, gives;
    struct cotan_function *next;
};

/* Begins a call: the session, and memory for results. False after an error. What the last call has given may be inputs
 * of this one: it stays until the end, which frees it, also after an error. */
bool ct_session_function_begin(cotan_context *context, cotan_function *function);
void ct_session_function_end(cotan_function *function);
/* Begins work that is no call: it has a fresh arena for what it makes, and leaves results as they are. */
bool ct_session_function_beside(cotan_context *context, cotan_function *function, CtArena **arena);
/* After a call that failed: whether it is to be repeated, since it ran out of memory and now has loops with
 * checkpoints, which it keeps. */
bool ct_session_function_again(cotan_context *context, cotan_function *function);
/* Checks input buffers, and copies those which lie in memory that native code uses again. False after an error. */
bool ct_session_function_take(cotan_context *context, cotan_function *function, const cotan_buffer **in);
/* Runs it with buffers, which it has and has taken. On failure `out` is as it was. */
bool ct_session_function_buffers(cotan_context *context, cotan_function *function, const cotan_buffer *in,
                                 cotan_buffer *out);
/* Runs it on a value of its session's heap (taken); the result is the caller's. */
bool ct_session_function_run(cotan_context *context, cotan_function *function, CtWord input, CtWord *result);

#endif
