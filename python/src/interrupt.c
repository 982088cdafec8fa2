/* Ctrl-C while a call runs. Python's own handler only makes a note, which the interpreter looks at when the call has
 * ended; so the handler that stands here stops the call first, and then calls Python's.
 *
 * Programs may set their handler at any time (notebooks do it for each cell), and then this one is gone. Asking the
 * system on every call would cost as much as the call of a small function; so it is asked once in some milliseconds. */
#include "core.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static _Atomic(cotan_context *) watched; /* of the main thread */
static struct sigaction previous;
static bool is_ours;

static void on_interrupt(int number, siginfo_t *info, void *data) {
    cotan_context *context = atomic_load(&watched);
    if (context != NULL) cotan_interrupt(context);
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(number, info, data);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(number);
}

static void install(void) {
    struct sigaction now;
    if (sigaction(SIGINT, NULL, &now) != 0) return;
    is_ours = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_interrupt;
    bool ends = !(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
    if (is_ours || ends) return;
    previous = now;
    struct sigaction handler = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO | (now.sa_flags & SA_ONSTACK)};
    handler.sa_mask = now.sa_mask;
    is_ours = sigaction(SIGINT, &handler, NULL) == 0;
}

enum { OFTEN = 5000000 /* nanoseconds */ };

static _Thread_local int is_main = -1;

void watch_begin(cotan_context *context) {
    static int64_t asked;
    if (is_main < 0) { /* signals reach handlers of Python's in the main thread alone */
        PyGILState_STATE state = PyGILState_Ensure();
        PyObject *threading = PyImport_ImportModule("threading");
        PyObject *main = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
        PyObject *current = threading ? PyObject_CallMethod(threading, "current_thread", NULL) : NULL;
        is_main = main != NULL && main == current;
        Py_XDECREF(current);
        Py_XDECREF(main);
        Py_XDECREF(threading);
        PyErr_Clear();
        PyGILState_Release(state);
    }
    if (!is_main) return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (time - asked > OFTEN) {
        asked = time;
        install();
    }
    atomic_store(&watched, context);
}

void watch_end(void) {
    if (is_main == 1) atomic_store(&watched, NULL);
}
