/* The reverse of a matrix product: two matrix products. For x = a b they are da = dx bᵀ and db = aᵀ dx; the adjoint of
 * a transposed factor is transposed likewise. */
#include "flow/ad/reverse.h"

/* The product of dx and the other factor, in the order and with the transpositions that give the factor's own shape. */
static CtFlowArg adjoint_of_factor(Reverse *r, const CtFlowStep *step, uint32_t which, CtFlowArg g) {
    const CtFlowFactors *product = &step->as.product;
    CtFlowVar *factor = step->args.items[2 + which].var;
    CtFlowArg other = ct_flow_reverse_need(r, step->args.items[3 - which]), lengths[2];
    for (uint32_t i = 0; i < 2; i++) lengths[i] = ct_flow_reverse_need(r, ct_flow_reverse_length(r, factor, i));
    /* The cases: dx bᵀ, or its transpose b dxᵀ; aᵀ dx, or dxᵀ a. */
    bool g_first = (which == 0) != product->transposed[which];
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
        if (ct_flow_reverse_is_active(r, step->args.items[2 + i]) && CT_FIRED("reverse_matrix_product.factor"))
            ct_flow_reverse_give(r, step->range, step->args.items[2 + i], adjoint_of_factor(r, step, i, g), true);
}
