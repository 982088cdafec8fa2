/* dual-arrays: staging and collection in arrays. DUAL 2022 Figs. 12 and 13.
 *
 * The program is transformed as for dual-cayley. Staged cotangents are in an array, indexed by the number of the
 * backpropagator, and the cotangents of the inputs in another one (lib/ad/dual_arrays.cot). A single reference to the
 * arrays exists, which the paper ensures by types and Cotan by reference counts. So they are updated in place, and
 * there is no logarithmic factor. The forward and the reverse pass cost a constant factor over the program. */
#include "ad/internal.h"

const CtRules ct_ad_dual_arrays_rules = {CT_REVERSE_RULES, .state = ct_ad_reverse_state,
                                         .operation = ct_ad_dual_composed, .trace = ct_ad_reverse_trace,
                                         .reverse = &ct_ad_dual_names};
