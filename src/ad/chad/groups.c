/* How many elements of a build, map or zipWith make a group, which has an environment of its own (§8).
 *
 * An environment costs some steps for each cell, when it is made and when it is added to the frame's. So the steps of a
 * group's elements must be more: by what the text of an element tells about its steps. */
#include "ad/chad/chad.h"

enum {
    GROUP = 32,        /* number of elements for which a group pays at least */
    CALLS_PAY_FOR = 8, /* the same when each element calls a function */
    LOOP_PAYS_FOR = 8, /* number of cells in a group's environment, when each element runs a loop of its own */
    FORK = 16          /* the largest number of elements of a fork */
};

/* What the steps of an element depend on. */
typedef struct Steps {
    bool loops, calls, recurses;
} Steps;

typedef struct Search {
    CtArena *arena;
    CtMap seen; /* CtGlobal * -> Status * */
} Search;

typedef struct Status {
    bool open; /* it is being looked at */
} Status;

static void look(Search *s, CtCore *core, Steps *found);

/* Whether a function calls itself, or another that does, or one that is only known at run time. */
static bool recurses(Search *s, CtGlobal *global) {
    if (!global->body) return false;
    Status *status = ct_map_get(&s->seen, ct_key(global));
    if (status) return status->open; /* if it did otherwise, the search would have ended */
    status = CT_NEW(s->arena, Status);
    status->open = true;
    ct_map_set(s->arena, &s->seen, ct_key(global), status);
    Steps found = {0};
    look(s, global->body, &found);
    status->open = false;
    return found.recurses;
}

static void look(Search *s, CtCore *core, Steps *found) {
    if (found->recurses) return;
    if (core->kind == CORE_APP) {
        const CtCore *fun = core->as.call.of.fun;
        found->calls = true;
        found->recurses = fun->kind != CORE_GLOBAL || recurses(s, fun->as.global);
    }
    if (core->kind == CORE_ARRAY && ct_core_array_info(core->as.call.of.array)->function >= 0) found->loops = true;
    CtCoreList children = {0};
    ct_core_children(s->arena, core, &children);
    for (uint32_t i = 0; i < children.count; i++) look(s, children.items[i], found);
}

/* A build of few elements, as many as the program's text says. */
static bool is_fork(const CtCore *core) {
    if (core->as.call.of.array != ARRAY_BUILD) return false;
    const CtCore *count = core->as.call.args[0];
    return count->kind == CORE_LIT && count->as.lit.integer <= FORK;
}

uint32_t ct_chad_group_least(CtChad *c, const CtCore *core, CtCore *body) {
    Search search = {.arena = c->ad->arena};
    Steps steps = {0};
    look(&search, body, &steps);
    if (steps.recurses && is_fork(core)) return 1;
    if (steps.loops) return (c->frame + LOOP_PAYS_FOR - 1) / LOOP_PAYS_FOR;
    uint32_t least = steps.calls ? CALLS_PAY_FOR : GROUP;
    return c->frame > least ? c->frame : least;
}
