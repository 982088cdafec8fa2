/* `deriving (Eq, Ord, Show, Enum, Bounded)`: writes the instances' bindings as syntax trees, which are then inferred
 * like any others.
 *
 *   C a b == C c d     = a == c && b == d           compare (C a b) (C c d) = case compare a c of EQ -> compare b d; o
 * -> o x == y             = tag x == tag y             compare x y             = compare (tag x) (tag y) showsPrec d (C
 * a b) = showParen (d > 10) (showString "C " . showsPrec 11 a . showString " " . showsPrec 11 b)
 *
 *   fromEnum x = tag x;  toEnum 0 = A; toEnum 1 = B …;  enumFrom x = enumFromTo x Z;  minBound = A;  maxBound = Z
 *
 * where `tag` is a case to the constructor's number. The names used are the library's, whatever the program hides.
 */
#include "types/internal.h"

typedef struct Derive {
    CtTypes *types;
    CtInstance *instance;
    CtSourceRange range;
    bool failed;
} Derive;

/* ---- heads and contexts ---- */

static CtInstance *declare_one(CtTypes *types, CtTyCon *con, CtName name) {
    CtClass *class_ = ct_types_find_class(types, name);
    if (!class_) return NULL;
    const char *text = name.text->text;
    if (ct_types_derives_functor(text)) return ct_types_derive_functor_head(types, con, class_, name.range);
    bool bounded = !strcmp(text, "Bounded"), enumeration = true;
    for (uint32_t i = 0; i < con->con_count; i++) enumeration &= con->cons[i]->arity == 0;
    if (strcmp(text, "Eq") && strcmp(text, "Ord") && strcmp(text, "Show") && strcmp(text, "Enum") && !bounded) {
        CtDiag *diag = ct_error(types->context, CT_E0315, name.range, "the class %s cannot be derived", text);
        ct_help(types->context, diag, "Eq, Ord, Show, Enum, Bounded, Functor, Foldable and Traversable can; write an instance of the others");
        return NULL;
    }
    if ((bounded || !strcmp(text, "Enum")) && !enumeration && !(bounded && con->con_count == 1)) {
        ct_error(types->context, CT_E0315, name.range, "%s cannot be derived for `%s`: its constructors have fields",
                 text, con->name->text);
        return NULL;
    }
    CtTy **generics = CT_NEW_ARRAY(types->arena, CtTy *, con->arity);
    for (uint32_t i = 0; i < con->arity; i++)
        generics[i] = ct_types_ty_generic(types, con->params[i]->name, con->params[i]->arity);
    CtInstance *instance = ct_types_instance_new(types, class_, con, generics, con->arity, name.range);
    if (!instance) return NULL;
    instance->derived = true;
    instance->decl = con->decl;
    return instance;
}

/* One iteration towards the least fixed point of the derived contexts: adds to an instance's context the constraints on
 * the type's parameters that the instances of its field types need, given the contexts found so far. True when the
 * context has grown. `report`: the iteration is over; reports fields whose type has no instance. */
static bool grow_context(CtTypes *types, CtInstance *instance, bool report) {
    if (ct_types_derives_functor(instance->class_->name->text)) return false; /* it has its context */
    CtMarks marks = ct_types_marks(types);
    CtTyCon *con = instance->tycon;
    CtTy **args = CT_NEW_ARRAY(types->arena, CtTy *, con->arity);
    bool changed = false;
    for (uint32_t i = 0; i < con->arity; i++) args[i] = ct_types_ty_meta(types, con->params[i]->arity);
    for (uint32_t i = 0; i < con->con_count; i++)
        for (uint32_t j = 0; j < con->cons[i]->arity; j++) {
            CtTy *field = ct_types_ty_replace(types, con->cons[i]->fields[j], con->params, args, con->arity);
            bool sound = ct_types_solve(types, instance->class_, field, instance->range, true);
            if (!report || (sound && types->deferred.count == marks.deferred)) continue;
            CtDiag *diag = ct_error(
                types->context, CT_E0315, instance->range, "%s cannot be derived for `%s`: it has a field of type `%s`",
                instance->class_->name->text, con->name->text, ct_types_ty_text(types, con->cons[i]->fields[j]));
            if (ct_types_ty_is_function(types, field))
                ct_help(types->context, diag, "functions can neither be compared nor shown");
            types->deferred.count = marks.deferred;
            instance->derived = false; /* no methods are generated for it */
        }
    for (uint32_t i = 0; i < con->arity; i++)
        for (CtPred *pred = args[i]->preds; pred; pred = pred->next) {
            CtPred *before = instance->generics[i]->preds;
            while (before && before->class_ != pred->class_) before = before->next;
            changed |= !before;
            ct_types_pred_add(types, instance->generics[i], pred->class_, instance->range);
        }
    types->metas.count = marks.metas;
    types->deferred.count = marks.deferred;
    return changed;
}

void ct_types_declare_derived(CtTypes *types, CtDecls *decls) {
    uint32_t first = types->new_instances.count;
    for (uint32_t i = 0; i < decls->count; i++) {
        CtDecl *decl = &decls->items[i];
        for (uint32_t j = 0; decl->kind == DECL_DATA && decl->tycon && j < decl->deriving_count; j++)
            declare_one(types, decl->tycon, decl->deriving[j]);
    }
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t i = first; i < types->new_instances.count; i++)
            changed |= grow_context(types, types->new_instances.items[i], false);
    }
    for (uint32_t i = first; i < types->new_instances.count; i++)
        grow_context(types, types->new_instances.items[i], true);
}

/* ---- syntax ---- */

static CtSym symbol(Derive *d, const char *text) { return ct_intern_text(&d->types->context->symbols, text); }

static CtExpr *expr(Derive *d, CtExprKind kind, uint32_t part_count) {
    CtExpr *e = CT_NEW(d->types->arena, CtExpr);
    e->kind = kind;
    e->range = d->range;
    e->part_count = part_count;
    e->parts = CT_NEW_ARRAY(d->types->arena, CtExpr *, part_count);
    return e;
}

static CtPat *pat(Derive *d, CtPatKind kind, uint32_t part_count) {
    CtPat *p = CT_NEW(d->types->arena, CtPat);
    p->kind = kind;
    p->range = d->range;
    p->part_count = part_count;
    p->parts = CT_NEW_ARRAY(d->types->arena, CtPat *, part_count);
    return p;
}

static CtName name_of(Derive *d, const char *text) { return (CtName){NULL, symbol(d, text), d->range}; }

static CtExpr *local(Derive *d, const char *name) {
    CtExpr *e = expr(d, EXPR_VAR, 0);
    e->name = name_of(d, name);
    return e;
}

static CtPat *variable(Derive *d, const char *name) {
    CtPat *p = pat(d, PAT_VAR, 0);
    p->name = name_of(d, name);
    return p;
}

static CtExpr *global(Derive *d, const char *name) {
    CtExpr *e = local(d, name);
    e->entity = ct_types_library(d->types, SPACE_VALUE, e->name.text);
    if (!e->entity && !d->failed) {
        ct_error(d->types->context, CT_E0315, d->range, "deriving %s needs `%s`, which no library defines",
                 d->instance->class_->name->text, name);
        d->failed = true;
    }
    return e;
}

static CtDataCon *library_con(Derive *d, const char *name) {
    return ct_types_library(d->types, SPACE_CON, symbol(d, name));
}

static CtExpr *constant(Derive *d, const char *name) {
    CtExpr *e = expr(d, EXPR_CON, 0);
    e->name = name_of(d, name);
    e->con = library_con(d, name);
    return e;
}

static CtExpr *apply2(Derive *d, CtExpr *fun, CtExpr *a, CtExpr *b) {
    CtExpr *e = expr(d, EXPR_APP, b ? 3 : 2);
    e->parts[0] = fun;
    e->parts[1] = a;
    if (b) e->parts[2] = b;
    return e;
}

static CtExpr *integer(Derive *d, uint32_t value) {
    CtExpr *e = expr(d, EXPR_LIT, 0);
    e->lit = (CtLit){.kind = LIT_INT, .integer = value, .fraction = value};
    return e;
}

static CtExpr *string(Derive *d, const char *text) {
    CtExpr *e = expr(d, EXPR_LIT, 0);
    e->lit = (CtLit){.kind = LIT_STRING, .text = text, .text_length = strlen(text)};
    return apply2(d, global(d, "showString"), e, NULL);
}

/* C a0 a1 … with variables of the given letter, or wildcards for none. */
static CtPat *con_pat(Derive *d, CtDataCon *con, const char *letter) {
    CtPat *p = pat(d, PAT_CON, con->arity);
    p->name = (CtName){NULL, con->name, d->range};
    p->con = con;
    for (uint32_t i = 0; i < con->arity; i++)
        p->parts[i] = letter ? variable(d, ct_format(d->types->arena, "%s%u", letter, i)) : pat(d, PAT_WILD, 0);
    return p;
}

static void set_rhs(Derive *d, CtRhs *rhs, CtExpr *body) {
    rhs->guarded = CT_NEW(d->types->arena, CtGuarded);
    rhs->guarded->body = body;
    rhs->guarded->range = d->range;
    rhs->guarded_count = 1;
}

static void add_alt(Derive *d, CtExpr *e, CtPat *p, CtExpr *body) {
    CtAlt *alt = &e->alts[e->alt_count++];
    alt->pat = p;
    alt->range = d->range;
    set_rhs(d, &alt->rhs, body);
}

static CtBinding *new_binding(Derive *d, const char *method, uint32_t clauses) {
    CtBinding *binding = CT_NEW(d->types->arena, CtBinding);
    binding->made = true;
    binding->name = name_of(d, method);
    binding->range = d->range;
    binding->clauses = CT_NEW_ARRAY(d->types->arena, CtClause, clauses);
    return binding;
}

/* Adds a clause to a binding; a pattern that is NULL is left out. */
static void add_clause(Derive *d, CtBinding *binding, CtPat *first, CtPat *second, CtExpr *body) {
    CtClause *clause = &binding->clauses[binding->clause_count++];
    clause->pats = CT_NEW_ARRAY(d->types->arena, CtPat *, 2);
    if (first) clause->pats[clause->pat_count++] = first;
    if (second) clause->pats[clause->pat_count++] = second;
    clause->range = d->range;
    set_rhs(d, &clause->rhs, body);
}

static void finish(Derive *d, CtBinding *binding) {
    for (uint32_t i = 0; !d->failed && i < d->instance->class_->method_count; i++)
        if (d->instance->class_->methods[i]->name == binding->name.text) d->instance->methods[i] = binding;
}

static CtExpr *tag_of(Derive *d, const char *name) {
    CtExpr *e = expr(d, EXPR_CASE, 1);
    CtTyCon *con = d->instance->tycon;
    e->parts[0] = local(d, name);
    e->alts = CT_NEW_ARRAY(d->types->arena, CtAlt, con->con_count);
    for (uint32_t i = 0; i < con->con_count; i++) add_alt(d, e, con_pat(d, con->cons[i], NULL), integer(d, i));
    return e;
}

static CtExpr *field(Derive *d, const char *letter, uint32_t i) {
    return local(d, ct_format(d->types->arena, "%s%u", letter, i));
}

/* ---- the classes ---- */

static CtExpr *equal_fields(Derive *d, const CtDataCon *con) {
    CtExpr *all = NULL;
    for (uint32_t i = con->arity; i > 0; i--) {
        CtExpr *one = apply2(d, global(d, "=="), field(d, "a", i - 1), field(d, "b", i - 1));
        all = all ? apply2(d, global(d, "&&"), one, all) : one;
    }
    return all ? all : constant(d, "True");
}

static CtExpr *compare_fields(Derive *d, const CtDataCon *con) {
    CtExpr *all = NULL;
    for (uint32_t i = con->arity; i > 0; i--) {
        CtExpr *one = apply2(d, global(d, "compare"), field(d, "a", i - 1), field(d, "b", i - 1));
        if (!all) {
            all = one;
            continue;
        }
        CtExpr *e = expr(d, EXPR_CASE, 1);
        e->parts[0] = one;
        e->alts = CT_NEW_ARRAY(d->types->arena, CtAlt, 2);
        CtDataCon *eq = library_con(d, "EQ");
        if (eq) add_alt(d, e, con_pat(d, eq, NULL), all);
        add_alt(d, e, variable(d, "o"), local(d, "o"));
        all = e;
    }
    return all ? all : constant(d, "EQ");
}

/* Generates == or compare: clauses that compare the fields, for each constructor with fields (or the only constructor),
 * then a clause that compares the constructors' tags. */
static void write_binary(Derive *d, const char *method, CtExpr *(*fields)(Derive *, const CtDataCon *)) {
    CtTyCon *con = d->instance->tycon;
    CtBinding *binding = new_binding(d, method, con->con_count + 1);
    for (uint32_t i = 0; i < con->con_count; i++)
        if (con->cons[i]->arity || con->con_count == 1)
            add_clause(d, binding, con_pat(d, con->cons[i], "a"), con_pat(d, con->cons[i], "b"),
                       fields(d, con->cons[i]));
    if (con->con_count > 1) {
        CtExpr *a = tag_of(d, "a"), *b = tag_of(d, "b");
        add_clause(d, binding, variable(d, "a"), variable(d, "b"), apply2(d, global(d, method), a, b));
    }
    finish(d, binding);
}

static CtExpr *then(Derive *d, CtExpr *first, CtExpr *rest) {
    return rest ? apply2(d, global(d, "."), first, rest) : first;
}

static CtExpr *show_field(Derive *d, uint32_t precedence, uint32_t i) {
    return apply2(d, global(d, "showsPrec"), integer(d, precedence), field(d, "a", i));
}

static CtExpr *parenthesised(Derive *d, uint32_t precedence, CtExpr *inner) {
    CtExpr *above = apply2(d, global(d, ">"), local(d, "d"), integer(d, precedence));
    return apply2(d, global(d, "showParen"), above, inner);
}

static uint32_t precedence_of(Derive *d, CtSym name) {
    const CtDecls *decls = &d->types->module->decls;
    for (uint32_t i = 0; i < decls->count; i++)
        for (uint32_t j = 0; decls->items[i].kind == DECL_FIXITY && j < decls->items[i].name_count; j++)
            if (decls->items[i].names[j].text == name) return (uint32_t)decls->items[i].precedence;
    return 9;
}

static CtExpr *show_record(Derive *d, const CtDataCon *con, const char *name) {
    CtExpr *all = string(d, "}");
    for (uint32_t i = con->arity; i > 0; i--) {
        const char *label =
            ct_format(d->types->arena, "%s%s = ", i > 1 ? ", " : ct_format(d->types->arena, "%s {", name),
                      con->field_names[i - 1]->text);
        CtExpr *value = show_field(d, 0, i - 1);
        all = then(d, string(d, label), then(d, value, all));
    }
    return parenthesised(d, 10, all);
}

static CtExpr *show_con(Derive *d, const CtDataCon *con) {
    bool symbol = con->name->text[0] == ':';
    const char *name = symbol ? ct_format(d->types->arena, "(%s)", con->name->text) : con->name->text;
    if (con->arity == 0) return string(d, name);
    if (con->field_names) return show_record(d, con, name);
    if (con->tycon->decl->cons[con->tag].infix) {
        uint32_t precedence = precedence_of(d, con->name);
        CtExpr *right = show_field(d, precedence + 1, 1);
        CtExpr *middle = string(d, ct_format(d->types->arena, symbol ? " %s " : " `%s` ", con->name->text));
        CtExpr *left = show_field(d, precedence + 1, 0);
        return parenthesised(d, precedence, then(d, left, then(d, middle, right)));
    }
    CtExpr *all = NULL;
    for (uint32_t i = con->arity; i > 0; i--) {
        all = then(d, show_field(d, 11, i - 1), all);
        all = then(d, string(d, i > 1 ? " " : ct_format(d->types->arena, "%s ", name)), all);
    }
    return parenthesised(d, 10, all);
}

static void write_show(Derive *d) {
    CtTyCon *con = d->instance->tycon;
    CtBinding *binding = new_binding(d, "showsPrec", con->con_count);
    for (uint32_t i = 0; i < con->con_count; i++) {
        CtPat *precedence = con->cons[i]->arity ? variable(d, "d") : pat(d, PAT_WILD, 0);
        add_clause(d, binding, precedence, con_pat(d, con->cons[i], "a"), show_con(d, con->cons[i]));
    }
    finish(d, binding);
}

static CtExpr *plain(Derive *d, CtDataCon *con) {
    CtExpr *e = expr(d, EXPR_CON, 0);
    e->name = (CtName){NULL, con->name, d->range};
    e->con = con;
    return e;
}

static void write_enum(Derive *d) {
    CtTyCon *con = d->instance->tycon;
    CtDataCon *first = con->cons[0], *last = con->cons[con->con_count - 1];
    CtBinding *from = new_binding(d, "fromEnum", 1);
    add_clause(d, from, variable(d, "a"), NULL, tag_of(d, "a"));
    finish(d, from);

    CtBinding *to = new_binding(d, "toEnum", con->con_count + 1);
    for (uint32_t i = 0; i < con->con_count; i++) {
        CtPat *number = pat(d, PAT_LIT, 0);
        number->lit = (CtLit){.kind = LIT_INT, .integer = i, .fraction = i};
        add_clause(d, to, number, NULL, plain(d, con->cons[i]));
    }
    CtExpr *text = expr(d, EXPR_LIT, 0);
    text->lit.kind = LIT_STRING;
    text->lit.text = ct_format(d->types->arena, "toEnum: no constructor of %s has this number", con->name->text);
    text->lit.text_length = strlen(text->lit.text);
    add_clause(d, to, pat(d, PAT_WILD, 0), NULL, apply2(d, global(d, "error"), text, NULL));
    finish(d, to);

    CtBinding *all = new_binding(d, "enumFrom", 1);
    add_clause(d, all, variable(d, "a"), NULL, apply2(d, global(d, "enumFromTo"), local(d, "a"), plain(d, last)));
    finish(d, all);

    CtBinding *step = new_binding(d, "enumFromThen", 1);
    CtExpr *bound = expr(d, EXPR_IF, 3), *whole = expr(d, EXPR_APP, 4);
    bound->parts[0] = apply2(d, global(d, ">="), tag_of(d, "b"), tag_of(d, "a"));
    bound->parts[1] = plain(d, last);
    bound->parts[2] = plain(d, first);
    whole->parts[0] = global(d, "enumFromThenTo");
    whole->parts[1] = local(d, "a");
    whole->parts[2] = local(d, "b");
    whole->parts[3] = bound;
    add_clause(d, step, variable(d, "a"), variable(d, "b"), whole);
    finish(d, step);
}

static void write_bound(Derive *d, const char *method, CtDataCon *con) {
    CtBinding *binding = new_binding(d, method, 1);
    CtExpr *value = plain(d, con);
    if (con->arity) {
        CtExpr *whole = expr(d, EXPR_APP, con->arity + 1);
        whole->parts[0] = value;
        for (uint32_t i = 0; i < con->arity; i++) whole->parts[i + 1] = global(d, method);
        value = whole;
    }
    add_clause(d, binding, NULL, NULL, value);
    finish(d, binding);
}

static void write_instance(CtTypes *types, CtInstance *instance) {
    Derive derive = {types, instance, instance->range, false}, *d = &derive;
    CtTyCon *con = instance->tycon;
    if (con->con_count == 0 || ct_types_derive_functor(types, instance)) return;
    switch (instance->class_->name->text[0]) { /* Eq, Enum, Ord, Show, Bounded: told apart when the head was made */
    case 'O': write_binary(d, "compare", compare_fields); return;
    case 'S': write_show(d); return;
    case 'B':
        write_bound(d, "minBound", con->cons[0]);
        write_bound(d, "maxBound", con->cons[con->con_count - 1]);
        return;
    default:
        if (instance->class_->name->text[1] == 'n')
            write_enum(d);
        else
            write_binary(d, "==", equal_fields);
    }
}

void ct_types_derive_methods(CtTypes *types) {
    for (uint32_t i = 0; i < types->new_instances.count; i++)
        if (types->new_instances.items[i]->derived) write_instance(types, types->new_instances.items[i]);
}
