/* Which globals call themselves. */
#ifndef CT_CORE_CYCLES_H
#define CT_CORE_CYCLES_H

#include "core/core.h"

typedef enum CtCycle {
    CYCLE_NONE,
    CYCLE_OWN,   /* it calls itself, */
    CYCLE_OTHERS /* also by way of others */
} CtCycle;

/* What is known of the globals that have been asked for, and of those that they reach; their bodies must not change. */
typedef struct CtCycles {
    CtArena *arena;
    CtMap nodes;
    uint32_t numbered;
} CtCycles;

CtCycle ct_core_cycle(CtCycles *c, const CtGlobal *global);

#endif
