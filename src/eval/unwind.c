/* After an error, every frame releases what it owns. Which slots own objects at an instruction follows from the code's
 * events. The answers are cached by waiting position, since a deep recursion waits at few of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/internal.h"

CtSourceRange ct_eval_code_place(const CtCode *code, uint32_t at) {
    CtSourceRange range = CT_NO_RANGE;
    uint32_t low = 0, high = code->place_count;
    while (low < high) { /* finds the last position at or before `at` */
        uint32_t middle = low + (high - low) / 2;
        if (code->places[middle].at <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low > 0) range = code->places[low - 1].range;
    return range;
}

/* The slots that own something, once for each reference. Plain memory is used, since the error may be that the arena is
 * full. */
typedef struct Owned {
    uint32_t *slots;
    uint32_t count, capacity;
    uint32_t *saved; /* for each open branch: count, slots, count again, so that it can be found from behind */
    uint32_t saved_count, saved_capacity;
    bool failed;
} Owned;

static bool reserve(uint32_t **items, uint32_t *capacity, uint32_t count) {
    if (count <= *capacity) return true;
    uint32_t more = *capacity * 2 > count ? *capacity * 2 : count + 16;
    uint32_t *grown = realloc(*items, more * sizeof(uint32_t));
    if (grown == NULL) return false;
    *items = grown;
    *capacity = more;
    return true;
}

static void save(Owned *o) {
    if (!reserve(&o->saved, &o->saved_capacity, o->saved_count + o->count + 1)) {
        o->failed = true;
        return;
    }
    for (uint32_t i = 0; i < o->count; i++) o->saved[o->saved_count++] = o->slots[i];
    o->saved[o->saved_count++] = o->count;
}

static void again(Owned *o) {
    uint32_t count = o->saved[o->saved_count - 1];
    if (!reserve(&o->slots, &o->capacity, count)) {
        o->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) o->slots[i] = o->saved[o->saved_count - 1 - count + i];
    o->count = count;
}

static void disown(Owned *o, uint32_t slot) {
    for (uint32_t i = o->count; i-- > 0;) {
        if (o->slots[i] != slot) continue;
        o->slots[i] = o->slots[--o->count];
        return;
    }
}

static void apply(Owned *o, Event event) {
    switch ((EventKind)event.kind) {
    case EVENT_OWN:
        if (reserve(&o->slots, &o->capacity, o->count + 1)) {
            o->slots[o->count++] = event.slot;
        } else {
            o->failed = true;
        }
        return;
    case EVENT_DISOWN: disown(o, event.slot); return;
    case EVENT_SAVE: save(o); return;
    case EVENT_AGAIN: again(o); return;
    case EVENT_JOIN: o->saved_count -= o->saved[o->saved_count - 1] + 1; return;
    }
}

/* Computes what is owned after all events up to word `at`. `failed`: there was no memory for it; what is owned then
 * stays until the heap is closed. */
static void owned_at(const CtCode *code, uint32_t at, Owned *o) {
    o->count = o->saved_count = 0;
    o->failed = false;
    for (uint32_t i = 0; i < code->event_count && code->events[i].at <= at && !o->failed; i++)
        apply(o, code->events[i]);
}

static void owned_free(Owned *o) {
    free(o->slots);
    free(o->saved);
}

bool ct_eval_owned_before(const CtCode *code, uint32_t body, void (*each)(void *data, uint32_t slot), void *data) {
    Owned owned = {0};
    owned_at(code, body - 1, &owned);
    for (uint32_t i = 0; i < owned.count && !owned.failed; i++) each(data, owned.slots[i]);
    owned_free(&owned);
    return !owned.failed;
}

enum { KEPT = 16 };

typedef struct Kept {
    const CtCode *code;
    uint32_t at;
    Owned owned;
} Kept;

static void release_frame(Machine *m, CtWord *fp, Kept *kept, uint32_t at) {
    CtCode *code = frame_code(fp);
    Kept *entry = &kept[((uint64_t)(uintptr_t)code / 16 + at) % KEPT];
    if (entry->code != code || entry->at != at) {
        entry->code = code;
        entry->at = at;
        owned_at(code, at, &entry->owned);
    }
    for (uint32_t i = 0; i < entry->owned.count && !entry->owned.failed; i++) {
        CtObject *object = fp[entry->owned.slots[i]].object;
        if (object != NULL) ct_value_release_object(m->heap, object);
    }
}

/* A frame that is just being entered owns its arguments. */
static void release_arguments(Machine *m, CtWord *fp) {
    const CtLam *lam = frame_code(fp)->lam;
    if (lam == NULL) return;
    for (uint32_t i = 0; i < lam->count; i++) ct_value_release(m->heap, lam->params[i]->type, fp[i]);
}

static void leave_frame(Machine *m, CtWord *fp) {
    CtCode *code = frame_code(fp);
    if (fp[FRAME_ENV].object != NULL) ct_value_release_object(m->heap, fp[FRAME_ENV].object);
    if (code->lam != NULL) return;
    if (m->home != NULL) {
        ct_eval_constant_leave(m, code, false);
    } else {
        set_state(code, CONSTANT_NEW);
    }
}

/* A worker's base frame is a copy: what it owned before the body does not belong to the worker. */
static bool is_part(const Machine *m, const CtWord *fp) { return (size_t)(fp - m->stack) == m->part_at; }

static void release_part(Machine *m, CtWord *fp, uint32_t at) {
    Owned before = {0}, now = {0};
    const CtCode *code = frame_code(fp);
    owned_at(code, m->part_body - 1, &before);
    owned_at(code, at, &now);
    for (uint32_t i = 0; i < before.count; i++) disown(&now, before.slots[i]);
    disown(&now, m->part_out);
    for (uint32_t i = 0; i < now.count && !before.failed && !now.failed; i++)
        if (fp[now.slots[i]].object != NULL) ct_value_release_object(m->heap, fp[now.slots[i]].object);
    owned_free(&before);
    owned_free(&now);
}

/* Releases the frames from m->fp on that are above `end`, to which m->fp then goes; NULL: all. Their number. */
static uint64_t unwind_to(Machine *m, const CtWord *end) {
    Kept kept[KEPT] = {0};
    CtWord *fp = m->fp;
    const uint32_t *at = m->pc;
    uint64_t count = 0;
    while (fp != end) {
        const uint32_t *back = frame_return(fp);
        count++;
        if (is_part(m, fp)) {
            release_part(m, fp, (uint32_t)(at - frame_code(fp)->words));
            break;
        }
        if (at == NULL) {
            release_arguments(m, fp);
        } else {
            release_frame(m, fp, kept, (uint32_t)(at - frame_code(fp)->words));
        }
        leave_frame(m, fp);
        if (back == &ct_eval_machine_halt[2]) break;
        fp -= back[-2];
        if (*back == OP_FORCED) fp[back[2]].object->tag = CELL_DELAYED;
        at = back - 1; /* the calling instruction has taken its operands, and has no result yet */
    }
    if (end != NULL) m->fp = fp;
    for (int i = 0; i < KEPT; i++) owned_free(&kept[i].owned);
    return count;
}

void ct_eval_unwind(Machine *m) {
    if (m->fp != NULL) unwind_to(m, NULL); /* NULL: no frame has begun */
}

/* Failures of expressions. A request that fails inside of a `catch` is answered instead, and limits end the run. */
static bool may_be_caught(CtErrorCode code) {
    static const CtErrorCode codes[] = {CT_E0501, CT_E0502, CT_E0503, CT_E0504, CT_E0505,
                                        CT_E0506, CT_E0507, CT_E0508, CT_E0510, CT_E0511};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code) return true;
    return false;
}

bool ct_eval_catch(Machine *m) {
    if (m->home != NULL || m->arena_failed || m->fp == NULL || !may_be_caught(m->error)) return false;
    const CtWord *fp = m->fp;
    const uint32_t *back = frame_return(fp);
    while (*back != OP_ATTEMPTED) {
        if (back == &ct_eval_machine_halt[2]) return false;
        fp -= back[-2];
        back = frame_return(fp);
    }
    size_t length = strlen(m->error_text) + sizeof "501 ";
    char *text = malloc(length);
    if (text == NULL) return false;
    snprintf(text, length, "%s %s", &ct_error_name(m->error)[2], m->error_text);
    free(m->caught);
    m->caught = text;
    m->error = CT_E0000;
    m->depth -= unwind_to(m, fp - back[-2]);
    m->pc = back;
    m->was_caught = true;
    return true;
}
