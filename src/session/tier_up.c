/* Tier-up: from the evaluator to native code in the middle of a run. After a part of the steps the C compiler is
 * started, and is at work while the evaluator takes the others. Then the run ends, and starts again as native code:
 * what it has asked for and told so far is not asked for or told again (effects.c). If native code is refused the run
 * continues, and nothing is lost. Which engine gives the result depends on the steps alone, not on how long the
 * compiler takes or on what is in the cache: last digits may differ between the two.
 *
 * Native code is made in a session of its own, with its own handler for lack of memory, because the waiting run must
 * not be changed or left. */
#include "session/session.h"

enum { BEGIN = 4 }; /* the compiler is started after this part of the steps */

static void make(CtTierUp *t) {
    cotan_program *program = t->call->program;
    if (!t->begun)
        ct_session_program_begin(program, &t->entry, &t->making);
    else if (t->making != NULL && ct_session_native(ct_session_activate(program, t->making), t->context))
        t->native = t->making;
}

/* After lack of memory: discards what was being made. */
static void give_up(CtTierUp *t, const CtSession *waits) {
    cotan_context *context = t->context;
    if (context->making) ct_driver_build_free(context->making);
    context->making = NULL;
    t->making = NULL;
    if (context->active != waits) ct_session_program_forget(context->active_program, context->active);
}

static bool ask(void *data, uint64_t *pause) {
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
        give_up(t, waits);
    context->handler = handler;
    waits->apart = apart;
    ct_session_activate(t->call->program, waits);
    ct_session_report_clear(context);
    if (t->native != NULL) return true;
    if (!t->begun) {
        *pause = t->after - t->after / BEGIN;
        t->begun = true;
        return false;
    }
    const char *why = t->making != NULL ? t->making->not_native : NULL;
    if (why == NULL) why = "there is no memory to compile it";
    t->call->out->not_native = ct_copy_text(t->call->program->results, why, strlen(why));
    return false;
}

CtQuestion ct_session_tier_up(CtTierUp *t) { return (CtQuestion){t->after / BEGIN, ask, t}; }
