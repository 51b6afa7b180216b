/* help.c: an overview, the help of one command, or the manual page. */
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"

static int help_run(const struct args *args)
{
    const struct program *program = args->program;
    if (arg(args, "man")->given) {
        return help_manual(program);
    }
    if (args->operands == 0) {
        return help_overview(program, false);
    }
    bool app = args->operands > 1;
    if (app && strcmp(args->operand[0], "app") != 0) {
        return say_error(NULL, "help", "unexpected argument: %s", args->operand[1]);
    }
    int named = 1;
    int words = (int)args->operands - 1;
    const char *word = args->operand[app ? 1 : 0];
    const struct command *c = app ? command_find_app(program, args->operand + 1, words, &named)
                                  : command_find(program->commands, word);
    if (c != NULL && app && named < words) {
        return say_error(NULL, "help", "unexpected argument: %s", args->operand[1 + named]);
    }
    return c == NULL ? command_unknown(program, app, "help", word) : help_command(c);
}

static const char *command_words(const struct program *program, size_t n)
{
    return command_nth_word(program->commands, n);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {FLAG(0, "man", "Print the manual page, in roff."),
                                        OPTION_HELP, OPTIONS_END};
static const struct example examples[] = {{"tepal help query", "The same as tepal query --help."},
                                          {"tepal help --man | man -l -", "Read the manual page."},
                                          {NULL, NULL}};

const struct command command_help = {.name = "help",
                                     .synopsis = "[COMMAND | app NAME [STEP]]",
                                     .summary = "Show help for tepal or for one command.",
                                     .about = "Without COMMAND, prints an overview.",
                                     .options = options,
                                     .words = command_words,
                                     .most_operands = 3,
                                     .examples = examples,
                                     .run = help_run};
