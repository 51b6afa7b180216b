/*
 * tepal/known.h: what is known in advance, and what was made of it. Four calls build a filter from
 * its members and from known negatives, keys that will be looked up although they are not members:
 * tepal_retouch, tepal_yesno_build, tepal_cascade_build and tepal_plan_build. They share this
 * input; the last three also share this report (tepal_retouch has more to report).
 */
#ifndef TEPAL_KNOWN_H
#define TEPAL_KNOWN_H

#include <tepal/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Digests made with the filter's hasher. The arrays stay the caller's and are not changed; a weight
 * array is NULL (1 each) or as long as its keys, with finite weights >= 0. Give every key once: a
 * key given twice counts twice (in a cascade it does no harm). At most 2^31 keys in each array.
 *
 * A key to avoid that is also a member (the same digest) is reported and left alone: members win.
 */
struct tepal_known {
    const struct tepal_digest *members;
    size_t member_count;
    const double *member_weights; /* used by tepal_retouch, and by yes-no filters if some may go */

    const struct tepal_digest *avoid; /* known negatives that should not be found */
    size_t avoid_count;
    const double *avoid_weights; /* ignored by a cascade, which avoids all */

    /*
     * Only for tepal_retouch: all known negatives or false positives, including those of `avoid`
     * (generalized filters: without them); NULL if `avoid` is all that is known.
     */
    const struct tepal_digest *others;
    size_t other_count;
};

/* What was built, counted by querying the result. */
struct tepal_known_report {
    uint64_t members;         /* given */
    uint64_t avoid_given;     /* keys to avoid, as given */
    uint64_t avoid_members;   /* of them, members: not counted below */
    uint64_t avoid_positive;  /* of the others, found before they were dealt with: by the Bloom
                                 filter, by the yes-filter alone, by a cascade's first level */
    uint64_t avoid_left;      /* of these, still found; all of them by kinds that only add */
    uint64_t false_negatives; /* members that are not found: given up, or forgotten */
    double avoid_weight;      /* of the keys to avoid, as given */
    double positive_weight;   /* of avoid_positive; NaN: a cascade does not weigh */
    double weight_left;       /* of avoid_left */
    double members_weight;    /* yesno: of the members, 1 each without weights */
    double weight_lost;       /* yesno: of false_negatives */
    uint64_t salt;            /* yesno: params.yesno.salt of the result */
    uint64_t steps;           /* yesno: moves and nodes of the search, over all salts */
    bool proved_optimal;      /* yesno: no distribution leaves less weight, for this salt */
    uint32_t levels;          /* of a cascade; otherwise 0 */
    uint64_t level_keys[TEPAL_MAX_LEVELS]; /* that the build stored in each level */
};

#ifdef __cplusplus
}
#endif

#endif
