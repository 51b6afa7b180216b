/*
 * query.h: queries to the fingerprint filter in plain C, of one key and of batches, and the count
 * of its fingerprints, included by the files that compile it for the baseline and for AVX2 (which
 * has a faster way for most batches and counts, and faster shifts for one key).
 *
 * Both buckets of key i + 64 are requested while those of key i are compared, four slots with one
 * subtraction. Nothing branches on what is found.
 */
#define WINDOW 64

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Where the buckets of the keys under way begin, in bits. */
struct query_window {
    uint64_t first[WINDOW];
    uint64_t second[WINDOW];
    uint64_t print[WINDOW];
};

ALWAYS_INLINE void query_ask(const struct fingerprint_table *t, struct query_window *window,
                             size_t slot, struct tepal_digest digest)
{
    struct fingerprint_place at = fingerprint_place_of(t, digest);
    window->first[slot] = fingerprint_start(t, at.bucket);
    window->second[slot] = fingerprint_start(t, at.other);
    window->print[slot] = at.print;
    fingerprint_prefetch(t, window->first[slot]);
    fingerprint_prefetch(t, window->second[slot]);
}

ALWAYS_INLINE uint64_t query_test(const struct fingerprint_table *t, bool narrow,
                                  const struct query_window *window, size_t slot)
{
    uint64_t match = fingerprint_match(t, narrow, window->first[slot], window->print[slot]) |
                     fingerprint_match(t, narrow, window->second[slot], window->print[slot]);
    return match != 0;
}

ALWAYS_INLINE size_t query_loop(const struct fingerprint_table *table, bool narrow,
                                const struct tepal_digest *digests, size_t count, uint64_t *answers)
{
    const struct fingerprint_table t = *table; /* nobody else can change this one */
    struct query_window window;
    size_t present = 0;
    for (size_t i = 0; i < (count < WINDOW ? count : WINDOW); i++) {
        query_ask(&t, &window, i, digests[i]);
    }
    for (size_t base = 0; base < count; base += WINDOW) {
        size_t here = count - base < WINDOW ? count - base : WINDOW;
        size_t more = count - base - here < WINDOW ? count - base - here : WINDOW;
        uint64_t answer = 0;
        for (size_t j = 0; j < more; j++) {
            answer |= query_test(&t, narrow, &window, j) << j;
            query_ask(&t, &window, j, digests[base + WINDOW + j]);
        }
        for (size_t j = more; j < here; j++) {
            answer |= query_test(&t, narrow, &window, j) << j;
        }
        answers[base / 64] = answer;
        present += bits_count_word(answer);
    }
    return present;
}

static size_t query_batch(const struct fingerprint_table *t, const struct tepal_digest *digests,
                          size_t count, uint64_t *answers)
{
    return t->bits <= FINGERPRINT_NARROW ? query_loop(t, true, digests, count, answers)
                                         : query_loop(t, false, digests, count, answers);
}

/*
 * One key, in a table of each width. Slots of an even number of bits make a bucket of whole bytes:
 * eight are read and compared as they are (tepal/inline.h).
 */
ALWAYS_INLINE bool query_one(const struct tepal_filter *filter, enum fingerprint_width width,
                             struct tepal_digest digest)
{
    const struct tepal_fingerprint *self = (const struct tepal_fingerprint *)filter;
    if (width == FINGERPRINT_BYTES) {
        return tepal_direct_fingerprint_query(&self->direct, digest);
    }
    const struct fingerprint_table *t = &self->at;
    struct fingerprint_place at = fingerprint_place_of(t, digest);
    bool narrow = width == FINGERPRINT_BITS;
    return (fingerprint_match(t, narrow, fingerprint_start(t, at.bucket), at.print) |
            fingerprint_match(t, narrow, fingerprint_start(t, at.other), at.print)) != 0;
}

#define ONE(name, width)                                                                           \
    static bool name(const struct tepal_filter *filter, struct tepal_digest digest)                \
    {                                                                                              \
        return query_one(filter, width, digest);                                                   \
    }                                                                                              \
    static bool name##_u64(const struct tepal_filter *filter, uint64_t key)                        \
    {                                                                                              \
        const struct tepal_fingerprint *self = (const struct tepal_fingerprint *)filter;           \
        return query_one(filter, width, tepal_direct_digest(&self->direct, key));                  \
    }

ONE(one_bytes, FINGERPRINT_BYTES)
ONE(one_bits, FINGERPRINT_BITS)
ONE(one_wide, FINGERPRINT_WIDE)

#define ONE_TABLE                                                                                  \
    {                                                                                              \
        [FINGERPRINT_BYTES] = {one_bytes, one_bytes_u64},                                          \
        [FINGERPRINT_BITS] = {one_bits, one_bits_u64},                                             \
        [FINGERPRINT_WIDE] = {one_wide, one_wide_u64},                                             \
    }

/* ---- slots that are taken -------------------------------------------------------------------- */

/* 1 in every slot of these that holds something: a carry into its highest bit, or that bit. */
static inline uint64_t held_in(const struct fingerprint_table *t, uint64_t word)
{
    uint64_t carry = (word & (t->highs - t->lanes)) + (t->highs - t->lanes);
    return ((word | carry) & t->highs) >> (t->bits - 1);
}

static inline uint64_t held_sum(const struct fingerprint_table *t, uint64_t sums)
{
    uint64_t held = 0;
    for (uint32_t slot = 0; slot < FINGERPRINT_SLOTS && slot * t->bits < 64; slot++) {
        held += sums >> slot * t->bits & t->values;
    }
    return held;
}

/* From this bucket on. Flags are added side by side, for as many buckets as a slot can count. */
static uint64_t held_from(const struct fingerprint_table *table, uint64_t first)
{
    const struct fingerprint_table t = *table;
    const uint64_t most = t.values / 2; /* wide: two flags of a bucket go to a slot */
    uint64_t held = 0;
    for (; first < t.buckets; first += most) {
        uint64_t end = t.buckets - first < most ? t.buckets : first + most;
        uint64_t sums = 0;
        for (uint64_t at = fingerprint_start(&t, first); at < fingerprint_start(&t, end);
             at += FINGERPRINT_SLOTS * t.bits) {
            sums += t.bits <= FINGERPRINT_NARROW
                        ? held_in(&t, fingerprint_read_bucket(t.words, at))
                        : held_in(&t, fingerprint_read(t.words, at)) +
                              held_in(&t, fingerprint_read(t.words, at + 2 * t.bits));
        }
        held += held_sum(&t, sums);
    }
    return held;
}
