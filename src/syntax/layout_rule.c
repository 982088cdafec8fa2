/* The layout rule of Haskell 98 §9.3, applied while the parser reads.
 *
 * The report's algorithm L inserts `{`, `;` and `}`. Here the inserted tokens are kinds that the parser sees before the
 * next source token: TOKEN_NEXT_LINE for `;` and TOKEN_DEDENT for `}`. The rule parse-error(t), "a block also ends
 * where the next token cannot belong to it", is in ct_syntax_block_next: the block ends where one of its items has
 * ended and no separator follows. As in GHC, the block of a `do` inside of another block may begin at that one's
 * column:
 *
 *   if null xs then return () else do
 *   print (head xs)
 */
#include "syntax/internal.h"

/* A line that goes on with, or ends, the fields between braces belongs to no block, however far left it begins. */
static bool in_record(const CtParser *p, const CtToken *token) {
    bool goes_on = token->kind == TOKEN_RBRACE || token->kind == TOKEN_COMMA, begins_field = false;
    if (p->at > 0) begins_field = token[-1].kind == TOKEN_LBRACE || token[-1].kind == TOKEN_COMMA;
    return (goes_on || begins_field) && p->open != CT_NO_TOKEN && p->tokens[p->open].kind == TOKEN_LBRACE;
}

void ct_syntax_settle(CtParser *p) {
    const CtToken *token = ct_syntax_token(p);
    p->kind = (CtTokenKind)token->kind;
    if (p->blocks.count == 0) return;
    uint32_t column = p->blocks.items[p->blocks.count - 1];
    if (column == 0 || in_record(p, token)) return;
    bool goes_on = p->blocks.count == p->guards && token->kind != TOKEN_BAR;
    if (token->kind == TOKEN_END)
        p->kind = TOKEN_DEDENT;
    else if (p->fresh && token->column == column && !goes_on)
        p->kind = TOKEN_NEXT_LINE;
    else if (p->fresh && token->column < column)
        p->kind = TOKEN_DEDENT;
}

void ct_syntax_advance(CtParser *p) {
    const CtToken *token = ct_syntax_token(p);
    if (p->kind == TOKEN_NEXT_LINE) {
        p->fresh = false;
        p->kind = (CtTokenKind)token->kind;
        return;
    }
    if (token->kind == TOKEN_END) return;
    p->last_end = token->end;
    p->at++;
    p->fresh = ct_syntax_token(p)->first_on_line;
    ct_syntax_settle(p);
}

void ct_syntax_mark(CtParser *p, CtMarkKind kind) {
    if (p->marks != NULL) ct_push(p->context->arena, p->marks, ((CtMark){p->at, kind}));
}

CtBlock ct_syntax_block_open(CtParser *p) {
    CtBlock block = {.opened = p->at, .outer_open = p->open};
    const CtToken *token = ct_syntax_token(p);
    uint32_t outer = p->blocks.count == 0 ? 0 : p->blocks.items[p->blocks.count - 1];
    bool same_column = p->at > 0 && token[-1].kind == TOKEN_DO && p->blocks.count > 1;
    if (token->kind == TOKEN_LBRACE) {
        block.in_braces = true;
        p->open = p->at;
        ct_syntax_mark(p, MARK_BRACES);
        ct_push(p->context->arena, &p->blocks, 0u);
        p->fresh = false;
        ct_syntax_settle(p);
        ct_syntax_advance(p);
    } else if (token->kind != TOKEN_END && (token->column > outer || (same_column && token->column == outer))) {
        ct_syntax_mark(p, MARK_OPEN);
        ct_push(p->context->arena, &p->blocks, token->column);
        p->fresh = false;
        ct_syntax_settle(p);
    } else {
        block.is_empty = true; /* the report's {n}, n not greater than the enclosing block's column: inserts `{` `}` */
    }
    return block;
}

void ct_syntax_block_close(CtParser *p) {
    p->blocks.count--;
    ct_syntax_mark(p, MARK_CLOSE);
    ct_syntax_settle(p);
}

/* Whether a token can start no item of any block. After a `;`, written or inserted by layout, such a token ends the
 * block by parse-error(t). */
static bool ends_block(CtTokenKind kind) {
    switch (kind) {
    case TOKEN_WHERE:
    case TOKEN_IN:
    case TOKEN_OF:
    case TOKEN_THEN:
    case TOKEN_ELSE:
    case TOKEN_RPAREN:
    case TOKEN_RBRACKET:
    case TOKEN_RARRAY:
    case TOKEN_RBRACE:
    case TOKEN_COMMA: return true;
    default: return false;
    }
}

static bool next_in_braces(CtParser *p, CtBlock *block) {
    bool separated = !block->started;
    block->started = true;
    while (p->kind == TOKEN_SEMICOLON) {
        separated = true;
        ct_syntax_advance(p);
    }
    if (p->kind != TOKEN_RBRACE) {
        if (!separated) ct_syntax_fail(p, "`;` or `}`");
        if (p->kind == TOKEN_END) ct_syntax_fail(p, "`}`");
        return true;
    }
    p->open = block->outer_open;
    p->blocks.count--;
    ct_syntax_mark(p, MARK_CLOSE);
    ct_syntax_advance(p);
    return false;
}

bool ct_syntax_block_next(CtParser *p, CtBlock *block) {
    if (block->is_empty) return false;
    if (block->in_braces) return next_in_braces(p, block);
    bool separated = !block->started;
    block->started = true;
    while (p->kind == TOKEN_SEMICOLON || p->kind == TOKEN_NEXT_LINE) {
        separated = true;
        ct_syntax_advance(p);
    }
    if (p->kind != TOKEN_DEDENT && separated && !ends_block(p->kind)) {
        ct_syntax_mark(p, MARK_ITEM);
        return true;
    }
    if (p->kind == TOKEN_DEDENT && p->dedented != p->at) { /* record only the innermost block that the line ends */
        p->dedented = p->at;
        p->dedent_column = p->blocks.items[p->blocks.count - 1];
    }
    ct_syntax_block_close(p);
    return false;
}
