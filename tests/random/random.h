/* Random well-typed programs, and their meaning in extended precision.
 *
 * The generator builds trees of a small typed language (generate.c) that print as Cotan (print.c) and that an
 * interpreter of its own (interpret.c) evaluates in long double, with the derivatives inside them taken by truncated
 * Taylor arithmetic. So Cotan is held to something that shares no code with it.
 */
#ifndef CT_TESTS_RANDOM_H
#define CT_TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum Type {
    T_REAL,
    T_INT,
    T_BOOL,
    T_PAIR,  /* (Double, Double) */
    T_LIST,  /* [Double] */
    T_ARRAY, /* Array Double */
    T_SHAPE, /* data Shape = Dot | Circle Double | Box Double Double | Tagged Int Shape */
    T_TREE,  /* data Tree = Leaf | Node Tree Double Tree */
    T_FUN1,  /* Double -> Double */
    T_FUN2,  /* Double -> Double -> Double */
    T_HELD,  /* data Held = Held (Double -> Double) Double */
    T_COUNT
} Type;

typedef enum Form {
#define FORM(name, weight, result, binds, kids, text) F_##name,
#include "forms.def"
#undef FORM
    F_COUNT
} Form;

enum { MAX_KIDS = 5, MAX_BINDS = 3, MAX_LEAVES = 24 };

typedef struct Node {
    Form form;
    Type type;
    int which;      /* OP1, OP2, INT_OP: the operation; INT_LIT: the number; VAR: the variable */
    double literal; /* LIT */
    int kid_count;
    struct Node *kids[MAX_KIDS];
    int binds[MAX_BINDS]; /* variables that this form binds */
} Node;

typedef struct Random {
    uint64_t state;
} Random;
uint64_t random_next(Random *random);
int random_below(Random *random, int bound);
double random_real(Random *random, double low, double high);

/* The point at which a program is differentiated: a value of the input type, its numbers left to right. */
typedef struct Point {
    Type type; /* of the input: REAL, PAIR, LIST, ARRAY, SHAPE, TREE */
    int shape; /* SHAPE: constructor; TREE: seed of its form; lists: length */
    int leaf_count;
    long double leaves[MAX_LEAVES];
} Point;

typedef struct Program {
    Point point;
    Node *first, *second; /* bodies over variable 0, the input: f x = first; h x = (first, [second, first * second]) */
} Program;

typedef struct FormInfo {
    int weight;
    Type result;
    int bind_count;
    Type binds[MAX_BINDS];
    struct {
        Type type;
        int scope;
    } kids[MAX_KIDS];
    const char *text;
} FormInfo;
const FormInfo *form_info(Form form);

/* Nodes live until generate_reset. */
void generate_program(Random *random, int size, Program *out);
void generate_reset(void);
/* Copies the program with its node number `step` (from 0, both bodies) replaced by something simpler, in the way `way`;
 * false when there is no such node or way. Copies share nodes. */
bool simplify_program(const Program *program, int step, int way, Program *out);
int program_size(const Program *program);

void print_program(FILE *out, const Program *program);
/* The point, or a vector of numbers in the point's structure, as Cotan's JSON. */
void print_point(FILE *out, const Point *point, const long double *leaves);

typedef struct Outcome {
    bool defined;      /* finite, within limits */
    uint64_t branches; /* hash of every decision that depended on a comparison */
    long double first, second;
} Outcome;
Outcome interpret(const Program *program, const long double *leaves);

/* Operations by name in Cotan, with their values and first two derivatives in long double. */
typedef struct Jet {
    long double value, d1, d2, d12; /* coefficients of 1, ε1, ε2, ε1ε2 */
} Jet;
int op1_count(void);
int op2_count(void);
const char *op1_text(int which); /* printf form with one %s */
const char *op2_text(int which); /* with two */
Jet op1_apply(int which, Jet a, uint64_t *branches);
Jet op2_apply(int which, Jet a, Jet b, uint64_t *branches);

#endif
