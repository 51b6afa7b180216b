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

/* ---- digest, traceback ---------------------------------------------------------------------- */

static const enum option_id digest_options[] = {
    OPT_REQUEST_FIELD, OPT_PROXY_FIELD, OPT_CLIENT_FIELD, OPT_REQUEST_SIZE_FIELD,
    OPT_PROXIES,       OPT_PROXY_CACHE, OPT_CACHE_BYTES,  OPT_REFRESH,
    OPT_SIM_BITS,      OPT_SIM_HASHES,  OPT_SIM_RESETS,   OPT_SIM_SETS,
    OPT_SIM_TOLERANCE, OPT_SIM_ATTACK,  OPT_JUDGE,        OPT_ROUNDS,
    OPT_DEMO_SEED,     OPT_ROWS_TSV,    OPT_JSON,         OPT_QUIET,
    OPT_HELP,          OPT_END};
static const enum option_id digest_exclusive[][4] = {
    {OPT_PROXY_FIELD, OPT_CLIENT_FIELD}, {OPT_ROWS_TSV, OPT_JSON}, {0}};
static const struct example digest_examples[] = {
    {"tepal app digest requests.tsv.gz --cache-size 500", "Three attacks, two kinds of filters."},
    {"tepal app digest access.log --field 7 --client-field 1 -P 8",
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
              "or only what, or any fields (--field and the like). May be compressed.",
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
