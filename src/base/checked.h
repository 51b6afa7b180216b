/*
 * checked.h: arithmetic that says when it does not fit. Every size that comes from a caller or a
 * file goes through here before it is used.
 */
#ifndef TEPAL_SRC_BASE_CHECKED_H
#define TEPAL_SRC_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool checked_add(uint64_t a, uint64_t b, uint64_t *out)
{
    if (a > UINT64_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

static inline bool checked_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    if (a != 0 && b > UINT64_MAX / a) {
        return false;
    }
    *out = a * b;
    return true;
}

/* Does a 64-bit size fit this machine's size_t, with room to spare for the allocator? */
static inline bool checked_size(uint64_t bytes)
{
    return bytes <= (uint64_t)(SIZE_MAX / 2);
}

/* a + b, or the largest value if that does not fit: for counts that must never wrap. */
static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
