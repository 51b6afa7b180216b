/*
 * judge.c: is this filter what its parameters promise? Compares them with what was agreed on, and
 * its bits with what honest ones would be (model/occupancy.h).
 */
#include <tepal/receive.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tepal/model.h>

#include "base/refuse.h"
#include "base/report.h"
#include "cells/bits.h"
#include "file/judge.h"
#include "filter/kind.h"
#include "filter/retouched/internal.h"
#include "model/occupancy.h"

const char *tepal_verdict_name(enum tepal_verdict verdict)
{
    static const char *const names[] = {"accepted", "size", "parameters", "keys", "unsound",
                                        "kind",     "fp",   "fill",       "line"};
    return (uint32_t)verdict < sizeof names / sizeof *names ? names[verdict] : "unknown";
}

enum tepal_status tepal_judge_begin(const struct tepal_terms *t, struct tepal_judgement *r,
                                    struct tepal_error *error)
{
    if (!(t->max_fp >= 0 && t->max_fp <= 1 && t->min_probability >= 0 && t->min_probability <= 1 &&
          t->agreed <= TEPAL_AGREED_ALL)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "max_fp and min_probability must be within 0..1, and agreed must have known "
                      "flags only");
    }
    memset(r, 0, sizeof *r);
    r->fill_expected = NAN;
    r->fill_deviation = NAN;
    r->fill_probability = NAN;
    r->fullest_probability = NAN;
    r->fp_now = NAN;
    r->fp_bound = NAN;
    r->fn_told = NAN;
    return TEPAL_OK;
}

/* ---- the parameters -------------------------------------------------------------------------- */

static void differ(struct tepal_judgement *r, unsigned which, const char *what, uint64_t is,
                   uint64_t agreed)
{
    r->verdict = TEPAL_REFUSED_PARAMETERS;
    r->differs = which;
    snprintf(r->why, sizeof r->why, "%s: %" PRIu64 ", but %" PRIu64 " was agreed", what, is,
             agreed);
}

static void differ_word(struct tepal_judgement *r, unsigned which, const char *what, const char *is,
                        const char *agreed)
{
    r->verdict = TEPAL_REFUSED_PARAMETERS;
    r->differs = which;
    snprintf(r->why, sizeof r->why, "the %s is %s, but %s was agreed", what, is, agreed);
}

static void differ_key(struct tepal_judgement *r, const char *made)
{
    r->verdict = TEPAL_REFUSED_PARAMETERS;
    r->differs = TEPAL_AGREED_HASH;
    snprintf(r->why, sizeof r->why, "it was built %s secret key", made);
}

static const char *kind_name(enum tepal_kind_id kind)
{
    const struct tepal_kind *known = tepal_kind_by_id((uint32_t)kind);
    return known == NULL ? "unknown" : known->name;
}

static bool check_hash(const struct tepal_params *p, const struct tepal_terms *t,
                       struct tepal_judgement *r)
{
    const struct tepal_params *a = &t->params;
    if (p->hash != a->hash) {
        differ_word(r, TEPAL_AGREED_HASH, "hash", tepal_hash_name(p->hash),
                    tepal_hash_name(a->hash));
    } else if (p->key_check != a->key_check) {
        differ_key(r, "with another");
    }
    return r->verdict == TEPAL_ACCEPTED;
}

/* The key itself, under the filter's own seed. */
static bool check_key(const struct tepal_params *p, const struct tepal_terms *t,
                      struct tepal_judgement *r)
{
    struct tepal_hasher hasher;
    bool keyed = tepal_hash_is_keyed(p->hash);
    if (keyed && tepal_hasher_init_by(p->hash, p->seed, t->key, &hasher) == TEPAL_OK &&
        tepal_hasher_check(&hasher) == p->key_check) {
        return true;
    }
    differ_key(r, keyed ? "with another" : "without a");
    return false;
}

static bool check_own(const struct tepal_params *p, const struct tepal_terms *t,
                      struct tepal_judgement *r)
{
    const struct params_rules *rules = tepal_params_rules((uint32_t)p->kind);
    for (size_t i = 0; i < TEPAL_OWN_PARAMS; i++) {
        unsigned which = (unsigned)TEPAL_AGREED_OWN << i;
        if ((t->agreed & which) != 0 && p->own[i] != t->params.own[i]) {
            const char *name = rules->own[i] == NULL ? "a parameter of its kind" : rules->own[i];
            differ(r, which, name, p->own[i], t->params.own[i]);
            return false;
        }
    }
    return true;
}

bool tepal_judge_params(const struct tepal_params *p, uint64_t keys, const struct tepal_terms *t,
                        struct tepal_judgement *r)
{
    const struct tepal_params *a = &t->params;
    r->keys = t->keys != 0 ? t->keys : keys;
    if ((t->agreed & TEPAL_AGREED_KIND) != 0 && p->kind != a->kind) {
        differ_word(r, TEPAL_AGREED_KIND, "kind", kind_name(p->kind), kind_name(a->kind));
    } else if ((t->agreed & TEPAL_AGREED_LAYOUT) != 0 && p->layout != a->layout) {
        differ_word(r, TEPAL_AGREED_LAYOUT, "layout", tepal_layout_name(p->layout),
                    tepal_layout_name(a->layout));
    } else if ((t->agreed & TEPAL_AGREED_POSITIONS) != 0 && p->positions != a->positions) {
        differ_word(r, TEPAL_AGREED_POSITIONS, "rule for positions",
                    tepal_positions_name(p->positions), tepal_positions_name(a->positions));
    } else if ((t->agreed & TEPAL_AGREED_BITS) != 0 && p->cells != a->cells) {
        differ(r, TEPAL_AGREED_BITS, "bits", p->cells, a->cells);
    } else if ((t->agreed & TEPAL_AGREED_HASHES) != 0 && p->hashes != a->hashes) {
        differ(r, TEPAL_AGREED_HASHES, "hashes", p->hashes, a->hashes);
    } else if ((t->agreed & TEPAL_AGREED_SEED) != 0 && p->seed != a->seed) {
        differ(r, TEPAL_AGREED_SEED, "seed", p->seed, a->seed);
    } else if (((t->agreed & TEPAL_AGREED_HASH) == 0 || check_hash(p, t, r)) &&
               (t->key == NULL || check_key(p, t, r)) && check_own(p, t, r) && t->max_keys != 0 &&
               keys > t->max_keys) {
        r->verdict = TEPAL_REFUSED_KEYS;
        snprintf(r->why, sizeof r->why, "it claims %" PRIu64 " keys; the limit is %" PRIu64, keys,
                 t->max_keys);
    }
    return r->verdict == TEPAL_ACCEPTED;
}

/* ---- the bits -------------------------------------------------------------------------------- */

static uint32_t fullest_line(const struct tepal_filter *f)
{
    uint32_t fullest = 0;
    const size_t words = TEPAL_LINE_BITS / 64;
    for (size_t at = 0; at + words <= f->word_count; at += words) {
        uint32_t ones = (uint32_t)tepal_bits_count(f->words + at, words);
        fullest = ones > fullest ? ones : fullest;
    }
    return fullest;
}

static void take_fill(struct tepal_judgement *r, const struct tepal_terms *t, double cells,
                      struct occupancy o, struct occupancy_tails tails)
{
    double least = tails.above < tails.below ? tails.above : tails.below;
    r->fill_expected = o.mean / cells;
    r->fill_deviation = sqrt(o.variance) / cells;
    r->fill_probability = t->repeats ? tails.above : fmin(1, 2 * least);
}

/*
 * A retouched filter was a Bloom filter with at most as many ones more as were cleared (fewer if
 * keys were added since, which sets some again): it may not be fuller than a Bloom filter as it is,
 * nor emptier with those.
 */
static void measure_bloom(const struct tepal_filter *f, const struct tepal_terms *t,
                          struct tepal_judgement *r)
{
    const struct tepal_params *p = &f->params;
    const uint64_t *own = f->state.own;
    struct occupancy_tails tails = tepal_occupancy_tails(p, r->keys, r->ones);
    if (p->kind == TEPAL_KIND_RETOUCHED) {
        uint64_t before = saturating_add(r->ones, own[RETOUCHED_CLEARED]);
        before = before < p->cells ? before : p->cells;
        tails.below = tepal_occupancy_tails(p, r->keys, before).below;
        r->fn_told = own[RETOUCHED_MEMBERS] == 0
                         ? 0
                         : (double)own[RETOUCHED_VICTIMS] / (double)own[RETOUCHED_MEMBERS];
    }
    take_fill(r, t, (double)p->cells, tepal_occupancy_bloom(p, r->keys), tails);
    if (tepal_layout_in_lines(p->layout)) {
        r->fullest_line = fullest_line(f);
        r->fullest_probability = tepal_occupancy_fullest(p, r->keys, r->fullest_line);
    }
}

static void measure_generalized(const struct tepal_filter *f, const struct tepal_terms *t,
                                struct tepal_judgement *r)
{
    const struct tepal_params *p = &f->params;
    struct occupancy o = tepal_occupancy_generalized(
        p, r->keys, (uint32_t)p->generalized.reset_hashes, params_set_hashes(p), params_zeros(p));
    if (!isnan(o.mean)) {
        take_fill(r, t, (double)p->cells, o, tepal_occupancy_normal(o, r->ones));
    }
}

/*
 * Fingerprints are counted when the filter is opened, so that their number is what it says; each
 * key leaves one, so there is nothing to be judged by chance. (With terms->keys: no more than so
 * many.)
 */
static void measure_fingerprint(const struct tepal_filter *f, const struct tepal_terms *t,
                                struct tepal_judgement *r)
{
    double slots = (double)(f->params.cells / f->params.fingerprint.bits);
    r->ones = tepal_filter_ones(f);
    r->fill = (double)r->ones / slots;
    r->fill_expected = t->keys != 0 ? fmin(1, (double)t->keys / slots) : r->fill;
    r->fill_deviation = 0;
    r->fill_probability = r->fill <= r->fill_expected ? 1 : 0;
}

/* A chance in words; what is too small for a number is below the smallest. */
static const char *chance(double p, char room[32])
{
    snprintf(room, 32, p < 1e-300 ? "below 1e-300" : "%.2g", p);
    return room;
}

static void decide(const struct tepal_terms *t, struct tepal_judgement *r)
{
    double fill = r->fill_probability;
    double line = r->fullest_probability;
    char room[32];
    if (r->fp_now > t->max_fp) {
        r->verdict = TEPAL_REFUSED_FP;
        snprintf(r->why, sizeof r->why,
                 "it finds %.4g %% of all keys (%.4g %% of its bits are ones); the limit is "
                 "%.4g %%",
                 100 * r->fp_now, 100 * r->fill, 100 * t->max_fp);
    } else if (fill < t->min_probability) {
        r->verdict = TEPAL_REFUSED_FILL;
        snprintf(r->why, sizeof r->why,
                 "%.4g %% of its bits are ones, but %" PRIu64
                 " keys are expected to set %.4g %% +- %.2g %%; "
                 "the probability of this is %s; the limit is %.2g",
                 100 * r->fill, r->keys, 100 * r->fill_expected, 100 * r->fill_deviation,
                 chance(fill, room), t->min_probability);
    } else if (line < t->min_probability) {
        r->verdict = TEPAL_REFUSED_LINE;
        snprintf(r->why, sizeof r->why,
                 "its fullest line has %" PRIu32 " of %d bits set; among the lines of %" PRIu64
                 " keys, the probability of this is %s; the limit is %.2g",
                 r->fullest_line, TEPAL_LINE_BITS, r->keys, chance(line, room), t->min_probability);
    }
}

void tepal_judge_bits(const struct tepal_filter *f, const struct tepal_terms *t,
                      struct tepal_judgement *r)
{
    bool bloom = f->params.kind == TEPAL_KIND_BLOOM || f->params.kind == TEPAL_KIND_RETOUCHED;
    if (!bloom && f->params.kind != TEPAL_KIND_GENERALIZED &&
        f->params.kind != TEPAL_KIND_FINGERPRINT) {
        r->verdict = TEPAL_REFUSED_KIND;
        snprintf(r->why, sizeof r->why,
                 "filters of the kind %s cannot be judged by their bits: build one of the kind "
                 "bloom, retouched, generalized or fingerprint",
                 f->ops->rules->kind.name);
        return;
    }
    r->judged = true;
    r->ones = tepal_bits_count(f->words, f->word_count);
    r->fill = (double)r->ones / (double)f->params.cells;
    if (bloom) {
        measure_bloom(f, t, r);
    } else if (f->params.kind == TEPAL_KIND_GENERALIZED) {
        measure_generalized(f, t, r);
    } else {
        measure_fingerprint(f, t, r);
    }
    r->fp_now = tepal_filter_fp_now(f);
    r->fp_bound = tepal_params_fp_bound(&f->params);
    decide(t, r);
}

enum tepal_status tepal_judge(const struct tepal_filter *filter, const struct tepal_terms *terms,
                              struct tepal_judgement *judgement, struct tepal_error *error)
{
    enum tepal_status status = tepal_judge_begin(terms, judgement, error);
    if (status != TEPAL_OK) {
        return status;
    }
    if (tepal_judge_params(&filter->params, filter->state.keys_added, terms, judgement)) {
        tepal_judge_bits(filter, terms, judgement);
    }
    return TEPAL_OK;
}

/* ---- the judgement as quantities ------------------------------------------------------------- */

void tepal_judgement_report(const struct tepal_judgement *r, struct tepal_report *report)
{
    report->count = 0;
    report->numbers = 0;
    tepal_report_flag(report, "accepted", "is it accepted?", r->verdict == TEPAL_ACCEPTED);
    tepal_report_text(report, "verdict", "accepted, or why it was refused",
                      tepal_verdict_name(r->verdict));
    if (r->bytes == 0) {
        tepal_report_absent(report, "bytes", "its header cannot be read");
    } else {
        tepal_report_integer(report, "bytes",
                             "length of the encoded filter, according to its header", r->bytes);
    }
    if (!r->judged) {
        return;
    }
    bool lines = !isnan(r->fullest_probability);
    tepal_report_integer(report, "keys", "number of keys that the fill is compared with", r->keys);
    tepal_report_integer(report, "ones", "bits set", r->ones);
    tepal_report_real(report, "fill", "share of bits set", r->fill);
    tepal_report_real(report, "fill_expected", "expected share of bits set in an honest filter",
                      r->fill_expected);
    tepal_report_real(report, "fill_deviation", "standard deviation of that share",
                      r->fill_deviation);
    tepal_report_real(report, "fill_probability", "probability of such a fill in an honest filter",
                      r->fill_probability);
    if (lines) {
        tepal_report_integer(report, "fullest_line", "bits set in the fullest line of 512",
                             r->fullest_line);
    } else {
        tepal_report_absent(report, "fullest_line", "only for blocked and paired Bloom filters");
    }
    tepal_report_real(report, "fullest_probability",
                      "probability of such a line in an honest filter", r->fullest_probability);
    tepal_report_real(report, "fp_now", "false-positive rate, from the bits", r->fp_now);
    tepal_report_real(report, "fp_bound", "upper bound on the false-positive rate, for any bits",
                      r->fp_bound);
    if (isnan(r->fn_told)) {
        tepal_report_absent(report, "fn_told", "only for retouched filters");
    } else {
        tepal_report_real(report, "fn_told", "share of its members that it says it gave up",
                          r->fn_told);
    }
}
