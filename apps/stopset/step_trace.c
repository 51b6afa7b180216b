/*
 * step_trace.c: a monitor with the stop set: where each route stops, which probes that saves, and
 * what the share of routes that is traced in full shows, for the server.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/options.h"
#include "files/atomic_file.h"
#include "files/filter_file.h"
#include "output/report.h"
#include "statistics/random.h"
#include "stopset/replay.h"
#include "stopset/select.h"
#include "stopset/set.h"
#include "stopset/steps.h"

struct tracing {
    const struct args *args;
    struct step_routes from;
    struct tepal_filter *filter;
    bool *stops; /* by node */
    double share;
    struct sightings back; /* of the routes traced in full */
    struct report report;
};

/* Which node stops a route depends on the node alone. */
static int ask(struct tracing *w)
{
    struct tepal_hasher hasher;
    const struct names *nodes = &w->from.routes.nodes;
    const char *path = arg(w->args, "set")->text;
    if (filter_file_hasher(w->args, path, w->filter, &hasher) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    w->stops = calloc((size_t)nodes->count + 1, sizeof *w->stops);
    if (w->stops == NULL || !sightings_grow(&w->back, nodes->count)) {
        return args_no_memory(w->args);
    }
    for (uint32_t node = 0; node < nodes->count; node++) {
        const char *text = names_text(nodes, node);
        w->stops[node] =
            tepal_filter_query(w->filter, tepal_hash_bytes(&hasher, text, strlen(text)));
    }
    return EXIT_YES;
}

/* Drawn from the names, so that a monitor draws alike whatever else is in its files. */
static bool in_full(const struct tracing *w, const struct route *r)
{
    struct tepal_hasher hasher;
    const char *monitor = names_text(&w->from.routes.monitors, r->monitor);
    const char *target = names_text(&w->from.routes.nodes, r->target);
    if (w->share <= 0) {
        return false;
    }
    tepal_hasher_init(arg_whole(w->args, "seed", 1) + RANDOM_STEP * r->cycle, &hasher);
    struct tepal_digest a = tepal_hash_bytes(&hasher, monitor, strlen(monitor));
    struct tepal_digest b = tepal_hash_bytes(&hasher, target, strlen(target));
    return random_unit(random_mix(a.lo ^ random_mix(b.lo))) < w->share;
}

static void tell_route(struct tracing *w, const struct route *r, bool full)
{
    struct report *out = &w->report;
    const uint32_t *hop = w->from.routes.hop + r->first;
    uint32_t end = full ? r->hops : replay_end(&w->from.routes, r, w->stops);
    report_object(out, NULL);
    report_whole(out, "cycle", r->cycle, column("cycle", -5, NULL));
    report_text(out, "monitor", names_text(&w->from.routes.monitors, r->monitor),
                column("monitor", -24, NULL));
    report_text(out, "destination", names_text(&w->from.routes.nodes, r->target),
                column("destination", -18, NULL));
    report_text(out, "outcome",
                full                 ? "in full"
                : end == r->hops     ? "collision"
                : end + 1 == r->hops ? "success"
                                     : "short",
                column("outcome", -9, NULL));
    report_whole(out, "probes", end + 1, column("probes", 6, NULL));
    report_whole(out, "saved", r->hops - end, column("saved", 5, NULL));
    report_text(out, "stopped_at",
                end < r->hops ? names_text(&w->from.routes.nodes, hop[end]) : NULL,
                column("stopped at", -18, NULL));
    report_end(out);
}

static void tell_cycle(struct tracing *w, uint64_t cycle, const struct replay_outcome *o,
                       uint64_t full, uint64_t full_probes)
{
    struct report *r = &w->report;
    double all = o->routes == 0 ? 1 : (double)o->routes;
    report_object(r, NULL);
    report_whole(r, "cycle", cycle, column("cycle", -5, NULL));
    report_whole(r, "routes", o->routes + full, column("routes", 7, NULL));
    report_whole(r, "in_full", full, column("in full", 7, NULL));
    report_real(r, "success", (double)o->success / all, column("success", 7, "%.4f"));
    report_real(r, "stopping_short", (double)o->stopped_short / all, column("short", 6, "%.4f"));
    report_real(r, "collision", (double)o->collision / all, column("coll.", 6, "%.4f"));
    report_whole(r, "probes", o->probes + full_probes, column("probes", 8, NULL));
    report_whole(r, "probes_saved", o->probes_in_full - o->probes, column("saved", 8, NULL));
    report_real(r, "hits", (double)(o->collision + full) / (double)(o->routes + full),
                column("hits", 6, "%.4f"));
    report_end(r);
}

static void trace_cycle(struct tracing *w, uint64_t cycle)
{
    struct replay_outcome o = {.routes = 0};
    struct replay_seen nobody = {NULL, NULL, NULL};
    uint64_t full = 0;
    uint64_t full_probes = 0;
    bool each = arg(w->args, "each")->given;
    for (size_t i = 0; i < w->from.count; i++) {
        const struct route *r = &w->from.routes.route[w->from.kept[i]];
        if (r->cycle != cycle) {
            continue;
        }
        bool whole = in_full(w, r);
        if (whole) {
            full++;
            full_probes += r->hops + 1;
            sightings_route(&w->back, &w->from.routes, r, 1 / w->share);
        } else {
            replay_route(&w->from.routes, r, w->stops, &o, &nobody);
        }
        if (each) {
            tell_route(w, r, whole);
        }
    }
    if (!each && o.routes + full > 0) {
        tell_cycle(w, cycle, &o, full, full_probes);
    }
}

static void write_back(const void *context, struct out *out)
{
    const struct tracing *w = context;
    sightings_write(&w->back, &w->from.routes.nodes, out);
}

static int trace(struct tracing *w)
{
    uint64_t *cycle = NULL;
    size_t cycles = 0;
    int code = select_cycles(w->args, &w->from.routes, &cycle, &cycles);
    w->report = report_open(w->args);
    w->report.tsv = "%.6f";
    for (size_t c = 0; c < cycles && code == EXIT_YES; c++) {
        trace_cycle(w, cycle[c]);
    }
    free(cycle);
    code = code == EXIT_YES ? atomic_file_write(w->args, "output", write_back, w) : code;
    return report_close(&w->report, code);
}

static int check(const struct args *args)
{
    if (arg(args, "output")->given != arg(args, "in-full")->given) {
        return args_wrong(args, "--in-full R and --output FILE go together: give both");
    }
    return arg(args, "output")->given ? atomic_file_check(args, arg(args, "output")->text)
                                      : EXIT_YES;
}

static int trace_run(const struct args *args)
{
    struct tracing w = {.args = args, .share = arg_real(args, "in-full", 0)};
    if (check(args) != EXIT_YES ||
        filter_file_open(args, arg(args, "set")->text, FILTER_FILE_VIEW, &w.filter) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = step_read(args, &w.from);
    code = code == EXIT_YES ? ask(&w) : code;
    code = code == EXIT_YES ? trace(&w) : code;
    tepal_filter_free(w.filter);
    free(w.stops);
    sightings_free(&w.back);
    step_free(&w.from);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "set", OF_VALUE(TAKES_FILE, "FILE"),
           "The stop set: a filter of addresses, as 'combine' writes it."),
    OPTION_STEP_CYCLE,
    OPTION_STEP_MONITOR,
    OPTION_MAX_TRANSIT,
    OPTION(
        0, "in-full", OF_VALUE(TAKES_SHARE, "R"),
        "Trace the share R of the routes in full, other ones in every cycle, and write what they "
        "show to --output."),
    OPTION('o', "output", OF_VALUE(TAKES_FILE, "FILE"),
           "The sightings of the routes traced in full, to be fed back to 'combine'; each route "
           "counts as 1/R."),
    FLAG(0, "each", "A row for each route instead of each cycle."),
    OPTION_KEY_FILE,
    OPTION_DEMO_SEED,
    FLAG('f', "force", "Overwrite FILE."),
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app stopset trace routes.tsv.gz --set stop.tepal --monitor m1 --each",
     "Where does each route stop, and what does that save?"},
    {"tepal app stopset trace routes.tsv.gz --set stop.tepal --in-full 5% -o back.tsv",
     "And what has changed since the set was made?"},
    {NULL, NULL}};

const struct command app_stopset_trace = {
    .name = "app stopset trace",
    .synopsis = "[ROUTES...] --set FILE [--monitor NAME] [--cycle C] [--in-full R -o OUT]",
    .summary = "Red stop sets, at a monitor: where routes stop, and what is fed back.",
    .about =
        "Replays routes (in the forms of 'tepal app stopset') against the stop set: each stops "
        "at its first address in the set. Prints how many succeed, stop short or run into "
        "their destination, the probes sent and saved, and the hits per destination. Shares "
        "are of the routes that were not traced in full; hits count these, too.",
    .options = options,
    .exclusive = exclusive,
    .needed = "set",
    .files = true,
    .most_operands = SIZE_MAX,
    .stays = "nothing was written",
    .examples = examples,
    .run = trace_run};
