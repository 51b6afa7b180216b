/*
 * growing.c: the growing filter, a fingerprint filter that grows with its keys (after N. Dayan,
 * I. Bercea, P. Reviriego and R. Pagh, InfiniFilter, SIGMOD 2023, and W. Litwin, Linear hashing,
 * VLDB 1980).
 *
 *     key --hash--> digest --> a tag of t bits, and two addresses a and a xor O(tag)
 *
 *     address    ... b7 b6 b5 b4 | b3 b2 b1 b0        the low `depth` bits are the bucket,
 *                    extension   |   bucket           the next ones are stored with the tag
 *
 *     slot       | 1 | extension, up to e bits | tag |      0: empty
 *                  ^ the mark: the highest bit that is set tells how long the extension is
 *
 * To grow, one bucket is split in two: each of its entries gives up the lowest bit of its
 * extension, which says in which of the two it belongs, so no key is needed. Buckets are split in
 * turn, 0, 1, 2 and so on, and the new ones are appended; `level` and `split` follow from their
 * number. So memory follows the keys: seven of eight slots are taken, always. (More fit when all
 * buckets have the same depth; in the middle of a round, with the unsplit ones more crowded, 89 %
 * is the limit. It is lower if many keys are there more than once: copies of a key cannot leave its
 * two buckets. Then searches for a free slot get long, and after a long one more buckets are split:
 * fewer slots are taken, but never for that reason less than half of them: keys that somebody chose
 * to meet would not be helped.)
 *
 * An entry knows T low bits of its address, depth + the length of its extension. A key that is
 * added gets T = e + the smaller depth of its two buckets, so that it has room in both. T stays as
 * it is when the entry moves to its other bucket and when its bucket is split, so the chance that a
 * stranger meets an entry, 2^(1 - t - T), stays too, and the false-positive rate is the sum of
 * these over the entries: old keys, who have short extensions, cost as much as new ones in a table
 * that is twice as large, and g doublings cost a factor of 1 + 5 g / 6 rather than 2^g.
 *
 * An entry whose extension is used up (T = depth) goes into both buckets when its bucket is split,
 * as one that knows a bit more each. Such copies are few: half of the keys are in their first
 * doubling, and entries older than e doublings are 2^-e of all. It cannot move to its other bucket
 * while that one is deeper.
 *
 * What follows for its users (tepal/params.h has the rules):
 *   - An addition looks for the shortest chain of moves that frees a slot (as the fingerprint
 *     filter does), and for a key that finds none there is the exact table (overflow.c): nothing is
 *     ever full. Then up to SPLITS_MAX buckets are split. If there is no memory for that, it
 *     gets more crowded instead, and TEPAL_NO_MEMORY is said only when a key has found no place.
 *   - A removal takes, of the entries that match the key, the one that knows most. If that is
 *     another key's, then this key's own entry, which knows less, matches the other key too and
 *     stays for it; with any other choice a member could be lost. Copies of an entry that went both
 *     ways are not looked for: they let strangers through and harm no member.
 *   - Two filters can be united although their keys are gone: an entry is all that is needed to add
 *     it to another filter with the same tags. Only the exact table cannot take it, which has
 *     digests: if more than eight of one class come together, TEPAL_FULL is said, and nothing has
 *     changed.
 *
 * Invariants: T <= e + the smaller depth of an entry's two buckets; state `held` is the number of
 * slots that are not 0, `sum` the sum of 2^(60 - T) over them; what follows the last bucket
 * is zero.
 */
#include <string.h>

#include "cells/bits.h"
#include "filter/growing/internal.h"

#define SLOTS GROWING_SLOTS

/* Buckets looked at before a key goes to the exact table. */
#define SEARCH_MAX 1000

/* A search that reached more of them is long. */
#define SEARCH_LONG 200

/* Splits after an addition, at the most: two would do, and copies and long searches want more. */
#define SPLITS_MAX 4

/* Keys whose buckets are requested ahead of their use. */
#define WINDOW 32

static void growing_open(struct tepal_filter *filter)
{
    struct tepal_growing *f = growing_self(filter);
    struct growing_table *t = &f->at;
    const struct tepal_params *p = &filter->params;
    t->words = filter->words;
    t->bits = params_growing_slot(p);
    t->tag_bits = (uint32_t)p->growing.tag_bits;
    t->extension_bits = (uint32_t)p->growing.extension_bits;
    t->slot_mask = growing_ones(t->bits);
    t->tag_mask = growing_ones(t->tag_bits);
    t->pair_lows = 1 | (uint64_t)1 << t->bits;
    t->pair_tags = t->tag_mask * t->pair_lows;
    t->pair_highs = t->pair_lows << (t->bits - 1);
    t->base = params_growing_buckets(p);
    f->first_buckets = t->base;
    f->first_words = filter->word_count;
    tepal_growing_resize(f, t->base);
    t->overflow = p->growing.overflow == 0 ? NULL
                                           : filter->words + f->first_words -
                                                 PARAMS_OVERFLOW_WORDS * p->growing.overflow;
}

/* ---- lookups --------------------------------------------------------------------------------- */

/* Is this entry (not 0) the key's, as far as it knows? `rest` is the address without the bucket. */
static inline bool entry_matches(const struct growing_table *t, uint64_t entry, uint64_t tag,
                                 uint64_t rest)
{
    uint64_t marked = entry >> t->tag_bits;
    return marked != 0 && (entry & t->tag_mask) == tag &&
           ((marked ^ rest) & growing_ones(growing_length(t, entry))) == 0;
}

/* Not 0 only if one of two slots that lie together has the tag. */
static inline uint64_t pair_has_tag(const struct growing_table *t, uint64_t pair, uint64_t tag)
{
    uint64_t x = (pair & t->pair_tags) ^ tag * t->pair_lows;
    return ~((x | t->pair_highs) - t->pair_lows) & t->pair_highs;
}

static inline bool bucket_holds(const struct tepal_growing *f, uint64_t bucket, uint64_t tag,
                                uint64_t rest)
{
    const struct growing_table *t = &f->at;
    struct growing_place place = growing_place(f, bucket);
    uint64_t low = growing_pair(t, place, 0);
    uint64_t high = growing_pair(t, place, 2);
    if ((pair_has_tag(t, low, tag) | pair_has_tag(t, high, tag)) == 0) {
        return false;
    }
    return entry_matches(t, low & t->slot_mask, tag, rest) ||
           entry_matches(t, low >> t->bits & t->slot_mask, tag, rest) ||
           entry_matches(t, high & t->slot_mask, tag, rest) ||
           entry_matches(t, high >> t->bits & t->slot_mask, tag, rest);
}

/* The second bucket is on its way while the first is read: most lookups end in neither. */
static inline bool holds(const struct tepal_growing *f, const struct growing_key *key)
{
    const uint32_t depth[2] = {growing_depth(&f->at, key->address[0]),
                               growing_depth(&f->at, key->address[1])};
    const uint64_t bucket[2] = {key->address[0] & growing_ones(depth[0]),
                                key->address[1] & growing_ones(depth[1])};
    struct growing_place other = growing_place(f, bucket[1]);
    __builtin_prefetch(other.words + (other.at >> 6));
    return bucket_holds(f, bucket[0], key->tag, key->address[0] >> depth[0]) ||
           bucket_holds(f, bucket[1], key->tag, key->address[1] >> depth[1]);
}

static bool growing_query(const struct tepal_filter *filter, struct tepal_digest digest)
{
    const struct tepal_growing *f = growing_self_const(filter);
    struct growing_key key = growing_key_of(&f->at, digest);
    return holds(f, &key) ||
           (filter->params.growing.overflow != 0 && tepal_overflow_count(f, digest) != 0);
}

/* ---- additions ------------------------------------------------------------------------------- */

/* A bucket reached in the search: by moving away what is in `slot` of the bucket before it. */
struct step {
    uint64_t bucket;
    uint16_t from; /* the step before; its own number for the two that the search begins with */
    uint8_t slot;
};

/* Move what stands in the way along a chain whose last bucket has a free slot; put the entry. */
static void move_along(struct tepal_growing *f, const struct step *steps, size_t last,
                       uint32_t free_slot, const uint64_t entry[2])
{
    while (steps[last].from != last) {
        uint64_t before = steps[steps[last].from].bucket;
        uint64_t other = 0;
        uint64_t moved = 0;
        (void)growing_move(&f->at, before, growing_slot(f, before, steps[last].slot), &other,
                           &moved);
        growing_put_slot(f, steps[last].bucket, free_slot, moved);
        free_slot = steps[last].slot;
        last = steps[last].from;
    }
    growing_put_slot(f, steps[last].bucket, free_slot, entry[last]);
}

/*
 * Both buckets are full: the shortest chain of moves. Buckets are looked at in the order in which
 * they were reached, and each as soon as it is reached: where the search ends does not depend on
 * what else is to be followed. The four that a bucket leads to are requested from memory
 * together.
 */
static __attribute__((noinline)) bool make_room(struct tepal_growing *f, const uint64_t bucket[2],
                                                const uint64_t entry[2])
{
    struct step steps[SEARCH_MAX];
    steps[0] = (struct step){bucket[0], 0, 0};
    steps[1] = (struct step){bucket[1], 1, 0};
    size_t count = 2; /* steps */
    for (size_t i = 0; i < count; i++) {
        uint64_t here = steps[i].bucket;
        uint64_t before = steps[steps[i].from].bucket;
        uint64_t entries[SLOTS];
        struct growing_place places[SLOTS];
        size_t fresh = 0; /* the last steps, which have places and were not looked at */
        growing_bucket(&f->at, growing_place(f, here), entries);
        for (uint8_t s = 0; s < SLOTS && count < SEARCH_MAX; s++) {
            uint64_t other;
            uint64_t moved;
            /* Back to where the search began or just came from there is no need to look. */
            if (growing_move(&f->at, here, entries[s], &other, &moved) && other != bucket[0] &&
                other != bucket[1] && other != before) {
                places[fresh] = growing_place(f, other);
                growing_prefetch(&f->at, places[fresh++]);
                steps[count++] = (struct step){other, (uint16_t)i, s};
            }
        }
        for (size_t j = 0; j < fresh; j++) {
            uint32_t slot = growing_free_slot(&f->at, places[j]);
            if (slot < SLOTS) {
                move_along(f, steps, count - fresh + j, slot, entry);
                f->crowded = count > SEARCH_LONG;
                return true;
            }
        }
    }
    f->crowded = count > SEARCH_LONG;
    return false;
}

/* `entry`: the same for each of the two buckets. */
static bool put(struct tepal_growing *f, const uint64_t bucket[2], const uint64_t entry[2])
{
    const struct growing_place places[2] = {growing_place(f, bucket[0]),
                                            growing_place(f, bucket[1])};
    __builtin_prefetch(places[1].words + (places[1].at >> 6));
    for (size_t i = 0; i < 2; i++) {
        uint32_t slot = growing_free_slot(&f->at, places[i]);
        if (slot < SLOTS) {
            growing_put_slot(f, bucket[i], slot, entry[i]);
            return true;
        }
    }
    return make_room(f, bucket, entry);
}

/* The same for what is known of an address: at least as many bits as its two buckets need. */
bool tepal_growing_put(struct tepal_growing *f, uint64_t tag, const uint64_t address[2],
                       uint32_t known)
{
    const struct growing_table *t = &f->at;
    uint64_t bucket[2];
    uint64_t entry[2];
    for (int i = 0; i < 2; i++) {
        uint32_t depth = growing_depth(t, address[i]);
        bucket[i] = address[i] & growing_ones(depth);
        entry[i] = growing_entry(t, tag, address[i], depth, known);
    }
    if (!put(f, bucket, entry)) {
        return false;
    }
    f->head.state.own[GROWING_HELD]++;
    f->head.state.own[GROWING_SUM] += growing_weight(known);
    return true;
}

/* One entry of a bucket that has been split goes where its next bit says, or both ways. */
static void send(struct tepal_growing *f, uint64_t entry, const uint64_t child[2], uint32_t used[2])
{
    const struct growing_table *t = &f->at;
    uint64_t tag = entry & t->tag_mask;
    uint32_t length = growing_length(t, entry);
    if (length == 0) {
        growing_put_slot(f, child[0], used[0]++, entry);
        growing_put_slot(f, child[1], used[1]++, entry);
        f->head.state.own[GROWING_HELD]++;
        growing_count_copy(f);
        return;
    }
    uint64_t extension = entry >> t->tag_bits & growing_ones(length);
    uint64_t rest = (uint64_t)1 << (length - 1) | extension >> 1;
    uint64_t side = extension & 1;
    growing_put_slot(f, child[side], used[side]++, tag | rest << t->tag_bits);
}

/* Split the next bucket; false if there is no memory for that. */
bool tepal_growing_split(struct tepal_growing *f)
{
    struct growing_table *t = &f->at;
    uint64_t entries[SLOTS];
    uint32_t used[2] = {0, 0};
    const uint64_t child[2] = {t->split, t->buckets};
    if (!tepal_growing_room(f)) {
        return false;
    }
    growing_bucket(t, growing_place(f, child[0]), entries);
    for (uint32_t s = 0; s < SLOTS; s++) {
        growing_put_slot(f, child[0], s, 0);
    }
    tepal_growing_resize(f, t->buckets + 1);
    for (uint32_t s = 0; s < SLOTS; s++) {
        if (entries[s] != 0) {
            send(f, entries[s], child, used);
        }
    }
    return true;
}

/* Seven of eight slots are taken, or fewer if it is crowded even so; see the top. */
void tepal_growing_grow(struct tepal_growing *f)
{
    const uint64_t *own = f->head.state.own;
    bool crowded = f->crowded;
    f->crowded = false;
    for (int i = 0; i < SPLITS_MAX && 2 * own[GROWING_HELD] > (crowded ? 4 : 7) * f->at.buckets;
         i++) {
        if (!tepal_growing_split(f)) {
            break;
        }
    }
}

static enum tepal_status add_one(struct tepal_growing *f, struct tepal_digest digest)
{
    struct growing_key key = growing_key_of(&f->at, digest);
    enum tepal_status status = TEPAL_OK;
    /* Whoever is in the exact table has found the slots taken before. */
    bool over = f->head.params.growing.overflow != 0 && tepal_overflow_count(f, digest) != 0;
    if (over || !tepal_growing_put(f, key.tag, key.address, growing_known_now(&f->at, &key))) {
        status = tepal_overflow_add(f, digest, 1);
    }
    if (status == TEPAL_OK) {
        filter_count_keys(&f->head, 1);
        tepal_growing_grow(f);
    }
    return status;
}

static enum tepal_status growing_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    return add_one(growing_self(filter), digest);
}

/* ---- removals -------------------------------------------------------------------------------- */

/* Take away the entry that knows most of those that match; how much it knew, or 0 if none does. */
static uint32_t take(struct tepal_growing *f, const struct growing_key *key)
{
    const struct growing_table *t = &f->at;
    uint32_t best = 0;
    uint64_t bucket = 0;
    uint32_t slot = 0;
    for (int i = 0; i < 2; i++) {
        uint32_t depth = growing_depth(t, key->address[i]);
        uint64_t here = key->address[i] & growing_ones(depth);
        uint64_t entries[SLOTS];
        if (!bucket_holds(f, here, key->tag, key->address[i] >> depth)) {
            continue;
        }
        growing_bucket(t, growing_place(f, here), entries);
        for (uint32_t s = 0; s < SLOTS; s++) {
            if (entry_matches(t, entries[s], key->tag, key->address[i] >> depth) &&
                depth + growing_length(t, entries[s]) > best) {
                best = depth + growing_length(t, entries[s]);
                bucket = here;
                slot = s;
            }
        }
    }
    if (best != 0) {
        growing_put_slot(f, bucket, slot, 0);
    }
    return best;
}

static bool remove_one(struct tepal_growing *f, struct tepal_digest digest)
{
    uint64_t *own = f->head.state.own;
    if (f->head.params.growing.overflow == 0 || !tepal_overflow_remove(f, digest)) {
        struct growing_key key = growing_key_of(&f->at, digest);
        uint32_t known = take(f, &key);
        if (known == 0) {
            return false;
        }
        own[GROWING_HELD]--;
        own[GROWING_SUM] -= growing_weight(known);
    }
    own[GROWING_REMOVED] = saturating_add(own[GROWING_REMOVED], 1);
    return true;
}

static enum tepal_status growing_remove(struct tepal_filter *filter, struct tepal_digest digest)
{
    return remove_one(growing_self(filter), digest) ? TEPAL_OK : TEPAL_NOT_PRESENT;
}

static uint64_t growing_copies(const struct tepal_filter *filter, struct tepal_digest digest)
{
    const struct tepal_growing *f = growing_self_const(filter);
    const struct growing_table *t = &f->at;
    struct growing_key key = growing_key_of(t, digest);
    uint64_t copies = filter->params.growing.overflow != 0 ? tepal_overflow_count(f, digest) : 0;
    uint64_t before = UINT64_MAX;
    for (int i = 0; i < 2; i++) {
        uint32_t depth = growing_depth(t, key.address[i]);
        uint64_t here = key.address[i] & growing_ones(depth);
        if (here != before && bucket_holds(f, here, key.tag, key.address[i] >> depth)) {
            for (uint32_t s = 0; s < SLOTS; s++) {
                copies +=
                    entry_matches(t, growing_slot(f, here, s), key.tag, key.address[i] >> depth);
            }
        }
        before = here; /* the two buckets may be one */
    }
    return copies;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void ask(const struct tepal_growing *f, struct tepal_digest digest)
{
    struct growing_key key = growing_key_of(&f->at, digest);
    for (int i = 0; i < 2; i++) {
        uint32_t depth = growing_depth(&f->at, key.address[i]);
        growing_prefetch(&f->at, growing_place(f, key.address[i] & growing_ones(depth)));
    }
}

static size_t growing_query_many(const struct tepal_filter *filter,
                                 const struct tepal_digest *digests, size_t count,
                                 uint64_t *answers)
{
    const struct tepal_growing *f = growing_self_const(filter);
    size_t present = 0;
    for (size_t i = 0; i < count && i < WINDOW; i++) {
        ask(f, digests[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (i + WINDOW < count) {
            ask(f, digests[i + WINDOW]);
        }
        bool yes = growing_query(filter, digests[i]);
        answers[i / 64] = (i % 64 == 0 ? 0 : answers[i / 64]) | (uint64_t)yes << (i % 64);
        present += yes;
    }
    return present;
}

/*
 * All or none; who was there before is told in `answers`, unless it is NULL. To take a batch back,
 * the last key comes first: of the entries that match a key none knows more than the latest, so the
 * classes held are again those from before.
 */
static enum tepal_status add_all(struct tepal_filter *filter, const struct tepal_digest *digests,
                                 size_t count, uint64_t *answers)
{
    struct tepal_growing *f = growing_self(filter);
    const uint64_t added = filter->state.keys_added;
    const uint64_t removed = filter->state.own[GROWING_REMOVED];
    for (size_t i = 0; i < count; i++) {
        if (i + WINDOW < count) {
            ask(f, digests[i + WINDOW]);
        }
        if (answers != NULL) {
            uint64_t yes = growing_query(filter, digests[i]);
            answers[i / 64] = (i % 64 == 0 ? 0 : answers[i / 64]) | yes << (i % 64);
        }
        enum tepal_status status = add_one(f, digests[i]);
        if (status != TEPAL_OK) {
            while (i > 0) {
                (void)remove_one(f, digests[--i]);
            }
            filter->state.keys_added = added;
            filter->state.own[GROWING_REMOVED] = removed;
            return status;
        }
    }
    return TEPAL_OK;
}

static enum tepal_status growing_add_many(struct tepal_filter *filter,
                                          const struct tepal_digest *digests, size_t count)
{
    return add_all(filter, digests, count, NULL);
}

static enum tepal_status growing_test_add_many(struct tepal_filter *filter,
                                               const struct tepal_digest *digests, size_t count,
                                               uint64_t *answers, size_t *present)
{
    enum tepal_status status = add_all(filter, digests, count, answers);
    if (status == TEPAL_OK) {
        *present = (size_t)tepal_bits_count(answers, count / 64 + (count % 64 != 0));
    }
    return status;
}

static enum tepal_status growing_remove_many(struct tepal_filter *filter,
                                             const struct tepal_digest *digests, size_t count,
                                             size_t *removed)
{
    *removed = 0;
    for (size_t i = 0; i < count; i++) {
        *removed += remove_one(growing_self(filter), digests[i]);
    }
    return TEPAL_OK;
}

static uint64_t growing_ones_held(const struct tepal_filter *filter)
{
    return filter->state.own[GROWING_HELD];
}

/* ---- the table entry ------------------------------------------------------------------------- */

const struct filter_ops tepal_growing_ops = {
    .rules = &tepal_growing_rules,
    .struct_bytes = sizeof(struct tepal_growing),
    .states = GROWING_STATES,
    .open = growing_open,
    .reset = tepal_growing_reset,
    .validate = tepal_growing_validate,
    .validate_cells = tepal_growing_validate_cells,
    .add = growing_add,
    .add_many = growing_add_many,
    .keys_now = tepal_growing_keys_now,
    .copies = growing_copies,
    .remove = growing_remove,
    .remove_many = growing_remove_many,
    .query = growing_query,
    .query_many = growing_query_many,
    .test_add_many = growing_test_add_many,
    .can_be_full = true,
    .unite = tepal_growing_unite,
    .ones = growing_ones_held,
    .fp_now = tepal_growing_fp_now,
    .info = tepal_growing_info,
    .run = tepal_growing_run,
    .memory = tepal_growing_memory,
    .close = tepal_growing_close,
};
