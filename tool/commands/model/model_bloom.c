/* model_bloom.c: the Bloom filter's model, on each of its layouts. */
#include <tepal/papers.h>

#include "commands/model/models.h"

int model_need_bloom(const struct args *args)
{
    if (!arg(args, "keys")->given) {
        return args_wrong(args, "--keys N is needed");
    }
    if (!arg(args, "bits")->given && !arg(args, "fp")->given) {
        return args_wrong(args, "--bits M or --fp RATE is needed");
    }
    return EXIT_YES;
}

int model_solve_bloom(const struct args *args, struct tepal_params *p, uint64_t keys)
{
    if (!arg(args, "fp")->given) {
        return EXIT_YES;
    }
    if (keys == 0) {
        return args_wrong(args, "--fp needs at least one key: --keys is 0");
    }
    enum tepal_status status = tepal_bloom_size(p->layout, p->positions, keys,
                                                arg(args, "fp")->real, &p->cells, &p->hashes);
    if (status == TEPAL_TOO_LARGE) {
        return args_wrong(args,
                          "no size up to 2^60 bits holds this many keys at this rate with the %s "
                          "layout",
                          tepal_layout_name(p->layout));
    }
    return args_status(args, status, NULL);
}

static int bloom_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                        struct tepal_report *report)
{
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_error error = {.why = ""};
    if (model_need_bloom(args) != EXIT_YES || model_solve_bloom(args, p, keys) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    use.keys = keys;
    enum tepal_status status = tepal_model(p, &use, report, &error);
    return args_status(args, status, error.why);
}

static const char *const of_bloom[] = {"keys", "bits", "fp", "hashes", "layout", "positions", NULL};

const struct model model_bloom = {"bloom", TEPAL_LAYOUT_FLAT, of_bloom, bloom_report, NULL};
const struct model model_partitioned = {"partitioned", TEPAL_LAYOUT_PARTITIONED, of_bloom,
                                        bloom_report, NULL};
const struct model model_blocked = {"blocked", TEPAL_LAYOUT_BLOCKED, of_bloom, bloom_report, NULL};
const struct model model_paired = {"paired", TEPAL_LAYOUT_PAIRED, of_bloom, bloom_report, NULL};
