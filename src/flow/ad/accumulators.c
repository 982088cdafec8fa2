/* Accumulators: where the adjoint of each forward-sweep variable is held while the reverse sweep is written.
 *
 * An adjoint is known to be zero, without any code; or it is a value; or, for a node that is open, it is in pieces:
 * each field has an accumulator of its own, so that contributions are added where they belong (CHAD §4.2). The pieces
 * become a node when the adjoint of the whole is needed, and are taken apart again when a field is. An array that is
 * summed has a uniform adjoint: one number for all elements.
 *
 * Each scope has its own view. A branch or loop that adds to an adjoint from outside imports it: a branch starts from
 * the outer value and yields a new one, a loop carries it. Of a node that is open outside, both import single
 * fields, so that the node is not taken apart in each iteration, nor in each of nested branches. */
#include "flow/ad/reverse.h"
#include "flow/rename.h"

Scope *ct_flow_reverse_scope(Reverse *r, ScopeKind kind, CtFlowBlock *forward, CtFlowBlock *backward) {
    Scope *scope = CT_NEW(r->arena, Scope);
    scope->parent = kind == SCOPE_PATH ? NULL : r->scope;
    scope->kind = kind;
    scope->backward = backward;
    if (forward == NULL) return scope;
    ct_push(r->arena, &scope->forward, forward);
    ct_map_set(r->arena, &r->scopes, ct_key(forward), scope);
    return scope;
}

void ct_flow_reverse_enter(Reverse *r, Scope *scope) {
    r->scope = scope;
    if (scope != NULL) r->b.block = scope->backward;
}

/* ---- the view of a scope ---- */

static Acc *find(const Scope *scope, const CtFlowVar *var) { return ct_map_get(&scope->accs, var->id); }

static Acc *fresh(Reverse *r, Scope *scope, const CtFlowVar *var) {
    Acc *acc = CT_NEW(r->arena, Acc);
    ct_map_set(r->arena, &scope->accs, var->id, acc);
    return acc;
}

static Acc *find_or_fresh(Reverse *r, Scope *scope, const CtFlowVar *var) {
    Acc *acc = find(scope, var);
    return acc != NULL ? acc : fresh(r, scope, var);
}

static bool owns(const Reverse *r, const Scope *scope, const CtFlowVar *var) {
    return ct_map_get(&r->scopes, ct_key(ct_map_get(&r->owner, var->id))) == scope;
}

/* The OPEN of an active node that binds this variable as a field; or NULL. */
static CtFlowStep *opening(const Reverse *r, const CtFlowVar *var) {
    CtFlowStep *step = ct_map_get(&r->defs, var->id);
    return step != NULL && step->kind == FLOW_OPEN && ct_flow_reverse_is_active(r, step->args.items[0]) ? step : NULL;
}

static const CtFlowType *adjoint_of(const Reverse *r, const CtFlowVar *var) {
    return ct_flow_adjoint_type(r->flow, var->type);
}

static bool is_field(const Reverse *r, const CtFlowVar *var) { return var != NULL && adjoint_of(r, var) != NULL; }

static void fill(Reverse *r, Scope *scope, CtFlowVar *array, Acc *acc);
static Scope *loop_over(const Reverse *r, CtFlowArg index, const CtFlowVar *array);
static bool yields_rows(Reverse *r, const Scope *loop, CtFlowVar *array);

/* ---- whole and in pieces ---- */

static void lengths_of(Reverse *r, const CtFlowVar *array, CtFlowArg *lengths) {
    for (uint32_t i = 0; i < array->type->rank; i++)
        lengths[i] = ct_flow_reverse_need(r, ct_flow_reverse_length(r, (CtFlowVar *)array, i)); // NOLINT
}

static bool is_special(const Acc *acc) { return acc->kind == ACC_UNIFORM || acc->kind == ACC_SINGLE; }

/* An array with the adjoint of a single element; or with that added to its element. */
static CtFlowArg put_single(Reverse *r, CtSourceRange range, CtFlowArg array, const Acc *single, bool adds) {
    CtFlowArgs start = {0}, next = {0};
    CtFlowLooping loop = {0};
    if (single->if_any && CT_FIRED("accumulators.if_any")) {
        CtFlowArg count = ct_flow_dim(&r->b, range, array, 0);
        ct_push(r->arena, &start, array);
        loop = ct_flow_loop_begin(&r->b, range,
                                  ct_flow_prim_int(&r->b, range, PRIM_INT_MIN, count, ct_flow_int(&r->b, 1)), &start);
        array = loop.carried.items[0];
    }
    array = adds ? ct_flow_add_at(&r->b, range, array, &single->index, 1, single->value)
                 : ct_flow_update(&r->b, range, array, &single->index, 1, single->value);
    if (!single->if_any) return array;
    ct_push(r->arena, &next, array);
    return ct_flow_loop_end(&r->b, &loop, &next, NULL, NULL).items[0];
}

/* Turns a uniform or single-element adjoint into an array. */
static void spread(Reverse *r, Scope *scope, CtFlowVar *array, Acc *acc) {
    Scope *here = r->scope;
    ct_flow_reverse_enter(r, scope);
    if (acc->kind == ACC_SINGLE && CT_FIRED("accumulators.single_spread")) {
        Acc single = *acc;
        *acc = (Acc){.kind = ACC_NOTHING};
        fill(r, scope, array, acc);
        acc->value = put_single(r, CT_NO_RANGE, acc->value, &single, false);
        ct_flow_reverse_enter(r, here);
        return;
    }
    CT_FIRED("accumulators.uniform_spread");
    CtFlowArg length = ct_flow_reverse_need(r, ct_flow_reverse_length(r, array, 0));
    CtFlowArg all =
        ct_flow_bulk(&r->b, CT_NO_RANGE, ARRAY_REPLICATE, adjoint_of(r, array), (CtFlowArg[]){length, acc->value}, 2);
    *acc = (Acc){.kind = ACC_WHOLE, .value = all, .full = true};
    ct_flow_reverse_enter(r, here);
}

/* Turns a bag into an array. */
static void make_whole(Reverse *r, Scope *scope, const CtFlowVar *array, Acc *acc) {
    if (acc->kind != ACC_BAG) return;
    Scope *here = r->scope;
    CtFlowArg *lengths = CT_NEW_ARRAY(r->arena, CtFlowArg, array->type->rank);
    CT_FIRED("accumulators.bag_to_array");
    ct_flow_reverse_enter(r, scope);
    lengths_of(r, array, lengths);
    *acc = (Acc){.kind = ACC_WHOLE, .value = ct_flow_bag_array(&r->b, CT_NO_RANGE, acc->value, lengths)};
    ct_flow_reverse_enter(r, here);
}

/* Turns any other adjoint of an array into a bag; what is nothing stays. */
static void make_bag(Reverse *r, Scope *scope, CtFlowVar *array, Acc *acc) {
    if (acc->kind == ACC_NOTHING || acc->kind == ACC_BAG) return;
    Scope *here = r->scope;
    CtFlowArg bag;
    if (acc->kind == ACC_UNIFORM || (acc->kind == ACC_SINGLE && acc->if_any)) spread(r, scope, array, acc);
    ct_flow_reverse_enter(r, scope);
    if (acc->kind == ACC_SINGLE && CT_FIRED("accumulators.single_to_bag")) {
        bag = ct_flow_zero(&r->b, ct_flow_shared_adjoint_type(r->flow, array->type));
        bag = ct_flow_bag_add_at(&r->b, CT_NO_RANGE, bag, &acc->index, 1, acc->value);
    } else {
        CT_FIRED("accumulators.array_to_bag");
        bag = ct_flow_bag_of(&r->b, CT_NO_RANGE, acc->value, acc->full);
    }
    *acc = (Acc){.kind = ACC_BAG, .value = bag};
    ct_flow_reverse_enter(r, here);
}

static void put_together(Reverse *r, Scope *scope, CtFlowVar *node) {
    Scope *here = r->scope;
    Acc *acc = find(scope, node);
    const CtFlowStep *open = acc->pieces;
    CtFlowArgs fields = {0};
    bool any = false;
    ct_flow_reverse_enter(r, scope);
    for (uint32_t i = 0; i < open->results.count; i++) {
        CtFlowVar *var = open->results.items[i];
        if (!is_field(r, var)) continue;
        Acc *field = find_or_fresh(r, scope, var);
        if (field->kind == ACC_PIECES) put_together(r, scope, var);
        if (var->type->kind == FLOW_ARRAY) make_bag(r, scope, var, field);
        any |= field->kind != ACC_NOTHING;
        ct_push(r->arena, &fields, field->kind != ACC_NOTHING ? field->value : ct_flow_none());
    }
    acc->kind = any ? ACC_WHOLE : ACC_NOTHING;
    if (any && CT_FIRED("accumulators.put_together")) {
        const CtFlowType *type = adjoint_of(r, node);
        const CtFlowTypes *types = &type->data->cons[open->as.con.tag + 1].fields;
        for (uint32_t i = 0; i < fields.count; i++)
            if (ct_flow_is_none(fields.items[i])) fields.items[i] = ct_flow_zero(&r->b, types->items[i]);
        acc->value = ct_flow_node_make(&r->b, open->range, type, open->as.con.tag + 1, &fields);
    }
    ct_flow_reverse_enter(r, here);
}

static void take_apart(Reverse *r, Scope *scope, CtFlowVar *node, CtFlowStep *open) {
    Scope *here = r->scope;
    Acc *acc = find(scope, node);
    CtFlowArgs fields = {0};
    uint32_t next = 0;
    ct_flow_reverse_enter(r, scope);
    if (acc->kind == ACC_WHOLE) fields = ct_flow_adjoint_fields(&r->b, open->range, acc->value, open->as.con.tag);
    for (uint32_t i = 0; i < open->results.count; i++) {
        CtFlowVar *var = open->results.items[i];
        if (!is_field(r, var)) continue;
        Acc *field = find_or_fresh(r, scope, var);
        *field = (Acc){.kind = ACC_NOTHING};
        if (fields.count == 0) continue;
        AccKind kind = var->type->kind == FLOW_ARRAY ? ACC_BAG : ACC_WHOLE;
        *field = (Acc){.kind = kind, .value = fields.items[next++]};
    }
    CT_FIRED("accumulators.taken_apart");
    *acc = (Acc){.kind = ACC_PIECES, .pieces = open};
    ct_flow_reverse_enter(r, here);
}

/* ---- imports ---- */

static bool is_imported(const Imports *imports, const CtFlowVar *var) {
    for (uint32_t i = 0; imports != NULL && i < imports->count; i++)
        if (imports->items[i].var == var) return true;
    return false;
}

/* Whether a node, or the node that it is a field of, has an accumulator in a scope. */
static bool holds(const Reverse *r, const Scope *scope, const CtFlowVar *node) {
    for (;;) {
        if (find(scope, node) != NULL || owns(r, scope, node) || is_imported(scope->imports, node)) return true;
        const CtFlowStep *open = opening(r, node);
        if (open == NULL) return false;
        node = open->args.items[0].var;
    }
}

/* Whether the accumulator that a scope would see of a node, or of one that this is a field of, is in the pieces of
 * another OPEN. */
static bool is_apart_otherwise(const Reverse *r, const Scope *scope, const CtFlowStep *open) {
    for (; open != NULL; open = opening(r, open->args.items[0].var)) {
        const Acc *acc = NULL;
        for (const Scope *s = scope; s != NULL && acc == NULL; s = s->parent) acc = find(s, open->args.items[0].var);
        if (acc != NULL && acc->kind == ACC_PIECES && acc->pieces != open) return true;
    }
    return false;
}

/* Whether a field has, or would get, an accumulator of its own in a scope while its node's is outside. In a branch it
 * does, as nested branches would take apart, each of them, all nodes from the outermost to the one that they add to. */
static bool stands_alone(const Reverse *r, const Scope *scope, const CtFlowVar *field, const CtFlowStep *open) {
    if (holds(r, scope, open->args.items[0].var)) return false;
    if (find(scope, field) != NULL) return true;
    if (owns(r, scope, field)) return false;
    if (scope->kind == SCOPE_LOOP) return true;
    return scope->kind == SCOPE_BRANCH && !is_apart_otherwise(r, scope, open);
}

static Acc *import(Reverse *r, Scope *scope, CtFlowVar *var, bool elements);

/* Whether another field of a node, or of a node inside it, has been imported alone. */
static bool has_import_of(const Reverse *r, const Scope *scope, const Acc *acc) {
    for (uint32_t i = 0; i < acc->pieces->results.count; i++) {
        const CtFlowVar *var = acc->pieces->results.items[i];
        if (!is_field(r, var)) continue;
        const Acc *field = find(scope->parent, var);
        if (is_imported(scope->imports, var)) return true;
        if (field != NULL && field->kind == ACC_PIECES && has_import_of(r, scope, field)) return true;
    }
    return false;
}

/* Imports the remaining fields of a node that is in pieces outside, some of which have been imported. */
static Acc *import_pieces(Reverse *r, Scope *scope, CtFlowVar *node, const Acc *outside) {
    Acc *acc = fresh(r, scope, node);
    CT_FIRED("accumulators.import_pieces");
    *acc = (Acc){.kind = ACC_PIECES, .pieces = outside->pieces};
    for (uint32_t i = 0; i < outside->pieces->results.count; i++) {
        CtFlowVar *var = outside->pieces->results.items[i];
        if (!is_field(r, var) || find(scope, var) != NULL) continue;
        const Acc *field = find(scope->parent, var);
        if (field != NULL && field->kind == ACC_PIECES && CT_FIRED("accumulators.import_pieces_of_field"))
            import_pieces(r, scope, var, field);
        else
            import(r, scope, var, false);
    }
    return acc;
}

static const CtFlowType *handed_type(const Reverse *r, const Import *item) {
    return ct_flow_reverse_handed_type(r->flow, item->var->type, item->is_bag ? ACTIVE_SHARED : ACTIVE_OWN);
}

/* The adjoint of an array that was read as an element, while nothing has been added to it: it begins as what the
 * element's place in the accumulator of the array around holds, where a zero is left. When it is added there in the
 * end, it is only put back. It would be a new array otherwise, in each iteration of the loops that read the element
 * again. */
static void take_element(Reverse *r, Scope *scope, CtFlowVar *var, Acc *acc) {
    const CtFlowStep *def = ct_map_get(&r->defs, var->id);
    if (acc->kind != ACC_NOTHING || !owns(r, scope, var) || def == NULL || def->kind != FLOW_READ) return;
    CtFlowArg around = def->args.items[0];
    uint32_t count = def->args.count - 1;
    if (around.type->rank != count || !ct_flow_reverse_is_active(r, around)) return;
    const Scope *loop = loop_over(r, def->args.items[1], around.var);
    if (loop != NULL && yields_rows(r, loop, around.var)) return;
    Acc *all = ct_flow_reverse_acc(r, scope, around.var, true);
    if (all->kind != ACC_BAG && !all->full) return;
    CT_FIRED("accumulators.element_taken");
    CtFlowArg *indices = CT_NEW_ARRAY(r->arena, CtFlowArg, count), bag;
    for (uint32_t i = 0; i < count; i++) indices[i] = ct_flow_reverse_need(r, def->args.items[1 + i]);
    if (all->kind == ACC_BAG) {
        bag = ct_flow_bag_take(&r->b, def->range, &all->value, indices, count);
    } else {
        bag = ct_flow_read(&r->b, def->range, all->value, indices, count);
        all->value = ct_flow_update(&r->b, def->range, all->value, indices, count, ct_flow_zero(&r->b, bag.type));
    }
    *acc = (Acc){.kind = ACC_BAG, .value = bag};
}

/* In front of a loop that adds to elements of a shared array: its bag gets an array inside if iterations are many. */
static void prepare(Reverse *r, const Scope *loop, CtFlowVar *array, Acc *acc) {
    Scope *here = r->scope, *outside = loop->parent;
    CtFlowArg *lengths = CT_NEW_ARRAY(r->arena, CtFlowArg, array->type->rank);
    make_bag(r, outside, array, acc);
    ct_flow_reverse_enter(r, outside);
    take_element(r, outside, array, acc);
    if (acc->kind == ACC_NOTHING) acc->value = ct_flow_zero(&r->b, ct_flow_shared_adjoint_type(r->flow, array->type));
    lengths_of(r, array, lengths);
    CtFlowArg count = ct_flow_reverse_need(r, loop->step->args.items[0]);
    *acc = (Acc){.kind = ACC_BAG, .value = ct_flow_bag_for(&r->b, CT_NO_RANGE, acc->value, count, lengths)};
    ct_flow_reverse_enter(r, here);
}

static Acc *import(Reverse *r, Scope *scope, CtFlowVar *var, bool elements) {
    Scope *parent = scope->parent;
    Acc *outside = ct_flow_reverse_acc(r, parent, var, elements);
    if (outside->kind == ACC_PIECES) {
        if (has_import_of(r, scope, outside)) return import_pieces(r, scope, var, outside);
        put_together(r, parent, var);
    }
    bool is_bag = ct_flow_reverse_is_shared(r, var);
    if (scope->kind == SCOPE_BRANCH && CT_FIRED("accumulators.import_into_branch")) {
        is_bag ? make_bag(r, parent, var, outside) : make_whole(r, parent, var, outside);
        if (!is_imported(scope->imports, var))
            ct_push(r->arena, scope->imports, (Import){.var = var, .is_bag = is_bag});
        Acc *acc = fresh(r, scope, var);
        *acc = *outside;
        return acc;
    }
    CT_FIRED("accumulators.import_into_loop");
    is_bag = is_bag && !(elements && ct_flow_reverse_same_length(r, scope->step, var));
    if (elements) is_bag ? prepare(r, scope, var, outside) : fill(r, parent, var, outside);
    Import item = {.var = var, .is_bag = is_bag, .full = !is_bag && outside->full};
    item.param = ct_flow_var(&r->b, var->name, handed_type(r, &item));
    ct_push(r->arena, scope->imports, item);
    Acc *acc = fresh(r, scope, var);
    *acc = (Acc){.kind = is_bag ? ACC_BAG : ACC_WHOLE, .value = flow_of(item.param), .full = item.full};
    return acc;
}

/* The accumulator of a variable in a scope, imported if necessary. With `elements` it is an array that single elements
 * are added to, and it is filled before a loop. */
static Acc *see(Reverse *r, Scope *scope, CtFlowVar *var, bool elements) {
    CtFlowStep *open = opening(r, var);
    if (open != NULL) {
        CtFlowVar *node = open->args.items[0].var;
        if (stands_alone(r, scope, var, open)) {
            Acc *alone = find(scope, var);
            CT_FIRED("accumulators.field_alone");
            return alone != NULL ? alone : import(r, scope, var, elements);
        }
        Acc *whole = ct_flow_reverse_acc(r, scope, node, false);
        if (whole->kind == ACC_PIECES && whole->pieces != open) put_together(r, scope, node);
        if (whole->kind != ACC_PIECES) take_apart(r, scope, node, open);
        return find_or_fresh(r, scope, var);
    }
    Acc *acc = find(scope, var);
    if (acc != NULL) return acc;
    return owns(r, scope, var) ? fresh(r, scope, var) : import(r, scope, var, elements);
}

Acc *ct_flow_reverse_acc(Reverse *r, Scope *scope, CtFlowVar *var, bool elements) {
    Acc *acc = see(r, scope, var, elements);
    if (is_special(acc)) spread(r, scope, var, acc);
    return acc;
}

static Acc *whole_acc(Reverse *r, CtFlowVar *var, bool elements) {
    Acc *acc = ct_flow_reverse_acc(r, r->scope, var, elements);
    if (acc->kind == ACC_PIECES) put_together(r, r->scope, var);
    return acc;
}

CtFlowArg ct_flow_reverse_given(Reverse *r, Scope *outside, const Import *item) {
    Acc *acc = ct_flow_reverse_acc(r, outside, item->var, false);
    /* in the meantime something may have been given to a field of the node */
    if (acc->kind == ACC_PIECES) put_together(r, outside, item->var);
    item->is_bag ? make_bag(r, outside, item->var, acc) : make_whole(r, outside, item->var, acc);
    return acc->kind != ACC_NOTHING ? acc->value : ct_flow_zero(&r->b, handed_type(r, item));
}

CtFlowArg ct_flow_reverse_export(Reverse *r, Scope *scope, const Import *item) {
    Acc *acc = find(scope, item->var);
    CtFlowStep *open = opening(r, item->var);
    bool inside = open != NULL && find(scope, open->args.items[0].var) != NULL;
    ct_flow_reverse_enter(r, scope);
    if (acc == NULL && !inside) { /* in a branch that added nothing: its accumulator is as import left it */
        acc = find(scope->parent, item->var);
        if (acc->kind == ACC_PIECES) put_together(r, scope->parent, item->var);
        return acc->kind != ACC_NOTHING ? acc->value : ct_flow_zero(&r->b, handed_type(r, item));
    }
    if (inside) acc = ct_flow_reverse_acc(r, scope, item->var, false);
    if (acc->kind == ACC_PIECES) put_together(r, scope, item->var);
    if (is_special(acc)) spread(r, scope, item->var, acc);
    item->is_bag ? make_bag(r, scope, item->var, acc) : make_whole(r, scope, item->var, acc);
    return acc->kind != ACC_NOTHING ? acc->value : ct_flow_zero(&r->b, handed_type(r, item));
}

void ct_flow_reverse_imported(Reverse *r, Scope *outside, const Import *item, CtFlowArg result) {
    *ct_flow_reverse_acc(r, outside, item->var, false) =
        (Acc){.kind = item->is_bag ? ACC_BAG : ACC_WHOLE, .value = result, .full = item->full};
}

/* ---- giving and taking ---- */

CtFlowArg ct_flow_reverse_zero(Reverse *r, CtFlowArg of) {
    return ct_flow_zero(&r->b, ct_flow_adjoint_type(r->flow, of.type));
}

CtFlowArg ct_flow_reverse_take_any(Reverse *r, CtFlowArg of, bool *full) {
    if (full != NULL) *full = false;
    if (!ct_flow_reverse_is_active(r, of)) return ct_flow_none();
    Acc *acc = whole_acc(r, of.var, false);
    if (acc->kind == ACC_NOTHING) return ct_flow_none();
    CtFlowArg value = acc->value;
    if (full != NULL) *full = acc->full;
    *acc = (Acc){.kind = ACC_NOTHING};
    return value;
}

CtFlowArg ct_flow_reverse_take_as(Reverse *r, CtFlowArg of, const CtFlowType *type, bool *full) {
    if (ct_flow_reverse_is_active(r, of) && of.type->kind == FLOW_ARRAY) {
        Acc *acc = whole_acc(r, of.var, false);
        type->kind == FLOW_ARRAY ? make_whole(r, r->scope, of.var, acc) : make_bag(r, r->scope, of.var, acc);
    }
    return ct_flow_reverse_take_any(r, of, full);
}

CtFlowArg ct_flow_reverse_take(Reverse *r, CtFlowArg of, bool *full) {
    return ct_flow_reverse_take_as(r, of, of.type, full);
}

/* Adds a bag to the accumulator of an array. */
static void give_bag(Reverse *r, CtSourceRange range, CtFlowVar *to, Acc *acc, CtFlowArg bag) {
    if (acc->full && CT_FIRED("accumulators.bag_into_array")) {
        acc->value = ct_flow_bag_collect(&r->b, range, acc->value, bag);
        return;
    }
    make_bag(r, r->scope, to, acc);
    if (acc->kind == ACC_BAG && CT_FIRED("accumulators.bags_added"))
        bag = ct_flow_bag_add(&r->b, range, acc->value, bag);
    *acc = (Acc){.kind = ACC_BAG, .value = bag};
}

void ct_flow_reverse_give(Reverse *r, CtSourceRange range, CtFlowArg to, CtFlowArg adjoint, bool full) {
    if (!ct_flow_reverse_is_active(r, to) || ct_flow_is_none(adjoint)) return;
    const Acc *single = full ? ct_flow_reverse_take_special(r, to.var, ACC_SINGLE) : NULL;
    if (single != NULL && CT_FIRED("accumulators.single_into_full"))
        adjoint = put_single(r, range, adjoint, single, true);
    Acc *acc = whole_acc(r, to.var, false);
    if (to.type->kind == FLOW_ARRAY && adjoint.type->kind == FLOW_NODE)
        give_bag(r, range, to.var, acc, adjoint);
    else if (acc->kind == ACC_BAG && full && CT_FIRED("accumulators.array_into_bag"))
        *acc = (Acc){.kind = ACC_WHOLE, .value = ct_flow_bag_collect(&r->b, range, adjoint, acc->value), .full = true};
    else if (acc->kind == ACC_BAG)
        give_bag(r, range, to.var, acc, ct_flow_bag_of(&r->b, range, adjoint, false));
    else if (acc->kind == ACC_NOTHING)
        *acc = (Acc){.kind = ACC_WHOLE, .value = adjoint, .full = full};
    else
        *acc = (Acc){
            .kind = ACC_WHOLE, .value = ct_flow_add(&r->b, range, acc->value, adjoint), .full = acc->full || full};
}

/* ---- elements ---- */

enum { MOST_BEYOND = 16 }; /* how far beyond the loop's index an element may be */

void ct_flow_reverse_give_uniform(Reverse *r, CtSourceRange range, CtFlowArg to, CtFlowArg adjoint) {
    Acc *acc = ct_flow_reverse_acc(r, r->scope, to.var, true);
    if (acc->kind == ACC_NOTHING) {
        *acc = (Acc){.kind = ACC_UNIFORM, .value = adjoint};
        CT_FIRED("accumulators.uniform");
        return;
    }
    CT_FIRED("accumulators.uniform_added");
    CtFlowArgs start = {0}, next = {0};
    ct_push(r->arena, &start, ct_flow_reverse_borrow(r, range, to));
    CtFlowLooping loop =
        ct_flow_loop_begin(&r->b, range, ct_flow_reverse_need(r, ct_flow_reverse_length(r, to.var, 0)), &start);
    ct_push(r->arena, &next, ct_flow_add_at(&r->b, range, loop.carried.items[0], &loop.index, 1, adjoint));
    ct_flow_reverse_put(r, to, ct_flow_loop_end(&r->b, &loop, &next, NULL, NULL).items[0]);
}

void ct_flow_reverse_give_single(Reverse *r, CtSourceRange range, CtFlowArg to, CtFlowArg index, CtFlowArg adjoint) {
    Acc *acc = ct_flow_reverse_acc(r, r->scope, to.var, true);
    if (acc->kind == ACC_NOTHING) {
        *acc = (Acc){.kind = ACC_SINGLE, .value = adjoint, .index = index};
        CT_FIRED("accumulators.single");
        return;
    }
    CT_FIRED("accumulators.single_added");
    ct_flow_reverse_put(r, to, ct_flow_add_at(&r->b, range, ct_flow_reverse_borrow(r, range, to), &index, 1, adjoint));
}

bool ct_flow_reverse_is_untouched(const Reverse *r, const CtFlowVar *of) {
    /* what has been given to a field may be in the accumulator of its node */
    if (opening(r, of) != NULL) return false;
    const Acc *acc = find(r->scope, of);
    return acc == NULL ? owns(r, r->scope, of) : acc->kind == ACC_NOTHING;
}

void ct_flow_reverse_give_if_any(Reverse *r, CtFlowArg to, CtFlowArg index, CtFlowArg adjoint) {
    Acc *acc = ct_flow_reverse_acc(r, r->scope, to.var, true);
    *acc = (Acc){.kind = ACC_SINGLE, .value = adjoint, .index = index, .if_any = true};
}

const Acc *ct_flow_reverse_take_special(Reverse *r, const CtFlowVar *of, AccKind kind) {
    if (!ct_flow_reverse_has(r, of, kind)) return NULL;
    Acc *acc = find(r->scope, of), *taken = CT_NEW(r->arena, Acc);
    *taken = *acc;
    acc->kind = ACC_NOTHING;
    return taken;
}

bool ct_flow_reverse_has(const Reverse *r, const CtFlowVar *of, AccKind kind) {
    const Acc *acc = find(r->scope, of);
    return acc == NULL ? kind == ACC_NOTHING : acc->kind == kind;
}

CtFlowArg ct_flow_reverse_filled(Reverse *r, CtSourceRange range, CtFlowVar *x, CtFlowArg adjoint) {
    CtFlowArg *lengths = CT_NEW_ARRAY(r->arena, CtFlowArg, x->type->rank);
    lengths_of(r, x, lengths);
    return ct_flow_filled(&r->b, range, adjoint, lengths);
}

static void fill(Reverse *r, Scope *scope, CtFlowVar *array, Acc *acc) {
    if (acc->full) return;
    Scope *here = r->scope;
    make_whole(r, scope, array, acc);
    ct_flow_reverse_enter(r, scope);
    CtFlowArg *lengths = CT_NEW_ARRAY(r->arena, CtFlowArg, array->type->rank);
    if (acc->kind == ACC_WHOLE) {
        acc->value = ct_flow_reverse_filled(r, CT_NO_RANGE, array, acc->value);
    } else {
        lengths_of(r, array, lengths);
        acc->value = ct_flow_zeros(&r->b, CT_NO_RANGE, adjoint_of(r, array), lengths);
    }
    acc->kind = ACC_WHOLE;
    acc->full = true;
    ct_flow_reverse_enter(r, here);
}

CtFlowArg ct_flow_reverse_borrow(Reverse *r, CtSourceRange range, CtFlowArg x) {
    (void)range;
    Acc *acc = whole_acc(r, x.var, true);
    fill(r, r->scope, x.var, acc);
    return acc->value;
}

void ct_flow_reverse_put(Reverse *r, CtFlowArg x, CtFlowArg adjoint) {
    Acc *acc = whole_acc(r, x.var, true);
    *acc = (Acc){.kind = ACC_WHOLE, .value = adjoint, .full = true};
}

bool ct_flow_reverse_is_outside_loop(const Reverse *r, const Scope *scope, const CtFlowVar *var) {
    for (; scope != NULL && !owns(r, scope, var); scope = scope->parent)
        if (scope->kind == SCOPE_LOOP) return true;
    return false;
}

/* The enclosing loop with this index, if the array comes from outside of the loop. */
static Scope *loop_over(const Reverse *r, CtFlowArg index, const CtFlowVar *array) {
    bool outside = true;
    for (Scope *s = r->scope; s != NULL; s = s->parent) {
        outside &= !owns(r, s, array);
        if (s->kind != SCOPE_LOOP) continue;
        if (index.var == s->step->as.loop.block->params.items[0]) return outside ? s : NULL;
    }
    return NULL;
}

/* Whether the loop will probably yield the contributions to an array's rows as an array; only then they get an
 * accumulator of their own. */
static bool yields_rows(Reverse *r, const Scope *loop, CtFlowVar *array) {
    return !ct_flow_reverse_is_outside_loop(r, loop->parent, array) && find(loop, array) == NULL &&
           ct_flow_reverse_same_length(r, loop->step, array);
}

/* Whether the array has an element for each iteration of the loop. If the element is only read in a branch or an inner
 * loop, whose check covers it, there may be iterations without one. */
static bool is_read_in_all_iterations(Reverse *r, const Scope *loop, CtFlowVar *array) {
    return r->scope == loop || ct_flow_reverse_same_length(r, loop->step, array);
}

/* The variable that accumulates the adjoint of an element or row. Inside an inner loop, the elements of such a row can
 * have variables of their own in turn. */
static CtFlowVar *element_of(Reverse *r, Scope *loop, CtFlowVar *array, int64_t by) {
    for (uint32_t i = 0; i < loop->elements.count; i++)
        if (loop->elements.items[i].array == array && loop->elements.items[i].by == by)
            return loop->elements.items[i].item;
    const CtFlowType *type = ct_flow_row_type(r->flow, array->type, 1);
    CtFlowVar *item = ct_flow_reverse_forward_var(r, array->name, type, loop->step->as.loop.block, NULL);
    ct_map_set(r->arena, &r->rows, item->id, array);
    while (r->active.count <= item->id) ct_push(r->arena, &r->active, ACTIVE_NOT);
    bool is_name = array->type->rank == 1 && type->kind == FLOW_ARRAY;
    r->active.items[item->id] = is_name ? ACTIVE_SHARED : ACTIVE_OWN;
    ct_push(r->arena, &loop->elements, (Element){array, item, by});
    return item;
}

/* How much greater than the index of this loop an index is, if that is a small literal; else 0. */
static int64_t beyond(const Reverse *r, const Scope *loop, CtFlowArg index) {
    const CtFlowStep *sum = index.var == NULL ? NULL : ct_map_get(&r->defs, index.var->id);
    if (sum == NULL || sum->kind != FLOW_PRIM) return 0;
    bool back = sum->as.prim == PRIM_INT_SUB;
    if (!back && sum->as.prim != PRIM_INT_ADD) return 0;
    CtFlowArg a = sum->args.items[0], b = sum->args.items[1];
    CtFlowArg by = a.var == NULL && !back ? a : b, of = a.var == NULL && !back ? b : a;
    if (by.var != NULL || of.var != loop->step->as.loop.block->params.items[0]) return 0;
    bool small = by.lit.integer >= -MOST_BEYOND && by.lit.integer <= MOST_BEYOND;
    return !small ? 0 : back ? -by.lit.integer : by.lit.integer;
}

/* x[i + by] of a vector, read in an iteration of a map, or in a branch there: the reverse loop yields its adjoint. */
static bool give_beyond(Reverse *r, CtSourceRange range, CtFlowArg x, CtFlowArg index, CtFlowArg adjoint) {
    Scope *loop = r->scope;
    bool outside = true;
    for (; loop->kind == SCOPE_BRANCH; loop = loop->parent) outside &= !owns(r, loop, x.var);
    if (loop->kind != SCOPE_LOOP || !loop->is_map || !outside || owns(r, loop, x.var)) return false;
    if (x.type->rank != 1 || ct_flow_is_object(x.type->element) || ct_flow_reverse_is_shared(r, x.var)) return false;
    int64_t by = beyond(r, loop, index);
    if (by == 0 || ct_flow_reverse_is_outside_loop(r, loop->parent, x.var)) return false;
    CT_FIRED("accumulators.beyond");
    ct_flow_reverse_give(r, range, flow_of(element_of(r, loop, x.var, by)), adjoint, false);
    return true;
}

/* The adjoint of a row as a bag. */
static CtFlowArg bag_of_row(Reverse *r, CtSourceRange range, CtFlowArg x, uint32_t count, CtFlowArg adjoint) {
    if (x.type->rank == count || adjoint.type->kind != FLOW_ARRAY) return adjoint;
    return ct_flow_bag_of(&r->b, range, adjoint, false);
}

void ct_flow_reverse_add_at(Reverse *r, CtSourceRange range, CtFlowArg x, const CtFlowArg *indices, uint32_t count,
                            CtFlowArg adjoint) {
    Acc *acc = whole_acc(r, x.var, true);
    if (ct_flow_reverse_is_shared(r, x.var) && !acc->full && CT_FIRED("accumulators.one")) {
        make_bag(r, r->scope, x.var, acc);
        CtFlowArg bag =
            acc->kind == ACC_BAG ? acc->value : ct_flow_zero(&r->b, ct_flow_shared_adjoint_type(r->flow, x.type));
        adjoint = bag_of_row(r, range, x, count, adjoint);
        *acc = (Acc){.kind = ACC_BAG, .value = ct_flow_bag_add_at(&r->b, range, bag, indices, count, adjoint)};
        return;
    }
    ct_flow_reverse_put(r, x,
                        ct_flow_add_at(&r->b, range, ct_flow_reverse_borrow(r, range, x), indices, count, adjoint));
}

CtFlowArg ct_flow_reverse_borrow_bag(Reverse *r, CtFlowArg x, CtFlowArg times) {
    CtFlowArg *lengths = CT_NEW_ARRAY(r->arena, CtFlowArg, x.type->rank);
    CtFlowArg bag = ct_flow_reverse_take_as(r, x, ct_flow_shared_adjoint_type(r->flow, x.type), NULL);
    if (ct_flow_is_none(bag)) bag = ct_flow_zero(&r->b, ct_flow_shared_adjoint_type(r->flow, x.type));
    lengths_of(r, x.var, lengths);
    return ct_flow_bag_for(&r->b, CT_NO_RANGE, bag, times, lengths);
}

/* Whether a test that holds, or does not, says that a variable, an index, has this value. */
static bool says(const CtFlowStep *test, bool holds, const CtFlowVar *of, CtFlowArg value) {
    CtFlowArg a = test->args.items[0], b = test->args.items[1];
    if (ct_flow_is_prim(test, PRIM_INT_EQ))
        return holds && ((a.var == of && ct_flow_same(&b, &value)) || (b.var == of && ct_flow_same(&a, &value)));
    bool less = ct_flow_is_prim(test, PRIM_INT_LT);
    if (!ct_flow_is_int(&value, 0) || (!less && !ct_flow_is_prim(test, PRIM_INT_LE))) return false;
    return holds ? a.var == of && ct_flow_is_int(&b, less ? 1 : 0) : b.var == of && ct_flow_is_int(&a, less ? 0 : 1);
}

/* The index of the loop, in a branch that is for one iteration alone, whose index is this literal or variable. */
static CtFlowArg loop_index(const Reverse *r, CtFlowArg index) {
    const Scope *loop = r->scope;
    while (loop->kind == SCOPE_BRANCH) loop = loop->parent;
    for (const Scope *s = r->scope; loop->kind == SCOPE_LOOP && s != loop; s = s->parent) {
        const CtFlowVar *of = loop->step->as.loop.block->params.items[0], *on = s->step->args.items[0].var;
        const CtFlowStep *test = on == NULL ? NULL : ct_map_get(&r->defs, on->id);
        const CtFlowBranch *branches = s->step->as.cases.branches;
        if (test == NULL || test->kind != FLOW_PRIM || test->args.count != 2 || s->step->as.cases.count != 2) continue;
        uint32_t which = s->forward.items[0] == branches[0].block ? 0 : 1;
        bool holds = (branches[0].tag == 1) == (which == 0);
        if (says(test, holds, of, index) && CT_FIRED("accumulators.loop_index"))
            return flow_of((CtFlowVar *)of); // NOLINT
    }
    return index;
}

void ct_flow_reverse_give_at(Reverse *r, CtSourceRange range, CtFlowArg x, const CtFlowArg *indices, uint32_t count,
                             CtFlowArg adjoint) {
    if (!ct_flow_reverse_is_active(r, x)) return;
    CtFlowArg first = loop_index(r, indices[0]);
    if (count == 1 && first.var != indices[0].var) {
        ct_flow_reverse_give_at(r, range, x, &first, 1, adjoint);
        return;
    }
    const CtFlowStep *def = ct_map_get(&r->defs, x.var->id);
    if (def != NULL && def->kind == FLOW_READ && def->args.items[0].type->rank > def->args.count - 1) {
        uint32_t outer = def->args.count - 1;
        CtFlowArg *all = CT_NEW_ARRAY(r->arena, CtFlowArg, outer + count);
        for (uint32_t i = 0; i < outer; i++) all[i] = def->args.items[1 + i];
        for (uint32_t i = 0; i < count; i++) all[outer + i] = indices[i];
        ct_flow_reverse_give_at(r, range, def->args.items[0], all, outer + count, adjoint);
        return;
    }
    Scope *loop = loop_over(r, indices[0], x.var);
    if (loop != NULL && is_read_in_all_iterations(r, loop, x.var) &&
        (x.type->rank == 1 || yields_rows(r, loop, x.var))) {
        CtFlowArg item = flow_of(element_of(r, loop, x.var, 0));
        if (count == 1)
            ct_flow_reverse_give(r, range, item, adjoint, false);
        else
            ct_flow_reverse_give_at(r, range, item, indices + 1, count - 1, adjoint);
        return;
    }
    if (count == 1 && give_beyond(r, range, x, indices[0], adjoint)) return;
    CtFlowArg *needed = CT_NEW_ARRAY(r->arena, CtFlowArg, count);
    for (uint32_t i = 0; i < count; i++) needed[i] = ct_flow_reverse_need(r, indices[i]);
    ct_flow_reverse_add_at(r, range, x, needed, count, adjoint);
}
