/* Atomic writing of files: a temporary file is written and renamed, so that no file is ever incomplete. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* The file that a path leads to through symbolic links; the path itself where there is none. The caller frees it. */
static char *target_of(const char *path) {
    char *target = realpath(path, NULL);
    return target != NULL ? target : strdup(path);
}

static bool write_whole(int descriptor, const char *bytes, size_t length) {
    FILE *file = fdopen(descriptor, "wb");
    if (file == NULL) {
        close(descriptor);
        return false;
    }
    bool written = fwrite(bytes, 1, length, file) == length && fflush(file) == 0 && fsync(descriptor) == 0;
    return fclose(file) == 0 && written;
}

static char *write_beside(const Options *options, const char *path, const char *bytes, size_t length) {
    if (cli_is_folder(path)) return cli_refuse(options, "E0704", "%s cannot be written: it is a folder", path), NULL;
    char *target = target_of(path), *name = NULL;
    size_t size = target != NULL ? strlen(target) + 8 : 0;
    if (target != NULL) name = malloc(size);
    if (name != NULL) snprintf(name, size, "%s.XXXXXX", target);
    free(target);
    if (name == NULL) return cli_refuse(options, "E0801", "there is no memory"), NULL;
    int descriptor = mkstemp(name);
    if (descriptor >= 0 && write_whole(descriptor, bytes, length)) return name;
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
    char *target = target_of(path);
    chmod(name, there ? old.st_mode & 07777 : 0666 & ~mask);
    bool done = target != NULL && rename(name, target) == 0;
    int reason = errno;
    free(target);
    errno = reason;
    return done;
}

char *cli_write_beside(const Options *options, const char *path, const char *text) {
    return write_beside(options, path, text, strlen(text));
}

/* Whether a path leads to a device or a pipe, which is written to and not replaced. */
static bool is_device(const char *path) {
    struct stat there;
    return stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode);
}

static int write_device(const Options *options, const char *path, const void *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    bool written = file != NULL && fwrite(bytes, 1, length, file) == length;
    if (file != NULL) written = fclose(file) == 0 && written;
    return written ? EXIT_DONE : cli_refuse(options, "E0704", "%s cannot be written: %s", path, strerror(errno));
}

int cli_write_bytes(const Options *options, const char *path, const void *bytes, size_t length) {
    if (is_device(path)) return write_device(options, path, bytes, length);
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
