/*
 * universal.c: the simulator of Sec. 4, with the paper's own universal hashing:
 *
 *     h(x) = ((c x + d) mod z) mod m        z = 2,100,000,011, c and d anew for each function
 *                                           and round (eqs. (14), (15))
 *
 * A filter of the library draws the k positions of a key from its digest. Of a filter with one
 * hash that resets and one that sets both can be chosen: they are the two halves of the digest,
 * scaled to m (docs/format.md). An element with k0 and k1 positions is then several keys of such a
 * filter: every h with some g, then every g with itself, which resets alone, for a reset beats a
 * set within a key. In the end all g are 0 and all h that are no g are 1: what the paper has. A
 * query asks for every g with itself, and for every h that is no g with some g.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "paper001/paper001.h"

#define PRIME UINT64_C(2100000011)
#define MOST  8 /* functions of one sort */

struct functions {
    struct tepal_filter *cells; /* (1, 1) */
    uint64_t bits;
    uint32_t count[2]; /* k0, k1 */
    uint64_t c[2][MOST];
    uint64_t d[2][MOST];
};

/* The positions of an element: [0] are reset, [1] are set. */
struct element {
    uint64_t at[2][MOST];
};

static struct element hash(const struct functions *f, uint64_t x)
{
    struct element e = {{{0}}};
    for (int sort = 0; sort < 2; sort++) {
        for (uint32_t i = 0; i < f->count[sort]; i++) {
            e.at[sort][i] = (f->c[sort][i] * x + f->d[sort][i]) % PRIME % f->bits;
        }
    }
    return e;
}

/* The key that resets one position and sets another; the same twice: it resets. */
static struct tepal_digest key_of(const struct functions *f, uint64_t reset, uint64_t set)
{
    uint64_t unit = UINT64_MAX / f->bits + 1;
    return (struct tepal_digest){set * unit, reset * unit};
}

static bool is_reset(const struct functions *f, const struct element *e, uint64_t at)
{
    bool so = false;
    for (uint32_t i = 0; i < f->count[0]; i++) {
        so = so || e->at[0][i] == at;
    }
    return so;
}

static void add(struct functions *f, uint64_t x)
{
    struct element e = hash(f, x);
    for (uint32_t i = 0; i < f->count[1]; i++) {
        (void)tepal_filter_add(f->cells, key_of(f, e.at[0][0], e.at[1][i]));
    }
    for (uint32_t i = 0; i < f->count[0]; i++) {
        (void)tepal_filter_add(f->cells, key_of(f, e.at[0][i], e.at[0][i]));
    }
}

static bool query(const struct functions *f, uint64_t x)
{
    struct element e = hash(f, x);
    bool found = true;
    for (uint32_t i = 0; i < f->count[0] && found; i++) {
        found = tepal_filter_query(f->cells, key_of(f, e.at[0][i], e.at[0][i]));
    }
    for (uint32_t i = 0; i < f->count[1] && found; i++) {
        found = is_reset(f, &e, e.at[1][i]) ||
                tepal_filter_query(f->cells, key_of(f, e.at[0][0], e.at[1][i]));
    }
    return found;
}

/* Sabotaged, all functions are the same one. */
static void draw_functions(struct lab *lab, struct functions *f)
{
    for (size_t i = 0; i < 2 * MOST; i++) {
        f->c[i / MOST][i % MOST] = 1 + lab_draw(lab) % (PRIME - 1);
        f->d[i / MOST][i % MOST] = lab_draw(lab) % PRIME;
        if (lab_sabotaged(lab)) {
            f->c[i / MOST][i % MOST] = f->c[0][0];
            f->d[i / MOST][i % MOST] = f->d[0][0];
        }
    }
}

/* One round of Sec. 4: n elements from the first half of the universe, strangers from the other. */
static int run_round(struct lab *lab, const struct gbf *at, size_t strangers, struct gbf_seen *seen)
{
    struct functions f = {.bits = at->bits, .count = {at->k0, at->k1}};
    struct gbf cells = {at->bits, at->keys, 1, 1, at->zeros};
    uint64_t member[GBF_KEYS];
    uint64_t lost = 0;
    uint64_t found = 0;
    int code = gbf_plain(lab, &cells, &f.cells);
    if (code != EXIT_YES) {
        return code;
    }
    draw_functions(lab, &f);
    for (uint64_t i = 0; i < at->keys; i++) {
        member[i] = 1 + lab_draw(lab) % (PRIME / 2);
        add(&f, member[i]);
    }
    for (uint64_t i = 0; i < at->keys; i++) {
        bool gone = !query(&f, member[i]);
        lost += gone;
        lab_share_add(&seen->fn_age[at->keys - 1 - i], gone, 1);
    }
    for (size_t i = 0; i < strangers; i++) {
        found += query(&f, PRIME / 2 + 1 + lab_draw(lab) % (PRIME / 2 - 1));
    }
    lab_share_add(&seen->fn, lost, at->keys);
    lab_share_add(&seen->fp, found, strangers);
    tepal_filter_free(f.cells);
    return EXIT_YES;
}

static void rate_row(struct lab *lab, double published, double right, const struct lab_share *share,
                     const char *where, const char *what)
{
    struct lab_row row = lab_formula(published, right);
    lab_share_row(&row, share, 1);
    lab_row(lab, &row, "%s%s", where, what);
}

/* f_p by eqs. (7), (8), and f_n of the oldest element and of all by eqs. (11), (12). */
static int rows_of(struct lab *lab, const struct gbf *at, const struct gbf_seen *seen)
{
    struct tepal_generalized_errors exact;
    double oldest = 0;
    int code = gbf_exact(at, at->keys - 1, &exact, &oldest);
    char where[80];
    char state[40];
    snprintf(where, sizeof where, "(%" PRIu32 ", %" PRIu32 "), m/n %" PRIu64 ", n %" PRIu64, at->k0,
             at->k1, at->bits / at->keys, at->keys);
    snprintf(state, sizeof state, ", p0 %g: f_p, eq. (8)", at->zeros);
    rate_row(lab, tepal_generalized_fp_classic(at->bits, at->keys, at->k0, at->k1, at->zeros),
             exact.fp, &seen->fp, where, state);
    rate_row(lab, tepal_generalized_fn_classic(at->bits, at->keys, at->k0, at->k1), exact.fn,
             &seen->fn, where, ": f_n, eq. (12)");
    rate_row(lab, tepal_generalized_fn_age_classic(at->bits, at->keys - 1, at->k0, at->k1), oldest,
             &seen->fn_age[at->keys - 1], where, ": f_n(1), eq. (11)");
    rate_row(lab, 0, NAN, &seen->fn_age[0], where, ": f_n(n)"); /* "always zero", Sec. 3.3 */
    return code;
}

int lab_001_universal(struct lab *lab)
{
    static const struct gbf points[] = {
        {1280, 10, 1, 1, 1},           {1280, 10, 2, 1, 0.5},        {1280, 10, 3, 1, 0.25},
        {1280, 10, 1, 3, 0.75},        {1280, 10, 2, 2, 0},          {6400, GBF_KEYS, 2, 2, 0.5},
        {32768, GBF_KEYS, 2, 2, 0.25}, {65536, GBF_KEYS, 2, 3, 0.25}};
    static struct gbf_seen seen;
    struct lab_plot plot = {0};
    for (size_t i = 0; i < COUNT(points); i++) {
        const struct gbf *at = &points[i];
        bool few = at->keys == 10;
        size_t rounds = lab_trials(lab, few ? 1000 : 40, few ? 10000 : 1000);
        size_t strangers = lab_trials(lab, few ? 200 : 2000, few ? 2000 : 10000);
        int code = EXIT_YES;
        seen = (struct gbf_seen){0};
        for (size_t r = 0; r < rounds && code == EXIT_YES; r++) {
            code = run_round(lab, at, strangers, &seen);
        }
        code = code == EXIT_YES ? rows_of(lab, at, &seen) : code;
        if (code != EXIT_YES) {
            return code;
        }
        if (few) {
            char words[80];
            snprintf(words, sizeof words,
                     "(%" PRIu32 ", %" PRIu32 "), m/n %" PRIu64
                     ": half of the 95 %% interval of f_n(1)",
                     at->k0, at->k1, at->bits / at->keys);
            (void)gbf_interval_row(lab, at, &seen, words);
            lab_plot_curve(&plot, "(%" PRIu32 ", %" PRIu32 ")", at->k0, at->k1);
            for (uint64_t e = 1; e <= at->keys; e++) {
                struct lab_row row = LAB_ROW;
                lab_share_row(&row, &seen.fn_age[at->keys - e], 1);
                lab_plot_line(
                    &plot, (double)e,
                    tepal_generalized_fn_age_classic(at->bits, at->keys - e, at->k0, at->k1));
                plot.mark[i][plot.marks[i]++] = lab_point_row((double)e, &row);
            }
        }
    }
    return lab_plot_draw(lab, &plot, "False negatives by age, universal hashing, m/n = 128",
                         "element, 1 is the first inserted", "false-negative probability",
                         LAB_LINEAR);
}
