/*
 * paper003.h: what the experiments with yes-no filters share: random instances, built in one
 * setting, and rows about what is left.
 */
#ifndef LAB_PAPER003_PAPER003_H
#define LAB_PAPER003_PAPER003_H

#include <tepal/papers.h>
#include <tepal/tepal.h>

#include "experiment/lab.h"
#include "experiment/plot.h"

/* As the paper names them: p + r q bits, k and k' hashes, n members, t known negatives. */
struct veto_setting {
    uint64_t p;
    uint32_t k;
    uint64_t q;
    uint64_t r;
    uint32_t no_hashes;
    size_t n;
    size_t t;
    enum tepal_positions positions;
    bool own_seeds;
};

/* Sec. V: 160 + 3 x 32 bits, 4 and 5 hashes, 30 members, 100 known negatives. */
extern const struct veto_setting lab_veto_usual;

/*
 * What greedy leaves on T: of 10^4 experiments that were made apart from this library, with half of
 * their 99.9 % interval. As usual; with one no-filter; with 40 members; with distinct positions.
 */
#define LEFT_USUAL      0.047
#define LEFT_USUAL_H    0.010
#define LEFT_ONE        2.87
#define LEFT_ONE_H      0.10
#define LEFT_40         1.35
#define LEFT_40_H       0.10
#define LEFT_DISTINCT   0.020
#define LEFT_DISTINCT_H 0.006

/* A row of what greedy leaves: what it should be, if this is the usual setting. */
struct lab_row lab_veto_left(const struct veto_setting *s);

#define VETO_MOST 200

struct veto_keys {
    struct tepal_digest member[VETO_MOST];
    struct tepal_digest avoid[VETO_MOST];
    double weight[VETO_MOST];
    bool weighted;
};

void lab_veto_draw(struct lab *lab, const struct veto_setting *s, struct veto_keys *keys);

/* Parameters of p bits of yes-filter with k hashes, and r no-filters of q bits. */
struct tepal_params lab_veto_params(uint64_t p, uint32_t k, uint64_t q, uint64_t r,
                                    uint32_t no_hashes);

/*
 * The filter of these keys; `out` may be NULL. Sabotaged: with one hash in the no-filters.
 * EXIT_YES, or EXIT_TROUBLE after saying why.
 */
int lab_veto_build(struct lab *lab, const struct veto_setting *s, const struct veto_keys *keys,
                   const struct tepal_yesno_options *how, struct tepal_filter **out,
                   struct tepal_known_report *report);

/* A Bloom filter of the members, as large as the yes-filter; NULL after having said why. */
struct tepal_filter *lab_veto_bloom(const struct veto_setting *s, const struct veto_keys *keys);

/* Means over random instances. `left` counts instances by what is left, the last by all more. */
struct veto_sample {
    struct lab_mean left;
    struct lab_mean positive;
    size_t proved;
    uint64_t steps;
    size_t by_left[VETO_MOST];
};
int lab_veto_sample(struct lab *lab, const struct veto_setting *s,
                    const struct tepal_yesno_options *how, size_t trials,
                    struct veto_sample *sample);

/*
 * How many instances the method can do in about so many steps, known from 8 that are not used
 * otherwise: between `least` and `most`.
 */
int lab_veto_afford(struct lab *lab, const struct veto_setting *s,
                    const struct tepal_yesno_options *how, double steps, size_t least, size_t most,
                    size_t *trials);

/*
 * `ours` of a row, from a mean that cannot be negative and is 0 now and then: where nothing was
 * seen in N trials, the interval goes up to ln(2000) / N.
 */
void lab_veto_measured(struct lab_row *row, const struct lab_mean *mean);

/* Yes (1) or no (0): what the paper says, what we hold to be right, what we see. */
void lab_veto_claim(struct lab *lab, bool says, bool right, bool ours, const char *words);

/* Paper 003 in parts: experiments of Sec. V, formulas and layouts, Sec. VIII. */
int lab_veto_fig_6(struct lab *lab);
int lab_veto_fig_7(struct lab *lab);
int lab_veto_fig_8(struct lab *lab);
int lab_veto_fig_9(struct lab *lab);
int lab_veto_fig_10(struct lab *lab);
int lab_veto_fig_11(struct lab *lab);
int lab_veto_fig_12(struct lab *lab);
int lab_veto_fig_13(struct lab *lab);
int lab_veto_fig_14(struct lab *lab);
int lab_veto_methods(struct lab *lab);
int lab_veto_formulas(struct lab *lab);
int lab_veto_layouts(struct lab *lab);
int lab_veto_weights(struct lab *lab);
int lab_veto_cascade(struct lab *lab);
int lab_veto_fig_16(struct lab *lab);
int lab_veto_fig_17(struct lab *lab);
int lab_veto_fig_18(struct lab *lab);

#endif
