/*
 * growth_bars.c: what a query costs as the filter grows, against the smallest of these filters; and
 * what a second thread gains that shares a blocked filter, each with keys of its own. All times are
 * of the wall clock, over the keys of all threads together. Keys that are added come again and
 * again, so that most additions find their bits set.
 */
#include "bars.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include <tepal/inline.h>

#define SAMPLE      ((size_t)500000)
#define MOST        2 /* threads */
#define COUNT(list) (sizeof(list) / sizeof *(list))

struct growth {
    uint64_t n;
    struct samples absent;
    uint64_t *answers[MOST];
    struct tepal_filter *blocked;
    struct tepal_filter *paired;
    struct tepal_filter *flat;
    struct tepal_direct blocked_direct;
    struct tepal_direct paired_direct;
    struct tepal_direct flat_direct;
    struct tepal_hasher hasher;
};

/* What one thread does with a sample; how many keys were found. */
typedef size_t work_fn(const struct growth *g, const uint64_t *keys, uint64_t *answers);

#define WORK(name, declared, each)                                                                 \
    static size_t name(const struct growth *g, const uint64_t *keys, uint64_t *answers)            \
    {                                                                                              \
        declared;                                                                                  \
        size_t found = 0;                                                                          \
        (void)answers;                                                                             \
        for (size_t i = 0; i < SAMPLE; i++) {                                                      \
            uint64_t key = keys[i];                                                                \
            found += (size_t)(each);                                                               \
        }                                                                                          \
        return found;                                                                              \
    }

#define BATCH(name, filter)                                                                        \
    static size_t name(const struct growth *g, const uint64_t *keys, uint64_t *answers)            \
    {                                                                                              \
        return tepal_filter_query_u64_many(g->filter, keys, SAMPLE, answers);                      \
    }

#define INLINE(from) const struct tepal_direct f = g->from

WORK(blocked_one, INLINE(blocked_direct), tepal_direct_blocked_query_u64(&f, key))
WORK(paired_one, INLINE(paired_direct), tepal_direct_paired_query_u64(&f, key))
WORK(flat_one, INLINE(flat_direct), tepal_direct_flat_query_u64(&f, key))
WORK(blocked_atomic, struct tepal_filter *f = g->blocked,
     tepal_bloom_query_atomic(f, tepal_hash_u64(&g->hasher, key)))
WORK(blocked_atomic_add, struct tepal_filter *f = g->blocked,
     tepal_bloom_add_atomic(f, tepal_hash_u64(&g->hasher, key), NULL) != TEPAL_OK)
BATCH(blocked_batch, blocked)
BATCH(paired_batch, paired)
BATCH(flat_batch, flat)

/* ---- threads --------------------------------------------------------------------------------- */

struct subject {
    struct growth *growth;
    work_fn *work;
    unsigned threads;
};

struct share {
    const struct subject *subject;
    const uint64_t *keys;
    uint64_t *answers;
    atomic_uint *ready; /* threads that have come so far; they begin together */
    unsigned number;
    cpu_set_t cores; /* that the program may use */
    double begin;
    double end;
    size_t found;
};

/*
 * Thread number t on the t-th core that it may use. A run takes less than a millisecond: too little
 * for the system to see that two threads share a core.
 */
static void stay_on(unsigned t, cpu_set_t cores)
{
    int core = 0;
    for (unsigned before = 0; core < CPU_SETSIZE && before <= t; core++) {
        before += CPU_ISSET(core, &cores) != 0;
    }
    CPU_ZERO(&cores);
    CPU_SET(core - 1, &cores);
    (void)pthread_setaffinity_np(pthread_self(), sizeof cores, &cores); /* refused: as it comes */
}

static void *do_share(void *context)
{
    struct share *s = context;
    stay_on(s->number, s->cores);
    atomic_fetch_add(s->ready, 1);
    while (atomic_load(s->ready) < s->subject->threads) {
    }
    s->begin = wall_ns();
    s->found = s->subject->work(s->subject->growth, s->keys, s->answers);
    s->end = wall_ns();
    return NULL;
}

static double run(void *context)
{
    const struct subject *subject = context;
    struct share shares[MOST];
    pthread_t ids[MOST];
    atomic_uint ready = 0;
    double begin = HUGE_VAL;
    double end = 0;
    cpu_set_t cores;
    if (pthread_getaffinity_np(pthread_self(), sizeof cores, &cores) != 0) {
        CPU_ZERO(&cores);
    }
    for (unsigned t = 0; t < subject->threads; t++) {
        shares[t] = (struct share){.subject = subject,
                                   .keys = bars_next(&subject->growth->absent),
                                   .answers = subject->growth->answers[t],
                                   .ready = &ready,
                                   .number = t,
                                   .cores = cores};
        if (t > 0 && pthread_create(&ids[t], NULL, do_share, &shares[t]) != 0) {
            die("no thread");
        }
    }
    (void)do_share(&shares[0]);
    (void)pthread_setaffinity_np(pthread_self(), sizeof cores, &cores);
    for (unsigned t = 0; t < subject->threads; t++) {
        if (t > 0) {
            (void)pthread_join(ids[t], NULL);
        }
        begin = fmin(begin, shares[t].begin);
        end = fmax(end, shares[t].end);
        bars_sink += shares[t].found;
    }
    return (end - begin) / (double)(SAMPLE * subject->threads);
}

/* ---- filters --------------------------------------------------------------------------------- */

static struct tepal_filter *filter_of(enum tepal_layout layout, uint64_t n,
                                      struct tepal_direct *direct)
{
    struct tepal_filter *filter = bars_filter(TEPAL_KIND_BLOOM, layout, n * 10, 0, n);
    uint64_t keys[4096];
    for (uint64_t i = 0; i < n; i += COUNT(keys)) {
        size_t here = n - i < COUNT(keys) ? (size_t)(n - i) : COUNT(keys);
        bars_keys(keys, i, here);
        (void)tepal_filter_add_u64_many(filter, keys, here);
    }
    if (tepal_direct_of(filter, direct) != TEPAL_OK) {
        die("a filter cannot be taken");
    }
    return filter;
}

static struct growth *prepare(uint64_t n)
{
    struct growth *g = must(calloc(1, sizeof *g));
    g->n = n;
    g->absent = bars_samples(SAMPLE);
    bars_keys(g->absent.keys, n, BARS_SAMPLES * SAMPLE);
    for (unsigned t = 0; t < MOST; t++) {
        g->answers[t] = must(malloc((SAMPLE + 63) / 64 * 8));
    }
    g->blocked = filter_of(TEPAL_LAYOUT_BLOCKED, n, &g->blocked_direct);
    g->paired = filter_of(TEPAL_LAYOUT_PAIRED, n, &g->paired_direct);
    g->flat = filter_of(TEPAL_LAYOUT_FLAT, n, &g->flat_direct);
    if (tepal_filter_hasher(g->blocked, &g->hasher) != TEPAL_OK) {
        die("a filter has no hasher");
    }
    return g;
}

static void release(struct growth *g)
{
    free(g->absent.keys);
    for (unsigned t = 0; t < MOST; t++) {
        free(g->answers[t]);
    }
    tepal_filter_free(g->blocked);
    tepal_filter_free(g->paired);
    tepal_filter_free(g->flat);
    free(g);
}

/* ---- the rows -------------------------------------------------------------------------------- */

static const struct {
    const char *what;
    work_fn *work;
} growing[] =
    {
        {"growth: one key inline, blocked / 10^4 keys", blocked_one},
        {"growth: one key inline, paired / 10^4 keys", paired_one},
        {"growth: one key inline, flat / 10^4 keys", flat_one},
        {"growth: batch, blocked / 10^4 keys", blocked_batch},
        {"growth: batch, paired / 10^4 keys", paired_batch},
        {"growth: batch, flat / 10^4 keys", flat_batch},
},
  sharing[] = {
      {"threads: batch query, two / one", blocked_batch},
      {"threads: one key inline, query, two / one", blocked_one},
      {"threads: one key atomic, query, two / one", blocked_atomic},
      {"threads: one key atomic, add, two / one",
       blocked_atomic_add}, /* last: it fills the filter */
};

#define SIZES 9

/* All sizes take turns, so that a crowded minute is no step in the curve. */
static void grow(struct bars *bars, struct growth *const *sizes, size_t count)
{
    struct subject subjects[SIZES * COUNT(growing)];
    struct runner runners[SIZES * COUNT(growing)];
    for (size_t i = 0; i < count * COUNT(growing); i++) {
        subjects[i] = (struct subject){sizes[i % count], growing[i / count].work, 1};
        runners[i] = (struct runner){growing[i / count].what, run, &subjects[i], 0};
    }
    bars_measure(runners, count * COUNT(growing));
    for (size_t i = 0; i < count * COUNT(growing); i++) {
        bars_row(bars, runners[i].name, sizes[i % count]->n, runners[i].ns,
                 runners[i / count * count].ns, NAN, NAN, NAN);
    }
}

static void share(struct bars *bars, struct growth *g)
{
    for (size_t i = 0; i < COUNT(sharing); i++) {
        struct subject pair[] = {{g, sharing[i].work, 1}, {g, sharing[i].work, 2}};
        struct runner turns[] = {{"one", run, &pair[0], 0}, {"two", run, &pair[1], 0}};
        bars_measure(turns, 2);
        bars_row(bars, sharing[i].what, g->n, turns[1].ns, turns[0].ns, NAN, NAN, NAN);
    }
}

void bars_growth(struct bars *bars)
{
    static const uint64_t wanted[SIZES] = {10000,   30000,    100000,   300000,   1000000,
                                           3000000, 10000000, 30000000, 100000000};
    struct growth *sizes[SIZES];
    size_t count = 0;
    fprintf(stderr, "growth\n");
    for (size_t i = 0; i < SIZES; i++) {
        if (i == 0 || bars_wanted(bars, wanted[i])) {
            sizes[count++] = prepare(wanted[i]);
        }
    }
    grow(bars, sizes, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t n = sizes[i]->n;
        if (n == 100000 || n == 10000000 || n == 100000000) {
            share(bars, sizes[i]);
        }
        release(sizes[i]);
    }
}
