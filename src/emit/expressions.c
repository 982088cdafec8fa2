/* Names, literals and expressions in C. */
#include "emit/vector/vector.h"

#include <stdlib.h>

#include <ctype.h>
#include <math.h>

const char *ct_emit_type(const CtFlowType *type) {
    switch (type->kind) {
    case FLOW_F64:
    case FLOW_F32: return "double ";
    case FLOW_I64: return "int64_t ";
    case FLOW_NODE: return "ct_node *";
    case FLOW_ARRAY: return "ct_array *";
    }
    return "";
}

char ct_emit_letter(const CtFlowType *type) {
    return type->kind == FLOW_I64 ? 'i' : ct_flow_is_object(type) ? 'p' : 'f';
}

/* ---- names ---- */

enum { NAME_MAX_LENGTH = 40 };

const char *ct_emit_plain(CtArena *arena, const char *name) {
    CtText out = ct_text(arena);
    for (const char *c = name; *c != '\0' && out.length < NAME_MAX_LENGTH; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (plain)
            ct_text_putc(&out, *c);
        else if (out.length > 0 && out.data[out.length - 1] != '_')
            ct_text_putc(&out, '_');
    }
    while (out.length > 0 && out.data[out.length - 1] == '_') out.data[--out.length] = '\0';
    if (out.length == 0) return "t";
    return isdigit((unsigned char)out.data[0]) ? ct_format(arena, "v%s", out.data) : out.data;
}

/* Whether an identifier has the form of the names that the file defines: functions, structs and constants. */
static bool is_reserved(const char *plain) {
    return strncmp(plain, "f_", 2) == 0 || strcmp(plain, "results") == 0 || strcmp(plain, "group") == 0 ||
           strcmp(plain, "constant") == 0 || strcmp(plain, "share") == 0;
}

const char *ct_emit_name(Emit *e, const CtFlowVar *var) {
    const char *plain = ct_emit_plain(e->arena, var->name != NULL ? var->name : "t");
    return ct_format(e->arena, "%s%s_%u", is_reserved(plain) ? "v_" : "", plain, e->offset + var->id);
}

/* ---- literals ---- */

static const char *real_literal(CtArena *arena, double value) {
    if (isnan(value)) return "(double)NAN";
    if (isinf(value)) return value > 0 ? "(double)INFINITY" : "-(double)INFINITY";
    CtText out = ct_text(arena);
    ct_text_double(&out, value);
    if (strpbrk(out.data, ".e") == NULL) ct_text_puts(&out, ".0");
    if (value == 0 && signbit(value)) return "-0.0";
    return out.data;
}

static const char *integer_literal(CtArena *arena, int64_t value) {
    if (value == INT64_MIN) return "INT64_MIN";
    bool small = value > -2147483647 && value < 2147483647;
    return ct_format(arena, small ? "%lld" : "INT64_C(%lld)", (long long)value);
}

const char *ct_emit_string_literal(CtArena *arena, const char *text) {
    CtText out = ct_text(arena);
    ct_text_putc(&out, '"');
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (isalnum(*c) || strchr(" .,:;()=<>+-*/!'_`", *c) != NULL)
            ct_text_putc(&out, (char)*c);
        else
            ct_text_printf(&out, "\\%03o", *c);
    }
    ct_text_putc(&out, '"');
    return out.data;
}

/* ---- arguments ---- */

static bool is_negative(const char *text) { return text[0] == '-'; }

const char *ct_emit_arg(Emit *e, const CtFlowArg *arg) {
    if (arg->var == NULL) {
        if (ct_flow_is_object(arg->type)) return "NULL";
        return arg->type->kind == FLOW_I64 ? integer_literal(e->arena, arg->lit.integer)
                                           : real_literal(e->arena, arg->lit.real);
    }
    Use *use = &e->uses[arg->var->id];
    e->reading |= use->is_pending && use->reads;
    use->is_pending = false; /* it is being written now */
    return use->text != NULL ? use->text : ct_emit_name(e, arg->var);
}

const char *ct_emit_operand(Emit *e, const CtFlowArg *arg) {
    bool is_atom = arg->var == NULL || e->uses[arg->var->id].is_atom;
    const char *text = ct_emit_arg(e, arg);
    return is_atom && !is_negative(text) ? text : ct_format(e->arena, "(%s)", text);
}

const char *ct_emit_object(Emit *e, const CtFlowArg *arg) {
    return ct_format(e->arena, "&%s->head", ct_emit_arg(e, arg));
}

/* ---- bindings ---- */

void ct_emit_alias(Emit *e, const CtFlowVar *var, const char *name) {
    e->uses[var->id].text = name;
    e->uses[var->id].is_atom = true;
}

void ct_emit_declare(Emit *e, CtFlowVar *var, const char *text) {
    const char *name = ct_emit_name(e, var);
    ct_emit_line(e, "%s%s = %s;", ct_emit_vector_type(e, var), name, text);
    ct_emit_alias(e, var, name);
}

enum { LONGEST = 90, LONGEST_DEBUGGED = 2 * LONGEST }; /* so that about the same is written where it is used */

void ct_emit_bind(Emit *e, CtFlowVar *var, const char *text, bool is_atom, bool reads) {
    Use *use = &e->uses[var->id];
    if (use->count == 0) return;
    if (use->count > 1 || use->block != e->block || strlen(text) > (e->debug ? LONGEST_DEBUGGED : LONGEST)) {
        ct_emit_declare(e, var, text);
        return;
    }
    use->text = text;
    use->is_atom = is_atom;
    use->is_pending = true;
    use->reads = reads;
    ct_push(e->arena, &e->pending, var);
}

void ct_emit_flush(Emit *e, bool only_reads) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < e->pending.count; i++) {
        CtFlowVar *var = e->pending.items[i];
        Use *use = &e->uses[var->id];
        if (!use->is_pending) continue;
        if (only_reads && !use->reads) {
            e->pending.items[kept++] = var;
            continue;
        }
        use->is_pending = false;
        ct_emit_declare(e, var, use->text);
    }
    e->pending.count = kept;
}

/* ---- places ---- */

const char *ct_emit_site(Emit *e, CtSourceRange range) {
    uint32_t site = ct_flow_site(e->flow, range);
    if (ct_flow_is_user(e->flow, range) || !e->function->takes_call_site) return ct_format(e->arena, "%u", site);
    return ct_format(e->arena, "place != 0 ? place : %u", site);
}

const char *ct_emit_place(Emit *e, CtSourceRange range) {
    if (ct_flow_is_user(e->flow, range)) return ct_format(e->arena, "%u", ct_flow_site(e->flow, range));
    return e->function->takes_call_site ? "place" : "0";
}

/* ---- primitives ---- */

static const char *const values[] = {
#define CT_PRIM(id, name, signature, value, ...) #value,
#include "prim/primitives.def"
#undef CT_PRIM
};

static const struct {
    const char *condition;
    int code;
} fails[] = {
#define NEVER                                                                                                          \
    { NULL, 0 }
#define FAIL_IF(condition, code)                                                                                       \
    { #condition, CT_##code }
#define CT_PRIM(id, name, signature, value, vector, d1, d2, fails, ...) fails,
#include "prim/primitives.def"
#undef CT_PRIM
#undef NEVER
#undef FAIL_IF
};

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The position of operand `letter` in a template, from `from` on; NULL if it does not occur. */
static const char *find_operand(const char *from, char letter) {
    const char *start = from;
    for (; *from != '\0'; from++)
        if (*from == letter && !is_letter(from[1]) && (from == start || !is_letter(from[-1]))) return from;
    return NULL;
}

static bool occurs_twice(const char *template, char letter) {
    const char *first = find_operand(template, letter);
    return first != NULL && find_operand(first + 1, letter) != NULL;
}

/* Whether an operand stands between parentheses or commas, so that it needs no parentheses of its own. */
static bool stands_apart(const char *template, const char *at) {
    const char *before = at, *after = at + 1;
    while (before > template && before[-1] == ' ') before--;
    while (*after == ' ') after++;
    return before > template && (before[-1] == '(' || before[-1] == ',') && (*after == ')' || *after == ',') &&
           !(before[-1] == '(' && (before - 1 == template || !is_letter(before[-2])));
}

const char *ct_emit_substitute(Emit *e, const char *template, const CtFlowArgs *args, CtEmitOperand *write) {
    CtText out = ct_text(e->arena);
    for (const char *c = template; *c != '\0'; c++) {
        bool operand = (*c == 'A' || *c == 'B') && !is_letter(c[1]) && (c == template || !is_letter(c[-1]));
        if (!operand) {
            ct_text_putc(&out, *c);
            continue;
        }
        const CtFlowArg *arg = &args->items[*c == 'A' ? 0 : 1];
        ct_text_puts(&out, write(e, arg, stands_apart(template, c)));
    }
    return out.data;
}

static const char *scalar_operand(Emit *e, const CtFlowArg *arg, bool apart) {
    return apart ? ct_emit_arg(e, arg) : ct_emit_operand(e, arg);
}

/* Operands that are literals go through ct_late, which hides them from constant folding in the C compiler. Cotan has
 * folded what IEEE 754 determines; the other functions are to be libm's at run time. */
static const char *late_operand(Emit *e, const CtFlowArg *arg, bool apart) {
    (void)apart;
    return ct_format(e->arena, arg->type->kind == FLOW_I64 ? "%s" : "ct_late(%s)", ct_emit_arg(e, arg));
}

static bool are_literals(const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var != NULL) return false;
    return true;
}

/* An operand that occurs more than once in a template gets a variable. */
static void settle_operands(Emit *e, const CtFlowStep *step, const char *template, bool fails_too) {
    for (uint32_t i = 0; i < step->args.count; i++) {
        CtFlowVar *var = step->args.items[i].var;
        if (var == NULL || !e->uses[var->id].is_pending) continue;
        if (!fails_too && !occurs_twice(template, i == 0 ? 'A' : 'B')) continue;
        e->uses[var->id].is_pending = false;
        ct_emit_declare(e, var, e->uses[var->id].text);
    }
}

static bool is_call(const char *template) {
    const char *c = template;
    while (is_letter(*c)) c++;
    if (c == template || *c != '(') return false;
    int open = 0;
    for (; *c != '\0'; c++) {
        open += (*c == '(') - (*c == ')');
        if (open == 0) return c[1] == '\0';
    }
    return false;
}

static int error_number(int code) { return (int)strtol(ct_error_name((CtErrorCode)code) + 1, NULL, 10); }

static void emit_text_prim(Emit *e, const CtFlowStep *step) {
    const char *arg = ct_emit_arg(e, &step->args.items[0]);
    if (step->as.prim == PRIM_EFFECT) {
        ct_emit_declare(e, step->results.items[0],
                        ct_format(e->arena, "ct_effect(rt, %s, %s)", ct_emit_site(e, step->range), arg));
        return;
    }
    if (step->as.prim == PRIM_TRACE) {
        ct_emit_declare(e, step->results.items[0], ct_format(e->arena, "ct_trace(rt, %s)", arg));
        return;
    }
    char letter = ct_prim_info(step->as.prim)->args[0];
    const char *text = letter == 'I'
                           ? ct_format(e->arena, "ct_show_int(rt, %s)", arg)
                           : ct_format(e->arena, "ct_show_real(rt, %s, %s)", arg, letter == 'F' ? "true" : "false");
    ct_emit_declare(e, step->results.items[0], text);
}

void ct_emit_prim(Emit *e, const CtFlowStep *step) {
    const CtPrimInfo *info = ct_prim_info(step->as.prim);
    CtFlowVar *result = step->results.items[0];
    if (info->result == 'S') {
        emit_text_prim(e, step);
        return;
    }
    const char *template = values[step->as.prim];
    const char *condition = ct_flow_step_fails(step) ? fails[step->as.prim].condition : NULL;
    settle_operands(e, step, template, condition != NULL);
    if (condition != NULL) {
        int code = fails[step->as.prim].code;
        ct_emit_line(e, "if (CT_UNLIKELY(%s)) ct_fail(rt, %s, %d, %s);",
                     ct_emit_substitute(e, condition, &step->args, scalar_operand), ct_emit_site(e, step->range),
                     error_number(code), ct_emit_string_literal(e->arena, ct_error_title((CtErrorCode)code)));
    }
    e->reading = false;
    bool late = are_literals(&step->args) && info->result == 'R';
    const char *text = ct_emit_substitute(e, template, &step->args, late ? late_operand : scalar_operand);
    bool is_atom = is_call(template);
    if (info->result == 'R' && result->type->kind == FLOW_F32) text = ct_format(e->arena, "ct_to_float(%s)", text);
    e->uses[result->id].is_test = info->result == 'B';
    ct_emit_bind(e, result, text, is_atom && result->type->kind != FLOW_F32, e->reading);
}
