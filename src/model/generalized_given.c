/*
 * generalized_given.c: what a generalized filter of given bits passes, and the most that any bits
 * pass.
 *
 * Wildcards. Some of the bits may be ignored (Sec. 6.1, 6.2 of the paper: those that later keys are
 * known to have touched). A reset that meets such a bit is neither right nor inverted, and a set
 * that meets one inverts nothing; so all that changes is that there are fewer zeros and ones. With
 * the share w ignored, the share z of all bits both 0 and not ignored, and bits enough,
 *
 *     P = (w + z)^k0 (1 - z)^k1,    at most    F_p (1 + w)^k,    k = k0 + k1,
 *
 * for the two factors' bases add up to 1 + w, and of all such the product is largest where they are
 * as k0 to k1. (Where that asks for a base above 1, as for w near 1, the largest is at the edge.)
 */
#include "model/generalized.h"
#include "model/numeric.h"

#include <math.h>
#include <string.h>

/*
 * A key passes with r right and w inverted bits among those it resets if its sets meet at most
 * b - w of the zeros - r zeros that are left. For that, each set meets a zero not met so far or
 * nothing that matters; so one walk for each r serves all w.
 */
struct met {
    double chance[TEPAL_MAX_HASHES]; /* of so many inverted bits, up to b */
};

/* k throws over `room` bits, of which `wrong` are to be missed; v inverted so far, up to b. */
static struct met meet(bool distinct, double room, double wrong, uint32_t k, uint32_t b)
{
    struct met met = {{1}};
    for (uint32_t t = 0; t < k; t++) {
        for (uint32_t v = (t < b ? t : b) + 1; v-- > 0;) {
            double left = wrong > v ? (wrong - v) / (room - (distinct ? t : 0)) : 0;
            double one_more = left < 1 ? left : 1;
            double mass = met.chance[v];
            met.chance[v] = mass * (1 - one_more);
            if (v < b) {
                met.chance[v + 1] += mass * one_more;
            }
        }
    }
    return met;
}

/* Of the resets: chances over (right bits, inverted bits). */
struct resets {
    double chance[TEPAL_MAX_HASHES + 1][TEPAL_MAX_HASHES];
};

/*
 * One more of them, over `room` bits. In place, from the largest state down. Distinct ones are
 * right or inverted each, so that w is thrown - r.
 */
static void reset_one(struct resets *of, uint32_t thrown, uint32_t b, double zeros, double ones,
                      double room, bool distinct)
{
    for (uint32_t r = thrown + 1; r-- > 0;) {
        uint32_t fewest = distinct ? thrown - r : 0;
        for (uint32_t w = (thrown - r < b ? thrown - r : b) + 1; w-- > fewest;) {
            double mass = of->chance[r][w];
            double right = zeros > r ? (zeros - r) / room : 0;
            double wrong = ones > w ? (ones - w) / room : 0;
            double neither = 1 - right - wrong;
            of->chance[r][w] = distinct || neither < 0 ? 0 : mass * neither;
            of->chance[r + 1][w] += mass * right;
            if (w < b) {
                of->chance[r][w + 1] += mass * wrong;
            }
        }
    }
}

/* `zeros` and `ones` are those that are not ignored; distinct positions: all of them are. */
static double given(bool distinct, double m, double zeros, double ones, uint32_t k0, uint32_t k1,
                    uint32_t b)
{
    struct resets resets;
    double sum = 0;
    memset(&resets, 0, (k0 + 1) * sizeof *resets.chance);
    resets.chance[0][0] = 1;
    for (uint32_t t = 0; t < k0; t++) {
        reset_one(&resets, t, b, zeros, ones, distinct ? m - t : m, distinct);
    }
    /* Distinct resets are right or inverted, and at most b are inverted. */
    for (uint32_t r = distinct && k0 > b ? k0 - b : 0; r <= k0; r++) {
        struct met sets = meet(distinct, distinct ? m - k0 : m, zeros - r, k1, b);
        double at_most = 0;
        for (uint32_t v = 0; v <= b; v++) { /* the sets may invert v, so the resets b - v */
            at_most += sets.chance[v];
            sum += resets.chance[r][b - v] * at_most;
        }
    }
    return at_most_one(sum);
}

static bool valid_given(enum tepal_generalized_rule rule, uint64_t m, uint32_t k0, uint32_t k1)
{
    return m >= 1 && k0 <= TEPAL_MAX_HASHES && k1 <= TEPAL_MAX_HASHES && k0 + k1 >= 1 &&
           k0 + k1 <= TEPAL_MAX_HASHES && (rule != TEPAL_GENERALIZED_DISTINCT || k0 + k1 <= m);
}

/* What passes of m bits, `wild` of them ignored, `zeros` of the others 0. */
struct bits {
    enum tepal_generalized_rule rule;
    uint64_t m;
    uint64_t wild;
    uint32_t k0;
    uint32_t k1;
    uint32_t b;
};

static double passes(const struct bits *of, uint64_t zeros)
{
    double m = (double)of->m;
    double ones = (double)(of->m - of->wild - zeros);
    return of->rule == TEPAL_GENERALIZED_LITERAL
               ? tepal_model_sum_at_most(of->k0, ones / m, of->k1, (double)zeros / m, of->b)
               : given(of->rule == TEPAL_GENERALIZED_DISTINCT, m, (double)zeros, ones, of->k0,
                       of->k1, of->b);
}

/* Bits of a filter that is small enough to try every number of zeros. */
#define EVERY 256
#define STEPS 64

/*
 * Between which numbers of zeros the most keys pass. In a large filter that is near the top of the
 * infinite one's hill; where many of a key's own bits meet it is elsewhere, even at an end. So: the
 * neighbours of the highest of some points all over.
 */
static void around_the_top(const struct bits *of, uint64_t *low, uint64_t *high)
{
    uint64_t most = of->m - of->wild;
    uint64_t at[STEPS + 1];
    size_t top = 0;
    double best = -1;
    for (size_t i = 0; i <= STEPS; i++) {
        at[i] = most / STEPS * i + most % STEPS * i / STEPS;
        double rate = passes(of, at[i]);
        if (rate > best) {
            best = rate;
            top = i;
        }
    }
    *low = at[top == 0 ? 0 : top - 1];
    *high = at[top == STEPS ? STEPS : top + 1];
}

static double most_that_pass(const struct bits *of)
{
    uint64_t most = of->m - of->wild;
    uint64_t low = 0;
    uint64_t high = most;
    if (of->b >= (of->k0 < of->k1 ? of->k0 : of->k1)) {
        return 1;
    }
    if (most > EVERY) {
        around_the_top(of, &low, &high);
    }
    while (most > EVERY && high - low > 8) {
        uint64_t third = (high - low) / 3;
        if (passes(of, low + third) < passes(of, high - third)) {
            low += third;
        } else {
            high -= third;
        }
    }
    double best = fmax(passes(of, 0), passes(of, most));
    for (uint64_t z = low; z <= high; z++) {
        best = fmax(best, passes(of, z));
    }
    return best;
}

double tepal_generalized_fp_given(enum tepal_generalized_rule rule, uint64_t m, uint64_t zeros,
                                  uint32_t k0, uint32_t k1, uint32_t b)
{
    const struct bits of = {rule, m, 0, k0, k1, b};
    return !valid_given(rule, m, k0, k1) || zeros > m ? NAN : b >= k0 + k1 ? 1 : passes(&of, zeros);
}

double tepal_generalized_fp_bound_finite(enum tepal_generalized_rule rule, uint64_t m, uint32_t k0,
                                         uint32_t k1, uint32_t b)
{
    const struct bits of = {rule, m, 0, k0, k1, b};
    return valid_given(rule, m, k0, k1) ? most_that_pass(&of) : NAN;
}

double tepal_generalized_fp_wild(uint64_t m, uint64_t wild, uint64_t zeros, uint32_t k0,
                                 uint32_t k1, uint32_t b)
{
    const struct bits of = {TEPAL_GENERALIZED_PRECEDENCE, m, wild, k0, k1, b};
    if (!valid_given(of.rule, m, k0, k1) || wild > m || zeros > m - wild) {
        return NAN;
    }
    return b >= k0 + k1 ? 1 : passes(&of, zeros);
}

double tepal_generalized_fp_bound_wild(uint64_t m, uint64_t wild, uint32_t k0, uint32_t k1,
                                       uint32_t b)
{
    const struct bits of = {TEPAL_GENERALIZED_PRECEDENCE, m, wild, k0, k1, b};
    return valid_given(of.rule, m, k0, k1) && wild <= m ? most_that_pass(&of) : NAN;
}
