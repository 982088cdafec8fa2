/* The stages as one self-contained HTML page. Text from the program is escaped: by entities in HTML, and in the
 * script's data as JSON without `<`. */
#include <stdio.h>

#include "explain/explain.h"

enum { MOST_ROWS = 600, MOST_SECOND = 300 };

extern const char ct_explain_css[], ct_explain_js[];

/* Text escaped for HTML and SVG. */
static const char *escaped(CtArena *arena, const char *text) {
    CtText out = ct_text(arena);
    ct_text_puts(&out, "");
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&': ct_text_puts(&out, "&amp;"); break;
        case '<': ct_text_puts(&out, "&lt;"); break;
        case '>': ct_text_puts(&out, "&gt;"); break;
        case '"': ct_text_puts(&out, "&quot;"); break;
        case '\'': ct_text_puts(&out, "&#39;"); break;
        default: ct_text_putc(&out, *text);
        }
    }
    return out.data;
}

typedef struct Page {
    CtText *out;
    CtArena *arena;
    const CtExplained *explained;
} Page;

static void put(Page *page, const char *text) { ct_text_puts(page->out, escaped(page->arena, text)); }

static void put_pre(Page *page, const char *text) {
    ct_text_puts(page->out, "<pre>");
    put(page, text);
    ct_text_puts(page->out, "</pre>\n");
}

static void begin_card(Page *page, const char *title, const char *note) {
    ct_text_puts(page->out, "<section class=\"card\"><h2>");
    put(page, title);
    ct_text_puts(page->out, "</h2>\n");
    if (!note) return;
    ct_text_puts(page->out, "<p>");
    put(page, note);
    ct_text_puts(page->out, "</p>\n");
}

static void put_stage(Page *page, const CtStage *stage) {
    begin_card(page, stage->title, stage->note);
    for (uint32_t i = 0; i < stage->blocks.count; i++) {
        const CtBlock *block = &stage->blocks.items[i];
        if (block->title) {
            ct_text_puts(page->out, "<h3>");
            put(page, block->title);
            ct_text_puts(page->out, "</h3>\n");
        }
        put_pre(page, block->text);
    }
    ct_text_puts(page->out, "</section>\n");
}

/* ---- the run ---- */

static const char *cut(Page *page, const char *text) {
    size_t columns = 0, bytes = 0;
    for (; text[bytes] != '\0'; bytes++) {
        columns += ((unsigned char)text[bytes] & 0xC0) != 0x80;
        if (columns > MOST_SECOND) return ct_format(page->arena, "%.*s…", (int)bytes, text);
    }
    return text;
}

static void put_json(Page *page, const char *key, const char *text) {
    CtText string = ct_text(page->arena);
    ct_io_json_write_string(&string, text, strlen(text));
    ct_text_printf(page->out, "\"%s\":", key);
    for (const char *c = string.data; *c != '\0'; c++) {
        if (*c == '<')
            ct_text_puts(page->out, "\\u003c");
        else
            ct_text_putc(page->out, *c);
    }
}

static void put_data(Page *page, const CtRun *run) {
    CtText *out = page->out;
    ct_text_printf(out, "<script type=\"application/json\" id=\"data\"%s>{\"nodes\":[",
                   run->arrivals.count > 0 ? " data-reverse=\"yes\"" : "");
    for (uint32_t i = 0; i < run->nodes.count; i++) {
        const CtNode *node = &run->nodes.items[i];
        ct_text_puts(out, i > 0 ? ",\n{" : "\n{");
        put_json(page, "made", ct_explain_made(page->arena, node));
        ct_text_puts(out, ",");
        put_json(page, "primal", ct_explain_number(page->arena, node->primal));
        ct_text_puts(out, ",");
        put_json(page, "second", cut(page, node->second));
        ct_text_puts(out, "}");
    }
    ct_text_puts(out, "],\"steps\":[");
    for (uint32_t i = 0; i < run->nodes.count; i++) ct_text_printf(out, "%s{\"n\":%u}", i > 0 ? "," : "\n", i);
    for (uint32_t i = 0; i < run->arrivals.count; i++) {
        const CtArrival *a = &run->arrivals.items[i];
        ct_text_printf(out, "%s{\"n\":%lld,", i > 0 || run->nodes.count > 0 ? ",\n" : "\n", (long long)a->node);
        put_json(page, "g", ct_explain_number(page->arena, a->g));
        ct_text_puts(out, ",");
        if (a->node == CT_NO_NODE)
            put_json(page, "at", cut(page, a->at));
        else
            put_json(page, "adjoint", ct_explain_number(page->arena, a->adjoint));
        ct_text_puts(out, "}");
    }
    ct_text_puts(out, "]}</script>\n");
}

static void put_table(Page *page, const CtRun *run) {
    CtText *out = page->out;
    bool reverse = run->arrivals.count > 0;
    ct_text_printf(
        out,
        "<div class=\"numbers\"><table><thead><tr><th></th><th>made by</th><th>primal</th><th>second part</th>%s"
        "</tr></thead>\n<tbody>\n",
        reverse ? "<th>adjoint</th>" : "");
    uint32_t shown = run->nodes.count < MOST_ROWS ? run->nodes.count : MOST_ROWS;
    for (uint32_t i = 0; i < shown; i++) {
        const CtNode *node = &run->nodes.items[i];
        ct_text_printf(out, "<tr id=\"r%u\"><td>#%u</td><td>", i + 1, i + 1);
        put(page, ct_explain_made(page->arena, node));
        if (node->line > 0) ct_text_printf(out, " <small>line %u</small>", node->line);
        ct_text_printf(out, "</td><td class=\"number\">%s</td><td class=\"second\">",
                       ct_explain_number(page->arena, node->primal));
        put(page, cut(page, node->second));
        ct_text_puts(out, reverse ? "</td><td class=\"number\"></td></tr>\n" : "</td></tr>\n");
    }
    ct_text_puts(out, "</tbody></table>\n");
    uint64_t left = run->nodes.count - shown + run->more_nodes;
    if (left > 0) ct_text_printf(out, "<p>… %llu more</p>\n", (unsigned long long)left);
    ct_text_puts(out, "</div>\n");
}

static void put_result(Page *page, const CtRun *run) {
    CtText text = ct_text(page->arena);
    ct_text_printf(&text, "point = %s\n%s = %s\nvalue = %s\n%s = %s\n", run->point,
                   run->reverse ? "cotangent" : "tangent", run->with, run->value,
                   run->reverse ? "pulled back" : "tangent of the value", run->derivative);
    begin_card(page, "the result", NULL);
    put_pre(page, text.data);
    ct_text_puts(page->out, "</section>\n");
}

/* The graph, and the run step by step. */
static void put_steps(Page *page, const CtRun *run, const char *svg) {
    CtText *out = page->out;
    ct_text_puts(
        out,
        "<div id=\"run\"><section class=\"card\"><h2>the dual-number graph</h2>\n"
        "<p>The numbers that depend on the point; on an arrow, the partial derivative.</p>\n<div class=\"graph\">");
    ct_text_puts(out, svg);
    ct_text_puts(out,
                 "</div></section>\n<section class=\"card\"><h2>the run, step by step</h2>\n<div class=\"controls\">"
                 "<button id=\"first\" title=\"to the beginning (Home)\" aria-label=\"to the beginning\">|◀</button>"
                 "<button id=\"previous\" title=\"back (←)\" aria-label=\"back\">◀</button>"
                 "<button id=\"next\" title=\"on (→)\" aria-label=\"on\">▶</button>"
                 "<button id=\"last\" title=\"to the end (End)\" aria-label=\"to the end\">▶|</button>"
                 "<input id=\"at\" type=\"range\" min=\"0\" value=\"0\" aria-label=\"step\"></div>\n"
                 "<output id=\"said\" aria-live=\"polite\"></output>\n");
    put_table(page, run);
    if (run->more_arrivals > 0)
        ct_text_printf(out, "<p>… and %llu more arrivals</p>\n", (unsigned long long)run->more_arrivals);
    ct_text_puts(out, "</section></div>\n");
}

static void put_term_graph(Page *page, const char *svg) {
    begin_card(page, "the Delta term, drawn",
               "Each node with its shape, from the inputs to the result: what is shared is one node.");
    ct_text_printf(page->out, "<div class=\"graph\">%s</div></section>\n", svg);
}

static void put_run(Page *page, const CtRun *run, const char *svg) {
    CtText *out = page->out;
    if (run->watched)
        put_steps(page, run, svg);
    else if (svg)
        put_term_graph(page, svg);
    ct_text_puts(out, "<div class=\"stages\">\n");
    if (run->left) {
        begin_card(page, "what the forward pass leaves",
                   run->watched ? "The pullback holds it. #n stands for the second part of number n."
                                : "The pullback holds it.");
        put_pre(page, run->left);
        ct_text_puts(out, "</section>\n");
    }
    if (run->term) {
        begin_card(page, "the term", "What the reverse pass evaluates.");
        put_pre(page, run->term);
        ct_text_puts(out, "</section>\n");
    }
    if (run->accumulated) put_stage(page, run->accumulated);
    put_result(page, run);
    ct_text_puts(out, "</div>\n");
    if (run->watched) put_data(page, run);
}

void ct_explain_html(CtText *out, const CtExplained *explained) {
    Page page = {.out = out, .arena = explained->arena, .explained = explained};
    bool drawn = explained->run && (explained->run->watched || explained->graph);
    const char *svg = drawn ? ct_explain_graph(explained->arena, explained) : NULL;
    const char *function = escaped(page.arena, explained->function);
    ct_text_printf(out,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<link rel=\"icon\" href=\"data:,\">\n<title>%s by %s</title>\n<style>\n",
                   function, explained->name);
    ct_text_puts(out, ct_explain_css);
    ct_text_printf(out, "</style>\n</head>\n<body>\n<header><h1><code>%s</code> by the method %s</h1>\n<p>", function,
                   explained->name);
    put(&page, explained->method->what);
    ct_text_puts(out, "; ");
    put(&page, explained->method->figure);
    ct_text_puts(out, "; ");
    put(&page, explained->file);
    bool beside = !explained->run || explained->run->watched; /* two columns; otherwise one */
    ct_text_printf(out, "</p></header>\n<div class=\"stages%s\">\n", beside ? "" : " down");
    static const uint32_t order[] = {0, 2, 1, 3, 4}; /* the function beside its transformed version */
    for (uint32_t i = 0; i < explained->stages.count; i++)
        put_stage(&page, &explained->stages.items[beside ? order[i] : i]);
    ct_text_puts(out, "</div>\n");
    if (explained->run) put_run(&page, explained->run, svg);
    ct_text_puts(out, "<script>\n");
    ct_text_puts(out, ct_explain_js);
    ct_text_puts(out, "</script>\n</body>\n</html>\n");
}
