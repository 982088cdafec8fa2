/* Printing of Delta terms as text (BULK Fig. 18), and as a graph for Graphviz. */
#include "ad/bulk/diff/delta.h"

/* A term with at most this many nodes is written in one piece, as in Fig. 18. In larger ones each Share has its own
 * line. */
enum { NESTED_NODES = 40 };

typedef struct Printer {
    CtText *out;
    CtBulkBuilder *r;
    CtBulkVar *const *inputs;
    bool *met; /* by id; NULL: shares are not written out */
} Printer;

static void print(Printer *p, const CtDelta *d);

/* A factor or test, which is an atom. */
static void print_primal(Printer *p, CtBulk *t) {
    CtText text = ct_text(p->r->arena);
    ct_bulk_print(&text, t);
    bool tight = t->kind == BULK_VAR || text.data[0] == '[' || (t->shape.rank == 0 && text.data[0] != '-');
    ct_text_printf(p->out, tight ? " %s" : " (%s)", text.data);
}

static void print_part(Printer *p, const CtDelta *d) {
    bool atom = !d || d->kind == DELTA_LIT_ARRAY;
    ct_text_puts(p->out, atom ? " " : " (");
    print(p, d);
    if (!atom) ct_text_puts(p->out, ")");
}

/* Loop 3 [d₁, …], with the Delta terms of its arguments. The body is not differentiated before a pass needs it. */
static void print_loop_args(Printer *p, const CtDeltaLoop *loop) {
    ct_text_puts(p->out, " [");
    for (uint32_t k = 0; k < ct_bulk_loop_params(loop->source); k++) {
        if (k) ct_text_puts(p->out, ", ");
        print(p, loop->deltas[k]);
    }
    ct_text_puts(p->out, "]");
}

static void print_literal(Printer *p, const CtDelta *d) {
    ct_text_puts(p->out, "LitArray [");
    for (uint32_t k = 0; k < d->as.literal.count; k++) {
        if (k) ct_text_puts(p->out, ", ");
        print(p, d->as.literal.items[k]);
    }
    ct_text_puts(p->out, "]");
}

/* The text of a node without its parts. */
static void print_head(Printer *p, const CtDelta *d) {
    static const char *const names[] = {"Input",    "Add",    "Scale",   "Cond",     "Share",     "Index",
                                        "SumOuter", "Gather", "Scatter", "LitArray", "Replicate", "Transpose",
                                        "Reshape",  "OneHot", "Loop",    "Result"};
    ct_text_puts(p->out, names[d->kind]);
    if (d->kind == DELTA_INPUT) ct_text_printf(p->out, " %s", p->inputs[d->as.input]->name);
    if (d->kind == DELTA_SHARE) ct_text_printf(p->out, " %u", d->as.share.id);
    if (d->kind == DELTA_LOOP) ct_text_printf(p->out, " %u", d->as.loop->id);
    if (d->kind == DELTA_RESULT) ct_text_printf(p->out, " %u", d->as.result);
    if (d->kind == DELTA_SCALE || d->kind == DELTA_SELECT) print_primal(p, d->as.primal);
    for (uint32_t k = 0; d->kind == DELTA_TRANSPOSE && k < d->as.transpose.count; k++)
        ct_text_printf(p->out, "%s%u", k ? "," : " ", d->as.transpose.permutation[k]);
    if (d->kind == DELTA_RESHAPE) {
        ct_text_puts(p->out, " [");
        for (uint32_t k = 0; k < d->shape.rank; k++)
            ct_text_printf(p->out, "%s%lld", k ? ", " : "", (long long)d->shape.sizes[k]);
        ct_text_puts(p->out, "]");
    }
}

static void print_tail(Printer *p, const CtDelta *d) {
    if (d->kind != DELTA_INDEX && d->kind != DELTA_GATHER && d->kind != DELTA_SCATTER && d->kind != DELTA_ONE_HOT)
        return;
    ct_text_puts(p->out, " ");
    ct_bulk_print_indexing(p->out, &d->as.f);
}

/* Whether a Share is written out here, at its first occurrence. */
static bool meets(Printer *p, uint32_t id) {
    if (!p->met || p->met[id]) return false;
    return p->met[id] = true;
}

static void print(Printer *p, const CtDelta *d) {
    if (!d) {
        ct_text_puts(p->out, "Zero");
        return;
    }
    if (d->kind == DELTA_LIT_ARRAY) {
        print_literal(p, d);
        return;
    }
    print_head(p, d);
    if (d->kind == DELTA_SHARE && !meets(p, d->as.share.id)) return;
    if (d->kind == DELTA_LOOP) {
        if (meets(p, d->as.loop->id)) print_loop_args(p, d->as.loop);
        return;
    }
    if (d->parts[0] || d->kind == DELTA_SELECT) print_part(p, d->parts[0]);
    if (d->kind == DELTA_ADD || d->kind == DELTA_SELECT) print_part(p, d->parts[1]);
    print_tail(p, d);
}

void ct_bulk_delta_print(CtText *out, CtBulkBuilder *r, const CtBulkDual *dual, const CtDeltaNodes *n,
                         CtBulkVar *const *inputs) {
    Printer p = {.out = out, .r = r, .inputs = inputs};
    if (n->count <= NESTED_NODES) p.met = CT_NEW_ARRAY(r->arena, bool, dual->shares + 1);
    print(&p, dual->delta);
    for (uint32_t id = dual->shares; !p.met && id > 0; id--) {
        if (!n->shares[id]) continue;
        bool is_loop = n->shares[id]->kind == DELTA_LOOP;
        ct_text_printf(out, "\n%s %u =", is_loop ? "Loop" : "Share", id);
        if (is_loop)
            print_loop_args(&p, n->shares[id]->as.loop);
        else
            print_part(&p, n->shares[id]->parts[0]);
    }
}

/* ---- as a graph ---- */

enum { MOST_DRAWN = 300 };

typedef struct Drawing {
    CtBulkBuilder *r;
    CtText *out;
    CtBulkVar *const *inputs;
    uint32_t *numbers; /* node numbers of shares, by id */
    CtMap met;         /* input -> the number of its node */
    uint32_t count;
} Drawing;

static uint32_t draw_node(Drawing *g, const CtDelta *d) {
    CtText label = ct_text(g->r->arena);
    Printer p = {.out = &label, .r = g->r, .inputs = g->inputs};
    print_head(&p, d);
    print_tail(&p, d);
    ct_text_printf(g->out, "n%u [label=\"%s\\n[", ++g->count, label.data);
    for (uint32_t k = 0; k < d->shape.rank; k++)
        ct_text_printf(g->out, "%s%lld", k ? ", " : "", (long long)d->shape.sizes[k]);
    ct_text_puts(g->out, "]\"];\n");
    return g->count;
}

static void draw_arrow(Drawing *g, uint32_t from, uint32_t to) {
    if (from > 0) ct_text_printf(g->out, "n%u -> n%u;\n", from, to);
}

/* Draws a node and its parts, down to shares that have been drawn. Returns its number; 0: zero. */
static uint32_t draw(Drawing *g, const CtDelta *d) {
    if (!d) return 0;
    if (d->kind == DELTA_SHARE) return g->numbers[d->as.share.id];
    if (d->kind == DELTA_LOOP) return g->numbers[d->as.loop->id];
    if (d->kind == DELTA_INPUT && ct_map_has(&g->met, d->as.input))
        return (uint32_t)(uintptr_t)ct_map_get(&g->met, d->as.input);
    uint32_t number = draw_node(g, d);
    if (d->kind == DELTA_INPUT) ct_map_set(g->r->arena, &g->met, d->as.input, (void *)(uintptr_t)number);
    for (uint32_t k = 0; d->kind == DELTA_LIT_ARRAY && k < d->as.literal.count; k++)
        draw_arrow(g, draw(g, d->as.literal.items[k]), number);
    for (uint32_t k = 0; k < 2; k++) draw_arrow(g, draw(g, d->parts[k]), number);
    return number;
}

static uint32_t draw_loop(Drawing *g, const CtDelta *d) {
    uint32_t number = draw_node(g, d);
    for (uint32_t k = 0; k < ct_bulk_loop_params(d->as.loop->source); k++)
        draw_arrow(g, draw(g, d->as.loop->deltas[k]), number);
    return number;
}

void ct_bulk_delta_draw(CtText *out, CtBulkBuilder *r, const CtBulkDual *dual, const CtDeltaNodes *n,
                        CtBulkVar *const *inputs) {
    Drawing g = {.r = r, .out = out, .inputs = inputs};
    if (n->count > MOST_DRAWN) return;
    g.numbers = CT_NEW_ARRAY(r->arena, uint32_t, dual->shares + 1);
    for (uint32_t id = 1; id <= dual->shares; id++) {
        const CtDelta *d = n->shares[id];
        if (d) g.numbers[id] = d->kind == DELTA_LOOP ? draw_loop(&g, d) : draw(&g, d->parts[0]);
    }
    draw(&g, dual->delta);
}
