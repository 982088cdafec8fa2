/* Pairs of a list that has an array and of a list without an end, `zip [0 ..] xs`, as an array. Numbers that are
 * counted up are computed from the index, so that no iteration waits for the one before:
 *
 *     zip [a ..] xs     build (length xs) (λi. (a + i, xs ! i))
 *
 * So are those of a short list over and over, zip (cycle [a, b]) xs. What another function makes, zip (iterate f a) xs,
 * is carried from one element to the next. */
#include "core/lists.h"

#include "base/rules.h"

#include <math.h>
#include <string.h>

static const int64_t LARGEST_START = (int64_t)1 << 62; /* of an Integer: with an index added, it is still a small one */

/* What is iterated, or a list over and over. */
typedef struct Stream {
    CtVar *cycle; /* the array of such a list, or NULL */
    uint32_t period;
    CtCore *function, *start; /* start is an atom, or Integer'small n */
    CtCore *step;             /* of Ints: what is added to each; an atom. NULL if they are made otherwise */
    bool real;                /* these are Doubles, counted by Ints that stand for them exactly */
    CtCon *small;             /* Integer'small, if these are Integers, counted up by one */
} Stream;

static const CtLam *known_function(const CtCore *function) {
    if (function->kind == CORE_GLOBAL && function->as.global->body != NULL) function = function->as.global->body;
    if (function->kind != CORE_LAM || function->as.lam->origin != NULL) return NULL;
    return function->as.lam->count == 1 ? function->as.lam : NULL; /* of functions it may have more parameters */
}

static bool is_param(const CtLam *lam, const CtCore *core) {
    return core->kind == CORE_VAR && core->as.var == lam->params[0];
}

/* λx. x + step */
static CtCore *int_step(const CtLam *lam) {
    const CtCore *body = lam->body;
    if (body->kind != CORE_PRIM || body->as.call.of.prim != PRIM_INT_ADD) return NULL;
    CtCore **args = body->as.call.args;
    return is_param(lam, args[0]) && ct_core_is_atom(args[1]) && !is_param(lam, args[1]) ? args[1] : NULL;
}

/* A literal that is a whole number, so small that sums of it are exact. */
static CtCore *whole(CtLists *s, const CtCore *core) {
    const double most = 1 << 20;
    if (core->kind != CORE_LIT || core->type->kind != TYPE_DOUBLE) return NULL;
    double value = core->as.lit.real;
    if (!(value >= -most && value <= most) || value != (double)(int64_t)value || (value == 0 && signbit(value)))
        return NULL;
    return ct_core_int(s->p, s->range, (int64_t)value);
}

/* λx. x + step, from a start, of Doubles that are whole numbers. */
static bool counts_doubles(CtLists *s, const CtLam *lam, const CtCore *start, Stream *out) {
    const CtCore *body = lam->body;
    if (body->kind != CORE_PRIM || body->as.call.of.prim != PRIM_ADD || !is_param(lam, body->as.call.args[0]))
        return false;
    out->step = whole(s, body->as.call.args[1]);
    out->start = out->step != NULL ? whole(s, start) : NULL;
    out->real = out->start != NULL;
    return out->real;
}

static bool is_small(const CtCore *core, int64_t least, int64_t most) {
    if (core->kind != CORE_CON || core->as.call.count != 1 || core->as.call.args[0]->kind != CORE_LIT) return false;
    int64_t n = core->as.call.args[0]->as.lit.integer;
    return strcmp(ct_core_prelude_name(core->as.call.of.con->name->text), "Integer'small") == 0 && n >= least &&
           n <= most;
}

/* λx. addInteger x (Integer'small 1), from a small one on */
static bool counts_integers(const CtLam *lam, const CtCore *start) {
    const CtCore *body = lam->body;
    if (body->kind != CORE_APP || body->as.call.of.fun->kind != CORE_GLOBAL || body->as.call.count != 2) return false;
    if (!is_small(start, -LARGEST_START, LARGEST_START)) return false;
    const CtGlobal *add = body->as.call.of.fun->as.global;
    return add->is_library && strcmp(ct_core_prelude_name(add->name->text), "addInteger") == 0 &&
           is_param(lam, body->as.call.args[0]) && is_small(body->as.call.args[1], 1, 1);
}

/* The number of elements of a list that is written out, with no part that may fail, or of an array in its place; 0 for
 * other terms. */
static uint32_t period_of(const CtCore *list) {
    uint32_t count = 0;
    if (ct_core_list_call(list) == LIST_OF_ARRAY) list = list->as.call.args[0];
    if (list->kind == CORE_ARRAY_LIT) return ct_core_is_total(list) ? list->as.call.count : 0;
    for (; list->kind == CORE_CON && list->as.call.count == 2; list = list->as.call.args[1]) {
        if (!ct_core_is_atom(list->as.call.args[0])) return 0;
        count++;
    }
    return list->kind == CORE_CON ? count : 0;
}

static bool open_cycle(CtLists *s, CtCore *list, CtBindings *around, Stream *out) {
    *out = (Stream){.period = period_of(list)};
    CtCore *array = out->period > 0 ? ct_core_list_to_array(s, list) : NULL;
    if (array == NULL) return false;
    out->cycle = ct_core_list_bind(s, around, "cycle", array);
    return CT_FIRED("lists.cycle");
}

/* False if an element may fail: the program does not make the one behind the last. */
static bool open_stream(CtLists *s, CtCore *term, CtBindings *around, Stream *out) {
    term = ct_core_list_open(s, term, around);
    if (ct_core_list_call(term) == LIST_CYCLE) return open_cycle(s, term->as.call.args[0], around, out);
    if (ct_core_list_call(term) != LIST_ITERATE) return false;
    CtCore *start = term->as.call.args[1];
    *out = (Stream){.function = ct_core_list_fun(s, term->as.call.args[0], around)};
    const CtLam *lam = known_function(out->function);
    if (lam == NULL) return false;
    if (counts_integers(lam, start)) {
        out->small = start->as.call.of.con;
        out->start = start->as.call.args[0];
        return true;
    }
    if (!ct_core_is_total(lam->body)) return false;
    if (counts_doubles(s, lam, start, out)) return CT_FIRED("lists.counted_doubles");
    out->step = int_step(lam);
    out->start = ct_core_list_bind_atom(s, around, "start", start);
    return true;
}

bool ct_core_list_pairs_stream(const CtCore *app) {
    if (app->as.call.count != 2) return false;
    const CtCore *stream = app->as.call.args[ct_core_list_call(app) == LIST_ZIP_FIRST ? 0 : 1];
    if (ct_core_list_call(stream) == LIST_CYCLE && stream->as.call.count == 1)
        return period_of(stream->as.call.args[0]) > 0;
    if (ct_core_list_call(stream) != LIST_ITERATE || stream->as.call.count != 2) return false;
    const CtLam *lam = known_function(stream->as.call.args[0]);
    return lam != NULL && (counts_integers(lam, stream->as.call.args[1]) || ct_core_is_total(lam->body));
}

/* The element of numbers that are counted up, or of a list over and over, by its index. */
static CtCore *counted(CtLists *s, const Stream *stream, CtCore *index) {
    CtProgram *p = s->p;
    if (stream->cycle != NULL) {
        index = ct_core_prim2(p, s->range, PRIM_INT_MOD, index, ct_core_int(p, s->range, stream->period));
        return ct_core_list_array(s, ARRAY_INDEX, ct_core_list_use(s, stream->cycle), index, NULL);
    }
    const CtCore *step = stream->step;
    if (step != NULL && !(step->kind == CORE_LIT && step->as.lit.integer == 1))
        index = ct_core_prim2(p, s->range, PRIM_INT_MUL, index, ct_core_list_again(s, stream->step));
    CtCore *start = ct_core_list_again(s, stream->start);
    bool zero = start->kind == CORE_LIT && start->as.lit.integer == 0;
    CtCore *number = zero ? index : ct_core_prim2(p, s->range, PRIM_INT_ADD, start, index);
    if (stream->real) return ct_core_prim(p, s->range, PRIM_TO_DOUBLE, &number, 1);
    return stream->small != NULL ? ct_core_con(p, s->range, stream->small, &number, 1) : number;
}

static CtCore *pair_of(CtLists *s, CtCore *number, CtCore *element, bool stream_first) {
    return stream_first ? ct_core_pair(s->p, s->range, number, element) : ct_core_pair(s->p, s->range, element, number);
}

/* snd (mapAccumL (λstate i. (f state, (state, xs ! i))) start (iota count)) */
static CtCore *carried(CtLists *s, const Stream *stream, const CtListSource *source, bool first) {
    CtProgram *p = s->p;
    CtType *type = stream->start->type;
    CtVar *params[] = {ct_core_list_var(s, "state", type), ct_core_list_var(s, "i", p->int_type)};
    CtCore *state = ct_core_list_use(s, params[0]), *next = ct_core_list_apply(s, stream->function, &state);
    CtCore *element = ct_core_list_at(s, source, ct_core_list_use(s, params[1]));
    CtCore *both = pair_of(s, ct_core_list_use(s, params[0]), element, first);
    CtCore *fun = ct_core_lam(p, s->range, NULL, params, 2, ct_core_pair(p, s->range, next, both));
    CtCore *all = ct_core_list_array(s, ARRAY_IOTA, ct_core_list_count(s, source), NULL, NULL);
    CtCore *made = ct_core_list_array(s, ARRAY_MAP_ACCUM, fun, ct_core_list_again(s, stream->start), all);
    return ct_core_proj(p, s->range, made, 1);
}

CtCore *ct_core_list_stream_pairs(CtLists *s, CtCore *list, bool stream_first) {
    CtCore **args = list->as.call.args;
    CtBindings around = {0};
    CtListSource source;
    Stream stream;
    if (stream_first && !open_stream(s, args[0], &around, &stream)) return NULL;
    if (!ct_core_list_source(s, args[stream_first ? 1 : 0], &around, &source) || source.row != NULL) return NULL;
    if (!stream_first && !open_stream(s, args[1], &around, &stream)) return NULL;
    CT_FIRED("lists.stream_pairs");
    if (stream.step == NULL && stream.small == NULL && stream.cycle == NULL)
        return ct_core_list_wrap(s, &around, carried(s, &stream, &source, stream_first));
    CtVar *index = ct_core_list_var(s, "i", s->p->int_type);
    CtCore *number = counted(s, &stream, ct_core_list_use(s, index));
    CtCore *element = ct_core_list_at(s, &source, ct_core_list_use(s, index));
    CtCore *fun = ct_core_lam(s->p, s->range, NULL, &index, 1, pair_of(s, number, element, stream_first));
    return ct_core_list_wrap(s, &around, ct_core_list_array(s, ARRAY_BUILD, ct_core_list_count(s, &source), fun, NULL));
}

bool ct_core_list_stream_rows(CtLists *s, CtCore *list, bool stream_first, CtBindings *around, CtListSource *out) {
    CtProgram *p = s->p;
    CtCore *const *args = list->as.call.args, *rows = args[stream_first ? 1 : 0];
    const CtListSource *source = rows->kind == CORE_VAR ? ct_map_get(&s->sources, ct_key(rows->as.var)) : NULL;
    uint32_t bindings = around->count;
    Stream stream;
    if (source == NULL || source->row == NULL) return false;
    bool opens = open_stream(s, args[stream_first ? 0 : 1], around, &stream);
    if (!opens || (stream.step == NULL && stream.small == NULL && stream.cycle == NULL)) {
        around->count = bindings;
        return false;
    }
    CT_FIRED("lists.stream_rows");
    CtVar *index = ct_core_list_var(s, "i", p->int_type);
    CtCore *number = counted(s, &stream, ct_core_list_use(s, index));
    CtCore *row = ct_core_list_at(s, source, ct_core_list_use(s, index));
    out->maker = ct_core_lam(p, s->range, NULL, &index, 1, pair_of(s, number, row, stream_first))->as.lam;
    out->from = ct_core_int(p, s->range, 0);
    out->count = ct_core_list_bind_atom(s, around, "count", ct_core_list_count(s, source));
    out->range = list->range;
    return true;
}
