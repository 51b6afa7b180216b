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
#include <tepal/generalized.h>
#include <tepal/model.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/names.h"
#include "base/refuse.h"
#include "cells/bits.h"
#include "filter/generalized/internal.h"
#include "filter/known/digest_set.h"
#include "filter/retouched/internal.h"

#define MOST_PASSES 64

/*
 * net-effect: a member weighs as much as two false positives, and in the first passes the best bit
 * is flipped even if it creates as much as it removes: what it created is taken out in its turn.
 * (At 8192 bits, 256 members, 20,000 strangers and half ones, 1236 false positives become 3 at the
 * price of one member; without bold passes 38, and with members at no price 23 for 40 members.)
 */
#define MEMBER_PRICE 2
#define BOLD_PASSES  2

static const char *const names[] = {"net-effect", "least-fn"};

static const struct names methods = NAMES(names, "");

const char *tepal_generalized_method_name(enum tepal_generalized_method method)
{
    return names_at(methods, method);
}

bool tepal_generalized_method_parse(const char *name, enum tepal_generalized_method *out)
{
    unsigned value;
    bool known = names_find(methods, name, &value);
    *out = known ? (enum tepal_generalized_method)value : *out;
    return known;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* A key has a bit and wants it set, or not. */
struct use {
    uint64_t bit;
    uint32_t key;
    bool set;
};

struct run {
    const struct tepal_generalized *from;
    const struct tepal_retouch_input *in;
    enum tepal_generalized_method method;
    struct arena arena;
    uint64_t *words; /* of the copy */

    /* keys: first those to avoid, then those known, then the members */
    size_t avoid_end;
    size_t known_end;
    size_t keys;
    struct use *uses;
    size_t use_count;
    uint8_t *lost;
    uint64_t *passed_over; /* bitmap: keys to avoid that are members */

    uint64_t lost_members;
    double lost_weight;
    struct retouch_limits limits; /* of these */
    uint64_t flips;
};

static struct tepal_digest digest_of(const struct run *run, size_t key)
{
    return key < run->avoid_end   ? run->in->avoid[key]
           : key < run->known_end ? run->in->known[key - run->avoid_end]
                                  : run->in->members[key - run->known_end];
}

static double weight_of(const struct run *run, size_t key)
{
    const struct tepal_retouch_input *in = run->in;
    if (key >= run->known_end) {
        return in->member_weights == NULL ? 1 : in->member_weights[key - run->known_end];
    }
    return key < run->avoid_end && in->avoid_weights != NULL ? in->avoid_weights[key] : 1;
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
    const struct tepal_retouch_input *in = run->in;
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
        if (u->key >= run->known_end) {
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
    if (run->method == TEPAL_GENERALIZED_NET_EFFECT) {
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
    bool net = run->method == TEPAL_GENERALIZED_NET_EFFECT;
    bool changed = true;
    for (int pass = 0; changed && pass < (net ? MOST_PASSES : 1); pass++) {
        changed = false;
        for (size_t key = 0; key < run->avoid_end; key++) {
            if (is_target(run, key) && found(run, key)) {
                changed = remove_one(run, key, !net || pass < BOLD_PASSES) || changed;
            }
        }
    }
}

/* ---- before and after ------------------------------------------------------------------------ */

static enum tepal_status check(const struct tepal_filter *filter,
                               const struct tepal_retouch_input *in,
                               enum tepal_generalized_method method, enum tepal_retouch_limit limit,
                               double budget, const char **why)
{
    if (filter->params.kind != TEPAL_KIND_GENERALIZED) {
        return refuse(why, TEPAL_UNSUPPORTED, "this is not a generalized filter");
    }
    if ((unsigned)method >= methods.count || (unsigned)limit > TEPAL_RETOUCH_LIMIT_WEIGHT) {
        return refuse(why, TEPAL_BAD_ARGUMENT, "there is no such method or limit");
    }
    return tepal_retouch_check_input(in, limit, budget, why);
}

/* Who is found now, into the first or the second half of the report. */
static void tally(struct run *run, struct tepal_generalized_retouch_report *r, bool after,
                  uint64_t *before)
{
    for (size_t key = 0; key < run->known_end; key++) {
        bool yes = (key >= run->avoid_end || is_target(run, key)) && found(run, key);
        uint64_t *count = key >= run->avoid_end
                              ? (after ? &r->known_after : &r->known_before)
                              : (after ? &r->positives_after : &r->positives_before);
        *count += yes;
        if (key < run->avoid_end && yes) {
            *(after ? &r->weight_after : &r->weight_before) += weight_of(run, key);
            r->created += after && !bits_test(before, key);
        }
        if (!after && yes) {
            bits_set(before, key);
        }
    }
    r->false_negatives = 0;
    r->lost_weight = 0;
    r->member_weight = 0;
    for (size_t key = run->known_end; key < run->keys; key++) {
        r->member_weight += weight_of(run, key);
        if (!found(run, key)) {
            r->false_negatives++;
            r->lost_weight += weight_of(run, key);
        }
    }
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

static enum tepal_status work(struct run *run, struct tepal_generalized_retouch_report *r,
                              uint64_t *victims, const char **why)
{
    enum tepal_status status = find_members(run, &r->avoid_members);
    uint64_t *before = tepal_arena_bitmap(&run->arena, run->known_end);
    if (status == TEPAL_OK) {
        status = before == NULL ? TEPAL_NO_MEMORY : make_index(run);
    }
    if (status != TEPAL_OK) {
        return refuse(why, status, tepal_status_message(status));
    }
    tally(run, r, false, before);
    r->members = run->in->member_count;
    r->members_absent = r->false_negatives;
    r->avoid_given = run->in->avoid_count;
    if (strangers(run, r->members_absent)) {
        return refuse(why, TEPAL_MISMATCH,
                      "most of these keys are not in the filter: these are not its members");
    }
    run->lost_members = r->false_negatives;
    run->lost_weight = r->lost_weight;
    remove_all(run);
    tally(run, r, true, before);
    r->bits_flipped = run->flips;
    for (size_t i = 0; victims != NULL && i < run->in->member_count; i++) {
        if (i % 64 == 0) {
            victims[i / 64] = 0;
        }
        victims[i / 64] |= (uint64_t)!found(run, run->known_end + i) << (i % 64);
    }
    return TEPAL_OK;
}

enum tepal_status tepal_generalized_retouch(
    const struct tepal_filter *filter, const struct tepal_retouch_input *input,
    enum tepal_generalized_method method, enum tepal_retouch_limit limit, double budget,
    const struct tepal_allocator *allocator, struct tepal_filter **out,
    struct tepal_generalized_retouch_report *report, uint64_t *victims, const char **why)
{
    enum tepal_status status = check(filter, input, method, limit, budget, why);
    if (status != TEPAL_OK) {
        return status;
    }
    struct tepal_filter *made;
    status = tepal_filter_clone(filter, allocator, &made);
    if (status != TEPAL_OK) {
        return refuse(why, status, tepal_status_message(status));
    }
    struct tepal_generalized_retouch_report filled = {0};
    struct run run = {.from = (const struct tepal_generalized *)filter,
                      .in = input,
                      .method = method,
                      .words = made->words,
                      .avoid_end = input->avoid_count};
    run.arena = tepal_arena_open(allocator);
    run.limits = tepal_retouch_limits(limit, budget, input->member_count);
    run.known_end = run.avoid_end + input->known_count;
    run.keys = run.known_end + input->member_count;
    status = work(&run, &filled, victims, why);
    tepal_arena_release(&run.arena, NULL);
    if (status != TEPAL_OK) {
        tepal_filter_free(made);
        return status;
    }
    *out = made;
    if (report != NULL) {
        *report = filled;
    }
    return TEPAL_OK;
}
