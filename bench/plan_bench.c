/*
 * plan_bench.c: how long does a plan take? A broad set of wishes, each planned once, by processor
 * time: one in eight of the structured ones (keys from none to 10^12 against every subset of the
 * constraints), headers, weighted negatives, streams of every law, and random mixtures, of which
 * some cannot be fulfilled. Printed are the number of wishes, the median, the 99th percentile and
 * the slowest ten with what they wish.
 *
 * Output is TSV (or --json).
 */
#include "timing.h"

#include <tepal/plan.h>

#define RANDOM  300
#define SHARE   8 /* of the structured ones, one in so many */
#define SLOWEST 10
#define GAPS    4096
#define WEIGHTS 1024

struct timed {
    struct tepal_wish wish;
    double ms;
};

static struct timed *all;
static size_t count;
static size_t room;
static double gap[GAPS];
static double survival[GAPS];
static double part[WEIGHTS];
static double weight[WEIGHTS];
static uint64_t state = 7;
static unsigned share = SHARE;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static double draw(double low, double high) /* log-uniform */
{
    return exp(log(low) + uniform() * (log(high) - log(low)));
}

static bool chance(double p)
{
    return uniform() < p;
}

/* Nonsense is not timed: it takes no time. */
static void plan(const struct tepal_wish *w)
{
    static struct tepal_plans plans;
    if (chance(1 - 1.0 / share)) {
        return;
    }
    double before = cpu_ns();
    if (tepal_plan(w, &plans, NULL) != TEPAL_OK) {
        return;
    }
    double ms = (cpu_ns() - before) * 1e-6;
    if (count == room) {
        room = room == 0 ? 1024 : 2 * room;
        all = must(realloc(all, room * sizeof *all));
    }
    all[count++] = (struct timed){*w, ms};
}

static const double sizes[] = {0, 1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7, 1e9, 1e12};
#define SIZES (sizeof sizes / sizeof *sizes)

/* A law of gaps; the measured ones are a long list. */
static void set_stream(struct tepal_wish *w, enum tepal_stream stream)
{
    w->endless = true;
    w->stream = stream;
    w->stream_fresh = stream == TEPAL_STREAM_ZIPF ? 0 : 0.3;
    w->stream_a = stream == TEPAL_STREAM_GEOMETRIC ? 1e4 : stream == TEPAL_STREAM_PARETO ? 0.8 : 1;
    w->stream_b = 100;
    w->stream_keys = 1000000;
    w->gaps = (struct tepal_gaps){gap, survival, GAPS, 0.2};
}

/* Every subset of nine constraints, for every number of keys. */
static void plan_subsets(void)
{
    for (size_t i = 0; i < SIZES; i++) {
        for (unsigned set = 0; set < 512; set++) {
            struct tepal_wish w = TEPAL_WISH_INIT;
            w.keys = (uint64_t)sizes[i];
            w.fp = set & 1 ? 1e-3 : NAN;
            w.fn = set & 2 ? 1e-3 : NAN;
            w.bits = set & 4 ? (uint64_t)fmax(64, 12 * sizes[i]) : 0;
            w.deletes = set & 8;
            w.wrong_deletes = set & 8 && set & 16 ? 0.01 : 0;
            w.untrusted = set & 32;
            w.endless = set & 64;
            w.known_negatives = set & 128 ? (uint64_t)fmin(1e9, 3 * sizes[i] + 1) : 0;
            w.cost_fn = set & 256 ? 20 : 0;
            w.cost_fp = set & 256 ? 1 : 0;
            plan(&w);
        }
    }
}

static void plan_rates(void)
{
    for (size_t i = 1; i < SIZES; i++) {
        for (double fp = 0.5; fp > 1e-10; fp /= 3) {
            struct tepal_wish w = TEPAL_WISH_INIT;
            w.keys = (uint64_t)sizes[i];
            w.fp = fp;
            w.known_negatives = (uint64_t)fmin(1e9, sizes[i]);
            plan(&w);
            w.untrusted = true;
            w.fn = fp;
            plan(&w);
            w.endless = true;
            plan(&w);
        }
    }
}

static void plan_headers(void)
{
    for (uint64_t bits = 32; bits <= (uint64_t)1 << 20; bits *= 2) {
        for (uint64_t n = 1; n <= bits; n *= 3) {
            for (unsigned set = 0; set < 8; set++) {
                struct tepal_wish w = TEPAL_WISH_INIT;
                w.header_bits = bits;
                w.keys = n;
                w.known_negatives = set & 1 ? 3 * n : 0;
                w.untrusted = set & 2;
                w.fp = set & 4 ? 0.01 : NAN;
                plan(&w);
            }
        }
    }
}

/* The lightest share x of the negatives has x^steep of the weight. */
static void set_weights(struct tepal_wish *w, double steep)
{
    for (size_t i = 0; i < WEIGHTS; i++) {
        part[i] = (double)(i + 1) / WEIGHTS;
        weight[i] = pow(part[i], steep);
    }
    w->weights = (struct tepal_plan_weights){part, weight, WEIGHTS};
}

static void plan_weighted(void)
{
    for (size_t i = 1; i < SIZES; i++) {
        for (double each = 0.3; each < 1e4; each *= 10) {
            for (unsigned set = 0; set < 16; set++) {
                struct tepal_wish w = TEPAL_WISH_INIT;
                w.keys = (uint64_t)sizes[i];
                w.known_negatives = (uint64_t)fmin(1e9, sizes[i] * each) + 1;
                w.fp = set & 1 ? NAN : set & 2 ? 1e-3 : 0.03;
                w.bits = set & 1 ? (uint64_t)((set & 2 ? 3 : 10) * sizes[i]) + 64 : 0;
                w.fn = set & 4 ? 0.01 : NAN;
                set_weights(&w, set & 8 ? 2 : 8);
                plan(&w);
            }
        }
    }
}

static void plan_streams(void)
{
    for (int law = TEPAL_STREAM_UNKNOWN; law <= TEPAL_STREAM_ZIPF; law++) {
        for (size_t i = 0; i < SIZES; i++) {
            for (unsigned set = 0; set < 32; set++) {
                struct tepal_wish w = TEPAL_WISH_INIT;
                set_stream(&w, (enum tepal_stream)law);
                w.keys = (uint64_t)sizes[i];
                w.fp = set & 1 ? 0.01 : NAN;
                w.fp_average = set & 2 ? 1e-3 : NAN;
                w.fn = set & 4 ? 0.05 : NAN;
                w.bits = set & 8 ? (uint64_t)fmax(4096, 20 * sizes[i]) : 0;
                w.untrusted = set & 16;
                plan(&w);
            }
        }
    }
}

static void plan_random(void)
{
    for (int i = 0; i < RANDOM; i++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        w.keys = chance(0.9) ? (uint64_t)draw(1, 1e12) : 0;
        w.fp = chance(0.7) ? draw(1e-9, 0.9) : NAN;
        w.fn = chance(0.4) ? (chance(0.2) ? 0 : draw(1e-6, 0.9)) : NAN;
        w.bits = chance(0.4) ? (uint64_t)(draw(0.5, 200) * fmax(1, (double)w.keys)) + 1 : 0;
        w.deletes = chance(0.25);
        w.wrong_deletes = w.deletes && chance(0.5) ? draw(1e-4, 10) : 0;
        w.untrusted = chance(0.2);
        w.known_negatives = chance(0.4) ? (uint64_t)draw(1, 1e9) : 0;
        if (chance(0.25)) {
            set_stream(&w, (enum tepal_stream)(int)(uniform() * 5));
            w.stream_a = w.stream == TEPAL_STREAM_GEOMETRIC ? draw(1, 1e8) : draw(0.3, 2);
            w.stream_keys = (uint64_t)draw(1, 1e9);
            w.fp_average = chance(0.4) ? draw(1e-6, 0.5) : NAN;
        }
        w.header_bits = !w.deletes && w.bits == 0 && chance(0.1) ? (uint64_t)draw(32, 1e6) : 0;
        w.keys = w.header_bits > 0 ? 1 + w.keys % w.header_bits : w.keys;
        w.cost_fp = chance(0.3) ? draw(0.01, 100) : 0;
        w.cost_fn = chance(0.3) ? draw(0.01, 100) : 0;
        plan(&w);
    }
}

static int slower(const void *a, const void *b)
{
    double x = ((const struct timed *)a)->ms;
    double y = ((const struct timed *)b)->ms;
    return (x < y) - (x > y);
}

static void say_wish(const struct tepal_wish *w, char *text, size_t size)
{
    snprintf(text, size,
             "keys %.4g bits %.4g fp %.3g average %.3g fn %.3g deletes %d wrong %.3g untrusted %d "
             "negatives %.4g weighted %d endless %d stream %d header %.4g costs %.3g:%.3g",
             (double)w->keys, (double)w->bits, w->fp, w->fp_average, w->fn, w->deletes,
             w->wrong_deletes, w->untrusted, (double)w->known_negatives, w->weights.count > 0,
             w->endless, (int)w->stream, (double)w->header_bits, w->cost_fp, w->cost_fn);
}

static void line(bool json, const char *what, double ms, const char *wish)
{
    printf(json ? "{\"bench\":\"plan\",\"what\":\"%s\",\"ms\":%.3f,\"wish\":\"%s\"}\n"
                : "plan\t%s\t%.3f\t%s\n",
           what, ms, wish);
}

int main(int argc, char **argv)
{
    struct options o = options_of(argc, argv);
    for (size_t i = 0; i < GAPS; i++) {
        gap[i] = (double)(i + 1) * (double)(i + 1);
        survival[i] = 1 / (1 + 0.01 * (double)(i + 1));
    }
    plan_subsets();
    plan_rates();
    plan_headers();
    plan_weighted();
    plan_streams();
    share = 1;
    plan_random();
    qsort(all, count, sizeof *all, slower);
    if (!o.json) {
        printf("bench\twhat\tms\twish\n");
    }
    char text[512];
    snprintf(text, sizeof text, "%zu wishes", count);
    line(o.json, "median", all[count / 2].ms, text);
    line(o.json, "99 %", all[count / 100].ms, text);
    for (size_t i = 0; i < SLOWEST; i++) {
        say_wish(&all[i].wish, text, sizeof text);
        line(o.json, "slow", all[i].ms, text);
    }
    free(all);
    return 0;
}
