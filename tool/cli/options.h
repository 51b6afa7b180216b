/* options.h: the options that several commands share, each in the same words. */
#ifndef TOOL_CLI_OPTIONS_H
#define TOOL_CLI_OPTIONS_H

#include <tepal/params.h>

#include "cli/command.h"

/* The words of options that take a layout, or a method of retouching. */
#define LAYOUT_WORDS "flat partitioned blocked paired"
#define METHOD_WORDS                                                                               \
    "random-bits random min-fn max-fp ratio improved-min-fn improved-max-fp improved-ratio "       \
    "sacrifice net-effect least-fn"

#define OPTION_OUTPUT                                                                              \
    OPTION('o', "output", OF_VALUE(TAKES_FILE, "FILE"),                                            \
           "Write the filter to FILE, atomically: FILE has its old contents or the new ones, "     \
           "never half. - is standard output, unless that is a terminal.")

#define OPTION_FORCE                                                                               \
    FLAG('f', "force", "Overwrite FILE even if it is not a filter, or is one of the filters read.")

#define OPTION_FP                                                                                  \
    OPTION('p', "fp", OF_VALUE(TAKES_RATE, "RATE"),                                                \
           "The false-positive rate to keep, as 1%, 0.01, 1e-2 or 1/100 (default 1%).")

#define OPTION_BITS                                                                                \
    OPTION('m', "bits", OF_WHOLE("M", 1, (uint64_t)1 << 60),                                       \
           "Take M bits in all instead (blocked and paired: a multiple of 512; recycling: in "     \
           "each phase).")

#define OPTION_HASHES                                                                              \
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),                                      \
           "The number of hashes (default: the best for the other numbers; 7 if there is only "    \
           "--bits). At most 64; blocked 16, paired 32.")

#define OPTION_POSITIONS                                                                           \
    OPTION(0, "positions", OF_CHOICE("RULE", "colliding distinct"),                                \
           "May two bits of one key coincide? (default colliding)")

#define OPTION_SEED                                                                                \
    OPTION('s', "seed", OF_VALUE(TAKES_SEED, "S"),                                                 \
           "The seed of the hash, decimal or 0x... (default: drawn at random, and told). Filters " \
           "to be merged need the same seed.")

#define OPTION_KEY_FILE                                                                            \
    OPTION(0, "key-file", OF_VALUE(TAKES_FILE, "FILE"),                                            \
           "A secret key, 16 raw bytes or 32 hexadecimal digits: the filter is keyed (SipHash), "  \
           "so that nobody without the key can aim at it.")

#define OPTION_NULL FLAG('0', "null", "Keys end with a NUL byte instead of a newline.")

#define OPTION_HEX                                                                                 \
    FLAG('x', "hex", "Keys are written in hexadecimal; the bytes they stand for are the key.")

#define OPTION_PLAIN                                                                               \
    FLAG(0, "plain", "Read key files as they are, even if they look like gzip or zstd.")

#define OPTION_DEMO_SEED                                                                           \
    OPTION('s', "seed", OF_VALUE(TAKES_SEED, "S"),                                                 \
           "The seed of the hash (default 1): the same seed gives the same figures.")

#define OPTION_MEMBERS                                                                             \
    OPTION(0, "members", OF_VALUE(TAKES_FILE, "KEYS"),                                             \
           "The keys the filter was built from, all of them, one a line (- is standard input).")

#define OPTION_METHOD                                                                              \
    OPTION(0, "method", OF_CHOICE("METHOD", METHOD_WORDS),                                         \
           "How to choose what is cleared (default sacrifice, which is the best): one of "         \
           "random-bits, random, min-fn, max-fp, ratio, improved-min-fn, improved-max-fp, "        \
           "improved-ratio, sacrifice. For a generalized filter, whose bits are inverted: "        \
           "net-effect (its default) or least-fn.")

#define OPTION_ROWS_TSV                                                                            \
    FLAG('t', "tsv", "Print the rows tab-separated, with a line of names first.")

#define OPTION_FIELD                                                                               \
    OPTION(0, "field", OF_WHOLE("N", 1, UINT32_MAX),                                               \
           "The key is the N-th field of the line, as awk counts them: between blanks. A line "    \
           "with fewer fields has the empty key.")

#define OPTION_DELIMITER                                                                           \
    OPTION(0, "delimiter", OF_VALUE(TAKES_BYTE, "C"),                                              \
           "Fields are divided by the character C, as cut has it (\\t is a tab).")

#define OPTION_JSON                                                                                \
    FLAG('j', "json", "Print the result on standard output as JSON, one object a line.")

#define OPTION_QUIET                                                                               \
    FLAG('q', "quiet", "No summary, no warnings and no progress on standard error.")

#define OPTION_HELP FLAG('h', "help", "Print this help.")

/* How keys are read. */
#define KEY_OPTIONS OPTION_NULL, OPTION_HEX, OPTION_PLAIN

/* What --layout and --positions say; nothing changes if they were not given. */
void arg_layout(const struct args *args, enum tepal_layout *layout);
void arg_positions(const struct args *args, enum tepal_positions *positions);

#endif
