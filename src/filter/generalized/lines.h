/*
 * lines.h: the batch loops of the blocked generalized filter, written once; included by
 * each file that defines the line operations
 *
 *     struct line_bits                  the bits of a round in one line: all of them, those set
 *     line_bits_of(cells)               from a word of cells with roles (internal.h)
 *     line_matches(line, bits)          is none inverted?
 *     line_inverted(line, bits)         how many are? There is one a sector at most
 *     line_put(line, bits)
 *
 * As the Bloom filter's (lines/loops.h): a rolling window of 64 keys, whose lines are requested
 * well before they are looked at; of two rounds the second is worked out only for keys that pass
 * the first, for no cell of one meets a cell of the other (without resets they may, and then agree;
 * see second_apart). `two` and `strict` (no tolerance) are constants (lines/either.h).
 */
#include "filter/lines/answers.h"
#include "filter/lines/either.h"

#define WINDOW        64
#define ALWAYS_INLINE static inline __attribute__((always_inline))

struct line_window {
    size_t offset[WINDOW]; /* of the line, in bytes */
    uint64_t cells[WINDOW];
    struct tepal_digest digest[WINDOW]; /* used if two */
};

ALWAYS_INLINE void ask(struct line_window *window, size_t slot, const struct tepal_generalized *g,
                       bool two, const uint64_t *words, struct tepal_digest d)
{
    size_t offset = (size_t)wide_scale(d.hi, g->at.lines) * (ADDRESS_SECTORS * 8);
    window->offset[slot] = offset;
    __builtin_prefetch((const char *)words + offset);
    window->cells[slot] = two ? roles_first(&g->roles, d) : roles_only(&g->roles, d);
    if (two) {
        window->digest[slot] = d;
    }
}

/*
 * Where there are no resets two sets may meet, and count once: cells of the second round that the
 * first has in the same sector are left out.
 */
static __attribute__((noinline)) uint64_t without_met(uint64_t first, uint64_t second)
{
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        if ((first >> (8 * s) & 0xff) == (second >> (8 * s) & 0xff)) {
            second |= (uint64_t)ADDRESS_SKIP << (8 * s);
        }
    }
    return second;
}

ALWAYS_INLINE uint64_t second_apart(const struct roles *roles, uint64_t first,
                                    struct tepal_digest d)
{
    uint64_t second = roles_second(roles, d);
    return roles->apart ? second : without_met(first, second);
}

ALWAYS_INLINE bool test_at(const struct line_window *window, size_t slot, bool two, bool strict,
                           const struct roles *roles, const uint64_t *words)
{
    const void *line = (const char *)words + window->offset[slot];
    struct line_bits bits = line_bits_of(window->cells[slot]);
    uint32_t inverted = strict ? !line_matches(line, bits) : line_inverted(line, bits);
    if (two && inverted <= roles->tolerance) {
        uint64_t cells = second_apart(roles, window->cells[slot], window->digest[slot]);
        bits = line_bits_of(cells);
        inverted += strict ? !line_matches(line, bits) : line_inverted(line, bits);
    }
    return inverted <= roles->tolerance;
}

ALWAYS_INLINE void put_at(const struct line_window *window, size_t slot, bool two,
                          const struct roles *roles, uint64_t *words)
{
    void *line = (char *)words + window->offset[slot];
    line_put(line, line_bits_of(window->cells[slot]));
    if (two) {
        line_put(line, line_bits_of(roles_second(roles, window->digest[slot])));
    }
}

ALWAYS_INLINE size_t query_as(const struct tepal_generalized *g, const struct tepal_digest *digests,
                              size_t count, uint64_t *answers, bool two, bool strict)
{
    const uint64_t *words = g->head.words;
    struct line_window window;
    size_t present = 0;
    size_t here = count < WINDOW ? count : WINDOW;
    for (size_t j = 0; j < here; j++) {
        ask(&window, j, g, two, words, digests[j]);
    }
    for (size_t base = 0; base < count; base += here) {
        bool yes[WINDOW] = {false};
        here = count - base < WINDOW ? count - base : WINDOW;
        size_t more = count - base - here < WINDOW ? count - base - here : WINDOW;
        for (size_t j = 0; j < more; j++) {
            yes[j] = test_at(&window, j, two, strict, &g->roles, words);
            ask(&window, j, g, two, words, digests[base + WINDOW + j]);
        }
        for (size_t j = more; j < here; j++) {
            yes[j] = test_at(&window, j, two, strict, &g->roles, words);
        }
        answers[base / 64] = line_answers(yes);
        present += bits_count_word(answers[base / 64]);
    }
    return present;
}

ALWAYS_INLINE void add_as(struct tepal_generalized *g, const struct tepal_digest *digests,
                          size_t count, bool two)
{
    uint64_t *words = g->head.words;
    struct line_window window;
    size_t ahead = count < WINDOW ? count : WINDOW;
    for (size_t i = 0; i < ahead; i++) {
        ask(&window, i, g, two, words, digests[i]);
    }
    for (size_t i = 0; i < count; i++) {
        put_at(&window, i % WINDOW, two, &g->roles, words);
        if (i + WINDOW < count) {
            ask(&window, i % WINDOW, g, two, words, digests[i + WINDOW]);
        }
    }
}

static size_t lines_query(const struct tepal_generalized *g, const struct tepal_digest *digests,
                          size_t count, uint64_t *answers)
{
    bool strict = g->roles.tolerance == 0;
#define ONE(strict) query_as(g, digests, count, answers, false, strict)
#define TWO(strict) query_as(g, digests, count, answers, true, strict)
    return g->roles.two ? EITHER(strict, TWO) : EITHER(strict, ONE);
#undef ONE
#undef TWO
}

static void lines_add(struct tepal_generalized *g, const struct tepal_digest *digests, size_t count)
{
#define ADD(two) add_as(g, digests, count, two)
    EITHER(g->roles.two, ADD);
#undef ADD
}
