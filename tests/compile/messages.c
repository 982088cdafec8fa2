/* cotan compile messages.cot loss --grad -o loss
 *
 * cotan grad messages.cot loss --json --at '[2, [1, 3]]'
 * cotan run messages.cot loss --json --args '[2, [1, 3]]'
 *
 * The caller gets the messages of the program in their order, also those before a failure, and only if it asks. */
#include <stdio.h>
#include <string.h>

#include "loss.h"

typedef struct Heard {
    char text[200];
    size_t length;
} Heard;

static void hear(void *trace_data, const char *message, size_t length, double fraction) {
    Heard *heard = trace_data;
    size_t left = sizeof heard->text - heard->length;
    int put = message != NULL ? snprintf(heard->text + heard->length, left, "%s;", message)
                              : snprintf(heard->text + heard->length, left, "%g;", fraction);
    if (message != NULL && strlen(message) != length) heard->length = 0;
    heard->length += (size_t)put;
}

int main(void) {
    const double xs[] = {1, 3};
    double value, by_a, by_xs[2];
    Heard heard = {.length = 0};
    loss_run run = {.trace = hear, .trace_data = &heard};
    if (loss_grad(&run, 2, xs, 2, &value, &by_a, by_xs).code != 0) return 1;
    if (strcmp(heard.text, "größe 1.0;größe 3.0;0.5;") != 0) return 2;
    printf("{\"value\":%.17g,\"gradient\":[%.17g,[%.17g,%.17g]]}\n", value, by_a, by_xs[0], by_xs[1]);

    heard.length = 0;
    run.stack = 1; /* less than any call takes: it fails before its messages or between them */
    loss_error error = loss(&run, 2, xs, 2, &value);
    run.stack = 0;
    heard.length = 0;
    if (error.code != 0 && error.code != 801) return 3;
    if (loss(&run, 2, xs, 1, &value).code != 0 || strcmp(heard.text, "größe 1.0;0.5;") != 0) return 4;
    loss_close(&run);

    run = (loss_run){.memory = 0};
    heard.text[0] = '\0';
    if (loss(&run, 2, xs, 2, &value).code != 0 || loss(NULL, 2, xs, 2, &value).code != 0) return 5;
    loss_close(&run);
    if (heard.text[0] != '\0') return 6;
    printf("{\"value\":%.17g}\n", value);
    return 0;
}
