/* Text to JSON documents, by Jansson, and what is wrong with text that is none. */
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "io/json.h"

/* Describes a JSON value for an error message. */
const char *ct_io_json_found(const json_t *json, char *out, size_t size) {
    switch (json_typeof(json)) {
    case JSON_OBJECT: {
        const char *key = json_object_iter_key(json_object_iter((json_t *)json));
        size_t count = json_object_size(json);
        if (count == 1)
            snprintf(out, size, "an object with the member \"%.40s\"", key);
        else
            snprintf(out, size, "an object of %zu members", count);
        break;
    }
    case JSON_ARRAY: {
        size_t count = json_array_size(json);
        snprintf(out, size, "an array of %zu element%s", count, count == 1 ? "" : "s");
        break;
    }
    case JSON_STRING: {
        const char *text = json_string_value(json);
        if (ct_io_json_kept_number(text))
            snprintf(out, size, "the number %.40s", ct_io_json_kept_number(text));
        else
            snprintf(out, size, "the string \"%.40s\"", text);
        break;
    }
    case JSON_INTEGER: snprintf(out, size, "the number %lld", (long long)json_integer_value(json)); break;
    case JSON_REAL: {
        double real = json_real_value(json);
        bool whole = real == trunc(real) && fabs(real) < 1e15;
        snprintf(out, size, whole ? "the number %.1f" : "the number %.17g", real);
        break;
    }
    case JSON_TRUE: snprintf(out, size, "true"); break;
    case JSON_FALSE: snprintf(out, size, "false"); break;
    case JSON_NULL: snprintf(out, size, "null"); break;
    }
    return out;
}

/* ---- text that is not JSON ---- */

/* A help text that depends on the text around the place where parsing stopped. */
static const char *suggestion(const char *text, size_t length, size_t at) {
    static const char *const numbers[] = {"NaN", "nan", "inf", "-inf", "Infinity", "-Infinity"};
    size_t start = at < length ? at : length, before;
    while (start > 0 && (isalnum((unsigned char)text[start - 1]) || text[start - 1] == '_')) start--;
    if (start > 0 && start == at) start--; /* no word ends at `at`: look at the character before it */
    for (before = start; before > 0 && isspace((unsigned char)text[before - 1]); before--) continue;
    if (start >= length) return NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (size_t back = 0; back < 2 && back <= start; back++)
            if (length - (start - back) >= strlen(numbers[i]) &&
                memcmp(text + (start - back), numbers[i], strlen(numbers[i])) == 0)
                return "numbers that JSON lacks are the strings \"nan\", \"inf\" and \"-inf\"";
    switch (text[start]) {
    case '\'': return "strings and the names of fields stand between double quotes: \"x\"";
    case '.': return "a number begins with a digit: 0.5";
    case '(': return "a tuple is written as an array: [1, 2]";
    case ']':
    case '}': return before > 0 && text[before - 1] == ',' ? "the last element has no comma behind it" : NULL;
    default: break;
    }
    return isalpha((unsigned char)text[start]) ? "strings and the names of fields stand between double quotes: \"x\""
                                               : NULL;
}

static void not_json(CtContext *context, const char *what, const char *text, size_t length, const json_error_t *error) {
    bool blank = true, at_end = json_error_code(error) == json_error_premature_end_of_input ||
                                strstr(error->text, "near end of file") != NULL;
    for (size_t i = 0; i < length; i++) blank = blank && isspace((unsigned char)text[i]);
    const char *message = json_error_code(error) == json_error_stack_overflow
                              ? "arrays and objects are nested too deeply"
                          : blank  ? "there is no value"
                          : at_end ? "the value ends too early: a bracket or a quote is not closed"
                                   : error->text;
    CtDiag *diag = ct_error(context, CT_E0602, CT_NO_RANGE, "%s: line %d, column %d: %s", what, error->line,
                            error->column < 1 ? 1 : error->column, message);
    const char *help = at_end || error->position < 0 ? NULL : suggestion(text, length, (size_t)error->position);
    if (json_error_code(error) == json_error_stack_overflow)
        help = "a value that is read may be nested 2048 levels deep; a long list is one level";
    if (help) ct_help(context, diag, "%s", help);
}

/* ---- parsing ---- */

bool ct_io_json_number(const char *text, size_t length, bool is_float, double *number) {
    char few[64], *copy = length < sizeof few ? few : malloc(length + 1);
    if (!copy) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *point = strchr(copy, '.');
    if (point) *point = *localeconv()->decimal_point;
    *number = is_float ? (double)strtof(copy, NULL) : strtod(copy, NULL);
    if (copy != few) free(copy);
    return true;
}

/* Whether a Double is in the middle between two Floats: the number that it is read from may be nearer to one of them.
 */
static bool is_between_floats(double number) {
    float near = (float)number, next = nextafterf(near, number > (double)near ? HUGE_VALF : -HUGE_VALF);
    return fabs(number) == 0x1.ffffffp127 || (number != (double)near && number - (double)near == (double)next - number);
}

static bool has_reals_between_floats(const json_t *json) {
    if (json_is_real(json)) return is_between_floats(json_real_value(json));
    for (size_t i = 0; i < json_array_size(json); i++)
        if (has_reals_between_floats(json_array_get(json, i))) return true;
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)json, key, member) if (has_reals_between_floats(member)) return true;
    return false;
}

const char *ct_io_json_kept_number(const char *text) {
    bool begins = text[0] > 0 && text[0] < ' ' && isdigit((unsigned char)text[1 + (text[1] == '-')]);
    return begins && strspn(text + 1, "+-.eE0123456789") == strlen(text + 1) ? text + 1 : NULL;
}

static size_t digits(const char *text, size_t at, size_t length) {
    size_t from = at;
    while (at < length && isdigit((unsigned char)text[at])) at++;
    return at - from;
}

/* Whether a text is a number of JSON: another one is left for Jansson to refuse. */
static bool is_json_number(const char *text, size_t length) {
    size_t at = length > 0 && text[0] == '-', count = digits(text, at, length);
    if (count == 0 || (count > 1 && text[at] == '0')) return false;
    at += count;
    if (at < length && text[at] == '.') {
        count = digits(text, at + 1, length);
        if (count == 0) return false;
        at += 1 + count;
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (at < length && (text[at] == '+' || text[at] == '-')) at++;
        count = digits(text, at, length);
        if (count == 0) return false;
        at += count;
    }
    return at == length;
}

static size_t span_of_number(const char *text, size_t length) {
    size_t end = 0;
    while (end < length && (isdigit((unsigned char)text[end]) || strchr("+-.eE", text[end]) != NULL) && text[end])
        end++;
    return end;
}

static bool is_negative_zero(const char *text, size_t length) {
    return length >= 2 && memcmp(text, "-0", 2) == 0 && span_of_number(text, length) == 2;
}

static bool has_negative_zero(const char *text, size_t length) {
    const char *end = text + length;
    for (const char *at = text; (at = memchr(at, '-', (size_t)(end - at))) != NULL; at++)
        if (is_negative_zero(at, (size_t)(end - at))) return true;
    return false;
}

/* Whether a number is kept as text: Jansson's integers have 64 bits and no -0, its reals are Doubles. */
static bool is_kept(const char *text, size_t length) {
    double number;
    size_t sign = text[0] == '-';
    if (!is_json_number(text, length)) return false;
    bool is_integer = sign + strspn(text + sign, "0123456789") >= length;
    if (is_integer) return length > LONG_INTEGER || is_negative_zero(text, length);
    return !ct_io_json_number(text, length, false, &number) || is_between_floats(number);
}

/* Clears `memory` where there is none. Jansson reports some failed allocations as syntax errors: then it parses again.
 */
static json_t *load(const char *text, size_t length, json_error_t *error, bool *memory) {
    const size_t flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
    json_t *root = json_loadb(text, length, flags, error);
    enum json_error_code code = json_error_code(error);
    if (!root && code != json_error_out_of_memory && code != json_error_numeric_overflow) {
        void *enough = malloc(length + 4096);
        if (enough) free(enough), root = json_loadb(text, length, flags, error);
        *memory = *memory && enough;
    }
    *memory = *memory && (root || json_error_code(error) != json_error_out_of_memory);
    return root;
}

/* A control character that no string of the document writes. All are in few documents. */
static char unused_character(const char *text, size_t length) {
    bool used[' '] = {['\b'] = true, ['\t'] = true, ['\n'] = true, ['\f'] = true, ['\r'] = true};
    for (size_t i = 0; i + 5 < length; i++) {
        char hex[3] = {text[i + 4], text[i + 5]}, *end;
        if (memcmp(text + i, "\\u00", 4) != 0) continue;
        unsigned long code = strtoul(hex, &end, 16);
        if (end == hex + 2 && code < ' ') used[code] = true;
    }
    int character = 1;
    while (character < ' ' - 1 && used[character]) character++;
    return (char)character;
}

/* Parses a document in which such numbers are first made strings. */
static json_t *parse_quoted(const char *text, size_t length, char mark, json_error_t *error, bool *memory) {
    char open[sizeof "\"\\u0001"];
    snprintf(open, sizeof open, "\"\\u%04x", (unsigned)mark);
    size_t room = length, to = 0;
    for (size_t i = 0; i < length; i++) room += i % 3 == 0 ? sizeof open : 0; /* a number has a separator */
    char *copy = malloc(room + sizeof open);
    bool in_string = false;
    for (size_t from = 0, count; copy && from < length; from += count) {
        bool number = !in_string && (text[from] == '-' || isdigit((unsigned char)text[from]));
        count = number ? span_of_number(text + from, length - from) : 1;
        bool quote = number && is_kept(text + from, count);
        if (quote) memcpy(copy + to, open, sizeof open - 1);
        if (quote) to += sizeof open - 1;
        if (in_string && text[from] == '\\' && from + 1 < length) count = 2;
        if (text[from] == '"') in_string = !in_string;
        memcpy(copy + to, text + from, count);
        to += count;
        if (quote) copy[to++] = '"';
    }
    json_t *root = copy ? load(copy, to, error, memory) : NULL;
    *memory = *memory && copy;
    free(copy);
    return root;
}

CtJson *ct_io_json_parse(CtContext *context, const char *what, const char *text, size_t length) {
    json_error_t error;
    bool memory = true;
    json_t *root = load(text, length, &error, &memory);
    bool quoted = root ? has_negative_zero(text, length) || has_reals_between_floats(root)
                       : memory && json_error_code(&error) == json_error_numeric_overflow;
    if (quoted) json_decref(root);
    char mark = 0;
    if (quoted) mark = unused_character(text, length);
    if (quoted) root = parse_quoted(text, length, mark, &error, &memory);
    CtJson *json = root ? malloc(sizeof *json) : NULL;
    if (json) {
        *json = (CtJson){.root = root, .value = root, .what = what, .quoted = mark};
        return json;
    }
    json_decref(root);
    if (root || !memory) {
        ct_error(context, CT_E0801, CT_NO_RANGE, "%s: there is no memory to read the value", what);
        return NULL;
    }
    not_json(context, what, text, length, &error);
    return NULL;
}

bool ct_io_json_arguments(CtContext *context, CtJson *json, const char *function, uint32_t count) {
    char what[100];
    if (!json_is_array(json->root)) {
        CtDiag *diag = ct_error(context, CT_E0601, CT_NO_RANGE, "%s: expected an array of the arguments, found %s",
                                json->what, ct_io_json_found(json->root, what, sizeof what));
        ct_help(context, diag, "one argument is an array of one element: %s '[3]'", json->what);
        return false;
    }
    size_t given = json_array_size(json->root);
    if (given != count) {
        ct_error(context, CT_E0601, CT_NO_RANGE, "%s: `%s` takes %u argument%s, found %zu", json->what, function, count,
                 count == 1 ? "" : "s", given);
        return false;
    }
    if (count == 1) {
        json->value = json_array_get(json->root, 0);
        json->is_element = true;
    }
    return true;
}

void ct_io_json_foreign(CtJson *json) { json->foreign = true; }

void ct_io_json_free(CtJson *json) {
    if (!json) return;
    json_decref(json->root);
    free(json);
}
