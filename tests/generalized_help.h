/* generalized_help.h: the parameters of a generalized filter in one call. */
#ifndef TEPAL_TESTS_GENERALIZED_HELP_H
#define TEPAL_TESTS_GENERALIZED_HELP_H

#include "check.h"

/* k0 resets, k1 sets, b inverted bits forgiven; `zeros` is the share of bits that are 0 at first.
 */
static inline enum tepal_status set_generalized(uint64_t bits, uint32_t k0, uint32_t k1,
                                                double zeros, uint32_t b, uint64_t seed,
                                                struct tepal_params *out)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.kind = TEPAL_KIND_GENERALIZED;
    params.cells = bits;
    params.hashes = k1 > UINT32_MAX - k0 ? UINT32_MAX : k0 + k1;
    params.seed = seed;
    params.generalized.reset_hashes = k0;
    params.generalized.tolerance = b;
    params.generalized.ones = (uint64_t)llround((1 - zeros) * (double)TEPAL_GENERALIZED_UNIT);
    enum tepal_status status = tepal_params_check(&params, NULL);
    if (status == TEPAL_OK) {
        *out = params;
    }
    return status;
}

#endif
