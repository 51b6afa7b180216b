/*
 * paper002_progression.c: Figs. 1 to 10 as the paper's own program had them: names, its three ways
 * to hash them, a further string appended for each further choice, and positions on an arithmetic
 * progression, eq. (8):
 *
 *     h_i(x) = (g1(x) + i g2(x)) mod m        i = 0 .. k - 1
 *
 * The library has no such positions. But a filter of one hash is a row of counters that can be
 * addressed one by one: its position is the high half of the digest, scaled to m (docs/format.md).
 * So the counters are the library's; eq. (8) and the choice among c progressions (Algorithm 1) are
 * here. Beside them: the library's own filter, with positions and choices of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paper002.h"

#define KEYS     10000
#define RATIOS   4
#define CHOICES  5
#define MOST     50   /* choices */
#define WRONG    20   /* removals one after the other, Fig. 7 */
#define REMOVALS 1000 /* wrong ones, each from the whole filter */

static const uint32_t ratios[RATIOS] = {8, 12, 16, 20};
static const uint32_t choices[CHOICES] = {1, 4, 10, 20, 50};

/* What a name and the string of a choice hash to. */
struct pair {
    uint32_t g1;
    uint32_t g2;
};

struct ring {
    struct lab *lab;
    enum lab_002_method method;
    struct tepal_counting *counting;
    uint64_t m;
    uint32_t k;
    uint32_t c;
    const struct pair (*pair)[MOST];
    const struct tepal_digest *digest; /* the library's own way */
    uint8_t group[KEYS];
};

/* ---- addresses ------------------------------------------------------------------------------- */

static struct pair hash_pair(const uint64_t table[256], enum lab_002_method method,
                             const char *name, uint32_t choice)
{
    char text[LAB_002_NAME + 8];
    snprintf(text, sizeof text, choice == 0 ? "%s" : "%s%u", name, choice);
    uint32_t out[2] = {(uint32_t)lab_002_sdbm(text), (uint32_t)lab_002_buz(table, text)};
    if (method != LAB_002_SDBM_BUZ) {
        lab_002_twister(out[method == LAB_002_BUZ_MT], out, 2);
    }
    return (struct pair){out[0], out[1]};
}

static void hash_pairs(const struct lab_002_names *list, const uint64_t table[256],
                       enum lab_002_method method, size_t count, struct pair (*pair)[MOST])
{
    for (size_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < MOST; j++) {
            pair[i][j] = hash_pair(table, method, list->text[i], j);
        }
    }
}

/* Eq. (8), each counter once: a progression that returns to its start is shorter than k. */
static uint32_t progression(const struct ring *r, struct pair pair, uint64_t *out)
{
    uint64_t at = pair.g1 % r->m;
    uint32_t count = 0;
    do {
        out[count++] = at;
        at = (at + pair.g2) % r->m;
    } while (count < r->k && at != out[0]);
    return count;
}

static uint32_t address(const struct ring *r, size_t key, uint32_t choice, uint64_t *out)
{
    return r->method == LAB_002_OURS
               ? tepal_counting_positions(r->counting, r->digest[key], choice, out)
               : progression(r, r->pair[key][choice], out);
}

static bool all_above(const struct ring *r, const uint64_t *at, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && tepal_counting_at(r->counting, at[i]) > 0) {
        i++;
    }
    return i == count;
}

/* In how many of its groups a key is found. */
static uint32_t groups_of(const struct ring *r, size_t key)
{
    uint32_t found = 0;
    uint64_t groups =
        r->method == LAB_002_OURS ? tepal_counting_groups(r->counting, r->digest[key]) : 0;
    for (; groups != 0; groups &= groups - 1) {
        found++;
    }
    for (uint32_t j = 0; j < r->c && r->method != LAB_002_OURS; j++) {
        uint64_t at[TEPAL_MAX_HASHES];
        found += all_above(r, at, address(r, key, j, at));
    }
    return found;
}

/* ---- counters, one by one -------------------------------------------------------------------- */

/* The key of a filter with one hash that has this position. */
static struct tepal_digest key_at(const struct ring *r, uint64_t position)
{
    return (struct tepal_digest){0, position * (UINT64_MAX / r->m + 1)};
}

/* Algorithm 1, the improved greedy one; what is left is by chance. */
static uint32_t choose(const struct ring *r, size_t key)
{
    uint32_t best = 0;
    uint32_t equal = 0;
    uint32_t score[3] = {UINT32_MAX, 0, 0}; /* counters that become 1, that are 1, the largest */
    for (uint32_t j = 0; j < r->c; j++) {
        uint64_t at[TEPAL_MAX_HASHES];
        uint32_t count = address(r, key, j, at);
        uint32_t now[3] = {0, 0, 0};
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = tepal_counting_at(r->counting, at[i]);
            now[0] += v == 0;
            now[1] += v == 1;
            now[2] = v > now[2] ? v : now[2];
        }
        bool same = now[0] == score[0] && now[1] == score[1] && now[2] == score[2];
        bool better =
            now[0] < score[0] || (now[0] == score[0] &&
                                  (now[1] > score[1] || (now[1] == score[1] && now[2] < score[2])));
        equal = same ? equal + 1 : better ? 1 : equal;
        if (better || (same && lab_draw(r->lab) % equal == 0)) {
            best = j;
            memcpy(score, now, sizeof score);
        }
    }
    return best;
}

/* Add 1 to each counter of an address, or take 1 away. */
static void change(const struct ring *r, const uint64_t *at, uint32_t count, bool up)
{
    for (uint32_t i = 0; i < count; i++) {
        if (up) {
            (void)tepal_counting_add(r->counting, key_at(r, at[i]), NULL);
        } else {
            (void)tepal_counting_remove(r->counting, key_at(r, at[i]));
        }
    }
}

static uint32_t insert(const struct ring *r, size_t key)
{
    uint64_t at[TEPAL_MAX_HASHES];
    uint32_t choice = choose(r, key);
    change(r, at, address(r, key, choice, at), true);
    return choice;
}

static int fill(struct ring *r, uint32_t ratio, uint32_t c)
{
    bool ours = r->method == LAB_002_OURS;
    r->m = (uint64_t)ratio * KEYS;
    r->k = (uint32_t)(ratio * log(2));
    r->c = lab_sabotaged(r->lab) ? 1 : c;
    r->counting = lab_002_filter(r->m, ours ? r->k : 1, ours ? r->c : 1, 0, 0);
    if (r->counting == NULL) {
        return EXIT_TROUBLE;
    }
    if (ours) {
        (void)tepal_counting_add_many(r->counting, r->digest, KEYS, r->group);
    }
    for (size_t key = 0; key < KEYS && !ours; key++) {
        r->group[key] = (uint8_t)insert(r, key);
    }
    return EXIT_YES;
}

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

static uint64_t above_zero(const struct ring *r)
{
    uint64_t at;
    do {
        at = lab_draw(r->lab) % r->m;
    } while (tepal_counting_at(r->counting, at) == 0);
    return at;
}

/* Sec. 5.3.2, the first category, as in paper002_choices.c: many removals, each from the whole. */
static int expose(const struct ring *r, struct lab_mean *exposed)
{
    uint32_t *owner = calloc(r->m, sizeof *owner);
    if (owner == NULL) {
        return say_error(NULL, "lab", "out of memory");
    }
    for (uint32_t key = 0; key < KEYS; key++) {
        uint64_t at[TEPAL_MAX_HASHES];
        bool alone = r->c == 1 || groups_of(r, key) == 1;
        uint32_t count = address(r, key, r->group[key], at);
        for (uint32_t i = 0; i < count && alone; i++) {
            owner[at[i]] = tepal_counting_at(r->counting, at[i]) == 1 ? key + 1 : 0;
        }
    }
    for (size_t t = 0; t < REMOVALS; t++) {
        uint32_t victim[TEPAL_MAX_HASHES];
        uint32_t victims = 0;
        for (uint32_t j = 0; j < r->k; j++) {
            uint32_t who = owner[above_zero(r)];
            uint32_t i = 0;
            while (i < victims && victim[i] != who) {
                i++;
            }
            victim[victims] = who;
            victims += who != 0 && i == victims;
        }
        lab_mean_add(exposed, victims);
    }
    free(owner);
    return EXIT_YES;
}

/* A wrong removal: k counters above 0 lose 1; with our positions, those of a key that is found. */
static void remove_wrongly(const struct ring *r)
{
    if (r->method == LAB_002_OURS) {
        struct tepal_digest d = lab_002_false_positive(r->lab, r->counting);
        uint64_t groups = tepal_counting_groups(r->counting, d);
        uint32_t group = 0;
        while ((groups >> group & 1) == 0) {
            group++;
        }
        (void)tepal_counting_remove_group(r->counting, d, group);
        return;
    }
    for (uint32_t i = 0; i < r->k; i++) {
        uint64_t at = above_zero(r);
        change(r, &at, 1, false);
    }
}

/* Fig. 7, on a copy: wrong removals one after the other; then, how many members are missed? */
static int miss(const struct ring *r, struct seen *seen)
{
    struct tepal_filter *copy = NULL;
    enum tepal_status status =
        tepal_filter_clone(tepal_counting_filter_const(r->counting), NULL, &copy);
    struct ring *harmed = malloc(sizeof *harmed);
    double missed = 0;
    if (status != TEPAL_OK || harmed == NULL) {
        tepal_filter_free(copy);
        free(harmed);
        return lab_002_failed(TEPAL_NO_MEMORY);
    }
    *harmed = *r;
    harmed->counting = tepal_filter_counting(copy);
    for (uint32_t i = 0; i < WRONG; i++) {
        remove_wrongly(harmed);
    }
    for (size_t key = 0; key < KEYS; key++) {
        missed += groups_of(harmed, key) == 0;
    }
    lab_mean_add(&seen->missed, missed);
    tepal_filter_free(copy);
    free(harmed);
    return EXIT_YES;
}

/* Figs. 9 and 10: remove all members but those that are found in several groups; add others. */
static void replace_all(struct ring *r, struct seen *seen)
{
    uint64_t histogram[TEPAL_COUNTER_MAX + 1];
    bool ours = r->method == LAB_002_OURS;
    double several = 0;
    double kept = 0;
    for (size_t key = 0; key < KEYS; key++) {
        several += groups_of(r, key) > 1;
    }
    for (size_t key = 0; key < KEYS; key++) {
        uint64_t at[TEPAL_MAX_HASHES];
        bool keep = ours ? tepal_counting_remove(r->counting, r->digest[key]) != TEPAL_OK
                         : groups_of(r, key) > 1;
        kept += keep;
        if (!keep && !ours) {
            change(r, at, address(r, key, r->group[key], at), false);
        }
    }
    for (size_t key = KEYS; key < 2 * KEYS; key++) {
        if (ours) {
            (void)tepal_counting_add(r->counting, r->digest[key], NULL);
        } else {
            (void)insert(r, key);
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
    uint64_t histogram[TEPAL_COUNTER_MAX + 1];
    double m = (double)r->m;
    uint32_t top = TEPAL_COUNTER_MAX;
    tepal_counting_histogram(r->counting, histogram);
    while (top > 0 && histogram[top] == 0) {
        top--;
    }
    seen->largest = top > seen->largest ? top : seen->largest;
    lab_mean_add(&seen->zeros, (double)histogram[0] / m);
    lab_mean_add(&seen->fp, tepal_counting_fp((double)histogram[0] / m, r->k, r->c));
    lab_mean_add(&seen->ratio, (m - (double)histogram[0]) / (double)histogram[1] - 1);
    for (size_t key = KEYS; key < KEYS + strangers; key++) {
        seen->hits += groups_of(r, key) > 0;
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
            lab_row(lab, &row, "%s, m/n %u, c %u: they are so many times what the zeros say",
                    method, ratio, c);
        }
    }
}

/* Figs. 9 and 10, 8 counters a key. */
static void kept_rows(struct lab *lab, const char *method, struct seen seen[CHOICES])
{
    for (size_t c = 1; c < CHOICES; c++) {
        struct lab_row row = LAB_ROW;
        double bound = tepal_counting_multi_address(seen[c].zeros.mean, 5, choices[c]);
        lab_exact(&row, seen[c].several.mean);
        lab_row(lab, &row, "%s, m/n 8, c %u: share of members in several groups", method,
                choices[c]);
        lab_exact(&row, seen[c].kept.mean);
        lab_row(lab, &row, "%s, m/n 8, c %u: share of members kept by removal", method, choices[c]);
        row.published = 1;
        lab_exact(&row, seen[c].kept.mean < seen[c].several.mean && seen[c].several.mean < bound);
        lab_row(lab, &row, "%s, m/n 8, c %u: kept, several and eq. (7) in this order (1: so)",
                method, choices[c]);
        row = LAB_ROW;
        lab_exact(&row, seen[c].after.mean / seen[c].fp.mean);
        lab_row(lab, &row, "%s, m/n 8, c %u: false positives after all were replaced, to fresh",
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
    static const double zeros[RATIOS] = {40, 40, 30, 30};
    for (size_t r = 0; r < RATIOS; r++) {
        struct lab_row row = LAB_ROW;
        struct lab_row part[2] = {LAB_ROW, LAB_ROW};
        lab_002_zeros(&part[0], &seen[r][CHOICES - 1].zeros, ratios[r]);
        lab_002_zeros(&part[1], &seen[r][0].zeros, ratios[r]);
        lab_002_quotient(&row, &part[0], &part[1]);
        row.ours = 100 * (row.ours - 1);
        row.low = 100 * (row.low - 1);
        row.high = 100 * (row.high - 1);
        row.published = zeros[r];
        row.rounding = 5; /* "about", in tens */
        row.right =
            100 *
            (lab_002_model(ratios[r], MOST, true).p0 / lab_002_model(ratios[r], 1, true).p0 - 1);
        if (!ours) {
            row.leeway = 100 * spared(ratios[r], MOST) / lab_002_model(ratios[r], 1, true).p0;
        }
        lab_row(lab, &row, "%s, m/n %u: more zeros at c = 50 than at c = 1, %%", method, ratios[r]);
    }
    for (size_t r = 0; r < 3; r++) { /* c = 4, 10, 20 at m/n = 8, 12, 16: half of it, by Fig. 7 */
        struct lab_row row = LAB_ROW;
        struct lab_row part[2] = {LAB_ROW, LAB_ROW};
        lab_measured(&part[0], &seen[r][r + 1].exposed);
        lab_measured(&part[1], &seen[r][0].exposed);
        lab_002_quotient(&row, &part[0], &part[1]);
        row.published = 0.5;
        row.right = lab_002_model(ratios[r], choices[r + 1], true).exposed /
                    lab_002_model(ratios[r], 1, true).exposed;
        lab_row(lab, &row, "%s, m/n %u, c %u: exposed, relative to c = 1", method, ratios[r],
                choices[r + 1]);
    }
}

/* Fig. 8: "less than 16 in eight instances except one instance": three ways, m/n 8, 12 and 16. */
static void largest_row(struct lab *lab, struct seen seen[LAB_002_METHODS][RATIOS][CHOICES])
{
    struct lab_row row = LAB_ROW;
    double fit = 0;
    double expected = 0;
    for (size_t i = 0; i < 9; i++) {
        bool fits = true;
        bool should = true;
        for (size_t c = 0; c < CHOICES; c++) {
            double share[16];
            uint32_t ratio = ratios[i % 3];
            fits = fits && seen[1 + i / 3][i % 3][c].largest < TEPAL_COUNTER_MAX;
            should = should &&
                     tepal_counting_shares((uint64_t)ratio * KEYS, KEYS, (uint32_t)(ratio * log(2)),
                                           choices[c], true, share) == TEPAL_OK &&
                     share[TEPAL_COUNTER_MAX] * ratio * KEYS < 0.5;
        }
        fit += fits;
        expected += should;
    }
    row.published = 8;
    row.right = expected;
    lab_exact(&row, fit);
    lab_row(lab, &row, "instances, of 9, in which four bits suffice");
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
        "Fig. 5: exposed by one wrong removal",    "Fig. 6: counters above 1 to counters at 1",
        "Fig. 7: exposed by 20 wrong removals",    "Fig. 8: the largest counter",
        "Fig. 9: members found in several groups", "Fig. 9: members kept by removal",
        "Fig. 10: false positives, all replaced"};
    static const char *const labels[PICTURES] = {"false-positive rate",  "share of the counters",
                                                 "false negatives",      "ratio",
                                                 "false negatives",      "counter",
                                                 "share of the members", "share of the members",
                                                 "false-positive rate"};
    struct svg_point point[LAB_002_METHODS][CHOICES];
    struct svg_series series[LAB_002_METHODS];
    char title[80];
    for (size_t method = 0; method < LAB_002_METHODS; method++) {
        for (size_t c = 0; c < CHOICES; c++) {
            struct lab_mean mean = part(&seen[method][r][c], what);
            point[method][c] = lab_002_point(choices[c], &mean);
        }
        series[method] =
            (struct svg_series){lab_002_method_names[method], SVG_LINE, point[method], CHOICES};
    }
    snprintf(title, sizeof title, "%s, %u counters a key", titles[what], ratios[r]);
    struct svg_chart chart = {.title = title,
                              .x_label = "c, choices",
                              .y_label = labels[what],
                              .series = series,
                              .count = LAB_002_METHODS};
    return lab_chart(lab, &chart);
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
    size_t name = lab_draw(r->lab) % LAB_002_NAMES;
    (void)tepal_filter_clear(tepal_counting_filter(r->counting));
    for (size_t i = 0; i < SMALL_N; i++) {
        struct pair pair = hash_pair(table, r->method, names->text[name++ % LAB_002_NAMES], 0);
        count[i] = progression(r, pair, at[i]);
        change(r, at[i], count[i], true);
    }
    do { /* a name that is found and was not added */
        struct pair pair = hash_pair(table, r->method, names->text[name++ % LAB_002_NAMES], 0);
        many = progression(r, pair, wrong);
    } while (!all_above(r, wrong, many));
    change(r, wrong, many, false);
    for (size_t i = 0; i < SMALL_N; i++) {
        lost[1] += !all_above(r, at[i], count[i]);
    }
    for (size_t i = 0; i < SMALL_N; i++) {
        bool there = all_above(r, at[i], count[i]);
        lost[0] += !there;
        change(r, at[i], there ? count[i] : 0, false);
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
        return say_error(NULL, "lab", "out of memory");
    }
    *r = (struct ring){.lab = lab, .method = method, .m = SMALL_M, .k = k, .c = 1};
    r->counting = lab_002_filter(SMALL_M, 1, 1, 0, 0);
    for (size_t t = 0; t < lab_trials(lab, 50, 3000) && r->counting != NULL; t++) {
        for (size_t i = 0; i < 256; i++) {
            table[i] = lab_draw(lab);
        }
        harm_once(r, names, table, mean);
    }
    for (size_t i = 0; i < 2; i++) {
        struct lab_row row = LAB_ROW;
        lab_measured(&row, &mean[i]);
        lab_row(lab, &row, "%s, m 1600, n 100, k %u: E[%s]", lab_002_method_names[method], k,
                i == 0 ? "Y" : "Z");
    }
    int code = r->counting == NULL ? EXIT_TROUBLE : EXIT_YES;
    tepal_counting_free(r->counting);
    free(r);
    return code;
}

/* ---- the experiment -------------------------------------------------------------------------- */

struct bench {
    struct lab_002_names names;
    struct pair pair[LAB_002_NAMES][MOST];
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
    for (size_t i = 0; i < 256; i++) {
        table[i] = lab_draw(lab);
    }
    if (method == LAB_002_OURS) {
        struct tepal_hasher hasher;
        tepal_hasher_init(&hasher, lab_draw(lab));
        for (size_t i = 0; i < hashed; i++) {
            b->digest[i] = tepal_hash_bytes(&hasher, b->names.text[i], strlen(b->names.text[i]));
        }
    } else {
        hash_pairs(&b->names, table, method, hashed, b->pair);
    }
    for (size_t i = 0; i < RATIOS * CHOICES && code == EXIT_YES; i++) {
        b->ring = (struct ring){.lab = lab,
                                .method = method,
                                .pair = (const struct pair(*)[MOST])b->pair,
                                .digest = b->digest};
        code = fill(&b->ring, ratios[i / CHOICES], choices[i % CHOICES]);
        code = code == EXIT_YES
                   ? look(&b->ring, strangers, &b->seen[method][i / CHOICES][i % CHOICES])
                   : code;
        tepal_counting_free(b->ring.counting);
    }
    return code;
}

int lab_002_progression(struct lab *lab)
{
    struct bench *b = calloc(1, sizeof *b);
    int code = b == NULL ? say_error(NULL, "lab", "out of memory") : EXIT_YES;
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
