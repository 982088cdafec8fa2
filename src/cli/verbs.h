/* The verbs of the command. Each verb has a file of its name, except those in show.c (type, core) and in tell.c
 * (methods, help, version). */
#ifndef CT_CLI_VERBS_H
#define CT_CLI_VERBS_H

#include "cli/cli.h"

int cli_verb_run(const Options *options);
int cli_verb_grad(const Options *options);
int cli_verb_vjp(const Options *options);
int cli_verb_jvp(const Options *options);
int cli_verb_jacobian(const Options *options);
int cli_verb_check(const Options *options);
int cli_verb_compile(const Options *options);
int cli_verb_compare(const Options *options);
int cli_verb_type(const Options *options);
int cli_verb_core(const Options *options);
int cli_verb_stub(const Options *options);
int cli_verb_repl(const Options *options);
int cli_verb_fmt(const Options *options);
int cli_verb_cache(const Options *options);
int cli_verb_gradbench(const Options *options);
int cli_verb_methods(const Options *options);
int cli_verb_fit(const Options *options);
int cli_verb_explain(const Options *options);
int cli_verb_help(const Options *options);
int cli_verb_version(const Options *options);

#endif
