/* Traps for NaN (ct_eval_trap): checks in front of every scalar operation with a real result, and around the operations
 * on arrays that add or multiply. */
#include "eval/trap.h"

#include <math.h>
#include <stdio.h>

#include "rt/scalar.h"

static bool is_real_letter(char letter) { return letter == 'R' || letter == 'D' || letter == 'F'; }
static bool is_real(const CtType *type) { return type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT; }

/* Whether a number is one that the trap waits for. */
static bool is_wanted(const Machine *m, double x) {
    return isnan(x) || (home_of((Machine *)m)->trap == CT_TRAP_INFINITE && isinf(x));
}

bool ct_eval_trap_result(CtPrim prim) { return is_real_letter(ct_prim_info(prim)->result); }

/* ---- scalars ---- */

static const char *symbol_of(CtPrim prim) {
    switch ((int)prim) {
    case PRIM_ADD: return "+";
    case PRIM_SUB: return "-";
    case PRIM_MUL:
    case PRIM_SCALE: return "*";
    case PRIM_DIV: return "/";
    default: return NULL; /* all others are written as functions */
    }
}

typedef char Number[40];

static const char *show(Number text, double x) {
    ct_value_show_double(text, x);
    return text;
}

/* A number as an operand: in parentheses if it has a sign. */
static const char *operand(Number text, char letter, CtWord word) {
    Number plain;
    if (is_real_letter(letter))
        show(plain, word.real);
    else
        snprintf(plain, sizeof plain, "%lld", (long long)word.integer);
    snprintf(text, sizeof(Number), plain[0] == '-' ? "(%.36s)" : "%.36s", plain);
    return text;
}

static bool raise(Machine *m, const char *operation, double result) {
    Number text;
    bool derivative = home_of(m)->trap_in_derivative;
    return ct_eval_raise(m, CT_E0515, "%s%s is %s", derivative ? "in the derivative, " : "", operation,
                         show(text, result));
}

static CtWord operand_at(const CtWord *fp, const uint32_t *at) {
    if (at[0] == TRAP_SLOT) return fp[at[1]];
    return (CtWord){.integer = (int64_t)((uint64_t)at[1] | (uint64_t)at[2] << 32)};
}

bool ct_eval_trap_prim(Machine *m, const CtWord *fp, const uint32_t *pc) {
    CtPrim prim = (CtPrim)pc[1];
    const CtPrimInfo *info = ct_prim_info(prim);
    CtWord a = operand_at(fp, pc + 3), b = operand_at(fp, pc + 6), out = {.real = 0};
    if (is_real_letter(info->args[0]) && is_wanted(m, a.real)) return true;
    if (info->arity > 1 && is_real_letter(info->args[1]) && is_wanted(m, b.real)) return true;
    if (ct_eval_kernels[prim](&out, &a, false, &b, false, 1) != CT_E0000) return true; /* the operation itself fails */
    if (pc[2] != 0) out.real = ct_to_float(out.real);
    if (!is_wanted(m, out.real)) return true;
    Number first, second;
    char text[2 * sizeof(Number) + 40];
    const char *symbol = symbol_of(prim);
    operand(first, info->args[0], a);
    if (info->arity > 1) operand(second, info->args[1], b);
    if (symbol != NULL)
        snprintf(text, sizeof text, "%s %s %s", first, symbol, second);
    else
        snprintf(text, sizeof text, "%s %s%s%s", info->name, first, info->arity > 1 ? " " : "",
                 info->arity > 1 ? second : "");
    return raise(m, text, out.real);
}

/* ---- arrays ---- */

static const CtArray *array_at(const ArrayCall *call, int index) { return (const CtArray *)call->args[index].object; }

static bool holds(const Machine *m, const CtArray *xs) {
    for (int64_t i = 0; i < xs->length; i++)
        if (is_wanted(m, xs->items[i].real)) return true;
    return false;
}

/* Of addAt, whether the elements hold one that are added to: all others stay as they are. */
static bool places_hold(const Machine *m, const CtArray *array, const CtArray *places) {
    for (int64_t i = 0; i < places->length; i++) {
        int64_t place = places->items[i].integer;
        if (place >= 0 && place < array->length && is_wanted(m, array->items[place].real)) return true;
    }
    return false;
}

bool ct_eval_trap_watches(const Machine *m, CtArrayOp op, const ArrayCall *call) {
    if (home_of((Machine *)m)->trap == CT_TRAP_NONE) return false;
    const CtType *element = call->operand != NULL ? call->operand->parts[0] : NULL;
    switch ((int)op) {
    case ARRAY_SUM:
    case ARRAY_PRODUCT: return is_real(element) && !holds(m, array_at(call, 0));
    case ARRAY_SUM_ROWS: return is_real(element) && !holds(m, array_at(call, 1));
    case ARRAY_SCATTER_ADD: return is_real(call->type->parts[0]) && !holds(m, array_at(call, 2));
    case ARRAY_ADD_AT:
        return is_real(element) && !holds(m, array_at(call, 2)) &&
               !places_hold(m, array_at(call, 0), array_at(call, 1));
    default: return false; /* all others compute nothing, or are loops of scalar operations */
    }
}

/* The step of a sum or product after which it is such a number. */
static bool step_of(Machine *m, const CtArray *xs, bool product) {
    double done = product ? 1 : 0;
    for (int64_t i = 0; i < xs->length; i++) {
        double x = xs->items[i].real, next = product ? done * x : done + x;
        if (is_wanted(m, next)) {
            Number first, second;
            char text[3 * sizeof(Number) + 60];
            snprintf(text, sizeof text, "%s, at element %lld, %s %s %s", product ? "product" : "sum", (long long)i,
                     operand(first, 'D', (CtWord){.real = done}), product ? "*" : "+",
                     operand(second, 'D', (CtWord){.real = x}));
            return raise(m, text, next);
        }
        done = next;
    }
    return raise(m, product ? "product" : "sum", (double)NAN); /* of Floats, by rounding */
}

void ct_eval_trap_array(Machine *m, CtArrayOp op, const ArrayCall *call, const CtArray *places) {
    m->trapped = true;
    if (op == ARRAY_SUM || op == ARRAY_PRODUCT) {
        if (is_wanted(m, call->result.real))
            step_of(m, array_at(call, 0), op == ARRAY_PRODUCT);
        else
            m->trapped = false;
        return;
    }
    const CtArray *made = (const CtArray *)call->result.object;
    const char *name = op == ARRAY_ADD_AT ? "addAt" : op == ARRAY_SUM_ROWS ? "sumRows" : "scatterAdd";
    m->trapped = op == ARRAY_ADD_AT ? places_hold(m, made, places) : holds(m, made);
    if (!m->trapped) return;
    char text[60];
    snprintf(text, sizeof text, "a sum made by %s", name);
    raise(m, text, (double)NAN);
}
