/* Input and output of actions: standard input, output and error, files, the arguments of the program. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static void fails(cotan_answer *answer, const char *error) { answer->error = error; }

/* Adds a byte to the answer. False without memory. */
static bool add(CliWorld *w, int byte) {
    if (w->length == w->capacity) {
        size_t capacity = w->capacity * 2 + 256;
        char *text = realloc(w->text, capacity);
        if (text == NULL) return false;
        w->text = text;
        w->capacity = capacity;
    }
    w->text[w->length++] = (char)byte;
    return true;
}

static void answer_is(const CliWorld *w, cotan_answer *answer) {
    answer->text = w->text;
    answer->length = w->length;
}

/* Bytes of a file up to its end, or to a newline, which is left out; `most` bytes at the most. */
static bool take(CliWorld *w, FILE *file, bool line, size_t most) {
    int byte;
    for (size_t i = 0; i < most && (byte = getc(file)) != EOF && !(line && byte == '\n'); i++)
        if (!add(w, byte)) return false;
    return true;
}

static bool at_end(FILE *file) {
    int byte = getc(file);
    if (byte != EOF) ungetc(byte, file);
    return byte == EOF;
}

/* The number of bytes of a UTF-8 character behind its first. */
static size_t more_bytes(unsigned char first) { return first < 0xC0 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3; }

static void get(CliWorld *w, cotan_effect what, cotan_answer *answer) {
    fflush(stdout); /* a prompt is seen before the input is waited for */
    bool sound = true;
    if (what == COTAN_IS_END) {
        sound = !at_end(stdin) || add(w, '1');
    } else if (what == COTAN_GET_REST) {
        sound = take(w, stdin, false, SIZE_MAX);
    } else if (at_end(stdin)) {
        fails(answer, "end of file");
        return;
    } else if (what == COTAN_GET_LINE) {
        sound = take(w, stdin, true, SIZE_MAX);
    } else {
        sound = take(w, stdin, false, 1) && take(w, stdin, false, more_bytes((unsigned char)w->text[0]));
    }
    if (!sound) fails(answer, strerror(ENOMEM));
    answer_is(w, answer);
}

static void read_file(CliWorld *w, const char *name, cotan_answer *answer) {
    FILE *file = fopen(name, "rb");
    if (file == NULL) {
        fails(answer, strerror(errno));
        return;
    }
    bool sound = take(w, file, false, SIZE_MAX);
    if (!sound || ferror(file)) fails(answer, strerror(sound ? errno : ENOMEM));
    fclose(file);
    answer_is(w, answer);
}

static void write_file(const cotan_request *request, cotan_answer *answer) {
    FILE *file = fopen(request->name, request->what == COTAN_WRITE_FILE ? "wb" : "ab");
    if (file == NULL) {
        fails(answer, strerror(errno));
        return;
    }
    bool written = fwrite(request->text, 1, request->length, file) == request->length;
    if (fclose(file) != 0 || !written) fails(answer, strerror(errno));
}

/* With --json standard output is for the JSON object, which holds what the program writes. */
static void put(CliWorld *w, const cotan_request *request, cotan_answer *answer) {
    if (w->written != NULL) {
        fwrite(request->text, 1, request->length, w->written);
    } else if (fwrite(request->text, 1, request->length, stdout) != request->length) {
        fails(answer, strerror(errno));
    }
}

/* ---- messages ---- */

void cli_world_undraw(CliWorld *w) {
    if (w->drawn >= 0) fprintf(stderr, "\r\033[K");
    w->drawn = -1;
}

static void draw(CliWorld *w, double fraction) {
    int percent = fraction > 0 ? (int)(fraction < 1 ? 100 * fraction : 100) : 0;
    if (!w->draws || percent == w->drawn) return;
    fprintf(stderr, "\r%3d %%\033[K", percent);
    fflush(stderr);
    w->drawn = percent;
}

static void tell(void *data, const char *message, size_t length, double fraction) {
    CliWorld *w = data;
    cli_progress_hide();
    if (message == NULL) {
        cli_progress_stop(); /* the program itself says how far it is */
        cli_progress_show();
        draw(w, fraction);
        return;
    }
    fflush(stdout);
    cli_world_undraw(w);
    if (w->options->json) {
        fprintf(stderr, "{\"trace\":");
        cli_print_json_string(stderr, message, length);
        fprintf(stderr, "}\n");
    } else {
        fwrite(message, 1, length, stderr);
        putc('\n', stderr);
    }
    cli_progress_show();
}

static void perform_request(CliWorld *w, const cotan_request *request, cotan_answer *answer) {
    cli_world_undraw(w);
    w->length = 0;
    switch (request->what) {
    case COTAN_PUT: put(w, request, answer); return;
    case COTAN_PUT_ERROR:
        fflush(stdout);
        fwrite(request->text, 1, request->length, stderr);
        return;
    case COTAN_GET_LINE:
    case COTAN_GET_CHAR:
    case COTAN_GET_REST:
    case COTAN_IS_END: get(w, request->what, answer); return;
    case COTAN_READ_FILE: read_file(w, request->name, answer); return;
    case COTAN_WRITE_FILE:
    case COTAN_APPEND_FILE: write_file(request, answer); return;
    case COTAN_ARGUMENTS:
        for (int i = 0; i < w->options->own_count; i++)
            for (const char *c = w->options->own[i];; c++) {
                if (!add(w, *c)) fails(answer, strerror(ENOMEM));
                if (*c == '\0') break;
            }
        answer_is(w, answer);
        return;
    case COTAN_PROGRAM_NAME:
        answer->text = w->options->word_count > 0 ? w->options->words[0] : "cotan";
        answer->length = strlen(answer->text);
        return;
    case COTAN_FLUSH: fflush(stdout); return;
    case COTAN_EXIT:
        w->has_ended = true;
        w->status = request->status;
        return;
    }
}

/* Behind half a line of the program's there is no room for a line about progress. */
static bool is_half_line(const cotan_request *request) {
    bool puts = request->what == COTAN_PUT || request->what == COTAN_PUT_ERROR;
    return puts && request->length > 0 && request->text[request->length - 1] != '\n';
}

static void perform(void *data, const cotan_request *request, cotan_answer *answer) {
    cli_progress_hide();
    perform_request(data, request, answer);
    if (is_half_line(request)) cli_progress_stop();
    cli_progress_show();
}

void cli_world_open(CliWorld *w, const Options *options, cotan_context *context) {
    *w = (CliWorld){.options = options,
                    .context = context,
                    .draws = !options->json && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO),
                    .drawn = -1};
    if (options->json) w->written = open_memstream(&w->output, &w->output_length);
    cotan_perform_effects(context, perform, w);
    cotan_set_trace(context, tell, w);
}

void cli_world_close(CliWorld *w) {
    fflush(stdout);
    if (w->written != NULL) fclose(w->written);
    free(w->output);
    free(w->text);
}
