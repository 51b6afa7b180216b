/*
 * paper003_route.c: Sec. VIII of the yes-no paper: links of a path in a packet's header. In each
 * network the longest of all shortest paths; asked are all links that leave its nodes. Headers of
 * 256 bits: Bloom with 6 hashes, yes-no with 192 + 2 x 32 bits, 4 and 3 hashes.
 *
 * With a folder topology-zoo in the measured data, its networks (those 261 of the paper's release).
 * Without it, 261 networks that are generated: eleven that stand for the largest ones of the paper,
 * a path of as many links with as many others beside it (names aside, nothing else matters to a
 * header), and 250 of 5 to 60 random points in a square, joined by the shortest tree and a fifth
 * as many further short edges.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packet.h"
#include "paper003.h"

#define NETWORKS   261
#define NAME_ROOM  48
#define MOST_NODES 60

enum { BLOOM, NEXTFIT, GREEDY, SEARCH, EXACT, COLUMNS };
static const char *const columns[COLUMNS] = {"Bloom", "nextfit", "greedy", "local-search", "exact"};
static const enum tepal_yesno_method methods[COLUMNS] = {
    TEPAL_YESNO_GREEDY, TEPAL_YESNO_NEXTFIT, TEPAL_YESNO_GREEDY, TEPAL_YESNO_LOCAL_SEARCH,
    TEPAL_YESNO_EXACT};

struct network {
    char name[NAME_ROOM];
    uint32_t n;      /* links of the path */
    uint32_t t;      /* others beside it */
    bool random;     /* made at random: tells nothing of the paper's networks */
    double expected; /* false links of a Bloom header, exactly */
    struct lab_mean left[COLUMNS];
    struct lab_mean any[COLUMNS]; /* 1 for a header with a false link, 0 without */
};

struct networks {
    struct network *list;
    size_t count;
    size_t room;
};

/* ---- sending --------------------------------------------------------------------------------- */

static int send_all(struct lab *lab, const struct packet_plan *plan, struct network *net,
                    int column, size_t allocations)
{
    struct packet_setting setting = {.how = TEPAL_YESNO_OPTIONS_INIT, .ttl = 1};
    struct tepal_params init = TEPAL_PARAMS_INIT;
    /* Sabotaged: all headers are Bloom's. */
    enum packet_kind kind = column == BLOOM || lab_sabotaged(lab) ? PACKET_BLOOM : PACKET_YESNO;
    enum tepal_status status = TEPAL_OK;
    const char *why = "";
    setting.params[PACKET_BLOOM] = init;
    setting.params[PACKET_BLOOM].cells = 256;
    setting.params[PACKET_BLOOM].hashes = 6;
    setting.params[PACKET_YESNO] = init;
    (void)tepal_yesno_params(192, 4, 32, 2, 3, &setting.params[PACKET_YESNO]);
    setting.how.method = methods[column];
    struct packet_walker *walker = packet_walker_new(plan, &setting);
    if (walker == NULL) {
        return say_error(NULL, "lab", "out of memory");
    }
    for (size_t i = 0; i < allocations && status == TEPAL_OK; i++) {
        struct packet_walk walk = {0};
        status = packet_send(walker, kind, lab_draw(lab), &walk, &why);
        lab_mean_add(&net->left[column], walk.false_links);
        lab_mean_add(&net->any[column], walk.false_links > 0);
    }
    packet_walker_free(walker);
    return status == TEPAL_OK ? EXIT_YES : say_error(NULL, "lab", "%s", why);
}

/* The columns that are asked for; the exact one only where it is quick. */
static int measure(struct lab *lab, const struct packet_plan *plan, struct network *net, int count)
{
    /* Quick: so many that Bloom makes a dozen, at least 100; the two whose numbers
     * the paper prints are looked at closely. */
    size_t allocations = lab_trials(lab, (size_t)fmax(100, fmin(12 / net->expected, 250)), 1000);
    if (strcmp(net->name, "TataNld") == 0 || strcmp(net->name, "UsCarrier") == 0) {
        allocations = lab_trials(lab, 3000, 20000);
    } else if (net->expected < 0.04) {
        allocations = lab_trials(lab, 20, 1000);
    }
    for (int c = 0; c < count; c++) {
        if (c == EXACT && net->expected > 1) {
            continue;
        }
        if (send_all(lab, plan, net, c, allocations) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return EXIT_YES;
}

static int add(struct lab *lab, struct networks *nets, const char *name, const struct graph *graph,
               int count)
{
    struct graph_spread spread = {0};
    struct packet_plan plan = {0};
    uint32_t from = 0;
    uint32_t to = 0;
    int code = EXIT_TROUBLE;
    if (nets->count == nets->room) {
        size_t room = nets->room == 0 ? NETWORKS : 2 * nets->room;
        struct network *list = realloc(nets->list, room * sizeof *list);
        if (list == NULL) {
            return say_error(NULL, "lab", "out of memory");
        }
        nets->list = list;
        nets->room = room;
    }
    struct network *net = &nets->list[nets->count++];
    memset(net, 0, sizeof *net);
    snprintf(net->name, sizeof net->name, "%s", name);
    if (!graph_spread_new(&spread, graph)) {
        return say_error(NULL, "lab", "out of memory");
    }
    if (graph_longest(graph, &spread, &from, &to) == 0) {
        code = EXIT_YES; /* no links: nothing to send over */
    } else {
        graph_spread(graph, from, &spread);
        if (packet_plan_make(&plan, graph, &spread, from, &to, 1)) {
            net->n = plan.members;
            net->t = plan.others;
            net->expected = plan.others * tepal_bloom_fp_exact(256, plan.members, 6);
            code = measure(lab, &plan, net, count);
            packet_plan_free(&plan);
        } else {
            say_error(NULL, "lab", "out of memory");
        }
    }
    graph_spread_free(&spread);
    return code;
}

/* ---- measured networks ----------------------------------------------------------------------- */

/* In the collection today, not in the release of the paper's time. */
static bool is_later(const char *name)
{
    static const char *const later[] = {"BackboneSerbiaMontenegro",
                                        "Belnet",
                                        "Cesnet2",
                                        "DeutscheTelekomIpTransitIpPopsOnly",
                                        "Garr",
                                        "Garr200004",
                                        "Geant",
                                        "Geant2011",
                                        "Hibernia",
                                        "IntNetworkmap",
                                        "Internet2",
                                        "Nordu",
                                        "Opteglobe",
                                        "Psnc",
                                        "Uninett"};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        if (strcmp(name, later[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int is_graphml(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".graphml") == 0;
}

/* By bytes, whatever the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_one(struct lab *lab, struct networks *nets, const char *folder, const char *file,
                    int count)
{
    char name[NAME_ROOM];
    char path[4096];
    struct graph graph = {.nodes = 0};
    snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - strlen(".graphml")), file);
    if (is_later(name)) {
        return EXIT_YES;
    }
    if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path) {
        return say_error(NULL, folder, "the path of %s is too long", file);
    }
    int code = graph_read(&graph, path, NULL);
    if (code == EXIT_YES) {
        code = add(lab, nets, name, &graph, count);
    }
    graph_free(&graph);
    return code;
}

/* EXIT_NO: there is no such folder. */
static int read_all(struct lab *lab, struct networks *nets, int count)
{
    char folder[4000];
    struct dirent **entry = NULL;
    int code = EXIT_YES;
    if (lab_data(lab) == NULL) {
        return EXIT_NO;
    }
    snprintf(folder, sizeof folder, "%s/topology-zoo", lab_data(lab));
    int found = scandir(folder, &entry, is_graphml, by_name);
    if (found < 0) {
        return errno == ENOENT ? EXIT_NO : say_error(NULL, folder, "%s", strerror(errno));
    }
    for (int i = 0; i < found; i++) {
        if (code == EXIT_YES) {
            code = read_one(lab, nets, folder, entry[i]->d_name, count);
        }
        free(entry[i]);
    }
    free(entry);
    return code;
}

/* ---- generated networks ---------------------------------------------------------------------- */

/* Edges, as the text of a file. */
struct text {
    char bytes[1 << 13];
    size_t used;
};

static void edge(struct text *text, const char *form, uint32_t a, uint32_t b)
{
    int len = snprintf(text->bytes + text->used, sizeof text->bytes - text->used, form, a, b);
    text->used += (size_t)len;
}

static int add_text(struct lab *lab, struct networks *nets, const char *name,
                    const struct text *text, int count)
{
    struct graph graph = {.nodes = 0};
    struct graph_trouble trouble;
    if (!graph_parse(&graph, GRAPH_TSV, NULL, text->bytes, text->used, &trouble)) {
        return say_error(NULL, "lab", "%s: %s", name, trouble.why);
    }
    int code = add(lab, nets, name, &graph, count);
    graph_free(&graph);
    return code;
}

/* A path of n edges, and t - n leaves at its middle: with the n reverse links, t others. */
static int add_path(struct lab *lab, struct networks *nets, const char *name, uint32_t n,
                    uint32_t t, int count)
{
    static struct text text;
    text.used = 0;
    for (uint32_t i = 0; i < n; i++) {
        edge(&text, "p%" PRIu32 "\tp%" PRIu32 "\n", i, i + 1);
    }
    for (uint32_t i = 0; i < t - n; i++) {
        edge(&text, "p%" PRIu32 "\tleaf%" PRIu32 "\n", n / 2, i);
    }
    return add_text(lab, nets, name, &text, count);
}

static double uniform(struct lab *lab)
{
    return (double)(lab_draw(lab) >> 11) * 0x1p-53;
}

struct points {
    double x[MOST_NODES];
    double y[MOST_NODES];
    bool joined[MOST_NODES][MOST_NODES];
    uint32_t count;
};

static double apart(const struct points *p, uint32_t a, uint32_t b)
{
    return hypot(p->x[a] - p->x[b], p->y[a] - p->y[b]);
}

/* Prim: the nearest of those outside joins its nearest one inside. */
static void join_tree(struct points *p, struct text *text)
{
    uint32_t nearest[MOST_NODES] = {0};
    bool inside[MOST_NODES] = {true};
    for (uint32_t step = 1; step < p->count; step++) {
        uint32_t best = GRAPH_NONE;
        for (uint32_t i = 0; i < p->count; i++) {
            if (!inside[i] &&
                (best == GRAPH_NONE || apart(p, i, nearest[i]) < apart(p, best, nearest[best]))) {
                best = i;
            }
        }
        inside[best] = true;
        p->joined[best][nearest[best]] = p->joined[nearest[best]][best] = true;
        edge(text, "%" PRIu32 "\t%" PRIu32 "\n", nearest[best], best);
        for (uint32_t i = 0; i < p->count; i++) {
            nearest[i] = apart(p, i, best) < apart(p, i, nearest[i]) ? best : nearest[i];
        }
    }
}

/* Every fifth point is joined to the nearest one that it is not joined to. */
static void join_more(struct points *p, struct text *text)
{
    for (uint32_t i = 0; i < p->count; i += 5) {
        uint32_t best = GRAPH_NONE;
        for (uint32_t j = 0; j < p->count; j++) {
            if (j != i && !p->joined[i][j] &&
                (best == GRAPH_NONE || apart(p, i, j) < apart(p, i, best))) {
                best = j;
            }
        }
        if (best != GRAPH_NONE) {
            p->joined[i][best] = p->joined[best][i] = true;
            edge(text, "%" PRIu32 "\t%" PRIu32 "\n", i, best);
        }
    }
}

static int add_random(struct lab *lab, struct networks *nets, size_t number, int count)
{
    static struct points p;
    static struct text text;
    char name[NAME_ROOM];
    memset(&p, 0, sizeof p);
    text.used = 0;
    p.count = (uint32_t)(5 * pow(MOST_NODES / 5, uniform(lab)));
    for (uint32_t i = 0; i < p.count; i++) {
        p.x[i] = uniform(lab);
        p.y[i] = uniform(lab);
    }
    join_tree(&p, &text);
    join_more(&p, &text);
    snprintf(name, sizeof name, "random %zu", number);
    int code = add_text(lab, nets, name, &text, count);
    if (code == EXIT_YES) {
        nets->list[nets->count - 1].random = true;
    }
    return code;
}

static int make_all(struct lab *lab, struct networks *nets, int count)
{
    static const struct {
        const char *name;
        uint32_t n;
        uint32_t t;
    } large[] = {{"TataNld", 28, 72},       {"UsCarrier", 35, 62}, {"Syringa", 31, 45},
                 {"DialtelecomCz", 30, 43}, {"Cogentco", 28, 52},  {"RedBestel", 28, 39},
                 {"Ion", 25, 47},           {"Deltacom", 23, 59},  {"GtsCe", 21, 57},
                 {"Colt", 20, 66},          {"Kdl", 58, 115}};
    enum { LARGE = sizeof large / sizeof *large };
    int code = EXIT_YES;
    for (size_t i = 0; i < LARGE && code == EXIT_YES; i++) {
        code = add_path(lab, nets, large[i].name, large[i].n, large[i].t, count);
    }
    for (size_t i = LARGE; i < NETWORKS && code == EXIT_YES; i++) {
        code = add_random(lab, nets, i - LARGE, count);
    }
    return code;
}

static int networks(struct lab *lab, struct networks *nets, int count)
{
    int code = read_all(lab, nets, count);
    return code == EXIT_NO ? make_all(lab, nets, count) : code;
}

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

static void printed_mean(struct lab *lab, const struct lab_mean *mean, double published,
                         double rounding, double right, double leeway, const char *words)
{
    struct lab_row row = LAB_ROW;
    lab_veto_measured(&row, mean);
    row.published = published;
    row.rounding = rounding;
    row.spread = spread_of(mean);
    row.right = right;
    row.leeway = leeway;
    lab_row(lab, &row, "%s", words);
}

/* What the text says of TataNld. */
static void tata_rows(struct lab *lab, const struct network *tata)
{
    struct lab_row row = LAB_ROW;
    double none = pow(1 - tata->expected / tata->t, tata->t);
    row.published = 28;
    lab_exact(&row, tata->n);
    lab_row(lab, &row, "TataNld, links of the path");
    printed_mean(lab, &tata->left[BLOOM], 0.92, 0.005, NAN, 0, "TataNld, Bloom");
    printed_mean(lab, &tata->left[NEXTFIT], 0.13, 0.005, NAN, 0, "TataNld, yes-no, nextfit");
    printed_mean(lab, &tata->left[GREEDY], 0.13, 0.005, 0.075, 0.006,
                 "TataNld, yes-no, greedy; right: as Sec. III describes it");
    printed_mean(lab, &tata->any[NEXTFIT], 0.125, 0.008, NAN, 0,
                 "TataNld, headers with a false link, nextfit (one of eight)");
    printed_mean(lab, &tata->any[BLOOM], 1, 0.05, 1 - none, 0.05,
                 "TataNld, headers with a false link, Bloom (almost certainly)");
}

static void count_rows(struct lab *lab, const struct networks *nets, const struct network *tata)
{
    struct lab_row row = LAB_ROW;
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
    row.published = NETWORKS;
    lab_exact(&row, (double)nets->count);
    lab_row(lab, &row, "networks");
    row.published = 2;
    lab_exact(&row, beyond);
    lab_row(lab, &row, "networks with more false links than TataNld");
    row.published = 0;
    lab_exact(&row, worse);
    lab_row(lab, &row, "of %g networks with 0.05 false links or more, those where yes-no has more",
            compared);
    row.published = NAN;
    lab_exact(&row, none);
    lab_row(lab, &row,
            "networks at the point (0, 0): less than 0.005 with either (in the text many)");
}

static void network_rows(struct lab *lab, const struct network *net, int count)
{
    for (int c = 0; c < count; c++) {
        struct lab_row row = LAB_ROW;
        if (net->left[c].count > 0) {
            lab_veto_measured(&row, &net->left[c]);
            lab_row(lab, &row, "%s (%u links, %u others), %s", net->name, net->n, net->t,
                    columns[c]);
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
        return say_error(NULL, "lab", "out of memory");
    }
    for (size_t j = 0; j < CURVES; j++) {
        struct svg_point *p = point + j * nets->count;
        size_t used = 0;
        for (size_t i = 0; i < nets->count; i++) {
            const struct network *net = &nets->list[i];
            if (net->expected <= 1.05 * most) {
                double half = LAB_Z * lab_mean_error(&net->left[shown[j]]);
                double y = net->left[shown[j]].mean;
                p[used++] =
                    (struct svg_point){net->left[BLOOM].mean, y, fmax(0, y - half), y + half};
            }
        }
        series[j] = (struct svg_series){columns[shown[j]], SVG_MARKS, p, used};
    }
    series[CURVES] = (struct svg_series){"as many as Bloom", SVG_DASHED, same, 2};
    struct svg_chart chart = {.title = "False links of a path, by network",
                              .x_label = "Bloom header, false links",
                              .y_label = "yes-no header, false links",
                              .series = series,
                              .count = CURVES + 1};
    int code = lab_chart(lab, &chart);
    free(point);
    return code;
}

int lab_veto_fig_16(struct lab *lab)
{
    struct networks nets = {0};
    int code = networks(lab, &nets, COLUMNS);
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

/* Lengths at which enough false links are seen to speak of them. */
static bool is_seen(const struct length *l)
{
    return l->rate[BLOOM] > 2 * LAB_Z * l->error[BLOOM];
}

static void rate_row(struct lab *lab, const struct length *l, int column)
{
    struct lab_row row = LAB_ROW;
    row.ours = l->rate[column];
    row.low = fmax(0, row.ours - LAB_Z * l->error[column]);
    row.high = row.ours + LAB_Z * l->error[column];
    lab_row(lab, &row, "n = %u, %zu networks, %s", l->n, l->networks, columns[column]);
}

int lab_veto_fig_17(struct lab *lab)
{
    struct networks nets = {0};
    struct length length[MOST_LENGTHS];
    struct svg_point point[SEARCH + 1][MOST_LENGTHS];
    struct svg_series series[SEARCH + 1];
    struct lab_row row = LAB_ROW;
    double higher = 0;
    int code = networks(lab, &nets, SEARCH + 1);
    size_t count = by_length(&nets, SEARCH + 1, length);
    free(nets.list);
    if (code != EXIT_YES) {
        return code;
    }
    for (size_t i = 0; i < count; i++) {
        higher += is_seen(&length[i]) && length[i].rate[NEXTFIT] >= length[i].rate[BLOOM];
    }
    row.published = 0;
    lab_exact(&row, higher);
    lab_row(lab, &row, "lengths n at which the yes-no header's rate is not lower, nextfit");
    for (int c = 0; c <= SEARCH; c++) {
        series[c] =
            (struct svg_series){columns[c], c == BLOOM ? SVG_LINE : SVG_MARKS, point[c], count};
        for (size_t i = 0; i < count; i++) {
            double half = LAB_Z * length[i].error[c];
            double y = length[i].rate[c];
            point[c][i] = (struct svg_point){length[i].n, y, fmax(0, y - half), y + half};
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c <= SEARCH && is_seen(&length[i]); c++) {
            rate_row(lab, &length[i], c);
        }
    }
    struct svg_chart chart = {.title = "Rate of false links, by length of the path",
                              .x_label = "n, links of the path",
                              .y_label = "false links of those asked, share",
                              .series = series,
                              .count = SEARCH + 1};
    return lab_chart(lab, &chart);
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
    struct networks nets = {0};
    struct length length[MOST_LENGTHS];
    struct svg_point point[SEARCH + 1][MOST_LENGTHS];
    struct svg_series series[SEARCH];
    int code = networks(lab, &nets, SEARCH + 1);
    size_t count = by_length(&nets, SEARCH + 1, length);
    size_t used = 0;
    free(nets.list);
    for (size_t i = 0; i < count && code == EXIT_YES; i++) {
        if (!is_seen(&length[i]) || length[i].n > LONGEST) {
            continue;
        }
        for (int c = NEXTFIT; c <= SEARCH; c++) {
            struct lab_row row = ratio_row(&length[i], c);
            if (length[i].n == LONGEST && c != SEARCH) {
                row.published = 0.25;
                row.rounding = 0.005;
                row.right = c == GREEDY ? 0.229 / 1.96 : NAN;
                row.leeway = 0.012;
            }
            lab_row(lab, &row, "n = %u, yes-no / Bloom, %s", length[i].n, columns[c]);
            point[c][used] = (struct svg_point){length[i].n, row.ours, row.low, row.high};
        }
        used++;
    }
    for (int c = NEXTFIT; c <= SEARCH; c++) {
        series[c - NEXTFIT] = (struct svg_series){columns[c], SVG_MARKS, point[c], used};
    }
    struct svg_chart chart = {.title = "Rate of false links, yes-no to Bloom",
                              .x_label = "n, links of the path",
                              .y_label = "ratio",
                              .series = series,
                              .count = SEARCH};
    return code == EXIT_YES ? lab_chart(lab, &chart) : code;
}
