/*
 * generalized_bench.c: the generalized filter beside the Bloom filter of the same size, layout and
 * number of hashes: batches of digests, the two taking turns round by round, the median round of
 * each (of processor time). `ratio_to_bloom` is the speed in units of the Bloom
 * filter's: above 1 is faster.
 *
 * Queries ask for keys that were never added (absent) and for the last ones added (present). Output
 * is TSV (or --json). --quick leaves out the filters beyond the cache.
 */
#include "timing.h"

#define ROUNDS 31
#define SAMPLE ((size_t)500000)

enum operation { QUERY_ABSENT, QUERY_PRESENT, ADD, OPERATIONS };
static const char *const operation_names[] = {"query_absent", "query_present", "add"};

enum subject { BLOOM, GENERALIZED, SUBJECTS };

struct setting {
    enum tepal_layout layout;
    uint64_t bits;
    uint32_t k0;
    uint32_t k1;
    uint32_t tolerance;
};

struct run {
    struct setting set;
    struct tepal_filter *filter[SUBJECTS];
    struct tepal_digest *absent;
    struct tepal_digest *present;
    uint64_t *answers;
    double ns[SUBJECTS][OPERATIONS];
};

static volatile size_t sink;

static void prepare(struct run *run)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_hasher hasher;
    const struct setting *set = &run->set;
    p.layout = set->layout;
    p.cells = set->bits;
    p.hashes = set->k0 + set->k1;
    p.seed = 42;
    if (tepal_filter_create(&p, NULL, &run->filter[BLOOM], NULL) != TEPAL_OK) {
        die("cannot create a Bloom filter");
    }
    p.kind = TEPAL_KIND_GENERALIZED;
    p.generalized.reset_hashes = set->k0;
    p.generalized.tolerance = set->tolerance;
    if (tepal_filter_create(&p, NULL, &run->filter[GENERALIZED], NULL) != TEPAL_OK) {
        die("cannot create a generalized filter");
    }
    run->absent = must(calloc(1, SAMPLE * sizeof *run->absent));
    run->present = must(calloc(1, SAMPLE * sizeof *run->present));
    run->answers = must(calloc(1, (SAMPLE + 63) / 64 * 8));
    tepal_hasher_init(p.seed, &hasher);
    /* as many keys as leave the Bloom filter half full */
    uint64_t keys = (uint64_t)((double)set->bits * 0.693 / p.hashes);
    for (uint64_t i = 0; i < keys; i += SAMPLE) {
        size_t here = keys - i < SAMPLE ? (size_t)(keys - i) : SAMPLE;
        for (size_t j = 0; j < here; j++) {
            run->present[j] = tepal_hash_u64(&hasher, i + j);
        }
        (void)tepal_filter_add_many(run->filter[BLOOM], run->present, here);
        (void)tepal_filter_add_many(run->filter[GENERALIZED], run->present, here);
    }
    for (size_t i = 0; i < SAMPLE; i++) {
        run->absent[i] = tepal_hash_u64(&hasher, keys + i);
        if (i >= keys) {
            run->present[i] = run->present[i % keys];
        }
    }
}

static double measure(struct run *run, enum subject s, enum operation op)
{
    const struct tepal_digest *digests = op == QUERY_PRESENT ? run->present : run->absent;
    double start = cpu_ns();
    if (op == ADD) {
        (void)tepal_filter_add_many(run->filter[s], digests, SAMPLE);
    } else {
        sink += tepal_filter_query_many(run->filter[s], digests, SAMPLE, run->answers);
    }
    return (cpu_ns() - start) / (double)SAMPLE;
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
    }
}

static void print_row(const struct run *run, enum operation op, bool json, bool *first)
{
    const struct setting *set = &run->set;
    const char *layout = tepal_layout_name(set->layout);
    double ns = run->ns[GENERALIZED][op];
    double ratio = run->ns[BLOOM][op] / ns;
    if (json) {
        printf("%s\n  {\"name\": \"generalized\", \"layout\": \"%s\", \"bits\": %" PRIu64
               ", \"reset_hashes\": %u, \"set_hashes\": %u, \"tolerance\": %u, \"operation\": "
               "\"%s\", \"ns_per_key\": %.3f, \"ratio_to_bloom\": %.3f}",
               before_row(first), layout, set->bits, set->k0, set->k1, set->tolerance,
               operation_names[op], ns, ratio);
    } else {
        printf("generalized\t%s\t%" PRIu64 "\t%u\t%u\t%u\t%s\t%.2f\t%.2f\n", layout, set->bits,
               set->k0, set->k1, set->tolerance, operation_names[op], ns, ratio);
    }
    fflush(stdout);
}

static void release(struct run *run)
{
    tepal_filter_free(run->filter[BLOOM]);
    tepal_filter_free(run->filter[GENERALIZED]);
    free(run->absent);
    free(run->present);
    free(run->answers);
    free(run);
}

int main(int argc, char **argv)
{
    const uint64_t small = (uint64_t)1 << 20;
    const uint64_t large = (uint64_t)1 << 30;
    const struct setting settings[] = {
        {TEPAL_LAYOUT_BLOCKED, small, 2, 2, 0}, {TEPAL_LAYOUT_BLOCKED, small, 4, 4, 0},
        {TEPAL_LAYOUT_BLOCKED, small, 4, 4, 1}, {TEPAL_LAYOUT_BLOCKED, small, 6, 8, 0},
        {TEPAL_LAYOUT_BLOCKED, small, 6, 8, 2}, {TEPAL_LAYOUT_FLAT, small, 2, 2, 0},
        {TEPAL_LAYOUT_BLOCKED, large, 2, 2, 0}, {TEPAL_LAYOUT_BLOCKED, large, 4, 4, 0},
        {TEPAL_LAYOUT_BLOCKED, large, 4, 4, 1}, {TEPAL_LAYOUT_BLOCKED, large, 6, 8, 0},
        {TEPAL_LAYOUT_BLOCKED, large, 6, 8, 2}, {TEPAL_LAYOUT_FLAT, large, 2, 2, 0},
    };
    struct options o = options_of(argc, argv);
    if (!o.json) {
        printf("name\tlayout\tbits\treset_hashes\tset_hashes\ttolerance\toperation\tns_per_key\t"
               "ratio_to_bloom\n");
    }
    bool first = true;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (o.quick && settings[i].bits > small) {
            continue;
        }
        struct run *run = must(calloc(1, sizeof *run));
        run->set = settings[i];
        prepare(run);
        measure_all(run);
        for (int op = 0; op < OPERATIONS; op++) {
            print_row(run, (enum operation)op, o.json, &first);
        }
        release(run);
    }
    if (o.json) {
        printf("\n]\n");
    }
    return 0;
}
