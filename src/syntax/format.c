/* The formatter. It keeps the author's line breaks and changes only blanks: between tokens (format_space.c), in the
 * indentation of lines, and in front of tokens that the author aligned over several lines.
 *
 * All items of a layout block start at one column, two right of the line that opens the block or of a word in that
 * line. A continuation line keeps its alignment with a token above it, or else its distance from the line that it
 * continues. `where` is indented by two from its item, and so are `=`, guards and `deriving` that do not stand under a
 * token of their kind. Tokens that the author aligned over several lines stay aligned. Each of these columns may depend
 * on others, so all are recomputed until none changes, or MOST_ROUNDS times. Finally the result is parsed again: its
 * tokens, comments and blocks must equal the source's.
 */
#include "syntax/format.h"

#include <stdlib.h>

enum { STEP = 2, LOOK_BACK = 60, MOST_ROUNDS = 12, NONE = UINT32_MAX };

/* A token or a comment; `column` is its column in the source, from 1, and `placed` its column in the output. */
typedef struct Piece {
    uint32_t start, end;
    uint32_t token; /* index of the token; NONE for a comment */
    uint32_t column;
    uint32_t gap;     /* minimal number of blanks before a piece that is not the first of its line */
    uint32_t padding; /* blanks beyond `gap` that align the piece with pieces of neighbouring lines */
    uint32_t width;   /* in characters; of the last line, when the piece has several */
    bool several_lines;
    uint32_t placed;
} Piece;

typedef struct Line {
    uint32_t first, count; /* range in `pieces` */
    bool blank_before;
    bool is_comment;    /* the line holds only comments */
    uint32_t item;      /* the piece that begins the block item to which the line belongs, or NONE outside all blocks */
    uint32_t depth;     /* number of brackets of the block that are open where the line starts, its braces included */
    bool is_item;       /* the line begins an item */
    bool opens;         /* the line begins the first item of a block whose keyword is on an earlier line */
    uint32_t opener;    /* if `opens`: the index of that earlier line */
    uint32_t enclosing; /* the piece that begins the line's block (if `opens`: the block around that), or NONE */
} Line;

typedef struct Block {
    bool in_braces;
    uint32_t item;  /* the piece that began the block's latest item */
    uint32_t first; /* the piece that began the block */
    uint32_t depth; /* number of brackets open around the block */
} Block;

/* A run of `count` consecutive lines, each with a piece at source column `column` (the run's pieces are of one sort,
 * and at least one of them had more than one blank before it): the pieces are aligned in the output too. */
typedef struct Aligned {
    uint32_t column, first_line, count;
} Aligned;

typedef struct Formatter {
    CtContext *context;
    CtArena *arena;
    const char *text;
    CtOutline outline;
    CT_VEC(Piece) pieces;
    CT_VEC(Line) lines;
    CT_VEC(Aligned) aligned;
} Formatter;

/* ---- pieces and lines ---- */

static uint32_t characters(const char *text, uint32_t start, uint32_t end) {
    uint32_t count = 0;
    for (uint32_t i = start; i < end; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

static Piece piece(const Formatter *f, uint32_t start, uint32_t end, uint32_t column, uint32_t token) {
    Piece p = {.start = start, .end = end, .column = column, .token = token};
    uint32_t last = end;
    while (last > start && f->text[last - 1] != '\n') last--;
    p.several_lines = last > start;
    p.width = characters(f->text, last, end);
    return p;
}

/* Merges tokens and comments into `pieces`, in source order. */
static void make_pieces(Formatter *f) {
    const CtOutline *o = &f->outline;
    uint32_t t = 0, c = 0;
    while (t + 1 < o->tokens.count || c < o->comments.count) { /* the last token is TOKEN_END */
        bool comment = c < o->comments.count &&
                       (t + 1 >= o->tokens.count || o->comments.items[c].start < o->tokens.items[t].start);
        if (comment) {
            const CtComment *at = &o->comments.items[c++];
            ct_push(f->arena, &f->pieces, piece(f, at->start, at->end, at->column, NONE));
        } else {
            const CtToken *at = &o->tokens.items[t];
            ct_push(f->arena, &f->pieces, piece(f, at->start, at->end, at->column, t));
            t++;
        }
    }
}

static uint32_t line_ends(const Formatter *f, uint32_t from, uint32_t to) {
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++) count += f->text[i] == '\n';
    return count;
}

static void make_lines(Formatter *f) {
    for (uint32_t i = 0; i < f->pieces.count; i++) {
        const Piece *p = &f->pieces.items[i];
        uint32_t ends = i == 0 ? 0 : line_ends(f, p[-1].end, p->start);
        if (i == 0 || ends > 0) {
            Line line = {.first = i, .blank_before = ends > 1, .is_comment = true, .item = NONE, .enclosing = NONE};
            ct_push(f->arena, &f->lines, line);
        }
        Line *line = &f->lines.items[f->lines.count - 1];
        line->count++;
        line->is_comment = line->is_comment && p->token == NONE;
    }
}

/* ---- gaps ---- */

static void set_gaps(Formatter *f) {
    const CtToken *tokens = f->outline.tokens.items;
    CtSpacing spacing = {.tokens = tokens};
    for (uint32_t i = 0; i < f->pieces.count; i++) {
        Piece *p = &f->pieces.items[i];
        if (p->token == NONE) {
            uint32_t before = i > 0 ? p->start - p[-1].end : 0;
            p->gap = before > 1 && f->text[p->start] == '-' ? 2 : 1;
            continue;
        }
        const CtToken *t = &tokens[p->token];
        if (t->kind == TOKEN_IMPORT || t->kind == TOKEN_MODULE) spacing.in_list = true;
        if (t->first_on_line && t->column == 1 && t->kind != TOKEN_IMPORT && t->kind != TOKEN_MODULE &&
            t->kind != TOKEN_RPAREN && t->kind != TOKEN_LPAREN)
            spacing.in_list = false;
        if (t->kind == TOKEN_WHERE) spacing.in_list = false;
        bool after_comment = i > 0 && p[-1].token == NONE;
        p->gap = after_comment ? 1 : p->token > 0 && ct_syntax_format_space(&spacing, p->token) ? 1 : 0;
        if (t->kind == TOKEN_BACKQUOTE) spacing.backquotes++;
    }
}

/* ---- blocks ---- */

/* Sets the fields of each line that concern blocks: `item`, `depth`, `is_item`, `opens`, `opener` and `enclosing`. */
static void find_items(Formatter *f) {
    const CtOutline *o = &f->outline;
    CT_VEC(Block) blocks = {0};
    CT_VEC(uint32_t) line_of = {0}; /* the line of each token */
    uint32_t mark = 0, depth = 0, line = 0;
    for (uint32_t i = 0; i < f->pieces.count; i++) {
        while (line + 1 < f->lines.count && f->lines.items[line + 1].first <= i) line++;
        const Piece *p = &f->pieces.items[i];
        Line *l = &f->lines.items[line];
        bool leads = l->first == i || (l->item == NONE && !l->is_comment && p->token != NONE);
        if (p->token == NONE) continue;
        ct_push(f->arena, &line_of, line);
        bool opened = false;
        uint32_t around = NONE;
        for (; mark < o->marks.count && o->marks.items[mark].token <= p->token; mark++) {
            Block block = {.first = i, .item = i, .depth = depth};
            switch (o->marks.items[mark].kind) {
            case MARK_OPEN:
            case MARK_BRACES:
                around = blocks.count > 0 ? blocks.items[blocks.count - 1].first : NONE;
                block.in_braces = o->marks.items[mark].kind == MARK_BRACES;
                opened = !block.in_braces;
                ct_push(f->arena, &blocks, block);
                break;
            case MARK_ITEM:
                if (blocks.count > 0 && !blocks.items[blocks.count - 1].in_braces) {
                    blocks.items[blocks.count - 1].item = i;
                    l->is_item = l->is_item || leads;
                }
                break;
            case MARK_CLOSE:
                if (blocks.count > 0) blocks.count--;
                break;
            }
        }
        if (leads) {
            const Block *b = blocks.count > 0 ? &blocks.items[blocks.count - 1] : NULL;
            l->item = b != NULL ? b->item : NONE;
            l->depth = b != NULL ? depth - b->depth : depth;
            if (b != NULL && b->in_braces) l->depth++;
            l->enclosing = b != NULL ? b->first : NONE;
            if (opened) {
                l->opens = p->token > 0;
                l->opener = l->opens ? line_of.items[p->token - 1] : 0;
                l->enclosing = around;
            }
        }
        const uint8_t kind = o->tokens.items[p->token].kind;
        if (kind == TOKEN_LPAREN || kind == TOKEN_LBRACKET || kind == TOKEN_LARRAY || kind == TOKEN_LBRACE) depth++;
        if (kind == TOKEN_RPAREN || kind == TOKEN_RBRACKET || kind == TOKEN_RARRAY || kind == TOKEN_RBRACE)
            depth -= depth > 0;
    }
}

/* ---- alignment ---- */

/* The sort of a piece; only pieces of the same sort are kept aligned. Each kind of operator, separator and keyword
 * below is a sort of its own, comments are one (1), and all other tokens together are one (0). */
static uint32_t sort_of(const Formatter *f, const Piece *p) {
    if (p->token == NONE) return 1;
    CtTokenKind kind = (CtTokenKind)f->outline.tokens.items[p->token].kind;
    switch (kind) {
    case TOKEN_VARSYM:
    case TOKEN_CONSYM:
    case TOKEN_MINUS:
    case TOKEN_EQUALS:
    case TOKEN_BAR:
    case TOKEN_DCOLON:
    case TOKEN_LARROW:
    case TOKEN_RARROW:
    case TOKEN_DARROW:
    case TOKEN_COMMA:
    case TOKEN_DERIVING:
    case TOKEN_THEN:
    case TOKEN_ELSE:
    case TOKEN_OF:
    case TOKEN_BACKQUOTE: return 2 + (uint32_t)kind;
    default: return 0;
    }
}

/* The piece at a source column of a line; NULL when there is none or it is the line's first piece. */
static Piece *piece_at(const Formatter *f, const Line *line, uint32_t column) {
    for (uint32_t i = 1; i < line->count; i++)
        if (f->pieces.items[line->first + i].column == column) return &f->pieces.items[line->first + i];
    return NULL;
}

static bool has_padding(const Piece *p) { return p->column > p[-1].column + p[-1].width + 1 && !p[-1].several_lines; }

/* Orders runs from left to right, because aligning a run moves the pieces to its right. */
static int by_column(const void *x, const void *y) {
    const Aligned *a = x, *b = y;
    if (a->column != b->column) return a->column < b->column ? -1 : 1;
    return a->first_line < b->first_line ? -1 : a->first_line > b->first_line;
}

static void find_aligned(Formatter *f) {
    CtMap seen = {0}; /* pieces already in a run */
    for (uint32_t l = 0; l < f->lines.count; l++) {
        const Line *line = &f->lines.items[l];
        for (uint32_t i = 1; i < line->count; i++) {
            const Piece *p = &f->pieces.items[line->first + i];
            /* A piece without a gap moves with its left neighbour. */
            if (p->gap == 0 || ct_map_has(&seen, ct_key(p))) continue;
            Aligned run = {.column = p->column, .first_line = l, .count = 1};
            bool padded = has_padding(p);
            while (l + run.count < f->lines.count && !f->lines.items[l + run.count].blank_before) {
                const Piece *next = piece_at(f, &f->lines.items[l + run.count], p->column);
                if (next == NULL || next->gap == 0 || sort_of(f, next) != sort_of(f, p)) break;
                ct_map_set(f->arena, &seen, ct_key(next), NULL);
                padded = padded || has_padding(next);
                run.count++;
            }
            if (padded && run.count > 1) ct_push(f->arena, &f->aligned, run);
        }
    }
    if (f->aligned.count > 0) qsort(f->aligned.items, f->aligned.count, sizeof *f->aligned.items, by_column);
}

/* ---- columns ---- */

/* The output column just after a piece. */
static uint32_t behind(const Piece *p) { return (p->several_lines ? 1 : p->placed) + p->width; }

/* Computes `placed` for the pieces of a line from index `from` on, each from the piece before it. */
static void place_from(Formatter *f, const Line *line, uint32_t from) {
    for (uint32_t i = from; i < line->count; i++) {
        Piece *p = &f->pieces.items[line->first + i];
        p->placed = behind(p - 1) + p->gap + p->padding;
    }
}

static Piece *first_of(const Formatter *f, const Line *line) { return &f->pieces.items[line->first]; }

static uint8_t kind_of(const Formatter *f, const Piece *p) {
    return p->token == NONE ? TOKEN_END : f->outline.tokens.items[p->token].kind;
}

/* The nearest token above the first token of continuation line `l` at the same source column, within the same item;
 * with `same_kind`, only a token of the same kind counts. NULL when there is none within LOOK_BACK lines. */
static const Piece *anchor(const Formatter *f, uint32_t l, bool same_kind) {
    const Line *line = &f->lines.items[l];
    const Piece *p = first_of(f, line);
    for (uint32_t k = 1; k <= l && k <= LOOK_BACK; k++) {
        const Line *above = &f->lines.items[l - k];
        if (above->first + above->count <= line->item) return NULL;
        for (uint32_t i = 0; i < above->count && !above->is_comment; i++) {
            const Piece *q = &f->pieces.items[above->first + i];
            if (q < &f->pieces.items[line->item] || q->column != p->column || q->token == NONE) continue;
            if (!same_kind || kind_of(f, q) == kind_of(f, p)) return q;
        }
    }
    return NULL;
}

/* The piece from which continuation line `l` keeps its distance: the first piece of the nearest line above, in the same
 * item, that began further left in the source; else the item's first piece. */
static const Piece *hook(const Formatter *f, uint32_t l) {
    const Line *line = &f->lines.items[l];
    uint32_t column = first_of(f, line)->column;
    for (uint32_t k = 1; k <= l && k <= LOOK_BACK; k++) {
        const Line *above = &f->lines.items[l - k];
        if (above->first < line->item) break;
        if (!above->is_comment && first_of(f, above)->column < column) return first_of(f, above);
    }
    return &f->pieces.items[line->item];
}

/* Whether a continuation line that starts with this kind of token is indented by STEP from its item. */
static bool hangs_by_two(uint8_t kind) {
    return kind == TOKEN_WHERE || kind == TOKEN_BAR || kind == TOKEN_EQUALS || kind == TOKEN_DERIVING;
}

static uint32_t indent_item(const Formatter *f, const Line *line) {
    if (!line->opens) return line->enclosing == NONE ? 1 : f->pieces.items[line->enclosing].placed;
    if (line->enclosing == NONE) return 1; /* items of the module's own block */
    const Line *opener = &f->lines.items[line->opener];
    const Piece *from = first_of(f, opener), *around = &f->pieces.items[line->enclosing];
    /* If the source indents the block by STEP from a word in the opening line, the output does so, too. */
    for (uint32_t i = 1; i < opener->count; i++) {
        const Piece *word = &f->pieces.items[opener->first + i];
        uint8_t kind = kind_of(f, word);
        bool is_word = kind == TOKEN_VARID || kind == TOKEN_CONID || kind >= TOKEN_CASE;
        if (is_word && word->column + STEP == first_of(f, line)->column) from = word;
    }
    return (from->placed > around->placed ? from->placed : around->placed) + STEP;
}

static uint32_t indent_continuation(const Formatter *f, uint32_t l) {
    const Line *line = &f->lines.items[l];
    const Piece *p = first_of(f, line), *item = &f->pieces.items[line->item];
    bool hangs = line->depth == 0 && hangs_by_two(kind_of(f, p));
    const Piece *under = anchor(f, l, hangs);
    if (hangs && kind_of(f, p) == TOKEN_WHERE) return item->placed + STEP;
    if (under != NULL) return under->placed;
    if (hangs) return item->placed + STEP;
    const Piece *from = hook(f, l);
    int64_t column = (int64_t)from->placed + (int64_t)p->column - (int64_t)from->column;
    int64_t least = (int64_t)item->placed + (p->column > item->column);
    return column < least ? (uint32_t)least : (uint32_t)column;
}

static uint32_t indent(const Formatter *f, uint32_t l) {
    const Line *line = &f->lines.items[l];
    if (line->item == NONE) /* a line of the module header */
        return l == 0 || first_of(f, line)->token == 0 ? 1 : first_of(f, line)->column;
    if (line->is_item) return indent_item(f, line);
    return indent_continuation(f, l);
}

/* The column of a comment line: that of the trailing comment just above, of the next code line, or of a line above,
 * whichever first had the comment's source column; else the comment keeps its distance from the next code line. */
static uint32_t indent_comment(const Formatter *f, uint32_t l) {
    const Line *line = &f->lines.items[l];
    const Piece *p = first_of(f, line);
    if (l > 0 && !line->blank_before) {
        const Line *above = &f->lines.items[l - 1];
        const Piece *trailing = &f->pieces.items[above->first + above->count - 1];
        if (above->count > 1 && trailing->token == NONE && trailing->column == p->column) return trailing->placed;
    }
    uint32_t below = l + 1;
    while (below < f->lines.count && f->lines.items[below].is_comment) below++;
    const Piece *next = below < f->lines.count ? first_of(f, &f->lines.items[below]) : NULL;
    if (next != NULL && next->column == p->column) return next->placed;
    for (uint32_t k = 1; k <= l && k <= LOOK_BACK; k++) {
        const Piece *above = first_of(f, &f->lines.items[l - k]);
        if (above->column == p->column) return above->placed;
        if (above->column < p->column && !f->lines.items[l - k].is_comment) break;
    }
    if (next == NULL || p->column == 1) return p->column == 1 ? 1 : p->column;
    int64_t column = (int64_t)p->column + (int64_t)next->placed - (int64_t)next->column;
    return column < 1 ? 1 : (uint32_t)column;
}

static bool place_line(Formatter *f, uint32_t l, uint32_t column) {
    const Line *line = &f->lines.items[l];
    Piece *p = first_of(f, line);
    bool moved = p->placed != column;
    p->placed = column;
    place_from(f, line, 1);
    return moved;
}

/* Sets the padding of a run's pieces so that all of them are placed at the run's smallest possible common column. */
static void line_up(Formatter *f, const Aligned *run) {
    uint32_t column = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        const Piece *p = piece_at(f, &f->lines.items[run->first_line + i], run->column);
        if (behind(p - 1) + p->gap > column) column = behind(p - 1) + p->gap;
    }
    for (uint32_t i = 0; i < run->count; i++) {
        const Line *line = &f->lines.items[run->first_line + i];
        Piece *p = piece_at(f, line, run->column);
        p->padding = column - behind(p - 1) - p->gap;
        place_from(f, line, (uint32_t)(p - first_of(f, line)));
    }
}

static void place_all(Formatter *f) {
    bool moved = true;
    uint64_t before = 0;
    for (int round = 0; moved && round < MOST_ROUNDS; round++) {
        for (uint32_t l = 0; l < f->lines.count; l++)
            if (!f->lines.items[l].is_comment) place_line(f, l, indent(f, l));
        for (uint32_t i = 0; i < f->aligned.count; i++) line_up(f, &f->aligned.items[i]);
        for (uint32_t l = f->lines.count; l > 0; l--)
            if (f->lines.items[l - 1].is_comment) place_line(f, l - 1, indent_comment(f, l - 1));
        uint64_t now = 0;
        for (uint32_t i = 0; i < f->pieces.count; i++) now = (now ^ f->pieces.items[i].placed) * 0x100000001B3u;
        moved = now != before;
        before = now;
    }
}

/* ---- writing ---- */

static void write_blanks(CtText *out, uint32_t count) {
    while (count-- > 0) ct_text_putc(out, ' ');
}

/* Writes a piece. A comment of several lines is shifted as a whole: each further line's indentation changes by the same
 * amount, but not below zero. Blanks at the ends of its lines are dropped. */
static void write_piece(const Formatter *f, CtText *out, const Piece *p) {
    if (!p->several_lines || p->token != NONE) {
        ct_text_add(out, f->text + p->start, p->end - p->start);
        return;
    }
    int64_t shift = (int64_t)p->placed - (int64_t)p->column;
    for (uint32_t at = p->start; at < p->end;) {
        uint32_t end = at;
        while (end < p->end && f->text[end] != '\n') end++;
        uint32_t last = end;
        while (last > at && (f->text[last - 1] == ' ' || f->text[last - 1] == '\t' || f->text[last - 1] == '\r'))
            last--;
        uint32_t blanks = 0;
        while (at > p->start && at + blanks < last && f->text[at + blanks] == ' ') blanks++;
        if (at > p->start && last > at) {
            int64_t now = (int64_t)blanks + shift;
            write_blanks(out, now < 0 ? 0 : (uint32_t)now);
        }
        ct_text_add(out, f->text + at + blanks, last - at - blanks);
        if (end < p->end) ct_text_putc(out, '\n');
        at = end + 1;
    }
}

static void write_all(const Formatter *f, CtText *out) {
    for (uint32_t l = 0; l < f->lines.count; l++) {
        const Line *line = &f->lines.items[l];
        if (line->blank_before && l > 0) ct_text_putc(out, '\n');
        write_blanks(out, first_of(f, line)->placed - 1);
        for (uint32_t i = 0; i < line->count; i++) {
            const Piece *p = &f->pieces.items[line->first + i];
            if (i > 0) write_blanks(out, p->placed - behind(p - 1));
            write_piece(f, out, p);
        }
        ct_text_putc(out, '\n');
    }
}

/* ---- checking that the program is the same ---- */

/* Whether two comments have the same text, where any run of blanks and line ends equals any other. */
static bool same_text(const char *a, uint32_t a_start, uint32_t a_end, const char *b, uint32_t b_start,
                      uint32_t b_end) {
    for (;;) {
        if (a_start == a_end || b_start == b_end) return a_start == a_end && b_start == b_end;
        bool blank_a = strchr(" \t\r\n", a[a_start]) != NULL, blank_b = strchr(" \t\r\n", b[b_start]) != NULL;
        if (blank_a != blank_b || (!blank_a && a[a_start] != b[b_start])) return false;
        if (!blank_a) {
            a_start++, b_start++;
            continue;
        }
        while (a_start < a_end && strchr(" \t\r\n", a[a_start]) != NULL) a_start++;
        while (b_start < b_end && strchr(" \t\r\n", b[b_start]) != NULL) b_start++;
    }
}

static bool same_outline(const char *a_text, const CtOutline *a, const char *b_text, const CtOutline *b) {
    bool same = a->tokens.count == b->tokens.count && a->comments.count == b->comments.count &&
                a->marks.count == b->marks.count;
    for (uint32_t i = 0; same && i < a->tokens.count; i++) {
        const CtToken *x = &a->tokens.items[i], *y = &b->tokens.items[i];
        same = x->kind == y->kind && x->end - x->start == y->end - y->start &&
               memcmp(a_text + x->start, b_text + y->start, x->end - x->start) == 0;
    }
    for (uint32_t i = 0; same && i < a->marks.count; i++)
        same = a->marks.items[i].token == b->marks.items[i].token && a->marks.items[i].kind == b->marks.items[i].kind;
    for (uint32_t i = 0; same && i < a->comments.count; i++) {
        const CtComment *x = &a->comments.items[i], *y = &b->comments.items[i];
        same = same_text(a_text, x->start, x->end, b_text, y->start, y->end);
    }
    return same;
}

bool ct_syntax_format_source(CtContext *context, uint32_t source, CtText *out) {
    Formatter formatter = {.context = context, .arena = context->arena}, *f = &formatter;
    f->text = context->sources.items[source].text;
    const char *name = context->sources.items[source].name;
    if (!ct_syntax_parse_outline(context, source, &f->outline)) return false;
    make_pieces(f);
    make_lines(f);
    set_gaps(f);
    find_items(f);
    find_aligned(f);
    place_all(f);
    ct_text_puts(out, "");
    write_all(f, out);
    CtOutline again;
    uint32_t result = ct_source_add(context, name, out->data, out->length, context->sources.items[source].is_library);
    if (ct_syntax_parse_outline(context, result, &again) && same_outline(f->text, &f->outline, out->data, &again))
        return true;
    ct_error(context, CT_E0901, CT_NO_RANGE, "formatting %s would change its meaning; it is left as it is", name);
    return false;
}
