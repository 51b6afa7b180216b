/*
 * batch.c: many keys at once. Counters and bits of a key are cache lines all over the
 * filter; what makes batches fast is to ask for those of later keys before the first is needed. A
 * rolling window of plans (the positions of a key's groups) does that for additions and removals;
 * queries ask the bits alone, through the Bloom filter's kernels.
 */
#include "filter/counting/internal.h"

#include <string.h>

#include "base/checked.h"

/* ---- additions and removals ------------------------------------------------------------------ */

#define PLAN_POSITIONS 64 /* a plan holds so many; keys with more of them go one by one */
#define PLANS          32

/* A key and the distinct positions of the groups that matter, one after the other. */
struct plan {
    struct tepal_digest digest;
    uint32_t groups;
    uint32_t first; /* the number of the first of the groups */
    uint32_t end[PLAN_POSITIONS];
    uint64_t position[PLAN_POSITIONS + TEPAL_MAX_HASHES];
};

static void fetch(const struct tepal_counting *counting, uint64_t position)
{
    uint64_t slot = counting_slot(counting, position);
    __builtin_prefetch(&counting->head.words[slot >> (6 - counting->wide)], 1);
    __builtin_prefetch(&counting->bits[position >> 6], 1);
}

/* Positions of groups first .. first + groups - 1, and the requests for their lines. */
static void draw_up(const struct tepal_counting *counting, struct tepal_digest digest,
                    uint32_t first, uint32_t groups, struct plan *plan)
{
    uint32_t end = 0;
    plan->digest = digest;
    plan->first = first;
    plan->groups = groups;
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t start = end;
        end +=
            tepal_counting_draw(counting, counting_group(digest, first + g), plan->position + end);
        plan->end[g] = end;
        if (counting->at.layout == TEPAL_LAYOUT_BLOCKED && !counting->spread) {
            uint64_t line = plan->position[start] & ~(uint64_t)127;
            fetch(counting, line);
            if (counting->wide == COUNTERS_WIDE) {
                fetch(counting, line + 64); /* the counters are two cache lines */
            }
            continue;
        }
        for (uint32_t i = start; i < end; i++) {
            fetch(counting, plan->position[i]);
        }
    }
}

static const uint64_t *positions_of(const struct plan *plan, uint32_t g, uint32_t *count)
{
    uint32_t start = g == 0 ? 0 : plan->end[g - 1];
    *count = plan->end[g] - start;
    return plan->position + start;
}

/* How many keys ahead: about so many cache lines are kept under way. */
static size_t keys_ahead(const struct tepal_counting *counting, uint32_t groups)
{
    uint32_t each = counting->spread ? 5 : 2; /* of bits, and of counters */
    uint32_t lines = counting->at.layout == TEPAL_LAYOUT_BLOCKED  ? each
                     : counting->at.layout == TEPAL_LAYOUT_PAIRED ? 2 * each
                                                                  : 2 * counting->at.hashes;
    size_t ahead = 128 / ((size_t)lines * groups);
    return ahead == 0 ? 1 : ahead > PLANS ? PLANS : ahead;
}

static uint8_t add_plan(struct tepal_counting *counting, const struct plan *plan)
{
    uint32_t count;
    uint32_t chosen = 0;
    if (plan->groups > 1) {
        struct counting_ties ties;
        ties.cost = UINT64_MAX;
        ties.count = 0;
        for (uint32_t g = 0; g < plan->groups; g++) {
            const uint64_t *positions = positions_of(plan, g, &count);
            counting_offer(&ties, g, tepal_counting_cost(counting, positions, count));
        }
        chosen = counting_take(&ties, plan->digest);
    }
    const uint64_t *positions = positions_of(plan, chosen, &count);
    tepal_counting_raise(counting, positions, count);
    return (uint8_t)chosen;
}

static bool fits_plan(const struct tepal_counting *counting, uint32_t groups)
{
    return groups * counting->at.hashes <= PLAN_POSITIONS;
}

static void add_planned(struct tepal_counting *counting, const struct tepal_digest *digests,
                        size_t count, uint8_t *groups)
{
    struct plan plans[PLANS];
    size_t ahead = keys_ahead(counting, counting->choices);
    size_t drawn = 0;
    for (size_t i = 0; i < count; i++) {
        for (; drawn < count && drawn < i + ahead; drawn++) {
            draw_up(counting, digests[drawn], 0, counting->choices, &plans[drawn % PLANS]);
        }
        uint8_t group = add_plan(counting, &plans[i % PLANS]);
        if (groups != NULL) {
            groups[i] = group;
        }
    }
    filter_count_keys(&counting->head, count);
}

void tepal_counting_add_lines(struct tepal_counting *counting, const struct tepal_digest *digests,
                              size_t count)
{
    if (!counting->in_long) {
        tepal_counting_blocked_add_avx2(counting, digests, count);
    } else if (counting->in_lanes) {
        tepal_counting_long_add_avx2(counting, digests, count);
    } else {
        tepal_counting_long_add(counting, digests, count);
    }
}

enum tepal_status tepal_counting_add_many(struct tepal_filter *filter,
                                          const struct tepal_digest *digests, size_t count,
                                          uint8_t *groups)
{
    enum tepal_status status = counting_writable(filter);
    if (status != TEPAL_OK) {
        return status;
    }
    struct tepal_counting *counting = counting_of(filter);
    if (counting->in_lanes || counting->in_long) {
        tepal_counting_add_lines(counting, digests, count);
        filter_count_keys(filter, count);
        if (groups != NULL) {
            memset(groups, 0, count);
        }
        return TEPAL_OK;
    }
    if (fits_plan(counting, counting->choices)) {
        add_planned(counting, digests, count, groups);
        return TEPAL_OK;
    }
    for (size_t i = 0; i < count; i++) {
        (void)tepal_counting_add(filter, digests[i], groups == NULL ? NULL : &groups[i]);
    }
    return TEPAL_OK;
}

enum tepal_status tepal_counting_op_add_many(struct tepal_filter *filter,
                                             const struct tepal_digest *digests, size_t count)
{
    return tepal_counting_add_many(filter, digests, count, NULL);
}

/* Removal by the policy, as tepal_counting_op_remove does it, from a plan of all groups. */
static bool remove_plan(struct tepal_counting *counting, const struct plan *plan)
{
    uint64_t *own = counting->head.state.own;
    const uint64_t *victim = NULL;
    uint32_t victim_count = 0;
    uint32_t found = 0;
    for (uint32_t g = 0; g < plan->groups && found < 2; g++) {
        uint32_t count;
        const uint64_t *positions = positions_of(plan, g, &count);
        if (counting_counted(counting, positions, count) && found++ == 0) {
            victim = positions;
            victim_count = count;
        }
    }
    bool keep = found > 1 && counting->policy == TEPAL_POLICY_KEEP;
    if (found != 1) {
        uint64_t *events = &own[found == 0 ? COUNTING_REFUSED
                                : keep     ? COUNTING_KEPT
                                           : COUNTING_MULTI];
        *events = saturating_add(*events, 1);
    }
    if (found == 0 || keep) {
        return false;
    }
    tepal_counting_lower(counting, victim, victim_count);
    own[COUNTING_REMOVED] = saturating_add(own[COUNTING_REMOVED], 1);
    return true;
}

static void answer(uint64_t *answers, size_t i, bool yes)
{
    if (answers != NULL) {
        answers[i / 64] |= (uint64_t)yes << (i % 64);
    }
}

static size_t remove_planned(struct tepal_counting *counting, const struct tepal_digest *digests,
                             const uint8_t *groups, size_t count, uint64_t *done)
{
    struct plan plans[PLANS];
    uint32_t wanted = groups == NULL ? counting->choices : 1;
    size_t ahead = keys_ahead(counting, wanted);
    size_t drawn = 0;
    size_t removed = 0;
    for (size_t i = 0; i < count; i++) {
        for (; drawn < count && drawn < i + ahead; drawn++) {
            draw_up(counting, digests[drawn], groups == NULL ? 0 : groups[drawn], wanted,
                    &plans[drawn % PLANS]);
        }
        bool yes = remove_plan(counting, &plans[i % PLANS]);
        answer(done, i, yes);
        removed += yes;
    }
    return removed;
}

static size_t remove_lines(struct tepal_counting *counting, const struct tepal_digest *digests,
                           size_t count, uint64_t *done)
{
    if (!counting->in_long) {
        return tepal_counting_blocked_remove_avx2(counting, digests, count, done);
    }
    return counting->in_lanes ? tepal_counting_long_remove_avx2(counting, digests, count, done)
                              : tepal_counting_long_remove(counting, digests, count, done);
}

/* Groups are below c, the filter is writable. */
static size_t remove_all(struct tepal_counting *counting, const struct tepal_digest *digests,
                         const uint8_t *groups, size_t count, uint64_t *done)
{
    if (done != NULL) {
        memset(done, 0, (count + 63) / 64 * 8);
    }
    if (counting->in_lanes || counting->in_long) { /* the only group is 0 */
        return remove_lines(counting, digests, count, done);
    }
    if (groups != NULL || fits_plan(counting, counting->choices)) {
        return remove_planned(counting, digests, groups, count, done);
    }
    size_t removed = 0;
    for (size_t i = 0; i < count; i++) {
        bool yes = tepal_counting_op_remove(&counting->head, digests[i]) == TEPAL_OK;
        answer(done, i, yes);
        removed += yes;
    }
    return removed;
}

enum tepal_status tepal_counting_remove_many(struct tepal_filter *filter,
                                             const struct tepal_digest *digests,
                                             const uint8_t *groups, size_t count, uint64_t *answers,
                                             size_t *removed)
{
    enum tepal_status status = counting_writable(filter);
    if (status != TEPAL_OK) {
        return status;
    }
    struct tepal_counting *counting = counting_of(filter);
    for (size_t i = 0; groups != NULL && i < count; i++) {
        if (groups[i] >= counting->choices) {
            return TEPAL_BAD_ARGUMENT;
        }
    }
    size_t done = remove_all(counting, digests, groups, count, answers);
    if (removed != NULL) {
        *removed = done;
    }
    return TEPAL_OK;
}

enum tepal_status tepal_counting_op_remove_many(struct tepal_filter *filter,
                                                const struct tepal_digest *digests, size_t count,
                                                size_t *removed)
{
    return tepal_counting_remove_many(filter, digests, NULL, count, NULL, removed);
}

/* ---- queries --------------------------------------------------------------------------------- */

#define CHUNK 512

static size_t query_bits(const struct tepal_counting *counting, const struct tepal_digest *digests,
                         size_t count, uint64_t *answers)
{
    struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = digests};
    return counting->kernels->query(&counting->at, counting->bits, &source, count, answers);
}

/* One group after the other, of the keys that no earlier group had. */
static size_t query_chunk(const struct tepal_counting *counting, const struct tepal_digest *digests,
                          size_t count, uint64_t *answers)
{
    struct tepal_digest group[CHUNK];
    uint64_t found[CHUNK / 64];
    uint16_t open[CHUNK];
    size_t left = count;
    for (size_t i = 0; i < count; i++) {
        open[i] = (uint16_t)i;
    }
    memset(answers, 0, (count + 63) / 64 * 8);
    for (uint32_t g = 0; g < counting->choices && left > 0; g++) {
        for (size_t i = 0; i < left; i++) {
            group[i] = counting_group(digests[open[i]], g);
        }
        (void)query_bits(counting, group, left, found);
        size_t still = 0;
        for (size_t i = 0; i < left; i++) {
            uint16_t key = open[i];
            uint64_t yes = found[i / 64] >> (i % 64) & 1;
            answers[key / 64] |= yes << (key % 64);
            open[still] = key;
            still += 1 - (size_t)yes;
        }
        left = still;
    }
    return count - left;
}

size_t tepal_counting_op_query_many(const struct tepal_filter *filter,
                                    const struct tepal_digest *digests, size_t count,
                                    uint64_t *answers)
{
    const struct tepal_counting *counting = counting_of_const(filter);
    if (count == 0 || counting->choices == 1) {
        return count == 0 ? 0 : query_bits(counting, digests, count, answers);
    }
    size_t present = 0;
    for (size_t i = 0; i < count; i += CHUNK) {
        size_t here = count - i < CHUNK ? count - i : CHUNK;
        present += query_chunk(counting, digests + i, here, answers + i / 64);
    }
    return present;
}
