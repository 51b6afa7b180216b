/*
 * route.c: `tepal app route`: paths in packets (Carrea, Vernitski and Reed 2016, Secs. VII, VIII).
 * Reads networks, chooses a path or a tree in each, and sends packets with Bloom and yes-no headers
 * along it, a header a seed. What a packet does is in packet.c; networks.c finds the networks,
 * tell.c tells what came out, draw.c makes the pictures.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/options.h"
#include "cli/say.h"
#include "cli/suggest.h"
#include "route/route.h"

#define DEFAULT_TTL 64

static const char *subject(const struct route_app *app)
{
    return app->args->command->name;
}

/* ---- options --------------------------------------------------------------------------------- */

static int read_setting(struct route_app *app)
{
    const struct args *args = app->args;
    struct tepal_params init = TEPAL_PARAMS_INIT;
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct packet_setting *s = &app->setting;
    struct tepal_header_layout layout;
    uint64_t r = arg_whole(args, "no-filters", 2);
    uint64_t q = arg_whole(args, "no-bits", 32);
    struct tepal_error error = {.why = ""};
    if (arg(args, "positions")->given) {
        tepal_positions_parse(arg(args, "positions")->text, &init.positions);
    }
    if (arg(args, "method")->given) {
        tepal_yesno_method_parse(arg(args, "method")->text, &how.method);
    }
    s->params[PACKET_BLOOM] = init;
    s->params[PACKET_YESNO] = init;
    s->params[PACKET_YESNO].kind = TEPAL_KIND_YESNO;
    s->params[PACKET_YESNO].cells = arg_whole(args, "yes-bits", 192) + r * q;
    s->params[PACKET_YESNO].hashes = (uint32_t)arg_whole(args, "hashes", 4);
    s->params[PACKET_YESNO].yesno.no_filters = r;
    s->params[PACKET_YESNO].yesno.no_bits = r == 0 ? 0 : q;
    s->params[PACKET_YESNO].yesno.no_hashes = r == 0 ? 0 : arg_whole(args, "no-hashes", 3);
    s->params[PACKET_BLOOM].cells = s->params[PACKET_YESNO].cells;
    s->params[PACKET_BLOOM].hashes = (uint32_t)arg_whole(args, "bloom-hashes", 6);
    s->how = how;
    app->seed = arg_whole(args, "seed", 1);
    app->allocations = arg_whole(args, "allocations", 1000);
    for (size_t k = 0; k < PACKET_KINDS; k++) {
        if (tepal_header_layout_init(&s->params[k], &layout, &error) != TEPAL_OK) {
            return say_error(NULL, subject(app), "%s header of %" PRIu64 " bits: %s",
                             k == PACKET_BLOOM ? "Bloom" : "yes-no", s->params[k].cells, error.why);
        }
    }
    if (args_text(args, "from", 1) != NULL || args_text(args, "network", 1) != NULL) {
        return say_error(NULL, subject(app), "--from and --network can be given once only");
    }
    if (arg(args, "from")->given != arg(args, "to")->given) {
        return say_error(NULL, subject(app), "--from and --to belong together: give both");
    }
    return EXIT_YES;
}

/* ---- which path ------------------------------------------------------------------------------ */

static int find_node(const struct route_job *job, const char *name, uint32_t *node)
{
    const struct graph *g = &job->graph;
    char room[GRAPH_NAME_ROOM];
    char hint[96];
    uint32_t several;
    *node = graph_find(g, name, &several);
    if (*node != GRAPH_NONE) {
        return EXIT_YES;
    }
    if (several > 0) {
        uint32_t v = 0;
        while (strcmp(names_text(&g->labels, g->node[v].label), name) != 0) {
            v++;
        }
        return say_error(NULL, job->name,
                         "%" PRIu32 " nodes are called '%.60s': choose one, as %.80s", several,
                         name, graph_name(g, v, room));
    }
    struct suggest near = {.word = name};
    for (uint32_t v = 0; v < g->labels.count; v++) {
        suggest_offer(&near, names_text(&g->labels, v));
    }
    return say_error(NULL, job->name, "there is no node '%.60s'%s", name,
                     suggest_text(&near, "", hint, sizeof hint));
}

/* The nodes of --from and --to. */
static int named_ends(struct route_job *job, uint32_t *root, uint32_t *to, size_t *count)
{
    const struct args *args = job->app->args;
    char from_name[GRAPH_NAME_ROOM];
    char to_name[GRAPH_NAME_ROOM];
    int code = find_node(job, args_text(args, "from", 0), root);
    if (code != EXIT_YES) {
        return code;
    }
    graph_spread(&job->graph, *root, &job->spread);
    const char *name;
    for (*count = 0; (name = args_text(args, "to", *count)) != NULL; (*count)++) {
        code = find_node(job, name, &to[*count]);
        if (code != EXIT_YES) {
            return code;
        }
        if (to[*count] == *root) {
            return say_error(NULL, job->name, "--from and --to are the same node: %.60s", name);
        }
        if (job->spread.distance[to[*count]] == GRAPH_NONE) {
            return say_error(NULL, job->name, "there is no path from %.60s to %.60s",
                             graph_name(&job->graph, *root, from_name),
                             graph_name(&job->graph, to[*count], to_name));
        }
    }
    return EXIT_YES;
}

/* EXIT_NO: there is no path, and nothing was asked for by name. */
static int choose_path(struct route_job *job)
{
    uint32_t root = 0;
    uint32_t *to = malloc((job->app->args->text_count + 1) * sizeof *to);
    size_t count = 1;
    int code = EXIT_YES;
    if (to == NULL) {
        return say_no_memory();
    }
    if (arg(job->app->args, "from")->given) {
        code = named_ends(job, &root, to, &count);
    } else if (graph_longest(&job->graph, &job->spread, &root, to) == 0) {
        code = EXIT_NO;
    } else {
        graph_spread(&job->graph, root, &job->spread);
    }
    if (code == EXIT_YES &&
        !packet_plan_make(&job->plan, &job->graph, &job->spread, root, to, count)) {
        code = say_no_memory();
    }
    free(to);
    return code;
}

/* ---- sending --------------------------------------------------------------------------------- */

static int choose_ttl(struct route_job *job)
{
    struct route_app *app = job->app;
    uint64_t ttl = arg_whole(app->args, "ttl", DEFAULT_TTL);
    if (job->plan.depth > ttl && arg(app->args, "ttl")->given) {
        return say_error(NULL, job->name, "--ttl %" PRIu64 ": the path has %" PRIu32 " links", ttl,
                         job->plan.depth);
    }
    app->setting.ttl = job->plan.depth > ttl ? job->plan.depth : (uint32_t)ttl;
    return EXIT_YES;
}

/* What the packets of the first seed did, link by link. */
static void note_use(struct route_job *job, enum packet_kind kind)
{
    for (uint32_t l = 0; l < job->graph.links; l++) {
        if (packet_crossed(job->walker, l)) {
            uint8_t use = job->plan.is_member[l] ? DRAW_PATH : draw_false(kind);
            job->use[l] = (uint8_t)(job->use[l] | use);
        }
    }
}

static int send_all(struct route_job *job)
{
    struct route_app *app = job->app;
    for (uint64_t a = 0; a < app->allocations; a++) {
        for (enum packet_kind kind = 0; kind < PACKET_KINDS; kind++) {
            struct packet_walk walk;
            struct route_sums *s = &job->sums[kind];
            struct tepal_error error = {.why = ""};
            enum tepal_status status = packet_send(job->walker, kind, app->seed + a, &walk, &error);
            if (status != TEPAL_OK) {
                return say_status(NULL, job->name, status, error.why);
            }
            s->false_links += walk.false_links;
            s->squares += (double)walk.false_links * walk.false_links;
            s->taken += walk.taken;
            s->wasted += walk.wasted;
            s->expired += walk.expired;
            s->loops += walk.loop;
            if (a == 0) {
                note_use(job, kind);
            }
        }
        progress_parts(&app->progress, app->rows, app->networks.count, "networks");
    }
    return EXIT_YES;
}

/* ---- results --------------------------------------------------------------------------------- */

/* Print it, and keep what the figures show of it. */
static void report_job(struct route_job *job)
{
    struct route_app *app = job->app;
    struct draw_row *row = &app->row[app->rows];
    route_tell(job);
    row->network = job->name;
    row->members = job->plan.members;
    row->others = job->plan.others;
    for (size_t k = 0; k < PACKET_KINDS; k++) {
        row->false_links[k] = route_mean(job, job->sums[k].false_links);
    }
    app->rows++;
}

/* ---- pictures -------------------------------------------------------------------------------- */

static int draw(struct route_job *job)
{
    struct route_app *app = job->app;
    char title[2 * GRAPH_NAME_ROOM + 64];
    char room[GRAPH_NAME_ROOM];
    if (!arg(app->args, "svg")->given) {
        return EXIT_YES;
    }
    snprintf(title, sizeof title, "%.200s: %" PRIu32 " links from %.200s", job->name,
             job->plan.members, graph_name(&job->graph, job->plan.root, room));
    int code = atomic_file_open(&app->svg, app->args, arg(app->args, "svg")->text);
    if (code == EXIT_YES && !draw_network(app->svg.out, &job->plan, title, job->use)) {
        code = say_no_memory();
    }
    return code == EXIT_YES ? atomic_file_finish(&app->svg, app->args) : code;
}

/* FOLDER/figNN.ENDING, on the heap. */
static char *figure_path(const struct route_app *app, int figure, const char *ending)
{
    const char *folder = arg(app->args, "figures")->text;
    size_t room = strlen(folder) + 32;
    char *path = malloc(room);
    if (path != NULL) {
        snprintf(path, room, "%s/fig%d.%s", folder, figure, ending);
    }
    return path;
}

static int write_figure(const struct route_app *app, int figure, bool table)
{
    struct atomic_file written = {.path = NULL};
    char *path = figure_path(app, figure, table ? "tsv" : "svg");
    int code = path == NULL ? say_no_memory() : atomic_file_open(&written, app->args, path);
    if (code == EXIT_YES) {
        bool good = table ? draw_table(written.out, figure, app->row, app->rows)
                          : draw_figure(written.out, figure, app->row, app->rows);
        code = good ? atomic_file_finish(&written, app->args) : say_no_memory();
    }
    code = code == EXIT_YES ? atomic_file_commit(&written, app->args) : code;
    atomic_file_free(&written);
    free(path);
    return code;
}

/* May all that is to be written be written? Before anything is computed. */
static int check_pictures(const struct route_app *app)
{
    const struct option_value *svg = arg(app->args, "svg");
    const struct option_value *figures = arg(app->args, "figures");
    int code = svg->given ? atomic_file_check(app->args, svg->text) : EXIT_YES;
    if (figures->given && code == EXIT_YES && mkdir(figures->text, 0777) != 0 && errno != EEXIST) {
        code = say_error(NULL, figures->text, "%s", strerror(errno));
    }
    for (int figure = 16; figure <= 18 && figures->given && code == EXIT_YES; figure++) {
        for (int table = 0; table < 2 && code == EXIT_YES; table++) {
            char *path = figure_path(app, figure, table == 1 ? "tsv" : "svg");
            code = path == NULL ? say_no_memory() : atomic_file_check(app->args, path);
            free(path);
        }
    }
    return code;
}

static int write_figures(const struct route_app *app)
{
    int code = EXIT_YES;
    for (int figure = 16; figure <= 18 && code == EXIT_YES; figure++) {
        code = write_figure(app, figure, true);
        code = code == EXIT_YES ? write_figure(app, figure, false) : code;
    }
    return code;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void job_free(struct route_job *job)
{
    packet_walker_free(job->walker);
    packet_plan_free(&job->plan);
    graph_spread_free(&job->spread);
    graph_free(&job->graph);
    free(job->use);
}

static int run_job(struct route_job *job)
{
    int code = choose_path(job);
    if (code == EXIT_NO && job->app->networks.count == 1) {
        return say_error(NULL, job->name, "there is no path: the network has no links");
    }
    if (code == EXIT_NO) {
        progress_end(&job->app->progress);
        if (!arg(job->app->args, "quiet")->given) {
            say_line("left out   %s: it has no links", job->name);
        }
        return EXIT_YES;
    }
    code = code == EXIT_YES ? choose_ttl(job) : code;
    if (code == EXIT_YES) {
        job->walker = packet_walker_new(&job->plan, &job->app->setting);
        job->use = calloc((size_t)job->graph.links + 1, sizeof *job->use);
        code = job->walker == NULL || job->use == NULL ? say_no_memory() : send_all(job);
    }
    code = code == EXIT_YES ? draw(job) : code;
    if (code == EXIT_YES) {
        report_job(job);
    }
    return code;
}

static int run_network(struct route_app *app, const struct network *network)
{
    struct route_job job = {.app = app, .name = network->name};
    int code = graph_read(&job.graph, network->path, network->part);
    if (code == EXIT_YES) {
        code = graph_spread_new(&job.spread, &job.graph) ? run_job(&job) : say_no_memory();
    }
    job_free(&job);
    return code;
}

static int run_networks(struct route_app *app)
{
    int code = EXIT_YES;
    app->row = calloc(app->networks.count + 1, sizeof *app->row);
    app->report = report_open(app->args);
    if (app->row == NULL) {
        return report_close(&app->report, say_no_memory());
    }
    progress_start(&app->progress, app->networks.count > 1 && !arg(app->args, "quiet")->given);
    for (size_t i = 0; i < app->networks.count && code == EXIT_YES; i++) {
        code = run_network(app, &app->networks.network[i]);
    }
    progress_end(&app->progress);
    if (code == EXIT_YES && app->rows == 0) {
        code = say_error(NULL, subject(app), "none of the networks has links");
    }
    code = report_close(&app->report, code);
    if (code == EXIT_YES && app->svg.path != NULL) {
        code = atomic_file_commit(&app->svg, app->args);
    }
    if (code == EXIT_YES && arg(app->args, "figures")->given) {
        code = write_figures(app);
    }
    return code;
}

static int find_networks(struct route_app *app)
{
    int code = networks_find(&app->networks, app->args);
    if (code == EXIT_YES && app->networks.count > 1 && arg(app->args, "svg")->given) {
        code = say_error(NULL, subject(app), "--svg draws one network, and there are %zu",
                         app->networks.count);
    }
    return code;
}

static int route_run(const struct args *args)
{
    struct route_app app = {.args = args};
    int code = read_setting(&app);
    code = code == EXIT_YES ? check_pictures(&app) : code;
    code = code == EXIT_YES ? find_networks(&app) : code;
    code = code == EXIT_YES ? run_networks(&app) : code;
    networks_free(&app.networks);
    atomic_file_free(&app.svg);
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
    OPTION(0, "network", OF_VALUE(TAKES_TEXT, "NAME"),
           "Use only this network of a tab-separated file."),
    OPTION(0, "yes-bits", OF_WHOLE("P", 1, 512), "Bits of the yes-filter (default 192)."),
    OPTION(0, "no-bits", OF_WHOLE("Q", 1, 511), "Bits of each no-filter (default 32)."),
    OPTION(0, "no-filters", OF_WHOLE("R", 0, 64),
           "The number of no-filters (default 2). P + Q R, the size of both headers, must be 128, "
           "256 or 512."),
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "Hash functions of the yes-filter (default 4)."),
    OPTION(0, "no-hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "Hash functions of the no-filters (default 3)."),
    OPTION(0, "bloom-hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "Hash functions of the Bloom header (default 6)."),
    OPTION_POSITIONS,
    OPTION(0, "method", OF_CHOICE("METHOD", "greedy nextfit bestfit pairs local-search exact"),
           "How the no-filters are filled (default local-search): greedy, nextfit, bestfit, pairs, "
           "local-search or exact."),
    OPTION(0, "allocations", OF_WHOLE("N", 1, 10000000),
           "Measure N headers of each kind, with N consecutive seeds from S (default 1000)."),
    OPTION_DEMO_SEED,
    OPTION(0, "ttl", OF_WHOLE("T", 1, 255), "A packet crosses at most T links (default 64)."),
    OPTION(0, "svg", OF_VALUE(TAKES_FILE, "OUT"),
           "Draw the network to OUT, as SVG: the path, and the false links that the headers of "
           "seed S take."),
    OPTION(0, "figures", OF_VALUE(TAKES_FILE, "FOLDER"),
           "Write the paper's Figs. 16 to 18 to FOLDER: fig16.tsv, fig16.svg and so on."),
    OPTION_FORCE,
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app route network.graphml --svg network.svg",
     "The longest shortest path, with a picture."},
    {"tepal app route edges.tsv --from Oslo --to Rome --to Athens", "A tree to two cities."},
    {"tepal app route topology-zoo --method nextfit --figures out",
     "All networks of a directory: the paper's Figs. 16 to 18."},
    {NULL, NULL}};

const struct command app_route = {
    .name = "app route",
    .synopsis = "NETWORK... [--from NODE --to NODE...] [--method METHOD] [--svg OUT]",
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
