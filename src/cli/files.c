/* Atomic writing of files: a temporary file is written and renamed, so that no file is ever incomplete. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static char *write_beside(const Options *options, const char *path, const char *bytes, size_t length) {
    size_t size = strlen(path) + 16;
    if (cli_is_folder(path)) return cli_refuse(options, "E0704", "%s cannot be written: it is a folder", path), NULL;
    char *name = malloc(size);
    if (name == NULL) return cli_refuse(options, "E0801", "there is no memory"), NULL;
    snprintf(name, size, "%s.XXXXXX", path);
    int descriptor = mkstemp(name);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    bool written = file != NULL && fwrite(bytes, 1, length, file) == length;
    if (file != NULL) written = fclose(file) == 0 && written;
    if (written) return name;
    cli_refuse(options, "E0704", "%s cannot be written: %s", path, strerror(errno));
    if (descriptor >= 0) unlink(name);
    free(name);
    return NULL;
}

bool cli_put_in_place(const char *name, const char *path) {
    mode_t mask = umask(0);
    umask(mask);
    struct stat old;
    bool there = stat(path, &old) == 0;
    chmod(name, there ? old.st_mode & 07777 : 0666 & ~mask);
    return rename(name, path) == 0;
}

char *cli_write_beside(const Options *options, const char *path, const char *text) {
    return write_beside(options, path, text, strlen(text));
}

int cli_write_bytes(const Options *options, const char *path, const void *bytes, size_t length) {
    char *name = write_beside(options, path, bytes, length);
    if (name == NULL) return EXIT_USAGE;
    int status = EXIT_DONE;
    if (!cli_put_in_place(name, path)) {
        status = cli_refuse(options, "E0704", "%s cannot be written: %s", path, strerror(errno));
        unlink(name);
    }
    free(name);
    return status;
}

int cli_write_file(const Options *options, const char *path, const char *text) {
    return cli_write_bytes(options, path, text, strlen(text));
}

bool cli_is_folder(const char *path) {
    struct stat there;
    return stat(path, &there) == 0 && S_ISDIR(there.st_mode);
}
