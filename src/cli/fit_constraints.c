/* Constraints: functions of the parameters, with Jacobians by reverse mode, a row at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit.h"

static size_t numbers_in(const cotan_slot *slot, const cotan_buffer *buffer) {
    size_t count = 1;
    for (unsigned d = 0; d < slot->rank; d++) count *= buffer->size[d];
    return count;
}

bool cli_fit_constraint_make(Constraint *c, Model *model, char *name, bool equality, int *status) {
    if (name == NULL) return *status = cli_refuse(model->options, "E0801", "there is not enough memory"), false;
    *c = (Constraint){.model = model, .name = name, .equality = equality};
    bool native = model->options->native;
    c->value = cli_fit_model_function(model, "\\point' -> %E point'", name, native, status);
    if (c->value == NULL) return false;
    c->pullback = cli_fit_model_function(model, "\\point' dy' -> snd (vjp %E point') dy'", name, native, status);
    if (c->pullback == NULL) return false;
    const cotan_signature *signature = cotan_function_signature(c->value);
    bool real = signature->out_count == 1 && signature->out[0].element == COTAN_DOUBLE && signature->out[0].rank < 2;
    if (!real || signature->in_count != model->parameter_slots) {
        *status = cli_complain(model->options,
                               "`%s` is not a function from the parameters to a Double or an array of Doubles", name);
        return false;
    }
    cotan_buffer out = {0};
    cotan_error *error = cotan_apply(c->value, model->kept, &out);
    if (error != NULL) {
        *status = cli_report(model->options, error);
        return false;
    }
    c->count = numbers_in(&signature->out[0], &out);
    return true;
}

cotan_error *cli_fit_constraint_at(const Constraint *c, const double *x, double *values, double *jacobian) {
    Model *m = c->model;
    cotan_buffer out = {0};
    cli_fit_model_write(m, x);
    cotan_error *error = cotan_apply(c->value, m->kept, &out);
    if (error != NULL) return error;
    const cotan_slot *slot = &cotan_function_signature(c->value)->out[0];
    for (size_t i = 0; i < c->count; i++) /* numbers are missing where the shape of the result depends on the point */
        values[i] = i < numbers_in(slot, &out) ? ((const double *)out.data)[i] : 0;
    if (jacobian == NULL) return NULL;
    cotan_buffer *in = calloc(m->parameter_slots + 1, sizeof *in),
                 *gradient = calloc(m->parameter_slots, sizeof *gradient);
    double *weights = calloc(c->count + 1, sizeof *weights);
    for (size_t i = 0; i < c->count && in != NULL && gradient != NULL && weights != NULL && error == NULL; i++) {
        memcpy(in, m->kept, m->parameter_slots * sizeof *in);
        in[m->parameter_slots] = (cotan_buffer){.data = weights, .size = {c->count}};
        weights[i] = 1;
        memset(gradient, 0, m->parameter_slots * sizeof *gradient);
        error = cotan_apply(c->pullback, in, gradient);
        weights[i] = 0;
        if (error == NULL) cli_fit_model_collect(m, gradient, jacobian + i * m->count);
    }
    free(in);
    free(gradient);
    free(weights);
    return error;
}

cotan_error *cli_fit_constraint_excess(const Constraint *c, const double *x, double tolerance, double *excess) {
    size_t n = c->model->count;
    double *values = calloc(c->count + 1, sizeof *values), *jacobian = calloc(c->count * n + 1, sizeof *jacobian);
    cotan_error *error = NULL;
    *excess = values != NULL && jacobian != NULL ? 0 : (double)INFINITY;
    if (values != NULL && jacobian != NULL) error = cli_fit_constraint_at(c, x, values, jacobian);
    for (size_t i = 0; i < c->count && values != NULL && jacobian != NULL && error == NULL; i++) {
        double number = c->equality ? fabs(values[i]) : values[i], change = 0;
        for (size_t k = 0; k < n; k++) change += fabs(jacobian[i * n + k] * x[k]);
        if (isnan(number)) number = (double)INFINITY;
        double slack = isfinite(change) ? fmax(tolerance, 1e-6 * change) : tolerance;
        if (!(number <= slack)) *excess = fmax(*excess, number);
    }
    free(values);
    free(jacobian);
    return error;
}
