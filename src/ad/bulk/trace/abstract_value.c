/* Abstract values of the tracer (trace.h): construction, leaves, elements of arrays, and the join of two of them. */
#include "ad/bulk/trace/internal.h"

CtAbstract *ct_bulk_abstract_new(CtBulkBuilder *r, CtAbstractKind kind) {
    CtAbstract *made = CT_NEW(r->arena, CtAbstract);
    made->kind = kind;
    return made;
}

CtAbstract *ct_bulk_abstract_term(CtBulkBuilder *r, CtBulk *term) {
    CtAbstract *made = ct_bulk_abstract_new(r, ABSTRACT_TERM);
    made->as.term = term;
    return made;
}

CtAbstract *ct_bulk_abstract_known(CtBulkBuilder *r, int64_t value) {
    CtAbstract *made = ct_bulk_abstract_new(r, ABSTRACT_KNOWN);
    made->as.known = value;
    return made;
}

CtAbstract *ct_bulk_abstract_parts(CtBulkBuilder *r, CtAbstractKind kind, CtAbstract *const *parts, uint32_t count,
                                   CtCon *con) {
    CtAbstract *made = ct_bulk_abstract_new(r, kind);
    made->as.of.parts = CT_NEW_ARRAY(r->arena, CtAbstract *, count);
    for (uint32_t i = 0; i < count; i++) made->as.of.parts[i] = parts[i];
    made->as.of.count = count;
    made->as.of.con = con;
    return made;
}

CtAbstract *ct_bulk_abstract_rows(CtBulkBuilder *r, int64_t size, CtAbstract *element) {
    CtAbstract *made = ct_bulk_abstract_new(r, ABSTRACT_ROWS);
    made->as.rows.size = size;
    made->as.rows.element = element;
    return made;
}

CtAbstract *ct_bulk_trace_known_bool(Tracer *tr, bool value) {
    return ct_bulk_abstract_parts(tr->builder, ABSTRACT_DATA, NULL, 0, &tr->p->bool_type->data->cons[value ? 1 : 0]);
}

static bool is_bool_con(const Tracer *tr, const CtAbstract *s) {
    return s->kind == ABSTRACT_DATA && s->as.of.con->data == tr->p->bool_type->data;
}

CtShape ct_bulk_trace_scalar(void) { return (CtShape){0, NULL}; }

CtBulk *ct_bulk_trace_term(Tracer *tr, const CtAbstract *s) {
    if (s->kind == ABSTRACT_TERM) return s->as.term;
    if (s->kind == ABSTRACT_KNOWN) return ct_bulk_int(tr->builder, s->as.known, ct_bulk_trace_scalar());
    if (s->kind == ABSTRACT_COUNTER) return ct_bulk_trace_counter_term(tr, s);
    return is_bool_con(tr, s) ? ct_bulk_bool(tr->builder, s->as.of.con->tag == 1, ct_bulk_trace_scalar()) : NULL;
}

/* ---- structures, leaf by leaf ---- */

CtAbstract *ct_bulk_trace_leaves(Tracer *tr, CtAbstract *s, Leaf *leaf, void *data) {
    switch (s->kind) {
    case ABSTRACT_TERM: return ct_bulk_abstract_term(tr->builder, leaf(tr, data, s->as.term));
    case ABSTRACT_TUPLE:
    case ABSTRACT_DATA:
    case ABSTRACT_LIST: {
        CtAbstract *made = ct_bulk_abstract_parts(tr->builder, s->kind, s->as.of.parts, s->as.of.count, s->as.of.con);
        for (uint32_t i = 0; i < made->as.of.count; i++)
            made->as.of.parts[i] = ct_bulk_trace_leaves(tr, s->as.of.parts[i], leaf, data);
        return made;
    }
    case ABSTRACT_ROWS:
        return ct_bulk_abstract_rows(tr->builder, s->as.rows.size,
                                     ct_bulk_trace_leaves(tr, s->as.rows.element, leaf, data));
    case ABSTRACT_GROWING: {
        CtAbstract *made = ct_bulk_abstract_new(tr->builder, ABSTRACT_GROWING);
        made->as.growing = s->as.growing;
        made->as.growing.all = ct_bulk_trace_leaves(tr, s->as.growing.all, leaf, data);
        return made;
    }
    case ABSTRACT_KNOWN:
    case ABSTRACT_COUNTER:
    case ABSTRACT_CLOSURE:
    case ABSTRACT_CHOICE:
    case ABSTRACT_PULLBACK:
    case ABSTRACT_STRING:
    case ABSTRACT_FAILURE: break;
    }
    return s;
}

CtAbstract *ct_bulk_trace_array_of(Tracer *tr, int64_t size, CtAbstract *element) {
    if (element->kind == ABSTRACT_TERM || element->kind == ABSTRACT_FAILURE) return element;
    return ct_bulk_abstract_rows(tr->builder, size, element);
}

CtAbstract *ct_bulk_trace_unknown(Tracer *tr, CtAbstract *s) {
    if (s->kind == ABSTRACT_KNOWN || s->kind == ABSTRACT_COUNTER || is_bool_con(tr, s))
        return ct_bulk_abstract_term(tr->builder, ct_bulk_trace_term(tr, s));
    if (s->kind != ABSTRACT_TUPLE && s->kind != ABSTRACT_DATA && s->kind != ABSTRACT_LIST) return s;
    CtAbstract *made = ct_bulk_abstract_parts(tr->builder, s->kind, s->as.of.parts, s->as.of.count, s->as.of.con);
    for (uint32_t i = 0; i < made->as.of.count; i++)
        made->as.of.parts[i] = ct_bulk_trace_unknown(tr, s->as.of.parts[i]);
    return made;
}

CtAbstract *ct_bulk_trace_without_counters(Tracer *tr, CtAbstract *s) {
    if (s->kind == ABSTRACT_COUNTER) return ct_bulk_abstract_term(tr->builder, ct_bulk_trace_counter_term(tr, s));
    bool structured = s->kind == ABSTRACT_TUPLE || s->kind == ABSTRACT_DATA || s->kind == ABSTRACT_LIST;
    if (!structured) return s;
    CtAbstract *made = ct_bulk_abstract_parts(tr->builder, s->kind, s->as.of.parts, s->as.of.count, s->as.of.con);
    for (uint32_t i = 0; i < made->as.of.count; i++)
        made->as.of.parts[i] = ct_bulk_trace_without_counters(tr, s->as.of.parts[i]);
    return made;
}

typedef struct At {
    CtBulk *index;
    CtSourceRange range;
} At;

static CtBulk *leaf_at(Tracer *tr, void *data, CtBulk *t) {
    const At *at = data;
    return ct_bulk_trace_name(
        tr, "t", ct_bulk_index(tr->builder, t, &at->index, 1, tr->live, ct_bulk_trace_place(tr, at->range)));
}

int64_t ct_bulk_trace_size(const CtAbstract *xs) {
    if (xs->kind == ABSTRACT_TERM) return xs->as.term->shape.sizes[0];
    return xs->kind == ABSTRACT_ROWS ? xs->as.rows.size : xs->kind == ABSTRACT_LIST ? (int64_t)xs->as.of.count : 0;
}

static bool is_function(const CtAbstract *s) {
    return s->kind == ABSTRACT_CLOSURE || s->kind == ABSTRACT_CHOICE || s->kind == ABSTRACT_PULLBACK;
}

static bool is_array(const CtAbstract *s) {
    return (s->kind == ABSTRACT_TERM && s->as.term->shape.rank > 0) || s->kind == ABSTRACT_ROWS ||
           s->kind == ABSTRACT_LIST;
}

static CtAbstract *outside(Tracer *tr, int64_t i, int64_t size, CtSourceRange range) {
    const char *text = ct_format(tr->arena, "index %lld is outside of an array of %lld element%s", (long long)i,
                                 (long long)size, size == 1 ? "" : "s");
    ct_bulk_trace_check(tr, ct_bulk_bool(tr->builder, true, ct_bulk_trace_scalar()), CT_E0501, text, range);
    return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
}

void ct_bulk_trace_check_inside(Tracer *tr, CtBulk *i, int64_t size, const char *text, CtSourceRange range) {
    CtBulkBuilder *r = tr->builder;
    if (ct_bulk_is_inside(&tr->ranges, i, size)) return;
    CtBulk *below =
        ct_bulk_trace_name(tr, "b", ct_bulk_op2(r, PRIM_INT_LT, i, ct_bulk_int(r, 0, ct_bulk_trace_scalar())));
    CtBulk *above =
        ct_bulk_trace_name(tr, "b", ct_bulk_op2(r, PRIM_INT_LE, ct_bulk_int(r, size, ct_bulk_trace_scalar()), i));
    ct_bulk_trace_check(tr, ct_bulk_trace_name(tr, "b", ct_bulk_logic(r, LOGIC_OR, below, above)), CT_E0501, text,
                        range);
}

static bool has_terms(const CtAbstract *s) {
    if (s->kind == ABSTRACT_TERM) return true;
    if (s->kind == ABSTRACT_ROWS) return has_terms(s->as.rows.element);
    if (s->kind != ABSTRACT_TUPLE && s->kind != ABSTRACT_DATA && s->kind != ABSTRACT_LIST) return false;
    for (uint32_t i = 0; i < s->as.of.count; i++)
        if (has_terms(s->as.of.parts[i])) return true;
    return false;
}

int64_t ct_bulk_trace_length_at(const CtAbstract *s, uint32_t depth) {
    if (s->kind == ABSTRACT_TERM) return depth < s->as.term->shape.rank ? s->as.term->shape.sizes[depth] : -1;
    if (s->kind != ABSTRACT_ROWS && s->kind != ABSTRACT_LIST) return -1;
    if (depth == 0) return ct_bulk_trace_size(s);
    if (s->kind == ABSTRACT_ROWS) return ct_bulk_trace_length_at(s->as.rows.element, depth - 1);
    return s->as.of.count > 0 ? ct_bulk_trace_length_at(s->as.of.parts[0], depth - 1) : -1;
}

bool ct_bulk_trace_regular(const CtAbstract *a, uint32_t inside_a, const CtAbstract *b, uint32_t inside_b) {
    for (uint32_t depth = 0;; depth++) {
        int64_t left = ct_bulk_trace_length_at(a, inside_a + depth),
                right = ct_bulk_trace_length_at(b, inside_b + depth);
        if (left != right) return false;
        if (left <= 0) return true;
    }
}

uint32_t ct_bulk_trace_irregular_item(CtAbstract *const *items, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if (items[0]->kind != ABSTRACT_FAILURE && items[i]->kind != ABSTRACT_FAILURE &&
            !ct_bulk_trace_regular(items[0], 0, items[i], 0))
            return i;
    return 0;
}

CtAbstract *ct_bulk_trace_irregular(Tracer *tr, CtSourceRange range) {
    ct_bulk_trace_check(tr, ct_bulk_bool(tr->builder, true, ct_bulk_trace_scalar()), CT_E0507, ct_error_title(CT_E0507),
                        range);
    return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
}

static bool is_arithmetic(const CtBulk *t) {
    if (t->kind == BULK_LET) return is_arithmetic(t->as.let.rhs) && is_arithmetic(t->as.let.body);
    if (t->kind != BULK_OP) return t->kind == BULK_VAR || t->kind == BULK_CONST;
    return is_arithmetic(t->as.op.args[0]) && (t->as.op.count < 2 || is_arithmetic(t->as.op.args[1]));
}

/* The element of an array of Ints that is a function of the index, such as iota: that function. NULL: it is not, or the
 * index may be outside. */
static CtAbstract *number_at(Tracer *tr, CtBulk *xs, CtAbstract *i) {
    const CtBulk *build = ct_bulk_trace_bound(tr, xs);
    if (build == NULL || build->kind != BULK_BUILD || build->element != ELEMENT_INT || build->shape.rank != 1)
        return NULL;
    CtBulk *body = build->as.build.body, *at = ct_bulk_trace_term(tr, i);
    if (at == NULL || !ct_bulk_is_inside(&tr->ranges, at, build->shape.sizes[0])) return NULL;
    if (body->kind == BULK_VAR && body->as.var == build->as.build.var) return i;
    if (!is_arithmetic(body)) return NULL;
    CtMap replace = {0};
    ct_map_set(tr->arena, &replace, ct_key(build->as.build.var), at);
    return ct_bulk_trace_named(tr, ct_bulk_substitute(tr->builder, body, &replace));
}

CtAbstract *ct_bulk_trace_element(Tracer *tr, CtAbstract *xs, CtAbstract *i, CtSourceRange range) {
    if (is_array(xs) && i->kind == ABSTRACT_KNOWN && (i->as.known < 0 || i->as.known >= ct_bulk_trace_size(xs)))
        return outside(tr, i->as.known, ct_bulk_trace_size(xs), range);
    if (xs->kind == ABSTRACT_LIST) {
        if (i->kind == ABSTRACT_KNOWN) return xs->as.of.parts[i->as.known];
        if (xs->as.of.count > 0) xs = ct_bulk_trace_array_from(tr, xs->as.of.parts, xs->as.of.count);
        if (xs->kind == ABSTRACT_FAILURE) return xs;
    }
    if (xs->kind == ABSTRACT_LIST && xs->as.of.count == 0) {
        ct_bulk_trace_check_inside(tr, ct_bulk_trace_term(tr, i), 0, ct_error_title(CT_E0501), range);
        return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
    }
    if (xs->kind == ABSTRACT_LIST)
        return ct_bulk_trace_refuse(tr, range,
                                    "an index that depends on numbers, into an array whose elements differ in form");
    CtAbstract *number = xs->kind == ABSTRACT_TERM ? number_at(tr, xs->as.term, i) : NULL;
    if (number != NULL) return number;
    At at = {ct_bulk_trace_term(tr, i), range};
    if (at.index == NULL || !is_array(xs)) return ct_bulk_trace_refuse(tr, range, "an index into this array");
    if (!has_terms(xs))
        ct_bulk_trace_check_inside(tr, at.index, ct_bulk_trace_size(xs), ct_error_title(CT_E0501), range);
    return ct_bulk_trace_leaves(tr, xs->kind == ABSTRACT_ROWS ? xs->as.rows.element : xs, leaf_at, &at);
}

bool ct_bulk_trace_same_growth(const CtAbstract *a, const CtAbstract *b) {
    return a->kind == ABSTRACT_GROWING && b->kind == ABSTRACT_GROWING && a->as.growing.of == b->as.growing.of &&
           a->as.growing.base == b->as.growing.base && a->as.growing.slope == b->as.growing.slope;
}

bool ct_bulk_trace_same_shape(const CtAbstract *a, const CtAbstract *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case ABSTRACT_TERM:
        return a->as.term->element == b->as.term->element && ct_bulk_shape_equal(a->as.term->shape, b->as.term->shape);
    case ABSTRACT_KNOWN: return a->as.known == b->as.known;
    case ABSTRACT_COUNTER: return a == b;
    case ABSTRACT_ROWS:
        return a->as.rows.size == b->as.rows.size && ct_bulk_trace_same_shape(a->as.rows.element, b->as.rows.element);
    case ABSTRACT_TUPLE:
    case ABSTRACT_DATA:
    case ABSTRACT_LIST:
        if (a->as.of.con != b->as.of.con || a->as.of.count != b->as.of.count) return false;
        for (uint32_t i = 0; i < a->as.of.count; i++)
            if (!ct_bulk_trace_same_shape(a->as.of.parts[i], b->as.of.parts[i])) return false;
        return true;
    case ABSTRACT_GROWING:
        return ct_bulk_trace_same_growth(a, b) && a->as.growing.added == b->as.growing.added &&
               ct_bulk_trace_same_shape(a->as.growing.all, b->as.growing.all);
    case ABSTRACT_CLOSURE: return a->as.closure.lam == b->as.closure.lam && a->as.closure.env == b->as.closure.env;
    case ABSTRACT_PULLBACK: return a->as.pullback == b->as.pullback;
    case ABSTRACT_STRING: return a->as.string == b->as.string;
    case ABSTRACT_CHOICE: return a == b;
    case ABSTRACT_FAILURE: return true;
    }
    return false;
}

/* The leaves of structures of one shape, position by position: [t₁, …, tₙ]. */
static CtAbstract *literal(Tracer *tr, CtAbstract *const *items, uint32_t count) {
    CtAbstract *first = items[0];
    if (first->kind == ABSTRACT_TERM) {
        CtBulk **terms = CT_NEW_ARRAY(tr->arena, CtBulk *, count);
        for (uint32_t i = 0; i < count; i++) terms[i] = items[i]->as.term;
        return ct_bulk_trace_named(tr, ct_bulk_literal(tr->builder, terms, count));
    }
    CtAbstract **parts = CT_NEW_ARRAY(tr->arena, CtAbstract *, count);
    if (first->kind == ABSTRACT_ROWS) {
        for (uint32_t i = 0; i < count; i++) parts[i] = items[i]->as.rows.element;
        return ct_bulk_trace_array_of(tr, first->as.rows.size, literal(tr, parts, count));
    }
    if (first->kind != ABSTRACT_TUPLE && first->kind != ABSTRACT_DATA && first->kind != ABSTRACT_LIST) return first;
    CtAbstract *made =
        ct_bulk_abstract_parts(tr->builder, first->kind, first->as.of.parts, first->as.of.count, first->as.of.con);
    for (uint32_t k = 0; k < first->as.of.count; k++) {
        for (uint32_t i = 0; i < count; i++) parts[i] = items[i]->as.of.parts[k];
        made->as.of.parts[k] = literal(tr, parts, count);
    }
    return made;
}

CtAbstract *ct_bulk_trace_array_from(Tracer *tr, CtAbstract *const *items, uint32_t count) {
    if (count == 0) return ct_bulk_abstract_parts(tr->builder, ABSTRACT_LIST, NULL, 0, NULL);
    CtAbstract **open = CT_NEW_ARRAY(tr->arena, CtAbstract *, count);
    bool same = true;
    for (uint32_t i = 0; i < count; i++) {
        open[i] = ct_bulk_trace_unknown(tr, items[i]);
        if (open[i]->kind == ABSTRACT_FAILURE) return open[i];
        if (ct_bulk_trace_has_growing(open[i])) return ct_bulk_trace_refuse_growing(tr, tr->place);
        same = same && ct_bulk_trace_same_shape(open[0], open[i]) && !is_function(open[i]) &&
               open[i]->kind != ABSTRACT_STRING;
    }
    if (!same) return ct_bulk_abstract_parts(tr->builder, ABSTRACT_LIST, items, count, NULL);
    return ct_bulk_trace_array_of(tr, (int64_t)count, literal(tr, open, count));
}

static CtAbstract *choice_of(Tracer *tr, CtBulk *test, CtAbstract *yes, CtAbstract *no) {
    CtAbstract *made = ct_bulk_abstract_new(tr->builder, ABSTRACT_CHOICE);
    made->as.choice.test = test;
    made->as.choice.yes = yes;
    made->as.choice.no = no;
    return made;
}

CtAbstract *ct_bulk_trace_merge(Tracer *tr, CtBulk *test, CtAbstract *a, CtAbstract *b, CtSourceRange range) {
    bool same = a->kind == ABSTRACT_KNOWN || a->kind == ABSTRACT_CLOSURE || a->kind == ABSTRACT_STRING;
    if (a->kind == ABSTRACT_FAILURE || (same && ct_bulk_trace_same_shape(a, b))) return b;
    if (b->kind == ABSTRACT_FAILURE || a == b) return a;
    if (is_array(a) && is_array(b) && ct_bulk_trace_size(a) == 0 && ct_bulk_trace_size(b) == 0) return a;
    if (is_function(a) && is_function(b)) return choice_of(tr, test, a, b);
    CtBulk *left = ct_bulk_trace_term(tr, a), *right = ct_bulk_trace_term(tr, b);
    if (left != NULL && right != NULL) {
        if (left->element != right->element || !ct_bulk_shape_equal(left->shape, right->shape))
            return ct_bulk_trace_refuse(tr, range,
                                        "a branch on a number whose two results are arrays of different lengths");
        return ct_bulk_trace_named(tr, ct_bulk_cond(tr->builder, test, left, right));
    }
    if (a->kind == ABSTRACT_ROWS && b->kind == ABSTRACT_ROWS && a->as.rows.size == b->as.rows.size)
        return ct_bulk_trace_array_of(tr, a->as.rows.size,
                                      ct_bulk_trace_merge(tr, test, a->as.rows.element, b->as.rows.element, range));
    if (a->kind == ABSTRACT_GROWING && b->kind == ABSTRACT_GROWING && ct_bulk_trace_same_shape(a, b)) {
        CtAbstract *made = ct_bulk_abstract_new(tr->builder, ABSTRACT_GROWING);
        made->as.growing = a->as.growing;
        made->as.growing.all = ct_bulk_trace_merge(tr, test, a->as.growing.all, b->as.growing.all, range);
        return made;
    }
    bool structured = a->kind == ABSTRACT_TUPLE || a->kind == ABSTRACT_DATA || a->kind == ABSTRACT_LIST;
    if (!structured || a->kind != b->kind || a->as.of.con != b->as.of.con || a->as.of.count != b->as.of.count)
        return ct_bulk_trace_refuse(tr, range,
                                    "a branch on a number whose two results differ in constructor or length");
    CtAbstract *made = ct_bulk_abstract_parts(tr->builder, a->kind, a->as.of.parts, a->as.of.count, a->as.of.con);
    for (uint32_t i = 0; i < a->as.of.count; i++)
        made->as.of.parts[i] = ct_bulk_trace_merge(tr, test, a->as.of.parts[i], b->as.of.parts[i], range);
    return made;
}
