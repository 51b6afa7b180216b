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
 * The fingerprint filter (Fan et al. 2014): buckets of four slots, fingerprints of f bits.
 *
 *   fp     the chance that one of n keys has the fingerprint of a stranger and his pair of
 *          buckets, close to 8 load / 2^f: docs/models.md. NaN unless 4 <= f <= 32 and there are
 *          two buckets or more.
 *   room   how many distinct keys so many buckets (an even number) surely take, as measured
 *   size   the smallest filter that has room for n keys and keeps the rate. If *bits is not 0 on
 *          entry fingerprints have that many bits. TEPAL_BAD_ARGUMENT unless n >= 1, 0 < fp < 1
 *          and some f in 4..32 reaches the rate; TEPAL_TOO_LARGE.
 *   fit    the filter with the lowest rate in at most bits_per_key * n bits, rounded up to whole
 *          buckets. *bits as above. TEPAL_BAD_ARGUMENT if there is no room for n keys in it.
 */
TEPAL_API double tepal_fingerprint_fp(uint32_t f, uint64_t buckets, uint64_t n);
TEPAL_API uint64_t tepal_fingerprint_room(uint32_t f, uint64_t buckets);
TEPAL_API enum tepal_status tepal_fingerprint_size(uint64_t n, double fp, uint64_t *cells,
                                                   uint32_t *bits);
TEPAL_API enum tepal_status tepal_fingerprint_fit(uint64_t n, double bits_per_key, uint64_t *cells,
                                                  uint32_t *bits);

/*
 * Everything the model says of n keys in a fingerprint filter, by name. Fails as
 * tepal_params_check does.
 */
TEPAL_API enum tepal_status tepal_model_fingerprint(const struct tepal_params *params, uint64_t n,
                                                    struct tepal_report *report, const char **why);

/*
 * The counting Bloom filter and what removals do to it (Guo, Liu, Li and Yang 2010), flat layout,
 * colliding positions. m counters, n keys, k hashes, c choices (1..64). A wrong removal is that of
 * a key that was never added and is found all the same. docs/models.md tells where the printed
 * results differ from the right ones.
 *
 *   shares    the expected share of counters at 0, 1, ..., 14, and 15 or more. c = 1: exact (a key
 *             counts once at a counter). c > 1: in the limit of many counters, by the insertion
 *             rule (improved greedy, or greedy); good to the third digit from 10^4 keys on.
 *   fp        1 - (1 - (1-p0)^k)^c
 *   multi_address  a member is found in further groups than its own, eq. (7)
 *   wrong_address  and then removal takes a wrong one: Theorem 5, right and as printed
 *   potential  P(Y = i), i = 0 .. k: Theorem 1, right and as printed
 *   exposed    P(Z = i), i = 0 .. k: Theorem 4, right and as printed
 *   found      that a random member is missed after one wrong removal: Theorem 3
 *   many       false negatives after so many wrong removals, if one makes `mean` of them
 *   mean       of a distribution over 0 .. k
 *
 * TEPAL_BAD_ARGUMENT outside: m >= 1, 1 <= k <= TEPAL_MAX_HASHES, 1 <= c <= 64; n >= 1 and shares
 * within 0..1 for potential and exposed.
 */
TEPAL_API enum tepal_status tepal_counting_shares(uint64_t m, uint64_t n, uint32_t k, uint32_t c,
                                                  bool improved, double share[16]);
TEPAL_API double tepal_counting_fp(double p0, uint32_t k, uint32_t c);
TEPAL_API double tepal_counting_multi_address(double p0, uint32_t k, uint32_t c);
TEPAL_API double tepal_counting_wrong_address(double p0, uint32_t k, uint32_t c);
TEPAL_API double tepal_counting_wrong_address_printed(double p0, uint32_t k, uint32_t c);
TEPAL_API enum tepal_status tepal_counting_potential(uint64_t m, uint64_t n, uint32_t k, double p0,
                                                     double pmf[TEPAL_MAX_HASHES + 1]);
TEPAL_API void tepal_counting_potential_printed(uint32_t k, double pmf[TEPAL_MAX_HASHES + 1]);
TEPAL_API enum tepal_status tepal_counting_exposed(uint64_t m, uint64_t n, uint32_t k, double p0,
                                                   double p1, double pmf[TEPAL_MAX_HASHES + 1]);
TEPAL_API void tepal_counting_exposed_printed(uint64_t m, uint64_t n, uint32_t k,
                                              double pmf[TEPAL_MAX_HASHES + 1]);
TEPAL_API double tepal_counting_found(uint64_t m, uint64_t n, uint32_t k);
TEPAL_API double tepal_counting_many(double mean, uint64_t n, double deletes);
TEPAL_API double tepal_counting_mean(const double *pmf, uint32_t k);

/*
 * Everything the model says of a counting filter of n keys after `deletes` wrong removals. params
 * as for tepal_counting_create, hashes 0: the best for c = 1. measured_p0 and measured_p1: shares
 * taken from a filter (Sec. 3.3) instead of the ideal ones, or NAN both. Fails as
 * tepal_params_check does, or with TEPAL_BAD_ARGUMENT.
 */
TEPAL_API enum tepal_status tepal_model_counting(const struct tepal_params *params, uint64_t n,
                                                 double measured_p0, double measured_p1,
                                                 double deletes, struct tepal_report *report,
                                                 const char **why);

#ifdef __cplusplus
}
#endif

#endif
