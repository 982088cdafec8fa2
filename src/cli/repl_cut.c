/* Long values at the prompt: lists, arrays and strings with many elements are cut behind the first of them, with a
 * count of those that are left out. What is cut is the text of the value, as the language shows it. */
#include <ctype.h>
#include <string.h>

#include "cli/repl.h"

enum {
    LONG_TEXT = 2000,   /* bytes: a shorter value is printed whole */
    MANY_ELEMENTS = 20, /* of a list or an array that is printed whole all the same */
    FIRST_ELEMENTS = 10,
    MANY_CHARACTERS = 1000,
    FIRST_CHARACTERS = 200
};

typedef struct Cut {
    const char *at, *end;
    bool in_word; /* the last character belongs to a name or a number: a prime behind it is part of a name */
} Cut;

static bool is_open(char c) { return c == '[' || c == '(' || c == '{'; }
static bool is_close(char c) { return c == ']' || c == ')' || c == '}'; }

/* Behind the string or the character that begins here. */
static const char *quoted_end(const char *at, const char *end) {
    char quote = *at++;
    while (at < end && *at != quote) at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : at;
}

static bool begins_quote(const Cut *c) { return *c->at == '"' || (*c->at == '\'' && !c->in_word); }

static void step(Cut *c) {
    c->in_word = isalnum((unsigned char)*c->at) || *c->at == '_' || *c->at == '\'';
    c->at++;
}

/* Behind the element that begins here: at a comma or a bracket that is not in it. */
static void skip_element(Cut *c) {
    for (int depth = 0; c->at < c->end;) {
        if (begins_quote(c)) {
            c->at = quoted_end(c->at, c->end);
            c->in_word = false;
            continue;
        }
        if (depth == 0 && (*c->at == ',' || is_close(*c->at))) return;
        depth += is_open(*c->at) - is_close(*c->at);
        step(c);
    }
}

/* The number of elements of the list or array whose bracket is open here. */
static size_t count_elements(Cut c) {
    size_t count = 0;
    do {
        skip_element(&c);
        count++;
    } while (c.at < c.end && *c.at++ == ',');
    return count;
}

static void put(const char *from, const char *to, FILE *out) { fwrite(from, 1, (size_t)(to - from), out); }

static void put_left(size_t count, FILE *out) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%zu", count);
    fputs("… ", out);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) putc(',', out);
        putc(digits[i], out);
    }
    fputs(" more", out);
}

/* A string or a character; an escape counts as one character, and is not cut. */
static void put_quoted(Cut *c, FILE *out) {
    const char *from = c->at, *end = quoted_end(from, c->end), *first = NULL;
    size_t count = 0;
    for (const char *at = from + 1; at < end - 1; count++) {
        if (count == FIRST_CHARACTERS) first = at;
        at += *at == '\\' ? 2 : 1;
        while (at < end - 1 && ((unsigned char)*at & 0xC0) == 0x80) at++;
    }
    c->at = end;
    c->in_word = false;
    if (count <= MANY_CHARACTERS) {
        put(from, end, out);
        return;
    }
    put(from, first, out);
    fputs("\" ", out);
    put_left(count - FIRST_CHARACTERS, out);
}

/* Prints up to the end, or, inside of a list or an array, up to the end of the element. Values nest at most as deeply
 * as `most`; deeper ones are printed whole. */
static void put_value(Cut *c, bool element, int most, FILE *out) {
    for (int depth = 0; c->at < c->end;) {
        if (begins_quote(c)) {
            put_quoted(c, out);
            continue;
        }
        if (element && depth == 0 && (*c->at == ',' || is_close(*c->at))) return;
        depth += is_open(*c->at) - is_close(*c->at);
        bool list = *c->at == '[';
        putc(*c->at, out);
        step(c);
        if (!list || most == 0) continue;
        size_t count = count_elements(*c);
        if (count <= MANY_ELEMENTS) continue;
        for (size_t i = 0; i < FIRST_ELEMENTS; i++) {
            put_value(c, true, most - 1, out);
            putc(',', out);
            step(c);
        }
        putc(' ', out);
        put_left(count - FIRST_ELEMENTS, out);
        for (size_t i = FIRST_ELEMENTS; i < count; i++) {
            skip_element(c);
            if (i + 1 < count) c->at++;
        }
        if (c->at[-1] == '|') putc('|', out); /* the bar of |] belongs to the last element */
    }
}

void cli_repl_put_value(const Repl *repl, const char *text, size_t length) {
    Cut c = {text, text + length, false};
    if (length <= LONG_TEXT || repl->whole)
        put(text, text + length, stdout);
    else
        put_value(&c, false, 100, stdout);
    putchar('\n');
}
