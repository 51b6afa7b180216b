/*
 * internal.h: the growing filter's buckets, slots and entries, inlined. What they mean is told in
 * growing.c.
 *
 *   growing.c    the kind: one key and many, the search for room, splits
 *   cells.c      what the cells say: checks and figures
 *   unite.c      unions
 *   arrays.c     where the words are: the first array, the segments behind it
 *   overflow.c   the exact table of copies that found no slot
 */
#ifndef TEPAL_SRC_FILTER_GROWING_INTERNAL_H
#define TEPAL_SRC_FILTER_GROWING_INTERNAL_H

#include "base/random.h"
#include "filter/kind.h"

#define GROWING_SLOTS TEPAL_FINGERPRINT_SLOTS

/* Own state. */
enum {
    GROWING_HELD = 0,      /* slots taken */
    GROWING_REMOVED = 1,   /* keys removed */
    GROWING_SUM = 2,       /* the sum over entries of 2^(GROWING_UNIT - T) */
    GROWING_COPIES = 3,    /* entries made by splits beyond the one that each key has */
    GROWING_OVER = 4,      /* keys in the exact table, repeats included */
    GROWING_OVER_USED = 5, /* its slots taken */
    GROWING_STATES = 6
};
#define GROWING_UNIT       60
#define GROWING_OVER_MAX   ((uint64_t)1 << 62) /* of GROWING_OVER */
#define GROWING_COPIES_MAX ((uint64_t)1 << 62)

/* Buckets whose bits are whole words, for every width of slots: where arrays begin and end. */
#define GROWING_GROUP_LOG 4
#define GROWING_GROUP     ((uint64_t)1 << GROWING_GROUP_LOG)

/*
 * Round r is the buckets 2^r .. 2^(r + 1) - 1, in 32 segments of a group at least. The buckets
 * below 2^9 are segments of the first round, too, those before its own.
 */
#define GROWING_FIRST_ROUND  9
#define GROWING_LAST_ROUND   40
#define GROWING_SEGMENTS_LOG 5

struct growing_table {
    uint64_t *words;  /* the first array */
    uint64_t base;    /* buckets that it has room for: these are there and nowhere else */
    uint64_t buckets; /* 2^level + split */
    uint64_t split;   /* buckets 0 .. split - 1 and those from 2^level on have level + 1 bits */
    uint32_t level;
    uint32_t bits; /* of a slot: tag, extension, and the mark of its length */
    uint32_t tag_bits;
    uint32_t extension_bits;
    uint64_t slot_mask;
    uint64_t tag_mask;
    uint64_t pair_tags;  /* the tags of two slots that lie together */
    uint64_t pair_lows;  /* the lowest bits of the two */
    uint64_t pair_highs; /* the highest bits of the two */
    uint64_t *overflow;  /* the exact table; NULL if it has no slots */
};

struct tepal_growing {
    struct tepal_filter head;
    struct growing_table at;
    size_t first_words;     /* of the first array */
    uint64_t first_buckets; /* that it came with */
    uint64_t segment_bytes; /* of all segments */
    bool own_overflow;      /* is the exact table apart from the first array? */
    bool crowded;           /* was the latest search for room a long one? */
    uint64_t gap;           /* the word of zeros behind the buckets, once these are apart */
    uint64_t **segment;     /* those that were needed, the others NULL */
    size_t segment_room;    /* of this list; 0 until the first array is full */
};

static inline struct tepal_growing *growing_self(struct tepal_filter *filter)
{
    return (struct tepal_growing *)filter;
}

static inline const struct tepal_growing *growing_self_const(const struct tepal_filter *filter)
{
    return (const struct tepal_growing *)filter;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static inline uint64_t growing_ones(uint32_t bits)
{
    return ((uint64_t)1 << bits) - 1;
}

/* What turns one address of a key into the other; odd, so that the two buckets differ. */
static inline uint64_t growing_offset(uint64_t tag)
{
    uint64_t state = tag * RANDOM_GOLDEN;
    return random_word(&state) | 1;
}

/* The bits of an address that make up its bucket. */
static inline uint32_t growing_depth(const struct growing_table *t, uint64_t address)
{
    return t->level + ((address & growing_ones(t->level)) < t->split);
}

/* A key: its tag and its two addresses. */
struct growing_key {
    uint64_t tag;
    uint64_t address[2];
};

static inline struct growing_key growing_key_of(const struct growing_table *t,
                                                struct tepal_digest d)
{
    uint64_t tag = d.lo >> (64 - t->tag_bits);
    return (struct growing_key){tag, {d.hi, d.hi ^ growing_offset(tag)}};
}

/* ---- segments -------------------------------------------------------------------------------- */

static inline unsigned growing_round(uint64_t bucket)
{
    return 63 - (unsigned)__builtin_clzll(bucket | (uint64_t)1 << GROWING_FIRST_ROUND);
}

/* The number of the segment of a bucket that is not in the first array. */
static inline size_t growing_segment(uint64_t bucket)
{
    unsigned round = growing_round(bucket);
    return ((size_t)(round - GROWING_FIRST_ROUND) << GROWING_SEGMENTS_LOG) +
           (size_t)(bucket >> (round - GROWING_SEGMENTS_LOG));
}

/* Buckets in a segment of this bucket's round. */
static inline uint64_t growing_segment_buckets(uint64_t bucket)
{
    return (uint64_t)1 << (growing_round(bucket) - GROWING_SEGMENTS_LOG);
}

/* The words of the group that a bucket is in. */
static inline uint64_t *growing_group(const struct tepal_growing *f, uint64_t bucket)
{
    const struct growing_table *t = &f->at;
    if (bucket < t->base) {
        return t->words + (bucket >> GROWING_GROUP_LOG) * t->bits;
    }
    uint64_t within = bucket & (growing_segment_buckets(bucket) - 1);
    return f->segment[growing_segment(bucket)] + (within >> GROWING_GROUP_LOG) * t->bits;
}

/* Where in its group a bucket begins, in bits. */
static inline uint64_t growing_start(const struct growing_table *t, uint64_t bucket)
{
    return (bucket & (GROWING_GROUP - 1)) * GROWING_SLOTS * t->bits;
}

/* 64 bits from a bit on; there is a word more behind every array. */
static inline uint64_t growing_read(const uint64_t *words, uint64_t at)
{
    unsigned shift = at & 63;
    return words[at >> 6] >> shift | words[(at >> 6) + 1] << 1 << (63 - shift);
}

/* Where a bucket is: its group, and the bit in it. */
struct growing_place {
    const uint64_t *words;
    uint64_t at;
};

static inline struct growing_place growing_place(const struct tepal_growing *f, uint64_t bucket)
{
    return (struct growing_place){growing_group(f, bucket), growing_start(&f->at, bucket)};
}

/* Its two pairs of slots. */
static inline uint64_t growing_pair(const struct growing_table *t, struct growing_place place,
                                    uint32_t slot)
{
    return growing_read(place.words, place.at + slot * t->bits);
}

static inline void growing_prefetch(const struct growing_table *t, struct growing_place place)
{
    const char *byte = (const char *)place.words + place.at / 8;
    __builtin_prefetch(byte);
    __builtin_prefetch(byte + GROWING_SLOTS * t->bits / 8);
}

/* ---- slots and entries ----------------------------------------------------------------------- */

static inline uint64_t growing_slot(const struct tepal_growing *f, uint64_t bucket, uint32_t slot)
{
    const struct growing_table *t = &f->at;
    uint64_t at = growing_start(t, bucket) + slot * t->bits;
    return growing_read(growing_group(f, bucket), at) & t->slot_mask;
}

static inline void growing_put_slot(struct tepal_growing *f, uint64_t bucket, uint32_t slot,
                                    uint64_t entry)
{
    const struct growing_table *t = &f->at;
    uint64_t at = growing_start(t, bucket) + slot * t->bits;
    uint64_t *word = growing_group(f, bucket) + (at >> 6);
    unsigned shift = at & 63;
    word[0] = (word[0] & ~(t->slot_mask << shift)) | entry << shift;
    if (shift + t->bits > 64) {
        word[1] = (word[1] & ~(t->slot_mask >> (64 - shift))) | entry >> (64 - shift);
    }
}

/* All slots of a bucket. */
static inline void growing_bucket(const struct growing_table *t, struct growing_place place,
                                  uint64_t entries[GROWING_SLOTS])
{
    for (uint32_t s = 0; s < GROWING_SLOTS; s += 2) {
        uint64_t pair = growing_pair(t, place, s);
        entries[s] = pair & t->slot_mask;
        entries[s + 1] = pair >> t->bits & t->slot_mask;
    }
}

/* The first empty slot of a bucket, or GROWING_SLOTS. */
static inline uint32_t growing_free_slot(const struct growing_table *t, struct growing_place place)
{
    for (uint32_t s = 0; s < GROWING_SLOTS; s += 2) {
        uint64_t pair = growing_pair(t, place, s);
        if (((pair - t->pair_lows) & ~pair & t->pair_highs) != 0) { /* one of the two is 0 */
            return s + ((pair & t->slot_mask) != 0);
        }
    }
    return GROWING_SLOTS;
}

/* The length of an entry's extension; the entry is not 0. */
static inline uint32_t growing_length(const struct growing_table *t, uint64_t entry)
{
    return 63 - (uint32_t)__builtin_clzll(entry >> t->tag_bits);
}

/* The depth of a bucket that there is. */
static inline uint32_t growing_bucket_depth(const struct growing_table *t, uint64_t bucket)
{
    return t->level + (bucket < t->split || bucket >> t->level != 0);
}

/* An entry that knows the low `known` bits of this address, for a bucket of this depth. */
static inline uint64_t growing_entry(const struct growing_table *t, uint64_t tag, uint64_t address,
                                     uint32_t depth, uint32_t known)
{
    uint32_t length = known - depth;
    uint64_t extension = address >> depth & growing_ones(length);
    return tag | ((uint64_t)1 << length | extension) << t->tag_bits;
}

/* What an entry knows of its address, and how many bits that is. */
static inline uint64_t growing_entry_address(const struct growing_table *t, uint64_t bucket,
                                             uint64_t entry, uint32_t *known)
{
    uint32_t depth = growing_bucket_depth(t, bucket);
    uint32_t length = growing_length(t, entry);
    *known = depth + length;
    return bucket | (entry >> t->tag_bits & growing_ones(length)) << depth;
}

/* The same entry in its other bucket; false if it does not know enough to go there. */
static inline bool growing_move(const struct growing_table *t, uint64_t bucket, uint64_t entry,
                                uint64_t *other, uint64_t *moved)
{
    uint32_t known;
    uint64_t tag = entry & t->tag_mask;
    uint64_t address = growing_entry_address(t, bucket, entry, &known) ^ growing_offset(tag);
    uint32_t depth = growing_depth(t, address);
    if (known < depth) {
        return false;
    }
    *other = address & growing_ones(depth);
    *moved = growing_entry(t, tag, address, depth, known);
    return true;
}

static inline uint64_t growing_weight(uint32_t known)
{
    return (uint64_t)1 << (GROWING_UNIT - known);
}

/* What a key that is added now is to know. */
static inline uint32_t growing_known_now(const struct growing_table *t,
                                         const struct growing_key *key)
{
    uint32_t first = growing_depth(t, key->address[0]);
    uint32_t second = growing_depth(t, key->address[1]);
    return t->extension_bits + (first < second ? first : second);
}

/* ---- arrays.c -------------------------------------------------------------------------------- */

/* Set the number of buckets and what follows from it. */
void tepal_growing_resize(struct tepal_growing *f, uint64_t buckets);

/* Memory for the next bucket, all zero; false if there is none. It is not one of them yet. */
bool tepal_growing_room(struct tepal_growing *f);

/* Back to the first size and no exact table. The cells are zero. */
void tepal_growing_reset(struct tepal_filter *filter);

uint64_t *tepal_growing_run(const struct tepal_filter *filter, uint64_t first, uint64_t *count);
uint64_t tepal_growing_memory(const struct tepal_filter *filter);
void tepal_growing_close(struct tepal_filter *filter);

/* ---- growing.c ------------------------------------------------------------------------------- */

/*
 * Add an entry that knows the low `known` bits of these two addresses, at least as many as their
 * buckets need; false if no chain of moves frees a slot.
 */
bool tepal_growing_put(struct tepal_growing *f, uint64_t tag, const uint64_t address[2],
                       uint32_t known);

/* Split the next bucket; false if there is no memory for that. */
bool tepal_growing_split(struct tepal_growing *f);

/* Split as many as the number of entries asks for. */
void tepal_growing_grow(struct tepal_growing *f);

/* ---- cells.c and unite.c --------------------------------------------------------------------- */

const char *tepal_growing_validate(const struct tepal_filter *filter);
const char *tepal_growing_validate_cells(const struct tepal_filter *filter);
double tepal_growing_fp_now(const struct tepal_filter *filter);
uint64_t tepal_growing_keys_now(const struct tepal_filter *filter);
void tepal_growing_info(const struct tepal_filter *filter, struct tepal_report *report);

enum tepal_status tepal_growing_unite(struct tepal_filter *into, const struct tepal_filter *other);

/* ---- overflow.c ------------------------------------------------------------------------------ */

/* Copies of this digest in the exact table. */
uint64_t tepal_overflow_count(const struct tepal_growing *f, struct tepal_digest digest);

/* So many more; TEPAL_NO_MEMORY, or TEPAL_FULL beyond GROWING_OVER_MAX. */
enum tepal_status tepal_overflow_add(struct tepal_growing *f, struct tepal_digest digest,
                                     uint64_t times);

/* One fewer, if there is one. */
bool tepal_overflow_remove(struct tepal_growing *f, struct tepal_digest digest);

/* What is wrong with the table, or NULL. */
const char *tepal_overflow_flaw(const struct tepal_growing *f);

/* One more entry that is stored twice; a file may say that there were very many. */
static inline void growing_count_copy(struct tepal_growing *f)
{
    uint64_t *copies = &f->head.state.own[GROWING_COPIES];
    *copies += *copies < GROWING_COPIES_MAX;
}

#endif
