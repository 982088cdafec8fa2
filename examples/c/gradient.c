/* A gradient from C: cc gradient.c $(pkg-config --cflags --libs cotan) */
#include <cotan.h>
#include <stdio.h>
#include <string.h>

static const char source[] = "squares :: Array Double -> Double\n"
                             "squares xs = sum (map (\\x -> x * x) xs)\n";

int main(void) {
    cotan_context *context = cotan_open(NULL);
    if (context == NULL) return 1;
    cotan_program *program;
    cotan_error *error = cotan_load(context, "squares.cot", source, strlen(source), &program);
    if (error == NULL) {
        cotan_call call = {.mode = COTAN_GRAD, .function = "squares", .at = "[1, 2, 3]"};
        cotan_result result;
        error = cotan_call_json(program, &call, &result);
        if (error == NULL) printf("value %s, gradient %s\n", result.value, result.derivative);
    }
    if (error != NULL) fputs(cotan_error_text(error, false, false), stderr);
    int status = error == NULL ? 0 : cotan_error_status(error);
    cotan_close(context);
    return status;
}
