/*
 * stopset.c: the red stop set (Donnet, Baynat and Friedman 2006, Sec. VI).
 *
 *     monitor ── 1 ── 2 ── 3 ── 4 ── 5 ── destination      5 is the penultimate node
 *                     ^              ^
 *                     |              a route that stops here is a success
 *                     a false positive here stops the route short: 3, 4 and 5 are never seen
 *
 * The stop set A holds the penultimate nodes of one cycle, over all monitors. As a filter it has
 * false positives, and one on a node that many routes pass does great damage; retouching removes
 * those and loses a few penultimate nodes, at which routes then run into their destinations.
 *
 * Which node stops a route depends on the node alone, so a set is asked once for each node and the
 * replay looks answers up.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/papers.h>
#include <tepal/tepal.h>

#include "cli/options.h"
#include "cli/say.h"
#include "stopset/stopset.h"

/* What the paper measures: sizes of filters, and shares of the false positives removed. */
static const uint64_t paper_bits[] = {10000, 20000, 30000, 40000, 50000,
                                      60000, 70000, 80000, 90000, 100000};
static const double paper_beta[] = {0.01, 0.05, 0.10, 0.25};

/* One set, as it is reported. */
struct variant {
    const char *set; /* "list", "bloom", "retouched" */
    uint64_t bits;   /* 0: the list */
    uint32_t hashes;
    double beta;   /* NaN: none */
    double max_fn; /* NaN: none */
    uint64_t false_positives;
    uint64_t troublesome;
    uint64_t false_negatives;
};

/* ---- filters --------------------------------------------------------------------------------- */

/* What one monitor has learned, as a filter of its own. */
static enum tepal_status filter_of(const struct stopset *s, const struct tepal_params *params,
                                   uint32_t monitor, struct tepal_filter **out)
{
    enum tepal_status status = tepal_filter_create(params, NULL, out, NULL);
    for (size_t i = 0; i < s->kept_count && status == TEPAL_OK; i++) {
        const struct route *r = &s->routes.route[s->kept[i]];
        uint32_t node = stopset_penultimate(s, r);
        if (r->cycle == s->learn && r->monitor == monitor && node != ROUTE_SILENT) {
            status = tepal_filter_add(*out, s->digest[node]);
        }
    }
    return status;
}

/* The filters of all monitors, united, as a server would. */
static int unite(const struct stopset *s, const struct variant *v, struct tepal_filter **out)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.cells = v->bits;
    params.hashes = v->hashes;
    params.capacity = s->members;
    params.seed = arg_whole(s->args, "seed", 1);
    enum tepal_status status = tepal_filter_create(&params, NULL, out, NULL);
    for (uint32_t m = 0; m < s->routes.monitors.count && status == TEPAL_OK; m++) {
        struct tepal_filter *one = NULL;
        status = filter_of(s, &params, m, &one);
        if (status == TEPAL_OK) {
            status = tepal_filter_unite(*out, one);
        }
        tepal_filter_free(one);
    }
    return say_status(NULL, s->args->command->name, status, NULL);
}

/* The false positives among the nodes of the cycle learned. */
static struct suspect *find_suspects(const struct stopset *s, const struct tepal_filter *filter,
                                     size_t *count)
{
    struct suspect *list = malloc(((size_t)s->nodes + 1) * sizeof *list);
    *count = 0;
    for (uint32_t node = 0; node < s->nodes && list != NULL; node++) {
        if (!s->member[node] && s->passes[node] > 0 &&
            tepal_filter_query(filter, s->digest[node])) {
            list[*count].node = node;
            list[(*count)++].weight = s->passes[node];
        }
    }
    if (list != NULL) {
        suspects_sort(list, *count);
    }
    return list;
}

/* Digests and weights as the library wants them. */
struct arrays {
    struct tepal_digest *members;
    double *member_weights;
    struct tepal_digest *avoid;
    double *avoid_weights;
};

static void free_arrays(struct arrays *a)
{
    free(a->members);
    free(a->member_weights);
    free(a->avoid);
    free(a->avoid_weights);
}

static bool fill_arrays(struct arrays *a, const struct stopset *s, const struct suspect *list,
                        size_t count)
{
    size_t at = 0;
    a->members = malloc((s->members + 1) * sizeof *a->members);
    a->member_weights = malloc((s->members + 1) * sizeof *a->member_weights);
    a->avoid = malloc((count + 1) * sizeof *a->avoid);
    a->avoid_weights = malloc((count + 1) * sizeof *a->avoid_weights);
    if (a->members == NULL || a->member_weights == NULL || a->avoid == NULL ||
        a->avoid_weights == NULL) {
        return false;
    }
    for (uint32_t node = 0; node < s->nodes; node++) {
        if (s->member[node]) {
            a->members[at] = s->digest[node];
            a->member_weights[at++] = s->ends[node];
        }
    }
    for (size_t i = 0; i < count; i++) {
        a->avoid[i] = s->digest[list[i].node];
        a->avoid_weights[i] = list[i].weight;
    }
    return true;
}

/*
 * sacrifice weighs: a troublesome node by the routes it cuts, a penultimate one by the routes that
 * end there. The paper's methods count, as they do in the paper.
 */
static int retouch(const struct stopset *s, struct variant *v, const struct tepal_filter *bloom,
                   const struct suspect *list, size_t count, struct tepal_filter **out)
{
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report report;
    struct arrays a = {NULL, NULL, NULL, NULL};
    struct tepal_error error = {.why = NULL};
    how.method = TEPAL_RETOUCH_SACRIFICE;
    if (arg(s->args, "method")->given) {
        tepal_retouch_method_parse(arg(s->args, "method")->text, &how.method);
    }
    if (isfinite(v->max_fn)) {
        how.limit = TEPAL_RETOUCH_LIMIT_SHARE;
        how.budget = v->max_fn;
    }
    if (!fill_arrays(&a, s, list, count)) {
        free_arrays(&a);
        return say_no_memory();
    }
    bool weighs = how.method == TEPAL_RETOUCH_SACRIFICE;
    struct tepal_known input = {.members = a.members,
                                .member_count = s->members,
                                .member_weights = weighs ? a.member_weights : NULL,
                                .avoid = a.avoid,
                                .avoid_count = count,
                                .avoid_weights = weighs ? a.avoid_weights : NULL};
    enum tepal_status status = tepal_retouch(bloom, &input, &how, NULL, out, &report, NULL, &error);
    free_arrays(&a);
    if (status != TEPAL_OK) {
        return say_status(NULL, s->args->command->name, status, error.why);
    }
    v->false_negatives = report.false_negatives;
    return EXIT_YES;
}

/* ---- replaying ------------------------------------------------------------------------------- */

/* Every selected route of a cycle against a set. */
static struct replay_outcome replay(const struct stopset *s, uint64_t cycle, const bool *stops,
                                    bool *nodes, bool *links)
{
    struct replay_outcome o = {0, 0, 0, 0};
    struct replay_seen seen = {s->link, nodes, links};
    memset(nodes, 0, s->nodes * sizeof *nodes);
    memset(links, 0, s->links * sizeof *links);
    for (size_t i = 0; i < s->kept_count; i++) {
        const struct route *r = &s->routes.route[s->kept[i]];
        if (r->cycle == cycle) {
            replay_route(&s->routes, r, stops, &o, &seen);
        }
    }
    return o;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The set, and how it was retouched, for people. */
static const char *set_name(const struct variant *v, char *room, size_t size)
{
    if (isfinite(v->beta)) {
        snprintf(room, size, "%s %g %%", v->set, v->beta * 100);
    } else if (isfinite(v->max_fn)) {
        snprintf(room, size, "%s fn %g %%", v->set, v->max_fn * 100);
    } else {
        snprintf(room, size, "%s", v->set);
    }
    return room;
}

static void print_row(struct stopset *s, const struct variant *v, uint64_t cycle,
                      const struct replay_outcome *o)
{
    struct report *r = &s->report;
    const char *method = arg(s->args, "method")->text;
    double all = o->routes == 0 ? 1 : (double)o->routes;
    double bits = v->bits == 0 ? s->list_bits : (double)v->bits;
    char room[64];
    report_object(r, NULL);
    report_whole(r, "cycle", cycle, column("cycle", -5, NULL));
    report_text(r, "set", v->set, NO_TEXT);
    report_text(r, NULL, set_name(v, room, sizeof room), text_column("set", -17, NULL));
    report_whole(r, "addresses", s->members, JSON_ONLY);
    report_whole(r, "bits", (uint64_t)bits, column("bits", 7, NULL));
    report_whole(r, "hashes", v->hashes, NO_TEXT);
    report_real(r, "compression", s->list_bits / bits,
                column_tsv(column("ratio", 5, "%.2f"), "%.6g"));
    report_text(r, "method",
                strcmp(v->set, "retouched") != 0 ? NULL
                : method != NULL                 ? method
                                                 : "sacrifice",
                JSON_ONLY);
    report_real(r, "beta", v->beta, column_tsv(NO_TEXT, "%.6g"));
    report_real(r, "max_fn", v->max_fn, column_tsv(NO_TEXT, "%.6g"));
    report_whole(r, "false_positives", v->false_positives, column("fp", 5, NULL));
    report_whole(r, "troublesome", v->troublesome, NO_TEXT);
    report_whole(r, "false_negatives", v->false_negatives, column("fn", 6, NULL));
    report_whole(r, "routes", o->routes, NO_TEXT);
    report_real(r, "success", (double)o->success / all, column("success", 7, "%.4f"));
    report_real(r, "stopping_short", (double)o->stopped_short / all, column("short", 6, "%.4f"));
    report_real(r, "collision", (double)o->collision / all, column("coll.", 6, "%.4f"));
    report_real(r, "nodes_missed", replay_missed(s->listed_nodes, s->seen_nodes, s->nodes),
                column("nodes-", 6, "%.4f"));
    report_real(r, "links_missed", replay_missed(s->listed_links, s->seen_links, s->links),
                column("links-", 6, "%.4f"));
    report_end(r);
}

/* A row for every cycle after the one learned, with s->stops as the set. */
static void tell(struct stopset *s, const struct variant *v)
{
    for (size_t c = 0; c < s->cycles; c++) {
        if (s->cycle[c] > s->learn) {
            replay(s, s->cycle[c], s->member, s->listed_nodes, s->listed_links);
            struct replay_outcome o =
                replay(s, s->cycle[c], s->stops, s->seen_nodes, s->seen_links);
            print_row(s, v, s->cycle[c], &o);
        }
    }
}

static void tell_filter(struct stopset *s, const struct variant *v,
                        const struct tepal_filter *filter)
{
    for (uint32_t node = 0; node < s->nodes; node++) {
        s->stops[node] = tepal_filter_query(filter, s->digest[node]);
    }
    tell(s, v);
}

/* ---- the experiment -------------------------------------------------------------------------- */

static int run_retouched(struct stopset *s, struct variant v, const struct tepal_filter *bloom,
                         const struct suspect *list, size_t count)
{
    struct tepal_filter *filter = NULL;
    v.set = "retouched";
    v.troublesome = isfinite(v.beta) ? (uint64_t)ceil(v.beta * (double)count - 1e-9) : count;
    int code = retouch(s, &v, bloom, list, v.troublesome, &filter);
    if (code == EXIT_YES) {
        tell_filter(s, &v, filter);
    }
    tepal_filter_free(filter);
    return code;
}

static int run_size(struct stopset *s, uint64_t bits)
{
    struct tepal_filter *bloom = NULL;
    struct variant v = {.set = "bloom", .bits = bits, .beta = NAN, .max_fn = NAN};
    size_t count = 0;
    v.hashes = arg(s->args, "hashes")->given
                   ? (uint32_t)arg(s->args, "hashes")->whole
                   : tepal_bloom_best_hashes(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, bits,
                                             s->members);
    int code = unite(s, &v, &bloom);
    struct suspect *list = code == EXIT_YES ? find_suspects(s, bloom, &count) : NULL;
    if (code == EXIT_YES && list == NULL) {
        code = say_no_memory();
    }
    v.false_positives = count;
    if (code == EXIT_YES) {
        tell_filter(s, &v, bloom);
    }
    if (arg(s->args, "beta")->given || arg(s->args, "max-fn")->given) {
        v.beta = arg_real(s->args, "beta", NAN);
        v.max_fn = arg_real(s->args, "max-fn", NAN);
        code = code == EXIT_YES ? run_retouched(s, v, bloom, list, count) : code;
    } else {
        for (size_t b = 0; b < sizeof paper_beta / sizeof *paper_beta && code == EXIT_YES; b++) {
            v.beta = paper_beta[b];
            code = run_retouched(s, v, bloom, list, count);
        }
    }
    free(list);
    tepal_filter_free(bloom);
    return code;
}

static void say_learned(const struct stopset *s)
{
    uint32_t addresses = 0;
    for (uint32_t node = 0; node < s->nodes; node++) {
        addresses += s->passes[node] > 0;
    }
    say_line("learned    cycle %" PRIu64 ": %zu routes of %" PRIu32 " monitor%s, %" PRIu32
             " addresses, %" PRIu64 " of them penultimate",
             s->learn, s->learned, s->routes.monitors.count,
             s->routes.monitors.count == 1 ? "" : "s", addresses, s->members);
    if (s->routes.incomplete > 0) {
        say_line("left out   %" PRIu64 " routes that do not reach their destination",
                 s->routes.incomplete);
    }
}

static int experiment(struct stopset *s)
{
    const struct option_value *bits = arg(s->args, "bits");
    struct variant list = {.set = "list", .beta = NAN, .max_fn = NAN};
    if (!arg(s->args, "quiet")->given) {
        say_learned(s);
    }
    s->report = report_open(s->args);
    s->report.tsv = "%.6f";
    memcpy(s->stops, s->member, s->nodes * sizeof *s->stops);
    tell(s, &list);
    int code = bits->given ? run_size(s, bits->whole) : EXIT_YES;
    for (size_t i = 0; i < sizeof paper_bits / sizeof *paper_bits && code == EXIT_YES; i++) {
        code = bits->given ? code : run_size(s, paper_bits[i]);
    }
    return report_close(&s->report, code);
}

static void free_all(struct stopset *s)
{
    routes_free(&s->routes);
    free(s->cycle);
    free(s->kept);
    free(s->member);
    free(s->ends);
    free(s->passes);
    free(s->link);
    free(s->digest);
    free(s->stops);
    free(s->listed_nodes);
    free(s->listed_links);
    free(s->seen_nodes);
    free(s->seen_links);
}

static int stopset_run(const struct args *args)
{
    struct stopset s = {.args = args};
    const char *method = arg(args, "method")->text;
    if (method != NULL && strcmp(method, "random-bits") == 0 && !arg(args, "max-fn")->given) {
        return say_error(NULL, args->command->name, "--method random-bits needs --max-fn R");
    }
    int code = routes_read(&s.routes, args->operand, args->operands);
    if (code == EXIT_YES && s.routes.count == 0) {
        code = say_error(NULL, args->command->name, "no routes that reach their destination");
    }
    code = code == EXIT_YES ? stopset_learn(&s) : code;
    code = code == EXIT_YES ? experiment(&s) : code;
    free_all(&s);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "learn", OF_WHOLE("C", 0, UINT64_MAX),
           "Learn from cycle C and replay the later ones (default: the first)."),
    OPTION(0, "max-transit", OF_WHOLE("T", 0, INT64_MAX),
           "Keep only destinations whose penultimate node is on the way to at most T others (the "
           "column pen_transit, or counted)."),
    OPTION('m', "bits", OF_WHOLE("M", 1, (uint64_t)1 << 40),
           "The size of the filters (default: 10000, 20000, ... 100000)."),
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "The number of hash functions (default: the best for each size)."),
    OPTION('b', "beta", OF_VALUE(TAKES_SHARE, "R"),
           "Remove the share R of the false positives, the most troublesome first (default: 1 %, 5 "
           "%, 10 % and 25 %)."),
    OPTION(0, "max-fn", OF_VALUE(TAKES_SHARE, "R"),
           "Instead: target all false positives, and lose at most the share R of the penultimate "
           "nodes."),
    OPTION_METHOD,
    OPTION_DEMO_SEED,
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"beta", "max-fn"}, {"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal app stopset routes.tsv.gz", "All sizes and shares in the paper."},
    {"tepal app stopset routes.tsv.gz --bits 60k --beta 25% --max-transit 5",
     "One filter, over all cycles."},
    {"tepal app stopset monday.json tuesday.json --tsv", "scamper's JSON, one cycle per file."},
    {NULL, NULL}};

const struct command app_stopset = {
    .name = "app stopset",
    .synopsis = "[ROUTES...] [--bits M] [--beta R | --max-fn R] [--max-transit T]",
    .summary = "Red stop sets: stop traceroutes just before their destinations.",
    .about =
        "A monitor that traces routes should stop one hop before the destination. The penultimate "
        "nodes are learned from one cycle of the measured routes ROUTES. Their set, shared by all "
        "monitors, is kept as a list, as a Bloom filter (the union of one filter per monitor) and "
        "as a retouched filter. The later cycles are replayed against each: a route that stops at "
        "its penultimate node is a success, one that stops earlier stops short, and one that "
        "reaches its destination is a collision.\n\n"
        "ROUTES are tab-separated (cycle, monitor, target_as, dst, dst_ttl, pen_transit, hops; a "
        "first line that starts with # may name other columns) or scamper's JSON, and may be "
        "compressed. Missed nodes and links are shares of those that are seen with the list.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = stopset_run};
