/*
 * retouch_bench.c: does retouching grow linearly? Flat filters of n = 10^5, 10^6 and 10^7 members
 * at 10 bits each (7 hashes), with n / 10 false positives to remove, all of them: 10^6 at the
 * largest. For each size and method one line: the time a member and a troublesome key, the peak of
 * memory a member (through the allocator hook; the result is counted, the inputs are not), the
 * members lost, and the time in units of improved-ratio's. Flat columns show linear growth, up to
 * the caches' edges.
 *
 * Each time is the median of ROUNDS runs, of processor time, the methods taking turns. Output is
 * TSV (or --json), and last, unless JSON is wanted, how sacrifice grows from each size to the next,
 * with the bound that this should keep. --quick leaves out the largest size.
 */
#include "timing.h"

#include <math.h>
#include <sys/mman.h>

#define ROUNDS       3
#define SIZES        3
#define BITS_PER_KEY 10
#define HASHES       7
#define BATCH        65536
#define HUGE_PAGE    ((size_t)2 << 20)

static const enum tepal_retouch_method methods[] = {TEPAL_RETOUCH_IMPROVED_RATIO,
                                                    TEPAL_RETOUCH_RATIO, TEPAL_RETOUCH_SACRIFICE};
#define METHODS (sizeof methods / sizeof *methods)

/* ---- memory ---------------------------------------------------------------------------------- */

struct meter {
    size_t now;
    size_t peak;
};

static void *meter_alloc(void *ctx, size_t size, size_t align)
{
    struct meter *m = ctx;
    m->now += size;
    m->peak = m->now > m->peak ? m->now : m->peak;
    align = size >= HUGE_PAGE ? HUGE_PAGE : align;
    size_t whole = (size + align - 1) / align * align;
    void *ptr = aligned_alloc(align, whole);
    if (ptr != NULL && align >= HUGE_PAGE) {
        (void)madvise(ptr, whole, MADV_HUGEPAGE); /* as the default allocator does */
    }
    return ptr;
}

static void meter_free(void *ctx, void *ptr, size_t size)
{
    struct meter *m = ctx;
    m->now -= size;
    free(ptr);
}

/* ---- a filter, its members, false positives of it -------------------------------------------- */

struct scene {
    size_t n;
    size_t b;
    struct tepal_filter *bloom;
    struct tepal_digest *members;
    struct tepal_digest *avoid;
};

static void scene_make(struct scene *s, size_t n)
{
    static uint64_t answers[BATCH / 64];
    static uint64_t keys[BATCH];
    static struct tepal_digest digests[BATCH];
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.cells = (uint64_t)n * BITS_PER_KEY;
    params.hashes = HASHES;
    params.capacity = n;
    params.seed = n;
    s->n = n;
    s->b = n / 10;
    s->members = must(malloc(n * sizeof *s->members));
    s->avoid = must(malloc(s->b * sizeof *s->avoid));
    if (tepal_filter_create(&params, NULL, &s->bloom, NULL) != TEPAL_OK) {
        die("no filter");
    }
    struct tepal_hasher hasher;
    (void)tepal_filter_hasher(s->bloom, &hasher);
    for (size_t i = 0; i < n; i++) {
        s->members[i] = tepal_hash_u64(&hasher, i);
    }
    (void)tepal_filter_add_many(s->bloom, s->members, n);
    uint64_t next = (uint64_t)1 << 40;
    for (size_t found = 0; found < s->b;) {
        for (size_t i = 0; i < BATCH; i++) {
            keys[i] = next++;
        }
        tepal_hash_u64_many(&hasher, keys, BATCH, digests);
        tepal_filter_query_many(s->bloom, digests, BATCH, answers);
        for (size_t i = 0; i < BATCH && found < s->b; i++) {
            if (answers[i / 64] >> i % 64 & 1) {
                s->avoid[found++] = digests[i];
            }
        }
    }
}

static void scene_free(struct scene *s)
{
    tepal_filter_free(s->bloom);
    free(s->members);
    free(s->avoid);
}

/* ---- measuring ------------------------------------------------------------------------------- */

struct result {
    double ns[ROUNDS];
    size_t peak;
    uint64_t lost;
    uint64_t left;
};

static void measure(const struct scene *s, enum tepal_retouch_method method, struct result *r,
                    int round)
{
    struct meter meter = {0, 0};
    struct tepal_allocator allocator = {meter_alloc, meter_free, &meter};
    struct tepal_known input = {
        .members = s->members, .member_count = s->n, .avoid = s->avoid, .avoid_count = s->b};
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    options.method = method;
    struct tepal_filter *out = NULL;
    struct tepal_retouch_report report;
    double start = cpu_ns();
    if (tepal_retouch(s->bloom, &input, &options, &allocator, &out, &report, NULL, NULL) !=
        TEPAL_OK) {
        die("retouching failed");
    }
    r->ns[round] = cpu_ns() - start;
    r->peak = meter.peak;
    r->lost = report.false_negatives;
    r->left = report.avoid_left;
    tepal_filter_free(out);
}

int main(int argc, char **argv)
{
    struct options o = options_of(argc, argv);
    size_t most = o.quick ? 1000000 : 10000000;
    if (!o.json) {
        printf("method\tmembers\tavoid\tns_per_member\tns_per_avoid\tbytes_per_member\t"
               "false_negatives\tavoid_left\ttimes_improved_ratio\n");
    }
    double sacrifice[SIZES]; /* nanoseconds at each size */
    size_t sizes = 0;
    for (size_t n = 100000; n <= most; n *= 10) {
        struct scene s;
        struct result result[METHODS];
        const int rounds = n < 10000000 ? ROUNDS : 1; /* these take half a minute each */
        scene_make(&s, n);
        for (int round = 0; round < rounds; round++) {
            for (size_t m = 0; m < METHODS; m++) {
                measure(&s, methods[m], &result[m], round);
            }
        }
        double unit = median(result[0].ns, (size_t)rounds);
        for (size_t m = 0; m < METHODS; m++) {
            struct result *r = &result[m];
            double ns = median(r->ns, (size_t)rounds);
            if (methods[m] == TEPAL_RETOUCH_SACRIFICE) {
                sacrifice[sizes++] = ns;
            }
            const char *format =
                o.json ? "{\"method\": \"%s\", \"members\": %zu, \"avoid\": %zu, "
                         "\"ns_per_member\": %.2f, \"ns_per_avoid\": %.1f, "
                         "\"bytes_per_member\": %.2f, \"false_negatives\": %" PRIu64
                         ", \"avoid_left\": %" PRIu64 ", \"times_improved_ratio\": %.2f}\n"
                       : "%s\t%zu\t%zu\t%.2f\t%.1f\t%.2f\t%" PRIu64 "\t%" PRIu64 "\t%.2f\n";
            printf(format, tepal_retouch_method_name(methods[m]), s.n, s.b, ns / (double)s.n,
                   ns / (double)s.b, (double)r->peak / (double)s.n, r->lost, r->left, ns / unit);
        }
        (void)fflush(stdout);
        scene_free(&s);
    }
    if (!o.json) {
        print_growth("retouch: sacrifice", 5, sacrifice, sizes);
    }
    return 0;
}
