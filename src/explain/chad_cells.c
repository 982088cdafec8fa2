/* The additions of `chad`'s reverse pass to the cells of its environment, and their cost: a demonstration of the
 * amortisation of CHAD 2024 §4.3.
 *
 *   cost of d + dᵢ ≤ C_ONE + φ d + φ dᵢ − φ (d + dᵢ)      φ d = C_PHI · size d
 *
 * An addition takes a number of steps proportional to the nodes that the two structures have in common, and of two
 * common nodes one remains. So its cost is paid by the potential that is lost, which was paid for when the cotangents
 * were made. */
#include "explain/explain.h"

enum {
    C_PHI = 20, /* bound of the steps of + for each common node */
    C_ONE = 10, /* steps of `one` itself */
    MOST_ROWS = 60,
    MOST_SEEN = 2000,
    MOST_NODES = 4000000, /* bound of the nodes that are counted */
    MOST_COLUMNS = 22,
    MOST_ITEMS = 4,
    MOST_DEPTH = 5,
};

typedef struct Item {
    const CtType *type;
    CtWord value;
} Item;

typedef struct Row {
    int64_t cell;
    const char *name, *added, *holds;
    int64_t size, in, out; /* size of d; potentials: of d and the cell before, and of the cell after */
    uint64_t steps;
} Row;

struct CtCells {
    CtExplain *e;
    CT_VEC(Row) rows;
    uint64_t more;  /* number of additions that were not recorded */
    uint64_t begun; /* number of steps when the current addition began */
    uint64_t nodes; /* number of nodes counted */
    CT_VEC(Item) work;
};

/* ---- cotangents ---- */

static void push(CtCells *cells, const CtType *type, CtWord value) {
    Item item = {type, value};
    ct_push(cells->e->arena, &cells->work, item);
}

/* A bag (of One and Plus) is one node, and each of its items another: joining two bags loses a node. */
static int64_t weight_of(const CtCon *con) {
    if (strcmp(con->name->text, "One") == 0) return 2;
    return strcmp(con->name->text, "Plus") == 0 || strcmp(con->name->text, "Apart") == 0 ? -1 : 1;
}

/* The size by §4.3: the number of nodes. Each number of an array is a node, too. */
static int64_t size_of(CtCells *cells, const CtType *type, CtWord value) {
    int64_t size = 0;
    push(cells, type, value);
    while (cells->work.count > 0) {
        Item item = cells->work.items[--cells->work.count];
        cells->nodes++;
        if (item.type->kind == TYPE_ARRAY) {
            const CtArray *array = (const CtArray *)item.value.object;
            bool pointers = ct_value_type_is_pointer(item.type->parts[0]);
            size += pointers ? 0 : array->length;
            for (int64_t i = 0; i < array->length && pointers; i++) push(cells, item.type->parts[0], array->items[i]);
        } else if (item.type->kind == TYPE_DATA) {
            const CtFields *fields = (const CtFields *)item.value.object;
            const CtCon *con = &item.type->data->cons[fields->head.tag];
            size += weight_of(con);
            for (uint32_t i = 0; i < con->count; i++)
                if (ct_value_type_is_pointer(con->fields[i])) push(cells, con->fields[i], fields->words[i]);
        }
    }
    return size;
}

static void put(CtText *out, const CtType *type, CtWord value, uint32_t depth);

static void put_items(CtText *out, const CtType *type, CtWord value, uint32_t depth) {
    const CtArray *array = (const CtArray *)value.object;
    ct_text_puts(out, "[|");
    for (int64_t i = 0; i < array->length && i < MOST_ITEMS; i++) {
        if (i > 0) ct_text_puts(out, ", ");
        put(out, type->parts[0], array->items[i], depth + 1);
    }
    ct_text_puts(out, array->length > MOST_ITEMS ? ", …|]" : "|]");
}

static void put_con(CtText *out, const CtCon *con, const CtFields *fields, uint32_t depth) {
    bool parentheses = depth > 0 && con->count > 0;
    ct_text_printf(out, parentheses ? "(%s" : "%s", con->name->text);
    for (uint32_t i = 0; i < con->count; i++) {
        ct_text_putc(out, ' ');
        put(out, con->fields[i], fields->words[i], depth + 1);
    }
    if (parentheses) ct_text_putc(out, ')');
}

/* Prints as Core would, but a Real as its number, and abbreviated to fit a table. */
static void put(CtText *out, const CtType *type, CtWord value, uint32_t depth) {
    if (depth > MOST_DEPTH) {
        ct_text_puts(out, "…");
    } else if (type->kind == TYPE_ARRAY) {
        put_items(out, type, value, depth);
    } else if (type->kind == TYPE_DOUBLE) {
        ct_text_puts(out, ct_explain_number(out->arena, value.real));
    } else if (type->kind == TYPE_INT) {
        ct_text_printf(out, "%lld", (long long)value.integer);
    } else if (type->kind == TYPE_DATA) {
        const CtFields *fields = (const CtFields *)value.object;
        const CtCon *con = &type->data->cons[fields->head.tag];
        if (con->count == 1 && con->fields[0]->kind == TYPE_DOUBLE)
            put(out, con->fields[0], fields->words[0], depth);
        else
            put_con(out, con, fields, depth);
    }
}

static const char *text_of(CtArena *arena, const CtType *type, CtWord value) {
    CtText text = ct_text(arena);
    put(&text, type, value, 0);
    size_t columns = 0, bytes = 0;
    for (; text.data[bytes] != '\0'; bytes++) {
        columns += ((unsigned char)text.data[bytes] & 0xC0) != 0x80;
        if (columns >= MOST_COLUMNS) return ct_format(arena, "%.*s…", (int)bytes, text.data);
    }
    return text.data;
}

/* ---- looking on ---- */

static bool wants(void *data, const CtGlobal *global, const CtLam *lam) {
    const CtCells *cells = data;
    (void)lam;
    return ct_ad_is_seen(cells->e->ad, global);
}

static void begins(CtCells *cells, const CtCellNote *note, const CtType *cot, const CtWord *args) {
    CtArena *arena = cells->e->arena;
    int64_t cell = args[1].integer;
    CtWord before = ((const CtArray *)args[3].object)->items[cell];
    Row row = {.cell = cell, .name = ct_copy_text(arena, note->name, strlen(note->name))};
    if (note->captured) row.name = ct_format(arena, "%s, captured", row.name);
    row.added = text_of(arena, cot, args[2]);
    row.size = size_of(cells, cot, args[2]);
    row.in = C_PHI * (row.size + size_of(cells, cot, before));
    ct_push(arena, &cells->rows, row);
}

static void called(void *data, const CtGlobal *global, const CtLam *lam, CtObject *env, const CtWord *args) {
    CtCells *cells = data;
    (void)global, (void)env;
    const CtCellNote *note = ct_ad_cell_note(cells->e->ad, args[0].integer);
    const CtType *cot = lam->params[2]->type;
    uint64_t steps = ct_eval_stats(cells->e->session->eval).steps;
    bool full = cells->rows.count >= MOST_SEEN || cells->nodes >= MOST_NODES || cells->more > 0;
    if (!note->after && full) cells->more++;
    if (cells->more > 0) return;
    if (!note->after) {
        begins(cells, note, cot, args);
        cells->begun = steps;
        return;
    }
    Row *row = &cells->rows.items[cells->rows.count - 1];
    CtWord after = ((const CtArray *)args[3].object)->items[row->cell];
    row->steps = steps - cells->begun;
    row->holds = text_of(cells->e->arena, cot, after);
    row->out = C_PHI * size_of(cells, cot, after);
}

CtCells *ct_explain_cells_watch(CtExplain *e) {
    CtCells *cells = CT_NEW(e->arena, CtCells);
    *cells = (CtCells){.e = e};
    ct_ad_record_cells(e->ad);
    ct_eval_watch(e->session->eval, (CtWatch){wants, called, cells});
    return cells;
}

/* ---- the stage ---- */

static void widen(size_t *wide, const char *text) {
    size_t columns = ct_explain_columns(text);
    if (columns > *wide) *wide = columns;
}

static void put_paid(CtText *out, uint64_t steps, int64_t paid) {
    ct_text_printf(out, "%s %lld\n", (int64_t)steps <= paid ? "≤" : ">", (long long)paid);
}

static const char *table(const CtCells *cells) {
    CtText out = ct_text(cells->e->arena);
    uint32_t shown = cells->rows.count < MOST_ROWS ? cells->rows.count : MOST_ROWS;
    size_t wide[3] = {4, 1, 5};
    for (uint32_t i = 0; i < shown; i++) {
        widen(&wide[0], cells->rows.items[i].name);
        widen(&wide[1], cells->rows.items[i].added);
        widen(&wide[2], cells->rows.items[i].holds);
    }
    ct_text_puts(&out, "      cell  ");
    ct_explain_pad(&out, "of", wide[0] + 2);
    ct_explain_pad(&out, "+", wide[1] + 2);
    ct_explain_pad(&out, "holds", wide[2] + 2);
    ct_text_puts(&out, "size    φ in   φ out   steps ≤ paid\n");
    for (uint32_t i = 0; i < shown; i++) {
        const Row *row = &cells->rows.items[i];
        ct_text_printf(&out, "%4u  %4lld  ", i + 1, (long long)row->cell);
        ct_explain_pad(&out, row->name, wide[0] + 2);
        ct_explain_pad(&out, row->added, wide[1] + 2);
        ct_explain_pad(&out, row->holds, wide[2] + 2);
        ct_text_printf(&out, "%4lld  %6lld  %6lld  %6llu ", (long long)row->size, (long long)row->in,
                       (long long)row->out, (unsigned long long)row->steps);
        put_paid(&out, row->steps, C_ONE + row->in - row->out);
    }
    if (shown < cells->rows.count) ct_text_printf(&out, "      … %u more\n", cells->rows.count - shown);
    return out.data;
}

static const char *sums(const CtCells *cells) {
    int64_t in = 0, out = 0, count = cells->rows.count;
    uint64_t steps = 0;
    for (uint32_t i = 0; i < cells->rows.count; i++) {
        in += cells->rows.items[i].in;
        out += cells->rows.items[i].out;
        steps += cells->rows.items[i].steps;
    }
    CtText text = ct_text(cells->e->arena);
    ct_text_printf(&text, "%lld · %d + φ in %lld − φ out %lld pay for the steps: %llu ", (long long)count, C_ONE,
                   (long long)in, (long long)out, (unsigned long long)steps);
    put_paid(&text, steps, C_ONE * count + in - out);
    if (cells->more > 0) ct_text_printf(&text, "… %llu more were not looked at\n", (unsigned long long)cells->more);
    return text.data;
}

void ct_explain_cells_show_work(CtExplain *e, const CtRun *plain) {
    const char *text = ct_format(e->arena,
                                 "%llu steps forward, %llu in reverse, where uses in one straight line are added as "
                                 "one sum\n",
                                 (unsigned long long)plain->forward, (unsigned long long)plain->backward);
    CtBlock block = {"the work", text};
    ct_push(e->arena, &e->out->run->accumulated->blocks, block);
}

void ct_explain_cells_show(CtCells *cells, CtRun *run) {
    CtArena *arena = cells->e->arena;
    CtStage *stage = run->accumulated = CT_NEW(arena, CtStage);
    stage->title = "the reverse pass";
    stage->note = ct_format(arena,
                            "What each use of a variable adds to its cell, in order: its steps are paid with "
                            "%d + φ in − φ out, φ d = %d · size d (CHAD 2024 §4.3).",
                            C_ONE, C_PHI);
    if (cells->rows.count == 0) {
        CtBlock none = {NULL, "nothing\n"};
        ct_push(arena, &stage->blocks, none);
        return;
    }
    CtBlock rows = {NULL, table(cells)}, all = {"all of them", sums(cells)};
    ct_push(arena, &stage->blocks, rows);
    ct_push(arena, &stage->blocks, all);
}
