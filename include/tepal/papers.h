/*
 * tepal/papers.h: the equations of the five papers, one function each: numbers in, numbers out.
 *
 * NOT STABLE: names and signatures here may change in any release, and the umbrella header does not
 * include this one. For predictions by name use tepal_model (tepal/model.h), which is stable; to
 * choose a filter use tepal/plan.h. docs/models.md derives the formulas and says where the printed
 * ones are wrong.
 */
#ifndef TEPAL_PAPERS_H
#define TEPAL_PAPERS_H

#include <tepal/model.h>

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
 * The generalized Bloom filter (Laufer, Velloso and Duarte 2011), flat layout, colliding positions:
 * m bits, k0 hash functions that reset and k1 that set, an initial share p0 of zeros, n keys added,
 * a tolerance of b inverted bits. `age` is the number of keys added after the queried one.
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
 *   fn_bound     fn_age_approx at age n: an upper bound for all n keys         eq. (24)
 *   worst_zero   the p at which fp_approx is largest; b = 0: k0/(k0+k1)        eq. (18)
 *   fp_bound     fp_approx there: an upper bound for any bits; b = 0:          eq. (19)
 *
 * Any k0 + k1 from 1 to 2^32 - 1 is allowed, also beyond what a filter takes; p0 in 0..1; m >= 1;
 * b below TEPAL_MAX_HASHES, or k0 + k1 and more: everything matches. NaN otherwise.
 * Of the three that have no n, worst_zero is NaN and fp_bound is 1 where b >= min(k0, k1): all ones
 * or all zeros then match every key. With a tolerance, (k0 + k1) b steps for each age.
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
 * A given filter, of which `zeros` of the m bits are 0: the probability that a key drawn
 * independently of them is found, exactly, under three rules for a reset and a set of one key that
 * meet:
 *   literal     both are checked, and every hash that finds the wrong bit counts: the text of the
 *               paper; such a key is a false negative from the start (about k0 k1 / m)
 *   precedence  only the reset is checked, and a bit counts once: what this library does
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
 * The same (precedence) if a query ignores `wild` of the m bits (tepal_generalized_query_wild) and
 * `zeros` of the others are 0; and the most that an adversary can reach. In a large filter that is
 * fp_bound times (1 + wild/m)^(k0 + k1), as long as (1 + wild/m) max(k0, k1) <= k0 + k1. NaN unless
 * wild + zeros <= m, and as above.
 */
TEPAL_API double tepal_generalized_fp_wild(uint64_t m, uint64_t wild, uint64_t zeros, uint32_t k0,
                                           uint32_t k1, uint32_t b);
TEPAL_API double tepal_generalized_fp_bound_wild(uint64_t m, uint64_t wild, uint32_t k0,
                                                 uint32_t k1, uint32_t b);

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
 * The smallest number of bits per key, and the hash functions for it: F_p <= fp (fp_bound) and
 * F_n <= fn (fn_bound). `tolerance` is one number, or TEPAL_GENERALIZED_ANY: whichever needs the
 * fewest bits. Of the plans within 1 % of the fewest, the one with the lowest F_p. At most
 * max_hashes hashes (64; blocked 16). TEPAL_BAD_ARGUMENT unless 0 < fp, fn < 1 and 2 <= max_hashes
 * <= 64; TEPAL_TOO_LARGE if no plan does. Cost: some milliseconds.
 */
#define TEPAL_GENERALIZED_ANY UINT32_MAX
struct tepal_generalized_setting {
    uint32_t k0;
    uint32_t k1;
    uint32_t tolerance;
    double bits_per_key;
    double fp_bound;
    double fn_bound;
};
TEPAL_API enum tepal_status tepal_generalized_size(double fp, double fn, uint32_t tolerance,
                                                   uint32_t max_hashes,
                                                   struct tepal_generalized_setting *out);

/*
 * The fingerprint filter (Fan et al. 2014): buckets of four slots, fingerprints of f bits.
 *
 *   fp     the probability that one of n keys has the fingerprint and the pair of buckets of a
 *          non-member, close to 8 load / 2^f: docs/models.md. NaN unless 4 <= f <= 32 and there are
 *          two buckets or more.
 *   room   how many distinct keys fit reliably into that many buckets (an even number), as measured
 *   fits   the probability that n distinct keys fit: 1 up to room; from there on a law fitted to
 *          measurements (within .03; f = 4: .06) for up to 16,384 slots, 0 beyond these. NaN as fp.
 *   size   the smallest filter that has room for n keys and keeps the rate. If *bits is not 0 on
 *          entry fingerprints have that many bits. TEPAL_BAD_ARGUMENT unless n >= 1, 0 < fp < 1
 *          and some f in 4..32 reaches the rate; TEPAL_TOO_LARGE.
 *   fit    the filter with the lowest rate in at most bits_per_key * n bits, rounded up to whole
 *          buckets. *bits as above. TEPAL_BAD_ARGUMENT if there is no room for n keys in it.
 */
TEPAL_API double tepal_fingerprint_fp(uint32_t f, uint64_t buckets, uint64_t n);
TEPAL_API uint64_t tepal_fingerprint_room(uint32_t f, uint64_t buckets);
TEPAL_API double tepal_fingerprint_fits(uint32_t f, uint64_t buckets, uint64_t n);
TEPAL_API enum tepal_status tepal_fingerprint_size(uint64_t n, double fp, uint64_t *cells,
                                                   uint32_t *bits);
TEPAL_API enum tepal_status tepal_fingerprint_fit(uint64_t n, double bits_per_key, uint64_t *cells,
                                                  uint32_t *bits);

/*
 * The growing filter: tags of t bits, extensions of e bits, created with `buckets` buckets.
 *
 *   fp       the false-positive rate after n additions
 *   buckets  how many buckets there are then; INFINITY if e is so small that copies of old entries
 *            outgrow the table
 *   rise     how the sum of 2^-T over the entries rises by `keys` additions to a filter that has
 *            `buckets` buckets with `held` entries now; the rate is 2^(1 - t) times the sum
 *   size     t, e, cells and hashes of the filter that begins with room for `first` keys and keeps
 *            the rate until there are n, with the least memory when there are 64 n, for plans err.
 *            TEPAL_BAD_ARGUMENT unless 1 <= first <= n, 0 < fp < 1 and some t and e reach the rate;
 *            TEPAL_TOO_LARGE beyond 2^41 keys.
 *
 * The first three: NaN unless buckets >= 1, t and e are at most 64, and held and keys not negative.
 */
TEPAL_API double tepal_growing_fp(uint32_t tag_bits, uint32_t extension_bits, uint64_t buckets,
                                  uint64_t n);
TEPAL_API double tepal_growing_buckets(uint32_t extension_bits, uint64_t buckets, uint64_t n);
TEPAL_API double tepal_growing_rise(uint32_t extension_bits, uint64_t buckets, double held,
                                    double keys);
TEPAL_API enum tepal_status tepal_growing_size(uint64_t first, uint64_t n, double fp,
                                               struct tepal_params *params);

/*
 * The chain of Bloom filters of these parameters (chain.first_keys, rate, growth, series, planned;
 * layout and positions).
 *
 *   share    w_i, the share of the rate that part i may add, however many there could be
 *   part     the keys that part i has room for, its bits (whole lines of 512) and hashes: the
 *            smallest that keeps its share. TEPAL_FULL if there is no such part
 *   fp       the false-positive rate when n keys are in; NaN if the chain does not grow so large
 *   size     first_keys (0: n / 1000 + 1, with the even series and a growth of 2), growth and
 *            series are given: sets rate, planned, cells and hashes, for n keys planned.
 *            TEPAL_BAD_ARGUMENT unless n >= 1 and 2^-64 <= fp < 1; TEPAL_TOO_LARGE
 */
struct tepal_chain_part {
    uint64_t keys;
    uint64_t bits;
    uint32_t hashes;
};
TEPAL_API double tepal_chain_share(const struct tepal_params *params, uint32_t i);
TEPAL_API enum tepal_status tepal_chain_part(const struct tepal_params *params, uint32_t i,
                                             struct tepal_chain_part *out);
TEPAL_API double tepal_chain_fp(const struct tepal_params *params, uint64_t n);
TEPAL_API enum tepal_status tepal_chain_size(uint64_t n, double fp, struct tepal_params *params);

/*
 * The counting Bloom filter and what removals do to it (Guo, Liu, Li and Yang 2010), flat layout,
 * colliding positions. m counters, n keys, k hashes, c choices (1..64). A wrong removal is that of
 * a key that was never added and is found all the same. docs/models.md says where the printed
 * results differ from the correct ones.
 *
 *   shares    the expected share of counters at 0, 1, ..., 14, and 15 or more. c = 1: exact (a key
 *             counts once at a counter). c > 1: in the limit of many counters, by the insertion
 *             rule (improved greedy, or greedy); good to the third digit from 10^4 keys on.
 *   fp        1 - (1 - (1-p0)^k)^c
 *   blocked_choices  the rate with c choices on the blocked layout (rule least-increase), and p0
 *             (may be NULL): in the limit of many lines; within 10 % of filters with 8 to 24
 *             counters per key, and within 2 % of those with up to 8 choices. NaN
 *             outside: m at least a line, k <= TEPAL_MAX_HASHES_BLOCKED.
 *   multi_address  a member is found in further groups than its own, eq. (7)
 *   wrong_address  and then removal takes a wrong one: Theorem 5, corrected and as printed
 *   potential  P(Y = i), i = 0 .. k: Theorem 1, corrected and as printed; its mean alone is cheaper
 *   exposed    P(Z = i), i = 0 .. k: Theorem 4, corrected and as printed
 *   missed     that a random member is missed after one wrong removal: Theorem 3, from the shares
 *   many       false negatives after that many wrong removals, if one causes `mean` of them
 *   mean       of a distribution over 0 .. k
 *
 * TEPAL_BAD_ARGUMENT (what returns a number: NaN) outside: m >= 1, 1 <= k <= TEPAL_MAX_HASHES,
 * 1 <= c <= TEPAL_MAX_CHOICES, p0 in 0..1; for potential, exposed and missed n >= 1, p0 below 1 and
 * p0 + p1 <= 1.
 */
TEPAL_API enum tepal_status tepal_counting_shares(uint64_t m, uint64_t n, uint32_t k, uint32_t c,
                                                  bool improved, double share[16]);
TEPAL_API double tepal_counting_fp(double p0, uint32_t k, uint32_t c);
TEPAL_API double tepal_counting_blocked_choices(enum tepal_counting_lines lines,
                                                enum tepal_positions positions, uint64_t m,
                                                uint64_t n, uint32_t k, uint32_t c, double *p0);
TEPAL_API double tepal_counting_multi_address(double p0, uint32_t k, uint32_t c);
TEPAL_API double tepal_counting_wrong_address(double p0, uint32_t k, uint32_t c);
TEPAL_API double tepal_counting_wrong_address_printed(double p0, uint32_t k, uint32_t c);
TEPAL_API enum tepal_status tepal_counting_potential(uint64_t m, uint64_t n, uint32_t k, double p0,
                                                     double pmf[TEPAL_MAX_HASHES + 1]);
TEPAL_API double tepal_counting_potential_mean(uint64_t m, uint64_t n, uint32_t k, double p0);
TEPAL_API enum tepal_status tepal_counting_potential_printed(uint32_t k,
                                                             double pmf[TEPAL_MAX_HASHES + 1]);
TEPAL_API enum tepal_status tepal_counting_exposed(uint64_t m, uint64_t n, uint32_t k, double p0,
                                                   double p1, double pmf[TEPAL_MAX_HASHES + 1]);
TEPAL_API enum tepal_status tepal_counting_exposed_printed(uint64_t m, uint64_t n, uint32_t k,
                                                           double pmf[TEPAL_MAX_HASHES + 1]);
TEPAL_API double tepal_counting_missed(uint64_t m, uint64_t n, uint32_t k, double p0, double p1);
TEPAL_API double tepal_counting_many(double mean, uint64_t n, double deletes);
TEPAL_API double tepal_counting_mean(const double *pmf, uint32_t k);

/*
 * The rate, the share of counters above 0, the best hashes and the size of a counting filter with
 * one choice on any layout: as those of the Bloom filter, except that a line has 128 counters, in
 * sectors of 16. (Long lines, params.counting.lines, have those of the Bloom filter. For distinct
 * positions and more than eight counters in a line the rate is up to 2 % low: the second counter of
 * a sector is a little uneven.)
 */
TEPAL_API double tepal_counting_rate(enum tepal_layout layout, enum tepal_positions positions,
                                     uint64_t m, uint64_t n, uint32_t k);
TEPAL_API double tepal_counting_fill(enum tepal_layout layout, enum tepal_positions positions,
                                     uint64_t m, uint64_t n, uint32_t k);
TEPAL_API uint32_t tepal_counting_best_hashes(enum tepal_layout layout,
                                              enum tepal_positions positions, uint64_t m,
                                              uint64_t n);
TEPAL_API enum tepal_status tepal_counting_size(enum tepal_layout layout,
                                                enum tepal_positions positions, uint64_t n,
                                                double fp, uint64_t *cells, uint32_t *hashes);

/*
 * With any number of choices, params.counting.choices: the rate with n keys, and the fewest
 * counters (within a thousandth) that keep a rate of fp, with a margin for what the model does not
 * know. Of *params, kind, layout, positions, choices, rule and lines count; the size sets cells
 * and, if they are 0, hashes. One choice: exact, on any layout. More: on the flat, partitioned and
 * blocked layouts, within 2 % (a few dozen lines: up to 10 % high); paired: NaN,
 * TEPAL_UNSUPPORTED; blocked, more than 8 keys per counter count as 8. Fails as
 * tepal_counting_size does. Cost of the size: milliseconds; in long lines tens of them, and some
 * tenths of a second if the hashes are to be found; seconds on the blocked layout at rates above
 * 10 %, or with 16 choices and more.
 */
TEPAL_API double tepal_counting_choices_rate(const struct tepal_params *params, uint64_t n);
TEPAL_API enum tepal_status tepal_counting_choices_size(struct tepal_params *params, uint64_t n,
                                                        double fp);

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
    uint64_t sigma; /* recycles when more than this many bits are set; hashes <= sigma < bits */
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
 * limit of large M with its first-order correction, O(k) for the flat layout and about 30 rates for
 * the others; auto: the sweep where it takes no more than about 10 ms, else the closed form.
 */
enum tepal_recycling_method {
    TEPAL_RECYCLING_AUTO = 0,
    TEPAL_RECYCLING_SWEEP = 1,
    TEPAL_RECYCLING_CLOSED = 2
};

struct tepal_recycling_rates {
    double fp_average;                  /* f_sigma of all phases, eqs. (18) and (26) */
    double fp_active;                   /* of the active phase alone: one-phase f_sigma */
    double fp_frozen;                   /* of one frozen phase */
    double fp_full;                     /* of one phase with sigma bits set */
    double messages_per_cycle;          /* new messages from one recycling to the next */
    double messages_from_zero;          /* E[N0]: from an empty phase to the trigger, inclusive */
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
 * The chain itself: the chance that the next new message takes the active phase from `from` to `to`
 * bits set, eqs. (4) to (14): colliding or distinct, retaining or not, recycling beyond sigma. With
 * sigma = bits it never recycles: the tau of eqs. (20) to (25). Retaining, as eq. (10) has it: the
 * trigger begins the new cycle like any other message. Flat layout; O(k^2). NaN unless both are at
 * most sigma, and for what cannot be such a filter.
 */
TEPAL_API double tepal_recycling_tau(const struct tepal_recycling_setting *setting, uint64_t from,
                                     uint64_t to);

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
 * Filters that recycle after n messages (flat): the rate of the message after n, eq. (1) (worst
 * case); the average of an oracle that counts n new messages, eq. (2); the average of the filter
 * that counts messages which set bits, with the limit n (TEPAL_RECYCLING_COUNT, trigger not
 * retained): eq. (3) for the n + 1 of a cycle. Distinct positions: the same of their eq. (1), the
 * rate at the expected number of ones. The last three have colliding positions. NaN unless m, n >=
 * 1 and 1 <= k <= TEPAL_MAX_HASHES (distinct: k <= m).
 */
enum tepal_recycling_bound {
    TEPAL_RECYCLING_WORST = 0,
    TEPAL_RECYCLING_ORACLE = 1,
    TEPAL_RECYCLING_ACTUAL = 2
};
TEPAL_API double tepal_recycling_bound_rate(enum tepal_recycling_bound bound,
                                            enum tepal_positions positions, uint64_t m, uint64_t n,
                                            uint32_t k);
TEPAL_API double tepal_recycling_worst(uint64_t m, uint64_t n, uint32_t k);
TEPAL_API double tepal_recycling_oracle(uint64_t m, uint64_t n, uint32_t k);
TEPAL_API double tepal_recycling_actual(uint64_t m, uint64_t n, uint32_t k);

/*
 * The inverse: the largest sigma (and, if setting->hashes is 0, the number of hashes) with which a
 * phase of setting->bits bits holds the most messages per cycle at an average of at most fp. Fills
 * setting->hashes, setting->sigma and *rates. (On layouts other than flat, a sigma within
 * hashes..bits on entry is where the search starts: 0 if nothing is known.) Any M takes some
 * milliseconds. TEPAL_BAD_ARGUMENT unless 0 < fp < 1, or if no sigma >= hashes achieves the
 * average.
 */
TEPAL_API enum tepal_status tepal_recycling_best_sigma(struct tepal_recycling_setting *setting,
                                                       double fp,
                                                       struct tepal_recycling_rates *rates);

/*
 * The largest n that the three ways of counting messages allow at a rate of fp, with the best
 * number of hashes if *hashes is 0. 0 if there is none.
 */
TEPAL_API uint64_t tepal_recycling_capacity(enum tepal_recycling_bound bound,
                                            enum tepal_positions positions, uint64_t m, double fp,
                                            uint32_t *hashes);

/*
 * A filter that recycles by count, when more than n messages would have set bits, as its setting
 * has it (any layout; sigma aside): its rates, over new messages of which n + 1 set bits. (Eq. (3)
 * is a lower bound of fp_active: 2 % less at a rate of 1 %, 12 % less at 10 %.) If setting->hashes
 * is 0, the number with the lowest average. If setting->bits is 0 (flat), the fewest that keep the
 * average fp, which matters only then. TEPAL_BAD_ARGUMENT for what cannot be such a filter,
 * TEPAL_UNSUPPORTED for sizes of other layouts.
 */
TEPAL_API enum tepal_status tepal_recycling_for_count(struct tepal_recycling_setting *setting,
                                                      uint64_t n, double fp,
                                                      struct tepal_recycling_rates *rates);

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
TEPAL_API struct tepal_recycling_counts tepal_recycling_ways(double fp, double arrivals);

struct tepal_recycling_misses {
    double period; /* T: arrivals, repeats included, from one recycling to the next; may be infinite
                      (the stream has fewer messages than a phase holds) */
    double fn;     /* of all repeats, the share answered "not seen" */
};

/*
 * From the rates of a setting (tepal_recycling_average) whose messages are always inserted.
 * Geometric gaps of mean `mean` >= 1, Pareto gaps (P(gap > x) = (scale / x)^shape for x >= scale)
 * with fresh messages among them, or independent references to `keys` keys of which the i-th is
 * looked up in proportion to i^-exponent. TEPAL_BAD_ARGUMENT for impossible values.
 */
TEPAL_API enum tepal_status tepal_recycling_fn_gaps(const struct tepal_recycling_setting *setting,
                                                    const struct tepal_recycling_rates *rates,
                                                    const struct tepal_gaps *gaps,
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
 * By time: the probability that a key is missed which comes `age` after it was last inserted, if a
 * phase is active for `every` (of the same unit) and keys come at any time of it: 0 up to (phases -
 * 1) every, 1 - fp from phases * every on, and a straight line between. NaN unless phases >= 1,
 * every > 0, age >= 0 and 0 <= fp <= 1.
 */
TEPAL_API double tepal_recycling_fn_age(uint32_t phases, double every, double age, double fp);

/*
 * A recycling filter on a stream that repeats itself, for *new* messages: those that never came
 * before, at any time, whatever the age of the phase. On such streams their rate is not the one of
 * tepal_recycling_average, which is over messages that the phase does not hold. By average
 * (TEPAL_RECYCLING_AVERAGE) at a rate of fp, or by setting->sigma if fp is NaN; the trigger is
 * retained and every message inserted. Stream: tepal/model.h; law unknown: all are new.
 * Derivation: docs/models.md. With more than two phases fp is a bound.
 */
struct tepal_recycling_outlook {
    double fp;       /* the share of new messages that are answered "seen" */
    double fn;       /* of all repeats, the share answered "not seen" */
    double period;   /* arrivals from one recycling to the next; may be infinite */
    double messages; /* of them, new to the phase */
};
TEPAL_API enum tepal_status tepal_recycling_on_stream(const struct tepal_recycling_setting *setting,
                                                      double fp,
                                                      const struct tepal_recycling_stream *stream,
                                                      struct tepal_recycling_outlook *outlook);

/*
 * The messages that a phase holds at least when a filter with this setting (sigma aside) recycles
 * by average at a rate of fp, whatever the stream: on average, over the choice of messages. NaN for
 * what cannot be such a filter.
 */
TEPAL_API double tepal_recycling_least(const struct tepal_recycling_setting *setting, double fp);

/*
 * The yes-no Bloom filter (Carrea, Vernitski and Reed 2016). Eqs. (4) to (7), (29): the Bloom
 * filter's, with p bits. in_set is Pr[S], the share of members among lookups; fs is f_S; fr is f_R,
 * the chance that a key which is not stored in a no-filter is in one; stored is Pr[R].
 *
 *   positive        Pr[S~], share of lookups that the yes-filter finds                  eq. (10)
 *   false_positive  Pr[F]                                                            eqs. (8), (11)
 *   error_printed   Pr[E]: lets f_R act on members, though none is vetoed   eqs. (13), (15)-(24)
 *                   in_set = 0 gives eqs. (26), (27); with stored = 0 as well, eq. (28)
 *   error           (Pr[F] - Pr[R]) (1 - f_R): as it should be
 *   veto            f_R of one no-filter that stores that many keys: eq. (30), where n is printed
 *                   for `stored`; eq. (31) is fs (1 - veto)
 */
TEPAL_API double tepal_yesno_positive(double in_set, double fs);
TEPAL_API double tepal_yesno_false_positive(double in_set, double fs);
TEPAL_API double tepal_yesno_error_printed(double in_set, double fs, double fr, double stored);
TEPAL_API double tepal_yesno_error(double in_set, double fs, double fr, double stored);
TEPAL_API double tepal_yesno_veto(uint64_t q, double stored, uint32_t no_hashes);

/* Sizes and hashes of a yes-no filter, and what to expect of them. */
struct tepal_yesno_setting {
    uint64_t yes_bits;   /* p */
    uint32_t hashes;     /* k */
    uint64_t no_bits;    /* q */
    uint64_t no_filters; /* r */
    uint32_t no_hashes;  /* k' */
    bool own_seeds;
    double fp_yes;     /* the yes-filter's rate */
    double fp_unknown; /* the rate on unknown negatives: fp_yes, but for what is vetoed */
    double positive;   /* known negatives that the yes-filter finds */
    double left;       /* of these, left by local-search: an estimate (docs/models.md) */
    double hopeless;   /* of those left, what no no-filter takes, not even an empty one */
};

/*
 * fp_yes, fp_unknown, positive, left and hopeless of a plan for n members and t known negatives.
 * TEPAL_BAD_ARGUMENT if it is not valid.
 */
TEPAL_API enum tepal_status tepal_yesno_predict(enum tepal_layout layout,
                                                enum tepal_positions positions, uint64_t n,
                                                uint64_t t, struct tepal_yesno_setting *setting);

/*
 * The plan with the lowest rate on t known negatives for m total bits (whole lines for blocked and
 * paired) and n members; where that can hardly be lowered any more, the one with the lowest rate on
 * unknown ones. If setting->hashes or setting->no_hashes is not 0 on entry, that is used.
 * TEPAL_BAD_ARGUMENT if there is none.
 */
TEPAL_API enum tepal_status tepal_yesno_best_setting(enum tepal_layout layout,
                                                     enum tepal_positions positions, uint64_t m,
                                                     uint64_t n, uint64_t t,
                                                     struct tepal_yesno_setting *setting);

/* ---- cascades (tepal/cascade.h) -------------------------------------------------------------- */

/* The first level of a cascade, and what to expect of it and of the levels beyond. */
struct tepal_cascade_setting {
    uint64_t first_bits; /* these two make the plan; the rest is expected */
    uint32_t hashes;
    double bits; /* of all levels */
    uint32_t levels;
    double stored[TEPAL_MAX_LEVELS]; /* keys in each */
    double level_bits[TEPAL_MAX_LEVELS];
    double rate[TEPAL_MAX_LEVELS];
    double fp_unknown; /* the rate on unknown negatives; on known ones it is 0 */
};

/*
 * What to expect of setting->first_bits and setting->hashes with n members and t known negatives.
 * TEPAL_BAD_ARGUMENT if that is not a valid first level.
 */
TEPAL_API enum tepal_status tepal_cascade_predict(enum tepal_layout layout,
                                                  enum tepal_positions positions, uint64_t n,
                                                  uint64_t t,
                                                  struct tepal_cascade_setting *setting);

/*
 * The plan with the largest first level that is expected to stay within `limit` bits; with a limit
 * of 0 the one whose first level has the rate fp; with both 0 the smallest cascade, or nearly so. A
 * setting->hashes that is not 0 on entry is used. TEPAL_BAD_ARGUMENT if there is none.
 */
TEPAL_API enum tepal_status tepal_cascade_best_setting(enum tepal_layout layout,
                                                       enum tepal_positions positions, uint64_t n,
                                                       uint64_t t, uint64_t limit, double fp,
                                                       struct tepal_cascade_setting *setting);

#ifdef __cplusplus
}
#endif

#endif
