/* apps.c: the table of applications: their options, help and examples. Options are told in full in
 * the table of tool/command.c. */
#include "apps.h"

/* ---- stopset -------------------------------------------------------------------------------- */

static const enum option_id stopset_options[] = {
    OPT_LEARN,      OPT_MAX_TRANSIT, OPT_SET_BITS,  OPT_SET_HASHES, OPT_SET_BETA,
    OPT_SET_MAX_FN, OPT_METHOD,      OPT_DEMO_SEED, OPT_ROWS_TSV,   OPT_JSON,
    OPT_QUIET,      OPT_HELP,        OPT_END};
static const enum option_id stopset_exclusive[][4] = {
    {OPT_SET_BETA, OPT_SET_MAX_FN}, {OPT_ROWS_TSV, OPT_JSON}, {0}};
static const struct example stopset_examples[] = {
    {"tepal app stopset routes.tsv.gz", "All sizes and shares of the paper."},
    {"tepal app stopset routes.tsv.gz --bits 60k --beta 25% --max-transit 5",
     "One filter, over all cycles."},
    {"tepal app stopset monday.json tuesday.json --tsv", "scamper's JSON, a cycle a file."},
    {NULL, NULL}};

/* ---- admit ---------------------------------------------------------------------------------- */

static const enum option_id admit_options[] = {
    OPT_CACHE_SIZE, OPT_SIZE_FIELD, OPT_FIELD,     OPT_DELIMITER, OPT_ADMIT_MEMORY,
    OPT_STREAM_FP,  OPT_PHASES,     OPT_DEMO_SEED, OPT_PLAIN,     OPT_ROWS_TSV,
    OPT_JSON,       OPT_QUIET,      OPT_HELP,      OPT_END};
static const enum option_id admit_exclusive[][4] = {{OPT_ROWS_TSV, OPT_JSON}, {0}};
static const struct example admit_examples[] = {
    {"tepal app admit requests.txt --cache-size 1000", "A cache of a thousand objects."},
    {"tepal app admit access.log --field 7 --size-field 10 --cache-size 64Mi",
     "The log of a web server, and a cache of 64 MiB."},
    {NULL, NULL}};

const struct command apps[] = {
    {.name = "app stopset",
     .synopsis = "[ROUTES...] [--bits M] [--beta R | --max-fn R] [--max-transit T]",
     .summary = "Red stop sets: where traceroutes should end before their targets.",
     .about =
         "A monitor that traces routes should stop one hop before the destination. One cycle of "
         "the measured routes ROUTES teaches which nodes are penultimate; the set of these, "
         "shared by all monitors, is kept as a list, as a Bloom filter (the union of one a "
         "monitor) and as a retouched filter. The later cycles are replayed against each: a route "
         "that stops at its penultimate node is a success, one that stops earlier stops short, "
         "one that runs into its destination is a collision.\n\n"
         "ROUTES are tab-separated (cycle, monitor, target_as, dst, dst_ttl, pen_transit, hops; a "
         "first line that starts with # may name other columns) or scamper's JSON, and may be "
         "compressed. Nodes and links missed are shares of what the list would have let see.",
     .options = stopset_options,
     .exclusive = stopset_exclusive,
     .operand = OPERAND_FILE,
     .most_operands = SIZE_MAX,
     .examples = stopset_examples,
     .run = stopset_run},
    {.name = "app admit",
     .synopsis = "[LOG...] --cache-size SIZE [--field N] [--size-field N] [--memory SIZE]",
     .summary = "Cache admission: store what is asked for a second time.",
     .about =
         "Replays the requests of LOG, one a line (none, or -: standard input; lines that start "
         "with # are passed over), through a cache that keeps what was asked for last, and counts "
         "hits and writes: when everything is "
         "stored (all), when an object is stored at its second request, known exactly and for ever "
         "(exact), and when a recycling filter of little memory tells which request is a second "
         "one (filter). A filter that remembers less lets in less: what it has forgotten must be "
         "asked for twice again.\n\n"
         "share is the number of writes, divided by that of storing everything.",
     .options = admit_options,
     .exclusive = admit_exclusive,
     .needed = OPT_CACHE_SIZE,
     .operand = OPERAND_FILE,
     .most_operands = SIZE_MAX,
     .examples = admit_examples,
     .run = admit_run},
};

const size_t app_count = sizeof apps / sizeof *apps;
