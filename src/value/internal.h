/* Private to the folder of values. */
#ifndef CT_VALUE_INTERNAL_H
#define CT_VALUE_INTERNAL_H

#include "value/heap.h"

/* Frees the tables of layouts; the shared objects in them went with the heap's memory. */
void ct_value_layouts_free(CtHeap *heap);

#endif
