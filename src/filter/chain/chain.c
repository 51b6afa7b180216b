/*
 * chain.c: Bloom filters in a row (P. S. Almeida, C. Baquero, N. Preguica and D. Hutchison,
 * Scalable Bloom filters, IPL 101(6), 2007; the series of sizes and rates is ours, model/chain.c).
 *
 *     part 0  |====|             full: N keys
 *     part 1  |====|             full
 *     part 2  |========|         full
 *     part 3  |=========-------| the last one takes the keys that come
 *
 *     query: found in any of them, the last and largest first    add: to the last, unless found
 *
 * Part i hashes in its own way (address_rehash; part 0 takes the digest itself, so that a chain of
 * one part is the Bloom filter, bit for bit). That makes its rate independent of what is in the
 * others: a key that they have is not added to it, and those that are added are as random to its
 * hash functions as any.
 *
 * Invariants: the bits of all parts add up to the parameters' cells; a part has no more keys than
 * it has room for, unless filters were united; a bit once set stays set, hence no false negative.
 */
#include <math.h>
#include <string.h>

#include <tepal/papers.h>

#include "base/processor.h"
#include "base/report.h"
#include "cells/bits.h"
#include "filter/bloom/internal.h"
#include "filter/chain/internal.h"

/* ---- one key --------------------------------------------------------------------------------- */

static bool chain_query(const struct tepal_filter *filter, struct tepal_digest digest)
{
    const struct tepal_chain *chain = chain_of_const(filter);
    return chain->one->ask(chain, 0, chain->parts, digest);
}

/* Room in the last part: there may be more keys in it after a union. */
static uint64_t room_left(const struct tepal_chain *chain)
{
    const uint64_t *entry = chain_entry(chain, chain->parts - 1);
    return entry[CHAIN_ROOM] > entry[CHAIN_KEYS] ? entry[CHAIN_ROOM] - entry[CHAIN_KEYS] : 0;
}

static void put_at(struct tepal_chain *chain, uint32_t i, struct tepal_digest digest)
{
    chain->one->put(chain, i, digest);
    chain_entry(chain, i)[CHAIN_KEYS]++;
}

static enum tepal_status chain_test_add(struct tepal_filter *filter, struct tepal_digest digest,
                                        bool *was_present)
{
    struct tepal_chain *chain = chain_of(filter);
    bool present = chain_query(filter, digest);
    if (!present) {
        enum tepal_status status =
            room_left(chain) == 0 ? tepal_chain_append(chain, NULL) : TEPAL_OK;
        if (status != TEPAL_OK) {
            return status;
        }
        put_at(chain, chain->parts - 1, digest);
    }
    filter_count_keys(filter, 1);
    *was_present = present;
    return TEPAL_OK;
}

static enum tepal_status chain_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    bool present;
    return chain_test_add(filter, digest, &present);
}

/* ---- many keys ------------------------------------------------------------------------------- */

#define CHUNK 1024

/*
 * Keys that no part has had yet ask the next smaller one, packed: its kernel has as many lines in
 * flight as it can, whatever share of the keys is left.
 */
struct chunk {
    struct tepal_digest digest[CHUNK]; /* as the part at hand hashes them */
    uint16_t from[CHUNK];              /* the number of each */
    uint64_t answers[CHUNK / 64];      /* of the part at hand */
};

static size_t keep_absent(struct chunk *c, size_t left, uint64_t *answers)
{
    size_t kept = 0;
    for (size_t i = 0; i < left; i++) {
        if (bits_test(c->answers, i)) {
            bits_set(answers, c->from[i]);
        } else {
            c->from[kept++] = c->from[i];
        }
    }
    return kept;
}

static size_t ask_chunk(const struct tepal_chain *chain, const struct tepal_digest *digests,
                        size_t count, uint64_t *answers)
{
    struct chunk c;
    size_t left = count;
    memset(answers, 0, (count + 63) / 64 * 8);
    for (size_t i = 0; i < count; i++) {
        c.from[i] = (uint16_t)i;
    }
    for (uint32_t i = chain->parts; i > 0 && left > 0; i--) {
        const struct chain_part *part = &chain->part[i - 1];
        struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = c.digest};
        for (size_t x = 0; x < left; x++) {
            c.digest[x] = chain_digest(i - 1, digests[c.from[x]]);
        }
        if (chain->kernels->query(&part->at, part->words, &source, left, c.answers) > 0) {
            left = keep_absent(&c, left, answers);
        }
    }
    return count - left;
}

/* Is there a loop that asks so many keys in all parts at a time? It is for whole groups. */
static bool in_waves(const struct tepal_chain *chain, size_t count)
{
    const struct tepal_params *p = &chain->head.params;
    return p->layout == TEPAL_LAYOUT_BLOCKED && count >= BLOOM_GROUP &&
           p->cells / TEPAL_LINE_BITS <= UINT32_MAX && tepal_processor_has_avx512();
}

static size_t ask_many(const struct tepal_chain *chain, const struct tepal_digest *digests,
                       size_t count, uint64_t *answers)
{
    size_t present = 0;
    if (in_waves(chain, count)) {
        return tepal_chain_wave_avx512(chain, digests, count, answers);
    }
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t here = count - first < CHUNK ? count - first : CHUNK;
        present += ask_chunk(chain, digests + first, here, answers + first / 64);
    }
    return present;
}

static size_t chain_query_many(const struct tepal_filter *filter,
                               const struct tepal_digest *digests, size_t count, uint64_t *answers)
{
    return ask_many(chain_of_const(filter), digests, count, answers);
}

/* How many of the keys are not found. */
static size_t count_absent(const struct tepal_chain *chain, const struct tepal_digest *digests,
                           size_t count)
{
    uint64_t answers[CHUNK / 64];
    size_t absent = count;
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t here = count - first < CHUNK ? count - first : CHUNK;
        absent -= ask_many(chain, digests + first, here, answers);
    }
    return absent;
}

/* Parts for as many keys as the batch may add, so that nothing can fail once a bit is set. */
static enum tepal_status make_room(struct tepal_chain *chain, const struct tepal_digest *digests,
                                   size_t count)
{
    const uint32_t parts = chain->parts;
    uint64_t room = room_left(chain);
    if (count <= room) {
        return TEPAL_OK;
    }
    uint64_t wanted = count_absent(chain, digests, count);
    while (room < wanted) {
        enum tepal_status status = tepal_chain_append(chain, NULL);
        if (status != TEPAL_OK) {
            tepal_chain_drop(chain, parts);
            return status;
        }
        room += room_left(chain);
    }
    return TEPAL_OK;
}

/*
 * Add those of a chunk that are not present, from part *at on, as if one by one. What was added
 * within the chunk is in the parts from `before` on; all others have been asked.
 */
static void put_chunk(struct tepal_chain *chain, const struct tepal_digest *digests, size_t count,
                      uint64_t *answers, uint32_t *at)
{
    const uint32_t before = *at;
    for (size_t i = 0; i < count; i++) {
        if (bits_test(answers, i) || chain->one->ask(chain, before, *at + 1, digests[i])) {
            bits_set(answers, i);
            continue;
        }
        const uint64_t *entry = chain_entry(chain, *at);
        *at += entry[CHAIN_KEYS] >= entry[CHAIN_ROOM];
        put_at(chain, *at, digests[i]);
    }
}

static enum tepal_status chain_test_add_many(struct tepal_filter *filter,
                                             const struct tepal_digest *digests, size_t count,
                                             uint64_t *answers, size_t *present)
{
    struct tepal_chain *chain = chain_of(filter);
    uint32_t at = chain->parts - 1;
    enum tepal_status status = make_room(chain, digests, count);
    if (status != TEPAL_OK) {
        return status;
    }
    *present = 0;
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t here = count - first < CHUNK ? count - first : CHUNK;
        uint64_t *to = answers + first / 64;
        (void)ask_many(chain, digests + first, here, to);
        put_chunk(chain, digests + first, here, to, &at);
        *present += (size_t)tepal_bits_count(to, (here + 63) / 64);
    }
    tepal_chain_drop(chain, at + 1); /* room for repeats that needed none */
    filter_count_keys(filter, count);
    return TEPAL_OK;
}

static enum tepal_status chain_add_many(struct tepal_filter *filter,
                                        const struct tepal_digest *digests, size_t count)
{
    struct tepal_chain *chain = chain_of(filter);
    uint64_t answers[CHUNK / 64];
    uint32_t at = chain->parts - 1;
    enum tepal_status status = make_room(chain, digests, count);
    for (size_t first = 0; first < count && status == TEPAL_OK; first += CHUNK) {
        size_t here = count - first < CHUNK ? count - first : CHUNK;
        (void)ask_many(chain, digests + first, here, answers);
        put_chunk(chain, digests + first, here, answers, &at);
    }
    if (status == TEPAL_OK) {
        tepal_chain_drop(chain, at + 1);
        filter_count_keys(filter, count);
    }
    return status;
}

/* ---- whole filters --------------------------------------------------------------------------- */

/* Part by part; parts that only the other one has are made like them. */
static enum tepal_status chain_unite(struct tepal_filter *into, const struct tepal_filter *other)
{
    struct tepal_chain *chain = chain_of(into);
    const struct tepal_chain *from = chain_of_const(other);
    const uint32_t parts = chain->parts;
    for (uint32_t i = 0; i < parts && i < from->parts; i++) {
        if (memcmp(chain_entry(chain, i), chain_entry(from, i), CHAIN_KEYS * 8) != 0) {
            return TEPAL_MISMATCH;
        }
    }
    while (chain->parts < from->parts) {
        enum tepal_status status = tepal_chain_append(chain, chain_entry(from, chain->parts));
        if (status != TEPAL_OK) {
            tepal_chain_drop(chain, parts);
            return status;
        }
    }
    for (uint32_t i = 0; i < from->parts; i++) {
        uint64_t *keys = &chain_entry(chain, i)[CHAIN_KEYS];
        tepal_bits_or(chain->part[i].words, from->part[i].words,
                      (size_t)(from->part[i].at.cells / 64));
        *keys = saturating_add(*keys, chain_entry(from, i)[CHAIN_KEYS]);
    }
    filter_count_keys(into, other->state.keys_added);
    return TEPAL_OK;
}

/* ---- what it tells --------------------------------------------------------------------------- */

static uint64_t chain_ones(const struct tepal_filter *filter)
{
    const struct tepal_chain *chain = chain_of_const(filter);
    uint64_t ones = 0;
    for (uint32_t i = 0; i < chain->parts; i++) {
        ones += tepal_bits_count(chain->part[i].words, (size_t)(chain->part[i].at.cells / 64));
    }
    return ones;
}

/* Also for keys of the worst line of the worst part, which the others treat like any key. */
static double rate_now(const struct tepal_chain *chain, double *worst)
{
    double passes = 1;
    double least = 1; /* of all parts, with the worst line of one */
    for (uint32_t i = 0; i < chain->parts; i++) {
        double line = 0;
        double rate = tepal_bits_rate(&chain->part[i].at, chain->part[i].words, &line);
        least = fmin(least * (1 - rate), passes * (1 - line));
        passes *= 1 - rate;
    }
    *worst = 1 - least;
    return 1 - passes;
}

static double chain_fp_now(const struct tepal_filter *filter)
{
    double worst;
    return rate_now(chain_of_const(filter), &worst);
}

/* The distinct keys that the bits speak for. */
static double estimate(const struct tepal_chain *chain)
{
    double keys = 0;
    for (uint32_t i = 0; i < chain->parts; i++) {
        struct tepal_params part = chain->head.params;
        part.cells = chain->part[i].at.cells;
        part.hashes = chain->part[i].at.hashes;
        keys += tepal_bloom_estimate(
            &part, tepal_bits_count(chain->part[i].words, (size_t)(part.cells / 64)));
    }
    return keys;
}

static void tell_parts(const struct tepal_chain *chain, struct tepal_report *report)
{
    double figures[3][TEPAL_MAX_PARTS];
    for (uint32_t i = 0; i < chain->parts; i++) {
        const uint64_t *entry = chain_entry(chain, i);
        figures[0][i] = (double)entry[CHAIN_BITS];
        figures[1][i] = (double)entry[CHAIN_ROOM];
        figures[2][i] = (double)entry[CHAIN_KEYS];
    }
    tepal_report_integer(report, "parts", "number of parts", chain->parts);
    tepal_report_list(report, "part_bits", "bits of each part", figures[0], chain->parts);
    tepal_report_list(report, "part_room", "keys that each part has room for", figures[1],
                      chain->parts);
    tepal_report_list(report, "part_keys", "keys that were added to each part", figures[2],
                      chain->parts);
}

static uint64_t chain_keys_now(const struct tepal_filter *filter)
{
    const struct tepal_chain *chain = chain_of_const(filter);
    uint64_t now = 0;
    for (uint32_t i = 0; i < chain->parts; i++) {
        now = saturating_add(now, chain_entry(chain, i)[CHAIN_KEYS]);
    }
    return now;
}

static void chain_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    const struct tepal_chain *chain = chain_of_const(filter);
    const struct tepal_params *p = &filter->params;
    uint64_t ones = chain_ones(filter);
    uint64_t now = chain_keys_now(filter);
    tepal_report_real(report, "keys_estimated", "distinct keys, estimated from the ones",
                      estimate(chain));
    tepal_report_integer(report, "ones", "bits set", ones);
    tepal_report_real(report, "fill", "share of ones", (double)ones / (double)p->cells);
    double worst;
    tepal_report_real(report, "fp_now", "false-positive rate now, from the bits of all parts",
                      rate_now(chain, &worst));
    tepal_bits_tell_worst(&chain->part[0].at, worst, report);
    if (p->capacity == 0) {
        tepal_report_absent(report, "fp_at_capacity", "no capacity was given");
    } else {
        tepal_report_real(report, "fp_at_capacity",
                          "false-positive rate expected when the planned keys are in (model)",
                          tepal_chain_fp(p, p->capacity));
    }
    tepal_report_real(report, "fn_now", "false-negative rate: a chain has none", 0);
    tepal_report_integer(report, "keys_now", "keys that were not found when they were added", now);
    tepal_report_text(report, "series", "series of sizes and rates",
                      tepal_chain_series_name((enum tepal_chain_series)p->chain.series));
    tepal_report_real(report, "growth", "factor by which it grows; 0: it does not",
                      (double)p->chain.growth / TEPAL_CHAIN_UNIT);
    tepal_report_real(report, "fp_any_size", "false-positive rate that it keeps at every size",
                      ldexp((double)p->chain.rate, -64));
    tell_parts(chain, report);
}

const struct filter_ops tepal_chain_ops = {
    .rules = &tepal_chain_rules,
    .struct_bytes = sizeof(struct tepal_chain),
    .open = tepal_chain_open,
    .reset = tepal_chain_reset,
    .keys_now = chain_keys_now,
    .validate = tepal_chain_validate,
    .add = chain_add,
    .add_many = chain_add_many,
    .query = chain_query,
    .query_many = chain_query_many,
    .test_add = chain_test_add,
    .test_add_many = chain_test_add_many,
    .can_be_full = true,
    .unite = chain_unite,
    .ones = chain_ones,
    .fp_now = chain_fp_now,
    .info = chain_info,
    .run = tepal_chain_run,
    .memory = tepal_chain_memory,
    .close = tepal_chain_close,
};
