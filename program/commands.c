/*
 * commands.c: the list of subcommands and of applications, in the order of the help. A new one is a
 * file that ends with its struct command, and a line here.
 */
#include "commands.h"

/* clang-format off */
#define COMMANDS(X) \
    X(command_build) \
    X(command_query) \
    X(command_add) \
    X(command_remove) \
    X(command_merge) \
    X(command_info) \
    X(command_verify) \
    X(command_convert) \
    X(command_retouch) \
    X(command_veto) \
    X(command_avoid) \
    X(command_receive) \
    X(command_split) \
    X(command_push) \
    X(command_pull) \
    X(command_ask) \
    X(command_audit) \
    X(command_repair) \
    X(command_diff) \
    X(command_plan) \
    X(command_measure) \
    X(command_compare) \
    X(command_model) \
    X(command_dedup) \
    X(command_gaps) \
    X(command_app) \
    X(command_lab) \
    X(command_demo) \
    X(command_kinds) \
    X(command_completion) \
    X(command_help)

#define APPS(X) \
    X(app_stopset) \
    X(app_stopset_learn) \
    X(app_stopset_combine) \
    X(app_stopset_trace) \
    X(app_route) \
    X(app_forward) \
    X(app_flows) \
    X(app_digest) \
    X(app_traceback) \
    X(app_peers) \
    X(app_admit)
/* clang-format on */

#define DECLARE(name) extern const struct command name;
#define POINTER(name) &name,

COMMANDS(DECLARE)
APPS(DECLARE)

static const struct command *const commands[] = {COMMANDS(POINTER) NULL};
static const struct command *const apps[] = {APPS(POINTER) NULL};

const struct program tepal_program = {commands, apps};
