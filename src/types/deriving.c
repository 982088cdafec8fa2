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

static CtInstance *declare_one(CtTypes *types, CtTyCon *con, const CtConstraint *derived) {
    CtName name = derived->class_name;
    static const char *const of_every_type[] = {"Typeable", "Generic", "Data", "Lift"};
    for (size_t i = 0; i < sizeof of_every_type / sizeof *of_every_type; i++)
        if (!strcmp(name.text->text, of_every_type[i])) return NULL;
    CtClass *class_ = ct_types_find_class(types, name);
    if (!class_) return NULL;
    const char *text = name.text->text;
    if (ct_types_derives_functor(text)) return ct_types_derive_functor_head(types, con, class_, name.range);
    bool bounded = !strcmp(text, "Bounded"), enumeration = true;
    for (uint32_t i = 0; i < con->con_count; i++) enumeration &= con->cons[i]->arity == 0;
    static const char *const derivable[] = {"Eq", "Ord", "Show", "Read", "Enum", "Bounded", "Ix", NULL};
    bool of_product = bounded || !strcmp(text, "Ix");
    bool of_content = derived->as_newtype || !ct_types_class_named(class_, derivable) || !strcmp(text, "Enum");
    if (of_content && con->decl && con->decl->is_newtype) return ct_types_derive_newtype(types, con, class_, derived);
    if (!ct_types_class_named(class_, derivable)) {
        CtDiag *diag = ct_error(types->context, CT_E0315, name.range, "the class %s cannot be derived", text);
        ct_help(types->context, diag,
                "Eq, Ord, Show, Read, Enum, Bounded, Ix, Functor, Foldable and Traversable can, and any class for a "
                "newtype; write an instance of the others");
        return NULL;
    }
    if ((of_product || !strcmp(text, "Enum")) && !enumeration && !(of_product && con->con_count == 1)) {
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

/* The context of `deriving instance`, whose head applies the type to variables. */
static void take_context(CtTypes *types, CtInstance *instance, const CtDecl *decl) {
    CtTyVars vars = {.open = false};
    const CtTypeExpr *head = decl->head[decl->head_count - 1];
    uint32_t count = 0;
    for (const CtTypeExpr *t = head; t->kind == TYPE_EXPR_APP; t = t->parts[0]) count++;
    for (; head->kind == TYPE_EXPR_APP; head = head->parts[0]) {
        if (head->parts[1]->kind != TYPE_EXPR_VAR || --count >= instance->head_count) return;
        ct_map_set(types->arena, &vars.map, ct_key(head->parts[1]->name.text), instance->generics[count]);
    }
    instance->has_context = decl->type.constraint_count > 0;
    ct_types_convert_context(types, &vars, decl->type.constraints, decl->type.constraint_count);
}

/* The type that a synonym is another name of, with the same parameters; NULL if it stands for something else. */
static CtTyCon *without_synonym(CtTypes *types, CtTyCon *con) {
    if (!con || !con->is_synonym) return con;
    ct_types_ensure_synonym(types, con);
    CtTy *type = con->synonym ? ct_types_ty_resolve(con->synonym) : types->error;
    for (uint32_t i = con->declared; i > 0; i--) {
        if (type->kind != TY_APP || ct_types_ty_resolve(type->arg) != con->params[i - 1]) return NULL;
        type = ct_types_ty_resolve(type->fun);
    }
    return type->kind == TY_CON && !type->is_error ? type->con : NULL;
}

/* deriving instance Class … (T a b) */
static void declare_alone(CtTypes *types, const CtDecl *decl) {
    const CtTypeExpr *head = decl->head[decl->head_count - 1];
    while (head->kind == TYPE_EXPR_APP) head = head->parts[0];
    CtTyCon *con = head->kind == TYPE_EXPR_CON ? (CtTyCon *)ct_types_find(types, SPACE_TYPE, head->name) : NULL;
    bool is_type = con == NULL || !con->is_synonym;
    con = without_synonym(types, con);
    CtConstraint derived = {.class_name = decl->name, .types = decl->head, .type_count = decl->head_count - 1};
    derived.range = decl->name.range;
    CtInstance *instance = con && con->decl ? declare_one(types, con, &derived) : NULL;
    if (instance)
        take_context(types, instance, decl);
    else if (head->kind != TYPE_EXPR_CON || (con ? !con->decl : !is_type))
        ct_error(types->context, CT_E0315, head->range, "%s can be derived for types that programs declare",
                 decl->name.text->text);
}

/* Reports an instance whose fields have instances of certain arguments only: `instance C [Char]` does not make
 * `newtype N a = N [a]` of class C, whatever a is. */
static void check_open(CtTypes *types, CtInstance *instance, CtTy *const *args) {
    const CtTyCon *con = instance->tycon;
    for (uint32_t i = 0; i < instance->head_count; i++) {
        CtTy *arg = ct_types_ty_resolve(args[i]);
        uint32_t same = 0;
        while (ct_types_ty_resolve(args[same]) != arg) same++;
        if (arg->kind == TY_META && same == i) continue;
        const char *what = same < i ? con->params[same]->name->text : ct_types_ty_text(types, arg);
        CtDiag *diag = ct_error(types->context, CT_E0315, instance->range,
                                "%s cannot be derived for `%s`: its parameter `%s` would have to be `%s`",
                                instance->class_->name->text, con->name->text, con->params[i]->name->text, what);
        ct_help(types->context, diag, "write an instance, for the types that are meant");
        instance->derived = false; /* no methods are generated for it */
        return;
    }
}

/* The constraints on what stands for a type's parameter. */
static CtPred *open_preds(CtTy *arg) {
    arg = ct_types_ty_resolve(arg);
    return arg->kind == TY_META ? arg->preds : NULL;
}

/* One iteration towards the least fixed point of the derived contexts: adds to an instance's context the constraints on
 * the type's parameters that the instances of its field types need, given the contexts found so far. True when the
 * context has grown. `report`: the iteration is over; reports fields whose type has no instance. */
static bool grow_context(CtTypes *types, CtInstance *instance, bool report) {
    if (instance->has_context) return false;
    CtMarks marks = ct_types_marks(types);
    CtTyCon *con = instance->tycon;
    CtTy **args = CT_NEW_ARRAY(types->arena, CtTy *, con->arity);
    bool changed = false;
    for (uint32_t i = 0; i < con->arity; i++) args[i] = ct_types_ty_meta(types, con->params[i]->arity);
    if (instance->via && !ct_types_solve_via(types, instance, args, report)) return false;
    bool functor = ct_types_derives_functor(instance->class_->name->text);
    if (functor && !instance->via) ct_types_solve_functor(types, instance, args);
    for (uint32_t i = 0; i < con->con_count && !instance->via && !functor; i++)
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
    if (report) check_open(types, instance, args);
    for (uint32_t i = 0; i < instance->head_count; i++)
        for (CtPred *pred = open_preds(args[i]); pred; pred = pred->next) {
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
            declare_one(types, decl->tycon, &decl->deriving[j]);
        if (decl->kind == DECL_DERIVING) declare_alone(types, decl);
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

/* The comparison of all fields: of the last one, by a method, where those in front of it are equal. Where they are not,
 * `unequal` adds the alternatives. */
static CtExpr *first_unequal(Derive *d, const CtDataCon *con, const char *last, void (*unequal)(Derive *, CtExpr *)) {
    CtExpr *all = apply2(d, global(d, last), field(d, "a", con->arity - 1), field(d, "b", con->arity - 1));
    for (uint32_t i = con->arity - 1; i > 0; i--) {
        CtExpr *e = expr(d, EXPR_CASE, 1);
        e->parts[0] = apply2(d, global(d, "compare"), field(d, "a", i - 1), field(d, "b", i - 1));
        e->alts = CT_NEW_ARRAY(d->types->arena, CtAlt, 3);
        CtDataCon *eq = library_con(d, "EQ");
        if (eq) add_alt(d, e, con_pat(d, eq, NULL), all);
        unequal(d, e);
        all = e;
    }
    return all;
}

static void same_order(Derive *d, CtExpr *cases) { add_alt(d, cases, variable(d, "o"), local(d, "o")); }

static void is_less(Derive *d, CtExpr *cases) {
    CtDataCon *lt = library_con(d, "LT");
    if (lt) add_alt(d, cases, con_pat(d, lt, NULL), constant(d, "True"));
    add_alt(d, cases, pat(d, PAT_WILD, 0), constant(d, "False"));
}

static CtExpr *compare_fields(Derive *d, const CtDataCon *con) {
    return con->arity ? first_unequal(d, con, "compare", same_order) : constant(d, "EQ");
}

static CtExpr *less_fields(Derive *d, const CtDataCon *con) {
    return con->arity ? first_unequal(d, con, "<", is_less) : constant(d, "False");
}

/* Generates ==, compare or <: clauses that compare the fields, for each constructor with fields (or the only
 * constructor), then a clause that compares the constructors' tags. */
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

/* Generates a comparison that is < of the arguments, perhaps exchanged, or not that. */
static void write_by_less(Derive *d, const char *name, const char *left, const char *right, bool negated) {
    CtBinding *binding = new_binding(d, name, 1);
    CtExpr *less = apply2(d, global(d, "<"), local(d, left), local(d, right));
    add_clause(d, binding, variable(d, "a"), variable(d, "b"),
               negated ? apply2(d, global(d, "not"), less, NULL) : less);
    finish(d, binding);
}

/* Generates a comparison of a newtype: that of the field. */
static void write_by_field(Derive *d, const char *name) {
    CtDataCon *con = d->instance->tycon->cons[0];
    CtBinding *binding = new_binding(d, name, 1);
    CtExpr *all = apply2(d, global(d, name), field(d, "a", 0), field(d, "b", 0));
    add_clause(d, binding, con_pat(d, con, "a"), con_pat(d, con, "b"), all);
    finish(d, binding);
}

enum { MAX_LESS = 3 /* constructors of a type for which < is generated */ };

/* The comparisons as GHC derives them, which differ from those by compare where a field has no order, as NaN. */
static void write_order(Derive *d) {
    const CtTyCon *con = d->instance->tycon;
    write_binary(d, "compare", compare_fields);
    bool has_fields = false;
    for (uint32_t i = 0; i < con->con_count; i++) has_fields |= con->cons[i]->arity > 0;
    if (!has_fields || con->con_count > MAX_LESS) return;
    if (con->is_newtype) {
        for (const char *const *name = (const char *const[]){"<", "<=", ">", ">=", NULL}; *name; name++)
            write_by_field(d, *name);
        return;
    }
    write_binary(d, "<", less_fields);
    write_by_less(d, ">", "b", "a", false);
    write_by_less(d, "<=", "b", "a", true);
    write_by_less(d, ">=", "a", "b", true);
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

static CtExpr *show_record(Derive *d, const CtDataCon *con, const char *name) {
    CtExpr *all = string(d, "}");
    for (uint32_t i = con->arity; i > 0; i--) {
        CtSym field = con->field_names[i - 1];
        const char *label = ct_format(d->types->arena, ct_syntax_is_operator_name(field) ? "%s(%s) = " : "%s%s = ",
                                      i > 1 ? ", " : ct_format(d->types->arena, "%s {", name), field->text);
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
    if (con->infix) {
        uint32_t precedence = con->precedence;
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

/* ---- Read: the readers of lib/reading.cot ---- */

static CtExpr *text_literal(Derive *d, const char *text) {
    CtExpr *e = expr(d, EXPR_LIT, 0);
    e->lit = (CtLit){.kind = LIT_STRING, .text = text, .text_length = strlen(text)};
    return e;
}

static CtExpr *list_of(Derive *d, CtExpr **items, uint32_t count) {
    CtExpr *e = expr(d, EXPR_LIST, count);
    for (uint32_t i = 0; i < count; i++) e->parts[i] = items[i];
    return e;
}

/* The tokens of a name: an operator in parentheses, an identifier between backquotes, `around`: where it must be. */
static CtExpr *name_tokens(Derive *d, CtSym name, bool around, const char *const *behind) {
    CtExpr *items[8];
    uint32_t count = 0;
    bool operator_name = ct_syntax_is_operator_name(name);
    if (around) items[count++] = text_literal(d, operator_name ? "(" : "`");
    items[count++] = text_literal(d, name->text);
    if (around) items[count++] = text_literal(d, operator_name ? ")" : "`");
    for (; *behind; behind++) items[count++] = text_literal(d, *behind);
    return list_of(d, items, count);
}

/* read'then reader precedence tokens */
static CtExpr *read_then(Derive *d, CtExpr *reader, uint32_t precedence, CtExpr *tokens) {
    CtExpr *e = expr(d, EXPR_APP, 4);
    e->parts[0] = global(d, "read'then");
    e->parts[1] = reader;
    e->parts[2] = integer(d, precedence);
    e->parts[3] = tokens;
    return e;
}

/* The fields of a record behind its brace, each as `name = value` and the comma or brace that follows. */
static CtExpr *read_record(Derive *d, const CtDataCon *con, CtExpr *reader) {
    static const char *const equals[] = {"=", NULL};
    for (uint32_t i = 0; i < con->arity; i++) {
        CtSym field = con->field_names[i];
        CtExpr *between = text_literal(d, i + 1 == con->arity ? "}" : ",");
        CtExpr *label = name_tokens(d, field, ct_syntax_is_operator_name(field), equals);
        reader = apply2(d, global(d, "read'past"), reader, label);
        reader = read_then(d, reader, 0, list_of(d, &between, 1));
    }
    return reader;
}

static CtExpr *read_fields(Derive *d, CtDataCon *con) {
    static const char *const none[] = {NULL};
    bool symbol_name = con->name->text[0] == ':';
    if (con->infix) {
        CtExpr *left = apply2(d, global(d, "read'token"), list_of(d, NULL, 0), plain(d, con));
        left = read_then(d, left, con->precedence + 1u, name_tokens(d, con->name, !symbol_name, none));
        return read_then(d, left, con->precedence + 1u, list_of(d, NULL, 0));
    }
    bool record = con->field_names && con->arity > 0;
    static const char *const brace[] = {"{", NULL};
    CtExpr *reader = apply2(d, global(d, "read'token"), name_tokens(d, con->name, symbol_name, record ? brace : none),
                            plain(d, con));
    if (record) return read_record(d, con, reader);
    for (uint32_t i = 0; i < con->arity; i++) reader = read_then(d, reader, 11, list_of(d, NULL, 0));
    return reader;
}

static void write_read(Derive *d) {
    CtTyCon *con = d->instance->tycon;
    CtExpr *ways = expr(d, EXPR_LIST, con->con_count), *whole = expr(d, EXPR_APP, 4);
    for (uint32_t i = 0; i < con->con_count; i++) {
        CtDataCon *data = con->cons[i];
        CtExpr *way = ways->parts[i] = expr(d, EXPR_TUPLE, 2);
        way->parts[0] = integer(d, data->infix ? data->precedence : data->field_names || data->arity == 0 ? 11 : 10);
        way->parts[1] = read_fields(d, data);
    }
    whole->parts[0] = global(d, "read'choice");
    whole->parts[1] = local(d, "d");
    whole->parts[2] = ways;
    whole->parts[3] = local(d, "r");
    CtBinding *binding = new_binding(d, "readsPrec", 1);
    add_clause(d, binding, variable(d, "d"), variable(d, "r"), whole);
    finish(d, binding);
}

/* ---- Ix: of an enumeration by its tags, of a product as of a tuple ---- */

static CtExpr *method(Derive *d, const char *name) {
    CtExpr *e = local(d, name);
    for (uint32_t i = 0; i < d->instance->class_->method_count; i++)
        if (d->instance->class_->methods[i]->name == e->name.text) e->entity = d->instance->class_->methods[i];
    if (!e->entity) return global(d, name);
    return e;
}

static CtPat *pair_pat(Derive *d, CtPat *first, CtPat *second) {
    CtPat *pair = pat(d, PAT_TUPLE, 2);
    pair->parts[0] = first;
    pair->parts[1] = second;
    return pair;
}

static CtExpr *pair_of(Derive *d, CtExpr *first, CtExpr *second) {
    CtExpr *pair = expr(d, EXPR_TUPLE, 2);
    pair->parts[0] = first;
    pair->parts[1] = second;
    return pair;
}

/* The fields as a tuple; the field itself if there is one. */
static CtExpr *tuple_of(Derive *d, const CtDataCon *con, const char *letter) {
    if (con->arity == 1) return field(d, letter, 0);
    CtExpr *tuple = expr(d, EXPR_TUPLE, con->arity);
    for (uint32_t i = 0; i < con->arity; i++) tuple->parts[i] = field(d, letter, i);
    return tuple;
}

/* \fields -> C fields */
static CtExpr *from_tuple(Derive *d, CtDataCon *con) {
    CtExpr *lam = expr(d, EXPR_LAM, 1), *made = expr(d, EXPR_APP, con->arity + 1);
    CtPat *whole = con->arity == 1 ? variable(d, "c0") : pat(d, PAT_TUPLE, con->arity);
    for (uint32_t i = 0; con->arity > 1 && i < con->arity; i++)
        whole->parts[i] = variable(d, ct_format(d->types->arena, "c%u", i));
    made->parts[0] = plain(d, con);
    for (uint32_t i = 0; i < con->arity; i++) made->parts[i + 1] = field(d, "c", i);
    lam->pats = CT_NEW(d->types->arena, CtPat *);
    lam->pats[0] = whole;
    lam->pat_count = 1;
    lam->parts[0] = made;
    return lam;
}

static CtExpr *from_tag(Derive *d) {
    CtTyCon *con = d->instance->tycon;
    CtExpr *lam = expr(d, EXPR_LAM, 1), *choice = expr(d, EXPR_CASE, 1);
    choice->parts[0] = local(d, "i");
    choice->alts = CT_NEW_ARRAY(d->types->arena, CtAlt, con->con_count);
    for (uint32_t i = 0; i < con->con_count; i++) {
        bool last = i + 1 == con->con_count;
        CtPat *number = pat(d, last ? PAT_WILD : PAT_LIT, 0);
        if (!last) number->lit = (CtLit){.kind = LIT_INT, .integer = i, .fraction = i};
        add_alt(d, choice, number, plain(d, con->cons[i]));
    }
    lam->pats = CT_NEW(d->types->arena, CtPat *);
    lam->pats[0] = variable(d, "i");
    lam->pat_count = 1;
    lam->parts[0] = choice;
    return lam;
}

/* index or inRange */
static void write_ix_of(Derive *d, const char *name, bool product) {
    CtDataCon *con = d->instance->tycon->cons[0];
    CtBinding *binding = new_binding(d, name, 1);
    CtPat *low = product ? con_pat(d, con, "a") : variable(d, "a"),
          *high = product ? con_pat(d, con, "b") : variable(d, "b");
    CtExpr *body;
    if (product) {
        CtExpr *bounds = pair_of(d, tuple_of(d, con, "a"), tuple_of(d, con, "b"));
        body = apply2(d, method(d, name), bounds, tuple_of(d, con, "c"));
    } else {
        CtExpr *bounds = pair_of(d, tag_of(d, "a"), tag_of(d, "b"));
        body = apply2(d, global(d, ct_format(d->types->arena, "ix'%s", name)), bounds, tag_of(d, "c"));
    }
    add_clause(d, binding, pair_pat(d, low, high), product ? con_pat(d, con, "c") : variable(d, "c"), body);
    finish(d, binding);
}

static void write_ix(Derive *d) {
    CtDataCon *con = d->instance->tycon->cons[0];
    bool product = d->instance->tycon->con_count == 1 && con->arity > 0;
    CtBinding *range = new_binding(d, "range", 1);
    if (product) {
        CtExpr *bounds = pair_of(d, tuple_of(d, con, "a"), tuple_of(d, con, "b"));
        CtExpr *all = apply2(d, global(d, "mapList"), from_tuple(d, con), apply2(d, method(d, "range"), bounds, NULL));
        add_clause(d, range, pair_pat(d, con_pat(d, con, "a"), con_pat(d, con, "b")), NULL, all);
    } else {
        CtExpr *tags = apply2(d, global(d, "intRange"), tag_of(d, "a"), tag_of(d, "b"));
        CtExpr *all = apply2(d, global(d, "mapList"), from_tag(d), tags);
        add_clause(d, range, pair_pat(d, variable(d, "a"), variable(d, "b")), NULL, all);
    }
    finish(d, range);
    write_ix_of(d, "index", product);
    write_ix_of(d, "inRange", product);
}

static void write_instance(CtTypes *types, CtInstance *instance) {
    Derive derive = {types, instance, instance->range, false}, *d = &derive;
    CtTyCon *con = instance->tycon;
    if (con->con_count == 0 || ct_types_derive_functor(types, instance)) return;
    const char *name = instance->class_->name->text;
    if (!strcmp(name, "Eq")) write_binary(d, "==", equal_fields);
    if (!strcmp(name, "Ord")) write_order(d);
    if (!strcmp(name, "Show")) write_show(d);
    if (!strcmp(name, "Read")) write_read(d);
    if (!strcmp(name, "Enum")) write_enum(d);
    if (!strcmp(name, "Ix")) write_ix(d);
    if (strcmp(name, "Bounded") != 0) return;
    write_bound(d, "minBound", con->cons[0]);
    write_bound(d, "maxBound", con->cons[con->con_count - 1]);
}

void ct_types_derive_methods(CtTypes *types) {
    for (uint32_t i = 0; i < types->new_instances.count; i++)
        if (types->new_instances.items[i]->derived) write_instance(types, types->new_instances.items[i]);
}
