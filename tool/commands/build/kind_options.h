/* kind_options.h: the options that are a kind's own, as build has them, and model for some. */
#ifndef TOOL_COMMANDS_BUILD_KIND_OPTIONS_H
#define TOOL_COMMANDS_BUILD_KIND_OPTIONS_H

#include <tepal/params.h>
#include <tepal/recycling.h>

#include "cli/options.h"
#include "commands/avoid_budget.h"
#include "input/receipts.h"

#define OPTION_YES_BITS                                                                            \
    OPTION(0, "yes-bits", OF_WHOLE("P", 1, (uint64_t)1 << 60),                                     \
           "yesno: bits of the yes-filter; give --no-bits and --no-filters, too. Without it, the " \
           "best division of the total size is chosen.")

#define OPTION_NO_BITS                                                                             \
    OPTION(0, "no-bits", OF_WHOLE("Q", 1, UINT32_MAX), "yesno: bits of each no-filter.")

#define OPTION_NO_FILTERS                                                                          \
    OPTION(0, "no-filters", OF_WHOLE("R", 0, 64),                                                  \
           "yesno: number of no-filters; 0 makes a plain Bloom filter.")

#define OPTION_NO_HASHES                                                                           \
    OPTION(0, "no-hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),                                     \
           "yesno: hash functions of each no-filter (default: the best number).")

#define OPTION_VETO_AVOID                                                                          \
    OPTION(0, "avoid", OF_VALUE(TAKES_FILE, "NEGATIVES"),                                          \
           "yesno, cascade: keys that are known not to be in the set and will be looked up, one "  \
           "per line (- is standard input). Members among them are reported and stay members.")

#define OPTION_VETO_WEIGHTS                                                                        \
    FLAG('w', "weights",                                                                           \
         "yesno, --auto: each line of NEGATIVES is a key, a tab and a weight: the cost of its "    \
         "false positive. (A cascade vetoes all of them.)")

#define OPTION_VETO_METHOD                                                                         \
    OPTION(0, "method", OF_CHOICE("METHOD", "greedy nextfit bestfit pairs local-search exact"),    \
           "yesno: how false positives are assigned to no-filters (default local-search): "        \
           "greedy, nextfit, bestfit, pairs, local-search, or exact, which proves its result "     \
           "optimal (small sets only).")

#define OPTION_OWN_SEEDS                                                                           \
    FLAG(0, "own-seeds",                                                                           \
         "yesno: a hash seed for each no-filter, which leaves fewer false positives. (Always so "  \
         "if tepal divides the total size.)")

#define OPTION_SALTS                                                                               \
    OPTION(0, "salts", OF_WHOLE("N", 1, 1000000),                                                  \
           "yesno: try up to N re-hashings of all keys and keep the best; with --fp-known, until " \
           "no more known negatives are found (N is 6 then, if not given).")

#define OPTION_TOLERATE                                                                            \
    OPTION(0, "tolerate", OF_WHOLE("N", 0, UINT64_MAX),                                            \
           "yesno: lose up to N members to veto false positives that are left (default 0).")

#define OPTION_TOLERATE_WEIGHT                                                                     \
    OPTION(0, "tolerate-weight", OF_VALUE(TAKES_POSITIVE, "W"),                                    \
           "yesno: lose members of up to this weight in total (--member-weights) to veto false "   \
           "positives that are left.")

#define OPTION_MEMBER_WEIGHTS                                                                      \
    FLAG(0, "member-weights",                                                                      \
         "yesno: each line of KEYS is a key, a tab and a weight: what losing the member costs.")

#define OPTION_TIME_LIMIT                                                                          \
    OPTION(0, "time-limit", OF_VALUE(TAKES_POSITIVE, "SECONDS"),                                   \
           "yesno: run local-search and exact until they finish or this time is up, for each "     \
           "re-hashing.")

#define OPTION_PRINT_BITS                                                                          \
    OPTION(0, "fingerprint-bits",                                                                  \
           OF_WHOLE("F", TEPAL_MIN_FINGERPRINT_BITS, TEPAL_MAX_FINGERPRINT_BITS),                  \
           "fingerprint: bits per fingerprint, 4 to 32 (default: from the rate or the size).")

#define OPTION_GROW                                                                                \
    FLAG(0, "grow",                                                                                \
         "A filter that grows with its keys, from those given here (or --first N) to "             \
         "--capacity N at the rate --fp, and beyond: the kind growing, whose rate then rises "     \
         "slowly, or with --kind chain Bloom filters in a row, which take more memory.")

#define OPTION_FIRST                                                                               \
    OPTION(0, "first", OF_WHOLE("N", 1, (uint64_t)1 << 40),                                        \
           "growing, chain: room for N keys at first (default: for the keys given, or a "          \
           "thousandth of the planned number).")

#define OPTION_GROWTH                                                                              \
    OPTION(0, "growth", OF_VALUE(TAKES_POSITIVE, "S"),                                             \
           "chain: the factor by which it grows with each part (default 2).")

#define OPTION_SERIES                                                                              \
    OPTION(0, "series", OF_CHOICE("SERIES", "even halving"),                                       \
           "chain: how the parts share the rate: even (default; the fewest bits), or each has "    \
           "half of the one before, as in Redis.")

#define OPTION_RESET_HASHES                                                                        \
    OPTION(0, "reset-hashes", OF_WHOLE("K0", 0, TEPAL_MAX_HASHES),                                 \
           "generalized: number of hash functions that reset bits (default 2).")

#define OPTION_SETTING_HASHES                                                                      \
    OPTION(0, "set-hashes", OF_WHOLE("K1", 0, TEPAL_MAX_HASHES),                                   \
           "generalized: number of hash functions that set bits (default 2).")

#define OPTION_ZEROS                                                                               \
    OPTION(0, "zeros", OF_VALUE(TAKES_PART, "P0"),                                                 \
           "generalized: share of bits that are 0 initially, 0 to 1 (default 1).")

#define OPTION_TOLERANCE                                                                           \
    OPTION(0, "tolerance", OF_WHOLE("B", 0, TEPAL_MAX_HASHES - 1),                                 \
           "generalized: find a key even if up to B of its bits are inverted (default 0; with "    \
           "--fp or --fn, the best).")

#define OPTION_FN                                                                                  \
    OPTION(0, "fn", OF_VALUE(TAKES_PART, "RATE"),                                                  \
           "generalized: upper bound on the false-negative rate of every key; --fp is then an "    \
           "upper bound whatever bits the filter has (default 1% each). For a plan: the maximum; " \
           "0 for none.")

#define OPTION_CYCLE_PHASES                                                                        \
    OPTION(0, "phases", OF_WHOLE("P", 1, TEPAL_MAX_PHASES),                                        \
           "recycling: number of phases of --bits bits each (default: build 2, model 1). Lookups " \
           "check all phases; recycling clears the oldest.")

#define OPTION_CYCLE_SIGMA                                                                         \
    OPTION(0, "sigma", OF_WHOLE("S", 1, (uint64_t)1 << 60),                                        \
           "recycling: a phase is full when more than S of its bits would be set (default: from "  \
           "--fp, 1%).")

#define OPTION_CYCLE_MESSAGES                                                                      \
    OPTION(0, "messages", OF_WHOLE("N", 1, UINT64_MAX),                                            \
           "recycling: a phase is full when more than N messages would have set bits in it. Give " \
           "--bits, or --fp for the fewest bits that keep this average rate (flat).")

#define OPTION_FORGET                                                                              \
    FLAG(0, "forget-trigger",                                                                      \
         "recycling: do not insert the trigger (the message that finds the phase full) into the "  \
         "new cycle.")

#define OPTION_KEEP_TRIGGER                                                                        \
    FLAG(0, "keep-trigger", "recycling: keep the trigger in the phase that freezes.")

#define OPTION_ONLY_MISSES                                                                         \
    FLAG(0, "only-misses", "recycling: insert only messages that are not found in any phase.")

#define OPTION_CELLS                                                                               \
    OPTION(0, "cells", OF_WHOLE("M", 1, (uint64_t)1 << 60),                                        \
           "counting: M counters in total (blocked and paired: whole lines). A counter takes 5 "   \
           "bits: 4, and one extra bit for lookups.")

#define OPTION_LINE_CELLS                                                                          \
    OPTION(0, "line-cells", OF_CHOICE("CELLS", "128 512"),                                         \
           "counting, blocked and paired: counters in a line: 512 (default), with a Bloom "        \
           "filter's false positives, or 128, faster to change; files of 0.1.0 have 128.")

#define OPTION_COUNTER_BITS                                                                        \
    OPTION(0, "counter-bits", OF_CHOICE("BITS", "4 8"),                                            \
           "counting: bits per counter, 4 (default) or 8, for keys that are added more than 14 "   \
           "times. A counter that reaches 15 (255) is never lowered again.")

#define OPTION_CHOICES                                                                             \
    OPTION(0, "choices", OF_WHOLE("C", 1, 64),                                                     \
           "counting: groups of hash functions to choose from when a key is added, 1 to 64 "       \
           "(default 1, the classic counting Bloom filter).")

#define OPTION_OFFLINE                                                                             \
    FLAG(0, "offline",                                                                             \
         "counting: choose the groups once all keys are known, by a search: about half the false " \
         "positives. For sets that are built once; needs the keys in memory.")

#define OPTION_RULE                                                                                \
    OPTION(0, "rule", OF_CHOICE("RULE", "improved-greedy greedy least-increase"),                  \
           "counting: how to choose the group: improved-greedy (default) or greedy; on the "       \
           "blocked and paired layouts, least-increase.")

#define OPTION_BUILD_RULE                                                                          \
    OPTION(0, "rule", OF_CHOICE("RULE", "improved-greedy greedy least-increase average sigma"),    \
           "counting: how to choose the group: improved-greedy (default) or greedy; on the "       \
           "blocked and paired layouts, least-increase. recycling: how to keep --fp: by sigma "    \
           "(default), a fixed fill, or by average, which holds on streams that repeat, too.")

#define OPTION_POLICY                                                                              \
    OPTION(0, "policy", OF_CHOICE("POLICY", "keep remove"),                                        \
           "counting: what removal without a receipt does with a key that is found in several "    \
           "groups: keep it (default), or remove it from one of them, often the wrong one.")

#define GENERALIZED_BUILD                                                                          \
    OPTION_RESET_HASHES, OPTION_SETTING_HASHES, OPTION_ZEROS, OPTION_TOLERANCE, OPTION_FN
#define COUNTING_BUILD                                                                             \
    OPTION_CELLS, OPTION_LINE_CELLS, OPTION_COUNTER_BITS, OPTION_CHOICES, OPTION_OFFLINE,          \
        OPTION_BUILD_RULE, OPTION_POLICY, OPTION_RECEIPTS_OUT, OPTION_BUDGET, OPTION_BUDGET_COUNT
#define RECYCLING_BUILD                                                                            \
    OPTION_CYCLE_PHASES, OPTION_CYCLE_SIGMA, OPTION_CYCLE_MESSAGES, OPTION_FORGET,                 \
        OPTION_KEEP_TRIGGER, OPTION_ONLY_MISSES
#define YESNO_SIZES                                                                                \
    OPTION_YES_BITS, OPTION_NO_BITS, OPTION_NO_FILTERS, OPTION_NO_HASHES, OPTION_OWN_SEEDS
#define YESNO_BUILD                                                                                \
    OPTION_VETO_AVOID, OPTION_VETO_WEIGHTS, YESNO_SIZES, OPTION_VETO_METHOD, OPTION_SALTS,         \
        OPTION_TOLERATE, OPTION_TOLERATE_WEIGHT, OPTION_MEMBER_WEIGHTS, OPTION_TIME_LIMIT

#endif
