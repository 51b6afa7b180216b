/* app.c: the list of applications. Which one is run, and with which options, main decides. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "output/out.h"
#include "cli/options.h"

/* Steps of applications come after their names. */
static const char *app_words(const struct program *program, size_t n)
{
    for (const struct command *const *app = program->apps; *app != NULL; app++) {
        if (strchr(command_word(*app), ' ') == NULL && n-- == 0) {
            return command_word(*app);
        }
    }
    return NULL;
}

static int app_run(const struct args *args)
{
    struct out *out = out_open(STDOUT_FILENO);
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    for (const struct command *const *app = args->program->apps; *app != NULL; app++) {
        out_format(out, "%-16s %s\n", command_word(*app), (*app)->summary);
    }
    return out_close(out, EXIT_YES);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {OPTION_HELP, OPTIONS_END};
static const struct example examples[] = {{"tepal app", "List the applications."},
                                          {"tepal app stopset --help", "Explain stopset."},
                                          {NULL, NULL}};

const struct command command_app = {
    .name = "app",
    .synopsis = "[NAME [OPTIONS] [FILES]]",
    .summary = "Run an application; without a name, list them.",
    .about = "Each application uses filters on data of one field and measures the effect. `tepal "
             "app NAME --help` explains one.",
    .options = options,
    .words = app_words,
    .examples = examples,
    .run = app_run};
