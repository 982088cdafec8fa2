/* Tables: arrays whose rows are literals, and arrays of such rows or of strings. All that they hold is one static array
 * in C, of which the runtime makes them in a loop. One by one they would take lines of C for each row, and the C
 * compiler seconds for thousands of them. */
#include "emit/internal.h"

static uint32_t length_of(const CtFlowStep *literal) {
    return literal->kind == FLOW_STRING ? literal->as.string.count : literal->args.count;
}

/* What an item of a table is made of, if nothing else uses the item. */
static const CtFlowStep *literal_of(const Emit *e, const CtFlowArg *item) {
    const Use *use = item->var == NULL ? NULL : &e->uses[item->var->id];
    return use != NULL && use->count == 1 ? use->literal : NULL;
}

static bool is_table(const Emit *e, const CtFlowStep *step) {
    if (step->kind != FLOW_ITEMS || step->args.count < 2) return false;
    const CtFlowStep *first = literal_of(e, &step->args.items[0]);
    bool matrix = step->results.items[0]->type->rank > 1;
    for (uint32_t i = 0; i < step->args.count; i++) {
        const CtFlowStep *literal = literal_of(e, &step->args.items[i]);
        if (literal == NULL || literal->kind != first->kind) return false;
        if (matrix && length_of(literal) != length_of(first)) return false;
    }
    return true;
}

void ct_emit_tables_begin(Emit *e, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_LITERALS || step->kind == FLOW_STRING)
            e->uses[step->results.items[0]->id].literal = step;
        if (!is_table(e, step)) continue;
        for (uint32_t j = 0; j < step->args.count; j++) e->uses[step->args.items[j].var->id].join = JOIN_PART;
    }
}

static void put_item(Emit *e, CtText *text, uint32_t at, const CtFlowStep *literal, uint32_t i) {
    ct_text_puts(text, at == 0 ? "" : at % 8 == 0 ? ",\n        " : ", ");
    if (literal->kind == FLOW_STRING) {
        ct_text_printf(text, "%u", literal->as.string.points[i]);
    } else {
        const CtFlowArg *number = &literal->args.items[i];
        ct_text_printf(text, "{.%c = %s}", ct_emit_letter(number->type), ct_emit_arg(e, number));
    }
}

bool ct_emit_table(Emit *e, const CtFlowStep *step) {
    if (!is_table(e, step) || e->uses[step->args.items[0].var->id].join != JOIN_PART) return false;
    CtFlowVar *result = step->results.items[0];
    const CtFlowStep *first = literal_of(e, &step->args.items[0]);
    CtText items = ct_text(e->arena), lengths = ct_text(e->arena);
    uint32_t number = ++e->temporaries, rows = step->args.count, count = 0;
    for (uint32_t i = 0; i < rows; i++) {
        const CtFlowStep *literal = literal_of(e, &step->args.items[i]);
        for (uint32_t j = 0; j < length_of(literal); j++) put_item(e, &items, count++, literal, j);
        ct_text_printf(&lengths, "%s%u", i == 0 ? "" : i % 24 == 0 ? ",\n        " : ", ", length_of(literal));
    }
    const char *type = first->kind == FLOW_STRING ? "uint32_t" : "ct_word";
    ct_emit_line(e, "static const %s s%u[] = {%s};", type, number, count > 0 ? items.data : "0");
    if (result->type->rank > 1) {
        ct_emit_declare(e, result,
                        ct_format(e->arena, "ct_matrix_of(rt, s%u, %u, %u)", number, rows, length_of(first)));
        return CT_FIRED("tables.matrix");
    }
    const char *make = first->kind == FLOW_STRING ? "ct_strings_of" : "ct_vectors_of";
    ct_emit_line(e, "static const uint32_t l%u[] = {%s};", number, lengths.data);
    ct_emit_declare(e, result, ct_format(e->arena, "%s(rt, s%u, l%u, %u)", make, number, number, rows));
    return CT_FIRED("tables.items");
}
