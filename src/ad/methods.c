/* Reads methods.def. */
#include "ad/internal.h"

static const CtMethodInfo infos[CT_METHOD_COUNT] = {
#define CT_METHOD(id, name_, rules, reverse_, library_, figure_, what_)                                                \
    [METHOD_##id] = {.name = name_, .what = what_, .figure = figure_, .reverse = reverse_, .library = library_},
#include "ad/methods.def"
#undef CT_METHOD
};

const CtMethodInfo *ct_method_info(CtMethod method) { return &infos[method]; }

bool ct_method_find(const char *name, CtMethod *method) {
    for (uint32_t i = 0; i < CT_METHOD_COUNT; i++) {
        if (strcmp(infos[i].name, name) != 0) continue;
        *method = (CtMethod)i;
        return true;
    }
    return false;
}

void ct_methods(const CtRules **rules) {
#define CT_METHOD(id, name, rules_, reverse, library, figure, what) rules[METHOD_##id] = &rules_;
#include "ad/methods.def"
#undef CT_METHOD
}
