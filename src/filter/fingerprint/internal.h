/*
 * internal.h: the fingerprint filter's buckets and slots, inlined: where a key lies, and
 * whether a bucket holds a fingerprint. What they mean is told in fingerprint.c.
 *
 *   fingerprint.c   the kind: one key, the search for room, additions and removals of many
 *   query.h         batches of queries, in plain C
 *   query_*.c       these for any machine, and for AVX2
 *   held_avx512.c   the count of all fingerprints, with AVX-512
 */
#ifndef TEPAL_SRC_FILTER_FINGERPRINT_INTERNAL_H
#define TEPAL_SRC_FILTER_FINGERPRINT_INTERNAL_H

#include <tepal/inline.h>

#include "base/little.h"
#include "base/wide.h"
#include "cells/bits.h"
#include "filter/kind.h"

#define FINGERPRINT_SLOTS TEPAL_FINGERPRINT_SLOTS

/* Up to this many bits a fingerprint, a bucket is at most a word. */
#define FINGERPRINT_NARROW 16

struct fingerprint_table {
    uint64_t *words;
    uint64_t buckets; /* even, below 2^32 */
    uint64_t values;  /* fingerprints there are, 2^f - 1: also the mask of a slot */
    uint64_t lanes;   /* the lowest bit of every slot of a bucket (narrow), or of half a bucket */
    uint64_t highs;   /* the highest bits of the same */
    uint32_t bits;    /* f */
};

/* A fingerprint and its two buckets. */
struct fingerprint_place {
    uint64_t bucket;
    uint64_t other;
    uint64_t print;
};

static inline struct fingerprint_place fingerprint_place_of(const struct fingerprint_table *t,
                                                            struct tepal_digest d)
{
    uint64_t print = tepal_place_print(d.lo, 64 - t->bits);
    uint64_t bucket = wide_scale(d.hi, t->buckets);
    return (struct fingerprint_place){bucket, tepal_place_other_bucket(t->buckets, bucket, print),
                                      print};
}

static inline uint64_t fingerprint_start(const struct fingerprint_table *t, uint64_t bucket)
{
    return bucket * (FINGERPRINT_SLOTS * t->bits);
}

/* 64 bits from a bit on; there is a word of zeros behind the last slot. */
static inline uint64_t fingerprint_read(const uint64_t *words, uint64_t at)
{
    unsigned shift = at & 63;
    return words[at >> 6] >> shift | words[(at >> 6) + 1] << 1 << (63 - shift);
}

/*
 * A narrow bucket and what follows it. It begins at a multiple of 4 bits, and if it has 64 at a
 * whole byte: eight bytes from the right one on hold all of it.
 */
static inline uint64_t fingerprint_read_bucket(const uint64_t *words, uint64_t at)
{
    if (!LITTLE_ENDIAN_HOST) {
        return fingerprint_read(words, at);
    }
    uint64_t word;
    memcpy(&word, (const char *)words + (at >> 3), sizeof word);
    return word >> (at & 7);
}

/* Not 0 if and only if a slot of these has the fingerprint: if a slot of x is 0. */
static inline uint64_t fingerprint_match_word(const struct fingerprint_table *t, uint64_t word,
                                              uint64_t print)
{
    uint64_t x = word ^ print * t->lanes;
    return (x - t->lanes) & ~x & t->highs;
}

/* The same of the bucket at this bit. `narrow` is a constant where loops are worth having twice. */
static inline uint64_t fingerprint_match(const struct fingerprint_table *t, bool narrow,
                                         uint64_t at, uint64_t print)
{
    if (narrow) {
        return fingerprint_match_word(t, fingerprint_read_bucket(t->words, at), print);
    }
    return fingerprint_match_word(t, fingerprint_read(t->words, at), print) |
           fingerprint_match_word(t, fingerprint_read(t->words, at + 2 * t->bits), print);
}

/* A bucket may lie across the edge of two lines. */
static inline void fingerprint_prefetch(const struct fingerprint_table *t, uint64_t at)
{
    const char *byte = (const char *)t->words + (at >> 3);
    __builtin_prefetch(byte);
    __builtin_prefetch(byte + (FINGERPRINT_SLOTS * t->bits + 3) / 8 - 1);
}

/* Answers as in tepal_filter_query_many; the loop is in query.h. */
typedef size_t fingerprint_query_kernel(const struct fingerprint_table *t,
                                        const struct tepal_digest *digests, size_t count,
                                        uint64_t *answers);

fingerprint_query_kernel tepal_fingerprint_query_portable;
fingerprint_query_kernel tepal_fingerprint_query_avx2; /* only if tepal_processor_has_avx2() */

/* How many slots hold a fingerprint, in plain C from this bucket on. */
uint64_t tepal_fingerprint_held_from(const struct fingerprint_table *t, uint64_t first);
uint64_t tepal_fingerprint_held_avx2(const struct fingerprint_table *t);   /* if ..._has_avx2() */
uint64_t tepal_fingerprint_held_avx512(const struct fingerprint_table *t); /* if ..._has_avx512() */

/* One key, in tables of these widths. */
enum fingerprint_width {
    FINGERPRINT_BYTES, /* a bucket is whole bytes, eight at most; little-endian machines only */
    FINGERPRINT_BITS,  /* a bucket is a word at most */
    FINGERPRINT_WIDE,
    FINGERPRINT_WIDTHS
};

struct fingerprint_one {
    bool (*query)(const struct tepal_filter *filter, struct tepal_digest digest);
    bool (*query_u64)(const struct tepal_filter *filter, uint64_t key); /* unkeyed */
};

extern const struct fingerprint_one tepal_fingerprint_one_portable[FINGERPRINT_WIDTHS];
extern const struct fingerprint_one tepal_fingerprint_one_avx2[FINGERPRINT_WIDTHS]; /* if AVX2 */

struct tepal_fingerprint {
    struct tepal_filter head;
    struct fingerprint_table at;
    struct tepal_direct direct; /* without the handle; way: CALL unless buckets are whole bytes */
    fingerprint_query_kernel *query;
};

#endif
