/* Fuzzing the front half: any bytes as a program, through lexer, parser, fixities, names, types and warnings. Whatever
 * comes of it is printed, too.
 *
 * The library is small, and read once: then the arena's contents are kept, and put back before each program. For this
 * the target looks inside the arena.
 */
#include <stdlib.h>

#define CT_ARENA_WITHOUT_GAPS /* chunks are copied as a whole */
#include "../../src/base/arena.c"
#include "../c/small_library.h"
#include "types/types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char monads[] = "module Monads where\n"
                             "infixl 1 >>, >>=\n"
                             "class Monad m where\n"
                             "  (>>=) :: m a -> (a -> m b) -> m b\n"
                             "  (>>) :: m a -> m b -> m b\n"
                             "  return :: a -> m a\n"
                             "  fail :: String -> m a\n"
                             "  m >> k = m >>= \\_ -> k\n"
                             "  fail s = error s\n"
                             "instance Monad Maybe where\n"
                             "  Nothing >>= _ = Nothing\n"
                             "  Just x >>= f = f x\n"
                             "  return = Just\n";

static CtModule *infer(CtContext *c, CtTypes *t, CtFixities *f, const char *name, const char *text, size_t length,
                       bool library) {
    uint32_t source = ct_source_add(c, name, text, length, library);
    CtModule *module = ct_syntax_parse_module(c, source);
    if (module == NULL || c->error_count > 0) return NULL;
    CtText printed = ct_text(c->arena);
    for (uint32_t i = 0; !library && i < module->decls.count; i++)
        ct_syntax_print_decl(&printed, &module->decls.items[i]);
    ct_syntax_resolve_fixities(c, f, module);
    if (c->error_count == 0) ct_types_infer_module(t, module, library);
    return module;
}

/* ---- the library, once ---- */

typedef struct Kept {
    CtChunk *chunk;
    char *bytes; /* what it held */
} Kept;

static struct {
    CtArena arena;
    CtContext context;
    CtFixities fixities;
    Kept chunks[64];
    int chunk_count;
} kept;
static CtArena *arena;
static CtContext context;
static CtTypes *types;
static CtFixities fixities;

static void read_library(void) {
    arena = ct_arena_new((size_t)256 << 20);
    if (arena == NULL) abort();
    jmp_buf failed;
    if (setjmp(failed) != 0) abort();
    ct_arena_on_failure(arena, &failed);
    ct_context_init(&context, arena);
    types = ct_types_new(&context);
    infer(&context, types, &fixities, "library", small_library, sizeof small_library - 1, true);
    infer(&context, types, &fixities, "monads", monads, sizeof monads - 1, true);
    if (context.error_count > 0) abort(); /* the library itself must be sound */
    kept.arena = *arena;
    kept.context = context;
    kept.fixities = fixities;
    for (CtChunk *chunk = arena->chunks; chunk != NULL; chunk = chunk->next) {
        Kept *k = &kept.chunks[kept.chunk_count++];
        k->chunk = chunk;
        k->bytes = malloc(chunk->size + ALIGNMENT);
        if (k->bytes == NULL || kept.chunk_count == 64) abort();
        memcpy(k->bytes, chunk + 1, chunk->size + ALIGNMENT);
    }
}

static void put_back(void) {
    while (arena->chunks != kept.arena.chunks) {
        CtChunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        free(chunk);
    }
    *arena = kept.arena;
    context = kept.context;
    fixities = kept.fixities;
    if (context.diags == NULL) context.last_diag = &context.diags;
    for (int i = 0; i < kept.chunk_count; i++)
        memcpy(kept.chunks[i].chunk + 1, kept.chunks[i].bytes, kept.chunks[i].chunk->size + ALIGNMENT);
}

/* ---- a program ---- */

static void run(const char *text, size_t length) {
    CtModule *module = infer(&context, types, &fixities, "program", text, length, false);
    CtText out = ct_text(arena);
    for (const CtDiag *diag = context.diags; diag != NULL; diag = diag->next) {
        ct_diag_render(&context, diag, true, &out);
        ct_diag_render_json(&context, diag, &out);
    }
    CtEntity **entities;
    uint32_t count =
        module != NULL && context.error_count == 0 ? ct_types_module_entities(types, module, &entities) : 0;
    for (uint32_t i = 0; i < count; i++) ct_types_scheme_print(&out, types, &entities[i]->scheme);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (arena == NULL) read_library();
    char *text = malloc(size + 1); /* of just its size, so that a read beyond it is seen */
    if (text == NULL) abort();
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    jmp_buf failed;
    if (setjmp(failed) == 0) {
        ct_arena_on_failure(arena, &failed);
        run(text, size);
    }
    put_back();
    free(text);
    return 0;
}
