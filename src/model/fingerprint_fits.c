/*
 * fingerprint_fits.c: with what probability n keys fit into a small fingerprint filter.
 *
 * Filled with random keys until the first that finds no place, a filter has J slots free; n keys
 * fit if J <= slots - n. As a graph (buckets are nodes that take four, keys are edges) it can hold
 * 98 % of its slots if it is large, more if it is small; the rest of J is what the search for a
 * chain of moves gives up on. The law of J has no closed form that we know of: it is measured. For
 * 16 to 16,384 slots a gamma law with a shift agrees with it to .03; with 4 bits, of which few
 * pairs of buckets follow, to .06 (docs/models.md). The constants are its mean over the slots, its
 * standard deviation over their root, and its skewness, at powers of two; in between they are
 * interpolated. At 16 and 32 slots most of the law lies below 0, where J is 0.
 */
#include <math.h>

#include <tepal/papers.h>

#include "model/numeric.h"
#include "params/params.h"

#define LEAST_LOG 4 /* of the slots, to base 2 */
#define MOST_LOG  14

struct law {
    double mean;
    double deviation;
    double skewness;
};

/* f = 4, 5, 6, 7, 8 and 9, 10 and more. */
static const struct law measured[6][MOST_LOG - LEAST_LOG + 1] = {
    {{-0.0999, 0.312, 2.19},
     {-0.0112, 0.272, 1.22},
     {0.0161, 0.224, 1.48},
     {0.0211, 0.216, 1.17},
     {0.0259, 0.245, 0.90},
     {0.0279, 0.258, 0.66},
     {0.0321, 0.302, 0.59},
     {0.0357, 0.363, 0.64},
     {0.0368, 0.406, 0.63},
     {0.0396, 0.520, 0.77},
     {0.0425, 0.728, 1.01}},
    {{-0.0959, 0.281, 2.30},
     {-0.0104, 0.268, 1.27},
     {0.0163, 0.225, 1.45},
     {0.0200, 0.207, 1.15},
     {0.0223, 0.212, 0.84},
     {0.0241, 0.223, 0.59},
     {0.0263, 0.239, 0.44},
     {0.0279, 0.260, 0.38},
     {0.0291, 0.283, 0.40},
     {0.0307, 0.330, 0.48},
     {0.0322, 0.407, 0.66}},
    {{-0.0941, 0.278, 2.32},
     {-0.0123, 0.256, 1.11},
     {0.0139, 0.208, 1.27},
     {0.0191, 0.199, 1.14},
     {0.0212, 0.205, 0.84},
     {0.0228, 0.212, 0.57},
     {0.0243, 0.224, 0.41},
     {0.0258, 0.237, 0.34},
     {0.0271, 0.258, 0.28},
     {0.0282, 0.284, 0.36},
     {0.0294, 0.335, 0.48}},
    {{-0.1013, 0.291, 2.20},
     {-0.0138, 0.264, 1.00},
     {0.0132, 0.203, 1.27},
     {0.0185, 0.196, 1.13},
     {0.0207, 0.200, 0.81},
     {0.0224, 0.208, 0.55},
     {0.0238, 0.217, 0.40},
     {0.0250, 0.227, 0.29},
     {0.0262, 0.247, 0.27},
     {0.0273, 0.277, 0.32},
     {0.0283, 0.315, 0.34}},
    {{-0.1018, 0.292, 2.22},
     {-0.0171, 0.279, 0.84},
     {0.0126, 0.201, 1.19},
     {0.0185, 0.195, 1.11},
     {0.0205, 0.198, 0.84},
     {0.0221, 0.206, 0.54},
     {0.0235, 0.216, 0.41},
     {0.0248, 0.229, 0.31},
     {0.0258, 0.243, 0.30},
     {0.0268, 0.268, 0.29},
     {0.0279, 0.300, 0.42}},
    {{-0.0967, 0.282, 2.27},
     {-0.0179, 0.286, 0.78},
     {0.0123, 0.203, 1.14},
     {0.0183, 0.193, 1.10},
     {0.0205, 0.198, 0.82},
     {0.0220, 0.204, 0.54},
     {0.0232, 0.213, 0.43},
     {0.0245, 0.223, 0.32},
     {0.0255, 0.235, 0.27},
     {0.0265, 0.260, 0.25},
     {0.0273, 0.296, 0.41}},
};

static const struct law *laws_of(uint32_t f)
{
    return measured[f <= 8 ? f - 4 : f <= 9 ? 4 : 5];
}

/* The regularized incomplete gamma function P(a, x): its series, or its continued fraction. */
static double gamma_below(double a, double x)
{
    if (!(x > 0)) {
        return 0;
    }
    double front = exp(a * log(x) - x - tepal_log_gamma(a));
    if (x < a + 1) {
        double term = 1 / a;
        double sum = term;
        for (int i = 1; term > 1e-15 * sum; i++) {
            term *= x / (a + i);
            sum += term;
        }
        return front * sum;
    }
    double b = x + 1 - a; /* by Lentz: c and d are ratios of consecutive convergents */
    double c = INFINITY;
    double d = 1 / b;
    double fraction = d;
    for (int i = 1; fabs(c * d - 1) > 1e-15 && i < 1000; i++) {
        double numerator = i * (a - i);
        b += 2;
        d = 1 / (b + numerator * d);
        c = b + numerator / c;
        fraction *= c * d;
    }
    return 1 - front * fraction;
}

static double between(double a, double b, double part)
{
    return a + part * (b - a);
}

/* Is J at most `empty`, by a law of so many slots? */
static double at_most(struct law law, double slots, double empty)
{
    double scale = law.deviation * sqrt(slots) * law.skewness / 2;
    double shape = 4 / (law.skewness * law.skewness);
    double shift = law.mean * slots - shape * scale;
    return gamma_below(shape, (empty + 0.5 - shift) / scale);
}

/* Laws of many slots resemble each other if scaled; those of few, if not. */
#define FEW 64

static double interpolated(uint32_t f, double slots, double empty)
{
    double at = fmax(log2(slots), LEAST_LOG) - LEAST_LOG;
    int i = at >= MOST_LOG - LEAST_LOG ? MOST_LOG - LEAST_LOG - 1 : (int)at;
    const struct law *l = laws_of(f) + i;
    double part = at - i;
    if (slots < FEW) {
        return between(at_most(l[0], ldexp(1, LEAST_LOG + i), empty),
                       at_most(l[1], ldexp(2, LEAST_LOG + i), empty), part);
    }
    return at_most((struct law){between(l[0].mean, l[1].mean, part),
                                between(l[0].deviation, l[1].deviation, part),
                                between(l[0].skewness, l[1].skewness, part)},
                   slots, empty);
}

double tepal_fingerprint_fits(uint32_t f, uint64_t buckets, uint64_t n)
{
    uint64_t room = tepal_fingerprint_room(f, buckets); /* 0: no such filter */
    uint64_t slots = TEPAL_FINGERPRINT_SLOTS * buckets;
    if (room == 0 || n <= room) {
        return room == 0 ? NAN : 1;
    }
    if (buckets > (1u << MOST_LOG) / TEPAL_FINGERPRINT_SLOTS || n > slots) {
        return 0;
    }
    return interpolated(f, (double)slots, (double)(slots - n));
}
