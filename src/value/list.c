/* Lists: made from their first element to their last, and walked along. */
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

const CtWord *ct_value_list_cell(const CtType *list, CtWord value) {
    return list->data->cons[value.object->tag].count == 2 ? ((const CtFields *)value.object)->words : NULL;
}

int64_t ct_value_list_length(const CtType *list, CtWord value) {
    int64_t length = 0;
    for (const CtWord *cell = ct_value_list_cell(list, value); cell != NULL; cell = ct_value_list_cell(list, cell[1]))
        length++;
    return length;
}
