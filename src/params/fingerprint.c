/* fingerprint.c: the parameters of fingerprint filters: the bits of a fingerprint. */
#include "params/params.h"

/* Numbers of buckets have 32 bits. */
#define MAX_BUCKETS ((uint64_t)UINT32_MAX)

static struct params_verdict check(const struct tepal_params *p)
{
    uint64_t f = p->fingerprint.bits;
    if (f < TEPAL_MIN_FINGERPRINT_BITS || f > TEPAL_MAX_FINGERPRINT_BITS) {
        return params_refuse_own(PARAMS_INDEX(fingerprint.bits), "a fingerprint has 4 to 32 bits");
    }
    if (p->cells % (2 * TEPAL_FINGERPRINT_SLOTS * f) != 0) {
        return params_refuse(
            PARAMS_CELLS, "the size is not a whole number of bucket pairs, of 8 fingerprints each");
    }
    if (p->cells / (TEPAL_FINGERPRINT_SLOTS * f) > MAX_BUCKETS) {
        return params_refuse(PARAMS_CELLS, "a fingerprint filter has fewer than 2^34 slots");
    }
    if (p->hashes != 2) {
        return params_refuse(
            PARAMS_HASHES,
            "a fingerprint filter has 2 hash functions: one for each bucket of a key");
    }
    if (p->positions != TEPAL_POSITIONS_COLLIDING) {
        return params_refuse(PARAMS_POSITIONS,
                             "the positions of a fingerprint filter are colliding");
    }
    return PARAMS_PASSED;
}

/* One word more than the slots need: a bucket may be read with what follows it. */
static uint64_t payload_bytes(const struct tepal_params *p)
{
    return tepal_params_cells_bytes(p->cells, 1) + 8;
}

const struct params_rules tepal_fingerprint_rules = {
    .kind = {.id = TEPAL_KIND_FINGERPRINT,
             .name = "fingerprint",
             .summary = "a cuckoo filter: keys can be removed, about 12 bits per key for 0.3 %",
             .promises =
                 TEPAL_NO_FALSE_NEGATIVES | TEPAL_BOUNDED_FALSE_POSITIVES | TEPAL_DELETABLE},
    .cell_bits = 1,
    .layouts = 1u << TEPAL_LAYOUT_FLAT,
    .own = {[PARAMS_INDEX(fingerprint.bits)] = "bits per fingerprint"},
    .check = check,
    .payload_bytes = payload_bytes,
};
