/* What reading and writing share. */
#ifndef CT_IO_INTERNAL_H
#define CT_IO_INTERNAL_H

#include <stdio.h>

#include "io/io.h"

/* [a], [Char], Bool: data types of Core with forms of their own in JSON. */
bool ct_json_is_list(const CtType *type);
bool ct_json_is_string(const CtType *type);
bool ct_json_is_bool(const CtType *type);

#endif
