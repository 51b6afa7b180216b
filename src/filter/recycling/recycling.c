/*
 * recycling.c: the recycling Bloom filter (K. Dozier, L. Salamatian and D. Rubenstein, Modeling
 * Average False Positive Rates of Recycling Bloom Filters, INFOCOM 2024).
 *
 *     words   |   phase 0   |   phase 1   |   phase 2   |     each ceil(cells / 64) words
 *                 frozen        active        oldest
 *                               ^ inserts     ^ cleared and made active at the next recycling
 *
 * A message is asked in all phases and inserted in the active one. When it would make that one too
 * full it is the *trigger*: the filter recycles. In which order things happen:
 *
 *     answer  ->  full? take the trigger's bits back (unless it is kept)  ->  the next phase is
 *     cleared and active  ->  insert the trigger there (if it is retained)
 *
 * Invariants: phase cycles % phases is active; `ones` is the number of its bits; by sigma it never
 * exceeds sigma; a message that set bits set at least one; bits beyond the last cell of each phase
 * are zero; phases that have not been active yet are empty; so are the first `cleared` words of the
 * oldest phase, which is frozen, so that nobody has written to them since they were cleared.
 *
 * One set of hash functions serves all phases, so that a message's positions are computed once.
 * That is right as long as what one phase holds does not depend on what another holds. It does
 * depend when only misses are inserted: the cells that are set in the frozen phase keep messages
 * out of the active one, which then fills just the other cells; with one hash and sigma = M/2 it
 * never fills up. And a little when the trigger is both kept and retained: the two phases then
 * share its cells.
 * In these cases phase i > 0 has hash functions of its own.
 */
#include <tepal/papers.h>
#include <tepal/recycling.h>

#include <math.h>
#include <string.h>

#include "cells/bits.h"
#include "base/processor.h"
#include "filter/recycling/internal.h"

static struct tepal_recycling *recycling_of(struct tepal_filter *filter)
{
    return (struct tepal_recycling *)filter;
}

/* May a public call write to it? */
static enum tepal_status writable(const struct tepal_filter *filter)
{
    return !is_recycling(filter)      ? TEPAL_UNSUPPORTED
           : filter_read_only(filter) ? TEPAL_READ_ONLY
                                      : TEPAL_OK;
}

/* ---- construction ---------------------------------------------------------------------------- */

uint64_t tepal_recycling_phase_ones(const struct tepal_recycling *r, uint32_t age)
{
    if (age == 0) {
        return r->head.state.own[STATE_ONES];
    }
    return tepal_bits_count(recycling_words(r, recycling_phase(r, age)), r->phase_words);
}

/* The same without counting, unless it is a view. */
uint64_t tepal_recycling_ones(const struct tepal_recycling *r, uint32_t age)
{
    return age == 0 || filter_read_only(&r->head) ? tepal_recycling_phase_ones(r, age)
                                                  : r->frozen_ones[age];
}

/*
 * The rate of a phase with so many ones. The flat layout's is a power; the others' takes some
 * 10 us, so it is taken at most 128 times and interpolated.
 */
double tepal_recycling_rate_at(struct tepal_recycling *r, uint32_t step)
{
    const struct tepal_params *p = &r->head.params;
    if (isnan(r->rate[step])) {
        uint64_t ones = (uint64_t)((double)p->cells * step / RATE_STEPS);
        r->rate[step] = step == RATE_STEPS ? 1
                                           : tepal_recycling_rate(p->layout, p->positions, p->cells,
                                                                  ones, p->hashes);
    }
    return r->rate[step];
}

double tepal_recycling_phase_rate(struct tepal_recycling *r, double ones)
{
    const struct tepal_params *p = &r->head.params;
    if (p->layout == TEPAL_LAYOUT_FLAT) {
        return tepal_recycling_rate(p->layout, p->positions, p->cells, (uint64_t)ones, p->hashes);
    }
    double at = ones / (double)p->cells * RATE_STEPS;
    uint32_t step = at < RATE_STEPS - 1 ? (uint32_t)at : RATE_STEPS - 1;
    double low = tepal_recycling_rate_at(r, step);
    return low + (at - step) * (tepal_recycling_rate_at(r, step + 1) - low);
}

/*
 * What a message answered "not seen" tells of those answered "seen" by mistake: f / (1 - f) of
 * them, where f is the rate at this fill. Steps of 1/128 of the cells share one f, that of their
 * middle. Sets `mark`, the number of ones beyond which we have to look again.
 */
void tepal_recycling_filled(struct tepal_recycling *r)
{
    uint64_t cells = r->head.params.cells;
    uint64_t size = cells / RATE_STEPS + 1;
    uint64_t ones = r->head.state.own[STATE_ONES];
    uint64_t first = (ones < cells ? ones : cells) / size * size; /* a file may say anything */
    uint64_t end = first + size < cells ? first + size : cells;
    double miss = (1 - tepal_recycling_phase_rate(r, (double)first + (double)(end - first) / 2)) *
                  r->frozen_miss;
    /* Rounded to a float: what is stored shall not depend on the last digit of a power. */
    r->odds = (double)(float)(miss > 1e-6 ? (1 - miss) / miss : 1e6);
    r->mark = first + size - 1;
    if (r->rule == TEPAL_RECYCLING_SIGMA && r->limit < r->mark) {
        r->mark = r->limit;
    }
}

/* The chance that no frozen phase says yes to a new message, and what follows from it. */
static void weigh_frozen(struct tepal_recycling *r)
{
    if (r->rule == TEPAL_RECYCLING_AVERAGE) {
        tepal_average_weigh(r);
        return;
    }
    r->frozen_miss = 1;
    for (uint32_t age = 1; age < r->phases; age++) {
        r->frozen_miss *= 1 - tepal_recycling_phase_rate(r, (double)r->frozen_ones[age]);
    }
    tepal_recycling_filled(r);
}

static const struct recycling_kernels general;

static const struct recycling_kernels *kernels_for(const struct tepal_recycling *r)
{
    if (r->at.layout != TEPAL_LAYOUT_BLOCKED || r->own_hashes) {
        return &general;
    }
    if (tepal_processor_has_avx512() && r->at.hashes <= ADDRESS_SECTORS) {
        return &tepal_recycling_lines_avx512;
    }
    return tepal_processor_has_avx2() ? &tepal_recycling_lines_avx2
                                      : &tepal_recycling_lines_portable;
}

static void recycling_open(struct tepal_filter *filter)
{
    struct tepal_recycling *r = recycling_of(filter);
    const struct tepal_recycling_params *own = &filter->params.recycling;
    r->phases = (uint32_t)own->phases;
    r->rule = (enum tepal_recycling_rule)own->rule;
    r->limit = own->limit;
    r->retain = (own->flags & TEPAL_RECYCLING_RETAIN) != 0;
    r->keep_trigger = (own->flags & TEPAL_RECYCLING_KEEP_TRIGGER) != 0;
    r->only_misses = (own->flags & TEPAL_RECYCLING_ONLY_MISSES) != 0;
    r->cleared = 0;
    r->at = tepal_address_of(&filter->params, 1);
    r->own_hashes = r->only_misses || (r->retain && r->keep_trigger);
    r->phase_words = (size_t)(tepal_params_cells_bytes(filter->params.cells, 1) / 8);
    r->active = filter->state.own[STATE_CYCLES] % r->phases;
    r->kernels = kernels_for(r);
    r->bloom = tepal_bloom_dispatch(filter->params.layout);
    for (uint32_t step = 0; step <= RATE_STEPS; step++) {
        r->rate[step] = NAN;
    }
    if (filter_read_only(filter)) {
        return; /* a view: nothing will be inserted, and its words are not to be touched yet */
    }
    bool first = filter->state.own[STATE_CYCLES] == 0;
    for (uint32_t age = 1; age < r->phases; age++) {
        r->frozen_ones[age] = first ? 0 : tepal_recycling_phase_ones(r, age);
    }
    if (r->rule == TEPAL_RECYCLING_AVERAGE) {
        tepal_average_open(r);
    }
    weigh_frozen(r);
}

/* ---- recycling ------------------------------------------------------------------------------- */

void tepal_recycling_turn(struct tepal_recycling *r)
{
    uint64_t *own = r->head.state.own;
    if (r->callback != NULL) {
        struct tepal_recycling_cycle cycle = {own[STATE_CYCLES] + 1, own[STATE_MESSAGES],
                                              own[STATE_ONES]};
        r->callback(r->context, &cycle);
    }
    for (uint32_t age = r->phases - 1; age > 1; age--) {
        r->frozen_ones[age] = r->frozen_ones[age - 1];
    }
    r->frozen_ones[r->phases > 1] = own[STATE_ONES];
    /* Where counting ends the number stays, and goes on naming the phases in their order. */
    own[STATE_CYCLES] =
        own[STATE_CYCLES] < RECYCLING_MOST ? own[STATE_CYCLES] + 1 : RECYCLING_MOST + 1 - r->phases;
    r->active = own[STATE_CYCLES] % r->phases;
    own[STATE_ONES] = 0;
    own[STATE_MESSAGES] = 0;
    own[STATE_BEGAN] = own[STATE_CLOCK];
    memset(recycling_active(r) + r->cleared, 0, (r->phase_words - r->cleared) * 8);
    r->cleared = 0;
    if (r->rule == TEPAL_RECYCLING_AVERAGE) {
        tepal_average_turn(r);
    }
    weigh_frozen(r);
}

enum tepal_status tepal_recycling_on_recycle(struct tepal_filter *filter,
                                             tepal_recycling_callback *callback, void *context)
{
    if (!is_recycling(filter)) {
        return TEPAL_UNSUPPORTED;
    }
    recycling_of(filter)->callback = callback;
    recycling_of(filter)->context = context;
    return TEPAL_OK;
}

enum tepal_status tepal_recycling_recycle(struct tepal_filter *filter)
{
    enum tepal_status status = writable(filter);
    if (status == TEPAL_OK) {
        tepal_recycling_turn(recycling_of(filter));
    }
    return status;
}

enum tepal_status tepal_recycling_clear_ahead(struct tepal_filter *filter, uint64_t bytes,
                                              uint64_t *left)
{
    enum tepal_status status = writable(filter);
    struct tepal_recycling *r = recycling_of(filter);
    if (status == TEPAL_OK && r->phases == 1) {
        status = TEPAL_UNSUPPORTED;
    }
    if (status != TEPAL_OK) {
        return status;
    }
    uint32_t oldest = r->phases - 1;
    size_t words = r->phase_words - r->cleared;
    if (r->frozen_ones[oldest] > 0) {
        if (bytes / 8 < words) {
            words = (size_t)(bytes / 8 + (bytes % 8 != 0));
        }
        uint64_t *from = filter->words + recycling_phase(r, oldest) * r->phase_words + r->cleared;
        if (r->rule == TEPAL_RECYCLING_AVERAGE) {
            tepal_average_clears(r, r->cleared, words);
        }
        r->frozen_ones[oldest] -= tepal_bits_count(from, words);
        memset(from, 0, words * 8);
        weigh_frozen(r);
    }
    r->cleared += words; /* a phase without ones is clear as it is */
    if (left != NULL) {
        *left = (uint64_t)(r->phase_words - r->cleared) * 8;
    }
    return TEPAL_OK;
}

enum tepal_status tepal_recycling_set_clock(struct tepal_filter *filter, uint64_t now)
{
    uint64_t *own = filter->state.own;
    struct tepal_recycling *r = recycling_of(filter);
    enum tepal_status status = writable(filter);
    if (status != TEPAL_OK) {
        return status;
    }
    if (own[STATE_CLOCKED] != 0 && now < own[STATE_CLOCK]) {
        return TEPAL_CLOCK_BACK;
    }
    if (own[STATE_CLOCKED] == 0) {
        own[STATE_CLOCKED] = 1;
        own[STATE_BEGAN] = now;
    }
    own[STATE_CLOCK] = now;
    if (r->rule == TEPAL_RECYCLING_TIME) {
        uint64_t due = (now - own[STATE_BEGAN]) / r->limit;
        uint64_t began = own[STATE_BEGAN] + due * r->limit;
        /* After as many turns as there are phases all are empty: more would change nothing. */
        for (uint64_t i = 0; i < due && i < r->phases; i++) {
            tepal_recycling_turn(r);
        }
        own[STATE_BEGAN] = began;
    }
    return TEPAL_OK;
}

/* ---- one message ----------------------------------------------------------------------------- */

static bool holds(const uint64_t *words, const uint64_t *positions, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++) {
        if (!bits_test(words, positions[i])) {
            return false;
        }
    }
    return true;
}

/* Sets the positions; bit i of the result tells that position i was not set before. */
static uint64_t set_new(uint64_t *words, const uint64_t *positions, uint32_t k)
{
    uint64_t fresh = 0;
    for (uint32_t i = 0; i < k; i++) {
        fresh |= (uint64_t)!bits_test(words, positions[i]) << i;
        bits_set(words, positions[i]);
    }
    return fresh;
}

static void clear_new(uint64_t *words, const uint64_t *positions, uint64_t fresh)
{
    for (; fresh != 0; fresh &= fresh - 1) {
        uint64_t position = positions[__builtin_ctzll(fresh)];
        words[position >> 6] &= ~((uint64_t)1 << (position & 63));
    }
}

/* The active phase has a message's cells now; `fresh` tells which of them are new, if any. */
static void take(struct tepal_recycling *r, const uint64_t *positions, uint64_t fresh)
{
    uint64_t *own = r->head.state.own;
    own[STATE_ONES] += bits_count_word(fresh);
    own[STATE_MESSAGES] += fresh != 0;
    if (r->rule == TEPAL_RECYCLING_AVERAGE) {
        tepal_average_took(r, positions, fresh);
    } else if (own[STATE_ONES] > r->mark) {
        tepal_recycling_filled(r);
    }
}

/* Insert into an active phase that has room for it. */
static void insert_first(struct tepal_recycling *r, struct tepal_digest digest)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(&r->at, recycling_digest(r, digest, recycling_phase(r, 0)),
                                         positions);
    take(r, positions, set_new(recycling_active(r), positions, k));
}

void tepal_recycling_trigger(struct tepal_recycling *r, struct tepal_digest digest)
{
    tepal_recycling_turn(r);
    if (r->retain) {
        insert_first(r, digest);
    }
}

/*
 * Insert a message that the active phase does not hold yet (by average: or does, it may be the
 * trigger all the same); its positions there are known.
 */
static void insert(struct tepal_recycling *r, struct tepal_digest digest, const uint64_t *positions)
{
    uint64_t *own = r->head.state.own;
    uint64_t *words = recycling_active(r);
    uint64_t fresh = set_new(words, positions, r->at.hashes);
    uint64_t ones = own[STATE_ONES] + bits_count_word(fresh);
    if (!recycling_full(r, ones)) {
        take(r, positions, fresh);
        return;
    }
    if (r->keep_trigger) {
        own[STATE_ONES] = ones;
        own[STATE_MESSAGES]++;
    } else {
        clear_new(words, positions, fresh);
    }
    tepal_recycling_trigger(r, digest);
}

static bool frozen_holds(const struct tepal_recycling *r, struct tepal_digest digest,
                         uint64_t *positions)
{
    uint32_t k = r->at.hashes;
    for (uint32_t age = 1; age < r->phases; age++) {
        uint32_t phase = recycling_phase(r, age);
        if (r->own_hashes) {
            (void)tepal_address_positions(&r->at, recycling_digest(r, digest, phase), positions);
        }
        if (holds(recycling_words(r, phase), positions, k)) {
            return true;
        }
    }
    return false;
}

/* Request every line that the message will read, in all phases. */
static void request(const struct tepal_recycling *r, struct tepal_digest digest,
                    uint64_t *positions)
{
    uint32_t k = 0;
    for (uint32_t phase = 0; phase < r->phases; phase++) {
        if (phase == 0 || r->own_hashes) {
            k = tepal_address_positions(&r->at, recycling_digest(r, digest, phase), positions);
        }
        for (uint32_t i = 0; i < k; i++) {
            bits_prefetch(recycling_words(r, phase), positions[i]);
        }
    }
}

/* `positions` are those of phase 0, or room for some if every phase has its own. */
static bool seen_at(struct tepal_recycling *r, struct tepal_digest digest, uint64_t *positions)
{
    bool frozen = frozen_holds(r, digest, positions);
    if (r->own_hashes) {
        (void)tepal_address_positions(&r->at, recycling_digest(r, digest, recycling_phase(r, 0)),
                                      positions);
    }
    bool active = holds(recycling_active(r), positions, r->at.hashes);
    if (!active && !frozen) {
        recycling_miss(r);
    }
    if (r->rule == TEPAL_RECYCLING_AVERAGE) {
        tepal_average_arrives(r);
        insert(r, digest, positions);
    } else if (!active && !(frozen && r->only_misses)) {
        insert(r, digest, positions);
    }
    return active || frozen;
}

bool tepal_recycling_seen_one(struct tepal_recycling *r, struct tepal_digest digest)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    request(r, digest, positions);
    return seen_at(r, digest, positions);
}

static bool general_query_one(const struct tepal_recycling *r, struct tepal_digest digest)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    request(r, digest, positions);
    if (frozen_holds(r, digest, positions)) {
        return true;
    }
    uint32_t active = recycling_phase(r, 0);
    if (r->own_hashes) {
        (void)tepal_address_positions(&r->at, recycling_digest(r, digest, active), positions);
    }
    return holds(recycling_words(r, active), positions, r->at.hashes);
}

/* ---- many messages --------------------------------------------------------------------------- */

/* Messages whose memory is requested ahead of the one at hand. */
#define AHEAD 16

static size_t general_seen(struct tepal_recycling *r, const struct tepal_digest *digests,
                           size_t count, uint64_t *answers)
{
    uint64_t window[AHEAD][TEPAL_MAX_HASHES];
    size_t asked = 0;
    size_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        for (; asked < count && asked < i + AHEAD; asked++) {
            request(r, digests[asked], window[asked % AHEAD]);
        }
        if (i % 64 == 0) {
            answers[i / 64] = 0;
        }
        bool yes = seen_at(r, digests[i], window[i % AHEAD]);
        answers[i / 64] |= (uint64_t)yes << (i % 64);
        seen += yes;
    }
    return seen;
}

/*
 * Messages that are asked at a time, whole words of answers: many, as the loops of the phases keep
 * several hundred under way and begin and end with fewer; fewer where their digests are computed.
 */
#define CHUNK     8192
#define OWN_CHUNK 512

/* Every phase is a Bloom filter: its loops ask each, and a message that one has is found. */
static size_t general_query(const struct tepal_recycling *r, const struct tepal_digest *digests,
                            size_t count, uint64_t *answers)
{
    const size_t chunk = r->own_hashes ? OWN_CHUNK : CHUNK;
    struct tepal_digest own[OWN_CHUNK];
    uint64_t found[CHUNK / 64];
    size_t present = 0;
    for (size_t base = 0; base < count; base += chunk) {
        size_t here = count - base < chunk ? count - base : chunk;
        size_t words = (here + 63) / 64;
        uint64_t *out = answers + base / 64;
        memset(out, 0, words * 8);
        for (uint32_t phase = 0; phase < r->phases; phase++) {
            struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = digests + base};
            if (r->own_hashes) {
                for (size_t i = 0; i < here; i++) {
                    own[i] = recycling_digest(r, digests[base + i], phase);
                }
                source.digests = own;
            }
            (void)r->bloom->query(&r->at, recycling_words(r, phase), &source, here, found);
            tepal_bits_or(out, found, words);
        }
        present += (size_t)tepal_bits_count(out, words);
    }
    return present;
}

/* Any layout, any options. */
static const struct recycling_kernels general = {general_seen, general_query,
                                                 tepal_recycling_seen_one, general_query_one};

/* ---- keys, through the table ----------------------------------------------------------------- */

static void count_arrivals(struct tepal_recycling *r, uint64_t count)
{
    struct filter_state *state = &r->head.state;
    filter_count_keys(&r->head, count);
    if (state->keys_added > RECYCLING_MOST) {
        uint64_t before = count < RECYCLING_MOST ? RECYCLING_MOST - count : 0;
        state->keys_added = RECYCLING_MOST;
        if (state->own[STATE_FRESH] > before) {
            state->own[STATE_FRESH] = before; /* room for these messages, should all be new */
        }
    }
}

static enum tepal_status recycling_test_add(struct tepal_filter *filter, struct tepal_digest digest,
                                            bool *was_present)
{
    struct tepal_recycling *r = recycling_of(filter);
    count_arrivals(r, 1);
    *was_present = r->kernels->seen_one(r, digest);
    return TEPAL_OK;
}

static enum tepal_status recycling_test_add_many(struct tepal_filter *filter,
                                                 const struct tepal_digest *digests, size_t count,
                                                 uint64_t *answers, size_t *present)
{
    struct tepal_recycling *r = recycling_of(filter);
    count_arrivals(r, count);
    *present = r->kernels->seen(r, digests, count, answers);
    return TEPAL_OK;
}

static enum tepal_status recycling_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    bool seen;
    return recycling_test_add(filter, digest, &seen);
}

static enum tepal_status recycling_add_many(struct tepal_filter *filter,
                                            const struct tepal_digest *digests, size_t count)
{
    uint64_t answers[64];
    size_t seen;
    for (size_t base = 0; base < count; base += 64 * 64) {
        size_t here = count - base < 64 * 64 ? count - base : 64 * 64;
        (void)recycling_test_add_many(filter, digests + base, here, answers, &seen);
    }
    return TEPAL_OK;
}

static bool recycling_query(const struct tepal_filter *filter, struct tepal_digest digest)
{
    const struct tepal_recycling *r = recycling_of_const(filter);
    return r->kernels->query_one(r, digest);
}

static size_t recycling_query_many(const struct tepal_filter *filter,
                                   const struct tepal_digest *digests, size_t count,
                                   uint64_t *answers)
{
    const struct tepal_recycling *r = recycling_of_const(filter);
    return r->kernels->query(r, digests, count, answers);
}

const struct filter_ops tepal_recycling_ops = {
    .rules = &tepal_recycling_rules,
    .struct_bytes = sizeof(struct tepal_recycling),
    .states = STATE_COUNT,
    .open = recycling_open,
    .reset = recycling_open, /* a cleared filter's state is already that of a new one */
    .validate = tepal_recycling_op_validate,
    .validate_cells = tepal_recycling_op_validate_cells,
    .add = recycling_add,
    .add_many = recycling_add_many,
    .query = recycling_query,
    .query_many = recycling_query_many,
    .test_add = recycling_test_add,
    .test_add_many = recycling_test_add_many,
    .ones = tepal_recycling_op_ones,
    .fp_now = tepal_recycling_op_fp_now,
    .info = tepal_recycling_op_info,
};
