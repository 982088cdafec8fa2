/* Normalises patterns for match.c: a variable is bound to the variable of its column, lists and strings become
 * constructor patterns one cell at a time, and the fields of record patterns are put into the order of declaration.
 */
#include "elab/internal.h"

/* Binds the pattern's entity to the variable of the column. If the entity already has a variable (Local.given), this
 * variable is bound by a let at the end of the match instead. */
static void bind(CtElab *el, Row *row, const CtPat *pat, CtVar *var) {
    CtEntity *entity = pat->entity;
    Local *local = entity->elab;
    if (local != NULL && local->given) {
        CtCore *value = ct_core_var(el->program, pat->range, var);
        if (local->var != var) ct_push(el->arena, &row->binds, (Pending){local->var, value, pat->range});
        return;
    }
    local = CT_NEW(el->arena, Local);
    local->var = var;
    local->type = ct_elab_ground(el, pat->type);
    entity->elab = local;
}

static CtPat *pat_new(CtElab *el, const CtPat *like, CtPatKind kind, uint32_t parts) {
    CtPat *pat = CT_NEW(el->arena, CtPat);
    pat->kind = kind;
    pat->range = like->range;
    pat->type = like->type;
    pat->part_count = parts;
    pat->parts = CT_NEW_ARRAY(el->arena, CtPat *, parts);
    return pat;
}

static CtPat *list_cell(CtElab *el, const CtPat *like, CtPat *head, CtPat *tail) {
    CtDataCon **cons = ct_types_con_list(el->types)->cons;
    CtPat *cell = pat_new(el, like, PAT_CON, head == NULL ? 0 : 2);
    cell->con = cons[head == NULL ? 0 : 1];
    if (head == NULL) return cell;
    cell->parts[0] = head;
    cell->parts[1] = tail;
    return cell;
}

/* [p, q, …] is p : [q, …] */
static CtPat *list_pattern(CtElab *el, const CtPat *pat) {
    if (pat->part_count == 0) return list_cell(el, pat, NULL, NULL);
    CtPat *tail = CT_NEW(el->arena, CtPat);
    *tail = *pat;
    tail->parts = pat->parts + 1;
    tail->part_count = pat->part_count - 1;
    return list_cell(el, pat, pat->parts[0], tail);
}

/* One code point of valid UTF-8, and how many bytes it takes. */
static int64_t code_point(const char *text, size_t *length) {
    unsigned char first = (unsigned char)text[0];
    *length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (*length == 1) return first;
    int64_t point = first & (0xFF >> (*length + 1));
    for (size_t i = 1; i < *length; i++) point = point << 6 | ((unsigned char)text[i] & 0x3F);
    return point;
}

/* "abc" is 'a' : "bc" */
static CtPat *string_pattern(CtElab *el, const CtPat *pat) {
    if (pat->lit.text_length == 0) return list_cell(el, pat, NULL, NULL);
    size_t length;
    CtPat *head = pat_new(el, pat, PAT_LIT, 0);
    head->lit = (CtLit){.kind = LIT_CHAR, .integer = code_point(pat->lit.text, &length)};
    head->type = ct_types_ty_resolve(pat->type)->arg;
    CtPat *tail = CT_NEW(el->arena, CtPat);
    *tail = *pat;
    tail->lit.text += length;
    tail->lit.text_length -= length;
    return list_cell(el, pat, head, tail);
}

static CtPat *record_pattern(CtElab *el, const CtPat *pat) {
    const CtDataCon *con = pat->con;
    CtPat *out = pat_new(el, pat, PAT_CON, con->arity);
    out->con = pat->con;
    out->exists = pat->exists;
    for (uint32_t i = 0; i < con->arity; i++)
        for (uint32_t j = 0; j < pat->part_count; j++)
            if (con->field_names != NULL && con->field_names[i] == pat->fields[j].text) out->parts[i] = pat->parts[j];
    return out;
}

/* Whether a pattern is (), which every value matches. A lazy program evaluates the value for it. */
static bool is_any_unit(const CtElab *el, const CtPat *pat) {
    return pat->kind == PAT_TUPLE && pat->part_count == 0 && !el->is_lazy;
}

/* In a lazy program, `!p` evaluates what is matched, at the end of the match. Other patterns than names, `_` and those
 * with types do so by themselves. */
static void evaluate(CtElab *el, Row *row, const CtPat *pat, CtVar *var) {
    if (!pat->bang || !el->is_lazy) return;
    CtVar *now = ct_core_var_new(el->program, "now", var->type);
    now->is_strict = true;
    ct_push(el->arena, &row->binds, (Pending){now, ct_core_var(el->program, pat->range, var), pat->range});
}

void ct_elab_row_normalise(CtElab *el, Row *row, uint32_t column, CtVar *var) {
    CtPat *pat = row->pats[column];
    for (bool more = true; more && pat != NULL;) {
        switch (pat->kind) {
        case PAT_WILD:
            evaluate(el, row, pat, var);
            pat = NULL;
            break;
        case PAT_VAR:
            bind(el, row, pat, var);
            evaluate(el, row, pat, var);
            pat = NULL;
            break;
        case PAT_AS:
            bind(el, row, pat, var);
            evaluate(el, row, pat, var);
            pat = pat->parts[0];
            break;
        case PAT_ANNOT:
            evaluate(el, row, pat, var);
            pat = pat->parts[0];
            break;
        case PAT_LIST: pat = list_pattern(el, pat); break;
        case PAT_RECORD: pat = record_pattern(el, pat); break;
        case PAT_TUPLE:
            if (is_any_unit(el, pat)) pat = NULL;
            more = false;
            break;
        case PAT_LIT:
            if (pat->lit.kind == LIT_STRING)
                pat = string_pattern(el, pat);
            else
                more = false;
            break;
        case PAT_CON:
        case PAT_VIEW:
        case PAT_CHAIN: more = false; break;
        }
    }
    row->pats[column] = pat;
}

/* The variable pattern or as-pattern that names the whole value, or NULL. */
static const CtPat *naming(const CtPat *pat) {
    while (pat != NULL && pat->kind == PAT_ANNOT) pat = pat->parts[0];
    return pat != NULL && (pat->kind == PAT_VAR || pat->kind == PAT_AS) ? pat : NULL;
}

CtVar *ct_elab_column(CtElab *el, Row *rows, uint32_t row_count, uint32_t column, CtType *type) {
    const CtPat *named = NULL;
    for (uint32_t i = 0; i < row_count && named == NULL; i++) named = naming(rows[i].pats[column]);
    if (named == NULL) return ct_core_var_new(el->program, "x", type);
    Local *local = named->entity->elab;
    if (row_count == 1 && local != NULL && local->given) return local->var;
    return ct_core_var_new(el->program, named->name.text->text, type);
}

bool ct_elab_column_used(const CtElab *el, Row *rows, uint32_t row_count, uint32_t column) {
    for (uint32_t i = 0; i < row_count; i++) {
        const CtPat *pat = rows[i].pats[column];
        while (pat != NULL && pat->kind == PAT_ANNOT && !pat->bang) pat = pat->parts[0];
        if (pat != NULL && pat->bang) return true;
        if (pat != NULL && pat->kind != PAT_WILD && !is_any_unit(el, pat)) return true;
    }
    return false;
}
