/* pick.h: the lines of a batch that were answered in one way, to the output. */
#ifndef TOOL_PICK_H
#define TOOL_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keys.h"
#include "out.h"

/* The answer about the i-th key: bit i of the words that a filter wrote. */
static inline bool pick_answer(const uint64_t *answers, size_t i)
{
    return (answers[i / 64] >> (i % 64) & 1) != 0;
}

/* Keys whose answer is `wanted`, with their separators; those next to each other in one piece. */
void pick_print(struct out *out, const struct key *key, const uint64_t *answers, size_t count,
                bool wanted);

#endif
