/* answers.h: the lines of a batch that were answered in one way, to the output. */
#ifndef TOOL_OUTPUT_ANSWERS_H
#define TOOL_OUTPUT_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/keys.h"
#include "output/out.h"

/* The answer about the i-th key: bit i of the words that a filter wrote. */
static inline bool answer_of(const uint64_t *answers, size_t i)
{
    return (answers[i / 64] >> (i % 64) & 1) != 0;
}

/* Of the keys from i on, below `count`: how many in a row have the answer `yes`? */
static inline size_t answers_run(const uint64_t *answers, size_t i, size_t count, bool yes)
{
    size_t from = i;
    uint64_t others = 0;
    while (i < count && others == 0) {
        others = (yes ? ~answers[i / 64] : answers[i / 64]) >> (i % 64);
        i += others == 0 ? 64 - i % 64 : (size_t)__builtin_ctzll(others);
    }
    return (i < count ? i : count) - from;
}

/*
 * Keys whose answer is `wanted`, with their separators: runs of them lie next to each other in the
 * buffer, and are copied as such. `key` and `len`: where each begins, and how long it is. `gaps`:
 * something may be between two of them (--comments).
 */
static inline void answers_print(struct out *out, const void *const *key, const size_t *len,
                                 const uint64_t *answers, size_t count, bool wanted, bool gaps)
{
    size_t i = answers_run(answers, 0, count, !wanted);
    while (i < count) {
        const char *from = key[i];
        i += gaps ? 1 : answers_run(answers, i, count, wanted);
        out_bytes(out, from, (size_t)((const char *)key[i - 1] + len[i - 1] + 1 - from));
        i += answers_run(answers, i, count, !wanted);
    }
}

#endif
