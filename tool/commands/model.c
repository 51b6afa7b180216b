/* model.c: the formulas, asked from the command line; one file a model, model_KIND.c. */
#include <string.h>

#include "cli/command.h"
#include "commands/model/models.h"
#include "output/report.h"
#include "cli/suggest.h"
#include "cli/options.h"
#include "commands/build/recipe.h"
#include "commands/build/kind_options.h"

static const struct model *const table[] = {
    &model_bloom,       &model_partitioned, &model_blocked,     &model_paired, &model_retouched,
    &model_generalized, &model_counting,    &model_fingerprint, &model_yesno,  &model_recycling,
    &model_cascade,     &model_growing,     &model_chain,
};

#define MODELS (sizeof table / sizeof *table)

static const char *model_words(const struct program *program, size_t n)
{
    (void)program;
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
    args_wrong(args, "unknown model %s%s", name, suggest_text(&near, "", hint, sizeof hint));
    return NULL;
}

static int print(const struct args *args, const struct model *model,
                 const struct tepal_report *quantities)
{
    struct report r = report_open(args);
    report_object(&r, NULL);
    report_text(&r, "model", model->name, JSON_ONLY);
    report_quantities(&r, quantities, true);
    report_end(&r);
    return report_close(&r, EXIT_YES);
}

/* An option of this model, or of none: one that all models take. */
static bool fits(const void *context, const char *name)
{
    const struct model *model = context;
    bool others = false;
    for (size_t i = 0; i < MODELS; i++) {
        others |= args_listed(table[i]->options, name);
    }
    return !others || args_listed(model->options, name);
}

static int model_run(const struct args *args)
{
    const struct model *model = find(args);
    struct tepal_report report = {.count = 0};
    if (model == NULL) {
        return EXIT_TROUBLE;
    }
    const char *foreign = args_misfit(args, fits, model);
    if (foreign != NULL) {
        return args_wrong(args, "--%s is not an option of the model %s", foreign, model->name);
    }
    static const char *const sizes[][4] = {{"fp", "bits"}, {NULL}};
    if (args_exclusive(args, model->exclusive != NULL ? model->exclusive : sizes) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.layout = model->layout;
    arg_layout(args, &p.layout);
    arg_positions(args, &p.positions);
    p.cells = arg(args, "bits")->whole;
    p.hashes = (uint32_t)arg(args, "hashes")->whole;
    int code = model->report(args, arg(args, "keys")->whole, &p, &report);
    return code == EXIT_YES ? print(args, model, &report) : code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION('n', "keys", OF_WHOLE("N", 0, UINT64_MAX), "The number of keys."),
    OPTION_BITS,
    OPTION_FP,
    OPTION_HASHES,
    OPTION('l', "layout", OF_CHOICE("LAYOUT", LAYOUT_WORDS),
           "The layout, if not the one that the model is named after."),
    OPTION_POSITIONS,
    OPTION_UNIVERSE,
    OPTION_BETA,
    OPTION_MODEL_CLEAR_BITS,
    GENERALIZED_BUILD,
    COUNTING_MODEL,
    OPTION_PRINT_BITS,
    OPTION_FIRST,
    OPTION_GROWTH,
    OPTION_SERIES,
    YESNO_MODEL,
    RECYCLING_MODEL,
    OPTION_JSON,
    OPTION_HELP,
    OPTIONS_END};
static const struct example examples[] = {
    {"tepal model bloom --keys 1M --bits 10M", "The error rate of ten bits per key."},
    {"tepal model blocked --keys 1M --fp 1%", "The size for 1 % with one cache line per lookup."},
    {"tepal model yesno --keys 30 --negatives 100 --bits 256", "The best division of 256 bits."},
    {"tepal model cascade --keys 20k --negatives 100k", "The smallest cascade."},
    {"tepal model retouched --keys 10k --bits 100k --hashes 5 --universe 2M --beta 10%",
     "The cost of removing a tenth of the false positives."},
    {"tepal model generalized --keys 256 --bits 64Ki --reset-hashes 2 --set-hashes 2 --zeros 1",
     "Both error rates, and bounds that hold whatever bits the filter has."},
    {"tepal model growing --keys 1G --first 1M", "A filter that grows a thousandfold."},
    {"tepal model recycling --bits 100k --fp 1%", "An endless stream: when to recycle?"},
    {"tepal model counting --keys 10k --cells 160k --hashes 11 --choices 8",
     "The effect of a wrong removal, with eight choices."},
    {NULL, NULL}};

const struct command command_model = {
    .name = "model",
    .synopsis = "NAME --keys N (--bits M | --fp RATE | --cells M) [--hashes K]",
    .summary = "Predict error rates and sizes without building a filter.",
    .about =
        "NAME is one of\n\n"
        "bloom (the flat layout), partitioned, blocked, paired: a Bloom filter. --fp finds the "
        "smallest size, here and below unless stated otherwise.\n\n"
        "retouched: the cost of removing false positives at random, the baseline for the methods "
        "of retouch.\n\n"
        "generalized: a filter with bounded errors.\n\n"
        "counting: the damage of removing keys that were never added, with c choices.\n\n"
        "fingerprint: a cuckoo filter, from which keys can be removed.\n\n"
        "growing: a fingerprint filter that has grown from --first keys to --keys.\n\n"
        "chain: Bloom filters in a row that have grown from --first keys to --keys.\n\n"
        "yesno: the false positives left of --negatives known ones, with the best division of "
        "--bits.\n\n"
        "cascade: the size without errors on the known keys (with --bits or --fp: fewer errors on "
        "unknown keys, too).\n\n"
        "recycling: the average error rate of a filter that starts over when more than --sigma of "
        "its --bits bits are set (with --fp: the largest such number), or by --rule average. With "
        "--gaps or --stream: both error rates on a stream that repeats itself.",
    .options = options,
    .words = model_words,
    .least_operands = 1,
    .most_operands = 1,
    .operand_name = "the name of a model is",
    .examples = examples,
    .run = model_run};
