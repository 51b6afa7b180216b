/*
 * networks.c: the networks of Sec. VIII. In each the longest of all shortest paths; asked are all
 * links that leave its nodes. Headers of 256 bits: Bloom with 6 hashes, yes-no with 192 + 2 x 32
 * bits, 4 and 3 hashes; beyond the paper, with own seeds, four salts, or a layout that the model
 * chooses.
 *
 * With a folder topology-zoo in the measured data, its networks (those 261 of the paper's release).
 * Without it, 261 networks that are generated: eleven that stand for the largest ones of the paper,
 * a path of as many links with as many others beside it (names aside, nothing else matters to a
 * header), and 250 of 5 to 60 random points in a square, joined by the shortest tree and a fifth
 * as many further short edges.
 */
#define _POSIX_C_SOURCE 200809L
#include "paper003/networks.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "route/packet.h"
#include "shared/grow.h"

#define NAME_ROOM  48
#define MOST_NODES 60

const char *const lab_003_columns[COLUMNS] = {"Bloom",
                                              "nextfit",
                                              "greedy",
                                              "local-search",
                                              "exact",
                                              "local-search, own seeds",
                                              "local-search, four salts",
                                              "local-search, chosen layout"};
static const enum tepal_yesno_method methods[COLUMNS] = {
    TEPAL_YESNO_GREEDY,       TEPAL_YESNO_NEXTFIT,     TEPAL_YESNO_GREEDY,
    TEPAL_YESNO_LOCAL_SEARCH, TEPAL_YESNO_EXACT,       TEPAL_YESNO_LOCAL_SEARCH,
    TEPAL_YESNO_LOCAL_SEARCH, TEPAL_YESNO_LOCAL_SEARCH};

/* ---- sending --------------------------------------------------------------------------------- */

/* The yes-no header of a column: the paper's, or one that leaves less. */
static void choose(struct packet_setting *s, const struct packet_plan *plan, int column)
{
    struct tepal_params *p = &s->params[PACKET_YESNO];
    struct tepal_yesno_setting best = {.hashes = 0};
    *p = lab_veto_params(192, 4, 32, 2, 3);
    p->yesno.own_seeds = column == OWN_SEEDS;
    s->how.method = methods[column];
    s->how.salts = column == SALTS ? 4 : 1;
    if (column == CHOSEN &&
        tepal_yesno_best_setting(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_DISTINCT, 256, plan->members,
                                 plan->others == 0 ? 1 : plan->others, &best) == TEPAL_OK) {
        *p = lab_veto_params(best.yes_bits, best.hashes, best.no_filters == 0 ? 0 : best.no_bits,
                             best.no_filters, best.no_filters == 0 ? 0 : best.no_hashes);
        p->positions = TEPAL_POSITIONS_DISTINCT;
        p->yesno.own_seeds = best.no_filters > 0 && best.own_seeds;
    }
}

static int send_all(struct lab *lab, const struct packet_plan *plan, struct network *net,
                    int column, size_t allocations)
{
    struct packet_setting setting = {.how = TEPAL_YESNO_OPTIONS_INIT, .ttl = 1};
    struct tepal_params init = TEPAL_PARAMS_INIT;
    /* Sabotaged: all headers are Bloom's. */
    enum packet_kind kind = column == BLOOM || lab_sabotaged(lab) ? PACKET_BLOOM : PACKET_YESNO;
    enum tepal_status status = TEPAL_OK;
    struct tepal_error error = {.why = ""};
    setting.params[PACKET_BLOOM] = init;
    setting.params[PACKET_BLOOM].cells = 256;
    setting.params[PACKET_BLOOM].hashes = 6;
    choose(&setting, plan, column);
    struct packet_walker *walker = packet_walker_new(plan->graph, &setting);
    if (walker == NULL) {
        return say_no_memory();
    }
    for (size_t i = 0; i < allocations && status == TEPAL_OK; i++) {
        struct packet_walk walk = {0};
        /* What is beyond the paper draws nothing, so that the paper's columns stay as they are. */
        uint64_t seed = column > EXACT ? 1 + i : lab_draw(lab);
        status = packet_send(walker, plan, kind, seed, &walk, &error);
        lab_mean_add(&net->left[column], walk.false_links);
        lab_mean_add(&net->any[column], walk.false_links > 0);
    }
    packet_walker_free(walker);
    return status == TEPAL_OK ? EXIT_YES : say_error(NULL, "lab", "%s", error.why);
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
        if ((c == EXACT && net->expected > 1) || (c > EXACT && net->expected < 0.05)) {
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
    if (!grow(&nets->list, &nets->room, nets->count + 1, sizeof *nets->list)) {
        return say_no_memory();
    }
    struct network *net = &nets->list[nets->count++];
    memset(net, 0, sizeof *net);
    snprintf(net->name, sizeof net->name, "%s", name);
    if (!graph_spread_new(&spread, graph)) {
        return say_no_memory();
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
            say_no_memory();
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
    for (size_t i = 0; i < COUNT(later); i++) {
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
    code = code == EXIT_YES ? add(lab, nets, name, &graph, count) : code;
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
        code = code == EXIT_YES ? read_one(lab, nets, folder, entry[i]->d_name, count) : code;
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
    p.count = (uint32_t)(5 * pow(MOST_NODES / 5, lab_unit(lab)));
    for (uint32_t i = 0; i < p.count; i++) {
        p.x[i] = lab_unit(lab);
        p.y[i] = lab_unit(lab);
    }
    join_tree(&p, &text);
    join_more(&p, &text);
    snprintf(name, sizeof name, "random %zu", number);
    /* What is beyond the paper is not asked of networks that are beyond it, too. */
    int code = add_text(lab, nets, name, &text, count < OWN_SEEDS ? count : OWN_SEEDS);
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
    enum { LARGE = COUNT(large) };
    int code = EXIT_YES;
    for (size_t i = 0; i < LARGE && code == EXIT_YES; i++) {
        code = add_path(lab, nets, large[i].name, large[i].n, large[i].t, count);
    }
    for (size_t i = LARGE; i < NETWORKS && code == EXIT_YES; i++) {
        code = add_random(lab, nets, i - LARGE, count);
    }
    return code;
}

int lab_003_networks(struct lab *lab, struct networks *nets, int count)
{
    int code = read_all(lab, nets, count);
    return code == EXIT_NO ? make_all(lab, nets, count) : code;
}
