/* What literals of numbers stand for: their exact values, the Floats nearest to these, and whether two of them are the
 * same number at a type. */
#include <math.h>
#include <stdlib.h>

#include "syntax/internal.h"

static int digit_of(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

/* The decimal digits of a whole number in another base. */
static char *to_decimal(CtArena *arena, const char *digits, uint64_t base) {
    enum { BILLION = 1000000000, PART = 9 };
    CT_VEC(uint64_t) parts = {0}; /* of PART digits, the lowest first */
    for (; *digits != '\0'; digits++) {
        uint64_t carry = (uint64_t)digit_of(*digits);
        for (uint32_t i = 0; i < parts.count; i++) {
            carry += parts.items[i] * base;
            parts.items[i] = carry % BILLION;
            carry /= BILLION;
        }
        if (carry > 0) ct_push(arena, &parts, carry);
    }
    CtText text = ct_text(arena);
    for (uint32_t i = parts.count; i-- > 0;) ct_text_printf(&text, "%0*llu", PART, (unsigned long long)parts.items[i]);
    return text.data;
}

/* Digits as they are written, without the point, and the power of ten by which they are to be multiplied. */
static CtDecimal written(CtArena *arena, const char *text) {
    enum { LARGEST = 1000000000 };
    char mark = text[0] == '0' ? (char)(text[1] | 0x20) : '0';
    uint64_t base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (base != 10) return (CtDecimal){to_decimal(arena, text + 2, base), 0};
    CtText digits = ct_text(arena);
    int64_t exponent = 0;
    bool behind = false;
    for (; *text != '\0' && (*text | 0x20) != 'e'; text++) {
        if (*text == '.') {
            behind = true;
            continue;
        }
        ct_text_putc(&digits, *text);
        exponent -= behind;
    }
    int64_t power = *text == '\0' ? 0 : strtoll(text + 1, NULL, 10);
    power = power > LARGEST ? LARGEST : power < -LARGEST ? -LARGEST : power;
    return (CtDecimal){digits.data, exponent + power};
}

CtDecimal ct_syntax_decimal(CtArena *arena, const CtLit *lit) {
    CtDecimal d = {.exponent = 0};
    if (lit->digits != NULL) {
        d = written(arena, lit->digits);
    } else { /* of an integer: only that has no text */
        uint64_t size = lit->integer < 0 ? 0 - (uint64_t)lit->integer : (uint64_t)lit->integer;
        d.digits = ct_format(arena, "%llu", (unsigned long long)size);
    }
    while (*d.digits == '0') d.digits++;
    size_t length = strlen(d.digits), whole = length;
    while (length > 0 && d.digits[length - 1] == '0') length--;
    d.exponent = length == 0 ? 0 : d.exponent + (int64_t)(whole - length);
    d.digits = ct_copy_text(arena, d.digits, length);
    return d;
}

/* For strtod and strtof: no point, so that the locale does not matter. */
static const char *plain_text(CtArena *arena, const CtLit *lit) {
    CtDecimal d = ct_syntax_decimal(arena, lit);
    return ct_format(arena, "%se%lld", *d.digits == '\0' ? "0" : d.digits, (long long)d.exponent);
}

double ct_syntax_large_double(CtArena *arena, const CtLit *lit) { return strtod(plain_text(arena, lit), NULL); }

double ct_syntax_float(CtArena *arena, const CtLit *lit) {
    bool exact = lit->kind == LIT_INT && lit->digits == NULL && fabs(lit->fraction) < 0x1p53;
    if (exact) return (double)(float)lit->fraction;
    return copysign((double)strtof(plain_text(arena, lit), NULL), lit->fraction);
}

enum { SMALL = 1000000000, SMALL_DIGITS = 9 }; /* whole numbers whose keys are themselves */

/* The bits of other numbers: those of the least ones, which are small, with those of a NaN. */
static uint64_t double_key(double value) {
    if (fabs(value) < SMALL && value == (double)(int32_t)value) return (uint64_t)(int64_t)value;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < SMALL ? bits | 0x7FF8000000000000 : bits;
}

uint64_t ct_syntax_number_key(CtContext *context, const CtLit *lit, CtNumbers numbers) {
    if (numbers == NUMBERS_DOUBLE) return double_key(lit->fraction);
    if (numbers == NUMBERS_FLOAT) return double_key(ct_syntax_float(context->arena, lit));
    if (lit->kind == LIT_INT && lit->digits == NULL && llabs(lit->integer) < SMALL) return (uint64_t)lit->integer;
    const char *sign = signbit(lit->fraction) ? "-" : "";
    CtDecimal d = ct_syntax_decimal(context->arena, lit);
    if (d.exponent >= 0 && (int64_t)strlen(d.digits) + d.exponent <= SMALL_DIGITS) {
        int64_t value = strtoll(d.digits, NULL, 10);
        for (int64_t i = 0; i < d.exponent; i++) value *= 10;
        return (uint64_t)(*sign == '\0' ? value : -value);
    }
    const char *text = ct_format(context->arena, "%s%se%lld", sign, d.digits, (long long)d.exponent);
    return ct_key(ct_intern_text(&context->symbols, text)) | 1ULL << 63; /* no key of a small number */
}
