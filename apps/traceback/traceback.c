/*
 * traceback.c: where did a packet come from? (Laufer, Velloso and Duarte 2011, Sec. 1 and 6)
 *
 *     attacker ── r1 ── r2 ── r3 ── ... ── rH ── victim
 *                 |     |     |
 *                 x     x     x            neighbours that were not passed
 *
 * Every router adds itself to the filter in the packet, r1 first. The victim asks the neighbours of
 * rH whether the filter knows them, then the neighbours of those that it knows, and so walks back.
 * A router that the filter has forgotten stops the walk there; one that it wrongly knows is a false
 * branch. The attacker writes the first bits of the filter: the only thing it can do.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/papers.h>
#include <tepal/tepal.h>

#include "cli/options.h"
#include "cli/say.h"
#include "statistics/random.h"
#include "shared/attack.h"
#include "traceback/traceback.h"

/* Sums over packets. */
struct tally {
    uint64_t packets;
    uint64_t full;
    uint64_t hops;
    uint64_t hops_found;
    uint64_t branches;
    uint64_t candidates; /* routers off the path that stand next to it */
    uint64_t strays;     /* all routers off the path that the walk reaches */
    double expected_full;
    double expected_hops;
    double expected_branches;
};

/* ---- what the model expects ------------------------------------------------------------------ */

static enum tepal_status foresee(struct traceback *t, uint32_t hops)
{
    const struct tepal_params *p = &t->armed;
    struct forecast *f = &t->forecast[hops];
    uint64_t ages[ROUTE_HOPS + 1] = {0};
    struct tepal_generalized_errors rates;
    if (f->known) {
        return TEPAL_OK;
    }
    for (uint32_t i = 0; i < hops; i++) {
        ages[i] = i;
    }
    f->known = true;
    if (p->kind != TEPAL_KIND_GENERALIZED) {
        f->fp = tepal_bloom_fp(p->layout, p->positions, p->cells, hops, p->hashes);
        for (uint32_t i = 0; i < hops; i++) {
            f->keeps[i] = 1;
        }
        return TEPAL_OK;
    }
    enum tepal_status status = tepal_generalized_rates(p, hops, ages, hops, f->keeps, &rates);
    f->fp = rates.fp;
    for (uint32_t i = 0; i < hops && status == TEPAL_OK; i++) {
        f->keeps[i] = 1 - f->keeps[i];
    }
    return status;
}

/* Candidates of each router of the path, from the victim's on, and how far the walk gets. */
static void expect(const struct forecast *f, const uint32_t *candidates, uint32_t hops,
                   struct tally *sum)
{
    double reach = 1;
    for (uint32_t age = 0; age < hops; age++) {
        reach *= f->keeps[age];
        sum->expected_hops += reach;
        sum->expected_branches += reach * candidates[age] * f->fp;
    }
    sum->expected_full += reach;
}

/* ---- one packet ------------------------------------------------------------------------------ */

static enum tepal_status tree_packet(struct traceback *t, struct tepal_filter *filter,
                                     struct tally *sum)
{
    struct tepal_digest router[ROUTE_HOPS + 1];
    uint32_t candidates[ROUTE_HOPS + 1];
    enum tepal_status status = foresee(t, t->hops);
    bool walking = true;
    for (uint32_t i = 0; i < t->hops && status == TEPAL_OK; i++) {
        router[i] = (struct tepal_digest){random_draw(&t->random), random_draw(&t->random)};
        status = tepal_filter_add(filter, router[i]);
    }
    for (uint32_t age = 0; age < t->hops && status == TEPAL_OK; age++) {
        uint32_t at = t->hops - 1 - age;
        /* all neighbours but the routers of the path before and after it */
        candidates[age] = t->tree - (age > 0) - (at > 0);
        sum->candidates += candidates[age];
        walking = walking && tepal_filter_query(filter, router[at]);
        sum->hops_found += walking;
        for (uint32_t i = 0; i < candidates[age]; i++) {
            struct tepal_digest other = {random_draw(&t->random), random_draw(&t->random)};
            sum->branches += walking && tepal_filter_query(filter, other);
        }
    }
    sum->full += walking;
    sum->hops += t->hops;
    if (status == TEPAL_OK) {
        expect(&t->forecast[t->hops], candidates, t->hops, sum);
    }
    return status;
}

/* Breadth first from the victim's router, which needs no asking. */
static uint32_t walk(struct traceback *t, const struct tepal_filter *filter,
                     const struct tepal_hasher *hasher, uint32_t start)
{
    const struct mesh *m = &t->mesh;
    uint32_t head = 0;
    uint32_t tail = 0;
    t->queue[tail++] = start;
    t->asked[start] = true;
    t->found[start] = true;
    while (head < tail) {
        uint32_t v = t->queue[head++];
        for (uint32_t i = m->first[v]; i < m->first[v + 1]; i++) {
            uint32_t w = m->neighbour[i];
            if (!t->asked[w]) {
                t->asked[w] = true;
                if (tepal_filter_query(filter, tepal_hash_u64(hasher, w))) {
                    t->found[w] = true;
                    t->queue[tail++] = w;
                }
            }
        }
    }
    return tail;
}

/*
 * Routers off the path next to each router on it, each counted at the one that is met first; and
 * those of them that are found next to one that is found. Uses t->asked to count each once.
 */
static void count_branches(struct traceback *t, const struct path *path, uint32_t *candidates,
                           struct tally *sum)
{
    const struct mesh *m = &t->mesh;
    memset(t->asked, 0, m->nodes * sizeof *t->asked);
    for (uint32_t age = 0; age < path->hops; age++) {
        uint32_t v = path->router[path->hops - 1 - age];
        candidates[age] = 0;
        for (uint32_t i = m->first[v]; i < m->first[v + 1]; i++) {
            uint32_t w = m->neighbour[i];
            if (!t->on_path[w] && !t->asked[w]) {
                t->asked[w] = true;
                candidates[age]++;
            }
        }
        sum->candidates += candidates[age];
    }
    memset(t->asked, 0, m->nodes * sizeof *t->asked);
    for (uint32_t h = 0; h < path->hops; h++) {
        uint32_t v = path->router[h];
        for (uint32_t i = m->first[v]; t->found[v] && i < m->first[v + 1]; i++) {
            uint32_t w = m->neighbour[i];
            if (!t->on_path[w] && t->found[w] && !t->asked[w]) {
                t->asked[w] = true;
                sum->branches++;
            }
        }
    }
}

static enum tepal_status mesh_packet(struct traceback *t, struct tepal_filter *filter,
                                     const struct path *path, struct tally *sum)
{
    uint32_t candidates[ROUTE_HOPS + 1];
    struct tepal_hasher hasher;
    uint32_t found = 0;
    enum tepal_status status = foresee(t, path->hops);
    tepal_hasher_init(random_draw(&t->random), &hasher); /* every packet has a seed of its own */
    for (uint32_t i = 0; i < path->hops && status == TEPAL_OK; i++) {
        t->on_path[path->router[i]] = true;
        status = tepal_filter_add(filter, tepal_hash_u64(&hasher, path->router[i]));
    }
    uint32_t reached = walk(t, filter, &hasher, path->router[path->hops - 1]);
    for (uint32_t i = 0; i < path->hops; i++) {
        found += t->found[path->router[i]];
    }
    count_branches(t, path, candidates, sum);
    sum->hops += path->hops;
    sum->hops_found += found;
    sum->full += found == path->hops;
    sum->strays += reached - found;
    expect(&t->forecast[path->hops], candidates, path->hops, sum);
    memset(t->asked, 0, t->mesh.nodes * sizeof *t->asked);
    memset(t->found, 0, t->mesh.nodes * sizeof *t->found);
    memset(t->on_path, 0, t->mesh.nodes * sizeof *t->on_path);
    return status;
}

static enum tepal_status one_packet(struct traceback *t, struct tally *sum)
{
    struct tepal_params params = t->armed;
    struct tepal_filter *filter = NULL;
    struct path path = {0, {0}};
    params.seed = random_draw(&t->random); /* other bits of the attacker's for every packet */
    enum tepal_status status = tepal_filter_create(&params, NULL, &filter, NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    if (t->tree != 0) {
        status = tree_packet(t, filter, sum);
    } else {
        status = paths_draw(t, &path) ? mesh_packet(t, filter, &path, sum) : TEPAL_NOT_PRESENT;
    }
    sum->packets++;
    tepal_filter_free(filter);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void print_row(struct traceback *t, const struct attack_setting *s, const struct tally *sum)
{
    struct report *r = &t->report;
    double n = (double)sum->packets;
    double hops = sum->hops == 0 ? 1 : (double)sum->hops; /* none: none was found either */
    report_object(r, NULL);
    report_text(r, "kind", s->kind, column("filter", -11, NULL));
    report_text(r, "attack", attack_names[s->attack], column("attack", -8, NULL));
    report_whole(r, "bits", s->params.cells, NO_TEXT);
    report_whole(r, "hashes", s->params.hashes, JSON_ONLY);
    report_whole(r, "reset_hashes", attack_resets(s), JSON_ONLY);
    report_whole(r, "tolerance", attack_tolerance(s), JSON_ONLY);
    report_whole(r, "packets", sum->packets, NO_TEXT);
    report_real(r, "hops", (double)sum->hops / n, column_tsv(NO_TEXT, "%.4f"));
    report_real(r, "full", (double)sum->full / n, column("full", 8, "%.2f %%"));
    report_real(r, NULL, sum->expected_full / n, text_column("(model)", 8, "%.2f %%"));
    report_real(r, "hops_found", (double)sum->hops_found / hops, column("hops", 9, "%.2f %%"));
    report_real(r, "candidates", (double)sum->candidates / n, column_tsv(NO_TEXT, "%.4f"));
    report_real(r, "false_branches", (double)sum->branches / n, column("branches", 8, "%.3f"));
    report_real(r, NULL, sum->expected_branches / n, text_column("(model)", 8, "%.3f"));
    report_real(r, "strays", t->tree != 0 ? (double)NAN : (double)sum->strays / n,
                column("strays", 9, "%.3f"));
    report_real(r, "full_expected", sum->expected_full / n, NO_TEXT);
    report_real(r, "hops_found_expected", sum->expected_hops / hops, NO_TEXT);
    report_real(r, "false_branches_expected", sum->expected_branches / n, NO_TEXT);
    report_end(r);
}

/* ---- the experiment -------------------------------------------------------------------------- */

static int run_setting(void *ctx, const struct attack_setting *s)
{
    struct traceback *t = ctx;
    struct tally sum = {0};
    enum tepal_status status = attack_params(s, 0, &t->armed);
    memset(t->forecast, 0, sizeof t->forecast);
    t->random = t->seed; /* the same packets for all */
    for (uint64_t i = 0; i < t->packets && status == TEPAL_OK; i++) {
        status = one_packet(t, &sum);
    }
    if (status == TEPAL_NOT_PRESENT) {
        return say_error(NULL, t->args->command->name, "no path of %" PRIu32 " routers was found",
                         t->hops);
    }
    if (status == TEPAL_OK) {
        print_row(t, s, &sum);
    }
    return say_status(NULL, t->args->command->name, status, NULL);
}

static void say_network(const struct traceback *t)
{
    if (t->tree != 0) {
        say_line("network    routers of %" PRIu32 " neighbours each; paths of %" PRIu32 " routers",
                 t->tree, t->hops);
    } else if (t->usable_count > 0) {
        say_line("network    %" PRIu32 " routers on %zu routes, %zu of them complete",
                 t->mesh.nodes, t->routes.count, t->usable_count);
    } else {
        say_line("network    %" PRIu32 " routers, %" PRIu32 " edges", t->graph.nodes,
                 t->graph.edges);
    }
}

static int experiment(struct traceback *t)
{
    struct attack_setting kinds[ATTACK_KINDS];
    uint64_t bits = arg_whole(t->args, "bits", 256);
    int code = attack_settings(t->args, bits, kinds);
    if (code != EXIT_YES) {
        return code;
    }
    if (!arg(t->args, "quiet")->given) {
        say_network(t);
        say_line("packets    %" PRIu64 ", with a filter of %" PRIu64 " bits each", t->packets,
                 bits);
    }
    t->report = report_open(t->args);
    t->report.tsv = "%.6f";
    return report_close(&t->report, attack_each(t->args, kinds, run_setting, t));
}

static void free_all(struct traceback *t)
{
    graph_spread_free(&t->spread);
    graph_free(&t->graph);
    routes_free(&t->routes);
    free(t->usable);
    free(t->mesh.first);
    free(t->mesh.neighbour);
    free(t->asked);
    free(t->found);
    free(t->on_path);
    free(t->queue);
    free(t);
}

static int traceback_run(const struct args *args)
{
    struct traceback *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return say_no_memory();
    }
    t->args = args;
    t->hops = (uint32_t)arg(args, "hops")->whole;
    t->packets = arg_whole(args, "packets", 1000);
    t->seed = arg_whole(args, "seed", 1);
    int code = paths_prepare(t);
    code = code == EXIT_YES ? experiment(t) : code;
    free_all(t);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "network", OF_VALUE(TAKES_TEXT, "NAME"),
           "The network to use, if the file has several."),
    FLAG(0, "routes",
         "The files are measured routes: packets take these routes, and their routers and links "
         "are the network."),
    OPTION(0, "tree", OF_WHOLE("N", 1, 1000),
           "Instead of a network: a tree, in which every router has N neighbours."),
    OPTION(0, "hops", OF_WHOLE("H", 1, 254),
           "The length of paths in routers (default: 15 in a tree, any length in a network)."),
    OPTION(0, "packets", OF_WHOLE("N", 1, 100000000),
           "The number of packets to send, each with its own seed (default 1000)."),
    OPTION('m', "bits", OF_WHOLE("M", 1, 65536),
           "The size of the filter in a packet, in bits (default 256)."),
    OPTION_SIM_HASHES,
    OPTION_SIM_RESETS,
    OPTION_SIM_SETS,
    OPTION_SIM_TOLERANCE,
    OPTION_SIM_ATTACK,
    OPTION_DEMO_SEED,
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"tree", "routes", "network"}, {"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app traceback Cogentco.graphml --bits 512 --reset-hashes 5 --set-hashes 5 --tolerance "
     "2",
     "A network, and a filter that tolerates two inverted bits."},
    {"tepal app traceback --tree 4 --hops 15", "A regular tree."},
    {"tepal app traceback --routes routes.tsv.gz --packets 10k", "Along measured routes."},
    {NULL, NULL}};

const struct command app_traceback = {
    .name = "app traceback",
    .synopsis = "(NETWORK | --routes ROUTES... | --tree N) [--hops H] [--packets P] [--bits M]",
    .summary = "IP traceback: find the path of a packet from a filter of its routers.",
    .about = "Every router adds itself to a small filter in the packet. The victim looks up its "
             "neighbours in the filter, then the neighbours of those found, and so walks back to "
             "the sender. The sender may have filled the filter in advance: not at all, with ones, "
             "or with the share of ones at which most routers are found. Reports the paths found "
             "in full, the hops found, the false branches (routers off the path that are found, "
             "next to one found on it), the branches that the model expects, and all routers that "
             "the walk reaches wrongly. Compares Bloom filters and generalized ones.\n\n"
             "NETWORK is GraphML or an edge list (u, v), and packets take shortest paths between "
             "random routers; ROUTES are measured routes, in the formats that stopset reads.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = traceback_run};
