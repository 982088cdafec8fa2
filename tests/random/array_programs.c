/* Filling the rules of array_rules.def. */
#include "array_programs.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind { REAL, BOOL, INT, ARRAY, PAIR, DUO, FUNCTION } Kind;

struct Shaped {
    Kind kind;
    int size; /* ARRAY: elements; INT: what it is below, ANY: unknown */
    const Shaped *parts[2];
};

enum { ANY = -1, MAX_VARS = 40, MAX_STEPS = 6, MAX_PATHS = 200, MAX_TYPES = 100000, LARGE = 1000 };

typedef struct Var {
    int name;
    const Shaped *type;
} Var;

typedef struct Scope {
    Var vars[MAX_VARS];
    int count;
} Scope;

typedef struct Maker {
    Choices *choices;
    FILE *out;
    int names;
    int path_depth; /* indices inside the way to a value are variables or numbers */
    bool is_long;   /* arrays that fill lanes, and some more */
} Maker;

/* What the letters of a rule stand for. */
typedef struct Letters {
    const Shaped *types[3]; /* a, b, c */
    int sizes[26];          /* UNSET, or the size */
    int names[26];
} Letters;

enum { UNSET = -2 };

static Shaped *types;
static int type_count;

/* ---- choices ---- */

static int choose(Maker *m, int bound) {
    Choices *c = m->choices;
    if (c->used == c->count) {
        if (c->count == c->capacity) {
            c->capacity = c->capacity ? 2 * c->capacity : 256;
            c->items = realloc(c->items, (size_t)c->capacity * sizeof *c->items);
            if (c->items == NULL) abort();
        }
        c->items[c->count++] = c->random ? (uint32_t)random_below(c->random, 1 << 20) : 0;
    }
    return (int)(c->items[c->used++] % (uint32_t)bound);
}

/* ---- types ---- */

static const Shaped *type_new(Kind kind, int size, const Shaped *a, const Shaped *b) {
    if (type_count == MAX_TYPES) abort();
    types[type_count] = (Shaped){kind, size, {a, b}};
    return &types[type_count++];
}

static int fresh_size(Maker *m, int least) {
    static const int sizes[2][7] = {{1, 2, 3, 2, 3, 2, 0}, {9, 8, 3, 11, 2, 8, 0}};
    return sizes[m->is_long][choose(m, least > 0 ? 6 : 7)];
}

static const Shaped *fresh_type(Maker *m, int depth) {
    static const Kind kinds[] = {REAL, REAL, REAL, ARRAY, ARRAY, ARRAY, PAIR, DUO, INT, BOOL};
    Kind kind = depth > 0 ? kinds[choose(m, 10)] : REAL;
    if (kind == INT) return type_new(INT, fresh_size(m, 1), NULL, NULL);
    int size = kind == ARRAY ? fresh_size(m, 0) : 0;
    const Shaped *a = kind == REAL || kind == BOOL ? NULL : fresh_type(m, depth - 1);
    return type_new(kind, size, a, kind == PAIR || kind == DUO ? fresh_type(m, depth - 1) : NULL);
}

/* Real numbers in an array, and often more beside it. */
static const Shaped *fresh_point(Maker *m) {
    const Shaped *type = type_new(REAL, 0, NULL, NULL);
    for (int rank = 1 + choose(m, 4) % 3; rank > 0; rank--) type = type_new(ARRAY, fresh_size(m, 0), type, NULL);
    return choose(m, 3) == 0 ? type : type_new(choose(m, 2) ? DUO : PAIR, 0, type, fresh_type(m, 4));
}

/* Whether a value of type `have` can stand where one of type `want` is wanted. */
static bool fits(const Shaped *have, const Shaped *want) {
    if (have->kind != want->kind) return false;
    switch (have->kind) {
    case REAL:
    case BOOL: return true;
    case INT: return want->size == ANY || (have->size != ANY && have->size <= want->size);
    case ARRAY: return have->size == want->size && fits(have->parts[0], want->parts[0]);
    case PAIR:
    case DUO: return fits(have->parts[0], want->parts[0]) && fits(have->parts[1], want->parts[1]);
    case FUNCTION: return fits(want->parts[0], have->parts[0]) && fits(have->parts[1], want->parts[1]);
    }
    return false;
}

static void print_type(FILE *out, const Shaped *type) {
    static const char *const texts[] = {"Double", "Bool", "Int", "Array ", ", ", "Duo ", " -> "};
    bool two = type->kind == PAIR || type->kind == FUNCTION, one = type->kind == ARRAY || type->kind == DUO;
    if (two || one) fputc('(', out);
    if (two) print_type(out, type->parts[0]);
    fputs(texts[type->kind], out);
    if (one) print_type(out, type->parts[0]);
    if (type->kind == DUO) fputc(' ', out);
    if (two || type->kind == DUO) print_type(out, type->parts[1]);
    if (two || one) fputc(')', out);
}

/* ---- letters of a rule ---- */

static int size_of(Maker *m, Letters *l, char letter) {
    int *size = &l->sizes[letter - 'a'], *n = &l->sizes['n' - 'a'];
    if (*size != UNSET) return *size;
    switch (letter) {
    case 'p': *size = choose(m, *n + 1); break;
    case 'q': *size = *n - size_of(m, l, 'p'); break;
    case 'r':
        *size = *n == 0 ? 0 : 1 + choose(m, *n);
        while (*n > 0 && *n % *size != 0) --*size;
        break;
    case 'c': *size = size_of(m, l, 'r') == 0 ? fresh_size(m, 0) : *n / size_of(m, l, 'r'); break;
    case 's': *size = fresh_size(m, 1); break;
    case 'w': *size = *n + size_of(m, l, 's') - 1; break;
    case 't': *size = *n * size_of(m, l, 'm'); break;
    case 'l': *size = size_of(m, l, 'k') - 1; break;
    default: *size = fresh_size(m, letter == 'k'); break;
    }
    return *size;
}

/* Whether a type is of the form of a pattern; then its letters are bound. Moves *c behind the pattern. */
static bool match(const char **c, const Shaped *type, Letters *l) {
    static const char heads[] = "RB#[({>";
    char head = *(*c)++;
    if (islower(head)) {
        l->types[head - 'a'] = type;
        return true;
    }
    if (head == 'I') return type->kind == INT && type->size == ANY;
    if (heads[type->kind] != head) return false;
    if (head == '#' && type->size == ANY) return false;
    if (head == '#' || head == '[') {
        int *size = &l->sizes[*(*c)++ - 'a'];
        if (*size != UNSET && *size != type->size) return false;
        if ((*c)[-1] == 'k' && type->size == 0) return false;
        *size = type->size;
    }
    for (int i = 0; i < 2; i++) {
        if (type->parts[i] == NULL) continue;
        if (**c == ' ') (*c)++;
        if (!match(c, type->parts[i], l)) return false;
    }
    return true;
}

/* The type that a pattern stands for; letters that are free are chosen. */
static const Shaped *instance(Maker *m, const char **c, Letters *l) {
    while (**c == ' ') (*c)++;
    char head = *(*c)++;
    if (islower(head)) {
        const Shaped **type = &l->types[head - 'a'];
        if (*type == NULL) *type = fresh_type(m, 2);
        return *type;
    }
    if (head == 'R') return type_new(REAL, 0, NULL, NULL);
    if (head == 'B') return type_new(BOOL, 0, NULL, NULL);
    if (head == 'I') return type_new(INT, ANY, NULL, NULL);
    int size = head == '#' || head == '[' ? size_of(m, l, *(*c)++) : 0;
    if (head == '#') return type_new(INT, size, NULL, NULL);
    const Shaped *a = instance(m, c, l);
    if (head == '[') return type_new(ARRAY, size, a, NULL);
    const Shaped *b = instance(m, c, l);
    return type_new(head == '(' ? PAIR : head == '{' ? DUO : FUNCTION, 0, a, b);
}

/* ---- what a variable holds ---- */

typedef enum Step { ELEMENT, FIRST, SECOND } Step;

/* A variable, and the way from it to something inside. */
typedef struct Path {
    const Var *var;
    Step steps[MAX_STEPS];
    int count;
} Path;

static void find_paths(const Maker *m, const Path *so_far, const Shaped *here, const Shaped *want, Path *found,
                       int *count) {
    if (*count == MAX_PATHS) return;
    if (fits(here, want)) found[(*count)++] = *so_far;
    if (so_far->count == MAX_STEPS || m->path_depth > 0) return;
    Path next = *so_far;
    next.count++;
    if (here->kind == ARRAY && here->size > 0) {
        next.steps[so_far->count] = ELEMENT;
        find_paths(m, &next, here->parts[0], want, found, count);
    }
    for (int i = 0; i < 2 && (here->kind == PAIR || here->kind == DUO); i++) {
        next.steps[so_far->count] = i == 0 ? FIRST : SECOND;
        find_paths(m, &next, here->parts[i], want, found, count);
    }
}

static void expression(Maker *m, const Scope *scope, const Shaped *type, int budget);

/* Gives the type at the path's end. */
static const Shaped *print_path(Maker *m, const Scope *scope, const Path *path, int count) {
    if (count == 0) {
        fprintf(m->out, "v%d", path->var->name);
        return path->var->type;
    }
    Step step = path->steps[count - 1];
    char *inner = NULL;
    size_t length;
    FILE *out = m->out;
    m->out = open_memstream(&inner, &length);
    const Shaped *type = print_path(m, scope, path, count - 1);
    fclose(m->out);
    m->out = out;
    if (step == ELEMENT) {
        fprintf(m->out, "(%s ! ", inner);
        m->path_depth++;
        expression(m, scope, type_new(INT, type->size, NULL, NULL), 0);
        m->path_depth--;
        fputc(')', m->out);
    } else {
        static const char *const names[2][2] = {{"fst", "snd"}, {"one", "two"}};
        fprintf(m->out, "(%s %s)", names[type->kind == DUO][step == SECOND], inner);
    }
    free(inner);
    return type->parts[step == SECOND];
}

static bool known(Maker *m, const Scope *scope, const Shaped *type) {
    static Path found[MAX_PATHS];
    int count = 0;
    for (int i = 0; i < scope->count; i++)
        find_paths(m, &(Path){.var = &scope->vars[i]}, scope->vars[i].type, type, found, &count);
    if (count == 0) return false;
    Path path = found[choose(m, count)];
    print_path(m, scope, &path, path.count);
    return true;
}

/* ---- rules ---- */

typedef struct Rule {
    int weight, least;
    const char *type, *text;
    bool failing;
} Rule;

static const Rule rules[] = {
#define RULE(weight, least, type, text)         {weight, least, type, text, false},
#define FAILING_RULE(weight, least, type, text) {weight, least, type, text, true},
#include "array_rules.def"
};
enum { RULES = sizeof rules / sizeof *rules };

static int hole_count(const char *text) {
    int count = 0;
    for (; *text; text++) count += (*text == '<' && (islower(text[1]) || strchr("RBI#[({>*", text[1]))) ? 1 : 0;
    return count;
}

static int share(Maker *m, int *rest, int left) {
    int part = left <= 1 || *rest <= 0 ? *rest : choose(m, 2 * *rest / left + 1);
    *rest -= part;
    return part;
}

/* <type|x:type …>: an expression; *c is behind the <. */
static void hole(Maker *m, const Scope *outer, const char **c, Letters *l, int budget) {
    Scope scope = *outer;
    bool many = **c == '*';
    if (many) (*c)++;
    const Shaped *type = instance(m, c, l);
    while (**c != '>') {
        (*c)++; /* | or a blank */
        int name = l->names[**c - 'a'];
        *c += 2;
        scope.vars[scope.count++] = (Var){name, instance(m, c, l)};
    }
    int count = many ? size_of(m, l, 'k') : 1;
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs(", ", m->out);
        expression(m, &scope, type, budget / count);
    }
}

static void operation(Maker *m, const Scope *scope, int arity, int budget) {
    Shaped real = {.kind = REAL};
    const char *text = arity == 1 ? op1_text(choose(m, op1_count())) : op2_text(choose(m, op2_count()));
    fputc('(', m->out);
    for (; *text; text++) {
        if (*text != '%') {
            fputc(*text, m->out);
            continue;
        }
        text++;
        expression(m, scope, &real, share(m, &budget, arity--));
    }
    fputc(')', m->out);
}

static void number(Maker *m, const Scope *scope, char which, Letters *l, int budget) {
    switch (which) {
    case 'r': fprintf(m->out, "(%.3f)", (choose(m, 33) * 5 % 33 - 12) / 8.0); break;
    case 'i': fprintf(m->out, "(%d)", choose(m, 8) - 2); break;
    case 'k': fprintf(m->out, "%d", choose(m, size_of(m, l, 'k'))); break;
    default: operation(m, scope, which - '0', budget); break;
    }
}

static void apply(Maker *m, const Scope *scope, const Rule *rule, Letters *l, int budget) {
    int left = hole_count(rule->text);
    for (const char *c = rule->text; *c; c++) {
        bool is_hole = *c == '<' && (islower(c[1]) || strchr("RBI#[({>*", c[1]));
        if (is_hole) {
            c++;
            hole(m, scope, &c, l, share(m, &budget, left--));
        } else if (*c == '@') {
            int *name = &l->names[*++c - 'a'];
            if (*name == 0) *name = ++m->names;
            fprintf(m->out, "v%d", *name);
        } else if (*c == '$') {
            fprintf(m->out, "%d", size_of(m, l, *++c));
        } else if (*c == '~') {
            number(m, scope, *++c, l, budget);
        } else {
            fputc(*c, m->out);
        }
    }
}

static Letters no_letters(void) {
    Letters l = {.types = {NULL}};
    for (int i = 0; i < 26; i++) l.sizes[i] = UNSET;
    return l;
}

static void expression(Maker *m, const Scope *scope, const Shaped *type, int budget) {
    bool last = budget <= 0 || scope->count + 2 > MAX_VARS;
    if ((last || choose(m, 5) == 0) && choose(m, 9) < 8 && known(m, scope, type)) return;
    const Rule *fit[RULES];
    Letters letters[RULES];
    int count = 0, total = 0;
    bool may_fail = choose(m, 20) == 1;
    for (int i = 0; i < RULES; i++) {
        const char *pattern = rules[i].type;
        letters[count] = no_letters();
        if ((last && rules[i].least > 0) || (rules[i].failing && !may_fail)) continue;
        if (!match(&pattern, type, &letters[count])) continue;
        fit[count++] = &rules[i];
        total += rules[i].weight;
    }
    int at = choose(m, total), i = 0;
    for (; i < count - 1 && at >= fit[i]->weight; i++) at -= fit[i]->weight;
    apply(m, scope, fit[i], &letters[i], budget - 1);
}

/* ---- programs ---- */

static const char header[] = "data Duo a b = Duo { one :: a, two :: b }\n\n"
                             "positive :: Double -> Double\npositive x = x * x + 1\n"
                             "square :: Double -> Double\nsquare x = x * x\n"
                             "apply :: (a -> b) -> a -> b\napply f x = f x\n"
                             "twice :: (a -> a) -> a -> a\ntwice f x = f (f x)\n"
                             "dot :: Array Double -> Array Double -> Double\ndot u v = sum (zipWith (*) u v)\n"
                             "matVec :: Array (Array Double) -> Array Double -> Array Double\n"
                             "matVec a x = map (\\row -> dot row x) a\n\n";

static int count_reals(const Shaped *type) {
    switch (type->kind) {
    case REAL: return 1;
    case BOOL:
    case INT:
    case FUNCTION: return 0;
    case ARRAY: return type->size * count_reals(type->parts[0]);
    case PAIR:
    case DUO: return count_reals(type->parts[0]) + count_reals(type->parts[1]);
    }
    return 0;
}

static void make_types(Maker *m, ArrayProgram *p) {
    p->from = fresh_point(m);
    p->to = choose(m, 2) ? fresh_type(m, 3) : type_new(REAL, 0, NULL, NULL);
}

ArrayProgram array_program(Choices *choices, int size, bool is_long) {
    static char *text;
    free(text);
    text = NULL;
    size_t length;
    if (types == NULL) types = malloc(MAX_TYPES * sizeof *types);
    if (types == NULL) abort();
    type_count = 0;
    choices->used = 0;
    Maker m = {choices, open_memstream(&text, &length), 0, 0, is_long};
    if (m.out == NULL) abort();
    ArrayProgram p = {0};
    make_types(&m, &p);
    if (count_reals(p.from) > LARGE || count_reals(p.to) > LARGE) {
        m.is_long = false;
        make_types(&m, &p);
    }
    fprintf(m.out, "%sh :: ", header);
    print_type(m.out, p.from);
    fputs(" -> ", m.out);
    print_type(m.out, p.to);
    fputs("\nh v0 = ", m.out);
    expression(&m, &(Scope){.vars = {{0, p.from}}, .count = 1}, p.to, choose(&m, size));
    fputs("\n\n-- Forward over reverse.\nsecond (x, dx, dy) = snd (jvp (\\y -> snd (vjp h y) dy) x dx)\n", m.out);
    fclose(m.out);
    p.text = text;
    return p;
}

static int value(FILE *out, const Shaped *type, const double *base, double scale, const double *along, int *discrete,
                 int at) {
    static const char *const parts[3][3] = {{"[", ",", "]"}, {"[", ",", "]"}, {"{\"one\":", ",\"two\":", "}"}};
    switch (type->kind) {
    case REAL: fprintf(out, "%.17g", base[at] + scale * along[at]); return at + 1;
    case BOOL: fputs((*discrete)++ % 2 ? "true" : "false", out); return at;
    case INT: fprintf(out, "%d", (*discrete)++ * 7 % 5 % type->size); return at;
    case ARRAY:
    case PAIR:
    case DUO: break;
    case FUNCTION: abort();
    }
    const char *const *text = parts[type->kind - ARRAY];
    int count = type->kind == ARRAY ? type->size : 2;
    fputs(text[0], out);
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs(text[1], out);
        at = value(out, type->parts[type->kind == ARRAY ? 0 : i], base, scale, along, discrete, at);
    }
    fputs(text[2], out);
    return at;
}

int array_value(FILE *out, const Shaped *type, const double *base, double scale, const double *along) {
    int discrete = 0;
    return value(out, type, base, scale, along, &discrete, 0);
}

/* The next number or word of a JSON text, behind brackets, commas and the names of fields. */
static const char *token(const char **text) {
    for (;;) {
        *text += strspn(*text, "[]{},: ");
        if (strncmp(*text, "\"one\"", 5) != 0 && strncmp(*text, "\"two\"", 5) != 0) break;
        *text += 5;
    }
    const char *start = *text;
    *text += strcspn(*text, "[]{},: ");
    return start;
}

int array_reals(const Shaped *type, const char **text, double *out) {
    int count = 0;
    switch (type->kind) {
    case REAL: {
        const char *start = token(text);
        *out = *start == '"' ? NAN : strtod(start, NULL);
        return 1;
    }
    case BOOL:
    case INT: token(text); return 0;
    case ARRAY:
    case PAIR:
    case DUO: break;
    case FUNCTION: abort();
    }
    for (int i = 0; i < (type->kind == ARRAY ? type->size : 2); i++)
        count += array_reals(type->parts[type->kind == ARRAY ? 0 : i], text, out + count);
    return count;
}
