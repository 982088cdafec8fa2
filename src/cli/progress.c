/* A line on the terminal while a call takes long: time, steps, memory. A thread of its own draws it. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

enum { BEFORE = 2000, BETWEEN = 200 /* milliseconds until the first line, and between two */ };

/* There is one terminal. */
static struct Progress {
    const cotan_context *context;
    pthread_t thread;
    pthread_mutex_t lock; /* held by who writes on the terminal; guards what follows */
    pthread_cond_t ended;
    bool runs, ends, is_drawn, is_stopped;
    struct timespec started;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the line ---- */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - progress.started.tv_sec) + (double)(now.tv_nsec - progress.started.tv_nsec) * 1e-9;
}

/* Such as "412 million": three digits at least. */
static void put_steps(char *text, size_t size, uint64_t steps) {
    if (steps < 10000000)
        snprintf(text, size, "%llu thousand", (unsigned long long)(steps / 1000));
    else if (steps < 10000000000)
        snprintf(text, size, "%llu million", (unsigned long long)(steps / 1000000));
    else
        snprintf(text, size, "%.1f billion", (double)steps * 1e-9);
}

static void draw(void) {
    char line[120], steps[40];
    uint64_t done = cotan_steps(progress.context);
    struct rusage usage;
    struct winsize window;
    put_steps(steps, sizeof steps, done);
    getrusage(RUSAGE_SELF, &usage); /* ru_maxrss: in kB */
    int length = snprintf(line, sizeof line, "%.0f s%s%s%s, %ld MB of memory", seconds(), done > 0 ? ", " : "",
                          done > 0 ? steps : "", done > 0 ? " steps" : "", usage.ru_maxrss / 1024);
    bool sized = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
    if (sized && length >= window.ws_col) length = window.ws_col - 1; /* a line that is broken could not be removed */
    fprintf(stderr, "\r%.*s\033[K", length, line);
    fflush(stderr);
    progress.is_drawn = true;
}

static void undraw(void) {
    if (progress.is_drawn) fprintf(stderr, "\r\033[K");
    progress.is_drawn = false;
}

/* ---- the thread ---- */

static struct timespec later(struct timespec time, long milliseconds) {
    long nanoseconds = time.tv_nsec + milliseconds % 1000 * 1000000;
    return (struct timespec){time.tv_sec + milliseconds / 1000 + nanoseconds / 1000000000, nanoseconds % 1000000000};
}

static void *run(void *data) {
    (void)data;
    struct timespec next = later(progress.started, BEFORE);
    pthread_mutex_lock(&progress.lock);
    while (!progress.ends) {
        if (pthread_cond_timedwait(&progress.ended, &progress.lock, &next) == 0) continue;
        if (!progress.ends && !progress.is_stopped) draw();
        clock_gettime(CLOCK_MONOTONIC, &next);
        next = later(next, BETWEEN);
    }
    undraw();
    pthread_mutex_unlock(&progress.lock);
    return NULL;
}

static bool can_draw(const Options *options) {
    const char *terminal = getenv("TERM");
    return !options->json && isatty(STDERR_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

void cli_progress_begin(const Options *options, const cotan_context *context) {
    pthread_condattr_t monotonic;
    sigset_t all, before;
    if (!can_draw(options) || progress.runs) return;
    progress.context = context;
    progress.ends = progress.is_drawn = progress.is_stopped = false;
    clock_gettime(CLOCK_MONOTONIC, &progress.started);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&progress.ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all); /* Ctrl-C is for the thread that runs the call */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    progress.runs = pthread_create(&progress.thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!progress.runs) pthread_cond_destroy(&progress.ended);
}

void cli_progress_end(void) {
    if (!progress.runs) return;
    pthread_mutex_lock(&progress.lock);
    progress.ends = true;
    pthread_cond_signal(&progress.ended);
    pthread_mutex_unlock(&progress.lock);
    pthread_join(progress.thread, NULL);
    pthread_cond_destroy(&progress.ended);
    progress.runs = false;
}

void cli_progress_hide(void) {
    pthread_mutex_lock(&progress.lock);
    undraw();
}

void cli_progress_show(void) { pthread_mutex_unlock(&progress.lock); }

void cli_progress_stop(void) { progress.is_stopped = true; }
