/* What inference says to people: in terms of the program, with the likely mend. */
#include "types/internal.h"

static const char *ordinal(CtTypes *types, uint32_t n) {
    static const char *const names[] = {"",      "first",   "second", "third", "fourth", "fifth",
                                        "sixth", "seventh", "eighth", "ninth", "tenth"};
    return n < sizeof names / sizeof *names ? names[n] : ct_format(types->arena, "%uth", n);
}

static bool is_operator(CtSym name) {
    char c = name->text[0];
    return !(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) || c == '(' || c == '[');
}

static const char *place(CtTypes *types, const CtWhy *why) {
    CtArena *arena = types->arena;
    switch (why ? why->kind : WHY_NONE) {
    case WHY_NONE: return "";
    case WHY_ARGUMENT: {
        const CtExpr *fun = why->fun;
        bool named = fun->kind == EXPR_VAR || fun->kind == EXPR_CON;
        if (!named) return ct_format(arena, " as the %s argument", ordinal(types, why->index));
        if (strncmp(fun->name.text->text, "entry'", 6) == 0) return why->index == 2 ? " as the point" : "";
        if (!strcmp(fun->name.text->text, "do"))
            return why->index == 1 ? " as a statement of this `do`" : ", the type of this `do`";
        if (is_operator(fun->name.text) && why->index <= 2)
            return ct_format(arena, " on the %s of `%s`", why->index == 1 ? "left" : "right", fun->name.text->text);
        return ct_format(arena, " as the %s argument of `%s`", ordinal(types, why->index), fun->name.text->text);
    }
    case WHY_CONDITION: return " as the condition of `if`";
    case WHY_GUARD: return " as a condition";
    case WHY_BRANCH: return ", as in the other branch of this `if`";
    case WHY_ALT: return ", as in the alternatives before";
    case WHY_CLAUSE: return ct_format(arena, ", as in the clauses of `%s` before", why->name->text);
    case WHY_ELEMENT: return ", as the elements before";
    case WHY_RANGE: return ", as the range's other bounds";
    case WHY_SIGNATURE: return ct_format(arena, ", as the signature of `%s` says", why->name->text);
    case WHY_METHOD: return ct_format(arena, ", as the class says of `%s`", why->name->text);
    case WHY_ANNOTATION: return ", as the annotation says";
    case WHY_SCRUTINEE: return ", the type of what is matched";
    case WHY_PATTERN: return ", as the pattern says";
    case WHY_GENERATOR: return " to draw elements from";
    case WHY_FIELD: return ct_format(arena, " as the field `%s`", why->name->text);
    case WHY_UPDATED: return ", which has the fields that are updated";
    }
    return "";
}

/* ---- likely mends ---- */

static bool is_con(CtTy *type, const CtTyCon *con) {
    type = ct_ty_resolve(type);
    return type->kind == TY_CON && type->con == con;
}

static bool is_app_of(CtTy *type, const CtTyCon *con) {
    type = ct_ty_resolve(type);
    return type->kind == TY_APP && is_con(type->fun, con);
}

static bool is_real(CtTypes *types, CtTy *type) { return is_con(type, types->double_) || is_con(type, types->float_); }

static void suggest(CtTypes *types, CtDiag *diag, CtTy *expected, CtTy *found) {
    CtContext *context = types->context;
    CtTy *arg, *result;
    if (is_real(types, expected) && is_con(found, types->int_))
        ct_help(context, diag, "an Int does not become a %s by itself: write `fromIntegral` before it",
                ct_ty_text(types, expected));
    else if (is_con(expected, types->int_) && is_real(types, found))
        ct_help(context, diag, "choose how to make an Int of it: `round`, `floor`, `ceiling` or `truncate`");
    else if (is_app_of(expected, types->array) && is_app_of(found, types->list))
        ct_help(context, diag, "an array is written [| … |]; `fromList` makes one of a list");
    else if (is_app_of(expected, types->list) && is_app_of(found, types->array))
        ct_help(context, diag, "`toList` makes a list of an array");
    else if (is_con(expected, types->char_) && is_app_of(found, types->list))
        ct_help(context, diag, "a Char is written in single quotes: 'c'");
    else if (ct_ty_is_fun(types, found, &arg, &result) && !ct_ty_is_fun(types, expected, &arg, &result))
        ct_help(context, diag, "perhaps an argument is missing: this is still a function");
}

/* ---- types that differ ---- */

static bool report_rigid(CtTypes *types, CtSpan span, CtTy *expected, CtTy *found, const CtWhy *why) {
    CtTy *a = ct_ty_resolve(types->clash[0]), *b = ct_ty_resolve(types->clash[1]);
    CtTy *rigid = a->kind == TY_GENERIC ? a : b->kind == TY_GENERIC ? b : NULL;
    if (!rigid) return false;
    CtTy *list[4] = {expected, found, rigid, rigid == a ? b : a};
    const char *texts[4];
    ct_ty_texts(types, list, 4, texts);
    CtDiag *diag =
        ct_error(types->context, CT_E0311, span, "expected `%s`%s, found `%s`", texts[0], place(types, why), texts[1]);
    if (list[3]->kind == TY_GENERIC)
        ct_help(types->context, diag, "the signature says that `%s` and `%s` may be different types", texts[2],
                texts[3]);
    else
        ct_help(types->context, diag, "the signature promises this for every type `%s`, but here it must be `%s`",
                texts[2], texts[3]);
    return true;
}

static void report_infinite(CtTypes *types, CtSpan span, CtTy *expected, CtTy *found, const CtWhy *why) {
    CtTy *list[4] = {expected, found, types->clash[0], types->clash[1]};
    const char *texts[4];
    ct_ty_texts(types, list, 4, texts);
    CtDiag *diag = ct_error(types->context, CT_E0305, span, "expected `%s`%s, found `%s`: the type would be infinite",
                            texts[0], place(types, why), texts[1]);
    ct_help(types->context, diag, "`%s` would have to be the same as `%s`, which contains it", texts[2], texts[3]);
}

bool ct_ty_expect(CtTypes *types, CtSpan span, CtTy *expected, CtTy *found, const CtWhy *why) {
    CtUnify result = ct_unify(types, expected, found);
    switch (result) {
    case UNIFY_OK: return true;
    case UNIFY_INFINITE: report_infinite(types, span, expected, found, why); return false;
    case UNIFY_RIGID: {
        const char *text = ct_ty_text(types, found);
        CtDiag *diag = ct_error(types->context, CT_E0311, span,
                                "the type `%s` has a variable of a signature, and would be used outside of it", text);
        ct_help(types->context, diag, "the signature promises this for every type; the value comes from outside");
        return false;
    }
    case UNIFY_MISMATCH: break;
    }
    if (report_rigid(types, span, expected, found, why)) return false;
    CtTy *list[2] = {expected, found};
    const char *texts[2];
    ct_ty_texts(types, list, 2, texts);
    CtDiag *diag =
        ct_error(types->context, CT_E0301, span, "expected `%s`%s, found `%s`", texts[0], place(types, why), texts[1]);
    suggest(types, diag, types->clash[0], types->clash[1]);
    if (!diag->help) suggest(types, diag, expected, found);
    return false;
}

/* ---- the rest ---- */

/* The source at a span when it is short: the operator or literal that asks for a class. */
static const char *excerpt(CtTypes *types, CtSpan span) {
    if (span.source == 0 || span.end <= span.start || span.end - span.start > 24) return NULL;
    const CtSource *source = &types->context->sources.items[span.source];
    const char *text = ct_copy_text(types->arena, source->text + span.start, span.end - span.start);
    return strchr(text, '\n') ? NULL : text;
}

static bool is_derivable(const CtClass *class_) {
    static const char *const names[] = {"Eq", "Ord", "Show", "Enum", "Bounded"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], class_->name->text)) return true;
    return false;
}

void ct_report_instance(CtTypes *types, CtClass *class_, CtTy *type, CtTy *whole, CtSpan span) {
    CtContext *context = types->context;
    CtTy *list[2] = {type, whole}, *arg, *result;
    const char *texts[2], *text = excerpt(types, span);
    ct_ty_texts(types, list, 2, texts);
    text = text ? ct_format(types->arena, "`%s` needs", text) : "this needs";
    type = ct_ty_resolve(type);
    whole = ct_ty_resolve(whole);
    if (type->kind == TY_GENERIC) {
        ct_pred_add(types, type, class_, span); /* said once */
        CtDiag *diag = ct_error(context, CT_E0311, span, "%s `%s %s`, which the signature does not promise", text,
                                class_->name->text, texts[0]);
        ct_help(context, diag, "add it to the signature's context: %s %s => …", class_->name->text, texts[0]);
        return;
    }
    const char *of = type == whole ? "" : ct_format(types->arena, " (a part of `%s`)", texts[1]);
    CtDiag *diag = ct_error(context, CT_E0306, span, "%s the class %s, but `%s`%s is not in it", text,
                            class_->name->text, texts[0], of);
    bool numeric = class_->super_count || !strcmp(class_->name->text, "Num");
    if (is_con(type, types->int_) && numeric)
        ct_help(context, diag, "where an Int is used as a real number, write `fromIntegral` before it");
    else if (is_real(types, type))
        ct_help(context, diag, "`round`, `floor`, `ceiling` and `truncate` make an Int of a real number");
    else if (ct_ty_is_fun(types, type, &arg, &result))
        ct_help(context, diag, "it is a function: perhaps an argument is missing");
    else if (type->kind == TY_CON && type->con->decl && is_derivable(class_))
        ct_help(context, diag, "add `deriving (%s)` to the type `%s`, or write an instance", class_->name->text,
                texts[0]);
}

bool ct_literal_fits(CtTypes *types, CtClass *class_, CtTy *expected, CtSpan span, const CtWhy *why) {
    CtTyCon *con;
    uint32_t count;
    if (!ct_ty_head(expected, &con, NULL, 0, &count) || con->type->is_error || ct_instance_find(class_, con))
        return true;
    ct_error(types->context, CT_E0301, span, "expected `%s`%s, found a number", ct_ty_text(types, expected),
             place(types, why));
    return false;
}

void ct_report_not_function(CtTypes *types, const CtExpr *app, uint32_t taken, CtTy *type) {
    const CtExpr *fun = app->kind == EXPR_LEFT_SECTION ? app->parts[1] : app->parts[0];
    bool named = fun->kind == EXPR_VAR || fun->kind == EXPR_CON;
    const char *name = named ? ct_format(types->arena, "`%s`", fun->name.text->text) : "this";
    uint32_t given = app->kind == EXPR_APP ? app->part_count - 1 : 2;
    CtDiag *diag;
    if (taken == 0)
        diag = ct_error(types->context, CT_E0307, fun->span, "%s is not a function, but is given %u argument%s", name,
                        given, given == 1 ? "" : "s");
    else
        diag = ct_error(types->context, CT_E0307, app->span, "%s takes %u argument%s, but is given %u", name, taken,
                        taken == 1 ? "" : "s", given);
    ct_note(types->context, diag, CT_NO_SPAN, "%s `%s`", taken ? "what it gives has the type" : "it has the type",
            ct_ty_text(types, type));
}

void ct_report_unsupported(CtTypes *types, CtSpan span, const char *what) {
    ct_error(types->context, CT_E0317, span, "%s is not yet supported", what);
}
