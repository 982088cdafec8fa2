/* --checkpoint: a text file with the best point, or the last where steps do not tell which is best, in hexadecimal
 * digits so that no bit is lost. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/fit.h"

static const char title[] = "cotan fit 1";

bool cli_fit_checkpoint_write(const Run *run, int *status) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out != NULL) {
        fprintf(out, "%s\nsteps %llu\nrandom %llu\nnumbers %zu\n", title, (unsigned long long)run->steps,
                (unsigned long long)run->random, run->count);
        const double *x = run->by_ends && !run->ended ? run->x : run->best;
        for (size_t i = 0; i < run->count; i++) fprintf(out, "%a\n", x[i]);
        fclose(out);
    }
    *status = text != NULL ? cli_write_file(run->options, run->options->checkpoint, text)
                           : cli_refuse(run->options, "E0801", "there is not enough memory");
    free(text);
    return *status == EXIT_DONE;
}

/* The number behind a word at the beginning of a line. */
static bool take(char **at, const char *word, unsigned long long *number) {
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0) return false;
    char *end;
    *number = strtoull(*at + length, &end, 10);
    if (end == *at + length || *end != '\n') return false;
    *at = end + 1;
    return true;
}

static bool parse(Run *run, char *text) {
    unsigned long long steps, random, count;
    size_t length = strlen(title);
    if (strncmp(text, title, length) != 0 || text[length] != '\n') return false;
    char *at = text + length + 1, *end;
    if (!take(&at, "steps ", &steps) || !take(&at, "random ", &random) || !take(&at, "numbers ", &count)) return false;
    if (count != run->count) return false;
    for (size_t i = 0; i < run->count; i++, at = end) {
        run->x[i] = strtod(at, &end);
        if (end == at) return false;
    }
    memcpy(run->best, run->x, run->count * sizeof *run->best);
    run->steps = steps;
    run->random = random;
    return true;
}

bool cli_fit_checkpoint_read(Run *run, int *status) {
    const char *path = run->options->checkpoint;
    if (path == NULL || access(path, F_OK) != 0) return true; /* it begins here */
    size_t length;
    char *text = cli_read_file(run->options, path, &length);
    if (text == NULL) return *status = EXIT_USAGE, false;
    bool done = strlen(text) == length && parse(run, text);
    free(text);
    if (!done) *status = cli_refuse(run->options, "E0602", "%s is not a checkpoint of this fit", path);
    return done;
}
