/* Universal types. Polymorphic recursion and nested data types would be specialised without end: `Perfect Double`,
 * `Perfect (Double, Double)`, … All that grows from a type is therefore represented by one data type U, its universal
 * type, whose layers are the steps of growth (types/growth.c):
 *
 *   data Perfect a = Zero a | Succ (Perfect (a, a))        data U = Base Double | (,) U U
 *
 * and the ground type (U, U) is made to be U where ground types are hash-consed. So code at the type U is finite, and
 * needs no conversions: a pair is the constructor (,) of U there. Conversions (convert.c) are needed only where code at
 * a concrete type meets code at U: where a polymorphically recursive function first calls itself at a larger type, and
 * at constructors of nested types whose argument has grown, as in `Zero (1, 2) :: Perfect (Double, Double)`. */
#include "elab/internal.h"

Universal *ct_elab_universal(CtElab *el, Ground *type) {
    return el->with_universals ? ct_map_get(&el->universals, ct_key(ct_elab_ground_head(type, NULL))) : NULL;
}

/* The universal type that a type is, without further arguments. */
static Universal *exactly(CtElab *el, Ground *type) {
    Universal *universal = ct_elab_universal(el, type);
    return universal != NULL && universal->type == type ? universal : NULL;
}

/* ---- layers ---- */

static Ground **args_of(CtElab *el, Ground *type, uint32_t count) {
    Ground **args = CT_NEW_ARRAY(el->arena, Ground *, count);
    for (uint32_t i = count; i-- > 0; type = type->fun) args[i] = type->arg;
    return args;
}

/* A step whose constructor is a variable fits every data type, but not the nested ones themselves. */
static bool head_fits(CtElab *el, const CtGrowth *step, CtTyCon *head) {
    if (step->head != NULL) return step->head == head;
    bool builtin = head == ct_types_con_array(el->types) || head == ct_types_con_fun(el->types);
    return !builtin && head->grows == NULL && !ct_map_has(&el->universals, ct_key(head));
}

/* The number of arguments that a type still takes. */
static uint32_t missing_args(Ground *type) {
    uint32_t count;
    const CtTyCon *head = ct_elab_ground_head(type, &count);
    return head->arity - count;
}

/* Whether a type has the form of a step, with holes that take as many arguments as itself. */
static bool step_fits(CtElab *el, const CtGrowth *step, CtTyCon *head, Ground *const *args, uint32_t count) {
    if (step->count != count || !head_fits(el, step, head)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (step->holes[i] && missing_args(args[i]) != head->arity - count) return false;
        if (step->args[i] != NULL && ct_elab_ground_in(el, NULL, step->args[i]) != args[i]) return false;
    }
    return true;
}

bool ct_elab_is_tuple(CtElab *el, const CtTyCon *tycon) {
    return tycon->arity > 1 && tycon == ct_types_con_tuple(el->types, tycon->arity);
}

uint32_t ct_elab_con_count(CtElab *el, const CtTyCon *tycon) {
    return ct_elab_is_tuple(el, tycon) ? 1 : tycon->con_count;
}

/* The constructors of a layer in the Core type of `type`, which is U or an application of U. */
static void layer_cons(CtElab *el, const Layer *layer, Ground *type, CtCon *cons) {
    uint32_t more, count = layer->count;
    ct_elab_ground_head(type, &more);
    Ground **args = CT_NEW_ARRAY(el->arena, Ground *, count + more);
    for (uint32_t i = 0; i < count; i++) args[i] = layer->args[i];
    for (uint32_t i = 0; i < more; i++) args[count + i] = ct_elab_ground_arg(type, i);
    if (ct_elab_is_tuple(el, layer->tycon)) {
        cons[0] = (CtCon){.name = layer->tycon->name, .count = count, .layer = layer->tycon};
        cons[0].forms = ct_elab_forms(el, layer->tycon, NULL);
        cons[0].fields = CT_NEW_ARRAY(el->arena, CtType *, count);
        for (uint32_t i = 0; i < count; i++) cons[0].fields[i] = ct_elab_core(el, args[i]);
        return;
    }
    for (uint32_t i = 0; i < layer->tycon->con_count; i++) {
        const CtDataCon *con = layer->tycon->cons[i];
        cons[i] =
            (CtCon){.name = con->name, .count = con->arity, .field_names = con->field_names, .layer = layer->tycon};
        cons[i].forms = ct_elab_forms(el, layer->tycon, con);
        cons[i].fields = CT_NEW_ARRAY(el->arena, CtType *, con->arity);
        for (uint32_t j = 0; j < con->arity; j++)
            cons[i].fields[j] = ct_elab_core(el, ct_elab_field(el, layer->tycon, args, count + more, con, j));
    }
}

static void too_many(CtElab *el, const Universal *universal, Ground *app) {
    if (el->gave_up) return;
    el->gave_up = true;
    CtText base = ct_text(el->arena), text = ct_text(el->arena);
    ct_elab_ground_print(&base, universal->base);
    ct_elab_ground_print(&text, app);
    CtDiag *diag = ct_error(el->context, CT_E0402, ct_elab_blame(el, CT_NO_RANGE),
                            "the types that grow from `%s` take too many forms", base.data);
    ct_note(el->context, diag, CT_NO_RANGE, "reached `%s`", text.data);
}

/* The layer whose first constructor has this index. */
static const Layer *layer_from(const Universal *universal, uint32_t first) {
    for (uint32_t i = 0; i < universal->layers.count; i++)
        if (universal->layers.items[i].first == first) return &universal->layers.items[i];
    return NULL;
}

/* Gives the Core types made so far the constructors of layers found since. Their fields may lead to further layers. */
static void complete(CtElab *el, Universal *universal) {
    if (universal->busy) return;
    universal->busy = true;
    for (uint32_t i = 0; i < universal->made.count && !el->gave_up; i++) {
        Ground *type = universal->made.items[i];
        CtData *data = type->core->data;
        while (data->con_count < universal->con_count && !el->gave_up) {
            const Layer layer = *layer_from(universal, data->con_count);
            uint32_t count = ct_elab_con_count(el, layer.tycon);
            CtCon *cons = CT_NEW_ARRAY(el->arena, CtCon, count);
            layer_cons(el, &layer, type, cons);
            if (!ct_core_data_add_cons(el->program, data, cons, count)) too_many(el, universal, layer.raw);
        }
    }
    universal->busy = false;
}

static void add_layer(CtElab *el, Universal *universal, Ground *app, CtTyCon *head, Ground **args, uint32_t count) {
    Layer layer = {.tycon = head, .args = args, .count = count, .raw = app, .first = universal->con_count};
    universal->con_count += ct_elab_con_count(el, head);
    el->layer_count++;
    ct_push(el->arena, &universal->layers, layer);
    ct_elab_ground_alias(el, app, universal->type);
    complete(el, universal);
}

Ground *ct_elab_as_layer(CtElab *el, Ground *app) {
    if (!el->with_universals) return NULL;
    uint32_t count, step_count;
    CtTyCon *head = ct_elab_ground_head(app, &count);
    const CtGrowth *steps = ct_types_growths(el->types, &step_count);
    Ground **args = NULL;
    for (uint32_t i = 0; i < step_count; i++) {
        if (steps[i].count != count || (steps[i].head != NULL && steps[i].head != head)) continue;
        if (args == NULL) args = args_of(el, app, count);
        Universal *universal = NULL;
        bool fits = true;
        for (uint32_t j = 0; j < count && fits; j++) {
            if (!steps[i].holes[j]) continue;
            Universal *hole = exactly(el, args[j]);
            fits = hole != NULL && (universal == NULL || universal == hole);
            universal = hole;
        }
        if (!fits || universal == NULL || !step_fits(el, &steps[i], head, args, count)) continue;
        add_layer(el, universal, app, head, args, count);
        return universal->type;
    }
    return NULL;
}

const Layer *ct_elab_layer(const Universal *universal, const CtTyCon *tycon, Ground *const *args, uint32_t count) {
    for (uint32_t i = 0; i < universal->layers.count; i++) {
        const Layer *layer = &universal->layers.items[i];
        if (layer->tycon != tycon) continue;
        if (args == NULL || (count >= layer->count && memcmp(layer->args, args, layer->count * sizeof *args) == 0))
            return layer;
    }
    return NULL;
}

/* ---- making universal types ---- */

/* Adds the layers of a step that the universal type alone determines. */
static void add_step(CtElab *el, const Universal *universal, const CtGrowth *step) {
    if (step->head == NULL) return;
    for (uint32_t i = 0; i < step->count; i++) {
        if (!step->holes[i] && step->args[i] == NULL) return;
        if (step->holes[i] && step->head->params != NULL && step->head->params[i]->arity != universal->tycon->arity)
            return;
    }
    Ground *app = ct_elab_ground_con(el, step->head);
    for (uint32_t i = 0; i < step->count; i++)
        app =
            ct_elab_ground_app(el, app, step->holes[i] ? universal->type : ct_elab_ground_in(el, NULL, step->args[i]));
}

static Universal *universal_over(CtElab *el, Ground *base) {
    Universal *universal = ct_map_get(&el->universal_over, base->id);
    if (universal != NULL) return universal;
    uint32_t applied, step_count;
    CtTyCon *head = ct_elab_ground_head(base, &applied);
    CtText name = ct_text(el->arena);
    ct_text_puts(&name, "Level ");
    ct_elab_ground_print(&name, base);
    CtTyCon *tycon = CT_NEW(el->arena, CtTyCon);
    *tycon = (CtTyCon){.name = ct_intern_text(&el->context->symbols, name.data), .arity = head->arity - applied};
    if (applied < head->arity && head->params != NULL) tycon->params = head->params + applied;
    universal = CT_NEW(el->arena, Universal);
    *universal = (Universal){.base = base, .tycon = tycon, .type = ct_elab_ground_con(el, tycon), .con_count = 1};
    ct_map_set(el->arena, &el->universals, ct_key(tycon), universal);
    ct_map_set(el->arena, &el->universal_over, base->id, universal);
    el->with_universals = true;
    const CtGrowth *steps = ct_types_growths(el->types, &step_count);
    for (uint32_t i = 0; i < step_count; i++) add_step(el, universal, &steps[i]);
    return universal;
}

Universal *ct_elab_grown(CtElab *el, Ground *type, Ground **holes) {
    uint32_t count, step_count;
    CtTyCon *head = ct_elab_ground_head(type, &count);
    const CtGrowth *steps = ct_types_growths(el->types, &step_count);
    for (uint32_t i = 0; i < step_count && count > 0; i++) {
        Ground **args = args_of(el, type, count);
        if (!step_fits(el, &steps[i], head, args, count)) continue;
        Universal *universal = NULL;
        bool fits = true;
        for (uint32_t j = 0; j < count && fits; j++) {
            if (!steps[i].holes[j]) continue;
            args[j] = ct_elab_universal_for(el, args[j]);
            Universal *hole = exactly(el, args[j]);
            fits = hole != NULL && (universal == NULL || universal == hole);
            universal = hole;
        }
        if (!fits || universal == NULL) continue;
        if (holes == NULL) return universal;
        Ground *layer = ct_elab_ground_con(el, head); /* makes it one of the layers */
        for (uint32_t j = 0; j < count; j++) layer = ct_elab_ground_app(el, layer, holes[j] = args[j]);
        return universal;
    }
    return NULL;
}

Ground *ct_elab_universal_for(CtElab *el, Ground *type) {
    if (exactly(el, type) != NULL) return type;
    Universal *universal = ct_elab_grown(el, type, NULL);
    return universal != NULL ? universal->type : universal_over(el, type)->type;
}

Ground *ct_elab_nested_arg(CtElab *el, Ground *fun, Ground *arg) {
    uint32_t index;
    const CtTyCon *head = ct_elab_ground_head(fun, &index);
    if (head->grows == NULL || index >= head->arity || !head->grows[index] || exactly(el, arg) != NULL) return arg;
    Universal *universal = ct_elab_grown(el, arg, NULL);
    return universal != NULL ? universal->type : arg;
}

CtType *ct_elab_universal_core(CtElab *el, Ground *type, Universal *universal) {
    uint32_t more;
    ct_elab_ground_head(type, &more);
    Ground *base = universal->base;
    for (uint32_t i = 0; i < more; i++) base = ct_elab_ground_app(el, base, ct_elab_ground_arg(type, i));
    CtType *inside = ct_elab_core(el, base);
    if (type->core != NULL) return type->core;
    type->core = ct_core_type_data(el->program, ct_intern_text(&el->context->symbols, "Level"), &inside, 1, false);
    type->core->data->is_universal = true;
    CtCon base_con = {.name = ct_intern_text(&el->context->symbols, "Base"), .count = 1, .fields = &inside};
    ct_core_data_set_cons(el->program, type->core->data, &base_con, 1);
    ct_push(el->arena, &universal->made, type);
    complete(el, universal);
    return type->core;
}

/* ---- forms, by which values are read ---- */

static CtTypeForm *form_of(CtElab *el, CtTy *type, CtTy *const *params, uint32_t count) {
    CtTypeForm *form = CT_NEW(el->arena, CtTypeForm);
    CtTy *head = type = ct_types_ty_resolve(type);
    for (; head->kind == TY_APP; head = ct_types_ty_resolve(head->fun)) form->count++;
    if (head->kind == TY_CON) form->head = head->con;
    for (uint32_t i = 0; i < count; i++)
        if (params[i] == head) form->index = i;
    form->args = CT_NEW_ARRAY(el->arena, CtTypeForm *, form->count);
    for (uint32_t i = form->count; i-- > 0; type = ct_types_ty_resolve(type->fun))
        form->args[i] = form_of(el, type->arg, params, count);
    return form;
}

CtTypeForm **ct_elab_forms(CtElab *el, const CtTyCon *tycon, const CtDataCon *con) {
    uint32_t steps, count = con != NULL ? con->arity : tycon->arity;
    ct_types_growths(el->types, &steps);
    if (steps == 0) return NULL;
    CtTypeForm **forms = CT_NEW_ARRAY(el->arena, CtTypeForm *, count);
    for (uint32_t i = 0; i < count; i++) {
        if (con != NULL) {
            forms[i] = form_of(el, con->fields[i], tycon->params, tycon->arity);
            continue;
        }
        forms[i] = CT_NEW(el->arena, CtTypeForm); /* of a tuple */
        forms[i]->index = i;
    }
    return forms;
}

/* The form of a closed type. */
static CtTypeForm *closed_form(CtElab *el, CtTy *type) {
    type = ct_types_ty_resolve(type);
    CtTypeForm *form = CT_NEW(el->arena, CtTypeForm);
    const Universal *universal = ct_map_get(&el->universal_over, ct_elab_ground_in(el, NULL, type)->id);
    if (universal != NULL && universal->tycon->arity == 0) form->base_of = ct_elab_core(el, universal->type);
    CtTy *head = type;
    for (; head->kind == TY_APP; head = ct_types_ty_resolve(head->fun)) form->count++;
    form->head = head->kind == TY_CON ? head->con : NULL;
    form->args = CT_NEW_ARRAY(el->arena, CtTypeForm *, form->count);
    for (uint32_t i = form->count; i-- > 0; type = ct_types_ty_resolve(type->fun))
        form->args[i] = closed_form(el, type->arg);
    return form;
}

void ct_elab_note_forms(CtElab *el, CtTy *type) {
    if (!el->with_universals) return;
    CtTy *arg, *result;
    type = ct_types_ty_resolve(type);
    if (ct_types_ty_is_fun(el->types, type, &arg, &result)) {
        ct_elab_note_forms(el, arg);
        ct_elab_note_forms(el, result);
        return;
    }
    CtType *core = ct_elab_core(el, ct_elab_ground_in(el, NULL, type));
    if (core->form == NULL) core->form = closed_form(el, type);
    for (CtTy *at = type; at->kind == TY_APP; at = ct_types_ty_resolve(at->fun)) {
        CtTyCon *con;
        uint32_t count;
        CtTy *args[2];
        if (ct_types_ty_head(at, &con, args, 2, &count) && ct_elab_is_tuple(el, con)) ct_elab_note_forms(el, at->arg);
    }
}

/* ---- types and constructors in code ---- */

Applied ct_elab_applied(CtElab *el, CtTy *type) {
    Applied applied = {.type = ct_elab_ground(el, type)};
    CtTy *head = ct_types_ty_resolve(type);
    for (; head->kind == TY_APP; head = ct_types_ty_resolve(head->fun)) applied.count++;
    if (head->kind != TY_CON) return ct_elab_applied_ground(el, applied.type);
    applied.tycon = head->con;
    applied.given = applied.kept = CT_NEW_ARRAY(el->arena, Ground *, applied.count);
    CtTy *at = ct_types_ty_resolve(type);
    for (uint32_t i = applied.count; i-- > 0; at = ct_types_ty_resolve(at->fun))
        applied.given[i] = ct_elab_ground(el, at->arg);
    if (!el->with_universals || head->con->grows == NULL) return applied;
    applied.kept = CT_NEW_ARRAY(el->arena, Ground *, applied.count);
    Ground *fun = ct_elab_ground_con(el, head->con);
    for (uint32_t i = 0; i < applied.count; i++) {
        applied.kept[i] = ct_elab_nested_arg(el, fun, applied.given[i]);
        fun = ct_elab_ground_app(el, fun, applied.kept[i]);
    }
    if (memcmp(applied.kept, applied.given, applied.count * sizeof(Ground *)) == 0) applied.kept = applied.given;
    return applied;
}

Applied ct_elab_applied_ground(CtElab *el, Ground *type) {
    Applied applied = {.type = type};
    applied.tycon = ct_elab_ground_head(type, &applied.count);
    applied.given = applied.kept = args_of(el, type, applied.count);
    return applied;
}

View ct_elab_view(CtElab *el, const Applied *applied, const CtDataCon *con) {
    CtType *core = ct_elab_core(el, applied->type);
    View view = {.count = con->arity};
    const Universal *universal = ct_elab_universal(el, applied->type);
    uint32_t first = 0;
    if (universal != NULL) {
        const Layer *layer = ct_elab_layer(universal, applied->tycon, applied->kept, applied->count);
        if (layer != NULL) first = layer->first;
    }
    view.con = &core->data->cons[first + con->tag];
    if (applied->kept != applied->given) ct_elab_view_fields(el, applied, con, &view);
    return view;
}

void ct_elab_view_fields(CtElab *el, const Applied *applied, const CtDataCon *con, View *view) {
    view->stored = CT_NEW_ARRAY(el->arena, Ground *, con->arity);
    view->given = CT_NEW_ARRAY(el->arena, Ground *, con->arity);
    for (uint32_t i = 0; i < con->arity; i++) {
        view->stored[i] = ct_elab_field(el, applied->tycon, applied->kept, applied->count, con, i);
        view->given[i] = ct_elab_field(el, applied->tycon, applied->given, applied->count, con, i);
    }
}

View ct_elab_tuple_view(CtElab *el, Ground *type, const Applied *applied) {
    CtType *core = ct_elab_core(el, type);
    const Universal *universal = ct_elab_universal(el, type);
    const Layer *layer = universal ? ct_elab_layer(universal, applied->tycon, applied->kept, applied->count) : NULL;
    return (View){&core->data->cons[layer != NULL ? layer->first : 0], applied->kept, applied->given, applied->count};
}

CtCore *ct_elab_tuple(CtElab *el, CtSourceRange range, Ground *type, CtCore **parts, uint32_t count) {
    const Universal *universal = ct_elab_universal(el, type);
    if (universal == NULL) return ct_core_tuple(el->program, range, parts, count);
    CtType *core = ct_elab_core(el, type);
    for (uint32_t i = 0; i < universal->layers.count; i++) {
        const Layer *layer = &universal->layers.items[i];
        if (layer->tycon != ct_types_con_tuple(el->types, count)) continue;
        CtCon *con = &core->data->cons[layer->first];
        bool same = true;
        for (uint32_t j = 0; j < count; j++) same = same && con->fields[j] == parts[j]->type;
        if (same) return ct_core_con(el->program, range, con, parts, count);
    }
    return ct_elab_error_term(el, range, core);
}

CtCore *ct_elab_impossible(CtElab *el, CtSourceRange range, CtType *type) {
    return ct_core_fail(el->program, range, type, CT_E0901, "a value of another type of its family", NULL);
}
