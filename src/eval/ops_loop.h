/* Instructions of loops over arrays: before the first element, and behind each element. Part of machine.c.
 *
 * Behind an element, the limit of steps is checked before anything is done, so that a run that stops there has all its
 * operands. The result of the body is read before the next element is written, because both may be in one slot. */

#define REFUEL(cost)                                                                                                   \
    do {                                                                                                               \
        fuel -= (cost);                                                                                                \
        if (UNLIKELY(fuel < 0)) {                                                                                      \
            SAVE();                                                                                                    \
            CHECK(ct_eval_refuel(m));                                                                                  \
            LOAD();                                                                                                    \
        }                                                                                                              \
    } while (0)
#define CHECK_SHAPE(rank, out, item, index)                                                                            \
    do {                                                                                                               \
        if ((rank) != 0 && (index) > 0)                                                                                \
            CHECK(ct_eval_array_regular(m, rank, (CtArray *)(out)->items[0].object, (CtArray *)(item).object, index)); \
    } while (0)

/* Before the first element; `at` is where the operand fork stands, `which` the kind of loop. */
#define FORK(at, which)                                                                                                \
    do {                                                                                                               \
        if (pc[at] == 0 || m->team == NULL) break;                                                                     \
        const uint32_t *begin = pc;                                                                                    \
        pc += pc[at];                                                                                                  \
        SAVE();                                                                                                        \
        bool done = ct_eval_region_fork(m);                                                                            \
        LOAD();                                                                                                        \
        if (done) NEXT(15 + words_of_next[which]);                                                                     \
        pc = begin;                                                                                                    \
    } while (0)

INSTRUCTION(BUILD_BEGIN) { /* n out i x layout64 fork off c */
    int64_t count = SLOT(1).integer;
    if (UNLIKELY(count < 0)) {
        ct_eval_raise(m, CT_E0508, "build was asked for %lld elements", (long long)count);
        goto fail;
    }
    CtArray *out = ct_value_array_new(heap, pointer64(pc + 5), 0, count);
    CHECK_MEMORY(out);
    SLOT(2).object = &out->head;
    SLOT(3).integer = 0;
    if (count == 0) NEXT((int32_t)pc[8]);
    FORK(7, ITERATION_BUILD);
    fuel -= pc[9];
    SLOT(4).integer = 0;
    NEXT(10);
}
INSTRUCTION(BUILD_NEXT) { /* n out i x s rank off c */
    CtArray *out = ARRAY(2);
    CtWord item = SLOT(5);
    int64_t i = SLOT(3).integer;
    CHECK_SHAPE(pc[6], out, item, i);
    if (i + 1 < SLOT(1).integer) {
        REFUEL(pc[8]);
        out->items[i++] = item;
        out->length = i;
        SLOT(3).integer = i;
        SLOT(4).integer = i;
        NEXT((int32_t)pc[7]);
    }
    out->items[i++] = item;
    out->length = i;
    NEXT(9);
}

INSTRUCTION(MAP_BEGIN) { /* a own out i x layout64 fork off c */
    CtArray *array = ARRAY(1), *out = array;
    const CtLayout *layout = pointer64(pc + 6);
    int64_t count = array->length;
    if (pc[2] && array->head.layout == layout && ct_value_is_exclusive(&array->head)) {
        SLOT(1).object = NULL; /* the result is built in its memory */
    } else {
        out = ct_value_array_new(heap, layout, 0, count);
        CHECK_MEMORY(out);
    }
    SLOT(3).object = &out->head;
    SLOT(4).integer = 0;
    if (count == 0) NEXT((int32_t)pc[9]);
    FORK(8, ITERATION_MAP);
    fuel -= pc[10];
    SLOT(5) = loop_element(array, 0, pc[2]);
    NEXT(11);
}
INSTRUCTION(MAP_NEXT) { /* a own out i x s rank off c */
    CtArray *array = ARRAY(1), *out = ARRAY(3);
    CtWord item = SLOT(6);
    int64_t i = SLOT(4).integer;
    CHECK_SHAPE(pc[7], out, item, i);
    bool more = i + 1 < (array != NULL ? array : out)->length;
    if (more) REFUEL(pc[9]);
    out->items[i++] = item;
    if (array != NULL) {
        out->length = i;
    } else {
        array = out;
    }
    if (!more) NEXT(10);
    SLOT(4).integer = i;
    SLOT(5) = loop_element(array, i, pc[2]);
    NEXT((int32_t)pc[8]);
}

INSTRUCTION(ZIP_BEGIN) { /* a own b own out i x y layout64 fork off c */
    CtArray *a = ARRAY(1), *b = ARRAY(3);
    CHECK(ct_eval_array_zips(m, a->length, b->length));
    CtArray *out = ct_value_array_new(heap, pointer64(pc + 9), 0, a->length);
    CHECK_MEMORY(out);
    SLOT(5).object = &out->head;
    SLOT(6).integer = 0;
    if (a->length == 0) NEXT((int32_t)pc[12]);
    FORK(11, ITERATION_ZIP);
    fuel -= pc[13];
    SLOT(7) = loop_element(a, 0, pc[2]);
    SLOT(8) = loop_element(b, 0, pc[4]);
    NEXT(14);
}
INSTRUCTION(ZIP_NEXT) { /* a own b own out i x y s rank off c */
    CtArray *a = ARRAY(1), *b = ARRAY(3), *out = ARRAY(5);
    CtWord item = SLOT(9);
    int64_t i = SLOT(6).integer;
    CHECK_SHAPE(pc[10], out, item, i);
    bool more = i + 1 < a->length;
    if (more) REFUEL(pc[12]);
    out->items[i++] = item;
    out->length = i;
    if (!more) NEXT(13);
    SLOT(6).integer = i;
    SLOT(7) = loop_element(a, i, pc[2]);
    SLOT(8) = loop_element(b, i, pc[4]);
    NEXT((int32_t)pc[11]);
}

INSTRUCTION(MARK) { /* begin best mark */
    SLOT(1).integer = SLOT(3).integer = (int64_t)span_done(m, fuel);
    SLOT(2).integer = 0;
    NEXT(4);
}
INSTRUCTION(ITERATION) { /* which a b out i x y s rank begin best mark off c */
    CtArray *out = ARRAY(4);
    int64_t i = SLOT(5).integer, now = (int64_t)span_done(m, fuel), span = now - SLOT(12).integer;
    if (span > SLOT(11).integer) SLOT(11).integer = span;
    SLOT(12).integer = now;
    if (pc == m->part_iteration && i + 1 == m->part_end &&
        (size_t)(fp - m->stack) == m->part_at) { /* end of a worker's part */
        CHECK_SHAPE(pc[9], out, SLOT(8), i);
        out->items[i] = SLOT(8);
        SAVE();
        return true;
    }
    if (m->team != NULL && (i & (i + 1)) == 0) {
        CHECK_SHAPE(pc[9], out, SLOT(8), i);
        SAVE();
        bool done = ct_eval_region_loop(m, i);
        LOAD();
        if (done) {
            NEXT(15 + words_of_next[pc[1]]);
        }
    }
    NEXT(15);
}
INSTRUCTION(JOIN) { /* begin best out */
    int64_t count = ARRAY(3)->length;
    uint64_t span = (uint64_t)SLOT(1).integer;
    if (count > 0) span += (uint64_t)SLOT(2).integer + ct_eval_span_of_sharing((uint64_t)count);
    m->slack = steps_done(m, fuel) - span;
    NEXT(4);
}

INSTRUCTION(TERM) { /* begin mark */
    int64_t now = (int64_t)span_done(m, fuel);
    SLOT(1).integer += now - SLOT(2).integer;
    SLOT(2).integer = now;
    NEXT(3);
}
INSTRUCTION(TERM_END) { /* end best mark ⟨ends⟩ */
    int64_t now = (int64_t)span_done(m, fuel), start = 0;
    for (uint32_t i = 0; i < pc[4]; i++)
        if (SLOT(5 + i).integer > start) start = SLOT(5 + i).integer;
    SLOT(1).integer = start + now - SLOT(3).integer;
    if (SLOT(1).integer > SLOT(2).integer) SLOT(2).integer = SLOT(1).integer;
    SLOT(3).integer = now;
    NEXT(5 + pc[4]);
}
INSTRUCTION(MEET) { /* begin best count */
    uint64_t span = (uint64_t)(SLOT(1).integer + SLOT(2).integer) + ct_eval_span_of_sharing(pc[3]);
    if (span < span_done(m, fuel)) m->slack = steps_done(m, fuel) - span;
    NEXT(4);
}

INSTRUCTION(FUSED) { /* d fused64 ⟨s own⟩ … */
    const Fused *fused = pointer64(pc + 2);
    CtWord leaves[FUSED_LEAVES];
    bool own[FUSED_LEAVES];
    uint32_t slots[FUSED_LEAVES], at = 4;
    for (uint32_t i = 0; i < fused->leaf_count; i++) {
        own[i] = false;
        if (fused->leaves[i].is_literal) continue;
        slots[i] = pc[at];
        leaves[i] = fp[pc[at]];
        own[i] = pc[at + 1];
        at += 2;
    }
    CtWord result;
    int32_t taken;
    SAVE();
    bool done = ct_eval_fused_run(m, fused, leaves, own, &result, &taken);
    LOAD();
    pc = m->pc;
    CHECK(done);
    if (taken >= 0) fp[slots[taken]].object = NULL;
    SLOT(1) = result;
    NEXT(at + fused->check_count + 1);
}

INSTRUCTION(FOLD_BEGIN) { /* a own i x off c */
    CtArray *array = ARRAY(1);
    SLOT(3).integer = 0;
    if (array->length == 0) NEXT((int32_t)pc[5]);
    fuel -= pc[6];
    SLOT(4) = loop_element(array, 0, pc[2]);
    NEXT(7);
}
INSTRUCTION(FOLD_NEXT) { /* a own i x off c */
    CtArray *array = ARRAY(1);
    int64_t i = SLOT(3).integer + 1;
    if (i == array->length) NEXT(7);
    REFUEL(pc[6]);
    SLOT(3).integer = i;
    SLOT(4) = loop_element(array, i, pc[2]);
    NEXT((int32_t)pc[5]);
}

INSTRUCTION(SCAN_BEGIN) { /* a own i x acc out start layout64 off c */
    CtArray *array = ARRAY(1);
    int64_t count = array->length, start = pc[7];
    CtArray *out = ct_value_array_new(heap, pointer64(pc + 8), 0, count + start);
    CHECK_MEMORY(out);
    if (start) {
        if (out->head.layout->pointer_elements) ct_value_retain_object(OBJECT(5));
        out->items[0] = SLOT(5);
        out->length = 1;
    }
    SLOT(6).object = &out->head;
    SLOT(3).integer = 0;
    if (count == 0) NEXT((int32_t)pc[10]);
    fuel -= pc[11];
    SLOT(4) = loop_element(array, 0, pc[2]);
    NEXT(12);
}
INSTRUCTION(SCAN_NEXT) { /* a own i x acc out rank off c */
    CtArray *array = ARRAY(1), *out = ARRAY(6);
    int64_t i = SLOT(3).integer + 1;
    CHECK_SHAPE(pc[7], out, SLOT(5), out->length);
    bool more = i < array->length;
    if (more) REFUEL(pc[9]);
    if (out->head.layout->pointer_elements) ct_value_retain_object(OBJECT(5));
    out->items[out->length++] = SLOT(5);
    if (!more) NEXT(10);
    SLOT(3).integer = i;
    SLOT(4) = loop_element(array, i, pc[2]);
    NEXT((int32_t)pc[8]);
}

INSTRUCTION(ACCUM_BEGIN) { /* a own i x acc out start layout64 off c */
    CtArray *array = ARRAY(1);
    CtArray *out = ct_value_array_new(heap, pointer64(pc + 8), 0, array->length);
    CHECK_MEMORY(out);
    SLOT(6).object = &out->head;
    SLOT(3).integer = 0;
    if (array->length == 0) NEXT((int32_t)pc[10]);
    fuel -= pc[11];
    SLOT(4) = loop_element(array, 0, pc[2]);
    NEXT(12);
}
INSTRUCTION(ACCUM_NEXT) { /* a own i x acc out s rank off c */
    CtArray *array = ARRAY(1), *out = ARRAY(6);
    CtFields *pair = (CtFields *)OBJECT(7);
    int64_t i = SLOT(3).integer + 1;
    CHECK_SHAPE(pc[8], out, pair->words[1], out->length);
    bool more = i < array->length;
    if (more) REFUEL(pc[10]);
    CtWord state = pair->words[0];
    out->items[out->length++] = pair->words[1];
    if (ct_value_is_exclusive(&pair->head)) {
        ct_value_fields_give(heap, pair);
    } else {
        retain_words(&pair->head, pair->head.layout, pair->words);
        ct_value_release_object(heap, &pair->head);
    }
    SLOT(5) = state;
    if (!more) NEXT(11);
    SLOT(3).integer = i;
    SLOT(4) = loop_element(array, i, pc[2]);
    NEXT((int32_t)pc[9]);
}
