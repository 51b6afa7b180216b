/*
 * counting_report.c: all that the model says of a counting filter: the theorems (counting.c) on the
 * flat layout with colliding positions, rates and a bound on the others.
 */
#include <math.h>

#include "base/refuse.h"
#include "model/counting.h"
#include "model/model.h"
#include "model/numeric.h"

/* The flat layout with colliding positions, which all theorems are about. */
struct flat {
    uint64_t m;
    uint64_t n;
    uint32_t k;
    uint32_t c; /* groups of hashes */
    uint32_t counter_bits;
    bool measured;   /* are p0 and p1? */
    double p0;       /* share of counters that are 0 */
    double p1;       /* that are 1 */
    double p2;       /* that are more */
    double stuck;    /* that are at their limit, or would be more */
    double removals; /* alpha, of keys that were never added */
};

static void report_shares(struct tepal_report *report, const struct flat *f)
{
    report->count = 0;
    report->numbers = 0;
    tepal_report_text(report, "kind", "the kind of filter", "counting");
    tepal_report_integer(report, "cells", "m, counters", f->m);
    tepal_report_integer(report, "hashes", "k", f->k);
    tepal_report_integer(report, "keys", "n", f->n);
    tepal_report_integer(report, "choices", "c, groups of hash functions", f->c);
    tepal_report_integer(report, "counter_bits", "bits per counter: it sticks at 15 (4) or 255 (8)",
                         f->counter_bits);
    tepal_report_flag(report, "measured", "are p0 and p1 measured (Sec. 3.3), not ideal?",
                      f->measured);
    tepal_report_real(report, "p0", "share of counters that are 0", f->p0);
    tepal_report_real(report, "p1", "share of counters that are 1", f->p1);
    tepal_report_real(report, "p2", "share of counters above 1", f->p2);
    tepal_report_real(report, "fp", "1 - (1 - (1-p0)^k)^c; eq. (1) for c = 1",
                      tepal_counting_fp(f->p0, f->k, f->c));
}

static void report_potential(struct tepal_report *report, const struct flat *f)
{
    const uint32_t k = f->k;
    double pmf[TEPAL_MAX_HASHES + 1];
    double printed[TEPAL_MAX_HASHES + 1];
    tepal_counting_potential_printed(k, printed);
    double mean_printed = tepal_counting_mean(printed, k);
    if (tepal_counting_potential(f->m, f->n, k, f->p0, pmf) == TEPAL_OK) {
        double mean = tepal_counting_mean(pmf, k);
        tepal_report_real(report, "potential_mean",
                          "E[Y], potential false negatives per wrong removal", mean);
        tepal_report_real(report, "potential_all", "P(Y = k)", pmf[k]);
        tepal_report_real(
            report, "potential_many",
            "potential false negatives after all wrong removals (Corollary 2, corrected)",
            tepal_counting_many(mean, f->n, f->removals));
        tepal_report_list(report, "potential_pmf", "P(Y = 0), P(Y = 1), ...", pmf, k + 1);
    } else {
        tepal_report_absent(report, "potential_mean", "there are no members");
    }
    tepal_report_real(report, "potential_mean_printed", "E[Y] by Theorem 1 and Corollary 1",
                      mean_printed);
    tepal_report_real(report, "potential_all_printed", "P(Y = k) by Theorem 1", printed[k]);
    tepal_report_real(report, "potential_many_printed", "alpha E[Y], Corollary 2",
                      f->removals * mean_printed);
    tepal_report_list(report, "potential_pmf_printed", "Theorem 1, eq. (2)", printed, k + 1);
}

static void report_exposed(struct tepal_report *report, const struct flat *f)
{
    const uint32_t k = f->k;
    double pmf[TEPAL_MAX_HASHES + 1];
    double printed[TEPAL_MAX_HASHES + 1];
    tepal_counting_exposed_printed(f->m, f->n, k, printed);
    double mean_printed = tepal_counting_mean(printed, k);
    if (tepal_counting_exposed(f->m, f->n, k, f->p0, f->p1, pmf) == TEPAL_OK) {
        double mean = tepal_counting_mean(pmf, k);
        tepal_report_real(report, "exposed_mean",
                          "E[Z], members missed immediately per wrong removal", mean);
        tepal_report_real(
            report, "exposed_many",
            "exposed false negatives after all wrong removals (Corollary 3, corrected)",
            tepal_counting_many(mean, f->n, f->removals));
        tepal_report_real(report, "hidden", "P(Z = 0) = (p2 / (p1 + p2))^k, Theorem 2, corrected",
                          whole_power(1 - at_most_one(f->p1 / (1 - f->p0)), k));
        tepal_report_list(report, "exposed_pmf", "P(Z = 0), P(Z = 1), ...", pmf, k + 1);
    } else {
        tepal_report_absent(report, "exposed_mean", "there are no members");
    }
    tepal_report_real(report, "exposed_mean_printed", "E[Z] by Theorem 4, eqs. (5) and (6)",
                      mean_printed);
    tepal_report_real(report, "exposed_many_printed", "alpha E[Z], Corollary 3",
                      f->removals * mean_printed);
    tepal_report_real(report, "hidden_printed", "Theorem 2, eq. (3)", printed[0]);
    tepal_report_real(
        report, "found",
        "probability that a member is missed after one wrong removal: Theorem 3, eq. (4)",
        tepal_counting_missed(f->m, f->n, k, f->p0, f->p1));
    tepal_report_real(report, "wrong_removals", "alpha, keys removed that were never added",
                      f->removals);
}

/*
 * Sec. 4.3: what all members with several addresses cost together, if each is removed (`remove`):
 * the number of them, times the chance that a wrong address is taken, times what that does.
 */
static void report_all_addresses(struct tepal_report *report, const struct flat *f)
{
    double n = (double)f->n;
    double several = n * tepal_counting_multi_address(f->p0, f->k, f->c);
    double wrong = several * tepal_counting_wrong_address(f->p0, f->k, f->c);
    double wrong_printed = several * tepal_counting_wrong_address_printed(f->p0, f->k, f->c);
    double y[TEPAL_MAX_HASHES + 1];
    double z[TEPAL_MAX_HASHES + 1];
    bool members = tepal_counting_potential(f->m, f->n, f->k, f->p0, y) == TEPAL_OK &&
                   tepal_counting_exposed(f->m, f->n, f->k, f->p0, f->p1, z) == TEPAL_OK;
    tepal_report_real(report, "multi_address_keys",
                      "members with several addresses, at most: n times that; `keep` retains them",
                      several);
    tepal_report_real(report, "multi_potential",
                      "potential false negatives if all of these are removed, at most",
                      members ? fmin(n, wrong * tepal_counting_mean(y, f->k)) : 0);
    tepal_report_real(report, "multi_exposed",
                      "exposed false negatives if all of these are removed, at most",
                      members ? fmin(n, wrong * tepal_counting_mean(z, f->k)) : 0);
    tepal_counting_potential_printed(f->k, y);
    tepal_counting_exposed_printed(f->m, f->n, f->k, z);
    tepal_report_real(report, "multi_potential_printed", "the same by Theorems 5 and 1",
                      wrong_printed * tepal_counting_mean(y, f->k));
    tepal_report_real(report, "multi_exposed_printed", "the same by Theorems 5 and 4",
                      wrong_printed * tepal_counting_mean(z, f->k));
}

static void report_addresses(struct tepal_report *report, const struct flat *f)
{
    tepal_report_real(report, "multi_address_bound",
                      "probability that a member has several addresses, at most, eq. (7)",
                      tepal_counting_multi_address(f->p0, f->k, f->c));
    if (f->c > 1) {
        tepal_report_real(report, "wrong_address",
                          "probability that removal of such a member takes a wrong address "
                          "(Theorem 5, corrected)",
                          tepal_counting_wrong_address(f->p0, f->k, f->c));
        tepal_report_real(report, "wrong_address_printed", "Theorem 5",
                          tepal_counting_wrong_address_printed(f->p0, f->k, f->c));
    } else {
        tepal_report_absent(report, "wrong_address", "a member has one address");
        tepal_report_absent(report, "wrong_address_printed", "a member has one address");
    }
    report_all_addresses(report, f);
}

static void report_stuck(struct tepal_report *report, const struct flat *f)
{
    double mean = (double)f->m * f->stuck;
    tepal_report_real(report, "stuck_mean", "expected number of counters that stick", mean);
    tepal_report_real(report, "stuck_chance", "probability that there is one", -expm1(-mean));
}

static enum tepal_status report_flat(const struct tepal_params *p, struct flat *f,
                                     struct tepal_report *report, struct tepal_error *error)
{
    struct counting_shares shares = {.values =
                                         f->counter_bits == 8 ? COUNTING_WIDEST : COUNTING_VALUES};
    bool improved = p->counting.rule == TEPAL_RULE_IMPROVED_GREEDY;
    if (tepal_model_counting_shares(f->m, f->n, f->k, f->c, improved, &shares) != TEPAL_OK) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the number of choices is out of range");
    }
    f->stuck = shares.of[shares.values - 1];
    if (f->measured) {
        f->p2 = 1 - f->p0 - f->p1;
    } else {
        f->p0 = shares.of[0];
        f->p1 = shares.of[1];
        for (uint32_t v = 2; v < shares.values; v++) {
            f->p2 += shares.of[v];
        }
    }
    report_shares(report, f);
    report_potential(report, f);
    report_exposed(report, f);
    report_addresses(report, f);
    report_stuck(report, f);
    return TEPAL_OK;
}

/*
 * Other layouts: the rate. What a wrong removal does there has a bound and no more: each of the k
 * counters that lack a count has one victim at most.
 */
static enum tepal_status report_other(const struct tepal_params *p, uint64_t n, double deletes,
                                      struct tepal_report *report, struct tepal_error *error)
{
    uint32_t c = (uint32_t)p->counting.choices;
    double p0 = 1 - model_counting_fill(p, n);
    double fp = model_counting_rate(p, n);
    if (c > 1 && p->layout == TEPAL_LAYOUT_PAIRED) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "with several choices there is no model of the paired layout");
    }
    if (c > 1 && p->layout == TEPAL_LAYOUT_BLOCKED) {
        fp = tepal_counting_blocked_choices((enum tepal_counting_lines)p->counting.lines,
                                            p->positions, p->cells, n, p->hashes, c, &p0);
    } else if (c > 1) {
        fp = tepal_counting_choices_rate(p, n);
        p0 = 1 - pow(-expm1(log1p(-fp) / c), 1.0 / p->hashes);
    }
    report->count = 0;
    report->numbers = 0;
    tepal_report_text(report, "kind", "the kind of filter", "counting");
    tepal_report_text(report, "layout", "where the counters of a key are",
                      tepal_layout_name(p->layout));
    if (tepal_layout_in_lines(p->layout)) {
        tepal_report_integer(report, "line_cells", "counters in a line", params_line_cells(p));
    }
    tepal_report_integer(report, "cells", "m, counters", p->cells);
    tepal_report_integer(report, "hashes", "k", p->hashes);
    tepal_report_integer(report, "keys", "n", n);
    tepal_report_integer(report, "choices", "c, groups of hash functions", c);
    tepal_report_integer(report, "counter_bits", "bits per counter: it sticks at 15 (4) or 255 (8)",
                         params_counter_bits(p));
    tepal_report_real(report, "p0", "share of counters that are 0", p0);
    tepal_report_real(report, "fp",
                      c > 1 ? "false-positive rate, by the limit of many counters or lines "
                              "(within 10 %)"
                            : "false-positive rate, that of a Bloom filter with such lines",
                      fp);
    if (c > 1) {
        tepal_report_absent(report, "hashes_best", "known for one choice alone");
    } else {
        tepal_report_integer(report, "hashes_best", "the k with the lowest fp in this layout",
                             model_counting_best_hashes(p, n));
    }
    tepal_report_real(report, "potential_bound", "members missed after all wrong removals, at most",
                      fmin(deletes * p->hashes, (double)n));
    tepal_report_real(report, "wrong_removals", "alpha, keys removed that were never added",
                      deletes);
    return TEPAL_OK;
}

enum tepal_status tepal_model_counting(const struct tepal_params *params,
                                       const struct tepal_use *use, struct tepal_report *report,
                                       struct tepal_error *error)
{
    struct tepal_params p = *params;
    uint64_t n = use->keys;
    bool other = p.layout != TEPAL_LAYOUT_FLAT || p.positions != TEPAL_POSITIONS_COLLIDING;
    if (p.hashes == 0 && p.cells != 0) {
        p.hashes = model_counting_best_hashes(&p, n);
        p.hashes = p.hashes == 0 ? 1 : p.hashes; /* the check tells what is wrong */
    }
    enum tepal_status status = tepal_params_check(&p, error);
    if (status != TEPAL_OK) {
        return status;
    }
    bool measured = !isnan(use->p0) || !isnan(use->p1);
    if (measured && !(use->p0 >= 0 && use->p1 >= 0 && use->p0 + use->p1 <= 1)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "p0 and p1 are shares: both are needed, and their sum is at most 1");
    }
    if (!(use->wrong_removals >= 0)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the number of wrong removals cannot be negative");
    }
    if (other && measured) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "measured shares need the flat layout with colliding positions");
    }
    if (other) {
        return report_other(&p, n, use->wrong_removals, report, error);
    }
    struct flat flat = {.m = p.cells,
                        .n = n,
                        .k = p.hashes,
                        .c = (uint32_t)p.counting.choices,
                        .counter_bits = params_counter_bits(&p),
                        .measured = measured,
                        .p0 = use->p0,
                        .p1 = use->p1,
                        .removals = use->wrong_removals};
    return report_flat(&p, &flat, report, error);
}
