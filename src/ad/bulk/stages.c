/* The stages of `bulk` as text. The functions are in the order in which bulk.c makes a derivative. */
#include "ad/bulk/stages.h"

#include "ad/bulk/rewrite/rules.h"

#include <string.h>

enum { WIDTH = 100, MOST_STEPS = 60, MOST_LINES = 16 /* of a term in a step */ };

/* ---- pieces of text ---- */

static void add(CtBulkLook *look, CtBulkBuilder *r, const char *title, const char *note, const char *heading,
                const char *text) {
    ct_push(r->arena, &look->stages, (CtBulkStage){title, note, heading, text});
}

static const char *text_of(CtBulkBuilder *r, CtBulk *t) {
    CtText text = ct_text(r->arena);
    ct_bulk_print(&text, t);
    return text.data;
}

static const char *line_of(CtBulkBuilder *r, CtBulk *t) { return ct_format(r->arena, "%s\n", text_of(r, t)); }

/* Writes a text with all lines but the first indented by `columns`; at most MOST_LINES. */
static void put_indented(CtText *out, const char *text, int columns) {
    uint32_t lines = 1;
    for (; *text != '\0'; text++) {
        ct_text_putc(out, *text);
        if (*text != '\n') continue;
        ct_text_printf(out, "%*s", columns, "");
        if (++lines <= MOST_LINES) continue;
        ct_text_puts(out, "…");
        return;
    }
}

static void put_shape(CtText *out, CtElement element, CtShape shape) {
    static const char *const names[] = {"ℝ", "Int", "Bool"};
    ct_text_puts(out, "Array [");
    for (uint32_t k = 0; k < shape.rank; k++)
        ct_text_printf(out, "%s%lld", k > 0 ? ", " : "", (long long)shape.sizes[k]);
    ct_text_printf(out, "] %s", names[element]);
}

/* ---- the term ---- */

void ct_bulk_show_term(CtBulkLook *look, CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *inputs, uint32_t count) {
    if (!look || !look->in_words) return;
    CtText text = ct_text(r->arena);
    for (uint32_t k = 0; k < count; k++) {
        ct_text_printf(&text, "%s : ", inputs[k]->name);
        put_shape(&text, inputs[k]->element, inputs[k]->shape);
        ct_text_puts(&text, "\n");
    }
    ct_text_puts(&text, "  ⊢ ");
    put_indented(&text, text_of(r, t), 4);
    ct_text_puts(&text, "\n  : ");
    put_shape(&text, t->element, t->shape);
    ct_text_puts(&text, "\n");
    add(look, r, "the term",
        "The function for the shapes of the point, in the array language of Fig. 7 (BULK 2025 §§5–7).", NULL,
        text.data);
}

void ct_bulk_show_refusal(CtBulkLook *look, CtBulkBuilder *r, CtSourceRange place, const char *what) {
    if (!look || !look->in_words) return;
    uint32_t line, column;
    ct_source_position(r->p->context, place.source, place.start, &line, &column);
    CtText text = ct_text(r->arena);
    ct_text_printf(&text, "line %u, column %u: %s\n", line, column, what);
    add(look, r, "dual arrays at run time",
        "The function has no term of fixed shapes, so the Delta term is made while it runs (BULK 2025 §6).", NULL,
        text.data);
}

/* ---- stage 1 ---- */

/* The name of a term's form, as in the captions of the figures. */
static const char *form_name(const CtBulk *t) {
    static const char *const reductions[] = {"sumOuter", "sumOuter", "product", "maximum",
                                             "minimum",  "argmax",   "argmin"};
    switch (t->kind) {
    case BULK_CONST: return "a constant";
    case BULK_VAR: return "a variable";
    case BULK_LET: return "let";
    case BULK_COND: return "cond";
    case BULK_OP:
    case BULK_LOGIC: return "an operation";
    case BULK_INDEX: return "index";
    case BULK_REDUCE: return reductions[t->as.reduce.reduction];
    case BULK_GATHER: return "gather";
    case BULK_SCATTER: return "scatter";
    case BULK_LITERAL: return "[t₁, …, tₙ]";
    case BULK_REPLICATE: return "replicate";
    case BULK_TRANSPOSE: return "tr";
    case BULK_RESHAPE: return "reshape";
    case BULK_BUILD: return "build1";
    case BULK_ONE_HOT: return "oneHot";
    case BULK_STOP: return "stopGradient";
    case BULK_SHARE: return "share";
    case BULK_CHECK: return "check";
    case BULK_LOOP: return "a loop";
    }
    return "";
}

static bool is_of_the_figures(const CtBulk *t) {
    if (t->kind == BULK_REDUCE) return t->as.reduce.reduction <= REDUCE_PLAIN_SUM;
    return t->kind != BULK_LOGIC && t->kind != BULK_ONE_HOT && t->kind != BULK_STOP && t->kind != BULK_CHECK &&
           t->kind != BULK_LOOP;
}

static const char *build_rule(CtBulkBuilder *r, const CtBulk *t, const CtBulk *after) {
    CtBulk *body = t->as.build.body;
    if (t->shape.sizes[0] == 0) return "build1 of no elements, beyond the figures";
    if (body->kind == BULK_VAR && body->as.var == t->as.build.var) return "build1 of its index, Fig. 9";
    if (after->kind == BULK_REPLICATE && after->as.t == body) return "build1 of what its index is not in, Fig. 9";
    const char *figure = body->kind == BULK_INDEX ? "Fig. 11" : "Fig. 9";
    return ct_format(r->arena, "build1 of %s, %s", form_name(body), is_of_the_figures(body) ? figure : "as Fig. 9");
}

static const char *index_rule(CtBulkBuilder *r, const CtBulk *t) {
    const CtBulk *source = t->as.move.t;
    if (t->as.move.f.count == 0) return "index by nothing, Fig. 10";
    return ct_format(r->arena, "index of %s, %s", form_name(source),
                     is_of_the_figures(source) ? "Fig. 10" : "as Fig. 10");
}

/* Whether a step only dropped a condition. */
static bool only_lost_its_condition(const CtBulk *before, const CtBulk *after) {
    bool moves = before->kind == BULK_INDEX || before->kind == BULK_GATHER || before->kind == BULK_SCATTER;
    return moves && after->kind == before->kind && before->as.move.f.live && !after->as.move.f.live &&
           after->as.move.t == before->as.move.t && after->as.move.f.ix == before->as.move.f.ix;
}

static const char *rule_name(CtBulkBuilder *r, const CtBulk *before, const CtBulk *after) {
    if (only_lost_its_condition(before, after)) return "what is never outside needs no condition";
    if (before->kind == BULK_LOOP) return "the body of a loop, by itself";
    return before->kind == BULK_BUILD ? build_rule(r, before, after) : index_rule(r, before);
}

typedef struct Steps {
    CtBulkBuilder *r;
    CtText text;
    uint32_t count;
} Steps;

static void put_step(void *data, CtBulk *before, CtBulk *after) {
    Steps *s = data;
    if (++s->count > MOST_STEPS) return;
    ct_text_printf(&s->text, "%s\n    ", rule_name(s->r, before, after));
    put_indented(&s->text, text_of(s->r, before), 4);
    ct_text_puts(&s->text, "\n  ⇝ ");
    put_indented(&s->text, text_of(s->r, after), 4);
    ct_text_puts(&s->text, "\n");
}

CtBulk *ct_bulk_show_rewrite(CtBulkLook *look, CtBulkBuilder *r, CtBulk *t) {
    if (!look || !look->in_words) return ct_bulk_rewrite(r, t);
    Steps steps = {.r = r, .text = ct_text(r->arena)};
    CtBulk *normal = ct_bulk_rewrite_told(r, t, put_step, &steps);
    if (steps.count == 0) ct_text_puts(&steps.text, "none: there is nothing to push inward\n");
    if (steps.count > MOST_STEPS) ct_text_printf(&steps.text, "… %u more steps\n", steps.count - MOST_STEPS);
    add(look, r, "stage 1: the bulk-operation transform",
        "build1 and index are pushed inward until operations on whole arrays are left (BULK Figs. 9 to 11).",
        "the steps", steps.text.data);
    return normal;
}

void ct_bulk_show_normal(CtBulkLook *look, CtBulkBuilder *r, CtBulk *normal, CtBulk *simplified) {
    if (!look || !look->in_words) return;
    const char *text = line_of(r, normal), *simpler = line_of(r, simplified);
    add(look, r, NULL, NULL, "the normal form (Theorem 5.1)", text);
    if (strcmp(text, simpler) != 0) add(look, r, NULL, NULL, "simplified", simpler);
}

/* ---- stages 2 and 3 ---- */

/* The end of the part of a line that begins at `c`: a word, or a bracketed part. */
static const char *part_end(const char *c) {
    int depth = 0;
    for (; *c != '\0' && *c != '\n'; c++) {
        if (depth == 0 && (*c == ' ' || *c == ')' || *c == ']')) break;
        depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
    }
    return c;
}

static int columns_between(const char *from, const char *to) {
    int columns = 0;
    for (; from < to; from++) columns += ((unsigned char)*from & 0xC0) != 0x80;
    return columns;
}

/* Writes a part of a line as it is if it fits. Otherwise each of its bracketed parts gets a line of its own,
 * recursively. */
static void put_broken(CtText *out, const char *from, const char *to, int column, int indent) {
    int groups = 0;
    bool fits = column + columns_between(from, to) <= WIDTH;
    for (const char *c = from; !fits && c < to; c = part_end(c) + 1) groups += *c == '(';
    for (const char *c = from; !fits && c < to; c = part_end(c) + 1) {
        const char *end = part_end(c);
        if (*c == '(') {
            if (groups > 1) ct_text_printf(out, "\n%*s", column = indent + 2, "");
            ct_text_putc(out, '(');
            put_broken(out, c + 1, end - 1, column + 1, groups > 1 ? indent + 2 : indent);
            ct_text_putc(out, ')');
        } else {
            ct_text_add(out, c, (size_t)(end - c));
        }
        column += columns_between(c, end) + 1;
        if (end < to && (groups < 2 || end[1] != '(')) ct_text_putc(out, ' ');
    }
    if (fits) ct_text_add(out, from, (size_t)(to - from));
}

/* The terms in a Delta term, with line breaks as in Fig. 18. */
static const char *broken(CtBulkBuilder *r, const char *text) {
    CtText out = ct_text(r->arena);
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        put_broken(&out, text, text + length, 0, 0);
        ct_text_putc(&out, '\n');
        text += length + (text[length] == '\n');
    }
    return out.data;
}

void ct_bulk_show_gradient(CtBulkLook *look, CtBulkBuilder *r, const CtBulkGradient *g, CtBulkVar *const *inputs,
                           uint32_t count) {
    if (!look) return;
    look->nodes = g->nodes;
    if (!look->in_words) return;
    look->graph = g->graph.data;
    CtText dual = ct_text(r->arena), shared = ct_text(r->arena), lets = ct_text(r->arena);
    CtBulk *value = g->value;
    ct_bulk_print_bindings(&dual, g->vars.items, g->terms.items, g->primals, &value, 1);
    add(look, r, "stage 2: dual arrays",
        "Each array with its Delta term, what is left of D once the primal is bound (BULK Figs. 12 to 15, Eq. 6).",
        "the primal", dual.data);
    add(look, r, NULL, NULL, ct_format(r->arena, "the Delta term, of %u node%s", g->nodes, g->nodes == 1 ? "" : "s"),
        broken(r, g->delta.data));
    for (uint32_t k = 0; k < count; k++) {
        if (!g->gradient[k]) continue;
        ct_text_printf(&shared, "%s_adj = ", inputs[k]->name);
        CtText one = ct_text(r->arena);
        ct_bulk_print_sharing(&one, g->shared[k]);
        put_indented(&shared, one.data, 2);
        ct_text_puts(&shared, "\n");
    }
    add(look, r, "stage 3: the symbolic reverse pass",
        "The Delta term evaluated backwards, on the symbol of the cotangent (BULK Figs. 17, 19 and 20).",
        "with global sharing", shared.data ? shared.data : "nothing to compute\n");
    ct_bulk_print_bindings(&lets, g->vars.items, g->terms.items, g->vars.count, g->gradient, count);
    add(look, r, NULL, NULL, "with bindings", lets.data);
}

void ct_bulk_show_simplified(CtBulkLook *look, CtBulkBuilder *r, const CtBulkGradient *g, uint32_t count) {
    if (!look || !look->in_words) return;
    CtText text = ct_text(r->arena);
    CtBulk **all = CT_NEW_ARRAY(r->arena, CtBulk *, count + 1);
    all[0] = g->value;
    for (uint32_t k = 0; k < count; k++) all[k + 1] = g->gradient[k];
    ct_bulk_print_bindings(&text, g->vars.items, g->terms.items, g->vars.count, all, count + 1);
    add(look, r, NULL, NULL, "value and gradient, simplified (Fig. 21)", text.data);
}

/* ---- the program ---- */

/* The arrays that were precomputed. */
typedef struct Constants {
    CtProgram *p;
    CtArena *arena;
    CtMap met;
    CT_VEC(CtGlobal *) found;
} Constants;

static CtCore *find_constants(void *data, CtCore *core) {
    Constants *c = data;
    if (core->kind != CORE_GLOBAL) return ct_core_map(c->p, core, find_constants, c);
    CtGlobal *global = core->as.global;
    if (strncmp(global->name->text, "bulk.", 5) != 0 || ct_map_has(&c->met, ct_key(global))) return core;
    ct_map_set(c->arena, &c->met, ct_key(global), global);
    ct_push(c->arena, &c->found, global);
    return core;
}

static void show_constants(CtBulkLook *look, CtBulkBuilder *r, CtCore *program) {
    Constants c = {.p = r->p, .arena = r->arena};
    find_constants(&c, program);
    for (uint32_t i = 0; i < c.found.count; i++) find_constants(&c, c.found.items[i]->body);
    if (c.found.count == 0) return;
    CtText text = ct_text(r->arena);
    for (uint32_t i = 0; i < c.found.count; i++) ct_core_print_global(&text, r->p, c.found.items[i]);
    add(look, r, NULL, NULL, "constants, computed once", text.data);
}

void ct_bulk_show_program(CtBulkLook *look, CtBulkBuilder *r, CtCore *program) {
    if (!look || !look->in_words) return;
    CtText text = ct_text(r->arena);
    ct_core_print(&text, r->p, program);
    ct_text_puts(&text, "\n");
    add(look, r, "the gradient program", "What runs: Core over flat arrays, with no derivative left in it.", NULL,
        text.data);
    show_constants(look, r, program);
}
