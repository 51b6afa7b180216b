/* help.c: an overview, the help of one command, or the manual page. */
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/say.h"

static int help_run(const struct args *args)
{
    const struct program *program = args->program;
    if (arg(args, "man")->given) {
        return help_manual(program);
    }
    if (args->operands == 0) {
        return help_overview(program, false);
    }
    if (args->operands == 2) {
        if (strcmp(args->operand[0], "app") != 0) {
            return say_error(NULL, "help", "one word too many: %s", args->operand[1]);
        }
        const struct command *app = app_find(program, args->operand[1]);
        return app == NULL ? app_unknown(program, "help", args->operand[1]) : help_command(app);
    }
    const struct command *command = command_find(program, args->operand[0]);
    return command == NULL ? command_unknown(program, "help", args->operand[0])
                           : help_command(command);
}

static const char *command_words(const struct program *program, size_t n)
{
    for (const struct command *const *c = program->commands; *c != NULL; c++) {
        if (n-- == 0) {
            return (*c)->name;
        }
    }
    return NULL;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    FLAG(0, "man", "Print the manual page, in roff: tepal help --man | man -l -"), OPTION_HELP,
    OPTIONS_END};
static const struct example examples[] = {{"tepal help query", "The same as tepal query --help."},
                                          {"tepal help --man | man -l -", "The manual page."},
                                          {NULL, NULL}};

const struct command command_help = {.name = "help",
                                     .synopsis = "[COMMAND | app NAME]",
                                     .summary = "Explain the command or one of its subcommands.",
                                     .about = "Without COMMAND, an overview.",
                                     .options = options,
                                     .words = command_words,
                                     .most_operands = 2,
                                     .examples = examples,
                                     .run = help_run};
