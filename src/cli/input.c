/* An input that the command line gives: JSON, a file, or standard input; and files that stand within the JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* Whether an input begins as a NumPy file does (.npz or .npy), which may hold NUL bytes; all other inputs are JSON. */
static bool is_binary(const char *bytes) { return memcmp(bytes, "PK", 2) == 0 || (unsigned char)bytes[0] == 0x93; }

cotan_error *cli_read_as(cotan_program *program, const char *type, cotan_call call, cotan_result *result) {
    size_t size = strlen(type) + 32;
    char *text = malloc(size);
    if (text != NULL) snprintf(text, size, "\\v -> (v :: %s)", type);
    call.mode = COTAN_RUN;
    call.expression = text != NULL ? text : "";
    cotan_error *error = cotan_call_json(program, &call, result);
    free(text);
    return error;
}

const char *cli_guess_type(cotan_program *program, cotan_call call, cotan_result *result) {
    /* in this order: what is an Int can be read as a Double, too */
    static const char *const types[] = {"Int",
                                        "Double",
                                        "Bool",
                                        "String",
                                        "Array Int",
                                        "Array Double",
                                        "Array Bool",
                                        "Array (Array Int)",
                                        "Array (Array Double)",
                                        "Array (Array Bool)",
                                        "Array (Array (Array Int))",
                                        "Array (Array (Array Double))",
                                        "Array (Array (Array Bool))",
                                        "[String]"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (cli_read_as(program, types[i], call, result) == NULL) return types[i];
    return NULL;
}

/* Writes the array of a .npy file as JSON: a program that gives back its argument is run. */
static bool put_array(const Options *options, const char *path, const char *bytes, size_t length, FILE *out) {
    cotan_context *context = cotan_open(&options->limits);
    cotan_program *program = NULL;
    if (context == NULL || cotan_load(context, path, "", 0, &program) != NULL) {
        cli_refuse(options, "E0801", "there is not enough memory to read %s", path);
        cotan_close(context);
        return false;
    }
    cotan_result result;
    bool done = cli_guess_type(program, (cotan_call){.at = bytes, .at_length = length}, &result) != NULL;
    if (done)
        fputs(result.value, out);
    else
        cli_refuse(options, "E0610",
                   "%s is no .npy file with an array of numbers or truth values of at most three dimensions", path);
    cotan_close(context);
    return done;
}

/* Whether a text is a single value as far as brackets, strings and commas tell, so that it stays one within other JSON,
 * which is parsed as a whole. */
static bool is_one_value(const char *text) {
    int depth = 0;
    bool in_string = false, empty = true;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"') in_string = !in_string;
        if (in_string && *c == '\\' && c[1] != '\0') c++;
        if (strchr(" \t\r\n", *c) == NULL) empty = false;
        if (in_string) continue;
        if (depth == 0 && strchr(",:]}", *c) != NULL) return false;
        depth += (*c == '[' || *c == '{') - (*c == ']' || *c == '}');
    }
    return depth == 0 && !in_string && !empty;
}

/* Writes what a file holds as JSON. */
static bool put_file(const Options *options, const char *path, FILE *out) {
    size_t length;
    char *bytes = cli_read_file(options, path, &length);
    if (bytes == NULL) return false;
    bool done = false;
    if (length >= 2 && memcmp(bytes, "PK", 2) == 0)
        cli_refuse(options, "E0602", "%s is an archive, which can be a whole input, but no part of one", path);
    else if (length > 0 && is_binary(bytes))
        done = put_array(options, path, bytes, length, out);
    else if (strlen(bytes) != length)
        cli_refuse(options, "E0602", "%s is no JSON: it holds a NUL byte", path);
    else if (!is_one_value(bytes))
        cli_refuse(options, "E0602", "%s is no JSON: it does not hold one value", path);
    else
        done = fwrite(bytes, 1, length, out) == length;
    free(bytes);
    return done;
}

/* JSON in which each @FILE outside of strings is replaced by what the file holds; NULL after an error. */
static char *with_files(const Options *options, const char *json, size_t *length) {
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    bool done = out != NULL, is_short = false, in_string = false; /* is_short: of memory */
    for (const char *c = json; done && *c != '\0';) {
        if (*c == '"') in_string = !in_string;
        if (in_string && *c == '\\' && c[1] != '\0') putc(*c++, out);
        if (in_string || *c != '@') {
            putc(*c++, out);
            continue;
        }
        size_t size = strcspn(++c, ",]} \t\n");
        char *path = strndup(c, size);
        is_short = path == NULL;
        done = !is_short && put_file(options, path, out);
        free(path);
        c += size;
    }
    if (out == NULL || fclose(out) != 0) is_short = true;
    if (done && !is_short) return text;
    if (is_short) cli_refuse(options, "E0801", "there is no memory");
    free(text);
    return NULL;
}

char *cli_read_input(const Options *options, const char *value, size_t *length, bool *failed) {
    *length = 0;
    if (value == NULL) return NULL;
    char *text;
    if (strcmp(value, "-") == 0)
        text = cli_read_file(options, "-", length);
    else if (value[0] == '@')
        text = cli_read_file(options, value + 1, length);
    else
        text = with_files(options, value, length);
    if (text != NULL && strlen(text) != *length && !is_binary(text)) {
        cli_refuse(options, "E0602", "%s is no JSON: it holds a NUL byte", value);
        free(text);
        text = NULL;
    }
    if (text == NULL) *failed = true;
    return text;
}
