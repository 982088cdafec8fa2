/* Profiles: where a run spends its steps and its time.
 *
 * The machine looks at its budget of steps where it charges them: when a function is entered, and before each element
 * of a loop. A profile makes the budget so small that it runs out there, and looks at the stack each time; in a long
 * run after each 20,000th of the steps so far. So the samples depend on steps alone, and every step belongs to one.
 * Time between two samples belongs to the first. Without a profile there is nothing to pay. */
#include <stdlib.h>
#include <time.h>

#include "eval/internal.h"

enum {
    FRAMES = 2000, /* of the stack that are looked at, from the innermost out */
    OUTER = 80,    /* of those, without recursion, that are kept from the outside, */
    INNER = 20,    /* and from the inside */
    SHARE = 20000
};

typedef struct Frame {
    const CtCode *code;
    CtSourceRange place;
} Frame;

struct CtProfile {
    CtProfileNode *nodes; /* the first is the root, above all functions */
    uint32_t count, capacity;
    uint32_t here;  /* the node of the last sample */
    uint64_t steps; /* at the last sample */
    struct timespec at;
    bool failed; /* without memory; some nodes are missing */
};

CtProfile *ct_eval_profile_new(void) {
    CtProfile *profile = calloc(1, sizeof *profile);
    CtProfileNode *nodes = calloc(1, sizeof *nodes);
    if (profile == NULL || nodes == NULL) {
        free(profile);
        free(nodes);
        return NULL;
    }
    profile->nodes = nodes;
    profile->count = profile->capacity = 1;
    return profile;
}

void ct_eval_profile_free(CtProfile *profile) {
    if (profile == NULL) return;
    free(profile->nodes);
    free(profile);
}

const CtProfileNode *ct_eval_profile_nodes(const CtProfile *profile, uint32_t *count) {
    *count = profile->count;
    return profile->nodes;
}

/* ---- the tree ---- */

/* The node of a function that is called, at this place of it, from a node. */
static uint32_t child(CtProfile *p, uint32_t parent, Frame frame) {
    for (uint32_t i = p->nodes[parent].child; i != 0; i = p->nodes[i].next)
        if (p->nodes[i].global == frame.code->global && p->nodes[i].lam == frame.code->lam &&
            p->nodes[i].place.source == frame.place.source && p->nodes[i].place.start == frame.place.start)
            return i;
    if (p->count == p->capacity) {
        CtProfileNode *nodes = realloc(p->nodes, 2 * (size_t)p->capacity * sizeof *nodes);
        if (nodes == NULL) {
            p->failed = true;
            return parent;
        }
        p->nodes = nodes;
        p->capacity *= 2;
    }
    p->nodes[p->count] = (CtProfileNode){.parent = parent,
                                         .next = p->nodes[parent].child,
                                         .global = frame.code->global,
                                         .lam = frame.code->lam,
                                         .place = frame.place};
    p->nodes[parent].child = p->count;
    return p->count++;
}

/* ---- samples ---- */

/* The place in a function where it waits or runs; where none is known, that of the function. */
static CtSourceRange place_of(const CtCode *code, const uint32_t *at) {
    CtSourceRange place = at != NULL ? ct_eval_code_place(code, (uint32_t)(at - code->words)) : CT_NO_RANGE;
    if (place.source == 0 && code->place_count > 0) place = code->places[0].range;
    if (place.source == 0 && code->global != NULL) place = code->global->range;
    if (place.source == 0 && code->lam != NULL && code->lam->node != NULL) place = code->lam->node->range;
    return place;
}

/* The frames from the innermost out. Of a function that calls itself the innermost call stands for all. */
static uint32_t frames_of(const Machine *m, Frame *frames) {
    const CtWord *fp = m->fp;
    const uint32_t *at = m->pc;
    uint32_t count = 0;
    for (uint32_t i = 0; i < FRAMES; i++) {
        const CtCode *code = frame_code(fp);
        const uint32_t *back = frame_return(fp);
        if (count == 0 || frames[count - 1].code != code) frames[count++] = (Frame){code, place_of(code, at)};
        if (back == &ct_eval_machine_halt[2]) break;
        fp -= back[-2];
        at = back - 1;
    }
    return count;
}

static void add_time(CtProfile *p) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (p->at.tv_sec != 0 || p->at.tv_nsec != 0)
        p->nodes[p->here].nanoseconds +=
            (uint64_t)((now.tv_sec - p->at.tv_sec) * 1000000000 + (now.tv_nsec - p->at.tv_nsec));
}

/* Begins to measure behind the work of the profile itself. */
static void go_on(CtProfile *p) { clock_gettime(CLOCK_MONOTONIC, &p->at); }

uint64_t ct_eval_profile_sample(Machine *m, uint64_t done) {
    CtProfile *p = m->profile;
    Frame frames[FRAMES];
    add_time(p);
    uint32_t count = frames_of(m, frames), node = 0;
    for (uint32_t i = count; i-- > 0;)
        if (i >= count - (count < OUTER ? count : OUTER) || i < INNER) node = child(p, node, frames[i]);
    p->here = node;
    p->nodes[node].steps += done - p->steps;
    p->steps = done;
    go_on(p);
    return done / SHARE;
}

void ct_eval_profile(CtEval *eval, CtProfile *profile) {
    if (profile == NULL && eval->profile != NULL) { /* what was left of the run */
        CtProfile *p = eval->profile;
        add_time(p);
        p->nodes[p->here].steps += steps_done(eval, eval->fuel) - p->steps;
    }
    if (profile != NULL) {
        profile->here = 0;
        profile->steps = steps_done(eval, eval->fuel);
        go_on(profile);
    }
    eval->profile = profile;
}
