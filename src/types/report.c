/* The error messages of inference, in terms of the program, with suggestions. */
#include "types/internal.h"

static const char *ordinal(CtTypes *types, uint32_t n) {
    static const char *const names[] = {"",      "first",   "second", "third", "fourth", "fifth",
                                        "sixth", "seventh", "eighth", "ninth", "tenth"};
    return n < sizeof names / sizeof *names ? names[n] : ct_format(types->arena, "%uth", n);
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
        if (ct_syntax_is_operator_name(fun->name.text) && why->index <= 2)
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

/* "a list or an array" for a type such as `t a` of which only a class is known; else the type's text in quotes. */
static const char *wanted(CtTypes *types, CtTy *type, const char *text) {
    static const char *const containers[] = {"Sequence", "Foldable", NULL};
    type = ct_types_ty_resolve(type);
    CtTy *head = type->kind == TY_APP ? ct_types_ty_resolve(type->fun) : type;
    for (const CtPred *pred = head->kind == TY_META ? head->preds : NULL; pred; pred = pred->next)
        if (head != type ? ct_types_class_named(pred->class_, containers) : pred->class_->param_arity == 0)
            return ct_types_class_wanted(types, pred->class_);
    return ct_format(types->arena, "`%s`", text);
}

/* Adds a note at the place that determines the expected type, if this is not the place of the error. */
static void note_other(CtTypes *types, CtDiag *diag, CtTy *expected, const CtWhy *why) {
    if (!why || why->other.source == 0) return;
    const char *text = ct_types_ty_text(types, expected);
    switch (why->kind) {
    case WHY_BRANCH: ct_note(types->context, diag, why->other, "the other branch is `%s`", text); return;
    case WHY_ALT: ct_note(types->context, diag, why->other, "the first alternative is `%s`", text); return;
    case WHY_CLAUSE: ct_note(types->context, diag, why->other, "the first clause gives `%s`", text); return;
    case WHY_ELEMENT: ct_note(types->context, diag, why->other, "the first element is `%s`", text); return;
    case WHY_NONE:
    case WHY_ARGUMENT:
    case WHY_CONDITION:
    case WHY_GUARD:
    case WHY_RANGE:
    case WHY_SIGNATURE:
    case WHY_METHOD:
    case WHY_ANNOTATION:
    case WHY_SCRUTINEE:
    case WHY_PATTERN:
    case WHY_GENERATOR:
    case WHY_FIELD:
    case WHY_UPDATED: return;
    }
}

/* ---- type mismatches ---- */

/* A name such as `double` in a signature is a variable, and means any type. */
static bool report_misnamed(CtTypes *types, CtSourceRange range, const CtTy *rigid) {
    if (rigid->made || rigid->name->length < 3) return false;
    if (types->misnamed == rigid->name) return true;
    char *capital = ct_copy_text(types->arena, rigid->name->text, rigid->name->length);
    if (capital[0] >= 'a' && capital[0] <= 'z') capital[0] = (char)(capital[0] - 'a' + 'A');
    CtTyCon *con = ct_types_lookup_tycon(types, ct_intern_text(&types->context->symbols, capital));
    const char *absent = ct_types_absent(SPACE_TYPE, rigid->name);
    if (!con && !absent) return false;
    CtDiag *diag = ct_error(types->context, CT_E0311, range,
                            "the signature's `%s` is a variable, which stands for any "
                            "type, but this needs a type of its own",
                            rigid->name->text);
    if (con)
        ct_help(types->context, diag, "names of types begin with a capital: `%s`", con->name->text);
    else
        ct_help(types->context, diag, "%s", absent);
    types->misnamed = rigid->name;
    return true;
}

static bool report_rigid(CtTypes *types, CtSourceRange range, CtTy *expected, CtTy *found, const CtWhy *why) {
    CtTy *a = ct_types_ty_resolve(types->clash[0]), *b = ct_types_ty_resolve(types->clash[1]);
    CtTy *rigid = a->kind == TY_GENERIC ? a : b->kind == TY_GENERIC ? b : NULL;
    if (!rigid) return false;
    if (report_misnamed(types, range, rigid)) return true;
    CtTy *list[4] = {expected, found, rigid, rigid == a ? b : a};
    const char *texts[4];
    ct_types_ty_texts(types, list, 4, texts);
    CtDiag *diag =
        ct_error(types->context, CT_E0311, range, "expected `%s`%s, found `%s`", texts[0], place(types, why), texts[1]);
    bool first = rigid->of_forall, second = list[3]->of_forall;
    if (list[3]->kind == TY_GENERIC && (first || second))
        ct_help(types->context, diag,
                "a `forall` says that `%s` is any type: nothing outside is of it, and nothing leaves",
                texts[first ? 2 : 3]);
    else if (list[3]->kind == TY_GENERIC)
        ct_help(types->context, diag, "the signature says that `%s` and `%s` may be different types", texts[2],
                texts[3]);
    else
        ct_help(types->context, diag, "the signature promises this for every type `%s`, but here it must be `%s`",
                texts[2], texts[3]);
    return true;
}

static void report_infinite(CtTypes *types, CtSourceRange range, CtTy *expected, CtTy *found, const CtWhy *why,
                            const CtExpr *subject) {
    CtTy *list[4] = {expected, found, types->clash[0], types->clash[1]};
    const char *texts[4];
    ct_types_ty_texts(types, list, 4, texts);
    CtDiag *diag = ct_error(types->context, CT_E0305, range, "expected `%s`%s, found `%s`: the type would be infinite",
                            texts[0], place(types, why), texts[1]);
    ct_note(types->context, diag, CT_NO_RANGE, "`%s` would have to be the same as `%s`, which contains it", texts[2],
            texts[3]);
    ct_types_suggest_infinite(types, diag, list[2], list[3], why, subject);
}

static void report_mismatch(CtTypes *types, CtSourceRange range, CtTy *expected, CtTy *found, const CtWhy *why,
                            const CtExpr *subject) {
    if (report_rigid(types, range, expected, found, why)) return;
    CtTy *list[2] = {expected, found};
    const char *texts[2];
    ct_types_ty_texts(types, list, 2, texts);
    CtDiag *diag = ct_error(types->context, CT_E0301, range, "expected %s%s, found `%s`",
                            wanted(types, expected, texts[0]), place(types, why), texts[1]);
    if (strcmp(texts[0], texts[1]) == 0 && strstr(texts[0], "forall ") != NULL)
        ct_help(types->context, diag,
                "two types with `forall` are the same if they come from one place: give this one a name by `type`");
    note_other(types, diag, expected, why);
    ct_types_suggest_mismatch(types, diag, expected, found, why, subject);
}

void ct_types_report_infinite(CtTypes *types, const CtClass *class_, CtSourceRange range) {
    const char *text = ct_types_excerpt(types, range);
    ct_error(types->context, CT_E0306, range, "%s the class %s, but its instances ask for ever more instances",
             text ? ct_format(types->arena, "`%s` needs", text) : "this needs", class_->name->text);
}

void ct_types_report_large(CtTypes *types, CtSourceRange range) {
    if (types->told_large) return;
    types->told_large = true;
    CtDiag *diag = ct_error(types->context, CT_E0323, range, "this has a type of more than %d parts", CT_TYPE_LIMIT);
    ct_help(types->context, diag,
            "a pair of two pairs has twice the parts of one, and so on; lists, arrays and data types do not grow so");
}

bool ct_types_ty_expect(CtTypes *types, CtSourceRange range, CtTy *expected, CtTy *found, const CtWhy *why) {
    const CtExpr *subject = types->subject;
    if (subject && (subject->range.start != range.start || subject->range.end != range.end)) subject = NULL;
    CtExpectation expectation = {.range = range, .expected = expected, .found = found, .why = why, .subject = subject};
    uint32_t errors = types->context->error_count;
    types->expecting = &expectation;
    CtUnify result = ct_types_unify(types, expected, found);
    types->expecting = NULL;
    switch (result) {
    case UNIFY_OK:
        if (types->context->error_count == errors) return true;
        break;
    case UNIFY_INFINITE: report_infinite(types, range, expected, found, why, subject); break;
    case UNIFY_RIGID: {
        const char *text = ct_types_ty_text(types, found);
        CtTy *own = ct_types_mentions_own(found);
        if (!own) own = ct_types_mentions_own(expected);
        if (own && own->of_forall) {
            CtDiag *diag = ct_error(types->context, CT_E0311, range,
                                    "this has to be of any type, `%s`, but is of one that comes from outside",
                                    ct_types_ty_text(types, own));
            ct_help(types->context, diag, "what is passed here works for every type of the `forall`");
            break;
        }
        if (own) {
            CtDiag *diag = ct_error(types->context, CT_E0311, range,
                                    "a value of a constructor's own type cannot leave the alternative of its pattern");
            ct_help(types->context, diag, "which type that is, is not known outside: use the value inside");
            break;
        }
        CtDiag *diag = ct_error(types->context, CT_E0311, range,
                                "the type `%s` has a variable of a signature, and would be used outside of it", text);
        ct_help(types->context, diag, "the signature promises this for every type; the value comes from outside");
        break;
    }
    case UNIFY_MISMATCH: report_mismatch(types, range, expected, found, why, subject); break;
    case UNIFY_LARGE: ct_types_report_large(types, range); break;
    }
    if (why && why->refused) *why->refused = true;
    return false;
}

/* ---- missing instances and other errors ---- */

/* Reports a class constraint on a rigid type variable that the signature's context does not imply. */
static void report_unpromised(CtTypes *types, CtClass *class_, CtTy *generic, CtSourceRange range, const char *text) {
    ct_types_save_preds(types, generic);
    ct_types_pred_add(types, generic, class_, range); /* so that the error is reported only once */
    if (report_misnamed(types, range, generic)) return;
    const char *promises = generic->of_forall ? "`forall`" : generic->is_skolem ? "constructor" : "signature";
    CtDiag *diag = ct_error(types->context, CT_E0311, range, "%s `%s %s`, which the %s does not promise",
                            text ? ct_format(types->arena, "`%s` needs", text) : "this needs", class_->name->text,
                            ct_types_ty_text(types, generic), promises);
    ct_help(types->context, diag, "add it to the %s's context: %s %s => …", promises, class_->name->text,
            ct_types_ty_text(types, generic));
}

/* Whether a class of constructors, such as Foldable, speaks of this type's constructor. */
static bool speaks_of(const CtClass *class_, CtTy *type, CtTy *whole) {
    type = ct_types_ty_resolve(type);
    if (class_->param_arity && type->kind == TY_APP) type = ct_types_ty_resolve(type->fun);
    return type == whole;
}

/* "expected a number on the left of `+`, found `Bool`", at the expression that has the type. */
static CtDiag *report_found(CtTypes *types, const CtExpectation *at, CtClass *class_, CtTy *type, CtTy *whole) {
    static const char *const verbal[] = {"Eq", "Ord", "Show", NULL};
    CtTy *list[2] = {type, at->found};
    const char *texts[2];
    ct_types_ty_texts(types, list, 2, texts);
    if (type == whole && ct_types_ty_resolve(at->found) == whole && ct_types_class_named(class_, verbal))
        return ct_error(types->context, CT_E0306, at->range, "`%s` %s: it is not in the class %s", texts[1],
                        ct_types_class_lacking(types, class_), class_->name->text);
    if (type == whole && speaks_of(class_, at->found, whole))
        return ct_error(types->context, CT_E0306, at->range, "expected %s%s, found `%s`",
                        ct_types_class_wanted(types, class_), place(types, at->why), texts[1]);
    if (class_->param_arity && type->kind == TY_APP && ct_types_ty_resolve(type->fun)->kind == TY_CON &&
        ct_types_ty_resolve(type->fun)->con == types->fun)
        return ct_error(types->context, CT_E0306, at->range, "found `%s`%s: what it gives is still a function, not %s",
                        texts[1], place(types, at->why), ct_types_class_wanted(types, class_));
    return ct_error(types->context, CT_E0306, at->range, "found `%s`%s, but `%s` %s", texts[1], place(types, at->why),
                    texts[0], ct_types_class_lacking(types, class_));
}

/* "`**` needs a real number, but `Int` is expected, as the signature of `f` says", at the name that needs it. */
static CtDiag *report_expected(CtTypes *types, const CtExpectation *at, CtClass *class_, CtTy *type,
                               CtSourceRange range, const char *text) {
    CtTy *list[2] = {type, at->expected};
    const char *texts[2], *needs = text ? ct_format(types->arena, "`%s`", text) : "this";
    ct_types_ty_texts(types, list, 2, texts);
    if (speaks_of(class_, at->expected, type))
        return ct_error(types->context, CT_E0306, range, "%s needs %s, but `%s` is expected%s", needs,
                        ct_types_class_wanted(types, class_), texts[1], place(types, at->why));
    return ct_error(types->context, CT_E0306, range, "%s needs %s, but `%s` in `%s`, which is expected%s, %s", needs,
                    ct_types_class_wanted(types, class_), texts[0], texts[1], place(types, at->why),
                    ct_types_class_lacking(types, class_));
}

void ct_types_report_instance(CtTypes *types, CtClass *class_, CtTy *type, CtTy *whole, CtSourceRange range) {
    const CtExpectation *at = types->expecting;
    const char *text = ct_types_excerpt(types, range);
    type = ct_types_ty_resolve(type);
    whole = ct_types_ty_resolve(whole);
    if (type->kind == TY_GENERIC) {
        report_unpromised(types, class_, type, range, text);
        return;
    }
    CtTy *list[2] = {type, whole};
    const char *texts[2];
    ct_types_ty_texts(types, list, 2, texts);
    CtDiag *diag;
    if (at && at->from_found && at->range.source)
        diag = report_found(types, at, class_, type, whole);
    else if (at && type == whole)
        diag = report_expected(types, at, class_, type, range, text);
    else
        diag = ct_error(types->context, CT_E0306, range, "%s the class %s, but `%s`%s is not in it",
                        text ? ct_format(types->arena, "`%s` needs", text) : "this needs", class_->name->text, texts[0],
                        type == whole ? "" : ct_format(types->arena, " (a part of `%s`)", texts[1]));
    const CtExpr *fun = at && at->why && at->why->kind == WHY_ARGUMENT ? at->why->fun : NULL;
    if (diag->range.start != range.start && range.source && !(fun && fun->range.start == range.start))
        ct_note(types->context, diag, range, "%s asks for it", text ? ct_format(types->arena, "`%s`", text) : "this");
    ct_types_suggest_instance(types, diag, class_, type, at ? at->why : NULL);
}

bool ct_types_literal_fits(CtTypes *types, CtClass *class_, CtTy *expected, CtSourceRange range, const CtWhy *why) {
    CtTyCon *con;
    uint32_t count;
    if (!ct_types_ty_head(expected, &con, NULL, 0, &count) || con->type->is_error ||
        ct_types_instance_find(class_, con))
        return true;
    CtDiag *diag = ct_error(types->context, CT_E0301, range, "expected `%s`%s, found a number",
                            ct_types_ty_text(types, expected), place(types, why));
    note_other(types, diag, expected, why);
    ct_types_suggest_mismatch(types, diag, expected, NULL, why, NULL);
    if (why && why->refused) *why->refused = true;
    return false;
}

bool ct_types_fraction_fits(CtTypes *types, CtClass *class_, CtTy *expected, CtSourceRange range, const CtWhy *why) {
    CtTyCon *con;
    uint32_t count;
    if (!ct_types_ty_head(expected, &con, NULL, 0, &count) || con != types->int_ || ct_types_instance_find(class_, con))
        return true;
    CtDiag *diag =
        ct_error(types->context, CT_E0301, range, "expected `Int`%s, found `%s`, which is not a whole number",
                 place(types, why), ct_types_excerpt(types, range) ? ct_types_excerpt(types, range) : "a fraction");
    if (why && why->kind == WHY_ARGUMENT && why->fun->kind == EXPR_VAR && !strcmp(why->fun->name.text->text, "^"))
        ct_help(types->context, diag, "`**` takes any exponent");
    else
        ct_help(types->context, diag, "an Int holds whole numbers only; `fromIntegral` turns one into a Double");
    if (why && why->refused) *why->refused = true;
    return false;
}

void ct_types_report_negative(CtTypes *types, const CtExpr *expr, CtTy *expected, const CtWhy *why) {
    const char *operand = ct_types_excerpt(types, expr->parts[0]->range);
    CtDiag *diag = ct_error(types->context, CT_E0301, expr->range, "expected `%s`%s, found a negative number",
                            ct_types_ty_text(types, expected), place(types, why));
    ct_help(types->context, diag, "to subtract from each, write (subtract %s) or (\\x -> x - %s)",
            operand ? operand : "n", operand ? operand : "n");
    if (why && why->refused) *why->refused = true;
}

void ct_types_report_not_function(CtTypes *types, const CtExpr *app, uint32_t taken, CtTy *type) {
    const CtExpr *fun = app->kind == EXPR_LEFT_SECTION ? app->parts[1] : app->parts[0];
    bool named = fun->kind == EXPR_VAR || fun->kind == EXPR_CON;
    const char *text = ct_types_excerpt(types, fun->range);
    const char *name = named  ? ct_format(types->arena, "`%s`", fun->name.text->text)
                       : text ? ct_format(types->arena, "`%s`", text)
                              : "this";
    uint32_t given = app->kind == EXPR_APP ? app->part_count - 1 : 2;
    CtDiag *diag;
    if (taken == 0)
        diag = ct_error(types->context, CT_E0307, fun->range, "%s is not a function, but is given %u argument%s", name,
                        given, given == 1 ? "" : "s");
    else
        diag = ct_error(types->context, CT_E0307, app->range, "%s takes %u argument%s, but is given %u", name, taken,
                        taken == 1 ? "" : "s", given);
    if (ct_types_ty_resolve(type)->kind != TY_META)
        ct_note(types->context, diag, CT_NO_RANGE, "%s `%s`", taken ? "what it gives has the type" : "it has the type",
                ct_types_ty_text(types, type));
    ct_types_suggest_application(types, diag, app, taken, type);
}
