/*
 * internal.h: the chain from the inside. What it is is told in chain.c.
 *
 *   chain.c   the kind: one key and many, unions, what it tells of itself
 *   one.h     one key, in plain C and with AVX2 (one_portable.c, one_avx2.c)
 *   wave_avx512.c  many keys of blocked parts, asked in all parts at a time
 *   parts.c   where the parts are: opened, closed, read from a directory, checked
 */
#ifndef TEPAL_SRC_FILTER_CHAIN_INTERNAL_H
#define TEPAL_SRC_FILTER_CHAIN_INTERNAL_H

#include <tepal/inline.h>

#include "address/address.h"
#include "filter/bloom/kernels.h"
#include "filter/kind.h"

/* An entry of the directory: the words of a part. */
enum chain_entry {
    CHAIN_BITS,
    CHAIN_HASHES,
    CHAIN_ROOM, /* keys that it is made for */
    CHAIN_KEYS, /* keys that were added to it; a union's: the sum */
    CHAIN_ENTRY = PARAMS_CHAIN_WORDS
};

struct chain_part {
    struct address at;
    uint64_t *words;
};

struct tepal_chain;

/* The calls that take one key, of a layout. */
struct chain_one {
    /* Is it in a part from `first` to `end`? */
    bool (*ask)(const struct tepal_chain *chain, uint32_t first, uint32_t end,
                struct tepal_digest digest);
    void (*put)(const struct tepal_chain *chain, uint32_t part, struct tepal_digest digest);
};

enum chain_one_way {
    CHAIN_ONE_FLAT, /* colliding positions */
    CHAIN_ONE_BLOCKED,
    CHAIN_ONE_PAIRED,
    CHAIN_ONE_ANY,
    CHAIN_ONES
};

extern const struct chain_one tepal_chain_one_portable[CHAIN_ONES];
extern const struct chain_one tepal_chain_one_avx2[CHAIN_ONES]; /* if tepal_processor_has_avx2() */

/* Many keys, answered as in tepal_filter_query_many. */
typedef size_t (*chain_ask_many)(const struct tepal_chain *chain,
                                 const struct tepal_digest *digests, size_t count,
                                 uint64_t *answers);

/* Blocked parts of less than 2^32 lines; only if tepal_processor_has_avx512(). */
extern const chain_ask_many tepal_chain_wave_avx512;

struct tepal_chain {
    struct tepal_filter head;
    const struct bloom_kernels *kernels;
    const struct chain_one *one;
    uint32_t parts;     /* as far as the directory makes sense */
    uint32_t together;  /* of them, in the first array */
    size_t first_words; /* of the first array */
    uint64_t *directory;
    bool own_directory; /* is it apart from the first array? */
    struct chain_part part[TEPAL_MAX_PARTS];
};

static inline struct tepal_chain *chain_of(struct tepal_filter *filter)
{
    return (struct tepal_chain *)filter;
}

static inline const struct tepal_chain *chain_of_const(const struct tepal_filter *filter)
{
    return (const struct tepal_chain *)filter;
}

static inline uint64_t *chain_entry(const struct tepal_chain *chain, uint32_t part)
{
    return chain->directory + (size_t)part * CHAIN_ENTRY;
}

/* The digest of a key in a part. */
static inline struct tepal_digest chain_digest(uint32_t part, struct tepal_digest d)
{
    return part == 0 ? d : address_rehash(d, part);
}

/* filter_ops of the same names. */
void tepal_chain_open(struct tepal_filter *filter);
void tepal_chain_reset(struct tepal_filter *filter);
const char *tepal_chain_validate(const struct tepal_filter *filter);
uint64_t *tepal_chain_run(const struct tepal_filter *filter, uint64_t first, uint64_t *count);
uint64_t tepal_chain_memory(const struct tepal_filter *filter);
void tepal_chain_close(struct tepal_filter *filter);

/*
 * One more part, empty: the next of the series, or (not NULL) one like this entry of another
 * chain's directory. TEPAL_FULL if there can be none, TEPAL_NO_MEMORY.
 */
enum tepal_status tepal_chain_append(struct tepal_chain *chain, const uint64_t *like);

/* Give back the parts from number `left` >= 1 on. They are not in the first array. */
void tepal_chain_drop(struct tepal_chain *chain, uint32_t left);

#endif
