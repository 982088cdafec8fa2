/* The machine's stack and its budget of steps; and raised errors. */
#include <stdio.h>
#include <stdlib.h>

#include "eval/internal.h"

enum { SLICE = 1 << 20, STACK_KEPT = 4 * 1024 * 1024 /* words */ };

bool ct_eval_raise(Machine *m, CtErrorCode code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(m->error_buffer, sizeof m->error_buffer, format, list);
    va_end(list);
    m->error = code;
    m->error_text = m->error_buffer;
    return false;
}

bool ct_eval_raise_memory(Machine *m) {
    return ct_eval_raise(m, CT_E0801, "the run needs more memory than it may use");
}

enum { MESSAGE_MAX = 4000 };

bool ct_eval_raise_string(Machine *m, CtErrorCode code, CtWord message) {
    ct_eval_team_lock(m);
    jmp_buf here;
    CtArena *arena = ct_diag_arena(m->program->context);
    jmp_buf *before = ct_arena_on_failure(arena, &here);
    if (setjmp(here) == 0) {
        CtText text = ct_text(arena);
        ct_text_puts(&text, "");
        ct_value_string_text(&text, message, MESSAGE_MAX);
        m->error = code;
        m->error_text = text.data;
    } else {
        m->arena_failed = true;
        ct_eval_raise_memory(m);
    }
    ct_arena_on_failure(arena, before);
    ct_eval_team_unlock(m);
    return false;
}

/* Grows by half, so that few reallocations copy it; near the limit of memory by parts of what is left, by what is
 * needed at least. Stack memory counts like the heap. */
bool ct_eval_stack_reserve(Machine *m, size_t words) {
    size_t used = (size_t)(m->fp - m->stack), size = (size_t)(m->stack_end - m->stack);
    if (size - used >= words) return true;
    size_t wanted, more, missing = used + words - size;
    for (size_t room = size / 2;; room /= 2) {
        wanted = size + (room > missing ? room : missing);
        more = (wanted - size) * sizeof(CtWord);
        if (ct_value_heap_charge(m->heap, more)) break;
        if (room <= missing) return ct_eval_raise_memory(m);
    }
    CtWord *stack = realloc(m->stack, wanted * sizeof(CtWord));
    if (stack == NULL) {
        ct_value_heap_refund(m->heap, more);
        return ct_eval_raise_memory(m);
    }
    m->stack = stack;
    m->fp = stack + used;
    m->stack_end = stack + wanted;
    return true;
}

void ct_eval_stack_trim(Machine *m) {
    size_t size = (size_t)(m->stack_end - m->stack);
    if (size <= STACK_KEPT) return;
    CtWord *stack = realloc(m->stack, STACK_KEPT * sizeof(CtWord));
    if (stack == NULL) return;
    ct_value_heap_refund(m->heap, (size - STACK_KEPT) * sizeof(CtWord));
    m->stack = stack;
    m->stack_end = stack + STACK_KEPT;
}

uint64_t ct_eval_steps_left(const Machine *m, uint64_t done) {
    uint64_t end = m->limits.steps != 0 ? m->limits.steps : UINT64_MAX;
    if (m->question.ask != NULL && m->question.after < end) end = m->question.after;
    return end > done ? end - done : 0;
}

/* Asks the question, if it is due; true: the run ends. */
static bool is_to_end(Machine *m, uint64_t done) {
    CtQuestion question = m->question;
    if (question.ask == NULL || done <= question.after) return false;
    ct_eval_team_begin(m);
    uint64_t pause = 0;
    bool ends = question.ask(question.data, &pause);
    m->question.after = done + pause;
    if (pause == 0) m->question.ask = NULL;
    return ends;
}

bool ct_eval_refuel(Machine *m) {
    if (m->home != NULL) return ct_eval_region_refuel(m);
    uint64_t done = m->slice_end - (uint64_t)m->fuel; /* fuel is negative */
    bool ends = is_to_end(m, done);
    if (m->limits.steps != 0 && done > m->limits.steps)
        return ct_eval_raise(m, CT_E0802, "the run took more than %llu steps", (unsigned long long)m->limits.steps);
    if (atomic_load_explicit(&m->interrupt, memory_order_relaxed)) {
        atomic_store_explicit(&m->interrupt, false, memory_order_relaxed);
        return ct_eval_raise(m, CT_E0804, "interrupted");
    }
    if (ends) return ct_eval_raise(m, CT_E0802, "the run has been ended");
    if (m->clock != NULL) atomic_store_explicit(m->clock, done, memory_order_relaxed);
    uint64_t slice = ct_eval_steps_left(m, done);
    if (slice > SLICE) slice = SLICE;
    if (m->profile != NULL) {
        uint64_t next = ct_eval_profile_sample(m, done);
        if (slice > next) slice = next;
    }
    m->slice_end = done + slice;
    m->fuel = (int64_t)slice;
    return true;
}
