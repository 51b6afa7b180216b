/* paper004.h: what the experiments on recycling Bloom filters share. */
#ifndef LAB_PAPER004_PAPER004_H
#define LAB_PAPER004_PAPER004_H

#include <tepal/papers.h>
#include <tepal/tepal.h>

#include "experiment/lab.h"
#include "experiment/plot.h"

#define RBF_MEMORY 1000 /* bits of the simulations, of all phases together */

/*
 * The filter of a setting that recycles by `rule` at `limit`, with a seed of its own. Sabotaged, it
 * has a hash too many.
 */
int rbf_create(struct lab *lab, const struct tepal_recycling_setting *setting,
               enum tepal_recycling_rule rule, uint64_t limit, struct tepal_filter **out);

/*
 * What the model says of a setting; and so many epochs of all-new messages, each on a filter of its
 * own that has settled: false positives, and (may be NULL) the messages of a cycle.
 */
int rbf_both(struct lab *lab, const struct tepal_recycling_setting *setting, size_t epochs,
             size_t messages, struct tepal_recycling_rates *rates, struct lab_share *fp,
             struct lab_mean *cycle);

/* A setting of so many bits a phase; the rest as it is by default. */
struct tepal_recycling_setting rbf_setting(uint64_t bits, uint32_t hashes, uint64_t sigma,
                                           uint32_t phases);

/* Capacities at an average rate, each with its best number of hashes. */
struct rbf_capacity {
    double sigma;  /* expected messages of a cycle, one phase */
    double worst;  /* by f_w */
    double actual; /* by f_a */
    double oracle; /* by f_o */
    double halves; /* of two phases of half the bits, together */
};

int rbf_capacity(struct lab *lab, uint64_t bits, double fp, struct rbf_capacity *out);

/*
 * N_w / N_sigma in the limit of large filters, each with its best k. A filter fills as x = 1 -
 * e^(-kN/M); its average is 1 - (sum over j <= k of x^j / j) / -ln(1 - x), its worst rate x^k.
 */
double rbf_share_in_limit(double fp);

/* A filter of a million bits holds whole messages, and is not infinite: off by so much. */
#define RBF_WHOLE_MESSAGES(count) (2 / (count) + 1e-5)

#define RBF_RATES 8
extern const double rbf_rates_asked[RBF_RATES];

/* A claim of all points, and the share of them that bear it out. */
void rbf_all_of(struct lab *lab, uint64_t hits, uint64_t points, const char *words);

/* averages.c, text.c, streams.c, average.c, chain.c, counts.c */
int lab_004_fig_3(struct lab *lab);
int lab_004_fig_4(struct lab *lab);
int lab_004_fig_5(struct lab *lab);
int lab_004_fig_6(struct lab *lab);
int lab_004_fig_7(struct lab *lab);
int lab_004_fig_8(struct lab *lab);
int lab_004_text(struct lab *lab);
int lab_004_negatives(struct lab *lab);
int lab_004_average(struct lab *lab);
int lab_004_chain(struct lab *lab);
int lab_004_count(struct lab *lab);
int lab_004_ways(struct lab *lab);

#endif
