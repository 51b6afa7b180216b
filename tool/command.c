/* command.c: the two tables, and nothing else. A new option or subcommand starts here. */
#include "command.h"

#include <string.h>

#include <tepal/params.h>
#include <tepal/recycling.h>

#define ANY UINT64_MAX

/* A layout is named in three options that differ in their words only. */
#define LAYOUTS "flat partitioned blocked paired"

#define METHODS                                                                                    \
    "random-bits random min-fn max-fp ratio improved-min-fn improved-max-fp improved-ratio "       \
    "sacrifice"

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
                    "improved-max-fp, improved-ratio, sacrifice."},
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
    [OPT_DRY_RUN] = {'n', "dry-run", NULL, TAKES_NOTHING, 0, 0, NULL,
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
    [OPT_ROWS_TSV] = {'t', "tsv", NULL, TAKES_NOTHING, 0, 0, NULL,
                      "Print the rows tab-separated, with a line of names first."},
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
    [OPT_MAN] = {0, "man", NULL, TAKES_NOTHING, 0, 0, NULL,
                 "Print the manual page, in roff: tepal help --man | man -l -"},
    [OPT_JSON] = {'j', "json", NULL, TAKES_NOTHING, 0, 0, NULL,
                  "Print the result on standard output as JSON, one object a line."},
    [OPT_QUIET] = {'q', "quiet", NULL, TAKES_NOTHING, 0, 0, NULL,
                   "No summary, no warnings and no progress on standard error."},
    [OPT_HELP] = {'h', "help", NULL, TAKES_NOTHING, 0, 0, NULL, "Print this help."},
};

/* ---- build ---------------------------------------------------------------------------------- */

/* Options of the recycling filter, in build and in model. */
#define RECYCLING_BUILD                                                                            \
    OPT_CYCLE_PHASES, OPT_CYCLE_SIGMA, OPT_CYCLE_MESSAGES, OPT_FORGET, OPT_KEEP_TRIGGER,           \
        OPT_ONLY_MISSES
#define RECYCLING_MODEL                                                                            \
    OPT_CYCLE_PHASES, OPT_CYCLE_SIGMA, OPT_DISTINCT, OPT_RETAIN, OPT_KEEP_TRIGGER

static const enum option_id build_options[] = {
    OPT_OUTPUT,   OPT_FP,     OPT_BITS_PER_KEY, OPT_BITS,        OPT_HASHES,
    OPT_CAPACITY, OPT_LAYOUT, OPT_POSITIONS,    OPT_KIND,        OPT_SEED,
    OPT_NULL,     OPT_HEX,    OPT_PLAIN,        OPT_KEY_FILE,    OPT_FORCE,
    OPT_JSON,     OPT_QUIET,  OPT_HELP,         RECYCLING_BUILD, OPT_END};
static const struct example build_examples[] = {
    {"tepal build domains.txt -o domains.tepal", "A filter with 1 % false positives."},
    {"zcat log.gz | cut -f1 | tepal build -o seen.tepal --capacity 10M --fp 1/1000",
     "In a stream: memory for the filter only."},
    {"tepal build ids.zst -o ids.tepal --layout blocked --seed 7",
     "Fast answers, and a seed that other machines can share."},
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
    OPT_IN_PLACE_OUTPUT, OPT_NULL, OPT_HEX,   OPT_PLAIN, OPT_KEY_FILE,
    OPT_FORCE,           OPT_JSON, OPT_QUIET, OPT_HELP,  OPT_END};
static const struct example add_examples[] = {
    {"tepal add seen.tepal today.txt", "In place: the old filter or the new one, never half."},
    {"tepal add seen.tepal -o next.tepal < today.txt", "To another file."},
    {NULL, NULL}};

static const enum option_id merge_options[] = {OPT_OUTPUT, OPT_INTERSECT, OPT_FORCE, OPT_JSON,
                                               OPT_QUIET,  OPT_HELP,      OPT_END};
static const struct example merge_examples[] = {
    {"tepal merge monday.tepal tuesday.tepal -o week.tepal", "The filter of both days."},
    {"tepal merge total.tepal new.tepal -o total.tepal --force", "Replace one of the inputs."},
    {NULL, NULL}};

static const enum option_id convert_options[] = {OPT_OUTPUT,     OPT_FOLD,  OPT_NEW_BITS,
                                                 OPT_NEW_LAYOUT, OPT_FORCE, OPT_JSON,
                                                 OPT_QUIET,      OPT_HELP,  OPT_END};
static const enum option_id convert_exclusive[][4] = {{OPT_FOLD, OPT_NEW_BITS, OPT_NEW_LAYOUT},
                                                      {0}};
static const struct example convert_examples[] = {
    {"tepal convert old.tepal -o new.tepal", "Write it again, in the current format version."},
    {"tepal convert big.tepal -o small.tepal --fold 4",
     "A quarter of the size, with a higher error."},
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
    OPT_KEYS,      OPT_BITS,     OPT_FP,   OPT_HASHES,           OPT_MODEL_LAYOUT,
    OPT_POSITIONS, OPT_UNIVERSE, OPT_BETA, OPT_MODEL_CLEAR_BITS, RECYCLING_MODEL,
    OPT_JSON,      OPT_HELP,     OPT_END};
static const struct example model_examples[] = {
    {"tepal model bloom --keys 1M --bits 10M", "The error of ten bits a key."},
    {"tepal model blocked --keys 1M --fp 1%", "The size that one cache line a key needs."},
    {"tepal model retouched --keys 10k --bits 100k --hashes 5 --universe 2M --beta 10%",
     "What it costs to remove a tenth of the false positives."},
    {"tepal model recycling --bits 100k --fp 1%", "An endless stream: when to start anew?"},
    {NULL, NULL}};

static const enum option_id demo_options[] = {
    OPT_DEMO_KEYS, OPT_FP, OPT_DEMO_LAYOUT, OPT_DEMO_SEED, OPT_JSON, OPT_QUIET, OPT_HELP, OPT_END};
static const struct example demo_examples[] = {
    {"tepal demo", "A million keys at 1 %, in three layouts."},
    {"tepal demo --fp 1/1000 --layout paired", "One layout at a lower error."},
    {NULL, NULL}};

/* ---- dedup, gaps ---------------------------------------------------------------------------- */

static const enum option_id dedup_options[] = {
    OPT_REPEATS,       OPT_COUNTS,        OPT_MEMORY, OPT_STREAM_FP, OPT_PHASES,
    OPT_SIGMA,         OPT_CYCLE_COUNT,   OPT_EVERY,  OPT_STATE,     OPT_SAVE_EVERY,
    OPT_FIELD,         OPT_DELIMITER,     OPT_NULL,   OPT_HEX,       OPT_PLAIN,
    OPT_STREAM_LAYOUT, OPT_STREAM_HASHES, OPT_SEED,   OPT_KEY_FILE,  OPT_FIGURES_JSON,
    OPT_QUIET,         OPT_HELP,          OPT_END};
static const enum option_id dedup_exclusive[][4] = {{OPT_SIGMA, OPT_CYCLE_COUNT, OPT_EVERY}, {0}};
static const struct example dedup_examples[] = {
    {"tail -F access.log | tepal dedup --field 1", "Every client once, as it appears."},
    {"tepal dedup --memory 1Gi --fp 1/1000 huge.txt > distinct.txt",
     "A file of any size, in a gibibyte."},
    {"tepal dedup --every 10m --state alerts.state < alerts",
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
     .synopsis = "[KEYS...] -o FILE [--fp RATE | --bits-per-key B | --bits M]",
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
    {.name = "merge",
     .synopsis = "FILE FILE... -o OUT [--intersect]",
     .summary = "Unite filters, or intersect them.",
     .about = "The union is exactly the filter that all the keys together would have made. The "
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
     .synopsis = "FILE -o OUT [--fold D | --bits M | --layout LAYOUT]",
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
    {.name = "model",
     .synopsis = "NAME --keys N (--bits M | --fp RATE) [--hashes K]",
     .summary = "Predict errors and sizes, without a filter.",
     .about = "NAME is bloom (the flat layout), partitioned, blocked or paired: what the filter "
              "will do; or retouched: what it costs to remove false positives at random, which "
              "every other method of retouch has to beat; or recycling: the average error of a "
              "filter that starts anew when more than --sigma of its --bits bits are set (with "
              "--fp: the largest such number). For the others --fp finds the smallest size.",
     .options = model_options,
     .operand = OPERAND_MODEL,
     .least_operands = 1,
     .most_operands = 1,
     .operand_name =
         "the name of a model (bloom, partitioned, blocked, paired, retouched, recycling) is",
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
     .about = "The kinds that build --kind knows.",
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
