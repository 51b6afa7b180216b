/* little.h: little-endian integers in byte arrays, whatever the machine. */
#ifndef TEPAL_SRC_BASE_LITTLE_H
#define TEPAL_SRC_BASE_LITTLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LITTLE_ENDIAN_HOST 1
#else
#define LITTLE_ENDIAN_HOST 0
#endif

static inline uint32_t little_get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t little_get64(const uint8_t *p)
{
    return (uint64_t)little_get32(p) | (uint64_t)little_get32(p + 4) << 32;
}

static inline void little_put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(v >> (8 * i));
    }
}

static inline void little_put64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) {
        p[i] = (uint8_t)(v >> (8 * i));
    }
}

/* `count` words between memory and little-endian bytes; a plain copy where the machine agrees. */
static inline void little_from_words(uint8_t *to, const uint64_t *from, size_t count)
{
#if LITTLE_ENDIAN_HOST
    memcpy(to, from, count * 8);
#else
    for (size_t i = 0; i < count; i++) {
        little_put64(to + 8 * i, from[i]);
    }
#endif
}

static inline void little_to_words(uint64_t *to, const uint8_t *from, size_t count)
{
#if LITTLE_ENDIAN_HOST
    memcpy(to, from, count * 8);
#else
    for (size_t i = 0; i < count; i++) {
        to[i] = little_get64(from + 8 * i);
    }
#endif
}

#endif
