/* Which function is that of an operation on arrays. */
#include "eval/internal.h"

ArrayFunction *ct_eval_array_function(CtArrayOp op) {
    switch (op) {
    case ARRAY_SHAPE: return ct_eval_array_shape;
    case ARRAY_SUM: return ct_eval_array_sum;
    case ARRAY_PRODUCT: return ct_eval_array_product;
    case ARRAY_MAXIMUM: return ct_eval_array_maximum;
    case ARRAY_MINIMUM: return ct_eval_array_minimum;
    case ARRAY_ARGMAX: return ct_eval_array_argmax;
    case ARRAY_ARGMIN: return ct_eval_array_argmin;
    case ARRAY_REPLICATE: return ct_eval_array_replicate;
    case ARRAY_IOTA: return ct_eval_array_iota;
    case ARRAY_GATHER: return ct_eval_array_gather;
    case ARRAY_TRANSPOSE: return ct_eval_array_transpose;
    case ARRAY_RESHAPE: return ct_eval_array_reshape;
    case ARRAY_REVERSE: return ct_eval_array_reverse;
    case ARRAY_APPEND: return ct_eval_array_append;
    case ARRAY_SLICE: return ct_eval_array_slice;
    case ARRAY_CONCAT: return ct_eval_array_concat;
    case ARRAY_STRIDED: return ct_eval_array_strided;
    case ARRAY_GATHER_OR: return ct_eval_array_gather_or;
    case ARRAY_SCATTER_ADD: return ct_eval_array_scatter_add;
    case ARRAY_ADD_AT: return ct_eval_array_add_at;
    case ARRAY_SUM_ROWS: return ct_eval_array_sum_rows;
    case ARRAY_SELECT: return ct_eval_array_select;
    case ARRAY_INDEX: /* these have instructions of their own */
    case ARRAY_LENGTH:
    case ARRAY_UPDATE:
    case ARRAY_SNOC:
    case ARRAY_BUILD: /* loops */
    case ARRAY_MAP:
    case ARRAY_ZIP_WITH:
    case ARRAY_FOLDL:
    case ARRAY_SCANL:
    case ARRAY_REDUCE:
    case ARRAY_SCAN:
    case ARRAY_MAP_ACCUM:
    case CT_ARRAY_OP_COUNT: return NULL;
    }
    return NULL;
}
