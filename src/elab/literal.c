/* Literals as Core. Those of Int, Double, Float, Char and String are constants; a number of another type is made by the
 * methods of its classes, as Haskell 98 §6.4.1 says: fromInt 3 or fromInteger 3, fromDouble 2.5 or fromRational (5/2).
 */
#include "elab/internal.h"

#include <math.h>

static CtCore *call(CtElab *el, CtSourceRange range, CtEntity *entity, Ground *type, CtCore **args, uint32_t count) {
    Callee callee = ct_elab_callee_at(el, entity, &type, entity->scheme.count, range);
    return ct_elab_call(el, range, &callee, args, count);
}

/* A call of a function of the library; NULL if that is still being read and lacks it. */
static CtCore *library_call(CtElab *el, CtSourceRange range, const char *name, Ground *type, CtCore **args,
                            uint32_t count) {
    CtEntity *entity = ct_elab_library_entity(el, name);
    return entity == NULL ? NULL : call(el, range, entity, type, args, count);
}

/* The method of a class in the instance for a type, not its default. */
static bool instance_has(CtElab *el, const char *method, Ground *type) {
    CtEntity *entity = ct_elab_library_entity(el, method);
    if (entity == NULL || entity->class_ == NULL) return false;
    CtInstance *instance = ct_types_instance_find(entity->class_, ct_elab_ground_head(type, NULL));
    return instance != NULL && instance->methods != NULL && instance->methods[entity->method] != NULL;
}

/* ---- Integer ---- */

enum { DIGIT_BITS = 24, DIGIT = (1 << DIGIT_BITS) - 1 }; /* digits of lib/prelude.cot, where Integer is defined */

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return (c | 0x20) - 'a' + 10;
}

/* The value of the type Integer that digits in a base denote. */
static CtCore *integer_of(CtElab *el, CtSourceRange range, const char *digits, size_t length, uint64_t base) {
    CT_VEC(uint64_t) value = {0};
    for (size_t i = 0; i < length; i++) {
        uint64_t carry = (uint64_t)digit_value(digits[i]);
        for (uint32_t j = 0; j < value.count; j++) {
            carry += value.items[j] * base;
            value.items[j] = carry & DIGIT;
            carry >>= DIGIT_BITS;
        }
        if (carry > 0) ct_push(el->arena, &value, carry);
    }
    CtProgram *p = el->program;
    CtCore **items = CT_NEW_ARRAY(el->arena, CtCore *, value.count + 1);
    for (uint32_t i = 0; i < value.count; i++) items[i] = ct_core_int(p, range, (int64_t)value.items[i]);
    CtCore *array = ct_core_array_lit(p, range, ct_core_type_int(p), items, value.count);
    CtCore *args[] = {ct_core_bool(p, range, false), array};
    return library_call(el, range, "integerOf", NULL, args, 2);
}

static CtCore *large_integer(CtElab *el, CtSourceRange range, const char *text) {
    bool based = text[0] == '0' && text[1] > '9';
    uint64_t base = !based ? 10 : (text[1] | 0x20) == 'x' ? 16 : (text[1] | 0x20) == 'o' ? 8 : 2;
    const char *digits = based ? text + 2 : text;
    return integer_of(el, range, digits, strlen(digits), base);
}

static CtCore *integer_literal(CtElab *el, CtSourceRange range, const CtLit *lit, Ground *type, CtEntity *from) {
    if (lit->digits == NULL) {
        CtCore *value = ct_core_int(el->program, range, lit->integer);
        return from ? call(el, range, from, type, &value, 1) : library_call(el, range, "fromInt", type, &value, 1);
    }
    CtCore *value = large_integer(el, range, lit->digits);
    return value == NULL ? NULL : library_call(el, range, "fromInteger", type, &value, 1);
}

static CtCore *int_literal(CtElab *el, CtSourceRange range, const CtLit *lit, bool negative) {
    int64_t integer = negative ? (int64_t)(0 - (uint64_t)lit->integer) : lit->integer;
    bool least = lit->integer == INT64_MIN && (negative || signbit(lit->fraction)) && fabs(lit->fraction) < 0x1.1p63;
    if (lit->digits != NULL && !least) {
        CtDiag *diag = ct_error(el->context, CT_E0107, ct_elab_blame(el, range), "this integer does not fit in an Int");
        ct_help(el->context, diag, "the largest Int is 9223372036854775807; Integer has no bounds");
        integer = 0;
    }
    return ct_core_int(el->program, range, integer);
}

/* ---- fractions ---- */

/* The exact value of a literal such as 2.5e-3, as mantissa and exponent of ten: 25 and -4. */
static CtCore *exact_fraction(CtElab *el, CtSourceRange range, const CtLit *lit, Ground *type) {
    CtDecimal decimal = ct_syntax_decimal(el->arena, lit);
    CtCore *whole = integer_of(el, range, decimal.digits, strlen(decimal.digits), 10);
    if (whole == NULL) return NULL;
    CtCore *args[] = {whole, ct_core_int(el->program, range, decimal.exponent)};
    CtCore *ratio = library_call(el, range, "rationalOfDecimal", NULL, args, 2);
    return ratio == NULL ? NULL : library_call(el, range, "fromRational", type, &ratio, 1);
}

static CtCore *fraction_literal(CtElab *el, CtSourceRange range, const CtLit *lit, Ground *type, CtEntity *from) {
    bool exact = lit->digits != NULL && instance_has(el, "fromRational", type) && !instance_has(el, "fromDouble", type);
    if (exact && !signbit(lit->fraction)) return exact_fraction(el, range, lit, type);
    CtCore *value = ct_core_double(el->program, range, lit->fraction);
    return from ? call(el, range, from, type, &value, 1) : library_call(el, range, "fromDouble", type, &value, 1);
}

CtCore *ct_elab_literal(CtElab *el, CtSourceRange range, const CtLit *lit, bool negative, Ground *type,
                        CtEntity *from) {
    CtProgram *p = el->program;
    CtType *core = ct_elab_core(el, type);
    bool real = core->kind == TYPE_DOUBLE || core->kind == TYPE_FLOAT;
    CtCore *made = NULL;
    switch (lit->kind) {
    case LIT_CHAR: return ct_core_char(p, range, lit->integer);
    case LIT_STRING: return ct_core_string(p, range, lit->text, lit->text_length);
    case LIT_INT:
        if (core->kind == TYPE_INT) return int_literal(el, range, lit, negative);
        if (!real) made = integer_literal(el, range, lit, type, from);
        break;
    case LIT_FRACTION:
        if (!real) made = fraction_literal(el, range, lit, type, from);
        break;
    }
    if (real) {
        double value = core->kind == TYPE_FLOAT ? ct_syntax_float(el->arena, lit) : lit->fraction;
        return ct_core_real(p, range, core, negative ? -value : value);
    }
    return made != NULL ? made : ct_elab_error_term(el, range, core);
}
