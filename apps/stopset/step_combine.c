/*
 * step_combine.c: the server: what all monitors sent becomes one stop set. Lists of sightings name
 * the penultimate nodes, so that retouching counts what it loses; filters do not, and then the loss
 * is expected.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "files/filter_file.h"
#include "output/render.h"
#include "output/report.h"
#include "readers/lines.h"
#include "stopset/set.h"

#define MAX_FN 0.05 /* unless --beta or --max-fn says otherwise */

struct combining {
    const struct args *args;
    struct names nodes;
    struct sightings seen;
    uint64_t lists;
    uint64_t filters;
    double up; /* bits: addresses of the lists, bits of the filters */
    struct tepal_filter *bloom;
    struct tepal_digest *digest;
    struct set_wish wish;
    struct set_made made;
};

/* ---- what was sent --------------------------------------------------------------------------- */

static int take_filter(struct combining *w, const char *path, struct tepal_filter *filter)
{
    struct tepal_error error = {.why = NULL};
    w->filters++;
    w->up += (double)tepal_filter_params(filter)->cells;
    if (tepal_filter_kind(filter)->id != TEPAL_KIND_BLOOM) {
        return args_about(w->args, path,
                          "a filter of the kind %s: a monitor sends a Bloom filter, or a list",
                          tepal_filter_kind(filter)->name);
    }
    enum tepal_status status = w->bloom == NULL
                                   ? tepal_filter_clone(filter, NULL, &w->bloom, &error)
                                   : tepal_filter_unite(w->bloom, filter);
    return status == TEPAL_OK
               ? EXIT_YES
               : say_status(w->args->command->stays, path, status,
                            status == TEPAL_MISMATCH
                                ? "its size, hash functions or seed are not those of the filters "
                                  "before it"
                                : error.why);
}

static int take_list(struct combining *w, const char *path)
{
    struct sightings mine = {.nodes = 0};
    struct sightings_reader reader = {.nodes = &w->nodes, .into = &mine};
    int code = lines_read(path, sightings_line, &reader);
    if (code == EXIT_YES &&
        (!sightings_grow(&mine, w->nodes.count) || !sightings_grow(&w->seen, w->nodes.count))) {
        code = args_no_memory(w->args);
    }
    for (uint32_t node = 0; node < w->nodes.count && code == EXIT_YES; node++) {
        w->seen.ends[node] += mine.ends[node];
        w->seen.passes[node] += mine.passes[node];
    }
    if (code == EXIT_YES) {
        w->lists++;
        w->up += sightings_bits(&mine, &w->nodes);
    }
    sightings_free(&mine);
    return code;
}

static int take(void *ctx, const char *path, size_t number)
{
    (void)number;
    struct combining *w = ctx;
    struct tepal_filter *filter = NULL;
    struct tepal_error error = {.why = NULL};
    enum tepal_status status = strcmp(path, "-") == 0
                                   ? TEPAL_NOT_A_FILTER
                                   : filter_file_try(path, FILTER_FILE_VIEW, &filter, &error);
    if (status == TEPAL_NOT_A_FILTER || status == TEPAL_BAD_LENGTH) {
        return take_list(w, path);
    }
    int code = status == TEPAL_OK ? take_filter(w, path, filter)
                                  : filter_file_fault(w->args->command->stays, path, &error);
    tepal_filter_free(filter);
    return code;
}

/* ---- the set --------------------------------------------------------------------------------- */

static int check(const struct args *args)
{
    const char *output = arg(args, "output")->text;
    int code = filter_file_check_inputs(args, output, args->operand, args->operands,
                                        "the stop set would overwrite what a monitor sent");
    return code == EXIT_YES ? filter_file_check_output(args, output) : code;
}

/* The wish: the size is that of the filters, if there are any. */
static int wish_for(struct combining *w)
{
    const struct option_value *bits = arg(w->args, "bits");
    w->wish = set_wish_of(w->args);
    w->wish.max_fn = isnan(w->wish.beta) && isnan(w->wish.max_fn) ? MAX_FN : w->wish.max_fn;
    if (w->bloom == NULL && !bits->given) {
        return args_wrong(w->args, "--bits M is needed: no monitor sent a filter");
    }
    if (w->bloom == NULL) {
        w->wish.bits = bits->whole;
        return EXIT_YES;
    }
    const struct tepal_params *p = tepal_filter_params(w->bloom);
    if ((bits->given && bits->whole != p->cells) ||
        (arg(w->args, "hashes")->given && w->wish.hashes != p->hashes) ||
        (arg(w->args, "seed")->given && w->wish.seed != p->seed)) {
        return args_wrong(w->args,
                          "--bits, --hashes and --seed are those of the filters sent: %" PRIu64
                          " bits, %" PRIu32 " hash%s, seed %" PRIu64,
                          p->cells, p->hashes, p->hashes == 1 ? "" : "es", p->seed);
    }
    w->wish.bits = p->cells;
    w->wish.hashes = p->hashes;
    w->wish.seed = p->seed;
    return EXIT_YES;
}

static int make(struct combining *w)
{
    bool known = w->filters == 0;
    w->digest = set_digests(&w->nodes, w->wish.seed);
    if (w->digest == NULL) {
        return args_no_memory(w->args);
    }
    if (known && sightings_members(&w->seen) == 0) {
        return args_error(w->args, "no penultimate nodes in what the monitors sent");
    }
    int code = known ? set_bloom(w->args, &w->seen, w->digest, &w->wish, &w->bloom) : EXIT_YES;
    for (uint32_t node = 0; node < w->seen.nodes && !known && code == EXIT_YES; node++) {
        if (sightings_member(&w->seen, node)) {
            code = args_status(w->args, tepal_filter_add(w->bloom, w->digest[node]), NULL);
        }
    }
    return code == EXIT_YES
               ? set_retouch(w->args, &w->seen, w->digest, &w->wish, w->bloom, known, &w->made)
               : code;
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* So many bits, as people read it. */
static const char *bits_text(double bits, char *room, size_t size)
{
    if (bits < 1e4) {
        snprintf(room, size, "%.0f bits", bits);
    } else {
        snprintf(room, size, bits < 1e6 ? "%.1f kbit" : "%.2f Mbit",
                 bits < 1e6 ? bits / 1e3 : bits / 1e6);
    }
    return room;
}

static void say(struct report *r, const struct combining *w)
{
    const struct set_made *m = &w->made;
    double down = (double)w->wish.bits;
    double list = sightings_bits(&w->seen, &w->nodes);
    char room[3][64];
    report_say(r,
               "received   %" PRIu64 " list%s and %" PRIu64 " filter%s, %s: %" PRIu32
               " addresses seen, %s%" PRIu64 " penultimate",
               w->lists, SAY_S(w->lists), w->filters, SAY_S(w->filters),
               bits_text(w->up, room[0], sizeof room[0]), w->nodes.count,
               m->expected ? "about " : "", m->members);
    report_say(r, "filter     %" PRIu64 " bits, %" PRIu32 " hash%s", w->wish.bits, m->hashes,
               m->hashes == 1 ? "" : "es");
    report_say(r, "aimed at   %" PRIu64 " of %" PRIu64 " false positives, on %.0f routes", m->aimed,
               m->before, m->cut_before);
    report_say(r, "left       %" PRIu64 " false positives, on %.0f routes", m->false_positives,
               m->cut);
    if (m->expected) {
        report_say(r, "lost       %.1f penultimate addresses, expected; %.0f to %.0f with 99 %%",
                   m->false_negatives, m->lost_low, m->lost_high);
    } else {
        report_say(r, "lost       %.0f of %" PRIu64 " penultimate addresses", m->false_negatives,
                   m->members);
    }
    if (w->filters == 0) {
        report_say(r, "to send    %s to each monitor; the list would be %s",
                   bits_text(down, room[1], sizeof room[1]),
                   bits_text(list, room[2], sizeof room[2]));
    } else {
        report_say(r, "to send    %s to each monitor", bits_text(down, room[1], sizeof room[1]));
    }
    report_say(r, "wrote      %s, %s", filter_file_name(arg(w->args, "output")->text, true),
               render_bytes(tepal_encoded_bytes(m->filter), room[0], sizeof room[0]));
}

static int tell(const struct combining *w)
{
    const struct set_made *m = &w->made;
    struct report r = report_open(w->args);
    report_object(&r, NULL);
    say(&r, w);
    report_whole(&r, "lists", w->lists, JSON_ONLY);
    report_whole(&r, "filters", w->filters, JSON_ONLY);
    report_real(&r, "up", w->up, JSON_ONLY);
    report_whole(&r, "addresses", w->nodes.count, JSON_ONLY);
    report_whole(&r, "penultimate", m->members, JSON_ONLY);
    report_whole(&r, "bits", w->wish.bits, JSON_ONLY);
    report_whole(&r, "hashes", m->hashes, JSON_ONLY);
    report_whole(&r, "false_positives_before", m->before, JSON_ONLY);
    report_whole(&r, "aimed", m->aimed, JSON_ONLY);
    report_whole(&r, "false_positives", m->false_positives, JSON_ONLY);
    report_real(&r, "routes_cut_before", m->cut_before, JSON_ONLY);
    report_real(&r, "routes_cut", m->cut, JSON_ONLY);
    report_flag(&r, "expected", m->expected, JSON_ONLY);
    report_real(&r, "lost", m->false_negatives, JSON_ONLY);
    report_real(&r, "lost_low", m->lost_low, JSON_ONLY);
    report_real(&r, "lost_high", m->lost_high, JSON_ONLY);
    report_end(&r);
    return report_close(&r, EXIT_YES);
}

static int combine_run(const struct args *args)
{
    struct combining w = {.args = args};
    w.seen.least = arg_real(args, "least-ends", SIGHTINGS_HALF);
    if (check(args) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = lines_files(args->operand, args->operands, take, &w);
    code = code == EXIT_YES ? wish_for(&w) : code;
    code = code == EXIT_YES ? make(&w) : code;
    code = code == EXIT_YES
               ? filter_file_replace(args, w.made.filter, arg(args, "output")->text, NULL, 0)
               : code;
    code = code == EXIT_YES ? tell(&w) : code;
    tepal_filter_free(w.bloom);
    tepal_filter_free(w.made.filter);
    free(w.digest);
    sightings_free(&w.seen);
    names_free(&w.nodes);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION_OUTPUT,
    OPTION('m', "bits", OF_WHOLE("M", 1, (uint64_t)1 << 40),
           "The size of the stop set (needed, unless monitors sent filters: it is theirs)."),
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "The number of hash functions (default: the best)."),
    OPTION('b', "beta", OF_VALUE(TAKES_SHARE, "R"),
           "Remove the share R of the false positives, those on the most routes first."),
    OPTION(0, "max-fn", OF_VALUE(TAKES_SHARE, "R"),
           "Or target all of them, and lose at most the share R of the penultimate addresses "
           "(default 5 %)."),
    OPTION(
        0, "least-ends", OF_VALUE(TAKES_PART, "R"),
        "Only penultimate addresses at which at least the share R of the routes through them end "
        "are in the set (default 50 %; 0: all, as in the paper)."),
    OPTION_METHOD,
    OPTION_DEMO_SEED,
    OPTION_FORCE,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"beta", "max-fn"}, {NULL}};
static const struct example examples[] = {
    {"tepal app stopset combine m*.tsv --bits 20k -o stop.tepal", "Lists up, a filter down."},
    {"tepal app stopset combine m*.tsv back*.tsv --bits 20k -o stop.tepal -f",
     "The next cycle: with what 'trace' fed back."},
    {NULL, NULL}};

const struct command app_stopset_combine = {
    .name = "app stopset combine",
    .synopsis = "FILE... -o OUT [--bits M] [--max-fn R | --beta R]",
    .summary = "Red stop sets, at the server: make one of what all monitors sent.",
    .about =
        "FILE are the sightings or filters that 'learn' wrote at the monitors, and sightings that "
        "'trace' fed back. Their penultimate addresses are united in one filter, and the "
        "false positives on the most routes are removed by retouching. If monitors sent filters, "
        "the penultimate addresses are not known; how many are lost is then expected, not counted.",
    .options = options,
    .exclusive = exclusive,
    .needed = "output",
    .files = true,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "a file of a monitor is",
    .stays = "nothing was written",
    .examples = examples,
    .run = combine_run};
