/* How often each rewrite rule fired, in all compilations of the process: which rules no test reaches is seen so
 * (tests/rules.py). A rule is a place in the code with a name, `pass.rule`; several places may share one. With
 * COTAN_COUNT_RULES=FILE the process appends a line for each rule that has fired to that file when it ends. */
#ifndef CT_BASE_RULES_H
#define CT_BASE_RULES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct CtRule {
    const char *name;
    _Atomic uint64_t fired;
    struct CtRule *next; /* that fired before, for the first time */
} CtRule;

void ct_rule_first(CtRule *rule);

/* Several at once: how much of something was made. */
static inline void ct_rule_counted(CtRule *rule, uint64_t more) {
    if (more > 0 && atomic_fetch_add_explicit(&rule->fired, more, memory_order_relaxed) == 0) ct_rule_first(rule);
}
static inline bool ct_rule_fired(CtRule *rule) {
    ct_rule_counted(rule, 1);
    return true;
}

/* A statement, or the last condition of a rule: it is always true. */
#define CT_FIRED(rule_name)                                                                                            \
    (__extension__({                                                                                                   \
        static CtRule ct_rule = {.name = rule_name};                                                                   \
        ct_rule_fired(&ct_rule);                                                                                       \
    }))

#endif
