/*
 * bench.c: how fast, as ratios measured in one run. Three things stand side by side and take turns,
 * round by round, so that a noisy machine hurts all of them alike; the median round counts:
 *
 *   limit     what this machine can do at all: independent random reads (or reads and writes) of
 * 64-byte lines, prefetched, over an array as large as the filter libbloom  a packaged peer, used
 * as its interface offers: one key at a time tepal     every layout, batches of keys, hashing
 * inside the timed loop
 *
 * Output is TSV (or --json), one line a measurement. Progress goes to stderr.
 */
#include "timing.h"

#include <tepal/papers.h>

#include <bloom.h>
#include <sys/mman.h>

#include "mix.h"

#define ROUNDS 15
/*
 * Keys a round: few enough that reading them does not push a filter out of the cache, many enough
 * that asking them again does not bring a larger one into it.
 */
#define SAMPLE       ((size_t)500000)
#define SAMPLE_LARGE ((size_t)2000000)
#define BATCH        4096
#define WINDOW       64
#define STRING       32
#define LINE         64
#define HUGE_PAGE    ((size_t)2 << 20)

enum operation { QUERY_ABSENT, QUERY_PRESENT, ADD, OPERATIONS };
static const char *const operation_names[] = {"query_absent", "query_present", "add"};

enum subject { LIMIT, LIBBLOOM, FLAT, PARTITIONED, BLOCKED, PAIRED, SUBJECTS };
static const char *const subject_names[] = {"limit", "libbloom", "tepal",
                                            "tepal", "tepal",    "tepal"};

struct setting {
    uint64_t n;
    double bits_per_key;
    size_t width; /* of a key: 8 or STRING */
};

struct run {
    struct setting set;
    size_t sample;    /* keys a round */
    uint8_t *absent;  /* sample keys that are not in the filters */
    uint8_t *present; /* sample keys that are */
    uint64_t *lines;  /* the limit's array */
    uint64_t line_count;
    struct bloom peer;
    struct tepal_filter *filter[SUBJECTS]; /* FLAT and on */
    uint64_t *answers;
    double ns[SUBJECTS][OPERATIONS];
    double fp[SUBJECTS];
};

static volatile uint64_t sink;

static void *must_alloc(size_t bytes)
{
    void *p = must(aligned_alloc(HUGE_PAGE, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE));
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 0, bytes);
    return p;
}

/* Key number i: an integer, or 32 bytes of lower-case text. */
static void write_key(uint8_t *to, size_t width, uint64_t i)
{
    uint64_t word = bench_mix(i);
    if (width == 8) {
        memcpy(to, &word, 8);
        return;
    }
    for (size_t j = 0; j < width; j++) {
        if (j % 8 == 0) {
            word = bench_mix(i * 8 + j);
        }
        to[j] = (uint8_t)('a' + (word & 15));
        word >>= 4;
    }
}

static void write_keys(uint8_t *to, size_t width, uint64_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        write_key(to + i * width, width, first + i);
    }
}

/* ---- the limit ------------------------------------------------------------------------------- */

/* One step of a linear congruential generator, scaled to a line: as cheap as an index can be. */
static inline uint64_t *next_line(uint64_t *lines, uint64_t count, uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    __extension__ typedef unsigned __int128 wide;
    return lines + (uint64_t)(((wide)*state * count) >> 64) * (LINE / 8);
}

static double limit_ns(struct run *run, bool writing)
{
    uint64_t *window[WINDOW];
    uint64_t state = bench_mix((uint64_t)(uintptr_t)run + sink);
    uint64_t sum = 0;
    double start = wall_ns();
    for (size_t i = 0; i < WINDOW; i++) {
        window[i] = next_line(run->lines, run->line_count, &state);
        __builtin_prefetch(window[i]);
    }
    if (writing) {
        for (size_t i = 0; i < run->sample; i++) {
            uint64_t *line = window[i % WINDOW];
            window[i % WINDOW] = next_line(run->lines, run->line_count, &state);
            __builtin_prefetch(window[i % WINDOW]);
            for (int j = 0; j < LINE / 8; j++) {
                line[j] += i;
            }
        }
    } else {
        for (size_t i = 0; i < run->sample; i++) {
            uint64_t *line = window[i % WINDOW];
            window[i % WINDOW] = next_line(run->lines, run->line_count, &state);
            __builtin_prefetch(window[i % WINDOW]);
            for (int j = 0; j < LINE / 8; j++) {
                sum += line[j];
            }
        }
    }
    double spent = wall_ns() - start;
    sink += sum;
    return spent / (double)run->sample;
}

/* ---- the peer -------------------------------------------------------------------------------- */

static double peer_ns(struct run *run, enum operation op)
{
    const uint8_t *keys = op == QUERY_PRESENT ? run->present : run->absent;
    int width = (int)run->set.width;
    size_t sum = 0;
    double start = wall_ns();
    for (size_t i = 0; i < run->sample; i++) {
        const uint8_t *key = keys + i * run->set.width;
        sum += (size_t)(op == ADD ? bloom_add(&run->peer, key, width)
                                  : bloom_check(&run->peer, key, width));
    }
    double spent = wall_ns() - start;
    sink += sum;
    return spent / (double)run->sample;
}

/* ---- ours ------------------------------------------------------------------------------------ */

static double ours_ns(struct run *run, enum subject s, enum operation op)
{
    const uint8_t *keys = op == QUERY_PRESENT ? run->present : run->absent;
    size_t present = 0;
    double start = wall_ns();
    if (run->set.width == 8) {
        const uint64_t *integers = (const uint64_t *)(const void *)keys;
        if (op == ADD) {
            (void)tepal_filter_add_u64_many(run->filter[s], integers, run->sample);
        } else {
            present =
                tepal_filter_query_u64_many(run->filter[s], integers, run->sample, run->answers);
        }
    } else if (op == ADD) {
        (void)tepal_filter_add_fixed_many(run->filter[s], keys, run->set.width, run->sample);
    } else {
        present = tepal_filter_query_fixed_many(run->filter[s], keys, run->set.width, run->sample,
                                                run->answers);
    }
    double spent = wall_ns() - start;
    sink += present;
    if (op == QUERY_ABSENT) {
        run->fp[s] = (double)present / (double)run->sample;
    } else if (op == QUERY_PRESENT && present != run->sample) {
        die("a false negative: this must never happen");
    }
    return spent / (double)run->sample;
}

static double measure(struct run *run, enum subject s, enum operation op)
{
    switch (s) {
    case LIMIT:
        return limit_ns(run, op == ADD);
    case LIBBLOOM:
        return peer_ns(run, op);
    default:
        return ours_ns(run, s, op);
    }
}

/* ---- one setting ----------------------------------------------------------------------------- */

static enum tepal_layout layout_of(enum subject s)
{
    return (enum tepal_layout)(s - FLAT);
}

static void create_ours(struct run *run, enum subject s)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.layout = layout_of(s);
    params.cells = (uint64_t)((double)run->set.n * run->set.bits_per_key);
    params.cells = (params.cells + TEPAL_LINE_BITS - 1) / TEPAL_LINE_BITS * TEPAL_LINE_BITS;
    params.capacity = run->set.n;
    params.seed = 42;
    params.hashes =
        tepal_bloom_best_hashes(params.layout, params.positions, params.cells, run->set.n);
    if (tepal_filter_create(&params, NULL, &run->filter[s], NULL) != TEPAL_OK) {
        die("cannot create a filter");
    }
}

/* Every filter gets keys 0 .. n-1, untimed. */
static void fill(struct run *run)
{
    uint8_t *keys = must_alloc(BATCH * run->set.width);
    for (uint64_t i = 0; i < run->set.n; i += BATCH) {
        size_t here = run->set.n - i < BATCH ? (size_t)(run->set.n - i) : BATCH;
        write_keys(keys, run->set.width, i, here);
        for (int s = FLAT; s < SUBJECTS; s++) {
            if (run->set.width == 8) {
                (void)tepal_filter_add_u64_many(run->filter[s],
                                                (const uint64_t *)(const void *)keys, here);
            } else {
                (void)tepal_filter_add_fixed_many(run->filter[s], keys, run->set.width, here);
            }
        }
        for (size_t j = 0; j < here; j++) {
            (void)bloom_add(&run->peer, keys + j * run->set.width, (int)run->set.width);
        }
    }
    free(keys);
}

static void prepare(struct run *run)
{
    size_t width = run->set.width;
    run->sample = run->set.n < 100000000 ? SAMPLE : SAMPLE_LARGE;
    run->absent = must_alloc(run->sample * width);
    run->present = must_alloc(run->sample * width);
    write_keys(run->absent, width, run->set.n, run->sample);
    for (size_t i = 0; i < run->sample; i++) {
        write_key(run->present + i * width, width, bench_mix(i) % run->set.n);
    }
    run->answers = must_alloc((run->sample + 63) / 64 * 8);
    run->line_count = (uint64_t)((double)run->set.n * run->set.bits_per_key / 8 / LINE) + 1;
    run->lines = must_alloc(run->line_count * LINE);
    /* libbloom sizes itself from an error rate: bits per key = -ln(error) / ln(2)^2. */
    double error = exp(-run->set.bits_per_key * 0.480453013918201);
    if (bloom_init(&run->peer, (int)run->set.n, error) != 0) {
        die("libbloom cannot make this size");
    }
    for (int s = FLAT; s < SUBJECTS; s++) {
        create_ours(run, (enum subject)s);
    }
    fill(run);
}

static void release(struct run *run)
{
    free(run->absent);
    free(run->present);
    free(run->answers);
    free(run->lines);
    bloom_free(&run->peer);
    for (int s = FLAT; s < SUBJECTS; s++) {
        tepal_filter_free(run->filter[s]);
    }
}

static void measure_all(struct run *run)
{
    for (int op = 0; op < OPERATIONS; op++) {
        double rounds[SUBJECTS][ROUNDS];
        for (int r = 0; r < ROUNDS; r++) {
            for (int s = 0; s < SUBJECTS; s++) {
                rounds[s][r] = measure(run, (enum subject)s, (enum operation)op);
            }
        }
        for (int s = 0; s < SUBJECTS; s++) {
            run->ns[s][op] = median(rounds[s], ROUNDS);
        }
        if (op == QUERY_ABSENT) {
            size_t hits = 0;
            for (size_t i = 0; i < run->sample; i++) {
                hits += (size_t)bloom_check(&run->peer, run->absent + i * run->set.width,
                                            (int)run->set.width);
            }
            run->fp[LIBBLOOM] = (double)hits / (double)run->sample;
        }
    }
}

static void print_row(const struct run *run, enum subject s, enum operation op, bool json,
                      bool *first)
{
    double ns = run->ns[s][op];
    double limit = ns / run->ns[LIMIT][op];
    double peer = run->ns[LIBBLOOM][op] / ns; /* how many times as fast as the peer */
    const char *layout = s < FLAT ? "-" : tepal_layout_name(layout_of(s));
    const char *keys = run->set.width == 8 ? "u64" : "str32";
    if (json) {
        printf("%s\n  {\"name\": \"%s-%s\", \"layout\": \"%s\", \"n\": %" PRIu64
               ", \"bits_per_key\": %g, \"operation\": \"%s\", \"ns_per_key\": %.3f, "
               "\"ratio_to_limit\": %.3f, \"ratio_to_libbloom\": %.3f, \"fp\": ",
               before_row(first), subject_names[s], keys, layout, run->set.n, run->set.bits_per_key,
               operation_names[op], ns, limit, peer);
        printf(s == LIMIT ? "null}" : "%.6f}", run->fp[s]);
    } else {
        printf("%s-%s\t%s\t%" PRIu64 "\t%g\t%s\t%.2f\t%.2f\t%.2f\t", subject_names[s], keys, layout,
               run->set.n, run->set.bits_per_key, operation_names[op], ns, limit, peer);
        printf(s == LIMIT ? "-\n" : "%.6f\n", run->fp[s]);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct setting settings[] = {
        {100000, 10, 8},        {100000, 16, 8},        {10000000, 10, 8},  {10000000, 16, 8},
        {10000000, 10, STRING}, {10000000, 16, STRING}, {100000000, 10, 8}, {100000000, 16, 8},
    };
    struct options o = options_of(argc, argv);
    if (!o.json) {
        printf("name\tlayout\tn\tbits_per_key\toperation\tns_per_key\tratio_to_limit\t"
               "ratio_to_libbloom\tfp\n");
    }
    bool first = true;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (o.quick && settings[i].n > 10000000) {
            continue;
        }
        struct run *run = must(calloc(1, sizeof *run));
        run->set = settings[i];
        fprintf(stderr, "n = %" PRIu64 ", %g bits per key, keys of %zu bytes\n", run->set.n,
                run->set.bits_per_key, run->set.width);
        prepare(run);
        measure_all(run);
        for (int op = 0; op < OPERATIONS; op++) {
            for (int s = 0; s < SUBJECTS; s++) {
                print_row(run, (enum subject)s, (enum operation)op, o.json, &first);
            }
        }
        release(run);
        free(run);
    }
    if (o.json) {
        printf("\n]\n");
    }
    return 0;
}
