/*
 * paper001.h: what the experiments on generalized Bloom filters share: filters that are filled and
 * asked.
 */
#ifndef LAB_PAPER001_PAPER001_H
#define LAB_PAPER001_PAPER001_H

#include <tepal/papers.h>
#include <tepal/tepal.h>

#include "experiment/lab.h"
#include "experiment/plot.h"

#define GBF_KEYS 256 /* n of Tables 1 to 8; also the most that are measured */

/* A setting: m bits, n keys, hashes that reset and set, the share of zeros at first (p0). */
struct gbf {
    uint64_t bits;
    uint64_t keys;
    uint32_t k0;
    uint32_t k1;
    double zeros;
};

struct gbf_seen {
    struct lab_share fp;               /* strangers that were found */
    struct lab_share fn;               /* members that were not */
    struct lab_share fn_age[GBF_KEYS]; /* the same by age; 0: the newest */
};

/* The parameters of the setting. */
struct tepal_params gbf_params(const struct gbf *at, uint32_t tolerance, uint64_t seed);

/* The filter of the setting with a seed of its own, sabotage or not. */
int gbf_plain(struct lab *lab, const struct gbf *at, struct tepal_filter **out);

/* So many filters, each with its n keys, and so many strangers that are asked for. */
int gbf_measure(struct lab *lab, const struct gbf *at, size_t rounds, size_t strangers,
                struct gbf_seen *seen);

/* Keys that are asked for when exactly n others were added after them: F_n, of eq. (24). */
int gbf_oldest(struct lab *lab, const struct gbf *at, size_t rounds, size_t keys,
               struct lab_share *lost);

/* What the library's model says of it, without approximation. */
int gbf_exact(const struct gbf *at, uint64_t age, struct tepal_generalized_errors *rates,
              double *fn_age);

/*
 * Sec. 4: "For a 95 % confidence level, the largest confidence interval obtained was 0.003", of
 * 1000 rounds. It cannot have been, for Figs. 7 to 9: the oldest element is found or not, a round.
 */
int gbf_interval_row(struct lab *lab, const struct gbf *at, const struct gbf_seen *seen,
                     const char *words);

/* The parts of the list. */
int lab_001_tables(struct lab *lab);
int lab_001_text(struct lab *lab);
int lab_001_fig_2(struct lab *lab);
int lab_001_by_ones(struct lab *lab);    /* Figs. 3, 5 and 6 */
int lab_001_by_element(struct lab *lab); /* Figs. 7 and 8 */
int lab_001_fig_9(struct lab *lab);
int lab_001_by_start(struct lab *lab); /* Figs. 10 and 11 */
int lab_001_fig_12(struct lab *lab);
int lab_001_universal(struct lab *lab);
int lab_001_web(struct lab *lab);
int lab_001_peers(struct lab *lab);
int lab_001_traceback(struct lab *lab);
int lab_001_wildcards(struct lab *lab);

#endif
