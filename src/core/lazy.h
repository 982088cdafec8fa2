/* Private to lazy.c and lazy_demand.c. */
#ifndef CT_CORE_LAZY_H
#define CT_CORE_LAZY_H

#include "core/core.h"

/* A function that is called by name: whether it takes each argument as a value, since it surely needs it. */
typedef struct CtLazyFun {
    bool *strict;
    uint32_t count;
    CtLam *lam;
} CtLazyFun;

typedef struct CtLazyVar {
    CtVar *var;
    bool in_cell;
    const CtLazyFun *fun; /* of a letrec; or NULL */
} CtLazyVar;

typedef struct CtLazy {
    CtProgram *p;
    CtArena *arena;
    CtMap types, cells;       /* type -> what it becomes; that -> its cell */
    CtMap funs;               /* CtGlobal * or CtVar * -> CtLazyFun * */
    CtMap joins;              /* CtVar * of a join point -> its body */
    CtMap vars, globals;      /* CtVar * -> CtLazyVar *; CtGlobal * -> the new one */
    CtMap to_strict, to_lazy; /* type -> the function that converts its values */
    CT_VEC(CtGlobal *) todo;
    CT_VEC(CtLazyFun *) all;
    const char *name, *refused;
    CtSourceRange refused_at;
} CtLazy;

/* lazy.c: a term as a value, and as a cell. */
CtCore *ct_core_lazy_value(CtLazy *l, CtCore *e);
CtCore *ct_core_lazy_cell(CtLazy *l, CtCore *e);
CtType *ct_core_lazy_value_type(CtLazy *l, CtType *type);
/* Of what is stored or passed: a cell, but for what has none. */
CtType *ct_core_lazy_cell_type(CtLazy *l, CtType *type);
bool ct_core_lazy_has_no_cell(const CtType *type);
CtCore *ct_core_lazy_known(CtLazy *l, CtSourceRange range, CtCore *of);
CtCore *ct_core_lazy_delayed(CtLazy *l, CtSourceRange range, CtCore *body);
CtCore *ct_core_lazy_force(CtLazy *l, CtCore *of);
/* A new variable in place of one; `in_cell`: it holds a cell. */
CtVar *ct_core_lazy_bind(CtLazy *l, CtVar *old, bool in_cell);
/* A value of a type of the strict program, out of all its cells, or the converse. */
CtCore *ct_core_lazy_convert(CtLazy *l, CtSourceRange range, CtType *type, CtCore *of, bool to_strict);
/* The arguments of an operation that evaluates them whole, as values of the strict program. */
CtCore **ct_core_lazy_strict_args(CtLazy *l, CtCore *e);
/* lazy_arrays.c */
CtCore *ct_core_lazy_array(CtLazy *l, CtCore *e);

/* Whether a field is kept as a value: one with a `!`, of a newtype, an Integer, or of what has no cells. */
bool ct_core_lazy_field_is_strict(const CtCon *con, uint32_t index);

/* lazy_demand.c: fills `funs` and `joins` for the whole program. */
void ct_core_lazy_find_demands(CtLazy *l);
/* Whether the value of a term surely needs that of a variable. */
bool ct_core_lazy_demands(CtLazy *l, const CtCore *e, const CtVar *var);

#endif
