/* generalized_help.h: the parameters of a generalized filter in one call; a naive filter. */
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

/* ---- a naive filter -------------------------------------------------------------------------- */

/* The positions a key resets (role 0) and sets (1), from the address alone and the rules' text. */
struct plain_key {
    uint64_t at[TEPAL_MAX_HASHES];
    bool set[TEPAL_MAX_HASHES];
    uint32_t count;
};

static inline bool plain_found(const uint8_t *cells, const struct plain_key *key,
                               uint32_t tolerance)
{
    uint32_t inverted = 0;
    for (uint32_t i = 0; i < key->count; i++) {
        bool counts = true;
        for (uint32_t j = 0; j < key->count; j++) {
            bool same = key->at[i] == key->at[j];
            counts = counts && !(same && key->set[i] == key->set[j] && j < i); /* once */
            counts = counts && !(same && key->set[i] && !key->set[j]);         /* a reset wins */
        }
        inverted += counts && cells[key->at[i]] != key->set[i];
    }
    return inverted <= tolerance;
}

static inline void plain_put(uint8_t *cells, const struct plain_key *key)
{
    for (int sets = 1; sets >= 0; sets--) {
        for (uint32_t i = 0; i < key->count; i++) {
            if (key->set[i] == sets) {
                cells[key->at[i]] = (uint8_t)sets;
            }
        }
    }
}

#endif
