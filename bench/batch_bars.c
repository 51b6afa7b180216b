/*
 * batch_bars.c: batches, against the machine's limit (random lines, prefetched), the classic filter
 * in batches, and a split block whose lines are requested 64 keys ahead.
 */
#include "bars.h"

#include "reference/classic.h"
#include "reference/split_block.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define SAMPLE ((size_t)200000)
#define TOTAL  (BARS_SAMPLES * SAMPLE)
#define AHEAD  64
#define WIDTH  32
#define CHUNK  4096

struct batch {
    uint64_t n;
    size_t from;      /* where the sample of this run begins among TOTAL keys */
    uint64_t *absent; /* TOTAL keys */
    uint64_t *mixed;  /* every other one is a member, in no order */
    uint64_t *answers;
    uint64_t *lines; /* the limit's array */
    uint64_t line_count;
    struct classic classic;
    struct split_block split;
    struct tepal_filter *blocked;
    struct tepal_filter *many; /* blocked, 16 bits per key: more than 8 hashes */
    struct tepal_filter *paired;
    struct tepal_filter *flat;
    uint8_t *text; /* TOTAL strings of WIDTH bytes ... */
    const void **strings;
    size_t *lens;      /* ... of which so many count, ... */
    uint8_t *packed;   /* ... and these one after the other, ... */
    uint64_t *offsets; /* ... beginning here */
};

#define RUN(name, work)                                                                            \
    static double name(void *context)                                                              \
    {                                                                                              \
        struct batch *b = context;                                                                 \
        b->from = (b->from + SAMPLE) % TOTAL;                                                      \
        double start = cpu_ns();                                                                   \
        bars_sink += (uint64_t)(work);                                                             \
        return (cpu_ns() - start) / (double)SAMPLE;                                                \
    }

static inline uint64_t *limit_next(const struct batch *b, uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t *line = b->lines + ref_scale(*state, b->line_count) * 8;
    __builtin_prefetch(line);
    return line;
}

static uint64_t limit_lines(const struct batch *b, bool writing)
{
    uint64_t *window[AHEAD];
    uint64_t state = bench_mix(b->from); /* other lines than the run before */
    uint64_t sum = 0;
    for (size_t i = 0; i < AHEAD; i++) {
        window[i] = limit_next(b, &state);
    }
    for (size_t i = 0; i < SAMPLE; i++) {
        uint64_t *line = window[i % AHEAD];
        window[i % AHEAD] = limit_next(b, &state);
        for (int j = 0; j < 8; j++) {
            if (writing) {
                line[j] += i;
            } else {
                sum += line[j];
            }
        }
    }
    return sum;
}

/* Both halves of the digest count: what a split block takes is one word. */
static inline uint64_t split_hash(const void *key, size_t len)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(key, len, 42);
    return (h.low64 ^ h.high64) | 1;
}

static uint64_t split_strings(const struct batch *b, bool fixed)
{
    uint64_t hashes[AHEAD];
    uint64_t found = 0;
    for (size_t i = 0; i < SAMPLE + AHEAD; i++) {
        if (i >= AHEAD) {
            found += split_block_query(&b->split, hashes[i % AHEAD]);
        }
        if (i < SAMPLE) {
            hashes[i % AHEAD] = fixed ? split_hash(b->text + (b->from + i) * WIDTH, WIDTH)
                                      : split_hash(b->strings[b->from + i], b->lens[b->from + i]);
            __builtin_prefetch(split_block_at(&b->split, hashes[i % AHEAD]));
        }
    }
    return found;
}

#define QUERY(filter, keys)                                                                        \
    tepal_filter_query_u64_many(b->filter, b->keys + b->from, SAMPLE, b->answers)
#define ADD(filter) tepal_filter_add_u64_many(b->filter, b->absent + b->from, SAMPLE)

RUN(limit_read, limit_lines(b, false))
RUN(limit_write, limit_lines(b, true))
RUN(classic_absent, classic_query_many(&b->classic, b->absent + b->from, SAMPLE))
RUN(classic_mixed, classic_query_many(&b->classic, b->mixed + b->from, SAMPLE))
RUN(classic_batch_add, (classic_add_many(&b->classic, b->absent + b->from, SAMPLE), 0))
RUN(blocked_absent, QUERY(blocked, absent))
RUN(blocked_add, ADD(blocked))
RUN(many_absent, QUERY(many, absent))
RUN(many_mixed, QUERY(many, mixed))
RUN(paired_absent, QUERY(paired, absent))
RUN(paired_add, ADD(paired))
RUN(flat_absent, QUERY(flat, absent))
RUN(flat_mixed, QUERY(flat, mixed))
RUN(flat_add, ADD(flat))
RUN(split_fixed, split_strings(b, true))
RUN(split_varying, split_strings(b, false))
RUN(blocked_fixed,
    tepal_filter_query_fixed_many(b->blocked, b->text + b->from * WIDTH, WIDTH, SAMPLE, b->answers))
RUN(blocked_varying, tepal_filter_query_bytes_many(b->blocked, b->strings + b->from,
                                                   b->lens + b->from, SAMPLE, b->answers))
RUN(blocked_packed,
    tepal_filter_query_packed_many(b->blocked, b->packed, b->offsets + b->from, SAMPLE, b->answers))

static double rate_of(struct batch *b, const struct tepal_filter *filter)
{
    size_t found = filter == NULL
                       ? classic_query_many(&b->classic, b->absent, TOTAL)
                       : tepal_filter_query_u64_many(filter, b->absent, TOTAL, b->answers);
    return (double)found / (double)TOTAL;
}

static void prepare(struct batch *b)
{
    uint64_t keys[CHUNK];
    uint64_t bits = b->n * 10;
    b->absent = must(malloc(TOTAL * 8));
    b->mixed = must(malloc(TOTAL * 8));
    b->answers = must(malloc((TOTAL + 63) / 64 * 8));
    b->text = must(malloc(TOTAL * WIDTH));
    b->strings = must(malloc(TOTAL * sizeof *b->strings));
    b->lens = must(malloc(TOTAL * sizeof *b->lens));
    b->packed = must(malloc(TOTAL * WIDTH));
    b->offsets = must(calloc(TOTAL + 1, sizeof *b->offsets));
    b->line_count = bits / 512 + 1;
    b->lines = must(ref_alloc((size_t)b->line_count * 64));
    b->classic = classic_make(bits);
    b->split = split_block_make(bits);
    must(b->classic.bytes);
    must(b->split.words);
    b->blocked = bars_filter(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_BLOCKED, bits, 0, b->n);
    b->many = bars_filter(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_BLOCKED, b->n * 16, 0, b->n);
    b->paired = bars_filter(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_PAIRED, bits, 0, b->n);
    b->flat = bars_filter(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, bits, 0, b->n);
    for (uint64_t i = 0; i < b->n; i += CHUNK) {
        size_t here = b->n - i < CHUNK ? (size_t)(b->n - i) : CHUNK;
        bars_keys(keys, i, here);
        classic_add_many(&b->classic, keys, here);
        for (size_t j = 0; j < here; j++) {
            split_block_add(&b->split, ref_hash(keys[j]));
        }
        (void)tepal_filter_add_u64_many(b->blocked, keys, here);
        (void)tepal_filter_add_u64_many(b->many, keys, here);
        (void)tepal_filter_add_u64_many(b->paired, keys, here);
        (void)tepal_filter_add_u64_many(b->flat, keys, here);
    }
    bars_keys(b->absent, b->n, TOTAL);
    for (size_t i = 0; i < TOTAL; i++) {
        uint64_t coin = bench_mix(~(uint64_t)i);
        b->mixed[i] = bench_mix(coin & 1 ? (coin >> 1) % b->n : b->n + i);
        for (size_t j = 0; j < WIDTH / 8; j++) {
            uint64_t word = bench_mix(i * WIDTH + j);
            memcpy(b->text + i * WIDTH + j * 8, &word, 8);
        }
        b->strings[i] = b->text + i * WIDTH;
        b->lens[i] = 4 + bench_mix(i) % (WIDTH - 4);
        b->offsets[i + 1] = b->offsets[i] + b->lens[i];
        memcpy(b->packed + b->offsets[i], b->strings[i], b->lens[i]);
    }
}

static void release(struct batch *b)
{
    free(b->absent);
    free(b->mixed);
    free(b->answers);
    free(b->text);
    free((void *)b->strings);
    free(b->lens);
    free(b->packed);
    free(b->offsets);
    free(b->lines);
    free(b->classic.bytes);
    free(b->split.words);
    tepal_filter_free(b->blocked);
    tepal_filter_free(b->many);
    tepal_filter_free(b->paired);
    tepal_filter_free(b->flat);
}

static void measure(struct bars *bars, struct batch *b)
{
    enum {
        LIMIT_READ,
        CLASSIC_ABSENT,
        CLASSIC_MIXED,
        BLOCKED_ABSENT,
        MANY_ABSENT,
        MANY_MIXED,
        PAIRED_ABSENT,
        FLAT_ABSENT,
        FLAT_MIXED,
        SPLIT_FIXED,
        SPLIT_VARYING,
        BLOCKED_FIXED,
        BLOCKED_VARYING,
        BLOCKED_PACKED,
        LIMIT_WRITE, /* from here on keys are added: when all queries are done */
        CLASSIC_ADD,
        BLOCKED_ADD,
        PAIRED_ADD,
        FLAT_ADD,
        RUNNERS
    };
    double (*const run[RUNNERS])(void *) = {
        limit_read,        classic_absent, classic_mixed,   blocked_absent, many_absent,
        many_mixed,        paired_absent,  flat_absent,     flat_mixed,     split_fixed,
        split_varying,     blocked_fixed,  blocked_varying, blocked_packed, limit_write,
        classic_batch_add, blocked_add,    paired_add,      flat_add,
    };
    struct runner r[RUNNERS];
    uint64_t n = b->n;
    double blocked = rate_of(b, b->blocked);
    double paired = rate_of(b, b->paired);
    double flat = rate_of(b, b->flat);
    double classic = rate_of(b, NULL);
    for (int i = 0; i < RUNNERS; i++) {
        r[i] = (struct runner){"", run[i], b, 0};
    }
    bars_measure(r, LIMIT_WRITE);
    bars_measure(r + LIMIT_WRITE, RUNNERS - LIMIT_WRITE);
    bars_row(bars, "batch: blocked query / limit", n, r[BLOCKED_ABSENT].ns, r[LIMIT_READ].ns,
             n < 100000000 ? NAN : 1.15, blocked, NAN);
    bars_row(bars, "batch: blocked add / limit", n, r[BLOCKED_ADD].ns, r[LIMIT_WRITE].ns,
             n < 100000000 ? NAN : 1.15, blocked, NAN);
    bars_row(bars, "batch: blocked, more than 8 hashes, mixed / absent", n, r[MANY_MIXED].ns,
             r[MANY_ABSENT].ns, NAN, NAN, NAN);
    bars_row(bars, "batch: paired query / classic", n, r[PAIRED_ABSENT].ns, r[CLASSIC_ABSENT].ns,
             0.5, paired, classic);
    bars_row(bars, "batch: paired add / classic", n, r[PAIRED_ADD].ns, r[CLASSIC_ADD].ns, 0.5,
             paired, classic);
    bars_row(bars, "batch: flat query / classic", n, r[FLAT_ABSENT].ns, r[CLASSIC_ABSENT].ns,
             n == 10000000 ? 0.85 : NAN, flat, classic);
    bars_row(bars, "batch: flat query, mixed / classic", n, r[FLAT_MIXED].ns, r[CLASSIC_MIXED].ns,
             1.0, flat, classic);
    bars_row(bars, "batch: flat add / classic", n, r[FLAT_ADD].ns, r[CLASSIC_ADD].ns, 1.0, flat,
             classic);
    bars_row(bars, "batch: blocked query, strings of 32 bytes / split block", n,
             r[BLOCKED_FIXED].ns, r[SPLIT_FIXED].ns, 0.95, NAN, NAN);
    bars_row(bars, "batch: blocked query, strings of 4 to 31 bytes / split block", n,
             r[BLOCKED_VARYING].ns, r[SPLIT_VARYING].ns, 0.95, NAN, NAN);
    bars_row(bars, "batch: blocked query, the same packed / split block", n, r[BLOCKED_PACKED].ns,
             r[SPLIT_VARYING].ns, 0.95, NAN, NAN);
}

void bars_batch(struct bars *bars)
{
    static const uint64_t sizes[] = {100000, 10000000, 100000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (!bars_wanted(bars, sizes[i])) {
            continue;
        }
        struct batch *b = must(calloc(1, sizeof *b));
        b->n = sizes[i];
        fprintf(stderr, "batches, n = %" PRIu64 "\n", b->n);
        prepare(b);
        measure(bars, b);
        release(b);
        free(b);
    }
}
