/* Reals in the format of Haskell's show, and lists of characters. */
#ifndef CT_RT_TEXT_H
#define CT_RT_TEXT_H

#include "rt/run.h"

/* A number as decimal digits: 0.d1d2… × 10^exponent. */
typedef struct ct_digits {
    char text[24];
    int count, exponent;
} ct_digits;

static CT_CALLED bool ct_reads_back(const char *text, double value, bool single) {
    return single ? (double)strtof(text, NULL) == value : strtod(text, NULL) == value;
}

/* The fewest digits that read back as the same number. Any decimal of at most `sure` digits survives conversion to the
 * type and back, so these are printed and trailing zeros dropped. Subnormal numbers have less precision; for them all
 * lengths from one digit on are tried. */
static CT_CALLED ct_digits ct_shortest(double value, bool single) {
    int sure = single ? 6 : 15, most = single ? 9 : 17;
    bool subnormal = value < (single ? 1.17549435e-38 : 2.2250738585072014e-308);
    char text[40];
    for (int count = subnormal ? 1 : sure; count <= most; count++) {
        snprintf(text, sizeof text, "%.*e", count - 1, value);
        if (ct_reads_back(text, value, single)) break;
    }
    ct_digits digits = {.count = 0};
    const char *at = text;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9') digits.text[digits.count++] = *at;
    digits.exponent = atoi(at + 1) + 1;
    while (digits.count > 1 && digits.text[digits.count - 1] == '0') digits.count--;
    return digits;
}

static CT_CALLED size_t ct_write_plain(char *out, const ct_digits *digits) {
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

static CT_CALLED size_t ct_write_exponent(char *out, const ct_digits *digits) {
    size_t n = 0;
    out[n++] = digits->text[0];
    out[n++] = '.';
    if (digits->count == 1) out[n++] = '0';
    for (int i = 1; i < digits->count; i++) out[n++] = digits->text[i];
    return n + (size_t)sprintf(out + n, "e%d", digits->exponent - 1);
}

static CT_CALLED size_t ct_write_real(char *buffer, double value, bool single) {
    if (isnan(value)) return (size_t)sprintf(buffer, "NaN");
    size_t n = 0;
    if (signbit(value)) buffer[n++] = '-';
    value = fabs(value);
    if (isinf(value)) return n + (size_t)sprintf(buffer + n, "Infinity");
    if (value == 0) return n + (size_t)sprintf(buffer + n, "0.0");
    ct_digits digits = ct_shortest(value, single);
    n += value >= 0.1 && value < 1e7 ? ct_write_plain(buffer + n, &digits) : ct_write_exponent(buffer + n, &digits);
    buffer[n] = '\0';
    return n;
}

/* ---- [Char]: a cell has the tag 1 and holds the tail, then the character; the end has the tag 0 ---- */

static inline ct_node *ct_string_cell(ct_run *rt, int64_t point, ct_node *tail) {
    ct_node *cell = ct_node_new(rt, 1, 2, 1);
    cell->at[0].p = &tail->head;
    cell->at[1].i = point;
    return cell;
}

static CT_CALLED ct_node *ct_string(ct_run *rt, const uint32_t *points, size_t count) {
    ct_node *text = ct_bare(rt, 0);
    while (count-- > 0) text = ct_string_cell(rt, (int64_t)points[count], text);
    return text;
}

static CT_CALLED ct_node *ct_string_ascii(ct_run *rt, const char *text, size_t length) {
    ct_node *list = ct_bare(rt, 0);
    while (length-- > 0) list = ct_string_cell(rt, (unsigned char)text[length], list);
    return list;
}

static CT_CALLED ct_node *ct_show_real(ct_run *rt, double value, bool single) {
    char buffer[64];
    return ct_string_ascii(rt, buffer, ct_write_real(buffer, value, single));
}
static CT_CALLED ct_node *ct_show_int(ct_run *rt, int64_t value) {
    char buffer[64];
    return ct_string_ascii(rt, buffer, (size_t)snprintf(buffer, sizeof buffer, "%lld", (long long)value));
}

static inline size_t ct_put_utf8(char *out, int64_t code) {
    uint32_t point = code < 0 || code > 0x10FFFF ? 0xFFFD : (uint32_t)code;
    size_t n = 0;
    if (point < 0x80) {
        out[n++] = (char)point;
        return n;
    }
    if (point < 0x800) {
        out[n++] = (char)(0xC0 | point >> 6);
    } else {
        if (point < 0x10000) {
            out[n++] = (char)(0xE0 | point >> 12);
        } else {
            out[n++] = (char)(0xF0 | (point >> 18 & 7));
            out[n++] = (char)(0x80 | (point >> 12 & 0x3F));
        }
        out[n++] = (char)(0x80 | (point >> 6 & 0x3F));
    }
    out[n++] = (char)(0x80 | (point & 0x3F));
    return n;
}

/* Fails with a message made by the program, cut off after this number of characters. */
enum { CT_MESSAGE_MAX = 4000 };
static CT_COLD CT_FAILS void ct_fail_text(ct_run *rt, int site, int code, const ct_node *message) {
    char *text = malloc(4 * CT_MESSAGE_MAX + 1);
    if (text == NULL) ct_fail_memory(rt);
    size_t length = 0;
    for (int i = 0; i < CT_MESSAGE_MAX && message->head.tag != 0; i++) {
        length += ct_put_utf8(text + length, message->at[1].i);
        message = (const ct_node *)message->at[0].p;
    }
    text[length] = '\0';
    free(rt->long_text);
    rt->message = rt->long_text = text;
    rt->code = code;
    rt->site = site;
    longjmp(rt->out, 1);
}

#endif
