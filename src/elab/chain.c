/* Chains of hundreds of operators, a + b + … and a ++ b ++ …. A chain is walked in a loop, and its Core term is cut
 * into pieces that are bound by lets, so that later passes over it need no deep stack either. The order of evaluation
 * is kept.
 */
#include "elab/internal.h"

enum { LONG = 200 }; /* operators; also the length of the pieces */

/* Finds the operands of an application of a name to two arguments; false for other expressions, and for the operators
 * that are elaborated in a special way. */
static bool link_of(CtElab *el, CtExpr *expr, CtExpr **operands) {
    if (expr->kind != EXPR_APP || expr->part_count != 3) return false;
    const CtExpr *head = expr->parts[0];
    if (head->kind != EXPR_VAR && head->kind != EXPR_CON) return false;
    static const char *const special[] = {"$", ".", "&&", "||"};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (ct_elab_is_named(el, head, special[i])) return false;
    operands[0] = expr->parts[1];
    operands[1] = expr->parts[2];
    return true;
}

typedef struct Link {
    CtExpr *expr, *operand; /* the operand that is not the rest of the chain */
    Callee callee;
    CtExpr *each; /* the function called instead, where numbers are beside arrays; or NULL */
    CtCore *value;
} Link;

typedef CT_VEC(Link) Links;

/* Lists the links of a chain that nests to one side (0: left, 1: right), outermost first, and returns the operand at
 * its end. NULL when there are fewer than LONG links. */
static CtExpr *links_of(CtElab *el, CtExpr *expr, int side, Links *links) {
    CtExpr *operands[2], *end = expr;
    uint32_t length = 0;
    for (; length < LONG && link_of(el, end, operands); end = operands[side]) length++;
    if (length < LONG) return NULL;
    for (end = expr; link_of(el, end, operands); end = operands[side]) {
        CtExpr *each = ct_elab_operands(el, end);
        if (each != NULL) {
            memcpy(operands, each->parts + 1, sizeof operands);
            ct_push(el->arena, links, (Link){.expr = end, .operand = operands[1 - side], .each = each->parts[0]});
            continue;
        }
        Callee callee = ct_elab_callee(el, end->parts[0]);
        if (callee.arity != 2 || ct_elab_wants(&callee, 0) > 0 || ct_elab_wants(&callee, 1) > 0) break;
        ct_push(el->arena, links, (Link){.expr = end, .operand = operands[1 - side], .callee = callee});
    }
    return links->count < LONG ? NULL : end;
}

static CtCore *bound(CtElab *el, CtCore *value, Lets *lets) {
    return ct_elab_atom(el, value->range, "part", value, lets);
}

static CtCore *call_link(CtElab *el, const Link *link, CtCore *left, CtCore *right) {
    CtCore *args[] = {left, right};
    if (link->each != NULL)
        return ct_core_app(el->program, link->expr->range, ct_elab_nary(el, link->each, 2), args, 2);
    return ct_elab_call(el, link->expr->range, &link->callee, args, 2);
}

/* ((a + b) + c) + …: calls are made from the innermost, which is evaluated first, outwards. */
static CtCore *left_chain(CtElab *el, const Links *links, CtExpr *end) {
    Lets lets = {0};
    CtCore *core = ct_elab_expr(el, end);
    for (uint32_t i = links->count; i-- > 0;) {
        const Link *link = &links->items[i];
        core = call_link(el, link, core, ct_elab_expr(el, link->operand));
        if (i % LONG == 0 && i > 0) core = bound(el, core, &lets);
    }
    return ct_elab_wrap(el, &lets, core);
}

/* a ++ (b ++ (c ++ …)): all operands first, from the left, then the calls from the innermost outwards. */
static CtCore *right_chain(CtElab *el, Links *links, CtExpr *end) {
    Lets lets = {0};
    for (uint32_t i = 0; i < links->count; i++)
        links->items[i].value = bound(el, ct_elab_expr(el, links->items[i].operand), &lets);
    CtCore *core = ct_elab_expr(el, end);
    for (uint32_t i = links->count; i-- > 0;) {
        core = call_link(el, &links->items[i], links->items[i].value, core);
        if (i % LONG == 0 && i > 0) core = bound(el, core, &lets);
    }
    return ct_elab_wrap(el, &lets, core);
}

CtCore *ct_elab_chain(CtElab *el, CtExpr *expr) {
    Links links = {0};
    CtExpr *end = links_of(el, expr, 0, &links);
    if (end != NULL) return left_chain(el, &links, end);
    links.count = 0;
    end = links_of(el, expr, 1, &links);
    return end != NULL ? right_chain(el, &links, end) : NULL;
}
