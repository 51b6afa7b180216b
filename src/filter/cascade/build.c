/*
 * build.c: which levels a cascade gets, and what goes into them.
 *
 * A level stores a keys and is asked about b keys of the other side; the next one stores those of
 * the b that it has by accident, and is asked about the a:
 *
 *     level 1   a = n members            b = t known negatives
 *     level 2   a = t f1                 b = n
 *     level 3   a = n f2                 b = t f1           and so on
 *
 * A key stored at the rate f costs log2(1/f) / ln 2 bits. With f = 1/2 everywhere but where b is
 * much larger than a, and there f = (a/b) / sqrt 2, the sum is close to the least (Larisch et al.,
 * Sec. III). The sizes beyond the first level come from the true counts, not the expected ones, so
 * that they always suffice; the first level's is found by trying when the whole has a limit.
 */
#include "filter/cascade/internal.h"

#include <math.h>
#include <string.h>

#include <tepal/papers.h>

#include "base/alloc.h"
#include "base/refuse.h"
#include "filter/known/known.h"

/* Tries for the first level's size. Small sets vary more, and cost nothing. */
#define TRIES       16
#define TRIES_SMALL 96
#define SMALL       4096

struct level {
    struct tepal_filter *bloom; /* its keys are rehashed */
    uint64_t stored;
};

/* Keys of one side. */
struct side {
    const struct tepal_digest *keys;
    struct tepal_digest *ours; /* NULL, or the same, to be freed */
    size_t count;
};

struct run {
    const struct tepal_params *params;
    const struct tepal_known *in;
    struct tepal_allocator allocator;
    struct level level[TEPAL_MAX_LEVELS];
    uint32_t levels;
    uint64_t bits;
    uint64_t avoid_members;
    uint64_t avoid_positive;
};

/* ---- expectations ---------------------------------------------------------------------------- */

static double rate_for(double stored, double asked)
{
    double f = stored / asked * sqrt(0.5);
    return f < 0.5 ? f : 0.5;
}

/* The bits beyond a first level that lets t f1 known negatives through. */
static double expected_rest(double n, double t, double f1)
{
    double a = t * f1;
    double b = n;
    double bits = 0;
    while (a > 0.5) {
        double f = rate_for(a, b);
        bits -= a * log2(f) / log(2);
        double next = b * f;
        b = a;
        a = next;
    }
    return bits;
}

static uint64_t granule(const struct tepal_params *p)
{
    return params_unit(p->layout, 1);
}

static uint64_t round_to(const struct tepal_params *p, double bits)
{
    uint64_t unit = granule(p);
    uint64_t whole = bits < 1 ? 1 : (uint64_t)bits;
    whole = (whole + unit - 1) / unit * unit;
    /* Distinct positions on paired lines need two of them. */
    uint64_t least = p->positions == TEPAL_POSITIONS_DISTINCT && unit > 1 ? 2 * unit : unit;
    return whole < least ? least : whole;
}

static double first_rate(const struct tepal_params *p, uint64_t n, uint64_t bits)
{
    uint32_t k =
        p->hashes != 0 ? p->hashes : tepal_bloom_best_hashes(p->layout, p->positions, bits, n);
    double f = tepal_bloom_fp(p->layout, p->positions, bits, n, k);
    return f >= 0 ? f : 1;
}

/* The first level of the smallest cascade. */
static enum tepal_status smallest_first(const struct run *run, uint64_t *bits)
{
    const struct tepal_params *p = run->params;
    size_t n = run->in->member_count;
    size_t t = run->in->avoid_count;
    uint32_t hashes = p->hashes;
    return tepal_bloom_size(p->layout, p->positions, n,
                            t == 0 ? 0.5 : rate_for((double)n, (double)t), bits, &hashes);
}

/* The largest first level that goes, with what is expected beyond it, into `limit` bits. */
static uint64_t largest_first(const struct run *run, uint64_t least, uint64_t limit)
{
    uint64_t n = run->in->member_count;
    double t = (double)run->in->avoid_count;
    uint64_t low = least;
    uint64_t high = limit > least ? limit : least;
    while (high - low > granule(run->params)) {
        uint64_t unit = granule(run->params);
        uint64_t middle = (low + (high - low) / 2 + unit - 1) / unit * unit;
        if (middle <= low || middle >= high) {
            break;
        }
        double rest = expected_rest((double)n, t, first_rate(run->params, n, middle));
        if ((double)middle + rest <= (double)limit) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- levels ---------------------------------------------------------------------------------- */

static void drop_levels(struct run *run)
{
    while (run->levels > 0) {
        tepal_filter_free(run->level[--run->levels].bloom);
    }
    run->bits = 0;
}

static void drop_side(const struct run *run, struct side *side)
{
    if (side->ours != NULL) {
        tepal_alloc_release(&run->allocator, side->ours, side->count * sizeof *side->ours);
    }
    *side = (struct side){0};
}

#define CHUNK 512

/* The digests of a chunk as level i takes them. */
static const struct tepal_digest *at_level(uint32_t i, const struct tepal_digest *keys,
                                           size_t count, struct tepal_digest *room)
{
    if (i == 0) {
        return keys;
    }
    for (size_t x = 0; x < count; x++) {
        room[x] = address_rehash(keys[x], i);
    }
    return room;
}

static enum tepal_status add_level(struct run *run, uint64_t bits, uint32_t hashes,
                                   const struct side *stored)
{
    uint32_t i = run->levels;
    struct tepal_params p = *run->params;
    p.kind = TEPAL_KIND_BLOOM;
    p.layout = i == 0 ? p.layout : TEPAL_LAYOUT_FLAT;
    p.cells = bits;
    p.hashes = hashes;
    memset(p.own, 0, sizeof p.own);
    struct level *level = &run->level[i];
    enum tepal_status status = tepal_filter_create(&p, &run->allocator, &level->bloom, NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    struct tepal_digest room[CHUNK];
    for (size_t at = 0; at < stored->count; at += CHUNK) {
        size_t here = stored->count - at < CHUNK ? stored->count - at : CHUNK;
        (void)tepal_filter_add_many(level->bloom, at_level(i, stored->keys + at, here, room), here);
    }
    level->stored = stored->count;
    run->bits += bits;
    run->levels++;
    return TEPAL_OK;
}

/* `answers` := which of `asked` the newest level has. */
static void ask(const struct run *run, const struct side *asked, uint64_t *answers)
{
    struct tepal_digest room[CHUNK];
    uint32_t i = run->levels - 1;
    for (size_t at = 0; at < asked->count; at += CHUNK) {
        size_t here = asked->count - at < CHUNK ? asked->count - at : CHUNK;
        (void)tepal_filter_query_many(run->level[i].bloom,
                                      at_level(i, asked->keys + at, here, room), here,
                                      answers + at / 64);
    }
}

/* *caught := those of `asked` that the newest level has. */
static enum tepal_status catch_some(struct run *run, const struct side *asked, struct side *caught)
{
    size_t words = (asked->count + 63) / 64;
    *caught = (struct side){0};
    if (asked->count == 0) {
        return TEPAL_OK;
    }
    uint64_t *answers = tepal_alloc_zeroed(&run->allocator, words * 8);
    if (answers == NULL) {
        return TEPAL_NO_MEMORY;
    }
    ask(run, asked, answers);
    enum tepal_status status = TEPAL_OK;
    if (run->levels == 1) {
        status = tepal_known_pass_members(&run->allocator, run->in->members, run->in->member_count,
                                          run->in->avoid, run->in->avoid_count, answers,
                                          &run->avoid_members);
    }
    size_t count = (size_t)tepal_bits_count(answers, words);
    if (status == TEPAL_OK && count > 0) {
        caught->ours = tepal_alloc_zeroed(&run->allocator, count * sizeof *caught->ours);
        status = caught->ours == NULL ? TEPAL_NO_MEMORY : TEPAL_OK;
    }
    if (caught->ours != NULL) {
        for (size_t i = 0; i < asked->count; i++) {
            if (bits_test(answers, i)) {
                caught->ours[caught->count++] = asked->keys[i];
            }
        }
        caught->keys = caught->ours;
    }
    tepal_alloc_release(&run->allocator, answers, words * 8);
    return status;
}

/* All levels for a first one of `bits` bits. An odd number of levels errs towards "present". */
static enum tepal_status make_levels(struct run *run, uint64_t bits)
{
    const struct tepal_params *p = run->params;
    struct side stored = {.keys = run->in->members, .count = run->in->member_count};
    struct side asked = {.keys = run->in->avoid, .count = run->in->avoid_count};
    uint32_t hashes = p->hashes != 0 ? p->hashes
                                     : tepal_bloom_best_hashes(p->layout, p->positions, bits,
                                                               run->in->member_count);
    enum tepal_status status = TEPAL_OK;
    drop_levels(run);
    while (status == TEPAL_OK && stored.count > 0 && run->levels < TEPAL_MAX_LEVELS) {
        if (run->levels > 0) {
            hashes = 0;
            status = tepal_bloom_size(TEPAL_LAYOUT_FLAT, p->positions, stored.count,
                                      rate_for((double)stored.count, (double)asked.count), &bits,
                                      &hashes);
            bits = (bits + granule(p) - 1) / granule(p) * granule(p);
        }
        struct side caught = {0};
        if (status == TEPAL_OK) {
            status = add_level(run, bits, hashes, &stored);
        }
        if (status == TEPAL_OK) {
            status = catch_some(run, &asked, &caught);
        }
        if (run->levels == 1) {
            run->avoid_positive = caught.count;
        }
        drop_side(run, &asked);
        asked = stored;
        stored = caught;
    }
    drop_side(run, &asked);
    drop_side(run, &stored);
    return status;
}

/* ---- the size of the first ------------------------------------------------------------------- */

static bool is_small(const struct run *run)
{
    return run->in->member_count + run->in->avoid_count <= SMALL;
}

/* So many bits at most: less for the first level as long as the whole is too large. */
static enum tepal_status fit(struct run *run, uint64_t limit)
{
    uint64_t least;
    enum tepal_status status = smallest_first(run, &least);
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t bits = largest_first(run, least, limit);
    uint64_t unit = granule(run->params);
    uint64_t fewest = round_to(run->params, run->params->hashes); /* distinct ones need room */
    for (int tries = is_small(run) ? TRIES_SMALL : TRIES; tries > 0; tries--) {
        status = make_levels(run, bits);
        if (status != TEPAL_OK || run->bits <= limit) {
            return status;
        }
        uint64_t over = (run->bits - limit + unit - 1) / unit * unit;
        /* A smaller first level makes the others larger: by less than it saves, above `least`. */
        uint64_t less = is_small(run) ? unit : over + (over / 4 + unit - 1) / unit * unit;
        if (bits < less + fewest || (bits < least && !is_small(run))) {
            break;
        }
        bits -= less;
    }
    return TEPAL_FULL;
}

/* As few bits as possible. The formula is close; for small sets, sizes around it are tried. */
static enum tepal_status shrink(struct run *run)
{
    uint64_t least;
    enum tepal_status status = smallest_first(run, &least);
    if (status != TEPAL_OK || !is_small(run)) {
        return status != TEPAL_OK ? status : make_levels(run, least);
    }
    uint64_t best = least;
    uint64_t best_bits = UINT64_MAX;
    for (uint64_t i = 1; i <= TRIES_SMALL && status == TEPAL_OK; i++) {
        uint64_t bits = round_to(run->params, 2.0 * (double)least * (double)i / TRIES_SMALL);
        if (bits < run->params->hashes) {
            continue; /* distinct positions, and slices, need a bit for each hash */
        }
        status = make_levels(run, bits);
        if (status == TEPAL_OK && run->bits < best_bits) {
            best_bits = run->bits;
            best = bits;
        }
    }
    return status != TEPAL_OK ? status : make_levels(run, best);
}

/* TEPAL_FULL if the limit is too low. */
static enum tepal_status make(struct run *run, const struct tepal_cascade_options *options)
{
    if (options->bits > 0) {
        return fit(run, options->bits < PARAMS_MAX_CELLS ? options->bits : PARAMS_MAX_CELLS);
    }
    if (!(options->fp > 0)) {
        return shrink(run);
    }
    uint64_t bits;
    uint32_t hashes = run->params->hashes;
    enum tepal_status status = tepal_bloom_size(run->params->layout, run->params->positions,
                                                run->in->member_count, options->fp, &bits, &hashes);
    return status != TEPAL_OK ? status : make_levels(run, bits);
}

/* ---- the filter ------------------------------------------------------------------------------ */

/* Bits of a level to where they belong: whole words, shifted. */
static void copy_bits(uint64_t *to, uint64_t start, const uint64_t *from, size_t words)
{
    uint64_t *at = to + start / 64;
    uint32_t shift = start % 64;
    for (size_t i = 0; i < words; i++) {
        at[i] |= from[i] << shift;
        if (shift != 0 && from[i] >> (64 - shift) != 0) {
            at[i + 1] |= from[i] >> (64 - shift);
        }
    }
}

static enum tepal_status assemble(struct run *run, const struct tepal_allocator *allocator,
                                  struct tepal_filter **out)
{
    struct tepal_params p = *run->params;
    const struct tepal_params *first = tepal_filter_params(run->level[0].bloom);
    p.cells = run->bits;
    p.hashes = first->hashes;
    memset(p.own, 0, sizeof p.own);
    p.cascade.rest_bits = run->bits - first->cells;
    p.cascade.rest_levels = run->levels - 1;
    struct tepal_filter *made;
    enum tepal_status status = tepal_filter_create(&p, allocator, &made, NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t start = 0;
    uint64_t *directory = made->words + (made->word_count - (run->levels - 1));
    for (uint32_t i = 0; i < run->levels; i++) {
        const struct tepal_params *level = tepal_filter_params(run->level[i].bloom);
        size_t words;
        const uint64_t *from = tepal_filter_words(run->level[i].bloom, &words);
        copy_bits(made->words, start, from, words);
        start += level->cells;
    }
    for (uint32_t i = 1; i < run->levels; i++) {
        const struct tepal_params *level = tepal_filter_params(run->level[i].bloom);
        directory[i - 1] = cascade_entry(level->cells, level->hashes);
    }
    made->state.keys_added = run->in->member_count;
    made->ops->open(made);
    *out = made;
    return TEPAL_OK;
}

/* ---- the report, by asking ------------------------------------------------------------------- */

static enum tepal_status compare(const struct run *run, struct tepal_filter *made,
                                 struct tepal_known_report *report)
{
    const struct tepal_known *in = run->in;
    bool weighed = in->avoid_weights != NULL;
    size_t longest = in->avoid_count > in->member_count ? in->avoid_count : in->member_count;
    uint64_t *answers = tepal_alloc_zeroed(&run->allocator, (longest + 63) / 64 * 8);
    if (answers == NULL) {
        return TEPAL_NO_MEMORY;
    }
    report->members = in->member_count;
    report->avoid_given = in->avoid_count;
    report->avoid_members = run->avoid_members;
    report->avoid_positive = run->avoid_positive;
    report->false_negatives =
        in->member_count - tepal_filter_query_many(made, in->members, in->member_count, answers);
    /* Those that are members are found, all of them. */
    report->avoid_left =
        tepal_filter_query_many(made, in->avoid, in->avoid_count, answers) - run->avoid_members;
    tepal_alloc_release(&run->allocator, answers, (longest + 63) / 64 * 8);
    report->avoid_weight = tepal_known_avoid_weight(in);
    report->positive_weight = weighed ? NAN : (double)report->avoid_positive;
    report->weight_left = weighed && report->avoid_left > 0 ? NAN : (double)report->avoid_left;
    report->levels = run->levels;
    for (uint32_t i = 0; i < run->levels; i++) {
        report->level_keys[i] = run->level[i].stored;
    }
    return TEPAL_OK;
}

static void keep_state(struct tepal_filter *made, const struct tepal_known_report *report)
{
    uint64_t *own = made->state.own;
    own[CASCADE_MEMBERS] = report->members;
    own[CASCADE_AVOID] = report->avoid_given - report->avoid_members;
    own[CASCADE_POSITIVE] = report->avoid_positive;
    own[CASCADE_LEFT] = report->avoid_left;
}

/* ---- the public call ------------------------------------------------------------------------- */

static enum tepal_status check(const struct tepal_params *params, const struct tepal_known *in,
                               const struct tepal_cascade_options *options,
                               struct tepal_error *error)
{
    if (params->kind != TEPAL_KIND_CASCADE) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the parameters are not those of a cascade");
    }
    if (in->member_count == 0) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "there are no members");
    }
    if (options->bits > 0 && options->fp != 0) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "give bits or a rate, not both");
    }
    if (options->fp != 0 && !(options->fp > 0 && options->fp < 1)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the rate must lie between 0 and 1");
    }
    enum tepal_status status = tepal_known_check(in, error);
    if (status != TEPAL_OK) {
        return status;
    }
    /* What the sizes have no part in: a filter of one level that surely is not too small. */
    struct tepal_params probe = *params;
    probe.cells = (uint64_t)TEPAL_MAX_HASHES * TEPAL_LINE_BITS;
    probe.hashes = params->hashes == 0 ? 1 : params->hashes;
    memset(probe.own, 0, sizeof probe.own);
    return tepal_params_check(&probe, error);
}

enum tepal_status tepal_cascade_build(const struct tepal_params *params,
                                      const struct tepal_known *known,
                                      const struct tepal_cascade_options *options,
                                      const struct tepal_allocator *allocator,
                                      struct tepal_filter **out, struct tepal_known_report *report,
                                      struct tepal_error *error)
{
    enum tepal_status status = check(params, known, options, error);
    if (status != TEPAL_OK) {
        return status;
    }
    struct run run = {.params = params, .in = known, .allocator = tepal_alloc_choose(allocator)};
    struct tepal_filter *made = NULL;
    struct tepal_known_report filled = {0};
    status = make(&run, options);
    if (status == TEPAL_OK) {
        status = assemble(&run, allocator, &made);
    }
    if (status == TEPAL_OK) {
        status = compare(&run, made, &filled);
    }
    drop_levels(&run);
    if (status != TEPAL_OK) {
        tepal_filter_free(made);
        return status == TEPAL_FULL
                   ? refuse(error, status,
                            "no cascade this small was found: give more bits, or no limit")
                   : refuse_if(error, status);
    }
    keep_state(made, &filled);
    if (report != NULL) {
        *report = filled;
    }
    *out = made;
    return TEPAL_OK;
}
