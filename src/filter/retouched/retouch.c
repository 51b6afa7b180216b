/*
 * retouch.c: the public calls of retouching, and all that the methods share: what is refused, which
 * of the given keys are false positives at all, the new filter, the report.
 *
 *     members --ask--> found | earlier victims
 *     avoid   --ask--> false positives | members | not found
 *                            |
 *                     index (tally.c) --> method --> lost members, cleared bits
 *                                                                  |
 *                                               sweep --> new filter --ask again--> report
 *
 * The sweep. Once the victims V are lost, a bit that only they own does nothing but let false
 * positives through. Without all such bits the filter is the Bloom filter of the survivors S:
 *
 *     bits := bits & ~(bloom(V) & ~bloom(S))
 *
 * (written so that the bits of members that were not given stay). No survivor has lost a bit, and
 * every victim was lost already: it cannot add a false negative.
 *
 * The report counts by asking the new filter, not by adding up what the methods believe.
 */
#include "filter/retouched/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

#define MOST_KEYS ((size_t)1 << 31)
#define NO_KEY    UINT32_MAX

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const names[TEPAL_RETOUCH_METHODS] = {
    "random-bits",     "random",          "min-fn",         "max-fp",   "ratio",
    "improved-min-fn", "improved-max-fp", "improved-ratio", "sacrifice"};

const char *tepal_retouch_method_name(enum tepal_retouch_method method)
{
    return (unsigned)method < TEPAL_RETOUCH_METHODS ? names[method] : "";
}

bool tepal_retouch_method_parse(const char *name, enum tepal_retouch_method *out)
{
    for (unsigned i = 0; i < TEPAL_RETOUCH_METHODS; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (enum tepal_retouch_method)i;
            return true;
        }
    }
    return false;
}

/* ---- memory of a run ------------------------------------------------------------------------- */

void *tepal_retouch_take(struct retouch *run, uint64_t count, size_t size)
{
    uint64_t bytes;
    if (!checked_mul(count == 0 ? 1 : count, size, &bytes) || !checked_size(bytes) ||
        run->pieces == RETOUCH_PIECES) {
        return NULL;
    }
    void *ptr = tepal_alloc_zeroed(&run->allocator, (size_t)bytes);
    if (ptr != NULL) {
        run->piece[run->pieces].ptr = ptr;
        run->piece[run->pieces++].bytes = (size_t)bytes;
    }
    return ptr;
}

void tepal_retouch_release(struct retouch *run, size_t pieces)
{
    while (run->pieces > pieces) {
        run->pieces--;
        tepal_alloc_release(&run->allocator, run->piece[run->pieces].ptr,
                            run->piece[run->pieces].bytes);
    }
}

/* ---- the curve ------------------------------------------------------------------------------- */

void tepal_retouch_note(struct retouch *run)
{
    struct retouch_curve *curve = run->curve;
    if (curve == NULL || curve->steps++ % curve->stride != 0) {
        return;
    }
    if (curve->count == curve->capacity - 1) { /* the last place is kept for the end */
        size_t kept = 0;
        for (size_t i = 0; i < curve->count; i += 2) {
            curve->points[kept++] = curve->points[i];
        }
        curve->count = kept;
        curve->stride *= 2;
        if ((curve->steps - 1) % curve->stride != 0 || kept == curve->capacity - 1) {
            return;
        }
    }
    curve->points[curve->count++] = (struct tepal_retouch_point){
        run->lost_count, run->lost_weight, run->gone_targets, run->gone_weight};
}

/* ---- what is refused ------------------------------------------------------------------------- */

enum tepal_status tepal_retouch_refuse(const char **why, enum tepal_status status,
                                       const char *reason)
{
    if (why != NULL) {
        *why = reason;
    }
    return status;
}

static bool weights_valid(const double *weights, size_t count)
{
    for (size_t i = 0; weights != NULL && i < count; i++) {
        if (!(weights[i] >= 0) || isinf(weights[i])) {
            return false;
        }
    }
    return true;
}

enum tepal_status tepal_retouch_check_input(const struct tepal_retouch_input *in,
                                            enum tepal_retouch_limit limit, double budget,
                                            const char **why)
{
    if (in->member_count > MOST_KEYS || in->avoid_count > MOST_KEYS ||
        in->known_count > MOST_KEYS) {
        return tepal_retouch_refuse(why, TEPAL_TOO_LARGE, "more than 2^31 keys");
    }
    if (limit == TEPAL_RETOUCH_LIMIT_SHARE && !(budget >= 0 && budget <= 1)) {
        return tepal_retouch_refuse(why, TEPAL_BAD_ARGUMENT, "the budget is a share outside 0..1");
    }
    if (limit != TEPAL_RETOUCH_LIMIT_ALL && !(budget >= 0)) {
        return tepal_retouch_refuse(why, TEPAL_BAD_ARGUMENT,
                                    "the budget is negative or not a number");
    }
    if (!weights_valid(in->member_weights, in->member_count)) {
        return tepal_retouch_refuse(why, TEPAL_BAD_ARGUMENT,
                                    "a member's weight is negative or not finite");
    }
    if (!weights_valid(in->avoid_weights, in->avoid_count)) {
        return tepal_retouch_refuse(why, TEPAL_BAD_ARGUMENT,
                                    "a troublesome key's weight is negative or not finite");
    }
    return TEPAL_OK;
}

static enum tepal_status check(const struct tepal_filter *filter,
                               const struct tepal_retouch_input *in,
                               const struct tepal_retouch_options *how, const char **why)
{
    if (filter->ops != &tepal_bloom_ops && filter->ops != &tepal_retouched_ops) {
        return tepal_retouch_refuse(
            why, TEPAL_UNSUPPORTED,
            "filters of this kind cannot be retouched: it must be bloom, retouched or generalized");
    }
    if ((unsigned)how->method >= TEPAL_RETOUCH_METHODS ||
        (unsigned)how->limit > TEPAL_RETOUCH_LIMIT_WEIGHT ||
        (unsigned)how->basis > TEPAL_RETOUCH_BASIS_ALL ||
        (unsigned)how->order > TEPAL_RETOUCH_ORDER_WEIGHT) {
        return tepal_retouch_refuse(why, TEPAL_BAD_ARGUMENT,
                                    "there is no such method, limit, basis or order");
    }
    if (in->member_count == 0) {
        return tepal_retouch_refuse(why, TEPAL_BAD_ARGUMENT, "there are no members");
    }
    if (how->basis == TEPAL_RETOUCH_BASIS_ALL && in->known == NULL) {
        return tepal_retouch_refuse(why, TEPAL_BAD_ARGUMENT,
                                    "counting over all false positives needs all known ones");
    }
    return tepal_retouch_check_input(in, how->limit, how->budget, why);
}

/* ---- who is found ---------------------------------------------------------------------------- */

static size_t ask(const struct tepal_bloom *filter, const struct tepal_digest *keys, size_t count,
                  uint64_t *answers)
{
    return tepal_bloom_query_many(filter, keys, count, answers);
}

static uint64_t *take_bitmap(struct retouch *run, uint64_t count)
{
    return tepal_retouch_take(run, (count + 63) / 64, 8);
}

/*
 * `lost` := the members that are not found. Those of a retouched filter are its earlier victims;
 * those of a Bloom filter were never added, and their bits are not theirs to give.
 */
static enum tepal_status find_members(struct retouch *run, struct tepal_retouch_report *report,
                                      const char **why)
{
    size_t n = run->in->member_count;
    const struct tepal_filter *head = &run->from->head;
    run->lost = take_bitmap(run, n);
    if (run->lost == NULL) {
        return TEPAL_NO_MEMORY;
    }
    size_t found = ask(run->from, run->in->members, n, run->lost);
    for (size_t i = 0; i < (n + 63) / 64; i++) {
        run->lost[i] = ~run->lost[i];
    }
    if (n % 64 != 0) {
        run->lost[n / 64] &= ((uint64_t)1 << n % 64) - 1;
    }
    bool before = head->ops == &tepal_retouched_ops;
    double expected = (double)n;
    if (before && head->state.own[RETOUCHED_MEMBERS] > 0) {
        expected *= 1 - (double)head->state.own[RETOUCHED_VICTIMS] /
                            (double)head->state.own[RETOUCHED_MEMBERS];
    }
    if ((double)found < expected / 2) {
        return tepal_retouch_refuse(
            why, TEPAL_MISMATCH,
            "most of the members are not in the filter: they are not its members");
    }
    report->members = n;
    report->members_absent = n - found;
    for (size_t i = 0; i < n; i++) {
        double weight = retouch_member_weight(run, (uint32_t)i);
        report->member_weight += weight;
        if (bits_test(run->lost, i)) {
            run->lost_weight += weight;
        }
    }
    run->lost_count = n - found;
    if (!before && found < n) {
        run->foreign = take_bitmap(run, n);
        if (run->foreign == NULL) {
            return TEPAL_NO_MEMORY;
        }
        memcpy(run->foreign, run->lost, (n + 63) / 64 * 8);
    }
    return TEPAL_OK;
}

/*
 * A set of keys by digest: which of a list of keys is it? Open addressing over indices; a key that
 * is there already is not entered again. A bitmap before it, 16 bits a key, turns away most keys
 * that are not in the set without a read that misses the cache.
 */
struct key_set {
    const struct tepal_digest *keys;
    uint32_t *slot; /* index + 1 */
    uint64_t mask;
    uint64_t *door;
    uint64_t door_bits;
};

static bool key_set_make(struct retouch *run, struct key_set *set, const struct tepal_digest *keys,
                         size_t count)
{
    uint64_t slots = 2;
    while (slots < 2 * (uint64_t)count) {
        slots *= 2;
    }
    set->keys = keys;
    set->mask = slots - 1;
    set->door_bits = 16 * (uint64_t)count + 64;
    set->slot = tepal_retouch_take(run, slots, sizeof *set->slot);
    set->door = take_bitmap(run, set->door_bits);
    return set->slot != NULL && set->door != NULL;
}

/* The slot of the key, or the empty one where it belongs. */
static uint64_t key_set_slot(const struct key_set *set, struct tepal_digest key)
{
    uint64_t i = (key.lo ^ key.hi >> 17) & set->mask;
    while (set->slot[i] != 0) {
        const struct tepal_digest *other = &set->keys[set->slot[i] - 1];
        if (other->lo == key.lo && other->hi == key.hi) {
            break;
        }
        i = (i + 1) & set->mask;
    }
    return i;
}

static void key_set_add(struct key_set *set, uint32_t index)
{
    uint64_t i = key_set_slot(set, set->keys[index]);
    if (set->slot[i] == 0) {
        set->slot[i] = index + 1;
    }
    bits_set(set->door, wide_scale(set->keys[index].hi * 3, set->door_bits));
}

static uint32_t key_set_find(const struct key_set *set, struct tepal_digest key)
{
    if (!bits_test(set->door, wide_scale(key.hi * 3, set->door_bits))) {
        return NO_KEY;
    }
    return set->slot[key_set_slot(set, key)] - 1; /* 0 - 1 is NO_KEY */
}

struct heavy {
    double weight;
    uint32_t index;
};

static int heavier(const void *left, const void *right)
{
    const struct heavy *a = left;
    const struct heavy *b = right;
    if (a->weight != b->weight) {
        return a->weight > b->weight ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

static enum tepal_status sort_by_weight(struct retouch *run)
{
    size_t pieces = run->pieces;
    struct heavy *order = tepal_retouch_take(run, run->targets, sizeof *order);
    if (order == NULL) {
        return TEPAL_NO_MEMORY;
    }
    for (uint32_t f = 0; f < run->targets; f++) {
        order[f] = (struct heavy){retouch_false_weight(run, f), run->falses[f]};
    }
    qsort(order, run->targets, sizeof *order, heavier);
    for (uint32_t f = 0; f < run->targets; f++) {
        run->falses[f] = order[f].index;
    }
    tepal_retouch_release(run, pieces);
    return TEPAL_OK;
}

/*
 * Which of the given keys are false positives: `wanted` and `others` (bitmaps over avoid and known)
 * are those that are found; of the wanted, members are taken out, unless they are to be removed; of
 * the others, those that are wanted already.
 */
static enum tepal_status find_falses(struct retouch *run, uint64_t *wanted, uint64_t *others,
                                     struct tepal_retouch_report *report)
{
    const struct tepal_retouch_input *in = run->in;
    size_t found = ask(run->from, in->avoid, in->avoid_count, wanted);
    report->avoid_given = in->avoid_count;
    if (others != NULL) {
        report->known_positive = ask(run->from, in->known, in->known_count, others);
    }
    size_t pieces = run->pieces;
    struct key_set set;
    uint64_t *is_member = take_bitmap(run, in->avoid_count);
    if (!key_set_make(run, &set, in->avoid, found) || is_member == NULL) {
        return TEPAL_NO_MEMORY;
    }
    for (size_t i = 0; i < in->avoid_count; i++) {
        if (bits_test(wanted, i)) {
            key_set_add(&set, (uint32_t)i);
        }
    }
    for (size_t i = 0; i < in->member_count; i++) {
        uint32_t key = key_set_find(&set, in->members[i]);
        if (key != NO_KEY) {
            bits_set(is_member, key);
        }
    }
    for (size_t i = 0; i < in->avoid_count; i++) {
        if (bits_test(wanted, i) && bits_test(is_member, key_set_find(&set, in->avoid[i]))) {
            report->avoid_members++;
            if (!run->how->remove_members) {
                wanted[i / 64] &= ~((uint64_t)1 << i % 64);
                found--;
            }
        }
    }
    for (size_t i = 0; others != NULL && i < in->known_count; i++) {
        if (bits_test(others, i) && key_set_find(&set, in->known[i]) != NO_KEY) {
            others[i / 64] &= ~((uint64_t)1 << i % 64);
        }
    }
    tepal_retouch_release(run, pieces);
    report->avoid_positive = found;
    return TEPAL_OK;
}

/* The false positives as a list: B, and behind it the others if they are counted too. */
static enum tepal_status list_falses(struct retouch *run, const uint64_t *wanted,
                                     const uint64_t *others, struct tepal_retouch_report *report)
{
    const struct tepal_retouch_input *in = run->in;
    if (run->how->method == TEPAL_RETOUCH_RANDOM_BITS) {
        wanted = NULL; /* nothing is aimed at */
    }
    bool all = wanted != NULL && run->how->basis == TEPAL_RETOUCH_BASIS_ALL &&
               run->how->method != TEPAL_RETOUCH_SACRIFICE;
    uint64_t count = wanted == NULL ? 0 : report->avoid_positive;
    count += all ? tepal_bits_count(others, (in->known_count + 63) / 64) : 0;
    run->falses = tepal_retouch_take(run, count, sizeof *run->falses);
    if (run->falses == NULL) {
        return TEPAL_NO_MEMORY;
    }
    for (size_t i = 0; wanted != NULL && i < in->avoid_count; i++) {
        if (bits_test(wanted, i)) {
            run->falses[run->targets++] = (uint32_t)i;
        }
    }
    if (run->how->order == TEPAL_RETOUCH_ORDER_WEIGHT && in->avoid_weights != NULL) {
        enum tepal_status status = sort_by_weight(run);
        if (status != TEPAL_OK) {
            return status;
        }
    }
    run->false_count = run->targets;
    for (size_t i = 0; all && i < in->known_count; i++) {
        if (bits_test(others, i)) {
            run->falses[run->false_count++] = (uint32_t)i;
        }
    }
    return TEPAL_OK;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void set_limits(struct retouch *run)
{
    double n = (double)run->in->member_count;
    run->most_lost = UINT64_MAX;
    run->most_weight = HUGE_VAL;
    switch (run->how->limit) {
    case TEPAL_RETOUCH_LIMIT_ALL:
        break;
    case TEPAL_RETOUCH_LIMIT_SHARE:
        /* 0.01 * 10000 must be 100, whatever the doubles say. */
        run->most_lost = (uint64_t)(run->how->budget * n * (1 + 1e-12));
        break;
    case TEPAL_RETOUCH_LIMIT_COUNT:
        run->most_lost = run->how->budget < n ? (uint64_t)run->how->budget : (uint64_t)n;
        break;
    case TEPAL_RETOUCH_LIMIT_WEIGHT:
        run->most_weight = run->how->budget;
        break;
    }
}

/* Everything up to the decisions: lost members and cleared bits. */
static enum tepal_status decide(struct retouch *run)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    size_t words = run->from->head.word_count;
    run->touched = tepal_retouch_take(run, words, 8);
    if (run->touched == NULL) {
        return TEPAL_NO_MEMORY;
    }
    for (uint32_t f = 0; f < run->false_count; f++) {
        uint32_t k = tepal_address_positions(&run->from->at, retouch_false(run, f), positions);
        for (uint32_t i = 0; i < k; i++) {
            bits_set(run->touched, positions[i]);
        }
    }
    if (run->how->method == TEPAL_RETOUCH_RANDOM_BITS) {
        tepal_retouch_choose_bits(run);
    }
    enum tepal_status status = tepal_retouch_index(run);
    if (status != TEPAL_OK) {
        return status;
    }
    set_limits(run);
    tepal_retouch_note(run);
    return run->how->method == TEPAL_RETOUCH_SACRIFICE ? tepal_retouch_sacrifice(run)
                                                       : tepal_retouch_clear(run);
}

/* Take the bits that the method cleared out of `words`. */
static void clear_words(const struct retouch *run, uint64_t *words)
{
    uint32_t id = 0;
    for (size_t w = 0; w < run->from->head.word_count; w++) {
        for (uint64_t rest = run->touched[w]; rest != 0; rest &= rest - 1) {
            if (bits_test(run->cleared, id++)) {
                words[w] &= ~(rest & -rest);
            }
        }
    }
}

/* The bits of the members that are lost, or of those that are not; foreign ones have none. */
#define GATHER 256

static void add_members(const struct retouch *run, uint64_t *words, bool lost)
{
    struct tepal_digest some[GATHER];
    struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = some};
    size_t count = 0;
    for (size_t i = 0; i < run->in->member_count; i++) {
        if (bits_test(run->lost, i) == lost &&
            (run->foreign == NULL || !bits_test(run->foreign, i))) {
            some[count++] = run->in->members[i];
        }
        if (count == GATHER || (count > 0 && i + 1 == run->in->member_count)) {
            run->from->kernels->add(&run->from->at, words, &source, count);
            count = 0;
        }
    }
}

static enum tepal_status sweep(struct retouch *run, uint64_t *words)
{
    size_t count = run->from->head.word_count;
    uint64_t *victims = tepal_retouch_take(run, count, 8);
    uint64_t *survivors = tepal_retouch_take(run, count, 8);
    if (victims == NULL || survivors == NULL) {
        return TEPAL_NO_MEMORY;
    }
    add_members(run, victims, true);
    add_members(run, survivors, false);
    for (size_t i = 0; i < count; i++) {
        words[i] &= ~(victims[i] & ~survivors[i]);
    }
    return TEPAL_OK;
}

static enum tepal_status make_filter(struct retouch *run, const struct tepal_allocator *allocator,
                                     struct tepal_filter **out)
{
    const struct tepal_filter *head = &run->from->head;
    struct tepal_params params = head->params;
    params.kind = TEPAL_KIND_RETOUCHED;
    struct tepal_filter *made;
    enum tepal_status status = tepal_filter_create(&params, allocator, &made, NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    memcpy(made->words, head->words, head->word_count * 8);
    made->state = head->state;
    made->hasher = head->hasher;
    made->has_hasher = head->has_hasher;
    clear_words(run, made->words);
    if (run->how->sweep || run->how->method == TEPAL_RETOUCH_SACRIFICE) {
        status = sweep(run, made->words);
    }
    if (status != TEPAL_OK) {
        tepal_filter_free(made);
        return status;
    }
    *out = made;
    return TEPAL_OK;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Ask the new filter. `wanted` and `others` say who was found before; they are used up. */
static enum tepal_status compare(struct retouch *run, struct tepal_filter *made, uint64_t *wanted,
                                 uint64_t *others, struct tepal_retouch_report *report,
                                 uint64_t *victims)
{
    const struct tepal_retouch_input *in = run->in;
    const struct tepal_bloom *after = (const struct tepal_bloom *)made;
    size_t n = in->member_count;
    size_t longest = in->avoid_count > in->known_count ? in->avoid_count : in->known_count;
    uint64_t *answers = take_bitmap(run, longest);
    if (answers == NULL) {
        return TEPAL_NO_MEMORY;
    }
    /* The method's own notes have served: `lost` becomes the truth. */
    size_t found = ask(after, in->members, n, run->lost);
    report->false_negatives = n - found;
    for (size_t i = 0; i < n; i++) {
        if (!bits_test(run->lost, i)) {
            report->lost_weight += retouch_member_weight(run, (uint32_t)i);
        }
    }
    if (victims != NULL) {
        for (size_t i = 0; i < (n + 63) / 64; i++) {
            victims[i] = ~run->lost[i];
        }
        if (n % 64 != 0) {
            victims[n / 64] &= ((uint64_t)1 << n % 64) - 1;
        }
    }
    ask(after, in->avoid, in->avoid_count, answers);
    for (size_t i = 0; i < in->avoid_count; i++) {
        if (bits_test(wanted, i)) {
            double weight = in->avoid_weights == NULL ? 1 : in->avoid_weights[i];
            bool left = bits_test(answers, i);
            report->avoid_weight += weight;
            report->removed_weight += left ? 0 : weight;
            report->avoid_left += left;
        }
    }
    report->removed_inside = report->avoid_positive - report->avoid_left;
    report->ones_before = tepal_bits_count(run->from->head.words, run->from->head.word_count);
    report->ones_after = tepal_bits_count(made->words, made->word_count);
    report->bits_cleared = report->ones_before - report->ones_after;
    if (others != NULL) {
        size_t left = ask(after, in->known, in->known_count, answers);
        for (size_t i = 0; i < in->known_count; i++) {
            report->removed_beyond += bits_test(others, i) && !bits_test(answers, i);
        }
        report->delta_fp = (double)(report->known_positive - left) / (double)report->known_positive;
    } else {
        report->delta_fp = 1 - tepal_bloom_fp_now(after) / tepal_bloom_fp_now(run->from);
    }
    report->delta_fn = (double)(report->false_negatives - report->members_absent) / (double)n;
    report->chi = report->false_negatives > report->members_absent
                      ? report->delta_fp / report->delta_fn
                      : NAN;
    return TEPAL_OK;
}

static void keep_state(struct tepal_filter *made, const struct tepal_retouch_report *report)
{
    uint64_t *own = made->state.own;
    own[RETOUCHED_MEMBERS] = report->members;
    own[RETOUCHED_VICTIMS] = report->false_negatives;
    own[RETOUCHED_CLEARED] += report->bits_cleared;
    if (own[RETOUCHED_CLEARED] > made->params.cells) {
        own[RETOUCHED_CLEARED] = made->params.cells; /* bits that came back and went again */
    }
}

/* ---- the public calls ------------------------------------------------------------------------ */

static enum tepal_status retouch(struct retouch *run, const struct tepal_allocator *allocator,
                                 struct tepal_filter **out, struct tepal_retouch_report *report,
                                 uint64_t *victims, const char **why)
{
    enum tepal_status status = find_members(run, report, why);
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t *wanted = take_bitmap(run, run->in->avoid_count);
    uint64_t *others = NULL;
    if (wanted == NULL) {
        return TEPAL_NO_MEMORY;
    }
    if (run->in->known != NULL) {
        others = take_bitmap(run, run->in->known_count);
        if (others == NULL) {
            return TEPAL_NO_MEMORY;
        }
    }
    struct tepal_filter *made = NULL;
    status = find_falses(run, wanted, others, report);
    if (status == TEPAL_OK) {
        status = list_falses(run, wanted, others, report);
    }
    size_t pieces = run->pieces;
    if (status == TEPAL_OK) {
        status = decide(run);
    }
    if (status == TEPAL_OK) {
        status = make_filter(run, allocator, &made);
    }
    if (status == TEPAL_OK) {
        tepal_retouch_release(run, pieces);
        status = compare(run, made, wanted, others, report, victims);
        if (status != TEPAL_OK) {
            tepal_filter_free(made);
        }
    }
    if (status == TEPAL_OK) {
        keep_state(made, report);
        *out = made;
    }
    return status;
}

static enum tepal_status start(const struct tepal_filter *filter,
                               const struct tepal_retouch_input *input,
                               const struct tepal_retouch_options *options,
                               const struct tepal_allocator *allocator, struct retouch_curve *curve,
                               struct tepal_filter **out, struct tepal_retouch_report *report,
                               uint64_t *victims, const char **why)
{
    enum tepal_status status = check(filter, input, options, why);
    if (status != TEPAL_OK) {
        return status;
    }
    struct tepal_retouch_report filled = {0};
    struct retouch run = {
        .from = (const struct tepal_bloom *)filter, .in = input, .how = options, .curve = curve};
    run.allocator = tepal_alloc_choose(allocator);
    status = retouch(&run, allocator, out, &filled, victims, why);
    tepal_retouch_release(&run, 0);
    if (status == TEPAL_NO_MEMORY || status == TEPAL_TOO_LARGE) {
        (void)tepal_retouch_refuse(why, status, tepal_status_message(status));
    }
    if (status == TEPAL_OK && report != NULL) {
        *report = filled;
    }
    return status;
}

enum tepal_status tepal_retouch(const struct tepal_filter *filter,
                                const struct tepal_retouch_input *input,
                                const struct tepal_retouch_options *options,
                                const struct tepal_allocator *allocator, struct tepal_filter **out,
                                struct tepal_retouch_report *report, uint64_t *victims,
                                const char **why)
{
    return start(filter, input, options, allocator, NULL, out, report, victims, why);
}

enum tepal_status tepal_retouch_curve(const struct tepal_filter *filter,
                                      const struct tepal_retouch_input *input,
                                      const struct tepal_retouch_options *options,
                                      const struct tepal_allocator *allocator,
                                      struct tepal_retouch_point *points, size_t capacity,
                                      size_t *count, struct tepal_retouch_report *report,
                                      const char **why)
{
    if (capacity < 2) {
        return tepal_retouch_refuse(why, TEPAL_BAD_ARGUMENT, "a curve has at least two points");
    }
    struct retouch_curve curve = {.points = points, .capacity = capacity, .stride = 1};
    struct tepal_retouch_report filled;
    struct tepal_filter *made;
    enum tepal_status status =
        start(filter, input, options, allocator, &curve, &made, &filled, NULL, why);
    if (status != TEPAL_OK) {
        return status;
    }
    tepal_filter_free(made);
    /* The end is what the whole run gives, revived members and all. */
    while (curve.count > 0 && (points[curve.count - 1].false_negatives >= filled.false_negatives ||
                               points[curve.count - 1].removed_weight > filled.removed_weight)) {
        curve.count--;
    }
    points[curve.count++] = (struct tepal_retouch_point){
        filled.false_negatives, filled.lost_weight, filled.removed_inside, filled.removed_weight};
    *count = curve.count;
    if (report != NULL) {
        *report = filled;
    }
    return TEPAL_OK;
}
