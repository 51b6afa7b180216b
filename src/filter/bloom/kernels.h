/*
 * kernels.h: batches of keys over an array of bits: where the keys come from, and the table of
 * kernels that add and ask them. All kinds whose queries ask bits share it.
 *
 *   flat.h                    the loops of the flat and partitioned layouts
 *   flat_portable.c, _avx2.c  these in plain C, and for AVX2 machines: bit for bit the same answers
 *   lines/kernels.h           the same pair for the blocked and paired layouts
 *   bloom.c                   which of the four a layout takes on this machine
 */
#ifndef TEPAL_SRC_FILTER_BLOOM_KERNELS_H
#define TEPAL_SRC_FILTER_BLOOM_KERNELS_H

#include "address/address.h"
#include "hash/digest.h"

/*
 * Where a batch's digests come from: an array of them, or unkeyed keys that are hashed on the way.
 */
enum bloom_form { BLOOM_DIGESTS, BLOOM_INTEGERS, BLOOM_FIXED };

struct bloom_source {
    enum bloom_form form;
    const struct tepal_digest *digests;
    const uint64_t *integers;
    const uint8_t *bytes; /* keys of `width` bytes each */
    size_t width;
    struct tepal_hasher hasher; /* for integers and bytes: the filter's own */
};

struct bloom_kernels {
    void (*add)(const struct address *at, uint64_t *words, const struct bloom_source *source,
                size_t count);
    /* Answers as in tepal_filter_query_many. */
    size_t (*query)(const struct address *at, const uint64_t *words,
                    const struct bloom_source *source, size_t count, uint64_t *answers);
};

extern const struct bloom_kernels tepal_bloom_flat_portable;
extern const struct bloom_kernels tepal_bloom_flat_avx2; /* only if tepal_processor_has_avx2() */

/* The fastest table for this layout on this machine. */
const struct bloom_kernels *tepal_bloom_dispatch(enum tepal_layout layout);

/* The chance that the cells of a random key are all set. Reads all bits (rate.c). */
double tepal_bits_rate(const struct address *at, const uint64_t *bits);

/* The same of `at`'s cells on the flat layout, so many of which are set. */
double tepal_bits_flat_rate(const struct address *at, double ones);

/*
 * `form` is a compile-time constant in every loop. Hashing bytes stays a call: all of XXH3 would
 * crowd the loop. A width of 32 bytes is a constant there: little of XXH3 is left of it.
 */
static __attribute__((noinline, unused)) struct tepal_digest
bloom_digest_fixed(const struct bloom_source *source, size_t i)
{
    const uint8_t *key = source->bytes + source->width * i;
    if (source->width == 32) {
        return digest_bytes(key, 32, source->hasher.seed);
    }
    return digest_bytes(key, source->width, source->hasher.seed);
}

static inline __attribute__((always_inline)) struct tepal_digest
bloom_digest(const struct bloom_source *source, enum bloom_form form, size_t i)
{
    if (form == BLOOM_DIGESTS) {
        return source->digests[i];
    }
    if (form == BLOOM_INTEGERS) {
        return digest_u64(source->integers[i], source->hasher.integer[0],
                          source->hasher.integer[1]);
    }
    return bloom_digest_fixed(source, i);
}

#endif
