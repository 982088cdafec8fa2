/* Values in the format of Haskell's show. Pending output is kept on an explicit stack. */
#include <ctype.h>
#include <stdio.h>

#include "value/internal.h"

/* Precedences, as in showsPrec: of a constructor's arguments, of a negative number. */
enum { PREC_NONE = 0, PREC_NEGATIVE = 6, PREC_APPLY = 10 };

typedef enum JobKind { JOB_TEXT, JOB_SYMBOL, JOB_VALUE, JOB_LIST, JOB_ARRAY } JobKind;

typedef struct Job {
    JobKind kind;
    int precedence;
    const CtType *type; /* VALUE: its type; LIST, ARRAY: the element's */
    CtWord value;
    int64_t index; /* LIST, ARRAY: number of elements written */
    uint32_t nil;  /* LIST: the tag of its end */
    const char *text;
} Job;

typedef struct Show {
    CtText *out;
    CT_VEC(Job) jobs;
} Show;

static void later(Show *show, Job job) { ct_push(show->out->arena, &show->jobs, job); }

static void later_text(Show *show, const char *text) { later(show, (Job){.kind = JOB_TEXT, .text = text}); }

static void later_value(Show *show, const CtType *type, CtWord value, int precedence) {
    later(show, (Job){.kind = JOB_VALUE, .precedence = precedence, .type = type, .value = value});
}

/* ---- characters ---- */

static const char *const control_names[] = {
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "a",   "b",   "t",  "n",   "v",   "f",  "r",  "SO", "SI",
    "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
};

/* `next` is the next character of the string, or −1: it must not be read as part of an escape. */
static void show_char(CtText *out, int64_t c, char quote, int64_t next) {
    if (c == quote || c == '\\') {
        ct_text_putc(out, '\\');
        ct_text_putc(out, (char)c);
    } else if (c >= 0 && c < 32) {
        ct_text_putc(out, '\\');
        ct_text_puts(out, control_names[c]);
        if (c == 14 && next == 'H') ct_text_puts(out, "\\&");
    } else if (c == 127) {
        ct_text_puts(out, "\\DEL");
    } else if (c > 127 || c < 0) {
        ct_text_printf(out, "\\%lld", (long long)c);
        if (next >= '0' && next <= '9') ct_text_puts(out, "\\&");
    } else {
        ct_text_putc(out, (char)c);
    }
}

static void show_string(CtText *out, const CtObject *object) {
    ct_text_putc(out, '"');
    while (object->tag != 0) {
        const CtFields *cell = (const CtFields *)object;
        object = cell->words[1].object;
        int64_t next = object->tag != 0 ? ((const CtFields *)object)->words[0].integer : -1;
        show_char(out, cell->words[0].integer, '"', next);
    }
    ct_text_putc(out, '"');
}

/* ---- constructions ---- */

static bool is_operator(CtSym name) {
    return name->length > 0 && strchr("!#$%&*+./<=>?@\\^|-~:", name->text[0]) != NULL;
}

static void show_name(CtText *out, CtSym name) {
    bool in_parentheses = is_operator(name);
    if (in_parentheses) ct_text_putc(out, '(');
    ct_text_puts(out, name->text);
    if (in_parentheses) ct_text_putc(out, ')');
}

static void show_record(Show *show, const CtCon *con, const CtFields *fields) {
    show_name(show->out, con->name);
    ct_text_puts(show->out, " {");
    later_text(show, "}");
    for (uint32_t i = con->count; i-- > 0;) {
        later_value(show, con->fields[i], fields->words[i], PREC_NONE);
        later_text(show, " = ");
        bool in_parentheses = is_operator(con->field_names[i]);
        if (in_parentheses) later_text(show, ")");
        later(show, (Job){.kind = JOB_SYMBOL, .text = con->field_names[i]->text});
        if (in_parentheses) later_text(show, "(");
        if (i > 0) later_text(show, ", ");
    }
}

static bool is_named(const CtCon *con, const char *name) { return strcmp(con->name->text, name) == 0; }

static void show_construction(Show *show, const CtCon *con, const CtFields *fields, int precedence) {
    bool infix = con->infix && con->count == 2 && con->field_names == NULL, is_ratio = infix && is_named(con, ":%");
    int own = is_ratio ? 7 : con->precedence;
    bool parentheses = precedence > (infix ? own : PREC_APPLY);
    if (parentheses) {
        ct_text_putc(show->out, '(');
        later_text(show, ")");
    }
    if (con->field_names != NULL) {
        show_record(show, con, fields);
    } else if (infix) {
        later_value(show, con->fields[1], fields->words[1], own + 1);
        later_text(show, is_operator(con->name) ? " " : "` ");
        later_text(show, is_ratio ? "%" : con->name->text); /* of Ratio alone the instance of Show has another name */
        later_text(show, is_operator(con->name) ? " " : " `");
        later_value(show, con->fields[0], fields->words[0], own + 1);
    } else {
        show_name(show->out, con->name);
        for (uint32_t i = con->count; i-- > 0;) {
            later_value(show, con->fields[i], fields->words[i], PREC_APPLY + 1);
            later_text(show, " ");
        }
    }
}

/* Values of a universal type print like those that they stand for. */
static void show_universal(Show *show, const CtData *data, CtWord value, int precedence) {
    const CtFields *fields = (const CtFields *)value.object;
    const CtCon *con = &data->cons[fields->head.tag];
    if (con->layer == NULL) {
        later_value(show, con->fields[0], fields->words[0], precedence);
    } else if (ct_value_is_tuple_layer(con)) {
        ct_text_putc(show->out, '(');
        later_text(show, ")");
        for (uint32_t i = con->count; i-- > 0;) {
            later_value(show, con->fields[i], fields->words[i], PREC_NONE);
            if (i > 0) later_text(show, ",");
        }
    } else if (ct_value_is_list_layer(con)) {
        const CtCon *nil = con->count == 0 ? con : con - 1;
        ct_text_putc(show->out, '[');
        later(show, (Job){.kind = JOB_LIST, .type = nil[1].fields[0], .value = value, .nil = nil->tag});
    } else if (con->count == 0) {
        show_name(show->out, con->name);
    } else {
        show_construction(show, con, fields, precedence);
    }
}

bool ct_value_is_tuple_layer(const CtCon *con) { return con->name->text[0] == '('; }

bool ct_value_is_list_layer(const CtCon *con) {
    return strcmp(con->name->text, "[]") == 0 || strcmp(con->name->text, ":") == 0;
}

static void show_number(Show *show, const char *text, int precedence) {
    bool parentheses = text[0] == '-' && precedence > PREC_NEGATIVE;
    if (parentheses) ct_text_putc(show->out, '(');
    ct_text_puts(show->out, text);
    if (parentheses) ct_text_putc(show->out, ')');
}

static bool is_list(const CtData *data) {
    return data->name->length == 2 && data->name->text[0] == '[' && data->con_count == 2;
}

static void show_data(Show *show, const CtType *type, CtWord value, int precedence) {
    const CtData *data = type->data;
    if (data->is_universal) {
        show_universal(show, data, value, precedence);
    } else if (ct_core_type_is_integer(type)) {
        CtText digits = ct_text(show->out->arena);
        ct_value_integer_print(&digits, value);
        show_number(show, digits.data, precedence);
    } else if (data->is_enum) {
        show_name(show->out, data->cons[value.integer].name);
    } else if (is_list(data)) {
        const CtType *element = data->cons[1].fields[0];
        if (element->kind == TYPE_CHAR && value.object->tag != 0) {
            show_string(show->out, value.object);
        } else if (element->kind == TYPE_CHAR) {
            ct_text_puts(show->out, "\"\"");
        } else {
            ct_text_putc(show->out, '[');
            later(show, (Job){.kind = JOB_LIST, .type = element, .value = value});
        }
    } else {
        const CtFields *fields = (const CtFields *)value.object;
        const CtCon *con = &data->cons[fields->head.tag];
        if (con->count == 0) {
            show_name(show->out, con->name);
        } else {
            show_construction(show, con, fields, precedence);
        }
    }
}

static void show_tuple(Show *show, const CtType *type, CtWord value) {
    ct_text_putc(show->out, '(');
    later_text(show, ")");
    for (uint32_t i = type->count; i-- > 0;) {
        later_value(show, type->parts[i], ((const CtFields *)value.object)->words[i], PREC_NONE);
        if (i > 0) later_text(show, ",");
    }
}

static void show_value(Show *show, const CtType *type, CtWord value, int precedence) {
    char number[40];
    switch (type->kind) {
    case TYPE_DOUBLE:
        ct_value_show_double(number, value.real);
        show_number(show, number, precedence);
        return;
    case TYPE_FLOAT:
        ct_value_show_float(number, value.real);
        show_number(show, number, precedence);
        return;
    case TYPE_INT:
        snprintf(number, sizeof number, "%lld", (long long)value.integer);
        show_number(show, number, precedence);
        return;
    case TYPE_CHAR:
        ct_text_putc(show->out, '\'');
        show_char(show->out, value.integer, '\'', -1);
        ct_text_putc(show->out, '\'');
        return;
    case TYPE_TUPLE: show_tuple(show, type, value); return;
    case TYPE_ARRAY:
        ct_text_puts(show->out, "[|");
        later(show, (Job){.kind = JOB_ARRAY, .type = type->parts[0], .value = value});
        return;
    case TYPE_FUN: ct_text_puts(show->out, "<function>"); return;
    case TYPE_DATA: show_data(show, type, value, precedence); return;
    }
}

/* Writes one more element, and schedules the rest. */
static void show_list_rest(Show *show, Job job) {
    const CtObject *object = job.value.object;
    if (object->tag == job.nil) {
        ct_text_putc(show->out, ']');
        return;
    }
    if (job.index++ > 0) ct_text_putc(show->out, ',');
    const CtFields *cell = (const CtFields *)object;
    job.value = cell->words[1];
    later(show, job);
    later_value(show, job.type, cell->words[0], PREC_NONE);
}

static void show_array_rest(Show *show, Job job) {
    const CtArray *array = (const CtArray *)job.value.object;
    if (job.index == array->length) {
        ct_text_puts(show->out, "|]");
        return;
    }
    if (job.index > 0) ct_text_putc(show->out, ',');
    CtWord item = array->items[job.index++];
    later(show, job);
    later_value(show, job.type, item, PREC_NONE);
}

void ct_value_show(CtText *out, const CtType *type, CtWord value) {
    Show show = {.out = out};
    later_value(&show, type, value, PREC_NONE);
    while (show.jobs.count > 0) {
        Job job = show.jobs.items[--show.jobs.count];
        switch (job.kind) {
        case JOB_TEXT: ct_text_puts(out, job.text); break;
        case JOB_SYMBOL: {
            bool plain = isalpha((unsigned char)job.text[0]) || job.text[0] == '_';
            ct_text_printf(out, plain ? "%s" : "(%s)", job.text);
            break;
        }
        case JOB_VALUE: show_value(&show, job.type, job.value, job.precedence); break;
        case JOB_LIST: show_list_rest(&show, job); break;
        case JOB_ARRAY: show_array_rest(&show, job); break;
        }
    }
}
