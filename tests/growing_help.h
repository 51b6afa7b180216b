/*
 * growing_help.h: what a filter that grows holds at every moment, and the lines that lookups read.
 * Its bits per key are largest when it has just taken memory, so that the allocator sees every
 * moment that could be the worst.
 */
#ifndef TESTS_GROWING_HELP_H
#define TESTS_GROWING_HELP_H

#include "check.h"

#include "cells/bits.h"
#include "filter/chain/internal.h"
#include "filter/growing/internal.h"

struct moments {
    uint64_t keys; /* in the filter, before the addition under way */
    uint64_t
        from; /* moments with fewer keys do not count: the handle alone has thousands of bits */
    uint64_t bytes;
    uint64_t seen;
    double worst; /* bits per key, all that was taken and not given back */
};

static inline void *moments_alloc(void *ctx, size_t size, size_t align)
{
    struct moments *m = ctx;
    m->bytes += size;
    if (m->keys >= m->from) {
        m->worst = fmax(m->worst, 8 * (double)m->bytes / (double)m->keys);
        m->seen++;
    }
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static inline void moments_free(void *ctx, void *ptr, size_t size)
{
    struct moments *m = ctx;
    m->bytes -= ptr == NULL ? 0 : size;
    free(ptr);
}

static inline struct tepal_allocator moments_allocator(struct moments *m)
{
    return (struct tepal_allocator){moments_alloc, moments_free, m};
}

/* The lines of both buckets of a key. */
static inline uint64_t growing_lines(const struct tepal_growing *g, struct tepal_digest d)
{
    struct growing_key key = growing_key_of(&g->at, d);
    uint64_t lines = 0;
    for (int b = 0; b < 2; b++) {
        uint64_t bucket = key.address[b] & growing_ones(growing_depth(&g->at, key.address[b]));
        uint64_t at = growing_start(&g->at, bucket);
        const uint64_t *group = growing_group(g, bucket);
        uintptr_t first = (uintptr_t)(group + (at >> 6)) / 64;
        uintptr_t last = (uintptr_t)(group + ((at + 2 * g->at.bits) >> 6) + 1) / 64;
        lines += 1 + last - first;
    }
    return lines;
}

/* The lines in which a filter's bits are read, up to the first that is 0. */
static inline uint64_t bit_lines(const struct address *at, const uint64_t *words,
                                 struct tepal_digest d)
{
    uint64_t position[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(at, d, position);
    uint64_t lines = 0;
    for (uint32_t x = 0; x < k && (x == 0 || bits_test(words, position[x - 1])); x++) {
        uint32_t y = 0;
        while ((uintptr_t)&words[position[y] / 64] / 64 !=
               (uintptr_t)&words[position[x] / 64] / 64) {
            y++;
        }
        lines += y == x; /* none of those before was in it */
    }
    return lines;
}

static inline uint64_t lines_of(const struct tepal_filter *f, struct tepal_digest d)
{
    if (tepal_filter_params(f)->kind == TEPAL_KIND_GROWING) {
        return growing_lines(growing_self_const(f), d);
    }
    if (tepal_filter_params(f)->kind == TEPAL_KIND_BLOOM) {
        struct address at = tepal_address_of(tepal_filter_params(f), 1);
        return bit_lines(&at, f->words, d);
    }
    const struct tepal_chain *chain = chain_of_const(f);
    uint64_t lines = 0;
    for (uint32_t i = 0; i < chain->parts; i++) {
        lines +=
            bit_lines(&chain->part[i].at, chain->part[i].words, i == 0 ? d : address_rehash(d, i));
    }
    return lines;
}

/* Lines per lookup of a key that no part has, counted with so many strangers. */
static inline double lines_counted(const struct tepal_filter *f, unsigned keys)
{
    uint64_t state = 19;
    uint64_t lines = 0;
    for (unsigned i = 0; i < keys; i++) {
        lines += lines_of(f, check_digest(&state));
    }
    return (double)lines / keys;
}

#endif
