/* Private to src/value. */
#ifndef CT_VALUE_INTERNAL_H
#define CT_VALUE_INTERNAL_H

#include "value/heap.h"

/* Frees the tables of layouts. Their shared objects have been freed with the heap's memory. */
void ct_value_layouts_free(CtHeap *heap);

/* Whether a type is a number of the library's with a range, such as Word8. */
bool ct_value_is_narrow(const CtType *type, int64_t *least, int64_t *most);

#endif
