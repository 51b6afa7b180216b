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
                          struct hit *hits, const uint32_t *start)
{
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
            __builtin_prefetch(&start[bit + 1], 1);
            hits[count++] = (struct hit){first + i, bit};
        }
    }
    return count;
}

/* One pass over members or false positives; `lists->item` is NULL while counting. */
static void pass(struct retouch *run, struct retouch_lists *lists, bool members, uint32_t count)
{
    struct hit hits[AHEAD * TEPAL_MAX_HASHES];
    for (uint32_t first = 0; first < count; first += AHEAD) {
        uint32_t here = count - first < AHEAD ? count - first : AHEAD;
        uint32_t found = find_hits(run, members, first, here, hits, lists->start);
        if (lists->item != NULL) {
            for (uint32_t i = 0; i < found; i++) {
                __builtin_prefetch(&lists->item[lists->start[hits[i].bit + 1]], 1);
            }
        }
        for (uint32_t i = 0; i < found; i++) {
            uint32_t bit = hits[i].bit;
            uint32_t key = hits[i].key;
            if (members && lists->item == NULL &&
                (run->foreign == NULL || !bits_test(run->foreign, key))) {
                bits_set(run->owned, bit);
            }
            if (members && bits_test(run->lost, key)) {
                continue; /* an earlier victim: its bits are known, it cannot be lost again */
            }
            if (lists->item == NULL) {
                lists->start[bit + 2]++;
            } else {
                lists->item[lists->start[bit + 1]++] = key;
            }
        }
    }
}

static enum tepal_status list(struct retouch *run, struct retouch_lists *lists, bool members,
                              uint32_t count)
{
    /*
     * While placing, start[i + 1] is where the next entry of bit i goes; when all are placed it is
     * the end of its list, which is the start of the next one.
     */
    lists->start = tepal_arena_take(&run->arena, (uint64_t)run->bits + 2, sizeof *lists->start);
    if (lists->start == NULL) {
        return TEPAL_NO_MEMORY;
    }
    pass(run, lists, members, count);
    uint64_t total = 0;
    for (uint64_t i = 0; i < (uint64_t)run->bits + 2; i++) {
        total += lists->start[i];
        if (total > UINT32_MAX) {
            return TEPAL_TOO_LARGE;
        }
        lists->start[i] = (uint32_t)total;
    }
    lists->item = tepal_arena_take(&run->arena, total, sizeof *lists->item);
    if (lists->item == NULL) {
        return TEPAL_NO_MEMORY;
    }
    pass(run, lists, members, count);
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
    enum tepal_status status = list(run, &run->users, false, run->false_count);
    if (status != TEPAL_OK) {
        return status;
    }
    return run->blind ? tepal_retouch_blind_index(run)
                      : list(run, &run->owners, true, (uint32_t)run->in->member_count);
}
