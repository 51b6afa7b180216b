/* alloc.h: the allocator hook from the inside. */
#ifndef TEPAL_SRC_BASE_ALLOC_H
#define TEPAL_SRC_BASE_ALLOC_H

#include <tepal/base.h>

/* Every array starts on a cache line. No allocator is asked for more. */
#define ALLOC_LINE 64

/* The caller's allocator, or the default one if NULL. */
struct tepal_allocator tepal_alloc_choose(const struct tepal_allocator *allocator);

/* Cleared memory aligned to a cache line, or NULL. size >= 1. */
void *tepal_alloc_zeroed(const struct tepal_allocator *allocator, size_t size);

/* The same, not cleared: for those who fill all of it. */
void *tepal_alloc_raw(const struct tepal_allocator *allocator, size_t size);

void tepal_alloc_release(const struct tepal_allocator *allocator, void *ptr, size_t size);

#endif
