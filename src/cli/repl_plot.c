/* :plot: numbers as a picture, of braille characters (2 × 4 points each) or, with the name of a file, as SVG. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/repl.h"

enum { COLUMNS = 72, ROWS = 16, ACROSS = 2 * COLUMNS, DOWN = 4 * ROWS, WIDTH = 720, HEIGHT = 480, MARGIN = 70 };

typedef struct Plot {
    double *x, *y;
    size_t count, capacity;
    bool pairs; /* points; otherwise values of one variable, joined by a line */
    double low_x, high_x, low_y, high_y;
} Plot;

/* ---- the numbers of a value ---- */

static bool add(Plot *p, double x, double y) {
    if (p->count == p->capacity) {
        size_t capacity = 2 * p->capacity + 64;
        double *xs = realloc(p->x, capacity * sizeof *xs),
               *ys = xs != NULL ? realloc(p->y, capacity * sizeof *ys) : NULL;
        if (xs != NULL) p->x = xs;
        if (ys == NULL) return false;
        p->y = ys;
        p->capacity = capacity;
    }
    p->x[p->count] = x;
    p->y[p->count++] = y;
    return true;
}

static bool is_number(const cotan_value *v) {
    return v != NULL && (cotan_value_kind(v) == COTAN_KIND_DOUBLE || cotan_value_kind(v) == COTAN_KIND_INT);
}

static bool add_part(Plot *p, const cotan_value *part, size_t index) {
    if (is_number(part)) return !p->pairs && add(p, (double)index, cotan_value_as_double(part));
    const cotan_value *x = cotan_value_part(part, 0), *y = cotan_value_part(part, 1);
    if (cotan_value_kind(part) != COTAN_KIND_TUPLE || cotan_value_count(part) != 2 || !is_number(x) || !is_number(y))
        return false;
    p->pairs = true;
    return add(p, cotan_value_as_double(x), cotan_value_as_double(y));
}

static bool add_all(Plot *p, const cotan_value *value) {
    cotan_element element;
    unsigned rank;
    const size_t *size;
    const void *numbers = cotan_value_as_numbers(value, &element, &rank, &size);
    if (numbers != NULL) {
        bool sound = rank == 1 && (element == COTAN_DOUBLE || element == COTAN_FLOAT || element == COTAN_INT);
        for (size_t i = 0; sound && i < size[0]; i++)
            sound = add(p, (double)i,
                        element == COTAN_INT ? (double)((const int64_t *)numbers)[i] : ((const double *)numbers)[i]);
        return sound;
    }
    cotan_kind kind = cotan_value_kind(value);
    bool sound = kind == COTAN_KIND_LIST || kind == COTAN_KIND_ARRAY;
    for (size_t i = 0; sound && i < cotan_value_count(value); i++) sound = add_part(p, cotan_value_part(value, i), i);
    return sound;
}

/* Drops what is not finite, and finds the range of the rest. False if nothing is left. */
static bool find_range(Plot *p) {
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (!isfinite(p->x[i]) || !isfinite(p->y[i])) continue;
        double x = p->x[kept] = p->x[i], y = p->y[kept] = p->y[i];
        bool first = kept++ == 0;
        if (first || x < p->low_x) p->low_x = x;
        if (first || x > p->high_x) p->high_x = x;
        if (first || y < p->low_y) p->low_y = y;
        if (first || y > p->high_y) p->high_y = y;
    }
    p->count = kept;
    return kept > 0;
}

/* Where a number is between low and high, from 0 to 1; in the middle if they are the same. */
static double part_of(double value, double low, double high) {
    double range = high / 2 - low / 2; /* halves: the difference may be too large for a Double */
    return range > 0 ? (value / 2 - low / 2) / range : 0.5;
}

/* ---- braille ---- */

static void dot(unsigned char *cells, int x, int y) {
    static const unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    cells[y / 4 * COLUMNS + x / 2] |= bits[y % 4][x % 2];
}

static void line(unsigned char *cells, int x0, int y0, int x1, int y1) {
    int dx = abs(x1 - x0), dy = abs(y1 - y0), steps = dx > dy ? dx : dy;
    for (int i = 0; i <= steps; i++) {
        double t = steps > 0 ? (double)i / steps : 0;
        dot(cells, (int)lround(x0 + t * (x1 - x0)), (int)lround(y0 + t * (y1 - y0)));
    }
}

static void draw(const Plot *p) {
    unsigned char cells[ROWS * COLUMNS] = {0};
    int last_x = 0, last_y = 0;
    for (size_t i = 0; i < p->count; i++) {
        int x = (int)lround(part_of(p->x[i], p->low_x, p->high_x) * (ACROSS - 1));
        int y = DOWN - 1 - (int)lround(part_of(p->y[i], p->low_y, p->high_y) * (DOWN - 1));
        if (p->pairs || i == 0)
            dot(cells, x, y);
        else
            line(cells, last_x, last_y, x, y);
        last_x = x;
        last_y = y;
    }
    for (int row = 0; row < ROWS; row++) {
        if (row == 0 || row == ROWS - 1)
            printf("%10.4g ┤", row == 0 ? p->high_y : p->low_y);
        else
            printf("%10s │", "");
        for (int column = 0; column < COLUMNS; column++) {
            unsigned point = 0x2800u + cells[row * COLUMNS + column];
            printf("%c%c%c", (char)(0xE0 | point >> 12), (char)(0x80 | (point >> 6 & 0x3F)),
                   (char)(0x80 | (point & 0x3F)));
        }
        putchar('\n');
    }
    printf("%10s  %-*.4g%.4g\n", "", COLUMNS - 6, p->low_x, p->high_x);
}

/* ---- SVG ---- */

static void write_svg(const Plot *p, FILE *out) {
    const double across = WIDTH - 1.5 * MARGIN, down = HEIGHT - 1.5 * MARGIN;
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n"
        "<rect x=\"%d\" y=\"%d\" width=\"%g\" height=\"%g\" fill=\"none\" stroke=\"#888\"/>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT, MARGIN, MARGIN / 2, across, down);
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.4g</text>\n<text x=\"%d\" y=\"%g\" "
            "text-anchor=\"end\">%.4g</text>\n"
            "<text x=\"%d\" y=\"%g\">%.4g</text>\n<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%.4g</text>\n",
            MARGIN - 8, MARGIN / 2 + 10, p->high_y, MARGIN - 8, MARGIN / 2 + down, p->low_y, MARGIN,
            MARGIN / 2 + down + 20, p->low_x, MARGIN + across, MARGIN / 2 + down + 20, p->high_x);
    if (!p->pairs) fputs("<polyline fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"1.5\" points=\"", out);
    for (size_t i = 0; i < p->count; i++) {
        double x = MARGIN + across * part_of(p->x[i], p->low_x, p->high_x);
        double y = MARGIN / 2 + down * (1 - part_of(p->y[i], p->low_y, p->high_y));
        fprintf(out, p->pairs ? "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"2.5\" fill=\"#1f5fa8\"/>\n" : "%.2f,%.2f ", x, y);
    }
    fputs(p->pairs ? "</svg>\n" : "\"/>\n</svg>\n", out);
}

static void save(Repl *repl, const Plot *p, const char *path) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) return;
    write_svg(p, out);
    if (fclose(out) == 0 && cli_write_file(&repl->options, path, text) != EXIT_DONE) repl->failed = true;
    free(text);
}

/* ---- the command ---- */

static void show(Repl *repl, const cotan_value *value, const char *path) {
    Plot p = {0};
    if (!add_all(&p, value))
        cli_repl_complain(repl, "a plot is of a list or an array of numbers, or of pairs of numbers");
    else if (!find_range(&p))
        cli_repl_complain(repl, "there is nothing to draw: no finite number");
    else if (path != NULL)
        save(repl, &p, path);
    else
        draw(&p);
    free(p.x);
    free(p.y);
}

void cli_repl_plot(Repl *repl, char *text) {
    size_t length = strcspn(text, " \t");
    char *path = NULL;
    if (length > 4 && strncmp(text + length - 4, ".svg", 4) == 0) {
        path = strndup(text, length);
        text += length + strspn(text + length, " \t");
    }
    cotan_call call = {.mode = COTAN_RUN, .expression = text, .method = repl->method};
    cotan_function *function;
    const cotan_value *value;
    cotan_error *error = cotan_function_make(repl->program, &call, &function);
    if (error != NULL) {
        cli_repl_error(repl, error);
    } else {
        if (cli_repl_apply(repl, function, NULL, &value)) show(repl, value, path);
        cotan_function_free(function);
    }
    free(path);
}
