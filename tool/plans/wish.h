/*
 * wish.h: from the options of plan, build --auto and compare to a wish (tepal/plan.h).
 */
#ifndef TOOL_PLANS_WISH_H
#define TOOL_PLANS_WISH_H

#include <tepal/plan.h>

#include "cli/command.h"
#include "plans/weights.h"

#define WISH_GAPS 8192 /* steps of a gap file, at most */

struct wish {
    struct tepal_wish wish;
    double *steps;          /* gaps and survival, ours */
    struct weights weights; /* of the known negatives */
    const char *negatives;  /* the file of known negatives, or NULL */
    bool weighted;          /* its lines have weights */
    double bits_per_key;    /* 0: not given */
    bool assumed_keys;      /* bits a key without keys: planned for a million */
};

/*
 * The wish of the options; keys > 0 are those counted by the caller, `negatives` is the caller's
 * file of them, or NULL. EXIT_YES, or EXIT_TROUBLE
 * after saying why. Free with wish_free either way.
 */
int wish_read(const struct args *args, uint64_t keys, const char *negatives, struct wish *wish);
void wish_free(struct wish *wish);

/*
 * The lines of a gap file (tepal gaps --save): gap, repeats, survival, and "# fresh SHARE" before
 * them. gap and survival have room for `most`. NULL, or what is wrong with it.
 */
const char *wish_gaps(const char *text, size_t len, double *gap, double *survival, size_t most,
                      struct tepal_gaps *out);

/* The stream of --stream and --gaps, if one was given, into the wish. */
int wish_stream(const struct args *args, struct wish *wish);

/* Warns that strangers are not bounded, if nobody asked for that. */
void wish_warn(const struct args *args, const struct wish *wish, const struct tepal_plans *plans);

/*
 * How many keys these files have together (with --unique: different ones). EXIT_YES, or
 * EXIT_TROUBLE after saying why.
 */
int wish_count(const struct args *args, const char **paths, size_t files, uint64_t *count);

/* Of --counter-bits, for counting filters; 0 if it was not given. */
uint32_t wish_counter_bits(const struct args *args);

#define OPTION_WISH_COUNTER_BITS                                                                   \
    OPTION(0, "counter-bits", OF_CHOICE("BITS", "4 8"),                                            \
           "Bits per counter of counting filters: 8 for keys that are added more than 14 times "   \
           "(default 4; 8 if keys are removed and counters of 4 bits would stick).")

#define OPTION_WISH_MEMORY                                                                         \
    OPTION('M', "memory", OF_SIZE(1, (uint64_t)1 << 56), "Maximum size of the cells, in bytes.")

#define OPTION_WISH_BITS_PER_KEY                                                                   \
    OPTION(0, "bits-per-key", OF_VALUE(TAKES_POSITIVE, "B"),                                       \
           "Maximum size in bits per key (a million keys if their number is not known).")

#define OPTION_FP_KNOWN                                                                            \
    OPTION(0, "fp-known", OF_VALUE(TAKES_PART, "RATE"),                                            \
           "With known negatives: the share of them (with --weights, of their weight) that may "   \
           "be found; 0 for none (default: none, or as few as the memory allows).")

#define OPTION_CLOSED_WORLD                                                                        \
    FLAG(0, "closed-world",                                                                        \
         "Only members and known negatives will be looked up: strangers (other keys) may pass. "   \
         "Implied by --header-bits without --fp.")

#define OPTION_FP_AVERAGE                                                                          \
    OPTION(0, "fp-average", OF_VALUE(TAKES_RATE, "RATE"),                                          \
           "With --endless: maximum false-positive rate, averaged over time.")

#define OPTION_DELETES FLAG(0, "deletes", "Keys will be removed.")

#define OPTION_WRONG_DELETES                                                                       \
    OPTION(0, "wrong-deletes", OF_VALUE(TAKES_PART, "RATE"),                                       \
           "With --deletes: wrong removals (of keys that were never added) per key.")

#define OPTION_UNTRUSTED                                                                           \
    FLAG(0, "untrusted",                                                                           \
         "The filter is exchanged with untrusted parties: its false-positive rate must be "        \
         "bounded whatever bits it has.")

#define OPTION_WISH_WEIGHTS                                                                        \
    FLAG('w', "weights",                                                                           \
         "Each line of the negatives is a key, a tab and a weight: how often it is looked up, or " \
         "the cost of its false positive. The rate of known negatives is then a share of the "     \
         "weight, not of the keys.")

#define OPTION_ENDLESS FLAG(0, "endless", "The keys are an endless stream.")

#define OPTION_WISH_GAPS                                                                           \
    OPTION(0, "gaps", OF_VALUE(TAKES_FILE, "FILE"),                                                \
           "With --endless: the gaps of the stream, a file saved by tepal gaps.")

#define OPTION_WISH_STREAM                                                                         \
    OPTION(                                                                                        \
        0, "stream", OF_VALUE(TAKES_TEXT, "LAW"),                                                  \
        "With --endless: the distribution of the gaps, geometric:MEAN[,NEW] or "                   \
        "pareto:SHAPE,SCALE[,NEW] (NEW: share of new keys), or of the keys, zipf:EXPONENT,KEYS.")

#define OPTION_HEADER_BITS                                                                         \
    OPTION(0, "header-bits", OF_WHOLE("M", 1, (uint64_t)1 << 20),                                  \
           "Exactly M bits, for a filter in a packet header.")

#define OPTION_PREFER                                                                              \
    OPTION(0, "prefer", OF_CHOICE("WHAT", "size speed"),                                           \
           "How to rank plans that keep the rates: by size (default) or speed (cache lines per "   \
           "lookup).")

#define OPTION_COST_FP                                                                             \
    OPTION(0, "cost-fp", OF_VALUE(TAKES_POSITIVE, "C"),                                            \
           "The cost of one false positive (default 1).")

#define OPTION_COST_FN                                                                             \
    OPTION(0, "cost-fn", OF_VALUE(TAKES_POSITIVE, "C"),                                            \
           "The cost of one false negative (default 1). With either cost, plans with false "       \
           "negatives are ranked with the others.")

#define WISH_OPTIONS                                                                               \
    OPTION_WISH_MEMORY, OPTION_FP_KNOWN, OPTION_CLOSED_WORLD, OPTION_FP_AVERAGE, OPTION_DELETES,   \
        OPTION_WRONG_DELETES, OPTION_UNTRUSTED, OPTION_ENDLESS, OPTION_WISH_GAPS,                  \
        OPTION_WISH_STREAM, OPTION_HEADER_BITS, OPTION_PREFER, OPTION_COST_FP, OPTION_COST_FN

#endif
