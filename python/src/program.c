/* Programs: a source with its settings, and a pool of workers. A worker is a context of its own, so calls from several
 * threads run side by side; there are as many as there were calls at the same time. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

PyObject *raise_error(const cotan_error *error) {
    PyObject *all = PyList_New(0);
    for (size_t i = 0; all != NULL && i < cotan_error_count(error); i++) {
        PyObject *one =
            Py_BuildValue("(sszii)", cotan_error_code(error, i), cotan_error_message(error, i),
                          cotan_error_file(error, i), cotan_error_line(error, i), cotan_error_column(error, i));
        if (one == NULL || PyList_Append(all, one) != 0) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    PyObject *made =
        all != NULL ? PyObject_CallFunction(names.make_error, "iOss", cotan_error_status(error), all,
                                            cotan_error_text(error, false, false), cotan_error_text(error, true, false))
                    : NULL;
    if (made != NULL) PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    Py_XDECREF(made);
    Py_XDECREF(all);
    return NULL;
}

/* ---- workers ---- */

void worker_free(Worker *worker) {
    if (worker == NULL) return;
    cotan_close(worker->context); /* with the program and its functions */
    free(worker->functions);
    free(worker);
}

static Worker *worker_new(Program *program) {
    Worker *worker = calloc(1, sizeof *worker);
    cotan_error *error = NULL;
    if (worker == NULL) return (Worker *)PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS;
    worker->context = cotan_open(&program->limits);
    for (char **folder = program->folders; worker->context != NULL && error == NULL && *folder != NULL; folder++)
        error = cotan_add_folder(worker->context, *folder);
    if (worker->context != NULL && error == NULL) {
        cotan_exact_math(worker->context, program->exact);
        error = cotan_load(worker->context, program->name, program->text, (size_t)program->length, &worker->program);
    }
    Py_END_ALLOW_THREADS;
    if (worker->context != NULL && error == NULL) return worker;
    if (worker->context == NULL)
        PyErr_NoMemory();
    else
        raise_error(error);
    if (worker->context != NULL)
        worker_free(worker);
    else
        free(worker);
    return NULL;
}

Worker *worker_take(Program *program) {
    Worker *worker = program->idle;
    if (worker == NULL) return worker_new(program);
    program->idle = worker->next;
    return worker;
}

void worker_give(Program *program, Worker *worker) {
    worker->next = program->idle;
    program->idle = worker;
}

/* ---- the type ---- */

/* The classes know the model, which holds the program. Their dicts break the cycle, so nothing has to be cleared. */
static int program_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(((Program *)object)->classes);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static void program_dealloc(PyObject *object) {
    Program *program = (Program *)object;
    PyObject_GC_UnTrack(object);
    while (program->idle != NULL) {
        Worker *worker = program->idle;
        program->idle = worker->next;
        worker_free(worker);
    }
    for (char **folder = program->folders; folder != NULL && *folder != NULL; folder++) free(*folder);
    free(program->folders);
    free(program->name);
    free(program->text);
    Py_XDECREF(program->classes);
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static char **folders_of(PyObject *tuple) {
    Py_ssize_t count = PyTuple_Size(tuple);
    char **folders = calloc((size_t)count + 1, sizeof *folders);
    for (Py_ssize_t i = 0; folders != NULL && i < count; i++) {
        const char *text = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), NULL);
        folders[i] = text != NULL ? strdup(text) : NULL;
        if (folders[i] == NULL) break;
    }
    return folders;
}

static PyObject *program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    const char *name, *text;
    Py_ssize_t length;
    PyObject *folders, *classes;
    unsigned long long memory, steps, depth;
    unsigned threads;
    int exact;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "ss#O!OKKKIp", &name, &text, &length, &PyTuple_Type, &folders, &classes, &memory,
                          &steps, &depth, &threads, &exact))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Program *program = (Program *)allocate(type, 0);
    if (program == NULL) return NULL;
    program->name = strdup(name);
    program->text = malloc((size_t)length + 1);
    program->folders = folders_of(folders);
    program->classes = Py_NewRef(classes);
    program->limits = (cotan_limits){(size_t)memory, steps, depth, threads};
    program->exact = exact;
    program->length = length;
    if (program->name == NULL || program->text == NULL || program->folders == NULL || PyErr_Occurred()) {
        Py_DECREF(program);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    memcpy(program->text, text, (size_t)length + 1);
    Worker *worker = worker_new(program); /* the program's errors are told now */
    if (worker == NULL) {
        Py_DECREF(program);
        return NULL;
    }
    worker_give(program, worker);
    return (PyObject *)program;
}

/* ---- what a program defines ---- */

static PyObject *names_of(const cotan_definition *d, Program *program, bool types, Plan **all) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < d->count; i++) {
        const char *text = types ? (d->types != NULL ? d->types[i]->name : NULL) : d->parameters[i];
        PyObject *one = text != NULL ? PyUnicode_FromString(text) : Py_NewRef(Py_None);
        if (types && d->types != NULL && plan_make(program, d->types[i], all) == NULL)
            Py_CLEAR(one); /* makes classes */
        if (one == NULL || PyList_Append(list, one) != 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* (name, type, comment, line, names of parameters, their types, type of the result) */
static PyObject *definition(const cotan_definition *d, Program *program, Plan **all) {
    if (d->result != NULL && plan_make(program, d->result, all) == NULL) return NULL;
    PyObject *parameters = names_of(d, program, false, all), *types = names_of(d, program, true, all);
    PyObject *made = parameters != NULL && types != NULL
                         ? Py_BuildValue("(sszNNNz)", d->name, d->type, d->comment, PyLong_FromLong(d->line),
                                         Py_NewRef(parameters), Py_NewRef(types), d->result ? d->result->name : NULL)
                         : NULL;
    Py_XDECREF(parameters);
    Py_XDECREF(types);
    return made;
}

static PyObject *program_definitions(PyObject *self, PyObject *unused) {
    (void)unused;
    Program *program = (Program *)self;
    Worker *worker = worker_take(program);
    if (worker == NULL) return NULL;
    const cotan_definition *all;
    size_t count;
    cotan_error *error;
    Py_BEGIN_ALLOW_THREADS;
    error = cotan_definitions(worker->program, &all, &count);
    Py_END_ALLOW_THREADS;
    PyObject *list = error != NULL ? raise_error(error) : PyList_New(0);
    Plan *plans = NULL;
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *one = definition(&all[i], program, &plans);
        if (one == NULL || PyList_Append(list, one) != 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    plans_free(plans);
    worker_give(program, worker);
    return list;
}

static PyObject *program_warnings(PyObject *self, PyObject *unused) {
    (void)unused;
    Worker *worker = worker_take((Program *)self);
    if (worker == NULL) return NULL;
    const cotan_error *warnings = cotan_warnings(worker->program);
    PyObject *text = PyUnicode_FromString(warnings != NULL ? cotan_error_text(warnings, false, false) : "");
    worker_give((Program *)self, worker);
    return text;
}

/* ---- questions about a function ---- */

/* Ends a call: gives the worker back, or frees it after an interrupt. False when an interrupt is to be raised. */
static bool ended(Program *program, Worker *worker) {
    watch_end();
    if (PyErr_CheckSignals() != 0) {
        worker_free(worker);
        return false;
    }
    (void)program;
    return true;
}

/* check(function, point as JSON, method) -> (agrees, [(what, derivative, expected, difference, agrees)], [(file, line,
 * column)]) */
static PyObject *program_check(PyObject *self, PyObject *args) {
    const char *function, *point, *method;
    if (!PyArg_ParseTuple(args, "ssz", &function, &point, &method)) return NULL;
    Program *program = (Program *)self;
    Worker *worker = worker_take(program);
    if (worker == NULL) return NULL;
    cotan_call call = {.function = function, .at = point, .method = method};
    cotan_check_result result;
    cotan_error *error;
    watch_begin(worker->context);
    Py_BEGIN_ALLOW_THREADS;
    error = cotan_check(worker->program, &call, &result);
    Py_END_ALLOW_THREADS;
    if (!ended(program, worker)) return NULL;
    PyObject *rows = error != NULL ? raise_error(error) : PyList_New(0), *rules = PyList_New(0), *made = NULL;
    for (size_t i = 0; rows != NULL && i < result.count; i++) {
        const cotan_check_row *row = &result.rows[i];
        PyObject *one = Py_BuildValue("(sdddN)", row->what, row->derivative, row->expected, row->difference,
                                      PyBool_FromLong(row->agrees));
        if (one == NULL || PyList_Append(rows, one) != 0) Py_CLEAR(rows);
        Py_XDECREF(one);
    }
    for (size_t i = 0; rows != NULL && rules != NULL && i < result.rule_count; i++) {
        const cotan_check_rule *rule = &result.rules[i];
        PyObject *one = Py_BuildValue("(siiN)", rule->file, rule->line, rule->column, PyBool_FromLong(rule->is_wrong));
        if (one == NULL || PyList_Append(rules, one) != 0) Py_CLEAR(rules);
        Py_XDECREF(one);
    }
    if (rows != NULL && rules != NULL) made = Py_BuildValue("(NOO)", PyBool_FromLong(result.agrees), rows, rules);
    Py_XDECREF(rows);
    Py_XDECREF(rules);
    worker_give(program, worker);
    return made;
}

/* stages(function, point as JSON or None, method, form) -> text */
static PyObject *program_stages(PyObject *self, PyObject *args) {
    const char *function, *point, *method, *text;
    int form;
    if (!PyArg_ParseTuple(args, "szzi", &function, &point, &method, &form)) return NULL;
    Program *program = (Program *)self;
    Worker *worker = worker_take(program);
    if (worker == NULL) return NULL;
    cotan_call call = {.function = function, .at = point, .method = method};
    cotan_error *error;
    watch_begin(worker->context);
    Py_BEGIN_ALLOW_THREADS;
    error = cotan_stages(worker->program, &call, (cotan_page)form, &text);
    Py_END_ALLOW_THREADS;
    if (!ended(program, worker)) return NULL;
    PyObject *made = error != NULL ? raise_error(error) : PyUnicode_FromString(text);
    worker_give(program, worker);
    return made;
}

static PyMethodDef methods[] = {
    {"definitions", program_definitions, METH_NOARGS, NULL},
    {"warnings", program_warnings, METH_NOARGS, NULL},
    {"check", program_check, METH_VARARGS, NULL},
    {"stages", program_stages, METH_VARARGS, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, program_new},
    {Py_tp_dealloc, program_dealloc},
    {Py_tp_traverse, program_traverse},
    {Py_tp_methods, methods},
    {Py_tp_doc, "A Cotan program that is loaded."},
    {0, NULL},
};
PyType_Spec program_spec = {"cotan._core.Program", sizeof(Program), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
PyTypeObject *program_type;
