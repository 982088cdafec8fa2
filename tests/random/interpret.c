/* What a random program means, in long double: a plain recursive interpreter over second-order jets.
 *
 * `diff` and `grad` inside a program run the body on jets: the outer derivative in force uses ε1, one inside it ε2.
 * Deeper nesting (through function values) makes the outcome undefined, and the program is discarded.
 */
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

typedef struct Value Value;
typedef struct Binding {
    int var;
    const Value *value;
    const struct Binding *next;
} Binding;

struct Value {
    Jet real;
    long integer;
    int tag; /* SHAPE, TREE: constructor */
    int count;
    const Value **items; /* PAIR, LIST, ARRAY, SHAPE, TREE, HELD; FUN: functions composed or applied */
    enum { CODE_LAM, CODE_PARTIAL, CODE_COMPOSE } code;
    const Node *lam; /* FUN */
    const Binding *env;
};

typedef struct Run {
    jmp_buf undefined; /* where a run that leaves the limits ends */
    uint64_t branches;
    int depth, derivatives;
    long work;
} Run;

enum { MEMORY = 64 * 1024 * 1024, MAX_WORK = 200000, MAX_DEPTH = 2000 };
static char *memory;
static size_t memory_used;

static void *fresh(Run *run, size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    if (memory_used + bytes > MEMORY) longjmp(run->undefined, 1);
    void *result = memory + memory_used;
    memory_used += bytes;
    return memset(result, 0, bytes);
}

static Value *value_new(Run *run) { return fresh(run, sizeof(Value)); }

static const Value *real(Run *run, Jet jet) {
    Value *v = value_new(run);
    v->real = jet;
    if (!(fabsl(jet.value) <= 1e6L) || !isfinite(jet.d1 + jet.d2 + jet.d12)) longjmp(run->undefined, 1);
    return v;
}

static const Value *plain(Run *run, long double value) { return real(run, (Jet){value, 0, 0, 0}); }

static const Value *integer(Run *run, long value) {
    Value *v = value_new(run);
    v->integer = value;
    return v;
}

static Value *items(Run *run, int tag, int count) {
    Value *v = value_new(run);
    v->tag = tag;
    v->count = count;
    v->items = fresh(run, (size_t)(count + 1) * sizeof *v->items);
    return v;
}

static const Value *pair(Run *run, const Value *a, const Value *b) {
    Value *v = items(run, 0, 2);
    v->items[0] = a;
    v->items[1] = b;
    return v;
}

static const Binding *bind(Run *run, const Binding *env, int var, const Value *value) {
    Binding *binding = fresh(run, sizeof *binding);
    *binding = (Binding){var, value, env};
    return binding;
}

static bool decide(Run *run, bool way) {
    run->branches = run->branches * 1099511628211ULL + (way ? 1 : 2);
    return way;
}

static long mod(long a, long b) { return ((a % b) + b) % b; }

static const Value *eval(Run *run, const Node *node, const Binding *env);

static const Value *call1(Run *run, const Value *f, const Value *a);

static const Value *call2(Run *run, const Value *f, const Value *a, const Value *b) {
    const Node *lam = f->lam;
    if (lam->form == F_LAM2)
        return eval(run, lam->kids[0], bind(run, bind(run, f->env, lam->binds[0], a), lam->binds[1], b));
    const Binding *env = bind(run, f->env, lam->binds[0], a); /* STAGED */
    env = bind(run, env, lam->binds[1], eval(run, lam->kids[0], env));
    return eval(run, lam->kids[1], bind(run, env, lam->binds[2], b));
}

static const Value *call1(Run *run, const Value *f, const Value *a) {
    switch (f->code) {
    case CODE_LAM: return eval(run, f->lam->kids[0], bind(run, f->env, f->lam->binds[0], a));
    case CODE_PARTIAL: return call2(run, f->items[0], f->items[1], a);
    case CODE_COMPOSE: return call1(run, f->items[0], call1(run, f->items[1], a));
    }
    abort();
}

static const Value *body2(Run *run, const Node *node, int kid, const Binding *env, const Value *a, const Value *b) {
    return eval(run, node->kids[kid], bind(run, bind(run, env, node->binds[0], a), node->binds[1], b));
}

static const Value *body1(Run *run, const Node *node, int kid, const Binding *env, const Value *a) {
    return eval(run, node->kids[kid], bind(run, env, node->binds[0], a));
}

static const Value *walk(Run *run, const Node *node, const Binding *env, const Value *tree) {
    if (tree->tag == 0) return eval(run, node->kids[1], env);
    const Value *left = walk(run, node, env, tree->items[0]), *right = walk(run, node, env, tree->items[2]);
    const Value *both = real(run, op2_apply(1, left->real, right->real, &run->branches));
    return body2(run, node, 2, env, tree->items[1], both);
}

static const Value *fold_right(Run *run, const Node *node, const Binding *env, const Value *list, int from) {
    if (from == list->count) return eval(run, node->kids[1], env);
    const Value *rest = fold_right(run, node, env, list, from + 1);
    return body2(run, node, 2, env, list->items[from], rest);
}

static const Value *combine(Run *run, const Value *xs, int op, long double start) {
    Jet total = {start, 0, 0, 0};
    for (int i = 0; i < xs->count; i++) total = op2_apply(op, total, xs->items[i]->real, &run->branches);
    return real(run, total);
}

/* The derivative of a body whose input moves by `direction`: the coefficient of this derivative's ε. */
static const Value *derivative(Run *run, const Node *node, const Binding *env, const Value *point) {
    if (++run->derivatives > 2) longjmp(run->undefined, 1);
    bool outer = run->derivatives == 1;
    Value *moved = value_new(run);
    *moved = *point;
    if (node->form == F_DIFF) {
        *(outer ? &moved->real.d1 : &moved->real.d2) += 1;
    } else {
        moved->items = fresh(run, (size_t)(point->count + 1) * sizeof *moved->items);
        for (int i = 0; i < point->count; i++) {
            Value *item = value_new(run);
            *item = *point->items[i];
            *(outer ? &item->real.d1 : &item->real.d2) += 1;
            moved->items[i] = item;
        }
    }
    Jet y = body1(run, node, 0, env, moved)->real;
    run->derivatives--;
    return real(run, outer ? (Jet){y.d1, 0, 0, 0} : (Jet){y.d2, y.d12, 0, 0});
}

static const Value *eval_list(Run *run, const Node *node, const Binding *env) {
    const Value *a = node->kid_count > 0 ? NULL : items(run, 0, 0);
    Value *out;
    switch (node->form) {
    case F_CONS: {
        const Value *head = eval(run, node->kids[0], env), *tail = eval(run, node->kids[1], env);
        out = items(run, 0, tail->count + 1);
        out->items[0] = head;
        memcpy(out->items + 1, tail->items, (size_t)tail->count * sizeof *tail->items);
        return out;
    }
    case F_MAP_LIST:
    case F_MAP_ARRAY:
    case F_MAP_FUN: {
        const Value *f = node->form == F_MAP_FUN ? eval(run, node->kids[0], env) : NULL;
        a = eval(run, node->kids[1], env);
        out = items(run, 0, a->count);
        for (int i = 0; i < a->count; i++)
            out->items[i] = f != NULL ? call1(run, f, a->items[i]) : body1(run, node, 0, env, a->items[i]);
        return out;
    }
    case F_REVERSE_LIST:
        a = eval(run, node->kids[0], env);
        out = items(run, 0, a->count);
        for (int i = 0; i < a->count; i++) out->items[i] = a->items[a->count - 1 - i];
        return out;
    case F_FILTER:
        a = eval(run, node->kids[1], env);
        out = items(run, 0, a->count);
        out->count = 0;
        for (int i = 0; i < a->count; i++)
            if (body1(run, node, 0, env, a->items[i])->integer) out->items[out->count++] = a->items[i];
        return out;
    case F_ZIP_LIST: {
        const Value *f = eval(run, node->kids[0], env), *b;
        a = eval(run, node->kids[1], env);
        b = eval(run, node->kids[2], env);
        out = items(run, 0, a->count < b->count ? a->count : b->count);
        for (int i = 0; i < out->count; i++) out->items[i] = call2(run, f, a->items[i], b->items[i]);
        return out;
    }
    case F_ARRAY3:
        out = items(run, 0, 3);
        for (int i = 0; i < 3; i++) out->items[i] = eval(run, node->kids[i], env);
        return out;
    case F_BUILD:
        out = items(run, 0, (int)mod(eval(run, node->kids[0], env)->integer, 4));
        for (int i = 0; i < out->count; i++) out->items[i] = body1(run, node, 1, env, integer(run, i));
        return out;
    case F_ZIP_ARRAY:
        a = eval(run, node->kids[1], env);
        out = items(run, 0, a->count);
        for (int i = 0; i < a->count; i++)
            out->items[i] = body2(run, node, 0, env, a->items[i], a->items[a->count - 1 - i]);
        return out;
    case F_SCAN: {
        const Value *start = eval(run, node->kids[1], env);
        a = eval(run, node->kids[2], env);
        out = items(run, 0, a->count + 1);
        out->items[0] = start;
        for (int i = 0; i < a->count; i++) out->items[i + 1] = body2(run, node, 0, env, out->items[i], a->items[i]);
        return out;
    }
    case F_UPDATE: {
        const Value *index = eval(run, node->kids[0], env), *item = eval(run, node->kids[1], env);
        a = eval(run, node->kids[2], env);
        out = items(run, 0, a->count);
        memcpy(out->items, a->items, (size_t)a->count * sizeof *a->items);
        if (a->count > 0) out->items[mod(index->integer, a->count)] = item;
        return out;
    }
    case F_APPEND: {
        const Value *b;
        a = eval(run, node->kids[0], env);
        b = eval(run, node->kids[1], env);
        out = items(run, 0, a->count + b->count);
        memcpy(out->items, a->items, (size_t)a->count * sizeof *a->items);
        memcpy(out->items + a->count, b->items, (size_t)b->count * sizeof *b->items);
        return out;
    }
    case F_FROM_LIST: return eval(run, node->kids[0], env);
    default: return a;
    }
}

static const Value *eval_real(Run *run, const Node *node, const Binding *env) {
    switch (node->form) {
    case F_LIT: return plain(run, (long double)node->literal);
    case F_OP1: return real(run, op1_apply(node->which, eval(run, node->kids[0], env)->real, &run->branches));
    case F_OP2: {
        Jet a = eval(run, node->kids[0], env)->real, b = eval(run, node->kids[1], env)->real;
        return real(run, op2_apply(node->which, a, b, &run->branches));
    }
    case F_CALL1: {
        const Value *f = eval(run, node->kids[0], env);
        return call1(run, f, eval(run, node->kids[1], env));
    }
    case F_CALL2: {
        const Value *f = eval(run, node->kids[0], env), *a = eval(run, node->kids[1], env);
        return call2(run, f, a, eval(run, node->kids[2], env));
    }
    case F_REPEAT: {
        long count = mod(eval(run, node->kids[2], env)->integer, 5);
        const Value *acc = eval(run, node->kids[0], env);
        for (; count > 0; count--) acc = body2(run, node, 1, env, acc, integer(run, count));
        return acc;
    }
    case F_WALK: return walk(run, node, env, eval(run, node->kids[0], env));
    case F_FOLDR: return fold_right(run, node, env, eval(run, node->kids[0], env), 0);
    case F_FOLDL_LIST:
    case F_FOLDL: {
        const Value *acc = eval(run, node->kids[1], env), *xs = eval(run, node->kids[0], env);
        for (int i = 0; i < xs->count; i++) acc = body2(run, node, 2, env, acc, xs->items[i]);
        return acc;
    }
    case F_SUM_LIST:
    case F_SUM_ARRAY: return combine(run, eval(run, node->kids[0], env), 0, 0);
    case F_PRODUCT: return combine(run, eval(run, node->kids[0], env), 2, 1);
    case F_MAXIMUM: {
        Jet best = eval(run, node->kids[0], env)->real;
        const Value *xs = eval(run, node->kids[1], env);
        for (int i = 0; i < xs->count; i++) best = op2_apply(4, best, xs->items[i]->real, &run->branches);
        return real(run, best);
    }
    case F_INDEX: {
        const Value *other = eval(run, node->kids[0], env);
        long index = eval(run, node->kids[1], env)->integer;
        const Value *xs = eval(run, node->kids[2], env);
        return xs->count == 0 ? other : xs->items[mod(index, xs->count)];
    }
    case F_DIFF:
    case F_GRAD_SUM: return derivative(run, node, env, eval(run, node->kids[1], env));
    case F_UNHOLD: {
        const Value *held = eval(run, node->kids[0], env);
        return body2(run, node, 1, env, held->items[0], held->items[1]);
    }
    default: return plain(run, (long double)eval(run, node->kids[0], env)->integer); /* OF_INT */
    }
}

static const Value *eval_case_shape(Run *run, const Node *node, const Binding *env) {
    const Value *shape = eval(run, node->kids[0], env);
    switch (shape->tag) {
    case 0: return eval(run, node->kids[1], env);
    case 1: return body1(run, node, 2, env, shape->items[0]);
    case 2:
        env = bind(run, bind(run, env, node->binds[1], shape->items[0]), node->binds[2], shape->items[1]);
        return eval(run, node->kids[3], env);
    default: return eval(run, node->kids[4], env);
    }
}

static const Value *eval_case_list(Run *run, const Node *node, const Binding *env) {
    const Value *list = eval(run, node->kids[0], env);
    if (list->count == 0) return eval(run, node->kids[1], env);
    Value *tail = items(run, 0, list->count - 1);
    memcpy(tail->items, list->items + 1, (size_t)tail->count * sizeof *tail->items);
    return body2(run, node, 2, env, list->items[0], tail);
}

static const Value *eval_parts(Run *run, const Node *node, const Binding *env, int tag) {
    Value *v = items(run, tag, node->kid_count);
    for (int i = 0; i < node->kid_count; i++) v->items[i] = eval(run, node->kids[i], env);
    return v;
}

static const Value *eval_any(Run *run, const Node *node, const Binding *env) {
    switch (node->form) {
    case F_VAR:
        while (env->var != node->which) env = env->next;
        return env->value;
    case F_IF: {
        bool way = eval(run, node->kids[0], env)->integer != 0;
        return eval(run, node->kids[way ? 1 : 2], env);
    }
    case F_LET:
    case F_LET_FUN:
    case F_LET_ARRAY: return body1(run, node, 1, env, eval(run, node->kids[0], env));
    case F_LET_PAIR: {
        const Value *both = eval(run, node->kids[0], env);
        return body2(run, node, 1, env, both->items[0], both->items[1]);
    }
    case F_CASE_SHAPE: return eval_case_shape(run, node, env);
    case F_CASE_LIST: return eval_case_list(run, node, env);
    case F_INT_LIT: return integer(run, node->which);
    case F_LENGTH_LIST:
    case F_LENGTH_ARRAY: return integer(run, eval(run, node->kids[0], env)->count);
    case F_INT_OP: {
        long a = eval(run, node->kids[0], env)->integer;
        return integer(run, mod(a * 3 + eval(run, node->kids[1], env)->integer, 7));
    }
    case F_LESS: {
        Jet a = eval(run, node->kids[0], env)->real, b = eval(run, node->kids[1], env)->real;
        return integer(run, decide(run, a.value < b.value));
    }
    case F_INT_LESS: {
        long a = eval(run, node->kids[0], env)->integer;
        return integer(run, a < eval(run, node->kids[1], env)->integer);
    }
    case F_AND:
        if (!eval(run, node->kids[0], env)->integer) return integer(run, 0);
        return eval(run, node->kids[1], env);
    case F_NOT: return integer(run, !eval(run, node->kids[0], env)->integer);
    case F_PAIR: {
        const Value *a = eval(run, node->kids[0], env);
        return pair(run, a, eval(run, node->kids[1], env));
    }
    case F_DOT:
    case F_LEAF: return eval_parts(run, node, env, 0);
    case F_CIRCLE:
    case F_NODE: return eval_parts(run, node, env, 1);
    case F_BOX: return eval_parts(run, node, env, 2);
    case F_TAGGED: return eval_parts(run, node, env, 3);
    case F_HELD: return eval_parts(run, node, env, 0);
    default: break;
    }
    Value *f = value_new(run);
    f->lam = node;
    f->env = env;
    if (node->form == F_PARTIAL || node->form == F_COMPOSE) {
        const Value *parts = eval_parts(run, node, env, 0);
        *f = *parts;
        f->code = node->form == F_PARTIAL ? CODE_PARTIAL : CODE_COMPOSE;
    }
    return f;
}

static bool is_list_form(Form form) { return form >= F_NIL && form <= F_FROM_LIST; }
static bool is_real_form(Form form) { return form_info(form)->result == T_REAL; }

static const Value *eval(Run *run, const Node *node, const Binding *env) {
    if (++run->work > MAX_WORK || run->depth > MAX_DEPTH) longjmp(run->undefined, 1);
    run->depth++;
    const Value *v = is_list_form(node->form)   ? eval_list(run, node, env)
                     : is_real_form(node->form) ? eval_real(run, node, env)
                                                : eval_any(run, node, env);
    run->depth--;
    return v;
}

static const Value *tree_of(Run *run, int seed, int depth, const long double *leaves, int *next) {
    if (depth == 3 || !(seed >> depth & 1)) return items(run, 0, 0);
    Value *node = items(run, 1, 3);
    node->items[0] = tree_of(run, seed, depth + 1, leaves, next);
    node->items[1] = plain(run, leaves[(*next)++]);
    node->items[2] = tree_of(run, seed >> 3, depth + 1, leaves, next);
    return node;
}

static const Value *input_of(Run *run, const Point *point, const long double *leaves) {
    if (point->type == T_REAL) return plain(run, leaves[0]);
    int next = 0;
    if (point->type == T_TREE) return tree_of(run, point->shape, 0, leaves, &next);
    Value *v = items(run, point->shape, point->leaf_count);
    for (int i = 0; i < point->leaf_count; i++) v->items[i] = plain(run, leaves[i]);
    return v;
}

Outcome interpret(const Program *program, const long double *leaves) {
    if (memory == NULL) memory = malloc(MEMORY);
    if (memory == NULL) abort();
    memory_used = 0;
    Run run = {.branches = 14695981039346656037ULL};
    if (setjmp(run.undefined) != 0) return (Outcome){0};
    const Binding *env = bind(&run, NULL, 0, input_of(&run, &program->point, leaves));
    Outcome outcome = {0};
    outcome.first = eval(&run, program->first, env)->real.value;
    outcome.second = eval(&run, program->second, env)->real.value;
    outcome.branches = run.branches;
    outcome.defined = true;
    return outcome;
}
