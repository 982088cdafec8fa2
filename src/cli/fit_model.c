/* The loss as a function of a vector: expressions of the program's language around it, made once, called on buffers. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit.h"

static bool is_real(const cotan_slot *slot) { return slot->element == COTAN_DOUBLE || slot->element == COTAN_FLOAT; }

static size_t numbers_in(const cotan_slot *slot, const cotan_buffer *buffer) {
    size_t count = 1;
    for (unsigned d = 0; d < slot->rank; d++) count *= buffer->size[d];
    return count;
}

/* ---- expressions ---- */

static bool is_operator(const char *name) { return !isalpha((unsigned char)name[0]) && name[0] != '_'; }

/* The longest sequence of ' in a text. */
static size_t primes_in(const char *text) {
    size_t most = 0;
    for (const char *c = text; c != NULL && *c != '\0'; c += *c != '\0') {
        size_t count = strspn(c, "'");
        most = count > most ? count : most;
        c += count;
    }
    return most;
}

static void put_primes(FILE *out, size_t count) {
    while (count-- > 0) fputc('\'', out);
}

/* " data1' data2' …" */
static void put_data(FILE *out, size_t arity, const char *separator, size_t primes) {
    for (size_t i = 1; i < arity; i++) {
        fprintf(out, "%sdata%zu", i > 1 ? separator : "", i);
        put_primes(out, primes);
    }
}

/* Text of an expression, in which stands for
 *   %L  the loss    %D  the data as arguments    %T  the data as a tuple    %E  another expression
 * and ' for so many of them that a name that ends with it is in neither the loss nor the other expression. */
static char *expression(const Model *m, const char *form, const char *other) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) return NULL;
    size_t of_loss = primes_in(m->loss), of_other = primes_in(other);
    size_t primes = 1 + (of_loss > of_other ? of_loss : of_other);
    for (const char *c = form; *c != '\0'; c++) {
        if (*c != '%') {
            put_primes(out, *c == '\'' ? primes : 0);
            if (*c != '\'') fputc(*c, out);
            continue;
        }
        switch (*++c) {
        case 'L': fprintf(out, is_operator(m->loss) ? "(%s)" : "%s", m->loss); break;
        case 'D': put_data(out, m->arity, " ", primes); break;
        case 'T': put_data(out, m->arity, ", ", primes); break;
        case 'E': fprintf(out, "(%s)", other); break;
        }
    }
    fclose(out);
    return text;
}

static int out_of_memory(const Options *options) { return cli_refuse(options, "E0801", "there is not enough memory"); }

/* `trap` as in cotan_call. */
static cotan_function *make_with(Model *m, const char *form, const char *other, bool native, int trap, int *status) {
    cotan_function *function = NULL;
    char *text = expression(m, form, other);
    cotan_call call = {
        .mode = COTAN_RUN, .expression = text, .native = native, .method = m->options->method, .trap = trap};
    cotan_error *error = text != NULL ? cotan_function_make(m->program, &call, &function) : NULL;
    if (text == NULL)
        *status = out_of_memory(m->options);
    else if (error != NULL)
        *status = cli_report(m->options, error);
    free(text);
    return function;
}

cotan_function *cli_fit_model_function(Model *m, const char *form, const char *other, bool native, int *status) {
    return make_with(m, form, other, native, 0, status);
}

static bool find_parameters(Model *m, int *status) {
    const char *lines;
    cotan_error *error = cotan_parameters(m->program, m->loss, &lines);
    if (error != NULL) {
        *status = cli_report(m->options, error);
        return false;
    }
    for (const char *c = lines; *c != '\0'; c++) m->arity += *c == '\n';
    if (m->arity == 0) {
        *status = cli_complain(m->options, "`%s` is not a function: a loss takes the parameters as its first argument",
                               m->loss);
        return false;
    }
    m->names = calloc(m->arity, sizeof *m->names);
    for (size_t i = 0; m->names != NULL && i < m->arity; i++) {
        size_t length = strcspn(lines, "\n");
        m->names[i] = strndup(lines, length);
        lines += length + 1;
        if (m->names[i] == NULL) break;
    }
    if (m->names != NULL && m->names[m->arity - 1] != NULL) return true;
    *status = out_of_memory(m->options);
    return false;
}

/* ---- buffers ---- */

/* A copy of numbers that lie elsewhere. */
static bool own(const cotan_slot *slot, const cotan_buffer *from, cotan_buffer *to) {
    size_t bytes = numbers_in(slot, from) * sizeof(double);
    *to = *from;
    to->data = malloc(bytes > 0 ? bytes : 1);
    if (to->data != NULL && bytes > 0) memcpy(to->data, from->data, bytes);
    return to->data != NULL;
}

void cli_fit_model_write(const Model *m, const double *x) {
    const cotan_slot *slots = cotan_function_signature(m->parameters)->in;
    for (size_t i = 0; i < m->parameter_slots; i++) {
        if (!is_real(&slots[i])) continue;
        double *to = m->kept[i].data;
        size_t count = numbers_in(&slots[i], &m->kept[i]);
        for (size_t k = 0; k < count; k++) to[k] = slots[i].element == COTAN_FLOAT ? (double)(float)x[k] : x[k];
        x += count;
    }
}

void cli_fit_model_collect(const Model *m, const cotan_buffer *from, double *x) {
    const cotan_slot *slots = cotan_function_signature(m->parameters)->in;
    for (size_t i = 0; i < m->parameter_slots; i++) {
        if (!is_real(&slots[i])) continue;
        size_t count = numbers_in(&slots[i], &from[i]);
        if (count > 0) memcpy(x, from[i].data, count * sizeof *x);
        x += count;
    }
}

static bool read_start(Model *m, int *status) {
    const cotan_signature *signature = cotan_function_signature(m->parameters);
    size_t length;
    bool failed = false;
    if (m->options->start == NULL) {
        *status = cli_complain(m->options, "give the parameters to start from, such as --start '[1, 2]'");
        return false;
    }
    char *text = cli_read_input(m->options, m->options->start, &length, &failed);
    cotan_buffer *read = calloc(m->parameter_slots + 1, sizeof *read);
    m->kept = calloc(m->parameter_slots + 1, sizeof *m->kept);
    cotan_error *error = NULL;
    bool done = false;
    if (failed)
        *status = EXIT_USAGE;
    else if (text == NULL || read == NULL || m->kept == NULL)
        *status = out_of_memory(m->options);
    else if ((error = cotan_function_read(m->parameters, "--start", text, length, NULL, 0, read)) != NULL)
        *status = cli_report(m->options, error);
    else
        done = true;
    for (size_t i = 0; i < m->parameter_slots && done; i++) {
        done = own(&signature->in[i], &read[i], &m->kept[i]);
        if (!done) *status = out_of_memory(m->options);
        if (done && is_real(&signature->in[i])) m->count += numbers_in(&signature->in[i], &m->kept[i]);
    }
    free(read);
    free(text);
    if (!done) return false;
    if (m->count == 0)
        *status = cli_complain(m->options, "the first argument of `%s` holds no real numbers: there is nothing to fit",
                               m->loss);
    return m->count > 0;
}

static bool make_buffers(Model *m, int *status) {
    size_t slots = m->parameter_slots + m->data_slots;
    m->in = calloc(slots + 1, sizeof *m->in);
    m->all = calloc(m->data_slots + 1, sizeof *m->all);
    m->out = calloc(m->parameter_slots + 1, sizeof *m->out);
    if (m->in != NULL && m->all != NULL && m->out != NULL) return true;
    *status = out_of_memory(m->options);
    return false;
}

/* ---- making ---- */

/* The gradient is taken inside the program, by the parameters alone: the data have no adjoints. */
static const char tuple_form[] = "\\%D -> fst ((%T), \\p' -> %L p' %D)";
static const char single_form[] = "\\%D -> fst (%D, \\p' -> %L p' %D)";
static const char gradient_form[] =
    "\\point' %D -> let (value', back') = vjp (\\p' -> %L p' %D) point' in (value', back' (1 :: Double))";
static const char value_form[] = "\\point' %D -> %L point' %D";
static const char product_form[] = "\\point' direction' %D -> snd (jvp (grad (\\p' -> %L p' %D)) point' direction')";

bool cli_fit_model_make(Model *m, const Options *options, cotan_program *program, int *status) {
    *m = (Model){.options = options, .program = program, .loss = options->words[1]};
    if (!find_parameters(m, status)) return false;
    m->parameters = cli_fit_model_function(m, "\\point' -> fst (point', \\_ -> %L point')", NULL, false, status);
    if (m->parameters == NULL) return false;
    m->parameter_slots = cotan_function_signature(m->parameters)->in_count;
    if (m->arity > 1) {
        m->data = cli_fit_model_function(m, m->arity > 2 ? tuple_form : single_form, NULL, false, status);
        if (m->data == NULL) return false;
        m->data_slots = cotan_function_signature(m->data)->in_count;
    } else if (options->data != NULL) {
        *status = cli_complain(options, "`%s` takes nothing but the parameters: there are no data to give it", m->loss);
        return false;
    }
    m->gradient = cli_fit_model_function(m, gradient_form, NULL, options->native, status);
    return m->gradient != NULL && make_buffers(m, status) && read_start(m, status) && cli_fit_data_read(m, status);
}

static void free_buffers(cotan_buffer *buffers, size_t count) {
    for (size_t i = 0; buffers != NULL && i < count; i++) free(buffers[i].data);
    free(buffers);
}

void cli_fit_model_free(Model *m) {
    for (size_t i = 0; m->names != NULL && i < m->arity; i++) free(m->names[i]);
    free(m->names);
    if (m->in != NULL)
        for (size_t i = 0; i < m->data_slots; i++) /* a batch has memory of its own */
            if (m->in[m->parameter_slots + i].data != m->all[i].data) free(m->in[m->parameter_slots + i].data);
    free(m->in);
    free_buffers(m->all, m->data_slots);
    free_buffers(m->kept, m->parameter_slots);
    free(m->out);
}

/* ---- calling ---- */

static cotan_error *apply(Model *m, cotan_function *function, const double *x) {
    cli_fit_model_write(m, x);
    for (size_t i = 0; i < m->parameter_slots; i++) {
        m->in[i] = m->kept[i];
        m->out[1 + i].data = NULL;
    }
    m->out[0].data = NULL;
    return cotan_apply(function, m->in, m->out);
}

cotan_error *cli_fit_model_trap(Model *m, const double *x, bool gradient, bool infinite) {
    int status;
    cotan_function *function =
        make_with(m, gradient ? gradient_form : value_form, NULL, false, infinite ? 2 : 1, &status);
    return function != NULL ? apply(m, function, x) : NULL;
}

cotan_error *cli_fit_model_gradient(Model *m, const double *x, double *value, double *gradient) {
    cotan_error *error = apply(m, gradient == NULL && m->value != NULL ? m->value : m->gradient, x);
    if (error != NULL) return error;
    *value = *(const double *)m->out[0].data;
    if (gradient != NULL) cli_fit_model_collect(m, m->out + 1, gradient);
    return NULL;
}

/* A column for each direction, by forward over reverse. */
static cotan_error *columns(Model *m, cotan_buffer *in, cotan_buffer *out, double *hessian) {
    const cotan_slot *slots = cotan_function_signature(m->parameters)->in;
    size_t n = m->count, column = 0;
    for (size_t i = 0; i < m->parameter_slots; i++) {
        if (!is_real(&slots[i])) continue;
        double *direction = in[m->parameter_slots + i].data;
        size_t count = numbers_in(&slots[i], &m->kept[i]);
        for (size_t k = 0; k < count; k++, column++) {
            for (size_t j = 0; j < m->parameter_slots; j++) out[j].data = NULL;
            direction[k] = 1;
            cotan_error *error = cotan_apply(m->product, in, out);
            direction[k] = 0;
            if (error != NULL) return error;
            cli_fit_model_collect(m, out, hessian + column * n);
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            hessian[i * n + j] = hessian[j * n + i] = (hessian[i * n + j] + hessian[j * n + i]) / 2;
    return NULL;
}

bool cli_fit_model_make_value(Model *m, int *status) {
    if (m->value == NULL) m->value = cli_fit_model_function(m, value_form, NULL, m->options->native, status);
    return m->value != NULL;
}

bool cli_fit_model_make_product(Model *m, int *status) {
    if (m->product == NULL) m->product = cli_fit_model_function(m, product_form, NULL, m->options->native, status);
    return m->product != NULL;
}

cotan_error *cli_fit_model_hessian(Model *m, const double *x, double *hessian) {
    size_t p = m->parameter_slots;
    const cotan_slot *slots = cotan_function_signature(m->parameters)->in;
    cli_fit_model_write(m, x);
    for (size_t i = 0; i < m->count * m->count; i++) hessian[i] = (double)NAN;
    cotan_buffer *in = calloc(2 * p + m->data_slots, sizeof *in), *out = calloc(p, sizeof *out);
    cotan_error *error = NULL;
    bool done = in != NULL && out != NULL;
    for (size_t i = 0; i < p && done; i++) {
        in[i] = m->kept[i];
        done = own(&slots[i], &m->kept[i], &in[p + i]);
        if (done && is_real(&slots[i])) memset(in[p + i].data, 0, numbers_in(&slots[i], &m->kept[i]) * sizeof(double));
    }
    if (done) {
        memcpy(in + 2 * p, m->in + p, m->data_slots * sizeof *in);
        error = columns(m, in, out, hessian);
    }
    if (in != NULL)
        for (size_t i = 0; i < p; i++) free(in[p + i].data);
    free(in);
    free(out);
    return error;
}

bool cli_fit_model_make_curve(Model *m, int *status) {
    const char *name = m->options->plot_model;
    if (name == NULL) return true;
    if (m->options->plot == NULL) {
        *status = cli_complain(m->options, "--plot-model is drawn by --plot FILE");
        return false;
    }
    m->curve = cli_fit_model_function(m, "\\point' %D -> fst (%E point' %D, %L point' %D)", name, false, status);
    if (m->curve == NULL) return false;
    const cotan_signature *signature = cotan_function_signature(m->curve);
    bool fits = signature->out_count == 3;
    for (size_t i = 0; i < signature->out_count; i++)
        fits &= signature->out[i].rank == 1 && signature->out[i].element == COTAN_DOUBLE;
    if (!fits)
        *status = cli_complain(m->options,
                               "`%s` cannot be drawn: the function of --plot-model takes what the loss does, and gives "
                               "an Array (Double, Double, Double), each x, observed and predicted",
                               name);
    return fits;
}

cotan_error *cli_fit_model_curve(Model *m, const double *x, const double *columns[3], size_t *count) {
    cotan_buffer out[3] = {{.data = NULL}};
    cli_fit_model_choose(m, NULL, 0);
    cli_fit_model_write(m, x);
    memcpy(m->in, m->kept, m->parameter_slots * sizeof *m->in);
    cotan_error *error = cotan_apply(m->curve, m->in, out);
    for (int i = 0; i < 3 && error == NULL; i++) columns[i] = out[i].data;
    *count = error == NULL ? out[0].size[0] : 0;
    return error;
}

cotan_error *cli_fit_model_show(Model *m, const double *x, cotan_form form, cotan_result *out) {
    cli_fit_model_write(m, x);
    return cotan_apply_text(m->parameters, m->kept, form, out);
}

/* ---- bounds and batches ---- */

bool cli_fit_model_constant(Model *m, const char *name, double *x, int *status) {
    const cotan_slot *slots = cotan_function_signature(m->parameters)->in;
    /* it must have the type of the loss's first argument */
    const char *form = "\\point' -> fst (%E, \\_ -> (%L point', [point', %E]))";
    cotan_function *constant = cli_fit_model_function(m, form, name, false, status);
    if (constant == NULL) return false;
    cotan_error *error = NULL;
    cotan_buffer *out = calloc(m->parameter_slots, sizeof *out);
    if (out != NULL) error = cotan_apply(constant, m->kept, out);
    bool fits = error == NULL && out != NULL;
    if (error != NULL)
        *status = cli_report(m->options, error);
    else if (out == NULL)
        *status = out_of_memory(m->options);
    for (size_t i = 0; i < m->parameter_slots && fits; i++) {
        fits = numbers_in(&slots[i], &out[i]) == numbers_in(&slots[i], &m->kept[i]);
        if (!fits) *status = cli_complain(m->options, "`%s` does not have the shape of the parameters", name);
    }
    if (fits) cli_fit_model_collect(m, out, x);
    free(out);
    cotan_function_free(constant);
    return fits;
}

/* Row `row` of one buffer to row `to` of another. */
static void copy_row(const cotan_slot *slot, const cotan_buffer *from, size_t row, const cotan_buffer *into,
                     size_t to) {
    size_t width = 1;
    for (unsigned d = 1; d < slot->rank; d++) width *= from->size[d];
    memcpy((char *)into->data + to * width * 8, (const char *)from->data + row * width * 8, width * 8);
}

void cli_fit_model_choose(Model *m, const size_t *chosen, size_t count) {
    if (m->data_slots == 0) return;
    const cotan_slot *slots = cotan_function_signature(m->data)->in;
    for (size_t i = 0; i < m->data_slots; i++) {
        cotan_buffer *batch = &m->in[m->parameter_slots + i];
        bool whole = count == 0 || slots[i].rank == 0 || m->all[i].size[0] != m->rows;
        if (whole) {
            if (batch->data != m->all[i].data) free(batch->data);
            *batch = m->all[i];
            continue;
        }
        if (batch->data == NULL || batch->data == m->all[i].data) {
            *batch = m->all[i];
            batch->data = malloc(numbers_in(&slots[i], &m->all[i]) * 8 + 1);
            if (batch->data == NULL) { /* then the batch is all rows */
                *batch = m->all[i];
                continue;
            }
        }
        batch->size[0] = count;
        for (size_t k = 0; k < count; k++) copy_row(&slots[i], &m->all[i], chosen[k], batch, k);
    }
}
