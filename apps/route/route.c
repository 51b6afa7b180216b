/*
 * route.c: `tepal app route`: paths in packets (Carrea, Vernitski and Reed 2016, Secs. VII, VIII).
 * Reads networks, chooses paths or trees in each, and sends packets with Bloom and yes-no headers
 * along them, a header a seed. Its parts are listed in route.h; what a packet does is in packet.c.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/say.h"
#include "route/route.h"

#define DEFAULT_TTL 64

/* ---- one path -------------------------------------------------------------------------------- */

int route_plan(struct route_job *job, size_t demand)
{
    const struct demand *d = &job->demands.list[demand];
    bool again = job->plan.graph != NULL && job->plan.root == d->from;
    if (!again) {
        graph_spread(&job->graph, d->from, &job->spread);
    }
    packet_plan_free(&job->plan);
    return packet_plan_make(&job->plan, &job->graph, &job->spread, d->from,
                            job->demands.to + d->first, d->count)
               ? EXIT_YES
               : say_no_memory();
}

static int choose_ttl(struct route_job *job)
{
    const struct args *args = job->app->args;
    uint64_t ttl = arg_whole(args, "ttl", DEFAULT_TTL);
    if (job->plan.depth > ttl && arg(args, "ttl")->given) {
        return say_error(NULL, job->name, "--ttl %" PRIu64 ": the path has %" PRIu32 " links", ttl,
                         job->plan.depth);
    }
    job->setting.ttl = job->plan.depth > ttl ? job->plan.depth : (uint32_t)ttl;
    return EXIT_YES;
}

/* What the packets of the first seed did, link by link. */
static void note_use(struct route_job *job, enum packet_kind kind)
{
    for (uint32_t l = 0; l < job->graph.links; l++) {
        if (packet_crossed(job->walker, l)) {
            uint8_t use = job->plan.is_member[l] ? DRAW_PATH : draw_false(kind);
            job->use[l] = (uint8_t)(job->use[l] | (job->app->many && use == DRAW_PATH ? 0 : use));
        }
    }
}

/* A packet for each part of the path, and what they do together. */
static enum tepal_status send_parts(struct route_job *job, const struct route_parts *parts,
                                    enum packet_kind kind, uint64_t seed, bool first,
                                    struct tepal_error *error)
{
    struct route_sums *s = &job->path.sums[kind];
    struct packet_walk sum = {0};
    enum tepal_status status = TEPAL_OK;
    for (size_t i = 0; i < parts->count && status == TEPAL_OK; i++) {
        struct packet_plan own = {.graph = NULL};
        struct packet_walk walk;
        if (parts->count > 1 &&
            !packet_plan_part(&own, &job->plan, parts->part[i].first, parts->part[i].count)) {
            return TEPAL_NO_MEMORY;
        }
        status = packet_send(job->walker, parts->count > 1 ? &own : &job->plan, kind, seed, &walk,
                             error);
        packet_plan_free(&own);
        if (status == TEPAL_OK) {
            sum.false_links += walk.false_links;
            sum.taken += walk.taken;
            sum.wasted += walk.wasted;
            sum.expired += walk.expired;
            sum.loop = sum.loop || walk.loop;
            if (first) {
                note_use(job, kind);
            }
        }
    }
    s->false_links += sum.false_links;
    s->squares += (double)sum.false_links * sum.false_links;
    s->taken += sum.taken;
    s->wasted += sum.wasted;
    s->expired += sum.expired;
    s->loops += sum.loop;
    s->clean += sum.taken == 0;
    return status;
}

static int send_path(struct route_job *job)
{
    struct route_app *app = job->app;
    struct route_parts parts = {.count = 0};
    struct tepal_error error = {.why = ""};
    enum tepal_status status = TEPAL_OK;
    for (uint64_t a = 0; a < app->allocations && status == TEPAL_OK; a++) {
        struct route_parts *these = a == 0 ? &job->parts : &parts;
        if (a == 0 || arg(app->args, "split")->given) {
            status = route_split(job->walker, &job->plan, app->seed + a,
                                 !arg(app->args, "split")->given, these, &error);
        } else {
            these = &job->parts; /* one part, as before */
        }
        job->path.parts += these->count;
        for (enum packet_kind kind = 0; kind < PACKET_KINDS && status == TEPAL_OK; kind++) {
            status = send_parts(job, these, kind, app->seed + a, a == 0, &error);
        }
        if (!app->many) {
            progress_parts(&app->progress, app->rows, app->networks.count, "networks");
        }
    }
    route_parts_free(&parts);
    return status == TEPAL_OK ? EXIT_YES : say_status(NULL, job->name, status, error.why);
}

/* ---- all paths ------------------------------------------------------------------------------- */

/* More false links; of as many, more waste; of as much, more links. */
static bool worse(const struct route_path *a, const struct route_path *b, enum packet_kind kind)
{
    const struct route_sums *x = &a->sums[kind];
    const struct route_sums *y = &b->sums[kind];
    if (x->false_links != y->false_links) {
        return x->false_links > y->false_links;
    }
    return x->wasted != y->wasted ? x->wasted > y->wasted : a->members > b->members;
}

static void add_sums(struct route_sums *to, const struct route_sums *from)
{
    to->false_links += from->false_links;
    to->squares += from->squares;
    to->taken += from->taken;
    to->wasted += from->wasted;
    to->expired += from->expired;
    to->loops += from->loops;
    to->clean += from->clean;
}

static void sum_up(struct route_job *job)
{
    const struct route_path *path = &job->path;
    job->members += path->members;
    job->others += path->others;
    job->all_parts += job->parts.count;
    job->longest = path->members > job->longest ? path->members : job->longest;
    for (enum packet_kind k = 0; k < PACKET_KINDS; k++) {
        add_sums(&job->sums[k], &path->sums[k]);
        if (path->demand == 0 || worse(path, &job->worst[k], k)) {
            job->worst[k] = *path;
        }
    }
}

static int run_path(struct route_job *job, size_t demand)
{
    int code = route_plan(job, demand);
    if (code == EXIT_YES && arg(job->app->args, "split")->given && job->plan.to_count > 1) {
        code = say_error(NULL, job->name, "--split: a tree cannot be split, only a path");
    }
    code = code == EXIT_YES ? choose_ttl(job) : code;
    job->path = (struct route_path){
        .demand = demand, .members = job->plan.members, .others = job->plan.others};
    code = code == EXIT_YES ? send_path(job) : code;
    if (code == EXIT_YES) {
        sum_up(job);
        route_print_headers(job);
        if (job->app->many) {
            route_tell_path(job);
            progress_parts(&job->app->progress, demand, job->demands.count, "paths");
        }
    }
    return code;
}

static int run_paths(struct route_job *job)
{
    int code = EXIT_YES;
    for (size_t i = 0; i < job->demands.count && code == EXIT_YES; i++) {
        code = run_path(job, i);
    }
    /* The picture shows the worst of many. */
    if (code == EXIT_YES && job->app->many) {
        code = route_plan(job, job->worst[PACKET_YESNO].demand);
        for (uint32_t i = 0; i < job->plan.members && code == EXIT_YES; i++) {
            job->use[job->plan.member[i]] |= DRAW_PATH;
        }
    }
    return code;
}

/* ---- one network ----------------------------------------------------------------------------- */

static void job_free(struct route_job *job)
{
    packet_walker_free(job->walker);
    packet_plan_free(&job->plan);
    route_parts_free(&job->parts);
    demands_free(&job->demands);
    graph_spread_free(&job->spread);
    graph_free(&job->graph);
    free(job->use);
}

/* Print it, and keep what the figures show of it. */
static void report_job(struct route_job *job)
{
    struct route_app *app = job->app;
    struct draw_row *row = &app->row[app->rows];
    if (app->many) {
        route_tell_many(job);
    } else {
        route_tell(job);
    }
    row->network = job->name;
    row->members = job->plan.members;
    row->others = job->plan.others;
    for (size_t k = 0; k < PACKET_KINDS; k++) {
        row->false_links[k] = route_mean(job, job->sums[k].false_links);
    }
    app->rows++;
}

static int run_job(struct route_job *job)
{
    const struct args *args = job->app->args;
    int code = demands_find(&job->demands, args, &job->graph, job->name, &job->spread);
    if (code == EXIT_NO && job->app->networks.count == 1) {
        return say_error(NULL, job->name, "there is no path: the network has no links");
    }
    if (code == EXIT_NO) {
        progress_end(&job->app->progress);
        if (!arg(args, "quiet")->given) {
            say_line("left out   %s: it has no links", job->name);
        }
        return EXIT_YES;
    }
    code = code == EXIT_YES ? route_choose_setting(job) : code;
    if (code == EXIT_YES) {
        job->walker = packet_walker_new(&job->graph, &job->setting);
        job->use = calloc((size_t)job->graph.links + 1, sizeof *job->use);
        code = job->walker == NULL || job->use == NULL ? say_no_memory() : route_open_headers(job);
    }
    code = code == EXIT_YES ? run_paths(job) : code;
    code = code == EXIT_YES ? route_draw(job) : code;
    if (code == EXIT_YES) {
        progress_end(&job->app->progress);
        report_job(job);
        code = route_write_tables(job);
    }
    return code;
}

static int run_network(struct route_app *app, const struct network *network)
{
    struct route_job job = {.app = app, .name = network->name};
    int code = graph_read(&job.graph, network->path, network->part);
    if (code == EXIT_YES && job.graph.not_taken > 0 && !arg(app->args, "quiet")->given) {
        progress_end(&app->progress);
        say_warning(network->path,
                    "%.0f %% of it is beyond the second column and not used: name the columns in "
                    "a first line, #u, a tab, v and so on",
                    ceil(100 * job.graph.not_taken));
    }
    if (code == EXIT_YES && job.graph.two_sorts && !arg(app->args, "quiet")->given) {
        progress_end(&app->progress);
        say_warning(network->path,
                    "no name of its first column is in the second, too: both are taken as nodes, "
                    "and each line as an edge; a list of pairs of two sorts, as authors and "
                    "papers, is no network; if this is one, say so in a first line: #u, a tab, v");
    }
    if (code == EXIT_YES) {
        code = graph_spread_new(&job.spread, &job.graph) ? run_job(&job) : say_no_memory();
    }
    job_free(&job);
    return code;
}

/* ---- all networks ---------------------------------------------------------------------------- */

static int run_networks(struct route_app *app)
{
    int code = EXIT_YES;
    app->row = calloc(app->networks.count + 1, sizeof *app->row);
    app->report = report_open(app->args);
    if (app->row == NULL) {
        return report_close(&app->report, say_no_memory());
    }
    progress_start(&app->progress,
                   (app->networks.count > 1 || app->many) && !arg(app->args, "quiet")->given);
    for (size_t i = 0; i < app->networks.count && code == EXIT_YES; i++) {
        code = run_network(app, &app->networks.network[i]);
    }
    progress_end(&app->progress);
    if (code == EXIT_YES && app->rows == 0) {
        code = say_error(NULL, app->args->command->name, "none of the networks has links");
    }
    code = report_close(&app->report, code);
    return code == EXIT_YES ? route_commit(app) : code;
}

/* What is about one network, and would be overwritten or mixed up by a second one. */
static int find_networks(struct route_app *app)
{
    static const struct {
        const char *option;
        const char *does;
    } alone[] = {{"svg", "draws"}, {"headers", "is for"},   {"tables", "is for"},
                 {"c", "is for"},  {"all-pairs", "is for"}, {"demands", "is for"}};
    int code = networks_find(&app->networks, app->args);
    for (size_t i = 0; i < sizeof alone / sizeof *alone && code == EXIT_YES; i++) {
        if (app->networks.count > 1 && arg(app->args, alone[i].option)->given) {
            code =
                say_error(NULL, app->args->command->name, "--%s %s one network, and there are %zu",
                          alone[i].option, alone[i].does, app->networks.count);
        }
    }
    return code;
}

static int route_run(const struct args *args)
{
    struct route_app app = {.args = args, .many = demands_many(args)};
    app.seed = arg_whole(args, "seed", 1);
    app.allocations = arg_whole(args, "allocations", app.many ? 1 : 1000);
    int code = route_check_setting(args);
    code = code == EXIT_YES ? route_check_files(&app) : code;
    code = code == EXIT_YES ? find_networks(&app) : code;
    code = code == EXIT_YES ? run_networks(&app) : code;
    networks_free(&app.networks);
    route_drop_files(&app);
    free(app.row);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "from", OF_VALUE(TAKES_TEXT, "NODE"),
           "The sender: a label, LABEL#ID, or #ID. Without --from and --to, the longest of all "
           "shortest paths is used."),
    OPTION(0, "to", OF_VALUE(TAKES_TEXT, "NODE"),
           "A receiver; with several, a tree of shortest paths."),
    FLAG(0, "all-pairs", "All paths of the network, from every node to every other."),
    OPTION(0, "demands", OF_VALUE(TAKES_FILE, "FILE"),
           "The paths of FILE (- is standard input): in each line a sender, a tab and a receiver; "
           "with several receivers, a tree."),
    OPTION(0, "network", OF_VALUE(TAKES_TEXT, "NAME"),
           "Use only this network of a tab-separated file."),
    OPTION('m', "bits", OF_WHOLE("M", 8, TEPAL_MAX_HEADER_BITS),
           "Headers of M bits, 8 to 2048, divided as the planner finds best for the longest path."),
    OPTION(0, "yes-bits", OF_WHOLE("P", 1, TEPAL_MAX_HEADER_BITS),
           "Bits of the yes-filter (default 192)."),
    OPTION(0, "no-bits", OF_WHOLE("Q", 1, TEPAL_MAX_HEADER_BITS),
           "Bits of each no-filter (default 32)."),
    OPTION(0, "no-filters", OF_WHOLE("R", 0, TEPAL_MAX_NO_FILTERS),
           "The number of no-filters (default 2). P + Q R, the size of both headers, is at most "
           "2048."),
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "Hash functions of the yes-filter (default 4)."),
    OPTION(0, "no-hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "Hash functions of the no-filters (default 3)."),
    OPTION(0, "bloom-hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "Hash functions of the Bloom header (default 6)."),
    OPTION_POSITIONS,
    FLAG(0, "own-seeds", "A hash seed for each no-filter. (Always so with --bits.)"),
    OPTION(0, "salts", OF_WHOLE("N", 1, 32),
           "Build each header with up to N re-hashings and keep the best. The number of the "
           "re-hashing is in the packet, and nodes have N masks for each link."),
    FLAG(0, "split",
         "Cut a path whose header leaves false links into parts, each with its own header that "
         "leaves none."),
    OPTION(0, "method", OF_CHOICE("METHOD", "greedy nextfit bestfit pairs local-search exact"),
           "How the no-filters are filled (default local-search): greedy, nextfit, bestfit, pairs, "
           "local-search or exact."),
    OPTION(0, "allocations", OF_WHOLE("N", 1, 10000000),
           "Measure N headers of each kind, with N consecutive seeds from S (default 1000; with "
           "--all-pairs or --demands 1 per path)."),
    OPTION_DEMO_SEED,
    OPTION(0, "ttl", OF_WHOLE("T", 1, 255), "A packet crosses at most T links (default 64)."),
    OPTION(0, "headers", OF_VALUE(TAKES_FILE, "OUT"),
           "Write the yes-no headers of seed S to OUT, in hexadecimal: one line per path, or per "
           "part of one."),
    OPTION(0, "tables", OF_VALUE(TAKES_FILE, "OUT"),
           "Write the masks of all links to OUT: what each node needs to forward. `tepal app "
           "forward` reads both files."),
    OPTION(0, "c", OF_VALUE(TAKES_FILE, "OUT"), "The same as C source."),
    OPTION(0, "svg", OF_VALUE(TAKES_FILE, "OUT"),
           "Draw the network to OUT, as SVG: the path (of many, the worst), and the false links "
           "that the headers of seed S take."),
    OPTION(0, "figures", OF_VALUE(TAKES_FILE, "FOLDER"),
           "Write the paper's Figs. 16 to 18 to FOLDER: fig16.tsv, fig16.svg and so on."),
    OPTION_FORCE,
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"tsv", "json"},        {"from", "all-pairs", "demands"},
                                           {"bits", "yes-bits"},   {"bits", "no-bits"},
                                           {"bits", "no-filters"}, {NULL}};
static const struct example examples[] = {
    {"tepal app route network.graphml --svg network.svg",
     "The longest shortest path, with a picture."},
    {"tepal app route edges.tsv --from Oslo --to Rome --to Athens", "A tree to two cities."},
    {"tepal app route network.graphml --all-pairs --bits 256 --split --tables t --headers h",
     "Everything that the network needs."},
    {"tepal app route topology-zoo --method nextfit --figures out",
     "All networks of a directory: the paper's Figs. 16 to 18."},
    {NULL, NULL}};

const struct command app_route = {
    .name = "app route",
    .synopsis = "NETWORK... [--from NODE --to NODE... | --all-pairs | --demands FILE] [--bits M] "
                "[--split] [--headers OUT] [--tables OUT] [--svg OUT]",
    .summary = "Paths in packet headers: false links that packets take.",
    .about = "A path, or a tree to several nodes, is stored in the packet header as a filter of "
             "its links. Each node looks up all its links in the header and forwards the packet on "
             "those that match. False links waste traffic, or lead the packet into a loop. "
             "Compares a Bloom header with a yes-no header of the same size, which vetoes false "
             "links at the nodes of the path: false links next to the path, all false links taken, "
             "wasted traversals, and the share of headers that loop, each a mean over the "
             "allocations.\n\n"
             "A NETWORK is a GraphML file, as in the Internet Topology Zoo, a tab-separated list "
             "of edges (a first line that starts with # may name the columns u, v and network), or "
             "a directory of such files; files may be compressed.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "a network is",
    .examples = examples,
    .run = route_run};
