/* ring.c: addresses by eq. (8), and counters that are changed one by one. */
#include "paper002/ring.h"

#include <stdio.h>
#include <string.h>

/* ---- addresses ------------------------------------------------------------------------------- */

struct ring_pair ring_hash(const uint64_t table[256], enum lab_002_method method, const char *name,
                           uint32_t choice)
{
    char text[LAB_002_NAME + 8];
    snprintf(text, sizeof text, choice == 0 ? "%s" : "%s%u", name, choice);
    uint32_t out[2] = {(uint32_t)lab_002_sdbm(text), (uint32_t)lab_002_buz(table, text)};
    if (method != LAB_002_SDBM_BUZ) {
        lab_002_twister(out[method == LAB_002_BUZ_MT], out, 2);
    }
    return (struct ring_pair){out[0], out[1]};
}

void ring_hash_all(const struct lab_002_names *list, const uint64_t table[256],
                   enum lab_002_method method, size_t count, struct ring_pair (*pair)[RING_CHOICES])
{
    for (size_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < RING_CHOICES; j++) {
            pair[i][j] = ring_hash(table, method, list->text[i], j);
        }
    }
}

/* Eq. (8), each counter once: a progression that returns to its start is shorter than k. */
uint32_t ring_progression(const struct ring *r, struct ring_pair pair, uint64_t *out)
{
    uint64_t at = pair.g1 % r->m;
    uint32_t count = 0;
    do {
        out[count++] = at;
        at = (at + pair.g2) % r->m;
    } while (count < r->k && at != out[0]);
    return count;
}

uint32_t ring_address(const struct ring *r, size_t key, uint32_t choice, uint64_t *out)
{
    return r->method == LAB_002_OURS
               ? tepal_counting_positions(r->counting, r->digest[key], choice, out)
               : ring_progression(r, r->pair[key][choice], out);
}

bool ring_all_above(const struct ring *r, const uint64_t *at, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && tepal_counting_at(r->counting, at[i]) > 0) {
        i++;
    }
    return i == count;
}

/* In how many of its groups a key is found. */
uint32_t ring_groups(const struct ring *r, size_t key)
{
    uint32_t found = 0;
    uint64_t groups =
        r->method == LAB_002_OURS ? tepal_counting_groups(r->counting, r->digest[key]) : 0;
    for (; groups != 0; groups &= groups - 1) {
        found++;
    }
    for (uint32_t j = 0; j < r->c && r->method != LAB_002_OURS; j++) {
        uint64_t at[TEPAL_MAX_HASHES];
        found += ring_all_above(r, at, ring_address(r, key, j, at));
    }
    return found;
}

/* ---- counters, one by one -------------------------------------------------------------------- */

/* The key of a filter with one hash that has this position. */
static struct tepal_digest key_at(const struct ring *r, uint64_t position)
{
    return (struct tepal_digest){0, position * (UINT64_MAX / r->m + 1)};
}

/* Algorithm 1, the improved greedy one; what is left is by chance. */
static uint32_t choose(const struct ring *r, size_t key)
{
    uint32_t best = 0;
    uint32_t equal = 0;
    uint32_t score[3] = {UINT32_MAX, 0, 0}; /* counters that become 1, that are 1, the largest */
    for (uint32_t j = 0; j < r->c; j++) {
        uint64_t at[TEPAL_MAX_HASHES];
        uint32_t count = ring_address(r, key, j, at);
        uint32_t now[3] = {0, 0, 0};
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = tepal_counting_at(r->counting, at[i]);
            now[0] += v == 0;
            now[1] += v == 1;
            now[2] = v > now[2] ? v : now[2];
        }
        bool same = now[0] == score[0] && now[1] == score[1] && now[2] == score[2];
        bool better =
            now[0] < score[0] || (now[0] == score[0] &&
                                  (now[1] > score[1] || (now[1] == score[1] && now[2] < score[2])));
        equal = same ? equal + 1 : better ? 1 : equal;
        if (better || (same && lab_draw(r->lab) % equal == 0)) {
            best = j;
            memcpy(score, now, sizeof score);
        }
    }
    return best;
}

/* Add 1 to each counter of an address, or take 1 away. */
void ring_change(const struct ring *r, const uint64_t *at, uint32_t count, bool up)
{
    for (uint32_t i = 0; i < count; i++) {
        if (up) {
            (void)tepal_filter_add(r->counting, key_at(r, at[i]));
        } else {
            (void)tepal_filter_remove(r->counting, key_at(r, at[i]));
        }
    }
}

uint32_t ring_insert(const struct ring *r, size_t key)
{
    uint64_t at[TEPAL_MAX_HASHES];
    uint32_t choice = choose(r, key);
    ring_change(r, at, ring_address(r, key, choice, at), true);
    return choice;
}

int ring_fill(struct ring *r, uint32_t ratio, uint32_t c)
{
    bool ours = r->method == LAB_002_OURS;
    r->m = (uint64_t)ratio * RING_KEYS;
    r->k = (uint32_t)(ratio * log(2));
    r->c = lab_sabotaged(r->lab) ? 1 : c;
    r->counting = lab_002_filter(r->m, ours ? r->k : 1, ours ? r->c : 1, 0, 0);
    if (r->counting == NULL) {
        return EXIT_TROUBLE;
    }
    if (ours) {
        (void)tepal_counting_add_many(r->counting, r->digest, RING_KEYS, r->group);
    }
    for (size_t key = 0; key < RING_KEYS && !ours; key++) {
        r->group[key] = (uint8_t)ring_insert(r, key);
    }
    return EXIT_YES;
}
