/* Private to src/value. */
#ifndef CT_VALUE_INTERNAL_H
#define CT_VALUE_INTERNAL_H

#include "value/heap.h"

/* Frees the tables of layouts. Their shared objects have been freed with the heap's memory. */
void ct_value_layouts_free(CtHeap *heap);

#endif
