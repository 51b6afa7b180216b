/*
 * growing.c: what a growing filter does (filter/growing; docs/growing.md derives all this).
 *
 * A stranger meets an entry that knows T bits of its address by either of his two addresses, with
 * chance 2^(1 - t - T). T is e + the smaller depth of the entry's two buckets when it was added,
 * and never changes. With B buckets, 2^L <= B < 2^(L + 1), a share p = B / 2^L - 1 of the low
 * addresses has L + 1 bits, and both buckets of a key have with chance p^2:
 *
 *     E[2^-T] = 2^-(e + L) (1 - p^2 / 2)
 *
 * There are 7/2 entries per bucket, so while B goes from 2^L (1 + p) to 2^L (1 + q) the sum of 2^-T
 * rises by 7/2 2^-e times the integral of (1 - x^2 / 2) from p to q: by 7/2 2^-e 5/6 per doubling.
 *
 * An entry that knows T <= L bits is in 2^(L - T) (1 + p) buckets: all but one of these are copies.
 */
#include <math.h>

#include "model/model.h"

#define SLOTS   TEPAL_FINGERPRINT_SLOTS
#define PER     3.5 /* entries per bucket: seven of eight slots */
#define MIN_TAG 6   /* shorter ones have too few ways to move */
#define PAST    64  /* times the planned keys: memory is planned for that, too; nobody knows them */
#define MIN_EXT 8   /* extension bits, where they are to be had: then copies stay few for ever */

/* The integral of 1 - x^2 / 2 up to p. */
static double integral(double p)
{
    return p - p * p * p / 6;
}

static bool valid(uint32_t bits, uint64_t buckets)
{
    return bits <= 64 && buckets >= 1;
}

static double level_of(double buckets)
{
    return floor(log2(buckets));
}

/* How the sum of 2^(e - T) rises while the buckets become more. */
static double rise(double from, double to)
{
    double sum = 0;
    while (from < to) {
        double size = exp2(level_of(from));
        double end = fmin(to, 2 * size);
        sum += PER * (integral(end / size - 1) - integral(from / size - 1));
        from = end;
    }
    return sum;
}

double tepal_growing_rise(uint32_t extension_bits, uint64_t buckets, double held, double keys)
{
    if (!valid(extension_bits, buckets) || !(held >= 0 && keys >= 0)) {
        return NAN;
    }
    double b = (double)buckets;
    double size = exp2(level_of(b));
    double p = b / size - 1;
    double room = fmin(fmax(PER * b - held, 0), keys); /* added before it grows */
    double sum = room / size * (1 - p * p / 2);
    if (keys > room) {
        sum += rise(b, b + (keys - room) / PER);
    }
    return ldexp(sum, -(int)extension_bits);
}

double tepal_growing_fp(uint32_t tag_bits, uint32_t extension_bits, uint64_t buckets, uint64_t n)
{
    double sum = tepal_growing_rise(extension_bits, buckets, 0, (double)n);
    return valid(tag_bits, buckets) ? -expm1(-ldexp(sum, 1 - (int)tag_bits)) : NAN;
}

/* Copies there are when `first` buckets have become `buckets`. */
static double copies(double e, double first, double buckets)
{
    double level = level_of(buckets);
    double now = buckets / exp2(level); /* 1 + p */
    double sum = 0;
    for (double r = level_of(first); r <= level - e; r++) {
        double keys = PER * (r == level_of(first) ? 2 * exp2(r) : exp2(r));
        double whole = exp2(level - r - e) * now - 1;
        double longer = exp2(level - r - 1 - e) * now - 1;
        sum += keys * (2 * whole + fmax(longer, 0)) / 3;
    }
    return sum;
}

double tepal_growing_buckets(uint32_t extension_bits, uint64_t buckets, uint64_t n)
{
    double first = (double)buckets;
    double low = first;
    double high = fmax(first, 2 * (double)n / PER + 1);
    if (!valid(extension_bits, buckets)) {
        return NAN;
    }
    if (PER * first >= (double)n) {
        return first;
    }
    while (PER * high - copies(extension_bits, first, high) < (double)n) {
        high *= 2;
        if (high > 0x1p60) {
            return INFINITY;
        }
    }
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (PER * middle - copies(extension_bits, first, middle) < (double)n) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

enum tepal_status tepal_growing_size(uint64_t first, uint64_t n, double fp,
                                     struct tepal_params *params)
{
    if (first == 0 || n < first || !(fp > 0 && fp < 1)) {
        return TEPAL_BAD_ARGUMENT;
    }
    double wanted = fmax(ceil((double)first / PER), TEPAL_GROWING_MIN_BUCKETS);
    if (wanted > 0x1p40 || (double)n > 0x1p41) {
        return TEPAL_TOO_LARGE;
    }
    uint64_t buckets = (uint64_t)wanted;
    double doublings = ceil(log2(fmax((double)n / PER / wanted, 1)));
    uint64_t past = PAST * (uint64_t)fmax((double)n, PER * wanted);
    double least = INFINITY;
    /*
     * The fewest bits that keep the rate may store so many copies that more take less memory, if
     * not for n keys then for many times as many. Bits of the extension are as good for the rate
     * as those of the tag, so that there are at least MIN_EXT wherever the tag can spare them.
     */
    for (uint32_t both = MIN_TAG + 1; both <= TEPAL_MAX_TAG_BITS + TEPAL_MAX_EXTENSION_BITS;
         both++) {
        uint32_t e = (uint32_t)fmin(fmin(both - MIN_TAG, fmax(doublings + 1, MIN_EXT)),
                                    TEPAL_MAX_EXTENSION_BITS);
        e = both - e > TEPAL_MAX_TAG_BITS ? both - TEPAL_MAX_TAG_BITS : e;
        bool keeps = tepal_growing_fp(both - e, e, buckets, n) <= fp;
        double bits = keeps ? tepal_growing_buckets(e, buckets, past) * (both + 1) : INFINITY;
        if (bits < least) {
            least = bits;
            params->growing.tag_bits = both - e;
            params->growing.extension_bits = e;
            params->cells = buckets * SLOTS * (both + 1);
            params->hashes = 2;
        } else if (bits > 2 * least) {
            break;
        }
    }
    return isinf(least) ? TEPAL_BAD_ARGUMENT : TEPAL_OK;
}

enum tepal_status tepal_model_growing(const struct tepal_params *params,
                                      const struct tepal_use *use, struct tepal_report *report,
                                      struct tepal_error *error)
{
    enum tepal_status status = tepal_params_check(params, error);
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t n = use->keys;
    uint32_t t = (uint32_t)params->growing.tag_bits;
    uint32_t e = (uint32_t)params->growing.extension_bits;
    uint64_t first = params_growing_buckets(params);
    double buckets = ceil(tepal_growing_buckets(e, first, n));
    double bits = buckets * SLOTS * params_growing_slot(params);
    report->count = 0;
    report->numbers = 0;
    tepal_report_text(report, "kind", "the kind of filter", "growing");
    tepal_report_integer(report, "first_bits", "size when empty, in bits", params->cells);
    tepal_report_integer(report, "tag_bits", "t, bits per tag", t);
    tepal_report_integer(report, "extension_bits", "e, bits per extension, when new", e);
    tepal_report_integer(report, "keys", "n", n);
    tepal_report_real(report, "doublings", "how often it has doubled when n keys are in",
                      log2(buckets / (double)first));
    tepal_report_real(report, "bits", "size when n keys are in, in bits", bits);
    tepal_report_real(report, "bits_per_key", "bits per key then", bits / (double)n);
    tepal_report_real(report, "copies", "share of entries stored twice because they are old",
                      copies(e, (double)first, buckets) / (PER * buckets));
    tepal_report_real(report, "fp", "probability that a non-member meets an entry",
                      tepal_growing_fp(t, e, first, n));
    return TEPAL_OK;
}

/* Eight slots are compared, each of which has one tag. */
double tepal_model_growing_bound(const struct tepal_params *params)
{
    return fmin(1, ldexp(2 * SLOTS, -(int)params->growing.tag_bits));
}
