/*
 * retouch.c: false positives are removed from a generalized filter by inverting bits
 * (the last case of Donnet, Baynat and Friedman 2006, Sec. VII-A: "set or reset").
 *
 *     uses    (bit, key, wanted value)      of all keys, members too, sorted by bit
 *     lost    inverted bits of each key     a key is found if these are at most the tolerance b
 *
 * To flip a bit takes every key that has it from `lost` to lost + 1 or lost - 1: of those that
 * were at b the first kind is no longer found, of those that were at b + 1 the second kind is found
 * from now on. Both are read off the bit's list when they are needed. Once net-effect is no longer
 * bold, the known false positives weigh less after every change: it comes to an end.
 *
 * A key whose bits are inverted less than the tolerance needs several flips; they are made one by
 * one and taken back if together they do not pay.
 */
#include "filter/generalized/internal.h"

#include <math.h>
#include <stdlib.h>

#include <tepal/papers.h>

#include "base/checked.h"
#include "base/refuse.h"
#include "cells/bits.h"
#include "filter/known/digest_set.h"

#define MOST_PASSES 64

/*
 * net-effect: a member weighs as much as two false positives, and in the first passes the best bit
 * is flipped even if it creates as much as it removes: what it created is taken out in its turn.
 * (At 8192 bits, 256 members, 20,000 strangers and half ones, 1236 false positives become 3 at the
 * price of one member; without bold passes 38, and with members at no price 23 for 40 members.)
 */
#define MEMBER_PRICE 2
#define BOLD_PASSES  2

/* ---- one run --------------------------------------------------------------------------------- */

/* A key has a bit and wants it set, or not. */
struct use {
    uint64_t bit;
    uint32_t key;
    bool set;
};

struct run {
    const struct tepal_generalized *from;
    const struct tepal_known *in;
    struct work *work;
    bool net; /* net-effect, or else least-fn */
    struct arena arena;
    uint64_t *words; /* of the copy */

    /* keys: first those to avoid, then the others, then the members */
    size_t avoid_end;
    size_t others_end;
    size_t keys;
    struct use *uses;
    size_t use_count;
    uint8_t *lost;
    uint64_t *passed_over; /* bitmap: keys to avoid that are members */

    uint64_t lost_members;
    double lost_weight;
    struct known_limits limits; /* of these */
    uint64_t flips;
};

static struct tepal_digest digest_of(const struct run *run, size_t key)
{
    return key < run->avoid_end    ? run->in->avoid[key]
           : key < run->others_end ? run->in->others[key - run->avoid_end]
                                   : run->in->members[key - run->others_end];
}

static double weight_of(const struct run *run, size_t key)
{
    const struct tepal_known *in = run->in;
    if (key >= run->others_end) {
        return known_weight_of(in->member_weights, key - run->others_end);
    }
    return key < run->avoid_end ? known_weight_of(in->avoid_weights, key) : 1;
}

static bool found(const struct run *run, size_t key)
{
    return run->lost[key] <= run->from->roles.tolerance;
}

static bool is_target(const struct run *run, size_t key)
{
    return key < run->avoid_end && !bits_test(run->passed_over, key);
}

/* ---- the index ------------------------------------------------------------------------------- */

static int compare_uses(const void *a, const void *b)
{
    const struct use *x = a;
    const struct use *y = b;
    return x->bit != y->bit ? (x->bit > y->bit) - (x->bit < y->bit)
                            : (x->key > y->key) - (x->key < y->key);
}

/* The bits that a key has, each once; a reset wins. */
static uint32_t bits_of(const struct run *run, size_t key, struct use *out)
{
    struct places places;
    uint32_t count = 0;
    tepal_generalized_places(run->from, digest_of(run, key), &places);
    for (uint32_t i = 0; i < places.count; i++) {
        bool before = false;
        for (uint32_t j = 0; j < i; j++) {
            before = before || places.at[j] == places.at[i];
        }
        if (!before) {
            out[count++] = (struct use){places.at[i], (uint32_t)key, i >= places.resets};
        }
    }
    return count;
}

/* Keys to avoid that are members; how many they are. */
static enum tepal_status find_members(struct run *run, uint64_t *count)
{
    const struct tepal_known *in = run->in;
    struct digest_set avoid;
    run->passed_over = tepal_arena_bitmap(&run->arena, in->avoid_count);
    struct arena_piece *last = run->arena.last;
    if (run->passed_over == NULL ||
        !tepal_digest_set_make(&run->arena, in->avoid, in->avoid_count, NULL, &avoid)) {
        return TEPAL_NO_MEMORY;
    }
    *count = tepal_digest_set_meet(&avoid, in->members, in->member_count, run->passed_over);
    tepal_arena_release(&run->arena, last);
    return TEPAL_OK;
}

static enum tepal_status make_index(struct run *run)
{
    uint64_t most;
    if (!checked_mul(run->keys, run->from->at.hashes, &most) || run->keys > UINT32_MAX) {
        return TEPAL_TOO_LARGE;
    }
    run->uses = tepal_arena_take(&run->arena, most, sizeof *run->uses);
    run->lost = tepal_arena_take(&run->arena, run->keys, 1);
    if (run->uses == NULL || run->lost == NULL) {
        return TEPAL_NO_MEMORY;
    }
    for (size_t key = 0; key < run->keys; key++) {
        struct use *mine = &run->uses[run->use_count];
        /* a key to avoid that is a member counts once, as the member */
        uint32_t count = key < run->avoid_end && !is_target(run, key) ? 0 : bits_of(run, key, mine);
        for (uint32_t i = 0; i < count; i++) {
            bool wrong = bits_test(run->words, mine[i].bit) != mine[i].set;
            run->lost[key] = (uint8_t)(run->lost[key] + wrong);
        }
        run->use_count += count;
    }
    qsort(run->uses, run->use_count, sizeof *run->uses, compare_uses);
    return TEPAL_OK;
}

static const struct use *first_use(const struct run *run, uint64_t bit)
{
    size_t low = 0;
    size_t high = run->use_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->uses[middle].bit < bit) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return &run->uses[low];
}

/* ---- flips ----------------------------------------------------------------------------------- */

struct effect {
    double removed; /* weight of known false positives, less what is created */
    double lost;    /* weight of members, less what is found again */
    int64_t members;
};

/* What flipping the bit would do, or (if `apply`) does. */
static struct effect flip(struct run *run, uint64_t bit, bool apply)
{
    const uint32_t b = run->from->roles.tolerance;
    const bool now = bits_test(run->words, bit);
    const struct use *end = run->uses + run->use_count;
    struct effect effect = {0, 0, 0};
    for (const struct use *u = first_use(run, bit); u < end && u->bit == bit; u++) {
        bool right = u->set == now;
        int sign = right && run->lost[u->key] == b        ? 1
                   : !right && run->lost[u->key] == b + 1 ? -1
                                                          : 0;
        if (u->key >= run->others_end) {
            effect.members += sign;
            effect.lost += sign * weight_of(run, u->key);
        } else {
            effect.removed += sign * weight_of(run, u->key);
        }
        if (apply) {
            run->lost[u->key] = (uint8_t)(run->lost[u->key] + (right ? 1 : -1));
        }
    }
    if (apply) {
        run->words[bit >> 6] ^= (uint64_t)1 << (bit & 63);
        run->lost_members = (uint64_t)((int64_t)run->lost_members + effect.members);
        run->lost_weight += effect.lost;
        run->flips++;
    }
    return effect;
}

static bool affordable(const struct run *run, const struct effect *e)
{
    return (e->members <= 0 ||
            (uint64_t)((int64_t)run->lost_members + e->members) <= run->limits.lost) &&
           (e->lost <= 0 || run->lost_weight + e->lost <= run->limits.weight);
}

/* What net-effect goes by. */
static double net_of(const struct effect *e)
{
    return e->removed - MEMBER_PRICE * e->lost;
}

static bool better(const struct run *run, const struct effect *a, const struct effect *b)
{
    if (run->net) {
        return net_of(a) != net_of(b) ? net_of(a) > net_of(b) : a->lost < b->lost;
    }
    return a->lost != b->lost ? a->lost < b->lost : a->removed > b->removed;
}

/* The best bit of a key that is as the key wants it; false: there is none that may be flipped. */
static bool choose(struct run *run, size_t key, uint64_t *bit)
{
    struct use mine[TEPAL_MAX_HASHES];
    uint32_t count = bits_of(run, key, mine);
    struct effect best;
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (bits_test(run->words, mine[i].bit) != mine[i].set) {
            continue;
        }
        struct effect e = flip(run, mine[i].bit, false);
        if (affordable(run, &e) && (!any || better(run, &e, &best))) {
            any = true;
            best = e;
            *bit = mine[i].bit;
        }
    }
    return any;
}

/* Remove one false positive; unless `bold`, only if it pays. */
static bool remove_one(struct run *run, size_t key, bool bold)
{
    uint64_t done[TEPAL_MAX_HASHES];
    uint32_t count = 0;
    struct effect sum = {0, 0, 0};
    uint64_t bit = 0;
    while (found(run, key) && choose(run, key, &bit)) {
        struct effect e = flip(run, bit, true);
        sum.removed += e.removed;
        sum.lost += e.lost;
        done[count++] = bit;
    }
    bool stays = !found(run, key) && (bold || (sum.removed > 0 && net_of(&sum) >= 0));
    while (!stays && count > 0) {
        (void)flip(run, done[--count], true);
        run->flips -= 2;
    }
    return stays;
}

static void remove_all(struct run *run)
{
    bool changed = true;
    const int most = run->net ? MOST_PASSES : 1;
    for (int pass = 0; changed && pass < most; pass++) {
        const uint64_t before = (uint64_t)pass * run->avoid_end;
        changed = false;
        for (size_t key = 0; key < run->avoid_end; key++) {
            if (!work_key(run->work, before + key, (uint64_t)most * run->avoid_end)) {
                return;
            }
            if (is_target(run, key) && found(run, key)) {
                changed = remove_one(run, key, !run->net || pass < BOLD_PASSES) || changed;
            }
        }
    }
}

/* ---- before and after ------------------------------------------------------------------------ */

/* Members that are not found, and their weight; the weight of all. */
static void tally_members(const struct run *run, struct tepal_retouch_report *r)
{
    r->false_negatives = 0;
    r->lost_weight = 0;
    r->member_weight = 0;
    for (size_t key = run->others_end; key < run->keys; key++) {
        r->member_weight += weight_of(run, key);
        if (!found(run, key)) {
            r->false_negatives++;
            r->lost_weight += weight_of(run, key);
        }
    }
}

/* Who is found at first; the bits of `before` say which. */
static void tally_before(const struct run *run, struct tepal_retouch_report *r, uint64_t *before)
{
    for (size_t key = 0; key < run->others_end; key++) {
        if (!found(run, key) || (key < run->avoid_end && !is_target(run, key))) {
            continue;
        }
        bits_set(before, key);
        if (key < run->avoid_end) {
            r->avoid_positive++;
            r->avoid_weight += weight_of(run, key);
        } else {
            r->others_positive++;
        }
    }
    tally_members(run, r);
    r->members = run->in->member_count;
    r->members_absent = r->false_negatives;
    r->avoid_given = run->in->avoid_count;
}

/* Who is found in the end. Eqs. (10) to (12) are counted over the keys to avoid. */
static void tally_after(const struct run *run, struct tepal_retouch_report *r,
                        const uint64_t *before)
{
    double weight_left = 0;
    for (size_t key = 0; key < run->others_end; key++) {
        bool was = bits_test(before, key);
        bool is = found(run, key);
        if (key >= run->avoid_end) {
            r->others_left += is;
            r->removed_beyond += was && !is;
        } else if (is && is_target(run, key)) {
            r->avoid_left++;
            r->avoid_created += !was;
            weight_left += weight_of(run, key);
        }
    }
    tally_members(run, r);
    r->lost_expected = (double)r->false_negatives;
    r->lost_low = r->lost_expected;
    r->lost_high = r->lost_expected;
    r->lost_most = r->false_negatives;
    r->removed_inside = r->avoid_positive - (r->avoid_left - r->avoid_created);
    r->removed_weight = r->avoid_weight - weight_left;
    r->bits_changed = run->flips;
    double positive = (double)r->avoid_positive;
    r->delta_fp = (positive - (double)r->avoid_left) / positive;
    r->delta_fn = ((double)r->false_negatives - (double)r->members_absent) / (double)r->members;
    r->chi = r->delta_fn > 0 ? r->delta_fp / r->delta_fn : NAN;
}

static bool strangers(const struct run *run, uint64_t absent)
{
    struct tepal_generalized_errors rates;
    double n = (double)run->in->member_count;
    double expected = 0;
    if (tepal_generalized_rates(&run->from->head.params, run->from->head.state.keys_added, NULL, 0,
                                NULL, &rates) == TEPAL_OK) {
        expected = rates.fn * n;
    }
    return (double)absent > n / 2 && (double)absent > expected + 6 * sqrt(expected) + 6;
}

static enum tepal_status retouch(struct run *run, struct tepal_retouch_report *r, uint64_t *victims,
                                 struct tepal_error *error)
{
    enum tepal_status status = find_members(run, &r->avoid_members);
    uint64_t *before = tepal_arena_bitmap(&run->arena, run->others_end);
    if (status == TEPAL_OK) {
        status = before == NULL ? TEPAL_NO_MEMORY : make_index(run);
    }
    if (status != TEPAL_OK) {
        return refuse_if(error, status);
    }
    tally_before(run, r, before);
    if (strangers(run, r->members_absent)) {
        return refuse(
            error, TEPAL_MISMATCH,
            "most of the given members are not in the filter: they cannot be its members");
    }
    run->lost_members = r->false_negatives;
    run->lost_weight = r->lost_weight;
    remove_all(run);
    if (run->work->stopped) {
        return refuse_if(error, TEPAL_STOPPED);
    }
    tally_after(run, r, before);
    for (size_t i = 0; victims != NULL && i < run->in->member_count; i++) {
        if (i % 64 == 0) {
            victims[i / 64] = 0;
        }
        victims[i / 64] |= (uint64_t)!found(run, run->others_end + i) << (i % 64);
    }
    return TEPAL_OK;
}

enum tepal_status
tepal_generalized_retouch(const struct tepal_filter *filter, const struct tepal_known *known,
                          enum tepal_retouch_method method, struct known_limits limits,
                          struct work *work, const struct tepal_allocator *allocator,
                          struct tepal_filter **out, struct tepal_retouch_report *report,
                          uint64_t *victims, struct tepal_error *error)
{
    struct tepal_filter *made;
    enum tepal_status status = tepal_filter_clone(filter, allocator, &made, error);
    if (status != TEPAL_OK) {
        return status;
    }
    struct tepal_retouch_report filled = {.ones_before =
                                              tepal_bits_count(filter->words, filter->word_count)};
    struct run run = {.from = (const struct tepal_generalized *)filter,
                      .in = known,
                      .work = work,
                      .net = method == TEPAL_RETOUCH_NET_EFFECT,
                      .arena = tepal_arena_open(allocator),
                      .words = made->words,
                      .avoid_end = known->avoid_count,
                      .limits = limits};
    run.others_end = run.avoid_end + known->other_count;
    run.keys = run.others_end + known->member_count;
    status = retouch(&run, &filled, victims, error);
    tepal_arena_release(&run.arena, NULL);
    if (status != TEPAL_OK) {
        tepal_filter_free(made);
        return status;
    }
    filled.ones_after = tepal_bits_count(made->words, made->word_count);
    *out = made;
    if (report != NULL) {
        *report = filled;
    }
    return TEPAL_OK;
}
