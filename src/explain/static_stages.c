/* The stages of a method that need no point: the function in Core, its types, the transformed function, the wrapper. */
#include "explain/explain.h"

#include <stdlib.h>

enum { MOST_FUNCTIONS = 12, MOST_TYPES = 40, MOST_LINES = 400 };

/* ---- a build whose functions are as they were written ---- */

static bool prepare(CtBuild *build, const CtEntry *entry, void *data) {
    CtExplain *e = data;
    if (!ct_driver_build_as_written(build, entry)) return false;
    if (build->arity == 0 || build->entry->type->kind != TYPE_FUN) {
        ct_error(&build->context, CT_E0405, build->entry->range, "`%s` is not a function: it has no derivative",
                 e->call->function);
        return false;
    }
    return true;
}

/* λx. f x, for an entry point whose value is the function. */
static CtGlobal *expanded(CtBuild *build) {
    CtProgram *p = build->program;
    CtSourceRange range = build->entry->range;
    CtVar *x = ct_core_var_new(p, "x", build->entry->type->parts[0]);
    CtCore *f = ct_core_global(p, range, build->entry), *use = ct_core_var(p, range, x);
    CtCore *body = ct_core_lam(p, range, "entry", &x, 1, ct_core_app(p, range, f, &use, 1));
    CtGlobal *global = ct_core_global_new(p, "at", body->type, range);
    global->body = body;
    global->is_kept = true;
    return global;
}

/* The global of a name as the program writes it, in whichever instance the entry point uses. */
static CtGlobal *global_named(CtProgram *p, const char *name) {
    size_t length = strlen(name);
    for (uint32_t i = 0; i < p->globals.count; i++) {
        CtGlobal *global = p->globals.items[i];
        const char *text = global->name->text;
        if (strncmp(text, name, length) != 0 || (text[length] != '\0' && text[length] != '@')) continue;
        if (global->body && global->body->kind == CORE_LAM) return global;
    }
    return NULL;
}

static bool is_first_order(CtExplain *e) {
    CtType *const *parts = e->function->type->parts;
    if (!ct_core_type_has_fun(parts[0]) && !ct_core_type_has_fun(parts[1])) return true;
    return ct_session_report_one(e->context, CT_E0401, NULL, "`%s` takes or gives functions: it has no derivative",
                                 e->call->function);
}

bool ct_explain_begin(CtExplain *e) {
    if (e->method == METHOD_BULK && !e->call->at)
        return ct_session_report_one(e->context, CT_E0701, "--at gives one",
                                     "`bulk` is shown for the shapes of a point");
    CtEntry entry = {.mode = COTAN_RUN, .function = e->call->function, .method = e->method, .prefer_double = true};
    entry.reverse = ct_ad_method_info(e->method)->reverse ? e->method : METHOD_TAPE;
    e->session = ct_session_make(e->program, &entry, prepare, e);
    if (!e->session) return false;
    e->context->active = e->session;
    e->context->active_program = e->program;
    CtBuild *build = e->session->build;
    e->p = build->program;
    e->p->keeps_calls = true;
    e->ad = build->ad;
    e->written = global_named(e->p, e->call->function);
    if (!e->written) e->written = build->entry;
    bool alone = e->written->type == build->entry->type;
    if (alone)
        e->function = e->written;
    else
        e->function = build->entry->body->kind == CORE_LAM ? build->entry : expanded(build);
    return is_first_order(e);
}

bool ct_explain_sound(CtExplain *e) {
    CtContext *diags = &e->session->build->context;
    const char *wrong = e->context->checks > 0 && diags->error_count == 0 ? ct_core_lint(e->p) : NULL;
    if (wrong) ct_error(diags, CT_E0901, CT_NO_RANGE, "while a method is explained: %s", wrong);
    return diags->error_count == 0 || ct_session_report(e->context, diags);
}

void ct_explain_end(CtExplain *e) {
    if (e->session) ct_session_program_forget(e->program, e->session);
    e->session = NULL;
    e->context->active = NULL;
}

CtGlobal *ct_explain_wrapper(CtExplain *e) {
    CtProgram *p = e->p;
    CtSourceRange range = e->function->range;
    CtType *s = e->function->type->parts[0];
    CtVar *vars[2];
    vars[0] = ct_core_var_new(p, "x", s);
    vars[1] = ct_core_var_new(p, "dx", s);
    CtCore *f = ct_core_global(p, range, e->function);
    CtCore *x = ct_core_var(p, range, vars[0]), *dx = ct_core_var(p, range, vars[1]);
    bool reverse = e->out->method->reverse;
    CtCore *body =
        reverse ? ct_ad_vjp_by(e->ad, e->method, range, f, x) : ct_ad_jvp_by(e->ad, e->method, range, f, x, dx);
    CtCore *lam = ct_core_lam(p, range, "wrapper", vars, reverse ? 1 : 2, body);
    CtGlobal *global = ct_core_global_new(p, reverse ? "vjp" : "jvp", lam->type, range);
    global->body = lam;
    return global;
}

/* ---- which functions ---- */

typedef struct Reach {
    CtProgram *p;
    CtArena *arena;
    CtMap met;
    CT_VEC(CtGlobal *) found; /* in breadth-first order */
    bool (*wanted)(CtProgram *p, const CtGlobal *global);
} Reach;

static CtCore *reach_term(void *data, CtCore *core) {
    Reach *r = data;
    if (core->kind != CORE_GLOBAL) return ct_core_map(r->p, core, reach_term, r);
    CtGlobal *global = core->as.global;
    if (ct_map_has(&r->met, ct_key(global)) || !r->wanted(r->p, global)) return core;
    ct_map_set(r->arena, &r->met, ct_key(global), global);
    ct_push(r->arena, &r->found, global);
    return core;
}

static void reach(Reach *r, CtGlobal *from) {
    ct_map_set(r->arena, &r->met, ct_key(from), from);
    ct_push(r->arena, &r->found, from);
    for (uint32_t i = 0; i < r->found.count; i++)
        if (r->found.items[i]->body) reach_term(r, r->found.items[i]->body);
}

static bool is_users(CtProgram *p, const CtGlobal *global) {
    (void)p;
    return !global->is_library;
}

static bool is_of_library(const CtProgram *p, CtSourceRange range) {
    return p->context->sources.items[range.source].is_library;
}

/* Whether a global belongs to the wrapper: neither to the transformed program nor to lib/ad. */
static bool is_generic(CtProgram *p, const CtGlobal *global) {
    return global->is_library && !global->origin && !is_of_library(p, global->range);
}

static bool is_run_time(CtProgram *p, const CtGlobal *global) {
    return is_of_library(p, global->range) && !global->origin;
}

/* ---- stages ---- */

static CtStage *stage(CtExplain *e, const char *title, const char *note) {
    CtStage fresh = {.title = title, .note = note};
    ct_push(e->arena, &e->out->stages, fresh);
    return &e->out->stages.items[e->out->stages.count - 1];
}

const char *ct_explain_cut(CtArena *arena, const char *text) {
    const char *end = text;
    uint32_t lines = 0, left = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c != '\n') continue;
        if (++lines <= MOST_LINES) end = c + 1;
        left += lines > MOST_LINES;
    }
    if (left == 0) return text;
    return ct_format(arena, "%.*s… %u more lines\n", (int)(end - text), text, left);
}

static void add_global(CtExplain *e, CtStage *to, CtGlobal *global) {
    CtText text = ct_text(e->arena);
    ct_core_print_global(&text, e->p, global);
    const char *plain = ct_explain_unqualified(e->arena, text.data, e->out->method->library);
    CtBlock block = {NULL, ct_explain_cut(e->arena, plain)};
    ct_push(e->arena, &to->blocks, block);
}

static void add_left_out(CtExplain *e, CtStage *to, uint32_t count, const char *what) {
    if (count == 0) return;
    CtBlock block = {NULL, ct_format(e->arena, "… %u more %s\n", count, what)};
    ct_push(e->arena, &to->blocks, block);
}

static Reach users_functions(CtExplain *e) {
    Reach r = {.p = e->p, .arena = e->arena, .wanted = is_users};
    reach(&r, e->written);
    return r;
}

static void show_functions(CtExplain *e, const Reach *functions) {
    CtStage *to = stage(e, "the function", "What it means, in Core.");
    uint32_t shown = functions->found.count < MOST_FUNCTIONS ? functions->found.count : MOST_FUNCTIONS;
    for (uint32_t i = 0; i < shown; i++) add_global(e, to, functions->found.items[i]);
    add_left_out(e, to, functions->found.count - shown, "that it uses");
    if (e->function != e->written && e->function->body->kind == CORE_LAM) add_global(e, to, e->function);
}

/* ---- types ---- */

typedef struct Types {
    CtExplain *e;
    CtMap met;
    CT_VEC(CtType *) found;
} Types;

static void meet(Types *t, CtType *type) {
    if (ct_map_has(&t->met, ct_key(type))) return;
    ct_map_set(t->e->arena, &t->met, ct_key(type), type);
    if (ct_core_type_has_real(type) || ct_core_type_has_fun(type)) ct_push(t->e->arena, &t->found, type);
    for (uint32_t i = 0; i < type->count; i++) meet(t, type->parts[i]);
    if (type->kind != TYPE_DATA) return;
    for (uint32_t c = 0; c < type->data->con_count; c++)
        for (uint32_t i = 0; i < type->data->cons[c].count; i++) meet(t, type->data->cons[c].fields[i]);
}

static CtCore *meet_types(void *data, CtCore *core) {
    Types *t = data;
    meet(t, core->type);
    return ct_core_map(t->e->p, core, meet_types, t);
}

static const char *type_text(CtExplain *e, const CtType *type) {
    CtText text = ct_text(e->arena);
    ct_core_type_print(&text, type);
    return text.data;
}

static void put_data(CtExplain *e, CtText *out, const CtType *type) {
    if (strcmp(type->data->name->text, "[]") == 0) return;
    ct_text_printf(out, "  data %s =", type_text(e, type));
    for (uint32_t c = 0; c < type->data->con_count; c++) {
        const CtCon *con = &type->data->cons[c];
        ct_text_printf(out, "%s %s", c == 0 ? "" : " |", con->name->text);
        for (uint32_t i = 0; i < con->count; i++) {
            const char *field = type_text(e, con->fields[i]);
            ct_text_printf(out, strchr(field, ' ') && field[0] != '(' && field[0] != '[' ? " (%s)" : " %s", field);
        }
    }
    ct_text_puts(out, "\n");
}

/* The data types of the method's library. */
static void show_method_data(CtExplain *e, CtStage *to, CtType *second, CtType *state) {
    Types t = {.e = e};
    CtText text = ct_text(e->arena);
    meet(&t, second);
    if (state) meet(&t, state);
    for (uint32_t i = 0; i < t.found.count; i++) {
        const CtType *type = t.found.items[i];
        if (type->kind == TYPE_DATA && type->data->arg_count == 0 && !type->data->method) put_data(e, &text, type);
    }
    if (!text.data) return;
    CtBlock block = {e->out->method->library, text.data};
    ct_push(e->arena, &to->blocks, block);
}

static int by_length(const void *a, const void *b) {
    CtType *const *s = a, *const *t = b;
    bool s_is_real = (*s)->kind == TYPE_DOUBLE || (*s)->kind == TYPE_FLOAT;
    bool t_is_real = (*t)->kind == TYPE_DOUBLE || (*t)->kind == TYPE_FLOAT;
    if (s_is_real != t_is_real) return s_is_real ? -1 : 1;
    return (*s)->id < (*t)->id ? -1 : (*s)->id > (*t)->id;
}

static void show_types(CtExplain *e, const Reach *functions) {
    Types t = {.e = e};
    meet(&t, e->p->double_type);
    for (uint32_t i = 0; i < functions->found.count; i++)
        if (functions->found.items[i]->body) meet_types(&t, functions->found.items[i]->body);
    qsort(t.found.items, t.found.count, sizeof *t.found.items, by_length);
    uint32_t shown = t.found.count < MOST_TYPES ? t.found.count : MOST_TYPES;
    size_t wide = 0;
    for (uint32_t i = 0; i < shown; i++) {
        size_t columns = ct_explain_columns(type_text(e, t.found.items[i]));
        if (columns > wide && columns <= 40) wide = columns;
    }
    CtText text = ct_text(e->arena);
    CtType *cotangent = ct_chad_ad_cotangent_type(e->ad, e->method, e->p->double_type);
    for (uint32_t i = 0; i < shown; i++) {
        CtType *type = t.found.items[i], *dual = ct_ad_type(e->ad, e->method, type);
        const char *left = type_text(e, type);
        size_t pad = ct_explain_columns(left) < wide ? wide - ct_explain_columns(left) : 0;
        ct_text_printf(&text, "%s%*s  ↦  %s", left, (int)pad, "", type_text(e, dual));
        if (cotangent)
            ct_text_printf(&text, "  and  %s", type_text(e, ct_chad_ad_cotangent_type(e->ad, e->method, type)));
        ct_text_puts(&text, "\n");
        if (type->kind == TYPE_DATA) put_data(e, &text, type);
        if (type->kind == TYPE_DATA && dual != type) put_data(e, &text, dual);
    }
    CtStage *to =
        stage(e, "the types",
              cotangent ? "A ↦ D[A]₁ and D[A]₂, for the types that occur; what holds no real number has no cotangent."
                        : "A ↦ D[A], for the types that occur; what holds no real number stays as it is.");
    CtBlock block = {NULL, text.data};
    ct_push(e->arena, &to->blocks, block);
    add_left_out(e, to, t.found.count - shown, "types");
    CtType *state = ct_ad_state_type(e->ad, e->method);
    if (state) {
        block = (CtBlock){"the state that is carried along, (σ) → τ ↦ (D[σ], S) → (D[τ], S)",
                          ct_format(e->arena, "S = %s\n", type_text(e, state))};
        ct_push(e->arena, &to->blocks, block);
    }
    CtType *second = cotangent
                         ? ct_chad_ad_cotangent_type(e->ad, e->method, ct_core_type_array(e->p, e->p->double_type))
                         : ct_ad_type(e->ad, e->method, e->p->double_type)->parts[1];
    show_method_data(e, to, second, state);
}

/* ---- D[f] and the wrapper ---- */

static void show_transformed(CtExplain *e, const Reach *functions) {
    CtStage *to = stage(e, "the function, transformed", e->out->method->figure);
    uint32_t shown = functions->found.count < MOST_FUNCTIONS ? functions->found.count : MOST_FUNCTIONS;
    for (uint32_t i = 0; i < shown; i++) {
        CtGlobal *made = ct_ad_global(e->ad, e->method, functions->found.items[i]);
        if (made != functions->found.items[i]) add_global(e, to, made);
    }
    add_left_out(e, to, functions->found.count - shown, "that it uses");
    if (e->function != e->written) add_global(e, to, ct_ad_global(e->ad, e->method, e->function));
    if (e->method != METHOD_CHAD) return;
    CtBlock block = {"Fig. 7, as it is in Core",
                     "x' : D[τ]₂ → EVM Γ 1   λd base env. …, which gives the environment; x is in the cell base + n\n"
                     "one_x d                one (base + n) d env\n"
                     "scope (y' d)           y' d, then env ! (base + n), and Zero is put there\n"
                     "do x' d; y' e          let env1 = x' d … in let env2 = y' e … in …\n"};
    ct_push(e->arena, &to->blocks, block);
}

static CtGlobal *show_wrapper(CtExplain *e, const Reach *functions) {
    CtGlobal *wrapper = ct_explain_wrapper(e);
    wrapper->is_library = true;
    const char *note = e->out->method->reverse ? "It takes a point, and gives the value and the pullback of cotangents."
                                               : "It takes a point and a tangent, and gives the value and its tangent.";
    CtStage *to = stage(e, "the wrapper", note);
    Reach made = {.p = e->p, .arena = e->arena, .wanted = is_generic};
    reach(&made, wrapper);
    uint32_t shown = made.found.count < MOST_FUNCTIONS ? made.found.count : MOST_FUNCTIONS;
    for (uint32_t i = 0; i < shown; i++) add_global(e, to, made.found.items[i]);
    add_left_out(e, to, made.found.count - shown, "functions over types");
    if (!e->out->method->library) return wrapper;
    Reach library = {.p = e->p, .arena = e->arena, .wanted = is_run_time};
    for (uint32_t i = 0; i < functions->found.count; i++) {
        CtGlobal *dual = ct_ad_global(e->ad, e->method, functions->found.items[i]);
        if (dual != functions->found.items[i] && dual->body) reach_term(&library, dual->body);
    }
    for (uint32_t i = 0; i < made.found.count; i++) reach_term(&library, made.found.items[i]->body);
    CtText names = ct_text(e->arena);
    for (uint32_t i = 0; i < library.found.count; i++)
        ct_text_printf(&names, "%s%s", i > 0 ? ", " : "", library.found.items[i]->name->text);
    ct_text_puts(&names, "\n");
    const char *text = ct_explain_unqualified(e->arena, names.data, e->out->method->library);
    CtBlock block = {ct_format(e->arena, "from the module %s", e->out->method->library), text};
    ct_push(e->arena, &to->blocks, block);
    return wrapper;
}

void ct_explain_simplify(CtExplain *e, CtGlobal *wrapper) {
    e->p->keeps_calls = false;
    ct_core_reachable(e->p, &wrapper, 1);
    ct_core_simplify(e->p);
}

static void show_simplified(CtExplain *e, CtGlobal *wrapper) {
    CtStage *to = stage(e, "the wrapper, simplified", "As it runs: what is small is put in the place of its calls.");
    ct_explain_simplify(e, wrapper);
    add_global(e, to, wrapper);
}

static bool show_stages(CtExplain *e) {
    Reach functions = users_functions(e);
    show_functions(e, &functions);
    if (e->method == METHOD_BULK || e->method == METHOD_NATIVE) return true; /* the rest is made elsewhere */
    ct_ad_expand(e->ad);
    if (!ct_explain_sound(e)) return false;
    show_types(e, &functions);
    show_transformed(e, &functions);
    CtGlobal *wrapper = show_wrapper(e, &functions);
    if (!ct_explain_sound(e)) return false;
    show_simplified(e, wrapper);
    return ct_explain_sound(e);
}

bool ct_explain_explain(cotan_program *program, CtArena *arena, const cotan_call *call, CtMethod method,
                        cotan_page form, const char **out) {
    CtExplained explained = {.arena = arena,
                             .file = program->name,
                             .function = call->function,
                             .name = ct_core_method_name(method),
                             .method = ct_ad_method_info(method)};
    CtExplain e = {.program = program,
                   .context = program->context,
                   .call = call,
                   .method = method,
                   .arena = arena,
                   .out = &explained};
    bool done = ct_explain_begin(&e) && show_stages(&e);
    ct_explain_end(&e);
    if (done && method == METHOD_NATIVE) done = ct_explain_native(&e);
    if (done && call->at && method != METHOD_NATIVE) {
        done = ct_explain_begin(&e) && ct_explain_run(&e);
        ct_explain_end(&e);
    }
    if (done && explained.run && explained.run->accumulated) {
        done = ct_explain_begin(&e) && ct_explain_work(&e);
        ct_explain_end(&e);
    }
    if (!done) return false;
    CtText text = ct_text(arena);
    if (form == COTAN_HTML) {
        CtContext *diags = CT_NEW(arena, CtContext);
        ct_context_init(diags, arena);
        ct_explain_html(&text, &explained);
    } else
        ct_explain_text(&text, &explained, form == COTAN_COLOURED);
    *out = text.data;
    return true;
}
