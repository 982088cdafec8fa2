/* Plans: the types of a function, with the classes of Python that stand for its data types. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static void con_free(PlanCon *con) {
    for (size_t i = 0; i < con->count && con->names != NULL; i++) Py_XDECREF(con->names[i]);
    free(con->names);
    free(con->fields);
    Py_XDECREF(con->object);
    free((char *)con->name);
}

void plans_free(Plan *all) {
    while (all != NULL) {
        Plan *plan = all;
        all = plan->next;
        for (size_t i = 0; i < plan->con_count && plan->cons != NULL; i++) con_free(&plan->cons[i]);
        free(plan->cons);
        free(plan->parts);
        free(plan->name);
        free(plan);
    }
}

int plans_traverse(const Plan *all, visitproc visit, void *arg) {
    for (const Plan *plan = all; plan != NULL; plan = plan->next)
        for (size_t i = 0; i < plan->con_count && plan->cons != NULL; i++) Py_VISIT(plan->cons[i].object);
    return 0;
}

static Plan **parts_of(Program *program, const cotan_type *const *types, size_t count, Plan **all) {
    Plan **parts = calloc(count + 1, sizeof *parts);
    if (parts == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        parts[i] = plan_make(program, types[i], all);
        if (parts[i] == NULL) {
            free(parts);
            return NULL;
        }
    }
    return parts;
}

/* [(constructor, names of the fields or None, types of the fields)] */
static PyObject *described(const cotan_type *type) {
    PyObject *all = PyList_New(0);
    for (size_t i = 0; all != NULL && i < type->constructor_count; i++) {
        const cotan_constructor *con = &type->constructors[i];
        PyObject *fields = con->names != NULL ? PyList_New(0) : Py_NewRef(Py_None), *types = PyList_New(0);
        for (size_t j = 0; fields != NULL && types != NULL && j < con->count; j++) {
            PyObject *name = con->names != NULL ? PyUnicode_FromString(con->names[j]) : NULL;
            PyObject *field = PyUnicode_FromString(con->types[j]->name);
            if (name != NULL) PyList_Append(fields, name);
            if (field != NULL) PyList_Append(types, field);
            Py_XDECREF(name);
            Py_XDECREF(field);
        }
        PyObject *one = fields != NULL && types != NULL ? Py_BuildValue("(sOO)", con->name, fields, types) : NULL;
        Py_XDECREF(fields);
        Py_XDECREF(types);
        if (one == NULL || PyList_Append(all, one) != 0) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

static bool fill_con(Program *program, PlanCon *con, const cotan_constructor *from, PyObject *object, Plan **all) {
    con->name = strdup(from->name);
    con->count = from->count;
    con->object = Py_NewRef(object);
    con->names = calloc(from->count + 1, sizeof *con->names);
    con->fields = con->names != NULL ? parts_of(program, from->types, from->count, all) : NULL;
    if (con->fields == NULL || con->name == NULL) return false;
    PyObject *attributes = from->count > 0 ? PyObject_GetAttrString(object, "__match_args__") : NULL;
    for (size_t i = 0; attributes != NULL && i < from->count; i++) {
        con->names[i] = PySequence_GetItem(attributes, (Py_ssize_t)i);
        if (con->names[i] == NULL) break;
    }
    Py_XDECREF(attributes);
    return !PyErr_Occurred();
}

static bool fill_data(Program *program, Plan *plan, const cotan_type *type, Plan **all) {
    size_t count = type->constructor_count;
    plan->cons = calloc(count + 1, sizeof *plan->cons);
    PyObject *cons = plan->cons != NULL ? described(type) : PyErr_NoMemory();
    PyObject *objects = cons != NULL ? PyObject_CallFunction(program->classes, "sO", type->name, cons) : NULL;
    Py_XDECREF(cons);
    if (objects == NULL) return false;
    plan->con_count = count;
    plan->is_enum = true;
    for (size_t i = 0; i < count; i++) plan->is_enum &= type->constructors[i].count == 0;
    bool done = true;
    for (size_t i = 0; i < count && done; i++) {
        PyObject *object = PySequence_GetItem(objects, (Py_ssize_t)i);
        done = object != NULL && fill_con(program, &plan->cons[i], &type->constructors[i], object, all);
        Py_XDECREF(object);
    }
    Py_DECREF(objects);
    if (!done) return false;
    plan->is_maybe = count == 2 && strncmp(type->name, "Maybe ", 6) == 0 && plan->cons[1].count == 1 &&
                     strcmp(plan->cons[0].name, "Nothing") == 0 && !plan->cons[1].fields[0]->is_maybe;
    return true;
}

static void find_rank(Plan *plan) {
    unsigned rank = 0;
    const Plan *element = plan;
    for (; element->kind == COTAN_KIND_ARRAY; element = element->parts[0]) rank++;
    static const int elements[] = {[COTAN_KIND_DOUBLE] = COTAN_DOUBLE,
                                   [COTAN_KIND_FLOAT] = COTAN_FLOAT,
                                   [COTAN_KIND_INT] = COTAN_INT,
                                   [COTAN_KIND_BOOL] = COTAN_BOOL};
    if (element->kind > COTAN_KIND_BOOL || rank > COTAN_MOST_DIMENSIONS) return;
    plan->rank = rank;
    plan->element = (cotan_element)elements[element->kind];
}

Plan *plan_make(Program *program, const cotan_type *type, Plan **all) {
    for (Plan *known = *all; known != NULL; known = known->next)
        if (known->type == type) return known;
    Plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    plan->next = *all;
    *all = plan; /* in front of its parts, among which it may be */
    plan->kind = type->kind;
    plan->type = type;
    plan->name = strdup(type->name);
    if (type->kind == COTAN_KIND_DATA) return fill_data(program, plan, type, all) ? plan : NULL;
    plan->count = type->count;
    plan->parts = parts_of(program, type->parts, type->count, all);
    if (plan->parts == NULL) return NULL;
    if (type->kind == COTAN_KIND_ARRAY) find_rank(plan);
    return plan;
}
