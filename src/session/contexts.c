/* Contexts and programs of the public C API. Every function that computes installs a handler for lack of memory, and
 * uses the C locale, so that the host program's locale does not affect reading and printing of numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "session/function.h"

const char *cotan_version(void) { return CT_VERSION; }

/* ---- tables ---- */

const cotan_method *cotan_method_at(size_t index) {
#define CT_METHOD(id, name) static const char name_##id[] = name;
    CT_METHODS(CT_METHOD)
#undef CT_METHOD
    static const cotan_method methods[] = {
#define CT_METHOD(id, rules, reverse, library, cost, figure, what) {name_##id, what, figure, reverse},
#include "ad/methods.def"
#undef CT_METHOD
    };
    return index < sizeof methods / sizeof *methods ? &methods[index] : NULL;
}

/* ---- contexts ---- */

/* Allows any list that fits into memory; unbounded recursion is reported within seconds. */
enum { DEFAULT_DEPTH = 50000000 };

static size_t default_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || size <= 0) return (size_t)1 << 30;
    return (size_t)pages / 4 * 3 * (size_t)size;
}

/* Frees the pool, because the number of threads changes; sessions that used it are made anew. */
static void end_threads(cotan_context *context) {
    for (cotan_program *program = context->programs; program; program = program->next)
        for (CtSession *session = program->sessions; session; session = session->next) ct_eval_alone(session->eval);
    ct_pool_free(context->pool);
    context->pool = NULL;
    context->pools++;
}

void cotan_set_limits(cotan_context *context, const cotan_limits *limits) {
    unsigned threads = context->limits.threads;
    context->limits = limits ? *limits : (cotan_limits){0};
    if (context->limits.memory == 0) context->limits.memory = default_memory();
    context->has_depth = context->limits.depth != 0;
    if (context->limits.depth == 0) context->limits.depth = DEFAULT_DEPTH;
    if (context->limits.threads == 0) context->limits.threads = 1;
    if (context->limits.threads > CT_POOL_MOST) context->limits.threads = CT_POOL_MOST;
    if (context->limits.threads != threads) end_threads(context);
}

cotan_context *cotan_open(const cotan_limits *limits) {
    cotan_context *context = calloc(1, sizeof *context);
    if (!context) return NULL;
    cotan_set_limits(context, limits);
    context->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (context->locale == (locale_t)0 || !ct_session_world_new(context)) {
        if (context->locale != (locale_t)0) freelocale(context->locale);
        free(context);
        return NULL;
    }
#ifdef CT_LINT
    context->checks = CHECK_PROGRAMS;
#endif
    ct_session_report_init(context);
    return context;
}

void cotan_check_passes(cotan_context *context, int checks) { context->checks = checks; }
void cotan_exact_math(cotan_context *context, bool exact) { context->exact_math = exact; }

static void program_free(cotan_program *program) {
    while (program->functions) cotan_function_free(program->functions);
    while (program->sessions) {
        CtSession *session = program->sessions;
        program->sessions = session->next;
        ct_session_free(session);
    }
    ct_driver_build_free(program->base);
    ct_arena_free(program->results);
    ct_session_files_free(program->files);
    ct_arena_free(program->warning_arena);
    ct_session_program_free_inputs(program);
    free(program->name);
    free(program->text);
    free(program);
}

void cotan_close(cotan_context *context) {
    if (!context) return;
    while (context->programs) {
        cotan_program *program = context->programs;
        context->programs = program->next;
        program_free(program);
    }
    ct_session_report_clear(context);
    free(context->fault);
    ct_session_folders_free(context);
    ct_session_world_free(context);
    ct_arena_free(context->formatted);
    ct_pool_free(context->pool);
    freelocale(context->locale);
    free(context);
}

void cotan_interrupt(cotan_context *context) {
    atomic_fetch_add(&context->interrupters, 1);
    CtEval *eval = atomic_load(&context->running);
    if (eval) ct_eval_interrupt(eval);
    CtNative *native = atomic_load(&context->running_native);
    if (native) ct_run_native_interrupt(native);
    atomic_fetch_sub(&context->interrupters, 1);
}

uint64_t cotan_steps(const cotan_context *context) {
    return atomic_load(&context->running_native) ? 0 : atomic_load_explicit(&context->clock, memory_order_relaxed);
}

/* ---- guarding ---- */

/* Frees the session that was running; a function that had it makes another. */
static void discard(cotan_program *program, CtSession *session) {
    for (cotan_function *function = program->functions; function; function = function->next)
        if (function->session == session) {
            function->session = NULL;
            function->gave = function->gives = false;
        }
    ct_session_program_forget(program, session);
}

/* Recovers from lack of memory: what was being made or run is discarded. */
static void recover(cotan_context *context) {
    ct_session_end_run(context);
    if (context->making) ct_driver_build_free(context->making);
    if (context->active) discard(context->active_program, context->active);
    for (cotan_program *program = context->programs; program; program = program->next) {
        ct_session_program_end_trial(program);
        program->before = NULL;
    }
    ct_session_report_out_of_memory(context);
}

cotan_error *ct_session_guarded(cotan_context *context, CtWork *work, void *data) {
    jmp_buf failed;
    ct_session_report_clear(context);
    context->callers_locale = uselocale(context->locale);
    context->making = NULL;
    context->active = NULL;
    context->measures = false;
    ct_session_world_begin(context);
    atomic_store_explicit(&context->clock, 0, memory_order_relaxed);
    context->handler = &failed;
    if (setjmp(failed) == 0) {
        if (!work(context, data) && !context->error)
            ct_session_report_one(context, CT_E0901, NULL, "something failed and did not say why");
    } else {
        recover(context);
    }
    ct_session_report_fault(context);
    for (int i = 0; i < 2; i++) {
        ct_io_input_free(context->inputs[i]);
        context->inputs[i] = NULL;
    }
    ct_io_npz_writer_free(context->archive);
    context->archive = NULL;
    context->handler = NULL;
    uselocale(context->callers_locale);
    return context->error;
}

CtArena *ct_session_fresh_results(cotan_program *program) {
    ct_arena_free(program->results);
    program->results = ct_arena_new(0);
    if (program->results)
        ct_arena_on_failure(program->results, program->context->handler);
    else
        ct_session_report_out_of_memory(program->context);
    return program->results;
}

/* ---- loading ---- */

typedef struct Load {
    const char *name, *text;
    size_t length;
    cotan_program *program;
} Load;

static bool load(cotan_context *context, void *data) {
    Load *l = data;
    cotan_program *program = calloc(1, sizeof *program);
    if (program) {
        program->name = strdup(l->name ? l->name : "<text>");
        program->text = malloc(l->length + 1);
    }
    if (!program || !program->name || !program->text) {
        if (program) program_free(program);
        ct_session_report_out_of_memory(context);
        return false;
    }
    if (l->length > 0) memcpy(program->text, l->text, l->length);
    program->text[l->length] = '\0';
    program->length = l->length;
    program->context = context;
    program->next = context->programs;
    context->programs = program; /* from here on the context frees it, whatever happens */
    program->base = ct_session_program_build(program, NULL);
    l->program = program->base ? program : NULL;
    return program->base != NULL;
}

cotan_error *cotan_load(cotan_context *context, const char *name, const char *text, size_t length,
                        cotan_program **out) {
    Load l = {name, text, length, NULL};
    *out = NULL;
    cotan_error *error = ct_session_guarded(context, load, &l);
    if (!error) *out = l.program;
    return error;
}
