/* cotan compile: writes STEM.c and STEM.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/verbs.h"

/* A temporary file beside the one that it will be, so that this is whole or as it was. Its name; NULL after saying why
 * not. */
static char *write_beside(const Options *options, const char *path, const char *text) {
    size_t size = strlen(path) + 16;
    struct stat there;
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode))
        return refuse(options, "E0704", "%s cannot be written: it is a folder", path), NULL;
    char *name = malloc(size);
    if (name == NULL) return refuse(options, "E0801", "there is no memory"), NULL;
    snprintf(name, size, "%s.XXXXXX", path);
    int descriptor = mkstemp(name);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    bool written = file != NULL && fputs(text, file) >= 0;
    if (file != NULL) written = fclose(file) == 0 && written;
    if (written) return name;
    refuse(options, "E0704", "%s cannot be written: %s", path, strerror(errno));
    if (descriptor >= 0) unlink(name);
    free(name);
    return NULL;
}

/* A file that stands there keeps its rights; a new one has the usual ones. */
static bool put_in_place(const char *name, const char *path) {
    mode_t mask = umask(0);
    umask(mask);
    struct stat old;
    bool there = stat(path, &old) == 0;
    chmod(name, there ? old.st_mode & 07777 : 0666 & ~mask);
    return rename(name, path) == 0;
}

static int write_both(const Options *options, const char *source, const char *header) {
    char *paths[2], *names[2] = {NULL, NULL};
    const char *texts[2] = {source, header}, *endings[2] = {".c", ".h"};
    int status = EXIT_DONE;
    for (int i = 0; i < 2; i++) {
        size_t size = strlen(options->stem) + 3;
        paths[i] = malloc(size);
        if (paths[i] == NULL) status = refuse(options, "E0801", "there is no memory");
        if (paths[i] != NULL) snprintf(paths[i], size, "%s%s", options->stem, endings[i]);
        if (status == EXIT_DONE) names[i] = write_beside(options, paths[i], texts[i]);
        if (names[i] == NULL) status = EXIT_USAGE;
    }
    for (int i = 0; i < 2 && status == EXIT_DONE; i++)
        if (!put_in_place(names[i], paths[i]))
            status = refuse(options, "E0704", "%s cannot be written: %s", paths[i], strerror(errno));
    for (int i = 0; i < 2; i++) {
        if (names[i] != NULL && status != EXIT_DONE) unlink(names[i]);
        free(names[i]);
        free(paths[i]);
    }
    return status;
}

int verb_compile(const Options *options) {
    cotan_context *context;
    cotan_program *program;
    if (options->stem == NULL)
        return complain(options, "-o is missing: the files' name without .c and .h, such as -o %s", options->words[1]);
    const char *slash = strrchr(options->stem, '/'), *stem = slash != NULL ? slash + 1 : options->stem;
    if (*stem == '\0') return complain(options, "-o takes the files' name without .c and .h, not a folder");
    int status = load(options, &context, &program);
    if (status != EXIT_DONE) return status;
    cotan_call call = {.function = options->words[1], .method = options->method};
    unsigned derivatives = (options->grad ? COTAN_WITH_GRAD : 0u) | (options->vjp ? COTAN_WITH_VJP : 0u) |
                           (options->jvp ? COTAN_WITH_JVP : 0u);
    const char *source, *header;
    cotan_error *error = cotan_compile(program, &call, derivatives, stem, &source, &header);
    status = error != NULL ? report(options, error) : write_both(options, source, header);
    close_context(context);
    return status;
}
