/* The interpreter's control: functions, blocks, and the steps on scalars and nodes. */
#include "flow/check/interpret.h"

#include "rt/text.h"

#include <locale.h>
#include <pthread.h>
#include <sys/mman.h>

/* ---- how a run ends ---- */

CT_FAILS void ct_flow_interpret_stop(CtInterpreter *i, const char *why) {
    i->end = FLOW_END_STOPPED;
    ct_fail(&i->failing, 0, 0, "%s", why);
}

CT_FAILS void ct_flow_interpret_wrong(CtInterpreter *i, const char *format, ...) {
    va_list list;
    char text[300];
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    i->end = FLOW_END_WRONG;
    i->function = i->frame != NULL ? i->frame->function : NULL;
    ct_fail(&i->failing, 0, 0, "%s", text);
}

static int number_of(CtErrorCode code) { return (int)strtol(ct_error_name(code) + 1, NULL, 10); }

static CtErrorCode code_of(int number) {
    for (int code = 0; code < CT_ERROR_COUNT; code++)
        if (number_of((CtErrorCode)code) == number) return (CtErrorCode)code;
    return CT_E0901;
}

/* As in emitted code, a failure in the library is attributed to the user's call, or, if there was none, to what was
 * asked for. */
void ct_flow_interpret_at(CtInterpreter *i, CtSourceRange range) {
    bool called = i->frame != NULL && i->frame->place.source != 0;
    if (called && !ct_flow_is_user(i->flow, range)) range = i->frame->place;
    i->range = ct_core_failing_place(i->flow->core, range);
}

CT_FAILS void ct_flow_interpret_fail(CtInterpreter *i, CtErrorCode code, const char *text) {
    ct_fail(&i->failing, 0, number_of(code), "%s", text);
}

void ct_flow_interpret_copied(CtInterpreter *i, const CtFlowObject *array, uint64_t steps) {
    if (i->options.counts && array->claims == 1) i->in_place += steps;
}

void ct_flow_interpret_spend(CtInterpreter *i, uint64_t steps) {
    i->steps += steps;
    if (i->steps > i->options.limits.steps) ct_flow_interpret_stop(i, "it takes too long");
    if ((char *)__builtin_frame_address(0) < i->stack_end) ct_flow_interpret_stop(i, "it recurses too deeply");
}

/* ---- variables ---- */

static const char *name_of(const CtFlowVar *var) { return var->name != NULL ? var->name : "t"; }

static bool is_dead(const CtInterpreter *i, const CtFlowObject *object) {
    return i->options.counts && object != NULL && object->claims <= 0;
}

CtFlowCell ct_flow_interpret_arg(CtInterpreter *i, const CtFlowArg *arg) {
    if (arg->var == NULL) {
        if (ct_flow_is_object(arg->type)) return (CtFlowCell){.object = NULL};
        if (arg->type->kind == FLOW_I64) return (CtFlowCell){.integer = arg->lit.integer};
        return (CtFlowCell){.real = (long double)arg->lit.real};
    }
    uint32_t id = arg->var->id;
    if (id >= i->frame->function->vars || !i->frame->bound[id])
        ct_flow_interpret_wrong(i, "%s%u is used before it is bound", name_of(arg->var), id);
    CtFlowCell value = i->frame->cells[id];
    if (ct_flow_is_object(arg->type) && is_dead(i, value.object))
        ct_flow_interpret_wrong(i, "%s%u is used after its release", name_of(arg->var), id);
    return value;
}

CtFlowObject *ct_flow_interpret_object(CtInterpreter *i, const CtFlowArg *arg) {
    CtFlowObject *object = ct_flow_interpret_arg(i, arg).object;
    if (object == NULL) ct_flow_interpret_wrong(i, "something is read that was not made");
    return object;
}

void ct_flow_interpret_bind(CtInterpreter *i, const CtFlowVar *var, CtFlowCell value) {
    if (var == NULL) return;
    CtInterpretFrame *frame = i->frame;
    if (var->id >= frame->function->vars)
        ct_flow_interpret_wrong(i, "%s is no variable of this function", name_of(var));
    bool object = ct_flow_is_object(var->type);
    CtFlowObject *old = frame->objects[var->id] ? frame->cells[var->id].object : NULL;
    if (object) ct_flow_interpret_hold(value.object);
    frame->cells[var->id] = value;
    frame->bound[var->id] = true;
    frame->objects[var->id] = object;
    ct_flow_interpret_drop(i, old);
}

/* ---- frames ---- */

static void enter(CtInterpreter *i, const CtFlowFunction *function, CtSourceRange place) {
    size_t bytes = sizeof(CtInterpretFrame) + (size_t)function->vars * (sizeof(CtFlowCell) + 2);
    CtInterpretFrame *frame = ct_flow_interpret_memory(i, bytes + 16);
    frame->caller = i->frame;
    frame->function = function;
    frame->place = place;
    frame->bytes = bytes + 16;
    uintptr_t at = ((uintptr_t)(frame + 1) + 15) & ~(uintptr_t)15;
    frame->cells = (CtFlowCell *)at; // NOLINT
    frame->bound = (bool *)(frame->cells + function->vars);
    frame->objects = frame->bound + function->vars;
    i->frame = frame;
}

static void leave(CtInterpreter *i) {
    CtInterpretFrame *frame = i->frame;
    for (uint32_t k = 0; k < frame->function->vars; k++)
        if (frame->objects[k]) ct_flow_interpret_drop(i, frame->cells[k].object);
    i->frame = frame->caller;
    ct_flow_interpret_give(i, frame, frame->bytes);
}

/* ---- what is handed over ---- */

/* Passed values are retained while they are on their way. */
static void pass(CtInterpreter *i, const CtFlowArgs *args) {
    if (args->count > i->passed_capacity) {
        CtFlowCell *more = realloc(i->passed, args->count * sizeof *more);
        if (more == NULL) ct_flow_interpret_stop(i, "it takes too much memory");
        i->passed = more;
        i->passed_capacity = args->count;
    }
    for (uint32_t k = 0; k < args->count; k++) {
        i->passed[k] = ct_flow_interpret_arg(i, &args->items[k]);
        if (ct_flow_is_object(args->items[k].type)) ct_flow_interpret_hold(i->passed[k].object);
    }
    i->passed_count = args->count;
}

static void take(CtInterpreter *i, const CtFlowVar *var, uint32_t index) {
    if (index >= i->passed_count) ct_flow_interpret_wrong(i, "%s gets no value", name_of(var));
    ct_flow_interpret_bind(i, var, i->passed[index]);
    if (ct_flow_is_object(var->type)) ct_flow_interpret_drop(i, i->passed[index].object);
}

static void take_all(CtInterpreter *i, const CtFlowVars *vars) {
    if (vars->count != i->passed_count)
        ct_flow_interpret_wrong(i, "%u values are handed over for %u variables", i->passed_count, vars->count);
    for (uint32_t k = 0; k < vars->count; k++) {
        if (vars->items[k] != NULL) take(i, vars->items[k], k);
    }
}

static CtFlowExit run_block(CtInterpreter *i, const CtFlowBlock *block);

/* The arguments are the passed values; so are the results in the end. */
static void run_function(CtInterpreter *i, const CtFlowFunction *function, CtSourceRange place) {
    for (uint32_t k = 0; k < i->watch_count; k++) {
        CtInterpretWatch *watch = &i->watches[k];
        if (watch->function != function || watch->args != NULL) continue;
        watch->args = ct_flow_interpret_memory(i, function->params.count * sizeof(CtFlowCell));
        for (uint32_t p = 0; p < function->params.count && p < i->passed_count; p++) {
            watch->args[p] = i->passed[p];
            if (ct_flow_is_object(function->params.items[p]->type)) ct_flow_interpret_hold(i->passed[p].object);
        }
    }
    for (;;) {
        enter(i, function, place);
        ct_flow_interpret_spend(i, 1 + function->vars / 64);
        take_all(i, &function->params);
        CtFlowExit exit = run_block(i, function->body);
        if (exit == EXIT_YIELD) ct_flow_interpret_wrong(i, "a function yields");
        leave(i);
        if (exit == EXIT_RETURN) return;
        function = i->tail;
        if (ct_flow_is_user(i->flow, i->tail_place)) place = i->tail_place;
    }
}

/* ---- steps ---- */

static void run_call(CtInterpreter *i, const CtFlowStep *step) {
    CtSourceRange place = ct_flow_is_user(i->flow, step->range) ? step->range : i->frame->place;
    pass(i, &step->args);
    run_function(i, step->as.function, place);
    take_all(i, &step->results);
}

/* Constants are evaluated on first use. */
static void run_constant(CtInterpreter *i, const CtFlowStep *step) {
    const CtFlowConstant *constant = step->as.constant;
    const CtFlowTypes *types = &constant->function->results;
    if (constant->id >= i->flow->constants.count) ct_flow_interpret_wrong(i, "an unknown constant");
    if (i->constants[constant->id] == NULL) {
        CtSourceRange place = ct_flow_is_user(i->flow, step->range) ? step->range : i->frame->place;
        i->passed_count = 0;
        run_function(i, constant->function, place);
        CtFlowCell *values = ct_flow_interpret_memory(i, (types->count + 1) * sizeof *values);
        for (uint32_t k = 0; k < types->count; k++) values[k] = i->passed[k];
        i->constants[constant->id] = values;
    }
    for (uint32_t k = 0; k < step->results.count; k++) {
        CtFlowCell value = i->constants[constant->id][k];
        if (ct_flow_is_object(types->items[k]) && value.object != NULL) value.object->claims++;
        ct_flow_interpret_bind(i, step->results.items[k], value);
    }
}

static void run_make(CtInterpreter *i, const CtFlowStep *step) {
    const CtFlowTypes *fields = &step->as.con.data->cons[step->as.con.tag].fields;
    if (step->args.count != fields->count) ct_flow_interpret_wrong(i, "a node gets another number of fields");
    pass(i, &step->args);
    CtFlowObject *node = ct_flow_interpret_node(i, fields, step->as.con.tag, i->passed);
    ct_flow_interpret_bind(i, step->results.items[0], (CtFlowCell){.object = node});
    for (uint32_t k = 0; k < fields->count; k++)
        if (ct_flow_is_object(fields->items[k])) ct_flow_interpret_drop(i, i->passed[k].object);
}

static void run_open(CtInterpreter *i, const CtFlowStep *step) {
    CtFlowObject *node = ct_flow_interpret_object(i, &step->args.items[0]);
    const CtFlowTypes *fields = &step->as.con.data->cons[step->as.con.tag].fields;
    if (node->fields == NULL || node->tag != step->as.con.tag)
        ct_flow_interpret_wrong(i, "a node of constructor %u is opened as one of constructor %u", node->tag,
                                step->as.con.tag);
    ct_flow_interpret_hold(node);
    for (uint32_t k = 0; k < step->results.count; k++) {
        CtFlowVar *var = step->results.items[k];
        if (var == NULL) continue;
        bool counted = ct_flow_is_object(fields->items[k]) && !step->as.con.borrows;
        if (counted && node->cells[k].object != NULL) node->cells[k].object->claims++;
        ct_flow_interpret_bind(i, var, node->cells[k]);
    }
    if (step->as.con.takes) ct_flow_interpret_release(i, node);
    if (step->as.con.cell != NULL) ct_flow_interpret_bind(i, step->as.con.cell, (CtFlowCell){.object = NULL});
    ct_flow_interpret_drop(i, node);
}

/* The last cell of a list gets its tail. It stays in the list, so that it is held even if its maker lets go of it. */
static void run_link(CtInterpreter *i, const CtFlowStep *step) {
    CtFlowObject *last = ct_flow_interpret_object(i, &step->args.items[0]),
                 *next = ct_flow_interpret_object(i, &step->args.items[1]);
    uint32_t at = 0, count = last->fields != NULL ? last->fields->count : 0;
    while (at < count && last->fields->items[at] != step->args.items[1].type) at++;
    if (at == count) ct_flow_interpret_wrong(i, "a list goes on behind what is no cell of it");
    CtFlowObject *old = last->cells[at].object;
    ct_flow_interpret_hold(next);
    last->cells[at].object = next;
    ct_flow_interpret_drop(i, old);
    if (i->options.counts && --last->claims <= 0) ct_flow_interpret_wrong(i, "the last cell of a list is lost");
    if (step->results.count == 0) return;
    next->claims++;
    ct_flow_interpret_bind(i, step->results.items[0], (CtFlowCell){.object = next});
}

/* The branch for the value of a switch. A single branch runs for every value. */
static const CtFlowBranch *branch_of(CtInterpreter *i, const CtFlowStep *step) {
    const CtFlowBranch *branches = step->as.cases.branches;
    uint32_t count = step->as.cases.count;
    if (count == 0) ct_flow_interpret_fail(i, CT_E0901, "a function without members");
    if (count == 1) return &branches[0];
    const CtFlowArg *on = &step->args.items[0];
    int64_t tag = ct_flow_is_object(on->type) ? (int64_t)ct_flow_interpret_object(i, on)->tag
                                              : ct_flow_interpret_arg(i, on).integer;
    const CtFlowBranch *others = NULL;
    for (uint32_t k = 0; k < count; k++) {
        if (branches[k].tag == UINT32_MAX)
            others = &branches[k];
        else if ((int64_t)branches[k].tag == tag)
            return &branches[k];
    }
    if (others == NULL) ct_flow_interpret_wrong(i, "a switch has no branch for %lld", (long long)tag);
    return others;
}

static CtFlowExit run_switch(CtInterpreter *i, const CtFlowStep *step) {
    CtFlowExit exit = run_block(i, branch_of(i, step)->block);
    if (exit == EXIT_YIELD) take_all(i, &step->results);
    return exit;
}

/* ---- loops ---- */

/* The first elements of the arrays are the loop's initial values. */
static void begin_arrays(CtInterpreter *i, const CtFlowStep *step, CtInterpretRows *rows, uint32_t arrays) {
    const CtFlowBlock *block = step->as.loop.block;
    for (uint32_t k = 0; k < arrays; k++) rows[k].type = step->results.items[step->as.loop.carried + k]->type;
    for (uint32_t k = 0; step->as.loop.initial && k < arrays; k++) {
        const CtFlowVar *first = block->params.items[1 + k];
        CtFlowCell value = i->frame->cells[first->id];
        if (ct_flow_is_object(first->type) && value.object != NULL) value.object->claims++;
        i->range = CT_NO_RANGE;
        ct_flow_interpret_add_row(i, &rows[k], value);
    }
}

static void run_turns(CtInterpreter *i, const CtFlowStep *step, int64_t count, CtInterpretRows *rows, uint32_t arrays) {
    const CtFlowBlock *block = step->as.loop.block;
    uint32_t carried = step->as.loop.carried;
    for (int64_t iteration = 0; iteration < count; iteration++) {
        ct_flow_interpret_spend(i, 1);
        ct_flow_interpret_bind(i, block->params.items[0], (CtFlowCell){.integer = iteration});
        if (run_block(i, block) != EXIT_YIELD) ct_flow_interpret_wrong(i, "a loop's block leaves its function");
        if (i->passed_count != carried + arrays)
            ct_flow_interpret_wrong(i, "a loop's block yields another number of values");
        for (uint32_t k = 0; k < arrays; k++) {
            bool object = ct_flow_is_object(block->values.items[carried + k].type);
            ct_flow_interpret_at(i, step->range);
            CtFlowObject *held = object ? i->passed[carried + k].object : NULL;
            ct_flow_interpret_add_row(i, &rows[k], i->passed[carried + k]);
            ct_flow_interpret_drop(i, held);
        }
        for (uint32_t k = 0; k < carried; k++) take(i, block->params.items[1 + k], k);
    }
}

static void run_loop(CtInterpreter *i, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    uint32_t carried = step->as.loop.carried, arrays = step->results.count - carried;
    if (block->params.count != 1 + carried || step->args.count != 1 + carried)
        ct_flow_interpret_wrong(i, "a loop carries another number of values");
    CtFlowArgs start = {.items = step->args.items + 1, .count = carried};
    int64_t count = ct_flow_interpret_arg(i, &step->args.items[0]).integer;
    size_t bytes = (arrays + 1) * sizeof(CtInterpretRows);
    CtInterpretRows few[8] = {0}, *rows = arrays <= 8 ? few : ct_flow_interpret_memory(i, bytes);
    pass(i, &start);
    for (uint32_t k = 0; k < carried; k++) take(i, block->params.items[1 + k], k);
    if (arrays > 0 && count < 0) ct_flow_interpret_wrong(i, "a loop makes an array of a negative length");
    begin_arrays(i, step, rows, arrays);
    run_turns(i, step, count, rows, arrays);
    for (uint32_t k = 0; k < carried; k++)
        ct_flow_interpret_bind(i, step->results.items[k], i->frame->cells[block->params.items[1 + k]->id]);
    for (uint32_t k = 0; k < arrays; k++) {
        CtFlowObject *array = ct_flow_interpret_rows_done(i, &rows[k]);
        ct_flow_interpret_bind(i, step->results.items[carried + k], (CtFlowCell){.object = array});
    }
    if (rows != few) ct_flow_interpret_give(i, rows, bytes);
}

/* ---- failures that the program asks for ---- */

/* The message is a list of characters, cut off as in emitted code. */
CT_FAILS static void fail_with(CtInterpreter *i, CtErrorCode code, const CtFlowObject *list) {
    char *text = malloc(4 * CT_MESSAGE_MAX + 1);
    size_t length = 0;
    if (text == NULL) ct_flow_interpret_stop(i, "it takes too much memory");
    for (int k = 0; k < CT_MESSAGE_MAX && list != NULL && list->tag != 0; k++) {
        length += ct_put_utf8(text + length, list->cells[0].integer);
        list = list->cells[1].object;
    }
    text[length] = '\0';
    free(i->failing.long_text);
    i->failing.message = i->failing.long_text = text;
    i->failing.code = number_of(code);
    longjmp(i->failing.out, 1);
}

CT_FAILS static void run_fail(CtInterpreter *i, const CtFlowStep *step) {
    ct_flow_interpret_at(i, step->range);
    if (step->as.fail.text != NULL) ct_flow_interpret_fail(i, step->as.fail.code, step->as.fail.text);
    fail_with(i, step->as.fail.code, ct_flow_interpret_object(i, &step->args.items[0]));
}

/* ---- blocks ---- */

static void run_string(CtInterpreter *i, const CtFlowStep *step) {
    CtFlowVar *var = step->results.items[0];
    ct_flow_interpret_bind(i, var,
                           ct_flow_interpret_string(i, var->type, step->as.string.points, step->as.string.count));
}

static void run_retain(CtInterpreter *i, const CtFlowStep *step) {
    CtFlowObject *object = ct_flow_interpret_object(i, &step->args.items[0]);
    object->claims++;
}

static void run_release(CtInterpreter *i, const CtFlowStep *step) {
    if (step->as.con.cell == NULL) ct_flow_interpret_release(i, ct_flow_interpret_object(i, &step->args.items[0]));
}

/* Runs a step. YIELD: the block goes on; otherwise the function has been left. */
static CtFlowExit run_step(CtInterpreter *i, const CtFlowStep *step) {
    ct_flow_interpret_spend(i, 1);
    switch (step->kind) {
    case FLOW_PRIM: ct_flow_interpret_bind(i, step->results.items[0], ct_flow_interpret_prim(i, step)); break;
    case FLOW_CALL: run_call(i, step); break;
    case FLOW_CONSTANT: run_constant(i, step); break;
    case FLOW_STRING: run_string(i, step); break;
    case FLOW_MAKE: run_make(i, step); break;
    case FLOW_OPEN: run_open(i, step); break;
    case FLOW_SWITCH: return run_switch(i, step);
    case FLOW_LOOP: run_loop(i, step); break;
    case FLOW_FAIL: run_fail(i, step);
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP: ct_flow_interpret_stop(i, "its derivatives are still to be taken");
    case FLOW_STOP:
        ct_flow_interpret_bind(i, step->results.items[0], ct_flow_interpret_arg(i, &step->args.items[0]));
        break;
    case FLOW_LINK: run_link(i, step); break;
    case FLOW_RETAIN: run_retain(i, step); break;
    case FLOW_RELEASE: run_release(i, step); break;
    case FLOW_CHECK:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE:
    case FLOW_CHECK_SLICE:
    case FLOW_DIM:
    case FLOW_READ:
    case FLOW_UPDATE:
    case FLOW_SNOC:
    case FLOW_ITEMS:
    case FLOW_LITERALS:
    case FLOW_BULK:
    case FLOW_PRODUCT: ct_flow_interpret_array_step(i, step); break;
    }
    return EXIT_YIELD;
}

static CtFlowExit run_block(CtInterpreter *i, const CtFlowBlock *block) {
    for (uint32_t k = 0; k < block->steps.count; k++) {
        CtFlowExit exit = run_step(i, block->steps.items[k]);
        if (exit != EXIT_YIELD) return exit;
    }
    if (block->exit == EXIT_NEVER || block->exit == EXIT_OPEN)
        ct_flow_interpret_wrong(i, "a block goes on behind what should have ended it");
    pass(i, &block->values);
    i->tail = block->tail;
    i->tail_place = block->range;
    return block->exit;
}

/* ---- runs ---- */

CtInterpreter *ct_flow_interpreter_new(const CtFlow *flow, CtInterpretOptions options) {
    CtInterpreter *i = calloc(1, sizeof *i);
    if (i == NULL) return NULL;
    i->flow = flow;
    i->options = options;
    i->constants = calloc(flow->constants.count + 1, sizeof *i->constants);
    if (i->constants != NULL) return i;
    free(i);
    return NULL;
}

void ct_flow_interpreter_free(CtInterpreter *i) {
    if (i == NULL) return;
    while (i->frame != NULL) {
        CtInterpretFrame *caller = i->frame->caller;
        free(i->frame);
        i->frame = caller;
    }
    for (CtFlowObject *object = i->objects, *next; object != NULL; object = next) {
        next = object->next;
        free(object->cells);
        free(object);
    }
    for (uint32_t k = 0; k < i->flow->constants.count; k++) free(i->constants[k]);
    for (uint32_t k = 0; k < i->watch_count; k++) free(i->watches[k].args);
    free(i->watches);
    free(i->constants);
    free(i->passed);
    free(i->results);
    free(i->failing.long_text);
    free(i);
}

typedef struct Start {
    CtInterpreter *i;
    const CtFlowFunction *function;
    const CtFlowCell *args;
    locale_t locale;
} Start;

static void run(CtInterpreter *i, const CtFlowFunction *function, const CtFlowCell *args) {
    const CtFlowTypes *types = &function->results;
    i->end = FLOW_END_FAILED;
    i->range = CT_NO_RANGE;
    if (setjmp(i->failing.out) != 0) return;
    if (i->passed_capacity < function->params.count) {
        free(i->passed);
        i->passed_capacity = 0;
        i->passed = calloc(function->params.count, sizeof *i->passed);
        if (i->passed == NULL) ct_flow_interpret_stop(i, "it takes too much memory");
        i->passed_capacity = function->params.count;
    }
    for (uint32_t k = 0; k < function->params.count; k++) {
        i->passed[k] = args[k];
        if (ct_flow_is_object(function->params.items[k]->type)) ct_flow_interpret_hold(args[k].object);
    }
    i->passed_count = function->params.count;
    run_function(i, function, CT_NO_RANGE);
    if (i->passed_count != types->count) ct_flow_interpret_wrong(i, "the program gives another number of results");
    free(i->results);
    i->results = calloc(types->count + 1, sizeof *i->results);
    if (i->results == NULL) ct_flow_interpret_stop(i, "it takes too much memory");
    for (uint32_t k = 0; k < types->count; k++) i->results[k] = i->passed[k];
    i->end = FLOW_END_DONE;
}

static void *on_stack(void *data) {
    const Start *start = data;
    uselocale(start->locale);
    run(start->i, start->function, start->args);
    uselocale(LC_GLOBAL_LOCALE);
    return NULL;
}

enum { RED_ZONE = 128 * 1024 };

/* Runs on a stack of its own, of which the system maps only the pages that are touched. */
static bool run_apart(Start *start) {
    size_t size = start->i->options.limits.stack;
    void *stack =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return false;
    pthread_attr_t attributes;
    pthread_t thread;
    start->i->stack_end = (char *)stack + RED_ZONE;
    pthread_attr_init(&attributes);
    bool started = pthread_attr_setstack(&attributes, stack, size) == 0 &&
                   pthread_create(&thread, &attributes, on_stack, start) == 0;
    pthread_attr_destroy(&attributes);
    if (started) pthread_join(thread, NULL);
    munmap(stack, size);
    start->i->stack_end = NULL;
    return started;
}

CtFlowEnd ct_flow_interpret(CtInterpreter *i, const CtFlowFunction *function, const CtFlowCell *args) {
    Start start = {i, function, args, uselocale((locale_t)0)};
    i->function = NULL;
    i->steps = i->in_place = i->told = i->messages = 0;
    i->failing.message = NULL;
    if (!run_apart(&start)) {
        i->end = FLOW_END_STOPPED;
        i->message = "there is no memory for a stack";
        return i->end;
    }
    i->message = i->failing.message;
    if (i->end == FLOW_END_FAILED) i->code = code_of(i->failing.code);
    return i->end;
}
