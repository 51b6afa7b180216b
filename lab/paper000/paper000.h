/*
 * paper000.h: what the experiments with retouched Bloom filters share. The setting of Sec. IV-C: a
 * universe of 2,000,000 keys, 10,000 members, 100,000 bits, 5 hashes, means of 15 runs.
 */
#ifndef LAB_PAPER000_PAPER000_H
#define LAB_PAPER000_PAPER000_H

#include <tepal/papers.h>
#include <tepal/tepal.h>

#include "experiment/lab.h"
#include "experiment/plot.h"

#define UNIVERSE 2000000
#define MEMBERS  10000
#define BITS     100000
#define HASHES   5
#define BETAS    8
#define MOST_BAD 25000

extern const double lab_000_beta[BETAS];

/* An empty Bloom filter, or NULL after having said why. */
struct tepal_filter *lab_000_bloom(uint64_t bits, uint32_t hashes);

/* One random filter with its members and all its false positives. */
struct sample {
    struct tepal_filter *bloom;
    struct tepal_digest member[MEMBERS];
    struct tepal_digest bad[MOST_BAD];
    size_t bad_count;
};

/* NULL without memory, which has been said. */
struct sample *lab_000_sample_draw(struct lab *lab);
void lab_000_sample_free(struct sample *s);

/* Retouch it against the first share beta of its false positives. */
int lab_000_sample_retouch(const struct sample *s, const struct tepal_retouch_options *options,
                           double beta, struct tepal_retouch_report *report);

/* As printed: a mean and, after +-, half of its 95 % interval (Student, 14 degrees of freedom). */
struct printed {
    double mean;
    double half;
};

#define STUDENT_14   2.145
#define PRINTED_RUNS 15

enum { INSIDE, BEYOND, BOTH, LOST, TABLE_COLUMNS };

struct table {
    enum tepal_retouch_method method;
    enum tepal_retouch_basis basis;
    struct printed cell[BETAS][TABLE_COLUMNS];
};

enum { RANDOM, MIN_FN, MAX_FP, RATIO, TABLES };
extern const struct table lab_000_table[TABLES]; /* Tables I to IV */

/* tables.c: I to IV */
int lab_000_tables(struct lab *lab);

/* figures.c */
int lab_000_figure_3(struct lab *lab);
int lab_000_section_3b(struct lab *lab);
int lab_000_figure_11(struct lab *lab);

/* methods.c */
int lab_000_figure_5(struct lab *lab);
int lab_000_figure_6(struct lab *lab);
int lab_000_improved(struct lab *lab); /* Figs. 8 to 10 */
int lab_000_sacrifice(struct lab *lab);

/* avoid.c */
int lab_000_told(struct lab *lab);
int lab_000_learn(struct lab *lab);

/* blind.c */
/* A counting filter with the members of the sample in the same places. */
int lab_000_counting(const struct sample *s, struct tepal_filter **out);
int lab_000_without_members(struct lab *lab);

/* stopset_sizes.c, stopset_methods.c, stopset_aspects.c, stopset_fresh.c */
int lab_000_figure_13(struct lab *lab);
int lab_000_figure_14(struct lab *lab);
int lab_000_figure_18(struct lab *lab);
int lab_000_figure_19(struct lab *lab);
int lab_000_figure_20(struct lab *lab);
int lab_000_table_5(struct lab *lab);
int lab_000_fresh(struct lab *lab);

#endif
