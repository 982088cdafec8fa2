/* cotan cache: shows or clears the cache of native code. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"

static int clear(const Options *options) {
    uint64_t removed = cotan_cache_clear();
    printf(options->json ? "{\"removed\":%" PRIu64 "}\n" : "%" PRIu64 " files removed\n", removed);
    return EXIT_DONE;
}

int cli_verb_cache(const Options *options) {
    if (options->word_count > 0 && strcmp(options->words[0], "clear") == 0) return clear(options);
    if (options->word_count > 0)
        return cli_complain(options, "`cotan cache` takes `clear` or nothing, not `%s`", options->words[0]);
    uint64_t files, bytes;
    char *folder = cotan_cache(&files, &bytes);
    if (options->json) {
        printf("{\"folder\":");
        if (folder != NULL)
            cli_print_json_string(stdout, folder, strlen(folder));
        else
            printf("null");
        printf(",\"files\":%" PRIu64 ",\"bytes\":%" PRIu64 "}\n", files, bytes);
    } else if (folder != NULL) {
        printf("%s: %" PRIu64 " files, %" PRIu64 " bytes\n", folder, files, bytes);
    } else {
        printf("there is no cache\n");
    }
    free(folder);
    return EXIT_DONE;
}
