/*
 * internal.h: the chain from the inside. What it is is told in chain.c.
 *
 *   chain.c   the kind: one key and many, unions, what it tells of itself
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

struct tepal_chain {
    struct tepal_filter head;
    const struct bloom_kernels *kernels;
    uint32_t parts;     /* as far as the directory makes sense */
    uint32_t together;  /* of them, in the first array */
    size_t first_words; /* of the first array */
    uint64_t *directory;
    bool own_directory;       /* is it apart from the first array? */
    struct tepal_direct last; /* the last part, which is asked first and takes the keys */
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
