/* delta-fused: under construction */
#include "ad/internal.h"

const CtRules ct_delta_fused_rules = {CT_REVERSE_RULES,
                                      .state = ct_reverse_state,
                                      .operation = ct_delta_operation,
                                      .trace = ct_reverse_trace,
                                      .reverse = &ct_delta_names};
