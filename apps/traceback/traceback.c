/*
 * traceback.c: where did a packet come from? (Laufer, Velloso and Duarte 2011, Sec. 1 and 6)
 *
 *     paths.c    networks, routes and trees     walk.c    the walk back
 *     packet.c   one packet, and what is found  forge.c   the sender who knows the hash functions
 *     expect.c   the model and the bound
 *
 *     attacker ── r1 ── r2 ── r3 ── ... ── rH ── victim
 *                 |     |     |
 *                 x     x     x            neighbours that were not passed
 *
 * Every router adds itself to the filter in the packet, r1 first. The victim asks the neighbours of
 * rH whether the filter knows them, then the neighbours of those that it knows, and so walks back.
 * A router that the filter wrongly knows is a false branch. One that it has forgotten would stop
 * the walk: but whoever walks backwards knows the routers that overwrote its bits, and ignores
 * these (wildcards). The attacker writes the first bits of the filter: the only thing it can do.
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
#include "traceback/walk.h"

/* ---- rows ------------------------------------------------------------------------------------ */

static void print_row(struct traceback *t, const struct attack_setting *s, const struct tally *sum)
{
    struct report *r = &t->report;
    double n = (double)sum->packets;
    double hops = sum->hops == 0 ? 1 : (double)sum->hops; /* none: none was found either */
    report_object(r, NULL);
    report_text(r, "kind", s->kind, column("filter", -11, NULL));
    report_text(r, "attack", attack_names[s->attack], column("attack", -8, NULL));
    report_text(r, "walk", t->wild ? "wildcards" : "plain", NO_TEXT);
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
    report_real(r, NULL, sum->most_branches / n, text_column("(bound)", 8, "%.3f"));
    report_real(r, "strays", (double)sum->strays / n, column("strays", 9, "%.3f"));
    report_real(r, "full_expected", sum->expected_full / n, NO_TEXT);
    report_real(r, "hops_found_expected", sum->expected_hops / hops, NO_TEXT);
    report_real(r, "false_branches_expected", sum->expected_branches / n, NO_TEXT);
    report_real(r, "false_branches_bound", sum->most_branches / n, NO_TEXT);
    report_real(r, "lookups", (double)sum->asked / n, NO_TEXT);
    report_real(r, "cut", (double)sum->cut / n, NO_TEXT);
    report_end(r);
}

/* ---- the experiment -------------------------------------------------------------------------- */

static int run_setting(void *ctx, const struct attack_setting *s)
{
    struct traceback *t = ctx;
    struct tally sum = {0};
    enum tepal_status status = attack_params(s, 0, &t->armed);
    bool generalized = s->params.kind == TEPAL_KIND_GENERALIZED;
    const struct option_value *how = arg(t->args, "walk");
    t->wild = generalized && !(how->given && strcmp(how->text, "plain") == 0);
    t->tuned = s->attack == ATTACK_WORST || s->attack == ATTACK_FORGER;
    t->forged = generalized && s->attack == ATTACK_FORGER;
    memset(t->forecast, 0, sizeof t->forecast);
    memset(t->bound, 0, ((size_t)t->armed.cells + 1) * sizeof *t->bound);
    t->random = t->seed; /* the same packets for all */
    for (uint64_t i = 0; i < t->packets && status == TEPAL_OK; i++) {
        status = packet_trace(t, &sum);
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
        say_line("network    %" PRIu32 " routers, %" PRIu32 " edge%s", t->graph.nodes,
                 t->graph.edges, SAY_S(t->graph.edges));
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
    free(t->met);
    free(t->queue);
    free(t->near);
    free(t->step);
    free(t->bound);
    free(t);
}

static int make_room(struct traceback *t)
{
    size_t neighbours = t->tree != 0 ? t->tree : t->mesh.nodes;
    size_t steps = (size_t)(t->most > FORGED_TRIED ? t->most : FORGED_TRIED) + 2 * ROUTE_HOPS + 2;
    t->near = malloc((neighbours + 1) * sizeof *t->near);
    t->step = malloc(steps * sizeof *t->step);
    t->bound = malloc((MASK_WORDS * 64 + 1) * sizeof *t->bound);
    return t->near == NULL || t->step == NULL || t->bound == NULL ? say_no_memory() : EXIT_YES;
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
    t->most = arg_whole(args, "max-lookups", 10000);
    int code = paths_prepare(t);
    code = code == EXIT_YES ? make_room(t) : code;
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
    OPTION('m', "bits", OF_WHOLE("M", 1, MASK_WORDS * 64),
           "The size of the filter in a packet, in bits (default 256)."),
    OPTION_SIM_HASHES,
    OPTION_SIM_RESETS,
    OPTION_SIM_SETS,
    OPTION_SIM_TOLERANCE,
    OPTION(0, "attack", OF_CHOICE("ATTACK", "none all-ones worst forger"),
           "Only this attack (default: the first three): none; all-ones; worst, the share of ones "
           "at which most routers are found; or forger, the bits of a sender who knows the hash "
           "functions, the network and the path."),
    OPTION(0, "walk", OF_CHOICE("HOW", "wildcards plain"),
           "generalized: wildcards (default), which ignores the bits that the routers found so far "
           "have touched; or plain lookups."),
    OPTION(0, "max-hops", OF_WHOLE("H", 1, 254),
           "The longest way to follow, in routers (default: that of the farthest router; in a tree "
           "the length of paths; the longest route)."),
    OPTION(0, "max-lookups", OF_WHOLE("N", 1, 10000000),
           "The most routers beside the path to look up for one packet (default 10000)."),
    OPTION_DEMO_SEED,
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"tree", "routes", "network"}, {"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app traceback Cogentco.graphml --bits 512 --reset-hashes 5 --set-hashes 5",
     "A network, and filters of 512 bits."},
    {"tepal app traceback --tree 4 --hops 15", "A regular tree."},
    {"tepal app traceback --routes routes.tsv.gz --packets 10k", "Along measured routes."},
    {NULL, NULL}};

const struct command app_traceback = {
    .name = "app traceback",
    .synopsis = "(NETWORK | --routes ROUTES... | --tree N) [--hops H] [--packets P] [--bits M]",
    .summary = "IP traceback: find the path of a packet from a filter of its routers.",
    .about =
        "Every router adds itself to a small filter in the packet. The victim looks up its "
        "neighbours in the filter, then the neighbours of those found, and so walks back to "
        "the sender. In a generalized filter the bits that the routers found so far have touched "
        "are ignored, so that no router of the path is missed. The sender may have filled the "
        "filter in advance: not at all, with ones, or with the share of ones at which most "
        "routers are found. Reports the paths found in full, the hops found, the false "
        "branches (routers off the path that are found, next to one found on it), as many as "
        "the model expects and as many as there can be on average whatever the sender wrote, "
        "and all routers that the walk reaches wrongly. Compares Bloom filters and "
        "generalized ones.\n\n"
        "NETWORK is GraphML or an edge list (u, v), and packets take shortest paths between "
        "random routers; ROUTES are measured routes, in the formats that stopset reads.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = traceback_run};
