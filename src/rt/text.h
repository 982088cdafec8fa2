/* Reals in the format of Haskell's show, and lists of characters. */
#ifndef CT_RT_TEXT_H
#define CT_RT_TEXT_H

#include "rt/array.h"

/* A number as decimal digits: 0.d1d2… × 10^exponent. */
typedef struct ct_digits {
    char text[24];
    int count, exponent;
} ct_digits;

/* A natural number of up to 1,280 bits, the lowest part first. */
typedef struct ct_big {
    uint32_t part[40];
    int count;
} ct_big;

static CT_CALLED void ct_big_multiply(ct_big *x, uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < x->count; i++) {
        carry += (uint64_t)x->part[i] * factor;
        x->part[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) x->part[x->count++] = (uint32_t)carry;
}

/* value · 2^power */
static CT_CALLED ct_big ct_big_of(uint64_t value, int power) {
    ct_big x = {.count = 0};
    for (; x.count < power / 32; x.count++) x.part[x.count] = 0;
    for (; value != 0; value >>= 32) x.part[x.count++] = (uint32_t)value;
    ct_big_multiply(&x, (uint32_t)1 << power % 32);
    return x;
}

static CT_CALLED void ct_big_multiply_by_power_of_10(ct_big *x, int power) {
    for (; power >= 9; power -= 9) ct_big_multiply(x, 1000000000);
    for (; power > 0; power--) ct_big_multiply(x, 10);
}

static CT_CALLED ct_big ct_big_sum(const ct_big *x, const ct_big *y) {
    ct_big sum = {.count = x->count > y->count ? x->count : y->count};
    uint64_t carry = 0;
    for (int i = 0; i < sum.count; i++) {
        carry += (uint64_t)(i < x->count ? x->part[i] : 0) + (i < y->count ? y->part[i] : 0);
        sum.part[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) sum.part[sum.count++] = (uint32_t)carry;
    return sum;
}

static CT_CALLED int ct_big_compare(const ct_big *x, const ct_big *y) {
    if (x->count != y->count) return x->count < y->count ? -1 : 1;
    for (int i = x->count; i-- > 0;)
        if (x->part[i] != y->part[i]) return x->part[i] < y->part[i] ? -1 : 1;
    return 0;
}

/* x − y, where y ≤ x */
static CT_CALLED void ct_big_subtract(ct_big *x, const ct_big *y) {
    int64_t borrow = 0;
    for (int i = 0; i < x->count; i++) {
        borrow += (int64_t)x->part[i] - (i < y->count ? y->part[i] : 0);
        x->part[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    while (x->count > 0 && x->part[x->count - 1] == 0) x->count--;
}

/* The digits of a positive number: floatToDigits of the Haskell 98 Report, Numeric. The number is r/s, and all numbers
 * strictly between (r − down)/s and (r + up)/s are nearer to it than to its neighbours. Digits are generated until what
 * is left lies among these. */
static CT_CALLED ct_digits ct_shortest(double value, bool single) {
    int bits = single ? 24 : 53, least = single ? -149 : -1074, power;
    double fraction = frexp(value, &power);
    power -= bits;
    if (power < least) {
        fraction = ldexp(fraction, power - least);
        power = least;
    }
    uint64_t whole = (uint64_t)ldexp(fraction, bits);
    int wide = power > least && whole == (uint64_t)1 << (bits - 1); /* the neighbour below is nearer */
    ct_big r = ct_big_of(whole, 1 + wide + (power > 0 ? power : 0)),
           s = ct_big_of(1, 1 + wide + (power < 0 ? -power : 0));
    ct_big up = ct_big_of(1, wide + (power > 0 ? power : 0)), down = ct_big_of(1, power > 0 ? power : 0);
    ct_digits digits = {.count = 0, .exponent = (int)ceil(log10(value) - 1e-10)};
    ct_big_multiply_by_power_of_10(&s, digits.exponent);
    ct_big_multiply_by_power_of_10(&r, -digits.exponent);
    ct_big_multiply_by_power_of_10(&up, -digits.exponent);
    ct_big_multiply_by_power_of_10(&down, -digits.exponent);
    ct_big above = ct_big_sum(&r, &up);
    if (ct_big_compare(&above, &s) > 0) {
        ct_big_multiply(&s, 10);
        digits.exponent++;
    }
    for (bool low = false, high = false; !low && !high;) {
        char digit = '0';
        ct_big_multiply(&r, 10);
        ct_big_multiply(&up, 10);
        ct_big_multiply(&down, 10);
        for (; ct_big_compare(&r, &s) >= 0; digit++) ct_big_subtract(&r, &s);
        above = ct_big_sum(&r, &up);
        low = ct_big_compare(&r, &down) < 0;
        high = ct_big_compare(&above, &s) > 0;
        ct_big twice = ct_big_sum(&r, &r);
        digits.text[digits.count++] = (char)(digit + (high && (!low || ct_big_compare(&twice, &s) >= 0)));
    }
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

/* Strings of these lengths, one behind the other in `points`. */
static CT_CALLED ct_array *ct_strings_of(ct_run *rt, const uint32_t *points, const uint32_t *lengths, int64_t count) {
    ct_array *x = ct_vector(rt, true, count);
    for (int64_t i = 0; i < count; points += lengths[i++]) x->data[i].p = &ct_string(rt, points, lengths[i])->head;
    return x;
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
/* The digits from the last to the first, each in front of the list. */
static CT_CALLED ct_node *ct_show_int(ct_run *rt, int64_t value) {
    ct_node *list = ct_bare(rt, 0);
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do {
        list = ct_string_cell(rt, (int64_t)('0' + left % 10), list);
        left /= 10;
    } while (left != 0);
    return value < 0 ? ct_string_cell(rt, '-', list) : list;
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

/* ---- requests ---- */

/* Adds a character to the request. False without memory. */
static CT_CALLED bool ct_request(ct_effects *effects, int64_t point) {
    if (effects->capacity - effects->length < 4) {
        size_t capacity = effects->capacity * 2 + 256;
        char *request = realloc(effects->request, capacity);
        if (request == NULL) return false;
        effects->request = request;
        effects->capacity = capacity;
    }
    effects->length += ct_put_utf8(effects->request + effects->length, point);
    return true;
}

/* The code point whose UTF-8 begins at a byte, which is moved behind it. */
static inline int64_t ct_take_utf8(const char **at) {
    const unsigned char *byte = (const unsigned char *)*at;
    int more = *byte < 0x80 ? 0 : *byte < 0xE0 ? 1 : *byte < 0xF0 ? 2 : 3;
    int64_t point = more == 0 ? *byte : *byte & (0x3F >> more);
    for (int i = 1; i <= more; i++) point = point << 6 | (byte[i] & 0x3F);
    *at += more + 1;
    return point;
}

/* The list of an answer's characters, from the front, so that they are in order in memory. */
static CT_CALLED ct_node *ct_answer(ct_run *rt, const ct_effects *effects) {
    const char *at = effects->answer, *end = at + effects->answer_length;
    ct_node *first = NULL, *last = NULL, *nil = ct_bare(rt, 0);
    while (at < end) {
        ct_node *cell = ct_string_cell(rt, ct_take_utf8(&at), nil);
        if (first == NULL) first = cell;
        if (last != NULL) last->at[0].p = &cell->head;
        last = cell;
    }
    return first != NULL ? first : nil;
}

/* A character of a request (what >= 0), or the command that ends it, and its answer. */
static CT_CALLED ct_node *ct_ask(ct_run *rt, int site, int64_t what) {
    ct_effects *effects = rt->effects;
    if (effects == NULL) ct_fail(rt, site, 513, "there is no input and output here");
    if (what >= 0) {
        if (!ct_request(effects, what)) ct_fail_memory(rt);
        return ct_bare(rt, 0);
    }
    if (!effects->perform(effects, what))
        ct_fail(rt, site, effects->code, "%.*s", (int)effects->answer_length, effects->answer);
    return ct_answer(rt, effects);
}

static inline ct_node *ct_effect(ct_run *rt, int site, int64_t what) {
    ct_effects *effects = rt->effects;
    bool plain = what >= 0 && what < 0x80 && effects != NULL && effects->length < effects->capacity;
    if (!plain) return ct_ask(rt, site, what);
    effects->request[effects->length++] = (char)what;
    return ct_bare(rt, 0);
}

/* A character of a message (what >= 0), or its end. Without a world nothing is told. */
static CT_CALLED ct_node *ct_trace(ct_run *rt, int64_t what) {
    if (rt->effects != NULL && !rt->effects->trace(rt->effects, what)) ct_fail_memory(rt);
    return ct_bare(rt, 0);
}

#endif
