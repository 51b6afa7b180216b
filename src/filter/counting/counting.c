/*
 * counting.c: the counting Bloom filter (L. Fan, P. Cao, J. Almeida and A. Broder, Summary Cache,
 * IEEE/ACM ToN 8(3), 2000) and the multichoice one (D. Guo, Y. Liu, X. Li and P. Yang, False
 * Negative Problem of Counting Bloom Filter, IEEE TKDE 22(5), 2010).
 *
 *     key --hash--> digest --+--> group 0 --address--> k positions    0 2 0 1 0 0 3 0 1 ...
 *                            +--> group 1 --address--> k positions      ^   ^       ^
 *                            +--> ...                                 add: + 1   remove: - 1
 *                            +--> group c - 1
 *
 * A key is added to one of its c groups, which a rule picks; it is found if any group's counters
 * are all above 0. Positions of one group that coincide count once, so that what an addition
 * raised a removal lowers.
 *
 * Invariants: bit i is set if and only if counter i is above 0 (in a filter that learns, only if:
 * avoid.c clears bits of counters that are below their limit); the state's counts (of counters
 * above 0, of their sum, of those at the limit, of those whose bits were cleared) are those of the
 * cells; a counter at its limit (15, or 255) never changes until the filter is cleared; bits and
 * counters beyond the last cell are zero.
 *
 * Single operations are here; internal.h tells where the rest is.
 */
#include "filter/counting/internal.h"

#include <string.h>

#include "base/checked.h"
#include "base/processor.h"

static void counting_open(struct tepal_filter *filter)
{
    struct tepal_counting *counting = counting_of(filter);
    const struct tepal_params *p = &filter->params;
    uint32_t k = p->hashes;
    counting->at = tepal_address_of(p, params_placed_bits(p, 4));
    counting->choices = (uint32_t)p->counting.choices;
    counting->rule = (enum tepal_counting_rule)p->counting.rule;
    counting->policy = (enum tepal_counting_policy)p->counting.policy;
    uint32_t bits = params_counter_bits(p);
    counting->has_counters = bits > 0;
    counting->wide = bits == 8 ? COUNTERS_WIDE : COUNTERS_NARROW;
    counting->most = counters_max(counting->wide);
    counting->bits = filter->words;
    if (counting->has_counters) {
        counting->bits += tepal_params_cells_bytes(p->cells, bits) / 8;
    }
    counting->lined = tepal_layout_in_lines(p->layout);
    counting->line = (uint32_t)params_line_cells(p);
    counting->may_repeat = false;
    bool paired = p->layout == TEPAL_LAYOUT_PAIRED;
    if (p->positions == TEPAL_POSITIONS_COLLIDING && k > 1) {
        counting->may_repeat =
            p->layout == TEPAL_LAYOUT_FLAT || paired || (counting->lined && k > ADDRESS_SECTORS);
    }
    bool one_line =
        p->layout == TEPAL_LAYOUT_BLOCKED && counting->choices == 1 && k <= ADDRESS_SECTORS;
    counting->learns = p->counting.most_lost > 0;
    one_line = one_line && !counting->learns; /* these ways know no cleared bits */
    counting->spread = counting->lined && counting->line == TEPAL_LINE_BITS;
    counting->in_lanes = one_line && bits == 4 && tepal_processor_has_avx2();
    counting->in_long = one_line && counting->spread;
    if (!counting->lined || counting->spread) { /* the positions of a Bloom filter */
        counting->kernels = tepal_bloom_dispatch(p->layout);
    } else {
        counting->kernels = tepal_processor_has_avx2() ? &tepal_counting_lines_avx2
                                                       : &tepal_counting_lines_portable;
    }
}

/* ---- positions and counters ------------------------------------------------------------------ */

/* Drop what repeats an earlier position, in place. */
static uint32_t unique(uint64_t *positions, uint32_t count)
{
    uint32_t kept = 1;
    for (uint32_t i = 1; i < count; i++) {
        uint64_t position = positions[i];
        bool repeats = false;
        for (uint32_t j = 0; j < kept; j++) {
            repeats |= positions[j] == position;
        }
        positions[kept] = position;
        kept += !repeats;
    }
    return kept;
}

uint32_t tepal_counting_draw(const struct tepal_counting *counting, struct tepal_digest group,
                             uint64_t *out)
{
    uint32_t count = tepal_address_positions(&counting->at, group, out);
    return counting->may_repeat ? unique(out, count) : count;
}

uint32_t tepal_counting_positions(const struct tepal_filter *filter, struct tepal_digest digest,
                                  uint32_t group, uint64_t *positions)
{
    if (!counting_is(filter) || group >= counting_of_const(filter)->choices) {
        return 0;
    }
    return tepal_counting_draw(counting_of_const(filter), counting_group(digest, group), positions);
}

uint32_t tepal_counting_at(const struct tepal_filter *filter, uint64_t position)
{
    if (!counting_is(filter) || position >= filter->params.cells) {
        return 0;
    }
    return counting_value(counting_of_const(filter), position);
}

void tepal_counting_hide(struct tepal_counting *counting, uint64_t position)
{
    counting->bits[position >> 6] &= ~((uint64_t)1 << (position & 63));
    counting->head.state.own[COUNTING_LOST] += counting_value(counting, position);
}

void tepal_counting_show(struct tepal_counting *counting, uint64_t position)
{
    if (!bits_test(counting->bits, position)) {
        bits_set(counting->bits, position);
        counting->head.state.own[COUNTING_LOST] -= counting_value(counting, position);
    }
}

/* What a counter is, and whether it is stuck, are coin tosses: nothing branches on them. */
void tepal_counting_raise(struct tepal_counting *counting, const uint64_t *positions,
                          uint32_t count)
{
    uint64_t *words = counting->head.words;
    uint64_t *own = counting->head.state.own;
    uint64_t ones = 0;
    uint64_t sum = 0;
    uint64_t stuck = 0;
    uint32_t wide = counting->wide;
    uint32_t most = counting->most;
    for (uint32_t i = 0; counting->learns && i < count; i++) {
        tepal_counting_show(counting, positions[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t slot = counting_slot(counting, positions[i]);
        uint32_t value = counters_get(words, wide, slot);
        uint64_t up = value < most;
        counters_add(words, wide, slot, up);
        bits_set(counting->bits, positions[i]);
        ones += value == 0;
        stuck += value == most - 1;
        sum += up;
    }
    own[COUNTING_ONES] += ones;
    own[COUNTING_SUM] += sum;
    own[COUNTING_STUCK] += stuck;
}

void tepal_counting_lower(struct tepal_counting *counting, const uint64_t *positions,
                          uint32_t count)
{
    uint64_t *words = counting->head.words;
    uint64_t *own = counting->head.state.own;
    uint64_t ones = 0;
    uint64_t sum = 0;
    uint32_t wide = counting->wide;
    for (uint32_t i = 0; counting->learns && i < count; i++) {
        own[COUNTING_LOST] -= !bits_test(counting->bits, positions[i]); /* one member fewer */
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t slot = counting_slot(counting, positions[i]);
        uint32_t value = counters_get(words, wide, slot);
        uint64_t down = value > 0 && value < counting->most;
        uint64_t empty = value == 1;
        counters_add(words, wide, slot, -down);
        counting->bits[positions[i] >> 6] &= ~(empty << (positions[i] & 63));
        ones += empty;
        sum += down;
    }
    own[COUNTING_ONES] -= ones;
    own[COUNTING_SUM] -= sum;
}

/* ---- which group ----------------------------------------------------------------------------- */

/* Algorithm 1: zeros first; fewer is better. Then ones: more is better. Then the largest. */
static uint64_t greedy_cost(const struct tepal_counting *counting, const uint64_t *positions,
                            uint32_t count)
{
    uint64_t zeros = 0;
    if (counting->rule == TEPAL_RULE_GREEDY) {
        for (uint32_t i = 0; i < count; i++) {
            zeros += !bits_test(counting->bits, positions[i]);
        }
        return zeros;
    }
    uint64_t ones = 0;
    uint64_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = counting_value(counting, positions[i]);
        bool zero = value == 0 || (counting->learns && !bits_test(counting->bits, positions[i]));
        zeros += zero;
        ones += !zero && value == 1;
        largest = value > largest ? value : largest;
    }
    return zeros << 16 | (TEPAL_MAX_HASHES - ones) << 8 | largest;
}

static uint64_t occupied(const struct tepal_counting *counting, uint64_t line)
{
    uint32_t words = counting->line / 64;
    const uint64_t *bits = counting->bits + line * words;
    uint64_t occupied = 0;
    for (uint32_t i = 0; i < words; i++) {
        occupied += bits_count_word(bits[i]);
    }
    return occupied;
}

/*
 * How much occupied^4 grows, summed over the (one or two) lines of the group. A line's own
 * false-positive rate is (occupied/cells)^k, but to choose by its growth is to be blind to the keys
 * that come later: what is cheap now, more cells in an empty line, is dear in the end. A lower
 * power weighs new cells more. (16 counters a key, k = 11, c = 3: power 11 9.5e-4, 4 8.3e-4, 2
 * 1.3e-3; at 12 to 24 counters a key and c = 2 to 16, 3 to 5 are best.) In integers, every machine
 * chooses alike.
 */
static uint64_t increase(const struct tepal_counting *counting, const uint64_t *positions,
                         uint32_t count)
{
    uint64_t cost = 0;
    for (uint32_t i = 0; i < count;) {
        uint64_t line = positions[i] / counting->line;
        uint64_t now = occupied(counting, line);
        uint64_t then = now;
        for (; i < count && positions[i] / counting->line == line; i++) {
            then += !bits_test(counting->bits, positions[i]);
        }
        cost += then * then * then * then - now * now * now * now;
    }
    return cost;
}

uint64_t tepal_counting_cost(const struct tepal_counting *counting, const uint64_t *positions,
                             uint32_t count)
{
    return counting->lined ? increase(counting, positions, count)
                           : greedy_cost(counting, positions, count);
}

static uint32_t choose(const struct tepal_counting *counting, struct tepal_digest digest)
{
    if (counting->choices == 1) {
        return 0;
    }
    struct counting_ties ties;
    ties.cost = UINT64_MAX;
    ties.count = 0;
    for (uint32_t g = 0; g < counting->choices; g++) {
        uint64_t positions[TEPAL_MAX_HASHES];
        uint32_t count = tepal_counting_draw(counting, counting_group(digest, g), positions);
        counting_offer(&ties, g, tepal_counting_cost(counting, positions, count));
    }
    return counting_take(&ties, digest);
}

/* ---- one key --------------------------------------------------------------------------------- */

enum tepal_status tepal_counting_add(struct tepal_filter *filter, struct tepal_digest digest,
                                     uint8_t *group)
{
    enum tepal_status status = counting_writable(filter);
    if (status != TEPAL_OK) {
        return status;
    }
    struct tepal_counting *counting = counting_of(filter);
    uint32_t g = 0;
    if (counting->in_lanes || counting->in_long) {
        tepal_counting_add_lines(counting, &digest, 1);
    } else {
        uint64_t positions[TEPAL_MAX_HASHES];
        g = choose(counting, digest);
        uint32_t count = tepal_counting_draw(counting, counting_group(digest, g), positions);
        tepal_counting_raise(counting, positions, count);
    }
    filter_count_keys(filter, 1);
    if (group != NULL) {
        *group = (uint8_t)g;
    }
    return TEPAL_OK;
}

static enum tepal_status counting_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    return tepal_counting_add(filter, digest, NULL);
}

typedef bool holds(const struct tepal_counting *counting, const uint64_t *positions,
                   uint32_t count);

/* Up to `most` groups that hold the key. */
static inline uint64_t found_groups(const struct tepal_counting *counting,
                                    struct tepal_digest digest, uint32_t most, holds *hold)
{
    uint64_t groups = 0;
    for (uint32_t g = 0; g < counting->choices && most > 0; g++) {
        uint64_t positions[TEPAL_MAX_HASHES];
        uint32_t count =
            tepal_address_positions(&counting->at, counting_group(digest, g), positions);
        if (hold(counting, positions, count)) {
            groups |= (uint64_t)1 << g;
            most--;
        }
    }
    return groups;
}

uint64_t tepal_counting_holding(const struct tepal_counting *counting, struct tepal_digest digest)
{
    return found_groups(counting, digest, TEPAL_MAX_CHOICES, counting_holds);
}

uint64_t tepal_counting_counting(const struct tepal_counting *counting, struct tepal_digest digest)
{
    return found_groups(counting, digest, TEPAL_MAX_CHOICES, counting_counted);
}

uint64_t tepal_counting_groups(const struct tepal_filter *filter, struct tepal_digest digest)
{
    return counting_is(filter) ? tepal_counting_holding(counting_of_const(filter), digest) : 0;
}

uint64_t tepal_counting_removable(const struct tepal_filter *filter, struct tepal_digest digest)
{
    return counting_counts(filter) ? tepal_counting_counting(counting_of_const(filter), digest) : 0;
}

static bool counting_query(const struct tepal_filter *filter, struct tepal_digest digest)
{
    const struct tepal_counting *counting = counting_of_const(filter);
    return counting->in_long ? tepal_counting_long_query(counting, digest)
                             : found_groups(counting, digest, 1, counting_holds) != 0;
}

/* Remove from a group in which the key was found. */
static void take_out(struct tepal_counting *counting, struct tepal_digest digest, uint32_t group)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t count = tepal_counting_draw(counting, counting_group(digest, group), positions);
    uint64_t *removed = &counting->head.state.own[COUNTING_REMOVED];
    tepal_counting_lower(counting, positions, count);
    *removed = saturating_add(*removed, 1);
}

enum tepal_status tepal_counting_op_remove(struct tepal_filter *filter, struct tepal_digest digest)
{
    struct tepal_counting *counting = counting_of(filter);
    uint64_t *own = filter->state.own;
    if (!counting->has_counters) {
        return TEPAL_UNSUPPORTED;
    }
    uint64_t groups = found_groups(counting, digest, 2, counting_counted);
    if (groups == 0) {
        own[COUNTING_REFUSED] = saturating_add(own[COUNTING_REFUSED], 1);
        return TEPAL_NOT_PRESENT;
    }
    if ((groups & (groups - 1)) != 0) {
        bool keep = counting->policy == TEPAL_POLICY_KEEP;
        uint64_t *events = &own[keep ? COUNTING_KEPT : COUNTING_MULTI];
        *events = saturating_add(*events, 1);
        if (keep) {
            return TEPAL_NOT_PRESENT;
        }
    }
    take_out(counting, digest, (uint32_t)__builtin_ctzll(groups));
    return TEPAL_OK;
}

enum tepal_status tepal_counting_remove_group(struct tepal_filter *filter,
                                              struct tepal_digest digest, uint32_t group)
{
    enum tepal_status status = counting_writable(filter);
    if (status != TEPAL_OK) {
        return status;
    }
    struct tepal_counting *counting = counting_of(filter);
    if (group >= counting->choices) {
        return TEPAL_BAD_ARGUMENT;
    }
    uint64_t *own = counting->head.state.own;
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t count = tepal_counting_draw(counting, counting_group(digest, group), positions);
    if (!counting_counted(counting, positions, count)) {
        own[COUNTING_REFUSED] = saturating_add(own[COUNTING_REFUSED], 1);
        return TEPAL_NOT_PRESENT;
    }
    tepal_counting_lower(counting, positions, count);
    own[COUNTING_REMOVED] = saturating_add(own[COUNTING_REMOVED], 1);
    return TEPAL_OK;
}

static uint64_t counting_held(const struct tepal_filter *filter)
{
    return counting_keys_now(counting_of_const(filter));
}

static uint64_t counting_copies(const struct tepal_filter *filter, struct tepal_digest digest)
{
    const struct tepal_counting *counting = counting_of_const(filter);
    uint64_t holding = tepal_counting_holding(counting, digest);
    uint64_t copies = 0;
    for (uint32_t group = 0; group < counting->choices; group++) {
        if ((holding >> group & 1) != 0) {
            uint64_t positions[TEPAL_MAX_HASHES];
            uint32_t least = TEPAL_MAX_COUNTER;
            uint32_t count =
                tepal_counting_draw(counting, counting_group(digest, group), positions);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t value = counting_value(counting, positions[i]);
                least = value < least ? value : least;
            }
            copies += least;
        }
    }
    return copies;
}

/* ---- the table entry ------------------------------------------------------------------------- */

const struct filter_ops tepal_counting_ops = {
    .rules = &tepal_counting_rules,
    .struct_bytes = sizeof(struct tepal_counting),
    .states = COUNTING_STATES,
    .open = counting_open,
    .validate = tepal_counting_op_validate,
    .validate_cells = tepal_counting_op_validate_cells,
    .add = counting_add,
    .add_many = tepal_counting_op_add_many,
    .keys_now = counting_held,
    .copies = counting_copies,
    .remove = tepal_counting_op_remove,
    .remove_many = tepal_counting_op_remove_many,
    .query = counting_query,
    .query_many = tepal_counting_op_query_many,
    .unite = tepal_counting_op_unite,
    .ones = tepal_counting_op_ones,
    .fp_now = tepal_counting_op_fp_now,
    .info = tepal_counting_op_info,
    .allow = tepal_counting_op_allow,
    .avoid = tepal_counting_op_avoid,
};
