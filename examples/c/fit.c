/* Fits a curve to measurements by gradient descent. The curve is a program of Cotan's; its gradient is made once and
 * called a thousand times on arrays of this program's. Step by step in docs/native.md.
 *
 *   cc fit.c $(pkg-config --cflags --libs cotan) -lm && ./a.out curve.cot */
#include <cotan.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 60, STEPS = 1000 };

static char *read_text(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 16);
    *length = file != NULL && text != NULL ? fread(text, 1, 1 << 16, file) : 0;
    if (file != NULL) fclose(file);
    return text;
}

/* What would have been measured of 2 exp(−0.3 t) cos(1.5 t) + 1, with some noise. */
static void measure(double *times, double *values) {
    for (int i = 0; i < POINTS; i++) {
        times[i] = 0.1 * i;
        values[i] = 2 * exp(-0.3 * times[i]) * cos(1.5 * times[i]) + 1 + 0.02 * sin(37.0 * i);
    }
}

static cotan_error *fit(cotan_context *context, const char *name, const char *text, size_t length) {
    cotan_program *program;
    cotan_function *gradient;
    cotan_error *error = cotan_load(context, name, text, length, &program);
    cotan_call call = {.mode = COTAN_GRAD, .function = "loss", .native = true};
    if (error == NULL) error = cotan_function_make(program, &call, &gradient);
    if (error != NULL) return error;

    double times[POINTS], values[POINTS], loss = 0;
    double curve[4] = {1, 0.1, 1.2, 0}, slope[4]; /* amplitude, damping, frequency, offset */
    measure(times, values);
    cotan_buffer in[] = {{&curve[0], {0}}, {&curve[1], {0}},  {&curve[2], {0}},
                         {&curve[3], {0}}, {times, {POINTS}}, {values, {POINTS}}};
    for (int step = 0; step <= STEPS; step++) {
        cotan_buffer out[] = {{&loss, {0}},     {&slope[0], {0}}, {&slope[1], {0}}, {&slope[2], {0}},
                              {&slope[3], {0}}, {NULL, {0}},      {NULL, {0}}}; /* the last two are not looked at */
        error = cotan_apply(gradient, in, out);
        if (error != NULL) return error;
        if (step % 200 == 0) printf("step %4d: loss %.6f\n", step, loss);
        for (int i = 0; i < 4; i++) curve[i] -= 0.05 * slope[i];
    }
    printf("%.2f exp(-%.2f t) cos(%.2f t) + %.2f\n", curve[0], curve[1], curve[2], curve[3]);
    return NULL;
}

int main(int count, char **words) {
    size_t length;
    const char *path = count > 1 ? words[1] : "curve.cot";
    char *text = read_text(path, &length);
    cotan_context *context = cotan_open(NULL);
    if (context == NULL || text == NULL) return 1;
    cotan_error *error = fit(context, path, text, length);
    if (error != NULL) fputs(cotan_error_text(error, false, false), stderr);
    int status = error == NULL ? 0 : cotan_error_status(error);
    cotan_close(context);
    free(text);
    return status;
}
