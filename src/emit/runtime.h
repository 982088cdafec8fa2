/* Private to src/emit: the part of the runtime (src/rt) that an emitted program contains. */
#ifndef CT_EMIT_CARRIED_H
#define CT_EMIT_CARRIED_H

#include "emit/internal.h"

/* Writes what `program` needs of the given files (a list that NULL ends): the functions that it mentions, transitively,
 * and all declarations that are not functions. Nothing is written of a file none of whose functions is needed, except
 * for the first `always` files. `outside`: functions that Cotan itself contains (CT_COLD and CT_CALLED of rt/run.h)
 * become function pointers, and a table lists them for the loader. */
void ct_emit_carried(CtText *out, CtArena *arena, const char *const *files, uint32_t always, const char *program,
                     bool outside);

#endif
