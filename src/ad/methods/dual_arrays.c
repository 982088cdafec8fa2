/* dual-arrays: staging and collection in arrays. DUAL 2022 Figs. 12 and 13.
 *
 * The program is transformed as for dual-cayley. What is staged lies in an array at the backpropagator's number, and
 * the cotangents of the inputs in another (lib/ad/dual_arrays.cot). One computation holds them, which the paper's types
 * ensure and here the reference counts: they are updated in place, and no logarithm is left. Forward and back cost a
 * constant factor over the program.
 */
#include "ad/internal.h"

const CtRules ct_ad_dual_arrays_rules = {CT_REVERSE_RULES, .state = ct_ad_reverse_state,
                                         .operation = ct_ad_dual_composed, .trace = ct_ad_reverse_trace,
                                         .reverse = &ct_ad_dual_names};
