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
 * The generalized Bloom filter (Laufer, Velloso and Duarte 2011), flat layout, colliding positions:
 * m bits, k0 hashes that reset and k1 that set, a share p0 of zeros at first, n keys added, a
 * tolerance of b inverted bits. `age` is the number of keys added after the one in question.
 *
 *   q0, q1       the chance that one addition resets (sets) a given bit        eqs. (4), (5)
 *   untouched    that it does neither                                          eq. (6)
 *   zero         p, the chance that a bit is 0 after n keys                    eq. (7)
 *   kept_zero    p00, that a bit which a key reset is still (or again) 0       eq. (9)
 *   kept_one     p11, that a bit which a key set is still (or again) 1         eq. (10)
 *   fp_classic   p^(m q0) (1-p)^(m q1); no tolerance                           eq. (8)
 *   fn_age_classic   1 - p00^(m q0) p11^(m q1); no tolerance                   eq. (11)
 *   fn_classic   its mean over the n keys                                      eq. (12)
 *
 * and what is usually computed, with e^(-1/m) for 1 - 1/m, k0 for m q0 and k1 for m q1 (eq. (21)):
 *
 *   q0_approx, q1_approx, untouched_approx                                     eqs. (4) to (6)
 *   zero_approx  p0 r + k0/(k0+k1) (1 - r), r = untouched^n                    eq. (26)
 *   kept_zero_approx, kept_one_approx                                          eqs. (22), (23)
 *   fp_approx    P(Bin(k0, 1-p) + Bin(k1, p) <= b), p of (26); b = 0:          eq. (16)
 *   fn_age_approx    P(Bin(k0, 1-p00) + Bin(k1, 1-p11) > b), p00 and p11 of (22) and (23);
 *                b = 0 and age n:                                              eq. (24)
 *   fn_approx    its mean over the n keys
 *   fn_bound     fn_age_approx at age n: no key is forgotten with more         eq. (24)
 *   worst_zero   the p at which fp_approx is largest; b = 0: k0/(k0+k1)        eq. (18)
 *   fp_bound     fp_approx there: no filter of whatever bits passes more; b = 0:  eq. (19)
 *
 * Any k0 + k1 >= 1 will do, also beyond what a filter takes; p0 in 0..1; m >= 1. NaN otherwise. Of
 * the three that have no n, worst_zero is NaN and fp_bound is 1 where b >= min(k0, k1): all ones or
 * all zeros then pass every key.
 */
TEPAL_API double tepal_generalized_q0(uint64_t m, uint32_t k0, uint32_t k1);
TEPAL_API double tepal_generalized_q0_approx(uint64_t m, uint32_t k0, uint32_t k1);
TEPAL_API double tepal_generalized_q1(uint64_t m, uint32_t k0, uint32_t k1);
TEPAL_API double tepal_generalized_q1_approx(uint64_t m, uint32_t k0, uint32_t k1);
TEPAL_API double tepal_generalized_untouched(uint64_t m, uint32_t k0, uint32_t k1);
TEPAL_API double tepal_generalized_untouched_approx(uint64_t m, uint32_t k0, uint32_t k1);
TEPAL_API double tepal_generalized_zero(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1,
                                        double p0);
TEPAL_API double tepal_generalized_zero_approx(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1,
                                               double p0);
TEPAL_API double tepal_generalized_kept_zero(uint64_t m, uint64_t age, uint32_t k0, uint32_t k1);
TEPAL_API double tepal_generalized_kept_zero_approx(uint64_t m, uint64_t age, uint32_t k0,
                                                    uint32_t k1);
TEPAL_API double tepal_generalized_kept_one(uint64_t m, uint64_t age, uint32_t k0, uint32_t k1);
TEPAL_API double tepal_generalized_kept_one_approx(uint64_t m, uint64_t age, uint32_t k0,
                                                   uint32_t k1);
TEPAL_API double tepal_generalized_fp_classic(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1,
                                              double p0);
TEPAL_API double tepal_generalized_fp_approx(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1,
                                             uint32_t b, double p0);
TEPAL_API double tepal_generalized_fn_age_classic(uint64_t m, uint64_t age, uint32_t k0,
                                                  uint32_t k1);
TEPAL_API double tepal_generalized_fn_age_approx(uint64_t m, uint64_t age, uint32_t k0, uint32_t k1,
                                                 uint32_t b);
TEPAL_API double tepal_generalized_fn_classic(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1);
TEPAL_API double tepal_generalized_fn_approx(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1,
                                             uint32_t b);
TEPAL_API double tepal_generalized_fn_bound(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1,
                                            uint32_t b);
TEPAL_API double tepal_generalized_worst_zero(uint32_t k0, uint32_t k1, uint32_t b);
TEPAL_API double tepal_generalized_fp_bound(uint32_t k0, uint32_t k1, uint32_t b);

/*
 * A given filter, of which `zeros` of the m bits are 0: the chance that a key drawn without looking
 * at them passes, exactly, under three rules for a reset and a set of one key that meet:
 *   literal     both are asked for, and every hash that finds the wrong bit counts: the text of the
 *               paper; such a key is a false negative from its birth (about k0 k1 / m)
 *   precedence  only the reset is asked for, and a bit counts once: what this library does
 *   distinct    they never meet: this library with distinct positions
 * and the most that an adversary can reach who chooses the number of zeros: the finite-filter
 * bound. It exceeds fp_bound by about the factor 1 + k0 (k0 + k1) / m (precedence) or
 * 1 + (k0 + k1) / (2 m) (distinct). NaN unless m >= 1, zeros <= m and 1 <= k0 + k1 <=
 * TEPAL_MAX_HASHES (distinct: <= m).
 */
enum tepal_generalized_rule {
    TEPAL_GENERALIZED_LITERAL = 0,
    TEPAL_GENERALIZED_PRECEDENCE = 1,
    TEPAL_GENERALIZED_DISTINCT = 2
};
TEPAL_API double tepal_generalized_fp_given(enum tepal_generalized_rule rule, uint64_t m,
                                            uint64_t zeros, uint32_t k0, uint32_t k1, uint32_t b);
TEPAL_API double tepal_generalized_fp_bound_finite(enum tepal_generalized_rule rule, uint64_t m,
                                                   uint32_t k0, uint32_t k1, uint32_t b);

/*
 * The same bound for a filter of these parameters, whatever its layout. Blocked: an adversary may
 * give whole sectors of a line to zeros and others to ones, which the keys' cells, one a sector,
 * then meet in larger shares: with (2, 2) 8.6 % instead of 6.3 %, with (4, 4) 1.4 % instead of
 * 0.4 %. (For k > 8 the two rounds are bounded one by one.) Params must have passed the check and
 * be of this kind; NaN otherwise.
 */
TEPAL_API double tepal_generalized_fp_bound_of(const struct tepal_params *params);

/*
 * What a filter of these parameters will do after n keys, without approximation: the average over
 * all that ideal hashes could do, own collisions and the dependence between bits included.
 *   fp         of a key that was never added
 *   fn         of a key drawn from the n that were, and by age: fn_by_age[i] at age ages[i]
 *   fn_bound   at age n
 *   exact      false: too much work; these are the approximations above (whose relative error is
 *              of the order of k^2 / m). Blocked with k > 8: always false, and within 1 %.
 * TEPAL_BAD_ARGUMENT unless the params are of this kind; else fails as tepal_params_check does.
 * Cost: 3 10^7 steps at most.
 */
struct tepal_generalized_errors {
    double fp;
    double fn;
    double fn_bound;
    double fp_steady; /* after infinitely many keys */
    bool exact;
};
TEPAL_API enum tepal_status tepal_generalized_rates(const struct tepal_params *params, uint64_t n,
                                                    const uint64_t *ages, size_t age_count,
                                                    double *fn_by_age,
                                                    struct tepal_generalized_errors *out);

/*
 * The smallest number of bits a key, and the hashes for it: F_p <= fp (fp_bound) and F_n <= fn
 * (fn_bound). `tolerance` is one number, or TEPAL_GENERALIZED_ANY: whichever needs the fewest bits.
 * Of the plans within 1 % of the fewest, the one with the lowest F_p. At most max_hashes hashes
 * (64; blocked 16). TEPAL_BAD_ARGUMENT unless 0 < fp, fn < 1 and 2 <= max_hashes <= 64;
 * TEPAL_TOO_LARGE if no plan does. Cost: some milliseconds.
 */
#define TEPAL_GENERALIZED_ANY UINT32_MAX
struct tepal_generalized_plan {
    uint32_t k0;
    uint32_t k1;
    uint32_t tolerance;
    double bits_per_key;
    double fp_bound;
    double fn_bound;
};
TEPAL_API enum tepal_status tepal_generalized_size(double fp, double fn, uint32_t tolerance,
                                                   uint32_t max_hashes,
                                                   struct tepal_generalized_plan *out);

/*
 * Everything the model says of one setting, by name. `params` is of this kind; n is the number of
 * keys. Fails as tepal_params_check does.
 */
TEPAL_API enum tepal_status tepal_model_generalized(const struct tepal_params *params, uint64_t n,
                                                    struct tepal_report *report, const char **why);

#ifdef __cplusplus
}
#endif

#endif
