/* The reverse of a product of matrices: two products. Of x = a b, da = dx bᵀ and db = aᵀ dx; of a factor that stands
 * turned, the same turned. */
#include "flow/ad/reverse.h"

/* dx times the other factor, or that times dx, in the order and turned so that it is of the factor's own shape. */
static CtFlowArg adjoint_of_factor(Reverse *r, const CtFlowStep *step, uint32_t which, CtFlowArg g) {
    const CtFlowFactors *product = &step->as.product;
    CtFlowVar *factor = step->args.items[2 + which].var;
    CtFlowArg other = ct_flow_reverse_need(r, step->args.items[3 - which]), lengths[2];
    for (uint32_t i = 0; i < 2; i++) lengths[i] = ct_flow_reverse_need(r, ct_flow_reverse_length(r, factor, i));
    bool g_first = (which == 0) != product->transposed[which]; /* as a whole: dx bᵀ, or b dxᵀ; aᵀ dx, or dxᵀ a */
    bool g_transposed = product->transposed[which],
         other_transposed = product->transposed[1 - which] == product->transposed[which];
    CtFlowFactors factors = {
        .transposed = {g_first ? g_transposed : other_transposed, g_first ? other_transposed : g_transposed},
        .cotangent = g_first ? 1 : 2};
    return ct_flow_product(&r->b, step->range, lengths, factors, g_first ? g : other, g_first ? other : g);
}

void ct_flow_reverse_product(Reverse *r, CtFlowStep *step) {
    CtFlowArg g = ct_flow_reverse_take(r, flow_of(step->results.items[0]), NULL);
    if (ct_flow_is_none(g)) return;
    for (uint32_t i = 0; i < 2; i++)
        if (ct_flow_reverse_is_active(r, step->args.items[2 + i]))
            ct_flow_reverse_give(r, step->range, step->args.items[2 + i], adjoint_of_factor(r, step, i, g), true);
}
