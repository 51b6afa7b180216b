/*
 * wide.h: integers of 128 bits, and the high half of a 64 x 64 multiplication, which maps a random
 * word to a range.
 */
#ifndef TEPAL_SRC_BASE_WIDE_H
#define TEPAL_SRC_BASE_WIDE_H

#include <stdint.h>

__extension__ typedef unsigned __int128 wide_uint128;
__extension__ typedef __int128 wide_int128;

/*
 * floor(word * range / 2^64): a uniform word becomes a uniform number below range, without a
 * division, from the high bits of the word.
 */
static inline uint64_t wide_scale(uint64_t word, uint64_t range)
{
    return (uint64_t)(((wide_uint128)word * range) >> 64);
}

#endif
