/*
 * tepal/model.h: predictions. No filter, no memory: parameters in, error rates out. docs/models.md
 * derives the formulas; tepal/papers.h has the equations of the papers one by one.
 */
#ifndef TEPAL_MODEL_H
#define TEPAL_MODEL_H

#include <math.h>

#include <tepal/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sizes ----------------------------------------------------------------------------------- */

/*
 * The lowest false-positive rate that can be requested, per key: 2^-120. Digests have 128 bits, and
 * two that differ only in the lowest bit of `hi` have the same positions. So a non-member is taken
 * for one of n keys with probability n 2^-127, however large the filter is. At a rate of n 2^-120
 * that adds less than 1 %.
 */
#define TEPAL_MIN_RATE 7.52316384526264e-37

/*
 * Complete *params for `keys` keys at a false-positive rate of at most fp, in as little memory as
 * its kind and layout allow. Set kind, layout, positions, hash and seed before; cells, hashes and
 * capacity are set here. `hashes` (fingerprint: fingerprint.bits) may be given; 0: the best.
 *
 *   bloom, retouched   the smallest filter
 *   counting           the same in counters; choices 0 becomes 1. With more choices, rule 0 is
 *                      that of the layout, and paired is TEPAL_UNSUPPORTED
 *   fingerprint        room for the keys at that rate
 *   generalized        the oldest keys are forgotten at a rate of at most fp too, and fp holds
 *                      for any bits. Blocked: at most 8 hash functions, and fp from 1.4 % on
 *   recycling          cells, the bits of one phase, is given and `keys` is 0: sets the limit
 *                      (sigma) and the hashes that achieve the *average* rate; phases 0 becomes 2
 *                      with the flag retain; capacity becomes the expected keys per cycle. With
 *                      the rule average the limit is the rate; hashes and capacity as by sigma
 *   growing            begins with room for a thousandth of the keys (at least 896) and keeps the
 *                      rate until all are in; beyond, it rises slowly
 *   chain              keeps the rate at every size. chain.first_keys, growth and series may be
 *                      given; first_keys 0: a thousandth of the keys, doubled again and again,
 *                      by the even series. `keys` is what is planned: it grows beyond
 *   yesno, cascade     TEPAL_UNSUPPORTED: these are sized and built from known keys
 *
 * TEPAL_BAD_ARGUMENT unless 0 < fp < 1 and there are keys, if no filter of this kind achieves the
 * rate, or if digests cannot keep it (TEPAL_MIN_RATE; recycling: for the keys of all phases);
 * TEPAL_TOO_LARGE beyond 2^60 cells; and as tepal_params_check. *params is unchanged in all these
 * cases.
 */
TEPAL_API enum tepal_status tepal_params_for_rate(struct tepal_params *params, uint64_t keys,
                                                  double fp, struct tepal_error *error);

/*
 * The inverse: complete *params so that `keys` keys have the lowest false-positive rate in at most
 * `bits` bits of cells (counting: 5 bits per counter, or 9; fingerprint: up to a pair of buckets
 * more).
 * For bloom, retouched, counting with one choice and fingerprint; otherwise TEPAL_UNSUPPORTED.
 * Fails as tepal_params_for_rate does.
 */
TEPAL_API enum tepal_status tepal_params_for_bits(struct tepal_params *params, uint64_t keys,
                                                  uint64_t bits, struct tepal_error *error);

/*
 * The false-positive rate that no contents of a filter of these parameters can exceed, for keys
 * drawn independently of them: that of a generalized, fingerprint or growing filter; 1 for kinds
 * without a bound. Blocked generalized filters: an adversary may give whole sectors of a line to
 * zeros and others to ones, which the keys' cells, one per sector, then meet in larger shares:
 * with (2, 2) 8.6 % instead of 6.3 %, with (4, 4) 1.4 % instead of 0.4 %. (For k > 8 the two
 * rounds are bounded one by one.) Params must have passed the check.
 */
TEPAL_API double tepal_params_fp_bound(const struct tepal_params *params);

/* ---- streams --------------------------------------------------------------------------------- */

/* How an endless stream repeats itself; this decides the false negatives of filters that forget. */
enum tepal_stream {
    TEPAL_STREAM_UNKNOWN = 0,
    TEPAL_STREAM_GAPS = 1,      /* measured: `gaps` */
    TEPAL_STREAM_GEOMETRIC = 2, /* stream_a: mean gap; stream_fresh: share of new messages */
    TEPAL_STREAM_PARETO = 3,    /* stream_a: shape; stream_b: scale; stream_fresh */
    TEPAL_STREAM_ZIPF = 4       /* stream_a: exponent; stream_keys: number of keys */
};

/*
 * How a stream repeats itself. The gap of a repeat is the number of arrivals since the previous
 * arrival of the same key (1: the very next one); `fresh` is the share of arrivals that are not
 * repeats.
 */
struct tepal_gaps {
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

/* A stream, by its law. */
struct tepal_recycling_stream {
    enum tepal_stream law;
    double a;
    double b;
    double fresh;
    uint64_t keys;
    struct tepal_gaps gaps;
};

/* ---- predictions ----------------------------------------------------------------------------- */

/* How a filter will be used. Start from TEPAL_USE_INIT and set what applies. */
struct tepal_use {
    uint64_t keys;            /* members; not used for streams (recycling) */
    uint64_t known_negatives; /* yesno, cascade: keys to avoid */
    uint64_t universe;        /* retouched: all keys there are, more than `keys` */
    double share_removed;     /* retouched: of the false positives, by random selection; 0..1 */
    uint64_t bits_cleared;    /* retouched: set bits cleared at random */
    double wrong_removals;    /* counting: removals of keys that were never added */
    double p0, p1;            /* counting: measured shares of counters at 0 and 1 (Sec. 3.3); NAN:
                                 the expected ones */
    double fp;                /* recycling with limit 0, cascade with cells 0: sized for this rate
                                 first; NAN: not */
    uint64_t bits;            /* yesno, cascade with cells 0: sized to fit into these; 0: not */
    /*
     * recycling: the stream, for what new messages and repeats of it meet; NULL: all are new (by
     * average), or nothing is told of it
     */
    const struct tepal_recycling_stream *stream;
};

#define TEPAL_USE_INIT                                                                             \
    {                                                                                              \
        0, 0, 0, 1, 0, 0, NAN, NAN, NAN, 0, NULL                                                   \
    }

/*
 * Everything the model of the kind predicts for these parameters and this use, by name. Hashes of 0
 * become the best number. Fails as tepal_params_check does, or with TEPAL_BAD_ARGUMENT.
 */
TEPAL_API enum tepal_status tepal_model(const struct tepal_params *params,
                                        const struct tepal_use *use, struct tepal_report *report,
                                        struct tepal_error *error);

#ifdef __cplusplus
}
#endif

#endif
