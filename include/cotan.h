/* Cotan: a strict functional language whose programs can be differentiated.
 *
 * Everything belongs to a context. A context, and all objects made by calls with it, are used by one thread at a time;
 * different contexts are independent. No function exits, aborts or prints. A function that can fail returns a
 * cotan_error, or NULL on success. The error belongs to the context and lives until the next call with that context, or
 * until the context is closed. Texts are UTF-8 and NUL-terminated, unless a length is given; sizes are in bytes.
 */
#ifndef COTAN_H
#define COTAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default) /* the shared library exports what stands here, and nothing else */
#endif

typedef struct cotan_context cotan_context;
typedef struct cotan_program cotan_program; /* a loaded source */
typedef struct cotan_error cotan_error;

/* Limits of one context; 0 means the default: memory three quarters of the machine's, depth 50 million,
 * steps unlimited, one thread. With more threads, long loops over arrays are divided among them; results, steps and
 * errors are the same for any number. The library starts the threads with the first such loop and ends them with the
 * context; they block all signals. */
typedef struct cotan_limits {
    size_t memory; /* bytes, of the run and of what is compiled for it; what Cotan's own library takes does not count */
    uint64_t steps;
    uint64_t depth;
    unsigned threads; /* the caller's included; at most 256 */
} cotan_limits;

/* The version of the library, such as "0.1.0". */
const char *cotan_version(void);

/* The methods of differentiation, in the order of `cotan methods`; NULL if there is none with this index. They are
 * constants. */
typedef struct cotan_method {
    const char *name;   /* "tape" */
    const char *what;   /* one line */
    const char *figure; /* of the paper */
    bool reverse;
} cotan_method;
const cotan_method *cotan_method_at(size_t index);

/* The explanation of an error code such as "E0301", and its title, for which `title` may be NULL. NULL when there is no
 * such code. Both are constants. */
const char *cotan_explain(const char *code, const char **title);

/* A new context, or NULL when there is no memory; `limits` may be NULL. It is closed by cotan_close, which frees all
 * that belongs to it. */
cotan_context *cotan_open(const cotan_limits *limits);
void cotan_close(cotan_context *context);

/* Asks the call that is running in the context to stop; it ends with E0804. Another thread or a signal handler may call
 * this function and the next, no others. */
void cotan_interrupt(cotan_context *context);
/* About how many steps the evaluator has taken in the call that is running in the context; 0 while native code runs. */
uint64_t cotan_steps(const cotan_context *context);
/* How Cotan checks its own work, for tests and for doubtful results. 0: not at all. 1: after every pass, the program is
 * checked to be well-formed, at a small cost. 2: also, in every run of native code, the program after each pass is
 * interpreted on the same input, which takes long, and must give the same result. 3: as 2, and messages say what was
 * checked. 4: in every run of native code, only the program after the last pass is interpreted, and must give the same
 * result; messages say so. A difference is the error E0901 of the call. Messages go to standard error: an exception to
 * the rule that nothing is printed. The command takes the value of COTAN_CHECK_PASSES. */
void cotan_check_passes(cotan_context *context, int checks);
/* Whether native code gives the results of libm to the last bit. By default it may call the functions of libmvec for
 * exp, sin and the like in loops: their errors are up to 4 units in the last place, and they are several times faster.
 * Holds for all later calls. */
void cotan_exact_math(cotan_context *context, bool exact);

/* What an action of a program (of the type IO a) requests. */
typedef enum cotan_effect {
    COTAN_PUT,          /* write `text` to standard output */
    COTAN_PUT_ERROR,    /* write `text` to standard error */
    COTAN_GET_LINE,     /* read a line of standard input; the answer is without the newline. At the end of the input: an
                           error */
    COTAN_GET_CHAR,     /* read a character of standard input. At the end of the input: an error */
    COTAN_GET_REST,     /* read the rest of standard input */
    COTAN_IS_END,       /* is standard input at its end? If so, the answer is any text that is not empty */
    COTAN_READ_FILE,    /* read the file `name` */
    COTAN_WRITE_FILE,   /* write `text` to the file `name` */
    COTAN_APPEND_FILE,  /* append `text` to the file `name` */
    COTAN_ARGUMENTS,    /* the arguments of the program, each with a NUL behind it */
    COTAN_PROGRAM_NAME, /* the name of the program */
    COTAN_FLUSH,        /* flush what was written */
    COTAN_EXIT,         /* the program ends itself, with `status`: the call then ends with E0514 */
} cotan_effect;

typedef struct cotan_request {
    cotan_effect what;
    const char *text, *name; /* each NUL-terminated; `text` may contain NUL */
    size_t length;           /* of `text` */
    int status;
} cotan_request;

typedef struct cotan_answer {
    const char *text; /* copied by the library; NULL: empty */
    size_t length;
    const char
        *error; /* why the request failed, a sentence without a full stop: the call ends with E0513; NULL: success */
} cotan_answer;

/* Sets the function that performs the requests of actions, called with `data`. NULL, the default: every request is an
 * error. Requests come in the order of the actions, perhaps on another thread, while the caller's waits; the function
 * may not use the context. `answer` is empty when the function is called. */
typedef void (*cotan_perform)(void *data, const cotan_request *request, cotan_answer *answer);
void cotan_perform_effects(cotan_context *context, cotan_perform perform, void *data);
/* Sets the function that gets the messages of programs (Debug.Trace), called with `data`; NULL, the default: nobody
 * gets them. `message` is `length` bytes long, without a newline at its end, and valid only during the call. For the
 * program's report of its progress, `message` is NULL and `fraction` is the part of the work that is done, from 0 to 1
 * (any number that the program gives). Messages come in the order of the program, perhaps on another thread, while the
 * caller's waits; the function may not use the context. No value depends on it. */
typedef void (*cotan_trace)(void *data, const char *message, size_t length, double fraction);
void cotan_set_trace(cotan_context *context, cotan_trace trace, void *data);

/* The number of errors that one call has reported, and the parts of each. Strings belong to the error. Lines and
 * columns count from 1; 0 means that the error has no place. */
size_t cotan_error_count(const cotan_error *error);
const char *cotan_error_code(const cotan_error *error, size_t index); /* "E0301" */
const char *cotan_error_message(const cotan_error *error, size_t index);
const char *cotan_error_file(const cotan_error *error, size_t index); /* NULL when there is none */
int cotan_error_line(const cotan_error *error, size_t index);
int cotan_error_column(const cotan_error *error, size_t index);
/* All errors as text for people, with the source lines marked; as_json: one JSON object a line. */
const char *cotan_error_text(const cotan_error *error, bool colour, bool as_json);
/* 1 the program has an error, 2 an input is wrong, 3 a check failed, 4 an internal fault: the command's exit status. */
int cotan_error_status(const cotan_error *error);

/* Where the modules that programs import are looked for, after the library: A.B is FOLDER/A/B.cot. Folders are searched
 * in the order in which they were added, "" is the current one; without any, only the library can be imported. */
cotan_error *cotan_add_folder(cotan_context *context, const char *folder);

/* Loads a program from text; `name` is used in messages. The text is copied. The program lives as long as the context.
 */
cotan_error *cotan_load(cotan_context *context, const char *name, const char *text, size_t length, cotan_program **out);

/* The warnings about a program: patterns that do not cover everything, clauses that are never reached. NULL when there
 * are none. After cotan_define: those about the last definitions. They are read as errors are, and belong to the
 * program until more is defined in it. */
const cotan_error *cotan_warnings(const cotan_program *program);

/* The text of a program, formatted: only indentation and spaces change, neither comments, lines nor the meaning. The
 * result belongs to the context until the next call of this function. Fails when the text has syntax errors. */
cotan_error *cotan_format(cotan_context *context, const char *name, const char *text, size_t length, const char **out,
                          size_t *out_length);

/* ---- types and values ----
 *
 * A value of any first-order type is a tree of cotan_values: numbers, strings, tuples, lists, arrays, maps, and
 * constructions by a constructor's name. Such values are not bound to a context, and may be made and read by any
 * thread. Trees that a program takes are nested at most COTAN_DEEPEST levels; a list, array or map of any length is one
 * level. */

typedef enum cotan_kind {
    COTAN_KIND_DOUBLE,
    COTAN_KIND_FLOAT, /* of types only: the value is a double */
    COTAN_KIND_INT,
    COTAN_KIND_BOOL,
    COTAN_KIND_CHAR,
    COTAN_KIND_STRING, /* [Char] */
    COTAN_KIND_TUPLE,  /* () has no parts */
    COTAN_KIND_LIST,
    COTAN_KIND_ARRAY,
    COTAN_KIND_MAP, /* of Data.Map; the parts of a value: key, value, key, value … */
    COTAN_KIND_SET, /* of Data.Set */
    COTAN_KIND_DATA,
    COTAN_KIND_FUNCTION, /* of types only */
    COTAN_KIND_INTEGER,  /* of any size: its text is its decimal digits, behind a minus sign perhaps */
} cotan_kind;

/* A type. Recursive types are cyclic. */
typedef struct cotan_type cotan_type;
typedef struct cotan_constructor {
    const char *name;
    size_t count;
    const cotan_type *const *types; /* of the fields */
    const char *const *names;       /* of the fields; NULL: they have none */
} cotan_constructor;
struct cotan_type {
    cotan_kind kind;
    const char *name;                      /* as the language writes it: "Tree Double" */
    size_t count;                          /* of parts: */
    const cotan_type *const *parts;        /* TUPLE: components; LIST, ARRAY, SET: the element; MAP: key, value */
    size_t constructor_count;              /* DATA */
    const cotan_constructor *constructors; /* DATA */
    bool own_order; /* DATA: the program says how to compare its values, other than `deriving Ord` would */
};

enum { COTAN_DEEPEST = 2000 };

typedef struct cotan_value cotan_value;

/* Values are made from the parts upwards. Each function gives a new value, which owns its parts: they are taken, also
 * when the result is NULL, for lack of memory, since a part is NULL, or since it would be nested too deeply. So only
 * the last result need be compared with NULL. Texts are copied; a string is UTF-8 (an invalid byte counts as a
 * character). */
cotan_value *cotan_value_double(double number);
cotan_value *cotan_value_int(int64_t number);
cotan_value *cotan_value_integer(const char *digits,
                                 size_t length); /* of any size, for an Integer; an INT is one, too */
cotan_value *cotan_value_bool(bool truth);
cotan_value *cotan_value_char(uint32_t code_point);
cotan_value *cotan_value_string(const char *text, size_t length);
/* TUPLE, LIST, ARRAY, SET or MAP of parts. The elements of a set and the keys of a map may come in any order, but none
 * twice. */
cotan_value *cotan_value_of(cotan_kind kind, cotan_value *const *parts, size_t count);
/* An array of numbers, or of arrays of numbers, and so on. Only the numbers' address is kept: they have to live as long
 * as the value. Numbers lie as those of a cotan_buffer do. */
enum { COTAN_MOST_DIMENSIONS = 8 };
/* What a buffer holds: the first two doubles (a FLOAT one that a Float can be), the others int64_t. A TAG is the number
 * of a constructor, from 0. */
typedef enum cotan_element { COTAN_DOUBLE, COTAN_FLOAT, COTAN_INT, COTAN_BOOL, COTAN_CHAR, COTAN_TAG } cotan_element;
cotan_value *cotan_value_numbers(cotan_element element, const void *data, unsigned rank, const size_t *size);
/* A construction: the fields in the order of the data declaration. */
cotan_value *cotan_value_data(const char *constructor, cotan_value *const *fields, size_t count);
/* A value of the caller's own, numbers included. NULL as above. */
cotan_value *cotan_value_copy(const cotan_value *value);
/* Frees a value that the caller has made; results belong to their function. NULL is allowed. */
void cotan_value_free(cotan_value *value);

cotan_kind cotan_value_kind(const cotan_value *value);
double cotan_value_as_double(const cotan_value *value);   /* DOUBLE; of INT the nearest; else 0 */
int64_t cotan_value_as_int(const cotan_value *value);     /* INT, CHAR its code point, BOOL 0 or 1; else 0 */
const char *cotan_value_text(const cotan_value *value);   /* STRING, in UTF-8, with a NUL behind it; DATA: the
                                                             constructor's name; INTEGER: the digits; else NULL */
size_t cotan_value_text_length(const cotan_value *value); /* in bytes */
/* The parts: of a TUPLE, LIST, ARRAY, SET, MAP; the fields of DATA. An array of numbers has no parts, but numbers: then
 * as_numbers gives their address, rank and sizes, and otherwise NULL. */
size_t cotan_value_count(const cotan_value *value);
const cotan_value *cotan_value_part(const cotan_value *value, size_t index); /* NULL past the last */
const void *cotan_value_as_numbers(const cotan_value *value, cotan_element *element, unsigned *rank,
                                   const size_t **size);

/* What can be done with a function. */
typedef enum cotan_mode {
    COTAN_RUN,      /* args: JSON array of the arguments */
    COTAN_GRAD,     /* at */
    COTAN_VJP,      /* at, with = cotangent */
    COTAN_JVP,      /* at, with = tangent */
    COTAN_JACOBIAN, /* at */
    COTAN_HESSIAN,  /* at */
    COTAN_HVP,      /* at, with = direction: the Hessian times it */
} cotan_mode;

/* Files that results can be written to. */
typedef enum cotan_form {
    COTAN_NO_FILE,
    COTAN_NPY, /* RUN: the value, an array */
    COTAN_NPZ, /* RUN: the value's parts by their names; else the members `value` and `gradient`, `cotangent`, … */
} cotan_form;

typedef struct cotan_call {
    cotan_mode mode;
    const char *function;
    const char *expression; /* instead of function: an expression in the program's scope. RUN without `at` gives its
                               value; otherwise it is a function. Its text is called <input> in messages */
    const char *point;      /* with expression, instead of at: the point as an expression. GRAD, JACOBIAN and HESSIAN */
    const char
        *bind; /* RUN of an expression: a name for the value, in scope of what follows, such as "it". See is_unbound */
    /* An input is a JSON text, or the bytes of a .npy or .npz file, and then its length is given; 0 stands for strlen.
     */
    const char *at;   /* RUN: the arguments as an array, NULL for none; else the point */
    const char *with; /* VJP: cotangent, JVP: tangent, HVP: direction */
    size_t at_length, with_length;
    cotan_form form;    /* of the result's file */
    const char *method; /* NULL: the best */
    bool native; /* run as native code, where that can be; otherwise the evaluator runs, and not_native says why. The
                    best method is then `native`, and naming that one is asking for native code */
    uint64_t native_after; /* with `native`: the evaluator begins, and native code takes over after so many steps,
                              where that can be; 0: at once */
    bool count;            /* fill in span, primal_steps and primal_span too (runs the function once more) */
    bool quotes;           /* a String is shown as it is written, not as its characters */
    bool no_json, no_text; /* leave out value and derivative, or value_text and derivative_text: large ones take time */
    bool constructed; /* value_text and derivative_text are what the types' constructors and the library write, also
                         where the program has an instance of Show */
    const char *wrt;  /* GRAD of `function`: only with respect to these parameters, by their names in its first clause,
                         with commas between them. The derivative is the gradient for one of them, of several a tuple in
                         this order, in JSON an object by their names. NULL: with respect to all, and in other modes */
    int trap; /* 1: the evaluator runs this, and stops at the first operation that makes a NaN out of numbers that are
                 none, with the error E0515; of a derivative, the function is run before. 2: that makes an infinity,
                 too. 0: it does not */
    const char *prefix; /* of cotan_compile: what the names of all functions and types in C begin with; NULL: nothing */
} cotan_call;

typedef struct cotan_result {
    const char *value;                        /* JSON text of the value */
    const char *derivative;                   /* JSON text of gradient, cotangent, tangent, Jacobian…; NULL for RUN */
    const char *value_text, *derivative_text; /* the same as the language shows them; a String is its characters,
                                                 of which some may be NUL: so there are lengths */
    size_t value_text_length, derivative_text_length;
    const void *file; /* the bytes of the form that was asked for */
    size_t file_length;
    uint64_t steps, primal_steps, trace;
    uint64_t span, primal_span; /* with `count`: the steps on the longest path, where independent ones count once */
    bool has_trace;
    bool performed;     /* RUN: it is the value of an action, which was performed */
    bool checkpoints;   /* the run did not fit into the memory limit; it was repeated with loops that store few of
                           their steps for the reverse sweep, and run the others again */
    bool is_unbound;    /* with `bind`: nothing was bound to the name, since it is the value of an action, and too long
                           to be kept or of a type that is not: performing the action again might give another */
    size_t peak_memory; /* bytes of the last run */
    const char *not_native; /* why a call that asked for native code ran on the evaluator; NULL: it did not, or none was
                               asked for */
    const char *by_tape;    /* why native code has the derivatives of `tape` instead of `native`; NULL: it has not */
} cotan_result;

/* The cache of native code: its folder, NULL where there is none (the caller frees it), and what is in it.
 * Removing all of it gives the number of files that were removed. */
char *cotan_cache(uint64_t *files, uint64_t *bytes);
uint64_t cotan_cache_clear(void);

/* Runs. The result's strings belong to the program and live until the next call with it. */
cotan_error *cotan_call_json(cotan_program *program, const cotan_call *call, cotan_result *out);

/* The same on the evaluator, with where its steps and its time went: a tree of calls, nodes[0] its root. A node is a
 * function at a line of it; functions that transformations make have the name of theirs: `f.chad`. Steps are charged
 * where a function begins and before each element of a loop. Steps and seconds are without those of the nodes below.
 * The nodes belong to the program until the next call with it. */
typedef struct cotan_profile_node {
    const char *name, *file; /* file NULL: it has no place in a source */
    int line;
    size_t parent; /* an index less than its own; of the root 0 */
    uint64_t steps;
    double seconds;
} cotan_profile_node;
cotan_error *cotan_profile(cotan_program *program, const cotan_call *call, cotan_result *out,
                           const cotan_profile_node **nodes, size_t *count);

/* ---- functions ----
 *
 * A function, or a derivative of one, made once and called many times. It is called with values of any type
 * (cotan_apply_values), or with buffers (cotan_apply): one for each number and array of numbers in the type, from left
 * to right: a record of two arrays and a number has three. Where all that goes in and out has such buffers, native code
 * reads the caller's arrays where they lie, and gives results where it has them, both ways; otherwise, and by the
 * evaluator, they are copied. */

typedef struct cotan_slot { /* what is known of a buffer */
    const char *path;       /* where it is: "at[0].weights", "with", "value", "derivative[1]" */
    cotan_element element;
    unsigned rank; /* the number of dimensions; 0: one number */
} cotan_slot;

typedef struct cotan_buffer {
    void *data;                         /* row-major; a number is an array of one */
    size_t size[COTAN_MOST_DIMENSIONS]; /* as many as the rank */
} cotan_buffer;

typedef struct cotan_signature {
    const char *type;     /* of what runs: from all that goes in to all that comes out */
    const cotan_slot *in; /* the point, or the arguments (RUN); then what `with` is (VJP, JVP, HVP) */
    const cotan_slot
        *out; /* the value; then the derivative: all that the point has, what is no Double or Float being copied */
    size_t in_count, out_count;
    const char *not_native; /* why the evaluator runs it; NULL: it is native code */
    const char *no_buffers; /* what goes in or out and has no buffers; NULL: all has, and `in` and `out` list them */
    /* The types of what goes in: the point, or for RUN the argument, in both cases a TUPLE of several arguments, NULL
     * of a constant; what `with` is, or NULL; and of what comes out; derivative NULL for RUN. */
    const cotan_type *at_type, *with_type, *value_type, *derivative_type;
    size_t arity; /* the number of arguments in the source */
} cotan_signature;

typedef struct cotan_function cotan_function;

/* Makes a function of call->mode of call->function or call->expression by call->method; native code where call->native
 * is set and that can be. It fails when functions go in or out. It belongs to the program and lives until it is freed,
 * or until the program is; it is not changed by cotan_define, also where it is compiled anew because of other limits.
 */
cotan_error *cotan_function_make(cotan_program *program, const cotan_call *call, cotan_function **out);
void cotan_function_free(cotan_function *function);
/* Belongs to the function. */
const cotan_signature *cotan_function_signature(const cotan_function *function);

/* Calls it with values of these types, which are borrowed: `at` NULL for a constant or an action, `with` NULL except
 * for VJP, JVP and HVP. Integers are taken for Doubles. The results belong to the function and live until the next call
 * of it, which may have them as inputs; of what is not wanted, the pointer may be NULL. */
cotan_error *cotan_apply_values(cotan_function *function, const cotan_value *at, const cotan_value *with,
                                const cotan_value **value, const cotan_value **derivative);
/* The JSON text of such a value `at`, as the calls want it that take JSON; of RUN, too, it is one value and no array of
 * arguments. It belongs to the function until its next call. */
cotan_error *cotan_function_json(cotan_function *function, const cotan_value *at, const char **json);

/* Calls it with buffers; it fails where there are none: lists, data of several constructors, arrays in tuples in
 * arrays; and where they hold no value that a program can make, such as the Ratio 2/4. `in` is borrowed. `out`: where
 * data is NULL, it is set to memory of the function's, which the caller may change, and which stays until the end of
 * the next call; else the result is copied there, and must have the sizes that are given; that may be where an input
 * was. So results may be the inputs of the next call, and buffers that the last one has set may be left as they are:
 * they are set again. Sizes are set. A call that fails sets nothing; what the last one has set is NULL then. A native
 * function uses up to 256 KB of the caller's stack, and more of a stack of its own where it recurses deeply. */
cotan_error *cotan_apply(cotan_function *function, const cotan_buffer *in, cotan_buffer *out);

/* Reads inputs into buffers: `at`, the point (RUN: the argument, or the array of several), and `with` where there is a
 * second input, as texts or files, just as cotan_call_json takes them; messages call them `what`. `in` has room for
 * in_count buffers; their data belong to the function until the next call of this with it. */
cotan_error *cotan_function_read(cotan_function *function, const char *what, const char *at, size_t at_length,
                                 const char *with, size_t with_length, cotan_buffer *in);
/* Calls it, and gives the result as cotan_call_json does: as texts, and as a file of that form. They belong to the
 * program and live until the next call with it. */
cotan_error *cotan_apply_text(cotan_function *function, const cotan_buffer *in, cotan_form form, cotan_result *out);

/* The names of the parameters of a top-level function, one a line, as its first clause has them; a line is empty where
 * a parameter has no name of its own. */
cotan_error *cotan_parameters(cotan_program *program, const char *function, const char **out);

/* The same for JSON of other programs, in both directions. An object may have members that are no field of its record;
 * a field x' is the member "x" unless the record has a field x, too, and a field x is the member "X" where there is no
 * "x": so members can be read whose names are keywords, or begin with a capital. Reals are written with point or
 * exponent. What is in `in` belongs to the function until it reads again, the text until it writes again. */
cotan_error *cotan_function_read_foreign(cotan_function *function, const char *json, size_t length, cotan_buffer *in);
cotan_error *cotan_function_write_foreign(cotan_function *function, const cotan_buffer *out, const char **json);
/* The same with values, of functions that have no buffers, too: `at` (NULL for a constant) belongs to the function
 * until it reads again; `value` is one that cotan_apply_values gives. */
cotan_error *cotan_function_read_foreign_value(cotan_function *function, const char *json, size_t length,
                                               const cotan_value **at);
cotan_error *cotan_function_write_foreign_value(cotan_function *function, const cotan_value *value, const char **json);
/* How many seconds the last run of the function took, without the conversion of what goes in and out; 0 before any. */
double cotan_function_seconds(const cotan_function *function);

/* A function, call->function, as C for programs without this library, and by call->method its derivatives:
 * docs/native.md. The texts are those of STEM.c, which includes STEM.h, and of STEM.h; they belong to the program until
 * the next call with it. Derivatives by `bulk` are for points of the shape of call->at, and fail at others. The rest of
 * the call is ignored. */
enum { COTAN_WITH_GRAD = 1, COTAN_WITH_VJP = 2, COTAN_WITH_JVP = 4 };
cotan_error *cotan_compile(cotan_program *program, const cotan_call *call, unsigned derivatives, const char *stem,
                           const char **source, const char **header);

/* The types of the program's top-level names, or of one (`name` not NULL): "name :: type" lines. Here and below, a text
 * given by `out` belongs to the program until the next call with it. */
cotan_error *cotan_types(cotan_program *program, const char *name, const char **out);
/* The program's top-level functions and constants, in the order of the source; operators are left out. They belong to
 * the program until the next call with it. Types are those at which cotan_function_make takes them: a type variable of
 * a numeric class is Double. */
typedef struct cotan_definition {
    const char *name, *type;        /* the type as inferred: "[a] -> Int" */
    const char *comment;            /* the comment in the lines above it, without its marks; NULL: there is none */
    int line;                       /* of its signature, or else its definition */
    size_t count;                   /* of parameters */
    const cotan_type *const *types; /* of the parameters; NULL with result NULL: the types are ambiguous */
    const char *const *parameters;  /* their names in the definition's first clause; NULL for one that is a pattern */
    const cotan_type *result;
} cotan_definition;
cotan_error *cotan_definitions(cotan_program *program, const cotan_definition **out, size_t *count);
/* One function in Core (`name` NULL: all functions), after simplification. */
cotan_error *cotan_core(cotan_program *program, const char *name, const char **out);

/* Goes on where the program ends, as at a prompt. Text that is declarations (of functions, types, classes, instances,
 * fixities; imports; `let f x = …` too) is added: it sees what stands before it, hides what it names again, and is in
 * scope of all later calls; *types is then set to "name :: type" lines of what it defines. Text that is an expression
 * is left alone: *is_expression tells (evaluate it with cotan_call_json). On an error the program is as it was. */
cotan_error *cotan_define(cotan_program *program, const char *text, bool *is_expression, const char **types);
/* The most general type of an expression in the program's scope. */
cotan_error *cotan_type_of(cotan_program *program, const char *expression, const char **out);
/* What a name in scope means, the library's included, perhaps qualified: its type, or the declaration of a type or
 * class, and the comment above it; `all`: where it is defined, too. Lines of text. */
cotan_error *cotan_describe(cotan_program *program, const char *name, bool all, const char **out);
/* The names that begin with `prefix` (perhaps qualified) and are in scope, sorted, one a line: values, constructors,
 * types, classes, and the language's own words. */
cotan_error *cotan_names(cotan_program *program, const char *prefix, const char **out);
/* The modules whose names begin with `prefix` and that can be imported, sorted, one a line. */
cotan_error *cotan_modules(cotan_program *program, const char *prefix, const char **out);
/* The members of an archive, the bytes of a .npz file, which messages call `what`: "name :: type" lines; none of other
 * files. */
cotan_error *cotan_members(cotan_program *program, const char *what, const char *bytes, size_t length,
                           const char **out);
/* Sets other limits for all later calls; 0 means the default. */
void cotan_set_limits(cotan_context *context, const cotan_limits *limits);

/* The time of each pass on the way to a call by native code, with the size of the program behind it, as a table. The
 * text belongs to the program until the next call with it. */
cotan_error *cotan_times(cotan_program *program, const cotan_call *call, const char **out);
/* The program after a pass, on its way to a call: `simplify`, `differentiate`, …, `lower`, `flow`, `c`; or after one of
 * those over Flow, `fuse` or `flow.fuse`, the last time that it runs; `fuse.1` is the first. */
cotan_error *cotan_dump(cotan_program *program, const cotan_call *call, const char *pass, const char **out);

/* How a method (call->method, NULL: the best) differentiates call->function, stage by stage: the function, what becomes
 * of its types and of itself, the wrapper; and, where a point is given (call->at), the run: the dual numbers, what the
 * forward pass leaves, the cotangents that come back, the derivative. call->with is the cotangent of the result, of a
 * forward method the tangent; NULL stands for ones. Of `native`, the stages are those on the way to C, and there is no
 * run. The page is HTML in one file; its graph is drawn by the program
 * `dot` of Graphviz, and where that is missing, the page says so. The text belongs to the program until the next call
 * with it. */
typedef enum cotan_page { COTAN_PLAIN, COTAN_COLOURED, COTAN_HTML } cotan_page;
cotan_error *cotan_stages(cotan_program *program, const cotan_call *call, cotan_page form, const char **out);

/* An estimate of the rounding error of call->function at call->at, to first order: the sum of |adjoint · value| · ε
 * over the operations of the run on numbers that depend on the point, where ε is half a unit in the last place for the
 * operations of IEEE 754 (2⁻⁵³ for Doubles, 2⁻²⁴ for Floats) and a whole one for others of Doubles. Operations that do
 * not round, such as abs, have none. call->with is the cotangent of the result, NULL stands for ones. What a function
 * with a rule for its derivative computes by itself counts as exact. */
typedef struct cotan_sensitivity_row {
    const char *file;
    int line, column; /* of the operation; 0 if it has no place in a source */
    const char *operation;
    uint64_t times;      /* how often it was executed */
    double error, share; /* share: of the total */
} cotan_sensitivity_row;
typedef struct cotan_sensitivity_result {
    const cotan_sensitivity_row
        *rows; /* the largest errors first; they belong to the program until the next call with it */
    size_t count;
    const char *value, *json; /* of the function, as Cotan shows it and as JSON */
    double size;              /* the sum of |cotangent · number| over the numbers of the result */
    double error;             /* the sum of the rows */
    double point;             /* not included: what rounding the numbers of the point would cause */
} cotan_sensitivity_result;
cotan_error *cotan_sensitivity(cotan_program *program, const cotan_call *call, cotan_sensitivity_result *out);

/* Compares the derivatives of call->function at call->at (by call->method; the rest of the call is ignored) with finite
 * differences, and with each other: each number of a tangent must be the slope of the function to 1e-6, relatively
 * (1e-2 among Floats); and where the result has several, each row of the Jacobian is compared with J·dx. Nothing stands
 * in for the method `native`, if that is asked for: where it cannot be, that is the error E0707. */
typedef struct cotan_check_row {
    const char *what;
    double derivative, expected; /* where they differ most */
    double difference;           /* relative to the larger of the two, or to what rounding allows */
    bool agrees;
} cotan_check_row;
/* A place where the program gives a rule for the derivative of a function (withVjp, withJvp). */
typedef struct cotan_check_rule {
    const char *file;
    int line, column;
    bool is_wrong; /* the derivative that disagrees agrees if the function is differentiated as it is written, without
                      this rule */
} cotan_check_rule;
typedef struct cotan_check_result {
    const cotan_check_row *rows; /* belong to the program until the next call with it, as the rules do */
    size_t count;
    const cotan_check_rule *rules; /* those that call->function uses: where it disagrees, one of them may be wrong */
    size_t rule_count;
    bool agrees;
    bool derivative_fails; /* of an error: the function itself gives a value at the point, and a derivative of it fails
                            */
} cotan_check_result;
cotan_error *cotan_check(cotan_program *program, const cotan_call *call, cotan_check_result *out);

/* The outcome of a method, compared with the others. */
typedef enum cotan_outcome {
    COTAN_AGREES,  /* or fails just as the function itself does */
    COTAN_DIFFERS, /* in numbers or structure; or gives a derivative where the function fails */
    COTAN_FAILS,   /* where the function does not, or otherwise than it does */
    COTAN_STOPPED, /* not compared: at a limit of steps; or of `native`, where something else ran */
} cotan_outcome;

typedef struct cotan_compare_row {
    const char *method; /* NULL: the function alone */
    cotan_outcome outcome;
    cotan_result result; /* with its counts; with an error only steps, peak_memory, and why it is not `native` */
    /* The largest relative differences: of the value from the function's own, of the derivative from the reference's;
     * infinite when the structure differs. */
    double value_difference, difference;
    /* Of what is compared further: the outcome, the largest relative difference, and where that is. A method that
     * is stopped counts neither for agreement nor against it. */
    cotan_outcome further;
    double further_difference;
    size_t further_row, further_column; /* of a matrix; of products, the vector and the number of the product */
    double further_found, further_expected;
    const char *error_code, *error_message, *error_file; /* error_code NULL: none; error_file NULL: it has no place */
    int error_line, error_column;
    bool error_is_further; /* it was met in what is compared further */
} cotan_compare_row;

typedef struct cotan_compare_result {
    cotan_compare_row function;
    const cotan_compare_row *rows; /* these and all strings belong to the program until the next call with it */
    size_t count, reference;       /* of the row whose derivative the others are held against; `count`: there is none */
    cotan_mode mode;               /* what was asked of the methods */
    /* What was then asked of those that agree: HESSIAN where the result is a Double, otherwise JACOBIAN; where that is
     * too large, HVP, or VJP and JVP, with as many vectors as there are rows, of each; RUN: nothing */
    cotan_mode further;
    size_t further_rows, further_columns;
    size_t further_reference; /* of the row whose numbers the others are held against there */
    bool agrees;              /* no row differs or fails */
} cotan_compare_result;

/* Runs the function call->function and its derivative at call->at by several methods (NULL: by all). The derivative is
 * the gradient, GRAD, where the result is a Double; otherwise, or when call->with is given, the VJP of that cotangent,
 * which is made of ones if it is not given. Methods that agree on it are then held against each other by all of the
 * Jacobian, or of the Hessian where the result is a Double; of one that has more than 100,000 numbers or takes more
 * than 2,000,000 steps by its products with three vectors. The reference is tape if it is there, or else the first, of
 * those that have a derivative. All methods are stopped at the context's limit of steps; if it has none, those that may
 * take exponentially long are, after a thousand times the function's steps and 100,000 more. It is an error when the
 * function fails and all methods fail alike, and when all methods are stopped. Of call, no_json and no_text are looked
 * at too. */
cotan_error *cotan_compare(cotan_program *program, const cotan_call *call, const char *const *methods, size_t count,
                           cotan_compare_result *out);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
