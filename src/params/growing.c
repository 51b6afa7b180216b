/* growing.c: the parameters of growing filters: the two parts of a fingerprint, the exact table. */
#include "params/params.h"

#define MAX_BUCKETS  ((uint64_t)1 << 40)
#define MAX_OVERFLOW ((uint64_t)1 << 40)
#define MIN_OVERFLOW 4

static struct params_verdict check(const struct tepal_params *p)
{
    const struct tepal_growing_params *own = &p->growing;
    if (own->tag_bits < TEPAL_MIN_TAG_BITS || own->tag_bits > TEPAL_MAX_TAG_BITS) {
        return params_refuse_own(PARAMS_INDEX(growing.tag_bits), "a tag has 4 to 15 bits");
    }
    /* With one bit at least a new entry knows enough for both buckets, however deep. */
    if (own->extension_bits < 1 || own->extension_bits > TEPAL_MAX_EXTENSION_BITS) {
        return params_refuse_own(PARAMS_INDEX(growing.extension_bits),
                                 "an extension has 1 to 16 bits");
    }
    if (own->overflow != 0 && (own->overflow < MIN_OVERFLOW || own->overflow > MAX_OVERFLOW ||
                               (own->overflow & (own->overflow - 1)) != 0)) {
        return params_refuse_own(
            PARAMS_INDEX(growing.overflow),
            "the exact table has 0 slots, or a power of two from 4 to 2^40 of them");
    }
    if (p->cells % (TEPAL_FINGERPRINT_SLOTS * params_growing_slot(p)) != 0) {
        return params_refuse(PARAMS_CELLS, "the size is not a whole number of buckets");
    }
    uint64_t buckets = params_growing_buckets(p);
    if (buckets < TEPAL_GROWING_MIN_BUCKETS || buckets > MAX_BUCKETS) {
        return params_refuse(PARAMS_CELLS, "a growing filter has 256 to 2^40 buckets");
    }
    uint64_t bucket = p->cells / buckets;
    if (own->first > p->cells || own->first % bucket != 0 ||
        (own->first != 0 && own->first < bucket * TEPAL_GROWING_MIN_BUCKETS)) {
        return params_refuse_own(PARAMS_INDEX(growing.first),
                                 "the first size is not one that this filter can have grown from");
    }
    if (p->hashes != 2) {
        return params_refuse(PARAMS_HASHES,
                             "a growing filter has 2 hash functions: one for each bucket of a key");
    }
    if (p->positions != TEPAL_POSITIONS_COLLIDING) {
        return params_refuse(PARAMS_POSITIONS, "the positions of a growing filter are colliding");
    }
    return PARAMS_PASSED;
}

/* The buckets, a word that a bucket may be read with, and the exact table. */
static uint64_t payload_bytes(const struct tepal_params *p)
{
    return tepal_params_cells_bytes(p->cells, 1) + 8 +
           8 * PARAMS_OVERFLOW_WORDS * p->growing.overflow;
}

const struct params_rules tepal_growing_rules = {
    .kind = {.id = TEPAL_KIND_GROWING,
             .name = "growing",
             .summary = "a fingerprint filter that grows with its keys; keys can be removed",
             .promises = TEPAL_NO_FALSE_NEGATIVES | TEPAL_BOUNDED_FALSE_POSITIVES |
                         TEPAL_DELETABLE | TEPAL_MERGEABLE},
    .cell_bits = 1,
    .layouts = 1u << TEPAL_LAYOUT_FLAT,
    .own = {[PARAMS_INDEX(growing.tag_bits)] = "bits per tag",
            [PARAMS_INDEX(growing.extension_bits)] = "bits per extension",
            [PARAMS_INDEX(growing.first)] = "bits when created",
            [PARAMS_INDEX(growing.overflow)] = "slots of the exact table"},
    .check = check,
    .payload_bytes = payload_bytes,
};
