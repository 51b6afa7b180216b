/* web.c: the all-one attack on web caches that tell each other what they hold. */
#include <stdio.h>
#include <stdlib.h>

#include "shared/lru.h"
#include "paper001/uses.h"
#include "readers/requests.h"

#define PROXIES 4 /* honest ones; the attacker comes to them */
#define CACHE   256
#define REFRESH 32 /* new objects until a filter is advertised anew */
#define OBJECTS 20000
#define BATCHES 20

struct proxy {
    struct lru cache;
    struct tepal_filter *filter; /* as last advertised; NULL: not yet */
    unsigned fresh;
};

struct web {
    struct lab *lab;
    const struct use_kind *kind;
    struct proxy proxy[PROXIES];
    struct tepal_filter *attacker;
    uint64_t *request; /* objects, in the order in which they are asked for */
    size_t requests;
    uint64_t seed;
    struct lab_share attracted; /* of foreign requests: those that the attacker gets */
    struct lab_share missed;    /* of those that a sibling has: none of them was asked */
    struct lab_share forgotten; /* of the objects advertised: not in the filter */
};

/* Popularity by Zipf's law of exponent 0.8. */
static int generate(struct web *w, size_t count)
{
    double *sum = malloc(OBJECTS * sizeof *sum);
    w->request = malloc(count * sizeof *w->request);
    if (sum == NULL || w->request == NULL) {
        free(sum);
        return say_no_memory();
    }
    for (size_t i = 0; i < OBJECTS; i++) {
        sum[i] = (i > 0 ? sum[i - 1] : 0) + pow((double)i + 1, -0.8);
    }
    for (size_t i = 0; i < count; i++) {
        double u = lab_unit(w->lab) * sum[OBJECTS - 1];
        size_t low = 0;
        size_t high = OBJECTS - 1;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (sum[middle] < u) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        w->request[i] = low;
    }
    w->requests = count;
    free(sum);
    return EXIT_YES;
}

/* A measured log, if there is one: requests/web12.txt.gz in the folder with data. */
static int read_log(struct web *w, const char *folder)
{
    struct requests log = {0};
    struct requests_form form = {0};
    char path[4096];
    const char *const paths[] = {path};
    snprintf(path, sizeof path, "%s/requests/web12.txt.gz", folder);
    int code = requests_read(&log, &form, paths, 1);
    w->request = code == EXIT_YES ? malloc((log.count + 1) * sizeof *w->request) : NULL;
    for (size_t i = 0; i < log.count && w->request != NULL; i++) {
        w->request[w->requests++] = log.request[i].key;
    }
    requests_free(&log);
    return code != EXIT_YES ? code : w->request == NULL ? say_no_memory() : EXIT_YES;
}

/* The cache from the oldest object to the newest: a filter forgets the oldest first. */
static int advertise(struct web *w, struct proxy *p)
{
    uint64_t lost = 0;
    tepal_filter_free(p->filter);
    p->filter = NULL;
    p->fresh = 0;
    int code = use_filter(w->lab, w->kind, (uint64_t)(w->kind->bits * CACHE), w->seed, NO_ATTACK,
                          &p->filter);
    for (const struct lru_object *o = lru_first(&p->cache); o != NULL && code == EXIT_YES;
         o = lru_next(&p->cache, o)) {
        (void)tepal_filter_add(p->filter, o->key);
    }
    for (const struct lru_object *o = lru_first(&p->cache); o != NULL && code == EXIT_YES;
         o = lru_next(&p->cache, o)) {
        lost += !tepal_filter_query(p->filter, o->key);
    }
    if (p->cache.count == CACHE) {
        lab_share_add(&w->forgotten, lost, CACHE);
    }
    return code;
}

struct counts {
    uint64_t foreign;
    uint64_t attracted;
    uint64_t there;
    uint64_t missed;
};

static int serve(struct web *w, size_t i, const struct tepal_hasher *hasher, struct counts *counts)
{
    struct proxy *p = &w->proxy[lab_draw(w->lab) % PROXIES];
    struct tepal_digest key = tepal_hash_u64(hasher, w->request[i]);
    bool there = false;
    bool found = false;
    if (lru_hit(&p->cache, key)) {
        return EXIT_YES;
    }
    for (struct proxy *sibling = w->proxy; sibling < w->proxy + PROXIES; sibling++) {
        if (sibling != p && sibling->filter != NULL && lru_has(&sibling->cache, key)) {
            there = true;
            found = found || tepal_filter_query(sibling->filter, key);
        }
    }
    counts->foreign++;
    counts->there += there;
    counts->missed += there && !found;
    counts->attracted += tepal_filter_query(w->attacker, key);
    if (!lru_insert(&p->cache, key, 1, NULL, NULL)) {
        return say_no_memory();
    }
    return ++p->fresh >= REFRESH ? advertise(w, p) : EXIT_YES;
}

/* One kind under one attack; every batch has hash functions of its own and begins with empty
 * caches. */
static int browse(struct web *w, enum use_attack attack)
{
    int code = EXIT_YES;
    w->attracted = w->missed = w->forgotten = (struct lab_share){0};
    for (size_t b = 0; b < BATCHES && code == EXIT_YES; b++) {
        struct counts counts = {0};
        struct tepal_hasher hasher;
        size_t first = w->requests * b / BATCHES;
        size_t last = w->requests * (b + 1) / BATCHES;
        w->seed = lab_draw(w->lab);
        tepal_hasher_init(w->seed, &hasher);
        for (size_t i = 0; i < PROXIES; i++) {
            lru_init(&w->proxy[i].cache, CACHE, 0);
        }
        w->attacker = NULL;
        code = use_filter(w->lab, w->kind, (uint64_t)(w->kind->bits * CACHE), w->seed, attack,
                          &w->attacker);
        for (size_t i = first; i < last && code == EXIT_YES; i++) {
            code = serve(w, i, &hasher, &counts);
        }
        if (code == EXIT_YES && counts.there > 0) {
            lab_share_add(&w->attracted, counts.attracted, counts.foreign);
            lab_share_add(&w->missed, counts.missed, counts.there);
        }
        for (size_t i = 0; i < PROXIES; i++) {
            lru_free(&w->proxy[i].cache);
            tepal_filter_free(w->proxy[i].filter);
            w->proxy[i] = (struct proxy){0};
        }
        tepal_filter_free(w->attacker);
    }
    return code;
}

/* Sec. 4.2 has 128 bits an element and (2, 2): 6.3 % at most, 3.0 % forgotten on average. */
int lab_001_web(struct lab *lab)
{
    struct lab_curves curves = {0};
    static struct web w;
    w = (struct web){.lab = lab};
    const char *data = lab_data(lab);
    int code = data != NULL ? read_log(&w, data) : generate(&w, lab_trials(lab, 100000, 1000000));
    for (size_t i = 0; i < USE_KINDS && code == EXIT_YES; i++) {
        for (int a = 0; a < USE_ATTACKS && code == EXIT_YES; a++) {
            w.kind = &use_kinds[i];
            code = browse(&w, (enum use_attack)a);
            if (code != EXIT_YES) {
                break;
            }
            use_attracted_row(lab, &use_kinds[i], (enum use_attack)a, &w.attracted,
                              "foreign requests drawn to the attacker");
            use_point(&curves, &use_kinds[i], (enum use_attack)a, &w.attracted);
            if (a == NO_ATTACK) {
                static const double printed[] = {0, 3.0, NAN}; /* Sec. 4.2; a Bloom filter: none */
                lab_row_share(lab, lab_printed(printed[i], 0.05, NAN), &w.forgotten, 100,
                              "%s: advertised objects that are forgotten, %%", use_kinds[i].name);
                use_plain_row(lab, &use_kinds[i], NO_ATTACK, &w.missed,
                              "objects of siblings that are not found");
            }
        }
    }
    free(w.request);
    return code == EXIT_YES ? use_draw(lab, &curves, "Requests that the attacker draws to itself",
                                       "% of foreign requests")
                            : code;
}
