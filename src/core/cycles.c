/* Which globals call themselves: Tarjan's strongly connected components, with a stack of our own, since calls may form
 * a chain of thousands of functions. */
#include "core/cycles.h"

typedef struct Node {
    const CtGlobal *global;
    CtCoreList callees; /* the terms */
    uint32_t next;      /* callee to look at */
    uint32_t number, low;
    bool on_path, calls_itself;
    CtCycle cycle;
} Node;

typedef CT_VEC(Node *) Nodes;

typedef struct Search {
    CtCycles *c;
    Nodes stack, path; /* path: those whose component is not complete */
} Search;

static void enter(Search *s, const CtGlobal *global) {
    CtArena *arena = s->c->arena;
    Node *node = CT_NEW(arena, Node);
    *node = (Node){.global = global, .number = ++s->c->numbered, .on_path = true};
    node->low = node->number;
    ct_map_set(arena, &s->c->nodes, ct_key(global), node);
    ct_push(arena, &s->stack, node);
    ct_push(arena, &s->path, node);
    CtCoreList work = {0};
    if (global->body != NULL) ct_push(arena, &work, global->body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        if (core->kind == CORE_GLOBAL) ct_push(arena, &node->callees, core);
        ct_core_children(arena, core, &work);
    }
}

static void leave(Search *s, const Node *node) {
    if (s->stack.count > 0) {
        Node *caller = s->stack.items[s->stack.count - 1];
        if (node->low < caller->low) caller->low = node->low;
    }
    if (node->low != node->number) return;
    bool alone = s->path.items[s->path.count - 1] == node;
    Node *member;
    do {
        member = s->path.items[--s->path.count];
        member->on_path = false;
        member->cycle = !alone ? CYCLE_OTHERS : member->calls_itself ? CYCLE_OWN : CYCLE_NONE;
    } while (member != node);
}

CtCycle ct_core_cycle(CtCycles *c, const CtGlobal *global) {
    Search s = {.c = c};
    if (!ct_map_has(&c->nodes, ct_key(global))) enter(&s, global);
    while (s.stack.count > 0) {
        Node *node = s.stack.items[s.stack.count - 1];
        if (node->next == node->callees.count) {
            s.stack.count--;
            leave(&s, node);
            continue;
        }
        const CtGlobal *to = node->callees.items[node->next++]->as.global;
        const Node *callee = ct_map_get(&c->nodes, ct_key(to));
        node->calls_itself |= callee == node;
        if (callee == NULL)
            enter(&s, to);
        else if (callee->on_path && callee->number < node->low)
            node->low = callee->number;
    }
    return ((const Node *)ct_map_get(&c->nodes, ct_key(global)))->cycle;
}
