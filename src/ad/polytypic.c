/* Functions defined by recursion over types (zip, delta, Interleave and so on in DELTA Fig. 16 and DUAL Fig. 5),
 * generated as Core for each type where they are used. Each compound type gets a global function, which is recursive
 * for recursive data. A CtGeneric defines what a function does at a real leaf; the traversal is the same for all. */
#include "ad/internal.h"

/* One function at one type, while it is generated. */
typedef struct Walk {
    CtAd *ad;
    CtProgram *p;
    const CtGeneric *generic;
    CtMethod method;
    CtSourceRange range;
    CtType *env, *state;
    CtCore *done; /* in the loop over a spine: the result so far, reversed */
} Walk;

static CtCore *call_at(Walk *w, CtSeq *seq, CtType *type, CtCore *const *ins, CtCore *env);

static CtType *input_type(Walk *w, CtType *type, uint32_t i) {
    return w->generic->dual[i] ? ct_ad_type(w->ad, w->method, type) : type;
}

static CtType *made_type(Walk *w, CtType *type) {
    return w->generic->makes_dual ? ct_ad_type(w->ad, w->method, type) : type;
}

/* The result type: a structure, the state, or both. */
static CtType *result_type(Walk *w, CtType *type) {
    if (!w->generic->makes) return w->state;
    CtType *made = made_type(w, type);
    return w->state ? ct_core_type_pair(w->p, made, w->state) : made;
}

static CtCore *give(Walk *w, CtSeq *seq, CtCore *made) {
    if (w->generic->makes) return ct_ad_seq_return(seq, made);
    return ct_ad_seq_close(seq, ct_ad_seq_state(seq, w->range));
}

static CtCore *mismatch(Walk *w, CtType *type) {
    return ct_core_fail(w->p, w->range, type, CT_E0504, w->generic->mismatch, NULL);
}

/* ---- one level of each kind of type; the results are bodies: they close the sequence ---- */

static CtCore *tuple_body(Walk *w, CtSeq *seq, CtType *type, CtCore *const *ins, CtCore *env) {
    CtVar **vars[2];
    for (uint32_t k = 0; k < w->generic->inputs; k++) {
        vars[k] = CT_NEW_ARRAY(w->ad->arena, CtVar *, type->count);
        for (uint32_t i = 0; i < type->count; i++)
            vars[k][i] = ct_core_var_new(w->p, k == 0 ? "a" : "b", input_type(w, type->parts[i], k));
        ct_ad_seq_unpack(seq, w->range, vars[k], type->count, ins[k]);
    }
    CtCore **made = CT_NEW_ARRAY(w->ad->arena, CtCore *, type->count);
    for (uint32_t i = 0; i < type->count; i++) {
        CtCore *parts[2] = {NULL, NULL};
        for (uint32_t k = 0; k < w->generic->inputs; k++) parts[k] = ct_core_var(w->p, w->range, vars[k][i]);
        made[i] = call_at(w, seq, type->parts[i], parts, env);
    }
    return give(w, seq, w->generic->makes ? ct_core_tuple(w->p, w->range, made, type->count) : NULL);
}

static CtCore *array(Walk *w, CtArrayOp op, CtCore *a, CtCore *b, CtCore *c) {
    CtCore *args[3] = {a, b, c};
    return ct_core_array(w->p, w->range, op, args, c ? 3 : b ? 2 : 1);
}

/* λ(a, b). (a, b) over two arrays. */
static CtCore *zipped(Walk *w, CtCore *const *ins) {
    CtVar *vars[2];
    CtCore *uses[2];
    for (uint32_t k = 0; k < 2; k++) {
        vars[k] = ct_core_var_new(w->p, k == 0 ? "a" : "b", ins[k]->type->parts[0]);
        uses[k] = ct_core_var(w->p, w->range, vars[k]);
    }
    CtCore *f = ct_core_lam(w->p, w->range, NULL, vars, 2, ct_core_tuple(w->p, w->range, uses, 2));
    return array(w, ARRAY_ZIP_WITH, f, ins[0], ins[1]);
}

/* Over the elements of arrays: map, zipWith, mapAccumL or foldl, depending on the number of inputs, and on whether
 * there are a result structure and a state. */
static CtCore *elements(Walk *w, CtSeq *seq, CtType *element, CtCore *const *ins, CtCore *env) {
    CtProgram *p = w->p;
    uint32_t inputs = w->generic->inputs, count = 0;
    CtVar *params[2], *opened[2];
    CtCore *parts[2] = {NULL, NULL};
    CtSeq inner = ct_ad_seq(p, NULL);
    if (w->state) params[count++] = inner.state = ct_core_var_new(p, "s", w->state);
    CtCore *xs = ins[0];
    if (w->state && inputs == 2) {
        xs = zipped(w, ins);
        CtVar *pair = params[count++] = ct_core_var_new(p, "ab", xs->type->parts[0]);
        for (uint32_t k = 0; k < 2; k++) {
            opened[k] = ct_core_var_new(p, k == 0 ? "a" : "b", pair->type->parts[k]);
            parts[k] = ct_core_var(p, w->range, opened[k]);
        }
        ct_ad_seq_unpack(&inner, w->range, opened, 2, ct_core_var(p, w->range, pair));
    } else {
        for (uint32_t k = 0; k < inputs; k++) {
            params[count] = ct_core_var_new(p, k == 0 ? "a" : "b", input_type(w, element, k));
            parts[k] = ct_core_var(p, w->range, params[count++]);
        }
    }
    CtCore *made = call_at(w, &inner, element, parts, env);
    if (!w->state) {
        CtCore *f = ct_core_lam(p, w->range, NULL, params, count, ct_ad_seq_close(&inner, made));
        CtCore *all = inputs == 2 ? array(w, ARRAY_ZIP_WITH, f, ins[0], ins[1]) : array(w, ARRAY_MAP, f, xs, NULL);
        return ct_ad_seq_close(seq, all);
    }
    CtCore *state = ct_ad_seq_state(seq, w->range);
    CtCore *after = ct_ad_seq_state(&inner, w->range);
    if (!w->generic->makes) {
        CtCore *f = ct_core_lam(p, w->range, NULL, params, count, ct_ad_seq_close(&inner, after));
        return ct_ad_seq_close(seq, array(w, ARRAY_FOLDL, f, state, xs));
    }
    CtCore *both = ct_core_pair(p, w->range, after, made);
    CtCore *f = ct_core_lam(p, w->range, NULL, params, count, ct_ad_seq_close(&inner, both));
    ct_ad_seq_open(seq, "s", "ys", array(w, ARRAY_MAP_ACCUM, f, state, xs), parts);
    CtCore *result = ct_core_pair(p, w->range, parts[1], parts[0]);
    return ct_ad_seq_close(seq, result);
}

/* How many leaves every value of a type has, or every element of its arrays, in which arrays stand directly; −1: that
 * differs. */
static int64_t leaves(CtType *type) {
    if (ct_is_discrete(type)) return 0;
    if (ct_ad_is_real(type)) return 1;
    if (type->kind == TYPE_ARRAY) return leaves(type->parts[0]);
    if (type->kind != TYPE_TUPLE) return -1;
    int64_t count = 0;
    for (uint32_t i = 0; i < type->count; i++) {
        int64_t more =
            type->parts[i]->kind == TYPE_ARRAY && !ct_is_discrete(type->parts[i]) ? -1 : leaves(type->parts[i]);
        if (more < 0) return -1;
        count += more;
    }
    return count;
}

/* let n = length xs; each = … in (build n (λi. walk (xs ! i) (behind s (i · each))), behind s (n · each)) */
static CtCore *apart(Walk *w, CtSeq *seq, CtType *element, CtCore *xs, CtCore *env) {
    CtProgram *p = w->p;
    CtSourceRange range = w->range;
    CtCore *n = ct_ad_seq_name(seq, "n", array(w, ARRAY_LENGTH, xs, NULL, NULL));
    CtCore *total = ct_core_int(p, range, leaves(element)), *each = total;
    if (element->kind == TYPE_ARRAY) {
        CtCore *places = array(w, ARRAY_PRODUCT, array(w, ARRAY_SHAPE, xs, NULL, NULL), NULL, NULL);
        CtCore *is_empty = ct_core_prim2(p, range, PRIM_INT_EQ, n, ct_core_int(p, range, 0));
        CtCore *row = ct_core_prim2(p, range, PRIM_INT_QUOT, places, n);
        row = ct_core_if(p, range, is_empty, ct_core_int(p, range, 0), row);
        each = ct_ad_seq_name(seq, "each", ct_core_prim2(p, range, PRIM_INT_MUL, row, total));
    }
    CtCore *state = ct_ad_seq_state(seq, range);
    CtVar *i = ct_core_var_new(p, "i", p->int_type);
    CtCore *at = ct_core_var(p, range, i);
    CtSeq inner = ct_ad_seq(p, ct_core_var_new(p, "s", w->state));
    CtCore *before = ct_core_prim2(p, range, PRIM_INT_MUL, at, each);
    ct_ad_seq_let(&inner, range, inner.state, w->generic->behind(w->ad, range, state, before));
    CtCore *part = array(w, ARRAY_INDEX, xs, at, NULL);
    CtCore *made = call_at(w, &inner, element, &part, env);
    CtCore *f = ct_core_lam(p, range, NULL, &i, 1, ct_ad_seq_close(&inner, made));
    CtCore *all = ct_ad_seq_name(seq, "ys", array(w, ARRAY_BUILD, n, f, NULL));
    CtCore *after = w->generic->behind(w->ad, range, state, ct_core_prim2(p, range, PRIM_INT_MUL, n, each));
    return ct_ad_seq_close(seq, ct_core_pair(p, range, all, after));
}

static CtCore *array_body(Walk *w, CtSeq *seq, CtType *type, CtCore *const *ins, CtCore *env) {
    CtType *element = type->parts[0];
    if (w->generic->behind && w->generic->makes && leaves(element) >= 0) return apart(w, seq, element, ins[0], env);
    if (w->generic->inputs == 1) return elements(w, seq, element, ins, env);
    CtCore *length0 = array(w, ARRAY_LENGTH, ins[0], NULL, NULL);
    CtCore *length1 = array(w, ARRAY_LENGTH, ins[1], NULL, NULL);
    CtCore *same = ct_core_prim2(w->p, w->range, PRIM_INT_EQ, length0, length1);
    CtCore *yes = elements(w, seq, element, ins, env);
    return ct_core_if(w->p, w->range, same, yes, mismatch(w, yes->type));
}

/* ---- spines: lists and what is shaped like them ---- */

/* A spine type, such as a list: at most the last field of each constructor has the type itself, and a constructor
 * without fields can end it. Such values can be very long, so they are traversed by a loop that collects the result in
 * reverse order. Returns the ending constructor, or NULL. */
static const CtCon *spine_end(const CtType *type) {
    const CtCon *end = NULL;
    bool recursive = false;
    for (uint32_t c = 0; c < type->data->con_count; c++) {
        const CtCon *con = &type->data->cons[c];
        if (con->count == 0 && !end) end = con;
        for (uint32_t i = 0; i < con->count; i++) {
            if (con->fields[i] != type) continue;
            if (i + 1 < con->count) return NULL;
            recursive = true;
        }
    }
    return recursive ? end : NULL;
}

static CtGlobal *reversed_at(Walk *w, CtType *made);

static CtCore *reversed(Walk *w, CtType *type, CtCore *last) {
    CtCore *args[2] = {w->done, last};
    return ct_ad_call(w->ad, w->range, reversed_at(w, made_type(w, type)), args, 2);
}

/* go done out = case done of C ⟨x⟩ rest → go rest (C ⟨x⟩ out); _ → out */
static CtGlobal *reversed_at(Walk *w, CtType *made) {
    CtAd *ad = w->ad;
    CtSym key = ct_intern_text(&ad->p->context->symbols, ct_format(ad->arena, "turn %u", made->id));
    CtGlobal *global = ct_map_get(&ad->generics, ct_key(key));
    if (global) return global;
    CtVar *params[2];
    params[0] = ct_core_var_new(w->p, "done", made);
    params[1] = ct_core_var_new(w->p, "out", made);
    CtText name = ct_text(ad->arena);
    ct_text_puts(&name, "turn@");
    ct_core_type_print(&name, made);
    CtType *types[2] = {made, made};
    global = ct_ad_new_global(ad, name.data, ct_core_type_fun(w->p, types, 2, made), CT_NO_RANGE);
    ct_map_set(ad->arena, &ad->generics, ct_key(key), global);
    CtCase *cases = CT_NEW_ARRAY(ad->arena, CtCase, made->data->con_count);
    uint32_t count = 0;
    for (uint32_t c = 0; c < made->data->con_count; c++) {
        CtCon *con = &made->data->cons[c];
        if (con->count == 0 || con->fields[con->count - 1] != made) continue;
        CtVar **vars = CT_NEW_ARRAY(ad->arena, CtVar *, con->count);
        CtCore **uses = CT_NEW_ARRAY(ad->arena, CtCore *, con->count);
        for (uint32_t i = 0; i < con->count; i++) {
            vars[i] = ct_core_var_new(w->p, "a", con->fields[i]);
            uses[i] = ct_core_var(w->p, CT_NO_RANGE, vars[i]);
        }
        CtCore *args[2] = {uses[con->count - 1], NULL};
        uses[con->count - 1] = ct_core_var(w->p, CT_NO_RANGE, params[1]);
        args[1] = ct_core_con(w->p, CT_NO_RANGE, con, uses, con->count);
        cases[count++] = (CtCase){con, vars, ct_ad_call(ad, CT_NO_RANGE, global, args, 2)};
    }
    CtCore *done = ct_core_var(w->p, CT_NO_RANGE, params[0]);
    CtCore *out = ct_core_var(w->p, CT_NO_RANGE, params[1]);
    CtCore *body = ct_core_case(w->p, CT_NO_RANGE, made, done, cases, count, out);
    global->body = ct_core_lam(w->p, CT_NO_RANGE, "turn", params, 2, body);
    return global;
}

/* ---- data ---- */

static CtCore *loop_call(Walk *w, CtType *type, CtCore *const *ins, CtCore *env, CtCore *state, CtCore *done);

static CtVar **field_vars(Walk *w, CtCon *con, CtData *data, uint32_t k, CtCore **uses) {
    CtVar **vars = CT_NEW_ARRAY(w->ad->arena, CtVar *, con->count);
    for (uint32_t i = 0; i < con->count; i++) {
        vars[i] = ct_core_var_new(w->p, k == 0 ? "a" : "b", data->cons[con->tag].fields[i]);
        uses[i] = ct_core_var(w->p, w->range, vars[i]);
    }
    return vars;
}

/* case in₁ of C ⟨a⟩ → case in₂ of C ⟨b⟩ → C ⟨walk a b⟩; _ → a failure: the shapes differ */
static CtCore *constructor(Walk *w, CtSeq *seq, CtType *type, CtCon *con, CtCore *const *ins, CtCore *env,
                           CtVar ***first) {
    CtCore **uses[2] = {NULL, NULL};
    CtVar **vars[2] = {NULL, NULL};
    CtData *datas[2] = {NULL, NULL};
    for (uint32_t k = 0; k < w->generic->inputs; k++) {
        datas[k] = input_type(w, type, k)->data;
        uses[k] = CT_NEW_ARRAY(w->ad->arena, CtCore *, con->count);
        vars[k] = field_vars(w, con, datas[k], k, uses[k]);
    }
    bool goes_on = w->done && con->count > 0 && con->fields[con->count - 1] == type;
    CtCore **made = CT_NEW_ARRAY(w->ad->arena, CtCore *, con->count);
    for (uint32_t i = 0; i + goes_on < con->count; i++) {
        CtCore *parts[2] = {uses[0][i], w->generic->inputs == 2 ? uses[1][i] : NULL};
        made[i] = call_at(w, seq, con->fields[i], parts, env);
    }
    if (goes_on) made[con->count - 1] = w->done;
    CtCore *result = NULL;
    if (w->generic->makes)
        result = ct_core_con(w->p, w->range, &made_type(w, type)->data->cons[con->tag], made, con->count);
    CtCore *body;
    if (goes_on) {
        CtCore *rest[2] = {uses[0][con->count - 1], w->generic->inputs == 2 ? uses[1][con->count - 1] : NULL};
        CtCore *done = ct_ad_seq_name(seq, "done", result);
        body =
            ct_ad_seq_close(seq, loop_call(w, type, rest, env, w->state ? ct_ad_seq_state(seq, w->range) : NULL, done));
    } else
        body = give(w, seq, w->done ? reversed(w, type, result) : result);
    *first = vars[0];
    if (w->generic->inputs == 1) return body;
    CtCase same = {&datas[1]->cons[con->tag], vars[1], body};
    CtCore *otherwise = type->data->con_count > 1 ? mismatch(w, body->type) : NULL;
    return ct_core_case(w->p, w->range, body->type, ins[1], &same, 1, otherwise);
}

static CtCore *data_body(Walk *w, CtSeq *seq, CtType *type, CtCore *const *ins, CtCore *env) {
    uint32_t count = type->data->con_count;
    CtCase *cases = CT_NEW_ARRAY(w->ad->arena, CtCase, count);
    CtData *data = input_type(w, type, 0)->data;
    for (uint32_t c = 0; c < count; c++) {
        CtSeq branch = ct_ad_seq(w->p, seq->state);
        cases[c].con = &data->cons[c];
        cases[c].body = constructor(w, &branch, type, &type->data->cons[c], ins, env, &cases[c].vars);
    }
    return ct_core_case(w->p, w->range, result_type(w, type), ins[0], cases, count, NULL);
}

/* ---- the global of one function at one compound type ---- */

/* The global function at a compound type. A spine has two: the function itself, and the loop that does its work
 * (`loop`), which takes the collected result as last parameter. */
static CtGlobal *global_at(Walk *w, CtType *type, bool loop) {
    CtAd *ad = w->ad;
    /* A function that can fail reports the source range it was called from: there is one for each. */
    uint32_t source = w->generic->mismatch ? w->range.source : 0, start = w->generic->mismatch ? w->range.start : 0;
    CtText text = ct_text(ad->arena);
    ct_text_printf(&text, "%s%s %u ", w->generic->name, loop ? " loop" : "", (unsigned)w->method);
    ct_text_printf(&text, "%u %u %u", type->id, source, start);
    CtSym key = ct_intern_text(&ad->p->context->symbols, text.data);
    CtGlobal *global = ct_map_get(&ad->generics, ct_key(key));
    if (global) return global;

    Walk inside = *w;
    CtVar *params[5];
    CtCore *ins[2] = {NULL, NULL}, *env = NULL;
    uint32_t count = 0;
    for (uint32_t k = 0; k < w->generic->inputs; k++) {
        params[count] = ct_core_var_new(w->p, k == 0 ? "a" : "b", input_type(w, type, k));
        ins[k] = ct_core_var(w->p, w->range, params[count++]);
    }
    CtSeq seq = ct_ad_seq(w->p, NULL);
    if (w->env) {
        params[count] = ct_core_var_new(w->p, "env", w->env);
        env = ct_core_var(w->p, w->range, params[count++]);
    }
    if (w->state) params[count++] = seq.state = ct_core_var_new(w->p, "s", w->state);
    inside.done = NULL;
    if (loop) {
        params[count] = ct_core_var_new(w->p, "done", made_type(w, type));
        inside.done = ct_core_var(w->p, w->range, params[count++]);
    }

    CtText name = ct_text(ad->arena);
    ct_text_printf(&name, "%s%s@", w->generic->name, loop ? "'" : "");
    ct_core_type_print(&name, type);
    CtType *types[5];
    for (uint32_t i = 0; i < count; i++) types[i] = params[i]->type;
    CtType *fun = ct_core_type_fun(w->p, types, count, result_type(w, type));
    global = ct_ad_new_global(ad, name.data, fun, w->range);
    ct_map_set(ad->arena, &ad->generics, ct_key(key), global);

    CtCore *body = NULL;
    const CtCon *end = type->kind == TYPE_DATA && w->generic->makes && !loop ? spine_end(type) : NULL;
    if (end) {
        CtCore *none = ct_core_con(w->p, w->range, &made_type(w, type)->data->cons[end->tag], NULL, 0);
        body = loop_call(w, type, ins, env, w->state ? ct_ad_seq_state(&seq, w->range) : NULL, none);
    } else if (type->kind == TYPE_TUPLE)
        body = tuple_body(&inside, &seq, type, ins, env);
    else if (type->kind == TYPE_ARRAY)
        body = array_body(&inside, &seq, type, ins, env);
    else
        body = data_body(&inside, &seq, type, ins, env);
    global->body = ct_core_lam(w->p, w->range, w->generic->name, params, count, body);
    return global;
}

static CtCore *call_global(Walk *w, CtGlobal *global, CtCore *const *ins, CtCore *env, CtCore *state, CtCore *done) {
    CtCore *args[5];
    uint32_t count = 0;
    for (uint32_t k = 0; k < w->generic->inputs; k++) args[count++] = ins[k];
    if (w->env) args[count++] = env;
    if (w->state) args[count++] = state;
    if (done) args[count++] = done;
    return ct_ad_call(w->ad, w->range, global, args, count);
}

static CtCore *loop_call(Walk *w, CtType *type, CtCore *const *ins, CtCore *env, CtCore *state, CtCore *done) {
    return call_global(w, global_at(w, type, true), ins, env, state, done);
}

/* A call of the function at a compound type, as a term. */
static CtCore *call_term(Walk *w, CtType *type, CtCore *const *ins, CtCore *env, CtCore *state) {
    return call_global(w, global_at(w, type, false), ins, env, state, NULL);
}

/* Whether the function leaves values of a type unchanged. */
static bool stays(Walk *w, CtType *type) {
    return ct_is_discrete(type) || (w->generic->keeps && ct_ad_type(w->ad, w->method, type) == type);
}

/* Applies the generic function in sequence: returns the structure (NULL when none is made), and advances seq->state. */
static CtCore *call_at(Walk *w, CtSeq *seq, CtType *type, CtCore *const *ins, CtCore *env) {
    if (stays(w, type)) return w->generic->makes ? ins[0] : NULL;
    if (ct_ad_is_real(type)) return w->generic->leaf(w->ad, w->method, seq, w->range, type, ins, env);
    if (type->kind == TYPE_FUN) return w->generic->function(w->ad, w->method, w->range, type, ins[0]);
    CtCore *state = w->state ? ct_ad_seq_state(seq, w->range) : NULL;
    CtCore *call = call_term(w, type, ins, env, state);
    if (!w->state) return call;
    if (w->generic->makes) return ct_ad_seq_run(seq, "a", call);
    CtVar *var = ct_core_var_new(w->p, "s", w->state);
    ct_ad_seq_let(seq, w->range, var, call);
    seq->state = var;
    return NULL;
}

CtCore *ct_ad_generic(CtAd *ad, const CtGeneric *generic, CtGenericCall call) {
    Walk w = {ad, ad->p, generic, call.method, call.range, NULL, NULL, NULL};
    if (generic->env) w.env = generic->env(ad, call.method);
    if (generic->state) w.state = generic->state(ad, call.method);
    bool compound = !stays(&w, call.type) && !ct_ad_is_real(call.type) && call.type->kind != TYPE_FUN;
    if (compound) return call_term(&w, call.type, call.ins, call.env, call.state);
    CtSeq seq = ct_ad_seq(ad->p, NULL);
    if (w.state) {
        seq.state = ct_core_var_new(ad->p, "s", w.state);
        ct_ad_seq_let(&seq, call.range, seq.state, call.state);
    }
    CtCore *made = call_at(&w, &seq, call.type, call.ins, call.env);
    return give(&w, &seq, made);
}
