/*
 * growing_help.h: what a filter that grows holds at every moment. Its bits per key are largest when
 * it has just taken memory, so that the allocator sees every moment that could be the worst.
 */
#ifndef TESTS_GROWING_HELP_H
#define TESTS_GROWING_HELP_H

#include "check.h"

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

#endif
