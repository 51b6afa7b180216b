/* model.c: the formulas, asked from the command line; one file a model, model_KIND.c. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "commands/model/models.h"
#include "output/out.h"
#include "output/render.h"
#include "cli/say.h"
#include "cli/suggest.h"

static const struct model *const table[] = {
    &model_bloom,     &model_partitioned, &model_blocked,  &model_paired,
    &model_retouched, &model_generalized, &model_counting, &model_fingerprint,
    &model_yesno,     &model_recycling,   &model_cascade,
};

#define MODELS (sizeof table / sizeof *table)

const char *model_word(size_t n)
{
    return n < MODELS ? table[n]->name : NULL;
}

static const struct model *find(const struct args *args)
{
    const char *name = args->operand[0];
    struct suggest near = {.word = name};
    char hint[96];
    for (size_t i = 0; i < MODELS; i++) {
        if (strcmp(table[i]->name, name) == 0) {
            return table[i];
        }
        suggest_offer(&near, table[i]->name);
    }
    say_error(NULL, args->command->name, "unknown model %s%s", name,
              suggest_text(&near, "", hint, sizeof hint));
    return NULL;
}

static int print(const struct args *args, const struct model *model,
                 const struct tepal_report *report)
{
    struct out *out = out_open(STDOUT_FILENO);
    int code = EXIT_YES;
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    if (args->option[OPT_JSON].given) {
        json_t *object = json_object();
        json_object_set_new(object, "model", json_string(model->name));
        render_report(object, report);
        code = render_json(out, object);
    } else {
        render_text(out, report, true);
    }
    return out_close(out, code);
}

static bool listed(const enum option_id *list, enum option_id id)
{
    for (; *list != OPT_END; list++) {
        if (*list == id) {
            return true;
        }
    }
    return false;
}

/* An option that belongs to other models only. */
static bool is_foreign(const struct model *model, enum option_id id)
{
    for (size_t i = 0; i < MODELS; i++) {
        if (listed(table[i]->options, id)) {
            return !listed(model->options, id);
        }
    }
    return false;
}

int model_run(const struct args *args)
{
    const struct model *model = find(args);
    struct tepal_report report = {.count = 0};
    if (model == NULL) {
        return EXIT_TROUBLE;
    }
    for (int id = OPT_END + 1; id < OPTIONS; id++) {
        if (args->option[id].given && is_foreign(model, (enum option_id)id)) {
            return say_error(NULL, args->command->name, "--%s is not an option of the model %s",
                             options[id].name, model->name);
        }
    }
    static const enum option_id sizes[][4] = {{OPT_FP, OPT_BITS}, {0}};
    if (args_exclusive(args, model->exclusive != NULL ? model->exclusive : sizes) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = model->report(args, model->layout, &report);
    return code == EXIT_YES ? print(args, model, &report) : code;
}
