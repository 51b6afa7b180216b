/*
 * long_avx2.c: what long.c does with 4-bit counters, with AVX2: a sector in each 64-bit lane. Of
 * the four words that a sector has, one in each cache line of counters, a lane takes the one with
 * the key's counter, and what is added to it goes back to that one.
 */
#include "filter/counting/internal.h"

#if defined(__AVX2__)

#include <immintrin.h>

#include "filter/counting/long.h"

/* Half of a key's cells, a lane each. */
struct half {
    __m256i bit;   /* the cell's in the line of bits; 0 where there is none */
    __m256i one;   /* 1 in its counter */
    __m256i field; /* 15 in its counter */
    __m256i odd;   /* all ones if it is in the second or fourth line of counters ... */
    __m256i upper; /* ... in the third or fourth */
};

static inline struct half half_of(uint64_t cells, int which)
{
    const __m256i zero = _mm256_setzero_si256();
    __m128i bytes = _mm_cvtsi32_si128((int)(uint32_t)(cells >> (32 * which)));
    __m256i cell = _mm256_cvtepu8_epi64(bytes);
    /* a shift by 64 and more, as of a cell that is not there, gives nothing */
    __m256i shift = _mm256_slli_epi64(_mm256_and_si256(cell, _mm256_set1_epi64x(0x4f)), 2);
    return (struct half){
        .bit = _mm256_sllv_epi64(_mm256_set1_epi64x(1), cell),
        .one = _mm256_sllv_epi64(_mm256_set1_epi64x(1), shift),
        .field = _mm256_sllv_epi64(_mm256_set1_epi64x(15), shift),
        .odd = _mm256_cmpgt_epi64(zero, _mm256_slli_epi64(cell, 59)),
        .upper = _mm256_cmpgt_epi64(zero, _mm256_slli_epi64(cell, 58)),
    };
}

static inline __m256i pick(__m256i a, __m256i b, __m256i second)
{
    return _mm256_blendv_epi8(a, b, second);
}

/* The key's counters, in their places; `at` is the first of four lines. */
static inline __m256i values(const __m256i *at, const struct half *h)
{
    __m256i lower = pick(_mm256_load_si256(at), _mm256_load_si256(at + 2), h->odd);
    __m256i upper = pick(_mm256_load_si256(at + 4), _mm256_load_si256(at + 6), h->odd);
    return _mm256_and_si256(pick(lower, upper, h->upper), h->field);
}

static inline void add_to(__m256i *at, __m256i by)
{
    _mm256_store_si256(at, _mm256_add_epi64(_mm256_load_si256(at), by));
}

static inline void change(__m256i *at, const struct half *h, __m256i by)
{
    __m256i upper = _mm256_and_si256(by, h->upper);
    __m256i lower = _mm256_andnot_si256(h->upper, by);
    add_to(at, _mm256_andnot_si256(h->odd, lower));
    add_to(at + 2, _mm256_and_si256(h->odd, lower));
    add_to(at + 4, _mm256_andnot_si256(h->odd, upper));
    add_to(at + 6, _mm256_and_si256(h->odd, upper));
}

/* Lane by lane; a comparison is -1 where it holds, so that subtracting it counts. */
struct tallies {
    __m256i ones;  /* lanes whose counter leaves or reaches 0; added: or that have none */
    __m256i same;  /* lanes that do not change */
    __m256i stuck; /* lanes whose counter reaches 15, or that have none */
};

static inline uint64_t total(__m256i lanes)
{
    uint64_t lane[4];
    _mm256_storeu_si256((__m256i *)(void *)lane, lanes);
    return lane[0] + lane[1] + lane[2] + lane[3];
}

static inline void raise4(__m256i *bits, __m256i *at, const struct half *h, struct tallies *t)
{
    __m256i value = values(at, h);
    __m256i full = _mm256_cmpeq_epi64(value, h->field); /* also where there is no counter */
    __m256i after = _mm256_add_epi64(value, h->one);
    __m256i was = _mm256_load_si256(bits);
    t->same = _mm256_sub_epi64(t->same, full);
    t->stuck = _mm256_sub_epi64(t->stuck, _mm256_cmpeq_epi64(after, h->field));
    t->ones = _mm256_sub_epi64(t->ones, _mm256_cmpeq_epi64(value, _mm256_setzero_si256()));
    change(at, h, _mm256_andnot_si256(full, h->one));
    _mm256_store_si256(bits, _mm256_or_si256(was, h->bit));
}

static inline void lower4(__m256i *bits, __m256i *at, const struct half *h, struct tallies *t)
{
    __m256i value = values(at, h);
    __m256i stay = _mm256_or_si256(_mm256_cmpeq_epi64(value, h->field),
                                   _mm256_cmpeq_epi64(value, _mm256_setzero_si256()));
    __m256i emptied = _mm256_andnot_si256(stay, _mm256_cmpeq_epi64(value, h->one));
    __m256i was = _mm256_load_si256(bits);
    t->same = _mm256_sub_epi64(t->same, stay);
    t->ones = _mm256_sub_epi64(t->ones, emptied);
    change(at, h, _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_andnot_si256(stay, h->one)));
    _mm256_store_si256(bits, _mm256_andnot_si256(_mm256_and_si256(emptied, h->bit), was));
}

static inline __m256i *lanes(uint64_t *words)
{
    return (__m256i *)(void *)words;
}

void tepal_counting_long_add_avx2(struct tepal_counting *c, const struct tepal_digest *digests,
                                  size_t count)
{
    const __m256i zero = _mm256_setzero_si256();
    const struct long_rule rule = long_rule_of(c);
    struct tallies t = {zero, zero, zero};
    struct long_key window[LONG_WINDOW];
    for (size_t i = 0; i < count && i < LONG_WINDOW; i++) {
        long_ask(&rule, digests[i], &window[i]);
    }
    for (size_t i = 0; i < count; i++) {
        struct long_key key = window[i % LONG_WINDOW];
        __m256i *bits = lanes(rule.bits + key.line * ADDRESS_SECTORS);
        __m256i *at = lanes(rule.counters + key.line * rule.words);
        struct half low = half_of(key.cells, 0);
        struct half high = half_of(key.cells, 1);
        raise4(bits, at, &low, &t);
        raise4(bits + 1, at + 1, &high, &t);
        if (i + LONG_WINDOW < count) {
            long_ask(&rule, digests[i + LONG_WINDOW], &window[i % LONG_WINDOW]);
        }
    }
    uint64_t *own = c->head.state.own;
    const uint64_t skipped = (uint64_t)count * (ADDRESS_SECTORS - c->at.hashes);
    own[COUNTING_ONES] += total(t.ones) - skipped;
    own[COUNTING_SUM] += (uint64_t)count * ADDRESS_SECTORS - total(t.same);
    own[COUNTING_STUCK] += total(t.stuck) - skipped;
}

size_t tepal_counting_long_remove_avx2(struct tepal_counting *c, const struct tepal_digest *digests,
                                       size_t count, uint64_t *done)
{
    const __m256i zero = _mm256_setzero_si256();
    const struct long_rule rule = long_rule_of(c);
    struct tallies t = {zero, zero, zero};
    struct long_key window[LONG_WINDOW];
    size_t removed = 0;
    for (size_t i = 0; i < count && i < LONG_WINDOW; i++) {
        long_ask(&rule, digests[i], &window[i]);
    }
    for (size_t i = 0; i < count; i++) {
        struct long_key key = window[i % LONG_WINDOW];
        __m256i *bits = lanes(rule.bits + key.line * ADDRESS_SECTORS);
        __m256i *at = lanes(rule.counters + key.line * rule.words);
        struct half low = half_of(key.cells, 0);
        struct half high = half_of(key.cells, 1);
        __m256i missing =
            _mm256_or_si256(_mm256_andnot_si256(_mm256_load_si256(bits), low.bit),
                            _mm256_andnot_si256(_mm256_load_si256(bits + 1), high.bit));
        bool yes = _mm256_testz_si256(missing, missing) != 0;
        if (yes) {
            lower4(bits, at, &low, &t);
            lower4(bits + 1, at + 1, &high, &t);
        }
        long_answer(done, i, yes);
        removed += yes;
        if (i + LONG_WINDOW < count) {
            long_ask(&rule, digests[i + LONG_WINDOW], &window[i % LONG_WINDOW]);
        }
    }
    long_removed(c, count, removed, total(t.ones), removed * ADDRESS_SECTORS - total(t.same));
    return removed;
}

#else

void tepal_counting_long_add_avx2(struct tepal_counting *c, const struct tepal_digest *digests,
                                  size_t count)
{
    tepal_counting_long_add(c, digests, count);
}

size_t tepal_counting_long_remove_avx2(struct tepal_counting *c, const struct tepal_digest *digests,
                                       size_t count, uint64_t *done)
{
    return tepal_counting_long_remove(c, digests, count, done);
}

#endif
