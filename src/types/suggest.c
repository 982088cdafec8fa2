/* Suggestions: what was probably meant when two types differ, a type has no instance of a class, or an application has
 * the wrong number of arguments. Each is a help line under a message of report.c. */
#include "types/internal.h"

/* ---- predicates on types and source text ---- */

static bool is_con(CtTy *type, const CtTyCon *con) {
    type = ct_types_ty_resolve(type);
    return type->kind == TY_CON && type->con == con;
}

static bool is_app_of(CtTy *type, const CtTyCon *con) {
    type = ct_types_ty_resolve(type);
    return type->kind == TY_APP && is_con(type->fun, con);
}

static bool is_real(CtTypes *types, CtTy *type) { return is_con(type, types->double_) || is_con(type, types->float_); }
static bool is_whole(CtTypes *types, CtTy *type) {
    type = ct_types_ty_resolve(type);
    return is_con(type, types->int_) || (type->kind == TY_CON && strcmp(type->con->name->text, "Integer") == 0);
}

static bool is_number(CtTypes *types, CtTy *type) { return is_whole(types, type) || is_real(types, type); }

static bool is_string(CtTypes *types, CtTy *type) {
    type = ct_types_ty_resolve(type);
    return is_app_of(type, types->list) && is_con(type->arg, types->char_);
}

static uint32_t arrow_count(CtTypes *types, CtTy *type) {
    CtTy *arg;
    uint32_t count = 0;
    while (ct_types_ty_is_fun(types, type, &arg, &type)) count++;
    return count;
}

/* The number of parts of a tuple type; 0 for other types. */
static uint32_t tuple_size(CtTypes *types, CtTy *type) {
    CtTyCon *con;
    uint32_t count;
    if (!ct_types_ty_head(type, &con, NULL, 0, &count)) return 0;
    return count >= 2 && count < types->tuples.count && types->tuples.items[count] == con ? count : 0;
}

const char *ct_types_excerpt(CtTypes *types, CtSourceRange range) {
    enum { LONGEST = 32 };
    if (range.source == 0 || range.end <= range.start || range.end - range.start > LONGEST) return NULL;
    const CtSource *source = &types->context->sources.items[range.source];
    const char *text = ct_copy_text(types->arena, source->text + range.start, range.end - range.start);
    return strchr(text, '\n') ? NULL : text;
}

static bool is_named(const CtExpr *expr) { return expr->kind == EXPR_VAR || expr->kind == EXPR_CON; }

static bool is_call_of(const CtExpr *fun, const char *name) {
    return fun && is_named(fun) && strcmp(fun->name.text->text, name) == 0;
}

static bool is_one_of(const CtExpr *fun, const char *const *names) {
    for (; *names; names++)
        if (is_call_of(fun, *names)) return true;
    return false;
}

static const char *source_at(CtTypes *types, CtSourceRange range) {
    return types->context->sources.items[range.source].text + range.start;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; }

/* Whether `fun` is a minus sign with a blank before it and none after it, as in `f -1`. */
static bool is_prefixed_minus(CtTypes *types, const CtExpr *fun) {
    if (!is_call_of(fun, "-") || fun->range.source == 0 || fun->range.start == 0) return false;
    const char *at = source_at(types, fun->range);
    return at[0] == '-' && is_blank(at[-1]) && !is_blank(at[1]);
}

/* Whether `fun` is a dot without blanks around it, as in `p.x`. */
static bool is_tight_dot(CtTypes *types, const CtExpr *fun) {
    if (!is_call_of(fun, ".") || fun->range.source == 0 || fun->range.start == 0) return false;
    const char *at = source_at(types, fun->range);
    return at[0] == '.' && !is_blank(at[-1]) && !is_blank(at[1]);
}

/* Help for `xs.length`, which composes functions here. */
static void help_dot(CtTypes *types, CtDiag *diag, const char *field, const char *record) {
    ct_help(types->context, diag,
            "`.` composes functions; a field, or a length, is taken by a function that stands in front: `%s %s`, not "
            "`%s.%s`",
            field, record, record, field);
}

/* ---- missing instances ---- */

static const struct {
    const char *name, *wanted, *lacking;
} classes[] = {
    {"Num", "a number", "is not a number"},
    {"Integral", "a whole number", "is not a type of whole numbers"},
    {"Real", "a real number", "is not a type of real numbers"},
    {"Fractional", "a real number", "is not a type of real numbers"},
    {"Floating", "a real number", "is not a type of real numbers"},
    {"RealFrac", "a real number", "is not a type of real numbers"},
    {"RealFloat", "a real number", "is not a type of real numbers"},
    {"Eq", "something that can be compared", "cannot be compared"},
    {"Ord", "something that can be ordered", "cannot be ordered"},
    {"Show", "something that can be shown", "cannot be shown"},
    {"Sequence", "a list or an array", "is neither a list nor an array"},
    {"Foldable", "a list or an array", "is neither a list nor an array"},
};

const char *ct_types_class_wanted(CtTypes *types, const CtClass *class_) {
    for (uint32_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i].name, class_->name->text) == 0) return classes[i].wanted;
    return ct_format(types->arena, "%s of the class %s", class_->param_arity ? "a structure" : "a type",
                     class_->name->text);
}

const char *ct_types_class_lacking(CtTypes *types, const CtClass *class_) {
    for (uint32_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i].name, class_->name->text) == 0) return classes[i].lacking;
    return ct_format(types->arena, "is not in the class %s", class_->name->text);
}

bool ct_types_class_named(const CtClass *class_, const char *const *names) {
    for (; *names; names++)
        if (strcmp(*names, class_->name->text) == 0) return true;
    return false;
}

/* Help for an application that lacks arguments, so that its type is a function: "`distance` is given 1 argument, but
 * takes 2". */
static bool missing_arguments(CtTypes *types, CtDiag *diag, const CtExpr *subject, CtTy *found) {
    uint32_t missing = arrow_count(types, found);
    if (!missing) return false;
    const CtExpr *fun = subject && subject->kind == EXPR_APP ? subject->parts[0] : subject;
    if (!fun || !is_named(fun)) {
        ct_help(types->context, diag, "this is still a function: perhaps an argument is missing");
        return true;
    }
    if (subject != fun && is_tight_dot(types, fun) && subject->part_count == 3 && is_named(subject->parts[2])) {
        const CtExpr *left = subject->parts[1]; /* of `f p.x`, which is f p . x, the last argument */
        if (left->kind == EXPR_APP && !left->parenthesised) left = left->parts[left->part_count - 1];
        help_dot(types, diag, subject->parts[2]->name.text->text, is_named(left) ? left->name.text->text : "p");
        return true;
    }
    if (subject == fun && is_call_of(fun, "null")) {
        ct_help(types->context, diag,
                "a missing value is `Nothing`, an empty list `[]`; `null xs` asks whether xs is "
                "empty");
        return true;
    }
    uint32_t given = subject == fun ? 0 : subject->part_count - 1;
    ct_help(types->context, diag, "`%s` takes %u argument%s, but is given %s", fun->name.text->text, given + missing,
            given + missing == 1 ? "" : "s", given == 0 ? "none" : ct_format(types->arena, "%u", given));
    return true;
}

void ct_types_suggest_infinite(CtTypes *types, CtDiag *diag, CtTy *inner, CtTy *outer, const CtWhy *why,
                               const CtExpr *subject) {
    const CtExpr *fun = why && why->kind == WHY_ARGUMENT ? why->fun : NULL;
    if (is_call_of(fun, ":"))
        ct_help(types->context, diag, "`:` puts one element before a list; `++` joins two lists");
    else if (fun && subject && fun->kind == EXPR_VAR && subject->kind == EXPR_VAR && fun->entity == subject->entity)
        ct_help(types->context, diag, "`%s` is applied to itself", fun->name.text->text);
    else if (ct_types_ty_is_function(types, outer))
        ct_help(types->context, diag, "perhaps an argument is missing, or there is one too many");
    else if (is_app_of(outer, types->list) &&
             ct_types_ty_resolve(ct_types_ty_resolve(outer)->arg) == ct_types_ty_resolve(inner))
        ct_help(types->context, diag, "a list is used here as one of its own elements");
}

/* Mistakes that the operator or function of the application reveals, whatever the types of its arguments. */
static bool suggest_operator(CtTypes *types, CtDiag *diag, CtTy *found, const CtWhy *why) {
    if (!why || why->kind != WHY_ARGUMENT) return false;
    if (why->index == 1 && is_prefixed_minus(types, why->fun) && (!found || ct_types_ty_is_function(types, found))) {
        const char *at = source_at(types, why->fun->range) + 1;
        uint32_t length = 0;
        while (!is_blank(at[length]) && !strchr("()[]{},;|", at[length])) length++;
        ct_help(types->context, diag, "a negative argument stands in parentheses: (-%.*s)", (int)length, at);
        return true;
    }
    if (is_tight_dot(types, why->fun) && !(found && ct_types_ty_is_function(types, found))) {
        help_dot(types, diag, "x", "p");
        return true;
    }
    return false;
}

/* The name after a dot that follows an expression in the source: `length` for `xs` in `xs.length`; NULL if there is
 * none. */
static const char *name_behind_dot(CtTypes *types, const CtExpr *expr) {
    if (!expr || expr->kind != EXPR_VAR || expr->range.source == 0 || expr->range.end <= expr->range.start) return NULL;
    const char *at = source_at(types, expr->range) + (expr->range.end - expr->range.start);
    if (at[0] != '.' || at[1] < 'a' || at[1] > 'z') return NULL;
    size_t length = strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_'");
    return ct_copy_text(types->arena, at + 1, length);
}

static bool suggest_dot_behind(CtTypes *types, CtDiag *diag, CtTy *found, const CtExpr *subject) {
    if (!found || ct_types_ty_is_function(types, found)) return false; /* which may be composed */
    const char *field = name_behind_dot(types, subject);
    if (field) help_dot(types, diag, field, subject->name.text->text);
    return field != NULL;
}

/* Help for `return` where the expected type is not an applied type, hence no action: `f x = return (x * x)`. */
static bool suggest_return(CtTypes *types, CtDiag *diag, CtTy *expected, const CtExpr *subject) {
    if (!subject || subject->kind != EXPR_APP || ct_types_ty_resolve(expected)->kind == TY_APP) return false;
    if (!is_call_of(subject->parts[0], "return") && !is_call_of(subject->parts[0], "pure")) return false;
    ct_help(types->context, diag,
            "`%s` makes an action of a monad; the value of a function is its body alone, without `%s`",
            subject->parts[0]->name.text->text, subject->parts[0]->name.text->text);
    return true;
}

/* Help for a type that has no instance of a numeric class. */
static void suggest_number(CtTypes *types, CtDiag *diag, CtTy *type, const CtWhy *why) {
    CtContext *context = types->context;
    const CtExpr *fun = why && why->kind == WHY_ARGUMENT ? why->fun : NULL;
    if (is_string(types, type) && is_call_of(fun, "+"))
        ct_help(context, diag, "`++` joins strings, lists and arrays");
    else if (is_string(types, type) && fun)
        ct_help(context, diag, "a String is text, even when its characters are digits");
    else if (is_app_of(type, types->list) || is_app_of(type, types->array))
        ct_help(context, diag, "`map` and `zipWith` calculate with each element, `sum` adds them up");
    else if (is_whole(types, type) && types->expecting && types->expecting->subject &&
             types->expecting->subject->kind == EXPR_APP && is_call_of(types->expecting->subject->parts[0], "**"))
        ct_help(context, diag,
                "the power of a whole number is `^`, with a whole exponent; `fromIntegral` makes a Double of it");
    else if (is_whole(types, type))
        ct_help(context, diag, "an %s becomes a Double by `fromIntegral`; `div` divides whole numbers",
                ct_types_ty_text(types, type));
    else if (is_real(types, type) && is_call_of(fun, "^"))
        ct_help(context, diag, "`**` takes any exponent, `^` whole ones only");
    else if (is_real(types, type))
        ct_help(context, diag, "`round`, `floor`, `ceiling` and `truncate` make an Int of a real number");
}

static bool is_derivable(const CtClass *class_) {
    static const char *const names[] = {"Eq", "Ord", "Show", "Read", "Enum", "Bounded", NULL};
    return ct_types_class_named(class_, names);
}

/* `x / fromIntegral $ n`: the application's left side lacks the argument that `$` was to give to its last function. */
static bool suggest_dollar(CtTypes *types, CtDiag *diag, CtTy *type, const CtWhy *why, const CtExpr *subject) {
    if (!why || why->kind != WHY_ARGUMENT || why->index != 1 || !is_call_of(why->fun, "$") || !subject) return false;
    if (!ct_types_ty_is_function(types, type) || subject->kind != EXPR_APP || !is_named(subject->parts[0]) ||
        !ct_syntax_is_operator_name(subject->parts[0]->name.text))
        return false;
    ct_help(types->context, diag,
            "`$` binds less than `%s`, so that all on its left is the function: put `$` and its sides in parentheses",
            subject->parts[0]->name.text->text);
    return true;
}

void ct_types_suggest_instance(CtTypes *types, CtDiag *diag, const CtClass *class_, CtTy *type, const CtWhy *why) {
    static const char *const numeric[] = {"Num",      "Integral", "Real",      "Fractional",
                                          "Floating", "RealFrac", "RealFloat", NULL};
    const CtExpectation *at = types->expecting;
    const CtExpr *subject = at ? at->subject : NULL;
    if (suggest_dot_behind(types, diag, type, subject) || suggest_dollar(types, diag, type, why, subject) ||
        suggest_operator(types, diag, type, why))
        return;
    if (why && why->kind == WHY_ARGUMENT && is_call_of(why->fun, ".") && at && !at->from_found) {
        ct_help(types->context, diag, "`.` joins two functions; with an argument, write (f . g) x or f (g x)");
        return;
    }
    if (class_->param_arity && at && at->from_found && ct_types_ty_is_function(types, at->found)) {
        missing_arguments(types, diag, subject, at->found);
        return;
    }
    if (ct_types_ty_is_function(types, type)) {
        static const char *const comparing[] = {"Eq", "Ord", NULL}, *const showing[] = {"Show", NULL};
        bool asked = at && !at->from_found && why && why->kind == WHY_ARGUMENT && why->count > 1;
        if (asked && subject && is_named(subject)) {
            ct_help(types->context, diag, "perhaps `%s` is given an argument too many",
                    is_named(why->fun) ? why->fun->name.text->text : "the function");
            return;
        }
        if (subject && subject->kind == EXPR_APP && missing_arguments(types, diag, subject, type)) return;
        if (ct_types_class_named(class_, comparing))
            ct_help(types->context, diag, "functions cannot be compared, only what they give for an argument");
        else if (ct_types_class_named(class_, showing))
            ct_help(types->context, diag, "functions have no text; perhaps an argument is missing");
        else
            missing_arguments(types, diag, subject, type);
        return;
    }
    if (ct_types_class_named(class_, numeric)) {
        suggest_number(types, diag, type, why);
        return;
    }
    CtTyCon *con;
    uint32_t count;
    if (is_derivable(class_) && ct_types_ty_head(type, &con, NULL, 0, &count) && con->decl)
        ct_help(types->context, diag, "add `deriving (%s)` to the type `%s`, or write an instance", class_->name->text,
                con->name->text);
}

/* ---- type mismatches ---- */

static bool is_action(CtTypes *types, CtTy *type) {
    CtTyCon *con;
    uint32_t count;
    return ct_types_ty_head(type, &con, NULL, 0, &count) &&
           con == ct_types_library(types, SPACE_TYPE, ct_intern_text(&types->context->symbols, "IO"));
}

static const char *const gradients[] = {"grad", "valueAndGrad", "hessian", "hvp", NULL};

/* Help for a function whose type does not suit the derivative operator that it is passed to. */
static bool suggest_derivative(CtTypes *types, CtDiag *diag, CtTy *found, const CtWhy *why) {
    CtTy *arg, *result;
    if (!why || why->kind != WHY_ARGUMENT || why->index != 1 || !ct_types_ty_is_fun(types, found, &arg, &result))
        return false;
    if (is_one_of(why->fun, gradients) && !is_con(result, types->double_)) {
        ct_help(types->context, diag,
                is_action(types, result)
                    ? "what an action does has no derivative; take that of a function without input and output"
                : ct_types_ty_is_function(types, result)
                    ? "the function takes its arguments one by one; a gradient is by one: (\\(x, y) -> f x y)"
                    : "a gradient is of a function to Double; `jacobian`, `vjp` and `jvp` take other results");
        return true;
    }
    if (is_call_of(why->fun, "diff")) {
        ct_help(types->context, diag,
                "`diff` is for functions from Double to Double; `grad` takes any argument, "
                "`jacobian` any result");
        return true;
    }
    return false;
}

/* Help for the body of a λ under `grad` that is not a Double. */
static bool suggest_gradient_body(CtTypes *types, CtDiag *diag, CtTy *expected, CtTy *found, const CtWhy *why) {
    if (!why || why->kind != WHY_ARGUMENT || why->index != 1 || !is_one_of(why->fun, gradients)) return false;
    if (!is_con(expected, types->double_) || is_number(types, found)) return false;
    ct_help(types->context, diag,
            "a gradient is of a function to Double; `jacobian`, `vjp` and `jvp` take other results");
    return true;
}

/* Help where a function is expected and the type found is not a function. */
static bool suggest_function(CtTypes *types, CtDiag *diag, CtTy *expected, CtTy *found, const CtWhy *why,
                             const CtExpr *subject) {
    if (!ct_types_ty_is_function(types, expected) || (found && ct_types_ty_is_function(types, found)) || !why)
        return false;
    if (subject && subject->kind == EXPR_APP && is_named(subject->parts[0]) && why->kind == WHY_ARGUMENT &&
        !ct_syntax_is_operator_name(subject->parts[0]->name.text)) {
        const char *name = subject->parts[0]->name.text->text;
        ct_help(types->context, diag, "this is a result; the function itself is `%s`, without argument%s", name,
                subject->part_count > 2 ? "s" : "");
        return true;
    }
    if (why->kind == WHY_ARGUMENT && why->count > 1 && is_named(why->fun) &&
        !ct_syntax_is_operator_name(why->fun->name.text)) {
        ct_help(types->context, diag, "`%s` takes a function here: perhaps the arguments are in another order",
                why->fun->name.text->text);
        return true;
    }
    return false;
}

/* Help for a tuple given to a curried function, as in hyp(3, 4), and for tuples of different sizes. */
static bool suggest_tuple(CtTypes *types, CtDiag *diag, CtTy *expected, CtTy *found, const CtWhy *why) {
    uint32_t size = tuple_size(types, found);
    if (size == 0 || !why || why->kind != WHY_ARGUMENT || why->index != 1 || !is_named(why->fun)) return false;
    if (tuple_size(types, expected) > 0) {
        ct_help(types->context, diag, "one tuple has %u parts, the other %u", tuple_size(types, expected), size);
        return true;
    }
    if (!why->fun->type || arrow_count(types, why->fun->type) < size) return false;
    ct_help(types->context, diag, "arguments stand one after another, without commas: %s%s", why->fun->name.text->text,
            size == 2 ? " x y" : " x y z");
    return true;
}

static bool suggest_text(CtTypes *types, CtDiag *diag, CtTy *expected, CtTy *found, const CtWhy *why) {
    CtContext *context = types->context;
    const CtExpr *fun = why && why->kind == WHY_ARGUMENT ? why->fun : NULL;
    if (is_string(types, expected) && (!found || is_number(types, found)))
        ct_help(context, diag, "`show` turns a number into a String");
    else if (is_con(found ? found : types->error, types->char_) && is_app_of(expected, types->list))
        ct_help(context, diag, "a String of one character is written in double quotes: \"c\"");
    else if (is_con(found ? found : types->error, types->char_) && is_call_of(fun, "++"))
        ct_help(context, diag, "`++` joins two Strings; `c : s` puts the Char c before the String s");
    else if (is_con(expected, types->char_) && found && is_app_of(found, types->list))
        ct_help(context, diag, "a Char is written in single quotes: 'c'");
    else if (is_con(expected, ct_types_ty_bool(types)->con) && (!found || is_number(types, found)))
        ct_help(context, diag, "a number is no truth value: compare it, as in `n /= 0`");
    else if (is_call_of(fun, ":") && why->index == 2 && !(found && is_app_of(found, types->array)))
        ct_help(context, diag, "`x : xs` puts an element before a list; `xs ++ [x]` puts it behind");
    else
        return false;
    return true;
}

/* Help for a function of one's own that calculates with a number and an array, and has no signature. */
static bool suggest_signature(CtTypes *types, CtDiag *diag, CtTy *expected, CtTy *found, const CtWhy *why) {
    const CtExpr *fun = why && why->kind == WHY_ARGUMENT && is_named(why->fun) ? why->fun : NULL;
    const CtBinding *binding = fun && fun->entity ? fun->entity->binding : NULL;
    bool mixed = (is_app_of(expected, types->array) && is_number(types, found)) ||
                 (is_app_of(found, types->array) && is_number(types, expected));
    if (!mixed || !binding || binding->signature || fun->entity->scheme.count == 0) return false;
    CtTy *param, *result = fun->entity->scheme.type;
    for (uint32_t i = 0; i < why->index; i++)
        if (!ct_types_ty_is_fun(types, result, &param, &result)) return false;
    if (ct_types_ty_resolve(param)->kind != TY_GENERIC || !ct_types_ty_resolve(param)->preds) return false;
    ct_help(types->context, diag,
            "`%s` has no signature, so that numbers and arrays are of one type in it: give it one",
            fun->name.text->text);
    return true;
}

static bool suggest_plain(CtTypes *types, CtDiag *diag, CtTy *expected, CtTy *found) {
    CtContext *context = types->context;
    if ((is_real(types, expected) && is_whole(types, found)) || (is_whole(types, expected) && is_whole(types, found)))
        ct_help(context, diag, "an %s does not become %s %s by itself: write `fromIntegral` before it",
                ct_types_ty_text(types, found), is_whole(types, expected) ? "an" : "a",
                ct_types_ty_text(types, expected));
    else if (is_con(expected, types->int_) && is_real(types, found))
        ct_help(context, diag, "choose how to make an Int of it: `round`, `floor`, `ceiling` or `truncate`");
    else if (is_app_of(expected, types->array) && is_app_of(found, types->list))
        ct_help(context, diag, "an array is written [| … |]; `fromList` makes one of a list");
    else if (is_app_of(expected, types->list) && is_app_of(found, types->array))
        ct_help(context, diag, "`toList` makes a list of an array");
    else
        return false;
    return true;
}

void ct_types_suggest_mismatch(CtTypes *types, CtDiag *diag, CtTy *expected, CtTy *found, const CtWhy *why,
                               const CtExpr *subject) {
    if (suggest_dot_behind(types, diag, found, subject) || suggest_return(types, diag, expected, subject) ||
        suggest_operator(types, diag, found, why) || (found && suggest_derivative(types, diag, found, why)) ||
        (found && suggest_gradient_body(types, diag, expected, found, why)) ||
        suggest_function(types, diag, expected, found, why, subject) || suggest_text(types, diag, expected, found, why))
        return;
    if (!found || suggest_tuple(types, diag, expected, found, why)) return;
    if (suggest_signature(types, diag, expected, found, why)) return;
    if (suggest_plain(types, diag, expected, found) || suggest_plain(types, diag, types->clash[0], types->clash[1]))
        return;
    if (suggest_text(types, diag, types->clash[0], types->clash[1], why)) return;
    if (!ct_types_ty_is_function(types, expected)) missing_arguments(types, diag, subject, found);
}

/* ---- too many arguments ---- */

/* Help for missing parentheses, as in `f Just 1`: an argument that is a function or constructor, and is followed by
 * another argument. */
static bool suggest_parentheses(CtTypes *types, CtDiag *diag, const CtExpr *app) {
    for (uint32_t i = 1; i + 1 < app->part_count; i++) {
        const CtExpr *part = app->parts[i];
        if (!is_named(part) || part->parenthesised) continue;
        uint32_t takes = 0;
        if (part->kind == EXPR_CON && part->con) takes = part->con->arity;
        if (part->kind == EXPR_VAR && part->entity && part->entity->scheme.type)
            takes = arrow_count(types, part->entity->scheme.type);
        if (takes == 0 || i + 1 >= app->part_count) continue;
        uint32_t last = i + takes < app->part_count ? i + takes : app->part_count - 1;
        const char *text = ct_types_excerpt(types, ct_range_join(part->range, app->parts[last]->range));
        ct_help(types->context, diag, "perhaps parentheses are missing: (%s)",
                text ? text : ct_format(types->arena, "%s …", part->name.text->text));
        return true;
    }
    return false;
}

static bool has_word(const CtExpr *app, const char *word) {
    for (uint32_t i = 1; i < app->part_count; i++)
        if (app->parts[i]->kind == EXPR_VAR && strcmp(app->parts[i]->name.text->text, word) == 0) return true;
    return false;
}

void ct_types_suggest_application(CtTypes *types, CtDiag *diag, const CtExpr *app, uint32_t taken, CtTy *type) {
    CtContext *context = types->context;
    if (app->kind != EXPR_APP) return;
    const CtExpr *fun = app->parts[0], *arg = app->parts[1];
    bool is_value = taken == 0;
    CtTy *first, *rest;
    if (is_value && has_word(app, "and"))
        ct_help(context, diag, "`&&` joins two conditions; `and` is a function of a list");
    else if (is_value && has_word(app, "or"))
        ct_help(context, diag, "`||` joins two conditions; `or` is a function of a list");
    else if (is_value && app->part_count == 2 && arg->kind == EXPR_LIST && arg->part_count == 1 && is_named(fun))
        ct_help(context, diag, "an element is taken by `%s`: %s %s %s", is_app_of(type, types->list) ? "!!" : "!",
                fun->name.text->text, is_app_of(type, types->list) ? "!!" : "!",
                ct_types_excerpt(types, arg->parts[0]->range) ? ct_types_excerpt(types, arg->parts[0]->range) : "i");
    else if (is_value &&
             (fun->kind == EXPR_LIT || is_number(types, type) || ct_types_ty_resolve(type)->kind == TY_META))
        ct_help(context, diag, "an operator is missing before the second value, such as `*`");
    else if (!is_value && fun->type && ct_types_ty_is_fun(types, fun->type, &first, &rest) && taken == 1 &&
             tuple_size(types, first) + 1 == app->part_count)
        ct_help(context, diag, "its argument is one tuple, in parentheses and with commas");
    else
        suggest_parentheses(types, diag, app);
}
