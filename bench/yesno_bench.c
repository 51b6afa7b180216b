/*
 * yesno_bench.c: known negatives. Two tables.
 *
 * Growth: building a yes-no filter (blocked, 10 bits a member, layout by the model) for n = 10^4,
 * 10^5, 10^6, 10^7 members and 10 n known negatives (one round at 10^7), on one core. A flat column
 * shows linear growth; the bars below it say by how many decades time grows in each.
 *
 * Comparison: 1.5 million URLs as members, 1.4 million as known negatives, as many that nobody
 * knew, 8.44 bits a member. For each structure the rate on known and on unknown negatives, lost
 * members, building and asking (strings hashed on the way; negatives, and members), then what
 * others have published for data of that size, on other machines: Stacked Filters (Deeds, Hentschel
 * and Idreos 2020) and HABF (Xie et al. 2021).
 *
 * Times are medians of ROUNDS, the structures taking turns. Output is TSV (or --json). --quick: a
 * tenth of the largest sizes.
 */
#include "timing.h"

#include <tepal/papers.h>

#define ROUNDS 5
#define BATCH  4096
#define SIZES  4

static bool json;

/* The parameters that the model chooses for so many bits. */
static struct tepal_params chosen(uint64_t bits, size_t n, size_t t)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_yesno_setting plan = {0};
    p.layout = TEPAL_LAYOUT_BLOCKED;
    p.seed = 1;
    p.capacity = n;
    bits = bits / TEPAL_LINE_BITS * TEPAL_LINE_BITS;
    if (tepal_yesno_best_setting(p.layout, p.positions, bits, n, t, &plan) != TEPAL_OK) {
        die("no layout");
    }
    p.kind = TEPAL_KIND_YESNO;
    p.cells = plan.yes_bits + plan.no_filters * plan.no_bits;
    p.hashes = plan.hashes;
    p.yesno = (struct tepal_yesno_params){.no_bits = plan.no_bits,
                                          .no_filters = plan.no_filters,
                                          .no_hashes = plan.no_hashes,
                                          .own_seeds = plan.own_seeds};
    return p;
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* Returns nanoseconds for all. */
static double grow(size_t n)
{
    size_t t = 10 * n;
    struct tepal_digest *keys = must(malloc((n + t) * sizeof *keys));
    struct tepal_hasher hasher;
    struct tepal_known_report report;
    double ns[ROUNDS];
    tepal_hasher_init(1, &hasher);
    for (size_t i = 0; i < n + t; i++) {
        keys[i] = tepal_hash_u64(&hasher, i);
    }
    struct tepal_params p = chosen(10 * n, n, t);
    struct tepal_known in = {
        .members = keys, .member_count = n, .avoid = keys + n, .avoid_count = t};
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    const int rounds = n < 10000000 ? ROUNDS : 1;
    for (int round = 0; round < rounds; round++) {
        struct tepal_filter *f;
        double start = cpu_ns();
        if (tepal_yesno_build(&p, &in, &how, NULL, &f, &report, NULL) != TEPAL_OK) {
            die("building failed");
        }
        ns[round] = cpu_ns() - start;
        tepal_filter_free(f);
    }
    double middle = median(ns, (size_t)rounds);
    const char *form = json ? "{\"table\": \"growth\", \"members\": %zu, \"avoid\": %zu, "
                              "\"ns_per_member\": %.1f, \"ns_per_key\": %.1f, "
                              "\"avoid_positive\": %" PRIu64 ", \"avoid_left\": %" PRIu64 "}\n"
                            : "%zu\t%zu\t%.1f\t%.1f\t%" PRIu64 "\t%" PRIu64 "\n";
    printf(form, n, t, middle / (double)n, middle / (double)(n + t), report.avoid_positive,
           report.avoid_left);
    (void)fflush(stdout);
    free(keys);
    return middle;
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* Strings, one after the other. */
struct urls {
    size_t count;
    char *text;
    size_t *end;
};

static void urls_make(struct urls *u, const char *word, size_t count)
{
    size_t room = count * 64;
    size_t at = 0;
    u->count = count;
    u->text = must(malloc(room));
    u->end = must(malloc((count + 1) * sizeof *u->end));
    u->end[0] = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t x = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
        at +=
            (size_t)snprintf(u->text + at, room - at,
                             "https://%s-%zu.example.org/%" PRIx64 "/index.html", word, i, x >> 40);
        u->end[i + 1] = at;
    }
}

static void urls_hash(const struct urls *u, const struct tepal_hasher *h, size_t first,
                      size_t count, struct tepal_digest *d)
{
    for (size_t i = 0; i < count; i++) {
        size_t from = u->end[first + i];
        d[i] = tepal_hash_bytes(h, u->text + from, u->end[first + i + 1] - from);
    }
}

static struct tepal_digest *urls_digests(const struct urls *u, const struct tepal_hasher *h)
{
    struct tepal_digest *d = must(malloc(u->count * sizeof *d));
    urls_hash(u, h, 0, u->count, d);
    return d;
}

static size_t ask(const struct tepal_filter *f, const struct urls *u, double *ns)
{
    struct tepal_hasher h;
    struct tepal_digest d[BATCH];
    uint64_t answers[BATCH / 64];
    size_t found = 0;
    (void)tepal_filter_hasher(f, &h);
    double start = cpu_ns();
    for (size_t at = 0; at < u->count; at += BATCH) {
        size_t here = u->count - at < BATCH ? u->count - at : BATCH;
        urls_hash(u, &h, at, here, d);
        found += tepal_filter_query_many(f, d, here, answers);
    }
    *ns = (cpu_ns() - start) / (double)u->count;
    return found;
}

enum structure { BLOOM_FLAT, BLOOM_BLOCKED, YESNO, CASCADE, STRUCTURES };

static const char *const names[STRUCTURES] = {"bloom, flat", "bloom, blocked", "yesno, blocked",
                                              "cascade, blocked"};

struct row {
    struct tepal_filter *filter;
    double build;
    double known;
    double unknown;
    size_t lost;
    double negative_ns[ROUNDS];
    double member_ns[ROUNDS];
};

static struct tepal_filter *make(enum structure s, uint64_t bits,
                                 const struct tepal_digest *members, size_t n,
                                 const struct tepal_digest *avoid, size_t t)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_known in = {
        .members = members, .member_count = n, .avoid = avoid, .avoid_count = t};
    struct tepal_filter *f = NULL;
    enum tepal_status status;
    p.seed = 1;
    p.layout = s == BLOOM_FLAT ? TEPAL_LAYOUT_FLAT : TEPAL_LAYOUT_BLOCKED;
    if (s == YESNO) {
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        p = chosen(bits, n, t);
        status = tepal_yesno_build(&p, &in, &how, NULL, &f, NULL, NULL);
    } else if (s == CASCADE) {
        struct tepal_cascade_options how = {.bits = bits};
        p.kind = TEPAL_KIND_CASCADE;
        status = tepal_cascade_build(&p, &in, &how, NULL, &f, NULL, NULL);
    } else {
        p.cells = s == BLOOM_FLAT ? bits : bits / TEPAL_LINE_BITS * TEPAL_LINE_BITS;
        p.hashes = tepal_bloom_best_hashes(p.layout, p.positions, p.cells, n);
        status = tepal_filter_create(&p, NULL, &f, NULL);
        if (status == TEPAL_OK) {
            status = tepal_filter_add_many(f, members, n);
        }
    }
    if (status != TEPAL_OK) {
        die("building failed");
    }
    return f;
}

static void print_row(const char *name, double bits, double known, double unknown, double lost,
                      double negative, double member, double build)
{
    const char *form =
        json ? "{\"table\": \"comparison\", \"structure\": \"%s\", \"bits_per_member\": %.2f, "
               "\"known_percent\": %.4f, \"unknown_percent\": %.4f, \"members_lost\": %.0f, "
               "\"negative_ns\": %.1f, \"member_ns\": %.1f, \"build_ns_per_member\": %.0f}\n"
             : "%s\t%.2f\t%.4f\t%.4f\t%.0f\t%.1f\t%.1f\t%.0f\n";
    printf(form, name, bits, known, unknown, lost, negative, member, build);
}

static void compare(size_t n, size_t t)
{
    struct urls member_urls;
    struct urls known_urls;
    struct urls unknown_urls;
    struct row rows[STRUCTURES];
    struct tepal_hasher h;
    uint64_t bits = (uint64_t)(8.44 * (double)n);
    tepal_hasher_init(1, &h);
    urls_make(&member_urls, "blocked", n);
    urls_make(&known_urls, "visited", t);
    urls_make(&unknown_urls, "stranger", t);
    struct tepal_digest *members = urls_digests(&member_urls, &h);
    struct tepal_digest *avoid = urls_digests(&known_urls, &h);
    for (int s = 0; s < STRUCTURES; s++) {
        double start = cpu_ns();
        rows[s].filter = make((enum structure)s, bits, members, n, avoid, t);
        rows[s].build = (cpu_ns() - start) / (double)n;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int s = 0; s < STRUCTURES; s++) {
            struct row *r = &rows[s];
            double ns;
            r->known = 100 * (double)ask(r->filter, &known_urls, &ns) / (double)t;
            r->unknown =
                100 * (double)ask(r->filter, &unknown_urls, &r->negative_ns[round]) / (double)t;
            r->lost = n - ask(r->filter, &member_urls, &r->member_ns[round]);
        }
    }
    for (int s = 0; s < STRUCTURES; s++) {
        struct row *r = &rows[s];
        size_t words;
        (void)tepal_filter_words(r->filter, &words);
        print_row(names[s], 64.0 * (double)words / (double)n, r->known, r->unknown, (double)r->lost,
                  median(r->negative_ns, ROUNDS), median(r->member_ns, ROUNDS), r->build);
        tepal_filter_free(r->filter);
    }
    free(members);
    free(avoid);
    struct urls *all[] = {&member_urls, &known_urls, &unknown_urls};
    for (size_t i = 0; i < 3; i++) {
        free(all[i]->text);
        free(all[i]->end);
    }
}

int main(int argc, char **argv)
{
    struct options o = options_of(argc, argv);
    size_t part = o.quick ? 10 : 1;
    json = o.json;
    if (!json) {
        printf("members\tavoid\tns_per_member\tns_per_key\tavoid_positive\tavoid_left\n");
    }
    double times[SIZES];
    size_t sizes = 0;
    for (size_t n = 10000; n <= (o.quick ? 1000000 : 10000000); n *= 10) {
        times[sizes++] = grow(n);
    }
    if (!json) {
        print_growth("yes-no: building", 4, times, sizes);
        printf("structure\tbits_per_member\tknown_percent\tunknown_percent\tmembers_lost\t"
               "negative_ns\tmember_ns\tbuild_ns_per_member\n");
    }
    compare(1500000 / part, 1400000 / part);
    if (!json) { /* on other machines and data of that size */
        printf("published: HABF\t8.44\t0.35\t-\t0\t121\t121\t2000\n"
               "published: HABF, fast\t8.44\t0.56\t-\t0\t81\t81\t-\n"
               "published: Stacked Filters\t8.44\t0.038\t2.0\t0\t41-73\t41-73\t1000\n");
    }
    return 0;
}
