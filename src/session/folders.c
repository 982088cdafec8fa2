/* Files of imported modules: looked up in the context's folders, and read once for each program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "session/session.h"

struct CtFile {
    char *module, *path, *text;
    size_t length;
    CtFile *next;
};

/* ---- folders ---- */

static bool add(cotan_context *context, void *data) {
    const char *folder = data;
    char *copy = strdup(folder);
    char **folders = realloc(context->folders, (context->folder_count + 1) * sizeof *folders);
    if (folders) context->folders = folders;
    if (!copy || !folders) {
        free(copy);
        ct_session_report_out_of_memory(context);
        return false;
    }
    context->folders[context->folder_count++] = copy;
    return true;
}

cotan_error *cotan_add_folder(cotan_context *context, const char *folder) {
    return ct_session_guarded(context, add, (void *)(uintptr_t)folder);
}

void ct_session_folders_free(cotan_context *context) {
    for (size_t i = 0; i < context->folder_count; i++) free(context->folders[i]);
    free(context->folders);
}

/* ---- reading ---- */

/* FOLDER/A/B.cot for the module A.B and the ending .cot; an empty folder is the current one. NULL when memory runs out.
 */
static char *path_of(const char *folder, const char *module, const char *ending) {
    size_t folder_length = strlen(folder), module_length = strlen(module);
    bool slash = folder_length > 0 && folder[folder_length - 1] != '/';
    char *path = malloc(folder_length + module_length + strlen(ending) + sizeof "/");
    if (!path) return NULL;
    memcpy(path, folder, folder_length);
    char *end = path + folder_length;
    if (slash) *end++ = '/';
    for (size_t i = 0; i < module_length; i++) *end++ = module[i] == '.' ? '/' : module[i];
    memcpy(end, ending, strlen(ending) + 1);
    return path;
}

/* The text of an open regular file; NULL with errno set. */
static char *read_all(FILE *stream, size_t *length) {
    struct stat status;
    if (fstat(fileno(stream), &status) != 0) return NULL;
    if (!S_ISREG(status.st_mode)) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
        return NULL;
    }
    size_t size = (size_t)status.st_size;
    char *text = malloc(size + 1);
    if (!text) {
        errno = ENOMEM;
        return NULL;
    }
    *length = fread(text, 1, size, stream);
    if (ferror(stream)) {
        free(text);
        return NULL;
    }
    text[*length] = '\0';
    return text;
}

/* FINDING_NONE when there is no such file; `tried` mentions one that cannot be read. */
static CtFinding read_file(CtFile *file, const char **tried) {
    FILE *stream = fopen(file->path, "rb");
    if (stream) file->text = read_all(stream, &file->length);
    int reason = errno;
    if (stream) fclose(stream);
    if (file->text) return FINDING_DONE;
    if (reason == ENOMEM) return FINDING_NO_MEMORY;
    if (reason != ENOENT && reason != ENOTDIR) *tried = strerror(reason);
    return FINDING_NONE;
}

static CtFinding look(const cotan_context *context, CtFile *file, const char **tried) {
    static const char *const endings[] = {".cot", ".hs", ".lhs"};
    enum { ENDINGS = sizeof endings / sizeof *endings };
    for (size_t i = 0; i < ENDINGS * context->folder_count && !*tried; i++) {
        free(file->path);
        file->path = path_of(context->folders[i / ENDINGS], file->module, endings[i % ENDINGS]);
        if (!file->path) return FINDING_NO_MEMORY;
        CtFinding finding = read_file(file, tried);
        if (finding != FINDING_NONE) return finding;
    }
    return FINDING_NONE;
}

static CtFile *known(const cotan_program *program, const char *module) {
    CtFile *file = program->files;
    while (file && strcmp(file->module, module) != 0) file = file->next;
    return file;
}

/* For messages: where the file was looked up. */
static const char *places(const cotan_context *context, CtArena *arena, const char *module) {
    CtText text = ct_text(arena);
    ct_text_puts(&text, "it would be ");
    for (const char *c = module; *c; c++) ct_text_putc(&text, *c == '.' ? '/' : *c);
    ct_text_puts(&text, context->folder_count > 1 ? ".cot in one of the folders" : ".cot in the folder");
    for (size_t i = 0; i < context->folder_count; i++)
        ct_text_printf(&text, "%s %s", i > 0 ? "," : "", context->folders[i][0] ? context->folders[i] : ".");
    return text.data;
}

static void file_free(CtFile *file) {
    free(file->module);
    free(file->path);
    free(file->text);
    free(file);
}

void ct_session_files_free(CtFile *files) {
    while (files) {
        CtFile *next = files->next;
        file_free(files);
        files = next;
    }
}

static CtFinding find(void *data, CtArena *arena, const char *module, CtFound *found) {
    cotan_program *program = data;
    const cotan_context *context = program->context;
    CtFile *file = known(program, module);
    if (!file) {
        file = calloc(1, sizeof *file);
        if (file) file->module = strdup(module);
        const char *problem = NULL;
        CtFinding finding = file && file->module ? look(context, file, &problem) : FINDING_NO_MEMORY;
        if (finding != FINDING_DONE) {
            if (file) file_free(file);
            if (finding == FINDING_NO_MEMORY) return finding;
            found->tried = problem                      ? ct_format(arena, "its file cannot be read: %s", problem)
                           : context->folder_count == 0 ? "there is no folder to look in"
                                                        : places(context, arena, module);
            return finding;
        }
        file->next = program->files;
        program->files = file;
    }
    *found = (CtFound){.path = file->path, .text = file->text, .length = file->length};
    return FINDING_DONE;
}

CtFinder ct_session_program_finder(cotan_program *program) { return (CtFinder){find, program}; }
