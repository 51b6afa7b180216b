/* kind_options.h: the options that are a kind's own, as build has them, and model for some. */
#ifndef TOOL_COMMANDS_BUILD_KIND_OPTIONS_H
#define TOOL_COMMANDS_BUILD_KIND_OPTIONS_H

#include <tepal/fingerprint.h>
#include <tepal/recycling.h>

#include "cli/options.h"
#include "input/receipts.h"

#define OPTION_YES_BITS                                                                            \
    OPTION(0, "yes-bits", OF_WHOLE("P", 1, (uint64_t)1 << 60),                                     \
           "yesno: the bits of the yes-filter, with those of the no-filters. Without it the best " \
           "layout for the whole size is taken.")

#define OPTION_NO_BITS                                                                             \
    OPTION(0, "no-bits", OF_WHOLE("Q", 1, UINT32_MAX), "yesno: the bits of each no-filter.")

#define OPTION_NO_FILTERS                                                                          \
    OPTION(0, "no-filters", OF_WHOLE("R", 0, 64),                                                  \
           "yesno: how many no-filters; 0 makes the Bloom filter.")

#define OPTION_NO_HASHES                                                                           \
    OPTION(0, "no-hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),                                     \
           "yesno: the number of hashes of a no-filter (default: the best).")

#define OPTION_VETO_AVOID                                                                          \
    OPTION(0, "avoid", OF_VALUE(TAKES_FILE, "NEGATIVES"),                                          \
           "yesno, cascade: keys that are known not to be in the set and will be asked for, one "  \
           "a line (- is standard input). Members among them are reported, and stay members.")

#define OPTION_VETO_WEIGHTS                                                                        \
    FLAG('w', "weights",                                                                           \
         "yesno, --auto: each line of NEGATIVES is a key, a tab and a weight: how much its false " \
         "positive hurts. (A cascade vetoes all alike.)")

#define OPTION_VETO_METHOD                                                                         \
    OPTION(0, "method", OF_CHOICE("METHOD", "greedy nextfit bestfit pairs local-search exact"),    \
           "yesno: how the false positives go to the no-filters (default local-search): greedy, "  \
           "nextfit, bestfit, pairs, local-search, or exact, which proves that no less can be "    \
           "left (small sets only).")

#define OPTION_OWN_SEEDS                                                                           \
    FLAG(0, "own-seeds",                                                                           \
         "yesno: every no-filter hashes in its own way, which leaves less. (With a layout that "   \
         "is chosen, they do anyway.)")

#define OPTION_SALTS                                                                               \
    OPTION(0, "salts", OF_WHOLE("N", 1, 1000000),                                                  \
           "yesno: build with up to N re-hashings of all keys and keep the best one.")

#define OPTION_TOLERATE                                                                            \
    OPTION(0, "tolerate", OF_WHOLE("N", 0, UINT64_MAX),                                            \
           "yesno: let up to N members be lost for what is left (default: none).")

#define OPTION_TIME_LIMIT                                                                          \
    OPTION(0, "time-limit", OF_VALUE(TAKES_POSITIVE, "SECONDS"),                                   \
           "yesno: let local-search and exact go on until they are done or so much time has "      \
           "passed, for each re-hashing.")

#define OPTION_PRINT_BITS                                                                          \
    OPTION(0, "fingerprint-bits",                                                                  \
           OF_WHOLE("F", TEPAL_FINGERPRINT_MIN_BITS, TEPAL_FINGERPRINT_MAX_BITS),                  \
           "fingerprint: the bits of a fingerprint, 4 to 32 (default: as the rate or the size "    \
           "asks).")

#define OPTION_RESET_HASHES                                                                        \
    OPTION(0, "reset-hashes", OF_WHOLE("K0", 0, TEPAL_MAX_HASHES),                                 \
           "generalized: hashes that reset bits (default 2).")

#define OPTION_SETTING_HASHES                                                                      \
    OPTION(0, "set-hashes", OF_WHOLE("K1", 0, TEPAL_MAX_HASHES),                                   \
           "generalized: hashes that set bits (default 2).")

#define OPTION_ZEROS                                                                               \
    OPTION(0, "zeros", OF_VALUE(TAKES_PART, "P0"),                                                 \
           "generalized: the share of bits that are 0 at first, within 0..1 (default 1).")

#define OPTION_TOLERANCE                                                                           \
    OPTION(0, "tolerance", OF_WHOLE("B", 0, TEPAL_MAX_HASHES - 1),                                 \
           "generalized: a key with up to B inverted bits is still found (default 0; with --fp "   \
           "or --fn: the best).")

#define OPTION_FN                                                                                  \
    OPTION(0, "fn", OF_VALUE(TAKES_PART, "RATE"),                                                  \
           "generalized: the false-negative rate that no key may exceed; --fp is then the rate "   \
           "that no filter may exceed, whoever fills it (default 1% each). As a plan's "           \
           "constraint: at most; 0: none.")

#define OPTION_CYCLE_PHASES                                                                        \
    OPTION(0, "phases", OF_WHOLE("P", 1, TEPAL_RECYCLING_MAX_PHASES),                              \
           "recycling: how many phases of --bits bits there are (model: default 1; build: 2). "    \
           "All are asked; the oldest is forgotten at a time.")

#define OPTION_CYCLE_SIGMA                                                                         \
    OPTION(0, "sigma", OF_WHOLE("S", 1, (uint64_t)1 << 60),                                        \
           "recycling: a phase is full when more than S of its bits would be set (default: as "    \
           "--fp asks, 1%).")

#define OPTION_CYCLE_MESSAGES                                                                      \
    OPTION(0, "messages", OF_WHOLE("N", 1, UINT64_MAX),                                            \
           "recycling: a phase is full when more than N messages would have set bits in it.")

#define OPTION_FORGET                                                                              \
    FLAG(0, "forget-trigger",                                                                      \
         "recycling: the trigger (the message that finds the phase full) is not the first "        \
         "message of the new cycle.")

#define OPTION_KEEP_TRIGGER                                                                        \
    FLAG(0, "keep-trigger", "recycling: the trigger stays in the phase that freezes.")

#define OPTION_ONLY_MISSES                                                                         \
    FLAG(0, "only-misses", "recycling: insert only messages that no phase has.")

#define OPTION_CELLS                                                                               \
    OPTION(0, "cells", OF_WHOLE("M", 1, (uint64_t)1 << 60),                                        \
           "counting: M counters in all (blocked and paired: a multiple of 128). A counter takes " \
           "5 bits: 4, and one beside it for queries.")

#define OPTION_CHOICES                                                                             \
    OPTION(0, "choices", OF_WHOLE("C", 1, 64),                                                     \
           "counting: groups of hashes to choose from when a key is added, 1 to 64 (default 1, "   \
           "the counting Bloom filter).")

#define OPTION_RULE                                                                                \
    OPTION(0, "rule", OF_CHOICE("RULE", "improved-greedy greedy least-increase"),                  \
           "counting: how to choose: improved-greedy or greedy; least-increase on the blocked "    \
           "and paired layouts. (The default is the first that the layout has.)")

#define OPTION_POLICY                                                                              \
    OPTION(0, "policy", OF_CHOICE("POLICY", "keep remove"),                                        \
           "counting: what removal without a receipt does with a key that is found in several "    \
           "groups: keep it (the default), or remove it from one of them, which is often the "     \
           "wrong one.")

#define GENERALIZED_BUILD                                                                          \
    OPTION_RESET_HASHES, OPTION_SETTING_HASHES, OPTION_ZEROS, OPTION_TOLERANCE, OPTION_FN
#define COUNTING_BUILD OPTION_CELLS, OPTION_CHOICES, OPTION_RULE, OPTION_POLICY, OPTION_RECEIPTS_OUT
#define RECYCLING_BUILD                                                                            \
    OPTION_CYCLE_PHASES, OPTION_CYCLE_SIGMA, OPTION_CYCLE_MESSAGES, OPTION_FORGET,                 \
        OPTION_KEEP_TRIGGER, OPTION_ONLY_MISSES
#define YESNO_SIZES                                                                                \
    OPTION_YES_BITS, OPTION_NO_BITS, OPTION_NO_FILTERS, OPTION_NO_HASHES, OPTION_OWN_SEEDS
#define YESNO_BUILD                                                                                \
    OPTION_VETO_AVOID, OPTION_VETO_WEIGHTS, YESNO_SIZES, OPTION_VETO_METHOD, OPTION_SALTS,         \
        OPTION_TOLERATE, OPTION_TIME_LIMIT

#endif
