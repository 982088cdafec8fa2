/* Places of failures: source ranges by number. */
#include "flow/flow.h"

bool ct_flow_is_user(const CtFlow *flow, CtSourceRange range) {
    return range.source != 0 && !flow->core->context->sources.items[range.source].is_library;
}

uint32_t ct_flow_site(CtFlow *flow, CtSourceRange range) {
    if (range.source == 0) return 0;
    range = ct_core_failing_place(flow->core, range);
    uint64_t key = ((uint64_t)range.source * 0x9E3779B97F4A7C15u) ^ ((uint64_t)range.start << 32 | range.end);
    uint32_t known = (uint32_t)(uintptr_t)ct_map_get(&flow->site_numbers, key);
    if (known != 0 && memcmp(&flow->sites.items[known], &range, sizeof range) == 0) return known;
    ct_push(flow->arena, &flow->sites, range);
    uint32_t number = flow->sites.count - 1;
    ct_map_set(flow->arena, &flow->site_numbers, key, (void *)(uintptr_t)number); // NOLINT
    return number;
}
