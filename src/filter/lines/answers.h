/* answers.h: 64 answers as the bits of a word, for the loops over lines. */
#ifndef TEPAL_SRC_FILTER_LINES_ANSWERS_H
#define TEPAL_SRC_FILTER_LINES_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__AVX2__)

#include <immintrin.h>

/* A true bool is 1; its lowest bit is moved to where movemask looks. */
static inline uint32_t half_answers(const bool yes[32])
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)yes);
    return (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(bytes, 7));
}

static inline uint64_t line_answers(const bool yes[64])
{
    return half_answers(yes) | (uint64_t)half_answers(yes + 32) << 32;
}

#else

static inline uint64_t line_answers(const bool yes[64])
{
    uint64_t answers = 0;
    for (int i = 0; i < 64; i++) {
        answers |= (uint64_t)yes[i] << i;
    }
    return answers;
}

#endif

#endif
