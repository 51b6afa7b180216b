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

/*
 * Keys whose answer is `wanted`, with their separators: runs of them lie next to each other in the
 * buffer, and are copied as such.
 */
static inline void answers_print(struct out *out, const struct key *key, const uint64_t *answers,
                                 size_t count, bool wanted)
{
    size_t i = 0;
    while (i < count) {
        if (answer_of(answers, i) != wanted) {
            i++;
            continue;
        }
        const char *from = key[i].text;
        const char *to = from;
        for (; i < count && answer_of(answers, i) == wanted; i++) {
            to = key[i].text + key[i].len + 1;
        }
        out_bytes(out, from, (size_t)(to - from));
    }
}

#endif
