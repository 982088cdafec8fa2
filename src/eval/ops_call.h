/* Instructions that make functions, call and return. Part of machine.c.
 *
 * A call copies the arguments to the place of the callee's frame, for which the caller has reserved stack, then enters.
 * A tail call gathers them first, since source and destination are the same frame. */

/* Makes a frame for `code` above this one. At `at`: number of arguments, their slots, then distance and destination. */
#define PUSH_FRAME(code, env, at)                                                                                      \
    do {                                                                                                               \
        const uint32_t *args_ = (at);                                                                                  \
        uint32_t count_ = *args_++;                                                                                    \
        const uint32_t *end_ = args_ + count_;                                                                         \
        CtWord *frame_ = fp + end_[0];                                                                                 \
        for (uint32_t i = 0; i < count_; i++) frame_[i] = fp[args_[i]];                                                \
        frame_[FRAME_CODE].integer = (int64_t)(uintptr_t)(code);                                                       \
        frame_[FRAME_ENV].object = (env);                                                                              \
        frame_[FRAME_RETURN].integer = (int64_t)(uintptr_t)(end_ + 2);                                                 \
        frame_[FRAME_SITE].integer = 0;                                                                                \
        fp = frame_;                                                                                                   \
    } while (0)

/* Turns this frame into one of another code. Arguments are gathered in a small array, or behind the frame. */
#define REUSE_FRAME(at)                                                                                                \
    do {                                                                                                               \
        const uint32_t *args_ = (at);                                                                                  \
        uint32_t count_ = *args_++;                                                                                    \
        if (count_ <= 4) {                                                                                             \
            CtWord few_[4];                                                                                            \
            for (uint32_t i = 0; i < count_; i++) few_[i] = fp[args_[i]];                                              \
            for (uint32_t i = 0; i < count_; i++) fp[i] = few_[i];                                                     \
        } else {                                                                                                       \
            CtWord *room_ = fp + frame_code(fp)->reserve - count_;                                                     \
            for (uint32_t i = 0; i < count_; i++) room_[i] = fp[args_[i]];                                             \
            memmove(fp, room_, count_ * sizeof(CtWord));                                                               \
        }                                                                                                              \
    } while (0)

/* Keeps the place of a tail call from the user's source; NULL for one from the library. */
#define KEEP_SITE(at)                                                                                                  \
    do {                                                                                                               \
        const void *site_ = pointer64(at);                                                                             \
        if (site_ != NULL) fp[FRAME_SITE].integer = (int64_t)(uintptr_t)site_;                                         \
    } while (0)

INSTRUCTION(CLOSURE) {
    CtCode *code = pointer64(pc + 2);
    CtClosure *closure = ct_value_heap_take(heap, CT_CLOSURE_WORDS + (size_t)pc[4]);
    CHECK_MEMORY(closure);
    closure->head = (CtObject){code->layout, 1, 0};
    closure->code = code;
    uint32_t count = pc[4];
    for (uint32_t i = 0; i < count; i++) closure->captures[i] = SLOT(5 + i);
    SLOT(1).object = &closure->head;
    NEXT(5 + count);
}
INSTRUCTION(CLOSURE_ENV) {
    CtCode *code = pointer64(pc + 2);
    CtClosure *closure = ct_value_closure_new(heap, code->layout, code);
    CHECK_MEMORY(closure);
    memcpy(closure->captures, captures_of(OBJECT(4)), code->layout->count * sizeof(CtWord));
    retain_words(OBJECT(4), code->layout, closure->captures);
    SLOT(1).object = &closure->head;
    NEXT(5);
}
INSTRUCTION(CLOSURE_SIBLING) {
    CtCode *code = pointer64(pc + 2);
    CtClosure *env = (CtClosure *)fp[FRAME_ENV].object;
    if (env->code == code) {
        SLOT(1).object = ct_value_retain_object(&env->head);
        NEXT(4);
    }
    CtClosure *closure = ct_value_closure_new(heap, code->layout, code);
    CHECK_MEMORY(closure);
    memcpy(closure->captures, env->captures, code->layout->count * sizeof(CtWord));
    retain_words(&env->head, code->layout, closure->captures);
    SLOT(1).object = &closure->head;
    NEXT(4);
}

INSTRUCTION(CALL) {
    callee = pointer64(pc + 1);
    PUSH_FRAME(callee, NULL, pc + 3);
    goto enter;
}
INSTRUCTION(CALL_ENV) {
    CtObject *env = OBJECT(3);
    callee = pointer64(pc + 1);
    PUSH_FRAME(callee, env, pc + 4);
    goto enter;
}
INSTRUCTION(CALL_SIBLING) {
    CtObject *env = ct_value_retain_object(fp[FRAME_ENV].object);
    callee = pointer64(pc + 1);
    PUSH_FRAME(callee, env, pc + 3);
    goto enter;
}
INSTRUCTION(CALL_CLOSURE) {
    CtClosure *closure = (CtClosure *)OBJECT(1);
    callee = closure->code;
    if (closure->head.layout->count == 0) closure = NULL; /* it is never freed */
    PUSH_FRAME(callee, (CtObject *)closure, pc + 2);
    goto enter;
}

INSTRUCTION(TAIL) {
    CtObject *env = fp[FRAME_ENV].object;
    callee = pointer64(pc + 1);
    KEEP_SITE(pc + 3);
    REUSE_FRAME(pc + 5);
    fp[FRAME_CODE].integer = (int64_t)(uintptr_t)callee;
    fp[FRAME_ENV].object = NULL;
    if (env != NULL) ct_value_release_object(heap, env);
    goto tail;
}
INSTRUCTION(TAIL_ENV) {
    CtObject *env = fp[FRAME_ENV].object, *new_env = OBJECT(3);
    callee = pointer64(pc + 1);
    KEEP_SITE(pc + 4);
    REUSE_FRAME(pc + 6);
    fp[FRAME_CODE].integer = (int64_t)(uintptr_t)callee;
    fp[FRAME_ENV].object = new_env;
    if (env != NULL) ct_value_release_object(heap, env);
    goto tail;
}
INSTRUCTION(TAIL_SIBLING) {
    callee = pointer64(pc + 1);
    KEEP_SITE(pc + 3);
    REUSE_FRAME(pc + 5);
    fp[FRAME_CODE].integer = (int64_t)(uintptr_t)callee;
    goto tail;
}
INSTRUCTION(TAIL_CLOSURE) {
    CtObject *env = fp[FRAME_ENV].object;
    CtClosure *closure = (CtClosure *)OBJECT(1);
    callee = closure->code;
    if (closure->head.layout->count == 0) closure = NULL;
    REUSE_FRAME(pc + 2);
    fp[FRAME_CODE].integer = (int64_t)(uintptr_t)callee;
    fp[FRAME_ENV].object = (CtObject *)closure;
    if (env != NULL) ct_value_release_object(heap, env);
    goto tail;
}

INSTRUCTION(RETURN) {
    CtWord result = SLOT(1);
    pc = frame_return(fp);
    m->depth--;
    fp -= pc[-2];
    fp[pc[-1]] = result;
    NEXT(0);
}
INSTRUCTION(RETURN_ENV) {
    CtWord result = SLOT(1);
    ct_value_release_object(heap, fp[FRAME_ENV].object);
    pc = frame_return(fp);
    m->depth--;
    fp -= pc[-2];
    fp[pc[-1]] = result;
    NEXT(0);
}
INSTRUCTION(RETURN_CONSTANT) {
    CtWord result = SLOT(1);
    CtCode *code = frame_code(fp);
    ct_value_retain(code->global->type, result);
    code->value = result;
    if (pc[2] != UINT32_MAX) {
        uint64_t span = span_done(m, fuel) - (uint64_t)SLOT(2).integer + code->cost;
        m->slack += span;
        m->aside += span;
    }
    if (m->home != NULL) {
        ct_eval_constant_leave(m, code, true);
    } else {
        set_state(code, CONSTANT_KNOWN);
    }
    pc = frame_return(fp);
    m->depth--;
    fp -= pc[-2];
    fp[pc[-1]] = result;
    NEXT(0);
}
INSTRUCTION(CONSTANT) {
    callee = pointer64(pc + 1);
    if (UNLIKELY(m->home != NULL)) ct_eval_constant_enter(m, callee);
    if (callee->state == CONSTANT_KNOWN) {
        ct_value_retain(callee->global->type, callee->value);
        SLOT(4) = callee->value;
        NEXT(5);
    }
    if (callee->state == CONSTANT_RUNNING) {
        ct_eval_raise(m, CT_E0509, "the value of `%s` depends on itself", callee->global->name->text);
        goto fail;
    }
    set_state(callee, CONSTANT_RUNNING);
    CtWord *frame = fp + pc[3];
    frame[FRAME_CODE].integer = (int64_t)(uintptr_t)callee;
    frame[FRAME_ENV].object = NULL;
    frame[FRAME_RETURN].integer = (int64_t)(uintptr_t)(pc + 5);
    frame[FRAME_SITE].integer = 0;
    fp = frame;
    goto enter;
}
INSTRUCTION(DUAL) { /* the closed λ that makes the transformed function is given the captured values, then the states */
    CtClosure *closure = (CtClosure *)OBJECT(3);
    const CtLayout *layout = closure->head.layout;
    uint32_t states = pc[4];
    SAVE();
    const CtDualPath *path = pointer64(pc + 1);
    callee = path->whole ? ct_eval_code_bulk(m, closure, path, SLOT(5)) : ct_eval_code_dual(m, closure->code, path);
    CHECK(callee != NULL);
    const uint32_t *end = pc + 5 + states;
    CHECK(ct_eval_stack_reserve(m, (size_t)end[0] + FRAME_HEADER + layout->count + states));
    LOAD();
    CtWord *frame = fp + end[0];
    for (uint32_t i = 0; i < states; i++) frame[layout->count + i] = SLOT(5 + i);
    memcpy(frame, closure->captures, layout->count * sizeof(CtWord));
    retain_words(&closure->head, layout, frame);
    fuel -= layout->count;
    frame[FRAME_CODE].integer = (int64_t)(uintptr_t)callee;
    frame[FRAME_ENV].object = NULL;
    frame[FRAME_RETURN].integer = (int64_t)(uintptr_t)(end + 2);
    frame[FRAME_SITE].integer = 0;
    ct_value_release_object(heap, &closure->head);
    fp = frame;
    goto enter;
}
INSTRUCTION(ATTEMPTED) {
    CtWord result = SLOT(m->was_caught ? 3 : 2);
    if (!m->was_caught) ct_value_release_object(heap, OBJECT(3));
    m->was_caught = false;
    SLOT(1) = result;
    NEXT(4);
}
INSTRUCTION(FORCE) {
    CtFields *cell = (CtFields *)OBJECT(1);
    if (cell->head.tag == CELL_KNOWN) {
        CtWord inside = cell->words[0];
        if (ct_value_is_exclusive(&cell->head)) {
            ct_value_fields_give(heap, cell);
        } else {
            if (ct_value_layout_pointer(cell->head.layout, 0)) ct_value_retain_part(&cell->head, inside.object);
            ct_value_release_object(heap, &cell->head);
        }
        SLOT(3) = inside;
        NEXT(9);
    }
    if (UNLIKELY(cell->head.tag == CELL_RUNNING)) {
        ct_eval_raise(m, CT_E0509, "a value depends on itself");
        goto fail;
    }
    CtClosure *closure = (CtClosure *)cell->words[0].object;
    cell->head.tag = CELL_RUNNING;
    callee = closure->code;
    CtWord *frame = fp + pc[2];
    frame[FRAME_CODE].integer = (int64_t)(uintptr_t)callee;
    frame[FRAME_ENV].object =
        closure->head.layout->count == 0 ? NULL : ct_value_retain_part(&cell->head, &closure->head);
    frame[FRAME_RETURN].integer = (int64_t)(uintptr_t)(pc + 4);
    frame[FRAME_SITE].integer = 0;
    fp = frame;
    goto enter;
}
INSTRUCTION(FORCED) {
    CtFields *cell = (CtFields *)OBJECT(2);
    CtObject *function = cell->words[0].object;
    if (ct_value_is_exclusive(&cell->head)) {
        ct_value_fields_give(heap, cell);
    } else {
        const CtLayout *layout = pointer64(pc + 3);
        if (ct_value_layout_pointer(layout, 0)) ct_value_retain_object(OBJECT(1));
        cell->words[0] = SLOT(1);
        cell->head.layout = layout;
        cell->head.tag = CELL_KNOWN;
        ct_value_release_object(heap, &cell->head);
    }
    ct_value_release_object(heap, function);
    NEXT(5);
}
INSTRUCTION(HOLES) {
    uint32_t count = pc[6];
    CtFields *tuple = ct_value_fields_take(heap, pointer64(pc + 2), 0);
    CHECK_MEMORY(tuple);
    for (uint32_t i = 0; i < count; i++) tuple->words[i].object = NULL;
    for (uint32_t i = 0; i < count; i++) {
        CtFields *cell = ct_value_fields_take(heap, pointer64(pc + 4), CELL_RUNNING);
        if (UNLIKELY(cell == NULL)) {
            ct_value_release_object(heap, &tuple->head);
            goto out_of_memory;
        }
        cell->words[0].object = NULL;
        tuple->words[i].object = &cell->head;
    }
    SLOT(1).object = &tuple->head;
    NEXT(7);
}
INSTRUCTION(TIED) {
    CtFields *cells = (CtFields *)OBJECT(1), *functions = (CtFields *)OBJECT(2);
    for (uint32_t i = 0; i < cells->head.layout->count; i++) {
        CtFields *cell = (CtFields *)cells->words[i].object;
        cell->words[0].object = ct_value_retain_part(&functions->head, functions->words[i].object);
        cell->head.tag = CELL_DELAYED;
    }
    ct_value_release_object(heap, &functions->head);
    NEXT(3);
}
INSTRUCTION(WATCH) {
    const CtCode *code = frame_code(fp);
    SAVE(); /* the steps so far */
    m->watch.called(m->watch.data, code->global, code->lam, fp[FRAME_ENV].object, fp);
    NEXT(1);
}
INSTRUCTION(STRING_PRIM) {
    CtObject *text = ct_eval_string_prim(m, (CtPrim)pc[2], SLOT(3), SLOT(4));
    if (UNLIKELY(text == NULL && m->error != CT_E0000)) goto fail;
    CHECK_MEMORY(text);
    SLOT(1).object = text;
    NEXT(5);
}
