/* The library's sources, embedded by scripts/embed.py, in the order in which they are read. */
#ifndef CT_EMBEDDED_H
#define CT_EMBEDDED_H

#include <stddef.h>

struct CtEmbedded {
    const char *name, *text;
    size_t length;
};

extern const struct CtEmbedded ct_embedded[];
extern const unsigned ct_embedded_count;

#endif
