/*
 * progression.c: Figs. 1 to 10 as the paper's own program had them: names, its three ways to hash
 * them, a further string appended for each further choice, and positions on an arithmetic
 * progression, eq. (8), which are in ring.c; beside them the library's own filter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paper002/ring.h"

#define KEYS     RING_KEYS
#define RATIOS   4
#define CHOICES  5
#define MOST     RING_CHOICES
#define WRONG    20   /* removals one after the other, Fig. 7 */
#define REMOVALS 1000 /* wrong ones, each from the whole filter */

static const uint32_t ratios[RATIOS] = {8, 12, 16, 20};
static const uint32_t choices[CHOICES] = {1, 4, 10, 20, 50};

/* ---- what is looked at ----------------------------------------------------------------------- */

struct seen {
    struct lab_mean zeros;
    struct lab_mean fp;      /* by the share of zeros */
    struct lab_mean ratio;   /* counters above 1 to counters at 1 */
    struct lab_mean exposed; /* by one removal, each counted */
    uint32_t largest;
    struct lab_mean missed;  /* after WRONG removals */
    struct lab_mean several; /* share of members found in several groups ... */
    struct lab_mean kept;    /* ... and of those that stay when all are removed */
    struct lab_mean after;   /* by the zeros: false positives when others were added then */
    uint64_t hits;           /* strangers that are found */
    uint64_t asked;
};

/* Many removals, each from the whole. */
static int expose(const struct ring *r, struct lab_mean *exposed)
{
    uint32_t *owner = calloc((size_t)r->m, sizeof *owner);
    if (owner == NULL) {
        return say_no_memory();
    }
    for (uint32_t key = 0; key < KEYS; key++) {
        uint64_t at[TEPAL_MAX_HASHES];
        bool alone = r->c == 1 || ring_groups(r, key) == 1;
        uint32_t count = ring_address(r, key, r->group[key], at);
        for (uint32_t i = 0; i < count && alone; i++) {
            owner[at[i]] = tepal_counting_at(r->counting, at[i]) == 1 ? key + 1 : 0;
        }
    }
    for (size_t t = 0; t < REMOVALS; t++) {
        lab_mean_add(exposed, lab_002_expose(r->lab, r->counting, r->m, r->k, owner));
    }
    free(owner);
    return EXIT_YES;
}

/* A wrong removal: k counters above 0 lose 1; with our positions, those of a key that is found. */
static void remove_wrongly(const struct ring *r)
{
    if (r->method == LAB_002_OURS) {
        (void)lab_002_remove_first(r->counting, lab_002_false_positive(r->lab, r->counting));
        return;
    }
    for (uint32_t i = 0; i < r->k; i++) {
        uint64_t at = lab_002_above_zero(r->lab, r->counting, r->m);
        ring_change(r, &at, 1, false);
    }
}

/* Fig. 7, on a copy: wrong removals one after the other; then, how many members are missed? */
static int miss(const struct ring *r, struct seen *seen)
{
    struct tepal_filter *copy = NULL;
    enum tepal_status status = tepal_filter_clone(r->counting, NULL, &copy, NULL);
    struct ring *harmed = malloc(sizeof *harmed);
    double missed = 0;
    if (status != TEPAL_OK || harmed == NULL) {
        tepal_filter_free(copy);
        free(harmed);
        return lab_status(TEPAL_NO_MEMORY);
    }
    *harmed = *r;
    harmed->counting = copy;
    for (uint32_t i = 0; i < WRONG; i++) {
        remove_wrongly(harmed);
    }
    for (size_t key = 0; key < KEYS; key++) {
        missed += ring_groups(harmed, key) == 0;
    }
    lab_mean_add(&seen->missed, missed);
    tepal_filter_free(copy);
    free(harmed);
    return EXIT_YES;
}

/* Figs. 9 and 10: remove all members but those that are found in several groups; add others. */
static void replace_all(struct ring *r, struct seen *seen)
{
    uint64_t histogram[TEPAL_MAX_COUNTER + 1];
    bool ours = r->method == LAB_002_OURS;
    double several = 0;
    double kept = 0;
    for (size_t key = 0; key < KEYS; key++) {
        several += ring_groups(r, key) > 1;
    }
    for (size_t key = 0; key < KEYS; key++) {
        uint64_t at[TEPAL_MAX_HASHES];
        bool keep = ours ? tepal_filter_remove(r->counting, r->digest[key]) != TEPAL_OK
                         : ring_groups(r, key) > 1;
        kept += keep;
        if (!keep && !ours) {
            ring_change(r, at, ring_address(r, key, r->group[key], at), false);
        }
    }
    for (size_t key = KEYS; key < 2 * KEYS; key++) {
        if (ours) {
            (void)tepal_filter_add(r->counting, r->digest[key]);
        } else {
            (void)ring_insert(r, key);
        }
    }
    tepal_counting_histogram(r->counting, histogram);
    lab_mean_add(&seen->several, several / KEYS);
    lab_mean_add(&seen->kept, kept / KEYS);
    lab_mean_add(&seen->after, tepal_counting_fp((double)histogram[0] / (double)r->m, r->k, r->c));
}

/* The ratios that have pictures of their own. */
static bool drawn(uint64_t ratio)
{
    return ratio == ratios[0] || ratio == ratios[2];
}

static int look(struct ring *r, size_t strangers, struct seen *seen)
{
    uint64_t histogram[TEPAL_MAX_COUNTER + 1];
    double m = (double)r->m;
    uint32_t top = TEPAL_MAX_COUNTER;
    tepal_counting_histogram(r->counting, histogram);
    while (top > 0 && histogram[top] == 0) {
        top--;
    }
    seen->largest = top > seen->largest ? top : seen->largest;
    lab_mean_add(&seen->zeros, (double)histogram[0] / m);
    lab_mean_add(&seen->fp, tepal_counting_fp((double)histogram[0] / m, r->k, r->c));
    lab_mean_add(&seen->ratio, (m - (double)histogram[0]) / (double)histogram[1] - 1);
    for (size_t key = KEYS; key < KEYS + strangers; key++) {
        seen->hits += ring_groups(r, key) > 0;
    }
    seen->asked += strangers;
    int code = expose(r, &seen->exposed);
    if (code == EXIT_YES && drawn(r->m / KEYS)) {
        code = miss(r, seen);
    }
    if (code == EXIT_YES && r->m == ratios[0] * KEYS) {
        replace_all(r, seen);
    }
    return code;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void curve_rows(struct lab *lab, const char *method, struct seen seen[RATIOS][CHOICES])
{
    for (size_t i = 0; i < RATIOS * CHOICES; i++) {
        const struct seen *s = &seen[i / CHOICES][i % CHOICES];
        uint32_t ratio = ratios[i / CHOICES];
        uint32_t c = choices[i % CHOICES];
        struct lab_row row = LAB_ROW;
        lab_002_zeros(&row, &s->zeros, ratio);
        lab_row(lab, &row, "%s, m/n %u, c %u: share of zeros", method, ratio, c);
        lab_measured(&row, &s->exposed);
        lab_row(lab, &row, "%s, m/n %u, c %u: exposed by one wrong removal", method, ratio, c);
        lab_exact(&row, s->missed.mean);
        if (drawn(ratio)) {
            lab_row(lab, &row, "%s, m/n %u, c %u: exposed by %d wrong removals", method, ratio, c,
                    WRONG);
        }
        if (s->asked > 0) {
            lab_counted(&row, s->hits, s->asked);
            lab_row(lab, &row, "%s, m/n %u, c %u: false positives", method, ratio, c);
            row.ours /= s->fp.mean;
            row.low /= s->fp.mean;
            row.high /= s->fp.mean;
            lab_row(lab, &row,
                    "%s, m/n %u, c %u: false positives, relative to what the zeros predict", method,
                    ratio, c);
        }
    }
}

/* Figs. 9 and 10, 8 counters a key. */
static void kept_rows(struct lab *lab, const char *method, struct seen seen[CHOICES])
{
    for (size_t c = 1; c < CHOICES; c++) {
        double bound = tepal_counting_multi_address(seen[c].zeros.mean, 5, choices[c]);
        lab_row_exact(lab, LAB_ROW, seen[c].several.mean,
                      "%s, m/n 8, c %u: share of members in several groups", method, choices[c]);
        lab_row_exact(lab, LAB_ROW, seen[c].kept.mean,
                      "%s, m/n 8, c %u: share of members kept by removal", method, choices[c]);
        lab_row_holds(lab, seen[c].kept.mean < seen[c].several.mean && seen[c].several.mean < bound,
                      "%s, m/n 8, c %u: kept, several and eq. (7) in this order", method,
                      choices[c]);
        lab_row_exact(lab, LAB_ROW, seen[c].after.mean / seen[c].fp.mean,
                      "%s, m/n 8, c %u: false positives after all were replaced, relative to fresh",
                      method, choices[c]);
    }
}

/*
 * By how much short progressions, which are preferred, can raise the share of zeros, at most: every
 * key that has one among its c takes it and spares k counters. The strides modulo m that return
 * after p steps are those that have p coprime multiples; p must divide m.
 */
static double spared(uint32_t ratio, uint32_t c)
{
    uint32_t m = ratio * KEYS;
    uint32_t k = (uint32_t)(ratio * log(2));
    double strides = 0;
    for (uint32_t p = 1; p < k; p++) {
        for (uint32_t i = 1; i <= p && m % p == 0; i++) {
            uint32_t a = p;
            uint32_t b = i;
            while (b != 0) {
                uint32_t rest = a % b;
                a = b;
                b = rest;
            }
            strides += a == 1;
        }
    }
    return strides / m * c * k / ratio;
}

/* What the text claims, of every way to hash: more zeros, and fewer exposed. */
static void claim_rows(struct lab *lab, const char *method, struct seen seen[RATIOS][CHOICES],
                       bool ours)
{
    char before[64];
    snprintf(before, sizeof before, "%s, ", method);
    for (size_t r = 0; r < RATIOS; r++) {
        const struct lab_mean zeros[2] = {seen[r][0].zeros, seen[r][CHOICES - 1].zeros};
        lab_002_more_zeros(lab, zeros, ratios[r], ours ? 0 : spared(ratios[r], MOST), before);
    }
    for (size_t r = 0; r < 3; r++) { /* c = 4, 10, 20 at m/n = 8, 12, 16: half of it, by Fig. 7 */
        struct lab_row row = LAB_ROW;
        struct lab_row part[2] = {LAB_ROW, LAB_ROW};
        lab_measured(&part[0], &seen[r][r + 1].exposed);
        lab_measured(&part[1], &seen[r][0].exposed);
        lab_002_quotient(&row, &part[0], &part[1]);
        row.published = 0.5;
        row.source = LAB_WORDS;
        row.right = lab_002_model(ratios[r], choices[r + 1], true).exposed /
                    lab_002_model(ratios[r], 1, true).exposed;
        lab_row(lab, &row, "%s, m/n %u, c %u: exposed, relative to c = 1", method, ratios[r],
                choices[r + 1]);
    }
}

/* Fig. 8: "less than 16 in eight instances except one instance": three ways, m/n 8, 12 and 16. */
static void largest_row(struct lab *lab, struct seen seen[LAB_002_METHODS][RATIOS][CHOICES])
{
    double fit = 0;
    double expected = 0;
    for (size_t i = 0; i < 9; i++) {
        bool fits = true;
        bool should = true;
        for (size_t c = 0; c < CHOICES; c++) {
            double share[16];
            uint32_t ratio = ratios[i % 3];
            fits = fits && seen[1 + i / 3][i % 3][c].largest < TEPAL_MAX_SMALL_COUNTER;
            should = should &&
                     tepal_counting_shares((uint64_t)ratio * KEYS, KEYS, (uint32_t)(ratio * log(2)),
                                           choices[c], true, share) == TEPAL_OK &&
                     share[TEPAL_MAX_SMALL_COUNTER] * ratio * KEYS < 0.5;
        }
        fit += fits;
        expected += should;
    }
    lab_row_exact(lab, lab_printed(8, 0, expected), fit,
                  "instances, of 9, in which four bits suffice");
}

/* ---- pictures -------------------------------------------------------------------------------- */

#define PICTURES 9

static struct lab_mean part(const struct seen *s, size_t what)
{
    const struct lab_mean means[PICTURES] = {s->fp,      s->zeros,  s->exposed,
                                             s->ratio,   s->missed, {1, s->largest, 0},
                                             s->several, s->kept,   s->after};
    return means[what];
}

static int draw(struct lab *lab, struct seen seen[LAB_002_METHODS][RATIOS][CHOICES], size_t what,
                size_t r)
{
    static const char *const titles[PICTURES] = {
        "Fig. 3: false positives, by the zeros",   "Fig. 4: counters at 0",
        "Fig. 5: exposed by one wrong removal",    "Fig. 6: counters above 1 per counter at 1",
        "Fig. 7: exposed by 20 wrong removals",    "Fig. 8: the largest counter",
        "Fig. 9: members found in several groups", "Fig. 9: members kept by removal",
        "Fig. 10: false positives, all replaced"};
    static const char *const labels[PICTURES] = {"false-positive rate",  "share of the counters",
                                                 "false negatives",      "ratio",
                                                 "false negatives",      "counter",
                                                 "share of the members", "share of the members",
                                                 "false-positive rate"};
    struct lab_curves curves = {0};
    char title[80];
    for (size_t method = 0; method < LAB_002_METHODS; method++) {
        lab_curve(&curves, SVG_LINE, "%s", lab_002_method_names[method]);
        for (size_t c = 0; c < CHOICES; c++) {
            struct lab_mean mean = part(&seen[method][r][c], what);
            lab_curve_point(&curves, method, lab_point_mean(choices[c], &mean));
        }
    }
    snprintf(title, sizeof title, "%s, %u counters per key", titles[what], ratios[r]);
    return lab_curves_draw(lab, &curves, title, "c, choices", labels[what], LAB_LINEAR);
}

/* At 8 and 16 counters a key; Figs. 9 and 10 are of 8. */
static int draw_all(struct lab *lab, struct seen seen[LAB_002_METHODS][RATIOS][CHOICES])
{
    int code = EXIT_YES;
    for (size_t what = 0; what < PICTURES && code == EXIT_YES; what++) {
        code = draw(lab, seen, what, 0);
        code = code == EXIT_YES && what < 6 ? draw(lab, seen, what, 2) : code;
    }
    return code;
}

/* ---- Figs. 1 and 2 --------------------------------------------------------------------------- */

#define SMALL_M 1600
#define SMALL_N LAB_002_KEYS

/* One wrong removal from a small filter of names, by eq. (8): [0] Y, [1] Z. */
static void harm_once(const struct ring *r, const struct lab_002_names *names,
                      const uint64_t table[256], struct lab_mean mean[2])
{
    uint64_t at[SMALL_N][TEPAL_MAX_HASHES];
    uint32_t count[SMALL_N];
    uint64_t wrong[TEPAL_MAX_HASHES];
    uint32_t many = 0;
    uint32_t lost[2] = {0, 0};
    size_t name = (size_t)(lab_draw(r->lab) % LAB_002_NAMES);
    (void)tepal_filter_clear(r->counting);
    for (size_t i = 0; i < SMALL_N; i++) {
        struct ring_pair pair = ring_hash(table, r->method, names->text[name++ % LAB_002_NAMES], 0);
        count[i] = ring_progression(r, pair, at[i]);
        ring_change(r, at[i], count[i], true);
    }
    do { /* a name that is found and was not added */
        struct ring_pair pair = ring_hash(table, r->method, names->text[name++ % LAB_002_NAMES], 0);
        many = ring_progression(r, pair, wrong);
    } while (!ring_all_above(r, wrong, many));
    ring_change(r, wrong, many, false);
    for (size_t i = 0; i < SMALL_N; i++) {
        lost[1] += !ring_all_above(r, at[i], count[i]);
    }
    for (size_t i = 0; i < SMALL_N; i++) {
        bool there = ring_all_above(r, at[i], count[i]);
        lost[0] += !there;
        ring_change(r, at[i], there ? count[i] : 0, false);
    }
    lab_mean_add(&mean[0], lost[0]);
    lab_mean_add(&mean[1], lost[1]);
}

/*
 * Y and Z under the paper's hashing. A name that is found is then mostly one whose progression is
 * short (1600 has many divisors) or runs along that of a member: not what Theorems 1 and 4 are of.
 */
static int small_rows(struct lab *lab, const struct lab_002_names *names,
                      enum lab_002_method method, uint32_t k)
{
    struct ring *r = calloc(1, sizeof *r);
    struct lab_mean mean[2] = {{0}};
    uint64_t table[256];
    if (r == NULL) {
        return say_no_memory();
    }
    *r = (struct ring){.lab = lab, .method = method, .m = SMALL_M, .k = k, .c = 1};
    r->counting = lab_002_filter(SMALL_M, 1, 1, 0, 0);
    for (size_t t = 0; t < lab_trials(lab, 50, 3000) && r->counting != NULL; t++) {
        lab_002_words(lab, table);
        harm_once(r, names, table, mean);
    }
    for (size_t i = 0; i < 2; i++) {
        lab_row_mean(lab, LAB_ROW, &mean[i], "%s, m 1600, n 100, k %u: E[%s]",
                     lab_002_method_names[method], k, i == 0 ? "Y" : "Z");
    }
    int code = r->counting == NULL ? EXIT_TROUBLE : EXIT_YES;
    tepal_filter_free(r->counting);
    free(r);
    return code;
}

/* ---- the experiment -------------------------------------------------------------------------- */

struct bench {
    struct lab_002_names names;
    struct ring_pair pair[LAB_002_NAMES][MOST];
    struct tepal_digest digest[LAB_002_NAMES];
    struct ring ring;
    struct seen seen[LAB_002_METHODS][RATIOS][CHOICES];
};

static int one_method(struct lab *lab, struct bench *b, enum lab_002_method method,
                      size_t strangers)
{
    uint64_t table[256];
    size_t hashed = KEYS + (strangers < KEYS ? KEYS : strangers); /* others are added, Fig. 10 */
    int code = EXIT_YES;
    lab_002_words(lab, table);
    if (method == LAB_002_OURS) {
        struct tepal_hasher hasher;
        tepal_hasher_init(lab_draw(lab), &hasher);
        for (size_t i = 0; i < hashed; i++) {
            b->digest[i] = tepal_hash_bytes(&hasher, b->names.text[i], strlen(b->names.text[i]));
        }
    } else {
        ring_hash_all(&b->names, table, method, hashed, b->pair);
    }
    for (size_t i = 0; i < RATIOS * CHOICES && code == EXIT_YES; i++) {
        b->ring = (struct ring){.lab = lab,
                                .method = method,
                                .pair = (const struct ring_pair(*)[MOST])b->pair,
                                .digest = b->digest};
        code = ring_fill(&b->ring, ratios[i / CHOICES], choices[i % CHOICES]);
        code = code == EXIT_YES
                   ? look(&b->ring, strangers, &b->seen[method][i / CHOICES][i % CHOICES])
                   : code;
        tepal_filter_free(b->ring.counting);
    }
    return code;
}

int lab_002_progression(struct lab *lab)
{
    struct bench *b = calloc(1, sizeof *b);
    int code = b == NULL ? say_no_memory() : EXIT_YES;
    size_t rounds = lab_trials(lab, 1, 6);
    for (size_t i = 0; i < rounds * LAB_002_METHODS && code == EXIT_YES; i++) {
        if (i % LAB_002_METHODS == 0) {
            b->names.count = 0;
            lab_002_make(lab, &b->names);
        }
        code = one_method(lab, b, (enum lab_002_method)(i % LAB_002_METHODS),
                          lab_trials(lab, 0, 40000));
    }
    for (size_t i = 0; i < 6 && code == EXIT_YES; i++) {
        code = small_rows(lab, &b->names, (enum lab_002_method)(1 + i / 2), i % 2 == 0 ? 5 : 11);
    }
    for (size_t method = 0; method < LAB_002_METHODS && code == EXIT_YES; method++) {
        curve_rows(lab, lab_002_method_names[method], b->seen[method]);
        claim_rows(lab, lab_002_method_names[method], b->seen[method], method == LAB_002_OURS);
        kept_rows(lab, lab_002_method_names[method], b->seen[method][0]);
    }
    if (code == EXIT_YES) {
        largest_row(lab, b->seen);
        code = draw_all(lab, b->seen);
    }
    free(b);
    return code;
}
