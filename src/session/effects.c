/* Input and output: the requests of actions, performed by the function that the host gives, each once in a call. */
#include "rt/text.h"
#include "session/session.h"

#include <stdlib.h>

typedef struct CtGiven { /* an answer that is not empty, or a failure */
    uint64_t number;     /* of the request, from 0 */
    char *text;
    size_t length;
    int code; /* 0: it did not fail */
} CtGiven;

typedef struct CtWorld {
    ct_effects effects; /* first: `perform` is given its address */
    cotan_perform perform;
    void *data;
    uint64_t performed, next; /* the number of requests that were performed in this call; the number of the next one */
    CtGiven *given;
    size_t given_count, given_capacity, given_next;
    ct_effects told;                /* its request is the message that is being made */
    uint64_t told_count, told_next; /* messages that were told in this call; the number of the next one */
    bool silent;                    /* messages are told to nobody */
    cotan_trace trace;
    void *trace_data;
} CtWorld;

struct ct_effects *ct_session_world(const cotan_context *context) {
    return &context->world->effects;
}

/* ---- what was answered ---- */

/* `first` stands in front of the text, unless it is 0. */
static bool remember(CtWorld *w, char first, const char *text, size_t length, int code) {
    if (w->given_count == w->given_capacity) {
        size_t capacity = w->given_capacity * 2 + 16;
        CtGiven *given = realloc(w->given, capacity * sizeof *given);
        if (given == NULL) return false;
        w->given = given;
        w->given_capacity = capacity;
    }
    size_t front = first != '\0';
    char *copy = malloc(front + length + 1);
    if (copy == NULL) return false;
    copy[0] = first;
    if (length > 0) memcpy(copy + front, text, length);
    copy[front + length] = '\0';
    w->given[w->given_count++] = (CtGiven){w->performed, copy, front + length, code};
    return true;
}

/* The answer to request `next`, which was performed in an earlier run. */
static bool answer_again(CtWorld *w) {
    ct_effects *effects = &w->effects;
    effects->answer = "";
    effects->answer_length = 0;
    effects->code = 0;
    if (w->given_next < w->given_count && w->given[w->given_next].number == w->next) {
        const CtGiven *given = &w->given[w->given_next++];
        effects->answer = given->text;
        effects->answer_length = given->length;
        effects->code = given->code;
    }
    w->next++;
    return effects->code == 0;
}

/* ---- what is asked ---- */

/* An answer that the lists of a program can hold: UTF-8. */
static bool is_utf8(const char *text, size_t length) {
    for (size_t at = 0; at < length;) {
        size_t bytes;
        ct_text_point(text, length, at, &bytes);
        if (bytes == 1 && (unsigned char)text[at] >= 0x80) return false;
        at += bytes;
    }
    return true;
}

static const char *const commands[] = {"",       "putStr",   "hPutStr",   "getLine",    "getChar", "getContents",
                                       "isEOF",  "readFile", "writeFile", "appendFile", "getArgs", "getProgName",
                                       "hFlush", "exitWith"};
enum { COMMANDS = sizeof commands / sizeof *commands, CAUGHT = 100 }; /* -103 is -3, whose failure is caught */

/* The request that ends with this command. The name of a file stands in front of its text. */
static cotan_request request_of(const ct_effects *effects, int64_t command) {
    cotan_request request = {.what = (cotan_effect)(-command - 1), .text = effects->request, .length = effects->length};
    if (request.what == COTAN_READ_FILE || request.what == COTAN_WRITE_FILE || request.what == COTAN_APPEND_FILE) {
        size_t length = strlen(effects->request);
        request.name = effects->request;
        if (length < request.length) length++;
        request.text += length;
        request.length -= length;
    }
    if (request.what == COTAN_EXIT) request.status = (int)strtol(effects->request, NULL, 10);
    return request;
}

/* Performs the request, and remembers what comes of it. `caught`: where it fails, that is an answer, `!` and why; the
 * answers of others begin with a blank. False without memory. */
static bool perform_now(CtWorld *w, int64_t command, bool caught) {
    ct_effects *effects = &w->effects;
    if (!ct_request(effects, 0)) return false; /* a NUL behind the text */
    effects->length--;
    cotan_request request = request_of(effects, command);
    cotan_answer answer = {0};
    if (request.what == COTAN_READ_FILE && strlen(effects->request) != effects->length)
        answer.error = "the name of a file has no NUL"; /* the rest of the name stands where a text would */
    else if (w->perform != NULL)
        w->perform(w->data, &request, &answer);
    else
        answer.error = "there is no input and output here";
    char message[300];
    const char *name = commands[-command];
    int code = 0;
    if (answer.error != NULL) {
        snprintf(message, sizeof message, "%s: %.250s", request.name != NULL ? request.name : name, answer.error);
        code = 513;
    } else if (request.what == COTAN_EXIT) {
        snprintf(message, sizeof message, "the program ends itself with the status %d", request.status);
        code = 514;
    } else if (!is_utf8(answer.text, answer.length)) {
        snprintf(message, sizeof message, "%s: what was read is no text in UTF-8",
                 request.name != NULL ? request.name : name);
        code = 513;
    }
    const char *text = code != 0 ? message : answer.text;
    size_t length = code != 0 ? strlen(message) : answer.length;
    char first = !caught || code == 514 ? '\0' : code != 0 ? '!' : ' ';
    if (first == '!') code = 0;
    if ((length > 0 || code != 0 || first != '\0') && !remember(w, first, text, length, code)) return false;
    w->performed++;
    return true;
}

static bool perform(ct_effects *effects, int64_t command) {
    CtWorld *w = (CtWorld *)effects;
    bool caught = command < -CAUGHT;
    if (caught) command += CAUGHT;
    bool known = -command < COMMANDS;
    if (known && w->next == w->performed && !perform_now(w, command, caught)) {
        effects->answer = "the run needs more memory than there is";
        effects->answer_length = strlen(effects->answer);
        effects->code = 801;
        return false;
    }
    effects->length = 0;
    return answer_again(w);
}

/* ---- what is told ---- */

static bool trace(ct_effects *effects, int64_t what) {
    CtWorld *w = (CtWorld *)effects;
    if (w->trace == NULL || w->silent) return true;
    ct_effects *told = &w->told;
    if (what >= 0) return ct_request(told, what);
    if (!ct_request(told, 0)) return false; /* a NUL behind the text */
    if (w->told_next++ < w->told_count) {   /* by an earlier run of this call */
        told->length = 0;
        return true;
    }
    w->told_count++;
    bool is_fraction = what == -2;
    w->trace(w->trace_data, is_fraction ? NULL : told->request, is_fraction ? 0 : told->length - 1,
             is_fraction ? strtod(told->request, NULL) : 0);
    told->length = 0;
    return true;
}

void cotan_set_trace(cotan_context *context, cotan_trace function, void *data) {
    context->world->trace = function;
    context->world->trace_data = data;
}

void ct_session_world_silence(cotan_context *context, bool silent) { context->world->silent = silent; }

/* ---- calls ---- */

void ct_session_world_again(cotan_context *context) {
    CtWorld *w = context->world;
    w->effects.length = w->told.length = 0;
    w->next = w->given_next = w->told_next = 0;
}

void ct_session_world_begin(cotan_context *context) {
    CtWorld *w = context->world;
    while (w->given_count > 0) free(w->given[--w->given_count].text);
    w->performed = w->told_count = 0;
    w->silent = false;
    ct_session_world_again(context);
}

bool ct_session_world_new(cotan_context *context) {
    context->world = calloc(1, sizeof *context->world);
    if (context->world != NULL) {
        context->world->effects.perform = perform;
        context->world->effects.trace = trace;
    }
    return context->world != NULL;
}

void ct_session_world_free(cotan_context *context) {
    if (context->world == NULL) return;
    ct_session_world_begin(context);
    free(context->world->given);
    free(context->world->effects.request);
    free(context->world->told.request);
    free(context->world);
}

void cotan_perform_effects(cotan_context *context, cotan_perform function, void *data) {
    context->world->perform = function;
    context->world->data = data;
}
