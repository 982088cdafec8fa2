/* Random programs as Cotan source, and their points as JSON. */
#include <stdlib.h>

#include "random.h"

static const char *const header =
    "data Shape = Dot | Circle Double | Box Double Double | Tagged Int Shape\n"
    "data Tree = Leaf | Node Tree Double Tree\n"
    "data Held = Held (Double -> Double) Double\n"
    "\n"
    "positive :: Double -> Double\n"
    "positive x = x * x + 1\n"
    "square :: Double -> Double\n"
    "square x = x * x\n"
    "indexOr :: Double -> Int -> Array Double -> Double\n"
    "indexOr other i xs = if length xs == 0 then other else xs ! (i `mod` length xs)\n"
    "updateOr :: Int -> Double -> Array Double -> Array Double\n"
    "updateOr i x xs = if length xs == 0 then xs else update xs (i `mod` length xs) x\n\n";

static void print_node(FILE *out, const Node *node);

/* Writes a text in which $i stands for kid i, @i for bound variable i, and %s for the next kid. */
static void print_text(FILE *out, const Node *node, const char *text) {
    int next = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '$') {
            print_node(out, node->kids[*++c - '0']);
        } else if (*c == '@') {
            fprintf(out, "v%d", node->binds[*++c - '0']);
        } else if (*c == '%') {
            c++;
            print_node(out, node->kids[next++]);
        } else {
            fputc(*c, out);
        }
    }
}

static void print_node(FILE *out, const Node *node) {
    switch (node->form) {
    case F_LIT: fprintf(out, "(%.17g :: Double)", node->literal); break;
    case F_INT_LIT: fprintf(out, "%d", node->which); break;
    case F_VAR: fprintf(out, "v%d", node->which); break;
    case F_OP1:
        fputc('(', out);
        print_text(out, node, op1_text(node->which));
        fputc(')', out);
        break;
    case F_OP2:
        fputc('(', out);
        print_text(out, node, op2_text(node->which));
        fputc(')', out);
        break;
    default: print_text(out, node, form_info(node->form)->text); break;
    }
}

static const char *type_text(Type type) {
    switch (type) {
    case T_REAL: return "Double";
    case T_PAIR: return "(Double, Double)";
    case T_LIST: return "[Double]";
    case T_ARRAY: return "Array Double";
    case T_SHAPE: return "Shape";
    case T_TREE: return "Tree";
    default: abort();
    }
}

void print_program(FILE *out, const Program *program) {
    const char *type = type_text(program->point.type);
    fprintf(out, "%sf :: %s -> Double\nf v0 = ", header, type);
    print_node(out, program->first);
    fprintf(out, "\n\ng :: %s -> Double\ng v0 = ", type);
    print_node(out, program->second);
    fprintf(out, "\n\nh :: %s -> (Double, [Double])\nh x = (f x, [g x, f x * g x])\n", type);
}

static int print_tree(FILE *out, int seed, int depth, const long double *leaves, int next) {
    if (depth == 3 || !(seed >> depth & 1)) {
        fprintf(out, "\"Leaf\"");
        return next;
    }
    fprintf(out, "{\"Node\":[");
    next = print_tree(out, seed, depth + 1, leaves, next);
    fprintf(out, ",%.17Lg,", leaves[next++]);
    next = print_tree(out, seed >> 3, depth + 1, leaves, next);
    fprintf(out, "]}");
    return next;
}

void print_point(FILE *out, const Point *point, const long double *leaves) {
    switch (point->type) {
    case T_REAL: fprintf(out, "%.17Lg", leaves[0]); return;
    case T_TREE: print_tree(out, point->shape, 0, leaves, 0); return;
    case T_SHAPE: fprintf(out, "{\"%s\":", point->shape == 1 ? "Circle" : "Box"); break;
    default: break;
    }
    fputc('[', out);
    for (int i = 0; i < point->leaf_count; i++) fprintf(out, "%s%.17Lg", i > 0 ? "," : "", leaves[i]);
    fputc(']', out);
    if (point->type == T_SHAPE) fputc('}', out);
}
