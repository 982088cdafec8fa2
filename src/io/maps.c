/* Maps and sets of Data.Map and Data.Set: trees there, entries in the order of their keys elsewhere. */
#include <stdlib.h>

#include "io/internal.h"

bool ct_io_is_map(const CtType *type, const CtType **key, const CtType **item) {
    const CtData *data = type->kind == TYPE_DATA ? type->data : NULL;
    if (data == NULL || !data->is_library || strcmp(data->name->text, "Map") != 0 || data->con_count != 2) return false;
    const CtCon *tip = &data->cons[0], *bin = &data->cons[1];
    if (strcmp(tip->name->text, "Tip") != 0 || tip->count != 0 || strcmp(bin->name->text, "Bin") != 0) return false;
    if (bin->count != 5 || bin->fields[0]->kind != TYPE_INT || bin->fields[1] != type || bin->fields[4] != type)
        return false;
    *key = bin->fields[2];
    *item = bin->fields[3];
    const CtData *by = (*key)->kind == TYPE_DATA ? (*key)->data : NULL;
    bool is_sequence = by != NULL && by->is_library && strcmp(by->name->text, "Seq'key") == 0;
    return !is_sequence;
}

bool ct_io_is_set(const CtType *type, const CtType **element) {
    const CtData *data = type->kind == TYPE_DATA ? type->data : NULL;
    const CtType *unit;
    return data != NULL && data->is_library && data->is_newtype && strcmp(data->name->text, "Set") == 0 &&
           data->con_count == 1 && data->cons[0].count == 1 && ct_io_is_map(data->cons[0].fields[0], element, &unit);
}

/* ---- writing ---- */

/* Trees are balanced, so their depth is small. */
static CtWord *put_entries(const CtObject *tree, CtWord *to) {
    if (tree->tag == 0) return to;
    const CtWord *bin = ((const CtFields *)tree)->words;
    to = put_entries(bin[1].object, to);
    *to++ = bin[2];
    *to++ = bin[3];
    return put_entries(bin[4].object, to);
}

const CtWord *ct_io_map_entries(CtArena *arena, const CtType *type, CtWord value, size_t *count) {
    const CtObject *tree = value.object;
    if (type->data->con_count == 1) tree = ((const CtFields *)tree)->words[0].object;
    *count = tree->tag == 0 ? 0 : (size_t)((const CtFields *)tree)->words[0].integer;
    CtWord *entries = CT_NEW_ARRAY(arena, CtWord, 2 * *count + 1);
    put_entries(tree, entries);
    return entries;
}

/* ---- reading ---- */

static int in_order(const void *a, const void *b) {
    const CtEntry *x = a, *y = b;
    return ct_value_order(x->type, x->key, y->key);
}

const CtEntry *ct_io_map_sort(CtEntry *entries, size_t count) {
    qsort(entries, count, sizeof *entries, in_order);
    for (size_t i = 1; i < count; i++)
        if (in_order(&entries[i - 1], &entries[i]) == 0) return &entries[i];
    return NULL;
}

void ct_io_map_release(CtHeap *heap, const CtType *map, const CtEntry *entries, size_t keys, size_t items) {
    CtType *const *types = map->data->cons[1].fields;
    for (size_t i = 0; i < keys; i++) ct_value_release(heap, types[2], entries[i].key);
    for (size_t i = 0; i < items; i++) ct_value_release(heap, types[3], entries[i].item);
}

/* The middle entry, and the trees of both halves. They differ by one in size at most, so that the tree is balanced by
 * weight. */
bool ct_io_map_tree(CtHeap *heap, const CtType *map, const CtEntry *entries, size_t count, CtWord *tree) {
    const CtCon *tip = &map->data->cons[0], *bin = &map->data->cons[1];
    if (count == 0) {
        tree->object = ct_value_nullary(heap, tip);
        return tree->object != NULL;
    }
    size_t middle = count / 2;
    const CtEntry *entry = &entries[middle];
    CtWord left, right;
    if (!ct_io_map_tree(heap, map, entries, middle, &left)) {
        ct_io_map_release(heap, map, entry, count - middle, count - middle);
        return false;
    }
    bool both = ct_io_map_tree(heap, map, entry + 1, count - middle - 1, &right);
    const CtLayout *layout = both ? ct_value_layout_con(heap, bin) : NULL;
    CtFields *fields = layout != NULL ? ct_value_fields_new(heap, layout, bin->tag) : NULL;
    if (fields == NULL) {
        if (both) ct_value_release(heap, map, right);
        ct_value_release(heap, map, left);
        ct_io_map_release(heap, map, entry, 1, 1);
        return false;
    }
    const CtWord words[5] = {{.integer = (int64_t)count}, left, entry->key, entry->item, right};
    memcpy(fields->words, words, sizeof words);
    tree->object = &fields->head;
    return true;
}

bool ct_io_set_of(CtHeap *heap, const CtType *set, CtWord map, CtWord *value) {
    const CtCon *con = &set->data->cons[0];
    const CtLayout *layout = ct_value_layout_con(heap, con);
    CtFields *fields = layout != NULL ? ct_value_fields_new(heap, layout, 0) : NULL;
    if (fields == NULL) {
        ct_value_release(heap, con->fields[0], map);
        return false;
    }
    fields->words[0] = map;
    value->object = &fields->head;
    return true;
}
