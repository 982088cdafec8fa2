/* The stages as text for a terminal. */
#include <math.h>
#include <stdio.h>

#include "explain/explain.h"

enum { MOST_SHOWN = 60, WIDE = 64, MOST_PLACE = 40 };

typedef struct Page {
    CtText *out;
    CtArena *arena;
    const char *strong, *faint, *plain; /* escape sequences, or "" */
} Page;

const char *ct_explain_number(CtArena *arena, double value) {
    if (isfinite(value)) return ct_format(arena, "%.6g", value + 0.0); /* a structural zero is shown as 0 */
    char text[40];
    return ct_copy_text(arena, text, ct_value_show_double(text, value));
}

const char *ct_explain_unqualified(CtArena *arena, const char *text, const char *module) {
    size_t length = module ? strlen(module) : 0;
    if (length == 0 || !strstr(text, module)) return text;
    CtText out = ct_text(arena);
    while (*text != '\0') {
        const char *found = strstr(text, module);
        if (!found) found = text + strlen(text);
        ct_text_add(&out, text, (size_t)(found - text));
        text = found;
        if (*text == '\0') break;
        if (text[length] == '.') {
            text += length + 1;
        } else {
            ct_text_add(&out, text, length);
            text += length;
        }
    }
    return out.data;
}

size_t ct_explain_columns(const char *text) {
    size_t columns = 0;
    for (; *text != '\0'; text++) columns += ((unsigned char)*text & 0xC0) != 0x80;
    return columns;
}

void ct_explain_pad(CtText *out, const char *text, size_t columns) {
    size_t used = ct_explain_columns(text);
    ct_text_printf(out, "%s%*s", text, (int)(used + 2 < columns ? columns - used : 2), "");
}

static void put_title(Page *page, const char *title, const char *note) {
    ct_text_printf(page->out, "%s%s── %s ──%s\n", page->out->length > 0 ? "\n" : "", page->strong, title, page->plain);
    if (note) ct_text_printf(page->out, "%s%s%s\n", page->faint, note, page->plain);
    ct_text_puts(page->out, "\n");
}

static void put_stage(Page *page, const CtStage *stage) {
    put_title(page, stage->title, stage->note);
    for (uint32_t i = 0; i < stage->blocks.count; i++) {
        const CtBlock *block = &stage->blocks.items[i];
        if (i > 0) ct_text_puts(page->out, "\n");
        if (block->title) ct_text_printf(page->out, "%s%s%s\n", page->faint, block->title, page->plain);
        ct_text_puts(page->out, block->text);
    }
}

const char *ct_explain_made(CtArena *arena, const CtNode *node) {
    CtText text = ct_text(arena);
    ct_text_puts(&text, node->label);
    for (uint32_t i = 0; i < node->count; i++) {
        if (node->args[i] == CT_NO_NODE)
            ct_text_printf(&text, " %s", ct_explain_number(arena, node->values[i]));
        else
            ct_text_printf(&text, " #%lld", (long long)node->args[i] + 1);
    }
    return text.data;
}

static const char *partials_of(Page *page, const CtNode *node) {
    CtText text = ct_text(page->arena);
    ct_text_puts(&text, "");
    for (uint32_t i = 0; i < node->count; i++) {
        if (node->args[i] == CT_NO_NODE) continue;
        ct_text_printf(&text, "%s∂#%lld = %s", text.length > 0 ? ", " : "", (long long)node->args[i] + 1,
                       ct_explain_number(page->arena, node->partials[i]));
    }
    return text.data;
}

static void put_nodes(Page *page, const CtRun *run) {
    CtText *out = page->out;
    put_title(page, "the forward pass", "The dual numbers that depend on the point: primal, and second part.");
    uint32_t shown = run->nodes.count < MOST_SHOWN ? run->nodes.count : MOST_SHOWN;
    size_t wide[3] = {0};
    for (uint32_t i = 0; i < shown; i++) {
        const CtNode *node = &run->nodes.items[i];
        size_t columns[3] = {ct_explain_columns(ct_explain_made(page->arena, node)),
                             ct_explain_columns(ct_explain_number(page->arena, node->primal)),
                             ct_explain_columns(partials_of(page, node))};
        for (int k = 0; k < 3; k++)
            if (columns[k] > wide[k] && columns[k] <= MOST_PLACE) wide[k] = columns[k];
    }
    for (uint32_t i = 0; i < shown; i++) {
        const CtNode *node = &run->nodes.items[i];
        ct_text_printf(out, "%s%4s#%u%s%s", page->strong, "", i + 1, page->plain, i + 1 < 10 ? "  " : " ");
        ct_explain_pad(out, ct_explain_made(page->arena, node), wide[0] + 2);
        ct_explain_pad(out, ct_explain_number(page->arena, node->primal), wide[1] + 2);
        ct_explain_pad(out, partials_of(page, node), wide[2] + 2);
        bool below = ct_explain_columns(node->second) > WIDE;
        ct_text_printf(out, below ? "\n          %s\n" : "%s\n", node->second);
    }
    uint64_t left = run->nodes.count - shown + run->more_nodes;
    if (left > 0) ct_text_printf(out, "    … %llu more\n", (unsigned long long)left);
}

static const char *shortened(Page *page, const char *text) {
    size_t columns = 0, bytes = 0;
    for (; text[bytes] != '\0'; bytes++) {
        columns += ((unsigned char)text[bytes] & 0xC0) != 0x80;
        if (columns >= MOST_PLACE) return ct_format(page->arena, "%.*s…", (int)bytes, text);
    }
    return text;
}

static const char *place_of(Page *page, const CtRun *run, const CtArrival *a) {
    if (a->node == CT_NO_NODE) return shortened(page, a->at);
    return shortened(page,
                     ct_format(page->arena, "#%-3lld %s", (long long)a->node + 1, run->nodes.items[a->node].label));
}

static void put_arrivals(Page *page, const CtRun *run) {
    CtText *out = page->out;
    put_title(page, "the reverse pass", "What arrives, in order, and the adjoint so far.");
    uint32_t shown = run->arrivals.count < MOST_SHOWN ? run->arrivals.count : MOST_SHOWN;
    size_t wide = 16;
    for (uint32_t i = 0; i < shown; i++) {
        size_t columns = ct_explain_columns(place_of(page, run, &run->arrivals.items[i]));
        if (columns > wide) wide = columns;
    }
    for (uint32_t i = 0; i < shown; i++) {
        const CtArrival *a = &run->arrivals.items[i];
        ct_text_printf(out, "%4u  ", i + 1);
        ct_explain_pad(out, place_of(page, run, a), wide + 2);
        ct_text_puts(out, "+ ");
        if (a->node == CT_NO_NODE) {
            ct_text_printf(out, "%s\n", ct_explain_number(page->arena, a->g));
            continue;
        }
        ct_explain_pad(out, ct_explain_number(page->arena, a->g), 12);
        ct_text_printf(out, "%s= %s%s\n", page->strong, ct_explain_number(page->arena, a->adjoint), page->plain);
    }
    uint64_t left = run->arrivals.count - shown + run->more_arrivals;
    if (left > 0) ct_text_printf(out, "    … %llu more\n", (unsigned long long)left);
}

static void put_run(Page *page, const CtRun *run) {
    CtText *out = page->out;
    if (run->watched) put_nodes(page, run);
    if (run->left) {
        put_title(page, "what the forward pass leaves",
                  run->watched ? "The pullback holds it. #n stands for the second part of number n."
                               : "The pullback holds it.");
        ct_text_puts(out, run->left);
    }
    if (run->term) {
        put_title(page, "the term", "What the reverse pass evaluates.");
        ct_text_puts(out, run->term);
    }
    if (run->accumulated) put_stage(page, run->accumulated);
    if (run->reverse && run->arrivals.count > 0) put_arrivals(page, run);
    put_title(page, "the result", NULL);
    ct_text_printf(out, "point = %s\n%s = %s\n", run->point, run->reverse ? "cotangent" : "tangent", run->with);
    ct_text_printf(out, "value = %s\n%s = %s\n", run->value, run->reverse ? "pulled back" : "tangent of the value",
                   run->derivative);
}

void ct_explain_text(CtText *out, const CtExplained *explained, bool colour) {
    Page page = {.out = out, .arena = explained->arena};
    page.strong = colour ? "\033[1m" : "";
    page.faint = colour ? "\033[2m" : "";
    page.plain = colour ? "\033[0m" : "";
    for (uint32_t i = 0; i < explained->stages.count; i++) put_stage(&page, &explained->stages.items[i]);
    if (explained->run) put_run(&page, explained->run);
}
