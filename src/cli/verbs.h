/* The verbs of the command, each in a file of its name; `show.c` and `tell.c` hold those that are a line each. */
#ifndef CT_CLI_VERBS_H
#define CT_CLI_VERBS_H

#include "cli/cli.h"

int verb_run(const Options *options);
int verb_grad(const Options *options);
int verb_vjp(const Options *options);
int verb_jvp(const Options *options);
int verb_jacobian(const Options *options);
int verb_check(const Options *options);
int verb_compile(const Options *options);
int verb_compare(const Options *options);
int verb_type(const Options *options);
int verb_core(const Options *options);
int verb_repl(const Options *options);
int verb_fmt(const Options *options);
int verb_cache(const Options *options);
int verb_methods(const Options *options);
int verb_explain(const Options *options);
int verb_help(const Options *options);
int verb_version(const Options *options);

#endif
