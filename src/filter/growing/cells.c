/*
 * cells.c: what the cells of a growing filter say: whether they are sound, and its figures.
 */
#include <math.h>
#include <tepal/papers.h>

#include "base/report.h"
#include "filter/growing/internal.h"

/* ---- what the cells say ---------------------------------------------------------------------- */

const char *tepal_growing_validate(const struct tepal_filter *filter)
{
    const struct tepal_growing *f = growing_self_const(filter);
    const uint64_t *own = filter->state.own;
    uint64_t slots = GROWING_SLOTS * f->at.buckets;
    uint64_t overflow = filter->params.growing.overflow;
    uint64_t count;
    uint64_t tail = filter->word_count - PARAMS_OVERFLOW_WORDS * overflow - 1;
    uint64_t used = filter->params.cells % 64;
    if (*filter_run(filter, tail, &count) != 0 ||
        (used != 0 && *filter_run(filter, tail - 1, &count) >> used != 0)) {
        return "there are bits set beyond the last bucket";
    }
    if (own[GROWING_HELD] > slots) {
        return "there are more entries than slots";
    }
    if (own[GROWING_COPIES] > GROWING_COPIES_MAX) {
        return "there are more copies than there can be";
    }
    if (filter->params.growing.first == 0) {
        return "the size that it was created with is missing";
    }
    if (2 * own[GROWING_OVER_USED] > overflow || own[GROWING_OVER] < own[GROWING_OVER_USED] ||
        own[GROWING_OVER] > GROWING_OVER_MAX) {
        return "the exact table is too full, or counts keys that it cannot have";
    }
    return NULL;
}

/* Is an entry one that additions can have made? */
static bool sound(const struct growing_table *t, uint64_t bucket, uint64_t entry, uint32_t *known)
{
    uint64_t tag = entry & t->tag_mask;
    if (entry >> t->tag_bits == 0) {
        return false;
    }
    uint64_t other = growing_entry_address(t, bucket, entry, known) ^ growing_offset(tag);
    uint32_t depth = growing_depth(t, other);
    uint32_t own_depth = growing_bucket_depth(t, bucket);
    return *known <= t->extension_bits + (depth < own_depth ? depth : own_depth);
}

const char *tepal_growing_validate_cells(const struct tepal_filter *filter)
{
    const struct tepal_growing *f = growing_self_const(filter);
    uint64_t held = 0;
    uint64_t sum = 0;
    for (uint64_t bucket = 0; bucket < f->at.buckets; bucket++) {
        for (uint32_t s = 0; s < GROWING_SLOTS; s++) {
            uint64_t entry = growing_slot(f, bucket, s);
            uint32_t known = 0;
            if (entry == 0) {
                continue;
            }
            if (!sound(&f->at, bucket, entry, &known)) {
                return "an entry has no mark of its length, or knows more than it can";
            }
            held++;
            sum += growing_weight(known);
        }
    }
    if (held != filter->state.own[GROWING_HELD] || sum != filter->state.own[GROWING_SUM]) {
        return "the entries differ from their number or sum in the header";
    }
    return tepal_overflow_flaw(f);
}

/* A stranger meets an entry by either of his two addresses: 2^(1 - t - T) for each. */
double tepal_growing_fp_now(const struct tepal_filter *filter)
{
    double sum = ldexp((double)filter->state.own[GROWING_SUM], -GROWING_UNIT);
    return -expm1(-ldexp(sum, 1 - (int)filter->params.growing.tag_bits));
}

/* ---- figures --------------------------------------------------------------------------------- */

/* From what is in and what is to come; beyond capacity, as it should have been then. */
static double fp_at_capacity(const struct tepal_growing *f, uint64_t now)
{
    const struct tepal_params *p = &f->head.params;
    const uint64_t *own = f->head.state.own;
    if (now > p->capacity) {
        uint64_t first = p->growing.first / (GROWING_SLOTS * f->at.bits);
        return tepal_growing_fp(f->at.tag_bits, f->at.extension_bits, first, p->capacity);
    }
    double sum = ldexp((double)own[GROWING_SUM], -GROWING_UNIT) +
                 tepal_growing_rise(f->at.extension_bits, f->at.buckets, (double)own[GROWING_HELD],
                                    (double)(p->capacity - now));
    return -expm1(-ldexp(sum, 1 - (int)f->at.tag_bits));
}

uint64_t tepal_growing_keys_now(const struct tepal_filter *filter)
{
    uint64_t added = filter->state.keys_added;
    uint64_t removed = filter->state.own[GROWING_REMOVED];
    return added > removed ? added - removed : 0;
}

void tepal_growing_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    const struct tepal_growing *f = growing_self_const(filter);
    const struct tepal_params *p = &filter->params;
    const uint64_t *own = filter->state.own;
    uint64_t slots = GROWING_SLOTS * f->at.buckets;
    uint64_t now = tepal_growing_keys_now(filter);
    tepal_report_real(report, "keys_estimated", "keys held, repeats included (counted)",
                      (double)now);
    tepal_report_integer(report, "ones", "slots taken", own[GROWING_HELD]);
    tepal_report_real(report, "fill", "share of slots taken",
                      (double)own[GROWING_HELD] / (double)slots);
    tepal_report_real(report, "fp_now", "false-positive rate now, from what the entries know",
                      tepal_growing_fp_now(filter));
    if (p->capacity == 0) {
        tepal_report_absent(report, "fp_at_capacity", "no capacity was given");
    } else {
        tepal_report_real(report, "fp_at_capacity",
                          "false-positive rate expected when the planned keys are in (model)",
                          fp_at_capacity(f, now));
    }
    tepal_report_real(report, "fn_now",
                      "false-negative rate now: none if only keys that were added were removed", 0);
    tepal_report_integer(report, "keys_now", "keys added minus keys removed", now);
    tepal_report_integer(report, "tag_bits", "bits per tag", f->at.tag_bits);
    tepal_report_integer(report, "extension_bits", "bits per extension, when new",
                         f->at.extension_bits);
    tepal_report_integer(report, "slots", "number of slots", slots);
    tepal_report_real(report, "doublings", "how often it has doubled since it was created",
                      log2((double)p->cells / (double)p->growing.first));
    tepal_report_integer(report, "copies", "entries stored twice because they have grown old",
                         own[GROWING_COPIES]);
    tepal_report_integer(report, "overflow", "keys in the exact table, repeats included",
                         own[GROWING_OVER]);
    tepal_report_integer(report, "removed", "keys removed", own[GROWING_REMOVED]);
}
