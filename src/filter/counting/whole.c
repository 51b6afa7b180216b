/*
 * whole.c: what concerns a counting filter as a whole: its invariants, union and
 * difference, the bits alone, and what it tells about itself.
 */
#include "filter/counting/internal.h"

#include <math.h>
#include <string.h>

#include <tepal/papers.h>

#include "base/checked.h"
#include "base/refuse.h"
#include "base/report.h"
#include "base/processor.h"
#include "filter/retouched/internal.h"

static size_t counter_words(const struct tepal_counting *counting)
{
    return (size_t)(counting->bits - counting->head.words);
}

static size_t bit_words(const struct tepal_counting *counting)
{
    return counting->head.word_count - counter_words(counting);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* What the state says of the cells, from the cells. */
struct census {
    struct counting_sums of;
    uint64_t lost;    /* counters whose bits were cleared, summed */
    uint64_t cleared; /* how many these are */
};

typedef uint64_t flags_of(uint64_t word, uint32_t wide);

/*
 * The bits of 64 counters (4 or 8 words) for which a flag holds; not for words past the end. `wide`
 * repeats the filter's, as a constant.
 */
static inline __attribute__((always_inline)) uint64_t
gather_of(const struct tepal_counting *counting, uint32_t wide, size_t word, flags_of *flag)
{
    uint64_t bits = 0;
    size_t words = (size_t)1 << wide;
    size_t first = words * word;
    size_t step = 1;
    if (counting->spread) { /* a word of each sector, then the next */
        first = word / ADDRESS_SECTORS * ADDRESS_SECTORS * words + word % ADDRESS_SECTORS;
        step = ADDRESS_SECTORS;
    }
    for (size_t i = 0; i < words && first + step * i < counter_words(counting); i++) {
        uint64_t flags = flag(counting->head.words[first + step * i], wide);
        bits |= counters_gather(flags, wide) << (i * counters_per_word(wide));
    }
    return bits;
}

static inline uint64_t gather(const struct tepal_counting *counting, size_t word, flags_of *flag)
{
    return counting->wide == COUNTERS_WIDE ? gather_of(counting, COUNTERS_WIDE, word, flag)
                                           : gather_of(counting, COUNTERS_NARROW, word, flag);
}

/* The bits that they ask for; and of those that are stuck, whose bits are never cleared. */
static uint64_t bits_for(const struct tepal_counting *counting, size_t word)
{
    return gather(counting, word, counters_above_zero);
}

static uint64_t stuck_for(const struct tepal_counting *counting, size_t word)
{
    return gather(counting, word, counters_at_max);
}

/* The bits that were cleared. */
static void count_cleared(const struct tepal_counting *counting, struct census *census)
{
    for (size_t i = 0; i < bit_words(counting); i++) {
        uint64_t cleared = bits_for(counting, i) & ~counting->bits[i];
        census->cleared += bits_count_word(cleared);
        for (; cleared != 0; cleared &= cleared - 1) {
            uint64_t position = 64 * (uint64_t)i + (uint32_t)__builtin_ctzll(cleared);
            census->lost += counting_value(counting, position);
        }
    }
}

static const struct counting_census *census_kernels(void)
{
    return tepal_processor_has_avx512() ? &tepal_counting_census_avx512
           : tepal_processor_has_avx2() ? &tepal_counting_census_avx2
                                        : &tepal_counting_census_portable;
}

static struct census count_cells(const struct tepal_counting *counting)
{
    struct census census = {0};
    if (!counting->has_counters) {
        census.of.ones = tepal_bits_count(counting->bits, bit_words(counting));
        return census;
    }
    census.of =
        census_kernels()->sums(counting->head.words, counter_words(counting), counting->wide);
    if (counting->learns) {
        count_cleared(counting, &census);
    }
    return census;
}

static void settle_counts(struct tepal_counting *counting)
{
    struct census census = count_cells(counting);
    uint64_t *own = counting->head.state.own;
    own[COUNTING_ONES] = census.of.ones;
    own[COUNTING_SUM] = census.of.sum;
    own[COUNTING_STUCK] = census.of.stuck;
    own[COUNTING_LOST] = census.lost;
}

/* After the counters changed: bits and counts once more. */
static void settle(struct tepal_counting *counting)
{
    for (size_t i = 0; i < bit_words(counting); i++) {
        counting->bits[i] = bits_for(counting, i);
    }
    settle_counts(counting);
}

/* Could there be cells with these counts? */
static bool counts_can_be(const struct tepal_counting *counting)
{
    uint64_t ones = counting->head.state.own[COUNTING_ONES];
    uint64_t sum = counting->head.state.own[COUNTING_SUM];
    uint64_t stuck = counting->head.state.own[COUNTING_STUCK];
    uint64_t lost = counting->head.state.own[COUNTING_LOST];
    if (ones > counting->head.params.cells || stuck > ones || (!counting->learns && lost != 0)) {
        return false;
    }
    if (!counting->has_counters) {
        return sum == 0 && stuck == 0;
    }
    if (lost > sum) {
        return false;
    }
    uint64_t limit = counting->most; /* and 255 times 2^60 would not fit */
    wide_int others = wide_of(ones - stuck);
    wide_int at_limit = wide_times(wide_of(limit), wide_of(stuck));
    wide_int least = wide_add(at_limit, others);
    wide_int most = wide_add(at_limit, wide_times(wide_of(limit - 1), others));
    return !wide_below(wide_of(sum), least) && !wide_below(most, wide_of(sum));
}

const char *tepal_counting_op_validate(const struct tepal_filter *filter)
{
    const struct tepal_counting *counting = counting_of_const(filter);
    uint64_t cells = filter->params.cells;
    if (bits_beyond(counting->bits, cells) ||
        (counting->has_counters && bits_beyond(filter->words, cells << counting->wide))) {
        return FILTER_STRAY_CELLS;
    }
    return counts_can_be(counting) ? NULL : "the counts in the header are impossible";
}

/* From this word of bits on. */
static bool bits_match(const struct tepal_counting *counting, size_t first)
{
    for (size_t i = first; i < bit_words(counting); i++) {
        uint64_t bits = counting->bits[i];
        uint64_t asked = bits_for(counting, i);
        if (bits != asked &&
            (!counting->learns || (bits & ~asked) != 0 || (stuck_for(counting, i) & ~bits) != 0)) {
            return false;
        }
    }
    return true;
}

/* Do the bits match the counters? If so, *census is what the cells are. */
static bool cells_match(const struct tepal_counting *counting, struct census *census)
{
    if (!counting->has_counters || counting->wide != COUNTERS_NARROW || counting->learns) {
        *census = count_cells(counting);
        return !counting->has_counters || bits_match(counting, 0);
    }
    const struct counting_census *kernels = census_kernels();
    const uint64_t *words = counting->head.words;
    size_t whole = counter_words(counting) / 4; /* the last word of bits may have fewer counters */
    memset(census, 0, sizeof *census);
    if (!kernels->agrees(words, counting->bits, whole, counting->spread, &census->of)) {
        return false;
    }
    counting_sums_add(
        &census->of,
        kernels->sums(words + 4 * whole, counter_words(counting) - 4 * whole, COUNTERS_NARROW));
    return bits_match(counting, whole);
}

const char *tepal_counting_op_validate_cells(const struct tepal_filter *filter)
{
    const struct tepal_counting *counting = counting_of_const(filter);
    const uint64_t *own = filter->state.own;
    struct census census;
    if (!cells_match(counting, &census)) {
        return "the bits do not match the counters";
    }
    if (own[COUNTING_ONES] != census.of.ones || own[COUNTING_SUM] != census.of.sum ||
        own[COUNTING_STUCK] != census.of.stuck ||
        (counting->has_counters && own[COUNTING_LOST] != census.lost)) {
        return "the counters disagree with the counts in the header";
    }
    return NULL;
}

enum tepal_status tepal_counting_histogram(const struct tepal_filter *filter,
                                           uint64_t histogram[TEPAL_MAX_COUNTER + 1])
{
    if (!counting_is(filter)) {
        return TEPAL_UNSUPPORTED;
    }
    const struct tepal_counting *counting = counting_of_const(filter);
    memset(histogram, 0, (TEPAL_MAX_COUNTER + 1) * sizeof *histogram);
    if (!counting->has_counters) {
        histogram[1] = counting->head.state.own[COUNTING_ONES];
    } else {
        for (size_t i = 0; i < counter_words(counting); i++) {
            uint32_t width = 1u << counting->wide;
            for (uint64_t word = counting->head.words[i]; word != 0; word >>= width) {
                histogram[word & counting->most]++;
            }
        }
    }
    uint64_t above = 0;
    for (uint32_t v = 1; v <= TEPAL_MAX_COUNTER; v++) {
        above += histogram[v];
    }
    histogram[0] = filter->params.cells - above;
    return TEPAL_OK;
}

/* ---- union and difference -------------------------------------------------------------------- */

/* Sums, stuck where they reach the limit: as if the other's keys had been added to these groups. */
static uint64_t add_words(const struct tepal_counting *counting, uint64_t a, uint64_t b)
{
    uint64_t sum = 0;
    uint32_t wide = counting->wide;
    for (uint32_t i = 0; i < counters_per_word(wide); i++) {
        uint32_t both = counters_in_word(a, wide, i) + counters_in_word(b, wide, i);
        sum |= (uint64_t)(both > counting->most ? counting->most : both) << (i << wide);
    }
    return sum;
}

/*
 * What either finds is found, as if the other's keys had been added: a bit stays cleared only where
 * neither has it set. Both budgets may be spent.
 */
static void unite_bits(struct tepal_counting *counting, const struct tepal_counting *other)
{
    uint64_t *most_lost = &counting->head.params.counting.most_lost;
    tepal_bits_or(counting->bits, other->bits, bit_words(counting));
    *most_lost = saturating_add(*most_lost, other->head.params.counting.most_lost);
    tepal_filter_open(&counting->head);
    for (size_t i = 0; counting->has_counters && i < bit_words(counting); i++) {
        counting->bits[i] |= stuck_for(counting, i);
    }
}

enum tepal_status tepal_counting_op_unite(struct tepal_filter *into,
                                          const struct tepal_filter *other)
{
    struct tepal_counting *counting = counting_of(into);
    uint64_t lost = saturating_add(into->state.own[COUNTING_LOST], other->state.own[COUNTING_LOST]);
    if (counting->has_counters) {
        for (size_t i = 0; i < counter_words(counting); i++) {
            into->words[i] = add_words(counting, into->words[i], other->words[i]);
        }
    }
    filter_count_keys(into, other->state.keys_added);
    for (size_t i = 0; i < COUNTING_ONES; i++) {
        into->state.own[i] = saturating_add(into->state.own[i], other->state.own[i]);
    }
    unite_bits(counting, counting_of_const(other));
    settle_counts(counting);
    if (!counting->has_counters) {
        into->state.own[COUNTING_LOST] = lost;
    }
    return TEPAL_OK;
}

static uint64_t subtract_words(const struct tepal_counting *counting, uint64_t now, uint64_t before,
                               struct tepal_counting_change *change)
{
    uint64_t gain = 0;
    uint32_t wide = counting->wide;
    uint32_t most = counting->most;
    for (uint32_t i = 0; i < counters_per_word(wide); i++) {
        uint32_t a = counters_in_word(now, wide, i);
        uint32_t b = counters_in_word(before, wide, i);
        uint32_t d = a == most ? most : a > b ? a - b : 0;
        change->rose += a > b;
        change->fell += a < b;
        change->unknown += a == most;
        gain |= (uint64_t)d << (i << wide);
    }
    return gain;
}

/* A filter of these parameters that hashes as `from` does. */
static enum tepal_status create_like(const struct tepal_filter *from,
                                     const struct tepal_params *params,
                                     const struct tepal_allocator *allocator,
                                     struct tepal_filter **out, struct tepal_error *error)
{
    enum tepal_status status = tepal_filter_create(params, allocator, out, error);
    if (status == TEPAL_OK) {
        (*out)->hasher = from->hasher;
        (*out)->has_hasher = from->has_hasher;
    }
    return status;
}

enum tepal_status
tepal_counting_difference(const struct tepal_filter *now, const struct tepal_filter *before,
                          const struct tepal_allocator *allocator, struct tepal_filter **out,
                          struct tepal_counting_change *change, struct tepal_error *error)
{
    if (!counting_is(now)) {
        return refuse(error, TEPAL_UNSUPPORTED, COUNTING_NOT);
    }
    if (!tepal_params_compatible(&now->params, &before->params)) {
        return refuse_if(error, TEPAL_MISMATCH);
    }
    if (!counting_counts(now)) {
        return refuse(error, TEPAL_UNSUPPORTED, COUNTING_DROPPED);
    }
    if (tepal_hash_is_keyed(now->params.hash) && now->params.key_check == 0) {
        /* Nobody knows whether the keys are the same. */
        return refuse_if(error, TEPAL_KEY_NEEDED);
    }
    struct tepal_params params = now->params;
    struct tepal_filter *filter;
    params.counting.most_lost = 0; /* it is a filter of its own, with all its bits */
    enum tepal_status status = create_like(now, &params, allocator, &filter, error);
    if (status != TEPAL_OK) {
        return status;
    }
    struct tepal_counting *gain = counting_of(filter);
    struct tepal_counting_change seen = {0, 0, 0};
    for (size_t i = 0; i < counter_words(gain); i++) {
        filter->words[i] = subtract_words(gain, now->words[i], before->words[i], &seen);
    }
    uint64_t added = now->state.keys_added;
    uint64_t earlier = before->state.keys_added;
    filter->state.keys_added = added > earlier ? added - earlier : 0;
    settle(gain);
    if (change != NULL) {
        *change = seen;
    }
    *out = filter;
    return TEPAL_OK;
}

/* ---- the bits alone -------------------------------------------------------------------------- */

enum tepal_status tepal_counting_to_bloom(const struct tepal_filter *filter,
                                          const struct tepal_allocator *allocator,
                                          struct tepal_filter **out, struct tepal_error *error)
{
    if (!counting_is(filter)) {
        return refuse(error, TEPAL_UNSUPPORTED, COUNTING_NOT);
    }
    const struct tepal_counting *counting = counting_of_const(filter);
    if ((counting->lined && !counting->spread) || counting->choices > 1) {
        return refuse(error, TEPAL_UNSUPPORTED,
                      "only a counting filter with one choice and without short lines has the "
                      "positions of a Bloom filter");
    }
    uint64_t cleared = count_cells(counting).cleared;
    bool lost = cleared > 0 || filter->state.own[COUNTING_LOST] > 0;
    struct tepal_params params = filter->params;
    params.kind = lost ? TEPAL_KIND_RETOUCHED : TEPAL_KIND_BLOOM;
    memset(params.own, 0, sizeof params.own);
    struct tepal_filter *bloom;
    enum tepal_status status = create_like(filter, &params, allocator, &bloom, error);
    if (status != TEPAL_OK) {
        return status;
    }
    memcpy(bloom->words, counting->bits, bloom->word_count * 8);
    bloom->state.keys_added = filter->state.keys_added;
    if (lost) {
        uint64_t members = counting_keys_now(counting);
        uint64_t victims = filter->state.own[COUNTING_LOST];
        bloom->state.own[RETOUCHED_MEMBERS] = members;
        bloom->state.own[RETOUCHED_VICTIMS] = victims < members ? victims : members;
        bloom->state.own[RETOUCHED_CLEARED] = cleared;
    }
    *out = bloom;
    return TEPAL_OK;
}

enum tepal_status tepal_counting_strip(const struct tepal_filter *filter,
                                       const struct tepal_allocator *allocator,
                                       struct tepal_filter **out, struct tepal_error *error)
{
    if (!counting_is(filter)) {
        return refuse(error, TEPAL_UNSUPPORTED, COUNTING_NOT);
    }
    struct tepal_params params = filter->params;
    params.counting.form = TEPAL_FORM_BITS;
    struct tepal_filter *bits;
    enum tepal_status status = create_like(filter, &params, allocator, &bits, error);
    if (status != TEPAL_OK) {
        return status;
    }
    memcpy(bits->words, counting_of_const(filter)->bits, bits->word_count * 8);
    bits->state = filter->state;
    /* Counted, not copied: `filter` may be a view that nobody has validated. */
    bits->state.own[COUNTING_ONES] = count_cells(counting_of(bits)).of.ones;
    bits->state.own[COUNTING_SUM] = 0;
    bits->state.own[COUNTING_STUCK] = 0;
    *out = bits;
    return TEPAL_OK;
}

/* ---- info ------------------------------------------------------------------------------------ */

static void report_cells(const struct tepal_counting *counting, struct tepal_report *report)
{
    uint64_t histogram[TEPAL_MAX_COUNTER + 1];
    double m = (double)counting->head.params.cells;
    uint64_t largest = 0;
    (void)tepal_counting_histogram(&counting->head, histogram);
    for (uint32_t v = 0; v <= TEPAL_MAX_COUNTER; v++) {
        largest = histogram[v] > 0 ? v : largest;
    }
    double p0 = (double)histogram[0] / m;
    tepal_report_real(report, "p0", "share of counters that are 0", p0);
    if (counting->has_counters) {
        double p1 = (double)histogram[1] / m;
        double p2 = (m - (double)histogram[0] - (double)histogram[1]) / m;
        tepal_report_real(report, "p1", "share of counters that are 1", p1);
        tepal_report_real(report, "p2", "share of counters above 1", p2);
        tepal_report_integer(report, "max_count", "the largest counter", largest);
    } else {
        tepal_report_absent(report, "p1", "the counters were dropped");
        tepal_report_absent(report, "p2", "the counters were dropped");
        tepal_report_absent(report, "max_count", "the counters were dropped");
    }
    tepal_report_integer(report, "stuck", "counters that reached their limit and stay there",
                         counting->head.state.own[COUNTING_STUCK]);
}

uint64_t tepal_counting_op_ones(const struct tepal_filter *filter)
{
    return filter->state.own[COUNTING_ONES];
}

/* Also for keys that have one of their groups in the worst line. */
static double rate_now(const struct tepal_counting *counting, double *worst)
{
    double c = (double)counting->choices;
    double line = 0;
    double group = tepal_bits_rate(&counting->at, counting->bits, &line);
    *worst = 1 - (1 - line) * pow(1 - group, c - 1);
    return -expm1(c * log1p(-group));
}

double tepal_counting_op_fp_now(const struct tepal_filter *filter)
{
    double worst;
    return rate_now(counting_of_const(filter), &worst);
}

static void report_rates(const struct tepal_counting *counting, struct tepal_report *report)
{
    const struct tepal_params *p = &counting->head.params;
    double worst;
    tepal_report_real(report, "fp_now", "false-positive rate now, from the cells themselves",
                      rate_now(counting, &worst));
    tepal_bits_tell_worst(&counting->at, worst, report);
    if (p->capacity == 0) {
        tepal_report_absent(report, "fp_at_capacity", "no capacity was given");
    } else if (counting->choices == 1 || p->layout != TEPAL_LAYOUT_PAIRED) {
        tepal_report_real(
            report, "fp_at_capacity",
            counting->choices == 1 ? "false-positive rate expected at capacity (model)"
            : counting->lined      ? "false-positive rate expected at capacity (model, within 10 %)"
                                   : "false-positive rate expected at capacity (model, within 2 %)",
            tepal_counting_choices_rate(p, p->capacity));
    } else {
        tepal_report_absent(report, "fp_at_capacity",
                            "there is no model for several choices on the paired layout");
    }
    double lost = (double)counting->head.state.own[COUNTING_LOST];
    double now = (double)counting_keys_now(counting);
    bool removed = counting->head.state.own[COUNTING_REMOVED] > 0;
    if (counting->learns) {
        tepal_report_real(report, "fn_now",
                          removed ? "false-negative rate, at most, if no removal was wrong: see "
                                    "tepal audit"
                                  : "false-negative rate, at most",
                          lost > 0 ? fmin(1, lost / now) : 0);
    } else if (removed) {
        tepal_report_absent(report, "fn_now", "depends on what was removed: see tepal audit");
    } else {
        tepal_report_real(report, "fn_now", "false-negative rate: nothing was removed", 0);
    }
}

/* What avoid.c has done; nothing of a filter that does not learn. */
static void report_avoided(const struct tepal_counting *counting, struct tepal_report *report)
{
    if (!counting->learns) {
        return;
    }
    tepal_report_integer(report, "most_lost", "members that avoiding keys may lose: its budget",
                         counting->head.params.counting.most_lost);
    tepal_report_integer(report, "lost", "members lost to keys that are avoided, at most",
                         counting->head.state.own[COUNTING_LOST]);
    if (counting->has_counters) {
        tepal_report_integer(report, "bits_cleared", "bits cleared whose counters are above 0",
                             count_cells(counting).cleared);
    } else {
        tepal_report_absent(report, "bits_cleared", "the counters were dropped");
    }
}

void tepal_counting_op_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    const struct tepal_counting *counting = counting_of_const(filter);
    const struct tepal_params *p = &filter->params;
    const uint64_t *own = filter->state.own;
    double m = (double)p->cells;
    double ones = (double)own[COUNTING_ONES];
    uint64_t now = counting_keys_now(counting);
    if (own[COUNTING_STUCK] == 0 && counting->has_counters) {
        /* Each key adds k, less what coincides: about k (k - 1) / 2m of it. */
        double k = (double)p->hashes;
        double a_key = counting->may_repeat && !counting->lined ? -m * expm1(k * log1p(-1 / m)) : k;
        tepal_report_real(report, "keys_estimated", "keys now, from the sum of the counters",
                          (double)own[COUNTING_SUM] / a_key);
    } else {
        tepal_report_absent(report, "keys_estimated", "some counters are stuck, or dropped");
    }
    tepal_report_integer(report, "ones", "counters above 0", own[COUNTING_ONES]);
    tepal_report_real(report, "fill", "share of counters above 0", ones / m);
    report_rates(counting, report);
    tepal_report_integer(report, "choices", "groups that a key may be in (c)", counting->choices);
    tepal_report_text(report, "rule", "which group a key is added to",
                      counting->choices == 1 ? "none" : tepal_counting_rule_name(counting->rule));
    tepal_report_text(
        report, "policy", "what removal does with a key that is found in several groups",
        counting->choices == 1 ? "none" : tepal_counting_policy_name(counting->policy));
    tepal_report_integer(report, "counters", "cells of the filter", p->cells);
    if (counting->lined) {
        tepal_report_integer(report, "line_cells", "counters in a line", counting->line);
    }
    tepal_report_integer(report, "counter_bits", "bits per counter: it sticks at 15 (4) or 255 (8)",
                         params_counter_bits(p));
    tepal_report_integer(report, "keys_removed", "removals done", own[COUNTING_REMOVED]);
    tepal_report_integer(report, "keys_now", "keys added minus keys removed", now);
    tepal_report_integer(report, "refused_removals",
                         "removals refused because the key was not found", own[COUNTING_REFUSED]);
    tepal_report_integer(report, "multi_address_removals",
                         "removals done although several groups were found", own[COUNTING_MULTI]);
    tepal_report_integer(report, "kept", "removals not done because several groups were found",
                         own[COUNTING_KEPT]);
    double f = tepal_bits_rate(&counting->at, counting->bits, NULL);
    tepal_report_real(report, "multi_address_keys",
                      "keys found in several groups, at most: keys now times eq. (7)",
                      -(double)now * expm1((counting->choices - 1.0) * log1p(-f)));
    report_cells(counting, report);
    report_avoided(counting, report);
    tepal_report_integer(report, "counter_bytes", "memory of the counters",
                         (uint64_t)counter_words(counting) * 8);
    tepal_report_integer(report, "plane_bytes", "memory of the extra bits for lookups",
                         (uint64_t)bit_words(counting) * 8);
}
