/* Reals as Haskell's show writes them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "value/value.h"

/* Significant digits and the decimal exponent: 0.d1d2… × 10^exponent. */
typedef struct Digits {
    char text[24];
    int count, exponent;
} Digits;

static bool reads_back(const char *text, double value, bool single) {
    return single ? (double)strtof(text, NULL) == value : strtod(text, NULL) == value;
}

/* The fewest digits that read back. A decimal of at most `sure` digits survives the way through the format, so that
 * printing so many and dropping zeros finds it; subnormal numbers have fewer and are searched from one digit on. */
static Digits shortest(double value, bool single) {
    int sure = single ? 6 : 15, most = single ? 9 : 17;
    bool subnormal = value < (single ? 1.17549435e-38 : 2.2250738585072014e-308);
    char text[40];
    for (int count = subnormal ? 1 : sure; count <= most; count++) {
        snprintf(text, sizeof text, "%.*e", count - 1, value);
        if (reads_back(text, value, single)) break;
    }
    Digits digits = {.count = 0};
    const char *at = text;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9') digits.text[digits.count++] = *at;
    digits.exponent = atoi(at + 1) + 1;
    while (digits.count > 1 && digits.text[digits.count - 1] == '0') digits.count--;
    return digits;
}

static size_t write_plain(char *out, const Digits *digits) {
    size_t n = 0;
    if (digits->exponent <= 0) out[n++] = '0';
    for (int i = 0; i < digits->exponent; i++) out[n++] = i < digits->count ? digits->text[i] : '0';
    out[n++] = '.';
    for (int i = digits->exponent; i < 0; i++) out[n++] = '0';
    int from = digits->exponent > 0 ? digits->exponent : 0;
    if (from >= digits->count) out[n++] = '0';
    for (int i = from; i < digits->count; i++) out[n++] = digits->text[i];
    return n;
}

static size_t write_exponent(char *out, const Digits *digits) {
    size_t n = 0;
    out[n++] = digits->text[0];
    out[n++] = '.';
    if (digits->count == 1) out[n++] = '0';
    for (int i = 1; i < digits->count; i++) out[n++] = digits->text[i];
    return n + (size_t)sprintf(out + n, "e%d", digits->exponent - 1);
}

static size_t show(char *buffer, double value, bool single) {
    if (isnan(value)) return (size_t)sprintf(buffer, "NaN");
    size_t n = 0;
    if (signbit(value)) buffer[n++] = '-';
    value = fabs(value);
    if (isinf(value)) return n + (size_t)sprintf(buffer + n, "Infinity");
    if (value == 0) return n + (size_t)sprintf(buffer + n, "0.0");
    Digits digits = shortest(value, single);
    n += value >= 0.1 && value < 1e7 ? write_plain(buffer + n, &digits) : write_exponent(buffer + n, &digits);
    buffer[n] = '\0';
    return n;
}

size_t ct_show_double(char *buffer, double value) { return show(buffer, value, false); }

size_t ct_show_float(char *buffer, double value) { return show(buffer, value, true); }
