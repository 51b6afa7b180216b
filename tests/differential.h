/*
 * differential.h: random operations on a filter of any kind, beside two others that cannot be
 * wrong in the same way:
 *
 *   the plain model   what the kind's rules say of cells or of classes, in arrays: every answer is
 *                     the model's (growing, chain, what was built from known keys, and streams by
 *                     average have none here; their own tests have)
 *   the twin          a filter of the same parameters that gets one digest at a time and never
 *                     travels: after every journey both are the same bytes
 *
 * and the exact multiset of the keys that are in. The filter itself gets keys in all forms, one by
 * one and in batches, and in between is cloned, encoded, decoded in pieces, saved, loaded, mapped,
 * united with others and cleared. A bystander, cloned at some time, must not change meanwhile.
 *
 * Everything follows from one seed. An operation is one key that is added, removed or asked.
 */
#ifndef TEPAL_TESTS_DIFFERENTIAL_H
#define TEPAL_TESTS_DIFFERENTIAL_H

#include <unistd.h>

#include "counting_help.h"
#include "fingerprint_help.h"
#include "generalized_help.h"
#include "kinds_help.h"
#include "recycling_plain.h"

#include "filter/generalized/internal.h"

#define KEYS_MOST  1500 /* to draw from */
#define BATCH_MOST 300  /* beyond the 256 that are hashed at once */

/* ---- the plain models ------------------------------------------------------------------------ */

struct plain {
    struct tepal_params params;
    struct address at;
    uint8_t *cells;                  /* bits of Bloom filters, and of generalized ones */
    uint8_t *fresh;                  /* as they were at first */
    const struct tepal_filter *like; /* generalized: whose places */
    struct naive counters;
    uint32_t class_of[KEYS_MOST]; /* fingerprint: the first key of the same class */
    uint32_t copies[KEYS_MOST];   /* fingerprint: in that class */
    struct plain_recycling *phases;
    uint64_t began; /* recycling by time */
};

/* A key, by its digest and by its number among those to draw from. */
struct drawn {
    struct tepal_digest digest;
    uint32_t number;
};

struct plain_ops {
    void (*add)(struct plain *p, struct drawn key);
    bool (*has)(const struct plain *p, struct drawn key);
    bool (*remove)(struct plain *p, struct drawn key); /* false: it is not there */
    void (*unite)(struct plain *p, const struct plain *other);
};

static inline void bits_add(struct plain *p, struct drawn key)
{
    uint64_t at[TEPAL_MAX_HASHES];
    uint32_t count = tepal_address_positions(&p->at, key.digest, at);
    for (uint32_t i = 0; i < count; i++) {
        p->cells[at[i]] = 1;
    }
}

static inline bool bits_have(const struct plain *p, struct drawn key)
{
    uint64_t at[TEPAL_MAX_HASHES];
    uint32_t count = tepal_address_positions(&p->at, key.digest, at);
    bool has = true;
    for (uint32_t i = 0; i < count; i++) {
        has = has && p->cells[at[i]];
    }
    return has;
}

static inline void bits_unite(struct plain *p, const struct plain *other)
{
    for (uint64_t i = 0; i < p->params.cells; i++) {
        p->cells[i] |= other->cells[i];
    }
}

static inline void counters_add(struct plain *p, struct drawn key)
{
    (void)naive_add(&p->counters, key.digest);
}

static inline bool counters_have(const struct plain *p, struct drawn key)
{
    return naive_groups(&p->counters, key.digest) != 0;
}

static inline bool counters_remove(struct plain *p, struct drawn key)
{
    return naive_remove(&p->counters, key.digest);
}

static inline void counters_unite(struct plain *p, const struct plain *other)
{
    for (uint64_t i = 0; i < p->params.cells; i++) {
        unsigned sum = (unsigned)p->counters.counter[i] + other->counters.counter[i];
        p->counters.counter[i] = sum > p->counters.most ? p->counters.most : (uint8_t)sum;
    }
}

static inline struct plain_key places_of(const struct plain *p, struct tepal_digest digest)
{
    struct plain_key key = {.count = p->params.hashes};
    struct places places;
    tepal_generalized_places((const struct tepal_generalized *)p->like, digest, &places);
    for (uint32_t i = 0; i < key.count; i++) {
        key.at[i] = places.at[i];
        key.set[i] = i >= p->params.generalized.reset_hashes;
    }
    return key;
}

static inline void generalized_add(struct plain *p, struct drawn key)
{
    struct plain_key places = places_of(p, key.digest);
    plain_put(p->cells, &places);
}

static inline bool generalized_has(const struct plain *p, struct drawn key)
{
    struct plain_key places = places_of(p, key.digest);
    return plain_found(p->cells, &places, (uint32_t)p->params.generalized.tolerance);
}

static inline void class_add(struct plain *p, struct drawn key)
{
    p->copies[p->class_of[key.number]]++;
}

static inline bool class_has(const struct plain *p, struct drawn key)
{
    return p->copies[p->class_of[key.number]] > 0;
}

static inline bool class_remove(struct plain *p, struct drawn key)
{
    bool has = class_has(p, key);
    p->copies[p->class_of[key.number]] -= has;
    return has;
}

static inline void phases_add(struct plain *p, struct drawn key)
{
    (void)plain_seen(p->phases, key.digest);
}

static inline bool phases_have(const struct plain *p, struct drawn key)
{
    return plain_query(p->phases, key.digest);
}

static const struct plain_ops plain_bits = {bits_add, bits_have, NULL, bits_unite};
static const struct plain_ops plain_counters = {counters_add, counters_have, counters_remove,
                                                counters_unite};
static const struct plain_ops plain_generalized = {generalized_add, generalized_has, NULL, NULL};
static const struct plain_ops plain_classes = {class_add, class_has, class_remove, NULL};
static const struct plain_ops plain_phases = {phases_add, phases_have, NULL, NULL};

/* Which model a specimen has, or NULL. */
static inline const struct plain_ops *plain_of(const struct specimen *s)
{
    const struct tepal_params *p = &s->params;
    if (s->built) {
        return NULL;
    }
    switch (p->kind) {
    case TEPAL_KIND_BLOOM:
    case TEPAL_KIND_RETOUCHED:
    case TEPAL_KIND_CASCADE: /* of one level, when it is empty */
        return &plain_bits;
    case TEPAL_KIND_YESNO: /* its no-filters are empty; its yes-filter is the first bits */
        return &plain_bits;
    case TEPAL_KIND_COUNTING:
        return &plain_counters;
    case TEPAL_KIND_GENERALIZED:
        return &plain_generalized;
    case TEPAL_KIND_FINGERPRINT:
        return &plain_classes;
    case TEPAL_KIND_RECYCLING:
        return p->recycling.rule == TEPAL_RECYCLING_AVERAGE ? NULL : &plain_phases;
    default:
        return NULL;
    }
}

static inline void plain_open(struct plain *p, const struct tepal_filter *empty,
                              const struct tepal_digest *keys)
{
    size_t words;
    const uint64_t *word = tepal_filter_words(empty, &words);
    memset(p, 0, sizeof *p);
    p->params = *tepal_filter_params(empty);
    p->like = empty;
    p->phases = calloc(1, sizeof *p->phases);
    p->cells = calloc(1, p->params.cells);
    p->fresh = calloc(1, p->params.cells);
    assert_true(p->phases != NULL && p->cells != NULL && p->fresh != NULL);
    if (p->params.kind == TEPAL_KIND_COUNTING) {
        naive_open(&p->counters, &p->params);
        return;
    }
    if (p->params.kind == TEPAL_KIND_RECYCLING) {
        plain_init(p->phases, &p->params);
        return;
    }
    if (p->params.kind == TEPAL_KIND_FINGERPRINT) {
        uint32_t bits = (uint32_t)p->params.fingerprint.bits;
        uint64_t buckets = p->params.cells / (4 * bits);
        for (uint32_t i = 0; i < KEYS_MOST; i++) {
            struct class mine = class_of(bits, buckets, keys[i]);
            struct class other;
            uint32_t j = 0;
            do {
                other = class_of(bits, buckets, keys[j]);
            } while ((other.print != mine.print || other.low != mine.low) && ++j < i);
            p->class_of[i] = j;
        }
        return;
    }
    struct tepal_params yes = p->params;
    if (yes.kind == TEPAL_KIND_YESNO) {
        yes.cells -= yes.yesno.no_bits * yes.yesno.no_filters;
    }
    p->at = tepal_address_of(&yes, 1);
    for (uint64_t i = 0; i < yes.cells && word != NULL; i++) {
        p->fresh[i] = word[i / 64] >> (i % 64) & 1;
    }
    memcpy(p->cells, p->fresh, p->params.cells);
}

static inline void plain_clear(struct plain *p)
{
    memcpy(p->cells, p->fresh, p->params.cells);
    memset(p->copies, 0, sizeof p->copies);
    if (p->params.kind == TEPAL_KIND_COUNTING) {
        memset(p->counters.counter, 0, p->params.cells);
    }
    if (p->params.kind == TEPAL_KIND_RECYCLING) {
        plain_init(p->phases, &p->params);
        p->began = 0;
    }
}

static inline void plain_close(struct plain *p)
{
    naive_close(&p->counters);
    free(p->phases);
    free(p->cells);
    free(p->fresh);
}

/* ---- a trial --------------------------------------------------------------------------------- */

struct trial {
    const struct specimen *s;
    const struct plain_ops *ops; /* or NULL */
    uint64_t random;
    enum tepal_hash hash;
    bool wild;     /* keys are removed that were never added */
    bool faithful; /* no member may be missed */
    struct tepal_filter *filter;
    struct tepal_filter *twin;
    struct tepal_filter *fresh; /* stays empty */
    struct tepal_filter *bystander;
    uint8_t *bystander_bytes;
    size_t bystander_len;
    struct plain plain;
    uint64_t added;
    uint64_t clock;
    uint64_t members; /* of the multiset */
    uint32_t copies[KEYS_MOST];
    struct tepal_digest digest[KEYS_MOST];
    uint64_t integer[KEYS_MOST];
    uint32_t integers_from; /* keys from this number on are integers */
    uint64_t done;
    uint64_t found;
    uint64_t journeys;
    uint64_t unions;
    uint64_t removals;
    uint64_t refusals; /* it was full */
};

/* Some keys, in a row. */
struct batch {
    size_t count;
    uint32_t number[BATCH_MOST];
    struct tepal_digest digest[BATCH_MOST];
    uint64_t integer[BATCH_MOST];
    bool integers; /* all of them are */
};

#define trial_assert(t, condition)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("%s, after %llu operations: %s", (t)->s->name, (unsigned long long)(t)->done, \
                     #condition);                                                                  \
        }                                                                                          \
    } while (0)

static inline uint64_t trial_draw(struct trial *t, uint64_t below)
{
    return check_random(&t->random) % below;
}

static inline struct drawn trial_key(const struct trial *t, uint32_t number)
{
    return (struct drawn){t->digest[number], number};
}

static inline bool trial_lines_up(struct tepal_filter *f, enum tepal_hash hash)
{
    return !tepal_hash_is_keyed(hash) || tepal_filter_set_key(f, recipe_key) == TEPAL_OK;
}

static inline void trial_open(struct trial *t, const struct specimen *s, uint64_t seed)
{
    struct tepal_hasher hasher;
    memset(t, 0, sizeof *t);
    t->s = s;
    t->random = seed;
    uint64_t drawn = trial_draw(t, 8);
    t->hash = drawn == 0 ? TEPAL_HASH_SIPHASH : drawn == 1 ? TEPAL_HASH_SIPHASH13 : TEPAL_HASH_XXH3;
    t->wild = trial_draw(t, 2) == 0;
    t->ops = plain_of(s);
    t->filter = specimen_make(s, t->hash);
    t->twin = specimen_clone(t->filter);
    t->fresh = specimen_clone(t->filter);
    const struct tepal_kind *kind = tepal_filter_kind(t->filter);
    bool exact = s->params.kind == TEPAL_KIND_COUNTING && s->params.counting.choices == 1;
    t->faithful = (kind->promises & TEPAL_NO_FALSE_NEGATIVES || exact) &&
                  !(kind->promises & TEPAL_DELETABLE && t->wild);
    assert_ok(tepal_filter_hasher(t->filter, &hasher));
    for (uint32_t i = 0; i < KEYS_MOST; i++) {
        bool known = s->built && i < 2 * KINDS_KNOWN;
        t->integer[i] = check_random(&t->random);
        t->digest[i] = known ? s->known[i] : tepal_hash_u64(&hasher, t->integer[i]);
        t->copies[i] = known && i < KINDS_KNOWN;
        t->members += t->copies[i];
    }
    t->integers_from = s->built ? 2 * KINDS_KNOWN : 0;
    t->added = tepal_filter_keys_added(t->filter);
    plain_open(&t->plain, t->fresh, t->digest);
}

static inline void trial_close(struct trial *t)
{
    plain_close(&t->plain);
    tepal_filter_free(t->filter);
    tepal_filter_free(t->twin);
    tepal_filter_free(t->fresh);
    tepal_filter_free(t->bystander);
    free(t->bystander_bytes);
}

/* One key most of the time, else a few, else many. */
static inline void batch_draw(struct trial *t, struct batch *b, bool members_only)
{
    static const size_t most[] = {1, 1, 1, 5, 70, BATCH_MOST};
    b->count = trial_draw(t, most[trial_draw(t, COUNT(most))] + 1);
    b->integers = true;
    for (size_t i = 0; i < b->count; i++) {
        uint32_t number = (uint32_t)trial_draw(t, KEYS_MOST);
        if (members_only) { /* the next one that is in, each copy once */
            uint32_t tries = 0;
            while (t->copies[number] == 0 && tries++ < KEYS_MOST) {
                number = (number + 1) % KEYS_MOST;
            }
            if (t->copies[number] == 0) {
                b->count = i;
                break;
            }
            t->copies[number]--;
        }
        b->number[i] = number;
        b->digest[i] = t->digest[number];
        b->integer[i] = t->integer[number];
        b->integers = b->integers && number >= t->integers_from;
    }
    for (size_t i = 0; members_only && i < b->count; i++) {
        t->copies[b->number[i]]++;
    }
    t->done += b->count;
}

/* ---- what is done to it ---------------------------------------------------------------------- */

/* The answer that the model, or else the twin, gives. */
static inline bool trial_expects(const struct trial *t, uint32_t number)
{
    bool has = tepal_filter_query(t->twin, t->digest[number]);
    if (t->ops != NULL) {
        trial_assert(t, t->ops->has(&t->plain, trial_key(t, number)) == has);
    }
    trial_assert(t, has || !t->faithful || t->copies[number] == 0);
    return has;
}

static inline void trial_query(struct trial *t)
{
    struct batch b;
    uint64_t answers[BATCH_MOST / 64 + 2];
    batch_draw(t, &b, false);
    uint64_t form = trial_draw(t, 2);
    if (b.count == 1) {
        bool has = form == 0 || !b.integers ? tepal_filter_query(t->filter, b.digest[0])
                                            : tepal_filter_query_u64(t->filter, b.integer[0]);
        trial_assert(t, has == trial_expects(t, b.number[0]));
        t->found += has;
        return;
    }
    size_t words = (b.count + 63) / 64;
    answers[words] = KINDS_POISON;
    size_t present = form == 0 || !b.integers
                         ? tepal_filter_query_many(t->filter, b.digest, b.count, answers)
                         : tepal_filter_query_u64_many(t->filter, b.integer, b.count, answers);
    t->found += present;
    for (size_t i = 0; i < b.count; i++) {
        bool has = answers[i / 64] >> (i % 64) & 1;
        trial_assert(t, has == trial_expects(t, b.number[i]));
        present -= has;
    }
    trial_assert(t, present == 0 && answers[words] == KINDS_POISON);
    trial_assert(t, b.count % 64 == 0 || answers[words - 1] >> (b.count % 64) == 0);
}

/*
 * Refused: nothing has changed, and one by one they do not fit either. A batch that a fingerprint
 * filter takes back may have moved fingerprints between their buckets; the twin goes on with them.
 */
static inline void trial_full(struct trial *t, const struct batch *b)
{
    struct tepal_filter *copy = specimen_clone(t->twin);
    enum tepal_status status = TEPAL_OK;
    bool moved = t->s->params.kind == TEPAL_KIND_FINGERPRINT && b->count > 1;
    trial_assert(t, moved || specimen_same(t->filter, t->twin));
    for (size_t i = 0; i < b->count && status == TEPAL_OK; i++) {
        status = tepal_filter_add(copy, b->digest[i]);
    }
    trial_assert(t, status == TEPAL_FULL);
    tepal_filter_free(copy);
    if (moved) {
        trial_assert(t, tepal_filter_ones(t->filter) == tepal_filter_ones(t->twin));
        tepal_filter_free(t->twin);
        t->twin = specimen_clone(t->filter);
        for (uint32_t i = 0; i < KEYS_MOST; i++) {
            (void)trial_expects(t, i);
        }
    }
    t->refusals++;
}

static inline enum tepal_status trial_put(struct trial *t, const struct batch *b, uint64_t *answers)
{
    bool was = false;
    enum tepal_status status;
    bool asks = answers != NULL;
    bool integers = b->integers && trial_draw(t, 2) == 0;
    if (b->count != 1) {
        return asks ? tepal_filter_test_add_many(t->filter, b->digest, b->count, answers, NULL)
               : integers ? tepal_filter_add_u64_many(t->filter, b->integer, b->count)
                          : tepal_filter_add_many(t->filter, b->digest, b->count);
    }
    if (!asks) {
        return integers ? tepal_filter_add_u64(t->filter, b->integer[0])
                        : tepal_filter_add(t->filter, b->digest[0]);
    }
    status = integers ? tepal_filter_test_add_u64(t->filter, b->integer[0], &was)
                      : tepal_filter_test_add(t->filter, b->digest[0], &was);
    answers[0] = was;
    return status;
}

static inline void trial_add(struct trial *t)
{
    struct batch b;
    uint64_t answers[BATCH_MOST / 64 + 1];
    bool asks = trial_draw(t, 2) == 0;
    batch_draw(t, &b, false);
    enum tepal_status status = trial_put(t, &b, asks ? answers : NULL);
    if (status == TEPAL_FULL) {
        trial_full(t, &b);
        return;
    }
    trial_assert(t, status == TEPAL_OK);
    for (size_t i = 0; i < b.count; i++) {
        bool has = asks && trial_expects(t, b.number[i]);
        trial_assert(t, !asks || (answers[i / 64] >> (i % 64) & 1) == has);
        trial_assert(t, tepal_filter_add(t->twin, b.digest[i]) == TEPAL_OK);
        if (t->ops != NULL) {
            t->ops->add(&t->plain, trial_key(t, b.number[i]));
        }
        t->copies[b.number[i]]++;
    }
    t->members += b.count;
    t->added += b.count;
}

static inline void trial_remove(struct trial *t)
{
    struct batch b;
    size_t removed = 0;
    enum tepal_status status;
    batch_draw(t, &b, !t->wild);
    if (b.count == 1) {
        status = b.integers && trial_draw(t, 2) == 0
                     ? tepal_filter_remove_u64(t->filter, b.integer[0])
                     : tepal_filter_remove(t->filter, b.digest[0]);
        trial_assert(t, status == TEPAL_OK || status == TEPAL_NOT_PRESENT);
        removed = status == TEPAL_OK;
    } else {
        trial_assert(t,
                     tepal_filter_remove_many(t->filter, b.digest, b.count, &removed) == TEPAL_OK);
    }
    for (size_t i = 0; i < b.count; i++) {
        bool gone = tepal_filter_remove(t->twin, b.digest[i]) == TEPAL_OK;
        trial_assert(t, gone || !t->faithful);
        if (t->ops != NULL) {
            trial_assert(t, t->ops->remove(&t->plain, trial_key(t, b.number[i])) == gone);
        }
        bool member = gone && t->copies[b.number[i]] > 0;
        t->copies[b.number[i]] -= member;
        t->members -= member;
        removed -= gone;
        t->removals += gone;
    }
    trial_assert(t, removed == 0);
}

/* ---- journeys -------------------------------------------------------------------------------- */

static inline struct tepal_filter *in_pieces(struct trial *t, const uint8_t *bytes, size_t len)
{
    struct tepal_decoder *decoder = NULL;
    struct tepal_filter *f = NULL;
    assert_ok(tepal_decoder_create(0, NULL, &decoder, NULL));
    for (size_t at = 0; at < len;) {
        size_t piece = trial_draw(t, 1000);
        piece = piece > len - at ? len - at : piece;
        assert_ok(tepal_decoder_feed(decoder, bytes + at, piece, NULL));
        at += piece;
    }
    assert_ok(tepal_decoder_finish(decoder, &f, NULL));
    tepal_decoder_free(decoder);
    return f;
}

static inline struct tepal_filter *by_file(struct trial *t)
{
    char path[64];
    struct tepal_filter *f = NULL;
    struct tepal_filter *view = NULL;
    (void)snprintf(path, sizeof path, "/tmp/tepal-differential-%ld", (long)getpid());
    assert_ok(tepal_save(t->filter, path, NULL));
    if (LITTLE_ENDIAN_HOST && trial_draw(t, 2) == 0) {
        assert_ok(tepal_map(path, (enum tepal_map_check)trial_draw(t, 2), NULL, &view, NULL));
        assert_ok(tepal_filter_clone(view, NULL, &f, NULL));
        tepal_filter_free(view);
    } else {
        assert_ok(tepal_load(path, NULL, &f, NULL));
    }
    assert_int_equal(unlink(path), 0);
    return f;
}

static inline void trial_travel(struct trial *t)
{
    size_t len;
    size_t again;
    uint8_t *bytes = encoded(t->filter, &len);
    struct tepal_filter *f = NULL;
    uint64_t way = trial_draw(t, 64);
    t->journeys++;
    trial_assert(t, specimen_same(t->filter, t->twin));
    trial_assert(t, tepal_filter_validate(t->filter, NULL) == TEPAL_OK);
    trial_assert(t, tepal_filter_keys_added(t->filter) == t->added);
    if (way == 0) {
        f = by_file(t);
    } else if (way % 3 == 0) {
        f = in_pieces(t, bytes, len);
    } else if (way % 3 == 1) {
        assert_ok(tepal_decode(bytes, len, NULL, &f, NULL));
    } else {
        f = specimen_clone(t->filter);
    }
    trial_assert(t, !tepal_filter_needs_key(f) || trial_lines_up(f, t->hash));
    uint8_t *twice = encoded(f, &again);
    trial_assert(t, again == len && memcmp(bytes, twice, len) == 0);
    free(twice);
    if (trial_draw(t, 4) == 0) { /* the old one stays and looks on */
        if (t->bystander != NULL) {
            twice = encoded(t->bystander, &again);
            trial_assert(t, again == t->bystander_len &&
                                memcmp(twice, t->bystander_bytes, again) == 0);
            free(twice);
        }
        tepal_filter_free(t->bystander);
        free(t->bystander_bytes);
        t->bystander = t->filter;
        t->bystander_bytes = bytes;
        t->bystander_len = len;
    } else {
        tepal_filter_free(t->filter);
        free(bytes);
    }
    t->filter = f;
}

/*
 * Another filter of some keys is united with it; in the multiset their copies are added. Growing
 * filters that have too many copies of one key together are refused, and nothing has changed.
 */
static inline void trial_unite(struct trial *t)
{
    struct tepal_filter *other = specimen_clone(t->fresh);
    struct tepal_filter *second = specimen_clone(t->fresh);
    struct plain plain;
    uint32_t number[60];
    size_t count = trial_draw(t, COUNT(number));
    plain_open(&plain, t->fresh, t->digest);
    for (size_t i = 0; i < count; i++) {
        number[i] = (uint32_t)trial_draw(t, KEYS_MOST);
        trial_assert(t, tepal_filter_add(other, t->digest[number[i]]) == TEPAL_OK);
        trial_assert(t, tepal_filter_add(second, t->digest[number[i]]) == TEPAL_OK);
        if (t->ops != NULL) {
            t->ops->add(&plain, trial_key(t, number[i]));
        }
    }
    enum tepal_status status = tepal_filter_unite(t->filter, other);
    bool refused = status == TEPAL_FULL && t->s->params.kind == TEPAL_KIND_GROWING;
    trial_assert(t, specimen_same(other, second));
    trial_assert(t, !refused || specimen_same(t->filter, t->twin));
    trial_assert(t, tepal_filter_unite(t->twin, second) == status);
    trial_assert(t, status == TEPAL_OK || refused);
    if (!refused) {
        for (size_t i = 0; i < count; i++) {
            t->copies[number[i]]++;
        }
        if (t->ops != NULL) {
            t->ops->unite(&t->plain, &plain);
        }
        t->members += count;
        t->added += count;
        t->unions++;
    }
    t->done += count;
    t->refusals += refused;
    plain_close(&plain);
    tepal_filter_free(other);
    tepal_filter_free(second);
}

/* Empty again, as it was made: without the keys that it was built from, too. */
static inline void trial_clear(struct trial *t)
{
    if (t->s->built) {
        return;
    }
    trial_assert(t, tepal_filter_clear(t->filter) == TEPAL_OK);
    trial_assert(t, tepal_filter_clear(t->twin) == TEPAL_OK);
    plain_clear(&t->plain);
    memset(t->copies, 0, sizeof t->copies);
    t->added = tepal_filter_keys_added(t->filter);
    trial_assert(t, t->added == 0);
    t->members = 0;
    t->clock = 0;
}

/* Time goes on, by less than half of a phase; or a phase ends before its time. */
static inline void trial_recycle(struct trial *t)
{
    bool by_time = t->s->params.recycling.rule == TEPAL_RECYCLING_TIME;
    if (!by_time) {
        if (trial_draw(t, 10) == 0) {
            trial_assert(t, tepal_recycling_recycle(t->filter) == TEPAL_OK);
            trial_assert(t, tepal_recycling_recycle(t->twin) == TEPAL_OK);
            plain_recycle(t->plain.phases);
        }
        return;
    }
    uint64_t limit = t->s->params.recycling.limit;
    bool first = t->clock == 0;
    t->clock += 1 + trial_draw(t, limit / 2);
    trial_assert(t, tepal_recycling_set_clock(t->filter, t->clock) == TEPAL_OK);
    trial_assert(t, tepal_recycling_set_clock(t->twin, t->clock) == TEPAL_OK);
    if (first) {
        t->plain.began = t->clock;
    } else if (t->clock - t->plain.began >= limit) {
        plain_recycle(t->plain.phases);
        t->plain.began += limit;
    }
}

/* Does this filter remove, and are there so many keys that it should? */
static inline bool trial_removes(struct trial *t)
{
    const struct tepal_kind *kind = tepal_filter_kind(t->filter);
    return (kind->promises & TEPAL_DELETABLE) != 0 &&
           trial_draw(t, 2 * KEYS_MOST) < t->members + KEYS_MOST / 10;
}

static inline void trial_step(struct trial *t)
{
    uint64_t what = trial_draw(t, 1000);
    if (what < 450) {
        trial_query(t);
    } else if (what < 960) {
        if (trial_removes(t)) {
            trial_remove(t);
        } else {
            trial_add(t);
        }
    } else if (what < 985) {
        if (t->s->params.kind == TEPAL_KIND_RECYCLING) {
            trial_recycle(t);
        }
    } else if (what < 995) {
        trial_travel(t);
    } else if (what < 999) {
        if (tepal_filter_kind(t->filter)->promises & TEPAL_MERGEABLE) {
            trial_unite(t);
        }
    } else {
        trial_clear(t);
    }
}

/* So many operations, and then all keys once more. */
static inline void trial_run(struct trial *t, const struct specimen *s, uint64_t seed,
                             uint64_t operations)
{
    trial_open(t, s, seed);
    while (t->done < operations) {
        trial_step(t);
    }
    for (uint32_t i = 0; i < KEYS_MOST; i++) {
        trial_assert(t, tepal_filter_query(t->filter, t->digest[i]) == trial_expects(t, i));
    }
    trial_travel(t);
    trial_close(t);
}

#endif
