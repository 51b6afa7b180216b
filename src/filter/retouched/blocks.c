/* blocks.c: the positions of a slab of keys by block (blocks.h): a counting sort. */
#include "filter/retouched/blocks.h"

#include <string.h>

#define BLOCK       20  /* a block has 2^20 positions, or more: */
#define MOST_BLOCKS 512 /* each is a stream of its own to write to */
#define PASSED      UINT64_MAX

/* As many positions as make it worth while to bring every block to the cache. */
static uint64_t positions_of(uint64_t cells)
{
    const uint64_t least = (uint64_t)1 << 17;
    const uint64_t most = (uint64_t)1 << BLOCKS_INDEX;
    uint64_t wanted = cells / 32;
    return wanted < least ? least : wanted > most ? most : wanted;
}

bool tepal_blocks_open(struct blocks *blocks, struct arena *arena, const struct address *at,
                       uint64_t keys)
{
    uint64_t room = positions_of(at->cells) / at->hashes;
    room = keys < room ? keys : room;
    uint64_t positions = room * at->hashes;
    *blocks = (struct blocks){.at = at, .room = (uint32_t)room, .shift = BLOCK};
    while (at->cells >> blocks->shift >= MOST_BLOCKS) {
        blocks->shift++;
    }
    blocks->count = (uint32_t)(at->cells >> blocks->shift) + 1;
    blocks->end = tepal_arena_take(arena, (uint64_t)blocks->count + 1, sizeof *blocks->end);
    blocks->place = tepal_arena_raw(arena, positions, sizeof *blocks->place);
    blocks->sorted = tepal_arena_raw(arena, positions, sizeof *blocks->sorted);
    return blocks->end != NULL && blocks->place != NULL && blocks->sorted != NULL;
}

void tepal_blocks_clear(struct blocks *blocks)
{
    blocks->given = 0;
    memset(blocks->end, 0, ((size_t)blocks->count + 1) * sizeof *blocks->end);
}

void tepal_blocks_add(struct blocks *blocks, struct tepal_digest digest, bool mark)
{
    uint64_t at[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(blocks->at, digest, at);
    for (uint32_t i = 0; i < k; i++) {
        blocks->end[(at[i] >> blocks->shift) + 1]++;
        blocks->place[blocks->given++] = at[i] | (mark ? BLOCKS_MARK : 0);
    }
}

void tepal_blocks_skip(struct blocks *blocks)
{
    for (uint32_t i = 0; i < blocks->at->hashes; i++) {
        blocks->place[blocks->given++] = PASSED;
    }
}

void tepal_blocks_sort(struct blocks *blocks)
{
    /* end[b] becomes where block b starts, and is moved to where it ends, which is end[b + 1]. */
    for (uint32_t b = 1; b < blocks->count; b++) {
        blocks->end[b + 1] += blocks->end[b];
    }
    const uint64_t within = ((uint64_t)1 << blocks->shift) - 1;
    for (uint32_t i = 0; i < blocks->given; i++) {
        uint64_t place = blocks->place[i];
        if (place != PASSED) {
            uint64_t position = place & ~BLOCKS_MARK;
            uint64_t entry = (position & within) << (BLOCKS_INDEX + 1) | (uint64_t)i << 1;
            blocks->sorted[blocks->end[position >> blocks->shift]++] = entry | place >> 63;
        }
    }
    for (uint32_t b = blocks->count; b > 0; b--) {
        blocks->end[b] = blocks->end[b - 1];
    }
    blocks->end[0] = 0;
}
