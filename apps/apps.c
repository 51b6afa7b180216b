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
