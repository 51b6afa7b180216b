/*
 * judge.h: the parts of tepal_judge, for those who have the parameters before they have the filter.
 * If the filter may not go on, the judgement has the verdict.
 */
#ifndef TEPAL_SRC_FILE_JUDGE_H
#define TEPAL_SRC_FILE_JUDGE_H

#include <tepal/receive.h>

/* Nothing is known yet. TEPAL_BAD_ARGUMENT: no such terms, and the judgement is as it was. */
enum tepal_status tepal_judge_begin(const struct tepal_terms *terms,
                                    struct tepal_judgement *judgement, struct tepal_error *error);

/* The parameters, and the number of keys that are claimed: may it go on? */
bool tepal_judge_params(const struct tepal_params *params, uint64_t keys,
                        const struct tepal_terms *terms, struct tepal_judgement *judgement);

/* The bits of a filter whose parameters are all right. */
void tepal_judge_bits(const struct tepal_filter *filter, const struct tepal_terms *terms,
                      struct tepal_judgement *judgement);

#endif
