/*
 * kernels.h: batches of keys over an array of bits: where the keys come from, and the table of
 * kernels that add and ask them. All kinds whose queries ask bits share it.
 *
 *   flat.h                    the loops of the flat and partitioned layouts
 *   flat_portable.c, _avx2.c  these in plain C, and for AVX2 machines: bit for bit the same answers
 *   flat_avx512.c             eight keys at a time
 *   lines/kernels.h           the same for the blocked and paired layouts
 *   bloom.c                   which of them a layout takes on this machine
 */
#ifndef TEPAL_SRC_FILTER_BLOOM_KERNELS_H
#define TEPAL_SRC_FILTER_BLOOM_KERNELS_H

#include "address/address.h"
#include "hash/digest.h"

/*
 * Where a batch's digests come from: an array of them; unkeyed integers, which are hashed one by
 * one on the way; or strings, which are hashed a few at a time, while the lines of those before
 * are on their way.
 */
enum bloom_form { BLOOM_DIGESTS, BLOOM_INTEGERS, BLOOM_STRINGS };

struct bloom_source {
    enum bloom_form form;
    const struct tepal_digest *digests;
    const uint64_t *integers;
    /*
     * Strings: behind pointers and of these lengths; or in one array, where key i begins and ends
     * at offsets i and i + 1, or all are of one width.
     */
    const void *const *pointers;
    const size_t *lens;
    const uint8_t *bytes;
    const uint64_t *offsets;
    size_t width;
    size_t count;               /* strings: how many there are in all */
    struct tepal_hasher hasher; /* for integers and strings: the filter's own */
};

/* Keys of a group: a word of answers. */
#define BLOOM_GROUP 64

/* The digests of keys first .. first + count - 1, integers or strings (keys.c). */
void tepal_filter_hash_keys(const struct bloom_source *source, size_t first, size_t count,
                            struct tepal_digest *digests);

/*
 * Keys are read one after the other, and the processor sees that, but not beyond a page of 4 KiB:
 * without help every 512th integer would cost a whole latency, and lines that are under way would
 * run dry. So each group has the keys of one some groups ahead brought: digests and integers by the
 * first call (`first` is where the group begins), strings when those before them are hashed.
 */
void tepal_filter_request_keys(const struct bloom_source *source, size_t first);
void tepal_filter_hash_strings(const struct bloom_source *source, size_t first, size_t count,
                               struct tepal_digest *digests);

/*
 * A small flat filter (colliding positions) that is a part of a larger one: `at` addresses its
 * cells, from bit `start` of `words` on, by the `number`th other digest of a key (address_rehash).
 */
struct bloom_part {
    const struct address *at;
    const uint64_t *words;
    uint64_t start;
    uint64_t number;
};

#define BLOOM_PART_KEYS 2048

/* Of up to BLOOM_PART_KEYS answers, which are yes: their numbers. Returns how many. */
static inline uint32_t bloom_list(const uint64_t *answers, size_t count, uint16_t *list)
{
    uint32_t listed = 0;
    for (size_t w = 0; w < (count + 63) / 64; w++) {
        if (answers[w] == UINT64_MAX) { /* most words, if members are asked for */
            for (size_t bit = 0; bit < 64; bit++) {
                list[listed + bit] = (uint16_t)(w * 64 + bit);
            }
            listed += 64;
            continue;
        }
        for (uint64_t word = answers[w]; word != 0; word &= word - 1) {
            list[listed++] = (uint16_t)(w * 64 + (size_t)__builtin_ctzll(word));
        }
    }
    return listed;
}

struct bloom_kernels {
    void (*add)(const struct address *at, uint64_t *words, const struct bloom_source *source,
                size_t count);
    /* Answers as in tepal_filter_query_many. */
    size_t (*query)(const struct address *at, const uint64_t *words,
                    const struct bloom_source *source, size_t count, uint64_t *answers);
    /*
     * Flat alone. Of up to BLOOM_PART_KEYS keys, ascending numbers of digests, those that the part
     * has, in their order, to `stay`, which may be `keys`. Returns how many.
     */
    uint32_t (*inside)(const struct bloom_part *part, const struct tepal_digest *digests,
                       const uint16_t *keys, uint32_t count, uint16_t *stay);
};

extern const struct bloom_kernels tepal_bloom_flat_portable;
extern const struct bloom_kernels tepal_bloom_flat_avx2;   /* only if tepal_processor_has_avx2() */
extern const struct bloom_kernels tepal_bloom_flat_avx512; /* ... tepal_processor_has_avx512() */

/* The fastest table for this layout on this machine. */
const struct bloom_kernels *tepal_bloom_dispatch(enum tepal_layout layout);

/*
 * The chance that the cells of a random key are all set. Reads all bits (rate.c). On layouts in
 * lines, *worst (may be NULL) gets the chance for keys of the line where it is highest.
 */
double tepal_bits_rate(const struct address *at, const uint64_t *bits, double *worst);

/* What info tells of that line; nothing on other layouts. */
void tepal_bits_tell_worst(const struct address *at, double worst, struct tepal_report *report);

/* The same of `at`'s cells on the flat layout, so many of which are set. */
double tepal_bits_flat_rate(const struct address *at, double ones);

/*
 * Strings hashed in one call: few, so that lines are requested all the time and not in bursts, of
 * which the machine keeps but some twenty under way and is idle until the next.
 */
#define BLOOM_FEW 4

/*
 * The digest of key j of `count` keys, those of the batch from `first` on; they are asked for one
 * after the other, from 0 on. `form` is a compile-time constant in every loop, `room` has as many
 * digests as there are keys.
 */
static inline __attribute__((always_inline)) struct tepal_digest
bloom_digest(const struct bloom_source *source, enum bloom_form form, size_t first, size_t count,
             size_t j, struct tepal_digest *room)
{
    if (form == BLOOM_DIGESTS) {
        return source->digests[first + j];
    }
    if (form == BLOOM_INTEGERS) {
        return digest_u64(source->integers[first + j], source->hasher.integer[0],
                          source->hasher.integer[1]);
    }
    if (j % BLOOM_FEW == 0) {
        size_t few = count - j < BLOOM_FEW ? count - j : BLOOM_FEW;
        tepal_filter_hash_strings(source, first + j, few, room + j);
    }
    return room[j];
}

#endif
