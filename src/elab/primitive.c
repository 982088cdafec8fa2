/* Primitives as the prelude declares them: rows of primitives.def, array operations, derivative operators, `error`. */
#include "elab/internal.h"

static bool find(const char *name, Callee *out) {
    if (strcmp(name, "error") == 0) {
        out->kind = CALLEE_ERROR;
        out->arity = 1;
        return true;
    }
    if (strcmp(name, "store.put") == 0 || strcmp(name, "store.get") == 0 || strcmp(name, "store.cast") == 0) {
        out->kind = name[6] == 'p' ? CALLEE_PUT : name[6] == 'g' ? CALLEE_GET : CALLEE_CAST;
        out->arity = 1;
        return true;
    }
    if (strcmp(name, "type.name") == 0) {
        out->kind = CALLEE_TYPE;
        out->arity = 1;
        return true;
    }
    if (strncmp(name, "array.", 6) == 0) {
        if (!ct_core_array_find(name + 6, &out->array)) return false;
        out->kind = CALLEE_ARRAY;
        out->arity = ct_core_array_info(out->array)->arity;
        return true;
    }
    if (ct_core_deriv_find(name, &out->deriv)) {
        out->kind = CALLEE_DERIV;
        out->arity = ct_core_deriv_info(out->deriv)->arity;
        return true;
    }
    if (!ct_prim_find(name, &out->prim)) return false;
    out->kind = CALLEE_PRIM;
    out->arity = ct_prim_info(out->prim)->arity;
    return true;
}

/* The declared type must be a function of as many arguments as the operation takes. */
static bool fits(CtElab *el, const Callee *callee) {
    Ground *type = callee->type;
    for (uint32_t i = 0; i < callee->arity; i++)
        if (!ct_elab_ground_fun(el, type, NULL, &type)) return false;
    return true;
}

Callee ct_elab_primitive(CtElab *el, CtEntity *entity, Ground *type, CtSourceRange range) {
    Callee callee = {.kind = CALLEE_VALUE};
    bool found = find(entity->primitive, &callee);
    callee.type = type;
    if (found && fits(el, &callee)) return callee;
    ct_error(el->context, CT_E0901, entity->range,
             found ? "the primitive %s takes more arguments than its type says" : "there is no primitive %s",
             entity->primitive);
    callee = (Callee){.kind = CALLEE_VALUE, .type = type};
    callee.value = ct_elab_error_term(el, range, ct_elab_core(el, type));
    return callee;
}

/* The place of the function: taylor n f x becomes DERIV_TAYLOR f x n. */
static uint32_t function_place(CtDerivOp op) { return op == DERIV_TAYLOR ? 1 : 0; }

static uint32_t deriv_wants(CtDerivOp op, uint32_t index) {
    if (index == 1 && ct_core_deriv_has_rule(op)) return op == DERIV_WITH_JVP ? 2 : 1;
    if (index == 2 && op == DERIV_WITH_RULES) return 2;
    return index == function_place(op) && ct_core_deriv_info(op)->arity > 1 ? 1 : 0;
}

uint32_t ct_elab_wants(const Callee *callee, uint32_t index) {
    if (callee->params != NULL) return 0; /* it is converted first */
    if (callee->kind == CALLEE_GLOBAL) return callee->spec->uncurried == NULL ? 0 : callee->spec->uncurried[index];
    if (callee->kind == CALLEE_ARRAY) {
        const CtArrayInfo *info = ct_core_array_info(callee->array);
        return info->function == (int)index ? info->function_arity : 0;
    }
    if (callee->kind == CALLEE_DERIV) return deriv_wants(callee->deriv, index);
    return 0;
}

/* ---- derivatives ---- */

/* Points and results of derivatives are first-order. */
static bool differentiable(CtElab *el, CtSourceRange range, Ground *type, const char *what) {
    if (!ct_core_type_has_fun(ct_elab_core(el, type))) return true;
    CtText text = ct_text(el->arena);
    ct_elab_ground_print(&text, type);
    bool action = strncmp(text.data, "IO ", 3) == 0;
    CtDiag *diag = ct_error(el->context, CT_E0401, ct_elab_blame(el, range),
                            "this derivative is taken of a function whose %s has the type %s, which %s", what,
                            text.data, action ? "has no derivative" : "contains functions");
    ct_help(el->context, diag,
            action ? "take the derivative of a function without input and output, inside the action"
                   : "capture functions from outside, or apply them inside");
    return false;
}

static Ground *result_of(CtElab *el, const Callee *callee) {
    Ground *type = callee->type;
    for (uint32_t i = 0; i < callee->arity; i++) ct_elab_ground_fun(el, type, NULL, &type);
    return type;
}

static CtCore *deriv_call(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args) {
    Ground *first = NULL, *point = NULL, *value = NULL;
    Ground *type = callee->type;
    uint32_t place = function_place(callee->deriv);
    bool sound = true;
    if (callee->deriv == DERIV_ATTEMPT) return ct_core_deriv(el->program, range, callee->deriv, args, callee->arity);
    for (uint32_t i = 0; i <= place && sound; i++) sound = ct_elab_ground_fun(el, type, &first, &type);
    if (callee->deriv == DERIV_BASIS) sound = sound && differentiable(el, range, first, "result");
    if (sound && ct_elab_ground_fun(el, first, &point, &value) && ct_elab_wants(callee, place) > 0)
        sound = differentiable(el, range, point, "argument") && differentiable(el, range, value, "result");
    if (!sound) return ct_elab_error_term(el, range, ct_elab_core(el, result_of(el, callee)));
    if (place == 0) return ct_core_deriv(el->program, range, callee->deriv, args, callee->arity);
    CtCore *ordered[3] = {args[1], args[2], args[0]};
    return ct_core_deriv(el->program, range, callee->deriv, ordered, callee->arity);
}

/* ---- values of any type in one array ---- */

/* A value of type a as a Store'value, or back. The data type has a constructor for each type at which this is used;
 * what is taken out at another type than it was put in belongs to another runST. CAST gives Nothing then, and Just the
 * value otherwise. */
static CtCore *store_call(CtElab *el, CtSourceRange range, const Callee *callee, CtCore *arg) {
    CtProgram *p = el->program;
    bool put = callee->kind == CALLEE_PUT, cast = callee->kind == CALLEE_CAST;
    CtType *result = ct_elab_core(el, result_of(el, callee)), *store = put ? result : arg->type;
    CtCon *maybe = cast ? result->data->cons : NULL; /* Nothing, Just */
    CtType *value = put ? arg->type : cast ? maybe[1].fields[0] : result;
    CtCon *con = ct_core_data_open_con(p, store->data, value);
    if (con == NULL) {
        ct_error(el->context, CT_E0402, ct_elab_blame(el, range),
                 "there are references to values of more than %d types", CT_MOST_OPEN_CONS);
        return ct_elab_error_term(el, range, result);
    }
    if (put) return ct_core_con(p, range, con, &arg, 1);
    CtVar *x = ct_core_var_new(p, "x", value);
    CtCase one = {.con = con, .vars = &x, .body = ct_core_var(p, range, x)};
    if (cast) {
        one.body = ct_core_con(p, range, &maybe[1], &one.body, 1);
        return ct_core_case(p, range, result, arg, &one, 1, ct_core_con(p, range, &maybe[0], NULL, 0));
    }
    CtCore *otherwise =
        ct_core_fail(p, range, result, CT_E0503, "a reference is used outside of the runST that made it", NULL);
    return ct_core_case(p, range, result, arg, &one, 1, otherwise);
}

/* The type of what the argument would give, as Haskell shows it: without spaces behind commas. */
static CtCore *type_name(CtElab *el, CtSourceRange range, const Callee *callee) {
    Ground *function = NULL, *type = NULL;
    CtText text = ct_text(el->arena);
    ct_elab_ground_fun(el, callee->type, &function, NULL);
    if (function != NULL && ct_elab_ground_fun(el, function, NULL, &type)) ct_elab_ground_print(&text, type);
    size_t length = 0;
    for (size_t i = 0; i < text.length; i++)
        if (i == 0 || text.data[i] != ' ' || text.data[i - 1] != ',') text.data[length++] = text.data[i];
    return ct_core_string(el->program, range, text.data, length);
}

CtCore *ct_elab_primitive_call(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args) {
    CtProgram *p = el->program;
    if (callee->kind == CALLEE_PRIM) return ct_core_prim(p, range, callee->prim, args, callee->arity);
    if (callee->kind == CALLEE_ARRAY) return ct_core_array(p, range, callee->array, args, callee->arity);
    if (callee->kind == CALLEE_DERIV) return deriv_call(el, range, callee, args);
    if (callee->kind == CALLEE_PUT || callee->kind == CALLEE_GET || callee->kind == CALLEE_CAST)
        return store_call(el, range, callee, args[0]);
    if (callee->kind == CALLEE_TYPE) return type_name(el, range, callee);
    CtType *type = ct_elab_core(el, result_of(el, callee));
    return ct_core_fail(p, range, type, CT_E0503, NULL, args[0]);
}
