/*
 * known.c: known negatives that are members after all. A table of the digests that were found, each
 * once; the members are looked up in it, then the digests once more.
 */
#include "filter/yesno/known.h"

#include "address/address.h"
#include "base/alloc.h"
#include "cells/bits.h"

/* Members are many and rarely found: their slots are requested so many ahead. */
#define AHEAD 16

struct table {
    const struct tepal_digest *keys;
    uint32_t *slot; /* an index into `keys`, plus one; 0: free */
    uint64_t mask;
};

static uint64_t hash_of(struct tepal_digest d)
{
    return address_more(d, ADDRESS_GOLDEN);
}

static uint32_t *look_up(const struct table *table, struct tepal_digest d)
{
    for (uint64_t at = hash_of(d);; at++) {
        uint32_t *slot = &table->slot[at & table->mask];
        if (*slot == 0 ||
            (table->keys[*slot - 1].lo == d.lo && table->keys[*slot - 1].hi == d.hi)) {
            return slot;
        }
    }
}

static void fill(const struct table *table, const uint64_t *found, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bits_test(found, i)) {
            uint32_t *slot = look_up(table, table->keys[i]);
            *slot = *slot == 0 ? (uint32_t)i + 1 : *slot;
        }
    }
}

enum tepal_status tepal_known_pass_members(const struct tepal_allocator *allocator,
                                           const struct tepal_digest *members, size_t member_count,
                                           const struct tepal_digest *avoid, size_t avoid_count,
                                           uint64_t *found, uint64_t *both)
{
    size_t words = (avoid_count + 63) / 64;
    uint64_t count = tepal_bits_count(found, words);
    *both = 0;
    if (count == 0) {
        return TEPAL_OK;
    }
    struct table table = {.keys = avoid, .mask = 63};
    while (table.mask < 2 * count) {
        table.mask = 2 * table.mask + 1;
    }
    size_t slots = (size_t)table.mask + 1;
    table.slot = tepal_alloc_zeroed(allocator, slots * sizeof *table.slot);
    uint64_t *is_member = tepal_alloc_zeroed(allocator, words * 8);
    if (table.slot != NULL && is_member != NULL) {
        fill(&table, found, avoid_count);
        for (size_t i = 0; i < member_count; i++) {
            if (i + AHEAD < member_count) {
                __builtin_prefetch(&table.slot[hash_of(members[i + AHEAD]) & table.mask]);
            }
            uint32_t slot = *look_up(&table, members[i]);
            if (slot != 0) {
                bits_set(is_member, slot - 1);
            }
        }
        for (size_t i = 0; i < avoid_count; i++) {
            if (bits_test(found, i) && bits_test(is_member, *look_up(&table, avoid[i]) - 1)) {
                found[i / 64] &= ~((uint64_t)1 << i % 64);
                ++*both;
            }
        }
    }
    bool enough = table.slot != NULL && is_member != NULL;
    if (table.slot != NULL) {
        tepal_alloc_release(allocator, table.slot, slots * sizeof *table.slot);
    }
    if (is_member != NULL) {
        tepal_alloc_release(allocator, is_member, words * 8);
    }
    return enough ? TEPAL_OK : TEPAL_NO_MEMORY;
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
                          "rate on known negatives: expected at most, since keys were added",
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
