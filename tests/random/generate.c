/* Generating random programs, and making them simpler. */
#include <stdlib.h>
#include <string.h>

#include "random.h"

/* ---- randomness: splitmix64, the same on every machine ---- */

uint64_t random_next(Random *random) {
    uint64_t z = (random->state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

int random_below(Random *random, int bound) { return (int)(random_next(random) % (uint64_t)bound); }

double random_real(Random *random, double low, double high) {
    double unit = (double)(random_next(random) >> 44) / (double)(1 << 20); /* few digits: they print short and exact */
    return low + (high - low) * unit;
}

/* ---- the table ---- */

#define BIND_COUNT(...) (int)(sizeof((Type[]){T_COUNT, ##__VA_ARGS__}) / sizeof(Type) - 1)
static const FormInfo forms[] = {
#define BINDS(...) .bind_count = BIND_COUNT(__VA_ARGS__), .binds = {__VA_ARGS__}
#define KID(type, scope)                                                                                               \
    { type, scope }
#define KIDS(...) __VA_ARGS__
#define FORM(name_, weight_, result_, binds_, kids_, text_)                                                            \
    [F_##name_] = {.weight = weight_, .result = result_, binds_, .kids = {kids_}, .text = text_},
#include "forms.def"
};

static int kid_count(Form form) {
    switch (form) { /* the forms whose text does not name their kids */
    case F_OP1: return 1;
    case F_OP2: return 2;
    default: break;
    }
    int count = 0;
    for (const char *c = forms[form].text; *c != '\0'; c++)
        if (*c == '$' && c[1] - '0' >= count) count = c[1] - '0' + 1;
    return count;
}

const FormInfo *form_info(Form form) { return &forms[form]; }

/* ---- nodes ---- */

enum { MAX_NODES = 200000, MAX_VARS = 4000 };
static Node *pool;
static int pool_used;
static Type var_types[MAX_VARS];
static int var_count;

void generate_reset(void) {
    if (pool == NULL) pool = malloc(MAX_NODES * sizeof *pool);
    if (pool == NULL) abort();
    pool_used = 0;
    var_count = 0;
}

static Node *node_new(Form form, Type type) {
    if (pool_used == MAX_NODES) abort();
    Node *node = &pool[pool_used++];
    memset(node, 0, sizeof *node);
    node->form = form;
    node->type = type;
    node->kid_count = kid_count(form);
    return node;
}

typedef struct Scope {
    int vars[64], count;
    int derivatives; /* that enclose this place */
    bool consuming;  /* inside a form that takes the input apart */
} Scope;

static int var_new(Type type) {
    if (var_count == MAX_VARS) abort();
    var_types[var_count] = type;
    return var_count++;
}

static int var_pick(Random *random, const Scope *scope, Type type) { /* -1: none */
    int fit[64], count = 0;
    for (int i = 0; i < scope->count; i++)
        if (var_types[scope->vars[i]] == type) fit[count++] = scope->vars[i];
    return count == 0 ? -1 : fit[random_below(random, count)];
}

/* Forms that end a branch: the smallest of each type. */
static Form smallest(Type type) {
    switch (type) {
    case T_REAL: return F_LIT;
    case T_INT: return F_INT_LIT;
    case T_BOOL: return F_INT_LESS;
    case T_PAIR: return F_PAIR;
    case T_LIST: return F_NIL;
    case T_ARRAY: return F_ARRAY3;
    case T_SHAPE: return F_DOT;
    case T_TREE: return F_LEAF;
    case T_FUN1: return F_LAM1;
    case T_FUN2: return F_LAM2;
    case T_HELD: return F_HELD;
    case T_COUNT: break;
    }
    abort();
}

/* The form that makes a number of a value of a type, so that programs depend on their inputs. */
static Form consumer(Type type) {
    switch (type) {
    case T_PAIR: return F_LET_PAIR;
    case T_LIST: return F_FOLDR;
    case T_ARRAY: return F_INDEX;
    case T_SHAPE: return F_CASE_SHAPE;
    case T_TREE: return F_WALK;
    default: return F_LIT;
    }
}

/* A form for where the budget is spent. */
static Form last_form(Random *random, Scope *scope, Type type) {
    if (type == T_LIST && random_below(random, 3) > 0) return F_CONS;
    Form form = type == T_REAL && !scope->consuming && random_below(random, 4) > 0 ? consumer(var_types[scope->vars[0]])
                                                                                   : smallest(type);
    scope->consuming |= type == T_REAL && form != F_LIT;
    return form;
}

static Form pick_form(Random *random, const Scope *scope, Type type) {
    int total = 0;
    Form fit[F_COUNT];
    int weights[F_COUNT], count = 0;
    for (int form = 0; form < F_COUNT; form++) {
        if (forms[form].result != type && forms[form].result != T_COUNT) continue;
        if (form == F_VAR && var_pick(random, scope, type) < 0) continue;
        if ((form == F_DIFF || form == F_GRAD_SUM) && scope->derivatives >= 2) continue;
        if (scope->count + forms[form].bind_count > 60) continue;
        fit[count] = (Form)form;
        weights[count++] = forms[form].weight;
        total += forms[form].weight;
    }
    int at = random_below(random, total);
    for (int i = 0; i < count; i++) {
        if (at < weights[i]) return fit[i];
        at -= weights[i];
    }
    abort();
}

static Node *generate(Random *random, const Scope *outer, Type type, int budget) {
    Scope here = *outer, *scope = &here;
    int known = budget <= 1 || random_below(random, 4) == 0 ? var_pick(random, scope, type) : -1;
    Form form = known >= 0 ? F_VAR : budget <= 1 ? last_form(random, scope, type) : pick_form(random, scope, type);
    Node *node = node_new(form, type);
    if (form == F_VAR) node->which = known >= 0 ? known : var_pick(random, scope, type);
    if (form == F_LIT) node->literal = random_real(random, -2, 2);
    if (form == F_INT_LIT) node->which = random_below(random, 6);
    if (form == F_OP1) node->which = random_below(random, op1_count());
    if (form == F_OP2) node->which = random_below(random, op2_count());
    const FormInfo *info = &forms[form];
    for (int i = 0; i < info->bind_count; i++) node->binds[i] = var_new(info->binds[i]);
    int rest = budget - 1;
    for (int i = 0; i < node->kid_count; i++) {
        Scope inner = *scope;
        for (int j = 0; j < info->bind_count; j++)
            if (info->kids[i].scope >> j & 1) inner.vars[inner.count++] = node->binds[j];
        if ((form == F_DIFF || form == F_GRAD_SUM) && i == 0) inner.derivatives++;
        int left = node->kid_count - i;
        int share = left == 1 || rest <= 0 ? rest : random_below(random, 2 * rest / left + 1);
        node->kids[i] = generate(random, &inner, info->kids[i].type == T_COUNT ? type : info->kids[i].type, share);
        rest -= share;
    }
    return node;
}

static int tree_leaves(int seed, int depth) { /* a Node at each place where the seed has a bit set */
    if (depth == 3 || !(seed >> depth & 1)) return 0;
    return 1 + tree_leaves(seed, depth + 1) + tree_leaves(seed >> 3, depth + 1);
}

static Point generate_point(Random *random) {
    static const Type types[] = {T_REAL, T_PAIR, T_LIST, T_ARRAY, T_ARRAY, T_SHAPE, T_TREE};
    Point point = {.type = types[random_below(random, 7)]};
    switch (point.type) {
    case T_REAL: point.leaf_count = 1; break;
    case T_PAIR: point.leaf_count = 2; break;
    case T_LIST:
    case T_ARRAY: point.leaf_count = 1 + random_below(random, 4); break;
    case T_SHAPE:
        point.shape = 1 + random_below(random, 2);
        point.leaf_count = point.shape;
        break;
    case T_TREE:
        point.shape = 1 | random_below(random, 64);
        point.leaf_count = tree_leaves(point.shape, 0);
        break;
    default: abort();
    }
    for (int i = 0; i < point.leaf_count; i++) point.leaves[i] = random_real(random, -2, 2);
    return point;
}

void generate_program(Random *random, int size, Program *out) {
    out->point = generate_point(random);
    Scope scope = {.vars = {var_new(out->point.type)}, .count = 1};
    out->first = generate(random, &scope, T_REAL, size);
    out->second = generate(random, &scope, T_REAL, size / 3 + 1);
}

/* ---- making a failing program smaller ---- */

static int size_of(const Node *node) {
    int size = 1;
    for (int i = 0; i < node->kid_count; i++) size += size_of(node->kids[i]);
    return size;
}

int program_size(const Program *program) { return size_of(program->first) + size_of(program->second); }

/* Way 0: the smallest node of its type that needs no kids; ways 1…: its kids of the same type outside its binders. */
static Node *simpler(const Node *node, int way) {
    if (way == 0) {
        Form form = smallest(node->type);
        if (form == node->form || kid_count(form) > 0) return NULL;
        Node *small = node_new(form, node->type);
        small->literal = 0.5;
        small->which = 1;
        return small;
    }
    if (way > node->kid_count) return NULL;
    const FormInfo *info = &forms[node->form];
    Node *kid = node->kids[way - 1];
    return kid->type == node->type && info->kids[way - 1].scope == 0 ? kid : NULL;
}

static Node *replace(Node *node, int *step, int way, bool *done) {
    if ((*step)-- == 0) {
        Node *small = simpler(node, way);
        *done = small != NULL;
        return small != NULL ? small : node;
    }
    for (int i = 0; i < node->kid_count && *step >= 0; i++) {
        Node *kid = replace(node->kids[i], step, way, done);
        if (kid == node->kids[i]) continue;
        Node *copy = node_new(node->form, node->type);
        *copy = *node;
        copy->kids[i] = kid;
        return copy;
    }
    return node;
}

bool simplify_program(const Program *program, int step, int way, Program *out) {
    bool done = false;
    *out = *program;
    out->first = replace(program->first, &step, way, &done);
    if (step >= 0) out->second = replace(program->second, &step, way, &done);
    return done;
}
