/*
 * yesno.c: the yes-no Bloom filter as a kind of filter (L. Carrea, A. Vernitski and M. Reed, Yes-no
 * Bloom filter: a way of representing sets with fewer false positives, 2016).
 *
 *      <------------ p ------------> <--- q ---> <--- q ---> <--- q --->
 *     | yes-filter of the members   | no-filter | no-filter | no-filter |    m = p + r q bits
 *           k hashes                   k' hashes each: false positives of the yes-filter
 *
 *     present = in the yes-filter and in none of the no-filters
 *
 * Invariants: bits beyond the last cell are zero; no member is in a no-filter, save as many as the
 * builder was allowed to give up (state YESNO_LOST). An addition keeps it so: it clears a bit in
 * every no-filter that would veto the new key. With r = 0 this is the Bloom filter, bit by bit.
 *
 * How the no-filters are filled is in build.c and the files that internal.h names.
 */
#include "filter/yesno/internal.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/report.h"
#include "filter/bloom/internal.h"
#include "filter/known/known.h"

static struct tepal_yesno *yesno_of(struct tepal_filter *filter)
{
    return (struct tepal_yesno *)filter;
}

static const struct tepal_yesno *yesno_of_const(const struct tepal_filter *filter)
{
    return (const struct tepal_yesno *)filter;
}

static void yesno_open(struct tepal_filter *filter)
{
    struct tepal_yesno *yesno = yesno_of(filter);
    struct tepal_params part = filter->params;
    part.cells = params_yes_bits(&filter->params);
    yesno->yes = tepal_address_of(&part, 1);
    yesno->kernels = tepal_bloom_dispatch(part.layout);
    yesno->filters = (uint32_t)part.yesno.no_filters;
    yesno->own_seeds = part.yesno.own_seeds != 0;
    yesno->salt = part.yesno.salt;
    part.layout = TEPAL_LAYOUT_FLAT;
    part.cells = part.yesno.no_bits;
    part.hashes = (uint32_t)part.yesno.no_hashes;
    yesno->no = tepal_address_of(&part, 1);
}

/* ---- one key --------------------------------------------------------------------------------- */

/*
 * A no-filter is half full, so that a loop over the bits ends anywhere, and every time to the
 * processor's surprise. Four at once leave one key in sixteen to look further.
 */
bool tepal_yesno_holds(const struct address *at, const uint64_t *words, uint64_t start,
                       struct tepal_digest d)
{
    if (at->layout == TEPAL_LAYOUT_FLAT && at->positions == TEPAL_POSITIONS_COLLIDING) {
        uint32_t together = at->hashes < 4 ? at->hashes : 4;
        bool all = true;
        for (uint32_t i = 0; i < together; i++) {
            all &= bits_test(words, start + wide_scale(address_word(d, i), at->cells));
        }
        for (uint32_t i = together; all && i < at->hashes; i++) {
            all = bits_test(words, start + wide_scale(address_word(d, i), at->cells));
        }
        return all;
    }
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(at, d, positions);
    for (uint32_t i = 0; i < k; i++) {
        if (!bits_test(words, start + positions[i])) {
            return false;
        }
    }
    return true;
}

/* The first bit of no-filter j. */
static uint64_t no_start(const struct tepal_yesno *yesno, uint32_t j)
{
    return yesno->yes.cells + j * yesno->no.cells;
}

static struct tepal_digest no_digest(const struct tepal_yesno *yesno, uint32_t j,
                                     struct tepal_digest d)
{
    return yesno_no_digest(yesno->salt, yesno->own_seeds, j, d);
}

static bool vetoed(const struct tepal_yesno *yesno, struct tepal_digest d)
{
    for (uint32_t j = 0; j < yesno->filters; j++) {
        if (tepal_yesno_holds(&yesno->no, yesno->head.words, no_start(yesno, j),
                              no_digest(yesno, j, d))) {
            return true;
        }
    }
    return false;
}

static bool accepted(const struct tepal_yesno *yesno, struct tepal_digest d)
{
    return tepal_yesno_holds(&yesno->yes, yesno->head.words, 0, yesno_yes_digest(yesno->salt, d));
}

static bool yesno_query(const struct tepal_filter *filter, struct tepal_digest digest)
{
    const struct tepal_yesno *yesno = yesno_of_const(filter);
    return accepted(yesno, digest) && !vetoed(yesno, digest);
}

bool tepal_yesno_query_yes(const struct tepal_filter *filter, struct tepal_digest digest)
{
    return filter->ops == &tepal_yesno_ops ? accepted(yesno_of_const(filter), digest)
                                           : tepal_filter_query(filter, digest);
}

static void set_all(const struct address *at, uint64_t *words, uint64_t start,
                    struct tepal_digest d)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(at, d, positions);
    for (uint32_t i = 0; i < k; i++) {
        bits_set(words, start + positions[i]);
    }
}

void tepal_yesno_mask(const struct tepal_params *params, struct tepal_digest digest, uint64_t *mask)
{
    struct tepal_yesno alone = {.head = {.params = *params, .words = mask}};
    yesno_open(&alone.head);
    memset(mask, 0, (size_t)tepal_params_cell_bytes(params));
    set_all(&alone.yes, mask, 0, yesno_yes_digest(alone.salt, digest));
    for (uint32_t j = 0; j < alone.filters; j++) {
        set_all(&alone.no, mask, no_start(&alone, j), no_digest(&alone, j, digest));
    }
}

/* ---- many keys ------------------------------------------------------------------------------- */

/*
 * A chunk at a time: the yes-filter's kernel answers for all, then those that it found ask the
 * no-filters. These are small beside the yes-filter, and half empty: one or two bits settle it, and
 * the first line of each is on its way while the others' answers are read.
 */
#define CHUNK BLOOM_PART_KEYS

/* No-filters of so many bits in all are in the cache, and need not be requested. */
#define CACHED_BITS ((uint64_t)1 << 21)

uint32_t tepal_yesno_inside(const struct tepal_yesno *yesno, const uint64_t *words, uint64_t start,
                            uint32_t j, const struct tepal_digest *digests, const uint16_t *listed,
                            uint32_t count, uint16_t *stay)
{
    if (yesno->no.positions == TEPAL_POSITIONS_COLLIDING) {
        struct bloom_part part = {&yesno->no, words, start,
                                  yesno_no_number(yesno->salt, yesno->own_seeds, j)};
        return tepal_bloom_dispatch(TEPAL_LAYOUT_FLAT)->inside(&part, digests, listed, count, stay);
    }
    uint32_t in = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint16_t key = listed[n];
        stay[in] = key;
        in += tepal_yesno_holds(&yesno->no, words, start, no_digest(yesno, j, digests[key]));
    }
    return in;
}

static size_t veto_chunk(const struct tepal_yesno *yesno, const struct tepal_digest *digests,
                         size_t count, uint64_t *answers)
{
    uint16_t found[CHUNK];
    const uint32_t in_yes = bloom_list(answers, count, found);
    bool far = yesno->filters * yesno->no.cells > CACHED_BITS;
    for (uint32_t j = 0; far && j < (yesno->own_seeds ? yesno->filters : 1); j++) {
        for (uint32_t i = 0; i < in_yes; i++) {
            uint64_t first = no_digest(yesno, j, digests[found[i]]).hi;
            bits_prefetch(yesno->head.words,
                          no_start(yesno, j) + wide_scale(first, yesno->no.cells));
        }
    }
    for (uint32_t j = 0; j < yesno->filters; j++) {
        uint16_t stay[CHUNK];
        uint32_t in = tepal_yesno_inside(yesno, yesno->head.words, no_start(yesno, j), j, digests,
                                         found, in_yes, stay);
        for (uint32_t n = 0; n < in; n++) {
            bits_clear(answers, stay[n]);
        }
    }
    return (size_t)tepal_bits_count(answers, (count + 63) / 64);
}

/* The yes-filter wants digests salted, so many at a time. Returns how many were. */
#define SALTED 256

static size_t salt(const struct tepal_yesno *yesno, const struct tepal_digest *digests,
                   size_t count, struct tepal_digest *salted)
{
    const size_t here = count < SALTED ? count : SALTED;
    for (size_t i = 0; i < here; i++) {
        salted[i] = yesno_yes_digest(yesno->salt, digests[i]);
    }
    return here;
}

static size_t ask_yes(const struct tepal_yesno *yesno, const struct tepal_digest *digests,
                      size_t count, uint64_t *answers)
{
    struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = digests};
    if (yesno->salt == 0) {
        return yesno->kernels->query(&yesno->yes, yesno->head.words, &source, count, answers);
    }
    struct tepal_digest salted[SALTED];
    size_t present = 0;
    source.digests = salted;
    for (size_t first = 0; first < count; first += SALTED) {
        size_t here = salt(yesno, digests + first, count - first, salted);
        present += yesno->kernels->query(&yesno->yes, yesno->head.words, &source, here,
                                         answers + first / 64);
    }
    return present;
}

static void add_yes(struct tepal_yesno *yesno, const struct tepal_digest *digests, size_t count)
{
    struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = digests};
    if (yesno->salt == 0) {
        yesno->kernels->add(&yesno->yes, yesno->head.words, &source, count);
        return;
    }
    struct tepal_digest salted[SALTED];
    source.digests = salted;
    for (size_t first = 0; first < count; first += SALTED) {
        size_t here = salt(yesno, digests + first, count - first, salted);
        yesno->kernels->add(&yesno->yes, yesno->head.words, &source, here);
    }
}

static size_t ask(const struct tepal_yesno *yesno, const struct tepal_digest *digests, size_t count,
                  bool veto, uint64_t *answers)
{
    size_t present = 0;
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t here = count - first < CHUNK ? count - first : CHUNK;
        uint64_t *to = answers + first / 64;
        size_t found = ask_yes(yesno, digests + first, here, to);
        present += veto && found > 0 ? veto_chunk(yesno, digests + first, here, to) : found;
    }
    return present;
}

size_t tepal_yesno_query_yes_many(const struct tepal_yesno *yesno,
                                  const struct tepal_digest *digests, size_t count,
                                  uint64_t *answers)
{
    return ask(yesno, digests, count, false, answers);
}

static size_t yesno_query_many(const struct tepal_filter *filter,
                               const struct tepal_digest *digests, size_t count, uint64_t *answers)
{
    const struct tepal_yesno *yesno = yesno_of_const(filter);
    return ask(yesno, digests, count, yesno->filters > 0, answers);
}

/* ---- additions ------------------------------------------------------------------------------- */

/* Clear a bit of the key in no-filter j if that has all of them. */
static void undo_veto(struct tepal_yesno *yesno, uint32_t j, struct tepal_digest digest)
{
    struct tepal_filter *head = &yesno->head;
    struct tepal_digest d = no_digest(yesno, j, digest);
    if (tepal_yesno_holds(&yesno->no, head->words, no_start(yesno, j), d)) {
        bits_clear(head->words,
                   no_start(yesno, j) + wide_scale(address_word(d, 0), yesno->no.cells));
        head->state.own[YESNO_UNDONE] = saturating_add(head->state.own[YESNO_UNDONE], 1);
    }
}

/* The same in all of them, for up to a chunk: few keys have all their bits even before. */
static void undo_vetoes(struct tepal_yesno *yesno, const struct tepal_digest *digests, size_t count)
{
    uint16_t all[CHUNK];
    for (size_t i = 0; i < count; i++) {
        all[i] = (uint16_t)i;
    }
    for (uint32_t j = 0; j < yesno->filters; j++) {
        uint16_t in[CHUNK];
        uint32_t found = tepal_yesno_inside(yesno, yesno->head.words, no_start(yesno, j), j,
                                            digests, all, (uint32_t)count, in);
        for (uint32_t i = 0; i < found; i++) {
            undo_veto(yesno, j, digests[in[i]]);
        }
    }
}

/*
 * Setting bits of the yes-filter takes no member away, and clearing one of a no-filter takes away
 * none either: after this the keys are found, and whoever was found still is.
 */
static enum tepal_status yesno_add_many(struct tepal_filter *filter,
                                        const struct tepal_digest *digests, size_t count)
{
    struct tepal_yesno *yesno = yesno_of(filter);
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t here = count - first < CHUNK ? count - first : CHUNK;
        add_yes(yesno, digests + first, here);
        undo_vetoes(yesno, digests + first, here);
    }
    filter_count_keys(filter, count);
    return TEPAL_OK;
}

static enum tepal_status yesno_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    struct tepal_yesno *yesno = yesno_of(filter);
    add_yes(yesno, &digest, 1);
    for (uint32_t j = 0; j < yesno->filters; j++) {
        undo_veto(yesno, j, digest);
    }
    filter_count_keys(filter, 1);
    return TEPAL_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const char *yesno_validate(const struct tepal_filter *filter)
{
    const uint64_t *own = filter->state.own;
    if (own[YESNO_LOST] > own[YESNO_MEMBERS]) {
        return "more false negatives than members";
    }
    return tepal_known_flaw(own[YESNO_AVOID], own[YESNO_POSITIVE], own[YESNO_LEFT]);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

/* The chance that a key that nobody thought of is in some no-filter, from their ones. */
static double veto_rate(const struct tepal_yesno *yesno)
{
    double none = 1;
    for (uint32_t j = 0; j < yesno->filters; j++) {
        uint64_t start = no_start(yesno, j);
        uint64_t ones = tepal_bits_count_range(yesno->head.words, start, start + yesno->no.cells);
        none *= 1 - pow(share(ones, yesno->no.cells), yesno->no.hashes);
    }
    return 1 - none;
}

/* Keys added since the build; of a filter that was never built, none of them counts as later. */
static uint64_t added_later(const struct tepal_filter *filter)
{
    uint64_t members = filter->state.own[YESNO_MEMBERS];
    uint64_t added = filter->state.keys_added;
    return members == 0 || added < members ? 0 : added - members;
}

static void yesno_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    const struct tepal_yesno *yesno = yesno_of_const(filter);
    const uint64_t *own = filter->state.own;
    double veto = veto_rate(yesno);
    double unknown = tepal_bloom_report_part(
        filter, &yesno->yes, 1 - veto,
        "rate on unknown negatives expected at capacity, with these no-filters", report);
    struct tepal_quantity *fn = tepal_report_change(report, "fn_now");
    fn->about = "false-negative rate, at most: members vetoed that were not added again";
    fn->value.real = share(own[YESNO_LOST], own[YESNO_MEMBERS]);
    uint64_t later = added_later(filter);
    tepal_known_report_rate(report, own[YESNO_AVOID], own[YESNO_LEFT], later, unknown);
    tepal_report_integer(report, "yes_bits", "p, bits of the yes-filter", yesno->yes.cells);
    tepal_report_integer(report, "no_bits", "q, bits of a no-filter", yesno->no.cells);
    tepal_report_integer(report, "no_filters", "r, number of no-filters", yesno->filters);
    tepal_report_integer(report, "no_hashes", "k', hash functions of a no-filter",
                         yesno->no.hashes);
    tepal_report_flag(report, "own_seeds", "does each no-filter have its own hash seed?",
                      yesno->own_seeds);
    tepal_report_integer(report, "salt", "index of the re-hashing of all keys", yesno->salt);
    tepal_report_real(report, "veto_rate", "share of unknown keys that the no-filters veto", veto);
    tepal_report_integer(report, "members", "members it was built for", own[YESNO_MEMBERS]);
    tepal_report_integer(report, "false_negatives", "of them, vetoed; found if added again",
                         own[YESNO_LOST]);
    tepal_report_integer(report, "avoid", "known negatives it was built for", own[YESNO_AVOID]);
    tepal_report_integer(report, "avoid_positive", "of them, found by the yes-filter",
                         own[YESNO_POSITIVE]);
    tepal_known_report_left(report, own[YESNO_LEFT], later);
    tepal_report_integer(report, "added_later", "keys added since it was built", later);
    tepal_report_integer(report, "vetoes_undone", "no-filter bits cleared by later additions",
                         own[YESNO_UNDONE]);
}

const struct filter_ops tepal_yesno_ops = {
    .rules = &tepal_yesno_rules,
    .struct_bytes = sizeof(struct tepal_yesno),
    .states = YESNO_STATES,
    .open = yesno_open,
    .validate = yesno_validate,
    .add = yesno_add,
    .add_many = yesno_add_many,
    .query = yesno_query,
    .query_many = yesno_query_many,
    .info = yesno_info,
};
