/* Reads methods.def. */
#include "ad/internal.h"

static const CtMethodInfo infos[CT_METHOD_COUNT] = {
#define CT_METHOD(id, rules, reverse_, library_, cost_, figure_, what_)                                                \
    [METHOD_##id] = {.what = what_, .figure = figure_, .reverse = reverse_, .library = library_, .cost = cost_},
#include "ad/methods.def"
#undef CT_METHOD
};

const CtMethodInfo *ct_ad_method_info(CtMethod method) { return &infos[method]; }

bool ct_ad_method_find(const char *name, CtMethod *method) {
    for (uint32_t i = 0; i < CT_METHOD_COUNT; i++) {
        if (strcmp(ct_core_method_name((CtMethod)i), name) != 0) continue;
        *method = (CtMethod)i;
        return true;
    }
    return false;
}

void ct_ad_methods(const CtRules **rules) {
#define CT_METHOD(id, rules_, reverse, library, cost, figure, what) rules[METHOD_##id] = &rules_;
#include "ad/methods.def"
#undef CT_METHOD
}
