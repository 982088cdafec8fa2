/* An input in any of the three formats, JSON, .npy and .npz, distinguished by its first bytes. */
#include <stdlib.h>

#include "io/internal.h"

struct CtInput {
    CtJson *json;
    CtNpz *npz;
    CtNpy npy; /* the input, if `json` and `npz` are NULL */
};

bool ct_io_input_parse(CtContext *context, const char *what, const char *bytes, size_t length, size_t budget,
                       CtInput **place) {
    CtInput *input = *place = calloc(1, sizeof *input);
    if (!input) {
        ct_error(context, CT_E0801, CT_NO_RANGE, "%s: there is no memory to read the value", what);
        return false;
    }
    if (length >= 4 && memcmp(bytes, "PK", 2) == 0 && bytes[2] < 9) {
        input->npz = ct_io_npz_read(context, what, bytes, length, budget);
        return input->npz != NULL;
    }
    if (length >= 6 && memcmp(bytes, CT_NPY_MAGIC, 6) == 0)
        return ct_io_npy_parse(context, what, bytes, length, &input->npy);
    input->json = ct_io_json_parse(context, what, bytes, length);
    return input->json != NULL;
}

void ct_io_input_free(CtInput *input) {
    if (!input) return;
    ct_io_json_free(input->json);
    ct_io_npz_free(input->npz);
    free(input);
}

bool ct_io_input_arguments(CtContext *context, CtInput *input, const char *function, uint32_t count) {
    return !input->json || ct_io_json_arguments(context, input->json, function, count);
}

void ct_io_input_name(CtInput *input, const char *const *parameters) {
    if (input->npz) ct_io_npz_name(input->npz, parameters);
}

bool ct_io_input_members(CtContext *context, const CtInput *input, CtText *out) {
    return !input->npz || ct_io_npz_members(context, input->npz, out);
}

void ct_io_input_foreign(CtInput *input) {
    if (input->json) ct_io_json_foreign(input->json);
}

bool ct_io_input_value(CtContext *context, CtHeap *heap, const CtInput *input, const CtType *type,
                       const CtLeaves *replace, CtWord *value) {
    uint32_t next_leaf = 0;
    if (input->json) return ct_io_json_value(context, heap, input->json, type, replace, value);
    if (input->npz) return ct_io_npz_value(context, heap, input->npz, type, replace, value);
    return ct_io_npy_value(context, heap, &input->npy, type, replace, &next_leaf, value);
}
