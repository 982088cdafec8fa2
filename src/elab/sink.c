/* Sinks bindings of `let` and `where` to their uses. A binding is evaluated in the innermost branch that contains all
 * its uses, and an unused binding is not evaluated at all. So a computation that may fail or is expensive can be named
 * once, outside the branches that use it:
 *
 *     f xs | null xs = 0 | otherwise = y * y where y = head xs
 *
 * No work is duplicated: a binding moves only into branches of `case` and into actions as that of `when`, never under
 * another λ, but for what costs little and is used in later actions of IO. A binding that several branches use may be
 * copied into them if its right-hand side is small; otherwise it stays in front of the `case`. A binding does not move
 * past a term that may update in place an array that its right-hand side reads, because the array would then have to be
 * copied. */
#include "elab/internal.h"

enum {
    MAX_NODES = 20000,    /* nodes of a body that any number of bindings may search */
    MAX_LARGE = 10000000, /* further nodes of larger bodies, in all; then a binding stays in front of such a body */
    MAX_COPY = 12,        /* nodes of a right-hand side that may be copied into several branches */
    MAX_USES = 12,        /* uses of a variable whose right-hand side is copied: bounds the growth of code */
    MAX_SPLITS = 60       /* nesting of the cases into whose branches it is copied */
};

typedef enum Relation { PART, BRANCH, FUNCTION } Relation;

typedef struct CtSinkNode Node;

/* A node of the body, in preorder. */
struct CtSinkNode {
    CtCore **slot;
    uint32_t parent, size; /* parent: its index; size: number of nodes of the subtree */
    Relation relation;     /* part evaluated with the parent, branch of a case, or body of a λ */
    bool branched;         /* the path from the root to this node enters a branch */
    bool has;              /* the subtree contains a use */
};

typedef struct Search {
    CtElab *el;
    CtSinkNodes *nodes, *open; /* buffers of the elaborator, reused by each search */
    CtMap reads;               /* variables of the right-hand side whose types contain arrays */
    bool once;                 /* no path may evaluate two copies of the right-hand side */
    bool late;                 /* it may be evaluated anew each time that an action runs */
} Search;

static void add(Search *search, CtCore **slot, uint32_t parent, Relation relation) {
    if (*slot == NULL) return;
    bool under = search->nodes->count > 0 && search->nodes->items[parent].branched;
    Node node = {slot, parent, 1, relation, under || relation == BRANCH, false};
    ct_push(search->el->arena, search->open, node);
}

static void add_all(Search *search, CtCore **slots, uint32_t count, uint32_t parent) {
    for (uint32_t i = count; i-- > 0;) add(search, &slots[i], parent, PART);
}

/* Whether the term binds a join point of pattern matching, which is called at most once on each path: a branch, like
 * those of a case. */
static bool is_join(const CtCore *let) {
    return let->kind == CORE_LET && let->as.let.rhs->kind == CORE_LAM && let->as.let.rhs->as.lam->count == 0;
}

/* The library's function that a global is, without module and types: that of "Data.Map.!@Int,Int" is "!". */
static bool is_among(const CtGlobal *global, const char *const *names) {
    const char *name = global->name->text;
    size_t length = strcspn(name, "@");
    for (; *names != NULL; names++) {
        size_t own = strlen(*names);
        bool ends = own <= length && memcmp(name + length - own, *names, own) == 0;
        if (ends && (own == length || name[length - own - 1] == '.')) return true;
    }
    return false;
}

/* Whether a λ that is an argument is a branch: called at most once, as the action of `when`, or those that exceptions
 * are caught in. So is, for a right-hand side that costs little, what follows an action of IO. */
static bool is_action(const Search *search, const CtCore *call) {
    static const char *const actions[] = {
        "when'else",     "unless'else",      "try'else",     "catch'else",    "handle'else",
        "evaluate'else", "onException'else", "finally'else", "bracket_'else", NULL};
    static const char *const bind[] = {">>=", NULL};
    if (call->kind != CORE_APP || call->as.call.of.fun->kind != CORE_GLOBAL) return false;
    const CtGlobal *global = call->as.call.of.fun->as.global;
    if (!global->is_library) return false;
    const char *types = strchr(global->name->text, '@');
    return is_among(global, actions) || (search->late && is_among(global, bind) && types && !strncmp(types, "@IO,", 4));
}

static void add_children(Search *search, CtCore *core, uint32_t parent) {
    switch (core->kind) {
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING: return;
    case CORE_LAM: {
        const CtCore *call = *search->nodes->items[search->nodes->items[parent].parent].slot;
        add(search, &core->as.lam->body, parent, is_action(search, call) ? BRANCH : FUNCTION);
        return;
    }
    case CORE_APP:
        add_all(search, core->as.call.args, core->as.call.count, parent);
        add(search, &core->as.call.of.fun, parent, PART);
        return;
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL: add_all(search, core->as.call.args, core->as.call.count, parent); return;
    case CORE_LET:
        add(search, &core->as.let.body, parent, PART);
        if (is_join(core))
            add(search, &core->as.let.rhs->as.lam->body, parent, BRANCH);
        else
            add(search, &core->as.let.rhs, parent, PART);
        return;
    case CORE_UNPACK:
        add(search, &core->as.let.body, parent, PART);
        add(search, &core->as.let.rhs, parent, PART);
        return;
    case CORE_LETREC:
        add(search, &core->as.letrec.body, parent, PART);
        for (uint32_t i = 0; i < core->as.letrec.count; i++)
            add(search, &core->as.letrec.binds[i].lam, parent, FUNCTION);
        return;
    case CORE_PROJ: add(search, &core->as.proj.tuple, parent, PART); return;
    case CORE_CASE:
        add(search, &core->as.cases.otherwise, parent, BRANCH);
        for (uint32_t i = core->as.cases.count; i-- > 0;) add(search, &core->as.cases.cases[i].body, parent, BRANCH);
        add(search, &core->as.cases.scrutinee, parent, PART);
        return;
    case CORE_FAIL: add(search, &core->as.fail.message, parent, PART); return;
    }
}

static bool is_use(const CtCore *core, CtVar *const *vars, uint32_t count) {
    if (core->kind != CORE_VAR) return false;
    for (uint32_t i = 0; i < count; i++)
        if (core->as.var == vars[i]) return true;
    return false;
}

/* Whether a body of more than this number of nodes is searched: that costs a share of what all such bodies have. */
static bool may_search(Search *search, uint32_t count) {
    if (count < MAX_NODES) return true;
    return search->el->sunk_large++ < MAX_LARGE;
}

/* Lists *root and the nodes below it. False when there are too many nodes, or when a use lies outside all branches:
 * then the binding must stay in front, and stopping early keeps long chains of bindings cheap. */
static bool list_nodes(Search *search, CtCore **root, CtVar *const *vars, uint32_t count) {
    search->nodes->count = search->open->count = 0;
    add(search, root, 0, PART);
    while (search->open->count) {
        Node node = search->open->items[--search->open->count];
        uint32_t index = search->nodes->count;
        if (!may_search(search, index)) return false;
        ct_push(search->el->arena, search->nodes, node);
        if (!node.branched && is_use(*node.slot, vars, count)) return false;
        add_children(search, *node.slot, index);
    }
    for (uint32_t i = search->nodes->count; i-- > 1;)
        search->nodes->items[search->nodes->items[i].parent].size += search->nodes->items[i].size;
    return true;
}

/* Lists all nodes, or MAX_NODES of them. */
static void list_all(Search *search, CtCore **root) {
    search->nodes->count = search->open->count = 0;
    add(search, root, 0, PART);
    while (search->open->count && search->nodes->count < MAX_NODES) {
        Node node = search->open->items[--search->open->count];
        ct_push(search->el->arena, search->nodes, node);
        add_children(search, *node.slot, search->nodes->count - 1);
    }
}

/* Not what a function captured: its type does not tell. */
static bool holds_array(CtType *type) { return type->kind != TYPE_FUN && ct_core_type_has_array(type); }

static void note_reads(Search *search, CtCore *rhs) {
    if (!list_nodes(search, &rhs, NULL, 0)) return;
    for (uint32_t i = 0; i < search->nodes->count; i++) {
        const CtCore *core = *search->nodes->items[i].slot;
        if (core->kind == CORE_VAR && holds_array(core->as.var->type))
            ct_map_set(search->el->arena, &search->reads, ct_key(core->as.var), core->as.var);
    }
}

/* Marks the nodes whose subtrees contain a use; returns whether there is any use. */
static bool mark_uses(Search *search, CtVar *const *vars, uint32_t count) {
    Node *nodes = search->nodes->items;
    for (uint32_t i = 0; i < search->nodes->count; i++) {
        const CtCore *core = *nodes[i].slot;
        bool used = is_use(core, vars, count);
        for (uint32_t at = i; used && !nodes[at].has; at = nodes[at].parent) nodes[at].has = true;
    }
    return search->nodes->count > 0 && nodes[0].has;
}

/* Whether evaluating the node may update an array that the right-hand side reads. */
static bool may_update(const Search *search, uint32_t index) {
    const Node *nodes = search->nodes->items;
    if (!search->reads.count || !holds_array((*nodes[index].slot)->type)) return false;
    for (uint32_t i = index; i < index + nodes[index].size; i++) {
        const CtCore *core = *nodes[i].slot;
        if (core->kind == CORE_VAR && ct_map_has(&search->reads, ct_key(core->as.var))) return true;
    }
    return false;
}

/* The only child that contains uses, if the binding may be evaluated as late as there; else 0. */
static uint32_t next(const Search *search, uint32_t index) {
    const Node *nodes = search->nodes->items;
    uint32_t found = 0, end = index + nodes[index].size;
    for (uint32_t i = index + 1; i < end; i += nodes[i].size) {
        if (nodes[i].has && (found || nodes[i].relation == FUNCTION)) return 0;
        if (nodes[i].has) found = i;
    }
    for (uint32_t i = index + 1; found && i < end; i += nodes[i].size)
        if (i != found && nodes[i].relation == PART && may_update(search, i)) return 0;
    return found;
}

/* As ct_elab_place; *stop becomes the innermost node that the binding may sink to, or 0 when it cannot sink. */
static CtCore **place_in(Search *search, CtCore *rhs, CtVar *const *vars, uint32_t count, CtCore **body,
                         uint32_t *stop) {
    *stop = 0;
    note_reads(search, rhs);
    if (!list_nodes(search, body, vars, count)) return body;
    if (!mark_uses(search, vars, count)) return NULL;
    CtCore **place = body;
    for (uint32_t at = next(search, 0); at; at = next(search, at)) {
        *stop = at;
        if (search->nodes->items[at].relation == BRANCH) place = search->nodes->items[at].slot;
    }
    return place;
}

CtCore **ct_elab_place(CtElab *el, CtCore *rhs, CtVar *const *vars, uint32_t count, CtCore **body) {
    Search search = {.el = el, .nodes = &el->sink_nodes, .open = &el->sink_open};
    uint32_t stop;
    return place_in(&search, rhs, vars, count, body, &stop);
}

/* ---- a small right-hand side, copied into several branches ---- */

/* Whether a right-hand side may be copied: it is small and binds no variables. */
static bool may_be_copied(Search *search, CtCore *rhs) {
    if (!list_nodes(search, &rhs, NULL, 0) || search->nodes->count > MAX_COPY) return false;
    for (uint32_t i = 0; i < search->nodes->count; i++) switch ((*search->nodes->items[i].slot)->kind) {
        case CORE_LAM:
        case CORE_LET:
        case CORE_LETREC:
        case CORE_UNPACK:
        case CORE_CASE:
        case CORE_DERIV:
        case CORE_DUAL: return false;
        case CORE_VAR:
        case CORE_GLOBAL:
        case CORE_LIT:
        case CORE_STRING:
        case CORE_APP:
        case CORE_TUPLE:
        case CORE_PROJ:
        case CORE_CON:
        case CORE_PRIM:
        case CORE_ARRAY:
        case CORE_ARRAY_LIT:
        case CORE_FAIL: break;
        }
    return true;
}

/* Whether a type has parts that a program declares, or functions in data: then an instance of a class that the program
 * declares may be what the library's function calls. */
static bool has_own_parts(const CtElab *el, const CtType *type) {
    bool built_in = type == el->program->bool_type || ct_core_list_is_list(type);
    if (type->kind == TYPE_DATA && !type->data->is_library && !built_in) return true;
    for (uint32_t i = 0; type->kind == TYPE_DATA && i < type->data->arg_count; i++)
        if (type->data->args[i]->kind == TYPE_FUN || has_own_parts(el, type->data->args[i])) return true;
    for (uint32_t i = 0; i < type->count; i++)
        if (has_own_parts(el, type->parts[i])) return true;
    return false;
}

/* Whether a path may evaluate two copies: these cost little more than one, or might fail where they are not used, as
 * `head xs` and `sum (tail xs)` do. A function of the program might be the one that is elaborated, whose cost would
 * then double at each level of its recursion; so might what a function of the library calls at a type of the
 * program. */
static bool may_repeat(Search *search, CtCore *rhs) {
    static const char *const failing[] = {"head",    "tail",    "last",       "init",    "indexList", "!!",     "!",
                                          "div",     "mod",     "quot",       "rem",     "divMod",    "^",      "^^",
                                          "quotRem", "toEnum",  "succ",       "pred",    "fromJust",  "chr",    "read",
                                          "maximum", "minimum", "digitToInt", "findMin", "findMax",   "elemAt", NULL};
    static const char *const cheap[] = {"fst",        "snd",      "fromInt",   "fromInteger", "fromIntegral", "abs",
                                        "realToFrac", "fromEnum", "toInteger", "not",         "negate",       "null",
                                        "signum",     "even",     "odd",       "round",       "floor",        "ord",
                                        "truncate",   "ceiling",  "otherwise", NULL};
    static const char *const passes[] = {"length", "sum", "product", "show", "reverse", "take", "drop", "++", NULL};
    if (!list_nodes(search, &rhs, NULL, 0)) return false;
    bool fails = false, is_cheap = true;
    for (uint32_t i = 0; i < search->nodes->count; i++) {
        const CtCore *core = *search->nodes->items[i].slot;
        if (core->type->kind != TYPE_FUN) continue;
        const CtGlobal *global = core->kind == CORE_GLOBAL ? core->as.global : NULL;
        if (global == NULL || !global->is_library || has_own_parts(search->el, core->type)) return false;
        bool may_fail = is_among(global, failing), passes_over = is_among(global, passes);
        if (!may_fail && !passes_over && !is_among(global, cheap)) return false;
        fails |= may_fail;
        is_cheap &= !passes_over;
    }
    return is_cheap || fails;
}

static bool calls(const Search *search, uint32_t index, CtVar *join) {
    const Node *nodes = search->nodes->items;
    for (uint32_t i = index; i < index + nodes[index].size; i++)
        if (is_use(*nodes[i].slot, &join, 1)) return true;
    return false;
}

/* The code and the body of a term that binds a join point. */
static uint32_t code_of(uint32_t index) { return index + 1; }

static uint32_t body_of(const Search *search, uint32_t index) {
    return code_of(index) + search->nodes->items[code_of(index)].size;
}

/* Whether no path through the subtree evaluates a copy of the right-hand side and also calls the join point, whose code
 * has a copy of its own: the copies go into branches as far inside as the calls lie. */
static bool excludes(const Search *search, uint32_t index, CtVar *join, uint32_t depth) {
    const Node *nodes = search->nodes->items;
    const CtCore *core = *nodes[index].slot;
    if (!nodes[index].has || !calls(search, index, join)) return true;
    if (depth >= MAX_SPLITS) return false;
    if (is_join(core))
        return excludes(search, code_of(index), join, depth + 1) &&
               excludes(search, body_of(search, index), join, depth + 1) &&
               excludes(search, body_of(search, index), core->as.let.vars[0], depth + 1);
    if (core->kind != CORE_CASE) return false;
    for (uint32_t i = index + 1; i < index + nodes[index].size; i += nodes[i].size) {
        bool scrutinee = nodes[i].relation == PART;
        if (scrutinee && (nodes[i].has || may_update(search, i))) return false;
        if (!scrutinee && !excludes(search, i, join, depth + 1)) return false;
    }
    return true;
}

/* Whether the node is a case, perhaps behind join points, that copying the binding into its branches pays for: its
 * scrutinee neither uses the variable nor may update an array that the right-hand side reads, and some branch, here or
 * further inside of a branch with uses, does not use the variable and does more than fail. Of a join point both the
 * code and the body get a copy only if a path may evaluate both, or none does. Of another term each part with uses has
 * to be such a node or an action, and only one has uses unless a path may evaluate two copies. */
static bool parts(const Search *search, uint32_t index, uint32_t depth) {
    const Node *nodes = search->nodes->items;
    const CtCore *core = *nodes[index].slot;
    bool unused = false, join = is_join(core), cases = join || core->kind == CORE_CASE;
    uint32_t used = 0;
    if (depth >= MAX_SPLITS) return false;
    if (core->kind == CORE_LAM) return nodes[code_of(index)].relation == BRANCH;
    if (join && search->once && nodes[code_of(index)].has &&
        !excludes(search, body_of(search, index), core->as.let.vars[0], depth))
        return false;
    for (uint32_t i = index + 1; i < index + nodes[index].size; i += nodes[i].size) {
        bool branch = join || nodes[i].relation == BRANCH;
        if (!branch && nodes[i].relation == PART && may_update(search, i)) return false;
        if (!branch && nodes[i].has &&
            (cases || nodes[i].relation == FUNCTION || (used++ && search->once) || !parts(search, i, depth + 1)))
            return false;
        if (branch) unused |= nodes[i].has ? parts(search, i, depth + 1) : (*nodes[i].slot)->kind != CORE_FAIL;
    }
    return cases ? unused : used > 0;
}

static bool few_uses(const Search *search, CtVar *var) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < search->nodes->count && count <= MAX_USES; i++)
        count += is_use(*search->nodes->items[i].slot, &var, 1);
    return count <= MAX_USES;
}

/* Replaces the uses of `var` in the subtree of a node by uses of `other`. */
static void rename_uses(const Search *search, uint32_t index, CtVar *var, CtVar *other) {
    const Node *nodes = search->nodes->items;
    for (uint32_t i = index; i < index + nodes[index].size; i++)
        if (is_use(*nodes[i].slot, &var, 1))
            *nodes[i].slot = ct_core_var(search->el->program, (*nodes[i].slot)->range, other);
}

static CtCore *let_in(CtElab *el, CtSourceRange range, CtVar *var, CtCore *rhs, CtCore *body, uint32_t depth) {
    Search search = {.el = el, .nodes = &el->sink_nodes, .open = &el->sink_open};
    bool small = depth < MAX_SPLITS && may_be_copied(&search, rhs);
    search.once = small && !may_repeat(&search, rhs);
    search.late = small && !search.once;
    uint32_t stop;
    CtCore **place = place_in(&search, rhs, &var, 1, &body, &stop);
    if (place == NULL) return body;
    bool looked = search.nodes->count > 0 && search.nodes->items[0].has;
    if (!small || !looked || !few_uses(&search, var) || !parts(&search, stop, depth)) {
        *place = ct_core_let(el->program, range, var, rhs, *place);
        return body;
    }
    typedef struct Branch {
        CtCore **slot;
        CtVar *var;
    } Branch;
    CT_VEC(Branch) branches = {0};
    uint32_t end = stop + search.nodes->items[stop].size;
    for (uint32_t i = stop + 1; i < end; i += search.nodes->items[i].size) {
        if (!search.nodes->items[i].has) continue;
        CtCore **slot = search.nodes->items[i].slot;
        Branch branch = {(*slot)->kind == CORE_LAM ? &(*slot)->as.lam->body : slot, var};
        if (branches.count > 0) {
            branch.var = ct_core_var_new(el->program, var->name->text, var->type);
            rename_uses(&search, i, var, branch.var);
        }
        ct_push(el->arena, &branches, branch);
    }
    for (uint32_t i = 0; i < branches.count; i++) {
        CtCore *copy = i == 0 ? rhs : ct_core_copy(el->program, rhs, NULL);
        CtCore **slot = branches.items[i].slot;
        *slot = let_in(el, range, branches.items[i].var, copy, *slot, depth + 1);
    }
    return body;
}

/* ---- a right-hand side that only fails ---- */

/* Whether evaluating the term always fails: a call of `error`, perhaps behind bindings of parts of its message. */
static bool only_fails(const CtCore *core) {
    while (core->kind == CORE_LET && core->as.let.rhs->kind != CORE_LAM) core = core->as.let.body;
    return core->kind == CORE_FAIL;
}

enum { MAX_FAILURE = 100 /* nodes of a failing right-hand side that may be copied to the uses */ };

/* Puts a failing right-hand side in place of each use of the variable, also inside of functions: so it fails where
 * Haskell does. False if it is too large for that. */
static bool fail_at_uses(CtElab *el, CtVar *var, CtCore *rhs, CtCore **body) {
    Search search = {.el = el, .nodes = &el->sink_nodes, .open = &el->sink_open};
    if (!list_nodes(&search, &rhs, NULL, 0) || search.nodes->count > MAX_FAILURE) return false;
    list_all(&search, body);
    if (search.nodes->count >= MAX_NODES || !few_uses(&search, var)) return false;
    for (uint32_t i = 0; i < search.nodes->count; i++) {
        CtCore **slot = search.nodes->items[i].slot;
        if (is_use(*slot, &var, 1)) *slot = ct_core_copy(el->program, rhs, NULL);
    }
    return true;
}

CtCore *ct_elab_let(CtElab *el, CtSourceRange range, CtVar *var, CtCore *rhs, CtCore *body) {
    if (only_fails(rhs) && fail_at_uses(el, var, rhs, &body)) return body;
    return let_in(el, range, var, rhs, body, 0);
}
