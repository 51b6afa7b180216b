/* model_fingerprint.c: what a fingerprint filter does, and which one a rate needs. */
#include <inttypes.h>

#include <tepal/papers.h>

#include "commands/model/models.h"

/* --fp and --bits, into cells and the bits of a fingerprint. */
static int solve(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    uint32_t bits = (uint32_t)arg(args, "fingerprint-bits")->whole;
    if (arg(args, "fp")->given) {
        enum tepal_status status =
            tepal_fingerprint_size(keys, arg(args, "fp")->real, &p->cells, &bits);
        if (status != TEPAL_OK) {
            return args_wrong(args, "no fingerprint filter holds this many keys at this rate");
        }
    } else if (bits != 0) {
        p->cells = arg(args, "bits")->whole / (8 * bits) * (8 * bits);
    } else if (tepal_fingerprint_fit(keys, (double)arg(args, "bits")->whole / (double)keys,
                                     &p->cells, &bits) != TEPAL_OK) {
        return args_wrong(args, "--bits %s: too few for %" PRIu64 " keys", arg(args, "bits")->text,
                          keys);
    }
    p->fingerprint.bits = bits;
    return EXIT_YES;
}

static int fingerprint_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                              struct tepal_report *report)
{
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_error error = {.why = ""};
    if (!arg(args, "keys")->given || keys == 0) {
        return args_wrong(args, "--keys N is needed, at least 1");
    }
    if (!arg(args, "bits")->given && !arg(args, "fp")->given) {
        return args_wrong(args, "--bits M or --fp RATE is needed");
    }
    p->kind = TEPAL_KIND_FINGERPRINT;
    p->hashes = 2;
    if (solve(args, keys, p) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    use.keys = keys;
    enum tepal_status status = tepal_model(p, &use, report, &error);
    return args_status(args, status, error.why);
}

static const char *const of_fingerprint[] = {"keys", "bits", "fp", "fingerprint-bits", NULL};

const struct model model_fingerprint = {"fingerprint", TEPAL_LAYOUT_FLAT, of_fingerprint,
                                        fingerprint_report, NULL};
