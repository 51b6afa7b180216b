/*
 * query_avx2.c: batches of queries to the fingerprint filter with AVX2, four keys at a time.
 * The same arithmetic as internal.h, in the same order, hence the same answers. Only
 * the buckets themselves are read one by one: gathering them is slower. What is left over of
 * whole words of answers, and fingerprints of more than 16 bits, take the plain loop.
 */
#include "filter/fingerprint/internal.h"

#include "filter/fingerprint/query.h"

#ifdef __AVX2__

#include <immintrin.h>

/* What is the same for all keys of a batch, in every lane. */
struct vectors {
    __m256i buckets;
    __m256i pairs;
    __m256i bucket_bits;
    __m256i lanes;
    __m256i highs;
    __m128i print_shift;
    __m128i once;  /* f */
    __m128i twice; /* 2 f */
};

/* The keys under way: the bytes and bits where their buckets begin, and what to look for. */
struct vector_window {
    uint64_t byte[2][WINDOW];
    uint64_t shift[2][WINDOW];
    uint64_t pattern[WINDOW]; /* the fingerprint in every slot */
};

static struct vectors vectors_of(const struct fingerprint_table *t)
{
    return (struct vectors){
        .buckets = _mm256_set1_epi64x((long long)t->buckets),
        .pairs = _mm256_set1_epi64x((long long)(t->buckets / 2)),
        .bucket_bits = _mm256_set1_epi64x(FINGERPRINT_SLOTS * t->bits),
        .lanes = _mm256_set1_epi64x((long long)t->lanes),
        .highs = _mm256_set1_epi64x((long long)t->highs),
        .print_shift = _mm_cvtsi32_si128((int)(64 - t->bits)),
        .once = _mm_cvtsi32_si128((int)t->bits),
        .twice = _mm_cvtsi32_si128((int)(2 * t->bits)),
    };
}

/* wide_scale(word, range) for range < 2^32. */
ALWAYS_INLINE __m256i scale4(__m256i word, __m256i range)
{
    __m256i low = _mm256_srli_epi64(_mm256_mul_epu32(word, range), 32);
    __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(word, 32), range);
    return _mm256_srli_epi64(_mm256_add_epi64(high, low), 32);
}

/* tepal_place_other_bucket. Everything is below 2^33, so that signed comparisons are right. */
ALWAYS_INLINE __m256i other4(const struct vectors *v, __m256i bucket, __m256i print)
{
    __m256i x = _mm256_mul_epu32(print, _mm256_set1_epi64x((long long)TEPAL_PLACE_MIX1));
    x = _mm256_xor_si256(x, _mm256_srli_epi64(x, 16));
    x = _mm256_mul_epu32(x, _mm256_set1_epi64x((long long)TEPAL_PLACE_MIX2));
    x = _mm256_xor_si256(x, _mm256_srli_epi64(x, 32));
    __m256i h = _mm256_srli_epi64(_mm256_mul_epu32(x, v->pairs), 32);
    h = _mm256_or_si256(_mm256_slli_epi64(h, 1), _mm256_set1_epi64x(1));
    __m256i below = _mm256_cmpgt_epi64(bucket, h);
    return _mm256_add_epi64(_mm256_sub_epi64(h, bucket), _mm256_and_si256(below, v->buckets));
}

ALWAYS_INLINE void place4(struct vector_window *window, const struct vectors *v, int which,
                          size_t slot, __m256i bucket)
{
    __m256i at = _mm256_mul_epu32(bucket, v->bucket_bits);
    _mm256_storeu_si256((__m256i *)(void *)&window->byte[which][slot], _mm256_srli_epi64(at, 3));
    _mm256_storeu_si256((__m256i *)(void *)&window->shift[which][slot],
                        _mm256_and_si256(at, _mm256_set1_epi64x(7)));
}

ALWAYS_INLINE void ask4(struct vector_window *window, const struct fingerprint_table *t,
                        const struct vectors *v, size_t slot, const struct tepal_digest *digests)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)digests);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(digests + 2));
    /* lo and hi of keys 0, 2, 1, 3, put in order */
    __m256i lo = _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a, b), 0xd8);
    __m256i hi = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(a, b), 0xd8);
    __m256i print = _mm256_srl_epi64(lo, v->print_shift);
    print = _mm256_sub_epi64(print, _mm256_cmpeq_epi64(print, _mm256_setzero_si256()));
    __m256i bucket = scale4(hi, v->buckets);
    place4(window, v, 0, slot, bucket);
    place4(window, v, 1, slot, other4(v, bucket, print));
    __m256i two = _mm256_or_si256(print, _mm256_sll_epi64(print, v->once));
    _mm256_storeu_si256((__m256i *)(void *)&window->pattern[slot],
                        _mm256_or_si256(two, _mm256_sll_epi64(two, v->twice)));
    const size_t last = (FINGERPRINT_SLOTS * t->bits + 3) / 8 - 1;
    for (int which = 0; which < 2; which++) {
        for (size_t i = slot; i < slot + 4; i++) {
            const char *byte = (const char *)t->words + window->byte[which][i];
            __builtin_prefetch(byte);
            __builtin_prefetch(byte + last);
        }
    }
}

/* fingerprint_match_word of four keys' buckets, before the mask of highest bits. */
ALWAYS_INLINE __m256i match4(const struct vector_window *window, const uint64_t *words,
                             const struct vectors *v, int which, size_t slot, __m256i pattern)
{
    uint64_t raw[4];
    for (size_t i = 0; i < 4; i++) {
        memcpy(&raw[i], (const char *)words + window->byte[which][slot + i], sizeof *raw);
    }
    __m256i x = _mm256_set_epi64x((long long)raw[3], (long long)raw[2], (long long)raw[1],
                                  (long long)raw[0]);
    x = _mm256_srlv_epi64(
        x, _mm256_loadu_si256((const __m256i *)(const void *)&window->shift[which][slot]));
    x = _mm256_xor_si256(x, pattern);
    return _mm256_andnot_si256(x, _mm256_sub_epi64(x, v->lanes));
}

ALWAYS_INLINE uint64_t test4(const struct vector_window *window, const uint64_t *words,
                             const struct vectors *v, size_t slot)
{
    __m256i pattern = _mm256_loadu_si256((const __m256i *)(const void *)&window->pattern[slot]);
    __m256i match = _mm256_or_si256(match4(window, words, v, 0, slot, pattern),
                                    match4(window, words, v, 1, slot, pattern));
    match = _mm256_and_si256(match, v->highs);
    __m256i none = _mm256_cmpeq_epi64(match, _mm256_setzero_si256());
    return ~(uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(none)) & 15;
}

/* Whole words of answers. */
static size_t query_words(const struct fingerprint_table *table, const struct tepal_digest *digests,
                          size_t count, uint64_t *answers)
{
    const struct fingerprint_table t = *table;
    const struct vectors v = vectors_of(&t);
    struct vector_window window;
    size_t present = 0;
    for (size_t j = 0; j < WINDOW && count > 0; j += 4) {
        ask4(&window, &t, &v, j, digests + j);
    }
    for (size_t base = 0; base < count; base += WINDOW) {
        bool more = base + WINDOW < count;
        uint64_t answer = 0;
        for (size_t j = 0; j < WINDOW; j += 4) {
            answer |= test4(&window, t.words, &v, j) << j;
            if (more) {
                ask4(&window, &t, &v, j, digests + base + WINDOW + j);
            }
        }
        answers[base / 64] = answer;
        present += bits_count_word(answer);
    }
    return present;
}

size_t tepal_fingerprint_query_avx2(const struct fingerprint_table *t,
                                    const struct tepal_digest *digests, size_t count,
                                    uint64_t *answers)
{
    size_t whole = t->bits <= FINGERPRINT_NARROW ? count / WINDOW * WINDOW : 0;
    size_t present = query_words(t, digests, whole, answers);
    return whole == count /* and then there may be no arrays at all */
               ? present
               : present + query_batch(t, digests + whole, count - whole, answers + whole / 64);
}

/* Four buckets of so many bytes, from this one on, each in a lane of its own. */
ALWAYS_INLINE __m256i buckets4(const char *at, size_t bytes, __m256i spread)
{
    __m128i low = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(at + 2 * bytes));
    return _mm256_shuffle_epi8(_mm256_set_m128i(high, low), spread);
}

/* Byte i of a lane is byte i of its bucket; behind the bucket there are zeros. */
static __m256i spread_of(size_t bytes)
{
    int8_t from[32];
    for (size_t i = 0; i < sizeof from; i++) {
        from[i] = (int8_t)(i % 8 < bytes ? i / 8 % 2 * bytes + i % 8 : 0x80);
    }
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

/* As held_from, of buckets that are whole bytes; 16 of these are read at once. */
static uint64_t held_by_fours(const struct fingerprint_table *t, uint64_t *end)
{
    const size_t bytes = t->bits / 2;
    const uint64_t all = t->buckets * bytes + 8; /* with the word behind the last slot */
    const uint64_t fours = all < 16 + 4 * bytes ? 0 : (all - 16 - 2 * bytes) / (4 * bytes);
    const __m256i spread = spread_of(bytes);
    const __m256i highs = _mm256_set1_epi64x((long long)t->highs);
    const __m256i carry = _mm256_set1_epi64x((long long)(t->highs - t->lanes));
    const __m128i shift = _mm_cvtsi32_si128((int)t->bits - 1);
    const char *at = (const char *)t->words;
    uint64_t held = 0;
    for (uint64_t i = 0; i < fours;) {
        uint64_t sums[4];
        uint64_t stop =
            fours - i < t->values ? fours : i + t->values; /* a slot has room for these */
        __m256i sum = _mm256_setzero_si256();
        for (; i < stop; i++) {
            __m256i word = buckets4(at, bytes, spread);
            __m256i above = _mm256_add_epi64(_mm256_and_si256(word, carry), carry);
            __m256i flags = _mm256_and_si256(_mm256_or_si256(word, above), highs);
            sum = _mm256_add_epi64(sum, _mm256_srl_epi64(flags, shift));
            at += 4 * bytes;
        }
        _mm256_storeu_si256((__m256i *)(void *)sums, sum);
        for (size_t lane = 0; lane < 4; lane++) {
            held += held_sum(t, sums[lane]);
        }
    }
    *end = fours * 4;
    return held;
}

uint64_t tepal_fingerprint_held_avx2(const struct fingerprint_table *t)
{
    uint64_t first = 0;
    bool whole_bytes = t->bits <= FINGERPRINT_NARROW && t->bits % 2 == 0;
    uint64_t held = whole_bytes ? held_by_fours(t, &first) : 0;
    return held + held_from(t, first);
}

#else

size_t tepal_fingerprint_query_avx2(const struct fingerprint_table *t,
                                    const struct tepal_digest *digests, size_t count,
                                    uint64_t *answers)
{
    return query_batch(t, digests, count, answers);
}

uint64_t tepal_fingerprint_held_avx2(const struct fingerprint_table *t)
{
    return held_from(t, 0);
}

#endif

const struct fingerprint_one tepal_fingerprint_one_avx2[FINGERPRINT_WIDTHS] = ONE_TABLE;
