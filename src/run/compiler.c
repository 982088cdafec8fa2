/* The system's C compiler. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "run/internal.h"

extern char **environ;

/* Only loops are optimised, by vectorisation, so that compilation is fast. No flag changes the meaning of
 * arithmetic. */
#if defined(__x86_64__)
#define PROCESSOR_FLAGS "-march=native", "-mprefer-vector-width=512",
#else
#define PROCESSOR_FLAGS
#endif
#if CT_PLAIN
#define MEMORY_FLAGS "-DCT_PLAIN=1", /* objects are allocated and freed by both sides, in one way */
#else
#define MEMORY_FLAGS
#endif
#define COMMON_FLAGS                                                                                                   \
    PROCESSOR_FLAGS MEMORY_FLAGS "-std=c11", "-O1", "-fPIC", "-shared", "-w", "-ffp-contract=off", "-fno-math-errno",  \
        "-fno-trapping-math"
/* For x86 processors that are not by AMD. Functions of libm that are compiled for SSE, exp among them, take 20 times as
 * long on an Intel Xeon while the upper halves of vector registers are in use; gcc inserts vzeroupper with this flag
 * alone, for which it takes a tenth more time. And there arrays are stored past the cache from half the size on. */
#define INTEL_FLAGS "-fexpensive-optimizations", "-DCT_NEAR_CACHE=1"
enum { INTEL_COUNT = 2 };
static const char *const gcc_flags[] = {
    INTEL_FLAGS, /* comes first */
    COMMON_FLAGS,
    "-ftree-vectorize",
    "-fvect-cost-model=dynamic",
    "--param=vect-epilogues-nomask=0",    /* vectorising the remainder of a loop does not pay */
    "--param=max-inline-insns-single=20", /* inlining larger functions costs more time than it gains */
    "-fno-tree-dominator-opts",           /* costs compile time, and the lanes' code runs no faster */
    "-fno-builtin-cos",                   /* else sin x and cos x become one call, which has no vector version */
    NULL,
};
#if defined(__x86_64__) && defined(__GLIBC__)
#define VECTOR_MATH "-fveclib=libmvec"
#else
#define VECTOR_MATH "-fveclib=none"
#endif
static const char *const clang_flags[] = {
    VECTOR_MATH, /* comes first: not for exact mathematics. gcc uses rt/vector.h */
    COMMON_FLAGS, "-fvectorize", "-fslp-vectorize", NULL,
};
enum { FLAG_ROOM = 24, WORD_ROOM = 32 };

/* By the name of the file that the command resolves to: `cc` may be either compiler. */
static bool is_clang(const char *path) {
    char *file = realpath(path, NULL);
    if (file == NULL) return false;
    const char *slash = strrchr(file, '/');
    bool clang = strstr(slash != NULL ? slash : file, "clang") != NULL;
    free(file);
    return clang;
}

static bool is_program(const char *path, struct stat *info) {
    return stat(path, info) == 0 && S_ISREG(info->st_mode) && access(path, X_OK) == 0;
}

static bool find_in_path(const char *name, char *path, size_t size, struct stat *info) {
    if (strchr(name, '/') != NULL) {
        snprintf(path, size, "%s", name);
        return is_program(path, info);
    }
    const char *folders = getenv("PATH");
    while (folders != NULL && *folders != '\0') {
        size_t length = strcspn(folders, ":");
        if (length > 0 && (size_t)snprintf(path, size, "%.*s/%s", (int)length, folders, name) < size &&
            is_program(path, info))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

/* COTAN_BLAS names the library without `lib`: openblas, say. */
static bool find_blas(CtCompiler *compiler, bool exact, char reason[200]) {
    const char *name = getenv("COTAN_BLAS");
    compiler->blas[0] = '\0';
    if (exact || name == NULL || *name == '\0') return true;
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.");
    if (name[length] != '\0' || length > 40) return snprintf(reason, 200, "COTAN_BLAS is no name of a library"), false;
    snprintf(compiler->blas, sizeof compiler->blas, "-l%s", name);
    return true;
}

static const char *next_word(const char *words) {
    while (*words == '\0') words++;
    return words;
}

/* In `ccache clang -m64` the compiler is the last program in front of the options: its path, and what is known of its
 * file. */
static void behind_launchers(const CtCompiler *compiler, char *path, size_t size, struct stat *info) {
    snprintf(path, size, "%s", compiler->path);
    const char *word = next_word(compiler->words);
    for (int i = 1; i < compiler->word_count; i++) {
        word = next_word(word + strlen(word));
        if (*word == '-') return;
        char other[sizeof compiler->path];
        struct stat found;
        if (!find_in_path(word, other, sizeof other, &found)) continue;
        snprintf(path, size, "%s", other);
        *info = found;
    }
}

static bool is_like_intel(void) {
#if defined(__x86_64__)
    unsigned a = 0, vendor = 0, c = 0, d = 0;
    return __get_cpuid(0, &a, &vendor, &c, &d) && vendor != signature_AMD_ebx;
#else
    return false;
#endif
}

bool ct_run_compiler_find(CtCompiler *compiler, bool exact, char reason[200]) {
    const char *cc = getenv("CC");
    if (cc == NULL || *cc == '\0') cc = "cc";
    if (strlen(cc) >= sizeof compiler->words) return snprintf(reason, 200, "CC is too long"), false;
    strcpy(compiler->words, cc);
    compiler->word_count = 0;
    for (char *c = compiler->words; *c != '\0'; c++) {
        if (*c == ' ' || *c == '\t')
            *c = '\0';
        else if (c == compiler->words || c[-1] == '\0')
            compiler->word_count++;
    }
    const char *first = compiler->word_count > 0 ? next_word(compiler->words) : "";
    struct stat info;
    if (compiler->word_count == 0 || compiler->word_count > WORD_ROOM ||
        !find_in_path(first, compiler->path, sizeof compiler->path, &info)) {
        snprintf(reason, 200, "there is no C compiler `%.100s`", first);
        return false;
    }
    char real[sizeof compiler->path];
    behind_launchers(compiler, real, sizeof real, &info);
    compiler->flags = is_clang(real) ? clang_flags + exact : gcc_flags + (is_like_intel() ? 0 : INTEL_COUNT);
    if (!find_blas(compiler, exact, reason)) return false;
    snprintf(compiler->identity, sizeof compiler->identity, "%llu %llu %lld.%09ld", (unsigned long long)info.st_ino,
             (unsigned long long)info.st_size, (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    return true;
}

void ct_run_compiler_processor(char text[64]) {
    unsigned a = 0, b = 0, c = 0, d = 0, model = 0;
#if defined(__x86_64__)
    if (__get_cpuid(1, &model, &b, &c, &d)) a = c;
    if (!__get_cpuid_count(7, 0, &d, &b, &c, &d)) b = c = d = 0;
#endif
    snprintf(text, 64, "%x %x %x %x %x", model, a, b, c, d);
}

pid_t ct_run_compiler_start(const CtCompiler *compiler, bool background, const char *folder, const char *source,
                            const char *target, char reason[200]) {
    char from[4400], to[4400];
    char *words[WORD_ROOM + FLAG_ROOM + 8];
    int count = 0;
    if ((size_t)snprintf(from, sizeof from, "%s/%s", folder, source) >= sizeof from ||
        (size_t)snprintf(to, sizeof to, "%s/%s", folder, target) >= sizeof to)
        return snprintf(reason, 200, "the cache's name is too long"), 0;
    const char *word = compiler->words;
    for (int i = 0; i < compiler->word_count; i++) {
        word = next_word(word);
        words[count++] = i == 0 ? (char *)compiler->path : (char *)word;
        word += strlen(word);
    }
    for (int i = 0; compiler->flags[i] != NULL; i++) words[count++] = (char *)compiler->flags[i];
    words[count++] = "-o";
    words[count++] = to;
    words[count++] = from;
    if (compiler->blas[0] != '\0') {
        words[count++] = "-DCT_CBLAS";
        words[count++] = (char *)compiler->blas;
    }
    words[count++] = "-lm";
    words[count] = NULL;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (getenv("COTAN_NATIVE_VERBOSE") == NULL) posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    if (background) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t child;
    int failed = posix_spawn(&child, compiler->path, &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return snprintf(reason, 200, "the C compiler cannot be started: %s", strerror(failed)), 0;
    return child;
}

CtNativeState ct_run_compiler_state(pid_t child, bool wait, char reason[200]) {
    int status;
    pid_t ended;
    do ended = waitpid(child, &status, wait ? 0 : WNOHANG);
    while (ended < 0 && errno == EINTR);
    if (ended == 0) return NATIVE_COMPILING;
    int code = ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 0) return NATIVE_READY;
    return snprintf(reason, 200, "the C compiler failed with status %d", code), NATIVE_REFUSED;
}

/* The signal goes to the programs that the compiler has started, too. */
void ct_run_compiler_stop(pid_t child) {
    char reason[200];
    kill(-child, SIGTERM);
    ct_run_compiler_state(child, true, reason);
}
