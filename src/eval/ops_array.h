/* Instructions on arrays. Part of machine.c. */

#define CHECK_INDEX(index, length)                                                                                     \
    do {                                                                                                               \
        if (UNLIKELY((uint64_t)(index) >= (uint64_t)(length))) {                                                       \
            ct_eval_array_index_fails(m, index, length);                                                               \
            goto fail;                                                                                                 \
        }                                                                                                              \
    } while (0)

INSTRUCTION(INDEX) {
    const CtArray *array = ARRAY(2);
    int64_t index = SLOT(3).integer;
    CHECK_INDEX(index, array->length);
    SLOT(1) = array->items[index];
    NEXT(4);
}
INSTRUCTION(INDEX_OBJECT) {
    const CtArray *array = ARRAY(2);
    int64_t index = SLOT(3).integer;
    CHECK_INDEX(index, array->length);
    SLOT(1).object = ct_value_retain_part(&array->head, array->items[index].object);
    NEXT(4);
}
INSTRUCTION(LENGTH) {
    SLOT(1).integer = ARRAY(2)->length;
    NEXT(3);
}
INSTRUCTION(UPDATE) {
    CtArray *array = ARRAY(2);
    int64_t index = SLOT(3).integer;
    CHECK_INDEX(index, array->length);
    if (pc[5] == 0 && !array->head.layout->pointer_elements && ct_value_is_exclusive(&array->head)) {
        array->items[index] = SLOT(4);
        SLOT(1).object = &array->head;
        NEXT(6);
    }
    uint64_t touched = 0;
    array = ct_eval_array_update(m, array, index, SLOT(4), pc[5], &touched);
    CHECK(array != NULL);
    fuel -= (int64_t)touched;
    SLOT(1).object = &array->head;
    NEXT(6);
}
INSTRUCTION(SNOC) {
    CtArray *array = ARRAY(2);
    if (pc[4] == 0 && array->length < array->capacity && ct_value_is_exclusive(&array->head)) {
        array->items[array->length++] = SLOT(3);
        SLOT(1).object = &array->head;
        NEXT(5);
    }
    uint64_t touched = 0;
    array = ct_eval_array_snoc(m, array, SLOT(3), pc[4], &touched);
    CHECK(array != NULL);
    fuel -= (int64_t)touched;
    SLOT(1).object = &array->head;
    NEXT(5);
}
INSTRUCTION(ARRAY) {
    ArrayCall call = {.args = {SLOT(7), SLOT(8), SLOT(9)}, .type = pointer64(pc + 3), .operand = pointer64(pc + 5)};
    SAVE();
    bool watched = UNLIKELY(home_of(m)->trap != CT_TRAP_NONE) && ct_eval_trap_watches(m, (CtArrayOp)pc[2], &call);
    CHECK(ct_eval_array_function((CtArrayOp)pc[2])(m, &call));
    if (UNLIKELY(watched)) ct_eval_trap_array(m, (CtArrayOp)pc[2], &call, ARRAY(8));
    fuel -= (int64_t)call.touched;
    if (home_of(m)->measures) m->slack += call.slack;
    SLOT(1) = call.result;
    NEXT(10);
}
INSTRUCTION(TRAPPED) {
    bool trapped = m->trapped;
    m->trapped = false;
    CHECK(!trapped);
    NEXT(1);
}
INSTRUCTION(NEW_ARRAY) {
    CtArray *array = ct_value_array_new(heap, pointer64(pc + 2), 0, (int64_t)pc[4]);
    CHECK_MEMORY(array);
    SLOT(1).object = &array->head;
    NEXT(5);
}
INSTRUCTION(PUSH) {
    CtArray *array = ARRAY(1);
    if (pc[3] != 0 && array->length > 0)
        CHECK(ct_eval_array_regular(m, pc[3], (CtArray *)array->items[0].object, ARRAY(2), array->length));
    array->items[array->length++] = SLOT(2);
    NEXT(4);
}
INSTRUCTION(PUSH_CONST) {
    CtArray *array = ARRAY(1);
    array->items[array->length++].integer = (int64_t)word64(pc + 2);
    NEXT(4);
}
