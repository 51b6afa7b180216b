/*
 * lines.h: the loops of the recycling filter on the blocked layout, written once;
 * included by each file that has defined the operations on a line (lines/line_*.h).
 *
 * A message has the same line in every phase, at the same distance from the phase's start, and the
 * same mask in it: one address, as many loads as there are phases, all requested at once. Messages
 * are taken in order, so that the answers are those of one by one; only the requests run ahead, and
 * these do not depend on which phase is active.
 *
 * Beside those, the includer has line_shared(line, mask, other, two): how many bits of the mask are
 * not set in the line and set in the other; line_two(r): has the filter two rounds of cells? It
 * also has what notes.h has: line_places, which places eight messages at once if it can, PLACE_EACH
 * for what it cannot, and how a group of messages is noted.
 */
#include "filter/lines/either.h"
#include "filter/recycling/average.h"

#define AHEAD         128 /* messages whose lines are requested ahead: whole groups */
#define PLACED        8   /* so many are placed together */
#define WINDOW        (2 * AHEAD)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define ONCE_A_GROUP  static __attribute__((noinline)) /* a copy for all loops */

struct message {
    size_t offset; /* of the line in each phase, in bytes */
    uint64_t cells[2];
};

/* What is the same for all messages of a batch. */
struct recycling_rule {
    uint64_t lines;
    const uint64_t *subsets;
    uint64_t ways;
    bool distinct;
};

static struct recycling_rule message_rule(const struct tepal_recycling *r)
{
    uint32_t chosen = address_chosen(r->at.hashes);
    return (struct recycling_rule){r->at.lines, tepal_address_subsets[chosen],
                                   tepal_address_subset_count[chosen],
                                   r->at.positions == TEPAL_POSITIONS_DISTINCT};
}

ALWAYS_INLINE struct message message_of(const struct recycling_rule *rule, bool two,
                                        struct tepal_digest d)
{
    struct address_cells cells =
        address_line_cells(two, address_sectors(rule->subsets, rule->ways, d.hi), rule->distinct,
                           63 * ADDRESS_BYTES, d.lo, two ? address_word(d, 2) : 0);
    return (struct message){(size_t)wide_scale(d.hi, rule->lines) * (ADDRESS_SECTORS * 8),
                            {cells.round[0], cells.round[1]}};
}

ALWAYS_INLINE struct line_mask message_mask(const struct message *m, bool two)
{
    struct line_mask mask = line_mask_of(m->cells[0]);
    return two ? line_mask_or(mask, line_mask_of(m->cells[1])) : mask;
}

/* Where the phases are: constants of a batch, but for `active`. */
struct phases {
    char *words; /* of the first */
    size_t bytes;
    uint32_t count;
    uint32_t active;
};

ALWAYS_INLINE struct phases phases_of(const struct tepal_recycling *r)
{
    return (struct phases){(char *)r->head.words, r->phase_words * 8, r->phases,
                           (uint32_t)r->active};
}

ALWAYS_INLINE void request_lines(const struct phases *p, size_t offset)
{
    const char *at = p->words + offset;
    __builtin_prefetch(at);
    if (p->count == 2) {
        __builtin_prefetch(at + p->bytes);
        return;
    }
    for (uint32_t phase = 1; phase < p->count; phase++) {
        at += p->bytes;
        __builtin_prefetch(at);
    }
}

/* Does a phase other than `skip` hold it? All phases: skip = count. */
ALWAYS_INLINE bool any_holds(const struct phases *p, const struct message *m, struct line_mask mask,
                             uint32_t skip)
{
    const char *at = p->words + m->offset;
    if (p->count == 2) { /* the common case, without a loop */
        return skip == 2 ? (int)line_holds(at, mask) | line_holds(at + p->bytes, mask)
                         : line_holds(skip == 0 ? at + p->bytes : at, mask);
    }
    bool holds = false;
    for (uint32_t phase = 0; phase < p->count; phase++) {
        holds |= phase != skip && line_holds(at, mask);
        at += p->bytes;
    }
    return holds;
}

/*
 * What a message changes, held here while a batch lasts and given back for whatever is not the
 * common case: a phase that is full, or as full as somebody has to look (`mark`).
 */
struct tally {
    struct phases phases;
    uint64_t ones;
    uint64_t messages;
    uint64_t fresh;
    double expected;
    double odds;
    uint64_t mark;
    uint64_t most_ones;     /* by sigma */
    uint64_t most_messages; /* by count */
    struct average_run average;
};

ALWAYS_INLINE void tally_load(struct tepal_recycling *r, struct tally *t, bool average)
{
    const uint64_t *own = r->head.state.own;
    t->phases = phases_of(r);
    t->ones = own[STATE_ONES];
    t->messages = own[STATE_MESSAGES];
    t->fresh = own[STATE_FRESH];
    t->expected = recycling_expected(r);
    t->odds = r->odds;
    t->mark = r->mark;
    t->most_ones = r->rule == TEPAL_RECYCLING_SIGMA ? r->limit : UINT64_MAX;
    t->most_messages = r->rule == TEPAL_RECYCLING_COUNT ? r->limit : UINT64_MAX;
    if (average) {
        tepal_average_load(r, &t->average);
    }
}

ALWAYS_INLINE void tally_store(struct tepal_recycling *r, const struct tally *t, bool average)
{
    uint64_t *own = r->head.state.own;
    own[STATE_ONES] = t->ones;
    own[STATE_MESSAGES] = t->messages;
    own[STATE_FRESH] = t->fresh;
    memcpy(&own[STATE_EXPECTED], &t->expected, sizeof t->expected);
    if (average) {
        tepal_average_store(r, &t->average);
    }
}

/* The phase is full: turn, as the filter does it for one message. */
ALWAYS_INLINE void turn(struct tepal_recycling *r, struct tally *t, struct tepal_digest digest,
                        char *line, struct line_mask mask, uint32_t missing, bool average)
{
    if (r->keep_trigger) {
        line_set(line, mask);
        t->ones += missing;
        t->messages++;
    }
    tally_store(r, t, average);
    tepal_recycling_trigger(r, digest);
    tally_load(r, t, average);
}

/* By average: may this message be inserted? Most are known not to be the trigger. */
ALWAYS_INLINE bool average_fits(struct tepal_recycling *r, struct tally *t, uint32_t missing)
{
    if (t->average.safe > 0) {
        t->average.safe--;
        return true;
    }
    tally_store(r, t, true);
    bool full = tepal_average_full(r, t->ones + missing);
    t->average.safe = r->average.safe;
    return !full;
}

/* One message by itself: a function for all, for it is rare in batches. */
ONCE_A_GROUP bool seen_line(struct tepal_recycling *r, struct tally *t, struct tepal_digest digest,
                            const struct message *m, bool two, bool average)
{
    struct line_mask mask = message_mask(m, two);
    char *line = t->phases.words + t->phases.active * t->phases.bytes + m->offset;
    bool frozen = any_holds(&t->phases, m, mask, t->phases.active);
    uint32_t missing = line_missing(line, mask, two);
    bool seen = frozen || missing == 0;
    t->fresh += !seen;
    t->expected += seen ? 0 : t->odds;
    if (average) {
        average_arrives(&t->average);
        if (!average_fits(r, t, missing)) {
            turn(r, t, digest, line, mask, missing, true);
            return seen;
        }
    }
    if (missing == 0) {
        return true;
    }
    if (!average && (t->ones + missing > t->most_ones || t->messages >= t->most_messages)) {
        turn(r, t, digest, line, mask, missing, false);
        return seen;
    }
    t->ones += missing;
    t->messages++;
    if (average) {
        uint32_t newest = t->phases.active == 0 ? t->phases.count - 1 : t->phases.active - 1;
        const char *other = t->phases.words + newest * t->phases.bytes + m->offset;
        average_took(r, &t->average, t->ones, line_shared(line, mask, other, two));
    }
    line_set(line, mask);
    if (!average && t->ones > t->mark) {
        tally_store(r, t, false);
        tepal_recycling_filled(r);
        t->odds = r->odds;
        t->mark = r->mark;
    }
    return seen;
}

/* The batch at hand, and the window of its messages that are placed. */
struct batch {
    struct recycling_rule rule;
    struct line_placer placer;
    struct bloom_source source;
    size_t count;
    uint64_t offset[WINDOW] __attribute__((aligned(64)));
    uint64_t cells[2][WINDOW];
};

ALWAYS_INLINE struct message message_at(const struct batch *b, size_t i, bool two)
{
    return (struct message){(size_t)b->offset[i % WINDOW],
                            {b->cells[0][i % WINDOW], two ? b->cells[1][i % WINDOW] : 0}};
}

/* One by one. */
PLACE_EACH void place_each(struct batch *b, size_t first, size_t end, bool two)
{
    for (size_t i = first; i < end; i++) {
        struct message m = message_of(&b->rule, two, b->source.digests[i]);
        b->offset[i % WINDOW] = m.offset;
        b->cells[0][i % WINDOW] = m.cells[0];
        b->cells[1][i % WINDOW] = m.cells[1];
    }
}

/* Place the next eight messages, or as many as there are. */
ALWAYS_INLINE void place_messages(struct batch *b, size_t first, bool two)
{
    size_t end = b->count - first < PLACED ? b->count : first + PLACED;
    if (first >= b->count ||
        (!two && end == first + PLACED &&
         line_places(&b->placer, b->source.digests + first, b->offset + first % WINDOW,
                     b->cells[0] + first % WINDOW))) {
        return;
    }
    place_each(b, first, end, two);
}

ALWAYS_INLINE void request_at(const struct batch *b, const struct phases *p, size_t i)
{
    if (i < b->count) {
        request_lines(p, (size_t)b->offset[i % WINDOW]);
    }
}

/* The first messages of a batch. */
ONCE_A_GROUP void begin(struct batch *b, const struct tepal_recycling *r,
                        const struct tepal_digest *digests, size_t count, bool two)
{
    const struct phases phases = phases_of(r);
    b->rule = message_rule(r);
    b->placer = placer_of(&r->at);
    b->source = (struct bloom_source){.form = BLOOM_DIGESTS, .digests = digests};
    b->count = count;
    for (size_t i = 0; i < AHEAD && i < count; i += PLACED) {
        place_messages(b, i, two);
        for (size_t j = i; j < i + PLACED; j++) {
            request_at(b, &phases, j);
        }
    }
}

/* Is none of the next 64 messages the trigger, and has nobody to look after one of them? */
ALWAYS_INLINE bool is_calm(const struct tepal_recycling *r, const struct tally *t, bool average)
{
    return average ? t->average.safe >= 64 && r->head.params.cells < (uint64_t)1 << 53
                   : t->ones + (uint64_t)64 * r->at.hashes <= t->mark &&
                         t->messages + 64 <= t->most_messages;
}

/*
 * `sum` after `times` additions of `step`, which is positive, as they are rounded one by one. While
 * the exponent stays the same, sums are multiples of one unit and each addition comes to the same
 * number of units: after the first, even a tie does, as the sum is even then and stays so.
 */
ONCE_A_GROUP double added_often(double sum, double step, uint32_t times)
{
    const double first = times == 0 ? sum : sum + step;
    const uint32_t others = times == 0 ? 0 : times - 1;
    const double last = first + others * ((first + step) - first);
    uint64_t bits[2];
    memcpy(&bits[0], &sum, sizeof sum);
    memcpy(&bits[1], &last, sizeof last);
    if (bits[0] >> 52 == bits[1] >> 52) {
        return last;
    }
    for (; times > 0; times--) {
        sum += step;
    }
    return sum;
}

/*
 * 64 calm messages: nothing is asked between one and the next, and what is added up is added up
 * afterwards, for all of them. `pair`: are there two phases? A constant for messages of one round,
 * which is usual; others ask.
 */
ALWAYS_INLINE uint64_t seen_calm(struct tepal_recycling *r, struct tally *t, struct batch *b,
                                 size_t base, bool two, bool average, bool pair)
{
    struct phases phases = t->phases;
    phases.count = pair ? 2 : phases.count;
    const uint32_t newest = phases.active == 0 ? phases.count - 1 : phases.active - 1;
    char *const active = phases.words + phases.active * phases.bytes;
    const char *const other = phases.words + newest * phases.bytes;
    struct line_notes notes;
    notes_begin(&notes);
    for (size_t s = 0; s < 64; s += PLACED) {
        place_messages(b, base + s + AHEAD, two);
        for (size_t j = s; j < s + PLACED; j++) {
            const struct message m = message_at(b, base + j, two);
            const struct line_mask mask = message_mask(&m, two);
            char *line = active + m.offset;
            if (average) {
                note_shared(&notes, j, line, mask, other + m.offset, two);
            }
            line_lack lack = line_lacks(line, mask, two);
            line_lack others = pair ? line_refuses(other + m.offset, mask)
                                    : !any_holds(&phases, &m, mask, phases.active);
            line_set(line, mask);
            note(&notes, j, lack, others);
            request_at(b, &phases, base + j + AHEAD);
        }
    }
    const struct line_sums sums = notes_end(&notes);
    const uint32_t fresh = 64 - bits_count_word(sums.seen);
    t->fresh += fresh;
    t->expected = added_often(t->expected, t->odds, fresh);
    t->messages += sums.messages;
    if (average) {
        struct average_group group;
        notes_group(&notes, &group);
        average_group(r, &t->average, &group, t->ones);
    }
    t->ones += sums.ones;
    return sums.seen;
}

ONCE_A_GROUP uint64_t seen_each(struct tepal_recycling *r, struct tally *t, struct batch *b,
                                size_t base, size_t here, bool two, bool average)
{
    uint64_t answer = 0;
    for (size_t i = base; i < base + here; i++) {
        if (i % PLACED == 0) {
            place_messages(b, i + AHEAD, two);
        }
        const struct message m = message_at(b, i, two);
        bool seen = seen_line(r, t, b->source.digests[i], &m, two, average);
        answer |= (uint64_t)seen << (i - base);
        request_at(b, &t->phases, i + AHEAD);
    }
    return answer;
}

ALWAYS_INLINE size_t seen_lines(struct tepal_recycling *r, const struct tepal_digest *digests,
                                size_t count, uint64_t *answers, bool two, bool average)
{
    struct batch b;
    struct tally t;
    size_t seen = 0;
    t.average.active.step = RATE_STEPS;
    t.average.shared.step = RATE_STEPS;
    tally_load(r, &t, average);
    begin(&b, r, digests, count, two);
    for (size_t base = 0; base < count; base += 64) {
        size_t here = count - base < 64 ? count - base : 64;
        tepal_filter_request_keys(&b.source, base + AHEAD);
        uint64_t answer;
#define CALM(pair) seen_calm(r, &t, &b, base, two, average, pair)
        if (here < 64 || !is_calm(r, &t, average)) {
            answer = seen_each(r, &t, &b, base, here, two, average);
        } else {
            answer = EITHER(!two && t.phases.count == 2, CALM);
        }
#undef CALM
        answers[base / 64] = answer;
        seen += bits_count_word(answer);
    }
    tally_store(r, &t, average);
    return seen;
}

/* Where counting may end the account is kept one by one. */
static bool account_ends(const struct tepal_recycling *r, size_t count)
{
    return r->average.arrivals > RECYCLING_MOST - count;
}

ALWAYS_INLINE size_t seen_by_rule(struct tepal_recycling *r, const struct tepal_digest *digests,
                                  size_t count, uint64_t *answers, bool two)
{
#define SEEN(average) seen_lines(r, digests, count, answers, two, average)
    return EITHER(r->rule == TEPAL_RECYCLING_AVERAGE, SEEN);
#undef SEEN
}

static size_t lines_seen(struct tepal_recycling *r, const struct tepal_digest *digests,
                         size_t count, uint64_t *answers)
{
    size_t seen = 0;
    if (r->rule != TEPAL_RECYCLING_AVERAGE || !account_ends(r, count)) {
#define SEEN(two) seen_by_rule(r, digests, count, answers, two)
        return EITHER(line_two(r), SEEN);
#undef SEEN
    }
    for (size_t i = 0; i < count; i++) {
        bool yes = tepal_recycling_seen_one(r, digests[i]);
        answers[i / 64] = (i % 64 == 0 ? 0 : answers[i / 64]) | (uint64_t)yes << (i % 64);
        seen += yes;
    }
    return seen;
}

ALWAYS_INLINE size_t query_lines(const struct tepal_recycling *r,
                                 const struct tepal_digest *digests, size_t count,
                                 uint64_t *answers, bool two)
{
    const struct phases phases = phases_of(r);
    struct batch b;
    size_t present = 0;
    begin(&b, r, digests, count, two);
    for (size_t base = 0; base < count; base += 64) {
        size_t here = count - base < 64 ? count - base : 64;
        tepal_filter_request_keys(&b.source, base + AHEAD);
        uint64_t answer = 0;
        for (size_t j = 0; j < here; j++) {
            if (j % PLACED == 0) {
                place_messages(&b, base + j + AHEAD, two);
            }
            const struct message m = message_at(&b, base + j, two);
            answer |= (uint64_t)any_holds(&phases, &m, message_mask(&m, two), phases.count) << j;
            request_at(&b, &phases, base + j + AHEAD);
        }
        answers[base / 64] = answer;
        present += bits_count_word(answer);
    }
    return present;
}

static size_t lines_query(const struct tepal_recycling *r, const struct tepal_digest *digests,
                          size_t count, uint64_t *answers)
{
#define QUERY(two) query_lines(r, digests, count, answers, two)
    return EITHER(line_two(r), QUERY);
#undef QUERY
}

/* One message: the loads of all phases are under way together without being asked for ahead. */
static bool line_seen_one(struct tepal_recycling *r, struct tepal_digest d)
{
    const bool average = r->rule == TEPAL_RECYCLING_AVERAGE;
    const bool two = line_two(r);
    if (average && account_ends(r, 1)) {
        return tepal_recycling_seen_one(r, d);
    }
    const struct recycling_rule rule = message_rule(r);
    const struct message m = message_of(&rule, two, d);
    struct tally t;
    t.average.active.step = RATE_STEPS;
    t.average.shared.step = RATE_STEPS;
    tally_load(r, &t, average);
    bool seen = seen_line(r, &t, d, &m, two, average);
    tally_store(r, &t, average);
    return seen;
}

static bool line_query_one(const struct tepal_recycling *r, struct tepal_digest d)
{
    const struct recycling_rule rule = message_rule(r);
    const struct phases phases = phases_of(r);
    bool two = line_two(r);
    struct message m = message_of(&rule, two, d);
    return any_holds(&phases, &m, message_mask(&m, two), phases.count);
}
