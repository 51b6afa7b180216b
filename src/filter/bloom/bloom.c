/*
 * bloom.c: the Bloom filter (B. H. Bloom, Space/time trade-offs in hash coding with allowable
 * errors, CACM 13(7), 1970).
 *
 *     key --hash--> digest --address--> k positions --> k bits
 *
 *     bits  0 1 0 0 1 1 0 1 0 0 ...      add:   set them
 *               ^     ^   ^              query: are all of them set?
 *
 * Invariants: bits beyond the last cell are zero; a bit once set stays set until the filter is
 * cleared, hence no false negative, ever; the cells depend on the set of keys alone, not on their
 * order or number.
 *
 * One key is in one.h, a function for each layout; batches are in the kernels (kernels.h), but for
 * those that query and add at once.
 */
#include <tepal/bloom.h>
#include <tepal/papers.h>

#include <math.h>
#include <string.h>

#include "address/address.h"
#include "base/refuse.h"
#include "base/report.h"
#include "cells/bits.h"
#include "filter/bloom/internal.h"
#include "filter/lines/kernels.h"
#include "base/processor.h"
#include "filter/retouched/internal.h"

/* Keys whose cells are requested ahead of their use, when they are tested and added. */
#define KEYS_AHEAD 16

static struct tepal_bloom *bloom_of(struct tepal_filter *filter)
{
    return (struct tepal_bloom *)filter;
}

static const struct tepal_bloom *bloom_of_const(const struct tepal_filter *filter)
{
    return (const struct tepal_bloom *)filter;
}

const struct bloom_kernels *tepal_bloom_dispatch(enum tepal_layout layout)
{
    bool flat = layout == TEPAL_LAYOUT_FLAT || layout == TEPAL_LAYOUT_PARTITIONED;
    if (tepal_processor_has_avx512()) {
        return flat ? &tepal_bloom_flat_avx512 : &tepal_bloom_lines_avx512;
    }
    if (tepal_processor_has_avx2()) {
        return flat ? &tepal_bloom_flat_avx2 : &tepal_bloom_lines_avx2;
    }
    return flat ? &tepal_bloom_flat_portable : &tepal_bloom_lines_portable;
}

static const struct bloom_one *one_for(const struct address *at)
{
    static const enum bloom_one_way ways[] = {BLOOM_ONE_FLAT, BLOOM_ONE_PARTITIONED,
                                              BLOOM_ONE_BLOCKED, BLOOM_ONE_PAIRED};
    bool distinct = at->layout == TEPAL_LAYOUT_FLAT && at->positions == TEPAL_POSITIONS_DISTINCT;
    enum bloom_one_way way = distinct ? BLOOM_ONE_DISTINCT : ways[at->layout];
    if (way == BLOOM_ONE_BLOCKED && at->hashes > ADDRESS_SECTORS) {
        way = BLOOM_ONE_BLOCKED_TWO;
    }
    if (way == BLOOM_ONE_PAIRED && at->hashes > 2 * ADDRESS_SECTORS) {
        way = BLOOM_ONE_PAIRED_TWO;
    }
    if (tepal_processor_has_avx512() && tepal_bloom_one_avx512[way].query != NULL) {
        return &tepal_bloom_one_avx512[way];
    }
    return tepal_processor_has_avx2() ? &tepal_bloom_one_avx2[way] : &tepal_bloom_one_portable[way];
}

void tepal_bloom_op_open(struct tepal_filter *filter)
{
    struct tepal_bloom *bloom = bloom_of(filter);
    bloom->at = tepal_address_of(&filter->params, 1);
    bloom->direct = tepal_bloom_direct(&bloom->at, filter->words);
    bloom->kernels = tepal_bloom_dispatch(filter->params.layout);
    bloom->one = one_for(&bloom->at);
    bloom->atomic = &(tepal_processor_has_avx2() ? tepal_bloom_atomic_avx2
                                                 : tepal_bloom_atomic_portable)[bloom->direct.way];
    filter->query = bloom->one->query;
    bool unkeyed = filter->params.hash == TEPAL_HASH_XXH3;
    bool writable = filter->ops == &tepal_bloom_ops && !filter_read_only(filter);
    if (unkeyed) {
        tepal_filter_direct_seed(&bloom->direct, &filter->hasher);
        filter->query_u64 = bloom->one->query_u64;
    }
    if (writable) {
        filter->add = bloom->one->add;
        filter->add_u64 = unkeyed ? bloom->one->add_u64 : filter->add_u64;
    }
}

/* ---- one key --------------------------------------------------------------------------------- */

enum tepal_status tepal_bloom_op_test_add(struct tepal_filter *filter, struct tepal_digest digest,
                                          bool *was_present)
{
    return bloom_of(filter)->one->test_add(filter, digest, was_present);
}

enum tepal_status tepal_bloom_op_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    return bloom_of(filter)->one->add(filter, digest);
}

bool tepal_bloom_op_query(const struct tepal_filter *filter, struct tepal_digest digest)
{
    return bloom_of_const(filter)->one->query(filter, digest);
}

/* ---- many keys ------------------------------------------------------------------------------- */

void tepal_bloom_op_add_keys(struct tepal_filter *filter, const struct bloom_source *source,
                             size_t count)
{
    const struct tepal_bloom *bloom = bloom_of(filter);
    if (count > 0) {
        bloom->kernels->add(&bloom->at, filter->words, source, count);
        filter_count_keys(filter, count);
    }
}

size_t tepal_bloom_op_query_keys(const struct tepal_filter *filter,
                                 const struct bloom_source *source, size_t count, uint64_t *answers)
{
    const struct tepal_bloom *bloom = bloom_of_const(filter);
    return count == 0 ? 0
                      : bloom->kernels->query(&bloom->at, filter->words, source, count, answers);
}

enum tepal_status tepal_bloom_op_add_many(struct tepal_filter *filter,
                                          const struct tepal_digest *digests, size_t count)
{
    struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = digests};
    tepal_bloom_op_add_keys(filter, &source, count);
    return TEPAL_OK;
}

size_t tepal_bloom_op_query_many(const struct tepal_filter *filter,
                                 const struct tepal_digest *digests, size_t count,
                                 uint64_t *answers)
{
    struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = digests};
    return tepal_bloom_op_query_keys(filter, &source, count, answers);
}

/* Set the bits at these positions. Were all of them set already? */
static bool set_all(uint64_t *words, const uint64_t *positions, uint32_t count)
{
    bool all = true;
    for (uint32_t i = 0; i < count; i++) {
        all &= bits_test(words, positions[i]);
        bits_set(words, positions[i]);
    }
    return all;
}

/* The positions of a key whose turn will come, their lines requested. */
static void request(const struct tepal_bloom *bloom, struct tepal_digest digest,
                    uint64_t positions[TEPAL_MAX_HASHES])
{
    uint32_t k = tepal_address_positions(&bloom->at, digest, positions);
    for (uint32_t i = 0; i < k; i++) {
        bits_prefetch(bloom->head.words, positions[i]);
    }
}

/* One after the other, since a key may come twice: only the memory is requested ahead. */
enum tepal_status tepal_bloom_op_test_add_many(struct tepal_filter *filter,
                                               const struct tepal_digest *digests, size_t count,
                                               uint64_t *answers, size_t *present)
{
    const struct tepal_bloom *bloom = bloom_of(filter);
    uint64_t window[KEYS_AHEAD][TEPAL_MAX_HASHES];
    size_t asked = 0;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        for (; asked < count && asked < i + KEYS_AHEAD; asked++) {
            request(bloom, digests[asked], window[asked % KEYS_AHEAD]);
        }
        if (i % 64 == 0) {
            answers[i / 64] = 0;
        }
        bool yes = set_all(filter->words, window[i % KEYS_AHEAD], bloom->at.hashes);
        answers[i / 64] |= (uint64_t)yes << (i % 64);
        found += yes;
    }
    filter_count_keys(filter, count);
    *present = found;
    return TEPAL_OK;
}

/* ---- whole filters --------------------------------------------------------------------------- */

static enum tepal_status bloom_unite(struct tepal_filter *into, const struct tepal_filter *other)
{
    tepal_bits_or(into->words, other->words, into->word_count);
    filter_count_keys(into, other->state.keys_added);
    return TEPAL_OK;
}

static enum tepal_status bloom_intersect(struct tepal_filter *into,
                                         const struct tepal_filter *other)
{
    tepal_bits_and(into->words, other->words, into->word_count);
    /* The common keys are at most as many as either side has. */
    if (other->state.keys_added < into->state.keys_added) {
        into->state.keys_added = other->state.keys_added;
    }
    return TEPAL_OK;
}

/*
 * floor(floor(w m / 2^64) / d) = floor(w (m/d) / 2^64) whenever d divides m: a position in the
 * smaller filter is the position in the larger one divided by d, so neighbours can be merged. In
 * the blocked layouts the same holds of lines.
 */
static bool can_fold(const struct tepal_params *p, uint64_t divisor)
{
    switch (p->layout) {
    case TEPAL_LAYOUT_FLAT:
        return p->cells % divisor == 0 &&
               (p->positions == TEPAL_POSITIONS_COLLIDING || p->hashes == 1);
    case TEPAL_LAYOUT_PARTITIONED:
        return p->cells % p->hashes == 0 && p->cells / p->hashes % divisor == 0;
    case TEPAL_LAYOUT_BLOCKED:
        return p->cells / TEPAL_LINE_BITS % divisor == 0;
    case TEPAL_LAYOUT_PAIRED:
        return p->cells / TEPAL_LINE_BITS % divisor == 0 &&
               (p->positions == TEPAL_POSITIONS_COLLIDING || p->hashes == 1);
    }
    return false;
}

/* A filter of other parameters for the same keys, its bits still to be filled in. */
static enum tepal_status make_other(const struct tepal_filter *from,
                                    const struct tepal_params *params,
                                    const struct tepal_allocator *allocator,
                                    struct tepal_filter **out, struct tepal_error *error)
{
    if (tepal_params_check(params, NULL) != TEPAL_OK) {
        return refuse(error, TEPAL_UNSUPPORTED, "there is no filter of this size on this layout");
    }
    enum tepal_status status = tepal_filter_create(params, allocator, out, error);
    if (status == TEPAL_OK) {
        filter_inherit(*out, from);
    }
    return status;
}

enum tepal_status tepal_bloom_fold(const struct tepal_filter *filter, uint64_t divisor,
                                   const struct tepal_allocator *allocator,
                                   struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_params params = filter->params;
    if (params.kind != TEPAL_KIND_BLOOM) {
        return refuse(error, TEPAL_UNSUPPORTED, "only Bloom filters can be folded");
    }
    if (divisor == 0) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the divisor must be at least 1");
    }
    if (divisor == 1) {
        return tepal_filter_clone(filter, allocator, out, error);
    }
    if (!can_fold(&params, divisor)) {
        return refuse(
            error, TEPAL_UNSUPPORTED,
            "a filter of this size, layout and positions cannot be folded by this divisor");
    }
    params.cells /= divisor;
    enum tepal_status status = make_other(filter, &params, allocator, out, error);
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t *to = (*out)->words;
    if (!tepal_layout_in_lines(params.layout)) {
        tepal_bits_fold(to, filter->words, params.cells, divisor);
        return TEPAL_OK;
    }
    for (size_t i = 0; i < filter->word_count; i++) {
        uint64_t line = i / ADDRESS_SECTORS / divisor;
        to[line * ADDRESS_SECTORS + i % ADDRESS_SECTORS] |= filter->words[i];
    }
    return TEPAL_OK;
}

static bool same_places(const struct tepal_params *p, enum tepal_layout layout)
{
    return layout == p->layout ||
           (p->hashes == 1 && tepal_layout_in_lines(layout) == tepal_layout_in_lines(p->layout));
}

enum tepal_status tepal_bloom_relayout(const struct tepal_filter *filter, enum tepal_layout layout,
                                       const struct tepal_allocator *allocator,
                                       struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_params params = filter->params;
    if (params.kind != TEPAL_KIND_BLOOM) {
        return refuse(error, TEPAL_UNSUPPORTED, "only Bloom filters can change their layout");
    }
    if (!same_places(&params, layout)) {
        return refuse(error, TEPAL_UNSUPPORTED,
                      "the two layouts place keys differently; rebuild the filter from its keys");
    }
    params.layout = layout;
    enum tepal_status status = make_other(filter, &params, allocator, out, error);
    if (status == TEPAL_OK) {
        memcpy((*out)->words, filter->words, filter->word_count * 8);
    }
    return status;
}

/* ---- what the cells say ---------------------------------------------------------------------- */

uint64_t tepal_bloom_op_ones(const struct tepal_filter *filter)
{
    return tepal_bits_count_range(filter->words, 0, filter->params.cells);
}

double tepal_bloom_op_fp_now(const struct tepal_filter *filter)
{
    return tepal_bits_rate(&bloom_of_const(filter)->at, filter->words, NULL);
}

double tepal_bloom_estimate(const struct tepal_params *p, uint64_t ones)
{
    double m = (double)p->cells;
    /*
     * A key leaves a given cell alone with probability (1 - 1/m)^k, or 1 - k/m for distinct
     * positions and all other layouts; k keys of equal share give E[zeros] = m (...)^n, which is
     * solved for n.
     */
    double k = (double)p->hashes;
    bool colliding = p->layout == TEPAL_LAYOUT_FLAT && p->positions == TEPAL_POSITIONS_COLLIDING;
    double leave = colliding ? k * log1p(-1 / m) : log1p(-k / m);
    if (ones == 0 || ones == p->cells) {
        return ones == 0 ? 0 : HUGE_VAL;
    }
    return log1p(-(double)ones / m) / leave;
}

void tepal_bits_tell_worst(const struct address *at, double worst, struct tepal_report *report)
{
    if (tepal_layout_in_lines(at->layout)) {
        tepal_report_real(report, "fp_worst_line",
                          "the same for keys of the worst line: whoever knows the seed can aim",
                          worst);
    }
}

static void bloom_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    const struct tepal_params *p = &filter->params;
    const struct address *at = &bloom_of_const(filter)->at;
    double worst = 0;
    uint64_t ones = tepal_bloom_op_ones(filter);
    tepal_report_real(report, "keys_estimated",
                      "distinct keys, from the fill: about -(m/k) ln(1 - fill)",
                      tepal_bloom_estimate(p, ones));
    tepal_report_integer(report, "ones", "bits set", ones);
    tepal_report_real(report, "fill", "share of bits set", (double)ones / (double)p->cells);
    tepal_report_real(report, "fp_now", "false-positive rate now, from the bits themselves",
                      tepal_bits_rate(at, filter->words, &worst));
    tepal_bits_tell_worst(at, worst, report);
    if (p->capacity != 0) {
        tepal_report_real(
            report, "fp_at_capacity", "false-positive rate expected at capacity (model)",
            tepal_bloom_fp(p->layout, p->positions, p->cells, p->capacity, p->hashes));
    } else {
        tepal_report_absent(report, "fp_at_capacity", "no capacity was given");
    }
    tepal_report_real(report, "fn_now", "false-negative rate now: a Bloom filter has none", 0);
}

double tepal_bloom_report_part(const struct tepal_filter *filter, const struct address *first,
                               double passes, const char *at_capacity, struct tepal_report *report)
{
    struct tepal_bloom alone = {.head = *filter, .at = *first};
    alone.head.params.cells = first->cells;
    bloom_info(&alone.head, report);
    struct tepal_quantity *q = tepal_report_change(report, "fp_now");
    q->about = "rate on unknown negatives, from the bits";
    q->value.real *= passes;
    double unknown = q->value.real;
    if (tepal_layout_in_lines(first->layout)) {
        tepal_report_change(report, "fp_worst_line")->value.real *= passes;
    }
    q = tepal_report_change(report, "fp_at_capacity");
    if (q->type == TEPAL_QUANTITY_REAL) {
        q->about = at_capacity;
        q->value.real *= passes;
    }
    tepal_report_real(report, "fp_unknown", "rate on unknown negatives: the same as fp_now",
                      unknown);
    return unknown;
}

/* ---- the table entry ------------------------------------------------------------------------- */

const struct filter_ops tepal_bloom_ops = {
    .rules = &tepal_bloom_rules,
    .struct_bytes = sizeof(struct tepal_bloom),
    .open = tepal_bloom_op_open,
    .add = tepal_bloom_op_add,
    .add_many = tepal_bloom_op_add_many,
    .query = tepal_bloom_op_query,
    .query_many = tepal_bloom_op_query_many,
    .test_add = tepal_bloom_op_test_add,
    .test_add_many = tepal_bloom_op_test_add_many,
    .add_keys = tepal_bloom_op_add_keys,
    .query_keys = tepal_bloom_op_query_keys,
    .unite = bloom_unite,
    .intersect = bloom_intersect,
    .ones = tepal_bloom_op_ones,
    .fp_now = tepal_bloom_op_fp_now,
    .info = bloom_info,
    .allow = tepal_retouched_op_allow,
    .avoid = tepal_retouched_op_avoid,
};
