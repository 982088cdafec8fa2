/* Finds the members of one JSON object. */
#include "cli/message.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values, from a place to the end of the text; the place behind, or NULL ---- */

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
    return at;
}

static const char *skip_string(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\') at++;
    return at < end ? at + 1 : NULL;
}

/* An array or object, up to the bracket that closes it. */
static const char *skip_brackets(const char *at, const char *end) {
    size_t depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            if (at == NULL) return NULL;
            continue;
        }
        if (*at == '[' || *at == '{') depth++;
        if ((*at == ']' || *at == '}') && --depth == 0) return at + 1;
        at++;
    }
    return NULL;
}

static const char *skip_value(const char *at, const char *end) {
    if (at == end) return NULL;
    if (*at == '"') return skip_string(at, end);
    if (*at == '[' || *at == '{') return skip_brackets(at, end);
    const char *first = at;
    while (at < end && (isalnum((unsigned char)*at) || strchr("+-.", *at) != NULL) && *at != '\0') at++;
    return at > first ? at : NULL;
}

/* ---- objects ---- */

static void found(const char *const *names, Span *members, size_t count, Span key, Span value) {
    for (size_t i = 0; i < count; i++)
        if (members[i].text == NULL && cli_is_string(key, names[i])) members[i] = value;
}

bool cli_members(Span object, const char *const *names, Span *members, size_t count) {
    for (size_t i = 0; i < count; i++) members[i] = (Span){NULL, 0};
    if (object.text == NULL) return false;
    const char *end = object.text + object.length, *at = skip_blanks(object.text, end);
    if (at == end || *at != '{') return false;
    at = skip_blanks(at + 1, end);
    if (at < end && *at == '}') return skip_blanks(at + 1, end) == end;
    while (at < end && *at == '"') {
        Span key = {at, 0}, value;
        at = skip_string(at, end);
        if (at == NULL) return false;
        key.length = (size_t)(at - key.text);
        at = skip_blanks(at, end);
        if (at == end || *at != ':') return false;
        value.text = at = skip_blanks(at + 1, end);
        at = skip_value(at, end);
        if (at == NULL) return false;
        value.length = (size_t)(at - value.text);
        found(names, members, count, key, value);
        at = skip_blanks(at, end);
        if (at < end && *at == '}') return skip_blanks(at + 1, end) == end;
        if (at == end || *at != ',') return false;
        at = skip_blanks(at + 1, end);
    }
    return false;
}

bool cli_is_string(Span value, const char *contents) {
    size_t length = strlen(contents);
    return value.text != NULL && value.length == length + 2 && value.text[0] == '"' &&
           memcmp(value.text + 1, contents, length) == 0;
}

bool cli_name(Span value, char *name, size_t size) {
    if (value.text == NULL || value.length < 3 || value.length - 2 >= size || value.text[0] != '"') return false;
    for (size_t i = 0; i + 2 < value.length; i++) {
        char c = value.text[i + 1];
        if (!isalnum((unsigned char)c) && c != '_' && c != '-' && c != '\'') return false;
        name[i] = c;
    }
    name[value.length - 2] = '\0';
    return true;
}

bool cli_number(Span value, double *number) {
    char text[64], *end;
    if (value.text == NULL || value.length >= sizeof text || !isdigit((unsigned char)value.text[0])) return false;
    memcpy(text, value.text, value.length);
    text[value.length] = '\0';
    *number = strtod(text, &end);
    return *end == '\0' && isfinite(*number);
}
