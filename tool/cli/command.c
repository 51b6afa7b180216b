/* command.c: the two tables, and nothing else. A new option or subcommand starts here. */
#include "cli/command.h"

#include <string.h>

#include <tepal/fingerprint.h>
#include <tepal/params.h>
#include <tepal/recycling.h>

#define ANY UINT64_MAX

/* A layout is named in three options that differ in their words only. */
#define LAYOUTS "flat partitioned blocked paired"

#define METHODS                                                                                    \
    "random-bits random min-fn max-fp ratio improved-min-fn improved-max-fp improved-ratio "       \
    "sacrifice net-effect least-fn"

const struct option options[OPTIONS] = {
    [OPT_OUTPUT] = {'o', "output", "FILE", TAKES_FILE, 0, 0, NULL,
                    "Write the filter to FILE, atomically: FILE has its old contents or the new "
                    "ones, never half. - is standard output, unless that is a terminal."},
    [OPT_FORCE] = {'f', "force", NULL, TAKES_NOTHING, 0, 0, NULL,
                   "Overwrite FILE even if it is not a filter, or is one of the filters read."},
    [OPT_KIND] = {0, "kind", "KIND", TAKES_KIND, 0, 0, NULL,
                  "The kind of filter (default bloom); `tepal kinds` lists them."},
    [OPT_FP] = {'p', "fp", "RATE", TAKES_RATE, 0, 0, NULL,
                "The false-positive rate to keep, as 1%, 0.01, 1e-2 or 1/100 (default 1%)."},
    [OPT_BITS_PER_KEY] = {0, "bits-per-key", "B", TAKES_POSITIVE, 0, 0, NULL,
                          "Take B bits a key instead, and the error that follows."},
    [OPT_BITS] = {'m', "bits", "M", TAKES_WHOLE, 1, (uint64_t)1 << 60, NULL,
                  "Take M bits in all instead (blocked and paired: a multiple of 512; "
                  "recycling: in each phase)."},
    [OPT_HASHES] = {'k', "hashes", "K", TAKES_WHOLE, 1, TEPAL_MAX_HASHES, NULL,
                    "The number of hashes (default: the best for the other numbers; 7 if there is "
                    "only --bits). At most 64; blocked 16, paired 32."},
    [OPT_CAPACITY] = {'n', "capacity", "N", TAKES_WHOLE, 1, ANY, NULL,
                      "Plan for N keys. Without it (and without --bits) the keys are counted "
                      "first, and their digests wait in memory or in a temporary file."},
    [OPT_PRINT_BITS] = {0, "fingerprint-bits", "F", TAKES_WHOLE, TEPAL_FINGERPRINT_MIN_BITS,
                        TEPAL_FINGERPRINT_MAX_BITS, NULL,
                        "fingerprint: the bits of a fingerprint, 4 to 32 (default: as the rate or "
                        "the size asks)."},
    [OPT_LAYOUT] = {'l', "layout", "LAYOUT", TAKES_CHOICE, 0, 0, LAYOUTS,
                    "Where the bits of a key lie (default flat): flat is the textbook filter; "
                    "blocked answers with one cache line, for a slightly higher error or size; "
                    "paired is close to both; partitioned gives each hash its own slice."},
    [OPT_POSITIONS] = {0, "positions", "RULE", TAKES_CHOICE, 0, 0, "colliding distinct",
                       "May two bits of one key coincide? (default colliding)"},
    [OPT_SEED] = {'s', "seed", "S", TAKES_SEED, 0, 0, NULL,
                  "The seed of the hash, decimal or 0x... (default: drawn at random, and told). "
                  "Filters to be merged need the same seed."},
    [OPT_KEY_FILE] = {0, "key-file", "FILE", TAKES_FILE, 0, 0, NULL,
                      "A secret key, 16 raw bytes or 32 hexadecimal digits: the filter is keyed "
                      "(SipHash), so that nobody without the key can aim at it."},
    [OPT_NULL] = {'0', "null", NULL, TAKES_NOTHING, 0, 0, NULL,
                  "Keys end with a NUL byte instead of a newline."},
    [OPT_HEX] = {'x', "hex", NULL, TAKES_NOTHING, 0, 0, NULL,
                 "Keys are written in hexadecimal; the bytes they stand for are the key."},
    [OPT_PLAIN] = {0, "plain", NULL, TAKES_NOTHING, 0, 0, NULL,
                   "Read key files as they are, even if they look like gzip or zstd."},
    [OPT_INVERT] = {'v', "invert", NULL, TAKES_NOTHING, 0, 0, NULL,
                    "Print the keys that are certainly not in the set."},
    [OPT_COUNT] = {'c', "count", NULL, TAKES_NOTHING, 0, 0, NULL,
                   "Print only how many keys there would be."},
    [OPT_SILENT] = {'q', "quiet", NULL, TAKES_NOTHING, 0, 0, NULL,
                    "Print nothing and stop at the first match; the exit status tells."},
    [OPT_TSV] = {'t', "tsv", NULL, TAKES_NOTHING, 0, 0, NULL,
                 "Print every key, a tab, and 1 (perhaps in the set) or 0 (certainly not)."},
    [OPT_LAZY] = {0, "lazy", NULL, TAKES_NOTHING, 0, 0, NULL,
                  "Check only the header of FILE, not the checksums of its cells: a large filter "
                  "opens at once."},
    [OPT_IN_PLACE_OUTPUT] = {'o', "output", "FILE", TAKES_FILE, 0, 0, NULL,
                             "Write to FILE and leave the filter that was read as it is. - is "
                             "standard output, unless that is a terminal."},
    [OPT_INTERSECT] = {0, "intersect", NULL, TAKES_NOTHING, 0, 0, NULL,
                       "Intersect instead of uniting. Every common key stays; the error is higher "
                       "than that of a filter built from the common keys."},
    [OPT_FOLD] = {0, "fold", "D", TAKES_WHOLE, 1, (uint64_t)1 << 60, NULL,
                  "Shrink to 1/D of the size, exactly as if it had been built so."},
    [OPT_NEW_BITS] = {'m', "bits", "M", TAKES_WHOLE, 1, (uint64_t)1 << 60, NULL,
                      "Shrink to M bits, which must divide the present number."},
    [OPT_NEW_LAYOUT] = {'l', "layout", "LAYOUT", TAKES_CHOICE, 0, 0, LAYOUTS,
                        "Change the layout. Possible only where both layouts put every key's bits "
                        "at the same places; otherwise build again from the keys."},
    [OPT_KEYS] = {'n', "keys", "N", TAKES_WHOLE, 0, ANY, NULL, "The number of keys."},
    [OPT_MODEL_LAYOUT] = {'l', "layout", "LAYOUT", TAKES_CHOICE, 0, 0, LAYOUTS,
                          "Another layout than the one in the model's name."},
    [OPT_DEMO_KEYS] = {'n', "keys", "N", TAKES_WHOLE, 1, (uint64_t)1 << 32, NULL,
                       "How many keys to add (default 1000000)."},
    [OPT_DEMO_LAYOUT] = {'l', "layout", "LAYOUT", TAKES_CHOICE, 0, 0, LAYOUTS,
                         "Only this layout (default: flat, blocked and paired)."},
    [OPT_DEMO_SEED] = {'s', "seed", "S", TAKES_SEED, 0, 0, NULL,
                       "The seed of the hash (default 1): the same seed gives the same figures."},
    [OPT_MEMBERS] = {0, "members", "KEYS", TAKES_FILE, 0, 0, NULL,
                     "The keys the filter was built from, all of them, one a line (- is standard "
                     "input)."},
    [OPT_AVOID] = {0, "avoid", "NEGATIVES", TAKES_FILE, 0, 0, NULL,
                   "The keys that must not be found, one a line (- is standard input). Those that "
                   "the filter does not find anyway are passed over."},
    [OPT_WEIGHTS] = {'w', "weights", NULL, TAKES_NOTHING, 0, 0, NULL,
                     "Each line of NEGATIVES is a key, a tab and a weight: how much its false "
                     "positive hurts. The weights of a repeated key are added."},
    [OPT_MEMBER_WEIGHTS] = {0, "member-weights", NULL, TAKES_NOTHING, 0, 0, NULL,
                            "Each line of KEYS is a key, a tab and a weight: how much it hurts to "
                            "lose it. --max-fn is then a share of the total weight."},
    [OPT_KNOWN] = {0, "known", "FILE", TAKES_FILE, 0, 0, NULL,
                   "More keys that are known not to be members: counted in chi and by --basis "
                   "all, but not aimed at."},
    [OPT_METHOD] = {0, "method", "METHOD", TAKES_CHOICE, 0, 0, METHODS,
                    "How to choose what is cleared (default sacrifice, which is the best): one of "
                    "random-bits, random, min-fn, max-fp, ratio, improved-min-fn, "
                    "improved-max-fp, improved-ratio, sacrifice. For a generalized filter, whose "
                    "bits are inverted: net-effect (its default) or least-fn."},
    [OPT_MAX_FN] = {0, "max-fn", "R", TAKES_SHARE, 0, 0, NULL,
                    "Lose at most the share R of the members, as 0.5%, 0.005 or 1/200. Without a "
                    "limit, all of NEGATIVES are removed, whatever that costs."},
    [OPT_MAX_FN_COUNT] = {0, "max-fn-count", "N", TAKES_WHOLE, 1, ANY, NULL,
                          "Lose at most N members."},
    [OPT_ORDER] = {0, "order", "ORDER", TAKES_CHOICE, 0, 0, "given weight",
                   "The order in which the methods other than sacrifice take the keys to avoid: "
                   "as given (the default), or the heaviest first."},
    [OPT_BASIS] = {0, "basis", "BASIS", TAKES_CHOICE, 0, 0, "b all",
                   "What max-fp, ratio and their improved forms count: the keys to avoid (b, the "
                   "default), or these and those of --known (all)."},
    [OPT_SWEEP] = {0, "sweep", NULL, TAKES_NOTHING, 0, 0, NULL,
                   "Afterwards clear every bit that only lost members own: it costs nothing more. "
                   "sacrifice always does."},
    [OPT_REMOVE_MEMBERS] = {0, "remove-members", NULL, TAKES_NOTHING, 0, 0, NULL,
                            "Remove keys of NEGATIVES even if they are members. Without it such "
                            "keys are reported and left alone."},
    [OPT_CLEAR_BITS] = {0, "clear-bits", "S", TAKES_WHOLE, 1, ANY, NULL,
                        "random-bits: how many bits to clear (default: as many as --max-fn "
                        "allows)."},
    [OPT_DRAW_SEED] = {'s', "seed", "S", TAKES_SEED, 0, 0, NULL,
                       "What random-bits and random draw from (default 1)."},
    [OPT_VICTIMS] = {0, "victims", "OUT", TAKES_FILE, 0, 0, NULL,
                     "Write the members that are lost to OUT, one a line."},
    [OPT_EXCEPTIONS] = {0, "exceptions", "OUT", TAKES_FILE, 0, 0, NULL,
                        "Write the lost members to OUT as an exception list, 16 bytes each: `tepal "
                        "query --exceptions OUT` finds them again."},
    [OPT_DRY_RUN] = {0, "dry-run", NULL, TAKES_NOTHING, 0, 0, NULL,
                     "Write no filter; print what each budget would remove, tab-separated, up to "
                     "the limit if one is given."},
    [OPT_SVG] = {0, "svg", "OUT", TAKES_FILE, 0, 0, NULL,
                 "With --dry-run: also draw the curve, as SVG, to OUT."},
    [OPT_WITH_EXCEPTIONS] = {0, "exceptions", "LIST", TAKES_FILE, 0, 0, NULL,
                             "The exception list that retouch wrote beside the filter: keys on it "
                             "are found although the filter lost them."},
    [OPT_UNIVERSE] = {'U', "universe", "N", TAKES_WHOLE, 2, ANY, NULL,
                      "retouched: how many keys there are in all, members included."},
    [OPT_BETA] = {'b', "beta", "R", TAKES_SHARE, 0, 0, NULL,
                  "retouched: the share of the false positives that is removed (default 1)."},
    [OPT_MODEL_CLEAR_BITS] = {0, "clear-bits", "S", TAKES_WHOLE, 0, ANY, NULL,
                              "retouched: how many bits are cleared at random (default 0)."},
    [OPT_RESET_HASHES] = {0, "reset-hashes", "K0", TAKES_WHOLE, 0, TEPAL_MAX_HASHES, NULL,
                          "generalized: hashes that reset bits (default 2)."},
    [OPT_SETTING_HASHES] = {0, "set-hashes", "K1", TAKES_WHOLE, 0, TEPAL_MAX_HASHES, NULL,
                            "generalized: hashes that set bits (default 2)."},
    [OPT_ZEROS] = {0, "zeros", "P0", TAKES_PART, 0, 0, NULL,
                   "generalized: the share of bits that are 0 at first, within 0..1 (default 1)."},
    [OPT_TOLERANCE] = {0, "tolerance", "B", TAKES_WHOLE, 0, TEPAL_MAX_HASHES - 1, NULL,
                       "generalized: a key with up to B inverted bits is still found (default 0; "
                       "with --fp or --fn: the best)."},
    [OPT_FN] = {0, "fn", "RATE", TAKES_PART, 0, 0, NULL,
                "generalized: the false-negative rate that no key may exceed; --fp is then the "
                "rate that no filter may exceed, whoever fills it (default 1% each). As a plan's "
                "constraint: at most; 0: none."},
    [OPT_YES_BITS] =
        {0, "yes-bits", "P", TAKES_WHOLE, 1, (uint64_t)1 << 60, NULL,
         "yesno: the bits of the yes-filter, with those of the no-filters. Without it the "
         "best layout for the whole size is taken."},
    [OPT_NO_BITS] = {0, "no-bits", "Q", TAKES_WHOLE, 1, UINT32_MAX, NULL,
                     "yesno: the bits of each no-filter."},
    [OPT_NO_FILTERS] = {0, "no-filters", "R", TAKES_WHOLE, 0, 64, NULL,
                        "yesno: how many no-filters; 0 makes the Bloom filter."},
    [OPT_NO_HASHES] = {0, "no-hashes", "K", TAKES_WHOLE, 1, TEPAL_MAX_HASHES, NULL,
                       "yesno: the number of hashes of a no-filter (default: the best)."},
    [OPT_VETO_AVOID] = {0, "avoid", "NEGATIVES", TAKES_FILE, 0, 0, NULL,
                        "yesno, cascade: keys that are known not to be in the set and will be "
                        "asked for, one a line (- is standard input). Members among them are "
                        "reported, and stay members."},
    [OPT_VETO_WEIGHTS] = {'w', "weights", NULL, TAKES_NOTHING, 0, 0, NULL,
                          "yesno, --auto: each line of NEGATIVES is a key, a tab and a weight: how "
                          "much its false positive hurts. (A cascade vetoes all alike.)"},
    [OPT_VETO_METHOD] = {0, "method", "METHOD", TAKES_CHOICE, 0, 0,
                         "greedy nextfit bestfit pairs local-search exact",
                         "yesno: how the false positives go to the no-filters (default "
                         "local-search): greedy, nextfit, bestfit, pairs, local-search, or exact, "
                         "which proves that no less can be left (small sets only)."},
    [OPT_OWN_SEEDS] = {0, "own-seeds", NULL, TAKES_NOTHING, 0, 0, NULL,
                       "yesno: every no-filter hashes in its own way, which leaves less. (With a "
                       "layout that is chosen, they do anyway.)"},
    [OPT_SALTS] = {0, "salts", "N", TAKES_WHOLE, 1, 1000000, NULL,
                   "yesno: build with up to N re-hashings of all keys and keep the best one."},
    [OPT_TOLERATE] = {0, "tolerate", "N", TAKES_WHOLE, 0, ANY, NULL,
                      "yesno: let up to N members be lost for what is left (default: none)."},
    [OPT_TIME_LIMIT] = {0, "time-limit", "SECONDS", TAKES_POSITIVE, 0, 0, NULL,
                        "yesno: let local-search and exact go on until they are done or so much "
                        "time has passed, for each re-hashing."},
    [OPT_NEGATIVES] = {0, "negatives", "N", TAKES_WHOLE, 0, ANY, NULL,
                       "yesno: how many negatives are known (default 0)."},
    [OPT_LEARN] = {0, "learn", "C", TAKES_WHOLE, 0, ANY, NULL,
                   "Learn from cycle C and replay the later ones (default: the first)."},
    [OPT_MAX_TRANSIT] = {0, "max-transit", "T", TAKES_WHOLE, 0, INT64_MAX, NULL,
                         "Keep only the destinations behind a penultimate node that is passed on "
                         "the way to at most T others: the column pen_transit, or counted."},
    [OPT_SET_BITS] = {'m', "bits", "M", TAKES_WHOLE, 1, (uint64_t)1 << 40, NULL,
                      "The size of the filters (default: 10000, 20000, ... 100000)."},
    [OPT_SET_HASHES] = {'k', "hashes", "K", TAKES_WHOLE, 1, TEPAL_MAX_HASHES, NULL,
                        "The number of hashes (default: the best for each size)."},
    [OPT_SET_BETA] = {'b', "beta", "R", TAKES_SHARE, 0, 0, NULL,
                      "Remove the share R of the false positives, the most troublesome first "
                      "(default: 1 %, 5 %, 10 % and 25 %)."},
    [OPT_SET_MAX_FN] = {0, "max-fn", "R", TAKES_SHARE, 0, 0, NULL,
                        "Instead: aim at all false positives, and lose at most the share R of "
                        "the penultimate nodes."},
    [OPT_ROUTE_FROM] = {0, "from", "NODE", TAKES_TEXT, 0, 0, NULL,
                        "The node that sends: a label, LABEL#ID, or #ID. Without --from and --to "
                        "the longest of all shortest paths is taken."},
    [OPT_ROUTE_TO] = {0, "to", "NODE", TAKES_TEXT, 0, 0, NULL,
                      "A node that receives; several make a tree of shortest paths."},
    [OPT_ROUTE_NETWORK] = {0, "network", "NAME", TAKES_TEXT, 0, 0, NULL,
                           "Only this one of the networks in a tab-separated file."},
    [OPT_ROUTE_YES_BITS] = {0, "yes-bits", "P", TAKES_WHOLE, 1, 512, NULL,
                            "Bits of the yes-filter (default 192)."},
    [OPT_ROUTE_NO_BITS] = {0, "no-bits", "Q", TAKES_WHOLE, 1, 511, NULL,
                           "Bits of each no-filter (default 32)."},
    [OPT_ROUTE_NO_FILTERS] = {0, "no-filters", "R", TAKES_WHOLE, 0, 64, NULL,
                              "The number of no-filters (default 2). P + Q R, the size of both "
                              "headers, must be 128, 256 or 512."},
    [OPT_ROUTE_HASHES] = {'k', "hashes", "K", TAKES_WHOLE, 1, TEPAL_MAX_HASHES, NULL,
                          "Hashes of the yes-filter (default 4)."},
    [OPT_ROUTE_NO_HASHES] = {0, "no-hashes", "K", TAKES_WHOLE, 1, TEPAL_MAX_HASHES, NULL,
                             "Hashes of the no-filters (default 3)."},
    [OPT_ROUTE_BLOOM_HASHES] = {0, "bloom-hashes", "K", TAKES_WHOLE, 1, TEPAL_MAX_HASHES, NULL,
                                "Hashes of the Bloom header (default 6)."},
    [OPT_ROUTE_METHOD] = {0, "method", "METHOD", TAKES_CHOICE, 0, 0,
                          "greedy nextfit bestfit pairs local-search exact",
                          "How the no-filters are filled (default local-search): one of greedy, "
                          "nextfit, bestfit, pairs, local-search, exact."},
    [OPT_ROUTE_ALLOCATIONS] = {0, "allocations", "N", TAKES_WHOLE, 1, 10000000, NULL,
                               "Measure N headers of each kind, with N seeds from S on (default "
                               "1000)."},
    [OPT_ROUTE_TTL] = {0, "ttl", "T", TAKES_WHOLE, 1, 255, NULL,
                       "A packet crosses at most T links (default 64)."},
    [OPT_ROUTE_SVG] = {0, "svg", "OUT", TAKES_FILE, 0, 0, NULL,
                       "Draw the network, as SVG, to OUT: the path, and the links that the headers "
                       "of seed S take falsely."},
    [OPT_ROUTE_FIGURES] = {0, "figures", "FOLDER", TAKES_FILE, 0, 0, NULL,
                           "Write the paper's Figs. 16 to 18 to FOLDER: fig16.tsv, fig16.svg and "
                           "so on."},
    [OPT_FLOW_BITS] = {'m', "bits", "M", TAKES_WHOLE, 512, (uint64_t)1 << 40, NULL,
                       "The memory of each filter, in bits, all in all."},
    [OPT_FLOW_EACH] = {0, "bits-per-flow", "B", TAKES_POSITIVE, 0, 0, NULL,
                       "B bits for each of the most flows that there are at once (default 24)."},
    [OPT_FLOW_CHOICES] = {0, "choices", "C", TAKES_WHOLE, 2, 64, NULL,
                          "The choices of the multichoice filters (default 4)."},
    [OPT_FLOW_IDLE] = {0, "idle", "SECONDS", TAKES_POSITIVE, 0, 0, NULL,
                       "A flow ends when it has been idle for so long (default 60)."},
    [OPT_FLOW_INSERT] = {0, "insert", "WHEN", TAKES_CHOICE, 0, 0, "syn first",
                         "A TCP flow begins with a SYN (syn, the default), or with any packet "
                         "that does not end it (first)."},
    [OPT_FLOW_ONE_WAY] = {0, "one-way", NULL, TAKES_NOTHING, 0, 0, NULL,
                          "The two directions of a connection are two flows."},
    [OPT_FLOW_REPEAT] = {0, "repeat", "N", TAKES_WHOLE, 1, 1000000, NULL,
                         "Replay the packets N times, each time with other flows: what a long run "
                         "does (default 1)."},
    [OPT_FLOW_WINDOWS] =
        {0, "windows", "N", TAKES_WHOLE, 1, 10000, NULL,
         "Look at the drift in N windows of as many packets each (default: one each "
         "time the packets are repeated, or 20)."},
    [OPT_FLOW_SVG] = {0, "svg", "OUT", TAKES_FILE, 0, 0, NULL,
                      "Also draw the drift, as SVG, to OUT."},
    [OPT_ROWS_TSV] = {'t', "tsv", NULL, TAKES_NOTHING, 0, 0, NULL,
                      "Print the rows tab-separated, with a line of names first."},
    [OPT_PAPER] = {0, "paper", "NUMBER", TAKES_CHOICE, 0, 0, "000 001 002 003 004",
                   "All experiments of one paper; may be given several times."},
    [OPT_ALL] = {'a', "all", NULL, TAKES_NOTHING, 0, 0, NULL, "All experiments."},
    [OPT_QUICK] = {0, "quick", NULL, TAKES_NOTHING, 0, 0, NULL,
                   "Fewer trials and wider intervals (the default)."},
    [OPT_FULL] = {0, "full", NULL, TAKES_NOTHING, 0, 0, NULL, "As many trials as the papers."},
    [OPT_LAB_OUT] = {'o', "out", "DIR", TAKES_FILE, 0, 0, NULL,
                     "run: put tables and pictures into DIR (default lab); report: write the page "
                     "to this file (default DIR/report.html)."},
    [OPT_JOBS] = {0, "jobs", "N", TAKES_WHOLE, 1, 64, NULL,
                  "Run N experiments at once (default: one a core). Results do not depend on it."},
    [OPT_SABOTAGE] = {0, "sabotage", NULL, TAKES_NOTHING, 0, 0, NULL,
                      "Use wrong methods on purpose, to see that the verdicts notice."},
    [OPT_CYCLE_PHASES] = {0, "phases", "P", TAKES_WHOLE, 1, TEPAL_RECYCLING_MAX_PHASES, NULL,
                          "recycling: how many phases of --bits bits there are (model: default 1; "
                          "build: 2). All are asked; the oldest is forgotten at a time."},
    [OPT_CYCLE_SIGMA] = {0, "sigma", "S", TAKES_WHOLE, 1, (uint64_t)1 << 60, NULL,
                         "recycling: a phase is full when more than S of its bits would be set "
                         "(default: as --fp asks, 1%)."},
    [OPT_CYCLE_MESSAGES] = {0, "messages", "N", TAKES_WHOLE, 1, ANY, NULL,
                            "recycling: a phase is full when more than N messages would have set "
                            "bits in it."},
    [OPT_DISTINCT] = {0, "distinct", NULL, TAKES_NOTHING, 0, 0, NULL,
                      "The same as --positions distinct."},
    [OPT_RETAIN] = {0, "retain", NULL, TAKES_NOTHING, 0, 0, NULL,
                    "recycling: the trigger (the message that finds the phase full) is the first "
                    "message of the new cycle."},
    [OPT_FORGET] = {0, "forget-trigger", NULL, TAKES_NOTHING, 0, 0, NULL,
                    "recycling: the trigger (the message that finds the phase full) is not the "
                    "first message of the new cycle."},
    [OPT_KEEP_TRIGGER] = {0, "keep-trigger", NULL, TAKES_NOTHING, 0, 0, NULL,
                          "recycling: the trigger stays in the phase that freezes."},
    [OPT_ONLY_MISSES] = {0, "only-misses", NULL, TAKES_NOTHING, 0, 0, NULL,
                         "recycling: insert only messages that no phase has."},
    [OPT_LIKE] =
        {0, "like", "FILE", TAKES_FILE, 0, 0, NULL,
         "Agreed is what the filter FILE has: kind, layout, positions, bits, hashes, seed, "
         "and whether it is keyed, with which key. The options below change single terms."},
    [OPT_AGREED_KIND] = {0, "kind", "KIND", TAKES_KIND, 0, 0, NULL, "The kind that was agreed."},
    [OPT_AGREED_LAYOUT] = {'l', "layout", "LAYOUT", TAKES_CHOICE, 0, 0, LAYOUTS,
                           "The layout that was agreed."},
    [OPT_AGREED_POSITIONS] = {0, "positions", "RULE", TAKES_CHOICE, 0, 0, "colliding distinct",
                              "The rule for positions that was agreed."},
    [OPT_AGREED_BITS] = {'m', "bits", "M", TAKES_WHOLE, 1, (uint64_t)1 << 60, NULL,
                         "The number of bits that was agreed."},
    [OPT_AGREED_HASHES] = {'k', "hashes", "K", TAKES_WHOLE, 1, TEPAL_MAX_HASHES, NULL,
                           "The number of hashes that was agreed."},
    [OPT_AGREED_SEED] = {'s', "seed", "S", TAKES_SEED, 0, 0, NULL, "The seed that was agreed."},
    [OPT_AGREED_RESETS] = {0, "reset-hashes", "K0", TAKES_WHOLE, 0, TEPAL_MAX_HASHES, NULL,
                           "generalized: how many hashes reset, together with --set-hashes."},
    [OPT_AGREED_SETS] = {0, "set-hashes", "K1", TAKES_WHOLE, 0, TEPAL_MAX_HASHES, NULL,
                         "generalized: how many hashes set."},
    [OPT_AGREED_TOLERANCE] = {0, "tolerance", "B", TAKES_WHOLE, 0, TEPAL_MAX_HASHES - 1, NULL,
                              "generalized: how many inverted bits a query forgives."},
    [OPT_AGREED_KEY_FILE] = {0, "key-file", "FILE", TAKES_FILE, 0, 0, NULL,
                             "The filter must be keyed with the secret key in FILE."},
    [OPT_UNKEYED] = {0, "unkeyed", NULL, TAKES_NOTHING, 0, 0, NULL,
                     "The filter must not be keyed."},
    [OPT_MAX_BYTES] = {0, "max-bytes", "N", TAKES_WHOLE, 1, ANY, NULL,
                       "Refuse, by its header, what has more than N bytes (default 1Gi)."},
    [OPT_MAX_KEYS] = {0, "max-keys", "N", TAKES_WHOLE, 1, ANY, NULL,
                      "Refuse a filter that claims more than N keys."},
    [OPT_CLAIMED_KEYS] = {'n', "keys", "N", TAKES_WHOLE, 1, ANY, NULL,
                          "Judge the fill by N keys (default: as many as the filter claims)."},
    [OPT_REPEATED_KEYS] = {0, "repeated", NULL, TAKES_NOTHING, 0, 0, NULL,
                           "The peer may have added the same key more than once: a filter that is "
                           "emptier than its number of keys explains is taken."},
    [OPT_MAX_FP] = {'p', "max-fp", "RATE", TAKES_SHARE, 0, 0, NULL,
                    "Refuse a filter whose bits pass more than this share of all keys (default "
                    "10 %)."},
    [OPT_MIN_PROBABILITY] = {0, "min-probability", "P", TAKES_RATE, 0, 0, NULL,
                             "Refuse a fill that an honest filter has with a chance below P "
                             "(default 1e-6)."},
    [OPT_ANY_FILL] = {0, "any-fill", NULL, TAKES_NOTHING, 0, 0, NULL,
                      "Do not judge by the fill, only by the rate."},
    [OPT_ACCEPTED_OUTPUT] = {'o', "output", "OUT", TAKES_FILE, 0, 0, NULL,
                             "Write an accepted filter to OUT, atomically; if OUT is a directory, "
                             "into it under its own name, and there may be several. A refused one "
                             "is never written."},
    [OPT_VERDICT_QUIET] = {'q', "quiet", NULL, TAKES_NOTHING, 0, 0, NULL,
                           "Print nothing; the exit status tells."},
    [OPT_MEMORY] = {'M', "memory", "SIZE", TAKES_WHOLE, 1, (uint64_t)1 << 56, NULL,
                    "The memory of the filter in bytes, all phases together (default 64Mi)."},
    [OPT_STREAM_FP] = {'p', "fp", "RATE", TAKES_RATE, 0, 0, NULL,
                       "The share of new lines that may be taken for repeats, on average, as 1%, "
                       "0.01, 1e-2 or 1/100 (default 1%). It decides when to recycle, unless one "
                       "of the following does."},
    [OPT_PHASES] = {0, "phases", "P", TAKES_WHOLE, 1, TEPAL_RECYCLING_MAX_PHASES, NULL,
                    "Divide the memory into P phases, of which the oldest is forgotten at a time "
                    "(default 2)."},
    [OPT_SIGMA] = {0, "sigma", "S", TAKES_WHOLE, 1, (uint64_t)1 << 60, NULL,
                   "Recycle when more than S bits of a phase would be set."},
    [OPT_CYCLE_COUNT] = {0, "count", "N", TAKES_WHOLE, 1, ANY, NULL,
                         "Recycle after N lines that set bits."},
    [OPT_EVERY] = {0, "every", "TIME", TAKES_DURATION, 0, 0, NULL,
                   "Recycle after a time, as 90s, 10m or 2h, by the clock: with 2 phases of 10m a "
                   "line is remembered for at least 10 and at most 20 minutes."},
    [OPT_STREAM_ONLY_MISSES] =
        {0, "only-misses", NULL, TAKES_NOTHING, 0, 0, NULL,
         "Remember a line from when it last came out as new, not from when it last came: one that "
         "keeps coming comes out again and again."},
    [OPT_STREAM_HASHES] = {'k', "hashes", "K", TAKES_WHOLE, 1, TEPAL_MAX_HASHES, NULL,
                           "The number of hashes (default: the best for the other numbers)."},
    [OPT_STREAM_LAYOUT] = {'l', "layout", "LAYOUT", TAKES_CHOICE, 0, 0, LAYOUTS,
                           "Where the bits of a line lie: blocked (the default) is the fastest, "
                           "flat remembers somewhat more in the same memory."},
    [OPT_FIELD] = {0, "field", "N", TAKES_WHOLE, 1, UINT32_MAX, NULL,
                   "The key is the N-th field of the line, as awk counts them: between blanks. A "
                   "line with fewer fields has the empty key."},
    [OPT_DELIMITER] = {0, "delimiter", "C", TAKES_BYTE, 0, 0, NULL,
                       "Fields are divided by the character C, as cut has it (\\t is a tab)."},
    [OPT_REPEATS] = {'d', "repeats", NULL, TAKES_NOTHING, 0, 0, NULL,
                     "Print the repeats instead of the first sightings."},
    [OPT_COUNTS] = {'c', "count-only", NULL, TAKES_NOTHING, 0, 0, NULL,
                    "Print only how many lines there would be (with --json: all figures)."},
    [OPT_STATE] = {0, "state", "FILE", TAKES_FILE, 0, 0, NULL,
                   "Go on from the filter in FILE, and leave it there at the end, atomically. It "
                   "is made if it does not exist; one that was made with other options is refused. "
                   "While this runs, FILE.lock keeps others out."},
    [OPT_SAVE_EVERY] = {0, "save-every", "TIME", TAKES_DURATION, 0, 0, NULL,
                        "Save the state this often (default 60s): what a crash loses at most."},
    [OPT_FIGURES_JSON] = {'j', "json", NULL, TAKES_NOTHING, 0, 0, NULL,
                          "The figures as JSON, one object a line (on standard error, or with -c "
                          "on standard output)."},
    [OPT_SAMPLE] = {0, "sample", "R", TAKES_SHARE, 0, 0, NULL,
                    "Watch only the share R of the keys, chosen by their hash, as 1% or 1/100: "
                    "memory for these only. Gaps are those of the whole stream."},
    [OPT_SAVE_GAPS] = {0, "save", "FILE", TAKES_FILE, 0, 0, NULL,
                       "Write the distribution of the gaps to FILE, tab-separated: gap, repeats, "
                       "share of the repeats with a longer one."},
    [OPT_GAPS_SVG] = {0, "svg", "FILE", TAKES_FILE, 0, 0, NULL,
                      "Draw the false negatives over the memory to FILE."},
    [OPT_GAPS_MEMORY] = {'M', "memory", "SIZE", TAKES_WHOLE, 1, (uint64_t)1 << 56, NULL,
                         "Only this much memory, in bytes (default: powers of 2, up to enough for "
                         "all keys)."},
    [OPT_CACHE_SIZE] = {0, "cache-size", "SIZE", TAKES_WHOLE, 1, (uint64_t)1 << 56, NULL,
                        "The size of the cache: objects, or with --size-field bytes."},
    [OPT_SIZE_FIELD] = {0, "size-field", "N", TAKES_WHOLE, 1, UINT32_MAX, NULL,
                        "The N-th field of a line is the size of the object in bytes (- is 0)."},
    [OPT_ADMIT_MEMORY] = {'M', "memory", "SIZE", TAKES_WHOLE, 1, (uint64_t)1 << 56, NULL,
                          "The memory of the filter in bytes (default: enough for 1/16, 1/4, 1 and "
                          "4 times as many objects as the cache holds, one row each)."},
    [OPT_CELLS] = {0, "cells", "M", TAKES_WHOLE, 1, (uint64_t)1 << 60, NULL,
                   "counting: M counters in all (blocked and paired: a multiple of 128). A "
                   "counter takes 5 bits: 4, and one beside it for queries."},
    [OPT_CHOICES] = {0, "choices", "C", TAKES_WHOLE, 1, 64, NULL,
                     "counting: groups of hashes to choose from when a key is added, 1 to 64 "
                     "(default 1, the counting Bloom filter)."},
    [OPT_RULE] = {0, "rule", "RULE", TAKES_CHOICE, 0, 0, "improved-greedy greedy least-increase",
                  "counting: how to choose: improved-greedy or greedy; least-increase on the "
                  "blocked and paired layouts. (The default is the first that the layout has.)"},
    [OPT_POLICY] = {0, "policy", "POLICY", TAKES_CHOICE, 0, 0, "keep remove",
                    "counting: what removal without a receipt does with a key that is found in "
                    "several groups: keep it (the default), or remove it from one of them, which "
                    "is often the wrong one."},
    [OPT_RECEIPTS_OUT] = {0, "receipts", "FILE", TAKES_FILE, 0, 0, NULL,
                          "counting: write each key, a tab and the group it was added to, to "
                          "FILE: what remove --receipts reads."},
    [OPT_RECEIPTS_IN] = {0, "receipts", "FILE", TAKES_FILE, 0, 0, NULL,
                         "counting: the keys, each with a tab and its group behind it, as build "
                         "and add write them (- is standard input)."},
    [OPT_AUDIT_SVG] = {0, "svg", "OUT", TAKES_FILE, 0, 0, NULL,
                       "Also draw the load of the counters, as SVG, to OUT."},
    [OPT_P0] = {0, "p0", "R", TAKES_SHARE, 0, 0, NULL,
                "counting: the share of counters that are 0, as measured (tepal info)."},
    [OPT_P1] = {0, "p1", "R", TAKES_SHARE, 0, 0, NULL,
                "counting: the share of counters that are 1, as measured."},
    [OPT_WRONG] = {0, "wrong", "N", TAKES_WHOLE, 0, ANY, NULL,
                   "counting: how many keys are removed that were never added (default 1)."},
    [OPT_TO] = {0, "to", "KIND", TAKES_CHOICE, 0, 0, "bloom bits",
                "Drop the counters of a counting filter, for sending. bloom: a Bloom filter; needs "
                "the flat or partitioned layout and one choice. bits: the same filter without "
                "counters, which answers alike on any layout; nothing can be added or removed."},
    [OPT_REQUEST_FIELD] =
        {0, "field", "C", TAKES_TEXT, 0, 0, NULL,
         "Which field is asked for: a number from 1, or its name in the first line "
         "(default: url, key or object; the last of one or two)."},
    [OPT_CLIENT_FIELD] = {0, "client-field", "C", TAKES_TEXT, 0, 0, NULL,
                          "Which field says who asks: clients share the proxies, by hash."},
    [OPT_PROXY_FIELD] = {0, "proxy-field", "C", TAKES_TEXT, 0, 0, NULL,
                         "Which field names the proxy itself (default: proxy, client or host; the "
                         "first of two; else the proxies take turns)."},
    [OPT_REQUEST_SIZE_FIELD] = {0, "size-field", "C", TAKES_TEXT, 0, 0, NULL,
                                "Which field says how many bytes it has, for --cache-bytes."},
    [OPT_PROXIES] = {'P', "proxies", "P", TAKES_WHOLE, 2, 4096, NULL,
                     "Share those who ask among P proxies, by hash (default: a proxy each; 4 with "
                     "--client-field, and if nobody is named)."},
    [OPT_PROXY_CACHE] = {0, "cache-size", "N", TAKES_WHOLE, 1, (uint64_t)1 << 31, NULL,
                         "A cache holds N objects (default 1000); the least recently used go."},
    [OPT_CACHE_BYTES] = {0, "cache-bytes", "N", TAKES_WHOLE, 1, ANY, NULL,
                         "A cache holds N bytes (with --cache-size: whichever is reached first)."},
    [OPT_REFRESH] = {0, "refresh", "N", TAKES_WHOLE, 1, ANY, NULL,
                     "A proxy makes its filter anew after N new objects (default: a tenth of the "
                     "cache)."},
    [OPT_ROUNDS] = {'r', "rounds", "R", TAKES_WHOLE, 1, 1000000, NULL,
                    "Repeat with R seeds, and add up (default 1)."},
    [OPT_JUDGE] = {0, "judge", NULL, TAKES_NOTHING, 0, 0, NULL,
                   "Take a filter only if `tepal receive` would, by its defaults."},
    [OPT_SIM_BITS] = {'m', "bits", "M", TAKES_WHOLE, 1, (uint64_t)1 << 40, NULL,
                      "The size of every filter (default: 64 bits for an object in the cache)."},
    [OPT_SIM_HASHES] = {'k', "hashes", "K", TAKES_WHOLE, 1, TEPAL_MAX_HASHES, NULL,
                        "Bloom: the number of hashes (default: as many as generalized has)."},
    [OPT_SIM_RESETS] = {0, "reset-hashes", "K0", TAKES_WHOLE, 0, TEPAL_MAX_HASHES, NULL,
                        "generalized: how many hashes reset (default 2)."},
    [OPT_SIM_SETS] = {0, "set-hashes", "K1", TAKES_WHOLE, 0, TEPAL_MAX_HASHES, NULL,
                      "generalized: how many hashes set (default 2)."},
    [OPT_SIM_TOLERANCE] = {0, "tolerance", "B", TAKES_WHOLE, 0, TEPAL_MAX_HASHES - 1, NULL,
                           "generalized: how many inverted bits are forgiven (default 0)."},
    [OPT_SIM_ATTACK] = {0, "attack", "ATTACK", TAKES_CHOICE, 0, 0, "none all-ones worst",
                        "Only this attack (default: all three): none; all-ones; worst, the share "
                        "of ones at which most keys pass."},
    [OPT_TRACE_NETWORK] = {0, "network", "NAME", TAKES_TEXT, 0, 0, NULL,
                           "The one to take of a file that has several networks."},
    [OPT_TRACE_TREE] = {0, "tree", "N", TAKES_WHOLE, 1, 1000, NULL,
                        "Instead of a network: routers with N neighbours each, none of them met "
                        "twice."},
    [OPT_TRACE_ROUTES] = {0, "routes", NULL, TAKES_NOTHING, 0, 0, NULL,
                          "The files are measured routes: packets take these, and their routers "
                          "and links are the network."},
    [OPT_TRACE_HOPS] = {0, "hops", "H", TAKES_WHOLE, 1, 254, NULL,
                        "Paths of H routers (default: 15 in a tree, any length in a network)."},
    [OPT_TRACE_BITS] = {'m', "bits", "M", TAKES_WHOLE, 1, 65536, NULL,
                        "The size of the filter in a packet (default 256)."},
    [OPT_TRACE_PACKETS] = {0, "packets", "N", TAKES_WHOLE, 1, 100000000, NULL,
                           "How many packets to send, each with another seed (default 1000)."},
    [OPT_MAN] = {0, "man", NULL, TAKES_NOTHING, 0, 0, NULL,
                 "Print the manual page, in roff: tepal help --man | man -l -"},
    [OPT_WISH_KEYS] = {'n', "keys", "N", TAKES_WHOLE, 1, (uint64_t)1 << 50, NULL,
                       "The number of keys; with --endless, how many of the latest must be "
                       "remembered. Without it, as many as the memory takes."},
    [OPT_WISH_MEMORY] = {'M', "memory", "SIZE", TAKES_WHOLE, 1, (uint64_t)1 << 56, NULL,
                         "At most so many bytes of cells."},
    [OPT_WISH_BITS_PER_KEY] =
        {0, "bits-per-key", "B", TAKES_POSITIVE, 0, 0, NULL,
         "At most B bits a key (a million keys if their number is not known)."},
    [OPT_WISH_FP] = {'p', "fp", "RATE", TAKES_RATE, 0, 0, NULL,
                     "False positives at most, as 1%, 0.01, 1e-2 or 1/100 (default: as few as the "
                     "memory allows, or 1%)."},
    [OPT_FP_AVERAGE] = {0, "fp-average", "RATE", TAKES_RATE, 0, 0, NULL,
                        "With --endless: false positives at most, on average over time."},
    [OPT_WISH_FN] = {0, "fn", "RATE", TAKES_PART, 0, 0, NULL,
                     "False negatives at most; 0: none (default: none if possible, else as many "
                     "as false positives)."},
    [OPT_DELETES] = {0, "deletes", NULL, TAKES_NOTHING, 0, 0, NULL, "Keys will be removed."},
    [OPT_WRONG_DELETES] = {0, "wrong-deletes", "RATE", TAKES_PART, 0, 0, NULL,
                           "With --deletes: removals of keys that are not there, for each key "
                           "there is."},
    [OPT_UNTRUSTED] = {0, "untrusted", NULL, TAKES_NOTHING, 0, 0, NULL,
                       "The filter comes from strangers, or goes to them: its error must be "
                       "bounded, whoever fills it."},
    [OPT_KNOWN_NEGATIVES] = {0, "known-negatives", "N", TAKES_FILE, 0, 0, NULL,
                             "How many keys are known to be asked for and not to be in the set, or "
                             "a file with them. --fp is then that of these keys."},
    [OPT_WISH_WEIGHTS] =
        {'w', "weights", NULL, TAKES_NOTHING, 0, 0, NULL,
         "Each line of the negatives (strangers) is a key, a tab and a weight: how "
         "often it is asked for, or how much its false positive hurts. False "
         "positives are then shares of the weight, not of the keys."},
    [OPT_ENDLESS] = {0, "endless", NULL, TAKES_NOTHING, 0, 0, NULL, "The stream never ends."},
    [OPT_WISH_GAPS] = {0, "gaps", "FILE", TAKES_FILE, 0, 0, NULL,
                       "With --endless: the stream's gaps, a file that tepal gaps saved."},
    [OPT_WISH_STREAM] = {0, "stream", "LAW", TAKES_TEXT, 0, 0, NULL,
                         "With --endless: the law of the gaps, geometric:MEAN[,NEW] or "
                         "pareto:SHAPE,SCALE[,NEW] (NEW: share of new keys), or of the keys, "
                         "zipf:EXPONENT,KEYS."},
    [OPT_HEADER_BITS] = {0, "header-bits", "M", TAKES_WHOLE, 1, (uint64_t)1 << 20, NULL,
                         "Exactly M bits, in the header of a packet."},
    [OPT_PREFER] = {0, "prefer", "WHAT", TAKES_CHOICE, 0, 0, "size speed",
                    "What ranks first among plans that keep the rates: size (default), or speed: "
                    "cache lines a query."},
    [OPT_COST_FP] = {0, "cost-fp", "C", TAKES_POSITIVE, 0, 0, NULL,
                     "The cost of one false positive (default 1)."},
    [OPT_COST_FN] = {0, "cost-fn", "C", TAKES_POSITIVE, 0, 0, NULL,
                     "The cost of one false negative (default 1). With either cost, plans with "
                     "false negatives rank among the others."},
    [OPT_PLAN_SVG] = {0, "svg", "FILE", TAKES_FILE, 0, 0, NULL,
                      "Draw false positives over memory, for every kind that is feasible."},
    [OPT_PLAN_ALL] = {'a', "all", NULL, TAKES_NOTHING, 0, 0, NULL,
                      "List every layout of every kind. (Without it, those of the choice and the "
                      "best of each other kind; --json has all.)"},
    [OPT_EXPLAIN] = {0, "explain", NULL, TAKES_NOTHING, 0, 0, NULL,
                     "Print the equations of every kind that is feasible, with the numbers in."},
    [OPT_AUTO] = {0, "auto", NULL, TAKES_NOTHING, 0, 0, NULL,
                  "Count the keys, plan as tepal plan does from the constraints that are given "
                  "(--fp, --fn, --memory, --deletes, ...; --avoid: the known negatives), and build "
                  "the best plan."},
    [OPT_PLAN_FILE] = {0, "plan", "PLAN", TAKES_FILE, 0, 0, NULL,
                       "Build the best plan of PLAN, which tepal plan --json wrote."},
    [OPT_STRANGERS] = {0, "strangers", "KEYS", TAKES_FILE, 0, 0, NULL,
                       "Keys that are not in the set; members among them are left out."},
    [OPT_MEASURE_MEMBERS] = {0, "members", "KEYS", TAKES_FILE, 0, 0, NULL, "The keys of the set."},
    [OPT_MEASURE_PLAN] = {0, "plan", "PLAN", TAKES_FILE, 0, 0, NULL,
                          "What was promised: PLAN, which tepal plan --json wrote (default: what "
                          "the model of the kind says of FILE)."},
    [OPT_COMPARE_MEMBERS] = {0, "members", "KEYS", TAKES_FILE, 0, 0, NULL, "The keys of the set."},
    [OPT_COMPARE_NEGATIVES] = {0, "negatives", "KEYS", TAKES_FILE, 0, 0, NULL,
                               "Keys that are known not to be in the set, for the kinds that "
                               "veto."},
    [OPT_COMPARE_QUERIES] = {0, "queries", "KEYS", TAKES_FILE, 0, 0, NULL,
                             "Keys to ask for, members or not (default: the negatives, or a "
                             "million keys that are none)."},
    [OPT_COMPARE_SVG] = {0, "svg", "FILE", TAKES_FILE, 0, 0, NULL,
                         "Draw false positives over the time of a query."},
    [OPT_JSON] = {'j', "json", NULL, TAKES_NOTHING, 0, 0, NULL,
                  "Print the result on standard output as JSON, one object a line."},
    [OPT_QUIET] = {'q', "quiet", NULL, TAKES_NOTHING, 0, 0, NULL,
                   "No summary, no warnings and no progress on standard error."},
    [OPT_HELP] = {'h', "help", NULL, TAKES_NOTHING, 0, 0, NULL, "Print this help."},
};

/* ---- build ---------------------------------------------------------------------------------- */

/* Options of the generalized filter, in build and in model. */
#define GENERALIZED_BUILD OPT_RESET_HASHES, OPT_SETTING_HASHES, OPT_ZEROS, OPT_TOLERANCE, OPT_FN

/* Options of the counting filter. */
#define COUNTING_BUILD OPT_CELLS, OPT_CHOICES, OPT_RULE, OPT_POLICY, OPT_RECEIPTS_OUT
#define COUNTING_MODEL OPT_CELLS, OPT_CHOICES, OPT_RULE, OPT_P0, OPT_P1, OPT_WRONG

/* Options of the yes-no filter and the cascade. */
#define YESNO_SIZES OPT_YES_BITS, OPT_NO_BITS, OPT_NO_FILTERS, OPT_NO_HASHES, OPT_OWN_SEEDS
#define YESNO_BUILD                                                                                \
    OPT_VETO_AVOID, OPT_VETO_WEIGHTS, YESNO_SIZES, OPT_VETO_METHOD, OPT_SALTS, OPT_TOLERATE,       \
        OPT_TIME_LIMIT
#define YESNO_MODEL OPT_NEGATIVES, YESNO_SIZES

/* Options of the recycling filter, in build and in model. */
#define RECYCLING_BUILD                                                                            \
    OPT_CYCLE_PHASES, OPT_CYCLE_SIGMA, OPT_CYCLE_MESSAGES, OPT_FORGET, OPT_KEEP_TRIGGER,           \
        OPT_ONLY_MISSES
#define RECYCLING_MODEL                                                                            \
    OPT_CYCLE_PHASES, OPT_CYCLE_SIGMA, OPT_DISTINCT, OPT_RETAIN, OPT_KEEP_TRIGGER

/* What plan, build --auto and compare understand alike. */
#define WISH_OPTIONS                                                                               \
    OPT_WISH_MEMORY, OPT_FP_AVERAGE, OPT_DELETES, OPT_WRONG_DELETES, OPT_UNTRUSTED, OPT_ENDLESS,   \
        OPT_WISH_GAPS, OPT_WISH_STREAM, OPT_HEADER_BITS, OPT_PREFER, OPT_COST_FP, OPT_COST_FN

static const enum option_id plan_options[] = {OPT_WISH_KEYS,    OPT_WISH_FP,
                                              OPT_WISH_FN,      OPT_WISH_BITS_PER_KEY,
                                              WISH_OPTIONS,     OPT_KNOWN_NEGATIVES,
                                              OPT_WISH_WEIGHTS, OPT_PLAN_ALL,
                                              OPT_EXPLAIN,      OPT_PLAN_SVG,
                                              OPT_FORCE,        OPT_NULL,
                                              OPT_HEX,          OPT_PLAIN,
                                              OPT_JSON,         OPT_QUIET,
                                              OPT_HELP,         OPT_END};
static const enum option_id plan_exclusive[][4] = {
    {OPT_WISH_MEMORY, OPT_WISH_BITS_PER_KEY, OPT_HEADER_BITS},
    {OPT_WISH_GAPS, OPT_WISH_STREAM},
    {OPT_EXPLAIN, OPT_JSON},
    {0}};
static const struct example plan_examples[] = {
    {"tepal plan --keys 10M --fp 1%", "The smallest filter of ten million keys."},
    {"tepal plan --keys 1M --deletes --wrong-deletes 1% --fp 0.1%",
     "Keys leave again, and some removals are wrong."},
    {"tepal plan --keys 1M --fp 0.1% --known-negatives asked.tsv --weights",
     "Known negatives, each with how often it is asked for."},
    {"tepal plan --keys 1M --memory 1Mi --cost-fp 1 --cost-fn 20", "The least cost in a mebibyte."},
    {"tepal plan --endless --keys 1M --fp 1%", "A stream without end."},
    {NULL, NULL}};

static const enum option_id measure_options[] = {
    OPT_MEASURE_MEMBERS, OPT_STRANGERS, OPT_WISH_WEIGHTS, OPT_MEASURE_PLAN, OPT_NULL, OPT_HEX,
    OPT_PLAIN,           OPT_KEY_FILE,  OPT_JSON,         OPT_QUIET,        OPT_HELP, OPT_END};
static const struct example measure_examples[] = {
    {"tepal measure seen.tepal --members seen.txt --strangers others.txt",
     "Are the errors what was promised?"},
    {NULL, NULL}};

static const enum option_id compare_options[] = {OPT_COMPARE_MEMBERS,
                                                 OPT_COMPARE_NEGATIVES,
                                                 OPT_WISH_WEIGHTS,
                                                 OPT_COMPARE_QUERIES,
                                                 OPT_ENDLESS,
                                                 OPT_WISH_MEMORY,
                                                 OPT_WISH_BITS_PER_KEY,
                                                 OPT_COST_FP,
                                                 OPT_COST_FN,
                                                 OPT_SEED,
                                                 OPT_COMPARE_SVG,
                                                 OPT_FORCE,
                                                 OPT_NULL,
                                                 OPT_HEX,
                                                 OPT_PLAIN,
                                                 OPT_JSON,
                                                 OPT_QUIET,
                                                 OPT_HELP,
                                                 OPT_END};
static const enum option_id compare_exclusive[][4] = {{OPT_WISH_MEMORY, OPT_WISH_BITS_PER_KEY},
                                                      {OPT_ENDLESS, OPT_COMPARE_NEGATIVES},
                                                      {OPT_ENDLESS, OPT_COMPARE_QUERIES},
                                                      {0}};
static const struct example compare_examples[] = {
    {"tepal compare --members seen.txt --negatives others.txt --bits-per-key 10",
     "Every kind at ten bits a key."},
    {"tepal compare --endless --members log.txt --memory 64Ki",
     "What goes on for ever, on a stream of your own."},
    {NULL, NULL}};

static const enum option_id build_options[] = {
    OPT_OUTPUT,     OPT_FP,         OPT_BITS_PER_KEY, OPT_BITS,        OPT_HASHES,
    OPT_CAPACITY,   OPT_LAYOUT,     OPT_POSITIONS,    OPT_KIND,        OPT_SEED,
    OPT_NULL,       OPT_HEX,        OPT_PLAIN,        OPT_KEY_FILE,    GENERALIZED_BUILD,
    COUNTING_BUILD, OPT_PRINT_BITS, YESNO_BUILD,      RECYCLING_BUILD, OPT_AUTO,
    OPT_PLAN_FILE,  WISH_OPTIONS,   OPT_FORCE,        OPT_JSON,        OPT_QUIET,
    OPT_HELP,       OPT_END};
static const struct example build_examples[] = {
    {"tepal build domains.txt -o domains.tepal", "A filter with 1 % false positives."},
    {"zcat log.gz | cut -f1 | tepal build -o seen.tepal --capacity 10M --fp 1/1000",
     "In a stream: memory for the filter only."},
    {"tepal build ids.zst -o ids.tepal --layout blocked --seed 7",
     "Fast answers, and a seed that other machines can share."},
    {"tepal build cached.txt -o digest.tepal --kind generalized --fp 1% --fn 1%",
     "Both errors bounded, whoever fills the filter."},
    {"tepal build flows.txt -o flows.tepal --kind counting",
     "A filter from which keys can be removed."},
    {"tepal build bad.txt -o bad.tepal --kind yesno --bits-per-key 10 --avoid popular.tsv -w",
     "Known negatives are vetoed, no member is lost."},
    {"tepal build revoked.txt -o revoked.tepal --kind cascade --avoid valid.txt",
     "No error at all on the keys of both files."},
    {NULL, NULL}};

/* ---- query ---------------------------------------------------------------------------------- */

static const enum option_id query_options[] = {
    OPT_INVERT,   OPT_COUNT, OPT_SILENT,          OPT_TSV,  OPT_NULL, OPT_HEX, OPT_PLAIN,
    OPT_KEY_FILE, OPT_LAZY,  OPT_WITH_EXCEPTIONS, OPT_JSON, OPT_HELP, OPT_END};
static const enum option_id query_exclusive[][4] = {{OPT_TSV, OPT_SILENT, OPT_JSON},
                                                    {OPT_TSV, OPT_COUNT},
                                                    {OPT_TSV, OPT_INVERT},
                                                    {OPT_SILENT, OPT_COUNT},
                                                    {0}};
static const struct example query_examples[] = {
    {"tepal query domains.tepal candidates.txt", "The candidates that are perhaps in the set."},
    {"tepal query -v seen.tepal < today.txt > new.txt", "The lines that are certainly new."},
    {"echo example.org | tepal query -q domains.tepal && echo blocked", "A question in a script."},
    {NULL, NULL}};

/* ---- add, merge, convert -------------------------------------------------------------------- */

static const enum option_id add_options[] = {
    OPT_IN_PLACE_OUTPUT, OPT_RECEIPTS_OUT, OPT_NULL,  OPT_HEX,  OPT_PLAIN, OPT_KEY_FILE,
    OPT_FORCE,           OPT_JSON,         OPT_QUIET, OPT_HELP, OPT_END};
static const struct example add_examples[] = {
    {"tepal add seen.tepal today.txt", "In place: the old filter or the new one, never half."},
    {"tepal add seen.tepal -o next.tepal < today.txt", "To another file."},
    {NULL, NULL}};

static const enum option_id remove_options[] = {
    OPT_IN_PLACE_OUTPUT, OPT_RECEIPTS_IN, OPT_NULL,  OPT_HEX,  OPT_PLAIN, OPT_KEY_FILE,
    OPT_FORCE,           OPT_JSON,        OPT_QUIET, OPT_HELP, OPT_END};
static const struct example remove_examples[] = {
    {"tepal remove flows.tepal closed.txt", "In place: the old filter or the new one, never half."},
    {"tepal remove flows.tepal --receipts closed.tsv", "Each key from the group it was added to."},
    {NULL, NULL}};

static const enum option_id merge_options[] = {OPT_OUTPUT, OPT_INTERSECT, OPT_FORCE, OPT_JSON,
                                               OPT_QUIET,  OPT_HELP,      OPT_END};
static const struct example merge_examples[] = {
    {"tepal merge monday.tepal tuesday.tepal -o week.tepal", "The filter of both days."},
    {"tepal merge total.tepal new.tepal -o total.tepal --force", "Replace one of the inputs."},
    {NULL, NULL}};

static const enum option_id convert_options[] = {
    OPT_OUTPUT, OPT_FOLD, OPT_NEW_BITS, OPT_NEW_LAYOUT, OPT_TO,
    OPT_FORCE,  OPT_JSON, OPT_QUIET,    OPT_HELP,       OPT_END};
static const enum option_id convert_exclusive[][4] = {
    {OPT_FOLD, OPT_NEW_BITS, OPT_NEW_LAYOUT, OPT_TO}, {0}};
static const struct example convert_examples[] = {
    {"tepal convert old.tepal -o new.tepal", "Write it again, in the current format version."},
    {"tepal convert big.tepal -o small.tepal --fold 4",
     "A quarter of the size, with a higher error."},
    {"tepal convert flows.tepal -o send.tepal --to bloom", "A fifth of a counting filter."},
    {NULL, NULL}};

/* ---- retouch -------------------------------------------------------------------------------- */

static const enum option_id retouch_options[] = {
    OPT_OUTPUT,         OPT_MEMBERS, OPT_AVOID,   OPT_WEIGHTS,    OPT_MAX_FN,    OPT_MAX_FN_COUNT,
    OPT_DRY_RUN,        OPT_SVG,     OPT_VICTIMS, OPT_EXCEPTIONS, OPT_METHOD,    OPT_ORDER,
    OPT_BASIS,          OPT_KNOWN,   OPT_SWEEP,   OPT_CLEAR_BITS, OPT_DRAW_SEED, OPT_MEMBER_WEIGHTS,
    OPT_REMOVE_MEMBERS, OPT_NULL,    OPT_HEX,     OPT_PLAIN,      OPT_KEY_FILE,  OPT_FORCE,
    OPT_JSON,           OPT_QUIET,   OPT_HELP,    OPT_END};
static const enum option_id retouch_exclusive[][4] = {{OPT_MAX_FN, OPT_MAX_FN_COUNT},
                                                      {OPT_DRY_RUN, OPT_OUTPUT},
                                                      {OPT_DRY_RUN, OPT_VICTIMS},
                                                      {OPT_DRY_RUN, OPT_EXCEPTIONS},
                                                      {0}};
static const struct example retouch_examples[] = {
    {"tepal retouch blocked.tepal --members blocked.txt --avoid top.tsv -w --dry-run",
     "What would each budget remove?"},
    {"tepal retouch blocked.tepal --members blocked.txt --avoid top.tsv -w --max-fn 0.5% -o out",
     "Give up at most one blocked domain in 200."},
    {NULL, NULL}};

/* ---- receive -------------------------------------------------------------------------------- */

static const enum option_id receive_options[] = {OPT_LIKE,
                                                 OPT_AGREED_KIND,
                                                 OPT_AGREED_LAYOUT,
                                                 OPT_AGREED_POSITIONS,
                                                 OPT_AGREED_BITS,
                                                 OPT_AGREED_HASHES,
                                                 OPT_AGREED_SEED,
                                                 OPT_AGREED_RESETS,
                                                 OPT_AGREED_SETS,
                                                 OPT_AGREED_TOLERANCE,
                                                 OPT_AGREED_KEY_FILE,
                                                 OPT_UNKEYED,
                                                 OPT_MAX_BYTES,
                                                 OPT_MAX_KEYS,
                                                 OPT_CLAIMED_KEYS,
                                                 OPT_REPEATED_KEYS,
                                                 OPT_MAX_FP,
                                                 OPT_MIN_PROBABILITY,
                                                 OPT_ANY_FILL,
                                                 OPT_ACCEPTED_OUTPUT,
                                                 OPT_FORCE,
                                                 OPT_JSON,
                                                 OPT_VERDICT_QUIET,
                                                 OPT_HELP,
                                                 OPT_END};
static const enum option_id receive_exclusive[][4] = {
    {OPT_AGREED_KEY_FILE, OPT_UNKEYED},     {OPT_MIN_PROBABILITY, OPT_ANY_FILL},
    {OPT_AGREED_HASHES, OPT_AGREED_RESETS}, {OPT_AGREED_HASHES, OPT_AGREED_SETS},
    {OPT_JSON, OPT_VERDICT_QUIET},          {0}};
static const struct example receive_examples[] = {
    {"tepal receive peer.tepal --like ours.tepal --max-fp 2% -o peer-ok.tepal",
     "A filter like ours, or none."},
    {"tepal receive --kind bloom --bits 1Mi --seed 7 --max-bytes 200k -o in.tepal < pipe",
     "From the network: refused by its header if it is too large."},
    {"tepal receive inbox/*.tepal --like ours.tepal -o accepted/", "A whole inbox."},
    {NULL, NULL}};

/* ---- audit, diff ---------------------------------------------------------------------------- */

static const enum option_id audit_options[] = {
    OPT_MEMBERS,  OPT_RECEIPTS_IN, OPT_AUDIT_SVG, OPT_NULL,  OPT_HEX,  OPT_PLAIN,
    OPT_KEY_FILE, OPT_FORCE,       OPT_JSON,      OPT_QUIET, OPT_HELP, OPT_END};
static const enum option_id audit_exclusive[][4] = {{OPT_MEMBERS, OPT_RECEIPTS_IN}, {0}};
static const struct example audit_examples[] = {
    {"tepal audit flows.tepal --members open.txt", "Which open flows are no longer found?"},
    {"tepal audit flows.tepal --members open.txt --svg load.svg", "And a picture."},
    {NULL, NULL}};

static const enum option_id diff_options[] = {OPT_OUTPUT, OPT_FORCE, OPT_JSON,
                                              OPT_QUIET,  OPT_HELP,  OPT_END};
static const struct example diff_examples[] = {
    {"tepal diff noon.tepal morning.tepal -o since.tepal", "What was added since the morning."},
    {NULL, NULL}};

/* ---- info, verify, kinds -------------------------------------------------------------------- */

static const enum option_id info_options[] = {OPT_JSON, OPT_HELP, OPT_END};
static const struct example info_examples[] = {
    {"tepal info domains.tepal", "Everything the filter knows about itself."},
    {"tepal info --json *.tepal | jq .fp_now", "The present error of each, by machine."},
    {NULL, NULL}};

static const enum option_id verify_options[] = {OPT_JSON, OPT_QUIET, OPT_HELP, OPT_END};
static const struct example verify_examples[] = {
    {"tepal verify *.tepal", "Check every checksum and every invariant."}, {NULL, NULL}};

static const struct example kinds_examples[] = {{"tepal kinds", "The kinds and their promises."},
                                                {NULL, NULL}};

/* ---- model, demo ---------------------------------------------------------------------------- */

static const enum option_id model_options[] = {
    OPT_KEYS,       OPT_BITS,       OPT_FP,      OPT_HASHES,           OPT_MODEL_LAYOUT,
    OPT_POSITIONS,  OPT_UNIVERSE,   OPT_BETA,    OPT_MODEL_CLEAR_BITS, GENERALIZED_BUILD,
    COUNTING_MODEL, OPT_PRINT_BITS, YESNO_MODEL, RECYCLING_MODEL,      OPT_JSON,
    OPT_HELP,       OPT_END};
static const struct example model_examples[] = {
    {"tepal model bloom --keys 1M --bits 10M", "The error of ten bits a key."},
    {"tepal model blocked --keys 1M --fp 1%", "The size that one cache line a key needs."},
    {"tepal model yesno --keys 30 --negatives 100 --bits 256", "A layout for 256 bits."},
    {"tepal model cascade --keys 20k --negatives 100k", "The smallest cascade."},
    {"tepal model retouched --keys 10k --bits 100k --hashes 5 --universe 2M --beta 10%",
     "What it costs to remove a tenth of the false positives."},
    {"tepal model generalized --keys 256 --bits 64Ki --reset-hashes 2 --set-hashes 2 --zeros 1",
     "Both errors, and the bounds that hold whoever fills the filter."},
    {"tepal model recycling --bits 100k --fp 1%", "An endless stream: when to start anew?"},
    {"tepal model counting --keys 10k --cells 160k --hashes 11 --choices 8",
     "What a wrong removal does to eight choices."},
    {NULL, NULL}};

static const enum option_id demo_options[] = {
    OPT_DEMO_KEYS, OPT_FP, OPT_DEMO_LAYOUT, OPT_DEMO_SEED, OPT_JSON, OPT_QUIET, OPT_HELP, OPT_END};
static const struct example demo_examples[] = {
    {"tepal demo", "A million keys at 1 %, in three layouts."},
    {"tepal demo --fp 1/1000 --layout paired", "One layout at a lower error."},
    {NULL, NULL}};

/* ---- lab ------------------------------------------------------------------------------------ */

static const enum option_id lab_options[] = {OPT_PAPER,     OPT_ALL,     OPT_QUICK, OPT_FULL,
                                             OPT_DEMO_SEED, OPT_LAB_OUT, OPT_JOBS,  OPT_SABOTAGE,
                                             OPT_QUIET,     OPT_HELP,    OPT_END};
static const enum option_id lab_exclusive[][4] = {{OPT_QUICK, OPT_FULL}, {OPT_PAPER, OPT_ALL}, {0}};
static const struct example lab_examples[] = {
    {"tepal lab list", "Every experiment, with the table or figure it makes again."},
    {"tepal lab run 000-table-4 --full", "One table of the first paper."},
    {"tepal lab run --all --out results && tepal lab report results", "All, as one page."},
    {NULL, NULL}};

/* ---- dedup, gaps ---------------------------------------------------------------------------- */

static const enum option_id dedup_options[] = {
    OPT_REPEATS,     OPT_COUNTS,        OPT_MEMORY,
    OPT_STREAM_FP,   OPT_PHASES,        OPT_SIGMA,
    OPT_CYCLE_COUNT, OPT_EVERY,         OPT_STREAM_ONLY_MISSES,
    OPT_STATE,       OPT_SAVE_EVERY,    OPT_FIELD,
    OPT_DELIMITER,   OPT_NULL,          OPT_HEX,
    OPT_PLAIN,       OPT_STREAM_LAYOUT, OPT_STREAM_HASHES,
    OPT_SEED,        OPT_KEY_FILE,      OPT_FIGURES_JSON,
    OPT_QUIET,       OPT_HELP,          OPT_END};
static const enum option_id dedup_exclusive[][4] = {{OPT_SIGMA, OPT_CYCLE_COUNT, OPT_EVERY}, {0}};
static const struct example dedup_examples[] = {
    {"tail -F access.log | tepal dedup --field 1", "Every client once, as it appears."},
    {"tepal dedup --memory 1Gi --fp 1/1000 huge.txt > distinct.txt",
     "A file of any size, in a gibibyte."},
    {"tepal dedup --every 10m --only-misses --state alerts.state < alerts",
     "Each alert at most every 10 minutes, across restarts."},
    {NULL, NULL}};

static const enum option_id gaps_options[] = {
    OPT_GAPS_MEMORY, OPT_STREAM_FP, OPT_STREAM_LAYOUT, OPT_SAMPLE, OPT_GAPS_SVG, OPT_SAVE_GAPS,
    OPT_FIELD,       OPT_DELIMITER, OPT_NULL,          OPT_HEX,    OPT_PLAIN,    OPT_FORCE,
    OPT_ROWS_TSV,    OPT_JSON,      OPT_QUIET,         OPT_HELP,   OPT_END};
static const enum option_id gaps_exclusive[][4] = {{OPT_ROWS_TSV, OPT_JSON}, {0}};
static const struct example gaps_examples[] = {
    {"tepal gaps access.log --field 7", "What memory would dedup need for this log?"},
    {"zcat logs/*.gz | tepal gaps --sample 1/100 --svg memory.svg", "Of a huge one, by a sample."},
    {NULL, NULL}};

/* ---- completion, help ----------------------------------------------------------------------- */

static const enum option_id bare_options[] = {OPT_HELP, OPT_END};
static const struct example completion_examples[] = {
    {"source <(tepal completion bash)", "For this shell."},
    {"tepal completion fish > ~/.config/fish/completions/tepal.fish", "For good."},
    {NULL, NULL}};
static const struct example app_examples[] = {
    {"tepal app", "The list."}, {"tepal app stopset --help", "What stopset does."}, {NULL, NULL}};
static const enum option_id help_options[] = {OPT_MAN, OPT_HELP, OPT_END};
static const struct example help_examples[] = {
    {"tepal help query", "The same as tepal query --help."},
    {"tepal help --man | man -l -", "The manual page."},
    {NULL, NULL}};

const struct command commands[] = {
    {.name = "build",
     .synopsis = "[KEYS...] -o FILE [--fp RATE | --bits-per-key B | --bits M | --auto]",
     .summary = "Build a filter from keys.",
     .about = "Reads keys from the files KEYS (none, or -: standard input), one a line, and writes "
              "a filter. Key files may be compressed with gzip or zstd. A key is its bytes, "
              "exactly: spaces and carriage returns count.\n\n"
              "A summary with the seed goes to standard error. With --capacity or --bits nothing "
              "but the filter is kept in memory, however many keys come.",
     .options = build_options,
     .needed = OPT_OUTPUT,
     .operand = OPERAND_FILE,
     .most_operands = SIZE_MAX,
     .stays = "nothing was written",
     .examples = build_examples,
     .run = build_run},
    {.name = "query",
     .synopsis = "FILE [KEYS...] [-v] [-c | -q | --tsv]",
     .summary = "Print the keys that are (perhaps) in a filter.",
     .about =
         "Reads keys like build does and prints those that the filter FILE answers \"perhaps\" "
         "to, byte for byte and in order. FILE may be - (standard input) if the keys come "
         "from files.\n\n"
         "Exit status 0 if a key was selected, 1 if none was, 2 on an error.",
     .options = query_options,
     .exclusive = query_exclusive,
     .operand = OPERAND_FILE,
     .least_operands = 1,
     .most_operands = SIZE_MAX,
     .operand_name = "a filter is",
     .examples = query_examples,
     .run = query_run},
    {.name = "add",
     .synopsis = "FILE [KEYS...] [-o OUT]",
     .summary = "Add keys to a filter.",
     .about = "Reads keys like build does, adds them to the filter FILE and writes it back, "
              "atomically.",
     .options = add_options,
     .operand = OPERAND_FILE,
     .least_operands = 1,
     .most_operands = SIZE_MAX,
     .operand_name = "a filter is",
     .stays = "nothing was changed",
     .examples = add_examples,
     .run = add_run},
    {.name = "remove",
     .synopsis = "FILE [KEYS...] [--receipts FILE] [-o OUT]",
     .summary = "Remove keys from a filter.",
     .about = "Reads keys like build does, removes them from the filter FILE, whose kind must be "
              "able to (tepal kinds), and writes it back, atomically. A key that is not found is "
              "passed over, and so is one that a counting filter keeps by its policy; the "
              "summary tells how many were removed.\n\n"
              "Remove only what was added: to remove a key that is found by mistake harms others. "
              "With more than one choice, receipts make the removal of what was added safe.\n\n"
              "Exit status 0 if a key was removed, 1 if none was, 2 on an error.",
     .options = remove_options,
     .operand = OPERAND_FILE,
     .least_operands = 1,
     .most_operands = SIZE_MAX,
     .operand_name = "a filter is",
     .stays = "nothing was changed",
     .examples = remove_examples,
     .run = remove_run},
    {.name = "merge",
     .synopsis = "FILE FILE... -o OUT [--intersect]",
     .summary = "Unite filters, or intersect them.",
     .about = "The union finds every key that one of the filters finds. It is exactly the filter "
              "that all the keys together would have made, save of counting filters with "
              "--choices: these keep their receipts, but have more false positives than one "
              "filter built from all the keys. Which kinds can be merged is in `tepal kinds`. The "
              "filters need the same kind, sizes, layout, seed and secret key.",
     .options = merge_options,
     .needed = OPT_OUTPUT,
     .operand = OPERAND_FILE,
     .least_operands = 2,
     .most_operands = SIZE_MAX,
     .operand_name = "two filters or more are",
     .stays = "nothing was written",
     .examples = merge_examples,
     .run = merge_run},
    {.name = "info",
     .synopsis = "FILE... [--json]",
     .summary = "Show what a filter knows about itself.",
     .about = "Prints parameters, counts and error rates: the rate of the filter as it is now "
              "(fp_now), and the one it was planned for (fp_at_capacity).",
     .options = info_options,
     .operand = OPERAND_FILE,
     .least_operands = 1,
     .most_operands = SIZE_MAX,
     .operand_name = "a filter is",
     .examples = info_examples,
     .run = info_run},
    {.name = "verify",
     .synopsis = "FILE... [--json]",
     .summary = "Check filters for damage.",
     .about = "Reads each filter completely and checks lengths, checksums and invariants. Exit "
              "status 2 if one of them is not sound.",
     .options = verify_options,
     .operand = OPERAND_FILE,
     .least_operands = 1,
     .most_operands = SIZE_MAX,
     .operand_name = "a filter is",
     .examples = verify_examples,
     .run = verify_run},
    {.name = "convert",
     .synopsis = "FILE -o OUT [--fold D | --bits M | --layout LAYOUT | --to KIND]",
     .summary = "Rewrite a filter, or shrink it.",
     .about = "Folding is exact: the result is the filter that the same keys would have made at "
              "the smaller size.",
     .options = convert_options,
     .exclusive = convert_exclusive,
     .needed = OPT_OUTPUT,
     .operand = OPERAND_FILE,
     .least_operands = 1,
     .most_operands = 1,
     .operand_name = "a filter is",
     .stays = "nothing was written",
     .examples = convert_examples,
     .run = convert_run},
    {.name = "retouch",
     .synopsis = "FILE --members KEYS --avoid NEGATIVES [--weights] [--max-fn R | --max-fn-count "
                 "N] (-o OUT | --dry-run)",
     .summary = "Remove the false positives that hurt.",
     .about = "Clears bits of the filter FILE so that keys of NEGATIVES are no longer found, the "
              "heaviest first, and pays with members that are no longer found either, at most as "
              "many as the budget allows. The size, and how the filter is asked, stay the same. "
              "A retouched filter can be retouched again.\n\n"
              "Tells on standard error how many of NEGATIVES are false positives, and the trade, "
              "before and after.",
     .options = retouch_options,
     .exclusive = retouch_exclusive,
     .needed = OPT_MEMBERS,
     .operand = OPERAND_FILE,
     .least_operands = 1,
     .most_operands = 1,
     .operand_name = "a filter is",
     .stays = "nothing was written",
     .examples = retouch_examples,
     .run = retouch_run},
    {.name = "receive",
     .synopsis = "[FILE...] [--like FILE] [--max-fp RATE] [--max-bytes N] [-o OUT]",
     .summary = "Decide about filters from strangers.",
     .about = "Takes filters that somebody else sent (none, or -: standard input) and decides: is "
              "it sound, is it what was agreed on, how many false positives do its bits cause, and "
              "does an honest filter of so many keys have so many ones? One line a filter; the "
              "first of these that fails is the reason it is refused.\n\n"
              "A Bloom filter can be saturated; a generalized one passes at most a known share of "
              "all keys, whatever its bits. Neither is proof against bits that were set for chosen "
              "keys by somebody who knows the seed: only a secret key is (build --key-file).\n\n"
              "Exit status 0 if all were accepted, 1 if one was refused, 2 on an error.",
     .options = receive_options,
     .exclusive = receive_exclusive,
     .operand = OPERAND_FILE,
     .most_operands = SIZE_MAX,
     .stays = "nothing was written",
     .examples = receive_examples,
     .run = receive_run},
    {.name = "audit",
     .synopsis = "FILE (--members KEYS | --receipts FILE) [--json] [--svg OUT]",
     .summary = "Show what removals have done to a counting filter.",
     .about = "Asks the filter for all of its members, one a line and as often as they were added: "
              "how many are no longer found (exposed false negatives), how many would not be in "
              "the end (potential ones), what members lack and what nobody left, beside what "
              "the theorems expect of so many wrong removals; and the load of the counters.",
     .options = audit_options,
     .exclusive = audit_exclusive,
     .operand = OPERAND_FILE,
     .least_operands = 1,
     .most_operands = 1,
     .operand_name = "a filter is",
     .examples = audit_examples,
     .run = audit_run},
    {.name = "diff",
     .synopsis = "NOW BEFORE -o OUT",
     .summary = "Write what was added to a counting filter between two snapshots.",
     .about = "Each counter of the result is the one of NOW less the one of BEFORE. If nothing was "
              "removed in between, that is the filter of the keys that were added. If something "
              "was, counters that fell count as 0, a warning tells, and keys that were added may "
              "be missing. A counter that is stuck at 15 stays so.",
     .options = diff_options,
     .needed = OPT_OUTPUT,
     .operand = OPERAND_FILE,
     .least_operands = 2,
     .most_operands = 2,
     .operand_name = "two filters are",
     .stays = "nothing was written",
     .examples = diff_examples,
     .run = diff_run},
    {.name = "plan",
     .synopsis = "--keys N [--fp RATE] [--fn RATE] [--memory SIZE] [CONSTRAINTS]",
     .summary = "Say what you can bear, get the filter.",
     .about =
         "From constraints to plans, the best first: which kind of filter, on which layout, of "
         "which size, with which errors to expect, and the command that builds it; for every kind "
         "that is refused, why. No filter is made: the models tell.\n\n"
         "With --fp (or neither --fp nor a memory): the least memory that keeps --fp and --fn. "
         "With "
         "a memory alone: the least cost in it, --cost-fp a false positive and --cost-fn a false "
         "negative.\n\n"
         "Exit status 0 if there is a plan, 1 if nothing fits (then the nearest, and what is in "
         "its "
         "way), 2 on an error.",
     .options = plan_options,
     .exclusive = plan_exclusive,
     .operand = OPERAND_NONE,
     .examples = plan_examples,
     .run = plan_run},
    {.name = "measure",
     .synopsis = "FILE --members KEYS --strangers KEYS [--plan PLAN]",
     .summary = "Measure both errors of a filter, and whether its plan held.",
     .about = "Asks the filter FILE for its members and for strangers, and prints both error rates "
              "with their 99 % confidence intervals (Wilson), beside what was promised.\n\n"
              "Exit status 0 if the plan held (no interval lies above its promise), 1 if not, 2 on "
              "an error.",
     .options = measure_options,
     .operand = OPERAND_FILE,
     .least_operands = 1,
     .most_operands = 1,
     .operand_name = "a filter is",
     .examples = measure_examples,
     .run = measure_run},
    {.name = "compare",
     .synopsis = "--members KEYS [--negatives KEYS] [--queries KEYS] --memory SIZE",
     .summary = "Build every kind on your own keys, at the same memory.",
     .about = "Plans every kind for the memory, builds it from your members (and negatives), asks "
              "it for your queries and prints a table: predicted and measured errors, their "
              "weighted cost, time and bytes. With --weights, false positives of the negatives "
              "count by weight.\n\n"
              "With --endless the members are a stream in its order: the kinds that go on for "
              "ever are planned by its gaps and asked for every line whether it came before.",
     .options = compare_options,
     .exclusive = compare_exclusive,
     .needed = OPT_COMPARE_MEMBERS,
     .operand = OPERAND_NONE,
     .examples = compare_examples,
     .run = compare_run},
    {.name = "model",
     .synopsis = "NAME --keys N (--bits M | --fp RATE | --cells M) [--hashes K]",
     .summary = "Predict errors and sizes, without a filter.",
     .about = "NAME is bloom (the flat layout), partitioned, blocked or paired: what the filter "
              "will do; or retouched: what it costs to remove false positives at random, which "
              "every other method of retouch has to beat; generalized: a filter with bounded "
              "errors; counting: what it costs to remove keys that were never added, with c "
              "choices; fingerprint: a cuckoo filter, of which keys can be removed; yesno: what a "
              "yes-no filter leaves of --negatives known ones, with --bits in the best layout; "
              "cascade: the size at which no error is left on them (with --bits or --fp: fewer "
              "errors on unknown keys, too); "
              "recycling: the average error of a filter that starts anew when more than --sigma of "
              "its --bits bits are set (with --fp: the largest such number). For the others --fp "
              "finds the smallest size.",
     .options = model_options,
     .operand = OPERAND_MODEL,
     .least_operands = 1,
     .most_operands = 1,
     .operand_name = "the name of a model is",
     .examples = model_examples,
     .run = model_run},
    {.name = "dedup",
     .synopsis = "[FILES...] [-d] [-c] [--memory SIZE] [--fp RATE] [--state FILE]",
     .summary = "Print the lines that were not seen before, for ever.",
     .about =
         "Reads lines from FILES (none, or -: standard input) and prints each one that it has "
         "not seen before, at once, in fixed memory however long the stream is: old lines are "
         "forgotten, and may come out again. So there are two errors: a new line that is taken "
         "for a repeat (the rate of --fp), and a repeat that was forgotten, which depends on "
         "the stream: `tepal gaps` tells beforehand. Files may be compressed with gzip or "
         "zstd.\n\n"
         "At the end, and whenever SIGUSR1 arrives, a line of figures goes to standard error: "
         "lines, new ones and repeats of this run; cycles ended, fill and average "
         "false-positive rate of the filter; and the false negatives, as measured on a sample "
         "of the keys. SIGINT and SIGTERM end it as the end of the input does.",
     .options = dedup_options,
     .exclusive = dedup_exclusive,
     .operand = OPERAND_FILE,
     .most_operands = SIZE_MAX,
     .stays = "nothing was read",
     .examples = dedup_examples,
     .run = dedup_run},
    {.name = "gaps",
     .synopsis = "[FILES...] [--fp RATE] [--sample R] [--svg FILE] [--save FILE]",
     .summary = "Measure a stream: what memory would dedup need?",
     .about =
         "Reads lines like dedup does and measures, for every line that came before, how many "
         "lines ago that was: its gap. From these it predicts, for several sizes of memory and "
         "for 1 and 2 phases, what share of the repeats dedup would have forgotten (fn), at "
         "the rate of false positives given (fp).\n\n"
         "Memory is taken for every distinct key, or with --sample for a share of them.",
     .options = gaps_options,
     .exclusive = gaps_exclusive,
     .operand = OPERAND_FILE,
     .most_operands = SIZE_MAX,
     .stays = "nothing was written",
     .examples = gaps_examples,
     .run = gaps_run},
    {.name = "app",
     .synopsis = "[NAME [OPTIONS] [FILES]]",
     .summary = "Run an application; alone, list them.",
     .about = "Applications put filters to work on data of one field and measure what that does. "
              "`tepal app NAME --help` explains one.",
     .options = bare_options,
     .operand = OPERAND_APP,
     .examples = app_examples,
     .run = app_run},
    {.name = "lab",
     .synopsis = "list | run (NAME... | --paper NUMBER | --all) [--full] | report [DIR]",
     .summary = "Make the papers' tables and figures again, ours beside theirs.",
     .about = "list tells what there is. run makes each experiment's table (TSV: experiment, item, "
              "published, ours, low, high, verdict) and picture (SVG) and prints the table. report "
              "makes one HTML page of what is in DIR (default lab).\n\n"
              "low and high bound our number with 99.9 % confidence. The verdict is computed: "
              "agrees (the published number lies within), erratum (it does not, but what should "
              "have been printed does), differs (neither), ours-only (nothing was published). The "
              "same seed gives the same files, byte for byte. Exit status 1 if a row differs.",
     .options = lab_options,
     .exclusive = lab_exclusive,
     .operand = OPERAND_LAB,
     .least_operands = 1,
     .most_operands = SIZE_MAX,
     .operand_name = "list, run or report is",
     .examples = lab_examples,
     .run = lab_run},
    {.name = "demo",
     .synopsis = "[--keys N] [--fp RATE] [--layout LAYOUT]",
     .summary = "Build, ask and compare: predicted and measured errors.",
     .about = "Generates keys, builds filters for the stated error, asks for every member and for "
              "strangers, and prints predicted and measured error side by side. Exit status 2 if "
              "a member was not found.",
     .options = demo_options,
     .operand = OPERAND_NONE,
     .examples = demo_examples,
     .run = demo_run},
    {.name = "kinds",
     .synopsis = "[--json]",
     .summary = "List the kinds of filters and what they promise.",
     .about = "The kinds that build --kind knows, and what holds of each whatever its "
              "parameters.\n\n"
              "no-false-negatives: a key that was added is found (until a key is removed that "
              "never was). bounded-false-positives: whoever filled it, few other keys are found "
              "(generalized: with resets, sets and a tolerance below the number of either; info "
              "tells the bound). deletable: keys can be removed. mergeable: a union finds what any "
              "of the filters finds. order-free: the order of additions changes nothing. endless: "
              "it can be added to for ever; what is old is forgotten.",
     .options = info_options,
     .operand = OPERAND_NONE,
     .examples = kinds_examples,
     .run = kinds_run},
    {.name = "completion",
     .synopsis = "bash | zsh | fish",
     .summary = "Print a completion script for a shell.",
     .about = "The script completes subcommands, options and their values.",
     .options = bare_options,
     .operand = OPERAND_SHELL,
     .least_operands = 1,
     .most_operands = 1,
     .operand_name = "the name of a shell (bash, zsh, fish) is",
     .examples = completion_examples,
     .run = completion_run},
    {.name = "help",
     .synopsis = "[COMMAND | app NAME]",
     .summary = "Explain the command or one of its subcommands.",
     .about = "Without COMMAND, an overview.",
     .options = help_options,
     .operand = OPERAND_COMMAND,
     .most_operands = 2,
     .examples = help_examples,
     .run = help_run},
};

const size_t command_count = sizeof commands / sizeof *commands;

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

const struct command *app_find(const char *name)
{
    for (size_t i = 0; i < app_count; i++) {
        if (strcmp(command_word(&apps[i]), name) == 0) {
            return &apps[i];
        }
    }
    return NULL;
}

const struct command *command_at(size_t n)
{
    if (n < command_count) {
        return &commands[n];
    }
    return n - command_count < app_count ? &apps[n - command_count] : NULL;
}

const char *command_word(const struct command *command)
{
    const char *space = strrchr(command->name, ' ');
    return space == NULL ? command->name : space + 1;
}
