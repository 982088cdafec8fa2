/* --plot: the descent as a picture, by gnuplot. */
#include <stdlib.h>
#include <sys/wait.h>

#include "cli/fit.h"

int cli_fit_plot(const Run *run) {
    const char *path = run->options->plot;
    if (run->plot == NULL)
        return path == NULL ? EXIT_DONE : cli_refuse(run->options, "E0801", "there is not enough memory");
    fflush(run->plot);
    char *quoted = NULL; /* for gnuplot: in single quotes, where only these are doubled */
    size_t length;
    FILE *name = open_memstream(&quoted, &length);
    if (name == NULL) return cli_refuse(run->options, "E0801", "there is not enough memory");
    for (const char *c = path; *c != '\0'; c++) fputs(*c == '\'' ? "\'\'" : (char[]){*c, '\0'}, name);
    fclose(name);
    FILE *gnuplot = popen("gnuplot 2>/dev/null", "w");
    if (gnuplot != NULL) {
        fprintf(gnuplot,
                "set terminal svg size 720,480\nset output '%s'\nset xlabel 'step'\nset ylabel 'value'\nset key off\n"
                "set grid\nplot '-' with lines linewidth 2\n%se\n",
                quoted, run->plotted);
    }
    free(quoted);
    int ended = gnuplot != NULL ? pclose(gnuplot) : -1;
    if (ended >= 0 && WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return EXIT_DONE;
    return cli_refuse(run->options, "E0706",
                      "%s was not drawn: --plot needs the program `gnuplot` (Debian's package gnuplot-nox)", path);
}
