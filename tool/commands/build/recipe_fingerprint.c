/* recipe_fingerprint.c: a fingerprint filter from its options: by rate, bits a key, or bits. */
#include <inttypes.h>

#include <tepal/params.h>
#include <tepal/papers.h>

#include "commands/build/recipe.h"

static const char *const fingerprint_options[] = {
    "fp", "bits-per-key", "bits", "capacity", "fingerprint-bits", "layout", NULL};

/* Of this size, if the length of fingerprints is given too: do some seeds have room? */
static bool may_fit(uint64_t all, uint32_t bits, uint64_t keys)
{
    return bits > 0 && tepal_fingerprint_fits(bits, all / (8 * bits) * 2, keys) > 0;
}

/* --bits M: all of it, with 12 bits a fingerprint unless told otherwise, or as many as fit. */
static int size_by_bits(const struct args *args, uint64_t keys, struct tepal_params *p,
                        uint32_t *bits)
{
    uint64_t all = arg(args, "bits")->whole;
    if (keys > 0 && !may_fit(all, *bits, keys)) {
        uint64_t cells;
        if (tepal_fingerprint_fit(keys, (double)all / (double)keys, &cells, bits) != TEPAL_OK) {
            return args_error(
                args, "--bits %s: too few for %" PRIu64 " keys with fingerprints of %s bits",
                arg(args, "bits")->text, keys, *bits == 0 ? "4" : "that many");
        }
    } else if (*bits == 0) {
        *bits = 12;
    }
    p->cells = all / (8 * *bits) * (8 * *bits);
    return p->cells > 0 ? EXIT_YES
                        : args_error(args, "--bits %s: too few: the minimum is %" PRIu32,
                                     arg(args, "bits")->text, 8 * *bits);
}

static int size_by_keys(const struct args *args, uint64_t keys, struct tepal_params *p,
                        uint32_t *bits)
{
    const struct option_value *each = arg(args, "bits-per-key");
    enum tepal_status status = tepal_fingerprint_fit(keys, each->real, &p->cells, bits);
    if (status == TEPAL_BAD_ARGUMENT) {
        return args_error(
            args, "--bits-per-key %s: too few: fingerprints of %s bits need %s per key", each->text,
            *bits == 0 ? "4" : "that many", *bits == 0 ? "4.5 bits" : "more");
    }
    return args_status(args, status, NULL);
}

static int size_by_rate(const struct args *args, uint64_t keys, struct tepal_params *p,
                        uint32_t *bits)
{
    enum tepal_status status =
        tepal_fingerprint_size(keys, arg_real(args, "fp", 0.01), &p->cells, bits);
    if (status == TEPAL_TOO_LARGE) {
        return args_error(args, "no fingerprint filter holds this many keys at this rate");
    }
    return args_status(args, status, NULL);
}

static int fingerprint_params(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    uint32_t bits = (uint32_t)arg(args, "fingerprint-bits")->whole;
    if (recipe_flat(args) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    p->hashes = 2;
    p->capacity = keys;
    int code = arg(args, "bits")->given           ? size_by_bits(args, keys, p, &bits)
               : arg(args, "bits-per-key")->given ? size_by_keys(args, keys, p, &bits)
                                                  : size_by_rate(args, keys, p, &bits);
    p->fingerprint.bits = bits;
    return code == EXIT_YES ? recipe_check(args, p) : code;
}

const struct recipe recipe_fingerprint = {TEPAL_KIND_FINGERPRINT, fingerprint_options,
                                          recipe_counts, fingerprint_params, NULL};
