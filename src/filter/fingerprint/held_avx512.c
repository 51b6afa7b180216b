/*
 * held_avx512.c: the fingerprints of a table, counted at the speed of memory: each slot's bytes are
 * brought to a lane of its own, and one instruction tells which lanes have a bit of their slots.
 */
#include "filter/fingerprint/internal.h"

#include "base/processor.h"

#ifdef __AVX512BITALG__

#include <immintrin.h>

/* The lanes of a vector, of 2, 4 or 8 bytes: where the bytes of each come from, and its bits. */
struct lanes {
    size_t bytes; /* of a lane */
    uint8_t from[64];
    uint64_t bits[8];
};

/* The narrowest lanes that hold a slot wherever it begins in a byte. */
static struct lanes lanes_of(const struct fingerprint_table *t)
{
    struct lanes lanes = {.bytes = 1};
    bool fit = false;
    while (!fit) {
        lanes.bytes *= 2;
        fit = true;
        memset(lanes.bits, 0, sizeof lanes.bits);
        for (size_t lane = 0; lane < 64 / lanes.bytes; lane++) {
            size_t at = lane * t->bits;
            fit = fit && at % 8 + t->bits <= 8 * lanes.bytes;
            for (size_t i = 0; i < lanes.bytes; i++) {
                lanes.from[lane * lanes.bytes + i] = (uint8_t)(at / 8 + i);
            }
            lanes.bits[lane * lanes.bytes / 8] |= t->values << at % 8 << lane * lanes.bytes % 8 * 8;
        }
    }
    return lanes;
}

/* Vectors of `step` bytes, `vectors` of them. */
static inline __attribute__((always_inline)) uint64_t
count_lanes(const char *at, size_t step, uint64_t vectors, const struct lanes *lanes, size_t bytes)
{
    const __m512i from = _mm512_loadu_si512(lanes->from);
    const __m512i bits = _mm512_loadu_si512(lanes->bits);
    uint64_t held = 0;
    for (uint64_t i = 0; i < vectors; i++, at += step) {
        __m512i slots = _mm512_permutexvar_epi8(from, _mm512_loadu_si512(at));
        processor_request(at, PROCESSOR_AHEAD);
        held += bits_count_word(bytes == 2   ? _mm512_test_epi16_mask(slots, bits)
                                : bytes == 4 ? _mm512_test_epi32_mask(slots, bits)
                                             : _mm512_test_epi64_mask(slots, bits));
    }
    return held;
}

uint64_t tepal_fingerprint_held_avx512(const struct fingerprint_table *t)
{
    const struct lanes lanes = lanes_of(t);
    const char *words = (const char *)t->words;
    const size_t buckets = 64 / lanes.bytes / FINGERPRINT_SLOTS; /* in a vector */
    const size_t step = buckets * FINGERPRINT_SLOTS * t->bits / 8;
    const uint64_t all = fingerprint_start(t, t->buckets) / 8; /* and 64 bytes are read at once */
    const uint64_t vectors = all < 64 ? 0 : (all - 64) / step;
    uint64_t held = lanes.bytes == 2   ? count_lanes(words, step, vectors, &lanes, 2)
                    : lanes.bytes == 4 ? count_lanes(words, step, vectors, &lanes, 4)
                                       : count_lanes(words, step, vectors, &lanes, 8);
    return held + tepal_fingerprint_held_from(t, vectors * buckets);
}

#else

uint64_t tepal_fingerprint_held_avx512(const struct fingerprint_table *t)
{
    return tepal_fingerprint_held_from(t, 0);
}

#endif
