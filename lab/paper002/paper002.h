/* paper002.h: what the experiments with counting filters share. */
#ifndef LAB_PAPER002_PAPER002_H
#define LAB_PAPER002_PAPER002_H

#include <tepal/papers.h>
#include <tepal/tepal.h>

#include "experiment/lab.h"
#include "experiment/plot.h"

/* A filter on the flat layout, or NULL after having said why. */
struct tepal_filter *lab_002_filter(uint64_t cells, uint32_t hashes, uint32_t choices,
                                    enum tepal_counting_rule rule,
                                    enum tepal_counting_policy policy);

/* A key that was not added and is found. */
struct tepal_digest lab_002_false_positive(struct lab *lab, const struct tepal_filter *counting);

/* Take a key that is found from the first of its groups that has it. */
enum tepal_status lab_002_remove_first(struct tepal_filter *counting, struct tepal_digest key);

/*
 * Sec. 5.3.2, the first category: k random counters above 0 lose 1; how many members are missed?
 * owner: by counter, who alone owns it, from 1; 0: nobody. The counters are not changed.
 */
uint32_t lab_002_expose(struct lab *lab, const struct tepal_filter *counting, uint64_t cells,
                        uint32_t k, const uint32_t *owner);

/* A random counter that is above 0. */
uint64_t lab_002_above_zero(struct lab *lab, const struct tepal_filter *counting, uint64_t cells);

/* A share of zeros of 10,000 keys in each of several filters; a quotient of two rows. */
void lab_002_zeros(struct lab_row *row, const struct lab_mean *zeros, uint32_t ratio);
void lab_002_quotient(struct lab_row *row, const struct lab_row *over, const struct lab_row *under);

/*
 * "About 40 percent" more zeros at c = 50; 30 at 16 and 20 counters a key. zeros: at c = 1 and 50;
 * leeway: by how much their share may be off.
 */
void lab_002_more_zeros(struct lab *lab, const struct lab_mean zeros[2], uint32_t ratio,
                        double leeway, const char *before);

/* theorems.c */
int lab_002_figure_1(struct lab *lab);
int lab_002_figure_2(struct lab *lab);
int lab_002_theorems(struct lab *lab);

/* theory.c: of filters with one choice, at most so many keys and hashes */
#define LAB_002_KEYS   100
#define LAB_002_HASHES 16

/* P(Y = y): the members that one wrong removal loses in the end. */
void lab_002_lost(uint64_t m, uint32_t n, uint32_t k, double pmf[TEPAL_MAX_HASHES + 1]);

/* E[Y] and E[Z] after so many wrong removals: lost in the end, and missed at once. */
void lab_002_many(uint64_t m, uint32_t n, uint32_t k, uint32_t wrong, double mean[2]);

/* names.c */
#define LAB_002_NAMES 90000 /* n = 10,000 and the T = 8 n that are asked for */
#define LAB_002_NAME  64

struct lab_002_names {
    char text[LAB_002_NAMES][LAB_002_NAME];
    size_t count;
};

/* Names of two parts of two to four syllables; or, where there are data, those of DBLP. */
void lab_002_make(struct lab *lab, struct lab_002_names *list);
int lab_002_load(struct lab *lab, struct lab_002_names *list);

enum lab_002_method {
    LAB_002_OURS,
    LAB_002_SDBM_BUZ,
    LAB_002_SDBM_MT,
    LAB_002_BUZ_MT,
    LAB_002_METHODS
};
extern const char *const lab_002_method_names[LAB_002_METHODS];

uint64_t lab_002_sdbm(const char *text);
void lab_002_words(struct lab *lab, uint64_t table[256]);          /* random */
uint64_t lab_002_buz(const uint64_t table[256], const char *text); /* by a word a byte */
void lab_002_twister(uint32_t seed, uint32_t *out, size_t count);

/* progression.c */
int lab_002_progression(struct lab *lab);

/* choices.c, exposure.c */
struct lab_002_model {
    double p0;
    double fp;
    double exposed; /* E[Z] */
};

/* What the library's model says of 10,000 keys, k = floor(m/n ln 2). */
struct lab_002_model lab_002_model(uint32_t ratio, uint32_t c, bool improved);

int lab_002_figure_3(struct lab *lab);
int lab_002_figure_5(struct lab *lab);
int lab_002_figure_7(struct lab *lab);
int lab_002_offline(struct lab *lab);
int lab_002_figure_8(struct lab *lab);
int lab_002_figure_9(struct lab *lab);
int lab_002_figure_10(struct lab *lab);

/* keys.c */
int lab_002_hashes(struct lab *lab);
int lab_002_churn(struct lab *lab);

/* states.c */
int lab_002_states(struct lab *lab);

#endif
