/*
 * recycling_bench.c: what does it cost to answer and to insert? A blocked two-phase filter of 64
 * MiB (8 hashes, sigma at half of a phase) beside a blocked Bloom filter of the same memory, which
 * is asked only; all messages are new, so that every one of them is inserted. One by one and in
 * batches:
 *
 *     bloom query      one line read
 *     recycling query  one line in each phase read
 *     seen             the same, and one written; the recycling itself (clearing a phase) is in it
 *
 * `speed` is the speed in units of the Bloom filter's query in the same way of asking. Then the
 * model: how long M = 10^8, k = 7 takes by the sweep and by the closed form, and the slowest plan
 * of several sizes, layouts and phases.
 *
 * Medians of ROUNDS rounds, all taking turns. Output is TSV (or --json).
 */
#include "timing.h"

#include <tepal/papers.h>

#define ROUNDS   9
#define MESSAGES ((size_t)1 << 19)
#define BITS     ((uint64_t)1 << 29)
#define HASHES   8

static bool json;

static void line(const char *what, const char *way, double ns, double speed)
{
    if (json) {
        printf("{\"recycling\": \"%s\", \"way\": \"%s\", \"ns\": %.2f, \"speed\": %.3f}\n", what,
               way, ns, speed);
    } else {
        printf("%s\t%s\t%.2f\t%.3f\n", what, way, ns, speed);
    }
}

/* ---- the filter ------------------------------------------------------------------------------ */

struct scene {
    struct tepal_filter *bloom;
    struct tepal_filter *recycling;
    struct tepal_digest *digests;
    uint64_t *answers;
    struct tepal_hasher hasher;
    uint64_t next;
};

static void scene_make(struct scene *s)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.layout = TEPAL_LAYOUT_BLOCKED;
    p.hashes = HASHES;
    p.cells = BITS;
    s->digests = malloc(MESSAGES * sizeof *s->digests);
    s->answers = malloc(MESSAGES / 8);
    if (s->digests == NULL || s->answers == NULL ||
        tepal_filter_create(&p, NULL, &s->bloom, NULL) != TEPAL_OK) {
        die("no Bloom filter");
    }
    p.cells = BITS / 2;
    p.kind = TEPAL_KIND_RECYCLING;
    p.recycling.phases = 2;
    p.recycling.limit = p.cells / 2;
    p.recycling.flags = TEPAL_RECYCLING_RETAIN;
    if (tepal_filter_create(&p, NULL, &s->recycling, NULL) != TEPAL_OK) {
        die("no recycling filter");
    }
    tepal_hasher_init(1, &s->hasher);
}

static void new_messages(struct scene *s)
{
    for (size_t i = 0; i < MESSAGES; i++) {
        s->digests[i] = tepal_hash_u64(&s->hasher, s->next++);
    }
}

enum { BLOOM, QUERY, SEEN, KINDS };

static size_t one_by_one(struct scene *s, int what)
{
    size_t yes = 0;
    for (size_t i = 0; i < MESSAGES; i++) {
        bool seen = false;
        if (what == BLOOM) {
            seen = tepal_filter_query(s->bloom, s->digests[i]);
        } else if (what == QUERY) {
            seen = tepal_filter_query(s->recycling, s->digests[i]);
        } else {
            (void)tepal_filter_test_add(s->recycling, s->digests[i], &seen);
        }
        yes += seen;
    }
    return yes;
}

static size_t in_batches(struct scene *s, int what)
{
    size_t yes = 0;
    if (what == BLOOM) {
        return tepal_filter_query_many(s->bloom, s->digests, MESSAGES, s->answers);
    }
    if (what == QUERY) {
        return tepal_filter_query_many(s->recycling, s->digests, MESSAGES, s->answers);
    }
    (void)tepal_filter_test_add_many(s->recycling, s->digests, MESSAGES, s->answers, &yes);
    return yes;
}

static void filters(void)
{
    static const char *const names[KINDS] = {"bloom query", "recycling query", "seen"};
    static double ns[2][KINDS][ROUNDS];
    struct scene s = {0};
    size_t yes = 0;
    scene_make(&s);
    for (int i = 0; i < 80; i++) { /* until the Bloom filter is half full and cycles have ended */
        new_messages(&s);
        (void)in_batches(&s, SEEN);
        (void)tepal_filter_add_many(s.bloom, s.digests, MESSAGES);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int batch = 0; batch < 2; batch++) {
            for (int what = 0; what < KINDS; what++) {
                new_messages(&s);
                double start = cpu_ns();
                yes += batch ? in_batches(&s, what) : one_by_one(&s, what);
                ns[batch][what][round] = (cpu_ns() - start) / (double)MESSAGES;
            }
        }
    }
    for (int batch = 0; batch < 2; batch++) {
        double unit = median(ns[batch][BLOOM], ROUNDS);
        for (int what = 0; what < KINDS; what++) {
            double time = median(ns[batch][what], ROUNDS);
            line(names[what], batch ? "batch" : "one by one", time, unit / time);
        }
    }
    struct tepal_recycling_figures figures = {.cycles = 0};
    (void)tepal_recycling_get_figures(s.recycling, &figures);
    if (yes == 0 || figures.cycles == 0) {
        die("nothing happened");
    }
    tepal_filter_free(s.bloom);
    tepal_filter_free(s.recycling);
    free(s.digests);
    free(s.answers);
}

/* ---- the model ------------------------------------------------------------------------------- */

static double slowest_plan(void)
{
    double most = 0;
    for (int layout = 0; layout < 4; layout++) {
        for (unsigned log = 12; log <= 60; log += 12) {
            for (uint32_t phases = 1; phases <= 4; phases++) {
                struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
                struct tepal_recycling_rates rates;
                double best = 1e300;
                for (int again = 0; again < 3; again++) {
                    s.layout = (enum tepal_layout)layout;
                    s.bits = (uint64_t)1 << log;
                    s.phases = phases;
                    s.hashes = 0;
                    s.sigma = 0;
                    double start = cpu_ns();
                    if (tepal_recycling_best_sigma(&s, 0.01, &rates) != TEPAL_OK) {
                        die("no plan");
                    }
                    double ns = cpu_ns() - start;
                    best = ns < best ? ns : best;
                }
                most = best > most ? best : most;
            }
        }
    }
    return most;
}

static void models(void)
{
    struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
    struct tepal_recycling_rates rates;
    s.bits = 100000000;
    s.hashes = 7;
    s.sigma = 50000000;
    double start = cpu_ns();
    (void)tepal_recycling_average(&s, TEPAL_RECYCLING_SWEEP, &rates);
    double sweep = cpu_ns() - start;
    start = cpu_ns();
    for (int i = 0; i < 1000; i++) {
        (void)tepal_recycling_average(&s, TEPAL_RECYCLING_CLOSED, &rates);
    }
    double closed = (cpu_ns() - start) / 1000;
    line("model of 10^8 bits", "sweep", sweep, 1);
    line("model of 10^8 bits", "closed", closed, sweep / closed);
    line("slowest plan", "any layout, 2^12..2^60 bits", slowest_plan(), 1);
}

int main(int argc, char **argv)
{
    json = options_of(argc, argv).json;
    if (!json) {
        printf("# recycling\tway\tns\tspeed\n");
    }
    filters();
    models();
    return 0;
}
