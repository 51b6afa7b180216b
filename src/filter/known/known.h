/*
 * known.h: what the kinds that are told which keys to avoid share: yes-no filters and cascades,
 * which are built from members and known negatives, and retouching, which takes some of those out.
 *
 *   known.c        what is refused, known negatives that are members after all, what `info` says
 *   digest_set.c   an exact set of digests, which finds them
 */
#ifndef TEPAL_SRC_FILTER_KNOWN_KNOWN_H
#define TEPAL_SRC_FILTER_KNOWN_KNOWN_H

#include <stdbool.h>

#include <tepal/known.h>

/* Members, or known negatives: their indices are 32 bits wide, with room for a mark. */
#define KNOWN_MOST_KEYS ((size_t)1 << 31)

/* Are all weights finite and not negative? NULL: every key weighs 1. */
bool tepal_known_weights_valid(const double *weights, size_t count);

static inline double known_weight_of(const double *weights, size_t i)
{
    return weights == NULL ? 1 : weights[i];
}

/* All of the known negatives, as given. */
double tepal_known_avoid_weight(const struct tepal_known *known);

/*
 * What all builders refuse: TEPAL_TOO_LARGE, or TEPAL_BAD_ARGUMENT for a known negative's weight.
 * (Members' weights are checked by those who look at them.)
 */
enum tepal_status tepal_known_check(const struct tepal_known *known, struct tepal_error *error);

/* The most members that retouching may give up, and the most of their weight. */
struct known_limits {
    uint64_t lost;
    double weight;
};

/* Keys in the order of their weights: the heaviest first, of equal ones the first (for qsort). */
struct known_weight {
    double weight;
    uint32_t key;
};
int tepal_known_heavier(const void *a, const void *b);

/*
 * Of the known negatives whose bit is set in `found`, which are members (the same digest)? Their
 * bits are cleared; *both gets how many they are. Every member's digest that is among `avoid` must
 * be found: filters find their members, so that those which were not found need no second look.
 * TEPAL_NO_MEMORY.
 */
enum tepal_status tepal_known_pass_members(const struct tepal_allocator *allocator,
                                           const struct tepal_digest *members, size_t member_count,
                                           const struct tepal_digest *avoid, size_t avoid_count,
                                           uint64_t *found, uint64_t *both);

/* What is wrong with these counts of known negatives, if each was not made of the one before? */
const char *tepal_known_flaw(uint64_t avoid, uint64_t positive, uint64_t left);

/*
 * Report fp_known: of `avoid` known negatives `left` were still found when the filter was built.
 * Once keys were added `later` nobody has counted again. What they may let in is what the part that
 * all keys pass has gained, and a known negative passes no more easily than an `unknown` key does:
 * on the average it is found at that rate at most, and never at less than it was built with.
 */
void tepal_known_report_rate(struct tepal_report *report, uint64_t avoid, uint64_t left,
                             uint64_t later, double unknown);

/* Report avoid_left, which is known until keys are added. */
void tepal_known_report_left(struct tepal_report *report, uint64_t left, uint64_t later);

#endif
