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
 * Single operations are here; batches are in the kernels (kernels.h).
 */
#include <tepal/bloom.h>
#include <tepal/model.h>

#include <math.h>
#include <string.h>

#include "address/address.h"
#include "filter/lines/processor.h"
#include "base/report.h"
#include "cells/bits.h"
#include "filter/bloom/internal.h"
#include "filter/lines/kernels.h"

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
    bool avx2 = tepal_processor_has_avx2();
    if (layout == TEPAL_LAYOUT_FLAT || layout == TEPAL_LAYOUT_PARTITIONED) {
        return avx2 ? &tepal_bloom_flat_avx2 : &tepal_bloom_flat_portable;
    }
    return avx2 ? &tepal_bloom_lines_avx2 : &tepal_bloom_lines_portable;
}

static void bloom_open(struct tepal_filter *filter)
{
    struct tepal_bloom *bloom = bloom_of(filter);
    bloom->at = tepal_address_of(&filter->params, 1);
    bloom->kernels = tepal_bloom_dispatch(filter->params.layout);
}

/* ---- construction ---------------------------------------------------------------------------- */

enum tepal_status tepal_bloom_create(const struct tepal_params *params,
                                     const struct tepal_allocator *allocator,
                                     struct tepal_bloom **out)
{
    struct tepal_filter *filter;
    enum tepal_status status =
        tepal_filter_create_kind(TEPAL_KIND_BLOOM, params, allocator, &filter);
    if (status == TEPAL_OK) {
        *out = bloom_of(filter);
    }
    return status;
}

enum tepal_status tepal_bloom_create_for_rate(uint64_t keys, double fp, uint64_t seed,
                                              struct tepal_bloom **out)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.capacity = keys;
    params.seed = seed;
    enum tepal_status status =
        tepal_bloom_size(params.layout, params.positions, keys, fp, &params.cells, &params.hashes);
    return status != TEPAL_OK ? status : tepal_bloom_create(&params, NULL, out);
}

enum tepal_status tepal_bloom_create_with_bits(uint64_t bits, uint32_t hashes, uint64_t seed,
                                               struct tepal_bloom **out)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.cells = bits;
    params.hashes = hashes == 0 ? 7 : hashes;
    params.seed = seed;
    return tepal_bloom_create(&params, NULL, out);
}

enum tepal_status tepal_bloom_create_bits_per_key(uint64_t keys, double bits_per_key, uint64_t seed,
                                                  struct tepal_bloom **out)
{
    double bits = ceil((double)keys * bits_per_key);
    if (keys == 0 || !(bits_per_key > 0)) {
        return TEPAL_BAD_ARGUMENT;
    }
    if (!(bits <= (double)PARAMS_MAX_CELLS)) {
        return TEPAL_TOO_LARGE;
    }
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.cells = (uint64_t)bits;
    params.capacity = keys;
    params.seed = seed;
    params.hashes = tepal_bloom_best_hashes(params.layout, params.positions, params.cells, keys);
    return tepal_bloom_create(&params, NULL, out);
}

void tepal_bloom_free(struct tepal_bloom *bloom)
{
    tepal_filter_free(bloom == NULL ? NULL : &bloom->head);
}

struct tepal_filter *tepal_bloom_filter(struct tepal_bloom *bloom)
{
    return &bloom->head;
}

const struct tepal_filter *tepal_bloom_filter_const(const struct tepal_bloom *bloom)
{
    return &bloom->head;
}

/* ---- one key --------------------------------------------------------------------------------- */

/* The probes of one key; up to `hashes` positions, computed as they are asked for. */
static bool probe(const struct address *at, const uint64_t *words, struct tepal_digest d)
{
    if (at->layout == TEPAL_LAYOUT_FLAT && at->positions == TEPAL_POSITIONS_COLLIDING) {
        for (uint32_t i = 0; i < at->hashes; i++) {
            if (!bits_test(words, wide_scale(address_word(d, i), at->cells))) {
                return false;
            }
        }
        return true;
    }
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(at, d, positions);
    for (uint32_t i = 0; i < k; i++) {
        if (!bits_test(words, positions[i])) {
            return false;
        }
    }
    return true;
}

enum tepal_status tepal_bloom_add(struct tepal_bloom *bloom, struct tepal_digest digest)
{
    if (filter_read_only(&bloom->head)) {
        return TEPAL_READ_ONLY;
    }
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(&bloom->at, digest, positions);
    for (uint32_t i = 0; i < k; i++) {
        bits_set(bloom->head.words, positions[i]);
    }
    filter_count_keys(&bloom->head, 1);
    return TEPAL_OK;
}

bool tepal_bloom_query(const struct tepal_bloom *bloom, struct tepal_digest digest)
{
    return probe(&bloom->at, bloom->head.words, digest);
}

enum tepal_status tepal_bloom_add_bytes(struct tepal_bloom *bloom, const void *key, size_t len)
{
    if (!bloom->head.has_hasher) {
        return TEPAL_KEY_NEEDED;
    }
    return tepal_bloom_add(bloom, tepal_hash_bytes(&bloom->head.hasher, key, len));
}

enum tepal_status tepal_bloom_add_u64(struct tepal_bloom *bloom, uint64_t key)
{
    if (!bloom->head.has_hasher) {
        return TEPAL_KEY_NEEDED;
    }
    return tepal_bloom_add(bloom, tepal_hash_u64(&bloom->head.hasher, key));
}

enum tepal_status tepal_bloom_query_bytes(const struct tepal_bloom *bloom, const void *key,
                                          size_t len, bool *present)
{
    if (!bloom->head.has_hasher) {
        return TEPAL_KEY_NEEDED;
    }
    *present = tepal_bloom_query(bloom, tepal_hash_bytes(&bloom->head.hasher, key, len));
    return TEPAL_OK;
}

enum tepal_status tepal_bloom_query_u64(const struct tepal_bloom *bloom, uint64_t key,
                                        bool *present)
{
    if (!bloom->head.has_hasher) {
        return TEPAL_KEY_NEEDED;
    }
    *present = tepal_bloom_query(bloom, tepal_hash_u64(&bloom->head.hasher, key));
    return TEPAL_OK;
}

/* ---- concurrent ------------------------------------------------------------------------------ */

/*
 * Relaxed is enough: bits are only ever set, so that a reader who comes after (in the
 * happens-before order) finds them, and one who races may see any part of them, as if it had come
 * before.
 */
enum tepal_status tepal_bloom_add_atomic(struct tepal_bloom *bloom, struct tepal_digest digest,
                                         bool *was_present)
{
    if (filter_read_only(&bloom->head)) {
        return TEPAL_READ_ONLY;
    }
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(&bloom->at, digest, positions);
    bool present = true;
    for (uint32_t i = 0; i < k; i++) {
        uint64_t *word = &bloom->head.words[positions[i] >> 6];
        uint64_t bit = (uint64_t)1 << (positions[i] & 63);
        /* Reading first spares the line's ownership when the bit is there already. */
        if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) == 0) {
            present = (__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit) != 0 && present;
        }
    }
    uint64_t *keys = &bloom->head.state.keys_added;
    uint64_t now = __atomic_load_n(keys, __ATOMIC_RELAXED);
    while (now != UINT64_MAX && !__atomic_compare_exchange_n(keys, &now, now + 1, true,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    if (was_present != NULL) {
        *was_present = present;
    }
    return TEPAL_OK;
}

bool tepal_bloom_query_atomic(const struct tepal_bloom *bloom, struct tepal_digest digest)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(&bloom->at, digest, positions);
    for (uint32_t i = 0; i < k; i++) {
        uint64_t word = __atomic_load_n(&bloom->head.words[positions[i] >> 6], __ATOMIC_RELAXED);
        if ((word >> (positions[i] & 63) & 1) == 0) {
            return false;
        }
    }
    return true;
}

/* ---- many keys ------------------------------------------------------------------------------- */

enum tepal_status tepal_bloom_add_many(struct tepal_bloom *bloom,
                                       const struct tepal_digest *digests, size_t count)
{
    if (filter_read_only(&bloom->head)) {
        return TEPAL_READ_ONLY;
    }
    if (count > 0) {
        struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = digests};
        bloom->kernels->add(&bloom->at, bloom->head.words, &source, count);
        filter_count_keys(&bloom->head, count);
    }
    return TEPAL_OK;
}

size_t tepal_bloom_query_many(const struct tepal_bloom *bloom, const struct tepal_digest *digests,
                              size_t count, uint64_t *answers)
{
    struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = digests};
    return count == 0
               ? 0
               : bloom->kernels->query(&bloom->at, bloom->head.words, &source, count, answers);
}

/*
 * Keys that are hashed on the way. SipHash is no part of the kernels, so digests of keyed filters
 * come in chunks (whole words of answers).
 */
#define KEYED_CHUNK 256

static void hash_chunk(const struct bloom_source *source, size_t first, size_t count,
                       struct tepal_digest *digests)
{
    if (source->form == BLOOM_INTEGERS) {
        tepal_hash_u64_many(&source->hasher, source->integers + first, count, digests);
    } else {
        tepal_hash_fixed(&source->hasher, source->bytes + first * source->width, source->width,
                         count, digests);
    }
}

static enum tepal_status add_source(struct tepal_bloom *bloom, struct bloom_source *source,
                                    size_t count)
{
    struct tepal_filter *head = &bloom->head;
    if (filter_read_only(head)) {
        return TEPAL_READ_ONLY;
    }
    if (!head->has_hasher) {
        return TEPAL_KEY_NEEDED;
    }
    source->hasher = head->hasher;
    if (head->hasher.hash == TEPAL_HASH_XXH3 && count > 0) {
        bloom->kernels->add(&bloom->at, head->words, source, count);
        filter_count_keys(head, count);
        return TEPAL_OK;
    }
    for (size_t i = 0; i < count; i += KEYED_CHUNK) {
        struct tepal_digest digests[KEYED_CHUNK];
        size_t here = count - i < KEYED_CHUNK ? count - i : KEYED_CHUNK;
        hash_chunk(source, i, here, digests);
        (void)tepal_bloom_add_many(bloom, digests, here);
    }
    return TEPAL_OK;
}

static enum tepal_status query_source(const struct tepal_bloom *bloom, struct bloom_source *source,
                                      size_t count, uint64_t *answers, size_t *present)
{
    const struct tepal_filter *head = &bloom->head;
    if (!head->has_hasher) {
        return TEPAL_KEY_NEEDED;
    }
    source->hasher = head->hasher;
    size_t found = 0;
    if (head->hasher.hash == TEPAL_HASH_XXH3 && count > 0) {
        found = bloom->kernels->query(&bloom->at, head->words, source, count, answers);
    } else {
        for (size_t i = 0; i < count; i += KEYED_CHUNK) {
            struct tepal_digest digests[KEYED_CHUNK];
            size_t here = count - i < KEYED_CHUNK ? count - i : KEYED_CHUNK;
            hash_chunk(source, i, here, digests);
            found += tepal_bloom_query_many(bloom, digests, here, answers + i / 64);
        }
    }
    if (present != NULL) {
        *present = found;
    }
    return TEPAL_OK;
}

enum tepal_status tepal_bloom_add_u64_many(struct tepal_bloom *bloom, const uint64_t *keys,
                                           size_t count)
{
    struct bloom_source source = {.form = BLOOM_INTEGERS, .integers = keys};
    return add_source(bloom, &source, count);
}

enum tepal_status tepal_bloom_query_u64_many(const struct tepal_bloom *bloom, const uint64_t *keys,
                                             size_t count, uint64_t *answers, size_t *present)
{
    struct bloom_source source = {.form = BLOOM_INTEGERS, .integers = keys};
    return query_source(bloom, &source, count, answers, present);
}

enum tepal_status tepal_bloom_add_fixed(struct tepal_bloom *bloom, const void *keys, size_t width,
                                        size_t count)
{
    struct bloom_source source = {.form = BLOOM_FIXED, .bytes = keys, .width = width};
    return width == 0 ? TEPAL_BAD_ARGUMENT : add_source(bloom, &source, count);
}

enum tepal_status tepal_bloom_query_fixed(const struct tepal_bloom *bloom, const void *keys,
                                          size_t width, size_t count, uint64_t *answers,
                                          size_t *present)
{
    struct bloom_source source = {.form = BLOOM_FIXED, .bytes = keys, .width = width};
    return width == 0 ? TEPAL_BAD_ARGUMENT : query_source(bloom, &source, count, answers, present);
}

/* ---- whole filters --------------------------------------------------------------------------- */

enum tepal_status tepal_bloom_clear(struct tepal_bloom *bloom)
{
    return tepal_filter_clear(&bloom->head);
}

enum tepal_status tepal_bloom_clone(const struct tepal_bloom *bloom,
                                    const struct tepal_allocator *allocator,
                                    struct tepal_bloom **out)
{
    struct tepal_filter *copy;
    enum tepal_status status = tepal_filter_clone(&bloom->head, allocator, &copy);
    if (status == TEPAL_OK) {
        *out = bloom_of(copy);
    }
    return status;
}

enum tepal_status tepal_bloom_unite(struct tepal_bloom *into, const struct tepal_bloom *other)
{
    enum tepal_status status = tepal_filter_mates(&into->head, &other->head);
    if (status == TEPAL_OK) {
        tepal_bits_or(into->head.words, other->head.words, into->head.word_count);
        filter_count_keys(&into->head, other->head.state.keys_added);
    }
    return status;
}

enum tepal_status tepal_bloom_intersect(struct tepal_bloom *into, const struct tepal_bloom *other)
{
    enum tepal_status status = tepal_filter_mates(&into->head, &other->head);
    if (status == TEPAL_OK) {
        tepal_bits_and(into->head.words, other->head.words, into->head.word_count);
        /* The common keys are at most as many as either side has. */
        if (other->head.state.keys_added < into->head.state.keys_added) {
            into->head.state.keys_added = other->head.state.keys_added;
        }
    }
    return status;
}

bool tepal_bloom_equal(const struct tepal_bloom *a, const struct tepal_bloom *b)
{
    return tepal_filter_equal(&a->head, &b->head);
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

enum tepal_status tepal_bloom_fold(const struct tepal_bloom *bloom, uint64_t divisor,
                                   const struct tepal_allocator *allocator,
                                   struct tepal_bloom **out)
{
    const struct tepal_filter *from = &bloom->head;
    if (divisor == 0) {
        return TEPAL_BAD_ARGUMENT;
    }
    if (divisor == 1) {
        return tepal_bloom_clone(bloom, allocator, out);
    }
    if (!can_fold(&from->params, divisor)) {
        return TEPAL_UNSUPPORTED;
    }
    struct tepal_params params = from->params;
    params.cells /= divisor;
    if (tepal_params_check(&params, NULL) != TEPAL_OK) {
        return TEPAL_UNSUPPORTED; /* too small for this layout */
    }
    struct tepal_filter *to;
    enum tepal_status status = tepal_filter_create(&params, allocator, &to, NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    if (params.layout == TEPAL_LAYOUT_FLAT || params.layout == TEPAL_LAYOUT_PARTITIONED) {
        tepal_bits_fold(to->words, from->words, params.cells, divisor);
    } else {
        for (size_t i = 0; i < from->word_count; i++) {
            uint64_t line = i / ADDRESS_SECTORS / divisor;
            to->words[line * ADDRESS_SECTORS + i % ADDRESS_SECTORS] |= from->words[i];
        }
    }
    filter_inherit(to, from);
    *out = bloom_of(to);
    return TEPAL_OK;
}

static bool same_places(const struct tepal_params *p, enum tepal_layout layout)
{
    return layout == p->layout ||
           (p->hashes == 1 && tepal_layout_in_lines(layout) == tepal_layout_in_lines(p->layout));
}

enum tepal_status tepal_bloom_relayout(const struct tepal_bloom *bloom, enum tepal_layout layout,
                                       const struct tepal_allocator *allocator,
                                       struct tepal_bloom **out)
{
    const struct tepal_filter *from = &bloom->head;
    if (!same_places(&from->params, layout)) {
        return TEPAL_UNSUPPORTED;
    }
    struct tepal_params params = from->params;
    params.layout = layout;
    if (tepal_params_check(&params, NULL) != TEPAL_OK) {
        return TEPAL_UNSUPPORTED; /* the other layout cannot have this size */
    }
    struct tepal_filter *to;
    enum tepal_status status = tepal_filter_create(&params, allocator, &to, NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    memcpy(to->words, from->words, from->word_count * 8);
    filter_inherit(to, from);
    *out = bloom_of(to);
    return TEPAL_OK;
}

/* ---- what the cells say ---------------------------------------------------------------------- */

uint64_t tepal_bloom_ones(const struct tepal_bloom *bloom)
{
    return tepal_bits_count_range(bloom->head.words, 0, bloom->head.params.cells);
}

static double estimate(const struct tepal_params *p, uint64_t ones)
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

double tepal_bloom_fill_now(const struct tepal_bloom *bloom)
{
    return (double)tepal_bloom_ones(bloom) / (double)bloom->head.params.cells;
}

double tepal_bloom_keys_estimated(const struct tepal_bloom *bloom)
{
    return estimate(&bloom->head.params, tepal_bloom_ones(bloom));
}

double tepal_bloom_fp_now(const struct tepal_bloom *bloom)
{
    return tepal_bits_rate(&bloom->at, bloom->head.words);
}

static void bloom_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    const struct tepal_bloom *bloom = bloom_of_const(filter);
    const struct tepal_params *p = &filter->params;
    uint64_t ones = tepal_bloom_ones(bloom);
    tepal_report_real(report, "keys_estimated",
                      "distinct keys, from the fill: about -(m/k) ln(1 - fill)", estimate(p, ones));
    tepal_report_integer(report, "ones", "bits set", ones);
    tepal_report_real(report, "fill", "share of bits set", (double)ones / (double)p->cells);
    tepal_report_real(report, "fp_now", "false-positive rate now, from the bits themselves",
                      tepal_bloom_fp_now(bloom));
    if (p->capacity != 0) {
        tepal_report_real(
            report, "fp_at_capacity", "false-positive rate expected at capacity (model)",
            tepal_bloom_fp(p->layout, p->positions, p->cells, p->capacity, p->hashes));
    } else {
        tepal_report_absent(report, "fp_at_capacity", "no capacity was stated");
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
    q = tepal_report_change(report, "fp_at_capacity");
    if (q->type == TEPAL_QUANTITY_REAL) {
        q->about = at_capacity;
        q->value.real *= passes;
    }
    tepal_report_real(report, "fp_unknown", "rate on unknown negatives: fp_now, by its other name",
                      unknown);
    return unknown;
}

/* ---- the table entry ------------------------------------------------------------------------- */

static enum tepal_status bloom_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    return tepal_bloom_add(bloom_of(filter), digest);
}

static enum tepal_status bloom_add_many(struct tepal_filter *filter,
                                        const struct tepal_digest *digests, size_t count)
{
    return tepal_bloom_add_many(bloom_of(filter), digests, count);
}

static bool bloom_query(const struct tepal_filter *filter, struct tepal_digest digest)
{
    return tepal_bloom_query(bloom_of_const(filter), digest);
}

static size_t bloom_query_many(const struct tepal_filter *filter,
                               const struct tepal_digest *digests, size_t count, uint64_t *answers)
{
    return tepal_bloom_query_many(bloom_of_const(filter), digests, count, answers);
}

static enum tepal_status bloom_unite(struct tepal_filter *into, const struct tepal_filter *other)
{
    return tepal_bloom_unite(bloom_of(into), bloom_of_const(other));
}

static enum tepal_status bloom_intersect(struct tepal_filter *into,
                                         const struct tepal_filter *other)
{
    return tepal_bloom_intersect(bloom_of(into), bloom_of_const(other));
}

const struct filter_ops tepal_bloom_ops = {
    .rules = &tepal_bloom_rules,
    .struct_bytes = sizeof(struct tepal_bloom),
    .open = bloom_open,
    .add = bloom_add,
    .add_many = bloom_add_many,
    .query = bloom_query,
    .query_many = bloom_query_many,
    .unite = bloom_unite,
    .intersect = bloom_intersect,
    .info = bloom_info,
};

struct tepal_bloom *tepal_filter_bloom(struct tepal_filter *filter)
{
    return filter->ops == &tepal_bloom_ops ? bloom_of(filter) : NULL;
}
