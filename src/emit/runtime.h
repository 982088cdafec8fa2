/* Private to the folder that writes C: what a program carries of src/rt. */
#ifndef CT_EMIT_CARRIED_H
#define CT_EMIT_CARRIED_H

#include "emit/internal.h"

/* Writes what `program` needs of some files, up to NULL: the functions that it mentions, with those that these mention,
 * and what is no function; nothing of a file of which no function is needed, but for the first `always` files.
 * `outside`: functions that Cotan has itself (CT_COLD and CT_CALLED of rt/run.h) become pointers to them, and a table
 * says to whoever loads the program which there are. */
void ct_emit_carried(CtText *out, CtArena *arena, const char *const *files, uint32_t always, const char *program,
                     bool outside);

#endif
