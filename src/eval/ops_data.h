/* Instructions that move, make and open values, and branch. Part of machine.c. */

INSTRUCTION(MOVE) {
    SLOT(1) = SLOT(2);
    NEXT(3);
}
INSTRUCTION(LIT) {
    SLOT(1).integer = (int64_t)word64(pc + 2);
    NEXT(4);
}
INSTRUCTION(CONST) {
    CtObject *object = pointer64(pc + 2);
    SLOT(1).object = ct_value_retain_object(object);
    NEXT(4);
}
INSTRUCTION(RETAIN) {
    ct_value_retain_object(OBJECT(1));
    NEXT(2);
}
INSTRUCTION(DROP) {
    ct_value_release_object(heap, OBJECT(1));
    NEXT(2);
}
INSTRUCTION(DROP_SOME) {
    if (OBJECT(1) != NULL) ct_value_release_object(heap, OBJECT(1));
    NEXT(2);
}
INSTRUCTION(CAPTURE) {
    CtObject *env = fp[FRAME_ENV].object;
    SLOT(1) = captures_of(env)[pc[2]];
    if (UNLIKELY(ct_is_marked(env)) && ct_value_layout_pointer(env->layout, pc[2])) ct_value_mark_part(env, OBJECT(1));
    NEXT(3);
}
INSTRUCTION(ROUND) {
    SLOT(1).real = ct_to_float(SLOT(1).real);
    NEXT(2);
}

INSTRUCTION(FIELDS) {
    CtFields *fields = ct_value_fields_take(heap, pointer64(pc + 2), pc[4]);
    CHECK_MEMORY(fields);
    uint32_t count = pc[5];
    for (uint32_t i = 0; i < count; i++) fields->words[i] = SLOT(6 + i);
    SLOT(1).object = &fields->head;
    NEXT(6 + count);
}
INSTRUCTION(FIELDS2) {
    CtFields *fields = ct_value_fields_take(heap, pointer64(pc + 2), pc[4]);
    CHECK_MEMORY(fields);
    fields->words[0] = SLOT(5);
    fields->words[1] = SLOT(6);
    SLOT(1).object = &fields->head;
    NEXT(7);
}
INSTRUCTION(PROJ) {
    SLOT(1) = ((CtFields *)OBJECT(2))->words[pc[3]];
    NEXT(4);
}
INSTRUCTION(PROJ_OBJECT) {
    SLOT(1).object = ct_value_retain_part(OBJECT(2), ((CtFields *)OBJECT(2))->words[pc[3]].object);
    NEXT(4);
}

INSTRUCTION(OPEN_MOVE) {
    CtFields *fields = (CtFields *)OBJECT(1);
    const uint32_t *at = pc + 2;
    for (uint32_t n = *at++; n > 0; n--, at += 2) fp[at[1]] = fields->words[at[0]];
    if (ct_value_is_exclusive(&fields->head)) {
        for (uint32_t n = *at++; n > 0; n--, at += 2) fp[at[1]] = fields->words[at[0]];
        for (uint32_t n = *at++; n > 0; n--, at++) ct_value_release_object(heap, fields->words[*at].object);
        ct_value_fields_give(heap, fields);
    } else {
        for (uint32_t n = *at++; n > 0; n--, at += 2)
            fp[at[1]].object = ct_value_retain_part(&fields->head, fields->words[at[0]].object);
        uint32_t unwanted = *at++;
        at += unwanted;
        ct_value_release_object(heap, &fields->head);
    }
    pc = at;
    NEXT(0);
}
INSTRUCTION(OPEN_COPY) {
    CtFields *fields = (CtFields *)OBJECT(1);
    const uint32_t *at = pc + 2;
    for (uint32_t n = *at++; n > 0; n--, at += 2) fp[at[1]] = fields->words[at[0]];
    for (uint32_t n = *at++; n > 0; n--, at += 2)
        fp[at[1]].object = ct_value_retain_part(&fields->head, fields->words[at[0]].object);
    pc = at;
    NEXT(0);
}
INSTRUCTION(SPINE) { /* makes all cells or none, so that a failure leaves the operands untouched */
    CtArray *heads = ARRAY(5);
    const CtLayout *layout = pointer64(pc + 2);
    CtFields *first = NULL;
    for (int64_t i = 0; i < heads->length; i++) {
        CtFields *cell = ct_value_fields_take(heap, layout, pc[4]);
        if (UNLIKELY(cell == NULL)) {
            while (first != NULL) {
                CtFields *next = (CtFields *)first->words[1].object;
                ct_value_fields_give(heap, first);
                first = next;
            }
            goto out_of_memory;
        }
        cell->words[1].object = (CtObject *)first;
        first = cell;
    }
    CtFields *cell = first;
    for (int64_t i = 0; i < heads->length; i++) {
        cell->words[0] = heads->items[i];
        if (i + 1 == heads->length) {
            cell->words[1] = SLOT(6);
        } else {
            cell = (CtFields *)cell->words[1].object;
        }
    }
    heads->length = 0; /* its items have moved */
    ct_value_release_object(heap, &heads->head);
    SLOT(1).object = &first->head;
    NEXT(7);
}

INSTRUCTION(JUMP) { NEXT((int32_t)pc[1]); }
INSTRUCTION(JUMP_TAG) {
    if (OBJECT(1)->tag == pc[2]) {
        fuel -= pc[4];
        NEXT(6);
    }
    fuel -= pc[5];
    NEXT((int32_t)pc[3]);
}
INSTRUCTION(JUMP_INT) {
    if (SLOT(1).integer == (int64_t)pc[2]) {
        fuel -= pc[4];
        NEXT(6);
    }
    fuel -= pc[5];
    NEXT((int32_t)pc[3]);
}
INSTRUCTION(SWITCH_TAG) {
    const uint32_t *entry = pc + 3 + 2 * OBJECT(1)->tag;
    fuel -= entry[1];
    NEXT((int32_t)entry[0]);
}
INSTRUCTION(SWITCH_INT) {
    const uint32_t *entry = pc + 3 + 2 * SLOT(1).integer;
    fuel -= entry[1];
    NEXT((int32_t)entry[0]);
}

INSTRUCTION(FAIL_TEXT) {
    ct_eval_raise(m, (CtErrorCode)pc[1], "%s", (const char *)pointer64(pc + 2));
    goto fail;
}
INSTRUCTION(FAIL_MESSAGE) {
    ct_eval_raise_string(m, (CtErrorCode)pc[1], SLOT(2));
    goto fail;
}
INSTRUCTION(HALT) {
    SAVE();
    return true;
}
