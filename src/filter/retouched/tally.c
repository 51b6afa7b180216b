/*
 * tally.c: the index of a run (internal.h): from the touched bits to numbers, owners and
 * users. What the paper calls counting vectors (CREATECV, CREATEFV of Algorithms 2 and 3) and
 * ElementList vectors (Fig. 7) are both read off it.
 *
 * Each list is made in two passes over its keys: count, then place. Most positions of most members
 * are not touched at all; to find that out is a random read of the bitmap, so positions of several
 * keys are computed and their words prefetched before any is read.
 *
 * Cost: four times k positions a key; 4 bytes for each touched bit and for each entry of a list.
 */
#include "filter/retouched/internal.h"

#include "address/address.h"

#define AHEAD 16

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

/* A key has a touched bit. */
struct hit {
    uint32_t key;
    uint32_t bit;
};

/*
 * The hits of `here` keys from `first` on, a bit once a key. In three steps, each of which asks for
 * the memory that the next one reads.
 */
static uint32_t find_hits(const struct retouch *run, bool members, uint32_t first, uint32_t here,
                          struct hit *hits)
{
    const uint32_t *start = run->keys.start;
    uint64_t at[AHEAD][TEPAL_MAX_HASHES];
    uint32_t k = 0;
    for (uint32_t i = 0; i < here; i++) {
        struct tepal_digest d =
            members ? run->in->members[first + i] : retouch_false(run, first + i);
        k = tepal_address_positions(&run->from->at, d, at[i]);
        for (uint32_t j = 0; j < k; j++) {
            bits_prefetch(run->touched, at[i][j]);
        }
    }
    for (uint32_t i = 0; i < here; i++) {
        uint32_t kept = 0;
        for (uint32_t j = 0; j < k; j++) {
            uint32_t earlier = 0;
            if (!bits_test(run->touched, at[i][j])) {
                continue;
            }
            while (earlier < kept && at[i][earlier] != at[i][j]) {
                earlier++;
            }
            if (earlier == kept) {
                __builtin_prefetch(&run->rank[at[i][j] >> 6]);
                at[i][kept++] = at[i][j];
            }
        }
        if (kept < TEPAL_MAX_HASHES) {
            at[i][kept] = UINT64_MAX; /* the end */
        }
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < here; i++) {
        for (uint32_t j = 0; j < TEPAL_MAX_HASHES && at[i][j] != UINT64_MAX; j++) {
            uint32_t bit = retouch_number(run, at[i][j]);
            __builtin_prefetch(&start[2 * (size_t)bit + 1], 1);
            hits[count++] = (struct hit){first + i, bit};
        }
    }
    return count;
}

/* The bits of the keys `first` on, `here` of them, behind those of the keys before. */
static void note_bits(const struct retouch *run, struct retouch_lists *bits, bool members,
                      uint32_t first, uint32_t here, const struct hit *hits, uint32_t found)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < here; i++) {
        uint32_t key = first + i;
        uint32_t end = bits->start[key];
        bool earlier = members && bits_test(run->lost, key);
        for (; at < found && hits[at].key == key; at++) {
            if (!earlier) {
                bits->item[end++] = hits[at].bit;
            }
        }
        bits->start[key + 1] = end;
    }
}

/*
 * One pass over members or false positives, into their lists: while `keys.item` is NULL, it counts.
 * `bits` gets the lists by key; NULL: they are not wanted. Returns the number of entries.
 */
static uint64_t pass(struct retouch *run, struct retouch_lists *bits, bool members)
{
    struct hit hits[AHEAD * TEPAL_MAX_HASHES];
    uint32_t count = members ? (uint32_t)run->in->member_count : run->false_count;
    /* `first[L]` is counted up while list L - 1 is filled: then it is where list L begins. */
    uint32_t *first = run->keys.start + (members ? 1 : 2);
    uint32_t *item = run->keys.item;
    uint64_t entries = 0;
    for (uint32_t from = 0; from < count; from += AHEAD) {
        uint32_t here = count - from < AHEAD ? count - from : AHEAD;
        uint32_t found = find_hits(run, members, from, here, hits);
        if (bits != NULL) {
            note_bits(run, bits, members, from, here, hits, found);
        }
        for (uint32_t i = 0; i < found && item != NULL; i++) {
            __builtin_prefetch(&item[first[2 * (size_t)hits[i].bit]], 1);
        }
        for (uint32_t i = 0; i < found; i++) {
            uint32_t bit = hits[i].bit;
            uint32_t key = hits[i].key;
            if (members && item == NULL &&
                (run->foreign == NULL || !bits_test(run->foreign, key))) {
                bits_set(run->owned, bit);
            }
            if (members && bits_test(run->lost, key)) {
                continue; /* an earlier victim: its bits are known, it cannot be lost again */
            }
            entries++;
            if (item == NULL) {
                first[2 * (size_t)bit + 1]++;
            } else {
                item[first[2 * (size_t)bit]++] = key;
            }
        }
    }
    return entries;
}

/* Room for `entries` bits of `count` keys. */
static bool take_bits(struct retouch *run, struct retouch_lists *bits, uint32_t count,
                      uint64_t entries)
{
    bits->start = tepal_arena_take(&run->arena, (uint64_t)count + 1, sizeof *bits->start);
    bits->item = tepal_arena_take(&run->arena, entries, sizeof *bits->item);
    return bits->start != NULL && bits->item != NULL;
}

/*
 * The lists. While placing, start[L + 1] is where the next entry of list L goes; when all are
 * placed it is the end of the list, which is the start of the next one.
 */
static enum tepal_status list(struct retouch *run)
{
    bool by_key = run->how->method == TEPAL_RETOUCH_SACRIFICE && !run->blind;
    uint64_t starts = 2 * (uint64_t)run->bits + 2;
    run->keys.start = tepal_arena_take(&run->arena, starts, sizeof *run->keys.start);
    if (run->keys.start == NULL) {
        return TEPAL_NO_MEMORY;
    }
    uint64_t users = pass(run, NULL, false);
    uint64_t owners = run->blind ? 0 : pass(run, NULL, true);
    if (users + owners > UINT32_MAX) {
        return TEPAL_TOO_LARGE;
    }
    for (uint64_t i = 1; i < starts; i++) {
        run->keys.start[i] += run->keys.start[i - 1];
    }
    run->keys.item = tepal_arena_take(&run->arena, users + owners, sizeof *run->keys.item);
    if (run->keys.item == NULL ||
        (by_key && !(take_bits(run, &run->false_bits, run->false_count, users) &&
                     take_bits(run, &run->member_bits, (uint32_t)run->in->member_count, owners)))) {
        return TEPAL_NO_MEMORY;
    }
    (void)pass(run, by_key ? &run->false_bits : NULL, false);
    if (!run->blind) {
        (void)pass(run, by_key ? &run->member_bits : NULL, true);
    }
    return TEPAL_OK;
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
    enum tepal_status status = list(run);
    return status == TEPAL_OK && run->blind ? tepal_retouch_blind_index(run) : status;
}
