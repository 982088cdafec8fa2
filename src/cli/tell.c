/* The verbs that load no program: methods, help and version; and the explanation of error codes. */
#include <stdio.h>
#include <string.h>

#include "cli/verbs.h"

int cli_verb_methods(const Options *options) {
    if (options->json) printf("[");
    for (size_t i = 0; cotan_method_at(i) != NULL; i++) {
        const cotan_method *m = cotan_method_at(i);
        if (options->json)
            printf("%s{\"name\":\"%s\",\"reverse\":%s,\"figure\":\"%s\",\"what\":\"%s\"}", i > 0 ? "," : "", m->name,
                   m->reverse ? "true" : "false", m->figure, m->what);
        else
            printf("%-12s  %-7s  %s (%s)\n", m->name, m->reverse ? "reverse" : "forward", m->what, m->figure);
    }
    if (options->json) printf("]\n");
    return EXIT_DONE;
}

/* Prints a text with line breaks between words, in lines of at most 90 columns. */
static void print_filled(const char *text) {
    int column = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (column > 0 && column + 1 + (int)length > 90) {
            printf("\n");
            column = 0;
        }
        column += printf("%s%.*s", column > 0 ? " " : "", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

bool cli_print_explanation(const char *code) {
    const char *title, *explanation = cotan_explain(code, &title);
    if (explanation == NULL) return false;
    printf("%s: %s\n\n", code, title);
    print_filled(explanation);
    return true;
}

int cli_verb_help(const Options *options) {
    if (options->word_count == 0) {
        cli_print_help();
        return EXIT_DONE;
    }
    const Verb *verb = cli_find_verb(options->words[0], options->colour);
    if (verb == NULL) return EXIT_USAGE;
    cli_print_verb_help(verb);
    return EXIT_DONE;
}

int cli_verb_version(const Options *options) {
    (void)options;
    printf("cotan %s\n", cotan_version());
    return EXIT_DONE;
}
