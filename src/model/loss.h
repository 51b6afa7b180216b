/*
 * loss.h: how many members clearing bits of a Bloom filter loses when nobody knows which members it
 * has: the expected number, and an interval around it. loss.c tells how.
 *
 * Regions are parts of the filter within which a key's positions are alike; a key has its positions
 * in one or more stages:
 *
 *     flat          1 stage of k positions      1 region
 *     partitioned   k stages of 1 position      k regions, stage i in region i alone
 *     blocked       1 stage of k positions      a region per line; the stage is in any of them
 *     paired        2 stages of about k/2       the same
 */
#ifndef TEPAL_SRC_MODEL_LOSS_H
#define TEPAL_SRC_MODEL_LOSS_H

#include <stdbool.h>

#include <tepal/params.h>

struct loss_region {
    double ones;    /* set bits, before any is cleared */
    double owners;  /* positions that members have there */
    double cleared; /* of the ones */
    double gone;    /* of the positions: those at cleared bits, counted or expected */
};

struct loss {
    double members;
    bool counted; /* the owners of each bit are known (counters): only who they are is not */
    bool lines;   /* each stage may be in any region */
    uint32_t hashes;
    uint32_t stages;
    uint32_t positions[TEPAL_MAX_HASHES]; /* of each stage */
    double kept[TEPAL_MAX_HASHES];        /* the share of members that each stage keeps */
    uint64_t regions;
    struct loss_region *region;
    double owners; /* of all regions */
};

/* How many regions a filter of these parameters has; which one a bit is in. */
uint64_t tepal_loss_regions(const struct tepal_params *params);
uint64_t tepal_loss_region_of(const struct tepal_params *params, uint64_t position);

/*
 * For a filter with so many members. The regions have their `ones` set and all else 0. `owners` is
 * how many positions the members have if that was counted; NaN: not known, hashes for each.
 */
void tepal_loss_open(struct loss *loss, const struct tepal_params *params, double members,
                     double owners, struct loss_region *region);

/* The members that are expected to be lost; and after one more bit of the region was cleared. */
double tepal_loss_expected(const struct loss *loss);
double tepal_loss_after(const struct loss *loss, uint64_t region, double owners);

/*
 * Clear a bit with so many owners (NaN: not known, as many as a bit of its region has on average).
 */
void tepal_loss_clear(struct loss *loss, uint64_t region, double owners);

struct loss_interval {
    double expected;
    double low; /* 99 %, whole numbers */
    double high;
};

struct loss_interval tepal_loss_interval(const struct loss *loss);

#endif
