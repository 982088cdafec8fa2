/* An estimate of rounding errors from Delta terms: DELTA 2022 §8.4.
 *
 * If an operation's result is off by a relative error of ε, the function's result is off by adjoint · value · ε, to
 * first order. The method `delta` gives each result a name, and the array that its reverse pass leaves is the adjoint
 * of every name. So a run is watched (ct_ad_record), and the products are added up by the operation's place in the
 * source. */
#include "explain/explain.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* An executed operation. */
typedef struct Event {
    uint32_t note;
    double value;
    int64_t name;
} Event;

typedef struct Watch {
    CtExplain *e;
    CT_VEC(Event) events;
} Watch;

static bool wants(void *data, const CtGlobal *global, const CtLam *lam) {
    const Watch *w = data;
    (void)lam;
    return ct_ad_is_seen(w->e->ad, global);
}

/* seen op … (value, Var name); what does not depend on the point has another term. */
static void called(void *data, const CtGlobal *global, const CtLam *lam, CtObject *env, const CtWord *args) {
    Watch *w = data;
    (void)global, (void)env;
    const CtType *pair = lam->params[lam->count - 1]->type;
    const CtFields *result = (const CtFields *)args[lam->count - 1].object;
    const CtFields *term = (const CtFields *)result->words[1].object;
    const CtCon *con = &pair->parts[1]->data->cons[term->head.tag];
    if (strcmp(con->name->text, "Var") != 0) return;
    Event event = {(uint32_t)args[0].integer, result->words[0].real, term->words[0].integer};
    ct_push(w->e->arena, &w->events, event);
}

/* The largest relative error of an operation. */
static double rounding(const CtOperationNote *note) {
    switch (note->prim) {
    case PRIM_NEGATE:
    case PRIM_ABS:
    case PRIM_MIN:
    case PRIM_MAX:
    case PRIM_FMOD:
    case PRIM_FLOAT_TO_DOUBLE: return 0;
    default: break;
    }
    if (note->is_float) return FLT_EPSILON / 2; /* computed as Doubles, and rounded */
    return ct_prim_info(note->prim)->is_exact ? DBL_EPSILON / 2 : DBL_EPSILON;
}

/* The wrapper λx. (y, λdy. adjoints). */
static CtGlobal *make_wrapper(CtExplain *e) {
    CtSourceRange range = e->function->range;
    CtVar *x = ct_core_var_new(e->p, "x", e->function->type->parts[0]);
    CtCore *f = ct_core_global(e->p, range, e->function);
    CtCore *body = ct_ad_adjoints_by(e->ad, range, f, ct_core_var(e->p, range, x));
    CtCore *lam = ct_core_lam(e->p, range, "wrapper", &x, 1, body);
    CtGlobal *global = ct_core_global_new(e->p, "adjoints", lam->type, range);
    global->body = lam;
    return global;
}

/* ---- adding up ---- */

typedef struct Sums {
    CtArena *arena;
    CtExplain *e;
    CtMap rows; /* place and operation -> index + 1 */
    CT_VEC(cotan_sensitivity_row) items;
} Sums;

static cotan_sensitivity_row *row_of(Sums *s, const CtOperationNote *note) {
    CtContext *context = s->e->p->context;
    const char *text = ct_format(s->arena, "%u %u %d", note->range.source, note->range.start, (int)note->prim);
    CtSym key = ct_intern_text(&context->symbols, text);
    uintptr_t index = (uintptr_t)ct_map_get(&s->rows, ct_key(key));
    if (index > 0) return &s->items.items[index - 1];
    cotan_sensitivity_row row = {.file = ""};
    if (note->range.source != 0) {
        const char *file = context->sources.items[note->range.source].name;
        row.file = ct_copy_text(s->arena, file, strlen(file));
        uint32_t line, column;
        ct_source_position(context, note->range.source, note->range.start, &line, &column);
        row.line = (int)line;
        row.column = (int)column;
    }
    row.operation = ct_prim_info(note->prim)->name;
    ct_push(s->arena, &s->items, row);
    ct_map_set(s->arena, &s->rows, ct_key(key), (void *)(uintptr_t)s->items.count);
    return &s->items.items[s->items.count - 1];
}

/* The largest error first; NaN before all. */
static int by_error(const void *a, const void *b) {
    const cotan_sensitivity_row *x = a, *y = b;
    if (isnan(x->error) != isnan(y->error)) return isnan(x->error) ? -1 : 1;
    if (x->error != y->error && !isnan(x->error)) return x->error > y->error ? -1 : 1;
    int files = strcmp(x->file, y->file);
    if (files != 0) return files;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return strcmp(x->operation, y->operation);
}

/* A number of the result or point times its adjoint. */
static double product(double adjoint, double value) { return adjoint == 0 ? 0 : fabs(adjoint * value); }

static void add_up(const Watch *w, const CtArray *adjoints, cotan_sensitivity_result *out) {
    Sums sums = {.arena = w->e->arena, .e = w->e};
    for (uint32_t i = 0; i < w->events.count; i++) {
        const Event *event = &w->events.items[i];
        const CtOperationNote *note = ct_ad_operation_note(w->e->ad, event->note);
        double epsilon = rounding(note);
        if (epsilon == 0) continue;
        cotan_sensitivity_row *row = row_of(&sums, note);
        row->times++;
        row->error += product(adjoints->items[event->name].real, event->value) * epsilon;
    }
    if (sums.items.count > 0) qsort(sums.items.items, sums.items.count, sizeof *sums.items.items, by_error);
    for (uint32_t i = 0; i < sums.items.count; i++) out->error += sums.items.items[i].error;
    for (uint32_t i = 0; i < sums.items.count; i++) {
        cotan_sensitivity_row *row = &sums.items.items[i];
        row->share = out->error == 0 ? 0 : row->error / out->error;
    }
    out->rows = sums.items.items;
    out->count = sums.items.count;
}

static bool run(Watch *w, CtGlobal *wrapper, cotan_sensitivity_result *out) {
    CtExplain *e = w->e;
    CtType *s = e->function->type->parts[0], *t = e->function->type->parts[1];
    CtLeaves x = {.arena = e->arena}, y = {.arena = e->arena}, g = {.arena = e->arena};
    CtWord point, both, dy, adjoints, none = {.integer = 0};
    CtInput *given = ct_session_parse(e->context, 0, "--at", e->call->at, e->call->at_length);
    if (given == NULL || !ct_session_read(e->session, e->context, given, s, NULL, &point)) return false;
    CtText ignored = ct_text(e->arena), like = ct_text(e->arena), shown = ct_text(e->arena);
    ct_io_json_write(&ignored, s, point, &x);
    if (!ct_explain_call(e, wrapper, NULL, none, &point, 1, &both)) return false;
    const CtFields *pair = (const CtFields *)both.object;
    ct_io_json_write(&like, t, pair->words[0], &y);
    ct_value_show(&shown, t, pair->words[0]);
    out->value = shown.data;
    out->json = like.data;
    if (!ct_explain_read_with(e, t, like.data, y.reals.count, &dy)) return false;
    ct_io_json_write(&ignored, t, dy, &g);
    CtType *pullback = ct_core_type_fun_result(wrapper->type)->parts[1];
    if (!ct_explain_call(e, NULL, pullback, pair->words[1], &dy, 1, &adjoints)) return false;
    const CtArray *all = (const CtArray *)adjoints.object;
    for (uint32_t i = 0; i < y.reals.count && i < g.reals.count; i++)
        out->size += product(g.reals.items[i], y.reals.items[i]);
    for (uint32_t i = 0; i < x.reals.count && i + 1 < all->length; i++) /* the names of the point come first, from 1 */
        out->point += product(all->items[i + 1].real, x.reals.items[i]) *
                      (x.floats.items[i] ? (double)FLT_EPSILON / 2 : DBL_EPSILON / 2);
    add_up(w, all, out);
    return true;
}

bool ct_explain_sensitivity(cotan_program *program, CtArena *arena, const cotan_call *call,
                            cotan_sensitivity_result *out) {
    CtExplained explained = {
        .arena = arena, .function = call->function, .name = "delta", .method = ct_ad_method_info(METHOD_DELTA)};
    CtExplain e = {.program = program,
                   .context = program->context,
                   .call = call,
                   .method = METHOD_DELTA,
                   .arena = arena,
                   .out = &explained};
    Watch watch = {.e = &e};
    bool done = ct_explain_begin(&e);
    if (done) {
        ct_ad_expand(e.ad); /* nested derivatives, whose operations are not those of the run */
        ct_ad_record(e.ad, METHOD_DELTA);
        CtGlobal *wrapper = make_wrapper(&e);
        ct_ad_expand(e.ad);
        ct_eval_watch(e.session->eval, (CtWatch){wants, called, &watch});
        done = ct_explain_sound(&e) && run(&watch, wrapper, out);
    }
    ct_explain_end(&e);
    return done;
}
