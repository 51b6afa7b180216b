/*
 * cascade.c: the cascade of Bloom filters as a kind of filter (after J. Larisch et al., CRLite,
 * IEEE S&P 2017, who took it from R. Salikhov, G. Sacomoto and G. Kucherov, Using cascading Bloom
 * filters to improve the memory usage for de Brujin graphs, WABI 2013).
 *
 *     level 1   members                      not in it: absent
 *     level 2   its false positives          not in it: present
 *     level 3   members that level 2 has     not in it: absent
 *     ...                                    in all: present if the last is odd
 *
 *     | level 1 | level 2 | level 3 | ... |  directory: bits and hashes of levels 2, 3, ...
 *      <------------- m bits ------------->  <-- a word each -->
 *
 * The first level has the layout of the parameters; the others are flat, small, and asked only
 * about what the first one has. Every level hashes in its own way (address_rehash).
 *
 * Invariants: the directory adds up to the bits that the parameters give to the levels beyond the
 * first; bits beyond the last cell are zero; a member is in every odd level up to the first even
 * one that does not have it, hence no false negative.
 */
#include "filter/cascade/internal.h"

#include <math.h>

#include "base/checked.h"
#include "base/report.h"
#include "filter/bloom/internal.h"
#include "filter/known/known.h"
#include "filter/yesno/internal.h"

static struct tepal_cascade *cascade_of(struct tepal_filter *filter)
{
    return (struct tepal_cascade *)filter;
}

static const struct tepal_cascade *cascade_of_const(const struct tepal_filter *filter)
{
    return (const struct tepal_cascade *)filter;
}

static uint64_t *directory(const struct tepal_filter *filter)
{
    return filter->words + (filter->word_count - filter->params.cascade.rest_levels);
}

/*
 * The levels, from the directory; those from a wrong entry on do not exist, so that a filter which
 * has not been validated cannot lead outside its words.
 */
static void cascade_open(struct tepal_filter *filter)
{
    struct tepal_cascade *cascade = cascade_of(filter);
    struct tepal_params part = filter->params;
    uint64_t left = part.cascade.rest_bits;
    part.cells -= left;
    cascade->kernels = tepal_bloom_dispatch(part.layout);
    cascade->level[0] = tepal_address_of(&part, 1);
    cascade->start[0] = 0;
    cascade->levels = 1;
    part.layout = TEPAL_LAYOUT_FLAT;
    for (uint32_t i = 1; i <= part.cascade.rest_levels; i++) {
        uint64_t entry = directory(filter)[i - 1];
        cascade->start[i] = cascade->start[i - 1] + part.cells;
        part.cells = entry >> CASCADE_HASH_BITS;
        part.hashes = (uint32_t)entry & ((1u << CASCADE_HASH_BITS) - 1);
        if (part.cells == 0 || part.cells > left || part.hashes == 0 ||
            part.hashes > TEPAL_MAX_HASHES ||
            (part.positions == TEPAL_POSITIONS_DISTINCT && part.hashes > part.cells)) {
            return;
        }
        left -= part.cells;
        cascade->level[i] = tepal_address_of(&part, 1);
        cascade->levels++;
    }
}

/* Empty levels: nothing is known yet that would tell their sizes, so they are all alike. */
static void cascade_reset(struct tepal_filter *filter)
{
    uint64_t beyond = filter->params.cascade.rest_levels;
    uint64_t rest = filter->params.cascade.rest_bits;
    for (uint64_t i = 0; i < beyond; i++) {
        directory(filter)[i] = cascade_entry(rest / beyond + (i < rest % beyond), 1);
    }
    cascade_open(filter);
}

static const char *cascade_validate(const struct tepal_filter *filter)
{
    const uint64_t *own = filter->state.own;
    struct tepal_cascade again = {.head = *filter};
    cascade_open(&again.head);
    uint32_t last = again.levels - 1;
    if (bits_beyond(filter->words, filter->params.cells)) {
        return FILTER_STRAY_CELLS;
    }
    if (last != filter->params.cascade.rest_levels ||
        again.start[last] + again.level[last].cells != filter->params.cells) {
        return "the directory of levels is inconsistent";
    }
    return tepal_known_flaw(own[CASCADE_AVOID], own[CASCADE_POSITIVE], own[CASCADE_LEFT]);
}

/* ---- one key --------------------------------------------------------------------------------- */

static struct tepal_digest level_digest(uint32_t i, struct tepal_digest d)
{
    return i == 0 ? d : address_rehash(d, i);
}

static bool in_level(const struct tepal_cascade *cascade, uint32_t i, struct tepal_digest digest)
{
    return tepal_yesno_holds(&cascade->level[i], cascade->head.words, cascade->start[i],
                             level_digest(i, digest));
}

static void put(struct tepal_cascade *cascade, uint32_t i, struct tepal_digest digest)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(&cascade->level[i], level_digest(i, digest), positions);
    for (uint32_t x = 0; x < k; x++) {
        bits_set(cascade->head.words, cascade->start[i] + positions[x]);
    }
}

/* The first level from `i` on that does not have the key; `levels` if there is none. */
static uint32_t first_without(const struct tepal_cascade *cascade, uint32_t i,
                              struct tepal_digest digest)
{
    while (i < cascade->levels && in_level(cascade, i, digest)) {
        i++;
    }
    return i;
}

/* Even levels in the words of the paper are odd ones here, where the first is 0. */
static bool cascade_query(const struct tepal_filter *filter, struct tepal_digest digest)
{
    return first_without(cascade_of_const(filter), 0, digest) % 2 != 0;
}

/* ---- many keys ------------------------------------------------------------------------------- */

#define CHUNK BLOOM_PART_KEYS

/* A second level of so many bits is in the cache, and need not be requested. */
#define CACHED_BITS ((uint64_t)1 << 21)

/* Those that the first level has ask the others; its answers become the cascade's. */
static size_t ask_others(const struct tepal_cascade *cascade, const struct tepal_digest *digests,
                         size_t count, uint64_t *answers)
{
    const struct address *second = &cascade->level[1];
    uint16_t keys[CHUNK];
    uint32_t in = bloom_list(answers, count, keys);
    for (uint32_t n = 0; second->cells > CACHED_BITS && n < in; n++) {
        uint64_t first = address_rehash(digests[keys[n]], 1).hi;
        bits_prefetch(cascade->head.words, cascade->start[1] + wide_scale(first, second->cells));
    }
    if (second->positions == TEPAL_POSITIONS_COLLIDING) {
        struct bloom_part part = {second, cascade->head.words, cascade->start[1], 1};
        in = tepal_bloom_dispatch(TEPAL_LAYOUT_FLAT)->inside(&part, digests, keys, in, keys);
    }
    for (uint32_t n = 0; n < in; n++) { /* the others are not in the second level: members */
        if (first_without(cascade, 1, digests[keys[n]]) % 2 == 0) {
            answers[keys[n] / 64] &= ~((uint64_t)1 << keys[n] % 64);
        }
    }
    return (size_t)tepal_bits_count(answers, (count + 63) / 64);
}

static size_t cascade_query_many(const struct tepal_filter *filter,
                                 const struct tepal_digest *digests, size_t count,
                                 uint64_t *answers)
{
    const struct tepal_cascade *cascade = cascade_of_const(filter);
    size_t present = 0;
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t here = count - first < CHUNK ? count - first : CHUNK;
        struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = digests + first};
        uint64_t *to = answers + first / 64;
        size_t found =
            cascade->kernels->query(&cascade->level[0], cascade->head.words, &source, here, to);
        present += cascade->levels == 1 || found == 0
                       ? found
                       : ask_others(cascade, digests + first, here, to);
    }
    return present;
}

/* ---- additions ------------------------------------------------------------------------------- */

/*
 * Would the key find its way out? Additions change levels 0, 2, 4, ... alone, so that the answer
 * does not depend on what else is added.
 */
static bool has_room(const struct tepal_cascade *cascade, struct tepal_digest digest)
{
    for (uint32_t i = 1; i < cascade->levels; i += 2) {
        if (!in_level(cascade, i, digest)) {
            return true;
        }
    }
    return cascade->levels % 2 != 0;
}

static void put_member(struct tepal_cascade *cascade, struct tepal_digest digest)
{
    for (uint32_t i = 0; i < cascade->levels; i += 2) {
        put(cascade, i, digest);
        if (i + 1 < cascade->levels && !in_level(cascade, i + 1, digest)) {
            return;
        }
    }
}

static bool all_have_room(const struct tepal_cascade *cascade, const struct tepal_digest *digests,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!has_room(cascade, digests[i])) {
            return false;
        }
    }
    return true;
}

static void count_added(struct tepal_filter *filter, size_t count)
{
    uint64_t *added = &filter->state.own[CASCADE_ADDED];
    filter_count_keys(filter, count);
    *added = saturating_add(*added, count);
}

static enum tepal_status cascade_add_many(struct tepal_filter *filter,
                                          const struct tepal_digest *digests, size_t count)
{
    struct tepal_cascade *cascade = cascade_of(filter);
    if (!all_have_room(cascade, digests, count)) {
        return TEPAL_FULL;
    }
    for (size_t i = 0; i < count; i++) {
        put_member(cascade, digests[i]);
    }
    count_added(filter, count);
    return TEPAL_OK;
}

static enum tepal_status cascade_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    return cascade_add_many(filter, &digest, 1);
}

static enum tepal_status cascade_test_add_many(struct tepal_filter *filter,
                                               const struct tepal_digest *digests, size_t count,
                                               uint64_t *answers, size_t *present)
{
    struct tepal_cascade *cascade = cascade_of(filter);
    if (!all_have_room(cascade, digests, count)) {
        return TEPAL_FULL;
    }
    *present = 0;
    for (size_t i = 0; i < count; i++) {
        bool found = cascade_query(filter, digests[i]);
        answers[i / 64] = (i % 64 == 0 ? 0 : answers[i / 64]) | (uint64_t)found << i % 64;
        *present += found;
        put_member(cascade, digests[i]);
    }
    count_added(filter, count);
    return TEPAL_OK;
}

/* ---- what it tells --------------------------------------------------------------------------- */

/*
 * The chance that an unknown key which got as far as level i is present in the end, from the ones:
 * from the last level backwards, in it and present beyond, or not in it and the level says so.
 */
static double rate_beyond(const struct tepal_cascade *cascade)
{
    double present = cascade->levels % 2;
    for (uint32_t i = cascade->levels - 1; i >= 1; i--) {
        uint64_t bits = cascade->level[i].cells;
        uint64_t ones = tepal_bits_count_range(cascade->head.words, cascade->start[i],
                                               cascade->start[i] + bits);
        double in = pow((double)ones / (double)bits, cascade->level[i].hashes);
        present = in * present + (1 - in) * (i % 2);
    }
    return present;
}

static void cascade_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    const struct tepal_cascade *cascade = cascade_of_const(filter);
    const uint64_t *own = filter->state.own;
    double unknown = tepal_bloom_report_part(
        filter, &cascade->level[0], cascade->levels == 1 ? 1 : rate_beyond(cascade),
        "rate on unknown negatives expected at capacity, with these levels", report);
    tepal_report_change(report, "fn_now")->about = "false-negative rate: a cascade has none";
    tepal_known_report_rate(report, own[CASCADE_AVOID], own[CASCADE_LEFT], own[CASCADE_ADDED],
                            unknown);
    double bits[TEPAL_MAX_LEVELS];
    for (uint32_t i = 0; i < cascade->levels; i++) {
        bits[i] = (double)cascade->level[i].cells;
    }
    tepal_report_integer(report, "levels", "number of levels", cascade->levels);
    tepal_report_list(report, "level_bits", "bits of each level", bits, cascade->levels);
    tepal_report_integer(report, "members", "members it was built for", own[CASCADE_MEMBERS]);
    tepal_report_integer(report, "avoid", "known negatives it was built for", own[CASCADE_AVOID]);
    tepal_report_integer(report, "avoid_positive", "of them, found by the first level",
                         own[CASCADE_POSITIVE]);
    tepal_known_report_left(report, own[CASCADE_LEFT], own[CASCADE_ADDED]);
    tepal_report_integer(report, "added_later", "keys added since it was built",
                         own[CASCADE_ADDED]);
}

const struct filter_ops tepal_cascade_ops = {
    .rules = &tepal_cascade_rules,
    .struct_bytes = sizeof(struct tepal_cascade),
    .states = CASCADE_STATES,
    .open = cascade_open,
    .reset = cascade_reset,
    .validate = cascade_validate,
    .add = cascade_add,
    .add_many = cascade_add_many,
    .query = cascade_query,
    .query_many = cascade_query_many,
    .test_add_many = cascade_test_add_many,
    .can_be_full = true,
    .info = cascade_info,
};
