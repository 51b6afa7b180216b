/*
 * fingerprint.c: what a cuckoo filter does (B. Fan, D. G. Andersen, M. Kaminsky and M. D.
 * Mitzenmacher, Cuckoo Filter: Practically Better Than Bloom, CoNEXT 2014), buckets of four slots.
 *
 * A key is to the filter its class: a fingerprint and a pair of buckets. A stranger is found if
 * some key is of his class: if it has his fingerprint, with chance q, and then one of his two
 * buckets of B, with chance 2/B. Of the 2^f values that the digest gives, 0 becomes 1: a stranger
 * has the fingerprint 1 with chance q1 = 2/2^f, and any other with q = 1/2^f each:
 *
 *     fp = q1 (1 - (1 - 2 q1 / B)^n) + (1 - q1) (1 - (1 - 2 q / B)^n)        about 8 load / 2^f
 *
 * (The paper's 1 - (1 - 2^-f)^(8 load), its eq. (4), takes the eight slots for independent; it is
 * the same but for small f.)
 *
 * How many keys fit is measured, not derived: see tepal_fingerprint_room.
 */
#include <tepal/papers.h>

#include <math.h>

#include "model/model.h"
#include "model/numeric.h"
#include "params/params.h"

#define SLOTS TEPAL_FINGERPRINT_SLOTS

double tepal_fingerprint_fp(uint32_t f, uint64_t buckets, uint64_t n)
{
    if (f < TEPAL_MIN_FINGERPRINT_BITS || f > TEPAL_MAX_FINGERPRINT_BITS || buckets < 2) {
        return NAN;
    }
    double q = exp2(-(double)f);
    double others = -expm1(log_all_miss(2 * q / (double)buckets, (double)n));
    double ones = -expm1(log_all_miss(4 * q / (double)buckets, (double)n));
    return 2 * q * ones + (1 - 2 * q) * others;
}

/*
 * How many keys surely fit, by measurement: filled until the first failure, thousands of times at
 * every size (tests/fingerprint_stat.c). Large filters take 96.5 % and more; fingerprints of four
 * or five bits have fewer ways to move, and take 93.6 and 95.5 %. In small filters too many keys
 * may want the same few buckets: below 64 buckets about one filter in 10,000 fails before this
 * limit, above none did. Eight keys always fit.
 */
static double room_of(uint32_t f, double buckets)
{
    double slots = SLOTS * buckets;
    double room = f == 4 ? 0.9 * slots - 24 : f == 5 ? 0.93 * slots - 24 : 0.95 * slots - 12;
    return fmax(room, 2 * SLOTS);
}

uint64_t tepal_fingerprint_room(uint32_t f, uint64_t buckets)
{
    return f < TEPAL_MIN_FINGERPRINT_BITS || f > TEPAL_MAX_FINGERPRINT_BITS || buckets < 2
               ? 0
               : whole_of(room_of(f, (double)buckets));
}

/* The smallest even number of buckets that is at least x; 0: too many. */
static uint64_t even(double x)
{
    return x > (double)PARAMS_MAX_CELLS ? 0 : 2 * (uint64_t)ceil(fmax(x, 1) / 2);
}

/* The fewest buckets with room for n keys: the inverse of room_of, put right by steps. */
static uint64_t buckets_for(uint32_t f, uint64_t n)
{
    uint64_t buckets = even((double)n / SLOTS);
    /* beyond 2^32 they are refused anyway, and steps of 2 would be lost in rounding */
    while (buckets != 0 && buckets <= UINT32_MAX && tepal_fingerprint_room(f, buckets) < n) {
        double missing = (double)(n - tepal_fingerprint_room(f, buckets)) / SLOTS;
        buckets = even((double)buckets + fmax(missing, 2));
    }
    return buckets;
}

static bool cells_of(uint32_t f, uint64_t buckets, uint64_t *cells)
{
    if (buckets == 0 || buckets > UINT32_MAX || buckets > PARAMS_MAX_CELLS / (SLOTS * f)) {
        return false;
    }
    *cells = buckets * SLOTS * f;
    return true;
}

/* Up to this many times the buckets that the keys need, to lower the rate by emptiness. */
#define MOST_EMPTY 4

enum tepal_status tepal_fingerprint_size(uint64_t n, double fp, uint64_t *cells, uint32_t *bits)
{
    bool chosen = *bits != 0;
    if (n == 0 || !(fp > 0 && fp < 1) ||
        (chosen && (*bits < TEPAL_MIN_FINGERPRINT_BITS || *bits > TEPAL_MAX_FINGERPRINT_BITS))) {
        return TEPAL_BAD_ARGUMENT;
    }
    uint64_t best = 0;
    uint32_t best_bits = 0;
    enum tepal_status status = TEPAL_BAD_ARGUMENT;
    for (uint32_t f = chosen ? *bits : TEPAL_MIN_FINGERPRINT_BITS;
         f <= (chosen ? *bits : TEPAL_MAX_FINGERPRINT_BITS); f++) {
        uint64_t here;
        uint64_t buckets = buckets_for(f, n);
        if (tepal_fingerprint_fp(f, buckets, n) > fp) {
            /* Emptier: 2 n / B = -2^f log(1 - fp) for large f, and a little more for small. */
            double each = -log1p(-fp) * exp2(f) / (1 + 2 * exp2(-(double)f));
            double emptier = 2 * (double)n / each + 2;
            if (emptier > MOST_EMPTY * (double)buckets) {
                continue; /* a rate that these fingerprints reach by being rare only */
            }
            buckets = even(emptier);
        }
        if (!cells_of(f, buckets, &here)) {
            status = TEPAL_TOO_LARGE;
        } else if (best == 0 || here < best) {
            best = here;
            best_bits = f;
        }
    }
    if (best == 0) {
        return status;
    }
    *cells = best;
    *bits = best_bits;
    return TEPAL_OK;
}

enum tepal_status tepal_fingerprint_fit(uint64_t n, double bits_per_key, uint64_t *cells,
                                        uint32_t *bits)
{
    bool chosen = *bits != 0;
    if (n == 0 || !(bits_per_key > 0) ||
        (chosen && (*bits < TEPAL_MIN_FINGERPRINT_BITS || *bits > TEPAL_MAX_FINGERPRINT_BITS))) {
        return TEPAL_BAD_ARGUMENT;
    }
    double all = bits_per_key * (double)n;
    if (!(all <= (double)PARAMS_MAX_CELLS)) {
        return TEPAL_TOO_LARGE;
    }
    /* The longest fingerprints that leave room: each bit more halves the rate. */
    uint32_t least = chosen ? *bits : TEPAL_MIN_FINGERPRINT_BITS;
    for (uint32_t f = chosen ? *bits : TEPAL_MAX_FINGERPRINT_BITS; f >= least; f--) {
        uint64_t buckets = 2 * (uint64_t)ceil(all / (2 * SLOTS * f));
        if (tepal_fingerprint_room(f, buckets) >= n && cells_of(f, buckets, cells)) {
            *bits = f;
            return TEPAL_OK;
        }
    }
    return TEPAL_BAD_ARGUMENT;
}

enum tepal_status tepal_model_fingerprint(const struct tepal_params *params,
                                          const struct tepal_use *use, struct tepal_report *report,
                                          struct tepal_error *error)
{
    enum tepal_status status = tepal_params_check(params, error);
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t n = use->keys;
    uint32_t f = (uint32_t)params->fingerprint.bits;
    uint64_t buckets = params->cells / (SLOTS * f);
    double slots = SLOTS * (double)buckets;
    double load = (double)n / slots;
    report->count = 0;
    report->numbers = 0;
    tepal_report_text(report, "kind", "the kind of filter", "fingerprint");
    tepal_report_integer(report, "bits", "size in bits", params->cells);
    tepal_report_integer(report, "fingerprint_bits", "f, bits per fingerprint", f);
    tepal_report_integer(report, "slots", "number of slots", buckets * SLOTS);
    tepal_report_integer(report, "keys", "n", n);
    tepal_report_real(report, "bits_per_key", "bits per key", (double)params->cells / (double)n);
    tepal_report_real(report, "load", "keys per slot", load);
    tepal_report_integer(report, "room", "keys that fit reliably (measured limit)",
                         tepal_fingerprint_room(f, buckets));
    tepal_report_flag(report, "fits", "do n keys fit?", n <= tepal_fingerprint_room(f, buckets));
    tepal_report_real(report, "fp", "probability that a non-member falls into the class of a key",
                      tepal_fingerprint_fp(f, buckets, n));
    tepal_report_real(report, "fp_printed", "1 - (1 - 2^-f)^(8 load), the paper's eq. (4)",
                      -expm1(2 * SLOTS * load * log1p(-exp2(-(double)f))));
    tepal_report_real(report, "fp_full", "false-positive rate with every slot taken",
                      tepal_fingerprint_fp(f, buckets, buckets * SLOTS));
    tepal_report_real(
        report, "bloom_fp", "false-positive rate of a Bloom filter of this size, for comparison",
        tepal_bloom_fp(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, params->cells, n,
                       tepal_bloom_best_hashes(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING,
                                               params->cells, n)));
    return TEPAL_OK;
}

/* Eight slots are compared, and one fingerprint in 2^f - 1 is twice as likely as the others. */
double tepal_model_fingerprint_bound(const struct tepal_params *params)
{
    return fmin(1, ldexp(2 * SLOTS + 1, -(int)params->fingerprint.bits));
}
