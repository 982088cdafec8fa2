/* cotan type and cotan core: print a program's types, and the program in Core. */
#include <stdio.h>
#include <string.h>

#include "cli/verbs.h"

typedef cotan_error *Show(cotan_program *program, const char *name, const char **out);
typedef void Print(const char *text);

/* Prints lines `name :: type` as {"types":[{"name":…,"type":…},…]}. */
static void print_types_json(const char *lines) {
    printf("{\"types\":[");
    for (const char *line = lines; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        const char *mark = strstr(line, " :: "), *name = line, *name_end = mark;
        if (name[0] == '(') { /* an operator, whose parentheses are dropped */
            name++;
            name_end--;
        }
        printf("%s{\"name\":", line > lines ? "," : "");
        cli_print_json_string(stdout, name, (size_t)(name_end - name));
        printf(",\"type\":");
        cli_print_json_string(stdout, mark + 4, (size_t)(line + length - (mark + 4)));
        printf("}");
        line += length;
        if (*line == '\n') line++;
    }
    printf("]}\n");
}

static void print_core_json(const char *text) {
    printf("{\"core\":");
    cli_print_json_string(stdout, text, strlen(text));
    printf("}\n");
}

static int show(const Options *options, Show *text_of, Print *print_json) {
    cotan_context *context;
    cotan_program *program;
    int status = cli_load(options, &context, &program);
    if (status != EXIT_DONE) return status;
    const char *text;
    cotan_error *error = text_of(program, options->word_count > 1 ? options->words[1] : NULL, &text);
    if (error != NULL)
        status = cli_report(options, error);
    else if (options->json)
        print_json(text);
    else
        fputs(text, stdout);
    cli_close_context(context);
    return status;
}

int cli_verb_type(const Options *options) { return show(options, cotan_types, print_types_json); }
int cli_verb_core(const Options *options) { return show(options, cotan_core, print_core_json); }
