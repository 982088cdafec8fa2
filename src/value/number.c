/* Reals in the format of Haskell's show: rt/text.h. */
#include "rt/text.h"
#include "value/value.h"

size_t ct_value_show_double(char *buffer, double value) { return ct_write_real(buffer, value, false); }

size_t ct_value_show_float(char *buffer, double value) { return ct_write_real(buffer, value, true); }
