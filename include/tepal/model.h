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
 * The yes-no Bloom filter (Carrea, Vernitski and Reed 2016). Eqs. (4) to (7), (29): the Bloom
 * filter's, with p bits. in_set is Pr[S], the share of members among what is asked; fs is f_S; fr
 * is f_R, the chance that a key which is not stored in a no-filter is in one; stored is Pr[R].
 *
 *   positive        Pr[S~], what the yes-filter has                                     eq. (10)
 *   false_positive  Pr[F]                                                            eqs. (8), (11)
 *   error_printed   Pr[E]: lets f_R act on members, though none is vetoed   eqs. (13), (15)-(24)
 *                   in_set = 0 gives eqs. (26), (27), and stored = 0 besides eq. (28)
 *   error           (Pr[F] - Pr[R]) (1 - f_R): as it should be
 *   veto            f_R of one no-filter that stores so many keys: eq. (30), where n is printed for
 *                   `stored`; eq. (31) is fs (1 - veto)
 */
TEPAL_API double tepal_yesno_positive(double in_set, double fs);
TEPAL_API double tepal_yesno_false_positive(double in_set, double fs);
TEPAL_API double tepal_yesno_error_printed(double in_set, double fs, double fr, double stored);
TEPAL_API double tepal_yesno_error(double in_set, double fs, double fr, double stored);
TEPAL_API double tepal_yesno_veto(uint64_t q, double stored, uint32_t no_hashes);

/* Sizes and hashes of a yes-no filter, and what is to be expected of them. */
struct tepal_yesno_plan {
    uint64_t yes_bits;   /* p */
    uint32_t hashes;     /* k */
    uint64_t no_bits;    /* q */
    uint64_t no_filters; /* r */
    uint32_t no_hashes;  /* k' */
    bool own_seeds;
    double fp_unknown; /* the rate on unknown negatives: the yes-filter's */
    double positive;   /* known negatives that the yes-filter has */
    double left;       /* of these, left by local-search: an estimate (docs/models.md) */
};

/*
 * fp_unknown, positive and left of a plan for n members and t known negatives. TEPAL_BAD_ARGUMENT
 * if it is none.
 */
TEPAL_API enum tepal_status tepal_yesno_predict(enum tepal_layout layout,
                                                enum tepal_positions positions, uint64_t n,
                                                uint64_t t, struct tepal_yesno_plan *plan);

/*
 * The plan with the lowest rate on t known negatives for m bits in all (whole lines for blocked and
 * paired) and n members; where that can hardly be lowered any more, the one with the lowest rate on
 * unknown ones. If plan->hashes or plan->no_hashes is not 0 on entry, that is used.
 * TEPAL_BAD_ARGUMENT if there is none.
 */
TEPAL_API enum tepal_status tepal_yesno_choose(enum tepal_layout layout,
                                               enum tepal_positions positions, uint64_t m,
                                               uint64_t n, uint64_t t,
                                               struct tepal_yesno_plan *plan);

/* Everything the model says of a plan, by name. TEPAL_BAD_ARGUMENT if it is none. */
TEPAL_API enum tepal_status tepal_model_yesno(enum tepal_layout layout,
                                              enum tepal_positions positions,
                                              const struct tepal_yesno_plan *plan, uint64_t n,
                                              uint64_t t, struct tepal_report *report,
                                              const char **why);

#ifdef __cplusplus
}
#endif

#endif
