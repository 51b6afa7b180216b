/*
 * ages.h: what a filter that recycles by time forgets, against how long ago a key came last:
 * measured, and as the model has it (tepal_recycling_fn_age).
 */
#ifndef TOOL_STREAMS_AGES_H
#define TOOL_STREAMS_AGES_H

#include <stdbool.h>
#include <stdint.h>

#include <tepal/params.h>

#include "output/out.h"

#define AGES 60 /* steps, up to 1.5 times what is remembered at most */

struct ages {
    uint32_t phases;
    double every; /* milliseconds */
    double step;
    uint64_t repeats[AGES]; /* of an age in this step */
    uint64_t missed[AGES];  /* of them, answered "not seen" */
    double told[AGES];      /* of them, missed by the model of a filter without false positives */
    double fp;              /* the filter's average, in the end */
};

/* Of a filter that recycles by time. */
void ages_init(struct ages *ages, const struct tepal_params *params);

/* A repeat, this many milliseconds after the key came last. */
void ages_note(struct ages *ages, uint64_t age, bool seen);

/* The curve as rows (tab-separated: age, repeats, missed, share, told), and as a picture. */
void ages_print(const void *ages, struct out *out);
void ages_draw(const void *ages, struct out *out);

#endif
