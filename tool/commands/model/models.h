/*
 * models.h: the models of `tepal model NAME`. A new one is a line in the table of model.c and a
 * file model_KIND.c: which options are its own, and how they become a report.
 */
#ifndef TOOL_COMMANDS_MODEL_MODELS_H
#define TOOL_COMMANDS_MODEL_MODELS_H

#include <tepal/params.h>

#include "cli/command.h"

struct model {
    const char *name;
    enum tepal_layout layout;
    const enum option_id *options; /* of model, and understood by this one; ends with OPT_END */
    /* EXIT_YES, or EXIT_TROUBLE after saying why. */
    int (*report)(const struct args *args, enum tepal_layout layout, struct tepal_report *report);
    /* Groups of which one may be given; NULL: --fp or --bits. */
    const enum option_id (*exclusive)[4];
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

/* Cells and hashes of a Bloom filter for --fp, into *p. */
int model_solve_bloom(const struct args *args, struct tepal_params *p, uint64_t keys);

#endif
