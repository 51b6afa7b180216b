/*
 * route.c: Sec. VIII of the yes-no paper: links of a path in a packet's header (Figs. 16 to 18).
 */
#include <stdlib.h>
#include <string.h>

#include "paper003/networks.h"

/* ---- Fig. 16 --------------------------------------------------------------------------------- */

static const struct network *find(const struct networks *nets, const char *name)
{
    for (size_t i = 0; i < nets->count; i++) {
        if (strcmp(nets->list[i].name, name) == 0) {
            return &nets->list[i];
        }
    }
    return NULL;
}

/* What the paper's 1000 allocations add: half of the 99.9 % interval. */
static double spread_of(const struct lab_mean *mean)
{
    return LAB_Z * lab_mean_error(mean) * sqrt(mean->count / 1000);
}

static void printed_mean(struct lab *lab, const struct lab_mean *mean, struct lab_row row,
                         double leeway, const char *words)
{
    lab_veto_measured(&row, mean);
    row.spread = spread_of(mean);
    row.leeway = leeway;
    lab_row(lab, &row, "%s", words);
}

/* What the text says of TataNld. */
static void tata_rows(struct lab *lab, const struct network *tata)
{
    double none = pow(1 - tata->expected / tata->t, tata->t);
    lab_row_exact(lab, lab_printed(28, 0, NAN), tata->n, "TataNld, links of the path");
    printed_mean(lab, &tata->left[BLOOM], lab_printed(0.92, 0.005, NAN), 0, "TataNld, Bloom");
    printed_mean(lab, &tata->left[NEXTFIT], lab_printed(0.13, 0.005, NAN), 0,
                 "TataNld, yes-no, nextfit");
    printed_mean(lab, &tata->left[GREEDY], lab_printed(0.13, 0.005, 0.075), 0.006,
                 "TataNld, yes-no, greedy; right: as Sec. III describes it");
    printed_mean(lab, &tata->any[NEXTFIT], lab_words(0.125, 0.005, NAN), 0,
                 "TataNld, headers with a false link, nextfit (one of eight)");
    printed_mean(lab, &tata->any[BLOOM], lab_words(1, 0.05, 1 - none), 0.05,
                 "TataNld, headers with a false link, Bloom (almost certainly)");
}

static void count_rows(struct lab *lab, const struct networks *nets, const struct network *tata)
{
    double beyond = 0;
    double worse = 0;
    double compared = 0;
    double none = 0;
    for (size_t i = 0; i < nets->count; i++) {
        const struct network *net = &nets->list[i];
        beyond += tata != NULL && !net->random && net->expected > tata->expected;
        compared += net->expected >= 0.05;
        none += net->left[BLOOM].mean < 0.005 && net->left[NEXTFIT].mean < 0.005;
        worse += net->expected >= 0.05 && net->left[NEXTFIT].mean > net->left[BLOOM].mean;
    }
    lab_row_exact(lab, lab_printed(NETWORKS, 0, NAN), (double)nets->count, "networks");
    lab_row_exact(lab, lab_printed(2, 0, NAN), beyond,
                  "networks with more false links than TataNld");
    lab_row_exact(lab, lab_words(0, 0, NAN), worse,
                  "of %g networks with 0.05 false links or more, those where yes-no has more",
                  compared);
    lab_row_exact(lab, LAB_ROW, none,
                  "networks at the point (0, 0): less than 0.005 with either (in the text many)");
}

static void network_rows(struct lab *lab, const struct network *net, int count)
{
    for (int c = 0; c < count; c++) {
        struct lab_row row = LAB_ROW;
        if (net->left[c].count > 0) {
            lab_veto_measured(&row, &net->left[c]);
            lab_row(lab, &row, "%s (%u links, %u others), %s", net->name, net->n, net->t,
                    lab_003_columns[c]);
        }
    }
}

/* Up to TataNld, as the paper. */
static int draw_16(struct lab *lab, const struct networks *nets, double most)
{
    enum { CURVES = 3 };
    static const int shown[CURVES] = {NEXTFIT, GREEDY, SEARCH};
    struct svg_series series[CURVES + 1];
    struct svg_point same[] = {{.x = 0, .y = 0}, {.x = most, .y = most}};
    struct svg_point *point = calloc(CURVES * nets->count, sizeof *point);
    if (point == NULL) {
        return say_no_memory();
    }
    for (size_t j = 0; j < CURVES; j++) {
        struct svg_point *p = point + j * nets->count;
        size_t used = 0;
        for (size_t i = 0; i < nets->count; i++) {
            const struct network *net = &nets->list[i];
            if (net->expected <= 1.05 * most) {
                p[used++] = lab_point_mean(net->left[BLOOM].mean, &net->left[shown[j]]);
            }
        }
        series[j] = (struct svg_series){lab_003_columns[shown[j]], SVG_MARKS, p, used};
    }
    series[CURVES] = (struct svg_series){"as many as Bloom", SVG_DASHED, same, 2};
    int code = lab_chart(lab, series, CURVES + 1, "False links of a path, by network",
                         "Bloom header, false links", "yes-no header, false links", LAB_LINEAR);
    free(point);
    return code;
}

int lab_veto_fig_16(struct lab *lab)
{
    struct networks nets = {0};
    int code = lab_003_networks(lab, &nets, COLUMNS);
    const struct network *tata = find(&nets, "TataNld");
    if (code == EXIT_YES && tata != NULL) {
        tata_rows(lab, tata);
    }
    if (code == EXIT_YES) {
        count_rows(lab, &nets, tata);
        for (size_t i = 0; i < nets.count; i++) {
            if (nets.list[i].expected >= 0.05) {
                network_rows(lab, &nets.list[i], COLUMNS);
            }
        }
        code = draw_16(lab, &nets, tata == NULL ? 1 : tata->expected);
    }
    free(nets.list);
    return code;
}

/* ---- Figs. 17 and 18 ------------------------------------------------------------------------- */

/* Networks with paths of one length: the mean of their rates, false links of those asked. */
struct length {
    uint32_t n;
    size_t networks;
    double expected; /* the Bloom header's rate, exactly */
    double rate[COLUMNS];
    double error[COLUMNS];
    double spread[COLUMNS]; /* standard error of the paper's 1000 allocations a network */
};

#define MOST_LENGTHS 128

static size_t by_length(const struct networks *nets, int count, struct length *length)
{
    size_t used = 0;
    for (uint32_t n = 1; n < MOST_LENGTHS; n++) {
        struct length sum = {.n = n};
        for (size_t i = 0; i < nets->count; i++) {
            const struct network *net = &nets->list[i];
            if (net->n != n || net->t == 0) {
                continue;
            }
            sum.networks++;
            sum.expected += net->expected / net->t;
            for (int c = 0; c < count; c++) {
                const struct lab_mean *mean = &net->left[c];
                sum.rate[c] += mean->mean / net->t;
                sum.error[c] = hypot(sum.error[c], lab_mean_error(mean) / net->t);
                sum.spread[c] = hypot(sum.spread[c], spread_of(mean) / LAB_Z / net->t);
            }
        }
        if (sum.networks > 0) {
            double share = 1 / (double)sum.networks;
            sum.expected *= share;
            for (int c = 0; c < count; c++) {
                sum.rate[c] *= share;
                sum.error[c] *= share;
                sum.spread[c] *= share;
            }
            length[used++] = sum;
        }
    }
    return used;
}

/* Sends over all networks; *count lengths. */
static int measure_lengths(struct lab *lab, struct length *length, size_t *count)
{
    struct networks nets = {0};
    int code = lab_003_networks(lab, &nets, SEARCH + 1);
    *count = by_length(&nets, SEARCH + 1, length);
    free(nets.list);
    return code;
}

/* Lengths at which enough false links are seen to speak of them. */
static bool is_seen(const struct length *l)
{
    return l->rate[BLOOM] > 2 * LAB_Z * l->error[BLOOM];
}

static struct lab_row rate_row(const struct length *l, int column)
{
    struct lab_row row = LAB_ROW;
    row.ours = l->rate[column];
    row.low = fmax(0, row.ours - LAB_Z * l->error[column]);
    row.high = row.ours + LAB_Z * l->error[column];
    return row;
}

int lab_veto_fig_17(struct lab *lab)
{
    struct length length[MOST_LENGTHS];
    struct svg_point point[SEARCH + 1][MOST_LENGTHS];
    struct svg_series series[SEARCH + 1];
    double higher = 0;
    size_t count;
    if (measure_lengths(lab, length, &count) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    for (size_t i = 0; i < count; i++) {
        higher += is_seen(&length[i]) && length[i].rate[NEXTFIT] >= length[i].rate[BLOOM];
    }
    lab_row_exact(lab, lab_words(0, 0, NAN), higher,
                  "lengths n at which the yes-no header's rate is not lower, nextfit");
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c <= SEARCH; c++) {
            struct lab_row row = rate_row(&length[i], c);
            point[c][i] = lab_point_row(length[i].n, &row);
            if (is_seen(&length[i])) {
                lab_row(lab, &row, "n = %u, %zu networks, %s", length[i].n, length[i].networks,
                        lab_003_columns[c]);
            }
        }
    }
    for (int c = 0; c <= SEARCH; c++) {
        series[c] = (struct svg_series){lab_003_columns[c], c == BLOOM ? SVG_LINE : SVG_MARKS,
                                        point[c], count};
    }
    return lab_chart(lab, series, SEARCH + 1, "Rate of false links, by length of the path",
                     "n, links of the path", "share of links that match falsely", LAB_LINEAR);
}

/* Standard error of a quotient a / b, from those of a and b. */
static double quotient_error(double a, double b, double of_a, double of_b)
{
    return hypot(of_a / b, a * of_b / (b * b));
}

static struct lab_row ratio_row(const struct length *l, int column)
{
    struct lab_row row = LAB_ROW;
    double a = l->rate[column];
    double b = l->rate[BLOOM];
    double half = LAB_Z * quotient_error(a, b, l->error[column], l->error[BLOOM]);
    row.ours = a / b;
    row.low = fmax(0, row.ours - half);
    row.high = row.ours + half;
    row.spread = LAB_Z * quotient_error(a, b, l->spread[column], l->spread[BLOOM]);
    return row;
}

int lab_veto_fig_18(struct lab *lab)
{
    enum { LONGEST = 35 }; /* in the paper's figure */
    struct length length[MOST_LENGTHS];
    struct svg_point point[SEARCH + 1][MOST_LENGTHS];
    struct svg_series series[SEARCH];
    size_t count;
    size_t used = 0;
    if (measure_lengths(lab, length, &count) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_seen(&length[i]) || length[i].n > LONGEST) {
            continue;
        }
        for (int c = NEXTFIT; c <= SEARCH; c++) {
            struct lab_row row = ratio_row(&length[i], c);
            if (length[i].n == LONGEST && c != SEARCH) {
                row.published = 0.25;
                row.source = LAB_WORDS;
                row.rounding = 0.005;
                row.right = c == GREEDY ? 0.229 / 1.96 : NAN;
                row.leeway = 0.012;
            }
            lab_row(lab, &row, "n = %u, yes-no / Bloom, %s", length[i].n, lab_003_columns[c]);
            point[c][used] = lab_point_row(length[i].n, &row);
        }
        used++;
    }
    for (int c = NEXTFIT; c <= SEARCH; c++) {
        series[c - NEXTFIT] = (struct svg_series){lab_003_columns[c], SVG_MARKS, point[c], used};
    }
    return lab_chart(lab, series, SEARCH, "Rate of false links, yes-no to Bloom",
                     "n, links of the path", "ratio", LAB_LINEAR);
}
