/* Array operations: the columns of core.def, and the check of arguments against the types that it gives.
 *
 * The types in the table are parsed as written: one-letter variables, `Int`, `Array t`, pairs, functions. A variable is
 * determined by its first occurrence; `r` stands for Double, Float or Int. A function in parentheses takes n
 * parameters. */
#include "core/internal.h"

static const CtArrayInfo infos[] = {
#define CT_ARRAY_OP(op, name, arity, function, function_arity, type, fails, doc)                                       \
    {name, arity, function, function_arity, type, ARRAY_FAILS_##fails, doc},
#include "core/core.def"
#undef CT_ARRAY_OP
};

const CtArrayInfo *ct_core_array_info(CtArrayOp op) { return &infos[op]; }

bool ct_core_array_find(const char *name, CtArrayOp *op) {
    for (uint32_t i = 0; i < CT_ARRAY_OP_COUNT; i++) {
        if (strcmp(infos[i].name, name) != 0) continue;
        *op = (CtArrayOp)i;
        return true;
    }
    return false;
}

/* ---- reading the table's types ---- */

enum { MAX_PARTS = 5 };

typedef struct Pattern { /* kind TYPE_DATA represents a variable */
    CtTypeKind kind;
    char letter;
    uint32_t count;
    const struct Pattern *parts[MAX_PARTS];
} Pattern;

typedef struct Reader {
    const char *at;
    Pattern pool[24];
    uint32_t used;
} Reader;

static bool accept(Reader *r, const char *token) {
    while (*r->at == ' ') r->at++;
    size_t length = strlen(token);
    if (strncmp(r->at, token, length) != 0) return false;
    r->at += length;
    return true;
}

static const Pattern *read_arrows(Reader *r);

/* Int | Array t | a | () | (t, t) | (t -> t) */
static const Pattern *read_atom(Reader *r) {
    if (accept(r, "(")) {
        const Pattern *first = read_arrows(r);
        if (accept(r, ",")) {
            Pattern *pair = &r->pool[r->used++];
            *pair = (Pattern){.kind = TYPE_TUPLE, .count = 2, .parts = {first}};
            pair->parts[1] = read_arrows(r);
            first = pair;
        }
        accept(r, ")");
        return first;
    }
    Pattern *atom = &r->pool[r->used++];
    *atom = (Pattern){.kind = TYPE_DATA};
    if (accept(r, "Int")) {
        atom->kind = TYPE_INT;
    } else if (accept(r, "Array")) {
        atom->kind = TYPE_ARRAY;
        atom->count = 1;
        atom->parts[0] = read_atom(r);
    } else {
        atom->letter = *r->at++;
    }
    return atom;
}

static const Pattern *read_arrows(Reader *r) {
    const Pattern *first = read_atom(r);
    if (!accept(r, "->")) return first;
    Pattern *fun = &r->pool[r->used++];
    *fun = (Pattern){.kind = TYPE_FUN, .count = 1, .parts = {first}};
    do fun->parts[fun->count++] = read_atom(r);
    while (accept(r, "->"));
    return fun;
}

/* ---- matching ---- */

typedef CtType *Vars[128];

static bool match(Vars vars, const Pattern *pattern, CtType *type) {
    if (pattern->kind == TYPE_DATA) {
        CtType **var = &vars[pattern->letter & 127];
        if (*var == NULL) *var = type;
        bool fits =
            pattern->letter != 'r' || type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT || type->kind == TYPE_INT;
        return *var == type && fits;
    }
    if (pattern->kind != type->kind || pattern->count != type->count) return false;
    for (uint32_t i = 0; i < pattern->count; i++)
        if (!match(vars, pattern->parts[i], type->parts[i])) return false;
    return true;
}

static CtType *build(CtProgram *p, Vars vars, const Pattern *pattern) {
    if (pattern->kind == TYPE_DATA) return vars[pattern->letter & 127];
    if (pattern->kind == TYPE_INT) return p->int_type;
    CtType *parts[MAX_PARTS];
    for (uint32_t i = 0; i < pattern->count; i++) parts[i] = build(p, vars, pattern->parts[i]);
    if (pattern->kind == TYPE_ARRAY) return ct_core_type_array(p, parts[0]);
    return ct_core_type_tuple(p, parts, pattern->count);
}

CtType *ct_core_array_type(CtProgram *p, CtArrayOp op, CtType *const *args, uint32_t count, uint32_t *wrong) {
    const CtArrayInfo *info = &infos[op];
    Reader reader = {.at = info->type};
    const Pattern *pattern = read_arrows(&reader);
    Vars vars = {NULL};
    *wrong = info->arity;
    if (count != info->arity) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        *wrong = i;
        if (!match(vars, pattern->parts[i], args[i])) return NULL;
    }
    return build(p, vars, pattern->parts[count]);
}
