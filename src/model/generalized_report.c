/* generalized_report.c: all that the model of the generalized filter says, by name. */
#include "model/generalized.h"
#include "model/model.h"
#include "params/params.h"

#include <math.h>

#define MAX_AGES 101

/* All ages of up to 101 keys; else 101 of them, evenly from the newest to the oldest. */
static size_t choose_ages(uint64_t n, uint64_t *ages)
{
    if (n <= MAX_AGES) {
        for (uint64_t i = 0; i < n; i++) {
            ages[i] = i;
        }
        return (size_t)n;
    }
    for (uint64_t i = 0; i < MAX_AGES; i++) {
        double age = (double)(n - 1) / (MAX_AGES - 1) * (double)i + 0.5;
        ages[i] = age < (double)(n - 1) ? (uint64_t)age : n - 1;
    }
    ages[MAX_AGES - 1] = n - 1;
    return MAX_AGES;
}

struct setting {
    uint64_t m;
    uint64_t n;
    uint32_t k0;
    uint32_t k1;
    uint32_t b;
    double p0;
};

static void report_rates(const struct setting *s, const struct tepal_generalized_errors *rates,
                         const struct tepal_params *p, struct tepal_report *r)
{
    tepal_report_real(r, "fp", "false-positive rate of a key that was never added", rates->fp);
    tepal_report_real(r, "fn", "false-negative rate, mean over the keys", rates->fn);
    tepal_report_flag(r, "exact", "are fp, fn and fn_by_age without approximation?", rates->exact);
    tepal_report_real(
        r, "fp_bound",
        "upper bound on the false-positive rate for any bits (large filter), eq. (19)",
        tepal_generalized_fp_bound(s->k0, s->k1, s->b));
    tepal_report_real(r, "fp_bound_finite", "the same for this size, layout and rule",
                      tepal_params_fp_bound(p));
    tepal_report_real(
        r, "fn_bound",
        "upper bound on the false-negative rate, that of a key older than all others, eq. (24)",
        tepal_generalized_fn_bound(s->m, s->n, s->k0, s->k1, s->b));
    tepal_report_real(r, "fn_bound_exact", "the same without approximation", rates->fn_bound);
    tepal_report_real(r, "fp_steady", "false-positive rate after endless additions",
                      rates->fp_steady);
    tepal_report_real(r, "zeros", "share of zeros after the keys, eq. (7)",
                      tepal_generalized_zero(s->m, s->n, s->k0, s->k1, s->p0));
    tepal_report_real(r, "zeros_steady", "share of zeros after endless additions, q0 / (q0 + q1)",
                      tepal_generalized_zero(s->m, UINT64_MAX, s->k0, s->k1, s->p0));
    tepal_report_real(r, "zeros_worst", "share of zeros at which most keys are found, eq. (18)",
                      tepal_generalized_worst_zero(s->k0, s->k1, s->b));
}

static void report_equations(const struct setting *s, struct tepal_report *r)
{
    uint64_t m = s->m;
    uint64_t n = s->n;
    uint32_t k0 = s->k0;
    uint32_t k1 = s->k1;
    tepal_report_real(r, "q0", "probability that a key resets a bit, eq. (4)",
                      tepal_generalized_q0(m, k0, k1));
    tepal_report_real(r, "q0_approx", "eq. (4), approximated",
                      tepal_generalized_q0_approx(m, k0, k1));
    tepal_report_real(r, "q1", "probability that a key sets a bit, eq. (5)",
                      tepal_generalized_q1(m, k0, k1));
    tepal_report_real(r, "q1_approx", "eq. (5), approximated",
                      tepal_generalized_q1_approx(m, k0, k1));
    tepal_report_real(r, "untouched", "probability that a key leaves a bit unchanged, eq. (6)",
                      tepal_generalized_untouched(m, k0, k1));
    tepal_report_real(r, "untouched_approx", "eq. (6), approximated",
                      tepal_generalized_untouched_approx(m, k0, k1));
    tepal_report_real(r, "zeros_approx", "share of zeros, eq. (26)",
                      tepal_generalized_zero_approx(m, n, k0, k1, s->p0));
    if (s->b == 0) {
        tepal_report_real(r, "fp_classic", "false-positive rate, eq. (8)",
                          tepal_generalized_fp_classic(m, n, k0, k1, s->p0));
        tepal_report_real(r, "fn_classic", "false-negative rate, eq. (12)",
                          tepal_generalized_fn_classic(m, n, k0, k1));
        tepal_report_real(r, "fn_oldest_classic", "false-negative rate of the oldest key, eq. (11)",
                          tepal_generalized_fn_age_classic(m, n == 0 ? 0 : n - 1, k0, k1));
    }
    tepal_report_real(r, "fp_approx", "false-positive rate, eq. (16) with (26)",
                      tepal_generalized_fp_approx(m, n, k0, k1, s->b, s->p0));
    tepal_report_real(r, "fn_approx", "false-negative rate, mean of eq. (24) over the ages",
                      tepal_generalized_fn_approx(m, n, k0, k1, s->b));
    tepal_report_real(r, "kept_zero",
                      "probability that the oldest reset bit is 0, eq. (9) at age n",
                      tepal_generalized_kept_zero(m, n, k0, k1));
    tepal_report_real(r, "kept_zero_approx", "eq. (22)",
                      tepal_generalized_kept_zero_approx(m, n, k0, k1));
    tepal_report_real(r, "kept_one", "probability that the oldest set bit is 1, eq. (10) at age n",
                      tepal_generalized_kept_one(m, n, k0, k1));
    tepal_report_real(r, "kept_one_approx", "eq. (23)",
                      tepal_generalized_kept_one_approx(m, n, k0, k1));
}

static void report_finite(const struct setting *s, struct tepal_report *r)
{
    static const struct {
        enum tepal_generalized_rule rule;
        const char *name;
        const char *about;
    } rules[] = {
        {TEPAL_GENERALIZED_LITERAL, "fp_bound_literal",
         "finite bound, flat, if a query checks both a reset and a set that meet"},
        {TEPAL_GENERALIZED_PRECEDENCE, "fp_bound_precedence",
         "finite bound, flat, if it checks only the reset (colliding positions)"},
        {TEPAL_GENERALIZED_DISTINCT, "fp_bound_distinct",
         "finite bound, flat, if they never meet (distinct positions)"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        tepal_report_real(
            r, rules[i].name, rules[i].about,
            tepal_generalized_fp_bound_finite(rules[i].rule, s->m, s->k0, s->k1, s->b));
    }
}

static void report_ages(const uint64_t *ages, const double *fn, size_t count,
                        struct tepal_report *r)
{
    double real[MAX_AGES];
    for (size_t i = 0; i < count; i++) {
        real[i] = (double)ages[i];
    }
    tepal_report_list(r, "ages", "keys added after the queried one", real, count);
    tepal_report_list(r, "fn_by_age", "false-negative rate at these ages", fn, count);
}

enum tepal_status tepal_model_generalized(const struct tepal_params *params,
                                          const struct tepal_use *use, struct tepal_report *report,
                                          struct tepal_error *error)
{
    uint64_t ages[MAX_AGES];
    double fn[MAX_AGES] = {0};
    struct tepal_generalized_errors rates;
    enum tepal_status status = tepal_params_check(params, error);
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t n = use->keys;
    report->count = 0;
    report->numbers = 0;
    size_t count = choose_ages(n, ages);
    status = tepal_generalized_rates(params, n, ages, count, fn, &rates);
    if (status != TEPAL_OK) {
        return refuse(error, status, "the parameters are not those of a generalized filter");
    }
    uint32_t k0 = (uint32_t)params->generalized.reset_hashes;
    struct setting s = {.m = params->cells,
                        .n = n,
                        .k0 = k0,
                        .k1 = params->hashes - k0,
                        .b = (uint32_t)params->generalized.tolerance,
                        .p0 = params_zeros(params)};
    tepal_report_text(report, "layout", "where the bits of a key are",
                      tepal_layout_name(params->layout));
    tepal_report_text(report, "positions", "may two positions of a key be the same?",
                      tepal_positions_name(params->positions));
    tepal_report_integer(report, "bits", "size of the filter", s.m);
    tepal_report_integer(report, "keys", "number of keys", n);
    tepal_report_integer(report, "reset_hashes", "hash functions that reset bits (k0)", s.k0);
    tepal_report_integer(report, "set_hashes", "hash functions that set bits (k1)", s.k1);
    tepal_report_integer(report, "tolerance", "inverted bits that a query tolerates (b)", s.b);
    tepal_report_real(report, "zeros_initial", "initial share of zeros (p0)", s.p0);
    tepal_report_real(report, "bits_per_key", "bits per key",
                      n == 0 ? NAN : (double)s.m / (double)n);
    report_rates(&s, &rates, params, report);
    report_equations(&s, report);
    report_finite(&s, report);
    report_ages(ages, fn, count, report);
    return TEPAL_OK;
}
