/*
 * cuckoo12.h: the cuckoo filter (B. Fan, D. G. Andersen, M. Kaminsky and M. D. Mitzenmacher, Cuckoo
 * Filter: Practically Better Than Bloom, CoNEXT 2014) with tags of 12 bits, four to a bucket of six
 * bytes, and a power of two buckets. The other bucket is this one exclusive-or a product of the
 * tag. A query compares the four tags of both buckets at once, by the carry of a subtraction. An
 * addition that finds no room kicks tags about, 500 at most.
 */
#ifndef TEPAL_BENCH_REFERENCE_CUCKOO12_H
#define TEPAL_BENCH_REFERENCE_CUCKOO12_H

#include "reference/common.h"

#define CUCKOO_BYTES 6
#define CUCKOO_LANES UINT64_C(0x001001001001)
#define CUCKOO_HIGHS UINT64_C(0x800800800800)
#define CUCKOO_SLOTS UINT64_C(0xffffffffffff)
#define CUCKOO_KICKS 500

struct cuckoo12 {
    uint8_t *bytes;
    uint64_t mask; /* buckets - 1 */
    uint64_t kicks;
};

/* For so many keys at a load of at most 0.95. */
static inline struct cuckoo12 cuckoo12_make(uint64_t keys)
{
    uint64_t buckets = 1;
    while ((double)buckets * 4 * 0.95 < (double)keys) {
        buckets *= 2;
    }
    return (struct cuckoo12){ref_alloc((size_t)buckets * CUCKOO_BYTES + 8), buckets - 1, 0};
}

REF_INLINE uint64_t cuckoo12_load(const struct cuckoo12 *f, uint64_t bucket)
{
    uint64_t word;
    memcpy(&word, f->bytes + bucket * CUCKOO_BYTES, sizeof word);
    return word & CUCKOO_SLOTS;
}

REF_INLINE void cuckoo12_store(struct cuckoo12 *f, uint64_t bucket, uint64_t word)
{
    memcpy(f->bytes + bucket * CUCKOO_BYTES, &word, CUCKOO_BYTES);
}

REF_INLINE uint64_t cuckoo12_tag(uint64_t hash)
{
    uint64_t tag = hash & 0xfff;
    return tag + (tag == 0);
}

REF_INLINE uint64_t cuckoo12_other(const struct cuckoo12 *f, uint64_t bucket, uint64_t tag)
{
    return (bucket ^ tag * 0x5bd1e995) & f->mask;
}

/* Not 0 if one of the four tags is `tag`. */
REF_INLINE uint64_t cuckoo12_match(uint64_t word, uint64_t tag)
{
    uint64_t x = word ^ tag * CUCKOO_LANES;
    return (x - CUCKOO_LANES) & ~x & CUCKOO_HIGHS;
}

REF_INLINE bool cuckoo12_query(const struct cuckoo12 *f, uint64_t key)
{
    uint64_t hash = ref_mix(key);
    uint64_t tag = cuckoo12_tag(hash);
    uint64_t bucket = (hash >> 32) & f->mask;
    uint64_t other = cuckoo12_other(f, bucket, tag);
    return (cuckoo12_match(cuckoo12_load(f, bucket), tag) |
            cuckoo12_match(cuckoo12_load(f, other), tag)) != 0;
}

/* Request the bucket where an addition looks first. */
REF_INLINE void cuckoo12_prefetch(const struct cuckoo12 *f, uint64_t key)
{
    __builtin_prefetch(f->bytes + ((ref_mix(key) >> 32) & f->mask) * CUCKOO_BYTES);
}

/* Into a free slot of the bucket, if there is one. */
REF_INLINE bool cuckoo12_put(struct cuckoo12 *f, uint64_t bucket, uint64_t tag)
{
    uint64_t word = cuckoo12_load(f, bucket);
    for (int slot = 0; slot < 4; slot++) {
        if ((word >> 12 * slot & 0xfff) == 0) {
            cuckoo12_store(f, bucket, word | tag << 12 * slot);
            return true;
        }
    }
    return false;
}

static inline bool cuckoo12_add(struct cuckoo12 *f, uint64_t key)
{
    uint64_t hash = ref_mix(key);
    uint64_t tag = cuckoo12_tag(hash);
    uint64_t bucket = (hash >> 32) & f->mask;
    if (cuckoo12_put(f, bucket, tag)) {
        return true;
    }
    bucket = cuckoo12_other(f, bucket, tag);
    for (int kick = 0; kick < CUCKOO_KICKS; kick++) {
        if (cuckoo12_put(f, bucket, tag)) {
            return true;
        }
        unsigned slot = 12 * (unsigned)(++f->kicks * UINT64_C(0x9e3779b97f4a7c15) >> 62);
        uint64_t word = cuckoo12_load(f, bucket);
        uint64_t victim = word >> slot & 0xfff;
        cuckoo12_store(f, bucket, (word & ~((uint64_t)0xfff << slot)) | tag << slot);
        tag = victim;
        bucket = cuckoo12_other(f, bucket, tag);
    }
    return false;
}

#endif
