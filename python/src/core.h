/* The extension module cotan._core: programs, and functions of them that are called with Python's values. It is built
 * with the limited C API of Python 3.11, the first that has the buffer protocol. */
#ifndef COTAN_PYTHON_CORE_H
#define COTAN_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "cotan.h"

/* What the module needs of Python, set by _core.configure. */
typedef struct Names {
    PyObject *make_error;  /* (status, errors, text, coloured) -> exception */
    PyObject *wrong_input; /* the exception of an argument that does not fit */
    PyObject *as_array;    /* (object, dtype) -> a contiguous array of NumPy */
    PyObject *empty;       /* numpy.empty */
    PyObject *masked;      /* numpy.ma.MaskedArray, whose memory holds numbers that it hides */
    PyObject *dtypes[6];   /* by cotan_element; NULL: there is none */
} Names;
extern Names names;

/* ---- interrupt.c ---- */

/* Ctrl-C interrupts this context until watch_end; both are called by the thread that calls. */
void watch_begin(cotan_context *context);
void watch_end(void);

/* ---- program.c ---- */

/* A context with the program loaded, which one thread uses at a time. */
typedef struct Worker {
    cotan_context *context;
    cotan_program *program;
    cotan_function **functions; /* by the numbers of entries; NULL: not made yet */
    size_t count;
    struct Worker *next;
} Worker;

typedef struct Program {
    PyObject_HEAD char *name, *text;
    Py_ssize_t length;
    char **folders; /* ended by NULL */
    cotan_limits limits;
    int exact;
    Worker *idle;
    size_t entries;    /* the number of entries that were made */
    PyObject *classes; /* (type name, constructors) -> the classes, or members of an enumeration, of a data type */
} Program;

extern PyType_Spec program_spec, entry_spec;
extern PyTypeObject *program_type, *entry_type;

/* An idle worker, or a new one. NULL with an exception. */
Worker *worker_take(Program *program);
void worker_give(Program *program, Worker *worker);
/* After an interrupt, whose traces are gone with it. */
void worker_free(Worker *worker);

/* Raises the exception of an error. Always returns NULL. */
PyObject *raise_error(const cotan_error *error);

/* ---- plan.c: how values of a type are converted ---- */

typedef struct Plan Plan;
typedef struct PlanCon {
    const char *name; /* the type's */
    size_t count;
    Plan **fields;
    PyObject **names; /* attributes */
    PyObject *object; /* the class; of an enumeration the member */
} PlanCon;
struct Plan {
    cotan_kind kind;
    char *name;
    size_t count;
    Plan **parts;
    size_t con_count;
    PlanCon *cons;
    bool is_enum, is_maybe; /* Nothing is None, Just x is x */
    unsigned rank;          /* ARRAY: its dimensions, if the elements are numbers; else 0 */
    cotan_element element;
    const cotan_type *type; /* while plans are made */
    Plan *next;             /* all plans of an entry */
};

/* The plan of a type; *all collects it and those of its parts. NULL with an exception. */
Plan *plan_make(Program *program, const cotan_type *type, Plan **all);
void plans_free(Plan *all);
/* Shows the garbage collector the objects of plans: their classes know the model, which knows its functions. */
int plans_traverse(const Plan *all, visitproc visit, void *arg);

/* ---- convert.c ---- */

/* What has to live until a call has ended. */
typedef struct Kept {
    enum { KEPT_BUFFER, KEPT_OBJECT, KEPT_MEMORY } kind;
    union {
        Py_buffer buffer;
        PyObject *object;
        void *memory;
    } of;
    struct Kept *next;
} Kept;
void kept_release(Kept *kept);

/* A value of Python's as one of Cotan's; NULL with an exception. */
cotan_value *value_from(const Plan *plan, PyObject *object, Kept **kept);
/* The same of the parts of a list, tuple or set, one by one. */
cotan_value *sequence_from(const Plan *plan, PyObject *object, Kept **kept);
/* Raises wrong_input: what was expected, and what is there. */
cotan_value *expected(const Plan *plan, PyObject *object);
/* ---- arrays.c ---- */
cotan_value *array_from(const Plan *plan, PyObject *object, Kept **kept);
PyObject *array_to(const Plan *plan, const cotan_value *value);
/* And back. */
PyObject *value_to(const Plan *plan, const cotan_value *value);

#endif
