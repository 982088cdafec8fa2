/* Lists that are made from their first element to their last. */
#include "value/internal.h"

bool ct_value_list_begin(CtListEnd *end, CtHeap *heap, const CtCon *nil) {
    *end = (CtListEnd){.heap = heap, .cons = nil + 1, .layout = ct_value_layout_con(heap, nil + 1)};
    end->nil = ct_value_nullary(heap, nil);
    end->list.object = end->nil;
    return end->layout != NULL && end->nil != NULL;
}

bool ct_value_list_add(CtListEnd *end, CtWord element) {
    CtFields *cell = ct_value_fields_take(end->heap, end->layout, end->cons->tag);
    if (cell == NULL) {
        ct_value_release(end->heap, end->cons->fields[0], element);
        return false;
    }
    cell->words[0] = element;
    cell->words[1].object = end->nil;
    CtWord *link = end->last != NULL ? &end->last->words[1] : &end->list;
    link->object = &cell->head;
    end->last = cell;
    return true;
}
