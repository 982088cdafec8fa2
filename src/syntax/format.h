/* Private to the formatter: format.c determines lines and indentation, format_space.c the spaces between tokens. */
#ifndef CT_SYNTAX_FORMAT_H
#define CT_SYNTAX_FORMAT_H

#include "syntax/internal.h"

typedef struct CtSpacing {
    const CtToken *tokens;
    uint32_t backquotes; /* before the token */
    bool in_list;        /* of an import, or of a module's exports */
} CtSpacing;

/* Whether a blank is written before a token that follows another on its line. */
bool ct_syntax_format_space(const CtSpacing *spacing, uint32_t token);

#endif
