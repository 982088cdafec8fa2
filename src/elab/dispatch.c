/* Methods of classes at a universal type. Which instance is meant depends on the value: that of the base, or that of a
 * layer. So the method takes a case on an argument of this type, and calls the method of the instance that belongs to
 * its constructor. A method without such an argument, like `fromInteger` or `mempty`, cannot tell; only where all
 * instances leave it to the class's default, that is used. */
#include "elab/internal.h"

/* Whether a type is the variable, or an application of it. */
static bool is_of(CtTy *type, const CtTy *var) {
    type = ct_types_ty_resolve(type);
    while (type->kind == TY_APP) type = ct_types_ty_resolve(type->fun);
    return type == var;
}

/* Whether a type is that of lists of the variable. */
static bool is_list_of(CtElab *el, CtTy *type, const CtTy *var) {
    CtTyCon *con;
    CtTy *element;
    uint32_t count;
    return ct_types_ty_head(type, &con, &element, 1, &count) && count == 1 && con == ct_types_con_list(el->types) &&
           is_of(element, var);
}

/* The number of parameters of a method up to the first whose type is the class's or, with `lists`, that of lists of it;
 * 0 when there is none. */
static uint32_t deciding_params(CtElab *el, const CtEntity *method, bool lists) {
    CtTy *type = method->scheme.type, *arg;
    const CtTy *var = method->scheme.generics[0];
    for (uint32_t i = 1; ct_types_ty_is_fun(el->types, type, &arg, &type); i++)
        if (lists ? is_list_of(el, arg, var) : is_of(arg, var)) return i;
    return 0;
}

static CtInstance *instance_at(const CtEntity *method, const CtTyCon *tycon) {
    return ct_types_instance_find(method->class_, tycon);
}

static bool all_default(const CtEntity *method, const Universal *universal) {
    const CtInstance *instance = instance_at(method, ct_elab_ground_head(universal->base, NULL));
    if (method->class_->defaults[method->method] == NULL) return false;
    if (instance != NULL && instance->methods != NULL && instance->methods[method->method] != NULL) return false;
    for (uint32_t i = 0; i < universal->layers.count; i++) {
        instance = instance_at(method, universal->layers.items[i].tycon);
        if (instance != NULL && instance->methods != NULL && instance->methods[method->method] != NULL) return false;
    }
    return true;
}

enum { MOST_CONTEXTS = 20 }; /* nested contexts that are followed */

/* Whether the context of an instance holds at these arguments. A layer may have been made elsewhere in the program, of
 * types that are not of the class: no value of it comes here. */
static bool context_holds(CtElab *el, const CtInstance *instance, Ground *const *args, uint32_t count, int depth) {
    for (uint32_t i = 0; i < instance->generic_count && i < count && depth < MOST_CONTEXTS; i++)
        for (const CtPred *pred = instance->generics[i]->preds; pred != NULL; pred = pred->next) {
            const Universal *universal = ct_elab_universal(el, args[i]);
            Applied applied = ct_elab_applied_ground(el, universal != NULL ? universal->base : args[i]);
            const CtInstance *inner = ct_types_instance_find(pred->class_, applied.tycon);
            if (inner == NULL || !context_holds(el, inner, applied.kept, applied.count, depth + 1)) return false;
        }
    return true;
}

static Ground *type_at(CtElab *el, const CtEntity *method, Ground **types) {
    TyEnv env = {.generics = method->scheme.generics, .types = types, .count = method->scheme.count};
    return ct_elab_ground_in(el, &env, method->scheme.type);
}

static void no_level(CtElab *el, const CtEntity *method, const Universal *universal, CtSourceRange range) {
    CtText text = ct_text(el->arena);
    ct_elab_ground_print(&text, universal->base);
    CtDiag *diag = ct_error(el->context, CT_E0316, ct_elab_blame(el, range),
                            "`%s` is used at a type that grows from `%s`, and has no argument of this type",
                            method->name->text, text.data);
    ct_help(
        el->context, diag,
        "its instance is chosen by an argument there: pass the value that `%s` gives as an argument of the function",
        method->name->text);
}

Callee ct_elab_dispatch(CtElab *el, CtEntity *method, Ground **types, CtSourceRange range) {
    Ground *type = type_at(el, method, types);
    const Universal *universal = ct_elab_universal(el, types[0]);
    uint32_t arity = deciding_params(el, method, false);
    if (arity == 0 && all_default(method, universal)) return ct_elab_default_callee(el, method, types, range);
    if (arity == 0) arity = deciding_params(el, method, true);
    if (arity == 0) {
        no_level(el, method, universal, range);
        return ct_elab_error_callee(el, range, type);
    }
    Spec *spec = ct_elab_spec_method(el, method, types, type, arity, range);
    return (Callee){.kind = CALLEE_GLOBAL, .type = type, .arity = arity, .spec = spec};
}

/* ---- the code ---- */

typedef struct Method {
    CtElab *el;
    Spec *spec;
    CtVar **params;
    CtVar *decides; /* the value whose constructor selects the instance */
    Universal *universal;
    CT_VEC(CtCase) cases;
} Method;

/* The method of an instance, or of the base's type, called with the parameters. */
static CtCore *call_with_params(Method *m, Callee *callee) {
    CtElab *el = m->el;
    CtSourceRange range = m->spec->blame;
    CtCore **args = CT_NEW_ARRAY(el->arena, CtCore *, m->spec->arity);
    for (uint32_t i = 0; i < m->spec->arity; i++) args[i] = ct_core_var(el->program, range, m->params[i]);
    ct_elab_callee_as(el, callee, m->spec->type, range);
    return ct_elab_call(el, range, callee, args, m->spec->arity);
}

static Ground **types_with(Method *m, Ground *first) {
    Ground **types = CT_NEW_ARRAY(m->el->arena, Ground *, m->spec->count);
    memcpy(types, m->spec->types, m->spec->count * sizeof *types);
    types[0] = first;
    return types;
}

static void add_base(Method *m) {
    CtElab *el = m->el;
    CtInstance *instance = instance_at(m->spec->entity, ct_elab_ground_head(m->universal->base, NULL));
    Applied base = ct_elab_applied_ground(el, m->universal->base);
    if (instance == NULL || !context_holds(el, instance, base.kept, base.count, 0)) return;
    Callee callee =
        ct_elab_callee_at(el, m->spec->entity, types_with(m, m->universal->base), m->spec->count, m->spec->blame);
    CtCon *con = &m->decides->type->data->cons[0];
    ct_push(el->arena, &m->cases, ((CtCase){con, CT_NEW_ARRAY(el->arena, CtVar *, 1), call_with_params(m, &callee)}));
}

static void add_layer(Method *m, const Layer *layer) {
    CtElab *el = m->el;
    CtInstance *instance = instance_at(m->spec->entity, layer->tycon);
    if (instance == NULL || !context_holds(el, instance, layer->args, layer->count, 0)) return;
    uint32_t con_count = ct_elab_con_count(el, layer->tycon);
    for (uint32_t i = 0; i < con_count; i++) {
        Callee callee = ct_elab_instance_callee(el, m->spec->entity, instance, layer->args, layer->count,
                                                m->spec->types, layer->raw, m->spec->blame);
        CtCon *con = &m->decides->type->data->cons[layer->first + i];
        CtVar **vars = CT_NEW_ARRAY(el->arena, CtVar *, con->count);
        ct_push(el->arena, &m->cases, ((CtCase){con, vars, call_with_params(m, &callee)}));
    }
}

static CtCore *by_constructor(Method *m, CtType *result) {
    CtElab *el = m->el;
    CtSourceRange range = m->spec->blame;
    add_base(m);
    for (uint32_t i = 0; i < m->universal->layers.count; i++) add_layer(m, &m->universal->layers.items[i]);
    bool all = m->cases.count == m->decides->type->data->con_count;
    CtCore *otherwise = all ? NULL : ct_elab_impossible(el, range, result);
    CtCore *value = ct_core_var(el->program, range, m->decides);
    return ct_core_case(el->program, range, result, value, m->cases.items, m->cases.count, otherwise);
}

/* The first element of a list decides. An empty list cannot: whether it is shown as [] or as "" depends on its type. */
static CtCore *by_first_element(Method *m, CtVar *list, Ground *type, CtType *result) {
    CtElab *el = m->el;
    CtProgram *p = el->program;
    CtSourceRange range = m->spec->blame;
    CtTyCon *tycon = ct_types_con_list(el->types);
    Applied applied = {.tycon = tycon, .count = 1, .type = type};
    applied.given = applied.kept = CT_NEW(el->arena, Ground *);
    applied.kept[0] = m->spec->types[0];
    View nil = ct_elab_view(el, &applied, tycon->cons[0]), cons = ct_elab_view(el, &applied, tycon->cons[1]);
    const char *text =
        ct_format(el->arena, "`%s` of an empty list cannot tell the type of its elements, which grows here",
                  m->spec->entity->name->text);
    CtCase cases[] = {{nil.con, NULL, ct_core_fail(p, range, result, CT_E0502, text, NULL)}, {.con = cons.con}};
    cases[1].vars = CT_NEW_ARRAY(el->arena, CtVar *, 2);
    cases[1].vars[0] = m->decides = ct_core_var_new(p, "x", ct_elab_core(el, m->spec->types[0]));
    cases[1].body = by_constructor(m, result);
    CtCore *otherwise = list->type->data->con_count > 2 ? ct_elab_impossible(el, range, result) : NULL;
    return ct_core_case(p, range, result, ct_core_var(p, range, list), cases, 2, otherwise);
}

CtCore *ct_elab_dispatch_body(CtElab *el, Spec *spec) {
    Method m = {.el = el, .spec = spec, .universal = ct_elab_universal(el, spec->types[0])};
    m.params = CT_NEW_ARRAY(el->arena, CtVar *, spec->arity);
    Ground *type = spec->type, *arg = NULL;
    for (uint32_t i = 0; i < spec->arity; i++) {
        ct_elab_ground_fun(el, type, &arg, &type);
        m.params[i] = ct_core_var_new(el->program, "x", ct_elab_core(el, arg));
    }
    CtVar *last = m.decides = m.params[spec->arity - 1];
    CtType *result = ct_elab_core(el, type);
    bool is_direct = deciding_params(el, spec->entity, false) > 0;
    CtCore *body = is_direct ? by_constructor(&m, result) : by_first_element(&m, last, arg, result);
    return ct_core_lam(el->program, spec->blame, spec->entity->name->text, m.params, spec->arity, body);
}
