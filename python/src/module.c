/* The module cotan._core. */
#include "core.h"

Names names;

/* configure(make_error, wrong_input, as_array, empty, masked, dtypes): what the module needs of Python; dtypes are
 * those of Double, Float, Int, Bool as they go in, and of Bool and Float as they come out. */
static PyObject *configure(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *dtypes;
    Names given = {0};
    if (!PyArg_ParseTuple(args, "OOOOOO!", &given.make_error, &given.wrong_input, &given.as_array, &given.empty,
                          &given.masked, &PyTuple_Type, &dtypes))
        return NULL;
    for (Py_ssize_t i = 0; i < 6; i++) given.dtypes[i] = Py_XNewRef(PyTuple_GetItem(dtypes, i));
    if (PyErr_Occurred()) return NULL;
    Py_INCREF(given.make_error);
    Py_INCREF(given.wrong_input);
    Py_INCREF(given.as_array);
    Py_INCREF(given.empty);
    Py_INCREF(given.masked);
    names = given;
    Py_RETURN_NONE;
}

/* methods() -> [(name, what, figure, reverse)] */
static PyObject *list_methods(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    const cotan_method *method;
    for (size_t i = 0; list != NULL && (method = cotan_method_at(i)) != NULL; i++) {
        PyObject *one =
            Py_BuildValue("(sssN)", method->name, method->what, method->figure, PyBool_FromLong(method->reverse));
        if (one == NULL || PyList_Append(list, one) != 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* explain(code) -> (title, text), or None. */
static PyObject *explain(PyObject *module, PyObject *args) {
    (void)module;
    const char *code, *title;
    if (!PyArg_ParseTuple(args, "s", &code)) return NULL;
    const char *text = cotan_explain(code, &title);
    return text != NULL ? Py_BuildValue("(ss)", title, text) : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"configure", configure, METH_VARARGS, NULL},
    {"methods", list_methods, METH_NOARGS, NULL},
    {"explain", explain, METH_VARARGS, NULL},
    {0},
};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec) {
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(spec);
    if (type == NULL || PyModule_AddType(module, type) != 0) return NULL;
    return type;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "cotan._core", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void); /* Python calls it by name */
PyMODINIT_FUNC PyInit__core(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    program_type = add_type(module, &program_spec);
    entry_type = program_type != NULL ? add_type(module, &entry_spec) : NULL;
    if (entry_type == NULL || PyModule_AddStringConstant(module, "version", cotan_version()) != 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
