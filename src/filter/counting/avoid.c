/*
 * avoid.c: keys that a counting filter must not find, as they become known: Algorithm 2 (Minimum FN
 * Selection) of the retouched Bloom filter, without the members, for the counters are v_A.
 *
 *     counters   0 2 0 1 3 0 2 ...         a key with the counters 2, 1 and 3 that is no member
 *     bits       0 1 0 0 1 0 1 ...         the bit of the 1 is cleared, the counter stays
 *                      ^
 *
 * A key that is not found any more is one that lacks a bit in each of its groups. Members that lack
 * one are lost: those that the counters of the cleared bits count, at most (a member may be counted
 * by several of them, or be found in another group). COUNTING_LOST is that sum, now: additions set
 * bits again and take them out of it, and a lost member that is removed leaves its counters.
 */
#include "filter/counting/internal.h"

#include <string.h>

#include "base/refuse.h"

static enum tepal_status has_counters(const struct tepal_filter *filter, struct tepal_error *error)
{
    return counting_counts(filter) ? TEPAL_OK : refuse(error, TEPAL_UNSUPPORTED, COUNTING_DROPPED);
}

enum tepal_status tepal_counting_op_allow(struct tepal_filter *filter, uint64_t members,
                                          struct tepal_error *error)
{
    enum tepal_status status = has_counters(filter, error);
    if (status == TEPAL_OK && members < filter->state.own[COUNTING_LOST]) {
        status = refuse(error, TEPAL_BAD_ARGUMENT, "more members than that may be lost already");
    }
    if (status == TEPAL_OK) {
        filter->params.counting.most_lost = members;
        tepal_filter_open(filter);
    }
    return status;
}

/* The position of the smallest counter, the lowest one among equals. Are any below the limit? */
static bool least(const struct tepal_counting *counting, const uint64_t *positions, uint32_t count,
                  uint64_t *out)
{
    uint32_t best = counting->most;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = counting_value(counting, positions[i]);
        if (value < best || (value == best && best < counting->most && positions[i] < *out)) {
            best = value;
            *out = positions[i];
        }
    }
    return best < counting->most;
}

/* Clear a bit in each group that holds the key, or none. How many; 0: it is beyond the budget. */
static uint32_t avoid(struct tepal_counting *counting, struct tepal_digest digest, uint64_t groups)
{
    uint64_t cleared[TEPAL_MAX_CHOICES];
    uint32_t count = 0;
    bool can = true;
    for (; groups != 0 && can; groups &= groups - 1) {
        uint64_t positions[TEPAL_MAX_HASHES];
        uint32_t group = (uint32_t)__builtin_ctzll(groups);
        uint32_t drawn = tepal_counting_draw(counting, counting_group(digest, group), positions);
        if (!counting_holds(counting, positions, drawn)) {
            continue; /* it shared the bit of another group */
        }
        can = least(counting, positions, drawn, &cleared[count]);
        if (can) {
            tepal_counting_hide(counting, cleared[count++]);
        }
    }
    if (can &&
        counting->head.state.own[COUNTING_LOST] <= counting->head.params.counting.most_lost) {
        return count;
    }
    while (count > 0) {
        tepal_counting_show(counting, cleared[--count]);
    }
    return 0;
}

enum tepal_status tepal_counting_op_avoid(struct tepal_filter *filter,
                                          const struct tepal_digest *digests, size_t count,
                                          uint64_t *refused, struct tepal_avoided *done,
                                          struct tepal_error *error)
{
    struct tepal_counting *counting = counting_of(filter);
    const uint64_t *lost = &filter->state.own[COUNTING_LOST];
    enum tepal_status status = has_counters(filter, error);
    if (status != TEPAL_OK) {
        return status;
    }
    if (!counting->learns) {
        return refuse(error, TEPAL_BAD_ARGUMENT, FILTER_NO_BUDGET);
    }
    uint64_t before = *lost;
    if (refused != NULL) {
        memset(refused, 0, (count + 63) / 64 * 8);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t groups = tepal_counting_holding(counting, digests[i]);
        uint32_t cleared = groups == 0 ? 0 : avoid(counting, digests[i], groups);
        bool refuses = groups != 0 && cleared == 0;
        done->absent += groups == 0;
        done->avoided += cleared > 0;
        done->refused += refuses;
        done->cleared += cleared;
        if (refused != NULL) {
            refused[i / 64] |= (uint64_t)refuses << (i % 64);
        }
    }
    done->lost = (double)(*lost - before);
    done->lost_all = (double)*lost;
    done->most_lost = (double)filter->params.counting.most_lost;
    done->members = (double)counting_keys_now(counting);
    return TEPAL_OK;
}
