/* Calls of native code with buffers, without copying where possible. */
#include "base/times.h"
#include "run/internal.h"

/* What is done with results, in one pass; but where they may be written over inputs, in three, so that these are
 * written to when nothing can fail any more, and the call will not be repeated. */
typedef enum Pass {
    SAVE = 1,    /* results that are the caller's arrays are copied */
    PREPARE = 2, /* sizes are checked, and buffers without data get memory */
    WRITE = 4,
} Pass;

struct CtApply { /* the current call */
    const CtFlat *input, *result;
    const cotan_buffer *in;
    const cotan_slot *slots;   /* of the results */
    const cotan_buffer *given; /* where the caller wants them */
    cotan_buffer *out;         /* the same, being filled */
    int pass;                  /* some of Pass */
    bool shared;               /* what is being given is in a node that something else holds, too */
};

/* ---- forms ---- */

/* The constructor of a tuple that is a node; NULL if its parts are separate words. */
static const CtFlowCon *node_of(CtFlow *flow, const CtType *type) {
    CtType *const *parts;
    uint32_t count;
    return ct_flow_parts(flow, type, &parts, &count) ? NULL : &ct_flow_node(flow, type)->data->cons[0];
}

bool ct_run_native_form(CtNative *native, const CtFlat *flat) {
    if (native->interprets) return false;
    const CtFlowTypes *words = ct_flow_types(native->flow, flat->type);
    if (flat->kind == FLAT_ARRAY && (words->count != flat->slots || ct_flow_is_object(words->items[0]->element)))
        return false; /* tuples of too many parts */
    for (uint32_t i = 0; flat->kind == FLAT_TUPLE && i < flat->count; i++)
        if (!ct_run_native_form(native, flat->parts[i])) return false;
    return true;
}

/* ---- words ---- */

static void put(CtNative *native, const CtFlat *flat, ct_word *to);

static void put_parts(CtNative *native, const CtFlat *flat, ct_word *to) {
    for (uint32_t i = 0; i < flat->count; i++) {
        put(native, flat->parts[i], to);
        to += ct_flow_types(native->flow, flat->parts[i]->type)->count;
    }
}

static void put_tuple(CtNative *native, const CtFlat *flat, ct_word *to) {
    const CtFlowCon *con = node_of(native->flow, flat->type);
    if (con == NULL) {
        put_parts(native, flat, to);
        return;
    }
    ct_run *rt = &native->outer.run;
    ct_array *fields = ct_vector(rt, false, con->fields.count);
    put_parts(native, flat, fields->data);
    ct_node *node = ct_node_new(rt, 0, con->fields.count, con->pointers);
    for (uint32_t i = 0; i < con->fields.count; i++) node->at[con->slots[i]] = fields->data[i];
    ct_drop(rt, fields);
    to->p = &node->head;
}

static void put(CtNative *native, const CtFlat *flat, ct_word *to) {
    const cotan_buffer *in = native->apply->in + flat->slot;
    if (flat->kind == FLAT_TUPLE) {
        put_tuple(native, flat, to);
    } else if (flat->kind == FLAT_NUMBER) {
        *to = *(const ct_word *)in->data;
    } else {
        for (uint32_t i = 0; i < flat->slots; i++)
            to[i].p = &ct_lend(&native->outer, in[i].data, flat->rank, in[i].size)->head;
    }
}

/* ---- and back ---- */

static void get(CtNative *native, const CtFlat *flat, const ct_word *from);

static void get_tuple(CtNative *native, const CtFlat *flat, const ct_word *from) {
    const CtFlowCon *con = node_of(native->flow, flat->type);
    ct_array *fields = NULL;
    bool around = native->apply->shared;
    if (con != NULL) {
        native->apply->shared |= from->p->refs > 1;
        fields = ct_vector(&native->outer.run, false, con->fields.count);
        for (uint32_t i = 0; i < con->fields.count; i++)
            fields->data[i] = ((const ct_node *)from->p)->at[con->slots[i]];
        from = fields->data;
    }
    for (uint32_t i = 0; i < flat->count; i++) {
        get(native, flat->parts[i], from);
        from += ct_flow_types(native->flow, flat->parts[i]->type)->count;
    }
    if (fields != NULL) ct_drop(&native->outer.run, fields);
    native->apply->shared = around;
}

/* A result that is an array of the caller's, or part of one, is read from a copy from now on. */
static void save_array(CtNative *native, ct_array *array) {
    const ct_array *owner = array;
    while (owner->owner != NULL) owner = owner->owner;
    if (owner->head.tag == CT_LENT) array->data = ct_export_data(&native->outer, &array->head);
}

/* Checks the sizes of an array, and gives it memory where the caller has none. */
static void prepare_array(CtNative *native, uint32_t slot, ct_object *object) {
    const ct_array *array = (const ct_array *)object;
    cotan_buffer *out = &native->apply->out[slot];
    uint32_t rank = ct_rank(array);
    size_t sizes[COTAN_MOST_DIMENSIONS];
    char wrong[300];
    for (uint32_t i = 0; i < rank; i++) sizes[i] = (size_t)array->dims[i];
    if (!ct_value_flat_fits(&native->apply->slots[slot], out, sizes, wrong))
        ct_fail(&native->outer.run, 0, 601, "%s", wrong);
    if (out->data != NULL) return;
    out->data = native->apply->shared ? ct_export_copy(&native->outer, array) : ct_export_data(&native->outer, object);
}

static void get_array(CtNative *native, uint32_t slot, ct_object *object) {
    const ct_array *array = (const ct_array *)object;
    void *to = native->apply->given[slot].data;
    int pass = native->apply->pass;
    if (pass & SAVE) save_array(native, (ct_array *)object);
    if (pass & PREPARE) prepare_array(native, slot, object);
    if (pass & WRITE && to != NULL && ct_words(array) > 0)
        memcpy(to, array->data, (size_t)ct_words(array) * sizeof(ct_word));
}

static void get_number(CtNative *native, uint32_t slot, const ct_word *from) {
    cotan_buffer *out = &native->apply->out[slot];
    int pass = native->apply->pass;
    if (pass & PREPARE && out->data == NULL) out->data = ct_export_memory(&native->outer, 1, sizeof(ct_word));
    if (pass & WRITE) *(ct_word *)out->data = *from;
}

static void get(CtNative *native, const CtFlat *flat, const ct_word *from) {
    if (flat->kind == FLAT_TUPLE) {
        get_tuple(native, flat, from);
    } else if (flat->kind == FLAT_NUMBER) {
        get_number(native, flat->slot, from);
    } else {
        for (uint32_t i = 0; i < flat->slots; i++) get_array(native, flat->slot + i, from[i].p);
    }
}

static void get_all(CtNative *native, int pass, const ct_word *from) {
    native->apply->pass = pass;
    native->apply->shared = false;
    get(native, native->apply->result, from);
}

/* ---- results in the place of arguments ---- */

/* The addresses that a buffer takes. */
static void find_range(const cotan_buffer *buffer, uint32_t rank, uintptr_t *begin, uintptr_t *end) {
    size_t words = 1;
    for (uint32_t i = 0; i < rank; i++) words *= buffer->size[i];
    *begin = (uintptr_t)buffer->data;
    *end = *begin + words * sizeof(ct_word);
}

/* The addresses between which the arrays of the caller's lie. */
static void find_lent(const CtFlat *flat, const cotan_buffer *in, uintptr_t *begin, uintptr_t *end) {
    for (uint32_t i = 0; flat->kind == FLAT_TUPLE && i < flat->count; i++) find_lent(flat->parts[i], in, begin, end);
    for (uint32_t i = 0; flat->kind == FLAT_ARRAY && i < flat->slots; i++) {
        uintptr_t from, to;
        find_range(&in[flat->slot + i], flat->rank, &from, &to);
        if (from < *begin) *begin = from;
        if (to > *end) *end = to;
    }
}

/* Whether a result may be written over an array of the caller's, which may be another result. */
static bool may_overlap(const struct CtApply *a) {
    uintptr_t begin = UINTPTR_MAX, end = 0, from, to;
    if (a->input != NULL) find_lent(a->input, a->in, &begin, &end);
    for (uint32_t i = a->result->slot; i < a->result->slot + a->result->slots; i++) {
        find_range(&a->out[i], a->slots[i].rank, &from, &to);
        if (a->out[i].data != NULL && from < end && begin < to) return true;
    }
    return false;
}

/* ---- calls ---- */

static void work(CtNative *native) {
    ct_word in[CT_FLOW_WIDE], out[CT_FLOW_WIDE];
    ct_export *o = &native->outer;
    const CtFlat *input = native->apply->input, *result = native->apply->result;
    memcpy(native->apply->out, native->apply->given, result->slots * sizeof *native->apply->out);
    if (setjmp(o->run.out) != 0) return;
    if (input != NULL) put(native, input, in);
    double begun = ct_times_now();
    native->entry(&o->run, in, out);
    native->seconds = ct_times_now() - begun;
    const CtFlowTypes *types = ct_flow_types(native->flow, result->type);
    for (uint32_t i = 0; i < types->count; i++)
        if (ct_flow_is_object(types->items[i])) ct_keep(o, out[i].p);
    bool overlaps = may_overlap(native->apply);
    if (overlaps) get_all(native, SAVE, out);
    if (overlaps) get_all(native, PREPARE, out);
    get_all(native, overlaps ? WRITE : PREPARE | WRITE, out);
    native->done = true;
}

/* Stack of the caller, used for functions with no or little recursion. */
enum { CALLERS_STACK = 192 * 1024 };

bool ct_run_native_apply(CtNative *native, size_t limit, const CtFlat *input, const cotan_buffer *in,
                         const CtFlat *result, const cotan_slot *slots, const cotan_buffer *out, cotan_buffer *filled,
                         CtNativeError *error) {
    struct CtApply apply = {input, result, in, slots, out, filled, PREPARE, false};
    native->work = work;
    native->apply = &apply;
    native->done = false;
    ct_export_begin(&native->outer, limit, CALLERS_STACK);
    ct_run_native_stack(native, native->outer.run.stack_end);
    native->outer.run.code = 801;
    native->outer.run.site = 0;
    native->outer.run.message = (char *)"there is no memory for a stack";
    bool tells = native->recurses && native->flow->tells_messages; /* what has been told would be told again */
    if (!tells) work(native);
    if (!native->done && native->recurses && native->outer.run.code == 801) {
        ct_export_drop(&native->outer, native->constant_words);
        native->locale = uselocale((locale_t)0);
        ct_run_native_on_stack(native, limit > 0 ? limit : (size_t)1 << 32);
    }
    native->apply = NULL;
    if (!native->done) ct_run_native_failed(native, error);
    return native->done;
}
