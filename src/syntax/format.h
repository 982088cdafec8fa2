/* Private to the formatter: format.c determines lines and indentation, format_space.c the spaces between tokens. */
#ifndef CT_SYNTAX_FORMAT_H
#define CT_SYNTAX_FORMAT_H

#include "syntax/internal.h"

typedef struct CtSpacing {
    const CtToken *tokens;
    uint32_t backquotes; /* number of backquotes before the token: odd inside `f` */
    bool in_list;        /* the token is in the item list of an import or of a module header */
} CtSpacing;

/* Whether a blank is written before a token that follows another on its line. */
bool ct_syntax_format_space(const CtSpacing *spacing, uint32_t token);

#endif
