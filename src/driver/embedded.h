/* The library's sources, embedded by scripts/embed.py, in reading order. A file whose path is a module name, such as
 * lib/Data/Map.cot, is read by programs that import it; files in lib/ad are read by the methods that need them; the
 * others form the prelude. */
#ifndef CT_EMBEDDED_H
#define CT_EMBEDDED_H

#include <stddef.h>

struct CtEmbedded {
    const char *name, *text;
    const char *module; /* the module name by which a program or a method imports it; NULL: part of the prelude */
    size_t length;
    const char *exports; /* the names of its export list, each between blanks */
};

extern const struct CtEmbedded ct_embedded[];
extern const unsigned ct_embedded_count;

#endif
