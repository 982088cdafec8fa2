/* The cache of compiled programs: NAME.so, and NAME.key: what it was made of, and behind that its size and a hash of
 * it, since a file may be cut off, or damaged. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/internal.h"

enum { MOST_FILES = 2000 };
static const uint64_t most_bytes = (uint64_t)256 << 20;

/* ---- the folder ---- */

static char *folder_name(void) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool given = cache != NULL && cache[0] == '/';
    if (!given && (home == NULL || home[0] != '/')) return NULL;
    size_t size = strlen(given ? cache : home) + 32;
    char *name = malloc(size);
    if (name != NULL) snprintf(name, size, given ? "%s/cotan" : "%s/.cache/cotan", given ? cache : home);
    return name;
}

static void make_folders(char *name) {
    for (char *c = name + 1; *c != '\0'; c++) {
        if (*c != '/') continue;
        *c = '\0';
        mkdir(name, 0700);
        *c = '/';
    }
    mkdir(name, 0700);
}

static int open_folder(char **path, bool make) {
    *path = folder_name();
    if (*path == NULL) return -1;
    if (make) make_folders(*path);
    int folder = open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    struct stat info;
    if (folder >= 0 && fstat(folder, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & 077) == 0)
        return folder;
    if (folder >= 0) close(folder);
    free(*path);
    *path = NULL;
    return -1;
}

int ct_run_cache_open(char **path) { return open_folder(path, true); }

/* ---- looking up ---- */

static int open_file(int folder, const char *name, const char *ending, int flags) {
    char file[128];
    snprintf(file, sizeof file, "%s%s", name, ending);
    return openat(folder, file, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* Whether the next bytes of a file are these. */
static bool goes_on_with(int file, const char *bytes, size_t length) {
    char buffer[16384];
    while (length > 0) {
        ssize_t got = read(file, buffer, length < sizeof buffer ? length : sizeof buffer);
        if (got <= 0 || memcmp(buffer, bytes, (size_t)got) != 0) return false;
        bytes += got;
        length -= (size_t)got;
    }
    return true;
}

enum { DIGEST = 2 * 16 + 2 };

/* The size and a hash (FNV-1a) of a library of ours, as text; false where it is none. */
static bool digest(int folder, const char *library, char text[DIGEST + 1]) {
    int file = openat(folder, library, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat info;
    bool sound = file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid();
    uint64_t size = 0, hash = 0xCBF29CE484222325u;
    unsigned char buffer[16384];
    for (ssize_t got = 1; sound && got > 0;) {
        got = read(file, buffer, sizeof buffer);
        sound = got >= 0;
        for (ssize_t i = 0; i < got; i++) hash = (hash ^ buffer[i]) * 0x100000001B3u;
        size += sound ? (uint64_t)got : 0;
    }
    if (file >= 0) close(file);
    snprintf(text, DIGEST + 1, "%016llx %016llx\n", (unsigned long long)size, (unsigned long long)hash);
    return sound;
}

bool ct_run_cache_has(int folder, const char *name, const char *key, size_t length) {
    char library[128], text[DIGEST + 1];
    struct stat info;
    int file = open_file(folder, name, ".key", O_RDONLY);
    if (file < 0) return false;
    snprintf(library, sizeof library, "%s.so", name);
    bool same = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && (size_t)info.st_size == length + DIGEST &&
                goes_on_with(file, key, length) && digest(folder, library, text) && goes_on_with(file, text, DIGEST);
    close(file);
    if (same) utimensat(folder, library, NULL, 0); /* used now */
    return same;
}

/* ---- keeping ---- */

bool ct_run_cache_write(int folder, const char *name, const char *bytes, size_t length) {
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return false;
    bool sound = true;
    while (length > 0 && sound) {
        ssize_t put = write(file, bytes, length);
        if (put < 0 && errno == EINTR) continue;
        sound = put > 0;
        if (sound) bytes += put, length -= (size_t)put;
    }
    return close(file) == 0 && sound;
}

typedef struct Entry {
    char name[80];
    int64_t time;
    uint64_t bytes;
} Entry;

typedef struct Listing {
    Entry *items;
    size_t count, capacity;
    uint64_t bytes;
} Listing;

static bool is_ours(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot != NULL && strlen(name) < sizeof((Entry){0}.name) &&
           (strcmp(dot, ".so") == 0 || strcmp(dot, ".key") == 0 || strcmp(dot, ".c") == 0 || strcmp(dot, ".tmp") == 0);
}

static Listing list(int folder) {
    Listing all = {NULL, 0, 0, 0};
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again >= 0 ? fdopendir(again) : NULL;
    if (entries == NULL && again >= 0) close(again);
    for (struct dirent *d; entries != NULL && (d = readdir(entries)) != NULL;) {
        struct stat info;
        if (!is_ours(d->d_name) || fstatat(folder, d->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        if (all.count == all.capacity) {
            Entry *more = realloc(all.items, (2 * all.capacity + 64) * sizeof *more);
            if (more == NULL) break;
            all.items = more;
            all.capacity = 2 * all.capacity + 64;
        }
        Entry *entry = &all.items[all.count++];
        snprintf(entry->name, sizeof entry->name, "%s", d->d_name);
        entry->time = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
        entry->bytes = (uint64_t)info.st_size;
        all.bytes += entry->bytes;
    }
    if (entries != NULL) closedir(entries);
    return all;
}

static int by_time(const void *a, const void *b) {
    int64_t x = ((const Entry *)a)->time, y = ((const Entry *)b)->time;
    return (x > y) - (x < y);
}

/* The oldest go until three quarters are left. */
static void bound(int folder) {
    Listing all = list(folder);
    size_t count = all.count;
    uint64_t bytes = all.bytes;
    if (count > MOST_FILES || bytes > most_bytes) {
        qsort(all.items, all.count, sizeof *all.items, by_time);
        for (size_t i = 0; i < all.count && (count > MOST_FILES / 4 * 3 || bytes > most_bytes / 4 * 3); i++) {
            unlinkat(folder, all.items[i].name, 0);
            count--;
            bytes -= all.items[i].bytes;
        }
    }
    free(all.items);
}

bool ct_run_cache_keep(int folder, const char *temporary, const char *name, const char *key, size_t length) {
    char library[128], key_file[128], key_temporary[128];
    snprintf(library, sizeof library, "%s.so", name);
    snprintf(key_file, sizeof key_file, "%s.key", name);
    snprintf(key_temporary, sizeof key_temporary, "%s.k.tmp", temporary);
    char *text = malloc(length + DIGEST + 1);
    if (text != NULL) memcpy(text, key, length);
    bool sound = text != NULL && digest(folder, temporary, text + length) &&
                 ct_run_cache_write(folder, key_temporary, text, length + DIGEST) &&
                 renameat(folder, temporary, folder, library) == 0 &&
                 renameat(folder, key_temporary, folder, key_file) == 0;
    free(text);
    if (!sound) unlinkat(folder, key_temporary, 0);
    bound(folder);
    return sound;
}

/* ---- the command ---- */

CtCacheState ct_run_cache_state(void) {
    CtCacheState state = {NULL, 0, 0};
    int folder = open_folder(&state.folder, false);
    if (folder < 0) return state;
    Listing all = list(folder);
    state.files = all.count;
    state.bytes = all.bytes;
    free(all.items);
    close(folder);
    return state;
}

uint64_t ct_run_cache_clear(void) {
    char *path;
    int folder = open_folder(&path, false);
    if (folder < 0) return 0;
    Listing all = list(folder);
    uint64_t removed = 0;
    for (size_t i = 0; i < all.count; i++) removed += unlinkat(folder, all.items[i].name, 0) == 0;
    free(all.items);
    free(path);
    close(folder);
    return removed;
}
