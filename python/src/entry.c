/* Entries: a function of a program, or a derivative of one, to be called with Python's values. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { GIVES_VALUE, GIVES_DERIVATIVE, GIVES_BOTH };

typedef struct Entry {
    PyObject_HEAD Program *program;
    size_t number; /* of the workers' functions */
    cotan_mode mode;
    char *function, *expression, *method;
    int native, gives;
    Py_ssize_t arity;     /* arguments of the function */
    bool with;            /* a tangent or cotangent follows them */
    PyObject *parameters; /* names, of the tangent too */
    PyObject *variants;   /* by wrt */
    Plan *plans;          /* all; made when first needed, as these: */
    Plan *at, *second, *value, *derivative;
    bool is_made;
    char *not_native;
} Entry;

/* ---- made ---- */

/* A function knows its model, and the model its functions. As with programs, dicts break the cycle. */
static int entry_traverse(PyObject *object, visitproc visit, void *arg) {
    Entry *entry = (Entry *)object;
    Py_VISIT((PyObject *)entry->program);
    Py_VISIT(entry->parameters);
    Py_VISIT(entry->variants);
    Py_VISIT(Py_TYPE(object));
    return plans_traverse(entry->plans, visit, arg);
}

static void entry_dealloc(PyObject *object) {
    Entry *entry = (Entry *)object;
    PyObject_GC_UnTrack(object);
    Py_XDECREF((PyObject *)entry->program);
    Py_XDECREF(entry->parameters);
    Py_XDECREF(entry->variants);
    plans_free(entry->plans);
    free(entry->function);
    free(entry->expression);
    free(entry->method);
    free(entry->not_native);
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static char *copied(const char *text) { return text != NULL ? strdup(text) : NULL; }

/* Entry(program, mode, function, expression, method, native, gives, parameters, variants) */
static PyObject *entry_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *program, *parameters, *variants;
    const char *function, *expression, *method;
    int mode, native, gives;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!izzzpiO!O!", program_type, &program, &mode, &function, &expression, &method, &native,
                          &gives, &PyTuple_Type, &parameters, &PyDict_Type, &variants))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Entry *entry = (Entry *)allocate(type, 0);
    if (entry == NULL) return NULL;
    entry->program = (Program *)Py_NewRef(program);
    entry->number = entry->program->entries++;
    entry->mode = (cotan_mode)mode;
    entry->function = copied(function);
    entry->expression = copied(expression);
    entry->method = copied(method);
    entry->native = native;
    entry->gives = gives;
    entry->parameters = Py_NewRef(parameters);
    entry->variants = Py_NewRef(variants);
    entry->arity = PyTuple_Size(parameters);
    entry->with = mode == COTAN_VJP || mode == COTAN_JVP || mode == COTAN_HVP;
    if (entry->with) entry->arity--;
    return (PyObject *)entry;
}

static bool make_plans(Entry *entry, const cotan_signature *signature) {
    Program *program = entry->program;
    entry->not_native = copied(signature->not_native);
    if (signature->at_type != NULL) entry->at = plan_make(program, signature->at_type, &entry->plans);
    if (signature->with_type != NULL && !PyErr_Occurred())
        entry->second = plan_make(program, signature->with_type, &entry->plans);
    if (!PyErr_Occurred()) entry->value = plan_make(program, signature->value_type, &entry->plans);
    if (signature->derivative_type != NULL && !PyErr_Occurred())
        entry->derivative = plan_make(program, signature->derivative_type, &entry->plans);
    for (Plan *plan = entry->plans; plan != NULL; plan = plan->next) plan->type = NULL; /* they belong to a function */
    if (PyErr_Occurred()) {
        plans_free(entry->plans);
        entry->plans = NULL;
        return false;
    }
    entry->is_made = true;
    return true;
}

/* The worker's function of the entry, made where it is called first. NULL with an exception. */
static cotan_function *function_of(Entry *entry, Worker *worker) {
    if (entry->number < worker->count && worker->functions[entry->number] != NULL && entry->is_made)
        return worker->functions[entry->number];
    if (entry->number >= worker->count) {
        size_t count = entry->program->entries + 8;
        cotan_function **functions = realloc(worker->functions, count * sizeof *functions);
        if (functions == NULL) return (cotan_function *)PyErr_NoMemory();
        memset(functions + worker->count, 0, (count - worker->count) * sizeof *functions);
        worker->functions = functions;
        worker->count = count;
    }
    cotan_function *function = worker->functions[entry->number];
    if (function == NULL) {
        cotan_call call = {.mode = entry->mode,
                           .function = entry->function,
                           .expression = entry->expression,
                           .method = entry->method,
                           .native = entry->native};
        if (call.expression != NULL) call.function = NULL;
        cotan_error *error;
        Py_BEGIN_ALLOW_THREADS;
        error = cotan_function_make(worker->program, &call, &function);
        Py_END_ALLOW_THREADS;
        if (error != NULL) return (cotan_function *)raise_error(error);
        worker->functions[entry->number] = function;
    }
    return entry->is_made || make_plans(entry, cotan_function_signature(function)) ? function : NULL;
}

/* ---- arguments ---- */

static PyObject *wrong_count(const Entry *entry, Py_ssize_t found) {
    Py_ssize_t count = PyTuple_Size(entry->parameters);
    return PyErr_Format(PyExc_TypeError, "%s takes %zd argument%s: %R; found %zd", entry->function, count,
                        count == 1 ? "" : "s", entry->parameters, found);
}

/* Positional and named arguments as a tuple of all. */
static PyObject *bound(const Entry *entry, PyObject *args, PyObject *kwargs) {
    Py_ssize_t count = PyTuple_Size(entry->parameters), given = PyTuple_Size(args), used = 0;
    Py_ssize_t named = kwargs != NULL ? PyDict_Size(kwargs) : 0;
    if (given + named != count) return wrong_count(entry, given + named);
    if (named == 0) return Py_NewRef(args);
    PyObject *all = PyTuple_New(count);
    for (Py_ssize_t i = 0; all != NULL && i < count; i++) {
        PyObject *name = PyTuple_GetItem(entry->parameters, i);
        PyObject *item = i < given ? PyTuple_GetItem(args, i) : PyDict_GetItemWithError(kwargs, name);
        if (item == NULL) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_TypeError, "%s: the argument %R is missing", entry->function, name);
            Py_CLEAR(all);
            break;
        }
        if (i >= given) used++;
        PyTuple_SetItem(all, i, Py_NewRef(item));
    }
    if (all != NULL && used != named) Py_CLEAR(all);
    return all;
}

/* Puts the name of an argument in front of what is wrong with it. */
static void name_argument(const Entry *entry, Py_ssize_t index) {
    PyObject *type, *value, *trace;
    if (!PyErr_ExceptionMatches(names.wrong_input)) return;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_Format(names.wrong_input, "%s, argument `%S`: %S", entry->function, PyTuple_GetItem(entry->parameters, index),
                 value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* The point: the argument, or a tuple of several. */
static cotan_value *point_from(const Entry *entry, PyObject *args, Kept **kept) {
    cotan_value *few[8], **parts = few;
    Py_ssize_t count = entry->arity, made = 0;
    if (count == 0 || entry->at == NULL) return NULL;
    if (count > 8) parts = calloc((size_t)count, sizeof *parts);
    if (parts == NULL) return (cotan_value *)PyErr_NoMemory();
    for (; made < count; made++) {
        const Plan *plan = count == 1 ? entry->at : entry->at->parts[made];
        parts[made] = value_from(plan, PyTuple_GetItem(args, made), kept);
        if (parts[made] == NULL) {
            name_argument(entry, made);
            break;
        }
    }
    cotan_value *point = NULL;
    if (made == count)
        point = count == 1 ? parts[0] : cotan_value_of(COTAN_KIND_TUPLE, parts, (size_t)count);
    else
        while (made > 0) cotan_value_free(parts[--made]);
    if (point == NULL && !PyErr_Occurred()) PyErr_NoMemory();
    if (parts != few) free(parts);
    return point;
}

/* ---- calls ---- */

/* A result that is a pair is of an expression: the value and the derivative. */
static PyObject *results(const Entry *entry, const cotan_value *value, const cotan_value *derivative) {
    bool pair = entry->mode == COTAN_RUN && entry->gives != GIVES_VALUE;
    const Plan *first = pair ? entry->value->parts[0] : entry->value;
    const Plan *second = pair ? entry->value->parts[1] : entry->derivative;
    if (pair) {
        derivative = cotan_value_part(value, 1);
        value = cotan_value_part(value, 0);
    }
    if (entry->gives == GIVES_VALUE) return value_to(first, value);
    PyObject *slope = value_to(second, derivative);
    if (slope == NULL || entry->gives == GIVES_DERIVATIVE) return slope;
    PyObject *number = value_to(first, value);
    PyObject *both = number != NULL ? PyTuple_Pack(2, number, slope) : NULL;
    Py_XDECREF(number);
    Py_DECREF(slope);
    return both;
}

static PyObject *call_on(Entry *entry, Worker **worker, PyObject *args) {
    cotan_context *context = (*worker)->context;
    watch_begin(context);
    cotan_function *function = function_of(entry, *worker);
    Kept *kept = NULL;
    cotan_value *at = function != NULL ? point_from(entry, args, &kept) : NULL, *with = NULL;
    if (entry->with && at != NULL) {
        with = value_from(entry->second, PyTuple_GetItem(args, entry->arity), &kept);
        if (with == NULL) name_argument(entry, entry->arity);
    }
    PyObject *made = NULL;
    cotan_error *error = NULL;
    const cotan_value *value, *derivative;
    bool ready = function != NULL && !PyErr_Occurred();
    if (ready) {
        Py_BEGIN_ALLOW_THREADS;
        error = cotan_apply_values(function, at, with, &value, &derivative);
        Py_END_ALLOW_THREADS;
    }
    watch_end();
    cotan_value_free(at);
    cotan_value_free(with);
    kept_release(kept);
    if (ready && PyErr_CheckSignals() != 0) { /* native code that was being made may be refused for good: begin anew */
        worker_free(*worker);
        *worker = NULL;
        return NULL;
    }
    if (ready) made = error != NULL ? raise_error(error) : results(entry, value, derivative);
    return made;
}

static PyObject *call(Entry *entry, PyObject *args) {
    Worker *worker = worker_take(entry->program);
    if (worker == NULL) return NULL;
    PyObject *made = call_on(entry, &worker, args);
    if (worker != NULL) worker_give(entry->program, worker);
    return made;
}

/* Takes wrt and method from the named arguments: the entry for them, and those that are left. */
static PyObject *variant(PyObject *self, PyObject **kwargs) {
    Entry *entry = (Entry *)self;
    PyObject *wrt = PyDict_GetItemString(*kwargs, "wrt"), *method = PyDict_GetItemString(*kwargs, "method");
    if (wrt == NULL && method == NULL) {
        Py_INCREF(*kwargs);
        return Py_NewRef(self);
    }
    PyObject *known = method == NULL && PyUnicode_Check(wrt) ? PyDict_GetItemWithError(entry->variants, wrt) : NULL;
    if (known != NULL && PyDict_Size(*kwargs) == 1) {
        *kwargs = NULL;
        return Py_NewRef(known);
    }
    PyObject *rest = PyDict_Copy(*kwargs);
    PyObject *found = rest != NULL ? PyObject_CallMethod(self, "_variant", "OO", wrt != NULL ? wrt : Py_None,
                                                         method != NULL ? method : Py_None)
                                   : NULL;
    if (found == NULL) {
        Py_XDECREF(rest);
        *kwargs = NULL;
        return NULL;
    }
    if (wrt != NULL) PyDict_DelItemString(rest, "wrt");
    if (method != NULL) PyDict_DelItemString(rest, "method");
    *kwargs = rest;
    return found;
}

static PyObject *entry_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    Entry *entry = (Entry *)self;
    if (kwargs == NULL && PyTuple_Size(args) == PyTuple_Size(entry->parameters)) return call(entry, args);
    PyObject *rest = kwargs, *chosen = kwargs != NULL ? variant(self, &rest) : Py_NewRef(self);
    if (chosen == NULL) return NULL;
    PyObject *all = bound((Entry *)chosen, args, rest);
    PyObject *made = all != NULL ? call((Entry *)chosen, all) : NULL;
    Py_XDECREF(all);
    Py_XDECREF(rest);
    Py_DECREF(chosen);
    return made;
}

/* The JSON text of arguments as one value. */
static PyObject *entry_json(PyObject *self, PyObject *args) {
    Entry *entry = (Entry *)self;
    Worker *worker = worker_take(entry->program);
    if (worker == NULL) return NULL;
    cotan_function *function = function_of(entry, worker);
    Kept *kept = NULL;
    PyObject *made = NULL;
    if (function != NULL && PyTuple_Size(args) != entry->arity) wrong_count(entry, PyTuple_Size(args));
    cotan_value *at = function != NULL && !PyErr_Occurred() ? point_from(entry, args, &kept) : NULL;
    if (at != NULL) {
        const char *text;
        cotan_error *error = cotan_function_json(function, at, &text);
        made = error != NULL ? raise_error(error) : PyUnicode_FromString(text);
    }
    cotan_value_free(at);
    kept_release(kept);
    worker_give(entry->program, worker);
    if (made == NULL && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a constant has no arguments");
    return made;
}

/* Why the evaluator runs it, None where it is native code. */
static PyObject *entry_not_native(PyObject *self, PyObject *unused) {
    (void)unused;
    Entry *entry = (Entry *)self;
    Worker *worker = worker_take(entry->program);
    if (worker == NULL) return NULL;
    cotan_function *function = function_of(entry, worker);
    worker_give(entry->program, worker);
    if (function == NULL) return NULL;
    if (!entry->native) return PyUnicode_FromString("it was not asked for");
    return entry->not_native != NULL ? PyUnicode_FromString(entry->not_native) : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"_json", entry_json, METH_VARARGS, NULL},
    {"_not_native", entry_not_native, METH_NOARGS, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, entry_new},
    {Py_tp_dealloc, entry_dealloc},
    {Py_tp_traverse, entry_traverse},
    {Py_tp_call, entry_call},
    {Py_tp_methods, methods},
    {Py_tp_doc, "A function of a Cotan program, or a derivative of one."},
    {0, NULL},
};
PyType_Spec entry_spec = {"cotan._core.Entry", sizeof(Entry), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
PyTypeObject *entry_type;
