/*
 * generalized_lines.h: the batch loops of the blocked generalized filter, written once; included by
 * each file that defines the line operations
 *
 *     struct line_bits                  the bits of a key in one line: all of them, and those set
 *     line_bits_of(cells)               from a word of cells with roles (generalized_struct.h)
 *     line_bits_join(bits, bits)        of two rounds: a reset wins over a set
 *     line_matches(line, bits)          is none inverted?
 *     line_inverted(line, bits, two)    how many are? Without `two` there is one a sector at most
 *     line_put(line, bits)
 *     line_answers(bool[64])            64 answers as the bits of a word
 *
 * As the Bloom filter's (bloom_lines.h): a rolling window of 64 keys, whose lines are requested
 * well before they are looked at. `two` and `strict` (no tolerance) are compile-time constants.
 */
#define WINDOW        64
#define ALWAYS_INLINE static inline __attribute__((always_inline))

struct line_window {
    size_t offset[WINDOW]; /* of the line, in bytes */
    uint64_t cells[WINDOW];
    uint64_t cells2[WINDOW];
};

ALWAYS_INLINE void ask(struct line_window *window, size_t slot, const struct tepal_generalized *g,
                       bool two, const uint64_t *words, struct tepal_digest d)
{
    size_t offset = (size_t)wide_scale(d.hi, g->at.lines) * (ADDRESS_SECTORS * 8);
    window->offset[slot] = offset;
    __builtin_prefetch((const char *)words + offset);
    struct address_cells cells =
        roles_cells(&g->roles, two, g->at.positions == TEPAL_POSITIONS_DISTINCT, d);
    window->cells[slot] = cells.round[0];
    if (two) {
        window->cells2[slot] = cells.round[1];
    }
}

ALWAYS_INLINE struct line_bits bits_at(const struct line_window *window, size_t slot, bool two)
{
    struct line_bits bits = line_bits_of(window->cells[slot]);
    return two ? line_bits_join(bits, line_bits_of(window->cells2[slot])) : bits;
}

ALWAYS_INLINE bool test_at(const struct line_window *window, size_t slot, bool two, bool strict,
                           uint32_t tolerance, const uint64_t *words)
{
    const void *line = (const char *)words + window->offset[slot];
    struct line_bits bits = bits_at(window, slot, two);
    return strict ? line_matches(line, bits) : line_inverted(line, bits, two) <= tolerance;
}

ALWAYS_INLINE size_t query_as(const struct tepal_generalized *g, const struct tepal_digest *digests,
                              size_t count, uint64_t *answers, bool two, bool strict)
{
    const uint64_t *words = g->head.words;
    const uint32_t tolerance = g->roles.tolerance;
    struct line_window window;
    bool yes[WINDOW];
    size_t present = 0;
    size_t base = 0;
    size_t here = count < WINDOW ? count : WINDOW;
    for (size_t j = 0; j < here; j++) {
        ask(&window, j, g, two, words, digests[j]);
    }
    for (; base + 2 * WINDOW <= count; base += WINDOW) {
        for (size_t j = 0; j < WINDOW; j++) {
            yes[j] = test_at(&window, j, two, strict, tolerance, words);
            ask(&window, j, g, two, words, digests[base + WINDOW + j]);
        }
        answers[base / 64] = line_answers(yes);
        present += bits_count_word(answers[base / 64]);
    }
    /* What is left: a full window, and then less than one; or less than one from the start. */
    for (; base < count; base += here) {
        here = count - base < WINDOW ? count - base : WINDOW;
        size_t more = count - base - here;
        uint64_t answer = 0;
        for (size_t j = 0; j < here; j++) {
            answer |= (uint64_t)test_at(&window, j, two, strict, tolerance, words) << j;
            if (j < more) {
                ask(&window, j, g, two, words, digests[base + WINDOW + j]);
            }
        }
        answers[base / 64] = answer;
        present += bits_count_word(answer);
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
        line_put((char *)words + window.offset[i % WINDOW], bits_at(&window, i % WINDOW, two));
        if (i + WINDOW < count) {
            ask(&window, i % WINDOW, g, two, words, digests[i + WINDOW]);
        }
    }
}

static size_t lines_query(const struct tepal_generalized *g, const struct tepal_digest *digests,
                          size_t count, uint64_t *answers)
{
    if (g->roles.tolerance == 0) {
        return g->roles.two ? query_as(g, digests, count, answers, true, true)
                            : query_as(g, digests, count, answers, false, true);
    }
    return g->roles.two ? query_as(g, digests, count, answers, true, false)
                        : query_as(g, digests, count, answers, false, false);
}

static void lines_add(struct tepal_generalized *g, const struct tepal_digest *digests, size_t count)
{
    if (g->roles.two) {
        add_as(g, digests, count, true);
    } else {
        add_as(g, digests, count, false);
    }
}
