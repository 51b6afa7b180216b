/*
 * lines.h: the loops of the recycling filter on the blocked layout, written once;
 * included by each file that has defined the operations on a line (lines/line_*.h).
 *
 * A message has the same line in every phase, at the same distance from the phase's start, and the
 * same mask in it: one address, as many loads as there are phases, all requested at once. Messages
 * are taken in order, so that the answers are those of one by one; only the requests run ahead, and
 * these do not depend on which phase is active.
 */
#define AHEAD         32 /* messages whose lines are requested ahead */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

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

static struct recycling_rule rule_of(const struct tepal_recycling *r)
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

ALWAYS_INLINE struct line_mask mask_of(const struct message *m, bool two)
{
    struct line_mask mask = line_mask_of(m->cells[0]);
    return two ? line_mask_or(mask, line_mask_of(m->cells[1])) : mask;
}

ALWAYS_INLINE void request(const struct tepal_recycling *r, const struct message *m)
{
    const char *at = (const char *)r->head.words + m->offset;
    for (uint32_t phase = 0; phase < r->phases; phase++) {
        __builtin_prefetch(at);
        at += r->phase_words * 8;
    }
}

/* Does a phase other than `skip` hold it? All phases: skip = phases. */
ALWAYS_INLINE bool any_holds(const struct tepal_recycling *r, const struct message *m,
                             struct line_mask mask, uint64_t skip)
{
    const char *at = (const char *)r->head.words + m->offset;
    bool holds = false;
    for (uint32_t phase = 0; phase < r->phases; phase++) {
        holds |= phase != skip && line_holds(at, mask);
        at += r->phase_words * 8;
    }
    return holds;
}

ALWAYS_INLINE bool seen_line(struct tepal_recycling *r, struct tepal_digest digest,
                             const struct message *m, bool two)
{
    uint64_t *own = r->head.state.own;
    struct line_mask mask = mask_of(m, two);
    char *line = (char *)r->head.words + r->active * r->phase_words * 8 + m->offset;
    bool frozen = any_holds(r, m, mask, r->active);
    uint32_t missing = line_missing(line, mask, two);
    if (missing == 0) {
        return true;
    }
    if (!frozen) {
        recycling_miss(r);
    }
    uint64_t ones = own[STATE_ONES] + missing;
    if (!recycling_full(r, ones)) {
        line_set(line, mask);
        own[STATE_ONES] = ones;
        own[STATE_MESSAGES]++;
        if (ones > r->mark) {
            tepal_recycling_filled(r);
        }
        return frozen;
    }
    if (r->keep_trigger) {
        line_set(line, mask);
        own[STATE_ONES] = ones;
        own[STATE_MESSAGES]++;
    }
    tepal_recycling_trigger(r, digest);
    return frozen;
}

ALWAYS_INLINE size_t seen_lines(struct tepal_recycling *r, const struct tepal_digest *digests,
                                size_t count, uint64_t *answers, bool two)
{
    const struct recycling_rule rule = rule_of(r);
    struct message window[AHEAD];
    size_t seen = 0;
    for (size_t i = 0; i < count && i < AHEAD; i++) {
        window[i] = message_of(&rule, two, digests[i]);
        request(r, &window[i]);
    }
    for (size_t base = 0; base < count; base += 64) {
        size_t here = count - base < 64 ? count - base : 64;
        uint64_t answer = 0;
        for (size_t j = 0; j < here; j++) {
            size_t i = base + j;
            answer |= (uint64_t)seen_line(r, digests[i], &window[i % AHEAD], two) << j;
            if (i + AHEAD < count) {
                window[i % AHEAD] = message_of(&rule, two, digests[i + AHEAD]);
                request(r, &window[i % AHEAD]);
            }
        }
        answers[base / 64] = answer;
        seen += bits_count_word(answer);
    }
    return seen;
}

static size_t lines_seen(struct tepal_recycling *r, const struct tepal_digest *digests,
                         size_t count, uint64_t *answers)
{
    return r->at.hashes > ADDRESS_SECTORS ? seen_lines(r, digests, count, answers, true)
                                          : seen_lines(r, digests, count, answers, false);
}

ALWAYS_INLINE size_t query_lines(const struct tepal_recycling *r,
                                 const struct tepal_digest *digests, size_t count,
                                 uint64_t *answers, bool two)
{
    const struct recycling_rule rule = rule_of(r);
    const uint32_t all = r->phases;
    struct message window[AHEAD];
    size_t present = 0;
    for (size_t i = 0; i < count && i < AHEAD; i++) {
        window[i] = message_of(&rule, two, digests[i]);
        request(r, &window[i]);
    }
    for (size_t base = 0; base < count; base += 64) {
        size_t here = count - base < 64 ? count - base : 64;
        uint64_t answer = 0;
        for (size_t j = 0; j < here; j++) {
            struct message *m = &window[(base + j) % AHEAD];
            answer |= (uint64_t)any_holds(r, m, mask_of(m, two), all) << j;
            if (base + j + AHEAD < count) {
                *m = message_of(&rule, two, digests[base + j + AHEAD]);
                request(r, m);
            }
        }
        answers[base / 64] = answer;
        present += bits_count_word(answer);
    }
    return present;
}

static size_t lines_query(const struct tepal_recycling *r, const struct tepal_digest *digests,
                          size_t count, uint64_t *answers)
{
    return r->at.hashes > ADDRESS_SECTORS ? query_lines(r, digests, count, answers, true)
                                          : query_lines(r, digests, count, answers, false);
}

/* One message: the loads of all phases are under way together without being asked for ahead. */
static bool line_seen_one(struct tepal_recycling *r, struct tepal_digest d)
{
    const struct recycling_rule rule = rule_of(r);
    if (r->at.hashes > ADDRESS_SECTORS) {
        struct message m = message_of(&rule, true, d);
        return seen_line(r, d, &m, true);
    }
    struct message m = message_of(&rule, false, d);
    return seen_line(r, d, &m, false);
}

static bool line_query_one(const struct tepal_recycling *r, struct tepal_digest d)
{
    const struct recycling_rule rule = rule_of(r);
    bool two = r->at.hashes > ADDRESS_SECTORS;
    struct message m = message_of(&rule, two, d);
    return any_holds(r, &m, mask_of(&m, two), r->phases);
}
