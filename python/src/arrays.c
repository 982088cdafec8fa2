/* Arrays of numbers: in from any object that shows its memory, by the buffer protocol, DLPack or as NumPy sees it, and
 * not copied where its numbers are Doubles or Ints and lie in order; out as arrays of NumPy's own. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static Kept *keep(Kept **kept, int kind) {
    Kept *one = calloc(1, sizeof *one);
    if (one == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    one->kind = kind;
    one->next = *kept;
    *kept = one;
    return one;
}

static bool is_real(cotan_element element) { return element == COTAN_DOUBLE || element == COTAN_FLOAT; }

static cotan_value *numbers(const Plan *plan, const void *data, int rank, const size_t *size) {
    static const double nothing[1];
    cotan_value *value = cotan_value_numbers(plan->element, data != NULL ? data : nothing, (unsigned)rank, size);
    return value != NULL ? value : (cotan_value *)PyErr_NoMemory();
}

/* ---- the buffer protocol ---- */

/* Whether a format of the buffer protocol is a number of 8 bytes in the machine's order. */
static bool is_format(const char *format, cotan_element element) {
    if (format == NULL) return false;
    if (*format == '<' || *format == '=' || *format == '@') format++;
    if (is_real(element)) return strcmp(format, "d") == 0;
    return element == COTAN_INT && (strcmp(format, "q") == 0 || strcmp(format, "l") == 0);
}

/* NULL without an exception: the object has no such buffer. */
static cotan_value *by_buffer(const Plan *plan, PyObject *object, Kept **kept) {
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return NULL;
    }
    bool fits = is_format(view.format, plan->element) && view.itemsize == 8 && ((uintptr_t)view.buf & 7) == 0 &&
                view.ndim > 0 && view.ndim <= COTAN_MOST_DIMENSIONS;
    Kept *one = fits ? keep(kept, KEPT_BUFFER) : NULL;
    if (one == NULL) {
        PyBuffer_Release(&view);
        return NULL;
    }
    size_t size[COTAN_MOST_DIMENSIONS];
    for (int i = 0; i < view.ndim; i++) size[i] = (size_t)view.shape[i];
    one->of.buffer = view;
    return numbers(plan, view.buf, view.ndim, size);
}

/* ---- DLPack ---- */

/* The structures of DLPack's first version, which are part of its standard. */
typedef struct Tensor {
    void *data;
    int32_t device, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t offset;
} Tensor;
enum { DLPACK_CPU = 1, DLPACK_INT = 0, DLPACK_FLOAT = 2 };

static bool is_in_order(const Tensor *tensor) {
    int64_t step = 1;
    for (int i = tensor->ndim; tensor->strides != NULL && i > 0; i--) {
        if (tensor->shape[i - 1] > 1 && tensor->strides[i - 1] != step) return false;
        step *= tensor->shape[i - 1];
    }
    return true;
}

/* In a capsule of version 1, the tensor comes behind version, owner, destructor and flags. */
enum { DLPACK_HEAD = 4 * 8 };

/* The capsule of an object, and the tensor in it; NULL without an exception: there is none. */
static PyObject *capsule_of(PyObject *object, const Tensor **tensor) {
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    PyObject *nothing = PyTuple_New(0), *version = Py_BuildValue("{s(ii)}", "max_version", 1, 0);
    PyObject *capsule = method != NULL ? PyObject_Call(method, nothing, version) : NULL;
    if (capsule == NULL && method != NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear(); /* of an older one */
        capsule = PyObject_Call(method, nothing, NULL);
    }
    Py_XDECREF(method);
    Py_XDECREF(nothing);
    Py_XDECREF(version);
    *tensor = NULL;
    if (capsule != NULL && PyCapsule_IsValid(capsule, "dltensor")) {
        *tensor = PyCapsule_GetPointer(capsule, "dltensor");
    } else if (capsule != NULL && PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        const char *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (*(const uint32_t *)(const void *)managed == 1)
            *tensor = (const Tensor *)(const void *)(managed + DLPACK_HEAD);
    }
    PyErr_Clear();
    return capsule;
}

/* As by_buffer. The capsule is kept, and releases the tensor when it goes. */
static cotan_value *by_dlpack(const Plan *plan, PyObject *object, Kept **kept) {
    const Tensor *tensor;
    PyObject *capsule = capsule_of(object, &tensor);
    bool fits = tensor != NULL && tensor->device == DLPACK_CPU && tensor->bits == 64 && tensor->lanes == 1 &&
                tensor->code == (is_real(plan->element) ? DLPACK_FLOAT : DLPACK_INT) && plan->element != COTAN_BOOL &&
                tensor->ndim > 0 && tensor->ndim <= COTAN_MOST_DIMENSIONS && is_in_order(tensor);
    const char *data = fits ? (const char *)tensor->data + tensor->offset : NULL;
    Kept *one = fits && ((uintptr_t)data & 7) == 0 ? keep(kept, KEPT_OBJECT) : NULL;
    if (one == NULL) {
        Py_XDECREF(capsule);
        return NULL;
    }
    size_t size[COTAN_MOST_DIMENSIONS];
    for (int i = 0; i < tensor->ndim; i++) size[i] = (size_t)tensor->shape[i];
    one->of.object = capsule;
    return numbers(plan, data, tensor->ndim, size);
}

/* ---- sequences, and all else ---- */

/* Of a list or tuple of numbers; NULL without an exception where NumPy had better see it. */
static cotan_value *by_sequence(const Plan *plan, PyObject *object, Kept **kept) {
    bool is_list = PyList_CheckExact(object);
    size_t count = (size_t)(is_list ? PyList_Size(object) : PyTuple_Size(object));
    double *data = malloc((count + 1) * sizeof *data);
    Kept *one = data != NULL ? keep(kept, KEPT_MEMORY) : NULL;
    if (one == NULL) {
        free(data);
        return NULL;
    }
    one->of.memory = data;
    for (size_t i = 0; i < count; i++) {
        PyObject *item = is_list ? PyList_GetItem(object, (Py_ssize_t)i) : PyTuple_GetItem(object, (Py_ssize_t)i);
        if (item == NULL || !PyFloat_CheckExact(item)) {
            PyErr_Clear();
            return NULL;
        }
        data[i] = PyFloat_AsDouble(item);
    }
    return numbers(plan, data, 1, &count);
}

/* The value, unless it has another number of dimensions than the type. Those behind an empty one are not seen in a
 * sequence, as in [] or [[], []]: there they are empty, too. */
static cotan_value *of_rank(const Plan *plan, cotan_value *value, bool sequence) {
    cotan_element element;
    unsigned rank;
    const size_t *size;
    cotan_value_as_numbers(value, &element, &rank, &size);
    if (rank == plan->rank) return value;
    if (sequence && rank < plan->rank && size[rank - 1] == 0) {
        size_t whole[COTAN_MOST_DIMENSIONS] = {0};
        memcpy(whole, size, rank * sizeof *size);
        cotan_value_free(value);
        return numbers(plan, NULL, (int)plan->rank, whole);
    }
    cotan_value_free(value);
    PyErr_Format(names.wrong_input, "expected %s, found an array of %u dimension%s", plan->name, rank,
                 rank == 1 ? "" : "s");
    return NULL;
}

cotan_value *array_from(const Plan *plan, PyObject *object, Kept **kept) {
    cotan_value *value = NULL;
    bool sequence = PyList_CheckExact(object) || PyTuple_CheckExact(object);
    bool masked =
        !sequence && PyType_IsSubtype(Py_TYPE(object), (PyTypeObject *)names.masked); /* NumPy has to see it */
    if (sequence && plan->rank == 1 && is_real(plan->element))
        value = by_sequence(plan, object, kept);
    else if (!sequence && !masked && PyObject_CheckBuffer(object))
        value = by_buffer(plan, object, kept);
    else if (!sequence && !masked && PyObject_HasAttrString(object, "__dlpack__"))
        value = by_dlpack(plan, object, kept);
    if (value != NULL) return of_rank(plan, value, sequence);
    if (PyErr_Occurred()) return NULL;
    PyObject *array = PyObject_CallFunctionObjArgs(names.as_array, object, names.dtypes[plan->element], NULL);
    if (array == NULL) {
        PyErr_Clear();
        /* Rows that are no array together: the row that is wrong is named. */
        return sequence && plan->rank > 1 ? sequence_from(plan, object, kept) : expected(plan, object);
    }
    if (plan->element == COTAN_BOOL) { /* Bools are words, which only this copy has */
        Plan words = *plan;
        words.element = COTAN_INT;
        value = by_buffer(&words, array, kept);
        if (value != NULL) {
            const size_t *size;
            unsigned rank;
            cotan_element element;
            const void *data = cotan_value_as_numbers(value, &element, &rank, &size);
            cotan_value *truths = numbers(plan, data, (int)rank, size);
            cotan_value_free(value);
            value = truths;
        }
    } else {
        value = by_buffer(plan, array, kept);
    }
    Py_DECREF(array); /* the buffer holds it */
    if (value != NULL) return of_rank(plan, value, sequence);
    return PyErr_Occurred() ? NULL : expected(plan, object);
}

/* ---- out ---- */

static void fill(cotan_element element, char *to, const void *from, size_t count) {
    if (element == COTAN_BOOL)
        for (size_t i = 0; i < count; i++) to[i] = ((const int64_t *)from)[i] != 0;
    else if (element == COTAN_FLOAT)
        for (size_t i = 0; i < count; i++) ((float *)(void *)to)[i] = (float)((const double *)from)[i];
    else if (count > 0)
        memcpy(to, from, count * 8);
}

static PyObject *shape_of(unsigned rank, const size_t *size) {
    if (rank == 1) return PyLong_FromSize_t(size[0]);
    PyObject *shape = PyTuple_New((Py_ssize_t)rank);
    for (unsigned i = 0; shape != NULL && i < rank; i++) {
        PyObject *one = PyLong_FromSize_t(size[i]);
        if (one == NULL || PyTuple_SetItem(shape, (Py_ssize_t)i, one) != 0) Py_CLEAR(shape);
    }
    return shape;
}

/* Elements that are no numbers to NumPy: lists of lists of them. */
static PyObject *lists(const Plan *plan, cotan_element element, unsigned rank, const size_t *size,
                       const int64_t **from) {
    PyObject *list = PyList_New((Py_ssize_t)size[0]);
    for (size_t i = 0; list != NULL && i < size[0]; i++) {
        PyObject *item = NULL;
        if (rank > 1)
            item = lists(plan->parts[0], element, rank - 1, size + 1, from);
        else if (element == COTAN_CHAR)
            item = PyUnicode_FromOrdinal((int)*(*from)++);
        else
            item = Py_NewRef(plan->parts[0]->cons[*(*from)++].object);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) Py_CLEAR(list);
    }
    return list;
}

PyObject *array_to(const Plan *plan, const cotan_value *value) {
    cotan_element element;
    unsigned rank;
    const size_t *size;
    const void *data = cotan_value_as_numbers(value, &element, &rank, &size);
    const int64_t *from = data;
    if (element == COTAN_CHAR || element == COTAN_TAG) return lists(plan, element, rank, size, &from);
    PyObject *shape = shape_of(rank, size);
    PyObject *array = shape != NULL ? PyObject_CallFunctionObjArgs(names.empty, shape,
                                                                   names.dtypes[element == COTAN_BOOL    ? 4
                                                                                : element == COTAN_FLOAT ? 5
                                                                                                         : element],
                                                                   NULL)
                                    : NULL;
    Py_XDECREF(shape);
    Py_buffer view;
    if (array == NULL || PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) != 0) {
        Py_XDECREF(array);
        return NULL;
    }
    size_t count = 1;
    for (unsigned i = 0; i < rank; i++) count *= size[i];
    fill(element, view.buf, data, count);
    PyBuffer_Release(&view);
    return array;
}
