/* model_fingerprint.c: what a fingerprint filter does, and which one a rate needs. */
#include <inttypes.h>

#include <tepal/model.h>

#include "commands/model/models.h"
#include "cli/say.h"

/* --fp and --bits, into cells and the bits of a fingerprint. */
static int solve(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    const struct option_value *option = args->option;
    const char *name = args->command->name;
    uint32_t bits = (uint32_t)option[OPT_PRINT_BITS].whole;
    if (option[OPT_FP].given) {
        enum tepal_status status =
            tepal_fingerprint_size(keys, option[OPT_FP].real, &p->cells, &bits);
        if (status != TEPAL_OK) {
            return say_error(NULL, name, "no fingerprint filter keeps so many keys at this rate");
        }
    } else if (bits != 0) {
        p->cells = option[OPT_BITS].whole / (8 * bits) * (8 * bits);
    } else if (tepal_fingerprint_fit(keys, (double)option[OPT_BITS].whole / (double)keys, &p->cells,
                                     &bits) != TEPAL_OK) {
        return say_error(NULL, name, "--bits %s: too few for %" PRIu64 " keys",
                         option[OPT_BITS].text, keys);
    }
    p->own[0] = bits;
    return EXIT_YES;
}

static int fingerprint_report(const struct args *args, enum tepal_layout layout,
                              struct tepal_report *report)
{
    const struct option_value *option = args->option;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    uint64_t keys = option[OPT_KEYS].whole;
    const char *why = "";
    if (!option[OPT_KEYS].given || keys == 0) {
        return say_error(NULL, args->command->name, "--keys N is needed, and at least one");
    }
    if (!option[OPT_BITS].given && !option[OPT_FP].given) {
        return say_error(NULL, args->command->name, "--bits M or --fp RATE is needed");
    }
    p.kind = TEPAL_KIND_FINGERPRINT;
    p.layout = layout;
    p.hashes = 2;
    if (solve(args, keys, &p) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status = tepal_model_fingerprint(&p, keys, report, &why);
    return status == TEPAL_OK ? EXIT_YES : say_error(NULL, args->command->name, "%s", why);
}

static const enum option_id of_fingerprint[] = {OPT_KEYS, OPT_BITS, OPT_FP, OPT_PRINT_BITS,
                                                OPT_END};

const struct model model_fingerprint = {"fingerprint", TEPAL_LAYOUT_FLAT, of_fingerprint,
                                        fingerprint_report, NULL};
