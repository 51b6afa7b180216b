/* model.c: the formulas, asked from the command line. One line of the table a model. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include <tepal/model.h>

#include "command.h"
#include "out.h"
#include "render.h"
#include "say.h"
#include "suggest.h"

struct model {
    const char *name;
    enum tepal_layout layout;
    int (*report)(const struct args *args, enum tepal_layout layout, struct tepal_report *report);
};

/* ---- bloom ---------------------------------------------------------------------------------- */

static int solve(const struct args *args, struct tepal_params *p, uint64_t keys)
{
    const char *name = args->command->name;
    if (keys == 0) {
        return say_error(NULL, name, "--fp needs at least one key: --keys is 0");
    }
    enum tepal_status status = tepal_bloom_size(p->layout, p->positions, keys,
                                                args->option[OPT_FP].real, &p->cells, &p->hashes);
    if (status == TEPAL_TOO_LARGE) {
        return say_error(NULL, name,
                         "no size up to 2^60 bits keeps so many keys at this rate with the %s "
                         "layout",
                         tepal_layout_name(p->layout));
    }
    return status == TEPAL_OK ? EXIT_YES
                              : say_error(NULL, name, "%s", tepal_status_message(status));
}

static int bloom_report(const struct args *args, enum tepal_layout layout,
                        struct tepal_report *report)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    uint64_t keys = args->option[OPT_KEYS].whole;
    const char *why = "";
    p.layout = layout;
    p.hashes = (uint32_t)args->option[OPT_HASHES].whole;
    p.cells = args->option[OPT_BITS].whole;
    if (args->option[OPT_MODEL_LAYOUT].given) {
        tepal_layout_parse(args->option[OPT_MODEL_LAYOUT].text, &p.layout);
    }
    if (args->option[OPT_POSITIONS].given) {
        tepal_positions_parse(args->option[OPT_POSITIONS].text, &p.positions);
    }
    if (args->option[OPT_FP].given && solve(args, &p, keys) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status = tepal_model_bloom(&p, keys, report, &why);
    return status == TEPAL_OK ? EXIT_YES : say_error(NULL, args->command->name, "%s", why);
}

/* ---- retouched ------------------------------------------------------------------------------ */

static int retouched_report(const struct args *args, enum tepal_layout layout,
                            struct tepal_report *report)
{
    const struct option_value *option = args->option;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    uint64_t keys = option[OPT_KEYS].whole;
    const char *why = "";
    p.kind = TEPAL_KIND_RETOUCHED;
    p.layout = layout;
    p.hashes = (uint32_t)option[OPT_HASHES].whole;
    p.cells = option[OPT_BITS].whole;
    if (!option[OPT_UNIVERSE].given) {
        return say_error(NULL, args->command->name, "retouched: --universe N is needed");
    }
    if (option[OPT_UNIVERSE].whole <= keys) {
        return say_error(NULL, args->command->name,
                         "--universe %s: too small: it must hold more than the members",
                         option[OPT_UNIVERSE].text);
    }
    if (option[OPT_MODEL_LAYOUT].given || option[OPT_POSITIONS].given) {
        return say_error(NULL, args->command->name,
                         "retouched: the formulas are those of the flat layout with colliding "
                         "positions");
    }
    if (option[OPT_FP].given && solve(args, &p, keys) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status = tepal_model_retouched(
        &p, keys, option[OPT_UNIVERSE].whole, option[OPT_BETA].given ? option[OPT_BETA].real : 1,
        option[OPT_MODEL_CLEAR_BITS].whole, report, &why);
    return status == TEPAL_OK ? EXIT_YES : say_error(NULL, args->command->name, "%s", why);
}

/* ---- the table ------------------------------------------------------------------------------ */

static const struct model table[] = {
    {"bloom", TEPAL_LAYOUT_FLAT, bloom_report},
    {"partitioned", TEPAL_LAYOUT_PARTITIONED, bloom_report},
    {"blocked", TEPAL_LAYOUT_BLOCKED, bloom_report},
    {"paired", TEPAL_LAYOUT_PAIRED, bloom_report},
    {"retouched", TEPAL_LAYOUT_FLAT, retouched_report},
};

#define MODELS (sizeof table / sizeof *table)

const char *model_word(size_t n)
{
    return n < MODELS ? table[n].name : NULL;
}

static const struct model *find(const struct args *args)
{
    const char *name = args->operand[0];
    struct suggest near = {.word = name};
    char hint[96];
    for (size_t i = 0; i < MODELS; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return &table[i];
        }
        suggest_offer(&near, table[i].name);
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

int model_run(const struct args *args)
{
    const struct model *model = find(args);
    struct tepal_report report = {.count = 0};
    if (model == NULL) {
        return EXIT_TROUBLE;
    }
    if (!args->option[OPT_BITS].given && !args->option[OPT_FP].given) {
        return say_error(NULL, args->command->name, "--bits M or --fp RATE is needed");
    }
    static const enum option_id of_retouched[] = {OPT_UNIVERSE, OPT_BETA, OPT_MODEL_CLEAR_BITS};
    for (size_t i = 0; i < 3 && model->report != retouched_report; i++) {
        if (args->option[of_retouched[i]].given) {
            return say_error(NULL, args->command->name, "--%s is not an option of the model %s",
                             options[of_retouched[i]].name, model->name);
        }
    }
    int code = model->report(args, model->layout, &report);
    return code == EXIT_YES ? print(args, model, &report) : code;
}
