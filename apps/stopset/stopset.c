/*
 * stopset.c: the red stop set (Donnet, Baynat and Friedman 2006, Sec. VI), tried on measured
 * routes.
 *
 *     monitor ── 1 ── 2 ── 3 ── 4 ── 5 ── destination      5 is the penultimate node
 *                     ^              ^
 *                     |              a route that stops here is a success
 *                     a false positive here stops the route short: 3, 4 and 5 are never seen
 *
 * The stop set A holds the penultimate nodes of one cycle, over all monitors. As a filter it has
 * false positives, and one on a node that many routes pass does great damage; retouching removes
 * those and loses a few penultimate nodes, at which routes then run into their destinations.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"
#include "cli/options.h"
#include "cli/say.h"
#include "stopset/select.h"
#include "stopset/stopset.h"

/* What the paper measures: sizes of filters, and shares of the false positives removed. */
static const uint64_t paper_bits[] = {10000, 20000, 30000, 40000, 50000,
                                      60000, 70000, 80000, 90000, 100000};
static const double paper_beta[] = {0.01, 0.05, 0.10, 0.25};

#define MOST_SIZES 64

/* The sizes of --bits, which may be given several times; else the paper's. */
static int sizes_of(const struct args *args, uint64_t bits[MOST_SIZES], size_t *count)
{
    const char *text;
    *count = 0;
    while ((text = args_text(args, "bits", *count)) != NULL && *count < MOST_SIZES) {
        (void)number_whole(text, &bits[(*count)++]); /* was checked when it was parsed */
    }
    if (*count == MOST_SIZES && args_text(args, "bits", *count) != NULL) {
        return args_wrong(args, "--bits: given more than %d times", MOST_SIZES);
    }
    for (size_t i = 0; *count == 0 && i < sizeof paper_bits / sizeof *paper_bits; i++) {
        bits[i] = paper_bits[i];
    }
    *count = *count == 0 ? sizeof paper_bits / sizeof *paper_bits : *count;
    return EXIT_YES;
}

static int run_retouched(struct stopset *s, const struct set_wish *wish,
                         const struct tepal_filter *bloom)
{
    struct variant v = {
        .set = "retouched", .bits = wish->bits, .beta = wish->beta, .max_fn = wish->max_fn};
    int code = set_retouch(s->args, &s->seen, s->digest, wish, bloom, true, &v.made);
    if (code == EXIT_YES) {
        stopset_stop_at(s, v.made.filter);
        stopset_tell_all(s, &v);
    }
    tepal_filter_free(v.made.filter);
    return code;
}

static int run_size(struct stopset *s, struct set_wish wish)
{
    struct tepal_filter *bloom = NULL;
    struct variant v;
    bool given = arg(s->args, "beta")->given || arg(s->args, "max-fn")->given;
    const struct option_value *feedback = arg(s->args, "feedback");
    int code = stopset_bloom(s, &wish, &bloom, &v);
    if (code == EXIT_YES) {
        stopset_stop_at(s, bloom);
        stopset_tell_all(s, &v);
    }
    size_t betas = given ? 1 : sizeof paper_beta / sizeof *paper_beta;
    for (size_t b = 0; b < betas && code == EXIT_YES; b++) {
        wish.beta = given ? wish.beta : paper_beta[b];
        code = run_retouched(s, &wish, bloom);
        code = code == EXIT_YES && feedback->given ? stopset_fresh(s, &wish, feedback->real) : code;
    }
    tepal_filter_free(bloom);
    return code;
}

static void say_learned(const struct stopset *s)
{
    uint32_t addresses = 0;
    for (uint32_t node = 0; node < s->nodes; node++) {
        addresses += s->seen.passes[node] > 0;
    }
    say_line("learned    cycle %" PRIu64 ": %zu route%s of %" PRIu32 " monitor%s, %" PRIu32
             " addresses, %" PRIu64 " of them penultimate",
             s->learn, s->learned, SAY_S(s->learned), s->routes.monitors.count,
             SAY_S(s->routes.monitors.count), addresses, s->members);
    if (s->routes.incomplete > 0) {
        say_line("left out   %" PRIu64 " route%s not reach %s destination", s->routes.incomplete,
                 s->routes.incomplete == 1 ? " that does" : "s that do",
                 s->routes.incomplete == 1 ? "its" : "their");
    }
}

static int experiment(struct stopset *s, const uint64_t *bits, size_t count)
{
    struct variant list = {.set = "list", .beta = NAN, .max_fn = NAN};
    struct set_wish wish = set_wish_of(s->args);
    int code = EXIT_YES;
    if (!arg(s->args, "quiet")->given) {
        say_learned(s);
    }
    s->report = report_open(s->args);
    s->report.tsv = "%.6f";
    if (arg(s->args, "table")->given) {
        wish.bits = bits[0];
        wish.beta = isnan(wish.beta) && isnan(wish.max_fn) ? 0.25 : wish.beta;
        return report_close(&s->report, stopset_table(s, &wish));
    }
    memcpy(s->stops, s->member, s->nodes * sizeof *s->stops);
    stopset_tell_all(s, &list);
    if (arg(s->args, "best")->given) {
        return report_close(&s->report, stopset_best(s, bits, count));
    }
    for (size_t i = 0; i < count && code == EXIT_YES; i++) {
        wish.bits = bits[i];
        code = run_size(s, wish);
    }
    return report_close(&s->report, code);
}

static void free_all(struct stopset *s)
{
    routes_free(&s->routes);
    sightings_free(&s->seen);
    free(s->cycle);
    free(s->kept);
    free(s->member);
    free(s->link);
    free(s->digest);
    free(s->stops);
    free(s->listed_nodes);
    free(s->listed_links);
    free(s->seen_nodes);
    free(s->seen_links);
}

static int check(const struct args *args, size_t sizes)
{
    const char *method = arg(args, "method")->text;
    if (method != NULL && strcmp(method, "random-bits") == 0 && !arg(args, "max-fn")->given) {
        return say_error(NULL, args->command->name, "--method random-bits needs --max-fn R");
    }
    if (arg(args, "table")->given && (!arg(args, "bits")->given || sizes > 1)) {
        return args_wrong(args, "--table needs one --bits M");
    }
    if (arg(args, "enough")->given && !arg(args, "best")->given) {
        return args_wrong(args, "--enough needs --best");
    }
    return EXIT_YES;
}

static int stopset_run(const struct args *args)
{
    struct stopset s = {.args = args};
    uint64_t bits[MOST_SIZES];
    size_t sizes;
    if (sizes_of(args, bits, &sizes) != EXIT_YES || check(args, sizes) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = routes_read(&s.routes, args->operand, args->operands);
    if (code == EXIT_YES && s.routes.count == 0) {
        code = say_error(NULL, args->command->name, "no routes that reach their destination");
    }
    code = code == EXIT_YES ? stopset_learn(&s) : code;
    code = code == EXIT_YES ? experiment(&s, bits, sizes) : code;
    free_all(&s);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "learn", OF_WHOLE("C", 0, UINT64_MAX),
           "Learn from cycle C and replay the later ones (default: the first)."),
    OPTION_MAX_TRANSIT,
    OPTION('m', "bits", OF_WHOLE("M", 1, (uint64_t)1 << 40),
           "The size of the filters; may be given several times (default: 10000, 20000, ... "
           "100000)."),
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "The number of hash functions (default: the best for each size)."),
    OPTION('b', "beta", OF_VALUE(TAKES_SHARE, "R"),
           "Remove the share R of the false positives, the most troublesome first (default: 1 %, 5 "
           "%, 10 % and 25 %)."),
    OPTION(0, "max-fn", OF_VALUE(TAKES_SHARE, "R"),
           "Instead: target all false positives, and lose at most the share R of the penultimate "
           "nodes."),
    OPTION(
        0, "feedback", OF_VALUE(TAKES_SHARE, "R"),
        "Also keep the retouched filters fresh: trace the share R of the routes in full in every "
        "cycle, and make the next cycle's filter of all that is known by then."),
    OPTION(
        0, "least-ends", OF_VALUE(TAKES_PART, "R"),
        "Only penultimate nodes at which at least the share R of the routes through them end are "
        "in the set (default: all, as in the paper; with --feedback, for the fresh sets, 50 %)."),
    FLAG(0, "best",
         "For each size, find the share of false positives to remove (0 to 100 %) that gives the "
         "most success in the next cycle, and the smallest size that is good enough."),
    OPTION(0, "enough", OF_VALUE(TAKES_SHARE, "R"),
           "With --best: good enough is the share R of the list's success (default 95 %)."),
    FLAG(
        0, "table",
        "Print the aspects of list, Bloom filter and retouched filter (beta 25 % unless given), as "
        "in the paper's Table V, computed from the next cycle."),
    OPTION_METHOD,
    OPTION_DEMO_SEED,
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {
    {"beta", "max-fn"}, {"best", "beta"},      {"best", "max-fn"}, {"best", "feedback"},
    {"best", "table"},  {"feedback", "table"}, {"tsv", "json"},    {NULL}};
static const struct example examples[] = {
    {"tepal app stopset routes.tsv.gz", "All sizes and shares in the paper."},
    {"tepal app stopset routes.tsv.gz --bits 60k --beta 25% --max-transit 5",
     "One filter, over all cycles."},
    {"tepal app stopset routes.tsv.gz --bits 10k --bits 20k --best", "How small, and which beta?"},
    {"tepal app stopset monday.json tuesday.json --tsv", "scamper's JSON, one cycle per file."},
    {NULL, NULL}};

const struct command app_stopset = {
    .name = "app stopset",
    .synopsis = "[ROUTES...] [--bits M]... [--beta R | --max-fn R] [--max-transit T]",
    .summary = "Red stop sets: stop traceroutes just before their destinations.",
    .about =
        "A monitor that traces routes should stop one hop before the destination. The penultimate "
        "nodes are learned from one cycle of the measured routes ROUTES. Their set, shared by all "
        "monitors, is kept as a list, as a Bloom filter and as a retouched filter. The later "
        "cycles are replayed against each: a route that stops at its penultimate node is a "
        "success, one that stops earlier stops short, and one that reaches its destination is a "
        "collision.\n\n"
        "ROUTES are tab-separated (cycle, monitor, target_as, dst, dst_ttl, pen_transit, hops; a "
        "first line that starts with # may name other columns) or scamper's JSON, and may be "
        "compressed. Missed nodes and links are shares of those that are seen with the list.\n\n"
        "To deploy a stop set, use the steps: 'tepal app stopset learn' at each monitor, 'combine' "
        "at a server, 'trace' at each monitor.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = stopset_run};
