/* --plot: the descent, and with --plot-model data and model beside it, as a picture by gnuplot. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/fit.h"

typedef struct Point {
    double x, observed, predicted;
} Point;

/* ---- data and model ---- */

static int by_x(const void *a, const void *b) {
    double x = ((const Point *)a)->x, y = ((const Point *)b)->x;
    return (x > y) - (x < y);
}

/* The points from the least x on, so that the model is a curve; those without an x are left out. NULL without memory.
 */
static Point *sorted(const double *const columns[3], size_t *count) {
    Point *points = malloc((*count + 1) * sizeof *points);
    size_t kept = 0;
    for (size_t i = 0; points != NULL && i < *count; i++)
        if (isfinite(columns[0][i])) points[kept++] = (Point){columns[0][i], columns[1][i], columns[2][i]};
    if (points != NULL) qsort(points, kept, sizeof *points, by_x);
    *count = kept;
    return points;
}

static void put_points(FILE *gnuplot, const Point *points, size_t count, bool predicted) {
    for (size_t i = 0; i < count; i++) {
        double y = predicted ? points[i].predicted : points[i].observed;
        if (isfinite(y)) fprintf(gnuplot, "%.17g %.17g\n", points[i].x, y);
    }
    fprintf(gnuplot, "e\n");
}

/* ---- the picture ---- */

static void put_descent(FILE *gnuplot, const Run *run) {
    fprintf(gnuplot,
            "set xlabel 'step'\nset ylabel 'value'\nset key off\nset grid\nplot '-' with lines linewidth 2\n%se\n",
            run->plotted);
}

static void put_model(FILE *gnuplot, const Point *points, size_t count) {
    fprintf(gnuplot, "set xlabel 'x'\nunset ylabel\nset key on\nplot '-' with points pointtype 7 pointsize 0.4 title "
                     "'data', '-' with lines linewidth 2 title 'model'\n");
    put_points(gnuplot, points, count, false);
    put_points(gnuplot, points, count, true);
}

/* In single quotes, where only these are doubled. */
static void put_quoted(FILE *gnuplot, const char *text) {
    putc('\'', gnuplot);
    for (const char *c = text; *c != '\0'; c++) fputs(*c == '\'' ? "\'\'" : (char[]){*c, '\0'}, gnuplot);
    putc('\'', gnuplot);
}

/* `points` NULL: the descent alone. */
static int draw(const Run *run, const Point *points, size_t count) {
    const char *path = run->options->plot;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* where there is no gnuplot, nobody reads what it is told */
    FILE *gnuplot = popen("gnuplot 2>/dev/null", "w");
    if (gnuplot != NULL) {
        fprintf(gnuplot, "set terminal svg size %d,480\nset output ", points != NULL ? 1200 : 720);
        put_quoted(gnuplot, path);
        fprintf(gnuplot, points != NULL ? "\nset multiplot layout 1,2\n" : "\n");
        put_descent(gnuplot, run);
        if (points != NULL) put_model(gnuplot, points, count);
    }
    int ended = gnuplot != NULL ? pclose(gnuplot) : -1;
    signal(SIGPIPE, before);
    if (ended >= 0 && WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return EXIT_DONE;
    return cli_refuse(run->options, "E0706",
                      "%s was not drawn: --plot needs the program `gnuplot` (Debian's package gnuplot-nox)", path);
}

static int draw_both(Run *run) {
    const double *columns[3];
    size_t count;
    cotan_error *error = cli_fit_model_curve(run->model, run->best, columns, &count);
    if (error != NULL) return cli_report(run->options, error);
    Point *points = sorted(columns, &count);
    if (points == NULL) return cli_refuse(run->options, "E0801", "there is not enough memory");
    int status = count > 0 ? draw(run, points, count)
                           : cli_complain(run->options, "`%s` gives no points to draw", run->options->plot_model);
    free(points);
    return status;
}

int cli_fit_plot(Run *run) {
    if (run->options->plot == NULL) return EXIT_DONE;
    if (run->plot == NULL) return cli_refuse(run->options, "E0801", "there is not enough memory");
    fflush(run->plot);
    return run->model->curve != NULL ? draw_both(run) : draw(run, NULL, 0);
}
