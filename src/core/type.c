/* Types of Core, hash-consed: equal types are the same pointer. Data types are the exception: each call makes a new
 * one, and the caller keeps a table (elaboration by constructor and arguments, differentiation by origin). */
#include "core/core.h"

struct CtTypeTable {
    CtType **slots; /* open addressing; a power of two */
    uint32_t count, slot_count;
    uint32_t next_id;
};

/* ---- making ---- */

static uint32_t hash_parts(CtTypeKind kind, CtType *const *parts, uint32_t count) {
    uint32_t hash = 2166136261u ^ (uint32_t)kind;
    hash *= 16777619u;
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ parts[i]->id) * 16777619u;
        hash ^= hash >> 15;
    }
    return hash;
}

static bool same_parts(const CtType *type, CtTypeKind kind, CtType *const *parts, uint32_t count) {
    if (type->kind != kind || type->count != count) return false;
    return count == 0 || memcmp(type->parts, parts, count * sizeof *parts) == 0;
}

static CtType **find_slot(CtTypeTable *table, CtTypeKind kind, CtType *const *parts, uint32_t count) {
    uint32_t mask = table->slot_count - 1;
    uint32_t i = hash_parts(kind, parts, count) & mask;
    while (table->slots[i] != NULL && !same_parts(table->slots[i], kind, parts, count)) i = (i + 1) & mask;
    return &table->slots[i];
}

static void grow(CtArena *arena, CtTypeTable *table) {
    CtType **old = table->slots;
    uint32_t old_count = table->slot_count;
    uint32_t larger = old_count == 0 ? 64 : old_count * 2;
    CtType **slots = CT_NEW_ARRAY(arena, CtType *, larger);
    table->slots = slots;
    table->slot_count = larger;
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i] != NULL) *find_slot(table, old[i]->kind, old[i]->parts, old[i]->count) = old[i];
}

static CtType *new_type(CtProgram *p, CtTypeKind kind, CtType *const *parts, uint32_t count) {
    CtArena *arena = p->context->arena;
    CtType *type = CT_NEW(arena, CtType);
    type->kind = kind;
    type->id = p->types->next_id++;
    type->count = count;
    if (count > 0) {
        type->parts = CT_NEW_ARRAY(arena, CtType *, count);
        memcpy(type->parts, parts, count * sizeof *parts);
    }
    return type;
}

static CtType *make(CtProgram *p, CtTypeKind kind, CtType *const *parts, uint32_t count) {
    CtTypeTable *table = p->types;
    if (table->count * 2 >= table->slot_count) grow(p->context->arena, table);
    CtType **slot = find_slot(table, kind, parts, count);
    if (*slot == NULL) {
        *slot = new_type(p, kind, parts, count);
        table->count++;
    }
    return *slot;
}

CtType *ct_core_type_double(CtProgram *p) { return make(p, TYPE_DOUBLE, NULL, 0); }
CtType *ct_core_type_float(CtProgram *p) { return make(p, TYPE_FLOAT, NULL, 0); }
CtType *ct_core_type_int(CtProgram *p) { return make(p, TYPE_INT, NULL, 0); }
CtType *ct_core_type_char(CtProgram *p) { return make(p, TYPE_CHAR, NULL, 0); }

CtType *ct_core_type_tuple(CtProgram *p, CtType *const *parts, uint32_t count) {
    return make(p, TYPE_TUPLE, parts, count);
}

CtType *ct_core_type_pair(CtProgram *p, CtType *first, CtType *second) {
    CtType *parts[] = {first, second};
    return make(p, TYPE_TUPLE, parts, 2);
}

CtType *ct_core_type_array(CtProgram *p, CtType *element) { return make(p, TYPE_ARRAY, &element, 1); }

CtType *ct_core_type_fun(CtProgram *p, CtType *const *params, uint32_t count, CtType *result) {
    CtType *few[16];
    CtType **parts = count < 16 ? few : CT_NEW_ARRAY(p->context->arena, CtType *, count + 1);
    for (uint32_t i = 0; i < count; i++) parts[i] = params[i];
    parts[count] = result;
    return make(p, TYPE_FUN, parts, count + 1);
}

CtType *ct_core_type_fun_result(CtType *fun) { return fun->parts[fun->count - 1]; }

CtType *ct_core_type_data(CtProgram *p, CtSym name, CtType *const *args, uint32_t arg_count, bool is_newtype) {
    CtArena *arena = p->context->arena;
    CtType *type = new_type(p, TYPE_DATA, NULL, 0);
    CtData *data = CT_NEW(arena, CtData);
    data->name = name;
    data->arg_count = arg_count;
    data->is_newtype = is_newtype;
    data->type = type;
    if (arg_count > 0) {
        data->args = CT_NEW_ARRAY(arena, CtType *, arg_count);
        memcpy(data->args, args, arg_count * sizeof *args);
    }
    type->data = data;
    return type;
}

/* Copies constructors to the places of the type's array from `from` on. */
static void put_cons(CtProgram *p, CtData *data, uint32_t from, const CtCon *cons, uint32_t count) {
    CtArena *arena = p->context->arena;
    for (uint32_t i = 0; i < count; i++) {
        CtCon *con = &data->cons[from + i];
        *con = cons[i];
        con->tag = from + i;
        con->data = data;
        if (con->count == 0) continue;
        data->is_enum = false;
        con->fields = CT_NEW_ARRAY(arena, CtType *, con->count);
        memcpy(con->fields, cons[i].fields, con->count * sizeof *con->fields);
        con->infix = cons[i].infix;
        con->precedence = cons[i].precedence;
        if (cons[i].field_names == NULL) continue;
        con->field_names = CT_NEW_ARRAY(arena, CtSym, con->count);
        memcpy(con->field_names, cons[i].field_names, con->count * sizeof *con->field_names);
    }
    data->con_count = from + count;
}

void ct_core_data_set_cons(CtProgram *p, CtData *data, const CtCon *cons, uint32_t count) {
    data->cons = CT_NEW_ARRAY(p->context->arena, CtCon, count + (data->is_universal ? CT_CORE_MORE_CONS : 0));
    data->con_room = data->is_universal ? CT_CORE_MORE_CONS : 0;
    data->is_enum = count > 0;
    put_cons(p, data, 0, cons, count);
}

bool ct_core_data_add_cons(CtProgram *p, CtData *data, const CtCon *cons, uint32_t count) {
    if (count > data->con_room) return false;
    data->con_room -= count;
    put_cons(p, data, data->con_count, cons, count);
    return true;
}

void ct_core_data_open(CtProgram *p, CtData *data) {
    CtCon *cons = CT_NEW_ARRAY(p->context->arena, CtCon, CT_MOST_OPEN_CONS);
    for (uint32_t i = 0; i < data->con_count; i++) cons[i] = data->cons[i];
    data->cons = cons;
    data->is_enum = false;
}

CtCon *ct_core_data_open_con(CtProgram *p, CtData *data, CtType *field) {
    for (uint32_t i = 0; i < data->con_count; i++)
        if (data->cons[i].count == 1 && data->cons[i].fields[0] == field) return &data->cons[i];
    if (data->con_count == CT_MOST_OPEN_CONS) return NULL;
    CtArena *arena = p->context->arena;
    CtCon *con = &data->cons[data->con_count];
    con->name = ct_intern_text(&p->context->symbols, ct_format(arena, "%s'%u", data->name->text, data->con_count));
    con->count = 1;
    con->fields = CT_NEW_ARRAY(arena, CtType *, 1);
    con->fields[0] = field;
    con->tag = data->con_count++;
    con->data = data;
    return con;
}

CtCon *ct_core_data_add_variant(CtProgram *p, CtData *data, CtCon con) {
    if (data->con_count == CT_MOST_OPEN_CONS) return NULL;
    CtArena *arena = p->context->arena;
    CtCon *made = &data->cons[data->con_count];
    *made = con;
    made->name = ct_intern_text(&p->context->symbols, ct_format(arena, "%s'%u", con.name->text, data->con_count));
    made->tag = data->con_count++;
    made->data = data;
    return made;
}

/* ---- asking ---- */

/* The types met so far are linked through `seen`; the list is also the work list. So there is no recursion, and each
 * type is visited once. The last one points to itself, so that `seen != NULL` means that a type is in the list. */
typedef struct Walk {
    CtType *first, *last;
} Walk;

static void meet(Walk *walk, CtType *type) {
    if (type->seen != NULL) return;
    if (walk->last != NULL)
        walk->last->seen = type;
    else
        walk->first = type;
    type->seen = type;
    walk->last = type;
}

/* Not what Integers are made of: their digits are no array of the program. */
static void meet_inside(Walk *walk, CtType *type) {
    if (ct_core_type_is_integer(type)) return;
    for (uint32_t i = 0; i < type->count; i++) meet(walk, type->parts[i]);
    if (type->kind != TYPE_DATA) return;
    for (uint32_t i = 0; i < type->data->con_count; i++) {
        const CtCon *con = &type->data->cons[i];
        for (uint32_t j = 0; j < con->count; j++) meet(walk, con->fields[j]);
    }
}

static void forget(Walk *walk) {
    CtType *type = walk->first;
    for (bool more = true; more;) {
        CtType *next = type->seen;
        type->seen = NULL;
        more = next != type;
        type = next;
    }
}

/* Whether a type contains `sought` or, when that is NULL, one of these kinds. */
static bool holds(CtType *type, const CtType *sought, CtTypeKind kind, CtTypeKind other) {
    Walk walk = {NULL, NULL};
    meet(&walk, type);
    bool found = false;
    for (CtType *t = type;; t = t->seen) {
        found = sought != NULL ? t == sought : t->kind == kind || t->kind == other;
        if (found) break;
        meet_inside(&walk, t);
        if (t->seen == t) break;
    }
    forget(&walk);
    return found;
}

bool ct_core_type_has_real(CtType *type) { return holds(type, NULL, TYPE_DOUBLE, TYPE_FLOAT); }
bool ct_core_type_has_array(CtType *type) { return holds(type, NULL, TYPE_ARRAY, TYPE_ARRAY); }
bool ct_core_type_has_fun(CtType *type) { return holds(type, NULL, TYPE_FUN, TYPE_FUN); }

bool ct_core_type_takes_itself(CtArena *arena, CtType *type) {
    if (type->kind != TYPE_DATA || !ct_core_type_has_fun(type)) return false;
    CtData *data = type->data;
    if (data->takes_itself_known) return data->takes_itself;
    CT_VEC(CtType *) taken = {0}; /* by functions in values of the type */
    Walk walk = {NULL, NULL};
    meet(&walk, type);
    for (CtType *t = type;; t = t->seen) {
        meet_inside(&walk, t);
        for (uint32_t i = 0; t->kind == TYPE_FUN && i + 1 < t->count; i++) ct_push(arena, &taken, t->parts[i]);
        if (t->seen == t) break;
    }
    forget(&walk);
    data->takes_itself_known = true;
    for (uint32_t i = 0; i < taken.count && !data->takes_itself; i++)
        data->takes_itself = holds(taken.items[i], type, TYPE_DATA, TYPE_DATA);
    return data->takes_itself;
}

bool ct_core_type_is_integer(const CtType *type) {
    return type->kind == TYPE_DATA && type->data->con_count == 2 && strcmp(type->data->name->text, "Integer") == 0 &&
           strcmp(type->data->cons[0].name->text, "Integer'small") == 0;
}

/* ---- programs ---- */

CtProgram *ct_core_program_new(CtContext *context) {
    CtProgram *p = CT_NEW(context->arena, CtProgram);
    p->context = context;
    p->types = CT_NEW(context->arena, CtTypeTable);
    p->double_type = ct_core_type_double(p);
    p->float_type = ct_core_type_float(p);
    p->int_type = ct_core_type_int(p);
    p->char_type = ct_core_type_char(p);
    p->unit_type = ct_core_type_tuple(p, NULL, 0);
    return p;
}

CtSourceRange ct_core_failing_place(const CtProgram *p, CtSourceRange range) {
    const CtSource *sources = p->context->sources.items;
    bool inside = range.source != 0 && sources[range.source].is_library;
    bool known = p->asked.source != 0 && !sources[p->asked.source].is_library;
    return inside && known ? p->asked : range;
}

CtVar *ct_core_var_new(CtProgram *p, const char *name, CtType *type) {
    CtVar *var = CT_NEW(p->context->arena, CtVar);
    var->name = ct_intern_text(&p->context->symbols, name);
    var->id = p->next_var++;
    var->type = type;
    return var;
}

CtVar *ct_core_var_like(CtProgram *p, const CtVar *var, CtType *type) {
    CtVar *fresh = CT_NEW(p->context->arena, CtVar);
    fresh->name = var->name;
    fresh->id = p->next_var++;
    fresh->type = type;
    return fresh;
}

CtGlobal *ct_core_global_new(CtProgram *p, const char *name, CtType *type, CtSourceRange range) {
    CtArena *arena = p->context->arena;
    CtGlobal *global = CT_NEW(arena, CtGlobal);
    global->name = ct_intern_text(&p->context->symbols, name);
    global->id = p->next_global++;
    global->type = type;
    global->range = range;
    ct_push(arena, &p->globals, global);
    return global;
}
