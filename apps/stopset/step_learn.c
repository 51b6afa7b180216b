/*
 * step_learn.c: what a monitor saw, for the server: its sightings, or (if it does not want to tell
 * the penultimate nodes themselves) a filter of these and the sightings of all others.
 */
#include <inttypes.h>
#include <math.h>

#include "cli/options.h"
#include "files/atomic_file.h"
#include "files/filter_file.h"
#include "output/render.h"
#include "output/report.h"
#include "stopset/select.h"
#include "stopset/set.h"
#include "stopset/steps.h"

struct learning {
    const struct args *args;
    struct step_routes from;
    struct sightings seen;
    struct tepal_filter *filter; /* NULL: a list */
    uint64_t members;
    uint64_t addresses;
};

static int check(const struct args *args)
{
    bool filter = arg(args, "bits")->given;
    if (!filter && (arg(args, "hashes")->given || arg(args, "seen")->given)) {
        return args_wrong(args, "--hashes and --seen are for filters: give --bits M, too");
    }
    if (filter) {
        const char *output = arg(args, "output")->text;
        int code = filter_file_check_inputs(args, output, args->operand, args->operands,
                                            "the filter would overwrite the routes");
        code = code == EXIT_YES ? filter_file_check_output(args, output) : code;
        return code == EXIT_YES && arg(args, "seen")->given
                   ? atomic_file_check(args, arg(args, "seen")->text)
                   : code;
    }
    return atomic_file_check(args, arg(args, "output")->text);
}

static int learn(struct learning *w)
{
    if (!sightings_grow(&w->seen, w->from.routes.nodes.count)) {
        return args_no_memory(w->args);
    }
    for (size_t i = 0; i < w->from.count; i++) {
        sightings_route(&w->seen, &w->from.routes, &w->from.routes.route[w->from.kept[i]], 1);
    }
    for (uint32_t node = 0; node < w->seen.nodes; node++) {
        w->addresses += w->seen.passes[node] > 0;
    }
    w->members = sightings_members(&w->seen);
    return w->members > 0 ? EXIT_YES
                          : args_error(w->args, "the routes have no penultimate nodes to learn");
}

static void write_seen(const void *context, struct out *out)
{
    const struct learning *w = context;
    sightings_write(&w->seen, &w->from.routes.nodes, out);
}

/* The filter, and beside it what may be told of the nodes that are not in it. */
static int write_filter(struct learning *w)
{
    struct set_wish wish = set_wish_of(w->args);
    struct tepal_digest *digest = set_digests(&w->from.routes.nodes, wish.seed);
    wish.bits = arg(w->args, "bits")->whole;
    int code = digest == NULL ? args_no_memory(w->args)
                              : set_bloom(w->args, &w->seen, digest, &wish, &w->filter);
    free(digest);
    for (uint32_t node = 0; node < w->seen.nodes && code == EXIT_YES; node++) {
        if (sightings_member(&w->seen, node)) {
            w->seen.ends[node] = 0;
            w->seen.passes[node] = 0;
        }
    }
    struct atomic_file seen = {.path = NULL};
    struct atomic_file *const beside[] = {&seen};
    if (code == EXIT_YES && arg(w->args, "seen")->given) {
        code = atomic_file_open(&seen, w->args, arg(w->args, "seen")->text);
        if (code == EXIT_YES) {
            write_seen(w, seen.out);
            code = atomic_file_finish(&seen, w->args);
        }
    }
    code = code == EXIT_YES
               ? filter_file_replace(w->args, w->filter, arg(w->args, "output")->text, beside, 1)
               : code;
    atomic_file_free(&seen);
    return code;
}

static int tell(const struct learning *w)
{
    struct report r = report_open(w->args);
    report_object(&r, NULL);
    report_say(&r, "learned    %zu route%s, %" PRIu64 " address%s, %" PRIu64 " of them penultimate",
               w->from.count, SAY_S(w->from.count), w->addresses, w->addresses == 1 ? "" : "es",
               w->members);
    report_say(&r, "wrote      %s", filter_file_name(arg(w->args, "output")->text, true));
    report_whole(&r, "routes", w->from.count, JSON_ONLY);
    report_whole(&r, "addresses", w->addresses, JSON_ONLY);
    report_whole(&r, "penultimate", w->members, JSON_ONLY);
    report_whole_if(&r, "bits", w->filter != NULL,
                    w->filter == NULL ? 0 : tepal_filter_params(w->filter)->cells, JSON_ONLY);
    report_end(&r);
    return report_close(&r, EXIT_YES);
}

static int learn_run(const struct args *args)
{
    struct learning w = {.args = args};
    if (check(args) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = step_read(args, &w.from);
    code = code == EXIT_YES ? learn(&w) : code;
    if (code == EXIT_YES) {
        code = arg(args, "bits")->given ? write_filter(&w)
                                        : atomic_file_write(args, "output", write_seen, &w);
    }
    code = code == EXIT_YES ? tell(&w) : code;
    tepal_filter_free(w.filter);
    sightings_free(&w.seen);
    step_free(&w.from);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(
        'o', "output", OF_VALUE(TAKES_FILE, "FILE"),
        "What the monitor sends: its sightings, a line for each address (address, routes that end "
        "there, routes that pass it); with --bits a filter."),
    OPTION_STEP_CYCLE,
    OPTION_STEP_MONITOR,
    OPTION_MAX_TRANSIT,
    OPTION(
        'm', "bits", OF_WHOLE("M", 1, (uint64_t)1 << 40),
        "Write a Bloom filter of M bits instead. All monitors use the same bits, hashes and seed."),
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "With --bits: the number of hash functions (default: the best for this monitor alone)."),
    OPTION(0, "seen", OF_VALUE(TAKES_FILE, "OUT"),
           "With --bits: write the sightings of all addresses that are not in the filter to OUT."),
    OPTION_DEMO_SEED,
    FLAG('f', "force", "Overwrite FILE."),
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const struct example examples[] = {
    {"tepal app stopset learn routes.tsv.gz --monitor m1 -o m1.tsv", "A list, to be mailed."},
    {"tepal app stopset learn routes.tsv.gz -o m1.tepal --bits 20k --hashes 4 --seen m1.tsv",
     "A filter, which does not name the penultimate nodes."},
    {NULL, NULL}};

const struct command app_stopset_learn = {
    .name = "app stopset learn",
    .synopsis = "[ROUTES...] -o FILE [--monitor NAME] [--cycle C] [--bits M]",
    .summary = "Red stop sets, at a monitor: what it saw, for the server.",
    .about =
        "Reads routes that were traced in full (in the forms of 'tepal app stopset') and writes "
        "what they tell of each address: in how many routes it is the last one before the "
        "destination, and in how many it occurs. That is what 'combine' makes the stop set of.",
    .options = options,
    .needed = "output",
    .files = true,
    .most_operands = SIZE_MAX,
    .stays = "nothing was written",
    .examples = examples,
    .run = learn_run};
