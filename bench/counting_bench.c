/*
 * counting_bench.c: what counters cost, as ratios measured in one run. The subjects take turns,
 * round by round, and the median round counts:
 *
 *   libbloom         Debian's Bloom filter, one key at a time: queries
 *   bloom-blocked    ours, in batches: queries, additions
 *   counting-*       blocked and flat, with one and with two choices: queries, additions, removals
 *
 * All have as many cells and hashes; keys are integers, hashed within the timed loop. What a round
 * adds it removes again. `ratio` is how many times as fast as the subject in `against`.
 *
 * Output is TSV (or --json), one line a measurement.
 */
#include "timing.h"

#include <bloom.h>

#include "mix.h"

#define ROUNDS        21
#define SAMPLE        ((size_t)400000)
#define CHUNK         4096
#define CELLS_PER_KEY 10
#define HASHES        7

enum operation { ABSENT, PRESENT, ADD, REMOVE, OPERATIONS };
static const char *const operation_names[] = {"query_absent", "query_present", "add", "remove"};

enum subject { LIBBLOOM, BLOOM, BLOCKED, BLOCKED_2, FLAT, FLAT_2, SUBJECTS };
static const char *const subject_names[] = {"libbloom",           "bloom-blocked",
                                            "counting-blocked-1", "counting-blocked-2",
                                            "counting-flat-1",    "counting-flat-2"};

struct run {
    uint64_t n;
    struct bloom peer;
    struct tepal_filter *bloom;
    struct tepal_filter *counting[SUBJECTS];
    struct tepal_hasher hasher;
    uint64_t *keys[2]; /* absent, present */
    uint8_t *groups;   /* receipts of a round */
    double ns[SUBJECTS][OPERATIONS];
};

static volatile uint64_t sink;

/* ---- operations ------------------------------------------------------------------------------ */

static uint64_t peer_chunk(struct run *run, const uint64_t *keys, size_t count, bool adding)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (uint64_t)(adding ? bloom_add(&run->peer, &keys[i], 8)
                                 : bloom_check(&run->peer, &keys[i], 8));
    }
    return sum;
}

static uint64_t chunk(struct run *run, enum subject s, enum operation op, const uint64_t *keys,
                      size_t count, uint8_t *groups)
{
    struct tepal_digest digests[CHUNK];
    uint64_t answers[CHUNK / 64];
    size_t found = 0;
    if (s == LIBBLOOM) {
        return peer_chunk(run, keys, count, op == ADD);
    }
    tepal_hash_u64_many(&run->hasher, keys, count, digests);
    if (s == BLOOM) {
        if (op != ADD) {
            return tepal_filter_query_many(run->bloom, digests, count, answers);
        }
        (void)tepal_filter_add_many(run->bloom, digests, count);
        return 0;
    }
    switch (op) {
    case ADD:
        (void)tepal_counting_add_many(run->counting[s], digests, count, groups);
        return 0;
    case REMOVE:
        (void)tepal_counting_remove_many(run->counting[s], digests, groups, count, NULL, &found);
        if (found != count) {
            die("a key that was added could not be removed");
        }
        return 0;
    default:
        return tepal_filter_query_many(run->counting[s], digests, count, answers);
    }
}

static double measure(struct run *run, enum subject s, enum operation op)
{
    const uint64_t *keys = run->keys[op == PRESENT];
    uint64_t found = 0;
    double start = wall_ns();
    for (size_t i = 0; i < SAMPLE; i += CHUNK) {
        size_t here = SAMPLE - i < CHUNK ? SAMPLE - i : CHUNK;
        found += chunk(run, s, op, keys + i, here, run->groups + i);
    }
    double spent = wall_ns() - start;
    if (op == PRESENT && found != SAMPLE) {
        die("a false negative: this must never happen");
    }
    sink += found;
    return spent / (double)SAMPLE;
}

/* Neither Bloom filter removes; and once more keys are added, their queries are not comparable. */
static bool takes_part(enum subject s, enum operation op)
{
    return op < ADD || (op == ADD && s != LIBBLOOM) || s >= BLOCKED;
}

static void measure_all(struct run *run)
{
    static double rounds[OPERATIONS][SUBJECTS][ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        for (int op = 0; op < ADD; op++) {
            for (int s = 0; s < SUBJECTS; s++) {
                rounds[op][s][r] = measure(run, (enum subject)s, (enum operation)op);
            }
        }
    }
    for (int r = 0; r < ROUNDS; r++) {
        for (int s = BLOOM; s < SUBJECTS; s++) {
            for (int op = ADD; op <= REMOVE; op++) {
                if (takes_part((enum subject)s, (enum operation)op)) {
                    rounds[op][s][r] = measure(run, (enum subject)s, (enum operation)op);
                }
            }
        }
    }
    for (int op = 0; op < OPERATIONS; op++) {
        for (int s = 0; s < SUBJECTS; s++) {
            run->ns[s][op] = median(rounds[op][s], ROUNDS);
        }
    }
}

/* ---- one size -------------------------------------------------------------------------------- */

static void create(struct run *run)
{
    for (int s = BLOOM; s < SUBJECTS; s++) {
        struct tepal_params p = TEPAL_PARAMS_INIT;
        p.layout = s >= FLAT ? TEPAL_LAYOUT_FLAT : TEPAL_LAYOUT_BLOCKED;
        p.cells = run->n * CELLS_PER_KEY / TEPAL_LINE_BITS * TEPAL_LINE_BITS;
        p.hashes = HASHES;
        p.seed = 42;
        enum tepal_status status;
        if (s == BLOOM) {
            status = tepal_filter_create(&p, NULL, &run->bloom, NULL);
        } else {
            uint32_t c = s == BLOCKED_2 || s == FLAT_2 ? 2 : 1;
            p.kind = TEPAL_KIND_COUNTING;
            p.counting.choices = c;
            p.counting.rule = (uint64_t)tepal_counting_default_rule(p.layout, c);
            status = tepal_filter_create(&p, NULL, &run->counting[s], NULL);
        }
        if (status != TEPAL_OK) {
            die("cannot create a filter");
        }
    }
    /* libbloom sizes itself from an error rate: bits per key = -ln(error) / ln(2)^2. */
    if (bloom_init(&run->peer, (int)run->n, exp(-CELLS_PER_KEY * 0.480453013918201)) != 0) {
        die("libbloom cannot make this size");
    }
}

static void fill(struct run *run)
{
    uint64_t keys[CHUNK];
    for (uint64_t i = 0; i < run->n; i += CHUNK) {
        size_t here = run->n - i < CHUNK ? (size_t)(run->n - i) : CHUNK;
        for (size_t j = 0; j < here; j++) {
            keys[j] = bench_mix(i + j);
        }
        for (int s = 0; s < SUBJECTS; s++) {
            (void)chunk(run, (enum subject)s, ADD, keys, here, run->groups);
        }
    }
    for (size_t i = 0; i < SAMPLE; i++) {
        run->keys[0][i] = bench_mix(run->n + i);
        run->keys[1][i] = bench_mix(bench_mix(i) % run->n);
    }
}

/* Against whom a measurement is told: the bars of the kind. */
static enum subject against(enum subject s, enum operation op, enum operation *its)
{
    *its = op == REMOVE ? ADD : op; /* removal against the same filter's addition */
    if (op == REMOVE) {
        return s;
    }
    if (op == ADD && (s == BLOCKED_2 || s == FLAT_2)) {
        return (enum subject)(s - 1); /* two choices against one */
    }
    return BLOOM;
}

static void print_rows(const struct run *run, bool json, bool *first)
{
    for (int op = 0; op < OPERATIONS; op++) {
        for (int s = 0; s < SUBJECTS; s++) {
            if (!takes_part((enum subject)s, (enum operation)op)) {
                continue;
            }
            enum operation its;
            enum subject other = against((enum subject)s, (enum operation)op, &its);
            double ratio = run->ns[other][its] / run->ns[s][op];
            double peer = op < ADD ? run->ns[LIBBLOOM][op] / run->ns[s][op] : NAN;
            if (json) {
                printf("%s\n  {\"name\": \"%s\", \"n\": %" PRIu64
                       ", \"operation\": \"%s\", \"ns_per_key\": %.3f, \"against\": \"%s %s\", "
                       "\"ratio\": %.3f, \"ratio_to_libbloom\": ",
                       before_row(first), subject_names[s], run->n, operation_names[op],
                       run->ns[s][op], subject_names[other], operation_names[its], ratio);
                printf(isnan(peer) ? "null}" : "%.3f}", peer);
            } else {
                printf("%s\t%" PRIu64 "\t%s\t%.2f\t%s %s\t%.2f\t", subject_names[s], run->n,
                       operation_names[op], run->ns[s][op], subject_names[other],
                       operation_names[its], ratio);
                printf(isnan(peer) ? "-\n" : "%.2f\n", peer);
            }
        }
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const uint64_t sizes[] = {100000, 10000000};
    struct options o = options_of(argc, argv);
    bool first = true;
    if (!o.json) {
        printf("name\tn\toperation\tns_per_key\tagainst\tratio\tratio_to_libbloom\n");
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct run *run = must(calloc(1, sizeof *run));
        run->n = sizes[i];
        run->groups = must(malloc(SAMPLE + CHUNK));
        run->keys[0] = must(malloc(SAMPLE * 8));
        run->keys[1] = must(malloc(SAMPLE * 8));
        tepal_hasher_init(42, &run->hasher);
        create(run);
        fill(run);
        measure_all(run);
        print_rows(run, o.json, &first);
        for (int s = BLOCKED; s < SUBJECTS; s++) {
            tepal_filter_free(run->counting[s]);
        }
        tepal_filter_free(run->bloom);
        bloom_free(&run->peer);
        free(run->groups);
        free(run->keys[0]);
        free(run->keys[1]);
        free(run);
    }
    if (o.json) {
        printf("\n]\n");
    }
    return 0;
}
