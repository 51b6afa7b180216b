/*
 * peers.c: peers that look objects up by what their neighbours tell (Laufer, Velloso and Duarte
 * 2011, Sec. 1 and 6.2; Rhea and Kubiatowicz 2002), and some that lie.
 *
 *     world.c    the network and the objects     tell.c     attenuated filters, honest and forged
 *     lookup.c   lookups                         peers.c    rows, options
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/say.h"
#include "statistics/random.h"
#include "peers/peers.h"

/* ---- rows ------------------------------------------------------------------------------------ */

static double share(uint64_t part, uint64_t all)
{
    return all == 0 ? NAN : (double)part / (double)all;
}

static void print_row(struct peers *p, const struct tally *sum)
{
    const struct attack_setting *s = p->setting;
    struct report *r = &p->report;
    report_object(r, NULL);
    report_text(r, "kind", s->kind, column("filter", -11, NULL));
    report_text(r, "attack", attack_names[s->attack], column("attack", -8, NULL));
    report_whole(r, "bits", s->params.cells, NO_TEXT);
    report_whole(r, "hashes", s->params.hashes, JSON_ONLY);
    report_whole(r, "reset_hashes", attack_resets(s), JSON_ONLY);
    report_whole(r, "tolerance", attack_tolerance(s), JSON_ONLY);
    report_whole(r, "depth", p->depth, NO_TEXT);
    report_whole(r, "lookups", sum->lookups, NO_TEXT);
    report_real(r, "found", share(sum->found, sum->lookups), column("found", 9, "%.2f %%"));
    report_real(r, "hops", share(sum->hops, sum->found), column("hops", 6, "%.2f"));
    report_real(r, "messages", share(sum->sent, sum->lookups), column("messages", 9, "%.2f"));
    report_real(r, "wrong", share(sum->wrong, sum->sent), column("wrong", 9, "%.2f %%"));
    report_real(r, "captured", share(sum->captured, sum->lookups),
                column("captured", 9, "%.2f %%"));
    report_real(r, "absent_believed", share(sum->believed, sum->absent),
                column("absent", 9, "%.2f %%"));
    report_real(r, "absent_bound", sum->absent == 0 ? (double)NAN : sum->most / (double)sum->absent,
                column("(bound)", 9, "%.2f %%"));
    report_real(r, "fp_bound", p->bound, NO_TEXT);
    report_whole(r, "filters_sent", sum->filters, NO_TEXT);
    report_whole(r, "bits_sent", sum->bits, NO_TEXT);
    report_real(r, NULL, (double)sum->bits / 8e3, text_column("kB sent", 9, "%.1f"));
    report_end(r);
}

/* ---- the experiment -------------------------------------------------------------------------- */

static int run_setting(void *ctx, const struct attack_setting *s)
{
    struct peers *p = ctx;
    struct tally sum = {0};
    struct tepal_hasher hasher;
    tepal_hasher_init(arg_whole(p->args, "seed", 1), &hasher);
    for (uint32_t i = 0; i < p->objects.keys.count; i++) {
        const char *name = names_text(&p->objects.keys, i);
        p->key[i] = tepal_hash_bytes(&hasher, name, strlen(name));
    }
    for (size_t i = 0; i < p->objects.count; i++) {
        p->held[i] = p->key[p->held_object[i]];
    }
    p->setting = s;
    p->bound = tepal_params_fp_bound(&s->params);
    p->random = arg_whole(p->args, "seed", 1); /* the same lookups for all */
    enum tepal_status status = peers_tell(p, &sum);
    if (status == TEPAL_OK) {
        p->random = ~arg_whole(p->args, "seed", 1);
        peers_look_up(p, &sum);
        print_row(p, &sum);
    }
    peers_forget(p);
    return say_status(NULL, p->args->command->name, status, NULL);
}

static uint32_t most_held(const struct peers *p)
{
    uint32_t most = 1;
    for (uint32_t v = 0; v < p->graph.nodes; v++) {
        uint32_t held = p->first_held[v + 1] - p->first_held[v];
        most = held > most ? held : most;
    }
    return most;
}

static int experiment(struct peers *p)
{
    struct attack_setting kinds[ATTACK_KINDS];
    uint64_t bits = arg_whole(p->args, "bits", (uint64_t)most_held(p) * 128);
    int code = attack_settings(p->args, bits, kinds);
    if (code != EXIT_YES) {
        return code;
    }
    uint32_t liars = 0;
    for (uint32_t v = 0; v < p->graph.nodes; v++) {
        liars += p->liar[v];
    }
    if (!arg(p->args, "quiet")->given) {
        say_line("peers      %" PRIu32 " with %" PRIu32 " link%s and %zu object%s; %" PRIu32
                 " of them lie under attack",
                 p->graph.nodes, p->graph.edges, SAY_S(p->graph.edges), p->objects.count,
                 SAY_S(p->objects.count), liars);
        say_line("filters    %" PRIu64 " bits each, for what is up to %" PRIu32 " hop%s away", bits,
                 p->depth, SAY_S(p->depth));
    }
    p->report = report_open(p->args);
    p->report.tsv = "%.6f";
    return report_close(&p->report, attack_each(p->args, kinds, run_setting, p));
}

static void free_all(struct peers *p)
{
    peers_forget(p);
    for (uint32_t v = 0; p->circle != NULL && v < p->graph.nodes; v++) {
        free(p->circle[v].at);
    }
    free(p->circle);
    graph_free(&p->graph);
    requests_free(&p->objects);
    free(p->key);
    free(p->held);
    free(p->held_object);
    free(p->first_held);
    free(p->liar);
    free(p->seen);
    free(p->own);
    free(p->level);
}

static int peers_run(const struct args *args)
{
    struct peers p = {.args = args};
    p.depth = (uint32_t)arg_whole(args, "depth", 3);
    p.hops = (uint32_t)arg_whole(args, "max-hops", (uint64_t)4 * p.depth);
    p.lookups = arg_whole(args, "lookups", 2000);
    p.random = arg_whole(args, "seed", 1);
    int code = peers_read(&p);
    code = code == EXIT_YES ? experiment(&p) : code;
    free_all(&p);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "network", OF_VALUE(TAKES_TEXT, "NAME"),
           "The network to use, if the file has several."),
    OPTION(0, "objects", OF_VALUE(TAKES_FILE, "FILE"),
           "Who has what: one peer and one object per line (default: every peer has objects of "
           "its own)."),
    OPTION(0, "per-peer", OF_WHOLE("N", 1, 1000000),
           "Without --objects: the number of objects of each peer (default 16)."),
    OPTION(0, "depth", OF_WHOLE("D", 1, PEERS_DEPTH),
           "How far peers know of objects, in hops: the neighbour itself and D - 1 hops behind it "
           "(default 3)."),
    OPTION(0, "liars", OF_WHOLE("N", 0, PEERS_MOST),
           "The number of peers that lie, drawn at random (default: one, and one per 32 peers)."),
    OPTION(0, "lookups", OF_WHOLE("N", 1, 100000000),
           "The number of lookups, from random peers for random objects (default 2000)."),
    OPTION(0, "max-hops", OF_WHOLE("H", 1, 254),
           "A lookup is given up after H hops (default: four times the depth)."),
    OPTION('m', "bits", OF_WHOLE("M", 1, (uint64_t)1 << 32),
           "The size of each filter in bits (default: 128 per object of the peer that has most)."),
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
static const char *const exclusive[][4] = {{"objects", "per-peer"}, {"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app peers overlay.tsv --objects files.tsv --depth 2", "Your network and your objects."},
    {"tepal app peers Cogentco.graphml --per-peer 50 --attack all-ones", "One attack."},
    {NULL, NULL}};

const struct command app_peers = {
    .name = "app peers",
    .synopsis = "NETWORK [--objects FILE] [--depth D] [--bits M] [--attack ATTACK]",
    .summary = "Peers that look up objects by filters of their neighbours, and some that lie.",
    .about =
        "Every peer tells its neighbours in filters what it has, and passes on what others told "
        "it, by distance (attenuated filters). Bloom filters of equal distance are united; "
        "generalized filters cannot be, and are passed on one by one. A lookup goes to the "
        "neighbour that says it has the object nearest. Liars send filters that say yes as often "
        "as they can, and serve nothing. Prints the lookups that found their object and their "
        "hops; the messages per lookup, and the share of them that were wrong (sent to an honest "
        "peer that does not have the object as near as its filters say); the lookups captured by "
        "liars; the lookups for objects that nobody has which some neighbour claims to serve, and "
        "the upper bound of that share for the c filters that were consulted, 1 - (1 - F_p)^c; and "
        "the size of all filters that were sent.\n\n"
        "NETWORK is GraphML or an edge list. Liars cannot speak for others: a filter that is "
        "passed on is taken for that of its peer.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 1,
    .most_operands = 1,
    .operand_name = "a network is",
    .examples = examples,
    .run = peers_run};
