/* --profile: where a run spends its steps and its time, as a table on standard error and as a flame graph in SVG. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* ---- the table ---- */

typedef struct Row {
    const char *name, *file;
    int line; /* 0: of the whole function */
    uint64_t steps;
    double seconds;
} Row;

enum { MOST_ROWS = 30 };

static int by_place(const void *a, const void *b) {
    const Row *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order == 0) order = strcmp(x->file != NULL ? x->file : "", y->file != NULL ? y->file : "");
    return order != 0 ? order : x->line - y->line;
}

static int by_steps(const void *a, const void *b) {
    const Row *x = a, *y = b;
    return x->steps != y->steps ? (x->steps < y->steps) - (x->steps > y->steps) : by_place(a, b);
}

/* Adds up the rows of the same place; returns how many are left. */
static size_t merge(Row *rows, size_t count) {
    size_t kept = 0;
    qsort(rows, count, sizeof *rows, by_place);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_place(&rows[kept - 1], &rows[i]) == 0) {
            rows[kept - 1].steps += rows[i].steps;
            rows[kept - 1].seconds += rows[i].seconds;
        } else {
            rows[kept++] = rows[i];
        }
    }
    qsort(rows, kept, sizeof *rows, by_steps);
    return kept;
}

static void print_rows(const Row *rows, size_t count, uint64_t all, double seconds, bool lines) {
    fprintf(stderr, "\n share        steps   time  %s\n",
            lines ? "line of the program, with what it calls of the library" : "function");
    for (size_t i = 0; i < count && i < MOST_ROWS && rows[i].steps > 0; i++) {
        double share = all > 0 ? 100 * (double)rows[i].steps / (double)all : 0;
        double time = seconds > 0 ? 100 * rows[i].seconds / seconds : 0;
        fprintf(stderr, "%5.1f%% %12llu %5.1f%%  ", share, (unsigned long long)rows[i].steps, time);
        if (rows[i].file != NULL) fprintf(stderr, "%s:%d ", rows[i].file, rows[i].line);
        fprintf(stderr, "%s\n", rows[i].name);
    }
    if (count > MOST_ROWS) fprintf(stderr, "       %zu more\n", count - MOST_ROWS);
}

static bool is_of_library(const cotan_profile_node *node) {
    return node->file == NULL || strncmp(node->file, "lib/", 4) == 0;
}

/* The line of the program that has called what the node is, or is it; else the node itself. */
static const cotan_profile_node *line_of(const cotan_profile_node *nodes, size_t i) {
    size_t at = i;
    while (at != 0 && is_of_library(&nodes[at])) at = nodes[at].parent;
    return &nodes[at != 0 ? at : i];
}

/* An object a line and function. */
static void print_json(const Row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        fputs("{\"profile\":", stderr);
        cli_print_json_string(stderr, rows[i].name, strlen(rows[i].name));
        fputs(",\"file\":", stderr);
        if (rows[i].file != NULL)
            cli_print_json_string(stderr, rows[i].file, strlen(rows[i].file));
        else
            fputs("null", stderr);
        fprintf(stderr, ",\"line\":%d,\"steps\":%llu,\"seconds\":%.9f}\n", rows[i].line,
                (unsigned long long)rows[i].steps, rows[i].seconds);
    }
}

static void print_table(const cotan_profile_node *nodes, size_t count, uint64_t all, double seconds, bool json) {
    Row *rows = calloc(count, sizeof *rows);
    if (rows == NULL) return;
    if (!json) fprintf(stderr, "profile: %llu steps, %.3f s\n", (unsigned long long)all, seconds);
    for (int lines = json ? 1 : 0; lines < 2; lines++) {
        for (size_t i = 1; i < count; i++) {
            const cotan_profile_node *of = lines ? line_of(nodes, i) : &nodes[i];
            bool place = lines || strcmp(of->name, "λ") == 0;
            rows[i - 1] =
                (Row){of->name, place ? of->file : NULL, place ? of->line : 0, nodes[i].steps, nodes[i].seconds};
        }
        size_t kept = merge(rows, count - 1);
        if (json)
            print_json(rows, kept);
        else
            print_rows(rows, kept, all, seconds, lines);
    }
    free(rows);
}

/* ---- the flame graph ---- */

enum { WIDTH = 1200, BAR = 18, TOP = 40 };

typedef struct Flame {
    const cotan_profile_node *nodes;
    uint64_t *below; /* steps of a node with those below */
    double *left;    /* where the next bar above a node begins */
    size_t count, deepest;
    uint64_t all;
} Flame;

static void put_text(FILE *out, const char *text, size_t most) {
    for (size_t i = 0; *text != '\0'; text++) {
        bool begins = ((unsigned char)*text & 0xC0) != 0x80; /* a character of UTF-8 */
        if (begins && i++ == most) return;
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            putc(*text, out);
    }
}

/* Warm colours, the same for the same name. */
static void put_colour(FILE *out, const char *name) {
    unsigned hash = 5381;
    for (; *name != '\0'; name++) hash = hash * 33 + (unsigned char)*name;
    fprintf(out, "rgb(%u,%u,%u)", 215 + hash % 40, 120 + hash / 40 % 90, 60 + hash / 3600 % 50);
}

static size_t depth_of(const Flame *f, size_t node) {
    size_t depth = 0;
    for (; node != 0; node = f->nodes[node].parent) depth++;
    return depth;
}

static void put_bar(const Flame *f, FILE *out, size_t i, double x, double width, double y) {
    const cotan_profile_node *node = &f->nodes[i];
    fprintf(out, "<g><title>");
    put_text(out, node->name, 200);
    if (node->file != NULL) {
        fputs(", ", out);
        put_text(out, node->file, 200);
        fprintf(out, ":%d", node->line);
    }
    fprintf(out, ": %llu steps, %.1f%%</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"",
            (unsigned long long)f->below[i], 100 * (double)f->below[i] / (double)f->all, x, y, width, BAR - 1);
    put_colour(out, node->name);
    fputs("\"/>", out);
    size_t letters = width > 20 ? (size_t)((width - 6) / 7) : 0;
    if (letters > 1) {
        fprintf(out, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y + BAR - 5);
        put_text(out, node->name, letters);
        if (strcmp(node->name, "λ") == 0 && letters > 7) fprintf(out, " :%d", node->line);
        fputs("</text>", out);
    }
    fputs("</g>\n", out);
}

/* A node's parent has a smaller index: so a pass from behind adds up, and one from the front lays out. */
static void write_flame(Flame *f, FILE *out) {
    for (size_t i = f->count; i-- > 0;) {
        f->below[i] += f->nodes[i].steps;
        if (i > 0) f->below[f->nodes[i].parent] += f->below[i];
    }
    f->all = f->below[0] > 0 ? f->below[0] : 1;
    for (size_t i = 0; i < f->count; i++)
        if (depth_of(f, i) > f->deepest) f->deepest = depth_of(f, i);
    int height = TOP + (int)(f->deepest + 1) * BAR + 10;
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"12\">\n"
        "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n"
        "<text x=\"10\" y=\"24\" font-size=\"15\">%llu steps: a bar is a function with all that it calls</text>\n",
        WIDTH, height, WIDTH, height, (unsigned long long)f->below[0]);
    for (size_t i = 1; i < f->count; i++) {
        double width = (WIDTH - 20) * (double)f->below[i] / (double)f->all;
        double x = f->left[f->nodes[i].parent];
        f->left[f->nodes[i].parent] = x + width;
        f->left[i] = x;
        if (width >= 0.5) put_bar(f, out, i, x, width, TOP + BAR * (double)(depth_of(f, i) - 1));
    }
    fputs("</svg>\n", out);
}

static int save_flame(const Options *options, const cotan_profile_node *nodes, size_t count, const char *path) {
    char *text = NULL;
    size_t length;
    Flame f = {.nodes = nodes, .count = count};
    f.below = calloc(count, sizeof *f.below);
    f.left = calloc(count, sizeof *f.left);
    FILE *out = open_memstream(&text, &length);
    bool sound = f.below != NULL && f.left != NULL && out != NULL;
    if (sound) {
        f.left[0] = 10;
        write_flame(&f, out);
    }
    if (out != NULL) sound = fclose(out) == 0 && sound;
    int status =
        sound ? cli_write_file(options, path, text) : cli_refuse(options, "E0801", "there is not enough memory");
    free(f.below);
    free(f.left);
    free(text);
    return status;
}

int cli_show_profile(const Options *options, const cotan_profile_node *nodes, size_t count) {
    uint64_t all = 0;
    double seconds = 0;
    for (size_t i = 0; i < count; i++) {
        all += nodes[i].steps;
        seconds += nodes[i].seconds;
    }
    fflush(stdout);
    if (options->profile_file != NULL) return save_flame(options, nodes, count, options->profile_file);
    print_table(nodes, count, all, seconds, options->json);
    return EXIT_DONE;
}
