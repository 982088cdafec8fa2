/* The reference interpreter of Flow: each kind of step, on programs that are written by hand. */
#include "core_fixture.h"

#include <math.h>

#include "flow/check/interpret.h"
#include "flow/build.h"

typedef struct Flow {
    Fixture *core;
    CtFlow *flow;
    CtFlowBuilder l; /* writes the entry */
    const CtFlowType *real, *single, *integer, *vector, *matrix, *ints;
    CtInterpretOptions options;
    CtInterpreter *i;
} Flow;

static int begin(void **state) {
    Flow *t = calloc(1, sizeof *t);
    set_up((void **)&t->core);
    t->flow = CT_NEW(t->core->arena, CtFlow);
    t->flow->core = t->core->p;
    t->flow->arena = t->core->arena;
    ct_push(t->core->arena, &t->flow->sites, CT_NO_RANGE);
    t->real = ct_flow_scalar(t->flow, FLOW_F64);
    t->single = ct_flow_scalar(t->flow, FLOW_F32);
    t->integer = ct_flow_scalar(t->flow, FLOW_I64);
    t->vector = ct_flow_array(t->flow, 1, t->real);
    t->ints = ct_flow_array(t->flow, 1, t->integer);
    t->matrix = ct_flow_array(t->flow, 2, t->real);
    t->l = (CtFlowBuilder){.flow = t->flow, .arena = t->core->arena};
    t->flow->entry = t->l.function = ct_flow_function(t->flow, "entry", CT_NO_RANGE);
    t->l.block = t->l.function->body = ct_flow_block(&t->l);
    t->options = (CtInterpretOptions){.limits = {.steps = 100000, .bytes = 1 << 26, .stack = 1 << 22}};
    *state = t;
    return 0;
}

static int end(void **state) {
    Flow *t = *state;
    ct_flow_interpreter_free(t->i);
    tear_down((void **)&t->core);
    free(t);
    return 0;
}

/* ---- writing ---- */

static CtFlowArg real(Flow *t, double value) { return ct_flow_real(t->real, value); }
static CtFlowArg integer(Flow *t, int64_t value) { return ct_flow_int(&t->l, value); }

static CtFlowArg prim(Flow *t, CtPrim which, const CtFlowType *type, CtFlowArg a, CtFlowArg b) {
    return ct_flow_prim(&t->l, CT_NO_RANGE, which, type, a, b);
}

static CtFlowStep *step(Flow *t, CtFlowStepKind kind, const CtFlowArg *args, uint32_t count) {
    CtFlowStep *made = ct_flow_step(&t->l, kind, CT_NO_RANGE);
    for (uint32_t k = 0; k < count; k++) ct_flow_arg(&t->l, made, args[k]);
    return made;
}

static CtFlowArg one(Flow *t, CtFlowStepKind kind, const CtFlowType *type, const CtFlowArg *args, uint32_t count) {
    return ct_flow_result(&t->l, step(t, kind, args, count), NULL, type);
}

static CtFlowArg vector(Flow *t, const double *numbers, uint32_t count) {
    CtFlowArg args[16];
    for (uint32_t k = 0; k < count; k++) args[k] = real(t, numbers[k]);
    return one(t, FLOW_LITERALS, t->vector, args, count);
}

static CtFlowArg int_vector(Flow *t, const int64_t *numbers, uint32_t count) {
    CtFlowArg args[16];
    for (uint32_t k = 0; k < count; k++) args[k] = integer(t, numbers[k]);
    return one(t, FLOW_LITERALS, t->ints, args, count);
}

/* [[1, 2, 3], [4, 5, 6]] */
static CtFlowArg two_rows(Flow *t) {
    CtFlowArg rows[2] = {vector(t, (const double[]){1, 2, 3}, 3), vector(t, (const double[]){4, 5, 6}, 3)};
    return one(t, FLOW_ITEMS, t->matrix, rows, 2);
}

static CtFlowArg bulk(Flow *t, CtArrayOp operation, const CtFlowType *type, const CtFlowArg *args, uint32_t count) {
    return ct_flow_bulk(&t->l, CT_NO_RANGE, operation, type, args, count);
}

/* ---- running ---- */

static void returns(Flow *t, const CtFlowArg *values, uint32_t count) {
    CtFlowArgs args = {0};
    CtFlowTypes *types = &t->l.function->results;
    types->items = CT_NEW_ARRAY(t->core->arena, const CtFlowType *, count + 1);
    for (uint32_t k = 0; k < count; k++) {
        ct_push(t->core->arena, &args, values[k]);
        types->items[types->count++] = values[k].type;
    }
    ct_flow_leave(&t->l, EXIT_RETURN, CT_NO_RANGE, &args, NULL);
}

static CtFlowEnd run(Flow *t) {
    ct_flow_interpreter_free(t->i);
    t->i = ct_flow_interpreter_new(t->flow, t->options);
    assert_non_null(t->i);
    return ct_flow_interpret(t->i, t->flow->entry, NULL);
}

static const CtFlowCell *results_of(Flow *t, const CtFlowArg *values, uint32_t count) {
    returns(t, values, count);
    CtFlowEnd how = run(t);
    if (how != FLOW_END_DONE) print_message("%s\n", t->i->message);
    assert_int_equal(how, FLOW_END_DONE);
    return t->i->results;
}

static double real_of(Flow *t, CtFlowArg value) { return (double)results_of(t, &value, 1)->real; }
static int64_t int_of(Flow *t, CtFlowArg value) { return results_of(t, &value, 1)->integer; }

static void gives_numbers(Flow *t, CtFlowArg value, const double *numbers, int64_t count) {
    const CtFlowObject *array = results_of(t, &value, 1)->object;
    assert_int_equal(array->count, count);
    for (int64_t k = 0; k < count; k++) assert_true((double)array->cells[k].real == numbers[k]);
}

static void fails_with(Flow *t, CtErrorCode code, const char *message) {
    returns(t, NULL, 0);
    assert_int_equal(run(t), FLOW_END_FAILED);
    assert_int_equal(t->i->code, code);
    assert_string_equal(t->i->message, message);
}

static void is_wrong(Flow *t, const char *message) {
    returns(t, NULL, 0);
    assert_int_equal(run(t), FLOW_END_WRONG);
    assert_non_null(strstr(t->i->message, message));
    assert_ptr_equal(t->i->function, t->flow->entry);
}

/* ---- scalars ---- */

static void prim_is_the_evaluators(void **state) {
    Flow *t = *state;
    CtFlowArg values[] = {
        prim(t, PRIM_SIN, t->real, real(t, 2), ct_flow_none()),
        prim(t, PRIM_ADD, t->single, ct_flow_real(t->single, 1), ct_flow_real(t->single, 0x1p-30)),
        prim(t, PRIM_INT_ADD, t->integer, integer(t, INT64_MAX), integer(t, 1)),
        prim(t, PRIM_SCALE, t->real, real(t, INFINITY), real(t, -0.0)),
        prim(t, PRIM_IS_INFINITE, t->integer, real(t, -INFINITY), ct_flow_none()),
        prim(t, PRIM_FLOOR_INT, t->integer, real(t, -2.5), ct_flow_none()),
        prim(t, PRIM_TO_DOUBLE, t->real, integer(t, 7), ct_flow_none()),
    };
    const CtFlowCell *r = results_of(t, values, 7);
    assert_true((double)r[0].real == sin(2.0));
    assert_true(r[1].real == 1);
    assert_true(r[2].integer == INT64_MIN);
    assert_true(r[3].real == 0 && signbit(r[3].real));
    assert_int_equal(r[4].integer, 1);
    assert_int_equal(r[5].integer, -3);
    assert_true(r[6].real == 7);
}

static void prim_fails_where_its_row_says(void **state) {
    Flow *t = *state;
    prim(t, PRIM_INT_DIV, t->integer, integer(t, 1), integer(t, 0));
    fails_with(t, CT_E0506, ct_error_title(CT_E0506));
}

static void wide_reals_keep_what_a_double_drops(void **state) {
    Flow *t = *state;
    t->options.wide = true;
    CtFlowArg sum = prim(t, PRIM_ADD, t->real, real(t, 1), real(t, 0x1p-60));
    CtFlowArg rest = prim(t, PRIM_SUB, t->real, sum, real(t, 1));
    assert_true(real_of(t, rest) == 0x1p-60);
}

static void stop_is_its_argument(void **state) {
    Flow *t = *state;
    CtFlowArg two = real(t, 2);
    assert_true(real_of(t, one(t, FLOW_STOP, t->real, &two, 1)) == 2);
}

/* ---- functions ---- */

/* A function of some parameters; l writes its body until `finish`. */
static CtFlowBuilder function(Flow *t, const char *name, const CtFlowType *const *types, uint32_t count) {
    CtFlowBuilder l = {.flow = t->flow, .arena = t->core->arena};
    l.function = ct_flow_function(t->flow, name, CT_NO_RANGE);
    l.block = l.function->body = ct_flow_block(&l);
    for (uint32_t k = 0; k < count; k++) ct_push(t->core->arena, &l.function->params, ct_flow_var(&l, "p", types[k]));
    return l;
}

static CtFlowArg param(const CtFlowBuilder *l, uint32_t index) { return flow_of(l->function->params.items[index]); }

static void finish(CtFlowBuilder *l, CtFlowArg value) {
    CtFlowArgs args = {0};
    ct_push(l->arena, &args, value);
    if (l->function->results.count == 0) {
        l->function->results.items = CT_NEW_ARRAY(l->arena, const CtFlowType *, 1);
        l->function->results.items[l->function->results.count++] = value.type;
    }
    ct_flow_leave(l, EXIT_RETURN, CT_NO_RANGE, &args, NULL);
}

/* n ↦ n + (n − 1) + … + 1 + start; by waiting calls, or by ends of functions. */
static CtFlowFunction *sum_to(Flow *t, bool waits) {
    const CtFlowType *types[] = {t->integer, t->integer};
    CtFlowBuilder l = function(t, "sumTo", types, 2);
    CtFlowFunction *f = l.function;
    f->results = (CtFlowTypes){CT_NEW_ARRAY(t->core->arena, const CtFlowType *, 1), 1};
    f->results.items[0] = t->integer;
    CtFlowChoosing choice = ct_flow_switch_begin(&l, CT_NO_RANGE, param(&l, 0));
    ct_flow_case_begin(&l, &choice, 0);
    finish(&l, param(&l, 1));
    l.block = choice.outer;
    ct_flow_case_begin(&l, &choice, FLOW_OTHERS);
    CtFlowArgs args = {0};
    ct_push(l.arena, &args, ct_flow_prim_int(&l, CT_NO_RANGE, PRIM_INT_SUB, param(&l, 0), ct_flow_int(&l, 1)));
    if (waits) {
        ct_push(l.arena, &args, param(&l, 1));
        CtFlowArg rest = ct_flow_call(&l, CT_NO_RANGE, f, &args).items[0];
        finish(&l, ct_flow_prim_int(&l, CT_NO_RANGE, PRIM_INT_ADD, rest, param(&l, 0)));
    } else {
        ct_push(l.arena, &args, ct_flow_prim_int(&l, CT_NO_RANGE, PRIM_INT_ADD, param(&l, 1), param(&l, 0)));
        ct_flow_leave(&l, EXIT_TAIL, CT_NO_RANGE, &args, f);
    }
    l.block = choice.outer;
    l.block->exit = EXIT_NEVER;
    return f;
}

static CtFlowArg call_sum(Flow *t, CtFlowFunction *f, int64_t n) {
    CtFlowArgs args = {0};
    ct_push(t->core->arena, &args, integer(t, n));
    ct_push(t->core->arena, &args, integer(t, 0));
    return ct_flow_call(&t->l, CT_NO_RANGE, f, &args).items[0];
}

static void call_waits_for_its_function(void **state) {
    Flow *t = *state;
    assert_int_equal(int_of(t, call_sum(t, sum_to(t, true), 100)), 5050);
}

static void tail_takes_no_stack(void **state) {
    Flow *t = *state;
    t->options.limits.steps = 10000000;
    assert_int_equal(int_of(t, call_sum(t, sum_to(t, false), 100000)), 5000050000);
}

static void deep_recursion_is_given_up(void **state) {
    Flow *t = *state;
    t->options.limits.steps = 1 << 30;
    t->options.limits.bytes = (size_t)1 << 32;
    CtFlowArg value = call_sum(t, sum_to(t, true), 10000000);
    returns(t, &value, 1);
    assert_int_equal(run(t), FLOW_END_STOPPED);
    assert_string_equal(t->i->message, "it recurses too deeply");
}

static void constant_is_evaluated_once(void **state) {
    Flow *t = *state;
    t->options.limits.steps = 300;
    CtFlowBuilder l = function(t, "constant", NULL, 0);
    CtFlowLooping loop = ct_flow_loop_begin(&l, CT_NO_RANGE, ct_flow_int(&l, 100), &(CtFlowArgs){0});
    ct_flow_loop_end(&l, &loop, &(CtFlowArgs){0}, NULL, NULL);
    finish(&l, ct_flow_int(&l, 7));
    CtFlowConstant *constant = CT_NEW(t->core->arena, CtFlowConstant);
    constant->function = l.function;
    ct_push(t->core->arena, &t->flow->constants, constant);
    CtFlowArg values[2];
    for (int k = 0; k < 2; k++) {
        CtFlowStep *made = step(t, FLOW_CONSTANT, NULL, 0);
        made->as.constant = constant;
        values[k] = ct_flow_result(&t->l, made, NULL, t->integer);
    }
    const CtFlowCell *r = results_of(t, values, 2);
    assert_int_equal(r[0].integer, 7);
    assert_int_equal(r[1].integer, 7);
    assert_true(t->i->steps < 150);
}

/* ---- nodes ---- */

static const CtFlowType *lists(Flow *t) {
    const CtFlowType *list = ct_flow_node_new(t->flow, "list", NULL);
    CtFlowTypes none = {0}, cons = {CT_NEW_ARRAY(t->core->arena, const CtFlowType *, 2), 2};
    cons.items[0] = t->integer;
    cons.items[1] = list;
    ct_flow_con_add(t->flow, list->data, "Nil", &none);
    ct_flow_con_add(t->flow, list->data, "Cons", &cons);
    return list;
}

static CtFlowArg cons_of(Flow *t, const CtFlowType *list, int64_t head, CtFlowArg tail) {
    CtFlowArgs fields = {0};
    ct_push(t->core->arena, &fields, integer(t, head));
    ct_push(t->core->arena, &fields, tail);
    return ct_flow_node_make(&t->l, CT_NO_RANGE, list, 1, &fields);
}

static void open_gives_what_make_took(void **state) {
    Flow *t = *state;
    const CtFlowType *list = lists(t);
    CtFlowArg nil = ct_flow_node_make(&t->l, CT_NO_RANGE, list, 0, NULL);
    CtFlowArg node = cons_of(t, list, 5, nil);
    CtFlowArgs fields = ct_flow_node_open(&t->l, CT_NO_RANGE, node, 1, NULL);
    const CtFlowCell *r = results_of(t, fields.items, 2);
    assert_int_equal(r[0].integer, 5);
    assert_int_equal(r[1].object->tag, 0);
}

static void open_as_another_is_wrong(void **state) {
    Flow *t = *state;
    const CtFlowType *list = lists(t);
    CtFlowArg nil = ct_flow_node_make(&t->l, CT_NO_RANGE, list, 0, NULL);
    ct_flow_node_open(&t->l, CT_NO_RANGE, nil, 1, NULL);
    is_wrong(t, "opened as one of constructor 1");
}

static CtFlowArg string(Flow *t, const CtFlowType *list, const uint32_t *points, uint32_t count) {
    CtFlowStep *made = step(t, FLOW_STRING, NULL, 0);
    made->as.string.points = (uint32_t *)points;
    made->as.string.count = count;
    return ct_flow_result(&t->l, made, NULL, list);
}

static void fail_tells_its_string(void **state) {
    static const uint32_t points[] = {'o', 'h', 0xE9};
    Flow *t = *state;
    CtFlowArg text = string(t, lists(t), points, 3);
    step(t, FLOW_FAIL, &text, 1)->as.fail.code = CT_E0502;
    fails_with(t, CT_E0502, "ohé");
}

static void fail_tells_its_text(void **state) {
    Flow *t = *state;
    CtFlowStep *made = step(t, FLOW_FAIL, NULL, 0);
    made->as.fail.code = CT_E0503;
    made->as.fail.text = "100 % wrong";
    fails_with(t, CT_E0503, "100 % wrong");
}

static void show_makes_a_string(void **state) {
    Flow *t = *state;
    const CtFlowType *list = lists(t);
    CtFlowArg text = prim(t, PRIM_SHOW_INT, list, integer(t, -42), ct_flow_none());
    step(t, FLOW_FAIL, &text, 1)->as.fail.code = CT_E0502;
    fails_with(t, CT_E0502, "-42");
}

/* ---- branches and loops ---- */

static CtFlowArg choose(Flow *t, CtFlowArg on, uint32_t first, CtFlowArg a, uint32_t second, CtFlowArg b) {
    CtFlowChoosing choice = ct_flow_switch_begin(&t->l, CT_NO_RANGE, on);
    CtFlowArgs one_value = {0}, other = {0};
    ct_push(t->core->arena, &one_value, a);
    ct_push(t->core->arena, &other, b);
    ct_flow_case_begin(&t->l, &choice, first);
    ct_flow_case_end(&t->l, &choice, &one_value);
    ct_flow_case_begin(&t->l, &choice, second);
    ct_flow_case_end(&t->l, &choice, &other);
    return ct_flow_switch_end(&t->l, &choice).items[0];
}

static void switch_takes_the_branch_of_its_tag(void **state) {
    Flow *t = *state;
    CtFlowArg values[] = {choose(t, integer(t, 0), 1, real(t, 10), 0, real(t, 20)),
                          choose(t, integer(t, 3), 1, real(t, 10), FLOW_OTHERS, real(t, 30))};
    const CtFlowCell *r = results_of(t, values, 2);
    assert_true(r[0].real == 20);
    assert_true(r[1].real == 30);
}

static void switch_without_its_branch_is_wrong(void **state) {
    Flow *t = *state;
    choose(t, integer(t, 2), 0, real(t, 1), 1, real(t, 2));
    is_wrong(t, "no branch for 2");
}

/* Carries the sum of the indices, and makes an array of it; `initial`: of what it begins with too. */
static CtFlowArgs sums(Flow *t, CtFlowArg count, bool initial) {
    CtFlowArgs start = {0}, next = {0};
    CtFlowTypes types = {CT_NEW_ARRAY(t->core->arena, const CtFlowType *, 1), 1};
    types.items[0] = t->ints;
    ct_push(t->core->arena, &start, integer(t, 100));
    CtFlowLooping loop = ct_flow_loop_begin(&t->l, CT_NO_RANGE, count, &start);
    loop.step->as.loop.initial = initial;
    ct_push(t->core->arena, &next,
            ct_flow_prim_int(&t->l, CT_NO_RANGE, PRIM_INT_ADD, loop.carried.items[0], loop.index));
    return ct_flow_loop_end(&t->l, &loop, &next, &next, &types);
}

static void loop_carries_and_collects(void **state) {
    Flow *t = *state;
    CtFlowArgs values = sums(t, integer(t, 4), false);
    const CtFlowCell *r = results_of(t, values.items, 2);
    assert_int_equal(r[0].integer, 106);
    assert_int_equal(r[1].object->count, 4);
    assert_int_equal(r[1].object->cells[0].integer, 100);
    assert_int_equal(r[1].object->cells[3].integer, 106);
}

static void loop_with_initial_begins_with_its_start(void **state) {
    Flow *t = *state;
    CtFlowArgs values = sums(t, integer(t, 2), true);
    const CtFlowCell *r = results_of(t, values.items, 2);
    assert_int_equal(r[1].object->count, 3);
    assert_int_equal(r[1].object->cells[0].integer, 100);
    assert_int_equal(r[1].object->cells[2].integer, 101);
}

static void loop_without_iterations_makes_empty_arrays(void **state) {
    Flow *t = *state;
    CtFlowArgs values = sums(t, integer(t, 0), false);
    const CtFlowCell *r = results_of(t, values.items, 2);
    assert_int_equal(r[0].integer, 100);
    assert_int_equal(r[1].object->dims[0], 0);
}

static void endless_loop_is_given_up(void **state) {
    Flow *t = *state;
    CtFlowArgs values = sums(t, integer(t, INT64_MAX), false);
    returns(t, values.items, 2);
    assert_int_equal(run(t), FLOW_END_STOPPED);
    assert_string_equal(t->i->message, "it takes too long");
}

/* Row i is replicate i 0. */
static void loop_of_odd_rows_fails(void **state) {
    Flow *t = *state;
    CtFlowTypes types = {CT_NEW_ARRAY(t->core->arena, const CtFlowType *, 1), 1};
    types.items[0] = t->matrix;
    CtFlowLooping loop = ct_flow_loop_begin(&t->l, CT_NO_RANGE, integer(t, 3), &(CtFlowArgs){0});
    CtFlowArg length = ct_flow_prim_int(&t->l, CT_NO_RANGE, PRIM_INT_ADD, loop.index, integer(t, 1));
    CtFlowArgs rows = {0};
    ct_push(t->core->arena, &rows, bulk(t, ARRAY_REPLICATE, t->vector, (CtFlowArg[]){length, real(t, 0)}, 2));
    ct_flow_loop_end(&t->l, &loop, &(CtFlowArgs){0}, &rows, &types);
    fails_with(t, CT_E0507, "element 1 of an array has 2 elements, but element 0 has 1");
}

/* ---- elements ---- */

static void read_takes_elements_and_rows(void **state) {
    Flow *t = *state;
    CtFlowArg m = two_rows(t);
    CtFlowArg values[] = {ct_flow_read(&t->l, CT_NO_RANGE, m, (CtFlowArg[]){integer(t, 1), integer(t, 2)}, 2),
                          ct_flow_read(&t->l, CT_NO_RANGE, m, (CtFlowArg[]){integer(t, 1)}, 1),
                          ct_flow_dim(&t->l, CT_NO_RANGE, m, 1)};
    const CtFlowCell *r = results_of(t, values, 3);
    assert_true(r[0].real == 6);
    assert_true(r[1].object->rank == 1 && r[1].object->count == 3 && r[1].object->cells[0].real == 4);
    assert_int_equal(r[2].integer, 3);
}

static void read_outside_is_wrong(void **state) {
    Flow *t = *state;
    ct_flow_read(&t->l, CT_NO_RANGE, vector(t, (const double[]){1, 2}, 2), (CtFlowArg[]){integer(t, 2)}, 1);
    is_wrong(t, "is read at 2");
}

static void update_leaves_the_old_array(void **state) {
    Flow *t = *state;
    CtFlowArg old = vector(t, (const double[]){1, 2, 3}, 3);
    CtFlowArg values[] = {old, ct_flow_update(&t->l, CT_NO_RANGE, old, (CtFlowArg[]){integer(t, 1)}, 1, real(t, 9))};
    const CtFlowCell *r = results_of(t, values, 2);
    assert_true(r[0].object->cells[1].real == 2);
    assert_true(r[1].object->cells[0].real == 1 && r[1].object->cells[1].real == 9 && r[1].object->cells[2].real == 3);
}

static void update_exchanges_rows_of_their_shape(void **state) {
    Flow *t = *state;
    CtFlowArg m = two_rows(t), row = vector(t, (const double[]){7, 8, 9}, 3);
    gives_numbers(t, ct_flow_update(&t->l, CT_NO_RANGE, m, (CtFlowArg[]){integer(t, 0)}, 1, row),
                  (const double[]){7, 8, 9, 4, 5, 6}, 6);
}

static void update_with_another_shape_fails(void **state) {
    Flow *t = *state;
    CtFlowArg m = two_rows(t), row = vector(t, (const double[]){7}, 1);
    ct_flow_update(&t->l, CT_NO_RANGE, m, (CtFlowArg[]){integer(t, 1)}, 1, row);
    fails_with(t, CT_E0507, "element 1 of an array has 1 element, but element 0 has 3");
}

static void snoc_puts_one_behind(void **state) {
    Flow *t = *state;
    CtFlowArg args[] = {vector(t, (const double[]){1, 2}, 2), real(t, 3)};
    gives_numbers(t, one(t, FLOW_SNOC, t->vector, args, 2), (const double[]){1, 2, 3}, 3);
}

static void snoc_puts_a_row_behind(void **state) {
    Flow *t = *state;
    CtFlowArg args[] = {two_rows(t), vector(t, (const double[]){7, 8, 9}, 3)};
    gives_numbers(t, one(t, FLOW_SNOC, t->matrix, args, 2), (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9}, 9);
}

/* ---- checks ---- */

static void check_fails_outside(void **state) {
    Flow *t = *state;
    CtFlowArg args[] = {integer(t, 3), vector(t, (const double[]){1, 2, 3}, 3)};
    step(t, FLOW_CHECK, args, 2);
    fails_with(t, CT_E0501, "index 3 is outside of an array of 3 elements");
}

static void check_size_fails_below_zero(void **state) {
    Flow *t = *state;
    CtFlowArg count = integer(t, -1);
    step(t, FLOW_CHECK_SIZE, &count, 1)->as.bulk = ARRAY_BUILD;
    fails_with(t, CT_E0508, "build was asked for -1 elements");
}

static void check_zip_fails_where_lengths_differ(void **state) {
    Flow *t = *state;
    CtFlowArg args[] = {integer(t, 2), vector(t, (const double[]){1}, 1)};
    step(t, FLOW_CHECK_ZIP, args, 2);
    fails_with(t, CT_E0504, "zipWith takes arrays of one length; these have 2 and 1 elements");
}

static void check_shape_fails_where_shapes_differ(void **state) {
    Flow *t = *state;
    CtFlowArg args[] = {vector(t, (const double[]){1, 2}, 2), vector(t, (const double[]){1}, 1)};
    step(t, FLOW_CHECK_SHAPE, args, 2)->as.index = 4;
    fails_with(t, CT_E0507, "element 4 of an array has 1 element, but element 0 has 2");
}

static void check_slice_fails_outside(void **state) {
    Flow *t = *state;
    CtFlowArg args[] = {integer(t, 1), integer(t, 2), vector(t, (const double[]){1, 2}, 2)};
    step(t, FLOW_CHECK_SLICE, args, 3);
    fails_with(t, CT_E0501, "a slice of 2 from 1 is outside of an array of 2 elements");
}

static void checks_that_hold_do_nothing(void **state) {
    Flow *t = *state;
    CtFlowArg x = vector(t, (const double[]){1, 2}, 2);
    step(t, FLOW_CHECK, (CtFlowArg[]){integer(t, 1), x}, 2);
    step(t, FLOW_CHECK_SIZE, (CtFlowArg[]){integer(t, 0)}, 1);
    step(t, FLOW_CHECK_ZIP, (CtFlowArg[]){x, x}, 2);
    step(t, FLOW_CHECK_SHAPE, (CtFlowArg[]){x, x}, 2);
    step(t, FLOW_CHECK_SLICE, (CtFlowArg[]){integer(t, 1), integer(t, 1), x}, 3);
    assert_int_equal(int_of(t, integer(t, 1)), 1);
}

/* ---- whole arrays ---- */

static void bulk_reduces(void **state) {
    Flow *t = *state;
    CtFlowArg x = vector(t, (const double[]){3, 1, 3, 2}, 4), none = vector(t, NULL, 0);
    CtFlowArg values[] = {bulk(t, ARRAY_SUM, t->real, &x, 1),       bulk(t, ARRAY_PRODUCT, t->real, &x, 1),
                          bulk(t, ARRAY_MAXIMUM, t->real, &x, 1),   bulk(t, ARRAY_MINIMUM, t->real, &x, 1),
                          bulk(t, ARRAY_ARGMAX, t->integer, &x, 1), bulk(t, ARRAY_ARGMIN, t->integer, &x, 1),
                          bulk(t, ARRAY_SUM, t->real, &none, 1)};
    const CtFlowCell *r = results_of(t, values, 7);
    assert_true(r[0].real == 9 && r[1].real == 18 && r[2].real == 3 && r[3].real == 1);
    assert_int_equal(r[4].integer, 0);
    assert_int_equal(r[5].integer, 1);
    assert_true(r[6].real == 0 && !signbit(r[6].real));
}

static void bulk_extreme_of_nothing_fails(void **state) {
    Flow *t = *state;
    CtFlowArg none = vector(t, NULL, 0);
    bulk(t, ARRAY_MAXIMUM, t->real, &none, 1);
    fails_with(t, CT_E0505, "maximum of an array without elements");
}

static void bulk_extreme_is_the_first_nan(void **state) {
    Flow *t = *state;
    CtFlowArg x = vector(t, (const double[]){1, NAN, 2, NAN}, 4);
    assert_int_equal(int_of(t, bulk(t, ARRAY_ARGMAX, t->integer, &x, 1)), 1);
}

static void bulk_rearranges(void **state) {
    Flow *t = *state;
    CtFlowArg x = vector(t, (const double[]){1, 2, 3}, 3), m = two_rows(t),
              at = int_vector(t, (const int64_t[]){2, 0}, 2);
    CtFlowArg values[] = {
        bulk(t, ARRAY_REVERSE, t->vector, &x, 1),
        bulk(t, ARRAY_APPEND, t->vector, (CtFlowArg[]){x, x}, 2),
        bulk(t, ARRAY_SLICE, t->vector, (CtFlowArg[]){integer(t, 1), integer(t, 2), x}, 3),
        bulk(t, ARRAY_GATHER, t->vector, (CtFlowArg[]){at, x}, 2),
        bulk(t, ARRAY_TRANSPOSE, t->matrix, &m, 1),
        bulk(t, ARRAY_CONCAT, t->vector, &m, 1),
        bulk(t, ARRAY_RESHAPE, t->matrix, (CtFlowArg[]){integer(t, 3), integer(t, 1), x}, 3),
        bulk(t, ARRAY_IOTA, t->ints, (CtFlowArg[]){integer(t, 3)}, 1),
        bulk(t, ARRAY_SHAPE, t->ints, (CtFlowArg[]){m, integer(t, 2)}, 2),
        bulk(t, ARRAY_REPLICATE, t->matrix, (CtFlowArg[]){integer(t, 2), x}, 2),
    };
    const CtFlowCell *r = results_of(t, values, 10);
    static const double expected[][6] = {{3, 2, 1},          {1, 2, 3, 1, 2, 3}, {2, 3}, {3, 1}, {1, 4, 2, 5, 3, 6},
                                         {1, 2, 3, 4, 5, 6}, {1, 2, 3},          {0},    {0},    {1, 2, 3, 1, 2, 3}};
    static const int64_t counts[] = {3, 6, 2, 2, 6, 6, 3, 3, 2, 6};
    for (int k = 0; k < 10; k++) {
        assert_int_equal(r[k].object->count, counts[k]);
        for (int64_t j = 0; k != 7 && k != 8 && j < counts[k]; j++)
            assert_true((double)r[k].object->cells[j].real == expected[k][j]);
    }
    assert_true(r[4].object->dims[0] == 3 && r[4].object->dims[1] == 2);
    assert_int_equal(r[7].object->cells[2].integer, 2);
    assert_true(r[8].object->cells[0].integer == 2 && r[8].object->cells[1].integer == 3);
}

static void bulk_gather_fails_outside(void **state) {
    Flow *t = *state;
    CtFlowArg args[] = {int_vector(t, (const int64_t[]){-1}, 1), vector(t, (const double[]){1}, 1)};
    bulk(t, ARRAY_GATHER, t->vector, args, 2);
    fails_with(t, CT_E0501, "index -1 is outside of an array of 1 element");
}

static void bulk_reshape_fails_where_it_does_not_fit(void **state) {
    Flow *t = *state;
    CtFlowArg args[] = {integer(t, 2), integer(t, 2), vector(t, (const double[]){1}, 1)};
    bulk(t, ARRAY_RESHAPE, t->matrix, args, 3);
    fails_with(t, CT_E0504, "2 rows of 2 cannot be made of 1 elements");
}

static void product_multiplies(void **state) {
    Flow *t = *state;
    CtFlowArg m = two_rows(t), lengths[] = {integer(t, 2), integer(t, 2)};
    CtFlowFactors factors = {.transposed = {false, true}};
    gives_numbers(t, ct_flow_product(&t->l, CT_NO_RANGE, lengths, factors, m, m), (const double[]){14, 32, 32, 77}, 4);
}

static void product_of_lengths_that_do_not_fit_is_zero(void **state) {
    Flow *t = *state;
    CtFlowArg m = two_rows(t), lengths[] = {integer(t, 2), integer(t, 3)};
    gives_numbers(t, ct_flow_product(&t->l, CT_NO_RANGE, lengths, (CtFlowFactors){0}, m, m), (const double[6]){0}, 6);
}

static void product_heeds_structural_zeros(void **state) {
    Flow *t = *state;
    CtFlowArg rows[] = {vector(t, (const double[]){INFINITY}, 1)}, zeros[] = {vector(t, (const double[]){-0.0}, 1)};
    CtFlowArg a = one(t, FLOW_ITEMS, t->matrix, rows, 1), b = one(t, FLOW_ITEMS, t->matrix, zeros, 1);
    CtFlowArg lengths[] = {integer(t, 1), integer(t, 1)};
    CtFlowArg x = ct_flow_product(&t->l, CT_NO_RANGE, lengths, (CtFlowFactors){.cotangent = 2}, a, b);
    const CtFlowObject *array = results_of(t, &x, 1)->object;
    assert_true(array->cells[0].real == 0 && signbit(array->cells[0].real));
}

/* ---- derivatives and reference counts ---- */

static void derivative_steps_are_not_run(void **state) {
    Flow *t = *state;
    step(t, FLOW_VJP, NULL, 0);
    returns(t, NULL, 0);
    assert_int_equal(run(t), FLOW_END_STOPPED);
    assert_string_equal(t->i->message, "its derivatives are still to be taken");
}

static void released_is_not_read(void **state) {
    Flow *t = *state;
    t->options.counts = true;
    CtFlowArg x = vector(t, (const double[]){1}, 1);
    step(t, FLOW_RETAIN, &x, 1);
    step(t, FLOW_RELEASE, &x, 1);
    ct_flow_dim(&t->l, CT_NO_RANGE, x, 0);
    step(t, FLOW_RELEASE, &x, 1);
    ct_flow_dim(&t->l, CT_NO_RANGE, x, 0);
    is_wrong(t, "after its release");
}

static void taken_is_not_read(void **state) {
    Flow *t = *state;
    t->options.counts = true;
    CtFlowArg x = vector(t, (const double[]){1}, 1);
    ct_flow_update(&t->l, CT_NO_RANGE, x, (CtFlowArg[]){integer(t, 0)}, 1, real(t, 2));
    ct_flow_dim(&t->l, CT_NO_RANGE, x, 0);
    is_wrong(t, "after its release");
}

static void released_node_lets_go_of_its_fields(void **state) {
    Flow *t = *state;
    t->options.counts = true;
    const CtFlowType *list = lists(t);
    CtFlowArg nil = ct_flow_node_make(&t->l, CT_NO_RANGE, list, 0, NULL);
    CtFlowArg inner = cons_of(t, list, 1, nil), outer = cons_of(t, list, 2, inner);
    step(t, FLOW_RELEASE, &outer, 1);
    ct_flow_node_open(&t->l, CT_NO_RANGE, inner, 1, NULL);
    is_wrong(t, "after its release");
}

/* ---- comparing ---- */

static bool same(Flow *t, double a, double b, CtFlowCloseness closeness) {
    char place[100];
    CtFlowCell x = {.real = (long double)a}, y = {.real = (long double)b};
    return ct_flow_interpret_same(t->core->arena, &t->real, 1, &x, &y, closeness, place, sizeof place);
}

static void same_is_by_bits_but_for_nan(void **state) {
    Flow *t = *state;
    CtFlowCloseness bits = {0, false}, close = {1e-9, false}, loose = {1e-9, true};
    assert_true(same(t, NAN, -NAN, bits));
    assert_false(same(t, 0.0, -0.0, bits));
    assert_false(same(t, 1, 1 + 0x1p-52, bits));
    assert_true(same(t, 1, 1 + 0x1p-52, close));
    assert_true(same(t, 0.0, -0.0, close));
    assert_false(same(t, 1, NAN, close));
    assert_true(same(t, 1, NAN, loose));
}

static void difference_tells_its_place(void **state) {
    Flow *t = *state;
    char place[100];
    CtFlowArg values[] = {vector(t, (const double[]){1, 2}, 2), vector(t, (const double[]){1, 3}, 2)};
    const CtFlowCell *r = results_of(t, values, 2);
    assert_false(ct_flow_interpret_same(t->core->arena, &t->vector, 1, &r[0], &r[1], (CtFlowCloseness){0, false}, place,
                                        sizeof place));
    assert_string_equal(place, "result 0, element 1: 2 before, 3 after");
}

int main(void) {
#define STEP_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        STEP_TEST(prim_is_the_evaluators),
        STEP_TEST(prim_fails_where_its_row_says),
        STEP_TEST(wide_reals_keep_what_a_double_drops),
        STEP_TEST(stop_is_its_argument),
        STEP_TEST(call_waits_for_its_function),
        STEP_TEST(tail_takes_no_stack),
        STEP_TEST(deep_recursion_is_given_up),
        STEP_TEST(constant_is_evaluated_once),
        STEP_TEST(open_gives_what_make_took),
        STEP_TEST(open_as_another_is_wrong),
        STEP_TEST(fail_tells_its_string),
        STEP_TEST(fail_tells_its_text),
        STEP_TEST(show_makes_a_string),
        STEP_TEST(switch_takes_the_branch_of_its_tag),
        STEP_TEST(switch_without_its_branch_is_wrong),
        STEP_TEST(loop_carries_and_collects),
        STEP_TEST(loop_with_initial_begins_with_its_start),
        STEP_TEST(loop_without_iterations_makes_empty_arrays),
        STEP_TEST(endless_loop_is_given_up),
        STEP_TEST(loop_of_odd_rows_fails),
        STEP_TEST(read_takes_elements_and_rows),
        STEP_TEST(read_outside_is_wrong),
        STEP_TEST(update_leaves_the_old_array),
        STEP_TEST(update_exchanges_rows_of_their_shape),
        STEP_TEST(update_with_another_shape_fails),
        STEP_TEST(snoc_puts_one_behind),
        STEP_TEST(snoc_puts_a_row_behind),
        STEP_TEST(check_fails_outside),
        STEP_TEST(check_size_fails_below_zero),
        STEP_TEST(check_zip_fails_where_lengths_differ),
        STEP_TEST(check_shape_fails_where_shapes_differ),
        STEP_TEST(check_slice_fails_outside),
        STEP_TEST(checks_that_hold_do_nothing),
        STEP_TEST(bulk_reduces),
        STEP_TEST(bulk_extreme_of_nothing_fails),
        STEP_TEST(bulk_extreme_is_the_first_nan),
        STEP_TEST(bulk_rearranges),
        STEP_TEST(bulk_gather_fails_outside),
        STEP_TEST(bulk_reshape_fails_where_it_does_not_fit),
        STEP_TEST(product_multiplies),
        STEP_TEST(product_of_lengths_that_do_not_fit_is_zero),
        STEP_TEST(product_heeds_structural_zeros),
        STEP_TEST(derivative_steps_are_not_run),
        STEP_TEST(released_is_not_read),
        STEP_TEST(taken_is_not_read),
        STEP_TEST(released_node_lets_go_of_its_fields),
        STEP_TEST(same_is_by_bits_but_for_nan),
        STEP_TEST(difference_tells_its_place),
    };
#undef STEP_TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
