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

/* What the steps of an element depend on, in its text and in the functions that it calls. */
typedef struct Steps {
    CtArena *arena;
    CtMap seen; /* CtGlobal * -> Function * */
    bool loops, calls;
    bool recurses; /* a function calls itself, or one that is only known at run time */
} Steps;

typedef struct Function {
    bool open; /* it is being looked at */
} Function;

static void look(Steps *s, CtCore *core);

static void look_at_function(Steps *s, CtGlobal *global) {
    Function *function = ct_map_get(&s->seen, ct_key(global));
    if (function) s->recurses = s->recurses || function->open;
    if (function || !global->body) return;
    function = CT_NEW(s->arena, Function);
    function->open = true;
    ct_map_set(s->arena, &s->seen, ct_key(global), function);
    look(s, global->body);
    function->open = false;
}

static void look(Steps *s, CtCore *core) {
    if (core->kind == CORE_APP) {
        const CtCore *fun = core->as.call.of.fun;
        s->calls = true;
        if (fun->kind == CORE_GLOBAL)
            look_at_function(s, fun->as.global);
        else
            s->recurses = true;
    }
    if (core->kind == CORE_ARRAY && ct_core_array_info(core->as.call.of.array)->function >= 0) s->loops = true;
    CtCoreList children = {0};
    ct_core_children(s->arena, core, &children);
    for (uint32_t i = 0; i < children.count; i++) look(s, children.items[i]);
}

/* A build of few elements, as many as the program's text says. */
static bool is_fork(const CtCore *core) {
    if (core->as.call.of.array != ARRAY_BUILD) return false;
    const CtCore *count = core->as.call.args[0];
    return count->kind == CORE_LIT && count->as.lit.integer <= FORK;
}

uint32_t ct_chad_group_least(CtChad *c, const CtCore *core, CtCore *body) {
    Steps steps = {.arena = c->ad->arena};
    look(&steps, body);
    if (steps.recurses && is_fork(core)) return 1;
    if (steps.loops) return (c->frame + LOOP_PAYS_FOR - 1) / LOOP_PAYS_FOR;
    uint32_t least = steps.calls ? CALLS_PAY_FOR : GROUP;
    return c->frame > least ? c->frame : least;
}
