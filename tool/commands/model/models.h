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

struct model {
    const char *name;
    enum tepal_layout layout;
    const char *const *options; /* of model, and understood by this one; ends with NULL */
    /* EXIT_YES, or EXIT_TROUBLE after saying why. */
    int (*report)(const struct args *args, enum tepal_layout layout, struct tepal_report *report);
    /* Groups of which one may be given; NULL: --fp or --bits. */
    const char *const (*exclusive)[4];
};

extern const struct model model_bloom;
extern const struct model model_partitioned;
extern const struct model model_blocked;
extern const struct model model_paired;
extern const struct model model_retouched;
extern const struct model model_fingerprint;
extern const struct model model_recycling;
extern const struct model model_generalized;
extern const struct model model_counting;
extern const struct model model_yesno;
extern const struct model model_cascade;

/* --keys, and --bits or --fp, must be given; they and --hashes go into *p. */
int model_start_bloom(const struct args *args, enum tepal_layout layout, struct tepal_params *p);

/* Cells and hashes of a Bloom filter for --fp, if that was given, into *p. */
int model_solve_bloom(const struct args *args, struct tepal_params *p, uint64_t keys);

extern const struct option option_universe;
extern const struct option option_beta;
extern const struct option option_model_clear_bits;
extern const struct option option_negatives;
extern const struct option option_distinct;
extern const struct option option_retain;
extern const struct option option_p0;
extern const struct option option_p1;
extern const struct option option_wrong;

#define COUNTING_MODEL                                                                             \
    &option_cells, &option_choices, &option_rule, &option_p0, &option_p1, &option_wrong
#define YESNO_MODEL                                                                                \
    &option_negatives, &option_yes_bits, &option_no_bits, &option_no_filters, &option_no_hashes,   \
        &option_own_seeds
#define RECYCLING_MODEL                                                                            \
    &option_cycle_phases, &option_cycle_sigma, &option_distinct, &option_retain,                   \
        &option_keep_trigger

#endif
