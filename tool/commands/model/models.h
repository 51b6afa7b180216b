/*
 * models.h: the models of `tepal model NAME`. A new one is a line in the table of model.c and a
 * file model_KIND.c: which options are its own, and how they become a report.
 */
#ifndef TOOL_COMMANDS_MODEL_MODELS_H
#define TOOL_COMMANDS_MODEL_MODELS_H

#include <tepal/params.h>

#include "cli/command.h"
#include "commands/build/negatives.h"
#include "commands/build/recipe.h"
#include "commands/build/kind_options.h"

struct model {
    const char *name;
    enum tepal_layout layout;
    const char *const *options; /* of model, and understood by this one; ends with NULL */
    /* --layout, --positions, --bits and --hashes are in *p. EXIT_YES, or EXIT_TROUBLE. */
    int (*report)(const struct args *args, uint64_t keys, struct tepal_params *p,
                  struct tepal_report *report);
    /* Groups of which one may be given; NULL: --fp or --bits. */
    const char *const (*exclusive)[4];
};

extern const struct model model_bloom;
extern const struct model model_partitioned;
extern const struct model model_blocked;
extern const struct model model_paired;
extern const struct model model_retouched;
extern const struct model model_fingerprint;
extern const struct model model_growing;
extern const struct model model_chain;
extern const struct model model_recycling;
extern const struct model model_generalized;
extern const struct model model_counting;
extern const struct model model_yesno;
extern const struct model model_cascade;

/* --keys, and --bits or --fp, must be given; with --fp, its cells and hashes go into *p. */
int model_need_bloom(const struct args *args);
int model_solve_bloom(const struct args *args, struct tepal_params *p, uint64_t keys);

#define OPTION_UNIVERSE                                                                            \
    OPTION('U', "universe", OF_WHOLE("N", 2, UINT64_MAX),                                          \
           "retouched: total number of keys, members included.")

#define OPTION_BETA                                                                                \
    OPTION('b', "beta", OF_VALUE(TAKES_SHARE, "R"),                                                \
           "retouched: share of the false positives to remove (default 1).")

#define OPTION_MODEL_CLEAR_BITS                                                                    \
    OPTION(0, "clear-bits", OF_WHOLE("S", 0, UINT64_MAX),                                          \
           "retouched: number of bits cleared at random (default 0).")

#define OPTION_NEGATIVES                                                                           \
    OPTION(0, "negatives", OF_WHOLE("N", 0, UINT64_MAX),                                           \
           "yesno, cascade: number of known negatives (default 0).")

#define OPTION_DISTINCT FLAG(0, "distinct", "The same as --positions distinct.")

#define OPTION_RETAIN                                                                              \
    FLAG(0, "retain",                                                                              \
         "recycling: the trigger (the message that finds the phase full) is inserted into the "    \
         "new cycle as its first message.")

#define OPTION_MODEL_GAPS                                                                          \
    OPTION(                                                                                        \
        0, "gaps", OF_VALUE(TAKES_FILE, "FILE"),                                                   \
        "recycling: the gaps of the stream, a file saved by tepal gaps: what its new lines and "   \
        "its repeats will meet, by sigma or by average.")

#define OPTION_MODEL_STREAM                                                                        \
    OPTION(0, "stream", OF_VALUE(TAKES_TEXT, "LAW"),                                               \
           "recycling: the same by a law, as in tepal plan: geometric:MEAN[,NEW], "                \
           "pareto:SHAPE,SCALE[,NEW] or zipf:EXPONENT,KEYS.")

#define OPTION_P0                                                                                  \
    OPTION(0, "p0", OF_VALUE(TAKES_SHARE, "R"),                                                    \
           "counting: measured share of counters that are 0 (see tepal info).")

#define OPTION_P1                                                                                  \
    OPTION(0, "p1", OF_VALUE(TAKES_SHARE, "R"), "counting: measured share of counters that are 1.")

#define OPTION_WRONG                                                                               \
    OPTION(0, "wrong", OF_WHOLE("N", 0, UINT64_MAX),                                               \
           "counting: number of removed keys that were never added (default 1).")

#define COUNTING_MODEL                                                                             \
    OPTION_CELLS, OPTION_LINE_CELLS, OPTION_COUNTER_BITS, OPTION_CHOICES, OPTION_BUILD_RULE,       \
        OPTION_P0, OPTION_P1, OPTION_WRONG
#define YESNO_MODEL OPTION_NEGATIVES, YESNO_SIZES
#define RECYCLING_MODEL                                                                            \
    OPTION_CYCLE_PHASES, OPTION_CYCLE_SIGMA, OPTION_CYCLE_MESSAGES, OPTION_DISTINCT,               \
        OPTION_RETAIN, OPTION_KEEP_TRIGGER, OPTION_MODEL_GAPS, OPTION_MODEL_STREAM

#endif
