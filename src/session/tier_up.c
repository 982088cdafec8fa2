/* Tier-up: from the evaluator to native code in the middle of a run. The run waits while native code is made. If that
 * is refused the run continues, and nothing is lost. Otherwise it ends, and starts again as native code: what it
 * has asked for and told so far is not asked for or told again (effects.c).
 *
 * Native code is made in a session of its own, with its own handler for lack of memory, because the waiting run must
 * not be changed or left. */
#include "session/session.h"

static void make(CtTierUp *t) {
    cotan_context *context = t->context;
    CtSession *session = ct_session_program_session(t->call->program, &t->entry);
    if (session != NULL && ct_session_native(session, context)) t->native = session;
    t->why = session != NULL ? session->not_native : NULL;
}

/* After lack of memory: discards what was being made. */
static void give_up(cotan_context *context, const CtSession *waits) {
    if (context->making) ct_driver_build_free(context->making);
    context->making = NULL;
    if (context->active != waits) ct_session_program_forget(context->active_program, context->active);
}

static bool ask(void *data) {
    CtTierUp *t = data;
    cotan_context *context = t->context;
    CtSession *waits = context->active;
    jmp_buf *handler = context->handler, here;
    bool apart = waits->apart;
    waits->apart = true;
    context->handler = &here;
    if (setjmp(here) == 0)
        make(t);
    else
        give_up(context, waits);
    context->handler = handler;
    waits->apart = apart;
    ct_session_activate(t->call->program, waits);
    ct_session_report_clear(context);
    if (t->native != NULL) return true;
    const char *why = t->why != NULL ? t->why : "there is no memory to compile it";
    t->call->out->not_native = ct_copy_text(t->call->program->results, why, strlen(why));
    return false;
}

CtQuestion ct_session_tier_up(CtTierUp *t, uint64_t after) { return (CtQuestion){after, ask, t}; }
