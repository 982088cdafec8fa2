/* Patterns that are functions of the library. Haskell's Data.Sequence matches a sequence with
 *
 *   Empty     x :<| rest     rest :|> x
 *
 * though it is made of neither. They are constructors of the type here, which only programs use. In a pattern they
 * match what a function makes of the value (elab/match.c), in an expression they are the function that makes the value.
 */
#include "types/internal.h"

static const struct Row {
    const char *con, *view, *build;
} rows[] = {{"Empty", "seq'left", "empty"}, {":<|", "seq'left", "<|"}, {":|>", "seq'right", "|>"}};

static const char module[] = "Data.Sequence";

static const struct Row *row_of(CtTypes *types, const CtDataCon *con) {
    bool is_library = con->range.source && types->context->sources.items[con->range.source].is_library;
    if (!is_library || strcmp(con->tycon->name->text, "Seq") != 0) return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(con->name->text, rows[i].con)) return &rows[i];
    return NULL;
}

static CtEntity *exported(CtTypes *types, const char *name) {
    return ct_types_exported(types, module, ct_intern_text(&types->context->symbols, name));
}

CtEntity *ct_types_view(CtTypes *types, const CtDataCon *con) {
    const struct Row *row = row_of(types, con);
    return row ? exported(types, row->view) : NULL;
}

void ct_types_build_view(CtTypes *types, CtExpr *expr) {
    const struct Row *row = types->is_library || !expr->con ? NULL : row_of(types, expr->con);
    CtEntity *build = row ? exported(types, row->build) : NULL;
    if (!build) return;
    expr->kind = EXPR_VAR;
    expr->entity = build;
}
