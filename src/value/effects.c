/* Requests to the world: rt/text.h. */
#include "rt/text.h"
#include "value/value.h"

static int give(const char *text, const char **answer, size_t *length, int code) {
    *answer = text;
    *length = strlen(text);
    return code;
}

int ct_value_effect(struct ct_effects *effects, int64_t what, const char **answer, size_t *length) {
    if (effects == NULL) return give("there is no input and output here", answer, length, 513);
    if (what >= 0)
        return ct_request(effects, what) ? give("", answer, length, 0)
                                         : give("the run needs more memory than there is", answer, length, 801);
    bool done = effects->perform(effects, what);
    *answer = effects->answer;
    *length = effects->answer_length;
    return done ? 0 : effects->code;
}

bool ct_value_trace(struct ct_effects *effects, int64_t what) {
    return effects == NULL || effects->trace(effects, what);
}
