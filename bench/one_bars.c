/*
 * one_bars.c: one key at a time, as most programs ask: inlined (tepal/inline.h) and through the
 * handle, against references whose code is inline in the loop. Calls do not depend on each other,
 * so the processor overlaps as many as its window holds: fewer instructions per key mean more lines
 * under way.
 */
#include "bars.h"

#include <tepal/inline.h>

#include "reference/classic.h"
#include "reference/cuckoo12.h"
#include "reference/split_block.h"

#define SAMPLE ((size_t)300000)

struct one {
    uint64_t n;
    struct samples absent;
    uint64_t *lines; /* the limit's array */
    uint64_t line_count;
    struct split_block split;
    struct classic classic;
    struct cuckoo12 cuckoo;
    struct tepal_filter *blocked;
    struct tepal_filter *paired;
    struct tepal_filter *flat;
    struct tepal_filter *fingerprint;
    struct tepal_direct blocked_direct;
    struct tepal_direct paired_direct;
    struct tepal_direct flat_direct;
    struct tepal_direct fingerprint_direct;
    struct tepal_hasher hasher;
};

/*
 * A loop over the sample: `each` is an expression of `key` that is true for keys found. What is
 * asked is a local variable, `f`: a reference or a handle, behind a pointer; or a copy that nobody
 * else can change, so that the compiler keeps it in registers.
 */
#define RUN(name, declared, each)                                                                  \
    static double name(void *context)                                                              \
    {                                                                                              \
        struct one *one = context;                                                                 \
        const uint64_t *const keys = bars_next(&one->absent);                                      \
        declared;                                                                                  \
        size_t found = 0;                                                                          \
        double start = cpu_ns();                                                                   \
        for (size_t i = 0; i < SAMPLE; i++) {                                                      \
            uint64_t key = keys[i];                                                                \
            found += (size_t)(each);                                                               \
        }                                                                                          \
        double spent = cpu_ns() - start;                                                           \
        bars_sink += found;                                                                        \
        return spent / (double)SAMPLE;                                                             \
    }

static inline uint64_t limit_line(const struct one *one, uint64_t key)
{
    const uint64_t *line = one->lines + ref_scale(key, one->line_count) * 8;
    uint64_t sum = 0;
    for (int j = 0; j < 8; j++) {
        sum |= line[j];
    }
    return sum;
}

/* What a handle costs by itself: a call goes on through a pointer to where nothing is done. */
struct nobody {
    bool (*volatile query)(const struct nobody *nobody, uint64_t key);
};

static bool nothing_query(const struct nobody *nobody, uint64_t key)
{
    (void)nobody;
    (void)key;
    return false;
}

static __attribute__((noinline)) bool nobody_query(const struct nobody *nobody, uint64_t key)
{
    return nobody->query(nobody, key);
}

#define SPLIT        struct split_block *f = &one->split
#define CLASSIC      struct classic *f = &one->classic
#define CUCKOO       const struct cuckoo12 *f = &one->cuckoo
#define HANDLE(from) struct tepal_filter *f = one->from
#define INLINE(from) const struct tepal_direct f = one->from

RUN(limit_query, const struct one *f = one, limit_line(f, key))
RUN(empty_query, struct nobody nobody = {nothing_query}, nobody_query(&nobody, key))
RUN(split_query, SPLIT, split_block_query(f, ref_hash(key)))
RUN(split_add, SPLIT, (split_block_add(f, ref_hash(key)), 0))
RUN(classic_one_query, CLASSIC, classic_query(f, key))
RUN(classic_one_add, CLASSIC, (classic_add(f, key), 0))
RUN(cuckoo_query, CUCKOO, cuckoo12_query(f, key))
RUN(blocked_query, HANDLE(blocked), tepal_filter_query_u64(f, key))
RUN(blocked_add, HANDLE(blocked), tepal_filter_add_u64(f, key) != TEPAL_OK)
RUN(paired_query, HANDLE(paired), tepal_filter_query_u64(f, key))
RUN(paired_add, HANDLE(paired), tepal_filter_add_u64(f, key) != TEPAL_OK)
RUN(flat_query, HANDLE(flat), tepal_filter_query_u64(f, key))
RUN(flat_add, HANDLE(flat), tepal_filter_add_u64(f, key) != TEPAL_OK)
RUN(fingerprint_query, HANDLE(fingerprint), tepal_filter_query_u64(f, key))
RUN(fingerprint_inline, INLINE(fingerprint_direct), tepal_direct_fingerprint_query_u64(&f, key))
RUN(blocked_inline, INLINE(blocked_direct), tepal_direct_blocked_query_u64(&f, key))
RUN(blocked_inline_add, INLINE(blocked_direct),
    (tepal_direct_blocked_set_u64(&f, key), tepal_direct_count(&f), 0))
RUN(paired_inline, INLINE(paired_direct), tepal_direct_paired_query_u64(&f, key))
RUN(paired_inline_add, INLINE(paired_direct),
    (tepal_direct_paired_set_u64(&f, key), tepal_direct_count(&f), 0))
RUN(flat_inline, INLINE(flat_direct), tepal_direct_flat_query_u64(&f, key))
RUN(flat_inline_add, INLINE(flat_direct),
    (tepal_direct_flat_set_u64(&f, key), tepal_direct_count(&f), 0))
RUN(blocked_atomic, HANDLE(blocked), tepal_bloom_query_atomic(f, tepal_hash_u64(&one->hasher, key)))
RUN(blocked_atomic_add, HANDLE(blocked),
    tepal_bloom_add_atomic(f, tepal_hash_u64(&one->hasher, key), NULL) != TEPAL_OK)

/* The share of strangers found: a sample that is added to neither. */
#define RATE(name, each)                                                                           \
    static double name(const struct one *one)                                                      \
    {                                                                                              \
        size_t found = 0;                                                                          \
        for (size_t i = 0; i < SAMPLE; i++) {                                                      \
            uint64_t key = bench_mix(one->n + BARS_SAMPLES * SAMPLE + i);                          \
            found += (size_t)(each);                                                               \
        }                                                                                          \
        return (double)found / (double)SAMPLE;                                                     \
    }

RATE(split_fp, split_block_query(&one->split, ref_hash(key)))
RATE(classic_fp, classic_query(&one->classic, key))
RATE(cuckoo_fp, cuckoo12_query(&one->cuckoo, key))
RATE(blocked_fp, tepal_filter_query_u64(one->blocked, key))
RATE(paired_fp, tepal_filter_query_u64(one->paired, key))
RATE(flat_fp, tepal_filter_query_u64(one->flat, key))
RATE(fingerprint_fp, tepal_filter_query_u64(one->fingerprint, key))

#define CHUNK 4096
#define AHEAD 16

static void fill(struct one *one)
{
    uint64_t keys[CHUNK];
    for (uint64_t i = 0; i < one->n; i += CHUNK) {
        size_t here = one->n - i < CHUNK ? (size_t)(one->n - i) : CHUNK;
        bars_keys(keys, i, here);
        for (size_t j = 0; j < here; j++) {
            uint64_t later = keys[j + AHEAD < here ? j + AHEAD : j];
            __builtin_prefetch(split_block_at(&one->split, ref_hash(later)));
            cuckoo12_prefetch(&one->cuckoo, later);
            split_block_add(&one->split, ref_hash(keys[j]));
            if (!cuckoo12_add(&one->cuckoo, keys[j])) {
                die("the cuckoo filter is full");
            }
        }
        classic_add_many(&one->classic, keys, here);
        if (tepal_filter_add_u64_many(one->blocked, keys, here) != TEPAL_OK ||
            tepal_filter_add_u64_many(one->paired, keys, here) != TEPAL_OK ||
            tepal_filter_add_u64_many(one->flat, keys, here) != TEPAL_OK ||
            tepal_filter_add_u64_many(one->fingerprint, keys, here) != TEPAL_OK) {
            die("a filter is full");
        }
    }
}

static struct tepal_filter *fingerprint_like(const struct cuckoo12 *cuckoo, uint64_t n)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    struct tepal_error error;
    params.kind = TEPAL_KIND_FINGERPRINT;
    params.hashes = 2;
    params.fingerprint.bits = 12;
    params.cells = (cuckoo->mask + 1) * 4 * 12;
    params.capacity = n;
    params.seed = 42;
    if (tepal_filter_create(&params, NULL, &filter, &error) != TEPAL_OK) {
        die(error.why);
    }
    return filter;
}

static void prepare(struct one *one)
{
    uint64_t bits = one->n * 10;
    one->absent = bars_samples(SAMPLE);
    bars_keys(one->absent.keys, one->n, BARS_SAMPLES * SAMPLE);
    one->line_count = bits / 512 + 1;
    one->lines = must(ref_alloc((size_t)one->line_count * 64));
    one->split = split_block_make(bits);
    one->classic = classic_make(bits);
    one->cuckoo = cuckoo12_make(one->n);
    must(one->split.words);
    must(one->classic.bytes);
    must(one->cuckoo.bytes);
    one->blocked = bars_filter(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_BLOCKED, bits, 0, one->n);
    one->paired = bars_filter(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_PAIRED, bits, 0, one->n);
    one->flat = bars_filter(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, bits, 0, one->n);
    one->fingerprint = fingerprint_like(&one->cuckoo, one->n);
    if (tepal_direct_of(one->blocked, &one->blocked_direct) != TEPAL_OK ||
        tepal_direct_of(one->paired, &one->paired_direct) != TEPAL_OK ||
        tepal_direct_of(one->flat, &one->flat_direct) != TEPAL_OK ||
        tepal_direct_of(one->fingerprint, &one->fingerprint_direct) != TEPAL_OK ||
        one->fingerprint_direct.way != TEPAL_DIRECT_FINGERPRINT ||
        tepal_filter_hasher(one->blocked, &one->hasher) != TEPAL_OK) {
        die("a filter cannot be taken");
    }
    fill(one);
}

static void release(struct one *one)
{
    free(one->absent.keys);
    free(one->lines);
    free(one->split.words);
    free(one->classic.bytes);
    free(one->cuckoo.bytes);
    tepal_filter_free(one->blocked);
    tepal_filter_free(one->paired);
    tepal_filter_free(one->flat);
    tepal_filter_free(one->fingerprint);
}

#define COUNT(array)        (sizeof(array) / sizeof *(array))
#define NS(runners, wanted) (bars_find(runners, COUNT(runners), wanted)->ns)

static void measure(struct bars *bars, struct one *one)
{
    struct runner queries[] = {
        {"limit", limit_query, one, 0},
        {"empty call", empty_query, one, 0},
        {"split", split_query, one, 0},
        {"classic", classic_one_query, one, 0},
        {"cuckoo", cuckoo_query, one, 0},
        {"blocked", blocked_query, one, 0},
        {"blocked inline", blocked_inline, one, 0},
        {"blocked atomic", blocked_atomic, one, 0},
        {"paired", paired_query, one, 0},
        {"paired inline", paired_inline, one, 0},
        {"flat", flat_query, one, 0},
        {"flat inline", flat_inline, one, 0},
        {"fingerprint", fingerprint_query, one, 0},
        {"fingerprint inline", fingerprint_inline, one, 0},
    };
    struct runner adds[] = {
        {"split", split_add, one, 0},
        {"classic", classic_one_add, one, 0},
        {"blocked", blocked_add, one, 0},
        {"blocked inline", blocked_inline_add, one, 0},
        {"blocked atomic", blocked_atomic_add, one, 0},
        {"paired", paired_add, one, 0},
        {"paired inline", paired_inline_add, one, 0},
        {"flat", flat_add, one, 0},
        {"flat inline", flat_inline_add, one, 0},
    };
    double split = split_fp(one);
    double classic = classic_fp(one);
    double blocked = blocked_fp(one);
    double paired = paired_fp(one);
    double flat = flat_fp(one);
    double fingerprint = fingerprint_fp(one);
    double cuckoo = cuckoo_fp(one);
    const struct {
        const char *what;
        const char *ours;
        const char *other;
        double at_most;
        double fp;
        double other_fp;
    } rows[] = {
        {"one key: query, split block / limit", "split", "limit", NAN, split, NAN},
        {"one key: query, empty call / split block", "empty call", "split", NAN, NAN, split},
        {"one key: query, blocked / split block", "blocked", "split", 1.3, blocked, split},
        {"one key: query, blocked inline / split block", "blocked inline", "split", 1.3, blocked,
         split},
        {"one key: query, blocked atomic / split block", "blocked atomic", "split", NAN, blocked,
         split},
        {"one key: query, paired / blocked", "paired", "blocked", 1.3, paired, blocked},
        {"one key: query, paired / classic", "paired", "classic", 0.9, paired, classic},
        {"one key: query, paired inline / blocked inline", "paired inline", "blocked inline", 1.3,
         paired, blocked},
        {"one key: query, paired inline / classic", "paired inline", "classic", 0.9, paired,
         classic},
        {"one key: query, flat / classic", "flat", "classic", 1.0, flat, classic},
        {"one key: query, flat inline / classic", "flat inline", "classic", 1.0, flat, classic},
        {"one key: query, fingerprint / cuckoo", "fingerprint", "cuckoo", 1.0, fingerprint, cuckoo},
        {"one key: query, fingerprint inline / cuckoo", "fingerprint inline", "cuckoo", 1.0,
         fingerprint, cuckoo},
    };
    static const struct {
        const char *what;
        const char *ours;
        const char *other;
        double at_most;
    } add_rows[] = {
        {"one key: add, blocked / split block", "blocked", "split", 1.3},
        {"one key: add, blocked inline / split block", "blocked inline", "split", 1.3},
        {"one key: add, blocked atomic / split block", "blocked atomic", "split", NAN},
        {"one key: add, paired / blocked", "paired", "blocked", 1.3},
        {"one key: add, paired / classic", "paired", "classic", 0.9},
        {"one key: add, paired inline / classic", "paired inline", "classic", 0.9},
        {"one key: add, flat / classic", "flat", "classic", 1.0},
        {"one key: add, flat inline / classic", "flat inline", "classic", 1.0},
    };
    bars_measure(queries, COUNT(queries));
    for (size_t i = 0; i < COUNT(rows); i++) {
        bars_row(bars, rows[i].what, one->n, NS(queries, rows[i].ours), NS(queries, rows[i].other),
                 rows[i].at_most, rows[i].fp, rows[i].other_fp);
    }
    bars_measure(adds, COUNT(adds));
    for (size_t i = 0; i < COUNT(add_rows); i++) {
        bars_row(bars, add_rows[i].what, one->n, NS(adds, add_rows[i].ours),
                 NS(adds, add_rows[i].other), add_rows[i].at_most, NAN, NAN);
    }
}

void bars_one(struct bars *bars)
{
    static const uint64_t sizes[] = {100000, 10000000, 100000000};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        if (!bars_wanted(bars, sizes[i])) {
            continue;
        }
        struct one *one = must(calloc(1, sizeof *one));
        one->n = sizes[i];
        fprintf(stderr, "one key at a time, n = %" PRIu64 "\n", one->n);
        prepare(one);
        measure(bars, one);
        release(one);
        free(one);
    }
}
