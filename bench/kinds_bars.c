/*
 * kinds_bars.c: the other kinds, as ratios to a Bloom filter of as many cells, to a plain 4-bit
 * counting filter, or to themselves; and counting bits, against reading the same memory.
 */
#include "bars.h"

#include <tepal/papers.h>

#include "reference/counting4.h"

#define KEYS    ((uint64_t)10000000)
#define SAMPLE  ((size_t)300000)
#define CHUNK   4096
#define MEMBERS ((size_t)1000000)
#define VETOED  ((size_t)1000000)

struct kinds {
    uint64_t *keys;               /* absent */
    struct tepal_digest *absent;  /* their digests */
    struct tepal_digest *members; /* of the yes-no filter and the cascade */
    struct tepal_digest *vetoed;  /* their known negatives */
    struct tepal_digest *fresh;   /* messages of one run */
    uint64_t *answers;
    uint64_t clock; /* numbers messages that never came before */
    struct tepal_hasher hasher;
    struct tepal_filter *flat;
    struct tepal_filter *blocked;
    struct tepal_filter *recycling_flat;
    struct tepal_filter *recycling_blocked;
    struct tepal_filter *recycling_average;
    struct tepal_filter *generalized;
    struct tepal_filter *generalized_bloom; /* as many hashes */
    struct tepal_filter *counting;
    struct tepal_filter *fingerprint;
    struct tepal_filter *yesno;
    struct tepal_filter *cascade;
    struct counting4 plain;
};

#define RUN(name, work)                                                                            \
    static double name(void *context)                                                              \
    {                                                                                              \
        struct kinds *k = context;                                                                 \
        double start = cpu_ns();                                                                   \
        bars_sink += (uint64_t)(work);                                                             \
        return (cpu_ns() - start) / (double)SAMPLE;                                                \
    }

static size_t query(const struct kinds *k, const struct tepal_filter *filter,
                    const struct tepal_digest *digests)
{
    return tepal_filter_query_many(filter, digests, SAMPLE, k->answers);
}

static void digests_of(struct kinds *k, uint64_t first, size_t count, struct tepal_digest *digests)
{
    for (size_t i = 0; i < count; i++) {
        digests[i] = tepal_hash_u64(&k->hasher, bench_mix(first + i));
    }
}

/* Messages that never came before. */
static void new_messages(struct kinds *k)
{
    digests_of(k, (uint64_t)1 << 40 | k->clock, SAMPLE, k->fresh);
    k->clock += SAMPLE;
}

static double seen(struct kinds *k, struct tepal_filter *filter)
{
    size_t present = 0;
    new_messages(k);
    double start = cpu_ns();
    (void)tepal_filter_test_add_many(filter, k->fresh, SAMPLE, k->answers, &present);
    double spent = cpu_ns() - start;
    bars_sink += present;
    return spent / (double)SAMPLE;
}

/* One message at a time: in one call, or as a query and an addition. */
static double seen_one(struct kinds *k, struct tepal_filter *filter, bool two_calls)
{
    size_t present = 0;
    new_messages(k);
    double start = cpu_ns();
    for (size_t i = 0; i < SAMPLE; i++) {
        bool yes = false;
        if (two_calls) {
            yes = tepal_filter_query(filter, k->fresh[i]);
            (void)tepal_filter_add(filter, k->fresh[i]);
        } else {
            (void)tepal_filter_test_add(filter, k->fresh[i], &yes);
        }
        present += yes;
    }
    double spent = cpu_ns() - start;
    bars_sink += present;
    return spent / (double)SAMPLE;
}

/* What is added in one run is removed in the next; both hash their keys. */
static double changing(struct kinds *k, bool adding)
{
    struct tepal_digest digests[CHUNK];
    double start = cpu_ns();
    for (size_t i = 0; i < SAMPLE; i += CHUNK) {
        size_t here = SAMPLE - i < CHUNK ? SAMPLE - i : CHUNK;
        tepal_hash_u64_many(&k->hasher, k->keys + i, here, digests);
        if (adding) {
            (void)tepal_filter_add_many(k->counting, digests, here);
        } else {
            size_t removed;
            (void)tepal_filter_remove_many(k->counting, digests, here, &removed);
            bars_sink += removed;
        }
    }
    return (cpu_ns() - start) / (double)SAMPLE;
}

static double plain_changing(struct kinds *k, bool adding)
{
    size_t removed = 0;
    double start = cpu_ns();
    for (size_t i = 0; i < SAMPLE; i++) {
        if (adding) {
            counting4_add(&k->plain, k->keys[i]);
        } else {
            removed += counting4_remove(&k->plain, k->keys[i]);
        }
    }
    bars_sink += removed;
    return (cpu_ns() - start) / (double)SAMPLE;
}

#define RUN_TIMED(name, work)                                                                      \
    static double name(void *context)                                                              \
    {                                                                                              \
        struct kinds *k = context;                                                                 \
        return work;                                                                               \
    }

RUN_TIMED(recycling_blocked_seen, seen(k, k->recycling_blocked))
RUN_TIMED(recycling_average_seen, seen(k, k->recycling_average))
RUN_TIMED(recycling_blocked_one, seen_one(k, k->recycling_blocked, false))
RUN_TIMED(recycling_query_add, seen_one(k, k->recycling_blocked, true))

RUN_TIMED(counting_add, changing(k, true))
RUN_TIMED(counting_remove, changing(k, false))
RUN_TIMED(plain_add, plain_changing(k, true))
RUN_TIMED(plain_remove, plain_changing(k, false))

/* Reading: every word once, by vectors as the compiler makes them. */
static uint64_t read_memory(const struct tepal_filter *filter)
{
    size_t count;
    const uint64_t *words = tepal_filter_words(filter, &count);
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum |= words[i];
    }
    return sum;
}

RUN(flat_query, query(k, k->flat, k->absent))
RUN(blocked_query, query(k, k->blocked, k->absent))
RUN(recycling_flat_query, query(k, k->recycling_flat, k->absent))
RUN(generalized_query, query(k, k->generalized, k->absent))
RUN(generalized_bloom_query, query(k, k->generalized_bloom, k->absent))
RUN(counting_query, query(k, k->counting, k->absent))
RUN(yesno_absent, query(k, k->yesno, k->absent))
RUN(yesno_members, query(k, k->yesno, k->members))
RUN(cascade_absent, query(k, k->cascade, k->absent))
RUN(cascade_members, query(k, k->cascade, k->members))
RUN(count_ones, tepal_filter_ones(k->flat))
RUN(flat_fp_now, tepal_filter_fp_now(k->flat) * 1e9)
RUN(blocked_fp_now, tepal_filter_fp_now(k->blocked) * 1e9)
RUN(memory_read, read_memory(k->flat))
RUN(recycling_validate, tepal_filter_validate(k->recycling_blocked, NULL))
RUN(recycling_read, read_memory(k->recycling_blocked))
RUN(fingerprint_validate, tepal_filter_validate(k->fingerprint, NULL))
RUN(fingerprint_read, read_memory(k->fingerprint))
RUN(counting_validate, tepal_filter_validate(k->counting, NULL))
RUN(counting_read, read_memory(k->counting))

static struct tepal_filter *recycling(enum tepal_layout layout, enum tepal_recycling_rule rule)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    struct tepal_error error;
    p.kind = TEPAL_KIND_RECYCLING;
    p.layout = layout;
    p.cells = KEYS * 10 / TEPAL_LINE_BITS * TEPAL_LINE_BITS;
    p.hashes = 7;
    p.recycling.phases = 2;
    p.recycling.rule = rule;
    p.recycling.limit = rule == TEPAL_RECYCLING_AVERAGE ? (uint64_t)(0.01 * 0x1p64) : p.cells / 2;
    p.recycling.flags = TEPAL_RECYCLING_RETAIN;
    if (tepal_filter_create(&p, NULL, &filter, &error) != TEPAL_OK) {
        die(error.why);
    }
    return filter;
}

/* A yes-no filter and a cascade of the same members and known negatives, 12 bits per member. */
static void known(struct kinds *k)
{
    const uint64_t bits = (uint64_t)MEMBERS * 12 / TEPAL_LINE_BITS * TEPAL_LINE_BITS;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_error error;
    struct tepal_known in = {
        .members = k->members, .member_count = MEMBERS, .avoid = k->vetoed, .avoid_count = VETOED};
    struct tepal_cascade_options how = {.bits = bits};
    struct tepal_yesno_options fit = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_yesno_setting plan = {0};
    p.layout = TEPAL_LAYOUT_BLOCKED;
    p.seed = 42;
    p.kind = TEPAL_KIND_CASCADE;
    if (tepal_cascade_build(&p, &in, &how, NULL, &k->cascade, NULL, &error) != TEPAL_OK) {
        die(error.why);
    }
    p.kind = TEPAL_KIND_YESNO;
    if (tepal_yesno_best_setting(p.layout, p.positions, bits, MEMBERS, VETOED, &plan) != TEPAL_OK) {
        die("no yes-no filter of this size");
    }
    p.cells = plan.yes_bits + plan.no_filters * plan.no_bits;
    p.hashes = plan.hashes;
    p.yesno = (struct tepal_yesno_params){.no_bits = plan.no_bits,
                                          .no_filters = plan.no_filters,
                                          .no_hashes = plan.no_hashes,
                                          .own_seeds = plan.own_seeds};
    if (tepal_yesno_build(&p, &in, &fit, NULL, &k->yesno, NULL, &error) != TEPAL_OK) {
        die(error.why);
    }
}

static struct tepal_filter *generalized(void)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    struct tepal_error error;
    p.kind = TEPAL_KIND_GENERALIZED;
    p.cells = KEYS * 10;
    p.hashes = 4;
    p.seed = 42;
    p.generalized.reset_hashes = 2;
    p.generalized.ones = TEPAL_GENERALIZED_UNIT / 2;
    if (tepal_filter_create(&p, NULL, &filter, &error) != TEPAL_OK) {
        die(error.why);
    }
    return filter;
}

static struct tepal_filter *fingerprint(void)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    struct tepal_error error;
    p.kind = TEPAL_KIND_FINGERPRINT;
    p.hashes = 2;
    p.fingerprint.bits = 12;
    p.cells = KEYS / 10 * 3 * 48; /* 1.2 slots for each key */
    p.capacity = KEYS;
    p.seed = 42;
    if (tepal_filter_create(&p, NULL, &filter, &error) != TEPAL_OK) {
        die(error.why);
    }
    return filter;
}

static void fill(struct kinds *k)
{
    struct tepal_digest digests[CHUNK];
    struct tepal_filter *const filters[] = {
        k->flat,        k->blocked,           k->recycling_flat, k->recycling_blocked,
        k->generalized, k->generalized_bloom, k->counting,       k->recycling_average,
        k->fingerprint};
    for (uint64_t i = 0; i < KEYS; i += CHUNK) {
        size_t here = KEYS - i < CHUNK ? (size_t)(KEYS - i) : CHUNK;
        digests_of(k, i, here, digests);
        for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
            if (tepal_filter_add_many(filters[f], digests, here) != TEPAL_OK) {
                die("a filter is full");
            }
        }
        for (size_t j = 0; j < here; j++) {
            counting4_add(&k->plain, bench_mix(i + j));
        }
    }
}

static void prepare(struct kinds *k)
{
    const uint64_t cells = KEYS * 10;
    tepal_hasher_init(42, &k->hasher);
    k->keys = must(malloc(SAMPLE * 8));
    k->absent = must(malloc(SAMPLE * sizeof *k->absent));
    k->members = must(malloc(MEMBERS * sizeof *k->members));
    k->vetoed = must(malloc(VETOED * sizeof *k->vetoed));
    k->fresh = must(malloc(SAMPLE * sizeof *k->fresh));
    k->answers = must(malloc((SAMPLE + 63) / 64 * 8));
    bars_keys(k->keys, KEYS, SAMPLE);
    digests_of(k, KEYS, SAMPLE, k->absent);
    digests_of(k, 0, MEMBERS, k->members);
    digests_of(k, KEYS + SAMPLE, VETOED, k->vetoed);
    k->flat = bars_filter(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, cells, 7, KEYS);
    k->blocked = bars_filter(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_BLOCKED, cells, 0, KEYS);
    k->recycling_flat = recycling(TEPAL_LAYOUT_FLAT, TEPAL_RECYCLING_SIGMA);
    k->recycling_blocked = recycling(TEPAL_LAYOUT_BLOCKED, TEPAL_RECYCLING_SIGMA);
    k->recycling_average = recycling(TEPAL_LAYOUT_BLOCKED, TEPAL_RECYCLING_AVERAGE);
    k->generalized = generalized();
    k->generalized_bloom = bars_filter(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, cells, 4, KEYS);
    k->counting = bars_filter(TEPAL_KIND_COUNTING, TEPAL_LAYOUT_BLOCKED, cells, 6, KEYS);
    k->fingerprint = fingerprint();
    k->plain = counting4_make(cells);
    must(k->plain.bytes);
    fill(k);
    known(k);
}

static void release(struct kinds *k)
{
    struct tepal_filter *const filters[] = {
        k->flat,        k->blocked,           k->recycling_flat, k->recycling_blocked,
        k->generalized, k->generalized_bloom, k->counting,       k->recycling_average,
        k->yesno,       k->cascade,           k->fingerprint};
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        tepal_filter_free(filters[f]);
    }
    free(k->keys);
    free(k->absent);
    free(k->members);
    free(k->vetoed);
    free(k->fresh);
    free(k->answers);
    free(k->plain.bytes);
}

static double rate_of(const struct kinds *k, const struct tepal_filter *filter)
{
    return (double)query(k, filter, k->absent) / (double)SAMPLE;
}

void bars_kinds(struct bars *bars)
{
    struct kinds *k = must(calloc(1, sizeof *k));
    struct runner r[] = {
        {"flat", flat_query, k, 0},
        {"blocked", blocked_query, k, 0},
        {"recycling flat", recycling_flat_query, k, 0},
        {"recycling seen", recycling_blocked_seen, k, 0},
        {"average seen", recycling_average_seen, k, 0},
        {"recycling seen, one", recycling_blocked_one, k, 0},
        {"recycling query, add", recycling_query_add, k, 0},
        {"generalized", generalized_query, k, 0},
        {"generalized bloom", generalized_bloom_query, k, 0},
        {"counting", counting_query, k, 0},
        {"counting add", counting_add, k, 0},
        {"counting remove", counting_remove, k, 0},
        {"plain add", plain_add, k, 0},
        {"plain remove", plain_remove, k, 0},
        {"yesno absent", yesno_absent, k, 0},
        {"yesno members", yesno_members, k, 0},
        {"cascade absent", cascade_absent, k, 0},
        {"cascade members", cascade_members, k, 0},
        {"ones", count_ones, k, 0},
        {"flat fp_now", flat_fp_now, k, 0},
        {"blocked fp_now", blocked_fp_now, k, 0},
        {"memory", memory_read, k, 0},
        {"recycling validate", recycling_validate, k, 0},
        {"recycling memory", recycling_read, k, 0},
        {"fingerprint validate", fingerprint_validate, k, 0},
        {"fingerprint memory", fingerprint_read, k, 0},
        {"counting validate", counting_validate, k, 0},
        {"counting memory", counting_read, k, 0},
    };
    static const struct {
        const char *what;
        const char *ours;
        const char *other;
        double at_most;
    } rows[] = {
        {"counting: query / blocked Bloom", "counting", "blocked", 1.1},
        {"counting: add / plain 4-bit counters", "counting add", "plain add", 0.3},
        {"counting: remove / plain 4-bit counters", "counting remove", "plain remove", 0.3},
        {"recycling: flat query / flat Bloom", "recycling flat", "flat", 2.5},
        {"recycling: blocked seen / blocked query", "recycling seen", "blocked", 2.0},
        {"recycling: one seen / one query + add", "recycling seen, one", "recycling query, add",
         1.3},
        {"recycling: rule average / rule sigma", "average seen", "recycling seen", 1.3},
        {"generalized: flat query / flat Bloom", "generalized", "generalized bloom", 3.0},
        {"yes-no: members / absent keys", "yesno members", "yesno absent", 3.0},
        {"cascade: members / absent keys", "cascade members", "cascade absent", 3.0},
        {"counting bits: ones / reading memory", "ones", "memory", 1 / 0.9},
        {"counting bits: flat fp_now / reading memory", "flat fp_now", "memory", 1 / 0.9},
        {"counting bits: blocked fp_now / reading memory", "blocked fp_now", "memory", NAN},
        {"validate: recycling / reading memory", "recycling validate", "recycling memory", 1 / 0.9},
        {"validate: fingerprint / reading memory", "fingerprint validate", "fingerprint memory",
         1 / 0.9},
        {"validate: counting / reading memory", "counting validate", "counting memory", 1 / 0.9},
    };
    const size_t runners = sizeof r / sizeof *r;
    fprintf(stderr, "other kinds, n = %" PRIu64 "\n", KEYS);
    prepare(k);
    double counting = rate_of(k, k->counting);
    double blocked = rate_of(k, k->blocked);
    bars_measure(r, runners);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool first = i == 0;
        bars_row(bars, rows[i].what, KEYS, bars_find(r, runners, rows[i].ours)->ns,
                 bars_find(r, runners, rows[i].other)->ns, rows[i].at_most, first ? counting : NAN,
                 first ? blocked : NAN);
    }
    release(k);
    free(k);
}
