/*
 * loops.h: the loops of the blocked and paired layouts, written once; included by each file
 * that has the line operations (line_avx2.h, line_portable.h)
 *
 *     struct line_mask            the bits of a key in one line
 *     line_mask_of(cells)         from a word of cells (struct address_cells)
 *     line_mask_or(mask, mask)
 *     line_holds(line, mask)      are all of them set?
 *     line_set(line, mask)
 *
 * A lookup in a filter larger than the cache costs one memory latency, some 100 ns, unless many are
 * under way at once. So the loops run a rolling window: the line of key i + 64 is requested while
 * that of key i is tested. A window of 64 matches the 64 answers of one word. (A window that is
 * filled and emptied by turns would leave the memory idle half of the time: 1.3 to 1.5 times
 * slower.)
 *
 * `integers` and `two` are compile-time constants in every loop (either.h); the rules are local to
 * it, so that `rule->two` is one as well. LINE_BYTES and LINE_SECTOR_CELLS are the includer's if
 * its lines are not of 512 bits.
 */
#include "filter/lines/answers.h"
#include "filter/lines/either.h"

#ifndef LINE_BYTES
#define LINE_BYTES        64
#define LINE_SECTOR_CELLS 64
#endif
/* LINES_DIGESTS_ALONE is the includer's if nobody gives it other keys, or adds any. */
#if defined(LINES_DIGESTS_ALONE)
#define DIGESTS_ALONE true
#else
#define DIGESTS_ALONE false
#endif
#define LOW_BITS      ((LINE_SECTOR_CELLS - 1) * ADDRESS_BYTES)
#define WINDOW        64
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* What is the same for all keys of a batch in their first lines, or in their second ones. */
struct line_rule {
    const uint64_t *words;
    uint64_t lines;
    const uint64_t *subsets; /* the ways to choose the sectors ... */
    uint64_t ways;           /* ... and their number */
    bool distinct;
    bool two; /* more cells than sectors: is there a second round? */
};

ALWAYS_INLINE struct line_rule line_rule_of(const struct address *at, const uint64_t *words,
                                            uint32_t cells, bool two)
{
    uint32_t chosen = address_chosen(cells);
    return (struct line_rule){.words = words,
                              .lines = at->lines,
                              .subsets = tepal_address_subsets[chosen],
                              .ways = tepal_address_subset_count[chosen],
                              .distinct = at->positions == TEPAL_POSITIONS_DISTINCT,
                              .two = two};
}

/* A key in one line: the random words that say which line, which sectors, which cells of them. */
struct line_key {
    uint64_t line;    /* its number */
    uint64_t sectors; /* chooses them */
    uint64_t cells;   /* of the first round, ... */
    uint64_t more;    /* ... and of the second */
};

/* Lines under way and the keys' cells in them. Apart, so that an unused round costs nothing. */
struct line_window {
    size_t offset[WINDOW]; /* of the line, in bytes */
    uint64_t cells[WINDOW];
    uint64_t cells2[WINDOW];
};

/*
 * The digest of key j of `count` keys, those of the batch from `first` on; they are asked for one
 * after the other, from 0 on, and `room` has as many digests. `integers` (a constant) if the source
 * has integers and the loop is made for them: then they are hashed in registers.
 */
ALWAYS_INLINE struct tepal_digest digest_at(const struct bloom_source *source, bool integers,
                                            size_t first, size_t count, size_t j,
                                            struct tepal_digest *room)
{
    if (integers) {
        return digest_u64(source->integers[first + j], source->hasher.integer[0],
                          source->hasher.integer[1]);
    }
    if (DIGESTS_ALONE || source->form == BLOOM_DIGESTS) {
        return source->digests[first + j];
    }
    if (j % BLOOM_FEW == 0) {
        size_t few = count - j < BLOOM_FEW ? count - j : BLOOM_FEW;
        tepal_filter_hash_strings(source, first + j, few, room + j);
    }
    return room[j];
}

/* The line of this slot is that one: have it brought. */
ALWAYS_INLINE void request(struct line_window *window, size_t slot, const struct line_rule *rule,
                           uint64_t line)
{
    size_t offset = (size_t)line * LINE_BYTES;
    window->offset[slot] = offset;
    __builtin_prefetch((const char *)rule->words + offset);
}

ALWAYS_INLINE struct address_cells cells_of(const struct line_rule *rule, struct line_key key)
{
    return address_line_cells(rule->two, address_sectors(rule->subsets, rule->ways, key.sectors),
                              rule->distinct, LOW_BITS, key.cells, key.more);
}

ALWAYS_INLINE void ask(struct line_window *window, size_t slot, const struct line_rule *rule,
                       struct line_key key)
{
    request(window, slot, rule, key.line);
    struct address_cells cells = cells_of(rule, key);
    window->cells[slot] = cells.round[0];
    if (rule->two) {
        window->cells2[slot] = cells.round[1];
    }
}

ALWAYS_INLINE struct line_mask mask_at(const struct line_window *window, size_t slot, bool two)
{
    struct line_mask mask = line_mask_of(window->cells[slot]);
    return two ? line_mask_or(mask, line_mask_of(window->cells2[slot])) : mask;
}

ALWAYS_INLINE bool test_at(const struct line_window *window, size_t slot,
                           const struct line_rule *rule)
{
    const void *line = (const char *)rule->words + window->offset[slot];
    return line_holds(line, mask_at(window, slot, rule->two));
}

ALWAYS_INLINE void set_at(const struct line_window *window, size_t slot,
                          const struct line_rule *rule, uint64_t *words)
{
    void *line = (char *)words + window->offset[slot];
    line_set(line, mask_at(window, slot, rule->two));
}

/* The blocked layout's line, or the paired layout's first; `more` is the word of a second round. */
ALWAYS_INLINE struct line_key first_line(const struct line_rule *rule, struct tepal_digest d,
                                         uint32_t more)
{
    return (struct line_key){wide_scale(d.hi, rule->lines), d.hi, d.lo,
                             rule->two ? address_word(d, more) : 0};
}

/* ---- blocked --------------------------------------------------------------------------------- */

#define BLOCKED_MORE 2

/* How many keys of the next group there are, when `left` keys from this group on are left. */
ALWAYS_INLINE size_t next_group(size_t left)
{
    size_t more = left < WINDOW ? 0 : left - WINDOW;
    return more < WINDOW ? more : WINDOW;
}

/* Set the cells of `here` keys under way and ask for the next `more`, those from `next` on. */
ALWAYS_INLINE void blocked_add_turn(struct line_window *window, const struct line_rule *rule,
                                    uint64_t *words, const struct bloom_source *source,
                                    bool integers, size_t here, size_t next, size_t more)
{
    struct tepal_digest room[WINDOW];
    tepal_filter_request_keys(source, next);
    for (size_t j = 0; j < more; j++) {
        set_at(window, j, rule, words);
        struct tepal_digest d = digest_at(source, integers, next, more, j, room);
        ask(window, j, rule, first_line(rule, d, BLOCKED_MORE));
    }
    for (size_t j = more; j < here; j++) {
        set_at(window, j, rule, words);
    }
}

ALWAYS_INLINE void blocked_add(const struct address *at, uint64_t *words,
                               const struct bloom_source *source, size_t count, bool integers,
                               bool two)
{
    const struct line_rule rule = line_rule_of(at, words, at->hashes, two);
    struct line_window window;
    struct tepal_digest room[WINDOW];
    size_t here = count < WINDOW ? count : WINDOW;
    for (size_t j = 0; j < here; j++) {
        struct tepal_digest d = digest_at(source, integers, 0, here, j, room);
        ask(&window, j, &rule, first_line(&rule, d, BLOCKED_MORE));
    }
    for (size_t base = 0; base < count; base += here) {
        size_t more = next_group(count - base);
        here = count - base < WINDOW ? count - base : WINDOW;
        blocked_add_turn(&window, &rule, words, source, integers, here, base + WINDOW, more);
    }
}

/*
 * Queries with a second round ask it only of keys that pass the first, whose eight cells refuse
 * nearly every absent key: until then the digest waits and nothing of the second round is computed.
 * Where some keys are present that would be a branch that nobody can predict: after a window with
 * more than a few hits, both rounds are asked of every key of the next (`both`, a constant).
 */
struct blocked_window {
    struct line_window lines;
    struct tepal_digest digest[WINDOW]; /* used if two */
};

ALWAYS_INLINE void blocked_ask(struct blocked_window *window, size_t slot,
                               const struct line_rule *rule, struct tepal_digest d)
{
    if (!rule->two) {
        ask(&window->lines, slot, rule, first_line(rule, d, BLOCKED_MORE));
        return;
    }
    request(&window->lines, slot, rule, wide_scale(d.hi, rule->lines));
    window->lines.cells[slot] = d.lo & LOW_BITS;
    window->digest[slot] = d;
}

ALWAYS_INLINE bool blocked_test(const struct blocked_window *window, size_t slot,
                                const struct line_rule *rule, bool both)
{
    const void *line = (const char *)rule->words + window->lines.offset[slot];
    struct line_mask mask = line_mask_of(window->lines.cells[slot]);
    if (!rule->two) {
        return line_holds(line, mask);
    }
    if (!both && !line_holds(line, mask)) {
        return false;
    }
    struct line_key key = first_line(rule, window->digest[slot], BLOCKED_MORE);
    struct line_mask more = line_mask_of(cells_of(rule, key).round[1]);
    return line_holds(line, both ? line_mask_or(mask, more) : more);
}

/* Hits among 64 keys from which on both rounds are asked at once. */
#define FEW_HITS 3

/*
 * Test the `here` keys under way and ask for the next `more`, those of the batch from `next` on.
 */
ALWAYS_INLINE uint64_t blocked_turn(struct blocked_window *window, const struct line_rule *rule,
                                    const struct bloom_source *source, bool integers, size_t here,
                                    size_t next, size_t more, bool both)
{
    struct tepal_digest room[WINDOW];
    bool yes[WINDOW] = {false};
    tepal_filter_request_keys(source, next);
    for (size_t j = 0; j < more; j++) {
        yes[j] = blocked_test(window, j, rule, both);
        blocked_ask(window, j, rule, digest_at(source, integers, next, more, j, room));
    }
    for (size_t j = more; j < here; j++) {
        yes[j] = blocked_test(window, j, rule, both);
    }
    return line_answers(yes);
}

ALWAYS_INLINE size_t blocked_query(const struct address *at, const uint64_t *words,
                                   const struct bloom_source *source, size_t count,
                                   uint64_t *answers, bool integers, bool two)
{
    const struct line_rule rule = line_rule_of(at, words, at->hashes, two);
    struct blocked_window window;
    struct tepal_digest room[WINDOW];
    uint32_t hits = 0; /* of the window before */
    size_t present = 0;
    size_t here = count < WINDOW ? count : WINDOW;
    for (size_t j = 0; j < here; j++) {
        blocked_ask(&window, j, &rule, digest_at(source, integers, 0, here, j, room));
    }
#define TURN(both) blocked_turn(&window, &rule, source, integers, here, base + WINDOW, more, both)
    for (size_t base = 0; base < count; base += here) {
        size_t more = next_group(count - base);
        here = count - base < WINDOW ? count - base : WINDOW;
        answers[base / 64] = two && hits > FEW_HITS ? TURN(true) : TURN(false);
        hits = bits_count_word(answers[base / 64]);
        present += hits;
    }
#undef TURN
    return present;
}

/* ---- paired ---------------------------------------------------------------------------------- */

#define PAIRED_MORE 4

ALWAYS_INLINE struct line_key second_line(const struct address *at, const struct line_rule *rule,
                                          struct tepal_digest d)
{
    uint64_t word = address_word(d, 2);
    uint64_t line = address_second_line(at, word, wide_scale(d.hi, rule->lines));
    return (struct line_key){line, word, address_word(d, 3), rule->two ? address_word(d, 5) : 0};
}

/* Of the two halves of k = 17 cells, the first has a second round and the other has not. */
static bool second_has_two(const struct address *at)
{
    return at->hashes / 2 > ADDRESS_SECTORS;
}

ALWAYS_INLINE void paired_add_turn(const struct address *at, struct line_window window[2],
                                   const struct line_rule rules[2], uint64_t *words,
                                   const struct bloom_source *source, bool integers, size_t here,
                                   size_t next, size_t more)
{
    struct tepal_digest room[WINDOW];
    tepal_filter_request_keys(source, next);
    for (size_t j = 0; j < more; j++) {
        if (here > 0) {
            set_at(&window[0], j, &rules[0], words);
            set_at(&window[1], j, &rules[1], words);
        }
        struct tepal_digest d = digest_at(source, integers, next, more, j, room);
        ask(&window[0], j, &rules[0], first_line(&rules[0], d, PAIRED_MORE));
        ask(&window[1], j, &rules[1], second_line(at, &rules[1], d));
    }
    for (size_t j = more; j < here; j++) {
        set_at(&window[0], j, &rules[0], words);
        set_at(&window[1], j, &rules[1], words);
    }
}

ALWAYS_INLINE void paired_add(const struct address *at, uint64_t *words,
                              const struct bloom_source *source, size_t count, bool integers,
                              bool two)
{
    const struct line_rule rules[2] = {
        line_rule_of(at, words, (at->hashes + 1) / 2, two),
        line_rule_of(at, words, at->hashes / 2, two && second_has_two(at))};
    struct line_window window[2];
    size_t here = count < WINDOW ? count : WINDOW;
    paired_add_turn(at, window, rules, words, source, integers, 0, 0, here);
    for (size_t base = 0; base < count; base += here) {
        size_t more = next_group(count - base);
        here = count - base < WINDOW ? count - base : WINDOW;
        paired_add_turn(at, window, rules, words, source, integers, here, base + WINDOW, more);
    }
}

/* The keys of a group that passed their first lines, and their second lines. */
struct survivors {
    uint64_t answers; /* bit j: key j passed */
    struct line_window second;
};

/* Have the second lines brought. */
ALWAYS_INLINE void paired_survive(const struct address *at, const struct line_rule *second,
                                  struct survivors *keys, uint64_t answers,
                                  const struct tepal_digest *digests)
{
    size_t i = 0;
    keys->answers = answers;
    for (uint64_t left = answers; left != 0; left &= left - 1) {
        struct tepal_digest d = digests[__builtin_ctzll(left)];
        ask(&keys->second, i++, second, second_line(at, second, d));
    }
}

/* Ask them; a key that fails loses its answer bit. */
ALWAYS_INLINE uint64_t paired_settle(const struct line_rule *second, const struct survivors *keys)
{
    uint64_t answers = keys->answers;
    size_t i = 0;
    for (uint64_t left = answers; left != 0; left &= left - 1) {
        uint64_t no = !test_at(&keys->second, i++, second);
        answers &= ~(no << __builtin_ctzll(left));
    }
    return answers;
}

/* As blocked_turn. The digests of the keys asked for go to `digests`. */
ALWAYS_INLINE uint64_t paired_turn(struct line_window *window, const struct line_rule *first,
                                   const struct bloom_source *source, bool integers, size_t here,
                                   size_t next, size_t more, struct tepal_digest *digests)
{
    bool yes[WINDOW] = {false};
    tepal_filter_request_keys(source, next);
    for (size_t j = 0; j < more; j++) {
        yes[j] = here > 0 && test_at(window, j, first);
        digests[j] = digest_at(source, integers, next, more, j, digests);
        ask(window, j, first, first_line(first, digests[j], PAIRED_MORE));
    }
    for (size_t j = more; j < here; j++) {
        yes[j] = test_at(window, j, first);
    }
    return line_answers(yes);
}

ALWAYS_INLINE size_t paired_query(const struct address *at, const uint64_t *words,
                                  const struct bloom_source *source, size_t count,
                                  uint64_t *answers, bool integers, bool two)
{
    const struct line_rule first = line_rule_of(at, words, (at->hashes + 1) / 2, two);
    const struct line_rule second =
        line_rule_of(at, words, at->hashes / 2, two && second_has_two(at));
    struct line_window window;
    struct tepal_digest digests[2][WINDOW]; /* of this group and of the next, by turns */
    struct survivors survivors[2];          /* of this group and of the one before */
    size_t present = 0;
    size_t here = count < WINDOW ? count : WINDOW;
    (void)paired_turn(&window, &first, source, integers, 0, 0, here, digests[0]);
    for (size_t base = 0; base < count; base += here) {
        size_t now = base / WINDOW % 2;
        struct tepal_digest *next = digests[1 - now];
        size_t more = next_group(count - base);
        here = count - base < WINDOW ? count - base : WINDOW;
        uint64_t passed =
            paired_turn(&window, &first, source, integers, here, base + WINDOW, more, next);
        paired_survive(at, &second, &survivors[now], passed, digests[now]);
        if (base > 0) {
            answers[base / 64 - 1] = paired_settle(&second, &survivors[1 - now]);
            present += bits_count_word(answers[base / 64 - 1]);
        }
    }
    size_t last = (count - 1) / WINDOW;
    answers[last] = paired_settle(&second, &survivors[last % 2]);
    return present + bits_count_word(answers[last]);
}

/* ---- one loop for each layout, source of keys and number of rounds --------------------------- */

/* Integers that are placed by two rounds in two lines are rare, and have no loops of their own. */
#if defined(LINES_ONE_LOOP)
#define ARE_INTEGERS(source) false
#else
#define ARE_INTEGERS(source) (!DIGESTS_ALONE && (source)->form == BLOOM_INTEGERS)
#endif

static inline bool lines_two(const struct address *at)
{
    uint32_t lines = at->layout == TEPAL_LAYOUT_BLOCKED ? 1 : 2;
    return at->hashes > lines * ADDRESS_SECTORS;
}

#if !defined(LINES_DIGESTS_ALONE)

static void lines_add(const struct address *at, uint64_t *words, const struct bloom_source *source,
                      size_t count)
{
    const bool is_blocked = at->layout == TEPAL_LAYOUT_BLOCKED;
    const bool is_two = lines_two(at);
#define BLOCKED(two) blocked_add(at, words, source, count, false, two)
#define PAIRED(two)  paired_add(at, words, source, count, false, two)
    if (ARE_INTEGERS(source) && is_blocked && is_two) {
        blocked_add(at, words, source, count, true, true);
    } else if (ARE_INTEGERS(source) && is_blocked) {
        blocked_add(at, words, source, count, true, false);
    } else if (ARE_INTEGERS(source) && !is_two) {
        paired_add(at, words, source, count, true, false);
    } else if (is_blocked) {
        EITHER(is_two, BLOCKED);
    } else {
        EITHER(is_two, PAIRED);
    }
#undef BLOCKED
#undef PAIRED
}

#endif

static size_t lines_query(const struct address *at, const uint64_t *words,
                          const struct bloom_source *source, size_t count, uint64_t *answers)
{
    const bool is_blocked = at->layout == TEPAL_LAYOUT_BLOCKED;
    const bool is_two = lines_two(at);
    if (count == 0) {
        return 0;
    }
    if (ARE_INTEGERS(source) && (is_blocked || !is_two)) {
        return !is_blocked ? paired_query(at, words, source, count, answers, true, false)
               : is_two    ? blocked_query(at, words, source, count, answers, true, true)
                           : blocked_query(at, words, source, count, answers, true, false);
    }
#define BLOCKED(two) blocked_query(at, words, source, count, answers, false, two)
#define PAIRED(two)  paired_query(at, words, source, count, answers, false, two)
    return is_blocked ? EITHER(is_two, BLOCKED) : EITHER(is_two, PAIRED);
#undef BLOCKED
#undef PAIRED
}
