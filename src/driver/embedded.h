/* The library's sources, embedded by scripts/embed.py, in the order in which they are read. A file whose path is the
 * name of a module, such as lib/Data/Map.cot, is read by programs that import it, and those in lib/ad by the methods
 * that need them; the others make up the prelude. */
#ifndef CT_EMBEDDED_H
#define CT_EMBEDDED_H

#include <stddef.h>

struct CtEmbedded {
    const char *name, *text;
    const char *module; /* read when it is imported by this name; NULL: part of the prelude */
    size_t length;
};

extern const struct CtEmbedded ct_embedded[];
extern const unsigned ct_embedded_count;

#endif
