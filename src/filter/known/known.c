/*
 * known.c: what is refused of known keys, known negatives that are members after all, and what
 * `info` says of them.
 */
#include "filter/known/known.h"

#include <math.h>

#include "base/refuse.h"
#include "base/report.h"
#include "cells/bits.h"
#include "filter/known/digest_set.h"

bool tepal_known_weights_valid(const double *weights, size_t count)
{
    for (size_t i = 0; weights != NULL && i < count; i++) {
        if (!(weights[i] >= 0) || isinf(weights[i])) {
            return false;
        }
    }
    return true;
}

double tepal_known_avoid_weight(const struct tepal_known *known)
{
    double sum = known->avoid_weights == NULL ? (double)known->avoid_count : 0;
    for (size_t i = 0; known->avoid_weights != NULL && i < known->avoid_count; i++) {
        sum += known->avoid_weights[i];
    }
    return sum;
}

enum tepal_status tepal_known_check(const struct tepal_known *known, struct tepal_error *error)
{
    if (known->member_count > KNOWN_MOST_KEYS || known->avoid_count > KNOWN_MOST_KEYS ||
        known->other_count > KNOWN_MOST_KEYS) {
        return refuse(error, TEPAL_TOO_LARGE, "there are more than 2^31 keys");
    }
    if (!tepal_known_weights_valid(known->avoid_weights, known->avoid_count)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "a known negative's weight is negative or not finite");
    }
    return TEPAL_OK;
}

int tepal_known_heavier(const void *a, const void *b)
{
    const struct known_weight *x = a;
    const struct known_weight *y = b;
    if (x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return x->key < y->key ? -1 : x->key > y->key;
}

enum tepal_status tepal_known_pass_members(const struct tepal_allocator *allocator,
                                           const struct tepal_digest *members, size_t member_count,
                                           const struct tepal_digest *avoid, size_t avoid_count,
                                           uint64_t *found, uint64_t *both)
{
    struct arena arena = tepal_arena_open(allocator);
    struct digest_set set;
    enum tepal_status status = TEPAL_NO_MEMORY;
    uint64_t *is_member = tepal_arena_bitmap(&arena, avoid_count);
    if (is_member != NULL && tepal_digest_set_make(&arena, avoid, avoid_count, found, &set)) {
        *both = tepal_digest_set_meet(&set, members, member_count, is_member);
        tepal_bits_remove(found, is_member, (avoid_count + 63) / 64);
        status = TEPAL_OK;
    }
    tepal_arena_release(&arena, NULL);
    return status;
}

const char *tepal_known_flaw(uint64_t avoid, uint64_t positive, uint64_t left)
{
    return left > positive || positive > avoid ? "the counts of known negatives are inconsistent"
                                               : NULL;
}

void tepal_known_report_rate(struct tepal_report *report, uint64_t avoid, uint64_t left,
                             uint64_t later, double unknown)
{
    double built = avoid == 0 ? 0 : (double)left / (double)avoid;
    if (avoid == 0) {
        tepal_report_absent(report, "fp_known", "rate on known negatives: none were given");
    } else if (later == 0) {
        tepal_report_real(report, "fp_known", "rate on known negatives, as built", built);
    } else {
        tepal_report_real(report, "fp_known",
                          "rate on known negatives: upper estimate, because keys were added since",
                          unknown > built ? unknown : built);
    }
}

void tepal_known_report_left(struct tepal_report *report, uint64_t left, uint64_t later)
{
    if (later == 0) {
        tepal_report_integer(report, "avoid_left", "of these, still found", left);
    } else {
        tepal_report_absent(report, "avoid_left",
                            "of these, still found: not counted again since "
                            "keys were added");
    }
}
