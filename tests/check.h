/*
 * check.h: what the unit tests share: cmocka, a small generator of random numbers, and the
 * arithmetic of tolerances.
 *
 * Randomised claims are tested with fixed seeds and with tolerances derived from the number of
 * trials. A z-test here fails at |z| > CHECK_Z = 6.5, which a true claim does with probability
 * 8e-11; the whole suite has fewer than 1000 of them, so that a change of seeds raises a false
 * alarm with probability below 1e-7.
 */
#ifndef TEPAL_TESTS_CHECK_H
#define TEPAL_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
/* cmocka last: it wants the four headers above it */
#include <cmocka.h>

#include <tepal/tepal.h>

#define CHECK_Z 6.5

#define COUNT(array)    (sizeof(array) / sizeof *(array))
#define assert_ok(call) assert_int_equal((call), TEPAL_OK)

/* splitmix64: independent of anything the library does. */
static inline uint64_t check_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline struct tepal_digest check_digest(uint64_t *state)
{
    struct tepal_digest d;
    d.lo = check_random(state);
    d.hi = check_random(state);
    return d;
}

static inline void check_digests(uint64_t *state, struct tepal_digest *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = check_digest(state);
    }
}

/* The number of this name in a report, whole or real. */
static inline double check_number(const struct tepal_report *report, const char *name)
{
    const struct tepal_quantity *q = tepal_report_find(report, name);
    if (q == NULL || (q->type != TEPAL_QUANTITY_INTEGER && q->type != TEPAL_QUANTITY_REAL)) {
        fail_msg("%s is no number of the report", name);
        return NAN;
    }
    return q->type == TEPAL_QUANTITY_INTEGER ? (double)q->value.integer : q->value.real;
}

/* What a filter tells of itself by name: a whole number, or a real one. */
static inline uint64_t info_integer(const struct tepal_filter *filter, const char *name)
{
    struct tepal_report report;
    tepal_filter_info(filter, &report);
    const struct tepal_quantity *q = tepal_report_find(&report, name);
    if (q == NULL || q->type != TEPAL_QUANTITY_INTEGER) {
        fail_msg("%s is no whole number of the info", name);
        return 0;
    }
    return q->value.integer;
}

static inline double info_real(const struct tepal_filter *filter, const char *name)
{
    struct tepal_report report;
    tepal_filter_info(filter, &report);
    const struct tepal_quantity *q = tepal_report_find(&report, name);
    if (q == NULL || q->type != TEPAL_QUANTITY_REAL) {
        fail_msg("%s is no real number of the info", name);
        return NAN;
    }
    return q->value.real;
}

/* A failed call has filled in its error: the status that it returned, and a sentence. */
static inline void check_error(const struct tepal_error *error, enum tepal_status status)
{
    assert_int_equal(error->status, status);
    assert_int_not_equal(status, TEPAL_OK);
    assert_non_null(error->why);
    assert_true(strlen(error->why) > 5);
}

/* A Bloom filter on the flat layout, of so many bits. */
static inline enum tepal_status bloom_with_bits(uint64_t bits, uint32_t hashes, uint64_t seed,
                                                struct tepal_filter **out)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.cells = bits;
    params.hashes = hashes;
    params.seed = seed;
    return tepal_filter_create(&params, NULL, out, NULL);
}

/* What the model predicts of so many keys, used in no special way. */
static inline enum tepal_status model_of_keys(const struct tepal_params *params, uint64_t keys,
                                              struct tepal_report *report,
                                              struct tepal_error *error)
{
    struct tepal_use use = TEPAL_USE_INIT;
    use.keys = keys;
    return tepal_model(params, &use, report, error);
}

/* Is `measured` within CHECK_Z standard errors of `expected`? Prints the facts when it is not. */
#define check_within(what, measured, expected, standard_error)                                     \
    check_within_at(__FILE__, __LINE__, (what), (measured), (expected), (standard_error))

static inline void check_within_at(const char *file, int line, const char *what, double measured,
                                   double expected, double standard_error)
{
    double z = (measured - expected) / standard_error;
    if (!(fabs(z) <= CHECK_Z)) {
        print_error("%s:%d: %s: measured %.8g, expected %.8g +- %.3g (z = %.2f)\n", file, line,
                    what, measured, expected, standard_error, z);
        fail();
    }
}

#endif
