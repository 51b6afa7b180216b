/* match_portable.c: eight links at a time in plain C; compilers make vectors of it. */
#include "filter/packet/internal.h"

#include "cells/bits.h"

/* The answers for one block of eight links, a bit each. */
static uint32_t match_block(const struct tepal_header_layout *layout, const uint32_t *value,
                            const uint32_t *block)
{
    uint32_t found[TEPAL_HEADER_LANES] = {0};
    uint32_t answer = 0;
    for (uint32_t r = 0; r < layout->regions; r++) {
        uint32_t missing[TEPAL_HEADER_LANES] = {0};
        for (uint32_t s = layout->first[r]; s < layout->first[r + 1]; s++) {
            const uint32_t *lane = block + layout->column[s] * TEPAL_HEADER_LANES;
            for (uint32_t i = 0; i < TEPAL_HEADER_LANES; i++) {
                missing[i] |= lane[i] & ~value[s];
            }
        }
        for (uint32_t i = 0; i < TEPAL_HEADER_LANES; i++) {
            found[i] = r == 0 ? missing[i] == 0 : found[i] & (missing[i] != 0);
        }
    }
    for (uint32_t i = 0; i < TEPAL_HEADER_LANES; i++) {
        answer |= found[i] << i;
    }
    return answer;
}

size_t tepal_packet_match_portable(const struct tepal_header_layout *layout, const uint64_t *header,
                                   const uint32_t *table, size_t links, uint64_t *answers)
{
    uint32_t value[TEPAL_HEADER_STEPS];
    size_t count = 0;
    packet_values(layout, header, value);
    for (size_t word = 0; word * 64 < links; word++) {
        uint64_t bits = 0;
        for (size_t link = word * 64; link < links && link < word * 64 + 64; link += 8) {
            uint64_t eight = match_block(layout, value, table + link * layout->columns);
            bits |= eight << (link % 64);
        }
        bits &= links - word * 64 < 64 ? packet_last(links) : UINT64_MAX;
        answers[word] = bits;
        count += bits_count_word(bits);
    }
    return count;
}
