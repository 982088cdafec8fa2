/* The run of a derivative, watched: which dual numbers the forward pass makes, what it leaves, and which cotangents
 * arrive where in the reverse pass. The same for every method: operations are seen by ct_ad_record, arrivals by the
 * functions of watched_functions.def, and by the calls of functions that are the second part of a dual number. */
#include "explain/explain.h"

enum { MOST_NODES = 2000, MOST_ARRIVALS = 5000, MOST_TEXT = 4000 };

typedef struct Watched {
    const CtGlobal *function;
    uint32_t node, cotangent; /* indices of its parameters */
} Watched;

typedef struct Watch {
    CtExplain *e;
    CtRun *run;
    const CtGlobal *dual; /* D[f]: the arguments of its first call are the inputs */
    CtType *second[2];    /* B, for Double and for Float */
    bool has_inputs;
    bool is_over;  /* the forward pass; operations that a checkpoint runs again are none of its nodes */
    CtMap pairs;   /* dual number -> node + 1 */
    CtMap objects; /* second part -> node + 1 */
    CtMap numbers; /* number in a second part -> node + 1 */
    CT_VEC(Watched) watched;
    CT_VEC(double) adjoints; /* by node */
    CtMap names;             /* of objects, for printing values */
    CtMap codes;
    CtValueWriter writer;  /* of the values that are printed one by one */
    const CtGlobal *binds; /* the function that binds terms, with parameter `binding`; `bound` is the last term */
    uint32_t binding;
    CtWord bound;
    const CtGlobal *evaluates; /* the function that evaluates a term, with parameter `term` */
    uint32_t term;
} Watch;

static CtType *second_type(CtExplain *e, CtType *real) { return ct_ad_type(e->ad, e->method, real)->parts[1]; }

/* ---- which node ---- */

static void *index_of(int64_t node) { return (void *)(uintptr_t)(node + 1); }
static int64_t node_at(const CtMap *map, uint64_t key) { return (int64_t)(uintptr_t)ct_map_get(map, key) - 1; }

/* The first Int directly inside a value, by which a method that numbers its entries identifies them. The key includes
 * the constructor; `plain` is the number alone. False when there is none. */
static bool number_of(const CtType *type, CtWord value, uint64_t *key, int64_t *plain) {
    CtType *const *types = type->parts;
    uint32_t count = type->kind == TYPE_TUPLE ? type->count : 0;
    uint64_t tag = 1;
    if (type->kind == TYPE_INT) {
        *plain = value.integer;
        *key = (uint64_t)value.integer << 8;
        return true;
    }
    if (type->kind == TYPE_DATA && !type->data->is_enum) {
        const CtCon *con = &type->data->cons[value.object->tag];
        types = con->fields;
        count = con->count;
        tag = con->tag + 2;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (types[i]->kind != TYPE_INT) continue;
        *plain = ((const CtFields *)value.object)->words[i].integer;
        *key = (uint64_t)*plain << 8 | (tag & 255);
        return true;
    }
    return false;
}

static bool tells(const CtObject *object) {
    return object && (object->layout->kind == OBJECT_ARRAY || object->layout->count > 0);
}

static void know(Watch *w, CtMap *map, uint64_t key, int64_t node) {
    if (!ct_map_has(map, key)) ct_map_set(w->e->arena, map, key, index_of(node));
}

/* Registers a node by the second part of its dual number. */
static void know_second(Watch *w, const CtType *type, CtWord second, int64_t node) {
    uint64_t key;
    int64_t plain;
    if (number_of(type, second, &key, &plain)) {
        know(w, &w->numbers, key, node);
        know(w, &w->numbers, (uint64_t)plain << 8, node);
    }
    if (!ct_value_type_is_pointer(type) || !tells(second.object)) return;
    know(w, &w->objects, ct_key(second.object), node);
    if (type->kind != TYPE_TUPLE) return;
    for (uint32_t i = 0; i < type->count; i++) {
        CtWord part = ((const CtFields *)second.object)->words[i];
        if (ct_value_type_is_pointer(type->parts[i]) && tells(part.object))
            know(w, &w->objects, ct_key(part.object), node);
    }
}

static int64_t node_of(Watch *w, const CtType *type, CtWord value) {
    uint64_t key;
    int64_t plain, node = CT_NO_NODE;
    if (ct_value_type_is_pointer(type) && tells(value.object)) node = node_at(&w->objects, ct_key(value.object));
    if (node == CT_NO_NODE && number_of(type, value, &key, &plain)) node = node_at(&w->numbers, key);
    return node;
}

/* ---- the forward pass ---- */

/* The dual number is retained as long as the evaluator lives, so that its address stays unique. */
static void add_node(Watch *w, CtNode node, const CtType *second) {
    CtArena *arena = w->e->arena;
    ct_value_retain_object((CtObject *)&node.pair->head);
    int64_t index = w->run->nodes.count;
    ct_map_set(arena, &w->pairs, ct_key(node.pair), index_of(index));
    know_second(w, second, node.pair->words[1], index);
    ct_push(arena, &w->run->nodes, node);
    ct_push(arena, &w->adjoints, -0.0);
}

/* Adds factor times a linear term, a Delta of Scale, Add and Var, to the partial derivatives of a node; each variable
 * once. */
static void add_factors(Watch *w, CtNode *node, const CtType *type, CtWord term, double factor) {
    const CtCon *con = &type->data->cons[term.object->tag];
    const CtWord *words = ((const CtFields *)term.object)->words;
    if (strcmp(con->name->text, "Scale") == 0) {
        add_factors(w, node, type, words[1], factor * words[0].real);
    } else if (strcmp(con->name->text, "Add") == 0) {
        add_factors(w, node, type, words[0], factor);
        add_factors(w, node, type, words[1], factor);
    } else if (strcmp(con->name->text, "Var") == 0) {
        int64_t from = node_at(&w->numbers, (uint64_t)words[0].integer << 8);
        uint32_t i = 0;
        while (i < node->count && node->args[i] != from) i++;
        if (from == CT_NO_NODE) return;
        if (i == node->count) {
            node->count++;
            node->args[i] = from;
            node->values[i] = w->run->nodes.items[from].primal;
        }
        node->partials[i] += factor;
    }
}

/* The number of variables in a term. */
static uint32_t count_places(const CtType *type, CtWord term) {
    const CtCon *con = &type->data->cons[term.object->tag];
    const CtWord *words = ((const CtFields *)term.object)->words;
    if (strcmp(con->name->text, "Scale") == 0) return count_places(type, words[1]);
    if (strcmp(con->name->text, "Add") == 0) return count_places(type, words[0]) + count_places(type, words[1]);
    return 1;
}

static void make_room(CtArena *arena, CtNode *node, uint32_t count) {
    node->args = CT_NEW_ARRAY(arena, int64_t, count);
    node->values = CT_NEW_ARRAY(arena, double, count);
    node->partials = CT_NEW_ARRAY(arena, double, count);
}

/* A fused term: its inputs and partial derivatives are in the term that was bound last. */
static void seen_fused(Watch *w, CtNode *node) {
    const CtType *type = w->second[0];
    if (!w->bound.object) return;
    make_room(w->e->arena, node, count_places(type, w->bound));
    add_factors(w, node, type, w->bound, 1);
}

static void seen_operation(Watch *w, CtNode *node, const CtOperationNote *note, const CtWord *args) {
    make_room(w->e->arena, node, note->count);
    node->count = note->count;
    for (uint32_t i = 0; i < note->count; i++) {
        CtWord arg = args[1 + 2 * i];
        node->partials[i] = args[2 + 2 * i].real;
        node->args[i] = CT_NO_NODE;
        node->values[i] = (double)arg.integer;
        if (!note->real[i]) continue;
        node->args[i] = node_at(&w->pairs, ct_key(arg.object));
        node->values[i] = ((const CtFields *)arg.object)->words[0].real;
    }
}

static void seen(Watch *w, const CtLam *lam, const CtWord *args) {
    const CtOperationNote *note = ct_ad_operation_note(w->e->ad, args[0].integer);
    CtContext *context = w->e->p->context;
    CtArena *arena = w->e->arena;
    if (w->run->nodes.count >= MOST_NODES) {
        w->run->more_nodes++;
        return;
    }
    CtNode node = {.label = NULL};
    if (note->fused)
        seen_fused(w, &node);
    else
        seen_operation(w, &node, note, args);
    bool varies = false;
    for (uint32_t i = 0; i < node.count; i++) varies = varies || node.args[i] != CT_NO_NODE;
    if (!varies) return;
    node.pair = (const CtFields *)args[lam->count - 1].object;
    node.primal = node.pair->words[0].real;
    if (ct_map_has(&w->pairs, ct_key(node.pair))) return; /* an operation that returns its argument */
    const char *label = note->fused ? note->fused : ct_prim_info(note->prim)->name;
    node.label = ct_copy_text(arena, label, strlen(label));
    if (note->range.source != 0 && !context->sources.items[note->range.source].is_library)
        node.line = ct_source_line(context, note->range.source, note->range.start);
    add_node(w, node, w->second[note->is_float]);
}

/* The position of an input in the point, on the stack of values to be visited. */
typedef struct Place {
    const CtType *type; /* the type in the source */
    CtWord value;       /* a value of D of that type */
    const char *path;
} Place;

typedef struct Places {
    CtArena *arena;
    CT_VEC(Place) items;
} Places;

static void add_place(Places *places, const CtType *type, CtWord value, const char *path) {
    Place place = {type, value, path};
    ct_push(places->arena, &places->items, place);
}

static void add_fields(Places *places, const Place *at) {
    const CtFields *fields = (const CtFields *)at->value.object;
    CtArena *arena = places->arena;
    if (at->type->kind == TYPE_TUPLE) {
        for (uint32_t i = at->type->count; i-- > 0;)
            add_place(places, at->type->parts[i], fields->words[i], ct_format(arena, "%s[%u]", at->path, i));
        return;
    }
    const CtCon *con = &at->type->data->cons[fields->head.tag];
    for (uint32_t i = con->count; i-- > 0;) {
        const char *path = con->field_names ? ct_format(arena, "%s.%s", at->path, con->field_names[i]->text)
                                            : ct_format(arena, "%s.%s[%u]", at->path, con->name->text, i);
        add_place(places, con->fields[i], fields->words[i], path);
    }
}

/* Pushes the items of a list or an array, the first one on top. */
static void add_items(Places *places, const Place *at, const CtType *element) {
    CT_VEC(CtWord) items = {0};
    if (at->type->kind == TYPE_ARRAY) {
        const CtArray *array = (const CtArray *)at->value.object;
        for (int64_t i = 0; i < array->length && i <= MOST_NODES; i++) ct_push(places->arena, &items, array->items[i]);
    } else {
        const CtObject *cell = at->value.object;
        for (; cell->tag != 0 && items.count <= MOST_NODES; cell = ((const CtFields *)cell)->words[1].object)
            ct_push(places->arena, &items, ((const CtFields *)cell)->words[0]);
    }
    for (uint32_t i = items.count; i-- > 0;)
        add_place(places, element, items.items[i], ct_format(places->arena, "%s[%u]", at->path, i));
}

static void input(Watch *w, const Place *at) {
    if (w->run->nodes.count >= MOST_NODES) {
        w->run->more_nodes++;
        return;
    }
    CtNode node = {.label = at->path, .pair = (const CtFields *)at->value.object};
    node.primal = node.pair->words[0].real;
    add_node(w, node, w->second[at->type->kind == TYPE_FLOAT]);
}

/* Pushes the arguments by the parameters' names; a single one is called `x` if it has no name. */
static void add_point(Watch *w, Places *places, CtWord point) {
    const CtGlobal *written = w->e->written;
    const CtLam *lam = written->body->kind == CORE_LAM ? written->body->as.lam : NULL;
    CtType *type = w->e->function->type->parts[0];
    bool several = lam && lam->count > 1 && type->kind == TYPE_TUPLE && type->count == lam->count;
    if (!several) {
        const char *name = lam && lam->count == 1 ? lam->params[0]->name->text : "x";
        add_place(places, type, point, ct_format(places->arena, "%s", name));
        return;
    }
    const CtFields *fields = (const CtFields *)point.object;
    for (uint32_t i = type->count; i-- > 0;)
        add_place(places, type->parts[i], fields->words[i], ct_format(places->arena, "%s", lam->params[i]->name->text));
}

static void inputs(Watch *w, CtWord point) {
    Places places = {.arena = w->e->arena};
    w->has_inputs = true;
    add_point(w, &places, point);
    while (places.items.count > 0) {
        Place at = places.items.items[--places.items.count];
        if (!ct_core_type_has_real((CtType *)at.type)) continue;
        switch (at.type->kind) {
        case TYPE_DOUBLE:
        case TYPE_FLOAT: input(w, &at); break;
        case TYPE_ARRAY: add_items(&places, &at, at.type->parts[0]); break;
        case TYPE_TUPLE: add_fields(&places, &at); break;
        case TYPE_DATA:
            if (strcmp(at.type->data->name->text, "[]") == 0)
                add_items(&places, &at, at.type->data->cons[1].fields[0]);
            else
                add_fields(&places, &at);
            break;
        case TYPE_INT:
        case TYPE_CHAR:
        case TYPE_FUN: break;
        }
    }
}

/* ---- the reverse pass ---- */

static CtValueWriter plain_writer(Watch *w) {
    return (CtValueWriter){
        .arena = w->e->arena, .p = w->e->p, .library = w->e->out->method->library, .codes = &w->codes};
}

/* The numbers of the nodes as names of their second parts. */
static CtMap names_of(Watch *w) {
    for (uint32_t i = w->names.count; i < w->objects.count; i++) { /* in order; none is ever removed */
        const CtMapEntry *entry = &w->objects.entries[i];
        char *name = ct_format(w->e->arena, "#%llu", (unsigned long long)(uintptr_t)entry->value);
        ct_map_set(w->e->arena, &w->names, entry->key, name);
    }
    return w->names;
}

/* `node`: the node whose second part it is, or CT_NO_NODE. */
static const char *written_value(Watch *w, const CtType *type, CtWord value, int64_t node) {
    CtText text = ct_text(w->e->arena);
    CtValueWriter *writer = &w->writer;
    ct_explain_value_again(writer);
    writer->names = names_of(w);
    writer->whole = node != CT_NO_NODE ? ct_format(w->e->arena, "#%lld", (long long)node + 1) : NULL;
    ct_explain_value_look(writer, type, value);
    ct_explain_value_write(writer, &text, type, value);
    return text.data;
}

static void arrive(Watch *w, int64_t node, const char *at, double g) {
    if (w->run->arrivals.count >= MOST_ARRIVALS) {
        w->run->more_arrivals++;
        return;
    }
    CtArrival arrival = {.node = node, .at = at, .g = g, .adjoint = g};
    if (node != CT_NO_NODE) arrival.adjoint = w->adjoints.items[node] += g;
    ct_push(w->e->arena, &w->run->arrivals, arrival);
}

static void arrived(Watch *w, const Watched *watched, const CtLam *lam, const CtWord *args) {
    const CtType *type = lam->params[watched->node]->type;
    int64_t node = node_of(w, type, args[watched->node]);
    bool kept = w->run->arrivals.count < MOST_ARRIVALS;
    const char *at = node == CT_NO_NODE && kept ? written_value(w, type, args[watched->node], CT_NO_NODE) : NULL;
    if (at && type->kind == TYPE_INT) at = ct_format(w->e->arena, "number %s", at);
    arrive(w, node, at, args[watched->cotangent].real);
}

/* Records the call of a backpropagator; the object tells its number. */
static void called_back(Watch *w, CtObject *env, const CtWord *args) {
    int64_t node = env ? node_at(&w->objects, ct_key(env)) : CT_NO_NODE;
    if (node != CT_NO_NODE) arrive(w, node, NULL, args[0].real);
}

static const Watched *watched_of(const Watch *w, const CtGlobal *global) {
    for (uint32_t i = 0; global && i < w->watched.count; i++)
        if (w->watched.items[i].function == global) return &w->watched.items[i];
    return NULL;
}

/* Whether a λ is a backpropagator: B is a function of a cotangent, or contains one. */
static bool is_backpropagator(const Watch *w, const CtLam *lam) {
    const CtType *type = lam->node->type, *b = w->second[0];
    if (lam->count == 0 || lam->params[0]->type->kind != TYPE_DOUBLE) return false;
    if (b == type) return true;
    for (uint32_t i = 0; b->kind == TYPE_TUPLE && i < b->count; i++)
        if (b->parts[i] == type) return true;
    return false;
}

static bool wants(void *data, const CtGlobal *global, const CtLam *lam) {
    Watch *w = data;
    if (ct_ad_is_seen(w->e->ad, global) || watched_of(w, global)) return true;
    if (global && (global == w->dual || global == w->evaluates || global == w->binds)) return true;
    return !global && w->watched.count == 0 && is_backpropagator(w, lam);
}

static void called(void *data, const CtGlobal *global, const CtLam *lam, CtObject *env, const CtWord *args) {
    Watch *w = data;
    const Watched *watched = watched_of(w, global);
    if (global && global == w->evaluates && !w->run->term) {
        CtText text = ct_text(w->e->arena);
        CtValueWriter writer = plain_writer(w);
        ct_explain_value_look(&writer, lam->params[w->term]->type, args[w->term]);
        ct_explain_value_write_lets(&writer, &text, lam->params[w->term]->type, args[w->term]);
        ct_explain_value_write_named(&writer, &text);
        w->run->term = text.data;
    }
    if (global && global == w->binds) {
        w->bound = args[w->binding];
        if (w->bound.object) ct_value_retain_object(w->bound.object);
        return;
    }
    if (watched) {
        arrived(w, watched, lam, args);
    } else if (!global) {
        called_back(w, env, args);
    } else if (ct_ad_is_seen(w->e->ad, global)) {
        if (!w->is_over) seen(w, lam, args);
    } else if (global == w->dual && !w->has_inputs) {
        inputs(w, args[0]);
    }
}

/* ---- the run ---- */

static void find_watched(Watch *w) {
    CtProgram *p = w->e->p;
    const char *module = ct_ad_method_info(w->e->method)->library;
#define CT_ARRIVAL(method_, function_, node_, cotangent_)                                                              \
    if (strcmp(w->e->out->name, method_) == 0) {                                                                       \
        const CtGlobal *found = p->library(p->library_data, module, function_);                                        \
        Watched row = {.function = found, .node = node_, .cotangent = cotangent_};                                     \
        if (found) ct_push(w->e->arena, &w->watched, row);                                                             \
    }
#define CT_TERM(method_, function_, argument_)                                                                         \
    if (strcmp(w->e->out->name, method_) == 0) {                                                                       \
        w->evaluates = p->library(p->library_data, module, function_);                                                 \
        w->term = argument_;                                                                                           \
    }
#define CT_BINDING(method_, function_, argument_)                                                                      \
    if (strcmp(w->e->out->name, method_) == 0) {                                                                       \
        w->binds = p->library(p->library_data, module, function_);                                                     \
        w->binding = argument_;                                                                                        \
    }
#include "explain/watched_functions.def"
#undef CT_ARRIVAL
#undef CT_TERM
#undef CT_BINDING
}

bool ct_explain_call(CtExplain *e, CtGlobal *global, const CtType *type, CtWord of, const CtWord *args, uint32_t count,
                     CtWord *result) {
    CtEval *eval = e->session->eval;
    ct_session_begin_run(e->context, e->session);
    bool done = global ? ct_eval_call(eval, global, args, count, result)
                       : ct_eval_apply(eval, (CtType *)type, of, args, count, result);
    ct_session_end_run(e->context);
    return done || ct_session_report(e->context, &e->session->build->context);
}

bool ct_explain_read_with(CtExplain *e, const CtType *type, const char *like, uint32_t reals, CtWord *out) {
    const cotan_call *c = e->call;
    CtLeaves ones = {.arena = e->arena, .trees = true};
    for (uint32_t i = 0; i < reals; i++) ct_push(e->arena, &ones.reals, 1.0);
    const char *what = e->out->method->reverse ? "--cotangent" : "--tangent";
    CtInput *given = c->with ? ct_session_parse(e->context, 1, what, c->with, c->with_length)
                             : ct_session_parse(e->context, 1, what, like, 0);
    return given && ct_session_read(e->session, e->context, given, type, c->with ? NULL : &ones, out);
}

static const char *json_of(CtExplain *e, const CtType *type, CtWord value, CtLeaves *leaves) {
    CtText text = ct_text(e->arena);
    return ct_io_json_write(&text, type, value, leaves) ? text.data : "?";
}

static const char *shown(CtExplain *e, const CtType *type, CtWord value) {
    CtText text = ct_text(e->arena);
    ct_value_show(&text, type, value);
    return text.data;
}

static void write_seconds(Watch *w) {
    w->is_over = true;
    for (uint32_t i = 0; i < w->run->nodes.count; i++) {
        CtNode *node = &w->run->nodes.items[i];
        node->second = written_value(w, w->second[0], node->pair->words[1], i);
    }
}

/* Prints the captured values of the pullback, which are what the forward pass leaves. */
static void write_left(Watch *w, CtWord pullback) {
    const CtLam *lam = ct_eval_lam(pullback);
    const CtClosure *closure = (const CtClosure *)pullback.object;
    uint32_t count = closure->head.layout->count;
    if (count == 0) return;
    CtValueWriter writer = plain_writer(w);
    writer.names = names_of(w);
    CtText text = ct_text(w->e->arena);
    for (uint32_t i = 0; i < count; i++) ct_explain_value_look(&writer, lam->captures[i]->type, closure->captures[i]);
    for (uint32_t i = 0; i < count; i++) {
        CtText type = ct_text(w->e->arena);
        ct_core_type_print(&type, lam->captures[i]->type);
        ct_text_printf(&text, "%s : %s\n  = ", lam->captures[i]->name->text, type.data);
        ct_explain_value_write(&writer, &text, lam->captures[i]->type, closure->captures[i]);
        ct_text_puts(&text, "\n");
    }
    ct_explain_value_write_named(&writer, &text);
    w->run->left = text.data;
}

static uint64_t steps_done(const CtExplain *e) { return ct_eval_stats(e->session->eval).steps; }

static bool run_reverse(CtExplain *e, Watch *w, CtGlobal *wrapper, CtWord point) {
    CtType *t = e->function->type->parts[1], *pair = ct_core_type_fun_result(wrapper->type);
    CtWord both, dy, cotangent, none = {.integer = 0};
    CtLeaves leaves = {.arena = e->arena};
    w->run->forward = steps_done(e);
    if (!ct_explain_call(e, wrapper, NULL, none, &point, 1, &both)) return false;
    w->run->forward = steps_done(e) - w->run->forward;
    const CtFields *fields = (const CtFields *)both.object;
    write_seconds(w);
    write_left(w, fields->words[1]);
    const char *value = json_of(e, t, fields->words[0], &leaves);
    w->run->value = shown(e, t, fields->words[0]);
    if (!ct_explain_read_with(e, t, value, leaves.reals.count, &dy)) return false;
    w->run->with = json_of(e, t, dy, NULL);
    w->run->backward = steps_done(e);
    if (!ct_explain_call(e, NULL, pair->parts[1], fields->words[1], &dy, 1, &cotangent)) return false;
    w->run->backward = steps_done(e) - w->run->backward;
    w->run->derivative = shown(e, e->function->type->parts[0], cotangent);
    return true;
}

static bool run_forward(CtExplain *e, Watch *w, CtGlobal *wrapper, CtWord point, uint32_t reals) {
    CtType *s = e->function->type->parts[0], *t = e->function->type->parts[1];
    CtWord args[2] = {point, {.integer = 0}}, both, none = {.integer = 0};
    if (!ct_explain_read_with(e, s, w->run->point, reals, &args[1])) return false;
    w->run->with = json_of(e, s, args[1], NULL);
    if (!ct_explain_call(e, wrapper, NULL, none, args, 2, &both)) return false;
    write_seconds(w);
    const CtFields *fields = (const CtFields *)both.object;
    w->run->value = shown(e, t, fields->words[0]);
    w->run->derivative = shown(e, t, fields->words[1]);
    return true;
}

/* The beginning of a long text. */
static const char *beginning(CtArena *arena, const char *text) {
    size_t length = strlen(text), end = MOST_TEXT;
    if (length <= end) return text;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) end--;
    return ct_format(arena, "%.*s … %zu more bytes", (int)end, text, length - end);
}

/* Sets up the observation of operations on dual numbers, before the wrapper is made; the rest of `w` is filled in
 * later. */
static void watch(CtExplain *e, Watch *w) {
    w->run->watched = true;
    w->dual = ct_ad_global(e->ad, e->method, e->function);
    w->second[0] = second_type(e, e->p->double_type);
    w->second[1] = second_type(e, e->p->float_type);
    find_watched(w);
    ct_eval_watch(e->session->eval, (CtWatch){wants, called, w});
}

/* Copies a text that lives in the session's arena, because the session ends before it is read. */
static const char *kept(CtExplain *e, const char *text) { return ct_copy_text(e->arena, text, strlen(text)); }

/* Adds the stages that `bulk` recorded when it made the derivative for this point. */
static void add_stages(CtExplain *e, const CtBulkLook *look) {
    for (uint32_t i = 0; i < look->stages.count; i++) {
        const CtBulkStage *made = &look->stages.items[i];
        CtStage fresh = {.title = made->title, .note = made->note};
        if (made->title) ct_push(e->arena, &e->out->stages, fresh);
        CtBlock block = {made->heading ? kept(e, made->heading) : NULL, ct_explain_cut(e->arena, kept(e, made->text))};
        ct_push(e->arena, &e->out->stages.items[e->out->stages.count - 1].blocks, block);
    }
}

static bool run_at(CtExplain *e, Watch *w, CtGlobal *wrapper) {
    CtRun *run = w->run;
    CtType *s = e->function->type->parts[0];
    CtInput *given = ct_session_parse(e->context, 0, "--at", e->call->at, e->call->at_length);
    CtWord point;
    CtLeaves leaves = {.arena = e->arena};
    if (!given || !ct_session_read(e->session, e->context, given, s, NULL, &point)) return false;
    run->point = json_of(e, s, point, &leaves);
    return run->reverse ? run_reverse(e, w, wrapper, point) : run_forward(e, w, wrapper, point, leaves.reals.count);
}

bool ct_explain_work(CtExplain *e) {
    CtRun plain = {.reverse = true};
    Watch w = {.e = e, .run = &plain};
    CtGlobal *wrapper = ct_explain_wrapper(e);
    ct_ad_expand(e->ad);
    ct_explain_simplify(e, wrapper);
    if (!ct_explain_sound(e) || !run_at(e, &w, wrapper)) return false;
    ct_explain_cells_show_work(e, &plain);
    return true;
}

bool ct_explain_run(CtExplain *e) {
    CtRun *run = e->out->run = CT_NEW(e->arena, CtRun);
    run->reverse = e->out->method->reverse;
    Watch *w = CT_NEW(e->arena, Watch);
    *w = (Watch){.e = e, .run = run};
    w->writer = plain_writer(w);
    CtBulkLook look = {.function = e->function, .in_words = true};
    bool by_number = e->method != METHOD_BULK && !ct_chad_ad_cotangent_type(e->ad, e->method, e->p->double_type);
    ct_ad_expand(e->ad); /* nested derivatives, whose operations are not those of the run */
    if (!ct_explain_sound(e)) return false;
    CtCells *cells = e->method == METHOD_CHAD ? ct_explain_cells_watch(e) : NULL;
    if (by_number)
        ct_ad_record(e->ad, e->method);
    else
        ct_bulk_look(e->ad, &look);
    CtGlobal *wrapper = ct_explain_wrapper(e);
    ct_ad_expand(e->ad);
    if (by_number) watch(e, w);
    if (cells) ct_explain_simplify(e, wrapper);
    if (!ct_explain_sound(e)) return false;
    bool done = run_at(e, w, wrapper);
    if (done && cells) ct_explain_cells_show(cells, run);
    const char **texts[] = {&run->point, &run->with, &run->value, &run->derivative};
    for (int i = 0; i < 4 && done; i++) *texts[i] = beginning(e->arena, *texts[i]);
    ct_bulk_look(e->ad, NULL);
    add_stages(e, &look);
    if (look.graph) e->out->graph = kept(e, look.graph);
    return done;
}
