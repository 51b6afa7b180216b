/* paper004.h: what the experiments on recycling Bloom filters share. */
#ifndef LAB_PAPER004_H
#define LAB_PAPER004_H

#include <tepal/tepal.h>

#include "lab.h"
#include "plot.h"

struct tepal_digest rbf_digest(struct lab *lab);
int rbf_failed(enum tepal_status status);

/*
 * The filter of a setting that recycles by `rule` at `limit`, with a seed of its own. Sabotaged, it
 * has a hash too many.
 */
int rbf_create(struct lab *lab, const struct tepal_recycling_setting *setting,
               enum tepal_recycling_rule rule, uint64_t limit, struct tepal_recycling **out);

/*
 * Epochs of all-new messages, each on a filter of its own that has settled: false positives, and
 * (may be NULL) the messages of a cycle.
 */
int rbf_epochs(struct lab *lab, const struct tepal_recycling_setting *setting,
               enum tepal_recycling_rule rule, uint64_t limit, size_t epochs, size_t messages,
               struct lab_share *fp, struct lab_mean *cycle);

int lab_004_negatives(struct lab *lab);

#endif
