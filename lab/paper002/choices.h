/* choices.h: counting filters with c choices, filled with 10,000 keys. */
#ifndef LAB_PAPER002_CHOICES_H
#define LAB_PAPER002_CHOICES_H

#include "paper002/paper002.h"

#define KEYS    10000
#define RATIOS  5
#define CHOICES 6

extern const uint32_t lab_002_ratios[RATIOS]; /* counters a key */
extern const uint32_t lab_002_choices[CHOICES];

struct filled {
    struct tepal_filter *counting;
    uint64_t cells;
    uint32_t k;
    uint32_t c;
    struct tepal_digest member[KEYS];
    uint8_t group[KEYS];
    double share[TEPAL_MAX_COUNTER + 1]; /* of the counters, by value */
};

/* NULL after having said why. */
struct filled *filled_make(struct lab *lab, uint32_t ratio, uint32_t c,
                           enum tepal_counting_rule rule);
void filled_free(struct filled *f);

/* Members that are found in more than one of their groups. */
size_t filled_in_several(const struct filled *f);

/* A picture by choices, a curve for each of the first `rows` ratios. */
int lab_002_grid(struct lab *lab, struct lab_mean mean[RATIOS][CHOICES], size_t rows,
                 const char *title, const char *label);

#endif
