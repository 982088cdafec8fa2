/* cotan stub: the types of a program for Python's type checkers, a .pyi file. The package's classes for data types, and
 * how values of each type look in Python, are those of docs/python.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"

/* ---- names ---- */

static bool is_keyword(const char *name) {
    static const char *const keywords[] = {"and",    "as",     "assert", "async",    "await",   "break", "continue",
                                           "def",    "del",    "elif",   "except",   "finally", "for",   "from",
                                           "global", "is",     "lambda", "nonlocal", "not",     "or",    "pass",
                                           "raise",  "return", "try",    "while",    "with",    "yield", "class",
                                           "None",   "True",   "False",  "import",   "in",      "if",    "else"};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strcmp(keywords[i], name) == 0) return true;
    return false;
}

/* A name of Python's: primes become underscores, and keywords get one. The head of "Tree Double" is Tree. */
static void put_name(const char *name) {
    for (const char *c = name; *c != '\0' && *c != ' '; c++) putchar(*c == '\'' ? '_' : *c);
    if (is_keyword(name)) putchar('_');
}

/* ---- types ---- */

static bool is_number(const cotan_type *type) { return type->kind <= COTAN_KIND_BOOL; }

static bool is_maybe(const cotan_type *type) {
    return type->kind == COTAN_KIND_DATA && strncmp(type->name, "Maybe ", 6) == 0 && type->constructor_count == 2 &&
           type->constructors[1].count == 1 && strncmp(type->constructors[1].types[0]->name, "Maybe ", 6) != 0;
}

static void put_type(const cotan_type *type, bool given);

static void put_types(const char *open, const cotan_type *const *types, size_t count, bool given) {
    fputs(open, stdout);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) fputs(", ", stdout);
        put_type(types[i], given);
    }
    putchar(']');
}

/* An array, which may be anything that NumPy takes for one where it is an argument. */
static void put_array(const cotan_type *type, bool given) {
    static const char *const dtypes[] = {"numpy.float64", "numpy.float32", "numpy.int64", "numpy.bool_"};
    const cotan_type *element = type;
    while (element->kind == COTAN_KIND_ARRAY) element = element->parts[0];
    if (!is_number(element))
        put_types(given ? "Sequence[" : "list[", type->parts, 1, given);
    else if (given)
        fputs("ArrayLike", stdout);
    else
        printf("NDArray[%s]", dtypes[element->kind]);
}

static void put_data(const cotan_type *type, bool given) {
    if (is_maybe(type)) {
        put_type(type->constructors[1].types[0], given);
        fputs(" | None", stdout);
    } else {
        put_name(type->name);
    }
}

/* The annotation of a type, of an argument (`given`) or of a result. */
static void put_type(const cotan_type *type, bool given) {
    switch (type->kind) {
    case COTAN_KIND_DOUBLE:
    case COTAN_KIND_FLOAT: fputs("float", stdout); break;
    case COTAN_KIND_INT:
    case COTAN_KIND_INTEGER: fputs("int", stdout); break;
    case COTAN_KIND_BOOL: fputs("bool", stdout); break;
    case COTAN_KIND_CHAR:
    case COTAN_KIND_STRING: fputs("str", stdout); break;
    case COTAN_KIND_TUPLE:
        if (type->count == 0)
            fputs("tuple[()]", stdout);
        else
            put_types("tuple[", type->parts, type->count, given);
        break;
    case COTAN_KIND_LIST: put_types(given ? "Sequence[" : "list[", type->parts, 1, given); break;
    case COTAN_KIND_ARRAY: put_array(type, given); break;
    case COTAN_KIND_MAP: put_types(given ? "Mapping[" : "dict[", type->parts, 2, given); break;
    case COTAN_KIND_SET: put_types(given ? "Collection[" : "frozenset[", type->parts, 1, given); break;
    case COTAN_KIND_DATA: put_data(type, given); break;
    case COTAN_KIND_FUNCTION: fputs("Any", stdout); break;
    }
}

/* ---- classes ---- */

typedef struct Known { /* the data types that were met, in order */
    const cotan_type **types;
    size_t count, capacity;
    bool full; /* there is no memory */
} Known;

static size_t head_length(const char *name) { return strcspn(name, " "); }

static bool is_known(const Known *known, const cotan_type *type) {
    size_t length = head_length(type->name);
    for (size_t i = 0; i < known->count; i++) {
        const char *name = known->types[i]->name;
        if (known->types[i] == type || (head_length(name) == length && strncmp(name, type->name, length) == 0))
            return true;
    }
    return false;
}

static void meet(Known *known, const cotan_type *type);

static void meet_parts(Known *known, const cotan_type *type) {
    for (size_t i = 0; i < type->count; i++) meet(known, type->parts[i]);
    for (size_t i = 0; i < type->constructor_count; i++)
        for (size_t j = 0; j < type->constructors[i].count; j++) meet(known, type->constructors[i].types[j]);
}

static void meet(Known *known, const cotan_type *type) {
    bool is_class = type->kind == COTAN_KIND_DATA && !is_maybe(type);
    if (is_class && is_known(known, type)) return;
    if (is_class && known->count == known->capacity) {
        size_t capacity = 2 * known->capacity + 16;
        const cotan_type **types = realloc(known->types, capacity * sizeof *types);
        if (types == NULL) {
            known->full = true;
            return;
        }
        known->types = types;
        known->capacity = capacity;
    }
    if (is_class) known->types[known->count++] = type;
    meet_parts(known, type);
}

static void put_fields(const cotan_constructor *con) {
    for (size_t i = 0; i < con->count; i++) {
        fputs("    ", stdout);
        if (con->names != NULL)
            put_name(con->names[i]);
        else
            printf("_%zu", i + 1);
        fputs(": ", stdout);
        put_type(con->types[i], false);
        putchar('\n');
    }
    if (con->count == 0) puts("    pass");
}

static void put_constructor(const cotan_constructor *con, const char *base) {
    fputs("\n@dataclass\nclass ", stdout);
    put_name(con->name);
    if (base != NULL) {
        putchar('(');
        put_name(base);
        putchar(')');
    }
    puts(":");
    put_fields(con);
}

static bool is_enumeration(const cotan_type *type) {
    for (size_t i = 0; i < type->constructor_count; i++)
        if (type->constructors[i].count > 0) return false;
    return true;
}

static void put_class(const cotan_type *type) {
    size_t length = head_length(type->name);
    bool alone = type->constructor_count == 1 && strlen(type->constructors[0].name) == length &&
                 strncmp(type->constructors[0].name, type->name, length) == 0;
    if (alone && type->constructors[0].count > 0) {
        put_constructor(&type->constructors[0], NULL);
        return;
    }
    fputs("\nclass ", stdout);
    put_name(type->name);
    puts(is_enumeration(type) ? "(Enum):" : ":");
    for (size_t i = 0; i < type->constructor_count && is_enumeration(type); i++) {
        fputs("    ", stdout);
        put_name(type->constructors[i].name);
        printf(" = %zu\n", i + 1);
    }
    if (is_enumeration(type)) return;
    puts("    pass");
    for (size_t i = 0; i < type->constructor_count; i++) put_constructor(&type->constructors[i], type->name);
}

/* ---- functions ---- */

static bool has_types(const cotan_definition *d) { return d->result != NULL; }

static void put_function(const cotan_definition *d) {
    printf("\nclass _");
    put_name(d->name);
    printf("(cotan.Function):\n    def __call__(self");
    for (size_t i = 0; i < d->count; i++) {
        fputs(", ", stdout);
        if (d->parameters[i] != NULL)
            put_name(d->parameters[i]);
        else
            printf("arg%zu", i + 1);
        fputs(": ", stdout);
        put_type(d->types[i], true);
    }
    fputs(") -> ", stdout);
    put_type(d->result, false);
    puts(": ...");
}

/* The attributes of a model: functions, constants, classes and members of enumerations. */
static void put_model(const cotan_definition *all, size_t count, const Known *known) {
    /* A data type of the program may have the name. */
    cotan_type model = {.kind = COTAN_KIND_DATA, .name = "Model"};
    printf("\nclass %s(cotan.Model):\n", is_known(known, &model) ? "Model_" : "Model");
    for (size_t i = 0; i < count; i++) {
        if (!has_types(&all[i])) continue;
        fputs("    ", stdout);
        put_name(all[i].name);
        fputs(all[i].count > 0 ? ": _" : ": ", stdout);
        if (all[i].count > 0)
            put_name(all[i].name);
        else
            put_type(all[i].result, false);
        putchar('\n');
    }
    for (size_t i = 0; i < known->count; i++) {
        const cotan_type *type = known->types[i];
        for (size_t j = 0; j < type->constructor_count; j++) {
            const char *name = type->constructors[j].name;
            fputs("    ", stdout);
            put_name(name);
            fputs(is_enumeration(type) ? ": " : ": type[", stdout);
            put_name(is_enumeration(type) ? type->name : name);
            puts(is_enumeration(type) ? "" : "]");
        }
    }
    if (count == 0) puts("    pass");
}

static int put_stub(const char *file, const cotan_definition *all, size_t count) {
    Known known = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < all[i].count && has_types(&all[i]); j++) meet(&known, all[i].types[j]);
        if (has_types(&all[i])) meet(&known, all[i].result);
    }
    printf("# Types of %s, by `cotan stub`.\n", file);
    puts("from collections.abc import Collection, Mapping, Sequence\nfrom dataclasses import dataclass\nfrom enum "
         "import Enum\n"
         "from typing import Any\n\nimport cotan\nimport numpy\nfrom numpy.typing import ArrayLike, NDArray");
    for (size_t i = 0; i < known.count; i++) put_class(known.types[i]);
    for (size_t i = 0; i < count; i++)
        if (has_types(&all[i]) && all[i].count > 0) put_function(&all[i]);
    put_model(all, count, &known);
    free(known.types);
    return known.full ? EXIT_FAULT : EXIT_DONE;
}

int cli_verb_stub(const Options *options) {
    cotan_context *context;
    cotan_program *program;
    int status = cli_load(options, &context, &program);
    if (status != EXIT_DONE) return status;
    const cotan_definition *all;
    size_t count;
    cotan_error *error = cotan_definitions(program, &all, &count);
    status = error != NULL ? cli_report(options, error) : put_stub(options->words[0], all, count);
    cli_close_context(context);
    return status;
}
