/* paper002.h: what the experiments with counting filters share. */
#ifndef LAB_PAPER002_H
#define LAB_PAPER002_H

#include <tepal/tepal.h>

#include "lab.h"

/* A random key. */
struct tepal_digest lab_002_digest(struct lab *lab);

/* EXIT_TROUBLE, after having said what the status means. */
int lab_002_failed(enum tepal_status status);

/* A filter on the flat layout, or NULL after having said why. */
struct tepal_counting *lab_002_filter(uint64_t cells, uint32_t hashes, uint32_t choices,
                                      enum tepal_counting_rule rule,
                                      enum tepal_counting_policy policy);

/* A key that was not added and is found. */
struct tepal_digest lab_002_false_positive(struct lab *lab, const struct tepal_counting *counting);

struct svg_point lab_002_point(double x, const struct lab_mean *mean);

/* paper002_theory.c: of filters with one choice, at most so many keys and hashes */
#define LAB_002_KEYS   100
#define LAB_002_HASHES 16

/* P(Y = y): the members that one wrong removal loses in the end. */
void lab_002_lost(uint64_t m, uint32_t n, uint32_t k, double pmf[TEPAL_MAX_HASHES + 1]);

/* E[Y] and E[Z] after so many wrong removals: lost in the end, and missed at once. */
void lab_002_many(uint64_t m, uint32_t n, uint32_t k, uint32_t wrong, double mean[2]);

/* paper002_choices.c */
int lab_002_figure_3(struct lab *lab);
int lab_002_figure_5(struct lab *lab);
int lab_002_figure_7(struct lab *lab);
int lab_002_figure_8(struct lab *lab);
int lab_002_figure_9(struct lab *lab);
int lab_002_figure_10(struct lab *lab);

/* paper002_keys.c */
int lab_002_hashes(struct lab *lab);
int lab_002_churn(struct lab *lab);

#endif
