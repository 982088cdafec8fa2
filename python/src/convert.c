/* Python's values to Cotan's and back, by plans. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

void kept_release(Kept *kept) {
    while (kept != NULL) {
        Kept *one = kept;
        kept = one->next;
        if (one->kind == KEPT_BUFFER)
            PyBuffer_Release(&one->of.buffer);
        else if (one->kind == KEPT_OBJECT)
            Py_DECREF(one->of.object);
        else
            free(one->of.memory);
        free(one);
    }
}

cotan_value *expected(const Plan *plan, PyObject *object) {
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    if (type != NULL) PyErr_Format(names.wrong_input, "expected %s, found %S", plan->name, type);
    Py_XDECREF(type);
    return NULL;
}

/* ---- in ---- */

static cotan_value *checked(cotan_value *value) {
    if (value == NULL && !PyErr_Occurred()) PyErr_NoMemory();
    return value;
}

/* Whether an object is an array of NumPy's that hides its number, which it gives all the same. */
static bool is_masked(PyObject *object) {
    if (!PyType_IsSubtype(Py_TYPE(object), (PyTypeObject *)names.masked)) return false;
    PyObject *mask = PyObject_GetAttrString(object, "mask");
    bool masked = mask == NULL || PyObject_IsTrue(mask) != 0;
    Py_XDECREF(mask);
    PyErr_Clear();
    return masked;
}

/* Whether NumPy would make a float of an object that is no real number: of a complex number its real part, of a text
 * the number that it tells, of a time its ticks. */
static bool is_other_kind(PyObject *object) {
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    PyObject *kind = dtype != NULL ? PyObject_GetAttrString(dtype, "kind") : NULL;
    const char *text = kind != NULL && PyUnicode_Check(kind) ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
    bool other = text != NULL && text[0] != '\0' && strchr("cSUMm", text[0]) != NULL;
    Py_XDECREF(dtype);
    Py_XDECREF(kind);
    PyErr_Clear();
    return other;
}

static cotan_value *real_from(const Plan *plan, PyObject *object) {
    bool plain = PyFloat_Check(object) || PyLong_Check(object);
    if (!plain && (PyUnicode_Check(object) || PyComplex_Check(object) || is_masked(object) || is_other_kind(object)))
        return expected(plan, object);
    double number = PyFloat_AsDouble(object);
    if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return expected(plan, object);
    }
    return checked(cotan_value_double(number));
}

/* The object as an int of Python's; NULL with or without an exception. */
static PyObject *index_of(PyObject *object) {
    if (PyLong_CheckExact(object)) return Py_NewRef(object);
    return PyBool_Check(object) || is_masked(object) ? NULL : PyNumber_Index(object);
}

static cotan_value *int_from(const Plan *plan, PyObject *object) {
    PyObject *index = index_of(object);
    long long number = index != NULL ? PyLong_AsLongLong(index) : 0;
    Py_XDECREF(index);
    if (index != NULL && !PyErr_Occurred()) return checked(cotan_value_int(number));
    bool large = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError);
    PyErr_Clear();
    if (!large) return expected(plan, object);
    PyObject *shown = PyObject_Repr(object); /* NULL: Python shows no int of so many digits */
    PyErr_Clear();
    if (shown == NULL) shown = PyUnicode_FromString("an int");
    if (shown != NULL) PyErr_Format(names.wrong_input, "expected Int, found %U, which has more than 64 bits", shown);
    Py_XDECREF(shown);
    return NULL;
}

/* The same number as a decimal.Decimal, whose texts have no limit, as those of ints have: 4300 digits. */
static PyObject *decimal_of(PyObject *number) {
    PyObject *module = PyImport_ImportModule("decimal");
    PyObject *decimal = module != NULL ? PyObject_CallMethod(module, "Decimal", "O", number) : NULL;
    Py_XDECREF(module);
    return decimal;
}

static PyObject *digits_of(PyObject *index) {
    PyObject *digits = PyObject_Str(index);
    if (digits != NULL || !PyErr_ExceptionMatches(PyExc_ValueError)) return digits;
    PyErr_Clear();
    PyObject *decimal = decimal_of(index);
    digits = decimal != NULL ? PyObject_Str(decimal) : NULL;
    Py_XDECREF(decimal);
    return digits;
}

static cotan_value *integer_from(const Plan *plan, PyObject *object) {
    PyObject *index = index_of(object);
    PyObject *digits = index != NULL ? digits_of(index) : NULL;
    Py_ssize_t length = 0;
    const char *text = digits != NULL ? PyUnicode_AsUTF8AndSize(digits, &length) : NULL;
    cotan_value *value = text != NULL ? checked(cotan_value_integer(text, (size_t)length)) : NULL;
    Py_XDECREF(digits);
    if (index == NULL) {
        PyErr_Clear();
        return expected(plan, object);
    }
    Py_DECREF(index);
    return value;
}

static cotan_value *bool_from(const Plan *plan, PyObject *object) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    const char *text = name != NULL ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    bool fits = PyBool_Check(object) || (text != NULL && strncmp(text, "bool", 4) == 0); /* NumPy's, too */
    Py_XDECREF(name);
    return fits ? checked(cotan_value_bool(PyObject_IsTrue(object) == 1)) : expected(plan, object);
}

static cotan_value *char_from(const Plan *plan, PyObject *object) {
    if (!PyUnicode_Check(object) || PyUnicode_GetLength(object) != 1) return expected(plan, object);
    return checked(cotan_value_char((uint32_t)PyUnicode_ReadChar(object, 0)));
}

static cotan_value *string_from(const Plan *plan, PyObject *object) {
    Py_ssize_t length;
    if (!PyUnicode_Check(object)) return expected(plan, object);
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    return text != NULL ? checked(cotan_value_string(text, (size_t)length)) : NULL;
}

/* The items of a sequence that is no text and no mapping, and a set only where order does not matter; NULL with an
 * exception. */
static PyObject *items_of(const Plan *plan, PyObject *object) {
    if (PyTuple_CheckExact(object)) return Py_NewRef(object);
    bool refused = PyUnicode_Check(object) || PyDict_Check(object) || PyBytes_Check(object) ||
                   (plan->kind != COTAN_KIND_SET && PyAnySet_Check(object));
    PyObject *items = refused ? NULL : PySequence_Tuple(object);
    if (items == NULL) {
        PyErr_Clear();
        expected(plan, object);
    }
    return items;
}

/* What values are being made of. Those that were made are taken by the last step, also when that fails. */
typedef struct Parts {
    cotan_value **items;
    size_t count;
    bool failed;
} Parts;

static Parts parts_new(size_t count) {
    Parts parts = {calloc(count + 1, sizeof *parts.items), 0, false};
    if (parts.items == NULL) {
        PyErr_NoMemory();
        parts.failed = true;
    }
    return parts;
}

static void parts_add(Parts *parts, const Plan *plan, PyObject *object, Kept **kept) {
    if (parts->failed) return;
    cotan_value *value = object != NULL ? value_from(plan, object, kept) : NULL;
    if (value == NULL)
        parts->failed = true;
    else
        parts->items[parts->count++] = value;
}

static cotan_value *parts_end(Parts *parts, cotan_kind kind, const char *constructor) {
    cotan_value *value = NULL;
    if (parts->failed)
        for (size_t i = 0; i < parts->count; i++) cotan_value_free(parts->items[i]);
    else
        value = constructor != NULL ? cotan_value_data(constructor, parts->items, parts->count)
                                    : cotan_value_of(kind, parts->items, parts->count);
    if (value == NULL && !PyErr_Occurred())
        PyErr_Format(PyExc_RecursionError, "a value may be nested %d levels deep", COTAN_DEEPEST);
    free(parts->items);
    return value;
}

cotan_value *sequence_from(const Plan *plan, PyObject *object, Kept **kept) {
    PyObject *items = items_of(plan, object);
    if (items == NULL) return NULL;
    Py_ssize_t count = PyTuple_Size(items);
    bool tuple = plan->kind == COTAN_KIND_TUPLE;
    if (tuple && (size_t)count != plan->count) {
        PyErr_Format(names.wrong_input, "expected %s, found %zd element%s", plan->name, count, count == 1 ? "" : "s");
        Py_DECREF(items);
        return NULL;
    }
    Parts parts = parts_new((size_t)count);
    for (Py_ssize_t i = 0; i < count && !parts.failed; i++)
        parts_add(&parts, plan->parts[tuple ? i : 0], PyTuple_GetItem(items, i), kept);
    Py_DECREF(items);
    return parts_end(&parts, plan->kind, NULL);
}

static cotan_value *map_from(const Plan *plan, PyObject *object, Kept **kept) {
    PyObject *items = PyMapping_Check(object) ? PyMapping_Items(object) : NULL;
    if (items == NULL) {
        PyErr_Clear();
        return expected(plan, object);
    }
    Py_ssize_t count = PyList_Size(items);
    Parts parts = parts_new(2 * (size_t)count);
    for (Py_ssize_t i = 0; i < count && !parts.failed; i++) {
        PyObject *item = PyList_GetItem(items, i);
        parts_add(&parts, plan->parts[0], PyTuple_GetItem(item, 0), kept);
        parts_add(&parts, plan->parts[1], PyTuple_GetItem(item, 1), kept);
    }
    Py_DECREF(items);
    return parts_end(&parts, COTAN_KIND_MAP, NULL);
}

/* Whether an object is of the class of a constructor, or of another model's class for the same constructor. */
static bool is_of(const Plan *plan, const PlanCon *con, PyObject *object) {
    if (plan->is_enum && object == con->object) return true;
    if (!plan->is_enum && (PyObject *)Py_TYPE(object) == con->object) return true;
    return false;
}

static bool is_like(const Plan *plan, const PlanCon *con, PyObject *object) {
    PyObject *mark = PyObject_GetAttrString(object, "__cotan__");
    const char *text = mark != NULL && PyUnicode_Check(mark) ? PyUnicode_AsUTF8AndSize(mark, NULL) : NULL;
    size_t length = strcspn(plan->name, " "); /* its arguments do not tell classes apart */
    bool same = text != NULL && strncmp(text, plan->name, length) == 0 && text[length] == '.' &&
                strcmp(text + length + 1, con->name) == 0;
    Py_XDECREF(mark);
    PyErr_Clear();
    return same;
}

/* Whether the keys of a dict that cotan.flatten has put in order are in that of the fields, as those of a gradient are.
 */
static bool is_in_order(const PlanCon *con, PyObject *dict) {
    if (PyDict_CheckExact(dict) || !PyObject_HasAttrString(dict, "_cotan_in_order")) return true;
    PyObject *key, *value;
    Py_ssize_t at = 0;
    for (size_t i = 0; i < con->count && PyDict_Next(dict, &at, &key, &value); i++)
        if (PyUnicode_Compare(key, con->names[i]) != 0) return false;
    return true;
}

static cotan_value *fields_from(const PlanCon *con, PyObject *object, bool by_key, Kept **kept) {
    Parts parts = parts_new(con->count);
    for (size_t i = 0; i < con->count && !parts.failed; i++) {
        PyObject *field = by_key ? PyObject_GetItem(object, con->names[i]) : PyObject_GetAttr(object, con->names[i]);
        parts_add(&parts, con->fields[i], field, kept);
        Py_XDECREF(field);
    }
    return parts_end(&parts, COTAN_KIND_DATA, con->name);
}

static cotan_value *data_from(const Plan *plan, PyObject *object, Kept **kept) {
    if (plan->is_maybe) {
        if (object == Py_None) return checked(cotan_value_data("Nothing", NULL, 0));
        Parts parts = parts_new(1);
        parts_add(&parts, plan->cons[1].fields[0], object, kept);
        return parts_end(&parts, COTAN_KIND_DATA, "Just");
    }
    for (size_t i = 0; i < plan->con_count; i++)
        if (is_of(plan, &plan->cons[i], object)) return fields_from(&plan->cons[i], object, false, kept);
    for (size_t i = 0; i < plan->con_count; i++)
        if (is_like(plan, &plan->cons[i], object)) return fields_from(&plan->cons[i], object, false, kept);
    const PlanCon *con = &plan->cons[0];
    if (plan->con_count == 1 && PyDict_Check(object) && (size_t)PyDict_Size(object) == con->count) {
        if (is_in_order(con, object)) return fields_from(con, object, true, kept);
        PyErr_Format(names.wrong_input,
                     "the fields of %s are not in the order of a dict's keys: flatten an object of its class",
                     plan->name);
        return NULL;
    }
    return expected(plan, object);
}

static cotan_value *of_kind(const Plan *plan, PyObject *object, Kept **kept) {
    switch (plan->kind) {
    case COTAN_KIND_DOUBLE:
    case COTAN_KIND_FLOAT: return real_from(plan, object);
    case COTAN_KIND_INT: return int_from(plan, object);
    case COTAN_KIND_INTEGER: return integer_from(plan, object);
    case COTAN_KIND_BOOL: return bool_from(plan, object);
    case COTAN_KIND_CHAR: return char_from(plan, object);
    case COTAN_KIND_STRING: return string_from(plan, object);
    case COTAN_KIND_ARRAY: return plan->rank > 0 ? array_from(plan, object, kept) : sequence_from(plan, object, kept);
    case COTAN_KIND_TUPLE:
    case COTAN_KIND_LIST:
    case COTAN_KIND_SET: return sequence_from(plan, object, kept);
    case COTAN_KIND_MAP: return map_from(plan, object, kept);
    case COTAN_KIND_DATA: return data_from(plan, object, kept);
    case COTAN_KIND_FUNCTION: break;
    }
    return expected(plan, object);
}

cotan_value *value_from(const Plan *plan, PyObject *object, Kept **kept) {
    if (plan->kind <= COTAN_KIND_STRING) return of_kind(plan, object, kept);
    if (Py_EnterRecursiveCall(" while a value was read")) return NULL;
    cotan_value *value = of_kind(plan, object, kept);
    Py_LeaveRecursiveCall();
    return value;
}

/* ---- out ---- */

static PyObject *tuple_to(Plan *const *plans, const cotan_value *value) {
    size_t count = cotan_value_count(value);
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *item = value_to(plans[i], cotan_value_part(value, i));
        if (item == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, item) != 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *list_to(const Plan *element, const cotan_value *value) {
    size_t count = cotan_value_count(value);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *item = value_to(element, cotan_value_part(value, i));
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *map_to(const Plan *plan, const cotan_value *value) {
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < cotan_value_count(value); i += 2) {
        PyObject *key = value_to(plan->parts[0], cotan_value_part(value, i));
        PyObject *item = key != NULL ? value_to(plan->parts[1], cotan_value_part(value, i + 1)) : NULL;
        if (item == NULL || PyDict_SetItem(dict, key, item) != 0) Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(item);
    }
    return dict;
}

static PyObject *set_to(const Plan *plan, const cotan_value *value) {
    PyObject *list = list_to(plan->parts[0], value);
    PyObject *set = list != NULL ? PyFrozenSet_New(list) : NULL;
    Py_XDECREF(list);
    return set;
}

static PyObject *data_to(const Plan *plan, const cotan_value *value) {
    const char *name = cotan_value_text(value);
    const PlanCon *con = plan->cons;
    if (name != NULL)
        while (strcmp(con->name, name) != 0) con++;
    if (plan->is_maybe)
        return con == plan->cons ? Py_NewRef(Py_None) : value_to(con->fields[0], cotan_value_part(value, 0));
    if (plan->is_enum) return Py_NewRef(con->object);
    PyObject *fields = tuple_to(con->fields, value);
    PyObject *made = fields != NULL ? PyObject_CallObject(con->object, fields) : NULL;
    Py_XDECREF(fields);
    return made;
}

static PyObject *integer_to(const char *digits) {
    PyObject *number = PyLong_FromString(digits, NULL, 10);
    if (number != NULL || !PyErr_ExceptionMatches(PyExc_ValueError)) return number;
    PyErr_Clear();
    PyObject *text = PyUnicode_FromString(digits), *decimal = text != NULL ? decimal_of(text) : NULL;
    number = decimal != NULL ? PyNumber_Long(decimal) : NULL;
    Py_XDECREF(text);
    Py_XDECREF(decimal);
    return number;
}

static PyObject *to_kind(const Plan *plan, const cotan_value *value) {
    switch (plan->kind) {
    case COTAN_KIND_DOUBLE:
    case COTAN_KIND_FLOAT: return PyFloat_FromDouble(cotan_value_as_double(value));
    case COTAN_KIND_INT: return PyLong_FromLongLong(cotan_value_as_int(value));
    case COTAN_KIND_INTEGER: return integer_to(cotan_value_text(value));
    case COTAN_KIND_BOOL: return PyBool_FromLong(cotan_value_as_int(value) != 0);
    case COTAN_KIND_CHAR: return PyUnicode_FromOrdinal((int)cotan_value_as_int(value));
    case COTAN_KIND_STRING:
        return PyUnicode_DecodeUTF8(cotan_value_text(value), (Py_ssize_t)cotan_value_text_length(value), "replace");
    case COTAN_KIND_TUPLE: return tuple_to(plan->parts, value);
    case COTAN_KIND_LIST: return list_to(plan->parts[0], value);
    case COTAN_KIND_ARRAY: {
        cotan_element element;
        unsigned rank;
        const size_t *size;
        bool flat = cotan_value_as_numbers(value, &element, &rank, &size) != NULL;
        return flat ? array_to(plan, value) : list_to(plan->parts[0], value);
    }
    case COTAN_KIND_MAP: return map_to(plan, value);
    case COTAN_KIND_SET: return set_to(plan, value);
    case COTAN_KIND_DATA: return data_to(plan, value);
    case COTAN_KIND_FUNCTION: break;
    }
    PyErr_SetString(PyExc_TypeError, "the result holds a function");
    return NULL;
}

PyObject *value_to(const Plan *plan, const cotan_value *value) {
    if (plan->kind <= COTAN_KIND_STRING) return to_kind(plan, value);
    if (Py_EnterRecursiveCall(" while a result was read")) return NULL;
    PyObject *object = to_kind(plan, value);
    Py_LeaveRecursiveCall();
    return object;
}
