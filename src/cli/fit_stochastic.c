/* Stochastic gradient descent, by batches of the data's rows in a new order for each pass over them; or by all rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit.h"

/* The rows in a random order (Fisher and Yates), a batch after the other. */
typedef struct Batches {
    size_t *order, next;
} Batches;

static void shuffle(Run *run, Batches *b) {
    for (size_t i = run->model->rows; i > 1; i--) {
        size_t j = (size_t)(cli_random(&run->random) * (double)i), row = b->order[i - 1];
        b->order[i - 1] = b->order[j];
        b->order[j] = row;
    }
    b->next = 0;
}

static bool choose(Run *run, Batches *b) {
    size_t rows = run->model->rows;
    if (run->batch == 0) return true;
    if (b->order == NULL) {
        b->order = malloc(rows * sizeof *b->order);
        if (b->order == NULL) return false;
        for (size_t i = 0; i < rows; i++) b->order[i] = i;
        b->next = rows;
    }
    if (b->next >= rows) shuffle(run, b);
    size_t count = rows - b->next < run->batch ? rows - b->next : run->batch;
    cli_fit_model_choose(run->model, b->order + b->next, count);
    b->next += count;
    return true;
}

/* Moves x against the gradient; `memory` is a method's own. */
typedef void Move(Run *run, double *memory, uint64_t step);

static void descend(Run *run, Move *move, size_t memories) {
    Batches batches = {0};
    double *memory = calloc(memories * run->count + 1, sizeof *memory);
    for (uint64_t step = 1; memory != NULL && run->ending == GOES_ON; step++) {
        if (!choose(run, &batches) || !cli_fit_run_evaluate(run, run->x, &run->value, run->gradient)) break;
        if (!cli_fit_run_step(run)) break;
        move(run, memory, step);
        cli_fit_run_project(run, run->x);
    }
    if (run->ending == GOES_ON) run->ending = OUT_OF_TIME;
    cli_fit_model_choose(run->model, NULL, 0);
    free(batches.order);
    free(memory);
}

static void sgd_move(Run *run, double *memory, uint64_t step) {
    (void)memory, (void)step;
    for (size_t i = 0; i < run->count; i++) run->x[i] -= run->rate * run->gradient[i];
}

void cli_fit_sgd(Run *run) { descend(run, sgd_move, 0); }

/* Kingma and Ba, 2015, Algorithm 1. */
static void adam_move(Run *run, double *memory, uint64_t step) {
    const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    double *m = memory, *v = memory + run->count;
    for (size_t i = 0; i < run->count; i++) {
        double g = run->gradient[i];
        m[i] = beta1 * m[i] + (1 - beta1) * g;
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        double mean = m[i] / (1 - pow(beta1, (double)step)), square = v[i] / (1 - pow(beta2, (double)step));
        run->x[i] -= run->rate * mean / (sqrt(square) + epsilon);
    }
}

void cli_fit_adam(Run *run) { descend(run, adam_move, 2); }
