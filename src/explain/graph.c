/* Draws the graph of dual numbers of a run, or the Delta term over arrays, by Graphviz. The program `dot` is run
 * directly, with unnamed files as input and output, so that no files remain and no pipe can block. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explain/explain.h"

enum { MOST_DRAWN = 300, MOST_SECOND = 24 };

extern char **environ;

/* ---- the graph as dot reads it ---- */

static void put_quoted(CtText *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') ct_text_putc(out, '\\');
        ct_text_putc(out, *text == '\n' ? ' ' : *text);
    }
}

/* The first characters of a text. */
static const char *shortened(CtArena *arena, const char *text) {
    size_t columns = 0, bytes = 0;
    for (; text[bytes] != '\0'; bytes++) {
        columns += ((unsigned char)text[bytes] & 0xC0) != 0x80;
        if (columns > MOST_SECOND) return ct_format(arena, "%.*s…", (int)bytes, text);
    }
    return text;
}

/* The third line of a node is where the page shows the adjoint; without a reverse pass it is the second part. */
static void put_node(CtText *out, CtArena *arena, const CtRun *run, uint32_t index) {
    const CtNode *node = &run->nodes.items[index];
    ct_text_printf(out, "n%u [id=\"n%u\", label=\"#%u ", index + 1, index + 1, index + 1);
    put_quoted(out, node->label);
    for (uint32_t i = 0; i < node->count; i++)
        if (node->args[i] == CT_NO_NODE) ct_text_printf(out, " %s", ct_explain_number(arena, node->values[i]));
    ct_text_printf(out, "\\n%s\\n", ct_explain_number(arena, node->primal));
    if (run->arrivals.count > 0)
        ct_text_puts(out, "\u00a0");
    else
        put_quoted(out, shortened(arena, node->second));
    ct_text_puts(out, "\"];\n");
    for (uint32_t i = 0; i < node->count; i++) {
        if (node->args[i] == CT_NO_NODE) continue;
        ct_text_printf(out, "n%lld -> n%u [label=\" %s\"];\n", (long long)node->args[i] + 1, index + 1,
                       ct_explain_number(arena, node->partials[i]));
    }
}

static void put_style(CtText *out) {
    ct_text_puts(
        out, "digraph \"derivative\" {\nbgcolor=\"transparent\";\nrankdir=TB;\nranksep=0.35;\nnodesep=0.25;\n"
             "node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=12, margin=\"0.14,0.06\", width=1.35];\n"
             "edge [fontname=\"Helvetica\", fontsize=10, arrowsize=0.6];\n");
}

/* The nodes of the run that depend on the point; without observation, the Delta term. */
static const char *dot_text(CtArena *arena, const CtExplained *explained) {
    const CtRun *run = explained->run;
    CtText out = ct_text(arena);
    put_style(&out);
    if (!run->watched) {
        ct_text_puts(&out, explained->graph);
        ct_text_puts(&out, "}\n");
        return out.data;
    }
    uint32_t drawn = run->nodes.count < MOST_DRAWN ? run->nodes.count : MOST_DRAWN;
    for (uint32_t i = 0; i < drawn; i++) put_node(&out, arena, run, i);
    uint64_t left = run->nodes.count - drawn + run->more_nodes;
    if (left > 0)
        ct_text_printf(&out, "more [shape=plaintext, label=\"%llu more are not drawn\"];\n", (unsigned long long)left);
    ct_text_puts(&out, "}\n");
    return out.data;
}

/* ---- dot ---- */

/* Runs `dot -Tsvg`. Returns 0, or an errno, or −1 when dot itself failed. */
static int run_dot(FILE *in, FILE *out) {
    static char dot[] = "dot", svg[] = "-Tsvg";
    char *const words[] = {dot, svg, NULL};
    posix_spawn_file_actions_t files;
    pid_t child;
    int failed = posix_spawn_file_actions_init(&files), status = 0;
    if (failed != 0) return failed;
    failed = posix_spawn_file_actions_adddup2(&files, fileno(in), STDIN_FILENO);
    if (failed == 0) failed = posix_spawn_file_actions_adddup2(&files, fileno(out), STDOUT_FILENO);
    if (failed == 0) failed = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (failed == 0) failed = posix_spawnp(&child, dot, &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) return failed;
    /* The host program may collect its children itself; the output shows whether dot worked. */
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* The content of a file from <svg on; NULL when it is missing. */
static const char *read_svg(FILE *file, CtArena *arena) {
    CtText text = ct_text(arena);
    char buffer[16384];
    size_t got;
    rewind(file);
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) ct_text_add(&text, buffer, got);
    if (!text.data || !strstr(text.data, "</svg>")) return NULL;
    return strstr(text.data, "<svg");
}

/* If memory runs out, both files are closed before that is reported. */
static const char *draw(CtArena *arena, const char *text, int *failed) {
    FILE *in = tmpfile(), *out = tmpfile();
    const char *volatile svg = NULL;
    jmp_buf here;
    jmp_buf *before = ct_arena_on_failure(arena, &here);
    volatile bool full = setjmp(here) != 0;
    if (!full) {
        *failed = in && out ? 0 : errno;
        if (*failed == 0 && (fputs(text, in) < 0 || fflush(in) != 0)) *failed = errno;
        if (*failed == 0) {
            rewind(in);
            *failed = run_dot(in, out);
        }
        if (*failed == 0) svg = read_svg(out, arena);
    }
    ct_arena_on_failure(arena, before);
    if (in) fclose(in);
    if (out) fclose(out);
    if (full && before) longjmp(*before, 1);
    return svg;
}

const char *ct_explain_graph(CtArena *arena, const CtExplained *explained) {
    const char *text = dot_text(arena, explained);
    int failed = 0;
    const char *svg = draw(arena, text, &failed);
    if (svg) return svg;
    if (failed == ENOENT)
        return "<p>The graph is not drawn: the program <code>dot</code> is not there. It is part of Graphviz; on "
               "Debian: "
               "<code>apt-get install graphviz</code>.</p>";
    return ct_format(arena, "<p>The graph is not drawn: %s.</p>",
                     failed > 0 ? strerror(failed) : "<code>dot</code> failed");
}
