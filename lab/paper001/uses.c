/*
 * uses.c: the all-one attack on the three uses that the paper names (Sec. 1 and 6.2): web
 * caches that tell each other what they hold, look-ups among peers, and tracing packets back.
 *
 * An attacker sends a filter of its own making: all ones, or as many ones as hurt most. Against
 * Bloom filters the first is enough: every question is answered "yes". A Bloom filter is here the
 * generalized one without hashes that reset: they are the same, bit for bit.
 */
#include <stdio.h>
#include <stdlib.h>

#include "shared/lru.h"
#include "paper001/paper001.h"
#include "readers/requests.h"

enum attack { NO_ATTACK, ALL_ONES, WORST, ATTACKS };
static const char *const attack_names[ATTACKS] = {"no attack", "all ones", "the worst bits"};

struct kind {
    const char *name;
    double bits; /* a key, or of all */
    uint32_t k0;
    uint32_t k1;
    uint32_t tolerance;
};

/* What caches and peers advertise. */
static const struct kind kinds[] = {{"Bloom, m/n 16", 16, 0, 11, 0},
                                    {"(2, 2), m/n 128", 128, 2, 2, 0},
                                    {"(3, 5) b 1, m/n 128", 128, 3, 5, 1}};

static double ones_worst(const struct kind *kind)
{
    return kind->k0 == 0 ? 0 : tepal_generalized_worst_zero(kind->k0, kind->k1, kind->tolerance);
}

/* An empty filter, or what the attacker sends. Sabotaged, resets are left out. */
static int make(struct lab *lab, const struct kind *kind, uint64_t bits, uint64_t seed,
                enum attack attack, struct tepal_filter **out)
{
    uint32_t k0 = lab_sabotaged(lab) ? 0 : kind->k0;
    double zeros = attack == NO_ATTACK ? 1 : attack == ALL_ONES ? 0 : ones_worst(kind);
    struct gbf at = {.bits = bits, .k0 = k0, .k1 = kind->k0 + kind->k1 - k0, .zeros = zeros};
    struct tepal_params params = gbf_params(&at, kind->tolerance, seed);
    return lab_status(tepal_filter_create(&params, NULL, out, NULL));
}

/*
 * What the attacker draws to itself of what it does not have: by the paper everything with a Bloom
 * filter; with (2, 2), as Tables 1 to 6 have it, nothing by all ones and 6.3 % by the worst bits.
 * Of a tolerance it prints nothing.
 */
static void attracted_row(struct lab *lab, const struct kind *kind, enum attack attack,
                          const struct lab_share *share, const char *what)
{
    double printed = kind->k0 == 0 ? 100 : attack == ALL_ONES ? 0 : 6.3;
    if (attack != NO_ATTACK) {
        lab_row_share(lab, lab_printed(kind->tolerance == 0 ? printed : NAN, 0.05, NAN), share, 100,
                      "%s, %s: %s, %%", kind->name, attack_names[attack], what);
    }
}

static void plain_row(struct lab *lab, const struct kind *kind, enum attack attack,
                      const struct lab_share *share, const char *what)
{
    lab_row_share(lab, LAB_ROW, share, 100, "%s, %s: %s, %%", kind->name, attack_names[attack],
                  what);
}

/* One point for each attack, by kind: of a share, in percent. */
static void add_point(struct lab_curves *curves, const struct kind *kind, enum attack attack,
                      const struct lab_share *share)
{
    struct lab_row row = LAB_ROW;
    if (attack == NO_ATTACK) {
        lab_curve(curves, SVG_LINE, "%s", kind->name);
    }
    lab_share_row(&row, share, 100);
    lab_curve_point(curves, curves->count - 1, lab_point_row((double)attack, &row));
}

static int draw_attacks(struct lab *lab, struct lab_curves *curves, const char *title,
                        const char *y_label)
{
    return lab_curves_draw(lab, curves, title, "0: no attack, 1: all ones, 2: the worst bits",
                           y_label, LAB_LINEAR);
}

/* ---- web caches ------------------------------------------------------------------------------ */

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
    const struct kind *kind;
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
    int code =
        make(w->lab, w->kind, (uint64_t)(w->kind->bits * CACHE), w->seed, NO_ATTACK, &p->filter);
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
static int browse(struct web *w, enum attack attack)
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
        code =
            make(w->lab, w->kind, (uint64_t)(w->kind->bits * CACHE), w->seed, attack, &w->attacker);
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
    for (size_t i = 0; i < COUNT(kinds) && code == EXIT_YES; i++) {
        for (int a = 0; a < ATTACKS && code == EXIT_YES; a++) {
            w.kind = &kinds[i];
            code = browse(&w, (enum attack)a);
            if (code != EXIT_YES) {
                break;
            }
            attracted_row(lab, &kinds[i], (enum attack)a, &w.attracted,
                          "foreign requests drawn to the attacker");
            add_point(&curves, &kinds[i], (enum attack)a, &w.attracted);
            if (a == NO_ATTACK) {
                static const double printed[] = {0, 3.0, NAN}; /* Sec. 4.2; a Bloom filter: none */
                lab_row_share(lab, lab_printed(printed[i], 0.05, NAN), &w.forgotten, 100,
                              "%s: advertised objects that are forgotten, %%", kinds[i].name);
                plain_row(lab, &kinds[i], NO_ATTACK, &w.missed,
                          "objects of siblings that are not found");
            }
        }
    }
    free(w.request);
    return code == EXIT_YES
               ? draw_attacks(lab, &curves, "Requests that the attacker draws to itself",
                              "% of foreign requests")
               : code;
}

/* ---- peers ----------------------------------------------------------------------------------- */

/*
 * Attenuated filters (Rhea and Kubiatowicz): everybody tells what is with him, within one hop and
 * within two. A look-up goes to the neighbour that has the document nearest.
 */
#define NODES     256
#define DEGREE    4
#define LEVELS    3
#define DOCUMENTS 16
#define HOPS      8
#define LIARS     16

struct peers {
    struct lab *lab;
    const struct kind *kind;
    uint32_t neighbour[NODES][DEGREE];
    struct tepal_digest document[NODES][DOCUMENTS];
    struct tepal_filter *filter[NODES][LEVELS];
    bool liar[NODES];
    struct lab_share believed; /* of the filters of liars that are asked: "yes" */
    struct lab_share captured; /* of look-ups: sent to a liar */
    struct lab_share found;
};

/* Two rings in random orders: everybody has two neighbours on each. */
static void link_up(struct peers *p)
{
    uint32_t order[NODES];
    for (uint32_t i = 0; i < NODES; i++) {
        order[i] = i;
    }
    for (uint32_t ring = 0; ring < DEGREE; ring += 2) {
        for (uint32_t i = NODES - 1; i > 0; i--) {
            uint32_t j = (uint32_t)(lab_draw(p->lab) % (i + 1));
            uint32_t kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
        for (uint32_t i = 0; i < NODES; i++) {
            p->neighbour[order[i]][ring] = order[(i + 1) % NODES];
            p->neighbour[order[i]][ring + 1] = order[(i + NODES - 1) % NODES];
        }
    }
}

/* The documents within so many hops; what is furthest away is added first: it is forgotten first.
 */
static void add_documents(const struct peers *p, struct tepal_filter *g, uint32_t node, int hops)
{
    for (uint32_t i = 0; hops > 0 && i < DEGREE; i++) {
        add_documents(p, g, p->neighbour[node][i], hops - 1);
    }
    (void)tepal_filter_add_many(g, p->document[node], DOCUMENTS);
}

static int tell(struct peers *p, uint32_t node, uint64_t seed, enum attack attack)
{
    static const double nodes[LEVELS] = {1, 1 + DEGREE, 1 + DEGREE + DEGREE * (DEGREE - 1)};
    enum attack sent = p->liar[node] ? attack : NO_ATTACK;
    int code = EXIT_YES;
    for (int level = 0; level < LEVELS && code == EXIT_YES; level++) {
        uint64_t bits = (uint64_t)(p->kind->bits * nodes[level] * DOCUMENTS);
        code = make(p->lab, p->kind, bits, seed, sent, &p->filter[node][level]);
        if (code == EXIT_YES && sent == NO_ATTACK) {
            add_documents(p, p->filter[node][level], node, level);
        }
    }
    return code;
}

struct search {
    uint64_t asked;
    uint64_t believed;
    uint64_t captured;
    uint64_t found;
    uint64_t searches;
};

/*
 * The lowest level at which the node says yes; LEVELS: none. Only the first questions of a look-up
 * are counted: whoever says yes is not asked again, but who says no may be.
 */
static int nearest(const struct peers *p, uint32_t node, struct tepal_digest wanted, bool first,
                   struct search *sum)
{
    int level = LEVELS;
    for (int i = LEVELS - 1; i >= 0; i--) {
        bool says = tepal_filter_query(p->filter[node][i], wanted);
        sum->asked += first && p->liar[node];
        sum->believed += first && p->liar[node] && says;
        level = says ? i : level;
    }
    return level;
}

/* From a node to the document of an honest one three steps away, by filters alone. */
static void look_up(struct peers *p, struct search *sum)
{
    uint32_t at = (uint32_t)(lab_draw(p->lab) % NODES);
    uint32_t target = at;
    bool visited[NODES] = {false};
    for (int i = 0; i < 3; i++) {
        target = p->neighbour[target][lab_draw(p->lab) % DEGREE];
    }
    struct tepal_digest wanted = p->document[target][lab_draw(p->lab) % DOCUMENTS];
    if (p->liar[at] || p->liar[target]) {
        return;
    }
    sum->searches++;
    for (int hop = 0; hop < HOPS && at != target; hop++) {
        uint32_t next = NODES;
        uint32_t equal = 0;
        int best = LEVELS - 1;
        visited[at] = true;
        for (uint32_t i = 0; i < DEGREE; i++) {
            uint32_t v = p->neighbour[at][i];
            int level = nearest(p, v, wanted, hop == 0, sum);
            if (visited[v] || level > best) {
                continue;
            }
            equal = level < best ? 1 : equal + 1;
            best = level;
            next = lab_draw(p->lab) % equal == 0 ? v : next;
        }
        if (next == NODES || p->liar[next]) {
            sum->captured += next != NODES;
            return;
        }
        at = next;
    }
    sum->found += at == target;
}

static int gossip(struct peers *p, enum attack attack)
{
    int code = EXIT_YES;
    p->believed = p->captured = p->found = (struct lab_share){0};
    for (size_t round = 0; round < lab_trials(p->lab, 10, 60) && code == EXIT_YES; round++) {
        struct search sum = {0};
        uint64_t seed = lab_draw(p->lab);
        link_up(p);
        for (uint32_t v = 0; v < NODES; v++) {
            p->liar[v] = v < LIARS && attack != NO_ATTACK;
            for (int d = 0; d < DOCUMENTS; d++) {
                p->document[v][d] = lab_digest(p->lab);
            }
        }
        for (uint32_t v = 0; v < NODES && code == EXIT_YES; v++) {
            code = tell(p, v, seed, attack);
        }
        for (uint64_t i = 0; i < 2000 && code == EXIT_YES; i++) {
            look_up(p, &sum);
        }
        lab_share_add(&p->captured, sum.captured, sum.searches);
        lab_share_add(&p->found, sum.found, sum.searches);
        if (sum.asked > 0) {
            lab_share_add(&p->believed, sum.believed, sum.asked);
        }
        for (uint32_t v = 0; v < NODES; v++) {
            for (int level = 0; level < LEVELS; level++) {
                tepal_filter_free(p->filter[v][level]);
                p->filter[v][level] = NULL;
            }
        }
    }
    return code;
}

int lab_001_peers(struct lab *lab)
{
    struct lab_curves curves = {0};
    static struct peers p;
    int code = EXIT_YES;
    p = (struct peers){.lab = lab};
    for (size_t i = 0; i < COUNT(kinds) && code == EXIT_YES; i++) {
        for (int a = 0; a < ATTACKS && code == EXIT_YES; a++) {
            p.kind = &kinds[i];
            code = gossip(&p, (enum attack)a);
            if (a != NO_ATTACK) {
                attracted_row(lab, &kinds[i], (enum attack)a, &p.believed,
                              "filters of liars that say yes");
            }
            plain_row(lab, &kinds[i], (enum attack)a, &p.captured, "lookups sent to a liar");
            plain_row(lab, &kinds[i], (enum attack)a, &p.found, "lookups that succeed");
            add_point(&curves, &kinds[i], (enum attack)a, &p.found);
        }
    }
    return code == EXIT_YES
               ? draw_attacks(lab, &curves, "Lookups that succeed, one peer in 16 lies",
                              "% of the lookups")
               : code;
}

/* ---- traceback ------------------------------------------------------------------------------- */

#define PATH 15 /* routers; each has four neighbours */

struct trace {
    uint64_t found;    /* routers of the path that the walk reaches */
    uint64_t full;     /* the whole path */
    uint64_t branches; /* routers beside the path, next to one that was reached, with "yes" */
    uint64_t beside;   /* all routers beside it */
};

/* As the victim walks back: what was added last is asked for first. */
static int trace_packet(struct lab *lab, const struct kind *kind, enum attack attack,
                        struct trace *sum)
{
    struct tepal_digest router[PATH];
    struct tepal_filter *g;
    bool walking = true;
    int code = make(lab, kind, (uint64_t)kind->bits, lab_draw(lab), attack, &g);
    for (int i = 0; i < PATH && code == EXIT_YES; i++) {
        router[i] = lab_digest(lab);
        (void)tepal_filter_add(g, router[i]);
    }
    for (int i = PATH - 1; i >= 0 && code == EXIT_YES; i--) {
        int beside = 4 - (i > 0) - (i < PATH - 1);
        walking = walking && tepal_filter_query(g, router[i]);
        sum->found += walking;
        for (int j = 0; j < beside; j++) {
            struct tepal_digest other = lab_digest(lab);
            sum->beside++;
            sum->branches += walking && tepal_filter_query(g, other);
        }
    }
    sum->full += walking;
    if (code == EXIT_YES) {
        tepal_filter_free(g);
    }
    return code;
}

int lab_001_traceback(struct lab *lab)
{
    static const struct kind in_packets[] = {{"Bloom, 256 bits", 256, 0, 6, 0},
                                             {"(2, 2), 256 bits", 256, 2, 2, 0},
                                             {"(5, 5) b 2, 512 bits", 512, 5, 5, 2}};
    struct lab_curves curves = {0};
    for (size_t k = 0; k < COUNT(in_packets); k++) {
        for (int a = 0; a < ATTACKS; a++) {
            struct lab_share full = {0};
            struct lab_share branches = {0};
            for (int batch = 0; batch < 20; batch++) {
                struct trace sum = {0};
                uint64_t packets = lab_trials(lab, 500, 10000);
                for (uint64_t i = 0; i < packets; i++) {
                    int code = trace_packet(lab, &in_packets[k], (enum attack)a, &sum);
                    if (code != EXIT_YES) {
                        return code;
                    }
                }
                lab_share_add(&full, sum.full, packets);
                lab_share_add(&branches, sum.branches, sum.beside);
            }
            if (k == 0 && a == ALL_ONES) { /* "every router is recognized as a member" */
                attracted_row(lab, &in_packets[k], ALL_ONES, &branches,
                              "false routers next to the path");
            }
            if (k == 1) { /* whatever its bits, (2, 2) finds F_p of the others at most */
                lab_row_holds(lab, branches.mean.mean <= tepal_generalized_fp_bound(2, 2, 0),
                              "%s, %s: no more than F_p of the routers next to the path",
                              in_packets[k].name, attack_names[a]);
            }
            plain_row(lab, &in_packets[k], (enum attack)a, &full, "whole paths");
            lab_row_share(lab, LAB_ROW, &branches, 2 * PATH + 2, "%s, %s: false branches of 32",
                          in_packets[k].name, attack_names[a]);
            add_point(&curves, &in_packets[k], (enum attack)a, &full);
        }
    }
    return draw_attacks(lab, &curves, "Paths of 15 hops found whole", "% of the packets");
}
