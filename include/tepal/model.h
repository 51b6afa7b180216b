/*
 * tepal/model.h: the formulas. No filter, no memory: numbers in, numbers out. Each function names
 * its equation; docs/models.md derives them.
 */
#ifndef TEPAL_MODEL_H
#define TEPAL_MODEL_H

#include <tepal/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The textbook filter: m cells, n keys, k hashes, positions colliding.
 *
 *   classic   (1 - (1 - 1/m)^(kn))^k: treats the cells as independent; a lower bound, strict for
 *             k >= 2
 *   approx    (1 - e^(-kn/m))^k: what is usually printed
 *   exact     the true rate (Bose et al. 2008), E[(X/m)^k] for X ones after kn throws
 *   distinct  the true rate when each key's k positions differ from each other
 *
 * Preconditions: m >= 1, 1 <= k <= TEPAL_MAX_HASHES (distinct: k <= m). NaN otherwise.
 */
TEPAL_API double tepal_bloom_fp_classic(uint64_t m, uint64_t n, uint32_t k);
TEPAL_API double tepal_bloom_fp_approx(uint64_t m, uint64_t n, uint32_t k);
TEPAL_API double tepal_bloom_fp_exact(uint64_t m, uint64_t n, uint32_t k);
TEPAL_API double tepal_bloom_fp_distinct(uint64_t m, uint64_t n, uint32_t k);

/*
 * The true rate for any layout and either rule for positions: what a filter of these parameters
 * will do. NaN for what cannot be a filter.
 */
TEPAL_API double tepal_bloom_fp(enum tepal_layout layout, enum tepal_positions positions,
                                uint64_t m, uint64_t n, uint32_t k);

/* The expected share of ones after n keys. NaN for what cannot be a filter. */
TEPAL_API double tepal_bloom_fill(enum tepal_layout layout, enum tepal_positions positions,
                                  uint64_t m, uint64_t n, uint32_t k);

/*
 * The number of hashes with the lowest rate (by tepal_bloom_fp); n = 0 gives 1. 0 for what cannot
 * be a filter.
 */
TEPAL_API uint32_t tepal_bloom_best_hashes(enum tepal_layout layout, enum tepal_positions positions,
                                           uint64_t m, uint64_t n);

/*
 * The smallest m (whole lines for blocked and paired) at which some k keeps n keys at a rate of
 * at most fp, and the best k at that size. If *hashes is not 0 on entry that k is used.
 * TEPAL_BAD_ARGUMENT unless 0 < fp < 1, n >= 1 and layout, positions and k are valid;
 * TEPAL_TOO_LARGE if no m up to 2^60 does.
 */
TEPAL_API enum tepal_status tepal_bloom_size(enum tepal_layout layout,
                                             enum tepal_positions positions, uint64_t n, double fp,
                                             uint64_t *cells, uint32_t *hashes);

/*
 * Everything the model says of one setting, by name. `params` gives layout, positions, cells and
 * hashes (0: the best); n is the number of keys. Fails as tepal_params_check does.
 */
TEPAL_API enum tepal_status tepal_model_bloom(const struct tepal_params *params, uint64_t n,
                                              struct tepal_report *report, const char **why);

/*
 * The retouched Bloom filter (Donnet, Baynat and Friedman 2006), flat layout, colliding positions.
 * Equation (5) is tepal_bloom_fp_classic and _approx; (1), (8) and (9) are definitions.
 *
 *   zero       p0 = (1 - 1/m)^(kn), the chance that a bit is 0                          eq. (2)
 *   zero_approx  e^(-kn/m)                                                              eq. (3)
 *   best_hashes  (m/n) ln 2, as a real number                                           eq. (6)
 *   least_fp   (1/2)^((m/n) ln 2), the rate at that k                                   eq. (7)
 *   kept       r_s = (1 - s/(p1 m))^k, the share of false positives that stay, and of members that
 *              are still found, when s set bits are cleared at random           eqs. (13) to (16)
 *   chi        ((fp - fp') / fp) / fn: false positives removed to members lost, in shares
 *                                                                                eqs. (10) to (12)
 * NaN outside: m >= 1, 1 <= k <= TEPAL_MAX_HASHES, n >= 1 where it divides, 0 <= s <= p1 m.
 */
TEPAL_API double tepal_retouched_zero(uint64_t m, uint64_t n, uint32_t k);
TEPAL_API double tepal_retouched_zero_approx(uint64_t m, uint64_t n, uint32_t k);
TEPAL_API double tepal_retouched_best_hashes(uint64_t m, uint64_t n);
TEPAL_API double tepal_retouched_least_fp(uint64_t m, uint64_t n);
TEPAL_API double tepal_retouched_kept(uint64_t m, uint64_t n, uint32_t k, double s);
TEPAL_API double tepal_retouched_chi(double fp, double fp_after, double fn);

/*
 * Random selection (Algorithm 1) in closed form. With X ones, b troublesome keys and F false
 * positives in all, it clears the share y = 1 - (1 + (k-1) b / X)^(-1/(k-1)) of the ones (k = 1:
 * y = 1 - e^(-b/X)), makes n (1 - (1-y)^k) false negatives and removes (F - b)(1 - (1-y)^k) false
 * positives beyond B. Derivation: docs/models.md. Outputs may be NULL. TEPAL_BAD_ARGUMENT unless
 * X > 0, 0 <= b <= F and 1 <= k <= TEPAL_MAX_HASHES.
 */
TEPAL_API enum tepal_status tepal_retouched_random(uint64_t n, uint32_t k, double ones, double b,
                                                   double false_positives, double *cleared,
                                                   double *false_negatives, double *beyond);

/*
 * Everything the model says of retouching: a filter of n members out of a universe of `universe`
 * keys (> n), when a share beta (0..1) of its false positives is removed by random selection, and
 * when `bits` set bits are cleared at random. Fails as tepal_params_check does, or with
 * TEPAL_BAD_ARGUMENT; the formulas are those of the flat layout.
 */
TEPAL_API enum tepal_status tepal_model_retouched(const struct tepal_params *params, uint64_t n,
                                                  uint64_t universe, double beta, uint64_t bits,
                                                  struct tepal_report *report, const char **why);

/*
 * The recycling Bloom filter (Dozier, Salamatian and Rubenstein 2024): tepal/recycling.h. All rates
 * are *count-instance*: the share of new messages that are answered "seen", each message counted
 * once, when it first arrives. Derivations: docs/models.md.
 */
struct tepal_recycling_setting {
    enum tepal_layout layout;
    enum tepal_positions positions;
    uint64_t bits; /* M: of one phase */
    uint32_t hashes;
    uint64_t sigma; /* recycles when more bits are set; hashes <= sigma < bits */
    uint32_t phases;
    bool retain;       /* the trigger is the first message of the new cycle */
    bool keep_trigger; /* it stays in the phase that freezes */
};

#define TEPAL_RECYCLING_SETTING_INIT                                                               \
    {                                                                                              \
        TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 0, 0, 0, 1, false, false                     \
    }

/*
 * How the long-term average is computed. sweep: exactly, flat layout, O(k sigma) time; closed: the
 * limit of large M with its first-order correction, O(k) for the flat layout and some 30 rates for
 * the others; auto: the sweep where it takes no more than some 10 ms, else the closed form.
 */
enum tepal_recycling_method {
    TEPAL_RECYCLING_AUTO = 0,
    TEPAL_RECYCLING_SWEEP = 1,
    TEPAL_RECYCLING_CLOSED = 2
};

struct tepal_recycling_rates {
    double fp_average;         /* f_sigma of all phases, eqs. (18) and (26) */
    double fp_active;          /* of the active phase alone: one-phase f_sigma */
    double fp_frozen;          /* of one frozen phase */
    double fp_full;            /* of one phase with sigma bits set */
    double messages_per_cycle; /* new messages from one recycling to the next */
    double messages_from_zero; /* E[N0]: from an empty phase to the trigger, which is counted */
    enum tepal_recycling_method method; /* that was used */
};

/*
 * TEPAL_BAD_ARGUMENT for what cannot be such a filter, TEPAL_UNSUPPORTED for the sweep on a layout
 * other than flat.
 */
TEPAL_API enum tepal_status tepal_recycling_average(const struct tepal_recycling_setting *setting,
                                                    enum tepal_recycling_method method,
                                                    struct tepal_recycling_rates *rates);

/*
 * The steady state: pi[i] is the share of new messages that find i bits set in the active phase,
 * 0 <= i <= sigma; pi has room for sigma + 1. Flat layout. Eqs. (15) and (16).
 */
TEPAL_API enum tepal_status
tepal_recycling_distribution(const struct tepal_recycling_setting *setting, double *pi);

/*
 * The chance that a new message finds its cells set in a phase with `ones` bits set: eq. (17) for
 * the flat layout, the rate at the number of keys that make that fill for the others. NaN for what
 * cannot be a filter.
 */
TEPAL_API double tepal_recycling_rate(enum tepal_layout layout, enum tepal_positions positions,
                                      uint64_t bits, uint64_t ones, uint32_t hashes);

/* One hash in closed form, colliding, not retaining: 1 - (sigma+1) / (M (H_M - H_(M-sigma-1))). */
TEPAL_API double tepal_recycling_one_hash(uint64_t bits, uint64_t sigma);

/*
 * Filters that recycle after n messages (flat, colliding): the rate of the message after n, eq. (1)
 * (worst case); the average of an oracle that counts n new messages, eq. (2); the average when n
 * messages that set bits are counted, eq. (3). NaN unless m, n >= 1 and 1 <= k <= TEPAL_MAX_HASHES.
 */
TEPAL_API double tepal_recycling_worst(uint64_t m, uint64_t n, uint32_t k);
TEPAL_API double tepal_recycling_oracle(uint64_t m, uint64_t n, uint32_t k);
TEPAL_API double tepal_recycling_actual(uint64_t m, uint64_t n, uint32_t k);

/*
 * The inverse: the largest sigma (and, if setting->hashes is 0, the number of hashes) with which a
 * phase of setting->bits bits holds the most messages a cycle at an average of at most fp. Fills
 * setting->hashes, setting->sigma and *rates. Any M takes some milliseconds. TEPAL_BAD_ARGUMENT
 * unless 0 < fp < 1, or if no sigma >= hashes keeps the average.
 */
TEPAL_API enum tepal_status tepal_recycling_plan(struct tepal_recycling_setting *setting, double fp,
                                                 struct tepal_recycling_rates *rates);

/*
 * The largest n that the three ways of counting messages allow at a rate of fp, with the best
 * number of hashes if *hashes is 0. 0 if there is none.
 */
enum tepal_recycling_bound {
    TEPAL_RECYCLING_WORST = 0,
    TEPAL_RECYCLING_ORACLE = 1,
    TEPAL_RECYCLING_ACTUAL = 2
};
TEPAL_API uint64_t tepal_recycling_capacity(enum tepal_recycling_bound bound, uint64_t m, double fp,
                                            uint32_t *hashes);

/*
 * The three ways of counting false positives (Sec. II-E), from the count-instance rate fp and the
 * mean number of arrivals of a message within a cycle (>= 1): count-first fp / arrivals, count-each
 * fp (a message's arrivals do not depend on whether it was a false positive), count-instance fp.
 */
struct tepal_recycling_counts {
    double first;
    double each;
    double instance;
};
TEPAL_API struct tepal_recycling_counts tepal_recycling_count(double fp, double arrivals);

/*
 * False negatives: repeats that are answered "not seen" because their phase is gone. A stream is
 * told by its gaps: a repeat's gap is the number of messages since the message's previous arrival
 * (1: at once), `fresh` is the share of arrivals that are no repeats at all.
 */
struct tepal_recycling_gaps {
    /*
     * G, the share of repeats whose gap exceeds x, as steps: 1 for x < gap[0], survival[i] for
     * gap[i] <= x < gap[i + 1], survival[count - 1] beyond. gap ascends and is positive, survival
     * does not rise and lies in 0 .. 1.
     */
    const double *gap;
    const double *survival;
    size_t count;
    double fresh; /* 0 .. 1 */
};

struct tepal_recycling_misses {
    double period; /* T: arrivals, repeats included, from one recycling to the next; may be infinite
                      (the stream has fewer messages than a phase holds) */
    double fn;     /* of all repeats, the share answered "not seen" */
};

/*
 * From the rates of a setting (tepal_recycling_average) whose messages are always inserted.
 * Geometric gaps of mean `mean` >= 1, Pareto gaps (P(gap > x) = (scale / x)^shape for x >= scale)
 * with fresh messages among them, or independent references to `keys` keys of which the i-th is
 * asked in proportion to i^-exponent. TEPAL_BAD_ARGUMENT for what cannot be.
 */
TEPAL_API enum tepal_status tepal_recycling_fn_gaps(const struct tepal_recycling_setting *setting,
                                                    const struct tepal_recycling_rates *rates,
                                                    const struct tepal_recycling_gaps *gaps,
                                                    struct tepal_recycling_misses *misses);
TEPAL_API enum tepal_status
tepal_recycling_fn_geometric(const struct tepal_recycling_setting *setting,
                             const struct tepal_recycling_rates *rates, double mean, double fresh,
                             struct tepal_recycling_misses *misses);
TEPAL_API enum tepal_status tepal_recycling_fn_pareto(const struct tepal_recycling_setting *setting,
                                                      const struct tepal_recycling_rates *rates,
                                                      double shape, double scale, double fresh,
                                                      struct tepal_recycling_misses *misses);
TEPAL_API enum tepal_status tepal_recycling_fn_zipf(const struct tepal_recycling_setting *setting,
                                                    const struct tepal_recycling_rates *rates,
                                                    double exponent, uint64_t keys,
                                                    struct tepal_recycling_misses *misses);

/*
 * Everything the model says of one setting, by name. With sigma 0 in `setting` and 0 < fp < 1 it is
 * planned first (tepal_recycling_plan); otherwise fp is not looked at.
 */
TEPAL_API enum tepal_status tepal_model_recycling(const struct tepal_recycling_setting *setting,
                                                  double fp, struct tepal_report *report,
                                                  const char **why);

#ifdef __cplusplus
}
#endif

#endif
