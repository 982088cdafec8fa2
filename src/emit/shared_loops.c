/* Decides which loops several threads can share: loops with independent iterations, apart from reductions.
 *
 * Reference counts are not atomic, so a part only counts references to its own objects. It has views of arrays of
 * numbers from outside. Other objects from outside are borrowed: the part may read them, as long as they are not stored
 * anywhere, and has views of the arrays of numbers inside them. If a borrowed node is needed elsewhere, such as the
 * residual of a call, and comes from an array at the iteration's own index, it is copied; so each node is copied only
 * once. The results of a part hold no views except those of arrays known before the loop; these become rows of the
 * arrays.
 *
 * A carried variable may be folded by an operation that is associative to the last bit, or, in fast mode, be a sum; it
 * may be an array to whose elements the loop adds; or an array of which each iteration touches only its own
 * elements. */
#include "flow/analysis/analysis.h"
#include "emit/shared_loops.h"

typedef struct Scan {
    Emit *e;
    const CtFlowVar *iteration;
    bool *lent, *own,
        /* By variable number: objects read from those outside; own: at the iteration's own index. */
        *copied;
    bool again; /* another pass is needed, because more is copied than was known */
    /* Fails: it may end the run, or allocate; finds_arrays: it reads arrays from borrowed objects. */
    bool has_loop, fails, finds_arrays;
} Scan;

static bool is_outside(const Emit *e, const CtFlowVar *var) { return var != NULL && e->uses[var->id].text != NULL; }

/* ---- what is from outside ---- */

static bool is_lent(const Scan *s, const CtFlowVar *var) {
    if (var == NULL || !ct_flow_is_object(var->type) || s->e->uses[var->id].is_bare) return false;
    return s->lent[var->id] || (is_outside(s->e, var) && !ct_emit_share_is_of_numbers(var->type));
}

bool ct_emit_share_looks(const CtFlowStep *step, uint32_t index) {
    const CtFlowType *type = step->args.items[index].type;
    CtFlowLooks looks = ct_flow_step_info(step->kind)->looks;
    if (looks == LOOKS_ELEMENT) return index == 0 && type->kind == FLOW_ARRAY && step->args.count == type->rank + 1;
    return looks == LOOKS_HEAD;
}

/* Results of a step that are parts of a borrowed object are borrowed. Arrays of numbers become views, which the step's
 * own release ends, unless it has none, or they are only looked at: then they are borrowed like all else. */
static void find_lent(Scan *s, const CtFlowStep *step) {
    bool looks = step->kind == FLOW_READ || step->kind == FLOW_OPEN;
    if (!looks || !is_lent(s, step->args.items[0].var)) return;
    for (uint32_t i = 0; i < step->results.count; i++) {
        const CtFlowVar *var = step->results.items[i];
        if (var == NULL || !ct_flow_is_object(var->type)) continue;
        bool counted = step->kind != FLOW_OPEN || !step->as.con.borrows;
        bool numbers = ct_emit_share_is_of_numbers(var->type) && counted && s->e->uses[var->id].is_held;
        s->own[var->id] = step->kind == FLOW_READ && var->type->kind == FLOW_NODE &&
                          is_outside(s->e, step->args.items[0].var) && step->args.items[1].var == s->iteration;
        s->lent[var->id] = !numbers && !s->copied[var->id];
        s->finds_arrays |= numbers || s->copied[var->id];
    }
}

/* Whether an argument fits as it is, or as a copy. */
static bool fits_arg(Scan *s, const CtFlowStep *step, uint32_t index) {
    const CtFlowVar *var = step->args.items[index].var;
    if (!is_lent(s, var) || ct_emit_share_looks(step, index)) return true;
    if (s->own[var->id]) CT_FIRED("shared_loops.copied_node");
    s->copied[var->id] = s->own[var->id];
    s->again = true;
    return s->own[var->id];
}

static bool fits_block(Scan *s, const CtFlowBlock *block) {
    if (block->exit != EXIT_YIELD && block->exit != EXIT_NEVER) return false;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (ct_flow_tells(s->e->telling, step)) return false; /* messages come in the order of one thread */
        for (uint32_t j = 0; j < step->args.count; j++)
            if (!fits_arg(s, step, j)) return false;
        find_lent(s, step);
        s->fails |= ct_flow_step_fails(step) || ct_flow_allocates(step);
        s->has_loop |= step->kind == FLOW_LOOP || step->kind == FLOW_CALL;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (!fits_block(s, ct_flow_inner(step, j))) return false;
    }
    for (uint32_t i = 0; i < block->values.count; i++) {
        if (is_lent(s, block->values.items[i].var)) return false;
    }
    return true;
}

static bool fits_iteration(Scan *s, const CtFlowBlock *block) {
    size_t count = s->e->function->vars + 1;
    s->own = CT_NEW_ARRAY(s->e->arena, bool, count);
    s->copied = CT_NEW_ARRAY(s->e->arena, bool, count);
    do {
        s->lent = CT_NEW_ARRAY(s->e->arena, bool, count);
        s->again = s->has_loop = s->fails = s->finds_arrays = false;
        if (!fits_block(s, block)) return false;
    } while (s->again);
    return true;
}

static bool fits_results(const Emit *e, const CtFlowStep *step, Share *share) {
    for (uint32_t i = step->as.loop.carried; i < step->results.count; i++) {
        const CtFlowVar *result = step->results.items[i];
        if (e->uses[result->id].place != NULL) return false;
        bool objects = ct_flow_is_object(result->type->element);
        if (objects && result->type->rank > 1) return false;
        share->leaves |= objects && !ct_emit_share_is_of_numbers(result->type->element);
    }
    return true;
}

/* ---- numbers that are carried ---- */

static bool is_fold(const Emit *e, const CtFlowBlock *block, uint32_t index, ShareCarried *carried) {
    const CtFlowVar *param = block->params.items[1 + index], *value = block->values.items[index].var;
    const CtFlowStep *step = ct_emit_last_fold(block, value);
    if (step == NULL || step->kind != FLOW_PRIM || param->type->kind == FLOW_F32) return false;
    const ShareFold *fold = ct_emit_share_fold(step->as.prim);
    if (fold == NULL || (!fold->is_exact && e->exact)) return false;
    *carried = (ShareCarried){.kind = SHARE_FOLD, .fold = fold};
    return ct_emit_is_folded(e, block, param, value, step->as.prim, fold->commutes) && CT_FIRED("shared_loops.fold");
}

/* ---- arrays that are carried ---- */

typedef struct Changes { /* the changes of one array */
    const Emit *e;
    const CtFlowVars *names;
    const CtFlowVar *iteration;
    uint32_t reads, added; /* added: elements that are read, and written back with something added */
    bool only_adds, is_own;
} Changes;

static bool is_one_of(const CtFlowVars *names, const CtFlowVar *var) {
    for (uint32_t i = 0; i < names->count; i++)
        if (names->items[i] == var) return true;
    return false;
}

static bool is_same_place(const CtFlowStep *read, const CtFlowStep *update) {
    if (read->args.count + 1 != update->args.count) return false;
    for (uint32_t i = 0; i < read->args.count; i++) {
        const CtFlowArg *a = &read->args.items[i], *b = &update->args.items[i];
        if (a->var != b->var || (a->var == NULL && a->lit.integer != b->lit.integer)) return false;
    }
    return true;
}

/* x[⟨i⟩] = x[⟨i⟩] + a, where the element read is not used otherwise. */
static bool adds(const Changes *c, const CtFlowBlock *block, const CtFlowStep *update) {
    const CtFlowVar *value = update->args.items[update->args.count - 1].var;
    const CtFlowStep *sum = value != NULL && c->e->uses[value->id].count == 1 ? ct_flow_binder(block, value) : NULL;
    if (!ct_flow_is_prim(sum, PRIM_ADD) || value->type->kind != FLOW_F64) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowVar *old = sum->args.items[i].var;
        const CtFlowStep *read = old != NULL && c->e->uses[old->id].count == 1 ? ct_flow_binder(block, old) : NULL;
        if (read != NULL && read->kind == FLOW_READ && is_same_place(read, update)) return true;
    }
    return false;
}

static void find_changes(Changes *c, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) find_changes(c, ct_flow_inner(step, j));
        if (step->kind != FLOW_READ && step->kind != FLOW_UPDATE) continue;
        if (!is_one_of(c->names, step->args.items[0].var)) continue;
        c->is_own &= step->args.items[1].var == c->iteration;
        c->reads += step->kind == FLOW_READ;
        if (step->kind != FLOW_UPDATE) continue;
        if (adds(c, block, step))
            c->added++;
        else
            c->only_adds = false;
    }
}

static bool is_array(Scan *s, const CtFlowStep *step, uint32_t index, Share *share) {
    CtFlowVars names = {0};
    const CtFlowVar *start = step->args.items[1 + index].var;
    /* An enclosing loop has made it unshared already. */
    if (start != NULL && s->e->uses[start->id].own != NULL) return false;
    if (!ct_emit_own_chain(s->e, step, index, &names)) return false;
    Changes c = {.e = s->e, .names = &names, .iteration = s->iteration, .only_adds = true, .is_own = true};
    find_changes(&c, step->as.loop.block);
    share->carried[index].kind = c.is_own ? SHARE_OWN : SHARE_ADDED;
    share->once |= c.is_own && c.reads > 0;
    if (c.is_own) return CT_FIRED("shared_loops.own_elements");
    return c.only_adds && c.reads == c.added && !s->e->exact && CT_FIRED("shared_loops.added_array");
}

/* ---- the loop ---- */

static bool fits_carried(Scan *s, const CtFlowStep *step, Share *share) {
    share->carried = CT_NEW_ARRAY(s->e->arena, ShareCarried, step->as.loop.carried + 1);
    for (uint32_t i = 0; i < step->as.loop.carried; i++)
        if (!is_fold(s->e, step->as.loop.block, i, &share->carried[i]) && !is_array(s, step, i, share)) return false;
    return !share->once || !s->fails;
}

/* A loop that the C compiler vectorises is not shared inside an enclosing loop, since that may be slower. */
static bool is_worth_it(Emit *e, const CtFlowStep *step, const Scan *scan) {
    double most;
    ct_emit_share_work(e, step, &most);
    bool inner = e->in_loop || e->function->recurses;
    return most >= SHARE_LEAST && (scan->has_loop || !inner);
}

bool ct_emit_share_fits(Emit *e, const CtFlowStep *step, Share *share) {
    const CtFlowBlock *block = step->as.loop.block;
    Scan scan = {.e = e, .iteration = block->params.items[0]};
    *share = (Share){.loop = step};
    if (e->part != NULL || e->lanes != NULL || e->one_by_one || step->as.loop.initial || block->exit != EXIT_YIELD)
        return false;
    bool fits = fits_results(e, step, share) && fits_iteration(&scan, block) && fits_carried(&scan, step, share) &&
                is_worth_it(e, step, &scan) && !(share->leaves && scan.finds_arrays);
    for (uint32_t i = 0; fits && i < e->function->vars; i++) e->uses[i].copied |= scan.copied[i];
    if (fits) CT_FIRED("shared_loops.loop");
    share->grain = scan.has_loop ? 1 : SHARE_VECTOR;
    return fits;
}
