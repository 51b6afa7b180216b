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
           "Write the filter to FILE, atomically: after a failure FILE has its old contents. - "   \
           "is standard output; a terminal is refused.")

#define OPTION_FORCE                                                                               \
    FLAG('f', "force", "Overwrite FILE even if it is not a filter or is one of the filters read.")

#define OPTION_NO_WAIT                                                                             \
    FLAG(0, "no-wait",                                                                             \
         "Fail at once if another command is changing FILE, instead of waiting for it.")

#define OPTION_FP                                                                                  \
    OPTION('p', "fp", OF_VALUE(TAKES_RATE, "RATE"),                                                \
           "The target false-positive rate, as 1%, 0.01, 1e-2 or 1/100 (default 1%).")

#define OPTION_BITS                                                                                \
    OPTION('m', "bits", OF_WHOLE("M", 1, (uint64_t)1 << 60),                                       \
           "Use M bits in total instead (blocked and paired: a multiple of 512; recycling: bits "  \
           "per phase).")

#define OPTION_HASHES                                                                              \
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),                                      \
           "The number of hash functions (default: the best for the other parameters; 7 if only "  \
           "--bits is given). At most 64; blocked 16, paired 32.")

#define OPTION_POSITIONS                                                                           \
    OPTION(0, "positions", OF_CHOICE("RULE", "colliding distinct"),                                \
           "Whether hash functions of one key may pick the same bit: colliding (they may, the "    \
           "default) or distinct.")

#define OPTION_SEED                                                                                \
    OPTION('s', "seed", OF_VALUE(TAKES_SEED, "S"),                                                 \
           "The hash seed, decimal or 0x... (default: random, and reported). Filters that will "   \
           "be merged need the same seed.")

#define OPTION_KEY_FILE                                                                            \
    OPTION(0, "key-file", OF_VALUE(TAKES_FILE, "FILE"),                                            \
           "A file with the secret key, 16 raw bytes or 32 hexadecimal digits. The filter is "     \
           "then keyed (SipHash): without the secret nobody can choose keys that hit given bits.")

#define OPTION_HASH                                                                                \
    OPTION(                                                                                        \
        0, "hash", OF_CHOICE("HASH", "siphash siphash13"),                                         \
        "With --key-file: siphash (SipHash-2-4, the default) or siphash13 (SipHash-1-3: a third "  \
        "faster, with less margin; tepal 0.1 cannot read it).")

#define OPTION_NULL FLAG('0', "null", "Keys end with a NUL byte instead of a newline.")

#define OPTION_HEX FLAG('x', "hex", "Keys are in hexadecimal and are decoded to bytes first.")

#define OPTION_PLAIN                                                                               \
    FLAG(0, "plain",                                                                               \
         "Take key files as they are: do not decompress them, even if they look compressed, and "  \
         "keep a byte order mark.")

#define OPTION_CRLF                                                                                \
    FLAG(0, "crlf", "Lines end with a carriage return and a newline: neither is part of the key.")

#define OPTION_COMMENTS FLAG(0, "comments", "Leave out lines that begin with #, and empty ones.")

#define OPTION_UNIQUE                                                                              \
    FLAG(0, "unique",                                                                              \
         "Take each key once, however often it stands in the input (40 to 60 bytes of memory per " \
         "key).")

#define OPTION_JOBS                                                                                \
    OPTION(0, "jobs", OF_WHOLE("N", 1, 64),                                                        \
           "Work on N cores (default: all). The result is the same for every N.")

#define OPTION_DEMO_SEED                                                                           \
    OPTION('s', "seed", OF_VALUE(TAKES_SEED, "S"),                                                 \
           "The hash seed (default 1). The same seed gives the same results.")

#define OPTION_MEMBERS                                                                             \
    OPTION(0, "members", OF_VALUE(TAKES_FILE, "KEYS"),                                             \
           "All keys that the filter was built from, one per line (- is standard input).")

#define OPTION_METHOD                                                                              \
    OPTION(0, "method", OF_CHOICE("METHOD", METHOD_WORDS),                                         \
           "How to choose the bits to clear (default sacrifice, the best): random-bits, random, "  \
           "min-fn, max-fp, ratio, improved-min-fn, improved-max-fp, improved-ratio or "           \
           "sacrifice. For a generalized filter, whose bits are inverted: net-effect (its "        \
           "default) or least-fn.")

#define OPTION_ROWS_TSV FLAG('t', "tsv", "Print tab-separated rows after a header line.")

#define OPTION_FIELD                                                                               \
    OPTION(0, "field", OF_WHOLE("N", 1, UINT32_MAX),                                               \
           "The key is the N-th field of the line; fields are separated by blanks, as in awk. A "  \
           "line with fewer fields has the empty key.")

#define OPTION_DELIMITER                                                                           \
    OPTION(0, "delimiter", OF_VALUE(TAKES_BYTE, "C"),                                              \
           "Fields are separated by the character C, as in cut (\\t is a tab).")

#define OPTION_JSON                                                                                \
    FLAG('j', "json", "Print the result on standard output as JSON, one object per line.")

#define OPTION_QUIET FLAG('q', "quiet", "Print no summary, warnings or progress on standard error.")

#define OPTION_HELP FLAG('h', "help", "Print this help.")

/* How commands end their options that write a filter which others may be changing. */
#define WRITER_OPTIONS                                                                             \
    OPTION_FORCE, OPTION_NO_WAIT, OPTION_JSON, OPTION_QUIET, OPTION_HELP, OPTIONS_END

/* How keys are read. */
#define KEY_OPTIONS OPTION_NULL, OPTION_HEX, OPTION_CRLF, OPTION_COMMENTS, OPTION_PLAIN, OPTION_JOBS

/* What --layout and --positions say; nothing changes if they were not given. */
void arg_layout(const struct args *args, enum tepal_layout *layout);
void arg_positions(const struct args *args, enum tepal_positions *positions);

/* The hash: by --hash if there is a --key-file, unkeyed without. EXIT_TROUBLE: --hash alone. */
int arg_hash(const struct args *args, enum tepal_hash *hash);

/* What --seed says; by default a random one. EXIT_TROUBLE: the system has none. */
int arg_seed(const struct args *args, uint64_t *seed);

/* What --jobs says; by default one for each core. */
unsigned arg_jobs(const struct args *args);

/* Can digests keep the rate of this option, if it was given, for so many keys (0: not known)? */
int arg_rate_kept(const struct args *args, const char *name, uint64_t keys);

#endif
