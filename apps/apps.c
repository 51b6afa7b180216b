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
};

const size_t app_count = sizeof apps / sizeof *apps;
