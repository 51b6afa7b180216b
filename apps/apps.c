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

/* ---- digest, traceback ---------------------------------------------------------------------- */

static const enum option_id digest_options[] = {
    OPT_KEY_COLUMN, OPT_PROXY_COLUMN, OPT_CLIENT_COLUMN, OPT_SIZE_COLUMN, OPT_PROXIES,
    OPT_CACHE_SIZE, OPT_CACHE_BYTES,  OPT_REFRESH,       OPT_SIM_BITS,    OPT_SIM_HASHES,
    OPT_SIM_RESETS, OPT_SIM_SETS,     OPT_SIM_TOLERANCE, OPT_SIM_ATTACK,  OPT_JUDGE,
    OPT_ROUNDS,     OPT_DEMO_SEED,    OPT_ROWS_TSV,      OPT_JSON,        OPT_QUIET,
    OPT_HELP,       OPT_END};
static const enum option_id digest_exclusive[][4] = {
    {OPT_PROXY_COLUMN, OPT_CLIENT_COLUMN}, {OPT_ROWS_TSV, OPT_JSON}, {0}};
static const struct example digest_examples[] = {
    {"tepal app digest requests.tsv.gz --cache-size 500", "Three attacks, two kinds of filters."},
    {"tepal app digest access.log --key-column 7 --client-column 1 -P 8",
     "A web server's log, its clients behind eight proxies."},
    {"tepal app digest keys.txt --judge --attack worst --json", "With filters looked at first."},
    {NULL, NULL}};

static const enum option_id traceback_options[] = {
    OPT_TRACE_NETWORK, OPT_TRACE_ROUTES, OPT_TRACE_TREE, OPT_TRACE_HOPS, OPT_TRACE_PACKETS,
    OPT_TRACE_BITS,    OPT_SIM_HASHES,   OPT_SIM_RESETS, OPT_SIM_SETS,   OPT_SIM_TOLERANCE,
    OPT_SIM_ATTACK,    OPT_DEMO_SEED,    OPT_ROWS_TSV,   OPT_JSON,       OPT_QUIET,
    OPT_HELP,          OPT_END};
static const enum option_id traceback_exclusive[][4] = {
    {OPT_TRACE_TREE, OPT_TRACE_ROUTES, OPT_TRACE_NETWORK}, {OPT_ROWS_TSV, OPT_JSON}, {0}};
static const struct example traceback_examples[] = {
    {"tepal app traceback Cogentco.graphml --bits 512 --reset-hashes 5 --set-hashes 5 --tolerance "
     "2",
     "A network, and a filter that forgives two bits."},
    {"tepal app traceback --tree 4 --hops 15", "A tree of which everything is known."},
    {"tepal app traceback --routes routes.tsv.gz --packets 10k", "Along measured routes."},
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
    {.name = "app digest",
     .synopsis = "[REQUESTS...] [--proxies P] [--cache-size N] [--attack ATTACK]",
     .summary = "Caches that tell each other what they hold, and one that lies.",
     .about = "Replays the log REQUESTS over proxies, each with a cache of its own. A proxy "
              "advertises a filter of its cache; a request that is not in the own cache (a "
              "foreign one) goes to every sibling whose filter says yes. The last proxy is "
              "malicious and advertises a filter to attract requests. Counted are the requests of "
              "the others: found in a sibling that was asked; missed, although a sibling had it; "
              "wrong, sent to an honest sibling that did not have it; attracted by the malicious "
              "one, and of these deceived: it did not have it either. With Bloom filters and with "
              "generalized ones.\n\n"
              "REQUESTS has a request a line, in fields that tabs or spaces divide: who and what, "
              "or only what, or any fields (--key-column and the like). May be compressed.",
     .options = digest_options,
     .exclusive = digest_exclusive,
     .operand = OPERAND_FILE,
     .most_operands = SIZE_MAX,
     .examples = digest_examples,
     .run = digest_run},
    {.name = "app traceback",
     .synopsis = "(NETWORK | --routes ROUTES... | --tree N) [--hops H] [--packets P] [--bits M]",
     .summary = "Where did a packet come from? Its filter knows the routers it passed.",
     .about = "Every router adds itself to a small filter in the packet. The victim asks its "
              "neighbours whether the filter knows them, then theirs, and so walks back. The "
              "sender may have filled the filter before: not at all, with ones, or with the share "
              "of ones at which most routers pass. Told are the paths found in full, the hops "
              "found, the false branches (routers off the path that pass, next to one that was "
              "found on it), and all routers that the walk wrongly reaches; beside the branches "
              "that the model expects. With Bloom filters and with generalized ones.\n\n"
              "NETWORK is GraphML or an edge list (u, v), and packets take shortest paths between "
              "routers drawn at random; ROUTES are measured routes as stopset reads them.",
     .options = traceback_options,
     .exclusive = traceback_exclusive,
     .operand = OPERAND_FILE,
     .most_operands = SIZE_MAX,
     .examples = traceback_examples,
     .run = traceback_run},
};

const size_t app_count = sizeof apps / sizeof *apps;
