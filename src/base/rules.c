/* Counts of the rewrite rules that have fired, for tests/rules.py. */
#include "base/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic(CtRule *) rules; /* that have fired, the last for the first time in front */

static void write_rules(void) {
    FILE *out = fopen(getenv("COTAN_COUNT_RULES"), "a");
    if (out == NULL) return;
    for (const CtRule *rule = atomic_load(&rules); rule != NULL; rule = rule->next)
        fprintf(out, "%" PRIu64 " %s\n", atomic_load(&rule->fired), rule->name);
    fclose(out);
}

void ct_rule_first(CtRule *rule) {
    rule->next = atomic_load(&rules);
    while (!atomic_compare_exchange_weak(&rules, &rule->next, rule)) continue;
    if (rule->next == NULL && getenv("COTAN_COUNT_RULES") != NULL) atexit(write_rules);
}
