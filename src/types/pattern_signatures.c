/* Polymorphic signatures of variables that a pattern binds, Haskell 98 §4.4.1:
 *
 *   f :: a -> a; (f, y) = e      becomes      f :: a -> a; f = f'; (f', y) = e
 *
 * where f' is a name that programs cannot write. The pattern's variables are inferred and generalised as without
 * signatures, and f is held against its signature like any other binding.
 */
#include "types/internal.h"

static bool has_variable(const CtTypeExpr *type) {
    for (;;) {
        if (type->kind == TYPE_EXPR_VAR) return true;
        if (type->part_count == 0) return false;
        for (uint32_t i = 0; i + 1 < type->part_count; i++)
            if (has_variable(type->parts[i])) return true;
        type = type->parts[type->part_count - 1];
    }
}

/* The names of a declaration group whose signatures have type variables. */
static bool signed_names(CtTypes *types, const CtDecls *decls, CtMap *names) {
    bool some = false;
    for (uint32_t i = 0; i < decls->count; i++) {
        const CtDecl *decl = &decls->items[i];
        if (decl->kind != DECL_SIGNATURE || !has_variable(decl->type.type)) continue;
        for (uint32_t j = 0; j < decl->name_count; j++)
            ct_map_set(types->arena, names, ct_key(decl->names[j].text), (void *)decl);
        some = true;
    }
    return some;
}

/* name = hidden */
static CtDecl renaming(CtTypes *types, CtName name, CtName hidden) {
    CtExpr *use = CT_NEW(types->arena, CtExpr);
    use->kind = EXPR_VAR;
    use->range = name.range;
    use->name = hidden;
    CtBinding *binding = CT_NEW(types->arena, CtBinding);
    binding->made = true;
    binding->name = name;
    binding->range = name.range;
    binding->clauses = CT_NEW(types->arena, CtClause);
    binding->clause_count = 1;
    CtClause *clause = binding->clauses;
    clause->range = name.range;
    clause->rhs.guarded = CT_NEW(types->arena, CtGuarded);
    clause->rhs.guarded->body = use;
    clause->rhs.guarded->range = name.range;
    clause->rhs.guarded_count = 1;
    return (CtDecl){.kind = DECL_BINDING, .range = name.range, .binding = binding};
}

typedef CT_VEC(CtDecl) Decls;

static void split(CtTypes *types, CtPat *pat, const CtMap *names, Decls *added) {
    for (;;) {
        bool variable = pat->kind == PAT_VAR || pat->kind == PAT_AS;
        if (variable && ct_map_has(names, ct_key(pat->name.text))) {
            CtName hidden = pat->name;
            hidden.text = ct_intern_text(&types->context->symbols,
                                         ct_format(types->arena, "%s of its pattern", pat->name.text->text));
            ct_push(types->arena, added, renaming(types, pat->name, hidden));
            pat->name = hidden;
        }
        if (!pat->part_count) return;
        for (uint32_t i = 0; i + 1 < pat->part_count; i++) split(types, pat->parts[i], names, added);
        pat = pat->parts[pat->part_count - 1];
    }
}

void ct_types_split_patterns(CtTypes *types, CtDecls *decls) {
    CtMap names = {0};
    bool patterns = false;
    for (uint32_t i = 0; i < decls->count; i++)
        patterns |= decls->items[i].kind == DECL_BINDING && decls->items[i].binding->pat;
    if (!patterns || !signed_names(types, decls, &names)) return;
    Decls all = {0};
    for (uint32_t i = 0; i < decls->count; i++) ct_push(types->arena, &all, decls->items[i]);
    for (uint32_t i = 0; i < decls->count; i++)
        if (decls->items[i].kind == DECL_BINDING && decls->items[i].binding->pat)
            split(types, decls->items[i].binding->pat, &names, &all);
    decls->items = all.items;
    decls->count = all.count;
}
