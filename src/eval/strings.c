/* The primitives whose results are strings. */
#include <stdio.h>

#include "eval/internal.h"

/* NULL when the heap is full. The other primitives are in primitives.def. */
CtObject *ct_eval_string_prim(Machine *m, CtPrim prim, CtWord a, CtWord b) {
    char buffer[64];
    size_t length;
    (void)b;
    const CtPrimInfo *info = ct_prim_info(prim);
    if (info->args[0] == 'D') {
        length = ct_value_show_double(buffer, a.real);
    } else if (info->args[0] == 'F') {
        length = ct_value_show_float(buffer, a.real);
    } else {
        length = (size_t)snprintf(buffer, sizeof buffer, "%lld", (long long)a.integer);
    }
    return ct_value_string_new(m->heap, m->program->string_type, buffer, length);
}
