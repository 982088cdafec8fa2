/* The parts of shared loops as functions of C. Variables from outside are packed into a struct, and unpacked in the
 * part under the same names. */
#include "emit/vector/vector.h"
#include "emit/shared_loops.h"

#include <ctype.h>

/* ---- what is seen ---- */

static bool is_param(const Share *share, const CtFlowVar *var) {
    const CtFlowVars *params = &share->loop->as.loop.block->params;
    for (uint32_t i = 0; i < params->count; i++)
        if (params->items[i] == var) return true;
    return false;
}

static void see(const Emit *e, const CtFlowArgs *args, Share *share) {
    for (uint32_t i = 0; i < args->count; i++) {
        CtFlowVar *var = args->items[i].var;
        bool known = var == NULL || e->uses[var->id].text == NULL || is_param(share, var);
        for (uint32_t j = 0; !known && j < share->seen.count; j++) known = share->seen.items[j] == var;
        if (!known) ct_push(e->arena, &share->seen, var);
    }
}

static void see_block(const Emit *e, const CtFlowBlock *block, Share *share) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        see(e, &step->args, share);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) see_block(e, ct_flow_inner(step, j), share);
    }
    see(e, &block->values, share);
}

static bool is_name(const char *text) {
    if (!isalpha((unsigned char)*text)) return false;
    while (isalnum((unsigned char)*text) || *text == '_') text++;
    return *text == '\0';
}

/* Gives names to expressions from outside. */
static void name_seen(Emit *e, Share *share) {
    share->before = CT_NEW_ARRAY(e->arena, Use, share->seen.count + 1);
    for (uint32_t i = 0; i < share->seen.count; i++) {
        CtFlowVar *var = share->seen.items[i];
        Use *use = &e->uses[var->id];
        share->before[i] = *use;
        if (use->is_bare) continue; /* a part uses that of its own run */
        if (!is_name(use->text) && !isdigit((unsigned char)use->text[0])) ct_emit_declare(e, var, use->text);
        use->lent = ct_flow_is_object(var->type) && !ct_emit_share_is_of_numbers(var->type);
    }
}

void ct_emit_lent(Emit *e, CtFlowVar *var, const char *text) {
    bool numbers = ct_emit_share_is_of_numbers(var->type), is_view = numbers && e->uses[var->id].is_held;
    if (numbers && !is_view) CT_FIRED("loop_parts.borrowed_array");
    ct_emit_declare(e, var, is_view ? ct_format(e->arena, "ct_view(rt, %s)", text) : text);
    e->uses[var->id].lent = !is_view;
}

/* ---- the struct ---- */

typedef struct Fields {
    Emit *e;
    const Share *share;
    CtText *types;           /* fields of the struct */
    CtText *packs, *results; /* code at the loop: before it and behind it */
    CtText *unpacks, *ends;  /* code of a part: before and behind its iterations */
    CtText *merges;          /* code for each part, run in order behind all of them */
    CT_VEC(const char *) names;
} Fields;

/* Whether a text uses an array otherwise than to read its elements and lengths. */
static bool is_held(const char *text, const char *name) {
    static const char *const looks_at[] = {"ct_data(", "ct_row_words(", "ct_length(", "ct_join("};
    size_t length = strlen(name);
    for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name)) {
        bool whole = !isalnum((unsigned char)at[-1]) && at[-1] != '_' && !isalnum((unsigned char)at[length]) &&
                     at[length] != '_';
        bool looks = strncmp(at + length, "->", 2) == 0;
        for (size_t i = 0; i < sizeof looks_at / sizeof *looks_at; i++) {
            size_t before = strlen(looks_at[i]);
            looks |= (size_t)(at - text) > before && strncmp(at - before, looks_at[i], before) == 0;
        }
        if (whole && !looks) return true;
    }
    return false;
}

/* Passes a variable to the part, if the body mentions it. */
static void add_field(Fields *f, const char *type, const char *name, bool is_view) {
    if (!is_name(name) || !ct_emit_mentions(f->share->body.data, name)) return;
    is_view &= is_held(f->share->body.data, name);
    for (uint32_t i = 0; i < f->names.count; i++)
        if (strcmp(f->names.items[i], name) == 0) return;
    ct_push(f->e->arena, &f->names, name);
    ct_text_printf(f->types, "    %s%s;\n", type, name);
    ct_text_printf(f->packs, "%s.%s = %s;\n", f->share->frame, name, name);
    ct_text_printf(f->unpacks, is_view ? "    %s%s = ct_view(rt, f->%s);\n" : "    %s%s = f->%s;\n", type, name, name);
    if (is_view && !f->share->leaves) ct_text_printf(f->ends, "    ct_view_end(rt, %s);\n", name);
    if (is_view) CT_FIRED("loop_parts.view");
    if (!is_view || !f->share->leaves) return;
    CT_FIRED("loop_parts.view_stays");
    ct_text_printf(f->types, "    ct_array *%s_view[CT_PARTS];\n", name);
    ct_text_printf(f->ends, "    f->%s_view[part] = %s;\n", name, name);
    ct_text_printf(f->merges, "    ct_view_keep(rt, f->%s_view[part], f->%s);\n", name, name);
}

static bool is_rows(const CtFlowStep *loop, uint32_t i) {
    return i >= loop->as.loop.carried && loop->results.items[i]->type->rank > 1;
}

static void add_rows(Fields *f) {
    const CtFlowStep *loop = f->share->loop;
    for (uint32_t i = 0; i < loop->results.count; i++) {
        if (!is_rows(loop, i)) continue;
        CT_FIRED("loop_parts.rows");
        ct_text_printf(f->types, "    ct_array *%s;\n", f->share->names[i]);
        ct_text_printf(f->packs, "%s.%s = NULL;\n%s.loop.rows++;\n", f->share->frame, f->share->names[i],
                       f->share->frame);
        ct_text_printf(f->results, "%s = %s.%s;\n", f->share->names[i], f->share->frame, f->share->names[i]);
    }
}

/* Passes the pointers to elements and the lengths that an enclosing loop has set up. */
static void add_pointers(Fields *f, const CtFlowVar *array, const Use *use) {
    const char *type = ct_emit_pointer_type(array->type);
    if (use->own != NULL) add_field(f, ct_format(f->e->arena, "%s *", type), use->own, false);
    if (use->data != NULL) add_field(f, ct_format(f->e->arena, "const %s *", type), use->data, false);
    for (uint32_t i = 1; use->lengths != NULL && i < array->type->rank; i++)
        add_field(f, "int64_t ", ct_format(f->e->arena, "%s_n%u", use->lengths, i), false);
}

static void add_seen(Fields *f) {
    const Share *share = f->share;
    add_field(f, "int64_t ", share->count, false);
    add_field(f, "int ", "place", false);
    for (uint32_t i = 0; i < share->seen.count; i++) {
        const CtFlowVar *var = share->seen.items[i];
        if (var->type->kind == FLOW_ARRAY) add_pointers(f, var, &share->before[i]);
        const char *name = f->e->uses[var->id].text;
        if (!share->before[i].is_bare)
            add_field(f, ct_emit_type(var->type), name, ct_emit_share_is_of_numbers(var->type));
    }
    for (uint32_t i = share->loop->as.loop.carried; i < share->loop->results.count; i++)
        if (share->loop->results.items[i]->type->rank == 1) add_field(f, "ct_array *", share->names[i], false);
}

/* ---- what is carried ---- */

static const ShareFold folds[] = {
    {PRIM_ADD, false, true, "-0.0", "%s + %s"},
    {PRIM_MIN, true, false, NULL, "ct_min(%s, %s)"},
    {PRIM_MAX, true, false, NULL, "ct_max(%s, %s)"},
    {PRIM_INT_ADD, true, true, "0", "ct_wrap_add(%s, %s)"},
    {PRIM_INT_MUL, true, true, "1", "ct_wrap_mul(%s, %s)"},
    {PRIM_INT_MIN, true, true, NULL, "ct_int_min(%s, %s)"},
    {PRIM_INT_MAX, true, true, NULL, "ct_int_max(%s, %s)"},
    {PRIM_INT_AND, true, true, NULL, "ct_int_and(%s, %s)"},
    {PRIM_INT_OR, true, true, NULL, "ct_int_or(%s, %s)"},
};

const ShareFold *ct_emit_share_fold(CtPrim prim) {
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        if (folds[i].prim == prim) return &folds[i];
    return NULL;
}

static void add_fold(Fields *f, const char *type, const char *name, const ShareFold *fold) {
    CtArena *arena = f->e->arena;
    const char *whole = ct_format(arena, "f->%s", name), *own = ct_format(arena, "f->%s_of[part]", name);
    ct_text_printf(f->types, "    %s%s, %s_of[CT_PARTS_ADDING];\n", type, name, name);
    ct_text_printf(f->packs, "%s.%s = %s;\n", f->share->frame, name, name);
    if (fold->start != NULL)
        ct_text_printf(f->unpacks, "    %s%s = f->loop.parts > 1 ? %s : %s;\n", type, name, fold->start, whole);
    else
        ct_text_printf(f->unpacks, "    %s%s = %s;\n", type, name, whole);
    ct_text_printf(f->ends, "    %s = %s;\n", own, name);
    ct_text_printf(f->merges, "    %s = f->loop.parts > 1 ? %s : %s;\n", whole,
                   ct_format(arena, fold->text, whole, own), own); // NOLINT
    ct_text_printf(f->results, "%s = %s.%s;\n", name, f->share->frame, name);
}

static void add_array(Fields *f, const char *name, bool is_own) {
    ct_text_printf(f->types, is_own ? "    ct_array *%s;\n" : "    ct_array *%s, *%s_of[CT_PARTS_ADDING];\n", name,
                   name);
    ct_text_printf(f->packs, "%s.%s = %s = ct_own(rt, %s, 0);\n", f->share->frame, name, name, name);
    if (is_own) {
        ct_text_printf(f->unpacks, "    ct_array *%s = f->%s;\n", name, name);
        return;
    }
    ct_text_printf(f->unpacks, "    ct_array *%s = f->loop.parts > 1 ? ct_part_array(rt, f->%s) : f->%s;\n", name, name,
                   name);
    ct_text_printf(f->ends, "    f->%s_of[part] = %s;\n", name, name);
    ct_text_printf(f->merges, "    if (f->loop.parts > 1) ct_part_add(rt, f->%s, f->%s_of[part]);\n", name, name);
}

static void add_carried(Fields *f) {
    const CtFlowStep *loop = f->share->loop;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        const ShareCarried *carried = &f->share->carried[i];
        if (carried->kind == SHARE_FOLD)
            add_fold(f, ct_emit_type(loop->as.loop.block->params.items[1 + i]->type), f->share->names[i],
                     carried->fold);
        else
            add_array(f, f->share->names[i], carried->kind == SHARE_OWN);
    }
}

/* The work of adding up a part's accumulators, in steps. */
static const char *extra(Emit *e, const Share *share, const Lane *lanes) {
    CtText text = ct_text(e->arena);
    ct_text_puts(&text, "0.0");
    for (uint32_t i = 0; i < share->loop->as.loop.carried; i++) {
        const CtFlowVar *param = share->loop->as.loop.block->params.items[1 + i];
        if (share->carried[i].kind == SHARE_FOLD) ct_text_puts(&text, " + 1.0");
        if (share->carried[i].kind == SHARE_ADDED)
            ct_text_printf(&text, " + %s * (double)ct_words(%s)",
                           lanes != NULL && lanes[param->id].is_wide ? "24.0" : "3.0", share->names[i]);
    }
    return strcmp(text.data, "0.0") == 0 ? text.data : text.data + strlen("0.0 + ");
}

/* ---- the part ---- */

void ct_emit_share_begin(Emit *e, Share *share, const char *count, const char **names) {
    const CtFlowStep *loop = share->loop;
    share->type = ct_format(e->arena, "%sshare_%u", e->prefix, ++e->shares);
    share->frame = ct_format(e->arena, "share%u", e->shares);
    share->count = count;
    share->names = CT_NEW_ARRAY(e->arena, const char *, loop->results.count + 1);
    see_block(e, loop->as.loop.block, share);
    name_seen(e, share);
    share->work = ct_emit_share_work(e, loop, &(double){0});
    for (uint32_t i = 0; i < loop->results.count; i++) {
        share->names[i] = names[i];
        if (is_rows(loop, i)) names[i] = ct_format(e->arena, "f->%s", names[i]);
    }
    share->body = ct_text(e->arena);
    ct_text_puts(&share->body, "");
    share->out = e->out;
    share->depth = e->depth;
    e->out = &share->body;
    e->depth = 1;
    e->part = loop;
}

static void put_lines(Emit *e, const char *text) {
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        ct_emit_line(e, "%.*s", (int)length, text);
        text += length + (text[length] != '\0');
    }
}

static void put_unused(CtText *out, const Fields *f, const char *param) {
    const CtText *texts[] = {f->unpacks, &f->share->body, f->ends};
    for (int i = 0; i < 3; i++)
        if (ct_emit_mentions(texts[i]->data, param)) return;
    ct_text_printf(out, "    (void)%s;\n", param);
}

static void put_functions(Emit *e, const Share *share, const Fields *f) {
    CtText *out = &e->parts;
    const char *type = share->type;
    ct_text_printf(out, "typedef struct {\n    ct_loop loop;\n%s} %s;\n\n", f->types->data, type);
    ct_text_printf(out, "static void %s_part(ct_run *rt, void *frame, int64_t from, int64_t to, int part) {\n", type);
    ct_text_printf(out, "    %s *f = frame;\n%s", type, f->unpacks->data);
    put_unused(out, f, "rt");
    put_unused(out, f, "f");
    put_unused(out, f, "part");
    ct_text_printf(out, "%s%s}\n\n", share->body.data, f->ends->data);
    if (f->merges->length == 0) return;
    ct_text_printf(out, "static void %s_end(ct_run *rt, void *frame, int part) {\n    %s *f = frame;\n", type, type);
    if (!ct_emit_mentions(f->merges->data, "rt")) ct_text_puts(out, "    (void)rt;\n");
    ct_text_printf(out, "%s}\n\n", f->merges->data);
}

static CtText *new_text(Emit *e) {
    CtText *text = CT_NEW(e->arena, CtText);
    *text = ct_text(e->arena);
    ct_text_puts(text, "");
    return text;
}

void ct_emit_share_end(Emit *e, Share *share, const char **names, const Lane *lanes) {
    const CtFlowStep *loop = share->loop;
    Fields f = {e, share, new_text(e), new_text(e), new_text(e), new_text(e), new_text(e), new_text(e), {0}};
    add_rows(&f);
    add_seen(&f);
    add_carried(&f);
    e->out = share->out;
    e->depth = share->depth;
    e->part = NULL;
    put_functions(e, share, &f);
    const char *frame = share->frame;
    ct_emit_line(e, "%s %s;", share->type, frame);
    ct_emit_line(e, "%s.loop = ct_share_parts(%s, %d, %s%s, %s);", frame, share->count,
                 lanes != NULL ? SHARE_VECTOR : share->grain, share->work, lanes != NULL ? " * 0.25" : "",
                 extra(e, share, lanes));
    if (share->once) ct_emit_line(e, "%s.loop.once = true;", frame);
    put_lines(e, f.packs->data);
    ct_emit_line(e, f.merges->length > 0 ? "ct_share(rt, %s_part, %s_end, &%s);" : "ct_share(rt, %s_part, NULL, &%s);",
                 share->type, f.merges->length > 0 ? share->type : frame, frame);
    put_lines(e, f.results->data);
    for (uint32_t i = 0; i < loop->results.count; i++) names[i] = share->names[i];
    for (uint32_t i = 0; i < share->seen.count; i++) e->uses[share->seen.items[i]->id] = share->before[i];
}
