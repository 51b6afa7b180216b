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

/* Keys whose answer is `wanted`, with their separators; those next to each other in one piece. */
void answers_print(struct out *out, const struct key *key, const uint64_t *answers, size_t count,
                   bool wanted);

#endif
