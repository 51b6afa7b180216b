/*
 * fingerprint.c: the fingerprint filter (B. Fan, D. G. Andersen, M. Kaminsky and M. D.
 * Mitzenmacher, Cuckoo Filter: Practically Better Than Bloom, CoNEXT 2014).
 *
 *     key --hash--> digest --> a fingerprint p of f bits, and a bucket b
 *
 *     bucket b                    bucket H(p) - b (mod buckets)
 *     +----+----+----+----+       +----+----+----+----+
 *     | .. | p? | .. | .. |       | .. | .. | p? | .. |      p lies in one of the eight slots
 *     +----+----+----+----+       +----+----+----+----+
 *
 * The other bucket follows from the fingerprint and either bucket: H(p) - (H(p) - b) = b. So a
 * fingerprint can be moved by somebody who no longer has its key, and the number of buckets may be
 * any even one (the paper's exclusive or wants a power of two); as H(p) is odd, the two differ. The
 * pair of buckets and the fingerprint make up the *class* of a key; two keys of one class are one
 * key to the filter, and nothing else about a key matters: answers depend on the classes held, not
 * on which of its two buckets each is in.
 *
 * An addition looks for a free slot in both buckets. If there is none it looks, breadth first, for
 * the shortest chain of moves that frees one: whoever is in these buckets could go to his other
 * one, and so on. Nothing is moved before the chain is known to end in a free slot, so that a full
 * filter stays as it is; and there is nothing random about it. A shortest chain meets no bucket
 * twice: from the first meeting the rest of the chain could have been taken at once.
 *
 * What follows for its users (tepal/params.h has the rules):
 *   - It is full at some load, 95 % of the slots and more in all but the smallest filters, and then
 *     says TEPAL_FULL. Nothing has changed and nothing is lost: there is no stash and no victim.
 *     The search gives up after a fixed number of buckets, so that an addition takes a few
 *     microseconds at most. The planners leave room for the keys they are told of.
 *   - A key may be added several times and must then be removed as often. Its two buckets have
 *     TEPAL_MAX_COPIES slots: that many additions at most, and TEPAL_FULL for the next.
 *   - As long as only keys are removed that were added there are no false negatives. A stranger who
 *     is a false positive takes the fingerprint of one member with him, and of one only.
 *   - A batch is added as a whole or not at all: if one key finds no room, those before it are
 *     taken back. Every query is then answered as before, though fingerprints may have moved
 *     between their two buckets.
 *   - The same keys in the same order give the same cells. Another order puts fingerprints
 *     elsewhere but changes no answer. Two filters cannot be united.
 *
 * Slots lie one after the other, f bits each, the first at the lowest bits; 0 is an empty slot and
 * fingerprints are 1 .. 2^f - 1. A bucket of 4 f <= 64 bits begins at a multiple of 4 bits, so that
 * eight bytes from the right byte hold all of it, and one comparison of 64 bits tests its four
 * slots.
 *
 * Invariants: state `held` is the number of slots that are not 0; keys added = held + removed
 * (unless they overflowed); everything after the last slot is zero, one word more than the slots
 * need among it, so that a bucket may be read with what follows it.
 */
#include <tepal/papers.h>

#include <math.h>

#include "base/checked.h"
#include "base/report.h"
#include "cells/bits.h"
#include "filter/fingerprint/internal.h"
#include "base/processor.h"

#define SLOTS FINGERPRINT_SLOTS

/* Own state. */
enum { OWN_HELD = 0, OWN_REMOVED = 1, OWN_STATES = 2 };

/* Buckets looked at before an addition gives up. More than 1000 gain less than 0.1 % of load. */
#define SEARCH_MAX 1000

/* Keys whose buckets are requested ahead of their use. */
#define WINDOW 64

static struct tepal_fingerprint *self(struct tepal_filter *filter)
{
    return (struct tepal_fingerprint *)filter;
}

static const struct tepal_fingerprint *self_const(const struct tepal_filter *filter)
{
    return (const struct tepal_fingerprint *)filter;
}

static enum fingerprint_width width_of(const struct fingerprint_table *t)
{
    if (t->bits > FINGERPRINT_NARROW) {
        return FINGERPRINT_WIDE;
    }
    return t->bits % 2 == 0 && LITTLE_ENDIAN_HOST ? FINGERPRINT_BYTES : FINGERPRINT_BITS;
}

static struct tepal_direct direct_of(const struct fingerprint_table *t)
{
    bool bytes = width_of(t) == FINGERPRINT_BYTES;
    return (struct tepal_direct){.way = bytes ? TEPAL_DIRECT_FINGERPRINT : TEPAL_DIRECT_CALL,
                                 .hashes = 2,
                                 .words = t->words,
                                 .range = t->buckets,
                                 .bucket = {.lanes = t->lanes,
                                            .highs = t->highs,
                                            .bytes = SLOTS * t->bits / 8,
                                            .shift = 64 - t->bits}};
}

static void fingerprint_open(struct tepal_filter *filter)
{
    struct fingerprint_table *t = &self(filter)->at;
    t->words = filter->words;
    t->bits = (uint32_t)filter->params.fingerprint.bits;
    t->buckets = filter->params.cells / (SLOTS * t->bits);
    t->values = ((uint64_t)1 << t->bits) - 1;
    t->lanes = 1 | (uint64_t)1 << t->bits;
    if (t->bits <= FINGERPRINT_NARROW) {
        t->lanes |= t->lanes << (2 * t->bits);
    }
    t->highs = t->lanes << (t->bits - 1);
    bool avx2 = tepal_processor_has_avx2();
    self(filter)->query = avx2 ? tepal_fingerprint_query_avx2 : tepal_fingerprint_query_portable;
    const struct fingerprint_one *one =
        &(avx2 ? tepal_fingerprint_one_avx2 : tepal_fingerprint_one_portable)[width_of(t)];
    filter->query = one->query;
    self(filter)->direct = direct_of(t);
    if (filter->params.hash == TEPAL_HASH_XXH3) {
        tepal_filter_direct_seed(&self(filter)->direct, &filter->hasher);
        filter->query_u64 = one->query_u64;
    }
}

/* Opening puts a faster one in its place. */
static bool fingerprint_query(const struct tepal_filter *filter, struct tepal_digest digest)
{
    return tepal_fingerprint_one_portable[width_of(&self_const(filter)->at)].query(filter, digest);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static uint64_t slot_get(const struct fingerprint_table *t, uint64_t bucket, uint32_t slot)
{
    return fingerprint_read(t->words, fingerprint_start(t, bucket) + slot * t->bits) & t->values;
}

static void slot_put(struct fingerprint_table *t, uint64_t bucket, uint32_t slot, uint64_t print)
{
    uint64_t at = fingerprint_start(t, bucket) + slot * t->bits;
    uint64_t *word = &t->words[at >> 6];
    unsigned shift = at & 63;
    word[0] = (word[0] & ~(t->values << shift)) | print << shift;
    if (shift + t->bits > 64) {
        word[1] = (word[1] & ~(t->values >> (64 - shift))) | print >> (64 - shift);
    }
}

/* The first slot of a bucket with this fingerprint (0: an empty one), or SLOTS. */
static uint32_t slot_find(const struct fingerprint_table *t, uint64_t bucket, uint64_t print)
{
    uint32_t slot = 0;
    while (slot < SLOTS && slot_get(t, bucket, slot) != print) {
        slot++;
    }
    return slot;
}

/* ---- additions ------------------------------------------------------------------------------- */

/* A bucket reached in the search: by moving away what is in `slot` of the bucket before it. */
struct step {
    uint64_t bucket;
    uint16_t from; /* the step before; its own number for the two that the search begins with */
    uint8_t slot;
};

/* Put the fingerprint at the end of a chain whose last bucket has a free slot. */
static void move_along(struct fingerprint_table *t, const struct step *steps, size_t last,
                       uint32_t free_slot, uint64_t print)
{
    while (steps[last].from != last) {
        uint64_t before = steps[steps[last].from].bucket;
        slot_put(t, steps[last].bucket, free_slot, slot_get(t, before, steps[last].slot));
        free_slot = steps[last].slot;
        last = steps[last].from;
    }
    slot_put(t, steps[last].bucket, free_slot, print);
}

static bool search_room(struct fingerprint_table *t, struct fingerprint_place at)
{
    struct step steps[SEARCH_MAX] = {{at.bucket, 0, 0}, {at.other, 1, 0}};
    size_t count = 2;
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = slot_find(t, steps[i].bucket, 0);
        if (slot < SLOTS) {
            move_along(t, steps, i, slot, at.print);
            return true;
        }
        for (uint8_t s = 0; s < SLOTS && count < SEARCH_MAX; s++) {
            uint64_t next = tepal_place_other_bucket(t->buckets, steps[i].bucket,
                                                     slot_get(t, steps[i].bucket, s));
            steps[count++] = (struct step){next, (uint16_t)i, s};
        }
    }
    return false;
}

static bool put(struct fingerprint_table *t, struct fingerprint_place at)
{
    uint64_t bucket = at.bucket;
    uint32_t slot = slot_find(t, bucket, 0);
    if (slot == SLOTS) {
        bucket = at.other;
        slot = slot_find(t, bucket, 0);
    }
    if (slot < SLOTS) {
        slot_put(t, bucket, slot, at.print);
        return true;
    }
    return search_room(t, at);
}

static bool take(struct fingerprint_table *t, struct fingerprint_place at)
{
    uint64_t bucket = at.bucket;
    uint32_t slot = slot_find(t, bucket, at.print);
    if (slot == SLOTS) {
        bucket = at.other;
        slot = slot_find(t, bucket, at.print);
    }
    if (slot < SLOTS) {
        slot_put(t, bucket, slot, 0);
    }
    return slot < SLOTS;
}

/* Is the fingerprint in one of its two buckets? */
static bool holds(const struct fingerprint_table *t, struct fingerprint_place at)
{
    bool narrow = t->bits <= FINGERPRINT_NARROW;
    return (fingerprint_match(t, narrow, fingerprint_start(t, at.bucket), at.print) |
            fingerprint_match(t, narrow, fingerprint_start(t, at.other), at.print)) != 0;
}

static void count_added(struct tepal_filter *filter, uint64_t count)
{
    filter_count_keys(filter, count);
    filter->state.own[OWN_HELD] += count;
}

static void count_removed(struct tepal_filter *filter, uint64_t count)
{
    uint64_t *own = filter->state.own;
    own[OWN_REMOVED] = saturating_add(own[OWN_REMOVED], count);
    own[OWN_HELD] -= count;
}

static enum tepal_status fingerprint_test_add(struct tepal_filter *filter,
                                              struct tepal_digest digest, bool *was_present)
{
    struct fingerprint_table *t = &self(filter)->at;
    struct fingerprint_place at = fingerprint_place_of(t, digest);
    bool present = holds(t, at);
    if (!put(t, at)) {
        return TEPAL_FULL;
    }
    count_added(filter, 1);
    *was_present = present;
    return TEPAL_OK;
}

static enum tepal_status fingerprint_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    struct fingerprint_table *t = &self(filter)->at;
    if (!put(t, fingerprint_place_of(t, digest))) {
        return TEPAL_FULL;
    }
    count_added(filter, 1);
    return TEPAL_OK;
}

static enum tepal_status fingerprint_remove(struct tepal_filter *filter, struct tepal_digest digest)
{
    struct fingerprint_table *t = &self(filter)->at;
    if (!take(t, fingerprint_place_of(t, digest))) {
        return TEPAL_NOT_PRESENT;
    }
    count_removed(filter, 1);
    return TEPAL_OK;
}

/* ---- batches --------------------------------------------------------------------------------- */

static uint64_t fingerprint_copies(const struct tepal_filter *filter, struct tepal_digest digest)
{
    const struct fingerprint_table *t = &self_const(filter)->at;
    struct fingerprint_place at = fingerprint_place_of(t, digest);
    uint64_t copies = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        copies += slot_get(t, at.bucket, slot) == at.print;
        copies += at.other != at.bucket && slot_get(t, at.other, slot) == at.print;
    }
    return copies;
}

/* The place of a key whose turn will come, its buckets requested. */
static inline struct fingerprint_place ask(const struct fingerprint_table *t,
                                           struct tepal_digest digest)
{
    struct fingerprint_place at = fingerprint_place_of(t, digest);
    fingerprint_prefetch(t, fingerprint_start(t, at.bucket));
    fingerprint_prefetch(t, fingerprint_start(t, at.other));
    return at;
}

/*
 * Add or remove in turn, and say who was there before: bit i of `answers`, unless it is NULL.
 * Returns how many could be, up to the first that could not be added.
 */
static size_t change_many(struct fingerprint_table *t, const struct tepal_digest *digests,
                          size_t count, bool adding, uint64_t *answers)
{
    struct fingerprint_place window[WINDOW];
    size_t asked = 0;
    size_t done = 0;
    for (size_t i = 0; i < count; i++) {
        for (; asked < count && asked < i + WINDOW; asked++) {
            window[asked % WINDOW] = ask(t, digests[asked]);
        }
        struct fingerprint_place at = window[i % WINDOW];
        if (answers != NULL) {
            uint64_t before = i % 64 == 0 ? 0 : answers[i / 64];
            answers[i / 64] = before | (uint64_t)holds(t, at) << (i % 64);
        }
        bool could = adding ? put(t, at) : take(t, at);
        if (adding && !could) {
            break;
        }
        done += could;
    }
    return done;
}

/* All of them or none; `answers` mean nothing then. */
static enum tepal_status add_all(struct tepal_filter *filter, const struct tepal_digest *digests,
                                 size_t count, uint64_t *answers)
{
    struct fingerprint_table *t = &self(filter)->at;
    size_t done = change_many(t, digests, count, true, answers);
    if (done == count) {
        count_added(filter, count);
        return TEPAL_OK;
    }
    /* The classes held are again those from before, so every answer is. */
    while (done > 0) {
        (void)take(t, fingerprint_place_of(t, digests[--done]));
    }
    return TEPAL_FULL;
}

static enum tepal_status fingerprint_add_many(struct tepal_filter *filter,
                                              const struct tepal_digest *digests, size_t count)
{
    return add_all(filter, digests, count, NULL);
}

static enum tepal_status fingerprint_test_add_many(struct tepal_filter *filter,
                                                   const struct tepal_digest *digests, size_t count,
                                                   uint64_t *answers, size_t *present)
{
    enum tepal_status status = add_all(filter, digests, count, answers);
    if (status == TEPAL_OK) {
        *present = (size_t)tepal_bits_count(answers, count / 64 + (count % 64 != 0));
    }
    return status;
}

static enum tepal_status fingerprint_remove_many(struct tepal_filter *filter,
                                                 const struct tepal_digest *digests, size_t count,
                                                 size_t *removed)
{
    *removed = change_many(&self(filter)->at, digests, count, false, NULL);
    count_removed(filter, *removed);
    return TEPAL_OK;
}

static size_t fingerprint_query_many(const struct tepal_filter *filter,
                                     const struct tepal_digest *digests, size_t count,
                                     uint64_t *answers)
{
    const struct tepal_fingerprint *f = self_const(filter);
    return f->query(&f->at, digests, count, answers);
}

/* ---- what the cells say ---------------------------------------------------------------------- */

static const char *fingerprint_validate(const struct tepal_filter *filter)
{
    const uint64_t *own = filter->state.own;
    uint64_t added = filter->state.keys_added;
    if (filter->words[filter->word_count - 1] != 0 ||
        bits_beyond(filter->words, filter->params.cells)) {
        return "there are bits set beyond the last slot";
    }
    if (own[OWN_HELD] > SLOTS * self_const(filter)->at.buckets) {
        return "there are more fingerprints than slots";
    }
    if (added != saturating_add(own[OWN_HELD], own[OWN_REMOVED]) && added != UINT64_MAX) {
        return "the number of keys added is not that of keys held plus removed";
    }
    return NULL;
}

static const char *fingerprint_validate_cells(const struct tepal_filter *filter)
{
    const struct fingerprint_table *t = &self_const(filter)->at;
    uint64_t held = tepal_processor_has_avx512() ? tepal_fingerprint_held_avx512(t)
                    : tepal_processor_has_avx2() ? tepal_fingerprint_held_avx2(t)
                                                 : tepal_fingerprint_held_from(t, 0);
    return filter->state.own[OWN_HELD] == held
               ? NULL
               : "the number of fingerprints differs from the one in the header";
}

/*
 * A stranger is a fingerprint (1 with a chance of 2 / 2^f, the others with 1 / 2^f) and a bucket,
 * and is found if either of his two buckets has the fingerprint. So one in bucket c lets strangers
 * of two buckets through, c and its other one; if the other has it too, count it there.
 */
static double fingerprint_fp_now(const struct tepal_filter *filter)
{
    const struct fingerprint_table *t = &self_const(filter)->at;
    uint64_t pairs = 0;
    for (uint64_t bucket = 0; bucket < t->buckets; bucket++) {
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            uint64_t print = slot_get(t, bucket, slot);
            if (print == 0 || slot_find(t, bucket, print) < slot) {
                continue; /* empty, or there twice */
            }
            uint64_t other = tepal_place_other_bucket(t->buckets, bucket, print);
            uint64_t buckets = slot_find(t, other, print) == SLOTS ? 2 : 1;
            pairs += buckets << (print == 1);
        }
    }
    return ldexp((double)pairs / (double)t->buckets, -(int)t->bits);
}

static uint64_t fingerprint_ones(const struct tepal_filter *filter)
{
    return filter->state.own[OWN_HELD];
}

static void fingerprint_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    const struct fingerprint_table *t = &self_const(filter)->at;
    const struct tepal_params *p = &filter->params;
    uint64_t taken = fingerprint_ones(filter);
    uint64_t slots = SLOTS * t->buckets;
    tepal_report_real(report, "keys_estimated", "keys held, repeats included (counted)",
                      (double)taken);
    tepal_report_integer(report, "ones", "slots taken", taken);
    tepal_report_real(report, "fill", "share of slots taken", (double)taken / (double)slots);
    tepal_report_real(report, "fp_now", "false-positive rate now, from the number of keys held",
                      tepal_fingerprint_fp(t->bits, t->buckets, taken));
    if (p->capacity != 0) {
        tepal_report_real(report, "fp_at_capacity",
                          "false-positive rate expected at capacity (model)",
                          tepal_fingerprint_fp(t->bits, t->buckets, p->capacity));
    } else {
        tepal_report_absent(report, "fp_at_capacity", "no capacity was given");
    }
    tepal_report_real(report, "fn_now",
                      "false-negative rate now: none if only keys that were added were removed", 0);
    tepal_report_integer(report, "fingerprint_bits", "bits per fingerprint", t->bits);
    tepal_report_integer(report, "slots", "number of slots", slots);
    tepal_report_integer(report, "room", "keys that fit reliably, in total (measured limit)",
                         tepal_fingerprint_room(t->bits, t->buckets));
    tepal_report_integer(report, "removed", "keys removed", filter->state.own[OWN_REMOVED]);
}

/* ---- the table entry ------------------------------------------------------------------------- */

const struct filter_ops tepal_fingerprint_ops = {
    .rules = &tepal_fingerprint_rules,
    .struct_bytes = sizeof(struct tepal_fingerprint),
    .states = OWN_STATES,
    .open = fingerprint_open,
    .validate = fingerprint_validate,
    .validate_cells = fingerprint_validate_cells,
    .add = fingerprint_add,
    .add_many = fingerprint_add_many,
    .keys_now = fingerprint_ones,
    .copies = fingerprint_copies,
    .remove = fingerprint_remove,
    .remove_many = fingerprint_remove_many,
    .query = fingerprint_query,
    .query_many = fingerprint_query_many,
    .test_add = fingerprint_test_add,
    .test_add_many = fingerprint_test_add_many,
    .can_be_full = true,
    .ones = fingerprint_ones,
    .fp_now = fingerprint_fp_now,
    .info = fingerprint_info,
};
