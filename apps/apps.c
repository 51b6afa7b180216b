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

/* ---- route ---------------------------------------------------------------------------------- */

static const enum option_id route_options[] = {OPT_ROUTE_FROM,
                                               OPT_ROUTE_TO,
                                               OPT_ROUTE_NETWORK,
                                               OPT_ROUTE_YES_BITS,
                                               OPT_ROUTE_NO_BITS,
                                               OPT_ROUTE_NO_FILTERS,
                                               OPT_ROUTE_HASHES,
                                               OPT_ROUTE_NO_HASHES,
                                               OPT_ROUTE_BLOOM_HASHES,
                                               OPT_POSITIONS,
                                               OPT_ROUTE_METHOD,
                                               OPT_ROUTE_ALLOCATIONS,
                                               OPT_DEMO_SEED,
                                               OPT_ROUTE_TTL,
                                               OPT_ROUTE_SVG,
                                               OPT_ROUTE_FIGURES,
                                               OPT_FORCE,
                                               OPT_ROWS_TSV,
                                               OPT_JSON,
                                               OPT_QUIET,
                                               OPT_HELP,
                                               OPT_END};
static const enum option_id route_exclusive[][4] = {{OPT_ROWS_TSV, OPT_JSON}, {0}};
static const struct example route_examples[] = {
    {"tepal app route network.graphml --svg network.svg",
     "The longest shortest path, and a picture of it."},
    {"tepal app route edges.tsv --from Oslo --to Rome --to Athens", "A tree to two cities."},
    {"tepal app route topology-zoo --method nextfit --figures out",
     "All networks of a folder: the paper's Figs. 16 to 18."},
    {NULL, NULL}};

/* ---- flows ---------------------------------------------------------------------------------- */

static const enum option_id flows_options[] = {
    OPT_FLOW_EACH,   OPT_FLOW_BITS,    OPT_FLOW_CHOICES, OPT_FLOW_IDLE,
    OPT_FLOW_INSERT, OPT_FLOW_ONE_WAY, OPT_FLOW_REPEAT,  OPT_FLOW_WINDOWS,
    OPT_FLOW_SVG,    OPT_FORCE,        OPT_DEMO_SEED,    OPT_ROWS_TSV,
    OPT_JSON,        OPT_QUIET,        OPT_HELP,         OPT_END};
static const enum option_id flows_exclusive[][4] = {
    {OPT_FLOW_BITS, OPT_FLOW_EACH}, {OPT_ROWS_TSV, OPT_JSON}, {0}};
static const struct example flows_examples[] = {
    {"tepal app flows capture.pcap", "Every kind of filter at 24 bits a flow."},
    {"tepal app flows packets.tsv.gz --repeat 50 --svg drift.svg",
     "A long run, and a picture of its drift."},
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
    {.name = "app route",
     .synopsis = "NETWORK... [--from NODE --to NODE...] [--method METHOD] [--svg OUT]",
     .summary = "Paths in packets: where headers forward falsely.",
     .about =
         "A path, or a tree to several nodes, is put into the packet as a filter of its links. "
         "Each node asks the header for all its links and forwards where it matches. Links that "
         "match falsely waste traffic, or lead the packet into a loop. A Bloom header and a "
         "yes-no header of the same size, which vetoes false links of the path's nodes, are "
         "compared: false links beside the path, false links taken in all, traversals wasted, and "
         "the share of headers that loop, each a mean over the allocations.\n\n"
         "A NETWORK is a GraphML file, as the Internet Topology Zoo has them, a tab-separated "
         "list of edges (a first line that starts with # may name the columns u, v and network), "
         "or a folder of such files, and may be compressed.",
     .options = route_options,
     .exclusive = route_exclusive,
     .operand = OPERAND_FILE,
     .least_operands = 1,
     .most_operands = SIZE_MAX,
     .operand_name = "a network is",
     .examples = route_examples,
     .run = route_run},
    {.name = "app flows",
     .synopsis = "[PACKETS...] [--bits-per-flow B | --bits M] [--repeat N] [--idle SECONDS]",
     .summary = "Flow tracking: what removals do to each kind of filter.",
     .about =
         "Replays the packets PACKETS against filters of equal memory (a counting filter, "
         "multichoice ones with three ways to remove, a fingerprint filter) and an exact table. A "
         "flow is added when it begins, asked for with every packet, and removed at FIN, RST or "
         "when it has been idle. A FIN or RST of a flow that never began is removed as well, "
         "since a device that has only the filter cannot tell: where the filter finds it, that "
         "damages others.\n\n"
         "PACKETS are pcap or pcapng captures, or tab-separated (capture, t, proto, src, sport, "
         "dst, dport, flags, len; a first line that starts with # may name other columns), and may "
         "be compressed. Printed are, for each kind, the false positives and false negatives of "
         "packets, the strangers that were removed, and, for the first, the middle and the last "
         "window of packets, the share of strangers found at its end and of false negatives in it.",
     .options = flows_options,
     .exclusive = flows_exclusive,
     .operand = OPERAND_FILE,
     .most_operands = SIZE_MAX,
     .examples = flows_examples,
     .run = flows_run},
};

const size_t app_count = sizeof apps / sizeof *apps;
