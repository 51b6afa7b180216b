/*
 * fingerprint_bench.c: the fingerprint filter beside the blocked Bloom filter of the same memory,
 * in one run: batches of digests, hashing outside the timed loop, every round of one followed by a
 * round of the other; medians. The last column is the Bloom filter's time over the fingerprint
 * filter's: 1 is as fast.
 *
 * Output is TSV, or --json. --quick leaves out the largest size.
 */
#include "timing.h"

#include <tepal/papers.h>

#define ROUNDS       15
#define SAMPLE       ((size_t)500000)
#define BATCH        ((size_t)4096)
#define BITS_PER_KEY 12

enum operation { QUERY_ABSENT, QUERY_PRESENT, REMOVE, ADD, OPERATIONS };
static const char *const names[] = {"query_absent", "query_present", "remove", "add"};

enum subject { BLOCKED, FINGERPRINT, SUBJECTS };

struct run {
    uint64_t n;
    struct tepal_hasher hasher;
    struct tepal_filter *filter[SUBJECTS];
    struct tepal_digest absent[SAMPLE];
    struct tepal_digest present[SAMPLE];
    uint64_t answers[(SAMPLE + 63) / 64];
    double fp[SUBJECTS];
};

static void fill(struct run *run)
{
    static struct tepal_digest digests[BATCH];
    for (uint64_t i = 0; i < run->n; i += BATCH) {
        size_t here = run->n - i < BATCH ? (size_t)(run->n - i) : BATCH;
        for (size_t j = 0; j < here; j++) {
            digests[j] = tepal_hash_u64(&run->hasher, i + j);
        }
        for (int s = 0; s < SUBJECTS; s++) {
            if (tepal_filter_add_many(run->filter[s], digests, here) != TEPAL_OK) {
                die("a filter is full");
            }
        }
    }
}

static void prepare(struct run *run)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_params prints = TEPAL_PARAMS_INIT;
    p.layout = TEPAL_LAYOUT_BLOCKED;
    p.cells = run->n * BITS_PER_KEY / TEPAL_LINE_BITS * TEPAL_LINE_BITS;
    p.hashes = tepal_bloom_best_hashes(p.layout, p.positions, p.cells, run->n);
    p.seed = 42;
    prints.kind = TEPAL_KIND_FINGERPRINT;
    prints.seed = 42;
    if (tepal_params_for_bits(&prints, run->n, run->n * BITS_PER_KEY, NULL) != TEPAL_OK ||
        tepal_filter_create(&p, NULL, &run->filter[BLOCKED], NULL) != TEPAL_OK ||
        tepal_filter_create(&prints, NULL, &run->filter[FINGERPRINT], NULL) != TEPAL_OK) {
        die("cannot create the filters");
    }
    (void)tepal_filter_hasher(run->filter[BLOCKED], &run->hasher);
    fill(run);
    /* Members in an order that is not the order of their addition, each at most once. */
    for (size_t i = 0; i < SAMPLE; i++) {
        run->absent[i] = tepal_hash_u64(&run->hasher, run->n + i);
        run->present[i] = tepal_hash_u64(&run->hasher, (i * UINT64_C(7368787) + 5) % run->n);
    }
}

static double measure(struct run *run, enum subject s, enum operation op)
{
    struct tepal_filter *filter = run->filter[s];
    size_t sample = run->n < SAMPLE ? (size_t)run->n : SAMPLE;
    size_t found = sample;
    double start = wall_ns();
    switch (op) {
    case QUERY_ABSENT:
        found = tepal_filter_query_many(filter, run->absent, sample, run->answers);
        run->fp[s] = (double)found / (double)sample;
        break;
    case QUERY_PRESENT:
        found = tepal_filter_query_many(filter, run->present, sample, run->answers);
        break;
    case REMOVE:
        (void)tepal_filter_remove_many(filter, run->present, sample, &found);
        break;
    default:
        (void)tepal_filter_add_many(filter, run->present, sample);
        break;
    }
    double spent = wall_ns() - start;
    if (op != QUERY_ABSENT && found != sample && (op != REMOVE || s == FINGERPRINT)) {
        die("a false negative: this must never happen");
    }
    return spent / (double)sample;
}

static void print_row(const struct run *run, enum operation op, const double ns[SUBJECTS],
                      bool json, bool *first)
{
    if (json) {
        printf("%s\n  {\"name\": \"fingerprint\", \"n\": %" PRIu64 ", \"bits_per_key\": %d, "
               "\"operation\": \"%s\", \"ns_per_key\": %.3f, \"ratio_to_blocked\": ",
               before_row(first), run->n, BITS_PER_KEY, names[op], ns[FINGERPRINT]);
        printf(op == REMOVE ? "null" : "%.3f", ns[BLOCKED] / ns[FINGERPRINT]);
        printf(", \"fp\": %.6f, \"fp_blocked\": %.6f}", run->fp[FINGERPRINT], run->fp[BLOCKED]);
    } else {
        printf("fingerprint\t%" PRIu64 "\t%d\t%s\t%.2f\t", run->n, BITS_PER_KEY, names[op],
               ns[FINGERPRINT]);
        printf(op == REMOVE ? "-" : "%.2f", ns[BLOCKED] / ns[FINGERPRINT]);
        printf("\t%.6f\t%.6f\n", run->fp[FINGERPRINT], run->fp[BLOCKED]);
    }
    fflush(stdout);
}

/* Removal and addition take turns, so that the load stays what it is. */
static void measure_all(struct run *run, bool json, bool *first)
{
    static double rounds[OPERATIONS][SUBJECTS][ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        for (int op = 0; op < OPERATIONS; op++) {
            for (int s = 0; s < SUBJECTS; s++) {
                rounds[op][s][r] = measure(run, (enum subject)s, (enum operation)op);
            }
        }
    }
    for (int op = 0; op < OPERATIONS; op++) {
        double ns[SUBJECTS];
        for (int s = 0; s < SUBJECTS; s++) {
            ns[s] = median(rounds[op][s], ROUNDS);
        }
        print_row(run, (enum operation)op, ns, json, first);
    }
}

int main(int argc, char **argv)
{
    static const uint64_t sizes[] = {100000, 10000000, 100000000};
    struct options o = options_of(argc, argv);
    bool first = true;
    if (!o.json) {
        printf("name\tn\tbits_per_key\toperation\tns_per_key\tratio_to_blocked\tfp\tfp_blocked\n");
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (o.quick && sizes[i] > 10000000) {
            continue;
        }
        struct run *run = must(calloc(1, sizeof *run));
        run->n = sizes[i];
        fprintf(stderr, "n = %" PRIu64 ", %d bits per key\n", run->n, BITS_PER_KEY);
        prepare(run);
        measure_all(run, o.json, &first);
        tepal_filter_free(run->filter[BLOCKED]);
        tepal_filter_free(run->filter[FINGERPRINT]);
        free(run);
    }
    if (o.json) {
        printf("\n]\n");
    }
    return 0;
}
