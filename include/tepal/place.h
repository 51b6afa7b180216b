/*
 * tepal/place.h: from a key to its cells, the arithmetic alone, inline. This is the one place of
 * these rules; the library's own loops and tepal/inline.h use them. Programs do not call them: what
 * they compute is fixed by the file format (docs/format.md), their names are not.
 *
 * Integers have a hash function of their own:
 *
 *     x = key ^ a;  x ^= x >> 30;  x *= C1;  x ^= x >> 27;  x ^= b;  x *= C2;  x ^= x >> 31
 *     hi = x;  lo = x * C3
 *
 * a and b come from the seed. The steps are Stafford's thirteenth variant of the MurmurHash3
 * finaliser, with a second injection of the seed so that two seeds are two different functions and
 * not one function of shifted keys. Each step is a bijection: two integers never share a digest.
 */
#ifndef TEPAL_PLACE_H
#define TEPAL_PLACE_H

#include <tepal/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TEPAL_PLACE_C1 UINT64_C(0xbf58476d1ce4e5b9)
#define TEPAL_PLACE_C2 UINT64_C(0x94d049bb133111eb)
#define TEPAL_PLACE_C3 UINT64_C(0xd1342543de82ef95)

/* `c` are C1, C2 and C3: in loops constants, elsewhere words that lie in memory with a and b. */
static inline struct tepal_digest tepal_place_mix(uint64_t key, uint64_t a, uint64_t b,
                                                  const uint64_t c[3])
{
    struct tepal_digest d;
    uint64_t x = key ^ a;
    x ^= x >> 30;
    x *= c[0];
    x ^= x >> 27;
    x ^= b;
    x *= c[1];
    x ^= x >> 31;
    d.lo = x * c[2];
    d.hi = x;
    return d;
}

static inline struct tepal_digest tepal_place_digest(uint64_t key, uint64_t a, uint64_t b)
{
    const uint64_t c[3] = {TEPAL_PLACE_C1, TEPAL_PLACE_C2, TEPAL_PLACE_C3};
    return tepal_place_mix(key, a, b, c);
}

/* The high half of a product, from four products of half words. */
static inline uint64_t tepal_place_high_by_parts(uint64_t a, uint64_t b)
{
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t other = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

/*
 * Products of 128 bits. gcc keeps their halves together, runs out of registers and puts them on the
 * stack, so that with BMI2 (-mbmi2, -march=native) it is told the instruction; clang needs no help.
 */
#if defined(__BMI2__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

static inline uint64_t tepal_place_high(uint64_t a, uint64_t b)
{
    uint64_t high;
    __asm__("mulx %2, %0, %0" : "=r"(high) : "d"(a), "r"(b));
    return high;
}

static inline uint64_t tepal_place_fold(uint64_t a, uint64_t b)
{
    uint64_t low;
    uint64_t high;
    __asm__("mulx %3, %0, %1" : "=r"(low), "=r"(high) : "d"(a), "r"(b));
    return low ^ high;
}

#elif defined(__SIZEOF_INT128__)

__extension__ typedef unsigned __int128 tepal_place_wide;

/* The high half of a product ... */
static inline uint64_t tepal_place_high(uint64_t a, uint64_t b)
{
    return (uint64_t)(((tepal_place_wide)a * b) >> 64);
}

/* ... and both halves, one exclusive-or the other. */
static inline uint64_t tepal_place_fold(uint64_t a, uint64_t b)
{
    tepal_place_wide product = (tepal_place_wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#else /* machines of 32 bits */

static inline uint64_t tepal_place_high(uint64_t a, uint64_t b)
{
    return tepal_place_high_by_parts(a, b);
}

static inline uint64_t tepal_place_fold(uint64_t a, uint64_t b)
{
    return tepal_place_high_by_parts(a, b) ^ a * b;
}

#endif

/*
 * floor(word * range / 2^64): a uniform word becomes a uniform number below range. They may change
 * places: `mulx` has its first operand in a fixed register, where a loop can leave the range.
 */
static inline uint64_t tepal_place_scale(uint64_t word, uint64_t range)
{
    return tepal_place_high(word, range);
}

#define TEPAL_PLACE_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* Word i >= 2 of a digest, from i times TEPAL_PLACE_GOLDEN: loops get that by adding. */
static inline uint64_t tepal_place_more(struct tepal_digest d, uint64_t step)
{
    return tepal_place_fold(d.lo ^ step, d.hi | 1);
}

/* ---- cells of a line ------------------------------------------------------------------------- */

#define TEPAL_PLACE_BYTES   UINT64_C(0x0101010101010101)
#define TEPAL_PLACE_SECTORS 8

/* The second line of a paired key: any line if colliding, any but the first if distinct. */
static inline uint64_t tepal_place_second_line(uint64_t lines, bool distinct, uint64_t word,
                                               uint64_t first)
{
    uint64_t line;
    if (!distinct) {
        return tepal_place_scale(word, lines);
    }
    line = tepal_place_scale(word, lines - 1);
    return line + (line >= first);
}

/* The sectors that a line's word chooses, of `ways` ways to do so. */
static inline uint64_t tepal_place_sectors(const uint64_t *subsets, uint64_t ways,
                                           uint64_t line_word)
{
    return subsets[(uint32_t)line_word * ways >> 32];
}

/*
 * In each byte, a cell other than `first`: at a distance of 1 .. size-1 from it, by `draw` below
 * size. (The distance is draw, but 1 for 0, which makes 1 twice as likely as any other. Both cells
 * stay uniform by themselves.)
 */
static inline uint64_t tepal_place_other(uint64_t first, uint64_t draw, uint64_t low_bits)
{
    uint64_t zero = TEPAL_PLACE_BYTES & ~((draw + low_bits) / (low_bits / TEPAL_PLACE_BYTES + 1));
    return (first + draw + zero) & low_bits;
}

/* ---- buckets of fingerprints ----------------------------------------------------------------- */

#define TEPAL_PLACE_MIX1 UINT64_C(0x9e3779b1)
#define TEPAL_PLACE_MIX2 UINT64_C(0x85ebca77)

/* The high bits of a digest's lower word, those above `shift`; 0 is none, and becomes 1. */
static inline uint64_t tepal_place_print(uint64_t word, uint32_t shift)
{
    uint64_t print = word >> shift;
    return print + (print == 0);
}

/*
 * The other bucket of a fingerprint: H(p) - b, where H(p) is odd and the number of buckets even:
 * one of the two is even and the other odd, so that they are never the same. H is made of
 * multiplications of 32 bits, of which a vector does several at a time.
 */
static inline uint64_t tepal_place_other_bucket(uint64_t buckets, uint64_t bucket, uint64_t print)
{
    uint64_t x = print * TEPAL_PLACE_MIX1;
    uint64_t h;
    x = (uint64_t)(uint32_t)(x ^ x >> 16) * TEPAL_PLACE_MIX2;
    h = ((uint64_t)(uint32_t)(x ^ x >> 32) * (buckets / 2) >> 32) << 1 | 1;
    return h - bucket + (h < bucket ? buckets : 0);
}

#ifdef __cplusplus
}
#endif

#endif
