/* Code for scalars and for taking values apart: primitives, branches, fields. */
#include "eval/compile.h"
#include "eval/trap.h"

/* ---- primitives ---- */

static uint32_t prim_op(CtPrim prim, PrimForm form) { return OP_PRIM_FIRST + (uint32_t)prim * PRIM_FORMS + form; }

/* The operands of a primitive. At most one may stay a constant, and only of a binary primitive. */
static void prim_operands(Compile *c, CtCore *e, Operand *ops) {
    uint32_t count = e->as.call.count;
    ct_eval_operands(c, e->as.call.args, count, false, true, ops);
    bool both = count == 2 && ops[0].is_constant && ops[1].is_constant;
    if (!ops[0].is_constant || !(both || count == 1)) return;
    uint32_t slot = ct_eval_slot_new(c);
    ct_eval_load_literal(c, slot, e->as.call.args[0]);
    ops[0] = ct_eval_operand_slot(slot, false, false);
}

static uint32_t emit_string_prim(Compile *c, CtCore *e, uint32_t want) {
    Operand ops[2] = {{.slot = 0}, {.slot = 0}};
    uint32_t count = e->as.call.count;
    ct_eval_operands(c, e->as.call.args, count, false, false, ops);
    ct_eval_count_steps(c, ct_prim_info(e->as.call.of.prim)->cost);
    uint32_t dest = ct_eval_result_slot(c, want, ops, count);
    uint32_t start = ct_eval_begin(c, OP_STRING_PRIM, e->range);
    ct_eval_add_word(c, dest);
    ct_eval_add_word(c, e->as.call.of.prim);
    ct_eval_add_word(c, ops[0].slot);
    ct_eval_add_word(c, ops[1].slot);
    return ct_eval_finish(c, start, dest, want, true, ops, count);
}

static void emit_trap(Compile *c, const CtCore *e, const Operand *ops) {
    ct_eval_begin(c, OP_TRAP, e->range);
    ct_eval_add_word(c, e->as.call.of.prim);
    ct_eval_add_word(c, e->type->kind == TYPE_FLOAT && ct_prim_info(e->as.call.of.prim)->result == 'R');
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t constant = (uint64_t)ops[i].constant.integer;
        ct_eval_add_word(c, ops[i].is_constant ? TRAP_CONSTANT : TRAP_SLOT);
        ct_eval_add_word64(c, ops[i].is_constant ? constant : ops[i].slot);
    }
}

uint32_t ct_eval_emit_prim(Compile *c, CtCore *e, uint32_t want) {
    CtPrim prim = e->as.call.of.prim;
    const CtPrimInfo *info = ct_prim_info(prim);
    if (info->result == 'S') return emit_string_prim(c, e, want);
    uint32_t count = e->as.call.count;
    Operand ops[2] = {{.slot = 0}, {.slot = 0}};
    prim_operands(c, e, ops);
    ct_eval_count_steps(c, info->cost);
    if (home_of(c->m)->trap != CT_TRAP_NONE && ct_eval_trap_result(prim)) emit_trap(c, e, ops);
    uint32_t dest = ct_eval_result_slot(c, want, ops, count);
    PrimForm form = ops[0].is_constant ? PRIM_CONST_SLOT : ops[1].is_constant ? PRIM_SLOT_CONST : PRIM_SLOTS;
    uint32_t start = ct_eval_begin(c, (Op)prim_op(prim, form), e->range);
    ct_eval_add_word(c, dest);
    if (!ops[0].is_constant) ct_eval_add_word(c, ops[0].slot);
    if (!ops[1].is_constant) ct_eval_add_word(c, ops[1].slot);
    for (uint32_t i = 0; i < 2; i++)
        if (ops[i].is_constant) ct_eval_add_word64(c, (uint64_t)ops[i].constant.integer);
    if (e->type->kind == TYPE_FLOAT && info->result == 'R') {
        ct_eval_begin(c, OP_ROUND, e->range);
        ct_eval_add_word(c, dest);
    }
    return ct_eval_finish(c, start, dest, want, false, ops, count);
}

/* Words: a b off c c, or a k64 off c c. */
static uint32_t emit_compare(Compile *c, CtCore *e, uint32_t *start) {
    CtPrim prim = e->as.call.of.prim;
    Operand ops[2] = {{.slot = 0}, {.slot = 0}};
    ct_eval_terms_plan(c, e);
    prim_operands(c, e, ops);
    if (ops[0].is_constant) {
        uint32_t slot = ct_eval_slot_new(c);
        ct_eval_load_literal(c, slot, e->as.call.args[0]);
        ops[0] = ct_eval_operand_slot(slot, false, false);
    }
    ct_eval_count_steps(c, ct_prim_info(prim)->cost);
    uint32_t free = ct_eval_result_slot(c, NO_SLOT, ops, e->as.call.count);
    ct_eval_slot_free(c, free); /* there is no result */
    *start = ct_eval_begin(c, (Op)prim_op(prim, ops[1].is_constant ? PRIM_JUMP_CONST : PRIM_JUMP_SLOTS), e->range);
    ct_eval_add_word(c, ops[0].slot);
    if (ops[1].is_constant) {
        ct_eval_add_word64(c, (uint64_t)ops[1].constant.integer);
    } else {
        ct_eval_add_word(c, ops[1].slot);
    }
    return c->words.count;
}

/* ---- fields ---- */

typedef struct Field {
    uint32_t index, dest;
} Field;

typedef struct Opening {
    CT_VEC(Field) scalars;
    CT_VEC(Field) objects;
    Words unwanted;
} Opening;

static void emit_opening(Compile *c, CtSourceRange range, const Operand *object, const Opening *o) {
    bool take = object->drop_after;
    uint32_t start = ct_eval_begin(c, take ? OP_OPEN_MOVE : OP_OPEN_COPY, range);
    ct_eval_add_word(c, object->slot);
    ct_eval_add_word(c, o->scalars.count);
    for (uint32_t i = 0; i < o->scalars.count; i++) {
        ct_eval_add_word(c, o->scalars.items[i].index);
        ct_eval_add_word(c, o->scalars.items[i].dest);
    }
    ct_eval_add_word(c, o->objects.count);
    for (uint32_t i = 0; i < o->objects.count; i++) {
        ct_eval_add_word(c, o->objects.items[i].index);
        ct_eval_add_word(c, o->objects.items[i].dest);
    }
    if (take) {
        ct_eval_add_word(c, o->unwanted.count);
        for (uint32_t i = 0; i < o->unwanted.count; i++) ct_eval_add_word(c, o->unwanted.items[i]);
        ct_eval_event(c, start + 1, EVENT_DISOWN, object->slot);
    }
    for (uint32_t i = 0; i < o->objects.count; i++) ct_eval_own(c, o->objects.items[i].dest);
}

void ct_eval_emit_open(Compile *c, CtSourceRange range, const Operand *object, CtVar *const *vars, CtType *const *types,
                       uint32_t count, const bool *used) {
    Opening o = {0};
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < count; i++) wanted += used[i];
    if (!object->is_pointer || (wanted == 0 && !object->drop_after)) {
        uint32_t free = ct_eval_result_slot(c, NO_SLOT, object, 1);
        ct_eval_slot_free(c, free);
        return;
    }
    if (wanted == 0) {
        ct_eval_drop_slot(c, object->slot);
        ct_eval_slot_free(c, object->slot);
        return;
    }
    if (object->drop_after) ct_eval_slot_free(c, object->slot);
    for (uint32_t i = 0; i < count; i++) {
        bool is_pointer = ct_value_type_is_pointer(types[i]);
        if (!used[i]) {
            if (is_pointer) ct_push(c->arena, &o.unwanted, i);
            continue;
        }
        Field field = {i, ct_eval_slot_new(c)};
        ct_eval_compile_local(c, vars[i])->slot = field.dest;
        if (is_pointer) {
            ct_push(c->arena, &o.objects, field);
        } else {
            ct_push(c->arena, &o.scalars, field);
        }
    }
    emit_opening(c, range, object, &o);
    if (object->free_slot) { /* the last use of a capture */
        uint32_t free = ct_eval_result_slot(c, NO_SLOT, object, 1);
        ct_eval_slot_free(c, free);
    }
}

uint32_t ct_eval_emit_proj(Compile *c, CtCore *e, uint32_t want) {
    Operand tuple;
    CtType *type = e->as.proj.tuple->type;
    uint32_t index = e->as.proj.index;
    ct_eval_operand(c, e->as.proj.tuple, false, &tuple);
    ct_eval_count_steps(c, 1);
    bool is_pointer = ct_value_type_is_pointer(e->type);
    if (is_pointer && tuple.drop_after) {
        ct_eval_slot_free(c, tuple.slot);
        uint32_t dest = want == NO_SLOT ? ct_eval_slot_new(c) : want;
        Opening o = {0};
        ct_push(c->arena, &o.objects, (Field){index, dest});
        for (uint32_t i = 0; i < type->count; i++)
            if (i != index && ct_value_type_is_pointer(type->parts[i])) ct_push(c->arena, &o.unwanted, i);
        emit_opening(c, e->range, &tuple, &o);
        return dest;
    }
    uint32_t dest = ct_eval_result_slot(c, want, &tuple, 1);
    uint32_t start = ct_eval_begin(c, is_pointer ? OP_PROJ_OBJECT : OP_PROJ, e->range);
    ct_eval_add_word(c, dest);
    ct_eval_add_word(c, tuple.slot);
    ct_eval_add_word(c, index);
    return ct_eval_finish(c, start, dest, want, is_pointer, &tuple, 1);
}

/* ---- branches ---- */

typedef struct Switch {
    CtCore *e;
    Alternative *all;
    uint32_t count;
    Operand scrutinee; /* slot NO_SLOT: the comparison jumps itself */
    Local *local;      /* the scrutinee, if it is a variable; or NULL */
    uint32_t start;    /* of the instruction that tests */
    uint32_t table;    /* its first jump word; a word for the steps follows each */
} Switch;

static bool jumps_by_itself(const Compile *c, const CtCore *e, uint32_t count) {
    const CtCore *scrutinee = e->as.cases.scrutinee;
    return count == 2 && outlined_code(c, scrutinee) == NULL && scrutinee->kind == CORE_PRIM &&
           ct_prim_info(scrutinee->as.call.of.prim)->result == 'B' &&
           ct_prim_info(scrutinee->as.call.of.prim)->args[0] != 'S';
}

static void emit_test(Compile *c, Switch *s) {
    const CtData *data = s->e->as.cases.scrutinee->type->data;
    if (s->count == 1) return;
    if (s->scrutinee.slot == NO_SLOT) {
        s->table = emit_compare(c, s->e->as.cases.scrutinee, &s->start);
    } else if (s->count == 2) {
        s->start = ct_eval_begin(c, data->is_enum ? OP_JUMP_INT : OP_JUMP_TAG, s->e->range);
        ct_eval_add_word(c, s->scrutinee.slot);
        /* NULL: True, by the order of alternatives. */
        ct_eval_add_word(c, s->all[0].con == NULL ? 1 : s->all[0].con->tag);
        s->table = c->words.count;
    } else {
        s->start = ct_eval_begin(c, data->is_enum ? OP_SWITCH_INT : OP_SWITCH_TAG, s->e->range);
        ct_eval_add_word(c, s->scrutinee.slot);
        ct_eval_add_word(c, data->con_count);
        s->table = c->words.count;
        for (uint32_t i = 0; i < 2 * data->con_count; i++) ct_eval_add_word(c, 0);
        ct_eval_add_word(c, 0); /* the steps of an unreachable default */
        return;
    }
    for (uint32_t i = 0; i < 3; i++) ct_eval_add_word(c, 0);
}

/* The alternative that starts here: sets its jumps, and counts its steps in the word behind each. */
static void enter_alternative(Compile *c, Switch *s, uint32_t index) {
    if (s->count == 1) return;
    if (s->count == 2) {
        if (index == 1) ct_eval_patch(c, s->table, s->start);
        c->cost_at = s->table + 1 + index;
        return;
    }
    const CtCon *con = s->all[index].con;
    if (con != NULL) {
        ct_eval_patch(c, s->table + 2 * con->tag, s->start);
        c->cost_at = s->table + 2 * con->tag + 1;
        return;
    }
    const CtData *data = s->e->as.cases.scrutinee->type->data;
    c->cost_at = s->table + 2 * data->con_count;
    for (uint32_t tag = 0; tag < data->con_count; tag++) {
        if (c->words.items[s->table + 2 * tag] != 0) continue;
        ct_eval_patch(c, s->table + 2 * tag, s->start);
        c->cost_at = s->table + 2 * tag + 1;
    }
}

/* Copies the steps of the default alternative to every constructor that takes it. */
static void spread_cost(Compile *c, const Switch *s, uint32_t target) {
    if (s->count <= 2 || s->all[s->count - 1].con != NULL) return;
    const CtData *data = s->e->as.cases.scrutinee->type->data;
    uint32_t cost = 0;
    for (uint32_t tag = 0; tag < data->con_count; tag++)
        if (c->words.items[s->table + 2 * tag] == target) cost += c->words.items[s->table + 2 * tag + 1];
    for (uint32_t tag = 0; tag < data->con_count; tag++)
        if (c->words.items[s->table + 2 * tag] == target) c->words.items[s->table + 2 * tag + 1] = cost;
}

/* Drops what the alternative does not use, and opens the scrutinee. */
static void open_alternative(Compile *c, Switch *s, const Alternative *a) {
    uint32_t after = c->read;
    c->read = a->header;
    uint32_t drops = ct_eval_next_entry(c);
    for (uint32_t i = 0; i < drops; i++) ct_eval_drop_local(c, c->locals.items[ct_eval_next_entry(c)]);
    c->read = after;
    bool *used = CT_NEW_ARRAY(c->arena, bool, a->count + 1);
    for (uint32_t i = 0; i < a->count; i++) used[i] = a->vars[i] != NULL && ct_eval_next_entry(c);
    Operand object = s->scrutinee;
    if (object.slot == NO_SLOT) return;
    if (s->local != NULL) {
        bool capture = s->local->kind == LOCAL_CAPTURE;
        object.drop_after = a->takes && object.is_pointer && !capture;
        object.free_slot = a->takes && !object.drop_after;
    }
    if (a->con == NULL) { /* nothing to load */
        ct_eval_emit_open(c, s->e->range, &object, NULL, NULL, 0, NULL);
    } else {
        ct_eval_emit_open(c, s->e->range, &object, a->vars, a->con->fields, a->count, used);
    }
}

static void read_scrutinee(Compile *c, Switch *s) {
    CtCore *scrutinee = s->e->as.cases.scrutinee;
    if (jumps_by_itself(c, s->e, s->count)) {
        s->scrutinee = (Operand){.slot = NO_SLOT};
    } else if (is_var(scrutinee)) {
        s->local = ct_eval_compile_local(c, scrutinee->as.var);
        if (s->local->kind == LOCAL_CAPTURE) ct_eval_load_capture(c, s->local);
        s->scrutinee = (Operand){.slot = s->local->slot, .is_pointer = s->local->is_pointer, .local = s->local};
    } else {
        ct_eval_operand_value(c, scrutinee, false, false, &s->scrutinee);
    }
}

/* The ledger holds the drops of all alternatives before the first one's own entries. */
static void read_headers(Compile *c, Switch *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        s->all[i].takes = ct_eval_next_entry(c);
        s->all[i].header = c->read;
        uint32_t drops = ct_eval_next_entry(c);
        c->read -= drops;
    }
}

uint32_t ct_eval_emit_case(Compile *c, CtCore *e, uint32_t want, bool tail) {
    Switch s = {.e = e};
    s.all = ct_eval_compile_alternatives(c, e, &s.count);
    read_scrutinee(c, &s);
    ct_eval_count_steps(c, 1);
    emit_test(c, &s);
    read_headers(c, &s);
    uint32_t dest = NO_SLOT;
    if (!tail) dest = want == NO_SLOT ? ct_eval_slot_new(c) : want;
    Branch branch;
    ct_eval_branch_begin(c, &branch);
    uint32_t target = 0;
    for (uint32_t i = 0; i < s.count; i++) {
        if (i > 0) ct_eval_branch_next(c, &branch);
        enter_alternative(c, &s, i);
        target = c->words.count - s.start;
        open_alternative(c, &s, &s.all[i]);
        ct_eval_emit_expr(c, s.all[i].body, dest, tail);
        if (tail || i + 1 == s.count) continue;
        ct_push(c->arena, &branch.joins, c->words.count);
        ct_eval_begin(c, OP_JUMP, e->range);
        ct_eval_add_word(c, 0);
    }
    spread_cost(c, &s, target);
    ct_eval_branch_end(c, &branch);
    return dest;
}
