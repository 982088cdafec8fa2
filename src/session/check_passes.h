/* Private to the checks of passes: check_passes.c, check_modes.c. */
#ifndef CT_CHECK_PASSES_H
#define CT_CHECK_PASSES_H

#include "flow/check/interpret.h"
#include "session/session.h"

/* Limits of a run of the interpreter; a longer run is stopped and not checked. */
static const CtInterpretLimits ct_check_limits = {
    .steps = 10000000, .bytes = (size_t)1 << 30, .stack = (size_t)1 << (sizeof(void *) == 8 ? 29 : 25)};

/* The name of the session's function, for messages. */
const char *ct_session_check_name(const CtSession *session);
/* Reports on standard error, if that is requested. */
void ct_session_check_tell(const cotan_context *context, const CtSession *session, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Compares the derivatives of both modes that the program takes in a run on this input (borrowed). */
void ct_session_check_derivatives(CtSession *session, cotan_context *context, CtWord input);

#endif
