/* Calls of functions with values of the host's. Where a function has buffers, and the values their form, native code
 * reads the host's arrays in place; all else is copied to the session's heap and back. */
#include "session/function.h"

typedef struct Apply {
    cotan_function *function;
    const cotan_value *at, *with;
    const cotan_value **value, **derivative;
    const char **json;
} Apply;

/* ---- buffers ---- */

/* Whether every number is the double of a Float. */
static bool are_floats(const cotan_value *given) {
    const double *numbers = given->numbers;
    size_t count = ct_io_host_numbers(given);
    for (size_t i = 0; i < count; i++)
        if ((double)(float)numbers[i] != numbers[i] && numbers[i] == numbers[i]) return false;
    return true;
}

static bool lend_number(const CtFlat *flat, const cotan_slot *slots, const cotan_value *given, cotan_buffer *in) {
    static const cotan_kind kinds[] = {
        [COTAN_DOUBLE] = COTAN_KIND_DOUBLE, [COTAN_FLOAT] = COTAN_KIND_DOUBLE, [COTAN_INT] = COTAN_KIND_INT,
        [COTAN_BOOL] = COTAN_KIND_BOOL,     [COTAN_CHAR] = COTAN_KIND_CHAR,    [COTAN_TAG] = COTAN_KIND_FUNCTION};
    cotan_element element = slots[flat->slot].element;
    double real = given->number.real;
    if (given->kind != kinds[element] || (element == COTAN_FLOAT && (double)(float)real != real && real == real))
        return false;
    in[flat->slot].data = (void *)&given->number;
    return true;
}

/* Sets the buffers of a value to its numbers. False where they have not the form of buffers: the value may be wrong, or
 * an array may be given as a sequence of values. */
static bool lend(const CtFlat *flat, const cotan_slot *slots, const cotan_value *given, cotan_buffer *in) {
    if (given == NULL) return false;
    if (flat->kind == FLAT_NUMBER) return lend_number(flat, slots, given, in);
    if (flat->kind == FLAT_ARRAY) {
        if (flat->slots != 1 || flat->parts[0]->kind != FLAT_NUMBER || given->rank != flat->rank) return false;
        if (given->element != slots[flat->slot].element || given->element == COTAN_TAG) return false;
        if (given->element == COTAN_FLOAT && !are_floats(given)) return false;
        in[flat->slot].data = (void *)given->numbers;
        memcpy(in[flat->slot].size, given->size, sizeof given->size);
        return true;
    }
    bool data = flat->type->kind == TYPE_DATA;
    if (given->kind != (data ? COTAN_KIND_DATA : COTAN_KIND_TUPLE) || given->count != flat->count) return false;
    if (data && strcmp(given->text, flat->type->data->cons[0].name->text) != 0) return false;
    for (uint32_t i = 0; i < flat->count; i++)
        if (!lend(flat->parts[i], slots, given->parts[i], in)) return false;
    return true;
}

static bool lend_all(const Apply *a, cotan_buffer *in) {
    const cotan_function *function = a->function;
    const cotan_slot *slots = function->signature.in;
    if (function->input == NULL) return true;
    if (function->session->with == NULL) return lend(function->input, slots, a->at, in);
    return lend(function->input->parts[0], slots, a->at, in) && lend(function->input->parts[1], slots, a->with, in);
}

/* Whether results in these buffers can be shown as values without copying: arrays of tuples and of tags cannot. */
static bool is_plain(const CtFlat *flat, const cotan_slot *slots) {
    if (flat->kind != FLAT_TUPLE && slots[flat->slot].element == COTAN_TAG) return false;
    if (flat->kind == FLAT_ARRAY) return flat->slots == 1 && flat->parts[0]->kind == FLAT_NUMBER;
    for (uint32_t i = 0; i < flat->count; i++)
        if (!is_plain(flat->parts[i], slots)) return false;
    return true;
}

/* The nodes for results of this form: made once, and filled by each call. */
static cotan_value *nodes_of(CtArena *arena, const CtFlat *flat, const cotan_slot *slots) {
    static const cotan_kind kinds[] = {
        [COTAN_DOUBLE] = COTAN_KIND_DOUBLE, [COTAN_FLOAT] = COTAN_KIND_DOUBLE, [COTAN_INT] = COTAN_KIND_INT,
        [COTAN_BOOL] = COTAN_KIND_BOOL,     [COTAN_CHAR] = COTAN_KIND_CHAR,    [COTAN_TAG] = COTAN_KIND_DATA};
    cotan_value *node = CT_NEW(arena, cotan_value);
    if (flat->kind == FLAT_NUMBER) {
        node->kind = kinds[slots[flat->slot].element];
    } else if (flat->kind == FLAT_ARRAY) {
        node->kind = COTAN_KIND_ARRAY;
        node->element = slots[flat->slot].element;
        node->rank = flat->rank;
    } else {
        bool data = flat->type->kind == TYPE_DATA;
        node->kind = data ? COTAN_KIND_DATA : COTAN_KIND_TUPLE;
        if (data) {
            CtSym name = flat->type->data->cons[0].name;
            node->text = ct_copy_text(arena, name->text, name->length);
            node->text_length = name->length;
        }
        node->count = flat->count;
        node->parts = CT_NEW_ARRAY(arena, cotan_value *, flat->count);
        for (uint32_t i = 0; i < flat->count; i++) node->parts[i] = nodes_of(arena, flat->parts[i], slots);
    }
    return node;
}

static void show(const CtFlat *flat, const cotan_buffer *out, cotan_value *node) {
    const cotan_buffer *buffer = &out[flat->slot];
    if (flat->kind == FLAT_NUMBER) {
        memcpy(&node->number, buffer->data, sizeof node->number);
    } else if (flat->kind == FLAT_ARRAY) {
        node->numbers = buffer->data;
        memcpy(node->size, buffer->size, flat->rank * sizeof *node->size);
    } else {
        for (uint32_t i = 0; i < flat->count; i++) show(flat->parts[i], out, node->parts[i]);
    }
}

static void prepare(cotan_function *function) {
    CtArena *arena = function->arena;
    const CtFlat *result = function->result;
    bool two = function->session->derivative != NULL;
    if (function->out != NULL) return;
    function->value = nodes_of(arena, two ? result->parts[0] : result, function->signature.out);
    function->derivative = two ? nodes_of(arena, result->parts[1], function->signature.out) : NULL;
    function->out = CT_NEW_ARRAY(arena, cotan_buffer, function->signature.out_count);
}

static bool apply_lent(cotan_context *context, Apply *a, const cotan_buffer *in) {
    cotan_function *function = a->function;
    bool two = function->session->derivative != NULL;
    const CtFlat *result = function->result;
    prepare(function);
    for (size_t i = 0; i < function->signature.out_count; i++) function->out[i].data = NULL;
    if (!ct_session_function_buffers(context, function, in, function->out)) return false;
    show(two ? result->parts[0] : result, function->out, function->value);
    if (two) show(result->parts[1], function->out, function->derivative);
    if (a->value != NULL) *a->value = function->value;
    if (a->derivative != NULL && two) *a->derivative = function->derivative;
    return true;
}

/* ---- copies ---- */

static bool read(cotan_context *context, const Apply *a, CtArena *arena, const char *what, const cotan_value *given,
                 const CtType *type, CtWord *value) {
    CtHeap *heap = ct_eval_heap(a->function->session->eval);
    if (given == NULL) return ct_session_report_one(context, CT_E0601, NULL, "%s is missing", what);
    CtContext *diags = CT_NEW(arena, CtContext);
    ct_context_init(diags, arena);
    return ct_io_host_read(diags, heap, what, given, type, value) || ct_session_report(context, diags);
}

static bool read_input(cotan_context *context, const Apply *a, CtWord *input) {
    CtSession *session = a->function->session;
    CtArena *arena = a->function->results;
    bool is_action = a->at == NULL && session->arity == 0 && session->build->performs; /* entry'perform takes () */
    if (session->point == NULL || is_action) return true;
    CtWord with;
    if (!read(context, a, arena, "at", a->at, session->point, input)) return false;
    if (session->with == NULL) return true;
    if (!read(context, a, arena, "with", a->with, session->with, &with)) {
        ct_session_release(session, session->point, *input);
        return false;
    }
    return ct_session_pair(session, context, *input, with, input);
}

static bool apply_copied(cotan_context *context, const Apply *a) {
    cotan_function *function = a->function;
    CtSession *session = function->session;
    CtWord input = {.integer = 0}, result;
    if (!read_input(context, a, &input) || !ct_session_function_run(context, function, input, &result)) return false;
    bool two = session->derivative != NULL;
    const CtWord *words = two ? ((const CtFields *)result.object)->words : &result;
    if (a->value != NULL) *a->value = ct_io_host_write(function->results, session->value, words[0]);
    if (a->derivative != NULL && two)
        *a->derivative = ct_io_host_write(function->results, session->derivative, words[1]);
    ct_session_release(session, ct_session_result(session), result);
    return true;
}

/* ---- calls ---- */

enum { FEW = 24 };

static bool apply(cotan_context *context, void *data) {
    Apply *a = data;
    cotan_function *function = a->function;
    if (!ct_session_function_begin(context, function)) return false;
    cotan_buffer few[FEW], *in = few;
    size_t count = function->signature.in_count;
    const cotan_buffer *taken = in;
    bool direct = function->is_native && function->direct && is_plain(function->result, function->signature.out);
    if (direct && count > FEW) taken = in = CT_NEW_ARRAY(function->results, cotan_buffer, count); /* freed later */
    bool lent = direct && lend_all(a, in);
    if (lent && !ct_session_function_take(context, function, &taken)) return false;
    bool done = lent ? apply_lent(context, a, taken) : apply_copied(context, a);
    if (!done && ct_session_function_again(context, function))
        done = lent ? apply_lent(context, a, taken) : apply_copied(context, a);
    return done;
}

cotan_error *cotan_apply_values(cotan_function *function, const cotan_value *at, const cotan_value *with,
                                const cotan_value **value, const cotan_value **derivative) {
    Apply a = {.function = function, .at = at, .with = with, .value = value, .derivative = derivative};
    if (value != NULL) *value = NULL;
    if (derivative != NULL) *derivative = NULL;
    cotan_error *error = ct_session_guarded(function->program->context, apply, &a);
    ct_session_function_end(function);
    return error;
}

static bool json(cotan_context *context, void *data) {
    Apply *a = data;
    cotan_function *function = a->function;
    if (!ct_session_function_beside(context, function, &function->described)) return false;
    CtSession *session = function->session;
    CtText text = ct_text(function->described);
    CtWord point = {.integer = 0};
    if (session->point == NULL) return ct_session_report_one(context, CT_E0601, NULL, "a constant has no arguments");
    if (!read(context, a, function->described, "at", a->at, session->point, &point)) return false;
    ct_io_json_write(&text, session->point, point, NULL);
    ct_session_release(session, session->point, point);
    *a->json = text.data;
    return true;
}

cotan_error *cotan_function_json(cotan_function *function, const cotan_value *at, const char **out) {
    Apply a = {.function = function, .at = at, .json = out};
    *out = NULL;
    return ct_session_guarded(function->program->context, json, &a);
}
