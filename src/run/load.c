/* Loads compiled code, and calls it on a stack of its own. */
#include <dlfcn.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/times.h"
#include "run/internal.h"
#include "run/outside.h"

/* ---- making ---- */

static uint64_t hash(const char *bytes, size_t length, uint64_t seed) {
    uint64_t h = seed;
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)bytes[i]) * 0x100000001B3u;
    return h ^ h >> 29;
}

/* Everything that the library depends on: its C, Cotan's version, the compiler, its flags and CBLAS, the processor. */
static CtText key_of(CtArena *arena, const CtCompiler *compiler, const char *c, size_t length) {
    CtText key = ct_text(arena);
    ct_text_printf(&key, "cotan %s\n%s %s\n", CT_VERSION, compiler->path, compiler->identity);
    char processor[64];
    ct_run_compiler_processor(processor);
    ct_text_printf(&key, "%s\n", processor);
    const char *word = compiler->words;
    for (int i = 0; i < compiler->word_count; i++) {
        while (*word == '\0') word++;
        ct_text_printf(&key, "%s ", word);
        word += strlen(word);
    }
    for (int i = 0; compiler->flags[i] != NULL; i++) ct_text_printf(&key, "%s ", compiler->flags[i]);
    ct_text_printf(&key, "%s\n", compiler->blas);
    ct_text_add(&key, c, length);
    return key;
}

/* The place of a library in the cache, or in a folder that is removed when the library has been loaded. */
typedef struct Place {
    int folder; /* −1: none */
    char *path;
    char name[64];
    bool kept;
} Place;

struct CtCompiling {
    Place place;
    pid_t child; /* 0: it has ended */
    char source[128], target[128];
    size_t key_length;
    char key[];
};

/* Writes the C into the folder and starts the compiler. */
static bool start(CtCompiling *work, const CtCompiler *compiler, bool background, const char *c, size_t length,
                  char reason[200]) {
    static _Atomic uint32_t counter;
    const char *mode = getenv("COTAN_NATIVE");
    if (mode != NULL && strcmp(mode, "load") == 0)
        return snprintf(reason, 200, "COTAN_NATIVE=load, and the program is not in the cache"), false;
    const Place *place = &work->place;
    uint32_t number = counter++;
    snprintf(work->source, sizeof work->source, "%s.%ld.%u.c", place->name, (long)getpid(), number);
    snprintf(work->target, sizeof work->target, "%s.%ld.%u.tmp", place->name, (long)getpid(), number);
    snprintf(reason, 200, "the cache in %.120s cannot be written", place->path);
    if (!ct_run_cache_write(place->folder, work->source, c, length)) return false;
    work->child = ct_run_compiler_start(compiler, background, place->path, work->source, work->target, reason);
    return work->child != 0;
}

static int private_folder(char **path) {
    char name[1024];
    const char *place = getenv("TMPDIR");
    if (place == NULL || place[0] != '/' || strlen(place) > sizeof name - 20) place = "/tmp";
    snprintf(name, sizeof name, "%s/cotan.XXXXXX", place);
    if (mkdtemp(name) == NULL) return -1;
    int folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    *path = folder < 0 ? NULL : strdup(name);
    if (*path != NULL) return folder;
    if (folder >= 0) close(folder);
    rmdir(name);
    return -1;
}

static bool open_place(Place *place, char reason[200]) {
    place->folder = ct_run_cache_open(&place->path);
    place->kept = place->folder >= 0;
    if (!place->kept) place->folder = private_folder(&place->path);
    if (place->folder < 0) snprintf(reason, 200, "there is no folder for what is compiled");
    return place->folder >= 0;
}

static void close_place(const Place *place) {
    if (place->folder < 0) return;
    char file[128];
    if (!place->kept) {
        snprintf(file, sizeof file, "%s.so", place->name);
        unlinkat(place->folder, file, 0);
        snprintf(file, sizeof file, "%s.key", place->name);
        unlinkat(place->folder, file, 0);
        rmdir(place->path);
    }
    close(place->folder);
    free(place->path);
}

/* Opens the library through the opened and checked folder, if the system allows that. */
static bool open_library(CtNative *native, const Place *place, char reason[200]) {
    char file[4400];
    snprintf(file, sizeof file, "/proc/self/fd/%d/%s.so", place->folder, place->name);
    if (access(file, R_OK) != 0) snprintf(file, sizeof file, "%.4000s/%s.so", place->path, place->name);
    if (native->library != NULL) dlclose(native->library);
    native->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    const int64_t *words = native->library != NULL ? dlsym(native->library, "cotan_constant_words") : NULL;
    void *entry = native->library != NULL ? dlsym(native->library, "cotan_entry") : NULL;
    const ct_outside *outside = native->library != NULL ? dlsym(native->library, "cotan_outside") : NULL;
    if (words == NULL || entry == NULL || outside == NULL || !ct_run_outside_link(outside))
        return snprintf(reason, 200, "what the compiler made cannot be loaded"), false;
    memcpy(&native->entry, &entry, sizeof entry);
    ct_run *rt = &native->outer.run;
    native->constant_words = rt->constant_words = *words;
    native->counts_blocks = dlsym(native->library, "cotan_counts_blocks") != NULL;
    rt->constants = rt->all_constants = calloc((size_t)*words + 1, sizeof(ct_word));
    return rt->constants != NULL;
}

bool ct_run_native_required(void) {
    const char *mode = getenv("COTAN_NATIVE");
    return mode != NULL && strcmp(mode, "require") == 0;
}

/* Ends the compiler, if it is at work, and removes what it has not brought to an end. */
static void end_compiling(CtNative *native) {
    CtCompiling *work = native->compiling;
    if (work == NULL) return;
    if (work->child != 0) ct_run_compiler_stop(work->child);
    if (work->source[0] != '\0') unlinkat(work->place.folder, work->source, 0);
    if (work->target[0] != '\0') unlinkat(work->place.folder, work->target, 0);
    close_place(&work->place);
    free(work);
    native->compiling = NULL;
}

CtNativeState ct_run_native_state(CtNative *native, bool wait, char reason[200]) {
    CtCompiling *work = native->compiling;
    if (work == NULL) return NATIVE_READY;
    CtNativeState state = ct_run_compiler_state(work->child, wait, reason);
    if (state == NATIVE_COMPILING) return state;
    const Place *place = &work->place;
    work->child = 0;
    bool sound = state == NATIVE_READY;
    if (sound) snprintf(reason, 200, "the cache in %.120s cannot be written", place->path);
    sound = sound && ct_run_cache_keep(place->folder, work->target, place->name, work->key, work->key_length) &&
            open_library(native, place, reason);
    end_compiling(native);
    return sound ? NATIVE_READY : NATIVE_REFUSED;
}

/* Loads the library, or begins to compile it if it is not in the cache, or another process has removed it from there in
 * the meantime. */
static bool begin(CtNative *native, const CtCompiler *compiler, const CtText *key, bool background, const char *c,
                  size_t length, char reason[200]) {
    CtCompiling *work = malloc(sizeof *work + key->length);
    if (work == NULL) return false;
    *work = (CtCompiling){.place = {.folder = -1}, .key_length = key->length};
    memcpy(work->key, key->data, key->length);
    native->compiling = work;
    Place *place = &work->place;
    snprintf(place->name, sizeof place->name, "%016llx%016llx",
             (unsigned long long)hash(key->data, key->length, 0xCBF29CE484222325u),
             (unsigned long long)hash(key->data, key->length, 0x9E3779B97F4A7C15u));
    if (!open_place(place, reason)) return false;
    if (ct_run_cache_has(place->folder, place->name, key->data, key->length) && open_library(native, place, reason)) {
        end_compiling(native);
        return true;
    }
    return start(work, compiler, background, c, length, reason) &&
           ct_run_native_state(native, !background, reason) != NATIVE_REFUSED;
}

static CtNative *interpreted(CtFlow *flow) {
    CtNative *native = calloc(1, sizeof *native);
    if (native == NULL) return NULL;
    native->flow = flow;
    native->interprets = true;
    ct_run_clear(&native->outer.run);
    return native;
}

CtNative *ct_run_native_new(CtFlow *flow, const char *c, size_t length, CtCompileOptions options, char reason[200]) {
    CtCompiler compiler;
    const char *mode = getenv("COTAN_NATIVE");
    snprintf(reason, 200, "there is no memory");
    if (mode != NULL && strcmp(mode, "off") == 0) return snprintf(reason, 200, "COTAN_NATIVE=off"), NULL;
    if (mode != NULL && strcmp(mode, "interpret") == 0) return interpreted(flow);
    if (!ct_run_compiler_find(&compiler, options.exact, reason)) return NULL;
    CtText key = key_of(flow->arena, &compiler, c, length);
    CtNative *native = calloc(1, sizeof *native);
    if (native == NULL) return NULL;
    native->flow = flow;
    for (uint32_t i = 0; i < flow->functions.count; i++) native->recurses |= flow->functions.items[i]->recurses;
    ct_run_clear(&native->outer.run);
    if (begin(native, &compiler, &key, options.background, c, length, reason)) return native;
    ct_run_native_free(native);
    return NULL;
}

static void call_pool(void *pool, void (*work)(void *data, uint32_t who), void *data) { ct_pool_run(pool, work, data); }

bool ct_run_native_share(CtNative *native, CtPool *pool) {
    ct_crew_new(&native->outer.run, (int)ct_pool_size(pool));
    ct_crew *crew = native->outer.run.crew;
    if (crew == NULL) return false;
    crew->call = call_pool;
    crew->pool = pool;
    return true;
}

void ct_run_native_free(CtNative *native) {
    if (native == NULL) return;
    end_compiling(native);
    ct_crew_free(&native->outer.run);
    ct_run_clear(&native->outer.run);
    free(native->outer.run.constants);
    free(native->outer.run.long_text);
    ct_flow_interpreter_free(native->interpreter);
    if (native->library != NULL) dlclose(native->library);
    free(native);
}

/* ---- calling ---- */

static void release_results(CtNative *native, const ct_word *words) {
    const CtFlowTypes *types = &native->flow->entry->results;
    for (uint32_t i = 0; i < types->count; i++)
        if (ct_flow_is_object(types->items[i])) ct_drop(&native->outer.run, words[i].p);
}

static void release_constants(CtNative *native, ct_run *holder) {
    for (uint32_t i = 0; i < native->flow->constants.count; i++) {
        const CtFlowConstant *constant = native->flow->constants.items[i];
        const CtFlowTypes *types = &constant->function->results;
        ct_word *at = holder->all_constants + constant->word;
        if (at[0].i != 2) continue;
        at[0].i = 0;
        for (uint32_t j = 0; j < types->count; j++)
            if (ct_flow_is_object(types->items[j])) ct_drop(&native->outer.run, at[1 + j].p);
    }
}

/* The blocks of memory that nobody will give back. Constants are freed to find this out: the next call evaluates them
 * again. */
static int64_t blocks_left(CtNative *native) {
    ct_run *rt = &native->outer.run;
    int members = rt->crew != NULL ? rt->crew->count : 0;
    int64_t blocks = 0;
    release_constants(native, rt);
    for (int i = 0; i < members; i++) release_constants(native, &rt->crew->members[i]);
    for (int i = 0; i < members; i++) blocks += rt->crew->members[i].blocks;
    return blocks + rt->blocks;
}

static void work(CtNative *native) {
    ct_word in[CT_FLOW_WIDE], out[CT_FLOW_WIDE];
    ct_run *rt = &native->outer.run;
    if (setjmp(rt->out) != 0) return;
    if (native->input != NULL)
        ct_run_to_native(rt, native->flow, native->input, ct_flow_input(native->flow, native->input), native->value,
                         in);
    double begun = ct_times_now();
    native->entry(rt, in, out);
    native->seconds = ct_times_now() - begun;
    const CtType *as = ct_flow_output(native->flow, native->type);
    if (!ct_run_from_native(native->heap, native->flow, native->type, as, out, native->result)) ct_fail_memory(rt);
    release_results(native, out);
    if (CT_PLAIN && native->constant_words == 0 && rt->bytes != 0) /* a reference count is wrong; detected by tests */
        ct_fail(rt, 0, 901, "%zu bytes are left of the run", rt->bytes);
    int64_t blocks = native->counts_blocks ? blocks_left(native) : 0;
    if (blocks != 0) ct_fail(rt, 0, 901, "%lld blocks of memory are left of the run", (long long)blocks);
    if (native->constant_words == 0) ct_rewind(rt);
    native->done = true;
}

enum { STACK_RED_ZONE = 256 * 1024 };

/* Above all frames, to interrupt a run. */
static char *interrupted(void) { return (char *)UINTPTR_MAX; } // NOLINT

void ct_run_native_stack(CtNative *native, char *end) {
    ct_run *rt = &native->outer.run;
    rt->stack_end = end;
    atomic_thread_fence(memory_order_seq_cst); /* an interrupt before this has set `interrupt` */
    if (rt->interrupt) rt->stack_end = interrupted();
}

static void *on_stack(void *data) {
    CtNative *native = data;
    uselocale(native->locale);
    native->work(native);
    uselocale(LC_GLOBAL_LOCALE);
    return NULL;
}

/* A stack as large as the limit: untouched pages take no memory. */
bool ct_run_native_on_stack(CtNative *native, size_t size) {
    const size_t least = (size_t)1 << 20;
    void *stack = MAP_FAILED;
    size = size < least ? least : size / 65536 * 65536;
    while (stack == MAP_FAILED && size >= least) {
        stack =
            mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (stack == MAP_FAILED) size /= 2;
    }
    if (stack == MAP_FAILED) return false;
    pthread_attr_t attributes;
    pthread_t thread;
    ct_run_native_stack(native, (char *)stack + STACK_RED_ZONE);
    pthread_attr_init(&attributes);
    bool started = pthread_attr_setstack(&attributes, stack, size) == 0 &&
                   pthread_create(&thread, &attributes, on_stack, native) == 0;
    pthread_attr_destroy(&attributes);
    if (started) pthread_join(thread, NULL);
    munmap(stack, size);
    return started;
}

void ct_run_native_failed(CtNative *native, CtNativeError *error) {
    ct_run *rt = &native->outer.run;
    char name[16];
    snprintf(name, sizeof name, "E%04d", rt->code);
    error->code = CT_E0901;
    for (int i = 1; i < CT_ERROR_COUNT; i++)
        if (strcmp(ct_error_name((CtErrorCode)i), name) == 0) error->code = (CtErrorCode)i;
    error->message = rt->message;
    error->range = rt->site > 0 && (uint32_t)rt->site < native->flow->sites.count ? native->flow->sites.items[rt->site]
                                                                                  : CT_NO_RANGE;
    ct_export_drop(&native->outer, native->constant_words);
}

bool ct_run_native_call(CtNative *native, CtHeap *heap, size_t limit, const CtType *input, CtWord value,
                        const CtType *type, CtWord *result, CtNativeError *error) {
    native->heap = heap;
    native->input = input;
    native->value = value;
    native->type = type;
    native->result = result;
    native->done = false;
    native->work = native->interprets ? ct_run_interpret : work;
    native->locale = uselocale((locale_t)0);
    ct_export_forget(&native->outer);
    ct_set_limit(&native->outer.run, limit);
    native->outer.run.alone = false;
    native->outer.run.code = 801;
    native->outer.run.site = native->outer.run.here = 0;
    native->outer.run.message = (char *)"there is no memory for a stack";
    double begun = ct_times_now();
    ct_run_native_on_stack(native, limit > 0 ? limit : (size_t)1 << 32);
    if (native->interprets) native->seconds = ct_times_now() - begun;
    if (native->done) return true;
    ct_run_native_failed(native, error);
    if (native->failure.message != NULL) *error = native->failure;
    return false;
}

double ct_run_native_seconds(const CtNative *native) { return native->seconds; }

void ct_run_native_effects(CtNative *native, struct ct_effects *effects) { native->outer.run.effects = effects; }

void ct_run_native_clear_interrupt(CtNative *native) { native->outer.run.interrupt = 0; }

void ct_run_native_interrupt(CtNative *native) {
    ct_run *rt = &native->outer.run;
    for (int i = -1; i < (rt->crew != NULL ? rt->crew->count : 0); i++) {
        ct_run *each = i < 0 ? rt : &rt->crew->members[i];
        each->interrupt = 1;
        atomic_thread_fence(memory_order_seq_cst);
        each->stack_end = interrupted();
    }
}
