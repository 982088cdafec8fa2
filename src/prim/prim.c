/* Reads primitives.def: facts about each primitive, lookup by name, derivatives and values.
 *
 * A derivative is stored as data. The table writes derivatives with constructors that are macros; they expand to
 * postfix, so that `SCALE(DIV(Y, B), G)` becomes the tokens Y B DIV G SCALE. A small stack machine replays the tokens
 * into any builder, always in the same order. */
#include "prim/prim.h"

#include <assert.h>

#include "rt/scalar.h"

typedef enum TokenKind {
    TOKEN_END,
    TOKEN_A,
    TOKEN_B,
    TOKEN_Y,
    TOKEN_G,
    TOKEN_NUMBER,
    TOKEN_OP1,     /* a */
    TOKEN_OP2,     /* a b */
    TOKEN_SCALE,   /* p g */
    TOKEN_BOTH,    /* p g */
    TOKEN_COMPARE, /* a b: stays on the stack as a comparison, for WHEN */
    TOKEN_WHEN,    /* a b COMPARE yes no */
    TOKEN_ZERO,
    TOKEN_NONE
} TokenKind;

typedef struct Token {
    TokenKind kind;
    CtPrim prim;
    double number;
} Token;

/* Written out one by one: a macro whose expansion contains a comma would split the arguments of a macro around it. */
#define A                {.kind = TOKEN_A},
#define B                {.kind = TOKEN_B},
#define Y                {.kind = TOKEN_Y},
#define G                {.kind = TOKEN_G},
#define NUM(c)           {.kind = TOKEN_NUMBER, .number = (c)},
#define OP1(id, a)       a{.kind = TOKEN_OP1, .prim = PRIM_##id},
#define OP2(id, a, b)    a b{.kind = TOKEN_OP2, .prim = PRIM_##id},
#define NEG(a)           a{.kind = TOKEN_OP1, .prim = PRIM_NEGATE},
#define ADD(a, b)        a b{.kind = TOKEN_OP2, .prim = PRIM_ADD},
#define SUB(a, b)        a b{.kind = TOKEN_OP2, .prim = PRIM_SUB},
#define MUL(a, b)        a b{.kind = TOKEN_OP2, .prim = PRIM_MUL},
#define DIV(a, b)        a b{.kind = TOKEN_OP2, .prim = PRIM_DIV},
#define SCALE(p, g)      p g{.kind = TOKEN_SCALE, .prim = PRIM_SCALE},
#define BOTH(p, g)       p g{.kind = TOKEN_BOTH},
#define EQ(a, b)         a b{.kind = TOKEN_COMPARE, .prim = PRIM_EQ},
#define LT(a, b)         a b{.kind = TOKEN_COMPARE, .prim = PRIM_LT},
#define LE(a, b)         a b{.kind = TOKEN_COMPARE, .prim = PRIM_LE},
#define WHEN(c, yes, no) c yes no{.kind = TOKEN_WHEN},
#define ZERO             {.kind = TOKEN_ZERO},
#define NONE             {.kind = TOKEN_NONE},

#define CT_PRIM(id, name, signature, value, vector, d1, d2, ...)                                                       \
    static const Token first_##id[] = {d1{.kind = TOKEN_END}};                                                         \
    static const Token second_##id[] = {d2{.kind = TOKEN_END}};
#include "prim/primitives.def"
#undef CT_PRIM

#undef A
#undef B
#undef Y
#undef G
#undef NUM
#undef OP1
#undef OP2
#undef NEG
#undef ADD
#undef SUB
#undef MUL
#undef DIV
#undef SCALE
#undef BOTH
#undef EQ
#undef LT
#undef LE
#undef WHEN
#undef ZERO
#undef NONE

static const Token *const derivatives[CT_PRIM_COUNT][2] = {
#define CT_PRIM(id, ...) {first_##id, second_##id},
#include "prim/primitives.def"
#undef CT_PRIM
};

/* ---- facts ---- */

/* Reading of the derivative column that only classifies it: 0 for NONE, 1 for ZERO, 2 for an expression, 3 for an
 * expression with a WHEN. */
#define A                2
#define B                2
#define Y                2
#define G                2
#define NUM(c)           2
#define NEG(a)           2
#define ADD(a, b)        2
#define MUL(a, b)        2
#define SCALE(p, g)      2
#define BOTH(p, g)       3
#define WHEN(c, yes, no) 3
#define ZERO             1
#define NONE             0
#define EXACT            true
#define LIBM             false
#define TEXT             false

/* All of these are constant expressions: the size of a signature ("R:R", "RR:R") gives the arity. */
#define ARITY(s)         (sizeof(s) - 3)
#define RESULT(s)        (s)[sizeof(s) - 2]
#define IS_REAL(letter)  ((letter) == 'R' || (letter) == 'D' || (letter) == 'F')
#define KNOWN(letter, d) (!IS_REAL(letter) || (d) != NONE)

static const CtPrimInfo infos[CT_PRIM_COUNT] = {
#define CT_PRIM(id_, name_, sig, value, vector, d1, d2, fails, bits, cost_, work_, lo1, hi1, lo2, hi2, doc_)           \
    {.id = #id_,                                                                                                       \
     .name = name_,                                                                                                    \
     .signature = sig,                                                                                                 \
     .arity = ARITY(sig),                                                                                              \
     .args = {(sig)[0], ARITY(sig) == 2 ? (sig)[1] : 0},                                                               \
     .result = RESULT(sig),                                                                                            \
     .cost = cost_,                                                                                                    \
     .work = work_,                                                                                                    \
     .has_derivative = IS_REAL(RESULT(sig)) && KNOWN((sig)[0], d1) && (ARITY(sig) == 1 || KNOWN((sig)[1], d2)),        \
     .is_exact = bits,                                                                                                 \
     .is_zero = (d1) <= ZERO && (d2) <= ZERO,                                                                          \
     .chooses = (d1) == 3 || (d2) == 3,                                                                                \
     .low = {lo1, lo2},                                                                                                \
     .high = {hi1, hi2},                                                                                               \
     .doc = doc_},
#include "prim/primitives.def"
#undef CT_PRIM
};

#undef A
#undef B
#undef Y
#undef G
#undef NUM
#undef NEG
#undef ADD
#undef MUL
#undef SCALE
#undef BOTH
#undef WHEN
#undef ZERO
#undef NONE
#undef EXACT
#undef LIBM
#undef TEXT

const CtPrimInfo *ct_prim_info(CtPrim prim) { return &infos[prim]; }

bool ct_prim_is_light(CtPrim prim) { return ct_prim_info(prim)->work == 1; }

bool ct_prim_find(const char *name, CtPrim *prim) {
    for (int i = 0; i < CT_PRIM_COUNT; i++)
        if (strcmp(infos[i].name, name) == 0) {
            *prim = (CtPrim)i;
            return true;
        }
    return false;
}

/* ---- derivatives ---- */

/* An entry of the machine's stack: a term; the cotangent when it is the number 1, which is never built where it is a
 * factor; or a comparison that waits for its WHEN. */
typedef struct Item {
    enum { ITEM_TERM, ITEM_ONE, ITEM_COMPARISON } kind;
    CtPrimTerm term;
    CtPrim comparison;
} Item;

enum { STACK = 24 };

typedef struct Machine {
    CtPrimBuilder *builder;
    Item items[STACK];
    int count;
} Machine;

static void push(Machine *m, CtPrimTerm term) {
    assert(m->count < STACK);
    m->items[m->count++] = (Item){.kind = ITEM_TERM, .term = term};
}

static Item pop_item(Machine *m) {
    assert(m->count > 0);
    return m->items[--m->count];
}

static CtPrimTerm pop(Machine *m) {
    Item item = pop_item(m);
    assert(item.kind != ITEM_COMPARISON);
    return item.kind == ITEM_ONE ? m->builder->number(m->builder, 1) : item.term;
}

static void apply(Machine *m, CtPrim prim, uint32_t count) {
    CtPrimTerm args[2] = {NULL, NULL};
    for (uint32_t i = count; i-- > 0;) args[i] = pop(m);
    push(m, m->builder->prim(m->builder, prim, args, count));
}

static void apply1(Machine *m, CtPrim prim) {
    if (prim == PRIM_NEGATE && m->items[m->count - 1].kind == ITEM_ONE) {
        pop_item(m);
        push(m, m->builder->number(m->builder, -1));
    } else {
        apply(m, prim, 1);
    }
}

static void scale(Machine *m) {
    if (m->items[m->count - 1].kind == ITEM_ONE) {
        pop_item(m); /* SCALE(p, 1) is p, the entry below */
    } else {
        apply(m, PRIM_SCALE, 2);
    }
}

/* The product of BOTH, which is −0.0 when either factor is. For p = −0.0 it becomes `scale g p`, which is −0.0 as well,
 * but has the derivatives of a product; that matters because p may be a zero that was computed. When g only stands for
 * a cotangent (is_eager is false), the result is a structural zero. */
static void both(Machine *m) {
    Item g = pop_item(m);
    CtPrimTerm p = pop(m);
    CtPrimBuilder *b = m->builder;
    CtPrimTerm product = g.kind == ITEM_ONE ? p : b->prim(b, PRIM_SCALE, (CtPrimTerm[]){p, g.term}, 2);
    CtPrimTerm none =
        b->is_eager && g.kind != ITEM_ONE ? b->prim(b, PRIM_SCALE, (CtPrimTerm[]){g.term, p}, 2) : b->number(b, -0.0);
    push(m, b->choose(b, PRIM_IS_NEGATIVE_ZERO, p, NULL, none, product));
}

static void when(Machine *m) {
    CtPrimTerm no = pop(m);
    CtPrimTerm yes = pop(m);
    Item comparison = pop_item(m);
    assert(comparison.kind == ITEM_COMPARISON);
    CtPrimTerm b = pop(m);
    CtPrimTerm a = pop(m);
    push(m, m->builder->choose(m->builder, comparison.comparison, a, b, yes, no));
}

CtPrimTerm ct_prim_derivative(CtPrimBuilder *builder, CtPrim prim, uint32_t index, const CtPrimTerm *args, CtPrimTerm y,
                              CtPrimTerm g) {
    Machine m = {.builder = builder};
    for (const Token *t = derivatives[prim][index];; t++) {
        switch (t->kind) {
        case TOKEN_END: return pop(&m);
        case TOKEN_A: push(&m, args[0]); break;
        case TOKEN_B: push(&m, args[1]); break;
        case TOKEN_Y: push(&m, y); break;
        case TOKEN_G:
            if (g)
                push(&m, g);
            else
                m.items[m.count++] = (Item){.kind = ITEM_ONE};
            break;
        case TOKEN_NUMBER: push(&m, builder->number(builder, t->number)); break;
        case TOKEN_OP1: apply1(&m, t->prim); break;
        case TOKEN_OP2: apply(&m, t->prim, 2); break;
        case TOKEN_SCALE: scale(&m); break;
        case TOKEN_BOTH: both(&m); break;
        case TOKEN_COMPARE: m.items[m.count++] = (Item){.kind = ITEM_COMPARISON, .comparison = t->prim}; break;
        case TOKEN_WHEN: when(&m); break;
        case TOKEN_ZERO:
        case TOKEN_NONE: return NULL;
        }
    }
}

/* ---- values ---- */

/* Rows with other arguments than reals never get here, but their expressions stand in the switch too, and convert
 * doubles to integers without a cast. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"

double ct_prim_value(CtPrim prim, double A, double B) {
    switch (prim) {
#define NONE NAN
#define CT_PRIM(id, name, signature, value, ...)                                                                       \
    case PRIM_##id:                                                                                                    \
        return value;
#include "prim/primitives.def"
#undef CT_PRIM
#undef NONE
    case CT_PRIM_COUNT: break;
    }
    return NAN;
}

/* Functions that only take reals become constants here: the rows that use them have returned before. */
#undef isnan
#undef isinf
#undef signbit
#define isnan(x)                 0
#define isinf(x)                 0
#define signbit(x)               0
#define fabs(x)                  0
#define NONE                     0
#define NEVER                    false
#define FAIL_IF(condition, code) (condition)

bool ct_prim_int_value(CtPrim prim, int64_t A, int64_t B, int64_t *result) {
    (void)B;
    if (strchr("ICB", infos[prim].result) == NULL) return false;
    switch (prim) {
#define CT_PRIM(id, name, signature, value, vector, d1, d2, fails, ...)                                                \
    case PRIM_##id:                                                                                                    \
        if (fails) return false;                                                                                       \
        *result = value;                                                                                               \
        return true;
#include "prim/primitives.def"
#undef CT_PRIM
    case CT_PRIM_COUNT: break;
    }
    return false;
}

#pragma GCC diagnostic pop
