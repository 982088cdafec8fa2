/* Stand-ins of the tracer (trace.h): their making, their leaves, their elements where they are arrays, and how two
 * of them become one.
 */
#include "ad/bulk/trace/internal.h"

CtStand *ct_bulk_abstract_new(CtBulkRoom *r, CtStandKind kind) {
    CtStand *made = CT_NEW(r->arena, CtStand);
    made->kind = kind;
    return made;
}

CtStand *ct_bulk_abstract_term(CtBulkRoom *r, CtBulk *term) {
    CtStand *made = ct_bulk_abstract_new(r, STAND_TERM);
    made->as.term = term;
    return made;
}

CtStand *ct_bulk_abstract_known(CtBulkRoom *r, int64_t value) {
    CtStand *made = ct_bulk_abstract_new(r, STAND_KNOWN);
    made->as.known = value;
    return made;
}

CtStand *ct_bulk_abstract_parts(CtBulkRoom *r, CtStandKind kind, CtStand *const *parts, uint32_t count, CtCon *con) {
    CtStand *made = ct_bulk_abstract_new(r, kind);
    made->as.of.parts = CT_NEW_ARRAY(r->arena, CtStand *, count);
    for (uint32_t i = 0; i < count; i++) made->as.of.parts[i] = parts[i];
    made->as.of.count = count;
    made->as.of.con = con;
    return made;
}

CtStand *ct_bulk_abstract_rows(CtBulkRoom *r, int64_t size, CtStand *element) {
    CtStand *made = ct_bulk_abstract_new(r, STAND_ROWS);
    made->as.rows.size = size;
    made->as.rows.element = element;
    return made;
}

CtStand *ct_bulk_trace_known_bool(Tracer *tr, bool value) {
    return ct_bulk_abstract_parts(tr->room, STAND_DATA, NULL, 0, &tr->p->bool_type->data->cons[value ? 1 : 0]);
}

static bool is_bool_con(const Tracer *tr, const CtStand *s) {
    return s->kind == STAND_DATA && s->as.of.con->data == tr->p->bool_type->data;
}

CtShape ct_bulk_trace_scalar(void) { return (CtShape){0, NULL}; }

CtBulk *ct_bulk_trace_term(Tracer *tr, const CtStand *s) {
    if (s->kind == STAND_TERM) return s->as.term;
    if (s->kind == STAND_KNOWN) return ct_bulk_int(tr->room, s->as.known, ct_bulk_trace_scalar());
    if (s->kind == STAND_COUNTER) return ct_bulk_trace_counter_term(tr, s);
    return is_bool_con(tr, s) ? ct_bulk_bool(tr->room, s->as.of.con->tag == 1, ct_bulk_trace_scalar()) : NULL;
}

/* ---- structures, leaf by leaf ---- */

CtStand *ct_bulk_trace_leaves(Tracer *tr, CtStand *s, Leaf *leaf, void *data) {
    switch (s->kind) {
    case STAND_TERM: return ct_bulk_abstract_term(tr->room, leaf(tr, data, s->as.term));
    case STAND_TUPLE:
    case STAND_DATA:
    case STAND_LIST: {
        CtStand *made = ct_bulk_abstract_parts(tr->room, s->kind, s->as.of.parts, s->as.of.count, s->as.of.con);
        for (uint32_t i = 0; i < made->as.of.count; i++)
            made->as.of.parts[i] = ct_bulk_trace_leaves(tr, s->as.of.parts[i], leaf, data);
        return made;
    }
    case STAND_ROWS:
        return ct_bulk_abstract_rows(tr->room, s->as.rows.size, ct_bulk_trace_leaves(tr, s->as.rows.element, leaf, data));
    case STAND_KNOWN:
    case STAND_COUNTER:
    case STAND_CLOSURE:
    case STAND_CHOICE:
    case STAND_PULLBACK:
    case STAND_STRING:
    case STAND_FAILURE: break;
    }
    return s;
}

CtStand *ct_bulk_trace_array_of(Tracer *tr, int64_t size, CtStand *element) {
    if (element->kind == STAND_TERM || element->kind == STAND_FAILURE) return element;
    return ct_bulk_abstract_rows(tr->room, size, element);
}

CtStand *ct_bulk_trace_unknown(Tracer *tr, CtStand *s) {
    if (s->kind == STAND_KNOWN || s->kind == STAND_COUNTER || is_bool_con(tr, s))
        return ct_bulk_abstract_term(tr->room, ct_bulk_trace_term(tr, s));
    if (s->kind != STAND_TUPLE && s->kind != STAND_DATA && s->kind != STAND_LIST) return s;
    CtStand *made = ct_bulk_abstract_parts(tr->room, s->kind, s->as.of.parts, s->as.of.count, s->as.of.con);
    for (uint32_t i = 0; i < made->as.of.count; i++) made->as.of.parts[i] = ct_bulk_trace_unknown(tr, s->as.of.parts[i]);
    return made;
}

typedef struct At {
    CtBulk *index;
    CtSpan span;
} At;

static CtBulk *leaf_at(Tracer *tr, void *data, CtBulk *t) {
    const At *at = data;
    return ct_bulk_trace_name(tr, "t", ct_bulk_index(tr->room, t, &at->index, 1, tr->live, ct_bulk_trace_place(tr, at->span)));
}

int64_t ct_bulk_trace_size(const CtStand *xs) {
    if (xs->kind == STAND_TERM) return xs->as.term->shape.sizes[0];
    return xs->kind == STAND_ROWS ? xs->as.rows.size : xs->kind == STAND_LIST ? (int64_t)xs->as.of.count : 0;
}

static bool is_function(const CtStand *s) {
    return s->kind == STAND_CLOSURE || s->kind == STAND_CHOICE || s->kind == STAND_PULLBACK;
}

static bool is_array(const CtStand *s) {
    return (s->kind == STAND_TERM && s->as.term->shape.rank > 0) || s->kind == STAND_ROWS || s->kind == STAND_LIST;
}

static CtStand *outside(Tracer *tr, int64_t i, int64_t size, CtSpan span) {
    const char *text = ct_format(tr->arena, "index %lld is outside of an array of %lld element%s", (long long)i,
                                 (long long)size, size == 1 ? "" : "s");
    ct_bulk_trace_check(tr, ct_bulk_bool(tr->room, true, ct_bulk_trace_scalar()), CT_E0501, text, span);
    return ct_bulk_abstract_new(tr->room, STAND_FAILURE);
}

void ct_bulk_trace_check_inside(Tracer *tr, CtBulk *i, int64_t size, const char *text, CtSpan span) {
    CtBulkRoom *r = tr->room;
    if (ct_bulk_is_inside(&tr->ranges, i, size)) return;
    CtBulk *below = ct_bulk_trace_name(tr, "b", ct_bulk_op2(r, PRIM_INT_LT, i, ct_bulk_int(r, 0, ct_bulk_trace_scalar())));
    CtBulk *above = ct_bulk_trace_name(tr, "b", ct_bulk_op2(r, PRIM_INT_LE, ct_bulk_int(r, size, ct_bulk_trace_scalar()), i));
    ct_bulk_trace_check(tr, ct_bulk_trace_name(tr, "b", ct_bulk_logic(r, LOGIC_OR, below, above)), CT_E0501, text, span);
}

static bool has_terms(const CtStand *s) {
    if (s->kind == STAND_TERM) return true;
    if (s->kind == STAND_ROWS) return has_terms(s->as.rows.element);
    if (s->kind != STAND_TUPLE && s->kind != STAND_DATA && s->kind != STAND_LIST) return false;
    for (uint32_t i = 0; i < s->as.of.count; i++)
        if (has_terms(s->as.of.parts[i])) return true;
    return false;
}

int64_t ct_bulk_trace_length_at(const CtStand *s, uint32_t depth) {
    if (s->kind == STAND_TERM) return depth < s->as.term->shape.rank ? s->as.term->shape.sizes[depth] : -1;
    if (s->kind != STAND_ROWS && s->kind != STAND_LIST) return -1;
    if (depth == 0) return ct_bulk_trace_size(s);
    if (s->kind == STAND_ROWS) return ct_bulk_trace_length_at(s->as.rows.element, depth - 1);
    return s->as.of.count > 0 ? ct_bulk_trace_length_at(s->as.of.parts[0], depth - 1) : -1;
}

bool ct_bulk_trace_regular(const CtStand *a, uint32_t inside_a, const CtStand *b, uint32_t inside_b) {
    for (uint32_t depth = 0;; depth++) {
        int64_t left = ct_bulk_trace_length_at(a, inside_a + depth), right = ct_bulk_trace_length_at(b, inside_b + depth);
        if (left != right) return false;
        if (left <= 0) return true;
    }
}

CtStand *ct_bulk_trace_irregular(Tracer *tr, CtSpan span) {
    ct_bulk_trace_check(tr, ct_bulk_bool(tr->room, true, ct_bulk_trace_scalar()), CT_E0507, ct_error_title(CT_E0507), span);
    return ct_bulk_abstract_new(tr->room, STAND_FAILURE);
}

CtStand *ct_bulk_trace_element(Tracer *tr, CtStand *xs, CtStand *i, CtSpan span) {
    if (is_array(xs) && i->kind == STAND_KNOWN && (i->as.known < 0 || i->as.known >= ct_bulk_trace_size(xs)))
        return outside(tr, i->as.known, ct_bulk_trace_size(xs), span);
    if (xs->kind == STAND_LIST) {
        if (i->kind == STAND_KNOWN) return xs->as.of.parts[i->as.known];
        if (xs->as.of.count > 0) xs = ct_bulk_trace_array_from(tr, xs->as.of.parts, xs->as.of.count);
        if (xs->kind == STAND_FAILURE) return xs;
    }
    if (xs->kind == STAND_LIST && xs->as.of.count == 0) {
        ct_bulk_trace_check_inside(tr, ct_bulk_trace_term(tr, i), 0, ct_error_title(CT_E0501), span);
        return ct_bulk_abstract_new(tr->room, STAND_FAILURE);
    }
    if (xs->kind == STAND_LIST)
        return ct_bulk_trace_refuse(tr, span,
                               "an index that depends on numbers, into an array whose elements differ in form");
    const CtBulk *build = i->kind == STAND_KNOWN && xs->kind == STAND_TERM ? ct_bulk_trace_bound(tr, xs->as.term) : NULL;
    bool is_iota = build != NULL && build->kind == BULK_BUILD && build->as.build.body->kind == BULK_VAR &&
                   build->as.build.body->as.var == build->as.build.var;
    if (is_iota && i->as.known >= 0 && i->as.known < build->shape.sizes[0]) return i;
    At at = {ct_bulk_trace_term(tr, i), span};
    if (at.index == NULL || !is_array(xs)) return ct_bulk_trace_refuse(tr, span, "an index into this array");
    if (!has_terms(xs)) ct_bulk_trace_check_inside(tr, at.index, ct_bulk_trace_size(xs), ct_error_title(CT_E0501), span);
    return ct_bulk_trace_leaves(tr, xs->kind == STAND_ROWS ? xs->as.rows.element : xs, leaf_at, &at);
}

bool ct_bulk_trace_alike(const CtStand *a, const CtStand *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case STAND_TERM:
        return a->as.term->element == b->as.term->element && ct_bulk_shape_equal(a->as.term->shape, b->as.term->shape);
    case STAND_KNOWN: return a->as.known == b->as.known;
    case STAND_COUNTER: return a == b;
    case STAND_ROWS:
        return a->as.rows.size == b->as.rows.size && ct_bulk_trace_alike(a->as.rows.element, b->as.rows.element);
    case STAND_TUPLE:
    case STAND_DATA:
    case STAND_LIST:
        if (a->as.of.con != b->as.of.con || a->as.of.count != b->as.of.count) return false;
        for (uint32_t i = 0; i < a->as.of.count; i++)
            if (!ct_bulk_trace_alike(a->as.of.parts[i], b->as.of.parts[i])) return false;
        return true;
    case STAND_CLOSURE: return a->as.closure.lam == b->as.closure.lam && a->as.closure.env == b->as.closure.env;
    case STAND_PULLBACK: return a->as.pullback == b->as.pullback;
    case STAND_STRING: return a->as.string == b->as.string;
    case STAND_CHOICE: return a == b;
    case STAND_FAILURE: return true;
    }
    return false;
}

/* The leaves of alike structures, position by position: [t₁, …, tₙ]. */
static CtStand *literal(Tracer *tr, CtStand *const *items, uint32_t count) {
    CtStand *first = items[0];
    if (first->kind == STAND_TERM) {
        CtBulk **terms = CT_NEW_ARRAY(tr->arena, CtBulk *, count);
        for (uint32_t i = 0; i < count; i++) terms[i] = items[i]->as.term;
        return ct_bulk_trace_named(tr, ct_bulk_literal(tr->room, terms, count));
    }
    CtStand **parts = CT_NEW_ARRAY(tr->arena, CtStand *, count);
    if (first->kind == STAND_ROWS) {
        for (uint32_t i = 0; i < count; i++) parts[i] = items[i]->as.rows.element;
        return ct_bulk_trace_array_of(tr, first->as.rows.size, literal(tr, parts, count));
    }
    if (first->kind != STAND_TUPLE && first->kind != STAND_DATA && first->kind != STAND_LIST) return first;
    CtStand *made = ct_bulk_abstract_parts(tr->room, first->kind, first->as.of.parts, first->as.of.count, first->as.of.con);
    for (uint32_t k = 0; k < first->as.of.count; k++) {
        for (uint32_t i = 0; i < count; i++) parts[i] = items[i]->as.of.parts[k];
        made->as.of.parts[k] = literal(tr, parts, count);
    }
    return made;
}

CtStand *ct_bulk_trace_array_from(Tracer *tr, CtStand *const *items, uint32_t count) {
    if (count == 0) return ct_bulk_abstract_parts(tr->room, STAND_LIST, NULL, 0, NULL);
    CtStand **open = CT_NEW_ARRAY(tr->arena, CtStand *, count);
    bool same = true;
    for (uint32_t i = 0; i < count; i++) {
        open[i] = ct_bulk_trace_unknown(tr, items[i]);
        if (open[i]->kind == STAND_FAILURE) return open[i];
        same = same && ct_bulk_trace_alike(open[0], open[i]) && !is_function(open[i]) && open[i]->kind != STAND_STRING;
    }
    if (!same) return ct_bulk_abstract_parts(tr->room, STAND_LIST, items, count, NULL);
    return ct_bulk_trace_array_of(tr, (int64_t)count, literal(tr, open, count));
}

static CtStand *choice_of(Tracer *tr, CtBulk *test, CtStand *yes, CtStand *no) {
    CtStand *made = ct_bulk_abstract_new(tr->room, STAND_CHOICE);
    made->as.choice.test = test;
    made->as.choice.yes = yes;
    made->as.choice.no = no;
    return made;
}

CtStand *ct_bulk_trace_merge(Tracer *tr, CtBulk *test, CtStand *a, CtStand *b, CtSpan span) {
    bool same = a->kind == STAND_KNOWN || a->kind == STAND_CLOSURE || a->kind == STAND_STRING;
    if (a->kind == STAND_FAILURE || (same && ct_bulk_trace_alike(a, b))) return b;
    if (b->kind == STAND_FAILURE || a == b) return a;
    if (is_array(a) && is_array(b) && ct_bulk_trace_size(a) == 0 && ct_bulk_trace_size(b) == 0) return a;
    if (is_function(a) && is_function(b)) return choice_of(tr, test, a, b);
    CtBulk *left = ct_bulk_trace_term(tr, a), *right = ct_bulk_trace_term(tr, b);
    if (left != NULL && right != NULL) {
        if (left->element != right->element || !ct_bulk_shape_equal(left->shape, right->shape))
            return ct_bulk_trace_refuse(tr, span, "a branch on a number whose two results are arrays of different lengths");
        return ct_bulk_trace_named(tr, ct_bulk_cond(tr->room, test, left, right));
    }
    if (a->kind == STAND_ROWS && b->kind == STAND_ROWS && a->as.rows.size == b->as.rows.size)
        return ct_bulk_trace_array_of(tr, a->as.rows.size,
                                 ct_bulk_trace_merge(tr, test, a->as.rows.element, b->as.rows.element, span));
    bool structured = a->kind == STAND_TUPLE || a->kind == STAND_DATA || a->kind == STAND_LIST;
    if (!structured || a->kind != b->kind || a->as.of.con != b->as.of.con || a->as.of.count != b->as.of.count)
        return ct_bulk_trace_refuse(tr, span, "a branch on a number whose two results differ in constructor or length");
    CtStand *made = ct_bulk_abstract_parts(tr->room, a->kind, a->as.of.parts, a->as.of.count, a->as.of.con);
    for (uint32_t i = 0; i < a->as.of.count; i++)
        made->as.of.parts[i] = ct_bulk_trace_merge(tr, test, a->as.of.parts[i], b->as.of.parts[i], span);
    return made;
}
