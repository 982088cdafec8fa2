/* The same without Cotan: the C that `cotan compile` wrote is part of this program.
 *
 *   cotan compile curve.cot loss --grad -o loss
 *   cc embedded.c loss.c -lm && ./a.out */
#include <math.h>
#include <stdio.h>

#include "loss.h"

enum { POINTS = 60, STEPS = 1000 };

int main(void) {
    double times[POINTS], values[POINTS], value = 0;
    for (int i = 0; i < POINTS; i++) {
        times[i] = 0.1 * i;
        values[i] = 2 * exp(-0.3 * times[i]) * cos(1.5 * times[i]) + 1 + 0.02 * sin(37.0 * i);
    }
    loss_run run = {0};
    loss_Curve curve = {.amplitude = 1, .damping = 0.1, .frequency = 1.2, .offset = 0}, slope;
    for (int step = 0; step <= STEPS; step++) {
        loss_error error = loss_grad(&run, &curve, times, POINTS, values, POINTS, &value, &slope, NULL, NULL);
        if (error.code != 0) {
            fprintf(stderr, "E%04d at %d:%d: %s\n", error.code, error.line, error.column, error.message);
            return 1;
        }
        if (step % 200 == 0) printf("step %4d: loss %.6f\n", step, value);
        curve.amplitude -= 0.05 * slope.amplitude;
        curve.damping -= 0.05 * slope.damping;
        curve.frequency -= 0.05 * slope.frequency;
        curve.offset -= 0.05 * slope.offset;
    }
    loss_close(&run);
    printf("%.2f exp(-%.2f t) cos(%.2f t) + %.2f\n", curve.amplitude, curve.damping, curve.frequency, curve.offset);
    return 0;
}
