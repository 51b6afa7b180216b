/*
 * tally.c: the index of a run (internal.h): from the touched bits to numbers, owners and
 * users. What the paper calls counting vectors (CREATECV, CREATEFV of Algorithms 2 and 3) and
 * ElementList vectors (Fig. 7) are both read off it.
 *
 * Most positions of most members are not touched at all. To find that out is a random read of the
 * bitmap, to number a bit another, to count it a third: so the positions of many keys are ordered
 * by block first (blocks.h), and what is found is kept, to be placed once all lengths are known.
 *
 * Cost: k positions a key, twice for what members alone have; 8 bytes for each entry of a list
 * until all are placed, then 4 for it and 8 for each touched bit.
 */
#include "filter/retouched/internal.h"

#include <string.h>

#include "address/address.h"
#include "filter/retouched/blocks.h"

uint32_t tepal_retouch_bits(const struct retouch *run, struct tepal_digest digest, uint32_t *ids)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(&run->from->at, digest, positions);
    uint32_t count = 0;
    for (uint32_t i = 0; i < k; i++) {
        if (!bits_test(run->touched, positions[i])) {
            continue;
        }
        uint32_t id = retouch_number(run, positions[i]);
        uint32_t j = 0;
        while (j < count && ids[j] != id) {
            j++;
        }
        if (j == count) {
            ids[count++] = id;
        }
    }
    return count;
}

static void number_bits(struct retouch *run)
{
    uint32_t before = 0;
    for (size_t w = 0; w < run->from->head.word_count; w++) {
        run->rank[w] = before;
        before += bits_count_word(run->touched[w]);
    }
}

/* ---- hits: a key has a touched bit ----------------------------------------------------------- */

/* Members or false positives, and their hits, a slab of keys at a time, by block of the filter. */
struct side {
    bool members;
    uint32_t count; /* of the keys */
    uint32_t slabs;
    struct blocks *blocks;
    uint64_t **hits; /* of each slab: number of the bit, index of the position in the slab */
    uint32_t *end;   /* of each block in these, slab after slab */
    uint64_t total;
};

static bool open_side(struct arena *work, struct side *side)
{
    if (side->count > 0) {
        side->slabs = (side->count - 1) / side->blocks->room + 1;
    }
    side->hits = tepal_arena_take(work, side->slabs, sizeof *side->hits);
    side->end =
        tepal_arena_raw(work, (uint64_t)side->slabs * side->blocks->count, sizeof *side->end);
    return side->hits != NULL && side->end != NULL;
}

static uint32_t slab_keys(const struct side *side, uint32_t slab)
{
    uint32_t left = side->count - slab * side->blocks->room;
    return left < side->blocks->room ? left : side->blocks->room;
}

/* Earlier victims are marked: their bits are known, they cannot be lost again. */
static void sort_slab(const struct retouch *run, struct side *side, uint32_t slab)
{
    uint32_t first = slab * side->blocks->room;
    uint32_t count = slab_keys(side, slab);
    tepal_blocks_clear(side->blocks);
    for (uint32_t key = first; key < first + count; key++) {
        if (!side->members) {
            tepal_blocks_add(side->blocks, retouch_false(run, key), false);
        } else if (run->foreign != NULL && bits_test(run->foreign, key)) {
            tepal_blocks_skip(side->blocks);
        } else {
            tepal_blocks_add(side->blocks, run->in->members[key], bits_test(run->lost, key));
        }
    }
    tepal_blocks_sort(side->blocks);
}

/* Bits that were seen, bits that were seen again: the others have one owner. */
struct seen {
    uint64_t *once;
    uint64_t *again;
};

/* What is read of a block, in its order: faster than to wait for it in another. */
static void fetch_block(const struct retouch *run, const struct blocks *blocks, uint32_t block,
                        const struct seen *seen)
{
    const size_t line = 8; /* words */
    size_t first = (size_t)block << blocks->shift >> 6;
    size_t end = first + ((size_t)1 << blocks->shift >> 6);
    end = end < run->from->head.word_count ? end : run->from->head.word_count;
    for (size_t word = first; word < end; word += line) {
        __builtin_prefetch(&run->touched[word]);
        __builtin_prefetch(&run->rank[word]);
        if (seen != NULL) {
            __builtin_prefetch(&seen->once[word], 1);
            __builtin_prefetch(&seen->again[word], 1);
        }
    }
}

/* The hits of a slab, where its positions were. Returns how many there are. */
static uint32_t find_hits(struct retouch *run, struct side *side, uint32_t slab,
                          const struct seen *seen)
{
    const struct blocks *blocks = side->blocks;
    uint32_t count = 0;
    for (uint32_t b = 0; b < blocks->count; b++) {
        fetch_block(run, blocks, b, seen);
        for (uint32_t i = blocks->end[b]; i < blocks->end[b + 1]; i++) {
            uint64_t entry = blocks->sorted[i];
            uint64_t position = blocks_position(blocks, b, entry);
            if (seen != NULL && !blocks_marked(entry)) {
                uint64_t bit = (uint64_t)1 << (position & 63);
                seen->again[position >> 6] |= seen->once[position >> 6] & bit;
                seen->once[position >> 6] |= bit;
            }
            if (!bits_test(run->touched, position)) {
                continue;
            }
            uint32_t id = retouch_number(run, position);
            if (side->members) {
                bits_set(run->owned, id);
            }
            if (!blocks_marked(entry)) {
                blocks->sorted[count++] = (uint64_t)id << 32 | blocks_index(entry);
            }
        }
        side->end[(size_t)slab * blocks->count + b] = count;
    }
    return count;
}

static enum tepal_status gather(struct retouch *run, struct arena *work, struct side *side,
                                const struct seen *seen)
{
    for (uint32_t slab = 0; slab < side->slabs; slab++) {
        if (!work_done(&run->work, (double)slab / side->slabs)) {
            return TEPAL_STOPPED;
        }
        sort_slab(run, side, slab);
        uint32_t count = find_hits(run, side, slab, seen);
        side->hits[slab] = tepal_arena_raw(work, count, sizeof **side->hits);
        if (side->hits[slab] == NULL) {
            return TEPAL_NO_MEMORY;
        }
        memcpy(side->hits[slab], side->blocks->sorted, count * sizeof **side->hits);
        side->total += count;
    }
    return TEPAL_OK;
}

/* ---- lists ----------------------------------------------------------------------------------- */

#define AGAIN UINT32_MAX /* instead of an index: the key has the bit already */

/* The hits of a block in a slab. */
static uint64_t *block_hits(const struct side *side, uint32_t block, uint32_t slab, uint32_t *count)
{
    const uint32_t *end = side->end + (size_t)slab * side->blocks->count + block;
    uint32_t first = block == 0 ? 0 : end[-1];
    *count = *end - first;
    return side->hits[slab] + first;
}

static uint32_t key_of(const struct side *side, uint32_t slab, uint64_t hit)
{
    return slab * side->blocks->room + (uint32_t)hit / side->blocks->at->hashes;
}

/* The lengths of the lists of a block; latest[bit] is the last key that has it, + 1. */
static void count_block(struct retouch *run, const struct side *side, uint32_t block,
                        uint32_t first, uint32_t *latest)
{
    uint32_t *length = run->keys.start + (side->members ? 1 : 2);
    for (uint32_t slab = 0; slab < side->slabs; slab++) {
        uint32_t count;
        uint64_t *hit = block_hits(side, block, slab, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t bit = (uint32_t)(hit[i] >> 32);
            uint32_t key = key_of(side, slab, hit[i]);
            if (latest[bit - first] == key + 1) {
                hit[i] |= AGAIN;
                continue;
            }
            latest[bit - first] = key + 1;
            length[2 * (size_t)bit]++;
        }
    }
}

/* The keys of every bit of a block, ascending. start[L] is where the next one of list L goes. */
static void place_block(struct retouch *run, const struct side *side, uint32_t block)
{
    uint32_t *next = run->keys.start + (side->members ? 0 : 1);
    for (uint32_t slab = 0; slab < side->slabs; slab++) {
        uint32_t count;
        const uint64_t *hit = block_hits(side, block, slab, &count);
        for (uint32_t i = 0; i < count; i++) {
            if ((uint32_t)hit[i] != AGAIN) {
                run->keys.item[next[2 * (hit[i] >> 32)]++] = key_of(side, slab, hit[i]);
            }
        }
    }
}

/* The number of the first touched bit behind a block. */
static uint32_t bits_end(const struct retouch *run, const struct blocks *blocks, uint32_t block)
{
    uint64_t word = ((uint64_t)block + 1) << blocks->shift >> 6;
    return word < run->from->head.word_count ? run->rank[word] : run->bits;
}

static uint32_t most_bits(const struct retouch *run, const struct blocks *blocks)
{
    uint32_t first = 0;
    uint32_t most = 0;
    for (uint32_t b = 0; b < blocks->count; b++) {
        uint32_t end = bits_end(run, blocks, b);
        most = end - first > most ? end - first : most;
        first = end;
    }
    return most;
}

/*
 * All lists of keys. Those of a block are made while it is in the cache: lengths, starts, places.
 * Then the start of each list has become its end, and is moved to where that belongs.
 */
static void list_keys(struct retouch *run, const struct side *falses, const struct side *members,
                      uint32_t *latest)
{
    const struct blocks *blocks = falses->blocks;
    uint32_t *start = run->keys.start;
    uint32_t first = 0;
    for (uint32_t b = 0; b < blocks->count; b++) {
        uint32_t end = bits_end(run, blocks, b);
        uint32_t begin = start[2 * (size_t)first];
        memset(latest, 0, (end - first) * sizeof *latest);
        count_block(run, falses, b, first, latest);
        memset(latest, 0, (end - first) * sizeof *latest);
        count_block(run, members, b, first, latest);
        for (size_t list = 2 * (size_t)first; list < 2 * (size_t)end; list++) {
            start[list + 1] += start[list];
        }
        place_block(run, falses, b);
        place_block(run, members, b);
        for (size_t list = 2 * (size_t)end; list > 2 * (size_t)first; list--) {
            start[list] = start[list - 1];
        }
        start[2 * (size_t)first] = begin;
        first = end;
    }
}

/* Where the bits of a key start: in lists, or in what is known of members. */
static uint32_t *first_bit(struct retouch *run, const struct side *side, uint32_t key)
{
    return side->members ? &run->member[key].first : &run->false_bits.start[key];
}

/* The bits of every key, in the order of its hashes. */
static enum tepal_status list_bits(struct retouch *run, struct arena *work, const struct side *side,
                                   uint32_t *item)
{
    uint32_t k = side->blocks->at->hashes;
    /* Of each position of a slab: the number of its bit, + 1. */
    uint32_t *number = tepal_arena_take(work, (uint64_t)side->blocks->room * k, sizeof *number);
    if (number == NULL) {
        return TEPAL_NO_MEMORY;
    }
    uint32_t end = 0;
    *first_bit(run, side, 0) = 0;
    for (uint32_t slab = 0; slab < side->slabs; slab++) {
        uint32_t hits = side->end[(size_t)(slab + 1) * side->blocks->count - 1];
        for (uint32_t i = 0; i < hits; i++) {
            uint64_t hit = side->hits[slab][i];
            if ((uint32_t)hit != AGAIN) {
                number[(uint32_t)hit] = (uint32_t)(hit >> 32) + 1;
            }
        }
        uint32_t at = 0;
        uint32_t first = slab * side->blocks->room;
        for (uint32_t key = first; key < first + slab_keys(side, slab); key++) {
            for (uint32_t j = 0; j < k; j++, at++) {
                if (number[at] != 0) {
                    item[end++] = number[at] - 1;
                    number[at] = 0;
                }
            }
            *first_bit(run, side, key + 1) = end;
        }
    }
    return TEPAL_OK;
}

/* Those of both sides, for methods that ask often. */
static enum tepal_status list_all_bits(struct retouch *run, struct arena *work,
                                       const struct side *falses, const struct side *members)
{
    struct retouch_lists *bits = &run->false_bits;
    bits->start = tepal_arena_raw(&run->arena, (uint64_t)falses->count + 1, sizeof *bits->start);
    bits->item = tepal_arena_raw(&run->arena, falses->total, sizeof *bits->item);
    run->member = tepal_arena_take(&run->arena, (uint64_t)members->count + 1, sizeof *run->member);
    run->member_bits = tepal_arena_raw(&run->arena, members->total, sizeof *run->member_bits);
    if (bits->start == NULL || bits->item == NULL || run->member == NULL ||
        run->member_bits == NULL) {
        return TEPAL_NO_MEMORY;
    }
    enum tepal_status status = list_bits(run, work, falses, bits->item);
    return status == TEPAL_OK ? list_bits(run, work, members, run->member_bits) : status;
}

/* ---- what a member alone has ----------------------------------------------------------------- */

/*
 * How many of the bits of a member, touched or not, nobody else has: for members that have a
 * touched one. (If it hits a bit twice, that is seen again: it is a matter of ties.)
 */
static void count_alone(const struct retouch *run, struct side *members, const struct seen *seen)
{
    struct blocks *blocks = members->blocks;
    struct retouch_member *member = run->member;
    for (uint32_t slab = 0; slab < members->slabs; slab++) {
        uint32_t first = slab * blocks->room;
        uint32_t count = slab_keys(members, slab);
        tepal_blocks_clear(blocks);
        for (uint32_t key = first; key < first + count; key++) {
            if (member[key].first == member[key + 1].first) {
                tepal_blocks_skip(blocks);
            } else {
                tepal_blocks_add(blocks, run->in->members[key], false);
            }
        }
        tepal_blocks_sort(blocks);
        for (uint32_t b = 0; b < blocks->count; b++) {
            for (uint32_t i = blocks->end[b]; i < blocks->end[b + 1]; i++) {
                uint64_t entry = blocks->sorted[i];
                uint32_t key = first + blocks_index(entry) / blocks->at->hashes;
                bool shared = bits_test(seen->again, blocks_position(blocks, b, entry));
                member[key].alone += !shared;
            }
        }
    }
}

/* ---- the index ------------------------------------------------------------------------------- */

/* The lists of both sides; `work` is released by the caller. */
static enum tepal_status list(struct retouch *run, struct arena *work, struct side *falses,
                              struct side *members)
{
    bool sacrifice = run->how->method == TEPAL_RETOUCH_SACRIFICE && !run->blind;
    size_t words = run->from->head.word_count;
    struct seen seen = {NULL, NULL};
    if (sacrifice) {
        seen.once = tepal_arena_take(work, words, 8);
        seen.again = tepal_arena_take(work, words, 8);
        if (seen.once == NULL || seen.again == NULL) {
            return TEPAL_NO_MEMORY;
        }
    }
    enum tepal_status status = gather(run, work, falses, NULL);
    if (status == TEPAL_OK) {
        status = gather(run, work, members, sacrifice ? &seen : NULL);
    }
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t total = falses->total + members->total;
    if (total > UINT32_MAX) {
        return TEPAL_TOO_LARGE;
    }
    uint64_t starts = 2 * (uint64_t)run->bits + 1;
    uint32_t *latest = tepal_arena_raw(work, most_bits(run, falses->blocks), sizeof *latest);
    run->keys.start = tepal_arena_take(&run->arena, starts, sizeof *run->keys.start);
    run->keys.item = tepal_arena_raw(&run->arena, total, sizeof *run->keys.item);
    if (latest == NULL || run->keys.start == NULL || run->keys.item == NULL) {
        return TEPAL_NO_MEMORY;
    }
    list_keys(run, falses, members, latest);
    if (sacrifice) {
        status = list_all_bits(run, work, falses, members);
        if (status == TEPAL_OK) {
            count_alone(run, members, &seen);
        }
    }
    return status;
}

static enum tepal_status make_lists(struct retouch *run)
{
    struct arena work = {.allocator = run->arena.allocator};
    struct blocks blocks;
    struct side falses = {.blocks = &blocks, .count = run->false_count};
    struct side members = {.blocks = &blocks, .members = true};
    members.count = run->blind ? 0 : (uint32_t)run->in->member_count;
    uint64_t most = falses.count > members.count ? falses.count : members.count;
    enum tepal_status status = TEPAL_NO_MEMORY;
    if (tepal_blocks_open(&blocks, &work, &run->from->at, most) && open_side(&work, &falses) &&
        open_side(&work, &members)) {
        status = list(run, &work, &falses, &members);
    }
    tepal_arena_release(&work, NULL);
    return status;
}

enum tepal_status tepal_retouch_index(struct retouch *run)
{
    size_t words = run->from->head.word_count;
    uint64_t bits = tepal_bits_count(run->touched, words);
    if (bits > UINT32_MAX - 2) {
        return TEPAL_TOO_LARGE;
    }
    run->bits = (uint32_t)bits;
    run->rank = tepal_arena_take(&run->arena, words, sizeof *run->rank);
    run->owned = tepal_arena_bitmap(&run->arena, bits);
    run->cleared = tepal_arena_bitmap(&run->arena, bits);
    run->gone = tepal_arena_bitmap(&run->arena, (uint64_t)run->false_count);
    if (run->rank == NULL || run->owned == NULL || run->cleared == NULL || run->gone == NULL) {
        return TEPAL_NO_MEMORY;
    }
    number_bits(run);
    enum tepal_status status = make_lists(run);
    return status == TEPAL_OK && run->blind ? tepal_retouch_blind_index(run) : status;
}
