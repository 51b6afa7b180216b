/*
 * judge.h: the parts of tepal_judge, for those who have the parameters before they have the filter.
 * Each returns whether the filter may go on; if not, the receipt has the verdict.
 */
#ifndef TEPAL_SRC_FILE_JUDGE_H
#define TEPAL_SRC_FILE_JUDGE_H

#include <tepal/receive.h>

/* Nothing is known yet. False: there are no such terms, and the receipt is as it was. */
bool tepal_judge_begin(const struct tepal_terms *terms, struct tepal_receipt *receipt);

/* The parameters, and the number of keys that are claimed. */
bool tepal_judge_params(const struct tepal_params *params, uint64_t keys,
                        const struct tepal_terms *terms, struct tepal_receipt *receipt);

/* The bits of a filter whose parameters are all right. */
void tepal_judge_bits(const struct tepal_filter *filter, const struct tepal_terms *terms,
                      struct tepal_receipt *receipt);

#endif
